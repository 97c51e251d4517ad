//! Targets of datasets that are more than a class index: masks, attributes, boxes.

use crate::library::{Cx, pil};
use crate::python::Bound;
use crate::value::{Device, Dtype, Grad, Range, Role, Size, Tensor, Type, Value};

/// The target of the datasets that have their own kind; `None` for those with a class index.
pub fn special(cx: &mut Cx<'_, '_>, name: &str, b: &Bound) -> Option<Value> {
    Some(match name {
        "CelebA" => several(cx, &b.get("target_type"), celeba),
        "OxfordIIITPet" => several(cx, &b.get("target_types"), pet),
        "Cityscapes" => several(cx, &b.get("target_type"), cityscapes),
        // The outlines of objects and hard regions are marked 255.
        "VOCSegmentation" => mask(cx, "P", Range::of_data(0.0, 20.0).union(&Range::of_data(255.0, 255.0))),
        "SBDataset" => match b.get("mode").as_str() {
            Some("segmentation") => mask(cx, "L", Range::of_data(0.0, 20.0)),
            _ => Value::Unknown,
        },
        "CocoDetection" | "CocoCaptions" => cx.list_of(Value::Unknown),
        "VOCDetection" => Value::Unknown,
        "FakeData" => match b.get("num_classes").as_int() {
            #[expect(clippy::cast_precision_loss, reason = "facts about ranges, not arithmetic")]
            Some(n) if n > 0 => {
                let at = cx.at();
                Value::ranged(Range::of_data(0.0, n as f64 - 1.0), false, at)
            }
            _ => Value::Any(Type::Int),
        },
        "Caltech101" if b.get("target_type").as_str() != Some("category") => Value::Unknown,
        _ => return None,
    })
}

/// One target, or a tuple of several, by the `target_type=` argument.
fn several(cx: &mut Cx<'_, '_>, kinds: &Value, one: fn(&mut Cx<'_, '_>, &str) -> Value) -> Value {
    if let Some(kind) = kinds.as_str() {
        return one(cx, kind);
    }
    let Some(kinds) = cx.items(kinds) else { return Value::Unknown };
    let mut all: Vec<Value> = kinds.iter().map(|k| k.as_str().map_or(Value::Unknown, |k| one(cx, k))).collect();
    if all.len() == 1 { all.remove(0) } else { Value::tuple(all) }
}

/// An image of class indices.
fn mask(cx: &mut Cx<'_, '_>, mode: &str, range: Range) -> Value {
    let size = (cx.fresh_dim("H"), cx.fresh_dim("W"));
    pil::new_image(cx, Some(mode), Some(size), Some((range, Role::ClassMask)))
}

fn integers(cx: &mut Cx<'_, '_>, shape: &[i64], range: Option<Range>) -> Value {
    let at = cx.at();
    let tensor = Tensor { grad: Grad::Off, ..Tensor::default() }
        .with_shape(shape.iter().map(|n| Size::Int(*n)).collect(), at)
        .with_dtype(Some(Dtype::Int64), at)
        .with_device(Some(Device::CPU), at)
        .with_range(range, at);
    cx.out(tensor)
}

fn celeba(cx: &mut Cx<'_, '_>, kind: &str) -> Value {
    match kind {
        "attr" => integers(cx, &[40], Some(Range::of_data(0.0, 1.0))),
        "identity" => integers(cx, &[], Some(Range::of_data(1.0, 10177.0))),
        "bbox" => integers(cx, &[4], None),
        "landmarks" => integers(cx, &[10], None),
        _ => Value::Unknown,
    }
}

fn pet(cx: &mut Cx<'_, '_>, kind: &str) -> Value {
    let at = cx.at();
    match kind {
        "category" => Value::ranged(Range::of_data(0.0, 36.0), false, at),
        "binary-category" => Value::ranged(Range::of_data(0.0, 1.0), false, at),
        // The trimap: animal, background, border.
        "segmentation" => mask(cx, "L", Range::of_data(1.0, 3.0)),
        _ => Value::Unknown,
    }
}

fn cityscapes(cx: &mut Cx<'_, '_>, kind: &str) -> Value {
    match kind {
        "semantic" => mask(cx, "L", Range::of_data(0.0, 33.0)),
        _ => Value::Unknown,
    }
}
