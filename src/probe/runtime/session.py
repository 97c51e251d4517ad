"""The task of the probe, and the channel for its reports: a file of JSON lines.

Every process of the program appends to one file, each line in one write. So ranks and DataLoader
workers report, too, and reports survive a crash of their process.
"""

import json
import os
import time

VERSION = 1


class Session:
    def __init__(self, folder, task):
        self.task = task
        self.events = os.path.join(folder, "events.jsonl")
        self.root = os.getcwd()
        self.began = time.monotonic()

    @classmethod
    def of_environment(cls):
        """The session in the folder that the environment variable names. None if the folder is gone,
        as in a process that outlives the probe, or if the versions differ."""
        folder = os.environ["TORCHVET_PROBE"]
        try:
            with open(os.path.join(folder, "task.json"), encoding="utf-8") as file:
                task = json.load(file)
        except OSError:
            return None
        return cls(folder, task) if task["version"] == VERSION else None

    def emit(self, event, **fields):
        rank = os.environ.get("RANK")
        who = {"pid": os.getpid(), "rank": int(rank) if rank and rank.isdigit() else None}
        line = json.dumps({"version": VERSION, "event": event, **who, **fields}) + "\n"
        try:
            file = os.open(self.events, os.O_WRONLY | os.O_APPEND)
        except OSError:  # the probe is gone
            return
        try:
            os.write(file, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(file)
