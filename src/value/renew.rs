//! Objects that a library creates in each round of a loop: the batches of a loader.

use super::{Data, Dict, Heap, Items, Tensor, Value};

impl Heap {
    /// Copies a value for the next round: replaces the tensors that are not older than object
    /// number `since`, also those inside tuples, lists and dictionaries. So a write to a tensor of
    /// one round is not seen in the next round. Older memory is shared by all rounds.
    pub(crate) fn renewed(&mut self, value: &Value, since: usize) -> Value {
        self.renewed_at(value, since, super::equal::DEPTH)
    }

    fn renewed_at(&mut self, value: &Value, since: usize, depth: u32) -> Value {
        let Some(below) = depth.checked_sub(1) else { return value.clone() };
        let id = match value {
            Value::Tuple(items) => {
                return Value::tuple(items.iter().map(|item| self.renewed_at(item, since, below)).collect());
            }
            Value::Obj(id) if !id.is_among_first(since) => *id,
            _ => return value.clone(),
        };
        let data = match self.get(id).clone() {
            Data::Tensor(tensor) if tensor.parameter || self.shares_older(id, since) => return value.clone(),
            Data::Tensor(_) => {
                let tensor = self.tensor_of(value).unwrap_or_default();
                Data::Tensor(Tensor { base: None, version: 0, writes: 0, ..tensor })
            }
            Data::List(Items::Exact(items)) => {
                Data::List(Items::Exact(items.iter().map(|item| self.renewed_at(item, since, below)).collect()))
            }
            Data::List(Items::Many(item)) => Data::List(Items::Many(self.renewed_at(&item, since, below))),
            Data::Dict(dict) => {
                let mut out = Dict { open: dict.open, ..Dict::default() };
                for (key, item) in &dict.entries {
                    let item = self.renewed_at(item, since, below);
                    out.entries.insert(key.clone(), item);
                }
                Data::Dict(out)
            }
            _ => return value.clone(),
        };
        Value::Obj(self.alloc(data))
    }

    /// The single element of a collection of unknown length represents all objects in the
    /// collection. Returns a copy of the element for one of these objects. The copy may be the same
    /// object as the element and as the other copies. So a write to one copy is not treated as a
    /// write to all of them, and facts that are learned about one copy do not hold for the others.
    pub(crate) fn one_of_many(&mut self, element: &Value) -> Value {
        self.one_of_many_at(element, MAX_NESTED)
    }

    fn one_of_many_at(&mut self, element: &Value, depth: u32) -> Value {
        let Some(below) = depth.checked_sub(1) else { return element.clone() };
        let id = match element {
            Value::Tuple(items) if items.len() <= MAX_COPIED => {
                return Value::tuple(items.iter().map(|item| self.one_of_many_at(item, below)).collect());
            }
            Value::Obj(id) => *id,
            _ => return element.clone(),
        };
        let data = match self.get(id).clone() {
            // The graph of another element may have been freed.
            Data::Tensor(tensor) if !tensor.parameter => Data::Tensor(Tensor { freed: None, ..tensor }),
            Data::List(Items::Exact(items)) if items.len() <= MAX_COPIED => {
                Data::List(Items::Exact(items.iter().map(|item| self.one_of_many_at(item, below)).collect()))
            }
            Data::Dict(mut dict) if dict.entries.len() <= MAX_COPIED => {
                for item in dict.entries.values_mut() {
                    *item = self.one_of_many_at(item, below);
                }
                Data::Dict(dict)
            }
            // The parts of a module are others in each module, too.
            Data::Instance(mut instance) if instance.attrs.len() <= MAX_COPIED => {
                for part in instance.attrs.values_mut() {
                    if self.instance_of(part).is_some() {
                        *part = self.one_of_many_at(part, below);
                    }
                }
                Data::Instance(instance)
            }
            data @ (Data::List(_) | Data::Set(_) | Data::Instance(_)) => data,
            _ => return element.clone(),
        };
        let copy = self.alloc(data);
        self.may_be(copy, id);
        Value::Obj(copy)
    }
}

/// The nesting depth to which [`Heap::one_of_many`] copies an element.
const MAX_NESTED: u32 = 3;
/// The largest number of elements of a collection that [`Heap::one_of_many`] copies.
const MAX_COPIED: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Range;

    #[test]
    fn a_batch_is_its_rounds_own() {
        let mut heap = Heap::new();
        let labels = Tensor { range: Some(Range::attained(0.0, 3.0)), ..Tensor::default() };
        let kept = heap.tensor(labels.clone());
        let since = heap.len();
        let made = heap.tensor(labels.clone());
        let batch = Value::tuple(vec![kept.clone(), made.clone()]);
        let Value::Tuple(parts) = heap.renewed(&batch, since) else { panic!("a tuple") };
        assert_eq!(parts[0].as_obj(), kept.as_obj());
        assert_ne!(parts[1].as_obj(), made.as_obj());
        heap.overwrite(parts[1].as_obj().unwrap(), Tensor::default());
        assert!(heap.tensor_of(&made).is_some_and(|t| t.range.is_some()));
    }
}
