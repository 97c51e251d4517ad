//! What libraries do to values, written as tables.
//!
//! Each module below registers the functions and classes of one library in a [`Table`]; the
//! interpreter asks them through [`Libraries`]. A function that is in no table gives an
//! unknown value. Functions report facts and refused calls, never diagnostics.

mod albumentations;
mod common;
mod cv2;
mod cx;
mod data;
mod dispatch;
mod einops;
mod kornia;
mod lightning;
mod names;
pub mod notes;
pub mod numpy;
pub mod pandas;
mod pil;
mod refusal;
mod registry;
mod settings;
mod signatures;
mod sklearn;
mod special;
pub mod stdlib;
mod table;
mod timm;
pub mod torch;
pub mod torchvision;
mod transformers;

pub use cx::Cx;
pub use dispatch::{Libraries, constructor};
pub use table::{Class, Constant, Table};
