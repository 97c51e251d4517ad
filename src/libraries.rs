//! The libraries that torchvet knows by name, and what the other modules need to know about each.

/// A library, by the name of its top-level module.
#[derive(Debug)]
pub(crate) struct Library {
    pub name: &'static str,
    /// torchvet checks how programs use the library. Usually, a file is interpreted only if it
    /// imports such a library, or a module whose name contains the name of such a library
    /// (`concerns_library` in `analysis.rs`).
    pub is_checked: bool,
    /// Importing the library imports torch.
    pub imports_torch: bool,
    /// Importing the library may change the device on which PyTorch creates tensors.
    pub sets_default_device: bool,
    /// Programs also use this name for their own packages.
    pub is_common_word: bool,
    /// The path of a class of another library never contains this name.
    pub is_distinct: bool,
    /// The library only shows or records its arguments, such as models, and does not change them.
    pub only_reads: bool,
    /// Everything below these paths is assumed to be pure computation: it does not read or write
    /// files, and does not run code that is passed to it.
    pub computes: &'static [&'static str],
}

const fn lib(name: &'static str) -> Library {
    Library {
        name,
        is_checked: false,
        imports_torch: false,
        sets_default_device: false,
        is_common_word: false,
        is_distinct: false,
        only_reads: false,
        computes: &[],
    }
}

impl Library {
    const fn checked(self) -> Library {
        Library { is_checked: true, ..self }
    }

    const fn imports_torch(self) -> Library {
        Library { imports_torch: true, ..self }
    }

    const fn sets_default_device(self) -> Library {
        Library { sets_default_device: true, ..self }
    }

    const fn common_word(self) -> Library {
        Library { is_common_word: true, ..self }
    }

    const fn distinct(self) -> Library {
        Library { is_distinct: true, ..self }
    }

    const fn only_reads(self) -> Library {
        Library { only_reads: true, ..self }
    }

    const fn computes(self, computes: &'static [&'static str]) -> Library {
        Library { computes, ..self }
    }
}

/// Sorted by name. Unless `is_common_word` is set, an import of the name means the library, even if
/// a folder of the same name is next to the script: PyTorch's own repository has a `torch/`, and
/// training scripts create folders such as `wandb/`.
pub(crate) const LIBRARIES: &[Library] = &[
    lib("PIL").checked().computes(&["PIL.Image.Resampling."]),
    lib("accelerate").imports_torch(),
    lib("addict"),
    lib("albumentations").checked().distinct(),
    lib("apex"),
    lib("attrdict"),
    lib("av"),
    lib("bitsandbytes"),
    lib("catalyst"),
    lib("cv2").checked(),
    lib("datasets").common_word(),
    lib("deepspeed"),
    lib("deepxde").imports_torch().sets_default_device(),
    lib("detectron2"),
    lib("diffusers").imports_torch(),
    lib("dotmap"),
    lib("easydict"),
    lib("einops").computes(&["einops."]),
    lib("evaluate").common_word(),
    lib("fairscale"),
    lib("fairseq"),
    lib("fastai").imports_torch(),
    lib("fastprogress"),
    lib("flash_attn"),
    lib("fvcore"),
    lib("gym"),
    lib("gymnasium"),
    lib("h5py"),
    lib("huggingface_hub"),
    lib("hydra"),
    lib("ignite"),
    lib("imageio"),
    lib("imgaug").distinct(),
    lib("jax"),
    lib("keras").distinct(),
    lib("kornia").checked().imports_torch().distinct().computes(&["kornia."]),
    lib("lightning").checked().imports_torch(),
    lib("lightning_fabric"),
    lib("matplotlib").only_reads(),
    lib("ml_collections"),
    lib("mmcv"),
    lib("mmdet"),
    lib("mmengine"),
    lib("monai").imports_torch().distinct(),
    lib("munch"),
    lib("numba"),
    lib("numpy").distinct().computes(&["numpy.ndarray."]),
    lib("omegaconf"),
    lib("open_clip"),
    lib("optuna"),
    lib("pandas").distinct(),
    lib("peft"),
    lib("pycocotools"),
    lib("pytorch_lightning").imports_torch(),
    lib("pytorch_metric_learning"),
    lib("pytorch_msssim"),
    lib("ray"),
    lib("rich").only_reads(),
    lib("safetensors"),
    lib("scipy"),
    lib("seaborn").only_reads(),
    lib("segmentation_models_pytorch").imports_torch(),
    lib("sentence_transformers").imports_torch(),
    lib("sentencepiece"),
    lib("skimage"),
    lib("sklearn").distinct(),
    lib("spacy"),
    lib("tensorboard").only_reads(),
    lib("tensorboardX").only_reads(),
    lib("tensorflow").distinct(),
    lib("thop").only_reads(),
    lib("timm").imports_torch().distinct(),
    lib("tokenizers"),
    lib("torch").checked().imports_torch().computes(&[
        "torch.Tensor.",
        "torch.nn.",
        "torch.optim.",
        "torch.linalg.",
        "torch.fft.",
        "torch.special.",
        "torch.distributions.",
        "torch.amp.",
        "torch.cuda.amp.",
        "torch.utils.data.",
    ]),
    lib("torch_geometric").imports_torch().distinct(),
    lib("torch_xla"),
    lib("torchaudio").imports_torch(),
    lib("torchdata"),
    lib("torchinfo").only_reads(),
    lib("torchmetrics").imports_torch(),
    lib("torchsummary").only_reads(),
    lib("torchtext").imports_torch(),
    lib("torchvision").imports_torch().distinct().computes(&[
        "torchvision.transforms.",
        "torchvision.ops.",
        "torchvision.tv_tensors.",
    ]),
    lib("tqdm"),
    lib("transformers").checked().distinct(),
    lib("triton"),
    lib("trl"),
    lib("typing_extensions"),
    lib("ultralytics").imports_torch(),
    lib("wandb").only_reads(),
    lib("xformers"),
    lib("yacs"),
    lib("yaml").only_reads(),
];

/// The library of a top-level module.
pub(crate) fn find(module: &str) -> Option<&'static Library> {
    LIBRARIES.binary_search_by_key(&module, |library| library.name).ok().and_then(|at| LIBRARIES.get(at))
}

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

/// Whether a top-level module belongs to a library that torchvet knows, or to Python.
pub(crate) fn is_known(top: &str) -> bool {
    find(top).is_some() || is_standard(top)
}

/// Whether a top-level module belongs to the standard library.
pub(crate) fn is_standard(module: &str) -> bool {
    STANDARD_LIBRARY.binary_search(&module).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{LIBRARIES, Library, STANDARD_LIBRARY, find, is_standard};

    #[test]
    fn the_lists_are_sorted() {
        assert!(LIBRARIES.is_sorted_by_key(|library| library.name));
        assert!(find("torch").is_some_and(|torch| torch.is_checked) && find("os").is_none());
        for Library { name, computes, .. } in LIBRARIES {
            assert!(computes.iter().all(|path| path.starts_with(&format!("{name}."))), "{name}");
        }
        assert!(STANDARD_LIBRARY.is_sorted());
        assert!(is_standard("os") && is_standard("random") && !is_standard("torch"));
    }
}
