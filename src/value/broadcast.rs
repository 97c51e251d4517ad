//! Broadcasting of shapes, with the rules of PyTorch and NumPy.

use super::{Dim, Size};

/// Whether a size is certainly not 1.
pub(crate) fn not_one(size: &Size) -> bool {
    size.equals(&Size::Int(1)) == Some(false)
}

/// The dimension to which two dimensions broadcast; `None` if they certainly do not broadcast.
pub(crate) fn broadcast_dim(a: &Dim, b: &Dim) -> Option<Dim> {
    if a.size.known() == Some(1) {
        return Some(b.clone());
    }
    if b.size.known() == Some(1) {
        return Some(a.clone());
    }
    match a.size.equals(&b.size) {
        Some(true) => return Some(if a.at.is_some() { a.clone() } else { b.clone() }),
        Some(false) if not_one(&a.size) && not_one(&b.size) => return None,
        _ => {}
    }
    // A size that is not 1 is the result, because the other size must be 1 or equal to it.
    Some(if not_one(&a.size) {
        a.clone()
    } else if not_one(&b.size) {
        b.clone()
    } else {
        Dim::UNKNOWN
    })
}

/// Broadcasts two shapes; `Err` holds the position, counted from the end, of dimensions that do not
/// broadcast.
pub(crate) fn broadcast_pair(a: &[Dim], b: &[Dim]) -> Result<Vec<Dim>, usize> {
    let rank = a.len().max(b.len());
    let mut out = Vec::with_capacity(rank);
    for back in 1..=rank {
        let pick = |dims: &[Dim]| dims.len().checked_sub(back).and_then(|at| dims.get(at).cloned());
        out.push(match (pick(a), pick(b)) {
            (Some(x), Some(y)) => broadcast_dim(&x, &y).ok_or(back)?,
            (Some(x), None) | (None, Some(x)) => x,
            (None, None) => Dim::UNKNOWN,
        });
    }
    out.reverse();
    Ok(out)
}

/// The last dimensions of the result if two tensors are broadcast. Perhaps only the last dimensions
/// of these tensors are known. If a dimension is known in only one of the tensors, the result has
/// this dimension if its size is certainly not 1.
pub(crate) fn broadcast_ends(a: &[Dim], b: &[Dim]) -> Vec<Dim> {
    let back = |dims: &[Dim], at: usize| dims.len().checked_sub(at).and_then(|at| dims.get(at).cloned());
    let one = |at: usize| match (back(a, at), back(b, at)) {
        (Some(x), Some(y)) => broadcast_dim(&x, &y).unwrap_or(Dim::UNKNOWN),
        (Some(x), None) | (None, Some(x)) if not_one(&x.size) => x,
        _ => Dim::UNKNOWN,
    };
    (1..=a.len().max(b.len())).rev().map(one).collect()
}

/// Whether two shapes broadcast; `None` if that is not known.
pub(crate) fn broadcastable(a: &[Dim], b: &[Dim]) -> Option<bool> {
    let mut result = Some(true);
    for (x, y) in a.iter().rev().zip(b.iter().rev()) {
        let one = |d: &Dim| d.size.equals(&Size::Int(1));
        let fits = match (x.size.equals(&y.size), one(x), one(y)) {
            (Some(true), ..) | (_, Some(true), _) | (_, _, Some(true)) => Some(true),
            (Some(false), Some(false), Some(false)) => Some(false),
            _ => None,
        };
        match fits {
            Some(false) => return Some(false),
            None => result = None,
            Some(true) => {}
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Heap, dims_text};

    fn dims(sizes: &[i64]) -> Vec<Dim> {
        sizes.iter().map(|n| Dim::int(*n)).collect()
    }

    #[test]
    fn broadcasting_is_exact_where_it_can_be() {
        let mut heap = Heap::new();
        let b = Dim::new(Size::symbol(heap.symbol("B")), None);
        let out = |x: &[Dim], y: &[Dim]| broadcast_pair(x, y).map(|d| dims_text(&d));
        assert_eq!(out(&dims(&[4, 1, 3]), &dims(&[5, 1])), Ok("[4, 5, 3]".to_owned()));
        assert_eq!(out(&dims(&[4, 3]), &dims(&[2, 3])), Err(2));
        assert_eq!(out(std::slice::from_ref(&b), &dims(&[5])), Ok("[5]".to_owned()));
        assert_eq!(out(std::slice::from_ref(&b), &dims(&[1])), Ok("[B]".to_owned()));
        assert_eq!(out(std::slice::from_ref(&b), &[Dim::UNKNOWN]), Ok("[?]".to_owned()));
        let next = Dim::new(b.size.add(&Size::Int(1)), None);
        // B may be 1.
        assert_eq!(out(std::slice::from_ref(&b), std::slice::from_ref(&next)), Ok("[B+1]".to_owned()));
        let two = Dim::new(b.size.add(&Size::Int(2)), None);
        assert_eq!(out(&[next], &[two]), Err(1));
        assert_eq!(out(&dims(&[0]), &dims(&[3])), Err(1));
    }

    #[test]
    fn shapes_that_surely_broadcast_have_a_common_shape() {
        let mut heap = Heap::new();
        let b = Dim::new(Size::symbol(heap.symbol("B")), None);
        let next = Dim::new(b.size.add(&Size::Int(1)), None);
        let choices = [Dim::int(1), Dim::int(3), Dim::int(4), Dim::UNKNOWN, b, next];
        for x in &choices {
            for y in &choices {
                let (one, other) = ([x.clone()], [Dim::int(7), y.clone()]);
                let joined = broadcast_pair(&one, &other);
                match broadcastable(&one, &other) {
                    Some(fits) => assert_eq!(joined.is_ok(), fits, "{one:?} {other:?}"),
                    None => assert!(joined.is_ok(), "{one:?} {other:?}"),
                }
            }
        }
    }
}
