//! The state of an optimizer, loaded before the model is moved to the GPU.
//!
//! `load_state_dict` copies the state to the device that the parameters have at that time, and
//! moving the model does not move the state. The rule reports only optimizers whose steps always
//! create a state, whatever the arguments of the optimizer. It reports nothing if the loaded value
//! is known, because that value may be an empty state. It also reports nothing if the program uses
//! `optimizer.state`, because the program may then move the state itself.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::rules::notes::PARAMETERS;
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Data, Device, ObjId, Value};

const NAME: &str = "optimizer-state-left-behind";
const LOAD: &str = "torch.optim.Optimizer.load_state_dict";
const STEP: &str = "torch.optim.Optimizer.step";
/// Optimizers whose steps always create a state, whatever their arguments.
const WITH_STATE: &[&str] = &["Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop"];

#[derive(Default)]
pub(crate) struct OptimizerStateLeftBehind {
    /// Optimizers whose state was loaded while their parameters were on the CPU, and the place of
    /// the load.
    loaded: RefCell<FxHashMap<ObjId, Span>>,
}

impl Rule for OptimizerStateLeftBehind {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        let optimizer = match path.as_str() {
            LOAD | STEP => bound.get("self"),
            _ => return,
        };
        let Some(id) = optimizer.as_obj() else { return };
        let device = device_of(it, &optimizer);
        if path.as_str() == LOAD {
            let mut loaded = self.loaded.borrow_mut();
            let checkpoint = bound.get("state_dict").is_unknown();
            if checkpoint && keeps_state(it, &optimizer) && device.is_some_and(Device::is_cpu) {
                loaded.insert(id, span);
            } else {
                loaded.remove(&id);
            }
            return;
        }
        let Some(at) = self.loaded.borrow().get(&id).copied() else { return };
        let Some(on) = device.filter(|d| d.is_cuda()) else { return };
        let message = format!(
            "the optimizer state is loaded to the CPU; the parameters move to {on} later, but the state does \
                not"
        );
        let labels = vec![Label { span, message: format!("the step needs the state on {on}") }];
        cx.findings.report(NAME, Severity::Warning, message, at, labels);
    }

    /// Programs can move the state themselves: `for state in optimizer.state.values(): …`
    fn event(&self, _: &mut Context<'_, '_>, event: Event<'_>) {
        if let Event::ReadAttribute { object: Some(object), name } = event
            && name.as_str() == "state"
        {
            self.loaded.borrow_mut().remove(&object);
        }
    }
}

fn keeps_state(it: &Interp<'_>, optimizer: &Value) -> bool {
    WITH_STATE.iter().any(|name| it.is_instance(optimizer, &format!("torch.optim.{name}")))
}

/// The device of the parameters of an optimizer, if all are on the same known device.
fn device_of(it: &Interp<'_>, optimizer: &Value) -> Option<Device> {
    let parameters = it.heap.note(optimizer.as_obj()?, PARAMETERS)?;
    let parameters = it.heap.exact_items(&parameters)?;
    let mut devices = parameters.iter().map(|parameter| match it.heap.get(parameter.as_obj()?) {
        Data::Tensor(tensor) => tensor.device,
        _ => None,
    });
    let first = devices.next()??;
    devices.all(|device| device.and_then(|d| d.same(first)) == Some(true)).then_some(first)
}
