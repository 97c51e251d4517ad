//! Checks the rule pages and lays them into the crate: `$OUT_DIR/pages.rs` holds
//! `PAGES: &[(stem, text)]`. A fault in a page is a build error at its line. `$OUT_DIR/order.rs`
//! lists the rules that have a file of their own, in the order of their codes.

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
const MACHINERY: &[&str] = &["mod", "page", "front_matter", "sections", "tests", "notes", "rule", "watch"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=src/rules");
    let mut checks: BTreeSet<String> = stems("src/rules", "rs")?.into_iter().collect();
    checks.retain(|stem| !MACHINERY.contains(&stem.as_str()));

    let own: BTreeSet<String> = checks.clone();

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
    fs::write(Path::new(&out).join("pages.rs"), table)?;
    let rules = codes.values().map(|stem| stem.replace('-', "_")).filter(|stem| own.contains(stem));
    fs::write(Path::new(&out).join("order.rs"), order(&rules.collect::<Vec<_>>()))
}

/// The rules as fields of a struct, and a macro that asks one after the other: each is asked as the
/// type that it is, so that a method which it does not have costs nothing.
fn order(rules: &[String]) -> String {
    let (mut fields, mut calls) = (String::new(), String::new());
    for stem in rules {
        let _ = writeln!(fields, "    {stem}: super::{stem}::{},", camel(stem));
        let _ = writeln!(calls, "        {{ let $rule = &$order.{stem}; $ask }}");
    }
    format!(
        "#[derive(Default)]\nstruct Order {{\n{fields}}}\n\n\
         macro_rules! each_rule {{\n    ($order:expr, $rule:ident => $ask:expr) => {{{{\n{calls}    }}}};\n}}\n"
    )
}

/// The name of a rule's type: `LateLaunchBlocking` of `late_launch_blocking`.
fn camel(stem: &str) -> String {
    let mut name = String::new();
    for word in stem.split('_') {
        let (first, rest) = word.split_at(1);
        name.push_str(&first.to_uppercase());
        name.push_str(rest);
    }
    name
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
