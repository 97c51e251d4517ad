use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::join::{DEPTH as SAME_DEPTH, identical, join as join_values, join_data, same, same_data, side_by_side};
use super::{Size, Sym, Symbol, Tensor, Value, sym};
use crate::syntax::FileId;

/// A thing with identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjId(u32);

impl ObjId {
    /// Whether it was made when the heap had no more than `n` objects.
    pub fn is_among_first(self, n: usize) -> bool {
        (self.0 as usize) < n
    }
}

/// A class that the program defines.
pub type ClassId = ObjId;

/// A function body, lambda or class body, as an index into the interpreter's code table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CodeId(pub u32);

pub type Attrs = IndexMap<Sym, Value, FxBuildHasher>;

/// Elements in order, or what any element is like where their number is not known.
#[derive(Debug, Clone)]
pub enum Items {
    Exact(Vec<Value>),
    Many(Value),
}

/// A dictionary's key, where it is a constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    None,
    Int(i64),
    Str(Rc<str>),
    Path(Sym),
    Obj(ObjId),
    Tuple(Vec<Key>),
}

impl Key {
    pub fn of(value: &Value) -> Option<Key> {
        Some(match value {
            Value::None => Key::None,
            Value::Int(n) => Key::Int(*n),
            Value::Bool(b) => Key::Int(i64::from(*b)),
            Value::Str(s) => Key::Str(s.clone()),
            Value::Path(p) => Key::Path(*p),
            Value::Dtype(d) => Key::Path(sym(d.name())),
            Value::Obj(id) => Key::Obj(*id),
            Value::Tuple(items) => Key::Tuple(items.iter().map(Key::of).collect::<Option<_>>()?),
            _ => return None,
        })
    }

    pub fn value(&self) -> Value {
        match self {
            Key::None => Value::None,
            Key::Int(n) => Value::Int(*n),
            Key::Str(s) => Value::Str(s.clone()),
            Key::Path(p) => Value::Path(*p),
            Key::Obj(id) => Value::Obj(*id),
            Key::Tuple(keys) => Value::tuple(keys.iter().map(Key::value).collect()),
        }
    }
}

/// A dictionary: the entries that are known, and what any other entry may hold.
#[derive(Debug, Clone, Default)]
pub struct Dict {
    pub entries: IndexMap<Key, Value, FxBuildHasher>,
    /// `Some` where there may be keys that are not listed.
    pub open: Option<Value>,
}

/// The names of a function call, a module or a class body.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub vars: Attrs,
    /// Where a name is looked up next.
    pub parent: Option<ObjId>,
}

/// A function or method of the program.
#[derive(Debug, Clone)]
pub struct Function {
    pub code: CodeId,
    pub name: Sym,
    /// Dotted path: `model.Net.forward`.
    pub path: Sym,
    pub scope: ObjId,
    /// Defaults, evaluated where the function was defined.
    pub defaults: Vec<(Sym, Value)>,
    /// The class in whose body it stands.
    pub owner: Option<ClassId>,
    pub attrs: Attrs,
}

/// A class that the program defines.
#[derive(Debug, Clone)]
pub struct UserClass {
    pub name: Sym,
    pub path: Sym,
    pub code: CodeId,
    pub bases: Vec<Value>,
    pub attrs: Attrs,
    /// Fields of a dataclass, in order.
    pub fields: Option<Vec<Sym>>,
    /// A decorator, metaclass or base of which nothing is known may have added members.
    pub open: bool,
}

/// The attribute under which an instance of a subclass of `dict` or `list` keeps what it
/// holds as such.
pub const PAYLOAD: &str = "<items>";

/// An instance of a class of the program or of a library.
#[derive(Debug, Clone)]
pub struct Instance {
    /// A [`UserClass`] object, or the path of a library's class.
    pub class: Value,
    pub attrs: Attrs,
    /// Attributes may exist, or have changed, unseen.
    pub open: bool,
}

/// An iterator or generator: what it yields.
#[derive(Debug, Clone)]
pub struct Iter {
    pub items: Items,
    /// The first of many, where it is known apart: 0 of `range(n)`.
    pub first: Option<Value>,
    /// The last of many, where it is known apart: a smaller batch.
    pub last: Option<Value>,
}

/// What stands on the heap.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "most objects are tensors, the largest: a box would cost each of them")]
pub enum Data {
    Scope(Scope),
    List(Items),
    Set(Items),
    Dict(Dict),
    Tensor(Tensor),
    Instance(Instance),
    Function(Function),
    Class(UserClass),
    Iter(Iter),
    /// A module of the project, with the scope of its globals.
    Module {
        file: FileId,
        scope: ObjId,
    },
}

struct Slot {
    data: Rc<Data>,
    /// The serial of the mark since which the slot's older state is on the trail.
    stamp: u32,
}

/// An older state, to be returned to.
enum Saved {
    Whole {
        id: ObjId,
        data: Rc<Data>,
        stamp: u32,
    },
    /// Of a scope or instance, one name.
    Name {
        id: ObjId,
        name: Sym,
        value: Option<Value>,
    },
}

/// How an object differs from its state at a mark.
#[derive(Debug, Clone)]
pub enum Change {
    Whole(Rc<Data>),
    /// Some names of a scope or instance.
    Names(Vec<(Sym, Option<Value>)>),
}

/// A state of the heap that can be returned to.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    trail: usize,
    outer_serial: u32,
}

/// How the heap differs from its state at a mark.
pub type Delta = Vec<(ObjId, Change)>;

/// All mutable state of the interpreted program.
///
/// Branches are run one after the other on the same heap: a write after a [`Mark`] saves the
/// old state on a trail, from which it is undone before the next branch runs; what each
/// branch changed is kept as a [`Delta`], and [`Heap::join`] merges them.
#[derive(Default)]
pub struct Heap {
    slots: Vec<Slot>,
    trail: Vec<Saved>,
    serial: u32,
    next_serial: u32,
    symbols: u32,
    devices: u32,
    /// Symbols that stand for an expression of others, so that the same expression gives
    /// the same symbol.
    derived: FxHashMap<String, Symbol>,
}

impl Heap {
    pub fn new() -> Heap {
        Heap::default()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Puts a new object on the heap.
    pub fn alloc(&mut self, data: Data) -> ObjId {
        let id = ObjId(u32::try_from(self.slots.len()).unwrap_or(u32::MAX));
        self.slots.push(Slot { data: Rc::new(data), stamp: self.serial });
        id
    }

    pub fn list(&mut self, items: Vec<Value>) -> Value {
        Value::Obj(self.alloc(Data::List(Items::Exact(items))))
    }

    pub fn dict(&mut self, dict: Dict) -> Value {
        Value::Obj(self.alloc(Data::Dict(dict)))
    }

    pub fn iter(&mut self, items: Items) -> Value {
        Value::Obj(self.alloc(Data::Iter(Iter { items, first: None, last: None })))
    }

    /// Puts a tensor on the heap.
    pub fn tensor(&mut self, mut tensor: Tensor) -> Value {
        (tensor.parameter, tensor.freed, tensor.unsure) = (false, None, false);
        (tensor.layout, tensor.picks) = (None, None);
        Value::Obj(self.alloc(Data::Tensor(tensor)))
    }

    pub fn instance(&mut self, class: Value) -> ObjId {
        self.alloc(Data::Instance(Instance { class, attrs: Attrs::default(), open: false }))
    }

    #[expect(clippy::indexing_slicing, reason = "an ObjId is made only by `alloc`, and slots are never removed")]
    fn slot(&self, id: ObjId) -> &Slot {
        &self.slots[id.0 as usize]
    }

    pub fn get(&self, id: ObjId) -> &Data {
        &self.slot(id).data
    }

    /// The object as it is now, to be looked at while the heap changes.
    pub fn share(&self, id: ObjId) -> Rc<Data> {
        self.slot(id).data.clone()
    }

    /// The object for writing; its older state is saved for every open mark.
    #[expect(clippy::indexing_slicing, reason = "as in `slot`")]
    pub fn get_mut(&mut self, id: ObjId) -> &mut Data {
        let slot = &mut self.slots[id.0 as usize];
        if slot.stamp < self.serial {
            self.trail.push(Saved::Whole { id, data: slot.data.clone(), stamp: slot.stamp });
            slot.stamp = self.serial;
        }
        Rc::make_mut(&mut slot.data)
    }

    #[expect(clippy::indexing_slicing, reason = "as in `slot`")]
    fn put(&mut self, id: ObjId, data: Rc<Data>) {
        let slot = &mut self.slots[id.0 as usize];
        if slot.stamp < self.serial {
            self.trail.push(Saved::Whole { id, data: slot.data.clone(), stamp: slot.stamp });
            slot.stamp = self.serial;
        }
        slot.data = data;
    }

    /// Binds a name of a scope, or an attribute of an instance; `None` unbinds it. Only this
    /// name's older state is saved.
    #[expect(clippy::indexing_slicing, reason = "as in `slot`")]
    pub fn bind(&mut self, id: ObjId, name: Sym, value: Option<Value>) {
        let slot = &mut self.slots[id.0 as usize];
        let Some(names) = names_mut(Rc::make_mut(&mut slot.data)) else { return };
        let before = match value {
            Some(value) => names.insert(name, value),
            None => names.shift_remove(&name),
        };
        if slot.stamp < self.serial {
            self.trail.push(Saved::Name { id, name, value: before });
        }
    }

    /// Binds a name as if it had been bound from the beginning: no branch undoes it.
    #[expect(clippy::indexing_slicing, reason = "as in `slot`")]
    pub fn settle(&mut self, id: ObjId, name: Sym, value: Value) {
        let slot = &mut self.slots[id.0 as usize];
        if let Some(names) = names_mut(Rc::make_mut(&mut slot.data)) {
            names.insert(name, value);
        }
    }

    /// A fresh symbol.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        self.symbols += 1;
        Symbol { id: self.symbols, name: sym(name) }
    }

    /// The symbol that stands for an operation on sizes, the same each time for the same
    /// operands: `H//2` twice is one length. Unknown if an operand is.
    pub fn derived(&mut self, operation: &str, operands: &[&Size]) -> Size {
        if operands.iter().any(|size| size.is_unknown()) {
            return Size::Unknown;
        }
        // Symbols may share a name: the key tells them apart by number.
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
        let symbol = self.symbol(&name);
        self.derived.insert(key, symbol);
        Size::symbol(symbol)
    }

    /// A fresh number for a symbolic device.
    pub fn device_symbol(&mut self) -> u32 {
        self.devices += 1;
        self.devices
    }

    /// Opens a state to return to. Marks nest: each is ended by [`Heap::release`].
    pub fn mark(&mut self) -> Mark {
        self.next_serial += 1;
        let mark = Mark { trail: self.trail.len(), outer_serial: self.serial };
        self.serial = self.next_serial;
        mark
    }

    /// What changed since the mark.
    pub fn delta(&self, mark: Mark) -> Delta {
        let since = self.trail.get(mark.trail..).unwrap_or_default();
        // By object, and in order of writing: `None` stands for the whole object.
        let mut written: Vec<(ObjId, usize, Option<Sym>)> = since
            .iter()
            .enumerate()
            .map(|(at, saved)| match saved {
                Saved::Whole { id, .. } => (*id, at, None),
                Saved::Name { id, name, .. } => (*id, at, Some(*name)),
            })
            .collect();
        written.sort_unstable_by_key(|(id, at, _)| (*id, *at));
        written
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|writes| {
                let id = writes.first()?.0;
                let data = &self.slot(id).data;
                let mut names: Vec<Sym> = Vec::with_capacity(writes.len());
                let mut seen = FxHashSet::default();
                for (.., name) in writes {
                    let Some(name) = name else { return Some((id, Change::Whole(data.clone()))) };
                    let new = if writes.len() > 16 { seen.insert(*name) } else { !names.contains(name) };
                    if new {
                        names.push(*name);
                    }
                }
                let now = names_of(data)?;
                Some((id, Change::Names(names.into_iter().map(|name| (name, now.get(&name).cloned())).collect())))
            })
            .collect()
    }

    /// Returns to the state at the mark, which stays open.
    #[expect(clippy::indexing_slicing, reason = "as in `slot`")]
    pub fn undo(&mut self, mark: Mark) {
        while self.trail.len() > mark.trail {
            match self.trail.pop() {
                Some(Saved::Whole { id, data, stamp }) => {
                    let slot = &mut self.slots[id.0 as usize];
                    slot.data = data;
                    slot.stamp = stamp;
                }
                Some(Saved::Name { id, name, value }) => {
                    let slot = &mut self.slots[id.0 as usize];
                    let Some(names) = names_mut(Rc::make_mut(&mut slot.data)) else { continue };
                    match value {
                        Some(value) => _ = names.insert(name, value),
                        // Mostly it is the last.
                        None if names.last().is_some_and(|(last, _)| *last == name) => _ = names.pop(),
                        None => _ = names.shift_remove(&name),
                    }
                }
                None => {}
            }
        }
    }

    /// Ends the mark and keeps the present state.
    pub fn release(&mut self, mark: Mark) {
        self.serial = mark.outer_serial;
        if self.serial == 0 {
            self.trail.truncate(mark.trail);
        }
    }

    /// Brings the heap, which must be in the state at the mark to which they are relative,
    /// to the state that a delta describes.
    pub fn apply(&mut self, delta: &[(ObjId, Change)]) {
        for (id, change) in delta {
            match change {
                Change::Whole(data) => self.put(*id, data.clone()),
                Change::Names(names) => {
                    for (name, value) in names {
                        self.bind(*id, *name, value.clone());
                    }
                }
            }
        }
    }

    /// Brings the heap, which must be in the state at the mark, to the join of the states
    /// that the deltas describe. With `widen`, facts that differ are given up at once.
    /// Returns whether that differs from the first of these states.
    pub fn join(&mut self, deltas: &[Delta], widen: bool) -> bool {
        self.join_taken(deltas, widen, false)
    }

    /// The same; with `apart`, each of the paths is certainly taken now and then, so that what was
    /// found on them is kept side by side ([`Value::Fates`]). What has met so once, and then
    /// differs between further paths, becomes unknown: conditions may depend on each other.
    pub fn join_taken(&mut self, deltas: &[Delta], widen: bool, apart: bool) -> bool {
        if let [only] = deltas {
            self.apply(only);
            return false;
        }
        let mut ids: Vec<ObjId> = deltas.iter().flatten().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut changed = false;
        for id in ids {
            let changes: Vec<Option<&Change>> = deltas
                .iter()
                .map(|delta| {
                    let at = delta.binary_search_by_key(&id, |(have, _)| *have).ok()?;
                    delta.get(at).map(|(_, change)| change)
                })
                .collect();
            changed |= if changes.iter().any(|change| matches!(change, Some(Change::Whole(_)))) {
                self.join_whole(id, &changes, widen)
            } else {
                self.join_names(id, &changes, widen, apart)
            };
        }
        changed
    }

    /// Joins the states of an object; whether that differs from the first.
    fn join_whole(&mut self, id: ObjId, changes: &[Option<&Change>], widen: bool) -> bool {
        let base = self.slot(id).data.clone();
        let mut merged: Option<Rc<Data>> = None;
        let mut changed = false;
        for change in changes {
            let version = match change {
                None => base.clone(),
                Some(Change::Whole(data)) => data.clone(),
                Some(Change::Names(names)) => {
                    let mut data = Data::clone(&base);
                    if let Some(have) = names_mut(&mut data) {
                        for (name, value) in names {
                            match value {
                                Some(value) => _ = have.insert(*name, value.clone()),
                                None => _ = have.shift_remove(name),
                            }
                        }
                    }
                    Rc::new(data)
                }
            };
            merged = Some(match merged {
                None => version,
                Some(have) if Rc::ptr_eq(&have, &version) => have,
                Some(have) => match join_data(self, &have, &version, widen) {
                    Some(joined) if !same_data(self, &joined, &have, SAME_DEPTH) => {
                        changed = true;
                        Rc::new(joined)
                    }
                    // Views and masks of before the last write must not be taken for newer ones.
                    Some(joined) if writes_in(&joined) > writes_in(&have) => Rc::new(joined),
                    _ => have,
                },
            });
        }
        let Some(merged) = merged else { return false };
        if !Rc::ptr_eq(&merged, &base) {
            self.put(id, merged);
        }
        changed
    }

    /// Joins the names of a scope or instance that some state changed. A name that only one
    /// path binds keeps that path's value: reading it on the other would be a `NameError`.
    fn join_names(&mut self, id: ObjId, changes: &[Option<&Change>], widen: bool, apart: bool) -> bool {
        let mut written: Vec<Sym> = Vec::new();
        let mut seen = FxHashSet::default();
        let lists: Vec<&[(Sym, Option<Value>)]> = changes
            .iter()
            .map(|change| match change {
                Some(Change::Names(names)) => names.as_slice(),
                _ => &[],
            })
            .collect();
        let many = lists.iter().map(|names| names.len()).sum::<usize>() > 16;
        for (name, _) in lists.iter().copied().flatten() {
            let new = if many { seen.insert(*name) } else { !written.contains(name) };
            if new {
                written.push(*name);
            }
        }
        let mut changed = false;
        for (at, name) in written.into_iter().enumerate() {
            let base = names_of(self.get(id)).and_then(|names| names.get(&name)).cloned();
            let mut merged: Option<Value> = None;
            // Paths mostly write the same names in the same order.
            let own = |names: &'_ [(Sym, Option<Value>)]| match names.get(at) {
                Some((here, value)) if *here == name => Some(value.clone()),
                _ => names.iter().find(|(have, _)| *have == name).map(|(_, value)| value.clone()),
            };
            let versions = lists.iter().map(|names| own(names).unwrap_or_else(|| base.clone()));
            let versions: Vec<Option<Value>> = versions.collect();
            if apart && let Some(fates) = side_by_side(&versions) {
                changed = true;
                self.bind(id, name, Some(fates));
                continue;
            }
            for (place, version) in versions.iter().enumerate() {
                match (&merged, version) {
                    (_, None) => {}
                    (None, Some(value)) => {
                        changed |= place > 0;
                        merged = Some(value.clone());
                    }
                    (Some(have), Some(value)) if identical(have, value) => {}
                    (Some(have), Some(value)) => {
                        let joined = join_values(self, have, value, widen);
                        if !same(self, &joined, have) {
                            changed = true;
                            merged = Some(joined);
                        }
                    }
                }
            }
            let kept = match (&merged, &base) {
                (Some(merged), Some(base)) => identical(merged, base),
                (None, None) => true,
                _ => false,
            };
            if !kept {
                self.bind(id, name, merged);
            }
        }
        changed
    }

    /// Whether an instance remembers of anything that paths differ in it.
    pub fn has_fates_apart(&self, id: ObjId) -> bool {
        let apart = |value: &Value| matches!(value, Value::Fates(fates) if fates.len() > 1);
        names_of(self.get(id)).is_some_and(|names| names.values().any(apart))
    }

    // Views of objects, so that callers need not match on `Data`.

    /// The tensor, with facts about its elements only while they still hold: memory shared
    /// with a view may have been written to since.
    pub fn tensor_of(&self, value: &Value) -> Option<Tensor> {
        let id = value.as_obj()?;
        let Data::Tensor(tensor) = self.get(id) else { return None };
        let mut tensor = tensor.clone();
        if self.writes_of(tensor.base.unwrap_or(id)) != tensor.version {
            tensor.forget_values();
        }
        Some(tensor)
    }

    /// The tensor's facts other than those about its elements, without a copy.
    pub fn tensor_ref(&self, value: &Value) -> Option<&Tensor> {
        match self.get(value.as_obj()?) {
            Data::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    pub fn is_tensor(&self, value: &Value) -> bool {
        self.tensor_ref(value).is_some()
    }

    /// How often a tensor's memory has been written to.
    pub fn writes_to(&self, id: ObjId) -> u32 {
        match self.get(id) {
            Data::Tensor(tensor) => self.writes_of(tensor.base.unwrap_or(id)),
            _ => 0,
        }
    }

    fn writes_of(&self, id: ObjId) -> u32 {
        match self.get(id) {
            Data::Tensor(tensor) => tensor.writes,
            _ => 0,
        }
    }

    /// Makes `view` share the memory of `of`: what is written to one changes the other.
    pub fn share_memory(&self, mut view: Tensor, of: ObjId) -> Tensor {
        let base = match self.get(of) {
            Data::Tensor(tensor) => tensor.base.unwrap_or(of),
            _ => of,
        };
        view.base = Some(base);
        view.version = self.writes_of(base);
        view
    }

    /// Replaces the facts about a tensor after it was written to in place; every view of the
    /// same memory loses what was known of its elements.
    pub fn overwrite(&mut self, id: ObjId, mut facts: Tensor) {
        let base = match self.get(id) {
            Data::Tensor(tensor) => tensor.base,
            _ => return,
        };
        let writes = self.writes_of(base.unwrap_or(id)) + 1;
        if let Some(base) = base
            && let Data::Tensor(tensor) = self.get_mut(base)
        {
            tensor.writes = writes;
        }
        facts.base = base;
        facts.version = writes;
        if let Data::Tensor(tensor) = self.get_mut(id) {
            facts.writes = if base.is_none() { writes } else { tensor.writes };
            facts.parameter = tensor.parameter;
            *tensor = facts;
        }
    }

    /// Changes what is known of a tensor without its memory having been written to
    /// (`requires_grad_`, a module moved to a device, a check that narrows).
    pub fn update_tensor(&mut self, id: ObjId, change: impl FnOnce(&mut Tensor)) {
        if let Data::Tensor(tensor) = self.get_mut(id) {
            change(tensor);
        }
    }

    pub fn instance_of(&self, value: &Value) -> Option<&Instance> {
        match self.get(value.as_obj()?) {
            Data::Instance(instance) => Some(instance),
            _ => None,
        }
    }

    pub fn instance_mut(&mut self, id: ObjId) -> Option<&mut Instance> {
        match self.get(id) {
            Data::Instance(_) => match self.get_mut(id) {
                Data::Instance(instance) => Some(instance),
                _ => None,
            },
            _ => None,
        }
    }

    /// An attribute that the instance itself holds.
    pub fn attr(&self, id: ObjId, name: &str) -> Option<Value> {
        match self.get(id) {
            Data::Instance(instance) => instance.attrs.get(&sym(name)).cloned(),
            _ => None,
        }
    }

    pub fn set_attr(&mut self, id: ObjId, name: &str, value: Value) {
        if matches!(self.get(id), Data::Instance(_)) {
            self.bind(id, sym(name), Some(value));
        }
    }

    /// The elements of a tuple, list, set or iterator, where their number is known.
    pub fn exact_items(&self, value: &Value) -> Option<Vec<Value>> {
        match value {
            Value::Tuple(items) => Some(items.to_vec()),
            Value::Obj(id) => match self.get(*id) {
                Data::List(Items::Exact(items))
                | Data::Set(Items::Exact(items))
                | Data::Iter(Iter { items: Items::Exact(items), .. }) => Some(items.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn dict_of(&self, value: &Value) -> Option<&Dict> {
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
    fn branches_are_undone_and_joined() {
        let mut heap = Heap::new();
        let list = heap.alloc(Data::List(Items::Exact(vec![Value::Int(1)])));
        let mark = heap.mark();
        *heap.get_mut(list) = Data::List(Items::Exact(vec![Value::Int(2)]));
        let left = heap.delta(mark);
        heap.undo(mark);
        assert_eq!(heap.exact_items(&Value::Obj(list)).map(|v| v[0].as_int()), Some(Some(1)));
        let right = heap.delta(mark);
        assert!(right.is_empty());
        assert!(heap.join(&[left, right], false));
        heap.release(mark);
        let items = heap.exact_items(&Value::Obj(list)).unwrap_or_default();
        assert!(matches!(items.as_slice(), [Value::Ranged(both)] if both.range.parts() == [(1.0, 2.0)]));
    }

    #[test]
    fn a_write_makes_views_forget_their_elements() {
        use crate::value::{Range, Tensor};
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
