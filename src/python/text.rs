//! Strings: f-strings, conversions to strings, slices and methods.

use super::Args;
use super::containers::{int, slice_of};
use super::interp::Interp;
use super::library::Event;
use crate::syntax::ast::{self, FStringPart, FStringValue, InterpolatedStringElement};
use crate::value::{Data, Items, Type, Value, sym};

/// A limit in bytes: longer strings are not passed to string methods or split into characters, and
/// most operations do not build them.
pub(super) const LONGEST: usize = 16_384;

impl<'p> Interp<'p> {
    pub(super) fn fstring(&mut self, value: &'p FStringValue) -> Value {
        let mut text = Some(String::new());
        let mut add = |part: Option<&str>| match (part, text.as_mut()) {
            (Some(part), Some(text)) => text.push_str(part),
            _ => text = None,
        };
        for part in value {
            match part {
                FStringPart::Literal(literal) => add(Some(&literal.value)),
                FStringPart::FString(f) => {
                    for element in &f.elements {
                        match element {
                            InterpolatedStringElement::Literal(literal) => add(Some(&literal.value)),
                            InterpolatedStringElement::Interpolation(e) => {
                                let value = self.eval(&e.expression);
                                if self.heap.is_tensor(&value) {
                                    let span = self.span(e);
                                    self.event(Event::Read { value: &value, how: "an f-string", span });
                                }
                                let spec = match &e.format_spec {
                                    None => Some(String::new()),
                                    Some(spec) => spec
                                        .elements
                                        .iter()
                                        .map(|part| match part {
                                            InterpolatedStringElement::Literal(text) => Some(&*text.value),
                                            InterpolatedStringElement::Interpolation(_) => None,
                                        })
                                        .collect(),
                                };
                                let plain = e.debug_text.is_none();
                                let value = match e.conversion {
                                    ast::ConversionFlag::None => Some(value),
                                    ast::ConversionFlag::Str => str_of(&value).map(|text| Value::str(&text)),
                                    ast::ConversionFlag::Repr | ast::ConversionFlag::Ascii => {
                                        repr_of(&value).map(|text| Value::str(&text))
                                    }
                                };
                                if let (Some(spec), Some(value)) = (&spec, &value) {
                                    let span = self.span(e);
                                    self.refuse_format(value, spec, span);
                                }
                                let shown = spec
                                    .zip(value)
                                    .filter(|_| plain)
                                    .and_then(|(spec, value)| formatted(&value, &spec));
                                add(shown.as_deref());
                            }
                        }
                    }
                }
            }
        }
        match text {
            Some(text) => Value::str(&text),
            None => Value::Any(Type::Str),
        }
    }
}

impl Interp<'_> {
    /// Calls `each` for every possible value of a string, and joins the results. Returns `None` if
    /// the possible values are not known, or if `each` returns `None` for one of them.
    pub(super) fn of_texts(
        &mut self,
        text: &Value,
        mut each: impl FnMut(&mut Self, &str) -> Option<Value>,
    ) -> Option<Value> {
        match text {
            Value::Str(text) => each(self, text),
            Value::Among(among) => {
                let among = among.clone();
                let found: Vec<Value> = among.texts.iter().map(|text| each(self, text)).collect::<Option<_>>()?;
                Some(self.any_one(&found, among.taken))
            }
            _ => None,
        }
    }
}

/// `str(value)`, if it is known.
pub(super) fn str_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Str(s) => s.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
        Value::None => "None".to_owned(),
        Value::Device(d) if d.index.is_some() || d.is_cpu() => d.to_string(),
        _ => return None,
    })
}

/// `repr(value)`, if it is known.
pub(super) fn repr_of(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => {
            let plain = text.chars().all(|c| (c == ' ' || c.is_ascii_graphic()) && !matches!(c, '\'' | '\\'));
            plain.then(|| format!("'{text}'"))
        }
        Value::Int(_) | Value::Bool(_) | Value::None => str_of(value),
        _ => None,
    }
}

/// A value with a format specification, if both are simple: `{i:03d}`.
fn formatted(value: &Value, spec: &str) -> Option<String> {
    let text = str_of(value)?;
    if spec.is_empty() {
        return Some(text);
    }
    let (Value::Int(n), width) = (value, spec.strip_suffix('d').unwrap_or(spec)) else { return None };
    if width.is_empty() {
        return Some(text);
    }
    let size: usize = width.parse().ok().filter(|n| *n <= 64)?;
    Some(if width.starts_with('0') { format!("{n:0size$}") } else { format!("{n:size$}") })
}

/// `text % values`, if the format is simple.
pub(super) fn percent(text: &str, values: &[Value]) -> Option<String> {
    let (mut out, mut values) = (String::new(), values.iter());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let at = after.find(|c: char| !c.is_ascii_digit())?;
        let (width, tail) = after.split_at_checked(at)?;
        let kind = tail.chars().next()?;
        match kind {
            '%' if width.is_empty() => out.push('%'),
            's' if width.is_empty() => out.push_str(&str_of(values.next()?)?),
            'd' | 'i' => out.push_str(&formatted(values.next().filter(|v| matches!(v, Value::Int(_)))?, width)?),
            _ => return None,
        }
        rest = tail.get(1..)?;
    }
    out.push_str(rest);
    values.next().is_none().then_some(out)
}

/// `text.format(values)`, if the format is simple.
fn format_call(text: &str, values: &[Value]) -> Option<String> {
    let (mut out, mut rest, mut values) = (String::new(), text, values.iter());
    while let Some((before, after)) = rest.split_once('{') {
        let (field, tail) = after.split_once('}')?;
        let spec = if field.is_empty() { "" } else { field.strip_prefix(':')? };
        out.push_str(before);
        out.push_str(&formatted(values.next()?, spec)?);
        rest = tail;
    }
    (!rest.contains('}')).then(|| out + rest)
}

/// `text[start:stop:step]`, if the bounds are known.
pub(super) fn part_of_text(text: &str, index: &Value) -> Option<String> {
    let Value::Slice(parts) = index else { return None };
    let ends: Vec<Option<i64>> =
        parts.iter().map(|v| if v.is_none() { Some(None) } else { v.as_int().map(Some) }).collect::<Option<_>>()?;
    let [start, stop, step] = ends.as_slice() else { return None };
    let chars: Vec<char> = text.chars().collect();
    Some(slice_of(&chars, *start, *stop, step.unwrap_or(1)).into_iter().collect())
}

/// The result of a method of a string, if all arguments are known.
fn known_method(it: &mut Interp<'_>, text: &str, name: &str, args: &Args) -> Option<Value> {
    if args.more_pos || args.more_kw || !args.kw.is_empty() || text.len() > LONGEST {
        return None;
    }
    let values: Vec<Value> = args.pos.iter().map(|a| a.value.clone()).collect();
    let texts: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
    let every = |test: fn(char) -> bool| Value::Bool(!text.is_empty() && text.chars().all(test));
    let trimmed = |left: bool, right: bool| -> Option<Value> {
        let gone = |c: char| match texts.as_deref() {
            Some([set]) => set.contains(c),
            _ => c.is_whitespace(),
        };
        if !values.is_empty() && texts.is_none() {
            return None;
        }
        let out = if left { text.trim_start_matches(gone) } else { text };
        Some(Value::str(if right { out.trim_end_matches(gone) } else { out }))
    };
    let place = |found: Option<usize>| match found {
        Some(at) => int(text.get(..at).unwrap_or_default().chars().count()),
        None => Value::Int(-1),
    };
    let pieces =
        |it: &mut Interp<'_>, parts: Vec<&str>| Some(it.heap.list(parts.into_iter().map(Value::str).collect()));
    let most = |at: usize| values.get(at).and_then(Value::as_int).and_then(|n| usize::try_from(n).ok());
    match (name, values.as_slice()) {
        ("lower" | "casefold", []) => Some(Value::str(&text.to_lowercase())),
        ("upper", []) => Some(Value::str(&text.to_uppercase())),
        ("strip", _) => trimmed(true, true),
        ("lstrip", _) => trimmed(true, false),
        ("rstrip", _) => trimmed(false, true),
        ("format", values) => format_call(text, values).map(|t| Value::str(&t)),
        ("isdigit" | "isnumeric" | "isdecimal", []) if text.is_ascii() => Some(every(|c| c.is_ascii_digit())),
        ("isalpha", []) => Some(every(char::is_alphabetic)),
        ("isspace", []) => Some(every(char::is_whitespace)),
        ("zfill", [Value::Int(n)]) if !text.starts_with(['-', '+']) => {
            let width = usize::try_from(*n).ok().filter(|n| *n <= 64)?;
            Some(Value::str(&format!("{text:0>width$}")))
        }
        ("split" | "rsplit", [] | [Value::None]) => pieces(it, text.split_whitespace().collect()),
        ("splitlines", []) => pieces(it, text.lines().collect()),
        ("split", [Value::Str(by), Value::Int(_)]) if !by.is_empty() => {
            pieces(it, text.splitn(most(1)?.checked_add(1)?, &**by).collect())
        }
        ("rsplit", [Value::Str(by), Value::Int(_)]) if !by.is_empty() => {
            let mut parts: Vec<&str> = text.rsplitn(most(1)?.checked_add(1)?, &**by).collect();
            parts.reverse();
            pieces(it, parts)
        }
        ("join", [parts]) => {
            let parts = it.heap.exact_items(parts)?;
            let parts = parts.iter().map(Value::as_str).collect::<Option<Vec<&str>>>()?;
            let length: usize = parts.iter().map(|part| part.len() + text.len()).sum();
            (length <= LONGEST).then(|| Value::str(&parts.join(text)))
        }
        _ => match (name, texts?.as_slice()) {
            ("startswith", [part]) => Some(Value::Bool(text.starts_with(part))),
            ("endswith", [part]) => Some(Value::Bool(text.ends_with(part))),
            ("removeprefix", [part]) => Some(Value::str(text.strip_prefix(part).unwrap_or(text))),
            ("removesuffix", [part]) => Some(Value::str(text.strip_suffix(part).unwrap_or(text))),
            ("replace", [from, to]) => {
                let added = text.matches(from).count().checked_mul(to.len())?;
                (added <= LONGEST).then(|| Value::str(&text.replace(from, to)))
            }
            ("split" | "rsplit", [by]) if !by.is_empty() => pieces(it, text.split(by).collect()),
            ("find", [part]) => Some(place(text.find(part))),
            ("rfind", [part]) => Some(place(text.rfind(part))),
            ("index", [part]) => text.find(part).map(|at| place(Some(at))),
            ("count", [part]) if !part.is_empty() => Some(int(text.matches(part).count())),
            ("partition", [by]) if !by.is_empty() => {
                let (head, tail) = text.split_once(by)?;
                Some(Value::tuple(vec![Value::str(head), Value::str(by), Value::str(tail)]))
            }
            _ => None,
        },
    }
}

pub(super) fn text_method(receiver: &Value, name: &str, args: &Args, it: &mut Interp<'_>) -> Value {
    if let Value::Str(_) | Value::Among(_) = receiver
        && let Some(value) = it.of_texts(receiver, |it, text| known_method(it, text, name, args))
    {
        return value;
    }
    match name {
        "split" | "rsplit" | "splitlines" => Value::Obj(it.heap.alloc(Data::List(Items::Many(Value::Any(Type::Str))))),
        "startswith" | "endswith" | "isdigit" | "isalpha" | "isalnum" | "isspace" | "isupper" | "islower"
        | "isnumeric" | "isascii" | "isdecimal" | "isidentifier" | "isprintable" | "istitle" => Value::Any(Type::Bool),
        "find" | "index" | "count" | "rfind" | "rindex" => Value::Any(Type::Int),
        "maketrans" => Value::Unknown,
        "encode" => Value::Any(Type::Bytes),
        "partition" | "rpartition" => Value::tuple(vec![Value::Any(Type::Str); 3]),
        _ if it.library.missing_attribute(&it.heap, receiver, sym(name), false).is_some() => it.raise("AttributeError"),
        _ => Value::Any(Type::Str),
    }
}
