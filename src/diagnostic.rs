//! What torchvet says about a program: plain data, made by `contract` and `rules`, read by
//! `output` and `server`.

use std::borrow::Cow;

use crate::syntax::Span;
use crate::value::{Form, Sym};

/// How sure and how bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Advice: the code is right, but there is something better.
    Info,
    /// Some value that the facts attain fails, or the harm depends on a flag.
    Warning,
    /// Every default execution that reaches the line fails or is wrong.
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

/// A place that takes part in a finding, with what it contributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub message: String,
}

/// Whether a fix may change what a correct program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    Safe,
    Unsafe,
}

/// A replacement of source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub content: String,
}

/// Edits that together repair one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    pub title: String,
    pub applicability: Applicability,
    pub edits: Vec<Edit>,
}

/// What a finding is about: enough to make it happen again in a program of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Witness {
    /// One call, with the facts of its arguments.
    Call(Call),
    /// What is in a state that no fact describes, brought into it by a few lines of Python, and
    /// the line that then fails.
    Program { setup: &'static str, call: &'static str },
}

/// A call, with the facts of its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The called function's canonical path.
    pub path: Sym,
    /// The given arguments, in the order of the parameters.
    pub arguments: Vec<Given>,
}

/// An argument of a witness.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    pub name: Sym,
    pub value: Form,
    pub place: Place,
    /// The function has a default for it.
    pub optional: bool,
}

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Positional,
    Keyword,
    /// One of those that `*name` takes.
    Star,
}

/// What the installed PyTorch says of a finding.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Verdict {
    /// Of the call that its facts describe.
    pub witness: Reproduction,
    /// Of the program itself, where it was run.
    pub run: Option<Observation>,
}

/// What became of a witness. That it fails proves that such a call fails, not that the program
/// makes such a call: the witness is built from the same facts as the finding.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Reproduction {
    pub status: Reproduced,
    /// How it was reproduced.
    pub how: Option<How>,
    /// What ran the witness.
    pub judge: Option<Judge>,
    /// What PyTorch said: `IndexError: Target 10 is out of bounds.`
    pub message: Option<String>,
    /// Why it is refuted or undecided.
    pub reason: Option<String>,
    /// The program that was run.
    pub program: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reproduced {
    /// The witness fails as the finding says.
    Reproduced,
    /// PyTorch runs the witness, although it should fail.
    Refuted,
    Undecided,
}

/// What a run of the program shows of a finding.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Observation {
    pub status: Observed,
    /// What PyTorch or the rule's contract said there.
    pub message: Option<String>,
    /// Why it is not observed.
    pub reason: Option<String>,
}

/// In ascending order of how much a run says: of several runs, the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// The program did not come there.
    NotReached,
    /// It came there, which shows nothing.
    Undecided,
    /// It made the call, and the call went well.
    Refuted,
    /// It failed there as the finding says.
    Observed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// PyTorch refuses the call.
    Raised,
    /// The call ends the process.
    Died,
    /// PyTorch runs the call, and the rule's contract fails on its real tensors: the harm is
    /// silent.
    Silent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judge {
    Cpu,
    Cuda,
    /// PyTorch's fake tensors, which have a device and no values.
    Fake,
}

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// The rule's code, such as `TV103`; a syntax error (`invalid-syntax`) and a useless
    /// comment (`unused-ignore`) have their name as code.
    pub code: Cow<'static, str>,
    /// The rule's name: the stem of its page.
    pub name: Cow<'static, str>,
    pub severity: Severity,
    /// The headline: what is wrong here, with the values spelled out.
    pub message: String,
    /// Where it fails.
    pub span: Span,
    /// Where the contradicting facts come from.
    pub labels: Vec<Label>,
    /// The places of the facts that clash, where it says so: findings that share them are one
    /// mistake.
    pub cause: Vec<Span>,
    /// Further places where the same is wrong for the same cause.
    pub repeats: Vec<Span>,
    /// What to do about it.
    pub help: Option<String>,
    pub fix: Option<Fix>,
    /// What `torchvet probe verify` makes a program of; only where that is wanted.
    pub witness: Option<Box<Witness>>,
    /// What PyTorch said, where it was asked.
    pub verdict: Option<Box<Verdict>>,
}

impl Diagnostic {
    /// Whether PyTorch showed it to be wrong. A run of the program outweighs the witness.
    pub fn is_refuted(&self) -> bool {
        let Some(verdict) = &self.verdict else { return false };
        match verdict.run.as_ref().map(|run| run.status) {
            Some(Observed::Observed) => false,
            Some(Observed::Refuted) => true,
            Some(Observed::NotReached | Observed::Undecided) | None => verdict.witness.status == Reproduced::Refuted,
        }
    }

    /// The one order in which findings are shown: by place, then by code.
    pub fn sort_key(&self) -> (u32, u32, u32, &str) {
        (self.span.file.0, self.span.start, self.span.end, &self.code)
    }
}
