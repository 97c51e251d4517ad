//! Helpers for the models of libraries other than PyTorch.

use crate::library::Cx;
use crate::python::Bound;
use crate::value::{ArrayKind, Data, Dim, Dtype, Grad, Instance, ObjId, Origin, Range, Size, Tensor, Type, Value, sym};

pub(super) fn unknown(_cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    Value::Unknown
}

pub(super) fn none(_cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    Value::None
}

pub(super) fn any_int(_cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    Value::Any(Type::Int)
}

pub(super) fn any_float(_cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    Value::Any(Type::Float)
}

pub(super) fn any_bool(_cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    Value::Any(Type::Bool)
}

pub(super) fn any_str(_cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    Value::Any(Type::Str)
}

pub(super) fn list_of_str(cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    cx.list_of(Value::Any(Type::Str))
}

/// Returns the first argument unchanged, for decorators that change nothing and for wrappers of
/// iterables.
pub(super) fn first(_cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    b.values.first().and_then(|a| a.as_ref()).map_or(Value::Unknown, |a| a.value.clone())
}

/// Returns the object itself, as chainable methods do.
pub(super) fn itself(_cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    b.get("self")
}

/// A NumPy array. It does not require grad. Its `device` stays `None`, because arrays are always on
/// the CPU.
pub(super) fn array(shape: Option<Vec<Size>>, dtype: Option<Dtype>, at: Origin) -> Tensor {
    Tensor {
        array: ArrayKind::Numpy,
        shape: shape.map(|sizes| sizes.into_iter().map(|size| Dim::new(size, at)).collect()),
        shape_at: at,
        dtype,
        dtype_at: at,
        grad: Grad::Off,
        ..Tensor::default()
    }
}

/// A new instance of a library's class with these attributes.
pub(super) fn instance(cx: &mut Cx<'_, '_>, class: &str, attrs: Vec<(&str, Value)>) -> Value {
    let attrs = attrs.into_iter().map(|(name, value)| (sym(name), value)).collect();
    let data = Data::Instance(Instance { class: Value::path(class), attrs, open: false });
    Value::Obj(cx.it.heap.alloc(data))
}

/// The range of a part of the data: any of the values may be missing in the part.
pub(super) fn part_of(range: Range) -> Range {
    range.of_part()
}

/// A count, as Python's `len` returns it.
pub(super) fn length_of(n: usize) -> Value {
    i64::try_from(n).map_or(Value::Any(Type::Int), Value::Int)
}

pub(super) fn size_of_length(n: usize) -> Size {
    i64::try_from(n).map_or(Size::Unknown, Size::Int)
}

/// `Class(**kwargs)`: each keyword becomes an attribute.
pub(super) fn open_attrs(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    for (name, arg) in &b.extra {
        cx.it.heap.set_attr(object, name.as_str(), arg.value.clone());
    }
    if b.open
        && let Some(instance) = cx.it.heap.instance_mut(object)
    {
        instance.open = true;
    }
}
