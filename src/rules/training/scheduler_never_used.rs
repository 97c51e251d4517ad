//! A learning rate scheduler that nothing uses: `scheduler = StepLR(optimizer, 10)`, without `scheduler.step()`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::places;
use crate::syntax::{Ranged, assignment, called};

const NAME: &str = "scheduler-never-used";

/// Schedulers that do nothing until their `step`. Those with a warm-up set the first learning rate.
const SCHEDULERS: &[&str] = &[
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "MultiStepLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "StepLR",
];

#[derive(Default)]
pub(crate) struct SchedulerNeverUsed;

impl Rule for SchedulerNeverUsed {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("lr_scheduler") {
            return;
        }
        for (target, value) in source.statements.iter().filter_map(|stmt| assignment(stmt)) {
            let Some(class) = value.as_call_expr().and_then(called).filter(|name| SCHEDULERS.contains(name)) else {
                continue;
            };
            let Some(name) = target.as_name_expr().map(|name| name.id.as_str()) else { continue };
            let trains = source.text.contains(".backward(") || source.text.contains("train");
            if trains && !name.starts_with('_') && uses(source.text, name) == 1 {
                let message = format!("`{name}` is never used: without its `step`, this `{class}` changes nothing");
                findings.report(NAME, Severity::Warning, message, source.span(target.range()), Vec::new());
            }
        }
    }
}

/// How often a text contains a name as a whole word. Comments count only if they contain code, such as a use that is
/// switched off.
fn uses(text: &str, name: &str) -> usize {
    let count = |line: &str| {
        let is_comment = line.trim_start().starts_with('#');
        let is_use = |at: &usize| {
            let before = line.get(..*at).and_then(|before| before.chars().next_back());
            let after = line.get(*at + name.len()..).and_then(|after| after.chars().next());
            let is_code = after.is_some_and(|c| ".,)".contains(c)) || before.is_some_and(|c| "(=".contains(c));
            is_code || !is_comment
        };
        places(line, name).filter(is_use).count()
    };
    text.lines().map(count).sum()
}
