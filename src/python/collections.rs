//! The methods of lists, sets and dicts.

use std::cmp::Ordering;

use super::Args;
use super::containers::int;
use super::interp::Interp;
use super::library::Event;
use super::text::text_method;
use crate::syntax::Span;
use crate::value::{Data, Dict, Items, Iter, Key, ObjId, Size, Sym, Type, Value, join};

/// Sorting a longer list makes the order of its elements unknown.
const MOST_SORTED: usize = 1024;

impl Interp<'_> {
    /// Calls a method of a builtin container, a string or a number; `None` if this method is not
    /// modelled here.
    pub(super) fn container_method(&mut self, receiver: &Value, name: Sym, args: &Args, span: Span) -> Option<Value> {
        match receiver {
            Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => {
                Some(text_method(receiver, name.as_str(), args, self))
            }
            Value::Int(_)
            | Value::Float(_)
            | Value::Bool(_)
            | Value::Size(_)
            | Value::Ranged(_)
            | Value::Floats(_)
            | Value::Any(_) => Some(match name.as_str() {
                "item" | "conjugate" => receiver.clone(),
                "bit_length" => Value::Any(Type::Int),
                "is_integer" => Value::Any(Type::Bool),
                _ => Value::Unknown,
            }),
            Value::Tuple(items) => match name.as_str() {
                "index" if let [only] = args.pos.as_slice() => Some(self.place_of(items, &only.value)),
                "count" => Some(count_of(items, args)),
                "index" => Some(Value::Any(Type::Int)),
                // `torch.Size`.
                "numel" => {
                    let sizes = items.iter().map(|v| v.as_size().unwrap_or(Size::Unknown));
                    Some(Value::size(&sizes.fold(Size::Int(1), |n, s| n.mul(&s))))
                }
                _ => None,
            },
            Value::Obj(id) => {
                let id = *id;
                if self.heap.is_collection(id)
                    && let Some(value) = self.syntax_method(receiver, name, args, span)
                {
                    return Some(value);
                }
                match self.heap.get(id) {
                    Data::List(_) => Some(self.list_method(id, name.as_str(), args, span)),
                    Data::Dict(_) => Some(self.dict_method(id, name.as_str(), args, span)),
                    Data::Set(_) => Some(self.set_method(id, name.as_str(), args, span)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn list_method(&mut self, id: ObjId, name: &str, args: &Args, span: Span) -> Value {
        let first = args.pos.first().map(|a| a.value.clone());
        match (name, first) {
            ("append", Some(value)) => {
                self.event(Event::Appended { list: id, value: &value, span });
                self.extend_list(id, Items::Exact(vec![value]));
                Value::None
            }
            ("extend", Some(more)) => {
                let items = self.iterate(&more, span);
                self.extend_list(id, items);
                Value::None
            }
            // A deque is modelled as a list.
            ("appendleft", Some(value)) => {
                let args = Args::positional([Value::Int(0), value], span);
                self.list_method(id, "insert", &args, span)
            }
            ("popleft", _) => self.list_method(id, "pop", &Args::positional([Value::Int(0)], span), span),
            ("rotate" | "extendleft", more) => {
                if let Some(more) = more.filter(|_| name == "extendleft") {
                    let items = self.iterate(&more, span);
                    self.extend_list(id, items);
                }
                self.forget_order(id);
                Value::None
            }
            ("insert", Some(at)) => {
                let value = args.pos.get(1).map_or(Value::Unknown, |a| a.value.clone());
                match (self.heap.get(id).clone(), at.as_int()) {
                    (Data::List(Items::Exact(mut items)), Some(at)) => {
                        let len = i64::try_from(items.len()).unwrap_or(i64::MAX);
                        let at = if at < 0 { (at + len).max(0) } else { at.min(len) };
                        items.insert(usize::try_from(at).unwrap_or(0), value);
                        *self.heap.get_mut(id) = Data::List(Items::Exact(items));
                    }
                    _ => {
                        let element = self.element_of(id);
                        let element = join(&mut self.heap, &element, &value, false);
                        *self.heap.get_mut(id) = Data::List(Items::Many(element));
                    }
                }
                Value::None
            }
            ("pop", at) => {
                let at = at.map_or(Some(-1), |v| v.as_int());
                if let (Data::List(Items::Exact(mut items)), Some(at)) = (self.heap.get(id).clone(), at) {
                    let len = i64::try_from(items.len()).unwrap_or(i64::MAX);
                    let at = if at < 0 { at + len } else { at };
                    if let Ok(at) = usize::try_from(at)
                        && at < items.len()
                    {
                        let value = items.remove(at);
                        *self.heap.get_mut(id) = Data::List(Items::Exact(items));
                        return value;
                    }
                    return if self.context.speculative { Value::Unknown } else { self.raise("IndexError") };
                }
                let element = self.element_of(id);
                *self.heap.get_mut(id) = Data::List(Items::Many(element.clone()));
                self.heap.note_perhaps_empty(&Value::Obj(id));
                element
            }
            ("clear", _) => {
                *self.heap.get_mut(id) = Data::List(Items::Exact(Vec::new()));
                Value::None
            }
            ("copy", _) => {
                let copy = self.heap.get(id).clone();
                Value::Obj(self.heap.alloc(copy))
            }
            ("reverse", _) => {
                if let Data::List(Items::Exact(items)) = self.heap.get_mut(id) {
                    items.reverse();
                }
                Value::None
            }
            ("sort", _) => {
                if let Data::List(Items::Exact(items)) = self.heap.get(id).clone()
                    && let Some(sorted) = self.sorted(items, args, span)
                {
                    *self.heap.get_mut(id) = Data::List(Items::Exact(sorted));
                    return Value::None;
                }
                self.forget_order(id);
                Value::None
            }
            ("remove", Some(value)) => {
                if let Data::List(Items::Exact(items)) = self.heap.get(id) {
                    let items = items.clone();
                    let place = self.place_of(&items, &value);
                    if place.as_int().is_some() {
                        self.list_method(id, "pop", &Args::positional([place], span), span);
                        return Value::None;
                    }
                }
                let element = self.element_of(id);
                *self.heap.get_mut(id) = Data::List(Items::Many(element));
                self.heap.note_perhaps_empty(&Value::Obj(id));
                Value::None
            }
            ("index", Some(value)) if args.pos.len() == 1 => match self.heap.get(id) {
                Data::List(Items::Exact(items)) => {
                    let items = items.clone();
                    self.place_of(&items, &value)
                }
                _ => Value::Any(Type::Int),
            },
            ("count", _) => match self.heap.get(id) {
                Data::List(Items::Exact(items)) => count_of(items, args),
                _ => Value::Any(Type::Int),
            },
            ("index", _) => Value::Any(Type::Int),
            _ => Value::Unknown,
        }
    }

    /// Makes the order of the elements of a list unknown.
    fn forget_order(&mut self, id: ObjId) {
        let element = self.element_of(id);
        if let Data::List(Items::Exact(items)) = self.heap.get_mut(id) {
            let len = items.len();
            *items = vec![element; len];
        }
    }

    /// The values in the order that `sorted` gives them, if the result of every comparison is
    /// known.
    pub(super) fn sorted(&mut self, values: Vec<Value>, args: &Args, span: Span) -> Option<Vec<Value>> {
        let named = |name: &str| args.kw.iter().find(|(k, _)| k.as_str() == name).map(|(_, a)| a.value.clone());
        let reverse = named("reverse").map_or(Some(false), |v| v.as_bool())?;
        let key = named("key").filter(|k| !k.is_none());
        if args.more_kw || values.len() > MOST_SORTED {
            return None;
        }
        let mut rows: Vec<(Value, Value)> = Vec::with_capacity(values.len());
        for value in values {
            let by = match &key {
                Some(key) => self.call(key, Args::positional([value.clone()], span), span),
                None => value.clone(),
            };
            rows.push((by, value));
        }
        // Rust's `sort_by` needs a total order, and may panic without one. This insertion sort
        // returns `None` if the order of a pair is not known.
        let mut sorted: Vec<(Value, Value)> = Vec::with_capacity(rows.len());
        for row in rows {
            order(&row.0, &row.0)?;
            let mut at = sorted.len();
            for (by, _) in sorted.iter().rev() {
                let found = order(by, &row.0)?;
                if found == Ordering::Equal || (found == Ordering::Less) != reverse {
                    break;
                }
                at -= 1;
            }
            sorted.insert(at, row);
        }
        Some(sorted.into_iter().map(|(_, value)| value).collect())
    }

    /// The index of a value in a list. For a string with several possible values, one of the
    /// indices of these values.
    fn place_of(&mut self, items: &[Value], value: &Value) -> Value {
        if let Value::Among(among) = value {
            let texts = among.texts.iter().map(|text| self.place_of(items, &Value::Str(text.clone())));
            let places: Vec<Value> = texts.collect();
            let known = places.iter().all(|place| place.as_int().is_some());
            return if known { self.any_one(&places, among.taken) } else { Value::Any(Type::Int) };
        }
        for (at, item) in items.iter().enumerate() {
            match self.equals(item, value) {
                Some(true) => return int(at),
                Some(false) => {}
                None => break,
            }
        }
        Value::Any(Type::Int)
    }

    fn element_of(&mut self, id: ObjId) -> Value {
        match self.heap.get(id).clone() {
            Data::List(items) | Data::Set(items) | Data::Iter(Iter { items, .. }) => items.element(&mut self.heap),
            _ => Value::Unknown,
        }
    }

    fn set_method(&mut self, id: ObjId, name: &str, args: &Args, span: Span) -> Value {
        match name {
            "add" | "update" => {
                let value = args.pos.first().map_or(Value::Unknown, |a| a.value.clone());
                let more = if name == "add" { Items::Exact(vec![value]) } else { self.members_of(&value, span) };
                let Data::Set(have) = self.heap.get(id).clone() else { return Value::None };
                let all = match (have, more) {
                    (Items::Exact(have), Items::Exact(more)) => self.distinct(Items::Exact([have, more].concat())),
                    (Items::Exact(have), more) if have.is_empty() => Items::Many(more.element(&mut self.heap)),
                    (have, more) => {
                        let (have, more) = (have.element(&mut self.heap), more.element(&mut self.heap));
                        Items::Many(join(&mut self.heap, &have, &more, false))
                    }
                };
                *self.heap.get_mut(id) = Data::Set(all);
                Value::None
            }
            "clear" => {
                *self.heap.get_mut(id) = Data::Set(Items::Exact(Vec::new()));
                Value::None
            }
            "pop" => {
                let element = self.element_of(id);
                *self.heap.get_mut(id) = Data::Set(Items::Many(element.clone()));
                self.heap.note_perhaps_empty(&Value::Obj(id));
                element
            }
            "discard" | "remove" | "intersection_update" | "difference_update" => {
                let element = self.element_of(id);
                *self.heap.get_mut(id) = Data::Set(Items::Many(element));
                self.heap.note_perhaps_empty(&Value::Obj(id));
                Value::None
            }
            "symmetric_difference_update" => {
                *self.heap.get_mut(id) = Data::Set(Items::Many(Value::Unknown));
                Value::None
            }
            "copy" => {
                let copy = self.heap.get(id).clone();
                Value::Obj(self.heap.alloc(copy))
            }
            "union" | "intersection" | "difference" => {
                Value::Obj(self.heap.alloc(Data::Set(Items::Many(Value::Unknown))))
            }
            "issubset" | "issuperset" | "isdisjoint" => Value::Any(Type::Bool),
            _ => Value::Unknown,
        }
    }

    fn dict_method(&mut self, id: ObjId, name: &str, args: &Args, span: Span) -> Value {
        let Data::Dict(dict) = self.heap.get(id) else { return Value::Unknown };
        let mut dict = dict.clone();
        let first = args.pos.first().map(|a| a.value.clone());
        let second = args.get(1, "default").cloned();
        match (name, first) {
            ("items" | "keys" | "values", _) => {
                let pick = |k: Value, v: Value| match name {
                    "items" => Value::tuple(vec![k, v]),
                    "keys" => k,
                    _ => v,
                };
                let mut items: Vec<Value> = dict.entries.iter().map(|(k, v)| pick(k.value(), v.clone())).collect();
                let items = match dict.open {
                    None => Items::Exact(items),
                    Some(open) => {
                        items.push(pick(Value::Unknown, open));
                        Items::Many(Items::Exact(items).element(&mut self.heap))
                    }
                };
                let view = self.heap.iter(items);
                if name != "keys" {
                    self.heap.note_dictionary(&view, id);
                }
                // The views of other classes, such as those of frameworks' settings, may be lists.
                if self.heap.type_of(id) == Some("dict") {
                    let class = match name {
                        "items" => "dict_items",
                        "keys" => "dict_keys",
                        _ => "dict_values",
                    };
                    self.heap.note_type(&view, class);
                }
                view
            }
            ("get", Some(key)) => {
                let default = second.unwrap_or(Value::None);
                match (Key::of(&key).map(|k| dict.entries.get(&k).cloned()), &dict.open) {
                    (Some(Some(value)), _) => value,
                    (Some(None), None) => default,
                    (Some(None), Some(open)) => join(&mut self.heap, open, &default, false),
                    // Modules that are not run, such as those of plugins, may fill an empty dictionary.
                    (None, _) if dict.entries.is_empty() && dict.open.is_none() => Value::Unknown,
                    (None, _) => {
                        let known = matches!(&key, Value::Among(a) if a.texts.iter().all(|t| {
                            dict.entries.contains_key(&Key::Str(t.clone()))
                        }));
                        let entry = self.any_entry(&dict, &key);
                        if known { entry } else { Items::Exact(vec![entry, default]).element(&mut self.heap) }
                    }
                }
            }
            ("pop", Some(key)) => {
                let known = Key::of(&key);
                let found = known.as_ref().and_then(|k| dict.entries.shift_remove(k));
                let value = match (found, &dict.open) {
                    (Some(value), _) => value,
                    (None, None) if known.is_some() || dict.entries.is_empty() => match second {
                        Some(default) => default,
                        None if self.context.speculative => Value::Unknown,
                        None => return self.raise("KeyError"),
                    },
                    _ => Value::Unknown,
                };
                if known.is_none() && !dict.entries.is_empty() {
                    // The removed entry is not known.
                    dict = Dict { open: Some(Value::Unknown), ..Dict::default() };
                }
                *self.heap.get_mut(id) = Data::Dict(dict);
                value
            }
            ("setdefault", Some(key)) => {
                let default = second.unwrap_or(Value::None);
                match Key::of(&key) {
                    Some(k) if dict.entries.contains_key(&k) => dict.entries.get(&k).cloned().unwrap_or(Value::Unknown),
                    Some(_) if dict.open.is_none() => {
                        self.dict_insert(&mut dict, &key, default.clone());
                        *self.heap.get_mut(id) = Data::Dict(dict);
                        default
                    }
                    key => {
                        // The result is an existing entry or a new one, `default`. From now on, the
                        // result is modelled as one object, through which `default` may be changed,
                        // so the contents of `default` become unknown.
                        self.havoc(&default);
                        let mut all: Vec<Value> = dict.entries.values().cloned().collect();
                        all.extend(dict.open.clone());
                        all.push(default);
                        let any = Items::Exact(all).element(&mut self.heap);
                        if key.is_none() {
                            dict.entries.clear();
                        }
                        dict.open = Some(any.clone());
                        if let Some(key) = key {
                            dict.entries.insert(key, any.clone());
                        }
                        *self.heap.get_mut(id) = Data::Dict(dict);
                        any
                    }
                }
            }
            ("popitem", _) => {
                if dict.open.is_some() {
                    *self.heap.get_mut(id) = Data::Dict(Dict { open: Some(Value::Unknown), ..Dict::default() });
                    return Value::tuple(vec![Value::Unknown, Value::Unknown]);
                }
                match dict.entries.pop() {
                    Some((key, value)) => {
                        *self.heap.get_mut(id) = Data::Dict(dict);
                        Value::tuple(vec![key.value(), value])
                    }
                    None if self.context.speculative => Value::Unknown,
                    None => self.raise("KeyError"),
                }
            }
            ("update", other) => {
                if let Some(other) = other {
                    match self.heap.dict_of(&other).cloned() {
                        Some(other) => {
                            if let Some(open) = other.open {
                                self.dict_insert(&mut dict, &Value::Unknown, open);
                            }
                            dict.entries.extend(other.entries);
                        }
                        None => {
                            let items = self.iterate(&other, span);
                            let pairs = self.dict_of_pairs(items);
                            if let Some(open) = pairs.open {
                                self.dict_insert(&mut dict, &Value::Unknown, open);
                            }
                            dict.entries.extend(pairs.entries);
                        }
                    }
                }
                for (key, arg) in &args.kw {
                    dict.entries.insert(Key::Str(key.as_str().into()), arg.value.clone());
                }
                if args.more_kw {
                    self.dict_insert(&mut dict, &Value::Unknown, Value::Unknown);
                }
                *self.heap.get_mut(id) = Data::Dict(dict);
                Value::None
            }
            ("copy", _) => self.heap.dict(dict),
            ("clear", _) => {
                *self.heap.get_mut(id) = Data::Dict(Dict::default());
                Value::None
            }
            // The `to` of a tokenizer's output moves the tensors in place and returns the same
            // object; a plain dict has no such method.
            ("to", Some(_)) => {
                for value in dict.entries.values_mut() {
                    if self.heap.is_tensor(value) {
                        *value = self.call_method(value, "to", args.clone(), span);
                    }
                }
                dict.open = dict.open.map(|_| Value::Unknown);
                *self.heap.get_mut(id) = Data::Dict(dict);
                Value::Obj(id)
            }
            // Settings that are read from a file: `cfg.merge_from_file(…)` of yacs.
            _ if name.starts_with("merge") || name.starts_with("load") || name.starts_with("read") => {
                self.havoc_container(id);
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }
}

/// `list.count(x)`, if the result of every comparison is known.
fn count_of(items: &[Value], args: &Args) -> Value {
    // The class of an object determines what is equal to it, so objects and tuples, which may
    // contain objects, are not compared here.
    let plain = |value: &Value| Key::of(value).filter(|key| !matches!(key, Key::Obj(_) | Key::Tuple(_)));
    let wanted = args.pos.first().and_then(|a| plain(&a.value));
    let keys: Option<Vec<Key>> = items.iter().map(plain).collect();
    match (keys, wanted) {
        (Some(keys), Some(wanted)) => int(keys.iter().filter(|key| **key == wanted).count()),
        _ => Value::Any(Type::Int),
    }
}

/// The order of two values in Python, if it is known.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::Tuple(a), Value::Tuple(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                match order(a, b)? {
                    Ordering::Equal => {}
                    other => return Some(other),
                }
            }
            Some(a.len().cmp(&b.len()))
        }
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}
