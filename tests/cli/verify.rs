//! `torchvet probe verify` and `torchvet check --verify`, from outside. What needs PyTorch finds
//! it through `TORCHVET_PYTHON`.

use serde_json::Value;

use crate::sandbox::{Sandbox, code, show};

const SCRIPT: &str = "\
import torch
import torch.nn.functional as F

logits = torch.randn(4, 3, device='cuda')
target = torch.tensor([0, 1, 3, 2], device='cuda')
loss = F.cross_entropy(logits, target)
";

/// Calls of all kinds that PyTorch refuses: methods, operators, in place, layers, constructors.
const REFUSED: &str = "\
import torch
from torch import nn
m = nn.LSTM(8, 16, num_layers=2).double()
y = m(torch.randn(3, 5, 8))
e = nn.MultiheadAttention(16, 4)(torch.randn(3, 5, 8), torch.randn(3, 5, 8), torch.randn(3, 5, 8))
c = nn.Conv2d(3, 8, 3, bias=False)(torch.randn(4, 1, 28, 28))
b = nn.BatchNorm2d(8)(torch.randn(4, 3, 28, 28))
l = nn.LayerNorm(10)(torch.randn(4, 12))
x = torch.zeros(3, 4)
x += torch.zeros(2, 3, 4)
z = torch.zeros(3, dtype=torch.int64)
z /= 2
w = torch.cat([torch.zeros(2, 3), torch.zeros(2, 4)])
v = torch.einsum('ij,jk->ik', torch.zeros(2, 3), torch.zeros(4, 5))
u = torch.zeros(3, 4).view(5, -1)
t = torch.zeros(3, 4)[:, 7]
s = torch.zeros(3, 4).permute(0, 1, 2)
r = torch.arange(10).reshape(2, 5).float().mean(dim=3)
q = torch.stack([torch.zeros(3), torch.zeros(4)])
p = nn.Embedding(10, 4)(torch.tensor([1, 12]))
o = torch.zeros(4, 4).scatter_(1, torch.tensor([[7]]), 1.0)
nn.Linear(3, 3).weight.add_(1)
k = nn.Parameter(torch.zeros(3)); k += 1
torch.zeros(2, 3).softmax(4)
torch.nn.functional.interpolate(torch.zeros(1, 3, 8, 8), size=(4, 4, 4))
torch.arange(3).mean()
torch.zeros(3, 4).T @ torch.zeros(4, 3).T.T
nn.CrossEntropyLoss(weight=torch.ones(5))(torch.zeros(4, 3), torch.tensor([0, 1, 2, 0]))
torch.randint(5, 5, (3,))
torch.multinomial(torch.tensor([0.0, 0.0]), 1)
torch.linalg.inv(torch.zeros(3, 4))
nn.Transformer(d_model=30, nhead=4)
nn.Dropout(2.0)
torch.optim.SGD(nn.Linear(3, 3).parameters(), lr=-1.0)
";

fn python() -> Option<String> {
    let python = std::env::var("TORCHVET_PYTHON").ok();
    if python.is_none() {
        eprintln!("TORCHVET_PYTHON is not set: no witness was run");
    }
    python
}

/// The verdict on the one finding of the script, in a Python in which `patch` is done to
/// PyTorch, and how torchvet ended.
fn verdict_with(patch: &str, args: &[&str]) -> Option<(Value, i32)> {
    let python = python()?;
    let patch = format!("import os, sys, time\nimport torch\nimport torch.nn.functional as F\n{patch}\n");
    let sandbox = Sandbox::new(&[("train.py", SCRIPT), ("patched/sitecustomize.py", &patch)]);
    let mut command = sandbox.command(&["probe", "verify", "--python", &python, "--output-format", "json", "train.py"]);
    let output = command.args(args).env("PYTHONPATH", sandbox.path("patched")).output().unwrap();
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", show(&output)));
    Some((findings[0]["verified"].clone(), output.status.code().unwrap()))
}

#[test]
fn a_witness_shows_what_is_found() {
    let Some((verdict, status)) = verdict_with("", &[]) else { return };
    assert_eq!(status, 1);
    assert_eq!(verdict["status"], "verified", "{verdict}");
    assert_eq!((&verdict["how"], &verdict["judge"]), (&"raised".into(), &"cpu".into()));
    assert_eq!(verdict["message"], "IndexError: Target 3 is out of bounds.");
    let witness = verdict["witness"].as_str().unwrap();
    assert!(witness.contains("target = torch.tensor([0, 1, 3, 2])\nF.cross_entropy(input, target)"), "{witness}");
}

#[test]
fn what_pytorch_runs_is_refuted_and_fails_no_gate() {
    let Some((verdict, status)) = verdict_with("F.cross_entropy = lambda *_: None\nF.nll_loss = None", &[]) else {
        return;
    };
    // The contract still holds: only a kernel of CUDA could refuse it.
    assert_eq!((status, &verdict["status"]), (1, &"not-verifiable".into()), "{verdict}");

    let Some(python) = python() else { return };
    let sandbox = Sandbox::new(&[("a.py", "import torch\nx = torch.randn(2, 3) @ torch.randn(4, 5)\n")]);
    sandbox.write("patched/sitecustomize.py", "import torch\ntorch.matmul = torch.Tensor.matmul = lambda *_: None\n");
    let run = |format: &str| {
        let mut command =
            sandbox.command(&["check", "--verify", "--python", &python, "--output-format", format, "a.py"]);
        show(&command.env("PYTHONPATH", sandbox.path("patched")).output().unwrap())
    };
    for format in ["text", "concise", "grouped"] {
        let shown = run(format);
        assert_eq!(code(&shown), "exit 0", "{shown}");
        assert!(shown.contains("refuted: PyTorch runs the call without complaint"), "{shown}");
        assert!(shown.contains("0 verified by PyTorch"), "{shown}");
    }
    assert!(run("github").contains("::notice "));
}

#[test]
fn a_process_that_dies_or_hangs_is_a_result() {
    let Some((verdict, _)) = verdict_with("F.cross_entropy = lambda *_: os.abort()", &[]) else { return };
    assert_eq!((&verdict["status"], &verdict["how"]), (&"verified".into(), &"died".into()), "{verdict}");
    let Some((verdict, _)) = verdict_with("F.cross_entropy = lambda *_: time.sleep(60)", &["--timeout", "1"]) else {
        return;
    };
    assert_eq!(verdict["status"], "not-verifiable");
    assert_eq!(verdict["reason"], "the witness did not end within 1 s");
    let Some((verdict, status)) = verdict_with("sys.modules['torch'] = None", &[]) else { return };
    assert_eq!((status, &verdict["status"]), (2, &"not-verifiable".into()), "{verdict}");
    assert!(verdict["reason"].as_str().unwrap().starts_with("PyTorch cannot be imported"), "{verdict}");
}

/// A process that believes to have a GPU: the witness has it for itself, and what the driver
/// prints decides.
#[test]
fn on_a_gpu_the_driver_s_line_counts() {
    let patch = "\
torch.cuda.is_available = lambda: True
torch.cuda.synchronize = lambda: None
def without_device(function):
    return lambda *args, device=None, **kwargs: function(*args, **kwargs)
torch.rand, torch.tensor = without_device(torch.rand), without_device(torch.tensor)
def cross_entropy(*_):
    assert os.environ['CUDA_LAUNCH_BLOCKING'] == '1'
    print('Loss.cu:245: kernel: block: [0,0,0], thread: [2,0,0] Assertion `t >= 0 && t < n_classes` failed.',
          file=sys.stderr)
    raise RuntimeError('CUDA error: device-side assert triggered')
F.cross_entropy = cross_entropy";
    let Some((verdict, status)) = verdict_with(patch, &[]) else { return };
    assert_eq!((status, &verdict["status"]), (1, &"verified".into()), "{verdict}");
    assert_eq!(verdict["judge"], "cuda");
    assert!(verdict["message"].as_str().unwrap().contains("t >= 0 && t < n_classes"), "{verdict}");
    assert!(verdict["witness"].as_str().unwrap().contains("device=\"cuda\""), "{verdict}");
}

#[test]
fn devices_are_judged_without_a_gpu() {
    let Some(python) = python() else { return };
    let script = "import torch\nx = torch.randn(3, device='cuda') + torch.randn(3)\n";
    let sandbox = Sandbox::new(&[("a.py", script)]);
    let shown = sandbox.run(&["probe", "verify", "--python", &python, "--output-format", "concise", "a.py"]);
    // In 2.1, fake tensors of a GPU want its driver.
    if shown.contains("by PyTorch 2.1.") {
        assert!(shown.contains("(not verifiable: it needs a GPU, and there is none"), "{shown}");
        return;
    }
    assert!(shown.contains("verified by PyTorch's fake tensors: ") || shown.contains("verified on the GPU"), "{shown}");
    assert!(shown.contains("device"), "{shown}");
}

#[test]
fn witnesses_are_written_as_scripts_that_fail() {
    let Some(python) = python() else { return };
    // What stands in the project must not be what the worker imports.
    let sandbox =
        Sandbox::new(&[("train.py", SCRIPT), ("json.py", "raise SystemExit('imported')\n"), ("torch.py", "")]);
    let shown = sandbox.run(&["check", "--verify", "--python", &python, "--emit-repro", "bugs/found", "train.py"]);
    assert!(shown.contains("verified: IndexError"), "{shown}");
    let script = sandbox.read("bugs/found/TV103-train-6.py");
    assert!(script.starts_with("# TV103 class-index-out-of-range, at train.py:6:8\n"), "{script}");
    let mut alone = std::process::Command::new(&python);
    let output = alone.arg(sandbox.path("bugs/found/TV103-train-6.py")).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("IndexError: Target 3 is out of bounds"));
    // Nothing else was left behind.
    assert_eq!(std::fs::read_dir(sandbox.0.path()).unwrap().count(), 4);
}

#[test]
fn without_a_python_the_findings_are_still_reported() {
    let sandbox = Sandbox::new(&[("train.py", SCRIPT)]);
    let output = sandbox.run(&["check", "--verify", "--python", "/no/such/python", "train.py"]);
    assert_eq!(code(&output), "exit 1", "{output}");
    assert!(output.contains("error[TV103]"), "{output}");
    assert!(output.contains("warning: nothing was verified: cannot run `/no/such/python`"), "{output}");
    let output = sandbox.run(&["probe", "verify", "--python", "/no/such/python", "train.py"]);
    assert_eq!(code(&output), "exit 2", "{output}");
    assert!(output.contains("error[TV103]") && output.contains("error: nothing was verified"), "{output}");
    for args in [
        &["probe", "verify", "--timeout", "0"][..],
        &["check", "--verify", "--timeout", "-1"],
        &["check", "--emit-repro", "x"],
    ] {
        assert_eq!(code(&sandbox.run(args)), "exit 2", "{args:?}");
    }
}

#[test]
fn what_no_call_shows_is_not_verifiable() {
    let sandbox = Sandbox::new(&[("a.py", "import torch\nx = torch.zeros(3)\nx.to('cuda')\n")]);
    let Some(python) = python() else { return };
    let shown = sandbox.run(&["probe", "verify", "--python", &python, "--output-format", "concise", "a.py"]);
    assert!(shown.contains("TV302") && shown.contains("(not verifiable: no single call shows it)"), "{shown}");
}

/// A page of the user's may judge any function: what is not a computation is not called.
#[test]
fn a_witness_calls_nothing_that_does_harm() {
    let page = "\
+++
code = \"LAB001\"
summary = \"a file that is read\"
severity = \"error\"
since = \"1\"
fix = \"none\"
contract-of = [\"torch.load\"]
cpu = \"RuntimeError\"
+++
## What it does
x
## Why is this bad
x
## Contract
```python
def never(f):
    require(f != 'model.pt', 'not this one')
```
## Example
```python
torch.load('model.pt')  # error
```
## Use instead
```python
torch.load('other.pt')
```
";
    let Some(python) = python() else { return };
    let sandbox = Sandbox::new(&[("page.md", page), ("a.py", "import torch\nx = torch.load('model.pt')\n")]);
    sandbox.write("torchvet.toml", "rules = ['page.md']\nselect = ['LAB']\n");
    let shown = sandbox.run(&["probe", "verify", "--python", &python, "--output-format", "concise", "a.py"]);
    assert!(
        shown.contains("LAB001") && shown.contains("(not verifiable: a witness does not run `torch.load`)"),
        "{shown}"
    );
}

#[test]
fn every_kind_of_refused_call_has_a_witness() {
    let Some(python) = python() else { return };
    let sandbox = Sandbox::new(&[("a.py", REFUSED)]);
    let shown = sandbox.run(&["probe", "verify", "--python", &python, "--output-format", "concise", "a.py"]);
    let rest: Vec<&str> =
        shown.lines().filter(|line| line.starts_with("a.py") && !line.contains("(verified: ")).collect();
    assert!(rest.is_empty(), "{}", rest.join("\n"));
    assert!(shown.lines().filter(|line| line.contains("(verified: ")).count() >= 25, "{shown}");
}
