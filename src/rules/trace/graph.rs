//! The autograd graph: the inputs, the function and the place of each computed tensor.
//!
//! The function that made a tensor does not depend on the path, so the graph is stored outside the
//! heap; a write to the tensor only adds an input. Two facts depend on the path, and are therefore
//! stored on the heap: whether the graph was freed, and the number of writes to a tensor.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::python::{Bound, Certainty, Interp};
use crate::syntax::Span;
use crate::value::{Data, Grad, Items, ObjId, Sym, Tensor, Value};

/// The computation that made a tensor.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The last component of the function's path; empty if the tensor was only written to.
    pub function: &'static str,
    pub span: Span,
    pub inputs: Vec<ObjId>,
    /// The tensors that the backward of the function needs, each with the number of writes to its
    /// memory at that time.
    pub saved: Vec<(ObjId, u32)>,
    /// All tensors that the same call computed.
    pub results: Rc<[ObjId]>,
}

/// The maximum number of ancestors to visit.
const MOST: usize = 20_000;

#[derive(Default)]
pub(crate) struct Graph {
    nodes: RefCell<FxHashMap<ObjId, Node>>,
    /// The tensors that own memory, each with the place of the last write to this memory.
    writes: RefCell<FxHashMap<ObjId, Span>>,
    /// The tensors whose memory was written through `.data`. PyTorch does not count these writes.
    uncounted: RefCell<FxHashSet<ObjId>>,
    /// The leaves that a backward pass has certainly reached since their gradients were cleared.
    reached: RefCell<FxHashSet<ObjId>>,
}

impl Graph {
    /// Records that a library function computed a result from its arguments.
    pub(crate) fn record(&self, it: &Interp<'_>, path: Sym, bound: &Bound, result: &Value, span: Span) {
        let mut results = Vec::new();
        tensors(it, result, 2, &mut results);
        if results.is_empty() {
            return;
        }
        let mut inputs = Vec::new();
        let given = bound.values.iter().flatten().chain(&bound.rest).chain(bound.extra.iter().map(|(_, arg)| arg));
        for arg in given {
            tensors(it, &arg.value, 2, &mut inputs);
        }
        if inputs.is_empty() {
            return;
        }
        let function = own_name(path.as_str());
        if RECURRENT.contains(&function) {
            inputs.extend(weights(it, &bound.get("self")));
        }
        // These functions use only the shape or the dtype of their second argument.
        if matches!(function, "view_as" | "reshape_as" | "expand_as" | "type_as") {
            inputs.truncate(1);
        }
        let mut nodes = self.nodes.borrow_mut();
        let results: Rc<[ObjId]> = results.into_iter().filter(|result| !inputs.contains(result)).collect();
        for result in results.iter() {
            nodes.entry(*result).or_insert_with(|| {
                let saved = saved(it, function, &inputs, *result);
                Node { function, span, inputs: inputs.clone(), saved, results: results.clone() }
            });
        }
    }

    /// Records that a tensor was derived from another, for example by reading its attribute `name`.
    pub(crate) fn viewed(&self, object: ObjId, result: ObjId, name: Sym, span: Span) {
        let node =
            || Node { function: name.as_str(), span, inputs: vec![object], saved: Vec::new(), results: Rc::default() };
        self.nodes.borrow_mut().entry(result).or_insert_with(node);
    }

    /// Records that a result was written into a tensor: the tensor now depends on the result, too.
    pub(crate) fn written(&self, it: &Interp<'_>, object: ObjId, result: &Value, span: Span) {
        self.writes.borrow_mut().insert(memory(it, object), span);
        let through = self.ancestors(&[object], |id| memory(it, id) == memory(it, object));
        if through.iter().any(|id| self.function(*id) == Some("data")) {
            self.uncounted.borrow_mut().insert(memory(it, object));
        }
        let Some(result) = result.as_obj() else { return };
        let mut nodes = self.nodes.borrow_mut();
        // A function that overwrites its input keeps a copy of the values that its backward needs.
        if let Some(made) = nodes.get_mut(&result).filter(|made| made.span == span) {
            let own = memory(it, object);
            made.saved.retain(|(saved, _)| memory(it, *saved) != own);
            // The backward of these functions needs the result, which is now stored in this tensor.
            let records = tensor(it, result).is_some_and(|t| t.grad == Grad::Attached);
            if records && NEEDS_RESULT_IN_PLACE.contains(&made.function) && it.certainty() != Certainty::Guessed {
                made.saved.push((own, writes(it, own).0.saturating_add(1)));
            }
        }
        let node = nodes.entry(object).or_insert_with(|| Node {
            function: "",
            span,
            inputs: Vec::new(),
            saved: Vec::new(),
            results: Rc::default(),
        });
        if !node.inputs.contains(&result) {
            node.inputs.push(result);
        }
    }

    /// Records that a backward pass on these tensors computes the gradients of the leaves that it
    /// reaches.
    pub(crate) fn differentiated(&self, it: &Interp<'_>, from: &[ObjId]) {
        // In an arm of an unknown condition, the pass may not run.
        if it.undecided() > 0 {
            return;
        }
        self.reached.borrow_mut().extend(self.leaves(it, from));
    }

    /// The leaves whose gradients a backward pass on these tensors computes.
    pub(crate) fn leaves(&self, it: &Interp<'_>, from: &[ObjId]) -> Vec<ObjId> {
        let nodes = self.attached(it, from).into_iter().filter_map(|id| self.node(id));
        let inputs = nodes.flat_map(|node| node.inputs);
        inputs.filter(|id| tensor(it, *id).is_some_and(|t| t.grad == Grad::Leaf)).collect()
    }

    /// Records that the gradients of these parameters were cleared.
    pub(crate) fn cleared(&self, parameters: &[ObjId]) {
        self.reached.borrow_mut().retain(|id| !parameters.contains(id));
    }

    /// Records that the gradients of any parameters may have been cleared.
    pub(crate) fn clear_all(&self) {
        self.reached.borrow_mut().clear();
    }

    /// Records that an optimizer changed these parameters in place, if they have a gradient.
    pub(crate) fn stepped(&self, it: &mut Interp<'_>, parameters: &[ObjId], span: Span) {
        let reached = self.reached.borrow();
        for id in parameters.iter().filter(|id| reached.contains(id)) {
            if tensor(it, *id).is_some_and(|t| t.base.is_none()) {
                it.heap.update_tensor(*id, |t| t.writes = t.writes.saturating_add(1));
                self.writes.borrow_mut().insert(*id, span);
            }
        }
    }

    /// The place of the last write to the memory of a tensor.
    pub(crate) fn last_write(&self, it: &Interp<'_>, id: ObjId) -> Option<Span> {
        self.writes.borrow().get(&memory(it, id)).copied()
    }

    /// Whether the memory of a tensor was ever written through `.data`.
    pub(crate) fn is_uncounted(&self, it: &Interp<'_>, id: ObjId) -> bool {
        self.uncounted.borrow().contains(&memory(it, id))
    }

    /// A function in the graph of these tensors, and a tensor that the function saved and that was
    /// overwritten since. If `toward` is not empty, only the part of the graph between these
    /// tensors and `toward` is searched.
    pub(crate) fn stale(&self, it: &Interp<'_>, from: &[ObjId], toward: &[ObjId]) -> Option<(Node, ObjId)> {
        self.passed(it, from, toward).into_iter().find_map(|id| {
            let node = self.node(id).filter(|_| self.leads(id, toward))?;
            let (saved, _) = node.saved.iter().copied().find(|(saved, then)| {
                let (now, sure) = writes(it, *saved);
                // If the number of writes is not certain, for example after a loop, the tensor may
                // not have been written yet.
                sure && now > *then
            })?;
            Some((node, saved))
        })
    }

    /// The name of the function that computed a tensor.
    pub(crate) fn function(&self, id: ObjId) -> Option<&'static str> {
        self.nodes.borrow().get(&id).map(|node| node.function)
    }

    pub(crate) fn node(&self, id: ObjId) -> Option<Node> {
        self.nodes.borrow().get(&id).cloned()
    }

    /// These tensors and the tensors from which they were computed, nearest first. A tensor that
    /// `follow` rejects is left out, and its inputs are not visited.
    pub(crate) fn ancestors(&self, from: &[ObjId], mut follow: impl FnMut(ObjId) -> bool) -> Vec<ObjId> {
        let nodes = self.nodes.borrow();
        let mut seen: FxHashSet<ObjId> = FxHashSet::default();
        let mut order: Vec<ObjId> = Vec::new();
        let mut next: std::collections::VecDeque<ObjId> = from.iter().copied().collect();
        while let Some(id) = next.pop_front() {
            if order.len() > MOST || !seen.insert(id) || !follow(id) {
                continue;
            }
            order.push(id);
            if let Some(node) = nodes.get(&id) {
                next.extend(&node.inputs);
            }
        }
        order
    }

    /// Whether anything was computed from one of these tensors.
    pub(crate) fn uses(&self, any: &[ObjId]) -> bool {
        self.nodes.borrow().values().any(|node| node.inputs.iter().any(|input| any.contains(input)))
    }

    /// The tensors of the graph that `backward()` on these tensors visits.
    pub(crate) fn attached(&self, it: &Interp<'_>, from: &[ObjId]) -> Vec<ObjId> {
        self.passed(it, from, &[])
    }

    /// The tensors of the graph that a backward pass on the tensors `from` visits, if it stops at
    /// the tensors `toward`.
    fn passed(&self, it: &Interp<'_>, from: &[ObjId], toward: &[ObjId]) -> Vec<ObjId> {
        let is_attached = |id: ObjId| tensor(it, id).is_some_and(|t| t.grad == Grad::Attached);
        self.ancestors(from, |id| is_attached(id) && !toward.contains(&id))
    }

    /// Whether a tensor was computed from one of the tensors `toward`; always true if `toward` is
    /// empty.
    fn leads(&self, id: ObjId, toward: &[ObjId]) -> bool {
        let computed_from = |node: Node| self.ancestors(&node.inputs, |_| true).iter().any(|id| toward.contains(id));
        toward.is_empty() || self.node(id).is_some_and(computed_from)
    }

    /// Marks the graph as freed by a `backward()` at this place. If `toward` is not empty, the pass
    /// stops at these tensors, and only the part of the graph that leads there is marked.
    pub(crate) fn free(&self, it: &mut Interp<'_>, from: &[ObjId], toward: &[ObjId], span: Span) {
        let passed = self.passed(it, from, toward);
        let needed = passed.into_iter().filter(|id| self.saves(*id) && self.leads(*id, toward));
        // The outputs of one call share one function in the graph, for example the output and the state of an
        // LSTM.
        let outputs = needed.filter_map(|id| self.node(id)).flat_map(|node| node.results.to_vec());
        for id in outputs.collect::<Vec<_>>() {
            it.heap.update_tensor(id, |t| t.freed = Some(span));
        }
    }

    /// The nearest node in the graph of these tensors that a `backward()` has freed, and the place
    /// of that `backward()`. If `toward` is not empty, only the part of the graph between these
    /// tensors and `toward` is searched.
    pub(crate) fn freed(&self, it: &Interp<'_>, from: &[ObjId], toward: &[ObjId]) -> Option<(Node, Span)> {
        self.passed(it, from, toward).into_iter().find_map(|id| {
            let freed = tensor(it, id)?.freed?;
            self.leads(id, toward).then_some((self.node(id)?, freed))
        })
    }

    /// Whether a second backward through the function that computed a tensor fails, because the
    /// first one frees the tensors that the function saved.
    fn saves(&self, id: ObjId) -> bool {
        self.nodes.borrow().get(&id).is_some_and(|node| SAVING.contains(&node.function))
    }
}

/// The last component of a path, without `forward`: `relu` for `torch.relu`, `LSTM` for
/// `torch.nn.LSTM.forward`.
fn own_name(path: &'static str) -> &'static str {
    let path = path.strip_suffix(".forward").unwrap_or(path);
    path.rsplit_once('.').map_or(path, |(_, name)| name)
}

/// Functions that always save tensors for their backward.
#[rustfmt::skip]
const SAVING: &[&str] = &[
    "mul", "div", "true_divide", "pow", "square", "sqrt", "rsqrt", "exp", "log", "log1p", "sin",
    "cos", "sigmoid", "tanh", "relu", "leaky_relu", "elu", "gelu", "silu", "softplus", "hardtanh",
    "softmax", "log_softmax", "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss",
    "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "linear",
    "matmul", "mm", "bmm", "addmm", "einsum", "layer_norm", "batch_norm", "group_norm",
    "instance_norm", "norm", "std", "var", "logsumexp", "gather", "index_select", "embedding",
    "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool2d", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "scaled_dot_product_attention",
    "normalize", "cosine_similarity", "where", "masked_fill", "abs", "clamp", "prod", "LSTM", "GRU",
    "RNN", "LSTMCell", "GRUCell", "RNNCell", "MultiheadAttention", "TransformerEncoderLayer",
    "TransformerEncoder",
];

/// Functions whose backward needs their own result.
const NEEDS_RESULT: &[&str] =
    &["sqrt", "exp", "sigmoid", "tanh", "relu", "softmax", "log_softmax", "norm", "std", "logsumexp", "prod"];

/// Functions whose backward needs the result even if they write it into their input. Other
/// functions save a copy of the input, or need neither.
const NEEDS_RESULT_IN_PLACE: &[&str] = &[
    "sqrt",
    "exp",
    "sigmoid",
    "tanh",
    "relu",
    "elu",
    "celu",
    "selu",
    "leaky_relu",
    "relu_",
    "elu_",
    "celu_",
    "selu_",
    "leaky_relu_",
];

/// Functions whose backward needs their first argument.
#[rustfmt::skip]
const NEEDS_INPUT: &[&str] = &[
    "pow", "square", "log", "sin", "cos", "clamp", "abs", "mse_loss",
    "binary_cross_entropy_with_logits", "leaky_relu", "gelu", "silu", "softplus", "elu", "hardtanh",
    "layer_norm", "norm", "std", "var", "logsumexp", "prod", "batch_norm",
];

/// Layers with several weights, which are not among their arguments.
const RECURRENT: &[&str] = &["LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"];

/// The weights, but not the biases, of a recurrent layer.
fn weights(it: &Interp<'_>, layer: &Value) -> Vec<ObjId> {
    let Some(instance) = it.heap.instance_of(layer) else { return Vec::new() };
    let weights = instance.attrs.iter().filter(|(name, _)| name.as_str().starts_with("weight_"));
    weights.filter_map(|(_, value)| value.as_obj()).filter(|id| is_parameter(it, *id)).collect()
}

fn is_parameter(it: &Interp<'_>, id: ObjId) -> bool {
    tensor(it, id).is_some_and(|t| t.parameter)
}

/// The tensors that the backward of a function certainly needs.
fn saved(it: &Interp<'_>, function: &str, inputs: &[ObjId], result: ObjId) -> Vec<(ObjId, u32)> {
    if tensor(it, result).is_none_or(|t| t.grad != Grad::Attached) {
        return Vec::new();
    }
    let mut out: Vec<ObjId> = Vec::new();
    if NEEDS_RESULT.contains(&function) {
        out.push(result);
    }
    let requires = |id: ObjId| tensor(it, id).is_some_and(|t| matches!(t.grad, Grad::Leaf | Grad::Attached));
    match (function, inputs) {
        // The gradient of each factor is a product with the other factor.
        ("mul" | "matmul" | "mm" | "bmm", [a, b]) if a != b => {
            out.extend([(a, b), (b, a)].into_iter().filter(|(_, other)| requires(**other)).map(|(one, _)| *one));
        }
        // The gradient of the weight needs the input, and the gradient of the input needs the weight.
        ("linear" | "conv1d" | "conv2d" | "conv3d", [input, weight, ..]) => {
            out.extend(
                [(input, weight), (weight, input)].into_iter().filter(|(_, of)| requires(**of)).map(|(one, _)| *one),
            );
        }
        (_, inputs) if RECURRENT.contains(&function) => {
            let (weights, given): (Vec<ObjId>, Vec<ObjId>) = inputs.iter().partition(|id| is_parameter(it, **id));
            if given.into_iter().any(requires) {
                out.extend(weights);
            }
        }
        (_, [first, ..]) if NEEDS_INPUT.contains(&function) && requires(*first) => out.push(*first),
        _ => {}
    }
    out.into_iter().map(|id| (id, writes(it, id).0)).collect()
}

/// The tensor that owns the memory of a tensor: its base, or itself if it has none.
fn memory(it: &Interp<'_>, id: ObjId) -> ObjId {
    tensor(it, id).and_then(|t| t.base).unwrap_or(id)
}

/// The number of writes to the memory of a tensor, and whether this number is certain.
pub(super) fn writes(it: &Interp<'_>, id: ObjId) -> (u32, bool) {
    tensor(it, memory(it, id)).map_or((0, false), |t| (t.writes, !t.unsure))
}

pub(crate) fn tensor<'a>(it: &'a Interp<'_>, id: ObjId) -> Option<&'a Tensor> {
    match it.heap.get(id) {
        Data::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// The tensors in a value, including those in collections, down to this depth.
pub(crate) fn tensors(it: &Interp<'_>, value: &Value, depth: u32, out: &mut Vec<ObjId>) {
    match value {
        Value::Tuple(items) if depth > 0 => items.iter().for_each(|item| tensors(it, item, depth - 1, out)),
        Value::Obj(id) => match it.heap.get(*id) {
            Data::Tensor(_) if !out.contains(id) && out.len() < 256 => out.push(*id),
            Data::List(items) | Data::Set(items) if depth > 0 => each(it, items, depth, out),
            Data::Iter(iter) if depth > 0 => each(it, &iter.items, depth, out),
            Data::Dict(dict) if depth > 0 => {
                dict.entries.values().chain(&dict.open).for_each(|item| tensors(it, item, depth - 1, out));
            }
            _ => {}
        },
        _ => {}
    }
}

fn each(it: &Interp<'_>, items: &Items, depth: u32, out: &mut Vec<ObjId>) {
    match items {
        Items::Exact(all) => all.iter().for_each(|item| tensors(it, item, depth - 1, out)),
        Items::Many(one) => tensors(it, one, depth - 1, out),
    }
}
