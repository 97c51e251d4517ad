//! Calls of one of several known functions: `MODELS[name](10)`, or of a variable that the arms of conditions
//! set to different functions. The choice is unknown, but each function must take the arguments.

use rustc_hash::FxHashSet;

use super::interp::{Body, Interp};
use super::library::Rejection;
use crate::syntax::ast::{CmpOp, ExprCall, StmtIf};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, assignment, blocks, expressions, parts, path_of, statements};
use crate::value::Value;

/// More functions than these are not compared.
const MOST: usize = 256;

/// The functions among which a call chooses, and the names that decide.
struct Choice<'p> {
    functions: Vec<Value>,
    deciding: Vec<Vec<&'p str>>,
    /// The place of the condition that decides.
    decided_at: Option<TextRange>,
}

impl<'p> Interp<'p> {
    /// Reports a call of an unknown choice if one of the functions does not take the arguments. Nothing is
    /// reported if the current function tests the deciding names elsewhere: then it may know the choice.
    pub(super) fn refuse_choice(&mut self, call: &'p ExprCall) {
        if self.is_in_try() || self.context.in_handler {
            return;
        }
        let body = self.own_body();
        let Some(choice) = self.choice(&call.func, body) else { return };
        let mismatch = |function: &Value| self.misses_parameters(function, call);
        let Some(wrong) = choice.functions.iter().take(MOST).find_map(mismatch) else { return };
        if choice.functions.len() < 2 || is_tested(body, &choice) {
            return;
        }
        let rejection = self.rejection_of(wrong, self.span(call));
        self.suspect(Rejection { assumed: Some("for one of the possible functions"), ..rejection });
    }

    /// The statements of the current function, or of the module.
    fn own_body(&self) -> &'p [Stmt] {
        let code = self.frames.last().and_then(|frame| self.code.get(frame.code?.0 as usize));
        match code.map(|code| code.body) {
            Some(Body::Function(def)) => &def.body,
            Some(_) => &[],
            None => &self.sources.module(self.file()).body,
        }
    }

    /// The functions that an expression chooses among by a key or a condition of unknown value.
    fn choice(&mut self, callee: &'p Expr, body: &'p [Stmt]) -> Option<Choice<'p>> {
        match callee {
            Expr::Subscript(e) => self.of_table(&e.value, &e.slice),
            Expr::Call(e) => {
                let method = e.func.as_attribute_expr().filter(|method| method.attr.as_str() == "get")?;
                let [key] = &*e.arguments.args else { return None };
                self.of_table(&method.value, key)
            }
            Expr::If(e) => {
                let functions = vec![self.function_named(&e.body)?, self.function_named(&e.orelse)?];
                Some(Choice { functions, deciding: names(&e.test), decided_at: Some(e.range()) })
            }
            Expr::Name(name) => self.of_variable(name.id.as_str(), body),
            _ => None,
        }
    }

    /// The functions that one statement gives to a variable of the body: an assignment, or an `if` with
    /// assignments of plain names.
    fn of_variable(&mut self, variable: &str, body: &'p [Stmt]) -> Option<Choice<'p>> {
        let mut binding = body.iter().filter(|stmt| binds(stmt, variable));
        let (stmt, None) = (binding.next()?, binding.next()) else { return None };
        if let Some((_, value)) = assignment(stmt) {
            return if value.is_name_expr() || value.is_attribute_expr() { None } else { self.choice(value, body) };
        }
        let condition = stmt.as_if_stmt()?;
        let mut functions = Vec::new();
        for stmt in
            statements(std::slice::from_ref(stmt), false).into_iter().filter(|stmt| binds_itself(stmt, variable))
        {
            functions.push(self.function_named(assignment(stmt)?.1)?);
        }
        let tests = condition.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref());
        let deciding = std::iter::once(&*condition.test).chain(tests).flat_map(names).collect();
        Some(Choice { functions, deciding, decided_at: Some(stmt.range()) })
    }

    /// The functions in a dictionary.
    fn of_table(&mut self, table: &'p Expr, key: &'p Expr) -> Option<Choice<'p>> {
        if path_of(table).is_empty() || key.is_literal_expr() {
            return None;
        }
        let table = self.eval(table);
        // A class derived from `dict` may return something else, for example instances of its classes.
        if self.own_type(&table) != Some("dict") {
            return None;
        }
        let dict = self.heap.dict_of(&table).filter(|dict| dict.open.is_none())?;
        let functions = dict.entries.values().cloned().collect();
        Some(Choice { functions, deciding: names(key), decided_at: None })
    }

    fn function_named(&mut self, expr: &'p Expr) -> Option<Value> {
        (!path_of(expr).is_empty()).then(|| self.eval(expr))
    }
}

/// Whether a statement, or one in its blocks, binds a variable.
fn binds(stmt: &Stmt, variable: &str) -> bool {
    let is_target =
        |expr: &Expr| expr.as_name_expr().is_some_and(|found| found.id.as_str() == variable && !found.ctx.is_load());
    expressions(stmt).into_iter().any(is_target)
}

/// Whether a statement without blocks binds a variable.
fn binds_itself(stmt: &Stmt, variable: &str) -> bool {
    blocks(stmt).is_empty() && binds(stmt, variable)
}

/// The dotted names in an expression.
fn names(expr: &Expr) -> Vec<Vec<&str>> {
    parts(expr).into_iter().map(path_of).filter(|path| !path.is_empty()).collect()
}

/// Whether a condition in a body tests one of these names, or what is computed from them, other than whether it is a
/// key: `name in MODELS`.
fn is_tested(body: &[Stmt], choice: &Choice<'_>) -> bool {
    let mut deciding: FxHashSet<Vec<&str>> = choice.deciding.iter().cloned().collect();
    for (target, value) in statements(body, false).into_iter().filter_map(assignment) {
        if names(value).iter().any(|name| deciding.contains(name)) {
            deciding.insert(path_of(target));
        }
    }
    let tests_one = |expr: &Expr| match expr {
        Expr::Compare(e) => {
            let is_key_test = matches!(*e.ops, [CmpOp::In | CmpOp::NotIn])
                && e.comparators
                    .iter()
                    .all(|keys| !keys.is_list_expr() && !keys.is_tuple_expr() && !keys.is_set_expr())
                // `"cosine" in name` tests the name.
                && !e.comparators.iter().any(|keys| deciding.contains(&path_of(keys)));
            !is_key_test && names(expr).iter().any(|name| deciding.contains(name))
        }
        Expr::Call(e)
            if path_of(&e.func).last().is_some_and(|method| *method == "startswith" || *method == "endswith") =>
        {
            names(expr).iter().any(|name| deciding.contains(name))
        }
        _ => false,
    };
    // A variable that is chosen under a flag is often called under the same flag.
    let tests_flag = |stmt: &Stmt| {
        let tests = |one: &StmtIf| parts(&one.test).into_iter().any(|part| deciding.contains(&path_of(part)));
        let own = stmt.as_if_stmt().filter(|one| !choice.decided_at.is_some_and(|at| at.contains_range(one.range())));
        choice.decided_at.is_some() && own.is_some_and(tests)
    };
    if statements(body, false).into_iter().any(tests_flag) {
        return true;
    }
    let is_other = |expr: &&Expr| !choice.decided_at.is_some_and(|at| at.contains_range(expr.range()));
    let has_test = |stmt: &Stmt| {
        let is_subject = |expr: &Expr| stmt.is_match_stmt() && deciding.contains(&path_of(expr));
        expressions(stmt).into_iter().filter(is_other).any(|expr| tests_one(expr) || is_subject(expr))
    };
    body.iter().any(has_test)
}
