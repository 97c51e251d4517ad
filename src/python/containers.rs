//! Lists, dicts, sets, tuples, strings and numbers: subscripts, iteration, lengths.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::attribute::owner_of_shape;
use super::interp::{Interp, Rounds};
use super::library::RejectKind;
use super::operator::is_plain;
use super::stmt::Flow;
use super::text::part_of_text;
use super::types::Operation;
use super::{Arg, Args};
use crate::syntax::Span;
use crate::value::{
    Among, Data, Dict, Instance, Items, Iter, Key, ObjId, Range, Ranged, Taken, Type, Value, Written, counted, dotted,
    join, kind_text, sym, texts_of,
};

/// Methods with which Python or NumPy can iterate over an object. `reversed` needs only `__reversed__`, and
/// `in` only `__contains__`.
const ITERATION: &[&str] = &["__iter__", "__getitem__", "__next__", "__array__", "__reversed__", "__contains__"];

impl Interp<'_> {
    /// `object[index]`.
    pub(crate) fn subscript(&mut self, object: &Value, index: &Value, span: Span) -> Value {
        let library = self.library;
        if !self.overrides(object, "__getitem__")
            && let Some(value) = library.subscript(self, object, index, span)
        {
            return value;
        }
        match object {
            // The positions of a string, tuple or list are numbers.
            object if is_no_position(index) && self.is_plain_sequence(object) => {
                let (what, kind) = (kind_text(&self.heap, object), kind_text(&self.heap, index));
                self.refuse_operation(&[object, index], format!("{what} cannot be indexed with {kind}"), span)
            }
            object if is_fractional_slice(index) && self.is_plain_sequence(object) => {
                let message =
                    format!("the bounds of a slice of {} must be integers: use `//` or `int(…)`", self.named(object));
                self.refuse_operation(&[object, index], message, span)
            }
            object if let Some(refused) = self.refuse_unsupported(Operation::Index, object, span) => refused,
            Value::Tuple(items) if let Some(n) = outside(items.len(), index) => {
                let message = format!("index {n} is out of range: the tuple has {}", counted(items.len(), "element"));
                self.report_missing(RejectKind::Index, message, span);
                self.raise("IndexError")
            }
            Value::Tuple(items) => self.index_items(&Items::Exact(items.to_vec()), index, true),
            Value::Str(text) => match index.as_int() {
                None if let Some(part) = part_of_text(text, index) => Value::str(&part),
                Some(n) => {
                    let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
                    let at = if n < 0 { n + count } else { n };
                    let found = usize::try_from(at).ok().and_then(|at| text.chars().nth(at));
                    found.map_or(Value::Any(Type::Str), |c| Value::str(&c.to_string()))
                }
                None => Value::Any(Type::Str),
            },
            Value::Among(_) => self
                .of_texts(object, |_, text| part_of_text(text, index).map(|part| Value::str(&part)))
                .unwrap_or(Value::Any(Type::Str)),
            Value::Any(Type::Str) => Value::Any(Type::Str),
            Value::Any(Type::Bytes) => match index {
                Value::Slice(_) => object.clone(),
                _ => Value::ranged(Range::bounds(0.0, 255.0), false, None),
            },
            object if let Some(owner) = owner_of_shape(object) => match index {
                // `df.groupby(…).size()` is a Series, which accepts labels and lists.
                _ if index.number_type() == Some(Type::Int) => {
                    // The shape of an object of an unseen class may contain other values.
                    self.supposes_numbers |= owner.is_unknown();
                    Value::Any(Type::Int)
                }
                _ => Value::Unknown,
            },
            // `List[int]`, `Tensor["B C"]`: annotations.
            Value::Path(_) => self.subscript_path(object, index),
            Value::Obj(id) if self.heap.type_of(*id) == Some("dict") && self.refuse_key(*id, index, span) => {
                Value::Unknown
            }
            Value::Obj(id) => match self.heap.get(*id) {
                Data::List(Items::Exact(items)) if self.is_beyond(items.len(), index) => {
                    let (length, at) = (counted(items.len(), "element"), index.as_int().unwrap_or_default());
                    // Code that is not run, such as that of another process, may fill an empty list. The parts of a text,
                    // such as a path, may differ between runs.
                    if !items.iter().all(Value::is_text) && !self.is_in_try() {
                        let message = format!("index {at} is out of range: the list has {length}");
                        self.report_missing(RejectKind::Index, message, span);
                    }
                    self.raise("IndexError")
                }
                Data::List(items) => {
                    let items = items.clone();
                    let part = self.index_items(&items, index, false);
                    if matches!(index, Value::Slice(_)) && self.heap.type_of(*id) == Some("list") {
                        self.heap.note_type(&part, "list");
                    }
                    part
                }
                Data::Iter(iter) if self.heap.type_of(*id) == Some("range") => {
                    let items = iter.items.clone();
                    self.index_items(&items, index, false)
                }
                Data::Dict(dict) => {
                    let (id, dict) = (*id, dict.clone());
                    self.index_dict(id, &dict, index)
                }
                Data::Instance(_) if self.user_method(object, "__missing__").is_some() && self.lacks(object, index) => {
                    self.call_method(object, "__missing__", Args::positional([index.clone()], span), span)
                }
                Data::Instance(_) => match self.try_getattr(object, sym("__getitem__"), span) {
                    Some(method) => self.call(&method, Args::positional([index.clone()], span), span),
                    None if self.lacks_method(object, &["__getitem__"]) => {
                        self.refuse_protocol(object, "has no elements", "__getitem__", span)
                    }
                    None => Value::Unknown,
                },
                // A member of an enumeration, by name.
                Data::Class(_) if self.members(object).is_some() => match index.as_str() {
                    Some(name) => self.getattr(object, sym(name), span),
                    None => Value::Unknown,
                },
                _ => Value::Unknown,
            },
            view if let Some(owner) = self.dict_owner(view).filter(|owner| self.is_namespace(owner)) => {
                self.getattr_call(&owner, Some(index), None, span)
            }
            view if let Some(owner) = self.dict_owner(view) => {
                let attributes = self.attributes(&owner);
                self.subscript(&attributes, index, span)
            }
            _ => Value::Unknown,
        }
    }

    /// Whether an index is certainly outside a sequence of this length. In an uncalled function,
    /// this is never certain, because a list may have grown.
    pub(super) fn is_beyond(&self, length: usize, index: &Value) -> bool {
        outside(length, index).is_some() && !self.context.speculative
    }

    /// The value of a subscripted class. It stores the class and the argument, because annotations
    /// need them.
    fn subscript_path(&mut self, object: &Value, index: &Value) -> Value {
        let class = self.heap.instance(Value::path("typing.Subscripted"));
        self.heap.set_attr(class, "origin", object.clone());
        self.heap.set_attr(class, "argument", index.clone());
        Value::Obj(class)
    }

    /// Rejects a key that a plain dictionary certainly lacks, and a key without a hash.
    fn refuse_key(&mut self, id: ObjId, key: &Value, span: Span) -> bool {
        if self.refuse_unhashable(key, span) {
            return true;
        }
        let Some(text) = key.as_str().filter(|_| !self.context.speculative && !self.is_in_try()) else {
            // One of the keys may be meant.
            if key.is_text() {
                self.pass(span);
            }
            return false;
        };
        // Code that is not run, such as that of a plugin, may fill an empty dictionary.
        let is_empty = self.heap.dict_of(&Value::Obj(id)).is_none_or(|dict| dict.entries.is_empty());
        if is_empty || !self.lacks(&Value::Obj(id), key) {
            self.pass(span);
            return false;
        }
        let message = format!("the dictionary has no key {text:?}");
        self.report_missing(RejectKind::Index, message, span);
        self.raise("KeyError");
        true
    }

    /// Whether a dictionary certainly does not have this key.
    fn lacks(&self, object: &Value, key: &Value) -> bool {
        let known = self.heap.dict_of(object).zip(Key::of(key));
        known.is_some_and(|(dict, key)| dict.open.is_none() && !dict.entries.contains_key(&key))
    }

    fn index_dict(&mut self, id: ObjId, dict: &Dict, index: &Value) -> Value {
        // A NumPy scalar is equal to a Python number, so it may be the same key.
        let scalar = self.heap.is_tensor(index);
        match Key::of(index).filter(|_| !scalar) {
            Some(key) => match (dict.entries.get(&key), &dict.open) {
                (Some(value), _) => value.clone(),
                (None, Some(open)) => {
                    let value = self.heap.one_of_many(open);
                    // From now on, the key is known to exist.
                    if value.as_obj() != open.as_obj()
                        && let Data::Dict(dict) = self.heap.get_mut(id)
                    {
                        dict.entries.insert(key, value.clone());
                    }
                    value
                }
                (None, None) if self.context.speculative => Value::Unknown,
                // Objects of the program may define their own equality.
                (None, None) if matches!(index, Value::Obj(_) | Value::Tuple(_)) => Value::Unknown,
                (None, None) => self.raise("KeyError"),
            },
            None => self.any_entry(dict, index),
        }
    }

    /// The entry for an unknown key.
    pub(super) fn any_entry(&mut self, dict: &Dict, key: &Value) -> Value {
        // The values for the possible keys. If a loop reaches each key, it reaches each value.
        let (keys, taken): (Vec<Key>, Taken) = match key {
            Value::Among(among) => (among.texts.iter().map(|t| Key::Str(t.clone())).collect(), among.taken),
            Value::Ranged(ranged) => {
                let inside = |n: f64| ranged.range.parts().iter().any(|(lo, hi)| (*lo..=*hi).contains(&n));
                let of = |key: &&Key| matches!(key, Key::Int(n) if inside(Value::Int(*n).as_f64().unwrap_or(f64::NAN)));
                (dict.entries.keys().filter(of).cloned().collect(), taken(ranged))
            }
            _ => (Vec::new(), Taken::Perhaps),
        };
        let found: Option<Vec<Value>> = keys.iter().map(|k| dict.entries.get(k).cloned()).collect();
        if let Some(found) = found.filter(|f| !f.is_empty()) {
            return self.any_one(&found, taken);
        }
        let mut all: Vec<Value> = dict.entries.values().cloned().collect();
        all.extend(dict.open.clone());
        if all.is_empty() { Value::Unknown } else { Items::Exact(all).element(&mut self.heap) }
    }

    fn index_items(&mut self, items: &Items, index: &Value, tuple: bool) -> Value {
        match (items, index) {
            (Items::Exact(values), Value::Slice(parts)) => {
                let [start, stop, _] = &**parts;
                if let Some(picked) = self.window(values, start, stop) {
                    return if tuple { Value::tuple(picked) } else { self.heap.list(picked) };
                }
                let known = |v: &Value| v.is_none() || v.as_int().is_some();
                if !parts.iter().all(known) {
                    let element = items.element(&mut self.heap);
                    return Value::Obj(self.heap.alloc(Data::List(Items::Many(element))));
                }
                let [start, stop, step] = &**parts;
                let picked = slice_of(values, start.as_int(), stop.as_int(), step.as_int().unwrap_or(1));
                if tuple { Value::tuple(picked) } else { self.heap.list(picked) }
            }
            (Items::Many(element), Value::Slice(_)) => {
                Value::Obj(self.heap.alloc(Data::List(Items::Many(element.clone()))))
            }
            (Items::Exact(values), _) => match index.as_int() {
                Some(n) => {
                    let len = i64::try_from(values.len()).unwrap_or(i64::MAX);
                    let at = if n < 0 { n + len } else { n };
                    usize::try_from(at).ok().and_then(|at| values.get(at).cloned()).unwrap_or(Value::Unknown)
                }
                None => match index {
                    Value::Ranged(ranged) => self.any_of(values, ranged),
                    _ => items.element(&mut self.heap),
                },
            },
            (Items::Many(element), _) => self.heap.one_of_many(element),
        }
    }

    /// The elements of a slice with a known width and an unknown start.
    fn window(&mut self, values: &[Value], start: &Value, stop: &Value) -> Option<Vec<Value>> {
        let (Value::Ranged(start), Value::Ranged(stop)) = (start, stop) else { return None };
        let (width, end) = (usize::try_from(stop.span.as_ref()?.known()?).ok()?, start.range.end()?.known()?);
        let last = i64::try_from(width).ok()?.checked_add(end)?.checked_sub(1)?;
        let element = Items::Exact(values.to_vec()).element(&mut self.heap);
        (usize::try_from(last).ok()? <= values.len()).then(|| vec![element; width])
    }

    /// One abstract value for the elements at all positions that an index can have.
    fn any_of(&mut self, values: &[Value], index: &Ranged) -> Value {
        let inside = |i: usize| {
            let len = values.len();
            let at = |i: f64| index.range.parts().iter().any(|(lo, hi)| (*lo..=*hi).contains(&i));
            #[expect(clippy::cast_precision_loss, reason = "positions in a list")]
            (at(i as f64) || at(i as f64 - len as f64))
        };
        let picked: Vec<Value> =
            values.iter().enumerate().filter(|(i, _)| inside(*i)).map(|(_, v)| v.clone()).collect();
        if picked.is_empty() {
            return Items::Exact(values.to_vec()).element(&mut self.heap);
        }
        self.any_one(&picked, taken(index))
    }

    /// One abstract value for any of these elements. Each of them occurs in every pass over the
    /// data.
    pub(crate) fn any_sample(&mut self, values: &[Value]) -> Value {
        self.any_one(values, Taken::Each)
    }

    /// One abstract value for any of these elements. `taken` tells how certain it is that each of
    /// them occurs.
    pub(crate) fn any_one(&mut self, values: &[Value], taken: Taken) -> Value {
        if taken == Taken::Perhaps {
            return Items::Exact(values.to_vec()).element(&mut self.heap);
        }
        let numbers: Option<Vec<f64>> =
            values.iter().map(|v| if matches!(v, Value::Int(_)) { v.as_f64() } else { None }).collect();
        if let Some(range) = numbers.and_then(|numbers| Range::of_values(&numbers)) {
            // The values may have gaps, which the range does not show.
            let mut all: Vec<i64> = values.iter().filter_map(Value::as_int).collect();
            all.sort_unstable();
            all.dedup();
            let width: f64 = range.parts().iter().map(|(lo, hi)| hi - lo + 1.0).sum();
            #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
            let dense = width == all.len() as f64;
            let mut range = range.of_sample();
            range.epoch &= taken == Taken::Each;
            return Value::ranged(range, dense, None);
        }
        if let Some(Value::Among(among)) = texts_of(values) {
            return Value::Among(Rc::new(Among { taken, ..(*among).clone() }));
        }
        // Dictionaries with the same keys: joins key by key.
        let records: Option<Vec<Dict>> = values.iter().map(|v| self.heap.dict_of(v).cloned()).collect();
        if let Some(records) = records
            && let Some(first) = records.first()
            && records.iter().all(|r| r.open.is_none() && r.entries.keys().eq(first.entries.keys()))
        {
            let mut out = Dict::default();
            for key in first.entries.keys() {
                let column: Vec<Value> = records.iter().filter_map(|r| r.entries.get(key).cloned()).collect();
                let any = self.any_one(&column, taken);
                out.entries.insert(key.clone(), any);
            }
            let any = self.heap.dict(out);
            self.heap.is_one_of(&any, values);
            return any;
        }
        // Lists: if they have the same length, joins position by position; otherwise, any element
        // of any list.
        let lists: Option<Vec<Vec<Value>>> = values
            .iter()
            .map(|v| match self.heap.get(v.as_obj()?) {
                Data::List(Items::Exact(items)) => Some(items.clone()),
                _ => None,
            })
            .collect();
        if let Some(lists) = lists
            && let Some(first) = lists.first()
            && lists.iter().map(Vec::len).sum::<usize>() <= 4096
        {
            let items = if lists.iter().all(|l| l.len() == first.len()) {
                let column = |i: usize| lists.iter().filter_map(|l| l.get(i).cloned()).collect::<Vec<_>>();
                let columns: Vec<Vec<Value>> = (0..first.len()).map(column).collect();
                Items::Exact(columns.iter().map(|c| self.any_one(c, taken)).collect())
            } else {
                let all: Vec<Value> = lists.into_iter().flatten().collect();
                Items::Many(self.any_one(&all, taken))
            };
            let any = Value::Obj(self.heap.alloc(Data::List(items)));
            self.heap.is_one_of(&any, values);
            return any;
        }
        // Tuples such as `(path, label)`: joins position by position.
        let rows: Option<Vec<&[Value]>> = values
            .iter()
            .map(|v| match v {
                Value::Tuple(row) => Some(&**row),
                _ => None,
            })
            .collect();
        if let Some(rows) = rows
            && let Some(width) = rows.first().map(|r| r.len())
            && rows.iter().all(|r| r.len() == width)
        {
            let places = (0..width)
                .map(|i| {
                    let column: Vec<Value> = rows.iter().filter_map(|r| r.get(i).cloned()).collect();
                    self.any_one(&column, taken)
                })
                .collect();
            return Value::tuple(places);
        }
        Items::Exact(values.to_vec()).element(&mut self.heap)
    }

    /// Forgets the variables of a module of the program, but not its functions and classes.
    fn forget_variables(&mut self, module: &Value) {
        let Some(Data::Module { scope, .. }) = module.as_obj().map(|id| self.heap.get(id)) else { return };
        let scope = *scope;
        for (name, _) in self.data_variables(scope) {
            self.heap.bind(scope, name, Some(Value::Unknown));
        }
    }

    /// `object[index] = value`.
    pub(crate) fn set_subscript(&mut self, object: &Value, index: &Value, value: Value, span: Span) {
        let library = self.library;
        if !self.overrides(object, "__setitem__") && library.set_subscript(self, object, index, &value, span) {
            return;
        }
        if let Some(owner) = self.dict_owner(object).filter(|owner| self.is_namespace(owner)) {
            match index.as_str() {
                Some(name) => self.setattr(&owner, sym(name), value, span),
                None => self.forget_variables(&owner),
            }
            return;
        }
        if let Some(owner) = self.dict_owner(object) {
            self.attributes_method(&owner, sym("__setitem__"), Args::positional([index.clone(), value], span), span);
            return;
        }
        if object.is_unknown() {
            self.heap.write_lost(Written::Elements);
        }
        let is_fixed = |own| !matches!(own, "dict" | "list" | "tensor");
        if is_plain(object) || matches!(object, Value::Tuple(_)) || self.own_type(object).is_some_and(is_fixed) {
            let message = format!("no element of {} can be assigned", self.named(object));
            self.refuse_operation(&[object], message, span);
            return;
        }
        let Value::Obj(id) = object else { return };
        let id = *id;
        if self.heap.type_of(id) == Some("dict") && self.refuse_unhashable(index, span) {
            return;
        }
        match self.heap.get(id).clone() {
            Data::Dict(mut dict) => {
                self.dict_insert(&mut dict, index, value);
                *self.heap.get_mut(id) = Data::Dict(dict);
            }
            Data::List(Items::Exact(mut items)) => match index.as_int() {
                Some(n) => {
                    let len = i64::try_from(items.len()).unwrap_or(i64::MAX);
                    let at = if n < 0 { n + len } else { n };
                    if let Some(slot) = usize::try_from(at).ok().and_then(|at| items.get_mut(at)) {
                        *slot = value;
                    }
                    *self.heap.get_mut(id) = Data::List(Items::Exact(items));
                }
                None if matches!(index, Value::Slice(_)) => {
                    *self.heap.get_mut(id) = Data::List(Items::Many(Value::Unknown));
                }
                None => {
                    let joined: Vec<Value> = items.iter().map(|v| join(&mut self.heap, v, &value, false)).collect();
                    *self.heap.get_mut(id) = Data::List(Items::Exact(joined));
                }
            },
            Data::List(Items::Many(_)) if matches!(index, Value::Slice(_)) => {
                *self.heap.get_mut(id) = Data::List(Items::Many(Value::Unknown));
            }
            Data::List(Items::Many(element)) => {
                let element = join(&mut self.heap, &element, &value, false);
                *self.heap.get_mut(id) = Data::List(Items::Many(element));
            }
            Data::Instance(_) => {
                if let Some(method) = self.try_getattr(object, sym("__setitem__"), span) {
                    self.call(&method, Args::positional([index.clone(), value], span), span);
                }
            }
            _ => {}
        }
    }

    pub(super) fn delete_item(&mut self, object: &Value, index: &Value) {
        if object.is_unknown() {
            self.heap.write_lost(Written::Removed);
        }
        let span = Span { file: self.root, start: 0, end: 0 };
        let key = || Args::positional([index.clone()], span);
        if let Value::Path(path) = object {
            // `del os.environ[…]`
            self.call_function(dotted(*path, sym("__delitem__")).as_str(), &key(), span);
        }
        let Value::Obj(id) = object else { return };
        match self.heap.get(*id).clone() {
            Data::Dict(mut dict) => {
                match Key::of(index) {
                    Some(key) => {
                        dict.entries.shift_remove(&key);
                    }
                    None => dict.open = Some(Value::Unknown),
                }
                *self.heap.get_mut(*id) = Data::Dict(dict);
            }
            Data::List(_) => self.havoc(object),
            Data::Instance(_) => {
                if let Some(method) = self.try_getattr(object, sym("__delitem__"), span) {
                    self.call(&method, key(), span);
                }
            }
            _ => {}
        }
    }

    /// The elements that iteration over the value yields.
    pub(crate) fn iterate(&mut self, object: &Value, span: Span) -> Items {
        let library = self.library;
        if !self.overrides(object, "__iter__")
            && let Some(items) = library.iterate(self, object, span)
        {
            return items;
        }
        match object {
            Value::Tuple(items) => Items::Exact(items.to_vec()),
            Value::Str(text) if text.len() <= super::text::LONGEST => {
                Items::Exact(text.chars().map(|c| Value::str(&c.to_string())).collect())
            }
            Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => Items::Many(Value::Any(Type::Str)),
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Iter(Iter { suspended: Some(_), .. }) => self.collected(object, span),
                Data::Iter(_) if self.heap.have_changed(&self.heap.sources_of(object)) => Items::Many(Value::Unknown),
                Data::Iter(Iter { once: true, .. }) => self.taken_from(*id),
                Data::List(items) | Data::Iter(Iter { items, .. }) => items.clone(),
                // The order is not known.
                Data::Set(_) => match self.members_of(object, span) {
                    Items::Exact(items) if items.len() > 1 => {
                        let count = items.len();
                        Items::Exact(vec![Items::Exact(items).element(&mut self.heap); count])
                    }
                    items => items,
                },
                Data::Dict(dict) => match dict.open {
                    None => Items::Exact(dict.entries.keys().map(Key::value).collect()),
                    Some(_) => Items::Many(Value::Unknown),
                },
                Data::Instance(_) => self.iterate_instance(object, span),
                Data::Class(_) => self.members(object).map_or(Items::Many(Value::Unknown), Items::Exact),
                _ => Items::Many(Value::Unknown),
            },
            value
                if !matches!(value, Value::Any(_))
                    && self.refuse_unsupported(Operation::Iterate, value, span).is_some() =>
            {
                Items::Many(Value::Unknown)
            }
            Value::Any(Type::Bytes) => Items::Many(Value::ranged(Range::bounds(0.0, 255.0), false, None)),
            _ => Items::Many(Value::Unknown),
        }
    }

    /// The elements of an iterable for a function that does not depend on their order, such as
    /// `sorted`.
    pub(super) fn members_of(&mut self, object: &Value, span: Span) -> Items {
        match object.as_obj().map(|id| self.heap.get(id)) {
            Some(Data::Set(items)) => {
                let items = items.clone();
                self.distinct(items)
            }
            _ => self.iterate(object, span),
        }
    }

    /// Takes an unknown number of elements from an iterator, and returns the elements that it had
    /// before.
    pub(super) fn taken_from(&mut self, id: ObjId) -> Items {
        let Data::Iter(Iter { items, .. }) = self.heap.get(id) else { return Items::Many(Value::Unknown) };
        let items = items.clone();
        if matches!(items, Items::Exact(_)) {
            let left = Items::Many(items.element(&mut self.heap));
            if let Data::Iter(iter) = self.heap.get_mut(id) {
                iter.items = left;
            }
        }
        items
    }

    /// The element of the last iteration over the value, if it differs from the others.
    pub(crate) fn last_of(&mut self, object: &Value, span: Span) -> Option<Value> {
        match self.heap.get(object.as_obj()?) {
            Data::Iter(iter) => iter.last.clone(),
            _ if self.overrides(object, "__iter__") => None,
            _ => self.library.last(self, object, span),
        }
    }

    /// The elements of a set, without duplicates. If elements may be equal, their number is
    /// unknown.
    pub(super) fn distinct(&mut self, items: Items) -> Items {
        let Items::Exact(values) = &items else { return items };
        match values.iter().map(Key::of).collect::<Option<Vec<Key>>>() {
            Some(keys) => {
                let mut seen: FxHashSet<Key> = FxHashSet::default();
                let each = keys.into_iter().zip(values).filter(|(key, _)| seen.insert(key.clone()));
                Items::Exact(each.map(|(_, value)| value.clone()).collect())
            }
            None if values.len() < 2 => items,
            None => Items::Many(items.element(&mut self.heap)),
        }
    }

    fn iterate_instance(&mut self, object: &Value, span: Span) -> Items {
        if let Some(iter) = self.user_method(object, "__iter__") {
            let iterator = self.call(&iter, Args::positional([object.clone()], span), span);
            if self.user_method(&iterator, "__next__").is_some() {
                let list = self.heap.alloc(Data::List(Items::Exact(Vec::new())));
                self.over_iterator(&iterator, Rounds::default(), span, &[], &mut |it, value| {
                    it.push_item(list, value);
                    Flow::Next
                });
                return match self.heap.get(list) {
                    Data::List(items) => items.clone(),
                    _ => Items::Many(Value::Unknown),
                };
            }
            if iterator.as_obj() == object.as_obj() {
                return Items::Many(Value::Unknown);
            }
            return self.iterate(&iterator, span);
        }
        if let Some(get) = self.user_method(object, "__getitem__") {
            let args = Args::positional([object.clone(), Value::Any(Type::Int)], span);
            return Items::Many(self.call(&get, args, span));
        }
        if let Some(payload) = self.payload(object) {
            return self.iterate(&payload, span);
        }
        // Iteration over a named tuple yields its fields.
        if self.is_instance(object, "typing.NamedTuple") {
            return Items::Exact(self.named_elements(object));
        }
        if self.lacks_method(object, ITERATION) {
            self.refuse_protocol(object, "cannot be iterated over", "__iter__", span);
        }
        Items::Many(Value::Unknown)
    }

    /// A method that a class of the program defines, unbound.
    pub(crate) fn user_method(&self, object: &Value, name: &str) -> Option<Value> {
        self.member(&self.mro_of(object), name)
    }

    /// Whether a class of the program redefines this special method of a library's class.
    pub(super) fn overrides(&self, object: &Value, name: &str) -> bool {
        if self.heap.instance_of(object).is_none_or(|instance| instance.class.as_path().is_some()) {
            return false;
        }
        let line = self.mro_of(object);
        let defines = |class: &Value| class.as_obj().is_some_and(|class| self.class_attr(class, sym(name)).is_some());
        let is_of_library = |class: &Value| class.as_path().is_some_and(|path| path != "builtins.object");
        let last = line.iter().rposition(is_of_library);
        line.iter().take(last.unwrap_or_default()).any(defines)
    }

    /// `len(object)`.
    pub(crate) fn length(&mut self, object: &Value, span: Span) -> Value {
        let library = self.library;
        if !self.overrides(object, "__len__")
            && let Some(value) = library.length(self, object)
        {
            return value;
        }
        if let Some(refused) = self.refuse_unsupported(Operation::Length, object, span) {
            return refused;
        }
        if let Some(dict) = self.heap.dict_of(object) {
            return match dict.open {
                None => int(dict.entries.len()),
                Some(_) => Value::Any(Type::Int),
            };
        }
        if let Value::Str(text) = object {
            return int(text.chars().count());
        }
        if let Some(members) = self.members(object) {
            return int(members.len());
        }
        if let Some(Data::Set(items)) = object.as_obj().map(|id| self.heap.get(id)) {
            let items = items.clone();
            return match self.distinct(items) {
                Items::Exact(items) => int(items.len()),
                Items::Many(_) => Value::Any(Type::Int),
            };
        }
        if let Some(items) = self.heap.exact_items(object) {
            return int(items.len());
        }
        if self.heap.instance_of(object).is_some()
            && let Some(method) = self.try_getattr(object, sym("__len__"), span)
        {
            let value = self.call(&method, Args::default(), span);
            return if value.as_size().is_some_and(|s| !s.is_unknown()) { value } else { Value::Any(Type::Int) };
        }
        Value::Any(Type::Int)
    }

    /// Whether the value is true; `None` if that is not known.
    pub(crate) fn truth(&mut self, value: &Value) -> Option<bool> {
        match value {
            Value::None => Some(false),
            Value::Bool(b) => Some(*b),
            Value::Int(n) => Some(*n != 0),
            Value::Float(x) => Some(*x != 0.0),
            Value::Str(s) => Some(!s.is_empty()),
            Value::Tuple(items) => Some(!items.is_empty()),
            // A length is assumed to be at least 1, but a program that tests it expects 0, too.
            Value::Size(_) => None,
            Value::Ellipsis | Value::Dtype(_) | Value::Device(_) | Value::Bound(_) | Value::Partial(_) => Some(true),
            Value::Path(path) if path.as_str() == "typing.TYPE_CHECKING" => Some(false),
            Value::Path(path) if self.library.bases(*path).is_some() => Some(true),
            Value::Obj(id) => {
                let library = self.library;
                if let Some(truth) = library.truth(self, value) {
                    return Some(truth);
                }
                match self.heap.get(*id) {
                    Data::List(Items::Exact(items)) | Data::Set(Items::Exact(items)) => Some(!items.is_empty()),
                    Data::Dict(dict) if !dict.entries.is_empty() => Some(true),
                    Data::Dict(dict) if dict.open.is_none() => Some(false),
                    Data::Function(_) | Data::Class(_) | Data::Module { .. } => Some(true),
                    Data::Instance(Instance { class: Value::Path(_), attrs, .. })
                        if let Some(payload) = attrs.get(&sym(super::payload::PAYLOAD)) =>
                    {
                        let payload = payload.clone();
                        self.truth(&payload)
                    }
                    Data::Instance(instance) => {
                        let plain = !instance.open && !matches!(instance.class, Value::Path(_));
                        self.truth_of_instance(value, plain)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The truth value that `__bool__` returns, or `__len__` if there is no `__bool__`. If there is
    /// neither, the object is true if `plain` is true, and otherwise its truth value is unknown.
    fn truth_of_instance(&mut self, value: &Value, plain: bool) -> Option<bool> {
        let said = self.user_method(value, "__bool__").or_else(|| self.user_method(value, "__len__"));
        let Some(method) = said else { return plain.then_some(true) };
        let span = self.function().unwrap_or(Span { file: self.file(), start: 0, end: 0 });
        match self.call(&method, Args::positional([value.clone()], span), span) {
            Value::Obj(_) => None,
            said => self.truth(&said),
        }
    }

    pub(super) fn extend_list(&mut self, id: ObjId, more: Items) {
        let Data::List(items) = self.heap.get(id) else { return };
        let joined = items.clone().followed_by(more, &mut self.heap);
        *self.heap.get_mut(id) = Data::List(joined);
    }

    /// The values of the positional arguments of a call.
    pub(super) fn values(args: &Args) -> Vec<Value> {
        args.pos.iter().map(|a: &Arg| a.value.clone()).collect()
    }
}

/// How certain it is that each possible position of an index occurs.
fn taken(index: &Ranged) -> Taken {
    match index {
        Ranged { dense: true, range: Range { epoch: true, .. }, .. } => Taken::Each,
        Ranged { range, .. } if range.attained && range.parts().len() == 1 => Taken::Drawn,
        _ => Taken::Perhaps,
    }
}

pub(super) fn int(n: usize) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

/// `values[start:stop:step]`.
pub(super) fn slice_of<T: Clone>(values: &[T], start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<T> {
    let len = i64::try_from(values.len()).unwrap_or(i64::MAX);
    if step == 0 {
        return Vec::new();
    }
    let clamp = |n: i64, low: i64, high: i64| (if n < 0 { n + len } else { n }).clamp(low, high);
    let (mut at, end) = if step > 0 {
        (start.map_or(0, |n| clamp(n, 0, len)), stop.map_or(len, |n| clamp(n, 0, len)))
    } else {
        (start.map_or(len - 1, |n| clamp(n, -1, len - 1)), stop.map_or(-1, |n| clamp(n, -1, len - 1)))
    };
    let mut out = Vec::new();
    while (step > 0 && at < end) || (step < 0 && at > end) {
        out.extend(usize::try_from(at).ok().and_then(|i| values.get(i).cloned()));
        at += step;
    }
    out
}

/// The index, if it is known and outside a sequence of this length.
fn outside(length: usize, index: &Value) -> Option<i64> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    match index {
        Value::Int(n) if *n >= length || *n < -length => Some(*n),
        _ => None,
    }
}

/// Whether a value is certainly not the position of an element.
fn is_no_position(index: &Value) -> bool {
    index.is_text() || matches!(index, Value::Tuple(_) | Value::None | Value::Float(_) | Value::Any(Type::Float))
}

/// Whether a bound of a slice is a float.
fn is_fractional_slice(index: &Value) -> bool {
    let Value::Slice(bounds) = index else { return false };
    bounds.iter().any(|bound| matches!(bound, Value::Float(_) | Value::Floats(_) | Value::Any(Type::Float)))
}
