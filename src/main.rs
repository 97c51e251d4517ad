use std::process::ExitCode;

fn main() -> ExitCode {
    torchvet::cli::main()
}
