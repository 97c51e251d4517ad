//! `torchvision.tv_tensors`: tensors whose class tells `v2` transforms what they represent.

use crate::library::{Cx, Table, numpy, pil};
use crate::python::Bound;
use crate::value::{ArrayKind, Device, Dim, Dtype, Grad, Range, Role, Tensor, Value, sym};

const MODULE: &str = "torchvision.tv_tensors.";

pub(crate) fn register(t: &mut Table) {
    t.family(
        "torchvision.tv_tensors.",
        "Image Mask Video",
        "data, *, dtype=None, device=None, requires_grad=None",
        make,
    );
    t.def(
        "torchvision.tv_tensors.BoundingBoxes",
        "data, *, format, canvas_size, dtype=None, device=None, requires_grad=None, **kwargs",
        make,
    );
    t.def("torchvision.tv_tensors.wrap", "wrappee, *, like, **kwargs", |cx, b| {
        let (value, like) = (b.get("wrappee"), b.get("like"));
        let Some(tensor) = cx.tensor(&value) else { return Value::Unknown };
        let out = cx.out(tensor);
        pass_on(cx, &like, &out);
        out
    });
    // The name of the module before torchvision 0.16.
    t.prefix("torchvision.datapoints", "torchvision.tv_tensors");
}

/// Marks a tensor as an instance of a class of `tv_tensors`.
pub(crate) fn mark(cx: &mut Cx<'_, '_>, tensor: &Value, class: &str) {
    if let Some(id) = tensor.as_obj() {
        cx.it.heap.update_tensor(id, |t| t.wrapper = Some(sym(&format!("{MODULE}{class}"))));
    }
}

/// The class of a tensor, if it is a class of `tv_tensors`.
pub(crate) fn class_of(cx: &Cx<'_, '_>, value: &Value) -> Option<&'static str> {
    cx.it.heap.tensor_ref(value)?.wrapper?.as_str().strip_prefix(MODULE)
}

pub(crate) fn is(cx: &Cx<'_, '_>, value: &Value, class: &str) -> bool {
    class_of(cx, value).is_some_and(|c| c == class)
}

/// Sets the class of a transform's result to that of its input.
pub(crate) fn pass_on(cx: &mut Cx<'_, '_>, from: &Value, to: &Value) {
    match class_of(cx, from) {
        Some(class) => mark(cx, to, class),
        None => plain(cx, to),
    }
}

/// Makes a tensor a plain one, not an instance of a class of `tv_tensors`.
pub(crate) fn plain(cx: &mut Cx<'_, '_>, tensor: &Value) {
    if let Some(id) = tensor.as_obj() {
        cx.it.heap.update_tensor(id, |t| t.wrapper = None);
    }
}

fn make(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let data = b.get("data");
    let at = cx.at();
    let class = cx.name();
    let mut out = match cx.tensor(&data).filter(|t| t.array == ArrayKind::Torch) {
        Some(tensor) => Tensor { base: None, ..tensor },
        None => {
            let picture = pil::is_image(cx, &data);
            match numpy::as_array(cx, &data) {
                Some(array) => {
                    let mut out = Tensor {
                        array: ArrayKind::Torch,
                        device: Some(Device::CPU),
                        device_at: at,
                        grad: Grad::Off,
                        ..array
                    };
                    // An image has its channels first; whether a mask keeps its only channel
                    // depends on the version.
                    if picture {
                        out.shape = match (class, out.shape.as_deref()) {
                            ("Image", Some([h, w, c])) => Some(vec![c.clone(), h.clone(), w.clone()]),
                            ("Image", Some([h, w])) => Some(vec![Dim::int(1), h.clone(), w.clone()]),
                            _ => None,
                        };
                    }
                    // A tensor made from a list of floats has the default dtype.
                    if out.dtype == Some(Dtype::Float64) && !cx.is_numpy(&data) {
                        out.dtype = cx.default_dtype();
                    }
                    out
                }
                None => Tensor { grad: Grad::Off, ..Tensor::default() },
            }
        }
    };
    if let Some(dtype) = cx.dtype_arg(&b.get("dtype")) {
        out = out.with_dtype(dtype, at);
        out.range = None;
        out.data = None;
    }
    if let Some(device) = cx.device_arg(&b.get("device")) {
        out = out.with_device(device, at);
    }
    if class == "Mask" {
        // A mask contains class ids, or marks the pixels of one object. The values of a mask must
        // not be interpolated.
        out = out.with_role(Some(Role::ClassMask), at);
    } else if class == "Image" {
        out = out.with_role(Some(Role::Image), at);
        if out.range.is_none() && out.dtype == Some(Dtype::Uint8) {
            out.range = Some(Range::bounds(0.0, 255.0));
        }
    }
    let out = cx.out(out);
    mark(cx, &out, class);
    out
}
