"""Tests the Python package as `pip` installs it.

    python tests/package.py [--profile dev]

Builds the wheel, installs it in a new environment with the PyTorch of the Python that runs this
file, and uses everything in the package: the command, `python -m torchvet`, `torchvet.guard`, and
the pytest plugin.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = "Scripts" if os.name == "nt" else "bin"

GUARDED = """
import copy, pickle, warnings
import torch
from torch import nn
import torch.nn.functional as F
import torchvet

logits, wrong = torch.randn(4, 3), torch.tensor([0, 1, 3, 2])


def refused(call):
    try:
        call()
    except torchvet.ContractViolation as violation:
        return violation
    except IndexError:
        return None


# Outside a guard, PyTorch raises; inside, the contract does.
assert refused(lambda: F.cross_entropy(logits, wrong)) is None
with torchvet.guard():
    with torchvet.guard():
        pass
    said = refused(lambda: F.cross_entropy(logits, wrong))
    assert said.code == "TV103" and "target holds 3" in str(said), said
    assert __file__ in str(said), said
    assert said.finding["offence"]["samples"] == [2]
    assert F.cross_entropy(logits, wrong.clamp(max=2)).item() > 0
assert refused(lambda: F.cross_entropy(logits, wrong)) is None

# A call that is probably wrong causes a warning at its line.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with torchvet.guard():
        F.nll_loss(torch.randn(4, 3).abs(), torch.tensor([0, 1, 2, 0]))
ours = [one for one in caught if one.category is torchvet.ContractWarning]
assert ours and ours[0].filename == __file__, [str(one.message) for one in caught]


@torchvet.guard()
def step():
    return F.cross_entropy(logits, wrong)


assert refused(step).code == "TV103"


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 2)

    def forward(self, ids):
        return self.table(ids)


model = torchvet.guard(Lookup())
assert isinstance(model, Lookup)
for one in (model, copy.deepcopy(model)):
    assert refused(lambda: one(torch.tensor([5]))).code.startswith("TV2")
    assert refused(lambda: F.cross_entropy(logits, wrong)) is None  # outside the model
pickle.dumps(model)
print("guard: ok")
"""

TESTS = """
import pytest
import torch
import torch.nn.functional as F

LOGITS, WRONG = torch.randn(4, 3), torch.tensor([0, 1, 3, 2])


def test_without():
    F.cross_entropy(LOGITS, WRONG)


def test_with(torch_contracts):
    F.cross_entropy(LOGITS, WRONG)


def test_right(torch_contracts):
    assert F.cross_entropy(LOGITS, WRONG.clamp(max=2)) > 0
"""


def run(*command, cwd=None, expect=0):
    command = list(map(str, command))
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != expect:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}, not {expect}:\n{done.stdout}")
    return done.stdout


def build(profile, folder):
    """Builds the wheel in a folder. The build tool is installed in a separate environment."""
    builder = ROOT / "target" / "maturin"
    if not (builder / BIN).exists():
        venv.create(builder, with_pip=True)
    run(builder / BIN / "python", "-m", "pip", "install", "--quiet", "maturin>=1.8,<2")
    run(builder / BIN / "maturin", "build", "--profile", profile, "--out", folder, cwd=ROOT)
    (wheel,) = pathlib.Path(folder).glob("torchvet-*.whl")
    return wheel


def main():
    parser = argparse.ArgumentParser(description="Tests the Python package as pip installs it.")
    parser.add_argument("--profile", default="dev", help="cargo's profile for the build")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        wheel = build(options.profile, folder / "wheel")

        clean = folder / "clean"
        venv.create(clean, with_pip=True)
        python = clean / BIN / "python"
        (site,) = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").split()
        beside = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        (pathlib.Path(site) / "beside.pth").write_text("\n".join(beside) + "\n")
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", wheel)
        run(python, "-m", "pip", "install", "--quiet", "pytest")

        work = folder / "work"
        work.mkdir()
        version = run(clean / BIN / "torchvet", "version", cwd=work)
        assert run(python, "-m", "torchvet", "version", cwd=work) == version
        (work / "guarded.py").write_text(GUARDED)
        (work / "test_steps.py").write_text(TESTS)
        print(run(python, "guarded.py", cwd=work).strip())
        plain = run(python, "-m", "pytest", "-q", cwd=work, expect=1)
        assert "2 failed, 1 passed" in plain and "ContractViolation" in plain and "IndexError" in plain, plain
        checked = run(python, "-m", "pytest", "-q", "--torchvet", cwd=work, expect=1)
        assert "2 failed, 1 passed" in checked and "IndexError" not in checked, checked
        # The settings of the project are used.
        (work / "torchvet.toml").write_text('ignore = ["TV103"]\n')
        ignored = run(python, "-m", "pytest", "-q", "--torchvet", cwd=work, expect=1)
        assert "ContractViolation" not in ignored, ignored
        print(
            f"{wheel.name} ({wheel.stat().st_size / 2**20:.1f} MiB): the command, the module, guard and pytest: ok"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
