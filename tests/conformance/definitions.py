"""Lists the modules that define the public names of PyTorch and torchvision.

    python tests/conformance/definitions.py > src/library/data/definitions.txt

Programs also import names from these modules: `from torch.nn.utils.clip_grad import clip_grad_norm_`. A
line is such a module, a colon, the public module, and the names.
"""

import collections
import importlib
import inspect
import warnings

MODULES = """
torch.nn torch.nn.functional torch.nn.utils torch.nn.utils.rnn torch.nn.init torch.nn.parallel torch.optim
torch.optim.lr_scheduler torch.utils.data torch.cuda.amp torch.distributions torchvision.models torchvision.ops
torchvision.transforms torchvision.datasets
""".split()


def definitions(module):
    """The modules that define the names of a public module, and these names."""
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        where = value.__module__
        is_own = where.split(".")[0] == module.__name__.split(".")[0] and value.__name__ == name
        # Only names that a submodule defines count, unless the submodule is private or in `MODULES`.
        if is_own and where.startswith(module.__name__ + ".") and "._" not in where and where not in MODULES:
            yield where, name


def main():
    warnings.simplefilter("ignore")
    lines = collections.defaultdict(list)
    for path in MODULES:
        for where, name in definitions(importlib.import_module(path)):
            lines[where, path].append(name)
    print("# The modules that define public names; written by tests/conformance/definitions.py.")
    for (where, path), names in sorted(lines.items()):
        print(f"{where}: {path}", *names)


if __name__ == "__main__":
    main()
