//! `view` or `reshape` to the same sizes in another order, or to `[B, 2 * H]` from `[2, B, H]`.
//!
//! In the first case, the view must have at least three axes and move at least two sizes, which
//! must be different numbers or symbols. Two different symbols, or a symbol and a number, are
//! assumed to be different sizes.
//!
//! A view whose text names the sizes of its own input in another order is reported even if nothing is known
//! about the tensor. Both kinds of findings are at the call, so that one mistake is reported once.

use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Interp};
use crate::rules::rule::{Call, Context, Findings, Rule, Source};
use crate::rules::trace;
use crate::syntax::ast::{ExprCall, Operator};
use crate::syntax::{
    Expr, Ranged, Span, Stmt, blocks, called, calls, expressions, integer, is_method_call, is_read, path_of, statements,
};
use crate::value::{ArrayKind, Data, ObjId, Size, Tensor, Value};

const NAME: &str = "axes-swapped-by-view";
const PATHS: &[&str] = &["torch.reshape", "torch.Tensor.reshape", "torch.Tensor.view"];

/// Functions that change only the shape: the elements and their order stay the same.
const VIEWS: &[&str] =
    &["view", "reshape", "view_as", "reshape_as", "flatten", "unflatten", "squeeze", "unsqueeze", "ravel"];
/// Functions that reorder elements. If sizes are unknown, their input and output may seem to have
/// the same shape.
#[rustfmt::skip]
const MOVES: &[&str] = &[
    "permute", "transpose", "movedim", "moveaxis", "swapaxes", "swapdims", "t", "T", "mT", "H", "mH", "adjoint",
];
/// Functions that treat each element in the same way, wherever it is.
#[rustfmt::skip]
const ELEMENTWISE: &[&str] = &[
    "abs", "add", "alpha_dropout", "bfloat16", "celu", "clamp", "clip", "clone", "contiguous", "cos", "detach",
    "div", "double", "dropout", "elu", "exp", "float", "gelu", "half", "hardsigmoid", "hardswish", "hardtanh",
    "leaky_relu", "log", "mish", "mul", "neg", "pow", "relu", "relu6", "rsub", "selu", "sigmoid", "sign", "silu",
    "sin", "softplus", "softsign", "sqrt", "square", "sub", "tanh", "to", "true_divide", "type",
];
/// The largest number of steps back through the graph.
const MOST: usize = 64;

#[derive(Default)]
pub(crate) struct AxesSwappedByView;

impl Rule for AxesSwappedByView {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains(".view(") && !source.text.contains(".reshape(") {
            return;
        }
        check_text(findings, source, &Scope::of(source.body));
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            check_text(findings, source, &Scope::of(&def.body));
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        for view in views_of_narrow_input(cx, path.as_str(), bound) {
            cx.findings.retract(NAME, view);
        }
        if !PATHS.contains(&path.as_str()) || bound.open {
            return;
        }
        let Some(id) = bound.get("input").as_obj() else { return };
        let tensor = match it.heap.get(id) {
            Data::Tensor(tensor) if tensor.array == ArrayKind::Torch => tensor,
            _ => return,
        };
        let (Some(old), Some(new)) = (tensor.sizes(), asked(it, bound, &tensor.numel())) else { return };
        let merged = merged_batch(&old, &new);
        let swapped = swaps(merged.as_deref().unwrap_or(&old), &new, || is_padded(cx, id));
        if !swapped && !joins_over(&old, &new) || cx.source(span).is_some_and(|text| is_view_of_sliced_view(&text)) {
            return;
        }
        if let Some(first) = restored(cx, id, &new) {
            // If only views and elementwise functions lie between the two views, both are harmless.
            if first.harmless {
                cx.findings.retract(NAME, first.span);
            }
            return;
        }
        let text = |sizes: &[Size]| sizes.iter().map(Size::to_string).collect::<Vec<_>>().join(", ");
        let open = old.iter().zip(&new).any(|(a, b)| a.equals(b) != Some(true) && a.known().is_none());
        let message = format!(
            "from [{}] to [{}] the sizes are swapped, but the elements are not moved: use `permute` to reorder \
             axes{}",
            text(&old),
            text(&new),
            if open { " (if no size that moves is 1)" } else { "" }
        );
        let labels = tensor.shape_at.map(|span| Label { span, message: format!("shape [{}] is set here", text(&old)) });
        cx.findings.report(NAME, Severity::Warning, message, span, labels.into_iter().collect());
    }
}

/// Whether a call is a view of a slice of another view: `x.view(…)[:, 1:].view(…)`. Such views move each row
/// by one element more than the last (the "relative shift" of attention).
fn is_view_of_sliced_view(text: &str) -> bool {
    let is_view = |text: &str| text.contains(".view(") || text.contains(".reshape(");
    let last = [".view(", ".reshape("].iter().filter_map(|method| text.rfind(method)).max();
    let receiver = last.and_then(|at| text.get(..at)).unwrap_or_default().trim_end();
    receiver.ends_with(']') && is_view(receiver)
}

/// The places of the views that create the input of a layer, if this layer takes one channel or one
/// feature. One of the sizes that the views seemed to move is then 1. Between such a view and the
/// layer, elementwise functions, padding and functions that change only the shape are allowed. The
/// result of the view must have as many axes as the input of the layer.
fn views_of_narrow_input(cx: &Context<'_, '_>, path: &str, bound: &Bound) -> Vec<Span> {
    let mut views = Vec::new();
    // The rank of a batch for this layer; `None` if the layer accepts several ranks.
    let batched = match path.strip_prefix("torch.nn.functional.") {
        Some("conv1d") => Some(3),
        Some("conv2d") => Some(4),
        Some("conv3d") => Some(5),
        Some("linear") => None,
        _ => return views,
    };
    let channels = cx.it.heap.tensor_ref(&bound.get("weight")).and_then(|t| t.dim(1)?.size.known());
    if channels != Some(1) || batched.is_some() && bound.get("groups").as_int() != Some(1) {
        return views;
    }
    let input = bound.get("input");
    let rank = cx.it.heap.tensor_ref(&input).and_then(Tensor::rank).or(batched);
    let mut next = input.as_obj();
    for _ in 0..MOST {
        let Some((id, node)) = next.and_then(|id| Some((id, cx.trace.graph.node(id)?))) else { break };
        let name = node.function.trim_end_matches('_');
        if VIEWS.contains(&name) && trace::tensor(cx.it, id).and_then(Tensor::rank) == rank {
            views.push(node.span);
        }
        let passes = VIEWS.contains(&name) || ELEMENTWISE.contains(&name) || PADS.contains(&name);
        next = node.inputs.first().copied().filter(|_| passes);
    }
    views
}

/// Functions that add elements before or after the others.
const PADS: &[&str] = &["pad", "cat", "concat", "concatenate", "hstack", "vstack", "stack"];

/// Whether a tensor was padded, or written to, before it was sliced and viewed.
fn is_padded(cx: &Context<'_, '_>, tensor: ObjId) -> bool {
    let mut next = Some(tensor);
    for _ in 0..MOST {
        let Some(node) = next.and_then(|id| cx.trace.graph.node(id)) else { return false };
        let name = node.function.trim_end_matches('_');
        // The function of an assignment to elements has no name.
        if name.is_empty() || PADS.contains(&name) {
            return true;
        }
        let passes = name == "getitem" || VIEWS.contains(&name) || ELEMENTWISE.contains(&name);
        next = node.inputs.first().copied().filter(|_| passes);
    }
    false
}

/// An earlier view that a later one undoes. It is harmless if only views and elementwise functions
/// lie between the two.
struct First {
    span: Span,
    harmless: bool,
}

/// The earlier view that this one undoes: its input had the requested sizes, or may have had them,
/// and no function has reordered the elements since.
fn restored(cx: &Context<'_, '_>, tensor: ObjId, asked: &[Size]) -> Option<First> {
    let sizes = |id: ObjId| match cx.it.heap.get(id) {
        Data::Tensor(tensor) => tensor.sizes(),
        _ => None,
    };
    let alike = |a: &[Size], b: &[Size]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b) != Some(false));
    let mut next = vec![(tensor, true)];
    let mut seen: Vec<ObjId> = Vec::new();
    while let Some((id, harmless)) = next.pop() {
        if seen.contains(&id) || seen.len() > MOST {
            continue;
        }
        seen.push(id);
        let Some(node) = cx.trace.graph.node(id) else { continue };
        let name = node.function.trim_end_matches('_');
        for input in node.inputs {
            let before = sizes(input);
            if VIEWS.contains(&name) {
                if before.as_ref().is_none_or(|before| alike(before, asked)) {
                    return Some(First { span: node.span, harmless });
                }
                next.push((input, harmless));
            } else if !MOVES.contains(&name)
                && let (Some(before), Some(after)) = (before, sizes(id))
                && alike(&before, &after)
            {
                // Functions that keep the sizes, such as a norm, keep the meaning of the axes.
                next.push((input, harmless && ELEMENTWISE.contains(&name)));
            }
        }
    }
    None
}

/// The requested sizes, with the computed size in place of `-1`.
fn asked(it: &Interp<'_>, bound: &Bound, numel: &Size) -> Option<Vec<Size>> {
    let mut values = bound.rest_values();
    if values.is_empty() {
        values.push(bound.get("shape"));
    }
    if let [only] = values.as_slice()
        && let Some(items) = it.heap.exact_items(only)
    {
        values = items;
    }
    let mut sizes: Vec<Size> = values.iter().map(Value::as_size).collect::<Option<_>>()?;
    if let Some(open) = sizes.iter().position(|s| s.known() == Some(-1)) {
        let rest = sizes.iter().enumerate().filter(|(i, _)| *i != open).fold(Size::Int(1), |n, (_, s)| n.mul(s));
        *sizes.get_mut(open)? = numel.div_exact(&rest)?;
    }
    Some(sizes)
}

/// The old sizes after the first axes are merged into the first new size: `[B, T, H, W, C]` with
/// `[B * T, C, H, W]`. `None` if the view does not merge them.
fn merged_batch(old: &[Size], new: &[Size]) -> Option<Vec<Size>> {
    let count = old.len().checked_sub(new.len())?.checked_add(1).filter(|count| *count > 1)?;
    let (batch, rest) = old.split_at_checked(count)?;
    let product = batch.iter().fold(Size::Int(1), |n, size| n.mul(size));
    (new.first()?.equals(&product) == Some(true) && rest.len() >= 3)
        .then(|| std::iter::once(product).chain(rest.iter().cloned()).collect())
}

/// Whether the second of three axes becomes the first of two, and the first axis is merged with the last one.
/// In the new shape, axes of size 1 do not count. For example, the states `[2, B, H]` of a bidirectional RNN
/// become `[B, 2 * H]`.
fn joins_over(old: &[Size], new: &[Size]) -> bool {
    let wide: Vec<&Size> = new.iter().filter(|size| size.known() != Some(1)).collect();
    let ([first, second, last], [kept, joined]) = (old, wide.as_slice()) else { return false };
    let apart = |a: &Size, b: &Size| !a.is_unknown() && !b.is_unknown() && a != b;
    second.equals(kept) == Some(true)
        && first.mul(last).equals(joined) == Some(true)
        && apart(first, second)
        && ![first, second, last].iter().any(|size| size.known() == Some(1))
}

/// Whether the sizes are the same, but at least two of them are at other positions. False for a
/// view that may shift the rows of a padded tensor.
fn swaps(old: &[Size], new: &[Size], is_padded: impl FnOnce() -> bool) -> bool {
    if old.len() < 3 || old.len() != new.len() {
        return false;
    }
    let moved: Vec<(&Size, &Size)> = old.iter().zip(new).filter(|(a, b)| a.equals(b) != Some(true)).collect();
    let distinct = |sizes: &[&Size]| {
        sizes.iter().enumerate().all(|(i, a)| {
            let others = sizes.iter().skip(i + 1);
            !a.is_unknown() && a.known() != Some(1) && others.into_iter().all(|b| a != b)
        })
    };
    let (from, to): (Vec<&Size>, Vec<&Size>) = moved.into_iter().unzip();
    // Transformer-XL and Longformer shift the rows of their scores on purpose: they pad a tensor,
    // and then swap two of its sizes by a view. The view swaps the last two of four axes, or the
    // first two. The second and third axes are often the heads and steps of attention, so a swap of
    // these is treated as a shift only if the tensor was padded.
    let moves = |at: usize| old.get(at).zip(new.get(at)).is_some_and(|(a, b)| a.equals(b) != Some(true));
    // The same shift, recognised by its padding of one column: the swapped sizes differ by 1.
    let padded = |a: &Size, b: &Size| a.sub(b).known() == Some(1);
    let skewed = matches!(from.as_slice(), [a, b] if padded(a, b) || padded(b, a));
    let neighbours = old.len() == 4 && from.len() == 2;
    let shift = skewed
        || neighbours && (moves(0) && moves(1) || moves(2) && moves(3))
        || from.len() == 2 && moves(1) && moves(2) && is_padded();
    !shift && from.len() >= 2 && distinct(&from) && from.iter().all(|size| to.contains(size))
}

/// The body of a function, or of the file, whose text is checked.
struct Scope<'a> {
    body: &'a [Stmt],
    all: Vec<&'a Stmt>,
}

impl<'a> Scope<'a> {
    fn of(body: &'a [Stmt]) -> Self {
        Scope { body, all: statements(body, false) }
    }

    /// Whether the function pads any tensor, or assigns a view or a reordered tensor to this one, or the name
    /// of this one is that of a state of a recurrent network. A view may then restore the axes, or shift the
    /// rows of scores on purpose, or one of the axes may have one element.
    fn may_be_meant(&self, tensor: &[&str]) -> bool {
        let is_state = tensor.last().is_some_and(|name| {
            let name = name.to_ascii_lowercase();
            ["hid", "state", "cell"].iter().any(|part| name.contains(part))
                || matches!(name.as_str(), "h" | "hn" | "h_n" | "h0" | "hx" | "c" | "cn" | "c_n" | "c0" | "cx")
        });
        let pads = || self.all.iter().copied().filter(|stmt| is_simple(stmt)).flat_map(calls).any(is_one_of(PADS));
        is_state || self.values(tensor).any(moves_or_views) || pads()
    }

    /// The values that are assigned to a tensor.
    fn values(&self, tensor: &[&str]) -> impl Iterator<Item = &'a Expr> {
        self.all.iter().filter_map(move |stmt| {
            let assign = stmt.as_assign_stmt()?;
            assign.targets.iter().any(|target| path_of(target) == tensor).then_some(&*assign.value)
        })
    }

    /// The blocks of the function.
    fn blocks(&self) -> impl Iterator<Item = &'a [Stmt]> {
        let inner = self.all.iter().copied().filter(|stmt| !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)));
        std::iter::once(self.body).chain(inner.flat_map(blocks))
    }
}

fn is_one_of(names: &'static [&'static str]) -> impl Fn(&ExprCall) -> bool {
    move |call| called(call).is_some_and(|name| names.contains(&name))
}

/// Whether a value is computed through a view or a function that reorders elements.
fn moves_or_views(value: &Expr) -> bool {
    match value {
        Expr::Call(call) => {
            let is_one = called(call).is_some_and(|name| VIEWS.contains(&name) || MOVES.contains(&name));
            is_one || call.func.as_attribute_expr().is_some_and(|callee| moves_or_views(&callee.value))
        }
        Expr::Attribute(attribute) => MOVES.contains(&attribute.attr.as_str()),
        Expr::Subscript(subscript) => moves_or_views(&subscript.value),
        _ => false,
    }
}

/// Whether a statement is an assignment, an expression or a `return`.
fn is_simple(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::AugAssign(_) | Stmt::Expr(_) | Stmt::Return(_))
}

/// Reports the views whose text names sizes of the tensor itself in another order.
fn check_text(findings: &mut Findings<'_>, source: &Source<'_>, scope: &Scope<'_>) {
    for block in scope.blocks() {
        // The sizes that this block has given names: `B, T, D = x.shape`.
        let mut named: Vec<Named<'_>> = Vec::new();
        for stmt in block {
            if is_simple(stmt) {
                for call in calls(stmt) {
                    let Some(swapped) = swapped_sizes(call, &named) else { continue };
                    if scope.may_be_meant(&swapped.tensor) {
                        continue;
                    }
                    let message = format!(
                        "the sizes of `{}` change places (axes {}), but the elements are not moved: use `permute` to \
                         reorder axes",
                        swapped.tensor.join("."),
                        swapped.axes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                    );
                    findings.report(NAME, Severity::Warning, message, source.span(call.range()), Vec::new());
                }
            }
            let bound: Vec<Vec<&str>> =
                expressions(stmt).into_iter().filter(|expr| !is_read(expr)).map(path_of).collect();
            named.retain(|one| !bound.iter().any(|path| *path == one.tensor || is_name_in(path, &one.sizes)));
            named.extend(Named::of(stmt));
        }
    }
}

fn is_name_in(path: &[&str], names: &[&str]) -> bool {
    matches!(path, [name] if names.contains(name))
}

/// The names of the sizes of a tensor.
struct Named<'a> {
    tensor: Vec<&'a str>,
    sizes: Vec<&'a str>,
}

impl<'a> Named<'a> {
    /// `B, T, D = x.shape` or `B, T, D = x.size()`.
    fn of(stmt: &'a Stmt) -> Option<Self> {
        let assign = stmt.as_assign_stmt()?;
        let [Expr::Tuple(targets)] = assign.targets.as_slice() else { return None };
        let shape = match &*assign.value {
            Expr::Attribute(attribute) if attribute.attr.as_str() == "shape" => &*attribute.value,
            Expr::Call(call) if is_method_call(call, "size") && call.arguments.is_empty() => {
                &*call.func.as_attribute_expr()?.value
            }
            _ => return None,
        };
        let sizes: Vec<&str> =
            targets.elts.iter().map(|target| Some(target.as_name_expr()?.id.as_str())).collect::<Option<_>>()?;
        let tensor = path_of(shape);
        // A name that is given twice, such as `_`, is not the size of one axis.
        let once = sizes.iter().all(|name| sizes.iter().filter(|other| *other == name).count() == 1);
        (once && !tensor.is_empty() && !is_name_in(&tensor, &sizes)).then_some(Named { tensor, sizes })
    }
}

/// A view with the sizes of the tensor itself, in another order.
struct Swapped<'a> {
    tensor: Vec<&'a str>,
    axes: Vec<usize>,
}

/// `x.view(x.size(1), x.size(0), -1)` or `x.view(b, h * w, c)`: all sizes except one `-1` are sizes of `x`
/// or products of them, each used at most once, in another order.
fn swapped_sizes<'a>(call: &'a ExprCall, named: &[Named<'_>]) -> Option<Swapped<'a>> {
    let callee = call.func.as_attribute_expr()?;
    let tensor = path_of(&callee.value);
    if !matches!(callee.attr.as_str(), "view" | "reshape") || tensor.is_empty() || !call.arguments.keywords.is_empty() {
        return None;
    }
    let sizes = match &*call.arguments.args {
        [Expr::Tuple(tuple)] => tuple.elts.as_slice(),
        [Expr::List(list)] => list.elts.as_slice(),
        sizes => sizes,
    };
    let is_open = |size: &Expr| integer(size) == Some(-1);
    let exact: Vec<&Expr> = sizes.iter().filter(|size| !is_open(size)).collect();
    let mut merged: Vec<Vec<usize>> = exact.iter().map(|size| axes_of(size, &tensor, named)).collect::<Option<_>>()?;
    // A size `-1` holds the axes that no other size names. If it is not the last size, all must have names.
    match (sizes.iter().position(is_open), named.iter().find(|one| one.tensor == tensor)) {
        (None, _) => {}
        (Some(at), Some(one)) => {
            let rest = (0..one.sizes.len()).filter(|axis| !merged.iter().any(|axes| axes.contains(axis))).collect();
            merged.insert(at, rest);
        }
        (Some(at), None) if at + 1 == sizes.len() => {}
        _ => return None,
    }
    let axes = merged.concat();
    let once = axes.iter().all(|axis| axes.iter().filter(|other| *other == axis).count() == 1);
    // With two axes, the tensor may be a row that becomes a column.
    let is_swap = sizes.len() >= 3 && axes.len() >= 2 && once && !axes.is_sorted();
    (is_swap && !is_shift(&axes)).then_some(Swapped { tensor, axes })
}

/// The axes whose sizes an expression multiplies: `h * w`.
fn axes_of(size: &Expr, tensor: &[&str], named: &[Named<'_>]) -> Option<Vec<usize>> {
    match size {
        Expr::BinOp(product) if product.op == Operator::Mult => {
            let (left, right) = (axes_of(&product.left, tensor, named)?, axes_of(&product.right, tensor, named)?);
            let mut both = [left, right].concat();
            // The order of the factors does not matter.
            both.sort_unstable();
            Some(both)
        }
        _ => Some(vec![axis_of(size, tensor, named)?]),
    }
}

/// Whether only the first two or the last two of four axes change places: attention with relative positions shifts its
/// scores in this way.
fn is_shift(axes: &[usize]) -> bool {
    matches!(axes, [1, 0, 2, 3] | [0, 1, 3, 2])
}

/// The axis whose size an expression reads, if it reads a size of the tensor.
fn axis_of(size: &Expr, tensor: &[&str], named: &[Named<'_>]) -> Option<usize> {
    let (object, axis) = match size {
        Expr::Name(name) => {
            let sizes = &named.iter().find(|one| one.tensor == tensor)?.sizes;
            return sizes.iter().position(|one| *one == name.id.as_str());
        }
        Expr::Subscript(subscript) => {
            let shape = subscript.value.as_attribute_expr().filter(|shape| shape.attr.as_str() == "shape")?;
            (&*shape.value, &*subscript.slice)
        }
        Expr::Call(call) if is_method_call(call, "size") => match &*call.arguments.args {
            [axis] => (&*call.func.as_attribute_expr()?.value, axis),
            _ => return None,
        },
        _ => return None,
    };
    let axis = usize::try_from(integer(axis)?).ok()?;
    (path_of(object) == tensor).then_some(axis)
}
