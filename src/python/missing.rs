//! Names and arguments that do not exist: what Python says at run time with an `AttributeError`, an
//! `ImportError` or a `TypeError`, where all names or parameters are known.

use super::interp::Interp;
use super::leave::BlockKind;
use super::library::{RejectKind, Rejection};
use crate::syntax::Span;
use crate::value::{ArrayKind, Data, Sym, Type, Value, sym};

/// Python's own types, which NumPy had under its own name until 1.24.
const FORMER: &[&str] = &["int", "float", "complex", "object", "str", "unicode"];

/// Modules that stand for all modules below them, too: of these only a name that is nearly one of theirs is
/// surely none.
const MERGED: &[&str] = &["torch.nn", "torch.utils.data", "torchvision.datasets", "torchvision.transforms"];

/// Attributes of tensors that named tuples of results have, too.
const FIELDS: &[&str] =
    &["values", "indices", "sign", "min", "max", "inverse", "count", "index", "mode", "histogram", "logdet"];

impl Interp<'_> {
    /// Whether a library's module or class surely lacks a name that the program reads of it, which is
    /// then reported.
    pub(super) fn reports_name(&mut self, path: Sym, name: Sym, span: Span) -> bool {
        let Some(names) = self.library.names(path.as_str()) else { return false };
        if names.contains(name.as_str()) || self.may_be_given(name) || self.mentions("__version__") {
            return false;
        }
        let dotted = format!("{path}.{name}");
        let near = nearest(name.as_str(), names.iter().copied());
        let former = path.as_str() == "numpy" && FORMER.contains(&name.as_str());
        if former || near.is_none() && MERGED.contains(&path.as_str()) {
            return false;
        }
        self.report_missing(RejectKind::Name, format!("`{dotted}` does not exist{}", meant(near)), span)
    }

    /// Whether a value of a known type surely lacks an attribute that other values of training scripts
    /// have, which is then reported.
    pub(super) fn reports_attribute(&mut self, object: &Value, name: Sym, span: Span) -> bool {
        let Some((class, what)) = self.plain_type(object) else { return false };
        let Some(own) = self.library.names(class) else { return false };
        let text = name.as_str();
        if own.contains(text) || text.starts_with('_') {
            return false;
        }
        let of = |path: &str| self.library.names(path).is_some_and(|names| names.contains(text));
        let tensors = of("torch.Tensor") && !FIELDS.contains(&text);
        let near = nearest(text, own.iter().copied()).filter(|_| class == "torch.Tensor");
        let confused = match class {
            "torch.Tensor" => of("numpy.ndarray") || near.is_some(),
            _ => tensors,
        };
        if !confused || self.may_be_given(name) {
            return false;
        }
        let message = format!("{what} has no attribute `{name}`{}", meant(near));
        self.report_missing(RejectKind::Name, message, span)
    }

    /// The class of a value that has just that class's attributes, and how messages call it.
    fn plain_type(&self, value: &Value) -> Option<(&'static str, &'static str)> {
        Some(match value {
            Value::Tuple(items) if items.iter().all(|item| self.is_part(item)) => ("builtins.tuple", "a tuple"),
            Value::Float(_) | Value::Floats(_) | Value::Any(Type::Float) => ("builtins.float", "a number"),
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Tensor(tensor) if tensor.wrapper.is_some() => return None,
                Data::Tensor(tensor) if tensor.array == ArrayKind::Torch => ("torch.Tensor", "a tensor"),
                Data::Tensor(_) => ("numpy.ndarray", "an array of NumPy"),
                Data::List(_) => ("builtins.list", "a list"),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Whether a value may be an element of a plain tuple: sizes of a shape, or tensors.
    fn is_part(&self, value: &Value) -> bool {
        value.number_type() == Some(Type::Int) || matches!(value, Value::Size(_)) || self.heap.is_tensor(value)
    }

    /// Whether the program may itself give something an attribute of this name, or asks whether it is
    /// there.
    fn may_be_given(&self, name: Sym) -> bool {
        let tried = self.frames.last().is_some_and(|f| f.blocks.iter().any(|b| matches!(b.kind, BlockKind::Try(_))));
        let texts = [format!(".{name} ="), format!(".{name}="), format!("\"{name}\""), format!("'{name}'")];
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
