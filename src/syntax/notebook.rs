use ruff_notebook::NotebookError as RuffError;
use ruff_text_size::{TextRange, TextSize};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A Jupyter notebook: the concatenation of its Python cells, and the place of each.
pub(crate) struct Notebook {
    /// The sources of the cells, with one newline after each.
    pub text: String,
    /// The Python cells, in order.
    pub cells: Vec<Cell>,
}

/// A code cell of a notebook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Counted from 1 over all cells, including text cells, as in the file.
    pub number: usize,
    /// Its place in [`Notebook::text`], without the newline after the cell.
    pub range: TextRange,
}

/// The reason why a file is not a notebook, and the place of the error.
#[derive(Debug)]
pub(crate) struct NotebookError {
    pub message: String,
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
}

impl Notebook {
    /// Reads the JSON of a notebook; `None` for a notebook in another language, or in Python 2. An empty file
    /// is a notebook without cells.
    pub(crate) fn read(json: &str) -> Result<Option<Self>, NotebookError> {
        if json.trim().is_empty() {
            return Ok(Some(Notebook { text: "\n".to_owned(), cells: Vec::new() }));
        }
        let parse = ruff_notebook::Notebook::from_source_code;
        let notebook = match parse(json) {
            Err(RuffError::InvalidSchema(cause)) => {
                let reduced = reduced(json).and_then(|json| parse(&json).ok());
                reduced.ok_or_else(|| explain(RuffError::InvalidSchema(cause)))?
            }
            parsed => parsed.map_err(explain)?,
        };
        if !notebook.is_python_notebook() || is_python_2(json) {
            return Ok(None);
        }
        let numbers = notebook.index().iter().map(|start| start.cell_index().get());
        let cells = numbers
            .zip(notebook.cell_offsets().content_ranges())
            .map(|(number, range)| Cell { number, range })
            .collect();
        Ok(Some(Notebook { text: notebook.source_code().to_owned(), cells }))
    }

    /// The cell that contains the offset; the newline after a cell belongs to the cell.
    pub(crate) fn cell_at(&self, offset: TextSize) -> Option<Cell> {
        let after = self.cells.partition_point(|cell| cell.range.start() <= offset);
        self.cells.get(after.checked_sub(1)?).copied()
    }

    /// The JSON of the notebook with new sources for some cells (by number, ascending). All other
    /// bytes stay the same: outputs, metadata, order and number formats.
    pub(crate) fn replace_sources(json: &str, new: &[(usize, String)]) -> Result<String, NotebookError> {
        let raw: RawNotebook = serde_json::from_str(json).map_err(|error| explain(RuffError::InvalidSchema(error)))?;
        let mut out = String::with_capacity(json.len());
        let mut done = 0usize;
        for (number, source) in new {
            let cell = number.checked_sub(1).and_then(|index| raw.cells.get(index));
            let Some(old) = cell.and_then(|cell| cell.source) else {
                continue;
            };
            // The raw value borrows from `json`, so the distance between the addresses is its
            // offset.
            let start = (old.get().as_ptr() as usize).saturating_sub(json.as_ptr() as usize);
            let Some(before) = json.get(done..start) else {
                continue;
            };
            out.push_str(before);
            out.push_str(&as_json(old.get(), source));
            done = start + old.get().len();
        }
        out.push_str(json.get(done..).unwrap_or_default());
        Ok(out)
    }
}

/// Keeps only the fields that torchvet reads, and adds the other required fields with empty
/// values. Tools that strip outputs, and people who edit the JSON, leave cells that lack required
/// fields or have unknown ones.
fn reduced(json: &str) -> Option<String> {
    let mut notebook: serde_json::Value = serde_json::from_str(json).ok()?;
    let top = notebook.as_object_mut()?;
    top.retain(|key, _| matches!(key.as_str(), "cells" | "metadata" | "nbformat" | "nbformat_minor"));
    for cell in top.get_mut("cells")?.as_array_mut()? {
        let cell = cell.as_object_mut()?;
        cell.retain(|key, _| matches!(key.as_str(), "cell_type" | "metadata" | "source"));
        cell.entry("metadata").or_insert_with(|| serde_json::json!({}));
        if cell.get("cell_type").is_some_and(|kind| kind == "code") {
            cell.insert("outputs".to_owned(), serde_json::json!([]));
            cell.insert("execution_count".to_owned(), serde_json::Value::Null);
        }
    }
    serde_json::to_string(&notebook).ok()
}

/// Whether the metadata of a notebook say that its language is Python 2.
fn is_python_2(json: &str) -> bool {
    let notebook: Option<serde_json::Value> = serde_json::from_str(json).ok();
    let version = notebook.as_ref().and_then(|notebook| notebook.pointer("/metadata/language_info/version")?.as_str());
    version.is_some_and(|version| version.starts_with("2."))
}

#[derive(Deserialize)]
struct RawNotebook<'a> {
    #[serde(borrow)]
    cells: Vec<RawCell<'a>>,
}

#[derive(Deserialize)]
struct RawCell<'a> {
    #[serde(borrow)]
    source: Option<&'a RawValue>,
}

/// The source of a cell as JSON, in the same form as before: one string, or a list of lines.
fn as_json(old: &str, source: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let Some(inside) = old.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return quoted(source);
    };
    let lines: Vec<String> = source.split_inclusive('\n').map(quoted).collect();
    if lines.is_empty() {
        return "[]".to_owned();
    }
    let first = &inside[..inside.len() - inside.trim_start().len()];
    let last = &inside[inside.trim_end().len()..];
    let between = if first.is_empty() { " " } else { first };
    format!("[{first}{}{last}]", lines.join(&format!(",{between}")))
}

fn explain(error: RuffError) -> NotebookError {
    let (what, cause) = match error {
        RuffError::InvalidJson(cause) | RuffError::Json(cause) => ("not valid JSON", cause),
        RuffError::InvalidSchema(cause) => ("not a Jupyter notebook", cause),
        RuffError::InvalidFormat(version) => {
            let message = format!("notebook format {version} is not supported, only 4 is");
            return NotebookError { message, place: None };
        }
        RuffError::Io(cause) => {
            return NotebookError { message: cause.to_string(), place: None };
        }
    };
    let text = cause.to_string();
    let place = format!(" at line {} column {}", cause.line(), cause.column());
    NotebookError {
        message: format!("{what}: {}", text.strip_suffix(&place).unwrap_or(&text)),
        place: (cause.line() > 0).then(|| (cause.line(), cause.column().max(1))),
    }
}

#[cfg(test)]
mod tests {
    use super::Notebook;

    const JSON: &str = r#"{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["hi"]},
  {
   "cell_type": "code", "execution_count": 1, "metadata": {},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1e-05\n"]}],
   "source": [
    "a = 1\n",
    "b = 2"
   ]
  },
  {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": "c = 3"}
 ],
 "metadata": {"x": 1e-05},
 "nbformat": 4, "nbformat_minor": 4
}"#;

    #[test]
    fn cells_are_numbered_over_all_cells() {
        let notebook = Notebook::read(JSON).unwrap().unwrap();
        assert_eq!(notebook.text, "a = 1\nb = 2\nc = 3\n");
        let numbers: Vec<_> = notebook.cells.iter().map(|cell| cell.number).collect();
        assert_eq!(numbers, [2, 3]);
        assert_eq!(notebook.cell_at(12.into()).unwrap().number, 3);
        assert_eq!(notebook.cell_at(11.into()).unwrap().number, 2);
    }

    #[test]
    fn replacing_sources_touches_nothing_else() {
        let new = [(2, "a = 1\nb = 5".to_owned()), (3, "c = 4".to_owned())];
        let json = Notebook::replace_sources(JSON, &new).unwrap();
        assert_eq!(json, JSON.replace("b = 2", "b = 5").replace("c = 3", "c = 4"));
    }

    #[test]
    fn cells_may_lack_fields_and_have_unknown_ones() {
        let stripped = JSON.replace(r#""outputs": [], "#, "").replace(r#""execution_count": 1, "#, "");
        let json = stripped.replacen(r#""metadata": {}, "source": ["hi"]"#, r#""outputs": [], "source": ["hi"]"#, 1);
        assert_ne!(json, stripped);
        let notebook = Notebook::read(&json).unwrap().unwrap();
        assert_eq!(notebook.text, "a = 1\nb = 2\nc = 3\n");
        assert_eq!(notebook.cells.last().unwrap().number, 3);
        let broken = JSON.replace(r#""source": "c = 3""#, r#""source": 3"#);
        let error = Notebook::read(&broken).err().unwrap();
        assert!(error.message.starts_with("not a Jupyter notebook"), "{}", error.message);
    }

    #[test]
    fn another_language_is_skipped_and_bad_json_has_a_place() {
        let other = JSON.replace(r#""x": 1e-05"#, r#""language_info": {"name": "R"}"#);
        assert!(Notebook::read(&other).unwrap().is_none());
        let old = JSON.replace(r#""x": 1e-05"#, r#""language_info": {"name": "python", "version": "2.7.12"}"#);
        assert!(Notebook::read(&old).unwrap().is_none());
        assert!(Notebook::read("").unwrap().unwrap().cells.is_empty());
        let error = Notebook::read("{\n  nope").err().unwrap();
        assert_eq!(error.place, Some((2, 3)));
        assert!(error.message.starts_with("not valid JSON"), "{}", error.message);
    }
}
