"""Imports the Python code of `torchvet probe` as a package. The code is read from the binary, so it
always matches the contracts."""

import functools
import importlib.abc
import importlib.util
import json
import linecache
import os
import subprocess
import sys

from ._binary import find

_PACKAGE = "torchvet._probe"
# The modules of the probe get paths in this folder, which does not exist. By these paths, frames of
# the probe are recognised.
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_probe")


class _Files(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports modules from source texts."""

    def __init__(self, files):
        self.files = files

    def _path(self, name):
        stem = "/".join(name.split(".")[2:])
        for path in (f"{stem}/__init__.py" if stem else "__init__.py", f"{stem}.py"):
            if path in self.files:
                return path
        return None

    def find_spec(self, name, path=None, target=None):
        if name != _PACKAGE and not name.startswith(_PACKAGE + "."):
            return None
        file = self._path(name)
        if file is None:
            return None
        origin = os.path.join(_FOLDER, *file.split("/"))
        spec = importlib.util.spec_from_loader(
            name, self, origin=origin, is_package=file.endswith("__init__.py")
        )
        spec.has_location = True
        return spec

    def get_source(self, name):
        return self.files[self._path(name)]

    def is_package(self, name):
        return self._path(name).endswith("__init__.py")

    def exec_module(self, module):
        source, path = self.get_source(module.__name__), module.__spec__.origin
        linecache.cache[path] = (len(source), None, source.splitlines(True), path)
        exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102


@functools.cache
def load():
    """The runtime as a package, and the contracts of the enabled rules."""
    command = [find(), "probe", "runtime"]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode(errors="replace").strip())
    answer = json.loads(done.stdout)
    sys.meta_path.insert(0, _Files(answer["files"]))
    return importlib.import_module(_PACKAGE), answer["contracts"]
