//! A call whose only effect is its result, as a statement: `np.append(losses, loss)`.

use std::cell::RefCell;

use crate::diagnostic::Severity;
use crate::python::{Bound, Event};
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Grad, Value, sym};

const NAME: &str = "discarded-result";

/// Methods of tensors that return a new tensor or a view. Most methods that compute new values are
/// left out: for example, benchmarks call them only to measure the time.
const METHODS: &[&str] = &[
    "squeeze",
    "unsqueeze",
    "permute",
    "transpose",
    "view",
    "reshape",
    "flatten",
    "detach",
    "contiguous",
    "clamp",
    "expand",
    "repeat",
    "masked_fill",
    "scatter",
    "index_fill",
    "swapaxes",
    "swapdims",
    "movedim",
    "moveaxis",
    "view_as",
    "expand_as",
    "unflatten",
    "type_as",
];

/// Those of [`METHODS`] that need no arguments and that only tensors have.
const ONLY_OF_TENSORS: &[&str] = &["detach", "contiguous"];

/// Methods that reduce a loss to one number.
const REDUCTIONS: &[&str] = &["mean", "sum"];

/// Those of [`METHODS`] that other classes often have, too.
const OF_OTHERS: &[&str] = &["expand", "flatten", "repeat", "scatter", "view"];

/// Functions that return a new array or tensor, or a view.
const FUNCTIONS: &[&str] = &[
    "numpy.append",
    "numpy.concatenate",
    "numpy.delete",
    "numpy.insert",
    "numpy.expand_dims",
    "numpy.squeeze",
    "numpy.reshape",
    "numpy.transpose",
    "numpy.clip",
    "torch.cat",
    "torch.stack",
];

/// Functions and layers whose results nobody computes only to measure the time.
const DROPOUTS: &[&str] = &[
    "torch.nn.functional.dropout",
    "torch.nn.Dropout.forward",
    "torch.nn.Dropout1d.forward",
    "torch.nn.Dropout2d.forward",
    "torch.nn.Dropout3d.forward",
];

#[derive(Default)]
pub(crate) struct DiscardedResult {
    /// The last call of one of these functions: its place, and how messages name it.
    last: RefCell<Option<(Span, String)>>,
}

impl Rule for DiscardedResult {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        // Some methods have the path of the function: `torch.swapaxes`.
        let name = path.as_str().strip_prefix("torch.Tensor.").or_else(|| path.as_str().strip_prefix("torch."));
        let method = name.filter(|method| METHODS.contains(method));
        let is_one = match method {
            // A value about which nothing is known may be an object with a method of this name.
            Some(method) => cx.it.heap.tensor_ref(&bound.get("input")).is_some_and(|tensor| {
                let is_known = tensor.shape.is_some() || tensor.dtype.is_some() || tensor.grad != Grad::Unknown;
                is_known || !OF_OTHERS.contains(&method)
            }),
            None => FUNCTIONS.contains(&path.as_str()),
        };
        if DROPOUTS.contains(&path.as_str()) && makes_copy(cx, bound) && names_dropout(cx) {
            *self.last.borrow_mut() = Some((cx.span, "dropout".to_owned()));
        }
        if is_one && !bound.given("out") {
            *self.last.borrow_mut() = Some((cx.span, method.unwrap_or(path.as_str()).to_owned()));
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::Discarded { call, value } = event else { return };
        if cx.source(call).is_some_and(|text| means_load_state_dict(&text)) {
            let message = "`state_dict` returns the state and loads nothing: did you mean `load_state_dict`?";
            cx.findings.report(NAME, Severity::Warning, message, call, Vec::new());
            return;
        }
        // A layer that contains others calls them at its own place.
        let is_written = |function: &str| {
            let name = function.rsplit('.').next().unwrap_or_default();
            function == "dropout" || cx.source(call).is_none_or(|text| text.contains(name))
        };
        let known = self.last.borrow().clone().filter(|(span, _)| *span == call).map(|(_, function)| function);
        let known = known.filter(|function| is_written(function));
        let of_element = || cx.source(call).and_then(|text| layer_in_list(cx, &text));
        let Some(function) = known.or_else(|| of_unknown(cx, call, value)).or_else(of_element) else { return };
        // `unsqueeze_` has the path of `unsqueeze`, but works in place, as does `x.copy_(y)` in
        // `x.copy_(y).view(-1)`.
        let in_place = cx.source(call).is_none_or(|text| text.contains("_("));
        if in_place || cx.findings.any_at(call) {
            return;
        }
        // A notebook shows the result. A test or a `try` may call a function to see whether it raises.
        if cx.it.is_notebook() || cx.it.expects_failure() || cx.it.is_in_try() {
            return;
        }
        let message = format!("the result of `{function}` is not used: the call changes none of its arguments");
        cx.findings.report(NAME, Severity::Warning, message, call, Vec::new());
    }
}

/// Whether a dropout certainly leaves its input as it is.
fn makes_copy(cx: &Context<'_, '_>, bound: &Bound) -> bool {
    let in_place = match bound.get("self") {
        Value::Unknown => bound.get("inplace"),
        module => module.as_obj().and_then(|id| cx.it.heap.attr(id, "inplace")).unwrap_or(Value::Unknown),
    };
    in_place.as_bool() == Some(false)
}

/// Whether the program calls the dropout itself, and not a module that contains it.
fn names_dropout(cx: &Context<'_, '_>) -> bool {
    let text = cx.source(cx.span).unwrap_or_default();
    text.split('(').next().unwrap_or_default().to_ascii_lowercase().contains("drop")
}

/// The list of layers in `self.layers[i](x)`, if the program uses the results of its layers elsewhere and has no
/// hooks, which may store the result.
fn layer_in_list(cx: &Context<'_, '_>, text: &str) -> Option<String> {
    let (list, rest) = text.strip_prefix("self.")?.split_once('[')?;
    let argument = rest.split_once("](")?.1.strip_suffix(')')?;
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mentions = |text: &str| cx.it.mentions(sym(text).as_str());
    let is_filled = || mentions("nn.ModuleList(") && mentions(&format!("self.{list}.append("));
    let is_assigned = || mentions(&format!(" = self.{list}["));
    (is_name(list) && is_name(argument) && is_filled() && is_assigned() && !mentions("hook"))
        .then(|| format!("self.{list}[…]"))
}

/// Whether a statement is `model.state_dict(checkpoint)`. `state_dict` has no parameter for a state to load:
/// its old positional parameters are `destination`, `prefix` and `keep_vars`.
fn means_load_state_dict(text: &str) -> bool {
    let Some((object, given)) = text.split_once(".state_dict(") else { return false };
    // In `model.state_dict()["weight"].copy_(x)`, the state itself is used.
    let Some(given) = given.strip_suffix(')').filter(|given| !given.starts_with(')')) else { return false };
    let is_loaded = given.contains("torch.load(") || given.contains("['") || given.contains("[\"");
    let is_checkpoint = ["checkpoint", "ckpt", "state", "weights"].iter().any(|word| given.contains(word));
    !object.contains(['(', '=']) && !given.contains("destination") && (is_loaded || is_checkpoint)
}

/// The method in `x.detach()`, if its result is unknown, or in `loss.mean()`, if the program calls
/// `loss.backward()`. `None` if the program defines a method of this name.
fn of_unknown(cx: &Context<'_, '_>, call: Span, value: &Value) -> Option<String> {
    let text = cx.source(call)?;
    let (object, method) = text.strip_suffix("()")?.rsplit_once('.')?;
    let is_plain = object.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let mentions = |text: String| cx.it.mentions(sym(&text).as_str());
    let is_discarded = || match method {
        _ if REDUCTIONS.contains(&method) => mentions(format!("{object}.backward(")),
        // The methods of PyTorch Geometric's graphs change the graph.
        _ => {
            value.is_unknown()
                && ONLY_OF_TENSORS.contains(&method)
                && !cx.it.mentions("torch_geometric")
                // `finalizer.detach()` of the standard library
                && !(method == "detach" && cx.it.mentions("weakref"))
                && !is_instance(cx, object, call)
        }
    };
    (is_plain && is_discarded() && !mentions(format!("def {method}("))).then(|| method.to_owned())
}

/// Whether the program sets a variable to an instance of a class that is not analysed: `client = Client(model)`.
fn is_instance(cx: &Context<'_, '_>, name: &str, call: Span) -> bool {
    const TENSORS: &[&str] = &["Tensor", "Variable", "Parameter"];
    let assigned = format!("{name} = ");
    let Some(text) = cx.source(Span { start: 0, end: call.start, ..call }) else { return false };
    text.match_indices(&assigned).filter_map(|(at, _)| text.get(at + assigned.len()..)?.split_once('(')).any(
        |(callee, _)| {
            let class = callee.rsplit('.').next().unwrap_or_default();
            class.starts_with(char::is_uppercase)
                && class.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !TENSORS.iter().any(|tensor| class.ends_with(tensor))
        },
    )
}
