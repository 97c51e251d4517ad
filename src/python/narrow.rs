//! Narrowing: what a condition implies about the values that it tests.

use std::rc::Rc;

use super::entry::blocks;
use super::interp::Interp;
use crate::syntax::ast::{self, CmpOp};
use crate::syntax::{Expr, Ranged as _, Stmt, parts};
use crate::value::{Among, Data, Dim, ObjId, Ranged, Size, Sym, Taken, Value, sym};

/// A name with its value before a condition, and the weaker value in the arms of the condition.
pub(super) type Doubt = (Sym, Value, Value);

/// The names that an expression reads.
pub(super) fn names<'p>(test: &'p Expr, out: &mut Vec<&'p str>) {
    out.extend(parts(test).into_iter().filter_map(Expr::as_name_expr).map(|name| name.id.as_str()));
}

/// The names of the attributes that an expression reads.
pub(super) fn attributes(test: &Expr) -> impl Iterator<Item = &str> {
    parts(test).into_iter().filter_map(Expr::as_attribute_expr).map(|attribute| attribute.attr.as_str())
}

/// Whether an `if` condition of these statements reads an attribute of this name.
pub(super) fn tests(body: &[Stmt], name: &str) -> bool {
    let tested = |stmt: &Stmt| match stmt {
        Stmt::If(s) => {
            let others = s.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref());
            std::iter::once(&*s.test).chain(others).any(|test| reads(test, name))
        }
        _ => false,
    };
    body.iter().any(|stmt| tested(stmt) || blocks(stmt).into_iter().any(|inner| tests(inner, name)))
}

/// The conditions of the `if` statements around a place in these statements, including the
/// conditions of all their `elif` clauses.
pub(super) fn guards(body: &[Stmt], at: u32) -> Vec<&Expr> {
    let Some(stmt) = body.iter().find(|stmt| stmt.range().contains(at.into())) else { return Vec::new() };
    let mut all = Vec::new();
    if let Stmt::If(s) = stmt {
        all.push(&*s.test);
        all.extend(s.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref()));
    }
    all.extend(blocks(stmt).into_iter().flat_map(|inner| guards(inner, at)));
    all
}

/// Whether a condition only tests whether a value is `None`.
pub(super) fn tests_none(test: &Expr) -> bool {
    matches!(test, Expr::Compare(e) if e.comparators.iter().all(Expr::is_none_literal_expr))
}

fn reads(expr: &Expr, name: &str) -> bool {
    match expr {
        Expr::Attribute(e) => e.attr.as_str() == name || reads(&e.value, name),
        Expr::UnaryOp(e) => reads(&e.operand, name),
        Expr::BoolOp(e) => e.values.iter().any(|e| reads(e, name)),
        Expr::Compare(e) => reads(&e.left, name) || e.comparators.iter().any(|e| reads(e, name)),
        _ => false,
    }
}

impl<'p> Interp<'p> {
    /// Weakens the values that a condition reads, and returns them for [`Interp::settle`]. Each
    /// arm runs with only some of the possible values of a name, so inside an arm, no particular
    /// value is certain to occur.
    pub(super) fn doubt(&mut self, test: &'p Expr) -> Vec<Doubt> {
        let mut read = Vec::new();
        names(test, &mut read);
        let mut doubts = Vec::new();
        for name in read {
            let name = sym(name);
            let before = self.name(name);
            let after = match &before {
                Value::Ranged(r) if r.range != r.range.clone().only_bounds() => Value::Ranged(Rc::new(Ranged {
                    range: r.range.clone().only_bounds(),
                    dense: false,
                    span: None,
                    at: r.at,
                })),
                Value::Among(a) if a.taken != Taken::Perhaps => {
                    Value::Among(Rc::new(Among { taken: Taken::Perhaps, ..Among::clone(a) }))
                }
                Value::None if test.is_bool_op_expr() => {
                    doubts.push((name, Value::None, Value::None));
                    continue;
                }
                _ => continue,
            };
            self.refine(name, after.clone());
            doubts.push((name, before, after));
        }
        doubts
    }

    /// Changes the value of a name in the scope that binds it: narrowing a global variable does not
    /// create a local one.
    fn refine(&mut self, name: Sym, value: Value) {
        let mut at = self.frames.last().map(|f| f.scope);
        while let Some(id) = at
            && let Data::Scope(names) = self.heap.get(id)
        {
            if names.vars.contains_key(&name) {
                self.heap.bind(id, name, Some(value));
                return;
            }
            at = names.parent;
        }
    }

    /// After the arms of a condition: restores the values that [`Interp::doubt`] weakened and that
    /// no arm has changed. If an arm `stops`, nothing is restored, because the condition then
    /// excludes values; a `None` that it tests, together with something unknown, becomes unknown.
    pub(super) fn settle(&mut self, doubts: Vec<Doubt>, stops: bool) {
        if stops {
            // `if x is None and not self.ready: return`: the program expects `None` only in some cases.
            for (name, before, _) in doubts {
                if before.is_none() && self.name(name).is_none() {
                    self.refine(name, Value::Unknown);
                }
            }
            return;
        }
        for (name, before, doubted) in doubts {
            let unchanged = match (&self.name(name), &doubted) {
                (Value::Ranged(now), Value::Ranged(then)) => Rc::ptr_eq(now, then),
                (Value::Among(now), Value::Among(then)) => Rc::ptr_eq(now, then),
                _ => false,
            };
            if unchanged {
                self.refine(name, before);
            }
        }
    }

    /// Narrows the values that a condition tests, given that its truth value is `truth`.
    pub(super) fn assume(&mut self, test: &'p Expr, truth: bool) {
        self.note_cpu(test, truth);
        match test {
            Expr::UnaryOp(e) if e.op == ast::UnaryOp::Not => self.assume(&e.operand, !truth),
            Expr::BoolOp(e) if (e.op == ast::BoolOp::And) == truth => {
                for operand in &e.values {
                    self.assume(operand, truth);
                }
            }
            Expr::Compare(e) => {
                if let ([op], [right]) = (&*e.ops, &*e.comparators) {
                    self.assume_compare(&e.left, *op, right, truth);
                }
            }
            Expr::Call(call) if truth => {
                // `isinstance(x, torch.Tensor)`
                if let (Expr::Name(f), [Expr::Name(name), class]) = (&*call.func, &*call.arguments.args)
                    && f.id.as_str() == "isinstance"
                    && self.name(sym(name.id.as_str())).is_unknown()
                {
                    let class = self.eval(class);
                    let name = sym(name.id.as_str());
                    let span = self.span(call);
                    if let Some(value) = self.library.annotated(self, &class, name, span)
                        && self.heap.tensor_ref(&value).is_some()
                    {
                        self.refine(name, value);
                    }
                }
            }
            _ => {}
        }
    }

    fn assume_compare(&mut self, left: &'p Expr, op: CmpOp, right: &'p Expr, truth: bool) {
        let equal = match op {
            CmpOp::Eq | CmpOp::Is => truth,
            CmpOp::NotEq | CmpOp::IsNot => !truth,
            _ => return,
        };
        if !equal {
            return;
        }
        match left {
            Expr::Name(name) => {
                let key = sym(name.id.as_str());
                let have = self.name(key);
                let value = self.eval(right);
                let refines = have.is_unknown()
                    || (matches!(have, Value::Any(_) | Value::Ranged(_) | Value::Among(_))
                        && !matches!(value, Value::Any(_)));
                if refines && !value.is_unknown() {
                    self.refine(key, value);
                }
            }
            // `x.dtype == torch.long`, `x.ndim == 4`
            Expr::Attribute(a) => {
                let Some(id) = self.tensor_named(&a.value) else { return };
                let value = self.eval(right);
                let at = Some(self.span(left));
                match (a.attr.as_str(), value) {
                    ("dtype", Value::Dtype(dtype)) => self.heap.update_tensor(id, |t| {
                        if t.dtype.is_none() {
                            t.dtype = Some(dtype);
                            t.dtype_at = at;
                        }
                    }),
                    ("ndim", value) => self.assume_rank(id, &value, at),
                    ("shape", value) => {
                        let Some(sizes) = self.heap.exact_items(&value) else { return };
                        if let Ok(rank) = i64::try_from(sizes.len()) {
                            self.assume_rank(id, &Value::Int(rank), at);
                        }
                        for (at_dim, size) in (0..).zip(&sizes) {
                            self.assume_size(id, &Value::Int(at_dim), size, at);
                        }
                    }
                    ("device", Value::Device(device)) => self.heap.update_tensor(id, |t| {
                        if t.device.is_none() {
                            t.device = Some(device);
                            t.device_at = at;
                        }
                    }),
                    _ => {}
                }
            }
            // `x.dim() == 4`, `x.size(1) == 3`, `len(x.shape) == 4`
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(a) => {
                    let Some(id) = self.tensor_named(&a.value) else { return };
                    let value = self.eval(right);
                    let at = Some(self.span(left));
                    match (a.attr.as_str(), &*call.arguments.args) {
                        ("dim" | "ndimension", []) => self.assume_rank(id, &value, at),
                        ("size", [index]) => {
                            let index = self.eval(index);
                            self.assume_size(id, &index, &value, at);
                        }
                        _ => {}
                    }
                }
                Expr::Name(f) if f.id.as_str() == "len" => {
                    let [Expr::Attribute(a)] = &*call.arguments.args else { return };
                    if a.attr.as_str() != "shape" {
                        return;
                    }
                    let Some(id) = self.tensor_named(&a.value) else { return };
                    let value = self.eval(right);
                    let at = Some(self.span(left));
                    self.assume_rank(id, &value, at);
                }
                _ => {}
            },
            // `x.shape[1] == 3`
            Expr::Subscript(s) => {
                let Expr::Attribute(a) = &*s.value else { return };
                if a.attr.as_str() != "shape" {
                    return;
                }
                let Some(id) = self.tensor_named(&a.value) else { return };
                let index = self.eval(&s.slice);
                let value = self.eval(right);
                let at = Some(self.span(left));
                self.assume_size(id, &index, &value, at);
            }
            _ => {}
        }
    }

    fn tensor_named(&mut self, expr: &'p Expr) -> Option<ObjId> {
        if !matches!(expr, Expr::Name(_) | Expr::Attribute(_)) {
            return None;
        }
        let value = self.eval(expr);
        self.heap.is_tensor(&value).then(|| value.as_obj()).flatten()
    }

    fn assume_rank(&mut self, id: ObjId, rank: &Value, at: crate::value::Origin) {
        let Some(rank) = rank.as_int().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 16) else { return };
        self.heap.update_tensor(id, |t| t.set_rank(rank, at));
    }

    fn assume_size(&mut self, id: ObjId, index: &Value, size: &Value, at: crate::value::Origin) {
        let (Some(index), Some(size)) = (index.as_int(), size.as_size()) else { return };
        self.heap.update_tensor(id, |t| {
            let Some(shape) = &mut t.shape else { return };
            let rank = i64::try_from(shape.len()).unwrap_or(0);
            let place = if index < 0 { index + rank } else { index };
            if let Some(dim) = usize::try_from(place).ok().and_then(|i| shape.get_mut(i))
                && (dim.size.is_unknown() || (dim.size.known().is_none() && matches!(size, Size::Int(_))))
            {
                *dim = Dim::new(size, at);
            }
        });
    }
}
