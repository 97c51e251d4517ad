//! `math`: exact results if the arguments are known.

use crate::library::common::any_bool;
use crate::library::table::Constant;
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Items, Size, Type, Value};

pub(crate) fn register(t: &mut Table) {
    t.constant("math.pi", Constant::Float(std::f64::consts::PI));
    t.constant("math.e", Constant::Float(std::f64::consts::E));
    t.constant("math.tau", Constant::Float(std::f64::consts::TAU));
    t.constant("math.inf", Constant::Float(f64::INFINITY));
    t.constant("math.nan", Constant::Float(f64::NAN));
    t.family(
        "math.",
        "sqrt exp exp2 expm1 log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh radians degrees fabs erf erfc \
         gamma lgamma cbrt asinh acosh atanh",
        "x",
        float_of,
    );
    t.def("math.log", "x, base=None", log);
    t.family("math.", "pow atan2 fmod copysign", "x, y", float_of_two);
    t.def("math.hypot", "*coordinates", |_, _| Value::Any(Type::Float));
    t.def("math.fsum", "seq", |_, _| Value::Any(Type::Float));
    t.family("math.", "floor ceil trunc", "x", whole);
    t.family("math.", "gcd lcm", "*integers", common_multiple);
    t.def("math.factorial", "n", factorial);
    t.def("math.isqrt", "n", |_, b| match b.get("n").as_int() {
        Some(n) if n >= 0 => Value::Int(n.isqrt()),
        _ => Value::Any(Type::Int),
    });
    t.family("math.", "comb perm", "n, k=None", |_, _| Value::Any(Type::Int));
    t.def("math.prod", "iterable, *, start=1", prod);
    t.family("math.", "isnan isinf isfinite", "x", any_bool);
    t.def("math.isclose", "a, b, **kwargs", any_bool);
}

fn finite(x: f64) -> Value {
    // Python raises for a domain error or an overflow, so only the type of the result is known.
    if x.is_finite() { Value::Float(x) } else { Value::Any(Type::Float) }
}

fn float_of(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(x) = b.get("x").as_f64() else { return Value::Any(Type::Float) };
    finite(match cx.name() {
        "sqrt" => x.sqrt(),
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "expm1" => x.exp_m1(),
        "log2" => x.log2(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "radians" => x.to_radians(),
        "degrees" => x.to_degrees(),
        "fabs" => x.abs(),
        "cbrt" => x.cbrt(),
        _ => return Value::Any(Type::Float),
    })
}

fn log(_cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match (b.get("x").as_f64(), b.get("base")) {
        (Some(x), Value::None) => finite(x.ln()),
        // Like Python, this divides the logarithms. The last bit of `log2` or `log10` may be another:
        // `math.log(1000, 10)` is 2.9999999999999996.
        (Some(x), base) => base.as_f64().map_or(Value::Any(Type::Float), |base| finite(x.ln() / base.ln())),
        _ => Value::Any(Type::Float),
    }
}

fn float_of_two(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (Some(x), Some(y)) = (b.get("x").as_f64(), b.get("y").as_f64()) else { return Value::Any(Type::Float) };
    finite(match cx.name() {
        "pow" => x.powf(y),
        "atan2" => x.atan2(y),
        "fmod" => x % y,
        _ => x.copysign(y),
    })
}

fn whole(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let x = b.get("x");
    if x.number_type() == Some(Type::Int) || x.number_type() == Some(Type::Bool) {
        return x.as_size().map_or(Value::Any(Type::Int), |s| Value::size(&s));
    }
    let Some(x) = x.as_f64() else { return Value::Any(Type::Int) };
    let rounded = match cx.name() {
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        _ => x.trunc(),
    };
    if rounded.abs() < 9e15 {
        #[expect(clippy::cast_possible_truncation, reason = "below 2**53 it is exact")]
        return Value::Int(rounded as i64);
    }
    Value::Any(Type::Int)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn common_multiple(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let numbers: Option<Vec<u64>> = b.rest.iter().map(|a| a.value.as_int().map(i64::unsigned_abs)).collect();
    let Some(numbers) = numbers.filter(|_| !b.open) else { return Value::Any(Type::Int) };
    let result = if cx.name() == "gcd" {
        Some(numbers.into_iter().fold(0, gcd))
    } else {
        numbers.into_iter().try_fold(1u64, |acc, n| match gcd(acc, n) {
            0 => Some(0),
            divisor => (acc / divisor).checked_mul(n),
        })
    };
    result.and_then(|n| i64::try_from(n).ok()).map_or(Value::Any(Type::Int), Value::Int)
}

fn factorial(_cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match b.get("n").as_int() {
        Some(n @ 0..=20) => Value::Int((1..=n).product()),
        _ => Value::Any(Type::Int),
    }
}

fn prod(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let span = cx.span;
    let Items::Exact(values) = cx.it.iterate(&b.get("iterable"), span) else { return Value::Unknown };
    let all = values.iter().chain(std::iter::once(&b.get("start"))).try_fold(Size::Int(1), |acc, v| {
        matches!(v.number_type(), Some(Type::Int | Type::Bool)).then(|| v.as_size()).flatten().map(|s| acc.mul(&s))
    });
    all.map_or(Value::Unknown, |s| Value::size(&s))
}
