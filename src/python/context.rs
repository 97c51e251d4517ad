//! How the present code is being run: for real, or on trial, and under which conditions.

use super::Bound;
use super::cadence::Cadence;
use super::interp::Interp;
use super::library::{CommandOption, Event, Observer, Rejection};
use crate::syntax::Span;
use crate::value::{Delta, Mark, Sym, Value};

/// Who is told of what is run, and what is kept of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A part of the run.
    Live,
    /// A later round of a loop, from exactly the state in which the one before ended: for rules
    /// about order only.
    Replay,
    /// What a handler would do with [`Library::fatal`](super::Library::fatal), for rules about
    /// order only.
    Hypothetical,
    /// A trial of which nobody is told.
    Silent,
}

/// The conditions under which the present code is run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub mode: Mode,
    /// It is run as a function that nothing calls: what happened before it is not known.
    pub speculative: bool,
    /// How many branches enclose it of which it is not known whether they are taken.
    pub undecided: u32,
    /// The same, of branches in functions; what follows `if …: return` counts as one.
    pub doubts: u32,
    /// Of these, the arms of conditions of which it is not known that they hold now and then.
    pub guesses: u32,
    /// How many loops are being run beyond their first round.
    pub later_rounds: u32,
    /// It is a later round of a loop that may end before: what fails in it need not fail wherever
    /// the line is reached.
    pub in_doubt: bool,
    /// How many objects there were where the present round of a loop began that is known to be
    /// a later one.
    pub carried: Option<usize>,
}

/// How sure it is that some code runs as it is run here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// An arm of a condition that is not known: the condition may have to do with what fails in it.
    Guessed,
    /// The callee of a function that nothing calls, or what follows an `if …: return`: arguments
    /// and conditions that belong together may have been decided apart.
    Doubtful,
    Certain,
}

impl Context {
    pub(super) fn new() -> Context {
        Context {
            mode: Mode::Live,
            speculative: false,
            undecided: 0,
            doubts: 0,
            guesses: 0,
            later_rounds: 0,
            in_doubt: false,
            carried: None,
        }
    }
}

impl<'p> Interp<'p> {
    /// Runs something on trial: the heap, the context and the paths that left blocks are
    /// afterwards as they were before.
    pub(super) fn on_trial<T>(&mut self, mode: Mode, run: impl FnOnce(&mut Self, Mark) -> T) -> T {
        let (context, exits, refused, stopped) = (self.context, self.exits.len(), self.refused, self.stopped);
        let mark = self.heap.mark();
        self.context.mode = mode;
        let result = run(self, mark);
        self.heap.undo(mark);
        self.heap.release(mark);
        self.exits.truncate(exits);
        self.context = context;
        self.stopped = stopped;
        if mode == Mode::Silent {
            self.refused = refused;
        }
        result
    }

    /// Whether what is run is a part of the run, and not a trial.
    pub(super) fn is_live(&self) -> bool {
        self.context.mode == Mode::Live
    }

    pub(super) fn observer(&self) -> &'p dyn Observer {
        if self.context.mode == Mode::Silent { &Nobody } else { self.observer }
    }

    /// Whether a later round of a loop is being shown, from exactly the state in which the one
    /// before ended, or what a handler would do: there, what is true of every path is true of
    /// every run.
    pub(crate) fn second_round(&self) -> bool {
        matches!(self.context.mode, Mode::Replay | Mode::Hypothetical)
    }

    /// Whether a handler is being run as if it had caught [`Library::fatal`](super::Library::fatal).
    pub(crate) fn imagining(&self) -> bool {
        self.context.mode == Mode::Hypothetical
    }

    /// Whether a function that nothing calls is being run: what happened before it is not known.
    pub(crate) fn speculative(&self) -> bool {
        self.context.speculative
    }

    /// How many undecided branches are being run, one inside the other.
    pub(crate) fn undecided(&self) -> u32 {
        self.context.undecided
    }

    /// Whether this is certain not to be the first round of a loop.
    pub(crate) fn later_round(&self) -> bool {
        self.context.carried.is_some()
    }

    /// How sure it is that what is run here is what really happens.
    pub(crate) fn certainty(&self) -> Certainty {
        if self.context.guesses > 0 {
            Certainty::Guessed
        } else if self.context.doubts > 0 || self.context.in_doubt || self.inlined() {
            Certainty::Doubtful
        } else {
            Certainty::Certain
        }
    }

    /// Enters one side of a condition that is not known.
    pub(super) fn enter_side(&mut self, outside: Context, cadence: Cadence) {
        self.context.undecided = outside.undecided.saturating_add(1);
        self.context.doubts = self.doubted(outside.doubts);
        if cadence == Cadence::Unclear {
            self.context.guesses = self.doubted(outside.guesses);
        }
    }

    /// One doubt more, inside functions.
    pub(super) fn doubted(&self, doubts: u32) -> u32 {
        if self.frames.len() > 1 { doubts.saturating_add(1) } else { doubts }
    }

    /// Joins the states of paths that meet; false where there is none.
    pub(super) fn meet(&mut self, mark: Mark, ends: &[Delta]) -> bool {
        self.heap.undo(mark);
        if !ends.is_empty() {
            self.heap.join(ends, false);
        }
        self.heap.release(mark);
        !ends.is_empty()
    }
}

/// Who watches what is run in silence.
struct Nobody;

impl Observer for Nobody {
    fn call(&self, _it: &mut Interp<'_>, _path: Sym, _bound: &Bound, _span: Span) {}

    fn watches(&self, _path: Sym) -> bool {
        false
    }

    fn rejected(&self, _it: &mut Interp<'_>, _rejection: Rejection) {}

    fn refused(&self, _it: &Interp<'_>, _before: u32, _path: Sym, _bound: &Bound) {}

    fn assigned(&self, _it: &mut Interp<'_>, _name: &str, _value: &Value, _span: Span) {}

    fn evaluated(&self, _it: &mut Interp<'_>, _value: &Value, _span: Span) {}

    fn event(&self, _it: &mut Interp<'_>, _event: Event<'_>) {}

    fn option(&self, _it: &mut Interp<'_>, _option: &CommandOption<'_>) -> Option<Value> {
        None
    }

    fn moments(&self) -> u32 {
        0
    }
}
