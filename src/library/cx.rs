//! The context of a library function's model: the place of the call, and helpers that read
//! arguments and create results.

use crate::library::notes::{DEFAULT_DEVICE, DEFAULT_DTYPE};
use crate::python::{Args, Bound, Interp, RejectKind, Rejection};
use crate::syntax::Span;
use crate::value::{ArrayKind, Data, Device, Dim, Dtype, Items, Origin, Sign, Size, Sym, Tensor, Value, counted};

/// The context of one call.
pub(crate) struct Cx<'a, 'p> {
    pub it: &'a mut Interp<'p>,
    /// The canonical path of the called function.
    pub path: Sym,
    pub span: Span,
}

impl Cx<'_, '_> {
    pub(crate) fn at(&self) -> Origin {
        Some(self.span)
    }

    /// The function's own name: `gather` of `torch.gather`.
    pub(crate) fn name(&self) -> &'static str {
        let path = self.path.as_str();
        path.rsplit_once('.').map_or(path, |(_, name)| name)
    }

    /// The facts of a tensor argument; `None` if it is not known to be a tensor.
    pub(crate) fn tensor(&self, value: &Value) -> Option<Tensor> {
        self.it.heap.tensor_of(value)
    }

    /// The tensor bound to a parameter.
    pub(crate) fn tensor_arg(&self, bound: &Bound, name: &str) -> Option<Tensor> {
        self.tensor(&bound.get(name))
    }

    /// Creates a tensor on the heap, for the result of the call.
    pub(crate) fn out(&mut self, tensor: Tensor) -> Value {
        self.it.heap.tensor(tensor)
    }

    /// A tensor with no known facts: the result of a torch function for unknown arguments.
    pub(crate) fn some_tensor(&mut self) -> Value {
        self.it.heap.tensor(Tensor::default())
    }

    /// A tuple of results.
    pub(crate) fn outs(&mut self, tensors: Vec<Tensor>) -> Value {
        let values = tensors.into_iter().map(|t| self.it.heap.tensor(t)).collect();
        Value::tuple(values)
    }

    /// A result that is a view of the tensor `of`: writes to one are seen in the other.
    pub(crate) fn view_of(&mut self, of: &Value, tensor: Tensor) -> Value {
        let Some(id) = of.as_obj() else { return self.it.heap.tensor(tensor) };
        let tensor = self.it.heap.share_memory(tensor, id);
        let view = self.it.heap.tensor(tensor);
        if self.it.heap.is_overlapping(id) {
            self.it.heap.note_overlapping(&view);
        }
        view
    }

    /// Reports that the library rejects this call.
    pub(crate) fn reject(&mut self, kind: RejectKind, message: impl Into<String>, reads: Vec<(String, Origin)>) {
        let span = self.span;
        self.it.reject(Rejection { kind, message: message.into(), reads, span, assumed: None, of_python: false }, span);
    }

    /// Reports that the library rejects this call if the assumption holds. It is not known whether
    /// the assumption holds; if it does not, the call succeeds.
    pub(crate) fn reject_if(
        &mut self,
        assumed: &'static str,
        kind: RejectKind,
        message: impl Into<String>,
        reads: Vec<(String, Origin)>,
    ) {
        let rejection = Rejection {
            kind,
            message: message.into(),
            reads,
            span: self.span,
            assumed: Some(assumed),
            of_python: false,
        };
        self.it.suspect(rejection);
    }

    /// Runs `report`. If the mistake is `independent` of the condition of an arm, it is reported in
    /// arms of unknown conditions, too.
    pub(crate) fn report_if_independent(&mut self, independent: bool, report: impl FnOnce(&mut Cx<'_, '_>)) {
        let (path, span) = (self.path, self.span);
        self.it.in_any_arm_if(independent, |it| report(&mut Cx { it, path, span }));
    }

    /// Reports that the library rejects this call because of the input of the `nn.Module` whose
    /// `forward` makes the call. The report is placed at the call of the module, unless the wrong
    /// `fact` comes from inside the module.
    pub(crate) fn reject_input(
        &mut self,
        kind: RejectKind,
        message: impl Into<String>,
        mut reads: Vec<(String, Origin)>,
        fact: Origin,
    ) {
        let place = self.span;
        let span = self.it.entered("torch.nn.Module", fact).unwrap_or(place);
        if span != place {
            reads.push((format!("the call fails here, in `{}`", self.name()), Some(place)));
        }
        self.it
            .reject(Rejection { kind, message: message.into(), reads, span, assumed: None, of_python: false }, place);
    }

    /// The integers in a tuple or list, or a single integer.
    pub(crate) fn ints(&self, value: &Value) -> Option<Vec<i64>> {
        if let Some(n) = value.as_int() {
            return Some(vec![n]);
        }
        self.it.heap.exact_items(value)?.iter().map(Value::as_int).collect()
    }

    /// The elements of a tuple or list of known length.
    pub(crate) fn items(&self, value: &Value) -> Option<Vec<Value>> {
        self.it.heap.exact_items(value)
    }

    /// Sizes from one tuple or list, or from several integers (`*size`). `None` if even the number
    /// of sizes is unknown.
    pub(crate) fn sizes(&self, values: &[Value]) -> Option<Vec<Size>> {
        if let [only] = values
            && only.as_size().is_none_or(|s| s.is_unknown())
        {
            if let Some(items) = self.it.heap.exact_items(only) {
                return items.iter().map(|v| Some(self.size_of(v))).collect();
            }
            if only.as_size().is_none_or(|s| s.is_unknown()) && only.number_type().is_none() {
                return None;
            }
        }
        values.iter().map(|v| Some(self.size_of(v))).collect()
    }

    /// A value as a size; unknown if it is not an integer.
    pub(crate) fn size_of(&self, value: &Value) -> Size {
        value.as_size().unwrap_or(Size::Unknown)
    }

    /// The index of a dimension, counted from the front. `Ok(None)` if the index is not known,
    /// `Err` if it is out of range (which is reported).
    pub(crate) fn dim_index(&mut self, value: &Value, rank: usize, shape_at: Origin) -> Result<Option<usize>, ()> {
        let Some(dim) = value.as_int() else { return Ok(None) };
        let rank_or_one = i64::try_from(rank.max(1)).unwrap_or(1);
        if dim < -rank_or_one || dim >= rank_or_one {
            let message = format!(
                "dim is {dim}, but the tensor has {}: {} to {} are accepted",
                counted(rank, "dimension"),
                -rank_or_one,
                rank_or_one - 1
            );
            self.reject(RejectKind::Dim, message, vec![("the tensor gets its shape here".to_owned(), shape_at)]);
            return Err(());
        }
        let at = if dim < 0 { dim + rank_or_one } else { dim };
        Ok(usize::try_from(at).ok())
    }

    /// The value of a `dtype=` argument: `None` for Python's `None`, and `Some(None)` for any other
    /// value whose dtype is not known.
    pub(crate) fn dtype_arg(&self, value: &Value) -> Option<Option<Dtype>> {
        match value {
            Value::None => None,
            Value::Dtype(d) => Some(Some(*d)),
            // A Python type such as `float` selects the dtype of its values.
            Value::Path(p) => Some(match p.as_str() {
                "builtins.float" => Some(Dtype::Float64),
                "builtins.int" => Some(Dtype::Int64),
                "builtins.bool" => Some(Dtype::Bool),
                "builtins.complex" => Some(Dtype::Complex128),
                _ => None,
            }),
            _ => Some(None),
        }
    }

    /// The value of a `device=` argument: `None` for Python's `None`, and `Some(None)` for any
    /// other value whose device is not known.
    pub(crate) fn device_arg(&self, value: &Value) -> Option<Option<Device>> {
        match value {
            Value::None => None,
            Value::Device(d) => Some(Some(*d)),
            Value::Str(s) => Some(Device::parse(s)),
            Value::Int(n) => {
                let index = u32::try_from(*n).ok();
                Some(Some(Device { index, ..Device::CUDA }))
            }
            _ => Some(None),
        }
    }

    /// The dtype that new floating tensors have.
    pub(crate) fn default_dtype(&self) -> Option<Dtype> {
        match self.it.remembered(DEFAULT_DTYPE) {
            None => Some(Dtype::Float32),
            Some(Value::Dtype(d)) => Some(d),
            Some(_) => None,
        }
    }

    /// The device that new tensors have.
    pub(crate) fn default_device(&self) -> Option<Device> {
        match self.it.remembered(DEFAULT_DEVICE) {
            None => Some(Device::CPU),
            Some(Value::Device(d)) => Some(d),
            Some(_) => None,
        }
    }

    /// The join of all elements of an iterable.
    pub(crate) fn element(&mut self, value: &Value) -> Value {
        let span = self.span;
        let items = self.it.iterate(value, span);
        items.element(&mut self.it.heap)
    }

    /// Calls a value, such as a function of the program, at the place of this call.
    pub(crate) fn call(&mut self, callee: &Value, args: Args) -> Value {
        let span = self.span;
        self.it.call(callee, args, span)
    }

    /// Whether a value is certainly a tensor. Models of functions that also accept other types need
    /// this: an annotation may be wrong, and then everything computed from the annotated value is
    /// wrong, too.
    pub(crate) fn is_surely_tensor(&self, value: &Value) -> bool {
        let Some(tensor) = self.it.heap.tensor_ref(value) else { return false };
        let supposed = [value.as_obj(), tensor.base]
            .into_iter()
            .flatten()
            .any(|id| self.it.heap.note(id, crate::python::SUPPOSED).is_some());
        let known = tensor.shape.is_some() || tensor.dtype.is_some() || tensor.device.is_some();
        !supposed && (known || !self.it.speculative())
    }

    /// A note of an object; unknown if the object has no such note.
    pub(crate) fn note(&self, object: &Value, topic: crate::value::Topic) -> Value {
        object.as_obj().and_then(|id| self.it.heap.note(id, topic)).unwrap_or(Value::Unknown)
    }

    /// The attribute that an instance stores; unknown if the instance does not have it.
    pub(crate) fn attr(&self, object: &Value, name: &str) -> Value {
        object.as_obj().and_then(|id| self.it.heap.attr(id, name)).unwrap_or(Value::Unknown)
    }

    pub(crate) fn is_numpy(&self, value: &Value) -> bool {
        self.it.heap.tensor_ref(value).is_some_and(|t| t.array == ArrayKind::Numpy)
    }

    /// A list of values, new on the heap.
    pub(crate) fn list(&mut self, values: Vec<Value>) -> Value {
        self.it.heap.list(values)
    }

    /// A list of unknown length.
    pub(crate) fn list_of(&mut self, element: Value) -> Value {
        Value::Obj(self.it.heap.alloc(Data::List(Items::Many(element))))
    }

    /// Like [`Cx::fresh_dim`], but the length may be 0.
    pub(crate) fn fresh_count(&mut self, name: &str) -> Dim {
        let symbol = self.it.heap.signed_symbol(name, Sign::NotNegative);
        Dim::new(Size::symbol(symbol), Some(self.span))
    }

    /// A dimension of unknown length, at least 1. Each call creates a new symbol, which messages
    /// show as `name`.
    pub(crate) fn fresh_dim(&mut self, name: &str) -> Dim {
        let symbol = self.it.heap.symbol(name);
        Dim::new(Size::symbol(symbol), Some(self.span))
    }
}
