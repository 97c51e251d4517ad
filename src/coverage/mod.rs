//! What torchvet knows about a program, and what would make it know more: the figures of
//! `torchvet coverage`.

mod definitions;
mod origin;

use rustc_hash::{FxHashMap, FxHashSet};

use self::origin::Origins;
pub(crate) use self::origin::{Kind, Origin};
use crate::analysis::{CheckedCall, FactEntry, Known};
use crate::contract::Conditions;
use crate::project::Project;
use crate::syntax::ast::visitor::{Visitor, walk_expr};
use crate::syntax::{Expr, FileId, Ranged, Span};

/// Counts of the values and conditions of some files.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    /// Assignments of tensors with known rank, dtype and device, and of arrays with known rank and
    /// dtype.
    pub known: usize,
    /// Assignments of other tensors and arrays.
    pub part: usize,
    /// Assignments of values about which nothing is known.
    pub unknown: usize,
    /// Calls that contracts check.
    pub calls: usize,
    /// The conditions of these contracts.
    pub conditions: Conditions,
}

impl Figures {
    fn add(&mut self, other: &Figures) {
        let Figures { known, part, unknown, calls, conditions } = other;
        self.known += known;
        self.part += part;
        self.unknown += unknown;
        self.calls += calls;
        self.conditions.add(*conditions);
    }

    /// The assignments that are, or may be, tensors.
    pub(crate) fn tensors(&self) -> usize {
        self.known + self.part + self.unknown
    }
}

/// What is unknown because of one origin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Blocked {
    /// Undecided conditions of contracts.
    pub conditions: usize,
    /// Assignments of values that are not known completely.
    pub assignments: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Coverage {
    pub total: Figures,
    /// The figures of each file, in the order of the files.
    pub files: Vec<(FileId, Figures)>,
    /// The origins of unknown values, the one that blocks most first.
    pub origins: Vec<(Origin, Blocked)>,
    /// What is unknown for a reason that the syntax does not show.
    pub others: Blocked,
}

/// The coverage of these files. `facts` and `calls` may be about other files, too.
pub(crate) fn coverage(project: &Project, files: &[FileId], facts: &[FactEntry], calls: &[CheckedCall]) -> Coverage {
    let mut result = Coverage::default();
    let mut blocked: FxHashMap<Origin, Blocked> = FxHashMap::default();
    let mut facts_of: FxHashMap<FileId, Vec<&FactEntry>> = FxHashMap::default();
    let mut calls_of: FxHashMap<FileId, Vec<&CheckedCall>> = FxHashMap::default();
    for fact in facts {
        facts_of.entry(fact.span.file).or_default().push(fact);
    }
    for call in calls {
        calls_of.entry(call.span.file).or_default().push(call);
    }
    for &id in files {
        let file = project.file(id);
        let origins = Origins::new(file);
        let mut figures = Figures::default();
        let mut block = |origin: Option<Origin>, more: Blocked| {
            let entry = match origin {
                Some(origin) => blocked.entry(origin).or_default(),
                None => &mut result.others,
            };
            entry.conditions += more.conditions;
            entry.assignments += more.assignments;
        };
        for fact in facts_of.get(&id).into_iter().flatten() {
            match fact.known {
                Known::Other => continue,
                Known::Tensor => {
                    figures.known += 1;
                    continue;
                }
                Known::Part => figures.part += 1,
                Known::Nothing => figures.unknown += 1,
            }
            let origin = origins.of_assigned(&fact.name, fact.span.start);
            block(origin, Blocked { assignments: 1, conditions: 0 });
        }
        let calls = calls_of.remove(&id).unwrap_or_default();
        let wanted = calls.iter().flat_map(|call| &call.unknown).map(|span| (span.start, span.end)).collect();
        let mut arguments = Arguments { wanted, found: FxHashMap::default() };
        if !arguments.wanted.is_empty() {
            arguments.visit_body(&file.parsed().module.body);
        }
        for call in calls {
            figures.calls += 1;
            figures.conditions.add(call.conditions);
            if call.conditions.undecided > 0 {
                let expr = |span: &Span| arguments.found.get(&(span.start, span.end));
                let origin = call.unknown.iter().filter_map(expr).find_map(|expr| origins.of_expr(expr));
                block(origin, Blocked { assignments: 0, conditions: call.conditions.undecided });
            }
        }
        result.total.add(&figures);
        result.files.push((id, figures));
    }
    result.origins = blocked.into_iter().collect();
    let weight = |blocked: &Blocked| blocked.conditions + blocked.assignments;
    let place = |origin: &Origin| (project.file(origin.span.file).path.clone(), origin.span.start);
    result.origins.sort_by(|(a, x), (b, y)| weight(y).cmp(&weight(x)).then_with(|| place(a).cmp(&place(b))));
    result
}

/// Finds the expressions at these places.
struct Arguments<'p> {
    wanted: FxHashSet<(u32, u32)>,
    found: FxHashMap<(u32, u32), &'p Expr>,
}

impl<'p> Visitor<'p> for Arguments<'p> {
    fn visit_expr(&mut self, expr: &'p Expr) {
        let place = (expr.start().to_u32(), expr.end().to_u32());
        if self.wanted.contains(&place) {
            self.found.insert(place, expr);
        }
        walk_expr(self, expr);
    }
}
