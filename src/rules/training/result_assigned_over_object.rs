//! `model = model.load_state_dict(…)`: the result of the method replaces the object.

use crate::diagnostic::{Applicability, Edit, Fix, Severity};
use crate::python::Event;
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;

const NAME: &str = "result-assigned-over-object";
/// Methods and their results.
const METHODS: &[(&str, &str)] = &[
    ("torch.nn.Module.load_state_dict", "the names of missing and unexpected keys"),
    ("torch.optim.Optimizer.load_state_dict", "None"),
    ("torch.optim.Optimizer.zero_grad", "None"),
    ("torch.optim.Optimizer.step", "the loss that the closure returns, or None without a closure"),
    ("torch.optim.lr_scheduler.LRScheduler.load_state_dict", "None"),
    ("torch.optim.lr_scheduler.LRScheduler.step", "None"),
    ("torch.Tensor.backward", "None"),
    ("torch.nn.ModuleList.insert", "None"),
    ("torch.nn.ModuleDict.update", "None"),
    ("torch.nn.ParameterDict.update", "None"),
];

#[derive(Default)]
pub(crate) struct ResultAssignedOverObject;

impl Rule for ResultAssignedOverObject {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, .. }: Call<'_>) {
        let Some((path, returned)) = METHODS.iter().find(|(method, _)| *method == path.as_str()) else { return };
        report(cx, path.rsplit('.').next().unwrap_or_default(), returned);
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        if let Event::Overwritten { method, .. } = event {
            report(cx, method, "None");
        }
    }
}

/// Reports the call at the place of the event if its result is assigned to the name of its object.
fn report(cx: &mut Context<'_, '_>, method: &str, returned: &str) {
    let span = cx.span;
    let Some((receiver, target)) = assigned_over(cx, method, span) else { return };
    if is_forgotten(cx, &receiver, span) {
        return;
    }
    let message = format!("`{receiver}` is overwritten with the result of `{method}`: {returned}");
    if let Some(finding) = cx.findings.report(NAME, Severity::Error, message, span, Vec::new()) {
        finding.fix = Some(Fix {
            title: format!("Keep `{receiver}`"),
            applicability: Applicability::Safe,
            edits: vec![Edit { span: target, content: String::new() }],
        });
    }
}

/// The receiver of `receiver.method(…)`, and the place of `receiver = ` before it.
fn assigned_over(cx: &Context<'_, '_>, method: &str, call: Span) -> Option<(String, Span)> {
    let text = cx.source(call)?;
    let receiver = text.split_once(&format!(".{method}("))?.0;
    let opening = format!("{receiver} = ");
    let start = call.start.checked_sub(u32::try_from(opening.len()).ok()?)?;
    let target = Span { start, end: call.start, ..call };
    let first = match start.checked_sub(1) {
        Some(before) => {
            cx.source(Span { start: before, end: start, ..call })?.chars().all(|c| c.is_whitespace() || c == ';')
        }
        None => true,
    };
    (first && cx.source(target)? == opening).then(|| (receiver.to_owned(), target))
}

/// Whether `name` is a local variable that the current function does not use after this place.
fn is_forgotten(cx: &Context<'_, '_>, name: &str, call: Span) -> bool {
    let in_name = |c: char| c == '_' || c.is_alphanumeric();
    let Some(function) = cx.it.function().filter(|function| function.contains(call)) else { return false };
    // In a loop, the next iteration may use the variable again.
    if !name.chars().all(in_name) || cx.it.in_own_loop() {
        return false;
    }
    let code = |start, end| {
        let text = cx.source(Span { start, end, ..call })?;
        Some(text.lines().map(|line| line.split('#').next().unwrap_or_default()).collect::<Vec<_>>().join("\n"))
    };
    let (Some(before), Some(after)) = (code(function.start, call.start), code(call.end, function.end)) else {
        return false;
    };
    // A nested function may use the variable whenever it is called, and after `global` or `nonlocal`
    // the variable is not local.
    let mut words = before.split(|c| !in_name(c));
    let own = words.clone().filter(|word| *word == "def").count() <= 1
        && !words.any(|word| matches!(word, "lambda" | "class" | "global" | "nonlocal"));
    own && !after.split(|c| !in_name(c)).any(|word| word == name)
}
