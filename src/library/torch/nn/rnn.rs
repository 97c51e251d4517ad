//! Recurrent layers and cells.

use super::device;
use super::facts::{
    Autocast, agreed_device, autocast, check_least, check_rank, dim_read, ending_in, floating_grad, product_dtype,
    shape_read, shape_text,
};
use super::layer::{bias, parameter, size};
use super::utils::{packed_like, padded_of};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, ObjId, Size, Tensor, Type, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.class("torch.nn.RNNBase", &["torch.nn.Module"], "mode, *args, **kwargs").keeps_arguments = false;
    t.class("torch.nn.RNNCellBase", &["torch.nn.Module"], "*args, **kwargs").keeps_arguments = false;
    for name in ["LSTM", "GRU", "RNN"] {
        let path = format!("torch.nn.{name}");
        let class = t.listed_class(&path, &["torch.nn.RNNBase"]);
        class.keeps_arguments = false;
        class.init = Some(construct);
        t.def(&format!("{path}.forward"), "self, input, hx=None", forward);
    }
    t.def("torch.nn.RNNBase.flatten_parameters", "self", |_, _| Value::None);
    for name in ["LSTMCell", "GRUCell", "RNNCell"] {
        let path = format!("torch.nn.{name}");
        let class = t.listed_class(&path, &["torch.nn.RNNCellBase"]);
        class.keeps_arguments = false;
        class.init = Some(construct);
        t.def(&format!("{path}.forward"), "self, input, hx=None", cell);
    }
}

/// Stores the arguments and creates the weights, named as in PyTorch.
fn construct(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    super::module::begin(cx, object);
    for param in &b.sig.params {
        if !matches!(param.name.as_str(), "device" | "dtype") {
            cx.it.heap.set_attr(object, param.name.as_str(), b.get(param.name.as_str()));
        }
    }
    let name = cx.name();
    let gates = match name.trim_end_matches("Cell") {
        "LSTM" => 4,
        "GRU" => 3,
        _ => 1,
    };
    let (inputs, hidden) = (size(cx, b, "input_size"), size(cx, b, "hidden_size"));
    if !name.ends_with("Cell") {
        check_types(cx, b);
        for argument in ["input_size", "hidden_size", "num_layers"] {
            check_least(cx, b, argument, 1);
        }
    }
    let wide = hidden.mul(&Size::Int(gates));
    if name.ends_with("Cell") {
        parameter(cx, object, b, "weight_ih", vec![wide.clone(), inputs]);
        parameter(cx, object, b, "weight_hh", vec![wide.clone(), hidden]);
        bias(cx, object, b, "bias", "bias_ih", vec![wide.clone()]);
        bias(cx, object, b, "bias", "bias_hh", vec![wide]);
        return;
    }
    let (Some(layers), Some(both)) = (b.get("num_layers").as_int(), b.get("bidirectional").as_bool()) else {
        // The number of weights is unknown, but the weights of the first layer exist.
        parameter(cx, object, b, "weight_ih_l0", vec![wide, inputs]);
        if let Some(instance) = cx.it.heap.instance_mut(object) {
            instance.open = true;
        }
        return;
    };
    let projected = match b.get("proj_size").as_int() {
        Some(n) if n > 0 => Some(Size::Int(n)),
        _ => None,
    };
    let out = projected.clone().unwrap_or_else(|| hidden.clone());
    let directions = if both { 2 } else { 1 };
    for layer in 0..layers.clamp(0, 64) {
        let into = if layer == 0 { inputs.clone() } else { out.mul(&Size::Int(directions)) };
        for suffix in ["", "_reverse"].iter().take(if both { 2 } else { 1 }) {
            let path = |what: &str| format!("{what}_l{layer}{suffix}");
            parameter(cx, object, b, &path("weight_ih"), vec![wide.clone(), into.clone()]);
            parameter(cx, object, b, &path("weight_hh"), vec![wide.clone(), out.clone()]);
            bias(cx, object, b, "bias", &path("bias_ih"), vec![wide.clone()]);
            bias(cx, object, b, "bias", &path("bias_hh"), vec![wide.clone()]);
            if let Some(projected) = &projected {
                parameter(cx, object, b, &path("weight_hr"), vec![projected.clone(), hidden.clone()]);
            }
        }
    }
}

/// Rejects a `bias` or `batch_first` that is not of type `bool`, and an `input_size` or
/// `hidden_size` that is not an integer.
fn check_types(cx: &mut Cx<'_, '_>, b: &Bound) {
    for (argument, wanted) in
        [("bias", Type::Bool), ("batch_first", Type::Bool), ("input_size", Type::Int), ("hidden_size", Type::Int)]
    {
        let value = b.get(argument);
        let have = match (&value, value.number_type()) {
            (Value::Str(_), _) => "str",
            (Value::None, _) => "None",
            (Value::Int(_) | Value::Size(_), _) if wanted == Type::Bool => "int",
            (_, Some(Type::Float)) => "float",
            _ => continue,
        };
        let wanted = if wanted == Type::Bool { "bool" } else { "int" };
        let message = format!("{argument} is of type {have}: {} takes {wanted}", cx.name());
        let at = b.span(argument).or(cx.at());
        cx.reject(RejectKind::Value, message, vec![(format!("{argument} is of type {have}"), at)]);
        return;
    }
}

fn stored(cx: &Cx<'_, '_>, object: &Value, name: &str) -> Size {
    cx.size_of(&cx.attr(object, name))
}

/// The dtype, device and gradient state of the result, after a check that input and weight fit.
fn checked(cx: &mut Cx<'_, '_>, input: &Tensor, weight: &Tensor) -> Tensor {
    device::check(cx, &[("input", input), ("weight", weight)]);
    let dtype = product_dtype(cx, &[("input", input), ("weight", weight)]).unwrap_or_default();
    let grad = floating_grad(cx, &[input, weight], dtype);
    if let (Some(have), Some(wanted)) = (input.dim(-1), weight.dim(1))
        && have.size.equals(&wanted.size) == Some(false)
    {
        let message = format!(
            "`input` is {}: its last dimension is {}, but the layer's input_size is {}",
            shape_text(input),
            have.size,
            wanted.size
        );
        let reads = vec![
            dim_read("input", "feature", have),
            (format!("the layer is created here, for {}", counted(&wanted.size, "feature")), wanted.at),
        ];
        cx.reject(RejectKind::Shape, message, reads);
    }
    let at = cx.at();
    let mut out = Tensor { grad, ..Tensor::default() }.with_dtype(dtype, at);
    (out.device, out.device_at) = agreed_device(&[input, weight]);
    out.shape_at = at;
    out
}

fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let lstm = cx.path.as_str().contains("LSTM");
    let batch_first = cx.attr(&object, "batch_first").as_bool();
    let packed = padded_of(cx, &b.get("input"));
    let is_packed = packed.is_some();
    let weight = cx.tensor(&cx.attr(&object, "weight_ih_l0")).unwrap_or_default();
    let unknown = Tensor::default();
    let known = cx.tensor_arg(b, "input").is_some() || is_packed;
    // The input may be a packed sequence. Then the output is one, too. Arguments of `forward` are only assumed to
    // be tensors.
    let is_sure = is_packed || cx.tensor_arg(b, "input").is_some_and(|input| input.shape.is_some());
    if !is_sure && ["packed_sequence", "pack_sequence", "PackedSequence"].iter().any(|text| cx.it.mentions(text)) {
        return Value::Unknown;
    }
    let input = packed.or_else(|| cx.tensor_arg(b, "input")).unwrap_or(unknown);
    if !is_packed && !check_rank(cx, "input", &input, &[2, 3]) {
        return Value::Unknown;
    }
    let facts = match known {
        true => checked(cx, &input, &weight),
        false => {
            Tensor { dtype: weight.dtype.filter(|_| autocast(cx, weight.device) == Autocast::Off), ..Tensor::default() }
        }
    };
    let hidden = stored(cx, &object, "hidden_size");
    let projected = stored_or_zero(cx, &object);
    let directions = match cx.attr(&object, "bidirectional").as_bool() {
        Some(true) => Size::Int(2),
        Some(false) => Size::Int(1),
        None => Size::Unknown,
    };
    let width = match projected {
        Size::Int(0) => hidden.clone(),
        other => other,
    };
    let sizes = [&width, &hidden];
    check_state(cx, b, [&input, &weight], batch_first, is_packed, sizes, &directions);
    let at = weight.dim(0).and_then(|d| d.at);
    let features = Dim::new(width.mul(&directions), at);
    let layers = stored(cx, &object, "num_layers").mul(&directions);
    let (mut out_shape, mut state_batch) = (None, None);
    if let Some(dims) = &input.shape {
        match dims.as_slice() {
            [first, second, _] => {
                // The padded form of a packed sequence has the batch first.
                let first_is_batch = if is_packed { Some(true) } else { batch_first };
                state_batch = first_is_batch.map(|f| Some(if f { first.clone() } else { second.clone() }));
                out_shape = Some(vec![first.clone(), second.clone(), features.clone()]);
            }
            [time, _] => {
                state_batch = Some(None);
                out_shape = Some(vec![time.clone(), features.clone()]);
            }
            _ => {}
        }
    }
    let state = |width: &Size| {
        state_batch.clone().map(|batch| {
            let mut dims = vec![Dim::new(layers.clone(), at)];
            dims.extend(batch);
            dims.push(Dim::new(width.clone(), at));
            dims
        })
    };
    // With or without a batch, the last dimension is known.
    let out = Tensor { shape: out_shape, ..facts.clone() };
    let output = if is_packed { packed_like(cx, out) } else { ending_in(cx, out, features) };
    let h = Tensor { shape: state(&width), ..facts.clone() };
    let c = Tensor { shape: state(&hidden), ..facts };
    let h = ending_in(cx, h, Dim::new(width, at));
    let state = match lstm {
        true => Value::tuple(vec![h, ending_in(cx, c, Dim::new(hidden, at))]),
        false => h,
    };
    Value::tuple(vec![output, state])
}

fn stored_or_zero(cx: &Cx<'_, '_>, object: &Value) -> Size {
    match object.as_obj().and_then(|id| cx.it.heap.attr(id, "proj_size")) {
        Some(value) => cx.size_of(&value),
        None => Size::Int(0),
    }
}

/// Rejects initial states on another device, or whose shape is not `[layers, batch, width]`, with the
/// widths of the hidden state and of the cell state of an LSTM. This shape does not depend on
/// `batch_first`.
fn check_state(
    cx: &mut Cx<'_, '_>,
    b: &Bound,
    [input, weight]: [&Tensor; 2],
    batch_first: Option<bool>,
    is_packed: bool,
    widths: [&Size; 2],
    directions: &Size,
) {
    let (object, hx) = (b.get("self"), b.get("hx"));
    let batched = is_packed || input.rank() == Some(3);
    if !is_kind_of_state(cx, b, batched) {
        return;
    }
    let states: Vec<Option<Tensor>> = match cx.items(&hx) {
        Some(parts) => parts.iter().map(|part| cx.tensor(part)).collect(),
        None if cx.path.as_str().contains("LSTM") => return,
        None => vec![cx.tensor(&hx)],
    };
    let mut all = vec![("input", input), ("weight", weight)];
    all.extend(states.iter().flatten().map(|state| ("hx", state)));
    device::check(cx, &all);
    let Some([first, second, _]) = input.shape.as_deref() else { return };
    let rows = match (is_packed, batch_first) {
        (true, _) | (_, Some(true)) => first,
        (_, Some(false)) => second,
        _ => return,
    };
    for (state, width) in states.iter().zip(widths) {
        let Some(state) = state else { continue };
        let Some([layers, batch, features]) = state.shape.as_deref() else { continue };
        let wanted = [stored(cx, &object, "num_layers").mul(directions), rows.size.clone(), width.clone()];
        let clash = [layers, batch, features].iter().zip(&wanted).any(|(d, w)| d.size.equals(w) == Some(false));
        if clash {
            let wanted: Vec<String> = wanted.iter().map(Size::to_string).collect();
            let given = shape_text(state);
            let message = format!("`hx` is {given}, but must be [{}] (layers, batch, hidden size)", wanted.join(", "));
            let reads = vec![shape_read("hx", state), shape_read("input", input)];
            cx.reject(RejectKind::Shape, message, reads);
            return;
        }
    }
}

/// Rejects a tuple if the module takes one tensor as its state, and one tensor if it takes a tuple.
fn is_kind_of_state(cx: &mut Cx<'_, '_>, b: &Bound, batched: bool) -> bool {
    let hx = b.get("hx");
    let path = cx.path;
    let class = path.as_str().trim_end_matches(".forward").rsplit('.').next().unwrap_or_default();
    let message = match (class.starts_with("LSTM"), cx.items(&hx).filter(|_| !cx.it.heap.is_tensor(&hx))) {
        (false, Some(_)) => format!("`hx` is a tuple of states, but {class} has only one state: it takes a tensor"),
        // Without a batch, the two rows of a tensor can be the two states.
        (true, None) if batched && cx.is_surely_tensor(&hx) => {
            format!("`hx` is a tensor, but {class} takes a tuple of two states")
        }
        _ => return true,
    };
    let at = b.span("hx").or(cx.at());
    cx.reject(RejectKind::Value, message, vec![("the state is given here".to_owned(), at)]);
    false
}

fn cell(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let lstm = cx.path.as_str().contains("LSTM");
    let weight = cx.tensor(&cx.attr(&object, "weight_ih")).unwrap_or_default();
    let input = cx.tensor_arg(b, "input");
    if let Some(input) = &input
        && !check_rank(cx, "input", input, &[1, 2])
    {
        return Value::Unknown;
    }
    let mut out = match &input {
        Some(input) => checked(cx, input, &weight),
        None => Tensor::default(),
    };
    if let Some(input) = &input {
        check_cell_state(cx, b, &object, input);
    }
    let hidden = Dim::new(stored(cx, &object, "hidden_size"), weight.dim(0).and_then(|d| d.at));
    out.shape = input.and_then(|t| t.shape).map(|mut dims| {
        dims.pop();
        dims.push(hidden.clone());
        dims
    });
    out.dtype = out.dtype.filter(|d: &Dtype| d.is_floating());
    let state = ending_in(cx, out.clone(), hidden.clone());
    match lstm {
        true => Value::tuple(vec![state, ending_in(cx, out, hidden)]),
        false => state,
    }
}

/// Rejects the state of a cell if its number of rows differs from that of the input, or if the
/// length of a row is not the cell's hidden size.
fn check_cell_state(cx: &mut Cx<'_, '_>, b: &Bound, object: &Value, input: &Tensor) {
    let hx = b.get("hx");
    if !is_kind_of_state(cx, b, input.rank() == Some(2)) {
        return;
    }
    let states: Vec<Tensor> = match cx.items(&hx) {
        Some(parts) => parts.iter().filter_map(|h| cx.tensor(h)).collect(),
        None => cx.tensor(&hx).into_iter().collect(),
    };
    let hidden = stored(cx, object, "hidden_size");
    for state in &states {
        device::check(cx, &[("input", input), ("hx", state)]);
        if !check_rank(cx, "hx", state, &[1, 2]) {
            return;
        }
        let width = state.dim(-1).is_some_and(|d| d.size.equals(&hidden) == Some(false));
        let rows = match (input.shape.as_deref(), state.shape.as_deref()) {
            (Some([a, _]), Some([b, _])) => a.size.equals(&b.size) == Some(false),
            _ => false,
        };
        if width || rows {
            let (is, all) = match cx.it.heap.is_tensor(&hx) {
                true => ("is", "`hx`"),
                false => ("contains", "each tensor in `hx`"),
            };
            let wanted = match input.shape.as_deref() {
                Some([rows, _]) => {
                    format!("[{}, {hidden}], one state of length {hidden} for each row of `input`", rows.size)
                }
                _ => format!("[{hidden}]"),
            };
            let (given, state_text) = (shape_text(input), shape_text(state));
            let message = format!("`input` is {given} and `hx` {is} {state_text}: {all} must be {wanted}");
            let reads = vec![shape_read("hx", state), shape_read("input", input)];
            cx.reject(RejectKind::Shape, message, reads);
            return;
        }
    }
}
