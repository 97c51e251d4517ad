//! Operators on Series and frames. If the row labels of the operands are equal, the operator works
//! elementwise; otherwise, the values of the result are unknown.

use super::facts::{FRAME, Frame, SERIES, Series, aligned, forget, frame, is_pandas, new_frame, new_series, series};
use crate::library::common::array;
use crate::library::numpy;
use crate::library::{Cx, Table};
use crate::python::{BinOp, Interp, UnaryOp};
use crate::syntax::Span;
use crate::value::{Dtype, Range, Type, Value, sym};

pub(crate) fn register(t: &mut Table) {
    // Methods that work like operators if they get no further arguments.
    super::both(
        t,
        "add radd sub subtract rsub mul multiply rmul div divide truediv rdiv floordiv mod pow",
        "self, other, *args, **kwargs",
        |cx, b| {
            let op = match cx.name().trim_start_matches('r') {
                "add" => BinOp::Add,
                "sub" | "subtract" => BinOp::Sub,
                "mul" | "multiply" => BinOp::Mul,
                "floordiv" => BinOp::FloorDiv,
                "mod" => BinOp::Mod,
                "pow" => BinOp::Pow,
                _ => BinOp::Div,
            };
            if b.open || !b.rest.is_empty() || !b.extra.is_empty() {
                return Value::Unknown;
            }
            let (object, other, span) = (b.get("self"), b.get("other"), cx.span);
            let turned = cx.name().starts_with('r');
            let (left, right) = if turned { (&other, &object) } else { (&object, &other) };
            binary(cx.it, op, left, right, span).unwrap_or(Value::Unknown)
        },
    );
}

/// `left op right`, if one side is a Series or a frame.
pub(crate) fn binary(it: &mut Interp<'_>, op: BinOp, left: &Value, right: &Value, span: Span) -> Option<Value> {
    if !is_pandas(it, left) && !is_pandas(it, right) {
        return None;
    }
    let frames = [left, right].into_iter().any(|v| super::is_frame(it, v));
    let cx = &mut Cx { it, path: sym(if frames { FRAME } else { SERIES }), span };
    if !frames {
        return Some(match rows(cx, op, left, right) {
            Some(out) => new_series(cx, out),
            None => Value::Unknown,
        });
    }
    Some(match columns(cx, op, left, right) {
        Some(out) => new_frame(cx, out),
        None => Value::Unknown,
    })
}

fn compares(op: BinOp) -> bool {
    matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge)
}

/// An operand of an operation on a Series.
fn operand(cx: &mut Cx<'_, '_>, value: &Value) -> Option<(Value, Option<Series>)> {
    if let Some(series) = series(cx, value) {
        let array = cx.out(series.array.clone());
        return Some((array, Some(series)));
    }
    let plain = cx.is_numpy(value) || value.number_type().is_some() || value.is_text();
    plain.then(|| (value.clone(), None))
}

fn rows(cx: &mut Cx<'_, '_>, op: BinOp, left: &Value, right: &Value) -> Option<Series> {
    let (a, x) = operand(cx, left)?;
    let (b, y) = operand(cx, right)?;
    let of = x.clone().or(y.clone())?;
    let at = cx.at();
    if let (Some(x), Some(y)) = (&x, &y)
        && !aligned(&x.index, &y.index)
    {
        // If only one operand has a row, the value in that row of the result is missing.
        let rows = super::facts::some_rows(cx);
        return Some(Series::unknown(rows, at));
    }
    let known = |s: &Option<Series>, v: &Value| s.as_ref().is_none_or(Series::is_plain) && !v.is_unknown();
    if compares(op) {
        let mut out = of.as_dtype((known(&x, &a) && known(&y, &b)).then_some(Dtype::Bool), at);
        out.array.range = Some(Range::bounds(0.0, 1.0));
        return Some(out);
    }
    if a.is_text() || b.is_text() {
        return Some(Series { wide: false, ..of.as_dtype(None, at) });
    }
    let span = cx.span;
    let result = numpy::binary(cx.it, op, &a, &b, span)?;
    let mut out =
        cx.tensor(&result).filter(|t| t.rank() == Some(1)).unwrap_or_else(|| array(Some(vec![of.rows()]), None, at));
    if out.dtype.is_none() {
        out.dtype = widened(cx, op, [(&a, &x), (&b, &y)]);
        out.dtype_at = at;
    }
    let wide = [(&a, &x), (&b, &y)].iter().all(|(v, s)| is_wide(cx, v, s.as_ref()));
    Some(Series { wide, ..of.with(out) })
}

impl Series {
    /// Whether a comparison with the Series returns NumPy bools.
    fn is_plain(&self) -> bool {
        self.array.dtype.is_some() || self.wide || !self.items.is_unknown()
    }
}

/// Whether an operand has a 64-bit dtype, or is a Python number.
fn is_wide(cx: &Cx<'_, '_>, value: &Value, series: Option<&Series>) -> bool {
    match series {
        Some(series) => series.is_wide(),
        None => value.number_type().is_some() || cx.tensor(value).is_some_and(|t| t.dtype == Some(Dtype::Float64)),
    }
}

/// The result dtype if the dtype of an operand is unknown: dividing 64-bit numbers, or combining
/// them with a float, gives 64-bit floats.
fn widened(cx: &Cx<'_, '_>, op: BinOp, operands: [(&Value, &Option<Series>); 2]) -> Option<Dtype> {
    let wide = operands.iter().all(|(v, s)| is_wide(cx, v, s.as_ref()));
    let float = operands.iter().any(|(v, s)| match s {
        Some(series) => series.array.dtype == Some(Dtype::Float64),
        None => v.number_type() == Some(Type::Float) || cx.tensor(v).is_some_and(|t| t.dtype == Some(Dtype::Float64)),
    });
    let floats = op == BinOp::Div || float && matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul);
    (wide && floats).then_some(Dtype::Float64)
}

/// An operator applied to the columns of a frame.
fn columns(cx: &mut Cx<'_, '_>, op: BinOp, left: &Value, right: &Value) -> Option<Frame> {
    if let (Some(a), Some(b)) = (frame(cx, left), frame(cx, right)) {
        let same = !a.open && !b.open && a.columns.keys().eq(b.columns.keys()) && aligned(&a.index, &b.index);
        if !same {
            return None;
        }
        return each(cx, a, |cx, key, column| rows(cx, op, column, b.columns.get(key)?));
    }
    let (have, other, turned) = match frame(cx, left) {
        Some(have) => (have, right, false),
        None => (frame(cx, right)?, left, true),
    };
    // One number for each column, for example the column means.
    let numbers = match series(cx, other) {
        Some(stats) => {
            let names = match &stats.index {
                Value::Tuple(names) => names.to_vec(),
                _ => return None,
            };
            if have.names()?.iter().zip(&names).any(|(a, b)| a.as_str() != b.as_str() || a.as_int() != b.as_int())
                || names.len() != have.columns.len()
            {
                return None;
            }
            let mut number = array(Some(Vec::new()), stats.array.dtype, cx.at());
            number.shape_at = cx.at();
            cx.out(number)
        }
        None if other.number_type().is_some() => other.clone(),
        None if cx.is_numpy(other) && cx.tensor(other).is_some_and(|t| t.rank() == Some(0)) => other.clone(),
        None => return None,
    };
    each(cx, have, |cx, _, column| match turned {
        false => rows(cx, op, column, &numbers),
        true => rows(cx, op, &numbers, column),
    })
}

fn each(
    cx: &mut Cx<'_, '_>,
    mut have: Frame,
    mut change: impl FnMut(&mut Cx<'_, '_>, &crate::value::Key, &Value) -> Option<Series>,
) -> Option<Frame> {
    let columns = std::mem::take(&mut have.columns);
    // The operator also applies to columns that are not listed.
    if have.open {
        let other = have.other(cx.at());
        let other = new_series(cx, other);
        let out = change(cx, &crate::value::Key::None, &other)?;
        (have.rest, have.wide) = (out.array.dtype, out.wide);
    }
    for (key, column) in columns {
        let out = change(cx, &key, &column)?;
        let out = new_series(cx, out);
        have.columns.insert(key, out);
    }
    Some(have)
}

/// `left op= right`: may change the object in place. Other names may refer to this object, so its
/// facts are forgotten.
pub(crate) fn augmented(it: &mut Interp<'_>, op: BinOp, left: &Value, right: &Value, span: Span) -> Option<Value> {
    let id = left.as_obj().filter(|_| is_pandas(it, left))?;
    let out = binary(it, op, left, right, span);
    forget(it, id);
    out
}

pub(crate) fn unary(it: &mut Interp<'_>, op: UnaryOp, object: &Value, span: Span) -> Option<Value> {
    if !is_pandas(it, object) {
        return None;
    }
    let cx = &mut Cx { it, path: sym(SERIES), span };
    let change = |cx: &mut Cx<'_, '_>, have: &Series| {
        let array = cx.out(have.array.clone());
        let out = numpy::unary(cx.it, op, &array, span).and_then(|v| cx.tensor(&v));
        out.map(|out| have.with(out))
    };
    if let Some(have) = series(cx, object) {
        return Some(change(cx, &have).map_or(Value::Unknown, |out| new_series(cx, out)));
    }
    let have = frame(cx, object)?;
    Some(
        each(cx, have, |cx, _, column| {
            let column = series(cx, column)?;
            change(cx, &column)
        })
        .map_or(Value::Unknown, |out| new_frame(cx, out)),
    )
}
