//! torchvision: datasets, transforms, models, and image operations.

mod datasets;
mod detection;
mod functional;
mod models;
mod ops;
mod segmentation;
mod targets;
mod transforms;
mod tv_tensors;

pub use models::open_module;

use super::table::Table;

pub fn register(t: &mut Table) {
    datasets::register(t);
    functional::register(t);
    models::register(t);
    ops::register(t);
    segmentation::register(t);
    transforms::register(t);
    tv_tensors::register(t);
}
