//! docs/DEVICE-ASSERTS.md: the page that covers each assert of PyTorch's CUDA kernels.
//!
//! docs/device-asserts.toml lists the asserts; the pages name those that they cover in `asserts`.
//! Each assert must have a page, or a reason why no page can cover it (`unseen`). `UPDATE=1`
//! rewrites the table.

use std::fmt::Write as _;
use std::fs;

use torchvet::Rules;

const LIST: &str = "docs/device-asserts.toml";
const TABLE: &str = "docs/DEVICE-ASSERTS.md";
const HEAD: &str = "\
# Device-side asserts

If a kernel of PyTorch causes `CUDA error: device-side assert triggered`, the assert of this kernel is in the table \
below. The table lists all asserts in PyTorch's CUDA kernels. For each assert, it names the pages that cover it, or \
the reason why no rule does. The last row contains the asserts that no Python program can trigger. CUDA prints the \
condition of the assert between backticks, after the file and the line number; the line number differs between \
releases. `torchvet rule CODE` explains a rule.

The conditions were read from the binaries of PyTorch 2.15 or from the source of 2.6; the messages of the CPU come from \
calls on 2.15. [verified-on-cuda.md](verified-on-cuda.md) shows which asserts were triggered on a GPU. The table is \
generated from [device-asserts.toml](device-asserts.toml) and the pages.

| reached by | file | condition | on the CPU | page |
| --- | --- | --- | --- | --- |
";

#[test]
fn every_assert_has_a_page_or_a_reason() {
    let list = fs::read_to_string(LIST).expect("the list is readable");
    // A `toml::Table` does not keep the order of the file.
    let ids: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')).collect();
    let list: toml::Table = list.parse().expect("the list is TOML");
    assert_eq!(ids.len(), list.len(), "{LIST}: a name in unusual brackets");
    let rules = Rules::builtin();
    for page in &rules.pages {
        for id in &page.asserts {
            assert!(list.contains_key(id), "rules/{}.md claims {id:?}, which {LIST} does not list", page.name);
        }
    }
    let mut table = HEAD.to_owned();
    for (id, entry) in ids.iter().filter_map(|id| list.get_key_value(*id)) {
        let text = |key: &str| entry.get(key).and_then(toml::Value::as_str);
        let given = |key: &str| text(key).unwrap_or_else(|| panic!("{LIST}: {id} has no `{key}`"));
        assert!(
            matches!(given("seen"), "binary" | "source" | "header"),
            "{LIST}: {id}: `seen` must be binary, source or header"
        );
        let pages: Vec<String> = rules
            .pages
            .iter()
            .filter(|page| page.asserts.contains(id))
            .map(|page| format!("[{}](../rules/{}.md)", page.code, page.name))
            .collect();
        let speaks = match (pages.is_empty(), text("unseen")) {
            (false, None) => pages.join(", "),
            (true, Some(reason)) => format!("none: {reason}"),
            (true, None) => panic!("{LIST}: {id} has neither a page nor a reason (`unseen`)"),
            (false, Some(_)) => panic!("{LIST}: {id} is claimed by {}: its `unseen` is stale", pages.join(", ")),
        };
        let code = |key: &str| format!("`` {} ``", given(key).replace('|', "\\|").replace('\n', "\\n"));
        let (condition, cpu) = (code("condition"), if given("cpu") == "none" { "–".to_owned() } else { code("cpu") });
        let (reached, file) = (given("reached"), given("file"));
        let _ = writeln!(table, "| {reached} | {file} | {condition} | {cpu} | {speaks} |");
    }
    let found = fs::read_to_string(TABLE).unwrap_or_default();
    if found != table {
        assert!(
            std::env::var_os("UPDATE").is_some(),
            "{TABLE} is no longer true: `UPDATE=1 cargo test --test device_asserts` rewrites it"
        );
        fs::write(TABLE, table).expect("the table is written");
    }
}
