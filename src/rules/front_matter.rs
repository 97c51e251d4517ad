//! The beginning of a page, before its first section: title, summary and metadata.
//!
//! ```text
//! # TV103 class-index-out-of-range
//!
//! Class index outside the classes of the logits.
//!
//! (a fenced block of TOML: the metadata)
//! ```
//!
//! An older form is also supported: TOML between two `+++` lines, with the keys `code` and
//! `summary` instead of the title and the summary sentence.
//!
//! `build.rs` includes this file, so that the same code reads the pages of the repository and those
//! of users. Therefore this file may use only `std`, `serde` and `toml`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// An error in a page, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub line: usize,
    pub message: String,
}

impl Fault {
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        Fault { line, message: message.into() }
    }
}

/// The beginning of a page, parsed and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub code: String,
    /// The name in the title; the older form has none.
    pub name: Option<String>,
    pub summary: String,
    pub metadata: Metadata,
    /// The line with the code of the rule, for errors that concern the whole page.
    pub code_line: usize,
    /// The offset at which the sections begin.
    pub body: usize,
}

/// The TOML of a page. CONTRIBUTING.md explains the keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Metadata {
    pub severity: Level,
    #[serde(deserialize_with = "not_empty")]
    pub since: String,
    pub fix: FixKind,
    pub contract_of: Vec<String>,
    pub rejects: Option<Rejects>,
    pub cpu: Option<String>,
    pub cuda: Option<String>,
    pub needs: Option<Needs>,
    #[serde(default = "on")]
    pub default: bool,
    pub replace: Option<Assignment>,
    pub set: Option<Assignment>,
    pub help: Option<String>,
    #[serde(default)]
    pub asserts: Vec<String>,
    /// `code` and `summary` are allowed only in the older form.
    code: Option<Spanned<String>>,
    summary: Option<Spanned<String>>,
}

fn on() -> bool {
    true
}

fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() { Err(D::Error::custom("this must not be empty")) } else { Ok(text) }
}

/// The severities, highest first. `build.rs` includes this file and has no `diagnostic::Severity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Error,
    Warning,
    Info,
}

/// Whether a rule fixes its findings, and whether the fix may change what a correct program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FixKind {
    /// There is no fix.
    None,
    /// The fix cannot change what a correct program does.
    Safe,
    /// The fix may change what a program computes: it is applied only on request.
    Unsafe,
}

/// The kinds of rejected library calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rejects {
    Shape,
    Dtype,
    Device,
    Rank,
    Dim,
    Value,
    Index,
    Layout,
    Host,
    Name,
    Arguments,
    Operation,
    Recursion,
}

/// What an Example needs to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Needs {
    Cuda,
}

/// `"argument = template"`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Assignment {
    pub argument: String,
    pub template: String,
}

impl TryFrom<String> for Assignment {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_identifier = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        match text.split_once(" = ") {
            Some((name, template)) if is_identifier(name) && !template.is_empty() => {
                Ok(Assignment { argument: name.to_owned(), template: template.to_owned() })
            }
            _ => Err("an assignment has the form \"argument = template\""),
        }
    }
}

impl FrontMatter {
    /// Parses the beginning of a page.
    pub(super) fn read(page: &str) -> Result<Self, Fault> {
        let front = match page.lines().next().map(str::trim_end) {
            Some("+++") => Self::between_plus_signs(page)?,
            _ => Self::titled(page)?,
        };
        let Metadata { fix, contract_of, replace, set, .. } = &front.metadata;
        let fault = |message: String| Err(Fault::new(front.code_line, message));
        if !is_code(&front.code) {
            return fault(format!("code `{}` must be capital letters followed by three digits", front.code));
        }
        let rewrites = replace.is_some() || set.is_some();
        if rewrites && *fix == FixKind::None {
            return fault("`replace` and `set` need `fix` to be \"safe\" or \"unsafe\"".to_owned());
        }
        if *fix != FixKind::None && !contract_of.is_empty() && !rewrites {
            return fault("a contract with a fix needs `replace` or `set`".to_owned());
        }
        Ok(front)
    }

    fn titled(page: &str) -> Result<Self, Fault> {
        let title = page.lines().next().and_then(|line| line.strip_prefix("# ")).map(str::trim);
        let Some((code, name)) = title.and_then(|title| title.split_once(' ')) else {
            return Err(Fault::new(1, "a page must begin with its title, `# CODE name-of-the-rule`"));
        };
        let block = Block::find(page, "```toml", "```")?;
        let summary: Vec<&str> = page[..block.start].lines().skip(1).map(str::trim).collect();
        let summary = summary.join(" ").trim().trim_end_matches('.').to_owned();
        if summary.is_empty() {
            return Err(Fault::new(1, "the summary is missing: one sentence between the title and the ```toml block"));
        }
        let metadata = block.metadata()?;
        let places = [
            ("code", &metadata.code, "belongs in the title of the page, not in the block"),
            ("summary", &metadata.summary, "belongs above the block, as the sentence below the title"),
        ];
        for (key, given, place) in places {
            if let Some(given) = given {
                return Err(Fault::new(block.line_at(given.span().start), format!("`{key}` {place}")));
            }
        }
        let (code, name) = (code.to_owned(), Some(name.trim().to_owned()));
        Ok(FrontMatter { code, name, summary, metadata, code_line: 1, body: block.after })
    }

    fn between_plus_signs(page: &str) -> Result<Self, Fault> {
        let block = Block::find(page, "+++", "+++")?;
        let metadata = block.metadata()?;
        let given = |key: &str, found: &Option<Spanned<String>>| match found {
            Some(found) if found.get_ref().trim().is_empty() => {
                Err(Fault::new(block.line_at(found.span().start), format!("`{key}` is empty")))
            }
            Some(found) => Ok((found.get_ref().clone(), block.line_at(found.span().start))),
            None => Err(Fault::new(block.line, format!("missing field `{key}`"))),
        };
        let (code, code_line) = given("code", &metadata.code)?;
        let (summary, _) = given("summary", &metadata.summary)?;
        Ok(FrontMatter { code, name: None, summary, metadata, code_line, body: block.after })
    }

    /// Checks that the file name is the name in the title.
    pub(super) fn check_name(&self, stem: &str) -> Result<(), Fault> {
        match &self.name {
            Some(name) if name != stem => {
                Err(Fault::new(1, format!("the title names the rule `{name}`, but the file is `{stem}.md`")))
            }
            _ => Ok(()),
        }
    }
}

fn is_code(code: &str) -> bool {
    let digits = code.trim_start_matches(|c: char| c.is_ascii_uppercase());
    digits.len() < code.len() && digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The lines between two fences.
struct Block<'a> {
    text: &'a str,
    /// The offset of the opening fence.
    start: usize,
    /// The offset after the closing fence.
    after: usize,
    /// The line of the opening fence.
    line: usize,
}

impl<'a> Block<'a> {
    /// The first block between these fences; it must be before the sections.
    fn find(page: &'a str, open: &str, close: &str) -> Result<Self, Fault> {
        let (mut offset, mut opened) = (0, None);
        for (index, line) in page.split_inclusive('\n').enumerate() {
            let next = offset + line.len();
            match opened {
                None if line.trim_end() == open => opened = Some((offset, next, index + 1)),
                None if line.starts_with("## ") => break,
                Some((start, from, line_of_open)) if line.trim_end() == close => {
                    return Ok(Block { text: &page[from..offset], start, after: next, line: line_of_open });
                }
                _ => {}
            }
            offset = next;
        }
        Err(match opened {
            Some((.., line)) => Fault::new(line, format!("the metadata is not closed by a {close} line")),
            None => Fault::new(1, format!("there is no {open} block with the metadata before the first section")),
        })
    }

    fn metadata(&self) -> Result<Metadata, Fault> {
        toml::from_str(self.text).map_err(|error| {
            // A missing key has no place of its own, so the error is placed at the block.
            let span = error.span().filter(|span| *span != (0..self.text.len()) && *span != (0..0));
            Fault::new(span.map_or(self.line, |span| self.line_at(span.start)), error.message())
        })
    }

    /// The line of the page for an offset into the block.
    fn line_at(&self, offset: usize) -> usize {
        self.line + 1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
    }
}
