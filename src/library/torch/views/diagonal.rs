//! Diagonals and triangles of matrices.

use crate::library::torch::broadcast::{shape_read, shape_text};
use crate::library::torch::carry::{self, Takes, shuffled};
use crate::library::torch::factory::options;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Range, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "diag", diag);
    t.listed("torch.", "diagonal_copy", diagonal);
    t.listed("torch.", "diagonal", diagonal);
    t.def("torch.linalg.diagonal", "input, *, offset=0, dim1=-2, dim2=-1", diagonal);
    t.listed("torch.", "diag_embed", diag_embed);
    t.listed("torch.", "diagflat", diagflat);
    t.listed("torch.", "tril triu", triangle);
}

/// The length of a diagonal.
pub(crate) fn diagonal_length(rows: &Size, columns: &Size, offset: &Value) -> Size {
    match (rows.known(), columns.known(), offset.as_int()) {
        (Some(r), Some(c), Some(o)) => {
            let length = if o >= 0 { r.min(c.saturating_sub(o)) } else { r.saturating_add(o).min(c) };
            Size::Int(length.max(0))
        }
        (_, _, Some(0)) if rows == columns => rows.clone(),
        _ => Size::Unknown,
    }
}

/// The side length of the square matrix with a diagonal of this length.
fn side(length: &Size, offset: &Value) -> Size {
    offset.as_int().and_then(i64::checked_abs).map_or(Size::Unknown, |o| length.add(&Size::Int(o)))
}

/// Sets the range of a result that contains elements of the input and zeros.
fn among_zeros(out: &mut Tensor, input: &Tensor) {
    out.forget_values();
    out.range = input.range.as_ref().map(|r| carry::either(r, &Range::bounds(0.0, 0.0)));
    out.range_at = input.range_at;
}

fn diag(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let offset = b.get("diagonal");
    let at = cx.at();
    let out = match input.shape.as_deref() {
        Some([length]) => {
            let side = Dim::new(side(&length.size, &offset), at);
            let mut out = shuffled(cx, &input, Some(vec![side.clone(), side]), Takes::All);
            among_zeros(&mut out, &input);
            out
        }
        Some([rows, columns]) => {
            let length = diagonal_length(&rows.size, &columns.size, &offset);
            shuffled(cx, &input, Some(vec![Dim::new(length, at)]), Takes::CutsLast)
        }
        Some(_) => {
            let message = format!("`input` is {}: diag takes 1 or 2 dimensions", shape_text(&input));
            cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
            return carry::like_only(cx, &input);
        }
        None => carry::bare(cx, &input),
    };
    options::finish(cx, b, out)
}

fn diagonal(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let (Ok(x), Ok(y)) = (carry::axis(cx, &b.get("dim1"), &input), carry::axis(cx, &b.get("dim2"), &input)) else {
        return carry::like_only(cx, &input);
    };
    let dims = match (x, y, input.shape.clone()) {
        (Some(x), Some(y), Some(_)) if x == y => {
            let message = format!("the diagonal's dimensions are both {x}: they must differ");
            cx.reject(RejectKind::Dim, message, vec![shape_read(("input", &input), None)]);
            return carry::like_only(cx, &input);
        }
        (Some(x), Some(y), Some(dims)) => {
            let length = match (dims.get(x), dims.get(y)) {
                (Some(a), Some(c)) => diagonal_length(&a.size, &c.size, &b.get("offset")),
                _ => Size::Unknown,
            };
            let mut out: Vec<Dim> =
                dims.iter().enumerate().filter(|(i, _)| *i != x && *i != y).map(|(_, d)| d.clone()).collect();
            out.push(Dim::new(length, cx.at()));
            Some(out)
        }
        (_, _, Some(dims)) => Some(vec![Dim::UNKNOWN; dims.len().saturating_sub(1)]),
        _ => None,
    };
    let out = shuffled(cx, &input, dims, Takes::CutsLast);
    cx.view_of(&value, out)
}

fn diag_embed(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let Some(dims) = input.shape.clone() else { return carry::like_only(cx, &input) };
    let rank = dims.len() + 1;
    let (Ok(x), Ok(y)) =
        (cx.dim_index(&b.get("dim1"), rank, input.shape_at), cx.dim_index(&b.get("dim2"), rank, input.shape_at))
    else {
        return carry::like_only(cx, &input);
    };
    let shape = match (x, y) {
        (Some(x), Some(y)) if x == y => {
            let message = format!("the diagonal's dimensions are both {x}: they must differ");
            cx.reject(RejectKind::Dim, message, vec![shape_read(("input", &input), None)]);
            return carry::like_only(cx, &input);
        }
        (Some(x), Some(y)) => {
            let side = dims.last().map_or(Size::Unknown, |d| side(&d.size, &b.get("offset")));
            let side = Dim::new(side, cx.at());
            let mut rest = dims.iter().take(dims.len().saturating_sub(1)).cloned();
            let out: Vec<Dim> = (0..rank)
                .map(|i| if i == x || i == y { side.clone() } else { rest.next().unwrap_or(Dim::UNKNOWN) })
                .collect();
            out
        }
        _ => vec![Dim::UNKNOWN; rank],
    };
    let mut out = shuffled(cx, &input, Some(shape), Takes::All);
    among_zeros(&mut out, &input);
    cx.out(out)
}

fn diagflat(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let side = Dim::new(side(&input.numel(), &b.get("offset")), cx.at());
    let mut out = shuffled(cx, &input, Some(vec![side.clone(), side]), Takes::All);
    among_zeros(&mut out, &input);
    cx.out(out)
}

/// `tril` and `triu`: zeros on one side of a diagonal.
fn triangle(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    if input.rank().is_some_and(|r| r < 2) {
        let message =
            format!("`input` is {}: {} takes tensors with at least two dimensions", shape_text(&input), cx.name());
        cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
        return carry::like_only(cx, &input);
    }
    let mut out = shuffled(cx, &input, input.shape.clone(), Takes::All);
    among_zeros(&mut out, &input);
    let lower = cx.name() == "tril";
    let extents = input.shape.as_deref().and_then(carry::extents);
    if let (Some(extents), Some(offset), true) = (extents, b.get("diagonal").as_int(), input.data.is_some()) {
        let data = carry::build(&extents, |index| {
            let mut back = index.iter().rev();
            let (column, row) = (i64::try_from(*back.next()?).ok()?, i64::try_from(*back.next()?).ok()?);
            let above = column - row;
            let keep = if lower { above <= offset } else { above >= offset };
            if keep { carry::element(&input, index) } else { Some(0.0) }
        });
        if let Some(data) = data {
            carry::set_data(&mut out, data, cx.at());
        }
    }
    options::finish(cx, b, out)
}
