//! Checks the layers of ARCHITECTURE.md: which module of `src/` may use which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every module (a folder or file of `src/`), and the modules that it may use.
const MODULES: &[(&str, &[&str])] = &[
    ("syntax", &[]),
    ("libraries", &[]),
    ("selector", &[]),
    ("value", &["syntax"]),
    ("python", &["value", "syntax", "libraries"]),
    ("library", &["python", "value", "syntax", "libraries"]),
    ("diagnostic", &["value", "syntax"]),
    ("rules", &["python", "value", "syntax", "diagnostic", "libraries"]),
    ("contract", &["rules", "python", "value", "syntax", "diagnostic", "selector"]),
    ("project", &["selector", "syntax", "diagnostic", "libraries"]),
    ("config", &["selector", "project", "rules", "diagnostic"]),
    ("findings", &["config", "project", "rules", "diagnostic", "syntax"]),
    ("panics", &[]),
    ("output", &["config", "findings", "project", "rules", "diagnostic", "syntax"]),
    ("analysis", &["contract", "library", "libraries", "rules", "project", "python", "value", "syntax", "diagnostic"]),
    ("coverage", &["analysis", "contract", "libraries", "project", "syntax"]),
    (
        "cli",
        &[
            "analysis",
            "config",
            "contract",
            "coverage",
            "findings",
            "output",
            "panics",
            "project",
            "rules",
            "diagnostic",
            "syntax",
            "server",
            "probe",
        ],
    ),
    ("server", &["analysis", "config", "contract", "findings", "panics", "project", "rules", "diagnostic", "syntax"]),
    (
        "probe",
        &["analysis", "config", "contract", "output", "project", "rules", "diagnostic", "syntax", "value", "libraries"],
    ),
];

/// Crates that only some files may use: the name (with `_` at the end, a prefix), and these files.
const CRATES: &[(&str, &[&str])] = &[
    ("ruff_", &["src/syntax/"]),
    ("miette", &["src/output/text.rs"]),
    ("clap", &["src/cli/", "src/config/options.rs"]),
    ("schemars", &["src/config/options.rs"]),
    ("toml", &["src/config.rs", "src/config/", "src/cli/", "src/rules/front_matter.rs", "src/library/data.rs"]),
    ("saphyr", &["src/library/settings/document.rs"]),
    ("rayon", &["src/cli/"]),
    ("notify", &["src/cli/"]),
    ("lsp_server", &["src/server/"]),
    ("gen_lsp_types", &["src/server/"]),
];

/// Forbidden code: a prefix of the path, the text that must not occur there, and the reason.
const NEVER: &[(&str, &str, &str)] = &[
    ("src/value/", "std::fs", "values are plain data"),
    ("src/python/", "std::fs", "the interpreter reads no files: it uses its `Sources`"),
    ("src/python/", "\"torch.", "the interpreter does not know torch: it uses its `Library`"),
    ("src/python/", "\"numpy.", "the interpreter does not know NumPy: it uses its `Library`"),
    ("src/library/", "std::fs", "libraries are tables"),
    ("src/rules/", "println!", "rules print nothing"),
    ("src/contract/", "println!", "contracts print nothing"),
    ("src/server/", "println!", "standard output is reserved for the protocol"),
    ("src/", "unsafe {", "nothing here needs it"),
];

#[test]
fn modules_use_only_the_modules_below_them() {
    let modules: BTreeMap<&str, BTreeSet<&str>> =
        MODULES.iter().map(|(module, allowed)| (*module, allowed.iter().copied().collect())).collect();
    let mut faults = Vec::new();
    for (path, code) in sources() {
        let module = module(&path);
        if matches!(module.as_str(), "lib" | "main") {
            continue;
        }
        let Some(allowed) = modules.get(module.as_str()) else {
            faults.push(format!(
                "{}: `{module}` is a new module: add it to {}, with the modules that it may use",
                path.display(),
                file!()
            ));
            continue;
        };
        for (line, text) in code.iter().enumerate() {
            for named in crate_paths(text) {
                if named == "{" {
                    faults.push(format!("{}:{}: write one `use` per module", path.display(), line + 1));
                }
                if named != module && modules.contains_key(named.as_str()) && !allowed.contains(named.as_str()) {
                    faults.push(format!("{}:{}: `{module}` must not use `{named}`", path.display(), line + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_module_uses_itself() {
    let mut settled: BTreeSet<&str> = BTreeSet::new();
    while settled.len() < MODULES.len() {
        let next = MODULES
            .iter()
            .find(|(module, below)| !settled.contains(module) && below.iter().all(|module| settled.contains(module)));
        let Some((module, _)) = next else {
            let rest: Vec<_> =
                MODULES.iter().map(|(module, _)| module).filter(|module| !settled.contains(*module)).collect();
            panic!("these modules use each other: {rest:?}");
        };
        settled.insert(module);
    }
}

#[test]
fn crates_are_used_only_in_their_files() {
    let mut faults = Vec::new();
    for (path, code) in sources() {
        let shown = shown(&path);
        for (krate, places) in CRATES {
            if places.iter().any(|place| shown.starts_with(place)) {
                continue;
            }
            for (line, text) in code.iter().enumerate() {
                if names_crate(text, krate) {
                    faults.push(format!("{shown}:{}: `{krate}` may be used only in {places:?}", line + 1));
                }
            }
        }
        for (place, pattern, why) in NEVER {
            for (line, text) in code.iter().enumerate() {
                if shown.starts_with(place) && text.contains(pattern) {
                    faults.push(format!("{shown}:{}: `{pattern}` in {place}: {why}", line + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn imports_are_read_as_rust_reads_them() {
    let read = |line: &str| crate_paths(line).collect::<Vec<_>>();
    assert_eq!(read("use crate::value::{Dim, Size};"), ["value"]);
    assert_eq!(read("use crate::{syntax::Span, value};"), ["{"]);
    assert_eq!(read("let x: crate::python::Args = crate::value::sym(\"x\");"), ["python", "value"]);
    assert_eq!(read("pub(crate) fn f() {}"), [""; 0]);
    assert!(names_crate("use ruff_text_size::Ranged;", "ruff_"));
    assert!(names_crate("let x = toml::from_str(text);", "toml"));
    assert!(!names_crate("ConfigError::toml(&error)", "toml"));
    assert!(!names_crate("Spanned::new(toml_text)", "toml"));
}

/// All Rust files of `src/`, each with its lines without comments.
fn sources() -> Vec<(PathBuf, Vec<String>)> {
    let mut files = Vec::new();
    collect(Path::new("src"), &mut files);
    assert!(files.len() > 20, "src/ is read from the folder of Cargo.toml");
    files.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source file is readable");
        let code =
            text.lines().map(|line| if line.trim_start().starts_with("//") { String::new() } else { code_of(line) });
        let code = code.collect();
        (path, code)
    };
    files.into_iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("src/ is readable") {
        let path = entry.expect("src/ is readable").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// A line without the comment at its end.
fn code_of(line: &str) -> String {
    line.split(" // ").next().unwrap_or_default().to_owned()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// `src/value/dim.rs` is in `value`, `src/config.rs` is `config`.
fn module(path: &Path) -> String {
    let name = path.components().nth(1).expect("below src/").as_os_str().to_string_lossy();
    name.trim_end_matches(".rs").to_owned()
}

/// The name after each `crate::` of a line. For a list (`crate::{…}`), it is `{`, which is not a module.
fn crate_paths(line: &str) -> impl Iterator<Item = String> {
    let rest = line.match_indices("crate::").map(|(at, prefix)| &line[at + prefix.len()..]);
    rest.map(|rest| if rest.starts_with('{') { "{".to_owned() } else { identifier(rest) })
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
}

/// Whether a line contains `name::` or `name as`. A name that ends with `_` is a prefix.
fn names_crate(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let starts = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':' && c != '"');
        let whole = identifier(&line[at..]);
        let ends = line[at + whole.len()..].starts_with("::") || line[at + whole.len()..].starts_with(" as ");
        starts && ends && (name.ends_with('_') || whole == name)
    })
}
