//! A layer that is replaced after the optimizer was created: the optimizer has the parameters of
//! the old layer, and the new one is never trained.

use std::cell::RefCell;

use crate::diagnostic::{Label, Severity};
use crate::python::Event;
use crate::rules::devices::modules_in_plain_container::trained;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, parameters};
use crate::syntax::Span;
use crate::value::{ObjId, Sym};

const NAME: &str = "replaced-parameters-not-optimized";
/// How deep to look into modules for their parameters.
const DEPTH: u32 = 6;

struct Replaced {
    optimizer: ObjId,
    name: Sym,
    span: Span,
    new: Vec<ObjId>,
}

#[derive(Default)]
pub struct ReplacedParametersNotOptimized {
    replaced: RefCell<Vec<Replaced>>,
}

impl Rule for ReplacedParametersNotOptimized {
    const LATER_ROUNDS: bool = true;

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let trace = cx.trace;
        let Event::SetAttribute { object, name, value, span, .. } = event else { return };
        let optimizers = trace.optimizers.all();
        if it.speculative() || it.second_round() || optimizers.is_empty() {
            return;
        }
        let Some(before) = it.heap.attr(object, name.as_str()) else { return };
        let (mut old, mut new) = (Vec::new(), Vec::new());
        trained(it, &before, DEPTH, &mut old);
        trained(it, value, DEPTH, &mut new);
        // A layer that wraps or shares the old one still trains it.
        if old.is_empty() || new.is_empty() || new.iter().any(|p| old.contains(p)) {
            return;
        }
        for optimizer in optimizers {
            if parameters(it, optimizer).is_some_and(|held| old.iter().all(|p| held.contains(p))) {
                self.replaced.borrow_mut().push(Replaced { optimizer, name, span, new: new.clone() });
            }
        }
    }

    fn call(&self, _: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        if path.as_str() == "torch.optim.Optimizer.add_param_group" {
            let optimizer = bound.get("self").as_obj();
            self.replaced.borrow_mut().retain(|r| Some(r.optimizer) != optimizer);
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let Moment::Step { optimizer, .. } = moment else { return };
        let Some(known) = trace.optimizers.known(*optimizer).filter(|known| !known.escaped) else { return };
        let all: Vec<Option<Vec<ObjId>>> = trace.optimizers.all().iter().map(|id| parameters(it, *id)).collect();
        for replaced in self.replaced.borrow().iter().filter(|r| r.optimizer == *optimizer) {
            let held = all.iter().any(|held| match held {
                Some(held) => replaced.new.iter().any(|p| held.contains(p)),
                None => true,
            });
            if held {
                continue;
            }
            let message = format!("the new `{}` is never trained: the optimizer has the old one", replaced.name);
            let labels = vec![
                Label { span: known.made, message: "the optimizer is created here".to_owned() },
                Label { span, message: "this steps without the new parameters".to_owned() },
            ];
            cx.findings.report(NAME, Severity::Error, message, replaced.span, labels);
        }
    }
}
