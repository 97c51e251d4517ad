//! The state of the gradients of each optimizer's parameters.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::super::notes::PARAMETERS;
use super::{Moment, OPTIMIZER, fates, set_fates};
use crate::python::Interp;
use crate::syntax::Span;
use crate::value::{Data, ObjId, State, Topic, Value};

/// The state of an optimizer's gradients.
///
/// The state is approximate: each `backward()` is assumed to compute gradients for the parameters
/// of all optimizers, whatever its loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gradients {
    /// No gradients were computed since the optimizer was created; the parameters may have older
    /// ones.
    Blank,
    /// Cleared.
    Empty,
    /// Computed, but not used by a step yet.
    Fresh,
    /// Used by a step.
    Used,
    /// Used by a step; after that, a `backward()` has added to them.
    Mixed,
}

impl Gradients {
    const ALL: [Gradients; 5] =
        [Gradients::Blank, Gradients::Empty, Gradients::Fresh, Gradients::Used, Gradients::Mixed];

    fn of(state: &State) -> Option<Gradients> {
        Gradients::ALL.into_iter().find(|gradients| **state == [gradients.topic().into()])
    }

    fn topic(self) -> Topic {
        Topic::new(match self {
            Gradients::Blank => "blank",
            Gradients::Empty => "empty",
            Gradients::Fresh => "fresh",
            Gradients::Used => "used",
            Gradients::Mixed => "mixed",
        })
    }
}

/// For an optimizer: the state of its gradients.
const GRADIENTS: Topic = Topic::new("gradients");

/// Facts about an optimizer that are stored once for the run, not for each path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub made: Span,
    /// The optimizer escaped to unseen code, which may use it at any call.
    pub escaped: bool,
    /// The place of the last step.
    pub stepped: Option<Span>,
}

#[derive(Default)]
pub(crate) struct Optimizers {
    known: RefCell<FxHashMap<ObjId, Known>>,
    /// The place of the last `backward()`.
    pub backward: std::cell::Cell<Option<Span>>,
}

impl Optimizers {
    pub(crate) fn made(&self, it: &mut Interp<'_>, id: ObjId, span: Span) {
        self.known.borrow_mut().insert(id, Known { made: span, escaped: false, stepped: None });
        self.set(it, id, Some(Gradients::Blank));
    }

    /// The optimizers of the program.
    pub(crate) fn all(&self) -> Vec<ObjId> {
        let mut all: Vec<ObjId> = self.known.borrow().keys().copied().collect();
        all.sort_unstable();
        all
    }

    pub(crate) fn known(&self, id: ObjId) -> Option<Known> {
        self.known.borrow().get(&id).copied()
    }

    /// The state of an optimizer's gradients, if it is known and all paths agree on it.
    pub(crate) fn gradients(&self, it: &Interp<'_>, id: ObjId) -> Option<Gradients> {
        match self.fates(it, id).as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The states of an optimizer's gradients on the paths that lead here.
    pub(crate) fn fates(&self, it: &Interp<'_>, id: ObjId) -> Vec<Gradients> {
        let all: Vec<Gradients> = fates(it, GRADIENTS.of(id)).iter().filter_map(Gradients::of).collect();
        // If the gradients are cleared on one path but not on another, a flag may have selected the
        // path. Later code may test the same flag, so the state is treated as unknown.
        let mixed = all.contains(&Gradients::Empty) && all.len() > 1;
        if mixed { Vec::new() } else { all }
    }

    fn set(&self, it: &mut Interp<'_>, id: ObjId, to: Option<Gradients>) {
        self.set_all(it, id, &to.map_or(Vec::new(), |to| vec![to]));
    }

    fn set_all(&self, it: &mut Interp<'_>, id: ObjId, to: &[Gradients]) {
        set_fates(it, GRADIENTS.of(id), to.iter().map(|g| [g.topic().into()].into()).collect());
    }

    pub(crate) fn pass(&self, it: &mut Interp<'_>, moment: &Moment, span: Span) {
        match moment {
            Moment::Backward { accumulates: true, .. } => {
                self.backward.set(Some(span));
                for id in self.all() {
                    let after = |before: Gradients| match before {
                        Gradients::Blank | Gradients::Empty | Gradients::Fresh => Gradients::Fresh,
                        Gradients::Used | Gradients::Mixed => Gradients::Mixed,
                    };
                    let to: Vec<Gradients> = self.fates(it, id).into_iter().map(after).collect();
                    self.set_all(it, id, &to);
                }
            }
            Moment::Backward { .. } => {}
            Moment::Step { optimizer, .. } => {
                self.forget_shared(it, *optimizer);
                if let Some(known) = self.known.borrow_mut().get_mut(optimizer) {
                    known.stepped = Some(span);
                }
                match self.known(*optimizer) {
                    // Without gradients, a step does nothing.
                    Some(_) if matches!(self.gradients(it, *optimizer), Some(Gradients::Blank | Gradients::Empty)) => {}
                    Some(_) => self.set(it, *optimizer, Some(Gradients::Used)),
                    // It is not known which optimizer this is; it may be one of the known ones.
                    None => self.forget_all(it),
                }
            }
            Moment::Zero { optimizer } => {
                self.forget_shared(it, *optimizer);
                match self.known(*optimizer) {
                    Some(_) => self.set(it, *optimizer, Some(Gradients::Empty)),
                    None => self.forget_all(it),
                }
            }
            Moment::Unclear => self.forget_all(it),
        }
    }

    /// Makes the states of other optimizers unknown if they may share parameters with this one,
    /// because a change of its gradients also affects theirs.
    fn forget_shared(&self, it: &mut Interp<'_>, optimizer: ObjId) {
        for id in self.sharing(it, optimizer) {
            self.set(it, id, None);
        }
    }

    /// The other optimizers that may share parameters with this one.
    pub(crate) fn sharing(&self, it: &Interp<'_>, optimizer: ObjId) -> Vec<ObjId> {
        let own = parameters(it, optimizer);
        let is_apart = |id: ObjId| match (&own, parameters(it, id)) {
            (Some(own), Some(other)) => other.iter().all(|p| !own.contains(p)),
            _ => false,
        };
        self.all().into_iter().filter(|id| *id != optimizer && !is_apart(*id)).collect()
    }

    fn forget_all(&self, it: &mut Interp<'_>) {
        for id in self.all() {
            self.set(it, id, None);
        }
    }

    /// Unseen code was called: it may have used the optimizers that escaped.
    pub(crate) fn unseen(&self, it: &mut Interp<'_>) {
        let escaped: Vec<ObjId> = self.known.borrow().iter().filter(|(_, k)| k.escaped).map(|(id, _)| *id).collect();
        for id in escaped {
            self.set(it, id, None);
        }
    }

    /// A value escapes to code that may step and clear the optimizers in it.
    pub(crate) fn escaped(&self, it: &mut Interp<'_>, value: &Value) {
        if self.known.borrow().is_empty() {
            return;
        }
        let mut reached = Vec::new();
        reach(it, value, OPTIMIZER, 4, &mut reached);
        for id in reached {
            if let Some(known) = self.known.borrow_mut().get_mut(&id) {
                known.escaped = true;
            }
            self.set(it, id, None);
        }
    }
}

/// The parameters of an optimizer, if all are known.
pub(crate) fn parameters(it: &Interp<'_>, optimizer: ObjId) -> Option<Vec<ObjId>> {
    let items = it.heap.exact_items(&it.heap.note(optimizer, PARAMETERS)?)?;
    items.iter().map(|p| p.as_obj().filter(|_| it.heap.is_tensor(p))).collect()
}

/// The instances of a class that are reachable from a value. The search follows the elements of
/// collections, the attributes of other instances, the objects of methods and the positional
/// arguments of a `partial`.
pub(crate) fn reach(it: &Interp<'_>, value: &Value, class: &str, depth: u32, out: &mut Vec<ObjId>) {
    if depth == 0 || out.len() > 100 {
        return;
    }
    match value {
        Value::Tuple(items) => items.iter().for_each(|item| reach(it, item, class, depth - 1, out)),
        Value::Bound(pair) => reach(it, &pair.0, class, depth, out),
        Value::Method(pair) => reach(it, &pair.0, class, depth, out),
        Value::Partial(partial) => partial.args.iter().for_each(|item| reach(it, item, class, depth - 1, out)),
        Value::Obj(id) => match it.heap.get(*id) {
            Data::Instance(_) if it.is_instance(value, class) => out.push(*id),
            Data::Instance(instance) => instance.attrs.values().for_each(|v| reach(it, v, class, depth - 1, out)),
            Data::List(items) => match items {
                crate::value::Items::Exact(all) => all.iter().for_each(|v| reach(it, v, class, depth - 1, out)),
                crate::value::Items::Many(one) => reach(it, one, class, depth - 1, out),
            },
            Data::Dict(dict) => {
                dict.entries.values().chain(&dict.open).for_each(|v| reach(it, v, class, depth - 1, out));
            }
            _ => {}
        },
        _ => {}
    }
}
