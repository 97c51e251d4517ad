//! A checkpoint with an object that `torch.load` rejects: since PyTorch 2.6, it accepts by default
//! only tensors and plain values.
//!
//! The rule reports a checkpoint that the same program saved under the same path, and that contains
//! a NumPy array or an object that is pickled by class. Programs that allow classes for loading,
//! and calls of `torch.load` with `weights_only` or `pickle_module`, are not reported.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::rules::rule::{Call, Context, Rule, witness};
use crate::syntax::Span;
use crate::value::{ArrayKind, Data, Items, Value};

const NAME: &str = "object-in-checkpoint";

/// Creates a file with more than tensors and plain values.
const SETUP: &str = "\
import argparse, io
file = io.BytesIO()
torch.save({'args': argparse.Namespace(lr=0.1)}, file)
file.seek(0)";

/// Classes of PyTorch whose instances are not weights.
const PICKLED: &[&str] = &["torch.nn.Module", "torch.optim.Optimizer", "torch.optim.lr_scheduler.LRScheduler"];

#[derive(Default)]
pub(crate) struct ObjectInCheckpoint {
    /// For each file path, the part of the saved object that `torch.load` rejects, and the place of
    /// the `torch.save`. `None` if an object saved there is not certainly rejected.
    saved: RefCell<BTreeMap<String, Option<(String, Span)>>>,
    loaded: RefCell<BTreeMap<Span, String>>,
    /// The program allows classes for loading.
    allowed: Cell<bool>,
}

impl Rule for ObjectInCheckpoint {
    const LATER_ROUNDS: bool = true;

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        match path.as_str() {
            "torch.save" => {
                let Some(file) = bound.get("f").as_str().map(str::to_owned) else { return };
                let refused = refused(it, &bound.get("obj"), 5).map(|what| (what, span));
                let mut saved = self.saved.borrow_mut();
                let certain = !it.speculative() && refused.is_some() && saved.get(&file).is_none_or(Option::is_some);
                saved.insert(file, refused.filter(|_| certain));
            }
            "torch.load" if !it.speculative() && !it.expects_failure() => {
                let own = bound.extra.iter().any(|(name, _)| name.as_str() == "weights_only");
                if let (Some(file), false) =
                    (bound.get("f").as_str(), own || bound.open || bound.given("pickle_module"))
                {
                    self.loaded.borrow_mut().insert(span, file.to_owned());
                }
            }
            "torch.serialization.add_safe_globals" | "torch.serialization.safe_globals" => self.allowed.set(true),
            _ => {}
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        if self.allowed.get() || cx.it.excludes("torch", "2.6") {
            return;
        }
        let saved = self.saved.borrow();
        for (span, file) in self.loaded.borrow().iter() {
            let Some(Some((what, place))) = saved.get(file) else { continue };
            let message = format!("the file contains {what}, which `torch.load` rejects by default since PyTorch 2.6");
            let labels = vec![Label { span: *place, message: "it is saved here".to_owned() }];
            let finding = cx.findings.report(NAME, Severity::Error, message, *span, labels);
            witness(finding, SETUP, "torch.load(file)");
        }
    }
}

/// Describes the part of a value that `torch.load` rejects by default.
fn refused(it: &Interp<'_>, value: &Value, depth: u32) -> Option<String> {
    if depth == 0 {
        return None;
    }
    if let Value::Tuple(items) = value {
        return items.iter().find_map(|item| refused(it, item, depth - 1));
    }
    match it.heap.get(value.as_obj()?) {
        Data::Tensor(tensor) => (tensor.array == ArrayKind::Numpy).then(|| "a NumPy array".to_owned()),
        Data::List(Items::Exact(items)) => items.iter().find_map(|item| refused(it, item, depth - 1)),
        Data::Dict(dict) => dict.entries.values().find_map(|item| refused(it, item, depth - 1)),
        Data::Instance(instance) => match &instance.class {
            Value::Path(class) if class.as_str() == "argparse.Namespace" => Some("an `argparse.Namespace`".to_owned()),
            Value::Path(class) if PICKLED.iter().any(|base| it.is_instance(value, base)) => {
                let name = class.as_str().rsplit('.').next().unwrap_or_default();
                Some(format!("an instance of `{name}`"))
            }
            Value::Obj(class) => match it.heap.get(*class) {
                Data::Class(class) => Some(format!("an instance of `{}`", class.name)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
