//! einops: a pattern says how dimensions are split, moved and joined.

use rustc_hash::FxHashMap;

use super::{Cx, Table};
use crate::python::{Arg, Args, Bound, RejectKind};
use crate::value::{Dict, Dim, Dtype, Grad, Key, Origin, Past, Range, Size, Tensor, Value, counted, sym};

pub(super) fn register(t: &mut Table) {
    t.def("einops.rearrange", "tensor, pattern, **axes_lengths", run);
    t.def("einops.reduce", "tensor, pattern, reduction, **axes_lengths", run);
    t.def("einops.repeat", "tensor, pattern, **axes_lengths", run);
    for framework in ["torch", "torch_layers"] {
        for (name, function) in [("Rearrange", "rearrange"), ("Reduce", "reduce")] {
            let path = format!("einops.layers.{framework}.{name}");
            let sig = if name == "Reduce" { "pattern, reduction, **axes_lengths" } else { "pattern, **axes_lengths" };
            let class = t.class(&path, &["torch.nn.Module"], sig);
            class.init = Some(|cx, object, b| {
                if let Some(kind) = kind_of(cx.name(), &b.get("reduction")) {
                    check_pattern(cx, b, kind);
                }
                let mut dict = Dict { open: b.open.then_some(Value::Unknown), ..Dict::default() };
                for (name, arg) in &b.extra {
                    dict.entries.insert(Key::Str(name.as_str().into()), arg.value.clone());
                }
                let axes = cx.it.heap.dict(dict);
                cx.it.heap.set_attr(object, "axes_lengths", axes);
            });
            t.def(&format!("{path}.forward"), "self, input", if function == "reduce" { reduce_layer } else { layer });
        }
    }
}

/// The function whose rules apply to a pattern: `rearrange`, `reduce` or `repeat`. `None` if the
/// reduction is not known. The rules of `repeat` also apply to the reduction "repeat".
fn kind_of(name: &str, reduction: &Value) -> Option<&'static str> {
    match (name, reduction.as_str()) {
        ("rearrange" | "Rearrange", _) => Some("rearrange"),
        ("repeat", _) | (_, Some("repeat")) => Some("repeat"),
        (_, Some(_)) => Some("reduce"),
        (_, None) => None,
    }
}

fn layer(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    through(cx, b, "einops.rearrange")
}

fn reduce_layer(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    through(cx, b, "einops.reduce")
}

/// `layer(…)`: calls the function with the input and the arguments of the layer's constructor.
fn through(cx: &mut Cx<'_, '_>, b: &Bound, function: &str) -> Value {
    let (object, span) = (b.get("self"), cx.span);
    let pattern = cx.attr(&object, "pattern");
    let reduction = cx.attr(&object, "reduction");
    let name = function.rsplit('.').next().unwrap_or_default();
    let Some(kind) = kind_of(name, &reduction) else { return cx.some_tensor() };
    // The constructor of the layer has already rejected this pattern.
    if pattern.as_str().is_some_and(|pattern| fault(kind, pattern, &[], true).is_some()) {
        return cx.some_tensor();
    }
    let mut args = Args::positional([b.get("input"), pattern], span);
    if function == "einops.reduce" {
        args.pos.push(Arg::new(reduction, span));
    }
    let axes = cx.attr(&object, "axes_lengths");
    if let Some(dict) = cx.it.heap.dict_of(&axes) {
        args.more_kw = dict.open.is_some();
        for (key, value) in &dict.entries {
            if let Key::Str(name) = key {
                args.kw.push((sym(name), Arg::new(value.clone(), span)));
            }
        }
    }
    cx.call(&Value::path(function), args)
}

/// One dimension of a side of the pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Ellipsis,
    /// The axes of the dimension. The length of the dimension is the product of the lengths of its
    /// axes. Empty for `1` and `()`.
    Axes(Vec<String>),
}

/// Parses one side; `None` if the pattern is not understood.
fn parse(side: &str) -> Option<Vec<Part>> {
    let spaced = side.replace("...", " … ").replace('(', " ( ").replace(')', " ) ");
    let mut out = Vec::new();
    let mut group: Option<Vec<String>> = None;
    let is_one = |word: &str| word.trim_start_matches('0') == "1";
    for word in spaced.split_whitespace() {
        match (word, &mut group) {
            ("(", None) => group = Some(Vec::new()),
            (")", Some(axes)) => {
                out.push(Part::Axes(std::mem::take(axes)));
                group = None;
            }
            ("…", None) => out.push(Part::Ellipsis),
            ("(" | ")" | "…", _) => return None,
            (one, Some(_)) if is_one(one) => {}
            (one, None) if is_one(one) => out.push(Part::Axes(Vec::new())),
            (axis, Some(axes)) => axes.push(axis.to_owned()),
            (axis, None) => out.push(Part::Axes(vec![axis.to_owned()])),
        }
    }
    group.is_none().then_some(out)
}

/// What is wrong with a pattern that einops rejects for every tensor.
fn fault(kind: &str, pattern: &str, given: &[&str], open: bool) -> Option<String> {
    let Some((left, right)) = pattern.split_once("->") else { return Some("has no `->`".to_owned()) };
    let names = |side: &str| {
        let parts = parse(side)?;
        let axes = parts.into_iter().flat_map(|part| match part {
            Part::Ellipsis => vec!["...".to_owned()],
            Part::Axes(axes) => axes,
        });
        Some(axes.collect::<Vec<String>>())
    };
    let (left, right) = (names(left)?, names(right)?);
    let is_number = |axis: &String| axis.bytes().all(|c| c.is_ascii_digit());
    let plain = |axis: &String| {
        axis == "..."
            || is_number(axis)
            || axis.chars().all(|c| c.is_alphanumeric() || c == '_') && !axis.ends_with('_')
    };
    if !left.iter().chain(&right).all(plain) {
        return None;
    }
    let numbered = left.iter().chain(&right).find(|axis| is_number(axis));
    if let Some(number) = numbered.filter(|_| kind == "rearrange") {
        return Some(format!("has the length {number}, but `rearrange` takes no lengths other than 1"));
    }
    for side in [&left, &right] {
        let twice =
            side.iter().enumerate().find(|(i, axis)| !is_number(axis) && side.iter().skip(i + 1).any(|a| a == *axis));
        if let Some((_, axis)) = twice {
            return Some(format!("has `{axis}` twice on one side"));
        }
    }
    let only =
        |one: &[String], other: &[String]| one.iter().find(|axis| !is_number(axis) && !other.contains(axis)).cloned();
    let (on_left, on_right) = (only(&left, &right), only(&right, &left));
    let given = |axis: &String| open || given.contains(&axis.as_str());
    match kind {
        "rearrange" => on_left.or(on_right).map(|axis| format!("has `{axis}` on one side only")),
        "reduce" => on_right.map(|axis| format!("has `{axis}` on the right side only")),
        "repeat" => on_left.map(|axis| format!("has `{axis}` on the left side only")).or_else(|| {
            let new = right.iter().find(|axis| !is_number(axis) && !left.contains(axis) && !given(axis))?;
            Some(format!("has the new axis `{new}`, whose length is not given"))
        }),
        _ => None,
    }
}

/// Rejects a pattern that einops rejects for every tensor. Returns whether it was rejected.
fn check_pattern(cx: &mut Cx<'_, '_>, b: &Bound, kind: &str) -> bool {
    let pattern = b.get("pattern");
    let Some(pattern) = pattern.as_str() else { return false };
    let given: Vec<&str> = b.extra.iter().map(|(name, _)| name.as_str()).collect();
    let Some(fault) = fault(kind, pattern, &given, b.open) else { return false };
    let message = format!("the pattern \"{pattern}\" {fault}");
    cx.reject(RejectKind::Value, message, Vec::new());
    true
}

fn run(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(kind) = kind_of(cx.name(), &b.get("reduction")) else { return cx.some_tensor() };
    let value = b.get("tensor");
    if check_pattern(cx, b, kind) {
        return cx.some_tensor();
    }
    let Some(input) = cx.tensor(&value) else { return Value::Unknown };
    let at = cx.at();
    let mut out = Tensor { data: None, base: None, version: 0, writes: 0, shape: None, ..input.clone() };
    if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    out.shape_at = at;
    if kind == "reduce" {
        reduced(cx, &mut out, &b.get("reduction"));
    }
    let pattern = b.get("pattern");
    let sides = pattern.as_str().and_then(|p| p.split_once("->")).and_then(|(l, r)| Some((parse(l)?, parse(r)?)));
    if let (Some((left, right)), Some(shape), false) = (sides, &input.shape, b.open) {
        let lengths: FxHashMap<String, Size> =
            b.extra.iter().map(|(name, arg)| (name.to_string(), cx.size_of(&arg.value))).collect();
        out.shape = shape_of(cx, &left, &right, shape, lengths, input.shape_at, pattern.as_str().unwrap_or_default());
    }
    cx.out(out)
}

/// The values after a reduction.
fn reduced(cx: &Cx<'_, '_>, out: &mut Tensor, reduction: &Value) {
    let range = out.range.take();
    out.role = None;
    out.past = Past::default();
    match reduction.as_str() {
        Some("mean" | "max" | "min") => {
            out.range = range.map(|r| Range::bounds(r.lo(), r.hi()));
        }
        Some("sum" | "prod") => {
            // Sums and products of integers may have a wider dtype.
            if out.dtype.is_some_and(Dtype::is_integral) {
                out.dtype = None;
            }
        }
        _ => {
            out.dtype = None;
            out.grad = Grad::Unknown;
        }
    }
    let _ = cx;
}

fn shape_of(
    cx: &mut Cx<'_, '_>,
    left: &[Part],
    right: &[Part],
    shape: &[Dim],
    mut lengths: FxHashMap<String, Size>,
    shape_at: Origin,
    pattern: &str,
) -> Option<Vec<Dim>> {
    let at = cx.at();
    let ellipsis = left.iter().position(|p| *p == Part::Ellipsis);
    let named = left.len() - usize::from(ellipsis.is_some());
    let fits = if ellipsis.is_some() { shape.len() >= named } else { shape.len() == named };
    if !fits {
        let message = format!(
            "the pattern \"{pattern}\" takes a tensor of {}, but the tensor has {}",
            if ellipsis.is_some() { format!("{named} or more dimensions") } else { counted(named, "dimension") },
            shape.len()
        );
        cx.reject(RejectKind::Rank, message, vec![("the tensor gets its shape here".to_owned(), shape_at)]);
        return None;
    }
    let rest = shape.len() - named;
    let mut dims = shape.iter();
    let mut middle: Vec<Dim> = Vec::new();
    let mut origins: FxHashMap<String, Origin> = FxHashMap::default();
    for part in left {
        match part {
            Part::Ellipsis => middle = dims.by_ref().take(rest).cloned().collect(),
            Part::Axes(axes) => {
                let dim = dims.next()?;
                solve(cx, axes, dim, &mut lengths, pattern)?;
                for axis in axes {
                    origins.insert(axis.clone(), dim.at);
                }
            }
        }
    }
    let mut out = Vec::new();
    for part in right {
        match part {
            Part::Ellipsis => out.append(&mut middle),
            Part::Axes(axes) => {
                let size = axes.iter().fold(Size::Int(1), |n, axis| {
                    let length =
                        axis.parse().map_or_else(|_| lengths.get(axis).cloned().unwrap_or(Size::Unknown), Size::Int);
                    n.mul(&length)
                });
                let origin = match axes.as_slice() {
                    [only] => origins.get(only).copied().unwrap_or(at),
                    _ => at,
                };
                out.push(Dim::new(size, origin));
            }
        }
    }
    // If the right side has no ellipsis, `reduce` drops the dimensions of the left one. This case
    // is not modelled.
    middle.is_empty().then_some(out)
}

/// Checks the length of a dimension against the lengths of the axes into which it is split. If
/// exactly one of these axes has no given length, computes it. `None` if the call was rejected.
fn solve(
    cx: &mut Cx<'_, '_>,
    axes: &[String],
    dim: &Dim,
    lengths: &mut FxHashMap<String, Size>,
    pattern: &str,
) -> Option<()> {
    let mut known = Size::Int(1);
    let mut open = Vec::new();
    for axis in axes {
        match lengths.get(axis) {
            Some(length) => known = known.mul(length),
            None => open.push(axis.clone()),
        }
    }
    let reads = vec![(format!("size {} is set here", dim.size), dim.at)];
    match open.as_slice() {
        [] => {
            if dim.size.equals(&known) == Some(false) {
                let group = if axes.is_empty() { "1".to_owned() } else { format!("({})", axes.join(" ")) };
                let message = format!(
                    "in the pattern \"{pattern}\", {group} is {known}, but the tensor's dimension is {}",
                    dim.size
                );
                cx.reject(RejectKind::Shape, message, reads);
                return None;
            }
        }
        [axis] => {
            if let (Some(total), Some(part)) = (dim.size.known(), known.known())
                && (part == 0 || total % part != 0)
            {
                let message = format!(
                    "in the pattern \"{pattern}\", the tensor's dimension of {total} cannot be divided by {part}"
                );
                cx.reject(RejectKind::Shape, message, reads);
                return None;
            }
            let length = dim.size.div_exact(&known).unwrap_or(Size::Unknown);
            lengths.insert(axis.clone(), length);
        }
        several => {
            for axis in several {
                lengths.insert(axis.clone(), Size::Unknown);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read() {
        let axes = |names: &[&str]| Part::Axes(names.iter().map(|n| (*n).to_owned()).collect());
        assert_eq!(parse("b (h p) ... 1"), Some(vec![axes(&["b"]), axes(&["h", "p"]), Part::Ellipsis, axes(&[])]));
        assert_eq!(parse("b ()"), Some(vec![axes(&["b"]), axes(&[])]));
        assert_eq!(parse("b (h"), None);
    }

    #[test]
    fn faulty_patterns_are_refused_whatever_the_tensor() {
        let faulty = |kind, pattern, given: &[&str]| fault(kind, pattern, given, false).is_some();
        assert!(faulty("rearrange", "b c h -> b (c w)", &[]));
        assert!(faulty("rearrange", "b c h -> b c", &[]));
        assert!(faulty("rearrange", "b c h -> b c h w", &["w"]));
        assert!(faulty("rearrange", "b c c -> b c", &[]));
        assert!(faulty("rearrange", "b 3 h -> b h", &[]));
        assert!(faulty("rearrange", "b ... -> b", &[]));
        assert!(faulty("rearrange", "b c h", &[]));
        assert!(faulty("repeat", "b c h -> b c h w", &[]));
        assert!(faulty("repeat", "b c h -> b c", &[]));
        assert!(faulty("reduce", "b c h -> b w", &[]));
        assert!(!faulty("rearrange", "b (h d) ... -> b h ... d 1", &["h"]));
        assert!(!faulty("repeat", "b c h -> b c h w 2", &["w"]));
        assert!(!faulty("reduce", "b c 4 -> b 1", &[]));
        assert!(!faulty("reduce", "b ... -> b", &[]));
    }
}
