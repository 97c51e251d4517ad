//! Arithmetic on Python numbers: known numbers, symbolic sizes, and ranges.

use super::library::BinOp;
use crate::value::{Heap, Range, Sign, Size, Type, Value};

pub(super) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Int(n) => *n == 0,
        Value::Bool(b) => !b,
        Value::Float(x) => *x == 0.0,
        _ => false,
    }
}

/// Arithmetic on two integers with known ranges, of which at least one is not a constant.
fn ranged(op: BinOp, left: &Value, right: &Value) -> Option<Value> {
    let (x, y) = match (left, right) {
        (Value::Ranged(x), other) => (&x.range, other.int_range()?.0),
        (_, Value::Ranged(y)) => {
            let x = left.int_range()?.0;
            // `10 - label`
            return Some(match (op, left.as_f64()) {
                (BinOp::Add, Some(k)) => Value::ranged(y.range.map(|v| v + k), y.dense, y.at),
                (BinOp::Sub, Some(k)) => Value::ranged(y.range.map(|v| k - v), y.dense, y.at),
                (BinOp::Mul, Some(k)) => Value::ranged(y.range.map(|v| v * k), false, y.at),
                _ => Value::ranged(between(op, &x, &y.range)?, false, y.at),
            });
        }
        _ => return None,
    };
    let Value::Ranged(left) = left else { return None };
    let Some(k) = right.as_f64() else { return Some(Value::ranged(between(op, x, &y)?, false, left.at)) };
    Some(match op {
        BinOp::Add => Value::ranged(x.map(|v| v + k), left.dense, left.at),
        BinOp::Sub => Value::ranged(x.map(|v| v - k), left.dense, left.at),
        BinOp::Mul => Value::ranged(x.map(|v| v * k), false, left.at),
        BinOp::FloorDiv if k > 0.0 => Value::ranged(x.map(|v| (v / k).floor()), left.dense, left.at),
        BinOp::Mod if k > 0.0 => {
            let (first, last) = ((x.lo() / k).floor(), (x.hi() / k).floor());
            if x.parts().len() == 1 && first == last {
                // All values have the same quotient.
                Value::ranged(x.map(|v| v - k * first), left.dense, left.at)
            } else if left.dense && x.parts().len() == 1 && x.hi() - x.lo() + 1.0 >= k {
                Value::ranged(x.map(|v| if v == x.lo() { 0.0 } else { k - 1.0 }), true, left.at)
            } else {
                Value::ranged(Range::bounds(0.0, k - 1.0), false, left.at)
            }
        }
        _ => return None,
    })
}

/// Arithmetic on two numbers, of which one has a known range and the other a known value; the
/// result is a float.
fn scaled(op: BinOp, left: &Value, right: &Value) -> Option<Value> {
    let ((x, at), (y, _)) = (left.range()?, right.range()?);
    let range = match (op, left.as_f64(), right.as_f64()) {
        (BinOp::Add, _, Some(k)) => x.map(|v| v + k),
        (BinOp::Sub, _, Some(k)) => x.map(|v| v - k),
        (BinOp::Mul, _, Some(k)) => x.map(|v| v * k),
        (BinOp::Div, _, Some(k)) if k != 0.0 => x.map(|v| v / k),
        (BinOp::Add, Some(k), _) => y.map(|v| v + k),
        (BinOp::Sub, Some(k), _) => y.map(|v| k - v),
        (BinOp::Mul, Some(k), _) => y.map(|v| v * k),
        _ => return None,
    };
    let known = !range.lo().is_nan() && !range.hi().is_nan();
    known.then(|| Value::floats(range, at))
}

/// The range of the result for two integers with these ranges.
fn between(op: BinOp, x: &Range, y: &Range) -> Option<Range> {
    let (lo, hi) = match op {
        BinOp::Add => (x.lo() + y.lo(), x.hi() + y.hi()),
        BinOp::Sub => (x.lo() - y.hi(), x.hi() - y.lo()),
        BinOp::Mul if x.lo() >= 0.0 && y.lo() >= 0.0 => (x.lo() * y.lo(), x.hi() * y.hi()),
        _ => return None,
    };
    (!lo.is_nan() && !hi.is_nan()).then(|| Range::bounds(lo, hi))
}

/// Arithmetic on numbers, known or not.
pub(super) fn numbers(op: BinOp, left: &Value, right: &Value, heap: &mut Heap) -> Option<Value> {
    let (lt, rt) = (left.number_type()?, right.number_type()?);
    if lt == Type::Complex || rt == Type::Complex {
        return Some(Value::Any(Type::Complex));
    }
    let float = lt == Type::Float || rt == Type::Float || op == BinOp::Div;
    if float {
        let known = match (left.as_f64(), right.as_f64()) {
            (Some(a), Some(b)) => match op {
                BinOp::Add => Some(a + b),
                BinOp::Sub => Some(a - b),
                BinOp::Mul => Some(a * b),
                BinOp::Div => (b != 0.0).then(|| a / b),
                BinOp::FloorDiv => (b != 0.0).then(|| (a / b).floor()),
                BinOp::Mod => (b != 0.0).then(|| a.rem_euclid(b)).filter(|_| b > 0.0),
                BinOp::Pow if a < 0.0 && b.fract() != 0.0 => return Some(Value::Any(Type::Complex)),
                BinOp::Pow => Some(a.powf(b)),
                _ => return None,
            },
            _ => None,
        };
        return Some(known.map(Value::Float).or_else(|| scaled(op, left, right)).unwrap_or(Value::Any(Type::Float)));
    }
    if let Some(value) = ranged(op, left, right) {
        return Some(value);
    }
    let (a, b) = (left.as_size()?, right.as_size()?);
    Some(match op {
        BinOp::Add => Value::size(&a.add(&b)),
        BinOp::Sub => Value::size(&a.sub(&b)),
        BinOp::Mul => Value::size(&a.mul(&b)),
        BinOp::FloorDiv => match (&a, &b) {
            (Size::Int(_), Size::Int(0)) => return None,
            // Python rounds down. So does Euclidean division if the divisor is positive.
            (Size::Int(x), Size::Int(y)) => {
                let positive = if *y < 0 { x.checked_neg().zip(y.checked_neg()) } else { Some((*x, *y)) };
                let quotient = positive.and_then(|(x, y)| x.checked_div_euclid(y));
                quotient.map_or_else(|| Value::Any(Type::Int), Value::Int)
            }
            _ => match a.div_exact(&b) {
                Some(exact) => Value::size(&exact),
                None => {
                    let sign = match (a.at_least(), b.at_least(), b.known()) {
                        (Some(least), _, Some(by @ 1..)) if least >= by => Sign::Positive,
                        (Some(0..), Some(1..), _) => Sign::NotNegative,
                        _ => Sign::Any,
                    };
                    Value::size(&heap.derived("//", &[&a, &b], sign))
                }
            },
        },
        BinOp::Mod => match (&a, &b) {
            (Size::Int(_), Size::Int(0)) => return None,
            (Size::Int(x), Size::Int(y)) if *y > 0 => Value::Int(x.rem_euclid(*y)),
            (Size::Int(x), Size::Int(y)) => {
                let rest = x.checked_neg().zip(y.checked_neg()).and_then(|(x, y)| x.checked_rem_euclid(y));
                rest.map_or(Value::Any(Type::Int), |rest| Value::Int(-rest))
            }
            _ if a.div_exact(&b).is_some() => Value::Int(0),
            #[expect(clippy::cast_precision_loss, reason = "bounds of a range")]
            (_, Size::Int(y @ 1..)) => Value::ranged(Range::bounds(0.0, *y as f64 - 1.0), false, None),
            _ => Value::Any(Type::Int),
        },
        BinOp::Pow => match (&a, &b) {
            (Size::Int(x), Size::Int(y)) => match u32::try_from(*y) {
                Ok(y) => x.checked_pow(y).map_or(Value::Any(Type::Int), Value::Int),
                #[expect(clippy::cast_precision_loss, reason = "Python's own conversion")]
                Err(_) => Value::Float((*x as f64).powf(*y as f64)),
            },
            (_, Size::Int(y)) => Value::Any(if *y < 0 { Type::Float } else { Type::Int }),
            // With a negative exponent, the result is a float. A symbolic size is assumed not to be
            // negative.
            _ => match right {
                Value::Size(_) | Value::Bool(_) | Value::Any(Type::Bool) => Value::Any(Type::Int),
                Value::Ranged(ranged) if ranged.range.lo() >= 0.0 => Value::Any(Type::Int),
                _ => Value::Unknown,
            },
        },
        BinOp::LShift | BinOp::RShift | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => match (&a, &b) {
            (Size::Int(x), Size::Int(y)) => {
                let bools = lt == Type::Bool && rt == Type::Bool;
                let shift = || u32::try_from(*y).ok();
                let value = match op {
                    BinOp::BitAnd => Some(x & y),
                    BinOp::BitOr => Some(x | y),
                    BinOp::BitXor => Some(x ^ y),
                    BinOp::LShift => shift().filter(|s| *s < 62).and_then(|s| x.checked_mul(1 << s)),
                    _ => shift().filter(|s| *s < 63).map(|s| x >> s),
                };
                match value {
                    Some(n) if bools => Value::Bool(n != 0),
                    Some(n) => Value::Int(n),
                    None => Value::Any(Type::Int),
                }
            }
            _ if lt == Type::Bool && rt == Type::Bool => Value::Any(Type::Bool),
            _ => Value::Any(Type::Int),
        },
        _ => return None,
    })
}
