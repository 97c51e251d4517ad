//! The binary: everything is in the library.

use std::process::ExitCode;

/// Interpreting makes and drops many small objects: the system's allocator takes a good part
/// of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    torchvet::main()
}
