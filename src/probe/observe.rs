//! What a run of the program shows about the findings of the checker.
//!
//! A witness is made from the same facts as its finding, so it cannot show that these facts are
//! wrong; a run of the program can. The probe observes each reported call in the program
//! (`runtime/calls.py`), and this module compares the observations with the claim of the rule's
//! page.

use std::path::Path;

use regex::Regex;

use super::driver::Asserts;
use super::event::{Call, End, Event, Exception, Line};
use super::judge::{Claim, DEVICES, asks_for_history, asks_for_role};
use super::report::{own, shown};
use super::run::{Outcome, Static};
use crate::diagnostic::{Observation, RunStatus, Severity};
use crate::rules::{Page, Rules};
use crate::value::counted;

/// One observation for each finding.
pub(crate) fn observe(findings: &[Static], rules: &Rules, outcome: &Outcome, root: &Path) -> Vec<Observation> {
    let seen = Seen::of(outcome, root);
    findings.iter().enumerate().map(|(number, finding)| seen.observe(number, finding, rules)).collect()
}

/// The reports of the processes of a run.
struct Seen<'a> {
    outcome: &'a Outcome,
    calls: Vec<(usize, &'a Call)>,
    /// Whether the program used a GPU, or ran with emulated GPUs.
    has_gpu: bool,
    untraced: Option<&'a str>,
    /// Why the program did not finish.
    early: Option<String>,
}

/// What happened at the call of one finding.
#[derive(Default)]
struct There<'a> {
    begun: bool,
    passed: bool,
    raised: Vec<String>,
    /// The message of the rule's contract, if it failed for the real arguments.
    violated: Option<&'a str>,
    held: bool,
}

impl<'a> Seen<'a> {
    fn of(outcome: &'a Outcome, root: &Path) -> Seen<'a> {
        let mut seen = Seen { outcome, calls: Vec::new(), has_gpu: false, untraced: None, early: None };
        for line in &outcome.lines {
            match &line.event {
                Event::Call { finding, call } => seen.calls.push((*finding, call)),
                Event::Start(start) => seen.has_gpu |= start.gpus.is_some(),
                Event::End(end) => seen.has_gpu |= end.gpu,
                Event::Untraced { reason } => seen.untraced = Some(reason),
                _ => {}
            }
        }
        seen.early = early(outcome, root);
        seen
    }

    fn there(&self, number: usize, finding: &Static) -> There<'a> {
        let mut there = There::default();
        for (_, call) in self.calls.iter().filter(|(of, _)| *of == number) {
            match call {
                Call::Begun => there.begun = true,
                Call::Passed => there.passed = true,
                Call::Raised { kind, message } => there.raised.push(format!("{kind}: {message}")),
            }
        }
        let here = |code: &str, filename: &str, line: usize| {
            code == finding.code
                && Path::new(filename) == finding.filename
                && (finding.first_line..=finding.last_line).contains(&line)
        };
        for line in &self.outcome.lines {
            match &line.event {
                Event::Finding(found) if here(&found.code, &found.filename, found.line) => {
                    there.violated = Some(&found.message);
                    there.raised.extend(found.raised.clone());
                }
                Event::End(End { held, .. }) => {
                    there.held |= held.iter().any(|at| here(&at.code, &at.filename, at.line));
                }
                _ => {}
            }
        }
        there
    }

    fn observe(&self, number: usize, finding: &Static, rules: &Rules) -> Observation {
        let Some(page) = rules.find(&finding.code) else {
            return undecided("not about a PyTorch call: the source alone shows the problem");
        };
        let claim = Claim::of(page, finding.severity);
        let there = self.there(number, finding);
        if let Some(message) = self.failure(page, &claim, &there) {
            return Observation { status: RunStatus::Observed, message: Some(message), reason: None };
        }
        // A failed contract is enough to show a silent mistake, or a mistake that only a GPU
        // rejects. For any other mistake, it is not enough if PyTorch accepted the call, because
        // then the contract is wrong.
        let tolerated = claim.on_cuda && !self.has_gpu;
        if let Some(message) = there.violated
            && (!claim.raises || claim.may_be_silent || tolerated || !there.passed)
        {
            let message = format!("the rule's contract fails for the program's own arguments: {message}");
            return Observation { status: RunStatus::Observed, message: Some(message), reason: None };
        }
        if let Some(other) = there.raised.first() {
            let line = other.lines().next().unwrap_or_default();
            return undecided(&format!("the call fails, but for another reason: {line}"));
        }
        if !there.begun && !there.held {
            return self.not_reached();
        }
        self.without_failure(finding, page, &claim, &there)
    }

    /// The message of the failure, if the program failed as the page claims.
    fn failure(&self, page: &Page, claim: &Claim, there: &There<'_>) -> Option<String> {
        let regex = |pattern: Option<&str>| pattern.and_then(|pattern| Regex::new(pattern).ok());
        let (on_cuda, devices) = (regex(page.cuda.as_deref()), regex(Some(DEVICES)));
        let fits = |text: &str| {
            claim.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
                || claim.about_devices && devices.as_ref().is_some_and(|pattern| pattern.is_match(text))
                || on_cuda.as_ref().is_some_and(|pattern| {
                    pattern.is_match(text)
                        || text.contains("device-side assert") && asserted(&self.outcome.asserts, pattern)
                })
        };
        if let Some(text) = there.raised.iter().find(|text| fits(text)) {
            return Some(text.clone());
        }
        let died = there.begun && !there.passed && there.raised.is_empty() && is_crash(self.outcome.exit_code);
        (died && claim.raises)
            .then(|| format!("the process crashes in this call, with exit code {}", self.outcome.exit_code))
    }

    /// The observation for a call that was made and did not fail.
    fn without_failure(&self, finding: &Static, page: &Page, claim: &Claim, there: &There<'_>) -> Observation {
        if claim.about_devices && !self.has_gpu {
            return undecided("the call succeeded without a GPU; `--device virtual` emulates one");
        }
        if finding.severity != Severity::Error {
            return undecided("the program made this call, and it succeeded this time");
        }
        // Real arguments do not show how their values were computed.
        let tells = !asks_for_history(page) && !asks_for_role(page);
        let refuses = claim.raises && (tells || !claim.may_be_silent);
        let reason = if refuses && there.passed {
            "the program made this call, and it succeeded"
        } else if tells && there.held && there.violated.is_none() {
            "the program made this call, and the rule's contract holds for its arguments"
        } else if claim.raises && !there.passed {
            return undecided("the program reached this line; only Python 3.11 or newer can distinguish its calls");
        } else {
            return undecided("the program reached this line, but a run cannot show this problem");
        };
        match &self.early {
            None => Observation { status: RunStatus::Refuted, message: None, reason: Some(reason.to_owned()) },
            Some(early) => undecided(&format!("{reason}; but {early}")),
        }
    }

    fn not_reached(&self) -> Observation {
        if let Some(reason) = self.untraced {
            return undecided(reason);
        }
        let reason = match &self.early {
            Some(early) => early.clone(),
            None if !self.outcome.lines.iter().any(|line| matches!(line.event, Event::Start(_))) => {
                "the program did not import PyTorch".to_owned()
            }
            None => "the program finished without making this call".to_owned(),
        };
        Observation { status: RunStatus::NotReached, message: None, reason: Some(reason) }
    }
}

pub(crate) fn undecided(reason: &str) -> Observation {
    Observation { status: RunStatus::Undecided, message: None, reason: Some(reason.to_owned()) }
}

/// Whether a failed assert that was reported matches the page.
fn asserted(asserts: &Asserts, pattern: &Regex) -> bool {
    asserts.conditions().any(|condition| pattern.is_match(condition))
}

/// Whether a process crashed (SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV). A process that was killed
/// from outside usually ends with another signal.
fn is_crash(exit_code: u8) -> bool {
    [4, 6, 7, 8, 11].map(|signal| 128 + signal).contains(&exit_code)
}

/// Why a program did not finish, as a part of a sentence.
fn early(outcome: &Outcome, root: &Path) -> Option<String> {
    if let Some(limit) = outcome.late {
        return Some(format!("the program did not finish within {} s", limit.as_secs_f64()));
    }
    let at = |filename: &str, line: usize| format!("{}:{line}", shown(Path::new(filename), root));
    let told = outcome.lines.iter().find_map(|Line { event, .. }| match event {
        Event::Refused { reason } => Some(reason.clone()),
        Event::Finding(found) if found.stopped => Some(format!(
            "the probe stopped the program at {} because of {}",
            at(&found.filename, found.line),
            found.code
        )),
        Event::Exception(Exception { kind, message, stack }) => {
            let place = own(stack).map(|frame| format!(" at {}", at(&frame.filename, frame.line)));
            let said = message.lines().next().map(|line| format!(": {line}")).unwrap_or_default();
            Some(format!("the program ended with {kind}{}{said}", place.unwrap_or_default()))
        }
        Event::Enough { steps } => Some(format!("the program was stopped after {}", counted(steps, "step"))),
        _ => None,
    });
    let by_code = || {
        let said = outcome.last_line.as_ref().map(|line| format!(": {line}")).unwrap_or_default();
        (outcome.exit_code != 0).then(|| format!("the program ended with exit code {}{said}", outcome.exit_code))
    };
    told.or_else(by_code)
}
