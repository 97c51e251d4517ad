//! torchvision: datasets, transforms, models, and image operations.

pub mod backbone;
pub mod datasets;
pub mod detection;
pub mod functional;
mod geometry;
pub mod models;
pub mod ops;
pub mod segmentation;
mod targets;
pub mod transforms;
pub mod tv_tensors;
pub mod weights;

pub use models::open_module;
