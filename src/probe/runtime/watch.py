"""Checks each call of a program with the contracts of the enabled rules, before it is executed.

Most functions of PyTorch call a `TorchFunctionMode`. Other functions with a contract
(constructors, torchvision, Pillow, OpenCV) are wrapped when their module is imported.
"""

import contextlib
import functools
import inspect
import os
import sys
import threading
import time

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes

from . import contracts, describe, hooks, place


class ContractViolation(BaseException):
    """Stops the program at a call that violates a contract. It is not an `Exception`, because a
    loop that catches exceptions to skip bad batches must not catch this one."""


class WorkerViolation(ContractViolation, Exception):
    """A violation in a DataLoader worker, which passes only an `Exception` to the main process."""


# NumPy reads a tensor through `__array__`. Wrapping NumPy's own functions would not affect names
# that were imported before.
_STANDS_FOR = {"numpy.asarray": torch.Tensor.__array__, "numpy.array": torch.Tensor.__array__}


class Judge:
    """A contract of a page, with its counts."""

    def __init__(self, page, contract):
        self.page = page
        self.contract = contract
        self.calls = 0
        self.seconds = 0.0


class Plan:
    """The contracts of one function, and the names of its arguments."""

    def __init__(self, path, judges, names):
        self.path = path
        self.judges = judges
        # None for a builtin without a signature: its positional arguments are then taken for the
        # contract's parameters, in the order of the parameters.
        self.names = names
        first = judges[0].contract.parameters
        self.receiver = next(iter(first), "input")

    def bind(self, args, kwargs, contract):
        names = self.names if self.names is not None else list(contract.parameters)
        arguments = dict(zip(names, args))
        if kwargs:
            arguments.update(kwargs)
        if "self" in arguments:
            arguments[self.receiver] = arguments.pop("self")
        return arguments


def _names(function):
    """The names of the positional parameters; None if Python does not know them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


class Watch(TorchFunctionMode):
    """Checks every call of a function with a contract, in the threads that have entered the mode."""

    def __init__(self, pages, report, stop=True):
        super().__init__()
        self.report = report
        self.stop = stop
        self.stopped = None
        self.plans = {}
        self.judges = []
        self.unseen = 0
        self.calls = 0
        # The codes that the static checker has reported, and where their contracts held.
        self.wanted = frozenset()
        self.held = set()
        self.reported = set()
        self.dump = None
        # Whether the call at which the program stops is made, to get PyTorch's own error. On a real
        # GPU, the call could make CUDA unusable for this process; on a virtual one, it cannot.
        self.tries = False
        # The class of the exception for a violation. In a worker of a DataLoader, which passes on
        # only an `Exception`, the default is replaced by `WorkerViolation`.
        self.violation = ContractViolation
        for page in pages:
            self._add(page)

    # --- what is judged --------------------------------------------------------------------

    def _add(self, page):
        found = contracts.load(page["source"], page["contract_of"], page["path"], page["line"])
        for path, of_path in found.items():
            judges = [Judge(page, contract) for contract in of_path]
            self.judges += judges
            parts = path.split(".")
            if path in _STANDS_FOR:
                self._watch(_STANDS_FOR[path], path, judges)
                continue
            owner = _resolve(parts[:-1])
            function = getattr(owner, parts[-1], None)
            if parts[0] != "torch":
                self._wrap_when_imported(path, judges)
            elif inspect.isclass(function):
                self._wrap(function, "__init__", path, judges)
            elif function is not None:
                self._watch(function, path, judges)
                if owner is torch:
                    method = getattr(torch.Tensor, parts[-1], None)
                    if method is not None:
                        self._watch(method, path, judges)

    def _watch(self, function, path, judges):
        plan = self.plans.get(function)
        if plan is None:
            self.plans[function] = Plan(path, list(judges), _names(function))
        else:
            plan.judges += judges

    def _wrap_when_imported(self, path, judges):
        parts = path.split(".")

        def wrap(_):
            owner = _resolve(parts[:-1])
            if owner is not None and parts[-1] in vars(owner):
                self._wrap(owner, parts[-1], path, judges)

        # The owner is a module, or a class in a module.
        for cut in {len(parts) - 1, max(len(parts) - 2, 1)}:
            hooks.after_import(".".join(parts[:cut]), wrap)

    def _wrap(self, owner, name, path, judges):
        function = inspect.getattr_static(owner, name)
        before = getattr(function, "__torchvet_plan__", None)
        if before is not None:
            before.judges += [judge for judge in judges if judge not in before.judges]
            return
        names = _names(function)
        if name == "__init__" and names:
            names = names[1:]
        plan = Plan(path, list(judges), names)
        skip = 1 if name == "__init__" else 0

        @functools.wraps(function)
        def watched(*args, **kwargs):
            if torch.jit.is_scripting() or _compiling() or not self._is_on():
                return function(*args, **kwargs)
            self.judge(plan, args[skip:], kwargs, sys._getframe(1), lambda: function(*args, **kwargs))
            return function(*args, **kwargs)

        watched.__torchvet_plan__ = plan
        setattr(owner, name, watched)
        # torchvision's v2 transforms use the function itself as the key of its kernels.
        registry = getattr(sys.modules.get("torchvision.transforms.v2.functional._utils"), "_KERNEL_REGISTRY", {})
        if function in registry:
            registry[watched] = registry[function]

    # --- watching --------------------------------------------------------------------------

    def __torch_function__(self, func, types, args=(), kwargs=None):
        plan = self.plans.get(func)
        if plan is not None:
            self.judge(plan, args, kwargs, sys._getframe(1), lambda: func(*args, **kwargs or {}))
        return func(*args, **kwargs) if kwargs else func(*args)

    def _is_on(self):
        return self in torch.overrides._get_current_function_mode_stack()

    def judge(self, plan, args, kwargs, frame, call):
        """Checks a call before it is made. If the program stops at this call and PyTorch's own error is
        needed, the call is made here."""
        if self.stopped is not None and self.stopped[0] == os.getpid():
            raise self.stopped[1]
        if _compiling() or not all(map(_real, args)):
            return
        self.calls += 1
        found = []
        with torch._C.DisableTorchFunction(), contracts.one_call():
            modes = torch._C._len_torch_dispatch_stack()
            paused = _disable_current_modes() if modes else None
            if paused is not None:
                paused.__enter__()
            try:
                for judge in plan.judges:
                    start = time.perf_counter()
                    arguments = plan.bind(args, kwargs, judge.contract)
                    finding, decided = judge.contract.decide(arguments)
                    judge.calls += 1
                    judge.seconds += time.perf_counter() - start
                    if decided and finding is None and judge.page["code"] in self.wanted:
                        self.held.add((judge.page["code"], *place.of_user(frame)))
                    if finding is not None:
                        found.append(self._found(judge, finding, plan, arguments, frame))
            finally:
                if paused is not None:
                    paused.__exit__(None, None, None)
        violation = None
        for fields in filter(None, found):
            if fields["stopped"]:
                violation = self._violation(fields)
                if self.tries:
                    fields["raised"] = _raised_by(call)
            self.report("finding", **fields)
        if violation is not None:
            if isinstance(violation, ContractViolation):
                self.stopped = (os.getpid(), violation)
            raise violation

    def _violation(self, fields):
        text = "{filename}:{line}: {code} {message}".format(**fields)
        if self.violation is not ContractViolation:
            return self.violation(text, fields)
        return (WorkerViolation if _in_worker() else ContractViolation)(text)

    def _found(self, judge, finding, plan, arguments, frame):
        """A finding for the report; None if it was already reported."""
        page = judge.page
        ends = self.stop and finding.severity == "error" and not finding.guessed
        filename, line = place.of_user(frame)
        key = (page["code"], filename, line, finding.severity)
        if key in self.reported and not ends:
            return None
        self.reported.add(key)
        return {
            "code": page["code"],
            "name": page["name"],
            "severity": "warning" if finding.guessed and finding.severity == "error" else finding.severity,
            "message": finding.message,
            "call": plan.path,
            "filename": filename,
            "line": line,
            "stack": place.stack(frame),
            "arguments": [describe.argument(name, value) for name, value in arguments.items()],
            "offence": describe.offence(finding, arguments),
            "guessed": finding.guessed,
            "stopped": ends,
            "dump": self._save(page["code"], plan, arguments, finding, filename, line) if ends else None,
            "raised": None,
        }

    def _save(self, code, plan, arguments, finding, filename, line):
        """Saves the arguments on the CPU, because a device-side assert would destroy them."""
        if self.dump is None:
            return None
        stem = os.path.splitext(os.path.basename(filename))[0] or "call"
        rank = os.environ.get("RANK")
        name = f"{code}-{stem}-{line}" + (f"-rank{rank}" if rank else "") + ".pt"
        path = os.path.join(self.dump, name)
        saved = {"code": code, "call": plan.path, "message": finding.message, "arguments": _on_cpu(arguments)}
        try:
            os.makedirs(self.dump, exist_ok=True)
            torch.save(saved, path)
        except Exception as error:  # noqa: BLE001 - whatever cannot be pickled
            return f"could not be saved: {type(error).__name__}: {error}"
        return path


def _raised_by(call):
    """PyTorch's error for a call; None if PyTorch accepts it."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - every error is reported
        return f"{type(error).__name__}: {error}"[:2000]
    return None


def _on_cpu(arguments):
    return {
        name: value.detach().cpu() if isinstance(value, torch.Tensor) else value
        for name, value in arguments.items()
    }


def _resolve(parts):
    """The object of a dotted path in the imported modules, or None."""
    for cut in range(len(parts), 0, -1):
        owner = sys.modules.get(".".join(parts[:cut]))
        if owner is not None:
            for part in parts[cut:]:
                owner = getattr(owner, part, None)
            return owner
    return None


@functools.cache
def _has_values(kind):
    """Whether the tensors of a class hold their values. Fake and sharded tensors do not, and reading
    them may hang or be recorded."""
    dispatch = inspect.getattr_static(kind, "__torch_dispatch__", None)
    return dispatch is None or dispatch is inspect.getattr_static(torch.Tensor, "__torch_dispatch__", None)


def _real(value):
    if not isinstance(value, torch.Tensor):
        return True
    if not _has_values(type(value)):
        return False
    return not (value.is_cuda and torch.cuda.is_current_stream_capturing())


def _compiling():
    dynamo = sys.modules.get("torch._dynamo")
    compiling = getattr(dynamo, "is_compiling", None)
    return torch.jit.is_tracing() or (compiling is not None and compiling())


def _in_worker():
    data = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


# --- where a mode does not reach -----------------------------------------------------------


def watch_threads(modes):
    """Makes every new thread enter the modes, because a mode belongs to one thread."""
    start = threading.Thread.start

    @functools.wraps(start)
    def watched_start(self):
        run = self.run

        @functools.wraps(run)
        def watched_run():
            with contextlib.ExitStack() as stack:
                for mode in modes:
                    stack.enter_context(mode)
                run()

        self.run = watched_run
        start(self)

    threading.Thread.start = watched_start


def pause_in_compiled_code(watch):
    """Switches the watch off while a compiled function runs, and counts the calls of compiled
    functions. Compiled code would not run the watch, and compiling under a mode would change what is
    compiled."""

    def wrap(eval_frame):
        context = getattr(eval_frame, "_TorchDynamoContext", None)
        if context is None:
            return
        compile_it = context.__call__

        @functools.wraps(compile_it)
        def call(self, function):
            compiled = compile_it(self, function)
            if getattr(self, "callback", None) in (None, False) or not inspect.isfunction(compiled):
                return compiled
            return _unwatched(watch, compiled)

        context.__call__ = call

    hooks.after_import("torch._dynamo.eval_frame", wrap)


def _unwatched(watch, function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if _compiling():
            return function(*args, **kwargs)
        watch.unseen += 1
        above = []
        while torch._C._len_torch_function_stack() > 0:
            mode = torch.overrides._pop_mode()
            above.append(mode)
            if mode is watch:
                break
        found = bool(above) and above[-1] is watch
        rest = above[:-1] if found else above
        for mode in reversed(rest):
            torch.overrides._push_mode(mode)
        try:
            return function(*args, **kwargs)
        finally:
            if found:
                _put_below(watch, len(rest))

    return call


def _put_below(watch, depth):
    """Puts the watch back under the `depth` modes that stood above it."""
    above = [torch.overrides._pop_mode() for _ in range(min(depth, torch._C._len_torch_function_stack()))]
    torch.overrides._push_mode(watch)
    for mode in reversed(above):
        torch.overrides._push_mode(mode)
