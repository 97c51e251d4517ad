//! Input that is invalid, unreadable or unusual.

use std::fs;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, code, notebook, show};

#[test]
fn a_missing_path_does_not_stop_the_rest() {
    let sandbox = Sandbox::new(&[("a.py", "x = )\n")]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise", "nope.py", "a.py"]), @r"
    exit 2
    a.py:1:5: error[invalid-syntax] Expected an expression
    Found 1 error in 1 file (checked 1)
    --- stderr
    error: nope.py: no such file or directory
    ");
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_does_not_stop_the_rest() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new(&[("a.py", "x = )\n"), ("secret.py", "")]);
    let secret = sandbox.path("secret.py");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&secret).is_ok() {
        return; // Root reads everything.
    }
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 2
    a.py:1:5: error[invalid-syntax] Expected an expression
    Found 1 error in 1 file (checked 1)
    --- stderr
    error: secret.py: permission denied
    ");
}

#[test]
fn text_that_is_no_utf_8() {
    let sandbox = Sandbox::new(&[("a.py", "x = )\n")]);
    sandbox.write("latin.py", b"x = 1\ny = '\xe9'\n");
    sandbox.write("declared.py", b"# -*- coding: latin-1 -*-\ny = '\xe9\xe9' + )\n");
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 2
    a.py:1:5: error[invalid-syntax] Expected an expression
    declared.py:2:12: error[invalid-syntax] Expected an expression
    Found 2 errors in 2 files (checked 2)
    --- stderr
    error: latin.py:2:6: invalid UTF-8: byte 0xe9 at offset 11
    ");
}

#[test]
fn a_syntax_error_does_not_stop_the_rest() {
    let sandbox = Sandbox::new(&[
        ("a.py", "def f(:\n    pass\nx = 1 +\n"),
        ("many.py", &"x = )\n".repeat(100)),
        ("job.py", "#!/bin/bash\nexport A=1\npython train.py\n"),
        ("tab.py", "if a:\n\tx = 1\n\ty = é + )\r\n"),
    ]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 1
    a.py:1:7: error[invalid-syntax] Expected a parameter or the end of the parameter list
    many.py:1:5: error[invalid-syntax] Expected an expression
    tab.py:3:10: error[invalid-syntax] Expected an expression
    Found 3 errors in 3 files (checked 4)
    ");
}

#[test]
fn a_class_that_a_merge_conflict_cuts_off_is_unknown() {
    let model = "import torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        \
                 super().__init__()\n        self.fc = nn.Linear(4, 1)\n\n    def forward(self, x):\n        \
                 x = self.fc(x)\n<<<<<<< HEAD\n=======\n>>>>>>> other\n        return x\n";
    let main = "import torch\nfrom model import Net\nprint(Net()(torch.randn(2, 4)).mean())\n";
    let sandbox = Sandbox::new(&[("model.py", model), ("main.py", main)]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 1
    model.py:10:1: error[invalid-syntax] Expected a statement
    Found 1 error in 1 file (checked 2)
    ");
}

#[test]
fn strange_notebooks() {
    let sandbox = Sandbox::new(&[
        ("empty.ipynb", ""),
        ("no_cells.ipynb", "{\"cells\": [], \"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 4}"),
        ("not_json.ipynb", "{\"cells\": [\n  oops\n"),
        ("not_notebook.ipynb", "[1, 2]"),
        ("old.ipynb", "{\"cells\": [], \"metadata\": {}, \"nbformat\": 3, \"nbformat_minor\": 0}"),
        (
            "r.ipynb",
            &notebook(&["x <- ("])
                .replace("\"metadata\": {},\n \"nb", "\"metadata\": {\"language_info\": {\"name\": \"R\"}},\n \"nb"),
        ),
        ("ipython.ipynb", &notebook(&["ls data", " x = 1", ">>> y = 2\n>>> z = 3", "torch.*Tensor?"])),
        ("magic.ipynb", &notebook(&["%matplotlib inline\n!pip install torch\nx = 1"])),
    ]);
    assert_snapshot!(sandbox.run(&["check"]), @r"
    exit 2
    No findings in 4 files, but 3 paths could not be checked
    --- stderr
    error: not_json.ipynb:2:3: not valid JSON: expected value
    error: not_notebook.ipynb:1:3: not a Jupyter notebook: invalid type: integer `1`, expected a sequence
    error: old.ipynb: notebook format 3 is not supported, only 4 is
    ");
}

#[test]
fn trees_too_deep_to_build() {
    let sandbox = Sandbox::new(&[
        ("brackets.py", &format!("x = {}{}\n", "(".repeat(10_000), ")".repeat(10_000))),
        ("attributes.py", &format!("x = a{}\n", ".b".repeat(100_000))),
        ("minus.py", &format!("x = {}1\n", "-".repeat(100_000))),
        ("ternary.py", &format!("x = {}1\n", "a if b else ".repeat(100_000))),
        ("lambda.py", &format!("x = {}1\n", "lambda: ".repeat(4_000))),
        ("blocks.py", &(0..2_000).map(|depth| " ".repeat(depth) + "if x:\n").collect::<String>()),
        ("long.py", &format!("x = [{}]\n", "1 + 2, ".repeat(100_000))),
    ]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 1
    attributes.py:1:10000: error[invalid-syntax] expression is too long for Python's compiler
    blocks.py:2000:2005: error[invalid-syntax] Expected an indented block after `if` statement
    brackets.py:1:205: error[invalid-syntax] too many nested brackets (Python accepts 200)
    lambda.py:1:19996: error[invalid-syntax] expression is too long for Python's compiler
    minus.py:1:5002: error[invalid-syntax] expression is too long for Python's compiler
    ternary.py:1:14997: error[invalid-syntax] expression is too long for Python's compiler
    Found 6 errors in 6 files (checked 7)
    ");
}

#[test]
fn a_file_too_big_to_be_a_program() {
    let sandbox = Sandbox::new(&[("big.py", &"x = )\n".repeat(3_500_000)), ("a.py", "x = 1\n")]);
    assert_snapshot!(sandbox.run(&["check"]), @r"
    exit 0
    All checks passed! (1 file)
    --- stderr
    warning: big.py: skipped: the file is too large (20 MB)
    ");
}

#[cfg(unix)]
#[test]
fn links_that_loop() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new(&[("a.py", "import loop\nx = )\n"), ("b/c.py", "")]);
    symlink("loop.py", sandbox.path("loop.py")).unwrap();
    symlink("..", sandbox.path("b/up")).unwrap();
    symlink("a.py", sandbox.path("z.py")).unwrap();
    let output = sandbox.run(&["check", "--output-format", "concise", "b", "a.py", "z.py"]);
    assert_snapshot!(output, @r"
    exit 1
    a.py:2:5: error[invalid-syntax] Expected an expression
    Found 1 error in 1 file (checked 2)
    ");
    assert_eq!(code(&sandbox.run(&["check", "loop.py"])), "exit 2");
}

#[test]
fn files_that_import_themselves() {
    let sandbox = Sandbox::new(&[
        ("a.py", "import a\nfrom a import *\nfrom . import a\nimport b\n"),
        ("b.py", "import a, b\nfrom a import b as c\n"),
    ]);
    assert_snapshot!(sandbox.run(&["check"]), @r"
    exit 0
    All checks passed! (2 files)
    ");
}

#[test]
fn bytes_that_are_no_text() {
    let sandbox = Sandbox::new(&[("empty.py", ""), ("blank.py", "\n\n  \n"), ("bom.py", "\u{feff}")]);
    assert_eq!(code(&sandbox.run(&["check"])), "exit 0");
    sandbox.write("nul.py", b"x = 1\0\0\n");
    sandbox.write("cr.py", b"x = 1\ry = )\rz = 1");
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 1
    cr.py:2:5: error[invalid-syntax] Expected an expression
    nul.py:1:6: error[invalid-syntax] Got unexpected token \u{0}
    Found 2 errors in 2 files (checked 5)
    ");
}

#[test]
fn nothing_to_check() {
    let sandbox = Sandbox::new(&[("readme.txt", "")]);
    assert_snapshot!(sandbox.run(&["check"]), @r"
    exit 0
    All checks passed! (0 files)
    --- stderr
    warning: there are no Python files to check
    ");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away() {
    use std::process::{Command, Stdio};
    let sandbox = Sandbox::new(&[]);
    for index in 0..2_000 {
        sandbox.write(&format!("file_{index}.py"), "x = )\n");
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_torchvet"))
        .args(["check", "--output-format", "concise"])
        .current_dir(sandbox.0.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(1), 0), "{}", show(&output));
}
