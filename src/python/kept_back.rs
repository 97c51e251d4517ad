//! Parameters that a function does not use, although it calls another function that has a parameter of this name
//! with a default: `def encoder(width, dropout=0.5): return Layer(width)`.

use super::interp::Interp;
use super::library::Event;
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, calls, expressions, parts, path_of, spreads};
use crate::value::{Data, ObjId, Value, sym};

/// Names that functions take for other reasons: tensors and modules are often moved later.
const GENERIC: &[&str] = &["args", "data", "device", "dtype", "kwargs", "logger", "name", "self", "title"];

/// Decorators that change nothing about the parameters of a function.
const PLAIN: &[&str] = &["classmethod", "inference_mode", "no_grad", "staticmethod"];

/// Words in the documentation of a function that takes arguments which it does not use.
const ON_PURPOSE: &[&str] = &["unused", "not used", "ignored", "deprecated", "compat", "placeholder"];

/// A parameter with a default.
struct Taken {
    name: String,
    /// The place of its positional argument.
    at: Option<usize>,
    /// Its default is a string, or its annotation, if there is one, allows a string.
    may_be_text: bool,
}

impl<'p> Interp<'p> {
    /// Tells observers that a function does not pass a parameter on to the only call that takes it.
    pub(super) fn note_kept_back(&mut self, callee: &Value, call: &'p ExprCall) {
        let Some(def) = self.frames.last().and_then(|frame| self.definition(frame)) else { return };
        // A class gives its arguments to `__new__`, too, which may use them.
        let class = self.frames.last().and_then(|frame| frame.owner.as_ref()).map(|(class, _)| *class);
        let has_new = |class: ObjId| self.class_attr(class, sym("__new__")).is_some();
        if def.name.as_str() == "__init__" && class.is_some_and(has_new) {
            return;
        }
        let Some((function, bound)) = self.called_function(callee) else { return };
        let Some(taken) = self.optional_parameters(&function, bound) else { return };
        let is_open = spreads(call);
        let mut own = def.parameters.iter_non_variadic_params().map(|parameter| parameter.name().as_str());
        let is_given = |at: Option<usize>, name: &str| {
            at.is_some_and(|at| at < call.arguments.args.len()) || call.arguments.find_keyword(name).is_some()
        };
        // `dataset="omics"` here is not what `dataset: Dataset = None` is there.
        let is_text = |name: &str| {
            let parameter =
                def.parameters.iter_non_variadic_params().find(|parameter| parameter.name().as_str() == name);
            parameter.and_then(|parameter| parameter.default.as_deref()).is_some_and(Expr::is_string_literal_expr)
        };
        let kept = own.find(|name| {
            let taken = taken.iter().find(|taken| taken.name == *name);
            taken.is_some_and(|taken| !is_given(taken.at, name) && (taken.may_be_text || !is_text(name)))
                && !GENERIC.contains(name)
                && !name.starts_with('_')
                && !names(def, name)
        });
        let is_only = || {
            let path = path_of(&call.func);
            !path.is_empty() && def.body.iter().flat_map(calls).filter(|one| path_of(&one.func) == path).count() == 1
        };
        // Wrappers of a method of the same name often take what other wrappers need.
        let is_wrapper = || {
            let called = path_of(&call.func);
            called.last() == Some(&def.name.as_str()) && def.name.as_str() != "__init__"
        };
        // The searches of the body come last: they take time.
        let is_used = |name: &str| self.def_of(&function).is_some_and(|callee| names(callee, name));
        let is_sure = || !is_open && !self.is_test() && !is_wrapper() && is_only() && !takes_more_than_it_uses(def);
        if let Some(name) = kept.filter(|name| is_sure() && is_used(name)) {
            let span = self.span(call);
            self.event(Event::KeptBack { name, span });
        }
    }

    /// The parameters with defaults of a function of the program. The first `bound` parameters are left out.
    fn optional_parameters(&self, function: &Value, bound: usize) -> Option<Vec<Taken>> {
        let Some(Data::Function(function)) = function.as_obj().map(|id| self.heap.get(id)) else { return None };
        let parameters = self.parameters(function)?;
        let positional = parameters.posonlyargs.iter().chain(&parameters.args).skip(bound).enumerate();
        let positional = positional.map(|(at, parameter)| (parameter, Some(at)));
        let all = positional.chain(parameters.kwonlyargs.iter().map(|parameter| (parameter, None)));
        let optional = all.filter(|(parameter, _)| parameter.default.is_some());
        let says_text =
            |annotation: &Expr| parts(annotation).into_iter().any(|part| path_of(part).last() == Some(&"str"));
        let has_text = |default: Option<&Expr>| default.is_some_and(Expr::is_string_literal_expr);
        let taken = optional.map(|(parameter, at)| Taken {
            name: parameter.name().as_str().to_owned(),
            at,
            may_be_text: has_text(parameter.default()) || parameter.annotation().is_none_or(says_text),
        });
        Some(taken.collect())
    }
}

/// Whether the body of a function contains a name.
fn names(def: &StmtFunctionDef, name: &str) -> bool {
    let all = def.body.iter().flat_map(expressions);
    all.filter_map(Expr::as_name_expr).any(|one| one.id.as_str() == name)
}

/// Whether a function may use its parameters in ways that its body does not show, or takes some of them only because
/// others do.
fn takes_more_than_it_uses(def: &StmtFunctionDef) -> bool {
    let is_plain = |decorator: &crate::syntax::ast::Decorator| {
        let called = crate::syntax::callee_or_itself(&decorator.expression);
        path_of(called).last().is_some_and(|name| PLAIN.contains(name))
    };
    let documentation = def.body.first().and_then(|stmt| stmt.as_expr_stmt());
    let documentation = documentation.and_then(|stmt| stmt.value.as_string_literal_expr());
    let text = documentation.map_or_else(String::new, |text| text.value.to_str().to_lowercase());
    !def.decorator_list.iter().all(is_plain)
        || ON_PURPOSE.iter().any(|words| text.contains(words))
        || ["locals", "vars", "save_hyperparameters", "signature"]
            .iter()
            .any(|name| def.body.iter().flat_map(calls).any(|call| path_of(&call.func).last() == Some(name)))
}
