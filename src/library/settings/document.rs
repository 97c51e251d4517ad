//! The texts of settings files as trees: JSON, and YAML as PyYAML or OmegaConf reads it.
//!
//! PyYAML has its own variant of YAML 1.1: `1e-3` is a string, `yes` is true and `010` is eight.
//! OmegaConf uses the same reader, except for floating-point numbers.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Parser, ScalarStyle};

/// The largest number of nodes of a document, with its aliases expanded.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 48;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Unknown,
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    /// Entries in order; a repeated key replaces the earlier entry.
    Map(Vec<(Node, Node)>),
}

/// The library that reads the YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    PyYaml,
    OmegaConf,
}

impl Node {
    /// The entry whose key is this string.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let Node::Map(entries) = self else { return None };
        entries.iter().find(|(k, _)| matches!(k, Node::Text(text) if text == key)).map(|(_, node)| node)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Sets an entry.
    pub(crate) fn set(&mut self, key: Node, node: Node) {
        let Node::Map(entries) = self else { return };
        match entries.iter_mut().find(|(have, _)| *have == key) {
            Some((_, have)) => *have = node,
            None => entries.push((key, node)),
        }
    }

    /// Merges another tree into this one: maps key by key; other nodes are replaced.
    pub(crate) fn merge(&mut self, over: Node) {
        let Node::Map(entries) = over else {
            *self = over;
            return;
        };
        if !matches!(self, Node::Map(_)) {
            *self = Node::Map(Vec::new());
        }
        for (key, node) in entries {
            let Node::Map(have) = self else { return };
            match have.iter_mut().find(|(k, _)| *k == key) {
                Some((_, below)) => below.merge(node),
                None => have.push((key, node)),
            }
        }
    }

    fn size(&self) -> usize {
        match self {
            Node::List(items) => items.iter().map(Node::size).sum::<usize>() + 1,
            Node::Map(entries) => entries.iter().map(|(k, v)| k.size() + v.size()).sum::<usize>() + 1,
            _ => 1,
        }
    }
}

/// The tree of a JSON text; `None` if the text is malformed or too large.
pub(super) fn json(text: &str) -> Option<Node> {
    fn node(value: &serde_json::Value) -> Node {
        match value {
            serde_json::Value::Null => Node::Null,
            serde_json::Value::Bool(b) => Node::Bool(*b),
            serde_json::Value::Number(n) => match (n.as_i64(), n.as_f64()) {
                (Some(n), _) => Node::Int(n),
                (None, Some(x)) if n.is_f64() => Node::Float(x),
                _ => Node::Unknown,
            },
            serde_json::Value::String(text) => Node::Text(text.clone()),
            serde_json::Value::Array(items) => Node::List(items.iter().map(node).collect()),
            serde_json::Value::Object(entries) => {
                Node::Map(entries.iter().map(|(key, value)| (Node::Text(key.clone()), node(value))).collect())
            }
        }
    }
    let tree = node(&serde_json::from_str(text).ok()?);
    (tree.size() <= MAX_NODES).then_some(tree)
}

/// A list or map that is being read.
struct Open {
    node: Node,
    /// For a map: the key of the next value.
    key: Option<Node>,
    anchor: usize,
    /// The maps that `<<` merges into this map, whose own entries take precedence.
    merged: Vec<Node>,
}

/// The tree of a YAML text with one document; `None` if it is malformed or too large, or contains a
/// list or map with a tag.
pub(super) fn yaml(text: &str, dialect: Dialect) -> Option<Node> {
    // PyYAML rejects tabs that this parser accepts.
    if text.lines().any(|line| line.trim_start_matches(' ').starts_with('\t')) {
        return None;
    }
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: FxHashMap<usize, Node> = FxHashMap::default();
    let mut document = None;
    let mut nodes = 0;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.ok()?;
        let (done, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let node = match tag {
                    None if plain => scalar(&text, dialect),
                    None => Node::Text(text.into_owned()),
                    Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Node::Text(text.into_owned()),
                    Some(_) => Node::Unknown,
                };
                (node, anchor)
            }
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) if tag.is_some() => {
                // A list or map with a tag, such as a Python object. Documents with such tags are
                // not modelled.
                let _ = (anchor, tag);
                return None;
            }
            Event::SequenceStart(anchor, _) => {
                open.push(Open { node: Node::List(Vec::new()), key: None, anchor, merged: Vec::new() });
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push(Open { node: Node::Map(Vec::new()), key: None, anchor, merged: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Open { mut node, anchor, merged, .. } = open.pop()?;
                for below in merged {
                    let maps = match below {
                        Node::List(maps) => maps,
                        map => vec![map],
                    };
                    for (key, value) in maps.into_iter().filter_map(entries).flatten() {
                        if let Node::Map(own) = &mut node
                            && !own.iter().any(|(have, _)| *have == key)
                        {
                            own.push((key, value));
                        }
                    }
                }
                (node, anchor)
            }
            Event::Alias(anchor) => {
                let node = anchors.get(&anchor)?.clone();
                nodes += node.size();
                (node, 0)
            }
            _ => continue,
        };
        nodes += 1;
        if nodes > MAX_NODES || open.len() > MAX_DEPTH {
            return None;
        }
        if anchor > 0 {
            anchors.insert(anchor, done.clone());
        }
        match open.last_mut() {
            None if document.is_some() => return None,
            None => document = Some(done),
            Some(Open { node: Node::List(items), .. }) => items.push(done),
            Some(parent) => match parent.key.take() {
                None => parent.key = Some(done),
                Some(Node::Text(key)) if key == "<<" => parent.merged.push(done),
                Some(key) => parent.node.set(key, done),
            },
        }
    }
    Some(document.unwrap_or(Node::Null))
}

fn entries(node: Node) -> Option<Vec<(Node, Node)>> {
    match node {
        Node::Map(entries) => Some(entries),
        _ => None,
    }
}

/// The value of a plain scalar.
fn scalar(text: &str, dialect: Dialect) -> Node {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Node::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Node::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => return Node::Bool(false),
        _ => {}
    }
    if let Some(node) = number(text, dialect) {
        return node;
    }
    // Dates, and numbers in base 60, are not modelled.
    let digits = text.trim_start_matches(['-', '+']).chars().take_while(char::is_ascii_digit).count();
    let rest = text.trim_start_matches(['-', '+']).get(digits..).unwrap_or_default();
    if digits == 4 && rest.starts_with('-') || digits > 0 && rest.starts_with(':') {
        return Node::Unknown;
    }
    Node::Text(text.to_owned())
}

fn number(text: &str, dialect: Dialect) -> Option<Node> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let known = |n: Option<i64>| Some(n.map_or(Node::Unknown, |n| Node::Int(sign * n)));
    match digits {
        ".inf" | ".Inf" | ".INF" => return Some(Node::Float(f64::INFINITY * f64::from(i32::try_from(sign).ok()?))),
        ".nan" | ".NaN" | ".NAN" if digits == text => return Some(Node::Float(f64::NAN)),
        _ => {}
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let plain: Cow<'_, str> = digits.replace('_', "").into();
    let radix = |prefix: &str, radix: u32| {
        let rest = plain.strip_prefix(prefix)?;
        (!rest.is_empty() && rest.chars().all(|c| c.is_digit(radix))).then(|| i64::from_str_radix(rest, radix).ok())
    };
    if let Some(n) = radix("0b", 2).or_else(|| radix("0x", 16)) {
        return known(n);
    }
    if plain.chars().all(|c| c.is_ascii_digit()) {
        if plain.len() > 1 && plain.starts_with('0') {
            // A leading 0 means octal. With a leading 0 and a digit 8 or 9, the text is a string.
            return radix("0", 8).and_then(known);
        }
        return known(plain.parse().ok());
    }
    float(&plain, dialect).then(|| plain.parse().ok())?.map(|x: f64| Node::Float(x * if sign < 0 { -1.0 } else { 1.0 }))
}

/// Whether the library reads this unsigned number as a floating-point number.
fn float(text: &str, dialect: Dialect) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |s: &str| s.chars().all(|c| c.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        let rest = exponent.strip_prefix(['-', '+']);
        let signed = rest.is_some();
        let rest = rest.unwrap_or(exponent);
        !rest.is_empty() && digits(rest) && (signed || dialect == Dialect::OmegaConf)
    });
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, part)) => digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()),
        None => dialect == Dialect::OmegaConf && exponent.is_some() && !mantissa.is_empty() && digits(mantissa),
    };
    exponent_fits && mantissa_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, dialect: Dialect) -> Node {
        yaml(&format!("a: {text}"), dialect).and_then(|tree| tree.get("a").cloned()).unwrap_or(Node::Unknown)
    }

    /// The expected values come from PyYAML 6.0 and OmegaConf 2.3.
    #[test]
    fn scalars_are_what_their_readers_say() {
        let text = |s: &str| Node::Text(s.to_owned());
        let cases = [
            ("1e-3", text("1e-3"), Node::Float(0.001)),
            ("1.0e3", text("1.0e3"), Node::Float(1000.0)),
            ("1.0e+3", Node::Float(1000.0), Node::Float(1000.0)),
            ("1e5", text("1e5"), Node::Float(100_000.0)),
            ("yes", Node::Bool(true), Node::Bool(true)),
            ("y", text("y"), text("y")),
            ("010", Node::Int(8), Node::Int(8)),
            ("0o14", text("0o14"), text("0o14")),
            ("0x1F", Node::Int(31), Node::Int(31)),
            ("1_000", Node::Int(1000), Node::Int(1000)),
            ("+12", Node::Int(12), Node::Int(12)),
            (".5", Node::Float(0.5), Node::Float(0.5)),
            ("1.", Node::Float(1.0), Node::Float(1.0)),
            ("-.inf", Node::Float(f64::NEG_INFINITY), Node::Float(f64::NEG_INFINITY)),
            ("\"5\"", text("5"), text("5")),
            ("~", Node::Null, Node::Null),
            ("2020-01-01", Node::Unknown, Node::Unknown),
            ("1:30", Node::Unknown, Node::Unknown),
        ];
        for (source, plain, omega) in cases {
            assert_eq!(one(source, Dialect::PyYaml), plain, "{source}");
            assert_eq!(one(source, Dialect::OmegaConf), omega, "{source}");
        }
    }

    #[test]
    fn aliases_are_written_out_and_merged() {
        let tree = yaml("a: &x {q: 1, r: 2}\nb: {<<: *x, q: 3}\nc: *x\n", Dialect::PyYaml).unwrap();
        let of = |name: &str, key: &str| tree.get(name).and_then(|n| n.get(key)).cloned();
        assert_eq!(of("b", "q"), Some(Node::Int(3)));
        assert_eq!(of("b", "r"), Some(Node::Int(2)));
        assert_eq!(of("c", "q"), Some(Node::Int(1)));
    }

    #[test]
    fn what_is_malformed_or_endless_is_unknown() {
        for text in ["a: [1, 2", "a: b: c", "\ta: 1", "a: 1\n---\nb: 2", "a: !!python/tuple [1]", "*x"] {
            assert_eq!(yaml(text, Dialect::PyYaml), None, "{text}");
        }
        let mut laughs = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8]\n".to_owned();
        for i in 1..12 {
            let inner = format!("*a{}", i - 1);
            laughs += &format!("a{i}: &a{i} [{}]\n", vec![inner; 8].join(", "));
        }
        assert_eq!(yaml(&laughs, Dialect::PyYaml), None);
        assert_eq!(yaml(&"[".repeat(10_000), Dialect::PyYaml), None);
        assert_eq!(json("{\"a\": 01}"), None);
        assert_eq!(yaml("", Dialect::PyYaml), Some(Node::Null));
    }

    #[test]
    fn maps_are_laid_over_each_other() {
        let mut tree = yaml("a: {b: 1, c: [1, 2]}\n", Dialect::PyYaml).unwrap();
        tree.merge(yaml("a: {c: [3], d: 4}\n", Dialect::PyYaml).unwrap());
        assert_eq!(tree, yaml("a: {b: 1, c: [3], d: 4}\n", Dialect::PyYaml).unwrap());
    }
}
