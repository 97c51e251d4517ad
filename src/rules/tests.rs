use std::io::Write as _;

use super::*;
use crate::diagnostic::Severity;

const PAGE: &str = r#"+++
code = "MY001"
summary = "a batch without samples"
severity = "warning"
since = "1.0"
fix = "none"
contract-of = [
    "mylib.step",  # ours
]
cpu = 'ValueError: empty \d+'
+++
## What it does
Text.

## Why is this bad
Text.

## Contract
```python
def step(batch):
    require(batch.shape[0] > 0, "empty")
## no title
```

## Example
```python
mylib.step(torch.empty(0, 3))  # warning
```

## Use instead
```python
mylib.step(torch.empty(2, 3))
```
"#;

fn load(text: &str) -> Result<Rules, String> {
    let mut file =
        tempfile::Builder::new().prefix("empty-batch").suffix(".md").tempfile().map_err(|e| e.to_string())?;
    file.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    let mut rules = Rules::builtin();
    rules.load_user(file.path(), Path::new("page.md")).map(|()| rules)
}

#[test]
fn every_builtin_page_is_read() {
    let rules = Rules::builtin();
    assert_eq!(rules.pages.len(), table::PAGES.len());
    for page in &rules.pages {
        assert_eq!(rules.find(&page.code).map(|found| &found.name), Some(&page.name));
        assert_eq!(page.contract().is_some(), !page.contract_of.is_empty(), "{}", page.name);
    }
}

#[test]
fn a_user_page_is_added() {
    let rules = load(PAGE).unwrap();
    let page = rules.find("MY001").unwrap();
    assert_eq!(page.severity, Severity::Warning);
    assert_eq!(page.contract_of, ["mylib.step"]);
    assert_eq!(page.cpu.as_deref(), Some(r"ValueError: empty \d+"));
    let contract = page.contract().unwrap();
    assert!(contract.ends_with("## no title\n"));
    assert_eq!(page.line_of(contract), 20);
    assert!(page.body().starts_with("## What it does"));
}

#[test]
fn faults_carry_their_line() {
    let fault = |from: &str, to: &str| load(&PAGE.replace(from, to)).unwrap_err();
    assert_eq!(fault("MY001", "TV999"), "page.md:2: codes that begin with TV are torchvet's own");
    assert_eq!(fault("MY001", "my1"), "page.md:2: code `my1` is not capital letters followed by three digits");
    assert_eq!(
        fault("\"warning\"", "\"fatal\""),
        "page.md:4: `severity` is \"fatal\"; it must be one of error, warning, info"
    );
    assert!(fault("since", "sinc").starts_with("page.md:5: unknown key `sinc`; the keys are code, "));
    assert_eq!(fault("since = \"1.0\"\n", ""), "page.md:10: missing key `since`");
    assert_eq!(fault("\"1.0\"", "\"1.0"), "page.md:5: the string does not end on its line");
    assert_eq!(fault("since = \"1.0\"", "fix = \"none\""), "page.md:6: key `fix` is given twice");
    assert_eq!(fault("## Contract", "## Kontract"), "page.md:2: no `## Contract`: `contract-of` says whom it judges");
    assert!(fault("cpu = 'ValueError: empty \\d+'", "").starts_with("page.md:2: neither `cpu`"));
    assert_eq!(fault("+++\n## W", "## W"), "page.md:12: expected `key = value` or the closing `+++`");
}
