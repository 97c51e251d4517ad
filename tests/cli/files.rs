//! Findings that need several files of a project.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const TRAIN: &str = "\
import torch
from evaluate import test

def train(model, loader, optimizer, epochs):
    model.train()
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        test(model, loader)
";

const TEST: &str = "\
import torch

def test(net, loader):
    net.eval()
    with torch.no_grad():
        return sum(net(x).sum() for x, _ in loader)
";

#[test]
fn a_function_of_another_file_leaves_the_model_in_evaluation_mode() {
    let sandbox = Sandbox::new(&[("train.py", TRAIN), ("evaluate.py", TEST)]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 1
    train.py:11:9: warning[TV610] from the second iteration of the training loop on, the model stays in evaluation mode while it is trained: `test` calls `eval()`
    Found 1 warning in 1 file (checked 2)
    ");
    let restores = TEST.replace("        return sum", "        total = sum") + "    net.train()\n    return total\n";
    let sandbox = Sandbox::new(&[("train.py", TRAIN), ("evaluate.py", &restores)]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 0
    All checks passed! (2 files)
    ");
}

#[test]
fn a_package_binds_the_submodules_that_it_imports() {
    let part = "import torch\n\n__all__ = ['cell']\n\ndef cell(n):\n    return torch.nn.LSTMCell(n, n)\n";
    let sandbox = Sandbox::new(&[
        ("pack/__init__.py", "from .part import *\n\n__all__ = part.__all__ + []\n"),
        ("pack/part.py", part),
        ("main.py", "import pack\n\nprint(pack.cell(3))\n"),
    ]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 0
    All checks passed! (3 files)
    ");
}

#[test]
fn a_placeholder_of_a_module_is_filled_under_another_name() {
    let sandbox = Sandbox::new(&[
        ("state.py", "import torch\n\nmodel = None\n"),
        ("load.py", "import torch\nimport state as s\n\ndef load():\n    s.model = torch.nn.Linear(2, 2)\n"),
        ("use.py", "import torch\nimport state\n\ndef use():\n    return state.model.weight\n"),
    ]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "concise"]), @r"
    exit 0
    All checks passed! (3 files)
    ");
}
