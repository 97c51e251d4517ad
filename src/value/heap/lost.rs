//! Objects that an unknown value may be. If a name holds values of different kinds on two paths,
//! such as `None` and a tensor, its value is unknown after the join of these paths. But a write to
//! the unknown value may still be a write to the tensor, which other names may hold. A call of an
//! unknown value may be a call of a function of the program.

use rustc_hash::FxHashSet;

use super::Heap;
use crate::value::{Attrs, Data, Dict, Grad, Instance, Items, ObjId, Sym, Tensor, Value, is_mark};

/// The depth to which the parts of these objects are followed.
const DEPTH: u32 = 3;
/// The largest number of objects that are recorded.
const MOST: usize = 4096;

/// The kind of a write to an unknown value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// A write to a tensor, list, set or dictionary: `x[…] = …`, `x += …`.
    Elements,
    /// A write to a tensor: `x.add_(…)`.
    Memory,
    /// A write to a tensor that also changes its shape, if it has dimensions: `x.t_()`.
    Shape,
    /// `x.data = …`
    Data,
    /// A change of whether a tensor requires grad: `x.requires_grad_()`.
    Grad,
    /// A write to a list, set or dictionary: `x.append(…)`.
    Items,
    /// A write to a list, set or dictionary that may also remove keys of the dictionary:
    /// `x.pop(…)`, `del x[…]`.
    Removed,
    /// `x.name = …`, `del x.name`
    Attribute(Sym),
}

impl Heap {
    /// The functions of the program that an unknown value may be, and, for a method, the object to
    /// which it is bound.
    pub(crate) fn lost_functions(&self) -> impl Iterator<Item = (ObjId, Option<ObjId>)> {
        self.lost_functions.iter().copied()
    }

    /// The objects that an unknown value may be, without functions.
    pub(crate) fn lost(&self) -> impl Iterator<Item = ObjId> {
        self.lost.iter().copied()
    }

    /// Records the objects that an unknown value may be.
    pub(crate) fn lose(&mut self, value: &Value) {
        match value {
            Value::Obj(id) if self.lost.len() < MOST => {
                let data = self.get(*id);
                let is_mutable =
                    matches!(data, Data::Instance(_) | Data::Tensor(_) | Data::List(_) | Data::Set(_) | Data::Dict(_));
                if is_mutable {
                    self.lost.insert(*id);
                } else if matches!(data, Data::Function(_)) {
                    self.lost_functions.insert((*id, None));
                }
            }
            Value::Bound(pair) => {
                self.lose(&pair.0);
                if let Some(function) = pair.1.as_obj() {
                    self.lost_functions.insert((function, pair.0.as_obj()));
                }
            }
            Value::Partial(partial) => self.lose(&partial.func),
            Value::Tuple(items) => items.iter().for_each(|item| self.lose(item)),
            _ => {}
        }
    }

    /// Applies a write to an unknown value.
    pub(crate) fn write_lost(&mut self, written: Written) {
        let mut todo: Vec<(ObjId, u32)> = self.lost.iter().map(|id| (*id, DEPTH)).collect();
        let mut seen: FxHashSet<ObjId> = self.lost.iter().copied().collect();
        let mut at = 0;
        while let Some((id, depth)) = todo.get(at).copied() {
            at += 1;
            if let Some(below) = depth.checked_sub(1) {
                for part in self.parts_of(id) {
                    if seen.insert(part) {
                        todo.push((part, below));
                    }
                }
            }
            self.forget_lost(id, written);
        }
        self.visited += todo.len() as u64;
    }

    fn parts_of(&self, id: ObjId) -> Vec<ObjId> {
        let of = |values: &Attrs| values.values().filter_map(Value::as_obj).collect();
        match self.get(id) {
            Data::List(Items::Exact(items)) | Data::Set(Items::Exact(items)) => {
                items.iter().filter_map(Value::as_obj).collect()
            }
            Data::List(Items::Many(item)) | Data::Set(Items::Many(item)) => item.as_obj().into_iter().collect(),
            Data::Dict(dict) => dict.entries.values().chain(&dict.open).filter_map(Value::as_obj).collect(),
            Data::Instance(Instance { attrs, .. }) => of(attrs),
            _ => Vec::new(),
        }
    }

    fn forget_lost(&mut self, id: ObjId, written: Written) {
        match (self.get(id), written) {
            (Data::Tensor(_), Written::Elements | Written::Memory | Written::Shape) => {
                let Some(now) = self.tensor_now(id) else { return };
                let shape = written == Written::Shape && (now.shape.is_some() || !now.trailing.is_empty());
                let known = now.range.is_some() || now.data.is_some() || now.role.is_some();
                if !known && !shape && now.grad != Grad::Off {
                    return;
                }
                let mut tensor = now.into_owned();
                tensor.forget_values();
                if tensor.grad == Grad::Off {
                    tensor.grad = Grad::Unknown;
                }
                if shape {
                    tensor.shape = None;
                    tensor.trailing = std::rc::Rc::default();
                    tensor.shape_at = None;
                }
                self.overwrite(id, tensor);
            }
            // The data of another tensor may have another shape and dtype.
            (Data::Tensor(_), Written::Data) => self.overwrite(id, Tensor::default()),
            (Data::Tensor(_), Written::Attribute(name)) if name.as_str() == "requires_grad" => {
                self.forget_lost(id, Written::Grad);
            }
            (Data::Tensor(_), Written::Grad) => {
                let Some(now) = self.tensor_now(id).filter(|now| now.grad != Grad::Unknown) else { return };
                let tensor = Tensor { grad: Grad::Unknown, ..now.into_owned() };
                self.overwrite(id, tensor);
            }
            (Data::List(_) | Data::Set(_), Written::Elements | Written::Items | Written::Removed) => {
                let (Data::List(items) | Data::Set(items)) = self.get(id) else { return };
                // The first write has already made the elements unknown.
                if !matches!(items, Items::Many(Value::Unknown))
                    && let Data::List(items) | Data::Set(items) = self.get_mut(id)
                {
                    *items = Items::Many(Value::Unknown);
                }
            }
            (Data::Dict(dict), Written::Elements | Written::Items) => {
                // An earlier write may have made the entries unknown already.
                let mut values = dict.entries.values().chain(&dict.open);
                let is_forgotten = dict.open.is_some() && values.all(|value| matches!(value, Value::Unknown));
                if !is_forgotten && let Data::Dict(dict) = self.get_mut(id) {
                    dict.entries.values_mut().for_each(|value| *value = Value::Unknown);
                    dict.open = Some(Value::Unknown);
                }
            }
            (Data::Dict(dict), Written::Removed) => {
                let is_forgotten = dict.entries.is_empty() && matches!(dict.open, Some(Value::Unknown));
                if !is_forgotten && let Data::Dict(dict) = self.get_mut(id) {
                    *dict = Dict { open: Some(Value::Unknown), ..Dict::default() };
                }
            }
            (Data::Instance(_), Written::Attribute(name)) => {
                let known = match self.get(id) {
                    Data::Instance(instance) => instance.attrs.get(&name),
                    _ => None,
                };
                let has = known.is_some();
                if !matches!(known, Some(Value::Unknown)) {
                    self.bind(id, name, Some(Value::Unknown));
                }
                if !has {
                    self.note_lacking(id, name);
                }
                self.forget_set(id, name);
            }
            _ => {}
        }
    }

    /// If the class has a member of this name, the member may be a property, whose setter may write
    /// any attribute. The setter is assumed not to replace attributes that hold objects.
    fn forget_set(&mut self, id: ObjId, name: Sym) {
        let class = self.class_of(id);
        if class.is_none_or(|class| self.inherited(&class, name).is_none()) {
            return;
        }
        let Data::Instance(Instance { class: Value::Obj(_), attrs, .. }) = self.get(id) else { return };
        let plain = |value: &Value| value.as_obj().is_none() && !value.is_unknown();
        let names: Vec<Sym> = attrs.iter().filter(|(n, v)| !is_mark(**n) && plain(v)).map(|(n, _)| *n).collect();
        for name in names {
            self.bind(id, name, Some(Value::Unknown));
        }
    }
}
