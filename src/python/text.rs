//! f-strings, and values as text.

use super::interp::Interp;
use crate::syntax::ast::{FStringPart, FStringValue, InterpolatedStringElement};
use crate::value::{Type, Value};

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
                                let plain = e.format_spec.is_none() && e.debug_text.is_none();
                                let shown = if plain { str_of(&value) } else { None };
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

/// `str(value)`, where it is known.
pub(super) fn str_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Str(s) => s.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
        Value::None => "None".to_owned(),
        Value::Device(d) if d.index.is_some() || !d.is_cuda() => d.to_string(),
        _ => return None,
    })
}
