//! Expressions.

use std::rc::Rc;

use super::interp::{Body, Code, Interp, Rounds};
use super::stmt::Flow;
use super::{Arg, Args, Event, RejectKind, Rejection};
use crate::syntax::ast::{self, Comprehension, ExprAttribute, ExprCall, Number};
use crate::syntax::{Expr, FileId, Ranged as _, Span, is_method_call, spreads};
use crate::value::{
    Attrs, Data, Device, Dict, Dtype, Items, Key, ObjId, Open, Range, Ranged, Scope, Size, Sym, Tensor, Type, Value,
    sym,
};

/// A comprehension over more elements than this is not evaluated element by element; the length of
/// the result becomes unknown.
const MOST_UNROLLED: usize = 256;

impl<'p> Interp<'p> {
    pub(super) fn eval(&mut self, expr: &'p Expr) -> Value {
        let value = self.value_of(expr);
        if self.spot.is_some_and(|(file, at)| expr.range().contains_inclusive(at.into()) && self.file() == file) {
            let (observer, span) = (self.observer, self.span(expr));
            observer.evaluated(self, &value, span);
        }
        value
    }

    fn value_of(&mut self, expr: &'p Expr) -> Value {
        if self.stopped || !self.step() {
            return Value::Unknown;
        }
        match expr {
            Expr::Name(name) => match sym(name.id.as_str()) {
                name if self.is_unbound(name) => {
                    self.unbound_reads += 1;
                    self.raise("UnboundLocalError")
                }
                name => self.name(name),
            },
            Expr::NumberLiteral(n) => match &n.value {
                Number::Int(i) => i.as_i64().map_or(Value::Any(Type::Int), Value::Int),
                Number::Float(x) => Value::Float(*x),
                Number::Complex { .. } => Value::Any(Type::Complex),
            },
            Expr::StringLiteral(s) => Value::str(s.value.to_str()),
            Expr::BytesLiteral(_) => Value::Any(Type::Bytes),
            Expr::BooleanLiteral(b) => Value::Bool(b.value),
            Expr::NoneLiteral(_) => Value::None,
            Expr::EllipsisLiteral(_) => Value::Ellipsis,
            Expr::Attribute(a) => {
                let object = self.eval(&a.value);
                let span = self.span(a);
                if self.lacks_attribute_of(a, &object) {
                    return self.raise("AttributeError");
                }
                match self.read_attribute(&object, sym(a.attr.as_str()), span) {
                    Value::Unknown => self.device_of_tensor(&object, a).unwrap_or(Value::Unknown),
                    value => value,
                }
            }
            Expr::Call(call) => self.eval_call(call),
            Expr::BinOp(e) => {
                let left = self.eval(&e.left);
                let right = self.eval(&e.right);
                let span = self.span(e);
                self.binary(super::operator::binop(e.op), &left, &right, span)
            }
            Expr::UnaryOp(e) => {
                let operand = self.eval(&e.operand);
                let span = self.span(e);
                if is_literal(&e.operand) {
                    return self.in_any_arm(|it| it.unary(e.op, &operand, span));
                }
                self.unary(e.op, &operand, span)
            }
            Expr::BoolOp(e) => self.bool_op(e),
            Expr::Compare(e) => self.compare(e),
            Expr::If(e) => self.ternary(e),
            Expr::Subscript(s) => {
                let object = self.eval(&s.value);
                let index = self.eval(&s.slice);
                let span = self.span(s);
                // A new number such as `np.random.uniform(0, n)` is no index in any arm.
                let is_float = |tensor: &Tensor| tensor.dtype.is_some_and(Dtype::is_floating);
                let is_new_float = match &index {
                    Value::Float(_) | Value::Any(Type::Float) => s.slice.is_call_expr(),
                    index => self.heap.tensor_ref(index).is_some_and(is_float) && self.is_made_here(index),
                };
                let independent = is_new_float && self.heap.is_tensor(&object);
                self.in_any_arm_if(independent, |it| it.subscript(&object, &index, span))
            }
            Expr::Slice(s) => {
                let mut part = |e: &'p Option<Box<Expr>>| e.as_ref().map_or(Value::None, |e| self.eval(e));
                let parts = [part(&s.lower), part(&s.upper), part(&s.step)];
                let parts = self.tied(s).unwrap_or(parts);
                Value::Slice(Rc::new(parts))
            }
            Expr::Tuple(t) => match self.elements(&t.elts) {
                Items::Exact(items) => Value::tuple(items),
                Items::Many(element) => self.heap.iter(Items::Many(element)),
            },
            Expr::List(l) => {
                let items = self.elements(&l.elts);
                self.new_list(items)
            }
            Expr::Set(s) => {
                let items = self.elements(&s.elts);
                let span = self.span(s);
                self.new_set(items, span)
            }
            Expr::Dict(d) => self.dict_display(&d.items),
            Expr::ListComp(c) => {
                let items = self.comprehension(&c.generators, |it| it.eval(&c.elt));
                let none = std::mem::take(&mut self.perhaps_none);
                let list = self.new_list(items);
                if none {
                    self.heap.note_perhaps_empty(&list);
                }
                list
            }
            Expr::SetComp(c) => {
                let items = self.comprehension(&c.generators, |it| it.eval(&c.elt));
                let span = self.span(c);
                self.new_set(items, span)
            }
            Expr::Generator(c) => self.generator_expression(c),
            Expr::DictComp(c) => {
                let items = self.comprehension(&c.generators, |it| {
                    let key = c.key.as_ref().map_or(Value::Unknown, |k| it.eval(k));
                    let value = it.eval(&c.value);
                    Value::tuple(vec![key, value])
                });
                let dict = self.dict_of_pairs(items);
                self.new_dict(dict)
            }
            Expr::Lambda(lambda) => {
                let file = self.file();
                let address = std::ptr::from_ref(lambda) as usize;
                let code = self.code_of(address, || Code::new(file, Body::Lambda(lambda)));
                let parameters = lambda.parameters.as_deref();
                self.make_function(code, sym("<lambda>"), parameters)
            }
            Expr::Named(e) => {
                let value = self.eval(&e.value);
                self.assign_walrus(&e.target, value.clone());
                value
            }
            Expr::FString(f) => self.fstring(&f.value),
            Expr::TString(_) => Value::Unknown,
            Expr::Starred(s) => self.eval(&s.value),
            Expr::Await(e) => {
                let value = self.eval(&e.value);
                self.awaited(&value)
            }
            Expr::Yield(e) => {
                let value = e.value.as_ref().map_or(Value::None, |v| self.eval(v));
                self.give(value)
            }
            Expr::YieldFrom(e) => {
                let iterable = self.eval(&e.value);
                let span = self.span(e);
                let iterator = self.iterator_of(&iterable, span);
                let give = |it: &mut Self, value: Value| {
                    it.give(value);
                    if std::mem::take(&mut it.stopped) { Flow::Stopped } else { Flow::Next }
                };
                self.stopped |= self.drive(&iterator, span, Rc::new(give)) == Flow::Stopped;
                Value::Unknown
            }
            Expr::IpyEscapeCommand(_) => Value::Unknown,
        }
    }

    /// The bounds of the slice `i : i + n`, if only a range of non-negative numbers is known for
    /// `i`. The upper bound records that its distance from the lower bound is `n`.
    fn tied(&mut self, slice: &'p ast::ExprSlice) -> Option<[Value; 3]> {
        let (Some(lower), Some(upper), None) = (&slice.lower, &slice.upper, &slice.step) else { return None };
        let mut read = Vec::new();
        super::narrow::names(lower, &mut read);
        for name in read {
            let value = self.name(sym(name));
            let range = match (&value, self.heap.tensor_ref(&value)) {
                (Value::Ranged(ranged), _) => ranged.range.clone(),
                (_, Some(tensor)) if tensor.rank() == Some(0) => match self.heap.tensor_of(&value)?.range {
                    Some(range) => range,
                    None => continue,
                },
                _ => continue,
            };
            let (Some(first), Some(second)) = (self.beyond(lower, name), self.beyond(upper, name)) else { continue };
            let (span, end) = (second.sub(&first), range.end()?.add(&first));
            let forward = first == Size::Int(0) || Size::Int(0).less(&first) == Some(true);
            if range.lo() < 0.0 || !forward || span.is_unknown() || end.is_unknown() {
                return None;
            }
            let ranged = |range: Range, span: Option<Size>| {
                Value::Ranged(Rc::new(Ranged { range, dense: false, span, at: None }))
            };
            let mut start = Range::bounds(0.0, f64::INFINITY);
            start.below = Some(end);
            let stop = Range::bounds(0.0, f64::INFINITY);
            return Some([ranged(start, None), ranged(stop, Some(span)), Value::None]);
        }
        None
    }

    /// The offset of an expression from a name: `n` in `i + n`.
    fn beyond(&mut self, expr: &'p Expr, name: &str) -> Option<Size> {
        match expr {
            Expr::Name(n) => (n.id.as_str() == name).then_some(Size::Int(0)),
            Expr::BinOp(e) if matches!(e.op, ast::Operator::Add | ast::Operator::Sub) => {
                if let (Some(at), Some(more)) = (self.beyond(&e.left, name), self.constant(&e.right, name)) {
                    return Some(if e.op == ast::Operator::Add { at.add(&more) } else { at.sub(&more) });
                }
                let (more, at) = (self.constant(&e.left, name)?, self.beyond(&e.right, name)?);
                (e.op == ast::Operator::Add).then(|| at.add(&more))
            }
            _ => None,
        }
    }

    /// The value of an expression that reads only numbers, names and their attributes, but not the
    /// name `without`.
    fn constant(&mut self, expr: &'p Expr, without: &str) -> Option<Size> {
        let plain = match expr {
            Expr::Name(n) => n.id.as_str() != without,
            Expr::Attribute(a) => matches!(&*a.value, Expr::Name(n) if n.id.as_str() != without),
            Expr::NumberLiteral(_) => true,
            _ => false,
        };
        if plain {
            return self.eval(expr).as_size().filter(|s| !s.is_unknown());
        }
        match expr {
            Expr::BinOp(e) if e.op == ast::Operator::Add => {
                Some(self.constant(&e.left, without)?.add(&self.constant(&e.right, without)?))
            }
            _ => None,
        }
    }

    /// The value of a name in the innermost scope that binds it.
    pub(super) fn name(&mut self, name: Sym) -> Value {
        let mut scope = match self.frames.last() {
            Some(frame) if frame.globals.contains(&name) => Some(self.module_scope()),
            Some(frame) => Some(frame.scope),
            None => None,
        };
        let home = self.frames.last().map(|frame| frame.home);
        while let Some(id) = scope {
            let Data::Scope(names) = self.heap.get(id) else { break };
            let is_module = names.parent.is_none();
            let value = match names.vars.get(&name) {
                // No path to this line has assigned the variable.
                None if Some(id) == home && self.is_own_variable(name) => return Value::Unknown,
                None if !is_module => {
                    scope = names.parent;
                    continue;
                }
                None => {
                    let Some(value) = self.demand(id, name) else { break };
                    value
                }
                Some(Value::Lazy(_)) => self.scope_var(id, name).unwrap_or(Value::Unknown),
                Some(value) => value.clone(),
            };
            let is_other = self.context.speculative && is_module && self.may_be_other_global(self.file(), name, &value);
            return if is_other { Value::Unknown } else { value };
        }
        // A function may have bound a global variable that has the name of a builtin.
        if self.sources.bindings(self.file()).globals.contains(name.as_str()) {
            return Value::Unknown;
        }
        super::builtins::lookup(name)
    }

    /// Whether a global variable of a file may have another value in a function that nothing calls: other
    /// functions of the file may have run before, set the variable again or filled its empty collection.
    pub(super) fn may_be_other_global(&self, file: FileId, name: Sym, value: &Value) -> bool {
        match value {
            Value::None if self.sources.assigns_from_outside(self.root, name.as_str()) => true,
            Value::None | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Str(_) => {
                self.sources.bindings(file).globals.contains(name.as_str())
            }
            _ => self.payload(value).is_some_and(|payload| self.is_empty_collection(&payload)),
        }
    }

    fn elements(&mut self, elts: &'p [Expr]) -> Items {
        let mut items = Vec::with_capacity(elts.len());
        let mut open: Option<Value> = None;
        for element in elts {
            if let Expr::Starred(starred) = element {
                let iterable = self.eval(&starred.value);
                let span = self.span(starred);
                match self.iterate(&iterable, span) {
                    Items::Exact(values) => items.extend(values),
                    Items::Many(value) => open = Some(value),
                }
            } else {
                items.push(self.eval(element));
            }
        }
        match open {
            None => Items::Exact(items),
            Some(value) => {
                items.push(value);
                Items::Many(Items::Exact(items).element(&mut self.heap))
            }
        }
    }

    fn dict_display(&mut self, items: &'p [ast::DictItem]) -> Value {
        let mut dict = Dict::default();
        for item in items {
            let value = self.eval(&item.value);
            match &item.key {
                Some(key) => {
                    let span = self.span(key);
                    let key = self.eval(key);
                    self.refuse_unhashable(&key, span);
                    self.dict_insert(&mut dict, &key, value);
                }
                None => match self.heap.dict_of(&value).cloned() {
                    Some(other) => {
                        dict.entries.extend(other.entries);
                        if let Some(open) = other.open {
                            self.dict_insert(&mut dict, &Value::Unknown, open);
                        }
                    }
                    None => self.dict_insert(&mut dict, &Value::Unknown, Value::Unknown),
                },
            }
        }
        self.new_dict(dict)
    }

    /// Sets an entry; if the key is unknown, any entry may change.
    pub(super) fn dict_insert(&mut self, dict: &mut Dict, key: &Value, value: Value) {
        match Key::of(key) {
            Some(key) => {
                dict.entries.insert(key, value);
            }
            None => {
                let open = match dict.open.take() {
                    Some(other) => crate::value::join(&mut self.heap, &other, &value, false),
                    None => value.clone(),
                };
                for entry in dict.entries.values_mut() {
                    *entry = crate::value::join(&mut self.heap, entry, &value, false);
                }
                dict.open = Some(open);
            }
        }
    }

    pub(super) fn dict_of_pairs(&mut self, items: Items) -> Dict {
        let mut dict = Dict::default();
        match items {
            Items::Exact(pairs) => {
                for pair in pairs {
                    let (key, value) = match self.heap.exact_items(&pair).as_deref() {
                        Some([key, value]) => (key.clone(), value.clone()),
                        _ => (Value::Unknown, Value::Unknown),
                    };
                    self.dict_insert(&mut dict, &key, value);
                }
            }
            Items::Many(pair) => {
                let value = match self.heap.exact_items(&pair).as_deref() {
                    Some([_, value]) => value.clone(),
                    _ => Value::Unknown,
                };
                dict.open = Some(value);
            }
        }
        dict
    }

    /// The elements of a comprehension, whose loops run in their own scope.
    fn comprehension(&mut self, generators: &'p [Comprehension], mut element: impl FnMut(&mut Self) -> Value) -> Items {
        let Some(frame) = self.frames.last() else { return Items::Many(Value::Unknown) };
        let outer = frame.scope;
        let scope = self.heap.alloc(Data::Scope(Scope { vars: Attrs::default(), parent: Some(outer) }));
        let list = self.heap.alloc(Data::List(Items::Exact(Vec::new())));
        self.set_scope(scope);
        let mut raised = false;
        let flow = self.comprehend(generators, None, &mut |it| {
            let value = element(it);
            if std::mem::take(&mut it.stopped) {
                raised = true;
                return Flow::Stopped;
            }
            it.push_item(list, value);
            Flow::Next
        });
        self.set_scope(outer);
        // A filter may have raised.
        raised |= self.stopped;
        self.stopped = flow == Flow::Stopped;
        self.perhaps_none = self.heap.is_perhaps_empty(&Value::Obj(list));
        match self.heap.get(list) {
            // Evaluating a filter or an element certainly raises, so the program continues only if
            // the iterable is empty. But most iterables are not empty, so the result is not treated
            // as empty.
            Data::List(Items::Exact(items)) if raised && items.is_empty() => Items::Many(Value::Unknown),
            Data::List(items) => items.clone(),
            _ => Items::Many(Value::Unknown),
        }
    }

    pub(super) fn set_scope(&mut self, scope: ObjId) {
        if let Some(frame) = self.frames.last_mut() {
            frame.scope = scope;
        }
    }

    /// Runs the loops of a comprehension, with their filters. `iterable` is the first iterable, if
    /// it is already evaluated.
    pub(super) fn comprehend(
        &mut self,
        generators: &'p [Comprehension],
        iterable: Option<Value>,
        body: &mut dyn FnMut(&mut Self) -> Flow,
    ) -> Flow {
        let Some((first, rest)) = generators.split_first() else { return body(self) };
        let iterable = iterable.unwrap_or_else(|| self.eval(&first.iter));
        let span = self.span(&first.iter);
        if std::mem::take(&mut self.stopped) {
            return Flow::Stopped;
        }
        self.perhaps_none = false;
        let items = self.iterate(&iterable, span);
        if std::mem::take(&mut self.stopped) {
            return Flow::Stopped;
        }
        let perhaps_none = std::mem::take(&mut self.perhaps_none) || self.heap.is_perhaps_empty(&iterable);
        let rounds = Rounds { perhaps_none, ..Rounds::default() };
        self.over_items_in(rounds, items, MOST_UNROLLED, &mut |it, value| {
            it.assign(&first.target, value);
            it.filtered(&first.ifs, &mut |it| it.comprehend(rest, None, body))
        })
    }

    /// Runs the body of a comprehension if all filters hold.
    fn filtered(&mut self, tests: &'p [Expr], run: &mut dyn FnMut(&mut Self) -> Flow) -> Flow {
        match tests.split_first() {
            None => run(self),
            Some((test, rest)) => self.decide(test, &mut |it| it.filtered(rest, run), &mut |_| Flow::Next),
        }
    }

    /// Reports an attribute of `None`, which the program reads or sets.
    pub(super) fn lacks_everything(&mut self, name: Sym, span: Span) -> Value {
        let message = format!("`None` has no attribute `{name}`");
        self.report_missing(RejectKind::Operation, message, span);
        self.raise("AttributeError")
    }

    /// `object.name` in the program's source.
    fn read_attribute(&mut self, object: &Value, name: Sym, span: Span) -> Value {
        if let Value::Path(path) = object {
            // The attribute may exist in another version of the library, so the execution
            // continues.
            self.report_name(*path, name, span);
        } else if self.lacks_attribute(object, name, span) {
            return self.raise("AttributeError");
        } else if object.is_none() && !name.as_str().starts_with("__") {
            return self.lacks_everything(name, span);
        } else if object.is_unknown() {
            self.pass_unjudged(span);
        }
        let refused = self.refused.0;
        let value = self.getattr(object, name, span);
        // In another round or call, the value may have another type, and the attribute may be missing.
        if !matches!(object, Value::Path(_)) && !object.is_unknown() && self.refused.0 == refused {
            self.pass(span);
        }
        value
    }

    /// Whether the object of an attribute in the source certainly lacks it. If it does, this is
    /// reported.
    fn lacks_attribute_of(&mut self, attribute: &'p ExprAttribute, object: &Value) -> bool {
        let span = self.span(attribute);
        let name = sym(attribute.attr.as_str());
        if (object.is_unknown() || object.number_type().is_some())
            && let Some(message) = self.lacks_as_number(&attribute.value, name)
        {
            self.in_any_arm(|it| it.report_missing(RejectKind::Name, message, span));
            return true;
        }
        if self.lacks_member(object, name, span) || self.lacks_class_attribute(&attribute.value, object, name, span) {
            return true;
        }
        if object.is_unknown() {
            self.report_annotated(&attribute.value, name, span);
            return false;
        }
        let is_self = attribute.value.as_name_expr().is_some_and(|name| name.id.as_str() == "self");
        self.lacks_own_attribute(object, name, is_self, span)
    }

    /// The message for an attribute that `x.item()` lacks: `item()` of any tensor or array returns a
    /// Python number, unless it is an array of objects, such as a dictionary in a file.
    fn lacks_as_number(&self, object: &Expr, name: Sym) -> Option<String> {
        let call = object.as_call_expr().filter(|call| is_method_call(call, "item") && call.arguments.is_empty())?;
        // An array of objects usually contains a dictionary.
        let is_of_dictionary = super::payload::DICT_METHODS.contains(&name.as_str());
        if is_of_dictionary
            || self.is_in_try()
            || ["def item(", "allow_pickle", "dtype=object"].iter().any(|text| self.mentions(text))
            || !call.func.is_attribute_expr()
        {
            return None;
        }
        let lacks = |number| self.library.missing_attribute(&self.heap, &Value::Any(number), name, true);
        lacks(Type::Int).and_then(|_| lacks(Type::Float))
    }

    // Calls.

    fn eval_call(&mut self, call: &'p ExprCall) -> Value {
        let span = self.span(call);
        // `super()` needs the class and the receiver of the current method.
        if let Expr::Name(name) = &*call.func
            && name.id.as_str() == "super"
            && matches!(self.name(sym("super")), Value::Path(p) if p.as_str() == "builtins.super")
        {
            return self.make_super(&call.arguments);
        }
        let Expr::Attribute(method) = &*call.func else {
            let callee = self.eval(&call.func);
            let mut args = self.eval_args(&call.arguments);
            self.name_devices(&callee, &call.arguments, false, &mut args);
            if callee.is_unknown() {
                self.report_annotated_call(call);
                self.refuse_choice(call);
                let name = call.func.as_name_expr().map_or("", |name| name.id.as_str());
                self.event(Event::Unseen { name: sym(name), span });
            }
            // A caller may decide what `*args` and `**options` contain.
            self.callee_is_global = self.is_global(&call.func) && !spreads(call);
            if self.refuses(&callee, call, false) {
                return Value::Unknown;
            }
            return self.call_and_place(&call.func, &callee, args, span);
        };
        if let Some(message) = self.misuses_load_state_dict(call, method) {
            let place = self.span(method);
            self.report_missing(RejectKind::Arguments, message, place);
            return self.fail("TypeError");
        }
        let object = self.eval(&method.value);
        let place = self.span(method);
        if self.lacks_attribute_of(method, &object) {
            return self.raise("AttributeError");
        }
        let callee = self.read_attribute(&object, sym(method.attr.as_str()), place);
        if self.stopped {
            return Value::Unknown;
        }
        if self.calls_attribute(&object, sym(method.attr.as_str()), place) {
            return self.raise("TypeError");
        }
        let mut args = self.eval_args(&call.arguments);
        self.name_devices(&callee, &call.arguments, method.attr.as_str() == "to", &mut args);
        if let Some(value) = self.call_open_method(call, &object, &args) {
            return value;
        }
        if object.is_unknown() {
            self.report_annotated_call(call);
        }
        if callee.is_unknown() || self.lacks_self(&object, method.attr.as_str(), &args) {
            self.event(Event::Unseen { name: sym(method.attr.as_str()), span });
            if object.is_unknown() {
                self.havoc_unknown(method.attr.as_str(), &args);
            }
            // The method may come from an unseen base class, and may write to the object.
            if self.heap.instance_of(&object).is_some_and(|i| i.open) {
                self.forget_assigned(&object);
                self.havoc(&object);
            }
        }
        if let (Value::Bound(pair), Expr::Attribute(attribute)) = (&callee, &*call.func)
            && let Value::Obj(object) = pair.0
        {
            self.event(Event::Method { object, name: sym(attribute.attr.as_str()), span });
        }
        // In a call through the class or `super()`, it is not known exactly which arguments are
        // missing, because the receiver may or may not be among them.
        let by_class = matches!(object, Value::Super(_)) && !matches!(callee, Value::Bound(_))
            || object.as_obj().is_some_and(|id| matches!(self.heap.get(id), Data::Class(_)));
        // An attribute of the instance, unlike a method of its class, may differ between instances.
        let is_stored = object.as_obj().is_some_and(|id| self.heap.attr(id, method.attr.as_str()).is_some());
        let is_own = method.value.as_name_expr().is_some_and(|name| name.id.as_str() == "self");
        let is_own = is_own && !is_stored && !self.is_of_subclass(&object, sym(method.attr.as_str()));
        self.callee_is_global = (is_own || self.is_global(&method.value)) && !spreads(call);
        if self.refuses(&callee, call, by_class) {
            return Value::Unknown;
        }
        // The result of an unknown method may come from an argument.
        let has_other_device = |open: &Open| {
            args.pos.iter().filter_map(|arg| self.device_of_value(&arg.value)).any(|device| device != open.device)
        };
        let is_of_object = matches!(&object, Value::Open(open) if !has_other_device(open));
        match self.call_and_place(&call.func, &callee, args, span) {
            Value::Unknown if is_of_object && !self.stopped => {
                let library = self.library;
                library.open_attribute(&object, sym(method.attr.as_str())).unwrap_or(Value::Unknown)
            }
            value => value,
        }
    }

    /// The device of a tensor, or of a value of unknown type whose device is known.
    fn device_of_value(&self, value: &Value) -> Option<Device> {
        match value {
            Value::Open(open) => Some(open.device),
            value => self.heap.tensor_ref(value).and_then(|tensor| tensor.device),
        }
    }

    /// Checks the arguments as they are written in the source. Returns whether the callee rejects them.
    fn refuses(&mut self, callee: &Value, call: &'p ExprCall, by_class: bool) -> bool {
        if self.went_on == Some(self.span(call)) {
            self.went_on = None;
        }
        if !by_class && let Some(wrong) = self.surely_refuses(callee, call) {
            let span = self.span(call);
            let rejection = self.rejection_of(wrong, span);
            match self.subclass_with(callee) {
                // Nothing creates this object: the line is correct for the objects of other classes.
                Some(class) if self.context.speculative => {
                    let assumed = Some(sym(&format!("for objects of `{class}`")).as_str());
                    self.in_arm_of_callee(|it| it.suspect(Rejection { assumed, ..rejection }));
                }
                _ => self.in_arm_of_callee(|it| it.reject(rejection, span)),
            }
            self.open_refused(callee);
            self.fail("TypeError");
            return true;
        }
        // Each call is checked only once: its callee is nearly always the same.
        if self.placed.insert(self.span(call)) {
            self.note_places(callee, call);
            self.note_kept_back(callee, call);
        }
        self.refuse_quotient(callee, call)
    }

    /// Calls the callee. If the callee is a module whose result is unknown, and an argument is on a GPU,
    /// the result is assumed to be on this GPU.
    fn call_and_place(&mut self, func: &'p Expr, callee: &Value, args: Args, span: Span) -> Value {
        let placed = self.module_output(func, callee, &args, span);
        self.check_loss(func, callee, &args, span);
        // If all arguments are literals, the result does not depend on the condition of an arm.
        let is_constant = matches!(callee, Value::Path(_))
            && !args.pos.is_empty()
            && args.pos.iter().chain(args.kw.iter().map(|(_, arg)| arg)).all(|arg| self.literals.contains(&arg.span));
        let value = self.in_any_arm_if(is_constant, |it| it.call(callee, args, span));
        match value {
            Value::Unknown if !self.stopped => placed.unwrap_or(Value::Unknown),
            value => value,
        }
    }

    /// The class of the receiver of a bound method that a subclass of the class whose method runs now defines.
    fn subclass_with(&self, callee: &Value) -> Option<Sym> {
        let Value::Bound(pair) = callee else { return None };
        let Data::Function(function) = self.heap.get(pair.1.as_obj()?) else { return None };
        self.is_of_subclass(&pair.0, function.name).then(|| self.own_class(&pair.0).map(|class| class.name))?
    }

    /// Makes an object unknown whose constructor gets wrong arguments. The code below assumes that the call is correct.
    fn open_refused(&mut self, callee: &Value) {
        let Value::Bound(pair) = callee else { return };
        let is_constructor = pair.1.as_obj().is_some_and(
            |id| matches!(self.heap.get(id), Data::Function(function) if function.name.as_str() == "__init__"),
        );
        if is_constructor {
            self.open(&pair.0);
        }
    }

    /// Whether the receiver gets this method from a subclass of the class whose method runs now.
    /// Other instances of that class may then have another method of this name.
    fn is_of_subclass(&self, receiver: &Value, name: Sym) -> bool {
        let Some((class, _)) = self.frames.iter().rev().find_map(|frame| frame.owner.as_ref()) else { return false };
        let line = self.mro_of(receiver);
        let subclasses = line.iter().position(|c| c.as_obj() == Some(*class)).unwrap_or_default();
        let defines = |id| matches!(self.heap.get(id), Data::Class(class) if class.attrs.contains_key(&name));
        line.iter().take(subclasses).filter_map(Value::as_obj).any(defines)
    }

    /// Whether the receiver may be an instance of a subclass that has another method of this name.
    pub(super) fn differs_in_subclasses(&self, receiver: &Value, method: &Value) -> bool {
        let Some(Data::Function(function)) = method.as_obj().map(|id| self.heap.get(id)) else { return false };
        self.context.speculative && function.owner.is_some_and(|owner| self.differs_elsewhere(owner, function.name))
            || self.is_of_subclass(receiver, function.name)
    }

    /// Whether an expression is a name from outside the current function, or an attribute of such a
    /// name. At module level, this includes every name. The value is assumed to be the same in all
    /// calls of the current function.
    pub(super) fn is_global(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Attribute(attribute) => self.is_global(&attribute.value),
            Expr::Name(name) => self.frames.last().is_some_and(|frame| {
                let Data::Scope(own) = self.heap.get(frame.home) else { return false };
                frame.home == self.module_scope() || !own.vars.contains_key(&sym(name.id.as_str()))
            }),
            _ => false,
        }
    }

    /// Whether a call has the form `Base.__init__(…)`, without the object. Such a call fails in
    /// Python, but it occurs in the sources of code generators.
    fn lacks_self(&self, class: &Value, name: &str, args: &Args) -> bool {
        let is_class = match class {
            Value::Path(_) | Value::Lazy(_) => true,
            Value::Obj(id) => matches!(self.heap.get(*id), Data::Class(_)),
            _ => false,
        };
        name == "__init__"
            && is_class
            && args.pos.first().is_none_or(|first| self.heap.instance_of(&first.value).is_none())
    }

    pub(super) fn eval_args(&mut self, arguments: &'p ast::Arguments) -> Args {
        let mut args = Args::default();
        for arg in &arguments.args {
            let span = self.span(arg);
            if let Expr::Starred(starred) = arg {
                let iterable = self.eval(&starred.value);
                match self.iterate(&iterable, span) {
                    Items::Exact(values) => args.pos.extend(values.into_iter().map(|v| Arg::new(v, span))),
                    Items::Many(element) => {
                        args.more_pos = true;
                        args.star = Some(element);
                    }
                }
            } else {
                let value = self.eval(arg);
                if self.context.guesses > 0 && is_literal(arg) {
                    self.literals.insert(span);
                }
                if !args.more_pos {
                    args.pos.push(Arg::new(value, span));
                }
            }
        }
        for keyword in &arguments.keywords {
            let value = self.eval(&keyword.value);
            let span = self.span(&keyword.value);
            if self.context.guesses > 0 && is_literal(&keyword.value) {
                self.literals.insert(span);
            }
            match &keyword.arg {
                Some(name) => args.kw.push((sym(name.as_str()), Arg::new(value, span))),
                None => match self.heap.dict_of(&value).cloned() {
                    Some(dict) => {
                        for (key, value) in dict.entries {
                            if let Key::Str(name) = key {
                                args.kw.push((sym(&name), Arg::new(value, span)));
                            }
                        }
                        args.more_kw |= dict.open.is_some();
                    }
                    None => args.more_kw = true,
                },
            }
        }
        args
    }
}

fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::UnaryOp(e) => is_literal(&e.operand),
        expr => expr.is_literal_expr(),
    }
}
