//! Builtins that create, combine and iterate over sequences: `range`, `zip`, `map`, `sum` and
//! others.

use super::interp::Interp;
use super::{Arg, Args};
use crate::syntax::Span;
use crate::value::{Data, Dict, Items, Iter, Key, Range, Size, Source, Tensor, Type, Value};

/// Longer ranges are not stored element by element.
const MAX_RANGE: i64 = 4096;

impl Interp<'_> {
    pub(super) fn range(&mut self, values: &[Value]) -> Value {
        let (start, stop, step) = match values {
            [stop] => (Some(0), stop.as_int(), Some(1)),
            [start, stop] => (start.as_int(), stop.as_int(), Some(1)),
            [start, stop, step] => (start.as_int(), stop.as_int(), step.as_int()),
            _ => (None, None, None),
        };
        if let (Some(start), Some(stop), Some(step)) = (start, stop, step)
            && step != 0
        {
            let mut out = Vec::new();
            let mut at = start;
            while (step > 0 && at < stop) || (step < 0 && at > stop) {
                if i64::try_from(out.len()).is_ok_and(|n| n >= MAX_RANGE) {
                    #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
                    let all =
                        Value::ranged(Range::up_to(start.min(stop) as f64, Size::Int(start.max(stop))), false, None);
                    return self.heap.iter(Items::Many(all));
                }
                out.push(Value::Int(at));
                match at.checked_add(step) {
                    Some(next) => at = next,
                    None => break,
                }
            }
            return self.heap.iter(Items::Exact(out));
        }
        let first = start.map(Value::Int);
        let stop = if values.len() == 1 { values.first() } else { values.get(1) };
        let element = match (start, stop.and_then(Value::as_size)) {
            #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
            (Some(start @ 0..), Some(stop @ Size::Expr(_))) if step.is_some_and(|n| n > 0) => {
                Value::ranged(Range::up_to(start as f64, stop), false, None)
            }
            _ => Value::Any(Type::Int),
        };
        // A symbolic length is assumed not to be 0, so the range has an element.
        let filled = stop.is_some_and(|stop| {
            let least = stop.range().map(|(range, _)| range.lo());
            #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
            let start = start.map(|start| start as f64);
            stop.as_size().is_some_and(|size| !size.is_unknown())
                || least.zip(start).is_some_and(|(least, start)| least > start)
        });
        let numbers = Value::Obj(self.heap.alloc(Data::Iter(Iter {
            items: Items::Many(element),
            once: false,
            first,
            last: None,
            filled: false,
            suspended: None,
        })));
        if !filled {
            self.heap.note_perhaps_empty(&numbers);
        }
        numbers
    }

    pub(super) fn collect(&mut self, name: &str, values: &[Value], args: &Args, span: Span) -> Value {
        if name == "iter" {
            let Some(iterable) = values.first() else { return Value::Unknown };
            let iterator = self.iterator_of(iterable, span);
            if self.heap.suspended(&iterator).is_some() || self.user_method(&iterator, "__next__").is_some() {
                return iterator;
            }
        }
        self.perhaps_none = false;
        let items = match values.first() {
            None => Items::Exact(Vec::new()),
            Some(iterable) if matches!(name, "sorted" | "set" | "frozenset") => self.members_of(iterable, span),
            Some(iterable) => self.iterate(iterable, span),
        };
        let empty = values.first().is_some_and(|values| self.heap.is_perhaps_empty(values))
            || matches!(items, Items::Many(_)) && std::mem::take(&mut self.perhaps_none);
        let collected = self.collected_as(name, values, args, items, span);
        if empty {
            self.heap.note_perhaps_empty(&collected);
        }
        collected
    }

    fn collected_as(&mut self, name: &str, values: &[Value], args: &Args, items: Items, span: Span) -> Value {
        match name {
            "tuple" => match items {
                Items::Exact(items) => Value::tuple(items),
                many @ Items::Many(_) => self.heap.iter(many),
            },
            "set" => self.new_set(items, span),
            "frozenset" => {
                let items = self.distinct(items);
                Value::Obj(self.heap.alloc(Data::Set(items)))
            }
            "reversed" => {
                let iterator = match items {
                    Items::Exact(mut items) => {
                        items.reverse();
                        self.heap.iterator(Items::Exact(items))
                    }
                    many @ Items::Many(_) => self.heap.iter(many),
                };
                self.heap.note_sources(&iterator, values.get(..1).unwrap_or_default());
                iterator
            }
            "sorted" => {
                let sorted = match items {
                    Items::Exact(items) => match self.sorted(items.clone(), args, span) {
                        Some(sorted) => Items::Exact(sorted),
                        None => {
                            let len = items.len();
                            let element = Items::Exact(items).element(&mut self.heap);
                            Items::Exact(vec![element; len])
                        }
                    },
                    many @ Items::Many(_) => many,
                };
                self.new_list(sorted)
            }
            // The iterator of a loader yields the same batches as the loader.
            "iter" => {
                let iterator = self.heap.iterator(items);
                if let Some(class) = values.first().and_then(|over| self.iterator_type(over)) {
                    self.heap.note_type(&iterator, class);
                }
                self.heap.note_sources(&iterator, values.get(..1).unwrap_or_default());
                iterator
            }
            _ => self.new_list(items),
        }
    }

    pub(super) fn dict_call(&mut self, args: &Args, span: Span) -> Value {
        let mut dict = match args.pos.first() {
            None => Dict::default(),
            Some(Arg { value, .. }) => match self.heap.dict_of(value).cloned() {
                Some(dict) => dict,
                None => {
                    let items = self.iterate(value, span);
                    self.dict_of_pairs(items)
                }
            },
        };
        for (name, arg) in &args.kw {
            dict.entries.insert(Key::Str(name.as_str().into()), arg.value.clone());
        }
        if args.more_kw {
            dict.open = Some(Value::Unknown);
        }
        self.heap.dict(dict)
    }

    pub(super) fn zip(&mut self, values: &[Value], span: Span) -> Value {
        if values.iter().any(|value| self.heap.suspended(value).is_some()) {
            return self.heap.suspend(Source::Zip { over: values.to_vec(), call: span });
        }
        let filled = values.iter().all(|value| self.surely_not_empty(value));
        let items = self.zipped(values, span);
        let once = matches!(items, Items::Exact(_));
        let iter = Iter { items, once, first: None, last: None, filled, suspended: None };
        let iterator = Value::Obj(self.heap.alloc(Data::Iter(iter)));
        self.heap.note_sources(&iterator, values);
        if values.iter().any(|value| self.heap.is_perhaps_empty(value)) {
            self.heap.note_perhaps_empty(&iterator);
        }
        iterator
    }

    /// Tuples of the elements of several values, up to the length of the shortest one.
    pub(super) fn zipped(&mut self, values: &[Value], span: Span) -> Items {
        let all: Vec<Items> = values.iter().map(|v| self.iterate(v, span)).collect();
        let shortest = all
            .iter()
            .map(|items| match items {
                Items::Exact(items) => Some(items.len()),
                Items::Many(_) => None,
            })
            .collect::<Option<Vec<_>>>()
            .and_then(|lens| lens.into_iter().min());
        match shortest {
            Some(len) => Items::Exact(
                (0..len)
                    .map(|i| {
                        let row = all.iter().map(|items| match items {
                            Items::Exact(items) => items.get(i).cloned().unwrap_or(Value::Unknown),
                            Items::Many(value) => value.clone(),
                        });
                        Value::tuple(row.collect())
                    })
                    .collect(),
            ),
            None => {
                let row = all.iter().map(|items| items.element(&mut self.heap)).collect();
                Items::Many(Value::tuple(row))
            }
        }
    }

    pub(super) fn enumerate(&mut self, iterable: &Value, start: Option<&Value>, span: Span) -> Value {
        let start = start.map_or(Some(0), Value::as_int);
        if let (Some(start), true) = (start, self.heap.suspended(iterable).is_some()) {
            return self.heap.suspend(Source::Enumerate { over: iterable.clone(), start, call: span });
        }
        let items = match (self.iterate(iterable, span), start) {
            (Items::Exact(items), Some(start)) => {
                let pair = |(i, v): (usize, Value)| {
                    let i = i64::try_from(i).unwrap_or(i64::MAX);
                    Value::tuple(vec![Value::Int(start.saturating_add(i)), v])
                };
                Items::Exact(items.into_iter().enumerate().map(pair).collect())
            }
            (items, start) => {
                let filled = self.surely_not_empty(iterable);
                let element = items.element(&mut self.heap);
                let first = start.map(|n| Value::tuple(vec![Value::Int(n), element.clone()]));
                let last = self.last_of(iterable, span).map(|last| Value::tuple(vec![Value::Any(Type::Int), last]));
                let items = Items::Many(Value::tuple(vec![Value::Any(Type::Int), element]));
                let iter = Iter { items, once: false, first, last, filled, suspended: None };
                let iterator = Value::Obj(self.heap.alloc(Data::Iter(iter)));
                self.heap.note_sources(&iterator, std::slice::from_ref(iterable));
                if self.heap.is_perhaps_empty(iterable) {
                    self.heap.note_perhaps_empty(&iterator);
                }
                return iterator;
            }
        };
        let iterator = self.heap.iterator(items);
        self.heap.note_sources(&iterator, std::slice::from_ref(iterable));
        iterator
    }

    pub(super) fn map(&mut self, values: &[Value], span: Span) -> Value {
        let Some((function, over)) = values.split_first() else { return Value::Unknown };
        self.heap.suspend(Source::Map { function: function.clone(), over: over.to_vec(), call: span })
    }

    pub(super) fn filter(&mut self, values: &[Value], span: Span) -> Value {
        let [function, over] = values else { return Value::Unknown };
        self.heap.suspend(Source::Filter { function: function.clone(), over: over.clone(), call: span })
    }

    pub(super) fn next(&mut self, iterator: &Value, default: Option<&Value>, span: Span) -> Value {
        if self.heap.suspended(iterator).is_some() {
            return self.first_given(iterator, default, span);
        }
        if let Some(id) = iterator.as_obj()
            && let Data::Iter(iter) = self.heap.get(id)
        {
            if self.heap.have_changed(&self.heap.sources_of(iterator)) {
                return Value::Unknown;
            }
            let mut items = iter.items.clone();
            let value = match &mut items {
                Items::Exact(values) if !values.is_empty() => values.remove(0),
                Items::Exact(_) => return default.cloned().unwrap_or(Value::Unknown),
                Items::Many(value) => {
                    let (element, filled) = (value.clone(), iter.filled);
                    let element = self.another(&element);
                    return match default {
                        // The iterator may be exhausted.
                        Some(default) if !filled => crate::value::join(&mut self.heap, &element, default, false),
                        _ => element,
                    };
                }
            };
            if let Data::Iter(iter) = self.heap.get_mut(id) {
                iter.items = items;
            }
            return value;
        }
        if let Some(next) = self.user_method(iterator, "__next__") {
            return self.call(&next, Args::positional([iterator.clone()], span), span);
        }
        match self.iterate(iterator, span) {
            Items::Exact(items) => items.into_iter().next().unwrap_or(Value::Unknown),
            Items::Many(value) => value,
        }
    }

    /// `sum`, `min`, `max`.
    pub(super) fn fold(&mut self, name: &str, values: &[Value], args: &Args, span: Span) -> Value {
        self.perhaps_none = false;
        let items = match values {
            [only] => self.members_of(only, span),
            [iterable, _] if name == "sum" => self.members_of(iterable, span),
            several => Items::Exact(several.to_vec()),
        };
        if name == "sum" {
            let empty = values.first().is_some_and(|values| self.heap.is_perhaps_empty(values));
            let filled = !empty && !std::mem::take(&mut self.perhaps_none);
            return self.sum(items, args.get(1, "start").cloned(), filled, span);
        }
        let Some(default) = args.keyword("default") else { return self.extreme(name, items, args) };
        match &items {
            Items::Exact(values) if values.is_empty() => default.clone(),
            Items::Exact(_) => self.extreme(name, items, args),
            // If the program gives a default, there may be no items.
            Items::Many(_) => {
                let found = self.extreme(name, items, args);
                crate::value::join(&mut self.heap, &found, default, false)
            }
        }
    }

    /// `sum` of items. If `filled` is true, there is at least one item.
    fn sum(&mut self, items: Items, start: Option<Value>, filled: bool, span: Span) -> Value {
        let items = match items {
            Items::Exact(items) => {
                let start = start.unwrap_or(Value::Int(0));
                return items.iter().fold(start, |sum, item| self.binary(super::BinOp::Add, &sum, item, span));
            }
            items @ Items::Many(_) => items,
        };
        let element = items.element(&mut self.heap);
        match element.number_type() {
            // Without elements, the result is `start`, by default 0.
            kind if !filled && !matches!(kind, Some(Type::Bool | Type::Int)) => Value::Unknown,
            Some(Type::Bool) => Value::Any(Type::Int),
            Some(ty) => Value::Any(ty),
            // The sum of tensors of one kind is a tensor of that kind, but with other values.
            None if self.heap.is_tensor(&element) => {
                let sum = self.binary(super::BinOp::Add, &element, &element, span);
                if let Some(id) = sum.as_obj() {
                    self.heap.update_tensor(id, Tensor::forget_values);
                }
                sum
            }
            None => Value::Unknown,
        }
    }

    /// `min` or `max` of items.
    fn extreme(&mut self, name: &str, items: Items, args: &Args) -> Value {
        if let (Items::Exact(items), None) = (&items, args.keyword("key"))
            && let Some(numbers) = items.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()
        {
            let pick = if name == "min" { f64::min } else { f64::max };
            let best = numbers.iter().copied().reduce(pick);
            let found = items.iter().find(|v| v.as_f64() == best);
            return found.cloned().unwrap_or(Value::Unknown);
        }
        if let (Items::Exact(items), None) = (&items, args.keyword("key"))
            && let Some(bounded) = bounded(name, items)
        {
            return bounded;
        }
        let types: Option<Vec<Type>> = match items {
            Items::Exact(items) => items.iter().map(Value::number_type).collect(),
            items @ Items::Many(_) => items.element(&mut self.heap).number_type().map(|ty| vec![ty]),
        };
        match types.as_deref() {
            Some([first, rest @ ..]) if rest.iter().all(|ty| ty == first) => Value::Any(*first),
            _ => Value::Unknown,
        }
    }
}

/// `min(n, x)` of integers of which some are known: it is at most the least of these. Likewise for `max`.
fn bounded(name: &str, items: &[Value]) -> Option<Value> {
    if items.iter().any(|item| item.number_type() != Some(Type::Int)) {
        return None;
    }
    let ranges = items.iter().filter_map(Value::range);
    let (limits, at): (Vec<f64>, Vec<_>) =
        ranges.map(|(range, at)| (if name == "min" { range.hi() } else { range.lo() }, at)).unzip();
    let limit = limits.into_iter().reduce(if name == "min" { f64::min } else { f64::max })?;
    let range = match name {
        "min" => Range::bounds(f64::NEG_INFINITY, limit),
        _ => Range::bounds(limit, f64::INFINITY),
    };
    Some(Value::ranged(range, false, at.into_iter().next().flatten()))
}
