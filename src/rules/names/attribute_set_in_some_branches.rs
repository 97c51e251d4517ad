//! An attribute or a local variable that one branch of an `if` does not set, and that is read afterwards.
//!
//! Form 1: an explicit branch (`elif …: pass`) neither sets the variable nor leaves the block, and a later statement
//! of the same block always reads it. A missing `else` shows nothing: the conditions may cover all cases.
//!
//! Form 2: `__init__` sets an attribute under one `if` without `else`, and `forward` or another method of
//! [`CALLED`] always reads it. Modes of a class are often set like this on purpose, so the condition must be
//! `a != b` for two parameters, or a flag that is `False` by default. If it is `a is None`, any method counts.
//!
//! Form 3: a branch consists of as many values as another branch assigns: `else: None, None`.

use crate::diagnostic::{Label, Severity};
use crate::rules::arms::{Arm, arms};
use crate::rules::known::Known;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::unset::{Unset, collected, mentions, unset};
use crate::syntax::ast::visitor::{Visitor, walk_except_handler, walk_expr, walk_pattern, walk_stmt};
use crate::syntax::ast::{
    CmpOp, Comprehension, ExceptHandler, ExprCall, Pattern, StmtClassDef, StmtFunctionDef, StmtIf,
};
use crate::syntax::{
    Expr, Ranged, Stmt, TextRange, TextSize, bound_by, called, captured, expressions, has_base, is_false, is_read,
    methods, parts, path_of, statements,
};

const NAME: &str = "attribute-set-in-some-branches";

/// Texts in programs that may set names without an assignment, or that expect the exception.
const DYNAMIC: &[&str] = &["exec(", "locals()", "globals()", "vars()", "NameError", "UnboundLocalError"];

/// The same for attributes.
const DYNAMIC_ATTRIBUTES: &[&str] = &["vars(", "setattr(", "__dict__", "__getattr", "__setattr__", "AttributeError"];

/// Parts of the names of functions that may not return.
const ENDS: &[&str] = &[
    "exit",
    "fail",
    "abort",
    "error",
    "usage",
    "die",
    "quit",
    "raise",
    "throw",
    "help",
    "panic",
    "fatal",
    "kill",
    "skip",
    "stop",
    "terminate",
    "critical",
];

/// Functions that return: a branch that ends with another call may end the program.
const RETURNS: &[&str] = &["print", "info", "debug", "warning", "warn", "write", "log", "append"];

/// Base classes that set no attributes of the classes derived from them.
const BASES: &[&str] = &["Module", "object", "LightningModule", "Dataset", "IterableDataset"];

/// Methods that users of a class call for each sample or batch.
const CALLED: &[&str] = &["forward", "__call__", "__getitem__", "__len__"];

#[derive(Default)]
pub(crate) struct AttributeSetInSomeBranches;

impl Rule for AttributeSetInSomeBranches {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        check_values(findings, source);
        if source.contains_any(DYNAMIC) {
            return;
        }
        for function in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            // Local variables. The attributes of a class are checked below.
            check(findings, source, function, None);
        }
        let classes = if source.contains_any(DYNAMIC_ATTRIBUTES) { Vec::new() } else { source.classes().collect() };
        for class in classes {
            if !is_plain(class) {
                continue;
            }
            let Some(init) = methods(class).find(|method| method.name.as_str() == "__init__") else { continue };
            check(findings, source, init, Some(class));
            check_later(findings, source, init, class);
        }
        for Unset { name, when, set, read } in unset(source) {
            let span = source.span(read);
            if !findings.any_at(span) {
                let message = format!("`{name}` is set only {when}, but is always read here");
                let label = Label { span: source.span(set), message: "it is set here".to_owned() };
                findings.report(NAME, Severity::Warning, message, span, vec![label]);
            }
        }
    }
}

/// A local variable, or an attribute of `self`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variable<'a> {
    Local(&'a str),
    Attribute(&'a str),
}

impl<'a> Variable<'a> {
    fn of(expr: &'a Expr) -> Option<Variable<'a>> {
        match path_of(expr).as_slice() {
            [name] => Some(Variable::Local(name)),
            ["self", name] => Some(Variable::Attribute(name)),
            _ => None,
        }
    }

    fn text(self) -> String {
        match self {
            Variable::Local(name) => name.to_owned(),
            Variable::Attribute(name) => format!("self.{name}"),
        }
    }
}

/// Form 1. With a class, the attributes are checked, otherwise the local variables.
fn check(findings: &mut Findings<'_>, source: &Source<'_>, function: &StmtFunctionDef, class: Option<&StmtClassDef>) {
    let collected: Vec<Vec<&str>> = collected(&function.parameters).map(|name| vec![name]).collect();
    chains(&function.body, &mut Known::default(), &mut |stmt, rest, known| {
        let arms = arms(stmt);
        if arms.iter().filter_map(|arm| arm.test).any(|test| mentions(test, &collected)) {
            return;
        }
        for variable in assigned(&arms) {
            let goes_on = |arm: &&Arm<'_>| !sets(arm.body, variable) && !may_leave(arm.body);
            let Some(arm) = arms.iter().find(goes_on) else { continue };
            let never = |test: &Expr| is_false(test) || is_refused(source, test);
            if arm.test.is_some_and(never) || is_placeholder(arm) {
                continue;
            }
            let Some(read) = first_read(rest, variable) else { continue };
            let judged = match (variable, class) {
                (Variable::Local(name), None) => !is_bound_before(function, name, stmt.start()),
                (Variable::Attribute(name), Some(class)) => !is_set_elsewhere(source, class, name, stmt.range()),
                _ => false,
            };
            if !judged || known.with(&told_in(&arms, arm), |known| known.is_contradiction()) {
                continue;
            }
            let branch = match arm.test {
                Some(test) => format!("if `{}`", condition(source, test)),
                None => "in the `else` branch".to_owned(),
            };
            let message = format!("`{}` is not set {branch}, but is always read here", variable.text());
            let missing = arm.body.first().map_or(stmt.range(), |first| first.range());
            let label = Label { span: source.span(missing), message: "this branch does not set it".to_owned() };
            findings.report(NAME, Severity::Warning, message, source.span(read), vec![label]);
        }
    });
}

/// Whether a branch is a placeholder for a value that the program does not use yet: `elif kind == "new": pass`.
fn is_placeholder(arm: &Arm<'_>) -> bool {
    let is_equality = |test: &Expr| matches!(test, Expr::Compare(compare) if *compare.ops == [CmpOp::Eq]);
    arm.test.is_some_and(is_equality) && arm.body.iter().all(Stmt::is_pass_stmt)
}

/// Form 3.
fn check_values(findings: &mut Findings<'_>, source: &Source<'_>) {
    for one in source.statements.iter().filter_map(|stmt| stmt.as_if_stmt()) {
        let arms = arms(one);
        for arm in &arms {
            let [stmt @ Stmt::Expr(value)] = arm.body else { continue };
            let values = value.value.as_tuple_expr().filter(|tuple| tuple.elts.iter().all(Expr::is_literal_expr));
            let Some(values) = values.filter(|tuple| !tuple.elts.is_empty()) else { continue };
            let targets = arms.iter().filter_map(|other| other.body.last()?.as_assign_stmt()?.targets.first());
            let mut targets = targets.filter_map(|target| target.as_tuple_expr());
            let Some(target) = targets.find(|target| target.elts.len() == values.elts.len()) else { continue };
            let text = |range: TextRange| source.text.get(range.to_std_range()).unwrap_or_default();
            let (target, value) = (text(target.range()), text(values.range()));
            let message = format!("this branch sets nothing: did you mean `{target} = {value}`?");
            findings.report(NAME, Severity::Warning, message, source.span(stmt.range()), Vec::new());
        }
    }
}

/// What a branch tells about the conditions of its `if` statement.
fn told_in<'a>(arms: &[Arm<'a>], arm: &Arm<'a>) -> Vec<(&'a Expr, bool)> {
    let earlier = arms.iter().take_while(|other| !std::ptr::eq(other.body, arm.body));
    let refuted = earlier.filter_map(|other| other.test).map(|test| (test, false));
    refuted.chain(arm.test.map(|test| (test, true))).collect()
}

/// Whether the program raises an exception for the same value elsewhere: `if kind == "voc": raise …`.
fn is_refused(source: &Source<'_>, test: &Expr) -> bool {
    let Some((name, value)) = compared(test) else { return false };
    source.statements.iter().filter_map(|stmt| stmt.as_if_stmt()).any(|stmt| {
        arms(stmt).iter().any(|arm| {
            let is_same = arm.test.and_then(compared).is_some_and(|other| other == (name, value));
            is_same && arm.body.iter().any(Stmt::is_raise_stmt)
        })
    })
}

/// The last name and the text in `self.kind == "voc"`.
fn compared(test: &Expr) -> Option<(&str, &str)> {
    let Expr::Compare(compare) = test else { return None };
    let ([CmpOp::Eq], [Expr::StringLiteral(value)]) = (&*compare.ops, &*compare.comparators) else { return None };
    Some((path_of(&compare.left).last()?, value.value.to_str()))
}

/// Form 2.
fn check_later(findings: &mut Findings<'_>, source: &Source<'_>, init: &StmtFunctionDef, class: &StmtClassDef) {
    for stmt in init.body.iter().filter_map(|stmt| stmt.as_if_stmt()) {
        if !stmt.elif_else_clauses.is_empty() || !may_be_false(&stmt.test, init) {
            continue;
        }
        for variable in assigned(&arms(stmt)) {
            let Variable::Attribute(name) = variable else { continue };
            let called = |method: &&StmtFunctionDef| {
                CALLED.contains(&method.name.as_str()) || is_default(&stmt.test) && method.name.as_str() != "__init__"
            };
            for method in methods(class).filter(called) {
                let Some(read) = first_read(&method.body, variable) else { continue };
                if is_set_elsewhere(source, class, name, stmt.range()) {
                    continue;
                }
                let message = format!(
                    "`{}` reads `self.{name}`, which `__init__` sets only if `{}`",
                    method.name.as_str(),
                    condition(source, &stmt.test)
                );
                let under = "it is set under this condition".to_owned();
                let label = Label { span: source.span(stmt.test.range()), message: under };
                findings.report(NAME, Severity::Warning, message, source.span(read), vec![label]);
            }
        }
    }
}

/// Whether a condition is `options["rate"] is None`: the statement sets a default, but nothing sets the given value.
fn is_default(test: &Expr) -> bool {
    let Expr::Compare(compare) = test else { return false };
    let ([CmpOp::Is], [Expr::NoneLiteral(_)]) = (&*compare.ops, &*compare.comparators) else { return false };
    compare.left.is_subscript_expr() || compare.left.is_name_expr()
}

/// Whether a condition is `a != b` for two parameters of the constructor, a parameter that is `False` by default, or
/// `a is None` for a parameter or an element of one.
fn may_be_false(test: &Expr, init: &StmtFunctionDef) -> bool {
    let is_parameter = |expr: &Expr| {
        let path = path_of(expr);
        init.parameters.iter().any(|parameter| path == [parameter.name().as_str()])
    };
    match test {
        Expr::Compare(compare) => match (&*compare.ops, &*compare.comparators) {
            ([CmpOp::NotEq], [right]) => is_parameter(&compare.left) && is_parameter(right),
            _ => is_default(test) && parts(&compare.left).into_iter().any(is_parameter),
        },
        Expr::Name(name) => init.parameters.iter_non_variadic_params().any(|parameter| {
            let is_false = |default: &Expr| default.as_boolean_literal_expr().is_some_and(|literal| !literal.value);
            parameter.name().as_str() == name.id.as_str() && parameter.default().is_some_and(is_false)
        }),
        _ => false,
    }
}

/// Visits the `if` statements of a block, and those in their branches, each with the statements that follow it in
/// its block, and with what is known before it. Loops are left out, because an earlier iteration may set a
/// variable, and so are `try` and `with`, which may catch errors.
fn chains<'a>(block: &'a [Stmt], known: &mut Known<'a>, visit: &mut dyn FnMut(&'a StmtIf, &'a [Stmt], &mut Known<'a>)) {
    known.with(&[], |known| {
        for (at, stmt) in block.iter().enumerate() {
            if let Stmt::If(one) = stmt {
                visit(one, block.get(at + 1..).unwrap_or_default(), known);
                let arms = arms(one);
                for arm in &arms {
                    known.with(&told_in(&arms, arm), |known| chains(arm.body, known, visit));
                }
            }
            known.note_stmt(stmt);
        }
    });
}

/// The variables that assignments in the branches set.
fn assigned<'a>(arms: &[Arm<'a>]) -> Vec<Variable<'a>> {
    let mut found = Vec::new();
    for stmt in arms.iter().flat_map(|arm| statements(arm.body, false)) {
        let Stmt::Assign(assign) = stmt else { continue };
        for target in &assign.targets {
            let parts = match target {
                Expr::Tuple(tuple) => tuple.elts.as_slice(),
                one => std::slice::from_ref(one),
            };
            for variable in parts.iter().filter_map(Variable::of) {
                if !found.contains(&variable) {
                    found.push(variable);
                }
            }
        }
    }
    found
}

/// The bindings in code, including those in nested functions, each with its place.
#[derive(Default)]
struct Bindings<'a>(Vec<(Variable<'a>, TextSize)>);

impl<'a> Bindings<'a> {
    fn of(body: &'a [Stmt]) -> Bindings<'a> {
        let mut bindings = Bindings::default();
        bindings.visit_body(body);
        bindings
    }

    fn add(&mut self, name: &'a str, at: TextSize) {
        self.0.push((Variable::Local(name), at));
    }
}

impl<'a> Visitor<'a> for Bindings<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.add(def.name.as_str(), stmt.start()),
            Stmt::ClassDef(def) => self.add(def.name.as_str(), stmt.start()),
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.add(bound_by(alias), stmt.start())),
            Stmt::ImportFrom(import) => import.names.iter().for_each(|alias| self.add(bound_by(alias), stmt.start())),
            // Another function may bind these names at any time.
            Stmt::Global(outer) => outer.names.iter().for_each(|name| self.add(name.as_str(), TextSize::default())),
            Stmt::Nonlocal(outer) => outer.names.iter().for_each(|name| self.add(name.as_str(), TextSize::default())),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if !is_read(expr)
            && let Some(variable) = Variable::of(expr)
        {
            self.0.push((variable, expr.start()));
        }
        walk_expr(self, expr);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(one) = handler;
        if let Some(name) = &one.name {
            self.add(name.as_str(), one.start());
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        if let Some(name) = captured(pattern) {
            self.add(name, pattern.start());
        }
        walk_pattern(self, pattern);
    }
}

fn sets(body: &[Stmt], variable: Variable<'_>) -> bool {
    Bindings::of(body).0.iter().any(|(bound, _)| *bound == variable)
}

fn is_bound_before(function: &StmtFunctionDef, name: &str, chain: TextSize) -> bool {
    function.parameters.iter().any(|parameter| parameter.name().as_str() == name)
        || Bindings::of(&function.body).0.iter().any(|(bound, at)| *bound == Variable::Local(name) && *at < chain)
}

/// Whether a block may prevent the code after it from running.
fn may_leave(body: &[Stmt]) -> bool {
    let leaves = |stmt: &&Stmt| {
        matches!(
            stmt,
            Stmt::Return(_)
                | Stmt::Raise(_)
                | Stmt::Break(_)
                | Stmt::Continue(_)
                | Stmt::Assert(_)
                | Stmt::Try(_)
                | Stmt::With(_)
                | Stmt::Match(_)
                | Stmt::While(_)
        )
    };
    let ends = |expr: &Expr| match expr {
        Expr::Call(call) => may_end(call),
        Expr::Yield(_) | Expr::YieldFrom(_) => true,
        _ => false,
    };
    let last = body.last().and_then(|stmt| stmt.as_expr_stmt()?.value.as_call_expr());
    statements(body, false).iter().any(leaves)
        || body.iter().flat_map(expressions).any(ends)
        || last.is_some_and(|call| !RETURNS.contains(&called(call).unwrap_or_default()))
}

/// Whether the name of a called function suggests that it may not return.
fn may_end(call: &ExprCall) -> bool {
    let name = called(call).unwrap_or_default().to_ascii_lowercase();
    ENDS.iter().any(|end| name.contains(end))
}

/// The first read of a variable that happens whenever the block runs.
fn first_read(block: &[Stmt], variable: Variable<'_>) -> Option<TextRange> {
    for stmt in block {
        let mut first = FirstRead { variable, found: None };
        for expr in evaluated(stmt) {
            first.visit_expr(expr);
        }
        if first.found.is_some() {
            return first.found;
        }
        let one = std::slice::from_ref(stmt);
        // A call of an unknown function counts as a possible exit only at the end of a branch.
        if sets(one, variable) || (may_leave(one) && !is_call(stmt)) || ends_program(stmt) {
            return None;
        }
    }
    None
}

fn is_call(stmt: &Stmt) -> bool {
    stmt.as_expr_stmt().is_some_and(|stmt| stmt.value.is_call_expr())
}

/// Whether a statement calls a function whose name suggests that it may not return.
fn ends_program(stmt: &Stmt) -> bool {
    expressions(stmt).into_iter().any(|expr| expr.as_call_expr().is_some_and(may_end))
}

/// The expressions that a statement always evaluates.
fn evaluated(stmt: &Stmt) -> Vec<&Expr> {
    match stmt {
        Stmt::Expr(stmt) => vec![&*stmt.value],
        Stmt::Return(stmt) => stmt.value.as_deref().into_iter().collect(),
        Stmt::Assign(stmt) => std::iter::once(&*stmt.value).chain(&stmt.targets).collect(),
        Stmt::AnnAssign(stmt) => stmt.value.as_deref().into_iter().collect(),
        Stmt::AugAssign(stmt) => vec![&*stmt.value],
        Stmt::If(stmt) => vec![&*stmt.test],
        Stmt::While(stmt) => vec![&*stmt.test],
        Stmt::For(stmt) => vec![&*stmt.iter],
        Stmt::Assert(stmt) => vec![&*stmt.test],
        Stmt::With(stmt) => stmt.items.iter().map(|item| &item.context_expr).take(1).collect(),
        _ => Vec::new(),
    }
}

struct FirstRead<'v> {
    variable: Variable<'v>,
    found: Option<TextRange>,
}

impl FirstRead<'_> {
    /// Of a comprehension, only the first iterable is always evaluated.
    fn visit_generators(&mut self, generators: &[Comprehension]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
    }
}

impl<'a> Visitor<'a> for FirstRead<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.found.is_some() {
            return;
        }
        if is_read(expr) && Variable::of(expr) == Some(self.variable) {
            self.found = Some(expr.range());
            return;
        }
        match expr {
            Expr::If(e) => self.visit_expr(&e.test),
            Expr::BoolOp(e) => e.values.iter().take(1).for_each(|value| self.visit_expr(value)),
            Expr::Compare(e) => {
                self.visit_expr(&e.left);
                e.comparators.iter().take(1).for_each(|value| self.visit_expr(value));
            }
            Expr::Lambda(_) => {}
            Expr::ListComp(e) => self.visit_generators(&e.generators),
            Expr::SetComp(e) => self.visit_generators(&e.generators),
            Expr::DictComp(e) => self.visit_generators(&e.generators),
            Expr::Generator(e) => self.visit_generators(&e.generators),
            _ => walk_expr(self, expr),
        }
    }
}

/// Whether only the class itself can set its attributes: its bases are known, no decorator or keyword can
/// change it, and it passes `self` to no function.
fn is_plain(class: &StmtClassDef) -> bool {
    let keywords = class.arguments.as_ref().is_some_and(|arguments| !arguments.keywords.is_empty());
    let known = |base: &Expr| path_of(base).last().is_some_and(|name| BASES.contains(name));
    // A function that gets the object itself may set its attributes.
    let hands_over = |expr: &Expr| {
        expr.as_call_expr().is_some_and(|call| {
            let given = call.arguments.keywords.iter().map(|keyword| &keyword.value);
            called(call) != Some("super")
                && call.arguments.args.iter().chain(given).any(|given| path_of(given) == ["self"])
        })
    };
    class.decorator_list.is_empty()
        && !keywords
        && class.bases().iter().all(known)
        && !class.body.iter().flat_map(expressions).any(hands_over)
}

/// Whether the attribute may be set outside of the `if` at this place: in the class, in a subclass, from outside, or
/// by its name in quotes (`register_buffer("mask", …)`).
fn is_set_elsewhere(source: &Source<'_>, class: &StmtClassDef, name: &str, chain: TextRange) -> bool {
    // `options["rate"]` and `{"rate": 1}` set nothing.
    let quotes = |quoted: &String| {
        let mut all = source.text.match_indices(quoted.as_str());
        all.any(|(at, _)| !source.text.get(at + quoted.len()..).is_some_and(|after| after.starts_with([']', ':'])))
    };
    if [format!("\"{name}\""), format!("'{name}'")].iter().any(quotes) {
        return true;
    }
    let in_body = |stmt: &Stmt| match stmt {
        Stmt::FunctionDef(def) => def.name.as_str() == name,
        _ => sets(std::slice::from_ref(stmt), Variable::Local(name)),
    };
    if class.body.iter().any(in_body) {
        return true;
    }
    let related = |other: &StmtClassDef| other.range() == class.range() || has_base(other, class.name.as_str());
    let places: Vec<TextRange> = source.classes().filter(|other| related(other)).map(|other| other.range()).collect();
    source.body.iter().flat_map(expressions).any(|expr| {
        let Expr::Attribute(attribute) = expr else { return false };
        let is_set = attribute.attr.as_str() == name && !attribute.ctx.is_load();
        let of_self = path_of(&attribute.value) == ["self"];
        let is_own = places.iter().any(|place| place.contains_range(expr.range()));
        is_set && (!of_self || is_own) && !chain.contains_range(expr.range())
    })
}

/// The source text of a condition on one line of at most 60 characters.
fn condition(source: &Source<'_>, test: &Expr) -> String {
    let text = source.text.get(test.start().to_usize()..test.end().to_usize()).unwrap_or_default();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > 60 { line.chars().take(59).chain(['…']).collect() } else { line }
}
