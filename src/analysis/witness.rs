//! The witness of a finding: the reported call, with facts that do not need the interpreter's heap.

use crate::diagnostic::{Call, Given, Place, Witness};
use crate::library::constructor;
use crate::python::{Bound, Interp};
use crate::value::{Form, Sym, Value};

#[expect(clippy::unnecessary_box_returns, reason = "a `Diagnostic` stores it in a box")]
pub(super) fn of(it: &Interp<'_>, path: Sym, bound: &Bound) -> Box<Witness> {
    let form = |value: &Value| Form::of(&it.heap, value, &|class| constructor(class));
    let mut arguments = Vec::new();
    let star = bound.sig.star;
    let mut all_given = true;
    for (index, (param, arg)) in bound.sig.params.iter().zip(&bound.values).enumerate() {
        if let Some((_, name)) = star.filter(|(at, _)| *at == index) {
            arguments.extend(rest(bound, name, &form));
        }
        // Arguments equal to the default are omitted.
        let default = param.default.as_ref().map(|default| form(&default.value()));
        let arg = arg.as_ref().map(|arg| form(&arg.value)).filter(|value| Some(value) != default.as_ref());
        all_given &= arg.is_some();
        if let Some(value) = arg {
            let place = if param.keyword_only || !all_given { Place::Keyword } else { Place::Positional };
            arguments.push(Given { name: param.name, value, place, optional: param.default.is_some() });
        }
    }
    if let Some((_, name)) = star.filter(|(at, _)| *at >= bound.sig.params.len()) {
        arguments.extend(rest(bound, name, &form));
    }
    let extra = bound.extra.iter().map(|(name, arg)| (*name, form(&arg.value)));
    arguments.extend(extra.map(|(name, value)| Given { name, value, place: Place::Keyword, optional: true }));
    Box::new(Witness::Call(Call { path, arguments }))
}

fn rest<'a>(bound: &'a Bound, name: Sym, form: &'a dyn Fn(&Value) -> Form) -> impl Iterator<Item = Given> + 'a {
    bound.rest.iter().map(move |arg| Given { name, value: form(&arg.value), place: Place::Star, optional: false })
}
