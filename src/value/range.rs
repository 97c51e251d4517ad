use std::fmt;
use std::rc::Rc;

use smallvec::SmallVec;

use super::Size;

/// The values that a tensor's elements take: a few closed intervals, in order, disjoint.
///
/// Each element is inside the range, or is NaN (for example, `sqrt` of a negative number, or `std`
/// of one element). So a range does not exclude NaN, except for integers, which cannot be NaN.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Range {
    parts: SmallVec<[(f64, f64); 2]>,
    /// Whether the bounds of every interval occur in some run (a literal, `randint`, the labels of
    /// a known dataset), or are only bounds.
    pub attained: bool,
    /// Whether both bounds occur in this tensor in every run (a literal), not only in some batches.
    pub certain: bool,
    /// A symbolic upper bound, excluded. For example, the starts that `randint(len(data) - width)`
    /// draws are below `len(data) - width`.
    pub below: Option<Size>,
    /// Whether the bounds occur in every pass over the data (labels of a known dataset), but not
    /// necessarily in each batch.
    pub epoch: bool,
    /// The bounds refer to whole samples: each bound may occur at only one position of a sample,
    /// for example in one column, and an index may exclude this position. Contains the ranges of
    /// the columns, if they are known.
    pub uneven: Option<Rc<[Range]>>,
    /// A value that occurs, even if the bounds do not occur, such as the fill value of a border
    /// around unknown pixels.
    pub met: Option<Met>,
}

/// A value that is known to occur among the elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Met {
    pub value: f64,
    /// The value occurs at some time in every run.
    pub always: bool,
}

/// The value that is known to occur on both of two paths.
fn both(a: Option<Met>, b: Option<Met>) -> Option<Met> {
    let (a, b) = (a?, b?);
    (a.value == b.value).then_some(Met { value: a.value, always: a.always && b.always })
}

/// With more intervals, the gaps are dropped.
const MAX_PARTS: usize = 16;

impl Range {
    pub(crate) fn bounds(lo: f64, hi: f64) -> Range {
        Range {
            parts: SmallVec::from_slice(&[(lo, hi)]),
            below: None,
            attained: false,
            certain: false,
            epoch: false,
            uneven: None,
            met: None,
        }
    }

    /// An interval whose bounds occur somewhere in the data, not necessarily in every batch.
    pub(crate) fn attained(lo: f64, hi: f64) -> Range {
        Range { attained: true, ..Range::bounds(lo, hi) }
    }

    /// An interval whose bounds occur in each pass over the data.
    pub(crate) fn of_data(lo: f64, hi: f64) -> Range {
        Range { epoch: true, ..Range::attained(lo, hi) }
    }

    /// The range of one sample of data with this range: a sample may have any of the values, and
    /// bounds that certainly occur in the data occur in every pass over it.
    pub(crate) fn of_sample(self) -> Range {
        Range { epoch: self.epoch || (self.certain && self.attained), certain: false, ..self }
    }

    /// Like [`Range::of_sample`], for samples that are not single numbers.
    pub(crate) fn of_row(self) -> Range {
        let mixed = self.certain && self.lo() != self.hi();
        let uneven = self.uneven.clone().or_else(|| mixed.then(|| Rc::from([])));
        Range { uneven, ..self.of_sample() }
    }

    /// Like [`Range::of_row`], for rows with these columns.
    pub(crate) fn of_columns(self, columns: Option<Vec<Range>>) -> Range {
        let known = columns.map(|columns| columns.into_iter().map(Range::of_sample).collect());
        let row = self.of_row();
        Range { uneven: row.uneven.clone().and(known).or(row.uneven.clone()), ..row }
    }

    /// The range of rows whose columns have known ranges.
    pub(crate) fn by_column(self, columns: Vec<Range>) -> Range {
        Range { uneven: Some(columns.into()), ..self }
    }

    /// The range of one column of rows.
    pub(crate) fn column(&self, index: usize) -> Option<&Range> {
        self.uneven.as_deref()?.get(index)
    }

    /// The same range, with bounds that refer to whole samples.
    pub(crate) fn somewhere(self) -> Range {
        Range { uneven: Some(Rc::from([])), ..self }
    }

    /// The range of a part of the data, in which any of the values may be missing.
    pub(crate) fn of_part(self) -> Range {
        let attained = self.attained && (self.uneven.is_none() || self.lo() == self.hi());
        Range { attained, epoch: false, certain: false, met: None, ..self }
    }

    /// The range of a part of the data, if the part may be empty: a value that is known to occur in
    /// a nonempty part occurs only in some runs.
    pub(crate) fn of_perhaps_empty(self) -> Range {
        let met = self.meets().map(|met| Met { always: false, ..met });
        let part = self.of_part();
        let constant = part.attained && part.lo() == part.hi();
        Range { attained: part.attained && !constant, met, ..part }
    }

    /// The same bounds, which need not occur.
    pub(crate) fn only_bounds(self) -> Range {
        Range { attained: false, certain: false, epoch: false, met: None, ..self }
    }

    /// All numbers, with one that is known to occur.
    pub(crate) fn anything_and(value: f64, always: bool) -> Range {
        let met = Some(Met { value, always });
        Range { met, ..Range::bounds(f64::NEG_INFINITY, f64::INFINITY) }
    }

    #[must_use]
    pub(crate) fn with_met(self, met: Option<Met>) -> Range {
        Range { met, ..self }
    }

    /// A value that is known to occur.
    pub(crate) fn meets(&self) -> Option<Met> {
        if !(self.attained && self.lo() == self.hi()) {
            return self.met;
        }
        Some(Met { value: self.lo(), always: self.certain || self.met.is_some_and(|met| met.always) })
    }

    /// Whether infinity certainly occurs.
    pub(crate) fn holds_infinity(&self) -> bool {
        self.certain && self.attained && self.parts.iter().any(|(lo, hi)| lo == hi && lo.is_infinite())
    }

    /// The range from `lo` (included) to `below` (excluded).
    pub(crate) fn up_to(lo: f64, below: Size) -> Range {
        match below {
            #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
            Size::Int(n) => Range::bounds(lo, lo.max(n as f64 - 1.0)),
            Size::Unknown => Range::bounds(lo, f64::INFINITY),
            below @ Size::Expr(_) => Range { below: Some(below), ..Range::bounds(lo, f64::INFINITY) },
        }
    }

    /// The upper bound of all values (excluded), which may be symbolic.
    pub(crate) fn end(&self) -> Option<Size> {
        #[expect(clippy::cast_possible_truncation, reason = "the bound is checked")]
        let end = (self.hi().abs() < 9e15).then(|| Size::Int(self.hi().floor() as i64 + 1));
        self.below.clone().or(end)
    }

    /// The range of exactly these values, all of which occur.
    pub(crate) fn of_values(values: &[f64]) -> Option<Range> {
        let mut sorted: Vec<f64> = values.to_vec();
        if sorted.is_empty() || sorted.iter().any(|v| v.is_nan()) {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        let integral = sorted.iter().all(|v| v.fract() == 0.0);
        let mut parts: SmallVec<[(f64, f64); 2]> = SmallVec::new();
        for value in sorted {
            match parts.last_mut() {
                Some((_, hi)) if value == *hi || (integral && value == *hi + 1.0) => *hi = value,
                _ => parts.push((value, value)),
            }
        }
        Some(
            Range { parts, below: None, attained: true, certain: true, epoch: false, uneven: None, met: None }
                .simplified(),
        )
    }

    pub(crate) fn lo(&self) -> f64 {
        self.parts.first().map_or(f64::NEG_INFINITY, |p| p.0)
    }

    pub(crate) fn hi(&self) -> f64 {
        self.parts.last().map_or(f64::INFINITY, |p| p.1)
    }

    pub(crate) fn parts(&self) -> &[(f64, f64)] {
        &self.parts
    }

    /// The claims about the bounds, without the intervals.
    fn flags(&self) -> Range {
        let uneven = self.uneven.as_ref().map(|_| Rc::from([]));
        Range { parts: SmallVec::new(), below: None, uneven, ..self.clone() }
    }

    fn simplified(mut self) -> Range {
        if self.parts.len() > MAX_PARTS {
            let hull = (self.lo(), self.hi());
            self.parts = SmallVec::from_slice(&[hull]);
        }
        self
    }

    /// All values of both ranges. A value is claimed to occur if both paths claim it: the join of
    /// two paths claims no more than each path does.
    pub(crate) fn join(&self, other: &Range) -> Range {
        let Range { parts, attained, certain, below, epoch, uneven, met } = self;
        let same = *parts == other.parts;
        Range {
            parts: if same { parts.clone() } else { self.union(other).parts },
            attained: same && *attained && other.attained,
            certain: same && *certain && other.certain,
            below: below.clone().filter(|below| Some(below) == other.below.as_ref()),
            epoch: same && *epoch && other.epoch,
            uneven: if *uneven == other.uneven { uneven.clone() } else { Some(Rc::from([])) },
            met: if *met == other.met { *met } else { both(self.meets(), other.meets()) },
        }
    }

    /// The range of a tensor that contains the elements of two tensors with these ranges.
    pub(crate) fn union(&self, other: &Range) -> Range {
        let mut all: Vec<(f64, f64)> = self.parts.iter().chain(&other.parts).copied().collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut parts: SmallVec<[(f64, f64); 2]> = SmallVec::new();
        for (lo, hi) in all {
            match parts.last_mut() {
                Some((_, end)) if lo <= *end + 1.0 && (lo <= *end || (lo.fract() == 0.0 && end.fract() == 0.0)) => {
                    *end = end.max(hi);
                }
                _ => parts.push((lo, hi)),
            }
        }
        Range {
            parts,
            below: self.below.clone().filter(|b| Some(b) == other.below.as_ref()),
            attained: self.attained && other.attained,
            certain: self.certain && other.certain,
            epoch: self.epoch && other.epoch,
            uneven: self.uneven.clone().or(other.uneven.clone()).map(|_| Rc::from([])),
            met: other.meets().or(self.meets()).filter(|_| !(self.certain && other.certain)),
        }
        .simplified()
    }

    /// The range of `f(x)` for a monotone `f`.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Range {
        let mut parts: SmallVec<[(f64, f64); 2]> = self
            .parts
            .iter()
            .map(|&(lo, hi)| {
                let (a, b) = (f(lo), f(hi));
                // `min` and `max` ignore NaN.
                if a.is_nan() || b.is_nan() { (f64::NAN, f64::NAN) } else { (a.min(b), a.max(b)) }
            })
            .collect();
        parts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let met = self.met.map(|met| Met { value: f(met.value), ..met });
        Range { parts, met, ..self.flags() }
    }

    /// The same integers in a type with the values `lo` to `hi`; values outside wrap around. `None`
    /// if an interval is too wide or unbounded.
    pub(crate) fn wrapped(&self, lo: f64, hi: f64) -> Option<Range> {
        if self.lo() >= lo && self.hi() <= hi {
            return Some(self.clone());
        }
        let width = hi - lo + 1.0;
        let wrap = |x: f64| (x.abs() < 9e15).then(|| lo + (x - lo).rem_euclid(width));
        let mut out = Range { met: None, certain: false, ..self.flags() };
        for &(a, b) in &self.parts {
            let (from, to) = (wrap(a)?, wrap(b)?);
            if b - a >= width {
                return None;
            }
            let pieces = if from <= to { vec![(from, to)] } else { vec![(lo, to), (from, hi)] };
            for piece in pieces {
                let piece = Range { parts: SmallVec::from_slice(&[piece]), ..out.clone() };
                out = if out.parts.is_empty() { piece } else { Range { met: None, ..out.union(&piece) } };
            }
        }
        out.met = match self.met {
            Some(met) => Some(Met { value: wrap(met.value)?, ..met }),
            None => None,
        };
        Some(out)
    }

    /// The range without elements equal to `value` (they are filtered or ignored).
    pub(crate) fn without(&self, value: f64) -> Option<Range> {
        let mut parts: SmallVec<[(f64, f64); 2]> = SmallVec::new();
        for &(lo, hi) in &self.parts {
            let integral = lo.fract() == 0.0 && hi.fract() == 0.0;
            if lo == value && hi == value {
                continue;
            }
            if integral && lo == value {
                parts.push((lo + 1.0, hi));
            } else if integral && hi == value {
                parts.push((lo, hi - 1.0));
            } else {
                parts.push((lo, hi));
            }
        }
        let met = self.met.filter(|met| met.value != value);
        (!parts.is_empty()).then_some(Range { parts, met, ..self.flags() })
    }

    /// A range of integers, without those from `lo` to `hi`.
    pub(crate) fn cut(&self, lo: f64, hi: f64) -> Option<Range> {
        let mut parts: SmallVec<[(f64, f64); 2]> = SmallVec::new();
        for &(a, b) in &self.parts {
            if b < lo || a > hi {
                parts.push((a, b));
                continue;
            }
            if a < lo {
                parts.push((a, lo - 1.0));
            }
            if b > hi {
                parts.push((hi + 1.0, b));
            }
        }
        let met = self.met.filter(|met| met.value < lo || met.value > hi);
        (!parts.is_empty()).then(|| Range { parts, met, ..self.flags() }.simplified())
    }

    /// The parts outside `[lo, hi)`; the values are assumed to be integers.
    pub(crate) fn outside(&self, lo: f64, hi: f64) -> Vec<(f64, f64)> {
        let mut out = Vec::new();
        for &(a, b) in &self.parts {
            if a < lo {
                out.push((a, b.min(lo - 1.0).max(a)));
            }
            if b >= hi {
                out.push((a.max(hi).min(b), b));
            }
        }
        out
    }

    /// Clips the range to `[lo, hi]`.
    pub(crate) fn clamp(&self, lo: f64, hi: f64) -> Range {
        let mut out = self.map(|x| x.max(lo).min(hi));
        if lo > self.lo() || hi < self.hi() {
            out.certain = self.certain;
        }
        let joined = out.flags();
        out.parts.iter().fold(joined, |acc, &(a, b)| {
            if acc.parts.is_empty() {
                Range { parts: SmallVec::from_slice(&[(a, b)]), ..acc }
            } else {
                let piece = Range { parts: SmallVec::from_slice(&[(a, b)]), ..acc.clone() };
                acc.union(&piece)
            }
        })
    }
}

/// Formats intervals for messages: `0 to 9`, `255`, `0 to 20 and 255`.
pub(crate) fn write_parts(parts: &[(f64, f64)], f: &mut dyn fmt::Write) -> fmt::Result {
    for (i, (lo, hi)) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(if i + 1 == parts.len() { " and " } else { ", " })?;
        }
        if lo == hi {
            write!(f, "{lo}")?;
        } else {
            write!(f, "{lo} to {hi}")?;
        }
    }
    Ok(())
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_parts(&self.parts, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_wrap_around() {
        let labels = Range::of_data(0.0, 150.0).map(|x| x - 1.0);
        let bytes = labels.wrapped(0.0, 255.0).unwrap();
        assert_eq!(bytes.parts(), [(0.0, 149.0), (255.0, 255.0)]);
        assert!(bytes.attained && bytes.epoch);
        assert_eq!(Range::attained(3.0, 300.0).wrapped(0.0, 255.0), None);
        assert_eq!(Range::bounds(0.0, 1.0).map(|x| -1.0 - x).wrapped(0.0, 255.0).unwrap().parts(), [(254.0, 255.0)]);
        let void = Range::of_values(&[0.0, 20.0, 255.0]).unwrap().map(|x| x + 1.0);
        assert_eq!(void.wrapped(0.0, 255.0).unwrap().parts(), [(0.0, 1.0), (21.0, 21.0)]);
    }

    #[test]
    fn a_border_is_met_beside_values_of_which_only_bounds_are_known() {
        let pixels = Range::bounds(0.0, 255.0);
        let border = Range::of_values(&[255.0]).unwrap();
        let framed = pixels.union(&border);
        assert_eq!(framed.met, Some(Met { value: 255.0, always: true }));
        assert_eq!(framed.map(|x| x - 1.0).met.map(|met| met.value), Some(254.0));
        assert_eq!(framed.without(255.0).unwrap().met, None);
        // A part may lack the border value, and so may a join with other pixels.
        assert_eq!(framed.clone().of_part().met, None);
        assert_eq!(framed.join(&pixels).met, None);
        assert_eq!(framed.join(&framed).met, framed.met);
    }
}
