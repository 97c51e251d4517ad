//! What an execution may cost, in steps: one for each statement and expression. Past it, values
//! are unknown: analysis stays linear in the size of what is checked.

use rustc_hash::FxHashSet;

use crate::value::CodeId;

/// How much may be spent, and on what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// In all, but for what follows.
    pub steps: u64,
    /// On functions that nothing calls.
    pub uncalled: u64,
    /// Inside the calls that these make.
    pub inlining: u64,
    /// Modules are run where they are imported, as Python does, as long as they are no longer
    /// than this together, in bytes of source. Of the others only those statements are run
    /// that give a name its meaning, when the name is first used.
    pub eager: usize,
    /// In the functions of modules that are too much to be run as a whole.
    pub visits: u64,
    /// In one call of such a function.
    pub longest_visit: u64,
}

/// Statements of modules of which only what is needed is run.
const IMPORT_STEPS: u64 = 30_000;

/// Calls out of the program proper have an allowance of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Abroad {
    /// Into a module of which only what is needed is run.
    Visit,
    /// By the statements of such a module.
    Import,
}

/// A call out of the program proper, with all that it calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    kind: Abroad,
    left: u64,
}

/// What is left.
#[derive(Debug)]
pub(super) struct Meter {
    left: Budget,
    /// For [`Abroad::Import`].
    import_visits: u64,
    importing: u64,
    visit: Option<Visit>,
    /// Bytes of modules that may still be run where they are imported.
    pub eager: usize,
    /// The functions in which a visit came to no end.
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

    /// The program is at its end: from now on functions are run that nothing calls.
    pub(super) fn begin_uncalled(&mut self) {
        self.left.steps = self.left.steps.min(self.left.uncalled);
    }

    /// Counts a step; false once nothing is left for it.
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

    /// It is back; false if it was cut short.
    pub(super) fn come_back(&mut self, code: CodeId) -> bool {
        let Some(Visit { kind, left }) = self.visit.take() else { return true };
        *self.allowance(kind) += left;
        if left == 0 {
            self.futile.insert(code);
        }
        left > 0
    }

    /// Takes the visit that is under way out of account, until it is [resumed](Meter::resume).
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
