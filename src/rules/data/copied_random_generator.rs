//! A random generator that is stored in a dataset or one of its transforms, and is therefore copied
//! to all workers of a loader.
//!
//! The rule reports a generator that the main process has stored in an attribute, if a worker draws
//! from it and the loader has no `worker_init_fn`. A generator that a worker itself stores in the
//! attribute, or seeds, is not reported.

use std::cell::RefCell;

use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::rules::notes::{COPIED, holds};
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Value};

const NAME: &str = "copied-random-generator";
const GENERATORS: &[&str] = &["numpy.random.Generator", "numpy.random.RandomState", "random.Random", "torch.Generator"];
/// Methods that draw nothing, or that make the copies differ.
const SEEDS: &[&str] = &["seed", "manual_seed", "initial_seed", "get_state", "set_state", "bit_generator", "spawn"];

struct Attribute {
    name: Sym,
    generator: ObjId,
    span: Span,
}

#[derive(Default)]
pub(crate) struct CopiedRandomGenerator {
    attributes: RefCell<Vec<Attribute>>,
}

impl Rule for CopiedRandomGenerator {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let Event::SetAttribute { name, value, span, .. } = event else { return };
        let Some(generator) = value.as_obj().filter(|_| is_generator(it, value)) else { return };
        let mut attributes = self.attributes.borrow_mut();
        if in_worker(it) {
            attributes.retain(|a| a.generator != generator);
        } else {
            attributes.push(Attribute { name, generator, span });
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        if self.attributes.borrow().is_empty() {
            return;
        }
        let path = path.as_str();
        let (class, method) = path.rsplit_once('.').unwrap_or_default();
        let drawn = if GENERATORS.contains(&class) { bound.get("self") } else { bound.get("generator") };
        let Some(generator) = drawn.as_obj() else { return };
        let mut attributes = self.attributes.borrow_mut();
        if SEEDS.contains(&method) {
            attributes.retain(|a| a.generator != generator || !in_worker(it));
            return;
        }
        let Some(attribute) = attributes.iter().find(|a| a.generator == generator && in_worker(it)) else { return };
        let message = format!(
            "each worker of the loader starts with a copy of `{}`: all workers draw the same numbers, and draw them \
             again in every epoch unless the workers are persistent",
            attribute.name
        );
        let labels = vec![Label { span, message: "a worker draws numbers here".to_owned() }];
        cx.findings.report(NAME, Severity::Warning, message, attribute.span, labels);
    }
}

fn is_generator(it: &Interp<'_>, value: &Value) -> bool {
    GENERATORS.iter().any(|class| it.is_instance(value, class))
}

fn in_worker(it: &Interp<'_>) -> bool {
    holds(it, COPIED)
}
