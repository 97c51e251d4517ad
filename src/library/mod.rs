//! Models of library functions and classes, as tables.
//!
//! A module with the name of a library registers the functions and classes of this library in a [`Table`];
//! the interpreter accesses them through [`Libraries`]. A function that is in no table returns an
//! unknown value. Models report facts and rejected calls, never diagnostics.

mod albumentations;
mod common;
mod cv2;
mod cx;
mod data;
mod definitions;
mod dispatch;
mod einops;
mod kinds;
mod kornia;
mod lightning;
mod names;
pub(crate) mod notes;
pub(crate) mod numpy;
pub(crate) mod pandas;
mod pil;
mod refusal;
mod registry;
mod segmentation_models;
mod settings;
mod signatures;
mod sklearn;
mod special;
mod standard;
pub(crate) mod stdlib;
mod table;
mod timm;
pub(crate) mod torch;
pub(crate) mod torchvision;
mod transformers;

pub(crate) use cx::Cx;
pub(crate) use dispatch::{Libraries, constructor};
pub(crate) use standard::starred as standard_names;
pub(crate) use table::{Class, Constant, Table};
