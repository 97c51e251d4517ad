//! Options for CI: formats for other programs, `--baseline`, `--diff-base`.

use std::process::Command;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, code, notebook};

const LOSS: &str = "\
import torch
import torch.nn.functional as F

logits = torch.randn(4, 3)
target = torch.tensor([0, 1, 3, 2])
loss = F.cross_entropy(logits, target)
";

const DROPPED: &str = "import torch\nx = torch.ones(3)\nx.to(torch.float64)\n";

#[test]
fn sarif_has_what_code_scanning_reads() {
    let sandbox = Sandbox::new(&[("a b/loss.py", LOSS)]);
    let output = sandbox.run(&["check", "--output-format", "sarif"]);
    let document: serde_json::Value = serde_json::from_str(output.split_once('\n').unwrap().1).unwrap();
    let run = &document["runs"][0];
    let rule = &run["tool"]["driver"]["rules"][0];
    assert_eq!(rule["id"], "TV103");
    assert_eq!(rule["name"], "ClassIndexOutOfRange");
    assert!(rule["help"]["markdown"].as_str().unwrap().starts_with("## What it does"));
    let result = serde_json::to_string_pretty(&run["results"][0]).unwrap();
    assert_snapshot!(result, @r#"
    {
      "ruleId": "TV103",
      "ruleIndex": 0,
      "level": "error",
      "message": {
        "text": "target holds 3, but the 3 classes are 0 to 2"
      },
      "locations": [
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": "a%20b/loss.py",
              "uriBaseId": "%SRCROOT%"
            },
            "region": {
              "startLine": 6,
              "startColumn": 8,
              "endLine": 6,
              "endColumn": 39
            }
          }
        }
      ],
      "partialFingerprints": {
        "torchvet/v1": "a9c251b8a95ef10398acbb26cf39a9e9"
      },
      "relatedLocations": [
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": "a%20b/loss.py",
              "uriBaseId": "%SRCROOT%"
            },
            "region": {
              "startLine": 4,
              "startColumn": 10,
              "endLine": 4,
              "endColumn": 27
            }
          },
          "message": {
            "text": "`logits` gets size 3 in dimension 1 here"
          },
          "id": 1
        },
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": "a%20b/loss.py",
              "uriBaseId": "%SRCROOT%"
            },
            "region": {
              "startLine": 5,
              "startColumn": 10,
              "endLine": 5,
              "endColumn": 36
            }
          },
          "message": {
            "text": "`target` gets the values 0 to 3 here"
          },
          "id": 2
        }
      ],
      "codeFlows": [
        {
          "threadFlows": [
            {
              "locations": [
                {
                  "location": {
                    "physicalLocation": {
                      "artifactLocation": {
                        "uri": "a%20b/loss.py",
                        "uriBaseId": "%SRCROOT%"
                      },
                      "region": {
                        "startLine": 4,
                        "startColumn": 10,
                        "endLine": 4,
                        "endColumn": 27
                      }
                    },
                    "message": {
                      "text": "`logits` gets size 3 in dimension 1 here"
                    }
                  }
                },
                {
                  "location": {
                    "physicalLocation": {
                      "artifactLocation": {
                        "uri": "a%20b/loss.py",
                        "uriBaseId": "%SRCROOT%"
                      },
                      "region": {
                        "startLine": 5,
                        "startColumn": 10,
                        "endLine": 5,
                        "endColumn": 36
                      }
                    },
                    "message": {
                      "text": "`target` gets the values 0 to 3 here"
                    }
                  }
                },
                {
                  "location": {
                    "physicalLocation": {
                      "artifactLocation": {
                        "uri": "a%20b/loss.py",
                        "uriBaseId": "%SRCROOT%"
                      },
                      "region": {
                        "startLine": 6,
                        "startColumn": 8,
                        "endLine": 6,
                        "endColumn": 39
                      }
                    },
                    "message": {
                      "text": "target holds 3, but the 3 classes are 0 to 2"
                    }
                  }
                }
              ]
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn a_cell_of_a_notebook_has_no_lines_in_sarif() {
    let sandbox = Sandbox::new(&[("nb.ipynb", &notebook(&["x = 1", LOSS]))]);
    let output = sandbox.run(&["check", "--output-format", "sarif"]);
    let document: serde_json::Value = serde_json::from_str(output.split_once('\n').unwrap().1).unwrap();
    let location = &document["runs"][0]["results"][0]["locations"][0];
    assert_snapshot!(location, @r#"
    {"physicalLocation":{"artifactLocation":{"uri":"nb.ipynb","uriBaseId":"%SRCROOT%"},"region":{"startLine":1}},"logicalLocations":[{"name":"cell 2","kind":"module"}]}
    "#);
}

#[test]
fn gitlab_and_junit() {
    let sandbox = Sandbox::new(&[("loss.py", LOSS)]);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "gitlab"]), @r#"
    exit 1
    [
      {
        "description": "TV103: target holds 3, but the 3 classes are 0 to 2",
        "check_name": "TV103",
        "fingerprint": "9195c582269dfe8c76fc5e61801c3b6c",
        "severity": "critical",
        "location": {
          "path": "loss.py",
          "positions": {
            "begin": {
              "line": 6,
              "column": 8
            },
            "end": {
              "line": 6,
              "column": 39
            }
          }
        }
      }
    ]
    "#);
    assert_snapshot!(sandbox.run(&["check", "--output-format", "junit"]), @r#"
    exit 1
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="torchvet" tests="1" skipped="0" failures="1" errors="0">
        <testsuite name="loss.py" tests="1" skipped="0" errors="0" failures="1">
            <testcase name="TV103 class-index-out-of-range" classname="loss.py" file="loss.py" line="6">
                <failure message="target holds 3, but the 3 classes are 0 to 2" type="error">line 6, column 8: target holds 3, but the 3 classes are 0 to 2
    give the last layer one output per class, and number the classes from 0</failure>
            </testcase>
        </testsuite>
    </testsuites>
    "#);
    sandbox.write("loss.py", "x = 1\n");
    assert_snapshot!(sandbox.run(&["check", "--output-format", "gitlab"]), @r"
    exit 0
    []
    ");
    assert_snapshot!(sandbox.run(&["check", "--output-format", "junit"]), @r#"
    exit 0
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="torchvet" tests="1" skipped="0" failures="0" errors="0">
        <testsuite name="torchvet" tests="1" skipped="0" errors="0" failures="0">
            <testcase name="no findings"/>
        </testsuite>
    </testsuites>
    "#);
}

#[test]
fn fingerprints_stay_where_lines_move_and_differ_among_twins() {
    // The function has its own tensors, because findings with the same cause would be combined.
    let body = LOSS.lines().skip(3).map(|line| format!("    {line}\n")).collect::<String>();
    let twice = format!("{LOSS}\n\ndef again():\n{body}");
    let sandbox = Sandbox::new(&[("loss.py", &twice)]);
    let prints = || {
        let output = sandbox.run(&["check", "--output-format", "gitlab"]);
        let entries: serde_json::Value = serde_json::from_str(output.split_once('\n').unwrap().1).unwrap();
        let all: Vec<String> =
            entries.as_array().unwrap().iter().map(|e| e["fingerprint"].as_str().unwrap().to_owned()).collect();
        all
    };
    let before = prints();
    assert_eq!(before.len(), 2);
    assert_ne!(before[0], before[1]);
    sandbox.write("loss.py", format!("# a comment\n\n{twice}"));
    assert_eq!(prints(), before);
}

#[test]
fn a_baseline_passes_over_what_it_holds() {
    let sandbox = Sandbox::new(&[("loss.py", LOSS)]);
    assert_snapshot!(sandbox.run(&["check", "--baseline", "known.json"]), @r"
    exit 2
    --- stderr
    error: known.json: No such file or directory (os error 2); create it with `--update-baseline`
    ");
    assert_snapshot!(sandbox.run(&["check", "--baseline", "known.json", "--update-baseline"]), @r"
    exit 0
    --- stderr
    Recorded 1 finding in known.json.
    ");
    assert_snapshot!(sandbox.read("known.json"), @r#"
    {
      "version": 1,
      "findings": [
        {
          "path": "loss.py",
          "code": "TV103",
          "text": "loss = F.cross_entropy(logits, target)"
        }
      ]
    }
    "#);
    // If lines move, the baseline still contains their findings; a new finding is reported.
    sandbox.write("loss.py", format!("import os\n{LOSS}"));
    assert_eq!(code(&sandbox.run(&["check", "--baseline", "known.json"])), "exit 0");
    sandbox.write("loss.py", format!("{LOSS}other = F.cross_entropy(logits, target)\n"));
    assert_snapshot!(sandbox.run(&["check", "--baseline", "known.json", "--output-format", "concise"]), @r"
    exit 1
    loss.py:7:9: error[TV103] target holds 3, but the 3 classes are 0 to 2
    Found 1 error in 1 file (checked 1)
    ");
    // The baseline has the line once: the second occurrence is new.
    sandbox.write("loss.py", format!("{LOSS}loss = F.cross_entropy(logits, target)\n"));
    assert_eq!(code(&sandbox.run(&["check", "--baseline", "known.json"])), "exit 1");
    // A warning names a baseline entry that is no longer found, if its file was checked.
    sandbox.write("loss.py", "x = 1\n");
    sandbox.write("other.py", "y = 1\n");
    assert_snapshot!(sandbox.run(&["check", "--baseline", "known.json"]), @r"
    exit 0
    All checks passed! (2 files)
    --- stderr
    warning: known.json: TV103 in loss.py is no longer found: `loss = F.cross_entropy(logits, target)`; remove it with `--update-baseline`
    ");
    assert_snapshot!(sandbox.run(&["check", "--baseline", "known.json", "other.py"]), @r"
    exit 0
    All checks passed! (1 file)
    ");
    sandbox.run(&["check", "--baseline", "known.json", "--update-baseline", "other.py"]);
    assert!(sandbox.read("known.json").contains("loss.py"));
    sandbox.run(&["check", "--baseline", "known.json", "--update-baseline"]);
    assert!(!sandbox.read("known.json").contains("loss.py"));
}

#[test]
fn a_broken_baseline_is_an_error() {
    let sandbox = Sandbox::new(&[("loss.py", LOSS), ("known.json", "{")]);
    assert_snapshot!(sandbox.run(&["check", "--baseline", "known.json"]), @r"
    exit 2
    --- stderr
    error: known.json: EOF while parsing an object at line 1 column 1
    ");
    sandbox.write("known.json", r#"{"version": 2, "findings": []}"#);
    assert_snapshot!(sandbox.run(&["check", "--baseline", "known.json"]), @r"
    exit 2
    --- stderr
    error: known.json: unsupported baseline format 2 (expected 1)
    ");
}

#[test]
fn only_what_changed_is_reported() {
    let sandbox = Sandbox::new(&[("loss.py", LOSS), ("dropped.py", DROPPED)]);
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(sandbox.0.path()).args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgsign=false",
        ]);
        assert!(command.args(arguments).output().unwrap().status.success(), "{arguments:?}");
    };
    let changed = || sandbox.run(&["check", "--diff-base", "HEAD", "--output-format", "concise", "--quiet"]);
    assert_snapshot!(sandbox.run(&["check", "--diff-base", "HEAD"]).replace("(or any of the parent directories)", "").split(':').next().unwrap_or_default(), @r"
    exit 2
    --- stderr
    error
    ");
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "first"]);
    assert_eq!(code(&changed()), "exit 0");
    sandbox.write("loss.py", format!("# a comment\n{LOSS}"));
    assert_eq!(code(&changed()), "exit 0");
    // The changed line contributes to the finding, but is not the line that fails.
    sandbox.write("loss.py", LOSS.replace("[0, 1, 3, 2]", "[0, 1, 5, 2]"));
    assert_snapshot!(changed(), @r"
    exit 1
    loss.py:6:8: error[TV103] target holds 5, but the 3 classes are 0 to 2
    ");
    // All lines of an untracked file are new.
    sandbox.write("loss.py", LOSS);
    sandbox.write("neu ä.py", DROPPED);
    assert_snapshot!(changed(), @r"
    exit 1
    neu ä.py:3:1: error[TV302] the result of `to` is not used: `x` does not change
    ");
    // For a revision on another branch, the merge base is used.
    git(&["checkout", "--quiet", "-b", "feature"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "second"]);
    assert_snapshot!(sandbox.run(&["check", "--diff-base", "HEAD~1", "--output-format", "concise", "--quiet"]), @r"
    exit 1
    neu ä.py:3:1: error[TV302] the result of `to` is not used: `x` does not change
    ");
    assert_snapshot!(sandbox.run(&["check", "--diff-base", "nowhere"]), @r"
    exit 2
    --- stderr
    error: git does not know the revision `nowhere`
    ");
    assert_snapshot!(sandbox.run(&["check", "--diff-base=--output=x"]), @r"
    exit 2
    --- stderr
    error: git does not know the revision `--output=x`
    ");
    assert!(!sandbox.path("x").exists());
}

#[test]
fn comments_are_added_where_they_count() {
    let spread = LOSS.replace("F.cross_entropy(logits, target)", "F.cross_entropy(\n    logits,\n    target,\n)");
    let sandbox = Sandbox::new(&[("loss.py", &spread), ("nb.ipynb", &notebook(&["x = 1", LOSS]))]);
    let output = sandbox.run(&["check", "--add-ignore"]);
    assert_snapshot!(output, @r"
    exit 0
    Ignored 2 findings.
    All checks passed! (2 files)
    ");
    assert_snapshot!(sandbox.read("loss.py"), @r"
    import torch
    import torch.nn.functional as F

    logits = torch.randn(4, 3)
    target = torch.tensor([0, 1, 3, 2])
    loss = F.cross_entropy(  # torchvet: ignore[TV103]
        logits,
        target,
    )
    ");
    assert!(sandbox.read("nb.ipynb").contains("# torchvet: ignore[TV103]"));
    assert_eq!(code(&sandbox.run(&["check"])), "exit 0");
}

#[test]
fn shells_and_man_can_read_the_command_line() {
    let sandbox = Sandbox::new(&[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(sandbox.run(&["completions", shell]).contains("diff-base"), "{shell}");
    }
    assert!(sandbox.run(&["man"]).contains(".TH torchvet 1"));
    assert_eq!(code(&sandbox.run(&["man", "pages"])), "exit 0");
    assert!(sandbox.read("pages/torchvet-check.1").contains("diff"));
}
