//! Checks the rule pages and lays them into the crate: `$OUT_DIR/pages.rs` holds
//! `PAGES: &[(stem, text)]`. A fault in a page is a build error at its line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

#[allow(dead_code, reason = "shared with src/rules, which uses more of it")]
#[path = "src/rules/front_matter.rs"]
mod front_matter;
#[allow(dead_code, reason = "shared with src/rules, which uses more of it")]
#[path = "src/rules/sections.rs"]
mod sections;

use front_matter::{Fault, FrontMatter};

/// The files of `src/rules` that are no rule.
const MACHINERY: &[&str] = &["mod", "page", "front_matter", "sections", "tests", "notes", "watch"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=src/rules");
    let mut checks: BTreeSet<String> = stems("src/rules", "rs")?.into_iter().collect();
    checks.retain(|stem| !MACHINERY.contains(&stem.as_str()));

    let mut codes: BTreeMap<String, String> = BTreeMap::new();
    let mut table = String::from("pub(super) static PAGES: &[(&str, &str)] = &[\n");
    for stem in stems("rules", "md")? {
        let path = format!("rules/{stem}.md");
        let text = fs::read_to_string(&path)?;
        if let Err(fault) = check(&stem, &text, &mut codes, &mut checks) {
            println!("cargo::error={path}:{}: {}", fault.line, fault.message);
        }
        let file = env::current_dir()?.join(&path);
        let _ = writeln!(table, "    ({stem:?}, include_str!({:?})),", file.display().to_string());
    }
    table.push_str("];\n");
    for stem in checks {
        println!("cargo::error=src/rules/{stem}.rs:1: no page rules/{}.md", stem.replace('_', "-"));
    }
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("pages.rs"), table)
}

/// Checks one page; takes its Rust file, where it has one, off `checks`.
fn check(
    stem: &str,
    text: &str,
    codes: &mut BTreeMap<String, String>,
    checks: &mut BTreeSet<String>,
) -> Result<(), Fault> {
    let front = FrontMatter::read(text)?;
    sections::check(text, &front)?;
    if !front.code.starts_with("TV") {
        return Err(Fault::new(front.code_line, format!("code `{}` does not begin with TV", front.code)));
    }
    let has_file = checks.remove(&stem.replace('-', "_"));
    let needs_file = front.contract_of.is_empty() && front.rejects.is_none();
    if needs_file && !has_file {
        let file = format!("src/rules/{}.rs", stem.replace('-', "_"));
        return Err(Fault::new(front.code_line, format!("no contract, no `rejects` and no {file}")));
    }
    if has_file && !needs_file {
        return Err(Fault::new(front.code_line, "a page with a contract or `rejects` has no Rust file"));
    }
    match codes.insert(front.code.clone(), stem.to_owned()) {
        Some(other) => Err(Fault::new(front.code_line, format!("code `{}` is taken by {other}", front.code))),
        None => Ok(()),
    }
}

/// The sorted stems of the files of a folder with an extension.
fn stems(folder: &str, extension: &str) -> io::Result<Vec<String>> {
    let mut stems = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            stems.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    stems.sort();
    Ok(stems)
}
