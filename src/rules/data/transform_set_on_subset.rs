//! `subset.transform = t`, where `subset` comes from `random_split`: a `Subset` reads no such
//! attribute. And `train.dataset.transform = a` followed by `val.dataset.transform = b`, where both
//! subsets belong to one dataset: the second assignment also changes the first subset.

use std::cell::RefCell;

use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::rules::rule::{Context, Rule};
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Value};

const NAME: &str = "transform-set-on-subset";
const SUBSET: &str = "torch.utils.data.Subset";
const TRANSFORMS: &[&str] = &["transform", "transforms", "target_transform"];

/// An assignment to the transform of a dataset, through a subset.
struct Set {
    dataset: ObjId,
    name: Sym,
    /// The expression of the subset: `train` in `train.dataset.transform`.
    subset: String,
    span: Span,
}

/// Whether a dataset with more than one subset gets another transform in place of one that it has.
fn replaces(it: &Interp<'_>, dataset: ObjId, name: Sym, new: &Value) -> bool {
    let old = it.heap.attr(dataset, name.as_str());
    let has_one = |value: &Value| value.as_obj().is_some();
    let is_part = |id: &ObjId| {
        let object = it.heap.instance_of(&Value::Obj(*id)).filter(|object| object.class.as_path() == Some(SUBSET));
        object.is_some() && it.heap.attr(*id, "dataset").and_then(|of| of.as_obj()) == Some(dataset)
    };
    has_one(new)
        && old.is_some_and(|old| has_one(&old) && old.as_obj() != new.as_obj())
        && it.heap.ids().filter(is_part).count() > 1
}

#[derive(Default)]
pub(crate) struct TransformSetOnSubset {
    /// The assignments since the last pass over any data.
    set: RefCell<Vec<Set>>,
}

impl Rule for TransformSetOnSubset {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let (object, name, value, span) = match event {
            Event::SetAttribute { object, name, value, span, .. } if TRANSFORMS.contains(&name.as_str()) => {
                (object, name, value, span)
            }
            Event::Iterated { .. } => {
                self.set.borrow_mut().clear();
                return;
            }
            _ => return,
        };
        let class = cx.it.heap.instance_of(&Value::Obj(object)).and_then(|instance| instance.class.as_path());
        if class == Some(SUBSET) {
            let message = format!("a `Subset` never uses `{name}`: its samples come from `subset.dataset`");
            cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
            return;
        }
        let suffix = format!(".dataset.{name}");
        let Some(subset) = cx.source(span).and_then(|text| Some(text.strip_suffix(&suffix)?.to_owned())) else {
            return;
        };
        let mut set = self.set.borrow_mut();
        let before = set.iter().find(|set| set.dataset == object && set.name == name && set.subset != subset);
        if let Some(before) = before {
            let message = format!(
                "`{subset}` and `{}` have the same dataset, so this also replaces the `{name}` of `{}`",
                before.subset, before.subset
            );
            let label = Label { span: before.span, message: "this has no effect any more".to_owned() };
            cx.findings.report(NAME, Severity::Warning, message, span, vec![label]);
        } else if set.is_empty() && cx.it.open_loops() == 0 && replaces(cx.it, object, name, value) {
            let message = format!(
                "all subsets of this dataset share its `{name}`, so this also replaces the `{name}` of the other ones"
            );
            cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
        }
        set.push(Set { dataset: object, name, subset, span });
    }
}
