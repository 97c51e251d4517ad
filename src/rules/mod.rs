//! The rules: one page each in `rules/`, and a file here for rules that a contract cannot express
//! (order of calls, loops, environment). Rules print nothing.

mod data;
mod devices;
mod environment;
mod losses;
mod names;
mod performance;
mod safety;
mod shapes;
mod training;
mod values;

mod arms;
mod front_matter;
mod known;
pub(crate) mod notes;
mod order;
mod page;
mod rule;
mod sections;
mod split;
mod trace;
mod unset;
mod watch;
mod words;

use std::path::Path;

pub(crate) use page::{Assignment, Needs, Rejects};
pub use page::{FixKind, Page};
pub(crate) use rule::{Answers, Call, Setting, Source};
pub(crate) use watch::{Found, Watch, Watching, launched, parsed};

mod table {
    include!(concat!(env!("OUT_DIR"), "/pages.rs"));
}

/// The rules of a run: those of torchvet and those of the user.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// torchvet's pages, sorted by code, then the user's pages in the order in which they were
    /// loaded.
    pub pages: Vec<Page>,
}

impl Rules {
    /// The rules of torchvet, sorted by code. `build.rs` has checked all pages, so reading them
    /// cannot fail.
    #[must_use]
    pub fn builtin() -> Rules {
        let read = |&(stem, text): &(&'static str, &'static str)| {
            Page::read(stem.into(), format!("rules/{stem}.md"), text.into()).ok()
        };
        let mut pages: Vec<Page> = table::PAGES.iter().filter_map(read).collect();
        pages.sort_by(|a, b| a.code.cmp(&b.code));
        Rules { pages }
    }

    /// Reads a page. Messages call its file `shown`.
    ///
    /// # Errors
    ///
    /// `path: what is wrong` if the file cannot be read; `path:line: what is wrong` if the page is
    /// invalid.
    pub(crate) fn read(path: &Path, shown: &Path) -> Result<Page, String> {
        let shown = shown.display();
        let fault = |line: usize, message: &str| format!("{shown}:{line}: {message}");
        let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
            return Err(fault(1, "the file name of a page must be the rule's name, in UTF-8"));
        };
        Page::read(stem.to_owned().into(), shown.to_string(), text.into())
            .map_err(|found| fault(found.line, &found.message))
    }

    /// Adds a page of the user. Messages call its file `shown`.
    ///
    /// # Errors
    ///
    /// `path: what is wrong` if the file cannot be read; `path:line: what is wrong` if the page is
    /// invalid, or has the code or the name of another rule.
    pub fn load_user(&mut self, path: &Path, shown: &Path) -> Result<(), String> {
        let page = Rules::read(path, shown)?;
        let shown = shown.display();
        let fault = |line: usize, message: &str| format!("{shown}:{line}: {message}");
        let line = page.code_line;
        if page.code.starts_with("TV") {
            return Err(fault(line, "codes that begin with TV are reserved for torchvet"));
        }
        if page.has_own_check() {
            return Err(fault(line, "a page of your own needs a contract, but `contract-of` is empty"));
        }
        if let Some(other) = self.find(&page.code) {
            return Err(fault(line, &format!("code `{}` is already used by {}", page.code, other.name)));
        }
        if self.find(&page.name).is_some() {
            return Err(fault(line, &format!("a rule named `{}` already exists", page.name)));
        }
        self.pages.push(page);
        Ok(())
    }

    /// The rule with this code or name.
    #[must_use]
    pub fn find(&self, code_or_name: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.code == code_or_name || page.name == code_or_name)
    }
}

/// The address of the page of a built-in rule.
pub(crate) fn url(name: &str) -> String {
    format!("https://github.com/torchvet/torchvet/blob/main/rules/{name}.md")
}

#[cfg(test)]
mod tests;
