//! Formatting of strings: values that a format does not accept, and values that are missing.

use super::Args;
use super::interp::Interp;
use crate::syntax::Span;
use crate::value::{Data, Items, Value, counted};

/// A field of a format string: `{name!r:>10}`.
struct Field<'t> {
    name: &'t str,
    converted: bool,
    spec: &'t str,
}

/// The fields of a format string; `None` if a field is malformed or contains another one.
fn fields(text: &str) -> Option<Vec<Field<'_>>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let tail = rest.get(at..)?;
        if tail.starts_with("{{") || tail.starts_with("}}") {
            rest = tail.get(2..)?;
            continue;
        }
        let (field, after) = tail.strip_prefix('{')?.split_once('}')?;
        if field.contains('{') {
            return None;
        }
        let (name, spec) = field.split_once(':').unwrap_or((field, ""));
        let (name, converted) = name.split_once('!').map_or((name, false), |(name, _)| (name, true));
        found.push(Field { name, converted, spec });
        rest = after;
    }
    Some(found)
}

/// The conversions of a `%` format (`d` in `%3d`); `None` if it uses names or widths from the values.
fn conversions(text: &str) -> Option<Vec<char>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        let at = after.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+' | ' ' | '#'))?;
        let tail = after.get(at..)?;
        let kind = tail.chars().next()?;
        match kind {
            '(' | '*' => return None,
            '%' => {}
            kind => found.push(kind),
        }
        rest = tail.get(kind.len_utf8()..)?;
    }
    Some(found)
}

impl Interp<'_> {
    /// Rejects a value in an f-string or in a call of `format` whose type does not accept the format.
    pub(super) fn refuse_format(&mut self, value: &Value, spec: &str, span: Span) {
        let Some(kind) = spec.chars().next_back() else { return };
        let is_collection = match value {
            Value::None | Value::Tuple(_) => true,
            value => match self.own_type(value) {
                Some("tensor") => {
                    self.heap.tensor_ref(value).and_then(|tensor| tensor.rank()).is_some_and(|rank| rank > 0)
                }
                own => own.is_some(),
            },
        };
        let is_of_numbers = "bcdeEfFgGnoxX%".contains(kind);
        let is_wrong = is_collection
            || value.is_text() && is_of_numbers
            || matches!(value, Value::Float(_)) && "bcdoxX".contains(kind)
            || matches!(value, Value::Int(_)) && kind == 's';
        if is_wrong {
            let message = format!("the format `{spec}` does not accept {}", self.named(value));
            self.refuse_operation(&[value], message, span);
        }
    }

    /// Rejects a call of `format` whose arguments do not fit the text.
    pub(super) fn refuse_format_call(&mut self, text: &str, args: &Args, span: Span) {
        let Some(fields) = fields(text).filter(|_| !args.is_open()) else { return };
        let mut at = 0;
        for field in fields {
            let name = field.name;
            // An attribute or element of an argument is not judged.
            let is_whole = !name.contains(['.', '[']);
            let root = name.split(['.', '[']).next().unwrap_or_default();
            let arg = if root.is_empty() {
                at += 1;
                args.pos.get(at - 1)
            } else if let Ok(index) = root.parse::<usize>() {
                args.pos.get(index)
            } else {
                args.kw.iter().find(|(have, _)| have.as_str() == root).map(|(_, arg)| arg)
            };
            match arg.cloned() {
                None if root.is_empty() || root.parse::<usize>().is_ok() => {
                    let message = format!("`format` gets only {}", counted(args.pos.len(), "value"));
                    self.refuse_operation(&[], message, span);
                    return;
                }
                None => {
                    let message = format!("`format` gets no value for `{root}`");
                    self.refuse_operation(&[], message, span);
                    return;
                }
                Some(arg) if is_whole && !field.converted => self.refuse_format(&arg.value, field.spec, arg.span),
                Some(_) => {}
            }
        }
    }

    /// Rejects the values of `text % values` that do not fit the text; returns whether it did.
    pub(super) fn refuse_percent(&mut self, text: &str, values: &Value, span: Span) -> bool {
        let Some(kinds) = conversions(text) else { return false };
        let own = self.own_type(values);
        let given = match values {
            Value::Tuple(values) => values.to_vec(),
            // A dictionary may have more entries than the text uses.
            value
                if own == Some("dict")
                    || value.as_obj().is_some_and(|id| matches!(self.heap.get(id), Data::Dict(_))) =>
            {
                return false;
            }
            value if value.is_none() || value.is_text() || value.number_type().is_some() || own.is_some() => {
                vec![value.clone()]
            }
            _ => return false,
        };
        if given.len() != kinds.len() {
            let (wanted, have) = (counted(kinds.len(), "value"), given.len());
            let message = format!("the text has places for {wanted}, but gets {have}");
            self.refuse_operation(&[], message, span);
            return true;
        }
        for (kind, value) in kinds.iter().zip(&given) {
            let is_number = "diuoxXeEfFgG".contains(*kind);
            let is_collection = matches!(value, Value::None | Value::Tuple(_))
                || self.own_type(value).is_some_and(|own| own != "tensor");
            if is_number && (value.is_text() || is_collection) {
                let message = format!("`%{kind}` does not accept {}", self.named(value));
                self.refuse_operation(&[value], message, span);
                return true;
            }
        }
        false
    }

    /// Rejects parts that are not texts in `separator.join(parts)`.
    pub(super) fn refuse_joined(&mut self, parts: &Value, span: Span) {
        let element = match parts.as_obj().map(|id| self.heap.get(id)) {
            Some(Data::List(Items::Exact(items))) => {
                items.iter().find(|item| item.number_type().is_some() || item.is_none()).cloned()
            }
            Some(Data::List(Items::Many(element))) => Some(element.clone()),
            _ => None,
        };
        let Some(element) = element.filter(|element| element.number_type().is_some() || element.is_none()) else {
            return;
        };
        let message = format!("`join` takes texts, but an element is {}", self.named(&element));
        self.refuse_operation(&[&element], message, span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read() {
        let names = |text| fields(text).map(|all| all.iter().map(|f| f.name.to_owned()).collect::<Vec<_>>());
        assert_eq!(names("{} {{x}} {a!r:>3} {0.b:.2f}"), Some(vec![String::new(), "a".into(), "0.b".into()]));
        assert_eq!(names("{:{}}"), None);
        assert_eq!(conversions("%3d %% %-5.2f %s"), Some(vec!['d', 'f', 's']));
        assert_eq!(conversions("%(a)s"), None);
    }
}
