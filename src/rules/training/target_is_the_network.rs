//! A copy of a network that becomes the network itself: `target.load_state_dict(net.state_dict())` beside
//! `target = net`; or two names that are one module when the call runs: `Agent(net, net)`.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::{Ranged, Stmt, TextRange, assignment, is_method_call, path_of};
use crate::value::{ObjId, Value};

const NAME: &str = "target-is-the-network";

/// Words in the names of networks that lag behind another one. A wrapper of a network may also load its weights.
const COPIES: &[&str] = &["copy", "ema", "frozen", "momentum", "old", "prev", "shadow", "target", "teacher"];

#[derive(Default)]
pub(crate) struct TargetIsTheNetwork {
    /// The modules to which state dicts belong.
    states: RefCell<FxHashMap<ObjId, ObjId>>,
}

impl Rule for TargetIsTheNetwork {
    fn returned(&self, _: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        if path.as_str() == "torch.nn.Module.state_dict"
            && let (Some(state), Some(module)) = (result.as_obj(), bound.get("self").as_obj())
        {
            self.states.borrow_mut().insert(state, module);
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        if path.as_str() != "torch.nn.Module.load_state_dict" {
            return;
        }
        let state = bound.get("state_dict").as_obj();
        let module = state.and_then(|state| self.states.borrow().get(&state).copied());
        if module.is_none() || module != bound.get("self").as_obj() {
            return;
        }
        // `target.load_state_dict(net.state_dict())`
        let Some(text) = cx.source(cx.span) else { return };
        let Some((target, rest)) = text.split_once(".load_state_dict(") else { return };
        let Some((network, "")) = rest.rsplit_once(".state_dict())") else { return };
        let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        let is_copy = has_word(&target.split('.').collect::<Vec<_>>(), COPIES);
        // The assignment is reported.
        let is_assigned = || cx.it.file_contains(&format!("{target} = {network}"));
        if target != network && is_name(target) && is_name(network) && is_copy && !is_assigned() {
            let message = format!("`{target}` and `{network}` are one module here: they always change together");
            cx.findings.report(NAME, Severity::Warning, message, cx.span, Vec::new());
        }
    }

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
