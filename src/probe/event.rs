//! What the Python half reports: one JSON object per line, from every process of the program.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::runtime::VERSION;

/// A line, and which process wrote it.
#[derive(Debug, Clone, Deserialize)]
pub struct Line {
    pub version: u32,
    pub pid: u32,
    pub rank: Option<u32>,
    #[serde(flatten)]
    pub event: Event,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A process has imported PyTorch.
    Start(Start),
    Finding(Box<Finding>),
    /// What became of a call that the checker reported, by the number of its finding.
    Call {
        finding: usize,
        #[serde(flatten)]
        call: Call,
    },
    /// Calls cannot be followed.
    Untraced {
        reason: String,
    },
    /// An exception that nothing caught.
    Exception(Exception),
    /// What an assert of a kernel would have said on a GPU.
    Assert {
        file: String,
        condition: String,
    },
    /// The program was ended after the wanted number of steps.
    Enough {
        steps: u64,
    },
    /// This Python cannot be watched.
    Refused {
        reason: String,
    },
    End(End),
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Start {
    pub torch: String,
    /// A process that the program started through multiprocessing.
    pub child: bool,
    /// How many GPUs are played.
    pub gpus: Option<u32>,
}

/// Each is told once of a process; a failure, once for each message.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Call {
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
pub struct Finding {
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
    /// It rests on a guess from the values: it does not end the program.
    pub guessed: bool,
    /// The program was ended here.
    pub stopped: bool,
    /// The file with the arguments.
    pub dump: Option<String>,
    /// What PyTorch itself says of the call, where it was asked.
    pub raised: Option<String>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Frame {
    pub filename: String,
    pub line: usize,
    pub function: String,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Argument {
    pub name: String,
    pub text: String,
}

/// The values that a contract objects to.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Offence {
    pub argument: String,
    pub count: u64,
    pub of: u64,
    /// The first distinct ones, ascending.
    pub values: Vec<Counted>,
    pub distinct: u64,
    /// The first indices along the first dimension.
    pub samples: Vec<u64>,
    pub samples_total: u64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Counted {
    pub value: String,
    pub count: u64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Exception {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
    pub stack: Vec<Frame>,
}

/// What a process has counted.
#[derive(Debug, Clone, Deserialize)]
pub struct End {
    /// Calls that some contract speaks of.
    pub calls: u64,
    pub contracts: Vec<Judged>,
    /// Where the contract of a finding's rule held.
    pub held: Vec<Place>,
    pub compiled_calls: u64,
    /// Whether CUDA was used.
    pub gpu: bool,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Judged {
    pub code: String,
    pub calls: u64,
    pub seconds: f64,
}

/// A line, and the code of a contract that judged a call there.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
pub struct Place {
    pub code: String,
    pub filename: String,
    pub line: usize,
}

/// Reads what was reported. A line that was cut short by the end of its process is left out.
pub fn read(path: &Path) -> Vec<Line> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    lines.filter(|line| line.version == VERSION).collect()
}
