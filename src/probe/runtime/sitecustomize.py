"""Starts the probe in the user's Python, and in each Python that inherits its environment.

Python imports a module of this name before it runs the program. So the program itself runs as usual
(`sys.argv`, `__file__`, `-m`, worker processes, torchrun), and the probe only waits until PyTorch
is imported. The folder of this file is first in PYTHONPATH; a `sitecustomize` of the user, which
this file hides, is run afterwards.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _load(name, spec):
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _start():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    package = os.path.join(here, "torchvet_probe")
    spec = importlib.util.spec_from_file_location(
        "torchvet_probe", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    # No bytecode is written for the modules that are loaded here. For the program, the setting is
    # not changed.
    keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        _load("torchvet_probe", spec).start()
    finally:
        sys.dont_write_bytecode = keep
    hidden = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if hidden is not None:
        _load("sitecustomize", hidden)


if os.environ.get("TORCHVET_PROBE"):
    _start()
