//! `x.to(device)` as a statement: it does not move the tensor, and the returned copy is not used.
//!
//! For a module, and for a batch of a tokenizer, the same statement is correct. So the rule reports
//! a call only if the value is known to be a tensor. A call that certainly returns the same tensor
//! is not reported.

use std::cell::RefCell;

use crate::diagnostic::{Applicability, Edit, Fix, Label, Severity};
use crate::python::{Event, Interp};
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Data, Tensor, Value};

const NAME: &str = "discarded-to";

/// The methods that return another tensor, or the same tensor if nothing changes.
const METHODS: &[&str] = &[
    "to", "cuda", "cpu", "float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool", "type",
    "type_as",
];

/// The last call of one of [`METHODS`] on a tensor: its place, the method and the tensor.
#[derive(Default)]
pub(crate) struct DiscardedTo {
    last: RefCell<Option<(Span, &'static str, Value)>>,
}

impl Rule for DiscardedTo {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        let Some(method) = path.as_str().strip_prefix("torch.Tensor.") else { return };
        let receiver = bound.get("input");
        if METHODS.contains(&method) && it.heap.is_tensor(&receiver) {
            *self.last.borrow_mut() = Some((span, method, receiver));
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let Event::Discarded { call, value } = event else { return };
        let Some((span, method, receiver)) = self.last.borrow().clone() else { return };
        let (Some(before), Some(after)) = (tensor(it, &receiver), tensor(it, value)) else { return };
        if span != call || value.as_obj() == receiver.as_obj() || it.expects_failure() {
            return;
        }
        // If the receiver is not a name, attribute or element, the call may be there for another
        // reason: `torch.zeros(1).cuda()` initialises CUDA.
        let Some(name) = cx.source(call).and_then(|text| receiver_of(&text, method)) else { return };
        let device = before.device.zip(after.device).and_then(|(a, b)| match a == b {
            true => Some(false),
            false => a.same(b).map(|same| !same),
        });
        let dtype = before.dtype.zip(after.dtype).map(|(a, b)| a != b);
        let severity = match (device, dtype) {
            (Some(true), _) | (_, Some(true)) => Severity::Error,
            (Some(false), Some(false)) => return,
            // A parameter is usually created on the target device, or moved there with its module.
            (None, _) if before.parameter => return,
            // A notebook shows the result.
            _ if it.is_notebook() => return,
            _ => Severity::Warning,
        };
        let message = format!("the result of `{method}` is not used: `{name}` does not change");
        let mut labels = Vec::new();
        if let (Some(true), Some(span), Some(on)) = (device, before.device_at, before.device) {
            labels.push(Label { span, message: format!("`{name}` is placed on {on} here") });
        }
        let finding = cx.findings.report(NAME, severity, message, call, labels);
        // There is no fix for a parameter: its module rejects the assignment of a plain tensor to
        // the parameter's name.
        if !before.parameter
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
            && let Some(finding) = finding
        {
            finding.fix = Some(Fix {
                title: format!("Assign the result to `{name}`"),
                applicability: Applicability::Unsafe,
                edits: vec![Edit { span: Span { end: call.start, ..call }, content: format!("{name} = ") }],
            });
        }
    }
}

fn tensor(it: &Interp<'_>, value: &Value) -> Option<Tensor> {
    match it.heap.get(value.as_obj()?) {
        Data::Tensor(tensor) => Some(tensor.clone()),
        _ => None,
    }
}

/// `batch["x"]` in `batch["x"].to(device)`: an expression to which the result can be assigned.
fn receiver_of(call: &str, method: &str) -> Option<String> {
    let end = call.find(&format!(".{method}("))?;
    let receiver = call.get(..end)?;
    let place =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '"' | '\'' | ':' | ',' | ' ' | '-');
    (receiver.chars().all(place) && !receiver.is_empty()).then(|| receiver.to_owned())
}
