//! Datasets: how many samples, what images, which labels.
//!
//! A dataset keeps a picture and a target as patterns of its samples; `data` and `targets`,
//! where the real one has them, decide instead, since scripts filter and shift them.

use super::targets;
use crate::library::common::{array, part_of};
use crate::library::stdlib::deepcopy;
use crate::library::table::Table;
use crate::library::{Cx, pil};
use crate::python::{Args, Bound};
use crate::value::{Data, Device, Dict, Dim, Dtype, Grad, Items, ObjId, Range, Role, Size, Tensor, Type, Value};

const BASE: &str = "torchvision.datasets.VisionDataset";
/// The patterns, and the number of samples, as hidden attributes.
const IMAGE: &str = "_image";
const TARGET: &str = "_target";
const LENGTH: &str = "_length";

/// How a dataset keeps its samples.
#[derive(Clone, Copy, PartialEq)]
enum Store {
    /// `data` and `targets` are tensors (MNIST).
    Tensors,
    /// `data` is an array, `targets` a list (CIFAR).
    Arrays,
    /// `data` is an array of channels first, `labels` an array (SVHN).
    Labels,
    /// Files in folders by class: `targets`, `samples`, `imgs`.
    Folder,
    /// Nothing that a script would touch.
    Hidden,
}

/// What is known of a dataset.
struct Spec {
    name: &'static str,
    sig: &'static str,
    /// The number of samples by part.
    lengths: &'static [(&'static str, i64)],
    mode: Option<&'static str>,
    /// Height and width, where all images have the same.
    size: Option<(i64, i64)>,
    /// The number of classes; labels count from 0.
    classes: Option<i64>,
    store: Store,
}

const TRAIN: &str = "root, train=True, transform=None, target_transform=None, download=False";
const SPLIT: &str =
    "root, split='train', transform=None, target_transform=None, download=False, loader=<default>, **kwargs";
const PLAIN: &str = "root, transform=None, target_transform=None, download=False, **kwargs";
const MNIST: &[(&str, i64)] = &[("train", 60000), ("test", 10000)];
const CIFAR: &[(&str, i64)] = &[("train", 50000), ("test", 10000)];

const fn spec(
    name: &'static str,
    sig: &'static str,
    lengths: &'static [(&'static str, i64)],
    size: Option<(i64, i64)>,
    classes: i64,
) -> Spec {
    Spec { name, sig, lengths, mode: Some("RGB"), size, classes: Some(classes), store: Store::Hidden }
}

const SPECS: &[Spec] = &[
    Spec { mode: Some("L"), store: Store::Tensors, ..spec("MNIST", TRAIN, MNIST, Some((28, 28)), 10) },
    Spec { mode: Some("L"), store: Store::Tensors, ..spec("FashionMNIST", TRAIN, MNIST, Some((28, 28)), 10) },
    Spec { mode: Some("L"), store: Store::Tensors, ..spec("KMNIST", TRAIN, MNIST, Some((28, 28)), 10) },
    Spec {
        mode: Some("L"),
        store: Store::Tensors,
        ..spec(
            "QMNIST",
            "root, what=None, compat=True, train=True, transform=None, target_transform=None, download=False",
            &[("train", 60000), ("test", 60000)],
            Some((28, 28)),
            10,
        )
    },
    Spec {
        mode: Some("L"),
        store: Store::Tensors,
        ..spec(
            "EMNIST",
            "root, split, train=True, transform=None, target_transform=None, download=False",
            &[],
            Some((28, 28)),
            0,
        )
    },
    Spec { store: Store::Arrays, ..spec("CIFAR10", TRAIN, CIFAR, Some((32, 32)), 10) },
    Spec { store: Store::Arrays, ..spec("CIFAR100", TRAIN, CIFAR, Some((32, 32)), 100) },
    Spec {
        store: Store::Labels,
        ..spec("SVHN", SPLIT, &[("train", 73257), ("test", 26032), ("extra", 531_131)], Some((32, 32)), 10)
    },
    spec(
        "STL10",
        "root, split='train', folds=None, transform=None, target_transform=None, download=False",
        &[("train", 5000), ("test", 8000), ("unlabeled", 100_000), ("train+unlabeled", 105_000)],
        Some((96, 96)),
        10,
    ),
    Spec {
        mode: None,
        ..spec(
            "Caltech101",
            "root, target_type='category', transform=None, target_transform=None, download=False",
            &[("", 8677)],
            None,
            101,
        )
    },
    Spec { mode: None, ..spec("Caltech256", PLAIN, &[("", 30607)], None, 257) },
    spec("Food101", SPLIT, &[("train", 75750), ("test", 25250)], None, 101),
    spec("Flowers102", SPLIT, &[("train", 1020), ("val", 1020), ("test", 6149)], None, 102),
    spec(
        "OxfordIIITPet",
        "root, split='trainval', target_types='category', transforms=None, transform=None, target_transform=None, \
         download=False",
        &[("trainval", 3680), ("test", 3669)],
        None,
        37,
    ),
    spec("StanfordCars", SPLIT, &[("train", 8144), ("test", 8041)], None, 196),
    spec(
        "DTD",
        "root, split='train', partition=1, transform=None, target_transform=None, download=False, loader=<default>",
        &[("train", 1880), ("val", 1880), ("test", 1880)],
        None,
        47,
    ),
    spec("GTSRB", SPLIT, &[("train", 26640), ("test", 12630)], None, 43),
    spec("Country211", SPLIT, &[("train", 31650), ("valid", 10550), ("test", 21100)], None, 211),
    spec("EuroSAT", PLAIN, &[("", 27000)], Some((64, 64)), 10),
    spec("PCAM", SPLIT, &[("train", 262_144), ("val", 32768), ("test", 32768)], Some((96, 96)), 2),
    spec("RenderedSST2", SPLIT, &[("train", 6920), ("val", 872), ("test", 1821)], None, 2),
    spec("SUN397", PLAIN, &[("", 108_754)], None, 397),
    Spec { mode: Some("L"), ..spec("USPS", TRAIN, &[("train", 7291), ("test", 2007)], Some((16, 16)), 10) },
    Spec { mode: Some("L"), ..spec("SEMEION", PLAIN, &[("", 1593)], Some((16, 16)), 10) },
    spec("Imagenette", SPLIT, &[], None, 10),
    spec(
        "FGVCAircraft",
        "root, split='trainval', annotation_level='variant', transform=None, target_transform=None, download=False, \
         loader=<default>",
        &[("train", 3334), ("val", 3333), ("trainval", 6667), ("test", 3333)],
        None,
        100,
    ),
    spec(
        "Places365",
        "root, split='train-standard', small=False, download=False, transform=None, target_transform=None, \
         loader=<default>",
        &[("train-standard", 1_803_460), ("val", 36500)],
        None,
        365,
    ),
    Spec { store: Store::Folder, ..spec("ImageNet", SPLIT, &[("train", 1_281_167), ("val", 50000)], None, 1000) },
    Spec {
        store: Store::Folder,
        classes: None,
        ..spec(
            "ImageFolder",
            "root, transform=None, target_transform=None, loader=<default>, is_valid_file=None, allow_empty=False",
            &[],
            None,
            0,
        )
    },
    Spec {
        mode: None,
        store: Store::Folder,
        classes: None,
        ..spec(
            "DatasetFolder",
            "root, loader, extensions=None, transform=None, target_transform=None, is_valid_file=None, \
             allow_empty=False",
            &[],
            None,
            0,
        )
    },
    Spec {
        classes: None,
        ..spec(
            "CelebA",
            "root, split='train', target_type='attr', transform=None, target_transform=None, download=False",
            &[("train", 162_770), ("valid", 19867), ("test", 19962), ("all", 202_599)],
            Some((218, 178)),
            0,
        )
    },
    Spec { classes: None, ..spec("VOCSegmentation", VOC, &[], None, 0) },
    Spec { classes: None, ..spec("VOCDetection", VOC, &[], None, 0) },
    Spec {
        classes: None,
        ..spec(
            "Cityscapes",
            "root, split='train', mode='fine', target_type='instance', transform=None, target_transform=None, \
             transforms=None",
            &[],
            Some((1024, 2048)),
            0,
        )
    },
    Spec {
        classes: None,
        ..spec("SBDataset", "root, image_set='train', mode='boundaries', download=False, transforms=None", &[], None, 0)
    },
    Spec { classes: None, ..spec("CocoDetection", COCO, &[], None, 0) },
    Spec { classes: None, ..spec("CocoCaptions", COCO, &[], None, 0) },
    Spec {
        mode: None,
        classes: None,
        ..spec(
            "FakeData",
            "size=1000, image_size=<default>, num_classes=10, transform=None, target_transform=None, random_offset=0",
            &[],
            None,
            0,
        )
    },
];

const VOC: &str = "root, year='2012', image_set='train', download=False, transform=None, target_transform=None, \
                   transforms=None";
const COCO: &str = "root, annFile, transform=None, target_transform=None, transforms=None";

pub fn register(t: &mut Table) {
    t.class(BASE, &["torch.utils.data.Dataset"], "root=None, transforms=None, transform=None, target_transform=None");
    for spec in SPECS {
        let path = format!("torchvision.datasets.{}", spec.name);
        let base = match spec.name {
            "FashionMNIST" | "KMNIST" | "QMNIST" | "EMNIST" => "torchvision.datasets.MNIST",
            "CIFAR100" => "torchvision.datasets.CIFAR10",
            "ImageFolder" => "torchvision.datasets.DatasetFolder",
            "ImageNet" => "torchvision.datasets.ImageFolder",
            _ => BASE,
        };
        t.class(&path, &[base, BASE, "torch.utils.data.Dataset"], spec.sig).init = Some(init);
    }
    for module in ["mnist", "cifar", "folder", "vision", "svhn", "voc", "fakedata", "coco", "imagenet"] {
        t.prefix(module_prefix(module), "torchvision.datasets");
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

/// `torchvision.datasets.mnist.MNIST` is `torchvision.datasets.MNIST`.
fn module_prefix(module: &str) -> &'static str {
    match module {
        "mnist" => "torchvision.datasets.mnist",
        "cifar" => "torchvision.datasets.cifar",
        "folder" => "torchvision.datasets.folder",
        "svhn" => "torchvision.datasets.svhn",
        "voc" => "torchvision.datasets.voc",
        "fakedata" => "torchvision.datasets.fakedata",
        "coco" => "torchvision.datasets.coco",
        "imagenet" => "torchvision.datasets.imagenet",
        _ => "torchvision.datasets.vision",
    }
}

/// The part of the data that the arguments choose.
fn part(b: &Bound) -> Option<String> {
    let has = |name: &str| b.sig.params.iter().any(|p| p.name.as_str() == name);
    if has("train") {
        return match b.get("train") {
            Value::Bool(true) => Some("train".to_owned()),
            Value::Bool(false) => Some("test".to_owned()),
            _ => None,
        };
    }
    if has("split") { b.get("split").as_str().map(str::to_owned) } else { Some(String::new()) }
}

fn init(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let name = cx.name();
    let Some(spec) = SPECS.iter().find(|s| s.name == name) else { return };
    let at = cx.at();
    let part = part(b);
    let mut count = part.as_ref().and_then(|p| spec.lengths.iter().find(|(have, _)| have == p)).map(|(_, n)| *n);
    // Labels count from `first` to `first + labels - 1`.
    let (mut labels, mut classes) = (spec.classes.map(|n| (0, n - 1)), spec.classes);
    match name {
        "EMNIST" => {
            let known = emnist(&b.get("split"));
            let train = part.as_deref() == Some("train");
            count = known.filter(|_| part.is_some()).map(|k| if train { k.0 } else { k.1 });
            labels = known.map(|k| k.2);
            classes = known.map(|k| k.2.1 + 1);
        }
        "QMNIST" if !b.get("what").is_none() => count = None,
        "STL10" => {
            if !b.get("folds").is_none() {
                count = None;
            }
            labels = match part.as_deref() {
                Some("train" | "test") => Some((0, 9)),
                Some("unlabeled") => Some((-1, -1)),
                Some("train+unlabeled") => Some((-1, 9)),
                _ => None,
            };
        }
        "FGVCAircraft" => {
            classes = match b.get("annotation_level").as_str() {
                Some("variant") => Some(100),
                Some("family") => Some(70),
                _ => None,
            };
            labels = classes.map(|n| (0, n - 1));
        }
        _ => {}
    }
    #[expect(clippy::cast_precision_loss, reason = "facts about ranges, not arithmetic")]
    let range = labels.map(|(lo, hi)| {
        let mut range = Range::of_data(lo as f64, hi as f64);
        range.certain = true;
        range
    });
    let image = pattern(cx, spec, b);
    let target = match targets::special(cx, name, b) {
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
    if spec.classes.is_some() || spec.store == Store::Folder {
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

/// Training samples, test samples, and the first and last label of a split. The classes of
/// "letters" begin with a place that no label takes.
fn emnist(split: &Value) -> Option<(i64, i64, (i64, i64))> {
    Some(match split.as_str()? {
        "byclass" => (697_932, 116_323, (0, 61)),
        "bymerge" => (697_932, 116_323, (0, 46)),
        "balanced" => (112_800, 18800, (0, 46)),
        "letters" => (124_800, 20800, (1, 26)),
        "digits" => (240_000, 40000, (0, 9)),
        "mnist" => (60000, 10000, (0, 9)),
        _ => return None,
    })
}

/// What any image of the dataset is like.
fn pattern(cx: &mut Cx<'_, '_>, spec: &Spec, b: &Bound) -> Value {
    let at = cx.at();
    if b.given("loader") {
        let (loader, span) = (b.get("loader"), cx.span);
        return cx.call(&loader, Args::positional([Value::Any(Type::Str)], span));
    }
    let (mode, size) = match spec.name {
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
            (spec.mode, Some(size))
        }
    };
    let values = extremes(spec).map(|range| (range, Role::Image));
    pil::new_image(cx, mode, size, values)
}

/// The pixels of the classic sets, of which it is known that each part has black and white ones.
fn extremes(spec: &Spec) -> Option<Range> {
    let known = matches!(spec.name, "MNIST" | "FashionMNIST" | "KMNIST" | "QMNIST" | "EMNIST" | "CIFAR10" | "CIFAR100");
    known.then(|| Range::of_data(0.0, 255.0).somewhere())
}

/// The attributes in which a dataset keeps its samples.
fn stored(cx: &mut Cx<'_, '_>, object: ObjId, spec: &Spec, samples: Dim, labels: Option<&Range>) {
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
    match spec.store {
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

/// A label as the stored labels make it; `None` where they are not stored.
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
    let span = cx.span;
    let both = object.as_obj().and_then(|id| cx.it.heap.attr(id, "transforms")).unwrap_or(Value::None);
    if !both.is_none() {
        return cx.call(&both, Args::positional([image, target], span));
    }
    let mut through = |name: &str, value: Value| {
        let transform = cx.attr(&object, name);
        if transform.is_none() { value } else { cx.call(&transform, Args::positional([value], span)) }
    };
    let image = through("transform", image);
    let target = through("target_transform", target);
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
