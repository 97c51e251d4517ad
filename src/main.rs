//! The binary: everything is in the library.

use std::process::ExitCode;

/// Interpreting creates and drops many small objects, so the system allocator would take a large
/// part of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    torchvet::main()
}
