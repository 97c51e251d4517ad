//! `torchvet probe run` does not change programs: each prints and exits as it does without the
//! probe, and finds its own files. `TORCHVET_PYTHON` names the Python with PyTorch.

use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, code};

/// A folder with the files, and the Python with PyTorch. If there is no such Python, prints a message
/// and returns None.
fn sandbox(files: &[(&str, &str)]) -> Option<(Sandbox, String)> {
    let python = std::env::var("TORCHVET_PYTHON").ok();
    if python.is_none() {
        eprintln!("TORCHVET_PYTHON is not set: no program was run under the probe");
    }
    Some((Sandbox::new(files), python?))
}

/// Runs Python without the probe. Returns its exit code and its output.
fn alone(sandbox: &Sandbox, python: &str, args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(python).args(args).current_dir(sandbox.0.path()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs Python under the probe. Returns its exit code, its output, and the report.
fn probed(sandbox: &Sandbox, python: &str, options: &[&str], args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = sandbox.command(&["probe", "run", "--python", python]);
    let output = command.args(options).args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const RANKS: &str = "\
import atexit, os, sys
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    on_gpu = torch.cuda.is_available()
    dist.init_process_group('nccl' if on_gpu else 'gloo')
    rank = dist.get_rank()
    device = torch.device('cuda', int(os.environ['LOCAL_RANK'])) if on_gpu else torch.device('cpu')
    torch.manual_seed(0)
    model = nn.Linear(8, 4).to(device)
    model = DistributedDataParallel(model, device_ids=[device.index] if on_gpu else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(rank)
    for step in range(3):
        x, y = torch.randn(6, 8, device=device), torch.randint(0, 4, (6,), device=device)
        if 'wrong' in sys.argv and rank == 1 and step == 1:
            y[2] = 4
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with open(f'rank{rank}', 'w') as file:
        print(f'{loss.item():.6f} {model.module.weight.sum().item():.6f}', file=file)
    dist.barrier()
    dist.destroy_process_group()
    # PyTorch's own threads now and then abort a process that ends: it ends without C++'s part.
    atexit._run_exitfuncs()
    os._exit(0)


if __name__ == '__main__':
    main()
";

#[test]
fn two_ranks_of_torchrun() {
    let Some((sandbox, python)) = sandbox(&[("ranks.py", RANKS)]) else { return };
    let torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "ranks.py"];
    let ranks = || ["rank0", "rank1"].map(|name| sandbox.read(name));
    let (exit, printed) = alone(&sandbox, &python, &[&["-m"], &torchrun[1..]].concat());
    assert_eq!(exit, Some(0), "{printed}");
    let plain = ranks();
    for options in [&["--device", "cpu"][..], &["--device", "virtual", "--gpus", "2"]] {
        let (exit, _, report) = probed(&sandbox, &python, options, &torchrun);
        assert_eq!(exit, Some(0), "{report}");
        assert_eq!(ranks(), plain);
        assert!(report.contains("6 calls checked"), "{report}");
        assert!(report.contains("in 3 processes"), "{report}");
    }
    let (exit, _, report) = probed(&sandbox, &python, &[], &[&torchrun[..], &["wrong"]].concat());
    assert_eq!(exit, Some(1), "{report}");
    assert!(report.contains("ranks.py:22: error[TV103] target holds 4"), "{report}");
    assert!(report.contains("batch index 2"), "{report}");
    assert!(report.contains("on rank 1"), "{report}");
}

const COMPILED: &str = "\
import torch
from torch import nn

torch.manual_seed(0)
model = torch.compile(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), backend='eager')
for _ in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(6, 8)), torch.randint(0, 4, (6,)))
    loss.backward()
print(loss.item())
";

#[test]
fn compiled_code_is_not_seen_and_said_so() {
    let Some((sandbox, python)) = sandbox(&[("compiled.py", COMPILED)]) else { return };
    let (_, plain) = alone(&sandbox, &python, &["compiled.py"]);
    let (exit, printed, report) = probed(&sandbox, &python, &[], &["compiled.py"]);
    assert_eq!((exit, printed.as_str()), (Some(0), plain.as_str()), "{report}");
    assert!(report.contains("calls in compiled code not checked"), "{report}");
    assert!(report.contains("3 calls checked"), "{report}");
    let (exit, printed, report) = probed(&sandbox, &python, &["--device", "virtual"], &["compiled.py"]);
    assert_eq!((exit, printed.as_str()), (Some(0), plain.as_str()), "{report}");
}

const WORKERS: &str = "\
import sys
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        row = torch.arange(4.0)
        return row[torch.tensor([index % int(sys.argv[1])])]


def main():
    total = 0.0
    for batch in DataLoader(Rows(), batch_size=2, num_workers=2):
        total += batch.sum().item()
    print(total)


if __name__ == '__main__':
    main()
";

#[test]
fn workers_of_a_loader_are_watched() {
    let Some((sandbox, python)) = sandbox(&[("workers.py", WORKERS)]) else { return };
    let (_, plain) = alone(&sandbox, &python, &["workers.py", "4"]);
    let (exit, printed, report) = probed(&sandbox, &python, &[], &["workers.py", "4"]);
    assert_eq!((exit, printed.as_str()), (Some(0), plain.as_str()), "{report}");
    assert!(report.contains("in 3 processes"), "{report}");
    let (exit, _, report) = probed(&sandbox, &python, &[], &["workers.py", "5"]);
    assert_eq!(exit, Some(1), "{report}");
    assert!(report.contains("workers.py:12: error[TV2"), "{report}");
}

const HALVES: &str = "\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    with torch.autocast('cpu', dtype=torch.bfloat16):
        out = model(torch.randn(6, 8))
        loss = nn.functional.cross_entropy(out, torch.randint(0, 4, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(out.dtype, loss.dtype, loss.item())
";

#[test]
fn autocast_casts_as_ever() {
    let Some((sandbox, python)) = sandbox(&[("halves.py", HALVES)]) else { return };
    let (_, plain) = alone(&sandbox, &python, &["halves.py"]);
    assert!(plain.starts_with("torch.bfloat16 torch.float32"), "{plain}");
    let (exit, printed, report) = probed(&sandbox, &python, &[], &["halves.py"]);
    assert_eq!((exit, printed), (Some(0), plain), "{report}");
    // On the virtual device, the autocast dtype is the one of CUDA: float16.
    sandbox.write("half_gpu.py", HALVES.replace("'cpu', dtype=torch.bfloat16", "'cuda'"));
    sandbox.write("half_gpu.py", sandbox.read("half_gpu.py").replace("nn.Linear(8, 4)", "nn.Linear(8, 4).cuda()"));
    sandbox.write("half_gpu.py", sandbox.read("half_gpu.py").replace("randn(6, 8)", "randn(6, 8).cuda()"));
    sandbox.write("half_gpu.py", sandbox.read("half_gpu.py").replace("(6,))", "(6,)).cuda()"));
    let (exit, printed, report) = probed(&sandbox, &python, &["--device", "virtual"], &["half_gpu.py"]);
    assert_eq!(exit, Some(0), "{report}");
    assert!(printed.starts_with("torch.float16 torch.float32"), "{printed}");
}

#[test]
fn programs_end_as_they_end() {
    let Some((sandbox, python)) = sandbox(&[]) else { return };
    let endings = [
        ("import sys; sys.exit('no data')", 1, "no data"),
        ("import os; os._exit(3)", 3, ""),
        ("raise SystemExit(4)", 4, ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", 143, ""),
        ("class Mine(Exception): pass\nraise Mine('this')", 1, "Mine: this"),
        ("torch.zeros(2) + torch.zeros(3)", 1, "RuntimeError: The size of tensor a (2)"),
    ];
    for (ending, status, said) in endings {
        sandbox.write("ending.py", format!("import torch\nprint(torch.ones(2).sum().item(), flush=True)\n{ending}\n"));
        let (exit, printed, report) = probed(&sandbox, &python, &[], &["ending.py"]);
        assert_eq!((exit, printed.as_str()), (Some(status), "2.0\n"), "{ending}: {report}");
        assert!(report.contains(said), "{ending}: {report}");
        assert!(!report.contains("torchvet_probe"), "frames of the probe are in the traceback: {report}");
    }
}

#[test]
fn modules_are_run_as_modules() {
    let main = "\
import sys
import torch
from .parts import count

if __name__ == '__main__':
    print(__spec__.name, __package__, __file__, sys.argv, count(torch.ones(3)), sys.path[0])
";
    let files = [("pack/__init__.py", ""), ("pack/train.py", main), ("pack/parts.py", "count = len\n")];
    let Some((sandbox, python)) = sandbox(&files) else { return };
    let (_, plain) = alone(&sandbox, &python, &["-m", "pack.train", "-x", "1"]);
    let (exit, printed, report) = probed(&sandbox, &python, &["-m"], &["pack.train", "-x", "1"]);
    assert_eq!((exit, printed), (Some(0), plain), "{report}");
    // A script has its own `__file__`, and imports from its own folder.
    sandbox.write("pack/alone.py", "import sys, torch, parts\nprint(__file__, sys.argv, sys.path[0], __name__)\n");
    let (_, plain) = alone(&sandbox, &python, &["pack/alone.py", "--lr", "1"]);
    let (exit, printed, report) = probed(&sandbox, &python, &[], &["pack/alone.py", "--lr", "1"]);
    assert_eq!((exit, printed), (Some(0), plain), "{report}");
}

const SPAWNED: &str = "\
import torch
import torch.multiprocessing as mp


def work(rank, labels):
    torch.nn.functional.one_hot(labels, 4)


if __name__ == '__main__':
    mp.spawn(work, args=(torch.tensor([0, 4]),), nprocs=2)
";

#[test]
fn spawned_processes_are_watched() {
    let Some((sandbox, python)) = sandbox(&[("spawned.py", SPAWNED)]) else { return };
    let (exit, _, report) = probed(&sandbox, &python, &[], &["spawned.py"]);
    assert_eq!(exit, Some(1), "{report}");
    assert!(report.contains("spawned.py:6: error[TV2"), "{report}");
}

const ENDLESS: &str = "\
import sys, time
import torch

try:
    print('ready', flush=True)
    while True:
        torch.ones(3).sum()
        time.sleep(0.01)
except KeyboardInterrupt:
    print('saved', flush=True)
    sys.exit(5)
";

/// Runs torchvet in a new terminal, presses Ctrl-C once, and prints the output of the terminal.
const TERMINAL: &str = "\
import os, pty, sys

child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen, pressed = b'', False
while True:
    try:
        read = os.read(terminal, 4096)
    except OSError:
        break
    if not read:
        break
    seen += read
    # A traceback may quote the line that prints it.
    if b'ready' in seen and not pressed:
        os.write(terminal, bytes([3]))
        pressed = True
print(seen.decode().replace(chr(13), ''))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
";

#[cfg(unix)]
#[test]
fn ctrl_c_is_the_program_s() {
    let Some((sandbox, python)) = sandbox(&[("terminal.py", TERMINAL)]) else { return };
    let torchvet = env!("CARGO_BIN_EXE_torchvet");
    let careless = ENDLESS.replace("KeyboardInterrupt", "KeyError");
    for (program, status, said) in [(ENDLESS, 5, "saved"), (careless.as_str(), 130, "KeyboardInterrupt")] {
        sandbox.write("endless.py", program);
        let args = ["terminal.py", torchvet, "probe", "run", "--python", &python, "endless.py"];
        let (exit, seen) = alone(&sandbox, &python, &args);
        assert_eq!(exit, Some(status), "{seen}");
        assert!(seen.contains(said), "{seen}");
        assert!(seen.contains("torchvet: 0 violations"), "{seen}");
        assert!(!seen.contains("atexit"), "it was interrupted twice: {seen}");
    }
}

/// The program receives signals that were sent only to torchvet.
#[cfg(unix)]
#[test]
fn signals_are_passed_on() {
    use std::io::{BufRead, BufReader};

    use rustix::process::{Pid, Signal, kill_process};

    let Some((sandbox, python)) = sandbox(&[("endless.py", ENDLESS)]) else { return };
    for (signal, status) in [(Signal::INT, 5), (Signal::TERM, 143)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_torchvet"))
            .current_dir(sandbox.0.path())
            .args(["probe", "run", "--python", &python, "endless.py"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status));
    }
}

const ON_GPU: &str = "\
import torch
from torch import nn

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
model = nn.Linear(8, 4).to(device)
images, labels = torch.randn(6, 8), torch.arange(6) % 5
logits = model(images.to(device))
print(device, logits.device, torch.cuda.device_count(), logits.detach()[:1, :1].cpu().numpy().shape)
loss = nn.functional.cross_entropy(logits, labels.to(device))
loss = nn.functional.cross_entropy(model(images), labels.to(device))
";

#[test]
fn a_virtual_gpu_says_what_a_gpu_says() {
    let Some((sandbox, python)) = sandbox(&[("on_gpu.py", ON_GPU)]) else { return };
    let run = |options: &[&str]| {
        let options = [&["probe", "run", "--python", &python, "--device", "virtual"], options, &["on_gpu.py"]].concat();
        sandbox.run(&options)
    };
    let output = run(&[]);
    assert_eq!(code(&output), "exit 1", "{output}");
    for part in [
        "cuda cuda:0 1 (1, 1)",
        "on_gpu.py:9: error[TV103] target holds 4",
        "PyTorch, on the virtual device: ",
        "CUDA error: device-side assert triggered",
        "on a GPU this assert fails: `t >= 0 && t < n_classes`, in Loss.cu",
        "1 virtual GPU on the CPU",
    ] {
        assert!(output.contains(part), "{part} is not in\n{output}");
    }
    // Without the rule, the line that calls the kernel raises the assert.
    let output = run(&["--ignore", "TV103", "--gpus", "2"]);
    assert!(output.contains("Error: CUDA error: device-side assert triggered"), "{output}");
    assert!(output.contains("at on_gpu.py:9 was raised on the virtual device"), "{output}");
    sandbox.write("on_gpu.py", ON_GPU.replace("% 5", "% 4"));
    let output = run(&[]);
    assert!(output.contains("RuntimeError: Expected all tensors to be on the same device"), "{output}");
    assert!(output.contains("at on_gpu.py:10 was raised on the virtual device"), "{output}");

    let output = sandbox.run(&["probe", "run", "--python", &python, "--gpus", "2", "on_gpu.py"]);
    assert_eq!(code(&output), "exit 2", "{output}");
}
