//! Findings that hold only while an option of the command line has its default.
//!
//! A run gives every option its default. What it finds to fail is an error only if it fails
//! whatever the option is: so the file is run again with other values, and a finding whose place
//! is then passed is a warning that names the option.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::Report;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::python::{CommandOption, Interp};
use crate::syntax::Span;
use crate::value::{Sign, Size, Type, Value, sym};

/// How often a file is run again at most, and what that may cost together, in steps.
const MAX_RUNS: u32 = 24;
const MAX_STEPS: u64 = 400_000;

/// So many options are asked for first because their default stands in the message.
const MAX_NAMED: usize = 6;

/// An option that a run has read.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    name: String,
    /// Its default, as messages show it.
    default: String,
    /// Values that users may well give it instead.
    others: Vec<Other>,
    /// Whether these are values that the program expects: a text may be anything.
    sure: bool,
}

/// What an option is instead of its default.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Other {
    /// Anything of the default's type.
    Any,
    Int(i64),
    Bool(bool),
    Text(String),
}

/// The options that are not what their defaults say, by where they are declared.
pub(super) type Assumed = BTreeMap<Span, Other>;

/// What one run tells of options and places.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub options: IndexMap<Span, Declared, FxBuildHasher>,
    /// Places where something went well, and where a call was rejected, in whatever context.
    pub passed: FxHashSet<Span>,
    pub failed: FxHashSet<Span>,
    pub errors: FxHashSet<(String, Span)>,
    /// What it has cost.
    pub steps: u64,
    /// Not everything was run.
    pub exhausted: bool,
}

impl Run {
    /// Whether the program comes to the place of a finding, and nothing is wrong there.
    fn refutes(&self, (code, span): &(String, Span)) -> bool {
        let fails = self.failed.contains(span) || self.errors.contains(&(code.clone(), *span));
        !self.exhausted && self.passed.contains(span) && !fails
    }
}

/// The errors among findings.
pub(super) fn errors(report: &Report) -> FxHashSet<(String, Span)> {
    let errors = report.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| (d.code.to_string(), d.span)).collect()
}

impl Declared {
    pub(super) fn new(option: &CommandOption<'_>) -> Declared {
        let choices = option.choices.iter().filter_map(|choice| match (choice, option.default) {
            (Value::Int(n), default) if default.as_int() != Some(*n) => Some(Other::Int(*n)),
            (Value::Str(text), default) if default.as_str() != Some(&**text) => Some(Other::Text(text.to_string())),
            _ => None,
        });
        let listed: Vec<Other> = choices.collect();
        let sure = !listed.is_empty() || matches!(option.default, Value::Bool(_) | Value::Int(_));
        let others = match option.default {
            _ if !listed.is_empty() => listed,
            Value::Bool(b) => vec![Other::Bool(!b)],
            // One is special to shapes, and twice as much still divides what the default does.
            Value::Int(n) => {
                let mut all = vec![1, n.saturating_add(1), n.saturating_mul(2)];
                all.retain(|other| other != n);
                all.dedup();
                all.into_iter().map(Other::Int).collect()
            }
            Value::Str(text) if text.starts_with("cuda") => vec![Other::Text("cpu".to_owned())],
            Value::Str(text) => vec![Other::Text(format!("{text}-2"))],
            _ => vec![Other::Any],
        };
        let default = match option.default {
            Value::None => "None".to_owned(),
            Value::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
            Value::Int(n) => n.to_string(),
            Value::Float(x) => x.to_string(),
            Value::Str(text) => format!("'{text}'"),
            _ => String::new(),
        };
        Declared { name: option.name.to_owned(), default, others, sure }
    }
}

/// What an option is in a run that assumes something else than its default.
pub(super) fn value(it: &mut Interp<'_>, option: &CommandOption<'_>, other: &Other) -> Value {
    match other {
        Other::Int(n) => Value::Int(*n),
        Other::Bool(b) => Value::Bool(*b),
        Other::Text(text) => Value::str(text),
        Other::Any => match option.default {
            // Who counts something starts from one: a length stays a length.
            Value::Int(n) if *n > 0 => {
                let name = option.name.trim_start_matches('-');
                Value::size(&Size::symbol(it.heap.signed_symbol(sym(name).as_str(), Sign::Positive)))
            }
            Value::Int(_) => Value::Any(Type::Int),
            Value::Float(_) => Value::Any(Type::Float),
            Value::Bool(_) => Value::Any(Type::Bool),
            Value::Str(_) => Value::Any(Type::Str),
            _ => Value::Unknown,
        },
    }
}

/// Makes warnings of the errors that a run with other options does not have.
pub(super) fn weaken(found: &mut [Diagnostic], first: &Run, again: &dyn Fn(&Assumed) -> Run) {
    if first.options.is_empty() || !found.iter().any(|d| d.severity == Severity::Error) {
        return;
    }
    let worlds = Worlds { first, again, known: RefCell::default(), left: Cell::new((MAX_RUNS, MAX_STEPS)) };
    for diagnostic in found.iter_mut().filter(|d| d.severity == Severity::Error) {
        let finding = (diagnostic.code.to_string(), diagnostic.span);
        let Some((made, option)) = worlds.decides(&finding, &diagnostic.message) else { continue };
        diagnostic.severity = Severity::Warning;
        let Declared { name, default, .. } = option;
        let is = if default.is_empty() { String::new() } else { format!(", {default}") };
        diagnostic.message.push_str(&format!(" (if `{name}` has its default{is})"));
        let message = format!("with another value of `{name}` this line may not fail");
        diagnostic.labels.push(Label { span: made, message });
    }
}

/// The runs with other options, each done once.
struct Worlds<'a> {
    first: &'a Run,
    again: &'a dyn Fn(&Assumed) -> Run,
    known: RefCell<BTreeMap<Assumed, Rc<Run>>>,
    /// How many more runs, and steps in them.
    left: Cell<(u32, u64)>,
}

impl Worlds<'_> {
    /// The option whose value decides whether there is this finding, where there is one.
    fn decides(&self, finding: &(String, Span), message: &str) -> Option<(Span, &Declared)> {
        // The sizes that a message names are mostly those of the options that it depends on.
        let numbers: Vec<&str> = message.split(|c: char| !c.is_ascii_digit()).collect();
        let named = self.first.options.iter().filter(|(_, option)| numbers.contains(&option.default.as_str()));
        for (made, option) in named.take(MAX_NAMED) {
            if self.any(&[*made], finding)? && self.passes(*made, option, finding)? {
                return Some((*made, option));
            }
        }
        // Of two options the one of which more is known is named.
        let of = |sure: bool| self.first.options.iter().filter(move |(_, o)| o.sure == sure).map(|(made, _)| *made);
        match self.decides_among(of(true).collect(), finding)? {
            Some(found) => Some(found),
            None => self.decides_among(of(false).collect(), finding)?,
        }
    }

    /// The same for some of the options; `None` if too many runs were needed.
    fn decides_among(&self, mut pool: Vec<Span>, finding: &(String, Span)) -> Option<Option<(Span, &Declared)>> {
        while self.any(&pool, finding)? {
            // With the options up to one the finding is gone, without that one it is there.
            let (mut there, mut gone) = (0, pool.len());
            while gone - there > 1 {
                let middle = usize::midpoint(there, gone);
                if self.any(pool.get(..middle)?, finding)? {
                    gone = middle;
                } else {
                    there = middle;
                }
            }
            let made = pool.remove(there);
            let option = self.first.options.get(&made)?;
            if self.any(&[made], finding)? && self.passes(made, option, finding)? {
                return Some(Some((made, option)));
            }
        }
        Some(None)
    }

    /// Whether the finding is gone where nothing is known of these options.
    fn any(&self, options: &[Span], finding: &(String, Span)) -> Option<bool> {
        let assumed = options.iter().map(|made| (*made, Other::Any)).collect();
        Some(self.run(assumed)?.refutes(finding))
    }

    /// Whether some value that users may well give lets the line pass: that nothing is known of
    /// what depends on an option does not say so.
    fn passes(&self, made: Span, option: &Declared, finding: &(String, Span)) -> Option<bool> {
        for other in &option.others {
            if self.run(Assumed::from([(made, other.clone())]))?.refutes(finding) {
                return Some(true);
            }
        }
        Some(option.others.is_empty())
    }

    /// `None` if too many runs were needed.
    fn run(&self, assumed: Assumed) -> Option<Rc<Run>> {
        if let Some(run) = self.known.borrow().get(&assumed) {
            return Some(run.clone());
        }
        let (runs, steps) = self.left.get();
        if runs == 0 || steps < self.first.steps {
            return None;
        }
        let run = Rc::new((self.again)(&assumed));
        self.left.set((runs - 1, steps.saturating_sub(run.steps)));
        self.known.borrow_mut().insert(assumed, run.clone());
        Some(run)
    }
}
