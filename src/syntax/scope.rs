//! The names that the statements of a scope bind.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{self as ast, Expr, Stmt};
use rustc_hash::FxHashSet;

use super::bindings::bound_by;

/// The builtins of Python 3, names that interactive tools add, and builtins of Python 2. The
/// builtins of Python 2 are included because a program may test for the version in many ways.
pub(super) const BUILTINS: &str = "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError \
    BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError \
    ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError \
    Exception ExceptionGroup FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError \
    ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError \
    KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplemented \
    NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError \
    PythonFinalizationError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning \
    StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError \
    UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning \
    UserWarning ValueError Warning WindowsError ZeroDivisionError abs aiter all anext any ascii bin bool breakpoint \
    bytearray bytes callable chr classmethod compile complex copyright credits delattr dict dir divmod enumerate eval \
    exec exit filter float format frozenset getattr globals hasattr hash help hex id input int isinstance issubclass \
    iter len license list locals map max memoryview min next object oct open ord pow print property quit range repr \
    reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip \
    _ In Out snakemake dbutils display get_config get_ipython profile reveal_locals reveal_type \
    StandardError apply basestring buffer cmp coerce execfile file intern long raw_input reduce reload unichr unicode \
    xrange";

/// Whether a name is one of [`BUILTINS`].
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.split_whitespace().any(|builtin| builtin == name)
}

/// The names that the statements of one scope bind, nested functions and classes excluded.
#[derive(Default)]
pub(super) struct Bound<'a> {
    pub names: FxHashSet<&'a str>,
    /// Names that `global` or `nonlocal` takes from another scope.
    pub outer: FxHashSet<&'a str>,
    /// There is a `from … import *`.
    pub star: bool,
}

impl<'a> Bound<'a> {
    fn of_target(&mut self, target: &'a Expr) {
        each_name(target, &mut |name| _ = self.names.insert(name));
    }

    fn of_import(&mut self, aliases: &'a [ast::Alias]) {
        for alias in aliases {
            self.star |= alias.name.as_str() == "*";
            self.names.insert(bound_by(alias));
        }
    }

    fn of_generators(&mut self, generators: &'a [ast::Comprehension]) {
        for generator in generators {
            self.visit_expr(&generator.iter);
            generator.ifs.iter().for_each(|test| self.visit_expr(test));
        }
    }
}

impl<'a> Visitor<'a> for Bound<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            // Decorators, defaults and bases are evaluated in this scope, in which `:=` binds names.
            Stmt::FunctionDef(def) => {
                self.names.insert(&def.name);
                def.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                def.parameters.iter().filter_map(|one| one.default()).for_each(|default| self.visit_expr(default));
            }
            Stmt::ClassDef(def) => {
                self.names.insert(&def.name);
                def.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                def.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
            }
            Stmt::TypeAlias(alias) => self.of_target(&alias.name),
            Stmt::Import(import) => self.of_import(&import.names),
            Stmt::ImportFrom(import) => self.of_import(&import.names),
            Stmt::Global(global) => self.outer.extend(global.names.iter().map(ast::Identifier::as_str)),
            Stmt::Nonlocal(nonlocal) => self.outer.extend(nonlocal.names.iter().map(ast::Identifier::as_str)),
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if !name.ctx.is_load() => _ = self.names.insert(&name.id),
            Expr::Lambda(_) => {}
            // The targets of a comprehension are its own, but `:=` binds in the scope around it.
            Expr::ListComp(ast::ExprListComp { elt, generators, .. })
            | Expr::SetComp(ast::ExprSetComp { elt, generators, .. })
            | Expr::Generator(ast::ExprGenerator { elt, generators, .. }) => {
                self.visit_expr(elt);
                self.of_generators(generators);
            }
            Expr::DictComp(ast::ExprDictComp { key, value, generators, .. }) => {
                key.iter().chain([value]).for_each(|part| self.visit_expr(part));
                self.of_generators(generators);
            }
            _ => walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(handler) = handler;
        self.names.extend(handler.name.as_ref().map(ast::Identifier::as_str));
        self.visit_body(&handler.body);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        self.names.extend(captured(pattern));
        walk_pattern(self, pattern);
    }
}

/// The name that a pattern itself binds, without the names that its parts bind.
pub(crate) fn captured(pattern: &ast::Pattern) -> Option<&str> {
    let name = match pattern {
        ast::Pattern::MatchAs(one) => one.name.as_ref(),
        ast::Pattern::MatchStar(one) => one.name.as_ref(),
        ast::Pattern::MatchMapping(one) => one.rest.as_ref(),
        _ => None,
    };
    name.map(ast::Identifier::as_str)
}

/// The names that an assignment to `target` binds.
pub(super) fn each_name<'a>(target: &'a Expr, bind: &mut dyn FnMut(&'a str)) {
    match target {
        Expr::Name(name) => bind(&name.id),
        Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
            for target in elts {
                each_name(target, bind);
            }
        }
        Expr::Starred(starred) => each_name(&starred.value, bind),
        _ => {}
    }
}

/// The names that functions may bind in the module: names that some function declares as `global`,
/// and strings that a decorator gets, because it may bind the function to these names
/// (`@alias("Dice")`).
#[derive(Default)]
pub(super) struct Globals<'a>(pub FxHashSet<&'a str>);

impl<'a> Visitor<'a> for Globals<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Global(global) => self.0.extend(global.names.iter().map(ast::Identifier::as_str)),
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_decorator(&mut self, decorator: &'a ast::Decorator) {
        if let Expr::Call(call) = &decorator.expression {
            let text = |arg: &'a Expr| arg.as_string_literal_expr().map(|text| text.value.to_str());
            self.0.extend(call.arguments.args.iter().filter_map(text));
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}
