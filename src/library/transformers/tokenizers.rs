//! Tokenizers: convert texts to batches of token ids.

use super::checkpoints;
use super::config::families;
use crate::library::common::instance;
use crate::library::data::TOKENIZERS;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Data, Device, Dict, Dim, Dtype, Grad, Items, Key, Past, Range, Size, Tensor, Type, Value};

const TOKENIZER: &str = "transformers.PreTrainedTokenizer";
const FAMILY: &str = "_family";
const CALL: &str = "transformers.PreTrainedTokenizer.__call__";
const SIG: &str = "self, text=None, text_pair=None, text_target=None, text_pair_target=None, add_special_tokens=True, \
                   padding=False, truncation=None, max_length=None, stride=0, is_split_into_words=False, \
                   pad_to_multiple_of=None, padding_side=None, return_tensors=None, return_token_type_ids=None, \
                   return_attention_mask=None, return_overflowing_tokens=False, return_special_tokens_mask=False, \
                   return_offsets_mapping=False, return_length=False, verbose=True, pad_to_max_length=False, **kwargs";

pub(crate) fn register(t: &mut Table) {
    let class = t.class(TOKENIZER, &[], "*args, **kwargs");
    class.keeps_arguments = false;
    class.invoke = Some(|cx, object, args: Args| {
        let span = cx.span;
        Some(cx.call(&Value::path(CALL), args.prepend(crate::python::Arg::new(object.clone(), span))))
    });
    for family in families() {
        for suffix in ["Tokenizer", "TokenizerFast"] {
            t.def(
                &format!("transformers.{family}{suffix}.from_pretrained"),
                "pretrained_model_name_or_path, *args, **kwargs",
                load,
            );
        }
    }
    t.def(CALL, SIG, tokenize);
    t.family("transformers.PreTrainedTokenizer.", "encode_plus batch_encode_plus", SIG, tokenize);
    t.def("transformers.PreTrainedTokenizer.encode", SIG, |cx, b| {
        let batch = tokenize(cx, b);
        let ids = cx.it.heap.dict_of(&batch).and_then(|d| d.entries.get(&Key::Str("input_ids".into())).cloned());
        ids.unwrap_or(Value::Unknown)
    });
    t.def("transformers.PreTrainedTokenizer.__len__", "self", |cx, b| cx.attr(&b.get("self"), "_length"));
    t.family(
        "transformers.PreTrainedTokenizer.",
        "decode convert_tokens_to_string",
        "self, *args, **kwargs",
        |_, _| Value::Any(Type::Str),
    );
    t.family(
        "transformers.PreTrainedTokenizer.",
        "batch_decode tokenize convert_ids_to_tokens",
        "self, *args, **kwargs",
        crate::library::common::list_of_str,
    );
    t.def("transformers.PreTrainedTokenizer.add_tokens", "self, new_tokens, *args, **kwargs", |cx, b| {
        let tokens = b.get("new_tokens");
        grow(cx, &b.get("self"), &[tokens])
    });
    t.def(
        "transformers.PreTrainedTokenizer.add_special_tokens",
        "self, special_tokens_dict, *args, **kwargs",
        |cx, b| {
            let tokens = match cx.it.heap.dict_of(&b.get("special_tokens_dict")) {
                Some(dict) if dict.open.is_none() => dict.entries.values().cloned().collect(),
                _ => vec![Value::Unknown],
            };
            if let Some(id) = b.get("self").as_obj() {
                cx.it.heap.set_attr(id, "pad_token_id", Value::Unknown);
            }
            grow(cx, &b.get("self"), &tokens)
        },
    );
    t.family(
        "transformers.PreTrainedTokenizer.",
        "save_pretrained",
        "self, *args, **kwargs",
        crate::library::common::unknown,
    );
}

/// Whether a token in brackets is certainly not in the vocabulary of a family.
fn is_new(family: Option<&str>, token: &str) -> bool {
    let Some(known) = family.and_then(|family| TOKENIZERS.get(family)) else { return false };
    let within = known.brackets.iter().any(|pair| {
        let (open, close) = (pair.chars().next(), pair.chars().next_back());
        token.len() > 2 && token.chars().next() == open && token.chars().next_back() == close
    });
    let own = known.special.iter().any(|special| special == token)
        || known.reserved.iter().any(|reserved| token.starts_with(reserved));
    within && !own
}

/// Adds tokens to the vocabulary.
fn grow(cx: &mut Cx<'_, '_>, tokenizer: &Value, tokens: &[Value]) -> Value {
    let mut names = Vec::new();
    for value in tokens {
        match cx.items(value) {
            Some(items) => names.extend(items),
            None => names.push(value.clone()),
        }
    }
    let Some(id) = tokenizer.as_obj() else { return Value::Any(Type::Int) };
    let family = cx.attr(tokenizer, FAMILY);
    let fresh = names.iter().all(|name| name.as_str().is_some_and(|name| is_new(family.as_str(), name)));
    let added = i64::try_from(names.len()).ok().filter(|_| fresh);
    let length = cx.attr(tokenizer, "_length").as_int().zip(added).map(|(n, more)| n.saturating_add(more));
    cx.it.heap.set_attr(id, "_length", length.map_or(Value::Any(Type::Int), Value::Int));
    cx.it.heap.set_attr(id, "_top", length.map_or(Value::Unknown, Value::Int));
    cx.it.heap.set_attr(id, "_grown", Value::Bool(length.is_some()));
    // The number of tokens is stored in a tensor, which also keeps the place that determined the
    // number.
    let past = Past { vocabulary: length.map(|n| (n, cx.span)), ..Past::default() };
    let mark = cx.out(Tensor { past, ..Tensor::default() });
    cx.it.heap.set_attr(id, "_added", mark);
    added.map_or(Value::Any(Type::Int), Value::Int)
}

fn load(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = b.get("pretrained_model_name_or_path");
    let known = name.as_str().and_then(checkpoints::find);
    let family = known.map(|known| known.family.as_str());
    let kind = family.and_then(|family| TOKENIZERS.get(family));
    let exact = known.filter(|_| !kind.is_some_and(|kind| kind.spare_rows));
    let size = exact.map_or(Value::Any(Type::Int), |k| Value::Int(k.vocabulary));
    let mut attrs = vec![
        ("vocab_size", size.clone()),
        ("_length", size),
        (FAMILY, family.map_or(Value::Unknown, Value::str)),
        ("_top", known.map_or(Value::Unknown, |k| Value::Int(k.vocabulary))),
        ("_segments", known.map_or(Value::Unknown, |_| Value::Bool(kind.is_some_and(|kind| kind.pairs)))),
    ];
    if let Some(known) = known {
        attrs.push(("pad_token_id", known.pad.map_or(Value::Unknown, Value::Int)));
    }
    let tokenizer = instance(cx, TOKENIZER, attrs);
    if let Some(instance) = tokenizer.as_obj().and_then(|id| cx.it.heap.instance_mut(id)) {
        instance.open = true;
    }
    // Keyword arguments such as `pad_token` name special tokens. These tokens are added if the
    // vocabulary does not contain them.
    let named = |name: &str| name.ends_with("_token") || name == "additional_special_tokens";
    let without_pad = known.is_some_and(|known| known.pad.is_none());
    let own = |token: &str| kind.is_some_and(|kind| kind.special.iter().any(|special| special == token));
    let has = |token: &Value| token.is_none() || without_pad && token.as_str().is_some_and(own);
    let given = b.extra.iter().filter(|(name, arg)| named(name.as_str()) && !has(&arg.value));
    let tokens: Vec<Value> = given.map(|(_, arg)| arg.value.clone()).collect();
    if !tokens.is_empty() {
        if let Some(id) = tokenizer.as_obj() {
            cx.it.heap.set_attr(id, "pad_token_id", Value::Unknown);
        }
        grow(cx, &tokenizer, &tokens);
    }
    tokenizer
}

/// The number of texts.
fn rows(cx: &mut Cx<'_, '_>, text: &Value) -> Dim {
    let at = cx.at();
    match text {
        Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => Dim::new(Size::Int(1), at),
        Value::Tuple(items) => Dim::new(i64::try_from(items.len()).map_or(Size::Unknown, Size::Int), at),
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::List(Items::Exact(items)) => {
                Dim::new(i64::try_from(items.len()).map_or(Size::Unknown, Size::Int), at)
            }
            Data::List(Items::Many(_)) => cx.fresh_dim("B"),
            _ => Dim::UNKNOWN,
        },
        _ => Dim::UNKNOWN,
    }
}

fn tokenize(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let tokenizer = b.get("self");
    let text = b.get("text");
    let mut dict = Dict::default();
    // These arguments add more entries to the result.
    let plain = ["return_overflowing_tokens", "return_special_tokens_mask", "return_offsets_mapping", "return_length"]
        .iter()
        .all(|n| b.get(n).as_bool() == Some(false));
    if b.open || !plain || !b.get("text_target").is_none() || !b.extra.is_empty() {
        dict.open = Some(Value::Unknown);
    }
    let segments = match b.get("return_token_type_ids") {
        Value::None => cx.attr(&tokenizer, "_segments").as_bool(),
        given => given.as_bool(),
    };
    if segments.is_none() {
        dict.open = Some(Value::Unknown);
    }
    let mut names = vec!["input_ids"];
    if segments == Some(true) {
        names.push("token_type_ids");
    }
    if matches!(b.get("return_attention_mask"), Value::None | Value::Bool(true)) {
        names.push("attention_mask");
    }
    // Tokens that the script adds are assumed to occur in some text.
    let attained = cx.attr(&tokenizer, "_grown").as_bool() == Some(true);
    // If the family distinguishes segments, the second text is segment 1.
    let paired = match b.get("text_pair") {
        Value::None => Some(false),
        Value::Str(_) | Value::Obj(_) => Some(true),
        _ => None,
    };
    let told_apart = cx.attr(&tokenizer, "_segments").as_bool();
    let tensors = b.get("return_tensors").as_str() == Some("pt");
    // With `return_overflowing_tokens`, a long text is split into several rows.
    let rows = if b.get("return_overflowing_tokens").as_bool() == Some(false) { rows(cx, &text) } else { Dim::UNKNOWN };
    let full = b.get("padding").as_str() == Some("max_length") || b.get("pad_to_max_length").as_bool() == Some(true);
    let cut = matches!(b.get("truncation"), Value::Bool(true)) || b.get("truncation").as_str() == Some("longest_first");
    let length = match b.get("max_length") {
        given if full && cut => match given.as_int() {
            Some(n) => Dim::new(Size::Int(n), at),
            None => cx.fresh_dim("T"),
        },
        _ => cx.fresh_dim("T"),
    };
    for name in names {
        let most = match name {
            #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
            "input_ids" => cx.attr(&tokenizer, "_top").as_int().map(|n| n as f64 - 1.0),
            _ => Some(1.0),
        };
        let value = if tensors {
            let mut out = Tensor { grad: Grad::Off, ..Tensor::default() }
                .with_dtype(Some(Dtype::Int64), at)
                .with_device(Some(Device::CPU), at)
                .with_range(
                    match (name, paired, told_apart) {
                        ("token_type_ids", Some(true), Some(true)) => Range::of_values(&[0.0, 1.0]),
                        ("token_type_ids", Some(false), _) | ("token_type_ids", _, Some(false)) => {
                            Range::of_values(&[0.0])
                        }
                        ("input_ids", ..) if attained => most.map(|m| Range::attained(0.0, m)),
                        _ => most.map(|m| Range::bounds(0.0, m)),
                    },
                    at,
                );
            if name == "input_ids" {
                out.past = cx.tensor(&cx.attr(&tokenizer, "_added")).map(|t| t.past).unwrap_or_default();
            }
            out.shape = Some(vec![rows.clone(), length.clone()]);
            out.shape_at = at;
            cx.out(out)
        } else {
            match b.get("return_tensors") {
                Value::None if !b.open => {
                    let one = cx.list_of(Value::Any(Type::Int));
                    match &text {
                        Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => one,
                        Value::Unknown | Value::Open(_) => Value::Unknown,
                        _ => cx.list_of(one),
                    }
                }
                _ => Value::Unknown,
            }
        };
        dict.entries.insert(Key::Str(name.into()), value);
    }
    cx.it.heap.dict(dict)
}
