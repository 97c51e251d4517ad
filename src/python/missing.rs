//! Names and arguments that do not exist: their use raises an `AttributeError`, an `ImportError` or
//! a `TypeError`. They are reported only if all names of the module or type, or all parameters of
//! the function, are known.

use super::interp::Interp;
use super::leave::{BlockKind, Catches};
use super::library::{RejectKind, Rejection, RemovedName};
use crate::syntax::ast::{Decorator, ExprCall};
use crate::syntax::{Expr, Span, ast, called, callee_or_itself, calls, expressions, path_of};
use crate::value::{ArrayKind, Data, Instance, Sym, Type, UserClass, Value, counted, sym};

/// Imports of libraries whose data are instances of subclasses of `torch.Tensor`. The subclasses
/// have more attributes, and the functions of PyTorch keep the subclass.
const WITH_TENSOR_CLASSES: &[&str] =
    &["import monai", "from monai", "import fastai", "from fastai", "__torch_function__"];

/// Texts of code that may add a name, given as a string, to a module of a library, such as `torch.npu`.
const SETS_BY_NAME: &[&str] = &["attr(", "__dict__", "vars(", "privateuse", "register_device_module"];

/// Texts of code that also runs on an old version of Python.
const VERSION_TESTS: &[&str] = &["version_info", "PY2", "PY3", "python_version", "hexversion", "import six"];

impl Interp<'_> {
    /// Reports a name that a library's module or class certainly does not have, unless the program
    /// may set this name, test for it, or import a module of this name.
    pub(super) fn report_name(&mut self, path: Sym, name: Sym, span: Span) {
        if let Some(RemovedName { package, version, instead }) = self.library.removed_name(path, name) {
            let is_old = || self.excludes(&package.to_lowercase(), version);
            if !self.may_be_given(name) && !self.tests_version(path, name) && !is_old() {
                let assumed = sym(&format!("with {package} {version} or newer")).as_str();
                let instead = instead.map_or_else(String::new, |instead| format!(": use `{instead}`"));
                let message = format!("`{path}.{name}` was removed{instead}");
                let reads = Vec::new();
                self.in_any_arm(|it| {
                    it.suspect(Rejection {
                        kind: RejectKind::Name,
                        message,
                        reads,
                        span,
                        assumed: Some(assumed),
                        of_python: false,
                    });
                });
            }
            return;
        }
        if let Some(message) = self.library.attribute_of_builtin(path, name) {
            let builtin = path.as_str().trim_start_matches("builtins.");
            if !self.may_bind_builtin(builtin) && !self.may_be_given(name) {
                self.in_any_arm(|it| it.report_missing(RejectKind::Name, message, span));
            }
            return;
        }
        let Some(message) = self.library.missing_name(path, name) else { return };
        let root = path.as_str().split('.').next().unwrap_or_default();
        let is_standard = !matches!(root, "torch" | "torchvision" | "numpy");
        // Constants of another operating system.
        if is_standard && name.as_str().starts_with(|c: char| c.is_ascii_uppercase()) {
            return;
        }
        if is_standard && VERSION_TESTS.iter().any(|text| self.mentions(text)) {
            return;
        }
        // The key of a dictionary, as in `{"cube": torch.cube}`, sets no name.
        let keys = [format!("\"{name}\":"), format!("'{name}':")];
        let is_key = keys.iter().any(|text| self.mentions(sym(text).as_str()));
        let may_be_set = self.may_be_fallback()
            || self.sources.assigns(self.root, name.as_str())
            || self.is_given(name) && (!is_key || SETS_BY_NAME.iter().any(|text| self.mentions(text)));
        if !may_be_set && !self.tests_version(path, name) && !self.imports(name) {
            self.in_any_arm(|it| it.report_missing(RejectKind::Name, message, span));
        }
    }

    /// Whether the requirements of the project exclude a version of a package and all newer ones.
    pub(crate) fn excludes(&self, package: &str, version: &str) -> bool {
        self.sources.excludes(self.root, package, version)
    }

    /// Whether the requirements of the project ask for a build of PyTorch without CUDA.
    pub(crate) fn needs_no_gpu(&self) -> bool {
        self.sources.needs_no_gpu(self.root)
    }

    /// Whether the program imports a module that may add this name to a library: for example,
    /// `import quaternion` sets `numpy.quaternion`.
    fn imports(&self, name: Sym) -> bool {
        // `import torch_neuron` sets `torch.neuron`.
        let texts = [format!("\nimport {name}"), format!("import torch_{name}")];
        texts.iter().any(|text| self.mentions(sym(text).as_str()))
    }

    /// Whether the program may read the version of a library. `__version__ = "1.0"` sets that of the program.
    pub(crate) fn reads_version(&self) -> bool {
        let reads = [".__version__", "import __version__", "\"__version__\"", "'__version__'"];
        reads.iter().any(|text| self.mentions(text))
    }

    /// Whether the program may use this name of a module only with older versions of the library.
    fn tests_version(&self, path: Sym, name: Sym) -> bool {
        // Functions for Fourier transforms, such as `torch.rfft`, moved to a module, such as
        // `torch.fft`. A program that names both is assumed to test which one exists.
        let module = || [format!("import {path}.fft"), format!("{path}.fft.")];
        self.reads_version()
            || self.tested_modules.contains(&path)
            || name.as_str().ends_with("fft") && module().iter().any(|text| self.mentions(sym(text).as_str()))
    }

    /// Whether a value of a known type certainly lacks an attribute, because
    /// [`Library::missing_attribute`](super::Library::missing_attribute) gives a message. Reports
    /// it, unless the program may set such an attribute or test for it.
    pub(super) fn lacks_attribute(&mut self, object: &Value, name: Sym, span: Span) -> bool {
        if let Some(message) = self.library.attribute_of_wrapped(&self.heap, object, name) {
            let may_be_set = self.sources.assigns_from_outside(self.root, name.as_str());
            if !may_be_set && !self.is_in_try() {
                self.in_arm_of(object, |it| it.report_missing(RejectKind::Name, message, span));
            }
            return !may_be_set;
        }
        // An element of the `shape` of an object of an unknown class may be anything.
        let is_supposed = self.supposes_numbers && matches!(object, Value::Any(Type::Int));
        // Members of an `IntEnum` are modelled as numbers.
        let is_member = object.number_type() == Some(Type::Int)
            && matches!(name.as_str(), "name" | "_name_" | "_value_")
            && ["IntEnum", "IntFlag"].iter().any(|class| self.mentions(class));
        if is_supposed || is_member || self.lacks_next(object, name, span) {
            return false;
        }
        // NumPy scalars are modelled as arrays, so a number with a known value is one of Python.
        let of_python = matches!(object, Value::Int(_) | Value::Float(_) | Value::Bool(_));
        let own = self.attribute_of_own_type(object, name);
        let is_own = own.is_some();
        let message = own.or_else(|| self.library.missing_attribute(&self.heap, object, name, of_python));
        let Some(message) = message else { return false };
        // Of these values, only tensors and instances take new attributes.
        let takes_attributes = match self.heap.tensor_ref(object) {
            Some(tensor) => tensor.array == ArrayKind::Torch,
            None => self.heap.instance_of(object).is_some(),
        };
        // Nothing sets attributes of the other values, but the code may test for the attribute.
        let file = self.file();
        // The name may be the key of a dictionary, too.
        let before = if is_own { ", " } else { "" };
        let texts = [format!("{before}\"{name}\""), format!("{before}'{name}'")];
        let is_tested = || texts.iter().any(|text| self.sources.contains(file, text));
        let is_given = if takes_attributes { self.is_given(name) } else { is_tested() };
        if is_given && takes_attributes {
            return false;
        }
        if self.heap.is_tensor(object) && WITH_TENSOR_CLASSES.iter().any(|library| self.mentions(library)) {
            return false;
        }
        if !is_given && !self.is_in_try() {
            self.in_arm_of(object, |it| it.report_missing(RejectKind::Name, message, span));
        }
        true
    }

    /// Whether a method call names an attribute that is no method. If it does, this is reported.
    pub(super) fn calls_attribute(&mut self, object: &Value, name: Sym, span: Span) -> bool {
        let Some(message) = self.library.called_attribute(&self.heap, object, name) else { return false };
        if self.sources.assigns_from_outside(self.root, name.as_str()) || self.is_in_try() {
            return false;
        }
        self.in_arm_of(object, |it| it.report_missing(RejectKind::Arguments, message, span));
        true
    }

    /// Whether a module of the project certainly does not define this name. If so, this is reported.
    pub(super) fn lacks_member(&mut self, object: &Value, name: Sym, span: Span) -> bool {
        let Some(Data::Module { file, scope }) = object.as_obj().map(|id| self.heap.get(id)) else { return false };
        let (file, scope) = (*file, *scope);
        if self.scope_var(scope, name).is_some() || self.is_in_try() {
            return false;
        }
        let missing = self.sources.missing_member(self.root, file, name.as_str());
        let Some((message, names)) = missing else { return false };
        let near = meant(nearest(name.as_str(), names.into_iter()));
        self.in_any_arm(|it| it.report_missing(RejectKind::Name, format!("{message}{near}"), span));
        true
    }

    /// Whether an instance certainly lacks this attribute. If it does, this is reported.
    /// `is_self` tells whether the object is written as `self`.
    pub(super) fn lacks_own_attribute(&mut self, object: &Value, name: Sym, is_self: bool, span: Span) -> bool {
        // Most attributes are stored in the object.
        let Some(id) = object.as_obj().filter(|id| self.heap.attr(*id, name.as_str()).is_none()) else { return false };
        if self.gets_from_class(object, name) || self.may_be_extended(object) {
            return false;
        }
        // The program may ask first: `if "name" in dir(object)`.
        let file = self.file();
        let quoted = || [format!("\"{name}\""), format!("'{name}'")];
        let asks = || quoted().iter().any(|text| self.sources.contains(file, text));
        if [" dir(", "(dir("].iter().any(|text| self.sources.contains(file, text)) && asks() {
            return false;
        }
        // `__new__` may set attributes before any constructor runs.
        let is_early = self.is_before_base(id, span)
            && self.user_method(object, "__new__").is_none()
            && !self.is_annotated(object, name);
        if !is_early && self.may_be_set_by_name(object, name) {
            return false;
        }
        let is_module = self.is_instance(object, self.library.words().module);
        // `DataParallel` has the attribute `module`, and the condition may ask whether the model is wrapped.
        if is_module && name.as_str() == "module" && self.context.undecided > 0 {
            return false;
        }
        let Some(class) = self.own_class(object) else { return false };
        let (class, code) = (class.name, class.code);
        let has_fallback = || is_module || is_meant_as_base(class) || self.user_method(object, "__getattr__").is_some();
        if self.is_in_property() && has_fallback() {
            return false;
        }
        // The file of the class may not be among the named files.
        let file = self.code.get(code.0 as usize).map(|code| code.file);
        let is_set_there =
            || file.is_some_and(|file| self.sources.may_assign_to(file, class.as_str(), name.as_str(), None));
        let is_never_set = self.is_never_set(class, name) && !is_set_there();
        // A class without a constructor, or with methods for subclasses, may be a part of other classes, unless it has
        // a method of almost this name. A module
        // that calls itself without a `forward` is meant for subclasses.
        let is_whole = || match is_module {
            true => self.method_def(object, "forward").is_some() || !self.classes_call(object, &["self"]),
            false => {
                self.user_method(object, "__init__").is_some()
                    && (!self.is_abstract(object) || self.has_almost(object, name))
            }
        };
        // Unseen code may set attributes of a module that it gets, such as hooks.
        let is_made_here = || {
            let is_closed = |instance: &Instance| !instance.open || !is_module && !self.mentions("namespace=");
            self.is_made_here(object) && self.heap.instance_of(object).is_some_and(is_closed)
        };
        let lacks =
            is_never_set && (is_self && is_whole() || is_made_here()) || is_early || self.surely_lacks(object, name);
        if !lacks
            && is_self
            && !is_module
            && let Some(base) = self.base_left_out(object, name)
        {
            let message = format!(
                "`{class}` has no attribute `{name}`: `{base}.__init__` sets it, but `{class}.__init__` does not call it"
            );
            self.report_missing(RejectKind::Name, message, span);
            return true;
        }
        // A module that contains this one may have called its `forward`.
        if !lacks || is_module && self.sets_later(object, name) {
            return false;
        }
        if is_never_set {
            let why = match self.sources.assigns(self.root, name.as_str()) {
                true => "the program sets it only on objects of other classes",
                false => "nothing in the program sets it",
            };
            let message = format!("`{class}` has no attribute `{name}`: {why}");
            self.in_any_arm(|it| it.report_missing(RejectKind::Name, message, span));
        } else if is_early {
            let message =
                format!("`{class}` has no attribute `{name}` before the constructor of its base class has run");
            self.in_any_arm(|it| it.report_missing(RejectKind::Name, message, span));
        } else {
            // Another call may run the line when the attribute exists, and one that gets here in this call may return
            // early.
            if self.returned_before() {
                return false;
            }
            let message = format!("`{class}` has no attribute `{name}`: no line that has run sets it");
            self.report_missing(RejectKind::Name, message, span);
        }
        true
    }

    /// Whether the body of a class of the object annotates this name, so that subclasses are meant to set it.
    fn is_annotated(&self, object: &Value, name: Sym) -> bool {
        self.mro_of(object).iter().filter_map(Value::as_obj).any(|class| match self.heap.get(class) {
            Data::Class(class) => class.fields.iter().flatten().any(|field| *field == name),
            _ => false,
        })
    }

    /// Whether a class of the program certainly lacks an attribute that the program reads through the class. If it
    /// does, this is reported.
    pub(super) fn lacks_class_attribute(&mut self, expr: &Expr, object: &Value, name: Sym, span: Span) -> bool {
        let Some(id) = object.as_obj() else { return false };
        let Data::Class(class) = self.heap.get(id) else { return false };
        let class = class.name;
        let is_enum = self.members(object).is_some();
        let is_plain = |ancestor: &Value| match ancestor {
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Class(data) => (is_enum || !data.open) && !data.attrs.contains_key(&sym(super::class::DECORATED)),
                _ => false,
            },
            Value::Path(path) => {
                matches!(path.as_str(), "builtins.object" | "abc.ABC" | "enum.Enum")
                    || self.lists_attributes(path.as_str()) && self.library.missing_name(*path, name).is_some()
            }
            _ => false,
        };
        let mro = self.mro(id);
        let is_plain = mro.iter().all(is_plain) && (!self.context.speculative || self.is_global(expr));
        let defines = |class: &Value| class.as_obj().is_some_and(|class| self.class_attr(class, name).is_some());
        if !is_plain
            || name.as_str().starts_with('_')
            || matches!(name.as_str(), "mro" | "register" | "name" | "value")
            || self.is_in_try()
            || self.sources.may_set_by_name(self.root, class.as_str())
            || !self.is_never_set(class, name)
            || mro.iter().any(defines)
        {
            return false;
        }
        let message = format!("`{class}` has no attribute `{name}`: nothing in the program sets it");
        self.report_missing(RejectKind::Name, message, span);
        true
    }

    /// Whether the classes of an object have this attribute, or may have it.
    pub(super) fn gets_from_class(&self, object: &Value, name: Sym) -> bool {
        name.as_str().starts_with("__") && name.as_str().ends_with("__")
            || is_mangled(name)
            || !self.has_only_known_bases(object)
            || self.is_in_try()
            || self.user_method(object, name.as_str()).is_some()
            || self.is_inherited(object, name)
    }

    /// Whether the current function is a property. If it raises an `AttributeError`, `__getattr__` may still give the
    /// property a value.
    fn is_in_property(&self) -> bool {
        let definition = self.frames.last().and_then(|frame| self.definition(frame));
        let is_property = |decorator: &Decorator| path_of(&decorator.expression) == ["property"];
        definition.is_some_and(|def| def.decorator_list.iter().any(is_property))
    }

    /// Whether code may set this attribute of an object by a name that is only known when it runs.
    pub(super) fn may_be_set_by_name(&self, object: &Value, name: Sym) -> bool {
        let Some(class) = self.own_class(object) else { return true };
        let own = ["__getattr__", "__getattribute__", "__slots__", "__new__"];
        // If only one file is checked, the class may be in another file, whose text is not searched.
        self.sources.may_set_by_name(self.root, class.name.as_str())
            || own.iter().any(|method| self.user_method(object, method).is_some())
            || self.classes_call(object, &["setattr", "vars", "locals"])
            || self.may_register(object, name)
    }

    /// Whether a class of an object registers modules or tensors under a name that may be this one:
    /// `self.add_module(f"layer{i}", layer)`.
    fn may_register(&self, object: &Value, name: Sym) -> bool {
        let registers = |call: &&ExprCall| {
            called(call).is_some_and(|callee| {
                ["add_module", "register_module", "register_parameter", "register_buffer"].contains(&callee)
            })
        };
        self.class_definitions(object).flat_map(|def| def.body.iter().flat_map(calls)).filter(registers).any(|call| {
            match call.arguments.find_argument_value("name", 0) {
                Some(Expr::StringLiteral(_)) => false,
                Some(Expr::FString(text)) => {
                    let first = text.value.elements().next().and_then(|part| part.as_literal());
                    first.is_none_or(|first| name.as_str().starts_with(&**first))
                }
                _ => true,
            }
        })
    }

    /// The class of an instance, if the program defines it.
    pub(super) fn own_class(&self, object: &Value) -> Option<&UserClass> {
        let class = self.heap.instance_of(object).and_then(|instance| instance.class.as_obj());
        match self.heap.get(class?) {
            Data::Class(class) => Some(class),
            _ => None,
        }
    }

    /// Whether a subclass, or another base of a subclass, may have what a class lacks.
    pub(super) fn may_be_completed(&self, class: Sym) -> bool {
        is_meant_as_base(class) || self.sources.is_mixed(self.root, class.as_str())
    }

    /// Whether nothing in the program may set this attribute on objects of the class. False for classes with names
    /// such as `…Mixin` or `Base…`, because a subclass outside the program may set the attribute, and for
    /// classes that other bases complete: `class Net(Averaged, nn.Linear)`.
    pub(super) fn is_never_set(&self, class: Sym, name: Sym) -> bool {
        let sources = self.sources;
        let is_set = sources.may_assign_to(self.root, class.as_str(), name.as_str(), None);
        !is_set && !self.may_be_completed(class)
    }

    /// Whether the file of a class of an object, or the program of this file, sets an attribute of this
    /// name. The class may come from a file whose program the checked file does not belong to.
    pub(super) fn is_set_in_classes(&self, object: &Value, name: Sym) -> bool {
        self.mro_of(object).iter().filter_map(Value::as_obj).any(|id| {
            let Data::Class(class) = self.heap.get(id) else { return false };
            let file = self.code.get(class.code.0 as usize).map(|code| code.file);
            file.is_none_or(|file| {
                self.sources.assigns(file, name.as_str()) || self.sources.binds_attribute(file, name.as_str())
            })
        })
    }

    /// Whether an instance has no attribute of its own with this name: the program has created it,
    /// and no unseen code may have set an attribute.
    fn surely_lacks(&self, object: &Value, name: Sym) -> bool {
        if self.heap.instance_of(object).is_none_or(|instance| instance.open) {
            return false;
        }
        // In a method that nothing calls, the object may have any attribute. An exception is its
        // constructor, which itself sets the attribute, but later. Another base of a subclass may have it.
        // A subclass may set it before it calls the constructor of its base.
        let is_whole = || {
            self.own_class(object).is_some_and(|class| {
                let own = Some(class.name.as_str());
                !self.may_be_completed(class.name)
                    && !self.sources.may_assign_to(self.root, class.name.as_str(), name.as_str(), own)
            })
        };
        !self.context.speculative || object.as_obj().is_some_and(|id| self.constructor_sets(id, name)) && is_whole()
    }

    /// Whether an instance of a class of the program certainly has none of these special methods.
    pub(super) fn lacks_method(&self, object: &Value, methods: &[&str]) -> bool {
        let is_known = |instance: &Instance| !instance.open && matches!(instance.class, Value::Obj(_));
        let is_dataset =
            |class: &Value| class.as_path().is_some_and(|path| self.library.words().plain_bases.contains(&path));
        // In a function that nothing calls, the object may be one of a subclass.
        let is_sure = !self.context.speculative || self.is_made_here(object);
        is_sure
            && self.heap.instance_of(object).is_some_and(is_known)
            && self.has_only_known_bases(object)
            && !self.mro_of(object).iter().any(is_dataset)
            && methods.iter().all(|method| self.user_method(object, method).is_none())
            && self.payload(object).is_none()
            && !self.is_decorated(object)
            && !methods.iter().any(|method| self.sources.assigns(self.root, method))
            && !self.is_extended_by_name(object)
            && !self.is_in_try()
    }

    /// Whether a file that defines a class of an object sets attributes of the class by name:
    /// `setattr(Shared, name, function)`.
    fn is_extended_by_name(&self, object: &Value) -> bool {
        self.mro_of(object).iter().filter_map(Value::as_obj).any(|id| {
            let Data::Class(class) = self.heap.get(id) else { return false };
            let file = self.code.get(class.code.0 as usize).map(|code| code.file);
            file.is_some_and(|file| self.sources.contains(file, &format!("setattr({}, ", class.name)))
        })
    }

    /// Whether a class of an object has a decorator of an unseen library that may add attributes, such as
    /// `@dataclass_json`. Decorators that register a class leave it as it is.
    fn may_be_extended(&self, object: &Value) -> bool {
        const PLAIN: &[&str] = &["dataclass", "total_ordering", "final", "runtime_checkable", "script", "skip", "slow"];
        self.class_definitions(object).flat_map(|def| &def.decorator_list).any(|decorator| {
            let path = path_of(callee_or_itself(&decorator.expression));
            let (Some(first), Some(last)) = (path.first(), path.last()) else { return false };
            let is_own = || self.mentions(sym(&format!("def {last}(")).as_str());
            let is_registry = || path.iter().any(|part| part.to_lowercase().contains("regist"));
            !PLAIN.contains(last) && !is_registry() && !is_own() && !crate::libraries::is_known(first)
        })
    }

    /// Whether a class of an object has a decorator, which may add methods.
    pub(super) fn is_decorated(&self, object: &Value) -> bool {
        self.class_definitions(object).any(|def| !def.decorator_list.iter().all(makes_dataclass))
    }

    /// Whether a class of an object is a dataclass, and no class of it has another decorator.
    pub(super) fn is_dataclass(&self, object: &Value) -> bool {
        !self.is_decorated(object) && self.class_definitions(object).any(|def| !def.decorator_list.is_empty())
    }

    /// Reports that an instance lacks a special method that an operation needs.
    pub(super) fn refuse_protocol(&mut self, object: &Value, what: &str, method: &str, span: Span) -> Value {
        let class = self.mro_of(object).first().and_then(Value::as_obj).map(|id| self.heap.get(id));
        let Some(Data::Class(class)) = class else { return Value::Unknown };
        let message = format!("an instance of `{}` {what}: the class has no method `{method}`", class.name);
        self.in_arm_of(object, |it| it.report_missing(RejectKind::Name, message, span));
        self.raise("TypeError")
    }

    /// Whether the library lists the attributes of a class.
    fn lists_attributes(&self, class: &str) -> bool {
        class == self.library.words().module || self.library.words().bases.contains(&class)
    }

    /// Whether an object has an attribute from a class of the library.
    fn is_inherited(&self, object: &Value, name: Sym) -> bool {
        let line = self.mro_of(object);
        let mut listed = line.iter().filter_map(Value::as_path).filter(|class| self.lists_attributes(class));
        listed.any(|class| self.library.missing_name(sym(class), name).is_none())
    }

    /// Whether the program defines all classes of an object, except those whose attributes the library
    /// lists, `object`, `abc.ABC` and [`Words::plain_bases`](super::library::Words).
    fn has_only_known_bases(&self, object: &Value) -> bool {
        let line = self.mro_of(object);
        !line.is_empty()
            && line.iter().all(|class| match class {
                Value::Path(path) => {
                    matches!(path.as_str(), "builtins.object" | "abc.ABC")
                        || self.library.words().plain_bases.contains(&path.as_str())
                        || self.lists_attributes(path.as_str())
                }
                Value::Obj(id) => matches!(self.heap.get(*id), Data::Class(class) if !class.open),
                _ => false,
            })
    }

    /// The message for a wrong call of `load_state_dict`, or for a call of a method that its result
    /// does not have. The type of the object is not needed: both mistakes are the same for modules,
    /// optimizers and schedulers.
    pub(super) fn misuses_load_state_dict(&self, call: &ast::ExprCall, method: &ast::ExprAttribute) -> Option<String> {
        const LOAD: &str = "load_state_dict";
        let is_load = |callee: &Expr| callee.as_attribute_expr().is_some_and(|a| a.attr.as_str() == LOAD);
        let own = || self.mentions("def load_state_dict") || self.expects_failure();
        if method.attr.as_str() == LOAD {
            let misplaced = call.arguments.find_keyword("map_location").is_some() && !own();
            return misplaced.then(|| format!("`{LOAD}` takes no argument `map_location`: it belongs to `torch.load`"));
        }
        let of_result = method.value.as_call_expr().is_some_and(|inner| is_load(&inner.func));
        let name = method.attr.as_str();
        let is_move = matches!(name, "to" | "cuda" | "cpu" | "eval" | "train" | "half" | "float" | "parameters");
        (of_result && is_move && !own()).then(|| {
            format!("`{LOAD}` does not return the object into which it loads, and its result has no method `{name}`")
        })
    }

    /// Reports an attribute that the parsed arguments of the command line do not have, unless the
    /// program may set it or test for it. Returns the value of the expression if it makes a report.
    pub(crate) fn lacks_option(&mut self, name: Sym, message: String, span: Span) -> Option<Value> {
        if self.is_given(name) || self.sources.may_set_options(self.root) {
            None
        } else {
            self.lacks_field(message, span)
        }
    }

    /// Reports an attribute that an object with known attributes lacks. Returns the value of the expression
    /// if it makes a report.
    pub(crate) fn lacks_field(&mut self, message: String, span: Span) -> Option<Value> {
        if self.may_be_fallback() {
            return None;
        }
        self.in_any_arm(|it| it.report_missing(RejectKind::Name, message, span));
        Some(self.raise("AttributeError"))
    }

    /// Whether the program may set an attribute of this name, or test whether it exists.
    fn may_be_given(&self, name: Sym) -> bool {
        self.may_be_fallback() || self.is_given(name)
    }

    /// Whether the current code is in a handler of an exception.
    pub(crate) fn is_in_handler(&self) -> bool {
        self.context.in_handler
    }

    /// Whether the current code is inside a `try` of the innermost function, or in a handler: the
    /// program may try one of several ways to do the same.
    pub(crate) fn may_be_fallback(&self) -> bool {
        self.context.in_handler || self.is_in_try()
    }

    /// Whether the current code is inside a `try` of the innermost function whose handlers may catch the exception
    /// of a mistake.
    pub(crate) fn is_in_try(&self) -> bool {
        let catches = |kind: &BlockKind<'_>| matches!(kind, BlockKind::Try(Catches::All | Catches::Some));
        self.frames.last().is_some_and(|frame| frame.blocks.iter().any(|block| catches(&block.kind)))
    }

    /// Whether the program sets an attribute or defines a function of this name, or contains the
    /// name as a string.
    fn is_given(&self, name: Sym) -> bool {
        let texts = [format!("\"{name}\""), format!("'{name}'"), format!("def {name}(")];
        self.sources.assigns(self.root, name.as_str()) || texts.iter().any(|text| self.mentions(sym(text).as_str()))
    }

    /// Reports arguments that the callee never accepts, even if the call is in an arm of an unknown
    /// condition.
    pub(crate) fn report_arguments(&mut self, message: String, span: Span) {
        self.in_any_arm(|it| it.report_missing(RejectKind::Arguments, message, span));
    }

    /// Reports arguments that the callee of the call at `call` never accepts.
    pub(crate) fn report_wrong(&mut self, wrong: WrongArguments, call: Span) {
        let rejection = self.rejection_of(wrong, call);
        self.in_any_arm(|it| it.reject(rejection, call));
    }

    /// The rejection of the call at `call` because of its arguments. Its place is that of the wrong keyword, if
    /// the call contains it.
    pub(crate) fn rejection_of(&self, wrong: WrongArguments, call: Span) -> Rejection {
        let body = &self.sources.module(call.file).body;
        let keyword = wrong.keyword.and_then(|keyword| {
            let stmt = body.iter().find(|stmt| Span::new(call.file, *stmt).contains(call))?;
            let mut calls = expressions(stmt).into_iter().filter_map(Expr::as_call_expr);
            let node = calls.find(|node| Span::new(call.file, *node) == call)?;
            node.arguments.find_keyword(keyword.as_str())
        });
        Rejection {
            kind: RejectKind::Arguments,
            message: wrong.message,
            reads: Vec::new(),
            span: keyword.map_or(call, |keyword| Span::new(call.file, keyword)),
            assumed: None,
            of_python: true,
        }
    }

    /// Reports a mistake that ends every run that reaches this place.
    pub(super) fn report_missing(&mut self, kind: RejectKind, message: String, span: Span) {
        self.reject(Rejection { kind, message, reads: Vec::new(), span, assumed: None, of_python: true }, span);
    }
}

/// Whether a name is one that Python gives to a private name of a class: `_Base__size` for `__size`.
fn is_mangled(name: Sym) -> bool {
    name.as_str().strip_prefix('_').is_some_and(|rest| !rest.starts_with('_') && rest.contains("__"))
}

/// Whether a decorator is `@dataclass`, with or without arguments.
fn makes_dataclass(decorator: &Decorator) -> bool {
    matches!(path_of(callee_or_itself(&decorator.expression)).as_slice(), ["dataclass"] | ["dataclasses", "dataclass"])
}

/// Whether the name of a class shows that the class is meant as a base class.
pub(super) fn is_meant_as_base(class: Sym) -> bool {
    ["Mixin", "MixIn", "Base", "Abstract"].iter().any(|word| class.as_str().contains(word))
}

/// The name in `names` that the author of `name` probably meant.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = match name.len() {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    let distance = |other: &str| strsim::damerau_levenshtein(name, other);
    // Mistyped names rarely differ in their first letter.
    let first = |name: &str| name.chars().next().map(|c| c.to_ascii_lowercase());
    let near = names.filter(|other| {
        other.len().abs_diff(name.len()) <= most && first(other) == first(name) && distance(other) <= most
    });
    near.min_by_key(|other| (distance(other), *other))
}

/// The part of a message that suggests a similar name.
pub(crate) fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

/// What is wrong with a call, or with the name of an attribute.
pub(crate) struct WrongArguments {
    pub message: String,
    /// The name of the wrong argument, if it is one that is passed by its name.
    pub keyword: Option<Sym>,
}

impl From<String> for WrongArguments {
    fn from(message: String) -> WrongArguments {
        WrongArguments { message, keyword: None }
    }
}

/// Returns two values: what is wrong with a call of `name` with an unknown keyword, and the parameter that was
/// probably meant.
pub(crate) fn unknown_argument<'n>(
    name: &str,
    keyword: &str,
    parameters: impl Iterator<Item = &'n str>,
) -> (WrongArguments, Option<&'n str>) {
    let near = nearest(keyword, parameters);
    let message = format!("`{name}` takes no argument `{keyword}`{}", meant(near));
    (WrongArguments { message, keyword: Some(sym(keyword)) }, near)
}

/// What is wrong with a call of `name` that passes an argument by its position and by its name.
pub(crate) fn doubled_argument(name: &str, keyword: &str) -> WrongArguments {
    let message = format!("`{name}` gets two values for its argument `{keyword}`");
    WrongArguments { message, keyword: Some(sym(keyword)) }
}

/// The message for a call of `name` without an argument for a required parameter.
pub(crate) fn missing_argument(name: &str, parameter: &str) -> WrongArguments {
    format!("`{name}` is called without the required argument `{parameter}`").into()
}

/// The message for a call of `name` with `given` positional arguments, if at most `most` are
/// accepted.
pub(crate) fn surplus_arguments(name: &str, most: usize, given: usize) -> WrongArguments {
    format!("`{name}` takes {}, but gets {given}", counted(most, "positional argument")).into()
}
