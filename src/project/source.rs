use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content::{Content, FileKind};
use super::read::Encoding;
use crate::syntax::{Bindings, Cell, FileId, OneIndexed, Parsed, TextRange};

/// A place as reports print it: lines and columns are counted from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// The number of the notebook cell; `line` is counted from the start of this cell.
    pub cell: Option<usize>,
    pub line: usize,
    pub column: usize,
}

/// A file of a project: its content and its path.
pub(crate) struct SourceFile {
    pub id: FileId,
    /// The path as reports print it.
    pub path: PathBuf,
    pub encoding: Encoding,
    canonical: PathBuf,
    content: Arc<Content>,
}

impl SourceFile {
    pub(super) fn new(id: FileId, path: PathBuf, canonical: PathBuf, content: Arc<Content>) -> Self {
        SourceFile { id, path, encoding: content.encoding, canonical, content }
    }

    pub(crate) fn kind(&self) -> FileKind {
        self.content.kind()
    }

    /// The content of the file.
    pub(crate) fn content(&self) -> &Arc<Content> {
        &self.content
    }

    /// The text without byte order mark; for a notebook, the concatenation of its Python cells.
    pub(crate) fn text(&self) -> &str {
        self.content.text()
    }

    /// The real path on disk, with links resolved.
    pub(crate) fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// The JSON of a notebook.
    pub(crate) fn json(&self) -> Option<&str> {
        self.content.json()
    }

    /// The Python cells of a notebook; none for a Python file.
    pub(crate) fn cells(&self) -> &[Cell] {
        self.content.cells()
    }

    /// The cell that contains an offset; `None` for a Python file.
    pub(crate) fn cell_at(&self, offset: u32) -> Option<Cell> {
        self.content.cell_at(offset)
    }

    /// The syntax tree, created at the first call.
    pub(crate) fn parsed(&self) -> &Parsed {
        self.content.parsed()
    }

    /// Which top-level statements bind which names.
    pub(crate) fn bindings(&self) -> &Bindings {
        self.content.bindings()
    }

    /// The position of an offset. An offset after the end, or inside a character, is moved back.
    pub(crate) fn position(&self, offset: u32) -> Position {
        let (text, lines) = (self.text(), self.content.lines());
        let offset = self.content.floor(offset);
        let line = lines.line_index(offset);
        let before = text.get(TextRange::new(lines.line_start(line, text), offset).into_range());
        let column = before.unwrap_or_default().chars().count() + 1;
        let cell = self.cell_at(offset.to_u32());
        let first = cell.map_or(1, |cell| lines.line_index(cell.range.start()).get());
        Position { cell: cell.map(|cell| cell.number), line: line.get() - first + 1, column }
    }

    /// The line (from 1, over the whole text) of an offset.
    pub(crate) fn line_of(&self, offset: u32) -> usize {
        self.content.lines().line_index(self.content.floor(offset)).get()
    }

    /// The number of lines of the text.
    pub(crate) fn line_count(&self) -> usize {
        self.content.lines().line_count()
    }

    /// The range of a line, including its line break. Lines are counted from 1 over the whole text.
    pub(crate) fn line_range(&self, line: usize) -> TextRange {
        let lines = self.content.lines();
        match OneIndexed::new(line) {
            Some(line) if line.get() <= lines.line_count() => lines.line_range(line, self.text()),
            _ => TextRange::empty(self.content.floor(u32::MAX)),
        }
    }

    /// The text of a range, or nothing if the range is not in this file.
    pub(crate) fn slice(&self, range: TextRange) -> &str {
        self.text().get(range.into_range()).unwrap_or_default()
    }
}

/// A text range as an index into a string.
trait IntoRange {
    fn into_range(self) -> std::ops::Range<usize>;
}

impl IntoRange for TextRange {
    fn into_range(self) -> std::ops::Range<usize> {
        self.start().to_usize()..self.end().to_usize()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::project::Project;

    fn position(text: &str, offset: usize) -> (usize, usize) {
        let project = Project::new(".".into());
        let file = project.add_text(Path::new("position.py"), text).unwrap();
        let place = file.position(u32::try_from(offset).unwrap());
        (place.line, place.column)
    }

    #[test]
    fn columns_count_characters() {
        let text = "é = '日本'; x = 1\n\ty = 2\r\nz = 3\rw = 4";
        assert_eq!(position(text, text.find('x').unwrap()), (1, 11));
        assert_eq!(position(text, text.find('y').unwrap()), (2, 2));
        assert_eq!(position(text, text.find('z').unwrap()), (3, 1));
        assert_eq!(position(text, text.find('w').unwrap()), (4, 1));
    }

    #[test]
    fn offsets_outside_the_text_are_moved_back() {
        assert_eq!(position("é", 1), (1, 1));
        assert_eq!(position("ab", 100), (1, 3));
        assert_eq!(position("", 0), (1, 1));
        assert_eq!(position("\u{feff}x = 1", 0), (1, 1));
    }

    #[test]
    fn notebooks_count_within_the_cell() {
        let cell = |source: &str| {
            format!(r#"{{"cell_type":"code","metadata":{{}},"outputs":[],"execution_count":1,"source":{source:?}}}"#)
        };
        let json = format!(
            r#"{{"cells":[{},{{"cell_type":"markdown","metadata":{{}},"source":"t"}},{},{}],"metadata":{{}},"nbformat":4,"nbformat_minor":4}}"#,
            cell("a = 1\nb = 2\n"),
            cell(""),
            cell("c = 3"),
        );
        let project = Project::new(".".into());
        let file = project.add_text(Path::new("nb.ipynb"), &json).unwrap();
        assert_eq!(file.text(), "a = 1\nb = 2\n\n\nc = 3\n");
        let at = |needle: &str| file.position(u32::try_from(file.text().find(needle).unwrap()).unwrap());
        assert_eq!((at("b").cell, at("b").line, at("b").column), (Some(1), 2, 1));
        assert_eq!((at("c").cell, at("c").line, at("c").column), (Some(4), 1, 1));
    }
}
