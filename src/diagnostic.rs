//! Findings as plain data. `contract` and `rules` create most of them; `output`, `server` and
//! `probe` read them.

use std::borrow::Cow;

use crate::syntax::Span;
use crate::value::{Form, Sym};

/// How certain and how serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Advice: the code is right, but there is a better way.
    Info,
    /// The code is very likely wrong. Or it certainly fails, but only for some real values, with
    /// some flags, or if a module is on a GPU.
    Warning,
    /// Every run with default options that reaches the line fails or is wrong.
    Error,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place that contributes to a finding, with a message about the fact that arises there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub span: Span,
    pub message: String,
}

/// Whether a fix may change what a correct program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Applicability {
    Safe,
    Unsafe,
}

/// A replacement of source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub span: Span,
    pub content: String,
}

/// Edits that together fix one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fix {
    pub title: String,
    pub applicability: Applicability,
    pub edits: Vec<Edit>,
}

/// The reported call, with enough data to repeat it in a separate program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Witness {
    /// One call, with the facts of its arguments.
    Call(Call),
    /// For a failure that depends on a state, which facts do not describe: a few lines of Python
    /// that create the state, and the line that fails.
    Program { setup: &'static str, call: &'static str },
}

/// A call, with the facts of its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The canonical path of the called function.
    pub path: Sym,
    /// The given arguments, in the order of the parameters.
    pub arguments: Vec<Given>,
}

/// An argument of a witness.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Given {
    pub name: Sym,
    pub value: Form,
    pub place: Place,
    /// The function has a default for this argument.
    pub optional: bool,
}

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Positional,
    Keyword,
    /// One of the arguments of `*name`.
    Star,
}

/// The results of testing a finding on the installed PyTorch.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Verdict {
    /// The result of a call with the facts of the finding.
    pub witness: Reproduction,
    /// The result for the program itself, if it was run.
    pub run: Option<Observation>,
}

/// The result of a witness. A failure proves that such a call fails, not that the program makes
/// such a call, because the witness is made from the same facts as the finding.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Reproduction {
    pub status: WitnessStatus,
    /// How the failure appeared.
    pub how: Option<How>,
    /// What executed the witness.
    pub judge: Option<Judge>,
    /// PyTorch's message: `IndexError: Target 10 is out of bounds.`
    pub message: Option<String>,
    /// Why the finding is refuted or undecided.
    pub reason: Option<String>,
    /// The witness as a program.
    pub program: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WitnessStatus {
    /// The witness fails as the finding claims.
    Reproduced,
    /// PyTorch accepts the witness, although it should fail.
    Refuted,
    Undecided,
}

/// What a run of the program showed about a finding.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Observation {
    pub status: RunStatus,
    /// The message of PyTorch or of the rule's contract.
    pub message: Option<String>,
    /// Why the failure was not observed.
    pub reason: Option<String>,
}

/// The status of a finding after a run. The variants are in ascending order of information: after
/// several runs, the highest status is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RunStatus {
    /// The program did not reach the call.
    NotReached,
    /// The run proves nothing. For example, the program reached the call, but without a GPU; or the
    /// script could not be run.
    Undecided,
    /// The program made the call, and it succeeded.
    Refuted,
    /// The call failed as the finding claims.
    Observed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum How {
    /// PyTorch rejects the call.
    Raised,
    /// The call crashes the process.
    Died,
    /// PyTorch accepts the call, but the rule's contract fails on its real tensors: a silent
    /// mistake.
    Silent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Judge {
    Cpu,
    Cuda,
    /// PyTorch's fake tensors, which have a device and no values.
    Fake,
}

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Diagnostic {
    /// The rule's code, such as `TV103`. A syntax error (`invalid-syntax`) and an unused comment
    /// (`unused-ignore`) have their name as code.
    pub code: Cow<'static, str>,
    /// The rule's name: the stem of its page.
    pub name: Cow<'static, str>,
    pub severity: Severity,
    /// The message: what is wrong here, with the values.
    pub message: String,
    /// The place of the failure.
    pub span: Span,
    /// The places that are shown with the finding, each with a message.
    pub labels: Vec<Label>,
    /// The origins of the conflicting facts, if known. They show whether findings at several places
    /// have the same cause.
    pub cause: Vec<Span>,
    /// Further places with the same problem and the same cause.
    pub repeats: Vec<Span>,
    /// Advice.
    pub help: Option<String>,
    pub fix: Option<Fix>,
    /// The call for `probe verify` and `check --verify`; only if it was requested.
    pub witness: Option<Box<Witness>>,
    /// PyTorch's verdict, if it was requested.
    pub verdict: Option<Box<Verdict>>,
}

impl Diagnostic {
    /// Whether PyTorch showed the finding to be wrong. The result of a run of the program takes
    /// precedence over that of the witness.
    pub(crate) fn is_refuted(&self) -> bool {
        let Some(verdict) = &self.verdict else { return false };
        match verdict.run.as_ref().map(|run| run.status) {
            Some(RunStatus::Observed) => false,
            Some(RunStatus::Refuted) => true,
            Some(RunStatus::NotReached | RunStatus::Undecided) | None => {
                verdict.witness.status == WitnessStatus::Refuted
            }
        }
    }

    /// The order of findings in the report of an analysis: by place, then by code.
    pub(crate) fn sort_key(&self) -> (u32, u32, u32, &str) {
        (self.span.file.0, self.span.start, self.span.end, &self.code)
    }
}
