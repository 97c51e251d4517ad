//! Inlay hints: the dtypes, shapes and devices of tensors, shown at assignments.

use gen_lsp_types::{InlayHint, InlayHintKind, Label, MarkupContent, MarkupKind, Range, Tooltip, Uri};
use rustc_hash::FxHashMap;

use super::documents::Document;
use super::hover::describe;
use super::settings::Hints;
use super::workspace::{Cancelled, Stopped, Workspace};

pub(super) fn hints(
    workspace: &mut Workspace,
    document: &Document,
    part: &Uri,
    range: Range,
    cancelled: Cancelled,
) -> Result<Vec<InlayHint>, Stopped> {
    let which = workspace.settings.options().inlay_hints;
    if which == Hints::Off || !workspace.settings.options().is_on() {
        return Ok(Vec::new());
    }
    let facts = workspace.facts(&document.path, None, cancelled)?;
    let lens = workspace.lens();
    let mut before: FxHashMap<&str, String> = FxHashMap::default();
    let mut hints = Vec::new();
    for fact in &facts.entries {
        let Some(label) = label(&fact.json) else {
            before.remove(fact.name.as_str());
            continue;
        };
        let same = before.insert(&fact.name, label.clone()).is_some_and(|before| before == label);
        let location = lens.location(&facts.project, fact.span);
        let outside = location.uri != *part || location.range.end < range.start || location.range.start > range.end;
        if outside || same && which == Hints::OnChange {
            continue;
        }
        let tooltip = MarkupContent { kind: MarkupKind::Markdown, value: describe(&facts, fact, lens) };
        hints.push(InlayHint {
            position: location.range.end,
            label: Label::String(format!(": {label}")),
            kind: Some(InlayHintKind::Type),
            text_edits: None,
            tooltip: Some(Tooltip::MarkupContent(tooltip)),
            padding_left: None,
            padding_right: None,
            data: None,
        });
    }
    Ok(hints)
}

/// `float32[B, 10] cuda:0` for a tensor or array; `None` for other values, or if neither the shape
/// nor the dtype is known.
fn label(fact: &serde_json::Value) -> Option<String> {
    if !matches!(fact.get("kind")?.as_str()?, "tensor" | "array") {
        return None;
    }
    let text = |key: &str| fact.get(key).and_then(serde_json::Value::as_str);
    let size = |size: &serde_json::Value| match size {
        serde_json::Value::Null => "?".to_owned(),
        serde_json::Value::String(size) => size.clone(),
        size => size.to_string(),
    };
    let shape = fact.get("shape").and_then(serde_json::Value::as_array);
    let shape = shape.map(|sizes| sizes.iter().map(size).collect::<Vec<_>>().join(", "));
    if shape.is_none() && text("dtype").is_none() {
        return None;
    }
    let device = text("device").map(|device| format!(" {device}")).unwrap_or_default();
    Some(format!("{}[{}]{device}", text("dtype").unwrap_or_default(), shape.as_deref().unwrap_or("…")))
}
