//! What Python does to values: statements, expressions, calls, classes, imports.
//!
//! The interpreter runs a program abstractly, the way it runs by default. It knows no torch:
//! whatever is imported from outside the project is asked of a [`Library`], and whoever
//! wants to know what happens is an [`Observer`].
//!
//! Branches whose condition is not known are run one after the other on the same heap and
//! joined; a loop's body is run until nothing changes any more; calls are followed into
//! their bodies up to a depth. Everything stands under a step budget, past which values are
//! unknown.

mod args;
mod assign;
mod attempt;
mod attribute;
mod branch;
mod budget;
mod builtins;
mod cadence;
mod call;
mod changing;
mod class;
mod collections;
mod containers;
mod context;
mod decorator;
mod entry;
mod enums;
mod errors;
mod expected;
mod expr;
mod generator;
mod growth;
mod havoc;
mod import;
mod interp;
mod iteration;
mod leave;
mod library;
mod loops;
mod memo;
mod missing;
mod narrow;
mod operator;
mod overload;
mod pattern;
mod payload;
mod stmt;
mod text;
mod uses;
mod with;
mod writes;

pub(crate) use args::{Arg, Args, Bound, Const, Param, Sig};
pub(crate) use budget::Budget;
pub(crate) use call::SUPPOSED;
pub(crate) use context::Certainty;
pub(crate) use havoc::Hook;
pub(crate) use import::{Import, Sources};
pub(crate) use interp::{Interp, Rounds};
pub(crate) use library::{BinOp, CommandOption, Event, Library, Observer, RejectKind, Rejection, UnaryOp};
pub(crate) use memo::{MEMO, MEMO_SIZE};
pub(crate) use missing::{meant, nearest};
