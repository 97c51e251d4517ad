//! `torchvet probe doctor` as a command, on machines of all kinds: patches to PyTorch and to Python
//! simulate the machines. `TORCHVET_PYTHON` names the Python with PyTorch.

use serde_json::Value;

use crate::sandbox::{Sandbox, code, show};

fn python() -> Option<String> {
    let python = std::env::var("TORCHVET_PYTHON").ok();
    if python.is_none() {
        eprintln!("TORCHVET_PYTHON is not set: no machine was examined");
    }
    python
}

/// The report of the doctor in a Python that runs `patch` when it starts.
fn examined(patch: &str, environment: &[(&str, &str)]) -> Option<Value> {
    let python = python()?;
    let sandbox = Sandbox::new(&[("patched/sitecustomize.py", patch)]);
    let mut command = sandbox.command(&["probe", "doctor", "--python", &python, "--output-format", "json"]);
    command.env("PYTHONPATH", sandbox.path("patched")).env_remove("CUDA_LAUNCH_BLOCKING");
    let output = command.envs(environment.iter().copied()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", show(&output));
    Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", show(&output))))
}

#[test]
fn a_machine_is_told_of() {
    let Some(python) = python() else { return };
    let output = Sandbox::new(&[]).run(&["probe", "doctor", "--python", &python]);
    assert_eq!(code(&output), "exit 0", "{output}");
    for part in ["Python     3.", "PyTorch    2.", "\nDriver ", "\nGPU", "\nLaunches ", "\nVariables "] {
        assert!(output.contains(part), "{part} is not in\n{output}");
    }
}

#[test]
fn without_pytorch_it_ends_well() {
    let Some(health) = examined("import sys\nsys.modules['torch'] = None", &[]) else { return };
    assert_eq!(health["torch"]["version"], Value::Null);
    assert_eq!(health["torch"]["trouble"], "it is not installed");
    let Some(health) = examined("import sys, types\nsys.modules['torch'] = types.ModuleType('torch')", &[]) else {
        return;
    };
    assert!(health["torch"]["trouble"].as_str().is_some_and(|said| said.starts_with("AttributeError")), "{health}");
    let output = Sandbox::new(&[]).run(&["probe", "doctor", "--python", "/no/such/python"]);
    assert_eq!(code(&output), "exit 2", "{output}");
}

#[test]
fn a_broken_driver_is_a_result() {
    let load = "import ctypes, os\nload = ctypes.CDLL\n\
                ctypes.CDLL = lambda name, *a, **k: broken(name) if name == 'libcuda.so.1' else load(name, *a, **k)\n";
    let kills = format!("{load}broken = lambda _: os.abort()");
    let Some(health) = examined(&kills, &[]) else { return };
    assert!(health["driver"]["trouble"].as_str().is_some_and(|said| said.starts_with("Python crashed")), "{health}");
    assert_ne!(health["torch"]["version"], Value::Null, "the other checks must still run: {health}");

    let starts = "\
class Driver:
    def cuDriverGetVersion(self, number):
        number._obj.value = 11040
        return 0
    def cuInit(self, _):
        return 802
broken = lambda _: Driver()";
    let Some(health) = examined(&format!("{load}{starts}"), &[]) else { return };
    assert_eq!(health["driver"]["cuda"], "11.4", "{health}");
    assert_eq!(health["driver"]["trouble"], "libcuda.so.1 cannot be initialised: error 802");
}

/// Simulates a GPU whose launches wait for the kernel if `CUDA_LAUNCH_BLOCKING` is 1.
const GPU: &str = "
import os, time, types
import torch
done = 0.0
def sleep(_):
    global done
    done = time.perf_counter() + 0.5
    if os.environ.get('CUDA_LAUNCH_BLOCKING') == '1':
        synchronize()
def synchronize():
    time.sleep(max(0.0, done - time.perf_counter()))
about = types.SimpleNamespace(name='Tesla K80', total_memory=12 << 30, major=3, minor=7)
torch.cuda.is_available, torch.cuda.device_count, torch.cuda.init = lambda: True, lambda: 1, lambda: None
torch.cuda.get_device_properties, torch.cuda.mem_get_info = lambda _: about, lambda _: (3 << 29, 12 << 30)
torch.cuda.get_arch_list = lambda: ['sm_75', 'sm_90']
torch.cuda._sleep, torch.cuda.synchronize = sleep, synchronize
";

#[test]
fn a_gpu_is_measured() {
    let Some(health) = examined(GPU, &[]) else { return };
    let gpu = &health["gpus"]["list"][0];
    assert_eq!((&gpu["name"], &gpu["capability"]), (&"Tesla K80".into(), &"3.7".into()), "{health}");
    assert_eq!(gpu["supported"], false);
    let blocking = &health["launch_blocking"];
    assert_eq!(blocking["takes_effect"], true, "{health}");
    assert!(blocking["with"]["launch"].as_f64() > blocking["without"]["launch"].as_f64());
    let never = GPU.replace("== '1'", "== 'never'");
    let Some(health) = examined(&never, &[]) else { return };
    assert_eq!(health["launch_blocking"]["takes_effect"], false);
    assert!(health["advice"].to_string().contains("has no effect here"), "{health}");
}

#[test]
fn variables_are_told_with_when_they_were_set() {
    let patch = "import os\nos.environ['NCCL_DEBUG'] = 'INFO'\n";
    let set = [("CUDA_VISIBLE_DEVICES", ""), ("OMP_NUM_THREADS", "2"), ("HOME", "/root")];
    let of = |patch: &str| {
        let health = examined(patch, &set)?;
        let variables: Vec<Value> = health["environment"].as_array()?.clone();
        let told = |name: &str| {
            let one = variables.iter().find(|one| one["name"] == name)?;
            Some((one["set_by"].as_str()?.to_owned(), one["in_time"].as_bool()?))
        };
        assert_eq!(told("CUDA_VISIBLE_DEVICES"), Some(("shell".to_owned(), true)));
        assert_eq!(told("HOME"), None);
        told("NCCL_DEBUG")
    };
    if python().is_none() {
        return;
    }
    assert_eq!(of(patch), Some(("python".to_owned(), true)));
    assert_eq!(of(&format!("import torch\n{patch}")), Some(("python".to_owned(), false)));
}
