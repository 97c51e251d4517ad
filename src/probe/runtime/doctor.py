"""Diagnoses this machine part by part, because a broken driver may crash or hang the process.

Nothing here raises: a problem is reported as text under the key `trouble`.
"""

import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import warnings

VERSION = 1

# Variables, and prefixes of variables, that affect how PyTorch runs, or are set for this purpose.
VARIABLES = {
    "CUDA_VISIBLE_DEVICES": "which GPUs are visible, and in which order",
    "CUDA_DEVICE_ORDER": "how GPUs are numbered",
    "CUDA_LAUNCH_BLOCKING": "the CPU waits for each kernel: errors are reported at the right line, but everything is slow",
    "CUDA_MODULE_LOADING": "whether kernels are loaded when they are first used",
    "CUDA_HOME": "the CUDA toolkit for building extensions",
    "TORCH_USE_CUDA_DSA": "no effect: it is an option for building PyTorch",
    "TORCH_CUDA_ARCH_LIST": "the GPUs that extensions are built for",
    "PYTORCH_ALLOC_CONF": "how GPU memory is cached and split",
    "PYTORCH_CUDA_ALLOC_CONF": "how GPU memory is cached and split (PYTORCH_ALLOC_CONF since 2.9)",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "GPU memory is not cached for reuse: slow",
    "PYTORCH_NVML_BASED_CUDA_CHECK": "torch.cuda.is_available() asks NVML and does not initialise CUDA",
    "CUBLAS_WORKSPACE_CONFIG": "needed by deterministic matrix products",
    "NVIDIA_TF32_OVERRIDE": "whether float32 products may be rounded to TF32",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "whether float32 products may be rounded to TF32",
    "OMP_NUM_THREADS": "the number of CPU threads for one operation",
    "MKL_NUM_THREADS": "the number of CPU threads for one operation",
    "TORCH_COMPILE_DISABLE": "torch.compile does nothing",
    "TORCHDYNAMO_DISABLE": "torch.compile does nothing",
    "TORCH_LOGS": "what PyTorch logs",
    "TORCH_SHOW_CPP_STACKTRACES": "errors show the C++ stack trace of PyTorch",
    "TORCH_DISTRIBUTED_DEBUG": "additional checks of collectives",
    "TORCH_FORCE_WEIGHTS_ONLY_LOAD": "torch.load reads only data and runs no code",
    "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "torch.load may run code from the file",
    "LD_LIBRARY_PATH": "may load another CUDA than that of the wheel",
    "LD_PRELOAD": "may load another CUDA than that of the wheel",
    "RANK": "the rank of this process, set by torchrun",
    "LOCAL_RANK": "the rank of this process on its machine",
    "WORLD_SIZE": "the number of processes that torchrun started",
    "MASTER_ADDR": "the address at which the processes connect",
    "MASTER_PORT": "the port at which the processes connect",
}
PREFIXES = {
    "TORCH_NCCL_": "read when a process group is created",
    "NCCL_": "read when the first communicator is created",
    "GLOO_": "the network for collectives on the CPU",
    "TORCHINDUCTOR_": "how torch.compile generates kernels",
}


def _channel():
    """The channel for answers. Output of libraries goes to standard error instead."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(event, **fields):
        answers.write(json.dumps({"version": VERSION, "event": event, **fields}) + "\n")
        answers.flush()

    return send


def examine(shell, told):
    """Reports every part that was not reported before. `shell` is the environment in which Python
    was started."""
    send = _channel()
    started_with = dict(os.environ)
    imported_already = "torch" in sys.modules
    parts = [
        ("python", _python),
        ("driver", _driver),
        ("torch", _torch),
        ("gpus", _gpus),
        ("environment", lambda: _environment(shell, started_with, imported_already)),
    ]
    for name, tell in parts:
        if name in told:
            continue
        send("asking", name=name)
        try:
            send("part", name=name, data=tell())
        except BaseException as error:  # noqa: BLE001 - a broken wheel may raise anything
            send("part", name=name, data={"trouble": _text(error)})


def _text(error):
    lines = f"{type(error).__name__}: {error}".splitlines()
    return lines[0] if lines else type(error).__name__


def _python():
    return {
        "version": platform.python_version(),
        "executable": sys.executable,
        "platform": f"{platform.system()} {platform.machine()}".strip(),
    }


# --- the driver, without PyTorch -----------------------------------------------------------


def _driver():
    """The NVIDIA driver: its version, and the newest CUDA version that it supports."""
    told = {"version": _driver_version(), "cuda": None}
    name = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        return {**told, "trouble": f"{name} cannot be loaded: {str(error).split(': ', 1)[-1]}"}
    number = ctypes.c_int()
    if library.cuDriverGetVersion(ctypes.byref(number)) == 0 and number.value:
        told["cuda"] = f"{number.value // 1000}.{number.value % 1000 // 10}"
    code = library.cuInit(0)
    if code != 0:
        return {**told, "trouble": f"{name} cannot be initialised: {_error_of(library, code)}"}
    return told


def _error_of(library, code):
    text = ctypes.c_char_p()
    try:
        library.cuGetErrorString(code, ctypes.byref(text))
    except (AttributeError, OSError):
        return f"error {code}"
    return f"{text.value.decode()} (error {code})" if text.value else f"error {code}"


def _driver_version():
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            found = re.search(r"Kernel Module\s+(?:for \S+\s+)?(\d[\d.]+)", file.read())
            if found:
                return found[1]
    except OSError:
        pass
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    try:
        query = [command, "--query-gpu=driver_version", "--format=csv,noheader"]
        ran = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    lines = ran.stdout.split()
    return lines[0] if ran.returncode == 0 and lines and re.fullmatch(r"[\d.]+", lines[0]) else None


# --- PyTorch -------------------------------------------------------------------------------


def _torch():
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name == "torch":
            return {"trouble": "it is not installed"}
        raise
    return {
        "version": torch.__version__,
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "architectures": _or_none(torch._C._cuda_getArchFlags, "").split() if torch.version.cuda else [],
        "cudnn": _dotted(_or_none(torch.backends.cudnn.version)),
        "nccl": _nccl(torch),
        "path": os.path.dirname(torch.__file__),
    }


def _or_none(function, otherwise=None):
    try:
        value = function()
    except Exception:  # noqa: BLE001 - not every build has it
        return otherwise
    return otherwise if value is None else value


def _dotted(number):
    """`9.26.0` for 92600, `8.9.2` for 8902."""
    if number is None:
        return None
    if number >= 90000:
        return f"{number // 10000}.{number % 10000 // 100}.{number % 100}"
    return f"{number // 1000}.{number % 1000 // 100}.{number % 100}"


def _nccl(torch):
    if not _or_none(torch.distributed.is_nccl_available, False):
        return None

    def version():
        from torch.cuda import nccl

        return ".".join(map(str, nccl.version()))

    return _or_none(version)


def _gpus():
    if "torch" not in sys.modules:
        return {"list": [], "trouble": "this needs PyTorch"}
    import torch

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        available = torch.cuda.is_available()
    if not available:
        trouble = _text(warned[-1].message).split(": ", 1)[-1] if warned else None
        if trouble is None:
            try:
                torch.cuda.init()
            except Exception as error:  # noqa: BLE001
                trouble = str(error).split(". ")[0].splitlines()[0]
        return {"list": [], "trouble": trouble or "PyTorch finds none"}
    gpus = [_gpu(torch, index) for index in range(torch.cuda.device_count())]
    return {"list": gpus, "trouble": None}


def _gpu(torch, index):
    about = torch.cuda.get_device_properties(index)
    free = _or_none(lambda: torch.cuda.mem_get_info(index)[0])
    built_for = _or_none(torch.cuda.get_arch_list, [])
    return {
        "index": index,
        "name": about.name,
        "memory": about.total_memory,
        "free": free,
        "capability": f"{about.major}.{about.minor}",
        "supported": _is_supported(about.major, about.minor, built_for),
    }


def _is_supported(major, minor, built_for):
    """Whether a wheel built for these architectures has kernels for a GPU; None if this is not known.
    A binary kernel (`sm_…`) runs on GPUs of the same major version and the same or a newer minor version
    (`sm_…a`: only the same). A `compute_…` kernel is compiled on the machine, for its version and all
    newer ones."""
    if not built_for or not any(name.startswith(("sm_", "compute_")) for name in built_for):
        return None
    for name in built_for:
        found = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", name)
        if not found:
            continue
        kind, of_major, of_minor, special = found[1], int(found[2]), int(found[3]), found[4]
        fits = of_minor == minor if special == "a" else of_minor <= minor
        if kind == "sm" and of_major == major and fits:
            return True
        if kind == "compute" and not special and (of_major, of_minor) <= (major, minor):
            return True
    return False


# --- the environment -----------------------------------------------------------------------


def _meaning(name):
    if name in VARIABLES:
        return VARIABLES[name]
    return next((text for prefix, text in PREFIXES.items() if name.startswith(prefix)), None)


def _environment(shell, started_with, imported_already):
    """The relevant variables: where each was set, and whether it was set in time. A variable that is
    set before PyTorch is imported is always in time."""
    told = []
    for name in sorted({*shell, *started_with, *os.environ}):
        meaning = _meaning(name)
        if meaning is None:
            continue
        value = os.environ.get(name)
        if shell.get(name) == value:
            by, in_time = "shell", True
        elif started_with.get(name) == value:
            # Set by a `.pth` file or a `sitecustomize`, which may have imported PyTorch first.
            by, in_time = "python", not imported_already
        else:
            by, in_time = "import", None
        told.append({"name": name, "value": value, "meaning": meaning, "set_by": by, "in_time": in_time})
    return told


# --- CUDA_LAUNCH_BLOCKING ------------------------------------------------------------------


def measure():
    """Measures how long a kernel takes, and how long its launch takes. The second of two launches is
    measured, because the first also loads the kernel."""
    send = _channel()
    send("asking", name="launch")
    try:
        import torch

        torch.cuda.init()
        cycles = 200_000_000
        launches = [launch_time(lambda: torch.cuda._sleep(cycles), torch.cuda.synchronize) for _ in range(2)]
        launch, total = launches[-1]
        send("part", name="launch", data={"launch": launch, "total": total})
    except BaseException as error:  # noqa: BLE001
        send("part", name="launch", data={"trouble": _text(error)})


def launch_time(launch, wait, clock=time.perf_counter):
    """Seconds until a launch returns, and until the launched work is done."""
    wait()
    start = clock()
    launch()
    launched = clock()
    wait()
    return launched - start, clock() - start
