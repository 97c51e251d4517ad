"""`torchvet.guard`."""

import contextlib
import functools
import threading
import warnings

from . import _runtime


class ContractViolation(AssertionError):
    """A call that violates a contract.

    `code` is the code of the rule; `finding` is the complete finding.
    """

    def __init__(self, message, finding=None):
        super().__init__(message)
        self.finding = finding
        self.code = finding["code"] if finding else None


class ContractWarning(UserWarning):
    """A call that is very likely wrong."""


def _report(event, **fields):
    if event != "finding" or fields["stopped"] or fields["severity"] == "info":
        return
    text = f"{fields['code']} {fields['message']}"
    warnings.warn_explicit(text, ContractWarning, fields["filename"], fields["line"])


@functools.cache
def _watch():
    _, contracts = _runtime.load()
    from ._probe import watch

    watching = watch.Watch(contracts, _report)
    watching.violation = ContractViolation
    watch.pause_in_compiled_code(watching)
    return watching


class _Depth(threading.local):
    value = 0


_depth = _Depth()


def _enter():
    if _depth.value == 0:
        _watch().__enter__()
    _depth.value += 1


def _leave():
    _depth.value -= 1
    if _depth.value == 0:
        _watch().__exit__(None, None, None)


class _Guard(contextlib.ContextDecorator):
    def __enter__(self):
        _enter()
        return self

    def __exit__(self, *_):
        _leave()
        return False


# These hooks are top-level functions, so that a guarded model can be copied and pickled.
def _before_forward(module, args):
    _enter()


def _after_forward(module, args, result):
    _leave()


def guard(model=None):
    """Checks the calls of PyTorch's functions with the contracts of torchvet's rules.

    Without an argument, checks the calls of a `with` block, or of a decorated function, in the
    thread that entered it. With a module, checks the calls inside each call of the module, and
    returns the module.
    """
    if model is None:
        return _Guard()
    model.register_forward_pre_hook(_before_forward)
    model.register_forward_hook(_after_forward, always_call=True)
    return model
