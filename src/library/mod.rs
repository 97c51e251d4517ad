//! What libraries do to values, written as tables.
//!
//! Each module below registers the functions and classes of one library in a [`Table`]; the
//! interpreter asks them through [`Libraries`]. A function that is in no table gives an
//! unknown value. Functions report facts and refused calls, never diagnostics.

mod common;
mod cx;
mod dispatch;
pub mod numpy;
mod pil;
mod special;
pub mod stdlib;
mod table;
pub mod torch;
pub mod torchvision;

pub use cx::{Cx, Tri};
pub use dispatch::Libraries;
pub use table::{Class, Constant, Entry, Run, Table};
