//! Attributes of the parsed command line for which no file of the program defines an option: `args.beta_scheduler`,
//! if the option is `--beta_schedule`.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::Severity;
use crate::python::{meant, nearest};
use crate::rules::rule::{Findings, Rule, Setting, Source};
use crate::rules::words::COMMAND_LINES;
use crate::syntax::{Expr, Ranged, TextRange, calls, expressions, path_of};

const NAME: &str = "option-never-defined";

/// The least number of other attributes that are options.
const LEAST: usize = 3;

#[derive(Default)]
pub(crate) struct OptionNeverDefined;

impl Rule for OptionNeverDefined {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !COMMAND_LINES.iter().any(|root| source.text.contains(&format!("{root}."))) {
            return;
        }
        let reads = reads(source);
        for root in COMMAND_LINES {
            let Some(attributes) = reads.get(root).filter(|attributes| attributes.len() > LEAST) else { continue };
            let mut defined = 0;
            let mut missing: Vec<(TextRange, &str, Vec<&str>)> = Vec::new();
            for (name, at) in attributes {
                match (source.option)(root, name) {
                    Setting::Present => defined += 1,
                    Setting::Missing(known) => missing.push((*at, name, known)),
                    Setting::Unknown => {}
                }
            }
            // If many attributes are no options, the variable is something else.
            if defined < LEAST * missing.len().max(1) {
                continue;
            }
            missing.sort_by_key(|(at, ..)| at.start());
            for (at, name, known) in missing {
                // Code of other projects may read the settings of a checkpoint in `self.args`.
                let near = meant(nearest(name, known.into_iter()));
                let is_own = source.text.get(at.to_std_range()).is_some_and(|text| text.starts_with("self."));
                if is_own && near.is_empty() {
                    continue;
                }
                let message = format!("no parser of the program defines the option `{name}`{near}");
                findings.report(NAME, Severity::Warning, message, source.span(at), Vec::new());
            }
        }
    }
}

/// For each root, the attributes that the file reads, with the first place. Attributes that are called, and those
/// whose presence the file tests, are left out.
fn reads<'a>(source: &Source<'a>) -> FxHashMap<&'a str, FxHashMap<&'a str, TextRange>> {
    let tested: FxHashSet<&str> = (source.body.iter().flat_map(calls))
        .filter(|call| matches!(path_of(&call.func).as_slice(), ["hasattr" | "getattr"]))
        .filter_map(|call| Some(call.arguments.args.get(1)?.as_string_literal_expr()?.value.to_str()))
        .collect();
    let called: FxHashSet<TextRange> = source.body.iter().flat_map(calls).map(|call| call.func.range()).collect();
    let mut found: FxHashMap<&str, FxHashMap<&str, TextRange>> = FxHashMap::default();
    for attribute in source.body.iter().flat_map(expressions).filter_map(Expr::as_attribute_expr) {
        let name = attribute.attr.as_str();
        let root = match path_of(&attribute.value).as_slice() {
            [root] | ["self", root] => *root,
            _ => continue,
        };
        let is_read = attribute.ctx.is_load() && !called.contains(&attribute.range());
        if is_read && COMMAND_LINES.contains(&root) && !name.starts_with('_') && !tested.contains(name) {
            let at = found.entry(root).or_default().entry(name).or_insert(attribute.range());
            if attribute.range().start() < at.start() {
                *at = attribute.range();
            }
        }
    }
    found
}
