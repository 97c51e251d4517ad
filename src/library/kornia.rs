//! kornia: image operations on batches of tensors.

use super::common::part_of;
use super::{Cx, Table};
use crate::python::Bound;
use crate::value::{Dim, Grad, Range, Role, Size, Tensor, Value};

pub fn register(t: &mut Table) {
    t.alias("kornia.geometry.resize", "kornia.geometry.transform.resize");
    t.alias("kornia.resize", "kornia.geometry.transform.resize");
    t.def(
        "kornia.geometry.transform.resize",
        "input, size, interpolation='bilinear', align_corners=None, side='short', antialias=False",
        resize,
    );
    for name in ["hflip", "vflip", "rot180"] {
        t.def(&format!("kornia.geometry.transform.{name}"), "input", |cx, b| like(cx, b, "input"));
        t.alias(&format!("kornia.geometry.{name}"), &format!("kornia.geometry.transform.{name}"));
    }
    t.def("kornia.utils.image_to_tensor", "image, keepdim=True", |cx, b| {
        let Some(image) = cx.tensor_arg(b, "image") else { return cx.some_tensor() };
        let mut out = Tensor {
            array: crate::value::ArrayKind::Torch,
            device: Some(crate::value::Device::CPU),
            grad: Grad::Off,
            data: None,
            base: None,
            ..image.clone()
        };
        let keep = b.get("keepdim").as_bool();
        out.shape = match (image.shape.as_deref(), keep) {
            (Some([h, w]), Some(true)) => Some(vec![Dim::int(1), h.clone(), w.clone()]),
            (Some([h, w, c]), Some(true)) => Some(vec![c.clone(), h.clone(), w.clone()]),
            _ => None,
        };
        cx.out(out)
    });
}

fn like(cx: &mut Cx<'_, '_>, b: &Bound, name: &str) -> Value {
    let Some(mut out) = cx.tensor_arg(b, name) else { return cx.some_tensor() };
    out.base = None;
    out.data = None;
    if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    cx.out(out)
}

fn resize(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut out) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let at = cx.at();
    let size = match cx.items(&b.get("size")).as_deref() {
        Some([h, w]) => (cx.size_of(h), cx.size_of(w)),
        _ => (Size::Unknown, Size::Unknown),
    };
    if let Some([.., h, w]) = out.shape.as_deref_mut() {
        *h = Dim::new(size.0, at);
        *w = Dim::new(size.1, at);
    }
    out.data = None;
    out.base = None;
    if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    let nearest = b.get("interpolation").as_str().map(|n| n.starts_with("nearest"));
    out.range = match (out.range.take(), nearest) {
        (Some(range), Some(true)) => Some(part_of(range)),
        (Some(range), Some(false)) if b.get("interpolation").as_str() == Some("bilinear") => {
            Some(Range::bounds(range.lo(), range.hi()))
        }
        _ => None,
    };
    if nearest != Some(true) && out.role == Some(Role::ClassMask) {
        out.role = None;
    }
    cx.out(out)
}
