//! `torchvet rule`, and rule pages of users.

use insta::assert_snapshot;

use super::sandbox::Sandbox;

const PAGE: &str = r#"# MY001 empty-batch

Batch without samples.

```toml
severity = "warning"
since = "1.0"
fix = "none"
contract-of = ["torch.mm"]
cpu = 'RuntimeError: empty'
```

## What it does
Text.

## Why is this bad
Text.

## Example
```python
torch.mm(torch.ones(0, 2), torch.ones(2, 2))  # warning
```

## Use instead
```python
torch.mm(torch.ones(1, 2), torch.ones(2, 2))
```

## Contract
```python
def not_empty(input):
    suspect(input.shape[0] > 0, "nothing is multiplied")
```
"#;

#[test]
fn a_page_is_tested() {
    let sandbox = Sandbox::new(&[("empty-batch.md", PAGE)]);
    let test = ["rule", "--python", "no-python", "--test", "empty-batch.md"];
    assert_snapshot!(sandbox.run(&test), @r"
    exit 0
    empty-batch.md: the marks in Example match the findings, Use instead has no findings
    empty-batch.md: skipped: on PyTorch: cannot run `no-python`: No such file or directory (os error 2); choose a Python with --python
    1 page tested: 0 with faults
    ");
    sandbox.write("empty-batch.md", PAGE.replace("  # warning", "\ntorch.ones(1)  # warning"));
    assert_snapshot!(sandbox.run(&test), @r"
    exit 1
    empty-batch.md:22: Example has a `# warning` mark here, but MY001 reports no warning
    empty-batch.md:21: Example has a finding without a mark: warning[MY001]
    empty-batch.md: Use instead has no findings
    empty-batch.md: skipped: on PyTorch: cannot run `no-python`: No such file or directory (os error 2); choose a Python with --python
    1 page tested: 1 with faults
    ");
    sandbox.write("empty-batch.md", PAGE.replace("torch.ones(1, 2)", "torch.ones(0, 2)"));
    assert_snapshot!(sandbox.run(&test), @r"
    exit 1
    empty-batch.md:26: Use instead has a finding without a mark: warning[MY001]
    empty-batch.md: the marks in Example match the findings
    empty-batch.md: skipped: on PyTorch: cannot run `no-python`: No such file or directory (os error 2); choose a Python with --python
    1 page tested: 1 with faults
    ");
    assert_snapshot!(sandbox.run(&["rule", "--python", "no-python", "--test", "tv103", "no-such-page.md"]), @r"
    exit 2
    rules/class-index-out-of-range.md: the marks in Example match the findings, Use instead has no findings
    rules/class-index-out-of-range.md: skipped: on PyTorch: cannot run `no-python`: No such file or directory (os error 2); choose a Python with --python
    --- stderr
    error: no-such-page.md: No such file or directory (os error 2)
    ");
}

/// `--test` tests the named file, not the page with the same name in the binary.
#[test]
fn the_named_file_is_tested() {
    let sandbox = Sandbox::new(&[]);
    let test = ["rule", "--python", "no-python", "--test", "class-index-out-of-range.md"];
    sandbox.write("class-index-out-of-range.md", PAGE.replace("empty-batch", "class-index-out-of-range"));
    assert_snapshot!(sandbox.run(&test), @r"
    exit 2
    --- stderr
    error: class-index-out-of-range.md:1: a rule named `class-index-out-of-range` already exists
    ");
    let built = std::fs::read_to_string("rules/class-index-out-of-range.md").unwrap();
    sandbox.write("class-index-out-of-range.md", &built);
    assert_snapshot!(sandbox.run(&test), @r"
    exit 0
    rules/class-index-out-of-range.md: the marks in Example match the findings, Use instead has no findings
    rules/class-index-out-of-range.md: skipped: on PyTorch: cannot run `no-python`: No such file or directory (os error 2); choose a Python with --python
    1 page tested: 0 with faults
    ");
    sandbox.write("class-index-out-of-range.md", built.replace("# error", ""));
    assert_snapshot!(sandbox.run(&test), @r"
    exit 2
    --- stderr
    error: class-index-out-of-range.md: torchvet was built with another version of this page; run `cargo build` first
    ");
    sandbox.write("class-index-out-of-range.md", built.replace("TV103", "TV199"));
    assert_snapshot!(sandbox.run(&test), @r"
    exit 2
    --- stderr
    error: class-index-out-of-range.md: torchvet was built without TV199; run `cargo build` first (codes of your own must not begin with TV)
    ");
}

#[test]
fn slips_of_the_pen_in_a_contract_are_told() {
    let sandbox = Sandbox::new(&[("a.py", "import torch\n"), ("torchvet.toml", "rules = ['empty-batch.md']\n")]);
    sandbox.write("empty-batch.md", PAGE.replace("input.shape", "input.shpae"));
    assert_snapshot!(sandbox.run(&["check"]), @r"
    exit 2
    --- stderr
    error: empty-batch.md:32:19: the attribute `.shpae` is not allowed in a contract; did you mean `shape`?
    ");
}
