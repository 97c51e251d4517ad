//! The files that are checked, and the settings that apply.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, UNUSED, code};

#[test]
fn what_is_walked() {
    let bad = "x = (\n";
    let sandbox = Sandbox::new(&[
        ("build/a.py", bad),
        ("node_modules/b.py", bad),
        ("env/pyvenv.cfg", ""),
        ("env/c.py", bad),
        ("d.pyi", bad),
        ("e.txt", bad),
        ("gen/f.py", bad),
        ("ok.py", ""),
        ("ignored.py", bad),
        (".gitignore", "ignored.py\n"),
        (".git/config", ""),
    ]);
    let names = |args: &[&str]| {
        let mut all = vec!["check", "--output-format", "concise", "--quiet"];
        all.extend(args);
        let output = sandbox.run(&all);
        let names = output.lines().filter_map(|line| line.split_once(":1:").map(|(name, _)| name.to_owned()));
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&[]), "gen/f.py");
    assert_eq!(names(&["--no-respect-gitignore"]), "gen/f.py ignored.py");
    assert_eq!(names(&["--extend-exclude", "gen"]), "");
    assert_eq!(names(&["--extend-exclude", "./gen/*.py"]), "");
    assert_eq!(names(&["--exclude", "gen,env"]), "build/a.py node_modules/b.py");
    assert_eq!(names(&["build", "./d.pyi", "e.txt"]), "build/a.py d.pyi e.txt");
    assert_eq!(names(&["build/a.py", "--force-exclude"]), "");
}

#[test]
fn settings_come_from_the_nearest_file() {
    let sandbox = Sandbox::new(&[
        ("pyproject.toml", "[project]\nname = 'x'\n[tool.torchvet]\nignore = ['unused-ignore']\n"),
        ("a.py", UNUSED),
        ("inner/.torchvet.toml", "severity = { unused-ignore = 'error' }\n"),
        ("inner/pyproject.toml", "[project]\nname = 'y'\n"),
        ("inner/a.py", UNUSED),
    ]);
    assert_eq!(code(&sandbox.run(&["check", "a.py"])), "exit 0");
    assert_eq!(code(&sandbox.run(&["check", "a.py", "--isolated"])), "exit 1");
    assert_eq!(code(&sandbox.run(&["check", "a.py", "--extend-select", "unused-ignore"])), "exit 1");
    assert_eq!(code(&sandbox.run(&["check", "a.py", "--config", "inner/.torchvet.toml"])), "exit 1");
    let concise = ["check", "--output-format", "concise", "--quiet", "inner"];
    assert_snapshot!(sandbox.run(&concise), @r"
    exit 1
    inner/a.py:1:27: error[unused-ignore] unused `torchvet: ignore[TV103]`: nothing here is reported as TV103
    ");
    let settings = sandbox.run(&["config"]);
    let (settings, _) = settings.split_once("\n# rules").unwrap();
    let excludes = torchvet::DEFAULT_EXCLUDES.join("\",\"");
    assert_snapshot!(settings.replace(&excludes, "…"), @r#"
    exit 0
    select = "the default rules"  # default
    ignore = ["unused-ignore"]  # pyproject.toml
    extend-select = []  # default
    per-file-ignores = {}  # default
    severity = {}  # default
    exclude = ["…"]  # default
    extend-exclude = []  # default
    rules = []  # default
    output-format = "text"  # default
    respect-gitignore = true  # default
    force-exclude = false  # default
    "#);
}

#[test]
fn wrong_settings_are_shown_at_their_place() {
    let sandbox = Sandbox::new(&[("a.py", "x = 1\n")]);
    let with = |text: &str| {
        sandbox.write("torchvet.toml", text);
        sandbox.run(&["check"])
    };
    assert_snapshot!(with("# é\nselct = ['TV1']\n"), @r"
    exit 2
    --- stderr
    error: unknown key `selct`; did you mean `select`?
     --> torchvet.toml:2:1
      |
    2 | selct = ['TV1']
      | ^^^^^
    ");
    assert_snapshot!(with("select = ['TV1', 'class-index-out-of-rang']\n"), @r"
    exit 2
    --- stderr
    error: unknown rule `class-index-out-of-rang` in `select`; did you mean `class-index-out-of-range`?
     --> torchvet.toml:1:18
      |
    1 | select = ['TV1', 'class-index-out-of-rang']
      |                  ^^^^^^^^^^^^^^^^^^^^^^^^^
    ");
    assert_snapshot!(with("select = 'TV1'\n"), @r#"
    exit 2
    --- stderr
    error: invalid type: string "TV1", expected a sequence
     --> torchvet.toml:1:10
      |
    1 | select = 'TV1'
      |          ^^^^^
    "#);
    assert_snapshot!(with("select = [\n"), @r"
    exit 2
    --- stderr
    error: unclosed array, expected `]`
     --> torchvet.toml:1:11
      |
    1 | select = [
      |           ^
    ");
    assert_snapshot!(with("[per-file-ignores]\n'a/[' = ['TV103']\n"), @r"
    exit 2
    --- stderr
    error: invalid pattern `a/[`: unclosed character class; missing ']'
     --> torchvet.toml:2:1
      |
    2 | 'a/[' = ['TV103']
      | ^^^^^
    ");
    assert_snapshot!(with("rules = ['lint/*.md']\n"), @r"
    exit 2
    --- stderr
    error: no rule page matches `lint/*.md`
     --> torchvet.toml:1:10
      |
    1 | rules = ['lint/*.md']
      |          ^^^^^^^^^^^
    ");
    fs::remove_file(sandbox.path("torchvet.toml")).unwrap();
    sandbox.write("pyproject.toml", "[tool.torchvet]\nbanana = 1\n");
    assert_snapshot!(sandbox.run(&["check"]), @r"
    exit 2
    --- stderr
    error: unknown key `banana`; known keys are select, ignore, extend-select, per-file-ignores, severity, exclude, extend-exclude, rules, output-format, respect-gitignore, force-exclude
     --> pyproject.toml:2:1
      |
    2 | banana = 1
      | ^^^^^^
    ");
    assert_snapshot!(sandbox.run(&["check", "--isolated", "--config", "ignore=['TV1O3']"]), @r"
    exit 2
    --- stderr
    error: unknown rule `TV1O3` in `ignore`; did you mean `TV103`?
     --> --config:1:9
      |
    1 | ignore=['TV1O3']
      |         ^^^^^^^
    ");
    assert_snapshot!(sandbox.run(&["check", "--isolated", "--select", "TV1O3"]), @r"
    exit 2
    --- stderr
    error: unknown rule `TV1O3` in `--select`; did you mean `TV103`?
    ");
}

#[test]
fn the_committed_schema_is_current() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("torchvet.schema.json");
    let current = torchvet::schema();
    let hint = "run `torchvet config --schema > torchvet.schema.json`";
    assert_eq!(fs::read_to_string(committed).unwrap_or_default(), current, "{hint}");
}

/// The codes of the findings in all files.
fn reported(sandbox: &Sandbox) -> String {
    let output = sandbox.run(&["check", "--output-format", "concise", "--quiet"]);
    let codes = output.lines().filter_map(|line| line.split_once('[')?.1.split_once(']'));
    codes.map(|(code, _)| code.to_owned()).collect::<Vec<_>>().join(" ")
}

#[test]
fn versions_that_a_project_requires() {
    let program = "import torch\n\nq, r = torch.qr(torch.randn(3, 3))\n";
    let codes = |files: &[(&str, &str)]| {
        let mut all = vec![("train/a.py", program)];
        all.extend(files);
        reported(&Sandbox::new(&all))
    };
    assert_eq!(codes(&[]), "TV801");
    for (name, text) in [
        ("requirements.txt", "torch==1.9.0\n"),
        ("requirements/base.txt", "torch<2\n"),
        // The requirements of another folder, if none above the file name the package.
        ("large/requirements.txt", "torch==1.9.0\n"),
        ("e2c.yml", "name: e2c\ndependencies:\n  - pytorch=1.9.0\n"),
        ("src/conda_env/py3.yml", "name: a\ndependencies:\n  - pytorch=1.9.0\n"),
        ("README.md", "First run `pip install torch==1.9.0 numpy`.\n"),
        ("Dockerfile", "RUN conda create -n train python=3.8 pytorch=1.9\n"),
    ] {
        assert_eq!(codes(&[(name, text)]), "", "{name}");
    }
    assert_eq!(codes(&[("requirements.txt", "torch>=1.9\n"), ("large/requirements.txt", "torch==1.9.0\n")]), "TV801");
    assert_eq!(codes(&[("README.md", "It was written for torch 1.9.\n")]), "TV801");
}

#[test]
fn a_build_without_cuda_needs_no_gpu() {
    let program = "import torch\n\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = torch.ones(3, device=device).numpy()\n";
    let codes = |version: &str| reported(&Sandbox::new(&[("a.py", program), ("requirements.txt", version)]));
    assert_eq!(codes("torch==2.0.1\n"), "TV306");
    assert_eq!(codes("numpy\ntorch==2.0.1+cpu\n"), "");
}

#[test]
fn an_option_without_a_default_is_given() {
    let parser = "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\n";
    let main = "args = parser.parse_args()\nx = torch.zeros(args.width * 2)\n";
    let codes = |option: &str| {
        let program = format!("{parser}parser.add_argument('--width', type=int{option})\n{main}");
        reported(&Sandbox::new(&[("a.py", &program)]))
    };
    assert_eq!(codes(", default=None"), "");
    assert_eq!(codes(", default=-4"), "TV405");
}
