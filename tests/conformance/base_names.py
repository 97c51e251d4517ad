"""Lists the attributes of classes from which programs derive their own, and the names of modules of
packages that need not be installed here.

    python tests/conformance/base_names.py > src/library/data/base-names.txt

The source of several versions is downloaded and read. A module has the names that its `__init__.py` binds
in any of these versions, and its submodules. A class
has the names that its body and the bodies of its base classes bind or assign to `self`, in any of
these versions, and the names that any code of the package assigns to attributes of a model.
"""

import ast
import collections
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

VERSIONS = {
    "pytorch-lightning": ["1.0.8", "1.3.8", "1.6.5", "1.9.5", "2.0.9", "2.6.6"],
    "transformers": ["4.0.1", "4.12.5", "4.30.2", "4.46.3", "5.24.0"],
    "torchaudio": ["0.7.2", "0.9.1", "0.12.1", "2.0.2", "2.4.1", "2.11.0"],
}
MODULES = ["torchaudio.transforms", "torchaudio.functional"]
CLASSES = [
    ("lightning.LightningModule", "pytorch-lightning", "LightningModule"),
    ("lightning.LightningDataModule", "pytorch-lightning", "LightningDataModule"),
    ("transformers.PreTrainedModel", "transformers", "PreTrainedModel"),
]
MODELS = re.compile(r"(model|module)(_ref)?$")
# The models of transformers assign names of layers to other objects, but only these files assign to
# any model.
ASSIGNING = {"pytorch-lightning": "", "transformers": "transformers/trainer"}


def sources(package, version):
    """(path, syntax tree) of the files of a version."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = f"{package}=={version}"
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder]
        # Old versions of packages with compiled parts exist only for an old Python.
        for python in ([], ["--python-version", "3.8", "--platform", "manylinux1_x86_64"]):
            done = subprocess.run([*command, *python, wanted], check=False, capture_output=True)
            if done.returncode == 0:
                break
        done.check_returncode()
        wheel = next(pathlib.Path(folder).glob("*.whl"))
        with zipfile.ZipFile(io.BytesIO(wheel.read_bytes())) as files:
            for path in files.namelist():
                if path.endswith(".py") and not path.startswith("transformers/models/"):
                    yield path, ast.parse(files.read(path))


def assigned(tree):
    """The attributes that code assigns, as (object, name)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield ast.unparse(node.value), node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            if len(node.args) == 3 and isinstance(node.args[1], ast.Constant):
                yield ast.unparse(node.args[0]), node.args[1].value


def bound(definition):
    """The names that a class binds, or assigns to `self`."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    waiting = list(definition.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, functions):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        else:
            waiting += ast.iter_child_nodes(node)
    yield from (name for owner, name in assigned(definition) if owner == "self")


def exported(tree):
    """The names that a module binds at its top level."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (name.id for name in ast.walk(node) if isinstance(name, ast.Name))
            yield from (text.value for text in ast.walk(node.value) if isinstance(text, ast.Constant))


def names_of(name, definitions):
    """The names of a class of a package, and of its bases in this package."""
    found, waiting, seen = set(), [name], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for definition in definitions[name]:
            found |= set(bound(definition))
            waiting += [ast.unparse(base).rpartition(".")[2] for base in definition.bases]
    return found


def main():
    found = collections.defaultdict(set)
    for package, versions in VERSIONS.items():
        for version in versions:
            definitions, given = collections.defaultdict(list), set()
            for path, tree in sources(package, version):
                for node in ast.walk(tree):
                    if isinstance(node, ast.ClassDef):
                        definitions[node.name].append(node)
                module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                if module in MODULES:
                    found[module] |= {str(name) for name in exported(tree)}
                if (parent := module.rpartition(".")[0]) in MODULES:
                    found[parent].add(module.rpartition(".")[2])
                if package in ASSIGNING and path.startswith(ASSIGNING[package]):
                    given |= {name for owner, name in assigned(tree) if MODELS.search(owner)}
            for path, owner, name in CLASSES:
                if owner == package:
                    found[path] |= names_of(name, definitions) | given
    for path, names in found.items():
        print(f"{path}:", *sorted(name for name in names if not name.startswith("_")))


if __name__ == "__main__":
    main()
