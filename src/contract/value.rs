//! The values of expressions in contracts, and the facts that an evaluation has read.

use std::rc::Rc;

use crate::value::{Dim, Dtype, Origin, Size, Tensor, Value, dims_text};

/// A fact that contributed to a result, and its origin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Read {
    pub label: String,
    pub at: Origin,
    /// Whether the mistake is at the place `at`. If so, the finding is reported there, not at the
    /// call.
    pub blame: bool,
}

/// The value of an expression of a contract.
#[derive(Debug, Clone)]
pub(super) enum Cv {
    Unknown,
    None,
    Bool(bool),
    Size(Size),
    Float(f64),
    Str(Rc<str>),
    Dtype(Dtype),
    Shape(Vec<Dim>),
    /// A tensor or array, with the name that the program uses for it.
    Tensor(Rc<Tensor>, Rc<str>),
    /// Anything else: an image, a list, an enum member.
    Other(Value),
}

impl Cv {
    pub(super) fn int(n: i64) -> Cv {
        Cv::Size(Size::Int(n))
    }

    pub(super) fn tri(t: Option<bool>) -> Cv {
        t.map_or(Cv::Unknown, Cv::Bool)
    }

    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Cv::None => Some(false),
            Cv::Bool(b) => Some(*b),
            Cv::Size(size) => size.equals(&Size::Int(0)).map(|zero| !zero),
            Cv::Float(x) => Some(*x != 0.0),
            Cv::Str(s) => Some(!s.is_empty()),
            Cv::Shape(dims) => Some(!dims.is_empty()),
            _ => None,
        }
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "class counts and indices, far below 2^53")]
            Cv::Size(Size::Int(n)) => Some(*n as f64),
            Cv::Float(x) => Some(*x),
            Cv::Bool(b) => Some(f64::from(u8::from(*b))),
            _ => None,
        }
    }

    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Cv::Size(Size::Int(n)) => Some(*n),
            Cv::Bool(b) => Some(i64::from(*b)),
            _ => None,
        }
    }

    /// The text of the value in a message.
    pub(super) fn text(&self) -> String {
        match self {
            Cv::Unknown => "?".to_owned(),
            Cv::None => "None".to_owned(),
            Cv::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
            Cv::Size(size) => size.to_string(),
            Cv::Float(x) => x.to_string(),
            Cv::Str(s) => s.to_string(),
            Cv::Dtype(d) => format!("torch.{d}"),
            Cv::Shape(dims) => dims_text(dims),
            Cv::Tensor(_, name) => name.to_string(),
            Cv::Other(Value::Path(path)) => {
                path.as_str().rsplit_once('.').map_or(path.as_str(), |(_, name)| name).to_owned()
            }
            Cv::Other(Value::Device(device)) => device.to_string(),
            Cv::Other(_) => "value".to_owned(),
        }
    }
}

/// Whether two shapes are equal; `None` if that is not known.
pub(super) fn same_shape(a: &[Dim], b: &[Dim]) -> Option<bool> {
    if a.len() != b.len() {
        return Some(false);
    }
    let mut all = Some(true);
    for (x, y) in a.iter().zip(b) {
        // A batch is assumed to have more than one sample in some iteration. Any other symbolic
        // size may be 1.
        let samples = |dim: &Dim| dim.batch && matches!(dim.size, Size::Expr(_));
        let one = |dim: &Dim| dim.size == Size::Int(1);
        if (samples(x) && one(y)) || (one(x) && samples(y)) {
            return Some(false);
        }
        match x.size.equals(&y.size) {
            Some(false) => return Some(false),
            None => all = None,
            Some(true) => {}
        }
    }
    all
}
