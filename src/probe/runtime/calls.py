"""Observes the calls that the checker reports: does the program make them, and what do they raise?

A trace function follows the frames whose code contains such a call, instruction by instruction.
An instruction belongs to a finding if its position is exactly the expression of the finding. So
other calls on the same line are ignored, and a call that is skipped, as `f(x)` in `True or f(x)`, is
not reported as made. Before Python 3.11, instructions have no columns: a finding is then identified
by its lines, and it is not known whether a call succeeded.
"""

import sys
import threading

_HAS_COLUMNS = sys.version_info >= (3, 11)
_MOST_MESSAGES = 8


def _position(finding):
    return (
        finding["first_line"],
        finding["last_line"],
        finding["first_column"],
        finding["last_column"],
    )


class Calls:
    """Reports, for each finding, the first time that its call begins, the first time that it
    succeeds, and each different message that it raises (up to a limit)."""

    def __init__(self, findings, emit, ignored):
        self.emit = emit
        # The probe's own exceptions.
        self.ignored = ignored
        self.findings = {}
        for number, one in enumerate(findings):
            self.findings.setdefault(one["filename"], []).append((number, one))
        # The keys are identities, because hashing a code object reads all of it.
        self.codes = {}
        self.said = set()

    def follow(self, frame):
        """Observes the program from here on, including the running frames."""
        if not self.findings:
            return
        if sys.gettrace() is not None:
            self.emit("untraced", reason="a debugger or a coverage tool traces the program")
            return
        # Python 3.12 checks at `settrace` whether a frame wants instruction events.
        sys._getframe().f_trace_opcodes = True
        threading.settrace(self._called)
        sys.settrace(self._called)
        while frame is not None:
            self._called(frame, "call", None)
            frame = frame.f_back

    def _called(self, frame, _event, _argument):
        if frame.f_code.co_filename not in self.findings:
            return None
        spots = self._spots(frame.f_code)
        if not spots:
            return None
        # Python 3.13 respects `f_trace_opcodes` only if there is already a trace function.
        frame.f_trace = (_ByInstruction if _HAS_COLUMNS else _ByLine)(self, spots)
        if _HAS_COLUMNS:
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return frame.f_trace

    def _spots(self, code):
        """The findings of each instruction, or of each line."""
        known = self.codes.get(id(code))
        if known is None:
            # The code object is kept, so that no other gets the same identity.
            known = self.codes[id(code)] = (code, self._find(code))
        return known[1]

    def _find(self, code):
        findings = self.findings[code.co_filename]
        spots = {}
        if _HAS_COLUMNS:
            wanted = {}
            for number, one in findings:
                wanted[_position(one)] = (*wanted.get(_position(one), ()), number)
            for index, position in enumerate(code.co_positions()):
                if position in wanted:
                    spots[2 * index] = wanted[position]
            return spots
        lines = {line for _, _, line in _lines(code)}
        for number, one in findings:
            for line in lines.intersection(range(one["first_line"], one["last_line"] + 1)):
                spots[line] = (*spots.get(line, ()), number)
        return spots

    def say(self, numbers, what, **fields):
        for number in numbers:
            key = (number, what, *fields.values())
            if key not in self.said and sum(one[:2] == key[:2] for one in self.said) < _MOST_MESSAGES:
                self.said.add(key)
                self.emit("call", finding=number, what=what, **fields)

    def raised(self, numbers, kind, error):
        if issubclass(kind, Exception) and not issubclass(kind, self.ignored):
            self.say(numbers, "raised", type=kind.__name__, message=str(error)[:4000])


def _lines(code):
    if hasattr(code, "co_lines"):
        return [one for one in code.co_lines() if one[2] is not None]
    import dis

    return [(start, start, line) for start, line in dis.findlinestarts(code)]


class _ByInstruction:
    """Observes one frame: `open` contains the findings whose call is being made."""

    def __init__(self, calls, spots):
        self.calls = calls
        self.spots = spots
        self.open = ()

    def __call__(self, frame, event, argument):
        if event == "opcode":
            now = self.spots.get(frame.f_lasti, ())
            if now != self.open:
                self._went_well()
                self.calls.say(now, "begun")
                self.open = now
        elif event == "exception":
            kind, error, _ = argument
            # The end of an iterator is not a failure.
            if self.open and not issubclass(kind, (StopIteration, StopAsyncIteration)):
                self.calls.raised(self.open, kind, error)
                self.open = ()
        elif event == "return":
            self._went_well()
        return self

    def _went_well(self):
        self.calls.say(self.open, "passed")
        self.open = ()


class _ByLine:
    def __init__(self, calls, spots):
        self.calls = calls
        self.spots = spots

    def __call__(self, frame, event, argument):
        numbers = self.spots.get(frame.f_lineno, ())
        if event == "exception":
            self.calls.raised(numbers, *argument[:2])
        elif event == "line":
            self.calls.say(numbers, "begun")
        return self
