"""Writes src/library/data/standard.txt: the signatures of Python's standard library, from typeshed.

    python tests/conformance/standard.py [--typeshed DIR] [--output src/library/data/standard.txt] [--check]

The wheel of mypy contains the stubs of typeshed, in `mypy/typeshed/stdlib`; without `--typeshed`, the stubs
of the installed mypy are used. The file has the functions and the constructors of `MODULES`, and the methods
of `CLASSES`, those of their bases included. All versions of Python from 3.8 to 3.14 and all platforms count:
where they differ, each variant has a line.

A line is `path(params)`, without the parameter that Python passes itself (`self`, `cls`). The name of a
positional-only parameter begins with `__`, and every default is `...`. The word after `:` says which plain
values the annotation of a parameter accepts, if it says nothing else. `float` is any number, `path` is a
string, `bytes` or `os.PathLike`, and `iterable` includes strings.

A line `*module: names` lists all names that `from module import *` binds in some version, for `STARRED`.

`--check` writes nothing. It compares the file with the Python that runs this script, and lists the functions
whose `inspect.signature` no overload covers.
"""

import argparse
import ast
import collections
import dataclasses
import functools
import importlib
import importlib.util
import inspect
import pathlib
import re
import sys
import types
import warnings

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_OUTPUT = HERE.parent.parent / "src" / "library" / "data" / "standard.txt"

# The modules whose functions and classes are listed.
MODULES = """
argparse base64 bisect builtins collections concurrent.futures configparser contextlib copy csv dataclasses datetime
enum fnmatch functools gc getpass glob gzip hashlib heapq inspect io itertools json logging math multiprocessing
operator os os.path pathlib pickle platform pprint queue random re secrets shutil signal socket statistics string
struct subprocess sys tarfile tempfile textwrap threading time traceback types urllib.parse urllib.request uuid
warnings zipfile
""".split()

# The classes whose methods are listed.
CLASSES = """
argparse.ArgumentParser argparse.Namespace builtins.bool builtins.bytes builtins.dict builtins.float
builtins.frozenset builtins.int builtins.list builtins.set builtins.str builtins.tuple collections.Counter
collections.OrderedDict collections.defaultdict collections.deque concurrent.futures.ThreadPoolExecutor
csv.DictReader csv.DictWriter datetime.date datetime.datetime datetime.timedelta io.TextIOWrapper logging.Logger
pathlib.Path random.Random re.Match re.Pattern subprocess.Popen tarfile.TarFile threading.Thread zipfile.ZipFile
""".split()

# The modules whose `import *` is listed.
STARRED = "abc collections datetime functools itertools math os.path random time typing".split()

# The kinds of plain values, in the order of the file, and the types that accept them.
KINDS = "int float str bytes path iterable callable reader writer none".split()
TYPE_KINDS = {
    # Python accepts other values than `bool` for most flags, so flags have no kinds.
    "int": "builtins.int typing.SupportsIndex",
    "float": "builtins.float typing.SupportsFloat",
    "str": "builtins.str typing.LiteralString",
    "bytes": "builtins.bytes builtins.bytearray builtins.memoryview typing.Buffer",
    "path": "os.PathLike _typeshed.StrPath _typeshed.BytesPath _typeshed.StrOrBytesPath _typeshed.GenericPath",
    "iterable": "builtins.list builtins.tuple builtins.dict builtins.set builtins.frozenset typing.Iterable "
    "typing.Iterator typing.Generator typing.Reversible typing.Collection typing.Sequence typing.MutableSequence "
    "typing.AbstractSet typing.MutableSet typing.Mapping typing.MutableMapping",
    "callable": "typing.Callable",
    "reader": "typing.IO typing.TextIO typing.BinaryIO",
    "writer": "typing.IO typing.TextIO typing.BinaryIO",
    "none": "types.NoneType",
}
# The modules that define the names of `typing`.
TYPING = {"_collections_abc", "collections.abc", "typing_extensions"}

# Overloads that the stubs omit, although the functions accept them.
UNSTUBBED = {
    "builtins.memoryview": ["object: bytes"],
    "collections.Counter.subtract": ["__iterable: iterable|none=..., **kwds: int"],
    "enum.auto": ["value=..."],
    "hashlib.new": ["name: str, data: bytes=..., **kwargs"],
    "logging.basicConfig": [
        "*, format: str=..., datefmt: str|none=..., style: str=..., level: int|str|none=..., "
        "handlers: iterable|none=..., force: int|none=..., encoding: str|none=..., errors: str|none=...",
        "*, filemode: str=..., format: str=..., datefmt: str|none=..., style: str=..., level: int|str|none=..., "
        "stream: writer|none=..., force: int|none=..., encoding: str|none=..., errors: str|none=...",
    ],
}

# What the conditions of the stubs depend on: the minor version and the platform.
EVERYWHERE = frozenset((v, p) for v in range(8, 15) for p in ("linux", "darwin", "win32", "freebsd"))


@dataclasses.dataclass(frozen=True)
class Imported:
    """A name that a stub imports: `name` of `module`, or the module itself."""

    module: str
    name: str | None


@dataclasses.dataclass(frozen=True)
class Found:
    """A definition: the environments that have it, its stub, and its statement (None for a module). `bound` says
    whether the call passes the first parameter."""

    where: frozenset
    stub: "Stub"
    node: ast.AST | None
    bound: bool = False


# Reading stubs --------------------------------------------------------------------------------


def holds(test, environment):
    """Whether a condition of a stub holds in this environment."""
    version, platform = environment
    system = types.SimpleNamespace(version_info=(3, version, 99), platform=platform)
    names = {"__builtins__": {}, "sys": system, "TYPE_CHECKING": True}
    return eval(compile(ast.Expression(test), "<stub>", "eval"), names)


def statements(body, where=EVERYWHERE):
    """The statements of a stub with their environments, those in the branches of `if` included."""
    for node in body:
        if isinstance(node, ast.If):
            true = frozenset(e for e in where if holds(node.test, e))
            yield from statements(node.body, true)
            yield from statements(node.orelse, where - true)
        elif where:
            yield node, where


def defined_name(node):
    """The name that a statement defines, or None."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) else None


def decorators(node):
    return {ast.unparse(decorator).split("(")[0] for decorator in node.decorator_list}


def is_function(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def is_method(node):
    """Whether this member of a class is a method, and not a property."""
    return is_function(node) and not any(re.search(r"property$|\.setter$|_attr$", d) for d in decorators(node))


def is_reference(node):
    """Whether a statement only gives another name to a definition: `IOError = OSError`."""
    return isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute))


class Stub:
    """A stub file: the statements that define its names, the modules of `from m import *`, and the imported names
    that are public."""

    def __init__(self, name, path):
        self.name = name
        self.package = name if path.name == "__init__.pyi" else name.rpartition(".")[0]
        self.names = collections.defaultdict(list)
        self.stars, self.exported = [], set()
        for node, where in statements(ast.parse(path.read_text(encoding="utf-8")).body):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    module = alias.name if alias.asname else alias.name.split(".")[0]
                    self.names[alias.asname or module].append((where, Imported(module, None)))
            elif isinstance(node, ast.ImportFrom):
                self.add_imports(node, where)
            elif name := defined_name(node):
                self.names[name].append((where, node))
                if name == "__all__":
                    self.exported |= {item.value for item in getattr(node.value, "elts", [])}

    def add_imports(self, node, where):
        module = node.module or ""
        if node.level:
            parents = self.package.split(".")
            module = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [node.module])])
        for alias in node.names:
            if alias.name == "*":
                self.stars.append((where, module))
                continue
            imported = Imported(module, alias.name)
            if module == self.name:
                imported = Imported(f"{module}.{alias.name}", None)
            self.names[alias.asname or alias.name].append((where, imported))
            if alias.asname == alias.name:
                self.exported.add(alias.name)


class Library:
    """The stubs in a folder, and the search for definitions in them."""

    def __init__(self, folder):
        self.folder = folder

    @functools.cache
    def stub(self, module):
        place = self.folder.joinpath(*module.split("."))
        for path in (place / "__init__.pyi", place.with_suffix(".pyi")):
            if path.is_file():
                return Stub(module, path)
        return None

    @functools.cache
    def find(self, module, name, where=EVERYWHERE):
        """The definitions of a name of a module; imports and other names are followed."""
        stub = self.stub(module)
        if stub is None or not where:
            return []
        if name is None:
            return [Found(where, stub, None)]
        found = []
        for there, node in stub.names.get(name, []):
            if isinstance(node, Imported):
                found += self.find(node.module, node.name, there & where)
            elif is_reference(node):
                found += self.evaluate(stub, node.value, there & where)
            elif there & where:
                found.append(Found(there & where, stub, node))
        if not found:
            found = [each for there, star in stub.stars for each in self.find(star, name, there & where)]
        return found or self.find(f"{module}.{name}", None, where)

    def evaluate(self, stub, expression, where):
        """The definitions to which an expression in a stub refers."""
        if isinstance(expression, ast.Name):
            name = expression.id
            return self.find(stub.name, name, where) or self.find("builtins", name, where)
        if isinstance(expression, ast.Subscript):
            return self.evaluate(stub, expression.value, where)
        found = []
        if isinstance(expression, ast.Attribute):
            for value in self.evaluate(stub, expression.value, where):
                found += self.attribute(value, expression.attr)
        return found

    def attribute(self, value, name):
        if value.node is None:
            return self.find(value.stub.name, name, value.where)
        if isinstance(value.node, ast.ClassDef):
            members = self.members(value).get(name, [])
            return [
                dataclasses.replace(m, bound="classmethod" in decorators(m.node)) if is_function(m.node) else m
                for m in members
            ]
        return [
            dataclasses.replace(member, bound=True)
            for cls in self.variable_classes(value)
            for member in self.attribute(cls, name)
        ]

    def variable_classes(self, found):
        """The classes of a variable, if its annotation names one."""
        annotation = getattr(found.node, "annotation", None)
        classes = self.evaluate(found.stub, annotation, found.where)
        return [cls for cls in classes if isinstance(cls.node, ast.ClassDef)]

    def ancestors(self, cls):
        """A class and its bases, in the order in which Python looks up attributes."""
        order = [cls]
        for expression in cls.node.bases:
            for base in self.evaluate(cls.stub, expression, cls.where):
                if isinstance(base.node, ast.ClassDef) and base.node.name != "NamedTuple":
                    order += self.ancestors(base)
        last = {}
        for each in order:
            before = last.pop(id(each.node), each)
            last[id(each.node)] = dataclasses.replace(each, where=each.where | before.where)
        return list(last.values())

    def members(self, cls):
        """Name -> definitions of the members of a class, those of its bases included."""
        members = collections.defaultdict(list)
        for base in self.ancestors(cls):
            own = self.own_members(base)
            for name, definitions in own.items():
                taken = frozenset().union(*(each.where for each in members[name]))
                for each in definitions:
                    if each.where - taken:
                        members[name].append(dataclasses.replace(each, where=each.where - taken))
        return members

    def own_members(self, cls):
        own = collections.defaultdict(list)
        fields = []
        for node, where in statements(cls.node.body, cls.where):
            name = defined_name(node)
            if is_reference(node) and isinstance(node.value, ast.Name) and node.value.id in own:
                own[name] += own[node.value.id]
            elif name:
                own[name].append(Found(where, cls.stub, node))
                fields += [node] if isinstance(node, ast.AnnAssign) else []
        if any(ast.unparse(base) == "NamedTuple" for base in cls.node.bases):
            own["__new__"] = [Found(cls.where, cls.stub, constructor_of_fields(fields))]
        return own

    # Signatures

    def public_names(self, module):
        """The public names of a module."""
        stub = self.stub(module)
        names = {name for _, star in stub.stars for name in self.public_names(star)}
        for name, definitions in stub.names.items():
            is_own = any(not isinstance(node, Imported) for _, node in definitions)
            if not name.startswith("_") and (is_own or name in stub.exported):
                names.add(name)
        return names

    def overloads(self, found):
        """The lists of parameters of the calls of a definition."""
        if isinstance(found.node, ast.ClassDef):
            if "type_check_only" in decorators(found.node):
                return []
            return self.constructors(found)
        if is_function(found.node):
            return [self.parameters(found)] if is_method(found.node) else []
        if isinstance(found.node, ast.AnnAssign):
            classes = [cls for cls in self.variable_classes(found) if cls.node.name != "type"]
            calls = [call for cls in classes for call in self.members(cls)["__call__"]]
            return self.bound_overloads(calls)
        return []

    def bound_overloads(self, methods):
        return [self.parameters(dataclasses.replace(each, bound=True)) for each in methods if is_method(each.node)]

    def constructors(self, cls):
        for base in self.ancestors(cls):
            for metaclass in [word.value for word in base.node.keywords if word.arg == "metaclass"]:
                for meta in self.evaluate(base.stub, metaclass, base.where):
                    call = self.members(meta)["__call__"] if meta.node.name != "ABCMeta" else []
                    if call:
                        return self.bound_overloads(call)
        members = self.members(cls)
        makers = [*members["__new__"], *members["__init__"]]
        lists = []
        # Of `__new__` and `__init__`, one that accepts everything does not decide.
        for maker in makers:
            others = members["__init__" if maker.node.name == "__new__" else "__new__"]
            elsewhere = frozenset().union(*(other.where for other in others))
            if not (accepts_everything(maker.node) and maker.where <= elsewhere):
                lists += self.bound_overloads([maker])
        if cls.where - frozenset().union(*(maker.where for maker in makers)):
            lists.append([])
        return lists

    def parameters(self, found):
        """The parameters of a function as they stand in the file."""
        arguments = found.node.args
        before = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(before) - len(arguments.defaults)) + arguments.defaults
        items = [
            self.parameter(found, "", each, default, each in arguments.posonlyargs)
            for each, default in zip(before, defaults)
        ]
        if found.bound and items and "staticmethod" not in decorators(found.node):
            del items[0]
        if arguments.vararg:
            items.append(self.parameter(found, "*", arguments.vararg))
        elif arguments.kwonlyargs:
            items.append("*")
        items += [
            self.parameter(found, "", each, default)
            for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults)
        ]
        if arguments.kwarg:
            items.append(self.parameter(found, "**", arguments.kwarg))
        return items

    def parameter(self, found, stars, argument, default=None, positional=False):
        name = argument.arg
        if positional and not name.startswith("__"):
            name = "__" + name
        kinds = self.kinds(found.stub, argument.annotation, found.where) if argument.annotation else None
        listed = "|".join(kind for kind in KINDS if kind in kinds) if kinds else ""
        return stars + name + (f": {listed}" if listed else "") + ("=..." if default else "")

    # Annotations

    def kinds(self, stub, annotation, where):
        """The kinds of values that an annotation accepts; None if it is not made of these kinds alone."""
        if isinstance(annotation, ast.Constant):
            if isinstance(annotation.value, str):
                return self.kinds(stub, ast.parse(annotation.value, mode="eval").body, where)
            return {"none"} if annotation.value is None else None
        if isinstance(annotation, ast.BinOp):
            return self.union(stub, [annotation.left, annotation.right], where)
        if isinstance(annotation, ast.Subscript):
            inner = annotation.slice
            inner = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            head = ast.unparse(annotation.value)
            if head == "Literal":
                return {literal_kind(each) for each in inner} if all(map(literal_kind, inner)) else None
            if head in ("Union", "Optional"):
                rest = [ast.Constant(None)] if head == "Optional" else []
                return self.union(stub, [*inner, *rest], where)
        found = self.evaluate(stub, annotation, where)
        every = [self.definition_kinds(each) for each in found]
        return set().union(*every) if every and None not in every else None

    def union(self, stub, parts, where):
        every = [self.kinds(stub, part, where) for part in parts]
        return None if None in every else set().union(*every)

    def definition_kinds(self, found):
        node = found.node
        if node is None:
            return None
        module = "typing" if found.stub.name in TYPING else found.stub.name
        path = f"{module}.{defined_name(node)}"
        known = {kind for kind, named in TYPE_KINDS.items() if path in named.split()}
        if known:
            return known
        if isinstance(node, ast.ClassDef):
            # Protocols for files.
            is_protocol = any(ast.unparse(base).startswith("Protocol") for base in node.bases)
            members = self.members(found) if is_protocol else {}
            return {kind for kind, name in (("reader", "read"), ("writer", "write")) if name in members} or None
        value = getattr(node, "value", None)
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar":
            return self.union(found.stub, value.args[1:], found.where) or None
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) != "TypeAlias":
            return None
        return self.kinds(found.stub, value, found.where) if value else None


def literal_kind(node):
    """The kind of one value of `Literal[...]`; None for a member of an enumeration."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    names = {int: "int", str: "str", bytes: "bytes", type(None): "none"}
    return names.get(type(value))


def accepts_everything(node):
    """Whether a constructor has the parameters `(*args: Any, **kwargs: Any)`."""
    if not is_function(node):
        return False
    arguments = node.args
    if len(arguments.posonlyargs + arguments.args) != 1 or arguments.kwonlyargs:
        return False
    rest = [arguments.vararg, arguments.kwarg]
    return all(rest) and all(each.annotation and ast.unparse(each.annotation) in ("Any", "object") for each in rest)


def constructor_of_fields(fields):
    """The constructor of a named tuple."""
    names = ["cls", *(field.target.id + ("=..." if field.value else "") for field in fields)]
    node = ast.parse(f"def __new__({', '.join(names)}): ...").body[0]
    for argument, field in zip(node.args.args[1:], fields):
        argument.annotation = field.annotation
    return node


# The listing ----------------------------------------------------------------------------------


def signatures(library):
    """Path -> the texts of the parameters of its overloads, without duplicates."""
    table = collections.defaultdict(dict)
    for module in MODULES:
        for name in library.public_names(module):
            for found in library.find(module, name):
                for items in library.overloads(found):
                    table[f"{module}.{name}"][", ".join(items)] = True
    for path in CLASSES:
        module, _, name = path.rpartition(".")
        for cls in library.find(module, name):
            for method, definitions in library.members(cls).items():
                for items in library.bound_overloads(definitions) if not method.startswith("_") else []:
                    table[f"{path}.{method}"][", ".join(items)] = True
    for path, texts in UNSTUBBED.items():
        table[path].update(dict.fromkeys(texts, True))
    del table["builtins.ellipsis"]  # only stubs have it
    return table


def default_typeshed():
    spec = importlib.util.find_spec("mypy")
    if spec is None:
        sys.exit("mypy is not installed: name the folder of the stubs with --typeshed")
    return pathlib.Path(spec.origin).parent / "typeshed" / "stdlib"


def mypy_version(folder):
    """The version of the mypy to which a folder of stubs belongs."""
    path = folder.resolve().parent.parent / "version.py"
    match = re.search(r'__version__ = "([^"]+)"', path.read_text(encoding="utf-8")) if path.exists() else None
    return match.group(1) if match else "of unknown version"


# The comparison with this Python --------------------------------------------------------------


def runtime_value(path):
    """The value of a path, or None if this Python does not have it."""
    parts = path.split(".")
    for size in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:size]))
        except ImportError:
            continue
        for part in parts[size:]:
            value = getattr(value, part, None)
        return value
    return None


def shape(parameters):
    """Of a list of `inspect.Parameter`: the number of required positional parameters, the highest number of
    positional ones, the names of all keywords and those of the required ones."""
    kinds = inspect.Parameter
    places = [p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    words = [p for p in parameters if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]
    highest = float("inf") if any(p.kind == kinds.VAR_POSITIONAL for p in parameters) else len(places)
    required = {p.name for p in parameters if p.kind == kinds.KEYWORD_ONLY and p.default is kinds.empty}
    names = {p.name for p in words} | {"**" for p in parameters if p.kind == kinds.VAR_KEYWORD}
    return sum(p.default is kinds.empty for p in places), highest, names, required


def listed_shape(text):
    """`shape` of a line's parameters."""
    names = {}
    exec(f"def f({re.sub(r': [a-z|]+', '', text)}): pass", names)
    parameters = inspect.signature(names["f"]).parameters.values()
    return shape([p.replace(kind=p.POSITIONAL_ONLY) if p.name.startswith("__") else p for p in parameters])


def runtime_shape(path):
    value = runtime_value(path)
    parameters = list(inspect.signature(value).parameters.values())
    owner = runtime_value(path.rpartition(".")[0])
    if inspect.isclass(owner) and not isinstance(inspect.getattr_static(owner, path.rpartition(".")[2]), staticmethod):
        if not inspect.ismethod(value) and getattr(value, "__self__", None) is None:
            parameters = parameters[1:]
    return shape(parameters)


def check(path):
    """The differences between the file and this Python."""
    overloads = collections.defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            overloads[line.partition("(")[0]].append(line.partition("(")[2][:-1])
    compared = 0
    for name, texts in overloads.items():
        try:
            least, most, words, required = runtime_shape(name)
        except (TypeError, ValueError, AttributeError):
            continue
        compared += 1
        listed = [listed_shape(text) for text in texts]
        names = set().union(*(each[2] for each in listed))
        problems = []
        if min(each[0] for each in listed) > least or not any(each[3] <= required for each in listed):
            problems.append("too many required parameters")
        if max(each[1] for each in listed) < most:
            problems.append("too few positional parameters")
        if "**" not in names and words - names:
            problems.append("unknown keywords " + " ".join(sorted(words - names)))
        if problems:
            print(f"{name}{inspect.signature(runtime_value(name))}: {', '.join(problems)}")
            print(*(f"    {name}({text})" for text in texts), sep="\n")
    print(f"{compared} of {len(overloads)} functions compared with Python {sys.version.split()[0]}")


def star_names(folder, module):
    """What `from module import *` binds: `__all__` of the stub, otherwise its public names."""
    path = folder / {"os.path": "posixpath"}.get(module, module).replace(".", "/")
    stub = path.with_suffix(".pyi") if path.with_suffix(".pyi").exists() else path / "__init__.pyi"
    listed, public = set(), set()
    for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8"))):
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AugAssign(target=ast.Name(id="__all__")):
                listed |= set(ast.literal_eval(node.value))
            case ast.FunctionDef() | ast.ClassDef():
                public.add(node.name)
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                public.add(name)
    return sorted(listed or {name for name in public if not name.startswith("_")})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--typeshed", type=pathlib.Path, help="the folder of the stubs")
    parser.add_argument("--output", type=pathlib.Path, default=DEFAULT_OUTPUT)
    parser.add_argument("--check", action="store_true", help="compare the file with this Python")
    options = parser.parse_args()

    if options.check:
        warnings.simplefilter("ignore")
        check(options.output)
        return
    folder = options.typeshed or default_typeshed()
    table = signatures(Library(folder))
    lines = [
        f"# Made by tests/conformance/standard.py from the stubs of mypy {mypy_version(folder)}. Do not edit.",
        "# One line per overload. `__x` is positional-only. After `:`: the kinds of values that a parameter accepts.",
    ]
    for path in sorted(table):
        lines += [f"{path}({text})" for text in table[path]]
    lines += [f"*{module}: {' '.join(star_names(folder, module))}" for module in STARRED]
    options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(table)} functions, {sum(map(len, table.values()))} signatures, {len(STARRED)} modules")


if __name__ == "__main__":
    main()
