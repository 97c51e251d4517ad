//! A name that is read although nothing can have bound it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::Severity;
use crate::python::{meant, nearest};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::Decorator;
use crate::syntax::{
    Bindings, Expr, Ranged, Span, Stmt, TextRange, Unbound, called, callee_or_itself, calls, is_builtin, parse, parts,
    path_of, unbound,
};

const NAME: &str = "undefined-name";

/// Texts such as `exec(`, which may bind names that no scope shows, and those that change the source of a
/// Triton kernel.
const DYNAMIC: &[&str] = &["exec(", "execfile(", "__builtin__", "__getattr__(", ".src.replace(", "_unsafe_update_src("];

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
    let starts = |after: &str, texts: &[&str]| texts.iter().any(|text| after.starts_with(text));
    let sets_item = |after: &str| after.starts_with('[') && !reads_item(after);
    // A test for a name, `"x" in locals()`, protects uses of the name.
    let tests = |before: &str| before.trim_end().ends_with(" in");
    // `import builtins`, `builtins.open(path)`, and `builtins.print = print_pass`, which only replaces a builtin.
    let binds_builtin = |before: &str, after: &str| {
        let name = after.strip_prefix('.').map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        match name {
            Some(name) => name.is_none_or(|name| !is_builtin(name)),
            None => !(before.trim() == "import" && after.starts_with(['\r', '\n'])),
        }
    };
    has(DYNAMIC, &|_, _| true)
        || has(&["builtins"], &binds_builtin)
        || has(&["sys.modules[__name__]"], &|_, after| after.contains("setattr("))
        || has(EXPECTED, &|before, _| !is_handler(before))
        || has(SCOPES, &|before, after| {
            tests(before) || sets_item(after) || starts(after, &[".update(", ".setdefault("])
        })
        // A function that gets the dictionary may write to it.
        || has(&["globals()"], &|before, after| {
            tests(before) || !(reads_item(after) || starts(after, &[".get(", ".keys()", ".values()", ".items()"]))
        })
}

/// Whether the text begins with an index that is not the target of an assignment: `[name](size)`.
fn reads_item(after: &str) -> bool {
    let mut depth = 0_usize;
    let end = after.char_indices().find(|(_, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    let rest = end.and_then(|(at, c)| after.get(at + c.len_utf8()..)).unwrap_or_default().trim_start();
    after.starts_with('[') && (!rest.starts_with('=') || rest.starts_with("=="))
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

/// The names that magics of a notebook that was converted to a script bind:
/// `get_ipython().run_cell_magic("time", "", "loader = load()")`. IPython runs the text as a part of the module.
fn bound_by_magics(statements: &[&Stmt]) -> FxHashSet<String> {
    let calls = statements.iter().flat_map(|stmt| calls(stmt));
    let magics = calls.filter(|call| matches!(called(call), Some("run_cell_magic" | "run_line_magic" | "magic")));
    let texts = magics.filter_map(|call| call.arguments.args.last()?.as_string_literal_expr());
    let bound = texts.flat_map(|text| {
        let parsed = parse(text.value.to_str(), true);
        Bindings::of(&parsed.module.body).names().map(str::to_owned).collect::<Vec<_>>()
    });
    bound.collect()
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
        let all = unbound(source.body, source.starred.as_ref(), source.package);
        if all.is_empty() || (source.is_executed)() {
            return;
        }
        let (compiled, by_magics) = (compiled(&source.statements), bound_by_magics(&source.statements));
        let mut first: FxHashMap<String, Span> = FxHashMap::default();
        for Unbound { name, at, later, annotation, known } in all {
            if compiled.iter().any(|function| function.contains_range(at)) || by_magics.contains(&name) {
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
