"""`torch.autocast("cuda")`: the same for the CPU, on which the arithmetic is done."""

import functools

import torch


def install():
    autocast = torch.amp.autocast_mode.autocast
    enter, leave = autocast.__enter__, autocast.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        result = enter(self)
        if self.device == "cuda" and not torch._jit_internal.is_scripting():
            inner = autocast("cpu", dtype=self.fast_dtype, enabled=self._enabled, cache_enabled=self._cache_enabled)
            inner.fast_dtype = self.fast_dtype
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
