//! Assignment: targets, unpacking, `del`.

use super::Args;
use super::attribute::owner_of_shape;
use super::call::SUPPOSED;
use super::context::Mode;
use super::interp::Interp;
use super::library::{BinOp, Event, RejectKind};
use crate::syntax::ast::{self, StmtAnnAssign, StmtAssign, StmtAugAssign};
use crate::syntax::{Expr, Span, path_of};
use crate::value::{Data, Items, ObjId, Size, Sym, Value, Written, counted, sym};

/// Methods of lists, dictionaries and sets that return `None`.
const CHANGING: &[&str] =
    &["add", "append", "clear", "discard", "extend", "insert", "remove", "reverse", "sort", "update"];

impl<'p> Interp<'p> {
    /// The value of an expression that is assigned or returned. A `...` in this position is assumed
    /// to be a placeholder for unwritten code, so the value is unknown.
    pub(super) fn eval_kept(&mut self, value: &'p Expr) -> Value {
        if value.is_ellipsis_literal_expr() { Value::Unknown } else { self.eval(value) }
    }

    pub(super) fn assign_stmt(&mut self, stmt: &'p StmtAssign) {
        let overwritten = self.collection_of_result(stmt);
        let mut value = self.eval_kept(&stmt.value);
        if self.stopped {
            return;
        }
        if let Some(method) = overwritten.filter(|_| value.is_none()) {
            let span = self.span(&*stmt.value);
            self.event(Event::Overwritten { method, span });
            // What follows from this mistake is not reported.
            value = Value::Unknown;
        }
        if value.is_unknown() {
            self.report_annotated_unpacking(stmt);
        }
        let value = self.kept_view(&stmt.value, value);
        if let [Expr::Attribute(attribute)] = &*stmt.targets {
            let from = self.span(&*stmt.value);
            self.assign_attribute(attribute, value, Some(from));
            return;
        }
        for target in &stmt.targets {
            self.assign(target, value.clone());
        }
    }

    /// The method in `object = object.method(…)`, if it changes one of Python's own collections.
    fn collection_of_result(&mut self, stmt: &'p StmtAssign) -> Option<&'p str> {
        let ([target], Expr::Call(call)) = (&*stmt.targets, &*stmt.value) else { return None };
        let method = call.func.as_attribute_expr().filter(|method| CHANGING.contains(&method.attr.as_str()))?;
        let (changed, assigned) = (path_of(&method.value), path_of(target));
        if changed.is_empty() || changed != assigned {
            return None;
        }
        let object = self.on_trial(Mode::Silent, |it, _| it.eval(&method.value));
        let is_own = matches!(self.own_type(&object), Some("list" | "dictionary" | "set"));
        is_own.then(|| method.attr.as_str())
    }

    /// `x: Float[Tensor, "n 3"] = np.load(file)`. Without a value, `x: Float[Tensor, "n 3"]` is about
    /// the value that the name already has.
    pub(super) fn annotated_assign(&mut self, stmt: &'p StmtAnnAssign) {
        let name = stmt.target.as_name_expr().map(|name| sym(name.id.as_str()));
        match (&stmt.value, name) {
            (Some(value), _) => {
                let value = self.eval_kept(value);
                let value = self.as_annotated(stmt, &value).unwrap_or(value);
                self.assign(&stmt.target, value);
            }
            (None, Some(name)) if self.frames.last().is_some_and(|frame| frame.class_body.is_none()) => {
                let value = self.name(name);
                if let Some(value) = self.as_annotated(stmt, &value) {
                    self.assign(&stmt.target, value);
                }
            }
            (None, _) => {}
        }
        // With `from __future__ import annotations`, the annotation is not evaluated.
        let annotation = stmt.annotation.as_subscript_expr().map_or(&*stmt.annotation, |of| &of.value);
        if let Some(name) = name.filter(|_| path_of(annotation).last() != Some(&"ClassVar")) {
            self.note_field(name);
        }
    }

    /// A value with the facts of its annotation: a tensor for an unknown value; a tensor of unknown
    /// shape or dtype gets those of the annotation. `None` if nothing changes.
    fn as_annotated(&mut self, stmt: &'p StmtAnnAssign, value: &Value) -> Option<Value> {
        let is_vague = self.heap.tensor_ref(value).is_some_and(|t| t.shape.is_none() || t.dtype.is_none());
        if !value.is_unknown() && !is_vague {
            return None;
        }
        let annotated = self.annotated_tensor(stmt)?;
        let (Some(id), Some(facts)) = (value.as_obj(), self.heap.tensor_of(&annotated)) else { return Some(annotated) };
        self.heap.update_tensor(id, |tensor| {
            if tensor.shape.is_none() {
                (tensor.shape, tensor.shape_at) = (facts.shape, facts.shape_at);
            }
            if tensor.dtype.is_none() {
                (tensor.dtype, tensor.dtype_at) = (facts.dtype, facts.dtype_at);
            }
        });
        Some(value.clone())
    }

    /// The tensor that the annotation of a variable describes. Python does not evaluate the
    /// annotations of local variables, so nothing in the annotation is reported.
    fn annotated_tensor(&mut self, stmt: &'p StmtAnnAssign) -> Option<Value> {
        let annotation = self.on_trial(Mode::Silent, |it, _| it.eval(&stmt.annotation));
        let name = match &*stmt.target {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return None,
        };
        let span = self.span(&*stmt.annotation);
        let value = self.library.annotated(self, &annotation, sym(name), span)?;
        let id = value.as_obj().filter(|_| self.heap.is_tensor(&value))?;
        self.heap.set_note(id, SUPPOSED, Value::Bool(true));
        Some(value)
    }

    /// The value to store if a view such as `d.keys()` or `reversed(list)` is assigned. Its
    /// elements are unknown, because later changes of the dictionary or list are visible in
    /// the view.
    fn kept_view(&mut self, expr: &'p Expr, value: Value) -> Value {
        let Expr::Call(call) = expr else { return value };
        let views = match &*call.func {
            Expr::Attribute(method) => {
                matches!(method.attr.as_str(), "keys" | "values" | "items") && call.arguments.is_empty()
            }
            Expr::Name(name) => name.id.as_str() == "reversed",
            _ => false,
        };
        let plain =
            matches!(value.as_obj().map(|id| self.heap.get(id)), Some(Data::Iter(iter)) if iter.suspended.is_none());
        if views && plain { self.heap.iter(Items::Many(Value::Unknown)) } else { value }
    }

    pub(super) fn assign(&mut self, target: &'p Expr, value: Value) {
        if self.stopped {
            return;
        }
        match target {
            Expr::Name(name) => {
                let span = self.span(name);
                let observer = self.observer;
                observer.assigned(self, name.id.as_str(), &value, span);
                self.set_name(sym(name.id.as_str()), value);
            }
            Expr::Attribute(attribute) => {
                self.assign_attribute(attribute, value, None);
            }
            Expr::Subscript(subscript) => {
                let object = self.eval(&subscript.value);
                let index = self.eval(&subscript.slice);
                let span = self.span(subscript);
                self.set_subscript(&object, &index, value, span);
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                self.unpack(elts, &value);
            }
            Expr::Starred(starred) => self.assign(&starred.value, value),
            _ => {}
        }
    }

    /// Assigns the value of the expression at `from` to `object.name`.
    fn assign_attribute(&mut self, attribute: &'p ast::ExprAttribute, value: Value, from: Option<Span>) {
        let object = self.eval(&attribute.value);
        let (name, span) = (sym(attribute.attr.as_str()), self.span(attribute));
        match object {
            Value::None => _ = self.lacks_everything(name, span),
            object => self.setattr_from(&object, name, value, span, from),
        }
    }

    fn unpack(&mut self, targets: &'p [Expr], value: &Value) {
        let star = targets.iter().position(Expr::is_starred_expr);
        if let Some(values) = self.unpack_shape(targets, value, star) {
            for (target, value) in targets.iter().zip(values) {
                self.assign(target, value);
            }
            return;
        }
        let rows = self.heap.tensor_ref(value).and_then(|t| t.shape.as_ref()?.first()?.size.known());
        let fits = |count: usize| match star {
            None => count == targets.len(),
            Some(_) => count + 1 >= targets.len(),
        };
        if let Some(rows) = rows.and_then(|n| usize::try_from(n).ok())
            && !fits(rows)
        {
            return self.unpacked_wrongly(targets, rows, star.is_some());
        }
        let lengths: Vec<usize> = match value {
            Value::Str(text) => vec![text.chars().count()],
            Value::Among(among) => among.texts.iter().map(|text| text.chars().count()).collect(),
            _ => Vec::new(),
        };
        if !lengths.is_empty() && !lengths.into_iter().any(fits) {
            self.raise("ValueError");
            return;
        }
        let at = targets.first().map(|t| self.span(t));
        let mut items = match at {
            Some(at) => self.iterate(value, at),
            None => Items::Many(Value::Unknown),
        };
        if let (Items::Many(element), Some(at)) = (&mut items, at)
            && self.heap.instance_of(value).is_some()
            && self.user_method(value, "__iter__").is_none()
        {
            let own = ["__getitem__", "__len__"].iter().any(|name| self.user_method(value, name).is_some());
            match self.length(value, at).as_int().filter(|_| !own).and_then(|n| usize::try_from(n).ok()) {
                Some(count) if !fits(count) => return self.unpacked_wrongly(targets, count, star.is_some()),
                Some(_) => {}
                // The length is not known. A dataset or a loader rarely has as few elements as
                // there are names, so nothing is assumed about the elements.
                None => *element = Value::Unknown,
            }
        }
        if let (Items::Exact(values), Some(place)) = (&items, self.names_span(targets))
            && fits(values.len())
        {
            self.pass(place);
        }
        match (items, star) {
            (Items::Exact(values), None) if fits(values.len()) => {
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value);
                }
            }
            (Items::Exact(mut values), Some(star)) if fits(values.len()) => {
                let after = targets.len() - star - 1;
                let tail = values.split_off(values.len() - after);
                let middle = values.split_off(star);
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value);
                }
                if let Some(target) = targets.get(star) {
                    let list = self.heap.list(middle);
                    self.assign(target, list);
                }
                for (target, value) in targets.iter().skip(star + 1).zip(tail) {
                    self.assign(target, value);
                }
            }
            (Items::Many(element), _) => {
                for target in targets {
                    let value = if target.is_starred_expr() {
                        Value::Obj(self.heap.alloc(Data::List(Items::Many(element.clone()))))
                    } else {
                        self.another(&element)
                    };
                    self.assign(target, value);
                }
            }
            // The values may be parts of the default of an option. In other runs, the option may
            // have another number of parts, so nothing is reported.
            (Items::Exact(values), _) if !values.is_empty() && values.iter().all(Value::is_text) => {
                for target in targets {
                    self.assign(target, Value::Unknown);
                }
            }
            (Items::Exact(values), star) => self.unpacked_wrongly(targets, values.len(), star.is_some()),
        }
    }

    /// The source range of the names to which values are unpacked.
    fn names_span(&self, targets: &'p [Expr]) -> Option<Span> {
        let (first, last) = (targets.first()?, targets.last()?);
        Some(Span { end: self.span(last).end, ..self.span(first) })
    }

    /// Reports that the number of values does not fit the number of names to which they are
    /// assigned.
    fn unpacked_wrongly(&mut self, targets: &'p [Expr], values: usize, star: bool) {
        let Some(span) = self.names_span(targets) else { return };
        let message = wrong_number(values, targets.len() - usize::from(star), star);
        self.report_missing(RejectKind::Value, message, span);
        self.raise("ValueError");
    }

    /// A copy of the element if it is a tensor. The element stands for many tensors with the same
    /// facts, and facts that are learned later about the copy do not apply to the others.
    pub(super) fn another(&mut self, element: &Value) -> Value {
        let Some(tensor) = self.heap.tensor_of(element) else { return element.clone() };
        self.heap.tensor_with_trailing(tensor)
    }

    /// The values of the names in `B, C, H, W = x.shape` for an unknown shape: the trailing sizes
    /// that are known, and new symbols for the other dimensions.
    fn unpack_shape(&mut self, targets: &'p [Expr], value: &Value, star: Option<usize>) -> Option<Vec<Value>> {
        let tensor = owner_of_shape(value).filter(|_| star.is_none())?.clone();
        let known: Vec<Size> = self
            .heap
            .tensor_ref(&tensor)
            .map_or_else(Vec::new, |tensor| tensor.trailing.iter().map(|dim| dim.size.clone()).collect());
        let mut sizes = Vec::new();
        for (at, target) in targets.iter().enumerate() {
            let back = targets.len() - at;
            let size = known.len().checked_sub(back).and_then(|at| known.get(at)).filter(|size| !size.is_unknown());
            if let Some(size) = size {
                sizes.push(size.clone());
                continue;
            }
            let name = match target {
                Expr::Name(name) => name.id.as_str(),
                _ => "n",
            };
            let name = if name == "_" { "n" } else { name };
            let symbol = self.heap.symbol(name);
            sizes.push(Size::symbol(symbol));
        }
        let at = targets.first().map(|t| self.span(t));
        if let Some(id) = tensor.as_obj() {
            let dims = sizes.iter().map(|s| crate::value::Dim::new(s.clone(), at)).collect();
            self.heap.update_tensor(id, |t| {
                t.shape = Some(dims);
                t.shape_at = at;
            });
        }
        Some(sizes.iter().map(Value::size).collect())
    }

    pub(super) fn aug_assign(&mut self, stmt: &'p StmtAugAssign) {
        let span = self.span(stmt);
        let left = self.eval(&stmt.target);
        let right = self.eval(&stmt.value);
        let op = super::operator::binop(stmt.op);
        let library = self.library;
        if left.is_unknown() {
            self.heap.write_lost(Written::Elements);
        }
        let value = match library.augmented(self, op, &left, &right, span) {
            Some(value) => value,
            None => self.augmented(op, &left, &right, span),
        };
        // If the left side is a list, `+=` appends the rows of the tensor to it.
        let may_have_rows = self.heap.tensor_ref(&right).is_some_and(|tensor| tensor.rank() != Some(0));
        let may_extend = left.is_unknown() && op == BinOp::Add && may_have_rows;
        let value = if may_extend { Value::Unknown } else { value };
        self.assign(&stmt.target, value);
    }

    /// `name := value`. In a comprehension, the name is bound in the enclosing scope.
    pub(super) fn assign_walrus(&mut self, target: &'p Expr, value: Value) {
        let Some((scope, home)) = self.frames.last().map(|f| (f.scope, f.home)) else { return };
        self.set_scope(home);
        self.assign(target, value);
        self.set_scope(scope);
    }

    pub(super) fn set_name(&mut self, name: Sym, value: Value) {
        let Some(frame) = self.frames.last() else { return };
        let scope = if frame.globals.contains(&name) {
            self.module_scope()
        } else if frame.nonlocals.contains(&name) {
            self.binding_scope(frame.closure, name).unwrap_or(frame.scope)
        } else {
            frame.scope
        };
        self.heap.bind(scope, name, Some(value));
    }

    /// The scope of the current module.
    pub(super) fn module_scope(&self) -> ObjId {
        let mut scope = self.frames.last().map_or(self.state, |f| f.closure);
        while let Data::Scope(names) = self.heap.get(scope)
            && let Some(parent) = names.parent
        {
            scope = parent;
        }
        scope
    }

    fn binding_scope(&self, from: ObjId, name: Sym) -> Option<ObjId> {
        let Data::Scope(own) = self.heap.get(from) else { return None };
        let mut scope = own.parent;
        while let Some(id) = scope {
            let Data::Scope(names) = self.heap.get(id) else { return None };
            if names.vars.contains_key(&name) {
                return Some(id);
            }
            scope = names.parent;
        }
        None
    }

    /// `del object.name`
    pub(super) fn delattr(&mut self, object: &Value, name: Sym, span: Span) {
        if let Some(method) = self.user_method(object, "__delattr__") {
            let args = [object.clone(), Value::str(name.as_str())];
            self.call(&method, Args::positional(args, span), span);
            return;
        }
        if object.is_unknown() {
            self.heap.write_lost(Written::Attribute(name));
        }
        let Some(id) = object.as_obj() else { return };
        match self.heap.get(id) {
            Data::Instance(_) => self.heap.bind(id, name, None),
            Data::Class(_) => {
                if let Data::Class(class) = self.heap.get_mut(id) {
                    class.attrs.shift_remove(&name);
                }
            }
            _ => {}
        }
    }

    pub(super) fn delete(&mut self, target: &'p Expr) {
        match target {
            Expr::Name(name) => {
                let key = sym(name.id.as_str());
                if let Some(scope) = self.frames.last().map(|f| f.scope) {
                    self.heap.bind(scope, key, None);
                }
            }
            Expr::Attribute(attribute) => {
                let object = self.eval(&attribute.value);
                let span = self.span(attribute);
                self.delattr(&object, sym(attribute.attr.as_str()), span);
            }
            Expr::Subscript(subscript) => {
                let object = self.eval(&subscript.value);
                let index = self.eval(&subscript.slice);
                self.delete_item(&object, &index);
            }
            Expr::Tuple(tuple) => {
                for element in &tuple.elts {
                    self.delete(element);
                }
            }
            _ => {}
        }
    }
}

/// The message for an assignment of a number of values to another number of names. With a `star`, one more name
/// takes the remaining values.
pub(super) fn wrong_number(values: usize, names: usize, star: bool) -> String {
    let plural = if values == 1 { "value is" } else { "values are" };
    let least = if star { "at least " } else { "" };
    format!("{values} {plural} unpacked into {least}{}", counted(names, "name"))
}
