//! The interpreter: the effects of Python's statements, expressions, calls, classes and imports on
//! abstract values.
//!
//! The interpreter executes a program on abstract values, with the defaults of its command-line
//! options. It does not depend on torch: a [`Library`] models everything that is imported from
//! outside the project, and an [`Observer`] is notified of events.
//!
//! The arms of an unknown condition run one after the other on the same heap, and their states are
//! joined. A loop's body runs until a fixpoint. A call runs the body of the function, up to a
//! maximum depth. When the step budget is spent, values become unknown.

mod annotated;
mod args;
mod arithmetic;
mod assign;
mod attempt;
mod attribute;
mod branch;
mod budget;
mod builtins;
mod cadence;
mod call;
mod changing;
mod choices;
mod class;
mod collections;
mod comparison;
mod containers;
mod context;
mod decorator;
mod entry;
mod enums;
mod errors;
mod expected;
mod expr;
mod flags;
mod format;
mod generator;
mod growth;
mod havoc;
mod import;
mod interp;
mod iteration;
mod kept_back;
mod leave;
mod left_out;
mod library;
mod loops;
mod memo;
mod missing;
mod narrow;
mod operator;
mod overload;
mod parameters;
mod pattern;
mod payload;
mod places;
mod protocol;
mod quotients;
mod registry;
mod rejected;
mod replaced;
mod skipped;
mod stmt;
mod text;
mod types;
mod uses;
mod widths;
mod with;
mod writes;

pub(crate) use args::{Arg, Args, Bound, Const, Param, Sig};
pub(crate) use budget::Budget;
pub(crate) use call::SUPPOSED;
pub(crate) use context::Certainty;
pub(crate) use flags::ON_CPU;
pub(crate) use havoc::Hook;
pub(crate) use import::{Import, Sources};
pub(crate) use interp::{Interp, Rounds};
pub(crate) use library::{
    BinOp, CommandOption, Event, Library, Observer, OfCall, RejectKind, Rejection, RemovedName, UnaryOp, Words,
};
pub(crate) use memo::{MEMO, MEMO_SIZE};
pub(crate) use missing::{
    WrongArguments, doubled_argument, meant, missing_argument, nearest, surplus_arguments, unknown_argument,
};
pub(crate) use operator::sign;
pub(crate) use skipped::Skipped;
pub(crate) use types::{FUNCTIONS, lacks_positions};
pub(crate) use uses::Use;
