//! The same elements in the same order with another shape: `view`, `reshape`, `flatten`, `squeeze`.

use crate::library::torch::broadcast::{result_grad, shape_read, shape_text};
use crate::library::torch::carry::{self, Rejected, reshaped, sizes_text};
use crate::library::torch::factory::item_size;
use crate::library::torch::views::layout;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "reshape", reshape);
    t.def("torch.Tensor.reshape", "input, *shape", reshape_method);
    t.def("torch.Tensor.view", "input, *size, dtype=None", view);
    t.def("torch.view_copy", "input, size, *, out=None", |cx, b| to_shape(cx, b, &[b.get("size")]));
    t.listed("torch.Tensor.", "view_as reshape_as", view_as);
    t.listed("torch.", "flatten", flatten);
    t.listed("torch.", "ravel", ravel);
    t.listed("torch.", "unflatten", unflatten);
    t.defs("torch.squeeze", &["input, *dim"], squeeze);
    t.def("torch.squeeze_copy", "input, *dim, out=None", squeeze);
    t.listed("torch.", "unsqueeze_copy", unsqueeze);
    t.listed("torch.", "unsqueeze", unsqueeze);
    t.listed("torch.", "atleast_1d atleast_2d atleast_3d", atleast);
    t.listed("torch.Tensor.", "as_strided", as_strided);
    t.listed("torch.Tensor.", "as_strided_", restrided);
    t.listed("torch.", "as_strided_copy", as_strided);
    t.listed("torch.", "as_strided", as_strided);
}

/// The shape for the argument `sizes` and `numel` elements. If only one size is `-1` or unknown, it
/// is computed from `numel` and the other sizes. `Err` if the call is certainly rejected.
pub(crate) fn solve(numel: &Size, sizes: &[Size]) -> Result<Vec<Size>, String> {
    let text = || sizes_text(sizes);
    if let Some(bad) = sizes.iter().find(|s| s.known().is_some_and(|n| n < -1)) {
        return Err(format!("{bad} in {} is not a size", text()));
    }
    let inferred = |s: &Size| s.known() == Some(-1);
    let open = sizes.iter().filter(|s| inferred(s)).count();
    if open > 1 {
        return Err(format!("-1 occurs twice in {}: only one size can be inferred", text()));
    }
    let unknown = sizes.iter().filter(|s| s.is_unknown()).count();
    let rest = sizes.iter().filter(|s| !inferred(s) && !s.is_unknown()).fold(Size::Int(1), |n, s| n.mul(s));
    let wrong = || Err(format!("{} cannot have the shape {}", counted(numel, "element"), text()));
    if open == 0 && unknown == 0 {
        return if numel.equals(&rest) == Some(false) { wrong() } else { Ok(sizes.to_vec()) };
    }
    // The product of the given sizes must divide the number of elements.
    if let (Some(n), Some(k)) = (numel.known(), rest.known()) {
        if k == 0 {
            if n != 0 {
                return wrong();
            }
            if open == 1 && unknown == 0 {
                return Err(format!("the -1 in {} cannot be inferred for a tensor with 0 elements", text()));
            }
        } else if n % k != 0 {
            return wrong();
        }
    }
    let fill = |found: Size| {
        sizes.iter().map(|s| if inferred(s) || s.is_unknown() { found.clone() } else { s.clone() }).collect()
    };
    if open + unknown == 1 && rest.known() != Some(0) {
        return Ok(fill(numel.div_exact(&rest).unwrap_or(Size::Unknown)));
    }
    Ok(fill(Size::Unknown))
}

fn to_shape(cx: &mut Cx<'_, '_>, b: &Bound, sizes: &[Value]) -> Value {
    let value = b.get("input");
    let sizes = if b.open { None } else { carry::sizes(cx, sizes) };
    let Some(input) = cx.tensor(&value) else {
        let mut out = Tensor::default();
        if let Some(sizes) = sizes {
            let known = sizes.into_iter().map(|s| if s.known() == Some(-1) { Size::Unknown } else { s }).collect();
            out = out.with_shape(known, cx.at());
        }
        return cx.out(out);
    };
    let dims = match sizes {
        None => None,
        Some(sizes) => match solve(&input.numel(), &sizes) {
            Ok(sizes) => Some(keep_origins(cx, &input, sizes)),
            Err(why) => {
                let message = format!("`input` is {}: {why}", shape_text(&input));
                cx.reject(RejectKind::Shape, message, vec![shape_read(("input", &input), None)]);
                None
            }
        },
    };
    if let Some(sizes) = dims.as_ref().filter(|_| cx.name() == "view") {
        let sizes: Vec<Size> = sizes.iter().map(|d| d.size.clone()).collect();
        if layout::refuses_view(&input, &sizes) {
            let message = format!(
                "{} cannot be viewed as {}: its dimensions were reordered, and those that the view merges are not adjacent in memory",
                shape_text(&input),
                sizes_text(&sizes)
            );
            cx.reject(
                RejectKind::Layout,
                message,
                vec![("the dimensions are reordered here".to_owned(), input.shape_at)],
            );
        }
    }
    let out = reshaped(cx, &input, dims);
    let made = cx.view_of(&value, out);
    layout::viewed(cx, &made, &input);
    made
}

/// The dimensions with these sizes. A size that was at the same position before keeps its origin.
/// If the rank changes, only the first size can keep it.
fn keep_origins(cx: &Cx<'_, '_>, input: &Tensor, sizes: Vec<Size>) -> Vec<Dim> {
    let at = cx.at();
    let old = input.shape.as_deref().unwrap_or_default();
    let same_rank = old.len() == sizes.len();
    let place = |i: usize, size: &Size| {
        let from_front = old.get(i).filter(|d| (i == 0 || same_rank) && d.size == *size);
        from_front.map_or(at, |d| d.at.or(at))
    };
    sizes
        .into_iter()
        .enumerate()
        .map(|(i, size)| {
            let at = place(i, &size);
            Dim::new(size, at)
        })
        .collect()
}

fn reshape(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let shape = b.get("shape");
    to_shape(cx, b, &[shape])
}

fn reshape_method(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    to_shape(cx, b, &b.rest_values())
}

fn view(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let sizes = b.rest_values();
    let dtype = match sizes.as_slice() {
        [Value::Dtype(d)] => Some(*d),
        _ => cx.dtype_arg(&b.get("dtype")).flatten(),
    };
    match dtype {
        Some(dtype) => view_dtype(cx, b, dtype),
        None => to_shape(cx, b, &sizes),
    }
}

/// `x.view(dtype)`: the same bytes with another dtype.
fn view_dtype(cx: &mut Cx<'_, '_>, b: &Bound, dtype: Dtype) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else {
        let out = Tensor::default().with_dtype(Some(dtype), cx.at());
        return cx.out(out);
    };
    let mut out = input.clone();
    if input.dtype != Some(dtype) {
        out.forget_values();
    }
    out = out.with_dtype(Some(dtype), cx.at());
    out.grad = result_grad(cx, &[&input], Some(dtype));
    match (input.dtype.and_then(item_size), item_size(dtype)) {
        (Some(from), Some(to)) if from == to => {}
        (Some(from), Some(to)) => match out.shape.as_mut().map(|dims| dims.last_mut()) {
            Some(Some(last)) => {
                let bytes = last.size.mul(&Size::Int(from));
                let fits = bytes.known().is_none_or(|n| n % to == 0);
                last.size = bytes.div_exact(&Size::Int(to)).unwrap_or(Size::Unknown);
                last.at = cx.at();
                if !fits {
                    let message = format!(
                        "the last dimension of {} holds {}, which is not a whole number of {dtype} elements",
                        shape_text(&input),
                        counted(&bytes, "byte")
                    );
                    cx.reject(RejectKind::Shape, message, vec![shape_read(("input", &input), None)]);
                }
            }
            Some(None) => {
                let message =
                    format!("a 0-dimensional tensor cannot be viewed as {dtype}, whose elements have another size");
                cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
            }
            None => {}
        },
        _ => out.shape = None,
    }
    cx.view_of(&value, out)
}

fn view_as(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let other = cx.tensor_arg(b, "other").and_then(|t| t.sizes());
    match other {
        Some(sizes) => {
            let sizes: Vec<Value> = sizes.iter().map(Value::size).collect();
            to_shape(cx, b, &[Value::tuple(sizes)])
        }
        None => to_shape(cx, b, &[Value::Unknown]),
    }
}

fn flatten(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let (start, end) = (b.get("start_dim"), b.get("end_dim"));
    let Some(input) = cx.tensor(&value) else {
        let out = Tensor { shape: flat_rank(&start, &end), ..Tensor::default() };
        return cx.out(out);
    };
    let Some(dims) = &input.shape else {
        let out = reshaped(cx, &input, flat_rank(&start, &end));
        return cx.view_of(&value, out);
    };
    let (Ok(first), Ok(last)) = (carry::axis(cx, &start, &input), carry::axis(cx, &end, &input)) else {
        return carry::like_only(cx, &input);
    };
    let (Some(first), Some(last)) = (first, last) else { return carry::like_only(cx, &input) };
    if first > last {
        let message = format!("flatten from dimension {first} to {last}: the start comes after the end");
        cx.reject(RejectKind::Value, message, vec![shape_read(("input", &input), None)]);
        return carry::like_only(cx, &input);
    }
    // Without dimensions to merge, PyTorch returns the tensor itself.
    if first == last && !dims.is_empty() {
        return value;
    }
    let joined = dims.iter().skip(first).take(last - first + 1).fold(Size::Int(1), |n, d| n.mul(&d.size));
    let mut out: Vec<Dim> = dims.iter().take(first).cloned().collect();
    out.push(Dim::new(joined, cx.at()));
    out.extend(dims.iter().skip(last + 1).cloned());
    let out = reshaped(cx, &input, Some(out));
    let made = cx.view_of(&value, out);
    layout::viewed(cx, &made, &input);
    made
}

/// The shape of a tensor of unknown rank after `flatten(1)` and similar calls.
fn flat_rank(start: &Value, end: &Value) -> Option<Vec<Dim>> {
    let (start, end) = (start.as_int()?, end.as_int()?);
    (end == -1 && (0..8).contains(&start))
        .then(|| std::iter::repeat_n(Dim::UNKNOWN, usize::try_from(start + 1).unwrap_or(1)).collect())
}

fn ravel(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let input = cx.tensor(&value).unwrap_or_default();
    let place = match input.shape.as_deref() {
        Some([only]) => only.at,
        _ => cx.at(),
    };
    let out = reshaped(cx, &input, Some(vec![Dim::new(input.numel(), place)]));
    cx.view_of(&value, out)
}

fn unflatten(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let Ok(at) = carry::axis(cx, &b.get("dim"), &input) else { return carry::like_only(cx, &input) };
    let sizes = carry::sizes(cx, &[b.get("sizes")]);
    let dims = match (&input.shape, at, sizes) {
        (Some(dims), Some(at), Some(sizes)) => match dims.get(at).map(|d| solve(&d.size, &sizes)) {
            Some(Ok(sizes)) => {
                let mut out: Vec<Dim> = dims.iter().take(at).cloned().collect();
                out.extend(sizes.into_iter().map(|size| Dim::new(size, cx.at())));
                out.extend(dims.iter().skip(at + 1).cloned());
                Some(out)
            }
            Some(Err(why)) => {
                let message = format!("dimension {at} of {} cannot be split: {why}", shape_text(&input));
                cx.reject(RejectKind::Shape, message, vec![shape_read(("input", &input), Some(at))]);
                None
            }
            None => None,
        },
        _ => None,
    };
    let out = reshaped(cx, &input, dims);
    cx.view_of(&value, out)
}

fn squeeze(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let named = b.rest_values();
    let chosen = match (&input.shape, named.as_slice()) {
        (Some(dims), []) => Ok(Some((0..dims.len()).collect::<Vec<usize>>())),
        (Some(_), named) => carry::axes(cx, named, &input),
        (None, _) => Ok(None),
    };
    let chosen = match chosen {
        Ok(chosen) if !b.open => chosen,
        Ok(_) => None,
        Err(Rejected) => return carry::like_only(cx, &input),
    };
    let dims = chosen.and_then(|chosen| {
        let mut out = Vec::new();
        for (i, dim) in input.shape.as_ref()?.iter().enumerate() {
            if !chosen.contains(&i) {
                out.push(dim.clone());
                continue;
            }
            // If it is unknown whether the length is 1, the rank of the result is unknown.
            if !dim.size.equals(&Size::Int(1))? {
                out.push(dim.clone());
            }
        }
        Some(out)
    });
    let out = reshaped(cx, &input, dims);
    cx.view_of(&value, out)
}

fn unsqueeze(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let Some(dims) = &input.shape else {
        let out = reshaped(cx, &input, None);
        return cx.view_of(&value, out);
    };
    let dim = b.get("dim");
    let shape = match cx.dim_index(&dim, dims.len() + 1, input.shape_at) {
        Err(()) => return carry::like_only(cx, &input),
        Ok(None) => Some(vec![Dim::UNKNOWN; dims.len() + 1]),
        Ok(Some(at)) => {
            let mut out = dims.clone();
            out.insert(at.min(out.len()), Dim::new(Size::Int(1), cx.at()));
            Some(out)
        }
    };
    let out = reshaped(cx, &input, shape);
    cx.view_of(&value, out)
}

/// `atleast_1d` and similar functions, for one tensor or several.
fn atleast(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let args = b.rest_values();
    let rank = match cx.name() {
        "atleast_1d" => 1,
        "atleast_2d" => 2,
        _ => 3,
    };
    match args.as_slice() {
        [one] if cx.tensor(one).is_some() => raised(cx, one, rank),
        [several] => match cx.items(several) {
            Some(items) => {
                let all = items.iter().map(|v| raised(cx, v, rank)).collect();
                Value::tuple(all)
            }
            None => Value::Unknown,
        },
        several if !b.open => {
            let several = several.to_vec();
            let all = several.iter().map(|v| raised(cx, v, rank)).collect();
            Value::tuple(all)
        }
        _ => Value::Unknown,
    }
}

/// The shape, padded to a minimum rank as in `atleast_…`.
pub(crate) fn padded(dims: &[Dim], rank: usize, at: crate::value::Origin) -> Vec<Dim> {
    let one = || Dim::new(Size::Int(1), at);
    match (dims, rank) {
        ([], _) => vec![one(); rank],
        ([x], 2) => vec![one(), x.clone()],
        ([x], 3) => vec![one(), x.clone(), one()],
        ([x, y], 3) => vec![x.clone(), y.clone(), one()],
        _ => dims.to_vec(),
    }
}

fn raised(cx: &mut Cx<'_, '_>, value: &Value, rank: usize) -> Value {
    let Some(input) = cx.tensor(value) else { return cx.some_tensor() };
    // PyTorch returns the same object, not a view of it.
    if input.rank().is_some_and(|have| have >= rank) {
        return value.clone();
    }
    let dims = input.shape.as_ref().map(|dims| padded(dims, rank, cx.at()));
    let out = reshaped(cx, &input, dims);
    cx.view_of(value, out)
}

fn as_strided(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let (size, stride) = (b.get("size"), b.get("stride"));
    let dims = super::super::factory::options::dims(cx, b, &[size]);
    if let (Some(sizes), Some(strides)) = (&dims, carry::sizes(cx, &[stride]))
        && sizes.len() != strides.len()
    {
        let (sizes, strides) = (counted(sizes.len(), "size"), counted(strides.len(), "stride"));
        let message = format!("{} gets {sizes} and {strides}: the numbers must be equal", cx.name());
        cx.reject(RejectKind::Value, message, Vec::new());
    }
    let mut out = reshaped(cx, &input, dims);
    out.forget_values();
    cx.view_of(&value, out)
}

/// `as_strided_`: changes the tensor itself to another view of its memory.
fn restrided(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let dims = super::super::factory::options::dims(cx, b, &[b.get("size")]);
    let at = cx.at();
    if let Some(id) = value.as_obj() {
        cx.it.heap.update_tensor(id, |tensor| {
            tensor.forget_values();
            (tensor.shape, tensor.shape_at) = (dims, at);
        });
    }
    value
}
