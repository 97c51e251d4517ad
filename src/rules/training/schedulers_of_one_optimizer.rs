//! Two schedulers of one optimizer, beside another optimizer that has none:
//! `d_scheduler = StepLR(g_optimizer, 10)`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::StmtFunctionDef;
use crate::syntax::{Ranged, Stmt, TextRange, assignment, called, path_of, statements};

const NAME: &str = "schedulers-of-one-optimizer";

#[derive(Default)]
pub(crate) struct SchedulersOfOneOptimizer;

/// A scheduler or an optimizer that a statement creates.
struct Made<'a> {
    /// The name or attribute to which it is assigned.
    target: Vec<&'a str>,
    class: &'a str,
    /// What the scheduler is for.
    of: Vec<&'a str>,
    place: TextRange,
}

impl Rule for SchedulersOfOneOptimizer {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if source.text.matches("LR(").count() < 2 || !source.text.contains("lr_scheduler") {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for (def, body) in functions.map(|def| (Some(def), def.body.as_slice())).chain([(None, source.body)]) {
            check(findings, source, def, body);
        }
    }
}

fn check(findings: &mut Findings<'_>, source: &Source<'_>, def: Option<&StmtFunctionDef>, body: &[Stmt]) {
    let made: Vec<Made<'_>> = statements(body, false).into_iter().filter_map(made).collect();
    let (schedulers, optimizers): (Vec<_>, Vec<_>) = made.iter().partition(|one| is_scheduler(one.class));
    let parameters = def.into_iter().flat_map(|def| def.parameters.iter()).map(|one| vec![one.name().as_str()]);
    let mut optimizers: Vec<Vec<&str>> = optimizers.into_iter().map(|one| one.target.clone()).collect();
    optimizers.extend(parameters.filter(|path| has_word(path, &["optimizer", "optim", "opt"])));
    let has_scheduler = |optimizer: &Vec<&str>| schedulers.iter().any(|one| one.of == *optimizer);
    for (at, second) in schedulers.iter().enumerate() {
        let same =
            |first: &&&Made<'_>| first.of == second.of && first.class == second.class && first.target != second.target;
        let Some(first) = schedulers.get(..at).into_iter().flatten().find(same) else { continue };
        let is_known = optimizers.contains(&second.of);
        let Some(other) = optimizers.iter().find(|optimizer| !has_scheduler(optimizer)) else { continue };
        // A chain of schedulers for one optimizer is made on purpose.
        if !is_known || source.contains_any(&["SequentialLR(", "ChainedScheduler("]) || schedulers.len() != 2 {
            continue;
        }
        let (of, lacks) = (second.of.join("."), other.join("."));
        let message = format!("this is the second scheduler of `{of}`: `{lacks}` has none");
        let label =
            Label { span: source.span(first.place), message: format!("the first scheduler of `{of}` is created here") };
        findings.report(NAME, Severity::Warning, message, source.span(second.place), vec![label]);
    }
}

fn made(stmt: &Stmt) -> Option<Made<'_>> {
    let (target, value) = assignment(stmt)?;
    let call = value.as_call_expr()?;
    let class = called(call)?;
    let target = path_of(target);
    let of = call.arguments.find_argument_value("optimizer", 0).map(path_of).unwrap_or_default();
    let is_optimizer = || path_of(&call.func).contains(&"optim") || OPTIMIZERS.contains(&class);
    let is_made =
        !target.is_empty() && (is_scheduler(class) && !of.is_empty() || !is_scheduler(class) && is_optimizer());
    is_made.then_some(Made { target, class, of, place: call.range() })
}

fn is_scheduler(class: &str) -> bool {
    class.ends_with("LR") || class == "ReduceLROnPlateau"
}

/// Classes of `torch.optim` that are often imported by their names.
const OPTIMIZERS: &[&str] = &["Adam", "AdamW", "SGD", "RMSprop", "Adagrad"];
