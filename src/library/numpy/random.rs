//! `numpy.random`: legacy functions, `RandomState` and `Generator`.

use super::facts::{as_array, shape_arg};
use super::promotion::dtype_arg;
use super::reduce::forget_order;
use crate::library::common::{array, part_of};
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Data, Dtype, Range, Role, Size, Tensor, Type, Value};

pub(crate) fn register(t: &mut Table) {
    t.class("numpy.random.RandomState", &[], "seed=None").keeps_arguments = false;
    t.class("numpy.random.Generator", &[], "bit_generator=None").keeps_arguments = false;
    t.def("numpy.random.default_rng", "seed=None", |cx, _| {
        crate::library::common::instance(cx, "numpy.random.Generator", Vec::new())
    });
    t.family("numpy.random.", "seed set_state", "*args", |cx, _| {
        crate::library::torch::draws::note_seed(cx);
        Value::None
    });
    // An own generator does not affect other random numbers.
    t.family("numpy.random.RandomState.", "seed set_state", "self, *args, **kwargs", |_, _| Value::None);
    for (prefix, free) in [("numpy.random.", true), ("numpy.random.RandomState.", false)] {
        old(t, prefix, free);
        t.family(
            prefix,
            "choice",
            if free {
                "a, size=None, replace=True, p=None, **kwargs"
            } else {
                "self, a, size=None, replace=True, p=None, **kwargs"
            },
            choice,
        );
        t.family(prefix, "permutation", if free { "x, **kwargs" } else { "self, x, **kwargs" }, permutation);
        t.family(prefix, "shuffle", if free { "x, **kwargs" } else { "self, x, **kwargs" }, shuffle);
    }
    let generator = "numpy.random.Generator.";
    t.family(generator, "choice", "self, a, size=None, replace=True, p=None, axis=0, shuffle=True", choice);
    t.family(generator, "permutation permuted", "self, x, axis=0, **kwargs", permutation);
    t.family(generator, "shuffle", "self, x, axis=0", shuffle);
    t.def("numpy.random.Generator.integers", "self, low, high=None, size=None, dtype='int64', endpoint=False", randint);
    t.def("numpy.random.Generator.random", "self, size=None, dtype='float64', out=None", uniform);
    t.def("numpy.random.Generator.standard_normal", "self, size=None, dtype='float64', out=None", uniform);
    distributions(t, generator, false);
}

/// Distributions: names, parameters, and whether the samples are integers.
const DISTRIBUTIONS: &[(&str, &str, bool)] = &[
    ("normal laplace gumbel logistic", "self, loc=0.0, scale=1.0, size=None", false),
    ("lognormal", "self, mean=0.0, sigma=1.0, size=None", false),
    ("uniform", "self, low=0.0, high=1.0, size=None", false),
    ("exponential rayleigh", "self, scale=1.0, size=None", false),
    ("gamma", "self, shape, scale=1.0, size=None", false),
    ("beta", "self, a, b, size=None", false),
    ("pareto power weibull", "self, a, size=None", false),
    ("chisquare standard_t", "self, df, size=None", false),
    ("noncentral_chisquare", "self, df, nonc, size=None", false),
    ("f", "self, dfnum, dfden, size=None", false),
    ("triangular", "self, left, mode, right, size=None", false),
    ("vonmises", "self, mu, kappa, size=None", false),
    ("wald", "self, mean, scale, size=None", false),
    ("standard_cauchy", "self, size=None", false),
    ("poisson", "self, lam=1.0, size=None", true),
    ("binomial negative_binomial", "self, n, p, size=None", true),
    ("geometric logseries", "self, p, size=None", true),
    ("zipf", "self, a, size=None", true),
    ("hypergeometric", "self, ngood, nbad, nsample, size=None", true),
];

/// Registers the distributions as methods, or as functions without `self`.
fn distributions(t: &mut Table, prefix: &str, free: bool) {
    let own = |sig: &'static str| if free { sig.trim_start_matches("self, ") } else { sig };
    for (names, sig, integers) in DISTRIBUTIONS {
        t.family(prefix, names, own(sig), if *integers { drawn_integers } else { drawn });
    }
    let typed = "self, size=None, dtype='float64', method='zig', out=None";
    t.family(prefix, "standard_exponential", own(typed), drawn);
    t.family(prefix, "standard_gamma", own("self, shape, size=None, dtype='float64', out=None"), drawn);
    t.family(prefix, "dirichlet", own("self, alpha, size=None"), rows);
    t.family(prefix, "multinomial", own("self, n, pvals, size=None"), rows);
    let joint = "self, mean, cov, size=None, check_valid='warn', tol=1e-08, *, method='svd'";
    t.family(prefix, "multivariate_normal", own(joint), rows);
}

/// Functions of `numpy.random`, most of which are also methods of `RandomState`.
fn old(t: &mut Table, prefix: &'static str, free: bool) {
    let own = |with: &'static str, without: &'static str| if free { without } else { with };
    t.family(prefix, "rand randn", own("self, *size", "*size"), |cx, b| {
        if b.rest.is_empty() && !b.open {
            return Value::Any(Type::Float);
        }
        let at = cx.at();
        let shape = if b.open { None } else { Some(b.rest.iter().map(|a| cx.size_of(&a.value)).collect()) };
        let mut out = array(shape, Some(Dtype::Float64), at);
        if cx.name() == "rand" {
            out = out.with_range(Some(Range::bounds(0.0, 1.0)), at);
        }
        cx.out(out)
    });
    t.family(prefix, "random random_sample ranf sample standard_normal", own("self, size=None", "size=None"), uniform);
    t.family(
        prefix,
        "randint random_integers",
        own("self, low, high=None, size=None, dtype='int64'", "low, high=None, size=None, dtype='int64'"),
        randint,
    );
    distributions(t, prefix, free);
}

/// An array of this size, or a scalar if there is no size.
fn sized(cx: &mut Cx<'_, '_>, size: &Value, dtype: Option<Dtype>, range: Option<Range>) -> Value {
    if size.is_none() {
        return match dtype {
            Some(d) if d.is_integral() => Value::Any(Type::Int),
            Some(d) if d.is_floating() => Value::Any(Type::Float),
            _ => Value::Unknown,
        };
    }
    let at = cx.at();
    let out = array(shape_arg(cx, size), dtype, at).with_range(range, at);
    cx.out(out)
}

fn uniform(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let has_dtype = b.takes("dtype");
    let dtype = if has_dtype { dtype_arg(cx, &b.get("dtype")).flatten() } else { Some(Dtype::Float64) };
    let range = (cx.name() != "standard_normal").then(|| Range::bounds(0.0, 1.0));
    sized(cx, &b.get("size"), dtype, range)
}

/// Samples from a distribution. Their shape is `size` or, if `size` is None, the broadcast shape of
/// the parameters.
fn drawn(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let range = match (cx.name(), b.get("low").as_f64(), b.get("high").as_f64()) {
        ("uniform", Some(lo), Some(hi)) => Some(Range::bounds(lo.min(hi), lo.max(hi))),
        ("beta", _, _) => Some(Range::bounds(0.0, 1.0)),
        _ => None,
    };
    let given = b.takes("dtype");
    let dtype = if given { dtype_arg(cx, &b.get("dtype")).flatten() } else { Some(Dtype::Float64) };
    draws(cx, b, dtype, range)
}

fn drawn_integers(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let range = match (cx.name(), b.get("n").as_f64()) {
        ("binomial", Some(n)) => Range::bounds(0.0, n),
        _ => Range::bounds(0.0, f64::INFINITY),
    };
    draws(cx, b, Some(Dtype::Int64), Some(range))
}

fn draws(cx: &mut Cx<'_, '_>, b: &Bound, dtype: Option<Dtype>, range: Option<Range>) -> Value {
    let size = b.get("size");
    if !size.is_none() {
        return sized(cx, &size, dtype, range);
    }
    let names = b.sig.params.iter().map(|p| p.name);
    let parameters: Vec<Value> = names
        .filter(|name| !matches!(name.as_str(), "self" | "size" | "dtype" | "out" | "method"))
        .map(|name| b.get(name.as_str()))
        .filter(|value| value.number_type().is_none() && !value.is_none())
        .collect();
    let shape = match parameters.as_slice() {
        [] => return sized(cx, &size, dtype, range),
        // If only one parameter is an array, it determines the shape. For several arrays, the shape
        // is not computed.
        [only] => as_array(cx, only).and_then(|array| array.sizes()),
        _ => None,
    };
    let at = cx.at();
    // A 0-d parameter gives a scalar, and an unknown one may be 0-d.
    if shape.as_ref().is_none_or(Vec::is_empty) {
        return Value::Unknown;
    }
    cx.out(array(shape, dtype, at).with_range(range, at))
}

/// Samples that are vectors, each as long as the distribution's parameter.
fn rows(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (of, dtype, range) = match cx.name() {
        "dirichlet" => ("alpha", Dtype::Float64, Some(Range::bounds(0.0, 1.0))),
        "multinomial" => ("pvals", Dtype::Int64, Some(Range::bounds(0.0, f64::INFINITY))),
        _ => ("mean", Dtype::Float64, None),
    };
    let (parameter, size, at) = (b.get(of), b.get("size"), cx.at());
    let each = as_array(cx, &parameter).and_then(|array| array.sizes()).filter(|sizes| sizes.len() == 1);
    let count = if size.is_none() { Some(Vec::new()) } else { shape_arg(cx, &size) };
    let shape = count.zip(each).map(|(count, each)| count.into_iter().chain(each).collect());
    cx.out(array(shape, Some(dtype), at).with_range(range, at))
}

fn randint(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dtype = dtype_arg(cx, &b.get("dtype")).unwrap_or(Some(Dtype::Int64));
    let (lo, hi) = match b.get("high") {
        Value::None => (Some(0.0), b.get("low").as_f64()),
        high => (b.get("low").as_f64(), high.as_f64()),
    };
    let closed = cx.name() == "random_integers" || b.get("endpoint").as_bool() == Some(true);
    let open_end = cx.name() != "integers" || b.get("endpoint").as_bool().is_some();
    let range = match (lo, hi) {
        (Some(lo), Some(hi)) if open_end => {
            let last = if closed { hi } else { hi - 1.0 };
            (last >= lo).then(|| Range::attained(lo, last))
        }
        (Some(lo), None) if open_end && !closed => {
            let high = if b.get("high").is_none() { b.get("low") } else { b.get("high") };
            match high.as_size() {
                Some(high @ Size::Expr(_)) => Some(Range::up_to(if b.get("high").is_none() { 0.0 } else { lo }, high)),
                _ => None,
            }
        }
        _ => None,
    };
    let scalars =
        b.get("low").number_type().is_some() && (b.get("high").is_none() || b.get("high").number_type().is_some());
    if b.get("size").is_none() && !scalars {
        return Value::Unknown;
    }
    let out = sized(cx, &b.get("size"), dtype, range);
    if let Some(id) = out.as_obj() {
        let at = cx.at();
        cx.it.heap.update_tensor(id, |t| {
            if t.range.as_ref().is_some_and(crate::library::pil::are_classes) && is_map(t) {
                t.role = Some(Role::ClassMask);
                t.role_at = at;
            }
        });
    }
    out
}

/// Whether the array may be a map of class ids, or a batch of such maps. This is so if it has 2 or
/// 3 dimensions, and if each of the last two has a length of at least 8. (In an image whose
/// channels come last, the last dimension has fewer.)
fn is_map(array: &Tensor) -> bool {
    match array.known_shape().as_deref() {
        Some([height, width]) => *height >= 8 && *width >= 8,
        Some([_, height, width]) => *height >= 8 && *width >= 8,
        _ => false,
    }
}

fn choice(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (a, size) = (b.get("a"), b.get("size"));
    let at = cx.at();
    let (dtype, range, row) = match a.as_int() {
        #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
        Some(n) => (Some(Dtype::Int64), Some(Range::attained(0.0, n as f64 - 1.0)), Some(Vec::new())),
        None if a.number_type() == Some(Type::Int) => (Some(Dtype::Int64), None, Some(Vec::new())),
        None => match as_array(cx, &a) {
            Some(Tensor { dtype, range, shape, .. }) => {
                // With `p`, some elements may have the probability 0.
                let range = range.map(|mut r| {
                    r.attained &= b.get("p").is_none();
                    part_of(r)
                });
                (dtype, range, shape.map(|s| s.iter().skip(1).map(|d| d.size.clone()).collect::<Vec<_>>()))
            }
            None if size.is_none() => return cx.element(&a),
            None => (None, None, None),
        },
    };
    if size.is_none() && row.as_ref().is_some_and(Vec::is_empty) {
        return match dtype {
            Some(d) if d.is_integral() => Value::Any(Type::Int),
            _ => cx.out(array(Some(Vec::new()), dtype, at).with_range(range, at)),
        };
    }
    let count = if size.is_none() { Some(Vec::new()) } else { shape_arg(cx, &size) };
    let shape = count.zip(row).map(|(count, row)| count.into_iter().chain(row).collect());
    cx.out(array(shape, dtype, at).with_range(range, at))
}

fn permutation(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (x, at) = (b.get("x"), cx.at());
    if let Some(n) = x.as_size().filter(|_| x.number_type().is_some()) {
        let mut out = array(Some(vec![n.clone()]), Some(Dtype::Int64), at);
        #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
        if let Size::Int(n @ 1..) = n {
            let mut range = Range::attained(0.0, n as f64 - 1.0);
            range.certain = true;
            out = out.with_range(Some(range), at);
        }
        return cx.out(out);
    }
    match as_array(cx, &x) {
        Some(mut out) => {
            out.data = None;
            out.base = None;
            cx.out(out)
        }
        None => Value::Unknown,
    }
}

fn shuffle(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let x = b.get("x");
    match x.as_obj().map(|id| cx.it.heap.get(id)) {
        Some(Data::List(_)) => crate::library::stdlib::shuffle(cx, &x),
        Some(Data::Tensor(_)) => forget_order(cx, &x),
        _ => {}
    }
    Value::None
}
