//! A layer that no code reads, in a model that `DistributedDataParallel` wraps.

use rustc_hash::FxHashSet;

use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Data, Items, ObjId, Sym, Value, sym};

const NAME: &str = "layer-unused-under-ddp";

/// Texts of code that may call layers without their names, or that excludes parameters from the training.
const BY_OTHER_WAYS: &[&str] = &[
    "getattr(",
    "children()",
    "modules()",
    "_modules",
    "__dict__",
    "vars(",
    "requires_grad",
    "state_dict()[",
    "_set_static_graph",
    "named_parameters()",
];

/// What may follow a name that is read: `self.norm(x)`, `if self.norm:`.
const AFTER: &[&str] = &[
    "(", "[", ".", ",", ")", "]", ":", "}", "\n", "\r", ";", " is", " and", " or", " else", " if", " for", " in",
    " not", " #",
];

/// The deepest nesting of modules that is searched.
const DEEPEST: u32 = 12;

#[derive(Default)]
pub(crate) struct LayerUnusedUnderDdp;

impl Rule for LayerUnusedUnderDdp {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        if path.as_str() != "torch.nn.parallel.DistributedDataParallel" || cx.it.speculative() {
            return;
        }
        let is_off = |name: &str| bound.get(name).as_bool() == Some(false);
        let may_go_unused = bound.open || !is_off("find_unused_parameters") || !is_off("static_graph");
        if may_go_unused || BY_OTHER_WAYS.iter().any(|text| cx.it.mentions(text)) {
            return;
        }
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        search(cx.it, &bound.get("module"), DEEPEST, &mut seen, &mut found);
        for Unused { class, name, made } in found {
            let message = format!(
                "no code uses `{name}` of `{class}`: its parameters get no gradients, and with \
                 `DistributedDataParallel`, the second iteration raises"
            );
            let span = made.unwrap_or(cx.span);
            let label = Label { span: cx.span, message: "the model is wrapped here".to_owned() };
            cx.findings.report(NAME, Severity::Warning, message, span, vec![label]);
        }
    }
}

/// A layer with parameters that no code reads.
struct Unused {
    class: Sym,
    name: Sym,
    made: Option<Span>,
}

/// Searches a module and its parts.
fn search(it: &Interp<'_>, value: &Value, depth: u32, seen: &mut FxHashSet<(Sym, Sym)>, found: &mut Vec<Unused>) {
    let Some(id) = value.as_obj().filter(|_| depth > 0) else { return };
    match it.heap.get(id) {
        Data::Instance(instance) => {
            let class = instance.class.as_obj().and_then(|class| match it.heap.get(class) {
                Data::Class(class) if !class.open => Some(class.name),
                _ => None,
            });
            for (name, part) in &instance.attrs {
                let is_new = class.is_some_and(|class| seen.insert((class, *name)));
                if let (true, Some(class), Some(made)) = (is_new, class, layer(it, part))
                    && !is_read(it, *name)
                {
                    found.push(Unused { class, name: *name, made });
                } else {
                    search(it, part, depth - 1, seen, found);
                }
            }
        }
        Data::List(Items::Exact(all)) => all.iter().for_each(|part| search(it, part, depth - 1, seen, found)),
        Data::List(Items::Many(one)) => search(it, one, depth - 1, seen, found),
        Data::Dict(dict) => dict.entries.values().for_each(|part| search(it, part, depth - 1, seen, found)),
        _ => {}
    }
}

/// The place where a layer of the library is made, if it is known. The outer `None` means no layer with a parameter.
fn layer(it: &Interp<'_>, value: &Value) -> Option<Option<Span>> {
    let id: ObjId = value.as_obj()?;
    let instance = it.heap.instance_of(value)?;
    let is_library = instance.class.as_path().is_some_and(|path| path.starts_with("torch.nn."));
    let weight = it.heap.attr(id, "weight").filter(|_| is_library)?;
    let weight = it.heap.tensor_ref(&weight).filter(|weight| weight.parameter)?;
    Some(weight.shape_at)
}

/// Whether the program reads an attribute of this name, or names it in a text.
fn is_read(it: &Interp<'_>, name: Sym) -> bool {
    let text = |text: String| it.mentions(sym(&text).as_str());
    AFTER.iter().any(|after| text(format!(".{name}{after}")))
        || text(format!("\"{name}\""))
        || text(format!("'{name}'"))
}
