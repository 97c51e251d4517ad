//! Decodes files: encodings, size limits, notebooks.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::content::Content;
use crate::syntax::Notebook;

/// A larger Python file is assumed to be data, not a program.
const MAX_SOURCE: usize = 10 << 20;
/// The limit for notebooks is larger, because their files also contain outputs.
const MAX_NOTEBOOK: u64 = 200 << 20;
/// A larger file is assumed not to launch programs.
const MAX_LAUNCH: u64 = 1 << 20;

/// The encoding of a file. A fix writes the file in the same encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// UTF-8 after a byte order mark.
    Utf8Bom,
    /// Declared with a coding comment (PEP 263).
    Latin1,
}

impl Encoding {
    /// The text as bytes; `None` if the encoding lacks one of its characters.
    pub(crate) fn encode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Encoding::Utf8 => Some(text.as_bytes().to_vec()),
            Encoding::Utf8Bom => Some(["\u{feff}", text].concat().into_bytes()),
            Encoding::Latin1 => text.chars().map(|c| u8::try_from(c).ok()).collect(),
        }
    }
}

/// The kind of problem with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadErrorKind {
    /// The file cannot be read or decoded: the run ends with exit code 2.
    Broken,
    /// The file is too large to be a program: it is skipped with a message.
    TooBig,
    /// The file is a notebook in another language: it is skipped silently.
    NotPython,
}

/// Why a file was not read.
#[derive(Debug, Clone)]
pub(crate) struct ReadError {
    pub path: PathBuf,
    /// Line and column (or byte of the line), from 1.
    pub place: Option<(usize, usize)>,
    pub kind: ReadErrorKind,
    pub reason: String,
}

impl ReadError {
    fn new(path: &Path, kind: ReadErrorKind, reason: impl Into<String>) -> Self {
        ReadError { path: path.to_owned(), place: None, kind, reason: reason.into() }
    }

    /// An error from the operating system.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "no such file or directory".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => {
                let text = error.to_string();
                let plain = text.split_once(" (os error").map(|(plain, _)| plain.to_lowercase());
                plain.unwrap_or(text)
            }
        };
        Self::new(path, ReadErrorKind::Broken, reason)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.reason)
    }
}

pub(super) fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}

/// Whether a file that launches programs contains one of the names. The file need not be valid
/// UTF-8.
pub(crate) fn mentions(path: &Path, needles: &[&str]) -> Result<bool, ReadError> {
    let io = |error| ReadError::io(path, &error);
    let metadata = fs::metadata(path).map_err(io)?;
    if !metadata.is_file() || metadata.len() > MAX_LAUNCH {
        return Ok(false);
    }
    let bytes = fs::read(path).map_err(io)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(needles.iter().any(|needle| text.contains(needle)))
}

pub(super) fn read(path: &Path, canonical: &Path) -> Result<Content, ReadError> {
    let io = |error| ReadError::io(path, &error);
    let metadata = fs::metadata(canonical).map_err(io)?;
    if metadata.is_dir() {
        return Err(ReadError::new(path, ReadErrorKind::Broken, "is a directory"));
    }
    if !metadata.is_file() {
        return Err(ReadError::new(path, ReadErrorKind::Broken, "is not a regular file"));
    }
    let limit = if is_notebook(path) { MAX_NOTEBOOK } else { MAX_SOURCE as u64 };
    if metadata.len() > limit {
        return Err(too_big(path, metadata.len()));
    }
    content(path, &fs::read(canonical).map_err(io)?)
}

fn content(path: &Path, bytes: &[u8]) -> Result<Content, ReadError> {
    let (text, encoding) = if is_notebook(path) { utf8(path, bytes) } else { decode(path, bytes) }?;
    decoded(path, text, encoding)
}

/// A text that is already decoded; its coding comment is ignored.
pub(super) fn content_of_text(path: &Path, text: &str) -> Result<Content, ReadError> {
    match text.strip_prefix('\u{feff}') {
        Some(text) => decoded(path, text.to_owned(), Encoding::Utf8Bom),
        None => decoded(path, text.to_owned(), Encoding::Utf8),
    }
}

fn decoded(path: &Path, mut text: String, encoding: Encoding) -> Result<Content, ReadError> {
    let mut cells = None;
    if is_notebook(path) {
        let notebook = Notebook::read(&text).map_err(|error| ReadError {
            place: error.place,
            ..ReadError::new(path, ReadErrorKind::Broken, error.message)
        })?;
        let Some(mut notebook) = notebook else {
            return Err(ReadError::new(path, ReadErrorKind::NotPython, "not a Python notebook"));
        };
        let json = std::mem::replace(&mut text, std::mem::take(&mut notebook.text));
        cells = Some((json, notebook));
    }
    if text.len() > MAX_SOURCE {
        return Err(too_big(path, text.len() as u64));
    }
    Ok(Content::new(path, text, encoding, cells))
}

fn too_big(path: &Path, bytes: u64) -> ReadError {
    let reason = format!("skipped: the file is too large ({} MB)", bytes >> 20);
    ReadError::new(path, ReadErrorKind::TooBig, reason)
}

fn decode(path: &Path, bytes: &[u8]) -> Result<(String, Encoding), ReadError> {
    if bytes.starts_with(b"\xef\xbb\xbf") || bytes.is_ascii() {
        return utf8(path, bytes);
    }
    let Some(cookie) = coding_cookie(bytes) else {
        return utf8(path, bytes);
    };
    match cookie.to_ascii_lowercase().replace('_', "-").as_str() {
        "utf-8" | "utf8" | "utf-8-sig" | "ascii" | "us-ascii" => utf8(path, bytes),
        "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" | "iso-latin-1" => {
            Ok((bytes.iter().map(|&byte| char::from(byte)).collect(), Encoding::Latin1))
        }
        _ => {
            let reason = format!("the encoding `{cookie}` is not supported: save it as UTF-8");
            Err(ReadError::new(path, ReadErrorKind::Broken, reason))
        }
    }
}

fn utf8(path: &Path, bytes: &[u8]) -> Result<(String, Encoding), ReadError> {
    let (bytes, encoding) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (rest, Encoding::Utf8Bom),
        None => (bytes, Encoding::Utf8),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok((text.to_owned(), encoding)),
        Err(error) => {
            let at = error.valid_up_to();
            let before = bytes.get(..at).unwrap_or_default();
            #[expect(clippy::naive_bytecount, reason = "once, for a file that cannot be read")]
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
            let byte = bytes.get(at).copied().unwrap_or_default();
            let reason = format!("invalid UTF-8: byte 0x{byte:02x} at offset {at}");
            let broken = ReadError::new(path, ReadErrorKind::Broken, reason);
            Err(ReadError { place: Some((line, column)), ..broken })
        }
    }
}

/// The encoding that a comment on one of the first two lines declares (PEP 263).
fn coding_cookie(bytes: &[u8]) -> Option<String> {
    for line in bytes.split(|&byte| byte == b'\n').take(2) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_start_matches([' ', '\t', '\x0c']);
        if let Some(comment) = line.strip_prefix('#') {
            if let Some(cookie) = cookie_in(comment) {
                return Some(cookie);
            }
        } else if !line.trim().is_empty() {
            return None;
        }
    }
    None
}

fn cookie_in(comment: &str) -> Option<String> {
    let (_, rest) = comment.split_once("coding")?;
    let name = rest.strip_prefix([':', '='])?.trim_start_matches([' ', '\t']);
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
    let name = name.get(..end.unwrap_or(name.len()))?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Result<(String, Encoding), ReadError> {
        decode(Path::new("a.py"), bytes)
    }

    #[test]
    fn latin_1_needs_its_cookie() {
        let (text, encoding) = of(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n").unwrap();
        assert_eq!(text, "# -*- coding: latin-1 -*-\nx = 'é'\n");
        assert_eq!(encoding.encode(&text).unwrap().len(), text.len() - 1);
        assert_eq!(encoding.encode("日本"), None);
        let error = of(b"a = 1\nx = '\xe9'\n").unwrap_err();
        assert_eq!(error.place, Some((2, 6)));
        assert!(of(b"x = 1\n# coding: latin-1\ny = '\xe9'").is_err());
        assert!(of(b"#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\n'\xe9'").is_ok());
    }

    #[test]
    fn other_encodings_matter_only_beyond_ascii() {
        assert!(of(b"# coding: gbk\nx = 1\n").is_ok());
        let error = of(b"# coding: gbk\nx = '\xc4\xe3'\n").unwrap_err();
        assert!(error.reason.contains("`gbk`"), "{}", error.reason);
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_text() {
        let (text, encoding) = of(b"\xef\xbb\xbfx = 1\n").unwrap();
        assert_eq!((text.as_str(), encoding), ("x = 1\n", Encoding::Utf8Bom));
        assert_eq!(encoding.encode(&text).unwrap(), b"\xef\xbb\xbfx = 1\n");
    }
}
