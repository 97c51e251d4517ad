//! The probe: tests findings and programs on the installed PyTorch.
//!
//! The Python half (`runtime/`) is embedded in the binary, and answers with JSON lines. For a run
//! of a program, it is written to a temporary folder, and gets its task from `task.json` there
//! (`event.rs` reads its answers). For witnesses and for the doctor, it is sent to Python through
//! standard input (`worker.rs`). So the probe itself writes nothing to the user's project, except
//! files that the user names.

pub(crate) mod doctor;
pub(crate) mod driver;
pub(crate) mod event;
mod harmless;
mod judge;
pub(crate) mod observe;
pub(crate) mod python;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runtime;
mod tensor;
pub(crate) mod verify;
mod witness;
mod worker;
