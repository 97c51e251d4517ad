//! The program as a command: exit codes, formats and fixes.

mod bad_input;
mod coverage;
mod doctor;
mod files;
mod gate;
mod launch;
mod off_by_default;
mod probe;
mod programs;
mod rule;
mod sandbox;
mod settings;
mod verify;

use std::fs;

use insta::assert_snapshot;

use sandbox::{Sandbox, UNUSED, code, notebook, show};

#[test]
fn clean_files_exit_with_0() {
    let sandbox = Sandbox::new(&[("a.py", "x = 1\n"), ("b/c.py", "import os\n")]);
    assert_snapshot!(sandbox.run(&["check"]), @r"
    exit 0
    All checks passed! (2 files)
    ");
    assert_snapshot!(sandbox.run(&["check", "--quiet", "a.py"]), @"exit 0");
    assert_snapshot!(sandbox.run(&["version"]).replace(env!("CARGO_PKG_VERSION"), "VERSION"), @r"
    exit 0
    torchvet VERSION
    ");
}

#[test]
fn findings_exit_with_1() {
    let sandbox = Sandbox::new(&[("a.py", UNUSED)]);
    assert_snapshot!(sandbox.run(&["check"]), @r"
    exit 1
    warning[unused-ignore]

      ⚠ unused `torchvet: ignore[TV103]`: nothing here is reported as TV103
       ╭─[a.py:1:27]
     1 │ x = 1  # torchvet: ignore[TV103]
       ·                           ─────
     2 │ y = 2
       ╰────

    Found 1 warning in 1 file (checked 1)
    1 fixable with `--fix`
    ");
    assert_eq!(code(&sandbox.run(&["check", "--exit-zero"])), "exit 0");
    let advice = "severity = { unused-ignore = 'info' }";
    assert_eq!(code(&sandbox.run(&["check", "--config", advice])), "exit 0");
    assert_eq!(code(&sandbox.run(&["check", "--ignore", "unused-ignore"])), "exit 0");
}

#[test]
fn wrong_usage_exits_with_2() {
    let sandbox = Sandbox::new(&[("a.py", "x = 1\n")]);
    for args in [
        &["check", "--no-such-flag"][..],
        &["check", "--isolated", "--config", "a.py"],
        &["check", "-", "a.py"],
        &["check", "--per-file-ignores", "a.py"],
        &["rule", "TV999"],
        &["no-such-verb"],
        &[],
    ] {
        assert_eq!(code(&sandbox.run(args)), "exit 2", "{args:?}");
    }
}

#[test]
fn formats() {
    let nb = notebook(&["a = 1", "b = (", "c = 3  # torchvet: ignore[TV103]"]);
    let sandbox = Sandbox::new(&[("é, 1.py", "日本 = é(\n"), ("nb.ipynb", &nb)]);
    let run = |format| sandbox.run(&["check", "--output-format", format]);
    assert_snapshot!(run("text"), @r"
    exit 1
    error[invalid-syntax]

      × unexpected EOF while parsing
       ╭─[nb.ipynb:cell 2:1:6]
     1 │ b = (
       ╰────

    error[invalid-syntax]

      × unexpected EOF while parsing
       ╭─[é, 1.py:1:8]
     1 │ 日本 = é(
       ·          ▲
       ╰────

    Found 2 errors in 2 files (checked 2)
    ");
    assert_snapshot!(run("concise"), @r"
    exit 1
    nb.ipynb:cell 2:1:6: error[invalid-syntax] unexpected EOF while parsing
    é, 1.py:1:8: error[invalid-syntax] unexpected EOF while parsing
    Found 2 errors in 2 files (checked 2)
    ");
    assert_snapshot!(run("grouped"), @r"
    exit 1
    nb.ipynb:
      cell 2:1:6  error[invalid-syntax] unexpected EOF while parsing

    é, 1.py:
      1:8  error[invalid-syntax] unexpected EOF while parsing

    Found 2 errors in 2 files (checked 2)
    ");
    assert_snapshot!(run("github"), @r"
    exit 1
    ::error title=torchvet (invalid-syntax),file=nb.ipynb,line=1,col=1,endLine=1,endColumn=1::nb.ipynb:cell 2:1:6: invalid-syntax unexpected EOF while parsing
    ::error title=torchvet (invalid-syntax),file=é%2C 1.py,line=1,col=8,endLine=1,endColumn=8::é, 1.py:1:8: invalid-syntax unexpected EOF while parsing
    ");
    assert_snapshot!(run("json-lines"), @r#"
    exit 1
    {"code":"invalid-syntax","name":"invalid-syntax","severity":"error","filename":"nb.ipynb","cell":2,"location":{"row":1,"column":6},"end_location":{"row":1,"column":6},"message":"unexpected EOF while parsing","labels":[],"repeats":[],"help":null,"fix":null,"url":null,"noqa_row":1,"verdict":null}
    {"code":"invalid-syntax","name":"invalid-syntax","severity":"error","filename":"é, 1.py","cell":null,"location":{"row":1,"column":8},"end_location":{"row":1,"column":8},"message":"unexpected EOF while parsing","labels":[],"repeats":[],"help":null,"fix":null,"url":null,"noqa_row":1,"verdict":null}
    "#);
    let json = sandbox.command(&["check", "--output-format", "json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json.as_array().map(Vec::len), Some(2));
}

#[test]
fn output_files_and_statistics() {
    let sandbox = Sandbox::new(&[("a.py", UNUSED), ("b.py", UNUSED), ("c.py", "x = )\n")]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise", "-o", "out.txt"]), @"exit 1");
    assert_snapshot!(sandbox.read("out.txt"), @r"
    a.py:1:27: warning[unused-ignore] unused `torchvet: ignore[TV103]`: nothing here is reported as TV103
    b.py:1:27: warning[unused-ignore] unused `torchvet: ignore[TV103]`: nothing here is reported as TV103
    c.py:1:5: error[invalid-syntax] Expected an expression
    Found 1 error and 2 warnings in 3 files (checked 3)
    2 fixable with `--fix`
    ");
    assert_snapshot!(sandbox.run(&["check", "--statistics", "--quiet"]), @r"
    exit 1
    2  unused-ignore  unused-ignore
    1  invalid-syntax  invalid-syntax
    ");
    let always = sandbox.run(&["check", "--color", "always", "a.py"]);
    assert!(always.contains("\u{1b}["), "{always}");
    assert_eq!(code(&sandbox.run(&["check", "-o", "no/such/folder.txt"])), "exit 2");
}

#[test]
fn fixes_are_applied_and_shown() {
    let crlf = "x = 1  # torchvet: ignore[TV103, TV1]\r\n# torchvet: ignore\r\ny = 'é'\r\n";
    let sandbox = Sandbox::new(&[("a.py", UNUSED), ("b.py", crlf)]);
    assert_snapshot!(sandbox.run(&["check", "--diff", "a.py"]), @r"
    exit 1
    --- a.py
    +++ a.py
    @@ -1,2 +1,2 @@
    -x = 1  # torchvet: ignore[TV103]
    +x = 1
     y = 2
    --- stderr
    Would fix 1 finding.
    ");
    assert_eq!(sandbox.read("a.py"), UNUSED);
    assert_snapshot!(sandbox.run(&["check", "--fix"]), @r"
    exit 0
    Fixed 3 findings.
    All checks passed! (2 files)
    ");
    assert_eq!(sandbox.read("a.py"), "x = 1\ny = 2\n");
    assert_eq!(sandbox.read("b.py"), "x = 1\r\ny = 'é'\r\n");
    assert_eq!(code(&sandbox.run(&["check", "--diff"])), "exit 0");
    assert_eq!(fs::read_dir(sandbox.0.path()).unwrap().count(), 2);
}

#[test]
fn fixes_keep_encoding_mode_and_links() {
    let sandbox = Sandbox::new(&[("bom.py", &format!("\u{feff}{UNUSED}"))]);
    let latin: Vec<u8> = "# coding: latin-1\ny = 'é'  # torchvet: ignore\n".chars().map(|c| c as u8).collect();
    sandbox.write("latin.py", latin);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::set_permissions(sandbox.path("bom.py"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("bom.py", sandbox.path("link.py")).unwrap();
    }
    assert_eq!(code(&sandbox.run(&["check", "--fix"])), "exit 0");
    assert_eq!(sandbox.read("bom.py"), "\u{feff}x = 1\ny = 2\n");
    assert_eq!(fs::read(sandbox.path("latin.py")).unwrap(), b"# coding: latin-1\ny = '\xe9'\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(sandbox.path("bom.py")).unwrap().permissions().mode() & 0o777, 0o750);
        assert!(fs::symlink_metadata(sandbox.path("link.py")).unwrap().is_symlink());
    }
}

#[test]
fn notebooks_are_fixed_cell_by_cell() {
    let before = notebook(&["a = 1", "b = 2  # torchvet: ignore[TV103]"]);
    let sandbox = Sandbox::new(&[("nb.ipynb", &before)]);
    assert_eq!(code(&sandbox.run(&["check", "--fix"])), "exit 0");
    assert_eq!(sandbox.read("nb.ipynb"), before.replace("  # torchvet: ignore[TV103]", ""));
}

#[test]
fn standard_input() {
    let sandbox = Sandbox::new(&[("torchvet.toml", "per-file-ignores = { 'gen.py' = ['unused-ignore'] }")]);
    let piped = |args: &[&str], text: &str| show(&sandbox.command(args).write_stdin(text).output().unwrap());
    assert_snapshot!(piped(&["check", "-"], "x = (\n"), @r"
    exit 1
    error[invalid-syntax]

      × unexpected EOF while parsing
       ╭─[-:1:6]
     1 │ x = (
       ·      ▲
       ╰────

    Found 1 error in 1 file (checked 1)
    ");
    assert_eq!(code(&piped(&["check", "-"], UNUSED)), "exit 1");
    assert_eq!(code(&piped(&["check", "-", "--stdin-filename", "gen.py"], UNUSED)), "exit 0");
    assert_snapshot!(piped(&["check", "-", "--fix"], UNUSED), @r"
    exit 0
    x = 1
    y = 2
    --- stderr
    Fixed 1 finding.
    All checks passed! (1 file)
    ");
    let name = ["check", "--stdin-filename", "nb.ipynb", "--output-format", "concise", "-"];
    assert_snapshot!(piped(&name, &notebook(&["a = 1", "b = )"])), @r"
    exit 1
    nb.ipynb:cell 2:1:5: error[invalid-syntax] Expected an expression
    Found 1 error in 1 file (checked 1)
    ");
    assert_eq!(code(&show(&sandbox.command(&["check", "-"]).write_stdin(b"\xff").output().unwrap())), "exit 2");
}

#[test]
fn rules_are_explained() {
    let sandbox = Sandbox::new(&[]);
    let page = sandbox.run(&["rule", "tv103"]);
    assert!(page.starts_with("exit 0\n# TV103 class-index-out-of-range\n\nClass index outside the classes of the logits.\n\n## What it does"), "{page}");
    assert!(sandbox.run(&["rule", "--all"]).contains("class-index-out-of-range"));
    let json = sandbox.command(&["rule", "TV103", "--output-format", "json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["name"], "class-index-out-of-range");
    assert_snapshot!(sandbox.run(&["rule", "class-index-out-of-rnge"]), @r"
    exit 2
    --- stderr
    error: unknown rule `class-index-out-of-rnge`; did you mean `class-index-out-of-range`?
    ");
}
