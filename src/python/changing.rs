//! Loops over a list that they change: each round reads what stands at its place by then.

use super::interp::Interp;
use super::stmt::Flow;
use crate::syntax::Expr;
use crate::syntax::ast::StmtFor;
use crate::value::{Data, Items, ObjId, Value};

/// So many rounds more than there were elements are run one by one.
const MORE: usize = 24;

impl<'p> Interp<'p> {
    /// The list that a loop goes over, where the program has a name for it.
    pub(super) fn changing(&self, iterable: &Value, stmt: &StmtFor) -> Option<ObjId> {
        let id = iterable.as_obj().filter(|id| matches!(self.heap.get(*id), Data::List(_)))?;
        matches!(&*stmt.iter, Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_)).then_some(id)
    }

    /// The places of a list of this length, and of some elements that it may get.
    pub(super) fn places(&self, length: usize) -> Vec<Value> {
        (0..length + MORE).map(super::containers::int).collect()
    }

    /// One round, if the list has an element for it.
    pub(super) fn round_at(
        &mut self,
        list: ObjId,
        place: &Value,
        last: usize,
        round: &dyn Fn(&mut Self, Value) -> Flow,
    ) -> Flow {
        let at = place.as_int().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
        let Data::List(items) = self.heap.get(list) else { return Flow::Next };
        match items {
            Items::Exact(items) => match items.get(at).cloned() {
                Some(value) => {
                    let longer = at == last && items.len() > at + 1;
                    let flow = round(self, value);
                    if !longer || flow == Flow::Stopped {
                        return flow;
                    }
                    // Of the rest neither the number nor the elements are known.
                    self.over_items(Items::Many(Value::Unknown), 0, &mut |it, value| round(it, value))
                }
                None => Flow::Next,
            },
            Items::Many(element) => {
                let element = element.clone();
                let mut run = |it: &mut Self| round(it, element.clone());
                self.perhaps(&mut run)
            }
        }
    }
}
