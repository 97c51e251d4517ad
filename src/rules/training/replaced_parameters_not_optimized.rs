//! A layer that is replaced after the optimizer was created: the optimizer has the parameters of
//! the old layer, and the new one is never trained.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::rules::devices::modules_in_plain_container::trained;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, is_module, parameters};
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Value};

const NAME: &str = "replaced-parameters-not-optimized";
/// The largest depth of nested modules that is searched.
const DEPTH: u32 = 6;

struct Replaced {
    optimizer: ObjId,
    name: Sym,
    span: Span,
    new: Vec<ObjId>,
}

#[derive(Default)]
pub(crate) struct ReplacedParametersNotOptimized {
    replaced: RefCell<Vec<Replaced>>,
    /// The results of `parameters()`, each with its module.
    all_of: RefCell<FxHashMap<ObjId, ObjId>>,
    /// Optimizers that were given all parameters of a module, each with this module.
    covers: RefCell<FxHashMap<ObjId, ObjId>>,
    /// Optimizers to which `add_param_group` has added parameters.
    enlarged: RefCell<FxHashSet<ObjId>>,
}

impl Rule for ReplacedParametersNotOptimized {
    const LATER_ROUNDS: bool = true;

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let trace = cx.trace;
        let Event::SetAttribute { object, name, value, span, .. } = event else { return };
        let optimizers = trace.optimizers.all();
        // A layer that its module computes again in each `forward`, such as a moving average, is
        // assumed not to be trained by an optimizer. Neither are parameters that the program trains with
        // gradients of its own: `w - rate * grad(loss, w, create_graph=True)`.
        if it.speculative()
            || it.mentions("create_graph")
            || it.second_round()
            || optimizers.is_empty()
            || it.inside("forward")
        {
            return;
        }
        let Some(before) = it.heap.attr(object, name.as_str()) else { return };
        let (mut old, mut new) = (Vec::new(), Vec::new());
        trained(it, &before, DEPTH, &mut old);
        trained(it, value, DEPTH, &mut new);
        // If the new layer wraps the old one, or shares its parameters, the old parameters are
        // still trained.
        if old.is_empty() || new.is_empty() || new.iter().any(|p| old.contains(p)) {
            return;
        }
        let covers = self.covers.borrow();
        for optimizer in optimizers {
            let covered = covers.get(&optimizer).is_some_and(|module| {
                let mut parts = Vec::new();
                collect_modules(it, *module, DEPTH, &mut parts);
                parts.contains(&object)
            });
            // If the parameters of an optimizer are unknown, but it was given the `parameters()` of
            // a module, it has all parameters that the module had when the optimizer was created.
            let before = covered && optimizer > object && old.iter().all(|p| *p < optimizer);
            let held = match parameters(it, optimizer) {
                Some(held) => old.iter().all(|p| held.contains(p)),
                None => before,
            };
            // A layer that is older than the optimizer may be one of several layers, each with its
            // own optimizer. The attribute then refers to the current layer.
            if held && new.iter().all(|p| *p > optimizer && !it.heap.is_joined(*p)) {
                self.replaced.borrow_mut().push(Replaced { optimizer, name, span, new: new.clone() });
            }
        }
    }

    fn call(&self, _: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        if path.as_str() == "torch.optim.Optimizer.add_param_group" {
            let optimizer = bound.get("self").as_obj();
            self.replaced.borrow_mut().retain(|r| Some(r.optimizer) != optimizer);
            self.enlarged.borrow_mut().extend(optimizer);
        }
    }

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let Some(result) = result.as_obj() else { return };
        if path.as_str() == "torch.nn.Module.parameters" {
            if let Some(module) = bound.get("self").as_obj() {
                self.all_of.borrow_mut().insert(result, module);
            }
        } else if path.as_str().starts_with("torch.optim.")
            && cx.trace.optimizers.known(result).is_some()
            && let Some(module) =
                bound.get("params").as_obj().and_then(|given| self.all_of.borrow().get(&given).copied())
        {
            self.covers.borrow_mut().insert(result, module);
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let Moment::Step { optimizer, .. } = moment else { return };
        let Some(known) = trace.optimizers.known(*optimizer).filter(|known| !known.escaped) else { return };
        let all = trace.optimizers.all();
        let all: Vec<(ObjId, Option<Vec<ObjId>>)> = all.into_iter().map(|id| (id, parameters(it, id))).collect();
        for replaced in self.replaced.borrow().iter().filter(|r| r.optimizer == *optimizer) {
            let held = all.iter().any(|(optimizer, held)| match held {
                Some(held) => replaced.new.iter().any(|p| held.contains(p)),
                // Parameters that were created after an optimizer can be added to it only by unseen
                // code or by `add_param_group`.
                None => {
                    let escaped = trace.optimizers.known(*optimizer).is_none_or(|known| known.escaped);
                    let enlarged = self.enlarged.borrow().contains(optimizer);
                    escaped || enlarged || replaced.new.iter().any(|p| p < optimizer)
                }
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

/// A module, and the modules that are registered in it.
fn collect_modules(it: &Interp<'_>, module: ObjId, depth: u32, out: &mut Vec<ObjId>) {
    let Some(instance) = it.heap.instance_of(&Value::Obj(module)) else { return };
    if depth == 0 || out.len() > 1000 || out.contains(&module) {
        return;
    }
    out.push(module);
    let parts = instance.attrs.values().filter(|part| is_module(it, part)).filter_map(Value::as_obj);
    parts.collect::<Vec<_>>().into_iter().for_each(|part| collect_modules(it, part, depth - 1, out));
}
