//! The open documents: texts and notebooks. Each change creates a new state of a document, so that
//! a running analysis keeps the old state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{
    DidChangeNotebookDocumentParams, DidChangeTextDocumentParams, DidOpenNotebookDocumentParams, LanguageKind,
    NotebookCell, NotebookCellKind, Position, TextDocumentContentChangeEvent, TextDocumentItem, Uri,
};
use rustc_hash::FxHashMap;
use serde_json::json;

use super::uri;
use crate::project::Content;
use crate::syntax::{LaunchFile, PositionEncoding};

/// A text or notebook in one state.
pub(super) struct Document {
    pub uri: Uri,
    pub version: i32,
    /// The path with links resolved; a made-up path for an unsaved document.
    pub path: PathBuf,
    /// Whether the document is in a language that torchvet does not read.
    foreign: bool,
    /// `None` if the document cannot be checked: for example, if it is foreign or too large.
    pub content: Option<Arc<Content>>,
    /// All cells of a notebook; `None` for a text.
    pub cells: Option<Vec<Cell>>,
}

/// A cell of a notebook.
#[derive(Clone)]
pub(super) struct Cell {
    pub uri: Uri,
    code: bool,
    content: Arc<Content>,
}

impl Document {
    fn text(uri: Uri, path: PathBuf, version: i32, foreign: bool, text: Option<&str>) -> Document {
        let text = text.filter(|_| !foreign);
        let content = text.and_then(|text| Content::of_text(&path, text).ok()).map(Arc::new);
        Document { uri, version, path, foreign, content, cells: None }
    }

    fn notebook(uri: Uri, path: PathBuf, version: i32, cells: Vec<Cell>) -> Document {
        let entry = |cell: &Cell| {
            let source = cell.content.text();
            match cell.code {
                true => {
                    json!({"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": null})
                }
                false => json!({"cell_type": "markdown", "metadata": {}, "source": source}),
            }
        };
        let entries: Vec<serde_json::Value> = cells.iter().map(entry).collect();
        let notebook = json!({"cells": entries, "metadata": {}, "nbformat": 4, "nbformat_minor": 4});
        // The name needs the extension of notebooks: with another extension, the content would be
        // read as text.
        let name = path.with_extension("ipynb");
        let content = Content::of_text(&name, &notebook.to_string()).ok().map(Arc::new);
        Document { uri, version, path, foreign: false, content, cells: Some(cells) }
    }

    /// The URIs under which the findings of the document are shown.
    pub(super) fn parts(&self) -> Vec<Uri> {
        match &self.cells {
            Some(cells) => cells.iter().map(|cell| cell.uri.clone()).collect(),
            None => vec![self.uri.clone()],
        }
    }

    /// The offset of a position in the document, or in the cell with this URI.
    pub(super) fn offset(&self, part: &Uri, position: Position, encoding: PositionEncoding) -> Option<u32> {
        let content = self.content.as_ref()?;
        let Some(cells) = &self.cells else {
            return Some(content.offset_of(position.line, position.character, encoding));
        };
        let number = cells.iter().position(|cell| cell.uri == *part)? + 1;
        let cell = content.cells().iter().find(|cell| cell.number == number)?;
        let (first, _) = content.line_column(cell.range.start().to_u32(), encoding);
        let offset = content.offset_of(first.saturating_add(position.line), position.character, encoding);
        Some(offset.min(cell.range.end().to_u32()))
    }
}

/// All open documents.
pub(super) struct Documents {
    encoding: PositionEncoding,
    open: FxHashMap<Uri, Arc<Document>>,
    /// The notebook of each cell.
    owners: FxHashMap<Uri, Uri>,
}

impl Documents {
    pub(super) fn new(encoding: PositionEncoding) -> Self {
        Documents { encoding, open: FxHashMap::default(), owners: FxHashMap::default() }
    }

    /// The document of a URI, which names the document or one of its cells.
    pub(super) fn get(&self, uri: &Uri) -> Option<&Arc<Document>> {
        self.open.get(self.owners.get(uri).unwrap_or(uri))
    }

    /// Opens a document. `home` is the folder in which a document without a file is assumed to be.
    pub(super) fn open(&mut self, item: TextDocumentItem, home: &Path) -> Arc<Document> {
        let path = place(&item.uri, home);
        let ends_in = |extension: &str| path.extension().is_some_and(|own| own == extension);
        let python = item.language_id == LanguageKind::Python || ends_in("py");
        // A notebook that is opened as text is JSON, not Python.
        let foreign = !python && LaunchFile::of(&path).is_none() || ends_in("ipynb");
        self.keep(Document::text(item.uri, path, item.version, foreign, Some(&item.text)))
    }

    pub(super) fn change(&mut self, params: DidChangeTextDocumentParams) -> Option<Arc<Document>> {
        let uri = params.text_document.text_document_identifier.uri;
        let old = self.open.get(&uri)?;
        let text = edit(old.content.as_deref(), &old.path, &params.content_changes, self.encoding);
        let new = Document::text(uri, old.path.clone(), params.text_document.version, old.foreign, text.as_deref());
        Some(self.keep(new))
    }

    pub(super) fn close(&mut self, uri: &Uri) -> Option<Arc<Document>> {
        let document = self.open.remove(uri)?;
        for cell in document.cells.iter().flatten() {
            self.owners.remove(&cell.uri);
        }
        Some(document)
    }

    pub(super) fn open_notebook(&mut self, params: DidOpenNotebookDocumentParams, home: &Path) -> Arc<Document> {
        let notebook = params.notebook_document;
        let texts = texts(&params.cell_text_documents);
        let cells: Vec<Cell> = notebook.cells.iter().map(|cell| new_cell(cell, &texts)).collect();
        let path = place(&notebook.uri, home);
        self.keep(Document::notebook(notebook.uri, path, notebook.version, cells))
    }

    pub(super) fn change_notebook(&mut self, params: DidChangeNotebookDocumentParams) -> Option<Arc<Document>> {
        let uri = params.notebook_document.uri;
        let old = self.open.get(&uri)?.clone();
        let mut cells = old.cells.clone().unwrap_or_default();
        let changes = params.change.cells.unwrap_or_default();
        if let Some(structure) = changes.structure {
            let texts = texts(structure.did_open.as_deref().unwrap_or_default());
            let start = usize::try_from(structure.array.start).unwrap_or(usize::MAX).min(cells.len());
            let count = usize::try_from(structure.array.delete_count).unwrap_or(usize::MAX);
            let end = start.saturating_add(count).min(cells.len());
            let new = structure.array.cells.unwrap_or_default();
            let moved = cells.clone();
            let made = new.iter().map(|cell| {
                let kept = || moved.iter().find(|old| old.uri == cell.document).cloned();
                if texts.contains_key(&cell.document) {
                    new_cell(cell, &texts)
                } else {
                    kept().unwrap_or_else(|| new_cell(cell, &texts))
                }
            });
            for gone in cells.splice(start..end, made) {
                self.owners.remove(&gone.uri);
            }
        }
        for data in changes.data.unwrap_or_default() {
            if let Some(cell) = cells.iter_mut().find(|cell| cell.uri == data.document) {
                cell.code = data.kind == NotebookCellKind::Code;
            }
        }
        for text in changes.text_content.unwrap_or_default() {
            let changed = text.document.text_document_identifier.uri;
            if let Some(cell) = cells.iter_mut().find(|cell| cell.uri == changed) {
                let text = edit(Some(&cell.content), CELL.as_ref(), &text.changes, self.encoding);
                cell.content = content(&text.unwrap_or_default());
            }
        }
        let new = Document::notebook(uri, old.path.clone(), params.notebook_document.version, cells);
        Some(self.keep(new))
    }

    fn keep(&mut self, document: Document) -> Arc<Document> {
        let document = Arc::new(document);
        for cell in document.cells.iter().flatten() {
            self.owners.insert(cell.uri.clone(), document.uri.clone());
        }
        self.open.insert(document.uri.clone(), document.clone());
        document
    }
}

/// The file name under which the text of a cell is read.
const CELL: &str = "cell.py";

fn content(text: &str) -> Arc<Content> {
    let empty = || Content::of_text(CELL.as_ref(), "");
    match Content::of_text(CELL.as_ref(), text).or_else(|_| empty()) {
        Ok(content) => Arc::new(content),
        Err(_) => unreachable!("an empty text is not too big"),
    }
}

fn texts(items: &[TextDocumentItem]) -> FxHashMap<Uri, &str> {
    items.iter().map(|item| (item.uri.clone(), item.text.as_str())).collect()
}

fn new_cell(cell: &NotebookCell, texts: &FxHashMap<Uri, &str>) -> Cell {
    let text = texts.get(&cell.document).copied().unwrap_or_default();
    Cell { uri: cell.document.clone(), code: cell.kind == NotebookCellKind::Code, content: content(text) }
}

fn place(uri: &Uri, home: &Path) -> PathBuf {
    let path = uri::to_path(uri).unwrap_or_else(|| home.join(uri::name(uri)));
    path.canonicalize().unwrap_or(path)
}

/// A text after these changes. Each change refers to the result of the previous one. `None` if a
/// change refers to a text that is not known.
fn edit(
    old: Option<&Content>,
    path: &Path,
    changes: &[TextDocumentContentChangeEvent],
    encoding: PositionEncoding,
) -> Option<String> {
    let mut text = old.map(|content| content.text().to_owned());
    let mut now: Option<Content> = None;
    for (index, change) in changes.iter().enumerate() {
        let part = match change {
            TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                text = Some(whole.text.clone());
                now = None;
                continue;
            }
            TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => part,
        };
        let text = text.as_mut()?;
        if index > 0 || old.is_none() {
            now = Some(Content::of_text(path, text).ok()?);
        }
        let content = now.as_ref().or(old)?;
        let at = |position: Position| {
            usize::try_from(content.offset_of(position.line, position.character, encoding)).unwrap_or(usize::MAX)
        };
        let (start, end) = (at(part.range.start), at(part.range.end));
        if text.get(start..end).is_some() {
            text.replace_range(start..end, &part.text);
        }
    }
    text
}
