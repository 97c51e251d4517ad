"""Imports `tests/conformance/trace.py`; the standard library also has a module `trace`."""

import importlib.util
import pathlib

PATH = pathlib.Path(__file__).resolve().parents[1] / "conformance" / "trace.py"
spec = importlib.util.spec_from_file_location("conformance_trace", PATH)
trace = importlib.util.module_from_spec(spec)
spec.loader.exec_module(trace)
