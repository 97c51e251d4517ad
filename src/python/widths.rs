//! Parameters of uncalled functions that are sizes: `hidden` in `nn.Linear(10, hidden)`. The argument is
//! unknown, but it is one integer. So it gets a symbol, and sizes computed from it can be compared.

use super::interp::Interp;
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{ExprCall, Operator, ParameterWithDefault, Stmt, StmtFunctionDef};
use crate::syntax::{Expr, called, path_of};
use crate::value::{Sign, Size, Type, Value};

impl<'p> Interp<'p> {
    /// The symbol for a parameter, if the function uses it as a number of features of a layer. `known` is
    /// its value so far. `None` if more than its type is known, or if its default is 0 or not an integer.
    pub(super) fn width(
        &mut self,
        def: &'p StmtFunctionDef,
        parameter: &ParameterWithDefault,
        known: &Value,
    ) -> Option<Value> {
        if !matches!(known, Value::Unknown | Value::Any(Type::Int)) {
            return None;
        }
        let default = parameter.default.as_deref();
        match default {
            None => {}
            Some(Expr::NumberLiteral(number)) if number.value.as_int().is_some_and(|n| n.as_i64() != Some(0)) => {}
            Some(_) => return None,
        }
        let name = parameter.parameter.name.as_str();
        let mut widths = Widths { it: self, def, name, attribute: None, found: false, tested: false, has_parts: false };
        widths.visit_body(&def.body);
        let (found, tested) = (widths.found && !widths.has_parts, widths.tested);
        // If the function tests the parameter, the parameter may be 0.
        let sign = if tested { Sign::NotNegative } else { Sign::Positive };
        found.then(|| Value::size(&Size::symbol(self.heap.signed_symbol(name, sign))))
    }
}

/// Searches a function for uses of a parameter as a number of features.
struct Widths<'i, 'p, 'n> {
    it: &'i Interp<'p>,
    def: &'p StmtFunctionDef,
    name: &'n str,
    /// The attribute of `self` that holds the parameter.
    attribute: Option<&'p str>,
    found: bool,
    tested: bool,
    /// The function reads an attribute or an element of the parameter, so it is no number.
    has_parts: bool,
}

impl Widths<'_, '_, '_> {
    fn is_own(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => name.id.as_str() == self.name,
            Expr::Attribute(attribute) => {
                self.attribute == Some(attribute.attr.as_str())
                    && attribute.value.as_name_expr().is_some_and(|owner| owner.id.as_str() == "self")
            }
            _ => false,
        }
    }

    /// Whether an expression is the parameter, or an integer that is computed from it.
    fn depends(&self, expr: &Expr) -> bool {
        match expr {
            Expr::BinOp(e) => {
                let is_integral =
                    matches!(e.op, Operator::Add | Operator::Sub | Operator::Mult | Operator::FloorDiv | Operator::Mod);
                is_integral && (self.depends(&e.left) || self.depends(&e.right))
            }
            _ => self.is_own(expr),
        }
    }

    fn is_width(&self, call: &ExprCall) -> bool {
        let Some(layer) = called(call) else { return false };
        // `self.LSTM(x)` calls a layer, and creates none.
        if path_of(&call.func).first().is_some_and(|root| self.def.parameters.includes(root)) {
            return false;
        }
        self.it.library.widths(layer).iter().any(|(at, name)| {
            let keywords = &call.arguments.keywords;
            let keyword =
                keywords.iter().find(|keyword| keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == name.as_str()));
            let spread = call.arguments.args.iter().take(*at + 1).any(Expr::is_starred_expr);
            let given = call.arguments.args.get(*at).filter(|_| !spread).or(keyword.map(|keyword| &keyword.value));
            given.is_some_and(|given| self.depends(given))
        })
    }
}

impl<'p> Visitor<'p> for Widths<'_, 'p, '_> {
    fn visit_stmt(&mut self, stmt: &'p Stmt) {
        match stmt {
            Stmt::Assign(assign) => {
                if let [Expr::Attribute(target)] = assign.targets.as_slice()
                    && assign.value.as_name_expr().is_some_and(|value| value.id.as_str() == self.name)
                {
                    self.attribute = Some(target.attr.as_str());
                }
            }
            Stmt::If(s) => self.tested |= self.is_own(&s.test),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'p Expr) {
        match expr {
            Expr::Call(call) => self.found |= self.is_width(call),
            Expr::Attribute(e) => self.has_parts |= self.is_own(&e.value),
            Expr::Subscript(e) => self.has_parts |= self.is_own(&e.value),
            Expr::If(e) => self.tested |= self.is_own(&e.test),
            Expr::BoolOp(e) => self.tested |= e.values.iter().any(|value| self.is_own(value)),
            Expr::Compare(e) => {
                self.tested |= self.is_own(&e.left) || e.comparators.iter().any(|other| self.is_own(other));
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
