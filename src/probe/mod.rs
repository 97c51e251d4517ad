//! The probe: tests findings and programs on the installed PyTorch.
//!
//! The Python half (`runtime/`) is embedded in the binary. It is written to a temporary folder,
//! gets its task from `task.json` there, and answers with JSON lines (`event.rs`). So nothing is
//! ever written to the user's project, except files that the user names.

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
