//! torchvet vets PyTorch training scripts before they reach the GPU.
//!
//! Data flows one way:
//!
//! ```text
//! project -> syntax -> python (calls library, computes value) -> contract, rules -> diagnostic -> output
//! ```
//!
//! `tests/architecture.rs` checks that the modules follow this order.

mod analysis;
mod cli;
mod config;
mod contract;
mod coverage;
mod diagnostic;
mod findings;
mod libraries;
mod library;
mod output;
mod panics;
mod probe;
mod project;
mod python;
mod rules;
mod selector;
mod server;
mod syntax;
mod value;

// The interface for `main.rs` and the tests. Everything else is private, so that the compiler finds
// unused items.
pub use cli::main;
pub use config::schema;
pub use project::DEFAULT_EXCLUDES;
pub use rules::{FixKind, Page, Rules};
