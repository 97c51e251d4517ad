//! The effect of a cast on known elements and ranges: rounding, truncation, wrapping around.

use std::rc::Rc;

use super::carry::claims;
use crate::value::{Dtype, Past, Range, Role, Tensor};

/// The largest integer up to which a float type represents every integer exactly.
pub(crate) fn exact_up_to(dtype: Dtype) -> Option<f64> {
    Some(match dtype {
        Dtype::Float16 => 2048.0,
        Dtype::Bfloat16 => 256.0,
        Dtype::Float32 => 16_777_216.0,
        Dtype::Float64 => 9_007_199_254_740_992.0,
        _ => return None,
    })
}

/// One value after a cast; `None` if it is not known or the cast is undefined.
pub(crate) fn cast_value(x: f64, to: Dtype) -> Option<f64> {
    match to {
        Dtype::Bool => Some(if x == 0.0 { 0.0 } else { 1.0 }),
        Dtype::Float64 => Some(x),
        #[expect(clippy::cast_possible_truncation, reason = "the rounding that the cast makes")]
        Dtype::Float32 => Some(f64::from(x as f32)),
        Dtype::Float16 | Dtype::Bfloat16 => {
            let exact = (x.fract() == 0.0 && x.abs() <= exact_up_to(to)?) || x == 0.5;
            exact.then_some(x)
        }
        _ if to.is_integral() => {
            if !x.is_finite() {
                return None;
            }
            let cut = x.trunc();
            let Some((lo, hi)) = to.bounds() else {
                let fits = cut.abs() < 9.0e15 && (to != Dtype::Uint64 || cut >= 0.0);
                return fits.then_some(cut);
            };
            if cut >= lo && cut <= hi {
                return Some(cut);
            }
            // Integers wrap around; for floats outside the range, the result is undefined.
            (x.fract() == 0.0 && cut.abs() < 1.0e9).then(|| lo + (cut - lo).rem_euclid(hi - lo + 1.0))
        }
        _ => None,
    }
}

fn cast_data(data: &[f64], from: Option<Dtype>, to: Dtype) -> Option<Rc<[f64]>> {
    let fits = |x: f64| {
        let float = from.is_none_or(Dtype::is_floating);
        let outside = to.bounds().is_some_and(|(lo, hi)| to != Dtype::Bool && (x.trunc() < lo || x.trunc() > hi));
        !(float && outside)
    };
    data.iter().map(|&x| fits(x).then(|| cast_value(x, to)).flatten()).collect::<Option<Vec<f64>>>().map(Rc::from)
}

/// The range of the elements after a cast.
pub(crate) fn cast_range(range: &Range, from: Option<Dtype>, to: Dtype) -> Option<Range> {
    let single = range.parts().iter().all(|(lo, hi)| lo == hi);
    let float = from.is_none_or(Dtype::is_floating);
    if to == Dtype::Bool {
        let zero = |&(lo, hi): &(f64, f64)| lo <= 0.0 && hi >= 0.0;
        if !range.parts().iter().any(zero) {
            return Some(point(range, 1.0));
        }
        if range.lo() == 0.0 && range.hi() == 0.0 {
            return Some(point(range, 0.0));
        }
        let both = range.attained && range.parts().iter().any(|&(lo, hi)| lo == 0.0 || hi == 0.0);
        return Some(claims(Range::bounds(0.0, 1.0), both, both && range.certain));
    }
    if to.is_integral() {
        let (lo, hi) = to.bounds().unwrap_or((-9.0e15, 9.0e15));
        let inside = range.lo().trunc() >= lo && range.hi().trunc() <= hi;
        let endless = to.bounds().is_none() && !float;
        if !inside && !endless && (float || !single) {
            return None;
        }
        if range.parts().iter().any(|p| !single && (p.0.is_infinite() || p.1.is_infinite())) && !endless {
            return None;
        }
        let cast = |x: f64| if x.is_infinite() { x } else { cast_value(x, to).unwrap_or(f64::NAN) };
        return sound(range.map(cast));
    }
    match to {
        Dtype::Float64 => Some(range.clone()),
        Dtype::Float32 => sound(range.map(|x| if x.is_infinite() { x } else { cast_value(x, to).unwrap_or(f64::NAN) })),
        Dtype::Float16 | Dtype::Bfloat16 => {
            sound(range.map(|x| if x.is_infinite() { x } else { cast_value(x, to).unwrap_or(f64::NAN) }))
        }
        _ => None,
    }
}

fn point(range: &Range, x: f64) -> Range {
    claims(Range::bounds(x, x), true, range.certain)
}

/// Drops a range if the cast of one of its bounds is undefined, and merges intervals that now
/// overlap.
fn sound(range: Range) -> Option<Range> {
    let known = range.parts().iter().all(|(lo, hi)| !lo.is_nan() && !hi.is_nan());
    known.then(|| range.clamp(f64::NEG_INFINITY, f64::INFINITY))
}

/// Casts `tensor` to another dtype, and keeps the facts of its elements as far as they still hold.
/// `dtype` is `None` if it is unknown.
pub(crate) fn cast(tensor: &mut Tensor, dtype: Option<Dtype>) {
    let from = tensor.dtype;
    tensor.dtype = dtype;
    tensor.past.whole |= from.is_some_and(|d| d.is_integral() && d != Dtype::Bool);
    if from.is_some() && from == dtype {
        return;
    }
    let Some(to) = dtype else {
        tensor.forget_values();
        return;
    };
    if to == Dtype::Bool {
        tensor.past = Past::default();
    }
    tensor.data = tensor.data.as_ref().and_then(|data| cast_data(data, from, to));
    tensor.range = match &tensor.data {
        Some(data) if !data.is_empty() => Range::of_values(data),
        _ => tensor.range.as_ref().and_then(|r| cast_range(r, from, to)),
    };
    tensor.role = tensor.role.filter(|role| match role {
        Role::OneHot | Role::ClassMask => true,
        Role::Image => to != Dtype::Bool,
        _ => to.is_floating(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_as_pytorch_does() {
        assert_eq!(cast_value(-100.0, Dtype::Uint8), Some(156.0));
        assert_eq!(cast_value(300.0, Dtype::Uint8), Some(44.0));
        assert_eq!(cast_value(200.0, Dtype::Int8), Some(-56.0));
        assert_eq!(cast_value(-1.7, Dtype::Int64), Some(-1.0));
        assert_eq!(cast_value(0.1, Dtype::Float16), None);
        assert_eq!(cast_value(0.25, Dtype::Bool), Some(1.0));
        assert_eq!(cast_data(&[300.5], Some(Dtype::Float32), Dtype::Uint8), None);
        let unit = Range::bounds(0.0, 1.0);
        assert_eq!(cast_range(&unit, Some(Dtype::Float32), Dtype::Int64), Some(Range::bounds(0.0, 1.0)));
        let labels = Range::attained(0.0, 300.0);
        assert_eq!(cast_range(&labels, Some(Dtype::Int64), Dtype::Uint8), None);
        let ignored = Range::of_values(&[-100.0]).expect("values");
        let wrapped = cast_range(&ignored, Some(Dtype::Int64), Dtype::Uint8).expect("known");
        assert_eq!((wrapped.lo(), wrapped.hi()), (156.0, 156.0));
    }
}
