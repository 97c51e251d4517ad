//! `train_acc = 0`, and a loop that prints `train_acc`, although nothing assigns it again. Likewise
//! `self.best_loss`, which an `if` tests, but only the constructor sets.
//!
//! A name counts as updated if its scope binds it a second time in any way. Attributes count as updated if the
//! file assigns an attribute of this name to any object.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::visitor::{Visitor, walk_body, walk_except_handler, walk_expr, walk_pattern, walk_stmt};
use crate::syntax::ast::{
    self, CmpOp, ExceptHandler, ExprCall, Number, Parameter, Parameters, Pattern, StmtClassDef, StmtIf, UnaryOp,
};
use crate::syntax::{
    Expr, Ranged, Stmt, TextRange, bound_by, callee_or_itself, captured, expressions, is_read, methods, parts, path_of,
    statements,
};

const NAME: &str = "metric-never-updated";

/// Words in the names of metrics.
const METRICS: &[&str] =
    &["acc", "accuracy", "correct", "best", "loss", "score", "iou", "dice", "f1", "psnr", "bleu", "auc"];

/// Words in the names of settings, which programs do not update.
const SETTINGS: &[&str] = &[
    "alpha",
    "baseline",
    "beta",
    "bound",
    "coef",
    "coeff",
    "cutoff",
    "default",
    "eps",
    "factor",
    "flag",
    "floor",
    "fn",
    "func",
    "gamma",
    "idx",
    "ignore",
    "index",
    "init",
    "initial",
    "interval",
    "lambda",
    "level",
    "limit",
    "lower",
    "margin",
    "mode",
    "offset",
    "param",
    "penalty",
    "ratio",
    "scale",
    "start",
    "target",
    "th",
    "thr",
    "thres",
    "thresh",
    "threshold",
    "tol",
    "type",
    "upper",
    "use",
    "weight",
    "weights",
    "with",
    "without",
    "zero",
];

/// Words for the best value so far.
const EXTREMES: &[&str] = &["best", "highest", "largest", "lowest", "max", "maximum", "min", "minimum", "smallest"];

/// Texts in files that may assign names or attributes in other ways.
const DYNAMIC: &[&str] = &["exec(", "globals()", "locals()", "vars(", "__dict__", "setattr("];

/// Methods that show their arguments to the user, whatever the object is.
const SHOWS: &[&str] = &[
    "add_scalar",
    "add_scalars",
    "log_dict",
    "log_metric",
    "log_metrics",
    "log_scalar",
    "set_description",
    "set_description_str",
    "set_postfix",
    "set_postfix_str",
];

/// Methods of loggers.
const LOGS: &[&str] = &["critical", "debug", "error", "info", "log", "warn", "warning", "write"];

/// Classes of libraries that do not update the attributes of derived classes.
const PASSIVE_BASES: &[&str] = &["Callback", "LightningModule", "Module", "object"];

#[derive(Default)]
pub(crate) struct MetricNeverUpdated;

impl Rule for MetricNeverUpdated {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if source.contains_any(DYNAMIC) {
            return;
        }
        let outer = declared_elsewhere(source);
        check_scope(findings, source, source.body, None, &outer);
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            check_scope(findings, source, &def.body, Some(&def.parameters), &outer);
        }
        for class in source.classes() {
            check_class(findings, source, class);
        }
    }
}

/// The names that `global` or `nonlocal` statements of the file declare.
fn declared_elsewhere<'a>(source: &Source<'a>) -> FxHashSet<&'a str> {
    let all = source.statements.iter().flat_map(|stmt| match stmt {
        Stmt::Global(global) => global.names.as_slice(),
        Stmt::Nonlocal(nonlocal) => nonlocal.names.as_slice(),
        _ => &[],
    });
    all.map(|name| name.as_str()).collect()
}

fn check_scope(
    findings: &mut Findings<'_>,
    source: &Source<'_>,
    body: &[Stmt],
    parameters: Option<&Parameters>,
    outer: &FxHashSet<&str>,
) {
    let starts: Vec<_> = statements(body, false).into_iter().flat_map(constants).collect();
    let starts: Vec<(&str, &Expr)> = starts.into_iter().filter(|(name, _)| is_metric(name)).collect();
    if starts.is_empty() {
        return;
    }
    let mut scope = Scope::default();
    if let Some(parameters) = parameters {
        scope.visit_parameters(parameters);
    }
    scope.visit_body(body);
    for (name, value) in starts {
        let is_only = scope.bound.get(name) == Some(&1) && !outer.contains(name);
        let read = scope.reads.iter().find(|read| read.name == name && read.counts(value));
        if let Some(read) = read.filter(|_| is_only && !is_disabled(source, name)) {
            report(findings, source, name, value, read.at);
        }
    }
}

fn report(findings: &mut Findings<'_>, source: &Source<'_>, name: &str, value: &Expr, at: TextRange) {
    let first = source.text.get(value.start().to_usize()..value.end().to_usize()).unwrap_or_default();
    let message = format!("`{name}` keeps its first value {first}: nothing updates it");
    let label = Label { span: source.span(value.range()), message: "this is its only value".to_owned() };
    findings.report(NAME, Severity::Warning, message, source.span(at), vec![label]);
}

/// The names that a statement assigns a usual first value of a metric to, each with this value.
fn constants(stmt: &Stmt) -> Vec<(&str, &Expr)> {
    let pairs: Vec<(&Expr, &Expr)> = match stmt {
        Stmt::Assign(assign) => assign.targets.iter().flat_map(|target| paired(target, &assign.value)).collect(),
        Stmt::AnnAssign(assign) => assign.value.iter().map(|value| (&*assign.target, &**value)).collect(),
        _ => Vec::new(),
    };
    let named = pairs.into_iter().filter_map(|(target, value)| Some((target.as_name_expr()?.id.as_str(), value)));
    named.filter(|(_, value)| is_first_value(value)).collect()
}

/// The targets of an assignment with their values: two pairs for `a, b = 0, 0`.
pub(super) fn paired<'a>(target: &'a Expr, value: &'a Expr) -> Vec<(&'a Expr, &'a Expr)> {
    match (target, value) {
        (Expr::Tuple(targets), Expr::Tuple(values)) if targets.len() == values.len() => {
            let is_starred = |expr: &Expr| expr.is_starred_expr();
            let has_star = targets.iter().chain(values).any(is_starred);
            if has_star { Vec::new() } else { targets.iter().zip(values).collect() }
        }
        _ => vec![(target, value)],
    }
}

/// 0, `None` or an infinity.
fn is_first_value(value: &Expr) -> bool {
    match value {
        Expr::NoneLiteral(_) => true,
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(number) => number.as_i64() == Some(0),
            Number::Float(number) => *number == 0.0,
            Number::Complex { .. } => false,
        },
        _ => is_infinite(value),
    }
}

fn is_infinite(value: &Expr) -> bool {
    match value {
        Expr::UnaryOp(operation) => {
            matches!(operation.op, UnaryOp::USub | UnaryOp::UAdd) && is_infinite(&operation.operand)
        }
        Expr::Call(call) => {
            let text = call.arguments.args.first().and_then(|argument| argument.as_string_literal_expr());
            let text = text.map(|text| text.value.to_str().trim_start_matches(['-', '+']).to_ascii_lowercase());
            path_of(&call.func) == ["float"] && text.is_some_and(|text| text == "inf" || text == "infinity")
        }
        _ => matches!(path_of(value).as_slice(), ["math" | "np" | "numpy" | "torch", "inf" | "Inf" | "infty"]),
    }
}

/// The words of a name: `best`, `val` and `acc` for `best_val_acc1`.
fn words(name: &str) -> impl Iterator<Item = String> {
    name.split('_').map(|word| {
        let word = word.to_ascii_lowercase();
        if METRICS.contains(&word.as_str()) {
            word
        } else {
            word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()
        }
    })
}

fn is_metric(name: &str) -> bool {
    let is_constant = name.to_ascii_uppercase() == name;
    let is_in = |list: &[&str]| words(name).any(|word| list.contains(&word.as_str()));
    !is_constant && is_in(METRICS) && !is_in(SETTINGS)
}

fn is_extreme(name: &str) -> bool {
    words(name).any(|word| EXTREMES.contains(&word.as_str()))
}

/// Whether a comment or a text contains an assignment of the name: the program leaves it out on purpose.
fn is_disabled(source: &Source<'_>, name: &str) -> bool {
    let in_comment = source.text.lines().any(|line| line.trim_start().starts_with('#') && assigns(line, name));
    let texts = source.statements.iter().filter_map(|stmt| stmt.as_expr_stmt()?.value.as_string_literal_expr());
    in_comment || texts.into_iter().any(|text| text.value.to_str().lines().any(|line| assigns(line, name)))
}

/// Whether a line of text contains `name =`, `name +=` or the name in a tuple that is assigned.
fn assigns(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).and_then(|rest| rest.chars().next_back());
        let after = line.get(at + name.len()..).unwrap_or_default();
        !before.is_some_and(is_part)
            && !after.starts_with(is_part)
            && after.find('=').is_some_and(|at| {
                let (target, value) = after.split_at(at);
                !value.starts_with("==") && !target.contains(['(', '<', '>', '!'])
            })
    })
}

/// A place in a loop that shows or compares a name.
struct Read<'a> {
    name: &'a str,
    at: TextRange,
    /// The expression on the other side of the comparison.
    compared_with: Option<&'a Expr>,
}

impl Read<'_> {
    /// Whether the value at this place should change. A comparison with a number that is not the best value
    /// so far may be one with a threshold.
    fn counts(&self, first: &Expr) -> bool {
        let Some(other) = self.compared_with else { return true };
        let is_other_extreme = path_of(other).last().is_some_and(|other| is_extreme(other));
        !other.is_number_literal_expr()
            && (words(self.name).any(|word| word == "best")
                || is_extreme(self.name) && is_infinite(first)
                || is_other_extreme)
    }
}

/// The bindings of a scope, and its reads in loops. Functions and classes in it are not searched.
#[derive(Default)]
struct Scope<'a> {
    /// How often each name is bound.
    bound: FxHashMap<&'a str, usize>,
    reads: Vec<Read<'a>>,
    /// The number of loops around the statement.
    loops: usize,
}

impl<'a> Scope<'a> {
    fn bind(&mut self, name: &'a str) {
        *self.bound.entry(name).or_default() += 1;
    }

    fn visit_loop(&mut self, body: &'a [Stmt], orelse: &'a [Stmt]) {
        self.loops += 1;
        walk_body(self, body);
        self.loops -= 1;
        walk_body(self, orelse);
    }

    fn visit_tests(&mut self, stmt: &'a StmtIf) {
        let clauses = stmt.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref());
        for test in std::iter::once(&*stmt.test).chain(clauses) {
            for compare in parts(test).into_iter().filter_map(|expr| expr.as_compare_expr()) {
                let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { continue };
                if matches!(op, CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE) {
                    let left = &*compare.left;
                    self.reads.extend([(left, right), (right, left)].into_iter().filter_map(|(expr, other)| {
                        let name = expr.as_name_expr()?.id.as_str();
                        Some(Read { name, at: compare.range(), compared_with: Some(other) })
                    }));
                }
            }
        }
    }
}

impl<'a> Visitor<'a> for Scope<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.bind(&def.name),
            Stmt::ClassDef(def) => self.bind(&def.name),
            Stmt::Import(ast::StmtImport { names, .. }) | Stmt::ImportFrom(ast::StmtImportFrom { names, .. }) => {
                for alias in names {
                    self.bind(bound_by(alias));
                }
            }
            Stmt::For(each) => {
                self.visit_expr(&each.target);
                self.visit_expr(&each.iter);
                self.visit_loop(&each.body, &each.orelse);
            }
            Stmt::While(each) => {
                self.visit_expr(&each.test);
                self.visit_loop(&each.body, &each.orelse);
            }
            _ => {
                if let Some(stmt) = stmt.as_if_stmt().filter(|_| self.loops > 0) {
                    self.visit_tests(stmt);
                }
                walk_stmt(self, stmt);
            }
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if !name.ctx.is_load() => self.bind(&name.id),
            Expr::Call(call) if self.loops > 0 && shows(call) => {
                let names = parts(expr).into_iter().filter_map(|expr| expr.as_name_expr());
                let reads = names.filter(|name| name.ctx.is_load());
                self.reads.extend(reads.map(|name| Read { name: &name.id, at: name.range(), compared_with: None }));
            }
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bind(&parameter.name);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(one) = handler;
        if let Some(name) = &one.name {
            self.bind(name);
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        if let Some(name) = captured(pattern) {
            self.bind(name);
        }
        walk_pattern(self, pattern);
    }
}

/// Whether a call shows its arguments to the user.
fn shows(call: &ExprCall) -> bool {
    let path = path_of(&call.func);
    match path.as_slice() {
        ["print" | "pprint"] | ["self", "log"] => true,
        [.., object, method] => {
            let object = object.to_ascii_lowercase();
            SHOWS.contains(method)
                || LOGS.contains(method) && ["log", "wandb", "mlflow", "tqdm"].iter().any(|part| object.contains(part))
        }
        _ => false,
    }
}

/// Reports the best values that only the constructor of a class sets, but other methods test.
fn check_class(findings: &mut Findings<'_>, source: &Source<'_>, class: &StmtClassDef) {
    let name = class.name.as_str();
    // Derived classes in other files may update the attributes.
    if name.contains("Base") || name.contains("Abstract") || name.contains("Mixin") || has_unknown_base(source, class) {
        return;
    }
    let raises = |stmt: &Stmt| {
        let raised = stmt.as_raise_stmt().and_then(|raise| raise.exc.as_deref());
        raised.is_some_and(|raised| path_of(callee_or_itself(raised)).last() == Some(&"NotImplementedError"))
    };
    if methods(class).any(|method| method.body.iter().any(raises)) {
        return;
    }
    let Some(init) = methods(class).find(|method| method.name.as_str() == "__init__") else { return };
    for stmt in statements(&init.body, false) {
        let Stmt::Assign(assign) = stmt else { continue };
        let [target] = assign.targets.as_slice() else { continue };
        let path = path_of(target);
        let ["self", name] = path.as_slice() else { continue };
        let is_best = is_metric(name) && words(name).any(|word| word == "best");
        if !is_best || !is_first_value(&assign.value) || may_be_set_again(source, name) {
            continue;
        }
        let others = methods(class).filter(|method| method.name.as_str() != "__init__");
        let tests = others.flat_map(|method| statements(&method.body, true)).filter_map(Stmt::as_if_stmt);
        let mut tested = tests.flat_map(|stmt| {
            let clauses = stmt.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref());
            std::iter::once(&*stmt.test).chain(clauses).flat_map(parts)
        });
        if let Some(read) = tested.find(|expr| path_of(expr) == path) {
            report(findings, source, &path.join("."), &assign.value, read.range());
        }
    }
}

/// Whether a class is derived from a class of another file, which may update its attributes.
fn has_unknown_base(source: &Source<'_>, class: &StmtClassDef) -> bool {
    class.bases().iter().any(|base| match path_of(base).last() {
        Some(name) => !PASSIVE_BASES.contains(name) && !source.classes().any(|class| class.name.as_str() == *name),
        None => true,
    })
}

/// Whether the file assigns an attribute of this name more than once, or may do so under its name as a string.
fn may_be_set_again(source: &Source<'_>, name: &str) -> bool {
    let is_set = |expr: &&Expr| {
        let is_it = expr.as_attribute_expr().is_some_and(|attribute| attribute.attr.as_str() == name);
        is_it && !is_read(expr)
    };
    let texts = [format!("\"{name}\""), format!("'{name}'")];
    let sets = source.body.iter().flat_map(expressions).filter(is_set).count();
    sets > 1 || texts.iter().any(|text| source.text.contains(text)) || is_disabled(source, name)
}
