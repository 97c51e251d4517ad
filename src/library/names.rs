//! The public names of some modules and classes, as listed in `data/names.txt` and, for classes of
//! other packages from which programs derive their own, in `data/base-names.txt`. Apart from the few
//! exceptions in this file, these modules and classes have no other public names.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::data;
use super::torch::nn::modules;
use crate::python::{FUNCTIONS, RemovedName, meant, nearest};
use crate::value::{ArrayKind, Data, DeviceKind, Dict, Heap, Key, Sym, Tensor, Type, Value, sym};

/// Names by the dotted path of their module or class.
type Names = FxHashMap<&'static str, FxHashSet<&'static str>>;

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let lines = [include_str!("data/names.txt"), include_str!("data/base-names.txt")];
    let lines = lines.into_iter().flat_map(str::lines);
    lines.filter_map(|line| line.split_once(':')).map(|(path, names)| (path, names.split(' ').collect())).collect()
});

/// Names that NumPy removed: the name, the version, and what replaces it. The names that were
/// removed after NumPy 1.23.5 were found by comparing this version with the later ones up to 2.4.
const REMOVED: &[(&str, &str, &str)] = &[
    ("rank", "1.18", "numpy.ndim"),
    ("asscalar", "1.23", "item()"),
    ("int", "1.24", "int"),
    ("float", "1.24", "float"),
    ("complex", "1.24", "complex"),
    ("object", "1.24", "object"),
    ("str", "1.24", "str"),
    ("unicode", "1.24", "str"),
    ("typeDict", "1.24", "numpy.sctypeDict"),
    ("Inf", "2.0", "numpy.inf"),
    ("Infinity", "2.0", "numpy.inf"),
    ("infty", "2.0", "numpy.inf"),
    ("PINF", "2.0", "numpy.inf"),
    ("NINF", "2.0", "-numpy.inf"),
    ("NaN", "2.0", "numpy.nan"),
    ("NAN", "2.0", "numpy.nan"),
    ("PZERO", "2.0", "0.0"),
    ("NZERO", "2.0", "-0.0"),
    ("float_", "2.0", "numpy.float64"),
    ("cfloat", "2.0", "numpy.complex128"),
    ("complex_", "2.0", "numpy.complex128"),
    ("singlecomplex", "2.0", "numpy.complex64"),
    ("longfloat", "2.0", "numpy.longdouble"),
    ("longcomplex", "2.0", "numpy.clongdouble"),
    ("clongfloat", "2.0", "numpy.clongdouble"),
    ("bool8", "2.0", "numpy.bool_"),
    ("int0", "2.0", "numpy.intp"),
    ("uint0", "2.0", "numpy.uintp"),
    ("str0", "2.0", "numpy.str_"),
    ("bytes0", "2.0", "numpy.bytes_"),
    ("object0", "2.0", "numpy.object_"),
    ("void0", "2.0", "numpy.void"),
    ("string_", "2.0", "numpy.bytes_"),
    ("unicode_", "2.0", "numpy.str_"),
    ("product", "2.0", "numpy.prod"),
    ("cumproduct", "2.0", "numpy.cumprod"),
    ("alltrue", "2.0", "numpy.all"),
    ("sometrue", "2.0", "numpy.any"),
    ("round_", "2.0", "numpy.round"),
    ("msort", "2.0", "numpy.sort(…, axis=0)"),
    ("asfarray", "2.0", "numpy.asarray(…, dtype=float)"),
    ("find_common_type", "2.0", "numpy.promote_types"),
    ("issubclass_", "2.0", "issubclass"),
    ("issubsctype", "2.0", "numpy.issubdtype"),
    ("recfromcsv", "2.0", "numpy.genfromtxt"),
    ("recfromtxt", "2.0", "numpy.genfromtxt"),
    ("safe_eval", "2.0", "ast.literal_eval"),
    ("AxisError", "2.0", "numpy.exceptions.AxisError"),
    ("ComplexWarning", "2.0", "numpy.exceptions.ComplexWarning"),
    ("RankWarning", "2.0", "numpy.exceptions.RankWarning"),
    ("TooHardError", "2.0", "numpy.exceptions.TooHardError"),
    ("VisibleDeprecationWarning", "2.0", "numpy.exceptions.VisibleDeprecationWarning"),
    ("DataSource", "2.0", "numpy.lib.npyio.DataSource"),
    ("math", "2.0", "math"),
    ("mat", "2.0", "numpy.asmatrix"),
    ("cast", "2.0", "numpy.asarray(…, dtype=…)"),
    ("sctypes", "2.0", "numpy.dtype"),
    ("sctype2char", "2.0", "numpy.dtype(…).char"),
    ("obj2sctype", "2.0", "numpy.dtype(…).type"),
    ("issctype", "2.0", "numpy.issubdtype"),
    ("maximum_sctype", "2.0", "numpy.dtype"),
    ("nbytes", "2.0", "numpy.dtype(…).itemsize"),
    ("byte_bounds", "2.0", "numpy.lib.array_utils.byte_bounds"),
    ("compat", "2.0", "builtins"),
    ("deprecate", "2.0", "warnings.warn"),
    ("disp", "2.0", "print"),
    ("lookfor", "2.0", "help"),
    ("source", "2.0", "inspect.getsource"),
    ("set_string_function", "2.0", "numpy.set_printoptions"),
    ("compare_chararrays", "2.0", "numpy.char.compare_chararrays"),
    ("format_parser", "2.0", "numpy.rec.format_parser"),
    ("in1d", "2.4", "numpy.isin"),
    ("trapz", "2.4", "numpy.trapezoid"),
];

/// Functions of PyTorch that still exist, but only raise an error, because they were removed. All of them
/// raise in PyTorch 2.15, and the first five also in 2.6. The others work in 2.6; the versions in between
/// were not tested.
const RAISING: &[(&str, &str, &str)] = &[
    ("symeig", "2.0", "torch.linalg.eigh"),
    ("eig", "2.0", "torch.linalg.eig"),
    ("lstsq", "2.0", "torch.linalg.lstsq"),
    ("solve", "2.0", "torch.linalg.solve"),
    ("matrix_rank", "2.0", "torch.linalg.matrix_rank"),
    ("qr", "2.15", "torch.linalg.qr"),
    ("cholesky", "2.15", "torch.linalg.cholesky"),
];

/// For each module, the names that versions of PyTorch, torchvision and torchaudio removed, with the first
/// version that lacks them, as `data/removed-names.txt` lists them.
static GONE: LazyLock<FxHashMap<&str, FxHashMap<&str, &str>>> = LazyLock::new(|| {
    let lines = include_str!("data/removed-names.txt").lines().filter_map(|line| line.split_once(':'));
    lines.map(|(path, names)| (path, names.split(' ').filter_map(|name| name.split_once('@')).collect())).collect()
});

/// What is known about a name of a module that newer versions lack.
pub(crate) fn removed_name(path: &str, name: &str) -> Option<RemovedName> {
    if let Some(removed) = data::REMOVED.get(path) {
        let (version, instead) = removed.names.get(name)?;
        let instead = Some(instead.as_str()).filter(|instead| !instead.is_empty());
        return Some(RemovedName { package: &removed.package, version, instead });
    }
    let package = ["torch", "torchvision", "torchaudio", "numpy"]
        .into_iter()
        .find(|package| path.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))?;
    let table = match path {
        "numpy" => REMOVED,
        "torch" => RAISING,
        _ => &[],
    };
    match table.iter().find(|(removed, ..)| *removed == name) {
        Some((_, version, instead)) => Some(RemovedName { package, version, instead: Some(instead) }),
        None => GONE.get(path)?.get(name).map(|version| RemovedName { package, version, instead: None }),
    }
}

/// Modules whose list also contains the names that their submodules define. For these modules, a
/// name is reported as missing only if it is similar to a listed name.
const MERGED: &[&str] = &["torch.nn", "torch.utils.data", "torchvision.datasets", "torchvision.transforms"];

/// Attributes of tensors that are also fields of named tuples. Functions such as `torch.max` return
/// such named tuples.
const FIELDS: &[&str] =
    &["values", "indices", "sign", "min", "max", "inverse", "count", "index", "mode", "histogram", "logdet"];

/// Modules that programs call by mistake, such as `torch.cuda()` for `torch.device("cuda")`.
const MODULES: &[&str] = &[
    "torch.cuda",
    "torch.nn",
    "torch.optim",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.utils",
    "torch.utils.data",
    "torch.optim.lr_scheduler",
    "torch.distributed",
    "torch.linalg",
    "torch.fft",
    "torchvision.transforms",
    "torchvision.datasets",
    "torchvision.models",
    "numpy.random",
    "numpy.linalg",
    "tqdm",
    "PIL.Image",
    "cv2",
    "matplotlib.pyplot",
    "numpy",
    "pandas",
];

/// Builtin classes that programs use by mistake in place of a variable that has another name: `map.max()`.
const ITERATORS: &[&str] = &["enumerate", "filter", "map", "reversed", "zip"];

/// The message for an attribute of a builtin function.
pub(crate) fn attribute_of_builtin(path: &str, name: &str) -> Option<String> {
    let builtin = path.strip_prefix("builtins.")?;
    let has_none = FUNCTIONS.contains(&builtin) || ITERATORS.contains(&builtin);
    (has_none && !name.starts_with("__")).then(|| {
        format!("Python's builtin function `{builtin}` has no attribute `{name}`: no variable of this name is set")
    })
}

/// Whether a path is that of a module in [`MODULES`] or of the standard library.
pub(crate) fn is_module(path: &str) -> bool {
    MODULES.contains(&path) || super::standard::is_module(path)
}

/// The message for a name that its module or class does not have; `None` if the name may exist.
pub(crate) fn missing_name(path: &str, name: &str) -> Option<String> {
    if let Some((module, own)) = path.rsplit_once('.')
        && own == name
        && (path == "tqdm.tqdm" || super::standard::has(module, own) && !super::standard::has(path, name))
    {
        return Some(format!("`{path}.{name}` does not exist: the import already gives the member of the module"));
    }
    let names = NAMES.get(path)?;
    // `torch.nn` itself has only classes and modules. Its functions are in these modules.
    let is_submodule =
        || name == "grad" || modules::MODULES.contains(&name) || NAMES.contains_key(&*format!("torch.nn.{name}"));
    if path == "torch.nn" && name.starts_with(|c: char| c.is_ascii_lowercase()) && !is_submodule() {
        let all = ["torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.utils.rnn", "torch"];
        let module = all.into_iter().find(|module| NAMES.get(module).is_some_and(|names| names.contains(name)));
        if let Some(module) = module {
            return Some(format!("`torch.nn.{name}` does not exist: use `{module}.{name}`"));
        }
    }
    // `torch.nn.modules` is treated as `torch.nn`.
    let is_module = match path {
        "torch.nn" => modules::MODULES.contains(&name),
        // A function of `torch.nn.modules.utils`.
        "torch.nn.utils" => name == "consume_prefix_in_state_dict_if_present",
        _ => false,
    };
    // A function of the standard library that only some versions have, or a function whose module is a submodule.
    let is_standard = || super::standard::has(path, name);
    if names.contains(name) || name.starts_with('_') || is_module || removed_name(path, name).is_some() || is_standard()
    {
        return None;
    }
    if let Some(inner) = super::standard::inner(path, name) {
        return Some(format!("`{path}.{name}` does not exist: use `{inner}`"));
    }
    let near = nearest(name, names.iter().copied());
    let sure = near.is_some() || !MERGED.contains(&path);
    sure.then(|| format!("`{path}.{name}` does not exist{}", meant(near)))
}

/// Whether the list of a module's names contains all its public submodules.
pub(crate) fn lists_modules(path: &str) -> bool {
    NAMES.contains_key(path) && path.split('.').next().is_some_and(|root| root == "torch" || root == "torchvision")
}

pub(crate) fn is_tensor_attribute(name: &str) -> bool {
    NAMES.get("torch.Tensor").is_some_and(|names| names.contains(name))
}

/// Attributes of tensors that are no methods, each with what is probably meant by a call.
const DATA_OF_TENSORS: &[(&str, &str)] = &[
    ("shape", "size()` or `shape[…]"),
    ("dtype", "to(dtype)"),
    ("device", "to(device)"),
    ("ndim", "dim()"),
    ("requires_grad", "requires_grad_()"),
    ("is_cuda", "is_cuda"),
    ("is_leaf", "is_leaf"),
    ("grad", "grad"),
    ("grad_fn", "grad_fn"),
    ("data", "data"),
    ("T", "T"),
];

/// Attributes of NumPy arrays that are no methods.
const DATA_OF_ARRAYS: &[(&str, &str)] =
    &[("shape", "shape[…]"), ("dtype", "astype(dtype)"), ("ndim", "ndim"), ("size", "size"), ("T", "T")];

/// The message for the call of an attribute of a tensor or an array that is no method.
pub(crate) fn called_attribute(heap: &Heap, value: &Value, name: &str) -> Option<String> {
    let (what, known) = match heap.tensor_ref(value)?.array {
        ArrayKind::Torch => ("tensor", DATA_OF_TENSORS),
        ArrayKind::Numpy => ("NumPy array", DATA_OF_ARRAYS),
    };
    let (_, meant) = known.iter().find(|(attribute, _)| *attribute == name)?;
    Some(format!("the attribute `{name}` of a {what} cannot be called: write `{meant}`"))
}

/// Whether nothing is known about the device of a tensor, or only what is assumed about arguments.
fn has_no_device(tensor: &Tensor) -> bool {
    let is_named = tensor.device.is_some_and(|device| matches!(device.kind, DeviceKind::Named(_)));
    tensor.device.is_none() || is_named && tensor.device_at.is_none()
}

/// Attributes of arrays that Python numbers have, too.
const OF_NUMBERS: &[&str] = &["conjugate", "imag", "real"];

/// The message for an attribute that a value of a known type does not have. There is a message if the
/// name is similar to an existing one (only for the types in [`SPELT`]), or if it is an attribute of a
/// type with which this one is often confused: of arrays for a tensor, of modules and tensors for an
/// optimizer or a scheduler, of tensors for layers and all other types.
/// A number may be a NumPy scalar, which has most attributes of an array, unless `of_python` says that it
/// is a Python number.
pub(crate) fn missing_attribute(heap: &Heap, value: &Value, name: &str, of_python: bool) -> Option<String> {
    let (class, what) = plain_type(heap, value)?;
    // NumPy's functions return a pandas object for a pandas object.
    let is_open = heap.tensor_ref(value).is_some_and(|array| array.shape.is_none());
    if class == "numpy.ndarray" && is_open && matches!(name, "values" | "index") {
        return None;
    }
    // A configuration is modelled as a dictionary whose keys are attributes, too.
    let may_have = |dict: &Dict| dict.open.is_some() || dict.entries.contains_key(&Key::Str(name.into()));
    if class == "builtins.dict" && heap.dict_of(value).is_some_and(may_have) {
        return None;
    }
    let own = NAMES.get(class)?;
    if class == LAYER && value.as_obj().is_some_and(|id| heap.attr(id, name).is_some()) {
        return None;
    }
    let has = |path: &str| NAMES.get(path).is_some_and(|names| names.contains(name));
    let is_of_scalar =
        of_python && value.number_type().is_some() && has("numpy.ndarray") && !OF_NUMBERS.contains(&name);
    if own.contains(name) && !is_of_scalar || name.starts_with('_') {
        return None;
    }
    let near = nearest(name, own.iter().copied()).filter(|_| SPELT.contains(&class));
    let confused = match class {
        "torch.Tensor" => has("numpy.ndarray"),
        "builtins.dict" => MISTAKEN_FOR_VALUE.contains(&name),
        LAYER => has("torch.Tensor") && !OF_LAYERS.contains(&name),
        OPTIMIZER | SCHEDULER => has("torch.nn.Module") || has("torch.Tensor"),
        "builtins.str" => has("torch.Tensor") || has("pathlib.Path") || OF_OTHER_TEXTS.contains(&name),
        PATH => true,
        "builtins.tuple" if OF_OTHERS_THAN_TUPLES.contains(&name) => true,
        "builtins.tuple" => has("torch.Tensor") && !FIELDS.contains(&name) && is_plain_tuple(heap, value),
        _ if of_python => ["torch.Tensor", "builtins.dict", "builtins.list", "builtins.str"].into_iter().any(has),
        _ => has("torch.Tensor"),
    };
    (confused || near.is_some()).then(|| format!("{what} has no attribute `{name}`{}", meant(near)))
}

/// The message for an attribute that a wrapper (`DataParallel`, `DistributedDataParallel`, `Subset`) does not
/// have, but the module or dataset in it has.
pub(crate) fn attribute_of_wrapped(heap: &Heap, value: &Value, name: Sym) -> Option<String> {
    let wrapper = heap.instance_of(value).filter(|instance| !instance.open)?;
    let class = wrapper.class.as_path()?;
    let (inner, what) = match class {
        "torch.nn.DataParallel" | "torch.nn.parallel.DistributedDataParallel" => ("module", "wrapped module"),
        "torch.utils.data.Subset" => ("dataset", "dataset in it"),
        _ => return None,
    };
    let of_modules = || NAMES.get("torch.nn.Module").is_none_or(|names| names.contains(name.as_str()));
    let is_own = wrapper.attrs.contains_key(&name) || inner == "module" && of_modules();
    if is_own || name.as_str().starts_with('_') {
        return None;
    }
    let wrapped = wrapper.attrs.get(&sym(inner))?;
    let of_class = || match heap.get(heap.instance_of(wrapped)?.class.as_obj()?) {
        Data::Class(class) => class.attrs.get(&name).cloned(),
        _ => None,
    };
    wrapped.as_obj().and_then(|id| heap.attr(id, name.as_str())).or_else(of_class)?;
    let class = class.rsplit('.').next()?;
    Some(format!("`{class}` has no attribute `{name}`: the {what} has it (`.{inner}.{name}`)"))
}

/// Whether a tuple is a shape (a tuple of sizes), or a tuple of tensors.
fn is_plain_tuple(heap: &Heap, value: &Value) -> bool {
    let is_part =
        |item: &Value| item.number_type() == Some(Type::Int) || matches!(item, Value::Size(_)) || heap.is_tensor(item);
    matches!(value, Value::Tuple(items) if items.iter().all(is_part))
}

/// Methods of strings in Python 2, and of lists, dictionaries and other languages' strings.
const OF_OTHER_TEXTS: &[&str] =
    &["append", "contains", "decode", "extend", "get", "has", "items", "keys", "length", "push", "trim", "values"];

/// Attributes of lists, dictionaries, losses and modules that no class of tuples has, not even one with named fields.
const OF_OTHERS_THAN_TUPLES: &[&str] = &[
    "append",
    "argmax",
    "backward",
    "detach",
    "eval",
    "extend",
    "item",
    "keys",
    "requires_grad",
    "squeeze",
    "unsqueeze",
];

/// Attributes of losses, outputs, modules, optimizers and schedulers that programs read from the dictionary
/// that contains them: `losses.backward()`. Other attributes, such as `to`, may be those of a class of
/// another library that is modelled as a dictionary.
#[rustfmt::skip]
const MISTAKEN_FOR_VALUE: &[&str] = &[
    "argmax", "backward", "detach", "eval", "item", "max", "mean", "ndim", "parameters", "squeeze", "step", "sum",
    "train", "unsqueeze", "view", "zero_grad",
];

/// Whether a class of `torch.nn` is a layer that only has numbers and parameters.
fn is_plain_layer(path: &str) -> bool {
    path.strip_prefix("torch.nn.").is_some_and(|name| {
        let starts =
            ["Linear", "Bilinear", "Conv", "BatchNorm", "LayerNorm", "Embedding", "LSTM", "GRU", "RNN", "ReLU"];
        starts.iter().any(|start| name.starts_with(start))
    })
}

/// Attributes of some layers that have the name of an attribute of tensors.
const OF_LAYERS: &[&str] = &["norm", "mode", "size", "dim", "names"];

const PATH: &str = "pathlib.Path";
const LAYER: &str = "torch.nn.Module";
const OPTIMIZER: &str = "torch.optim.Optimizer";
const SCHEDULER: &str = "torch.optim.lr_scheduler.LRScheduler";

/// Types whose attributes are checked for misspellings. A value of one of the other types may be an
/// instance of a subclass.
const SPELT: &[&str] = &["torch.Tensor", "builtins.list", "builtins.str", OPTIMIZER, SCHEDULER];

/// The class that has the same attributes as the value, and how messages name the value.
fn plain_type(heap: &Heap, value: &Value) -> Option<(&'static str, &'static str)> {
    Some(match value {
        Value::Tuple(_) => ("builtins.tuple", "a tuple"),
        Value::Str(_) => ("builtins.str", "a string"),
        Value::Float(_) | Value::Floats(_) | Value::Any(Type::Float) => ("builtins.float", "a number"),
        Value::Int(_) | Value::Any(Type::Int) => ("builtins.int", "a number"),
        // A bool has the attributes of an integer.
        Value::Bool(_) | Value::Any(Type::Bool) => ("builtins.int", "a bool"),
        Value::Obj(id) => match heap.get(*id) {
            Data::Tensor(tensor) if tensor.wrapper.is_some() => return None,
            // Perhaps only an annotation says that the value is a tensor, and annotations may be
            // wrong.
            Data::Tensor(t) if t.shape.is_none() && t.dtype.is_none() && has_no_device(t) => return None,
            Data::Tensor(tensor) if tensor.array == ArrayKind::Torch => ("torch.Tensor", "a tensor"),
            Data::Tensor(_) => ("numpy.ndarray", "a NumPy array"),
            Data::List(_) => ("builtins.list", "a list"),
            Data::Dict(_) => ("builtins.dict", "a dictionary"),
            Data::Instance(instance) if !instance.open => match &instance.class {
                Value::Path(path) if path.as_str().starts_with("torch.optim.lr_scheduler.") => {
                    (SCHEDULER, "a learning rate scheduler")
                }
                Value::Path(path) if path.as_str().starts_with("torch.optim.swa_utils.") => return None,
                Value::Path(path) if path.as_str().starts_with("torch.optim.") => (OPTIMIZER, "an optimizer"),
                Value::Path(path) if path.as_str() == PATH => (PATH, "a path"),
                Value::Path(path) if is_plain_layer(path.as_str()) => (LAYER, "a layer"),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    })
}
