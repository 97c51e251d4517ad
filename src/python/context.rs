//! The context of the current code: whether it is a part of the run or speculative, and under which
//! conditions it runs.

use super::Bound;
use super::cadence::Cadence;
use super::interp::Interp;
use super::library::{CommandOption, Event, Observer, Rejection};
use crate::syntax::Span;
use crate::value::{Delta, Mark, ObjId, Sym, Value};

/// The mode of a run: whether the observer is notified, and for which purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A part of the run.
    Live,
    /// A replay of a later round of a loop, from exactly the state in which the previous round
    /// ended: only for rules about order.
    Replay,
    /// A run of a handler as if it had caught the exception of
    /// [`Library::fatal`](super::Library::fatal): only for rules about order.
    Hypothetical,
    /// A speculative run without notifications.
    Silent,
}

/// The conditions under which the current code runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub mode: Mode,
    /// The current code is in a function that nothing calls: earlier events are unknown.
    pub speculative: bool,
    /// The current code is in a function that runs as if nothing called it, although the program
    /// contains a call of a function of this name. The reason may be a condition that the run decided,
    /// for example by the default of an option.
    pub excluded: bool,
    /// The current code is in a function that runs as if nothing called it, although the program contains
    /// a call of a function of this name, or creates the module whose `forward` it is.
    pub has_callers: bool,
    /// The number of enclosing branches whose condition is unknown.
    pub undecided: u32,
    /// The number of enclosing undecided branches that are inside a function or a loop. The code
    /// after `if …: return` is such a branch.
    pub doubts: u32,
    /// The number of undecided branches inside functions, without those whose condition is assumed
    /// to recur. It also includes, for example, operands that some runs do not evaluate, `finally`
    /// blocks after an exception, and the code after a loop that raises in its first round.
    pub guesses: u32,
    /// The number of active loops that are in a later round.
    pub later_rounds: u32,
    /// The current code is in a later round of a loop that may end earlier, or in the `__exit__` of
    /// a manager. So a failure may not occur in every run that reaches the line.
    pub in_doubt: bool,
    /// The number of objects at the beginning of the current round, if this is known to be a later
    /// round.
    pub carried: Option<usize>,
    /// The current code is in a handler of exceptions, or reads an attribute with a default.
    pub in_handler: bool,
}

/// How certain it is that the program really reaches the current code in the current state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// For example, the code is in an arm of an unknown condition inside a function, or in an
    /// operand that some runs do not evaluate. The condition may exclude the values for which the
    /// code fails.
    Guessed,
    /// The code is after `if …: return`, in another arm of an unknown condition inside a function
    /// or loop, in a round that may not run, or in a function that an uncalled function calls.
    /// Arguments and conditions that depend on each other may have been assumed to be independent.
    Doubtful,
    Certain,
}

impl Context {
    pub(super) fn new() -> Context {
        Context {
            mode: Mode::Live,
            speculative: false,
            excluded: false,
            has_callers: false,
            undecided: 0,
            doubts: 0,
            guesses: 0,
            later_rounds: 0,
            in_doubt: false,
            carried: None,
            in_handler: false,
        }
    }
}

impl<'p> Interp<'p> {
    /// Calls `run` speculatively: the heap, the context and the exits are restored afterwards.
    pub(super) fn on_trial<T>(&mut self, mode: Mode, run: impl FnOnce(&mut Self, Mark) -> T) -> T {
        let (context, exits, refused, stopped) = (self.context, self.exits.len(), self.refused, self.stopped);
        let (mark, uncaught) = (self.heap.mark(), self.uncaught);
        self.context.mode = mode;
        let result = run(self, mark);
        self.heap.undo(mark);
        self.heap.release(mark);
        self.exits.truncate(exits);
        self.uncaught = uncaught;
        self.context = context;
        self.stopped = stopped;
        if mode == Mode::Silent {
            self.refused = refused;
        }
        result
    }

    /// Whether the mode is [`Mode::Live`].
    pub(super) fn is_live(&self) -> bool {
        self.context.mode == Mode::Live
    }

    pub(super) fn observer(&self) -> &'p dyn Observer {
        if self.context.mode == Mode::Silent { &Nobody } else { self.observer }
    }

    /// Whether the current code is replayed for the rules: a later round of a loop, or a hypothetical
    /// handler. A replayed round begins in the state in which the previous round ended, which is not
    /// a join of several rounds. So a fact that holds on every path of the replay is certain.
    pub(crate) fn second_round(&self) -> bool {
        matches!(self.context.mode, Mode::Replay | Mode::Hypothetical)
    }

    /// Whether the current code is in a handler that runs as if it had caught the exception of
    /// [`Library::fatal`](super::Library::fatal).
    pub(crate) fn imagining(&self) -> bool {
        self.context.mode == Mode::Hypothetical
    }

    /// Whether the current code is in a function that nothing calls: earlier events are unknown.
    pub(crate) fn speculative(&self) -> bool {
        self.context.speculative
    }

    /// Whether the current code is in a function that nothing called in this run, although the
    /// program contains a call of a function of this name.
    pub(crate) fn excluded(&self) -> bool {
        self.context.excluded
    }

    /// The number of nested undecided branches.
    pub(crate) fn undecided(&self) -> u32 {
        self.context.undecided
    }

    /// Whether this is certainly not the first round of a loop.
    pub(crate) fn later_round(&self) -> bool {
        self.context.carried.is_some()
    }

    /// How certain it is that the current code really runs in this state.
    pub(crate) fn certainty(&self) -> Certainty {
        if self.context.guesses > 0 {
            Certainty::Guessed
        } else if self.context.doubts > 0 || self.context.in_doubt || self.inlined() {
            Certainty::Doubtful
        } else {
            Certainty::Certain
        }
    }

    /// Runs code. If `guessed` is true, failures in the code are uncertain: in another run, the
    /// same line may succeed.
    pub(super) fn guessing<T>(&mut self, guessed: bool, run: impl FnOnce(&mut Self) -> T) -> T {
        let guesses = self.context.guesses;
        self.context.guesses += u32::from(guessed);
        let result = run(self);
        self.context.guesses = guesses;
        result
    }

    /// Reports wrong arguments of the current call. If the callee is the same in all
    /// calls of the current function, the mistake does not depend on the condition of the arm that
    /// contains the call.
    pub(crate) fn in_arm_of_callee(&mut self, report: impl FnOnce(&mut Self)) {
        self.in_any_arm_if(self.callee_is_global, report);
    }

    /// Reports a mistake that depends only on the type of a value. If the current function has
    /// created the value, the mistake does not depend on the condition of the arm that contains it.
    pub(crate) fn in_arm_of(&mut self, value: &Value, report: impl FnOnce(&mut Self)) {
        self.in_any_arm_if(self.is_made_here(value), report);
    }

    /// Whether the current call has created a value, or all elements of a tuple.
    pub(crate) fn is_made_here(&self, value: &Value) -> bool {
        // The scope of a call is created at its beginning.
        let Some(frame) = self.frames.last() else { return false };
        let parts = value.parts();
        // The join of collections is a new object, but stands for older ones.
        let is_new = |id: ObjId| id > frame.home && !(self.heap.is_collection(id) && self.heap.is_joined(id));
        !parts.is_empty() && parts.iter().all(|part| part.as_obj().is_some_and(is_new))
    }

    /// Reports a mistake that does not depend on the values of variables, for example the use of a
    /// name that a module does not have. In the arm of an unknown condition, it is a mistake
    /// whenever the arm runs.
    pub(crate) fn in_any_arm<T>(&mut self, report: impl FnOnce(&mut Self) -> T) -> T {
        let (guesses, doubts) = (self.context.guesses, self.context.doubts);
        if guesses > 0 {
            (self.context.guesses, self.context.doubts) = (0, doubts.saturating_add(1));
        }
        let result = report(self);
        (self.context.guesses, self.context.doubts) = (guesses, doubts);
        result
    }

    /// [`Interp::in_any_arm`] for a mistake that is `independent` of the condition of an arm; runs `report` as it is
    /// otherwise.
    pub(crate) fn in_any_arm_if<T>(&mut self, independent: bool, report: impl FnOnce(&mut Self) -> T) -> T {
        if independent { self.in_any_arm(report) } else { report(self) }
    }

    /// Enters one arm of an unknown condition.
    pub(super) fn enter_side(&mut self, outside: Context, cadence: Cadence) {
        self.context.undecided = outside.undecided.saturating_add(1);
        self.context.doubts = self.doubted(outside.doubts);
        if cadence == Cadence::Unclear {
            self.context.guesses = outside.guesses.saturating_add(u32::from(self.frames.len() > 1));
        }
    }

    /// `doubts`, plus 1 for one more undecided branch if the code may run more than once, because
    /// it is inside a function or loop.
    pub(super) fn doubted(&self, doubts: u32) -> u32 {
        let repeats = self.frames.len() > 1 || self.frames.last().is_some_and(|frame| frame.loops().next().is_some());
        doubts.saturating_add(u32::from(repeats))
    }

    /// Joins the states of paths; returns false if there are none.
    pub(super) fn meet(&mut self, mark: Mark, ends: &[Delta]) -> bool {
        self.heap.undo(mark);
        if !ends.is_empty() {
            self.heap.join(ends, false);
        }
        self.heap.release(mark);
        !ends.is_empty()
    }
}

/// The observer of runs in [`Mode::Silent`], which ignores all events.
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
