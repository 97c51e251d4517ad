//! Which library is in which table.

use std::sync::LazyLock;

use super::table::{Table, Tables};
use super::{
    albumentations, cv2, einops, kornia, lightning, numpy, pandas, pil, settings, sklearn, stdlib, timm, torch,
    torchvision, transformers,
};

pub static TABLES: Tables = Tables { main: &MAIN, others: &OTHERS };

static MAIN: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    for register in [
        torch::register,
        stdlib::register,
        numpy::register,
        pandas::register,
        pil::register,
        torchvision::register_hub,
        cv2::register,
        albumentations::register,
        einops::register,
        kornia::register,
        lightning::register,
        settings::register,
    ] {
        register(&mut table);
    }
    table
});

/// Made when a name of the library is first asked for: what they hold is long, or read from data.
static OTHERS: [(&str, LazyLock<Table>); 4] = [
    ("torchvision", LazyLock::new(|| made(torchvision::register))),
    ("transformers", LazyLock::new(|| made(transformers::register))),
    ("sklearn", LazyLock::new(|| made(sklearn::register))),
    ("timm", LazyLock::new(|| made(timm::register))),
];

fn made(register: fn(&mut Table)) -> Table {
    let mut table = Table::over(&MAIN);
    register(&mut table);
    table
}
