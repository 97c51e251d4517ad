//! Datasets: the number of samples, the images, the labels. The numbers are in
//! `data/torchvision-datasets.toml`.
//!
//! A dataset stores two patterns: the join of its images, and the join of its targets. If the real
//! dataset stores its labels in an attribute, these labels are used instead of the second pattern,
//! because scripts filter and change them.

use std::collections::BTreeMap;

use super::targets;
use crate::library::common::{array, part_of};
use crate::library::data::{ImageDataset, Store, TORCHVISION_DATASETS};
use crate::library::stdlib::deepcopy;
use crate::library::table::Table;
use crate::library::torch::data::perhaps_selected;
use crate::library::{Cx, pil};
use crate::python::{Args, Bound};
use crate::value::{Data, Device, Dict, Dim, Dtype, Grad, Items, ObjId, Range, Role, Size, Tensor, Type, Value};

const FOLDER: &str = "torchvision.datasets.";
const BASE: &str = "torchvision.datasets.VisionDataset";
/// The internal attribute that holds the join of the images.
const IMAGE: &str = "_image";
/// The internal attribute that holds the join of the targets.
const TARGET: &str = "_target";
/// The internal attribute that holds the number of samples.
const LENGTH: &str = "_length";
/// The internal attribute that holds the transforms of the image and of the target, for datasets
/// that combine them in the constructor.
const COMBINED: &str = "_combined";

pub(crate) fn register(t: &mut Table) {
    t.class(BASE, &["torch.utils.data.Dataset"], "root=None, transforms=None, transform=None, target_transform=None");
    for (name, spec) in TORCHVISION_DATASETS.iter() {
        let base = spec.base.as_ref().map_or_else(|| BASE.to_owned(), |base| format!("{FOLDER}{base}"));
        let bases = [&base, BASE, "torch.utils.data.Dataset"];
        t.class(&format!("{FOLDER}{name}"), &bases, &spec.signature).init = Some(init);
    }
    t.def("torchvision.datasets.VisionDataset.__getitem__", "self, index", get_item);
    t.def("torchvision.datasets.VisionDataset.__len__", "self", length);
    t.def("torchvision.datasets.default_loader", "path", |cx, _| {
        let size = (cx.fresh_dim("H"), cx.fresh_dim("W"));
        pil::new_image(cx, Some("RGB"), Some(size), None)
    });
    t.alias("torchvision.datasets.pil_loader", "torchvision.datasets.default_loader");
    t.def(
        "torchvision.datasets.wrap_dataset_for_transforms_v2",
        "dataset, target_keys=None",
        crate::library::common::unknown,
    );
}

/// The part of the data that the arguments select.
fn part(b: &Bound) -> Option<String> {
    let has = |name: &str| b.takes(name);
    if has("train") {
        return match b.get("train") {
            Value::Bool(true) => Some("train".to_owned()),
            Value::Bool(false) => Some("test".to_owned()),
            _ => None,
        };
    }
    if has("split") { b.get("split").as_str().map(str::to_owned) } else { Some("all".to_owned()) }
}

fn init(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let name = cx.name();
    let Some(spec) = TORCHVISION_DATASETS.get(name) else { return };
    let at = cx.at();
    let part = part(b);
    let of_part = |samples: &BTreeMap<String, i64>| samples.get(part.as_deref()?).copied();
    let mut count = of_part(&spec.samples);
    let mut labels = match (spec.labels.is_empty(), &part) {
        (true, _) => spec.classes.map(|n| (0, n - 1)),
        (false, part) => part.as_ref().and_then(|part| spec.labels.get(part)).copied(),
    };
    let mut classes = spec.classes;
    if let Some(argument) = &spec.variant_argument {
        let variant = b.get(argument).as_str().and_then(|name| spec.variants.get(name));
        if spec.samples.is_empty() {
            count = variant.and_then(|variant| of_part(&variant.samples));
        }
        labels = variant.map(|variant| variant.labels);
        // If the labels do not begin at 0, `classes` begins with an entry that no label uses.
        classes = labels.map(|(_, last)| last + 1);
    }
    // These arguments select other files, or only a part of the samples.
    if name == "QMNIST" && !b.get("what").is_none() || name == "STL10" && !b.get("folds").is_none() {
        count = None;
    }
    #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
    let range = labels.map(|(lo, hi)| {
        let mut range = Range::of_data(lo as f64, hi as f64);
        range.certain = true;
        range
    });
    let image = pattern(cx, name, spec, b);
    let target = match targets::special(cx, name, spec, b) {
        Some(target) => target,
        None => match &range {
            Some(range) => Value::ranged(range.clone().of_sample(), false, at),
            None => Value::Any(Type::Int),
        },
    };
    let length = match name {
        "FakeData" => b.get("size"),
        _ => count.map_or(Value::Any(Type::Int), Value::Int),
    };
    let samples = count.map_or_else(|| cx.fresh_dim("N"), |n| Dim::new(Size::Int(n), at));
    stored(cx, object, spec, samples, range.as_ref());
    for (name, value) in [(IMAGE, image), (TARGET, target), (LENGTH, length)] {
        cx.it.heap.set_attr(object, name, value);
    }
    // Assignments to `transform` after the constructor have no effect on these datasets.
    if spec.signature.contains("transforms=") || name == "Places365" {
        let combined = ["transform", "target_transform"].map(|name| match b.given(name) {
            true => b.get(name),
            false if b.open => Value::Unknown,
            false => Value::None,
        });
        cx.it.heap.set_attr(object, COMBINED, Value::tuple(combined.to_vec()));
    }
    if spec.classes.is_some() || spec.variant_argument.is_some() || spec.stores == Store::Folder {
        let name = Value::Any(Type::Str);
        let names = match classes.and_then(|n| usize::try_from(n).ok()) {
            Some(n) => cx.list(vec![name; n]),
            None => cx.list_of(name),
        };
        cx.it.heap.set_attr(object, "classes", names);
        let index = cx.it.heap.dict(Dict { open: Some(Value::Any(Type::Int)), ..Dict::default() });
        cx.it.heap.set_attr(object, "class_to_idx", index);
    }
}

/// The join of all images of the dataset.
fn pattern(cx: &mut Cx<'_, '_>, name: &str, spec: &ImageDataset, b: &Bound) -> Value {
    let at = cx.at();
    if b.given("loader") {
        let (loader, span) = (b.get("loader"), cx.span);
        return cx.call(&loader, Args::positional([Value::Any(Type::Str)], span));
    }
    let (mode, size) = match name {
        "FakeData" => {
            let sizes = if b.given("image_size") || b.open {
                cx.items(&b.get("image_size"))
            } else {
                Some(vec![Value::Int(3), Value::Int(224), Value::Int(224)])
            };
            match sizes.as_deref() {
                Some([channels, height, width]) => {
                    let mode = match channels.as_int() {
                        Some(1) => Some("L"),
                        Some(2) => Some("LA"),
                        Some(3) => Some("RGB"),
                        Some(4) => Some("RGBA"),
                        _ => None,
                    };
                    let dim = |v: &Value| Dim::new(v.as_size().unwrap_or(Size::Unknown), at);
                    (mode, Some((dim(height), dim(width))))
                }
                _ => (None, None),
            }
        }
        _ => {
            let size = match spec.size {
                Some((height, width)) => (Dim::new(Size::Int(height), at), Dim::new(Size::Int(width), at)),
                None => (cx.fresh_dim("H"), cx.fresh_dim("W")),
            };
            (spec.mode.as_deref(), Some(size))
        }
    };
    // If `full_range` is set, each part of the dataset contains both black pixels and white pixels.
    let values = spec.full_range.then(|| (Range::of_data(0.0, 255.0).somewhere(), Role::Image));
    pil::new_image(cx, mode, size, values)
}

/// Sets the attributes in which the real dataset stores its samples.
fn stored(cx: &mut Cx<'_, '_>, object: ObjId, spec: &ImageDataset, samples: Dim, labels: Option<&Range>) {
    let at = cx.at();
    let (height, width) = spec.size.unwrap_or((0, 0));
    let side = |n: i64| Dim::new(Size::Int(n), at);
    let mut pixels = array(None, Some(Dtype::Uint8), at)
        .with_range(Some(Range::bounds(0.0, 255.0)), at)
        .with_role(Some(Role::Image), at);
    let mut classes = array(None, Some(Dtype::Int64), at).with_range(labels.cloned(), at);
    classes.shape = Some(vec![samples.clone()]);
    let torch = |t: Tensor| Tensor {
        array: crate::value::ArrayKind::Torch,
        device: Some(Device::CPU),
        device_at: at,
        grad: Grad::Off,
        ..t
    };
    let label = match labels {
        Some(range) => Value::ranged(range.clone().of_sample(), false, at),
        None => Value::Any(Type::Int),
    };
    match spec.stores {
        Store::Tensors => {
            pixels.shape = Some(vec![samples, side(height), side(width)]);
            let (data, targets) = (cx.out(torch(pixels)), cx.out(torch(classes)));
            cx.it.heap.set_attr(object, "data", data);
            cx.it.heap.set_attr(object, "targets", targets);
        }
        Store::Arrays => {
            pixels.shape = Some(vec![samples, side(height), side(width), side(3)]);
            let (data, targets) = (cx.out(pixels), cx.list_of(label));
            cx.it.heap.set_attr(object, "data", data);
            cx.it.heap.set_attr(object, "targets", targets);
        }
        Store::Labels => {
            pixels.shape = Some(vec![samples, side(3), side(height), side(width)]);
            let (data, labels) = (cx.out(pixels), cx.out(classes));
            cx.it.heap.set_attr(object, "data", data);
            cx.it.heap.set_attr(object, "labels", labels);
        }
        Store::Folder => {
            let pairs = cx.list_of(Value::tuple(vec![Value::Any(Type::Str), label.clone()]));
            let targets = cx.list_of(label);
            cx.it.heap.set_attr(object, "samples", pairs.clone());
            cx.it.heap.set_attr(object, "imgs", pairs);
            cx.it.heap.set_attr(object, "targets", targets);
        }
        Store::Hidden => {}
    }
}

/// A label, read from the stored labels; `None` if they are not stored.
fn stored_label(cx: &mut Cx<'_, '_>, object: &Value, index: &Value) -> Option<Value> {
    let id = object.as_obj()?;
    let labels = cx.it.heap.attr(id, "targets").or_else(|| cx.it.heap.attr(id, "labels"))?;
    if let Some(tensor) = cx.tensor(&labels) {
        return Some(match tensor.range {
            Some(range) => {
                let range = if index.is_sample_index() { range.of_sample() } else { part_of(range) };
                Value::ranged(range, false, tensor.range_at)
            }
            None => Value::Any(Type::Int),
        });
    }
    match labels.as_obj().map(|id| cx.it.heap.get(id).clone()) {
        Some(Data::List(items @ (Items::Exact(_) | Items::Many(_)))) => Some(items.element(&mut cx.it.heap)),
        _ => Some(Value::Unknown),
    }
}

fn get_item(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let pattern = cx.attr(&object, IMAGE);
    let image = deepcopy(&mut cx.it.heap, &pattern);
    let target = match stored_label(cx, &object, &b.get("index")) {
        Some(label) => label,
        None => {
            let pattern = cx.attr(&object, TARGET);
            deepcopy(&mut cx.it.heap, &pattern)
        }
    };
    let is_chosen = match b.get("index") {
        Value::Int(_) => false,
        Value::Ranged(ranged) => !ranged.range.attained,
        index => !cx.tensor(&index).and_then(|t| t.range).is_some_and(|range| range.attained),
    };
    let target = if is_chosen { perhaps_selected(cx, target) } else { target };
    let span = cx.span;
    let both = object.as_obj().and_then(|id| cx.it.heap.attr(id, "transforms")).unwrap_or(Value::None);
    if !both.is_none() {
        return cx.call(&both, Args::positional([image, target], span));
    }
    let combined = object.as_obj().and_then(|id| cx.it.heap.attr(id, COMBINED));
    let [first, second] = match combined.as_ref().map(Value::parts) {
        Some([first, second]) => [first.clone(), second.clone()],
        _ => ["transform", "target_transform"].map(|name| cx.attr(&object, name)),
    };
    let mut through = |transform: Value, value: Value| {
        if transform.is_none() { value } else { cx.call(&transform, Args::positional([value], span)) }
    };
    let image = through(first, image);
    let target = through(second, target);
    Value::tuple(vec![image, target])
}

fn length(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let span = cx.span;
    match object.as_obj().and_then(|id| cx.it.heap.attr(id, "data")) {
        Some(data) => cx.it.length(&data, span),
        None => {
            let length = cx.attr(&object, LENGTH);
            if length.as_size().is_some() { length } else { Value::Any(Type::Int) }
        }
    }
}
