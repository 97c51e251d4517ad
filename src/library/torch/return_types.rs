//! The named tuples that functions with several results return: `x.max(1).values`.
//!
//! torchvet models them as plain tuples. The length of the tuple and the name determine the item:
//! in tuples of the same length, each name has the same position. The only exception is `U`.

use crate::library::{Cx, Table};
use crate::value::{Sym, Value};

pub(crate) fn register(t: &mut Table) {
    let tuple = t.class("builtins.tuple", &[], "iterable=()");
    tuple.keeps_arguments = false;
    tuple.attribute = Some(part);
}

/// The names of the items of each named tuple.
const PARTS: [&[&str]; 15] = [
    &["values", "indices"],
    &["min", "max"],
    &["eigenvalues", "eigenvectors"],
    &["sign", "logabsdet"],
    &["Q", "R"],
    &["L", "info"],
    &["LU", "pivots"],
    &["LD", "pivots"],
    &["inverse", "info"],
    &["result", "info"],
    &["mantissa", "exponent"],
    &["hist", "bin_edges"],
    &["LU", "pivots", "info"],
    &["LD", "pivots", "info"],
    &["solution", "residuals", "rank", "singular_values"],
];

fn part(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let Value::Tuple(items) = object else { return None };
    // Only a tuple of tensors can be the result of such a function.
    if !items.iter().all(|item| cx.it.heap.is_tensor(item)) {
        return None;
    }
    let name = name.as_str();
    if let Some(at) = PARTS.iter().filter(|p| p.len() == items.len()).find_map(|p| p.iter().position(|n| *n == name)) {
        return items.get(at).cloned();
    }
    if items.len() != 3 {
        return None;
    }
    // `svd` returns U, S, Vh and `lu` returns P, L, U. In the result of `svd`, the second item (the
    // singular values) has one dimension less than the first.
    let rank = |at: usize| items.get(at).and_then(|v| cx.it.heap.tensor_ref(v)).and_then(|t| t.rank());
    let lu = rank(0)? == rank(1)?;
    let at = match (name, lu) {
        ("P", true) | ("U", false) => 0,
        ("L", true) | ("S", false) => 1,
        ("U", true) | ("Vh" | "V", false) => 2,
        _ => return None,
    };
    items.get(at).cloned()
}
