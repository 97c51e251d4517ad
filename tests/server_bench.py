"""Measures the time from an edit to the published findings, for the servers of torchvet and ruff.

    cargo build --release
    python tests/server_bench.py [--script FILE] [--package FOLDER FILE] [--edits N]

Without --package, the newest wheel of transformers is downloaded from the package index (with pip,
without dependencies), and its largest file is edited. Without --script, a script of a thousand
lines is created from the corpus: it consists of about forty programs, so it has more to check than
most real scripts. ruff must be installed beside this Python or on the path (`pip install ruff`).

Both servers get the same edits, one character at a time. An edit is sent after the findings of the
previous one have arrived, and after a short pause. Both servers push their findings, and use their
default rules.
"""

import argparse
import json
import os
import pathlib
import queue
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REST = 0.02
TYPED = ["x = 1\n", "    loss = None\n", "print(step)\n", "y = [1, 2, 3]\n", "# note to myself\n"]


class Server:
    def __init__(self, command, folder):
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.published = queue.Queue()
        self.answers = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        uri = folder.as_uri()
        encodings = {"general": {"positionEncodings": ["utf-8"]}}
        self.request("initialize", {"processId": None, "rootUri": uri, "capabilities": encodings,
                                    "workspaceFolders": [{"uri": uri, "name": "bench"}], "initializationOptions": {}})
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def request(self, method, params):
        self.send({"id": 1, "method": method, "params": params})
        return self.answers.get(timeout=60)

    def read(self):
        out = self.process.stdout
        while True:
            length = None
            while (line := out.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length is None:
                return
            message = json.loads(out.read(length))
            now = time.perf_counter()
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                self.published.put((params["uri"], params.get("version"), len(params["diagnostics"]), now))
            elif "method" not in message:
                self.answers.put(message)
            elif "id" in message:
                self.send({"id": message["id"], "result": None})

    def wait(self, uri, version):
        while True:
            got, about, count, at = self.published.get(timeout=60)
            if got == uri and about == version:
                return at, count

    def open(self, path, text):
        self.send({"method": "textDocument/didOpen", "params": {
            "textDocument": {"uri": path.as_uri(), "languageId": "python", "version": 0, "text": text}}})
        return self.wait(path.as_uri(), 0)

    def edit(self, path, version, line, column, end, text):
        at = {"start": {"line": line, "character": column}, "end": {"line": line, "character": end}}
        start = time.perf_counter()
        self.send({"method": "textDocument/didChange", "params": {
            "textDocument": {"uri": path.as_uri(), "version": version}, "contentChanges": [{"range": at, "text": text}]}})
        at, count = self.wait(path.as_uri(), version)
        return at - start, count

    def end(self):
        self.request("shutdown", None)
        self.send({"method": "exit", "params": None})
        self.process.wait(timeout=30)

    def memory(self):
        try:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
            return int(status.split("VmHWM:")[1].split()[0]) / 1024
        except OSError:
            return 0


def keystrokes(text, edits, seed):
    """Edits of single characters at random lines: text is typed and then deleted."""
    generator = random.Random(seed)
    lines = text.split("\n")
    done = 0
    while done < edits:
        line = generator.randrange(len(lines))
        if lines[line].strip() and not lines[line].startswith((" ", "\t", ")", "]", "}")):
            typed = generator.choice(TYPED).strip()
            # Types a comment at the end of a statement, and deletes it.
            column = len(lines[line].encode())
            for offset, character in enumerate(f"  # {typed}"):
                yield line, column + offset, column + offset, character
            for offset in reversed(range(len(f"  # {typed}"))):
                yield line, column + offset, column + offset + 1, ""
            done += 2 * len(f"  # {typed}")
        elif not lines[line].strip():
            typed = generator.choice(TYPED).strip()
            width = len(lines[line].encode())
            for offset, character in enumerate(typed):
                yield line, width + offset, width + offset, character
            for offset in reversed(range(len(typed))):
                yield line, width + offset, width + offset + 1, ""
            done += 2 * len(typed)


def measure(name, command, folder, path, edits):
    text = path.read_text()
    server = Server(command, folder)
    start = time.perf_counter()
    opened, first = server.open(path, text)
    times = []
    for version, edit in enumerate(keystrokes(text, edits, 7), 1):
        took, _ = server.edit(path, version, *edit)
        times.append(took * 1000)
        time.sleep(REST)
    memory = server.memory()
    server.end()
    times.sort()
    p95 = times[int(len(times) * 0.95)]
    print(f"  {name:10} open {1000 * (opened - start):6.1f} ms   keystroke median {statistics.median(times):6.1f} ms   "
          f"p95 {p95:6.1f} ms   max {times[-1]:6.1f} ms   ({len(times)} edits, {first} findings, {memory:.0f} MB)", flush=True)
    return p95


def thousand_lines(folder):
    """A script of a thousand lines: training scripts of the corpus, each as a function."""
    path = folder / "train.py"
    lines = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F", ""]
    for number, script in enumerate(sorted((ROOT / "corpus" / "clean").glob("*.py"))):
        body = script.read_text().splitlines()
        if any(line.startswith(("from __future__", '"""', "'''")) or "\\" in line or '"""' in line for line in body):
            continue
        lines += [f"def part_{number}():", *[f"    {line}" if line else "" for line in body], "", ""]
        if len(lines) > 1000:
            break
    calls = [f"    {line.split()[1].split('(')[0]}()" for line in lines if line.startswith("def part_")]
    path.write_text("\n".join([*lines, 'if __name__ == "__main__":', *calls, ""]))
    return path


def transformers():
    folder = ROOT / "target" / "bench" / "transformers"
    if not folder.exists():
        wheels = folder.with_suffix(".wheels")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(wheels), "transformers"], check=True)
        for wheel in wheels.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(folder)
        shutil.rmtree(wheels)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchvet", type=pathlib.Path, default=ROOT / "target" / "release" / "torchvet")
    parser.add_argument("--script", type=pathlib.Path, action="append")
    parser.add_argument("--package", type=pathlib.Path, nargs="+", metavar="PATH", help="a folder, and the file in it to edit (default: its largest)")
    parser.add_argument("--edits", type=int, default=200)
    options = parser.parse_args()
    beside = pathlib.Path(sys.executable).parent / "ruff"
    ruff = str(beside) if beside.exists() else shutil.which("ruff")
    servers = [("torchvet", [str(options.torchvet.resolve()), "server"])]
    if ruff:
        servers.append(("ruff", [ruff, "server"]))
    os.environ.pop("VIRTUAL_ENV", None)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        for script in options.script or [thousand_lines(folder)]:
            script = script.resolve()
            print(f"{script.name}: {len(script.read_text().splitlines())} lines, a script")
            for name, command in servers:
                measure(name, command, script.parent, script, options.edits)

        package = options.package[0].resolve() if options.package else transformers()
        largest = max(package.rglob("*.py"), key=lambda path: path.stat().st_size)
        path = (options.package[1] if options.package and len(options.package) > 1 else largest).resolve()
        count = sum(1 for _ in package.rglob("*.py"))
        print(f"{path.relative_to(package)}: {len(path.read_text().splitlines())} lines, in a package of {count} files")
        for name, command in servers:
            measure(name, command, package, path, options.edits)


if __name__ == "__main__":
    main()
