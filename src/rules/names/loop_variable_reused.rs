//! An inner loop that assigns the variable of an outer loop, if the variable is read afterwards; and a
//! loop that ends with an assignment to its own variable, which is lost.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{self, ExprContext, StmtFor};
use crate::syntax::{
    Expr, Ranged, Span, Stmt, TextRange, blocks, called, ends_the_program, is_false, path_of, statements,
};

const NAME: &str = "loop-variable-reused";

#[derive(Default)]
pub(crate) struct LoopVariableReused;

impl Rule for LoopVariableReused {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for stmt in source.statements.iter().copied() {
            let Stmt::For(outer) = stmt else { continue };
            for variable in targets(&outer.target) {
                let Some((inner, read)) = overwritten(variable, &outer.body, &[]) else { continue };
                let message = format!(
                    "this inner loop overwrites `{variable}`, the variable of the outer loop, which is read after it"
                );
                let labels = vec![
                    label(source.span(outer.target.range()), "the outer loop assigns it here"),
                    label(source.span(read), "this reads the last value of the inner loop"),
                ];
                findings.report(NAME, Severity::Warning, message, source.span(inner), labels);
            }
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in functions.map(|def| def.body.as_slice()).chain(std::iter::once(source.body)) {
            let mut lost = Vec::new();
            find_lost(body, &[], &mut lost);
            for (variable, assignment) in lost {
                let message = format!(
                    "this value is lost: the loop then assigns its next element to `{variable}`, and the elements \
                     themselves do not change"
                );
                findings.report(NAME, Severity::Warning, message, source.span(assignment), Vec::new());
            }
        }
    }
}

/// Whether a loop is over the parameters of a module: `parameter-rebound` reports assignments to these.
fn is_over_parameters(each: &StmtFor) -> bool {
    each.iter.as_call_expr().and_then(called).is_some_and(|name| matches!(name, "parameters" | "named_parameters"))
}

/// The loops of a block that end with an assignment to their variable, such as `for x in xs: x = f(x)`, if
/// nothing reads the value. `after` is the code that follows the block.
fn find_lost<'a>(block: &'a [Stmt], after: &[&'a [Stmt]], lost: &mut Vec<(&'a str, TextRange)>) {
    for (at, stmt) in block.iter().enumerate() {
        let inner = blocks(stmt);
        if inner.is_empty() || matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            continue;
        }
        let rest = [&[block.get(at + 1..).unwrap_or_default()], after].concat();
        if let Stmt::For(outer) = stmt
            && let Some(Stmt::Assign(assign)) = outer.body.last()
            && let [Expr::Name(target)] = assign.targets.as_slice()
            && targets(&outer.target).contains(&target.id.as_str())
            && !is_over_parameters(outer)
            && assign.value.as_call_expr().is_some_and(|call| uses_directly(call, target.id.as_str()))
            && first_read(target.id.as_str(), &[&[&*outer.orelse], rest.as_slice()].concat()).is_none()
        {
            lost.push((target.id.as_str(), assign.range()));
        }
        // A loop comes back to its beginning.
        let again: &[Stmt] = match stmt {
            Stmt::For(s) => &s.body,
            Stmt::While(s) => &s.body,
            _ => &[],
        };
        let rest = [&[again], rest.as_slice()].concat();
        for block in inner {
            find_lost(block, &rest, lost);
        }
    }
}

/// Whether a call is that of the variable, or of a layer or a function of PyTorch with the variable as an
/// argument. Other functions and methods may change their argument in place, and return it.
fn uses_directly(call: &ast::ExprCall, variable: &str) -> bool {
    let is_own = |expr: &Expr| expr.as_name_expr().is_some_and(|name| name.id.as_str() == variable);
    let is_layer = match path_of(&call.func).as_slice() {
        // `self.layers[i](x)` and `getattr(self, name)(x)`.
        [] => matches!(&*call.func, Expr::Subscript(_) | Expr::Call(_)),
        [root, .., name] => matches!(*root, "torch" | "F") && !name.ends_with('_'),
        [_] => false,
    };
    is_own(&call.func) || is_layer && call.arguments.args.iter().any(is_own)
}

fn label(span: Span, message: &str) -> Label {
    Label { span, message: message.to_owned() }
}

/// The names that a loop assigns, except those that begin with `_`.
fn targets(target: &Expr) -> Vec<&str> {
    match target {
        Expr::Name(name) if !name.id.starts_with('_') => vec![name.id.as_str()],
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(targets).collect(),
        Expr::List(list) => list.elts.iter().flat_map(targets).collect(),
        _ => Vec::new(),
    }
}

/// The target of an inner loop of a block that assigns this variable, and the first read of the
/// variable after that loop. `after` is the code that follows the block, inside the outer loop.
fn overwritten<'a>(variable: &str, block: &'a [Stmt], after: &[&'a [Stmt]]) -> Option<(TextRange, TextRange)> {
    for (at, stmt) in block.iter().enumerate() {
        let rest = [&[block.get(at + 1..).unwrap_or_default()], after].concat();
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::If(branch) if branch.elif_else_clauses.is_empty() && is_false(&branch.test) => {}
            Stmt::For(inner) if targets(&inner.target).contains(&variable) => {
                // A loop that searches for an element and breaks there keeps it in the variable on purpose.
                let searches = statements(&inner.body, false).iter().any(|stmt| stmt.is_break_stmt());
                return first_read(variable, &rest).filter(|_| !searches).map(|read| (inner.target.range(), read));
            }
            _ => {
                if let Some(found) = blocks(stmt).into_iter().find_map(|inner| overwritten(variable, inner, &rest)) {
                    return Some(found);
                }
                let mut uses = Uses::of(variable);
                uses.visit_stmt(stmt);
                if uses.assigned {
                    return None;
                }
            }
        }
    }
    None
}

/// The first read of a variable in blocks that follow each other, if nothing before it assigns the variable
/// or leaves the blocks.
fn first_read(variable: &str, blocks: &[&[Stmt]]) -> Option<TextRange> {
    for stmt in blocks.iter().copied().flatten() {
        let mut uses = Uses::of(variable);
        uses.visit_stmt(stmt);
        let leaves = match stmt {
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return(_) | Stmt::Raise(_) => true,
            Stmt::Expr(expr) => ends_the_program(&expr.value),
            _ => false,
        };
        if uses.read.is_some() || uses.assigned || leaves {
            return uses.read;
        }
    }
    None
}

/// How code uses a variable, in the order of evaluation.
struct Uses<'v> {
    variable: &'v str,
    /// The first read before an assignment.
    read: Option<TextRange>,
    assigned: bool,
}

impl Uses<'_> {
    fn of(variable: &str) -> Uses<'_> {
        Uses { variable, read: None, assigned: false }
    }
}

impl<'a> Visitor<'a> for Uses<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Assign(assign) => {
                self.visit_expr(&assign.value);
                assign.targets.iter().for_each(|target| self.visit_expr(target));
            }
            Stmt::AugAssign(assign) => {
                self.visit_expr(&assign.value);
                if let Expr::Name(name) = &*assign.target {
                    self.read_name(name);
                }
                self.visit_expr(&assign.target);
            }
            Stmt::For(inner) => {
                self.visit_expr(&inner.iter);
                self.visit_expr(&inner.target);
                self.visit_body(&inner.body);
                self.visit_body(&inner.orelse);
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => self.read_name(name),
            Expr::Name(name) => self.assigned |= name.id.as_str() == self.variable,
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) | Expr::Lambda(_) => {
                let mut bound = Bound { variable: self.variable, found: false };
                walk_expr(&mut bound, expr);
                if !bound.found {
                    walk_expr(self, expr);
                }
            }
            _ => walk_expr(self, expr),
        }
    }
}

impl Uses<'_> {
    fn read_name(&mut self, name: &ast::ExprName) {
        if name.id.as_str() == self.variable && !self.assigned && self.read.is_none() {
            self.read = Some(name.range());
        }
    }
}

/// Whether a comprehension or a lambda binds the variable itself.
struct Bound<'v> {
    variable: &'v str,
    found: bool,
}

impl<'a> Visitor<'a> for Bound<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                self.found |= name.ctx != ExprContext::Load && name.id.as_str() == self.variable;
            }
            _ => walk_expr(self, expr),
        }
    }

    fn visit_parameter(&mut self, parameter: &'a ast::Parameter) {
        self.found |= parameter.name.as_str() == self.variable;
    }
}
