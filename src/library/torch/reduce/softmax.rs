//! Softmax and its logarithm: the dtype is floating, and the result has a role.

use super::one_dim;
use crate::library::torch::autocast::raised;
use crate::library::torch::broadcast::result_grad;
use crate::library::torch::pointwise::derived;
use crate::library::torch::support::{bound, give, refuse_dtype, tensor_param};
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Dtype, Kind, Role, Value};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "softmax log_softmax", softmax);
    t.listed("torch.special.", "softmax", softmax);
    t.listed("torch.special.", "log_softmax", softmax);
}

fn softmax(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    let given = cx.dtype_arg(&b.get("dtype"));
    let dtype = match given {
        Some(given) => given,
        None => raised(cx, &input),
    };
    if dtype.is_some_and(|d| d.kind() != Kind::Floating) {
        refuse_dtype(cx, named, "needs floating-point numbers");
        return cx.some_tensor();
    }
    let dim = b.get("dim");
    if !dim.is_none() && one_dim(cx, &dim, named).is_err() {
        return cx.some_tensor();
    }
    let at = cx.at();
    let mut out = derived(&input);
    if dtype != input.dtype {
        out = out.with_dtype(dtype, at);
    }
    out.grad = result_grad(cx, &[named], dtype.or(Some(Dtype::Float32)));
    if cx.name().starts_with("log") {
        bound(&mut out, f64::NEG_INFINITY, 0.0, at);
        out.role = Some(Role::LogProbabilities);
    } else {
        bound(&mut out, 0.0, 1.0, at);
        out.role = Some(Role::Probabilities);
    }
    out.role_at = at;
    give(cx, b, out)
}
