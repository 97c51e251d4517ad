//! The tables, and which libraries are in which table.

use std::sync::LazyLock;

use super::table::{Table, Tables};
use super::{
    albumentations, cv2, definitions, einops, kornia, lightning, numpy, pandas, pil, segmentation_models, settings,
    sklearn, stdlib, timm, torch, torchvision, transformers,
};

pub(super) static TABLES: Tables = Tables { main: &MAIN, others: &OTHERS };

/// The libraries of the main table. The order matters: a base class must be registered before the
/// classes that derive from it.
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
    definitions::register,
    torch::nn::register,
    torch::nn::module::register,
    torch::nn::moves::register,
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
    torch::function::register,
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
    stdlib::json::register,
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

/// Tables that are built on first use, because they are long or read from data files.
static OTHERS: [(&str, LazyLock<Table>); 6] = [
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
    ("segmentation_models_pytorch", LazyLock::new(|| made(Table::over(&MAIN), &[segmentation_models::register]))),
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

    use super::super::signatures;
    use super::*;
    use crate::libraries;
    use crate::python::{Const, Sig};

    #[test]
    fn tables_are_of_libraries_that_are_known() {
        let mut faults = BTreeSet::new();
        let tables = std::iter::once(("", &**TABLES.main)).chain(TABLES.others.iter().map(|(root, t)| (*root, &**t)));
        for (of, table) in tables {
            let names = table.functions.keys().chain(table.classes.keys()).chain(table.constants.keys());
            for path in names.chain(table.aliases.keys()) {
                let root = path.as_str().split('.').next().unwrap_or_default();
                // torchvet's own helpers, and names that usually are modules of the program.
                let known = ["torchvet", "Image", "box"].contains(&root) || libraries::is_known(root);
                if !known || !of.is_empty() && of != root {
                    faults.insert((of, root));
                }
            }
        }
        assert!(faults.is_empty(), "not in src/libraries.rs, or in the table of another library: {faults:?}");
    }
    /// Handwritten signatures of PyTorch functions that `signatures.txt` lists differently, for a
    /// reason that is not visible in the signatures.
    const BY_HAND: &[(&str, &str)] = &[
        ("torch.Tensor.chalf", "all casts are registered with one signature"),
        ("torch.Tensor.copy_", "documented with the name `src`"),
        ("torch.Tensor.map_", "documented with the name `tensor`"),
        ("torch.Tensor.register_post_accumulate_grad_hook", "its object is named `self`, as in the hooks of modules"),
        ("torch.Tensor.requires_grad_", "documented with the name `requires_grad`"),
        ("torch.Tensor.uniform_", "`from` is a keyword of Python: the listing says `from_`"),
        ("torch.asarray", "has the model of `torch.as_tensor`, which takes `data`"),
        ("torch.autograd.backward", "`grad_variables` has been replaced by `grad_tensors`"),
        ("torch.cuda.memory_summary", "one of a family of functions that return text"),
        ("torch.dtype", "no program constructs it"),
        ("torch.empty_permuted", "has one model with all functions that return uninitialised tensors"),
        ("torch.empty_quantized", "has one model with all functions that return uninitialised tensors"),
        ("torch.linalg.diagonal", "has the model of `torch.diagonal`, which takes `input`"),
        ("torch.nn.PoissonNLLLoss.forward", "the model of all losses takes `input`, not `log_input`"),
        ("torch.nn.RMSNorm.forward", "the model of all norms takes `input`, not `x`"),
        ("torch.nn.functional.one_hot", "documented with the name `tensor`; the model takes `input`"),
        ("torch.optim.Optimizer", "programs derive from it with or without `defaults`"),
        ("torch.optim.lr_scheduler.ChainedScheduler", "registered with all schedulers"),
        ("torch.scalar_tensor", "has the model of `torch.tensor`, which takes `data`"),
        ("torch.split", "the model takes `input`, which is the object of the method"),
    ];

    #[test]
    fn signatures_by_hand_have_a_reason() {
        assert_eq!(MAIN.unlisted, [""; 0], "not in signatures.txt");
        let mut faults = Vec::new();
        for (path, hand) in &MAIN.by_hand {
            let listed = signatures::of(path.as_str());
            if listed.is_empty() || BY_HAND.iter().any(|(known, _)| *known == path.as_str()) {
                continue;
            }
            let hand: Vec<&Sig> = hand.iter().map(|sig| &**sig).collect();
            let is_open = |sig: &Sig| sig.double_star || sig.star.is_some();
            let names = |sigs: &[&Sig]| -> BTreeSet<&str> {
                sigs.iter().flat_map(|sig| &sig.params).map(|param| param.name.as_str()).collect()
            };
            let all: Vec<&Sig> = listed.iter().collect();
            // The calls of layers are registered with their classes.
            if path.as_str().ends_with(".forward") && names(&hand) == names(&all) {
                continue;
            }
            // Signatures with `*args` or `**kwargs` are incomplete on purpose.
            if hand.iter().any(|sig| is_open(sig)) {
                continue;
            }
            // The listed signature is incomplete.
            if listed.iter().any(|sig| sig.double_star || sig.params.iter().any(|p| p.default == Some(Const::Other))) {
                continue;
            }
            // The overloads are merged into one signature.
            if listed.len() > 1 && hand != all {
                continue;
            }
            // A hand-written signature may have further parameters: those of older versions of
            // PyTorch, or of the same method of another library's arrays.
            if names(&hand).is_superset(&names(&all)) && names(&hand) != names(&all) {
                continue;
            }
            faults.push(format!("{path:?}: {hand:?}"));
        }
        faults.sort();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
