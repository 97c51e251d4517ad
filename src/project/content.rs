//! The content of a file, with data that is computed on demand. Projects with the same `Disk` share
//! the content of a file, including the syntax tree.

use std::path::Path;
use std::sync::OnceLock;

use super::read::{self, Encoding, ReadError};
use crate::syntax::{self, Bindings, Cell, LineIndex, Notebook, Parsed, PositionEncoding, TextRange, TextSize};

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Python,
    Notebook,
    /// A file that launches programs: see [`syntax::LaunchFile`].
    Launch,
}

/// A file's text, decoded.
pub(crate) struct Content {
    pub encoding: Encoding,
    text: String,
    kind: FileKind,
    /// For a notebook: its JSON text, and its parsed Python cells.
    notebook: Option<(String, Notebook)>,
    lines: OnceLock<LineIndex>,
    parsed: OnceLock<Parsed>,
    bindings: OnceLock<Bindings>,
}

impl Content {
    /// A text that does not come from disk: standard input, or a buffer of an editor.
    pub(crate) fn of_text(path: &Path, text: &str) -> Result<Self, ReadError> {
        read::content_of_text(path, text)
    }

    pub(super) fn new(path: &Path, text: String, encoding: Encoding, notebook: Option<(String, Notebook)>) -> Self {
        let kind = match &notebook {
            Some(_) => FileKind::Notebook,
            None if syntax::LaunchFile::of(path).is_some() => FileKind::Launch,
            None => FileKind::Python,
        };
        let (lines, parsed, bindings) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Content { encoding, text, kind, notebook, lines, parsed, bindings }
    }

    pub(crate) fn kind(&self) -> FileKind {
        self.kind
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn json(&self) -> Option<&str> {
        self.notebook.as_ref().map(|(json, _)| json.as_str())
    }

    pub(crate) fn cells(&self) -> &[Cell] {
        self.notebook.as_ref().map_or(&[], |(_, notebook)| &notebook.cells)
    }

    pub(crate) fn cell_at(&self, offset: u32) -> Option<Cell> {
        self.notebook.as_ref()?.1.cell_at(TextSize::new(offset))
    }

    pub(crate) fn parsed(&self) -> &Parsed {
        self.parsed.get_or_init(|| match &self.notebook {
            Some((_, notebook)) => {
                let cells: Vec<TextRange> = notebook.cells.iter().map(|cell| cell.range).collect();
                syntax::parse_cells(&self.text, &cells)
            }
            None if self.kind == FileKind::Launch => syntax::parse_comments(&self.text),
            None => syntax::parse(&self.text, false),
        })
    }

    pub(super) fn bindings(&self) -> &Bindings {
        self.bindings.get_or_init(|| Bindings::of(&self.parsed().module.body))
    }

    pub(super) fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::from_source_text(&self.text))
    }

    /// The line and column of an offset as editors count them: from 0, with columns in units of an
    /// encoding.
    pub(crate) fn line_column(&self, offset: u32, encoding: PositionEncoding) -> (u32, u32) {
        let offset = self.floor(offset);
        let line = self.lines().line_index(offset);
        let start = self.lines().line_start(line, &self.text).to_usize();
        let before = self.text.get(start..offset.to_usize()).unwrap_or_default();
        (to_u32(line.to_zero_indexed()), units(before, encoding))
    }

    /// The offset of a line and column, counted as in [`Content::line_column`]. A column after the
    /// end of its line means the end of the line; a line after the last one means the end of the
    /// text.
    pub(crate) fn offset_of(&self, line: u32, column: u32, encoding: PositionEncoding) -> u32 {
        let starts = self.lines().line_starts();
        let Some(start) = usize::try_from(line).ok().and_then(|line| starts.get(line)) else {
            return to_u32(self.text.len());
        };
        let rest = self.text.get(start.to_usize()..).unwrap_or_default();
        let text = rest.split(['\n', '\r']).next().unwrap_or_default();
        let mut seen = 0u32;
        let mut bytes = 0usize;
        for c in text.chars() {
            let mut buffer = [0; 4];
            seen = seen.saturating_add(units(c.encode_utf8(&mut buffer), encoding));
            if seen > column {
                break;
            }
            bytes += c.len_utf8();
        }
        start.to_u32().saturating_add(to_u32(bytes))
    }

    /// An offset after the end, or inside a character, is moved back.
    pub(super) fn floor(&self, offset: u32) -> TextSize {
        let mut at = usize::try_from(offset).unwrap_or(usize::MAX).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        TextSize::new(to_u32(at))
    }
}

fn units(text: &str, encoding: PositionEncoding) -> u32 {
    to_u32(match encoding {
        PositionEncoding::Utf8 => text.len(),
        PositionEncoding::Utf16 if text.is_ascii() => text.len(),
        PositionEncoding::Utf16 => text.encode_utf16().count(),
        PositionEncoding::Utf32 => text.chars().count(),
    })
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_of_every_encoding() {
        let content = Content::of_text(Path::new("a.py"), "x = '😀é'\r\ny\rz\n").unwrap();
        let at = |offset, encoding| content.line_column(offset, encoding);
        assert_eq!(at(9, PositionEncoding::Utf8), (0, 9));
        assert_eq!(at(9, PositionEncoding::Utf16), (0, 7));
        assert_eq!(at(9, PositionEncoding::Utf32), (0, 6));
        assert_eq!(at(16, PositionEncoding::Utf16), (2, 0));
        for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
            for (offset, _) in content.text().char_indices() {
                let offset = to_u32(offset);
                let (line, column) = at(offset, encoding);
                let back = content.offset_of(line, column, encoding);
                // The second half of a line break is the end of the line.
                assert!(back == offset || offset == 13, "{offset} {back}");
            }
        }
        assert_eq!(content.offset_of(0, 6, PositionEncoding::Utf16), 5, "inside a pair");
        assert_eq!(content.offset_of(0, 99, PositionEncoding::Utf16), 12);
        assert_eq!(content.offset_of(9, 9, PositionEncoding::Utf16), 18);
    }
}
