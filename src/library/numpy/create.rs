//! Creating arrays: from sizes, lists and files.

use super::both;
use super::facts::{MOST_DATA, as_array, refuse_unreadable, set_data, shape_arg};
use super::promotion::dtype_arg;
use super::reversed;
use crate::library::common::{array, unknown};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, RejectKind, lacks_positions};
use crate::value::{Dtype, Past, Range, Size, Tensor, Type, Value};

pub(crate) fn register(t: &mut Table) {
    t.family(
        "numpy.",
        "array",
        "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, like=None",
        of_object,
    );
    t.family(
        "numpy.",
        "asarray asanyarray ascontiguousarray asfortranarray require",
        "a, dtype=None, order=None, **kwargs",
        of_object,
    );
    t.family("numpy.", "zeros ones empty", "shape, dtype='float64', order='C', **kwargs", filled);
    t.def("numpy.full", "shape, fill_value, dtype=None, order='C', **kwargs", full);
    t.family("numpy.", "zeros_like ones_like empty_like", "a, dtype=None, order='K', subok=True, shape=None", like);
    t.def("numpy.full_like", "a, fill_value, dtype=None, order='K', subok=True, shape=None", like);
    t.defs("numpy.arange", &["stop, *, dtype=None", "start, stop, step=1, dtype=None"], arange);
    t.def("numpy.linspace", "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0", |cx, b| {
        let at = cx.at();
        if b.get("retstep").as_bool() != Some(false) {
            return Value::Unknown;
        }
        let dtype = dtype_arg(cx, &b.get("dtype")).unwrap_or(Some(Dtype::Float64));
        let scalars = b.get("start").number_type().is_some() && b.get("stop").number_type().is_some();
        let num = cx.size_of(&b.get("num"));
        let mut out = array(scalars.then(|| vec![num]), dtype, at);
        if let (Some(lo), Some(hi)) = (b.get("start").as_f64(), b.get("stop").as_f64()) {
            out = out.with_range(Some(Range::bounds(lo.min(hi), lo.max(hi))), at);
        }
        cx.out(out)
    });
    t.family("numpy.", "logspace geomspace", "start, stop, num=50, *args, **kwargs", |cx, b| {
        let (at, num) = (cx.at(), cx.size_of(&b.get("num")));
        cx.out(array(Some(vec![num]), Some(Dtype::Float64), at))
    });
    t.def("numpy.eye", "N, M=None, k=0, dtype='float64', order='C', **kwargs", eye);
    t.def("numpy.identity", "n, dtype='float64', **kwargs", |cx, b| {
        let (at, n) = (cx.at(), cx.size_of(&b.get("n")));
        let dtype = dtype_arg(cx, &b.get("dtype")).flatten();
        cx.out(array(Some(vec![n.clone(), n]), dtype, at).with_range(Some(Range::bounds(0.0, 1.0)), at))
    });
    t.family("numpy.", "load memmap", "*args, **kwargs", unknown);
    let table = "fname, dtype='float64', comments='#', delimiter=None, *args, names=None, unpack=False, usemask=False, **kwargs";
    t.family("numpy.", "loadtxt genfromtxt", table, |cx, b| {
        // With `names`, the result is a structured array.
        if [b.get("names"), b.get("unpack"), b.get("usemask")]
            .iter()
            .any(|v| !matches!(v, Value::None | Value::Bool(false)))
        {
            return Value::Unknown;
        }
        read(cx, b)
    });
    t.family("numpy.", "fromfile fromstring frombuffer", "file, dtype='float64', *args, **kwargs", |cx, b| match read(
        cx, b,
    ) {
        Value::Obj(id) => {
            let count = cx.fresh_dim("n");
            cx.it.heap.update_tensor(id, |t| t.shape = Some(vec![count]));
            Value::Obj(id)
        }
        other => other,
    });
    t.def("numpy.mgrid.__getitem__", "index", grid);
    t.def("numpy.ogrid.__getitem__", "index", grid);
    t.def("numpy.indices", "dimensions, dtype=None, sparse=False", |cx, b| {
        let (at, dtype) = (cx.at(), dtype_arg(cx, &b.get("dtype")).unwrap_or(Some(Dtype::Int64)));
        match (cx.sizes(&[b.get("dimensions")]), b.get("sparse").as_bool()) {
            (Some(mut sizes), Some(false)) => {
                sizes.insert(0, crate::library::common::size_of_length(sizes.len()));
                cx.out(array(Some(sizes), dtype, at))
            }
            _ => Value::Unknown,
        }
    });
    t.family("numpy.", "save savez savez_compressed savetxt set_printoptions seterr", "*args, **kwargs", |_, _| {
        Value::None
    });
    both(t, "copy", "a, order='K', **kwargs", |cx, b| match as_array(cx, &b.get("a")) {
        Some(mut a) => {
            a.base = None;
            cx.out(a)
        }
        None => Value::Unknown,
    });
}

/// Numbers from a file; they are floats by default.
fn read(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    match dtype_arg(cx, &b.get("dtype")).flatten() {
        Some(dtype) if !b.open => cx.out(array(None, Some(dtype), at)),
        _ => Value::Unknown,
    }
}

/// `np.mgrid[0:h, 0:w]`: the coordinates along each axis, stacked; `ogrid` returns them separately,
/// each along its own axis.
fn grid(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let index = b.get("index");
    let slices: Vec<Value> = match &index {
        Value::Slice(_) => vec![index.clone()],
        Value::Tuple(items) => items.to_vec(),
        _ => return Value::Unknown,
    };
    let mut sizes = Vec::new();
    let mut dtype = Dtype::Int64;
    for slice in &slices {
        let Value::Slice(parts) = slice else { return Value::Unknown };
        let [start, stop, step] = &**parts;
        for part in parts.iter() {
            match part.number_type() {
                Some(Type::Int) => {}
                Some(Type::Float | Type::Complex) => dtype = Dtype::Float64,
                None if part.is_none() => {}
                _ => return Value::Unknown,
            }
        }
        let start = if start.is_none() { Value::Int(0) } else { start.clone() };
        let unit = step.is_none() || step.as_int() == Some(1);
        sizes.push(match (start.as_int(), stop.as_int(), step.as_int()) {
            (Some(from), Some(to), Some(step)) if step > 0 => {
                Size::Int(to.saturating_sub(from).max(0).saturating_add(step - 1) / step)
            }
            (Some(from), Some(to), None) if unit => Size::Int(to.saturating_sub(from).max(0)),
            (Some(0), None, _) if unit => cx.size_of(stop),
            _ => Size::Unknown,
        });
    }
    let at = cx.at();
    if cx.path.as_str().contains("ogrid") && slices.len() > 1 {
        let rank = sizes.len();
        let alone = sizes.into_iter().enumerate().map(|(axis, size)| {
            let shape = (0..rank).map(|i| if i == axis { size.clone() } else { Size::Int(1) }).collect();
            array(Some(shape), Some(dtype), at)
        });
        return cx.outs(alone.collect());
    }
    if matches!(index, Value::Tuple(_)) {
        sizes.insert(0, crate::library::common::size_of_length(sizes.len()));
    }
    cx.out(array(Some(sizes), Some(dtype), at))
}

/// `np.dtype('float32')`.
pub(crate) fn dtype(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match dtype_arg(cx, &b.get("dtype")) {
        Some(Some(dtype)) => Value::Dtype(dtype),
        _ => Value::Unknown,
    }
}

/// `np.float32(x)`: a scalar, or an array with the shape of `x`.
pub(crate) fn call_dtype(cx: &mut Cx<'_, '_>, dtype: &Value, args: Args) -> Option<Value> {
    let Value::Dtype(dtype) = dtype else { return None };
    let value = args.pos.first()?.value.clone();
    // For a single number, `np.float64` calls `__float__`, which also accepts a tensor that
    // requires grad.
    let single = *dtype == Dtype::Float64 && cx.tensor(&value).is_some_and(|t| t.rank().is_none_or(|rank| rank == 0));
    if !single {
        refuse_unreadable(cx, &value);
    }
    let input = match as_array(cx, &value) {
        Some(input) => input,
        None => match value {
            Value::Any(Type::Str) | Value::Among(_) | Value::Str(_) => array(Some(Vec::new()), None, cx.at()),
            _ => return Some(Value::Unknown),
        },
    };
    let at = cx.at();
    let out = cast(input, Some(*dtype), at);
    Some(cx.out(out))
}

/// The elements converted to another dtype.
pub(crate) fn cast(mut input: Tensor, dtype: Option<Dtype>, at: crate::value::Origin) -> Tensor {
    let from = input.dtype;
    if from == dtype && dtype.is_some() {
        return input;
    }
    input.dtype = dtype;
    input.dtype_at = at;
    input.past.whole |= from.is_some_and(|d| d.is_integral() && d != Dtype::Bool);
    let Some(to) = dtype else {
        input.forget_values();
        return input;
    };
    if to == Dtype::Bool {
        input.past = Past::default();
        let data = input.data.take();
        input.range = Some(Range::bounds(0.0, 1.0));
        if let Some(data) = data {
            set_data(&mut input, data.iter().map(|x| f64::from(u8::from(*x != 0.0))).collect(), at);
        }
        return input;
    }
    let fits = |r: &Range| match to.bounds() {
        Some((lo, hi)) => r.lo() >= lo && r.hi() <= hi,
        None => !to.is_integral() || (r.lo() > -9e15 && r.hi() < 9e15),
    };
    if let Some(range) = &input.range {
        if !fits(range) {
            // Values that do not fit wrap around, or the result is undefined.
            input.range = None;
            input.data = None;
        } else if to.is_integral() {
            input.range = Some(range.map(f64::trunc));
            input.data = input.data.map(|d| d.iter().map(|x| x.trunc()).collect());
        } else if to == Dtype::Float16 || to == Dtype::Float32 {
            // Rounding may change fractions and large integers. Its effect on bounds that are fractions is
            // ignored.
            let most = if to == Dtype::Float16 { 2048.0 } else { 16_777_216.0 };
            let is_kept = |x: f64| x.fract() == 0.0 && x.abs() <= most;
            let bounds: Vec<f64> = range.parts().iter().flat_map(|(a, b)| [*a, *b]).collect();
            input.data = input.data.filter(|data| bounds.iter().chain(data.iter()).all(|x| is_kept(*x)));
            if bounds.iter().any(|x| x.is_finite() && x.abs() > most) {
                input.range = None;
            }
        }
    }
    input
}

fn of_object(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let value = b.get(if cx.name() == "array" { "object" } else { "a" });
    let is_object = match b.get("dtype") {
        Value::Str(name) => &*name == "object" || &*name == "O",
        other => {
            other.as_path().is_some_and(|path| matches!(path, "builtins.object" | "numpy.object_" | "numpy.object"))
        }
    };
    // The elements of an array of objects may be anything, such as tensors.
    if is_object {
        return Value::Unknown;
    }
    if let Some(class) = cx.it.own_type(&value).filter(|class| lacks_positions(class) && *class != "dict") {
        let message =
            format!("NumPy makes one object of a `{class}` object, not an array of its elements: use `list(…)`");
        cx.reject_if("when the array is used", RejectKind::Value, message, Vec::new());
        return Value::Unknown;
    }
    let dtype = dtype_arg(cx, &b.get("dtype"));
    let frame = || crate::library::pandas::as_array(cx, &value);
    let Some(mut out) = frame().or_else(|| as_array(cx, &value)) else {
        // The result is certainly an array, but at most its dtype is known.
        let mut out = array(None, dtype.flatten(), at);
        out.shape_at = None;
        return cx.out(out);
    };
    if let Some(dtype) = dtype {
        out = cast(out, dtype, at);
    }
    if b.get("ndmin").as_int().is_none_or(|n| n > 0) && cx.name() == "array" {
        out.shape = None;
    }
    // `asarray` of an array that already has this dtype returns the array itself.
    let is_copied = |t: &Tensor| !matches!(cx.name(), "asarray" | "asanyarray") && reversed::is_reversed(t);
    if cx.name() != "array"
        && cx.is_numpy(&value)
        && cx.tensor(&value).is_some_and(|t| t.dtype == out.dtype && !is_copied(&t))
    {
        return value;
    }
    out.base = None;
    cx.out(out)
}

fn constant(name: &str) -> Option<f64> {
    match name {
        "zeros" | "zeros_like" => Some(0.0),
        "ones" | "ones_like" => Some(1.0),
        _ => None,
    }
}

fn fill(out: &mut Tensor, value: f64, at: crate::value::Origin) {
    let count = out.numel().known().and_then(|n| usize::try_from(n).ok());
    match count {
        Some(n) if n <= MOST_DATA => set_data(out, vec![value; n], at),
        _ => {
            out.range = Range::of_values(&[value]);
            out.range_at = at;
        }
    }
}

fn filled(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    if b.get("dtype").number_type().is_some() {
        let message = "the second argument is the dtype, not a size: give the sizes as a tuple".to_owned();
        let reads = vec![("`dtype` is given here".to_owned(), b.arg("dtype").map(|arg| arg.span))];
        cx.reject(RejectKind::Value, message, reads);
        return Value::Unknown;
    }
    let dtype = dtype_arg(cx, &b.get("dtype")).unwrap_or(Some(Dtype::Float64));
    let mut out = array(shape_arg(cx, &b.get("shape")), dtype, at);
    if let Some(value) = constant(cx.name()) {
        fill(&mut out, value, at);
    }
    cx.out(out)
}

fn full(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let value = b.get("fill_value");
    let of_value = as_array(cx, &value).and_then(|v| v.dtype);
    let dtype = dtype_arg(cx, &b.get("dtype")).unwrap_or(of_value);
    let mut out = array(shape_arg(cx, &b.get("shape")), of_value, at);
    if let Some(x) = value.as_f64() {
        fill(&mut out, x, at);
    }
    let out = cast(out, dtype, at);
    cx.out(out)
}

fn like(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let Some(a) = as_array(cx, &b.get("a")) else {
        let out = array(None, dtype_arg(cx, &b.get("dtype")).flatten(), at);
        return cx.out(out);
    };
    let dtype = dtype_arg(cx, &b.get("dtype")).unwrap_or(a.dtype);
    let mut out = Tensor { dtype, ..a };
    if dtype_arg(cx, &b.get("dtype")).is_some() {
        out.dtype_at = at;
    }
    if !b.get("shape").is_none() {
        out.shape = None;
    }
    out.forget_values();
    let value = match cx.name() {
        "full_like" => b.get("fill_value").as_f64(),
        name => constant(name),
    };
    if let Some(value) = value {
        fill(&mut out, value, at);
        if out.dtype.is_none_or(Dtype::is_integral) && value.fract() != 0.0 {
            out.forget_values();
        }
    }
    cx.out(out)
}

fn arange(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let start = if b.given("start") { b.get("start") } else { Value::Int(0) };
    let stop = b.get("stop");
    let step = if b.takes("step") { b.get("step") } else { Value::Int(1) };
    let natural = [&start, &stop, &step].iter().try_fold(Dtype::Int64, |acc, v| match v.number_type() {
        Some(Type::Bool | Type::Int) => Some(acc),
        Some(Type::Float) => Some(Dtype::Float64),
        _ => None,
    });
    let dtype = dtype_arg(cx, &b.get("dtype")).unwrap_or(natural);
    let mut out = array(None, dtype, at);
    let mut count = Size::Unknown;
    match (start.as_int(), stop.as_int(), step.as_int()) {
        (Some(a), Some(z), Some(s)) if s != 0 => {
            let distance = z.saturating_sub(a);
            let n = if (distance > 0) == (s > 0) { distance.unsigned_abs().div_ceil(s.unsigned_abs()) } else { 0 };
            count = i64::try_from(n).map_or(Size::Unknown, Size::Int);
            out = out.with_shape(vec![count.clone()], at);
            #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
            if let Some(n) = usize::try_from(n).ok().filter(|n| *n <= MOST_DATA) {
                set_data(&mut out, (0..n).map(|i| a as f64 + i as f64 * s as f64).collect(), at);
            } else if s == 1 {
                out = out.with_range(Some(Range::attained(a as f64, z as f64 - 1.0)), at);
            }
        }
        (Some(0), None, Some(1)) => {
            if let Some(size) = stop.as_size() {
                count = size;
            }
        }
        (None, None, Some(1)) => {
            if let (Some(a), Some(z)) = (start.as_size(), stop.as_size()) {
                let length = z.sub(&a);
                // If `stop - start` is positive, it is the length; otherwise, the array is empty.
                if Size::Int(0).less(&length) == Some(true) {
                    count = length;
                }
            }
        }
        _ => {}
    }
    if out.shape.is_none() {
        out = out.with_shape(vec![count], at);
    }
    if natural == Some(Dtype::Int64) || dtype == Some(Dtype::Float64) {
        out = cast(Tensor { dtype: natural, ..out }, dtype, at);
    } else {
        out.forget_values();
    }
    cx.out(out)
}

fn eye(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let rows = b.get("N");
    let columns = match b.get("M") {
        Value::None => rows.clone(),
        other => other,
    };
    let dtype = dtype_arg(cx, &b.get("dtype")).unwrap_or(Some(Dtype::Float64));
    let shape = vec![cx.size_of(&rows), cx.size_of(&columns)];
    let out = array(Some(shape), dtype, at).with_range(Some(Range::bounds(0.0, 1.0)), at);
    cx.out(out)
}
