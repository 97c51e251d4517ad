"""Runs programs on CPython and PyTorch, and records the assigned values and the lines that run."""

import ast
import builtins
import io
import sys
import types

import numpy as np
import torch

from conformance import trace
from writer import OutOfTime, in_time, seed_all

OBSERVE = trace.OBSERVE

DATA = (0, 1, 5)
SECONDS = 2
MOST_DISTINCT = 100
VALUE = OBSERVE + "value__"


class Instrumented(trace.Instrument):
    """Also records `:=`."""

    def visit_NamedExpr(self, node):
        self.generic_visit(node)
        site = (self.file, self.cell, node.lineno, node.end_lineno, node.target.id)
        call = ast.Call(ast.Name(VALUE, ast.Load()), [ast.Constant(site), node.value], [])
        node.value = ast.fix_missing_locations(ast.copy_location(call, node.value))
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        return super().visit_Assign(node)


def ends(values):
    """The smallest and the largest element; None if they cannot be determined."""
    try:
        if not 0 < values.size <= 5000 or values.dtype.kind not in "biuf":
            return None
        return float(values.min()), float(values.max())
    except (TypeError, ValueError, RuntimeError):
        return None


def describe(value, depth=2):
    """The properties of a value that are compared with its fact. For tensors and arrays, `trace.agrees`
    uses the first four items."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        plain = value.detach()
        known = (
            None
            if value.is_complex() or value.layout != torch.strided
            else ends((plain.float() if dtype == "bfloat16" else plain).numpy())
        )
        return ("tensor", tuple(value.shape), dtype, str(value.device), known)
    if isinstance(value, (np.ndarray, np.generic)):
        return ("array", value.shape, str(value.dtype), "", ends(np.asarray(value)))
    if value is None or type(value) in (bool, int, float, str):
        return (type(value).__name__, value if type(value) is not int or abs(value) < 2**62 else None)
    if isinstance(value, tuple) and not hasattr(value, "_fields") and depth:
        return ("tuple", tuple(describe(item, depth - 1) for item in value[:8]), len(value))
    if isinstance(value, torch.dtype):
        return ("dtype", str(value).removeprefix("torch."))
    return (type(value).__name__,)


class Run:
    """One execution: the assigned values, the lines that were reached, and the lines that raised."""

    def __init__(self):
        self.sites = {}
        self.reached, self.twice, self.raised = set(), set(), set()
        self.under = set()  # (line, line of a call that was running when it was reached)
        self.again = set()  # the reached lines that another call or round may reach again
        self.stopped = None  # (type, message, row) of the exception that ended it

    def observe(self, site, value):
        seen = describe(value)
        values = self.sites.setdefault(site, {})
        if len(values) < MOST_DISTINCT:
            values[seen] = None

    def value(self, site, value):
        self.observe(site, value)
        return value


def compiled(source, shown):
    tree = ast.parse(source)
    return compile(Instrumented(shown, None).visit(tree), shown, "exec", dont_inherit=True)


def rows_in_loops(source):
    """The lines in the program's loops."""
    loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.For, ast.While))]
    return {row for node in loops for row in range(node.lineno, node.body[-1].end_lineno + 1)}


def rows_of_statements(source):
    """For each line of a simple statement of several lines, all its lines. Python may attribute an
    exception in one of them to another."""
    simple = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, simple) and node.lineno < node.end_lineno]
    spans = [range(node.lineno, node.end_lineno + 1) for node in nodes]
    return {row: span for span in spans for row in span}


def finals(source):
    """The rows of each `finally` block."""
    blocks = [node.finalbody for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Try) and node.finalbody]
    return [range(block[0].lineno, block[-1].end_lineno + 1) for block in blocks]


def execute(code, shown, data, looped, spans, last):
    """Runs compiled code in this process, with one seed for the data."""
    run = Run()
    setattr(builtins, OBSERVE, run.observe)
    setattr(builtins, VALUE, run.value)
    main = types.ModuleType("__main__")
    before, stdout = sys.modules["__main__"], sys.stdout
    sys.modules["__main__"], sys.stdout = main, io.StringIO()

    raised = {}

    def follow(frame, event, argument):
        if frame.f_code.co_filename != shown:
            return None
        at = raised.pop(frame, None)
        if event == "exception":
            raised[frame] = frame.f_lineno
        # After an exception in a `finally` block, CPython reports the last line of the block, although
        # it only leaves the block there.
        elif event == "line" and at and any(at in rows and at < frame.f_lineno in rows for rows in last):
            return follow
        if event == "line":
            (run.twice if frame.f_lineno in run.reached else run.reached).add(frame.f_lineno)
            caller = frame.f_back
            while caller and caller.f_code.co_filename == shown:
                run.under.add((frame.f_lineno, caller.f_lineno))
                caller = caller.f_back
            if frame.f_code.co_name != "<module>" or frame.f_lineno in looped:
                run.again.add(frame.f_lineno)
        elif event == "exception" and argument[0] not in (StopIteration, GeneratorExit):
            run.raised.update(spans.get(frame.f_lineno, [frame.f_lineno]))
        return follow

    seed_all(data)
    try:
        with in_time(SECONDS):
            sys.settrace(follow)
            exec(code, main.__dict__)
    except OutOfTime:
        run.stopped = ("OutOfTime", "", 0)
    except BaseException as error:
        rows, trail = [0], error.__traceback__
        while trail is not None:
            if trail.tb_frame.f_code.co_filename == shown:
                rows.append(trail.tb_lineno)
            trail = trail.tb_next
        message = str(error).splitlines()
        run.stopped = (type(error).__name__, message[0] if message else "", rows[-1])
    finally:
        sys.settrace(None)
        sys.modules["__main__"], sys.stdout = before, stdout
        seed_all(0)
    return run


def runs_of(source, shown, seeds=DATA):
    code, looped, spans = compiled(source, shown), rows_in_loops(source), rows_of_statements(source)
    last = finals(source)
    return [execute(code, shown, data, looped, spans, last) for data in seeds]
