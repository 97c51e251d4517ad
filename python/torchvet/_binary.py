"""Finds the `torchvet` binary: the one that pip installed, otherwise one in `PATH`."""

import os
import shutil
import sys
import sysconfig


def find():
    name = "torchvet" + (sysconfig.get_config_var("EXE") or "")
    folders = [sysconfig.get_path("scripts")]
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else f"{os.name}_user"
    folders.append(sysconfig.get_path("scripts", scheme=user))
    # `pip install --target` puts the binary into `bin`, beside the package.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    on_path = shutil.which("torchvet")
    if on_path is None:
        raise FileNotFoundError(f"the binary `{name}` was not found in {', '.join(folders)}")
    return on_path
