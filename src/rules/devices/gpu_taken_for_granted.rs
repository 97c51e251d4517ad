//! `x.cuda()` without a condition, in a function that moves other tensors only if there is a GPU.

use crate::diagnostic::{Label, Severity};
use crate::rules::arms::arms;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::unset::ends;
use crate::rules::words::words;
use crate::syntax::ast::{BoolOp, ExprCall, UnaryOp};
use crate::syntax::{Expr, Ranged, Stmt, assignment, blocks, expressions, parts, path_of};

const NAME: &str = "gpu-taken-for-granted";

/// Names of flags that say whether to use a GPU, in lower case and without underscores.
const FLAGS: &[&str] = &[
    "cuda",
    "cudaavailable",
    "cudaisavailable",
    "gpuavailable",
    "hascuda",
    "havecuda",
    "iscudaavailable",
    "trainongpu",
    "usecuda",
    "usegpu",
    "withcuda",
];

#[derive(Default)]
pub(crate) struct GpuTakenForGranted;

impl Rule for GpuTakenForGranted {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains(".cuda(") {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in std::iter::once(source.body).chain(functions.map(|def| &*def.body)) {
            let mut moves = Moves::default();
            moves.read(body, false);
            let (Some(test), Some(always)) = (moves.test, moves.always.first()) else { continue };
            if is_switched_on(source, test) {
                continue;
            }
            let text = source.text.get(test.range().to_std_range()).unwrap_or_default();
            let message = format!("this needs a GPU always, but the function tests `{text}` for other tensors");
            let label =
                Label { span: source.span(test.range()), message: "here, a GPU is not taken for granted".to_owned() };
            findings.report(NAME, Severity::Warning, message, source.span(always.range()), vec![label]);
        }
    }
}

/// Whether the file sets the flag in a condition to `True`.
fn is_switched_on(source: &Source<'_>, test: &Expr) -> bool {
    let flags: Vec<_> = parts(test).into_iter().map(path_of).filter(|path| !path.is_empty()).collect();
    let mut assigned = source.statements.iter().filter_map(|stmt| assignment(stmt));
    assigned.any(|(target, value)| {
        matches!(value, Expr::BooleanLiteral(flag) if flag.value) && flags.contains(&path_of(target))
    })
}

/// What a function moves to a GPU.
#[derive(Default)]
struct Moves<'a> {
    /// A condition under which something is moved.
    test: Option<&'a Expr>,
    /// The calls of `cuda` under no condition about a GPU.
    always: Vec<&'a ExprCall>,
    /// A statement has ended the function under a condition about a GPU.
    is_guarded: bool,
}

impl<'a> Moves<'a> {
    fn read(&mut self, body: &'a [Stmt], is_tested: bool) {
        for stmt in body {
            match stmt {
                Stmt::If(one) => {
                    let arms = arms(one);
                    let is_about = arms.iter().filter_map(|arm| arm.test).any(mentions_gpu);
                    if is_about && arms.iter().any(|arm| ends(arm.body)) {
                        self.is_guarded = true;
                    }
                    for arm in &arms {
                        self.read(arm.body, is_tested || is_about);
                        if arm.test.is_some_and(is_flag) && moves_to_gpu(arm.body) {
                            self.test = self.test.or(arm.test);
                        }
                    }
                }
                Stmt::Assert(assert) => self.is_guarded |= mentions_gpu(&assert.test),
                Stmt::Try(_) | Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                stmt => {
                    let inner = blocks(stmt);
                    if inner.is_empty() {
                        self.read_expressions(stmt, is_tested);
                    }
                    for block in inner {
                        self.read(block, is_tested);
                    }
                }
            }
        }
    }

    fn read_expressions(&mut self, stmt: &'a Stmt, is_tested: bool) {
        let all = expressions(stmt);
        let mut is_chosen = false;
        for expr in &all {
            if let Expr::If(choice) = expr
                && mentions_gpu(&choice.test)
            {
                is_chosen = true;
                if is_flag(&choice.test) && parts(&choice.body).into_iter().any(is_move) {
                    self.test = self.test.or(Some(&choice.test));
                }
            }
        }
        if is_tested || is_chosen || self.is_guarded {
            return;
        }
        self.always.extend(all.into_iter().filter(|expr| is_move(expr)).filter_map(Expr::as_call_expr));
    }
}

/// Whether statements move something to a GPU.
fn moves_to_gpu(body: &[Stmt]) -> bool {
    body.iter().flat_map(expressions).any(is_move)
}

/// `x.cuda(…)`
fn is_move(expr: &Expr) -> bool {
    let callee = expr.as_call_expr().and_then(|call| call.func.as_attribute_expr());
    callee.is_some_and(|callee| callee.attr.as_str() == "cuda" && path_of(&callee.value) != ["torch"])
}

/// Whether a condition holds only if a GPU is to be used: `use_cuda`, `torch.cuda.is_available()`, `args.cuda and x`.
fn is_flag(test: &Expr) -> bool {
    match test {
        Expr::BoolOp(all) if all.op == BoolOp::And => all.values.iter().any(is_flag),
        Expr::Call(call) => matches!(path_of(&call.func).as_slice(), [.., "cuda", "is_available"]),
        test => path_of(test).last().is_some_and(|name| {
            let name: String = name.to_lowercase().split('_').collect();
            FLAGS.contains(&name.as_str())
        }),
    }
}

/// Whether a name in a condition says that it is about a GPU or a device.
fn mentions_gpu(test: &Expr) -> bool {
    if let Expr::UnaryOp(not) = test
        && not.op == UnaryOp::Not
    {
        return mentions_gpu(&not.operand);
    }
    let is_about = |name: &&str| {
        let words = words(name);
        words.iter().any(|word| ["cuda", "gpu", "gpus", "device", "devices", "cpu"].contains(&word.as_str()))
            || ["cuda", "gpu"].iter().any(|part| name.to_lowercase().contains(part))
    };
    parts(test).into_iter().any(|part| path_of(part).iter().any(is_about))
}
