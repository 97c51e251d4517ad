//! Diagnoses a machine, part by part. A Python process queries the parts. A broken driver may crash
//! or hang this process; a new process then queries the remaining parts.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::python::Python;
use super::runtime::VERSION;
use super::worker::{Answer, Work, Worker};

/// The time limit for one part. Importing PyTorch from a cold disk takes longest.
const PATIENCE: Duration = Duration::from_mins(2);
/// If a launch takes more than this fraction of the time until its kernel has finished, the launch
/// is assumed to have waited for the kernel.
const WAITED: f64 = 0.5;

/// The results for a machine.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Health {
    version: u32,
    python: Option<PythonPart>,
    torch: Option<TorchPart>,
    driver: Option<DriverPart>,
    gpus: Option<GpusPart>,
    environment: Vec<Variable>,
    launch_blocking: LaunchBlocking,
    /// The parts that crashed or hung the process that queried them, and what happened.
    trouble: Vec<String>,
    advice: Vec<String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct PythonPart {
    version: String,
    executable: String,
    platform: String,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct TorchPart {
    version: Option<String>,
    cuda: Option<String>,
    hip: Option<String>,
    architectures: Vec<String>,
    cudnn: Option<String>,
    nccl: Option<String>,
    path: Option<String>,
    trouble: Option<String>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct DriverPart {
    version: Option<String>,
    /// The newest CUDA version that the driver supports.
    cuda: Option<String>,
    trouble: Option<String>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct GpusPart {
    list: Vec<Gpu>,
    trouble: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Gpu {
    index: u32,
    name: String,
    memory: u64,
    free: Option<u64>,
    capability: String,
    /// Whether the installed PyTorch has kernels for this GPU.
    supported: Option<bool>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Variable {
    name: String,
    value: Option<String>,
    meaning: String,
    set_by: SetBy,
    /// Whether the variable was certainly set before PyTorch was imported; `None` if the import set
    /// it.
    in_time: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum SetBy {
    Shell,
    /// A `.pth` file or a `sitecustomize`.
    Python,
    /// PyTorch's own import.
    Import,
}

/// Whether a launch waits for its kernel with `CUDA_LAUNCH_BLOCKING=1`, and does not wait with `0`.
#[derive(Debug, Default, Serialize)]
struct LaunchBlocking {
    takes_effect: Option<bool>,
    with: Option<Launch>,
    without: Option<Launch>,
    reason: Option<String>,
}

/// Seconds until a launch returned, and until its kernel had finished.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
struct Launch {
    launch: f64,
    total: f64,
}

impl Launch {
    fn waits(self) -> bool {
        self.launch > WAITED * self.total
    }
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Said {
    Asking { name: String },
    Part { name: String, data: Value },
}

/// The reports of a process. If it crashed or hung, `broken` contains the part that it was
/// querying, and what happened.
#[derive(Default)]
struct Told {
    parts: BTreeMap<String, Value>,
    broken: Option<(String, String)>,
}

impl Told {
    fn take<T: for<'a> Deserialize<'a>>(&mut self, name: &str) -> Option<T> {
        self.parts.remove(name).and_then(|part| serde_json::from_value(part).ok())
    }
}

pub(crate) fn examine(python: &Python) -> Result<Health, String> {
    let shell: BTreeMap<String, String> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect();
    let mut told = Told::default();
    let mut trouble = Vec::new();
    loop {
        let known: Vec<&String> = told.parts.keys().collect();
        let more = ask(python, "examine", json!([shell, known]), Vec::new())?;
        told.parts.extend(more.parts);
        // The remaining parts are queried in another process.
        let Some((part, what)) = more.broken.filter(|(part, _)| !told.parts.contains_key(part)) else { break };
        let asked = part.clone();
        told.parts.insert(part, json!({ "trouble": what }));
        trouble.push(format!("{asked}: {what}"));
    }
    let mut health = Health {
        version: VERSION,
        python: told.take("python"),
        torch: told.take("torch"),
        driver: told.take("driver"),
        gpus: told.take("gpus"),
        environment: told.take("environment").unwrap_or_default(),
        trouble,
        ..Health::default()
    };
    health.launch_blocking = match &health.gpus {
        Some(gpus) if !gpus.list.is_empty() => launch_blocking(python)?,
        _ => LaunchBlocking { reason: Some("there is no GPU to measure it on".to_owned()), ..Default::default() },
    };
    health.advice = health.advice();
    Ok(health)
}

/// Runs a function of the Python half until its process ends or hangs.
fn ask(
    python: &Python,
    function: &'static str,
    arguments: Value,
    environment: Vec<(&'static str, &'static str)>,
) -> Result<Told, String> {
    let work = Work { module: "doctor", function, arguments, environment, reads_stderr: false };
    let worker = Worker::start(python, &work)?;
    let mut told = Told::default();
    let mut asking = None;
    loop {
        let happened = match worker.answer(PATIENCE) {
            Answer::Said(Said::Asking { name }) => {
                asking = Some(name);
                continue;
            }
            Answer::Said(Said::Part { name, data }) => {
                asking = None;
                told.parts.insert(name, data);
                continue;
            }
            Answer::Gone => {
                let (status, _) = worker.end(Duration::from_secs(1));
                status.map_or_else(|| "Python crashed".to_owned(), |status| format!("Python crashed ({status})"))
            }
            Answer::Late => format!("no answer within {} s", PATIENCE.as_secs()),
        };
        told.broken = asking.map(|name| (name, happened));
        return Ok(told);
    }
}

/// Launches a kernel in two processes: one with `CUDA_LAUNCH_BLOCKING=1`, and one with `0`.
fn launch_blocking(python: &Python) -> Result<LaunchBlocking, String> {
    let measure = |value| {
        let mut told = ask(python, "measure", json!([]), vec![("CUDA_LAUNCH_BLOCKING", value)])?;
        let trouble = told.parts.get("launch").and_then(|part| part.get("trouble")).and_then(Value::as_str);
        let trouble = trouble.map(str::to_owned).or(told.broken.take().map(|(_, what)| what));
        Ok::<_, String>((told.take::<Launch>("launch"), trouble))
    };
    let (with, first) = measure("1")?;
    let (without, second) = measure("0")?;
    let takes_effect = with.zip(without).map(|(with, without)| with.waits() && !without.waits());
    Ok(LaunchBlocking { takes_effect, with, without, reason: first.or(second) })
}

impl Health {
    /// Advice that follows from the results.
    fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        let mut say = |text: String| advice.push(text);
        let variable = |name: &str| self.environment.iter().find(|variable| variable.name == name);
        let has_driver = self.driver.as_ref().is_some_and(|driver| driver.trouble.is_none());
        let gpus = self.gpus.as_ref().map(|gpus| gpus.list.as_slice()).unwrap_or_default();
        if let Some(torch) = &self.torch {
            if torch.version.is_some() && torch.cuda.is_none() && torch.hip.is_none() && has_driver {
                say("this PyTorch is built without CUDA, but there is a driver: install a wheel for CUDA".to_owned());
            }
            let newer = |driver: &DriverPart| {
                let (have, needs) = (number(driver.cuda.as_deref()?)?, number(torch.cuda.as_deref()?)?);
                // A driver for CUDA 12.2 also runs PyTorch builds for newer CUDA 12 versions.
                (have.0 < needs.0).then(|| (driver.cuda.clone(), torch.cuda.clone()))
            };
            if let Some((Some(have), Some(needs))) = self.driver.as_ref().and_then(newer) {
                say(format!(
                    "the driver supports CUDA up to {have}, but this PyTorch needs {needs}: update the driver, or \
                     install a wheel for an older CUDA"
                ));
            }
        }
        for gpu in gpus.iter().filter(|gpu| gpu.supported == Some(false)) {
            say(format!("this PyTorch has no kernels for {} (compute capability {})", gpu.name, gpu.capability));
        }
        if variable("CUDA_VISIBLE_DEVICES").is_some_and(|hides| hides.value.as_deref() == Some("")) {
            say("CUDA_VISIBLE_DEVICES is empty: it hides every GPU".to_owned());
        }
        let is_on = |name| {
            variable(name)
                .is_some_and(|variable| variable.value.as_deref().is_some_and(|value| !matches!(value, "" | "0")))
        };
        if is_on("CUDA_LAUNCH_BLOCKING") {
            say(
                "CUDA_LAUNCH_BLOCKING is set: unset it when you have found the error, because the CPU waits for every \
                kernel"
                    .to_owned(),
            );
        }
        if is_on("TORCH_USE_CUDA_DSA") {
            say("TORCH_USE_CUDA_DSA has no effect in the environment: PyTorch must be built with it".to_owned());
        }
        for late in self.environment.iter().filter(|variable| variable.in_time == Some(false)) {
            say(format!("{} is set by a startup file after PyTorch was imported: set it in the shell", late.name));
        }
        if self.launch_blocking.takes_effect == Some(false) {
            say("CUDA_LAUNCH_BLOCKING=1 has no effect here: a stack trace may name a later line".to_owned());
        }
        advice
    }

    pub(crate) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub(crate) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(PythonPart { version, executable, platform }) = &self.python {
            line(out, "Python", &format!("{version}, {platform}, {executable}"))?;
        }
        if let Some(torch) = &self.torch {
            line(out, "PyTorch", &torch.text())?;
            if !torch.architectures.is_empty() {
                line(out, "", &format!("kernels for {}", torch.architectures.join(" ")))?;
            }
        }
        if let Some(driver) = &self.driver {
            line(out, "Driver", &driver.text())?;
        }
        if let Some(GpusPart { list, trouble }) = &self.gpus {
            if list.is_empty() {
                line(out, "GPUs", &format!("none: {}", trouble.as_deref().unwrap_or("PyTorch finds none")))?;
            }
            for gpu in list {
                line(out, &format!("GPU {}", gpu.index), &gpu.text())?;
            }
        }
        let blocking = &self.launch_blocking;
        let times = |launch: Option<Launch>| {
            launch.map_or_else(|| "?".to_owned(), |l| format!("{:.0} of {:.0} ms", l.launch * 1e3, l.total * 1e3))
        };
        let measured = format!(
            "with it, a launch returns after {} of the kernel's run time; without it, after {}",
            times(blocking.with),
            times(blocking.without)
        );
        let text = match (blocking.takes_effect, &blocking.reason) {
            (Some(true), _) => format!("CUDA_LAUNCH_BLOCKING takes effect: {measured}"),
            (Some(false), _) => format!("CUDA_LAUNCH_BLOCKING has no effect: {measured}"),
            (None, reason) => {
                let reason = reason.as_deref().unwrap_or("no kernel could be launched");
                format!("whether CUDA_LAUNCH_BLOCKING takes effect was not measured: {reason}")
            }
        };
        line(out, "Launches", &text)?;
        if self.environment.is_empty() {
            line(out, "Variables", "none of the relevant ones is set")?;
        }
        for (index, variable) in self.environment.iter().enumerate() {
            line(out, if index == 0 { "Variables" } else { "" }, &variable.text())?;
        }
        for (index, advice) in self.advice.iter().enumerate() {
            line(out, if index == 0 { "Advice" } else { "" }, advice)?;
        }
        Ok(())
    }
}

fn line(out: &mut dyn Write, title: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{title:<10} {text}")
}

/// `12.8` as two numbers.
fn number(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

fn gigabytes(bytes: u64) -> String {
    format!("{}.{} GiB", bytes >> 30, ((bytes % (1 << 30)) * 10) >> 30)
}

impl TorchPart {
    fn text(&self) -> String {
        let Some(version) = &self.version else {
            return format!("none: {}", self.trouble.as_deref().unwrap_or("unknown reason"));
        };
        let mut parts = vec![version.clone()];
        match (&self.cuda, &self.hip) {
            (Some(cuda), _) => parts.push(format!("built for CUDA {cuda}")),
            (None, Some(hip)) => parts.push(format!("built for ROCm {hip}")),
            (None, None) => parts.push("built for the CPU only".to_owned()),
        }
        parts.extend(self.cudnn.iter().map(|cudnn| format!("cuDNN {cudnn}")));
        parts.extend(self.nccl.iter().map(|nccl| format!("NCCL {nccl}")));
        parts.join(", ")
    }
}

impl DriverPart {
    fn text(&self) -> String {
        let mut parts: Vec<String> = self.version.iter().cloned().collect();
        parts.extend(self.cuda.iter().map(|cuda| format!("supports CUDA up to {cuda}")));
        match &self.trouble {
            Some(trouble) if parts.is_empty() => format!("none: {trouble}"),
            Some(trouble) => format!("{}, but {trouble}", parts.join(", ")),
            None if parts.is_empty() => "unknown version".to_owned(),
            None => parts.join(", "),
        }
    }
}

impl Gpu {
    fn text(&self) -> String {
        let free = self.free.map(|free| format!(", {} free", gigabytes(free))).unwrap_or_default();
        let supported = match self.supported {
            Some(true) => ", supported by this PyTorch",
            Some(false) => ", not supported by this PyTorch",
            None => "",
        };
        let Gpu { name, memory, capability, .. } = self;
        format!("{name}, {}{free}, compute capability {capability}{supported}", gigabytes(*memory))
    }
}

impl Variable {
    fn text(&self) -> String {
        let Variable { name, meaning, .. } = self;
        let Some(value) = &self.value else { return format!("{name} is unset when Python starts: {meaning}") };
        let when = match (self.set_by, self.in_time) {
            (SetBy::Shell, _) => "in time",
            (SetBy::Python, Some(true)) => "set by a startup file (`.pth` or `sitecustomize`), in time",
            (SetBy::Python, _) => "set by a startup file (`.pth` or `sitecustomize`), but after PyTorch was imported",
            (SetBy::Import, _) => "set by importing PyTorch",
        };
        format!("{name}={value} ({when}): {meaning}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(value: Value) -> Health {
        let part = |name: &str| value.get(name).cloned().unwrap_or(Value::Null);
        let mut health = Health {
            torch: serde_json::from_value(part("torch")).ok(),
            driver: serde_json::from_value(part("driver")).ok(),
            gpus: serde_json::from_value(part("gpus")).ok(),
            environment: serde_json::from_value(part("environment")).unwrap_or_default(),
            ..Health::default()
        };
        health.advice = health.advice();
        health
    }

    #[test]
    fn launches_that_wait_are_recognised() {
        assert!(Launch { launch: 0.1, total: 0.1001 }.waits());
        assert!(!Launch { launch: 0.000_02, total: 0.1 }.waits());
    }

    #[test]
    fn mismatches_give_advice() {
        let gpu = json!({"index": 0, "name": "Tesla K80", "memory": 12_884_901_888_u64, "free": null,
                         "capability": "3.7", "supported": false});
        let health = health(json!({
            "torch": {"version": "2.15.0", "cuda": "13.2"},
            "driver": {"version": "470.82", "cuda": "11.4"},
            "gpus": {"list": [gpu]},
            "environment": [{"name": "CUDA_LAUNCH_BLOCKING", "value": "1", "meaning": "", "set_by": "shell", "in_time": true},
                            {"name": "NCCL_DEBUG", "value": "INFO", "meaning": "", "set_by": "python", "in_time": false}],
        }));
        let advice = health.advice.join("\n");
        for part in
            ["CUDA up to 11.4, but this PyTorch needs 13.2", "no kernels for Tesla K80", "unset it", "NCCL_DEBUG"]
        {
            assert!(advice.contains(part), "{part} is not in {advice}");
        }
        let mut text = Vec::new();
        health.write_text(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("GPU 0      Tesla K80, 12.0 GiB, compute capability 3.7, not supported"), "{text}");
    }
}
