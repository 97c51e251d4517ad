//! A layer that a container holds several times: `nn.ModuleList([layer] * 4)`.
//!
//! Repeating a module without parameters is harmless: `nn.Sequential(a, relu, b, relu)`.

use std::cell::RefCell;

use crate::diagnostic::Severity;
use crate::python::Interp;
use crate::rules::devices::modules_in_plain_container::trained;
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Data, Items, ObjId, Value};

const NAME: &str = "repeated-module";

/// The depth of nested modules that is searched for parameters.
const DEPTH: u32 = 6;

/// Texts of programs that share weights on purpose.
const DELIBERATE: &[&str] = &["shared", "sharing", "share_", "Shared", "tied", "tie_"];

#[derive(Default)]
pub(crate) struct RepeatedModule {
    /// The members of the last container that was reported: `nn.Sequential(*container)` has the same.
    reported: RefCell<Vec<ObjId>>,
}

impl Rule for RepeatedModule {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let members: Vec<ObjId> = match path.as_str() {
            "torch.nn.Sequential" => bound.rest.iter().filter_map(|arg| arg.value.as_obj()).collect(),
            "torch.nn.ModuleList" => match bound.arg("modules") {
                Some(list) => members(cx, &list.value, list.span),
                None => return,
            },
            _ => return,
        };
        // An object that a join created stands for different modules: those that a loop makes.
        let repeated = members
            .iter()
            .enumerate()
            .filter(|(_, id)| !it.heap.is_joined(**id))
            .find(|(at, id)| members.get(..*at).is_some_and(|before| before.contains(id)) && learns(it, **id));
        let Some((_, id)) = repeated else { return };
        if DELIBERATE.iter().any(|text| it.mentions(text)) || *self.reported.borrow() == members {
            return;
        }
        let class = class_name(it, *id);
        let message = format!("this holds the same `{class}` several times: all of them share one set of weights");
        self.reported.replace(members);
        cx.findings.report(NAME, Severity::Warning, message, cx.span, Vec::new());
    }
}

/// The members of a list. If their number is not known, but all of them are one object, it is
/// listed twice.
fn members(cx: &Context<'_, '_>, list: &Value, span: Span) -> Vec<ObjId> {
    let Some(Data::List(items)) = list.as_obj().map(|id| cx.it.heap.get(id)) else { return Vec::new() };
    match items {
        Items::Exact(items) => items.iter().filter_map(Value::as_obj).collect(),
        Items::Many(one) => {
            let is_one = cx.source(span).is_some_and(|text| repeats_one(&text));
            one.as_obj().filter(|_| is_one).map_or(Vec::new(), |id| vec![id, id])
        }
    }
}

/// Whether an expression repeats one value: `[layer] * n`, `n * [make()]`,
/// `[layer for _ in range(n)]`.
fn repeats_one(text: &str) -> bool {
    let Some((before, inside)) = text.split_once('[') else { return false };
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    if let Some((element, rest)) = inside.split_once(" for ") {
        let targets = rest.split(" in ").next().unwrap_or_default();
        let root = element.split('.').next().unwrap_or_default();
        return before.trim().is_empty() && is_name(element) && targets.split(',').all(|target| target.trim() != root);
    }
    let text = text.trim();
    before.trim().ends_with('*') && text.ends_with(']')
        || text.starts_with('[') && text.rsplit_once(']').is_some_and(|(_, after)| after.trim().starts_with('*'))
}

fn learns(it: &Interp<'_>, id: ObjId) -> bool {
    let mut parameters = Vec::new();
    trained(it, &Value::Obj(id), DEPTH, &mut parameters);
    !parameters.is_empty()
}

fn class_name(it: &Interp<'_>, id: ObjId) -> String {
    match it.heap.instance_of(&Value::Obj(id)).map(|instance| &instance.class) {
        Some(Value::Path(path)) => path.as_str().rsplit('.').next().unwrap_or_default().to_owned(),
        Some(Value::Obj(class)) => match it.heap.get(*class) {
            Data::Class(class) => class.name.as_str().to_owned(),
            _ => "module".to_owned(),
        },
        _ => "module".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::repeats_one;

    #[test]
    fn expressions_that_repeat_one_value() {
        for text in ["[layer] * n", "n * [self.block]", "[nn.Linear(a[0], 2)] * n", "[layer for _ in range(n)]"] {
            assert!(repeats_one(text), "{text}");
        }
        for text in
            ["[layer for layer in layers]", "[make() for _ in range(n)]", "[a, b]", "[i.b for i in x]", "[layer]"]
        {
            assert!(!repeats_one(text), "{text}");
        }
    }
}
