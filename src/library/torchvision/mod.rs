//! torchvision: datasets, transforms, models, and image operations.

pub(crate) mod backbone;
pub(crate) mod datasets;
pub(crate) mod detection;
pub(crate) mod functional;
mod geometry;
pub(crate) mod models;
pub(crate) mod ops;
pub(crate) mod segmentation;
mod targets;
pub(crate) mod transforms;
pub(crate) mod tv_tensors;
pub(crate) mod weights;

pub(crate) use models::{layer, open_module};
