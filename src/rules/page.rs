//! The page of a rule: what users read and what torchvet evaluates.

use std::borrow::Cow;

pub use super::front_matter::FixKind;
pub(crate) use super::front_matter::{Assignment, Needs, Rejects};
use super::front_matter::{Fault, FrontMatter, Level};
use super::sections::{self, Section};
use crate::diagnostic::Severity;

/// A rule's page, parsed and checked.
#[derive(Debug, Clone)]
pub struct Page {
    /// Capital letters and three digits, for example `TV101`.
    pub code: Cow<'static, str>,
    /// The stem of the page's file: the name of the bad pattern.
    pub name: Cow<'static, str>,
    /// The name of the page's file in messages.
    pub file: String,
    /// One short sentence, without its full stop.
    pub summary: String,
    /// The highest severity of its findings.
    pub severity: Severity,
    /// The torchvet version that introduced the rule.
    pub since: String,
    /// Whether the findings have fixes, and whether these fixes are safe.
    pub fix: FixKind,
    /// Whether the rule is enabled by default.
    pub default: bool,
    /// The dotted paths of the functions and classes that the contract checks.
    pub contract_of: Vec<String>,
    /// The kind of rejected library call that this page covers.
    pub rejects: Option<Rejects>,
    /// A regular expression for `Type: message` of the exception on the CPU.
    pub cpu: Option<String>,
    /// A regular expression for what CUDA prints or raises.
    pub cuda: Option<String>,
    /// What the Example needs in addition to a CPU.
    pub needs: Option<Needs>,
    /// The fix replaces this argument with the template. In the template, the argument's name in
    /// braces stands for the old source text of the argument.
    pub replace: Option<Assignment>,
    /// The fix sets this keyword argument to the text of the template.
    pub set: Option<Assignment>,
    /// One line of advice, printed under the finding.
    pub help: Option<String>,
    /// The asserts of PyTorch's kernels that the page covers, as named in docs/device-asserts.toml.
    pub asserts: Vec<String>,
    /// The whole page: line numbers in this text are line numbers in the file.
    pub text: Cow<'static, str>,
    /// The offset in the text at which the sections begin.
    body: usize,
    pub(super) code_line: usize,
}

impl Page {
    pub(super) fn read(name: Cow<'static, str>, file: String, text: Cow<'static, str>) -> Result<Page, Fault> {
        let front = FrontMatter::read(&text)?;
        front.check_name(&name)?;
        sections::check(&text, &front)?;
        let metadata = front.metadata;
        Ok(Page {
            code: front.code.into(),
            name,
            file,
            summary: front.summary,
            severity: match metadata.severity {
                Level::Error => Severity::Error,
                Level::Warning => Severity::Warning,
                Level::Info => Severity::Info,
            },
            since: metadata.since,
            fix: metadata.fix,
            default: metadata.default,
            contract_of: metadata.contract_of,
            rejects: metadata.rejects,
            cpu: metadata.cpu,
            cuda: metadata.cuda,
            needs: metadata.needs,
            replace: metadata.replace,
            set: metadata.set,
            help: metadata.help,
            asserts: metadata.asserts,
            text,
            body: front.body,
            code_line: front.code_line,
        })
    }

    /// The sections: the page without its title, summary and metadata.
    #[must_use]
    pub fn body(&self) -> &str {
        self.text[self.body..].trim()
    }

    /// The text of the section `## title`.
    #[must_use]
    pub fn section(&self, title: &str) -> Option<&str> {
        self.find(title).map(|section| section.text)
    }

    /// The Python blocks of the section.
    pub fn code_blocks(&self, section: &str) -> Vec<&str> {
        self.section(section).map(sections::python_blocks).unwrap_or_default()
    }

    /// Whether the mistake raises, on the CPU or on a GPU. Otherwise, it is silent.
    #[must_use]
    pub fn raises(&self) -> bool {
        self.cpu.is_some() || self.cuda.is_some()
    }

    /// The Python code of `## Contract`.
    #[must_use]
    pub fn contract(&self) -> Option<&str> {
        self.code_blocks("Contract").first().copied()
    }

    /// The line of the page's file at which a part of [`Page::text`] begins, counted from 1.
    #[must_use]
    pub fn line_of(&self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
    }

    pub(super) fn has_own_check(&self) -> bool {
        self.contract_of.is_empty() && self.rejects.is_none()
    }

    fn find(&self, title: &str) -> Option<Section<'_>> {
        sections::sections(&self.text).into_iter().find(|section| section.title == title)
    }
}
