//! The facts of a value without the heap, so that they are available after the run. Witnesses are
//! built from them.

use super::{ArrayKind, Data, Device, Dtype, Grad, Heap, Items, Poly, Role, Size, Sym, Type, Value};

/// A length: a number, an expression of symbols, or unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Length {
    Int(i64),
    Expr(Poly),
    Unknown,
}

impl From<&Size> for Length {
    fn from(size: &Size) -> Length {
        match size {
            Size::Int(n) => Length::Int(*n),
            Size::Expr(poly) => Length::Expr((**poly).clone()),
            Size::Unknown => Length::Unknown,
        }
    }
}

/// The facts of a tensor or array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TensorForm {
    pub numpy: bool,
    /// The tensor subclass.
    pub wrapper: Option<Sym>,
    pub shape: Option<Vec<Length>>,
    pub dtype: Option<Dtype>,
    pub device: Option<Device>,
    /// The intervals that contain its values; empty if they are not known.
    pub range: Vec<(f64, f64)>,
    /// Whether the bounds of the intervals occur.
    pub attained: bool,
    /// A value that occurs.
    pub met: Option<f64>,
    /// All elements, in row-major order.
    pub data: Option<Vec<f64>>,
    pub role: Option<Role>,
    pub grad: Grad,
    /// The dimensions in memory order, from the outermost to the innermost.
    pub layout: Option<Vec<usize>>,
}

impl TensorForm {
    /// A tensor without known facts.
    pub(crate) fn unknown() -> TensorForm {
        TensorForm {
            numpy: false,
            wrapper: None,
            shape: None,
            dtype: None,
            device: None,
            range: Vec::new(),
            attained: false,
            met: None,
            data: None,
            role: None,
            grad: Grad::Unknown,
            layout: None,
        }
    }
}

/// An instance of a library class, described by the arguments of its constructor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InstanceForm {
    pub class: Sym,
    pub arguments: Vec<(Sym, Form)>,
    /// The device and dtype of one of its own parameters, if it has any.
    pub device: Option<Device>,
    pub dtype: Option<Dtype>,
}

/// The facts of a value; an object is described by its contents, without its identity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    Unknown,
    None,
    Ellipsis,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    /// An expression of symbolic sizes.
    Length(Length),
    /// An integer between two bounds, both of which occur.
    Ranged(i64, i64),
    Any(Type),
    Dtype(Dtype),
    Device(Device),
    Path(Sym),
    Tuple(Vec<Form>),
    List(Vec<Form>),
    Dict(Vec<(Form, Form)>),
    Slice(Vec<Form>),
    Tensor(Box<TensorForm>),
    Instance(Box<InstanceForm>),
}

/// The parameters of a class's constructor, with their defaults.
pub(super) type Constructor<'a> = dyn Fn(Sym) -> Vec<(Sym, Option<Value>)> + 'a;

/// The depth to which containers are followed.
const DEPTH: u32 = 4;
/// A container with more elements is unknown.
const MAX_ITEMS: usize = 64;
/// If a tensor has more elements, their values are not stored, only their range.
const MAX_DATA: usize = 4096;

impl Form {
    pub(crate) fn of(heap: &Heap, value: &Value, constructor: &Constructor<'_>) -> Form {
        form(heap, value, constructor, DEPTH)
    }

    /// All tensors in the value.
    pub(crate) fn tensors(&self) -> Vec<&TensorForm> {
        match self {
            Form::Tensor(tensor) => vec![tensor],
            Form::Tuple(items) | Form::List(items) | Form::Slice(items) => {
                items.iter().flat_map(Form::tensors).collect()
            }
            Form::Dict(entries) => entries.iter().flat_map(|(_, value)| value.tensors()).collect(),
            Form::Instance(instance) => instance.arguments.iter().flat_map(|(_, value)| value.tensors()).collect(),
            _ => Vec::new(),
        }
    }
}

fn form(heap: &Heap, value: &Value, constructor: &Constructor<'_>, depth: u32) -> Form {
    let Some(below) = depth.checked_sub(1) else { return Form::Unknown };
    let all = |items: &[Value]| {
        let short = items.len() <= MAX_ITEMS;
        short.then(|| items.iter().map(|item| form(heap, item, constructor, below)).collect::<Vec<_>>())
    };
    match value {
        Value::None => Form::None,
        Value::Ellipsis => Form::Ellipsis,
        Value::Bool(b) => Form::Bool(*b),
        Value::Int(n) => Form::Int(*n),
        Value::Float(x) => Form::Float(*x),
        Value::Str(text) => Form::Str(text.to_string()),
        Value::Size(poly) => Form::Length(Length::Expr((**poly).clone())),
        Value::Any(kind) => Form::Any(*kind),
        Value::Ranged(ranged) if ranged.range.attained => {
            let (lo, hi) = (ranged.range.lo(), ranged.range.hi());
            #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked")]
            if lo.abs() < 9e15 && hi.abs() < 9e15 { Form::Ranged(lo as i64, hi as i64) } else { Form::Any(Type::Int) }
        }
        Value::Ranged(_) => Form::Any(Type::Int),
        Value::Floats(_) => Form::Any(Type::Float),
        Value::Among(among) => among.texts.first().map_or(Form::Unknown, |text| Form::Str(text.to_string())),
        Value::Tuple(items) => all(items).map_or(Form::Unknown, Form::Tuple),
        Value::Slice(parts) => all(&parts[..]).map_or(Form::Unknown, Form::Slice),
        Value::Dtype(dtype) => Form::Dtype(*dtype),
        Value::Device(device) => Form::Device(*device),
        Value::Path(path) => Form::Path(*path),
        Value::Obj(id) => match heap.get(*id) {
            Data::Tensor(_) => tensor(heap, value).map_or(Form::Unknown, |tensor| Form::Tensor(Box::new(tensor))),
            Data::List(Items::Exact(items)) => all(items).map_or(Form::Unknown, Form::List),
            Data::List(Items::Many(item)) => Form::List(vec![form(heap, item, constructor, below)]),
            Data::Dict(dict) if dict.open.is_none() && dict.entries.len() <= MAX_ITEMS => Form::Dict(
                dict.entries
                    .iter()
                    .map(|(key, value)| {
                        (form(heap, &key.value(), constructor, below), form(heap, value, constructor, below))
                    })
                    .collect(),
            ),
            Data::Instance(instance) => match instance.class {
                Value::Path(class) => {
                    let given = |(name, default): (Sym, Option<Value>)| {
                        let value = form(heap, instance.attrs.get(&name)?, constructor, below);
                        let default = default.map(|default| form(heap, &default, constructor, below));
                        (Some(&value) != default.as_ref()).then_some((name, value))
                    };
                    let arguments = constructor(class).into_iter().filter_map(given).collect();
                    let parameter =
                        instance.attrs.values().find_map(|value| heap.tensor_ref(value).filter(|t| t.parameter));
                    let (device, dtype) = (parameter.and_then(|t| t.device), parameter.and_then(|t| t.dtype));
                    Form::Instance(Box::new(InstanceForm { class, arguments, device, dtype }))
                }
                _ => Form::Unknown,
            },
            _ => Form::Unknown,
        },
        _ => Form::Unknown,
    }
}

fn tensor(heap: &Heap, value: &Value) -> Option<TensorForm> {
    let tensor = heap.tensor_of(value)?;
    let range = tensor.range.as_ref();
    Some(TensorForm {
        numpy: tensor.array == ArrayKind::Numpy,
        wrapper: tensor.wrapper,
        shape: tensor.shape.as_ref().map(|dims| dims.iter().map(|dim| Length::from(&dim.size)).collect()),
        dtype: tensor.dtype,
        device: tensor.device,
        range: range.map(|range| range.parts().to_vec()).unwrap_or_default(),
        attained: range.is_some_and(|range| range.attained),
        met: range.and_then(|range| range.met).map(|met| met.value),
        data: tensor.data.as_ref().filter(|data| data.len() <= MAX_DATA).map(|data| data.to_vec()),
        role: tensor.role,
        grad: tensor.grad,
        layout: tensor.layout.as_ref().map(|layout| layout.to_vec()),
    })
}
