//! Conversion of values to a column of a frame, and back.

use super::facts::{MOST_ITEMS, Series, series, some_rows};
use crate::library::Cx;
use crate::library::common::{array, size_of_length};
use crate::library::numpy;
use crate::value::{ArrayKind, Data, Dim, Dtype, Items, Range, Size, Tensor, Type, Value};

/// The facts of a value that is stored as a column with this number of rows.
pub(super) fn column_of(cx: &mut Cx<'_, '_>, value: &Value, rows: Option<&Size>) -> Series {
    let at = cx.at();
    let unknown = || Series::unknown(rows.cloned().unwrap_or(Size::Unknown), at);
    if let Some(series) = series(cx, value) {
        return series;
    }
    if let Some(tensor) = cx.tensor(value) {
        return of_tensor(tensor, rows).unwrap_or_else(unknown);
    }
    if value.number_type().is_some() || value.is_text() || value.is_none() {
        let mut out = unknown();
        if value.number_type().is_some() {
            let number = numpy::as_array(cx, value).unwrap_or_default();
            out.array.dtype = number.dtype;
            out.array.range = number.range;
            out.array.range_at = number.range_at;
        } else {
            out.items = value.clone();
        }
        return out;
    }
    let items = match value {
        Value::Tuple(items) => Items::Exact(items.to_vec()),
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::List(items) => items.clone(),
            Data::Iter(iter) => iter.items.clone(),
            _ => return unknown(),
        },
        _ => return unknown(),
    };
    of_items(cx, items, rows)
}

fn of_tensor(tensor: Tensor, rows: Option<&Size>) -> Option<Series> {
    // The conversion of PyTorch tensors differs between pandas versions.
    let known = tensor.array == ArrayKind::Numpy;
    let mut array = numpy::of_tensor(tensor);
    match array.rank() {
        Some(1) => {}
        // A table with one column.
        Some(2) if array.dim(1).and_then(|d| d.size.known()) == Some(1) => {
            array.shape = array.shape.map(|dims| dims.into_iter().take(1).collect());
        }
        Some(0) => {
            array.data = None;
            array.shape = Some(vec![Dim::new(rows?.clone(), array.shape_at)]);
        }
        None => array.shape = Some(vec![Dim::new(rows?.clone(), array.shape_at)]),
        _ => return None,
    }
    if !known {
        array.dtype = None;
    }
    if let (Some(rows), Some(first)) = (rows, array.shape.as_mut().and_then(|s| s.first_mut()))
        && first.size.known().is_none()
    {
        first.size = rows.clone();
    }
    Some(Series::of(array))
}

fn of_items(cx: &mut Cx<'_, '_>, items: Items, rows: Option<&Size>) -> Series {
    let at = cx.at();
    match items {
        Items::Exact(values) if values.len() > MOST_ITEMS || values.is_empty() => {
            Series::unknown(size_of_length(values.len()), at)
        }
        Items::Exact(values) => {
            let values: Vec<Value> = values.into_iter().map(|v| if is_nan(&v) { Value::None } else { v }).collect();
            let list = Value::tuple(values.clone());
            let missing = values.iter().any(Value::is_none);
            let numbers = values.iter().all(|v| v.is_none() || v.number_type().is_some());
            if numbers && missing {
                // Missing values become NaN, so the column has floats. If all values are missing,
                // or some are bools, the dtype is object.
                let floats = values.iter().any(|v| matches!(v.number_type(), Some(Type::Int | Type::Float)))
                    && !values.iter().any(|v| v.number_type() == Some(Type::Bool));
                let rows = size_of_length(values.len());
                let dtype = floats.then_some(Dtype::Float64);
                let mut out = Series::of(array(Some(vec![rows]), dtype, at));
                out.items = list;
                return out;
            }
            // A list with both bools and numbers becomes a column of objects.
            let truths = values.iter().filter(|v| v.number_type() == Some(Type::Bool)).count();
            if numbers && (truths == 0 || truths == values.len()) {
                match numpy::as_array(cx, &list).filter(|a| a.rank() == Some(1)) {
                    Some(array) => return Series::of(array),
                    None => return Series::unknown(size_of_length(values.len()), at),
                }
            }
            let mut out = Series::unknown(size_of_length(values.len()), at);
            if values.iter().all(|v| v.is_none() || v.is_text()) {
                out.items = list;
            }
            out
        }
        Items::Many(element) => {
            let rows = rows.cloned().unwrap_or_else(|| some_rows(cx));
            let mut out = Series::unknown(rows, at);
            if element.number_type().is_some() {
                let number = numpy::as_array(cx, &element).unwrap_or_default();
                out.array.dtype = number.dtype;
                out.array.range = number.range.map(Range::of_part);
                out.array.range_at = number.range_at;
            } else if element.is_text() {
                out.items = element;
            } else if let Some(tensor) = cx.tensor(&element).filter(|t| t.rank() == Some(0)) {
                out.array.dtype = tensor.dtype.filter(|_| tensor.array == ArrayKind::Numpy);
                out.array.range = tensor.range.map(Range::of_part);
            }
            out
        }
    }
}

/// Like [`elements`], for a value; `None` if the value is not a Series.
pub(crate) fn elements_of(cx: &mut Cx<'_, '_>, value: &Value) -> Option<Items> {
    let series = series(cx, value)?;
    Some(elements(cx, &series))
}

/// Whether the value is NaN, which pandas treats as a missing value.
fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(x) if x.is_nan())
}

/// The elements that `tolist` of a Series returns. Iteration over the Series yields the same
/// elements.
pub(super) fn elements(cx: &mut Cx<'_, '_>, of: &Series) -> Items {
    let dtype = of.array.dtype;
    let integral = dtype.is_some_and(|d| d.is_integral() && d != Dtype::Bool);
    if let (Some(data), true) = (&of.array.data, integral || dtype == Some(Dtype::Float64)) {
        #[expect(clippy::cast_possible_truncation, reason = "elements of an array of integers")]
        let number = |x: &f64| if integral { Value::Int(*x as i64) } else { Value::Float(*x) };
        return Items::Exact(data.iter().map(number).collect());
    }
    match (dtype, of.exact()) {
        (None, Some(items)) => return Items::Exact(items.to_vec()),
        // Missing values among numbers are NaN, so the numbers are floats.
        (Some(Dtype::Float64), Some(items)) => {
            let float = |v: &Value| Value::Float(v.as_f64().unwrap_or(f64::NAN));
            return Items::Exact(items.iter().map(float).collect());
        }
        _ => {}
    }
    if dtype.is_none() && !of.items.is_unknown() {
        return Items::Many(of.items.clone());
    }
    let range = of.array.range.clone().map(Range::of_sample);
    Items::Many(match (dtype, range) {
        (Some(Dtype::Bool), _) => Value::Any(Type::Bool),
        (Some(d), Some(range)) if d.is_integral() => Value::ranged(range, false, of.array.range_at),
        (Some(d), None) if d.is_integral() => Value::Any(Type::Int),
        (Some(d), _) if d.is_floating() => Value::Any(Type::Float),
        // The numbers are integers, or floats if some values are missing.
        (None, Some(range)) => {
            let number = array(Some(Vec::new()), None, of.array.dtype_at).with_range(Some(range), of.array.range_at);
            cx.out(number)
        }
        _ => Value::Unknown,
    })
}
