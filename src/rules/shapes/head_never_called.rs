//! A new head that the `forward` of the model does not use: `model.fc = nn.Linear(…)` on a network
//! whose last layer has another name.

use std::cell::RefCell;

use rustc_hash::FxHashSet;

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::is_module;
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Value};

const NAME: &str = "head-never-called";
/// The names of the last layer in torchvision's classification networks; each network has one of
/// them.
const HEADS: &[&str] = &["fc", "classifier", "head", "heads"];

struct Head {
    model: ObjId,
    name: Sym,
    module: ObjId,
    /// The name of the model's own head.
    own: &'static str,
    span: Span,
}

#[derive(Default)]
pub(crate) struct HeadNeverCalled {
    heads: RefCell<Vec<Head>>,
    called: RefCell<FxHashSet<ObjId>>,
    /// Models whose `forward` or own head was replaced.
    replaced: RefCell<FxHashSet<ObjId>>,
}

impl Rule for HeadNeverCalled {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let Event::SetAttribute { object: model, name, value, span, .. } = event else { return };
        // The program replaces `forward`, or the model's own head.
        if name.as_str() == "forward" || HEADS.contains(&name.as_str()) && it.heap.attr(model, name.as_str()).is_some()
        {
            self.replaced.borrow_mut().insert(model);
        }
        // A condition may test which network the model is: `if hasattr(model, "fc")`.
        if it.undecided() > 0 || !HEADS.contains(&name.as_str()) || !is_module(it, value) {
            return;
        }
        let Some(module) = value.as_obj() else { return };
        let class = it.heap.instance_of(&Value::Obj(model)).and_then(|instance| instance.class.as_path());
        if !class.is_some_and(|path| path.starts_with("torchvision.models."))
            || it.heap.attr(model, name.as_str()).is_some()
        {
            return;
        }
        if let Some(own) = HEADS.iter().copied().find(|head| it.heap.attr(model, head).is_some()) {
            self.heads.borrow_mut().push(Head { model, name, module, own, span });
        }
    }

    fn call(&self, _: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        if !self.heads.borrow().is_empty()
            && path.as_str().ends_with(".forward")
            && let Some(module) = bound.get("self").as_obj()
        {
            self.called.borrow_mut().insert(module);
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        let it = &*cx.it;
        let (called, replaced) = (self.called.borrow(), self.replaced.borrow());
        for head in self.heads.borrow().iter() {
            let still = it.heap.attr(head.model, head.name.as_str()).and_then(|v| v.as_obj()) == Some(head.module);
            if !still
                || !called.contains(&head.model)
                || called.contains(&head.module)
                || replaced.contains(&head.model)
            {
                continue;
            }
            let message = format!(
                "`{}` is never called: the last layer of this model is `{}`, which is not replaced",
                head.name, head.own
            );
            cx.findings.report(NAME, Severity::Error, message, head.span, Vec::new());
        }
    }
}
