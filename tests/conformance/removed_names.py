"""Lists the names that older versions of packages had in the modules of `names.txt` and `base-names.txt`,
but that are gone.

    python tests/conformance/removed_names.py > src/library/data/removed-names.txt

A line is a module, a colon, and the names that it lost, each with the first version that lacks it:
`VideoReader@0.27`. Only the files that are needed are read from the wheels, because a wheel of PyTorch
has several hundred megabytes.
"""

import ast
import io
import json
import pathlib
import subprocess
import sys
import urllib.request
import zipfile

VERSIONS = {
    "torch": "1.4.0 1.5.1 1.6.0 1.7.1 1.8.1 1.9.1 1.10.2 1.11.0 1.12.1 1.13.1 2.0.1 2.1.2 2.2.2 2.3.1 2.4.1 2.5.1 2.6.0"
    " 2.7.1 2.8.0 2.9.1 2.10.0 2.11.0 2.12.1 2.13.0 2.14.1 2.15.0",
    "torchvision": "0.5.0 0.6.1 0.7.0 0.8.2 0.9.1 0.10.1 0.11.3 0.12.0 0.13.1 0.14.1 0.15.2 0.16.2 0.17.2 0.18.1 0.19.1"
    " 0.20.1 0.21.0 0.22.1 0.23.0 0.24.1 0.25.0 0.26.0 0.27.1 0.28.0 0.29.2",
    "torchaudio": "0.5.1 0.6.0 0.7.2 0.8.1 0.9.1 0.10.2 0.11.0 0.12.1 0.13.1 2.0.2 2.1.2 2.2.2 2.3.1 2.4.1 2.5.1 2.6.0"
    " 2.7.1 2.8.0 2.9.1 2.10.0 2.11.0",
}
DATA = pathlib.Path(__file__).parents[2] / "src/library/data"
# Functions that the compiled part of PyTorch defines are listed in these files.
COMPILED = {"torch": ["torch/_C/_VariableFunctions.pyi", "torch/__init__.pyi"]}


class Remote(io.RawIOBase):
    """A file of a server, of which only the parts that are read are downloaded."""

    def __init__(self, url):
        self.url, self.at = url, 0
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD")) as reply:
            self.size = int(reply.headers["Content-Length"])

    def seekable(self):
        return True

    def readable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=io.SEEK_SET):
        self.at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence]
        return self.at

    def readinto(self, buffer):
        end = min(self.at + len(buffer), self.size)
        if end <= self.at:
            return 0
        wanted = urllib.request.Request(self.url, headers={"Range": f"bytes={self.at}-{end - 1}"})
        with urllib.request.urlopen(wanted) as reply:
            data = reply.read()
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


def wheel(package, version):
    """The files of a version's wheel; `None` if there is none for the Pythons tried."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--report", "-", "--no-deps"]
    command += ["--ignore-installed", "--only-binary=:all:", "--target", "nowhere"]
    # Old versions exist only for an old Python.
    for python in ("3.11", "3.8"):
        wanted = ["--python-version", python, f"{package}=={version}"]
        done = subprocess.run([*command, *wanted], check=False, capture_output=True)
        if done.returncode == 0:
            url = json.loads(done.stdout)["install"][0]["download_info"]["url"]
            return zipfile.ZipFile(io.BufferedReader(Remote(url), buffer_size=1 << 18))
    return None


def attributes_of_tensors(files):
    """The names that the bodies of the classes of tensors bind."""
    listed = set(files.namelist())
    found = set()
    for path in ("torch/tensor.py", "torch/_tensor.py", "torch/__init__.pyi", "torch/_C/__init__.pyi"):
        for node in ast.parse(files.read(path)).body if path in listed else []:
            if isinstance(node, ast.ClassDef) and node.name in ("Tensor", "_TensorBase", "TensorBase"):
                found |= {name for inner in node.body for name in bound(inner)}
    # The stub of PyTorch 1.4 has some functions under wrong names.
    return {name for name in found if not name.startswith("zeros_like_")}


def names_of(files, module):
    """The names that a module binds, and its submodules."""
    if module == "torch.Tensor":
        return attributes_of_tensors(files)
    folder = module.replace(".", "/")
    listed = set(files.namelist())
    is_package = f"{folder}/__init__.py" in listed
    path = f"{folder}/__init__.py" if is_package else f"{folder}.py"
    if path not in listed:
        return set()
    found = set()
    for text in [path, *(other for other in COMPILED.get(module, []) if other in listed)]:
        for node in top_level(ast.parse(files.read(text)).body):
            if isinstance(node, ast.Delete):
                found -= {target.id for target in node.targets if isinstance(target, ast.Name)}
            if not isinstance(node, ast.ImportFrom):
                found |= set(bound(node))
                continue
            base = module.split(".")[: len(module.split(".")) + is_package - node.level] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            # Names of other packages are not meant to be used from here.
            if source.split(".")[0] != module.split(".")[0]:
                continue
            for alias in node.names:
                found |= names_of(files, source) if alias.name == "*" else {alias.asname or alias.name}
    if is_package:
        inside = (name.removeprefix(f"{folder}/") for name in listed if name.startswith(f"{folder}/"))
        found |= {name.split("/")[0].removesuffix(".py") for name in inside if name.endswith(".py")}
    return found


def top_level(body):
    """The statements that are not in a function or class."""
    for node in body:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for field in ("body", "orelse", "handlers", "finalbody"):
                yield from top_level(getattr(node, field, []))


def bound(node):
    """The names that a statement binds."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = (target.id for target in targets if isinstance(target, ast.Name))
        # Types that exist only for the stubs of compiled functions.
        yield from (name for name in names if not name.startswith("namedtuple_"))


def main():
    lines = [line for name in ("names.txt", "base-names.txt") for line in (DATA / name).read_text().splitlines()]
    now = {path: set(names.split()) for path, names in (line.split(":") for line in lines)}
    for package, versions in VERSIONS.items():
        own = [path for path in now if path.split(".")[0] == package]
        modules = [path for path in own if path.split(".")[-1].islower() or path == "torch.Tensor"]
        # The first version that lacks a name.
        missing = {path: {} for path in modules}
        before = {path: set() for path in modules}
        for version in versions.split():
            files = wheel(package, version)
            if files is None:
                raise SystemExit(f"there is no wheel of {package} {version}")
            minor = ".".join(version.split(".")[:2])
            for path in modules:
                names = names_of(files, path)
                before[path] |= names
                if package == "torchaudio":
                    # `base-names.txt` has the names of all versions.
                    now[path] = names
                missing[path] = {name: missing[path].get(name, minor) for name in before[path] - names}
        for path, names in missing.items():
            gone = [f"{name}@{names[name]}" for name in sorted(names.keys() - now[path]) if not name.startswith("_")]
            if gone:
                print(f"{path}:", *gone)


if __name__ == "__main__":
    main()
