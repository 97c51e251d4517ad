use ruff_text_size::Ranged;

/// A file of the project, as an index into [`crate::project::Project`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileId(pub u32);

/// A place in a source file: byte offsets into the text of the file (for a notebook, into the
/// concatenation of its cells).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub(crate) fn new(file: FileId, node: impl Ranged) -> Self {
        let range = node.range();
        Span { file, start: range.start().to_u32(), end: range.end().to_u32() }
    }

    pub(crate) fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }
}
