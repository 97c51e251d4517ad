//! `torchvet probe run` as a command. `TORCHVET_PYTHON` names the Python with PyTorch.

use crate::sandbox::{Sandbox, code};

const TRAIN: &str = "\
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def step(criterion, model, images, labels):
    return criterion(model(images), labels)


def main():
    images, labels = torch.randn(12, 8), torch.arange(12) % 4 + int(sys.argv[1])
    model, criterion = nn.Linear(8, 4), nn.CrossEntropyLoss()
    for images, labels in DataLoader(TensorDataset(images, labels), batch_size=6, num_workers=1):
        loss = step(criterion, model, images, labels)
    print('trained by', __file__, sys.argv[1:])
    sys.exit(7)


if __name__ == '__main__':
    main()
";

/// A folder with the script, and the Python with PyTorch. If there is no such Python, prints a message
/// and returns None.
fn sandbox() -> Option<(Sandbox, String)> {
    let python = std::env::var("TORCHVET_PYTHON").ok();
    if python.is_none() {
        eprintln!("TORCHVET_PYTHON is not set: no program was run under the probe");
    }
    Some((Sandbox::new(&[("train.py", TRAIN)]), python?))
}

#[test]
fn a_violation_stops_the_program_at_its_line() {
    let Some((sandbox, python)) = sandbox() else { return };
    let output = sandbox.run(&["probe", "run", "--python", &python, "--dump", "saved", "train.py", "1"]);
    assert_eq!(code(&output), "exit 1", "{output}");
    for part in [
        "train.py:8: error[TV103] target holds 4, but the 4 classes are 0 to 3",
        "target: 1 of 6 values: 4; batch index 3",
        "train.py:15 in main",
    ] {
        assert!(output.contains(part), "{part} is not in\n{output}");
    }
    assert!(!output.contains("trained by"), "{output}");
    assert_eq!(std::fs::read_dir(sandbox.path("saved")).unwrap().count(), 1);
}

#[test]
fn a_program_ends_as_it_ends_alone() {
    let Some((sandbox, python)) = sandbox() else { return };
    let output = sandbox.run(&["probe", "run", "--python", &python, "train.py", "0", "--epochs"]);
    assert_eq!(code(&output), "exit 7", "{output}");
    assert!(output.contains("['0', '--epochs']"), "{output}");
    assert!(output.contains("torchvet: 0 violations"), "{output}");

    sandbox.write("broken.py", "import torch\nraise KeyError('mine')\n");
    let output = sandbox.run(&["probe", "run", "--python", &python, "broken.py"]);
    assert_eq!(code(&output), "exit 1", "{output}");
    assert!(output.contains("KeyError: 'mine'"), "{output}");
}

#[test]
fn what_is_missing_is_named() {
    let sandbox = Sandbox::new(&[("train.py", TRAIN)]);
    let output = sandbox.run(&["probe", "run", "--python", "/no/such/python", "train.py"]);
    assert_eq!(code(&output), "exit 2", "{output}");
    assert!(output.contains("cannot run `/no/such/python`"), "{output}");
    let Some((_, python)) = self::sandbox() else { return };
    let output = sandbox.run(&["probe", "run", "--python", &python, "other.py"]);
    assert_eq!(code(&output), "exit 2", "{output}");
    assert!(output.contains("there is no script `other.py`"), "{output}");
}

/// The Python package has no copy of the Python code of the probe: it gets the code from the binary.
#[test]
fn the_package_gets_the_runtime_from_the_binary() {
    let sandbox = Sandbox::new(&[("torchvet.toml", "ignore = ['TV103']")]);
    let output = sandbox.command(&["probe", "runtime"]).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["files"]["virtual/mode.py"].as_str().unwrap().contains("class VirtualDevice"));
    let codes: Vec<&str> =
        answer["contracts"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    assert!(codes.contains(&"TV105") && !codes.contains(&"TV103"), "{codes:?}");
}
