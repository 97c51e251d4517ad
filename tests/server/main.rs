//! `torchvet server`: a client sends the messages of an editor over standard input and output.

mod client;
mod random;

use std::fs;
use std::path::Path;

use client::{Client, apply, folder, range};
use serde_json::{Value, json};

/// A loss with three classes and a target of 3.
const BUGGY: &str = "\
import torch
import torch.nn.functional as F
logits = torch.randn(4, 3)
target = torch.tensor([0, 1, 3, 2])
loss = F.cross_entropy(logits, target)
";

fn push() -> Value {
    json!({"textDocument": {"publishDiagnostics": {}}})
}

fn pull() -> Value {
    json!({"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": true}}})
}

#[test]
fn open_edit_undo_close() {
    let (_keep, dir) = folder(&[("train.py", BUGGY)]);
    let mut client = Client::start(&dir, push(), Value::Null);
    assert_eq!(client.answer["capabilities"]["positionEncoding"], "utf-16");
    let uri = client.open(&dir.join("train.py"), BUGGY);
    assert_eq!(client.found(&uri), ["TV103 4:7"]);
    let (version, found) = client.published[&uri].clone();
    assert_eq!(version, Some(1));
    let found = &found[0];
    assert_eq!((&found["severity"], &found["source"]), (&json!(1), &json!("torchvet")));
    assert!(found["message"].as_str().unwrap().contains("target holds 3"), "{found}");
    assert!(found["codeDescription"]["href"].as_str().unwrap().ends_with("/class-index-out-of-range.md"));
    let related = found["relatedInformation"].as_array().unwrap();
    assert!(related.iter().any(|label| label["location"]["range"]["start"]["line"] == 3), "{found}");
    // Replaces `4, 3` with `4, 5`: one change deletes a character, the other inserts one.
    client.change(
        &uri,
        2,
        json!([{"range": range([2, 24, 2, 25]), "text": ""}, {"range": range([2, 24, 2, 24]), "text": "5"}]),
    );
    assert_eq!(client.found(&uri), [""; 0]);
    assert_eq!(client.published[&uri].0, Some(2));
    client.change(&uri, 3, json!([{"range": range([2, 24, 2, 25]), "text": "3"}]));
    assert_eq!(client.found(&uri), ["TV103 4:7"]);
    client.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    assert_eq!(client.found(&uri), ["TV103 4:7"]);
    client.close(&uri);
    assert!(client.clears(&uri));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn broken_code_while_typing() {
    let (_keep, dir) = folder(&[("train.py", BUGGY)]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let uri = client.open(&dir.join("train.py"), BUGGY);
    let mut version = 1;
    let mut typed = BUGGY.to_owned();
    for c in "def f(x:\n    return x[".chars() {
        version += 1;
        typed.push(c);
        let text = c.to_string();
        let end = typed.matches('\n').count() as u64;
        let (line, column) = if c == '\n' { (end - 1, "def f(x:".len() as u64) } else { (end, column(&typed) - 1) };
        client.change(&uri, version, json!([{"range": range([line, column, line, column]), "text": text}]));
    }
    let found = client.found(&uri);
    assert!(
        found.contains(&"TV103 4:7".to_owned()),
        "the code before the syntax error must still be checked: {found:?}"
    );
    assert!(found.iter().any(|one| one.starts_with("invalid-syntax")), "{found:?}");
    assert_eq!(client.published[&uri].0, Some(version));
    for (version, text) in (100..).zip(["", "(((((", "\u{feff}", "\r\r\n", "def", "'''", "\0"]) {
        client.set(&uri, version, text);
    }
    client.found(&uri);
    assert_eq!(client.end(), Some(0));
}

/// The number of UTF-16 units after the last line break.
fn column(text: &str) -> u64 {
    text.rsplit('\n').next().unwrap().encode_utf16().count() as u64
}

#[test]
fn positions_count_what_was_agreed() {
    let text = "import torch; import torch.nn.functional as F; l, t = torch.randn(4, 3), torch.tensor([3])\n'😀é'; x = F.cross_entropy(l[:1], t); '😀'\n";
    let (_keep, dir) = folder(&[]);
    let of = |encodings: Value, start: u64, end: u64, name: &str| {
        let mut client = Client::start(&dir, json!({"general": {"positionEncodings": encodings}}), Value::Null);
        assert_eq!(client.answer["capabilities"]["positionEncoding"], name);
        let uri = client.open(&dir.join("a.py"), text);
        client.settle(&[&uri]);
        let found = client.published[&uri].1[0]["range"].clone();
        assert_eq!(found, range([1, start, 1, end]), "{name}");
        // An edit after the emoji: `[:1]` becomes `[:0]`.
        client.change(&uri, 2, json!([{"range": range([1, start + 19, 1, start + 20]), "text": "0"}]));
        let hover = client.hover(&uri, 1, start + 21);
        assert!(hover.contains("float32[0, 3]"), "{hover}");
    };
    of(json!(["utf-16"]), 11, 36, "utf-16");
    of(json!(["utf-16", "utf-8"]), 14, 39, "utf-8");
    of(Value::Null, 11, 36, "utf-16");
}

#[test]
fn unsaved_buffers_shadow_the_disk_in_imports() {
    let model = "import torch\ndef target():\n    return torch.tensor([0, 1, 3, 2])\n";
    let train = "import torch\nimport torch.nn.functional as F\nfrom model import target\nloss = F.cross_entropy(torch.randn(4, 3), target())\n";
    let (_keep, dir) = folder(&[("train.py", train), ("model.py", model)]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let uri = client.open(&dir.join("train.py"), train);
    assert_eq!(client.found(&uri), ["TV103 3:7"]);
    // `model.py` is opened with the text on disk: nothing changes. It is edited but not saved: the
    // finding is gone.
    let other = client.open(&dir.join("model.py"), model);
    assert_eq!(client.found(&uri), ["TV103 3:7"]);
    client.set(&other, 2, &model.replace('3', "2"));
    client.settle(&[&other]);
    assert_eq!(client.found(&uri), [""; 0]);
    // The buffer is renamed to `new.py` but not saved: `model` is the file on disk again, and `new`
    // is the buffer.
    client.close(&other);
    let renamed = client.open(&dir.join("new.py"), &model.replace('3', "2"));
    assert_eq!(client.found(&uri), ["TV103 3:7"]);
    client.set(&uri, 2, &train.replace("from model", "from new"));
    assert_eq!(client.found(&uri), [""; 0]);
    client.set(&renamed, 2, model);
    client.settle(&[&renamed]);
    assert_eq!(client.found(&uri), ["TV103 3:7"]);
    client.close(&renamed);
    assert_eq!(client.found(&uri), [""; 0], "there is no `new` any more");
}

#[test]
fn findings_in_files_that_are_not_open() {
    let model = "import torch.nn.functional as F\ndef loss(x, y):\n    return F.cross_entropy(x, y)\n";
    let train = "import torch\nfrom model import loss\nloss(torch.randn(4, 3), torch.tensor([0, 1, 3, 2]))\n";
    let (_keep, dir) = folder(&[("train.py", train), ("model.py", model)]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let uri = client.open(&dir.join("train.py"), train);
    client.settle(&[&uri]);
    let other = client::uri(&dir.join("model.py"));
    assert_eq!(client.found(&other), ["TV103 2:11"]);
    // If `model.py` is opened, its finding stays; an ignore comment in its buffer is respected.
    client.open(&dir.join("model.py"), model);
    client.settle(&[&other]);
    assert_eq!(client.found(&other), ["TV103 2:11"]);
    client.set(&other, 2, &model.replace("(x, y)\n", "(x, y)  # torchvet: ignore[TV103]\n"));
    client.settle(&[&uri, &other]);
    assert_eq!(client.found(&other), [""; 0]);
    client.close(&uri);
    assert_eq!(client.found(&other), ["unused-ignore 2:53"]);
}

#[test]
fn two_folders_with_settings_of_their_own() {
    let (_one, one) = folder(&[("torchvet.toml", "ignore = ['TV103']\n"), ("a.py", BUGGY)]);
    let (_two, two) = folder(&[("pyproject.toml", "[tool.torchvet.severity]\nTV103 = 'info'\n"), ("a.py", BUGGY)]);
    let mut client = Client::start_in(&[&one, &two], push(), Value::Null);
    let first = client.open(&one.join("a.py"), BUGGY);
    let second = client.open(&two.join("a.py"), BUGGY);
    assert_eq!(client.found(&first), [""; 0]);
    assert_eq!(client.found(&second), ["TV103 4:7"]);
    assert_eq!(client.published[&second].1[0]["severity"], 3);
    let added = json!({"event": {"added": [], "removed": [{"uri": client::uri(&one), "name": "one"}]}});
    client.notify("workspace/didChangeWorkspaceFolders", added);
    assert_eq!(client.found(&second), ["TV103 4:7"]);
}

#[test]
fn changed_settings_are_read_again() {
    let (_keep, dir) = folder(&[("torchvet.toml", ""), ("a.py", BUGGY)]);
    let mut able = push();
    able["workspace"] = json!({"didChangeWatchedFiles": {"dynamicRegistration": true}});
    let mut client = Client::start(&dir, able, json!({"settings": {"select": null}}));
    assert!(client.hears("client/registerCapability", "pyproject,torchvet"));
    let uri = client.open(&dir.join("a.py"), BUGGY);
    assert_eq!(client.found(&uri), ["TV103 4:7"]);
    let write = |client: &mut Client, text: &str| {
        fs::write(dir.join("torchvet.toml"), text).unwrap();
        let changes = json!([{"uri": client::uri(&dir.join("torchvet.toml")), "type": 2}]);
        client.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
    };
    write(&mut client, "ignore = ['TV1']\n");
    assert_eq!(client.found(&uri), [""; 0]);
    write(&mut client, "ignore = [\n");
    assert!(client.hears("window/showMessage", "torchvet.toml:"));
    assert_eq!(client.found(&uri), ["TV103 4:7"], "an invalid settings file must be ignored");
    write(&mut client, "");
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"torchvet": {"ignore": ["TV103"]}}}));
    assert_eq!(client.found(&uri), [""; 0]);
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"torchvet": {"enable": true}}}));
    assert_eq!(client.found(&uri), ["TV103 4:7"]);
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"torchvet": {"enable": false}}}));
    assert_eq!(client.found(&uri), [""; 0]);
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"torchvet": {"select": ["TV999"]}}}));
    assert!(client.hears("window/showMessage", "TV999"));
}

#[test]
fn files_that_change_on_disk() {
    let train = BUGGY
        .replace("torch.tensor([0, 1, 3, 2])", "torch.tensor(__import__('x'))")
        .replace("loss", "from values import target\nloss");
    let (_keep, dir) = folder(&[("train.py", &train)]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let uri = client.open(&dir.join("train.py"), &train);
    assert_eq!(client.found(&uri), [""; 0]);
    for (kind, target, wanted) in [(1, "3", 1), (2, "2", 0), (2, "3", 1)] {
        fs::write(dir.join("values.py"), format!("import torch\ntarget = torch.tensor([0, 1, {target}, 2])\n"))
            .unwrap();
        let changes = json!([{"uri": client::uri(&dir.join("values.py")), "type": kind}]);
        client.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
        assert_eq!(client.found(&uri).len(), wanted, "{target}");
    }
}

#[test]
fn pulled_findings() {
    let (_keep, dir) = folder(&[("train.py", BUGGY)]);
    let mut client = Client::start(&dir, pull(), Value::Null);
    assert_eq!(client.answer["capabilities"]["diagnosticProvider"]["interFileDependencies"], true);
    let uri = client.open(&dir.join("train.py"), BUGGY);
    let report = client.diagnose(&uri, None);
    assert_eq!(report["kind"], "full");
    assert_eq!(report["items"][0]["code"], "TV103");
    let id = report["resultId"].as_str().unwrap().to_owned();
    assert_eq!(client.diagnose(&uri, Some(&id))["kind"], "unchanged");
    client.set(&uri, 2, &BUGGY.replace("4, 3)", "4, 5)"));
    let report = client.diagnose(&uri, Some(&id));
    assert_eq!((&report["kind"], &report["items"]), (&json!("full"), &json!([])));
    assert!(
        client.published.is_empty(),
        "findings must not also be published to a client that requests them: {:?}",
        client.published
    );
    assert_eq!(client.diagnose("file:///not/open.py", None)["items"], json!([]));
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"ignore": ["TV103"]}}));
    assert!(client.hears("workspace/diagnostic/refresh", ""));
}

#[test]
fn pulled_findings_wait_for_those_who_import() {
    let model = "import torch.nn.functional as F\ndef loss(x, y):\n    return F.cross_entropy(x, y)\n";
    let train = "import torch\nfrom model import loss\nloss(torch.randn(4, 3), torch.tensor([0, 1, 3, 2]))\n";
    let (_keep, dir) = folder(&[("train.py", train), ("model.py", model)]);
    let mut client = Client::start(&dir, pull(), Value::Null);
    let script = client.open(&dir.join("train.py"), train);
    assert_eq!(client.diagnose(&script, None)["items"], json!([]));
    let other = client::uri(&dir.join("model.py"));
    assert_eq!(client.found(&other), ["TV103 2:11"], "findings in a file that is not open must be published");
    client.open(&dir.join("model.py"), model);
    for version in 2..20 {
        client.set(&other, version, &format!("{model}# {version}\n"));
        let report = client.diagnose(&other, None);
        assert_eq!(report["items"].as_array().unwrap().len(), 1, "{report}");
    }
    assert!(client.clears(&other), "the published findings must be removed");
}

#[test]
fn files_that_launch_programs() {
    let (_keep, dir) = folder(&[]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let uri = client.open(&dir.join("run.sh"), "export CUDA_LAUNCH_BLOCKING=1\npython train.py\n");
    assert_eq!(client.found(&uri), ["TV002 0:7"]);
    // Files that are neither Python files nor launch files have no findings.
    let mut other = |name: &str, language: &str| {
        let uri = client::uri(&dir.join(name));
        let item = json!({"uri": uri, "languageId": language, "version": 1, "text": "if [ $1 ]; then (\n"});
        client.notify("textDocument/didOpen", json!({"textDocument": item}));
        client.set(&uri, 2, "fi fi (\n");
        client.found(&uri)
    };
    assert_eq!(other("bashrc", "shellscript"), [""; 0]);
    assert_eq!(other("nb.ipynb", "json"), [""; 0]);
    assert!(!other("script", "python").is_empty());
}

#[test]
fn quick_fixes_and_ignores() {
    let text = "import torch\nimport torch.nn as nn\n# 😀\nmodel, d = nn.Linear(2, 3), 'cuda'\nx = torch.randn(4, 2)\nx.to('cuda')\n";
    let (_keep, dir) = folder(&[]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let uri = client.open(&dir.join("a.py"), text);
    assert_eq!(client.found(&uri), ["TV302 5:0"]);
    let actions = client.actions(&uri, [5, 3, 5, 3], Some("quickfix"));
    let titles: Vec<&str> = actions.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles.last(), Some(&"Ignore TV302 here"), "{titles:?}");
    assert_eq!(actions[0]["diagnostics"][0]["code"], "TV302");
    let ignored = apply(actions.last().unwrap(), &uri, text);
    assert!(ignored.contains("x.to('cuda')  # torchvet: ignore[TV302]\n"), "{ignored}");
    let fixed = apply(&actions[0], &uri, text);
    for (version, after) in [(2, &ignored), (3, &fixed)] {
        client.set(&uri, version, after);
        assert_eq!(client.found(&uri), [""; 0], "{after}");
    }
    assert!(client.actions(&uri, [0, 0, 0, 0], Some("quickfix")).is_empty());
    assert!(client.actions(&uri, [0, 0, 99, 0], Some("refactor")).is_empty());
}

#[test]
fn all_safe_fixes_at_once() {
    let text = "x = 1  # torchvet: ignore[TV103]\ny = 2  # torchvet: ignore[TV104]\nz = 3\n";
    let (_keep, dir) = folder(&[]);
    let able = json!({"workspace": {"workspaceEdit": {"documentChanges": true}}});
    let mut client = Client::start(&dir, able, Value::Null);
    let uri = client.open(&dir.join("a.py"), text);
    for only in ["source.fixAll.torchvet", "source.fixAll", "source"] {
        let actions = client.actions(&uri, [0, 0, 0, 0], Some(only));
        assert_eq!(actions.len(), 1, "{only}");
        assert_eq!(actions[0]["kind"], "source.fixAll.torchvet");
        assert_eq!(actions[0]["edit"]["documentChanges"][0]["textDocument"]["version"], 1);
        assert_eq!(apply(&actions[0], &uri, text), "x = 1\ny = 2\nz = 3\n");
    }
    assert!(client.actions(&uri, [0, 0, 0, 0], None).iter().all(|action| action["kind"] == "quickfix"));
}

#[test]
fn hover_tells_facts_and_where_they_come_from() {
    let text = "import torch\nimport torch.nn as nn\nnet = nn.Linear(5, 3).to('cuda')\nfor _ in range(2):\n    logits = net(torch.randn(8, 5, device='cuda'))\n    y = logits.softmax(1).argmax(1)  # torchvet: ignore[TV103]\n";
    let (_keep, dir) = folder(&[]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let uri = client.open(&dir.join("model.py"), text);
    let hover = client.hover(&uri, 5, 10);
    assert!(hover.contains("logits: float32[8, 3] cuda"), "{hover}");
    assert!(hover.contains("from `") && hover.contains("[model.py:"), "{hover}");
    let target = client.hover(&uri, 4, 5);
    assert!(target.contains("logits: float32[8, 3]"), "{target}");
    let module = client.hover(&uri, 4, 14);
    assert!(module.contains("net: torch.nn.") && module.contains("Linear(…)"), "{module}");
    assert_eq!(client.hover(&uri, 4, 18), "", "that `torch` is `torch` is no news");
    let page = client.hover(&uri, 5, 60);
    assert!(page.contains("**class-index-out-of-range**") && page.contains("## Why is this bad"), "{page}");
    assert_eq!(client.hover(&uri, 3, 1), "");
    assert_eq!(client.hover(&uri, 99, 99), "");
}

#[test]
fn facts_of_a_function_are_those_of_its_caller() {
    let model = "def step(x):\n    y = x * 2\n    return y\n";
    let train = "import torch\nfrom model import step\nz = step(torch.zeros(2, 7))\n";
    let (_keep, dir) = folder(&[("model.py", model), ("train.py", train)]);
    let mut client = Client::start(&dir, push(), json!({"inlayHints": "all"}));
    let uri = client.open(&dir.join("model.py"), model);
    assert_eq!(client.hover(&uri, 2, 11), "");
    let other = client.open(&dir.join("train.py"), train);
    client.settle(&[&other]);
    let hover = client.hover(&uri, 2, 11);
    assert!(hover.contains("y: float32[2, 7]"), "{hover}");
    assert_eq!(client.hints(&uri), ["1:5 : float32[2, 7] cpu"]);
}

#[test]
fn inlay_hints() {
    let text = "import torch\nx = torch.zeros(2, 3)\nx = x + 1\nx = x.T\nn = 3\n";
    let (_keep, dir) = folder(&[]);
    let hints = |which: &str| {
        let mut client = Client::start(&dir, push(), json!({"settings": {"inlayHints": which}}));
        let uri = client.open(&dir.join("a.py"), text);
        client.hints(&uri)
    };
    assert_eq!(hints("off"), [""; 0]);
    assert_eq!(hints("onChange"), ["1:1 : float32[2, 3] cpu", "3:1 : float32[3, 2] cpu"]);
    assert_eq!(hints("all"), ["1:1 : float32[2, 3] cpu", "2:1 : float32[2, 3] cpu", "3:1 : float32[3, 2] cpu"]);
}

fn cell(number: u64) -> String {
    format!("vscode-notebook-cell:/nb.ipynb#{number}")
}

#[test]
fn notebooks() {
    let (_keep, dir) = folder(&[]);
    let mut client = Client::start(&dir, push(), json!({"inlayHints": "all"}));
    let sources = [
        "import torch\nimport torch.nn.functional as F\n",
        "%matplotlib inline\nlogits = torch.randn(4, 3)",
        "F.cross_entropy(logits, torch.tensor([0, 1, 3, 2]))",
    ];
    let item =
        |number: u64, text: &str| json!({"uri": cell(number), "languageId": "python", "version": 1, "text": text});
    let texts: Vec<Value> = sources.iter().zip(1..).map(|(text, number)| item(number, text)).collect();
    let cells: Vec<Value> = (1..=3).map(|number| json!({"kind": 2, "document": cell(number)})).collect();
    let notebook = client::uri(&dir.join("nb.ipynb"));
    let opened = json!({"uri": notebook, "notebookType": "jupyter-notebook", "version": 1, "cells": cells});
    client.notify("notebookDocument/didOpen", json!({"notebookDocument": opened, "cellTextDocuments": texts}));
    assert_eq!(client.found(&cell(3)), ["TV103 0:0"]);
    assert_eq!(client.found(&cell(1)), [""; 0]);
    let related = client.published[&cell(3)].1[0]["relatedInformation"].clone();
    assert!(related.as_array().unwrap().iter().any(|label| label["location"]["uri"] == cell(2)), "{related}");
    assert!(client.hover(&cell(2), 1, 2).contains("float32[4, 3]"));
    assert_eq!(client.hints(&cell(2)), ["1:6 : float32[4, 3] cpu"]);
    let actions = client.actions(&cell(3), [0, 0, 0, 0], None);
    assert!(apply(actions.last().unwrap(), &cell(3), sources[2]).ends_with("2]))  # torchvet: ignore[TV103]"));

    let change = |client: &mut Client, version: u64, cells: Value| {
        let document = json!({"uri": notebook, "version": version});
        client.notify("notebookDocument/didChange", json!({"notebookDocument": document, "change": {"cells": cells}}));
    };
    // Edits a cell, inserts a text cell, swaps two cells, and deletes one.
    let text = json!([{"document": {"uri": cell(2), "version": 2}, "changes": [{"range": range([1, 24, 1, 25]), "text": "5"}]}]);
    change(&mut client, 2, json!({"textContent": text}));
    assert_eq!(client.found(&cell(3)), [""; 0]);
    let back = json!([{"document": {"uri": cell(2), "version": 3}, "changes": [{"range": range([1, 24, 1, 25]), "text": "3"}]}]);
    change(&mut client, 3, json!({"textContent": back}));
    assert_eq!(client.found(&cell(3)), ["TV103 0:0"]);
    let markdown = json!({"array": {"start": 0, "deleteCount": 0, "cells": [{"kind": 1, "document": cell(9)}]}, "didOpen": [item(9, "text (")]});
    change(&mut client, 4, json!({"structure": markdown}));
    assert_eq!(client.found(&cell(3)), ["TV103 0:0"]);
    let swapped = json!({"array": {"start": 2, "deleteCount": 2, "cells": [{"kind": 2, "document": cell(3)}, {"kind": 2, "document": cell(2)}]}});
    change(&mut client, 5, json!({"structure": swapped}));
    assert_eq!(client.found(&cell(3)), [""; 0], "the cell with the logits is now after the loss");
    let gone = json!({"array": {"start": 2, "deleteCount": 1}, "didClose": [{"uri": cell(3)}]});
    change(&mut client, 6, json!({"structure": gone}));
    assert_eq!(client.found(&cell(2)), [""; 0]);
    client.notify("notebookDocument/didClose", json!({"notebookDocument": {"uri": notebook}, "cellTextDocuments": []}));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_panic_is_reported_and_outlived() {
    let (_keep, dir) = folder(&[]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let other = client.open(&dir.join("b.py"), BUGGY);
    let uri = client.open(&dir.join("a.py"), BUGGY);
    assert_eq!(client.found(&uri), ["TV103 4:7"]);
    client.set(&uri, 2, &format!("{BUGGY}# torchvet-test: panic\n"));
    // Release builds do not contain the code that panics for this comment.
    if cfg!(debug_assertions) {
        assert!(client.hears("window/logMessage", "torchvet crashed"));
        assert_eq!(client.found(&uri), [""; 0]);
    }
    client.set(&uri, 3, BUGGY);
    assert_eq!(client.found(&uri), ["TV103 4:7"]);
    assert_eq!(client.found(&other), ["TV103 4:7"]);
}

#[test]
fn requests_are_cancelled_and_outdated() {
    let (_keep, dir) = folder(&[]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let long: String =
        (0..400).map(|n| format!("def f{n}(x, y):\n    z = torch.nn.functional.relu(x) @ y\n    return z\n")).collect();
    let uri = client.open(&dir.join("a.py"), &format!("{BUGGY}{long}"));
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 2, "character": 1}});
    let hover = client.send("textDocument/hover", at.clone());
    client.notify("$/cancelRequest", json!({"id": hover}));
    assert_eq!(client.response(hover)["error"]["code"], -32800);
    let outdated = client.send("textDocument/hover", at);
    client.set(&uri, 2, BUGGY);
    let answer = client.response(outdated);
    assert!(answer["error"]["code"] == -32801 || answer["result"].is_object(), "{answer}");
    assert_eq!(client.found(&uri), ["TV103 4:7"]);
    let unknown = client.send("textDocument/rename", json!({}));
    assert_eq!(client.response(unknown)["error"]["code"], -32601);
    let wrong = client.send("textDocument/hover", json!({"textDocument": 1}));
    assert_eq!(client.response(wrong)["error"]["code"], -32602);
    client.notify(
        "textDocument/didChange",
        json!({"textDocument": {"uri": "file:///no.py", "version": 1}, "contentChanges": []}),
    );
    assert!(client.hears("window/logMessage", "not open"));
}

#[test]
fn many_edits_at_once_end_in_the_last() {
    let (_keep, dir) = folder(&[]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let uri = client.open(&dir.join("a.py"), BUGGY);
    for version in 2..200 {
        let classes = if version % 2 == 0 { 3 } else { 5 };
        client.set(&uri, version, &BUGGY.replace("4, 3)", &format!("4, {classes})")));
    }
    assert_eq!(client.found(&uri), [""; 0]);
    assert_eq!(client.published[&uri].0, Some(199));
}

#[test]
fn texts_that_lie_nowhere() {
    let (_keep, dir) = folder(&[]);
    let mut client = Client::start(&dir, push(), Value::Null);
    let item = json!({"uri": "untitled:Untitled-1", "languageId": "python", "version": 1, "text": BUGGY});
    client.notify("textDocument/didOpen", json!({"textDocument": item}));
    assert_eq!(client.found("untitled:Untitled-1"), ["TV103 4:7"]);
    let other = client.open(Path::new("/no/such/folder/a.py"), BUGGY);
    assert_eq!(client.found(&other), ["TV103 4:7"]);
}

#[test]
fn excluded_files_are_passed_over() {
    let (_keep, dir) =
        folder(&[("torchvet.toml", "extend-exclude = ['gen/*.py']\n"), ("gen/a.py", BUGGY), ("build/b.py", BUGGY)]);
    let mut client = Client::start(&dir, push(), Value::Null);
    for name in ["gen/a.py", "build/b.py"] {
        let uri = client.open(&dir.join(name), BUGGY);
        assert_eq!(client.found(&uri), [""; 0], "{name}");
    }
    let uri = client.open(&dir.join("c.py"), BUGGY);
    assert_eq!(client.found(&uri), ["TV103 4:7"]);
}
