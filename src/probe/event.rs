//! The reports of the Python half: one JSON object per line, from every process of the program.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::runtime::VERSION;

/// A line, and the rank of the process that wrote it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Line {
    pub version: u32,
    pub rank: Option<u32>,
    #[serde(flatten)]
    pub event: Event,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// A process has imported PyTorch, or was forked by multiprocessing after the import.
    Start(Start),
    Finding(Box<Finding>),
    /// What happened at a call that the checker reported. `finding` is the number of the finding.
    Call {
        finding: usize,
        #[serde(flatten)]
        call: Call,
    },
    /// Calls cannot be observed.
    Untraced {
        reason: String,
    },
    /// An uncaught exception.
    Exception(Exception),
    /// The assert that a kernel on a GPU would report.
    Assert {
        file: String,
        condition: String,
    },
    /// The program was stopped after the requested number of steps.
    Enough {
        steps: u64,
    },
    /// The PyTorch of the program is too old for the probe, so nothing is checked.
    Refused {
        reason: String,
    },
    End(End),
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Start {
    pub torch: String,
    /// The number of emulated GPUs.
    pub gpus: Option<u32>,
}

/// For each finding, a process reports the first call that begins, the first that succeeds, and
/// each different message that a call raises (up to a limit).
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(crate) enum Call {
    Begun,
    Passed,
    Raised {
        #[serde(rename = "type")]
        kind: String,
        message: String,
    },
}

/// A call that violates a contract.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Finding {
    pub code: String,
    pub name: String,
    pub severity: String,
    pub message: String,
    /// The function that was called.
    pub call: String,
    pub filename: String,
    pub line: usize,
    pub stack: Vec<Frame>,
    pub arguments: Vec<Argument>,
    pub offence: Option<Offence>,
    /// The finding may depend on a role that was guessed from values, so it does not stop the
    /// program.
    pub guessed: bool,
    /// The program was stopped here.
    pub stopped: bool,
    /// The file in which the arguments were saved.
    pub dump: Option<String>,
    /// PyTorch's own error for the call, on a virtual device.
    pub raised: Option<String>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Frame {
    pub filename: String,
    pub line: usize,
    pub function: String,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Argument {
    pub name: String,
    pub text: String,
}

/// The values that violate a contract.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Offence {
    pub argument: String,
    pub count: u64,
    pub of: u64,
    /// The first distinct values, in ascending order.
    pub values: Vec<Counted>,
    pub distinct: u64,
    /// The first samples that contain wrong values, as indices in the first dimension.
    pub samples: Vec<u64>,
    pub samples_total: u64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Counted {
    pub value: String,
    pub count: u64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Exception {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
    pub stack: Vec<Frame>,
}

/// The counts of a process when it ends.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct End {
    /// Calls of functions with a contract.
    pub calls: u64,
    pub contracts: Vec<Judged>,
    /// The places where the contract of a finding's rule held.
    pub held: Vec<Place>,
    pub compiled_calls: u64,
    /// Whether CUDA was used.
    pub gpu: bool,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Judged {
    pub code: String,
    pub calls: u64,
    pub seconds: f64,
}

/// A line, and the code of the rule whose contract held for a call on this line.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
pub(crate) struct Place {
    pub code: String,
    pub filename: String,
    pub line: usize,
}

/// Reads the reports. A line that was cut off by the end of its process is skipped.
pub(crate) fn read(path: &Path) -> Vec<Line> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    lines.filter(|line| line.version == VERSION).collect()
}
