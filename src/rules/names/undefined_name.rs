//! A name that is read although nothing can have bound it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::Severity;
use crate::python::{meant, nearest};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::Decorator;
use crate::syntax::{
    Expr, Ranged, Span, Stmt, TextRange, Unbound, called, callee_or_itself, calls, parts, path_of, unbound,
};

const NAME: &str = "undefined-name";

/// Texts such as `exec(`, which may bind names that no scope shows, and those that change the source of a
/// Triton kernel.
const DYNAMIC: &[&str] = &[
    "exec(",
    "execfile(",
    "globals()",
    "builtins",
    "__builtin__",
    "__getattr__(",
    ".src.replace(",
    "_unsafe_update_src(",
];

/// Texts which show that the program expects the failure.
const EXPECTED: &[&str] = &["NameError", "UnboundLocalError"];

/// Dictionaries of the names of a scope, which bind names if the code writes to them.
const SCOPES: &[&str] = &["locals()", "vars()"];

/// Whether a text outside of comments may bind names that no scope shows, or expects the failure.
fn is_dynamic(text: &str) -> bool {
    let has = |texts: &[&str], counts: &dyn Fn(&str, &str) -> bool| {
        texts.iter().any(|one| {
            text.match_indices(one).any(|(at, _)| {
                let before = text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
                let after = text.get(at + one.len()..).unwrap_or_default();
                !before.trim_start().starts_with('#') && counts(before, after)
            })
        })
    };
    // The analysis knows what a handler around a name catches, and `catches_calls` the rest.
    let is_handler = |before: &str| before.trim_start().starts_with("except");
    let writes = |after: &str| [".update(", ".setdefault(", "["].iter().any(|write| after.starts_with(write));
    has(DYNAMIC, &|_, _| true)
        || has(&["sys.modules[__name__]"], &|_, after| after.contains("setattr("))
        || has(EXPECTED, &|before, _| !is_handler(before))
        // A test for a name, `"x" in locals()`, protects uses of the name.
        || has(SCOPES, &|before, after| writes(after) || before.trim_end().ends_with(" in"))
}

/// Whether a handler catches the failures of a function of the file: `except NameError:` after a call of it.
fn catches_calls(statements: &[&Stmt]) -> bool {
    let functions: FxHashSet<&str> =
        statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()).map(|def| def.name.as_str()).collect();
    let attempts = statements.iter().filter_map(|stmt| stmt.as_try_stmt());
    let mut expecting = attempts.filter(|attempt| {
        let kinds = attempt.handlers.iter().filter_map(|one| one.as_except_handler()?.type_.as_deref());
        kinds.flat_map(parts).any(|kind| path_of(kind).last().is_some_and(|name| EXPECTED.contains(name)))
    });
    expecting.any(|attempt| {
        attempt.body.iter().flat_map(calls).any(|call| called(call).is_some_and(|name| functions.contains(name)))
    })
}

/// Whether the module passes its own name to a function, which may set names in it:
/// `registry.add_functions(__name__)`.
fn passes_itself(body: &[Stmt]) -> bool {
    let statements = body.iter().filter_map(|stmt| stmt.as_expr_stmt()?.value.as_call_expr());
    statements.into_iter().any(|call| {
        let is_own = |argument: &Expr| path_of(argument) == ["__name__"];
        // Apache TVM and DGL: `_init_api("dgl.graph_index")`
        called(call).is_some_and(|name| name == "_init_api")
            || call.arguments.args.iter().any(is_own)
            || call.arguments.keywords.iter().any(|keyword| is_own(&keyword.value))
    })
}

/// Packages whose decorators compile the source of a function, in which names may have other meanings.
const COMPILERS: &[&str] = &["triton", "cute", "cutlass", "tilelang", "taichi", "ti", "numba", "nb", "wp"];

/// The places of the functions that a package compiles.
fn compiled(statements: &[&Stmt]) -> Vec<TextRange> {
    let is_compiler = |decorator: &Decorator| {
        path_of(callee_or_itself(&decorator.expression)).first().is_some_and(|root| COMPILERS.contains(root))
    };
    let functions = statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
    functions.filter(|def| def.decorator_list.iter().any(is_compiler)).map(Ranged::range).collect()
}

#[derive(Default)]
pub(crate) struct UndefinedName;

impl Rule for UndefinedName {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if is_dynamic(source.text) || catches_calls(&source.statements) || passes_itself(source.body) {
            return;
        }
        let compiled = compiled(&source.statements);
        let mut first: FxHashMap<String, Span> = FxHashMap::default();
        let all = unbound(source.body, source.starred.as_ref(), source.package);
        if all.is_empty() || (source.is_executed)() {
            return;
        }
        for Unbound { name, at, later, annotation, known } in all {
            if compiled.iter().any(|function| function.contains_range(at)) {
                continue;
            }
            let message = if later {
                format!("`{name}` is read before it is assigned: no path to this line assigns it")
            } else {
                let near = nearest(&name, known.iter().map(String::as_str));
                format!("`{name}` is not defined: no scope around this line binds it{}", meant(near))
            };
            let (severity, message) = match annotation {
                true => (Severity::Warning, format!("{message} (Python evaluates annotations up to version 3.13)")),
                false => (Severity::Error, message),
            };
            let span = source.span(at);
            let cause = *first.entry(name).or_insert(span);
            if let Some(finding) = findings.report(NAME, severity, message, span, Vec::new()) {
                // One import or assignment usually corrects all uses of a name.
                finding.cause = vec![cause];
            }
        }
    }
}
