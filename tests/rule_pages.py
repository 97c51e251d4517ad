"""Reads the rule pages of this repository, for the suites in Python."""

import dataclasses
import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "rules"
TITLE = re.compile(r"# (?P<code>\S+) (?P<name>\S+)\n\n(?P<summary>.+)\.\n\n```toml\n(?P<metadata>.*?)^```\n", re.M | re.S)
BLOCK = re.compile(r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```$", re.M | re.S)


@dataclasses.dataclass
class Page:
    code: str
    name: str
    summary: str
    # The block of TOML.
    metadata: dict
    # The first Python block of each section, and the line of the page on which it begins.
    blocks: dict


def read(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    title = TITLE.match(text)
    blocks = {}
    for found in BLOCK.finditer(text, title.end()):
        line = 1 + text.count("\n", 0, found.start(2))
        blocks.setdefault(found[1].strip(), (found[2], line))
    metadata = tomllib.loads(title["metadata"])
    return Page(title["code"], title["name"], title["summary"], metadata, blocks)


def read_all():
    return [read(path) for path in sorted(FOLDER.glob("*.md"))]
