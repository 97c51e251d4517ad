//! Widening: the values that become unknown in a loop that does not reach a fixpoint.
//!
//! A loop's body runs until the state at the end of a round no longer changes. After a bounded
//! number of rounds, [`Heap::give_up_changes`] makes unknown everything that differs between two
//! successive states; if that does not converge either, [`Heap::forget_changes`] makes unknown
//! everything that the body has changed.

use std::rc::Rc;

use super::trail::{change_of, changed_by};
use super::{Change, Delta, Heap, Mark, names_of};
use crate::value::equal::{DEPTH, same, same_data};
use crate::value::join::{join, join_data, nameless};
use crate::value::{Attrs, Data, Dict, Instance, Items, Iter, ObjId, Scope, Sym, Tensor, Value};

impl Heap {
    /// An upper bound of two successive states of a loop: everything that differs between them
    /// becomes unknown. A value that differs keeps at most its type; a list, a set or a dictionary
    /// also loses its length; a tuple keeps its length and its equal elements; a tensor keeps the
    /// facts that did not change. A name that only one of the states binds keeps its value, as in
    /// [`Heap::join`].
    ///
    /// Both states are relative to `mark`; afterwards, the heap is in the state at the mark.
    /// Repeated for each further round, this reaches a fixpoint: each name, element of a tuple and
    /// fact of a tensor that still changes becomes unknown after one or two rounds, and is never
    /// known again.
    pub(crate) fn give_up_changes(&mut self, mark: Mark, previous: &Delta, next: &Delta) -> Delta {
        self.undo(mark);
        self.adopt(previous);
        self.adopt(next);
        let ids = self.begin_join(previous.iter().chain(next.iter()).map(|(id, _)| *id).collect());
        for id in ids {
            let (before, after) = (change_of(previous, id), change_of(next, id));
            match (before, after) {
                (None | Some(Change::Names(_)), None | Some(Change::Names(_))) => self.give_up_names(id, before, after),
                _ => {
                    let base = self.share(id);
                    let (a, b) = (changed_by(&base, before), changed_by(&base, after));
                    let data = if Rc::ptr_eq(&a, &b) { b } else { Rc::new(self.agreed_data(&a, &b)) };
                    self.put(id, data);
                }
            }
            self.end_join(id);
        }
        let state = self.delta(mark);
        self.undo(mark);
        state
    }

    /// The state in which everything that a delta changed is unknown. This is the last resort:
    /// further rounds can change only what no earlier round has changed.
    ///
    /// The delta is relative to `mark`; afterwards, the heap is in the state at the mark.
    pub(crate) fn forget_changes(&mut self, mark: Mark, delta: &Delta) -> Delta {
        self.undo(mark);
        self.adopt(delta);
        for (id, change) in delta.iter() {
            match change {
                Change::Names(names) => {
                    for (name, _) in names {
                        self.bind_one(*id, *name, Some(Value::Unknown));
                    }
                }
                Change::Whole(now) => {
                    let base = self.share(*id);
                    self.put(*id, Rc::new(forgotten(&base, now)));
                }
            }
        }
        let state = self.delta(mark);
        self.undo(mark);
        state
    }

    fn give_up_names(&mut self, id: ObjId, previous: Option<&Change>, next: Option<&Change>) {
        let lists = [previous, next].map(|change| match change {
            Some(Change::Names(names)) => names.as_slice(),
            Some(Change::Whole(_)) | None => &[],
        });
        for (name, _) in lists.into_iter().flatten() {
            let base = names_of(self.get(id)).and_then(|names| names.get(name)).cloned();
            let [before, after] = lists.map(|names| match names.iter().find(|(have, _)| have == name) {
                Some((_, value)) => value.clone(),
                None => base.clone(),
            });
            let class = self.class_of(id);
            let bound = before.is_some() || after.is_some();
            let value = bound.then(|| self.agreed_name(before.as_ref(), after.as_ref(), class.as_ref(), *name));
            self.bind_one(id, *name, value);
            let inherited = class.is_some_and(|class| self.inherited(&class, *name).is_some());
            if before.is_some() != after.is_some() && !inherited {
                self.note_lacking(id, *name);
            }
        }
    }

    /// The widening of a value that is `a` in one round and `b` in the next.
    fn agreed(&mut self, a: &Value, b: &Value, depth: u32) -> Value {
        if same(self, a, b) {
            return b.clone();
        }
        match (a, b) {
            (Value::Tuple(x), Value::Tuple(y)) if x.len() == y.len() && depth > 0 => {
                Value::tuple(x.iter().zip(y.iter()).map(|(a, b)| self.agreed(a, b, depth - 1)).collect())
            }
            (Value::Obj(_), Value::Obj(_)) if !(self.is_tensor(a) && self.is_tensor(b)) => {
                self.lose(a);
                self.lose(b);
                Value::Unknown
            }
            _ => join(self, a, b, true),
        }
    }

    fn agreed_attrs(&mut self, a: &Attrs, b: &Attrs, class: Option<&Value>) -> Attrs {
        let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
        let mut out: Attrs =
            names.map(|name| (*name, self.agreed_name(a.get(name), b.get(name), class, *name))).collect();
        let Some(class @ Value::Obj(_)) = class else { return out };
        for name in a.keys().chain(b.keys()) {
            if a.contains_key(name) != b.contains_key(name) && self.inherited(class, *name).is_none() {
                self.note_lacking_in(&mut out, *name);
            }
        }
        out
    }

    fn agreed_name(&mut self, a: Option<&Value>, b: Option<&Value>, class: Option<&Value>, name: Sym) -> Value {
        let inherited = |heap: &Heap| class.and_then(|class| heap.inherited(class, name));
        match (a, b) {
            (Some(a), Some(b)) => self.agreed(a, b, DEPTH),
            (Some(one), None) | (None, Some(one)) => match inherited(self) {
                Some(other) => self.agreed(&other, one, DEPTH),
                None => one.clone(),
            },
            (None, None) => Value::Unknown,
        }
    }

    /// The widening of an object that is `a` in one round and `b` in the next.
    fn agreed_data(&mut self, a: &Data, b: &Data) -> Data {
        if !matches!(a, Data::Tensor(_)) && same_data(self, a, b, DEPTH) {
            return b.clone();
        }
        match (a, b) {
            (Data::Dict(x), Data::Dict(y)) => {
                let mut left = Dict { open: Some(Value::Unknown), ..Dict::default() };
                for (key, value) in &x.entries {
                    if y.entries.get(key).is_some_and(|other| same(self, value, other)) {
                        left.entries.insert(key.clone(), value.clone());
                    }
                }
                Data::Dict(left)
            }
            (Data::Scope(x), Data::Scope(y)) if x.parent == y.parent => {
                Data::Scope(Scope { vars: self.agreed_attrs(&x.vars, &y.vars, None), parent: x.parent })
            }
            (Data::Instance(x), Data::Instance(y)) => {
                let class = same(self, &x.class, &y.class).then_some(&x.class);
                Data::Instance(Instance {
                    class: class.cloned().unwrap_or(Value::Unknown),
                    attrs: self.agreed_attrs(&x.attrs, &y.attrs, class),
                    open: x.open || y.open || class.is_none(),
                })
            }
            (Data::List(_), Data::List(_)) | (Data::Set(_), Data::Set(_)) | (Data::Iter(_), Data::Iter(_)) => {
                forgotten(a, b)
            }
            (Data::Scope(_), Data::Scope(_))
            | (Data::Tensor(_), Data::Tensor(_))
            | (Data::Function(_), Data::Function(_))
            | (Data::Class(_), Data::Class(_))
            | (Data::Module { .. }, Data::Module { .. })
            | different_objects!() => join_data(self, a, b, true),
        }
    }
}

/// An object that is `base` at a mark and `now` later, with only its kind and class known.
pub(super) fn forgotten(base: &Data, now: &Data) -> Data {
    let attrs = |a: &Attrs, b: &Attrs| a.keys().chain(b.keys()).map(|name| (*name, Value::Unknown)).collect::<Attrs>();
    match (base, now) {
        (Data::List(_), Data::List(_)) => Data::List(Items::Many(Value::Unknown)),
        (Data::Set(_), Data::Set(_)) => Data::Set(Items::Many(Value::Unknown)),
        (Data::Iter(_), Data::Iter(_)) => Data::Iter(Iter {
            items: Items::Many(Value::Unknown),
            once: true,
            first: None,
            last: None,
            filled: false,
            suspended: None,
        }),
        (Data::Dict(_), Data::Dict(_)) => Data::Dict(Dict { open: Some(Value::Unknown), ..Dict::default() }),
        (Data::Tensor(a), Data::Tensor(b)) if a.array == b.array && a.wrapper == b.wrapper => Data::Tensor(Tensor {
            array: a.array,
            wrapper: a.wrapper,
            // The base and the number of writes stay, so that views lose the facts about their
            // elements.
            base: a.base.filter(|_| a.base == b.base),
            version: a.version.max(b.version),
            writes: a.writes.max(b.writes),
            // No statement turns an existing tensor into a parameter, or the reverse.
            parameter: a.parameter && b.parameter,
            unsure: true,
            ..Tensor::default()
        }),
        (Data::Scope(a), Data::Scope(b)) => {
            let mut scope = a.clone();
            scope.vars = attrs(&a.vars, &b.vars);
            Data::Scope(scope)
        }
        (Data::Instance(a), Data::Instance(b)) => {
            Data::Instance(Instance { class: a.class.clone(), attrs: attrs(&a.attrs, &b.attrs), open: true })
        }
        (Data::Function(a), Data::Function(b)) if a.code == b.code => {
            let mut function = a.clone();
            function.attrs = attrs(&a.attrs, &b.attrs);
            let defaults = a.defaults.iter().chain(&b.defaults).map(|(name, _)| (*name, Value::Unknown));
            function.defaults = defaults.collect::<Attrs>().into_iter().collect();
            Data::Function(function)
        }
        (Data::Class(a), Data::Class(b)) if a.code == b.code => {
            let mut class = a.clone();
            class.attrs = attrs(&a.attrs, &b.attrs);
            class.fields = a.fields.clone().filter(|_| a.fields == b.fields);
            class.open = true;
            Data::Class(class)
        }
        (Data::Module { file: a, scope }, Data::Module { file: b, .. }) if a == b => {
            Data::Module { file: *a, scope: *scope }
        }
        // Two states of one object cannot have these kinds.
        (Data::Tensor(_), Data::Tensor(_))
        | (Data::Function(_), Data::Function(_))
        | (Data::Class(_), Data::Class(_))
        | (Data::Module { .. }, Data::Module { .. })
        | different_objects!() => nameless(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Dim, Dtype, Scope, sym};

    /// One round of a loop, from a state to the next.
    fn round(heap: &mut Heap, mark: Mark, state: &Delta, body: &dyn Fn(&mut Heap)) -> Delta {
        heap.undo(mark);
        heap.apply(state);
        body(heap);
        let end = heap.delta(mark);
        heap.undo(mark);
        heap.join(&[state.clone(), end], true);
        heap.delta(mark)
    }

    fn scope(heap: &mut Heap) -> ObjId {
        heap.alloc(Data::Scope(Scope::default()))
    }

    fn name(heap: &Heap, id: ObjId, name: &str) -> Option<Value> {
        names_of(heap.get(id)).and_then(|names| names.get(&sym(name))).cloned()
    }

    #[test]
    fn what_still_changes_is_given_up_and_the_rest_stays() {
        let mut heap = Heap::new();
        let vars = scope(&mut heap);
        let list = heap.alloc(Data::List(Items::Exact(vec![Value::Int(1)])));
        heap.bind(vars, sym("n"), Some(Value::Int(0)));
        heap.bind(vars, sym("kept"), Some(Value::Int(7)));
        let tensor = |rows| Tensor {
            shape: Some(vec![Dim::int(rows), Dim::int(3)]),
            dtype: Some(Dtype::Float32),
            ..Tensor::default()
        };
        let mark = heap.mark();
        let mut state = |n: i64| {
            heap.undo(mark);
            heap.bind(vars, sym("n"), Some(Value::Int(n)));
            heap.bind(vars, sym("kind"), Some(if n == 1 { Value::Int(1) } else { Value::str("a") }));
            let made = heap.tensor(tensor(n));
            heap.bind(vars, sym("x"), Some(made));
            *heap.get_mut(list) = Data::List(Items::Exact(vec![Value::Int(n); 2]));
            heap.delta(mark)
        };
        let (previous, next) = (state(1), state(2));
        let state = heap.give_up_changes(mark, &previous, &next);
        assert!(matches!(name(&heap, vars, "n"), Some(Value::Int(0))));
        heap.apply(&state);
        assert!(matches!(name(&heap, vars, "n"), Some(Value::Any(crate::value::Type::Int))));
        assert!(matches!(name(&heap, vars, "kept"), Some(Value::Int(7))));
        assert!(matches!(name(&heap, vars, "kind"), Some(Value::Unknown)));
        assert!(matches!(heap.get(list), Data::List(Items::Many(Value::Unknown))));
        let x = heap.tensor_of(&name(&heap, vars, "x").unwrap()).unwrap();
        assert_eq!(x.dtype, Some(Dtype::Float32));
        assert_eq!(crate::value::dims_text(&x.shape.unwrap()), "[?, 3]");
        heap.release(mark);
    }

    #[test]
    fn everything_that_a_delta_changed_is_forgotten() {
        let mut heap = Heap::new();
        let vars = scope(&mut heap);
        let dict = heap.alloc(Data::Dict(Dict::default()));
        heap.bind(vars, sym("n"), Some(Value::Int(0)));
        heap.bind(vars, sym("kept"), Some(Value::Int(7)));
        let mark = heap.mark();
        heap.bind(vars, sym("n"), Some(Value::Int(1)));
        if let Data::Dict(dict) = heap.get_mut(dict) {
            dict.entries.insert(crate::value::Key::Int(1), Value::None);
        }
        let delta = heap.delta(mark);
        let state = heap.forget_changes(mark, &delta);
        heap.apply(&state);
        assert!(matches!(name(&heap, vars, "n"), Some(Value::Unknown)));
        assert!(matches!(name(&heap, vars, "kept"), Some(Value::Int(7))));
        assert!(
            matches!(heap.get(dict), Data::Dict(Dict { open: Some(Value::Unknown), entries }) if entries.is_empty())
        );
        heap.release(mark);
    }

    #[test]
    fn a_chain_of_names_that_changes_comes_to_a_fixpoint() {
        let mut heap = Heap::new();
        let vars = scope(&mut heap);
        let names: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().map(sym).collect();
        for name in &names {
            heap.bind(vars, *name, Some(Value::None));
        }
        let mark = heap.mark();
        let body = |heap: &mut Heap| {
            for pair in names.windows(2) {
                let next = names_of(heap.get(vars)).and_then(|have| have.get(&pair[1])).cloned();
                heap.bind(vars, pair[0], next);
            }
            heap.bind(vars, names[7], Some(Value::Int(1)));
        };
        let mut state = Delta::new();
        let mut rounds = 0;
        loop {
            let next = round(&mut heap, mark, &state, &body);
            heap.undo(mark);
            if !heap.join(&[state.clone(), next.clone()], true) {
                break;
            }
            state = heap.give_up_changes(mark, &state, &next);
            rounds += 1;
            assert!(rounds <= 2 * names.len(), "no fixpoint");
        }
        heap.undo(mark);
        heap.apply(&state);
        assert!(names.iter().all(|at| matches!(name(&heap, vars, at.as_str()), Some(Value::Unknown))));
        heap.release(mark);
    }
}
