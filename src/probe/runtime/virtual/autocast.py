"""`torch.autocast("cuda")`: also enables autocast for the CPU, which does the arithmetic."""

import functools

import torch


def _dtype(wanted):
    """The dtype for the CPU's autocast: only bfloat16 before PyTorch 2.2."""
    setter = getattr(torch, "set_autocast_cpu_dtype", None)
    if setter is None or torch.__version__ >= (2, 4):
        return wanted
    before = torch.get_autocast_cpu_dtype()
    try:
        setter(wanted)
    except RuntimeError:
        return torch.bfloat16
    setter(before)
    return wanted


def install():
    autocast = torch.amp.autocast_mode.autocast
    enter, leave = autocast.__enter__, autocast.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        result = enter(self)
        if self.device == "cuda" and not torch._jit_internal.is_scripting():
            dtype = _dtype(self.fast_dtype)
            inner = autocast("cpu", dtype=dtype, enabled=self._enabled, cache_enabled=self._cache_enabled)
            inner.fast_dtype = dtype
            self.__dict__.setdefault("_torchvet_inner", []).append(inner)
            enter(inner)
        return result

    @functools.wraps(leave)
    def __exit__(self, *error):
        inner = self.__dict__.get("_torchvet_inner")
        if inner:
            leave(inner.pop(), *error)
        return leave(self, *error)

    autocast.__enter__, autocast.__exit__ = __enter__, __exit__
