//! What Python does to values: statements, expressions, calls, classes, imports.
//!
//! The interpreter runs a program abstractly, the way it runs by default. It knows no torch:
//! whatever is imported from outside the project is asked of a [`Library`], and whoever
//! wants to know what happens is an [`Observer`].

mod args;
mod interp;
mod library;

pub use args::{Arg, Args, Bound, Const, Param, Sig};
pub use interp::Interp;
pub use library::{BinOp, CallEvent, Event, Library, Observer, RejectKind, Rejection, UnaryOp};
