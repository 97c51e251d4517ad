//! Reductions, products, sorting and counting.

use super::both;
use super::facts::{as_array, axes, refuse_axis, set_data};
use super::promotion::{self, dtype_arg};
use crate::library::common::array;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Range, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    both(t, "sum prod nansum mean nanmean", "a, axis=None, dtype=None, out=None, keepdims=False, **kwargs", reduce);
    both(t, "std var", "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **kwargs", reduce);
    both(t, "max min amax amin nanmax nanmin any all ptp", "a, axis=None, out=None, keepdims=False, **kwargs", reduce);
    t.family("numpy.", "median", "a, axis=None, out=None, overwrite_input=False, keepdims=False", reduce);
    t.family("numpy.", "percentile quantile", "a, q, axis=None, *args, keepdims=False, **kwargs", |cx, b| {
        let scalar = b.get("q").number_type().is_some();
        if scalar { reduce(cx, b) } else { crate::library::common::unknown(cx, b) }
    });
    t.def("numpy.average", "a, axis=None, weights=None, returned=False, *, keepdims=False", |cx, b| {
        if b.get("returned").as_bool() == Some(false) { reduce(cx, b) } else { Value::Unknown }
    });
    both(t, "argmax argmin", "a, axis=None, out=None, *, keepdims=False", arg_extreme);
    t.family("numpy.", "nanargmax nanargmin", "a, axis=None, out=None, *, keepdims=False", arg_extreme);
    both(t, "cumsum cumprod", "a, axis=None, dtype=None, out=None", cumulative);
    both(t, "argsort", "a, axis=-1, kind=None, order=None, **kwargs", argsort);
    t.def("numpy.sort", "a, axis=-1, kind=None, order=None, **kwargs", |cx, b| {
        if b.get("axis").as_int() != Some(-1) {
            return Value::Unknown;
        }
        rearranged(cx, b)
    });
    t.def("numpy.ndarray.sort", "a, axis=-1, kind=None, order=None", |cx, b| {
        forget_order(cx, &b.get("a"));
        Value::None
    });
    t.def(
        "numpy.unique",
        "a, return_index=False, return_inverse=False, return_counts=False, axis=None, **kwargs",
        unique,
    );
    t.def("numpy.bincount", "x, weights=None, minlength=0", bincount);
    t.def("numpy.count_nonzero", "a, axis=None, *, keepdims=False", |cx, b| {
        if b.get("axis").is_none() {
            Value::Any(crate::value::Type::Int)
        } else {
            crate::library::common::unknown(cx, b)
        }
    });
    both(t, "nonzero", "a", nonzero);
    t.family("numpy.", "matmul", "x1, x2, /, out=None, **kwargs", |cx, b| matmul(cx, &b.get("x1"), &b.get("x2")));
    t.def("numpy.linalg.norm", "a, ord=None, axis=None, keepdims=False", reduce);
    both(t, "dot", "a, b, out=None", |cx, b| {
        let (x, y) = (b.get("a"), b.get("b"));
        let ranks = (as_array(cx, &x).and_then(|t| t.rank()), as_array(cx, &y).and_then(|t| t.rank()));
        // With more than 2 dimensions, `dot` differs from `matmul`.
        if matches!(ranks, (Some(1 | 2), Some(1 | 2))) { matmul(cx, &x, &y) } else { Value::Unknown }
    });
}

/// The shape without the reduced axes or, with `keepdims`, with length 1 for each of them.
fn reduced(cx: &Cx<'_, '_>, a: &Tensor, axis: &Value, keepdims: &Value) -> Option<Vec<Dim>> {
    let dims = a.shape.as_ref()?;
    let gone = axes(cx, axis, dims.len())?;
    let keep = keepdims.as_bool()?;
    let dims = dims.iter().enumerate().filter_map(|(i, dim)| match (gone.contains(&i), keep) {
        (false, _) => Some(dim.clone()),
        (true, true) => Some(Dim::int(1)),
        (true, false) => None,
    });
    Some(dims.collect())
}

fn reduce(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    refuse_axis(cx, &b.get("axis"));
    let Some(a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    let at = cx.at();
    let name = cx.name();
    let has = |name: &str| b.takes(name);
    let natural = a.dtype.map(|d| match name {
        "sum" | "prod" | "nansum" => promotion::summed(d),
        "max" | "min" | "amax" | "amin" | "nanmax" | "nanmin" | "ptp" => d,
        "any" | "all" => Dtype::Bool,
        "norm" | "std" | "var" | "nanstd" | "nanvar" => promotion::floating(d).to_real(),
        _ => promotion::floating(d),
    });
    let dtype = if has("dtype") { dtype_arg(cx, &b.get("dtype")).unwrap_or(natural) } else { natural };
    let mut out = array(None, dtype, if dtype == a.dtype { a.dtype_at } else { at });
    out.shape = reduced(cx, &a, &b.get("axis"), &b.get("keepdims"));
    if b.open {
        out.shape = None;
    }
    out.shape_at = at;
    let scalar = out.rank() == Some(0) && b.get("axis").is_none();
    let extreme = |pick: fn(f64, f64) -> f64| a.data.as_ref().and_then(|d| d.iter().copied().reduce(pick));
    match name {
        "max" | "amax" => {
            out.range = a.range.as_ref().map(|r| Range::bounds(r.lo(), r.hi()));
            if let Some(x) = extreme(f64::max).filter(|_| scalar) {
                set_data(&mut out, vec![x], at);
            }
        }
        "min" | "amin" => {
            out.range = a.range.as_ref().map(|r| Range::bounds(r.lo(), r.hi()));
            if let Some(x) = extreme(f64::min).filter(|_| scalar) {
                set_data(&mut out, vec![x], at);
            }
        }
        "mean" | "average" | "median" => out.range = a.range.as_ref().map(|r| Range::bounds(r.lo(), r.hi())),
        "any" | "all" => out.range = Some(Range::bounds(0.0, 1.0)),
        _ => {}
    }
    out.range_at = at;
    cx.out(out)
}

fn arg_extreme(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    refuse_axis(cx, &b.get("axis"));
    let Some(a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    let at = cx.at();
    let axis = b.get("axis");
    let length = match (&axis, a.rank()) {
        (Value::None, _) => a.numel(),
        (axis, Some(_)) => axis.as_int().and_then(|n| a.dim(n)).map_or(Size::Unknown, |d| d.size.clone()),
        _ => Size::Unknown,
    };
    let mut out = array(None, Some(Dtype::Int64), at);
    out.shape = reduced(cx, &a, &axis, &b.get("keepdims"));
    #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
    if let Some(n) = length.known().filter(|n| *n > 0) {
        out = out.with_range(Some(Range::bounds(0.0, n as f64 - 1.0)), at);
    }
    cx.out(out)
}

fn cumulative(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    let at = cx.at();
    let dtype = dtype_arg(cx, &b.get("dtype")).unwrap_or(a.dtype.map(promotion::summed));
    let mut out = array(None, dtype, at);
    out.shape = along_axis(a, b, at);
    cx.out(out)
}

/// The shape for a computation along an axis. Without an axis the array is flattened, and a scalar
/// becomes an array of one element.
fn along_axis(a: Tensor, b: &Bound, at: Option<crate::syntax::Span>) -> Option<Vec<Dim>> {
    let flat = b.get("axis").is_none() || a.rank() == Some(0);
    if flat { Some(vec![Dim::new(a.numel(), at)]) } else { a.shape }
}

fn argsort(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    let at = cx.at();
    let mut out = array(None, Some(Dtype::Int64), at);
    out.shape = along_axis(a, b, at);
    cx.out(out)
}

/// The same elements in another order.
fn rearranged(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    a.data = None;
    a.base = None;
    cx.out(a)
}

/// Updates the facts of an array that was sorted or shuffled in place.
pub(crate) fn forget_order(cx: &mut Cx<'_, '_>, value: &Value) {
    if let (Some(id), Some(mut facts)) = (value.as_obj(), cx.tensor(value)) {
        facts.data = None;
        cx.it.heap.overwrite(id, facts);
    }
}

fn unique(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let flags = ["return_index", "return_inverse", "return_counts"];
    let asked: Option<Vec<bool>> = flags.iter().map(|f| b.get(f).as_bool()).collect();
    let (Some(asked), true) = (asked, b.get("axis").is_none()) else { return Value::Unknown };
    let input = as_array(cx, &b.get("a"));
    let mut values = input.clone().unwrap_or_else(|| array(None, None, at));
    values.base = None;
    values.role = None;
    let count = cx.fresh_dim("n");
    values.shape = Some(vec![count.clone()]);
    values.shape_at = at;
    if let Some(data) = values.data.take() {
        let mut sorted = data.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        values = values.with_shape(vec![i64::try_from(sorted.len()).map_or(Size::Unknown, Size::Int)], at);
        set_data(&mut values, sorted, at);
    }
    let shape = values.shape.clone();
    if !asked.contains(&true) {
        return cx.out(values);
    }
    let mut outs = vec![values];
    for (flag, _) in flags.iter().zip(&asked).filter(|(_, asked)| **asked) {
        let mut out = array(None, Some(Dtype::Int64), at);
        out.shape = match *flag {
            // NumPy versions differ: the inverse is flat, or has the input's shape.
            "return_inverse" => match &input {
                Some(input) if input.rank() == Some(1) => input.shape.clone(),
                _ => None,
            },
            _ => shape.clone(),
        };
        outs.push(out);
    }
    cx.outs(outs)
}

fn bincount(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let dtype = if b.get("weights").is_none() { Dtype::Int64 } else { Dtype::Float64 };
    let length = match as_array(cx, &b.get("x")).and_then(|x| x.data).and_then(|d| d.iter().copied().reduce(f64::max)) {
        #[expect(clippy::cast_possible_truncation, reason = "an index")]
        Some(most) => match b.get("minlength").as_int() {
            Some(least) => Size::Int((most as i64).saturating_add(1).max(least)),
            None => Size::Unknown,
        },
        None => cx.fresh_dim("n").size,
    };
    cx.out(array(Some(vec![length]), Some(dtype), at))
}

fn nonzero(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    // Newer versions of NumPy reject an array without dimensions; older ones do not.
    let rank = as_array(cx, &b.get("a")).and_then(|a| a.rank()).filter(|rank| *rank > 0);
    let Some(rank) = rank else { return Value::Unknown };
    let at = cx.at();
    let count = cx.fresh_dim("n").size;
    let outs = (0..rank).map(|_| array(Some(vec![count.clone()]), Some(Dtype::Int64), at)).collect();
    cx.outs(outs)
}

/// The matrix product, as `numpy.matmul` computes it.
pub(crate) fn matmul(cx: &mut Cx<'_, '_>, left: &Value, right: &Value) -> Value {
    let (Some(a), Some(b)) = (as_array(cx, left), as_array(cx, right)) else { return Value::Unknown };
    let at = cx.at();
    let dtype = a.dtype.zip(b.dtype).and_then(|(a, b)| promotion::promote(a, b));
    let mut out = array(None, dtype, at);
    let (Some(x), Some(y)) = (a.shape.as_deref(), b.shape.as_deref()) else { return cx.out(out) };
    let inner = (x.last(), y.len().checked_sub(if y.len() == 1 { 1 } else { 2 }).and_then(|i| y.get(i)));
    if let (Some(p), Some(q)) = inner
        && p.size.equals(&q.size) == Some(false)
    {
        let message = format!(
            "the first array is {} and the second {}: the inner sizes {} and {} must be equal",
            super::facts::shape_text(&a),
            super::facts::shape_text(&b),
            p.size,
            q.size
        );
        let reads =
            vec![(format!("size {} is set here", p.size), p.at), (format!("size {} is set here", q.size), q.at)];
        cx.reject(RejectKind::Shape, message, reads);
        return cx.out(out);
    }
    out.shape = match (x, y) {
        ([_], [_]) => Some(Vec::new()),
        ([m, _], [_, n]) => Some(vec![m.clone(), n.clone()]),
        ([m, _], [_]) => Some(vec![m.clone()]),
        ([_], [_, n]) => Some(vec![n.clone()]),
        _ => None,
    };
    cx.out(out)
}
