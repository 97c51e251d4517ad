//! The interfaces between the interpreter, libraries and observers. The interpreter itself does not
//! depend on torch.

use super::uses::Use;
use super::{Args, Bound, Interp};
use crate::syntax::Span;
use crate::value::{Heap, Items, ObjId, Origin, Sym, Value};

/// An operator applied to two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BinOp {
    Add,
    Sub,
    Mul,
    MatMul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    LShift,
    RShift,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum UnaryOp {
    Neg,
    Pos,
    Invert,
}

/// The models of libraries. Unless a method says otherwise, `None` means that no library handles
/// the request: the interpreter then uses Python's own meaning, or an unknown value.
pub(crate) trait Library: Sync {
    /// The value of `path.name`, where `path` is a module, class or enum: a constant, or a
    /// canonical path.
    fn member(&self, it: &mut Interp<'_>, path: Sym, name: Sym) -> Value;

    /// The canonical path of a dotted name, with aliases resolved: `torch.distributions.Normal` for
    /// `torch.distributions.normal.Normal`.
    fn canonical(&self, path: Sym) -> Sym;

    /// The parameters of a function or class that must be integers, separated by spaces: those that
    /// the call checks, and those that a later use of the result checks. `*` means all positional
    /// arguments.
    fn integers(&self, path: Sym) -> Option<(&'static str, &'static str)>;

    /// The positions and names of the parameters of a layer that are numbers of features, channels or
    /// embeddings, by the name of its class.
    fn widths(&self, layer: &str) -> &'static [(usize, Sym)];

    /// The names of the parameters of a function or class, if it has one signature and takes no
    /// further positional arguments.
    fn parameters(&self, path: Sym) -> Option<Vec<Sym>>;

    /// Whether there is a function at a canonical path.
    fn is_function(&self, path: Sym) -> bool;

    /// Whether a value is certainly a function, or a method of a tensor or a module.
    fn is_method(&self, heap: &Heap, value: &Value) -> bool;

    /// Calls the function at a canonical path, if there is one, as if the program had called it.
    fn call_function(&self, it: &mut Interp<'_>, path: Sym, args: &Args, span: Span) -> Option<Value>;

    /// The classes that a library's class derives from, nearest first (itself excluded);
    /// `None` if the path is not known to be a class.
    fn bases(&self, path: Sym) -> Option<&[Sym]>;

    /// Calls a function, or creates an instance of a class.
    fn call(&self, it: &mut Interp<'_>, path: Sym, args: Args, span: Span) -> Value;

    /// Runs `class.__init__` on an instance (of the class itself or of a subclass).
    fn init(&self, it: &mut Interp<'_>, class: Sym, object: ObjId, args: Args, span: Span);

    /// An attribute of an instance of `class` that is not stored in the instance. A method is
    /// returned as [`Value::Method`].
    fn attribute(&self, it: &mut Interp<'_>, class: Sym, object: &Value, name: Sym, span: Span) -> Option<Value>;

    /// Calls a method of an instance of `class`.
    fn method(
        &self,
        it: &mut Interp<'_>,
        class: Sym,
        object: &Value,
        name: Sym,
        args: Args,
        span: Span,
    ) -> Option<Value>;

    /// `object(…)` for an instance of `class`.
    fn invoke(&self, it: &mut Interp<'_>, class: Sym, object: &Value, args: Args, span: Span) -> Option<Value>;

    /// The path of the class of a value that is not modelled as an instance, such as a tensor. The
    /// methods of the value are looked up under this path.
    fn class_of(&self, it: &Interp<'_>, value: &Value) -> Option<Sym>;

    /// The result of `isinstance` for a value that is not modelled as an instance, such as a
    /// tensor.
    fn is_instance(&self, it: &Interp<'_>, value: &Value, class: Sym) -> Option<bool>;

    /// `object.name = value` for an instance of `class`; returns `false` if the interpreter must
    /// set the attribute.
    fn set_attribute(
        &self,
        it: &mut Interp<'_>,
        class: Sym,
        object: &Value,
        name: Sym,
        value: &Value,
        span: Span,
    ) -> bool;

    fn binary(&self, it: &mut Interp<'_>, op: BinOp, left: &Value, right: &Value, span: Span) -> Option<Value>;

    /// `left op= right`, if it writes to the memory of `left`, as for tensors.
    fn augmented(&self, it: &mut Interp<'_>, op: BinOp, left: &Value, right: &Value, span: Span) -> Option<Value>;

    fn unary(&self, it: &mut Interp<'_>, op: UnaryOp, operand: &Value, span: Span) -> Option<Value>;

    /// `object[index]`; a tuple index is passed as [`Value::Tuple`].
    fn subscript(&self, it: &mut Interp<'_>, object: &Value, index: &Value, span: Span) -> Option<Value>;

    /// `object[index] = value`; returns `false` if the interpreter must handle it.
    fn set_subscript(&self, it: &mut Interp<'_>, object: &Value, index: &Value, value: &Value, span: Span) -> bool;

    /// The elements that `for x in object` yields.
    fn iterate(&self, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Items>;

    /// The element of the last iteration of `for x in object`, if there certainly is one and it
    /// differs from the others.
    fn last(&self, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Value>;

    fn length(&self, it: &mut Interp<'_>, object: &Value) -> Option<Value>;

    fn truth(&self, it: &mut Interp<'_>, object: &Value) -> Option<bool>;

    /// The exception and the message for a condition on an object that certainly has no truth
    /// value.
    fn without_truth(&self, heap: &Heap, object: &Value) -> Option<(&'static str, String)>;

    /// `with object as x`: the value of `x`.
    fn enter(&self, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Value>;

    /// The `with` block of an object ends.
    fn exit(&self, it: &mut Interp<'_>, object: &Value);

    /// An instance escapes to unseen code, which may move a model to any device.
    fn escaped(&self, it: &mut Interp<'_>, object: &Value);

    /// The methods of an instance are analysed without a caller, so the program may have moved the
    /// instance to any device.
    fn moved(&self, it: &mut Interp<'_>, object: &Value);

    /// The program has ended; the functions that it did not call are analysed next, in an unknown
    /// state.
    fn ended(&self, it: &mut Interp<'_>);

    /// A method of an instance is about to be analysed without a caller, so the state in which it
    /// is called is not known.
    fn uncalled(&self, it: &mut Interp<'_>, object: &Value, method: &str);

    /// A method of this name may have been called on an instance.
    fn unseen_method(&self, it: &mut Interp<'_>, object: ObjId, method: &str);

    /// Unseen code may have written to an instance of a library's class, or to a tensor.
    fn unseen(&self, it: &mut Interp<'_>, object: ObjId);

    /// Handles an object whose parts a method with an unknown body may have changed.
    fn changed_by_method(&self, it: &mut Interp<'_>, object: &Value);

    /// Names by which objects of unknown type are recognised.
    fn words(&self) -> &'static Words;

    /// Calls a method of an object of unknown type; `None` if nothing is known about the result.
    fn open_method(&self, it: &mut Interp<'_>, object: &Value, name: Sym, args: &Args, span: Span) -> Option<Value>;

    /// An attribute of an object of unknown type; `None` if nothing is known about it.
    fn open_attribute(&self, object: &Value, name: Sym) -> Option<Value>;

    /// An argument of the `forward` of a module that nothing calls, if the argument contains tensors;
    /// `None` if nothing is known about it.
    fn forward_argument(&self, it: &Interp<'_>, receiver: &Value) -> Option<Value>;

    /// Checks the arguments of an unknown loss function.
    fn check_loss(&self, it: &mut Interp<'_>, args: &Args, span: Span);

    /// Whether an argument is on a GPU, or is assumed to be on one.
    fn is_on_gpu(&self, it: &Interp<'_>, args: &Args) -> bool;

    /// What a module whose class or output is unknown returns if an argument is on a GPU. `name` is the
    /// module in the source.
    fn module_output(&self, it: &mut Interp<'_>, module: &Value, name: &str, span: Span) -> Value;

    /// An attribute is set on an unknown value, or a method of it is called.
    fn unseen_member(&self, it: &mut Interp<'_>, name: Sym);

    /// The program imports a module that is not a part of it.
    fn imported(&self, it: &mut Interp<'_>, path: Sym);

    /// The message for an attribute of a builtin function.
    fn attribute_of_builtin(&self, path: Sym, name: Sym) -> Option<String>;

    /// The message for a name that a library's module or class does not have.
    fn missing_name(&self, path: Sym, name: Sym) -> Option<String>;

    /// Rejects a call of a function, class or method of the standard library whose arguments it never accepts;
    /// returns whether it did.
    fn refuse_standard(&self, it: &mut Interp<'_>, path: &str, args: &Args, span: Span) -> bool;

    /// What is known about a name of a module that newer versions of its package lack.
    fn removed_name(&self, path: Sym, name: Sym) -> Option<RemovedName>;

    /// Whether all public modules directly inside of a library's module are known.
    fn lists_modules(&self, path: &str) -> bool;

    /// Whether a path is known to be that of a module.
    fn is_module(&self, path: Sym) -> bool;

    /// The message for an attribute that a wrapper of a module or dataset does not have, but the object in it has.
    fn attribute_of_wrapped(&self, heap: &Heap, value: &Value, name: Sym) -> Option<String>;

    /// The message for an attribute that a value of a known type does not have. `of_python`: a number is
    /// certainly not a NumPy scalar.
    fn missing_attribute(&self, heap: &Heap, value: &Value, name: Sym, of_python: bool) -> Option<String>;

    /// The message for the call of an attribute that is no method: `x.shape(0)`.
    fn called_attribute(&self, heap: &Heap, value: &Value, name: Sym) -> Option<String>;

    /// The exception after which the process can no longer use the device: its class, its builtin
    /// base classes, and its message.
    fn fatal(&self) -> (Sym, &[&str], &str);

    /// A value for a parameter, if the uses of the parameter in a function determine its type.
    /// For a method that nothing calls, `receiver` and `method` are its object and its name.
    fn used(&self, it: &mut Interp<'_>, uses: &[Use<'_>], receiver: Option<&Value>, method: &str) -> Option<Value>;

    /// Makes an assumption about the device of an argument of a function that nothing calls.
    fn place_argument(&self, it: &mut Interp<'_>, argument: &Value, name: &str, function: &str);

    /// The facts of a parameter from its annotation.
    fn annotated(&self, it: &mut Interp<'_>, annotation: &Value, name: Sym, span: Span) -> Option<Value>;
}

/// Names by which the interpreter recognises what objects of unknown type are.
#[derive(Debug)]
pub(crate) struct Words {
    /// The class of modules.
    pub module: &'static str,
    /// Classes of modules that have `+`, `+=` or `*`.
    pub modules_with_operators: &'static [&'static str],
    /// Classes other than `module` whose attributes [`Library::missing_name`] knows, and from which
    /// programs derive their own.
    pub bases: &'static [&'static str],
    /// Classes other than modules whose instances have no public attributes of their own.
    pub plain_bases: &'static [&'static str],
    /// Methods of library classes that get the class, also when a subclass in the program calls them.
    pub class_methods: &'static [&'static str],
    /// The class of loaders of batches.
    pub loader: &'static str,
    /// The class of tensors.
    pub tensor: &'static str,
    /// Methods that only modules have, among the objects that are called with tensors.
    pub module_methods: &'static [&'static str],
    /// Attributes that only tensors have, among the objects with a device.
    pub tensor_attributes: &'static [&'static str],
    /// Names in `forward` that show that it may move tensors to the CPU.
    pub to_host: &'static [&'static str],
    /// Functions that make a tensor on the CPU unless they get another device.
    pub factories: &'static [&'static str],
}

/// A name that newer versions of a package lack.
pub(crate) struct RemovedName {
    /// The name under which the package is installed.
    pub package: &'static str,
    /// The first version that lacks the name.
    pub version: &'static str,
    /// What replaces the name, if this is known.
    pub instead: Option<&'static str>,
}

/// The kind of mistake for which a library would reject a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RejectKind {
    /// Sizes that do not fit each other.
    Shape,
    /// Dtypes that the operation rejects, or that do not fit each other.
    Dtype,
    /// Tensors on different devices.
    Device,
    /// Too many or too few dimensions.
    Rank,
    /// A `dim` argument outside the tensor's dimensions.
    Dim,
    /// An argument other than `dim` whose value is rejected.
    Value,
    /// An index that is out of range, or of a type that cannot be an index.
    Index,
    /// A tensor whose memory layout the operation does not support.
    Layout,
    /// A read on the CPU of values that are on another device.
    Host,
    /// A name that a module or a value does not have.
    Name,
    /// Arguments that the function does not accept, or missing arguments.
    Arguments,
    /// An operator, subscript or other operation of Python that the types of the values do not support.
    Operation,
    /// A function that always calls itself.
    Recursion,
}

impl RejectKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            RejectKind::Shape => "shape",
            RejectKind::Dtype => "dtype",
            RejectKind::Device => "device",
            RejectKind::Rank => "rank",
            RejectKind::Dim => "dim",
            RejectKind::Value => "value",
            RejectKind::Index => "index",
            RejectKind::Layout => "layout",
            RejectKind::Host => "host",
            RejectKind::Name => "name",
            RejectKind::Arguments => "arguments",
            RejectKind::Operation => "operation",
            RejectKind::Recursion => "recursion",
        }
    }
}

/// A call that the library would reject.
#[derive(Debug, Clone)]
pub(crate) struct Rejection {
    pub kind: RejectKind,
    /// What is wrong, with the values: `mat1 is [4, 3], mat2 is [4, 2]: 3 and 4 must be equal`.
    pub message: String,
    /// The conflicting facts, with their origins.
    pub reads: Vec<(String, Origin)>,
    pub span: Span,
    /// The assumption under which the call fails; `None` if it fails without an assumption.
    pub assumed: Option<&'static str>,
    /// Python itself raises the exception, with any version of the libraries.
    pub of_python: bool,
}

/// A command-line option that has a default.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandOption<'a> {
    /// The name with dashes: `--batch-size`.
    pub name: &'a str,
    /// The place of the declaration.
    pub made: Span,
    pub default: &'a Value,
    /// The possible values, if the program lists them.
    pub choices: &'a [Value],
    /// If the option is given, its value is a list.
    pub is_list: bool,
}

/// An observer of the run: contracts, rules, the list of facts.
pub(crate) trait Observer {
    /// A library function, or a function of the program that the observer watches, is about to be
    /// called with these arguments.
    fn call(&self, it: &mut Interp<'_>, path: Sym, bound: &Bound, span: Span);

    /// Whether the observer observes calls of this function of the program.
    fn watches(&self, path: Sym) -> bool;

    /// A library rejects a call.
    fn rejected(&self, it: &mut Interp<'_>, rejection: Rejection);

    /// The call that was rejected since [`Interp::refused`] was `before`, with its arguments.
    fn refused(&self, it: &Interp<'_>, before: u32, path: Sym, bound: &Bound);

    /// A name was assigned.
    fn assigned(&self, it: &mut Interp<'_>, name: &str, value: &Value, span: Span);

    /// An expression around [`Interp::spot`] was evaluated.
    fn evaluated(&self, it: &mut Interp<'_>, value: &Value, span: Span);

    /// An event for the rules about order.
    fn event(&self, it: &mut Interp<'_>, event: Event<'_>);

    /// The program reads a command-line option that was not given. Returns its value in this run,
    /// or `None` for its default.
    fn option(&self, it: &mut Interp<'_>, option: &CommandOption<'_>) -> Option<Value>;

    /// The number of events so far whose order matters. If it grows in a loop, the second round of
    /// the loop is replayed: see [`Interp::second_round`].
    fn moments(&self) -> u32;
}

/// The place of a function whose call may lack its parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfCall {
    /// A condition.
    Test,
    /// An operand of `==` or `!=`.
    Equality,
    /// An operand of `<`, `<=`, `>` or `>=`.
    Order,
}

/// Events in the interpreted program, except those that have their own method in [`Observer`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event<'a> {
    /// `os.environ[name] = value` and similar statements.
    SetEnv { name: &'a str, value: &'a Value, span: Span },
    /// A library is imported.
    Import { path: Sym, span: Span },
    /// The result of a call is discarded: `x.to(device)` as a statement.
    Discarded { call: Span, value: &'a Value },
    /// `object.name = value` for an instance, a tensor or an array. `span` is the place of
    /// `object.name`, and `from` is the place of the assigned expression, if the statement has no
    /// other target.
    SetAttribute { object: ObjId, name: Sym, value: &'a Value, span: Span, from: Option<Span> },
    /// An instance was created to analyse the methods of a class, because the program creates no
    /// instance of the class. Its attributes have the values that the constructor has set.
    Supposed { object: &'a Value },
    /// An attribute is read: `.grad` of a tensor, or an instance's attribute whose value is a list,
    /// a tuple or a dictionary. `object` is `None` for `.grad` of an unknown value.
    ReadAttribute { object: Option<ObjId>, name: Sym },
    /// A library's function has returned.
    Returned { path: Sym, bound: &'a Bound, result: &'a Value, span: Span },
    /// A library derived the tensor `result` from the tensor `object`, for example as a view.
    /// `name` is the attribute of `object` that was read, or the function that was called.
    Viewed { object: ObjId, result: ObjId, name: Sym, span: Span },
    /// A library wrote a computed value, `result`, into an existing object.
    Written { object: ObjId, result: &'a Value, span: Span },
    /// An iteration over a data loader begins.
    Iterated { object: ObjId, span: Span },
    /// `object.name(…)`, written in this form, where the program defines the method.
    Method { object: ObjId, name: Sym, span: Span },
    /// An unknown function or method is called by this name, or an attribute of this name is set on
    /// a value that is not on the heap. A function of a package without a table is known by its
    /// path, so a call of it is not an `Unseen`.
    Unseen { name: Sym, span: Span },
    /// A value escapes to unseen code, for example as an argument of an unknown function, or of a
    /// library function that returns an unknown value.
    Escaped { value: &'a Value },
    /// Python reads a value itself, for example in `print` or in a condition.
    Read { value: &'a Value, how: &'static str, span: Span },
    /// A condition tests a function or a method that is written as `object.name`, or an operator compares
    /// it with a number, a string or `None`.
    Uncalled { in_place: OfCall, span: Span },
    /// `==` or `!=` compares a `torch.device` with a string.
    DeviceAgainstText { equal: bool, span: Span },
    /// A positional argument has the name of the parameter `own` of the callee, but is given to its
    /// parameter `other`. `span` is the place of the argument.
    Misplaced { own: &'a str, other: &'a str, span: Span },
    /// The current function does not use its parameter `name`, and calls a function that has such a parameter with
    /// a default.
    KeptBack { name: &'a str, span: Span },
    /// `object = object.method(…)`, where the object is one of Python's own lists, dictionaries and sets, and the
    /// method returns `None`. `span` is the place of the call.
    Overwritten { method: &'a str, span: Span },
    /// A value is about to be appended to a list.
    Appended { list: ObjId, value: &'a Value, span: Span },
    /// A handler of a `try` in a loop was run as if it had caught the exception of
    /// [`Library::fatal`]. `goes_on` tells whether the loop then certainly continues; `since` is
    /// [`Observer::moments`] before the body of the `try`, and `objects` the number of objects at
    /// that time.
    Handled { handler: Span, goes_on: bool, since: u32, objects: usize },
    /// A loop begins whose body contains this `backward()` and the step of an optimizer of unknown
    /// type, in a function in which nothing clears gradients.
    Accumulates { backward: Span },
}
