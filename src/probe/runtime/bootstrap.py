"""Loads the Python half from standard input, so that no file is written.

The first line contains the sources of the modules, the function to call with the name of its
module, and the arguments. The working directory is removed from the import path, because it is the
user's project.
"""

import sys

sys.path[:] = [path for path in sys.path if path]

import importlib.util
import json


def _load(package, sources):
    class Loader:
        @staticmethod
        def create_module(spec):
            return None

        @staticmethod
        def exec_module(module):
            name = module.__name__.rpartition(".")[2]
            if module.__name__ == package:
                module.__path__ = []
            else:
                exec(compile(sources[name], f"<{package}/{name}.py>", "exec"), vars(module))  # noqa: S102

        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == package or name.startswith(package + ".") and name[len(package) + 1 :] in sources:
                return importlib.util.spec_from_loader(name, Loader)
            return None

    sys.meta_path.insert(0, Loader)


_task = json.loads(sys.stdin.readline())
_load("torchvet_probe", _task["modules"])
getattr(importlib.import_module("torchvet_probe." + _task["module"]), _task["function"])(*_task["arguments"])
