//! Writes the program of a witness: Python code that makes a call with the known facts.
//!
//! Unknown sizes and values are filled in. A finding must hold for all possible sizes and values,
//! so any choice can test it. But some choices fail for an unrelated reason, so several are tried.

use std::collections::BTreeSet;

use super::harmless::is_harmless;
use super::tensor;
use crate::diagnostic::{Call, Given, Place, Witness};
use crate::value::{Device, DeviceKind, Dtype, Form, InstanceForm, Kind, Length, Symbol, TensorForm, Type};

/// How unknown facts are filled in, on which devices the tensors are, and how the call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    pub lengths: Lengths,
    /// The kind of elements for a tensor of unknown dtype.
    pub kind: Kind,
    /// The index of the known value that a tensor is filled with first.
    pub first: usize,
    pub devices: Devices,
    /// `input.f(…)` instead of `torch.f(input, …)`.
    pub as_method: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lengths {
    /// All unknown sizes, and all symbols in sizes, have this value.
    Same(i64),
    /// The symbols in sizes have different values (at least the first eight symbols).
    Distinct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Devices {
    /// All tensors, except meta tensors, are on the CPU, so that a machine without a GPU can test
    /// findings that are not about devices.
    Cpu,
    /// Each tensor is on its known device.
    AsFound,
}

/// A program that makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub imports: Vec<String>,
    /// The code that creates the arguments.
    pub setup: Vec<String>,
    pub call: String,
    /// The arguments by parameter, as expressions.
    pub arguments: Vec<(String, String)>,
    /// Known facts that the program does not reproduce, and unknown shapes and arguments that were
    /// filled in. (Single sizes, dtypes, devices and elements may be filled in without an entry.)
    pub lost: Vec<String>,
    /// The callables that the program uses, but that no witness may use.
    pub forbidden: Vec<String>,
}

impl Program {
    pub(super) fn of(witness: &Witness, choice: Choice) -> Program {
        match witness {
            Witness::Call(call) => Program::of_call(call, choice),
            Witness::Program { setup, call } => Program {
                imports: vec!["import torch".to_owned(), "from torch import nn".to_owned()],
                setup: setup.lines().map(str::to_owned).collect(),
                call: (*call).to_owned(),
                arguments: Vec::new(),
                lost: Vec::new(),
                forbidden: Vec::new(),
            },
        }
    }

    fn of_call(witness: &Call, choice: Choice) -> Program {
        let mut writer = Writer {
            choice,
            imports: BTreeSet::from(["import torch".to_owned()]),
            setup: Vec::new(),
            lost: Vec::new(),
            forbidden: Vec::new(),
            names: BTreeSet::new(),
            symbols: symbols(witness),
            counts: witness.arguments.iter().any(|argument| {
                let is_number = matches!(argument.value, Form::Int(_) | Form::Length(_) | Form::Any(Type::Int));
                argument.place == Place::Star && is_number
            }),
            fallback: fallback(witness, choice),
        };
        let mut given: Vec<(Given, String)> = Vec::new();
        let mut left_out = false;
        for argument in &witness.arguments {
            let Some(text) = writer.argument(argument) else {
                left_out = true;
                continue;
            };
            let mut argument = argument.clone();
            // After an omitted argument, all further positional ones are passed by name.
            if left_out && argument.place == Place::Positional {
                argument.place = Place::Keyword;
            }
            given.push((argument, text));
        }
        let call = writer.call(witness.path.as_str(), &given);
        let arguments = given.iter().map(|(argument, text)| (argument.name.to_string(), text.clone())).collect();
        let Writer { imports, setup, lost, forbidden, .. } = writer;
        // `import torch` comes before `from torch import nn`.
        let (plain, from): (Vec<String>, Vec<String>) =
            imports.into_iter().partition(|line| line.starts_with("import"));
        let imports = plain.into_iter().chain(from).collect();
        Program { imports, setup, call, arguments, lost, forbidden }
    }

    /// The program without the call.
    pub(super) fn preparation(&self) -> String {
        let imports = self.imports.iter().map(|line| format!("{line}\n"));
        let setup = self.setup.iter().map(|line| format!("{line}\n"));
        format!("{}\ntorch.manual_seed(0)\n{}", imports.collect::<String>(), setup.collect::<String>())
    }

    /// The whole program, as a person would write it.
    pub(super) fn text(&self) -> String {
        format!("{}{}\n", self.preparation(), self.call)
    }
}

/// The symbols of a call, in order of appearance.
fn symbols(witness: &Call) -> Vec<Symbol> {
    let mut all: Vec<Symbol> = Vec::new();
    let mut add = |length: &Length| {
        if let Length::Expr(poly) = length {
            for symbol in poly.symbols() {
                if !all.contains(&symbol) {
                    all.push(symbol);
                }
            }
        }
    };
    for argument in &witness.arguments {
        lengths(&argument.value, &mut add);
    }
    all
}

fn lengths(form: &Form, add: &mut dyn FnMut(&Length)) {
    match form {
        Form::Length(length) => add(length),
        Form::Tuple(items) | Form::List(items) | Form::Slice(items) => {
            for item in items {
                lengths(item, add);
            }
        }
        Form::Dict(entries) => entries.iter().for_each(|(_, value)| lengths(value, add)),
        Form::Tensor(tensor) => tensor.shape.iter().flatten().for_each(add),
        Form::Instance(instance) => instance.arguments.iter().for_each(|(_, value)| lengths(value, add)),
        _ => {}
    }
}

/// The facts that replace unknown facts of a tensor: usually those of another tensor of the call.
#[derive(Debug, Clone)]
pub(super) struct Fallback {
    pub dtype: Dtype,
    pub shape: Vec<Length>,
    pub device: Device,
}

fn fallback(witness: &Call, choice: Choice) -> Fallback {
    let tensors: Vec<&TensorForm> = witness.arguments.iter().flat_map(|argument| argument.value.tensors()).collect();
    let floating = tensors.iter().filter_map(|tensor| tensor.dtype).find(|dtype| dtype.is_floating());
    let dtype = match choice.kind {
        Kind::Integral => Dtype::Int64,
        Kind::Bool => Dtype::Bool,
        Kind::Floating | Kind::Complex => floating.unwrap_or(Dtype::Float32),
    };
    Fallback {
        dtype,
        shape: tensors.iter().find_map(|tensor| tensor.shape.clone()).unwrap_or_default(),
        device: tensors.iter().find_map(|tensor| tensor.device).unwrap_or(Device::CPU),
    }
}

/// Writes a program, argument by argument.
pub(super) struct Writer {
    pub choice: Choice,
    imports: BTreeSet<String>,
    pub setup: Vec<String>,
    pub lost: Vec<String>,
    forbidden: Vec<String>,
    names: BTreeSet<String>,
    symbols: Vec<Symbol>,
    /// Whether the star parameter (`*name`) takes numbers, such as sizes, and not tensors.
    counts: bool,
    pub fallback: Fallback,
}

/// Numbers that are easy to distinguish in a message. 1 is not among them, because it broadcasts.
const DISTINCT: [i64; 8] = [5, 7, 11, 13, 17, 19, 23, 29];

impl Writer {
    pub(super) fn length(&self, length: &Length) -> i64 {
        let free = |index: usize| match self.choice.lengths {
            Lengths::Same(n) => n,
            Lengths::Distinct => DISTINCT.get(index % DISTINCT.len()).copied().unwrap_or(5),
        };
        match length {
            Length::Int(n) => *n,
            Length::Unknown => free(0),
            Length::Expr(poly) => {
                let of = |symbol: Symbol| free(self.symbols.iter().position(|have| *have == symbol).unwrap_or(0));
                poly.value(of).unwrap_or(0)
            }
        }
    }

    /// A name that is not used yet.
    pub(super) fn name(&mut self, wanted: &str) -> String {
        let reserved = ["from", "lambda", "in", "is", "if", "torch", "nn", "F", "np", "as", "with", "class", "def"];
        let wanted = if reserved.contains(&wanted) { format!("{wanted}_") } else { wanted.to_owned() };
        let mut name = wanted.clone();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        name
    }

    pub(super) fn import(&mut self, line: &str) {
        self.imports.insert(line.to_owned());
    }

    /// The expression of an argument; `None` if the argument is omitted.
    fn argument(&mut self, argument: &Given) -> Option<String> {
        let name = argument.name.as_str();
        match &argument.value {
            Form::Unknown if argument.place == Place::Star && self.counts => {
                self.lost.push(format!("a part of `{name}` is not known"));
                Some(self.length(&Length::Unknown).to_string())
            }
            // A finding holds for every value of an unknown argument, so also for its default.
            Form::Unknown | Form::Any(_) if argument.optional => None,
            Form::Unknown => {
                self.lost.push(format!("nothing is known about `{name}`"));
                Some(self.expression(&argument.value, name))
            }
            Form::Tensor(_) | Form::Instance(_) => {
                let name = if name == "self" { "module" } else { name };
                let value = self.expression(&argument.value, name);
                let name = self.name(name);
                self.setup.push(format!("{name} = {value}"));
                Some(name)
            }
            value => Some(self.expression(value, name)),
        }
    }

    /// The Python expression for a value.
    pub(super) fn expression(&mut self, form: &Form, name: &str) -> String {
        match form {
            Form::None => "None".to_owned(),
            Form::Ellipsis => "...".to_owned(),
            Form::Bool(b) => python_bool(*b).to_owned(),
            Form::Int(n) => n.to_string(),
            Form::Float(x) => float(*x),
            Form::Str(text) => quoted(text),
            Form::Length(length) => self.length(length).to_string(),
            Form::Ranged(lo, hi) => (if self.choice.first == 0 { hi } else { lo }).to_string(),
            Form::Any(kind) => {
                self.lost.push(format!("the value of `{name}` is not known"));
                match kind {
                    Type::Bool => "True",
                    Type::Int => "1",
                    Type::Float => "1.0",
                    Type::Complex => "1j",
                    Type::Str => "''",
                    Type::Bytes => "b''",
                }
                .to_owned()
            }
            Form::Dtype(dtype) => format!("torch.{dtype}"),
            Form::Device(device) => quoted(&self.device(*device)),
            Form::Path(path) => self.path(path.as_str()),
            Form::Tuple(items) => match items.as_slice() {
                [one] => format!("({},)", self.expression(one, name)),
                _ => format!("({})", self.expressions(items, name)),
            },
            Form::List(items) => format!("[{}]", self.expressions(items, name)),
            Form::Dict(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("{}: {}", self.expression(key, name), self.expression(value, name)))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
            Form::Slice(parts) => format!("slice({})", self.expressions(parts, name)),
            Form::Tensor(facts) => tensor::expression(self, facts, name),
            Form::Instance(instance) => self.instance(instance),
            Form::Unknown => {
                self.lost.push(format!("a part of `{name}` is not known"));
                tensor::expression(self, &TensorForm::unknown(), name)
            }
        }
    }

    fn expressions(&mut self, items: &[Form], name: &str) -> String {
        items.iter().map(|item| self.expression(item, name)).collect::<Vec<_>>().join(", ")
    }

    fn instance(&mut self, instance: &InstanceForm) -> String {
        let class = self.path(instance.class.as_str());
        let mut given = Vec::new();
        for (name, value) in &instance.arguments {
            match value {
                // A layer stores its argument `bias` as a parameter or None, not as a flag.
                Form::Tensor(_) | Form::Unknown | Form::Any(_) => {}
                Form::None if name.as_str() == "bias" => given.push("bias=False".to_owned()),
                Form::None => {}
                value => given.push(format!("{name}={}", self.expression(value, name.as_str()))),
            }
        }
        // Every PyTorch layer with parameters takes `device` and `dtype`.
        if let Some(device) = instance.device.map(|device| self.device(device)).filter(|device| device != "cpu") {
            given.push(format!("device=\"{device}\""));
        }
        if let Some(dtype) = instance.dtype.filter(|dtype| *dtype != Dtype::Float32) {
            given.push(format!("dtype=torch.{dtype}"));
        }
        format!("{class}({})", given.join(", "))
    }

    pub(super) fn device(&self, device: Device) -> String {
        match (self.choice.devices, device.kind) {
            (_, DeviceKind::Meta) => "meta".to_owned(),
            (Devices::Cpu, _) => "cpu".to_owned(),
            // An unknown device is assumed to be the GPU, except the device of a loader's batches.
            (Devices::AsFound, DeviceKind::Batch) => "cpu".to_owned(),
            (
                Devices::AsFound,
                DeviceKind::Symbolic(_) | DeviceKind::Module | DeviceKind::Named(_) | DeviceKind::If(_),
            ) => "cuda".to_owned(),
            (Devices::AsFound, _) => device.to_string(),
        }
    }

    /// A member of a library, with the usual name of the library.
    fn path(&mut self, path: &str) -> String {
        if !is_harmless(path) {
            self.forbidden.push(path.to_owned());
        }
        if let Some(name) = path.strip_prefix("torch.nn.functional.") {
            self.import("import torch.nn.functional as F");
            return format!("F.{name}");
        }
        if let Some(name) = path.strip_prefix("torch.nn.") {
            self.import("from torch import nn");
            return format!("nn.{name}");
        }
        if let Some(name) = path.strip_prefix("numpy.") {
            self.import("import numpy as np");
            return format!("np.{name}");
        }
        if path.starts_with("PIL.") {
            self.import("import PIL.Image");
            return path.to_owned();
        }
        if let Some(name) = path.strip_prefix("builtins.") {
            return name.to_owned();
        }
        // A class begins with a capital letter; the part before it is a module.
        let parts: Vec<&str> = path.split('.').collect();
        let is_class = |part: &&str| part.starts_with(char::is_uppercase);
        let end = parts.iter().position(is_class).unwrap_or(parts.len().saturating_sub(1));
        let module = parts.get(..end).unwrap_or_default().join(".");
        if module != "torch" && !module.is_empty() {
            self.import(&format!("import {module}"));
        }
        path.to_owned()
    }

    fn call(&mut self, path: &str, given: &[(Given, String)]) -> String {
        if !is_harmless(path) {
            self.forbidden.push(path.to_owned());
        }
        let (owner, name) = path.rsplit_once('.').unwrap_or(("", path));
        let is_method = matches!(owner, "torch.Tensor" | "numpy.ndarray");
        let receiver = given.first().map(|(_, text)| text.as_str());
        let after = || given.get(1..).unwrap_or_default();
        let text = |index: usize| given.get(index).map_or("...", |(_, text)| text.as_str());
        match (name, receiver) {
            ("forward", Some(module)) if given.first().is_some_and(|(g, _)| g.name.as_str() == "self") => {
                format!("{module}({})", arguments(after()))
            }
            ("__getitem__", Some(object)) => format!("{object}[{}]", text(1)),
            ("__setitem__", Some(object)) => format!("{object}[{}] = {}", text(1), text(2)),
            (_, Some(object)) if is_method || self.choice.as_method => {
                format!("{object}.{name}({})", arguments(after()))
            }
            _ => {
                let function = self.path(path);
                format!("{function}({})", arguments(given))
            }
        }
    }
}

/// The arguments of a call.
fn arguments(given: &[(Given, String)]) -> String {
    let mut texts = Vec::new();
    for (argument, text) in given {
        texts.push(match argument.place {
            Place::Positional | Place::Star => text.clone(),
            Place::Keyword => format!("{}={text}", argument.name),
        });
    }
    texts.join(", ")
}

pub(super) fn python_bool(b: bool) -> &'static str {
    if b { "True" } else { "False" }
}

/// A float in Python syntax.
pub(super) fn float(x: f64) -> String {
    if x.is_nan() {
        "float('nan')".to_owned()
    } else if x.is_infinite() {
        format!("float('{}inf')", if x < 0.0 { "-" } else { "" })
    } else {
        format!("{x:?}")
    }
}

/// A string in Python syntax.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "''".to_owned())
}
