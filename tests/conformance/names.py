"""Lists the names of modules and the attributes of classes, for rules about missing names.

    python tests/conformance/names.py > src/library/data/names.txt

A line is a module or class, a colon, and its public names. These include submodules that must be
imported first, and names that a module creates only when they are accessed.
"""

import builtins
import collections
import importlib
import inspect
import pathlib
import pkgutil
import re
import warnings

import numpy
import torch

MODULES = """
torch torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.utils.parametrizations
torch.nn.parallel torch.nn.modules torch.nn.modules.loss torch.optim torch.optim.lr_scheduler torch.utils
torch.utils.data torch.utils.checkpoint torch.cuda torch.cuda.amp torch.amp torch.autograd
torch.distributed torch.distributions torch.fft torch.functional torch.linalg torch.special torch.jit torch.onnx torch.hub torch.random
torchvision torchvision.models torchvision.datasets torchvision.transforms torchvision.transforms.functional
torchvision.transforms.v2 torchvision.transforms.v2.functional torchvision.ops torchvision.io torchvision.utils
torch.nn.attention torch.nn.parameter torch.optim.swa_utils torch.profiler
torchvision.models.detection torchvision.models.segmentation torchvision.models.video torchvision.tv_tensors
numpy numpy.random numpy.linalg numpy.fft numpy.testing
copy csv datetime functools glob heapq itertools json logging math operator os os.path pickle random re shutil statistics
string subprocess sys tempfile time warnings zipfile
""".split()

# torchvet models some lists as arrays (such as the labels of datasets), and scalars of NumPy as
# arrays without dimensions. So the names of all these classes are listed for an array.
ARRAYS = (numpy.ndarray, numpy.generic, numpy.float64, numpy.int64, numpy.matrix, numpy.recarray, numpy.ma.MaskedArray, list)


def optimizers():
    for cls in vars(torch.optim).values():
        if inspect.isclass(cls) and issubclass(cls, torch.optim.Optimizer) and cls is not torch.optim.Optimizer:
            yield cls([torch.nn.Parameter(torch.zeros(1, 1))])


def schedulers():
    # An instance also has the attributes that its methods set: `self.gamma = gamma`.
    for cls in vars(torch.optim.lr_scheduler).values():
        if inspect.isclass(cls) and issubclass(cls, torch.optim.lr_scheduler.LRScheduler):
            yield dict.fromkeys(dir(cls) + re.findall(r"self\.(\w+)", inspect.getsource(cls)))


# Attributes that other versions of Python have.
PATHS = (dict.fromkeys("copy copy_into from_uri full_match info is_junction link_to move move_into walk".split()),)

CLASSES = {
    "torch.Tensor": (torch.Tensor, torch.nn.Parameter, torch.nn.parameter.UninitializedParameter, torch.nn.Buffer),
    "torch.nn.Module": (torch.nn.Module(),),
    "numpy.ndarray": ARRAYS,
    "torch.optim.Optimizer": tuple(optimizers()),
    "torch.optim.lr_scheduler.LRScheduler": tuple(schedulers()),
    "builtins.dict": (dict, collections.OrderedDict, collections.defaultdict, collections.Counter),
    "builtins.list": (list,),
    "builtins.tuple": (tuple, torch.Size),
    "builtins.set": (set, frozenset),
    "pathlib.Path": (pathlib.Path, *PATHS),
    "builtins.str": (str,),
    **{f"builtins.{name}": (getattr(builtins, name),) for name in ("enumerate", "filter", "map", "range", "zip")},
    "builtins.generator": ((value for value in ()),),
    "builtins.dict_items": ({}.items(),),
    "builtins.dict_keys": ({}.keys(),),
    "builtins.dict_values": ({}.values(),),
    "builtins.int": (int, numpy.int64, numpy.bool_),
    "builtins.float": (float, numpy.float64, numpy.float32),
}


def lazily_made(module):
    """The names that the module's `__getattr__` knows, as its source lists them."""
    for name in ("_deprecated_attrs", "_lazy_modules", "__expired_attributes__"):
        yield from getattr(module, name, ())
    if lookup := vars(module).get("__getattr__"):
        yield from re.findall(r'name == "(\w+)"', inspect.getsource(lookup))


def names_of(module):
    found = set(dir(module)) | set(lazily_made(module))
    if hasattr(module, "__path__"):
        found |= {info.name for info in pkgutil.iter_modules(module.__path__)}
    if module is torch:
        # Names that only some builds have.
        found |= set(re.findall(r"\w+", "cuda xpu mps mtia hpu npu privateuseone xla"))
    return found


def attributes(thing):
    """The attributes of a class or an instance; a dictionary lists them itself."""
    return thing if isinstance(thing, dict) else dir(thing)


def main():
    warnings.simplefilter("ignore")
    listed = {path: names_of(importlib.import_module(path)) for path in MODULES}
    listed |= {path: set().union(*map(attributes, objects)) for path, objects in CLASSES.items()}
    for path, names in listed.items():
        print(f"{path}:", *sorted(name for name in names if not name.startswith("_")))


if __name__ == "__main__":
    main()
