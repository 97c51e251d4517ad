//! `torch.utils.data`: datasets, samplers, and what a loader yields.

use std::sync::{Arc, LazyLock};

use super::collate::{batches, collate, common_size, convert, row};
use super::draws;
use crate::library::notes::{COPIED, SPAWNED, WORKER};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, Event, Interp, RejectKind, Sig};
use crate::syntax::Span;
use crate::value::{ArrayKind, Data, Dim, Dtype, Items, Iter, ObjId, Range, Size, Tensor, Topic, Type, Value, sym};

const DATA: &str = "torch.utils.data";
/// A note of the run: the program has set the start method of processes.
const START: Topic = Topic::new("start method");
const LOADER: &str = "torch.utils.data.DataLoader";

pub(crate) fn register(t: &mut Table) {
    for module in ["dataset", "dataloader", "sampler", "distributed", "_utils.collate"] {
        t.prefix(sym(&format!("{DATA}.{module}")).as_str(), DATA);
    }
    let path = |name: &str| format!("{DATA}.{name}");
    t.class(&path("Dataset"), &[], "*args, **kwargs").keeps_arguments = false;
    for name in ["IterableDataset", "MapDataPipe", "IterDataPipe"] {
        t.class(&path(name), &["torch.utils.data.Dataset"], "*args, **kwargs").keeps_arguments = false;
    }
    for name in ["TensorDataset", "Subset", "ConcatDataset", "ChainDataset"] {
        t.listed_class(&path(name), &["torch.utils.data.Dataset"]).init = Some(dataset);
    }
    t.listed_class(&path("StackDataset"), &["torch.utils.data.Dataset"]).keeps_arguments = false;
    t.class(&path("Sampler"), &[], "*args, **kwargs").keeps_arguments = false;
    for name in [
        "RandomSampler",
        "SequentialSampler",
        "SubsetRandomSampler",
        "WeightedRandomSampler",
        "BatchSampler",
        "DistributedSampler",
    ] {
        t.listed_class(&path(name), &["torch.utils.data.Sampler"]);
    }
    t.def(&path("DistributedSampler.set_epoch"), "self, epoch", |_, _| Value::None);
    t.listed_class(LOADER, &[]).init = Some(loader);
    // Classes of the program may call these methods of their base classes.
    for name in ["TensorDataset", "Subset", "ConcatDataset"] {
        t.def(&path(&format!("{name}.__getitem__")), "self, index", |cx, b| {
            let (object, index, span) = (b.get("self"), b.get("index"), cx.span);
            get(cx.it, &object, &index, span).unwrap_or(Value::Unknown)
        });
    }
    for name in ["ChainDataset", "DataLoader"] {
        t.def(&path(&format!("{name}.__iter__")), "self", |cx, b| {
            let (object, span) = (b.get("self"), cx.span);
            let items = iterate(cx.it, &object, span).unwrap_or(Items::Many(Value::Unknown));
            let last = last(cx.it, &object, span);
            // A loop over a loader is assumed to run at least once.
            let iter = Iter { items, once: false, first: None, last, filled: true, suspended: None };
            Value::Obj(cx.it.heap.alloc(Data::Iter(iter)))
        });
    }
    for name in ["TensorDataset", "Subset", "ConcatDataset", "ChainDataset", "DataLoader"] {
        t.def(&path(&format!("{name}.__len__")), "self", |cx, b| {
            length(cx.it, &b.get("self")).unwrap_or(Value::Any(Type::Int))
        });
    }
    t.def(&path("random_split"), "dataset, lengths, generator=None", random_split);
    t.listed("torch.utils.data.", "default_collate", default_collate);
    t.listed("torch.utils.data.", "default_convert", |cx, b| convert(cx, &b.get("data")));
    for path in ["torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"] {
        t.def(path, "fn, args=..., nprocs=1, join=True, daemon=False, start_method='spawn'", spawned);
    }
    for module in ["torch.multiprocessing", "multiprocessing"] {
        t.def(&format!("{module}.set_start_method"), "method=None, force=False", |cx, b| {
            let method = b.get("method");
            cx.it.remember(START, method);
            Value::None
        });
    }
    t.listed("torch.utils.data.", "get_worker_info", |_, _| Value::Unknown);
}

fn dataset(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    if b.sig.star.is_some() {
        let tensors = if b.open { Value::Unknown } else { Value::tuple(b.rest_values()) };
        cx.it.heap.set_attr(object, "tensors", tensors);
    }
}

/// The class of `torch.utils.data` to which an instance belongs, directly or through a subclass.
/// `None` if this module does not model the class.
fn class_of(it: &Interp<'_>, object: &Value) -> Option<&'static str> {
    const OURS: &[&str] = &["TensorDataset", "Subset", "ConcatDataset", "ChainDataset", "DataLoader"];
    it.heap.instance_of(object)?;
    it.mro_of(object).iter().filter_map(Value::as_path).find_map(|path| {
        let name = path.strip_prefix("torch.utils.data.")?;
        OURS.contains(&name).then_some(name)
    })
}

/// `dataset[index]`.
pub(crate) fn get(it: &mut Interp<'_>, object: &Value, index: &Value, span: Span) -> Option<Value> {
    class_of(it, object)?;
    nested(it, |it| picked(it, object, index, span))
}

fn picked(it: &mut Interp<'_>, object: &Value, index: &Value, span: Span) -> Option<Value> {
    let class = class_of(it, object)?;
    let cx = &mut Cx { it, path: sym(DATA), span };
    let one = index.number_type().is_some() || cx.tensor(index).is_some_and(|t| t.rank() == Some(0));
    Some(match class {
        "TensorDataset" => {
            let tensors = cx.attr(object, "tensors");
            let Some(tensors) = cx.items(&tensors) else { return Some(Value::Unknown) };
            let rows = tensors.iter().map(|t| if one { row(cx, t) } else { cx.it.subscript(t, index, span) }).collect();
            Value::tuple(rows)
        }
        "Subset" => {
            let inner = cx.attr(object, "dataset");
            match index {
                _ if one => {
                    let one = sample(cx, &inner);
                    let is_split = object.as_obj().is_some_and(|id| cx.it.heap.note(id, SPLIT).is_some());
                    if is_split { one } else { perhaps_selected(cx, one) }
                }
                // `subset[:]` passes the subset's list of indices to the dataset.
                Value::Slice(parts) if class_of(cx.it, &inner) == Some("TensorDataset") => {
                    let length = cx.it.length(object, span).as_int().and_then(|n| usize::try_from(n).ok());
                    let indices = match length {
                        Some(n) if n <= 65536 && parts.iter().all(Value::is_none) => {
                            Tensor { array: ArrayKind::Numpy, dtype: Some(Dtype::Int64), ..Tensor::default() }
                                .with_shape(vec![Size::Int(i64::try_from(n).unwrap_or(0))], None)
                        }
                        _ => Tensor { array: ArrayKind::Numpy, dtype: Some(Dtype::Int64), ..Tensor::default() }
                            .with_shape(vec![Size::Unknown], None),
                    };
                    let indices = cx.out(indices);
                    cx.it.subscript(&inner, &indices, span)
                }
                _ => Value::Unknown,
            }
        }
        "ConcatDataset" if !one => Value::Unknown,
        "ConcatDataset" => {
            let datasets = cx.attr(object, "datasets");
            let span = cx.span;
            let samples: Vec<Value> = match cx.it.iterate(&datasets, span) {
                Items::Exact(all) => all.iter().map(|d| sample(cx, d)).collect(),
                Items::Many(one) => vec![sample(cx, &one)],
            };
            Items::Exact(samples).element(&mut cx.it.heap)
        }
        _ => return None,
    })
}

/// An arbitrary sample of a dataset.
fn sample(cx: &mut Cx<'_, '_>, dataset: &Value) -> Value {
    let span = cx.span;
    if cx.it.is_instance(dataset, "torch.utils.data.IterableDataset")
        || class_of(cx.it, dataset) == Some("ChainDataset")
    {
        return cx.element(dataset);
    }
    let index = sample_index(cx, dataset);
    cx.it.subscript(dataset, &index, span)
}

/// A sample from a part of a dataset that the program selected. The program may have selected the
/// samples by their labels, so not all values of the dataset need to occur.
pub(crate) fn perhaps_selected(cx: &mut Cx<'_, '_>, sample: Value) -> Value {
    match sample {
        Value::Tuple(parts) => Value::tuple(parts.iter().map(|part| perhaps_selected(cx, part.clone())).collect()),
        Value::Ranged(ranged) => Value::ranged(ranged.range.clone().only_bounds(), false, ranged.at),
        part => {
            let is_label = cx.tensor(&part).is_some_and(|t| t.dtype.is_some_and(Dtype::is_integral));
            if let Some(id) = part.as_obj().filter(|_| is_label) {
                cx.it.heap.update_tensor(id, |t| t.range = t.range.take().map(Range::only_bounds));
            }
            part
        }
    }
}

/// An index with which a loader requests a sample. A loop over the loader reaches each index from 0
/// to the last.
fn sample_index(cx: &mut Cx<'_, '_>, dataset: &Value) -> Value {
    let span = cx.span;
    let last = cx.it.length(dataset, span).as_int().filter(|n| *n > 0).map(|n| n - 1);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 samples")]
    let range = match last {
        Some(last) => Range::of_data(0.0, last as f64),
        None => {
            let mut all = Range::bounds(0.0, f64::INFINITY);
            all.epoch = true;
            all
        }
    };
    Value::ranged(range, true, None)
}

/// The elements of a loop over a loader or dataset.
pub(crate) fn iterate(it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Items> {
    class_of(it, object)?;
    nested(it, |it| iterated(it, object, span))
}

fn iterated(it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Items> {
    let class = class_of(it, object)?;
    let cx = &mut Cx { it, path: sym(DATA), span };
    match class {
        "DataLoader" => {
            if let Some(object) = object.as_obj() {
                cx.it.event(Event::Iterated { object, span });
            }
            let generator = cx.attr(object, "generator");
            order_generator(cx, &generator);
            let batch = kept_dim(cx, object, BATCH).unwrap_or(Dim::UNKNOWN);
            Some(Items::Many(batch_of(cx, object, &batch)))
        }
        "ChainDataset" => {
            let datasets = cx.attr(object, "datasets");
            let one = cx.element(&datasets);
            Some(Items::Many(sample(cx, &one)))
        }
        "TensorDataset" | "Subset" | "ConcatDataset" => {
            Some(Items::Many(cx.it.subscript(object, &Value::Any(Type::Int), span)))
        }
        _ => None,
    }
}

/// The last batch of a loader, if it has fewer samples than the others.
pub(crate) fn last(it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Value> {
    if class_of(it, object)? != "DataLoader" {
        return None;
    }
    nested(it, |it| {
        let cx = &mut Cx { it, path: sym(DATA), span };
        let batch = kept_dim(cx, object, LAST_BATCH)?;
        // A `collate_fn` of the program gets a list of samples. The length of this list is not
        // modelled, so the last batch does not differ from the others.
        collates_by_default(cx, object).then(|| batch_of(cx, object, &batch))
    })
}

fn collates_by_default(cx: &Cx<'_, '_>, loader: &Value) -> bool {
    let function = cx.attr(loader, "collate_fn");
    function.is_none() || function.as_path() == Some("torch.utils.data.default_collate")
}

/// A batch with this number of samples.
fn batch_of(cx: &mut Cx<'_, '_>, loader: &Value, size: &Dim) -> Value {
    let workers = cx.attr(loader, "num_workers").as_int().is_some_and(|n| n > 0);
    let forked = workers && cx.attr(loader, "multiprocessing_context").is_none() && cx.it.remembered(START).is_none();
    // A `worker_init_fn` may change the workers' copy of the dataset.
    let copied = workers && cx.attr(loader, "worker_init_fn").is_none();
    noting(cx, WORKER, forked, |cx| noting(cx, COPIED, copied, |cx| sampled(cx, loader, size)))
}

/// Calls `run` with the note `topic` set to `holds` during the call.
fn noting<T>(cx: &mut Cx<'_, '_>, topic: Topic, holds: bool, run: impl FnOnce(&mut Cx<'_, '_>) -> T) -> T {
    let (path, span) = (cx.path, cx.span);
    cx.it.noting(topic, Value::Bool(holds), Value::Bool(false), |it| run(&mut Cx { it, path, span }))
}

fn sampled(cx: &mut Cx<'_, '_>, loader: &Value, size: &Dim) -> Value {
    let dataset = cx.attr(loader, "dataset");
    let one = noting(cx, draws::SEEDED, false, |cx| sample(cx, &dataset));
    compare_draws(cx, &one);
    let function = cx.attr(loader, "collate_fn");
    let batched = !(cx.attr(loader, "batch_size").is_none() && is_plain(cx, loader));
    match (collates_by_default(cx, loader), batched) {
        (true, false) => convert(cx, &one),
        (true, true) => collate(cx, &one, size),
        (false, batched) => {
            let span = cx.span;
            let argument = if batched { cx.list_of(one) } else { one };
            let batch = cx.call(&function, Args::positional([argument], span));
            // One value stands for all batches, but an iterator gives its elements only once.
            let is_iterator = batch.as_obj().is_some_and(|id| matches!(cx.it.heap.get(id), Data::Iter(_)));
            if is_iterator { Value::Unknown } else { batch }
        }
    }
}

/// The path of a call that no program makes. The call tells the rules about a mask whose pixels
/// were not moved by the same random draw as the pixels of its image.
const APART: &str = "torch.utils.data.drawn_apart";
static MASK: LazyLock<Arc<Sig>> = LazyLock::new(|| Arc::new(Sig::parse("mask")));

/// Reports a mask in the sample whose pixels were not moved by the same random draw as the pixels
/// of the image.
fn compare_draws(cx: &mut Cx<'_, '_>, sample: &Value) {
    let parts: Vec<Value> = match cx.it.heap.dict_of(sample) {
        Some(dict) => dict.entries.values().cloned().collect(),
        None => cx.items(sample).unwrap_or_default(),
    };
    let moved: Vec<(Value, Tensor, (Span, u32))> = parts
        .into_iter()
        .filter_map(|part| {
            let tensor = cx.tensor(&part)?;
            let drawn = tensor.past.drawn?;
            Some((part, tensor, drawn))
        })
        .collect();
    let is_mask = |t: &Tensor| t.rank().is_none_or(|r| r >= 2) && t.dtype.is_some_and(|d| !d.is_floating());
    let picture = moved.iter().find(|(_, t, _)| t.dtype.is_some_and(Dtype::is_floating)).map(|(.., drawn)| *drawn);
    let Some((_, picture)) = picture else { return };
    for (value, _, (span, _)) in moved.iter().filter(|(_, t, (_, draw))| is_mask(t) && *draw != picture) {
        if let Some(bound) = MASK.bind(&Args::positional([value.clone()], *span)) {
            cx.it.announce(sym(APART), &bound, *span);
        }
    }
}

/// A note of a `Subset` that `random_split` returned: the number of samples in the subset.
const SPLIT: Topic = Topic::new("length of a split");
/// A note of a loader: the batch dimension. It is stored as a dimension of a tensor, because a
/// tensor keeps the origin of its dimensions.
const BATCH: Topic = Topic::new("batch");
/// Like [`BATCH`], for the last batch if it is smaller.
const LAST_BATCH: Topic = Topic::new("last batch");

/// A note of a loader: whether it was created without a `batch_sampler`.
const PLAIN: Topic = Topic::new("without a batch sampler");

fn is_plain(cx: &Cx<'_, '_>, loader: &Value) -> bool {
    cx.note(loader, PLAIN).as_bool() == Some(true)
}

fn keep_dim(cx: &mut Cx<'_, '_>, loader: ObjId, topic: Topic, size: Size, at: Span) {
    let kept = cx.out(Tensor::default().with_shape(vec![size], Some(at)));
    cx.it.heap.set_note(loader, topic, kept);
}

fn kept_dim(cx: &Cx<'_, '_>, loader: &Value, topic: Topic) -> Option<Dim> {
    cx.tensor(&cx.it.heap.note(loader.as_obj()?, topic)?)?.dim(0).map(|dim| Dim { batch: true, ..dim.clone() })
}

/// Runs the function of one of the started processes, with an unknown rank. A function whose module
/// imports `torch.distributed.rpc` is not run, because another process may change its tensors.
fn spawned(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let span = cx.span;
    let scope = match b.get("fn").as_obj().map(|id| cx.it.heap.get(id)) {
        Some(Data::Function(function)) => Some(function.scope),
        _ => None,
    };
    let is_rpc =
        |value: &Value| matches!(value, Value::Path(path) if path.as_str().starts_with("torch.distributed.rpc"));
    match scope.map(|id| cx.it.heap.get(id)) {
        Some(Data::Scope(scope)) if !scope.vars.values().any(is_rpc) => {}
        _ => return Value::Unknown,
    }
    let given = if b.given("args") { cx.items(&b.get("args")) } else { Some(Vec::new()) };
    if let Some(given) = given {
        let args = Args::positional(std::iter::once(Value::Any(Type::Int)).chain(given), span);
        noting(cx, SPAWNED, true, |cx| cx.it.call(&b.get("fn"), args, span));
    }
    Value::Unknown
}

/// Sets the batch dimension of a new loader, which is then the same for all loops over the loader.
fn loader(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let span = cx.span;
    let plain = b.get("batch_sampler").is_none();
    // Only a random order needs the length: without it, a loader of `None` can be made.
    let needs_length = !b.get("dataset").is_none() || b.get("shuffle").as_bool() == Some(true);
    let samples = match plain && needs_length {
        true => cx.it.length(&b.get("dataset"), span).as_int().filter(|_| b.get("sampler").is_none()),
        false => None,
    };
    let at = b.span("batch_size").unwrap_or(span);
    let known = b.get("batch_size").as_int().filter(|size| plain && *size > 0).zip(b.get("drop_last").as_bool());
    let size = match known.and_then(|(size, drop_last)| common_size(samples, size, drop_last)) {
        Some(size) => size,
        None => Size::symbol(cx.it.heap.symbol("B")),
    };
    if let (Size::Expr(_), Some(samples), Some((most, false))) = (&size, samples, known) {
        keep_dim(cx, object, LAST_BATCH, Size::Int(samples % most), at);
    }
    keep_dim(cx, object, BATCH, size, at);
    if b.get("sampler").is_none() {
        // PyTorch creates the sampler itself, so the attribute is unknown.
        cx.it.heap.set_attr(object, "sampler", Value::Unknown);
    }
    cx.it.heap.set_note(object, PLAIN, Value::Bool(plain));
    if plain && !b.get("batch_size").is_none() {
        cx.it.heap.set_attr(object, "batch_sampler", Value::Unknown);
    }
}

pub(crate) fn length(it: &mut Interp<'_>, object: &Value) -> Option<Value> {
    class_of(it, object)?;
    nested(it, |it| measured(it, object))
}

/// The deepest nesting of datasets that is followed. The limit is needed for a dataset that
/// contains itself.
const MOST_NESTED: i64 = 32;

fn nested<T>(it: &mut Interp<'_>, run: impl FnOnce(&mut Interp<'_>) -> Option<T>) -> Option<T> {
    const DEPTH: Topic = Topic::new("datasets inside each other");
    let depth = it.remembered(DEPTH).and_then(|n| n.as_int()).unwrap_or(0);
    if depth >= MOST_NESTED {
        return None;
    }
    it.noting(DEPTH, Value::Int(depth + 1), Value::Int(0), run)
}

fn measured(it: &mut Interp<'_>, object: &Value) -> Option<Value> {
    let class = class_of(it, object)?;
    let span = Span { file: it.root, start: 0, end: 0 };
    let cx = &mut Cx { it, path: sym(DATA), span };
    let count = match class {
        "TensorDataset" => {
            let tensors = cx.attr(object, "tensors");
            let first = cx.items(&tensors)?.into_iter().next()?;
            let size = cx.tensor(&first)?.dim(0)?.size.clone();
            return Some(Value::size(&size));
        }
        "Subset" => {
            let split = object.as_obj().and_then(|id| cx.it.heap.note(id, SPLIT)).unwrap_or(Value::Unknown);
            if split.as_int().is_some() {
                return Some(split);
            }
            let indices = cx.attr(object, "indices");
            return Some(cx.it.length(&indices, span)).filter(|n| !n.is_unknown()).or(Some(Value::Any(Type::Int)));
        }
        "ConcatDataset" => {
            let datasets = cx.attr(object, "datasets");
            let all = cx.items(&datasets)?;
            all.iter().try_fold(0i64, |n, d| n.checked_add(cx.it.length(d, span).as_int()?))
        }
        "DataLoader" => {
            let dataset = cx.attr(object, "dataset");
            let ours = is_plain(cx, object);
            let size = cx.attr(object, "batch_size").as_int();
            let drop_last = cx.attr(object, "drop_last").as_bool();
            let samples = cx.it.length(&dataset, span).as_int();
            match (samples, size, drop_last) {
                (Some(n), Some(size), Some(drop)) if ours && samples_are_all(cx, object) => batches(n, size, drop),
                _ => None,
            }
        }
        _ => return None,
    };
    Some(count.map_or(Value::Any(Type::Int), Value::Int))
}

/// Whether the loader uses its default sampler, which covers the whole dataset. An unknown sampler
/// is also assumed to cover the whole dataset.
fn samples_are_all(cx: &Cx<'_, '_>, loader: &Value) -> bool {
    cx.attr(loader, "sampler").is_unknown()
}

/// Checks the generator of a random order. PyTorch draws the order on the default device. If this
/// device is not the CPU, nothing is checked.
fn order_generator(cx: &mut Cx<'_, '_>, generator: &Value) {
    let drawn = Tensor::default().with_device(cx.default_device().filter(|d| d.is_cpu()), None);
    super::generator::fits(cx, generator, &drawn);
}

/// Rejects lengths whose sum is not the number of samples. (Fractions have any sum up to 1.)
fn check_sum(cx: &mut Cx<'_, '_>, dataset: &Value, lengths: &Value) {
    let span = cx.span;
    let Some(samples) = cx.it.length(dataset, span).as_int() else { return };
    let Some(lengths) = cx.items(lengths) else { return };
    // `None` if one of the lengths is unknown, or a fraction.
    let sum = lengths.iter().try_fold(0_i64, |sum, length| match length {
        Value::Int(length) => Some(sum.saturating_add(*length)),
        _ => None,
    });
    if let Some(sum) = sum.filter(|sum| *sum != samples && *sum != 1) {
        let message = format!("the lengths have the sum {sum}, but the dataset has {samples} samples");
        cx.reject(RejectKind::Value, message, Vec::new());
    }
}

fn random_split(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dataset = b.get("dataset");
    let lengths = b.get("lengths");
    order_generator(cx, &b.get("generator"));
    check_sum(cx, &dataset, &lengths);
    let part = |cx: &mut Cx<'_, '_>, length: &Value| {
        let subset = cx.it.heap.instance(Value::path("torch.utils.data.Subset"));
        cx.it.heap.set_attr(subset, "dataset", dataset.clone());
        let indices = cx.list_of(Value::Any(Type::Int));
        cx.it.heap.set_attr(subset, "indices", indices);
        // If the lengths are fractions, the number of samples is not computed.
        let length = length.as_int().map_or(Value::Unknown, Value::Int);
        cx.it.heap.set_note(subset, SPLIT, length);
        Value::Obj(subset)
    };
    match cx.items(&lengths) {
        Some(lengths) => {
            let parts = lengths.iter().map(|length| part(cx, length)).collect();
            cx.list(parts)
        }
        None => {
            let one = part(cx, &Value::Unknown);
            cx.list_of(one)
        }
    }
}

fn default_collate(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let batch = b.get("batch");
    let span = cx.span;
    let size = match cx.it.length(&batch, span) {
        Value::Any(_) | Value::Unknown | Value::Open(_) => cx.fresh_dim("B"),
        length => Dim::new(cx.size_of(&length), cx.at()),
    };
    let one = cx.element(&batch);
    collate(cx, &one, &size)
}
