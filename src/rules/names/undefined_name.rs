//! A name that is read although nothing can have bound it.

use rustc_hash::FxHashMap;

use crate::diagnostic::Severity;
use crate::python::{meant, nearest};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::{Span, Unbound, unbound};

const NAME: &str = "undefined-name";

/// Texts such as `exec(`, which may bind names that no scope shows, texts such as `NameError`, which show
/// that the program expects the failure, and those that change the source of a Triton kernel.
const DYNAMIC: &[&str] = &[
    "exec(",
    "execfile(",
    "globals()",
    "locals()",
    "vars()",
    "builtins",
    "__builtin__",
    "__getattr__(",
    "NameError",
    "UnboundLocalError",
    ".src.replace(",
    "_unsafe_update_src(",
];

#[derive(Default)]
pub(crate) struct UndefinedName;

impl Rule for UndefinedName {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if DYNAMIC.iter().any(|dynamic| source.text.contains(dynamic)) {
            return;
        }
        let mut first: FxHashMap<String, Span> = FxHashMap::default();
        let all = unbound(source.body, source.starred.as_ref());
        if all.is_empty() || (source.is_executed)() {
            return;
        }
        for Unbound { name, at, later, known } in all {
            let message = if later {
                format!("`{name}` is read before it is assigned: no path to this line assigns it")
            } else {
                let near = nearest(&name, known.iter().map(String::as_str));
                format!("`{name}` is not defined: no scope around this line binds it{}", meant(near))
            };
            let span = source.span(at);
            let cause = *first.entry(name).or_insert(span);
            if let Some(finding) = findings.report(NAME, Severity::Error, message, span, Vec::new()) {
                // One import or assignment usually corrects all uses of a name.
                finding.cause = vec![cause];
            }
        }
    }
}
