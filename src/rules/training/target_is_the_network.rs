//! A copy of a network that becomes the network itself: `target.load_state_dict(net.state_dict())` beside
//! `target = net`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::{Ranged, Stmt, TextRange, assignment, is_method_call, path_of};

const NAME: &str = "target-is-the-network";

#[derive(Default)]
pub(crate) struct TargetIsTheNetwork;

impl Rule for TargetIsTheNetwork {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains(".load_state_dict(") {
            return;
        }
        for block in source.blocks() {
            for (target, network, copy) in block.iter().filter_map(copied) {
                let alias = block
                    .iter()
                    .filter_map(assignment)
                    .find(|(to, value)| path_of(to) == target && path_of(value) == network);
                let Some((to, value)) = alias else { continue };
                let (target, network) = (target.join("."), network.join("."));
                let message =
                    format!("`{target}` becomes `{network}` itself, not a copy: from here on, both change together");
                let label = Label { span: source.span(copy), message: "this copies the weights".to_owned() };
                let span = source.span(TextRange::new(to.start(), value.end()));
                findings.report(NAME, Severity::Warning, message, span, vec![label]);
            }
        }
    }
}

/// The two networks in `target.load_state_dict(network.state_dict())`.
fn copied(stmt: &Stmt) -> Option<(Vec<&str>, Vec<&str>, TextRange)> {
    let load = stmt.as_expr_stmt()?.value.as_call_expr().filter(|call| is_method_call(call, "load_state_dict"))?;
    let state = load.arguments.args.first()?.as_call_expr().filter(|call| is_method_call(call, "state_dict"))?;
    let object = |func| {
        let mut path = path_of(func);
        path.pop();
        (!path.is_empty()).then_some(path)
    };
    let (target, network) = (object(&*load.func)?, object(&*state.func)?);
    (target != network).then_some((target, network, load.range()))
}
