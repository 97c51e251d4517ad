//! Searches in syntax trees.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

/// The parts of a dotted name such as `torch.nn.functional.relu`; empty for other expressions.
pub(crate) fn path_of(expr: &Expr) -> Vec<&str> {
    match expr {
        Expr::Name(name) => vec![name.id.as_str()],
        Expr::Attribute(attribute) => {
            let mut path = path_of(&attribute.value);
            if !path.is_empty() {
                path.push(attribute.attr.as_str());
            }
            path
        }
        _ => Vec::new(),
    }
}

/// Whether a class is derived directly from `nn.Module`.
pub(crate) fn is_module(class: &ast::StmtClassDef) -> bool {
    class.bases().iter().any(|base| matches!(path_of(base).as_slice(), ["Module"] | ["nn" | "torch", .., "Module"]))
}

/// Whether a class is derived directly from a class of this name, whatever its module is.
pub(crate) fn has_base(class: &ast::StmtClassDef, name: &str) -> bool {
    class.bases().iter().any(|base| path_of(base).last() == Some(&name))
}

/// Whether a base of a class is `torch.autograd.Function`.
pub(crate) fn is_autograd_function(base: &Expr) -> bool {
    matches!(path_of(base).as_slice(), ["Function"] | [.., "autograd", "Function"])
}

/// The methods that a class body defines, except those inside `if` or another block.
pub(crate) fn methods(class: &ast::StmtClassDef) -> impl Iterator<Item = &ast::StmtFunctionDef> {
    class.body.iter().filter_map(Stmt::as_function_def_stmt)
}

/// The value of an integer literal, with its sign.
pub(crate) fn integer(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::UnaryOp(negated) if negated.op == ast::UnaryOp::USub => integer(&negated.operand)?.checked_neg(),
        Expr::NumberLiteral(literal) => match &literal.value {
            ast::Number::Int(value) => value.as_i64(),
            _ => None,
        },
        _ => None,
    }
}

/// The names in the target of an assignment or a loop, without starred ones.
pub(crate) fn names_in(target: &Expr) -> Vec<&str> {
    match target {
        Expr::Name(name) => vec![name.id.as_str()],
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(names_in).collect(),
        Expr::List(list) => list.elts.iter().flat_map(names_in).collect(),
        _ => Vec::new(),
    }
}

/// Whether a body does nothing: it has only `pass`, `...` and texts.
pub(crate) fn is_empty(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::Pass(_) => true,
        Stmt::Expr(stmt) => stmt.value.is_string_literal_expr() || stmt.value.is_ellipsis_literal_expr(),
        _ => false,
    })
}

/// All statements of a body and of the blocks in it. The bodies of functions and classes are included
/// only if `definitions` is true.
pub(crate) fn statements(body: &[Stmt], definitions: bool) -> Vec<&Stmt> {
    struct All<'a> {
        found: Vec<&'a Stmt>,
        definitions: bool,
    }
    impl<'a> Visitor<'a> for All<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            self.found.push(stmt);
            if self.definitions || !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
                walk_stmt(self, stmt);
            }
        }

        // Expressions contain no statements.
        fn visit_expr(&mut self, _: &'a Expr) {}
    }
    let mut all = All { found: Vec::new(), definitions };
    all.visit_body(body);
    all.found
}

/// The blocks of a statement: its body, its `else`, its handlers, and so on.
pub(crate) fn blocks(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::FunctionDef(stmt) => vec![&stmt.body],
        Stmt::ClassDef(stmt) => vec![&stmt.body],
        Stmt::For(stmt) => vec![&stmt.body, &stmt.orelse],
        Stmt::While(stmt) => vec![&stmt.body, &stmt.orelse],
        Stmt::With(stmt) => vec![&stmt.body],
        Stmt::If(stmt) => {
            let arms = stmt.elif_else_clauses.iter().map(|clause| clause.body.as_slice());
            std::iter::once(stmt.body.as_slice()).chain(arms).collect()
        }
        Stmt::Match(stmt) => stmt.cases.iter().map(|case| case.body.as_slice()).collect(),
        Stmt::Try(stmt) => {
            let handlers = stmt.handlers.iter().map(|ast::ExceptHandler::ExceptHandler(one)| one.body.as_slice());
            [stmt.body.as_slice(), &stmt.orelse, &stmt.finalbody].into_iter().chain(handlers).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the body of a function returns or yields a value anywhere, or contains a `raise`, as
/// placeholders do. Functions and classes in it are not searched.
pub(crate) fn may_give_result(body: &[Stmt]) -> bool {
    struct Results {
        found: bool,
    }
    impl<'a> Visitor<'a> for Results {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Return(result) => self.found |= result.value.is_some(),
                Stmt::Raise(_) => self.found = true,
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                _ => walk_stmt(self, stmt),
            }
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            match expr {
                Expr::Yield(_) | Expr::YieldFrom(_) => self.found = true,
                Expr::Lambda(_) => {}
                _ => walk_expr(self, expr),
            }
        }
    }
    let mut results = Results { found: false };
    results.visit_body(body);
    results.found
}

/// The expressions in a statement, nested blocks included, with the parts of each expression.
pub(crate) fn expressions(stmt: &Stmt) -> Vec<&Expr> {
    let mut all = Expressions(Vec::new());
    all.visit_stmt(stmt);
    all.0
}

/// An expression and its parts.
pub(crate) fn parts(expr: &Expr) -> Vec<&Expr> {
    let mut all = Expressions(Vec::new());
    all.visit_expr(expr);
    all.0
}

struct Expressions<'a>(Vec<&'a Expr>);

impl<'a> Visitor<'a> for Expressions<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0.push(expr);
        walk_expr(self, expr);
    }
}

/// The target and the value of an assignment to one target.
pub(crate) fn assignment(stmt: &Stmt) -> Option<(&Expr, &Expr)> {
    match stmt {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [target] => Some((target, &assign.value)),
            _ => None,
        },
        Stmt::AnnAssign(assign) => Some((&assign.target, assign.value.as_deref()?)),
        _ => None,
    }
}

/// The object and the key in `object["key"]`.
pub(crate) fn keyed(expr: &Expr) -> Option<(&Expr, &str)> {
    let part = expr.as_subscript_expr()?;
    Some((&part.value, part.slice.as_string_literal_expr()?.value.to_str()))
}

/// The calls in a statement, nested blocks included.
pub(crate) fn calls(stmt: &Stmt) -> Vec<&ast::ExprCall> {
    expressions(stmt).into_iter().filter_map(Expr::as_call_expr).collect()
}

/// Whether a call calls a method of this name: `object.name(…)`.
pub(crate) fn is_method_call(call: &ast::ExprCall, name: &str) -> bool {
    call.func.as_attribute_expr().is_some_and(|callee| callee.attr.as_str() == name)
}

/// The name of the function or method that is called; `None` for other callees.
pub(crate) fn called(call: &ast::ExprCall) -> Option<&str> {
    match &*call.func {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// Whether a call gets arguments from a sequence or dictionary: `f(*args, **options)`.
pub(crate) fn spreads(call: &ast::ExprCall) -> bool {
    let arguments = &call.arguments;
    arguments.args.iter().any(Expr::is_starred_expr) || arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
}

/// The callee of a call; another expression itself: `decorator` for `@decorator` and `@decorator(…)`.
pub(crate) fn callee_or_itself(expr: &Expr) -> &Expr {
    expr.as_call_expr().map_or(expr, |call| &call.func)
}

/// The object in `len(object.dataset)`.
pub(crate) fn owner_of_counted_dataset(expr: &Expr) -> Option<&Expr> {
    let call = expr.as_call_expr().filter(|call| path_of(&call.func) == ["len"])?;
    let [Expr::Attribute(dataset)] = &*call.arguments.args else { return None };
    (dataset.attr.as_str() == "dataset").then_some(&*dataset.value)
}

/// The keys of a dictionary that are string literals, each with its text and its value.
pub(crate) fn entries(dict: &ast::ExprDict) -> impl Iterator<Item = (&Expr, &str, &Expr)> {
    dict.items.iter().filter_map(|item| {
        let key = item.key.as_ref()?;
        Some((key, key.as_string_literal_expr()?.value.to_str(), &item.value))
    })
}

/// The value under a key of a dictionary that is this string literal.
pub(crate) fn entry<'a>(dict: &'a ast::ExprDict, key: &str) -> Option<&'a Expr> {
    entries(dict).find_map(|(_, name, value)| (name == key).then_some(value))
}

/// Whether an expression is read: false for a name or an attribute that is assigned or deleted.
pub(crate) fn is_read(expr: &Expr) -> bool {
    match expr {
        Expr::Name(name) => name.ctx.is_load(),
        Expr::Attribute(attribute) => attribute.ctx.is_load(),
        _ => true,
    }
}

/// A part of an expression that a run of its line may leave out: a later operand of `and` and `or`, or a result of a
/// conditional expression.
#[derive(Clone, Copy)]
pub(crate) struct Operand {
    pub range: TextRange,
    /// The condition calls `hasattr`.
    pub tests_attribute: bool,
}

/// All such parts of expressions in statements.
pub(crate) fn optional_operands(body: &[Stmt]) -> Vec<Operand> {
    struct Operands(Vec<Operand>);
    impl Operands {
        fn add(&mut self, test: &Expr, operands: &[&Expr]) {
            let tests = |part: &&Expr| part.as_call_expr().and_then(called) == Some("hasattr");
            let tests_attribute = parts(test).iter().any(tests);
            self.0.extend(operands.iter().map(|operand| Operand { range: operand.range(), tests_attribute }));
        }
    }
    impl Visitor<'_> for Operands {
        fn visit_expr(&mut self, expr: &Expr) {
            match expr {
                Expr::BoolOp(operation) => {
                    for pair in operation.values.windows(2) {
                        if let [test, operand] = pair {
                            self.add(test, &[operand]);
                        }
                    }
                }
                Expr::If(choice) => self.add(&choice.test, &[&choice.body, &choice.orelse]),
                _ => {}
            }
            walk_expr(self, expr);
        }
    }
    let mut operands = Operands(Vec::new());
    operands.visit_body(body);
    operands.0
}
