//! What functions and loops do, according to their syntax: which values they move, pass on or
//! differentiate.

use rustc_hash::FxHashSet;

use super::names::{named_device, path_text, root};
use crate::python::Words;
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{ExprAttribute, ExprCall, StmtFor};
use crate::syntax::{Expr, Stmt, called, calls, statements};

/// Whether an annotation contains the name `Tensor`.
pub(super) fn mentions_tensor(annotation: &Expr) -> bool {
    match annotation {
        Expr::Name(name) => name.id.as_str() == "Tensor",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "Tensor",
        Expr::Subscript(subscript) => mentions_tensor(&subscript.slice),
        Expr::Tuple(tuple) => tuple.elts.iter().any(mentions_tensor),
        Expr::BinOp(union) => mentions_tensor(&union.left) || mentions_tensor(&union.right),
        _ => false,
    }
}

/// Whether an annotation is the name of a class that is certainly not a tensor or an array.
pub(in crate::python) fn names_other_class(annotation: &Expr) -> bool {
    let name = match annotation {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::StringLiteral(text) => text.value.to_str().rsplit('.').next().unwrap_or_default(),
        _ => return false,
    };
    // A short name is often a type variable.
    let is_class =
        name.len() > 2 && name.starts_with(|c: char| c.is_uppercase()) && name.chars().all(char::is_alphanumeric);
    is_class && !["Tensor", "Array", "Variable", "Parameter", "Any"].iter().any(|word| name.contains(word))
}

/// Methods that show that a parameter of `forward` is a tensor.
const OF_TENSORS: &[&str] = &[
    "argsort",
    "bmm",
    "chunk",
    "expand",
    "log_softmax",
    "masked_fill",
    "matmul",
    "norm",
    "permute",
    "sigmoid",
    "softmax",
    "topk",
    "unsqueeze",
    "view",
];

/// How a function uses a parameter: the attributes of `self` that are called with the parameter as
/// the first argument, and whether the parameter is used as a tensor: several of its dimensions are
/// indexed, or one of the methods in [`OF_TENSORS`] is called.
pub(super) struct Passed<'a> {
    name: &'a str,
    pub(super) to: Vec<&'a str>,
    pub(super) as_tensor: bool,
}

impl<'a> Passed<'a> {
    pub(super) fn read(name: &'a str, body: &'a [Stmt]) -> Passed<'a> {
        let mut passed = Passed { name, to: Vec::new(), as_tensor: false };
        passed.visit_body(body);
        passed
    }
}

impl<'a> Visitor<'a> for Passed<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        let own = |value: &Expr| value.as_name_expr().is_some_and(|name| name.id.as_str() == self.name);
        match expr {
            Expr::Call(call)
                if let Expr::Attribute(method) = &*call.func
                    && method.value.as_name_expr().is_some_and(|object| object.id.as_str() == "self")
                    && call.arguments.args.first().is_some_and(own) =>
            {
                self.to.push(method.attr.as_str());
            }
            Expr::Subscript(subscript) if own(&subscript.value) => {
                let dims = subscript.slice.as_tuple_expr();
                self.as_tensor |= dims.is_some_and(|dims| dims.elts.iter().any(Expr::is_slice_expr));
            }
            Expr::Call(call)
                if let Expr::Attribute(method) = &*call.func
                    && own(&method.value) =>
            {
                self.as_tensor |= OF_TENSORS.contains(&method.attr.as_str());
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// The moments of training in a block of statements, recognised by the names of methods.
#[derive(Default)]
struct Training<'a> {
    backward: Option<&'a ExprCall>,
    /// An optimizer makes a step.
    steps: bool,
    /// Something may clear gradients, or create the optimizer.
    clears: bool,
}

/// The `backward()` in the body of a loop that also contains the step of an optimizer, if nothing in
/// the body, in the function around it, or in a function of the file that the body calls clears gradients.
pub(super) fn accumulating<'a>(body: &'a [Stmt], function: &'a [Stmt], file: &'a [Stmt]) -> Option<&'a ExprCall> {
    let read = |body: &'a [Stmt]| {
        let mut training = Training::default();
        training.visit_body(body);
        training
    };
    let training = read(body);
    let clears_elsewhere = || {
        let names: FxHashSet<&str> = body.iter().flat_map(calls).filter_map(called).collect();
        let all = statements(file, true);
        let mut functions = all.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        functions.any(|function| names.contains(function.name.as_str()) && read(&function.body).clears)
    };
    let found = training.backward.filter(|_| training.steps && !training.clears && !read(function).clears);
    found.filter(|_| !clears_elsewhere())
}

fn names_optimizer(expr: &Expr) -> bool {
    let text = path_text(expr).unwrap_or_default().to_ascii_lowercase();
    text.rsplit('.').next().is_some_and(|name| name.contains("optim") || name.starts_with("opt"))
}

impl<'a> Visitor<'a> for Training<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            // A nested loop accumulates gradients on purpose, or is checked itself.
            Stmt::For(_) | Stmt::While(_) if self.backward.is_some() || self.steps => self.clears = true,
            Stmt::Assign(assign) => self.clears |= assign.targets.iter().any(names_optimizer),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Attribute(attribute) => {
                let name = attribute.attr.as_str();
                self.clears |= ["zero", "reset", "clear"].iter().any(|part| name.contains(part)) || name == "grad";
            }
            Expr::Name(name) => self.clears |= name.id.as_str().contains("zero"),
            Expr::Call(call) => {
                let method = call.func.as_attribute_expr();
                let name = method.map_or("", |method| method.attr.as_str());
                match name {
                    "backward" if call.arguments.args.is_empty() => self.backward = Some(call),
                    // `accelerator.backward(loss)`
                    "backward" => self.clears = true,
                    "step" if method.is_some_and(|method| names_optimizer(&method.value)) => {
                        // A closure computes the gradients.
                        self.steps = true;
                        self.clears |= !call.arguments.is_empty();
                    }
                    "step" => self.steps |= call.arguments.args.iter().any(names_optimizer),
                    // `scaler.unscale_(optimizer)`
                    "unscale_" | "update" | "clip_grad_norm_" => {}
                    // The function may clear the gradients of the optimizer.
                    _ => self.clears |= call.arguments.args.iter().any(names_optimizer),
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// The names that a target of an assignment binds.
fn bound_names<'a>(target: &'a Expr, names: &mut FxHashSet<&'a str>) {
    match target {
        Expr::Name(name) => {
            names.insert(name.id.as_str());
        }
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| bound_names(target, names)),
        Expr::List(list) => list.elts.iter().for_each(|target| bound_names(target, names)),
        Expr::Starred(starred) => bound_names(&starred.value, names),
        _ => {}
    }
}

/// Whether a call moves an object to a device, and does not cast it to a dtype.
fn is_move(call: &ExprCall, method: &ExprAttribute) -> bool {
    let names_device = |expr: &Expr| match expr {
        Expr::StringLiteral(text) => text.value.to_str().starts_with("cuda"),
        expr => named_device(expr).is_some(),
    };
    match method.attr.as_str() {
        "cuda" => true,
        "to" => {
            call.arguments.args.first().is_some_and(names_device) || call.arguments.find_keyword("device").is_some()
        }
        _ => false,
    }
}

/// Whether the body of a loop moves an element of the loop, or a part of it, to another device.
pub(super) fn moves_elements(stmt: &StmtFor) -> bool {
    struct Moves<'a> {
        names: FxHashSet<&'a str>,
        /// The name of a whole element.
        whole: Option<&'a str>,
        found: bool,
        /// The body moves an element in place, or replaces a part of it: `batch[key] = batch[key].to(device)`.
        replaced: bool,
    }
    impl<'a> Visitor<'a> for Moves<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            // `x, y = batch`
            if let Stmt::Assign(assign) = stmt {
                let values: &[Expr] = match &*assign.value {
                    Expr::Tuple(tuple) => &tuple.elts,
                    one => std::slice::from_ref(one),
                };
                self.replaced |= assign
                    .targets
                    .iter()
                    .any(|target| !target.is_name_expr() && root(target).is_some_and(|name| self.names.contains(name)));
                if values.iter().all(|value| root(value).is_some_and(|name| self.names.contains(name))) {
                    assign.targets.iter().for_each(|target| bound_names(target, &mut self.names));
                }
            }
            // `batch.to(device)`: batches of graphs, and those of tokenizers, move in place.
            if let Stmt::Expr(stmt) = stmt
                && let Expr::Call(call) = &*stmt.value
                && let Expr::Attribute(method) = &*call.func
            {
                let is_whole = method.value.as_name_expr().is_some_and(|name| Some(name.id.as_str()) == self.whole);
                self.replaced |= is_whole && is_move(call, method);
            }
            walk_stmt(self, stmt);
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Call(call) = expr
                && let Expr::Attribute(method) = &*call.func
                && is_move(call, method)
                && root(&method.value).is_some_and(|name| self.names.contains(name))
            {
                self.found = true;
            }
            walk_expr(self, expr);
        }
    }
    let whole = match &*stmt.target {
        // `for i, batch in enumerate(loader)`
        Expr::Tuple(pair) if is_enumeration(&stmt.iter) => pair.elts.get(1),
        target => Some(target),
    };
    let whole = whole.and_then(Expr::as_name_expr).map(|name| name.id.as_str());
    let mut moves = Moves { names: FxHashSet::default(), whole, found: false, replaced: false };
    bound_names(&stmt.target, &mut moves.names);
    moves.visit_body(&stmt.body);
    moves.found && !moves.replaced
}

/// Whether a loop may be over a loader: the iterable is a name or an attribute, or `enumerate` or a
/// progress bar around it.
pub(super) fn may_be_over_loader(iterable: &Expr) -> bool {
    match iterable {
        Expr::Name(_) | Expr::Attribute(_) => true,
        Expr::Call(call) => {
            let name = path_text(&call.func).unwrap_or_default();
            let name = name.rsplit('.').next().unwrap_or_default();
            let wraps = matches!(name, "enumerate" | "tqdm" | "trange" | "track" | "progress_bar" | "islice");
            wraps && call.arguments.args.first().is_some_and(may_be_over_loader)
        }
        _ => false,
    }
}

/// Whether an iterable is `enumerate(…)`, with or without a progress bar around it.
fn is_enumeration(iterable: &Expr) -> bool {
    iterable.as_call_expr().is_some_and(|call| {
        path_text(&call.func).as_deref() == Some("enumerate") || call.arguments.args.first().is_some_and(is_enumeration)
    })
}

/// Whether a function mentions something that moves a tensor to the CPU, or returns one that it makes there.
pub(super) fn moves_to_host(body: &[Stmt], words: &'static Words) -> bool {
    let mut moves = MovesToHost { words, found: false };
    moves.visit_body(body);
    moves.found || returns_own(body, words)
}

/// Whether a function returns the result of a factory that gets no device: `out = torch.zeros(n)`, `return out`.
fn returns_own(body: &[Stmt], words: &'static Words) -> bool {
    let all = statements(body, false);
    let is_made = |expr: &Expr| {
        let call = expr.as_call_expr().filter(|call| call.arguments.find_keyword("device").is_none());
        call.and_then(called).is_some_and(|name| words.factories.contains(&name))
    };
    let is_own = |expr: &Expr| {
        is_made(expr)
            || expr.as_name_expr().is_some_and(|name| {
                let assigns = all.iter().filter_map(|stmt| stmt.as_assign_stmt());
                let mut own = assigns.filter(|assign| is_made(&assign.value)).flat_map(|assign| &assign.targets);
                own.any(|target| target.as_name_expr().is_some_and(|target| target.id == name.id))
            })
    };
    all.iter().filter_map(|stmt| stmt.as_return_stmt()?.value.as_deref()).any(|value| match value {
        Expr::Tuple(tuple) => tuple.elts.iter().any(is_own),
        value => is_own(value),
    })
}

/// The names of the classes of which a constructor makes these attributes: `self.part = Part(…)`.
pub(super) fn parts_made<'a>(constructor: &'a [Stmt], attributes: &FxHashSet<&str>) -> Vec<&'a str> {
    let made = statements(constructor, false).into_iter().filter_map(|stmt| {
        let assign = stmt.as_assign_stmt()?;
        let class = assign.value.as_call_expr()?.func.as_name_expr()?;
        let [Expr::Attribute(target)] = assign.targets.as_slice() else { return None };
        attributes.contains(target.attr.as_str()).then_some(class.id.as_str())
    });
    made.collect()
}

/// The attributes of `self` that a method uses.
pub(super) fn names_of_self(body: &[Stmt]) -> FxHashSet<&str> {
    struct Names<'a>(FxHashSet<&'a str>);
    impl<'a> Visitor<'a> for Names<'a> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Attribute(ExprAttribute { value, attr, .. }) = expr
                && value.as_name_expr().is_some_and(|name| name.id.as_str() == "self")
            {
                self.0.insert(attr.as_str());
            }
            walk_expr(self, expr);
        }
    }
    let mut names = Names(FxHashSet::default());
    names.visit_body(body);
    names.0
}

struct MovesToHost {
    words: &'static Words,
    found: bool,
}

impl<'a> Visitor<'a> for MovesToHost {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.found |= match expr {
            Expr::Attribute(attribute) => self.words.to_host.contains(&attribute.attr.as_str()),
            Expr::StringLiteral(text) => text.value.to_str() == "cpu",
            _ => false,
        };
        walk_expr(self, expr);
    }
}

/// Whether statements contain a call of a function or method of one of these names.
pub(in crate::python) fn calls_any(body: &[Stmt], names: &[&str]) -> bool {
    struct Calls<'n> {
        names: &'n [&'n str],
        found: bool,
    }
    impl<'a> Visitor<'a> for Calls<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Call(call) = expr {
                self.found |= match &*call.func {
                    Expr::Name(name) => self.names.contains(&name.id.as_str()),
                    Expr::Attribute(method) => self.names.contains(&method.attr.as_str()),
                    _ => false,
                };
            }
            walk_expr(self, expr);
        }
    }
    let mut calls = Calls { names, found: false };
    calls.visit_body(body);
    calls.found
}
