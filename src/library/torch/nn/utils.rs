//! `torch.nn.utils`: gradient clipping, reparametrisations, padded sequences.

use super::facts::like;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Data, Device, Dim, Grad, ObjId, Range, Size, Tensor, Topic, Value};

/// A note of a packed sequence: the tensor that was packed.
const PADDED: Topic = Topic::new("padded from");
pub(crate) const PACKED: &str = "torch.nn.utils.rnn.PackedSequence";

pub(crate) fn register(t: &mut Table) {
    let u = "torch.nn.utils.";
    t.listed(u, "clip_grad_norm_", total_norm);
    t.listed(u, "get_total_norm", total_norm);
    t.listed(u, "clip_grad_value_", |_, _| Value::None);
    t.alias("torch.nn.utils.clip_grad.clip_grad_norm_", "torch.nn.utils.clip_grad_norm_");
    t.alias("torch.nn.utils.clip_grad_norm", "torch.nn.utils.clip_grad_norm_");
    t.family(
        u,
        "weight_norm spectral_norm remove_weight_norm remove_spectral_norm",
        "module, *args, **kwargs",
        reparametrised,
    );
    t.family(
        "torch.nn.utils.parametrizations.",
        "weight_norm spectral_norm orthogonal",
        "module, *args, **kwargs",
        reparametrised,
    );
    t.listed(u, "parameters_to_vector", |cx, _| {
        let at = cx.at();
        cx.out(Tensor::default().with_shape(vec![Size::Unknown], at))
    });
    t.listed(u, "vector_to_parameters", |_, _| Value::None);
    let r = "torch.nn.utils.rnn.";
    t.listed(r, "pack_padded_sequence", pack_padded_sequence);
    t.listed(r, "pad_packed_sequence", pad_packed_sequence);
    t.listed(r, "pad_sequence", pad_sequence);
    t.listed(r, "pack_sequence", |cx, _| {
        let facts = Tensor::default();
        packed(cx, facts)
    });
    let class = t.listed_class(PACKED, &[]);
    class.keeps_arguments = true;
    t.def(&format!("{PACKED}.to"), "self, *args, **kwargs", |_, _| Value::Unknown);
    t.family(&format!("{PACKED}."), "cuda cpu float half double", "self, *args, **kwargs", |_, _| Value::Unknown);
}

/// A reparametrisation returns its module. The names of the parameters change.
fn reparametrised(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let module = b.get("module");
    if let Some(instance) = module.as_obj().and_then(|id| cx.it.heap.instance_mut(id)) {
        instance.open = true;
    }
    module
}

fn total_norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let first = b.values.first().and_then(|a| a.as_ref()).map_or(Value::Unknown, |a| a.value.clone());
    let one = cx.element(&first);
    let (dtype, device) = cx.tensor(&one).map_or((None, None), |t| (t.dtype, t.device));
    let out = Tensor { grad: Grad::Off, ..Tensor::default() }.with_shape(Vec::new(), at);
    cx.out(out.with_dtype(dtype, at).with_device(device, at))
}

/// A packed sequence, with a note of the padded tensor, whose first dimension is the batch.
fn packed(cx: &mut Cx<'_, '_>, padded: Tensor) -> Value {
    let id = cx.it.heap.instance(Value::path(PACKED));
    let width = padded.shape.as_deref().and_then(|dims| dims.get(2..)).map(|rest| {
        let mut dims = vec![Dim::UNKNOWN];
        dims.extend(rest.iter().cloned());
        dims
    });
    let mut data = like(cx, &padded);
    data.shape = width;
    let data = cx.out(data);
    cx.it.heap.set_attr(id, "data", data);
    let padded = cx.out(padded);
    cx.it.heap.set_note(id, PADDED, padded);
    Value::Obj(id)
}

/// A packed sequence whose padded form is this tensor, with the batch first.
pub(crate) fn packed_like(cx: &mut Cx<'_, '_>, batch_first: Tensor) -> Value {
    packed(cx, batch_first)
}

/// The padded form of a packed sequence, with the batch first.
pub(crate) fn padded_of(cx: &Cx<'_, '_>, value: &Value) -> Option<Tensor> {
    let id: ObjId = value.as_obj()?;
    let class = cx.it.heap.instance_of(value)?.class.as_path()?;
    if class != PACKED {
        return None;
    }
    cx.tensor(&cx.it.heap.note(id, PADDED)?)
}

fn swap(mut tensor: Tensor) -> Tensor {
    if let Some(dims) = &mut tensor.shape
        && dims.len() >= 2
    {
        dims.swap(0, 1);
    }
    tensor
}

fn pack_padded_sequence(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if let Some(lengths) = cx.tensor_arg(b, "lengths")
        && let Some(device) = lengths.device
        && device.differs(Device::CPU)
    {
        let message = format!("`lengths` is on {device}: pack_padded_sequence takes lengths on the CPU only");
        let reads = vec![(format!("`lengths` is placed on {device} here"), lengths.device_at)];
        cx.reject(RejectKind::Device, message, reads);
    }
    let Some(input) = cx.tensor_arg(b, "input") else { return packed(cx, Tensor::default()) };
    let mut facts = like(cx, &input);
    facts = match b.get("batch_first").as_bool() {
        Some(true) => facts,
        Some(false) => swap(facts),
        None => Tensor { shape: None, ..facts },
    };
    packed(cx, facts)
}

/// Returns the padded tensor and the lengths.
fn pad_packed_sequence(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let lengths = Tensor { grad: Grad::Off, ..Tensor::default() };
    let lengths = lengths.with_dtype(Some(crate::value::Dtype::Int64), cx.at()).with_device(Some(Device::CPU), cx.at());
    let lengths = lengths.with_shape(vec![Size::Unknown], cx.at());
    let padded = padded_of(cx, &b.get("sequence"));
    let mut out = padded.map(|t| like(cx, &t)).unwrap_or_default();
    if let Some([_, time, ..]) = out.shape.as_deref_mut() {
        // The result is only as long as the longest sequence, so it may be shorter than the tensor
        // that was packed.
        let length = b.get("total_length");
        *time = Dim::new(if length.is_none() { Size::Unknown } else { cx.size_of(&length) }, cx.at());
    }
    out = match b.get("batch_first").as_bool() {
        Some(true) => out,
        Some(false) => swap(out),
        None => Tensor { shape: None, ..out },
    };
    out.shape_at = cx.at();
    cx.outs(vec![out, lengths])
}

/// One tensor with sequences of different lengths. If the range of the sequences is known, the
/// range of the result includes the padding value, unless all lengths are known to be equal.
fn pad_sequence(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let sequences = b.get("sequences");
    let all: Option<Vec<Tensor>> =
        cx.items(&sequences).map(|items| items.iter().filter_map(|v| cx.tensor(v)).collect());
    let element = cx.element(&sequences);
    let Some(one) = cx.tensor(&element) else { return cx.some_tensor() };
    let mut out = like(cx, &one);
    out.range = padded_range(b, &one, all.as_deref());
    out.range_at = cx.at();
    // `pad_sequence` accepts iterators, which have no length.
    let length = match sequences.as_obj().map(|id| cx.it.heap.get(id)) {
        Some(Data::Iter(_)) => Value::Unknown,
        _ => cx.it.length(&sequences, cx.span),
    };
    let (count, longest) = (cx.size_of(&length), longest(all.as_deref()));
    out.shape = one.shape.as_ref().and_then(|dims| {
        let (_, rest) = dims.split_first()?;
        let (batch, time) = (Dim::new(count, cx.at()), Dim::new(longest, cx.at()));
        let mut dims = match b.get("batch_first").as_bool()? {
            true => vec![batch, time],
            false => vec![time, batch],
        };
        dims.extend(rest.iter().cloned());
        Some(dims)
    });
    out.shape_at = cx.at();
    cx.out(out)
}

/// The lengths of the sequences, if all are known.
fn lengths(all: Option<&[Tensor]>) -> Option<Vec<i64>> {
    all?.iter().map(|t| t.dim(0)?.size.known()).collect()
}

fn longest(all: Option<&[Tensor]>) -> Size {
    lengths(all).and_then(|all| all.into_iter().max()).map_or(Size::Unknown, Size::Int)
}

fn padded_range(b: &Bound, one: &Tensor, all: Option<&[Tensor]>) -> Option<Range> {
    let fill = b.get("padding_value").as_f64()?;
    let Some(values) = values_of(one, all) else {
        // If the lengths are known, nothing is claimed: sequences of equal length need no padding.
        return lengths(all).is_none().then(|| Range::anything_and(fill, false));
    };
    match lengths(all) {
        Some(lengths) if lengths.windows(2).all(|pair| pair.first() == pair.last()) => Some(values),
        Some(_) => Some(values.union(&Range::of_values(&[fill])?)),
        // Sequences of unknown length are assumed to differ in length, so some batch has padding.
        None => Some(values.union(&Range::attained(fill, fill))),
    }
}

/// The range of the values of all sequences.
fn values_of(one: &Tensor, all: Option<&[Tensor]>) -> Option<Range> {
    let values = match all {
        Some(all) => {
            let mut ranges = all.iter().map(|t| t.range.clone());
            let first = ranges.next()??;
            ranges.try_fold(first, |sum, next| Some(sum.union(&next?)))?
        }
        None => one.range.clone()?,
    };
    Some(values)
}
