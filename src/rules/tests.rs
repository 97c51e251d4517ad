use super::*;
use crate::diagnostic::Severity;

const HEAD: &str = r#"# MY001 empty-batch

A batch without
samples.

```toml
severity = "warning"
since = "1.0"
fix = "none"
contract-of = [
    "mylib.step",  # ours
]
cpu = 'ValueError: empty \d+'
```

"#;

/// The head of the same page in the older form.
const OLD_HEAD: &str = r#"+++
code = "MY001"
summary = "a batch without samples"
severity = "warning"
since = "1.0"
fix = "none"
contract-of = ["mylib.step"]
cpu = 'ValueError: empty \d+'
+++
"#;

const SECTIONS: &str = r#"## What it does
Text.

## Why is this bad
Text.

## Example
```python
mylib.step(torch.empty(0, 3))  # warning
```

## Use instead
```python
mylib.step(torch.empty(2, 3))
```

## Contract
```python
def step(batch):
    require(batch.shape[0] > 0, "empty")
## no title
```
"#;

fn load(text: &str) -> Result<Rules, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("empty-batch.md");
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let mut rules = Rules::builtin();
    rules.load_user(&file, Path::new("page.md")).map(|()| rules)
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
    for (head, line, summary) in [(HEAD, 34, "A batch without samples"), (OLD_HEAD, 28, "a batch without samples")] {
        for line_end in ["\n", "\r\n"] {
            let rules = load(&format!("{head}{SECTIONS}").replace('\n', line_end)).unwrap();
            let page = rules.find("MY001").unwrap();
            assert_eq!((&*page.name, &*page.summary), ("empty-batch", summary));
            assert_eq!(page.severity, Severity::Warning);
            assert_eq!(page.contract_of, ["mylib.step"]);
            assert_eq!(page.cpu.as_deref(), Some(r"ValueError: empty \d+"));
            let contract = page.contract().unwrap();
            assert!(contract.trim_end().ends_with("## no title"));
            assert_eq!(page.line_of(contract), line);
            assert!(page.body().starts_with("## What it does"));
        }
    }
}

#[test]
fn faults_carry_their_line() {
    let fault = |from: &str, to: &str| load(&format!("{HEAD}{SECTIONS}").replace(from, to)).unwrap_err();
    assert_eq!(
        fault("# MY001 empty-batch\n", "\n"),
        "page.md:1: a page must begin with its title, `# CODE name-of-the-rule`"
    );
    assert_eq!(fault("MY001", "TV999"), "page.md:1: codes that begin with TV are reserved for torchvet");
    assert_eq!(fault("MY001", "my1"), "page.md:1: code `my1` must be capital letters followed by three digits");
    assert_eq!(
        fault("empty-batch", "full-batch"),
        "page.md:1: the title names the rule `full-batch`, but the file is `empty-batch.md`"
    );
    assert_eq!(
        fault("A batch without\nsamples.\n", ""),
        "page.md:1: the summary is missing: one sentence between the title and the ```toml block"
    );
    assert_eq!(
        fault("```toml", "```"),
        "page.md:1: there is no ```toml block with the metadata before the first section"
    );
    // Without its closing fence, the block extends to the first fence of the sections.
    assert_eq!(fault("\\d+'\n```\n", "\\d+'\n"), "page.md:16: key with no value, expected `=`");
    assert_eq!(
        fault("\"warning\"", "\"fatal\""),
        "page.md:7: unknown variant `fatal`, expected one of `error`, `warning`, `info`"
    );
    assert!(fault("since", "sinc").starts_with("page.md:8: unknown field `sinc`, expected one of `severity`, "));
    assert_eq!(fault("since = \"1.0\"\n", ""), "page.md:6: missing field `since`");
    assert_eq!(
        fault("since = \"1.0\"", "since = \"1\"\ncode = \"MY001\""),
        "page.md:9: `code` belongs in the title of the page, not in the block"
    );
    assert_eq!(
        fault("since = \"1.0\"", "since = \"1\"\nsummary = \"Batch without samples.\""),
        "page.md:9: `summary` belongs above the block, as the sentence below the title"
    );
    assert_eq!(fault("\"1.0\"", "\"1.0"), "page.md:8: invalid basic string, expected `\"`");
    assert_eq!(fault("\"1.0\"", "1"), "page.md:8: invalid type: integer `1`, expected a string");
    assert_eq!(fault("\"1.0\"", "\" \""), "page.md:8: this must not be empty");
    assert_eq!(fault("since = \"1.0\"", "fix = \"none\""), "page.md:9: duplicate key");
    assert_eq!(
        fault("fix = \"none\"", "fix = \"safe\"\nset = \"a b\""),
        "page.md:10: an assignment has the form \"argument = template\""
    );
    assert_eq!(
        fault("fix = \"none\"", "fix = \"none\"\nset = \"a = 1\""),
        "page.md:1: `replace` and `set` need `fix` to be \"safe\" or \"unsafe\""
    );
    assert_eq!(
        fault("## Contract", "## Kontract"),
        "page.md:1: section `## Contract` is missing: only a page whose `contract-of` names functions has it"
    );
    assert!(fault("cpu = 'ValueError: empty \\d+'", "").starts_with("page.md:1: the page needs `cpu`"));
}

#[test]
fn faults_of_the_older_form_carry_their_line() {
    let fault = |from: &str, to: &str| load(&format!("{OLD_HEAD}{SECTIONS}").replace(from, to)).unwrap_err();
    assert_eq!(fault("MY001", "my1"), "page.md:2: code `my1` must be capital letters followed by three digits");
    assert_eq!(fault("code = \"MY001\"\n", ""), "page.md:1: missing field `code`");
    assert_eq!(
        fault("\"warning\"", "\"fatal\""),
        "page.md:4: unknown variant `fatal`, expected one of `error`, `warning`, `info`"
    );
    assert_eq!(fault("+++\n## W", "## W"), "page.md:1: the metadata is not closed by a +++ line");
}
