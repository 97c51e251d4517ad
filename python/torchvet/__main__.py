"""`python -m torchvet`: the command line."""

import os
import subprocess
import sys

from ._binary import find


def main():
    command = [find(), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
