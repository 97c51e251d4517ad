//! The best weights so far, stored as references to the tensors that further training changes.
//!
//! The tensors in `state_dict()` share the memory of the model's parameters and buffers. The rule
//! reports a state dict that the program stores under a name or attribute and later loads into the
//! same model, if an optimizer has changed its tensors in between: loading it copies each tensor to
//! itself. If another value than None is assigned to the name or attribute, the state dict is no
//! longer followed.
//!
//! The rule also reports `best_model = model` under a condition in a loop, if a later step changes the
//! model.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, is_module, parameters};
use crate::syntax::Span;
use crate::value::{Data, ObjId, Sym, Topic, Value, sym};

const NAME: &str = "weights-kept-by-reference";
/// Whether an optimizer has changed the weights under a name since the program stored them.
const MOVED: Topic = Topic::new("kept weights moved");

/// A name in the scope of a function or module, or an attribute of any object.
type Place = (Option<ObjId>, Sym);

struct Kept {
    at: Span,
    module: ObjId,
    /// The known parameters and buffers whose memory the entries of the state dict share.
    weights: Vec<ObjId>,
}

/// `best_model = model`
struct Alias {
    place: Place,
    at: Span,
    module: ObjId,
}

#[derive(Default)]
pub(crate) struct WeightsKeptByReference {
    /// The entries of state dicts, each with the module to which it belongs.
    live: RefCell<FxHashMap<ObjId, ObjId>>,
    kept: RefCell<FxHashMap<Place, Kept>>,
    aliases: RefCell<Vec<Alias>>,
}

impl Rule for WeightsKeptByReference {
    const LATER_ROUNDS: bool = true;

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let it = &*cx.it;
        if path.as_str() == "torch.nn.Module.state_dict"
            && let Some(module) = bound.get("self").as_obj()
        {
            self.live.borrow_mut().extend(entries(it, result).into_iter().map(|entry| (entry, module)));
        }
    }

    fn assigned(&self, cx: &mut Context<'_, '_>, name: &str, value: &Value) {
        let it = &mut *cx.it;
        let span = cx.span;
        let place = (it.scope(), sym(name));
        self.put(it, place, value, span);
        let mut aliases = self.aliases.borrow_mut();
        aliases.retain(|alias| alias.place != place);
        // An assignment to a name that begins with `best`, under a condition in a loop, is assumed
        // to select the best model so far.
        if name.to_lowercase().starts_with("best")
            && it.in_loop()
            && it.undecided() > 0
            && !it.speculative()
            && is_module(it, value)
            && let Some(module) = value.as_obj()
        {
            aliases.push(Alias { place, at: span, module });
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &mut *cx.it;
        match event {
            Event::SetAttribute { name, value, span, .. } => self.put(it, (None, name), value, span),
            Event::Escaped { .. } => self.aliases.borrow_mut().clear(),
            _ => {}
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &mut *cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let Moment::Step { optimizer, .. } = moment else { return };
        if self.kept.borrow().is_empty() && self.aliases.borrow().is_empty() {
            return;
        }
        let trained = parameters(it, *optimizer);
        let only = trace.optimizers.all().len() == 1;
        for (place, kept) in self.kept.borrow().iter() {
            let moves = match &trained {
                Some(all) if !kept.weights.is_empty() => all.iter().any(|p| kept.weights.contains(p)),
                _ => only,
            };
            if moves {
                it.remember(MOVED.of(*place), Value::Bool(true));
            }
        }
        let Some(trained) = trained else { return };
        for alias in self.aliases.borrow().iter().filter(|alias| owns(it, &Value::Obj(alias.module), &trained, 8)) {
            let message = "this is the same model under another name, not a copy: further training changes it";
            let labels = vec![Label { span, message: "it is changed here".to_owned() }];
            cx.findings.report(NAME, Severity::Warning, message, alias.at, labels);
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        let name = path.as_str().rsplit('.').next().unwrap_or_default();
        // A program that saves to a file, or copies an object, may have stored the current weights
        // in this way.
        if name.starts_with("save") || matches!(name, "dump" | "deepcopy") {
            self.aliases.borrow_mut().clear();
        }
        if path.as_str() != "torch.nn.Module.load_state_dict" || it.speculative() || self.kept.borrow().is_empty() {
            return;
        }
        let (Some(module), given) = (bound.get("self").as_obj(), bound.get("state_dict")) else { return };
        // If the state was stored only on some paths, its value is not known, but its name is.
        if !given.is_unknown() && self.module_of(it, &given) != Some(module) {
            return;
        }
        let Some(place) = cx.source(span).and_then(|text| named(it, &text)) else { return };
        let kept = self.kept.borrow();
        let Some(kept) = kept.get(&place).filter(|kept| kept.module == module) else { return };
        let moved = it.remembered(MOVED.of(place)).is_some_and(|moved| moved.as_bool() != Some(false));
        if moved {
            let message = "these are the model's own tensors, not a copy: further training changes them";
            let labels = vec![Label { span, message: "this loads the tensors into themselves".to_owned() }];
            cx.findings.report(NAME, Severity::Error, message, kept.at, labels);
        }
    }
}

impl WeightsKeptByReference {
    fn put(&self, it: &mut Interp<'_>, place: Place, value: &Value, at: Span) {
        if value.is_none() {
            return;
        }
        let live = self.module_of(it, value).filter(|_| !it.speculative());
        let mut kept = self.kept.borrow_mut();
        match live {
            Some(module) => {
                let memory = |id: &ObjId| it.heap.tensor_ref(&Value::Obj(*id)).and_then(|t| t.base);
                let weights = entries(it, value).iter().filter_map(memory).collect();
                kept.insert(place, Kept { at, module, weights });
                it.remember(MOVED.of(place), Value::Bool(false));
            }
            None if kept.is_empty() => {}
            None => _ = kept.remove(&place),
        }
    }

    /// The module to which all weights in a dictionary belong.
    fn module_of(&self, it: &Interp<'_>, value: &Value) -> Option<ObjId> {
        let live = self.live.borrow();
        let entries = entries(it, value);
        let module = *live.get(entries.first()?)?;
        entries.iter().all(|entry| live.get(entry) == Some(&module)).then_some(module)
    }
}

/// The tensors of a dictionary.
fn entries(it: &Interp<'_>, value: &Value) -> Vec<ObjId> {
    let Some(Data::Dict(dict)) = value.as_obj().map(|id| it.heap.get(id)) else { return Vec::new() };
    dict.entries.values().chain(&dict.open).filter_map(|v| v.as_obj().filter(|_| it.heap.is_tensor(v))).collect()
}

/// For `model.load_state_dict(best)`: the name or attribute that is loaded.
fn named(it: &Interp<'_>, call: &str) -> Option<Place> {
    let (_, argument) = call.split_once("load_state_dict(")?;
    let argument = argument.split([',', ')']).next()?.trim();
    let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    match argument.rsplit_once('.') {
        Some((object, name)) if plain(name) && object.split('.').all(plain) => Some((None, sym(name))),
        None if plain(argument) => Some((it.scope(), sym(argument))),
        _ => None,
    }
}

/// Whether a module has one of these parameters.
fn owns(it: &Interp<'_>, value: &Value, parameters: &[ObjId], depth: u32) -> bool {
    let Some(id) = value.as_obj().filter(|_| depth > 0) else { return false };
    match it.heap.get(id) {
        Data::Tensor(_) => parameters.contains(&id),
        Data::Instance(instance) => instance.attrs.values().any(|v| owns(it, v, parameters, depth - 1)),
        Data::List(items) => match items {
            crate::value::Items::Exact(all) => all.iter().any(|v| owns(it, v, parameters, depth - 1)),
            crate::value::Items::Many(one) => owns(it, one, parameters, depth - 1),
        },
        Data::Dict(dict) => dict.entries.values().chain(&dict.open).any(|v| owns(it, v, parameters, depth - 1)),
        _ => false,
    }
}
