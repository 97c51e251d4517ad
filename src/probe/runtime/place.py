"""Where in the program a call is: the frames that belong neither to PyTorch nor to the probe."""

import os
import sysconfig

import torch

_HIDDEN = tuple(
    os.path.dirname(os.path.abspath(path)) + os.sep for path in (torch.__file__, __file__)
)
_paths = sysconfig.get_paths()
_LIBRARY = tuple({os.path.abspath(_paths[name]) + os.sep for name in ("stdlib", "platstdlib")})
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


_PROBE = _HIDDEN[1]


def hidden(filename):
    return filename.startswith(_HIDDEN) or filename.startswith("<frozen ")


def _installed(filename):
    return any(part in filename for part in _INSTALLED)


def _of_python(filename):
    return filename.startswith(_LIBRARY) and not _installed(filename) or filename == "<string>"


def of_library(filename):
    """Whether a file belongs to an installed library, or to Python's own library."""
    return filename.startswith(_LIBRARY) or _installed(filename)


def caller(frame):
    """The file and line of the innermost frame outside PyTorch."""
    while frame is not None and hidden(frame.f_code.co_filename):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


def of_user(frame):
    """The file and line of the innermost frame in the user's own files, or else of the innermost
    frame outside PyTorch."""
    own = frame
    while own is not None:
        filename = own.f_code.co_filename
        if not hidden(filename) and not of_library(filename):
            return filename, own.f_lineno
        own = own.f_back
    return caller(frame)


def stack(frame):
    """The frames outside PyTorch and Python's own library, innermost first."""
    frames = []
    while frame is not None and len(frames) < 50:
        code = frame.f_code
        if not hidden(code.co_filename) and not _of_python(code.co_filename):
            frames.append({"filename": code.co_filename, "line": frame.f_lineno, "function": code.co_name})
        frame = frame.f_back
    return frames


def of_traceback(traceback):
    """The frames of a traceback outside PyTorch, innermost first."""
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not hidden(code.co_filename):
            frames.append({"filename": code.co_filename, "line": traceback.tb_lineno, "function": code.co_name})
        traceback = traceback.tb_next
    return frames[::-1][:50]


def without_probe(traceback):
    """A traceback as it would be without the probe."""
    before, at = None, traceback
    while at is not None:
        if not at.tb_frame.f_code.co_filename.startswith(_PROBE):
            before = at
        elif before is not None:
            before.tb_next = at.tb_next
        at = at.tb_next
    return traceback
