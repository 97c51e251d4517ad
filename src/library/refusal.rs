//! Rejects calls whose arguments do not fit PyTorch's signatures, and calls of modules.

use std::sync::Arc;

use super::{names, signatures};
use crate::python::{
    Args, Interp, Rejection, Sig, WrongArguments, doubled_argument, missing_argument, surplus_arguments,
    unknown_argument,
};
use crate::syntax::Span;
use crate::value::{Sym, Value, sym};

/// Rejects arguments that fit no signature of the function at `path`, if the reason is clear.
pub(super) fn refuse_arguments(it: &mut Interp<'_>, path: Sym, args: &Args, span: Span) {
    let sigs: Vec<Arc<Sig>> = signatures::of(path.as_str()).into_iter().map(Arc::new).collect();
    // A handler may run only if the call in its `try` failed, which may be a call of another class.
    let is_judged = !sigs.is_empty() && !args.is_open() && !it.is_in_handler();
    if !is_judged || sigs.iter().any(|sig| sig.bind(args).is_some()) {
        return;
    }
    // The object may be of a class of the program that has a method of this name.
    if let Some(method) = path.as_str().strip_prefix("torch.Tensor.")
        && it.mentions(sym(&format!("def {method}(")).as_str())
    {
        return;
    }
    let Some((wrong, sure)) = fault(path.as_str(), &sigs, args) else { return };
    // Parameters may have had other names in older versions: `ParameterList(parameters=…)`.
    let takes = |name: Sym| sigs.iter().any(|sig| sig.params.iter().any(|p| p.name == name));
    if args.kw.iter().any(|(name, _)| !takes(*name)) && path.as_str().starts_with("torch.") && excludes_newest(it) {
        return;
    }
    let assumed = (!sure).then_some("with the newest PyTorch");
    let rejection = Rejection { assumed, of_python: false, ..it.rejection_of(wrong, span) };
    if sure {
        // In an arm of an unknown condition, a wrong call of a function is reported, but not one of a
        // method: the condition may test whether the object is a tensor.
        // It may also test the version of the library.
        let is_method = ["torch.Tensor.", "numpy.ndarray.", "pandas."].iter().any(|of| path.as_str().starts_with(of));
        match is_method || it.file_contains("__version__") {
            true => it.reject(rejection, span),
            false => it.in_arm_of_callee(|it| it.reject(rejection, span)),
        }
        it.fail("TypeError");
    } else if !(excludes_newest(it) || it.undecided() > 0 && tests_version(it)) {
        it.suspect(rejection);
    }
}

/// Whether the current file may test the version of PyTorch, perhaps by a constant: `TORCH_VERSION >= "1.7"`.
fn tests_version(it: &Interp<'_>) -> bool {
    ["__version__", "_VERSION"].iter().any(|text| it.file_contains(text))
}

/// PyTorch's names of parameters, and NumPy's.
const NAMES: &[(&str, &str)] = &[("dim", "axis"), ("keepdim", "keepdims")];

/// Functions of NumPy that take the arrays as one list or tuple.
const STACKING: &[&str] = &["column_stack", "dstack", "hstack", "vstack"];

/// Rejects PyTorch's ways to call a function in a call of a function of NumPy; returns whether it did.
pub(super) fn refuse_names_of_torch(it: &mut Interp<'_>, path: Sym, args: &Args, span: Span) -> bool {
    if it.may_be_fallback() {
        return false;
    }
    let function = path.as_str().rsplit('.').next().unwrap_or_default();
    if STACKING.contains(&function) && args.pos.len() > 1 && !args.is_open() {
        it.report_arguments(format!("`{function}` takes the arrays as one list or tuple"), span);
        it.fail("TypeError");
        return true;
    }
    let wrong = args.kw.iter().find_map(|(name, _)| NAMES.iter().find(|(torch, _)| name.as_str() == *torch));
    let Some((torch, numpy)) = wrong else { return false };
    it.report_arguments(format!("NumPy's `{function}` takes no argument `{torch}`: its name is `{numpy}`"), span);
    it.fail("TypeError");
    true
}

/// Whether the requirements of the project exclude the PyTorch version that `signatures.txt` describes.
pub(super) fn excludes_newest(it: &Interp<'_>) -> bool {
    it.excludes("torch", "2.15")
}

/// Rejects a call of a path that is in no table, if it is the path of a module. The result is
/// unknown.
pub(super) fn refuse_module(it: &mut Interp<'_>, path: Sym, span: Span) -> Value {
    // Before PyTorch 1.8, `torch.fft` was a function: programs that test the version may call it.
    if !names::is_module(path.as_str()) || it.reads_version() {
        return Value::Unknown;
    }
    let message = format!("`{path}` is a module: it cannot be called");
    it.report_arguments(message, span);
    it.fail("TypeError")
}

/// NumPy's names of parameters, which many functions of PyTorch also accept.
const OF_NUMPY: &[&str] = &["axis", "keepdims", "a", "x", "x1", "x2"];

/// Hydra's keys. Some decorators turn the calls in the decorated function into settings with these
/// keys.
const OF_HYDRA: &[&str] = &["_target_", "_partial_", "_args_", "_recursive_", "_convert_"];

/// What is wrong with the arguments, and whether they are wrong in every PyTorch version.
fn fault(path: &str, sigs: &[Arc<Sig>], args: &Args) -> Option<(WrongArguments, bool)> {
    // A layer's call passes its arguments, after the layer itself, to `forward`.
    let layer = path.strip_suffix(".forward");
    let name = layer.unwrap_or(path).rsplit('.').next().unwrap_or_default();
    let in_nn = path.starts_with("torch.nn.");
    let takes = |name: Sym| sigs.iter().any(|sig| sig.double_star || sig.params.iter().any(|p| p.name == name));
    if args.kw.iter().any(|(name, _)| OF_HYDRA.contains(&name.as_str())) {
        return None;
    }
    let is_unknown = |name: Sym| !takes(name) && !OF_NUMPY.contains(&name.as_str());
    let unknown = args.kw.iter().find(|(name, _)| is_unknown(*name));
    // The native functions accept NumPy's names, but functions of `torch.nn` do not.
    let of_numpy = || args.kw.iter().find(|(name, _)| !takes(*name)).filter(|_| in_nn);
    if let Some((unknown, _)) = unknown.or_else(of_numpy) {
        let known = sigs.iter().flat_map(|sig| &sig.params).map(|p| p.name.as_str());
        let (message, near) = unknown_argument(name, unknown.as_str(), known);
        // The parameter names in `torch.nn` are assumed to be the same in every version.
        return Some((message, near.is_some() || in_nn));
    }
    let [sig] = sigs else { return None };
    let by_position = sig.params.iter().take(args.pos.len()).filter(|p| !p.keyword_only);
    if let Some(twice) = by_position.map(|p| p.name).find(|have| args.kw.iter().any(|(name, _)| name == have)) {
        return Some((doubled_argument(name, twice.as_str()), true));
    }
    let given = |name: Sym| args.kw.iter().any(|(have, _)| *have == name);
    let mut needed = sig.params.iter().skip(args.pos.len()).filter(|p| p.default.is_none());
    if let Some(missing) = needed.find(|p| !given(p.name)) {
        return Some((missing_argument(name, missing.name.as_str()), true));
    }
    let most = sig.params.iter().filter(|p| !p.keyword_only).count();
    let is_class = name.starts_with(char::is_uppercase);
    // Functions with more parameters may have accepted some of them by position in another version.
    let is_sure = in_nn && is_class || most == 1 && path.rsplit_once('.').is_some_and(|(of, _)| of == "torch");
    let too_many = is_sure && sig.star.is_none() && args.pos.len() > most;
    let own = usize::from(layer.is_some());
    too_many.then(|| (surplus_arguments(name, most - own, args.pos.len() - own), true))
}
