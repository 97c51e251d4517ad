//! torchvet vets PyTorch training scripts before they reach the GPU.
//!
//! Data flows one way:
//!
//! ```text
//! project -> syntax -> python (asks library, fills value) -> contract, rules -> diagnostic -> output
//! ```
//!
//! `tests/architecture.rs` holds the rooms to that.

pub mod analysis;
pub mod cli;
pub mod config;
pub mod contract;
pub mod diagnostic;
pub mod findings;
pub mod libraries;
pub mod library;
pub mod output;
pub mod panics;
pub mod probe;
pub mod project;
pub mod python;
pub mod rules;
pub mod selector;
pub mod server;
pub mod syntax;
pub mod value;
