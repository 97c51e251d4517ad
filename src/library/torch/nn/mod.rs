//! `torch.nn`: modules and their functions.

pub mod module;

use crate::library::Table;

pub fn register(table: &mut Table) {
    module::register(table);
}
