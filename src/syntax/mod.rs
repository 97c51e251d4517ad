//! The only interface to the Python parser: no other module uses its crates.
//!
//! A parsed file always has a syntax tree: the parser recovers from errors, so the readable parts
//! of a broken file are still checked. For a file that is nested too deeply, the tree is empty.

mod bindings;
mod launch;
mod nesting;
mod notebook;
mod old_python;
mod parse;
mod scope;
mod search;
mod span;
mod unbound;

pub(crate) use bindings::{Bindings, Imported, Place, bound_by, imports};
pub(crate) use launch::{LaunchFile, Setting, VARIABLES};
pub(crate) use notebook::{Cell, Notebook};
pub(crate) use old_python::old_python_branches;
pub(crate) use parse::{Parsed, parse, parse_cells, parse_comments};
pub(crate) use ruff_python_ast as ast;
pub(crate) use ruff_python_ast::{Expr, Stmt};
pub(crate) use ruff_source_file::{LineIndex, OneIndexed, PositionEncoding};
pub(crate) use ruff_text_size::{Ranged, TextRange, TextSize};
pub(crate) use scope::{captured, is_builtin};
pub(crate) use search::{
    Operand, assignment, blocks, called, callee_or_itself, calls, entries, entry, expressions, has_base, integer,
    is_autograd_function, is_empty, is_method_call, is_module, is_read, keyed, may_give_result, methods, names_in,
    optional_operands, owner_of_counted_dataset, parts, path_of, spreads, statements,
};
pub(crate) use span::{FileId, Span};
pub(crate) use unbound::{Unbound, ends_the_program, is_false, unbound};
