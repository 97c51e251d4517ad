"""Runs witnesses, which are small programs: one for each request, in the order of the requests.

A request contains the program in two parts: `setup` creates the arguments, `call` is the reported
call. The answer is a line with the outcome of the program. An event announces the call before it is
made. So if this process ends, the parent process knows whether it ended in the call or in `setup`.
"""

import contextlib
import faulthandler
import io
import json
import os
import sys
import threading
import time
import warnings

VERSION = 1


class Channel:
    """The channel to the parent process. Other code that writes to standard output writes to
    standard error instead."""

    def __init__(self):
        self.requests = sys.stdin
        self.answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def send(self, event, **fields):
        self.answers.write(json.dumps({"version": VERSION, "event": event, **fields}) + "\n")
        self.answers.flush()


def _end_with(parent):
    """Ends this process when its parent ends, because a witness may run long."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def serve(pages):
    channel = Channel()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    try:
        import torch

        from . import contracts
    except BaseException as error:  # noqa: BLE001 - a broken wheel may raise anything
        channel.send("refused", reason=f"PyTorch cannot be imported: {_text(error)}")
        return
    judges = {}
    for page in pages:
        # A contract of a user's page may use a module that is not installed.
        with contextlib.suppress(Exception):
            found = contracts.load(page["source"], page["contract_of"], page["path"], page["line"])
            judges[page["code"]] = found
    channel.send("ready", torch=torch.__version__, cuda=torch.cuda.is_available())
    for line in channel.requests:
        request = json.loads(line)
        if request["version"] != VERSION:
            return
        # Ends this process even if it hangs in a kernel and its parent is gone.
        faulthandler.dump_traceback_later(request["limit"] + 5, exit=True)
        channel.send("done", id=request["id"], **_run(request, judges, channel))
        faulthandler.cancel_dump_traceback_later()


def _run(request, judges, channel):
    import torch

    names = {"__name__": "__witness__"}
    with contextlib.ExitStack() as around:
        around.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        around.enter_context(contextlib.redirect_stdout(io.StringIO()))
        if request["fake"]:
            from torch._subclasses.fake_tensor import FakeTensorMode

            around.enter_context(FakeTensorMode())
            # No graph is recorded: for fake tensors on a GPU, autograd would ask the driver for a
            # stream, and there may be no driver.
            around.enter_context(torch.no_grad())
        try:
            exec(compile(request["setup"], "<witness>", "exec"), names)  # noqa: S102
        except Exception as error:  # noqa: BLE001
            return {"outcome": "not-built", **_raised(error)}
        contract = None if request["fake"] else _judge(request, judges, names)
        channel.send("calling", id=request["id"])
        try:
            exec(compile(request["call"], "<witness>", "exec"), names)  # noqa: S102
            # The failure of a kernel is raised only when the program waits for the kernel.
            if request["wait"]:
                torch.cuda.synchronize()
        except Exception as error:  # noqa: BLE001
            return {"outcome": "raised", "contract": contract, **_raised(error)}
    return {"outcome": "ran", "contract": contract}


def _judge(request, judges, names):
    """The finding of the rule's contract for the real arguments, or None."""
    from . import contracts

    of_path = judges.get(request["code"], {}).get(request["path"], ())
    if not of_path:
        return None
    arguments = {}
    for name, expression in request["arguments"].items():
        with contextlib.suppress(Exception):
            arguments[name] = eval(expression, names)
    for contract in of_path:
        with contracts.one_call():
            finding = contract.judge(arguments)
        if finding is not None:
            return {"severity": finding.severity, "message": finding.message}
    return None


def _raised(error):
    return {"type": type(error).__name__, "message": str(error)[:4000]}


def _text(error):
    lines = f"{type(error).__name__}: {error}".splitlines()
    return lines[0] if lines else type(error).__name__
