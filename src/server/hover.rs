//! The hover text: the facts about the expression under the cursor, or the page of a rule that a
//! comment names.

use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind, Position, Uri};

use super::convert::Lens;
use super::documents::Document;
use super::workspace::{Cancelled, Facts, Stopped, Workspace};
use crate::analysis::FactEntry;
use crate::rules::Page;
use crate::syntax::Span;

/// Source text longer than this is cut.
const LONGEST: usize = 60;

pub(super) fn hover(
    workspace: &mut Workspace,
    document: &Document,
    part: &Uri,
    position: Position,
    cancelled: Cancelled,
) -> Result<Option<Hover>, Stopped> {
    let encoding = workspace.lens().encoding;
    let Some(offset) = document.offset(part, position, encoding) else { return Ok(None) };
    if let Some(page) = page_at(workspace, document, offset) {
        return Ok(Some(shown(page, None)));
    }
    let facts = workspace.facts(&document.path, Some(offset), cancelled)?;
    // If nothing is known about the innermost expression, there is no hover text, even if something
    // is known about an outer one.
    let inner = facts.entries.iter().min_by_key(|fact| fact.span.end - fact.span.start);
    let says_something = |fact: &&FactEntry| !["unknown", "tensor[…]", &fact.name].contains(&fact.text.as_str());
    let Some(fact) = inner.filter(says_something) else { return Ok(None) };
    let range = workspace.lens().location(&facts.project, fact.span).range;
    Ok(Some(shown(describe(&facts, fact, workspace.lens()), Some(range))))
}

fn shown(value: String, range: Option<gen_lsp_types::Range>) -> Hover {
    Hover { contents: Contents::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }), range }
}

/// The page of a rule, if its code or name is at this offset, in a comment.
fn page_at(workspace: &mut Workspace, document: &Document, offset: u32) -> Option<String> {
    let content = document.content.as_ref()?;
    let comments = &content.parsed().comments;
    let comment = comments.iter().find(|comment| comment.contains_inclusive(offset.into()))?;
    let text = content.text();
    let at = usize::try_from(offset).ok()?;
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let before = text.get(comment.start().to_usize()..at)?;
    let after = text.get(at..comment.end().to_usize())?;
    let start = before.trim_end_matches(part_of_word).len();
    let end = after.find(|c| !part_of_word(c)).unwrap_or(after.len());
    let word = format!("{}{}", before.get(start..)?, after.get(..end)?);
    let loaded = workspace.settings_of(&document.path);
    loaded.settings.rules.find(&word).map(page)
}

/// The page of a rule, as an editor shows it.
fn page(page: &Page) -> String {
    let Page { name, code, summary, .. } = page;
    format!("**{name}** ([{code}]({})): {summary}\n\n{}", crate::rules::url(name), page.body())
}

/// `logits: float32[B, 10] cuda:0`, and the code that determines these facts.
pub(super) fn describe(facts: &Facts, fact: &FactEntry, lens: Lens) -> String {
    let name = short(&fact.name);
    let mut out = format!("```python\n{name}: {}\n```", fact.text);
    let mut places: Vec<(Span, Vec<&str>)> = Vec::new();
    for (what, place) in &fact.origins {
        match places.iter_mut().find(|(other, _)| other == place) {
            Some((_, all)) => all.push(what),
            None => places.push((*place, vec![what])),
        }
    }
    let alone = places.len() == 1;
    for (place, what) in places {
        let location = lens.location(&facts.project, place);
        let file = facts.project.file(place.file);
        let text = file.text().get(place.start as usize..place.end as usize).unwrap_or_default();
        let line = location.range.start.line + 1;
        let shown = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let which = if alone { String::new() } else { format!("{} ", what.join(", ")) };
        let uri = location.uri;
        out.push_str(&format!("\n- {which}from `{}` at [{shown}:{line}]({uri}#L{line})", short(text)));
    }
    if !fact.reached {
        out.push_str("\n\nNo call of this function was reached.");
    }
    out
}

/// A text in one line, cut if it is too long.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    match line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
