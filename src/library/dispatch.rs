//! Implements `Library`, the interpreter's interface to libraries. The models come from the tables.

use super::cx::Cx;
use super::kinds::{self, refuse_kinds};
use super::notes::DEFAULT_DEVICE;
use super::refusal::{refuse_arguments, refuse_module, refuse_names_of_torch};
use super::registry::TABLES;
use super::table::Entry;
use super::{lightning, numpy, pandas, signatures, special, standard, stdlib, torch};
use crate::libraries;
use crate::python::{
    Arg, Args, BinOp, Bound, Certainty, Const, Event, Interp, Library, RemovedName, UnaryOp, Use, Words,
};
use crate::syntax::Span;
use crate::value::{ArrayKind, Heap, Items, ObjId, Sym, Tensor, Value, dotted, sym};

/// All libraries with a model.
pub(crate) struct Libraries;

impl Libraries {
    /// Binds a call to the first overload that accepts it, notifies the observer, and runs the
    /// model.
    ///
    /// `by_program`: whether the program or a layer makes the call. For other calls, the kinds of
    /// the arguments are not checked, because operators also pass operands of other kinds.
    fn run(&self, it: &mut Interp<'_>, path: Sym, entry: &Entry, args: &Args, span: Span, by_program: bool) -> Value {
        if path.as_str().starts_with("numpy.") && refuse_names_of_torch(it, path, args, span) {
            return Value::Unknown;
        }
        let Some(mut bound) = entry.bind(args) else {
            refuse_arguments(it, path, args, span);
            return Value::Unknown;
        };
        torch::open::give_tensors(it, path, &mut bound);
        let independent = it.certainty() == Certainty::Guessed && made_here(it, &bound);
        it.in_any_arm_if(independent, |it| self.run_bound(it, path, entry, (args, bound), span, by_program))
    }

    /// Like [`Libraries::run`], after the overload is chosen.
    fn run_bound(
        &self,
        it: &mut Interp<'_>,
        path: Sym,
        entry: &Entry,
        (args, bound): (&Args, Bound),
        span: Span,
        by_program: bool,
    ) -> Value {
        let refused = it.refused.0;
        it.announce(entry.same_as.unwrap_or(path), &bound, span);
        if by_program && refuse_kinds(&mut Cx { it, path, span }, &bound, None) {
            it.tell_refused(refused, entry.same_as.unwrap_or(path), &bound);
            return Value::Unknown;
        }
        let mut value = (entry.run)(&mut Cx { it, path, span }, &bound);
        if path.as_str().starts_with("numpy.") {
            value = numpy::put_out(&mut Cx { it, path, span }, &bound, value);
            if let Some(first) = args.pos.first() {
                value = pandas::of_numpy(&mut Cx { it, path, span }, &first.value, value);
            }
        }
        it.tell_refused(refused, entry.same_as.unwrap_or(path), &bound);
        if it.refused.0 == refused {
            it.pass(span);
            torch::trailing::learn(it, path, &bound, &value);
            torch::graph::doubt(&mut Cx { it, path, span }, &bound, &value);
        }
        if bound.values.iter().flatten().chain(&bound.rest).any(|arg| it.heap.is_of_refused(&arg.value)) {
            it.follow_rejection(&value);
        }
        it.event(Event::Returned { path: entry.same_as.unwrap_or(path), bound: &bound, result: &value, span });
        // In the program, the rejected call raises, so errors that follow from its result are not
        // reported.
        if it.refused.0 != refused && it.refused.1 == Some(span) {
            let Some(array) = it.heap.tensor_ref(&value).map(|tensor| tensor.array) else { return Value::Unknown };
            // A method such as `copy_` returns the tensor on which it is called. The rejected call
            // raises, so the facts of this tensor become unknown.
            if bound.values.iter().flatten().any(|arg| arg.value.as_obj() == value.as_obj()) {
                it.follow_rejection(&value);
            }
            let unknown = Tensor { array, ..it.after_rejection() };
            let unknown = it.heap.tensor(unknown);
            it.heap.note_refused(&unknown);
            return unknown;
        }
        value
    }
}

/// Whether what is known of the arguments of a call does not depend on the condition of the arm that contains it:
/// the current function has created the tensors, and the rest are literals, parameters of modules, or unknown.
/// Collections do not count, because conditions often ask for their lengths.
fn made_here(it: &Interp<'_>, bound: &Bound) -> bool {
    let is_own = |arg: &Arg| match &arg.value {
        Value::Unknown | Value::Open(_) | Value::Path(_) => true,
        value @ Value::Obj(_) => {
            it.heap.tensor_ref(value).is_some_and(|tensor| tensor.parameter || it.is_made_here(value))
        }
        _ => it.is_literal(arg.span),
    };
    let mut all = bound.values.iter().flatten().chain(&bound.rest).chain(bound.extra.iter().map(|(_, arg)| arg));
    !bound.open && all.all(is_own)
}

/// The parameters of a class's constructor, with their defaults.
pub(crate) fn constructor(class: Sym) -> Vec<(Sym, Option<Value>)> {
    let sig = TABLES.class(class).and_then(|class| class.sigs.first());
    let params = sig.map(|sig| sig.params.as_slice()).unwrap_or_default().iter();
    params.map(|param| (param.name, param.default.as_ref().map(Const::value))).collect()
}

/// Methods of modules that programs often forget to call.
const METHODS_OF_MODULES: &[&str] =
    &["children", "cpu", "cuda", "eval", "forward", "modules", "parameters", "state_dict", "to", "train", "zero_grad"];

impl Library for Libraries {
    fn member(&self, _it: &mut Interp<'_>, path: Sym, name: Sym) -> Value {
        let path = TABLES.canonical(dotted(path, name));
        match TABLES.constant(path) {
            Some(constant) => constant.value(),
            None => Value::Path(path),
        }
    }

    fn canonical(&self, path: Sym) -> Sym {
        TABLES.canonical(path)
    }

    fn integers(&self, path: Sym) -> Option<(&'static str, &'static str)> {
        kinds::integers(path)
    }

    fn widths(&self, layer: &str) -> &'static [(usize, Sym)] {
        torch::nn::widths(layer)
    }

    fn parameters(&self, path: Sym) -> Option<Vec<Sym>> {
        let sigs = signatures::of(path.as_str());
        let [sig] = sigs.as_slice() else { return None };
        let names = sig.params.iter().filter(|param| !param.keyword_only).map(|param| param.name);
        sig.star.is_none().then(|| names.collect())
    }

    fn is_function(&self, path: Sym) -> bool {
        TABLES.function(path).is_some()
    }

    fn is_method(&self, heap: &Heap, value: &Value) -> bool {
        match value {
            // The functions of `torch.distributed` are listed only in the tables.
            Value::Path(path) => {
                let is_distributed = path.as_str().starts_with("torch.distributed.");
                let is_listed = signatures::lists(path.as_str()) || is_distributed && TABLES.function(*path).is_some();
                is_listed && self.bases(*path).is_none()
            }
            Value::Method(pair) => {
                let (object, name) = &**pair;
                let is_tensor = heap.tensor_ref(object).is_some_and(|tensor| tensor.array == ArrayKind::Torch);
                is_tensor && signatures::lists(&format!("torch.Tensor.{name}"))
                    || heap.instance_of(object).is_some() && METHODS_OF_MODULES.contains(&name.as_str())
            }
            _ => false,
        }
    }

    fn call_function(&self, it: &mut Interp<'_>, path: Sym, args: &Args, span: Span) -> Option<Value> {
        let by_layer = path.as_str().starts_with("torch.nn.functional.");
        Some(self.run(it, path, TABLES.function(path)?, args, span, by_layer))
    }

    fn bases(&self, path: Sym) -> Option<&[Sym]> {
        TABLES.class(path).map(|c| c.bases.as_slice())
    }

    fn call(&self, it: &mut Interp<'_>, path: Sym, args: Args, span: Span) -> Value {
        if !standard::is_method(path.as_str()) && standard::refuse(it, path.as_str(), &args, span) {
            return Value::Unknown;
        }
        if let Some(class) = TABLES.class(path) {
            if let Some(make) = class.make {
                let Some(bound) = class.sigs.iter().find_map(|s| s.bind(&args)) else { return Value::Unknown };
                let refused = it.refused.0;
                let value = make(&mut Cx { it, path, span }, &bound);
                if it.refused.0 == refused {
                    it.pass(span);
                }
                return value;
            }
            let object = it.heap.instance(Value::Path(path));
            self.init(it, path, object, args, span);
            return Value::Obj(object);
        }
        match TABLES.function(path) {
            Some(entry) => self.run(it, path, entry, &args, span, true),
            None => {
                refuse_arguments(it, path, &args, span);
                refuse_module(it, path, span)
            }
        }
    }

    fn init(&self, it: &mut Interp<'_>, class: Sym, object: ObjId, args: Args, span: Span) {
        // The class itself or its nearest base class that has its own constructor.
        let Some(own) = TABLES.class(class) else { return };
        let entry = TABLES.line(class).find(|c| c.init.is_some() || c.keeps_arguments).unwrap_or(own);
        let Some(bound) = entry.sigs.iter().find_map(|s| s.bind(&args)) else {
            refuse_arguments(it, class, &args, span);
            it.open(&Value::Obj(object));
            return;
        };
        let refused = it.refused.0;
        it.announce(class, &bound, span);
        if refuse_kinds(&mut Cx { it, path: class, span }, &bound, Some(object)) {
            it.open(&Value::Obj(object));
            it.tell_refused(refused, class, &bound);
            return;
        }
        if entry.keeps_arguments {
            for param in &bound.sig.params {
                it.heap.set_attr(object, param.name.as_str(), bound.get(param.name.as_str()));
            }
        }
        if let Some(init) = entry.init {
            init(&mut Cx { it, path: class, span }, object, &bound);
            it.tell_refused(refused, class, &bound);
        }
        if it.refused.0 == refused {
            it.pass(span);
        }
        it.event(Event::Returned { path: class, bound: &bound, result: &Value::Obj(object), span });
    }

    fn attribute(&self, it: &mut Interp<'_>, class: Sym, object: &Value, name: Sym, span: Span) -> Option<Value> {
        for attribute in TABLES.line(class).filter_map(|c| c.attribute) {
            let found = attribute(&mut Cx { it, path: class, span }, object, name);
            if let Some(value) = found {
                // `x.T` and `x.data` are derived from `x`.
                if name.as_str() != "grad" {
                    viewed(it, object, &value, name.as_str(), span);
                }
                return Some(value);
            }
        }
        let known = TABLES.method(class, name).is_some() || torch::inplace::is_method(&TABLES, class, name);
        known.then(|| Value::Method(std::rc::Rc::new((object.clone(), name))))
    }

    fn method(
        &self,
        it: &mut Interp<'_>,
        class: Sym,
        object: &Value,
        name: Sym,
        args: Args,
        span: Span,
    ) -> Option<Value> {
        let Some((path, entry)) = TABLES.method(class, name) else {
            let refused = it.refused.0;
            let value = torch::inplace::method(&TABLES, it, class, object, name, args, span);
            // After a rejected in-place call, the tensor is unknown.
            if it.refused.0 != refused
                && it.refused.1 == Some(span)
                && let Some(written) = object.as_obj()
                && it.heap.is_tensor(object)
            {
                let unknown = it.after_rejection();
                it.heap.overwrite(written, unknown);
            }
            return value;
        };
        let args = args.prepend(Arg::new(object.clone(), span));
        Some(self.run(it, path, entry, &args, span, true))
    }

    fn invoke(&self, it: &mut Interp<'_>, class: Sym, object: &Value, args: Args, span: Span) -> Option<Value> {
        let invoke = TABLES.line(class).find_map(|c| c.invoke)?;
        let refused = it.refused.0;
        let value = invoke(&mut Cx { it, path: class, span }, object, args);
        if it.refused.0 == refused {
            it.pass(span);
        }
        value
    }

    fn class_of(&self, it: &Interp<'_>, value: &Value) -> Option<Sym> {
        match value {
            Value::Dtype(_) => Some(sym("torch.dtype")),
            Value::Device(_) => Some(sym("torch.device")),
            _ => it.heap.tensor_ref(value).map(|t| match t.array {
                ArrayKind::Torch => sym("torch.Tensor"),
                ArrayKind::Numpy => sym("numpy.ndarray"),
            }),
        }
    }

    fn is_instance(&self, it: &Interp<'_>, value: &Value, class: Sym) -> Option<bool> {
        let tensor = it.heap.tensor_ref(value)?;
        let rank = tensor.rank();
        match (class.as_str(), tensor.array) {
            // Elements of arrays are modelled as arrays without dimensions, but most are scalars.
            ("numpy.ndarray", ArrayKind::Numpy) if rank == Some(0) => None,
            ("torch.Tensor" | "torch.autograd.Variable", ArrayKind::Torch) | ("numpy.ndarray", ArrayKind::Numpy) => {
                Some(true)
            }
            ("torch.Tensor" | "torch.autograd.Variable", ArrayKind::Numpy) | ("numpy.ndarray", ArrayKind::Torch) => {
                Some(false)
            }
            (path, ArrayKind::Torch) if path.starts_with("builtins.") => Some(path == "builtins.object"),
            // The labels of datasets are modelled as arrays even if they are lists. A 0-d array is
            // certainly not a list.
            ("builtins.list" | "builtins.tuple", ArrayKind::Numpy) if rank == Some(0) => Some(false),
            (_, ArrayKind::Numpy) => None,
            // Classes of the packages in `open` may be abstract base classes or subclasses of
            // `Tensor`. A tensor is not an instance of any other library's class.
            (path, ArrayKind::Torch) => {
                let package = path.split('.').next().unwrap_or_default();
                let open = ["torch", "collections", "typing", "numbers", "jaxtyping", "project", "typing_extensions"];
                (!open.contains(&package)).then_some(false)
            }
        }
    }

    fn set_attribute(
        &self,
        it: &mut Interp<'_>,
        class: Sym,
        object: &Value,
        name: Sym,
        value: &Value,
        span: Span,
    ) -> bool {
        if pandas::set_attribute(it, object, name, value, span) {
            return true;
        }
        lightning::set_attribute(it, class, value);
        torch::distributions::set_attribute(it, object);
        torch::nn::module::set_attribute(it, class, object, name, value, span)
    }

    fn binary(&self, it: &mut Interp<'_>, op: BinOp, left: &Value, right: &Value, span: Span) -> Option<Value> {
        let opened;
        let (left, right) = match torch::open::operands(it, op, left, right) {
            Some(Err(result)) => return Some(result),
            Some(Ok(pair)) => {
                opened = pair;
                (&opened.0, &opened.1)
            }
            None => (left, right),
        };
        pandas::binary(it, op, left, right, span)
            .or_else(|| numpy::binary(it, op, left, right, span))
            .or_else(|| torch::operators::binary(it, op, left, right, span))
            .or_else(|| match (op, torch::nn::containers::repeated(it, left, right)?) {
                (BinOp::Mul, args) => Some(self.call(it, sym("torch.nn.Sequential"), args, span)),
                _ => None,
            })
    }

    fn augmented(&self, it: &mut Interp<'_>, op: BinOp, left: &Value, right: &Value, span: Span) -> Option<Value> {
        pandas::augmented(it, op, left, right, span)
            .or_else(|| torch::operators::augmented(&TABLES, it, op, left, right, span))
            .or_else(|| match op {
                BinOp::BitOr => special::call(it, left, "__ior__", std::slice::from_ref(right), span),
                _ => None,
            })
    }

    fn unary(&self, it: &mut Interp<'_>, op: UnaryOp, operand: &Value, span: Span) -> Option<Value> {
        torch::open::unary(operand)
            .or_else(|| pandas::unary(it, op, operand, span))
            .or_else(|| numpy::unary(it, op, operand, span))
            .or_else(|| torch::operators::unary(it, op, operand, span))
    }

    fn subscript(&self, it: &mut Interp<'_>, object: &Value, index: &Value, span: Span) -> Option<Value> {
        let refused = it.refused.0;
        let opened = torch::open::index(it, object, index);
        let index = opened.as_ref().unwrap_or(index);
        let part = torch::open::element(object)
            .or_else(|| torch::indexing::get(it, object, index, span))
            .or_else(|| torch::nn::containers::get(it, object, index))
            .or_else(|| torch::data::get(it, object, index, span))
            .or_else(|| torch::annotation::generic(object, index))
            .or_else(|| special::call(it, object, "__getitem__", std::slice::from_ref(index), span));
        if it.refused.0 == refused {
            it.pass(span);
        } else if let Some(part) = &part {
            it.follow_rejection(part);
        }
        if let Some(part) = &part {
            viewed(it, object, part, "getitem", span);
        }
        part
    }

    fn set_subscript(&self, it: &mut Interp<'_>, object: &Value, index: &Value, value: &Value, span: Span) -> bool {
        let refused = it.refused.0;
        let taken = torch::indexing::set(it, object, index, value, span)
            || torch::nn::containers::set(it, object, index, value)
            || special::call(it, object, "__setitem__", &[index.clone(), value.clone()], span).is_some();
        if it.refused.0 == refused {
            it.pass(span);
        }
        taken
    }

    fn iterate(&self, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Items> {
        let refused = it.refused.0;
        let items = torch::open::iterated(object)
            .map(Items::Many)
            .or_else(|| torch::indexing::iterate(it, object, span))
            .or_else(|| torch::nn::containers::iterate(it, object, span))
            .or_else(|| torch::data::iterate(it, object, span))
            .or_else(|| special::iterate(&TABLES, it, object, span));
        if it.refused.0 == refused {
            it.pass(span);
        }
        match &items {
            Some(Items::Exact(all)) => all.iter().for_each(|item| viewed(it, object, item, "getitem", span)),
            Some(Items::Many(one)) => viewed(it, object, one, "getitem", span),
            None => {}
        }
        items
    }

    fn last(&self, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Value> {
        torch::data::last(it, object, span).or_else(|| special::last(&TABLES, it, object, span))
    }

    fn length(&self, it: &mut Interp<'_>, object: &Value) -> Option<Value> {
        torch::indexing::length(it, object)
            .or_else(|| torch::nn::containers::length(it, object))
            .or_else(|| torch::data::length(it, object))
    }

    fn truth(&self, it: &mut Interp<'_>, object: &Value) -> Option<bool> {
        torch::indexing::truth(it, object).or_else(|| is_always_true(it, object).then_some(true))
    }

    fn without_truth(&self, heap: &Heap, object: &Value) -> Option<(&'static str, String)> {
        torch::indexing::without_truth(heap, object)
    }

    fn enter(&self, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Value> {
        torch::context::enter(it, object, span)
    }

    fn exit(&self, it: &mut Interp<'_>, object: &Value) {
        torch::context::exit(it, object);
        stdlib::contexts::exit(it, object);
    }

    fn escaped(&self, it: &mut Interp<'_>, object: &Value) {
        torch::nn::moves::escaped(it, object);
    }

    fn moved(&self, it: &mut Interp<'_>, object: &Value) {
        torch::nn::moves::moved(it, object);
    }

    fn ended(&self, it: &mut Interp<'_>) {
        torch::factory::settings::forget_defaults(it);
    }

    fn uncalled(&self, it: &mut Interp<'_>, object: &Value, method: &str) {
        torch::nn::module::uncalled(it, object, method);
    }

    fn unseen_method(&self, it: &mut Interp<'_>, object: ObjId, method: &str) {
        torch::nn::moves::unseen_method(it, object, method);
    }

    fn unseen(&self, it: &mut Interp<'_>, object: ObjId) {
        pandas::forget(it, object);
        stdlib::argparse::unseen(it, object);
        torch::nn::moves::unseen(it, object);
        torch::attributes::unseen(it, object);
    }

    fn changed_by_method(&self, it: &mut Interp<'_>, object: &Value) {
        torch::nn::containers::escaped(it, object);
    }

    fn words(&self) -> &'static Words {
        &torch::open::WORDS
    }

    fn open_method(&self, it: &mut Interp<'_>, object: &Value, name: Sym, args: &Args, span: Span) -> Option<Value> {
        torch::open::method(&TABLES, it, object, name, args, span)
    }

    fn open_attribute(&self, object: &Value, name: Sym) -> Option<Value> {
        torch::open::attribute(object, name.as_str())
    }

    fn forward_argument(&self, it: &Interp<'_>, receiver: &Value) -> Option<Value> {
        torch::open::forward_argument(it, receiver)
    }

    fn check_loss(&self, it: &mut Interp<'_>, args: &Args, span: Span) {
        torch::open::check_loss(it, args, span);
    }

    fn is_on_gpu(&self, it: &Interp<'_>, args: &Args) -> bool {
        torch::open::is_on_gpu(it, args)
    }

    fn module_output(&self, it: &mut Interp<'_>, module: &Value, name: &str, span: Span) -> Value {
        torch::open::output(it, module, name, span)
    }

    fn unseen_member(&self, it: &mut Interp<'_>, name: Sym) {
        torch::attributes::unseen_member(it, name);
    }

    fn imported(&self, it: &mut Interp<'_>, path: Sym) {
        let root = path.as_str().split('.').next().unwrap_or_default();
        if libraries::find(root).is_some_and(|library| library.sets_default_device) {
            it.remember(DEFAULT_DEVICE, Value::Unknown);
        }
    }

    fn attribute_of_builtin(&self, path: Sym, name: Sym) -> Option<String> {
        super::names::attribute_of_builtin(path.as_str(), name.as_str())
    }

    fn missing_name(&self, path: Sym, name: Sym) -> Option<String> {
        super::names::missing_name(path.as_str(), name.as_str())
    }

    fn refuse_standard(&self, it: &mut Interp<'_>, path: &str, args: &Args, span: Span) -> bool {
        standard::refuse(it, path, args, span)
    }

    fn removed_name(&self, path: Sym, name: Sym) -> Option<RemovedName> {
        super::names::removed_name(path.as_str(), name.as_str())
    }

    fn lists_modules(&self, path: &str) -> bool {
        super::names::lists_modules(path)
    }

    fn is_module(&self, path: Sym) -> bool {
        super::names::is_module(path.as_str())
    }

    fn attribute_of_wrapped(&self, heap: &Heap, value: &Value, name: Sym) -> Option<String> {
        super::names::attribute_of_wrapped(heap, value, name)
    }

    fn missing_attribute(&self, heap: &Heap, value: &Value, name: Sym, of_python: bool) -> Option<String> {
        super::names::missing_attribute(heap, value, name.as_str(), of_python)
    }

    fn called_attribute(&self, heap: &Heap, value: &Value, name: Sym) -> Option<String> {
        super::names::called_attribute(heap, value, name.as_str())
    }

    fn fatal(&self) -> (Sym, &[&str], &str) {
        (sym("torch.AcceleratorError"), &["RuntimeError", "Exception", "BaseException"], torch::DEVICE_ASSERT)
    }

    fn used(&self, it: &mut Interp<'_>, uses: &[Use<'_>], receiver: Option<&Value>, method: &str) -> Option<Value> {
        torch::annotation::used(it, uses, receiver, method)
    }

    fn place_argument(&self, it: &mut Interp<'_>, argument: &Value, name: &str, function: &str) {
        torch::annotation::place_argument(it, argument, name, function);
    }

    fn annotated(&self, it: &mut Interp<'_>, annotation: &Value, name: Sym, span: Span) -> Option<Value> {
        torch::annotation::annotated(it, annotation, name, span)
    }
}

/// Packages whose classes, except [`CONTAINERS`], have neither `__bool__` nor `__len__`.
const NEVER_EMPTY: &[&str] = &[
    "torchvision.transforms.",
    "torch.optim.",
    "torch.nn.",
    "torch.amp.",
    "torch.cuda.amp.",
    "torch.utils.tensorboard.",
];
/// Classes of these packages that have `__len__`.
const CONTAINERS: &[&str] = &[
    "torch.nn.Sequential",
    "torch.nn.ModuleList",
    "torch.nn.ModuleDict",
    "torch.nn.ParameterList",
    "torch.nn.ParameterDict",
    "torch.nn.utils.rnn.PackedSequence",
    "torch.nn.utils.prune.PruningContainer",
    "torch.nn.utils.parametrize.ParametrizationList",
];

/// Whether an instance of a library's class is always true, because the class has neither
/// `__bool__` nor `__len__`.
fn is_always_true(it: &Interp<'_>, object: &Value) -> bool {
    let class = it.heap.instance_of(object).and_then(|instance| instance.class.as_path());
    class.is_some_and(|class| {
        NEVER_EMPTY.iter().any(|package| class.starts_with(package)) && !CONTAINERS.contains(&class)
    })
}

/// Announces that a tensor was derived from another one, by reading its attribute `name` or its
/// elements.
fn viewed(it: &mut Interp<'_>, of: &Value, result: &Value, name: &str, span: Span) {
    if let (Some(object), Some(id)) = (of.as_obj(), result.as_obj())
        && object != id
        && it.heap.is_tensor(of)
        && it.heap.is_tensor(result)
    {
        it.event(Event::Viewed { object, result: id, name: sym(name), span });
    }
}
