//! The keys in the settings files of a project, and the words by which its code may add others.
//!
//! The files are read line by line, so that broken files, templates and other dialects count, too.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::imports::Kind;
use super::{FileKind, Project};
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_keyword, walk_stmt};
use crate::syntax::ast::{ExprCall, ExprContext, Keyword};
use crate::syntax::{Expr, Stmt, called};

/// The largest number of folders that are searched for settings files.
const MAX_FOLDERS: usize = 1000;

/// Folders that hold no settings of the project.
const SKIPPED: &[&str] = &["node_modules", "__pycache__", "wandb", "site-packages"];

/// The keys of all settings files (YAML and JSON) below the root.
#[derive(Default)]
pub(crate) struct Settings {
    /// For each key with entries, the keys below it in any file, at any depth. The stem and the folder of a
    /// file count as keys around it, because tools such as Hydra build their tree from folders.
    below: FxHashMap<String, FxHashSet<String>>,
    all: FxHashSet<String>,
    /// Whether code reads a section from a file of its own: `config[key] = json.load(file)`. Then any key may be
    /// below any other.
    is_assembled: bool,
    /// Words by which code, scripts and command lines may add keys, or test for them.
    spoken: FxHashSet<String>,
}

impl Settings {
    /// The keys below a key. `None` if no file has entries for it. The empty name stands for all keys.
    pub(crate) fn keys(&self, parent: &str) -> Option<&FxHashSet<String>> {
        match parent {
            "" => Some(&self.all).filter(|all| !all.is_empty()),
            parent => self.below.get(parent).map(|below| if self.is_assembled { &self.all } else { below }),
        }
    }

    /// Whether code may add a key of this name, or test for it.
    pub(crate) fn may_be_added(&self, key: &str) -> bool {
        self.spoken.contains(key)
    }

    fn speak<'t>(&mut self, words: impl Iterator<Item = &'t str>) {
        self.spoken.extend(words.map(str::to_owned));
    }

    /// Adds the keys of a settings file; `places` are the keys around the whole file.
    fn add(&mut self, text: &str, places: &[&str]) {
        // The keys around the current line, with their indentation.
        let mut around: Vec<(usize, &str)> = Vec::new();
        for line in text.lines() {
            let code = line.trim_start_matches([' ', '\t', '-', '{', '[']);
            let indentation = line.len() - code.len();
            let mut keys = keys(code).peekable();
            if keys.peek().is_none() {
                continue;
            }
            around.retain(|(outer, _)| *outer < indentation);
            let mut parent = around.last().map(|(_, key)| *key);
            for key in keys {
                self.all.insert(key.to_owned());
                for parent in parent.into_iter().chain(if around.is_empty() { places } else { &[] }.iter().copied()) {
                    self.below.entry(parent.to_owned()).or_default().insert(key.to_owned());
                }
                // In `a: {b: 1}`, the other keys of the line are below the first one.
                if !around.iter().any(|(at, _)| *at == indentation) {
                    around.push((indentation, key));
                    parent = Some(key);
                }
            }
        }
    }
}

/// The keys in a line: `lr: 0.1`, `"lr": 0.1`, `optimizer: {lr: 0.1, name: adam}`.
fn keys(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split(" #").next().unwrap_or_default();
    code.match_indices(':').filter_map(|(at, _)| {
        let key = code.get(..at)?.trim_end().trim_end_matches(['"', '\'']);
        let key =
            key.get(key.rfind(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).map_or(0, |at| at + 1)..)?;
        (!key.is_empty()).then_some(key)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The words in a Python text that stand in strings or before `=`, except keys in subscripts that are read.
fn given_words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_assigned = |after: &str| after.trim_start().starts_with('=') && !after.trim_start().starts_with("==");
    text.match_indices(is_word).filter_map(move |(at, _)| {
        let (before, rest) = text.split_at_checked(at)?;
        if before.ends_with(is_word) {
            return None;
        }
        let (word, after) = rest.split_at_checked(rest.find(|c| !is_word(c)).unwrap_or(rest.len()))?;
        let Some(quote) = before.chars().next_back().filter(|c| matches!(c, '"' | '\'')) else {
            return is_assigned(after).then_some(word);
        };
        let inside = before.strip_suffix(quote).is_some_and(|before| before.ends_with('['));
        let closed = after.strip_prefix(quote).and_then(|after| after.strip_prefix(']')).filter(|_| inside);
        (is_assigned(after) || closed.is_none_or(is_assigned)).then_some(word)
    })
}

impl Project {
    /// The keys in the settings files below the root. They are read at the first call.
    pub(crate) fn settings(&self) -> &Settings {
        self.settings.get_or_init(|| {
            let mut settings = Settings::default();
            for file in self.named_files() {
                if file.kind() == FileKind::Python {
                    let mut code = Code::default();
                    code.visit_body(&file.parsed().module.body);
                    settings.spoken.extend(code.spoken);
                    settings.is_assembled |= code.assembles;
                    code.parsed.iter().for_each(|text| settings.add(text, &[]));
                } else {
                    settings.speak(words(file.text()));
                }
            }
            let mut folders = vec![self.root().to_owned()];
            let mut at = 0;
            while let Some(folder) = folders.get(at).cloned().filter(|_| at < MAX_FOLDERS) {
                at += 1;
                folders.extend(self.add_settings_in(&folder, &mut settings));
            }
            settings
        })
    }

    /// Reads the files of one folder. Returns the folders in it that may hold settings, too.
    fn add_settings_in(&self, folder: &Path, settings: &mut Settings) -> Vec<PathBuf> {
        let place = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut inner = Vec::new();
        for (name, kind) in self.listing(folder).iter().filter_map(|(name, kind)| Some((name.to_str()?, kind))) {
            let path = folder.join(name);
            if *kind == Kind::Folder {
                inner.extend((!name.starts_with('.') && !SKIPPED.contains(&name)).then_some(path));
                continue;
            }
            let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
            let text = || self.data_below(folder, &path).unwrap_or_default();
            match extension {
                "yaml" | "yml" | "json" => settings.add(text(), &[stem, place]),
                // A file that is not checked is not parsed.
                "py" if !self.is_named(&path) => settings.speak(given_words(text())),
                "sh" | "toml" | "ini" | "cfg" | "conf" | "gin" => settings.speak(words(text())),
                _ => {}
            }
        }
        inner
    }
}

/// Functions that parse a text of settings.
const PARSERS: &[&str] = &["load", "safe_load", "full_load", "loads", "create"];

fn parses(call: &ExprCall) -> bool {
    called(call).is_some_and(|name| PARSERS.contains(&name))
}

#[derive(Default)]
struct Code<'a> {
    /// The words by which code may add keys, or test for them: those in strings that are not the keys of reads,
    /// and the names of arguments, functions, annotated variables and attributes that are set.
    spoken: FxHashSet<String>,
    /// Texts of settings that the code parses.
    parsed: Vec<&'a str>,
    /// Whether the code stores what a parser returns under a key that is not a text.
    assembles: bool,
}

impl Code<'_> {
    fn speak(&mut self, text: &str) {
        self.spoken.extend(words(text).map(str::to_owned));
    }
}

impl<'a> Visitor<'a> for Code<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.speak(&def.name),
            Stmt::Assign(assign) => {
                let is_open = |target: &Expr| {
                    target.as_subscript_expr().is_some_and(|target| !target.slice.is_string_literal_expr())
                };
                self.assembles |= assign.value.as_call_expr().is_some_and(parses) && assign.targets.iter().any(is_open);
            }
            Stmt::AnnAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    self.speak(&name.id);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Subscript(subscript)
                if subscript.ctx == ExprContext::Load && subscript.slice.is_string_literal_expr() =>
            {
                return self.visit_expr(&subscript.value);
            }
            Expr::Call(call) if parses(call) => {
                if let Some(Expr::StringLiteral(text)) = call.arguments.args.first() {
                    self.parsed.push(text.value.to_str());
                    return;
                }
            }
            Expr::Attribute(attribute) if attribute.ctx != ExprContext::Load => self.speak(&attribute.attr),
            Expr::StringLiteral(text) => self.speak(text.value.to_str()),
            Expr::FString(text) => {
                for part in text.value.elements().filter_map(|part| part.as_literal()) {
                    self.speak(part);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_keyword(&mut self, keyword: &'a Keyword) {
        if let Some(name) = &keyword.arg {
            self.speak(name);
        }
        walk_keyword(self, keyword);
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn keys_of_settings_files() {
        let mut settings = Settings::default();
        let yaml = "train:\n  losses:\n    alpha: {weight: 1, power: 2}\n    comp: 3  # a: b\n  epochs: 5\ndata:\n- path: x\n  size: 2\n";
        settings.add(yaml, &["base", "configs"]);
        settings.add("{\n  \"model\": {\n    \"name\": \"unet\"\n  }\n}\n", &["unet", "configs"]);
        let below = |parent: &str| {
            let mut all: Vec<&str> = settings.keys(parent).into_iter().flatten().map(String::as_str).collect();
            all.sort_unstable();
            all.join(" ")
        };
        assert_eq!(below("train"), "epochs losses");
        assert_eq!(below("losses"), "alpha comp");
        assert_eq!(below("alpha"), "power weight");
        assert_eq!(below("data"), "path size");
        assert_eq!(below("model"), "name");
        assert_eq!(below("base"), "data train");
        assert_eq!(settings.keys("comp"), None);
    }
}
