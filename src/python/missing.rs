//! Names and arguments that do not exist: what Python says at run time with an `AttributeError`, an
//! `ImportError` or a `TypeError`, where all names or parameters are known.

use super::interp::Interp;
use super::leave::BlockKind;
use super::library::{RejectKind, Rejection};
use crate::syntax::Span;
use crate::value::{Sym, Value, sym};

impl Interp<'_> {
    /// Whether a library's module or class surely lacks a name that the program reads of it, which is
    /// then reported.
    pub(super) fn reports_name(&mut self, path: Sym, name: Sym, span: Span) -> bool {
        let message = self.library.missing_name(path, name);
        let message = message.filter(|_| !self.may_be_given(name) && !self.mentions("__version__"));
        message.is_some_and(|message| self.report_missing(RejectKind::Name, message, span))
    }

    /// Whether a value of a known type surely lacks an attribute that other values of training scripts
    /// have, which is then reported.
    pub(super) fn reports_attribute(&mut self, object: &Value, name: Sym, span: Span) -> bool {
        let message = self.library.missing_attribute(&self.heap, object, name);
        let message = message.filter(|_| !self.may_be_given(name));
        message.is_some_and(|message| self.report_missing(RejectKind::Name, message, span))
    }

    /// Whether the program may itself give something an attribute of this name, or asks whether it is
    /// there.
    fn may_be_given(&self, name: Sym) -> bool {
        let tried = self.frames.last().is_some_and(|f| f.blocks.iter().any(|b| matches!(b.kind, BlockKind::Try(_))));
        let texts = [
            format!(".{name} ="),
            format!(".{name}="),
            format!("\"{name}\""),
            format!("'{name}'"),
            format!("def {name}("),
        ];
        name.as_str().starts_with('_') || tried || texts.iter().any(|text| self.mentions(sym(text).as_str()))
    }

    /// Reports what ends every run at this place.
    pub(super) fn report_missing(&mut self, kind: RejectKind, message: String, span: Span) -> bool {
        self.reject(Rejection { kind, message, reads: Vec::new(), span, assumed: None }, span);
        true
    }
}

/// The name that was probably meant.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = match name.len() {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    let distance = |other: &str| strsim::damerau_levenshtein(name, other);
    let near = names.filter(|other| other.len().abs_diff(name.len()) <= most && distance(other) <= most);
    near.min_by_key(|other| (distance(other), *other))
}

/// What a message adds about the name that was probably meant.
pub(crate) fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}
