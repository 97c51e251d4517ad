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
static OTHERS: [(&str, LazyLock<Table>); 5] = [
    ("torchvision", LazyLock::new(|| made(torchvision::register))),
    ("transformers", LazyLock::new(|| made(transformers::register))),
    ("sklearn", LazyLock::new(|| made(sklearn::register))),
    ("scipy", LazyLock::new(|| made(sklearn::register_sparse))),
    ("timm", LazyLock::new(|| made(timm::register))),
];

fn made(register: fn(&mut Table)) -> Table {
    let mut table = Table::over(&MAIN);
    register(&mut table);
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
