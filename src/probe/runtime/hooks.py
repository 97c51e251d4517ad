"""Calls a function when a module has been imported, or at once if it is imported already."""

import sys


class _Loader:
    """Wraps the loader of a module, and calls functions after the module has been loaded."""

    def __init__(self, loader, after):
        self._loader = loader
        self._after = after

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        for function in self._after:
            function(module)


class _Finder:
    """The first finder in `sys.meta_path`. If functions wait for a module, it lets the other finders
    find the module, and wraps its loader."""

    def __init__(self):
        self.after = {}

    def find_spec(self, name, path=None, target=None):
        waiting = self.after.pop(name, None)
        if waiting is None:
            return None
        spec = _find(name, path)
        if spec is None or spec.loader is None:
            self.after[name] = waiting
            return None
        spec.loader = _Loader(spec.loader, waiting)
        return spec


def _find(name, path):
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find(name, path) if find is not None and finder is not _finder else None
        if spec is not None:
            return spec
    return None


_finder = _Finder()


def after_import(name, function):
    """Calls `function(module)` once the module is imported."""
    if name in sys.modules:
        function(sys.modules[name])
        return
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.after.setdefault(name, []).append(function)
