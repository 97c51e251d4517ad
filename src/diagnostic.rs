//! What torchvet says about a program: plain data, made by `contract` and `rules`, read by
//! `output` and `server`.

use std::borrow::Cow;

use crate::syntax::Span;

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

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// What to do about it.
    pub help: Option<String>,
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// The one order in which findings are shown: by place, then by code.
    pub fn sort_key(&self) -> (u32, u32, u32, &str) {
        (self.span.file.0, self.span.start, self.span.end, &self.code)
    }
}
