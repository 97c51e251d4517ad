//! Constructors that do not call the one of their base class.

use super::entry::stored_attributes;
use super::interp::Interp;
use crate::syntax::ast::StmtFunctionDef;
use crate::syntax::{Expr, Ranged, expressions, path_of};
use crate::value::{Data, ObjId, Sym, Value, sym};

impl Interp<'_> {
    /// The base class whose constructor alone sets this attribute of an object, if the constructor of the object's
    /// class does not call it.
    pub(super) fn base_left_out(&mut self, object: &Value, name: Sym) -> Option<Sym> {
        let line = self.mro_of(object);
        let line: Vec<ObjId> = line.iter().filter_map(Value::as_obj).collect();
        let at = line.iter().position(|class| self.constructor_of(*class).is_some())?;
        let (own, bases) = line.split_at_checked(at + 1)?;
        if !self.constructor_of(*own.last()?).is_some_and(keeps_to_itself) {
            return None;
        }
        let calls_later = line.iter().any(|class| self.constructs_in_methods(*class));
        if calls_later || line.iter().any(|class| self.attributes_set_by(*class).contains(&name)) {
            return None;
        }
        let base = *bases.iter().find(|class| {
            let mut names = Vec::new();
            if let Some(def) = self.constructor_of(**class) {
                stored_attributes(&def.body, &mut names);
            }
            names.contains(&name)
        })?;
        let name_of = |class: ObjId| match self.heap.get(class) {
            Data::Class(class) => Some(class.name),
            _ => None,
        };
        let (class, base) = (name_of(*line.first()?)?, name_of(base)?);
        let is_set = self.sources.may_assign_to(self.root, class.as_str(), name.as_str(), Some(base.as_str()));
        (!is_set && !self.may_be_completed(class)).then_some(base)
    }

    /// Whether a method of a class, other than its constructor, calls a constructor of the object.
    fn constructs_in_methods(&self, class: ObjId) -> bool {
        let Data::Class(data) = self.heap.get(class) else { return true };
        let methods = data.attrs.iter().filter(|(name, _)| name.as_str() != "__init__");
        let mut bodies = methods.filter_map(|(_, value)| Some(&self.def_of(value)?.body));
        let names_it = |expr: &Expr| matches!(expr, Expr::Attribute(one) if one.attr.as_str() == "__init__");
        bodies.any(|body| body.iter().flat_map(expressions).any(names_it))
    }

    fn constructor_of(&self, class: ObjId) -> Option<&StmtFunctionDef> {
        self.def_of(&self.class_attr(class, sym("__init__"))?)
    }
}

/// Whether a constructor calls no other one, and gives its object to no function.
fn keeps_to_itself(def: &StmtFunctionDef) -> bool {
    let receiver = def.parameters.iter_non_variadic_params().next().map(|first| first.parameter.name.as_str());
    let all: Vec<&Expr> = def.body.iter().flat_map(expressions).collect();
    let owners: Vec<_> = all.iter().filter_map(|expr| expr.as_attribute_expr()).map(|one| one.value.range()).collect();
    let stays = |expr: &&Expr| match expr {
        Expr::Name(name) if Some(name.id.as_str()) == receiver => owners.contains(&name.range()),
        Expr::Attribute(attribute) => !matches!(attribute.attr.as_str(), "__init__" | "__dict__"),
        Expr::Call(call) => {
            let path = path_of(&call.func);
            path != ["super"] && !(path.len() == 2 && path.first().copied() == receiver)
        }
        _ => true,
    };
    receiver.is_some() && def.decorator_list.is_empty() && all.iter().all(stays)
}
