//! Variables that are set only under a condition, and read without it: `if args.mixup: lam = draw()`, and later
//! `lam * loss`.
//!
//! Only conditions whose value does not change are considered: flags, comparisons of a variable with constants, and
//! combinations of these. The caller may make sure that the condition holds, so the findings are warnings.

mod places;

use rustc_hash::{FxHashMap, FxHashSet};

use self::places::{is_stored, names_of, places};

use crate::rules::arms::{Arm, arms};
use crate::rules::rule::Source;
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{self, CmpOp, ExceptHandler, Parameters, StmtFunctionDef, StmtIf, UnaryOp};
use crate::syntax::{
    Expr, Ranged, Stmt, TextRange, TextSize, assignment, blocks, bound_by, called, expressions, is_false, parts,
    path_of, statements,
};

/// A variable that an `if` statement sets, and that is read later although nothing shows that the condition holds.
pub(super) struct Unset<'a> {
    pub name: &'a str,
    /// When it is set: "if `args.mixup`".
    pub when: String,
    /// The place where the variable is set.
    pub set: TextRange,
    /// The first place that reads it.
    pub read: TextRange,
}

/// The variables of a file, and of its functions, that are set only under a condition, and read without it.
pub(super) fn unset<'a>(source: &Source<'a>) -> Vec<Unset<'a>> {
    let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
    let functions = functions.map(|def| (def.body.as_slice(), Some(def)));
    std::iter::once((source.body, None))
        .chain(functions)
        .flat_map(|(body, function)| unset_in(source, body, function))
        .collect()
}

fn unset_in<'a>(source: &Source<'a>, body: &'a [Stmt], function: Option<&'a StmtFunctionDef>) -> Vec<Unset<'a>> {
    let inside = statements(body, false);
    let sets = |one: &StmtIf| arms(one).iter().any(|arm| names_set(arm.body).next().is_some());
    if !inside.iter().any(|stmt| stmt.as_if_stmt().is_some_and(sets)) {
        return Vec::new();
    }
    let scope = Scope::new(source, body, function, inside);
    let mut found = Vec::new();
    let mut all = vec![body];
    while let Some(block) = all.pop() {
        for (at, stmt) in block.iter().enumerate() {
            if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
                all.extend(blocks(stmt));
            }
            let rest = block.get(at + 1..).unwrap_or_default();
            found.extend(stmt.as_if_stmt().and_then(|one| scope.unset(one, rest)));
        }
    }
    found
}

struct Scope<'a> {
    text: &'a str,
    module: &'a [Stmt],
    /// `None` if the scope is the module.
    function: Option<&'a StmtFunctionDef>,
    bound: Bound<'a>,
    /// See [`collected`].
    collected: FxHashSet<&'a str>,
    /// The names that statements bind, each with the place after which it is bound.
    places: Vec<(&'a str, TextSize)>,
    /// The attributes that the scope sets.
    attributes: FxHashSet<Vec<&'a str>>,
    /// The names that `global` or `nonlocal` takes from another scope.
    shared: FxHashSet<&'a str>,
    /// All statements of the scope.
    inside: Vec<&'a Stmt>,
}

impl<'a> Scope<'a> {
    fn new(
        source: &Source<'a>,
        body: &'a [Stmt],
        function: Option<&'a StmtFunctionDef>,
        inside: Vec<&'a Stmt>,
    ) -> Self {
        let parameters = function.map(|def| &*def.parameters);
        let mut bound = Bound::of(body.iter());
        let collected = parameters.into_iter().flat_map(collected).collect();
        parameters.into_iter().flat_map(Parameters::iter).for_each(|parameter| bound.add(parameter.name().as_str()));
        let mut places = places(body, &inside);
        places.extend(
            parameters.into_iter().flat_map(Parameters::iter).map(|one| (one.name().as_str(), TextSize::new(0))),
        );
        let stored = body.iter().flat_map(expressions).filter(|expr| is_stored(expr));
        let mut attributes: FxHashSet<Vec<&str>> = stored.map(path_of).filter(|path| path.len() > 1).collect();
        // `self.maps["seq"] = x` changes what `"seq" in self.maps` tells.
        let changed =
            inside.iter().copied().filter_map(assignment).filter_map(|(target, _)| target.as_subscript_expr());
        attributes.extend(changed.map(|target| path_of(&target.value)).filter(|path| !path.is_empty()));
        let mut shared = FxHashSet::default();
        for stmt in statements(body, true) {
            if let Stmt::Global(ast::StmtGlobal { names, .. }) | Stmt::Nonlocal(ast::StmtNonlocal { names, .. }) = stmt
            {
                shared.extend(names.iter().map(|name| name.as_str()));
            }
        }
        let module = source.body;
        Scope { text: source.text, module, function, bound, collected, places, attributes, shared, inside }
    }

    /// A name that one branch of an `if` statement sets, and the first place in the statements after it that reads
    /// the name although nothing shows that this branch has run.
    fn unset(&self, one: &'a StmtIf, rest: &'a [Stmt]) -> Option<Unset<'a>> {
        let arms = arms(one);
        let found: Option<Vec<_>> = arms.iter().filter_map(|arm| arm.test).map(constant_paths).collect();
        let paths = match found.map(|found| found.concat()).filter(|paths| self.is_constant(paths, one)) {
            Some(paths) => paths,
            None if arms.len() == 1 => self.paths_with_constant_operand(one)?,
            None => return None,
        };
        let read = |arm: &Arm<'a>| {
            // A missing `else` shows nothing about several conditions: they may cover all cases.
            let others_go_on =
                arms.len() == 1 || arms.iter().any(|other| !std::ptr::eq(other.body, arm.body) && !ends(other.body));
            if ends(arm.body) || !others_go_on {
                return None;
            }
            let bodies = self.bodies_with_same_condition(one, arm)?;
            let others = arms.iter().filter(|other| !std::ptr::eq(other.body, arm.body));
            let set_by_others: Vec<&str> =
                others.flat_map(|other| names_set(other.body)).map(|(name, _)| name).collect();
            let names = names_set(arm.body).filter(|(name, _)| !self.shared.contains(name));
            let read = |(name, set): (&'a str, TextRange)| {
                let read = first_read(rest, name, &paths, &set_by_others)?;
                let is_set_before = self.binds_before(name, read.start(), one, &bodies);
                (!is_set_before).then(|| Unset { name, when: self.condition(one, arm), set, read })
            };
            names.filter_map(read).min_by_key(|unset| unset.read.start())
        };
        arms.iter().filter_map(read).min_by_key(|unset| unset.read.start())
    }

    /// The paths in a condition `a and b` of which one operand stays the same, whatever the other is.
    fn paths_with_constant_operand(&self, one: &'a StmtIf) -> Option<Vec<Vec<&'a str>>> {
        let all = one.test.as_bool_op_expr().filter(|operation| operation.op == ast::BoolOp::And)?;
        let is_enough = |operand: &Expr| constant_paths(operand).is_some_and(|paths| self.is_constant(&paths, one));
        let paths: Vec<_> = parts(&one.test).into_iter().map(path_of).filter(|path| !path.is_empty()).collect();
        // `self.mask`, without `self`
        let is_whole =
            |path: &&Vec<&str>| !paths.iter().any(|other| other.len() > path.len() && other.starts_with(path));
        all.values.iter().any(is_enough).then(|| paths.iter().filter(is_whole).cloned().collect())
    }

    /// The blocks that run under the condition of a branch. Other `if` statements with the same condition have some,
    /// too. `None` if the statement is inside such a statement, where the condition holds.
    fn bodies_with_same_condition(&self, one: &StmtIf, arm: &Arm<'a>) -> Option<Vec<&'a [Stmt]>> {
        if arm.test.is_none_or(|test| test.range() != one.test.range()) {
            return Some(vec![arm.body]);
        }
        let same: Vec<&'a StmtIf> = self
            .inside
            .iter()
            .filter_map(|stmt| stmt.as_if_stmt())
            .filter(|other| self.text_of(&other.test) == self.text_of(&one.test))
            .collect();
        let is_inside = |inner: &StmtIf| {
            same.iter().any(|outer| outer.range() != inner.range() && outer.range().contains_range(inner.range()))
        };
        let bodies = same.iter().filter(|other| !is_inside(other)).map(|other| other.body.as_slice());
        (!is_inside(one)).then(|| bodies.collect())
    }

    /// Whether a statement outside of these blocks may have bound a name before this place.
    fn binds_before(&self, name: &str, place: TextSize, one: &StmtIf, blocks: &[&[Stmt]]) -> bool {
        let is_inside =
            |at: TextSize| blocks.iter().flat_map(|block| block.iter()).any(|stmt| stmt.range().contains_inclusive(at));
        // An earlier round of a loop around the statement may have run any statement of its body.
        let may_run = |at: TextSize| at <= place || self.is_in_loop_around(one, at);
        self.places.iter().any(|(bound, at)| *bound == name && may_run(*at) && !is_inside(*at))
    }

    /// Whether a place is in a loop that contains this statement.
    fn is_in_loop_around(&self, one: &StmtIf, at: TextSize) -> bool {
        let loops = self.inside.iter().filter(|stmt| matches!(stmt, Stmt::For(_) | Stmt::While(_)));
        loops.into_iter().any(|each| each.range().contains_range(one.range()) && each.range().contains_inclusive(at))
    }

    /// When a branch runs, as a part of a message.
    fn condition(&self, one: &StmtIf, arm: &Arm<'_>) -> String {
        let text = |test| self.text_of(test).split_whitespace().collect::<Vec<_>>().join(" ");
        match arm.test {
            Some(test) => format!("if `{}`", text(test)),
            None => format!("in the `else` branch of `if {}`", text(&one.test)),
        }
    }

    fn text_of(&self, test: &Expr) -> &'a str {
        self.text.get(test.range().start().to_usize()..test.range().end().to_usize()).unwrap_or_default()
    }

    /// Whether the values of a condition stay the same in the scope, as far as its statements show, and no statement
    /// makes sure that the condition holds.
    fn is_constant(&self, paths: &[Vec<&str>], one: &StmtIf) -> bool {
        let is_constant = |path: &Vec<&str>| {
            let root = path.first().copied().unwrap_or_default();
            let places = || self.places.iter().filter(|(bound, _)| *bound == root).map(|(_, at)| *at);
            let from = self.last_assignment(root, one).map_or(TextSize::new(0), |(start, _)| start);
            places().filter(|at| from <= *at && *at < one.start()).count() <= 1
                && !places().any(|at| self.is_in_loop_around(one, at))
                && !self.attributes.contains(path)
                && !self.is_fixed(root)
                && !self.is_filled_in_while(root)
                && !self.collected.contains(root)
                && (path.len() > 1 || !self.is_literal(root, one) && !self.is_length(root))
                && !self.holds_with_literals(path, &one.test)
        };
        let mut before = self.inside.iter().filter(|stmt| stmt.range().start() < one.range().start());
        if always_holds(&one.test) || is_false(&one.test) || self.is_inside_truth_of(paths, one) {
            return false;
        }
        paths.iter().all(is_constant)
            && !before.any(|stmt| guards(stmt, paths))
            && !self.constructor_guards(paths)
            && !self.constructor_makes(&one.test)
            && !self.is_called_under_conditions(paths)
            && !self.needs_object_before(paths, one)
    }

    /// Whether the condition compares with `None` what a statement that runs before it needs as an object.
    fn needs_object_before(&self, paths: &[Vec<&str>], one: &StmtIf) -> bool {
        let is_none = |expr: &Expr| expr.is_none_literal_expr();
        let body = self.function.map_or(self.module, |def| &def.body);
        one.test.as_compare_expr().is_some_and(|compare| compare.comparators.iter().all(is_none))
            && body.iter().take_while(|stmt| stmt.end() <= one.start()).any(|stmt| needs_object(stmt, paths))
    }

    /// The last assignment to a name that every path to a statement runs: its start, and its value.
    fn last_assignment(&self, name: &str, one: &StmtIf) -> Option<(TextSize, &'a Expr)> {
        let body = self.function.map_or(self.module, |def| &def.body);
        let before = body.iter().take_while(|stmt| stmt.end() <= one.start());
        let assigned = |stmt: &'a Stmt| {
            let (target, value) = assignment(stmt)?;
            (path_of(target) == [name]).then(|| (stmt.start(), value))
        };
        before.filter_map(assigned).last()
    }

    /// Whether a constructor of the file always sets an attribute to an object, with which this test about the
    /// attribute holds.
    fn constructor_makes(&self, test: &Expr) -> bool {
        let path = match test {
            Expr::Compare(compare) if *compare.ops == [CmpOp::IsNot] => path_of(&compare.left),
            test => path_of(test),
        };
        let makes = |stmt: &Stmt| {
            let object = assignment(stmt).filter(|(target, _)| path_of(target) == path).map(|(_, value)| value);
            let class = object.and_then(Expr::as_call_expr).and_then(called);
            class.is_some_and(|class| class.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        path.first() == Some(&"self") && self.constructors().any(|def| def.body.iter().any(makes))
    }

    fn constructors(&self) -> impl Iterator<Item = &'a StmtFunctionDef> {
        let functions = statements(self.module, true).into_iter().filter_map(|stmt| stmt.as_function_def_stmt());
        functions.filter(|def| def.name.as_str() == "__init__")
    }

    /// Whether these paths are attributes of `self`, and the file calls the method only under conditions about other
    /// attributes, on which they may depend.
    fn is_called_under_conditions(&self, paths: &[Vec<&str>]) -> bool {
        let about_self = paths.iter().any(|path| path.first() == Some(&"self"));
        let Some(name) = self.function.filter(|_| about_self).map(|def| def.name.as_str()) else { return false };
        let calls = |body: &[Stmt]| {
            let all = body.iter().flat_map(expressions).filter_map(Expr::as_call_expr);
            all.filter(|call| path_of(&call.func) == ["self", name]).map(|call| call.start()).collect::<Vec<_>>()
        };
        let all = statements(self.module, true);
        let branches = all.iter().filter_map(|stmt| stmt.as_if_stmt()).flat_map(arms);
        let is_about_self = |arm: &Arm<'_>| {
            arm.test.is_some_and(|test| {
                parts(test).into_iter().any(|part| matches!(path_of(part).as_slice(), ["self", _, ..]))
            })
        };
        let under: FxHashSet<_> = branches.filter(is_about_self).flat_map(|arm| calls(arm.body)).collect();
        !under.is_empty() && calls(self.module).iter().all(|call| under.contains(call))
    }

    /// Whether the statement is inside an `if x:` about one of these paths, which often makes sure that a condition
    /// such as `x is not None` holds.
    fn is_inside_truth_of(&self, paths: &[Vec<&str>], one: &StmtIf) -> bool {
        let outer = self.inside.iter().filter_map(|stmt| stmt.as_if_stmt()).filter(|outer| {
            outer.body.first().is_some_and(|first| first.start() <= one.start())
                && outer.body.last().is_some_and(|last| last.end() >= one.end())
        });
        outer.into_iter().any(|outer| paths.contains(&path_of(&outer.test)))
    }

    /// Whether the file sets an attribute of `self` only to literals, with which a condition about it holds, or may
    /// hold.
    fn holds_with_literals(&self, path: &[&str], test: &Expr) -> bool {
        let all = statements(self.module, true).into_iter().filter_map(assignment);
        let values: Vec<&Expr> = all.filter(|(target, _)| path_of(target) == path).map(|(_, value)| value).collect();
        let is_fixed = path.len() == 2 && path.first() == Some(&"self") && !values.is_empty();
        let is_false = |value: &&Expr| match test {
            Expr::Attribute(_) => is_false(value) || value.is_none_literal_expr(),
            _ => false,
        };
        is_fixed && values.iter().all(|value| value.is_literal_expr()) && !values.iter().all(is_false)
    }

    /// Whether a constructor of the file accepts only some values of one of these attributes: `if size != 1: raise …`,
    /// and then `self.size = size`.
    fn constructor_guards(&self, paths: &[Vec<&str>]) -> bool {
        let attributes = paths.iter().filter(|path| path.first() == Some(&"self"));
        let about: Vec<Vec<&str>> =
            attributes.flat_map(|path| [path.clone(), path.get(1..).unwrap_or_default().to_vec()]).collect();
        !about.is_empty()
            && self.constructors().any(|def| statements(&def.body, false).iter().any(|stmt| guards(stmt, &about)))
    }

    /// Whether a `while` loop, which may run at least once, fills a list: `rows.append(row)`.
    fn is_filled_in_while(&self, name: &str) -> bool {
        let fills = |expr: &Expr| matches!(path_of(expr).as_slice(), [object, "append" | "extend" | "add" | "insert"] if *object == name);
        let loops = self.inside.iter().filter_map(|stmt| stmt.as_while_stmt());
        loops.flat_map(|each| &each.body).flat_map(expressions).any(fills)
    }

    /// Whether the scope itself gives a variable only a constant before a statement, so that one arm never runs.
    fn is_literal(&self, name: &str, one: &StmtIf) -> bool {
        self.bound.times(name) == 1 && give_literal(self.inside.iter().copied(), name)
            || self.last_assignment(name, one).is_some_and(|(_, value)| value.is_literal_expr())
    }

    /// Whether a variable is the length of a collection. Other statements, such as loops over the collection, often
    /// run under the same condition.
    fn is_length(&self, name: &str) -> bool {
        let is_length = |value: &Expr| value.as_call_expr().is_some_and(|call| path_of(&call.func) == ["len"]);
        let mut assigned = self.inside.iter().copied().filter_map(assignment);
        assigned.any(|(target, value)| path_of(target) == [name] && is_length(value))
    }

    /// Whether the module gives a name only a constant, a function or a class, so that one arm never runs.
    fn is_fixed(&self, name: &str) -> bool {
        let defines = |stmt: &Stmt| match stmt {
            Stmt::FunctionDef(def) => def.name.as_str() == name,
            Stmt::ClassDef(def) => def.name.as_str() == name,
            _ => false,
        };
        if self.bound.times(name) == 0 && self.module.iter().any(defines) {
            return true;
        }
        give_literal(self.module.iter(), name)
    }
}

/// Whether one of the statements assigns a constant to a name.
fn give_literal<'a>(statements: impl Iterator<Item = &'a Stmt>, name: &str) -> bool {
    let assigned = statements.filter_map(Stmt::as_assign_stmt);
    let mut to = assigned.filter(|assign| assign.targets.iter().any(|target| path_of(target) == [name]));
    to.any(|assign| assign.value.is_literal_expr())
}

/// The names that the statements of a block itself assign, with the places.
fn names_set(body: &[Stmt]) -> impl Iterator<Item = (&str, TextRange)> {
    let targets = body.iter().flat_map(|stmt| match stmt {
        Stmt::Assign(assign) => assign.targets.as_slice(),
        _ => &[],
    });
    targets.flat_map(names_of)
}

/// How often statements bind each name.
struct Bound<'a>(FxHashMap<&'a str, usize>);

impl<'a> Bound<'a> {
    fn of(body: impl Iterator<Item = &'a Stmt>) -> Bound<'a> {
        let mut bound = Bound(FxHashMap::default());
        for stmt in body {
            for name in expressions(stmt).into_iter().filter(|expr| is_stored(expr)).filter_map(Expr::as_name_expr) {
                bound.add(name.id.as_str());
            }
            for stmt in statements(std::slice::from_ref(stmt), true) {
                match stmt {
                    Stmt::FunctionDef(def) => {
                        bound.add(def.name.as_str());
                        def.parameters.iter().for_each(|parameter| bound.add(parameter.name().as_str()));
                    }
                    Stmt::ClassDef(def) => bound.add(def.name.as_str()),
                    Stmt::Import(ast::StmtImport { names, .. })
                    | Stmt::ImportFrom(ast::StmtImportFrom { names, .. }) => {
                        for alias in names {
                            bound.add(bound_by(alias));
                        }
                    }
                    // The name may be bound anywhere.
                    Stmt::Global(ast::StmtGlobal { names, .. }) | Stmt::Nonlocal(ast::StmtNonlocal { names, .. }) => {
                        for name in names {
                            bound.add(name.as_str());
                        }
                    }
                    Stmt::Try(attempt) => {
                        for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                            handler.name.iter().for_each(|name| bound.add(name.as_str()));
                        }
                    }
                    _ => {}
                }
            }
        }
        bound
    }

    fn add(&mut self, name: &'a str) {
        *self.0.entry(name).or_default() += 1;
    }

    fn times(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or_default()
    }
}

/// The paths in a condition that is made of flags and comparisons with constants; `None` for other conditions.
fn constant_paths(test: &Expr) -> Option<Vec<Vec<&str>>> {
    let path = |expr| Some(path_of(expr)).filter(|path| !path.is_empty());
    match test {
        Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => constant_paths(&operation.operand),
        Expr::BoolOp(operation) => {
            let parts: Option<Vec<_>> = operation.values.iter().map(constant_paths).collect();
            parts.map(|parts| parts.concat())
        }
        Expr::Compare(compare) => {
            let [right] = &*compare.comparators else { return None };
            let is_constant = |expr: &Expr| match expr {
                Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                    elts.iter().all(Expr::is_literal_expr)
                }
                expr => expr.is_literal_expr(),
            };
            match (&*compare.left, right) {
                (left @ Expr::Call(_), right) if is_constant(right) => constant_paths(left),
                (left, right) if is_constant(right) => Some(vec![path(left)?]),
                (left, right) if left.is_string_literal_expr() => Some(vec![path(right)?]),
                _ => None,
            }
        }
        Expr::Call(call) if path_of(&call.func) == ["hasattr"] => Some(vec![path(call.arguments.args.first()?)?]),
        // `settings.has_option("train", "full")`, `settings.get("labels", None)`
        Expr::Call(call)
            if called(call).is_some_and(|name| matches!(name, "get" | "getboolean" | "has_option" | "has_section"))
                && call.arguments.args.iter().all(Expr::is_literal_expr)
                && call.arguments.keywords.is_empty() =>
        {
            Some(vec![path(&call.func.as_attribute_expr()?.value)?])
        }
        Expr::Name(_) | Expr::Attribute(_) => Some(vec![path(test)?]),
        _ => None,
    }
    .filter(|paths| {
        !paths.iter().any(|path| matches!(path.as_slice(), ["__name__" | "TYPE_CHECKING"] | [_, "TYPE_CHECKING"]))
    })
}

/// The conditions of an `if` statement.
fn tests(one: &StmtIf) -> impl Iterator<Item = &Expr> {
    std::iter::once(&*one.test).chain(one.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref()))
}

/// The parameters `*args` and `**kwargs` of a function, which are never `None`.
pub(super) fn collected(parameters: &Parameters) -> impl Iterator<Item = &str> {
    let all = [&parameters.vararg, &parameters.kwarg].into_iter().flatten();
    all.map(|parameter| parameter.name.as_str())
}

/// Whether an expression contains one of these paths.
pub(super) fn mentions(expr: &Expr, paths: &[Vec<&str>]) -> bool {
    parts(expr).into_iter().any(|part| paths.contains(&path_of(part)))
}

/// Whether a condition is about other options than the paths are: about `args.validate` if they contain
/// `args.resume`. Other conditions often hold only together with the one of the paths.
fn is_independent(test: &Expr, paths: &[Vec<&str>]) -> bool {
    let is_option = |path: &Vec<&str>| {
        let same_root = |other: &Vec<&str>| other.len() > 1 && other.first() == path.first();
        path.len() > 1 && path.first() != Some(&"self") && paths.iter().any(same_root)
    };
    !mentions(test, paths) && constant_paths(test).is_some_and(|about| about.iter().all(is_option))
}

/// The two sides of `x != value` and of `x is not value`.
fn unequal(expr: &Expr) -> Option<(Vec<&str>, &Expr)> {
    let compare = expr.as_compare_expr()?;
    let is_unequal = matches!(&*compare.ops, [ast::CmpOp::NotEq | ast::CmpOp::IsNot]);
    let path = Some(path_of(&compare.left)).filter(|path| is_unequal && !path.is_empty())?;
    Some((path, compare.comparators.first()?))
}

/// Whether a condition such as `x is not None or x != ""` holds for every value.
fn always_holds(test: &Expr) -> bool {
    let Some(any) = test.as_bool_op_expr().filter(|operation| operation.op == ast::BoolOp::Or) else { return false };
    let parts: Vec<_> = any.values.iter().filter_map(unequal).collect();
    parts.iter().enumerate().any(|(at, (path, value))| {
        let is_other = |other: &Expr| ast::comparable::ComparableExpr::from(other) != (*value).into();
        parts.iter().skip(at + 1).any(|(other, given)| other == path && is_other(given))
    })
}

/// Whether a statement ends the scope, or the round of a loop, under a condition with one of these paths.
fn guards(stmt: &Stmt, paths: &[Vec<&str>]) -> bool {
    match stmt {
        Stmt::Assert(assert) => mentions(&assert.test, paths),
        Stmt::If(one) => tests(one).any(|test| mentions(test, paths)) && blocks(stmt).into_iter().any(ends),
        _ => false,
    }
}

/// Whether a statement is a call that raises under some condition: `response.raise_for_status()`.
fn may_raise(stmt: &Stmt) -> bool {
    let call = stmt.as_expr_stmt().and_then(|stmt| stmt.value.as_call_expr());
    call.and_then(called).is_some_and(|name| name.contains("raise"))
}

/// Whether a statement without blocks reads an attribute, an element or the length of one of these paths.
fn needs_object(stmt: &Stmt, paths: &[Vec<&str>]) -> bool {
    let is_needed = |expr: &Expr| match expr {
        Expr::Attribute(read) => paths.contains(&path_of(&read.value)),
        Expr::Subscript(read) => paths.contains(&path_of(&read.value)),
        Expr::Call(call) if path_of(&call.func) == ["len"] => {
            call.arguments.args.iter().any(|argument| paths.contains(&path_of(argument)))
        }
        _ => false,
    };
    blocks(stmt).is_empty() && expressions(stmt).into_iter().any(is_needed)
}

/// Whether a block ends before the statements after it. The rest of a block after `return` or `raise` never runs.
pub(super) fn ends(body: &[Stmt]) -> bool {
    let leaves = |stmt: &Stmt| matches!(stmt, Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_));
    match body.last() {
        _ if body.iter().any(leaves) => true,
        Some(Stmt::Assert(assert)) => is_false(&assert.test),
        Some(Stmt::Expr(stmt)) => {
            let function = stmt.value.as_call_expr().and_then(called);
            function.is_some_and(|name| matches!(name, "exit" | "_exit" | "quit" | "abort" | "error" | "fail"))
        }
        Some(stmt @ Stmt::If(one)) => {
            one.elif_else_clauses.last().is_some_and(|clause| clause.test.is_none())
                && blocks(stmt).into_iter().all(ends)
        }
        _ => false,
    }
}

/// The first place in statements that reads a name, except under a condition that contains the name or one of the
/// paths, in a `try` statement, and after a statement that [`guards`]. What is computed from the variables that the
/// other branches set (`set_by_others`) also shows which branch has run.
fn first_read(body: &[Stmt], name: &str, paths: &[Vec<&str>], set_by_others: &[&str]) -> Option<TextRange> {
    let mut all = paths.to_vec();
    all.push(vec![name]);
    let mut telling = all.clone();
    telling.extend(set_by_others.iter().map(|name| vec![*name]));
    let mut end = body.len();
    for (at, stmt) in body.iter().enumerate() {
        if guards(stmt, &telling) || may_raise(stmt) {
            end = at;
            break;
        }
        // The attribute of a variable that is `None` cannot be read.
        if needs_object(stmt, paths) {
            end = at + 1;
            break;
        }
        if let Stmt::Assign(assign) = stmt
            && mentions(&assign.value, &telling)
        {
            telling.extend(assign.targets.iter().flat_map(parts).map(path_of).filter(|path| !path.is_empty()));
        }
    }
    let mut reads = Reads { name, paths: &all, found: None };
    reads.visit_body(body.get(..end).unwrap_or_default());
    reads.found
}

struct Reads<'a> {
    name: &'a str,
    paths: &'a [Vec<&'a str>],
    found: Option<TextRange>,
}

impl<'a> Visitor<'a> for Reads<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let is_guarded = match stmt {
            Stmt::If(one) => !tests(one).all(|test| is_independent(test, self.paths)),
            Stmt::While(each) => mentions(&each.test, self.paths),
            // With `for _ in range(count):`, a body that runs shows that `count > 0`.
            Stmt::For(each) => mentions(&each.iter, self.paths),
            Stmt::Try(_) | Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Match(_) => true,
            _ => false,
        };
        if !is_guarded && self.found.is_none() {
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let is_guarded = match expr {
            Expr::If(choice) => !is_independent(&choice.test, self.paths),
            // Some operands are not evaluated.
            Expr::BoolOp(_) | Expr::Lambda(_) => true,
            _ => false,
        };
        if is_guarded || self.found.is_some() {
            return;
        }
        match expr {
            Expr::Name(name) if name.id.as_str() == self.name && name.ctx.is_load() => self.found = Some(name.range()),
            // In a comprehension that binds the name, only the first iterable reads the name outside.
            _ if let Some([first, ..]) = generators(expr)
                && generators(expr)
                    .into_iter()
                    .flatten()
                    .any(|one| names_of(&one.target).any(|(bound, _)| bound == self.name)) =>
            {
                self.visit_expr(&first.iter);
            }
            _ => walk_expr(self, expr),
        }
    }
}

/// The `for` clauses of a comprehension.
fn generators(expr: &Expr) -> Option<&[ast::Comprehension]> {
    match expr {
        Expr::ListComp(it) => Some(&it.generators),
        Expr::SetComp(it) => Some(&it.generators),
        Expr::DictComp(it) => Some(&it.generators),
        Expr::Generator(it) => Some(&it.generators),
        _ => None,
    }
}
