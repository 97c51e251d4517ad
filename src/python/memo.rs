//! Functions that cache their results: `functools.lru_cache`.

use super::Args;
use super::interp::Interp;
use crate::value::{Data, Function, Key, ObjId, Value, join, sym};

/// The attribute of a function that stores its cached results. The keys are the arguments.
pub(crate) const MEMO: &str = "<memo>";
/// The attribute of a function that stores the size of its cache.
pub(crate) const MEMO_SIZE: &str = "<memo-size>";

/// What the cache contains for a call.
pub(super) enum Recall {
    /// A hit: the function does not run, and this is the result.
    Known(Value),
    /// A miss: the function runs, and its result is stored under this key.
    Fresh(ObjId, Option<Key>),
    /// Unknown: the function may run, or return one of the cached results.
    Perhaps(ObjId, Value),
}

impl Interp<'_> {
    /// What the cache contains for a call with these arguments; `None` if the function has no
    /// cache.
    pub(super) fn recall(&mut self, function: &Function, args: &Args) -> Option<Recall> {
        let id = function.attrs.get(&sym(MEMO))?.as_obj()?;
        let Data::Dict(memo) = self.heap.get(id) else { return None };
        let keys = || args.pos.iter().map(|arg| Key::of(&arg.value)).collect::<Option<Vec<Key>>>().map(Key::Tuple);
        let key = match args.pos.as_slice() {
            _ if !args.kw.is_empty() || args.is_open() => None,
            // Python stores a single int or string without a tuple around it: `f(1)` and `f(True)`
            // are different calls, but `f(1.0)` and `f(True)` are the same.
            [only] if matches!(only.value, Value::Int(_) | Value::Str(_)) => Key::of(&only.value),
            _ => keys(),
        };
        if let Some(found) = key.as_ref().and_then(|key| memo.entries.get(key)) {
            return Some(Recall::Known(found.clone()));
        }
        if memo.open.is_none() && (key.is_some() || memo.entries.is_empty()) {
            return Some(Recall::Fresh(id, key));
        }
        let memo = memo.clone();
        let all = memo.entries.into_values().chain(memo.open);
        let any = all.reduce(|a, b| join(&mut self.heap, &a, &b, false)).unwrap_or(Value::Unknown);
        Some(Recall::Perhaps(id, any))
    }

    /// Stores the result of a call.
    pub(super) fn remember_call(&mut self, function: &Function, memo: ObjId, key: Option<Key>, value: &Value) {
        let Data::Dict(dict) = self.heap.get(memo) else { return };
        let mut dict = dict.clone();
        let size = match function.attrs.get(&sym(MEMO_SIZE)) {
            Some(Value::None) => usize::MAX,
            Some(Value::Int(n)) => usize::try_from(*n).unwrap_or(0),
            _ => 1,
        };
        match key {
            Some(key) if dict.open.is_none() && dict.entries.len() < size => {
                dict.entries.insert(key, value.clone());
            }
            _ => {
                // An entry is evicted, or the arguments are unknown: the cache may contain any of
                // these results.
                let all = std::mem::take(&mut dict.entries).into_values().chain(dict.open.take());
                let heap = &mut self.heap;
                dict.open = Some(all.fold(value.clone(), |a, b| join(heap, &a, &b, false)));
            }
        }
        *self.heap.get_mut(memo) = Data::Dict(dict);
    }
}
