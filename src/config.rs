//! The settings: their origins, and the combined result.
//!
//! The configuration file is the nearest `.torchvet.toml`, `torchvet.toml` or `pyproject.toml` with
//! a `[tool.torchvet]` table, at or above the first path to check. A file given with `--config`
//! replaces it. Single settings given with `--config` have a higher precedence, and other flags the
//! highest.

pub(crate) mod error;
pub(crate) mod options;
pub(crate) mod select;

use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobMatcher;
use toml::Spanned;

use crate::diagnostic::{Diagnostic, Severity};
use crate::project::{DEFAULT_EXCLUDES, Walker, compile_glob};
use crate::rules::Rules;
pub(crate) use error::ConfigError;
pub use options::schema;
use options::{KEYS, PyProject};
pub(crate) use options::{Options, OutputFormat};
use select::{Choice, Selection, is_known, known_names, matches_rule, nearest};

/// The names of configuration files. If a folder has several, the first is used.
pub(crate) const CONFIG_FILES: [&str; 3] = [".torchvet.toml", "torchvet.toml", "pyproject.toml"];

/// The origin of settings.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// A file, with its text.
    File(PathBuf, String),
    /// The text of `--config 'key = value'`.
    Inline(String),
    /// The flags other than `--config`.
    CommandLine,
    /// The settings of an editor.
    Editor,
}

/// The settings of one origin.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub origin: Origin,
    /// The folder to which the patterns of the layer are relative.
    pub base: PathBuf,
    pub options: Options,
}

/// The result of all layers.
pub(crate) struct Settings {
    pub rules: Rules,
    pub selection: Selection,
    pub walker: Walker,
    pub output_format: Option<OutputFormat>,
    severity: Vec<(String, Severity)>,
    per_file_ignores: Vec<PerFile>,
    /// The value and origin of each key, as `torchvet config` prints them.
    pub described: Vec<(&'static str, serde_json::Value, String)>,
}

struct PerFile {
    matcher: GlobMatcher,
    /// The pattern has no slash, so it matches file names.
    by_name: bool,
    negated: bool,
    codes: Vec<String>,
}

impl Layer {
    /// The nearest configuration file at or above a folder.
    pub(crate) fn discover(start: &Path) -> Result<Option<Layer>, ConfigError> {
        for path in Layer::candidates(start) {
            if path.is_file()
                && let Some(layer) = Layer::read(&path)?
            {
                return Ok(Some(layer));
            }
        }
        Ok(None)
    }

    /// Reads the argument of `--config`, which is a file or a piece of TOML.
    pub(crate) fn from_flag(value: &str) -> Result<Layer, ConfigError> {
        let path = Path::new(value);
        if path.is_file() || !value.contains('=') {
            return match Layer::read(path)? {
                Some(layer) => Ok(layer),
                None => Err(ConfigError::new(format!("{value} has no [tool.torchvet] table"))),
            };
        }
        let options = toml::from_str(value).map_err(|error| ConfigError::toml(&error, "--config".into(), value))?;
        Ok(Layer { origin: Origin::Inline(value.to_owned()), base: current_folder(), options })
    }

    /// The settings of an editor.
    pub(crate) fn from_editor(select: Option<&[String]>, ignore: Option<&[String]>) -> Layer {
        let spanned = |list: &[String]| list.iter().map(|one| Spanned::new(0..0, one.clone())).collect();
        let options = Options { select: select.map(spanned), ignore: ignore.map(spanned), ..Options::default() };
        Layer { origin: Origin::Editor, base: current_folder(), options }
    }

    /// The files that [`Layer::discover`] looks for, the nearest first.
    pub(crate) fn candidates(start: &Path) -> impl Iterator<Item = PathBuf> {
        start.ancestors().flat_map(|folder| CONFIG_FILES.map(|name| folder.join(name)))
    }

    /// Reads a file; `None` for a `pyproject.toml` without settings for torchvet.
    fn read(path: &Path) -> Result<Option<Layer>, ConfigError> {
        let text =
            fs::read_to_string(path).map_err(|error| ConfigError::new(format!("{}: {error}", path.display())))?;
        let broken = |error| ConfigError::toml(&error, shown(path), &text);
        let options = if path.file_name().is_some_and(|name| name == "pyproject.toml") {
            let project: PyProject = toml::from_str(&text).map_err(broken)?;
            match project.tool.and_then(|tool| tool.torchvet) {
                Some(options) => options,
                None => return Ok(None),
            }
        } else {
            toml::from_str(&text).map_err(broken)?
        };
        let base = current_folder().join(path).parent().map(Path::to_owned).unwrap_or_default();
        Ok(Some(Layer { origin: Origin::File(shown(path), text), base, options }))
    }

    fn error(&self, message: String, span: std::ops::Range<usize>) -> ConfigError {
        match &self.origin {
            Origin::File(path, text) => ConfigError::at(message, path.clone(), text, span),
            Origin::Inline(text) => ConfigError::at(message, "--config".into(), text, span),
            Origin::CommandLine | Origin::Editor => ConfigError::new(message),
        }
    }

    fn pattern_error(&self, pattern: &Spanned<String>, error: &globset::Error) -> ConfigError {
        let message = format!("invalid pattern `{}`: {}", pattern.get_ref(), error.kind());
        self.error(message, pattern.span())
    }

    fn origin_name(&self) -> String {
        match &self.origin {
            Origin::File(path, _) => path.display().to_string(),
            Origin::Inline(_) => "--config".to_owned(),
            Origin::CommandLine => "command line".to_owned(),
            Origin::Editor => "editor".to_owned(),
        }
    }

    /// All selectors in the layer, each with its key.
    fn selectors(&self) -> impl Iterator<Item = (&'static str, &Spanned<String>)> {
        let options = &self.options;
        let plain =
            [("select", &options.select), ("ignore", &options.ignore), ("extend-select", &options.extend_select)];
        let plain = plain.into_iter().flat_map(|(key, list)| list.iter().flatten().map(move |one| (key, one)));
        let files = options.per_file_ignores.iter().flatten();
        let files = files.flat_map(|(_, codes)| codes.iter().map(|one| ("per-file-ignores", one)));
        let severity = options.severity.iter().flatten().map(|(one, _)| ("severity", one));
        plain.chain(files).chain(severity)
    }

    fn check_selectors(&self, rules: &Rules) -> Result<(), ConfigError> {
        for (key, selector) in self.selectors() {
            let text = selector.get_ref();
            if is_known(text, rules) {
                continue;
            }
            let key = match self.origin {
                Origin::CommandLine => format!("--{key}"),
                Origin::Editor => format!("torchvet.{key}"),
                _ => key.to_owned(),
            };
            let hint = nearest(text, known_names(rules));
            let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let message = format!("unknown rule `{text}` in `{key}`{hint}");
            return Err(self.error(message, selector.span()));
        }
        Ok(())
    }

    fn load_rules(&self, rules: &mut Rules) -> Result<(), ConfigError> {
        for pattern in self.options.rules.iter().flatten() {
            let wrong = |message: String| self.error(message, pattern.span());
            let full = self.base.join(pattern.get_ref());
            let folder: PathBuf = full.ancestors().find(|part| part.is_dir()).unwrap_or(&full).into();
            let matcher = compile_glob(&self.base, &format!("./{}", pattern.get_ref()))
                .map_err(|error| self.pattern_error(pattern, &error))?
                .compile_matcher();
            let mut pages: Vec<PathBuf> = ignore::Walk::new(&folder)
                .flatten()
                .map(ignore::DirEntry::into_path)
                .filter(|path| path.is_file() && (matcher.is_match(path) || *path == full))
                .collect();
            pages.sort();
            if pages.is_empty() {
                return Err(wrong(format!("no rule page matches `{}`", pattern.get_ref())));
            }
            for page in pages {
                rules.load_user(&page, &shown(&page)).map_err(ConfigError::new)?;
            }
        }
        Ok(())
    }
}

impl Settings {
    /// Combines layers; the one with the lowest precedence comes first.
    pub(crate) fn resolve(layers: &[Layer]) -> Result<Settings, ConfigError> {
        let mut rules = Rules::builtin();
        for layer in layers {
            layer.load_rules(&mut rules)?;
        }
        for layer in layers {
            layer.check_selectors(&rules)?;
        }
        let choices: Vec<Choice> = layers.iter().map(|layer| choice(&layer.options)).collect();
        let selection = Selection::resolve(&rules, &choices);
        let strongest = |pick: fn(&Options) -> bool| layers.iter().rev().find(|l| pick(&l.options));
        let walker = walker(layers)?;
        let format = strongest(|o| o.output_format.is_some());
        let mut severity = Vec::new();
        let mut per_file_ignores = Vec::new();
        for layer in layers {
            for (selector, level) in layer.options.severity.iter().flatten() {
                severity.push((selector.get_ref().clone(), *level));
            }
            for (pattern, codes) in layer.options.per_file_ignores.iter().flatten() {
                per_file_ignores.push(per_file(layer, pattern, codes)?);
            }
        }
        Ok(Settings {
            rules,
            selection,
            walker,
            output_format: format.and_then(|layer| layer.options.output_format),
            severity,
            per_file_ignores,
            described: describe(layers),
        })
    }

    /// Whether `per-file-ignores` suppresses a finding in this file.
    pub(crate) fn ignores(&self, path: &Path, diagnostic: &Diagnostic) -> bool {
        self.per_file_ignores.iter().any(|entry| {
            let hit = if entry.by_name {
                path.file_name().is_some_and(|name| entry.matcher.is_match(name))
            } else {
                entry.matcher.is_match(path)
            };
            let names = |code: &String| matches_rule(code, &diagnostic.code, &diagnostic.name);
            hit != entry.negated && entry.codes.iter().any(names)
        })
    }

    /// The severity of a finding under these settings.
    pub(crate) fn severity(&self, diagnostic: &Diagnostic) -> Severity {
        let set = self.severity.iter().rev();
        let mut set = set.filter(|(one, _)| matches_rule(one, &diagnostic.code, &diagnostic.name));
        set.next().map_or(diagnostic.severity, |(_, severity)| *severity)
    }
}

/// The folder in which absolute imports are searched: the result of [`marked_root`], if there is
/// one. Otherwise, it is the working directory if `start` is in it, or else `start` itself.
pub(crate) fn project_root(start: &Path) -> PathBuf {
    marked_root(start).map_or_else(
        || {
            let cwd = current_folder();
            if start.starts_with(&cwd) { cwd } else { start.to_owned() }
        },
        Path::to_owned,
    )
}

/// The nearest folder that looks like the root of a project: `start` itself, or a folder above it.
pub(crate) fn marked_root(start: &Path) -> Option<&Path> {
    const MARKERS: [&str; 6] = ["pyproject.toml", "torchvet.toml", ".torchvet.toml", "setup.py", "setup.cfg", ".git"];
    let is_top = |folder: &&Path| MARKERS.iter().any(|marker| folder.join(marker).exists());
    start.ancestors().find(is_top)
}

fn choice(options: &Options) -> Choice {
    Choice {
        select: options.select.as_deref().map(plain),
        extend_select: plain(options.extend_select.as_deref().unwrap_or_default()),
        ignore: plain(options.ignore.as_deref().unwrap_or_default()),
    }
}

fn plain(list: &[Spanned<String>]) -> Vec<String> {
    list.iter().map(|one| one.get_ref().clone()).collect()
}

fn walker(layers: &[Layer]) -> Result<Walker, ConfigError> {
    let mut walker = Walker::new();
    let replaced = layers.iter().rposition(|layer| layer.options.exclude.is_some());
    let add = |walker: &mut Walker, layer: &Layer, pattern: &Spanned<String>| {
        let wrong = |error: globset::Error| layer.pattern_error(pattern, &error);
        walker.exclude(&layer.base, pattern.get_ref()).map_err(wrong)
    };
    match replaced.and_then(|index| layers.get(index)) {
        Some(layer) => {
            for pattern in layer.options.exclude.iter().flatten() {
                add(&mut walker, layer, pattern)?;
            }
        }
        None => {
            for pattern in DEFAULT_EXCLUDES {
                let added = walker.exclude(Path::new(""), pattern);
                added.map_err(|error| ConfigError::new(error.to_string()))?;
            }
        }
    }
    for layer in layers {
        for pattern in layer.options.extend_exclude.iter().flatten() {
            add(&mut walker, layer, pattern)?;
        }
    }
    let last = |pick: fn(&Options) -> Option<bool>| layers.iter().rev().find_map(|l| pick(&l.options));
    Ok(walker
        .respect_gitignore(last(|o| o.respect_gitignore).unwrap_or(true))
        .force_exclude(last(|o| o.force_exclude).unwrap_or(false)))
}

fn per_file(layer: &Layer, pattern: &Spanned<String>, codes: &[Spanned<String>]) -> Result<PerFile, ConfigError> {
    let text = pattern.get_ref();
    let negated = text.starts_with('!');
    let text = text.trim_start_matches('!');
    let glob = compile_glob(&layer.base, text).map_err(|error| layer.pattern_error(pattern, &error))?;
    let by_name = !glob.glob().contains('/');
    Ok(PerFile { matcher: glob.compile_matcher(), by_name, negated, codes: plain(codes) })
}

/// The value and origin of each key.
fn describe(layers: &[Layer]) -> Vec<(&'static str, serde_json::Value, String)> {
    let value_in = |layer: &Layer, key: &str| {
        let value = serde_json::to_value(&layer.options).ok()?;
        value.get(key).filter(|value| !value.is_null()).cloned()
    };
    let resolve = |key: &&'static str| {
        let set = layers.iter().rev().find_map(|layer| Some((value_in(layer, key)?, layer.origin_name())));
        let (value, origin) = set.unwrap_or_else(|| (default_value(key), "default".to_owned()));
        (*key, value, origin)
    };
    KEYS.iter().map(resolve).collect()
}

fn default_value(key: &str) -> serde_json::Value {
    match key {
        "exclude" => DEFAULT_EXCLUDES.into(),
        "respect-gitignore" => true.into(),
        "force-exclude" => false.into(),
        "output-format" => OutputFormat::Text.as_str().into(),
        "select" => "the default rules".into(),
        "per-file-ignores" | "severity" => serde_json::Map::new().into(),
        _ => serde_json::Value::Array(Vec::new()),
    }
}

fn current_folder() -> PathBuf {
    let cwd = std::env::current_dir().unwrap_or_default();
    cwd.canonicalize().unwrap_or(cwd)
}

fn shown(path: &Path) -> PathBuf {
    path.strip_prefix(current_folder()).unwrap_or(path).to_owned()
}
