"""Writes src/library/signatures.txt: the signatures of the public functions of PyTorch.

    python tests/conformance/signatures.py [--output src/library/signatures.txt] [--check]

Each overload has a line `path(params)`. `*` begins the keyword-only parameters; a default is a Python
literal, or `...` if it cannot be written as one. The signatures of Python functions come from
`inspect`. Those of native functions come from the type stubs of the wheel (for `torch` and the methods
of tensors), otherwise from the operator schemas, otherwise from the first lines of the docstring. But
those of native functions in `nn.functional` come from whichever of these sources has the fewest unknown
defaults.
"""

import argparse
import ast
import importlib
import inspect
import pathlib
import re
import sys
import typing

import torch

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_OUTPUT = HERE.parent.parent / "src" / "library" / "signatures.txt"
TORCH = pathlib.Path(torch.__file__).resolve().parent

# The modules whose members are listed.
MODULES = [
    "torch",
    "torch.amp",
    "torch.autograd",
    "torch.backends.cuda",
    "torch.cuda",
    "torch.cuda.amp",
    "torch.fft",
    "torch.func",
    "torch.linalg",
    "torch.nn",
    "torch.nn.attention",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parallel",
    "torch.nn.utils",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.rnn",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.swa_utils",
    "torch.special",
    "torch.utils.checkpoint",
    "torch.utils.data",
]


# Overloads of native functions that the type stubs omit.
UNSTUBBED = {
    "sparse_coo_tensor": "size, *, dtype=None, device=None, requires_grad=False, check_invariants=None",
}

# Native functions whose first parameter alone may be passed by position, although the stubs say otherwise.
ONE_BY_POSITION = {"tensor", "as_tensor", "new_tensor", "new_ones"}


class Parameter:
    """One parameter of a signature: its name, its kind and its default as source, or None."""

    def __init__(self, name, kind, default=None):
        self.name, self.kind, self.default = name, kind, default

    def text(self):
        prefix = {"star": "*", "kwargs": "**"}.get(self.kind, "")
        return prefix + self.name + ("" if self.default is None else "=" + self.default)


def literal(value):
    """`value` as a Python literal, or `...` if there is none."""
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if value == value and abs(value) != float("inf") else "..."
    if isinstance(value, (tuple, list)):
        items = [literal(item) for item in value]
        if "..." in items:
            return "..."
        return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
    return "..."


def render(path, parameters):
    """`path(params)`, with `/` and `*` as in Python."""
    parts, seen_star, pending_slash = [], False, False
    for parameter in parameters:
        if pending_slash and parameter.kind != "positional":
            parts.append("/")
        pending_slash = parameter.kind == "positional"
        if parameter.kind == "star":
            seen_star = True
        if parameter.kind == "keyword" and not seen_star:
            parts.append("*")
            seen_star = True
        parts.append(parameter.text())
    if pending_slash:
        parts.append("/")
    return f"{path}({', '.join(parts)})"


# Python functions -----------------------------------------------------------------------------

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "plain",
    inspect.Parameter.VAR_POSITIONAL: "star",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_KEYWORD: "kwargs",
}


def from_signature(signature, drop_self):
    parameters = list(signature.parameters.values())
    if drop_self and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    return [
        Parameter(
            parameter.name,
            KINDS[parameter.kind],
            None if parameter.default is inspect.Parameter.empty else literal(parameter.default),
        )
        for parameter in parameters
    ]


def dispatched(function):
    """The function that `torch._jit_internal.boolean_dispatch` calls if its flag has the default
    value."""
    code = getattr(function, "__code__", None)
    if code is None or "if_false" not in code.co_freevars:
        return None
    cells = {name: cell.cell_contents for name, cell in zip(code.co_freevars, function.__closure__)}
    return cells["if_true"] if cells["default"] else cells["if_false"]


def of_python(function, drop_self=False):
    """The signatures of a Python function or class; None if `inspect` has none."""
    target = dispatched(function) or function
    if inspect.isclass(target):
        drop_self = True
        constructor = target.__init__
        # The constructor of `nn.Module` raises if it gets arguments.
        if constructor is torch.nn.Module.__init__ and target is not torch.nn.Module:
            return [[]]
        if constructor is object.__init__:
            constructor = target.__new__
            if constructor is object.__new__:
                return [[]]
        target = constructor
    overloads = typing.get_overloads(target) if inspect.isfunction(target) else []
    found = []
    for candidate in overloads or [target]:
        try:
            found.append(from_signature(inspect.signature(candidate), drop_self))
        except (TypeError, ValueError):
            return None
    if len(found) > 1:  # `(*args, **kwargs)` adds nothing to other overloads
        found = [ps for ps in found if [p.kind for p in ps] != ["star", "kwargs"]] or found
    return found


# Native functions -----------------------------------------------------------------------------


def read_stub(path, class_name=None):
    """Name -> list of `ast.FunctionDef` of a stub file, or of one class in it."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    if class_name is not None:
        body = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == class_name).body
    functions = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            if any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list):
                continue
            functions.setdefault(node.name, []).append(node)
    return functions


def stub_default(node):
    if node is None:
        return None
    try:
        return literal(ast.literal_eval(node))
    except ValueError:
        return "..."


def from_stub(node, is_method):
    """The parameters of one overload of a stub; None if users do not call it (named dimensions, old
    orders of arguments)."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    every = positional + arguments.kwonlyargs
    annotations = {a.arg: ast.unparse(a.annotation) if a.annotation else "" for a in every}
    for name, annotation in annotations.items():
        if "ellipsis" in annotation or re.fullmatch(r"str( \| None)?", annotation) and name in ("dim", "dim1", "dim2", "dim0"):
            return None
    names = [a.arg for a in positional]
    scalars = [names.index(n) for n in ("alpha", "beta", "value") if n in names and "Tensor" not in annotations[n]]
    tensors = [i for i, n in enumerate(names) if n not in ("self", "input") and annotations[n] == "Tensor"]
    if scalars and tensors and min(scalars) < max(tensors) and min(scalars) <= 1:
        return None  # add(input, alpha, other)
    if "names" in annotations and "size" in annotations:
        return None
    parameters = []
    for argument, default in zip(positional, defaults):
        kind = "positional" if argument in arguments.posonlyargs else "plain"
        if node.name in ONE_BY_POSITION and default is not None and not arguments.vararg:
            kind = "keyword"
        name = "input" if argument.arg == "self" and not is_method else argument.arg
        parameters.append(Parameter(name, kind, stub_default(default)))
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, "star"))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        source = stub_default(default)
        if source is None and annotations[argument.arg].endswith("| None"):
            source = "None"
        parameters.append(Parameter(argument.arg, "keyword", source))
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, "kwargs"))
    return parameters[1:] if is_method else parameters


def of_stub(nodes, is_method=False):
    found = []
    if nodes and nodes[0].name in UNSTUBBED and not is_method:
        nodes = [*nodes, ast.parse(f"def f({UNSTUBBED[nodes[0].name]}): ...").body[0]]
    for node in nodes or []:
        parameters = from_stub(node, is_method)
        if parameters is not None:
            found.append(parameters)
    return found or None


def of_schema(name):
    """The signatures of the operator `aten::name`, with the parameters of its Python binding."""
    schemas = torch._C._jit_get_schemas_for_operator("aten::" + name)
    takes_out = any(argument.is_out for schema in schemas for argument in schema.arguments)
    found = []
    for schema in sorted(schemas, key=lambda s: (len(s.overload_name), s.overload_name)):
        if any(argument.is_out for argument in schema.arguments):
            continue
        if any("Dimname" in str(a.real_type) or "name" == a.name[-4:] and "dim" in a.name for a in schema.arguments):
            continue
        parameters = []
        for argument in schema.arguments:
            spelled = "input" if argument.name == "self" else argument.name
            default = literal(argument.default_value) if argument.has_default_value() else None
            parameters.append(Parameter(spelled, "keyword" if argument.kwarg_only else "plain", default))
        if takes_out:
            parameters.append(Parameter("out", "keyword", "None"))
        if any(p.name == "pin_memory" for p in parameters):
            parameters.append(Parameter("requires_grad", "keyword", "False"))
        found.append(parameters)
    return found or None


def of_docstring(function, name):
    """The signatures at the beginning of the docstring."""
    found = []
    lines = [line.strip() for line in (function.__doc__ or "").strip().splitlines()]
    for line in lines:
        match = re.match(r"(?:torch\.)?(?:[\w.]*\.)?" + re.escape(name) + r"\((.*)\)(?: *->.*)?$", line)
        if not match:
            break
        try:
            node = ast.parse(f"def f({match.group(1)}): pass").body[0]
        except SyntaxError:
            break
        found.append(from_stub(node, False) or [])
    return found or None


# The listing ----------------------------------------------------------------------------------


def covers(wide, narrow):
    """Whether the overload `wide` accepts every call that `narrow` accepts."""
    if any(p.kind == "kwargs" for p in wide + narrow):
        return render("", wide) == render("", narrow)
    places = [[p for p in ps if p.kind != "keyword"] for ps in (wide, narrow)]
    if len(places[0]) < len(places[1]) or any(p.default is None for p in places[0][len(places[1]) :]):
        return False
    for ours, theirs in zip(*places):
        if (ours.name, ours.kind) != (theirs.name, theirs.kind):
            return False
        if theirs.default is not None and ours.default != theirs.default:
            return False
    words = [{p.name: p.default for p in ps if p.kind == "keyword"} for ps in (wide, narrow)]
    if any(default is None and name not in words[1] for name, default in words[0].items()):
        return False
    return set(words[1]) <= set(words[0])


def unique(overloads):
    """The overloads in their order, without those that another overload covers."""
    kept = []
    for parameters in overloads:
        if any(covers(other, parameters) for other in kept):
            continue
        place = next((i for i, other in enumerate(kept) if covers(parameters, other)), len(kept))
        kept = [other for other in kept if not covers(parameters, other)]
        kept.insert(place, parameters)
    return kept


def clearest(*candidates):
    """The description with the fewest unknown defaults; the first of several."""
    described = [c for c in candidates if c]
    if not described:
        return None
    return min(described, key=lambda c: sum(p.default == "..." for ps in c for p in ps))


def is_public(module, name, value):
    if name.startswith("_") or not callable(value):
        return False
    if isinstance(value, type(typing.Any)) or typing.get_origin(value) is not None:
        return False
    owner = getattr(value, "__module__", None) or ""
    if not owner:
        return True
    if inspect.isclass(value) and issubclass(value, (torch.ScriptModule,)) and name.startswith("Script"):
        return False
    return owner.startswith("torch") and not (inspect.isfunction(value) and owner.startswith("torch.overrides"))


def signatures():
    """Path -> list of signatures, for every public function that can be described."""
    natives = read_stub(TORCH / "_C" / "_VariableFunctions.pyi")
    functional = read_stub(TORCH / "nn" / "functional.pyi")
    nn_natives = read_stub(TORCH / "_C" / "_nn.pyi")
    core = read_stub(TORCH / "_C" / "__init__.pyi")
    methods = read_stub(TORCH / "_C" / "__init__.pyi", "TensorBase")
    table, silent = {}, []

    def put(path, overloads):
        if overloads is None:
            silent.append(path)
        else:
            table[path] = unique(overloads)

    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in sorted(dir(module)):
            value = getattr(module, name, None)
            if not is_public(module, name, value):
                continue
            path = f"{module_name}.{name}"
            if inspect.isclass(value) or inspect.isfunction(value):
                # A class or function is listed only under the module to which it belongs; `torch` also lists the
                # functions that it imports.
                if inspect.isclass(value) and not value.__module__.startswith(module_name):
                    continue
                if inspect.isfunction(value) and module_name != "torch" and not belongs(module_name, value):
                    continue
                put(path, of_python(value))
                # The arguments of a layer's call.
                if inspect.isclass(value) and issubclass(value, torch.nn.Module) and value.forward.__name__ == "forward":
                    put(f"{path}.forward", of_python(value.forward))
            elif inspect.isbuiltin(value) or inspect.isroutine(value):
                own = getattr(value, "__name__", name)
                if module_name == "torch":
                    found = of_stub(natives.get(name)) or of_stub(core.get(name))
                    found = found or of_schema(own) or of_docstring(value, name)
                elif module_name == "torch.nn.functional":
                    found = clearest(
                        of_stub(functional.get(name)),
                        of_stub(nn_natives.get(name)),
                        of_stub(natives.get(name)),
                        of_docstring(value, name),
                        of_schema(own),
                    )
                else:
                    found = of_schema(own) or of_docstring(value, name)
                put(path, found or of_python(value))

    for name in sorted(dir(torch.Tensor)):
        value = getattr(torch.Tensor, name)
        if name.startswith("_") or not callable(value):
            continue
        path = f"torch.Tensor.{name}"
        if inspect.isfunction(value):
            put(path, of_python(value, drop_self=True))
        else:
            put(path, of_stub(methods.get(name), is_method=True))
    return table, silent


def belongs(module_name, function):
    """Whether a Python function belongs to this module, and is not only imported there."""
    owner = function.__module__ or ""
    if module_name == "torch.nn.functional":
        return owner in ("torch.nn.functional", "torch._jit_internal")
    return owner == module_name or owner.startswith(module_name + ".")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=DEFAULT_OUTPUT)
    parser.add_argument("--check", action="store_true", help="exit with 1 if the file is not up to date")
    options = parser.parse_args()

    table, silent = signatures()
    lines = [
        f"# Made by tests/conformance/signatures.py from PyTorch {torch.__version__.split('+')[0]}. Do not edit.",
        "# One line per overload. The parameters after `*` are keyword-only. `=...` is a default that is not a literal.",
    ]
    for path in sorted(table):
        lines += [render(path, parameters) for parameters in table[path]]
    text = "\n".join(lines) + "\n"
    if options.check:
        if options.output.exists() and options.output.read_text(encoding="utf-8") == text:
            return 0
        print(f"{options.output} does not agree with this PyTorch: run tests/conformance/signatures.py")
        return 1
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    print(f"{len(table)} functions, {len(lines) - 2} signatures; {len(silent)} functions have none")
    for path in silent:
        print("  no signature:", path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
