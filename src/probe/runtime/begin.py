"""Starts the probe in a program when PyTorch is imported."""

import atexit
import multiprocessing.process
import multiprocessing.util
import os
import sys
import threading

import torch

from . import calls, place, watch


def begin(session):
    task = session.task
    _start(session)
    if torch.__version__ < (2, 1):
        reason = f"PyTorch {torch.__version__} is too old: the probe needs 2.1 or newer"
        session.emit("refused", reason=reason)
        return
    modes = []
    if task["device"] == "virtual":
        # The virtual device replaces functions. The watch is created afterwards, so that it checks
        # the new ones.
        from . import virtual

        modes.append(virtual.install(task["gpus"], session.emit))
    watching = watch.Watch(task["contracts"], session.emit, stop=not task["keep_going"])
    watching.tries = bool(modes)
    modes.append(watching)
    watching.dump = task["dump"]
    findings = task["findings"]
    watching.wanted = frozenset(one["code"] for one in findings)
    _report_exceptions(session)
    atexit.register(_end, session, watching)
    os.register_at_fork(after_in_child=lambda: _forked(watching))
    multiprocessing.util.register_after_fork(watching, lambda _: _forked_process(session, watching))
    if task["max_steps"] is not None:
        _stop_after(task["max_steps"], session)
    watch.watch_threads(modes)
    watch.pause_in_compiled_code(watching)
    for mode in modes:
        mode.__enter__()
    following = calls.Calls(findings, session.emit, (watch.ContractViolation,))
    following.follow(sys._getframe(1))


def _start(session):
    task = session.task
    session.emit(
        "start",
        python=".".join(map(str, sys.version_info[:3])),
        torch=torch.__version__,
        cuda=torch.version.cuda,
        gpus=task["gpus"] if task["device"] == "virtual" else None,
        child=multiprocessing.process.parent_process() is not None,
    )


def _forked_process(session, watching):
    """Reports the start and the end of a process of multiprocessing, such as a worker of a loader.
    Such a process does not run the functions of `atexit`."""
    _start(session)
    multiprocessing.util.Finalize(None, _end, args=(session, watching), exitpriority=0)


def _forked(watching):
    """Resets the counts of calls in a child process, which reports its own counts."""
    watching.calls, watching.unseen = 0, 0
    for judge in watching.judges:
        judge.calls, judge.seconds = 0, 0.0


def _end(session, watching):
    judged = {}
    for judge in watching.judges:
        code = judge.page["code"]
        calls, seconds = judged.get(code, (0, 0.0))
        judged[code] = (calls + judge.calls, seconds + judge.seconds)
    session.emit(
        "end",
        calls=watching.calls,
        contracts=[
            {"code": code, "calls": calls, "seconds": seconds}
            for code, (calls, seconds) in judged.items()
        ],
        held=[
            {"code": code, "filename": filename, "line": line}
            for code, filename, line in sorted(watching.held)
        ],
        compiled_calls=watching.unseen,
        gpu=torch.cuda.is_initialized(),
    )


def _report_exceptions(session):
    """Reports the exception that ends the program, but not if the probe itself stopped it."""
    show = sys.excepthook

    def hook(kind, error, traceback):
        if issubclass(kind, watch.ContractViolation):
            return
        if issubclass(kind, Exception):
            session.emit(
                "exception",
                type=kind.__name__,
                message=str(error)[:4000],
                stack=place.of_traceback(traceback),
            )
        show(kind, error, place.without_probe(traceback))

    sys.excepthook = hook
    show_in_thread = threading.excepthook

    def hook_of_threads(args):
        if not issubclass(args.exc_type, watch.ContractViolation):
            show_in_thread(args)

    threading.excepthook = hook_of_threads


def _stop_after(steps, session):
    """Ends the program, as if it had finished, after this number of optimizer steps."""
    done = 0

    def count(*_):
        nonlocal done
        done += 1
        if done >= steps:
            session.emit("enough", steps=done)
            raise SystemExit(0)

    from torch.optim import optimizer

    optimizer.register_optimizer_step_post_hook(count)
