//! Runs the witnesses of findings and returns their verdicts.
//!
//! A worker process runs the programs for the CPU, one after another. If a call ends or hangs this
//! process, a new one runs the next program. Each program for CUDA has its own process, because a
//! failed assert destroys the CUDA context of its process.

use std::process::ExitStatus;
use std::time::Duration;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::judge::{Claim, DEVICES, Outcome, Shown, asks_for_history, judge, without_witness};
use super::python::Python;
use super::runtime::{ContractSource, VERSION};
use super::witness::{Choice, Devices, Lengths, Program};
use super::worker::{Answer, Work, Worker};
use crate::diagnostic::{Diagnostic, How, Judge, Reproduction, Witness, WitnessStatus};
use crate::rules::{Page, Rules};
use crate::value::Kind;

/// The time limit for importing PyTorch.
const PATIENCE: Duration = Duration::from_mins(3);

const HISTORY_ONLY: &str = "it depends on how the values were computed";

pub(crate) struct Verifier<'a> {
    python: &'a Python,
    rules: &'a Rules,
    contracts: Vec<ContractSource>,
    limit: Duration,
    worker: Option<Worker>,
    /// The PyTorch that runs witnesses, once it has started; or the reason why there is none.
    torch: Option<Result<Torch, String>>,
    requests: u64,
}

/// The PyTorch of a worker.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Torch {
    #[serde(rename = "torch")]
    pub version: String,
    /// Whether this PyTorch can use a GPU.
    pub cuda: bool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Said {
    Ready(Torch),
    Refused {
        reason: String,
    },
    /// The arguments have been created; a failure from here on is a failure of the call.
    Calling {
        id: u64,
    },
    Done(Done),
}

#[derive(Debug, Deserialize)]
struct Done {
    id: u64,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
struct Request<'a> {
    version: u32,
    id: u64,
    setup: String,
    call: &'a str,
    arguments: serde_json::Value,
    code: &'a str,
    path: &'a str,
    fake: bool,
    wait: bool,
    limit: f64,
}

impl<'a> Verifier<'a> {
    pub(crate) fn new(python: &'a Python, rules: &'a Rules, limit: Duration) -> Verifier<'a> {
        let contracts = ContractSource::all(rules, |_| true);
        Verifier { python, rules, contracts, limit, worker: None, torch: None, requests: 0 }
    }

    /// The PyTorch that was used; `None` if nothing was run.
    pub(crate) fn torch(&self) -> Option<&Torch> {
        self.torch.as_ref().and_then(|torch| torch.as_ref().ok())
    }

    /// Why nothing could be run.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.torch.as_ref().and_then(|torch| torch.as_ref().err().cloned())
    }

    /// Runs the witness of a finding. Without a witness, the verdict is undecided.
    pub(crate) fn verify(&mut self, diagnostic: &Diagnostic) -> Reproduction {
        let Some(page) = self.rules.find(&diagnostic.code) else {
            return undecided("not about a PyTorch call: the source alone shows the problem".to_owned());
        };
        let Some(witness) = &diagnostic.witness else {
            return undecided(without_witness(page));
        };
        let claim = Claim::of(page, diagnostic.severity);
        let forbidden = choices(witness).into_iter().find_map(|choice| Program::of(witness, choice).forbidden.pop());
        if let Some(path) = forbidden {
            if !claim.raises && asks_for_history(page) {
                return undecided(HISTORY_ONLY.to_owned());
            }
            return undecided(format!("a witness must not call `{path}`"));
        }
        match self.ready() {
            Err(reason) => undecided(reason),
            Ok(torch) if torch.cuda && (claim.about_devices || claim.on_cuda && uses_cuda(witness)) => {
                self.on_cuda(page, &claim, witness)
            }
            Ok(_) if claim.about_devices => self.by_fakes(page, witness),
            Ok(_) => self.on_cpu(page, &claim, witness),
        }
    }

    fn on_cpu(&mut self, page: &Page, claim: &Claim, witness: &Witness) -> Reproduction {
        let mut refuted = None;
        let mut reason: Option<(String, Program)> = None;
        for choice in choices(witness) {
            let program = Program::of(witness, choice);
            let outcome = match too_large(&program) {
                Some(lost) => Outcome::Lost(lost),
                None => self.run(page, witness, &program, false),
            };
            match judge(claim, page, &program, outcome) {
                Shown::Reproduced(how, message) => {
                    return Reproduction {
                        status: WitnessStatus::Reproduced,
                        how: Some(how),
                        judge: Some(Judge::Cpu),
                        message,
                        reason: None,
                        program: Some(program.text()),
                    };
                }
                Shown::Refuted => _ = refuted.get_or_insert(program),
                Shown::Nothing(why) => _ = reason.get_or_insert((why, program)),
            }
        }
        if !claim.raises && asks_for_history(page) {
            return undecided(HISTORY_ONLY.to_owned());
        }
        match (refuted, reason) {
            (Some(program), _) => Reproduction {
                status: WitnessStatus::Refuted,
                how: None,
                judge: Some(Judge::Cpu),
                message: None,
                reason: Some("PyTorch runs a call with these arguments".to_owned()),
                program: Some(program.text()),
            },
            (None, Some((why, program))) => Reproduction { program: Some(program.text()), ..undecided(why) },
            (None, None) => undecided("no witness could be made".to_owned()),
        }
    }

    /// Tests a mix of devices with PyTorch's fake tensors, which have a device but no values.
    fn by_fakes(&mut self, page: &Page, witness: &Witness) -> Reproduction {
        let contract = page.contract().unwrap_or_default();
        if contract.contains("autocast(") {
            return undecided("the finding depends on autocast on a GPU, and there is no GPU".to_owned());
        }
        let found = choices(witness).into_iter().map(|choice| Choice { devices: Devices::AsFound, ..choice });
        let mixes = Regex::new(DEVICES);
        let mut reason = None;
        for choice in found {
            let program = Program::of(witness, choice);
            let raised = match self.run(page, witness, &program, true) {
                Outcome::Raised(raised) => raised,
                Outcome::Ran { .. } => {
                    reason.get_or_insert("PyTorch's fake tensors accept the call".to_owned());
                    continue;
                }
                // In older versions of PyTorch, fake tensors on a GPU need a driver.
                Outcome::NotBuilt(raised) => {
                    reason.get_or_insert(format!("PyTorch's fake tensors raise {}", raised.line()));
                    continue;
                }
                _ => continue,
            };
            let matches = mixes.as_ref().is_ok_and(|mixes| mixes.is_match(&raised.text()));
            // The same call on one device must succeed; otherwise, the mix is not the reason.
            let control = Program::of(witness, Choice { devices: Devices::Cpu, ..choice });
            if matches && matches!(self.run(page, witness, &control, true), Outcome::Ran { .. }) {
                return Reproduction {
                    status: WitnessStatus::Reproduced,
                    how: Some(How::Raised),
                    judge: Some(Judge::Fake),
                    message: Some(raised.text()),
                    reason: None,
                    program: Some(program.text()),
                };
            }
            reason.get_or_insert(format!("PyTorch's fake tensors raise {}", raised.line()));
        }
        let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        undecided(format!("the witness needs a GPU, and there is none{why}"))
    }

    /// Runs the witness on the GPU, with each choice in its own process.
    fn on_cuda(&mut self, page: &Page, claim: &Claim, witness: &Witness) -> Reproduction {
        let pattern = page.cuda.as_deref().and_then(|pattern| Regex::new(pattern).ok());
        let pattern = pattern.or_else(|| claim.pattern.clone());
        let mut ran = None;
        let mut reason = None;
        for choice in choices(witness) {
            let program = Program::of(witness, Choice { devices: Devices::AsFound, ..choice });
            if let Some(lost) = too_large(&program) {
                reason.get_or_insert((lost, program));
                continue;
            }
            let (outcome, said) = self.run_alone(page, witness, &program);
            let text = match &outcome {
                Outcome::Raised(raised) => raised.text(),
                Outcome::Died(how) => how.clone(),
                Outcome::Ran { .. } => {
                    ran.get_or_insert(program);
                    continue;
                }
                Outcome::NotBuilt(raised) => {
                    reason.get_or_insert((
                        format!("the arguments of the call cannot be created: {}", raised.line()),
                        program,
                    ));
                    continue;
                }
                Outcome::Lost(why) => {
                    reason.get_or_insert((why.clone(), program));
                    continue;
                }
            };
            let asserted = said.lines().find(|line| line.contains("Assertion `"));
            let fits = |text: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
            if fits(&text) || asserted.is_some_and(fits) {
                let message = asserted.map_or(text, str::to_owned);
                return Reproduction {
                    status: WitnessStatus::Reproduced,
                    how: Some(if matches!(outcome, Outcome::Died(_)) { How::Died } else { How::Raised }),
                    judge: Some(Judge::Cuda),
                    message: Some(message),
                    reason: None,
                    program: Some(program.text()),
                };
            }
            let line = text.lines().next().unwrap_or_default();
            reason.get_or_insert((format!("the witness fails for another reason: {line}"), program));
        }
        match (ran, reason) {
            (Some(program), _) if claim.raises && program.lost.is_empty() => Reproduction {
                status: WitnessStatus::Refuted,
                how: None,
                judge: Some(Judge::Cuda),
                message: None,
                reason: Some("PyTorch runs a call with these arguments on this GPU".to_owned()),
                program: Some(program.text()),
            },
            (Some(_), _) => self.on_cpu(page, claim, witness),
            (None, Some((why, program))) => Reproduction { program: Some(program.text()), ..undecided(why) },
            (None, None) => undecided("no witness could be made".to_owned()),
        }
    }

    /// Starts the worker, unless it is running.
    fn ready(&mut self) -> Result<Torch, String> {
        match &self.torch {
            Some(Ok(torch)) if self.worker.is_some() => return Ok(torch.clone()),
            Some(Err(reason)) => return Err(reason.clone()),
            _ => {}
        }
        let started = self.start(Vec::new(), false);
        let torch = started.map(|(worker, torch)| {
            self.worker = Some(worker);
            torch
        });
        self.torch = Some(torch.clone());
        torch
    }

    fn start(
        &self,
        environment: Vec<(&'static str, &'static str)>,
        reads_stderr: bool,
    ) -> Result<(Worker, Torch), String> {
        let work =
            Work { module: "verify", function: "serve", arguments: json!([self.contracts]), environment, reads_stderr };
        let worker = Worker::start(self.python, &work)?;
        let shown = self.python.path.display();
        match worker.answer(PATIENCE) {
            Answer::Said(Said::Ready(torch)) => Ok((worker, torch)),
            Answer::Said(Said::Refused { reason }) => Err(reason),
            Answer::Said(_) | Answer::Gone => Err(format!("`{shown}` crashes while importing PyTorch")),
            Answer::Late => Err(format!("`{shown}` did not finish importing PyTorch within 3 minutes")),
        }
    }

    /// Runs a program in the shared worker.
    fn run(&mut self, page: &Page, witness: &Witness, program: &Program, fake: bool) -> Outcome {
        if let Err(reason) = self.ready() {
            return Outcome::Lost(reason);
        }
        let Some(mut worker) = self.worker.take() else { return Outcome::Lost("there is no worker".to_owned()) };
        let (outcome, alive) = self.exchange(&mut worker, page, witness, program, fake);
        if alive {
            self.worker = Some(worker);
            return outcome;
        }
        // The call ended the process, or did not finish. The next program gets a new process.
        let status = worker.end(Duration::from_millis(200)).0;
        died(outcome, status)
    }

    /// Runs a program for CUDA. Returns its outcome, and its output on standard error, which
    /// contains the messages of the driver.
    fn run_alone(&mut self, page: &Page, witness: &Witness, program: &Program) -> (Outcome, String) {
        let environment = vec![("CUDA_LAUNCH_BLOCKING", "1")];
        let (mut worker, _) = match self.start(environment, true) {
            Ok(started) => started,
            Err(reason) => return (Outcome::Lost(reason), String::new()),
        };
        let (outcome, _) = self.exchange(&mut worker, page, witness, program, false);
        let (status, said) = worker.end(self.limit);
        (died(outcome, status), said)
    }

    /// Runs one program. Returns its outcome, and whether the worker can be used again.
    fn exchange(
        &mut self,
        worker: &mut Worker,
        page: &Page,
        witness: &Witness,
        program: &Program,
        fake: bool,
    ) -> (Outcome, bool) {
        self.requests += 1;
        let id = self.requests;
        let arguments: serde_json::Map<String, serde_json::Value> =
            program.arguments.iter().map(|(name, text)| (name.clone(), text.clone().into())).collect();
        worker.ask(&Request {
            version: VERSION,
            id,
            setup: program.preparation(),
            call: &program.call,
            arguments: arguments.into(),
            code: &page.code,
            path: path(witness),
            fake,
            wait: !fake && program.preparation().contains("device=\"cuda"),
            limit: self.limit.as_secs_f64(),
        });
        let mut calling = false;
        loop {
            match worker.answer(self.limit) {
                Answer::Said(Said::Done(done)) if done.id == id => return (done.outcome, true),
                Answer::Said(Said::Calling { id: now }) => calling |= now == id,
                Answer::Said(_) => {}
                Answer::Late => {
                    let message = format!("the witness did not finish within {} s", self.limit.as_secs_f64());
                    return (Outcome::Lost(message), false);
                }
                Answer::Gone if calling => return (Outcome::Died(String::new()), false),
                Answer::Gone => {
                    return (Outcome::Lost("the process ended while the arguments were created".to_owned()), false);
                }
            }
        }
    }
}

/// The path of the called function, if the witness is a single call.
fn path(witness: &Witness) -> &'static str {
    match witness {
        Witness::Call(call) => call.path.as_str(),
        Witness::Program { .. } => "",
    }
}

fn uses_cuda(witness: &Witness) -> bool {
    let Witness::Call(witness) = witness else { return false };
    let tensors = witness.arguments.iter().flat_map(|argument| argument.value.tensors());
    tensors.into_iter().any(|tensor| tensor.device.is_some_and(|device| device.is_cuda()))
}

/// The ways to write the program. The one that is most likely to work comes first.
fn choices(witness: &Witness) -> Vec<Choice> {
    let first =
        Choice { lengths: Lengths::Same(4), kind: Kind::Floating, first: 0, devices: Devices::Cpu, as_method: false };
    let is_function = path(witness).strip_prefix("torch.").is_some_and(|name| !name.contains('.'));
    let all = [
        Some(first),
        is_function.then_some(Choice { as_method: true, ..first }),
        Some(Choice { first: 1, ..first }),
        Some(Choice { lengths: Lengths::Same(1), ..first }),
        Some(Choice { lengths: Lengths::Distinct, ..first }),
        Some(Choice { lengths: Lengths::Same(64), ..first }),
        Some(Choice { lengths: Lengths::Same(2), ..first }),
        Some(Choice { kind: Kind::Integral, ..first }),
        Some(Choice { kind: Kind::Bool, ..first }),
    ];
    let mut distinct: Vec<(Choice, Program)> = Vec::new();
    for choice in all.into_iter().flatten() {
        let program = Program::of(witness, choice);
        if !distinct.iter().any(|(_, other)| *other == program) {
            distinct.push((choice, program));
        }
    }
    distinct.into_iter().map(|(choice, _)| choice).collect()
}

fn too_large(program: &Program) -> Option<String> {
    program.lost.iter().find(|lost| lost.ends_with("is too large to create")).cloned()
}

pub(crate) fn undecided(reason: String) -> Reproduction {
    Reproduction {
        status: WitnessStatus::Undecided,
        how: None,
        judge: None,
        message: None,
        reason: Some(reason),
        program: None,
    }
}

/// The outcome of a call that ended its process.
fn died(outcome: Outcome, status: Option<ExitStatus>) -> Outcome {
    match (outcome, status) {
        // These signals come from outside: for example, the system kills a process if memory runs
        // out.
        (Outcome::Died(_), Some(status)) if is_kill(status) => Outcome::Lost("its process was killed".to_owned()),
        (Outcome::Died(_), Some(status)) => Outcome::Died(format!("the process ended: {status}")),
        (other, _) => other,
    }
}

#[cfg(unix)]
fn is_kill(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    matches!(status.signal(), Some(2 | 9 | 15))
}

#[cfg(not(unix))]
fn is_kill(_: ExitStatus) -> bool {
    false
}
