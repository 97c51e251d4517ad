//! `match`: whether a pattern matches the subject, as far as the subject is known, and which names
//! the pattern binds.

use super::branch::go_on;
use super::cadence::Cadence;
use super::interp::Interp;
use super::stmt::Flow;
use crate::syntax::ast::{self, Pattern, StmtMatch};
use crate::value::{Data, Dict, Key, Type, Value, sym};

impl<'p> Interp<'p> {
    pub(super) fn exec_match(&mut self, stmt: &'p StmtMatch) -> Flow {
        let subject = self.eval(&stmt.subject);
        if self.stopped {
            return Flow::Stopped;
        }
        self.decisions += 1;
        self.exec_cases(&stmt.cases, &subject)
    }

    fn exec_cases(&mut self, cases: &'p [ast::MatchCase], subject: &Value) -> Flow {
        let Some((case, rest)) = cases.split_first() else { return Flow::Next };
        match self.pattern_fits(&case.pattern, subject) {
            Some(false) => self.exec_cases(rest, subject),
            Some(true) => self.exec_case(case, rest, subject),
            None => self.branch(
                Cadence::Unclear,
                &mut [&mut |it| go_on(it.exec_case(case, rest, subject)), &mut |it| {
                    go_on(it.exec_cases(rest, subject))
                }],
            ),
        }
    }

    /// Runs a case whose pattern matches; if its guard does not hold, runs the remaining cases.
    fn exec_case(&mut self, case: &'p ast::MatchCase, rest: &'p [ast::MatchCase], subject: &Value) -> Flow {
        self.bind_pattern(&case.pattern, subject);
        match &case.guard {
            None => self.exec_block(&case.body),
            Some(guard) => {
                self.decide(guard, &mut |it| it.exec_block(&case.body), &mut |it| it.exec_cases(rest, subject))
            }
        }
    }

    fn pattern_fits(&mut self, pattern: &'p Pattern, subject: &Value) -> Option<bool> {
        match pattern {
            Pattern::MatchValue(p) => {
                let value = self.eval(&p.value);
                self.equals(&value, subject)
            }
            Pattern::MatchSingleton(p) => {
                let value = match p.value {
                    ast::Singleton::None => Value::None,
                    ast::Singleton::True => Value::Bool(true),
                    ast::Singleton::False => Value::Bool(false),
                };
                // The subject is compared by identity: `case True` does not match 1.
                match subject {
                    Value::Bool(_) | Value::None => Some(identical(&value, subject)),
                    Value::Any(Type::Bool) if !value.is_none() => None,
                    Value::Unknown | Value::Open(_) => None,
                    Value::Path(_) => self.equals(&value, subject),
                    _ => Some(false),
                }
            }
            Pattern::MatchOr(p) => {
                let fits: Vec<Option<bool>> = p.patterns.iter().map(|p| self.pattern_fits(p, subject)).collect();
                if fits.contains(&Some(true)) {
                    return Some(true);
                }
                if fits.contains(&None) { None } else { Some(false) }
            }
            Pattern::MatchStar(_) => Some(true),
            _ => {
                let (whole, parts) = self.parts(pattern, subject);
                let mut fits = whole;
                for (part, value) in parts {
                    match self.pattern_fits(part, &value) {
                        Some(false) => return Some(false),
                        None if fits == Some(true) => fits = None,
                        _ => {}
                    }
                }
                fits
            }
        }
    }

    /// Whether the subject has the structure that a pattern requires, and the part of the subject
    /// for each inner pattern. For an unknown subject, the parts are unknown.
    fn parts(&mut self, pattern: &'p Pattern, subject: &Value) -> (Option<bool>, Vec<(&'p Pattern, Value)>) {
        match pattern {
            Pattern::MatchAs(p) => (Some(true), p.pattern.iter().map(|inner| (&**inner, subject.clone())).collect()),
            Pattern::MatchSequence(p) => self.sequence_parts(&p.patterns, subject),
            Pattern::MatchMapping(p) => {
                let dict = self.heap.dict_of(subject).cloned();
                let mut fits = dict.as_ref().map(|_| true);
                let mut parts = Vec::new();
                for (key, inner) in p.keys.iter().zip(&p.patterns) {
                    let key = Key::of(&self.eval(key));
                    let found = dict.as_ref().zip(key).map(|(dict, key)| (dict.entries.get(&key), &dict.open));
                    match found {
                        Some((Some(value), _)) => parts.push((inner, value.clone())),
                        Some((None, None)) => fits = Some(false),
                        _ => {
                            fits = fits.filter(|fits| !fits);
                            parts.push((inner, Value::Unknown));
                        }
                    }
                }
                (fits, parts)
            }
            Pattern::MatchClass(p) => {
                let class = self.eval(&p.cls);
                let fits = self.isinstance(subject, Some(&class));
                let span = self.span(p);
                // `int(n)`: for classes such as `int` and `str`, the positional pattern matches the
                // subject itself.
                let itself = class.as_path().is_some_and(|path| path.starts_with("builtins."));
                let names = match itself {
                    true => Vec::new(),
                    false => {
                        let names = self.getattr(&class, sym("__match_args__"), span);
                        self.heap.exact_items(&names).unwrap_or_default()
                    }
                };
                let mut parts = Vec::new();
                for (at, inner) in p.arguments.patterns.iter().enumerate() {
                    let value = match names.get(at).and_then(Value::as_str) {
                        Some(name) => self.getattr(subject, sym(name), span),
                        None if itself => subject.clone(),
                        None => Value::Unknown,
                    };
                    parts.push((inner, value));
                }
                for keyword in &p.arguments.keywords {
                    let value = self.getattr(subject, sym(keyword.attr.as_str()), span);
                    parts.push((&keyword.pattern, value));
                }
                (fits, parts)
            }
            _ => (None, Vec::new()),
        }
    }

    fn sequence_parts(
        &mut self,
        patterns: &'p [Pattern],
        subject: &Value,
    ) -> (Option<bool>, Vec<(&'p Pattern, Value)>) {
        let unknown = || patterns.iter().map(|p| (p, Value::Unknown)).collect();
        let sequence = match subject {
            Value::Tuple(_) => true,
            Value::Obj(id) => matches!(self.heap.get(*id), Data::List(_)),
            Value::Str(_) | Value::Any(Type::Str) | Value::None => return (Some(false), Vec::new()),
            subject if subject.number_type().is_some() => return (Some(false), Vec::new()),
            _ => false,
        };
        let Some(mut items) = self.heap.exact_items(subject).filter(|_| sequence) else { return (None, unknown()) };
        match patterns.iter().position(|p| matches!(p, Pattern::MatchStar(_))) {
            None if items.len() == patterns.len() => {}
            Some(at) if items.len() + 1 >= patterns.len() => {
                let rest: Vec<Value> = items.drain(at..at + items.len() + 1 - patterns.len()).collect();
                let rest = self.heap.list(rest);
                items.insert(at, rest);
            }
            _ => return (Some(false), unknown()),
        }
        (Some(true), patterns.iter().zip(items).collect())
    }

    fn bind_pattern(&mut self, pattern: &'p Pattern, subject: &Value) {
        match pattern {
            Pattern::MatchOr(p) => {
                // All alternatives bind the same names. It is not known which alternative matches,
                // so the values are unknown.
                for inner in &p.patterns {
                    self.bind_pattern(inner, &Value::Unknown);
                }
            }
            Pattern::MatchStar(p) => self.bind_capture(p.name.as_ref(), subject),
            _ => {
                for (inner, value) in self.parts(pattern, subject).1 {
                    self.bind_pattern(inner, &value);
                }
            }
        }
        match pattern {
            Pattern::MatchAs(p) => self.bind_capture(p.name.as_ref(), subject),
            Pattern::MatchMapping(p) => {
                let rest = Dict { open: Some(Value::Unknown), ..Dict::default() };
                let rest = self.heap.dict(rest);
                self.bind_capture(p.rest.as_ref(), &rest);
            }
            _ => {}
        }
    }

    fn bind_capture(&mut self, name: Option<&ast::Identifier>, value: &Value) {
        if let Some(name) = name {
            self.set_name(sym(name.as_str()), value.clone());
        }
    }
}

/// Whether two values are the same, if each of them is None, True or False.
fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Bool(x), Value::Bool(y)) => x == y,
        _ => a.is_none() && b.is_none(),
    }
}
