//! Histograms, unique elements, combinations. The sizes of the results depend on the elements, so
//! most of them are unknown.

use super::one_dim;
use crate::library::torch::broadcast::{Mix, Named, common_device};
use crate::library::torch::pointwise::derived;
use crate::library::torch::support::{bound_index, give, refuse_dtype, refuse_rank, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.def("torch.unique", "input, sorted=True, return_inverse=False, return_counts=False, dim=None", unique);
    t.def("torch.unique_consecutive", "input, return_inverse=False, return_counts=False, dim=None", unique);
    t.listed("torch.", "bincount", bincount);
    t.listed("torch.", "histc", histc);
    t.listed("torch.", "histogram", histogram);
    t.listed("torch.", "histogramdd", histogramdd);
    t.listed("torch.", "combinations", combinations);
    t.listed("torch.", "cartesian_prod", cartesian_prod);
    t.listed("torch.", "unravel_index", unravel_index);
}

/// A length that depends on the elements: at least 1, unless the input is empty.
fn some_length(cx: &mut Cx<'_, '_>, name: &str, from: &Size) -> Dim {
    match from.known() {
        Some(0) => Dim::new(Size::Int(0), cx.at()),
        None if from.is_unknown() => Dim::new(Size::Unknown, cx.at()),
        _ if from.at_least().is_some_and(|least| least > 0) => cx.fresh_dim(name),
        _ => cx.fresh_count(name),
    }
}

fn unique(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let flags = ["return_inverse", "return_counts"].map(|name| b.get(name).as_bool());
    let input = tensor_param(cx, b, "input");
    let [Some(inverse), Some(counts)] = flags else { return Value::Unknown };
    let number = 1 + usize::from(inverse) + usize::from(counts);
    let Some(input) = input else {
        return if number == 1 { cx.some_tensor() } else { cx.outs(vec![Tensor::default(); number]) };
    };
    let named = ("input", &input);
    let at = cx.at();
    let dim = b.get("dim");
    if input.dtype.is_some_and(Dtype::is_complex) {
        refuse_dtype(cx, named, "does not take complex numbers");
        return if number == 1 { cx.some_tensor() } else { cx.outs(vec![Tensor::default(); number]) };
    }
    let mut out = derived(&input);
    out.range.clone_from(&input.range);
    out.range_at = input.range_at;
    let (length, back) = if dim.is_none() {
        let length = match distinct(&input, cx.name() == "unique_consecutive") {
            Some(n) => Dim::new(Size::Int(n), at),
            None => some_length(cx, "unique", &input.numel()),
        };
        out.shape = Some(vec![length.clone()]);
        (length, input.shape.clone())
    } else {
        match one_dim(cx, &dim, named) {
            Err(()) => return if number == 1 { cx.some_tensor() } else { cx.outs(vec![Tensor::default(); number]) },
            Ok(None) => {
                out.shape = out.shape.map(|s| vec![Dim::UNKNOWN; s.len()]);
                (Dim::UNKNOWN, Some(vec![Dim::UNKNOWN]))
            }
            Ok(Some(axis)) => {
                let have = input.shape.as_ref().and_then(|s| s.get(axis)).cloned().unwrap_or(Dim::UNKNOWN);
                let length = some_length(cx, "unique", &have.size);
                if let Some(slot) = out.shape.as_mut().and_then(|s| s.get_mut(axis)) {
                    *slot = length.clone();
                }
                (length, Some(vec![have]))
            }
        }
    };
    out.shape_at = at;
    if number == 1 {
        return cx.out(out);
    }
    let index = Tensor { range: None, role: None, grad: Grad::Off, ..out.clone() }.with_dtype(Some(Dtype::Int64), at);
    let mut outs = vec![out];
    if inverse {
        let mut inverse = Tensor { shape: back, ..index.clone() };
        bound_index(&mut inverse, &length.size, at);
        outs.push(inverse);
    }
    if counts {
        outs.push(Tensor { shape: Some(vec![length]), ..index });
    }
    cx.outs(outs)
}

fn bincount(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    if input.rank().is_some_and(|r| r != 1) {
        refuse_rank(cx, named, "one dimension");
        return cx.some_tensor();
    }
    if input.dtype.is_some_and(|d| !d.is_integral() || d == Dtype::Bool) {
        refuse_dtype(cx, named, "takes integers only");
        return cx.some_tensor();
    }
    if input.range.as_ref().is_some_and(|r| r.certain && r.lo() < 0.0) {
        let message = "`input` holds negative numbers, which bincount does not accept";
        cx.reject(RejectKind::Value, message, vec![("`input` gets its values here".to_owned(), input.range_at)]);
        return cx.some_tensor();
    }
    let weights = b.get("weights");
    let at = cx.at();
    let dtype = if weights.is_none() {
        Some(Dtype::Int64)
    } else {
        // Weights of other dtypes than float32 are summed as float64.
        cx.tensor(&weights).and_then(|w| w.dtype).map(|d| if d == Dtype::Float32 { d } else { Dtype::Float64 })
    };
    let mut out = derived(&input).with_dtype(dtype, at);
    let data = input.data.as_ref().map(|d| d.iter().copied().fold(0.0, |top: f64, x| top.max(x + 1.0)));
    let length = match (data, b.get("minlength").as_int()) {
        #[expect(clippy::cast_possible_truncation, reason = "small integers, as support::set_data holds them")]
        (Some(top), Some(least)) => Size::Int((top as i64).max(least)),
        _ => Size::Unknown,
    };
    out.shape = Some(vec![Dim::new(length, at)]);
    out.shape_at = at;
    out.grad = Grad::Off;
    cx.out(out)
}

fn histc(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    if input.dtype.is_some_and(|d| d.is_complex() || d == Dtype::Bool) {
        refuse_dtype(cx, ("input", &input), "takes real numbers only");
        return cx.some_tensor();
    }
    let bins = cx.size_of(&b.get("bins"));
    if bins.less(&Size::Int(1)) == Some(true) {
        let message = format!("`bins` is {bins}: at least one is needed");
        cx.reject(RejectKind::Value, message, vec![("`bins` is given here".to_owned(), b.span("bins"))]);
        return cx.some_tensor();
    }
    let mut out = derived(&input);
    let at = cx.at();
    out = out.with_shape(vec![bins], at);
    out.grad = Grad::Off;
    give(cx, b, out)
}

/// `histogram`: counts and edges.
fn histogram(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let unknown = vec![Tensor::default(); 2];
    let Some(input) = tensor_param(cx, b, "input") else { return cx.outs(unknown) };
    if input.dtype.is_some_and(|d| !matches!(d, Dtype::Float32 | Dtype::Float64)) {
        refuse_dtype(cx, ("input", &input), "takes float or double only");
        return cx.outs(unknown);
    }
    let at = cx.at();
    let bins = b.get("bins");
    let edges = match (cx.tensor(&bins), bins.as_size()) {
        (Some(edges), _) => edges.shape.and_then(|s| s.first().map(|d| d.size.clone())),
        (None, Some(n)) => Some(n.add(&Size::Int(1))),
        _ => None,
    };
    let edges = edges.unwrap_or(Size::Unknown);
    let mut counts = derived(&input);
    counts.grad = Grad::Off;
    let counts = counts.with_shape(vec![edges.sub(&Size::Int(1))], at);
    let edges = counts.clone().with_shape(vec![edges], at);
    crate::library::torch::support::give_all(cx, b, vec![counts, edges])
}

/// `histogramdd`: counts, with one dimension for each column of the input, and a tuple of edges.
fn histogramdd(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return Value::Unknown };
    let named = ("input", &input);
    if input.dtype.is_some_and(|d| !matches!(d, Dtype::Float32 | Dtype::Float64)) {
        refuse_dtype(cx, named, "takes float or double only");
        return Value::Unknown;
    }
    if input.rank().is_some_and(|r| r < 2) {
        refuse_rank(cx, named, "at least two dimensions");
        return Value::Unknown;
    }
    let Some(columns) = input.dim(-1).and_then(|d| d.size.known()).and_then(|n| usize::try_from(n).ok()) else {
        return Value::Unknown;
    };
    let bins = b.get("bins");
    let bins = match (bins.as_int(), cx.items(&bins)) {
        (Some(_), _) => vec![bins; columns.min(64)],
        (None, Some(items)) => items,
        _ => return Value::Unknown,
    };
    if bins.len() != columns {
        let (values, columns) = (counted(bins.len(), "value"), counted(columns, "column"));
        let message = format!("`bins` has {values}, but `input` has {columns}");
        let reads = vec![crate::library::torch::broadcast::shape_read(named, None)];
        cx.reject(RejectKind::Value, message, reads);
        return Value::Unknown;
    }
    let at = cx.at();
    let mut sizes = Vec::new();
    for bin in &bins {
        let size = match cx.tensor(bin) {
            Some(edges) => edges.dim(0).map_or(Size::Unknown, |d| d.size.sub(&Size::Int(1))),
            None => cx.size_of(bin),
        };
        sizes.push(size);
    }
    let mut counts = derived(&input);
    counts.grad = Grad::Off;
    let edges: Vec<Value> = sizes
        .iter()
        .map(|n| {
            let edges = counts.clone().with_shape(vec![n.add(&Size::Int(1))], at);
            cx.out(edges)
        })
        .collect();
    let counts = cx.out(counts.with_shape(sizes, at));
    Value::tuple(vec![counts, Value::tuple(edges)])
}

/// One tensor of indices for each dimension of the shape.
fn unravel_index(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(indices) = tensor_param(cx, b, "indices") else { return Value::Unknown };
    if indices.dtype.is_some_and(|d| !d.is_integral() || d == Dtype::Bool) {
        refuse_dtype(cx, ("indices", &indices), "takes integers only");
        return Value::Unknown;
    }
    let shape = b.get("shape");
    let sizes = match cx.items(&shape) {
        Some(items) => items.iter().map(|v| cx.size_of(v)).collect(),
        None if shape.number_type().is_some() => vec![cx.size_of(&shape)],
        None => return Value::Unknown,
    };
    let at = cx.at();
    let outs = sizes
        .iter()
        .map(|size| {
            let mut out = derived(&indices).with_dtype(Some(Dtype::Int64), at);
            out.grad = Grad::Off;
            bound_index(&mut out, size, at);
            out
        })
        .collect();
    cx.outs(outs)
}

/// The number of distinct elements (or of runs of equal elements), if all are known.
fn distinct(input: &Tensor, consecutive: bool) -> Option<i64> {
    // Numbers that are not small integers may become equal by rounding.
    let mut data: Vec<f64> = input.data.as_ref()?.iter().map(|x| x + 0.0).collect();
    if data.iter().any(|x| x.fract() != 0.0 || x.abs() > 2048.0) {
        return None;
    }
    if !consecutive {
        data.sort_by(f64::total_cmp);
    }
    data.dedup();
    i64::try_from(data.len()).ok()
}

fn combinations(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    if input.rank().is_some_and(|r| r != 1) {
        refuse_rank(cx, named, "one dimension");
        return cx.some_tensor();
    }
    let r = b.get("r").as_int();
    if r.is_some_and(|r| r < 0) {
        cx.reject(RejectKind::Value, "`r` is negative", vec![("`r` is given here".to_owned(), b.span("r"))]);
        return cx.some_tensor();
    }
    let n = input.dim(0).and_then(|d| d.size.known());
    let again = b.get("with_replacement").as_bool();
    let rows = match (n, r, again) {
        (Some(n), Some(r), Some(again)) => {
            // There are as many combinations of `r` out of `n` elements with repetition as of `r`
            // out of `n + r - 1` elements without repetition.
            let n = if again { n.checked_add(r.saturating_sub(1)) } else { Some(n) };
            n.and_then(|n| choose(n, r)).map_or(Size::Unknown, Size::Int)
        }
        _ => Size::Unknown,
    };
    let at = cx.at();
    let out = derived(&input);
    let out = match r {
        // With `r=0`, the result is an empty tensor with one dimension.
        Some(0) => out.with_shape(vec![Size::Int(0)], at),
        _ => out.with_shape(vec![rows, r.map_or(Size::Unknown, Size::Int)], at),
    };
    cx.out(out)
}

/// The number of ways to choose `r` of `n` elements.
fn choose(n: i64, r: i64) -> Option<i64> {
    if r > n {
        return Some(0);
    }
    let mut out: i64 = 1;
    for i in 0..r.min(1000) {
        out = out.checked_mul(n.checked_sub(i)?)?.checked_div(i.checked_add(1)?)?;
    }
    (r <= 1000).then_some(out)
}

fn cartesian_prod(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let values = b.rest_values();
    if b.open {
        return cx.some_tensor();
    }
    let Some(tensors) = values.iter().map(|value| cx.tensor(value)).collect::<Option<Vec<Tensor>>>() else {
        return cx.some_tensor();
    };
    let named: Vec<Named<'_>> = tensors.iter().map(|tensor| ("tensors", tensor)).collect();
    common_device(cx, &named, Mix::Strict);
    if let Some(tensor) = tensors.iter().find(|tensor| tensor.rank().is_some_and(|rank| rank > 1)) {
        refuse_rank(cx, ("tensors", tensor), "tensors of one dimension");
        return cx.some_tensor();
    }
    let Some(first) = tensors.first() else { return cx.some_tensor() };
    let rows = tensors.iter().fold(Size::Int(1), |rows, tensor| rows.mul(&tensor.numel()));
    let at = cx.at();
    let columns = i64::try_from(values.len()).map_or(Size::Unknown, Size::Int);
    // A single tensor is returned unchanged.
    let shape = if values.len() == 1 { vec![rows] } else { vec![rows, columns] };
    let mut out = derived(first).with_shape(shape, at);
    out.grad = Grad::Unknown;
    cx.out(out)
}
