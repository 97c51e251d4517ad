#!/usr/bin/env python3
"""The import cycles between the files of src/: the largest strongly connected components.

    python tests/import_cycles.py [--all] [--edges] [--why FILE FILE]

A file depends on another if it uses a name that is defined there: in a `use`, or as a path in its
code. A name that a `mod.rs` re-exports belongs to the file that defines it; `mod` lines and tests
are ignored. `--all` prints every component with more than one file, `--why` the names that make
one file depend on another.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "src"
USE = re.compile(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);")
PATH = re.compile(r"(?<![\w:.])(?:(?:crate|super|self|[a-z_]\w*)::)+(?:[A-Za-z_]\w*|\*)?")


def code_of(text):
    """The text without comments, strings and the test module."""
    text = re.sub(r"(?m)^#\[cfg\(test\)\]\nmod \w+ \{.*?^\}", "", text, flags=re.S)
    literal = re.compile(r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.S)
    return literal.sub(lambda m: "" if m[0].startswith("/") else '""', text)


def expand(tree):
    """The paths of `a::{b, c::d as e}`, each with the name that it has in this file."""
    tree = tree.strip()
    if "{" not in tree:
        path, _, name = tree.partition(" as ")
        parts = [part.strip() for part in path.strip().split("::")]
        if parts[-1] == "self" and len(parts) > 1:
            parts.pop()
        return [(parts, name.strip() or parts[-1])]
    prefix, rest = tree.split("{", 1)
    prefix = [part.strip() for part in prefix.split("::") if part.strip()]
    inner, depth, found, start = rest[: rest.rindex("}")], 0, [], 0
    for at, letter in enumerate(inner + ","):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            found.append(inner[start:at])
            start = at + 1
    return [(prefix + parts, name) for item in found if item.strip() for parts, name in expand(item)]


class Module:
    def __init__(self, name, file):
        self.name, self.file = name, file
        self.code = code_of(file.read_text(encoding="utf-8"))
        self.children = {}
        self.uses = {}
        self.stars = []
        # A name that is only re-exported is not a dependency of this file.
        self.passed_on = set()
        for match in USE.finditer(self.code):
            for parts, name in expand(match[2]):
                if parts[-1] == "*":
                    self.stars.append(parts[:-1])
                    continue
                self.uses[name] = parts
                if match[1] and not re.search(rf"\b{re.escape(name)}\b", USE.sub("", self.code)):
                    self.passed_on.add(name)


def load(root):
    modules = {}
    for file in sorted(root.rglob("*.rs")):
        parts = list(file.relative_to(root).with_suffix("").parts)
        if parts[-1] in ("mod", "lib") and parts != ["main"]:
            parts.pop()
        if parts == ["main"] or parts[-1:] == ["tests"]:
            continue
        modules[tuple(parts)] = Module(tuple(parts), file)
    for name in modules:
        if name and name[:-1] in modules:
            declared = re.search(rf"\bmod {re.escape(name[-1])};", modules[name[:-1]].code)
            if declared:
                modules[name[:-1]].children[name[-1]] = name
    return modules


def resolve(modules, here, parts, seen=()):
    """The module to which a path leads; None if it is not in this crate."""
    if (here, tuple(parts)) in seen:
        return None
    seen = (*seen, (here, tuple(parts)))
    first, rest = parts[0], list(parts[1:])
    if first == "crate":
        at = ()
    elif first == "self":
        at = here
    elif first == "super":
        at = here[:-1]
    elif first in modules[here].children:
        at = modules[here].children[first]
    elif first in modules[here].uses and modules[here].uses[first] != list(parts):
        return resolve(modules, here, modules[here].uses[first] + rest, seen)
    else:
        return None
    while rest:
        module, name = modules[at], rest[0]
        if name == "super":
            at, rest = at[:-1], rest[1:]
        elif name in module.children:
            at, rest = module.children[name], rest[1:]
        elif name in module.uses:
            return resolve(modules, at, module.uses[name] + rest[1:], seen) or at
        else:
            if not re.search(rf"\b(fn|struct|enum|trait|const|static|type|union|macro_rules!|mod) {re.escape(name)}\b", module.code):
                for star in module.stars:
                    found = resolve(modules, at, star + rest, seen)
                    if found is not None and found != at:
                        return found
            return at
    return at


def dependencies(modules):
    """Module -> module -> the paths that make the first depend on the second."""
    edges = {name: {} for name in modules}
    for name, module in modules.items():
        code = USE.sub("", module.code)
        named = [(parts, alias) for alias, parts in module.uses.items() if alias not in module.passed_on]
        paths = [[part for part in match[0].split("::") if part] for match in PATH.finditer(code)]
        for parts, alias in named:
            end = resolve(modules, name, parts)
            is_module = end is not None and end[-1:] == (parts[-1],)
            # If the code uses paths into an imported module, these paths are the dependencies instead.
            if end is not None and not (is_module and any(path[0] == alias and len(path) > 1 for path in paths)):
                paths.append(parts)
        paths += module.stars
        for parts in paths:
            end = resolve(modules, name, parts)
            if end is not None and end != name:
                edges[name].setdefault(end, set()).add("::".join(parts))
    return edges


def components(edges):
    """Tarjan's algorithm, without recursion."""
    index, low, on, stack, found = {}, {}, set(), [], []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(edges[other])))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        last = stack.pop()
                        on.discard(last)
                        component.append(last)
                        if last == node:
                            break
                    found.append(sorted(component))
    return sorted((c for c in found if len(c) > 1), key=len, reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--src", type=pathlib.Path, default=ROOT, help="the folder that is read")
    parser.add_argument("--all", action="store_true", help="all components, not only the five largest")
    parser.add_argument("--why", nargs=2, metavar="FILE", help="the names that make one FILE depend on the other")
    parser.add_argument("--edges", action="store_true", help="the dependencies within the components, too")
    options = parser.parse_args()
    modules = load(options.src)
    shown = {name: str(module.file.relative_to(options.src)) for name, module in modules.items()}
    edges = dependencies(modules)
    if options.why:
        one, other = (next(name for name in shown if shown[name] == file) for file in options.why)
        print("\n".join(sorted(edges[one].get(other, ["none"]))))
        return 0
    found = components(edges)
    print(f"{len(modules)} files; the largest cycles: {', '.join(str(len(c)) for c in found) or 'none'}")
    for component in found if options.all else found[:5]:
        print(f"\n{len(component)} files:")
        for name in component:
            print(f"  {shown[name]}")
            if options.edges:
                for other in sorted(set(edges[name]) & set(component)):
                    print(f"      {shown[other]}: {', '.join(sorted(edges[name][other]))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
