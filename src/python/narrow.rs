//! What a condition says of the values that it tests.

use super::interp::Interp;
use crate::syntax::Expr;
use crate::syntax::ast::{self, CmpOp};
use crate::value::{Dim, ObjId, Size, Value, sym};

impl<'p> Interp<'p> {
    /// Takes it as known that the condition is `truth`.
    pub(super) fn assume(&mut self, test: &'p Expr, truth: bool) {
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
                        self.set_name(name, value);
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
                let refines = have.is_unknown() || (matches!(have, Value::Any(_)) && !matches!(value, Value::Any(_)));
                if refines && !value.is_unknown() {
                    self.set_name(key, value);
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
        self.heap.update_tensor(id, |t| {
            if t.shape.is_none() {
                t.shape = Some(vec![Dim::UNKNOWN; rank]);
                t.shape_at = at;
            }
        });
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
