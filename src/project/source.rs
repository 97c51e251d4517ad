use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::read::{Content, Encoding};
use crate::syntax::{self, Bindings, Cell, FileId, LineIndex, Notebook, OneIndexed, Parsed, TextRange, TextSize};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Python,
    Notebook,
    /// What launches programs: see [`syntax::LaunchFile`].
    Launch,
}

/// A place as people and editors count it: from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The notebook's cell, to which `line` is relative.
    pub cell: Option<usize>,
    pub line: usize,
    pub column: usize,
}

/// One file, with what is computed from it on demand.
pub struct SourceFile {
    pub id: FileId,
    /// The path as reports print it.
    pub path: PathBuf,
    pub encoding: Encoding,
    canonical: PathBuf,
    text: String,
    /// A notebook's JSON and its cells.
    notebook: Option<(String, Notebook)>,
    lines: OnceLock<LineIndex>,
    parsed: OnceLock<Parsed>,
    bindings: OnceLock<Bindings>,
}

impl SourceFile {
    pub(super) fn new(id: FileId, path: PathBuf, canonical: PathBuf, content: Content) -> Self {
        let Content { text, encoding, notebook } = content;
        let (lines, parsed, bindings) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        SourceFile { id, path, encoding, canonical, text, notebook, lines, parsed, bindings }
    }

    pub fn kind(&self) -> FileKind {
        match &self.notebook {
            Some(_) => FileKind::Notebook,
            None if syntax::LaunchFile::of(&self.path).is_some() => FileKind::Launch,
            None => FileKind::Python,
        }
    }

    /// The Python source, without byte order mark; of a notebook, its Python cells end to
    /// end.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The real path on disk, links resolved.
    pub fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// The JSON of a notebook.
    pub fn json(&self) -> Option<&str> {
        self.notebook.as_ref().map(|(json, _)| json.as_str())
    }

    /// The Python cells of a notebook; none for a Python file.
    pub fn cells(&self) -> &[Cell] {
        self.notebook.as_ref().map_or(&[], |(_, notebook)| &notebook.cells)
    }

    /// The cell that holds an offset; `None` for a Python file.
    pub fn cell_at(&self, offset: u32) -> Option<Cell> {
        self.notebook.as_ref()?.1.cell_at(TextSize::new(offset))
    }

    /// The syntax tree, made at the first call.
    pub fn parsed(&self) -> &Parsed {
        self.parsed.get_or_init(|| match &self.notebook {
            Some((_, notebook)) => {
                let cells: Vec<TextRange> = notebook.cells.iter().map(|cell| cell.range).collect();
                syntax::parse_cells(&self.text, &cells)
            }
            None if self.kind() == FileKind::Launch => syntax::parse_comments(&self.text),
            None => syntax::parse(&self.text, false),
        })
    }

    /// Which statements at the top bind which names.
    pub fn bindings(&self) -> &Bindings {
        self.bindings.get_or_init(|| Bindings::of(&self.parsed().module.body))
    }

    /// Where an offset lies. An offset past the end, or inside a character, is taken back.
    pub fn position(&self, offset: u32) -> Position {
        let offset = self.floor(offset);
        let lines = self.lines();
        let line = lines.line_index(offset);
        let before = self.text.get(TextRange::new(lines.line_start(line, &self.text), offset).into_range());
        let column = before.unwrap_or_default().chars().count() + 1;
        let cell = self.cell_at(offset.to_u32());
        let first = cell.map_or(1, |cell| lines.line_index(cell.range.start()).get());
        Position { cell: cell.map(|cell| cell.number), line: line.get() - first + 1, column }
    }

    /// The line (from 1, over the whole text) of an offset.
    pub fn line_of(&self, offset: u32) -> usize {
        self.lines().line_index(self.floor(offset)).get()
    }

    /// How many lines the text has.
    pub fn line_count(&self) -> usize {
        self.lines().line_count()
    }

    /// The place of a line (from 1, over the whole text), with its line break.
    pub fn line_range(&self, line: usize) -> TextRange {
        let lines = self.lines();
        match OneIndexed::new(line) {
            Some(line) if line.get() <= lines.line_count() => lines.line_range(line, &self.text),
            _ => TextRange::empty(self.floor(u32::MAX)),
        }
    }

    /// The text of a range, or nothing where it is not one of this file.
    pub fn slice(&self, range: TextRange) -> &str {
        self.text.get(range.into_range()).unwrap_or_default()
    }

    fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::from_source_text(&self.text))
    }

    fn floor(&self, offset: u32) -> TextSize {
        let mut at = usize::try_from(offset).unwrap_or(usize::MAX).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        TextSize::new(u32::try_from(at).unwrap_or(u32::MAX))
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
    fn strange_offsets_are_taken_back() {
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
