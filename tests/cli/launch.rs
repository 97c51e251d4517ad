//! Environment variables that are set in files that launch programs.

use crate::sandbox::Sandbox;

const CONCISE: &[&str] = &["check", "--isolated", "--output-format", "concise"];

fn said(sandbox: &Sandbox, more: &[&str]) -> String {
    sandbox.run(&[CONCISE, more].concat())
}

#[test]
fn a_variable_left_on_is_found_where_it_is_set() {
    let sandbox = Sandbox::new(&[
        ("Dockerfile", "FROM base\nENV OMP_NUM_THREADS=4 \\\n    CUDA_LAUNCH_BLOCKING=1\n"),
        ("jobs/train.sh", "export CUDA_LAUNCH_BLOCKING=1  # torchvet: ignore[TV002]\n"),
        ("deploy.yml", "x: 1\n"),
        ("train.py", "x = 1\n"),
    ]);
    let report = said(&sandbox, &[]);
    assert!(report.contains("Dockerfile:3:5: warning[TV002]"), "{report}");
    // `deploy.yml` mentions no variable that a rule checks, so it is not one of the checked files.
    assert!(!report.contains("train.sh") && report.contains("Found 1 warning in 1 file (checked 3)"), "{report}");
    let named = said(&sandbox, &["Dockerfile"]);
    assert!(named.contains("Dockerfile:3:5: warning[TV002]"), "{named}");
    let ignored = said(&sandbox, &["--ignore", "TV002"]);
    assert!(ignored.contains("exit 0"), "{ignored}");
}

#[test]
fn a_malformed_one_is_skipped_with_a_note() {
    let sandbox = Sandbox::new(&[("train.py", "x = 1\n")]);
    sandbox.write("run.sh", b"export CUDA_LAUNCH_BLOCKING=1 \xff\n");
    sandbox.write("odd.yaml", b"\xff\xfe\x00");
    let quiet = said(&sandbox, &[]);
    assert!(quiet.contains("exit 0") && !quiet.contains("run.sh"), "{quiet}");
    let verbose = said(&sandbox, &["--verbose"]);
    assert!(verbose.contains("note: skipped run.sh:1:31: invalid UTF-8"), "{verbose}");
}
