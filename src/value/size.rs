use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

use super::Sym;

/// The known sign of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sign {
    /// A length of data: assumed to be at least 1, because programs expect data.
    Positive,
    /// A count, or a quotient of lengths: it may be 0.
    NotNegative,
    Any,
}

/// An unknown integer with a name: `B`, the batch size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Symbol {
    pub id: u32,
    pub name: Sym,
    pub sign: Sign,
    /// The `id` of the symbol of which this one is at most half: of `H` for `H//2`.
    pub half_of: Option<u32>,
}

/// The length of a dimension, or any integer built from lengths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Size {
    Int(i64),
    Expr(Rc<Poly>),
    Unknown,
}

/// A polynomial over symbols, in canonical form: terms sorted by their symbols, no zero
/// coefficient, and at least one term (otherwise it would be an integer).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Poly {
    terms: Vec<(Vec<Symbol>, i64)>,
    constant: i64,
}

/// An expression with more terms becomes unknown: it would not help a reader.
const MAX_TERMS: usize = 12;

impl Poly {
    fn of(size: &Size) -> Option<Poly> {
        match size {
            Size::Int(n) => Some(Poly { terms: Vec::new(), constant: *n }),
            Size::Expr(poly) => Some((**poly).clone()),
            Size::Unknown => None,
        }
    }

    /// The symbols of the polynomial, with repetitions.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.terms.iter().flat_map(|(symbols, _)| symbols.iter().copied())
    }

    /// The value for given numbers in place of the symbols.
    pub(crate) fn value(&self, of: impl Fn(Symbol) -> i64) -> Option<i64> {
        self.terms.iter().try_fold(self.constant, |sum, (symbols, factor)| {
            let product = symbols.iter().try_fold(*factor, |product, symbol| product.checked_mul(of(*symbol)))?;
            sum.checked_add(product)
        })
    }

    /// The minimum, if it is known.
    fn at_least(&self) -> Option<i64> {
        if let Some(poly) = self.without_half() {
            return poly.at_least();
        }
        self.terms.iter().try_fold(self.constant, |sum, (symbols, factor)| {
            let least = symbols.iter().try_fold(1, |least, symbol| match symbol.sign {
                Sign::Positive => Some(least),
                Sign::NotNegative => Some(0),
                Sign::Any => None,
            })?;
            if *factor < 0 {
                return None;
            }
            sum.checked_add(factor.checked_mul(least)?)
        })
    }

    /// A lower bound without one of the symbols, if this symbol is subtracted and is at most half of another
    /// one. If `b` is even, `a*H - b*(H//2)` is at least `(a - b/2)*H`. If `b` is odd, it is at least
    /// `(a - (b+1)/2)*H + 1`, because `H - H//2` is at least 1 for a positive `H`.
    fn without_half(&self) -> Option<Poly> {
        self.terms.iter().enumerate().find_map(|(at, (symbols, factor))| {
            let [Symbol { half_of: Some(whole), .. }] = symbols.as_slice() else { return None };
            let taken = factor.checked_neg().filter(|taken| *taken > 0)?;
            let mut out = self.clone();
            out.terms.remove(at);
            let is_whole = |symbols: &[Symbol]| {
                matches!(symbols, [symbol] if symbol.id == *whole && symbol.sign == Sign::Positive)
            };
            let (_, factor) = out.terms.iter_mut().find(|(symbols, _)| is_whole(symbols))?;
            let rest = taken % 2;
            *factor = factor.checked_sub(taken / 2)?.checked_sub(rest)?;
            out.constant = out.constant.checked_add(rest)?;
            out.terms.retain(|(_, factor)| *factor != 0);
            Some(out)
        })
    }

    fn negated(&self) -> Option<Poly> {
        let terms = self.terms.iter().map(|(symbols, k)| Some((symbols.clone(), k.checked_neg()?)));
        Some(Poly { terms: terms.collect::<Option<_>>()?, constant: self.constant.checked_neg()? })
    }

    /// Whether some number greater than 1 divides every coefficient, but not the constant. Then the
    /// polynomial is never 0, whatever integers the symbols stand for.
    fn leaves_a_rest(&self) -> bool {
        let divisor = self.terms.iter().fold(0_u64, |divisor, (_, k)| gcd(divisor, k.unsigned_abs()));
        divisor > 1 && !self.constant.unsigned_abs().is_multiple_of(divisor)
    }

    fn into_size(mut self) -> Size {
        self.terms.retain(|(_, k)| *k != 0);
        if self.terms.is_empty() {
            Size::Int(self.constant)
        } else if self.terms.len() > MAX_TERMS {
            Size::Unknown
        } else {
            Size::Expr(Rc::new(self))
        }
    }

    fn add_term(&mut self, symbols: &[Symbol], factor: i64) -> Option<()> {
        match self.terms.binary_search_by(|(have, _)| order(have, symbols)) {
            Ok(at) => {
                let (_, k) = self.terms.get_mut(at)?;
                *k = k.checked_add(factor)?;
            }
            Err(at) => self.terms.insert(at, (symbols.to_vec(), factor)),
        }
        Some(())
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn order(a: &[Symbol], b: &[Symbol]) -> Ordering {
    a.iter().map(|s| s.id).cmp(b.iter().map(|s| s.id))
}

impl Size {
    pub(crate) fn symbol(symbol: Symbol) -> Size {
        Size::Expr(Rc::new(Poly { terms: vec![(vec![symbol], 1)], constant: 0 }))
    }

    pub(crate) fn known(&self) -> Option<i64> {
        match self {
            Size::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// The symbol, if the size is just one symbol.
    pub(crate) fn as_symbol(&self) -> Option<Symbol> {
        let Size::Expr(poly) = self else { return None };
        match (poly.terms.as_slice(), poly.constant) {
            ([(symbols, 1)], 0) => symbols.first().filter(|_| symbols.len() == 1).copied(),
            _ => None,
        }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Size::Unknown)
    }

    pub(crate) fn add(&self, other: &Size) -> Size {
        self.linear(other, 1)
    }

    pub(crate) fn sub(&self, other: &Size) -> Size {
        self.linear(other, -1)
    }

    fn linear(&self, other: &Size, factor: i64) -> Size {
        let sum = || {
            let (mut a, b) = (Poly::of(self)?, Poly::of(other)?);
            for (symbols, k) in &b.terms {
                a.add_term(symbols, k.checked_mul(factor)?)?;
            }
            a.constant = a.constant.checked_add(b.constant.checked_mul(factor)?)?;
            Some(a.into_size())
        };
        sum().unwrap_or(Size::Unknown)
    }

    pub(crate) fn mul(&self, other: &Size) -> Size {
        if self.known() == Some(0) || other.known() == Some(0) {
            return Size::Int(0);
        }
        let product = || {
            let (a, b) = (Poly::of(self)?, Poly::of(other)?);
            let mut out = Poly { terms: Vec::new(), constant: a.constant.checked_mul(b.constant)? };
            for (symbols, k) in &a.terms {
                if b.constant != 0 {
                    out.add_term(symbols, k.checked_mul(b.constant)?)?;
                }
                for (others, l) in &b.terms {
                    let mut all: Vec<Symbol> = symbols.iter().chain(others).copied().collect();
                    all.sort_by_key(|s| s.id);
                    out.add_term(&all, k.checked_mul(*l)?)?;
                }
            }
            if a.constant != 0 {
                for (others, l) in &b.terms {
                    out.add_term(others, l.checked_mul(a.constant)?)?;
                }
            }
            Some(out.into_size())
        };
        product().unwrap_or(Size::Unknown)
    }

    /// The quotient, if the division is exact for every value of the symbols.
    pub(crate) fn div_exact(&self, divisor: &Size) -> Option<Size> {
        if self == divisor && !self.is_unknown() {
            return Some(Size::Int(1));
        }
        match (self, divisor) {
            (Size::Int(_), Size::Int(0)) => None,
            (Size::Int(a), Size::Int(b)) => (a % b == 0).then(|| Size::Int(a / b)),
            (Size::Expr(poly), Size::Int(k)) if *k != 0 => {
                let exact = poly.constant % k == 0 && poly.terms.iter().all(|(_, c)| c % k == 0);
                exact.then(|| {
                    let terms = poly.terms.iter().map(|(s, c)| (s.clone(), c / k)).collect();
                    Poly { terms, constant: poly.constant / k }.into_size()
                })
            }
            (Size::Expr(poly), Size::Expr(by)) if by.constant == 0 && poly.constant == 0 => {
                let [(symbols, k)] = by.terms.as_slice() else { return None };
                let mut out = Poly { terms: Vec::new(), constant: 0 };
                for (have, c) in &poly.terms {
                    if c % k != 0 {
                        return None;
                    }
                    let mut rest = have.clone();
                    for symbol in symbols {
                        let at = rest.iter().position(|s| s == symbol)?;
                        rest.remove(at);
                    }
                    if rest.is_empty() {
                        out.constant = out.constant.checked_add(c / k)?;
                    } else {
                        out.add_term(&rest, c / k)?;
                    }
                }
                Some(out.into_size())
            }
            _ => None,
        }
    }

    /// The minimum, if it is known.
    pub(crate) fn at_least(&self) -> Option<i64> {
        Poly::of(self)?.at_least()
    }

    /// Whether the size is unknown, or its minimum is 0. All other sizes, such as `B-2`, are
    /// assumed not to be 0.
    pub(crate) fn may_be_zero(&self) -> bool {
        self.is_unknown() || self.at_least() == Some(0)
    }

    /// Whether the two are equal; `None` if that is not known.
    pub(crate) fn equals(&self, other: &Size) -> Option<bool> {
        match self.sub(other) {
            Size::Int(n) => Some(n == 0),
            Size::Unknown => None,
            Size::Expr(poly) => {
                let positive = |poly: &Poly| poly.at_least().is_some_and(|least| least > 0);
                let apart = positive(&poly) || poly.negated().is_some_and(|poly| positive(&poly));
                (apart || poly.leaves_a_rest()).then_some(false)
            }
        }
    }

    /// Whether the size is certainly at least 1.
    pub(crate) fn is_positive(&self) -> bool {
        Size::Int(0).less(self) == Some(true)
    }

    /// Whether `self < other`, if that is known.
    pub(crate) fn less(&self, other: &Size) -> Option<bool> {
        match other.sub(self) {
            Size::Int(n) => Some(n > 0),
            Size::Unknown => None,
            Size::Expr(poly) => {
                if poly.at_least().is_some_and(|least| least > 0) {
                    Some(true)
                } else if poly.negated().and_then(|poly| poly.at_least()).is_some_and(|least| least >= 0) {
                    Some(false)
                } else {
                    None
                }
            }
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Int(n) => write!(f, "{n}"),
            Size::Expr(poly) => write!(f, "{poly}"),
            Size::Unknown => f.write_str("?"),
        }
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (symbols, k)) in self.terms.iter().enumerate() {
            if i > 0 || *k < 0 {
                f.write_str(if *k < 0 { "-" } else { "+" })?;
            }
            let size = k.unsigned_abs();
            if size != 1 {
                write!(f, "{size}*")?;
            }
            for (j, symbol) in symbols.iter().enumerate() {
                f.write_str(if j > 0 { "*" } else { "" })?;
                // `2*H//2` would mean `(2*H)//2`.
                let is_factor = size != 1 || symbols.len() > 1;
                match is_factor && symbol.name.as_str().contains("//") {
                    true => write!(f, "({})", symbol.name)?,
                    false => write!(f, "{}", symbol.name)?,
                }
            }
        }
        match self.constant {
            0 => Ok(()),
            n => write!(f, "{n:+}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::sym;

    fn s(id: u32, name: &str) -> Size {
        Size::symbol(Symbol { id, name: sym(name), sign: Sign::Positive, half_of: None })
    }

    #[test]
    fn a_quotient_may_be_zero() {
        let half = Size::symbol(Symbol { id: 7, name: sym("H//2"), sign: Sign::NotNegative, half_of: None });
        let eight = half.mul(&Size::Int(8)).add(&Size::Int(8));
        assert_eq!(eight.equals(&Size::Int(8)), None);
        assert_eq!(eight.equals(&Size::Int(4)), Some(false));
        let any = Size::symbol(Symbol { id: 8, name: sym("n"), sign: Sign::Any, half_of: None });
        assert_eq!(any.mul(&Size::Int(8)).equals(&Size::Int(-8)), None);
        assert_eq!(any.mul(&Size::Int(8)).equals(&Size::Int(4)), Some(false));
    }

    #[test]
    fn a_half_is_less_than_the_whole() {
        let whole = s(3, "H");
        let half = Size::symbol(Symbol { id: 9, name: sym("H//2"), sign: Sign::NotNegative, half_of: Some(3) });
        assert_eq!(half.equals(&whole), Some(false));
        assert_eq!(half.less(&whole), Some(true));
        let twice = half.mul(&Size::Int(2));
        assert_eq!((twice.equals(&whole), twice.less(&whole), whole.less(&twice)), (None, None, Some(false)));
        assert_eq!(half.mul(&Size::Int(3)).equals(&whole), None);
        assert_eq!(half.mul(&Size::Int(3)).equals(&whole.mul(&Size::Int(2))), Some(false));
    }

    #[test]
    fn arithmetic_is_canonical() {
        let (b, h) = (s(0, "B"), s(1, "H"));
        let left = b.mul(&h).add(&Size::Int(2).mul(&b));
        let right = b.mul(&h.add(&Size::Int(2)));
        assert_eq!(left, right);
        assert_eq!(left.to_string(), "2*B+B*H");
        assert_eq!(left.div_exact(&b), Some(h.add(&Size::Int(2))));
        assert_eq!(left.sub(&right), Size::Int(0));
    }

    #[test]
    fn comparison_knows_that_symbols_are_positive() {
        let b = s(0, "B");
        assert_eq!(b.equals(&b.add(&Size::Int(1))), Some(false));
        assert_eq!(b.equals(&Size::Int(4)), None);
        assert_eq!(Size::Int(0).less(&b), Some(true));
        assert_eq!(b.mul(&Size::Int(2)).equals(&b), Some(false));
    }
}
