//! Writes the Python expression that creates a tensor with given facts.

use super::witness::{Writer, float, python_bool};
use crate::value::{Dtype, Grad, Kind, Role, TensorForm};

/// A tensor that repeats several known values is written as a literal if it has at most this many
/// elements.
const WRITTEN_OUT: usize = 24;
/// Floating or complex tensors with more than this many elements are filled with zeros if their
/// values are unknown; smaller ones are filled with random numbers, which take longer. (Without
/// known values, integer tensors are always filled with zeros, and bool tensors with `True`.)
const RANDOM: i64 = 1 << 20;
/// A program with a tensor of more than this many elements is run only with fake tensors.
const LARGEST: i64 = 1 << 28;

pub(super) fn expression(writer: &mut Writer, facts: &TensorForm, name: &str) -> String {
    let lengths = match &facts.shape {
        Some(lengths) => lengths.clone(),
        None => {
            writer.lost.push(format!("the shape of `{name}` is not known"));
            writer.fallback.shape.clone()
        }
    };
    let shape: Vec<i64> = lengths.iter().map(|length| writer.length(length).max(0)).collect();
    let count = shape.iter().try_fold(1i64, |n, size| n.checked_mul(*size)).unwrap_or(i64::MAX);
    if count > LARGEST {
        writer.lost.push(format!("`{name}` is too large to create"));
    }
    let dtype = facts.dtype.unwrap_or(writer.fallback.dtype);
    let device = match facts.device {
        Some(device) => writer.device(device),
        None => writer.device(writer.fallback.device),
    };
    let learns = matches!(facts.grad, Grad::Leaf | Grad::Attached) && !dtype.is_integral() && !facts.numpy;
    let made = Made { shape: &shape, count, dtype, device: &device, learns };
    // The order of dimensions may be followed by a marker for gaps between the elements.
    let order = facts.layout.as_deref().filter(|_| !facts.numpy);
    let order = order.map(|order| order.get(..shape.len()).unwrap_or(order));
    let order = order.filter(|order| is_moved(order, shape.len()));
    if order.is_none() && !facts.numpy && facts.layout.as_ref().is_some_and(|layout| layout.len() > shape.len()) {
        writer.lost.push(format!("`{name}` is a part of a larger tensor, which is not known"));
    }
    let (mut text, mut is_leaf) = made.filled(writer, facts, name);
    if learns && is_leaf && !text.contains("requires_grad") {
        text.push_str(".requires_grad_()");
    }
    if let Some(order) = order {
        text.push_str(&stored_in(order));
        is_leaf = false;
    }
    if facts.grad == Grad::Attached && learns && is_leaf {
        text.push_str(" * 1");
        is_leaf = false;
    }
    if facts.numpy {
        text.push_str(".numpy()");
        // An axis of the array is reversed; which one makes no difference.
        if facts.layout.is_some() {
            text.push_str("[::-1]");
        }
    }
    match facts.wrapper.map(|wrapper| wrapper.as_str()) {
        Some(wrapper) if wrapper.starts_with("torchvision.tv_tensors.") => {
            writer.import("from torchvision import tv_tensors");
            let class = wrapper.rsplit('.').next().unwrap_or("Mask");
            format!("tv_tensors.{class}({text})")
        }
        _ if is_leaf || !text.contains(" * ") => text,
        _ => format!("({text})"),
    }
}

fn is_moved(order: &[usize], rank: usize) -> bool {
    order.len() == rank && order.iter().enumerate().any(|(at, dim)| at != *dim)
}

/// The methods that copy a tensor so that its dimensions are stored in the order `order`.
fn stored_in(order: &[usize]) -> String {
    let list = |dims: &mut dyn Iterator<Item = usize>| dims.map(|dim| dim.to_string()).collect::<Vec<_>>().join(", ");
    let there = list(&mut order.iter().copied());
    let back = list(&mut (0..order.len()).filter_map(|dim| order.iter().position(|at| *at == dim)));
    format!(".permute({there}).contiguous().permute({back})")
}

/// The tensor to create.
struct Made<'a> {
    shape: &'a [i64],
    count: i64,
    dtype: Dtype,
    device: &'a str,
    learns: bool,
}

impl Made<'_> {
    /// The expression, and whether it is a leaf of the graph.
    fn filled(&self, writer: &mut Writer, facts: &TensorForm, name: &str) -> (String, bool) {
        let data = facts.data.as_ref().filter(|data| i64::try_from(data.len()) == Ok(self.count));
        if let Some(data) = data {
            return (self.of_list(data), true);
        }
        if let Some(text) = facts.role.and_then(|role| self.of_role(writer, role)) {
            return (text, facts.role == Some(Role::OneHot));
        }
        let mut values = values(facts);
        if values.is_empty() {
            return (self.of_nothing(), true);
        }
        if self.count > RANDOM {
            writer.lost.push(format!("`{name}` is too large to fill with its known values"));
            return (self.of_nothing(), true);
        }
        if let [value] = values.as_slice()
            && self.shape != [1]
            && !self.shape.is_empty()
        {
            let dtype = match self.dtype.kind() {
                Kind::Integral => self.dtype_argument(Dtype::Int64),
                Kind::Bool => self.dtype_argument(Dtype::Bool),
                Kind::Floating | Kind::Complex => self.dtype_argument(Dtype::Float32),
            };
            let text =
                format!("torch.full([{}], {}{dtype}{})", self.sizes(), self.number(*value), self.device_argument());
            return (text, true);
        }
        let first = writer.choice.first % values.len();
        values.rotate_left(first);
        let count = usize::try_from(self.count).unwrap_or(0);
        if count < values.len() && count > 0 {
            values.truncate(count);
        }
        if count <= WRITTEN_OUT {
            let data: Vec<f64> = values.iter().copied().cycle().take(count).collect();
            return (self.of_list(&data), true);
        }
        let times = count.div_ceil(values.len());
        let list: Vec<String> = values.iter().map(|x| self.number(*x)).collect();
        let dtype = self.dtype_argument(Dtype::Int64);
        let text = format!(
            "torch.tensor([{}]{dtype}{}).repeat({times})[:{count}].reshape({})",
            list.join(", "),
            self.device_argument(),
            self.sizes()
        );
        (text, true)
    }

    /// A tensor whose elements are unknown. It is filled with values that most functions accept.
    fn of_nothing(&self) -> String {
        let kind = self.dtype.kind();
        let random = !matches!(self.dtype, Dtype::Other(_)) && self.count <= RANDOM;
        let mut text = if matches!(kind, Kind::Floating | Kind::Complex) && random {
            format!("torch.rand({}{}", self.sizes(), self.dtype_argument(Dtype::Float32))
        } else if kind == Kind::Bool {
            format!("torch.ones({}, dtype=torch.bool", self.sizes())
        } else {
            format!("torch.zeros({}{}", self.sizes(), self.dtype_argument(Dtype::Float32))
        };
        text.push_str(&self.device_argument());
        if self.learns {
            text.push_str(", requires_grad=True");
        }
        text.push(')');
        text
    }

    fn of_list(&self, data: &[f64]) -> String {
        let default = if self.dtype.is_integral() { Dtype::Int64 } else { Dtype::Float32 };
        let dtype = self.dtype_argument(if self.dtype == Dtype::Bool { Dtype::Bool } else { default });
        let list = self.nested(data, self.shape);
        let grad = if self.learns { ", requires_grad=True" } else { "" };
        // An empty list does not show the other dimensions.
        let shape = if data.is_empty() { format!(".reshape({})", self.sizes()) } else { String::new() };
        format!("torch.tensor({list}{dtype}{}{grad}){shape}", self.device_argument())
    }

    fn nested(&self, data: &[f64], shape: &[i64]) -> String {
        let Some((_, inner)) = shape.split_first() else {
            return data.first().map_or_else(|| "0".to_owned(), |x| self.number(*x));
        };
        if data.is_empty() {
            return "[]".to_owned();
        }
        let size = inner.iter().product::<i64>();
        let size = usize::try_from(size).unwrap_or(1).max(1);
        let rows: Vec<String> = data.chunks(size).map(|row| self.nested(row, inner)).collect();
        format!("[{}]", rows.join(", "))
    }

    fn number(&self, x: f64) -> String {
        match self.dtype.kind() {
            Kind::Bool => python_bool(x != 0.0).to_owned(),
            #[expect(clippy::cast_possible_truncation, reason = "the values of an integer tensor")]
            Kind::Integral => (x as i64).to_string(),
            Kind::Floating | Kind::Complex => float(x),
        }
    }

    fn of_role(&self, writer: &mut Writer, role: Role) -> Option<String> {
        let dim = usize::from(self.shape.len() > 1);
        let classes = *self.shape.get(dim)?;
        if !self.dtype.is_floating() || self.count > RANDOM {
            return None;
        }
        let base = self.of_nothing();
        // The class dimension is created as the last one, and then moved to its place.
        let mut shape: Vec<i64> = self.shape.to_vec();
        shape.remove(dim);
        let move_back = if dim + 1 == self.shape.len() { String::new() } else { format!(".movedim(-1, {dim})") };
        Some(match role {
            Role::Probabilities => format!("{base}.softmax({dim})"),
            Role::LogProbabilities => format!("{base}.log_softmax({dim})"),
            Role::Sigmoid => format!("{base}.sigmoid()"),
            Role::Logits => {
                writer.import("import torch.nn.functional as F");
                let input = Made { shape: &[shape.as_slice(), &[2]].concat(), learns: false, ..*self }.of_nothing();
                let weight = Made { shape: &[classes, 2], ..*self }.of_nothing();
                // `randn` makes numbers of both signs.
                format!("F.linear({input}, {weight}){move_back}").replace("torch.rand(", "torch.randn(")
            }
            Role::OneHot if classes > 0 => {
                writer.import("import torch.nn.functional as F");
                let count: i64 = shape.iter().product();
                let sizes = Made { shape: &shape, ..*self }.sizes();
                let ids = format!("torch.arange({count}{}).reshape({sizes}) % {classes}", self.device_argument());
                format!("F.one_hot({ids}, {classes}){move_back}.to(torch.{})", self.dtype)
            }
            Role::OneHot | Role::ClassMask | Role::Image => return None,
        })
    }

    fn sizes(&self) -> String {
        if self.shape.is_empty() {
            return "()".to_owned();
        }
        self.shape.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
    }

    fn dtype_argument(&self, default: Dtype) -> String {
        if self.dtype == default { String::new() } else { format!(", dtype=torch.{}", self.dtype) }
    }

    fn device_argument(&self) -> String {
        if self.device == "cpu" { String::new() } else { format!(", device=\"{}\"", self.device) }
    }
}

/// Values for the elements: the value that is known to occur, and bounds of the range.
fn values(facts: &TensorForm) -> Vec<f64> {
    let mut values: Vec<f64> = facts.met.into_iter().collect();
    for &(lo, hi) in &facts.range {
        match (lo.is_finite(), hi.is_finite()) {
            (true, true) if facts.attained => values.extend([hi, lo]),
            // If the bounds are not known to occur, only one finite bound is used, as a possible
            // value.
            (true, _) => values.push(lo),
            (false, true) => values.push(hi),
            (false, false) => {}
        }
    }
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}
