"""Reduces a program with a contradiction by deleting statements."""

import ast
import copy

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def places(tree):
    """(node, field, index) of all statements, handlers and cases; outer and later ones first."""
    found = []

    def walk(node):
        for field in BLOCKS:
            items = getattr(node, field, None)
            if isinstance(items, list):
                for index in range(len(items) - 1, -1, -1):
                    found.append((node, field, index))
                for item in items:
                    walk(item)

    walk(tree)
    return found


def written(tree):
    """The program's text; None if it is not valid Python."""
    try:
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        compile(text, "<reduced>", "exec")
        return text
    except (SyntaxError, ValueError, RecursionError):
        return None


def without(tree, number, hoist):
    """The text without the statement with this number; with `hoist`, its body stays in its place."""
    changed = copy.deepcopy(tree)
    node, field, index = places(changed)[number]
    items = getattr(node, field)
    inner = getattr(items[index], "body", None) if hoist else []
    if hoist and (
        not isinstance(inner, list)
        or not inner
        or isinstance(items[index], (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.match_case))
    ):
        return None
    items[index : index + 1] = inner
    if field == "body" and not items:
        items.append(ast.Pass())
    return written(changed)


def reduced(source, still_shows, most=400):
    """The smallest text found for which `still_shows(text)` is true."""
    text = written(ast.parse(source))
    if text is None or not still_shows(text):
        return source
    tried = 0
    shrinking = True
    while shrinking and tried < most:
        shrinking = False
        for hoist in (False, True):
            number = 0
            while tried < most:
                tree = ast.parse(text)
                if number >= len(places(tree)):
                    break
                node, field, index = places(tree)[number]
                if isinstance(getattr(node, field)[index], ast.Pass):
                    number += 1
                    continue
                smaller = without(tree, number, hoist)
                tried += 1
                if smaller is not None and smaller != text and still_shows(smaller):
                    text, shrinking = smaller, True
                else:
                    number += 1
    return text
