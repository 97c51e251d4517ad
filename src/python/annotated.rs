//! What the annotation of a parameter tells about its unknown value: a class of the program. Python does not
//! check annotations, so everything here is a warning.

use super::assign::wrong_number;
use super::context::Mode;
use super::entry::has_yield;
use super::interp::Interp;
use super::library::{RejectKind, Rejection};
use super::missing::WrongArguments;
use crate::syntax::ast::{ExprCall, StmtAssign, StmtFunctionDef};
use crate::syntax::{Expr, Span, Stmt, expressions, path_of, statements};
use crate::value::{Data, Sym, Value, sym};

impl<'p> Interp<'p> {
    /// Reports an attribute of a parameter that the class in its annotation certainly does not have.
    pub(super) fn report_annotated(&mut self, owner: &'p Expr, name: Sym, span: Span) {
        self.suspect_annotated(RejectKind::Name, owner, span, |it, class, object| {
            let is_module = it.is_instance(object, it.library.words().module);
            let is_whole = is_module || it.user_method(object, "__init__").is_some() || it.is_dataclass(object);
            let lacks = is_whole
                && !it.is_abstract(object)
                && !it.gets_from_class(object, name)
                && !it.may_be_set_by_name(object, name)
                && it.is_never_set(class, name)
                && !it.is_set_in_classes(object, name);
            lacks.then(|| format!("`{class}` has no attribute `{name}`: nothing in the program sets it").into())
        });
    }

    /// Reports arguments that a method of a parameter, or the parameter itself, does not accept.
    pub(super) fn report_annotated_call(&mut self, call: &'p ExprCall) {
        let span = self.span(call);
        let (owner, name) = method_called(call);
        self.suspect_annotated(RejectKind::Arguments, owner, span, |it, _, object| {
            let method = it.annotated_method(object, name, span)?;
            let refused = it.surely_refuses(&method, call)?;
            // `block: Block` often stands for the class itself, which the call then creates.
            let init = it.try_getattr(object, sym("__init__"), span).filter(|_| name.is_none());
            init.is_none_or(|init| it.surely_refuses(&init, call).is_some()).then_some(refused)
        });
    }

    /// The method of an object that a call runs; `None` as the name for a call of the object, which must be a
    /// module.
    fn annotated_method(&mut self, object: &Value, name: Option<Sym>, span: Span) -> Option<Value> {
        let is_callable = name.is_some() || self.is_instance(object, self.library.words().module);
        let name = name.unwrap_or_else(|| sym("forward"));
        let is_decorated = || {
            let function = self.user_method(object, name.as_str())?;
            self.def_of(&function).map(|def| !def.decorator_list.is_empty())
        };
        if !is_callable || is_decorated() != Some(false) || self.user_method(object, "__call__").is_some() {
            return None;
        }
        let method = self.try_getattr(object, name, span)?;
        let Value::Bound(pair) = &method else { return None };
        let owner = match pair.1.as_obj().map(|id| self.heap.get(id)) {
            Some(Data::Function(function)) => function.owner,
            _ => None,
        };
        // The parameter may be an object of a subclass.
        (!owner.is_some_and(|owner| self.is_overridden_in_subclass(owner, name))).then_some(method)
    }

    /// Reports that the result of a method of a parameter has more or fewer values than the names to which it
    /// is assigned.
    pub(super) fn report_annotated_unpacking(&mut self, stmt: &'p StmtAssign) {
        let (Expr::Call(call), [Expr::Tuple(names)]) = (&*stmt.value, stmt.targets.as_slice()) else { return };
        if names.elts.iter().any(Expr::is_starred_expr) {
            return;
        }
        let span = self.span(names);
        let (owner, name) = method_called(call);
        self.suspect_annotated(RejectKind::Value, owner, span, |it, _, object| {
            let method = it.annotated_method(object, name, span)?;
            it.sure_function(&method)?;
            let values = number_of_results(it.def_of(&method)?).filter(|values| *values != names.elts.len())?;
            Some(wrong_number(values, names.elts.len(), false).into())
        });
    }

    /// Reports what `fault` finds for an instance of the class in the annotation of a parameter. Nothing is
    /// reported if the function assigns the parameter or tests its type.
    fn suspect_annotated(
        &mut self,
        kind: RejectKind,
        owner: &'p Expr,
        span: Span,
        fault: impl FnOnce(&mut Self, Sym, &Value) -> Option<WrongArguments>,
    ) {
        let Some(owner) = owner.as_name_expr().map(|owner| owner.id.as_str()) else { return };
        let Some(def) = self.frames.last().and_then(|frame| self.definition(frame)) else { return };
        let mut parameters = def.parameters.iter_non_variadic_params().map(|parameter| &parameter.parameter);
        let parameter = parameters.find(|parameter| parameter.name.as_str() == owner);
        let Some(annotation) = parameter.and_then(|parameter| parameter.annotation.as_deref()) else { return };
        let found = self.on_trial(Mode::Silent, |it, _| {
            let class = match annotation {
                // The class may be defined later.
                Expr::StringLiteral(text) => it.name(sym(text.value.to_str())),
                annotation => it.eval(annotation),
            };
            let Some(Data::Class(data)) = class.as_obj().map(|id| it.heap.get(id)) else { return None };
            let name = data.name;
            let object = Value::Obj(it.heap.instance(class));
            // The objects are of other classes, which have the methods of the protocol.
            let is_protocol = |class: &Value| class.as_path().is_some_and(|path| path.ends_with(".Protocol"));
            if it.mro_of(&object).iter().any(is_protocol) {
                return None;
            }
            fault(it, name, &object).map(|wrong| (name, it.rejection_of(wrong, span)))
        });
        let Some((class, rejection)) = found else { return };
        let is_rebound =
            |expr: &Expr| matches!(expr, Expr::Name(name) if name.id.as_str() == owner && name.ctx.is_store());
        if def.body.iter().flat_map(expressions).any(|expr| is_rebound(expr) || tests_type(expr, owner)) {
            return;
        }
        let assumed = Some(sym(&format!("if `{owner}` is a `{class}`, as annotated")).as_str());
        self.in_any_arm(|it| it.suspect(Rejection { kind, assumed, ..rejection }));
    }
}

/// The object whose method a call runs, and the name of the method: `None` if the object itself is called.
fn method_called(call: &ExprCall) -> (&Expr, Option<Sym>) {
    match &*call.func {
        Expr::Attribute(method) => (&method.value, Some(sym(method.attr.as_str()))),
        callee => (callee, None),
    }
}

/// The number of values that every `return` of a function gives, if it is known.
fn number_of_results(def: &StmtFunctionDef) -> Option<usize> {
    let mut returned = statements(&def.body, false).into_iter().filter_map(Stmt::as_return_stmt).map(|stmt| {
        let tuple = stmt.value.as_deref().and_then(Expr::as_tuple_expr)?;
        (!tuple.elts.iter().any(Expr::is_starred_expr)).then_some(tuple.elts.len())
    });
    let first = returned.next()??;
    (!has_yield(&def.body) && returned.all(|other| other == Some(first))).then_some(first)
}

/// Whether an expression tests the type or the attributes of a variable.
fn tests_type(expr: &Expr, variable: &str) -> bool {
    let Expr::Call(call) = expr else { return false };
    matches!(path_of(&call.func).as_slice(), ["isinstance" | "hasattr" | "getattr" | "type"])
        && call.arguments.args.first().and_then(Expr::as_name_expr).is_some_and(|name| name.id.as_str() == variable)
}
