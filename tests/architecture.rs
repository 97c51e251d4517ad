//! The layering of the house, held by reading the sources: ARCHITECTURE.md says why.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every room (a folder or file of `src/`), and the rooms that it may name.
const ROOMS: &[(&str, &[&str])] = &[
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
    (
        "cli",
        &[
            "analysis",
            "config",
            "contract",
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

/// Crates that only some places may name: a prefix of the crate's name, and those places.
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

/// What a room must not do, as a pattern of its code, and why.
const NEVER: &[(&str, &str, &str)] = &[
    ("src/value/", "std::fs", "values are plain data"),
    ("src/python/", "std::fs", "the interpreter reads nothing: it asks its `Sources`"),
    ("src/python/", "\"torch.", "the interpreter knows no torch: it asks its `Library`"),
    ("src/python/", "\"numpy.", "the interpreter knows no numpy: it asks its `Library`"),
    ("src/library/", "std::fs", "libraries are tables"),
    ("src/rules/", "println!", "rules print nothing"),
    ("src/contract/", "println!", "contracts print nothing"),
    ("src/server/", "println!", "standard output belongs to the protocol"),
    ("src/", "unsafe {", "nothing here needs it"),
];

#[test]
fn rooms_name_only_the_rooms_below_them() {
    let rooms: BTreeMap<&str, BTreeSet<&str>> =
        ROOMS.iter().map(|(room, allowed)| (*room, allowed.iter().copied().collect())).collect();
    let mut faults = Vec::new();
    for (path, code) in sources() {
        let room = room(&path);
        if matches!(room.as_str(), "lib" | "main") {
            continue;
        }
        let Some(allowed) = rooms.get(room.as_str()) else {
            faults.push(format!("{}: a new room `{room}`: say in {} what it may name", path.display(), file!()));
            continue;
        };
        for (line, text) in code.iter().enumerate() {
            for named in crate_paths(text) {
                if named == "{" {
                    faults.push(format!("{}:{}: write one `use` per room", path.display(), line + 1));
                }
                if named != room && rooms.contains_key(named.as_str()) && !allowed.contains(named.as_str()) {
                    faults.push(format!("{}:{}: `{room}` must not name `{named}`", path.display(), line + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_room_stands_on_itself() {
    let mut settled: BTreeSet<&str> = BTreeSet::new();
    while settled.len() < ROOMS.len() {
        let next = ROOMS
            .iter()
            .find(|(room, below)| !settled.contains(room) && below.iter().all(|room| settled.contains(room)));
        let Some((room, _)) = next else {
            let rest: Vec<_> = ROOMS.iter().map(|(room, _)| room).filter(|room| !settled.contains(*room)).collect();
            panic!("these rooms name each other: {rest:?}");
        };
        settled.insert(room);
    }
}

#[test]
fn crates_stay_behind_their_seams() {
    let mut faults = Vec::new();
    for (path, code) in sources() {
        let shown = shown(&path);
        for (krate, places) in CRATES {
            if places.iter().any(|place| shown.starts_with(place)) {
                continue;
            }
            for (line, text) in code.iter().enumerate() {
                if names_crate(text, krate) {
                    faults.push(format!("{shown}:{}: `{krate}` may be named in {places:?} only", line + 1));
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

/// All Rust files of `src/`, each as its lines without comments.
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

/// A line up to a comment that ends it.
fn code_of(line: &str) -> String {
    line.split(" // ").next().unwrap_or_default().to_owned()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// `src/value/dim.rs` is in `value`, `src/config.rs` is `config`.
fn room(path: &Path) -> String {
    let name = path.components().nth(1).expect("below src/").as_os_str().to_string_lossy();
    name.trim_end_matches(".rs").to_owned()
}

/// What follows each `crate::` of a line. A list (`crate::{…}`) is named `{`: no room.
fn crate_paths(line: &str) -> impl Iterator<Item = String> {
    let rest = line.match_indices("crate::").map(|(at, prefix)| &line[at + prefix.len()..]);
    rest.map(|rest| if rest.starts_with('{') { "{".to_owned() } else { identifier(rest) })
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
}

/// Whether a line holds `name…::` as the start of a path.
fn names_crate(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let starts = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':' && c != '"');
        let whole = identifier(&line[at..]);
        let ends = line[at + whole.len()..].starts_with("::") || line[at + whole.len()..].starts_with(" as ");
        starts && ends && (name.ends_with('_') || whole == name)
    })
}
