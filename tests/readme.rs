//! The generated parts of README.md: the table of rules, and the output of torchvet for the scripts
//! that README.md shows. `UPDATE=1 cargo test --test readme` rewrites them.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use torchvet::{FixKind, Rules};

const README: &str = "README.md";

/// A single test, so that two tests never write the file at the same time.
#[test]
fn readme_is_true() {
    rules_are_the_pages();
    the_scripts_say_what_is_shown();
}

fn rules_are_the_pages() {
    let mut table = String::from("| code | name | what it finds | severity | fix |\n| --- | --- | --- | --- | --- |\n");
    for page in &Rules::builtin().pages {
        let fix = match page.fix {
            FixKind::None => "",
            FixKind::Safe => "safe",
            FixKind::Unsafe => "unsafe",
        };
        let (code, name, severity) = (&page.code, &page.name, page.severity.as_str());
        let off = if page.default { "" } else { " (off by default)" };
        let summary = page.summary.replace('|', "\\|");
        let _ = writeln!(table, "| {code} | [{name}](rules/{name}.md) | {summary}{off} | {severity} | {fix} |");
    }
    hold("rules", &table);
}

fn the_scripts_say_what_is_shown() {
    says("script", &["check", "facts"]);
    says("open script", &["coverage"]);
}

/// Compares the output of these verbs for the script in this part of the README with the parts that
/// show it.
fn says(script: &str, verbs: &[&str]) {
    let text = fs::read_to_string(README).expect("README.md is readable");
    let (open, close) = (format!("<!-- {script} -->\n```python\n"), format!("```\n<!-- /{script} -->"));
    let script = between(&text, &open, &close);
    let folder = tempfile::tempdir().expect("a folder for the script");
    fs::write(folder.path().join("train.py"), script).expect("the script is written");
    for &verb in verbs {
        let output = Command::new(env!("CARGO_BIN_EXE_torchvet"))
            .args([verb, "--isolated", "train.py"])
            .current_dir(folder.path())
            .env_remove("COLUMNS")
            .env_remove("FORCE_COLOR")
            .env_remove("TORCHVET_OUTPUT_FORMAT")
            .output()
            .expect("torchvet runs");
        assert!(output.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let said: String = said.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        hold(verb, &format!("```console\n$ torchvet {verb} train.py\n{said}```\n"));
    }
}

/// Compares the text between `<!-- name -->` and `<!-- /name -->` with `wanted`. With `UPDATE=1`,
/// replaces the text.
fn hold(name: &str, wanted: &str) {
    let text = fs::read_to_string(README).expect("README.md is readable");
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let found = between(&text, &open, &close);
    if found == wanted {
        return;
    }
    assert!(
        std::env::var_os("UPDATE").is_some(),
        "what README.md shows under <!-- {name} --> is no longer true. \
         `UPDATE=1 cargo test --test readme` rewrites it. It should be:\n{wanted}"
    );
    let updated = text.replace(&format!("{open}{found}{close}"), &format!("{open}{wanted}{close}"));
    fs::write(README, updated).expect("README.md is written");
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> &'t str {
    let found = text.split_once(open).and_then(|(_, rest)| rest.split_once(close));
    found.map_or_else(|| panic!("README.md has no {open}…{close}"), |(part, _)| part)
}
