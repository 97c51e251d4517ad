//! The tensor that PyTorch creates from nested lists, tuples, arrays and numbers.

use crate::library::Cx;
use crate::library::pandas;
use crate::library::torch::carry::{MOST_ELEMENTS, Rejected};
use crate::python::RejectKind;
use crate::value::{Data, Dim, Dtype, Items, Iter, Met, Origin, Range, Size, Tensor, Type, Value, promote};

/// The deepest nesting of a tensor literal.
const MOST_LEVELS: u32 = 24;

/// The facts of a literal, or of a part of it.
struct Part {
    shape: Option<Vec<Size>>,
    /// The smallest rank, if the shape is not known.
    least: usize,
    /// `Some(None)`: there are no elements, so PyTorch uses the default dtype.
    dtype: Option<Option<Dtype>>,
    data: Option<Vec<f64>>,
    range: Option<Range>,
    /// The origin of the range, if it is not the literal itself.
    at: Origin,
}

impl Part {
    const UNKNOWN: Part = Part { shape: None, least: 0, dtype: None, data: None, range: None, at: None };

    fn scalar(dtype: Option<Dtype>, value: Option<f64>) -> Part {
        let data = value.map(|v| vec![v]);
        Part { shape: Some(Vec::new()), dtype: dtype.map(Some), data, ..Part::UNKNOWN }
    }

    /// The range of the elements.
    fn values(&self) -> Option<Range> {
        self.range.clone().or_else(|| Range::of_values(self.data.as_deref()?))
    }
}

/// A literal that PyTorch rejects.
pub(crate) struct Refused {
    pub message: String,
    pub reads: Vec<(String, Origin)>,
}

/// The facts of a tensor made from `data`, without a device. `Err` if the call is rejected, which
/// has been reported.
pub(crate) fn read(cx: &mut Cx<'_, '_>, data: &Value) -> Result<Tensor, Rejected> {
    let mut found = facts(cx, data).map_err(|refused| {
        cx.reject(RejectKind::Value, refused.message, refused.reads);
        Rejected
    })?;
    // The unknown length of a list gets a symbol, which is assumed to be positive.
    if !cx.it.heap.is_tensor(data)
        && let Some(first) = found.shape.as_mut().and_then(|dims| dims.first_mut())
        && first.size.is_unknown()
    {
        *first = cx.fresh_dim("n");
    }
    Ok(found)
}

/// Like [`read`], but returns the rejection instead of reporting it.
pub(crate) fn facts(cx: &Cx<'_, '_>, data: &Value) -> Result<Tensor, Refused> {
    let found = part(cx, data, Depth { at: 0, levels: levels(cx, data, 0) })?;
    let at = cx.at();
    let mut out = Tensor { shape_at: at, dtype_at: at, ..Tensor::default() };
    if found.shape.is_none() {
        out.set_trailing(vec![Dim::UNKNOWN; found.least]);
    }
    out.shape = found.shape.map(|sizes| sizes.into_iter().map(|size| Dim::new(size, at)).collect());
    out.dtype = match found.dtype {
        Some(None) => cx.default_dtype(),
        Some(dtype) => dtype,
        None => None,
    };
    out.range = found.range;
    out.range_at = found.at.or(at);
    if let Some(values) = found.data
        && values.iter().all(|v| v.is_nan() || v.is_infinite() || v.abs() < 9.0e15 || v.fract() != 0.0)
    {
        let rounded = out
            .dtype
            .map(|d| values.iter().map(|v| super::super::cast::cast_value(*v, d)).collect::<Option<Vec<f64>>>());
        if let Some(Some(rounded)) = rounded {
            super::super::carry::set_data(&mut out, rounded.into(), at);
        }
    }
    Ok(out)
}

/// The depth of a part, and the number of list levels of the whole literal (`None`: unknown).
#[derive(Clone, Copy)]
struct Depth {
    at: u32,
    levels: Option<u32>,
}

impl Depth {
    fn inner(self) -> Depth {
        Depth { at: self.at + 1, ..self }
    }
}

/// The number of list levels. Like PyTorch, this function looks only at the first element of each
/// list.
fn levels(cx: &Cx<'_, '_>, value: &Value, depth: u32) -> Option<u32> {
    if depth > MOST_LEVELS {
        return None;
    }
    let first = match value {
        Value::Tuple(items) => items.first().cloned(),
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::List(Items::Exact(items)) => items.first().cloned(),
            Data::List(Items::Many(element)) => Some(element.clone()),
            Data::Tensor(_) => return Some(0),
            _ => return None,
        },
        Value::Unknown | Value::Open(_) => return None,
        _ => return Some(0),
    };
    first.map_or(Some(1), |first| levels(cx, &first, depth + 1).map(|n| n + 1))
}

fn part(cx: &Cx<'_, '_>, value: &Value, depth: Depth) -> Result<Part, Refused> {
    if depth.at > MOST_LEVELS {
        return Ok(Part::UNKNOWN);
    }
    let default = cx.default_dtype();
    Ok(match value {
        Value::Bool(_) | Value::Any(Type::Bool) => Part::scalar(Some(Dtype::Bool), value.as_f64()),
        Value::Int(_) | Value::Size(_) | Value::Any(Type::Int) => Part::scalar(Some(Dtype::Int64), value.as_f64()),
        Value::Ranged(ranged) => {
            Part { range: Some(ranged.range.clone()), at: ranged.at, ..Part::scalar(Some(Dtype::Int64), None) }
        }
        Value::Floats(floats) => {
            Part { range: Some(floats.range.clone()), at: floats.at, ..Part::scalar(default, None) }
        }
        Value::Float(_) | Value::Any(Type::Float) => Part::scalar(default, value.as_f64()),
        Value::Any(Type::Complex) => Part::scalar(default.map(Dtype::to_complex), None),
        Value::Str(text) => return Err(refused(format!("{text:?} is a string: tensors hold numbers"))),
        Value::Any(Type::Str) | Value::Among(_) => {
            return Err(refused("a string is given: tensors hold numbers".to_owned()));
        }
        Value::None => return Err(refused("None is given: tensors hold numbers".to_owned())),
        Value::Tuple(items) => sequence(cx, items, depth)?,
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::Tensor(_) => tensor(cx, value, depth)?,
            Data::List(Items::Exact(items)) => sequence(cx, &items.clone(), depth)?,
            Data::List(Items::Many(element)) => many(cx, value, element, depth),
            // A tuple of unknown length, such as an item of `zip(*rows)`.
            Data::Iter(Iter { items: Items::Many(element), .. }) => many(cx, value, element, depth),
            Data::Instance(_) => match pandas::as_sequence(cx, value) {
                pandas::Sequence::Numbers(values) => of_array(*values),
                pandas::Sequence::Table => {
                    let message = "a DataFrame is given: its numbers are in .values or .to_numpy()";
                    return Err(refused(message.to_owned()));
                }
                pandas::Sequence::Other => Part::UNKNOWN,
            },
            _ => Part::UNKNOWN,
        },
        _ => Part::UNKNOWN,
    })
}

fn refused(message: String) -> Refused {
    Refused { message, reads: Vec::new() }
}

/// A list of unknown length. If it may be empty, its dtype may be the default dtype.
fn many(cx: &Cx<'_, '_>, list: &Value, element: &Value, depth: Depth) -> Part {
    match part(cx, element, depth.inner()) {
        Ok(inner) => {
            let (filled, default) = (!cx.it.heap.is_perhaps_empty(list), cx.default_dtype());
            let dtype = inner.dtype.filter(|dtype| filled || default.is_some() && *dtype == default);
            // Any of the values may be missing, but a value that is known to occur still occurs in
            // some run.
            let part = |range: Range| {
                if !filled {
                    return range.of_perhaps_empty();
                }
                let met = range.met.map(|met| Met { always: false, ..met });
                range.of_part().with_met(met)
            };
            let (at, range) = (inner.at, inner.values().map(part));
            // Without rows, there is only one dimension.
            let rows = inner.shape.filter(|inner| filled || inner.is_empty());
            let shape = rows.map(|inner| std::iter::once(Size::Unknown).chain(inner).collect());
            Part { shape, least: 1, dtype, data: None, range, at }
        }
        Err(_) => Part { least: 1, ..Part::UNKNOWN },
    }
}

fn tensor(cx: &Cx<'_, '_>, value: &Value, depth: Depth) -> Result<Part, Refused> {
    let Some(tensor) = cx.tensor(value) else { return Ok(Part::UNKNOWN) };
    let torch = tensor.array == crate::value::ArrayKind::Torch;
    // PyTorch treats a tensor inside a list like a list. At the innermost level, such a tensor must
    // have exactly one element, which is read as a number.
    if torch && depth.at > 0 && depth.levels.is_none_or(|levels| depth.at >= levels) {
        if depth.levels.is_some() && tensor.numel().known().is_some_and(|n| n != 1) {
            let message = format!(
                "the list contains a tensor of shape {}: only tensors of one element can stand for numbers (torch.stack joins tensors)",
                super::super::broadcast::shape_text(&tensor)
            );
            let reads = vec![("the tensor gets its shape here".to_owned(), tensor.shape_at)];
            return Err(Refused { message, reads });
        }
        let data = tensor.data.as_ref().map(|d| d.to_vec());
        let shape = (depth.levels.is_some() && tensor.numel().known() == Some(1)).then(Vec::new);
        let dtype = tensor.dtype.map(Some);
        return Ok(Part { shape, least: 0, dtype, data, range: tensor.range, at: tensor.range_at });
    }
    Ok(of_array(tensor))
}

fn of_array(tensor: Tensor) -> Part {
    let data = tensor.data.as_ref().map(|d| d.to_vec());
    let (shape, least) = (tensor.sizes(), tensor.last_dims().len());
    Part { shape, least, dtype: tensor.dtype.map(Some), data, range: tensor.range, at: tensor.range_at }
}

fn sequence(cx: &Cx<'_, '_>, items: &[Value], depth: Depth) -> Result<Part, Refused> {
    let Some((first, rest)) = items.split_first() else {
        return Ok(Part {
            shape: Some(vec![Size::Int(0)]),
            dtype: Some(None),
            data: Some(Vec::new()),
            ..Part::UNKNOWN
        });
    };
    let mut all = part(cx, first, depth.inner())?;
    for item in rest {
        let next = part(cx, item, depth.inner())?;
        all = join(all, next, depth.at)?;
    }
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    all.least += 1;
    all.shape = all.shape.map(|inner| std::iter::once(Size::Int(length)).chain(inner).collect());
    Ok(all)
}

/// Joins two neighbouring parts of a list.
fn join(a: Part, b: Part, depth: u32) -> Result<Part, Refused> {
    let range = a.values().zip(b.values()).map(|(x, y)| x.union(&y));
    let at = a.at.or(b.at);
    let shape = match (a.shape, b.shape) {
        (Some(x), Some(y)) => {
            let differ = x.len() != y.len() || x.iter().zip(&y).any(|(p, q)| p.equals(q) == Some(false));
            // If one of the lists may be empty, the tensor may have no elements, and PyTorch may
            // accept the literal.
            let filled = x.iter().chain(&y).all(|s| !s.may_be_zero());
            if differ && filled {
                return Err(refused(ragged(&x, &y, depth)));
            }
            (!differ)
                .then(|| x.iter().zip(&y).map(|(p, q)| if p.is_unknown() { q.clone() } else { p.clone() }).collect())
        }
        // A list that begins with a number contains only numbers.
        (Some(known), None) if known.is_empty() => Some(known),
        _ => None,
    };
    let least = a.least.min(b.least);
    let dtype = match (a.dtype, b.dtype) {
        (Some(None), Some(None)) => Some(None),
        // If one of the lists is empty, PyTorch may create a tensor without elements, so the dtype
        // is not known.
        (Some(None), _) | (_, Some(None)) => None,
        (Some(Some(x)), Some(Some(y))) => promote(x, y).map(Some),
        _ => None,
    };
    let data = match (a.data, b.data) {
        (Some(mut x), Some(y)) if x.len() + y.len() <= MOST_ELEMENTS => {
            x.extend(y);
            Some(x)
        }
        _ => None,
    };
    // If the elements are known, the range is computed from them.
    let range = range.filter(|_| data.is_none());
    Ok(Part { shape, least, dtype, data, range, at })
}

fn ragged(x: &[Size], y: &[Size], depth: u32) -> String {
    let text = |sizes: &[Size]| match sizes {
        [] => "a number".to_owned(),
        [one] => format!("a list of length {one}"),
        more => format!("lists of {}", more.iter().map(Size::to_string).collect::<Vec<_>>().join(" by ")),
    };
    format!("the list is ragged: at level {} it holds {} and {}", depth + 1, text(x), text(y))
}
