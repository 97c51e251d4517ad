//! NumPy dtypes: their names, and their promotion. A Python number is weakly typed (NEP 50): in an
//! operation with an array, it takes the dtype of the array, unless the kind of the number is
//! higher. An integer array and a float give float64.

use crate::library::Cx;
use crate::value::{Dtype, Kind, Type, Value};

/// Parses NumPy's name of a dtype: `int` and `float` are 64 bits wide, `'<f4'` is valid.
pub(super) fn parse(name: &str) -> Option<Dtype> {
    let name = name.trim_start_matches(['<', '>', '=', '|']);
    Some(match name {
        "?" | "bool" | "bool_" | "b1" => Dtype::Bool,
        "B" | "u1" | "ubyte" | "uint8" => Dtype::Uint8,
        "b" | "i1" | "byte" | "int8" => Dtype::Int8,
        "h" | "i2" | "short" | "int16" => Dtype::Int16,
        "H" | "u2" | "ushort" | "uint16" => Dtype::Uint16,
        "i" | "i4" | "intc" | "int32" => Dtype::Int32,
        "I" | "u4" | "uintc" | "uint32" => Dtype::Uint32,
        "l" | "q" | "i8" | "int" | "int_" | "intp" | "long" | "longlong" | "int64" => Dtype::Int64,
        "L" | "Q" | "u8" | "uint" | "uintp" | "ulong" | "ulonglong" | "uint64" => Dtype::Uint64,
        "e" | "f2" | "half" | "float16" => Dtype::Float16,
        "f" | "f4" | "single" | "float32" => Dtype::Float32,
        "d" | "f8" | "double" | "float" | "float_" | "float64" => Dtype::Float64,
        "F" | "c8" | "csingle" | "complex64" => Dtype::Complex64,
        "D" | "c16" | "cdouble" | "complex" | "complex_" | "complex128" => Dtype::Complex128,
        _ => return None,
    })
}

/// The value of a `dtype=` argument: `None` for Python's `None`, and `Some(None)` for any other
/// value whose dtype is not known.
pub(crate) fn dtype_arg(cx: &Cx<'_, '_>, value: &Value) -> Option<Option<Dtype>> {
    match value {
        Value::Str(name) => Some(parse(name)),
        other => cx.dtype_arg(other),
    }
}

fn bits(dtype: Dtype) -> u32 {
    match dtype {
        Dtype::Bool | Dtype::Uint8 | Dtype::Int8 => 8,
        Dtype::Int16 | Dtype::Uint16 | Dtype::Float16 => 16,
        Dtype::Int32 | Dtype::Uint32 | Dtype::Float32 => 32,
        Dtype::Complex128 => 128,
        _ => 64,
    }
}

fn is_unsigned(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32 | Dtype::Uint64)
}

fn signed(bits: u32) -> Dtype {
    match bits {
        8 => Dtype::Int8,
        16 => Dtype::Int16,
        32 => Dtype::Int32,
        _ => Dtype::Int64,
    }
}

fn float(bits: u32) -> Dtype {
    match bits {
        0..=16 => Dtype::Float16,
        17..=32 => Dtype::Float32,
        _ => Dtype::Float64,
    }
}

/// The result of `numpy.promote_types`; `None` for types that NumPy does not have.
pub(crate) fn promote(a: Dtype, b: Dtype) -> Option<Dtype> {
    if a == b {
        return Some(a);
    }
    let foreign = |d| matches!(d, Dtype::Other(_) | Dtype::Bfloat16 | Dtype::Complex32);
    if foreign(a) || foreign(b) {
        return None;
    }
    let (low, high) = if a.kind() <= b.kind() { (a, b) } else { (b, a) };
    // The width of a float type that holds every integer of this type. No float type holds all
    // 64-bit integers: float64 is used for them, too.
    let holding = |d: Dtype| match bits(d) {
        8 => 16,
        16 => 32,
        _ => 64,
    };
    Some(match (low.kind(), high.kind()) {
        (Kind::Bool, _) => high,
        (Kind::Integral, Kind::Integral) => match (is_unsigned(a), is_unsigned(b)) {
            (false, true) | (true, false) => {
                let (u, s) = if is_unsigned(a) { (a, b) } else { (b, a) };
                if bits(u) < bits(s) {
                    s
                } else if bits(u) == 64 {
                    Dtype::Float64
                } else {
                    signed(bits(u) * 2)
                }
            }
            _ => {
                if bits(a) >= bits(b) {
                    a
                } else {
                    b
                }
            }
        },
        (Kind::Integral, Kind::Floating) => float(holding(low).max(bits(high))),
        (Kind::Floating, Kind::Floating) => float(bits(low).max(bits(high))),
        _ => {
            let part = |d: Dtype| match d.kind() {
                Kind::Complex => bits(d) / 2,
                Kind::Floating => bits(d),
                _ => holding(d),
            };
            if part(low).max(part(high)) > 32 { Dtype::Complex128 } else { Dtype::Complex64 }
        }
    })
}

/// The dtype of an array combined with a Python number.
pub(super) fn with_number(dtype: Dtype, number: Type) -> Option<Dtype> {
    Some(match (dtype.kind(), number) {
        (_, Type::Bool) => dtype,
        (Kind::Bool, Type::Int) => Dtype::Int64,
        (_, Type::Int) => dtype,
        (Kind::Bool | Kind::Integral, Type::Float) => Dtype::Float64,
        (_, Type::Float) => dtype,
        _ => return None,
    })
}

/// The dtype of a result that is never an integer, such as a mean, a quotient or a root.
pub(super) fn floating(dtype: Dtype) -> Dtype {
    match dtype.kind() {
        Kind::Bool | Kind::Integral => Dtype::Float64,
        _ => dtype,
    }
}

/// The dtype of the results of functions such as `sqrt`. For narrow integers, it is the narrowest
/// float type that represents all of them.
pub(super) fn unary_floating(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::Bool | Dtype::Int8 | Dtype::Uint8 => Dtype::Float16,
        Dtype::Int16 | Dtype::Uint16 => Dtype::Float32,
        other => floating(other),
    }
}

/// The dtype of a sum: integers are summed as 64 bits.
pub(super) fn summed(dtype: Dtype) -> Dtype {
    match dtype.kind() {
        Kind::Bool => Dtype::Int64,
        Kind::Integral if is_unsigned(dtype) => Dtype::Uint64,
        Kind::Integral => Dtype::Int64,
        _ => dtype,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_that_of_numpy() {
        use Dtype::*;
        for (a, b, c) in [
            (Int64, Float32, Float64),
            (Int16, Float32, Float32),
            (Uint8, Float16, Float16),
            (Int16, Float16, Float32),
            (Uint8, Int8, Int16),
            (Uint32, Int32, Int64),
            (Uint64, Int64, Float64),
            (Uint8, Int16, Int16),
            (Bool, Uint8, Uint8),
            (Float64, Complex64, Complex128),
            (Int64, Complex64, Complex128),
            (Float32, Complex64, Complex64),
        ] {
            assert_eq!(promote(a, b), Some(c), "{a} {b}");
            assert_eq!(promote(b, a), Some(c), "{b} {a}");
        }
        assert_eq!(with_number(Uint8, Type::Float), Some(Float64));
        assert_eq!(with_number(Float32, Type::Float), Some(Float32));
        assert_eq!(parse("<f4"), Some(Float32));
        assert_eq!(parse("long"), Some(Int64));
    }
}
