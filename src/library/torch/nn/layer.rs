//! Layers as a table. Each entry gives the constructor of a layer, and the function that its
//! `forward` calls with the stored arguments.
//!
//! A module keeps constructor arguments, parameters, buffers and sub-modules as plain attributes of
//! its instance. Three kinds of registered members are distinguished: a parameter has
//! [`Tensor::parameter`] set, a sub-module is recognised by its class, and for a buffer, the
//! instance has a note with the buffer's name. The value of the note says whether the buffer is
//! saved (`persistent`).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::facts::{check_rank, shape_read};
use crate::library::notes::BUFFER;
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound, RejectKind};
use crate::value::{Data, Dim, Dtype, Grad, ObjId, Size, Sym, Tensor, Value, sym};

/// A layer of `torch.nn`.
pub(crate) struct Layer {
    pub name: &'static str,
    /// The layer's base class under `torch.nn`.
    pub base: &'static str,
    /// The effect of the constructor, in addition to storing the arguments.
    pub init: fn(&mut Cx<'_, '_>, ObjId, &Bound),
    /// The function of `torch.nn.functional` and its arguments, as in the layer's own source.
    pub forward: &'static str,
    /// The ranks that `forward` accepts, if it checks them.
    pub ranks: &'static [usize],
}

/// A layer without parameters.
pub(crate) const fn plain(name: &'static str, forward: &'static str) -> Layer {
    with_state(name, "Module", no_state, forward)
}

/// A layer with parameters or buffers.
pub(crate) const fn with_state(
    name: &'static str,
    base: &'static str,
    init: fn(&mut Cx<'_, '_>, ObjId, &Bound),
    forward: &'static str,
) -> Layer {
    Layer { name, base, init, forward, ranks: &[] }
}

impl Layer {
    pub(crate) const fn ranks(mut self, ranks: &'static [usize]) -> Layer {
        self.ranks = ranks;
        self
    }
}

fn no_state(_: &mut Cx<'_, '_>, _: ObjId, _: &Bound) {}

/// An argument of the function that `forward` calls.
#[derive(Debug, Clone, Copy)]
enum Given {
    /// A parameter of `forward`.
    Own(Sym),
    /// `self.x`.
    Stored(Sym),
    True,
    Nothing,
    Int(i64),
}

struct Recipe {
    function: String,
    args: Vec<(Option<Sym>, Given)>,
    ranks: &'static [usize],
    init: fn(&mut Cx<'_, '_>, ObjId, &Bound),
}

static RECIPES: LazyLock<FxHashMap<Sym, Recipe>> = LazyLock::new(|| {
    let all = super::layers::LAYERS.iter().chain(super::losses::LAYERS);
    all.map(|layer| (sym(&format!("torch.nn.{}", layer.name)), recipe(layer))).collect()
});

fn recipe(layer: &Layer) -> Recipe {
    let (function, rest) = layer.forward.split_once('(').unwrap_or((layer.forward, ")"));
    let mut args = Vec::new();
    for text in rest.trim_end_matches(')').split(',').map(str::trim).filter(|t| !t.is_empty()) {
        let (keyword, value) = match text.split_once('=') {
            Some((keyword, value)) => (Some(sym(keyword)), value),
            None => (None, text),
        };
        let given = match value.strip_prefix("self.") {
            Some(stored) => Given::Stored(sym(stored)),
            None if value == "True" => Given::True,
            None if value == "None" => Given::Nothing,
            None => value.parse().map_or_else(|_| Given::Own(sym(value)), Given::Int),
        };
        args.push((keyword, given));
    }
    let function = if function.contains('.') { function.to_owned() } else { format!("torch.nn.functional.{function}") };
    Recipe { function, args, ranks: layer.ranks, init: layer.init }
}

/// The signature of `forward`: its parameters, in order. A parameter is optional if `forward`
/// passes it to the function by keyword.
fn signature(layer: &Layer) -> &'static str {
    let recipe = recipe(layer);
    let mut out = String::from("self");
    for (keyword, given) in &recipe.args {
        if let Given::Own(name) = given {
            out.push_str(", ");
            out.push_str(name.as_str());
            if keyword.is_some() {
                out.push_str("=None");
            }
        }
    }
    sym(&out).as_str()
}

pub(crate) fn register(t: &mut Table, layers: &'static [Layer]) {
    for layer in layers {
        let path = format!("torch.nn.{}", layer.name);
        let bases = [&*format!("torch.nn.{}", layer.base)];
        let class = t.listed_class(&path, &bases);
        class.keeps_arguments = false;
        class.init = Some(construct);
        t.def(&format!("{path}.forward"), signature(layer), forward);
    }
}

/// `Layer(…)`: stores the arguments, then creates the parameters.
fn construct(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    super::module::begin(cx, object);
    for param in &b.sig.params {
        // A layer does not store these arguments. `bias` becomes the name of a parameter,
        // registered after the weight.
        if !matches!(param.name.as_str(), "device" | "dtype" | "bias" | "_weight" | "_freeze") {
            let mut value = b.get(param.name.as_str());
            // A contract reports a `p` outside [0, 1] at the constructor, which raises. `forward`
            // must not report it again.
            if param.name.as_str() == "p"
                && cx.name().contains("Dropout")
                && value.as_f64().is_some_and(not_probability)
            {
                value = Value::Unknown;
            }
            cx.it.heap.set_attr(object, param.name.as_str(), value);
        }
    }
    if let Some(recipe) = RECIPES.get(&cx.path) {
        (recipe.init)(cx, object, b);
    }
}

fn not_probability(p: f64) -> bool {
    !(0.0..=1.0).contains(&p)
}

/// `layer.forward(…)`.
fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let class = sym(cx.path.as_str().trim_end_matches(".forward"));
    let Some(recipe) = RECIPES.get(&class) else { return cx.some_tensor() };
    let object = b.get("self");
    let span = cx.span;
    let mut args = Args::default();
    for (keyword, given) in &recipe.args {
        let arg = match given {
            Given::Own(name) => match b.arg(name.as_str()) {
                Some(arg) => arg.clone(),
                None => Arg::new(b.get(name.as_str()), span),
            },
            Given::Stored(name) => Arg::new(cx.attr(&object, name.as_str()), span),
            Given::True => Arg::new(Value::Bool(true), span),
            Given::Nothing => Arg::new(Value::None, span),
            Given::Int(n) => Arg::new(Value::Int(*n), span),
        };
        match keyword {
            Some(keyword) => args.kw.push((*keyword, arg)),
            None => args.pos.push(arg),
        }
    }
    if let Some(input) = cx.tensor_arg(b, "input") {
        // The message uses the name of the layer, not of the function.
        let path = std::mem::replace(&mut cx.path, class);
        let fits = check_rank(cx, "input", &input, recipe.ranks) && !lacks_batch(cx, &object, &input, recipe.ranks);
        cx.path = path;
        if !fits {
            return cx.some_tensor();
        }
        // The layer raises for another rank, so the rank is now known.
        if let ([rank], Some(id)) = (recipe.ranks, b.get("input").as_obj()) {
            let at = cx.at();
            cx.it.heap.update_tensor(id, |input| input.set_rank(*rank, at));
        }
    }
    let result = cx.it.call_function(&recipe.function, &args, span).unwrap_or(Value::Unknown);
    // Unseen code may have added parameters, for example parametrizations. So a result that seems
    // to need no gradient may need one.
    if let Some(id) = result.as_obj()
        && cx.it.heap.instance_of(&object).is_some_and(|instance| instance.open)
        && matches!(cx.it.heap.get(id), Data::Tensor(tensor) if tensor.grad == Grad::Off)
    {
        cx.it.heap.update_tensor(id, |tensor| tensor.grad = Grad::Unknown);
    }
    result
}

/// Rejects the output of a convolution with more dimensions than the layer, such as that of `Conv3d` in
/// `BatchNorm2d`: it has the layer's rank only without a batch, and then the channels are in dimension 0, where
/// the layer expects the batch.
fn lacks_batch(cx: &mut Cx<'_, '_>, object: &Value, input: &Tensor, ranks: &[usize]) -> bool {
    let ([rank], [channels, next, ..]) = (ranks, &*input.trailing) else { return false };
    let features = cx.attr(object, "num_features").as_int();
    let is_of_channels = |size: &Size| features.is_some_and(|features| size.known() == Some(features));
    let lacks = input.trailing.len() == *rank && is_of_channels(&channels.size) && !is_of_channels(&next.size);
    if lacks {
        let message = format!(
            "`input` is {}, with the channels in dimension 1: {} takes {} dimensions",
            input.shape_text().replace('…', "batch"),
            cx.name(),
            rank
        );
        cx.reject_if("if the input has a batch dimension", RejectKind::Rank, message, vec![shape_read("input", input)]);
    }
    lacks
}

// Helpers of constructors.

/// A tensor with the constructor's `device=` and `dtype=`, whose origin is the constructor call.
pub(crate) fn state(cx: &Cx<'_, '_>, b: &Bound, sizes: Vec<Size>) -> Tensor {
    let dtype = match cx.dtype_arg(&b.get("dtype")) {
        Some(given) => given,
        None => cx.default_dtype(),
    };
    let device = match cx.device_arg(&b.get("device")) {
        Some(given) => given,
        None => cx.default_device(),
    };
    Tensor::default().with_shape(sizes, cx.at()).with_dtype(dtype, cx.at()).with_device(device, cx.at())
}

/// Registers a parameter of these sizes.
pub(crate) fn parameter(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound, name: &str, sizes: Vec<Size>) {
    let tensor = state(cx, b, sizes);
    let value = new_parameter(cx, tensor, Grad::Leaf);
    cx.it.heap.set_attr(object, name, value);
}

/// A new parameter on the heap.
pub(crate) fn new_parameter(cx: &mut Cx<'_, '_>, mut tensor: Tensor, grad: Grad) -> Value {
    tensor.grad = grad;
    cx.it.heap.parameter(tensor)
}

/// Registers a buffer.
pub(crate) fn buffer(cx: &mut Cx<'_, '_>, object: ObjId, name: &str, mut tensor: Tensor) {
    tensor.grad = Grad::Off;
    let value = cx.out(tensor);
    cx.it.heap.set_attr(object, name, value);
    cx.it.heap.set_note(object, BUFFER.of(sym(name)), Value::Bool(true));
}

/// Sets the attributes to `None` for parameters that the layer does not have.
pub(crate) fn absent(cx: &mut Cx<'_, '_>, object: ObjId, names: &[&str]) {
    for name in names {
        cx.it.heap.set_attr(object, name, Value::None);
    }
}

/// A constructor argument as a size.
pub(crate) fn size(cx: &Cx<'_, '_>, b: &Bound, name: &str) -> Size {
    cx.size_of(&b.get(name))
}

/// Registers the parameter `name`, usually `bias`, if the constructor's argument `flag` is true.
pub(crate) fn bias(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound, flag: &str, name: &str, sizes: Vec<Size>) {
    match b.get(flag) {
        Value::Bool(true) => parameter(cx, object, b, name, sizes),
        Value::Bool(false) | Value::None => absent(cx, object, &[name]),
        other => match cx.it.truth(&other) {
            Some(true) => parameter(cx, object, b, name, sizes),
            Some(false) => absent(cx, object, &[name]),
            None => cx.it.heap.set_attr(object, name, Value::Unknown),
        },
    }
}

/// A counter such as `num_batches_tracked`.
pub(crate) fn counter(cx: &Cx<'_, '_>, b: &Bound) -> Tensor {
    state(cx, b, Vec::new()).with_dtype(Some(Dtype::Int64), cx.at())
}

/// A dimension of a tensor; unknown if the shape is not known.
pub(crate) fn dim_of(tensor: &Tensor, index: usize) -> Dim {
    tensor.shape.as_ref().and_then(|dims| dims.get(index)).cloned().unwrap_or(Dim::UNKNOWN)
}
