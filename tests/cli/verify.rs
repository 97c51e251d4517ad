//! `torchvet probe verify` and `torchvet check --verify` as commands. `TORCHVET_PYTHON` names the
//! Python with PyTorch.

use serde_json::Value;

use crate::sandbox::{Sandbox, code, show};

const SCRIPT: &str = "\
import torch
import torch.nn.functional as F

logits = torch.randn(4, 3, device='cuda')
target = torch.tensor([0, 1, 3, 2], device='cuda')
loss = F.cross_entropy(logits, target)
";

/// Calls of all kinds that PyTorch rejects: methods, operators, in-place operators, layers,
/// constructors.
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
nn.functional.binary_cross_entropy(torch.zeros(2, 3, 4).permute(2, 0, 1) + 5, torch.rand(4, 2, 3))
";

fn python() -> Option<String> {
    let python = std::env::var("TORCHVET_PYTHON").ok();
    if python.is_none() {
        eprintln!("TORCHVET_PYTHON is not set: no witness was run");
    }
    python
}

/// The verdict on the only finding of the script, in a Python in which `patch` changes PyTorch, and
/// the exit code of torchvet.
fn verdict_with(patch: &str, args: &[&str]) -> Option<(Value, i32)> {
    let python = python()?;
    let patch = format!("import os, sys, time\nimport torch\nimport torch.nn.functional as F\n{patch}\n");
    let sandbox = Sandbox::new(&[("train.py", SCRIPT), ("patched/sitecustomize.py", &patch)]);
    let mut command = sandbox.command(&["probe", "verify", "--python", &python, "--output-format", "json", "train.py"]);
    let output = command.args(args).env("PYTHONPATH", sandbox.path("patched")).output().unwrap();
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", show(&output)));
    Some((findings[0]["verdict"]["witness"].clone(), output.status.code().unwrap()))
}

#[test]
fn a_witness_shows_what_is_found() {
    let Some((verdict, status)) = verdict_with("", &[]) else { return };
    assert_eq!(status, 1);
    assert_eq!(verdict["status"], "reproduced", "{verdict}");
    assert_eq!((&verdict["how"], &verdict["judge"]), (&"raised".into(), &"cpu".into()));
    assert_eq!(verdict["message"], "IndexError: Target 3 is out of bounds.");
    let witness = verdict["program"].as_str().unwrap();
    assert!(witness.contains("target = torch.tensor([0, 1, 3, 2])\nF.cross_entropy(input, target)"), "{witness}");
}

#[test]
fn what_pytorch_runs_is_refuted_and_fails_no_gate() {
    let Some((verdict, status)) = verdict_with("F.cross_entropy = lambda *_: None\nF.nll_loss = None", &[]) else {
        return;
    };
    // The call still violates the contract, but here only a CUDA kernel could reject it.
    assert_eq!((status, &verdict["status"]), (1, &"undecided".into()), "{verdict}");

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
        assert!(shown.contains("refuted: PyTorch runs a call with these arguments"), "{shown}");
        assert!(shown.contains("0 reproduced by PyTorch"), "{shown}");
    }
    assert!(run("github").contains("::notice "));
}

#[test]
fn a_process_that_dies_or_hangs_is_a_result() {
    let Some((verdict, _)) = verdict_with("F.cross_entropy = lambda *_: os.abort()", &[]) else { return };
    assert_eq!((&verdict["status"], &verdict["how"]), (&"reproduced".into(), &"died".into()), "{verdict}");
    let Some((verdict, _)) = verdict_with("F.cross_entropy = lambda *_: time.sleep(60)", &["--timeout", "1"]) else {
        return;
    };
    assert_eq!(verdict["status"], "undecided");
    assert_eq!(verdict["reason"], "the witness did not finish within 1 s");
    let Some((verdict, status)) = verdict_with("sys.modules['torch'] = None", &[]) else { return };
    assert_eq!((status, &verdict["status"]), (2, &"undecided".into()), "{verdict}");
    assert!(verdict["reason"].as_str().unwrap().starts_with("PyTorch cannot be imported"), "{verdict}");
}

/// On a machine with a GPU (simulated here), the witness runs alone on the GPU, and the message of
/// the driver determines the verdict.
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
    assert_eq!((status, &verdict["status"]), (1, &"reproduced".into()), "{verdict}");
    assert_eq!(verdict["judge"], "cuda");
    assert!(verdict["message"].as_str().unwrap().contains("t >= 0 && t < n_classes"), "{verdict}");
    assert!(verdict["program"].as_str().unwrap().contains("device=\"cuda\""), "{verdict}");
}

#[test]
fn devices_are_judged_without_a_gpu() {
    let Some(python) = python() else { return };
    let script = "import torch\nx = torch.randn(3, device='cuda') + torch.randn(3)\n";
    let sandbox = Sandbox::new(&[("a.py", script)]);
    let shown = sandbox.run(&["probe", "verify", "--python", &python, "--output-format", "concise", "a.py"]);
    // In PyTorch 2.1, fake tensors on a GPU need its driver.
    if shown.contains("by PyTorch 2.1.") {
        assert!(shown.contains("(undecided: the witness needs a GPU, and there is none"), "{shown}");
        return;
    }
    assert!(shown.contains("fails on PyTorch's fake tensors: ") || shown.contains("fails on the GPU: "), "{shown}");
    assert!(shown.contains("device"), "{shown}");
}

#[test]
fn witnesses_are_written_as_scripts_that_fail() {
    let Some(python) = python() else { return };
    // The worker must not import modules of the project in place of Python's.
    let sandbox =
        Sandbox::new(&[("train.py", SCRIPT), ("json.py", "raise SystemExit('imported')\n"), ("torch.py", "")]);
    let shown = sandbox.run(&["check", "--verify", "--python", &python, "--emit-repro", "bugs/found", "train.py"]);
    assert!(shown.contains("reproduced: a call with these arguments fails: IndexError"), "{shown}");
    let script = sandbox.read("bugs/found/TV103-train-6.py");
    assert!(script.starts_with("# TV103 class-index-out-of-range, at train.py:6:8\n"), "{script}");
    let mut alone = std::process::Command::new(&python);
    let output = alone.arg(sandbox.path("bugs/found/TV103-train-6.py")).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("IndexError: Target 3 is out of bounds"));
    // No other files were left in the folder.
    assert_eq!(std::fs::read_dir(sandbox.0.path()).unwrap().count(), 4);
}

#[test]
fn without_a_python_the_findings_are_still_reported() {
    let sandbox = Sandbox::new(&[("train.py", SCRIPT)]);
    let output = sandbox.run(&["check", "--verify", "--python", "/no/such/python", "train.py"]);
    assert_eq!(code(&output), "exit 1", "{output}");
    assert!(output.contains("error[TV103]"), "{output}");
    assert!(output.contains("warning: no finding was verified: cannot run `/no/such/python`"), "{output}");
    let output = sandbox.run(&["probe", "verify", "--python", "/no/such/python", "train.py"]);
    assert_eq!(code(&output), "exit 2", "{output}");
    assert!(output.contains("error[TV103]") && output.contains("error: no finding was verified"), "{output}");
    for args in [
        &["probe", "verify", "--timeout", "0"][..],
        &["check", "--verify", "--timeout", "-1"],
        &["check", "--emit-repro", "x"],
    ] {
        assert_eq!(code(&sandbox.run(args)), "exit 2", "{args:?}");
    }
}

#[test]
fn what_no_call_shows_is_undecided() {
    let sandbox = Sandbox::new(&[("a.py", "import torch\nx = torch.zeros(3)\nx.to('cuda')\n")]);
    let Some(python) = python() else { return };
    let shown = sandbox.run(&["probe", "verify", "--python", &python, "--output-format", "concise", "a.py"]);
    assert!(shown.contains("TV302") && shown.contains("(undecided: a single call cannot show the problem)"), "{shown}");
}

/// A user's page which claims that a function raises a `RuntimeError`.
fn page(function: &str, contract: &str) -> String {
    format!(
        "\
+++
code = \"LAB001\"
summary = \"a call that is said to fail\"
severity = \"error\"
since = \"1\"
fix = \"none\"
contract-of = [\"{function}\"]
cpu = \"RuntimeError\"
+++
## What it does
x
## Why is this bad
x
## Contract
```python
{contract}
```
## Example
```python
{function}(1)  # error
```
## Use instead
```python
{function}(2)
```
"
    )
}

/// A user's page may have a contract for any function, but only pure computations are called.
#[test]
fn a_witness_calls_nothing_that_does_harm() {
    let page = page("torch.load", "def never(f):\n    require(f != 'model.pt', 'not this one')");
    let Some(python) = python() else { return };
    let sandbox = Sandbox::new(&[("page.md", &page), ("a.py", "import torch\nx = torch.load('model.pt')\n")]);
    sandbox.write("torchvet.toml", "rules = ['page.md']\nselect = ['LAB']\n");
    let shown = sandbox.run(&["probe", "verify", "--python", &python, "--output-format", "concise", "a.py"]);
    assert!(shown.contains("LAB001") && shown.contains("(undecided: a witness must not call `torch.load`)"), "{shown}");
}

#[test]
fn every_kind_of_refused_call_has_a_witness() {
    let Some(python) = python() else { return };
    let sandbox = Sandbox::new(&[("a.py", REFUSED)]);
    let shown = sandbox.run(&["probe", "verify", "--python", &python, "--output-format", "concise", "a.py"]);
    let rest: Vec<&str> =
        shown.lines().filter(|line| line.starts_with("a.py") && !line.contains("(reproduced: ")).collect();
    assert!(rest.is_empty(), "{}", rest.join("\n"));
    assert!(shown.lines().filter(|line| line.contains("(reproduced: ")).count() >= 25, "{shown}");
}

const FATES: &str = "\
import os
import sys
import torch

open('executed', 'w').close()
x = torch.zeros(3, 4)
if len(sys.argv) > 5:
    x.view(5, 5)
torch.full((2,), 7)
z = False and x.view(11)
torch.full((2,), 3 + 4) if True else None
";

/// Runs `probe verify --run` on a script, with further arguments, and with a page that is wrong
/// about `torch.full`.
fn run(python: &str, files: &[(&str, &str)], args: &[&str]) -> (Sandbox, std::process::Output) {
    let page = page("torch.full", "def never(size, fill_value):\n    require(fill_value != 7, 'seven is not allowed')");
    let sandbox = Sandbox::new(files);
    sandbox.write("page.md", &page);
    sandbox.write("torchvet.toml", "rules = ['page.md']\n");
    let mut command = sandbox.command(&["probe", "verify", "--python", python, "--run", "a.py"]);
    let output = command.args(args).env("PYTHONPATH", sandbox.path("patched")).output().unwrap();
    (sandbox, output)
}

fn findings(output: &std::process::Output) -> Vec<Value> {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", show(output)))
}

/// The line of each finding, and the statuses of its witness and of the run.
fn statuses(findings: &[Value]) -> Vec<(u64, &str, &str)> {
    fn of(finding: &Value) -> Option<(u64, &str, &str)> {
        let (row, verdict) = (finding["location"]["row"].as_u64()?, &finding["verdict"]);
        Some((row, verdict["witness"]["status"].as_str()?, verdict["run"]["status"].as_str()?))
    }
    findings.iter().filter_map(of).collect()
}

#[test]
fn the_program_itself_is_the_judge() {
    let Some(python) = python() else { return };
    let (sandbox, output) = run(&python, &[("a.py", FATES)], &["--output-format", "json"]);
    let found = findings(&output);
    assert_eq!(
        statuses(&found),
        [(8, "reproduced", "not-reached"), (9, "refuted", "refuted"), (11, "refuted", "refuted"),],
        "{}",
        show(&output)
    );
    assert!(sandbox.path("executed").exists());
    // `probe run` gives the same verdicts.
    let report =
        sandbox.command(&["probe", "run", "--python", &python, "--keep-going", "--output-format", "json", "a.py"]);
    let report: Value = serde_json::from_slice(&{ report }.output().unwrap().stderr).unwrap();
    let verdicts: Vec<&Value> = report["checker"].as_array().unwrap().iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts, ["not-reached", "refuted", "refuted"]);

    let fails = "import torch\ndef f(x):\n    return x.view(7)\nfor n in range(3):\n    y = f(torch.zeros(3, 4))\n";
    let (_sandbox, output) = run(&python, &[("a.py", fails)], &["--output-format", "json"]);
    let found = findings(&output);
    assert_eq!(statuses(&found), [(3, "reproduced", "observed")], "{}", show(&output));
    assert_eq!(output.status.code(), Some(1));
    let said = found[0]["verdict"]["run"]["message"].as_str().unwrap();
    assert!(said.starts_with("RuntimeError: shape '[7]' is invalid"), "{said}");
}

/// The witness uses the same facts as the finding, so it fails even if these facts are wrong. Here
/// PyTorch is changed only for the program, so the facts about the program are wrong.
#[test]
fn a_reproduced_finding_is_refuted_by_the_run() {
    let Some(python) = python() else { return };
    let script = "import torch\nx = torch.randn(2, 3) @ torch.randn(4, 5)\n";
    let patch = "\
import os
if 'TORCHVET_PROBE' in os.environ:
    import torch
    torch.Tensor.__matmul__ = lambda self, other: self
";
    let files = [("a.py", script), ("patched/sitecustomize.py", patch)];
    let (_sandbox, output) = run(&python, &files, &["--output-format", "json"]);
    assert_eq!(statuses(&findings(&output)), [(2, "reproduced", "refuted")], "{}", show(&output));
    let (_sandbox, output) = run(&python, &files, &[]);
    let shown = show(&output);
    assert_eq!(code(&shown), "exit 0", "{shown}");
    for part in [
        "  reproduced: a call with these arguments fails: RuntimeError",
        "  run: refuted: the program made this call, and it succeeded",
        "1 reproduced by PyTorch",
        "run: 0 observed, 1 refuted, 0 not reached, 0 undecided",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    assert!(!shown.contains("verified") && !shown.contains("proved"), "{shown}");
}

#[test]
fn how_a_program_ends_counts() {
    let Some(python) = python() else { return };
    let json = ["--output-format", "json"];
    let reason = |output: &std::process::Output| findings(output)[0]["verdict"]["run"].clone();
    // The program ended early: a finding is not refuted by a line that was not reached, or that
    // succeeded until then.
    let early = "import torch\ntorch.full((2,), 7)\nraise KeyError('mine')\n";
    let (_sandbox, output) = run(&python, &[("a.py", early)], &json);
    let verdict = reason(&output);
    assert_eq!(verdict["status"], "undecided", "{verdict}");
    assert!(verdict["reason"].as_str().unwrap().contains("KeyError at a.py:3: 'mine'"), "{verdict}");

    let usage = "import sys\nimport torch\nsys.exit('a.py: where is the data?')\ntorch.full((2,), 7)\n";
    let (_sandbox, output) = run(&python, &[("a.py", usage)], &json);
    if let Some(verdict) = findings(&output).first().map(|finding| &finding["verdict"]["run"]) {
        assert_eq!(verdict["status"], "not-reached", "{verdict}");
    }

    let endless = "import time\nimport torch\nif time.time() > 0:\n    time.sleep(600)\ntorch.full((2,), 7)\n";
    let (_sandbox, output) = run(&python, &[("a.py", endless)], &["--output-format", "json", "--run-timeout", "1"]);
    let verdict = reason(&output);
    assert_eq!(verdict["status"], "not-reached", "{verdict}");
    assert_eq!(verdict["reason"], "the program did not finish within 1 s");

    let dies = "import os\nimport torch\ntorch.zeros(3).view(7)\n";
    let patch = "\
import os
if 'TORCHVET_PROBE' in os.environ:
    import torch
    torch.Tensor.view = lambda *_: os.abort()
";
    let (_sandbox, output) = run(&python, &[("a.py", dies), ("patched/sitecustomize.py", patch)], &json);
    let verdict = reason(&output);
    assert_eq!(verdict["status"], "observed", "{verdict}");
    assert!(verdict["message"].as_str().unwrap().starts_with("the process crashes in this call"), "{verdict}");
}

/// Without a GPU, a program that uses CUDA reaches the finding only on the virtual device.
#[test]
fn devices_are_judged_on_the_emulated_gpu() {
    let Some(python) = python() else { return };
    let script = "import torch\nx = torch.randn(3, device='cuda')\ny = x + torch.randn(3)\n";
    let (_sandbox, output) = run(&python, &[("a.py", script)], &["--output-format", "json", "--device", "virtual"]);
    let found = findings(&output);
    assert_eq!(found[0]["verdict"]["run"]["status"], "observed", "{}", show(&output));
    let (_sandbox, output) = run(&python, &[("a.py", script)], &["--output-format", "json", "--device", "cpu"]);
    assert_eq!(findings(&output)[0]["verdict"]["run"]["status"], "not-reached", "{}", show(&output));
}

#[test]
fn no_program_is_executed_unasked() {
    let sandbox = Sandbox::new(&[("a.py", FATES), ("nb.ipynb", "{}")]);
    if let Some(python) = python() {
        sandbox.run(&["check", "--verify", "--python", &python, "a.py"]);
        assert!(!sandbox.path("executed").exists());
    }
    for args in [
        &["check", "--run", "a.py"][..],
        &["check", "--verify", "--run"],
        &["check", "--verify", "--run", "."],
        &["probe", "verify", "--run", "nb.ipynb"],
        &["probe", "verify", "--run", "no.py"],
        &["probe", "verify", "--device", "cpu", "a.py"],
        &["check", "--verify", "--run", "--fix", "a.py"],
        &["check", "--verify", "--run", "--watch", "a.py"],
    ] {
        assert_eq!(code(&sandbox.run(args)), "exit 2", "{args:?}");
        assert!(!sandbox.path("executed").exists(), "{args:?}");
    }
}
