//! The budget of an execution, in steps: one for each statement and expression. After it is spent,
//! values are unknown, so that the time stays linear in the size of the program.

use rustc_hash::FxHashSet;

use crate::value::CodeId;

/// The limits of the budget.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// In total, except for the following.
    pub steps: u64,
    /// For functions that nothing calls.
    pub uncalled: u64,
    /// Inside the calls of those functions.
    pub inlining: u64,
    /// Modules are run where they are imported, as Python does, as long as they are no longer
    /// than this together, in bytes of source. Of the others only those statements are run
    /// that give a name its meaning, when the name is first used.
    pub eager: usize,
    /// In the functions of modules that are too large to run as a whole.
    pub visits: u64,
    /// In one call of such a function.
    pub longest_visit: u64,
}

/// Statements of lazily executed modules.
const IMPORT_STEPS: u64 = 30_000;

/// Calls out of the program proper have a budget of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Abroad {
    /// Into a lazily executed module.
    Visit,
    /// From the statements of a lazily executed module.
    Import,
}

/// A call out of the program proper, with all that it calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    kind: Abroad,
    left: u64,
}

/// The steps that are left.
#[derive(Debug)]
pub(super) struct Meter {
    left: Budget,
    /// For [`Abroad::Import`].
    import_visits: u64,
    importing: u64,
    visit: Option<Visit>,
    /// Bytes of modules that may still be run where they are imported.
    pub eager: usize,
    /// The functions in which a call did not finish within its budget.
    futile: FxHashSet<CodeId>,
    /// A step of the program proper was refused.
    pub exhausted: bool,
    /// How many steps were run, of whatever kind.
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

    /// The program has ended: from now on, functions that nothing calls are run.
    pub(super) fn begin_uncalled(&mut self) {
        self.left.steps = self.left.steps.min(self.left.uncalled);
    }

    /// Counts a step; false if no steps are left.
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

    /// Whether a call may be followed.
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

    /// A call leaves the program proper.
    pub(super) fn leave(&mut self, kind: Abroad) {
        let left = self.left.longest_visit.min(*self.allowance(kind));
        *self.allowance(kind) -= left;
        self.visit = Some(Visit { kind, left });
    }

    /// The call has returned; false if it was cut short.
    pub(super) fn come_back(&mut self, code: CodeId) -> bool {
        let Some(Visit { kind, left }) = self.visit.take() else { return true };
        *self.allowance(kind) += left;
        if left == 0 {
            self.futile.insert(code);
        }
        left > 0
    }

    /// Suspends the current visit until it is [resumed](Meter::resume): its steps do not count.
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
