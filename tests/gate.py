"""Tests the output for CI and the hooks with the real tools.

    python tests/gate.py --torchvet target/debug/torchvet [--wheel WHEEL] [--bench FOLDER]

SARIF is validated with the official schema (from Microsoft's multitool on npm) and read by
sarif-tools (from PyPI). pre-commit runs the hooks in a git repository; the hooks come from another
repository, which installs torchvet's wheel. `--bench` measures `pre-commit run --all-files` on 1,000
Python files of a folder, with torchvet's hook and with ruff's.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv

import package

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = "Scripts" if os.name == "nt" else "bin"
SCHEMA = "package/sarif-2.1.0.json"
IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "t"), ("EMAIL", "t@t"))
}

BROKEN = """import torch
import torch.nn.functional as F

logits = torch.randn(4, 3)
loss = F.cross_entropy(logits, torch.tensor([0, 1, 3, 2]))
"""
FIXABLE = """import torch
import torch.nn.functional as F

logits = torch.randn(4, 3)
loss = F.cross_entropy(logits, torch.tensor([0, 1, 0, 2], dtype=torch.int32))
"""


def run(*command, cwd=None, expect=(0,), env=None):
    environment = {**os.environ, **IDENTITY, **(env or {})}
    done = subprocess.run(list(map(str, command)), check=False, cwd=cwd, capture_output=True, text=True, env=environment)
    if done.returncode not in expect:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def environment(name, *packages):
    """The virtual environment `target/NAME`, with these packages; it is created once."""
    folder = ROOT / "target" / name
    python = folder / BIN / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    run(python, "-m", "pip", "install", "--quiet", *packages)
    return folder / BIN


def schema():
    kept = ROOT / "target" / "sarif-2.1.0.json"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            packed = run(
                "npm", "pack", "--silent", "@microsoft/sarif-multitool-linux", cwd=folder
            ).stdout.split()[-1]
            with tarfile.open(pathlib.Path(folder) / packed) as archive:
                kept.write_bytes(archive.extractfile(SCHEMA).read())
    # The text begins with a byte-order mark.
    return json.loads(kept.read_text(encoding="utf-8-sig"))


def check_sarif(torchvet):
    tools = environment("gate-tools", "jsonschema", "sarif-tools")
    corpus = ROOT / "corpus" / "buggy"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "schema.json").write_text(json.dumps(schema()))
        report = folder / "torchvet.sarif"
        run(
            torchvet,
            "check",
            "--output-format",
            "sarif",
            "--output-file",
            report,
            "--select",
            "ALL",
            corpus,
            expect=(1,),
            cwd=ROOT,
        )
        document = json.loads(report.read_text())
        plain = json.loads(
            run(
                torchvet, "check", "--output-format", "json", "--select", "ALL", corpus, expect=(1,), cwd=ROOT
            ).stdout
        )
        results = document["runs"][0]["results"]
        assert len(results) == len(plain) > 200, (len(results), len(plain))
        prints = {result["partialFingerprints"]["torchvet/v1"] for result in results}
        assert len(prints) == len(results), "fingerprints are not unique"
        validate = [tools / "python", "-m", "jsonschema", "-i", report, folder / "schema.json"]
        run(*validate)
        # The schema is really used: it rejects a line that is not a number.
        results[0]["locations"][0]["physicalLocation"]["region"]["startLine"] = "3"
        report.write_text(json.dumps(document))
        run(*validate, expect=(1,))
        results[0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 3
        report.write_text(json.dumps(document))
        said = run(tools / "sarif", "summary", report).stdout
        for level in ("error", "warning", "note"):
            count = sum(result["level"] == level for result in results)
            assert f"{level}: {count}\n" in said, (level, count, said)
        print(f"SARIF: {len(results)} findings are valid under the schema, and sarif-tools counts the same number: ok")


def repository(folder, files):
    folder.mkdir(parents=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run("git", "init", "--quiet", "--initial-branch", "main", cwd=folder)
    commit(folder)
    return run("git", "rev-parse", "HEAD", cwd=folder).stdout.strip()


def commit(folder):
    run("git", "add", "--all", cwd=folder)
    run("git", "commit", "--quiet", "--no-verify", "--allow-empty", "-m", "x", cwd=folder)


def config(hooks, revision, *names):
    ids = "".join(f"      - id: {name}\n" for name in names)
    return f"repos:\n  - repo: {hooks.as_uri()}\n    rev: {revision}\n    hooks:\n{ids}"


def hooks_of_torchvet(folder):
    files = {
        ".pre-commit-hooks.yaml": (ROOT / ".pre-commit-hooks.yaml").read_text(),
        "pyproject.toml": (ROOT / "pre-commit" / "pyproject.toml").read_text(),
    }
    return repository(folder, files)


class PreCommit:
    """Runs pre-commit, which installs torchvet from a folder of wheels."""

    def __init__(self, folder, wheel):
        self.bin = environment("gate-tools", "pre-commit")
        wheels = folder / "wheels"
        wheels.mkdir()
        shutil.copy(wheel, wheels)
        self.env = {
            "PRE_COMMIT_HOME": str(folder / "cache"),
            "PIP_FIND_LINKS": str(wheels),
            "PRE_COMMIT_COLOR": "never",
        }

    def __call__(self, project, *arguments, expect):
        return run(self.bin / "pre-commit", *arguments, cwd=project, env=self.env, expect=expect).stdout


def check_hooks(wheel):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pre_commit = PreCommit(folder, wheel)
        hooks = folder / "hooks"
        revision = hooks_of_torchvet(hooks)
        project = folder / "project"
        files = {
            ".pre-commit-config.yaml": config(hooks, revision, "torchvet"),
            "torchvet.toml": 'extend-exclude = ["generated"]\n',
            "good.py": "x = 1\n",
            "generated/loss.py": BROKEN,
            "notes.txt": "no Python\n",
        }
        repository(project, files)
        said = pre_commit(project, "run", "--all-files", expect=(0,))
        assert "Passed" in said, said
        pre_commit(project, "install", expect=(0,))
        (project / "sub").mkdir()
        (project / "sub" / "train.py").write_text(BROKEN)
        run("git", "add", "--all", cwd=project)
        refused = run("git", "commit", "-m", "broken", cwd=project, env=pre_commit.env, expect=(1,))
        said = refused.stdout + refused.stderr
        assert "TV103" in said and "sub/train.py" in said and "generated" not in said, said
        (project / "sub" / "train.py").write_text(FIXABLE)
        (project / ".pre-commit-config.yaml").write_text(config(hooks, revision, "torchvet-fix"))
        run("git", "add", "--all", cwd=project)
        mended = run("git", "commit", "-m", "mended", cwd=project, env=pre_commit.env, expect=(1,))
        assert "files were modified by this hook" in mended.stdout + mended.stderr, (
            mended.stdout + mended.stderr
        )
        assert (project / "sub" / "train.py").read_text() != FIXABLE
        run("git", "add", "--all", cwd=project)
        run("git", "commit", "-m", "mended", cwd=project, env=pre_commit.env)
        print("pre-commit: the hook passes, then fails, fixes the file, and passes again: ok")


def bench(wheel, source, rounds=5):
    files = sorted(pathlib.Path(source).rglob("*.py"))[:1000]
    assert len(files) == 1000, f"{source} has {len(files)} Python files"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pre_commit = PreCommit(folder, wheel)
        peer = {
            ".pre-commit-hooks.yaml": "- id: ruff\n  name: ruff\n  entry: ruff check --force-exclude --no-cache\n"
            "  language: python\n  types_or: [python]\n  require_serial: true\n",
            "pyproject.toml": (ROOT / "pre-commit" / "pyproject.toml")
            .read_text()
            .replace("torchvet==0.1.0", "ruff"),
        }
        project = folder / "project"
        repository(
            project, {str(file.relative_to(source)): file.read_text(errors="replace") for file in files}
        )
        times = {}
        for name, revision in (
            ("torchvet", hooks_of_torchvet(folder / "torchvet")),
            ("ruff", repository(folder / "ruff", peer)),
        ):
            (project / ".pre-commit-config.yaml").write_text(config(folder / name, revision, name))
            commit(project)
            pre_commit(project, "install-hooks", expect=(0,))
            times[name] = []
            for _ in range(rounds):
                start = time.perf_counter()
                pre_commit(project, "run", "--all-files", expect=(0, 1))
                times[name].append(time.perf_counter() - start)
        median = {name: sorted(all)[rounds // 2] for name, all in times.items()}
        ratio = median["torchvet"] / median["ruff"]
        print(
            f"pre-commit run --all-files over 1,000 files, median of {rounds}: torchvet {median['torchvet']:.2f} s, ruff {median['ruff']:.2f} s ({ratio:.1f})"
        )


def main():
    parser = argparse.ArgumentParser(description="Tests the output for CI and the hooks with the real tools.")
    parser.add_argument("--torchvet", required=True, type=pathlib.Path)
    parser.add_argument(
        "--wheel",
        type=pathlib.Path,
        help="the wheel for the hooks; built (without optimization) if it is not given",
    )
    parser.add_argument("--bench", metavar="FOLDER", help="measure the time of the hook on 1,000 files of this folder")
    options = parser.parse_args()
    check_sarif(options.torchvet.resolve())
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel or package.build("dev", folder)
        check_hooks(wheel)
        if options.bench:
            bench(wheel, options.bench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
