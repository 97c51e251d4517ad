//! Mistakes in the settings, shown at their place.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use super::options::KEYS;
use super::select::nearest;

/// A mistake in the settings.
#[derive(Debug, Clone)]
pub(crate) struct ConfigError {
    message: String,
    /// The name and text of the settings file, or of the text of `--config`, and the place in it.
    place: Option<(PathBuf, String, Range<usize>)>,
}

impl ConfigError {
    /// A mistake without a place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ConfigError { message: message.into(), place: None }
    }

    /// A mistake at a place in a settings file, or in the text of `--config`.
    pub(crate) fn at(message: impl Into<String>, path: PathBuf, text: &str, span: Range<usize>) -> Self {
        ConfigError { message: message.into(), place: Some((path, text.to_owned(), span)) }
    }

    /// The error of the TOML parser. For an unknown key, the message suggests the nearest known
    /// key.
    pub(super) fn toml(error: &toml::de::Error, path: PathBuf, text: &str) -> Self {
        let message = error.message();
        let message = match unknown_field(message) {
            Some(key) => match nearest(key, KEYS.iter().copied()) {
                Some(known) => format!("unknown key `{key}`; did you mean `{known}`?"),
                None => format!("unknown key `{key}`; known keys are {}", KEYS.join(", ")),
            },
            None => message.to_owned(),
        };
        match error.span() {
            Some(span) => Self::at(message, path, text, span),
            None => Self::new(format!("{}: {message}", path.display())),
        }
    }
}

fn unknown_field(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("unknown field `")?;
    rest.split_once('`').map(|(key, _)| key)
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        let Some((path, text, span)) = &self.place else {
            return Ok(());
        };
        let before = text.get(..span.start).unwrap_or(text);
        let row = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
        let column = before.get(start..).unwrap_or_default().chars().count();
        let marked = text.get(span.clone()).unwrap_or_default().lines().next().unwrap_or_default();
        let width = marked.chars().count().max(1);
        let gutter = " ".repeat(row.to_string().len());
        writeln!(f)?;
        writeln!(f, "{gutter}--> {}:{row}:{}", path.display(), column + 1)?;
        writeln!(f, "{gutter} |")?;
        writeln!(f, "{row} | {line}")?;
        write!(f, "{gutter} | {}{}", " ".repeat(column), "^".repeat(width))
    }
}

impl std::error::Error for ConfigError {}
