//! Module names that do not belong to the project.

/// Those of them that programs also use for their own packages.
pub(super) const COMMON_WORDS: &[&str] = &["datasets", "evaluate"];

/// Libraries that torchvet models or knows to be external. They are external even if a folder of
/// that name is beside the script: PyTorch's own repository has a `torch/`, and training scripts
/// create folders such as `wandb/`.
#[rustfmt::skip]
pub(super) const MODELLED_LIBRARIES: &[&str] = &[
    "PIL", "accelerate", "albumentations", "apex", "av", "bitsandbytes", "catalyst", "cv2",
    "datasets", "deepspeed", "detectron2", "diffusers", "einops", "evaluate", "fairscale",
    "fairseq", "fastai", "flash_attn", "fvcore", "gym", "gymnasium", "h5py", "huggingface_hub",
    "hydra", "ignite", "imageio", "jax", "kornia", "lightning", "lightning_fabric", "matplotlib",
    "mmcv", "mmdet", "mmengine", "monai", "numba", "numpy", "omegaconf", "open_clip", "optuna",
    "pandas", "peft", "pycocotools", "pytorch_lightning", "pytorch_metric_learning",
    "pytorch_msssim", "ray", "safetensors", "scipy", "seaborn", "segmentation_models_pytorch",
    "sentence_transformers", "sentencepiece", "skimage", "sklearn", "spacy", "tensorboard",
    "tensorboardX", "tensorflow", "thop", "timm", "tokenizers", "torch", "torch_geometric",
    "torch_xla", "torchaudio", "torchdata", "torchinfo", "torchmetrics", "torchsummary",
    "torchtext", "torchvision", "tqdm", "transformers", "triton", "trl", "ultralytics", "wandb",
    "xformers", "yaml",
];

/// Python's standard library, sorted.
#[rustfmt::skip]
const STANDARD_LIBRARY: &[&str] = &[
    "__future__", "abc", "aifc", "annotationlib", "antigravity", "argparse", "array", "ast",
    "asynchat", "asyncio", "asyncore", "atexit", "audioop", "base64", "bdb", "binascii", "bisect",
    "builtins", "bz2", "cProfile", "calendar", "cgi", "cgitb", "chunk", "cmath", "cmd", "code",
    "codecs", "codeop", "collections", "colorsys", "compileall", "compression", "concurrent",
    "configparser", "contextlib", "contextvars", "copy", "copyreg", "crypt", "csv", "ctypes",
    "curses", "dataclasses", "datetime", "dbm", "decimal", "difflib", "dis", "distutils",
    "doctest", "email", "encodings", "ensurepip", "enum", "errno", "faulthandler", "fcntl",
    "filecmp", "fileinput", "fnmatch", "fractions", "ftplib", "functools", "gc", "genericpath",
    "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip", "hashlib", "heapq", "hmac",
    "html", "http", "idlelib", "imaplib", "imghdr", "imp", "importlib", "inspect", "io",
    "ipaddress", "itertools", "json", "keyword", "lib2to3", "linecache", "locale", "logging",
    "lzma", "mailbox", "mailcap", "marshal", "math", "mimetypes", "mmap", "modulefinder",
    "msilib", "msvcrt", "multiprocessing", "netrc", "nis", "nntplib", "nt", "ntpath",
    "nturl2path", "numbers", "opcode", "operator", "optparse", "os", "ossaudiodev", "pathlib",
    "pdb", "pickle", "pickletools", "pipes", "pkgutil", "platform", "plistlib", "poplib", "posix",
    "posixpath", "pprint", "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr", "pydoc",
    "pydoc_data", "pyexpat", "queue", "quopri", "random", "re", "readline", "reprlib", "resource",
    "rlcompleter", "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex",
    "shutil", "signal", "site", "smtpd", "smtplib", "sndhdr", "socket", "socketserver", "spwd",
    "sqlite3", "sre_compile", "sre_constants", "sre_parse", "ssl", "stat", "statistics", "string",
    "stringprep", "struct", "subprocess", "sunau", "symtable", "sys", "sysconfig", "syslog",
    "tabnanny", "tarfile", "telnetlib", "tempfile", "termios", "textwrap", "this", "threading",
    "time", "timeit", "tkinter", "token", "tokenize", "tomllib", "trace", "traceback",
    "tracemalloc", "tty", "turtle", "turtledemo", "types", "typing", "unicodedata", "unittest",
    "urllib", "uu", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser", "winreg",
    "winsound", "wsgiref", "xdrlib", "xml", "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib",
    "zoneinfo",
];

/// Whether a top-level module belongs to the standard library.
pub fn is_standard(module: &str) -> bool {
    STANDARD_LIBRARY.binary_search(&module).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{STANDARD_LIBRARY, is_standard};

    #[test]
    fn the_list_is_sorted() {
        assert!(STANDARD_LIBRARY.is_sorted());
        assert!(is_standard("os") && is_standard("random") && !is_standard("torch"));
    }
}
