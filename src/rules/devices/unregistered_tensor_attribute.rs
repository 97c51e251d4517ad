//! A tensor in a plain attribute of a module, which `.to()` does not move.
//!
//! The rule reports the rejected call that combines this tensor with a CUDA tensor. It does not
//! report the attribute itself, which may never be used, or may be moved before its use.

use std::cell::RefCell;

use crate::diagnostic::{Applicability, Edit, Fix, Label, Severity};
use crate::python::{Event, RejectKind, Rejection};
use crate::rules::notes::BUFFER;
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Data, Device, Heap, ObjId, Sym, Value};

const NAME: &str = "unregistered-tensor-attribute";
const MODULE: &str = "torch.nn.Module";

struct Attribute {
    object: ObjId,
    name: Sym,
    /// The tensor, or the tensor whose memory it shares.
    memory: ObjId,
    span: Span,
    /// The expression that was assigned.
    from: Option<Span>,
}

#[derive(Default)]
pub(crate) struct UnregisteredTensorAttribute {
    attributes: RefCell<Vec<Attribute>>,
    /// The place of the last call, and the tensors among its arguments.
    last: RefCell<Option<(Span, Vec<ObjId>)>>,
}

impl Rule for UnregisteredTensorAttribute {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let Event::SetAttribute { object, name, value, span, from } = event else { return };
        let Some(memory) = value.as_obj().and_then(|id| memory_of(&it.heap, id)) else { return };
        if it.is_instance(&Value::Obj(object), MODULE) {
            self.attributes.borrow_mut().push(Attribute { object, name, memory, span, from });
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { bound, .. }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        if self.attributes.borrow().is_empty() {
            return;
        }
        let values = bound.values.iter().flatten().chain(&bound.rest).map(|arg| arg.value.clone());
        let lists = values.flat_map(|value| match it.heap.exact_items(&value) {
            Some(items) => items,
            None => vec![value],
        });
        let tensors = lists.filter(|v| it.heap.is_tensor(v)).filter_map(|v| v.as_obj()).collect();
        *self.last.borrow_mut() = Some((span, tensors));
    }

    fn rejected(&self, cx: &mut Context<'_, '_>, rejection: &Rejection) -> bool {
        let it = &*cx.it;
        if rejection.kind != RejectKind::Device {
            return false;
        }
        let last = self.last.borrow();
        let Some((span, tensors)) = last.as_ref() else { return false };
        if *span != rejection.span {
            return false;
        }
        let device = |id: ObjId| match it.heap.get(id) {
            Data::Tensor(tensor) => tensor.device,
            _ => None,
        };
        if !tensors.iter().any(|id| device(*id).is_some_and(|device| device.on_gpu().is_cuda())) {
            return false;
        }
        let attributes = self.attributes.borrow();
        let held = tensors.iter().filter(|id| device(**id).is_some_and(Device::is_cpu)).find_map(|id| {
            let memory = memory_of(&it.heap, *id)?;
            attributes.iter().rev().find(|a| a.memory == memory && is_plain(&it.heap, a))
        });
        let Some(attribute) = held else { return false };
        // If the module itself is on the CPU, the other tensor is on the wrong device.
        if rejection.assumed.is_none() && has_parameter_on_cpu(&it.heap, attribute.object, 6) {
            return false;
        }
        let name = attribute.name;
        let (severity, moved) = match rejection.assumed {
            None => (Severity::Error, "it is on the CPU, but the tensor with which it is used is not"),
            Some(_) => (Severity::Warning, "if the module is moved to a GPU, this tensor stays on the CPU"),
        };
        let message = format!("`{name}` is a plain attribute of its module: {moved}");
        let mut labels = vec![Label { span: attribute.span, message: format!("`{name}` is set here") }];
        labels.extend(rejection.reads.iter().filter_map(|(label, at)| {
            Some(Label { span: at.filter(|at| *at != rejection.span)?, message: label.clone() })
        }));
        let fix = registered(cx, attribute);
        if let Some(finding) = cx.findings.report(NAME, severity, message, rejection.span, labels) {
            finding.fix = fix;
        }
        true
    }
}

/// The fix: `self.register_buffer("name", …)` instead of the assignment. The buffer is not
/// persistent, so that older checkpoints still load.
fn registered(cx: &Context<'_, '_>, attribute: &Attribute) -> Option<Fix> {
    let (target, from) = (attribute.span, attribute.from?);
    // The fix removes the text between target and value, so this text must be only `=`, without
    // comments or brackets.
    let between = Span { start: target.end, end: from.start, ..target };
    let place = cx.source(target)?;
    let object = place.strip_suffix(attribute.name.as_str())?.strip_suffix('.')?;
    if cx.source(between)?.trim() != "=" {
        return None;
    }
    let opening = format!("{object}.register_buffer(\"{}\", ", attribute.name);
    Some(Fix {
        title: format!("Register `{}` as a buffer", attribute.name),
        applicability: Applicability::Safe,
        edits: vec![
            Edit { span: Span { end: from.start, ..target }, content: opening },
            Edit { span: Span { start: from.end, ..from }, content: ", persistent=False)".to_owned() },
        ],
    })
}

/// Whether a parameter or buffer of a module or of its submodules is on the CPU.
fn has_parameter_on_cpu(heap: &Heap, module: ObjId, depth: u32) -> bool {
    let Data::Instance(instance) = heap.get(module) else { return false };
    instance.attrs.iter().any(|(name, value)| match value.as_obj().map(|id| (id, heap.get(id))) {
        Some((_, Data::Tensor(tensor))) => {
            let registered = tensor.parameter || heap.note(module, BUFFER.of(*name)).is_some();
            registered && tensor.device.is_some_and(Device::is_cpu)
        }
        Some((id, Data::Instance(_))) => depth > 0 && has_parameter_on_cpu(heap, id, depth - 1),
        _ => false,
    })
}

/// The tensor that owns the memory of an object, if the object is a tensor.
fn memory_of(heap: &Heap, id: ObjId) -> Option<ObjId> {
    match heap.get(id) {
        Data::Tensor(tensor) => Some(tensor.base.unwrap_or(id)),
        _ => None,
    }
}

/// Whether the attribute is neither a parameter nor a buffer.
fn is_plain(heap: &Heap, attribute: &Attribute) -> bool {
    let Some(Value::Obj(id)) = heap.attr(attribute.object, attribute.name.as_str()) else { return false };
    let parameter = matches!(heap.get(id), Data::Tensor(tensor) if tensor.parameter);
    !parameter && heap.note(attribute.object, BUFFER.of(attribute.name)).is_none()
}
