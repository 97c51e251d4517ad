//! Which library is in which table.

use std::sync::LazyLock;

use super::table::{Table, Tables};
use super::{
    albumentations, cv2, einops, kornia, lightning, numpy, pandas, pil, settings, sklearn, stdlib, timm, torch,
    torchvision, transformers,
};

pub static TABLES: Tables = Tables { main: &MAIN, others: &OTHERS };

/// What is in the main table, in this order: a class comes after those that it derives from.
const IN_MAIN: &[Register] = &[
    torch::pointwise::unary::register,
    torch::pointwise::binary::register,
    torch::pointwise::ternary::register,
    torch::inplace::register,
    torch::matmul::register,
    torch::einsum::register,
    torch::linalg::factor::register,
    torch::linalg::norm::register,
    torch::linalg::solve::register,
    torch::fft::register,
    torch::reduce::sum::register,
    torch::reduce::extreme::register,
    torch::reduce::scan::register,
    torch::reduce::order::register,
    torch::reduce::softmax::register,
    torch::reduce::sets::register,
    torch::reduce::distance::register,
    torch::masked::register,
    torch::return_types::register,
    torch::nn::register,
    torch::nn::module::register,
    torch::nn::hooks::register,
    torch::nn::init::register,
    |t| torch::nn::layer::register(t, torch::nn::layers::LAYERS),
    |t| torch::nn::layer::register(t, torch::nn::losses::LAYERS),
    torch::nn::containers::register,
    torch::nn::activation::register,
    torch::nn::norm::register,
    torch::nn::linear::register,
    torch::nn::conv::register,
    torch::nn::pool::register,
    torch::nn::resize::register,
    torch::nn::losses::register,
    torch::nn::linear_loss::register,
    torch::nn::rnn::register,
    torch::nn::attention::register,
    torch::nn::parallel::register,
    torch::nn::utils::register,
    torch::data::register,
    torch::distributions::register,
    torch::optim::register,
    torch::context::register,
    torch::autograd::register,
    torch::attributes::register,
    torch::convert::register,
    torch::factory::register,
    torch::factory::random::register,
    torch::factory::sequence::register,
    torch::factory::settings::register,
    torch::factory::types::register,
    torch::gather::register,
    torch::scatter::register,
    torch::masks::register,
    torch::generator::register,
    torch::views::axes::register,
    torch::views::diagonal::register,
    torch::views::expand::register,
    torch::views::grid::register,
    torch::views::join::register,
    torch::views::order::register,
    torch::views::reshape::register,
    torch::views::split::register,
    stdlib::argparse::register,
    stdlib::concurrent::register,
    stdlib::containers::register,
    stdlib::contexts::register,
    stdlib::copying::register,
    stdlib::counting::register,
    stdlib::functional::register,
    stdlib::iterating::register,
    stdlib::math::register,
    stdlib::random::register,
    stdlib::system::register,
    numpy::register,
    numpy::create::register,
    numpy::elementwise::register,
    numpy::ndarray::register,
    numpy::random::register,
    numpy::reduce::register,
    numpy::shaping::register,
    pandas::register,
    pandas::arithmetic::register,
    pandas::create::register,
    pandas::encode::register,
    pandas::export::register,
    pandas::labels::register,
    pandas::row::register,
    pandas::rows::register,
    pandas::select::register,
    pandas::series::register,
    pil::register,
    torchvision::models::register_hub,
    cv2::register,
    albumentations::register,
    einops::register,
    kornia::register,
    lightning::register,
    settings::files::register,
    settings::omegaconf::register,
    settings::hydra::register,
    settings::register,
];

type Register = fn(&mut Table);

static MAIN: LazyLock<Table> = LazyLock::new(|| made(Table::default(), IN_MAIN));

/// Made when a name of the library is first asked for: what they hold is long, or read from data.
static OTHERS: [(&str, LazyLock<Table>); 5] = [
    (
        "torchvision",
        LazyLock::new(|| {
            made(
                Table::over(&MAIN),
                &[
                    torchvision::backbone::register,
                    torchvision::datasets::register,
                    torchvision::detection::register,
                    torchvision::functional::register,
                    torchvision::models::register,
                    torchvision::ops::register,
                    torchvision::segmentation::register,
                    torchvision::transforms::register,
                    torchvision::tv_tensors::register,
                    torchvision::weights::register,
                ],
            )
        }),
    ),
    (
        "transformers",
        LazyLock::new(|| {
            made(
                Table::over(&MAIN),
                &[
                    transformers::config::register,
                    transformers::models::register,
                    transformers::tokenizers::register,
                    transformers::register,
                ],
            )
        }),
    ),
    (
        "sklearn",
        LazyLock::new(|| {
            made(
                Table::over(&MAIN),
                &[sklearn::datasets::register, sklearn::preprocessing::register, sklearn::register],
            )
        }),
    ),
    ("scipy", LazyLock::new(|| made(Table::over(&MAIN), &[sklearn::preprocessing::register_sparse]))),
    ("timm", LazyLock::new(|| made(Table::over(&MAIN), &[timm::register]))),
];

fn made(mut table: Table, parts: &[Register]) -> Table {
    for register in parts {
        register(&mut table);
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::libraries;

    #[test]
    fn tables_are_of_libraries_that_are_known() {
        let mut faults = BTreeSet::new();
        let tables = std::iter::once(("", &**TABLES.main)).chain(TABLES.others.iter().map(|(root, t)| (*root, &**t)));
        for (of, table) in tables {
            let names = table.functions.keys().chain(table.classes.keys()).chain(table.constants.keys());
            for path in names.chain(table.aliases.keys()) {
                let root = path.as_str().split('.').next().unwrap_or_default();
                // Helpers of torchvet's own, and names that are mostly modules of the program.
                let known = ["torchvet", "Image", "box"].contains(&root)
                    || libraries::find(root).is_some()
                    || libraries::is_standard(root);
                if !known || !of.is_empty() && of != root {
                    faults.insert((of, root));
                }
            }
        }
        assert!(faults.is_empty(), "not in src/libraries.rs, or in the table of another: {faults:?}");
    }
}
