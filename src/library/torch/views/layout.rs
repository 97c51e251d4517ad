//! The memory layout of tensors: the order of dimensions in memory, as far as it is known. After a
//! permutation, this order determines whether `view` is possible.
//!
//! The order is known only for dense tensors, for permutations of them, and for slices of such
//! permutations. For most results it is unknown, and nothing is reported.

use std::rc::Rc;

use crate::library::Cx;
use crate::value::{Dim, Size, Tensor, Value};

/// A new contiguous tensor.
pub(crate) fn dense(cx: &mut Cx<'_, '_>, tensor: Tensor) -> Value {
    let out = cx.out(tensor);
    fresh(cx, &out);
    out
}

/// Notes that a new tensor is contiguous.
pub(crate) fn fresh(cx: &mut Cx<'_, '_>, made: &Value) {
    let rank = cx.it.heap.tensor_ref(made).and_then(Tensor::rank);
    set(cx, made, rank.map(|rank| (0..rank).collect()));
}

/// Whether the tensor is known to be contiguous.
pub(crate) fn is_dense(tensor: &Tensor) -> bool {
    let is_cut = tensor.layout.as_deref().is_some_and(|layout| layout.last() == Some(&CUT));
    !is_cut && order(tensor).is_some_and(<[usize]>::is_sorted)
}

/// Notes that a new view has the dimensions of `input` in this order.
pub(crate) fn permuted(cx: &mut Cx<'_, '_>, made: &Value, input: &Tensor, by: &[usize]) {
    // The memory order of the new dimensions, computed from the old order.
    let new: Option<Vec<usize>> =
        order(input).and_then(|old| old.iter().map(|dim| by.iter().position(|from| from == dim)).collect());
    let is_cut = input.layout.as_deref().is_some_and(|layout| layout.last() == Some(&CUT));
    set(cx, made, new.map(|new| new.into_iter().chain(is_cut.then_some(CUT)).collect()));
}

/// Notes that a new result is dense and has the memory order of `input`, as results of elementwise
/// functions do.
pub(crate) fn kept(cx: &mut Cx<'_, '_>, made: &Value, input: &Tensor) {
    let sizes = |t: &Tensor| t.sizes();
    if cx.it.heap.tensor_ref(made).is_some_and(|made| sizes(made) == sizes(input)) {
        set(cx, made, order(input).map(<[usize]>::to_vec));
    }
}

/// Notes that a new view is a slice of `input` that has the same number of dimensions. If `input`
/// is not permuted, nothing is noted: the slice may still be dense.
pub(crate) fn cut(cx: &mut Cx<'_, '_>, made: &Value, input: &Tensor) {
    let moved = order(input).filter(|order| !order.is_sorted());
    let rank = cx.it.heap.tensor_ref(made).and_then(Tensor::rank);
    if let Some(moved) = moved.filter(|moved| Some(moved.len()) == rank) {
        set(cx, made, Some(moved.iter().copied().chain([CUT]).collect()));
    }
}

/// The last entry in the order of a slice. It marks the slice as not dense.
const CUT: usize = usize::MAX;

/// Notes that a new view is contiguous if `input` is.
pub(crate) fn viewed(cx: &mut Cx<'_, '_>, made: &Value, input: &Tensor) {
    if is_dense(input) {
        fresh(cx, made);
    }
}

fn set(cx: &mut Cx<'_, '_>, made: &Value, order: Option<Vec<usize>>) {
    if let Some(id) = made.as_obj() {
        cx.it.heap.update_tensor(id, |t| t.layout = order.map(Rc::from));
    }
}

/// The dimensions in memory order, from the outermost to the innermost.
fn order(tensor: &Tensor) -> Option<&[usize]> {
    let layout = tensor.layout.as_deref()?;
    let order = layout.strip_suffix(&[CUT]).unwrap_or(layout);
    Some(order).filter(|order| Some(order.len()) == tensor.rank())
}

/// Whether `view` certainly rejects these sizes, because they merge dimensions that are not
/// adjacent in memory.
pub(crate) fn refuses_view(input: &Tensor, sizes: &[Size]) -> bool {
    let (Some(order), Some(dims)) = (order(input), &input.shape) else { return false };
    let Some(chunks) = chunks(dims, order) else { return false };
    let Some((_, inner)) = chunks.split_last() else { return false };
    let mut sizes = sizes.iter();
    for chunk in inner {
        let mut taken = Size::Int(1);
        while taken.equals(chunk) != Some(true) {
            let Some(size) = sizes.next() else { return false };
            taken = taken.mul(size);
            if chunk.less(&taken) == Some(true) {
                return true;
            }
            if taken.equals(chunk) != Some(true) && taken.less(chunk) != Some(true) {
                return false;
            }
        }
    }
    false
}

/// Groups neighbouring dimensions that are also adjacent in memory, and returns the number of
/// elements in each group.
fn chunks(dims: &[Dim], order: &[usize]) -> Option<Vec<Size>> {
    if dims.iter().any(|d| d.size.is_unknown()) {
        return None;
    }
    let one = |at: &usize| dims.get(*at).is_none_or(|d| d.size.known() == Some(1));
    let order: Vec<usize> = order.iter().copied().filter(|at| !one(at)).collect();
    let place = |at: usize| order.iter().position(|dim| *dim == at);
    let mut chunks: Vec<Size> = Vec::new();
    let mut last = None;
    for (at, dim) in dims.iter().enumerate().filter(|(at, _)| !one(at)) {
        let here = place(at)?;
        match chunks.last_mut() {
            Some(chunk) if last.is_some_and(|last: usize| last + 1 == here) => *chunk = chunk.mul(&dim.size),
            _ => chunks.push(dim.size.clone()),
        }
        last = Some(here);
    }
    Some(chunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(dims: &[i64], layout: &[usize], sizes: &[i64]) -> bool {
        let input = Tensor {
            shape: Some(dims.iter().map(|n| Dim::int(*n)).collect()),
            layout: Some(Rc::from(layout)),
            ..Tensor::default()
        };
        refuses_view(&input, &sizes.iter().map(|n| Size::Int(*n)).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_apart_in_memory_is_not_joined() {
        // The heads and steps of attention are swapped.
        assert!(refused(&[2, 5, 4, 8], &[0, 2, 1, 3], &[2, 5, 32]));
        assert!(!refused(&[2, 4, 5, 8], &[0, 1, 2, 3], &[2, 4, 40]));
        // Pixels stay adjacent if the channels become the last dimension.
        assert!(!refused(&[2, 6, 7, 3], &[0, 3, 1, 2], &[2, 42, 3]));
        assert!(refused(&[2, 6, 7, 3], &[0, 3, 1, 2], &[2, 126]));
        assert!(refused(&[2, 6, 7, 4], &[0, 3, 1, 2], &[2, 84, 2]));
        // A dimension of length 1 may be anywhere.
        assert!(!refused(&[5, 1, 4], &[1, 0, 2], &[20]));
        assert!(!refused(&[2, 5, 4], &[0, 2, 1], &[2, 5, 2, 2]));
        // A slice of a transposed matrix.
        assert!(refused(&[3, 4], &[1, 0, CUT], &[12]));
        assert!(!refused(&[1, 4], &[1, 0, CUT], &[4]));
    }
}
