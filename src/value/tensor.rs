use std::fmt;
use std::rc::Rc;

use crate::syntax::Span;

use super::{Device, Dtype, ObjId, Origin, Range, Size};

/// One dimension, with the place that determined its length.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dim {
    pub size: Size,
    pub at: Origin,
    /// The dimension counts the samples of a batch from a loader.
    pub batch: bool,
}

impl Dim {
    pub(crate) fn new(size: Size, at: Origin) -> Dim {
        Dim { size, at, batch: false }
    }

    pub(crate) fn int(n: i64) -> Dim {
        Dim::new(Size::Int(n), None)
    }

    pub(crate) const UNKNOWN: Dim = Dim { size: Size::Unknown, at: None, batch: false };
}

/// Dimensions as text: `[4, B, ?]`.
pub(crate) fn dims_text(dims: &[Dim]) -> String {
    let sizes: Vec<String> = dims.iter().map(|dim| dim.size.to_string()).collect();
    format!("[{}]", sizes.join(", "))
}

/// A number and what it counts: "1 dimension", "2 dimensions". `noun` is singular.
pub(crate) fn counted(number: impl fmt::Display, noun: &str) -> String {
    match number.to_string() {
        one if one == "1" => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// The library of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrayKind {
    Torch,
    Numpy,
}

/// The role: the meaning of the values, if an operation determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// The raw output of a linear or convolution layer.
    Logits,
    /// Probabilities that sum to one along an axis (softmax).
    Probabilities,
    /// Probabilities of independent elements, in (0, 1) (sigmoid).
    Sigmoid,
    LogProbabilities,
    OneHot,
    /// An image in which each element is a class index.
    ClassMask,
    Image,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Logits => "logits",
            Role::Probabilities => "probabilities",
            Role::Sigmoid => "sigmoid",
            Role::LogProbabilities => "log-probabilities",
            Role::OneHot => "one-hot",
            Role::ClassMask => "class-mask",
            Role::Image => "image",
        }
    }
}

/// The history of the elements: which of these operations were certainly applied. Operations that
/// only move or cast elements keep it. Operations that compute new values drop it, except for the
/// cases in the methods below.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// Neighbouring elements were mixed, by an interpolation other than nearest neighbour.
    pub interpolated: Origin,
    /// Bytes were divided by 255, which is usual for images.
    pub scaled: Origin,
    /// Palette indices were replaced by their colours.
    pub recoloured: Origin,
    /// All bits of the integers 0 and 1 were flipped (`~mask`), which gives -1 and -2, or 255 and
    /// 254.
    pub flipped: Origin,
    /// The elements were integers before they were floats.
    pub whole: bool,
    /// A transform with random parameters moved the elements: its place, and the number of the
    /// draw.
    pub drawn: Option<(Span, u32)>,
    /// The elements are ids of a tokenizer to which tokens were added: the tokenizer's new number
    /// of tokens, and the place.
    pub vocabulary: Option<(i64, Span)>,
}

impl Past {
    /// The join: each element may come from either of the two.
    #[must_use]
    pub(crate) fn both(self, other: Past) -> Past {
        let agree = |a: Origin, b: Origin| b.and(a);
        Past {
            interpolated: agree(self.interpolated, other.interpolated),
            scaled: agree(self.scaled, other.scaled),
            recoloured: agree(self.recoloured, other.recoloured),
            flipped: agree(self.flipped, other.flipped),
            whole: self.whole && other.whole,
            drawn: self.drawn.filter(|_| self.drawn == other.drawn),
            vocabulary: self.vocabulary.filter(|_| self.vocabulary == other.vocabulary),
        }
    }

    /// The history after a transform that computes new values for the pixels of an image without
    /// moving the pixels.
    #[must_use]
    pub(crate) fn moved(self) -> Past {
        Past { drawn: self.drawn, ..Past::default() }
    }

    /// The history after division by 255.
    #[must_use]
    pub(crate) fn divided(self, at: Origin) -> Past {
        Past { scaled: at, ..self }
    }

    /// The history after multiplication by 255. This undoes a division by 255. If there was none,
    /// the history is dropped.
    #[must_use]
    pub(crate) fn restored(self) -> Past {
        if self.scaled.is_some() { Past { scaled: None, ..self } } else { Past::default() }
    }

    /// The history after rounding. Bytes that were divided by 255 are between 0 and 1, where
    /// rounding is a threshold, so their history is dropped.
    #[must_use]
    pub(crate) fn rounded(self) -> Past {
        if self.scaled.is_some() { Past::default() } else { self }
    }
}

/// The elements for which a mask is true: those of the tensor `of` between two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Picks {
    pub of: ObjId,
    /// The number of writes to the memory of `of` when the mask was computed.
    pub writes: u32,
    pub lo: f64,
    pub hi: f64,
    /// All elements between the bounds, not just some.
    pub all: bool,
}

/// How a tensor takes part in autograd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Grad {
    Unknown,
    /// `requires_grad` is false.
    Off,
    /// A leaf that requires grad, such as a parameter.
    Leaf,
    /// The result of an operation on a tensor that requires grad.
    Attached,
}

/// The facts of a tensor or array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensor {
    pub array: ArrayKind,
    /// The tensor subclass, if any, such as `torchvision.tv_tensors.Mask`.
    pub wrapper: Option<super::Sym>,
    /// `None` if not even the rank is known.
    pub shape: Option<Vec<Dim>>,
    /// The last dimensions, if the rank is not known; their lengths may be unknown. Not inherited:
    /// [`super::Heap::tensor`] clears it.
    pub trailing: Rc<[Dim]>,
    /// The place that determined the rank.
    pub shape_at: Origin,
    pub dtype: Option<Dtype>,
    pub dtype_at: Origin,
    pub device: Option<Device>,
    pub device_at: Origin,
    pub range: Option<Range>,
    pub range_at: Origin,
    pub role: Option<Role>,
    pub role_at: Origin,
    pub past: Past,
    pub grad: Grad,
    /// The dimensions in memory order, from the outermost to the innermost, if the tensor is known
    /// to be dense, or a slice of a dense tensor. For an array, its reversed axes. Not inherited:
    /// [`super::Heap::tensor`] clears it.
    pub layout: Option<Rc<[usize]>>,
    /// For a mask, the elements that it selects. Not inherited: [`super::Heap::tensor`] clears it.
    pub picks: Option<Picks>,
    /// The elements in row-major order, if all are known.
    pub data: Option<Rc<[f64]>>,
    /// The tensor whose memory this one shares; `None` if it has its own memory.
    pub base: Option<ObjId>,
    /// The number of writes to the tensor's memory when `range`, `role` and `data` were determined.
    pub version: u32,
    /// The number of in-place writes to this tensor's own memory.
    pub writes: u32,
    /// Whether this object itself was created as a parameter. Not inherited by results computed
    /// from it: [`super::Heap::tensor`] clears it.
    pub parameter: bool,
    /// The `backward()` that freed the graph from which this tensor was computed. Not inherited:
    /// [`super::Heap::tensor`] clears it.
    pub freed: Origin,
    /// The number of writes to the tensor's memory is uncertain: for example, it differs between
    /// paths.
    pub unsure: bool,
}

impl Default for Tensor {
    fn default() -> Self {
        Tensor {
            array: ArrayKind::Torch,
            wrapper: None,
            shape: None,
            trailing: Rc::default(),
            shape_at: None,
            dtype: None,
            dtype_at: None,
            device: None,
            device_at: None,
            range: None,
            range_at: None,
            role: None,
            role_at: None,
            past: Past::default(),
            grad: Grad::Unknown,
            layout: None,
            picks: None,
            data: None,
            base: None,
            version: 0,
            writes: 0,
            parameter: false,
            freed: None,
            unsure: false,
        }
    }
}

impl Tensor {
    /// The lengths of the dimensions, if the rank is known.
    pub(crate) fn sizes(&self) -> Option<Vec<Size>> {
        self.shape.as_ref().map(|dims| dims.iter().map(|d| d.size.clone()).collect())
    }

    pub(crate) fn rank(&self) -> Option<usize> {
        self.shape.as_ref().map(Vec::len)
    }

    /// The dimension at `index`, counted from the end if it is negative.
    pub(crate) fn dim(&self, index: i64) -> Option<&Dim> {
        let dims = if index < 0 { self.last_dims() } else { self.shape.as_deref()? };
        let rank = i64::try_from(dims.len()).ok()?;
        let at = if index < 0 { index + rank } else { index };
        dims.get(usize::try_from(at).ok()?)
    }

    /// All dimensions; only the last ones if the rank is not known.
    pub(crate) fn last_dims(&self) -> &[Dim] {
        self.shape.as_deref().unwrap_or(&self.trailing)
    }

    /// `[4, B, ?]`; `[…, 64, ?]` if the rank is not known.
    pub(crate) fn shape_text(&self) -> String {
        match &self.shape {
            Some(dims) => dims_text(dims),
            None if self.trailing.is_empty() => "[…]".to_owned(),
            None => dims_text(&self.trailing).replacen('[', "[…, ", 1),
        }
    }

    /// Stores the last dimensions. Those of unknown length count, too: the rank is at least their number.
    pub(crate) fn set_trailing(&mut self, dims: impl IntoIterator<Item = Dim>) {
        self.trailing = dims.into_iter().collect();
    }

    /// Sets the rank of a tensor if it is not known.
    pub(crate) fn set_rank(&mut self, rank: usize, at: Origin) {
        if self.shape.is_none()
            && let Some(more) = rank.checked_sub(self.trailing.len())
        {
            let dims = std::iter::repeat_n(Dim::UNKNOWN, more).chain(self.trailing.iter().cloned());
            (self.shape, self.shape_at) = (Some(dims.collect()), at);
            self.trailing = Rc::default();
        }
    }

    /// The product of all lengths.
    pub(crate) fn numel(&self) -> Size {
        match &self.shape {
            None => Size::Unknown,
            Some(dims) => dims.iter().fold(Size::Int(1), |n, d| n.mul(&d.size)),
        }
    }

    /// The lengths, if all are integers.
    pub(crate) fn known_shape(&self) -> Option<Vec<i64>> {
        self.shape.as_ref()?.iter().map(|d| d.size.known()).collect()
    }

    pub(crate) fn with_shape(mut self, sizes: Vec<Size>, at: Origin) -> Tensor {
        self.shape = Some(sizes.into_iter().map(|size| Dim::new(size, at)).collect());
        self.shape_at = at;
        self
    }

    pub(crate) fn with_dtype(mut self, dtype: Option<Dtype>, at: Origin) -> Tensor {
        self.dtype = dtype;
        self.dtype_at = at;
        self
    }

    pub(crate) fn with_device(mut self, device: Option<Device>, at: Origin) -> Tensor {
        self.device = device;
        self.device_at = at;
        self
    }

    pub(crate) fn with_range(mut self, range: Option<Range>, at: Origin) -> Tensor {
        self.range = range;
        self.range_at = at;
        self
    }

    pub(crate) fn with_role(mut self, role: Option<Role>, at: Origin) -> Tensor {
        self.role = role;
        self.role_at = at;
        self
    }

    /// Whether the elements are class ids of more than two classes, as far as is known. Two
    /// classes may be interpolated: rounding the values between 0 and 1 is a threshold.
    pub(crate) fn holds_many_classes(&self) -> bool {
        let binary = self.range.as_ref().is_some_and(|r| r.lo() >= 0.0 && r.hi() <= 1.0);
        self.role == Some(Role::ClassMask) && !binary
    }

    /// The history of the elements after an interpolation. Measurements may be interpolated, so
    /// only elements that are or were integers, such as class ids, are marked.
    pub(crate) fn interpolated(&self, at: Origin) -> Past {
        let ids = self.dtype.is_some_and(Dtype::is_integral)
            || self.past.whole
            || self.past.scaled.is_some()
            || self.role == Some(Role::ClassMask)
            || self.range.as_ref().is_some_and(|r| r.attained && r.lo().fract() == 0.0 && r.hi().fract() == 0.0);
        Past { interpolated: self.past.interpolated.or(at.filter(|_| ids)), ..self.past }
    }

    /// Drops the facts about elements: range, role, history, contents.
    pub(crate) fn forget_values(&mut self) {
        self.range = None;
        self.range_at = None;
        self.role = None;
        self.role_at = None;
        self.past = Past::default();
        self.data = None;
    }
}
