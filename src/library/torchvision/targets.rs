//! Targets of datasets that are not just a class index: masks, attributes, boxes.

use std::collections::BTreeMap;

use crate::library::data::{ImageDataset, Target};
use crate::library::{Cx, pil};
use crate::python::Bound;
use crate::value::{Device, Dtype, Grad, Range, Role, Size, Tensor, Type, Value};

/// The target of a dataset with a special kind of target; `None` for a dataset whose target is a
/// class index.
pub(super) fn special(cx: &mut Cx<'_, '_>, name: &str, spec: &ImageDataset, b: &Bound) -> Option<Value> {
    Some(match name {
        "CocoDetection" | "CocoCaptions" => cx.list_of(Value::Unknown),
        "VOCDetection" => Value::Unknown,
        "FakeData" => match b.get("num_classes").as_int() {
            #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
            Some(n) if n > 0 => {
                let at = cx.at();
                Value::ranged(Range::of_data(0.0, n as f64 - 1.0), false, at)
            }
            _ => Value::Any(Type::Int),
        },
        "Caltech101" if b.get("target_type").as_str() != Some("category") => Value::Unknown,
        _ => match &spec.kind_argument {
            Some(argument) => several(cx, &b.get(argument), &spec.targets),
            None => one(cx, spec.targets.values().next()?),
        },
    })
}

/// One target, or a tuple of several, as selected by an argument.
fn several(cx: &mut Cx<'_, '_>, kinds: &Value, targets: &BTreeMap<String, Target>) -> Value {
    let named = |cx: &mut Cx<'_, '_>, kind: &Value| {
        kind.as_str().and_then(|kind| targets.get(kind)).map_or(Value::Unknown, |target| one(cx, target))
    };
    if kinds.as_str().is_some() {
        return named(cx, kinds);
    }
    let Some(kinds) = cx.items(kinds) else { return Value::Unknown };
    let mut all: Vec<Value> = kinds.iter().map(|kind| named(cx, kind)).collect();
    if all.len() == 1 { all.remove(0) } else { Value::tuple(all) }
}

fn one(cx: &mut Cx<'_, '_>, target: &Target) -> Value {
    let range = target.values.map(|(lo, hi)| Range::of_data(lo.into(), hi.into()));
    let range = match target.void {
        Some(void) => range.map(|range| range.union(&Range::of_data(void.into(), void.into()))),
        None => range,
    };
    match (&target.tensor, &target.mask, range) {
        (Some(shape), _, range) => integers(cx, shape, range),
        (None, Some(mode), Some(range)) => mask(cx, mode, range),
        (None, None, Some(range)) => {
            let at = cx.at();
            Value::ranged(range, false, at)
        }
        (None, _, None) => Value::Unknown,
    }
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
