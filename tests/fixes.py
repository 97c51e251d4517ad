"""Applies fixes to real code: the result must parse, and fixed findings must not appear again.

    python tests/fixes.py --torchvet target/debug/torchvet [FOLDER …]

Without a folder, uses the corpus and the wheels of five public packages, which are downloaded by
name. Works on a copy of the files, with all rules and all fixes.
"""

import argparse
import ast
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WHEELS = ("blitz_bayesian_pytorch", "lightly", "lightning_bolts", "mbrl", "torchvision")
KINDS = ["--isolated", "--no-respect-gitignore", "--select", "ALL"]


def findings(torchvet, folder):
    command = [torchvet, "check", *KINDS, "--output-format", "json", folder]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        sys.exit(f"torchvet ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def parses(path):
    if path.suffix == ".ipynb":
        json.loads(path.read_text(encoding="utf-8"))
        return None
    try:
        ast.parse(path.read_bytes())
    except SyntaxError as error:
        return f"{path}:{error.lineno}: {error.msg}"
    return None


def check(torchvet, source, work):
    folder = work / "copy"
    shutil.copytree(source, folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    broken = {path for path in before if path.suffix == ".py" and parses(path)}
    offered = [one for one in findings(torchvet, folder) if one["fix"]]
    command = [torchvet, "check", *KINDS, "--fix", "--unsafe-fixes", "--quiet", folder]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    faults = [] if done.returncode in (0, 1, 2) else [f"ended with {done.returncode}: {done.stderr}"]
    changed = [path for path, content in before.items() if path.read_bytes() != content]
    faults += [fault for path in changed if path not in broken and (fault := parses(path))]
    for path in changed:
        if (path.read_bytes().count(b"\r\n") == 0) != (before[path].count(b"\r\n") == 0):
            faults.append(f"{path}: other line endings")
    faults += [f"{path}: left behind" for path in folder.rglob("*") if path.is_file() and path not in before]
    left = [one for one in findings(torchvet, folder) if one["fix"]]
    faults += [
        f"{one['filename']}:{one['location']['row']}: {one['code']} still has a fix after --fix" for one in left
    ]
    shutil.rmtree(folder)
    print(f"{source.name}: {len(offered)} fixes offered, {len(changed)} files changed, {len(faults)} faults")
    return faults


def main():
    parser = argparse.ArgumentParser(description="Applies fixes to real code.")
    parser.add_argument("--torchvet", required=True, type=pathlib.Path)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    torchvet = options.torchvet.resolve()
    faults = []
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        folders = options.folders or [ROOT / "corpus"]
        for name in () if options.folders else WHEELS:
            download = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                work / "dl",
                name,
            ]
            subprocess.run(download, check=True)
            (wheel,) = (work / "dl").glob(f"{name}-*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(work / name)
            folders.append(work / name)
        for folder in folders:
            faults += check(torchvet, folder, work)
    print("\n".join(faults) if faults else "fixes: ok")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
