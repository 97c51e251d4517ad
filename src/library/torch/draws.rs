//! The random draws of a run: whether two values come from the same one.

use crate::library::Cx;
use crate::syntax::Span;
use crate::value::{Topic, Value};

/// A note of the run: a generator was seeded during the computation of a sample, so later random
/// draws may repeat earlier ones.
pub(crate) const SEEDED: Topic = Topic::new("seeded");
const DRAWS: Topic = Topic::new("random draws");

pub(crate) fn note_seed(cx: &mut Cx<'_, '_>) {
    cx.it.remember(SEEDED, Value::Bool(true));
}

/// The place and the unique number of a new random draw; `None` if random draws may repeat.
pub(crate) fn next_draw(cx: &mut Cx<'_, '_>) -> Option<(Span, u32)> {
    let count = cx.it.remembered(DRAWS).and_then(|v| v.as_int()).unwrap_or(0).saturating_add(1);
    cx.it.remember(DRAWS, Value::Int(count));
    let fresh = matches!(cx.it.remembered(SEEDED), None | Some(Value::Bool(false)));
    u32::try_from(count).ok().filter(|_| fresh).map(|count| (cx.span, count))
}
