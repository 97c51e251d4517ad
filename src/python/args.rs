//! The arguments of a call, and how a library's signature binds them.

use std::sync::Arc;

use crate::syntax::Span;
use crate::value::{Sym, Value, sym};

/// An argument, with the place of its expression.
#[derive(Debug, Clone)]
pub(crate) struct Arg {
    pub value: Value,
    pub span: Span,
}

impl Arg {
    pub(crate) fn new(value: Value, span: Span) -> Arg {
        Arg { value, span }
    }
}

/// The arguments of a call, after `*` and `**` were unpacked as far as they are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args {
    pub pos: Vec<Arg>,
    pub kw: Vec<(Sym, Arg)>,
    /// A `*args` of unknown length follows the positional arguments.
    pub more_pos: bool,
    /// The join of the elements of the `*args` of unknown length.
    pub star: Option<Value>,
    /// A `**kwargs` with unknown keys is also passed.
    pub more_kw: bool,
}

impl Args {
    pub(crate) fn positional(values: impl IntoIterator<Item = Value>, span: Span) -> Args {
        Args { pos: values.into_iter().map(|v| Arg::new(v, span)).collect(), ..Args::default() }
    }

    pub(crate) fn keyword(&self, name: &str) -> Option<&Value> {
        self.kw.iter().find(|(k, _)| k.as_str() == name).map(|(_, a)| &a.value)
    }

    /// The argument at a position or by a name.
    pub(crate) fn get(&self, index: usize, name: &str) -> Option<&Value> {
        self.pos.get(index).map(|a| &a.value).or_else(|| self.keyword(name))
    }

    /// Inserts `first` before the positional arguments.
    pub(crate) fn prepend(mut self, first: Arg) -> Args {
        self.pos.insert(0, first);
        self
    }

    pub(crate) fn is_open(&self) -> bool {
        self.more_pos || self.more_kw
    }
}

/// A default value in a signature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Const {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(&'static str),
    /// A member of a library, written as `@its.dotted.path`.
    Path(&'static str),
    /// Any other default, such as a tuple: its value is unknown.
    Other,
}

impl Const {
    pub(crate) fn value(&self) -> Value {
        match self {
            Const::None => Value::None,
            Const::Bool(b) => Value::Bool(*b),
            Const::Int(n) => Value::Int(*n),
            Const::Float(x) => Value::Float(*x),
            Const::Str(s) => Value::str(s),
            Const::Path(path) => Value::path(path),
            Const::Other => Value::Unknown,
        }
    }

    fn parse(text: &'static str) -> Const {
        let text = text.trim();
        match text {
            "None" => Const::None,
            "True" => Const::Bool(true),
            "False" => Const::Bool(false),
            _ => {
                if let Some(path) = text.strip_prefix('@') {
                    return Const::Path(path);
                }
                if let Ok(n) = text.parse::<i64>() {
                    return Const::Int(n);
                }
                if let Ok(x) = text.parse::<f64>() {
                    return Const::Float(x);
                }
                let quoted = |q: char| text.strip_prefix(q).and_then(|t| t.strip_suffix(q));
                match quoted('\'').or_else(|| quoted('"')) {
                    Some(inner) => Const::Str(inner),
                    None => Const::Other,
                }
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Param {
    pub name: Sym,
    pub default: Option<Const>,
    pub keyword_only: bool,
}

/// A signature in Python's syntax: `input, dim=None, *, dtype=None`. `*size` means any number of
/// positional arguments (or one tuple or list of them), and `**kwargs` any keyword arguments. Annotations (`fp: reader`)
/// are skipped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sig {
    pub params: Vec<Param>,
    /// The number of parameters before `*name`, and the name.
    pub star: Option<(usize, Sym)>,
    pub double_star: bool,
}

impl Sig {
    pub(crate) fn parse(text: &'static str) -> Sig {
        let named = |part: &str| sym(part.split(':').next().unwrap_or_default().trim());
        let mut sig = Sig { params: Vec::new(), star: None, double_star: false };
        let mut keyword_only = false;
        for part in split_top(text) {
            let part = part.trim();
            if part.is_empty() || part == "/" {
                continue;
            }
            if part == "*" {
                keyword_only = true;
            } else if part.starts_with("**") {
                sig.double_star = true;
            } else if let Some(name) = part.strip_prefix('*') {
                sig.star = Some((sig.params.len(), named(name)));
                keyword_only = true;
            } else {
                let (name, default) = match part.split_once('=') {
                    Some((name, default)) => (name, Some(Const::parse(default))),
                    None => (part, None),
                };
                sig.params.push(Param { name: named(name), default, keyword_only });
            }
        }
        sig
    }

    /// The signature of the same function as a method: the object becomes the first parameter.
    pub(crate) fn of_method(mut self, object: &str) -> Sig {
        self.params.insert(0, Param { name: sym(object), default: None, keyword_only: false });
        self.star = self.star.map(|(at, name)| (at + 1, name));
        self
    }

    /// Binds a call's arguments; `None` if Python would raise a `TypeError`.
    pub(crate) fn bind(self: &Arc<Sig>, args: &Args) -> Option<Bound> {
        let mut values: Vec<Option<Arg>> = vec![None; self.params.len()];
        let mut rest = Vec::new();
        let positional = self.params.iter().position(|p| p.keyword_only).unwrap_or(self.params.len());
        for (i, arg) in args.pos.iter().enumerate() {
            if i < positional {
                if let Some(slot) = values.get_mut(i) {
                    *slot = Some(arg.clone());
                }
            } else if self.star.is_some() {
                rest.push(arg.clone());
            } else {
                return None;
            }
        }
        let mut extra = Vec::new();
        for (name, arg) in &args.kw {
            match self.params.iter().position(|p| p.name == *name) {
                Some(at) => match values.get_mut(at) {
                    Some(slot @ None) => *slot = Some(arg.clone()),
                    _ => return None,
                },
                None if self.star.is_some_and(|(_, star)| star == *name) => rest.push(arg.clone()),
                None if self.double_star => extra.push((*name, arg.clone())),
                None => return None,
            }
        }
        let open = args.is_open();
        for (param, value) in self.params.iter().zip(&values) {
            if value.is_none() && param.default.is_none() && !open {
                return None;
            }
        }
        Some(Bound { sig: self.clone(), values, rest, extra, open, more_kw: args.more_kw })
    }
}

/// Splits at commas outside brackets and quotes.
fn split_top(text: &'static str) -> Vec<&'static str> {
    let (mut parts, mut depth, mut start, mut quote) = (Vec::new(), 0i32, 0, None);
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.extend(text.get(start..i));
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts
}

/// The arguments of a call, each assigned to its parameter.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub sig: Arc<Sig>,
    pub values: Vec<Option<Arg>>,
    /// The arguments collected by `*name`.
    pub rest: Vec<Arg>,
    /// The arguments collected by `**kwargs`.
    pub extra: Vec<(Sym, Arg)>,
    /// Some arguments are unknown (in a `*args` or `**kwargs` with unknown contents).
    pub open: bool,
    /// Some of these are in a `**kwargs`.
    pub more_kw: bool,
}

impl Bound {
    fn index(&self, name: &str) -> Option<usize> {
        self.sig.params.iter().position(|p| p.name.as_str() == name)
    }

    /// Whether the function has a parameter of this name.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.index(name).is_some()
    }

    /// Whether `*args` or `**kwargs` collected an argument.
    pub(crate) fn has_more(&self) -> bool {
        !self.rest.is_empty() || !self.extra.is_empty()
    }

    /// The argument that the call gives for a parameter.
    pub(crate) fn arg(&self, name: &str) -> Option<&Arg> {
        self.values.get(self.index(name)?)?.as_ref()
    }

    /// The value of a parameter: its argument or its default. Unknown if a `*args` or `**kwargs`
    /// with unknown contents may contain the argument, or if there is no such parameter.
    pub(crate) fn get(&self, name: &str) -> Value {
        if let Some(arg) = self.arg(name) {
            return arg.value.clone();
        }
        let parameter = self.index(name).and_then(|at| self.sig.params.get(at));
        // A `*args` gives no argument to a parameter that is keyword-only.
        if self.open && (self.more_kw || parameter.is_none_or(|parameter| !parameter.keyword_only)) {
            return Value::Unknown;
        }
        parameter.and_then(|parameter| parameter.default.as_ref()).map_or(Value::Unknown, Const::value)
    }

    pub(crate) fn given(&self, name: &str) -> bool {
        self.arg(name).is_some()
    }

    pub(crate) fn span(&self, name: &str) -> Option<Span> {
        self.arg(name).map(|a| a.span)
    }

    /// The values that `*name` collected. A single value may be a tuple or list of the elements.
    pub(crate) fn rest_values(&self) -> Vec<Value> {
        self.rest.iter().map(|a| a.value.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::FileId;

    #[test]
    fn binds_as_python_does() {
        let sig = Arc::new(Sig::parse("input, target, weight=None, *, reduction='mean', **kw"));
        let span = Span { file: FileId(0), start: 0, end: 0 };
        let mut args = Args::positional([Value::Int(1), Value::Int(2)], span);
        args.kw.push((sym("reduction"), Arg::new(Value::str("sum"), span)));
        let bound = sig.bind(&args).expect("binds");
        assert_eq!(bound.get("target").as_int(), Some(2));
        assert!(bound.get("weight").is_none());
        assert_eq!(bound.get("reduction").as_str(), Some("sum"));
        args.kw.push((sym("input"), Arg::new(Value::None, span)));
        assert!(sig.bind(&args).is_none(), "input is given twice");
        assert!(sig.bind(&Args::default()).is_none(), "input is missing");
    }
}
