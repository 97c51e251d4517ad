//! A missing comma in a list of names: `["cat", "dog" "horse"]` has two elements.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::StringLiteral;
use crate::syntax::{Expr, Ranged, expressions};

const NAME: &str = "texts-joined-in-list";

/// The smallest number of elements that shows what the elements of a list are.
const FEWEST: usize = 4;
/// The smallest number of elements for each place where a comma is missing.
const FOR_EACH: usize = 4;
/// The largest number of bytes of a name. Longer texts are often divided because of the length of the line.
const LONGEST: usize = 32;

#[derive(Default)]
pub(crate) struct TextsJoinedInList;

impl Rule for TextsJoinedInList {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for expr in source.body.iter().flat_map(expressions) {
            let elements = match expr {
                Expr::List(list) => &list.elts,
                Expr::Tuple(tuple) => &tuple.elts,
                Expr::Set(set) => &set.elts,
                _ => continue,
            };
            let Some(parts) = elements.iter().map(parts).collect::<Option<Vec<_>>>() else { continue };
            let joined: Vec<_> = parts.iter().filter(|parts| parts.len() > 1).collect();
            let is_rare = elements.len() >= FEWEST.max(FOR_EACH * joined.len());
            let are_names = |part: &StringLiteral| is_name(&part.value, if joined.len() == 1 { 2 } else { 1 });
            if !is_rare || !parts.iter().copied().flatten().all(are_names) {
                continue;
            }
            for pair in joined {
                let [first, second] = pair else { continue };
                let (first_text, second_text) = (&first.value, &second.value);
                let message = format!(
                    "a comma is missing between \"{first_text}\" and \"{second_text}\": the list contains \
                     \"{first_text}{second_text}\""
                );
                let at = source.span(first.range().cover(second.range()));
                findings.report(NAME, Severity::Warning, message, at, Vec::new());
            }
        }
    }
}

/// The literals that Python joins to one text; `None` for other expressions.
fn parts(expr: &Expr) -> Option<&[StringLiteral]> {
    Some(expr.as_string_literal_expr()?.value.as_slice())
}

/// Whether a text may be a name of a class, column or file.
fn is_name(text: &str, shortest: usize) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.' | '/' | '+' | '&');
    let has_ends = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    (shortest..=LONGEST).contains(&text.len())
        && text.chars().all(is_part)
        && has_ends(text.chars().next())
        && has_ends(text.chars().next_back())
}
