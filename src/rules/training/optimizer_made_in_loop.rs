//! An optimizer that each iteration creates anew: its state lasts for one step.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, parameters};
use crate::value::{ObjId, Value};

const NAME: &str = "optimizer-made-in-loop";

/// Optimizers whose steps depend on earlier gradients.
const STATEFUL: &[&str] = &["Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop", "Adagrad", "Adadelta"];

#[derive(Default)]
pub(crate) struct OptimizerMadeInLoop {
    /// For each optimizer that a loop creates: the number of open loops, and of open undecided
    /// branches, at its creation.
    made: RefCell<FxHashMap<ObjId, (usize, u32)>>,
}

impl Rule for OptimizerMadeInLoop {
    const LATER_ROUNDS: bool = true;

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let Some(class) = path.as_str().strip_prefix("torch.optim.") else { return };
        let has_momentum = class == "SGD" && bound.get("momentum").as_f64().is_some_and(|momentum| momentum != 0.0);
        if let Some(id) = result.as_obj()
            && (has_momentum || STATEFUL.contains(&class))
            && cx.it.in_loop()
        {
            self.made.borrow_mut().insert(id, (cx.it.open_loops(), cx.it.undecided()));
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let Moment::Step { optimizer, .. } = moment else { return };
        // In an inner loop, the optimizer makes several steps. Under a condition, only some
        // iterations create an optimizer.
        if self.made.borrow().get(optimizer) != Some(&(it.open_loops(), it.undecided())) || !it.later_round() {
            return;
        }
        let Some(known) = cx.trace.optimizers.known(*optimizer).filter(|known| known.stepped.is_none()) else { return };
        let kept = parameters(it, *optimizer)
            .is_some_and(|held| !held.is_empty() && held.iter().all(|parameter| it.is_carried(*parameter)));
        if kept && !it.is_carried(*optimizer) && !known.escaped {
            let message = "each iteration creates this optimizer anew, so its running averages last for only one step";
            let labels = vec![Label { span: cx.span, message: "its only step".to_owned() }];
            cx.findings.report(NAME, Severity::Warning, message, known.made, labels);
        }
    }
}
