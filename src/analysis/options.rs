//! Findings that hold only while an option of the command line has its default.
//!
//! The first run gives every option its default. A failure is an error only if it does not depend
//! on an option. So the file is run again with other values, and a finding that these runs refute
//! becomes a warning. If another value of a single option refutes the finding, the warning names that option.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::Report;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::library::torch::broadcast::assumes_gpu;
use crate::python::{CommandOption, Interp, Skipped};
use crate::syntax::Span;
use crate::value::{Sign, Size, Type, Value, sym};

/// The largest number of further runs of a file, and the largest total number of their steps.
const MAX_RUNS: u32 = 24;
const MAX_STEPS: u64 = 400_000;

/// The number of further runs that are made even if they exceed `MAX_STEPS`.
const LEAST_RUNS: u32 = 4;

/// The largest number of strings that are tried because the program compares an option with them.
const MAX_COMPARED: usize = 6;

/// The largest number of options that are tried one by one.
const MAX_NAMED: usize = 6;

/// The rule about operations that the kinds of their operands do not have.
pub(super) const OPERATION: &str = "TV822";

/// The rule about indices and keys that do not exist.
const INDEX: &str = "TV201";

/// An option that a run has read.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    name: String,
    /// The default, as messages show it.
    default: String,
    /// The other values to try.
    others: Vec<Other>,
    /// The program is assumed to accept these values, because they are listed choices, or because
    /// the default is an integer or a bool.
    sure: bool,
}

/// A value of an option other than its default.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Other {
    /// An unknown value of the default's type.
    Any,
    Int(i64),
    Bool(bool),
    Text(String),
    /// A string that the program does not mention.
    Invented(String),
}

/// The options with other values than their defaults, by the place of their declaration.
pub(super) type Assumed = BTreeMap<Span, Other>;

/// The code and the place of a finding.
type Finding = (String, Span);

/// The result of one run: the options that it read, and the places where an operation, such as a
/// call, succeeded or failed.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub options: IndexMap<Span, Declared, FxBuildHasher>,
    /// Places where an operation succeeded in at least one context.
    pub passed: FxHashSet<Span>,
    /// Places where an operation fails. Guessed failures are left out. Doubtful failures are left
    /// out if an operation at the same place succeeded or may have succeeded.
    pub failed: FxHashSet<Span>,
    /// Places where an operation fails only in arms of unknown conditions or in functions that
    /// nothing calls.
    pub supposed: FxHashSet<Span>,
    /// Places where an operation fails only in functions that nothing called, although the program
    /// contains calls of functions of these names. The default of an option may exclude the calls.
    pub excluded: FxHashSet<Span>,
    /// Places where an operation on an unknown object may have succeeded.
    pub unjudged: FxHashSet<Span>,
    /// The findings that the value of an option may refute.
    pub found: FxHashSet<Finding>,
    /// The number of steps of the run.
    pub steps: u64,
    /// The program ended with an exception or a call such as `sys.exit()`. False if the last statement of the
    /// file is such a call or `raise`.
    pub ended_early: bool,
    /// The code of called functions that the run has not reached. Empty for all runs but the first.
    pub skipped: Skipped,
    /// A function that nothing calls has a parameter with a default other than, for example, `None` or 0.
    pub has_defaults: bool,
    /// The step budget was spent.
    pub exhausted: bool,
}

impl Run {
    /// Whether this run shows, with the required `proof`, that a finding of the first run does not
    /// hold. If calls at the place of the finding also succeeded in the first run, a run that
    /// spent its budget proves nothing: it may not have reached the call that fails.
    fn refutes(&self, finding: &Finding, first: &Run, proof: Proof) -> bool {
        let passed = self.passed.contains(&finding.1);
        // An operation on `None` that another value of an option avoids is one on the default of this option.
        let proof = if finding.0 == OPERATION { Proof::Silent } else { proof };
        let reached = match proof {
            Proof::Passed => passed,
            Proof::Reached => passed || self.unjudged.contains(&finding.1),
            Proof::Silent => true,
        };
        reached && !self.has(finding) && (!self.exhausted || !first.passed.contains(&finding.1))
    }

    /// Whether this run has the finding, or another failure at its place.
    fn has(&self, (code, span): &Finding) -> bool {
        self.failed.contains(span) || self.found.contains(&(code.clone(), *span))
    }
}

/// What a run must show to refute a finding.
#[derive(Debug, Clone, Copy)]
enum Proof {
    /// The call succeeds.
    Passed,
    /// The run reaches the call, but the called object may be unknown.
    Reached,
    /// The run does not have the finding.
    Silent,
}

/// Whether the value of an option may refute a finding. The finding must be an error, or a warning
/// that assumes a GPU: an option may select the device.
fn is_in_question(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error || assumes_gpu(&finding.message)
}

/// The findings of a report that the value of an option may refute.
pub(super) fn in_question(report: &Report) -> FxHashSet<Finding> {
    let found = report.diagnostics.iter().filter(|d| is_in_question(d));
    found.map(|d| (d.code.to_string(), d.span)).collect()
}

impl Declared {
    /// `texts` returns the texts of the program's files.
    pub(super) fn new<'t>(option: &CommandOption<'_>, texts: impl Fn() -> Vec<&'t str>) -> Declared {
        let choices = option.choices.iter().filter_map(|choice| match (choice, option.default) {
            (Value::Int(n), default) if default.as_int() != Some(*n) => Some(Other::Int(*n)),
            (Value::Str(text), default) if default.as_str() != Some(&**text) => Some(Other::Text(text.to_string())),
            _ => None,
        });
        let listed: Vec<Other> = choices.collect();
        let sure = !listed.is_empty() || matches!(option.default, Value::Bool(_) | Value::Int(_));
        let others = match option.default {
            _ if option.is_list => vec![Other::Any],
            _ if !listed.is_empty() => listed,
            Value::Bool(b) => vec![Other::Bool(!b)],
            // Three other values are tried: 1, because a size of 1 broadcasts; the default plus 1;
            // and twice the default, because every divisor of the default divides it.
            Value::Int(n) => {
                let mut all = vec![1, n.saturating_add(1), n.saturating_mul(2)];
                all.retain(|other| other != n);
                all.dedup();
                all.into_iter().map(Other::Int).collect()
            }
            Value::Str(text) if text.starts_with("cuda") => vec![Other::Text("cpu".to_owned())],
            Value::Str(text) if &**text == "cpu" => vec![Other::Text("cuda".to_owned())],
            Value::Str(text) => {
                let mut all = compared(&texts(), option.name);
                all.retain(|other| **other != **text);
                all.truncate(MAX_COMPARED);
                let invented = Other::Invented(format!("{text}-2"));
                let any = selects_key(&texts(), option.name).then_some(Other::Any);
                all.into_iter().map(Other::Text).chain([invented]).chain(any).collect()
            }
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

    /// Whether the other values include a string other than an invented one.
    fn selects(&self) -> bool {
        self.others.iter().any(|other| matches!(other, Other::Text(_)))
    }
}

/// The strings with which a program compares an option, or a variable or dictionary entry of the same
/// name: `args.mode == "fast"`, `mode == "fast"`, `config["mode"] == "fast"`.
fn compared(texts: &[&str], option: &str) -> Vec<String> {
    let name = option.trim_start_matches('-').replace('-', "_");
    let literal = |rest: &str| {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        rest.get(1..)?.split(quote).next().map(str::to_owned)
    };
    let mut all = Vec::new();
    for end in [" == ", "'] == ", "\"] == "] {
        let comparison = format!("{name}{end}");
        for text in texts {
            for (at, _) in text.match_indices(&comparison) {
                let before = text.get(..at).and_then(|before| before.chars().next_back());
                let is_whole = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
                let found = text.get(at + comparison.len()..).filter(|_| is_whole).and_then(literal);
                all.extend(found.filter(|found| !all.contains(found)));
            }
        }
    }
    all
}

/// Whether a program uses an option as the key of a dictionary: `MODELS[args.model]`.
fn selects_key(texts: &[&str], option: &str) -> bool {
    let name = option.trim_start_matches('-').replace('-', "_");
    let subscript = format!(".{name}]");
    texts.iter().any(|text| text.contains(&subscript))
}

/// The value of an option in a run that assumes `other` instead of the default.
pub(super) fn value(it: &mut Interp<'_>, option: &CommandOption<'_>, other: &Other) -> Value {
    match other {
        Other::Int(n) => Value::Int(*n),
        Other::Bool(b) => Value::Bool(*b),
        Other::Text(text) | Other::Invented(text) => Value::str(text),
        Other::Any if option.is_list => Value::Unknown,
        Other::Any => match option.default {
            // A default above 0 is usually a count, so the unknown value is assumed to be above 0,
            // too.
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

/// The options for one more run of a program that ends early: all are unknown, because such a program
/// often does not accept the default of an option. `None` if the program reads no options, does not end
/// early, or has spent its budget.
pub(super) fn for_later_code(first: &Run) -> Option<Assumed> {
    let wanted = first.ended_early && !first.exhausted && !first.options.is_empty();
    wanted.then(|| unknown(first))
}

/// Unknown values for all options that a run has read.
pub(super) fn unknown(first: &Run) -> Assumed {
    first.options.keys().map(|made| (*made, Other::Any)).collect()
}

/// Turns an error into a warning if a run with other option values refutes it. Drops a finding that
/// depends on the default of an option and also on an assumption, for example that an unknown
/// condition holds. Such a condition often depends on the same option, and a real run with the
/// default may not reach the place. Also drops an error that depends on an option whose default is `None`:
/// such an option is given in every real run.
pub(super) fn weaken(found: &mut Vec<Diagnostic>, first: &Run, again: &dyn Fn(&Assumed) -> Run) {
    if first.options.is_empty() || !found.iter().any(is_in_question) {
        return;
    }
    let worlds = Worlds { first, again, known: RefCell::default(), left: Cell::new((MAX_RUNS, MAX_STEPS)) };
    found.retain_mut(|diagnostic| {
        if !is_in_question(diagnostic) {
            return true;
        }
        let finding = (diagnostic.code.to_string(), diagnostic.span);
        if first.excluded.contains(&finding.1) && !worlds.unknown().is_some_and(|run| run.has(&finding)) {
            return false;
        }
        if diagnostic.severity == Severity::Error {
            let depends = worlds.decides(&finding, &diagnostic.message);
            if matches!(&depends, Dependence::One(_, option) if option.default == "None")
                || matches!(&depends, Dependence::No) && worlds.are_not_given(&finding, &diagnostic.message)
            {
                return false;
            }
            weaken_one(diagnostic, &depends);
            // The use of a name that a library does not have is a mistake under every condition.
            let is_of_library = &*finding.0 == "TV801" && diagnostic.message.contains("` does not exist");
            return is_of_library || matches!(depends, Dependence::No) || !first.supposed.contains(&finding.1);
        }
        // A warning that rests on an assumption is dropped with less proof than an error needs.
        worlds.unknown().is_none_or(|run| run.has(&finding) || !run.passed.contains(&finding.1))
    });
}

/// Turns an error that depends on options into a warning. If another value of a single option
/// refutes the error, the warning names this option; other options may refute the error, too.
fn weaken_one(diagnostic: &mut Diagnostic, depends: &Dependence<'_>) {
    match depends {
        Dependence::No => {}
        Dependence::Several => {
            diagnostic.severity = Severity::Warning;
            diagnostic.message.push_str(" (if the options of the command line have their defaults)");
        }
        Dependence::One(made, Declared { name, default, .. }) => {
            diagnostic.severity = Severity::Warning;
            let told = match default.is_empty() {
                true => format!(" (if `{name}` and the other options have their defaults)"),
                false => format!(" (if `{name}` is {default}, and the other options have their defaults)"),
            };
            diagnostic.message.push_str(&told);
            let message = format!("with another value of `{name}`, the reported line may succeed");
            diagnostic.labels.push(Label { span: *made, message });
        }
    }
}

/// The runs with other option values, each executed only once.
struct Worlds<'a> {
    first: &'a Run,
    again: &'a dyn Fn(&Assumed) -> Run,
    known: RefCell<BTreeMap<Assumed, Rc<Run>>>,
    /// The number of runs that are left, and the number of steps that are left for all of them.
    left: Cell<(u32, u64)>,
}

/// Whether a finding depends on the values of options.
enum Dependence<'a> {
    No,
    /// The finding depends on this option, which is declared at this place.
    One(Span, &'a Declared),
    /// The finding depends on some option, because runs with unknown options do not have it. To
    /// find out which option it is, more runs or steps than allowed are needed.
    Several,
}

impl Worlds<'_> {
    fn decides(&self, finding: &Finding, message: &str) -> Dependence<'_> {
        // If a message contains the number or the device that is the default of an option, the
        // finding often depends on this option.
        let words: Vec<&str> = message.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let is_named = |option: &Declared| {
            let default = option.default.trim_matches('\'');
            let device = default.split(':').next().filter(|kind| matches!(*kind, "cuda" | "cpu"));
            words.contains(&device.unwrap_or(default))
        };
        for (made, option) in self.first.options.iter().filter(|(_, option)| is_named(option)).take(MAX_NAMED) {
            if self.any(&[*made], finding, Proof::Passed) == Some(true)
                && self.passes(*made, option, finding, Proof::Passed) == Some(true)
            {
                return Dependence::One(*made, option);
            }
        }
        // A string with which the program compares an option often selects the class of an object.
        for (made, option) in self.first.options.iter().filter(|(_, option)| option.selects()).take(MAX_NAMED) {
            if self.passes(*made, option, finding, Proof::Passed) == Some(true) {
                return Dependence::One(*made, option);
            }
        }
        // The result is the first option on which the finding depends. So the options whose other
        // values the program is assumed to accept are searched before the others.
        let of = |sure: bool| self.first.options.iter().filter(move |(_, o)| o.sure == sure).map(|(made, _)| *made);
        // This run is always made, before the allowed number of runs is spent.
        self.unknown();
        for pool in [of(true).collect(), of(false).collect()] {
            match self.search(pool, finding, (Proof::Passed, Proof::Passed)) {
                Some(Dependence::No) => {}
                Some(found) => return found,
                None => return self.unproved(finding),
            }
        }
        // If an option is unknown, an object that depends on it may be unknown, too. It is then
        // also unknown whether calls of this object succeed, so the last search accepts weaker
        // proofs.
        let all: Vec<Span> = self.first.options.keys().copied().collect();
        match self.search(all, finding, (Proof::Silent, Proof::Reached)) {
            Some(found @ Dependence::One(..)) => found,
            Some(Dependence::Several) => {
                let known = self.known.borrow();
                let refuted = known.values().any(|run| run.refutes(finding, self.first, Proof::Passed));
                if refuted { Dependence::Several } else { Dependence::No }
            }
            None => self.unproved(finding),
            // The run with unknown options neither has the finding nor reaches the end of the
            // program.
            Some(Dependence::No) if self.unknown().is_some_and(|run| run.exhausted && !run.has(finding)) => {
                Dependence::Several
            }
            Some(Dependence::No) => Dependence::No,
        }
    }

    /// Whether an operation fails on the defaults `None` of several options: `load(args.a)` and `load(args.b)`.
    fn are_not_given(&self, finding: &Finding, message: &str) -> bool {
        finding.0 == OPERATION
            && message.contains("None")
            && self.first.options.values().filter(|option| option.default == "None").count() > 1
            && self.unknown().is_some_and(|run| !run.exhausted && !run.has(finding))
    }

    /// The answer if more runs than allowed are needed: the finding depends on no option if it does not need any
    /// default.
    fn unproved(&self, finding: &Finding) -> Dependence<'_> {
        match self.unknown() {
            Some(run) if run.has(finding) => Dependence::No,
            _ => Dependence::Several,
        }
    }

    /// Like [`Worlds::decides`], for some of the options. The first of `proofs` is required from a
    /// run with unknown options, the second from a run with a known value. `None` if more runs than allowed are
    /// needed.
    fn search(&self, mut pool: Vec<Span>, finding: &Finding, proofs: (Proof, Proof)) -> Option<Dependence<'_>> {
        if pool.is_empty() || !self.any(&pool, finding, proofs.0)? {
            return Some(Dependence::No);
        }
        Some(self.one_of(&mut pool, finding, proofs).unwrap_or(Dependence::Several))
    }

    /// Searches the options in `pool` for one on which the finding depends. `None` if too many runs
    /// are needed.
    fn one_of(&self, pool: &mut Vec<Span>, finding: &Finding, proofs: (Proof, Proof)) -> Option<Dependence<'_>> {
        let (unknown, known) = proofs;
        while !pool.is_empty() && self.any(pool, finding, unknown)? {
            // A binary search: if the first `gone` options are unknown, the finding disappears; if
            // only the first `there` options are unknown, it does not.
            let (mut there, mut gone) = (0, pool.len());
            while gone - there > 1 {
                let middle = usize::midpoint(there, gone);
                if self.any(pool.get(..middle)?, finding, unknown)? {
                    gone = middle;
                } else {
                    there = middle;
                }
            }
            let made = pool.remove(there);
            let option = self.first.options.get(&made)?;
            if self.any(&[made], finding, unknown)? && self.passes(made, option, finding, known)? {
                return Some(Dependence::One(made, option));
            }
        }
        Some(Dependence::No)
    }

    /// Whether the finding disappears if these options are unknown.
    fn any(&self, options: &[Span], finding: &Finding, proof: Proof) -> Option<bool> {
        let assumed = options.iter().map(|made| (*made, Other::Any)).collect();
        Some(self.run(assumed)?.refutes(finding, self.first, proof))
    }

    /// Whether the line succeeds with one of the option's other values. Most of these are known
    /// values, because an unknown value makes everything that depends on it unknown.
    fn passes(&self, made: Span, option: &Declared, finding: &Finding, proof: Proof) -> Option<bool> {
        // A text from which the program makes a key has other values, although nothing compares it.
        let any = (finding.0 == INDEX && option.default.starts_with('\'')).then_some(&Other::Any);
        for other in option.others.iter().chain(any) {
            // The program does not know an invented string, so objects that depend on the string
            // may be unknown.
            if matches!((proof, other), (Proof::Reached, Other::Invented(_))) {
                continue;
            }
            if self.run(Assumed::from([(made, other.clone())]))?.refutes(finding, self.first, proof) {
                return Some(true);
            }
        }
        Some(option.others.is_empty())
    }

    /// The result of a run in which all options are unknown.
    fn unknown(&self) -> Option<Rc<Run>> {
        self.run(unknown(self.first))
    }

    /// The result of a run with these values; `None` if too many runs are needed.
    fn run(&self, assumed: Assumed) -> Option<Rc<Run>> {
        if let Some(run) = self.known.borrow().get(&assumed) {
            return Some(run.clone());
        }
        let (runs, steps) = self.left.get();
        if runs == 0 || (steps < self.first.steps && runs <= MAX_RUNS - LEAST_RUNS) {
            return None;
        }
        let run = Rc::new((self.again)(&assumed));
        self.left.set((runs - 1, steps.saturating_sub(run.steps)));
        self.known.borrow_mut().insert(assumed, run.clone());
        Some(run)
    }
}
