//! Converts places and findings to the types of the protocol.

use std::path::PathBuf;
use std::sync::Arc;

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic as LspDiagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, Location, Message, Position, Range, Uri,
};
use rustc_hash::FxHashMap;

use super::documents::Document;
use super::uri;
use crate::diagnostic::{Diagnostic, Severity};
use crate::project::suppressions::UNUSED_IGNORE;
use crate::project::{Content, Project};
use crate::rules;
use crate::syntax::{PositionEncoding, Span};

/// The open documents, by path.
pub(super) type Open = FxHashMap<PathBuf, Arc<Document>>;

/// The context of a conversion: the open documents, and the position encoding of the editor.
#[derive(Clone, Copy)]
pub(super) struct Lens<'a> {
    pub open: &'a Open,
    pub encoding: PositionEncoding,
}

impl Lens<'_> {
    /// The place of a span: in a file, or in a cell of an open notebook.
    pub(super) fn location(self, project: &Project, span: Span) -> Location {
        let file = project.file(span.file);
        let content = file.content();
        let Some(cell) = content.cell_at(span.start) else {
            let uri = self.open.get(file.canonical()).map(|document| document.uri.clone());
            let range = self.range(content, 0, span.start, span.end);
            return Location { uri: uri.unwrap_or_else(|| uri::from_path(file.canonical())), range };
        };
        let first = content.line_column(cell.range.start().to_u32(), self.encoding).0;
        let range = self.range(content, first, span.start, span.end.min(cell.range.end().to_u32()));
        let part = |document: &Arc<Document>| {
            let cells = document.cells.as_ref()?;
            Some(cells.get(cell.number.checked_sub(1)?)?.uri.clone())
        };
        let uri = self.open.get(file.canonical()).and_then(part);
        Location { uri: uri.unwrap_or_else(|| uri::from_path(file.canonical())), range }
    }

    /// A range whose lines are counted from `first`.
    fn range(self, content: &Content, first: u32, start: u32, end: u32) -> Range {
        let at = |offset| {
            let (line, character) = content.line_column(offset, self.encoding);
            Position { line: line.saturating_sub(first), character }
        };
        Range { start: at(start), end: at(end.max(start)) }
    }

    /// A finding, with its place.
    pub(super) fn finding(self, project: &Project, finding: &Diagnostic) -> (Uri, LspDiagnostic) {
        let Location { uri, range } = self.location(project, finding.span);
        let is_rule = finding.code != finding.name;
        let labels = finding.labels.iter().filter(|label| label.span != finding.span);
        let related = labels.map(|label| DiagnosticRelatedInformation {
            location: self.location(project, label.span),
            message: label.message.clone(),
        });
        let related: Vec<_> = related.collect();
        let help = finding.help.as_ref().map(|help| format!("\nhelp: {help}"));
        let own = finding.labels.iter().filter(|label| label.span == finding.span && label.message != finding.message);
        let own: String = own.map(|label| format!("\n{}", label.message)).collect();
        let diagnostic = LspDiagnostic {
            range,
            severity: Some(match finding.severity {
                Severity::Error => DiagnosticSeverity::Error,
                Severity::Warning => DiagnosticSeverity::Warning,
                Severity::Info => DiagnosticSeverity::Information,
            }),
            code: Some(Code::String(finding.code.to_string())),
            code_description: is_rule.then(|| CodeDescription { href: rules::url(&finding.name).into() }),
            source: Some("torchvet".to_owned()),
            message: Message::String(format!("{}{own}{}", finding.message, help.unwrap_or_default())),
            tags: (finding.code == UNUSED_IGNORE).then(|| vec![DiagnosticTag::Unnecessary]),
            related_information: (!related.is_empty()).then_some(related),
            data: None,
        };
        (uri, diagnostic)
    }
}
