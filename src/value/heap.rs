//! The heap: all objects of the interpreted program.

mod empty;
mod forget;
mod inherit;
mod journal;
mod lacking;
mod lost;
mod notes;
mod trail;
mod twins;

use std::borrow::Cow;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Attrs, Data, Device, DeviceKind, Dict, Grad, Instance, Items, Iter, ObjId, PAYLOAD, Progress, Range, Sign, Size,
    Source, Suspended, Sym, Symbol, Tensor, Value, sym,
};
pub(crate) use journal::Journal;
pub(crate) use lacking::is_mark;
#[cfg(test)]
pub(in crate::value) use lacking::mark_of;
pub(crate) use lost::Written;
use trail::Saved;
pub(crate) use trail::{Change, Delta, Mark};

struct Slot {
    data: Rc<Data>,
    /// The serial number of the mark or delta for which the slot's older state was last saved on
    /// the trail.
    stamp: u32,
    /// Paths are being joined, and this object still has its state from before the branch.
    unjoined: bool,
}

/// All mutable state of the interpreted program.
///
/// Branches run one after the other on the same heap. A write after a [`Mark`] saves the old state
/// on a trail, which is used to undo the branch before the next one runs. The changes of each
/// branch are stored as a [`Delta`], and [`Heap::join`] merges them.
#[derive(Default)]
pub(crate) struct Heap {
    slots: Vec<Slot>,
    trail: Vec<Saved>,
    serial: u32,
    next_serial: u32,
    open: Vec<trail::Open>,
    symbols: u32,
    devices: u32,
    /// Symbols for expressions of other symbols: equal expressions give the same symbol.
    derived: FxHashMap<String, Symbol>,
    /// For an object that may be one of several others, those objects. A write to the object may be
    /// a write to one of them.
    parts: FxHashMap<ObjId, Vec<ObjId>>,
    /// The reverse of `parts`: for an object, the objects that may be this one. A write to this
    /// object may be a write to each of them.
    wholes: FxHashMap<ObjId, Vec<ObjId>>,
    /// The journals of the active `try` statements, innermost last.
    journals: Vec<Journal>,
    /// Whether any attribute of any instance may be missing on some path: see `lacking.rs`.
    lacking: bool,
    /// For an iterator: the lists or the dictionary that it iterates over, with their contents when
    /// the iterator was created.
    sources: FxHashMap<ObjId, Vec<(ObjId, Rc<Data>)>>,
    /// Lists, iterators and tensors of unknown length that may be empty: see `empty.rs`.
    perhaps_empty: FxHashSet<ObjId>,
    /// The results of rejected calls, and the tensors that were computed from them.
    refused: FxHashSet<ObjId>,
    /// Views in which several elements share a place in memory.
    overlapping: FxHashSet<ObjId>,
    /// Tensors that are one of several views that one call has made, as `chunk` does while gradients
    /// are recorded.
    of_views: FxHashSet<ObjId>,
    /// The names of the Python types of collections and iterators that are certainly of Python's own types, not of
    /// a library's class that is modelled in the same way.
    types: FxHashMap<ObjId, &'static str>,
    /// The number of active loops that are assumed to run at least once.
    filling: u32,
    /// Objects that an unknown value may be: see `lost.rs`.
    lost: FxIndexSet<ObjId>,
    /// The number of objects that joins and uncertain writes have visited. The interpreter converts them
    /// into steps.
    pub(crate) visited: u64,
    lost_functions: FxIndexSet<(ObjId, Option<ObjId>)>,
    /// While the two arms of a condition are joined: what holds in each arm, as source text.
    pub(crate) arms: Option<[Sym; 2]>,
    /// The conditions of all devices of the kind [`DeviceKind::If`] so far.
    pub(crate) conditions: FxHashSet<Sym>,
}

type FxIndexSet<T> = indexmap::IndexSet<T, rustc_hash::FxBuildHasher>;

impl Heap {
    /// Stores the condition of a device of the kind [`DeviceKind::If`].
    pub(super) fn note_condition(&mut self, device: Option<Device>) {
        if let Some(DeviceKind::If(condition)) = device.map(|device| device.kind) {
            self.conditions.insert(condition);
        }
    }

    pub(crate) fn new() -> Heap {
        Heap::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// All objects ever created.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ObjId> + use<> {
        (0..u32::try_from(self.slots.len()).unwrap_or(u32::MAX)).map(ObjId)
    }

    /// Marks the result of a rejected call, or a tensor that was computed from one.
    pub(crate) fn note_refused(&mut self, value: &Value) {
        self.refused.extend(value.as_obj());
    }

    /// Whether a value is the result of a rejected call, or a tensor that was computed from one.
    pub(crate) fn is_of_refused(&self, value: &Value) -> bool {
        value.as_obj().is_some_and(|id| self.refused.contains(&id))
    }

    /// Puts a new object on the heap.
    pub(crate) fn alloc(&mut self, data: Data) -> ObjId {
        let id = ObjId(u32::try_from(self.slots.len()).unwrap_or(u32::MAX));
        self.slots.push(Slot { data: Rc::new(data), stamp: self.serial, unjoined: false });
        id
    }

    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        Value::Obj(self.alloc(Data::List(Items::Exact(items))))
    }

    pub(crate) fn dict(&mut self, dict: Dict) -> Value {
        Value::Obj(self.alloc(Data::Dict(dict)))
    }

    #[expect(clippy::iter_not_returning_iterator, reason = "an iterator of the program")]
    pub(crate) fn iter(&mut self, items: Items) -> Value {
        self.over(items, false)
    }

    /// An iterator over these elements. If their number is known, it yields each of them once.
    pub(crate) fn iterator(&mut self, items: Items) -> Value {
        let once = matches!(items, Items::Exact(_));
        self.over(items, once)
    }

    fn over(&mut self, items: Items, once: bool) -> Value {
        let iter = Iter { items, once, first: None, last: None, filled: false, suspended: None };
        Value::Obj(self.alloc(Data::Iter(iter)))
    }

    /// Records the lists that a new iterator iterates over: if a list changes before the iterator
    /// reaches an element, the iterator yields the changed element.
    pub(crate) fn note_sources(&mut self, iterator: &Value, over: &[Value]) {
        let all: Vec<(ObjId, Rc<Data>)> = over.iter().flat_map(|value| self.sources_of(value)).collect();
        if let (Value::Obj(id), false) = (iterator, all.is_empty()) {
            self.sources.insert(*id, all);
        }
    }

    /// The lists or the dictionary that an iterator iterates over, with their contents when the
    /// iterator was created. For a list: the list itself.
    pub(crate) fn sources_of(&self, value: &Value) -> Vec<(ObjId, Rc<Data>)> {
        let Some(id) = value.as_obj() else { return Vec::new() };
        match self.get(id) {
            Data::List(_) => vec![(id, self.share(id))],
            Data::Iter(_) => self.sources.get(&id).cloned().unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// A dictionary with its state now.
    pub(crate) fn dictionary_now(&self, value: &Value) -> Option<(ObjId, Rc<Data>)> {
        let id = value.as_obj()?;
        matches!(self.get(id), Data::Dict(_)).then(|| (id, self.share(id)))
    }

    /// Records the dictionary whose values or items an iterator yields.
    pub(crate) fn note_dictionary(&mut self, iterator: &Value, dictionary: ObjId) {
        let source = (dictionary, self.share(dictionary));
        if let Some(id) = iterator.as_obj() {
            self.sources.insert(id, vec![source]);
        }
    }

    /// Records that a new object is of one of Python's own types.
    pub(crate) fn note_type(&mut self, value: &Value, name: &'static str) {
        if let Some(id) = value.as_obj() {
            self.types.insert(id, name);
        }
    }

    /// The name of the Python type of a collection or iterator, if it is certain.
    pub(crate) fn type_of(&self, id: ObjId) -> Option<&'static str> {
        self.types.get(&id).copied()
    }

    /// Records that a tensor is one of several views that one call has made.
    pub(crate) fn note_one_of_views(&mut self, view: ObjId) {
        self.of_views.insert(view);
    }

    pub(crate) fn is_one_of_views(&self, id: ObjId) -> bool {
        self.of_views.contains(&id)
    }

    /// Records that several elements of a view share one place in memory: a write to one is a write
    /// to all of them.
    pub(crate) fn note_overlapping(&mut self, view: &Value) {
        self.overlapping.extend(view.as_obj());
    }

    pub(crate) fn is_overlapping(&self, id: ObjId) -> bool {
        self.overlapping.contains(&id)
    }

    /// Whether one of these objects has been written to since its state was stored.
    pub(crate) fn have_changed(&self, sources: &[(ObjId, Rc<Data>)]) -> bool {
        sources.iter().any(|(id, before)| !Rc::ptr_eq(before, &self.slot(*id).data))
    }

    /// An iterator over the values that suspended code will yield.
    pub(crate) fn suspend(&mut self, source: Source) -> Value {
        let suspended = Some(Suspended { source: Rc::new(source), progress: Progress::Fresh });
        Value::Obj(self.alloc(Data::Iter(Iter {
            items: Items::Many(Value::Unknown),
            once: false,
            first: None,
            last: None,
            filled: false,
            suspended,
        })))
    }

    /// The suspended code behind an iterator, and its position.
    pub(crate) fn suspended(&self, value: &Value) -> Option<(ObjId, Suspended)> {
        let id = value.as_obj()?;
        match self.get(id) {
            Data::Iter(iter) => Some((id, iter.suspended.clone()?)),
            _ => None,
        }
    }

    /// Records the position of suspended code.
    pub(crate) fn set_progress(&mut self, id: ObjId, progress: Progress) {
        if let Data::Iter(Iter { suspended: Some(suspended), .. }) = self.get_mut(id) {
            suspended.progress = progress;
        }
    }

    /// Puts a tensor on the heap.
    pub(crate) fn tensor(&mut self, tensor: Tensor) -> Value {
        self.new_tensor(tensor, false)
    }

    /// Like [`Heap::tensor`], but keeps what is known of the last dimensions.
    pub(crate) fn tensor_with_trailing(&mut self, tensor: Tensor) -> Value {
        let trailing = tensor.trailing.clone();
        let value = self.tensor(tensor);
        if let Some(id) = value.as_obj().filter(|_| !trailing.is_empty()) {
            self.update_tensor(id, |tensor| tensor.trailing = trailing);
        }
        value
    }

    /// Puts a parameter on the heap. It is marked as a parameter when it is created, so it is a
    /// parameter in every state that the handler of an exception may see.
    pub(crate) fn parameter(&mut self, tensor: Tensor) -> Value {
        self.new_tensor(tensor, true)
    }

    fn new_tensor(&mut self, mut tensor: Tensor, parameter: bool) -> Value {
        (tensor.parameter, tensor.freed, tensor.unsure) = (parameter, None, false);
        (tensor.layout, tensor.picks, tensor.trailing) = (None, None, Rc::default());
        Value::Obj(self.alloc(Data::Tensor(tensor)))
    }

    /// Whether an object is a list, a dictionary or a set.
    pub(crate) fn is_collection(&self, id: ObjId) -> bool {
        matches!(self.get(id), Data::List(_) | Data::Dict(_) | Data::Set(_))
    }

    pub(crate) fn instance(&mut self, class: Value) -> ObjId {
        self.alloc(Data::Instance(Instance { class, attrs: Attrs::default(), open: false }))
    }

    // Every ObjId refers to a slot that `alloc` has created, and slots are never removed: indexing
    // cannot fail, here and below.
    fn slot(&self, id: ObjId) -> &Slot {
        &self.slots[id.0 as usize]
    }

    /// Whether the object must not be read yet: paths that changed it are being joined, and the
    /// object itself is joined later.
    pub(super) fn is_unjoined(&self, id: ObjId) -> bool {
        self.slot(id).unjoined
    }

    pub(crate) fn get(&self, id: ObjId) -> &Data {
        &self.slot(id).data
    }

    /// A snapshot of the object, readable while the heap changes.
    pub(crate) fn share(&self, id: ObjId) -> Rc<Data> {
        self.slot(id).data.clone()
    }

    /// The object for writing; saves its older state for every open mark.
    pub(crate) fn get_mut(&mut self, id: ObjId) -> &mut Data {
        if matches!(self.get(id), Data::List(_) | Data::Set(_) | Data::Dict(_)) {
            self.touch(id);
        }
        self.write(id)
    }

    fn write(&mut self, id: ObjId) -> &mut Data {
        let slot = &mut self.slots[id.0 as usize];
        if let Some(journal) = self.journals.last_mut() {
            journal.overwrites(id, &slot.data);
        }
        if slot.stamp < self.serial {
            self.trail.push(Saved::Whole { id, data: slot.data.clone(), stamp: slot.stamp });
            slot.stamp = self.serial;
        }
        Rc::make_mut(&mut slot.data)
    }

    fn put(&mut self, id: ObjId, data: Rc<Data>) {
        let slot = &mut self.slots[id.0 as usize];
        if let Some(journal) = self.journals.last_mut() {
            journal.overwrites(id, &slot.data);
        }
        if slot.stamp < self.serial {
            self.trail.push(Saved::Whole { id, data: slot.data.clone(), stamp: slot.stamp });
            slot.stamp = self.serial;
        }
        slot.data = data;
    }

    /// Binds a name of a scope, or an attribute of an instance; `None` unbinds it. Saves only the
    /// older value of this name.
    pub(crate) fn bind(&mut self, id: ObjId, name: Sym, value: Option<Value>) {
        let is_there = value.is_some();
        self.bind_one(id, name, value);
        self.decide_presence(id, name);
        self.touch_name(id, name, is_there);
    }

    fn bind_one(&mut self, id: ObjId, name: Sym, value: Option<Value>) {
        let slot = &mut self.slots[id.0 as usize];
        // The name often has this value already: unseen code makes the same names unknown many times.
        let have = names_of(&slot.data).and_then(|names| names.get(&name));
        if let Some(have) = have.filter(|have| value.as_ref().is_some_and(|value| is_same_word(have, value))) {
            if let Some(journal) = self.journals.last_mut() {
                journal.overwrites_name(id, name, have, matches!(*slot.data, Data::Scope(_)));
            }
            return;
        }
        let Some(names) = names_mut(Rc::make_mut(&mut slot.data)) else { return };
        let before = match value {
            Some(value) => names.insert(name, value),
            None => names.shift_remove(&name),
        };
        if let (Some(journal), Some(before)) = (self.journals.last_mut(), &before) {
            journal.overwrites_name(id, name, before, matches!(*slot.data, Data::Scope(_)));
        }
        if slot.stamp < self.serial {
            self.trail.push(Saved::Name { id, name, value: before });
        }
    }

    /// Binds a name as if it had been bound from the beginning: the end of a branch does not undo
    /// it.
    pub(crate) fn settle(&mut self, id: ObjId, name: Sym, value: Value) {
        let slot = &mut self.slots[id.0 as usize];
        if let Some(names) = names_mut(Rc::make_mut(&mut slot.data)) {
            names.insert(name, value);
        }
    }

    /// A fresh symbol for a length.
    pub(crate) fn symbol(&mut self, name: &str) -> Symbol {
        self.signed_symbol(name, Sign::Positive)
    }

    /// A fresh symbol with this sign.
    pub(crate) fn signed_symbol(&mut self, name: &str, sign: Sign) -> Symbol {
        self.symbols += 1;
        Symbol { id: self.symbols, name: sym(name), sign, half_of: None }
    }

    /// The symbol for an operation on sizes, such as `H//2`. Equal operands give the same symbol.
    /// Unknown if an operand is unknown.
    pub(crate) fn derived(&mut self, operation: &str, operands: &[&Size], sign: Sign) -> Size {
        if operands.iter().any(|size| size.is_unknown()) {
            return Size::Unknown;
        }
        // Different symbols may have the same name, so the key contains their numbers.
        let key = format!("{operation} {operands:?}");
        if let Some(symbol) = self.derived.get(&key) {
            return Size::symbol(*symbol);
        }
        let shown: Vec<String> = operands.iter().map(|size| bracketed(size)).collect();
        let name = if operation.chars().all(char::is_alphabetic) {
            format!("{operation}({})", shown.join(", "))
        } else {
            shown.join(operation)
        };
        let mut symbol = self.signed_symbol(&name, sign);
        if let ("//", [whole, Size::Int(2..)]) = (operation, operands) {
            symbol.half_of = whole.as_symbol().map(|whole| whole.id);
        }
        self.derived.insert(key, symbol);
        Size::symbol(symbol)
    }

    /// A fresh number for a symbolic device.
    pub(crate) fn device_symbol(&mut self) -> u32 {
        self.devices += 1;
        self.devices
    }

    // Accessors for objects, so that callers need not match on `Data`.

    /// The tensor. If its memory was written to through another view, the result has no facts about
    /// elements, because these may no longer hold.
    pub(crate) fn tensor_of(&self, value: &Value) -> Option<Tensor> {
        self.tensor_now(value.as_obj()?).map(Cow::into_owned)
    }

    /// Like [`Heap::tensor_of`], but copies the tensor only if a fact must be dropped.
    pub(super) fn tensor_now(&self, id: ObjId) -> Option<Cow<'_, Tensor>> {
        let Data::Tensor(tensor) = self.get(id) else { return None };
        if self.writes_of(tensor.base.unwrap_or(id)) == tensor.version {
            return Some(Cow::Borrowed(tensor));
        }
        let mut tensor = tensor.clone();
        tensor.forget_values();
        // If the written value has a graph, all views of the memory have it, too.
        if tensor.grad == Grad::Off
            && let Some(base) = tensor.base
            && let Data::Tensor(base) = self.get(base)
            && base.grad == Grad::Unknown
        {
            tensor.grad = Grad::Unknown;
        }
        Some(Cow::Owned(tensor))
    }

    /// The tensor without a copy; facts about its elements may no longer hold.
    pub(crate) fn tensor_ref(&self, value: &Value) -> Option<&Tensor> {
        match self.get(value.as_obj()?) {
            Data::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    pub(crate) fn is_tensor(&self, value: &Value) -> bool {
        self.tensor_ref(value).is_some()
    }

    /// The number of writes to a tensor's memory.
    pub(crate) fn writes_to(&self, id: ObjId) -> u32 {
        match self.get(id) {
            Data::Tensor(tensor) => self.writes_of(tensor.base.unwrap_or(id)),
            _ => 0,
        }
    }

    /// The tensor whose memory a view shares.
    pub(super) fn base_of(&self, id: ObjId) -> Option<ObjId> {
        match self.get(id) {
            Data::Tensor(tensor) => tensor.base,
            _ => None,
        }
    }

    /// The tensor that owns the memory of this one: the tensor itself, if it is not a view.
    pub(crate) fn memory_of(&self, id: ObjId) -> ObjId {
        self.base_of(id).unwrap_or(id)
    }

    /// Whether one of the values is another view of the memory of a tensor. An operation that reads
    /// this view while it writes the tensor may read elements that are already overwritten.
    pub(crate) fn is_read_by_view<'v>(&self, id: ObjId, mut values: impl Iterator<Item = &'v Value>) -> bool {
        values.any(|value| {
            value.as_obj().is_some_and(|other| {
                other != id && self.is_tensor(value) && self.memory_of(other) == self.memory_of(id)
            })
        })
    }

    fn writes_of(&self, id: ObjId) -> u32 {
        match self.get(id) {
            Data::Tensor(tensor) => tensor.writes,
            _ => 0,
        }
    }

    /// Makes `view` share the memory of `of`: a write to one changes the other.
    pub(crate) fn share_memory(&self, mut view: Tensor, of: ObjId) -> Tensor {
        let base = match self.get(of) {
            Data::Tensor(tensor) => tensor.base.unwrap_or(of),
            _ => of,
        };
        view.base = Some(base);
        view.version = self.writes_of(base);
        view
    }

    /// Replaces the facts about a tensor after an in-place write; every other view of the same
    /// memory loses the facts about its elements.
    pub(crate) fn overwrite(&mut self, id: ObjId, mut facts: Tensor) {
        // A write to one element changes the others at the same place in memory.
        let uniform = facts.range.as_ref().is_some_and(|range| range.lo() == range.hi());
        if self.is_overlapping(id) && !uniform {
            facts.forget_values();
        }
        if self.is_perhaps_empty(&Value::Obj(id)) {
            facts.range = facts.range.map(Range::only_bounds);
        }
        self.touch_tensor(id, &facts);
        self.overwrite_one(id, facts);
    }

    fn overwrite_one(&mut self, id: ObjId, mut facts: Tensor) {
        let base = match self.get(id) {
            Data::Tensor(tensor) => tensor.base,
            _ => return,
        };
        let writes = self.writes_of(base.unwrap_or(id)) + 1;
        if let Some(base) = base
            && let Data::Tensor(tensor) = self.get_mut(base)
        {
            tensor.writes = writes;
            // The write may go through a result of `detach()`, which does not change the graph of
            // the base tensor, so it is unknown whether the base tensor has a graph.
            if tensor.grad == Grad::Off && facts.grad != Grad::Off {
                tensor.grad = Grad::Unknown;
            }
        }
        facts.base = base;
        facts.version = writes;
        if let Data::Tensor(tensor) = self.get_mut(id) {
            facts.writes = if base.is_none() { writes } else { tensor.writes };
            facts.parameter = tensor.parameter;
            *tensor = facts;
        }
    }

    /// Changes the facts of a tensor without a write to its memory (`requires_grad_`, moving a
    /// module to a device, narrowing).
    pub(crate) fn update_tensor(&mut self, id: ObjId, change: impl FnOnce(&mut Tensor)) {
        if let Data::Tensor(tensor) = self.get_mut(id) {
            change(tensor);
            if tensor.shape.is_some() {
                tensor.trailing = Rc::default();
            }
            self.touch_facts(id);
        }
    }

    pub(crate) fn instance_of(&self, value: &Value) -> Option<&Instance> {
        match self.get(value.as_obj()?) {
            Data::Instance(instance) => Some(instance),
            _ => None,
        }
    }

    pub(crate) fn instance_mut(&mut self, id: ObjId) -> Option<&mut Instance> {
        match self.get(id) {
            Data::Instance(_) => match self.get_mut(id) {
                Data::Instance(instance) => Some(instance),
                _ => None,
            },
            _ => None,
        }
    }

    /// An attribute that is stored in the instance.
    pub(crate) fn attr(&self, id: ObjId, name: &str) -> Option<Value> {
        match self.get(id) {
            Data::Instance(instance) => instance.attrs.get(&sym(name)).cloned(),
            _ => None,
        }
    }

    pub(crate) fn set_attr(&mut self, id: ObjId, name: &str, value: Value) {
        if matches!(self.get(id), Data::Instance(_)) {
            self.bind(id, sym(name), Some(value));
        }
    }

    /// Like [`Heap::set_attr`], but without effect on the other objects that may be this one.
    pub(crate) fn set_own_attr(&mut self, id: ObjId, name: &str, value: Value) {
        if matches!(self.get(id), Data::Instance(_)) {
            self.bind_one(id, sym(name), Some(value));
        }
    }

    /// The elements of a tuple, list, set or iterator, if their number is known.
    pub(crate) fn exact_items(&self, value: &Value) -> Option<Vec<Value>> {
        match value {
            Value::Tuple(items) => Some(items.to_vec()),
            Value::Obj(id) => match self.get(*id) {
                Data::List(Items::Exact(items))
                | Data::Set(Items::Exact(items))
                | Data::Iter(Iter { items: Items::Exact(items), .. }) => Some(items.clone()),
                // A deque. For an instance of a program class, the methods of the class determine
                // the elements.
                Data::Instance(Instance { class: Value::Path(_), attrs, .. }) => {
                    match self.get(attrs.get(&sym(PAYLOAD))?.as_obj()?) {
                        Data::List(Items::Exact(items)) => Some(items.clone()),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn dict_of(&self, value: &Value) -> Option<&Dict> {
        match self.get(value.as_obj()?) {
            Data::Dict(dict) => Some(dict),
            Data::Instance(instance) => match self.get(instance.attrs.get(&sym(PAYLOAD))?.as_obj()?) {
                Data::Dict(dict) => Some(dict),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether two values are the same. False for kinds of values that are more expensive to compare.
fn is_same_word(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Unknown, Value::Unknown) | (Value::None, Value::None) => true,
        (Value::Any(a), Value::Any(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        _ => false,
    }
}

/// The names of a scope, or the attributes of an instance.
fn names_of(data: &Data) -> Option<&Attrs> {
    match data {
        Data::Scope(scope) => Some(&scope.vars),
        Data::Instance(instance) => Some(&instance.attrs),
        _ => None,
    }
}

fn names_mut(data: &mut Data) -> Option<&mut Attrs> {
    match data {
        Data::Scope(scope) => Some(&mut scope.vars),
        Data::Instance(instance) => Some(&mut instance.attrs),
        _ => None,
    }
}

fn writes_in(data: &Data) -> u32 {
    if let Data::Tensor(tensor) = data { tensor.writes } else { 0 }
}

fn bracketed(size: &Size) -> String {
    let text = size.to_string();
    if text.chars().skip(1).any(|c| matches!(c, '+' | '-' | '*' | '/')) { format!("({text})") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_makes_views_forget_their_elements() {
        let mut heap = Heap::new();
        let tensor = Tensor { range: Some(Range::attained(0.0, 3.0)), ..Tensor::default() };
        let base = heap.alloc(Data::Tensor(tensor.clone()));
        let view = heap.share_memory(tensor.clone(), base);
        let view = heap.alloc(Data::Tensor(view));
        assert!(heap.tensor_of(&Value::Obj(view)).is_some_and(|t| t.range.is_some()));
        heap.overwrite(base, tensor);
        assert!(heap.tensor_of(&Value::Obj(base)).is_some_and(|t| t.range.is_some()));
        assert!(heap.tensor_of(&Value::Obj(view)).is_some_and(|t| t.range.is_none()));
    }
}
