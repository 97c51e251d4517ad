//! The laws of joins, over arbitrary values and states of the heap.
//!
//! Joins are associative except in the following cases, where they are still upper bounds of
//! everything that they join:
//! - intervals of which only some have integral bounds: [0, 1] and [2, 3] are merged, because no
//!   integer is between 1 and 2, but only while 1 and 2 are bounds;
//! - more intervals than a range may have;
//! - dictionaries with known keys, in different orders;
//! - parts of values below the depth to which values are compared.

mod make;
mod order;

use std::rc::Rc;

use proptest::prelude::*;

use super::equal::{DEPTH, same_data};
use super::{Data, Delta, Heap, Mark, Value, join, same};
use make::{Bytes, World};
use order::{at_most, data_at_most};

/// The number of cases for each law; `PROPTEST_CASES` sets more. The rarest defect that these laws
/// have found needed about 40,000.
const CASES: u32 = 1000;

fn config() -> ProptestConfig {
    let given = ProptestConfig::default();
    ProptestConfig { failure_persistence: None, cases: given.cases.max(CASES), ..given }
}

/// Either three variants of some bytes, with one byte changed in each, or three consecutive parts
/// of these bytes.
fn thrice(bytes: &[u8]) -> [Vec<u8>; 3] {
    let [mode, changes @ .., rest] = match bytes {
        [mode, first, second, third, rest @ ..] => [&[*mode][..], &[*first], &[*second], &[*third], rest],
        few => [few, &[], &[], &[], &[]],
    };
    if mode.first().is_none_or(|mode| mode % 2 == 0) {
        let third = rest.len() / 3;
        let parts = rest.split_at(third);
        let (second, last) = parts.1.split_at(third);
        return [parts.0.to_vec(), second.to_vec(), last.to_vec()];
    }
    changes.map(|change| {
        let (mut bytes, change) = (rest.to_vec(), usize::from(change.first().copied().unwrap_or(0)));
        // The first byte may select the kind.
        let count = bytes.len().saturating_sub(1).max(1);
        if let Some(byte) = bytes.get_mut(1 + change % count) {
            *byte = byte.wrapping_add(1);
        }
        bytes
    })
}

/// Three values, mostly of one kind.
fn three(heap: &mut Heap, world: &World, bytes: &[u8], integral: bool) -> [Value; 3] {
    let kind = bytes.get(4).map_or(0, |kind| kind % 27);
    thrice(bytes).map(|bytes| {
        let mut bytes = Bytes::new(&bytes, integral);
        match bytes.below(8) {
            0 => bytes.value(heap, world, 3),
            _ => bytes.value_of(kind, heap, world, 3),
        }
    })
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..240)
}

/// The objects of the world in their current state, without the values of tensors whose memory was
/// written to since these values were determined.
fn shown(heap: &Heap, world: &World) -> Vec<Rc<Data>> {
    let now = |id| heap.tensor_now(id).map(|tensor| Rc::new(Data::Tensor(tensor.into_owned())));
    world.all().map(|id| now(id).unwrap_or_else(|| heap.share(id))).to_vec()
}

/// A value with its contents, for a message.
fn seen(heap: &Heap, value: &Value) -> String {
    match value {
        Value::Obj(id) => format!("{id:?}: {:?}", heap.get(*id)),
        Value::Tuple(items) => items.iter().map(|item| seen(heap, item)).collect::<Vec<_>>().join(", "),
        other => format!("{other:?}"),
    }
}

fn all_same(heap: &Heap, a: &[Rc<Data>], b: &[Rc<Data>]) -> bool {
    a.iter().zip(b).all(|(a, b)| same_data(heap, a, b, DEPTH))
}

fn all_at_most(heap: &Heap, a: &[Rc<Data>], b: &[Rc<Data>]) -> bool {
    a.iter().zip(b).all(|(a, b)| data_at_most(heap, a, b))
}

/// The states after some changes since one mark.
fn paths(heap: &mut Heap, world: &World, mark: Mark, bytes: &[u8], integral: bool) -> Vec<(Delta, Vec<Rc<Data>>)> {
    let mut path = |bytes: Vec<u8>| {
        Bytes::new(&bytes, integral).run(heap, world);
        let state = (heap.delta(mark), shown(heap, world));
        heap.undo(mark);
        state
    };
    thrice(bytes).map(&mut path).into()
}

fn joined(heap: &mut Heap, world: &World, mark: Mark, deltas: &[Delta], widen: bool) -> (Delta, Vec<Rc<Data>>, bool) {
    heap.undo(mark);
    let changed = heap.join(deltas, widen);
    let out = (heap.delta(mark), shown(heap, world), changed);
    heap.undo(mark);
    out
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sameness_is_an_equivalence(bytes in bytes()) {
        let mut heap = Heap::new();
        let world = World::new(&mut heap);
        let [a, b, c] = three(&mut heap, &world, &bytes, false);
        for x in [&a, &b, &c] {
            prop_assert!(same(&heap, x, &x.clone()));
            prop_assert!(at_most(&heap, x, x));
        }
        prop_assert_eq!(same(&heap, &a, &b), same(&heap, &b, &a));
        if same(&heap, &a, &b) {
            prop_assert!(at_most(&heap, &a, &b) && at_most(&heap, &b, &a), "not the same: {a:?} {b:?}");
        }
        if same(&heap, &a, &b) && same(&heap, &b, &c) {
            prop_assert!(same(&heap, &a, &c));
        }
        // The order is antisymmetric up to equality.
        if at_most(&heap, &a, &b) && at_most(&heap, &b, &a) {
            prop_assert!(same(&heap, &a, &b), "{} {}", seen(&heap, &a), seen(&heap, &b));
        }
        if at_most(&heap, &a, &b) && at_most(&heap, &b, &c) {
            prop_assert!(at_most(&heap, &a, &c));
        }
    }

    #[test]
    fn a_join_is_above_both(bytes in bytes()) {
        let mut heap = Heap::new();
        let world = World::new(&mut heap);
        let [a, b, _] = three(&mut heap, &world, &bytes, false);
        let twice = join(&mut heap, &a, &a.clone(), false);
        prop_assert!(same(&heap, &twice, &a), "not idempotent: {twice:?}");
        let ab = join(&mut heap, &a, &b, false);
        prop_assert!(at_most(&heap, &a, &ab), "not above the first: {a:?} {ab:?}");
        prop_assert!(at_most(&heap, &b, &ab), "not above the second: {b:?} {ab:?}");
        let wide = join(&mut heap, &a, &b, true);
        prop_assert!(at_most(&heap, &ab, &wide), "not widened: {ab:?} {wide:?}");
        // A further join with `a` does not change the result.
        let again = join(&mut heap, &ab, &a, false);
        prop_assert!(same(&heap, &again, &ab), "not absorbed: {ab:?} {again:?}");
    }

    #[test]
    fn joins_depend_on_no_order(bytes in bytes()) {
        let mut heap = Heap::new();
        let world = World::new(&mut heap);
        let [a, b, c] = three(&mut heap, &world, &bytes, true);
        let ab = join(&mut heap, &a, &b, false);
        let ba = join(&mut heap, &b, &a, false);
        prop_assert!(same(&heap, &ab, &ba), "not commutative: {ab:?} {ba:?}");
        let left = join(&mut heap, &ab, &c, false);
        let bc = join(&mut heap, &b, &c, false);
        let right = join(&mut heap, &a, &bc, false);
        prop_assert!(same(&heap, &left, &right), "not associative: {left:?} {right:?}");
        // If `c` is above `a`, the join of `c` and `b` is above the join of `a` and `b`.
        let ac = join(&mut heap, &a, &c, false);
        let above = join(&mut heap, &ac, &b, false);
        prop_assert!(at_most(&heap, &ab, &above), "not monotone: {ab:?} {above:?}");
        if at_most(&heap, &a, &c) && at_most(&heap, &b, &c) {
            prop_assert!(at_most(&heap, &ab, &c), "not the least: {} {} for {} {}", seen(&heap, &ab), seen(&heap, &c), seen(&heap, &a), seen(&heap, &b));
        }
    }

    #[test]
    fn widening_comes_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let mut heap = Heap::new();
        let world = World::new(&mut heap);
        let kind = bytes.first().map_or(0, |kind| kind % 27);
        let mut rest = Bytes::new(bytes.get(1..).unwrap_or_default(), false);
        let mut all = rest.value_of(kind, &mut heap, &world, 3);
        let mut steps = 0;
        for _ in 0..100 {
            let next = rest.value_of(kind, &mut heap, &world, 3);
            let wide = join(&mut heap, &all, &next, true);
            prop_assert!(at_most(&heap, &all, &wide) && at_most(&heap, &next, &wide));
            if !same(&heap, &wide, &all) {
                steps += 1;
            }
            all = wide;
        }
        prop_assert!(steps <= 40, "{steps} steps");
    }

    #[test]
    fn paths_are_joined_in_any_order(bytes in bytes()) {
        let mut heap = Heap::new();
        let world = World::new(&mut heap);
        let mark = heap.mark();
        let states = paths(&mut heap, &world, mark, &bytes, true);
        let deltas: Vec<Delta> = states.iter().map(|(delta, _)| delta.clone()).collect();
        let (delta, all, _) = joined(&mut heap, &world, mark, &deltas, false);
        for order in [[0, 2, 1], [1, 0, 2], [2, 1, 0]] {
            let other = order.map(|at| deltas[at].clone());
            let (_, other, _) = joined(&mut heap, &world, mark, &other, false);
            heap.apply(&delta);
            for (a, b) in all.iter().zip(&other) {
                prop_assert!(same_data(&heap, a, b, DEPTH), "{a:?} {b:?}");
            }
            heap.undo(mark);
        }
    }

    #[test]
    fn joined_paths_claim_no_more_than_each(bytes in bytes()) {
        let mut heap = Heap::new();
        let world = World::new(&mut heap);
        let mark = heap.mark();
        let states = paths(&mut heap, &world, mark, &bytes, false);
        let deltas: Vec<Delta> = states.iter().map(|(delta, _)| delta.clone()).collect();
        let (delta, all, changed) = joined(&mut heap, &world, mark, &deltas, false);
        heap.apply(&delta);
        for (_, state) in &states {
            for (a, b) in state.iter().zip(&all) {
                prop_assert!(data_at_most(&heap, a, b), "{a:?} {b:?}");
            }
        }
        // `changed` is true exactly if the join differs from the first state. The number of writes
        // to memory is not compared.
        let held = |heap: &Heap| world.all().map(|id| heap.share(id));
        let last = held(&heap);
        heap.undo(mark);
        heap.apply(&deltas[0]);
        let first = held(&heap);
        heap.undo(mark);
        heap.apply(&delta);
        prop_assert_eq!(changed, !all_same(&heap, &first, &last));
        heap.undo(mark);
        let (wide, widest, _) = joined(&mut heap, &world, mark, &deltas, true);
        heap.apply(&wide);
        prop_assert!(all_at_most(&heap, &all, &widest));
        heap.undo(mark);
        // A repeated join does not change the state.
        let mut again = vec![delta];
        again.extend(deltas);
        let (delta, same, changed) = joined(&mut heap, &world, mark, &again, false);
        prop_assert!(!changed);
        heap.apply(&delta);
        prop_assert!(all_same(&heap, &all, &same));
    }

    #[test]
    fn what_changes_is_given_up_for_good(bytes in bytes()) {
        let mut heap = Heap::new();
        let world = World::new(&mut heap);
        let mark = heap.mark();
        let states = paths(&mut heap, &world, mark, &bytes, false);
        let [(first, _), (second, _), _] = &states[..] else { unreachable!() };
        let forgotten = heap.forget_changes(mark, first);
        heap.apply(&forgotten);
        let nothing = shown(&heap, &world);
        prop_assert!(all_at_most(&heap, &states[0].1, &nothing));
        heap.undo(mark);
        let mut state = heap.give_up_changes(mark, first, second);
        heap.apply(&state);
        let mut known = shown(&heap, &world);
        for (_, each) in &states[..2] {
            for (a, b) in each.iter().zip(&known) {
                prop_assert!(data_at_most(&heap, a, b), "{a:?} {b:?}");
            }
        }
        // Repeated widening reaches a fixpoint.
        let mut steps = 0;
        for at in 0..30 {
            heap.undo(mark);
            state = heap.give_up_changes(mark, &state, &states[at % 3].0);
            heap.apply(&state);
            let now = shown(&heap, &world);
            prop_assert!(all_at_most(&heap, &known, &now));
            steps += usize::from(!all_same(&heap, &known, &now));
            known = now;
        }
        prop_assert!(steps <= 3, "{steps} steps");
        heap.undo(mark);
    }
}
