//! Runs the witnesses of findings, and says what became of each.
//!
//! One worker process runs them all on the CPU. A witness for CUDA has a process of its own,
//! since a failed assert takes the whole context with it.

use std::process::ExitStatus;
use std::time::Duration;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::python::Python;
use super::runtime::{ContractSource, VERSION};
use super::witness::{Choice, Devices, Lengths, Program};
use super::worker::{Answer, Work, Worker};
use crate::diagnostic::{Diagnostic, How, Judge, Severity, Status, Verdict, Witness};
use crate::rules::{Page, Rules};
use crate::value::Kind;

/// How long PyTorch's import may take.
const PATIENCE: Duration = Duration::from_secs(180);

pub struct Verifier<'a> {
    python: &'a Python,
    rules: &'a Rules,
    contracts: Vec<ContractSource>,
    limit: Duration,
    worker: Option<Worker>,
    /// The PyTorch that judges, once it is there; or why there is none.
    torch: Option<Result<Torch, String>>,
    requests: u64,
}

/// What answers.
#[derive(Debug, Clone, Deserialize)]
pub struct Torch {
    #[serde(rename = "torch")]
    pub version: String,
    /// Whether it has a GPU.
    pub cuda: bool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Said {
    Ready(Torch),
    Refused {
        reason: String,
    },
    /// The arguments are made: what happens from here on is the call's doing.
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

/// What a witness did.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
enum Outcome {
    /// The arguments cannot be made.
    NotBuilt(Raised),
    Raised(Raised),
    Ran {
        contract: Option<Judged>,
    },
    /// The process ended during the call.
    #[serde(skip)]
    Died(String),
    /// Something kept the witness from running.
    #[serde(skip)]
    Lost(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Raised {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

/// What the contract says of the real arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Judged {
    message: String,
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

impl Raised {
    fn text(&self) -> String {
        format!("{}: {}", self.kind, self.message)
    }

    /// Its first line, for a sentence.
    fn line(&self) -> String {
        self.text().lines().next().unwrap_or_default().to_owned()
    }
}

/// What a finding claims, as far as running its witness can show it.
struct Claim {
    /// What PyTorch's message must look like.
    pattern: Option<Regex>,
    /// The call fails, and is not silently wrong.
    raises: bool,
    /// The page knows of cases in which the call is silently wrong.
    may_be_silent: bool,
    /// What is checked by CUDA's kernels need not be by the CPU's.
    on_cuda: bool,
    /// It is about devices: on the CPU alone nothing of it is left.
    about_devices: bool,
}

impl Claim {
    fn of(page: &Page, severity: Severity) -> Claim {
        let words = page.rejects.as_deref().map(words);
        let patterns: Vec<&str> = page.cpu.as_deref().into_iter().chain(words).collect();
        let pattern = (!patterns.is_empty()).then(|| Regex::new(&patterns.join("|")).ok()).flatten();
        let about_devices = page.rejects.as_deref() == Some("device") || page.needs.is_some();
        Claim {
            raises: severity == Severity::Error && (pattern.is_some() || about_devices),
            pattern,
            may_be_silent: page.section("Evidence").is_some(),
            on_cuda: page.cuda.is_some(),
            about_devices,
        }
    }
}

/// What PyTorch's messages about a kind of refused call have in common: a page's `cpu` is only
/// that of its Example.
fn words(kind: &str) -> &'static str {
    match kind {
        "shape" => r"(?i-u:size|shape|dimension|dims|match|broadcast|batch|channel|element|length|equal)",
        "dtype" => r"(?i-u:type|not implemented for|integral|complex|float|long|bool|double|half)",
        "rank" => r"(?i-u:dim|\b\dD\b|rank|scalar|vector|matri|\d-d\b|tuple of length|shape)",
        "dim" => r"(?i-u:dim)",
        "index" => r"(?i-u:ind(ex|ices)|out of (range|bounds)|too many)",
        "layout" => r"(?i-u:stride|contiguous|layout|memory)",
        _ => "",
    }
}

/// What PyTorch says where devices are mixed, or asks for.
const DEVICES: &str = r"(?i-u:same device|different devices?|is on cuda|on cpu|device)";

/// What contracts ask for and no tensor tells: where its values come from.
const HISTORY: [&str; 4] = ["interpolated(", "scaled(", "recoloured(", "vocabulary("];

/// What a candidate showed.
enum Shown {
    Verified(How, Option<String>),
    Refuted,
    Nothing(String),
}

impl<'a> Verifier<'a> {
    pub fn new(python: &'a Python, rules: &'a Rules, limit: Duration) -> Verifier<'a> {
        let contracts = ContractSource::all(rules, |_| true);
        Verifier { python, rules, contracts, limit, worker: None, torch: None, requests: 0 }
    }

    /// The PyTorch that judged; none where nothing had to be run.
    pub fn torch(&self) -> Option<&Torch> {
        self.torch.as_ref().and_then(|torch| torch.as_ref().ok())
    }

    /// Why nothing could be run.
    pub fn trouble(&self) -> Option<String> {
        self.torch.as_ref().and_then(|torch| torch.as_ref().err().cloned())
    }

    /// Runs the witness of a finding. Without one there is nothing to run.
    pub fn verify(&mut self, diagnostic: &Diagnostic) -> Verdict {
        let Some(page) = self.rules.find(&diagnostic.code) else {
            return not_verifiable("no rule of PyTorch's: it follows from the source alone".to_owned());
        };
        let Some(witness) = &diagnostic.witness else {
            return not_verifiable(without_witness(page));
        };
        let claim = Claim::of(page, diagnostic.severity);
        match self.ready() {
            Err(reason) => not_verifiable(reason),
            Ok(torch) if torch.cuda && (claim.about_devices || claim.on_cuda && uses_cuda(witness)) => {
                self.on_cuda(page, &claim, witness)
            }
            Ok(_) if claim.about_devices => self.by_fakes(page, witness),
            Ok(_) => self.on_cpu(page, &claim, witness),
        }
    }

    fn on_cpu(&mut self, page: &Page, claim: &Claim, witness: &Witness) -> Verdict {
        let mut refuted = None;
        let mut reason: Option<(String, Program)> = None;
        for choice in choices(witness) {
            let program = Program::of(witness, choice);
            let outcome = match too_large(&program) {
                Some(lost) => Outcome::Lost(lost),
                None => self.run(page, witness, &program, false),
            };
            match judge(claim, page, &program, outcome) {
                Shown::Verified(how, message) => {
                    return Verdict {
                        status: Status::Verified,
                        how: Some(how),
                        judge: Some(Judge::Cpu),
                        message,
                        reason: None,
                        witness: Some(program.text()),
                    };
                }
                Shown::Refuted => _ = refuted.get_or_insert(program),
                Shown::Nothing(why) => _ = reason.get_or_insert((why, program)),
            }
        }
        let contract = page.contract().unwrap_or_default();
        if !claim.raises && HISTORY.iter().any(|helper| contract.contains(helper)) {
            return not_verifiable("only the history of its values shows it".to_owned());
        }
        match (refuted, reason) {
            (Some(program), _) => Verdict {
                status: Status::Refuted,
                how: None,
                judge: Some(Judge::Cpu),
                message: None,
                reason: Some("PyTorch runs the call without complaint".to_owned()),
                witness: Some(program.text()),
            },
            (None, Some((why, program))) => Verdict { witness: Some(program.text()), ..not_verifiable(why) },
            (None, None) => not_verifiable("no program could be made of it".to_owned()),
        }
    }

    /// Asks PyTorch's fake tensors, which have a device and no values, whether they mix.
    fn by_fakes(&mut self, page: &Page, witness: &Witness) -> Verdict {
        let contract = page.contract().unwrap_or_default();
        if contract.contains("autocast(") {
            return not_verifiable("it depends on autocast on a GPU, and there is none".to_owned());
        }
        let found = choices(witness).into_iter().map(|choice| Choice { devices: Devices::AsFound, ..choice });
        let mut reason = None;
        for choice in found {
            let program = Program::of(witness, choice);
            let raised = match self.run(page, witness, &program, true) {
                Outcome::Raised(raised) => raised,
                Outcome::Ran { .. } => {
                    reason.get_or_insert("it needs a GPU, and there is none: PyTorch's fake tensors accept the call");
                    continue;
                }
                // Those of older versions want a driver.
                _ => {
                    reason.get_or_insert("it needs a GPU, and there is none");
                    continue;
                }
            };
            let matches = Regex::new(DEVICES).is_ok_and(|pattern| pattern.is_match(&raised.text()));
            // The same call on one device must go well: else it fails for another reason.
            let control = Program::of(witness, Choice { devices: Devices::Cpu, ..choice });
            if matches && matches!(self.run(page, witness, &control, true), Outcome::Ran { .. }) {
                return Verdict {
                    status: Status::Verified,
                    how: Some(How::Raised),
                    judge: Some(Judge::Fake),
                    message: Some(raised.text()),
                    reason: None,
                    witness: Some(program.text()),
                };
            }
            reason.get_or_insert("it needs a GPU, and there is none");
        }
        not_verifiable(reason.unwrap_or("it needs a GPU, and there is none").to_owned())
    }

    /// Runs it on the GPU, in a process of its own.
    fn on_cuda(&mut self, page: &Page, claim: &Claim, witness: &Witness) -> Verdict {
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
                    reason.get_or_insert((format!("its arguments cannot be made: {}", raised.line()), program));
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
                return Verdict {
                    status: Status::Verified,
                    how: Some(if matches!(outcome, Outcome::Died(_)) { How::Died } else { How::Raised }),
                    judge: Some(Judge::Cuda),
                    message: Some(message),
                    reason: None,
                    witness: Some(program.text()),
                };
            }
            let line = text.lines().next().unwrap_or_default();
            reason.get_or_insert((format!("the witness fails for another reason: {line}"), program));
        }
        match (ran, reason) {
            (Some(program), _) if claim.raises && program.lost.is_empty() => Verdict {
                status: Status::Refuted,
                how: None,
                judge: Some(Judge::Cuda),
                message: None,
                reason: Some("PyTorch runs the call without complaint on this GPU".to_owned()),
                witness: Some(program.text()),
            },
            (Some(_), _) => self.on_cpu(page, claim, witness),
            (None, Some((why, program))) => Verdict { witness: Some(program.text()), ..not_verifiable(why) },
            (None, None) => not_verifiable("no program could be made of it".to_owned()),
        }
    }

    /// Starts the worker where there is none.
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
            Answer::Said(_) | Answer::Gone => Err(format!("`{shown}` ends while PyTorch is imported")),
            Answer::Late => Err(format!("`{shown}` does not finish the import of PyTorch")),
        }
    }

    /// Runs a program in the worker that all share.
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
        // What kills or hangs its process is judged by how that ended; the next has a new one.
        let status = worker.end(Duration::from_millis(200)).0;
        died(outcome, status)
    }

    /// Runs a program for CUDA: what the driver prints comes with the outcome.
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

    /// One program, and whether the worker is of use afterwards.
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
                    let message = format!("the witness did not end within {} s", self.limit.as_secs_f64());
                    return (Outcome::Lost(message), false);
                }
                Answer::Gone if calling => return (Outcome::Died(String::new()), false),
                Answer::Gone => {
                    return (Outcome::Lost("the process ended while the arguments were made".to_owned()), false);
                }
            }
        }
    }
}

/// The called function's path, where it is one call.
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

/// The ways to fill in what is not known, the likeliest first.
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
    program.lost.iter().find(|lost| lost.ends_with("is too large to be made")).cloned()
}

/// What a program's outcome says about a claim.
fn judge(claim: &Claim, page: &Page, program: &Program, outcome: Outcome) -> Shown {
    let guessed = || program.lost.first().map(|lost| format!(" ({lost})")).unwrap_or_default();
    match outcome {
        Outcome::Raised(raised) if claim.pattern.as_ref().is_some_and(|pattern| pattern.is_match(&raised.text())) => {
            Shown::Verified(How::Raised, Some(raised.text()))
        }
        Outcome::Raised(raised) => {
            Shown::Nothing(format!("the witness fails for another reason: {}{}", raised.line(), guessed()))
        }
        Outcome::NotBuilt(raised) => {
            Shown::Nothing(format!("its arguments cannot be made: {}{}", raised.line(), guessed()))
        }
        Outcome::Died(how) => Shown::Verified(How::Died, Some(how)),
        Outcome::Lost(why) => Shown::Nothing(why),
        Outcome::Ran { contract: Some(judged) } if !claim.raises || claim.may_be_silent => {
            Shown::Verified(How::Silent, Some(judged.message))
        }
        Outcome::Ran { contract: Some(_) } if page.cuda.is_some() => {
            Shown::Nothing("the CPU runs the call; only a GPU refuses it, and there is none".to_owned())
        }
        Outcome::Ran { .. } if claim.raises && program.lost.is_empty() => Shown::Refuted,
        Outcome::Ran { .. } => match program.lost.first() {
            Some(lost) => Shown::Nothing(lost.clone()),
            None => Shown::Nothing("real tensors with these facts do not show it".to_owned()),
        },
    }
}

/// Why there is no call to make again.
fn without_witness(page: &Page) -> String {
    if page.contract_of.is_empty() && page.rejects.is_none() {
        "no single call shows it".to_owned()
    } else {
        "the call's arguments are not known well enough".to_owned()
    }
}

pub fn not_verifiable(reason: String) -> Verdict {
    Verdict {
        status: Status::NotVerifiable,
        how: None,
        judge: None,
        message: None,
        reason: Some(reason),
        witness: None,
    }
}

/// The outcome of a call that its process did not survive.
fn died(outcome: Outcome, status: Option<ExitStatus>) -> Outcome {
    match (outcome, status) {
        // Nothing that PyTorch does sends this: whoever looks after the machine's memory does.
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
