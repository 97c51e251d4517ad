//! The effect of an index on a shape: the dimensions that are kept, removed, added or gathered.

use super::index::{Item, bounds, mask_count, parse};
use crate::library::Cx;
use crate::library::torch::broadcast::{broadcast_pair, device_read, shape_read, shape_text};
use crate::library::torch::carry::{self, Rejected, Takes};
use crate::python::RejectKind;
use crate::value::{ArrayKind, Dim, Size, Tensor, Value, counted, dims_text};

/// A dimension of the result, or the place of the gathered dimensions.
enum Entry {
    /// A dimension from a slice of the input.
    Keep {
        dim: Dim,
        axis: usize,
        start: Option<i64>,
        step: Option<i64>,
    },
    New(Dim),
    Gathered,
}

/// Positions along a dimension of the input, with the shape of the index tensor.
struct Positions {
    axis: usize,
    index: Option<Tensor>,
}

/// The elements that an index selects.
pub(super) struct Plan {
    /// The shape of the selected elements; `None` if the rank is not known.
    pub dims: Option<Vec<Dim>>,
    /// Index tensors gather elements, or may do so.
    pub advanced: bool,
    /// The selected elements are certainly copied.
    pub copies: bool,
    /// The index contains no tensors of positions. (A single value of any dtype can be assigned to
    /// a mask, but not to a tensor of positions.)
    pub only_mask: bool,
    pub takes: Takes,
    entries: Vec<Entry>,
    fixed: Vec<(usize, Option<i64>)>,
    positions: Vec<Positions>,
    gathered: Vec<Dim>,
    rank: usize,
}

impl Plan {
    fn unknown(advanced: bool, copies: bool) -> Plan {
        Plan {
            dims: None,
            advanced,
            copies,
            only_mask: false,
            takes: Takes::CutsLast,
            entries: Vec::new(),
            fixed: Vec::new(),
            positions: Vec::new(),
            gathered: Vec::new(),
            rank: 0,
        }
    }

    /// Whether the index contains index tensors or masks. Single bools are not masks.
    pub(super) fn gathers(&self) -> bool {
        !self.positions.is_empty()
    }

    /// Maps an index of the selection to an index of the input. Unknown positions become an index
    /// beyond every dimension.
    pub(super) fn source(&self, index: &[usize]) -> Vec<usize> {
        let mut from = vec![usize::MAX; self.rank];
        let mut put = |axis: usize, at: Option<usize>| {
            if let Some(slot) = from.get_mut(axis) {
                *slot = at.unwrap_or(usize::MAX);
            }
        };
        for (axis, at) in &self.fixed {
            put(*axis, at.and_then(|i| usize::try_from(i).ok()));
        }
        let front = !self.adjacent();
        let mut next = if front { self.gathered.len() } else { 0 };
        let mut block: &[usize] = if front { index.get(..next).unwrap_or_default() } else { &[] };
        let mut placed = front;
        for entry in &self.entries {
            match entry {
                Entry::Keep { axis, start, step, .. } => {
                    let at = index.get(next).and_then(|i| {
                        let i = i64::try_from(*i).ok()?;
                        usize::try_from(start.as_ref()?.checked_add(i.checked_mul(step.as_ref().copied()?)?)?).ok()
                    });
                    put(*axis, at);
                    next += 1;
                }
                Entry::New(_) => next += 1,
                Entry::Gathered if !placed => {
                    block = index.get(next..next + self.gathered.len()).unwrap_or_default();
                    next += self.gathered.len();
                    placed = true;
                }
                Entry::Gathered => {}
            }
        }
        let total = self.gathered.len();
        for positions in &self.positions {
            put(positions.axis, positions.index.as_ref().and_then(|t| position(t, block, total)));
        }
        from
    }

    /// Whether the index tensors are adjacent in the index. If they are, the gathered dimensions
    /// take their place; otherwise, the gathered dimensions come first.
    fn adjacent(&self) -> bool {
        let places: Vec<usize> =
            self.entries.iter().enumerate().filter(|(_, e)| matches!(e, Entry::Gathered)).map(|(i, _)| i).collect();
        places.windows(2).all(|pair| matches!(pair, [a, b] if a + 1 == *b))
    }
}

/// The element of an index tensor; `block` is its index in the gathered dimensions.
fn position(index: &Tensor, block: &[usize], total: usize) -> Option<usize> {
    let dims = index.shape.as_ref()?;
    let skip = total.checked_sub(dims.len())?;
    let at: Vec<usize> =
        block.iter().skip(skip).zip(dims).map(|(i, d)| if d.size.known() == Some(1) { 0 } else { *i }).collect();
    let found = carry::whole(carry::element(index, &at)?)?;
    // Negative positions, which count from the end, are not tracked.
    usize::try_from(found).ok()
}

/// Like [`plan`], for reading elements. Also checks the devices: unlike a write, a read from a CPU
/// tensor rejects an index on a GPU.
pub(super) fn read_plan(cx: &mut Cx<'_, '_>, input: &Tensor, index: &Value) -> Result<Plan, Rejected> {
    // An object that is used like a tensor may be of another class, such as `TensorDict`.
    if input.dtype.is_none() && index.parts().iter().any(Value::is_text) {
        return plan_items(cx, input, &[Item::Unknown]);
    }
    let numpy = input.array == ArrayKind::Numpy;
    let items = parse(cx, index, numpy)?;
    check_devices(cx, input, &items)?;
    plan_items(cx, input, &items)
}

/// The elements that an index selects from a tensor. `Err` if the index is rejected, which has been
/// reported.
pub(super) fn plan(cx: &mut Cx<'_, '_>, input: &Tensor, index: &Value) -> Result<Plan, Rejected> {
    let numpy = input.array == ArrayKind::Numpy;
    let items = parse(cx, index, numpy)?;
    plan_items(cx, input, &items)
}

pub(super) fn plan_items(cx: &mut Cx<'_, '_>, input: &Tensor, items: &[Item]) -> Result<Plan, Rejected> {
    let numpy = input.array == ArrayKind::Numpy;
    let arrays = items.iter().any(|i| matches!(i, Item::Index(_) | Item::Mask(_)));
    let flags = items.iter().any(|i| matches!(i, Item::Flag(_)));
    let vague = |i: &Item| match i {
        Item::Unknown | Item::Flag(None) => true,
        Item::Index(t) | Item::Mask(t) => t.shape.is_none(),
        _ => false,
    };
    let advanced = arrays || items.iter().any(vague);
    // An index tensor of unknown shape may be a single position, which selects a view.
    let copies = items.iter().any(|i| matches!(i, Item::Index(t) | Item::Mask(t) if t.shape.is_some()));
    let Some(shape) = input.shape.clone() else {
        // The shape of the input is unknown. All that is known is whether the index may gather
        // elements.
        return Ok(Plan::unknown(advanced, copies));
    };
    let used = |i: &Item| match i {
        Item::At(_) | Item::Slice(_) | Item::Index(_) => 1,
        Item::Mask(t) => t.rank().unwrap_or(1),
        _ => 0,
    };
    let consumed: usize = items.iter().map(used).sum();
    if consumed > shape.len() {
        refuse_count(cx, input, consumed);
        return Err(Rejected);
    }
    let dots = items.iter().filter(|i| matches!(i, Item::Ellipsis)).count();
    if items.iter().any(vague) || dots > 1 || (flags && arrays) {
        return Ok(Plan::unknown(advanced, copies));
    }
    let mut plan = Plan { rank: shape.len(), ..Plan::unknown(arrays, arrays) };
    plan.only_mask = !items.iter().any(|i| matches!(i, Item::Index(_)));
    let (mut whole, mut last_whole) = (true, true);
    let mut axis = 0usize;
    let rank = shape.len();
    let keep = |plan: &mut Plan, axis: usize| {
        if let Some(dim) = shape.get(axis) {
            plan.entries.push(Entry::Keep { dim: dim.clone(), axis, start: Some(0), step: Some(1) });
        }
    };
    for item in items {
        let here = axis;
        match item {
            Item::At(at) => {
                let size = shape.get(axis).map_or(Size::Unknown, |d| d.size.clone());
                check_bounds(cx, input, axis, at, &size)?;
                let index = match (at.known(), size.known()) {
                    (Some(i), Some(n)) if i < 0 => Some(i + n),
                    (Some(i), _) if i >= 0 => Some(i),
                    _ => None,
                };
                plan.fixed.push((axis, index));
                // If the index contains index arrays, NumPy also treats an integer as an index
                // array.
                if numpy && arrays {
                    plan.entries.push(Entry::Gathered);
                }
                axis += 1;
                (whole, last_whole) = (false, last_whole && here + 1 != rank);
            }
            Item::Slice(parts) => {
                let Some(dim) = shape.get(axis) else { break };
                let (start, length, step) = bounds(&dim.size, parts);
                let same = !length.is_unknown() && length == dim.size;
                let place = if same { dim.clone() } else { Dim::new(length, cx.at()) };
                plan.entries.push(Entry::Keep { dim: place, axis, start, step });
                if !same {
                    (whole, last_whole) = (false, last_whole && here + 1 != rank);
                }
                axis += 1;
            }
            Item::NewAxis => plan.entries.push(Entry::New(Dim::new(Size::Int(1), cx.at()))),
            Item::Flag(flag) => {
                let size = Size::Int(i64::from(*flag == Some(true)));
                whole &= *flag == Some(true);
                plan.entries.push(Entry::New(Dim::new(size, cx.at())));
                (plan.advanced, plan.copies) = (true, true);
            }
            Item::Ellipsis => {
                for _ in 0..rank.saturating_sub(consumed) {
                    keep(&mut plan, axis);
                    axis += 1;
                }
            }
            Item::Index(index) => {
                plan.entries.push(Entry::Gathered);
                plan.positions.push(Positions { axis, index: Some(index.clone()) });
                let dims = index.shape.clone().unwrap_or_default();
                gather_dims(cx, &mut plan, &dims)?;
                axis += 1;
                (whole, last_whole) = (false, last_whole && here + 1 != rank);
            }
            Item::Mask(mask) => {
                let dims = mask.shape.clone().unwrap_or_default();
                check_mask(cx, input, axis, mask)?;
                let count = mask_count(cx, mask);
                plan.entries.push(Entry::Gathered);
                for i in 0..dims.len() {
                    plan.positions.push(Positions { axis: axis + i, index: mask_positions(mask, i) });
                }
                gather_dims(cx, &mut plan, &[count])?;
                axis += dims.len();
                (whole, last_whole) = (false, last_whole && axis != rank);
            }
            Item::Unknown => {}
        }
    }
    while axis < rank {
        keep(&mut plan, axis);
        axis += 1;
    }
    plan.takes = match (whole, last_whole) {
        (true, _) => Takes::All,
        (false, true) => Takes::Some,
        (false, false) => Takes::CutsLast,
    };
    plan.dims = Some(result(&plan));
    Ok(plan)
}

/// The shape of the selection.
fn result(plan: &Plan) -> Vec<Dim> {
    let mut out = Vec::new();
    let mut placed = !plan.adjacent();
    if placed {
        out.extend(plan.gathered.iter().cloned());
    }
    for entry in &plan.entries {
        match entry {
            Entry::Keep { dim, .. } | Entry::New(dim) => out.push(dim.clone()),
            Entry::Gathered if !placed => {
                out.extend(plan.gathered.iter().cloned());
                placed = true;
            }
            Entry::Gathered => {}
        }
    }
    out
}

/// The coordinates of the elements that a mask selects, along one dimension.
fn mask_positions(mask: &Tensor, dim: usize) -> Option<Tensor> {
    let extents = carry::extents(mask.shape.as_deref()?)?;
    let mut found = Vec::new();
    #[expect(clippy::cast_precision_loss, reason = "few elements")]
    carry::build(&extents, |index| {
        let set = carry::element(mask, index)?;
        if set != 0.0 {
            found.push(*index.get(dim)? as f64);
        }
        Some(set)
    })?;
    let count = i64::try_from(found.len()).ok()?;
    Some(Tensor { shape: Some(vec![Dim::int(count)]), data: Some(found.into()), ..Tensor::default() })
}

/// Broadcasts the shape of an index tensor with the shapes of the earlier index tensors.
fn gather_dims(cx: &mut Cx<'_, '_>, plan: &mut Plan, dims: &[Dim]) -> Result<(), Rejected> {
    if plan.positions.len() == 1
        || plan.gathered.is_empty() && plan.entries.iter().filter(|e| matches!(e, Entry::Gathered)).count() <= 1
    {
        plan.gathered = dims.to_vec();
        return Ok(());
    }
    match broadcast_pair(&plan.gathered, dims) {
        Ok(joined) => {
            plan.gathered = joined;
            Ok(())
        }
        Err(_) => {
            let message = format!(
                "index arrays of shapes {} and {} do not broadcast",
                dims_text(&plan.gathered),
                dims_text(dims)
            );
            cx.reject(RejectKind::Index, message, Vec::new());
            Err(Rejected)
        }
    }
}

fn refuse_count(cx: &mut Cx<'_, '_>, input: &Tensor, count: usize) {
    let rank = input.rank().unwrap_or(0);
    let message = if rank == 0 {
        "a 0-dimensional tensor cannot be indexed: use item() to get its value".to_owned()
    } else {
        format!("{count} indices are given for {}, which has {}", shape_text(input), counted(rank, "dimension"))
    };
    cx.reject(RejectKind::Index, message, vec![shape_read(("the tensor", input), None)]);
}

fn check_bounds(cx: &mut Cx<'_, '_>, input: &Tensor, axis: usize, at: &Size, size: &Size) -> Result<(), Rejected> {
    let Some(i) = at.known() else { return Ok(()) };
    let outside = match size.known() {
        Some(n) => i >= n || i < -n,
        None => false,
    };
    if outside {
        let message = format!("index {i} is out of bounds for dimension {axis} with size {size}");
        cx.reject(RejectKind::Index, message, vec![shape_read(("the tensor", input), Some(axis))]);
        return Err(Rejected);
    }
    Ok(())
}

fn check_mask(cx: &mut Cx<'_, '_>, input: &Tensor, axis: usize, mask: &Tensor) -> Result<(), Rejected> {
    let (Some(have), Some(dims)) = (&mask.shape, &input.shape) else { return Ok(()) };
    let clash = have.iter().enumerate().position(|(i, d)| {
        dims.get(axis + i).is_some_and(|other| {
            let differ = d.size.equals(&other.size) == Some(false);
            // NumPy accepts an empty mask of one dimension for a dimension of any length.
            let is_accepted = input.array == ArrayKind::Numpy && d.size.known() == Some(0) && have.len() == 1;
            differ && !is_accepted
        })
    });
    let Some(i) = clash else { return Ok(()) };
    let message = format!(
        "the mask is {} and the tensor {}: they must agree in dimension {}",
        shape_text(mask),
        shape_text(input),
        axis + i
    );
    let reads = vec![shape_read(("the mask", mask), Some(i)), shape_read(("the tensor", input), Some(axis + i))];
    cx.reject(RejectKind::Index, message, reads);
    Err(Rejected)
}

/// A tensor on the CPU accepts only index tensors on the CPU; a tensor on another device also
/// accepts index tensors on the CPU.
fn check_devices(cx: &mut Cx<'_, '_>, input: &Tensor, items: &[Item]) -> Result<(), Rejected> {
    let Some(device) = input.device.filter(|d| d.is_cpu() && input.array == ArrayKind::Torch) else {
        return Ok(());
    };
    let foreign = items.iter().find_map(|item| match item {
        Item::Index(t) | Item::Mask(t) if t.device.is_some_and(|d| d.differs(device)) => Some(t),
        _ => None,
    });
    let Some(index) = foreign.filter(|t| t.array == ArrayKind::Torch && t.device.is_some_and(|d| d.is_cuda())) else {
        return Ok(());
    };
    let place = index.device.map_or_else(String::new, |d| d.to_string());
    let message = format!("the index is on {place} and the tensor on {device}: a CPU tensor needs indices on the CPU");
    cx.reject(RejectKind::Device, message, vec![device_read(("the index", index)), device_read(("the tensor", input))]);
    Err(Rejected)
}
