//! NumPy: arrays are [`Tensor`](crate::value::Tensor) facts of the kind `Numpy`, without a device.

pub(crate) mod create;
pub(crate) mod elementwise;
mod facts;
pub(crate) mod ndarray;
mod promotion;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod reversed;
pub(crate) mod shaping;

pub(crate) use create::cast;
pub(crate) use elementwise::{binary, unary};
pub(crate) use facts::{as_array, of_tensor, refuse_unreadable, set_data};
pub(crate) use ndarray::{put as put_out, set as set_attribute};
pub(crate) use promotion::{dtype_arg, promote};

use super::table::{Constant, Run, Table};
use crate::value::{Dtype, sym};

pub(crate) fn register(t: &mut Table) {
    for name in [
        "float16",
        "float32",
        "float64",
        "half",
        "single",
        "double",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int_",
        "intp",
        "intc",
        "short",
        "byte",
        "ubyte",
        "ushort",
        "uintc",
        "uint",
        "long",
        "longlong",
        "ulong",
        "ulonglong",
        "uintp",
        "float_",
        "bool_",
        "bool",
        "complex64",
        "complex128",
        "csingle",
        "cdouble",
        "complex_",
    ] {
        if let Some(dtype) = promotion::parse(name) {
            t.constant(&format!("numpy.{name}"), Constant::Dtype(dtype));
        }
    }
    // Aliases of Python's types that old NumPy versions have.
    t.constant("numpy.float", Constant::Dtype(Dtype::Float64));
    t.constant("numpy.int", Constant::Dtype(Dtype::Int64));
    t.constant("numpy.pi", Constant::Float(std::f64::consts::PI));
    t.constant("numpy.e", Constant::Float(std::f64::consts::E));
    t.constant("numpy.inf", Constant::Float(f64::INFINITY));
    t.constant("numpy.Inf", Constant::Float(f64::INFINITY));
    t.constant("numpy.nan", Constant::Float(f64::NAN));
    t.constant("numpy.NaN", Constant::Float(f64::NAN));
    t.constant("numpy.newaxis", Constant::None);

    let array = t.class("numpy.ndarray", &[], "*args, **kwargs");
    array.keeps_arguments = false;
    array.attribute = Some(ndarray::attribute);
    array.make = Some(super::common::unknown);
    // `np.float32(3)`: NumPy dtypes are callable.
    let dtype = sym("torch.dtype");
    if !t.classes.contains_key(&dtype) {
        t.class("torch.dtype", &[], "").keeps_arguments = false;
    }
    if let Some(class) = t.classes.get_mut(&dtype) {
        class.invoke = Some(create::call_dtype);
    }
    t.def("numpy.dtype", "dtype, *args, **kwargs", create::dtype);
}

/// Registers NumPy functions that are also methods of arrays. The first parameter in the signature
/// must be `a`.
fn both(t: &mut Table, names: &str, sig: &'static str, run: Run) {
    t.family("numpy.", names, sig, run);
    t.family("numpy.ndarray.", names, sig, run);
}
