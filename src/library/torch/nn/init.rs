//! `torch.nn.init`: writes to a tensor in place, and returns it.

use crate::library::torch::inplace::cast_number;
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Range, Value};

pub(crate) fn register(t: &mut Table) {
    let init = "torch.nn.init.";
    // The names without an underscore are deprecated.
    for (names, old, sig) in [
        ("uniform_", "uniform", "tensor, a=0.0, b=1.0, generator=None"),
        ("normal_", "normal", "tensor, mean=0.0, std=1.0, generator=None"),
        ("trunc_normal_ ones_ zeros_", "", ""),
        ("constant_", "constant", "tensor, val"),
        ("eye_", "eye", "tensor"),
        ("dirac_", "dirac", "tensor, groups=1"),
        ("xavier_uniform_ xavier_normal_", "xavier_uniform xavier_normal", "tensor, gain=1.0, generator=None"),
        (
            "kaiming_uniform_ kaiming_normal_",
            "kaiming_uniform kaiming_normal",
            "tensor, a=0, mode='fan_in', nonlinearity='leaky_relu', generator=None",
        ),
        ("orthogonal_", "orthogonal", "tensor, gain=1, generator=None"),
        ("sparse_", "sparse", "tensor, sparsity, std=0.01, generator=None"),
    ] {
        t.listed(init, names, write);
        t.family(init, old, sig, write);
    }
}

fn write(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("tensor");
    let (Some(id), Some(mut facts)) = (value.as_obj(), cx.tensor(&value)) else { return value };
    facts.forget_values();
    let constant = match cx.name() {
        "zeros_" => Some(0.0),
        "ones_" => Some(1.0),
        "constant" | "constant_" => b.get("val").as_f64(),
        _ => None,
    };
    let constant = constant.and_then(|x| cast_number(x, facts.dtype));
    if let Some(x) = constant.filter(|x| !x.is_nan()) {
        facts.range = Range::of_values(&[x]);
        facts.range_at = cx.at();
    }
    cx.it.heap.overwrite(id, facts);
    value
}
