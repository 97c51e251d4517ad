//! What the objects of a file are, according to the methods that the file calls.

use rustc_hash::FxHashSet;

use super::names::{path_text, root};
use crate::python::Words;
use crate::syntax::ast::ExprCall;
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::{Expr, Ranged, Stmt, TextSize};

/// What the objects of a file are, according to the methods that it calls. The objects are
/// identified by the text of their names.
#[derive(Default)]
pub(in crate::python) struct Protocols {
    /// Objects on which the file calls methods of modules.
    modules: FxHashSet<String>,
    /// Objects whose `device` the file reads.
    placed: FxHashSet<String>,
    /// Objects that the file calls.
    called: FxHashSet<String>,
    /// Names, each with the function that computes it: `criterion` for `loss = criterion(x, y)`.
    makers: Vec<(String, String)>,
    /// Objects on which the file calls `backward()`.
    differentiated: FxHashSet<String>,
    /// Objects from which the file reads an attribute that tensors have, such as `shape`.
    tensors: FxHashSet<String>,
    /// The calls of functions named `load`.
    loads: Vec<Load>,
    /// The objects that the file passes to `load_state_dict`, as a whole or in part.
    restored: FxHashSet<String>,
    /// The calls whose results the file passes to `load_state_dict`.
    restored_calls: FxHashSet<TextSize>,
    /// The second arguments of calls of functions named `save`: paths of files.
    saved: FxHashSet<String>,
    /// Some call in the file has an argument `map_location`.
    maps_location: bool,
}

impl Protocols {
    pub(super) fn read(body: &[Stmt], words: &'static Words) -> Protocols {
        let mut reader = Reader { words, found: Protocols::default() };
        reader.visit_body(body);
        reader.found
    }

    /// Whether the file calls methods of modules on an object, or calls the object itself and reads its device.
    pub(super) fn is_module(&self, object: &str) -> bool {
        self.modules.contains(object) || self.is_called_on_device(object)
    }

    /// Whether the file calls an object and reads its device: `model(x.to(model.device))`.
    pub(super) fn is_called_on_device(&self, object: &str) -> bool {
        object != "self" && self.called.contains(object) && self.placed.contains(object)
    }

    /// Whether the file reads attributes of tensors from an object.
    pub(super) fn is_tensor(&self, object: &str) -> bool {
        self.tensors.contains(object)
    }

    /// Whether the call at this place loads a checkpoint that the file does not save, and the file
    /// never chooses the device of what it loads.
    pub(super) fn is_unmapped_checkpoint(&self, call: TextSize) -> bool {
        let Some(load) = self.loads.iter().find(|load| load.call == call) else { return false };
        let is_restored = load.name.as_ref().is_some_and(|name| self.restored.contains(name));
        let is_saved = load.path.as_ref().is_some_and(|path| self.saved.contains(path));
        !self.maps_location && !is_saved && (is_restored || self.restored_calls.contains(&call))
    }

    /// Whether `backward()` is called on a result of the function.
    pub(super) fn is_loss(&self, function: &str) -> bool {
        self.makers.iter().any(|(name, maker)| maker == function && self.differentiated.contains(name))
    }
}

/// A call of a function named `load`.
struct Load {
    call: TextSize,
    /// The name to which the result is assigned.
    name: Option<String>,
    /// The file, as text.
    path: Option<String>,
}

impl Load {
    fn new(call: &ExprCall, name: Option<String>) -> Load {
        Load { call: call.start(), name, path: call.arguments.args.first().and_then(file_text) }
    }
}

/// The path of a file as text, if it is a name or a literal.
fn file_text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
        expr => path_text(expr),
    }
}

/// Whether a call has the form `….name(…)`.
fn is_named(call: &ExprCall, name: &str) -> bool {
    call.func.as_attribute_expr().is_some_and(|function| function.attr.as_str() == name)
}

/// The function that computes an expression or its leftmost operand: `f` for `f(x) / n`.
fn maker(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Call(call) => path_text(&call.func),
        Expr::BinOp(e) => maker(&e.left),
        _ => None,
    }
}

struct Reader {
    words: &'static Words,
    found: Protocols,
}

impl<'a> Visitor<'a> for Reader {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Assign(assign) = stmt
            && let [target] = &*assign.targets
            && let (Some(name), Some(maker)) = (path_text(target), maker(&assign.value))
        {
            self.found.makers.push((name, maker));
        }
        if let Stmt::Assign(assign) = stmt
            && let [Expr::Name(target)] = &*assign.targets
            && let Expr::Call(call) = &*assign.value
            && is_named(call, "load")
        {
            self.found.loads.push(Load::new(call, Some(target.id.as_str().to_owned())));
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(attribute) = expr
            && attribute.attr.as_str() == "device"
        {
            self.found.placed.extend(path_text(&attribute.value));
        }
        if let Expr::Attribute(attribute) = expr
            && self.words.tensor_attributes.contains(&attribute.attr.as_str())
            && let Some(text) = path_text(&attribute.value)
        {
            self.found.tensors.insert(text);
        }
        if let Expr::Call(call) = expr {
            self.found.called.extend(path_text(&call.func));
            self.found.maps_location |= call.arguments.find_keyword("map_location").is_some();
            if is_named(call, "save") {
                self.found.saved.extend(call.arguments.args.get(1).and_then(file_text));
            }
            let is_restoring = call.func.as_attribute_expr().is_some_and(|m| m.attr.as_str() == "load_state_dict");
            match call.arguments.args.first().filter(|_| is_restoring) {
                Some(Expr::Call(load)) if is_named(load, "load") => {
                    self.found.restored_calls.insert(load.start());
                    self.found.loads.push(Load::new(load, None));
                }
                Some(state) => self.found.restored.extend(root(state).map(str::to_owned)),
                None => {}
            }
        }
        if let Expr::Call(call) = expr
            && let Expr::Attribute(method) = &*call.func
            && let Some(text) = path_text(&method.value)
        {
            // `trainer.train(loader)` is not the method of modules.
            let is_flag = |arg: &Expr| arg.is_boolean_literal_expr();
            match method.attr.as_str() {
                "backward" => self.found.differentiated.insert(text),
                "train" if !call.arguments.args.iter().all(is_flag) => false,
                name => {
                    self.words.module_methods.contains(&name)
                        && call.arguments.len() <= 2
                        && self.found.modules.insert(text)
                }
            };
        }
        walk_expr(self, expr);
    }
}
