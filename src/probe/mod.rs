//! The probe: what the checker says, held against the PyTorch that is installed.
//!
//! The Python half (`runtime/`) is embedded in the binary. It is laid into a temporary folder,
//! told what to do by `task.json` there, and answers with JSON lines (`event.rs`). So nothing
//! is ever written into the user's project but what they name.

pub mod doctor;
pub mod driver;
pub mod event;
mod harmless;
mod judge;
pub mod observe;
pub mod python;
pub mod report;
pub mod run;
pub mod runtime;
mod tensor;
pub mod verify;
mod witness;
mod worker;
