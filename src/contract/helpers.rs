//! The functions that contracts may call, defined over facts.

use std::ops::RangeInclusive;
use std::rc::Rc;

use super::eval::Judge;
use super::value::{Cv, Read};
use crate::rules::notes::AUTOCAST;
use crate::value::{Dim, Dtype, Kind, Met, Origin, Range, Role, Size, Tensor, Value, broadcast_pair, broadcastable};

/// A function that contracts may call.
pub(super) struct Helper {
    pub name: &'static str,
    /// The number of positional arguments.
    pub takes: RangeInclusive<usize>,
    /// The only argument that may be passed by name.
    pub keyword: Option<&'static str>,
    run: fn(&mut Judge<'_, '_>, &[Cv], Option<Cv>) -> Cv,
}

/// A helper with one argument.
const fn of_one(name: &'static str, run: fn(&mut Judge<'_, '_>, &[Cv], Option<Cv>) -> Cv) -> Helper {
    Helper { name, takes: 1..=1, keyword: None, run }
}

/// A helper for the values of a tensor outside `[lo, hi)`.
const fn of_range(name: &'static str, run: fn(&mut Judge<'_, '_>, &[Cv], Option<Cv>) -> Cv) -> Helper {
    Helper { name, takes: 3..=4, keyword: Some("ignoring"), run }
}

/// All helpers. `probe/runtime/contracts.py` defines the same helpers over real tensors.
pub(super) static HELPERS: &[Helper] = &[
    of_range("within", |judge, args, ignoring| Cv::tri(judge.within(args, ignoring))),
    of_range("stray", |judge, args, ignoring| match judge.strays(args, ignoring).as_deref() {
        // Nothing shows that a value outside really occurs.
        Some(parts @ [_, ..]) if !judge.occurring(first(args), parts) => Cv::Unknown,
        // The result is a number only if exactly one value is outside.
        Some([(lo, hi)]) if lo == hi => number(*lo),
        Some([]) => Cv::Unknown,
        Some(_) => Cv::None,
        None => Cv::Unknown,
    }),
    of_range("outside", |judge, args, ignoring| match judge.strays(args, ignoring) {
        Some(parts) => Cv::Str(Rc::from(parts_text(&parts))),
        None => Cv::Unknown,
    }),
    Helper { name: "between", takes: 3..=3, keyword: None, run: |judge, args, _| Cv::tri(judge.between(args)) },
    of_one("finite", |judge, args, _| match judge.range(first(args)) {
        Some((range, ())) if range.lo().is_finite() && range.hi().is_finite() && range.certain => Cv::Bool(true),
        Some((range, ())) if range.holds_infinity() => Cv::Bool(false),
        _ => Cv::Unknown,
    }),
    of_one("values", |judge, args, _| match judge.range(first(args)) {
        Some((Range { met: Some(met), attained: false, .. }, ())) => Cv::Str(Rc::from(met.value.to_string())),
        Some((range, ())) => Cv::Str(Rc::from(range.to_string())),
        None => Cv::Unknown,
    }),
    Helper { name: "misplaced", takes: 2..=2, keyword: None, run: |judge, args, _| judge.misplaced(args) },
    of_one("total", |judge, args, _| {
        let Cv::Tensor(tensor, name) = first(args) else { return Cv::Unknown };
        let Some(data) = &tensor.data else { return Cv::Unknown };
        let total = data.iter().sum::<f64>();
        judge.read(format!("`{name}` gets values with the sum {total} here"), tensor.range_at);
        number(total)
    }),
    of_one("is_tensor", |_, args, _| match first(args) {
        Cv::Tensor(..) => Cv::Bool(true),
        Cv::Unknown | Cv::Other(Value::Obj(_) | Value::Path(_)) => Cv::Unknown,
        _ => Cv::Bool(false),
    }),
    of_one("integral", |_, args, _| of_dtype(args, |dtype| Cv::Bool(dtype.kind() == Kind::Integral))),
    of_one("floating", |_, args, _| of_dtype(args, |dtype| Cv::Bool(dtype.is_floating()))),
    of_one("dtype_name", |_, args, _| of_dtype(args, |dtype| Cv::Str(Rc::from(dtype.name())))),
    Helper { name: "same_device", takes: 1..=usize::MAX, keyword: None, run: |judge, args, _| judge.same_device(args) },
    Helper {
        name: "broadcastable",
        takes: 2..=2,
        keyword: None,
        run: |_, args, _| match args {
            [Cv::Shape(a), Cv::Shape(b)] => Cv::tri(broadcastable(a, b)),
            _ => Cv::Unknown,
        },
    },
    Helper {
        name: "broadcast",
        takes: 2..=2,
        keyword: None,
        run: |_, args, _| match args {
            [Cv::Shape(a), Cv::Shape(b)] => broadcast_pair(a, b).map_or(Cv::Unknown, Cv::Shape),
            _ => Cv::Unknown,
        },
    },
    of_one("role", |judge, args, _| judge.role(first(args))),
    of_one("interpolated", |judge, args, _| judge.history(first(args), |t| (t.past.interpolated, t.past.interpolated))),
    of_one("recoloured", |judge, args, _| judge.history(first(args), |t| (t.past.recoloured, t.past.recoloured))),
    of_one("scaled", |judge, args, _| judge.history(first(args), |t| (t.past.scaled, t.dtype_at))),
    of_one("vocabulary", |judge, args, _| {
        let Cv::Tensor(tensor, _) = first(args) else { return Cv::Unknown };
        let Some((count, at)) = tensor.past.vocabulary else { return Cv::None };
        judge.read("tokens are added here".to_owned(), Some(at));
        Cv::int(count)
    }),
    of_one("autocast", |judge, args, _| judge.autocast(first(args))),
    of_one("palette", |judge, args, _| match (judge.image_mode(first(args)), first(args)) {
        (Some(mode), _) => Cv::Bool(mode == "1" || mode == "P"),
        (None, Cv::Tensor(..)) => Cv::Bool(false),
        (None, _) => Cv::Unknown,
    }),
    of_one("tv_mask", |judge, args, _| judge.tv_mask(first(args))),
    of_one("nearest", |_, args, _| nearest(first(args))),
    of_one("known", |_, args, _| Cv::Bool(!matches!(first(args), Cv::Unknown))),
    of_one("len", |judge, args, _| {
        let length = match first(args) {
            Cv::Shape(dims) => Some(dims.len()),
            Cv::Other(value) => judge.it.heap.exact_items(value).map(|items| items.len()),
            _ => None,
        };
        length.map_or(Cv::Unknown, |length| Cv::int(i64::try_from(length).unwrap_or(i64::MAX)))
    }),
];

fn first(args: &[Cv]) -> &Cv {
    args.first().unwrap_or(&Cv::Unknown)
}

fn of_dtype(args: &[Cv], of: fn(Dtype) -> Cv) -> Cv {
    match first(args) {
        Cv::Dtype(dtype) => of(*dtype),
        _ => Cv::Unknown,
    }
}

impl Judge<'_, '_> {
    pub(super) fn helper(&mut self, name: &str, args: &[Cv], ignoring: Option<Cv>) -> Cv {
        match HELPERS.iter().find(|helper| helper.name == name) {
            Some(helper) => (helper.run)(self, args, ignoring),
            None => Cv::Unknown,
        }
    }

    /// The range of a tensor's elements. Also records the origin of the range as a label.
    fn range(&mut self, value: &Cv) -> Option<(Range, ())> {
        let Cv::Tensor(tensor, name) = value else { return None };
        let range = tensor.range.clone()?;
        let holds = match range.met.filter(|_| !range.attained) {
            Some(met) => format!("`{name}` gets the value {} here", met.value),
            None => format!("`{name}` gets the values {range} here"),
        };
        self.read(holds, tensor.range_at);
        Some((range, ()))
    }

    /// The parts of a tensor's range outside `[lo, hi)`; the value `ignoring` is left out.
    fn strays(&mut self, args: &[Cv], ignoring: Option<Cv>) -> Option<Vec<(f64, f64)>> {
        let [tensor, lo, hi, rest @ ..] = args else { return None };
        let ignoring = ignoring.or_else(|| rest.first().cloned());
        let (lo, hi) = (lo.as_f64()?, hi.as_f64()?);
        let (range, ()) = self.range(tensor)?;
        let range = match ignoring {
            None | Some(Cv::None) => Some(range),
            Some(value) => range.without(value.as_f64()?),
        };
        let Some(range) = range else { return Some(Vec::new()) };
        // If it is not known whether the bounds of the range occur, but a member outside `[lo, hi)`
        // is known to occur, only this member is returned.
        if let Some(met) = range.met.filter(|met| !range.attained && (met.value < lo || met.value >= hi)) {
            return Some(vec![(met.value, met.value)]);
        }
        Some(range.outside(lo, hi))
    }

    /// Whether at least one value in `parts` is known to occur in a tensor.
    fn occurring(&self, value: &Cv, parts: &[(f64, f64)]) -> bool {
        let among = |met: Met| parts.iter().any(|(lo, hi)| (*lo..=*hi).contains(&met.value));
        matches!(value, Cv::Tensor(t, _) if t.range.as_ref().is_some_and(|r| r.attained || r.met.is_some_and(among)))
    }

    /// Whether the known member of the range fits. Also true if no member is known, or if the known
    /// member is ignored.
    fn met(&mut self, range: &Range, ignoring: Option<&Cv>, fits: impl Fn(f64) -> bool) -> bool {
        let ignored = |value: f64| ignoring.and_then(Cv::as_f64) == Some(value);
        let stray = range.met.filter(|met| !ignored(met.value) && !fits(met.value));
        let sure = stray.is_some_and(|met| met.always) || range.attained && (range.certain || range.epoch);
        self.weak |= stray.is_some() && !sure;
        stray.is_none()
    }

    /// What is wrong with the index tensors of `x[…]`: a text, or Python's `None` if nothing is
    /// wrong.
    fn misplaced(&mut self, args: &[Cv]) -> Cv {
        let [Cv::Tensor(input, _), index] = args else { return Cv::Unknown };
        let Some(shape) = input.shape.clone() else { return Cv::Unknown };
        // PyTorch does not check the values of indices if the tensor has no elements.
        if shape.iter().any(|dim| dim.size.known() == Some(0)) {
            return Cv::Unknown;
        }
        let items = match index {
            Cv::Other(Value::Tuple(items)) => items.iter().map(|v| self.of_value(v, "the index")).collect(),
            other => vec![other.clone()],
        };
        let takes = |item: &Cv| match item {
            Cv::Tensor(t, _) if matches!(t.dtype?, Dtype::Bool | Dtype::Uint8) => t.rank(),
            Cv::Tensor(..) | Cv::Size(_) | Cv::Other(Value::Slice(_) | Value::Ranged(_)) => Some(1),
            Cv::None | Cv::Bool(_) | Cv::Other(Value::Ellipsis) => Some(0),
            _ => None,
        };
        let Some(taken) = items.iter().map(takes).sum::<Option<usize>>() else { return Cv::Unknown };
        let mut axis = 0usize;
        let mut result = Cv::None;
        for item in &items {
            if let Cv::Other(Value::Ellipsis) = item {
                axis += shape.len().saturating_sub(taken);
            }
            if let (Cv::Tensor(tensor, _), Some(dim)) = (item, shape.get(axis))
                && !matches!(tensor.dtype, Some(Dtype::Bool | Dtype::Uint8))
            {
                let found = dim.size.known().map(|n| (n, [item.clone(), Cv::int(-n), Cv::int(n)]));
                match found.map(|(n, args)| (n, self.within(&args, None), args)) {
                    Some((_, Some(true), _)) => {}
                    // PyTorch does not check the indices if another dimension is empty.
                    Some(_) if perhaps_empty(&shape, axis) => result = Cv::Unknown,
                    Some((n, Some(false), args)) => {
                        let strays = self.strays(&args, None).unwrap_or_default();
                        self.read(format!("dimension {axis} gets size {n} here"), dim.at.or(input.shape_at));
                        let holds = parts_text(&strays);
                        return Cv::Str(Rc::from(format!(
                            "the index holds {holds}, but dimension {axis} has size {n}"
                        )));
                    }
                    _ => result = Cv::Unknown,
                }
            }
            axis += takes(item).unwrap_or(0);
        }
        result
    }

    /// Whether each value is inside the bounds or ignored. `Some(false)` only if it is known
    /// that, in at least one run, a value outside the bounds occurs.
    fn within(&mut self, args: &[Cv], ignoring: Option<Cv>) -> Option<bool> {
        let strays = self.strays(args, ignoring.clone())?;
        if strays.is_empty() {
            return Some(true);
        }
        let [tensor, lo, hi, rest @ ..] = args else { return None };
        let (range, ()) = self.range(tensor)?;
        let (lo, hi) = (lo.as_f64()?, hi.as_f64()?);
        if !self.met(&range, ignoring.as_ref().or(rest.first()), |v| (lo..hi).contains(&v)) {
            return Some(false);
        }
        let none_inside = range.parts().iter().all(|(a, b)| *b < lo || *a >= hi);
        if none_inside && range.attained {
            // If the tensor may be empty, it may have no value outside, so the finding is weak.
            self.weak |= matches!(tensor, Cv::Tensor(tensor, _) if tensor.numel().may_be_zero());
            return Some(false);
        }
        if !range.attained {
            return None;
        }
        self.weak |= !range.certain && !range.epoch;
        Some(false)
    }

    fn between(&mut self, args: &[Cv]) -> Option<bool> {
        let [tensor, lo, hi] = args else { return None };
        let (range, ()) = self.range(tensor)?;
        let bound = |cv: &Cv, open: f64| if matches!(cv, Cv::None) { Some(open) } else { cv.as_f64() };
        let (lo, hi) = (bound(lo, f64::NEG_INFINITY)?, bound(hi, f64::INFINITY)?);
        if range.lo() >= lo && range.hi() <= hi {
            return Some(true);
        }
        if !self.met(&range, None, |v| (lo..=hi).contains(&v)) {
            return Some(false);
        }
        if !range.attained {
            return None;
        }
        self.weak |= !range.certain && !range.epoch;
        Some(false)
    }

    fn same_device(&mut self, args: &[Cv]) -> Cv {
        let tensors: Vec<(Rc<Tensor>, Rc<str>)> = args
            .iter()
            .filter_map(|a| match a {
                Cv::Tensor(t, n) => Some((t.clone(), n.clone())),
                _ => None,
            })
            .collect();
        let mut result = Some(!args.iter().any(|a| matches!(a, Cv::Unknown)));
        if result == Some(false) {
            result = None;
        }
        for (i, (a, a_name)) in tensors.iter().enumerate() {
            for (b, b_name) in tensors.iter().skip(i + 1) {
                match a.device.zip(b.device) {
                    Some((x, y)) if x.differs(y) => {
                        for (t, name) in [(a, a_name), (b, b_name)] {
                            if let Some(device) = t.device {
                                self.read(format!("`{name}` is placed on {device} here"), t.device_at);
                            }
                        }
                        return Cv::Bool(false);
                    }
                    Some((x, y)) if x.same(y) == Some(true) => {}
                    _ => result = None,
                }
            }
        }
        Cv::tri(result)
    }

    fn role(&mut self, value: &Cv) -> Cv {
        let role = match value {
            // A mask of at most two classes may be interpolated, so contracts get no role for it.
            Cv::Tensor(tensor, _) if tensor.role == Some(Role::ClassMask) && !tensor.holds_many_classes() => None,
            Cv::Tensor(tensor, name) => {
                if let Some(role) = tensor.role {
                    let what = match role {
                        Role::ClassMask => "gets class ids".to_owned(),
                        Role::OneHot => "becomes one-hot".to_owned(),
                        Role::Image => "becomes an image".to_owned(),
                        role => format!("gets {}", role.name()),
                    };
                    self.read(format!("`{name}` {what} here"), tensor.role_at);
                }
                tensor.role.map(|r| match r {
                    Role::Sigmoid => Role::Probabilities.name(),
                    role => role.name(),
                })
            }
            Cv::Other(object) => {
                let role = object.as_obj().and_then(|id| self.it.heap.attr(id, "role"));
                match role.as_ref().and_then(Value::as_str) {
                    Some("class-mask") => Some("class-mask"),
                    Some("image") => Some("image"),
                    _ => None,
                }
            }
            _ => None,
        };
        role.map_or(Cv::Unknown, |r| Cv::Str(Rc::from(r)))
    }

    /// Whether an operation was certainly applied to the elements; false if this is not known. `of`
    /// returns the place of the operation, and the place at which the finding is reported.
    fn history(&mut self, value: &Cv, of: fn(&Tensor) -> (Origin, Origin)) -> Cv {
        let Cv::Tensor(tensor, name) = value else { return Cv::Unknown };
        let (done, blamed) = of(tensor);
        if done.is_none() {
            return Cv::Bool(false);
        }
        if blamed != done {
            self.read(format!("the values of `{name}` are divided by 255 here"), done);
        }
        self.note(Read { label: format!("`{name}` holds the class ids"), at: blamed, blame: true });
        Cv::Bool(true)
    }

    /// Whether the call runs inside an enabled autocast for the device of a tensor.
    fn autocast(&mut self, value: &Cv) -> Cv {
        let Cv::Tensor(tensor, name) = value else { return Cv::Unknown };
        match self.it.remembered(AUTOCAST) {
            None | Some(Value::None) => Cv::Bool(false),
            Some(Value::Tuple(parts)) => match (parts.first(), tensor.device) {
                (Some(Value::Device(on)), Some(device)) if device.is_concrete() => {
                    self.read(format!("`{name}` is placed on {device} here"), tensor.device_at);
                    Cv::Bool(on.kind == device.kind)
                }
                _ => Cv::Unknown,
            },
            Some(_) => Cv::Unknown,
        }
    }

    fn image_mode(&self, value: &Cv) -> Option<String> {
        let Cv::Other(object) = value else { return None };
        let mode = self.it.heap.attr(object.as_obj()?, "mode")?;
        mode.as_str().map(str::to_owned)
    }

    fn tv_mask(&self, value: &Cv) -> Cv {
        match value {
            Cv::Tensor(tensor, _) => match tensor.wrapper.map(|w| w.as_str()) {
                Some("torchvision.tv_tensors.Mask") => Cv::Bool(true),
                _ => Cv::Bool(false),
            },
            Cv::Other(object) => {
                if self.it.is_instance(object, "PIL.Image.Image") {
                    Cv::Bool(false)
                } else {
                    Cv::Unknown
                }
            }
            _ => Cv::Unknown,
        }
    }
}

/// Whether a dimension other than `axis` may have the size 0, which makes the tensor empty.
fn perhaps_empty(shape: &[Dim], axis: usize) -> bool {
    shape.iter().enumerate().any(|(at, dim)| at != axis && dim.size.may_be_zero())
}

fn number(x: f64) -> Cv {
    #[expect(clippy::cast_possible_truncation, reason = "an integral class index")]
    if x.fract() == 0.0 && x.abs() < 1e15 { Cv::int(x as i64) } else { Cv::Float(x) }
}

fn parts_text(parts: &[(f64, f64)]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = crate::value::write_parts(parts, &mut text);
    text
}

/// Whether an interpolation argument of torch, torchvision, Pillow or OpenCV selects nearest
/// neighbour (0 is nearest in Pillow and in OpenCV, 6 is OpenCV's `INTER_NEAREST_EXACT`).
fn nearest(value: &Cv) -> Cv {
    match value {
        Cv::Str(s) => Cv::Bool(matches!(&**s, "nearest" | "nearest-exact")),
        Cv::Size(Size::Int(n)) => Cv::Bool(matches!(n, 0 | 6)),
        Cv::None => Cv::Bool(false),
        Cv::Other(Value::Path(path)) => {
            let name = path.as_str().rsplit_once('.').map_or(path.as_str(), |(_, name)| name);
            match name {
                "NEAREST" | "NEAREST_EXACT" | "INTER_NEAREST" | "INTER_NEAREST_EXACT" => Cv::Bool(true),
                "BILINEAR" | "BICUBIC" | "LANCZOS" | "BOX" | "HAMMING" | "ANTIALIAS" | "LINEAR" | "CUBIC"
                | "INTER_LINEAR" | "INTER_CUBIC" | "INTER_AREA" | "INTER_LANCZOS4" => Cv::Bool(false),
                _ => Cv::Unknown,
            }
        }
        _ => Cv::Unknown,
    }
}
