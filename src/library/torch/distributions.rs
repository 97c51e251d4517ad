//! `torch.distributions`: a sample of a distribution has the shape to which the parameters
//! broadcast; for `Categorical`, this shape loses its last dimension. `sample_shape` adds
//! dimensions at the front. The shape of a log-probability is the shape to which the value and the
//! parameters broadcast.
//!
//! Each instance has a note (`BATCH`) with a tensor, which holds the broadcast shape, the dtype and
//! the device.

use super::carry::bare;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, Interp};
use crate::value::{ArrayKind, Dim, Dtype, Grad, ObjId, Range, Size, Tensor, Topic, Value};

const BATCH: Topic = Topic::new("batch of a distribution");
/// The number of categories, if the distribution has categories.
const EVENTS: Topic = Topic::new("categories of a distribution");

pub(crate) fn register(t: &mut Table) {
    let path = |name: &str| format!("torch.distributions.{name}");
    t.class(&path("Distribution"), &[], "*args, **kwargs").keeps_arguments = false;
    let base = path("Distribution");
    let bases = [base.as_str()];
    for name in ["Normal", "Laplace", "Cauchy", "Gumbel", "LogNormal"] {
        t.class(&path(name), &bases, "loc, scale, validate_args=None").init = Some(continuous);
    }
    t.class(&path("Uniform"), &bases, "low, high, validate_args=None").init = Some(continuous);
    t.class(&path("Beta"), &bases, "concentration1, concentration0, validate_args=None").init = Some(continuous);
    t.class(&path("Gamma"), &bases, "concentration, rate, validate_args=None").init = Some(continuous);
    t.class(&path("Exponential"), &bases, "rate, validate_args=None").init = Some(continuous);
    t.class(&path("Bernoulli"), &bases, "probs=None, logits=None, validate_args=None").init = Some(bernoulli);
    t.class(&path("Categorical"), &bases, "probs=None, logits=None, validate_args=None").init = Some(categorical);
    // Distributions whose events have several elements are not modelled.
    for name in ["MultivariateNormal", "Independent", "TransformedDistribution", "Dirichlet", "OneHotCategorical"] {
        t.class(&path(name), &bases, "*args, **kwargs").keeps_arguments = false;
    }
    for (module, names) in [
        ("normal", "Normal"),
        ("categorical", "Categorical"),
        ("bernoulli", "Bernoulli"),
        ("uniform", "Uniform"),
        ("beta", "Beta"),
        ("gamma", "Gamma"),
        ("laplace", "Laplace"),
        ("distribution", "Distribution"),
        ("independent", "Independent"),
        ("multivariate_normal", "MultivariateNormal"),
    ] {
        t.alias(&path(&format!("{module}.{names}")), &path(names));
    }
    t.def(&format!("{base}.sample"), "self, sample_shape=()", sample);
    t.def(&format!("{base}.rsample"), "self, sample_shape=()", sample);
    t.def(&format!("{base}.log_prob"), "self, value", log_prob);
    t.def(&format!("{base}.cdf"), "self, value", log_prob);
    t.def(&format!("{base}.entropy"), "self", entropy);
}

/// The facts of `left + right`, computed as if the program called `torch.add`.
fn added(cx: &mut Cx<'_, '_>, left: &Value, right: &Value) -> Option<Tensor> {
    let (span, args) = (cx.span, [left.clone(), right.clone()]);
    let sum = cx.it.call_function("torch.add", &Args::positional(args, span), span)?;
    let mut out = cx.tensor(&sum)?;
    out.forget_values();
    (out.base, out.version, out.writes, out.parameter) = (None, 0, 0, false);
    (out.role, out.wrapper) = (None, None);
    if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    Some(out)
}

/// Handles an assignment to an attribute of a distribution: its samples become unknown.
pub(crate) fn set_attribute(it: &mut Interp<'_>, object: &Value) {
    if let Some(id) = object.as_obj()
        && it.heap.note(id, BATCH).is_some()
    {
        it.heap.set_note(id, BATCH, Value::Unknown);
    }
}

fn keep(cx: &mut Cx<'_, '_>, object: ObjId, batch: Option<Tensor>) {
    let batch = match batch {
        // Whether integers become floats depends on the distribution.
        Some(batch) if batch.dtype.is_some_and(Dtype::is_floating) => cx.out(batch),
        Some(batch) => cx.out(Tensor { dtype: None, ..batch }),
        None => cx.some_tensor(),
    };
    cx.it.heap.set_note(object, BATCH, batch);
}

/// Distributions with one parameter, or with two that broadcast.
fn continuous(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let names: Vec<&str> = b.sig.params.iter().map(|p| p.name.as_str()).filter(|n| *n != "validate_args").collect();
    let first = names.first().map_or(Value::Unknown, |n| b.get(n));
    let second = names.get(1).map_or(Value::Int(0), |n| b.get(n));
    let known = |v: &Value| v.number_type().is_some() || cx.tensor(v).is_some();
    let batch = if known(&first) && known(&second) { added(cx, &first, &second) } else { None };
    // Numbers become tensors.
    for name in names.iter().filter(|name| b.get(name).number_type().is_some()) {
        let parameter = cx.some_tensor();
        cx.it.heap.set_attr(object, name, parameter);
    }
    // Arrays become tensors, too.
    keep(cx, object, batch.map(|batch| Tensor { array: ArrayKind::Torch, ..batch }));
}

/// The given one of the parameters `probs` and `logits`.
fn weights(cx: &Cx<'_, '_>, b: &Bound) -> Option<Tensor> {
    let value = if b.get("probs").is_none() { b.get("logits") } else { b.get("probs") };
    let weights = cx.tensor(&value)?;
    let mut out = bare(cx, &weights);
    (out.shape, out.shape_at) = (weights.shape, weights.shape_at);
    Some(out)
}

fn bernoulli(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let batch = weights(cx, b);
    both(cx, object, batch.as_ref());
    keep(cx, object, batch);
}

/// Sets `probs` and `logits`. PyTorch computes the one that is not given from the other.
fn both(cx: &mut Cx<'_, '_>, object: ObjId, weights: Option<&Tensor>) {
    for name in ["probs", "logits"] {
        let facts = match weights {
            Some(weights) => cx.out(weights.clone()),
            None => cx.some_tensor(),
        };
        cx.it.heap.set_attr(object, name, facts);
    }
}

fn categorical(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let weights = weights(cx, b);
    both(cx, object, weights.as_ref());
    let count = weights.as_ref().and_then(|w| w.dim(-1)).map_or(Size::Unknown, |d| d.size.clone());
    cx.it.heap.set_note(object, EVENTS, Value::size(&count));
    let batch = weights.map(|mut weights| {
        weights.shape = weights.shape.and_then(|dims| dims.split_last().map(|(_, rest)| rest.to_vec()));
        weights
    });
    keep(cx, object, batch);
}

fn batch(cx: &Cx<'_, '_>, b: &Bound) -> Option<Tensor> {
    let kept = cx.note(&b.get("self"), BATCH);
    cx.tensor(&kept)
}

fn sample(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut out) = batch(cx, b) else { return cx.some_tensor() };
    let at = cx.at();
    if cx.name() == "sample" {
        out.grad = Grad::Off;
    }
    let more = if b.given("sample_shape") { cx.sizes(&[b.get("sample_shape")]) } else { Some(Vec::new()) };
    out.shape = out.shape.zip(more).map(|(dims, more)| more.into_iter().map(|n| Dim::new(n, at)).chain(dims).collect());
    let object = b.get("self");
    let class = cx.it.heap.instance_of(&object).and_then(|i| i.class.as_path()).unwrap_or_default();
    if class.ends_with(".Categorical") {
        (out.dtype, out.dtype_at) = (Some(Dtype::Int64), at);
        #[expect(clippy::cast_precision_loss, reason = "a number of categories")]
        if let Some(count @ 1..) = cx.note(&object, EVENTS).as_int() {
            out = out.with_range(Some(Range::bounds(0.0, count as f64 - 1.0)), at);
        }
    } else if class.ends_with(".Bernoulli") {
        out = out.with_range(Some(Range::bounds(0.0, 1.0)), at);
    } else if !class.starts_with("torch.distributions.") {
        // A subclass of the program may define its own sampling.
        return cx.some_tensor();
    }
    cx.out(out)
}

fn log_prob(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let kept = cx.note(&b.get("self"), BATCH);
    let value = b.get("value");
    if cx.tensor(&kept).is_none() || cx.tensor(&value).is_none() {
        return cx.some_tensor();
    }
    let own = cx.tensor(&kept).map(|t| t.grad);
    // The value must broadcast with the parameters: `Normal`, for example, computes `value - loc`.
    // `value + loc` has the same shape, dtype and device, and the same errors.
    let sum = added(cx, &value, &kept).map(|mut out| {
        // Not every density is differentiable with respect to the value.
        if out.grad == Grad::Attached && own != Some(Grad::Attached) {
            out.grad = Grad::Unknown;
        }
        out
    });
    match sum {
        Some(out) if out.dtype.is_some_and(Dtype::is_floating) => cx.out(out),
        Some(out) => cx.out(Tensor { dtype: None, ..out }),
        None => cx.some_tensor(),
    }
}

fn entropy(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match batch(cx, b) {
        Some(mut batch) => {
            // The entropy need not depend on every parameter: that of `Normal` does not depend on
            // `loc`. So even if a parameter requires grad, the entropy possibly does not.
            if batch.grad == Grad::Attached && cx.note(&b.get("self"), EVENTS).is_unknown() {
                batch.grad = Grad::Unknown;
            }
            cx.out(batch)
        }
        None => cx.some_tensor(),
    }
}
