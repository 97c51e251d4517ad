//! The origin of an unknown value: the place where torchvet's knowledge ends.

use std::fmt;

use super::definitions::{Definitions, From};
use crate::libraries;
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Span, TextRange};

/// What kind of place an origin is. It determines how the value can be made known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A parameter of a function that only unseen code calls, or calls with unknown arguments.
    Parameter,
    /// The result of a call, such as `np.load(path)`.
    Call,
    /// The elements of a loop over something unknown.
    Elements,
    /// A name or an attribute that the file does not assign.
    Name,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Parameter => "parameter",
            Kind::Call => "call",
            Kind::Elements => "elements",
            Kind::Name => "name",
        }
    }

    /// What a user can do to make the value known.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Kind::Parameter => "annotate the parameter: `x: Float[Tensor, \"batch 3 height width\"]` (jaxtyping)",
            Kind::Call | Kind::Name => "annotate the variable that gets the value: `x: Float[Tensor, \"n 3\"] = …`",
            Kind::Elements => "annotate the variables of the loop in its body: `x: Float[Tensor, \"batch 3 h w\"]`",
        }
    }
}

/// The place where an unknown value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub span: Span,
    pub kind: Kind,
    /// The source text, shortened: "`x` of `forward`", "`np.load(…)`".
    pub text: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Parameter => write!(f, "the parameter {}", self.text),
            Kind::Call => write!(f, "the result of {}", self.text),
            Kind::Elements => write!(f, "the elements of {}", self.text),
            Kind::Name => f.write_str(&self.text),
        }
    }
}

/// The depth to which expressions and definitions are followed.
const DEEPEST: u32 = 40;

/// The longest source text that is shown.
const LONGEST: usize = 40;

/// Beginnings of the names of functions that read files or create objects from names. Their results
/// do not depend on their arguments in a way that torchvet could know.
const READERS: &[&str] = &["load", "read", "open", "imread", "fromfile", "genfromtxt", "from_pretrained", "download"];

/// The definitions of a file, to find the origins of its unknown values.
pub(super) struct Origins<'p> {
    definitions: Definitions<'p>,
    text: &'p str,
    file: crate::syntax::FileId,
}

impl<'p> Origins<'p> {
    pub(super) fn new(file: &'p crate::project::SourceFile) -> Origins<'p> {
        let definitions = Definitions::of(&file.parsed().module.body);
        Origins { definitions, text: file.text(), file: file.id }
    }

    /// The origin of the value that the name at this offset is assigned.
    pub(super) fn of_assigned(&self, name: &str, at: u32) -> Option<Origin> {
        self.of(self.definitions.assigned(name, at)?, DEEPEST)
    }

    /// The origin of the value of an expression.
    pub(super) fn of_expr(&self, expr: &Expr) -> Option<Origin> {
        self.follow(expr, DEEPEST)
    }

    fn of(&self, from: From<'p>, depth: u32) -> Option<Origin> {
        match from {
            From::Value(value) => self.follow(value, depth),
            From::Element(iterated) => self.elements(iterated, depth),
            From::Parameter(_) | From::Import(_) | From::Definition => None,
        }
    }

    /// The origin of the elements of a loop: what the loop itself does not explain (`enumerate`,
    /// `zip`) is left out.
    fn elements(&self, iterated: &Expr, depth: u32) -> Option<Origin> {
        let inner = match iterated {
            Expr::Call(call)
                if call.func.as_name_expr().is_some_and(|f| matches!(f.id.as_str(), "enumerate" | "tqdm")) =>
            {
                call.arguments.args.first().unwrap_or(iterated)
            }
            other => other,
        };
        let unknown = self.follow(inner, depth.checked_sub(1)?)?;
        match unknown.kind {
            Kind::Parameter | Kind::Name => Some(self.origin(inner.range(), Kind::Elements, self.shown(inner.range()))),
            Kind::Call | Kind::Elements => Some(unknown),
        }
    }

    fn follow(&self, expr: &Expr, depth: u32) -> Option<Origin> {
        let depth = depth.checked_sub(1)?;
        let first = |parts: &[&Expr]| parts.iter().find_map(|part| self.follow(part, depth));
        match expr {
            Expr::Name(name) => self.name(name.id.as_str(), name.range(), depth),
            Expr::Attribute(attribute) => {
                let of_self = is_self(&attribute.value);
                match self.definitions.of_attribute(&attribute.attr).filter(|_| of_self) {
                    Some(value) => self.follow(value, depth),
                    None if of_self => Some(self.origin(expr.range(), Kind::Name, self.shown(expr.range()))),
                    None => self.follow(&attribute.value, depth),
                }
            }
            Expr::Call(call) => self.call(call, depth),
            Expr::Subscript(e) => first(&[&e.value, &e.slice]),
            Expr::BinOp(e) => first(&[&e.left, &e.right]),
            Expr::UnaryOp(e) => self.follow(&e.operand, depth),
            Expr::Compare(e) => self.follow(&e.left, depth).or_else(|| e.comparators.iter().find_map(|e| first(&[e]))),
            Expr::BoolOp(e) => e.values.iter().find_map(|e| first(&[e])),
            Expr::If(e) => first(&[&e.body, &e.orelse]),
            Expr::Named(e) => self.follow(&e.value, depth),
            Expr::Await(e) => self.follow(&e.value, depth),
            Expr::Starred(e) => self.follow(&e.value, depth),
            Expr::Tuple(e) => e.elts.iter().find_map(|e| first(&[e])),
            Expr::List(e) => e.elts.iter().find_map(|e| first(&[e])),
            Expr::ListComp(e) => self.follow(&e.elt, depth),
            Expr::Generator(e) => self.follow(&e.elt, depth),
            _ => None,
        }
    }

    fn name(&self, name: &str, range: TextRange, depth: u32) -> Option<Origin> {
        match self.definitions.of_name(name, range.start().to_u32())? {
            From::Parameter(def) => {
                let own = def.parameters.iter().find(|parameter| parameter.name() == name)?;
                let first = def.parameters.iter().next().is_some_and(|first| first.name() == name);
                if first && matches!(name, "self" | "cls") {
                    return None;
                }
                let text = format!("`{name}` of `{}`", def.name);
                Some(self.origin(own.name().range(), Kind::Parameter, text))
            }
            From::Import(top) if !libraries::is_known(top) => {
                Some(self.origin(range, Kind::Name, format!("`{name}`, from the unknown library `{top}`")))
            }
            other => self.of(other, depth),
        }
    }

    fn call(&self, call: &ExprCall, depth: u32) -> Option<Origin> {
        let whole =
            || Some(self.origin(call.range(), Kind::Call, format!("`{}(…)`", self.shown_plain(call.func.range()))));
        let last = match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => "",
        };
        let arguments = || call.arguments.iter_source_order().find_map(|arg| self.follow(arg.value(), depth));
        if self.is_of_library(&call.func) {
            let reads = READERS.iter().any(|reader| last.starts_with(reader));
            return if reads { whole() } else { arguments().or_else(whole) };
        }
        match &*call.func {
            // A function or class of the program, or an unknown object that is called.
            Expr::Name(name) => match self.definitions.of_name(&name.id, name.start().to_u32()) {
                Some(From::Value(_)) => match self.follow(&call.func, depth) {
                    Some(_) => whole(),
                    None => arguments(),
                },
                Some(From::Element(_) | From::Parameter(_) | From::Import(_)) => whole(),
                Some(From::Definition) => arguments().or_else(whole),
                None => arguments(),
            },
            // A method of an unknown object keeps what is unknown about the object, except that an
            // attribute of `self`, such as a model, is called like a function.
            Expr::Attribute(method) => match (is_self(&method.value), self.follow(&call.func, depth)) {
                (true, Some(_)) => whole(),
                (false, Some(origin)) => Some(origin),
                (_, None) => arguments().or_else(whole),
            },
            other => self.follow(other, depth).or_else(arguments),
        }
    }

    /// Whether an expression is a name in a library that torchvet knows: `torch.nn.functional.relu`.
    fn is_of_library(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => match self.definitions.of_name(&name.id, name.start().to_u32()) {
                Some(From::Import(top)) => libraries::is_known(top),
                _ => false,
            },
            Expr::Attribute(attribute) => self.is_of_library(&attribute.value),
            _ => false,
        }
    }

    fn origin(&self, range: TextRange, kind: Kind, text: String) -> Origin {
        let span = Span { file: self.file, start: range.start().to_u32(), end: range.end().to_u32() };
        Origin { span, kind, text }
    }

    fn shown(&self, range: TextRange) -> String {
        format!("`{}`", self.shown_plain(range))
    }

    fn shown_plain(&self, range: TextRange) -> String {
        let text = self.text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        match line.char_indices().nth(LONGEST) {
            Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
            None if line.len() < text.len() => format!("{line}…"),
            None => line.to_owned(),
        }
    }
}

fn is_self(expr: &Expr) -> bool {
    expr.as_name_expr().is_some_and(|name| name.id.as_str() == "self")
}
