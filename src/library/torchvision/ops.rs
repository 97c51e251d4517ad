//! `torchvision.ops`, `torchvision.io`, `torchvision.utils`.

use crate::library::common::{none, unknown};
use crate::library::torch::broadcast::dtype_read;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Device, Dim, Dtype, Grad, Range, Role, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    t.family(
        "torchvision.io.",
        "read_image decode_image decode_jpeg decode_png",
        "input, mode=None, *args, **kwargs",
        read_image,
    );
    t.family("torchvision.io.", "read_file", "path", |cx, _| bytes(cx, vec!["N"]));
    t.family("torchvision.io.", "write_jpeg write_png write_file", "*args, **kwargs", none);
    t.def("torchvision.utils.save_image", "tensor, fp, *args, **kwargs", |cx, b| {
        if let Some(image) = cx.tensor_arg(b, "tensor")
            && let Some(dtype) = image.dtype.filter(|dtype| dtype.is_integral() && image.array == ArrayKind::Torch)
        {
            let message = format!("save_image takes floating-point images in 0 to 1, not {dtype}: use `.float()`");
            cx.reject(RejectKind::Dtype, message, vec![dtype_read(("the image", &image))]);
        }
        Value::None
    });
    t.def("torchvision.utils.make_grid", "tensor, *args, **kwargs", |cx, b| {
        let input = cx.tensor_arg(b, "tensor");
        let at = cx.at();
        let mut out = Tensor { dtype: input.as_ref().and_then(|t| t.dtype), ..Tensor::default() };
        out.device = input.and_then(|t| t.device);
        out.shape = Some(vec![Dim::UNKNOWN, Dim::UNKNOWN, Dim::UNKNOWN]);
        out.shape_at = at;
        cx.out(out)
    });
    t.family(
        "torchvision.utils.",
        "draw_bounding_boxes draw_segmentation_masks draw_keypoints",
        "image, *args, **kwargs",
        unknown,
    );
    t.family("torchvision.ops.", "nms", "boxes, scores, iou_threshold", kept);
    t.family("torchvision.ops.", "batched_nms", "boxes, scores, idxs, iou_threshold", kept);
    t.family(
        "torchvision.ops.",
        "box_iou generalized_box_iou distance_box_iou complete_box_iou",
        "boxes1, boxes2, *args, **kwargs",
        pairwise,
    );
    t.def("torchvision.ops.box_convert", "boxes, in_fmt, out_fmt", |cx, b| same(cx, b, "boxes"));
    t.def("torchvision.ops.clip_boxes_to_image", "boxes, size", |cx, b| same(cx, b, "boxes"));
    t.def("torchvision.ops.box_area", "boxes, *args", |cx, b| {
        let Some(boxes) = cx.tensor_arg(b, "boxes") else { return cx.some_tensor() };
        let shape = boxes.shape.as_ref().and_then(|s| s.first().cloned()).map(|n| vec![n]);
        let out = Tensor { shape, dtype: boxes.dtype, device: boxes.device, ..Tensor::default() };
        cx.out(out)
    });
    t.def("torchvision.ops.sigmoid_focal_loss", "inputs, targets, alpha=0.25, gamma=2, reduction='none'", |cx, b| {
        let Some(inputs) = cx.tensor_arg(b, "inputs") else { return cx.some_tensor() };
        let at = cx.at();
        let mut out = Tensor { base: None, data: None, range: None, role: None, ..inputs.clone() };
        if inputs.grad == Grad::Leaf {
            out.grad = Grad::Attached;
        }
        match b.get("reduction").as_str() {
            Some("none") => {}
            Some("mean" | "sum") => out = out.with_shape(Vec::new(), at),
            _ => out.shape = None,
        }
        cx.out(out)
    });
}

fn bytes(cx: &mut Cx<'_, '_>, names: Vec<&str>) -> Value {
    let at = cx.at();
    let dims = names.iter().map(|n| cx.fresh_dim(n)).collect();
    let mut out = Tensor { grad: Grad::Off, ..Tensor::default() }
        .with_dtype(Some(Dtype::Uint8), at)
        .with_device(Some(Device::CPU), at)
        .with_range(Some(Range::bounds(0.0, 255.0)), at);
    out.shape = Some(dims);
    out.shape_at = at;
    cx.out(out)
}

fn read_image(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let image = bytes(cx, vec!["C", "H", "W"]);
    let channels = match b.get("mode").as_path().and_then(|p| p.rsplit('.').next()) {
        Some("RGB") => Some(3),
        Some("GRAY") => Some(1),
        Some("RGB_ALPHA") => Some(4),
        Some("GRAY_ALPHA") => Some(2),
        _ => match b.get("mode").as_str() {
            Some("RGB") => Some(3),
            Some("GRAY") => Some(1),
            _ => None,
        },
    };
    let at = cx.at();
    if let Some(id) = image.as_obj() {
        cx.it.heap.update_tensor(id, |t| {
            t.role = Some(Role::Image);
            if let (Some(n), Some(first)) = (channels, t.shape.as_mut().and_then(|s| s.first_mut())) {
                *first = Dim::new(Size::Int(n), at);
            }
            // The dtype is assumed to be uint8. (PNG files may have 16 bits, which only some
            // versions preserve.)
        });
    }
    image
}

fn kept(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let device = cx.tensor_arg(b, "boxes").and_then(|t| t.device);
    let at = cx.at();
    let count = cx.fresh_dim("n");
    let mut out = Tensor { grad: Grad::Off, device, ..Tensor::default() }.with_dtype(Some(Dtype::Int64), at);
    out.shape = Some(vec![count]);
    cx.out(out)
}

fn pairwise(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (x, y) = (cx.tensor_arg(b, "boxes1"), cx.tensor_arg(b, "boxes2"));
    let first =
        |t: &Option<Tensor>| t.as_ref().and_then(|t| t.shape.as_ref()?.first().cloned()).unwrap_or(Dim::UNKNOWN);
    let out = Tensor {
        shape: Some(vec![first(&x), first(&y)]),
        shape_at: cx.at(),
        device: x.as_ref().and_then(|t| t.device),
        ..Tensor::default()
    };
    cx.out(out)
}

fn same(cx: &mut Cx<'_, '_>, b: &Bound, name: &str) -> Value {
    let Some(mut tensor) = cx.tensor_arg(b, name) else { return cx.some_tensor() };
    tensor.forget_values();
    tensor.base = None;
    if tensor.grad == Grad::Leaf {
        tensor.grad = Grad::Attached;
    }
    cx.out(tensor)
}
