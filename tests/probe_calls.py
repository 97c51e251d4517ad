"""Tests how the probe follows calls, on one or several versions of Python. PyTorch is not needed.

    python tests/probe_calls.py [python …]

Runs a small program under `src/probe/runtime/calls.py`, with this Python or the given ones, and
compares the events of each marked call with the mark.
"""

import importlib.util
import pathlib
import re
import subprocess
import sys

# A mark is `# «call»: its events`. Before Python 3.11, instructions have no columns: see `expected`.
PROGRAM = """\
import threading
def divided(x): return 1 / x
def in_thread(): divided(2)  # «divided(2)»: begun passed
def generator():
    yield divided(1)  # «divided(1)»: begun passed
follow()
x = True or divided(0)  # «divided(0)»: nothing
x = divided(4)  # «divided(4)»: begun passed
for i in range(3):
    x = divided(3) + divided(i + 1)  # «divided(i + 1)»: begun passed
try:
    divided(0)  # «divided(0)»: begun raised
except ZeroDivisionError:
    pass
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
list(generator())
y = [divided(k) for k in (1, 2)]  # «divided(k)»: begun passed
for i in iter([]):  # «iter([])»: begun passed
    divided(1)  # «divided(1)»: nothing
for z in (2, 1, 0):
    try:
        divided(z)  # «divided(z)»: begun passed raised
    except ZeroDivisionError:
        pass
"é"; divided(5)  # «divided(5)»: begun passed
def inner(): return divided(0)  # «divided(0)»: begun raised
inner()  # «inner()»: begun raised
"""
MARK = re.compile(r"# «(.*)»: (.*)$")
RUNTIME = pathlib.Path(__file__).resolve().parent.parent / "src" / "probe" / "runtime"


def findings():
    for number, line in enumerate(PROGRAM.splitlines(), 1):
        mark = MARK.search(line)
        if mark is not None:
            first = len(line[: line.index(mark[1])].encode())
            place = {"first_line": number, "last_line": number}
            columns = {"first_column": first, "last_column": first + len(mark[1].encode())}
            yield {"filename": "program.py", **place, **columns}, mark[2].replace("nothing", "").split()


def expected(what, line):
    """The expected events of a call. Before Python 3.11, only the line is known, so it is unknown
    which call of the line began, and whether it succeeded."""
    if sys.version_info >= (3, 11):
        return what
    came = line != 21
    return [one for one in ["begun"] * came + what[1:] if one != "passed"]


def main():
    spec = importlib.util.spec_from_file_location("calls", RUNTIME / "calls.py")
    calls = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(calls)
    marked = list(findings())
    told = [[] for _ in marked]

    def emit(_event, finding, what, **_):
        told[finding].append(what)

    following = calls.Calls([finding for finding, _ in marked], emit, ())
    try:
        exec(
            compile(PROGRAM, "program.py", "exec"), {"follow": lambda: following.follow(sys._getframe(1))}
        )
    except ZeroDivisionError:
        pass
    finally:
        sys.settrace(None)
    wrong = 0
    for (finding, what), got in zip(marked, told):
        line = finding["first_line"]
        if got != expected(what, line):
            wrong += 1
            print(f"line {line}: {got}, but expected {expected(what, line)}")
    print(f"Python {sys.version.split()[0]}: {len(marked) - wrong} of {len(marked)} calls as marked")
    return wrong > 0


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(any([subprocess.run([python, __file__], check=False).returncode for python in sys.argv[1:]]))
    sys.exit(main())
