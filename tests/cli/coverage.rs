//! `torchvet coverage`.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const TRAIN: &str = "\
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 10)

    def forward(self, x):
        return self.layer(x)

def loss(logits, path):
    target = torch.from_numpy(np.load(path))
    return F.cross_entropy(logits, target)

def run(net, loader):
    for images, labels in loader:
        out = net(images)
        F.cross_entropy(out, labels)

known = F.cross_entropy(torch.zeros(4, 10), torch.zeros(4, dtype=torch.int64))
";

#[test]
fn the_places_that_block_most_come_first() {
    let sandbox = Sandbox::new(&[("a.py", TRAIN)]);
    assert_snapshot!(sandbox.run(&["coverage", "a.py"]), @r###"
    exit 0
    values: 1 of 5 assignments of tensors have a known rank, dtype and device (20%); 1 are partly known, and 3 are unknown and may be tensors
    contracts: 14 of 45 conditions of 3 calls are decided (31%)

    conditions  values  not known because of
            14       1  a.py:20:15: the result of `net(…)`
            13       0  a.py:14:10: the parameter `logits` of `loss`
             0       2  a.py:19:27: the elements of `loader`
             0       1  a.py:15:31: the result of `np.load(…)`

    help (call): annotate the variable that gets the value: `x: Float[Tensor, "n 3"] = …`
    help (parameter): annotate the parameter: `x: Float[Tensor, "batch 3 height width"]` (jaxtyping)
    help (elements): annotate the variables of the loop in its body: `x: Float[Tensor, "batch 3 h w"]`
    "###);
    assert_snapshot!(sandbox.run(&["coverage", "a.py", "--origins", "1"]), @r###"
    exit 0
    values: 1 of 5 assignments of tensors have a known rank, dtype and device (20%); 1 are partly known, and 3 are unknown and may be tensors
    contracts: 14 of 45 conditions of 3 calls are decided (31%)

    conditions  values  not known because of
            14       1  a.py:20:15: the result of `net(…)`
            13       3  3 other places

    help (call): annotate the variable that gets the value: `x: Float[Tensor, "n 3"] = …`
    "###);
}

#[test]
fn an_annotation_makes_conditions_known() {
    let annotated = TRAIN
        .replace("import torch\n", "import torch\nfrom jaxtyping import Float, Int64\nfrom torch import Tensor\n")
        .replace(
            "out = net(images)",
            "out: Float[Tensor, 'batch 10'] = net(images)\n        labels: Int64[Tensor, 'batch']",
        );
    let sandbox = Sandbox::new(&[("a.py", TRAIN), ("b.py", &annotated)]);
    let conditions = |file: &str| {
        let output = sandbox.run(&["coverage", file]);
        output.lines().find(|line| line.starts_with("contracts")).unwrap_or_default().to_owned()
    };
    assert_snapshot!(conditions("a.py"), @"contracts: 14 of 45 conditions of 3 calls are decided (31%)");
    assert_snapshot!(conditions("b.py"), @"contracts: 21 of 42 conditions of 3 calls are decided (50%)");
}

#[test]
fn json() {
    let sandbox = Sandbox::new(&[("a.py", "import torch\n\ndef f(x):\n    y = torch.relu(x)\n")]);
    assert_snapshot!(sandbox.run(&["coverage", "--output-format", "json", "a.py"]), @r###"
    exit 0
    {
      "total": {
        "values": {
          "known": 0,
          "partly_known": 1,
          "unknown": 0
        },
        "calls": 0,
        "conditions": {
          "decided": 0,
          "undecided": 0
        }
      },
      "files": [
        {
          "filename": "a.py",
          "figures": {
            "values": {
              "known": 0,
              "partly_known": 1,
              "unknown": 0
            },
            "calls": 0,
            "conditions": {
              "decided": 0,
              "undecided": 0
            }
          }
        }
      ],
      "origins": [
        {
          "filename": "a.py",
          "cell": null,
          "location": {
            "row": 3,
            "column": 7
          },
          "kind": "parameter",
          "what": "the parameter `x` of `f`",
          "advice": "annotate the parameter: `x: Float[Tensor, \"batch 3 height width\"]` (jaxtyping)",
          "conditions": 0,
          "values": 1
        }
      ],
      "without_origin": {
        "conditions": 0,
        "values": 0
      }
    }
    "###);
}
