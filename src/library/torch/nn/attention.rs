//! Attention and transformers.

use super::device;
use super::facts::{check_rank, dim_read, ending_in, product_dtype, result, shape_text};
use super::layer::{absent, bias, parameter, size};
use crate::library::torch::autocast::raised;
use crate::library::torch::broadcast::{broadcast_pair, shape_read};
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound, RejectKind};
use crate::value::{Dim, Grad, Items, ObjId, Range, Role, Size, Tensor, Value, sym};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.nn.functional.", "scaled_dot_product_attention", dot_product);
    let class = t.listed_class("torch.nn.MultiheadAttention", &["torch.nn.Module"]);
    class.keeps_arguments = false;
    class.init = Some(multihead);
    t.def(
        "torch.nn.MultiheadAttention.forward",
        "self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, \
         average_attn_weights=True, is_causal=False",
        attend,
    );
    for name in [
        "TransformerEncoderLayer",
        "TransformerDecoderLayer",
        "TransformerEncoder",
        "TransformerDecoder",
        "Transformer",
    ] {
        let class = t.listed_class(&format!("torch.nn.{name}"), &["torch.nn.Module"]);
        class.keeps_arguments = false;
        class.init = Some(transformer);
    }
    t.family(
        "torch.nn.",
        "TransformerEncoderLayer.forward TransformerEncoder.forward",
        "self, src, src_mask=None, src_key_padding_mask=None, is_causal=None, *, mask=None",
        encode,
    );
    t.family(
        "torch.nn.",
        "TransformerDecoderLayer.forward TransformerDecoder.forward",
        "self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, \
         memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=None",
        decode,
    );
    t.def(
        "torch.nn.Transformer.forward",
        "self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, \
         tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None, \
         memory_is_causal=None",
        decode,
    );
    t.def("torch.nn.Transformer.generate_square_subsequent_mask", "sz, device=None, dtype=None", causal_mask);
}

/// `softmax(q kᵀ) v`: the shape of the query, with the last dimension of the value.
fn dot_product(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let all = ["query", "key", "value"].map(|name| cx.tensor_arg(b, name));
    let [Some(query), Some(key), Some(value)] = all else { return cx.some_tensor() };
    let tensors = [("query", &query), ("key", &key), ("value", &value)];
    device::check(cx, &tensors);
    let dtype = product_dtype(cx, &tensors).unwrap_or_default();
    if let (Some(q), Some(k)) = (query.dim(-1), key.dim(-1))
        && q.size.equals(&k.size) == Some(false)
    {
        let message = format!(
            "`query` is {} and `key` is {}: the last dimensions {} and {} must be equal",
            shape_text(&query),
            shape_text(&key),
            q.size,
            k.size
        );
        let reads = vec![dim_read("query", "feature", q), dim_read("key", "feature", k)];
        cx.reject(RejectKind::Shape, message, reads);
    }
    let shape = attended(b, &query, &key, &value);
    let out = result(cx, &[&query, &key, &value], shape, dtype);
    cx.out(out)
}

/// The shape of the query, with the last dimension of the value. Unless queries are grouped, the
/// batch dimensions of query, key and value broadcast.
fn attended(b: &Bound, query: &Tensor, key: &Tensor, value: &Tensor) -> Option<Vec<Dim>> {
    let ([lead @ .., length, _], [others @ .., _, _], [last @ .., _, width]) =
        (query.shape.as_deref()?, key.shape.as_deref()?, value.shape.as_deref()?)
    else {
        return None;
    };
    // With grouped queries, there are more query heads than key heads.
    let grouped = b.get("enable_gqa").as_bool()?;
    let batch = lead.len().saturating_sub(1);
    if !grouped {
        let both = broadcast_pair(lead, others).ok()?;
        let mut dims = broadcast_pair(&both, last).ok()?;
        dims.push(length.clone());
        dims.push(width.clone());
        return Some(dims);
    }
    for other in [others, last] {
        if other.len() != lead.len() {
            return None;
        }
        let same = lead.iter().zip(other).take(batch).all(|(a, b)| a.size == b.size && !a.size.is_unknown());
        if !same {
            return None;
        }
    }
    let mut dims = lead.to_vec();
    dims.push(length.clone());
    dims.push(width.clone());
    Some(dims)
}

fn keep(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    super::module::begin(cx, object);
    for param in &b.sig.params {
        if !matches!(param.name.as_str(), "device" | "dtype" | "bias" | "dropout") {
            cx.it.heap.set_attr(object, param.name.as_str(), b.get(param.name.as_str()));
        }
    }
}

fn multihead(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    keep(cx, object, b);
    cx.it.heap.set_attr(object, "dropout", b.get("dropout"));
    let width = size(cx, b, "embed_dim");
    let other = |name: &str| match b.get(name) {
        Value::None => width.clone(),
        value => cx.size_of(&value),
    };
    let (keys, values) = (other("kdim"), other("vdim"));
    for (name, size) in [("kdim", &keys), ("vdim", &values)] {
        cx.it.heap.set_attr(object, name, Value::size(size));
    }
    if keys == width && values == width {
        parameter(cx, object, b, "in_proj_weight", vec![width.mul(&Size::Int(3)), width.clone()]);
        absent(cx, object, &["q_proj_weight", "k_proj_weight", "v_proj_weight"]);
    } else {
        parameter(cx, object, b, "q_proj_weight", vec![width.clone(), width.clone()]);
        parameter(cx, object, b, "k_proj_weight", vec![width.clone(), keys]);
        parameter(cx, object, b, "v_proj_weight", vec![width.clone(), values]);
        absent(cx, object, &["in_proj_weight"]);
    }
    bias(cx, object, b, "bias", "in_proj_bias", vec![width.mul(&Size::Int(3))]);
    absent(cx, object, &["bias_k", "bias_v"]);
    let out = linear(cx, b, &width, &width);
    cx.it.heap.set_attr(object, "out_proj", out);
}

/// Creates a sub-module on the `device` and with the `dtype` of this module.
fn make(cx: &mut Cx<'_, '_>, b: &Bound, class: &str, args: &[Value], more: &[(&str, Value)]) -> Value {
    let span = cx.span;
    let mut call = Args::positional(args.iter().cloned(), span);
    for (name, value) in more {
        call.kw.push((sym(name), Arg::new(value.clone(), span)));
    }
    for name in ["device", "dtype"] {
        if b.given(name) {
            call.kw.push((sym(name), Arg::new(b.get(name), span)));
        }
    }
    cx.it.library().call(cx.it, sym(class), call, span)
}

fn linear(cx: &mut Cx<'_, '_>, b: &Bound, inputs: &Size, outputs: &Size) -> Value {
    let flag = b.get("bias");
    make(cx, b, "torch.nn.Linear", &[Value::size(inputs), Value::size(outputs)], &[("bias", flag)])
}

fn transformer(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    keep(cx, object, b);
    let name = cx.name();
    match name {
        "TransformerEncoderLayer" | "TransformerDecoderLayer" => layer(cx, object, b, name.contains("Decoder")),
        "TransformerEncoder" | "TransformerDecoder" => {
            let one = b.get(if name.contains("Encoder") { "encoder_layer" } else { "decoder_layer" });
            stack(cx, object, &one, &b.get("num_layers"));
        }
        _ => {
            for part in ["encoder", "decoder"] {
                let custom = b.get(&format!("custom_{part}"));
                let value = if custom.is_none() { half(cx, b, part) } else { custom };
                cx.it.heap.set_attr(object, part, value);
            }
        }
    }
}

fn layer(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound, decoder: bool) {
    let width = size(cx, b, "d_model");
    let inner = size(cx, b, "dim_feedforward");
    let args = [b.get("d_model"), b.get("nhead")];
    let more = [("dropout", b.get("dropout")), ("bias", b.get("bias")), ("batch_first", b.get("batch_first"))];
    let mut names = vec!["self_attn"];
    if decoder {
        names.push("multihead_attn");
    }
    for name in names {
        let value = make(cx, b, "torch.nn.MultiheadAttention", &args, &more);
        cx.it.heap.set_attr(object, name, value);
    }
    let value = linear(cx, b, &width, &inner);
    cx.it.heap.set_attr(object, "linear1", value);
    let value = linear(cx, b, &inner, &width);
    cx.it.heap.set_attr(object, "linear2", value);
    for norm in ["norm1", "norm2", "norm3"].iter().take(if decoder { 3 } else { 2 }) {
        let value = make(cx, b, "torch.nn.LayerNorm", &[b.get("d_model")], &[]);
        cx.it.heap.set_attr(object, norm, value);
    }
}

/// Copies of one layer; the layer itself is not part of the module.
fn stack(cx: &mut Cx<'_, '_>, object: ObjId, one: &Value, count: &Value) {
    let span = cx.span;
    let copies: Option<Vec<Value>> =
        count.as_int().filter(|n| (0..=64).contains(n)).map(|n| (0..n).map(|_| super::copy::copied(cx, one)).collect());
    let items = match copies {
        Some(values) => Items::Exact(values),
        None => Items::Many(super::copy::copied(cx, one)),
    };
    let list = Value::Obj(cx.it.heap.alloc(crate::value::Data::List(items)));
    let layers = cx.it.library().call(cx.it, sym("torch.nn.ModuleList"), Args::positional([list], span), span);
    cx.it.heap.set_attr(object, "layers", layers);
    for name in ["encoder_layer", "decoder_layer"] {
        if let Some(instance) = cx.it.heap.instance_mut(object) {
            instance.attrs.shift_remove(&sym(name));
        }
    }
}

/// The encoder or decoder of a `Transformer`.
fn half(cx: &mut Cx<'_, '_>, b: &Bound, part: &str) -> Value {
    let class = if part == "encoder" { "Encoder" } else { "Decoder" };
    let args = [b.get("d_model"), b.get("nhead"), b.get("dim_feedforward"), b.get("dropout")];
    let more = ["layer_norm_eps", "batch_first", "norm_first", "bias"].map(|name| (name, b.get(name)));
    let one = make(cx, b, &format!("torch.nn.Transformer{class}Layer"), &args, &more);
    let norm = make(cx, b, "torch.nn.LayerNorm", &[b.get("d_model")], &[]);
    let span = cx.span;
    let call = Args::positional([one, b.get(&format!("num_{part}_layers")), norm], span);
    cx.it.library().call(cx.it, sym(&format!("torch.nn.Transformer{class}")), call, span)
}

/// Checks the last dimension of a tensor against the width of the module's first attention layer. A
/// label shows the weight that determines this width.
fn check_width(cx: &mut Cx<'_, '_>, name: &str, tensor: &Tensor, wanted: &Size, weight: Option<&Tensor>) {
    let Some(have) = tensor.dim(-1) else { return };
    if have.size.equals(wanted) == Some(false) {
        let message = format!(
            "`{name}` is {}: its last dimension is {}, but the layer's width is {wanted}",
            shape_text(tensor),
            have.size
        );
        let mut reads = vec![dim_read(name, "feature", have)];
        reads.extend(weight.map(|w| (format!("the layer is created here, with width {wanted}"), w.shape_at)));
        cx.reject(RejectKind::Shape, message, reads);
    }
}

fn attend(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let weight =
        cx.tensor(&cx.attr(&object, "in_proj_weight")).or_else(|| cx.tensor(&cx.attr(&object, "q_proj_weight")));
    let query = cx.tensor_arg(b, "query");
    let key = cx.tensor_arg(b, "key");
    let width = cx.size_of(&cx.attr(&object, "embed_dim"));
    let Some(query) = query else {
        let out = ending_in(cx, Tensor::default(), Dim::new(width, None));
        return Value::tuple(vec![out, Value::Unknown]);
    };
    if !check_rank(cx, "query", &query, &[2, 3]) {
        return Value::Unknown;
    }
    check_width(cx, "query", &query, &width, weight.as_ref());
    let weight = weight.unwrap_or_default();
    let further = ["key", "value", "key_padding_mask", "attn_mask"]
        .map(|name| cx.tensor_arg(b, name).map(|tensor| (name, tensor)));
    let mut tensors = vec![("query", &query), ("in_proj_weight", &weight)];
    tensors.extend(further.iter().flatten().map(|(name, tensor)| (*name, tensor)));
    device::check(cx, &tensors);
    let first = cx.attr(&object, "batch_first").as_bool();
    if let Some(key) = &key {
        check_batch(cx, ("query", &query), ("key", key), first);
        if let Some(value) = cx.tensor_arg(b, "value") {
            check_pairs(cx, key, &value);
        }
    }
    let may_be_unused = says_causal(b, "is_causal") && b.get("need_weights").as_bool() != Some(true);
    if let Some((queries, keys)) = sequence(&query, first).zip(key.as_ref().and_then(|key| sequence(key, first)))
        && !may_be_unused
    {
        check_mask(cx, b, "attn_mask", &queries, &keys);
    }
    let dtype = product_dtype(cx, &[("query", &query), ("in_proj_weight", &weight)]).unwrap_or_default();
    let mut out = result(cx, &[&query, &weight], query.shape.clone(), dtype);
    out.shape_at = query.shape_at;
    let weights = match b.get("need_weights").as_bool() {
        Some(false) => Value::None,
        Some(true) => {
            let shape = attention_shape(cx, b, &object, &query, key.as_ref());
            let at = cx.at();
            // The softmax that makes the weights is in autocast's list of float32 functions.
            let facts = Tensor { shape, dtype: raised(cx, &out), ..out.clone() };
            // In training, dropout scales the weights that it keeps, so the sum of a row need not
            // be 1.
            let dropout = cx.attr(&object, "dropout").as_f64() == Some(0.0);
            let facts = if dropout {
                facts.with_role(Some(Role::Probabilities), at).with_range(Some(Range::bounds(0.0, 1.0)), at)
            } else {
                facts
            };
            cx.out(facts)
        }
        None => Value::Unknown,
    };
    let out = ending_in(cx, out, Dim::new(width, None));
    Value::tuple(vec![out, weights])
}

/// The length of the sequences in a batch, or of a single sequence.
fn sequence(input: &Tensor, batch_first: Option<bool>) -> Option<Dim> {
    match (input.shape.as_deref()?, batch_first?) {
        ([_, length, _], true) | ([length, _, _], false) | ([length, _], _) => Some(length.clone()),
        _ => None,
    }
}

/// The number of sequences in a batch.
fn batch(input: &Tensor, batch_first: Option<bool>) -> Option<&Dim> {
    match (input.shape.as_deref()?, batch_first?) {
        ([batch, _, _], true) | ([_, batch, _], false) => Some(batch),
        _ => None,
    }
}

/// Checks that two batches have the same number of sequences.
fn check_batch(cx: &mut Cx<'_, '_>, a: (&str, &Tensor), b: (&str, &Tensor), batch_first: Option<bool>) {
    let Some((of_a, of_b)) = batch(a.1, batch_first).zip(batch(b.1, batch_first)) else { return };
    if of_a.size.equals(&of_b.size) == Some(false) {
        let order = match batch_first {
            Some(true) => "",
            _ => " (without `batch_first=True`, the batch is the second dimension)",
        };
        let message = format!(
            "`{}` is {} and `{}` is {}: the batch sizes {} and {} must be equal{order}",
            a.0,
            shape_text(a.1),
            b.0,
            shape_text(b.1),
            of_a.size,
            of_b.size
        );
        let reads = vec![dim_read(a.0, "batch", of_a), dim_read(b.0, "batch", of_b)];
        cx.reject(RejectKind::Shape, message, reads);
    }
}

/// Checks that there is a value for each key.
fn check_pairs(cx: &mut Cx<'_, '_>, key: &Tensor, value: &Tensor) {
    let (Some([keys @ .., _]), Some([values @ .., _])) = (key.shape.as_deref(), value.shape.as_deref()) else { return };
    let differ = |(a, b): (&Dim, &Dim)| a.size.equals(&b.size) == Some(false);
    if keys.len() == values.len() && keys.iter().zip(values).any(differ) {
        let message = format!(
            "`key` is {} and `value` is {}: all dimensions but the last must be equal",
            shape_text(key),
            shape_text(value)
        );
        cx.reject(RejectKind::Shape, message, vec![shape_read(("key", key), None), shape_read(("value", value), None)]);
    }
}

/// Whether a flag may tell that a mask is causal. The mask itself is then not used in training, whatever its shape is.
fn says_causal(b: &Bound, flag: &str) -> bool {
    let has_flag = b.takes(flag);
    has_flag && !matches!(b.get(flag), Value::None | Value::Bool(false))
}

/// Checks an attention mask with two dimensions. (A mask with three dimensions has one more, for
/// batch and heads.)
fn check_mask(cx: &mut Cx<'_, '_>, b: &Bound, name: &str, queries: &Dim, keys: &Dim) {
    let Some(mask) = cx.tensor_arg(b, name) else { return };
    let Some([rows, columns]) = mask.shape.as_deref() else { return };
    let differ = |a: &Dim, b: &Dim| a.size.equals(&b.size) == Some(false);
    if differ(rows, queries) || differ(columns, keys) {
        let message = format!(
            "`{name}` is {}, but must be [{}, {}]: a row for each query and a column for each key",
            shape_text(&mask),
            queries.size,
            keys.size
        );
        cx.reject(RejectKind::Shape, message, vec![shape_read((name, &mask), None)]);
    }
}

/// The shape of the attention weights: `[batch, heads, queries, keys]`. An unbatched query gives no
/// batch dimension; averaged weights have no heads.
fn attention_shape(
    cx: &Cx<'_, '_>,
    b: &Bound,
    object: &Value,
    query: &Tensor,
    key: Option<&Tensor>,
) -> Option<Vec<Dim>> {
    // Each of these options adds one key.
    let mut extra = 0;
    for name in ["add_bias_kv", "add_zero_attn"] {
        extra += i64::from(cx.attr(object, name).as_bool()?);
    }
    let batch_first = cx.attr(object, "batch_first").as_bool()?;
    let (queries, keys, batch) = match (query.shape.as_deref()?, key?.shape.as_deref()?) {
        ([n, l, _], [_, s, _]) if batch_first => (l, s, Some(n)),
        ([l, n, _], [s, _, _]) => (l, s, Some(n)),
        ([l, _], [s, _]) => (l, s, None),
        _ => return None,
    };
    let mut dims: Vec<Dim> = batch.cloned().into_iter().collect();
    if !b.get("average_attn_weights").as_bool()? {
        dims.push(Dim::new(cx.size_of(&cx.attr(object, "num_heads")), cx.at()));
    }
    dims.push(queries.clone());
    dims.push(if extra == 0 { keys.clone() } else { Dim::new(keys.size.add(&Size::Int(extra)), keys.at) });
    Some(dims)
}

/// The width of a transformer module, and the weight that determines it. For a stack of layers,
/// both come from the first layer, and for a `Transformer`, from its encoder.
fn width_of(cx: &Cx<'_, '_>, object: &Value) -> (Size, Option<Tensor>) {
    let encoder = cx.attr(object, "encoder");
    if !encoder.is_unknown() {
        return width_of(cx, &encoder);
    }
    let direct = cx.attr(object, "d_model");
    if !direct.is_unknown() {
        let weight = cx.tensor(&cx.attr(&cx.attr(object, "self_attn"), "in_proj_weight"));
        return (cx.size_of(&direct), weight);
    }
    let layers = cx.attr(object, "layers");
    let first = super::containers::contents(cx.it, &layers).and_then(|c| c.found.into_iter().next());
    match first {
        Some((_, layer)) => {
            let weight = cx.tensor(&cx.attr(&cx.attr(&layer, "self_attn"), "in_proj_weight"));
            (cx.size_of(&cx.attr(&layer, "d_model")), weight)
        }
        None => (Size::Unknown, None),
    }
}

/// Whether the batch is the first dimension of the inputs of a layer, or of the layers of a stack.
fn batch_first(cx: &Cx<'_, '_>, object: &Value) -> Option<bool> {
    let of = |layer: &Value| cx.attr(&cx.attr(layer, "self_attn"), "batch_first").as_bool();
    let layers = cx.attr(object, "layers");
    let encoder = cx.attr(object, "encoder");
    if !encoder.is_unknown() {
        return batch_first(cx, &encoder);
    }
    of(object).or_else(|| {
        let (_, first) = super::containers::contents(cx.it, &layers)?.found.into_iter().next()?;
        of(&first)
    })
}

/// Models a call whose result has the shape of its input.
fn pass(cx: &mut Cx<'_, '_>, b: &Bound, name: &str) -> Value {
    let object = b.get("self");
    let (width, weight) = width_of(cx, &object);
    let Some(input) = cx.tensor_arg(b, name) else { return ending_in(cx, Tensor::default(), Dim::new(width, None)) };
    check_width(cx, name, &input, &width, weight.as_ref());
    let is_hinted = says_causal(b, "is_causal") || says_causal(b, &format!("{name}_is_causal"));
    if let Some(length) = sequence(&input, batch_first(cx, &object)).filter(|_| !is_hinted) {
        for mask in [format!("{name}_mask"), "mask".to_owned()] {
            check_mask(cx, b, &mask, &length, &length);
        }
    }
    let mut tensors = vec![(name, &input)];
    tensors.extend(weight.iter().map(|w| ("weight", w)));
    // The second sequence, and the masks.
    let others = b.sig.params.iter().map(|param| param.name.as_str()).filter(|other| !["self", name].contains(other));
    // The stacks recognise a causal mask, and do not use it then.
    let is_stack = !cx.path.as_str().ends_with("Layer.forward");
    let may_be_unused = |other: &str| is_stack && matches!(other, "mask" | "src_mask" | "tgt_mask");
    let others = others.filter(|other| !may_be_unused(other));
    let others: Vec<(&str, Tensor)> = others.filter_map(|other| Some((other, cx.tensor_arg(b, other)?))).collect();
    let all: Vec<_> = tensors.iter().copied().chain(others.iter().map(|(other, t)| (*other, t))).collect();
    device::check(cx, &all);
    let dtype = product_dtype(cx, &tensors).unwrap_or_default();
    // A final norm computes in float32 under autocast, so the dtype is certain only without
    // autocast.
    let dtype = if dtype == input.dtype { dtype } else { None };
    let all: Vec<&Tensor> = tensors.iter().map(|(_, t)| *t).collect();
    let mut out = result(cx, &all, input.shape.clone(), dtype);
    out.shape_at = input.shape_at;
    if weight.is_none() && out.grad == Grad::Off {
        out.grad = Grad::Unknown;
    }
    ending_in(cx, out, Dim::new(width, None))
}

fn encode(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    pass(cx, b, "src")
}

fn decode(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let first = batch_first(cx, &object);
    let target = cx.tensor_arg(b, "tgt");
    // The sequence that the decoder attends to: `src` of a whole transformer, `memory` of a decoder.
    for name in ["src", "memory"].into_iter().filter(|name| b.takes(name)) {
        let Some(source) = cx.tensor_arg(b, name) else { continue };
        let Some(length) = sequence(&source, first) else { continue };
        if name == "src" && !says_causal(b, "src_is_causal") {
            check_mask(cx, b, "src_mask", &length, &length);
        }
        if let Some(target) = &target {
            check_batch(cx, (name, &source), ("tgt", target), first);
            if let Some(targets) = sequence(target, first).filter(|_| !says_causal(b, "memory_is_causal")) {
                check_mask(cx, b, "memory_mask", &targets, &length);
            }
        }
    }
    pass(cx, b, "tgt")
}

fn causal_mask(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let n = size(cx, b, "sz");
    let mut facts = super::layer::state(cx, b, vec![n.clone(), n]);
    facts.grad = Grad::Off;
    cx.out(facts)
}
