//! torchvision: datasets, transforms, models, and image operations.

mod backbone;
mod datasets;
mod detection;
mod functional;
mod geometry;
mod models;
mod ops;
mod segmentation;
mod targets;
mod transforms;
mod tv_tensors;
mod weights;

pub use models::{open_module, register_hub};

use super::table::Table;

pub fn register(t: &mut Table) {
    backbone::register(t);
    datasets::register(t);
    detection::register(t);
    functional::register(t);
    models::register(t);
    ops::register(t);
    segmentation::register(t);
    transforms::register(t);
    tv_tensors::register(t);
    weights::register(t);
}
