//! Positional arguments in the place of another parameter: `DataLoader(data, size, num_workers)`,
//! where the third parameter is `shuffle`.

use super::interp::{Body, Interp};
use super::library::Event;
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Stmt, calls, path_of, statements};
use crate::value::{Data, Value};

/// Names that programs use for many different things, or whose arguments are often swapped on purpose.
const GENERIC: &[&str] = &[
    "args", "data", "input", "inputs", "name", "names", "other", "out", "output", "outputs", "params", "path", "self",
    "size", "target", "tensor", "value", "values", "index", "key", "keys", "func", "mode", "mask", "dim", "shape",
];

/// Names of library parameters. Programs often pass an argument of such a name at the position of another
/// parameter.
const OPTIONS: &[&str] = &[
    "batch_first",
    "bidirectional",
    "collate_fn",
    "dilation",
    "drop_last",
    "dropout",
    "num_workers",
    "padding",
    "pin_memory",
    "weight_decay",
];

impl Interp<'_> {
    /// Tells observers that a positional argument has the name of another parameter of the callee.
    pub(super) fn note_places(&mut self, callee: &Value, call: &ExprCall) {
        if call.arguments.args.is_empty() {
            return;
        }
        let of_library = matches!(callee, Value::Path(_));
        let mut kinds = Vec::new();
        let parameters: Vec<String> = match callee {
            Value::Path(path) => match self.library.parameters(*path) {
                Some(names) => names.iter().map(|name| name.as_str().to_owned()).collect(),
                None => return,
            },
            callee => {
                // `super().__init__(…)` calls this method, whatever a subclass defines.
                let fixed = match callee {
                    Value::Bound(pair) if is_of_super(call) => Some((pair.1.clone(), 1)),
                    callee => self.called_function(callee),
                };
                let Some((function, bound)) = fixed else { return };
                kinds = self.kinds_of_defaults(&function).into_iter().skip(bound).collect();
                match self.positional_names(&function) {
                    Some(names) => names.into_iter().skip(bound).collect(),
                    None => return,
                }
            }
        };
        // The two parameters have defaults of different kinds: `alpha=1.0, aux_loss=False`.
        let differ = |a: usize, b: usize| match (kinds.get(a), kinds.get(b)) {
            (Some(Some(a)), Some(Some(b))) => a != b,
            _ => false,
        };
        let Some((argument, own, other)) = misplaced(call, &parameters, of_library, &differ) else { return };
        // A function that exchanges two arguments when it calls itself means it.
        let current = self.frames.last().and_then(|frame| self.definition(frame)).map(|def| def.name.as_str());
        let is_recursive =
            matches!(path_of(&call.func).as_slice(), [name] | ["self" | "cls", name] if Some(*name) == current);
        if is_recursive
            || self.is_called_both_ways(call, argument)
            || self.swaps_on_purpose()
            || self.only_passes_on(callee)
        {
            return;
        }
        let span = self.span(argument);
        self.event(Event::Misplaced { own: &own, other: &other, span });
    }
}

/// Whether a call is `super().method(…)`, whose receiver is not among the arguments.
fn is_of_super(call: &ExprCall) -> bool {
    let method = call.func.as_attribute_expr().filter(|method| method.attr.as_str() != "__new__");
    let object = method.and_then(|method| method.value.as_call_expr());
    object.is_some_and(|object| path_of(&object.func) == ["super"])
}

impl Interp<'_> {
    /// The function of the program that a call runs, and the number of its first parameters that the call itself
    /// fills: 1 for methods and constructors.
    pub(super) fn called_function(&self, callee: &Value) -> Option<(Value, usize)> {
        Some(match callee {
            // The object may be an instance of a subclass whose method has other parameters.
            Value::Bound(pair) if self.differs_in_subclasses(&pair.0, &pair.1) => return None,
            Value::Bound(pair) => (pair.1.clone(), 1),
            Value::Obj(id) if matches!(self.heap.get(*id), Data::Class(_)) => {
                (Value::Obj(self.plain_constructor(*id)?), 1)
            }
            callee => (callee.clone(), 0),
        })
    }

    /// Whether a function only passes its arguments on, by position, to a function outside the program: the
    /// parameters of that function count.
    fn only_passes_on(&self, callee: &Value) -> bool {
        let Some(Data::Function(function)) = callee.as_obj().map(|id| self.heap.get(id)) else { return false };
        let code = self.code.get(function.code.0 as usize).map(|code| code.body);
        let Some(Body::Function(def)) = code else { return false };
        let [Stmt::Return(last)] = &*def.body else { return false };
        let call = last.value.as_deref().and_then(Expr::as_call_expr);
        let parameters = def.parameters.iter().map(|parameter| Some(parameter.name().as_str()));
        let is_name = |expr: &Expr| expr.as_name_expr().map(|name| name.id.as_str().to_owned());
        call.is_some_and(|call| {
            call.arguments.args.len() > 1
                && call.arguments.args.iter().map(is_name).eq(parameters.map(|name| name.map(str::to_owned)))
        })
    }

    /// Whether the name of the current function tells that it exchanges arguments on purpose:
    /// `test_is_symmetric`.
    fn swaps_on_purpose(&self) -> bool {
        let def = self.frames.last().and_then(|frame| self.definition(frame));
        let words = ["swap", "symm", "invarian", "revers", "flip", "commut", "inv", "transpos", "conj"];
        def.is_some_and(|def| words.iter().any(|word| def.name.as_str().contains(word)))
    }

    /// Whether the same callee gets the same arguments in another order nearby: both directions of a
    /// distance, for example.
    fn is_called_both_ways(&self, call: &ExprCall, argument: &Expr) -> bool {
        const NEAR: u32 = 400;
        let start = call.range().start().to_u32();
        let names = |call: &ExprCall| -> Vec<Option<String>> {
            call.arguments.args.iter().map(|one| last_name(one).map(str::to_owned)).collect()
        };
        let (callee, wanted) = (path_of(&call.func), names(call));
        let mut sorted = wanted.clone();
        sorted.sort();
        let body = &self.sources.module(self.file()).body;
        let near = statements(body, true).into_iter().filter(|stmt| {
            stmt.range().start().to_u32() <= start + NEAR && stmt.range().end().to_u32() + NEAR >= start
        });
        last_name(argument).is_some()
            && near.flat_map(calls).filter(|other| path_of(&other.func) == callee).any(|other| {
                let mut given = names(other);
                let differs = given != wanted && other.range().start().to_u32().abs_diff(start) <= NEAR;
                // `insert(word, word)`: an argument is meant for both parameters.
                let times = |name: &Option<String>| given.iter().filter(|one| *one == name).count();
                let is_for_both = wanted.iter().any(|name| name.is_some() && times(name) > 1);
                given.sort();
                differs && (given == sorted || is_for_both)
            })
    }
}

/// The first argument that is in the place of another parameter, the parameter whose name it has, and
/// the parameter to which it is given.
fn misplaced<'a>(
    call: &'a ExprCall,
    parameters: &[String],
    of_library: bool,
    differ: &dyn Fn(usize, usize) -> bool,
) -> Option<(&'a Expr, String, String)> {
    let arguments = &call.arguments.args;
    if arguments.iter().any(Expr::is_starred_expr) {
        return None;
    }
    arguments.iter().zip(parameters).enumerate().find_map(|(place, (argument, other))| {
        let name = last_name(argument)?;
        let own = parameters.iter().find(|parameter| **parameter == name)?;
        // The parameter of this name must not get the argument of this name.
        let at = parameters.iter().position(|parameter| parameter == own)?;
        let instead = arguments.get(at).and_then(last_name);
        let is_given = instead == Some(name) || call.arguments.find_keyword(own).is_some();
        // Another value is passed on purpose, unless it is a number: `Agent(72, eps)` for `Agent(eps, actions)`.
        let gets_number = !of_library && arguments.get(at).is_some_and(Expr::is_number_literal_expr);
        // The arguments are exchanged, or the parameter gets no argument, or a number.
        let is_moved = match instead {
            Some(instead) => parameters.iter().any(|parameter| parameter == instead) || is_short_for(instead, other),
            None if at < arguments.len() => gets_number,
            None => of_library && OPTIONS.contains(&name) || differ(place, at),
        };
        // A second argument of this name shows that the value has several uses.
        let twice = arguments.iter().filter(|one| last_name(one) == Some(name)).count() > 1;
        let is_long = own.len() > if gets_number { 2 } else { 3 };
        let is_sure = is_long && !GENERIC.contains(&own.as_str()) && !GENERIC.contains(&other.as_str());
        (own != other && !is_given && is_moved && !twice && is_sure && !are_alike(own, other))
            .then(|| (argument, own.clone(), other.clone()))
    })
}

/// Whether two names are of one kind, such as `in_size` and `out_size`, or `points1` and `points2`:
/// programs exchange such arguments on purpose.
fn are_alike(a: &str, b: &str) -> bool {
    // `chin` and `chout`: a decoder exchanges the two numbers of channels of an encoder.
    let mirrored = |a: &str, b: &str| a.contains("in") && a.replacen("in", "", 1) == b.replacen("out", "", 1);
    if mirrored(a, b) || mirrored(b, a) {
        return true;
    }
    let word = |word: &&str| word.len() > 2;
    let shared = a.split('_').filter(word).any(|one| b.split('_').any(|other| one == other));
    let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').to_owned();
    let ending = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    // `stylesA` and `stylesB`
    let differing = a.bytes().zip(b.bytes()).filter(|(a, b)| a != b).count();
    shared || stem(a) == stem(b) || ending > 4 || a.len() == b.len() && differing == 1
}

/// Whether the words of a name are beginnings of those of another: `loss_func` and `loss_function`.
fn is_short_for(short: &str, long: &str) -> bool {
    let begins = |(a, b): (&str, &str)| a.len() > 2 && b.starts_with(a);
    short.split('_').count() == long.split('_').count() && short.split('_').zip(long.split('_')).all(begins)
}

/// `epoch` for `epoch`, `self.epoch` and `args.epoch`.
fn last_name(argument: &Expr) -> Option<&str> {
    path_of(argument).last().copied()
}
