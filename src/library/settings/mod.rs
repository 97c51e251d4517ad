//! Settings that scripts read from files of the project: YAML, JSON, OmegaConf, Hydra.
//!
//! The default run uses the values in the file. If a file is missing, too large or malformed, its
//! settings are unknown.

mod document;
pub(super) mod files;
pub(super) mod hydra;
pub(super) mod omegaconf;

use self::document::{Dialect, Node};
use super::common::any_str;
use super::{Cx, Table};
use crate::python::{Bound, Rejection, missing_argument};
use crate::value::{Dict, Key, Value};

pub(super) fn register(t: &mut Table) {
    t.family("yaml.", "safe_load full_load unsafe_load", "stream", load_yaml);
    t.def("yaml.load", "stream, Loader=None", |cx, b| {
        if !b.given("Loader") && !b.open && !cx.it.excludes("pyyaml", "6") && !cx.it.may_be_fallback() {
            let rejection = cx.it.rejection_of(missing_argument("yaml.load", "Loader"), cx.span);
            cx.it.suspect(Rejection { assumed: Some("with PyYAML 6 or newer"), of_python: false, ..rejection });
        }
        load_yaml(cx, b)
    });
    t.family("yaml.", "dump safe_dump", "data, stream=None, *args, **kwargs", any_str);
    t.family("json.", "load loads", "fp, *, strict=True", load_json);
    // Dictionaries whose keys are also attributes. torchvet models this for every dictionary.
    for class in [
        "easydict.EasyDict",
        "munch.Munch",
        "box.Box",
        "addict.Dict",
        "attrdict.AttrDict",
        "dotmap.DotMap",
        "ml_collections.ConfigDict",
        "ml_collections.config_dict.ConfigDict",
        "yacs.config.CfgNode",
    ] {
        t.alias(class, "builtins.dict");
    }
    t.family("munch.", "munchify Munch.fromDict", "x", super::common::first);
}

fn load_yaml(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    // A custom loader may interpret the text in another way.
    let own = b.given("Loader") && b.get("Loader").as_path().is_none_or(|path| !path.starts_with("yaml."));
    let text = files::text_of(cx, &b.get("stream")).filter(|_| !own);
    loaded(cx, text.and_then(|text| document::yaml(&text, Dialect::PyYaml)))
}

fn load_json(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let text = files::text_of(cx, &b.get("fp")).filter(|_| !b.open);
    loaded(cx, text.and_then(|text| document::json(&text)))
}

fn loaded(cx: &mut Cx<'_, '_>, tree: Option<Node>) -> Value {
    tree.map_or(Value::Unknown, |tree| value(cx, &tree))
}

/// A tree as new Python dictionaries and lists.
fn value(cx: &mut Cx<'_, '_>, node: &Node) -> Value {
    match node {
        Node::Unknown => Value::Unknown,
        Node::Null => Value::None,
        Node::Bool(b) => Value::Bool(*b),
        Node::Int(n) => Value::Int(*n),
        Node::Float(x) => Value::Float(*x),
        Node::Text(text) => Value::str(text),
        Node::List(items) => {
            let items = items.iter().map(|item| value(cx, item)).collect();
            cx.list(items)
        }
        Node::Map(entries) => {
            let mut dict = Dict::default();
            for (key, node) in entries {
                let (key, node) = (value(cx, key), value(cx, node));
                match Key::of(&key) {
                    Some(key) => _ = dict.entries.insert(key, node),
                    None => dict.open = Some(Value::Unknown),
                }
            }
            cx.it.heap.dict(dict)
        }
    }
}
