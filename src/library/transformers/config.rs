//! Configurations: the sizes of a model, from its checkpoint or from the script.

use super::checkpoints;
use crate::library::common::instance;
use crate::library::data::TRANSFORMERS;
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Data, Value};

pub(crate) const CONFIG: &str = "transformers.PretrainedConfig";

/// The names of families, which are prefixes of class names; for `Auto`, the checkpoint determines
/// the family.
pub(crate) fn families() -> impl Iterator<Item = &'static str> {
    std::iter::once("Auto").chain(TRANSFORMERS.families.keys().map(String::as_str))
}

pub(crate) fn register(t: &mut Table) {
    t.class(CONFIG, &[], "**kwargs").keeps_arguments = false;
    for family in families() {
        let path = format!("transformers.{family}Config");
        t.def(&format!("{path}.from_pretrained"), "pretrained_model_name_or_path, **kwargs", |cx, b| {
            let name = b.get("pretrained_model_name_or_path");
            of_checkpoint(cx, &name, b)
        });
        if family != "Auto" {
            t.def(&path, "**kwargs", new);
        }
    }
}

/// Sets the keyword arguments as attributes of the configuration.
fn with_arguments(cx: &mut Cx<'_, '_>, config: &Value, b: &Bound) {
    let Some(id) = config.as_obj() else { return };
    for (name, arg) in &b.extra {
        cx.it.heap.set_attr(id, name.as_str(), arg.value.clone());
    }
    // `id2label` determines the number of labels.
    let labels = b.extra.iter().find(|(k, _)| k.as_str() == "id2label").map(|(_, a)| a.value.clone());
    if let Some(labels) = labels {
        let count = match labels.as_obj().map(|id| cx.it.heap.get(id)) {
            Some(Data::Dict(dict)) if dict.open.is_none() => crate::library::common::length_of(dict.entries.len()),
            _ => Value::Unknown,
        };
        cx.it.heap.set_attr(id, "num_labels", count);
    }
    if b.open {
        for name in ["num_labels", "vocab_size", "hidden_size", "max_position_embeddings"] {
            cx.it.heap.set_attr(id, name, Value::Unknown);
        }
    }
    if let Some(instance) = cx.it.heap.instance_mut(id) {
        instance.open = true;
    }
}

/// The configuration of a checkpoint, changed by the keyword arguments.
pub(crate) fn of_checkpoint(cx: &mut Cx<'_, '_>, name: &Value, b: &Bound) -> Value {
    let known = name.as_str().and_then(checkpoints::find);
    let mut attrs = Vec::new();
    if let Some(known) = known {
        attrs.push(("vocab_size", Value::Int(known.vocabulary)));
        attrs.push(("hidden_size", Value::Int(known.hidden)));
        attrs.push(("pad_token_id", known.pad.map_or(Value::None, Value::Int)));
        attrs.push(("num_labels", Value::Int(2)));
        if let Some(positions) = known.positions {
            attrs.push(("max_position_embeddings", Value::Int(positions)));
        }
    }
    let family = known.map(|known| known.family.as_str());
    if let Some(segments) = family.and_then(|family| TRANSFORMERS.families.get(family)?.segments) {
        attrs.push(("type_vocab_size", Value::Int(segments)));
    }
    attrs.push(("_family", family.map_or(Value::Unknown, Value::str)));
    let config = instance(cx, CONFIG, attrs);
    with_arguments(cx, &config, b);
    config
}

/// `BertConfig(…)`, with those defaults that all versions share.
fn new(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let family = cx.name().trim_end_matches("Config");
    let defaults = TRANSFORMERS.families.get(family).and_then(|family| family.defaults.as_ref());
    let mut attrs = vec![("num_labels", Value::Int(2)), ("_family", Value::str(family))];
    if let Some(sizes) = defaults {
        let sizes = [sizes.vocabulary, sizes.hidden, sizes.positions].map(Value::Int);
        attrs.extend(["vocab_size", "hidden_size", "max_position_embeddings"].into_iter().zip(sizes));
    }
    let config = instance(cx, CONFIG, attrs);
    with_arguments(cx, &config, b);
    // Some families have other names for these arguments.
    let renamed = |new: &str| b.extra.iter().find(|(k, _)| k.as_str() == new).map(|(_, a)| a.value.clone());
    if let Some(id) = config.as_obj() {
        for (new, old) in
            [("n_embd", "hidden_size"), ("dim", "hidden_size"), ("n_positions", "max_position_embeddings")]
        {
            if let Some(value) = renamed(new) {
                cx.it.heap.set_attr(id, old, value);
            }
        }
    }
    config
}
