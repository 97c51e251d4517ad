//! One rule's page: what users read and what the machine runs.

use std::borrow::Cow;

pub use super::front_matter::{Assignment, FixKind, Needs, Rejects};
use super::front_matter::{Fault, FrontMatter, Level};
use super::sections::{self, Section};
use crate::diagnostic::Severity;

/// A rule's page, read and checked.
#[derive(Debug, Clone)]
pub struct Page {
    pub code: Cow<'static, str>,
    /// The stem of the page's file: the bad pattern's name.
    pub name: Cow<'static, str>,
    /// The page's file, as messages about it name it.
    pub file: String,
    pub summary: String,
    pub severity: Severity,
    /// The torchvet version that introduced the rule.
    pub since: String,
    pub fix: FixKind,
    /// Whether the rule is on without being selected.
    pub default: bool,
    /// The dotted paths of the functions and classes whose calls the contract judges.
    pub contract_of: Vec<String>,
    /// The kind of rejected library call that this page speaks for.
    pub rejects: Option<Rejects>,
    /// A regular expression for `Type: message` of the exception on the CPU.
    pub cpu: Option<String>,
    /// A regular expression for what CUDA prints or raises.
    pub cuda: Option<String>,
    /// What the Example needs beyond a CPU.
    pub needs: Option<Needs>,
    /// The fix: this argument becomes this template over the arguments' source texts.
    pub replace: Option<Assignment>,
    /// The fix: this keyword argument is set to this source text.
    pub set: Option<Assignment>,
    /// One line of advice, shown under the finding.
    pub help: Option<String>,
    /// The assertions of PyTorch's kernels that the page speaks of, as docs/device-asserts.toml
    /// names them.
    pub asserts: Vec<String>,
    /// The whole page, so that lines in it are lines of the file.
    pub text: Cow<'static, str>,
    /// Where in the text the sections begin.
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
    pub fn body(&self) -> &str {
        self.text[self.body..].trim()
    }

    /// What stands under `## title`.
    pub fn section(&self, title: &str) -> Option<&str> {
        self.find(title).map(|section| section.text)
    }

    /// The Python blocks under `## section`.
    pub fn code_blocks(&self, section: &str) -> Vec<&str> {
        self.section(section).map(sections::python_blocks).unwrap_or_default()
    }

    /// Whether what the page speaks of ends the program, and is not silently wrong.
    pub fn raises(&self) -> bool {
        self.cpu.is_some() || self.cuda.is_some()
    }

    /// The Python of `## Contract`.
    pub fn contract(&self) -> Option<&str> {
        self.code_blocks("Contract").first().copied()
    }

    /// The line of the page's file on which a part of [`Page::text`] begins, from 1.
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
