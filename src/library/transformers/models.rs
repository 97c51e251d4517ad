//! Models by task. An internal linear layer represents all layers that are not modelled: its result
//! has the dtype, the device and the last dimension of the real output.

use super::config::{CONFIG, families, of_checkpoint};
use crate::library::common::{instance, part_of, unknown};
use crate::library::data::{BaseOutput, TRANSFORMERS};
use crate::library::torchvision::open_module;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Range, Size, Tensor, Value};

const BASE: &str = "transformers.PreTrainedModel";
const OUTPUT: &str = "transformers.modeling_outputs.ModelOutput";
/// The internal attribute of a model output that holds the values of its fields, in order.
const FIELDS: &str = "_fields";
/// The internal attribute of a model output that holds the names of its fields, in order.
const NAMES: &str = "_names";

/// Suffixes of class names. The suffix determines the meaning of the output's last dimension.
const TASKS: &[&str] = &[
    "Model",
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForMaskedLM",
    "ForCausalLM",
    "LMHeadModel",
    "ForConditionalGeneration",
    "ForSeq2SeqLM",
    "ForQuestionAnswering",
    "ForMultipleChoice",
    "ForImageClassification",
];

/// The attribute for the argument `return_dict` of `from_pretrained`.
const RETURN_DICT: &str = "_return_dict";

/// The positional parameters of most models have this order up to the mask.
const FORWARD: &str = "self, input_ids=None, attention_mask=None, *more, labels=None, return_dict=None, \
                       inputs_embeds=None, **kwargs";
const FORWARD_IMAGES: &str = "self, pixel_values=None, *more, labels=None, return_dict=None, **kwargs";

pub(crate) fn register(t: &mut Table) {
    t.class(BASE, &["torch.nn.Module"], "config=None, **kwargs").keeps_arguments = false;
    t.class(OUTPUT, &[], "").keeps_arguments = false;
    t.def(&format!("{OUTPUT}.__getitem__"), "self, index", get_item);
    // A model output is a dictionary: iteration and unpacking yield its keys.
    t.family(&format!("{OUTPUT}."), "__iter__ keys", "self", |cx, b| {
        // Up to version 3, a model returned a tuple.
        if cx.it.excludes("transformers", "4") { Value::Unknown } else { known_tuple(cx, &b.get("self"), NAMES) }
    });
    t.family(&format!("{OUTPUT}."), "to_tuple values", "self", all_fields);
    t.family(&format!("{OUTPUT}."), "items get", "self, *args", unknown);
    t.family(
        "transformers.PreTrainedModel.",
        "save_pretrained push_to_hub get_input_embeddings get_output_embeddings num_parameters",
        "self, *args, **kwargs",
        unknown,
    );
    t.family(
        "transformers.PreTrainedModel.",
        "gradient_checkpointing_enable enable_input_require_grads gradient_checkpointing_disable",
        "self, *args, **kwargs",
        |_, _| Value::None,
    );
    t.def("transformers.PreTrainedModel.generate", "self, inputs=None, *args, input_ids=None, **kwargs", generate);
    t.def(
        "transformers.PreTrainedModel.resize_token_embeddings",
        "self, new_num_tokens=None, *args, **kwargs",
        |cx, b| {
            let config = cx.attr(&b.get("self"), "config");
            if let Some(id) = config.as_obj() {
                cx.it.heap.set_attr(id, "vocab_size", b.get("new_num_tokens"));
            }
            // The last layer of a language model is resized, too.
            if let Some(id) = b.get("self").as_obj() {
                cx.it.heap.set_attr(id, "_resized", Value::Bool(true));
            }
            Value::Unknown
        },
    );
    for family in families() {
        // The base of the models of a family has no public attributes of its own.
        let lower = family.to_lowercase();
        for module in ["", &format!("models.{lower}.modeling_{lower}."), &format!("modeling_{lower}.")] {
            t.alias(&format!("transformers.{module}{family}PreTrainedModel"), BASE);
        }
        for task in TASKS {
            let class = match (family, *task) {
                ("Auto", "Model") => "transformers.AutoModel".to_owned(),
                ("Auto", task) => format!("transformers.AutoModel{task}"),
                (family, task) => format!("transformers.{family}{task}"),
            };
            t.def(
                &format!("{class}.from_pretrained"),
                "pretrained_model_name_or_path, *model_args, config=None, **kwargs",
                from_pretrained,
            );
            t.def(&format!("{class}.from_config"), "config, **kwargs", from_config);
            let made = t.class(&class, &[BASE], "config, **kwargs");
            made.keeps_arguments = false;
            made.init = Some(|cx, object, b| {
                let class = cx.path.as_str();
                let config = b.get("config");
                build(cx, object, class, config, false);
            });
            let images = *task == "ForImageClassification";
            t.def(&format!("{class}.forward"), if images { FORWARD_IMAGES } else { FORWARD }, forward);
        }
    }
}

fn from_pretrained(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    // With `trust_remote_code`, the checkpoint may define its own model class.
    let remote = b.extra.iter().find(|(name, _)| name.as_str() == "trust_remote_code");
    if remote.is_some_and(|(_, arg)| arg.value.as_bool() != Some(false)) {
        return Value::Unknown;
    }
    let name = b.get("pretrained_model_name_or_path");
    let config = match b.get("config") {
        Value::None => {
            let named =
                ["num_labels", "id2label", "vocab_size", "hidden_size", "max_position_embeddings", "pad_token_id"];
            let mut given = b.clone();
            given.extra.retain(|(k, _)| named.contains(&k.as_str()));
            of_checkpoint(cx, &name, &given)
        }
        given => given,
    };
    // These arguments may change the device or dtype of the weights, or the layers of the model.
    let opaque = b.open
        || b.extra.iter().any(|(k, _)| {
            matches!(
                k.as_str(),
                "device_map"
                    | "torch_dtype"
                    | "dtype"
                    | "load_in_8bit"
                    | "load_in_4bit"
                    | "quantization_config"
                    | "add_pooling_layer"
            )
        });
    let class = cx.path.as_str().trim_end_matches(".from_pretrained");
    let model = open_module(cx, class);
    if let Some(id) = model.as_obj() {
        build(cx, id, class, config, opaque);
        cx.it.heap.set_attr(id, "training", Value::Bool(false));
        // This argument changes the configuration, which the calls of the model read.
        if let Some((_, given)) = b.extra.iter().find(|(name, _)| name.as_str() == "return_dict") {
            cx.it.heap.set_attr(id, RETURN_DICT, given.value.clone());
        }
    }
    model
}

fn from_config(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let class = cx.path.as_str().trim_end_matches(".from_config");
    let model = open_module(cx, class);
    if let Some(id) = model.as_obj() {
        let opaque = b.open || !b.extra.is_empty();
        build(cx, id, class, b.get("config"), opaque);
    }
    model
}

fn task_of(class: &str) -> &'static str {
    TASKS.iter().filter(|task| class.ends_with(**task)).max_by_key(|task| task.len()).copied().unwrap_or("Model")
}

fn build(cx: &mut Cx<'_, '_>, id: crate::value::ObjId, class: &str, config: Value, opaque: bool) {
    let known = cx.it.heap.instance_of(&config).is_some_and(|i| i.class.as_path() == Some(CONFIG));
    let config = if known { config } else { instance(cx, CONFIG, Vec::new()) };
    let hidden = cx.attr(&config, "hidden_size");
    let out = match task_of(class) {
        "ForSequenceClassification" | "ForTokenClassification" | "ForImageClassification" => {
            if known {
                cx.attr(&config, "num_labels")
            } else {
                Value::Unknown
            }
        }
        "Model" => hidden.clone(),
        "ForQuestionAnswering" => Value::Int(2),
        "ForMultipleChoice" => Value::Int(1),
        _ => cx.attr(&config, "vocab_size"),
    };
    // The module has further, unknown members.
    if let Some(instance) = cx.it.heap.instance_mut(id) {
        instance.open = true;
    }
    cx.it.heap.set_attr(id, "config", config.clone());
    cx.it.heap.set_attr(id, "num_labels", cx.attr(&config, "num_labels"));
    cx.it.heap.set_attr(id, "_task", Value::str(task_of(class)));
    cx.it.heap.set_attr(id, "_opaque", Value::Bool(opaque));
    // The name of the head depends on the family, and scripts replace some of these heads.
    let labels = cx.attr(&config, "num_labels");
    let text = matches!(task_of(class), "ForSequenceClassification" | "ForTokenClassification");
    if text && replaceable(cx, class, &config) {
        let classifier = linear(cx, hidden, labels);
        cx.it.heap.set_attr(id, "classifier", classifier);
    }
    let body = linear(cx, Value::Int(1), out);
    cx.it.heap.set_attr(id, "_body", body);
}

fn linear(cx: &mut Cx<'_, '_>, from: Value, to: Value) -> Value {
    let span = cx.span;
    cx.call(&Value::path("torch.nn.Linear"), Args::positional([from, to], span))
}

/// Whether the classifier of the models of this family is a single linear layer with the name
/// `classifier`.
fn replaceable(cx: &Cx<'_, '_>, class: &str, config: &Value) -> bool {
    let has_one = |family: &str| TRANSFORMERS.families.get(family).is_some_and(|family| family.linear_classifier);
    let name = class.rsplit('.').next().unwrap_or(class);
    if name.starts_with("Auto") {
        return cx.attr(config, "_family").as_str().is_some_and(has_one);
    }
    name.split_once("For").is_some_and(|(family, _)| has_one(family))
}

fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (model, span, at) = (b.get("self"), cx.span, cx.at());
    let task = cx.attr(&model, "_task");
    let opaque = cx.attr(&model, "_opaque").as_bool() != Some(false);
    let ids = cx.tensor_arg(b, "input_ids");
    let embedded = cx.tensor_arg(b, "inputs_embeds");
    let images = cx.tensor_arg(b, "pixel_values");
    // The first parameter of vision models is `pixel_values`.
    let may_be_image = ids.as_ref().is_some_and(|ids| {
        ids.rank() != Some(2) && ids.dtype.is_some_and(|d| !d.is_integral()) || ids.rank().is_some_and(|n| n > 2)
    });
    let source = ids.or(embedded.clone()).or(images.clone());
    if embedded.is_none() && images.is_none() && !opaque && !may_be_image {
        embed(cx, &model, &b.get("input_ids"));
        if let Some((_, segments)) = b.extra.iter().find(|(name, _)| name.as_str() == "token_type_ids") {
            look_up(cx, &model, &segments.value, "type_vocab_size");
        }
    }
    let dims = source.as_ref().and_then(|t| t.shape.clone());
    let leading: Option<Vec<Dim>> = match (task.as_str(), dims.as_deref()) {
        (Some("ForSequenceClassification" | "ForImageClassification"), Some([batch, ..])) => Some(vec![batch.clone()]),
        (Some("ForMultipleChoice"), _) | (_, None) => None,
        // The number of patches depends on the model.
        _ if may_be_image || images.is_some() => None,
        // The output is as long as the input of the decoder.
        (Some("ForConditionalGeneration" | "ForSeq2SeqLM"), _) => {
            let decoded = b.extra.iter().find(|(name, _)| name.as_str() == "decoder_input_ids").map(|(_, a)| &a.value);
            let decoded = decoded.map_or_else(|| cx.tensor_arg(b, "labels"), |value| cx.tensor(value));
            decoded.and_then(|t| t.shape).filter(|dims| dims.len() == 2)
        }
        (_, Some([batch, length, ..])) => Some(vec![batch.clone(), length.clone()]),
        _ => None,
    };
    let mut probe = Tensor { grad: Grad::Unknown, ..Tensor::default() };
    if let Some(source) = &source
        && !opaque
    {
        probe = probe.with_device(source.device, source.device_at).with_dtype(Some(Dtype::Float32), at);
    }
    probe.shape = leading.map(|mut dims| {
        dims.push(Dim::int(1));
        dims
    });
    // `_body` represents the model, so its weight has the dtype to which the script casts the
    // model. The dtype of the ids does not matter for the output.
    let body = cx.attr(&model, "_body");
    let weight = cx.attr(&body, "weight");
    probe.dtype = cx.tensor(&weight).and_then(|w| w.dtype).filter(|_| !opaque);
    let probe = cx.out(probe);
    let computed = cx.call(&body, Args::positional([probe], span));
    let Some(mut out) = cx.tensor(&computed) else { return Value::Unknown };
    out.base = None;
    if task.as_str() == Some("Model") {
        out.role = None;
    }
    if opaque {
        out = out.with_device(None, None).with_dtype(None, None);
    }
    last_dimension(cx, &model, &mut out);
    let labels = b.get("labels");
    let main = cx.out(out.clone());
    let mut result = match task.as_str() {
        Some("Model") => vec![("last_hidden_state", main)],
        Some("ForQuestionAnswering") => return spans(cx, b, &out),
        Some("ForMultipleChoice") => return open_output(cx, Vec::new()),
        _ if labels.is_none() => vec![("logits", main)],
        _ => vec![("loss", loss_of(cx, &model, &out, &labels)), ("logits", main)],
    };
    let family = family_of(cx, &model);
    let is_base = task.as_str() == Some("Model");
    let base_output = family.as_deref().and_then(|family| TRANSFORMERS.families.get(family)?.base_output);
    let pools = is_base && base_output == Some(BaseOutput::Pooled);
    if pools {
        let mut pooled = Tensor { base: None, data: None, range: Some(Range::bounds(-1.0, 1.0)), range_at: at, ..out };
        pooled.shape = pooled.shape.filter(|dims| dims.len() == 3).map(|mut dims| {
            dims.remove(1);
            dims
        });
        let pooled = cx.out(pooled);
        result.push(("pooler_output", pooled));
    }
    // The other fields depend on the family and on options.
    let complete = match task.as_str() {
        Some("Model") => base_output.is_some(),
        Some(task) => task.ends_with("Classification"),
        None => false,
    };
    let switched = b.open || b.extra.iter().any(|(name, _)| name.as_str().starts_with("output_"));
    let return_dict = match b.get("return_dict") {
        Value::None => cx.attr(&model, RETURN_DICT),
        given => given,
    };
    if return_dict.as_bool() == Some(false) {
        let known = complete && !switched && !labels.is_unknown();
        return if known { Value::tuple(result.into_iter().map(|(_, v)| v).collect()) } else { Value::Unknown };
    }
    let known = !b.open && !labels.is_unknown();
    let of = |values: Vec<Value>| if known { Value::tuple(values) } else { Value::Unknown };
    let fields = of(result.iter().map(|(_, v)| v.clone()).collect());
    let names =
        if complete && !switched { of(result.iter().map(|(k, _)| Value::str(k)).collect()) } else { Value::Unknown };
    let mut attrs = result;
    attrs.push((FIELDS, fields));
    attrs.push((NAMES, names));
    open_output(cx, attrs)
}

/// The family of a model; for an `Auto` class, the family of its checkpoint.
fn family_of(cx: &Cx<'_, '_>, model: &Value) -> Option<String> {
    if cx.attr(model, "_opaque").as_bool() != Some(false) {
        return None;
    }
    let class = cx.it.heap.instance_of(model)?.class.as_path()?;
    let name = class.rsplit('.').next().unwrap_or(class);
    if name.starts_with("Auto") {
        return cx.attr(&cx.attr(model, "config"), "_family").as_str().map(str::to_owned);
    }
    name.strip_suffix("Model").map(str::to_owned)
}

/// The scores of the start and end positions of an answer.
fn spans(cx: &mut Cx<'_, '_>, b: &Bound, out: &Tensor) -> Value {
    let mut scores = Tensor { base: None, data: None, ..out.clone() };
    scores.shape = scores.shape.map(|mut dims| {
        dims.pop();
        dims
    });
    let (start, end) = (cx.out(scores.clone()), cx.out(scores.clone()));
    let mut attrs = vec![("start_logits", start), ("end_logits", end)];
    if b.extra.iter().any(|(name, _)| name.as_str() == "start_positions") {
        let loss = Tensor { range: None, role: None, ..scores }.with_shape(Vec::new(), cx.at());
        attrs.push(("loss", cx.out(loss)));
    }
    open_output(cx, attrs)
}

/// Generated token ids, of unknown length.
fn generate(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.open
        || b.extra.iter().any(|(name, _)| matches!(name.as_str(), "return_dict_in_generate" | "generation_config"))
    {
        return Value::Unknown;
    }
    let ids = cx.tensor_arg(b, "input_ids").or_else(|| cx.tensor_arg(b, "inputs")).unwrap_or_default();
    let at = cx.at();
    let out = Tensor { device: ids.device, device_at: ids.device_at, ..Tensor::default() };
    cx.out(out.with_shape(vec![Size::Unknown, Size::Unknown], at).with_dtype(Some(Dtype::Int64), at))
}

/// The values of all fields; unknown if the model may return further fields.
fn all_fields(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let output = b.get("self");
    match known_tuple(cx, &output, NAMES) {
        Value::Unknown | Value::Open(_) => Value::Unknown,
        _ => known_tuple(cx, &output, FIELDS),
    }
}

fn known_tuple(cx: &mut Cx<'_, '_>, object: &Value, name: &str) -> Value {
    let values = cx.attr(object, name);
    if cx.items(&values).is_some() { values } else { Value::Unknown }
}

/// Looks ids up in a table with as many rows as the configuration says, so that the contract of
/// embeddings checks them.
fn look_up(cx: &mut Cx<'_, '_>, model: &Value, ids: &Value, rows: &str) {
    let (at, span) = (cx.at(), cx.span);
    let (config, body) = (cx.attr(model, "config"), cx.attr(model, "_body"));
    let weight = cx.attr(&body, "weight");
    let (Some(weight), Some(rows)) = (cx.tensor(&weight), cx.attr(&config, rows).as_size()) else { return };
    if cx.tensor(ids).is_none() {
        return;
    }
    let hidden = cx.attr(&config, "hidden_size").as_size().unwrap_or(Size::Unknown);
    let shape = Some(vec![Dim::new(rows, at), Dim::new(hidden, at)]);
    let table = cx.out(Tensor { shape, range: None, role: None, base: None, data: None, ..weight });
    cx.call(&Value::path("torch.nn.functional.embedding"), Args::positional([ids.clone(), table], span));
}

/// Looks the tokens up, and checks that there are enough positions for them.
fn embed(cx: &mut Cx<'_, '_>, model: &Value, ids: &Value) {
    let Some(tokens) = cx.tensor(ids) else { return };
    look_up(cx, model, ids, "vocab_size");
    let config = cx.attr(model, "config");
    let positions = cx.attr(&config, "max_position_embeddings").as_int();
    let family = cx.attr(&config, "_family");
    let padding = family.as_str().and_then(|family| TRANSFORMERS.families.get(family)?.padding_positions);
    let usable = positions.zip(padding).map(|(all, padding)| all.saturating_sub(padding));
    if let (Some(usable), Some([_, length])) = (usable, tokens.shape.as_deref())
        && let Some(asked) = length.size.known().filter(|n| *n > usable)
    {
        let message = format!("the sequences are {asked} tokens long, but the model has positions for {usable}");
        cx.reject(RejectKind::Shape, message, vec![(format!("length {asked} is set here"), length.at)]);
    }
}

/// The loss that a model computes itself. It is modelled as a call of the loss function, so that
/// contracts check the labels.
fn loss_of(cx: &mut Cx<'_, '_>, model: &Value, logits: &Tensor, labels: &Value) -> Value {
    let (at, span) = (cx.at(), cx.span);
    let scalar = Tensor {
        shape: Some(Vec::new()),
        shape_at: at,
        range: None,
        role: None,
        base: None,
        data: None,
        ..logits.clone()
    };
    let Some(target) = cx.tensor(labels) else {
        return if labels.is_unknown() { Value::Unknown } else { cx.out(scalar) };
    };
    let classes = logits.shape.as_ref().and_then(|s| s.last().cloned());
    let integral = target.dtype == Some(Dtype::Int64) || target.dtype == Some(Dtype::Int32);
    let task = cx.attr(model, "_task");
    let config = cx.attr(model, "config");
    let guessed = config.as_obj().and_then(|id| cx.it.heap.attr(id, "problem_type")).is_none_or(|p| p.is_none());
    let by_class = match task.as_str() {
        // With one class the model uses a regression loss; with floating-point labels, a
        // multi-label loss.
        Some("ForSequenceClassification") => {
            integral && guessed && classes.as_ref().is_some_and(|c| c.size.known().is_some_and(|n| n > 1))
        }
        Some("ForTokenClassification" | "ForMaskedLM") => true,
        // Language models shift the labels by one position, which does not change their range.
        Some("ForCausalLM" | "LMHeadModel") => true,
        _ => false,
    };
    let Some(classes) = classes.filter(|_| by_class) else { return cx.out(scalar) };
    // The loss reshapes the logits to rows of `num_labels` values. If a replaced classifier has
    // another number of outputs, the loss is not checked.
    let labels_told = cx.attr(model, "num_labels").as_int();
    if task.as_str().is_some_and(|t| t.ends_with("Classification")) && labels_told != classes.size.known() {
        return cx.out(scalar);
    }
    let rows = target.numel();
    let mut flat = Tensor { base: None, data: None, ..logits.clone() };
    flat.shape = Some(vec![Dim::new(rows.clone(), at), classes]);
    let mut target = Tensor { base: None, ..target };
    if matches!(task.as_str(), Some("ForCausalLM" | "LMHeadModel")) {
        target.range = target.range.map(part_of);
    }
    target.shape = Some(vec![Dim::new(rows, at)]);
    let (flat, target) = (cx.out(flat), cx.out(target));
    let args = Args::positional([flat, target], span);
    let loss = cx.call(&Value::path("torch.nn.functional.cross_entropy"), args);
    if cx.tensor(&loss).is_some() { loss } else { cx.out(scalar) }
}

/// Updates the last dimension of the output, if the model has a classifier layer that a script can
/// replace, or if the script has resized the vocabulary.
fn last_dimension(cx: &mut Cx<'_, '_>, model: &Value, out: &mut Tensor) {
    let Some(id) = model.as_obj() else { return };
    let replaced = cx.it.heap.attr(id, "classifier");
    let resized = cx.it.heap.attr(id, "_resized").is_some();
    let size = match (replaced, resized) {
        (Some(classifier), _) => cx.attr(&classifier, "out_features").as_size().unwrap_or(Size::Unknown),
        (None, true) => match cx.attr(model, "_task").as_str() {
            Some("ForSequenceClassification" | "ForTokenClassification" | "Model") => return,
            _ => Size::Unknown,
        },
        (None, false) => return,
    };
    let at = cx.at();
    if let Some(last) = out.shape.as_mut().and_then(|s| s.last_mut())
        && last.size != size
    {
        *last = Dim::new(size, at);
    }
}

fn open_output(cx: &mut Cx<'_, '_>, attrs: Vec<(&str, Value)>) -> Value {
    let out = instance(cx, OUTPUT, attrs);
    if let Some(instance) = out.as_obj().and_then(|id| cx.it.heap.instance_mut(id)) {
        instance.open = true;
    }
    out
}

/// `outputs[0]`, `outputs["logits"]`.
fn get_item(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (object, index) = (b.get("self"), b.get("index"));
    if let Some(name) = index.as_str() {
        return cx.attr(&object, name);
    }
    let fields = cx.items(&cx.attr(&object, FIELDS));
    let at = index.as_int().and_then(|n| usize::try_from(n).ok());
    match (fields, at) {
        (Some(fields), Some(at)) => fields.get(at).cloned().unwrap_or(Value::Unknown),
        _ => Value::Unknown,
    }
}
