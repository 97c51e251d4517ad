//! Code actions: quick fixes, all safe fixes at once, and comments that ignore a finding.

use std::collections::HashMap;

use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, Diagnostic as LspDiagnostic, DocumentChange, Edit as LspEdit,
    OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit, TextDocumentIdentifier, TextEdit, Uri,
    WorkspaceEdit,
};

use super::convert::Lens;
use super::documents::Document;
use super::workspace::{Reported, Workspace};
use super::{Client, FIX_ALL};
use crate::diagnostic::{Applicability, Edit};
use crate::findings::INVALID_SYNTAX;
use crate::project::Project;
use crate::project::suppressions::{Suppressions, UNUSED_IGNORE};

pub(super) fn actions(
    workspace: &mut Workspace,
    client: &Client,
    document: &Document,
    part: &Uri,
    params: &CodeActionParams,
) -> Vec<CodeAction> {
    let open = workspace.lens().open.clone();
    let lens = Lens { open: &open, encoding: workspace.lens().encoding };
    let Some(found) = workspace.reported(&document.path) else { return Vec::new() };
    let wants = |kind: &str| {
        let asked = params.context.only.as_ref();
        asked.is_none_or(|only| only.iter().any(|only| is_kind(kind, only.as_str())))
    };
    let mut all = Vec::new();
    if wants(CodeActionKind::QuickFix.as_str()) {
        let mut ignores = Vec::new();
        for reported in &found {
            let (uri, diagnostic) = lens.finding(reported.project, &reported.finding);
            if uri == *part && touch(diagnostic.range, params.range) {
                all.extend(quick_fix(reported, &diagnostic, lens, client));
                ignores.extend(ignore(reported, &diagnostic, lens, client));
            }
        }
        all.append(&mut ignores);
    }
    // The action that applies all safe fixes is offered only if it is requested by its kind.
    if params.context.only.is_some() && wants(FIX_ALL) {
        all.extend(fix_all(&found, document, lens, client));
    }
    all
}

/// Whether a kind of action was requested: for example, `source` requests every kind that begins
/// with `source.`.
fn is_kind(kind: &str, asked: &str) -> bool {
    kind.strip_prefix(asked).is_some_and(|rest| asked.is_empty() || rest.is_empty() || rest.starts_with('.'))
}

fn touch(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}

fn quick_fix(reported: &Reported, diagnostic: &LspDiagnostic, lens: Lens, client: &Client) -> Option<CodeAction> {
    let fix = reported.finding.fix.as_ref()?;
    let safe = fix.applicability == Applicability::Safe;
    let code = &reported.finding.code;
    let title = if safe { fix.title.clone() } else { format!("{} (may change behaviour)", fix.title) };
    let edits: Vec<&Edit> = fix.edits.iter().collect();
    Some(CodeAction {
        title: format!("{title} [{code}]"),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostic.clone()]),
        is_preferred: Some(safe),
        edit: Some(workspace_edit(&edits, reported.project, lens, client)?),
        ..CodeAction::default()
    })
}

fn ignore(reported: &Reported, diagnostic: &LspDiagnostic, lens: Lens, client: &Client) -> Option<CodeAction> {
    let Reported { finding, project } = reported;
    if finding.code == INVALID_SYNTAX || finding.code == UNUSED_IGNORE {
        return None;
    }
    let comments = Suppressions::scan(project.file(finding.span.file));
    let edit = comments.addition(finding.span, &finding.code);
    Some(CodeAction {
        title: format!("Ignore {} here", finding.code),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostic.clone()]),
        is_preferred: Some(false),
        edit: Some(workspace_edit(&[&edit], project, lens, client)?),
        ..CodeAction::default()
    })
}

/// All safe fixes of a document. If two overlap, only the first is applied.
fn fix_all(found: &[Reported], document: &Document, lens: Lens, client: &Client) -> Option<CodeAction> {
    let fixes = found.iter().filter_map(|reported| Some((reported.finding.fix.as_ref()?, reported.project)));
    let mut chosen: Vec<&Edit> = Vec::new();
    let mut about = None;
    for (fix, project) in fixes.filter(|(fix, _)| fix.applicability == Applicability::Safe) {
        let here = |edit: &Edit| project.file(edit.span.file).canonical() == document.path;
        let clashes = |edit: &Edit| {
            chosen.iter().any(|other| {
                let (a, b) = (edit.span, other.span);
                a.start < b.end && b.start < a.end || a.start == b.start
            })
        };
        if fix.edits.iter().all(|edit| here(edit) && !clashes(edit)) {
            chosen.extend(&fix.edits);
            about = Some(project);
        }
    }
    Some(CodeAction {
        title: "Fix all with torchvet's safe fixes".to_owned(),
        kind: Some(CodeActionKind::new(FIX_ALL)),
        edit: Some(workspace_edit(&chosen, about?, lens, client)?),
        ..CodeAction::default()
    })
}

/// Edits, grouped by the documents that they change; `None` if there are none.
fn workspace_edit(edits: &[&Edit], project: &Project, lens: Lens, client: &Client) -> Option<WorkspaceEdit> {
    let mut by_document: Vec<(Uri, Vec<TextEdit>)> = Vec::new();
    for edit in edits {
        let location = lens.location(project, edit.span);
        let new = TextEdit { range: location.range, new_text: edit.content.clone() };
        match by_document.iter_mut().find(|(uri, _)| *uri == location.uri) {
            Some((_, all)) => all.push(new),
            None => by_document.push((location.uri, vec![new])),
        }
    }
    if by_document.is_empty() {
        return None;
    }
    if !client.versioned_edits {
        let changes: HashMap<Uri, Vec<TextEdit>> = by_document.into_iter().collect();
        return Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() });
    }
    let changes = by_document.into_iter().map(|(uri, edits)| {
        let open = lens.open.values().find(|document| document.uri == uri);
        DocumentChange::TextDocumentEdit(TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier {
                version: open.map(|document| document.version),
                text_document_identifier: TextDocumentIdentifier { uri },
            },
            edits: edits.into_iter().map(LspEdit::TextEdit).collect(),
        })
    });
    Some(WorkspaceEdit { document_changes: Some(changes.collect()), ..WorkspaceEdit::default() })
}
