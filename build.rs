//! Checks the rule pages and embeds them into the crate: `$OUT_DIR/pages.rs` holds
//! `PAGES: &[(stem, text)]`. A fault in a page is a build error at its line. `$OUT_DIR/order.rs`
//! lists the rules that have a Rust file, in the order of their codes. The data files of
//! `src/library/data` are checked, too.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

#[allow(dead_code, unreachable_pub, reason = "shared with src/rules, which uses more of it")]
#[path = "src/rules/front_matter.rs"]
mod front_matter;
#[allow(dead_code, unreachable_pub, reason = "shared with src/rules, which uses more of it")]
#[path = "src/rules/sections.rs"]
mod sections;

#[allow(dead_code, unreachable_pub, reason = "shared with src/library, which uses more of it")]
#[path = "src/library/data.rs"]
mod data;

use front_matter::{Fault, FrontMatter};

/// For each family of rules: the prefix of its codes, and its folder in `src/rules`.
const FAMILIES: &[(&str, &str)] = &[
    ("TV0", "environment"),
    ("TV1", "losses"),
    ("TV2", "values"),
    ("TV3", "devices"),
    ("TV4", "shapes"),
    ("TV5", "data"),
    ("TV6", "training"),
    ("TV7", "performance"),
    ("TV8", "names"),
    ("TV9", "safety"),
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=src/rules");
    println!("cargo::rerun-if-changed=src/library/data");
    for stem in stems("src/library/data", "toml")? {
        let name = format!("{stem}.toml");
        let path = format!("src/library/data/{name}");
        match data::FILES.iter().find(|file| file.name == name) {
            Some(file) => {
                if let Err(fault) = (file.check)(file.name, &fs::read_to_string(path)?) {
                    println!("cargo::error={fault}");
                }
            }
            None => println!("cargo::error={path}:1: src/library/data.rs does not name this file"),
        }
    }
    let files = rule_files()?;
    let mut checks = files.clone();

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
    for (stem, family) in checks {
        println!("cargo::error=src/rules/{family}/{stem}.rs:1: there is no page rules/{}.md", stem.replace('_', "-"));
    }
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("pages.rs"), table)?;
    let stems = codes.values().map(|page| page.replace('-', "_"));
    let rules: Vec<_> = stems.filter_map(|stem| Some((*files.get(&stem)?, stem))).collect();
    fs::write(Path::new(&out).join("order.rs"), order(&rules))
}

/// Checks one page, and removes its Rust file, if any, from `checks`.
fn check(
    stem: &str,
    text: &str,
    codes: &mut BTreeMap<String, String>,
    checks: &mut BTreeMap<String, &'static str>,
) -> Result<(), Fault> {
    let front = FrontMatter::read(text)?;
    front.check_name(stem)?;
    sections::check(text, &front)?;
    let found = checks.remove(&stem.replace('-', "_"));
    let Some((_, family)) = FAMILIES.iter().find(|(code, _)| front.code.starts_with(code)) else {
        return Err(Fault::new(front.code_line, format!("code `{}` must begin with TV and a digit", front.code)));
    };
    let file = format!("src/rules/{family}/{}.rs", stem.replace('-', "_"));
    let needs_file = front.metadata.contract_of.is_empty() && front.metadata.rejects.is_none();
    match found {
        None if needs_file => {
            return Err(Fault::new(
                front.code_line,
                format!("the page needs a contract, `rejects` or the file {file}"),
            ));
        }
        Some(_) if !needs_file => {
            return Err(Fault::new(front.code_line, "a page with a contract or `rejects` must not have a Rust file"));
        }
        Some(folder) if folder != *family => {
            return Err(Fault::new(front.code_line, format!("the Rust file of a rule with this code must be {file}")));
        }
        _ => {}
    }
    match codes.insert(front.code.clone(), stem.to_owned()) {
        Some(other) => Err(Fault::new(front.code_line, format!("code `{}` is already used by {other}", front.code))),
        None => Ok(()),
    }
}

/// The rules that have a Rust file, each with the folder of its family. A missing `mod` line in the
/// `mod.rs` of that folder is a build error.
fn rule_files() -> io::Result<BTreeMap<String, &'static str>> {
    let mut files = BTreeMap::new();
    for (_, family) in FAMILIES {
        let folder = format!("src/rules/{family}");
        if !Path::new(&folder).is_dir() {
            continue;
        }
        let registered = fs::read_to_string(format!("{folder}/mod.rs"))?;
        for stem in stems(&folder, "rs")?.into_iter().filter(|stem| stem != "mod") {
            let line = format!("pub(super) mod {stem};");
            if !registered.lines().any(|have| have == line) {
                println!("cargo::error={folder}/mod.rs:1: `{line}` is missing");
            }
            files.insert(stem, *family);
        }
    }
    Ok(files)
}

/// The rules as fields of a struct, and a macro that calls all of them in order. Each call uses the
/// rule's own type, so a method that the rule does not override costs nothing.
fn order(rules: &[(&str, String)]) -> String {
    let (mut fields, mut calls) = (String::new(), String::new());
    for (family, stem) in rules {
        let _ = writeln!(fields, "    {stem}: super::{family}::{stem}::{},", camel(stem));
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
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// The sorted stems of the files in a folder that have the given extension.
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
