//! `total += loss.item()` for each batch, and `total / len(loader.dataset)` after the loop, although the loss
//! is already the mean over the batch.
//!
//! Only losses with a known reduction count: functions of PyTorch, and criteria that the file creates. The
//! function may change the sum only by adding such losses, by this division, and by setting it to a number.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{Arguments, ExprCall, Operator};
use crate::syntax::{
    Expr, Ranged, Stmt, TextRange, blocks, called, calls, expressions, integer, is_read, keyed,
    owner_of_counted_dataset, path_of, statements,
};

const NAME: &str = "mean-loss-divided-by-samples";

/// Functions whose result is a mean over the batch by default, each with the number of arguments before
/// `size_average`.
const FUNCTIONS: &[(&str, usize)] = &[
    ("binary_cross_entropy", 3),
    ("binary_cross_entropy_with_logits", 3),
    ("cross_entropy", 3),
    ("l1_loss", 2),
    ("mse_loss", 2),
    ("nll_loss", 3),
    ("smooth_l1_loss", 2),
];

/// The same for classes.
const CLASSES: &[(&str, usize)] = &[
    ("BCELoss", 1),
    ("BCEWithLogitsLoss", 1),
    ("CrossEntropyLoss", 1),
    ("L1Loss", 0),
    ("MSELoss", 0),
    ("NLLLoss", 1),
    ("SmoothL1Loss", 0),
];

/// Methods that do not change the value of a loss.
const CONVERSIONS: &[&str] = &["cpu", "cuda", "detach", "item", "numpy", "to", "tolist"];

const BATCH_SIZES: &[&str] = &["batch", "batch_size", "batch_sz", "batchsize", "bs"];

#[derive(Default)]
pub(crate) struct MeanLossDividedBySamples;

impl Rule for MeanLossDividedBySamples {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let sets_reduction = [".reduction =", ".size_average ="].iter().any(|text| source.text.contains(text));
        if !source.text.contains("loss") && !source.text.contains("Loss") || sets_reduction {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in functions.map(|def| def.body.as_slice()).chain(std::iter::once(source.body)) {
            check(findings, source, &statements(body, false));
        }
    }
}

fn check<'a>(findings: &mut Findings<'_>, source: &Source<'a>, stmts: &[&'a Stmt]) {
    for division in stmts.iter().flat_map(|stmt| Division::all_in(stmt)) {
        let Some(sum) = Sum::of(&division, source, stmts) else { continue };
        if !division.counts_samples(&sum, source) || has_batches_of_one(source) {
            continue;
        }
        let message = format!(
            "`{}` adds up means over batches: divided by the number of samples, it is too small by a factor of the \
             batch size",
            division.total.join(".")
        );
        let label =
            Label { span: source.span(sum.added), message: "this loss is already the mean over its batch".to_owned() };
        findings.report(NAME, Severity::Info, message, source.span(division.at), vec![label]);
    }
}

/// `total / count` or `total /= count`
struct Division<'a> {
    total: Vec<&'a str>,
    count: &'a Expr,
    at: TextRange,
}

impl<'a> Division<'a> {
    /// The divisions in a statement without blocks.
    fn all_in(stmt: &'a Stmt) -> Vec<Division<'a>> {
        if !blocks(stmt).is_empty() {
            return Vec::new();
        }
        let inner = expressions(stmt);
        // `total / count * batch_size`
        let is_scaled = |at: TextRange| {
            let products = inner.iter().filter_map(|expr| expr.as_bin_op_expr());
            products.filter(|product| product.op == Operator::Mult).any(|product| {
                let sides = [(&product.left, &product.right), (&product.right, &product.left)];
                sides.iter().any(|(one, other)| one.range().contains_range(at) && !other.is_number_literal_expr())
            })
        };
        let quotients = inner.iter().filter_map(|expr| expr.as_bin_op_expr());
        let mut found: Vec<Division<'a>> = quotients
            .filter(|quotient| quotient.op == Operator::Div && !is_scaled(quotient.range()))
            .map(|quotient| Division { total: path_of(&quotient.left), count: &quotient.right, at: quotient.range() })
            .collect();
        if let Stmt::AugAssign(assign) = stmt
            && assign.op == Operator::Div
        {
            found.push(Division { total: path_of(&assign.target), count: &assign.value, at: assign.range() });
        }
        found.retain(|division| !division.total.is_empty());
        found
    }

    /// Whether the divisor is `len(loader.dataset)` for the loader of the loop, or a product with the batch size.
    fn counts_samples(&self, sum: &Sum<'_>, source: &Source<'_>) -> bool {
        if let Some(loader) = owner_of_counted_dataset(self.count) {
            let loader = source.text.get(loader.start().to_usize()..loader.end().to_usize());
            return loader.is_some_and(|loader| sum.loops.iter().any(|text| text.contains(loader)));
        }
        let product = self.count.as_bin_op_expr().filter(|product| product.op == Operator::Mult);
        product.is_some_and(|product| is_batch_size(&product.left) || is_batch_size(&product.right))
    }
}

fn is_batch_size(expr: &Expr) -> bool {
    let name = match expr {
        Expr::Subscript(_) => keyed(expr).map(|(_, key)| key),
        _ => path_of(expr).last().copied(),
    };
    name.is_some_and(|name| BATCH_SIZES.contains(&name.to_ascii_lowercase().as_str()))
}

/// A sum of losses that are means.
struct Sum<'a> {
    /// The last loss that is added before the division.
    added: TextRange,
    /// The texts of what the loops around it iterate over.
    loops: Vec<&'a str>,
}

impl<'a> Sum<'a> {
    /// The sum that is divided after its loop.
    fn of(division: &Division<'_>, source: &Source<'a>, stmts: &[&'a Stmt]) -> Option<Sum<'a>> {
        let total = &division.total;
        let mut added = None;
        for stmt in stmts {
            match Change::of(stmt, total) {
                Change::None | Change::Start | Change::Division => {}
                Change::Other => return None,
                Change::Added(value) => {
                    // The loops around the statement, the innermost one last.
                    let loops: Vec<&Stmt> = stmts
                        .iter()
                        .copied()
                        .filter(|each| matches!(each, Stmt::For(_) | Stmt::While(_)))
                        .filter(|each| each.range().contains_range(stmt.range()))
                        .collect();
                    let inner = loops.last()?;
                    if !is_mean_loss(value, inner, source) {
                        return None;
                    }
                    if inner.end() <= division.at.start() {
                        added = Some((value.range(), loops));
                    }
                }
            }
        }
        let (added, loops) = added?;
        let iterated = loops.into_iter().filter_map(|each| each.as_for_stmt()).map(|each| each.iter.range());
        let loops = iterated.filter_map(|at| source.text.get(at.start().to_usize()..at.end().to_usize())).collect();
        Some(Sum { added, loops })
    }
}

/// How a statement changes a sum.
enum Change<'a> {
    None,
    /// It sets the sum to a number.
    Start,
    Division,
    /// It adds this value.
    Added(&'a Expr),
    Other,
}

impl<'a> Change<'a> {
    fn of(stmt: &'a Stmt, total: &[&str]) -> Change<'a> {
        let is_total = |expr: &Expr| path_of(expr) == total;
        let sets = |target: &Expr| expressions_of(target).into_iter().any(is_total);
        match stmt {
            Stmt::AugAssign(assign) if is_total(&assign.target) => match assign.op {
                Operator::Add => Change::Added(&assign.value),
                Operator::Div => Change::Division,
                _ => Change::Other,
            },
            Stmt::Assign(assign) if assign.targets.iter().any(sets) => match &*assign.value {
                value if is_start(value) => Change::Start,
                Expr::BinOp(sum) if sum.op == Operator::Add && is_total(&sum.left) => Change::Added(&sum.right),
                Expr::BinOp(division) if division.op == Operator::Div && is_total(&division.left) => Change::Division,
                _ => Change::Other,
            },
            Stmt::AnnAssign(assign) if is_total(&assign.target) => {
                if assign.value.as_deref().is_none_or(is_start) {
                    Change::Start
                } else {
                    Change::Other
                }
            }
            Stmt::For(each) if sets(&each.target) => Change::Other,
            _ => Change::None,
        }
    }
}

/// A number, or a tuple of constants: `total, history = 0, []`.
fn is_start(value: &Expr) -> bool {
    let is_constant = |value: &Expr| {
        value.is_number_literal_expr() || value.is_list_expr() || value.is_none_literal_expr() || value.is_dict_expr()
    };
    match value {
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_constant),
        _ => value.is_number_literal_expr(),
    }
}

/// The targets in a target.
fn expressions_of(target: &Expr) -> Vec<&Expr> {
    match target {
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(expressions_of).collect(),
        Expr::List(list) => list.elts.iter().flat_map(expressions_of).collect(),
        _ => vec![target],
    }
}

/// Whether a value is the number of a loss that is a mean over the batch: `loss.item()` if the loop assigns
/// `loss` only once, or `criterion(output, target).item()`.
fn is_mean_loss(value: &Expr, each: &Stmt, source: &Source<'_>) -> bool {
    let Some(loss) = without_conversions(value) else { return false };
    if let Expr::Call(call) = loss {
        return is_mean(call, source);
    }
    let path = path_of(loss);
    let is_set = |expr: &&Expr| !is_read(expr) && path_of(expr) == path;
    if path.is_empty() || expressions(each).iter().filter(|expr| is_set(expr)).count() != 1 {
        return false;
    }
    statements(blocks(each).first().copied().unwrap_or_default(), false).into_iter().any(|stmt| {
        let Stmt::Assign(assign) = stmt else { return false };
        let is_loss = assign.targets.iter().any(|target| path_of(target) == path);
        is_loss && assign.value.as_call_expr().is_some_and(|call| is_mean(call, source))
    })
}

/// The loss in `loss.item()`, `float(loss)` or `loss.data[0]`; `None` if nothing converts it.
fn without_conversions(value: &Expr) -> Option<&Expr> {
    let inner = match value {
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) if CONVERSIONS.contains(&method.attr.as_str()) => &*method.value,
            Expr::Name(name) if name.id.as_str() == "float" => call.arguments.args.first()?,
            _ => return None,
        },
        Expr::Attribute(attribute) if attribute.attr.as_str() == "data" => &attribute.value,
        Expr::Subscript(subscript) if integer(&subscript.slice) == Some(0) => &subscript.value,
        _ => return None,
    };
    Some(without_conversions(inner).unwrap_or(inner))
}

/// Whether a call computes a loss that is a mean over the batch.
fn is_mean(call: &ExprCall, source: &Source<'_>) -> bool {
    let path = path_of(&call.func);
    if let Some((_, most)) = path.last().and_then(|last| FUNCTIONS.iter().find(|(name, _)| name == last)) {
        let is_known = match path.as_slice() {
            [name] => source.imports_from("torch", name),
            [.., module, _] => matches!(*module, "F" | "functional"),
            [] => false,
        };
        return is_known && keeps_default(&call.arguments, *most);
    }
    if path.is_empty() || has_argument(&call.arguments, "reduction") {
        return false;
    }
    let is_redefined = |stmt: &&Stmt| match stmt {
        Stmt::FunctionDef(def) => path == [def.name.as_str()],
        Stmt::ClassDef(def) => {
            path == [def.name.as_str()] || CLASSES.iter().any(|(name, _)| def.name.as_str() == *name)
        }
        _ => false,
    };
    let values = source.statements.iter().flat_map(|stmt| match stmt {
        Stmt::Assign(assign) => assign.targets.iter().map(|target| (target, Some(&*assign.value))).collect(),
        Stmt::AnnAssign(assign) => vec![(&*assign.target, assign.value.as_deref())],
        Stmt::For(each) => vec![(&*each.target, None)],
        _ => Vec::new(),
    });
    let values: Vec<Option<&Expr>> = values
        .filter(|(target, _)| expressions_of(target).into_iter().any(|target| path_of(target) == path))
        .map(|(_, value)| value)
        .collect();
    !values.is_empty()
        && values.iter().all(|value| value.is_some_and(is_mean_criterion))
        && !source.statements.iter().any(is_redefined)
}

/// Whether an expression is `nn.CrossEntropyLoss()`, perhaps moved to a device, with the default reduction.
fn is_mean_criterion(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    if let Expr::Attribute(method) = &*call.func
        && CONVERSIONS.contains(&method.attr.as_str())
    {
        return is_mean_criterion(&method.value);
    }
    let path = path_of(&call.func);
    let known = path.last().and_then(|last| CLASSES.iter().find(|(name, _)| name == last));
    let is_of_torch = path.len() == 1 || path.contains(&"nn");
    is_of_torch && known.is_some_and(|(_, most)| keeps_default(&call.arguments, *most))
}

fn keeps_default(arguments: &Arguments, most: usize) -> bool {
    let has_star = arguments.args.iter().any(Expr::is_starred_expr);
    let sets = ["reduction", "size_average", "reduce"].iter().any(|name| has_argument(arguments, name));
    arguments.args.len() <= most && !has_star && !sets
}

/// Whether a keyword argument has this name, or may have it (`**options`).
fn has_argument(arguments: &Arguments, name: &str) -> bool {
    arguments.keywords.iter().any(|keyword| keyword.arg.as_ref().is_none_or(|arg| arg.as_str() == name))
}

/// Whether the file seems to set a batch size to 1, or leaves it out.
fn has_batches_of_one(source: &Source<'_>) -> bool {
    let is_one = |line: &str| {
        let line: String = line.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        let begins_with_one = |rest: &str| {
            let rest = rest.trim_start_matches(['"', '\'', ']']).trim_start_matches(":int");
            let number = rest.strip_prefix(['=', ':']).and_then(|rest| rest.strip_prefix('1'));
            number.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | 'e')))
        };
        let after = |name: &str| line.match_indices(name).filter_map(|(at, _)| line.get(at + name.len()..)).collect();
        let sizes: Vec<&str> = BATCH_SIZES.iter().flat_map(|name| -> Vec<&str> { after(name) }).collect();
        let defaults: Vec<&str> = after("default");
        !sizes.is_empty() && sizes.into_iter().chain(defaults).any(begins_with_one)
    };
    let is_single = |call: &ExprCall| {
        let size = call.arguments.find_argument_value("batch_size", 1);
        let is_open = ["batch_size", "batch_sampler"].iter().any(|name| has_argument(&call.arguments, name));
        called(call) == Some("DataLoader")
            && size.map_or(!is_open && !call.arguments.is_empty(), |size| integer(size) == Some(1))
    };
    source.text.lines().any(is_one) || source.body.iter().flat_map(calls).any(is_single)
}
