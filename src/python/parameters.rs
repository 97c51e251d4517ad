//! The parameters of the program's functions: which arguments fit them, and the values to which a
//! call binds them.

use super::interp::Interp;
use super::protocol::names_other_class;
use super::{Arg, Args};
use crate::syntax::Expr;
use crate::syntax::ast::{ParameterWithDefault, Parameters, StmtFunctionDef};
use crate::value::{Attrs, CodeId, Dict, Items, Key, Sym, Tensor, Type, Value, sym};

impl<'p> Interp<'p> {
    /// Binds arguments to parameters like Python; unknown arguments give unknown parameters.
    pub(super) fn bind(&mut self, parameters: Option<&'p Parameters>, defaults: &[(Sym, Value)], args: Args) -> Attrs {
        let mut vars = Attrs::default();
        let Some(parameters) = parameters else { return vars };
        let mut kw: Vec<(Sym, Option<Arg>)> = args.kw.into_iter().map(|(k, a)| (k, Some(a))).collect();
        let mut pos = args.pos.into_iter();
        let open = args.more_pos || args.more_kw;
        let default_of = |name: Sym| defaults.iter().find(|(k, _)| *k == name).map(|(_, v)| v.clone());
        for parameter in parameters.posonlyargs.iter().chain(&parameters.args) {
            let name = sym(parameter.parameter.name.as_str());
            let given = pos.next().or_else(|| take(&mut kw, name));
            let value = match given {
                Some(arg) => arg.value,
                None if open => Value::Unknown,
                None => default_of(name).unwrap_or(Value::Unknown),
            };
            vars.insert(name, value);
        }
        if let Some(vararg) = &parameters.vararg {
            let rest: Vec<Value> = pos.map(|a| a.value).collect();
            let value = if args.more_pos { self.heap.iter(Items::Many(Value::Unknown)) } else { Value::tuple(rest) };
            vars.insert(sym(vararg.name.as_str()), value);
        }
        for parameter in &parameters.kwonlyargs {
            let name = sym(parameter.parameter.name.as_str());
            let value = match take(&mut kw, name) {
                Some(arg) => arg.value,
                None if args.more_kw => Value::Unknown,
                None => default_of(name).unwrap_or(Value::Unknown),
            };
            vars.insert(name, value);
        }
        if let Some(kwarg) = &parameters.kwarg {
            let mut dict = Dict::default();
            for (name, arg) in kw {
                if let Some(arg) = arg {
                    dict.entries.insert(Key::Str(name.as_str().into()), arg.value);
                }
            }
            if args.more_kw {
                dict.open = Some(Value::Unknown);
            }
            let value = self.heap.dict(dict);
            vars.insert(sym(kwarg.name.as_str()), value);
        }
        vars
    }

    /// Gives parameters whose arguments are unknown a tensor, if the function uses them in a way that only tensors
    /// allow.
    pub(super) fn suppose_tensors(&mut self, code: CodeId, def: &'p StmtFunctionDef, vars: &mut Attrs) {
        for parameter in def.parameters.posonlyargs.iter().chain(&def.parameters.args) {
            let name = sym(parameter.parameter.name.as_str());
            let Some(argument) = vars.get(&name).filter(|value| value.is_unknown()).cloned() else { continue };
            let is_tensor = match self.tensor_parameters.get(&(code, name)) {
                Some(known) => *known,
                None => {
                    let uses = || super::uses::uses(&def.body, name.as_str());
                    let is_tensor =
                        is_shown_by_uses(def, parameter) && self.library.used(self, &uses(), None, "").is_some();
                    self.tensor_parameters.insert((code, name), is_tensor);
                    is_tensor
                }
            };
            if is_tensor {
                let tensor = match argument {
                    Value::Open(open) => open.tensor(),
                    _ => Tensor::default(),
                };
                vars.insert(name, self.heap.tensor(tensor));
            }
        }
    }
}

/// Whether the uses of a parameter may show what its argument is: the parameter has no default, its annotation names
/// no other class, and the function does not use it as a mapping.
pub(super) fn is_shown_by_uses(def: &StmtFunctionDef, parameter: &ParameterWithDefault) -> bool {
    let is_other = || parameter.parameter.annotation.as_deref().is_some_and(names_other_class);
    parameter.default.is_none() && !is_other() && !super::uses::is_mapping(&def.body, parameter.parameter.name.as_str())
}

/// Whether Python accepts a call with these arguments, as far as they are known.
pub(super) fn fits(parameters: &Parameters, defaults: &[(Sym, Value)], args: &Args) -> bool {
    let positional: Vec<Sym> = parameters
        .posonlyargs
        .iter()
        .chain(&parameters.args)
        .map(|parameter| sym(parameter.parameter.name.as_str()))
        .collect();
    let keywords: Vec<Sym> = parameters.kwonlyargs.iter().map(|p| sym(p.parameter.name.as_str())).collect();
    let given = |name: &Sym| args.kw.iter().any(|(keyword, _)| keyword == name);
    let has_default = |name: &Sym| defaults.iter().any(|(have, _)| have == name);
    let known = |name: &Sym| positional.contains(name) || keywords.contains(name);
    let room = parameters.vararg.is_some() || args.pos.len() <= positional.len();
    let named = parameters.kwarg.is_some() || args.kw.iter().all(|(name, _)| known(name));
    let open = args.more_pos || args.more_kw;
    let complete = || {
        positional.iter().skip(args.pos.len()).all(|name| given(name) || has_default(name))
            && keywords.iter().all(|name| given(name) || has_default(name))
    };
    let by_position = positional.iter().skip(parameters.posonlyargs.len());
    let twice = by_position.take(args.pos.len().saturating_sub(parameters.posonlyargs.len())).any(given);
    room && named && (args.more_pos || !twice) && (open || complete())
}

fn take(kw: &mut [(Sym, Option<Arg>)], name: Sym) -> Option<Arg> {
    kw.iter_mut().find(|(k, a)| *k == name && a.is_some()).and_then(|(_, a)| a.take())
}

/// In a function that `@torch.jit.script` compiles, an integer or bool argument for a parameter of
/// type `float` becomes a float.
pub(super) fn convert_scripted(def: &StmtFunctionDef, vars: &mut Attrs) {
    if !is_scripted(def) {
        return;
    }
    for parameter in def.parameters.iter_non_variadic_params() {
        let is_float = |annotation: &Expr| annotation.as_name_expr().is_some_and(|name| name.id.as_str() == "float");
        if parameter.parameter.annotation.as_deref().is_some_and(is_float)
            && let Some(value) = vars.get_mut(&sym(parameter.parameter.name.as_str()))
            && matches!(value.number_type(), Some(Type::Int | Type::Bool))
        {
            *value = value.as_f64().map_or(Value::Any(Type::Float), Value::Float);
        }
    }
}

/// Whether `@torch.jit.script` compiles a function.
fn is_scripted(def: &StmtFunctionDef) -> bool {
    def.decorator_list.iter().any(|decorator| match &decorator.expression {
        Expr::Attribute(a) => a.attr.as_str() == "script",
        _ => false,
    })
}
