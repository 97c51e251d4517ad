//! `model.module(x)` in training, if `model` is a `DistributedDataParallel`.
//!
//! The rule reports a call only if a `backward()` through its result and a step of an optimizer
//! follow: in evaluation, bypassing the wrapper is correct. Nothing is reported if a call of the
//! wrapper computed a part of the loss, because this call prepares the averaging of gradients.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, tensors};
use crate::syntax::Span;
use crate::value::{ObjId, Value};

const NAME: &str = "wrapped-module-called";
const MODULE: &str = "torch.nn.Module";

#[derive(Default)]
pub(crate) struct WrappedModuleCalled {
    wrapped: RefCell<FxHashSet<ObjId>>,
    /// Names that stand for a wrapped module: `net = model.module`.
    inner: RefCell<FxHashSet<String>>,
    /// For each output of a wrapped module: the call, and whether it bypasses the wrapper.
    outputs: RefCell<FxHashMap<ObjId, (Span, bool)>>,
    /// The call that computed the loss of the last `backward()`, if it bypasses the wrapper.
    last: RefCell<Option<Span>>,
}

impl Rule for WrappedModuleCalled {
    fn assigned(&self, _: &mut Context<'_, '_>, name: &str, value: &Value) {
        if self.wrapped.borrow().is_empty() {
            return;
        }
        let is_inner = value.as_obj().is_some_and(|id| self.wrapped.borrow().contains(&id));
        let mut inner = self.inner.borrow_mut();
        if is_inner {
            inner.insert(name.to_owned())
        } else {
            inner.remove(name)
        };
    }

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let it = &*cx.it;
        let span = cx.span;
        let path = path.as_str();
        if path == "torch.nn.parallel.DistributedDataParallel" {
            self.wrapped.borrow_mut().extend(bound.get("module").as_obj());
            return;
        }
        if self.wrapped.borrow().is_empty() || !path.ends_with(".forward") {
            return;
        }
        let (model, call) = it.outermost(MODULE).unwrap_or_else(|| (bound.get("self"), span));
        if !model.as_obj().is_some_and(|id| self.wrapped.borrow().contains(&id)) {
            return;
        }
        let around = cx.source(call).is_some_and(|text| {
            let callee = text.split('(').next().unwrap_or_default();
            callee.ends_with(".module") || callee.contains(".module.") || self.inner.borrow().contains(callee.trim())
        });
        let mut results = Vec::new();
        tensors(it, result, 2, &mut results);
        self.outputs.borrow_mut().extend(results.into_iter().map(|id| (id, (call, around))));
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        match moment {
            Moment::Backward { loss, accumulates: true, .. } if !self.outputs.borrow().is_empty() => {
                let outputs = self.outputs.borrow();
                let behind = trace.graph.attached(it, loss);
                let calls: Vec<(Span, bool)> = behind.iter().filter_map(|id| outputs.get(id).copied()).collect();
                let around = calls.iter().all(|(_, around)| *around);
                *self.last.borrow_mut() = calls.first().filter(|_| around).map(|(call, _)| *call);
            }
            Moment::Step { .. } => {
                let Some(call) = self.last.take() else { return };
                let message = "this bypasses `DistributedDataParallel`: gradients are not averaged over the processes";
                let labels = vec![Label { span, message: "each process steps with its own gradients".to_owned() }];
                cx.findings.report(NAME, Severity::Warning, message, call, labels);
            }
            _ => {}
        }
    }
}
