//! A training function that calls `model.eval()` before it trains the model, and never calls `model.train()`.

use rustc_hash::FxHashSet;

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFor, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, calls, expressions, is_method_call, is_read, names_in, path_of, statements};

const NAME: &str = "training-in-evaluation-mode";

/// Usual names of the model that a function trains. Teachers, critics and feature extractors have other
/// names.
const MODELS: &[&str] = &["model", "net", "network", "classifier"];

/// Texts in files that train a part of a model, or its input, and may keep the rest in evaluation mode.
const EXCUSES: &[&str] = &[
    "freez",
    "froz",
    "requires_grad",
    "batchnorm1d)",
    "batchnorm2d)",
    "batchnorm3d)",
    "_batchnorm",
    "batch norm",
    "running stat",
    "running mean",
    "running_mean",
    "set_bn",
    "bn_eval",
    "probe",
    "probing",
    "lincls",
    "linear eval",
    "linear_eval",
    "lora",
    "peft",
    "adapter",
    "prompt",
    "attack",
    "adversar",
];

/// Functions, and packages of functions, that compute with outputs, but train nothing.
const FUNCTIONS: &[&str] = &["torch", "F", "np", "numpy", "math", "print", "len", "float", "int", "str", "list"];

#[derive(Default)]
pub(crate) struct TrainingInEvaluationMode;

impl Rule for TrainingInEvaluationMode {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains(".eval()") || !source.text.contains(".backward(") {
            return;
        }
        let text = source.text.to_ascii_lowercase();
        if EXCUSES.iter().any(|excuse| text.contains(excuse)) {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for function in functions.filter(|function| says_training(function.name.as_str())) {
            let mut all = Vec::new();
            evaluated(&function.body, None, &mut all);
            for Evaluated { call, model, loops } in all {
                let trained = loops.into_iter().find_map(|outer| trained_in(outer, &model, call));
                let Some(trained) = trained.filter(|_| !may_change_mode(function, &model, call)) else { continue };
                let message = format!(
                    "`{}` is trained in evaluation mode: this function calls `eval()`, but never `train()`",
                    model.join(".")
                );
                let label =
                    Label { span: source.span(trained.range()), message: "it is trained in this loop".to_owned() };
                findings.report(NAME, Severity::Warning, message, source.span(call.range()), vec![label]);
            }
        }
    }
}

/// Whether the name of a function says that it trains, and not that it pretrains, evaluates, tests or
/// predicts.
fn says_training(name: &str) -> bool {
    let mut words = name.split('_');
    let trains = words.clone().any(|word| matches!(word, "train" | "training" | "fit"));
    let other = ["pretrain", "eval", "test", "val", "infer", "pred"];
    trains && !words.any(|word| other.iter().any(|other| word.starts_with(other)))
}

/// A call of `model.eval()`, and the loops that follow or contain it.
struct Evaluated<'a> {
    call: &'a ExprCall,
    model: Vec<&'a str>,
    loops: Vec<&'a StmtFor>,
}

/// Finds the calls of `model.eval()` in a block and in the `for` loops in it. `around` is the loop whose body
/// the block is.
fn evaluated<'a>(block: &'a [Stmt], around: Option<&'a StmtFor>, found: &mut Vec<Evaluated<'a>>) {
    for (at, stmt) in block.iter().enumerate() {
        match stmt {
            Stmt::Expr(one) => {
                let Some(call) = one.value.as_call_expr() else { continue };
                let Some(model) = evaluates(call) else { continue };
                let later = block.get(at + 1..).unwrap_or_default().iter().filter_map(|stmt| stmt.as_for_stmt());
                found.push(Evaluated { call, model, loops: later.chain(around).collect() });
            }
            Stmt::For(inner) => evaluated(&inner.body, Some(inner), found),
            _ => {}
        }
    }
}

/// The path of the model in `model.eval()`.
fn evaluates(call: &ExprCall) -> Option<Vec<&str>> {
    if !is_method_call(call, "eval") || !call.arguments.is_empty() {
        return None;
    }
    let mut path = path_of(&call.func);
    path.pop();
    let is_model = matches!(path.as_slice(), [name] | ["self", name] if MODELS.contains(name));
    is_model.then_some(path)
}

/// The loop, if it trains the model with samples from its loader or from the loader of an inner loop.
fn trained_in<'a>(outer: &'a StmtFor, model: &[&str], eval: &ExprCall) -> Option<&'a StmtFor> {
    let calls: Vec<&ExprCall> = outer.body.iter().flat_map(calls).collect();
    let backward = calls.iter().find(|call| is_method_call(call, "backward"))?;
    // An `eval()` after the first `backward()` of the loop belongs to a validation.
    if backward.start() < eval.start() && outer.range().contains_range(eval.range()) {
        return None;
    }
    let steps = calls.iter().any(|call| {
        let is_optimizer = |owner: &str| ["opt", "scaler"].iter().any(|part| owner.contains(part));
        matches!(path_of(&call.func).as_slice(), [.., owner, "step"] if is_optimizer(owner))
    });
    let data = data_of(outer);
    let of_model: Vec<&&ExprCall> = calls.iter().filter(|call| path_of(&call.func) == model).collect();
    // An input that the loop computes may be what is trained.
    let plain = |call: &&&ExprCall| {
        let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        call.arguments.args.iter().chain(keywords).all(|argument| is_data(argument, &data))
    };
    (steps && !of_model.is_empty() && of_model.iter().all(plain) && !feeds_other_module(outer, model)).then_some(outer)
}

/// The names that hold samples of a loader: the targets of loops, and what is moved or converted from them.
fn data_of(outer: &StmtFor) -> FxHashSet<&str> {
    let mut data: FxHashSet<&str> = names_in(&outer.target).into_iter().collect();
    for stmt in statements(&outer.body, false) {
        match stmt {
            Stmt::For(inner) => data.extend(names_in(&inner.target)),
            Stmt::Assign(assign) => {
                let from_data = match &*assign.value {
                    Expr::Tuple(tuple) => tuple.elts.iter().all(|part| is_data(part, &data)),
                    one => is_data(one, &data),
                };
                for name in assign.targets.iter().flat_map(names_in) {
                    if from_data {
                        data.insert(name);
                    } else {
                        data.remove(name);
                    }
                }
            }
            Stmt::AugAssign(assign) => {
                for name in names_in(&assign.target) {
                    data.remove(name);
                }
            }
            _ => {}
        }
    }
    data
}

/// Whether an expression is a sample, a part of one, or the result of its method: `batch["x"].to(device)`.
fn is_data(expr: &Expr, data: &FxHashSet<&str>) -> bool {
    match expr {
        Expr::Name(name) => data.contains(name.id.as_str()),
        Expr::Attribute(attribute) => is_data(&attribute.value, data),
        Expr::Subscript(subscript) => is_data(&subscript.value, data),
        Expr::Call(call) => call.func.as_attribute_expr().is_some_and(|callee| is_data(&callee.value, data)),
        _ => false,
    }
}

/// Whether an output of the model is the only positional argument of another call, which may be that of a
/// trained layer. Calls of [`FUNCTIONS`] do not count.
fn feeds_other_module(outer: &StmtFor, model: &[&str]) -> bool {
    let is_output = |expr: &Expr| expr.as_call_expr().is_some_and(|call| path_of(&call.func) == model);
    let all = statements(&outer.body, false);
    let assigned = all.iter().filter_map(|stmt| stmt.as_assign_stmt()).filter(|assign| is_output(&assign.value));
    let outputs: Vec<&str> = assigned.flat_map(|assign| assign.targets.iter().flat_map(names_in)).collect();
    outer.body.iter().flat_map(calls).any(|call| {
        let path = path_of(&call.func);
        let [argument] = &*call.arguments.args else { return false };
        let takes = is_output(argument) || names_in(argument).iter().any(|name| outputs.contains(name));
        let Some(first) = path.first() else { return takes };
        takes && !FUNCTIONS.contains(first)
    })
}

/// Whether the function may put the model into training mode, passes it to another function, or makes another
/// model after `eval()`.
fn may_change_mode(function: &StmtFunctionDef, model: &[&str], eval: &ExprCall) -> bool {
    function.body.iter().flat_map(expressions).any(|expr| match expr {
        Expr::Call(call) => {
            let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
            call.arguments.args.iter().chain(keywords).any(|argument| path_of(argument) == model)
        }
        Expr::Name(_) | Expr::Attribute(_) => {
            let path = path_of(expr);
            let trains = path.last() == Some(&"train") && path.starts_with(model);
            let is_new = path == model && !is_read(expr) && expr.start() > eval.start();
            trains || is_new
        }
        _ => false,
    })
}
