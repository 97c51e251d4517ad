//! Dtype promotion of several operands: PyTorch's `result_type` (tensors with dimensions take
//! precedence over 0-d tensors, and 0-d tensors over Python numbers) and NumPy's promotion (NEP 50:
//! only Python numbers are weak).

use crate::library::Cx;
use crate::value::{ArrayKind, Dtype, Kind, Tensor, Type, Value, promote};

/// An operand of type promotion.
#[derive(Debug, Clone)]
pub(crate) enum Operand {
    Tensor(Box<Tensor>),
    /// A Python number, with its value if known.
    Number(Type, Option<f64>),
    /// A value that may be a tensor or a number.
    Unknown,
}

impl Operand {
    pub(crate) fn of(cx: &Cx<'_, '_>, value: &Value) -> Operand {
        match value.number_type() {
            Some(number) => Operand::Number(number, value.as_f64()),
            None => cx.tensor(value).map_or(Operand::Unknown, |t| Operand::Tensor(Box::new(t))),
        }
    }

    pub(crate) fn tensor(&self) -> Option<&Tensor> {
        match self {
            Operand::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The dtype for messages and checks. For a number: the dtype of a tensor made from it.
    pub(crate) fn dtype(&self, default: Option<Dtype>) -> Option<Dtype> {
        match self {
            Operand::Tensor(tensor) => tensor.dtype,
            Operand::Number(number, _) => number_dtype(*number, default),
            Operand::Unknown => None,
        }
    }
}

/// The dtype of a Python number in an operation with tensors.
pub(crate) fn number_dtype(number: Type, default: Option<Dtype>) -> Option<Dtype> {
    match number {
        Type::Bool => Some(Dtype::Bool),
        Type::Int => Some(Dtype::Int64),
        Type::Float => default,
        Type::Complex => default.map(Dtype::to_complex),
        Type::Str | Type::Bytes => None,
    }
}

/// `c10::combine_categories`: `low` has an effect only if its category is higher than that of
/// `high`.
fn combine(high: Option<Dtype>, low: Option<Dtype>) -> Option<Option<Dtype>> {
    let (Some(h), Some(l)) = (high, low) else { return Some(high.or(low)) };
    Some(Some(match (h.kind(), l.kind()) {
        (Kind::Complex, _) => h,
        (Kind::Floating, Kind::Complex) => h.to_complex(),
        (Kind::Floating, _) => h,
        (Kind::Bool, _) | (_, Kind::Floating | Kind::Complex) => promote(h, l)?,
        _ => h,
    }))
}

/// `torch.result_type`; `None` if it is not known.
pub(crate) fn result_type(operands: &[Operand], default: Option<Dtype>) -> Option<Dtype> {
    // A tensor of unknown rank may be 0-d or not; the result is known only if both cases agree.
    let open = operands.iter().filter(|o| o.tensor().is_some_and(|t| t.rank().is_none())).count();
    if open > 3 {
        return None;
    }
    let mut found: Option<Dtype> = None;
    for choice in 0..(1u32 << open) {
        let this = result_type_at(operands, default, choice)?;
        if found.is_some_and(|have| have != this) {
            return None;
        }
        found = Some(this);
    }
    found
}

fn result_type_at(operands: &[Operand], default: Option<Dtype>, choice: u32) -> Option<Dtype> {
    let (mut dims, mut zero, mut number) = (None, None, None);
    let mut bit = choice;
    for operand in operands {
        let dtype = operand.dtype(default)?;
        let slot = match operand {
            Operand::Tensor(t) => {
                let zero_dim = match t.rank() {
                    Some(rank) => rank == 0,
                    None => {
                        let this = bit & 1 == 1;
                        bit >>= 1;
                        this
                    }
                };
                if zero_dim { &mut zero } else { &mut dims }
            }
            Operand::Number(..) => &mut number,
            Operand::Unknown => return None,
        };
        *slot = Some(match *slot {
            None => dtype,
            Some(have) => promote(have, dtype)?,
        });
    }
    combine(dims, combine(zero, number)?)?
}

/// Whether a result of dtype `from` may be written into a tensor of dtype `to` (`c10::canCast`);
/// `None` if that is not known.
pub(crate) fn can_cast(from: Dtype, to: Dtype) -> Option<bool> {
    if matches!(from, Dtype::Other(_)) || matches!(to, Dtype::Other(_)) {
        return None;
    }
    let (from, to) = (from.kind(), to.kind());
    Some(
        !(from == Kind::Complex && to != Kind::Complex
            || from == Kind::Floating && to <= Kind::Integral
            || from == Kind::Integral && to == Kind::Bool),
    )
}

/// The bits and signedness of an integer type.
fn integer(dtype: Dtype) -> Option<(u32, bool)> {
    Some(match dtype {
        Dtype::Uint8 => (8, false),
        Dtype::Uint16 => (16, false),
        Dtype::Uint32 => (32, false),
        Dtype::Uint64 => (64, false),
        Dtype::Int8 => (8, true),
        Dtype::Int16 => (16, true),
        Dtype::Int32 => (32, true),
        Dtype::Int64 => (64, true),
        _ => return None,
    })
}

/// `numpy.promote_types`.
pub(crate) fn numpy_promote(a: Dtype, b: Dtype) -> Option<Dtype> {
    let float_bits = |d: Dtype| match d {
        Dtype::Bool | Dtype::Float16 => Some(16),
        Dtype::Float32 | Dtype::Complex64 => Some(32),
        Dtype::Float64 | Dtype::Complex128 => Some(64),
        // The bits of the float type to which NumPy promotes the integer type.
        other => integer(other).map(|(bits, _)| match bits {
            8 => 16,
            16 => 32,
            _ => 64,
        }),
    };
    if a == b {
        return Some(a);
    }
    let kind = a.kind().max(b.kind());
    Some(match kind {
        Kind::Bool => Dtype::Bool,
        Kind::Integral => match (integer(a), integer(b)) {
            (None, _) => b,
            (_, None) => a,
            (Some((x, signed_x)), Some((y, signed_y))) => {
                if signed_x == signed_y {
                    if x >= y { a } else { b }
                } else {
                    let (signed, unsigned) = if signed_x { (x, y) } else { (y, x) };
                    match signed.max(unsigned.checked_mul(2)?) {
                        8 => Dtype::Int8,
                        16 => Dtype::Int16,
                        32 => Dtype::Int32,
                        64 => Dtype::Int64,
                        _ => Dtype::Float64,
                    }
                }
            }
        },
        Kind::Floating | Kind::Complex => {
            let bits = float_bits(a)?.max(float_bits(b)?);
            match (kind, bits) {
                (Kind::Complex, 64) => Dtype::Complex128,
                (Kind::Complex, _) => Dtype::Complex64,
                (_, 64) => Dtype::Float64,
                (_, 32) => Dtype::Float32,
                _ => Dtype::Float16,
            }
        }
    })
}

/// NumPy's result type: arrays and NumPy numbers are strong, Python numbers are weak.
pub(crate) fn numpy_result_type(operands: &[Operand]) -> Option<Dtype> {
    let mut strong: Option<Dtype> = None;
    for operand in operands {
        if let Operand::Tensor(t) = operand {
            strong = Some(match strong {
                None => t.dtype?,
                Some(have) => numpy_promote(have, t.dtype?)?,
            });
        }
    }
    let mut out = strong?;
    for operand in operands {
        match operand {
            Operand::Unknown => return None,
            Operand::Tensor(_) => {}
            Operand::Number(number, _) => {
                let kind = match number {
                    Type::Bool => Kind::Bool,
                    Type::Int => Kind::Integral,
                    Type::Float => Kind::Floating,
                    Type::Complex => Kind::Complex,
                    Type::Str | Type::Bytes => return None,
                };
                if kind > out.kind() {
                    out = match kind {
                        Kind::Integral => Dtype::Int64,
                        Kind::Floating => Dtype::Float64,
                        Kind::Complex if out == Dtype::Float32 || out == Dtype::Float16 => Dtype::Complex64,
                        _ => Dtype::Complex128,
                    };
                }
            }
        }
    }
    Some(out)
}

/// Whether any operand is a NumPy array and none is a PyTorch tensor.
pub(crate) fn is_numpy(operands: &[Operand]) -> bool {
    let mut tensors = operands.iter().filter_map(Operand::tensor).peekable();
    tensors.peek().is_some() && tensors.all(|t| t.array == ArrayKind::Numpy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Dim;

    fn t(dtype: Dtype, rank: usize) -> Operand {
        Operand::Tensor(Box::new(Tensor {
            dtype: Some(dtype),
            shape: Some(vec![Dim::int(2); rank]),
            ..Tensor::default()
        }))
    }

    #[test]
    fn result_type_has_three_categories() {
        let float = Some(Dtype::Float32);
        let int = Operand::Number(Type::Int, None);
        let real = Operand::Number(Type::Float, None);
        assert_eq!(result_type(&[t(Dtype::Uint8, 1), int.clone()], float), Some(Dtype::Uint8));
        assert_eq!(result_type(&[t(Dtype::Bool, 1), int], float), Some(Dtype::Int64));
        assert_eq!(result_type(&[t(Dtype::Int64, 1), real.clone()], float), Some(Dtype::Float32));
        assert_eq!(result_type(&[t(Dtype::Float16, 1), t(Dtype::Float64, 0)], float), Some(Dtype::Float16));
        assert_eq!(result_type(&[t(Dtype::Int64, 1), t(Dtype::Float64, 0)], float), Some(Dtype::Float64));
        assert_eq!(result_type(&[t(Dtype::Int64, 0), t(Dtype::Int32, 1)], float), Some(Dtype::Int32));
        assert_eq!(result_type(&[t(Dtype::Float16, 0), real], float), Some(Dtype::Float16));
        let open = Operand::Tensor(Box::new(Tensor { dtype: Some(Dtype::Float64), ..Tensor::default() }));
        assert_eq!(result_type(&[t(Dtype::Float32, 1), open.clone()], float), None);
        assert_eq!(result_type(&[t(Dtype::Float64, 1), open], float), Some(Dtype::Float64));
    }

    #[test]
    fn numpy_promotes_by_what_holds_every_value() {
        use Dtype::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Uint8, Uint64};
        assert_eq!(numpy_promote(Int64, Float32), Some(Float64));
        assert_eq!(numpy_promote(Int16, Float16), Some(Float32));
        assert_eq!(numpy_promote(Uint8, Float16), Some(Float16));
        assert_eq!(numpy_promote(Uint8, Int8), Some(Int16));
        assert_eq!(numpy_promote(Uint64, Int32), Some(Float64));
        let weak = Operand::Number(Type::Float, None);
        assert_eq!(numpy_result_type(&[t(Float32, 0), weak.clone()]), Some(Float32));
        assert_eq!(numpy_result_type(&[t(Int32, 0), weak]), Some(Float64));
    }
}
