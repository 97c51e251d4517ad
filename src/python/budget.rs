//! The step budget of a run: one step for each statement, expression and call. When it is spent,
//! values become unknown, so that the run time stays linear in the size of the program.

use rustc_hash::FxHashSet;

use crate::value::CodeId;

/// The limits of the budget.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// All steps outside lazily executed modules.
    pub steps: u64,
    /// Steps in functions that nothing calls, and in the calls that they make.
    pub uncalled: u64,
    /// Steps in the calls that these functions make. (They are also a part of `uncalled`.)
    pub inlining: u64,
    /// The total size of the modules (in bytes of source) that run when they are imported, as in
    /// Python. A module beyond this total is executed lazily: only the statements that bind a name
    /// run, when the name is first used.
    pub eager: usize,
    /// Steps in the functions of lazily executed modules.
    pub visits: u64,
    /// Steps in one call that runs code of a lazily executed module.
    pub longest_visit: u64,
}

/// The number of objects that a join or an uncertain write visits in about the time of a step.
const OBJECTS_OF_STEP: u64 = 8;

/// Steps in statements of lazily executed modules.
const IMPORT_STEPS: u64 = 30_000;

/// Calls that run code of lazily executed modules. They have their own budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Abroad {
    /// A call of a function in a lazily executed module.
    Visit,
    /// A call in a statement of a lazily executed module.
    Import,
}

/// A call that runs code of a lazily executed module, with all calls inside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    kind: Abroad,
    left: u64,
}

/// The remaining steps.
#[derive(Debug)]
pub(super) struct Meter {
    left: Budget,
    /// The budget for [`Abroad::Import`].
    import_visits: u64,
    importing: u64,
    visit: Option<Visit>,
    /// The total size of the further modules that may run when they are imported.
    pub eager: usize,
    /// Functions with a call that did not finish within its budget.
    futile: FxHashSet<CodeId>,
    /// The budget of the program itself is spent.
    pub exhausted: bool,
    /// The number of all steps so far.
    pub spent: u64,
}

impl Meter {
    pub(super) fn new(budget: Budget) -> Meter {
        Meter {
            left: budget,
            import_visits: budget.visits / 2,
            importing: IMPORT_STEPS,
            visit: None,
            eager: budget.eager,
            futile: FxHashSet::default(),
            exhausted: false,
            spent: 0,
        }
    }

    /// The program has ended: functions that nothing calls run from now on.
    pub(super) fn begin_uncalled(&mut self) {
        self.left.steps = self.left.steps.min(self.left.uncalled);
    }

    /// Counts a step; returns false if no steps are left.
    pub(super) fn step(&mut self, is_import: bool, is_inlined: bool) -> bool {
        self.spent += 1;
        let other = match &mut self.visit {
            Some(visit) => Some(&mut visit.left),
            None => is_import.then_some(&mut self.importing),
        };
        if let Some(left) = other {
            let some_left = *left > 0;
            *left = left.saturating_sub(1);
            return some_left;
        }
        if self.left.steps == 0 {
            self.exhausted = true;
            return false;
        }
        self.left.steps -= 1;
        if is_inlined {
            self.left.inlining = self.left.inlining.saturating_sub(1);
        }
        true
    }

    /// Whether no steps are left, so that no statement runs any more.
    pub(super) fn is_spent(&self, is_import: bool) -> bool {
        match self.visit {
            Some(visit) => visit.left == 0,
            None => self.left.steps == 0 || is_import && self.importing == 0,
        }
    }

    /// Converts the objects that joins and uncertain writes have visited into steps, and counts these.
    pub(super) fn visit(&mut self, objects: &mut u64) {
        let steps = *objects / OBJECTS_OF_STEP;
        *objects %= OBJECTS_OF_STEP;
        self.spent += steps;
        self.left.steps = self.left.steps.saturating_sub(steps);
        if let Some(visit) = &mut self.visit {
            visit.left = visit.left.saturating_sub(steps);
        }
    }

    /// Whether the body of a function may be run.
    pub(super) fn may_call(&self, code: CodeId, leaves: Option<Abroad>, is_inlined: bool) -> bool {
        let some_left = match (self.visit, leaves) {
            (Some(visit), _) => visit.left > 0,
            (None, Some(_)) if self.futile.contains(&code) => false,
            (None, Some(Abroad::Visit)) => self.left.visits > 0,
            (None, Some(Abroad::Import)) => self.import_visits > 0,
            (None, None) => !is_inlined || self.left.inlining > 0,
        };
        some_left && self.left.steps > 0
    }

    pub(super) fn may_import(&self) -> bool {
        self.importing > 0
    }

    pub(super) fn is_abroad(&self) -> bool {
        self.visit.is_some()
    }

    /// Begins a call that runs code of a lazily executed module.
    pub(super) fn leave(&mut self, kind: Abroad) {
        let left = self.left.longest_visit.min(*self.allowance(kind));
        *self.allowance(kind) -= left;
        self.visit = Some(Visit { kind, left });
    }

    /// Ends the call that [`Meter::leave`] began; returns false if it did not finish within its
    /// budget.
    pub(super) fn come_back(&mut self, code: CodeId) -> bool {
        let Some(Visit { kind, left }) = self.visit.take() else { return true };
        *self.allowance(kind) += left;
        if left == 0 {
            self.futile.insert(code);
        }
        left > 0
    }

    /// Stops counting steps for the call that [`Meter::leave`] began, until [`Meter::resume`].
    pub(super) fn pause(&mut self) -> Option<Visit> {
        self.visit.take()
    }

    pub(super) fn resume(&mut self, visit: Option<Visit>) {
        self.visit = visit;
    }

    fn allowance(&mut self, kind: Abroad) -> &mut u64 {
        match kind {
            Abroad::Visit => &mut self.left.visits,
            Abroad::Import => &mut self.import_visits,
        }
    }
}
