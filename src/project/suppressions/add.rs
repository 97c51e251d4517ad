//! Adds comments that suppress findings.

use super::{Kind, Suppressions};
use crate::diagnostic::Edit;
use crate::project::SourceFile;
use crate::syntax::{self, Span, TextRange, TextSize};

impl Suppressions<'_> {
    /// The edit that suppresses the findings of a rule at a span. If a comment with codes applies to
    /// the span, it gets one more code. Otherwise, the edit adds a comment: on the line of the span
    /// if a comment is possible there, otherwise on another line where a comment applies to the
    /// span, otherwise on the line above.
    pub(crate) fn addition(&self, span: Span, code: &str) -> Edit {
        let lines = self.lines_of(span);
        let insert =
            |at: TextSize, content: String| Edit { span: Span::new(self.file.id, TextRange::empty(at)), content };
        let here = self.directives.iter().find(|one| one.kind == Kind::Line && lines.contains(&one.line));
        if let Some(last) = here.and_then(|directive| directive.listed.last()) {
            return insert(last.end(), format!(", {code}"));
        }
        let comment = format!("# torchvet: ignore[{code}]");
        let [first, last, statement, end] = lines;
        for line in [first, last, end, statement].into_iter().filter(|line| *line > 0) {
            let at = self.end_of(line);
            if can_stand(self.file, at) {
                return insert(at, format!("  {comment}"));
            }
        }
        let line = self.file.line_range(if statement > 0 { statement } else { first });
        let text = self.file.slice(line);
        let indent = &text[..text.len() - text.trim_start_matches([' ', '\t', '\x0c']).len()];
        insert(line.start(), format!("{indent}{comment}\n"))
    }

    /// The offset of the end of a line's text.
    fn end_of(&self, line: usize) -> TextSize {
        let range = self.file.line_range(line);
        range.start() + TextSize::of(self.file.slice(range).trim_end())
    }
}

/// Whether text inserted at the end of a line may be a comment: not inside a string, and not after
/// a backslash.
fn can_stand(file: &SourceFile, at: TextSize) -> bool {
    let offset = at.to_usize();
    let whole = match file.cell_at(at.to_u32()) {
        Some(cell) => cell.range,
        None => TextRange::up_to(TextSize::of(file.text())),
    };
    let range = |range: TextRange| file.text().get(range.start().to_usize()..range.end().to_usize());
    let (before, after) = (range(TextRange::new(whole.start(), at)), range(TextRange::new(at, whole.end())));
    let (Some(before), Some(after)) = (before, after) else { return false };
    if before.ends_with('\\') {
        return false;
    }
    let parsed = syntax::parse(&format!("{before}  # x{after}"), file.cell_at(at.to_u32()).is_some());
    let Some(start) = TextSize::try_from(offset - whole.start().to_usize() + 2).ok() else { return false };
    parsed.comments.iter().any(|comment| comment.contains(start))
}
