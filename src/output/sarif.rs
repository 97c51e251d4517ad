//! SARIF 2.1.0, for GitHub code scanning and other readers.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Report, Where, url};
use crate::diagnostic::{Diagnostic, Fix, Label, Severity};
use crate::findings::identity::fingerprints;
use crate::syntax::Span;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const HOME: &str = "https://github.com/torchvet/torchvet";

/// One run. GitHub shows the message, the related locations and the help of the rule, and ignores
/// fixes and `kind`. GitHub matches results of different runs by the first of `partialFingerprints`
/// that it knows, otherwise by the text of the line. Notebooks have no lines of their own in SARIF:
/// the region is the first line of the file, and a logical location names the cell.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut rules: BTreeMap<&str, &Diagnostic> = BTreeMap::new();
    for diagnostic in report.diagnostics {
        rules.entry(&diagnostic.code).or_insert(diagnostic);
    }
    let codes: Vec<&str> = rules.keys().copied().collect();
    let prints = fingerprints(report.diagnostics, report.project, report.base);
    let results = report.diagnostics.iter().zip(prints).map(|(diagnostic, print)| {
        let index = codes.iter().position(|code| *code == diagnostic.code);
        result(report, diagnostic, index.unwrap_or_default(), &print)
    });
    let results: Vec<Value> = results.collect();
    let rules: Vec<Value> = rules.values().map(|diagnostic| rule(report, diagnostic)).collect();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "torchvet",
                "informationUri": HOME,
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn rule(report: &Report<'_>, diagnostic: &Diagnostic) -> Value {
    let mut rule = json!({ "id": diagnostic.code, "name": pascal_case(&diagnostic.name) });
    let Some(page) = report.rules.pages.iter().find(|page| page.code == diagnostic.code) else { return rule };
    let text = page.body();
    rule["shortDescription"] = json!({ "text": page.summary });
    rule["fullDescription"] = json!({ "text": page.summary });
    rule["help"] = json!({ "text": text, "markdown": text });
    rule["defaultConfiguration"] = json!({ "level": level(page.severity) });
    if let Some(url) = url(diagnostic) {
        rule["helpUri"] = json!(url);
    }
    rule
}

/// The name of a rule in SARIF: `ClassIndexOutOfRange` for `class-index-out-of-range`.
fn pascal_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    name.split('-').map(word).collect()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result(report: &Report<'_>, diagnostic: &Diagnostic, index: usize, fingerprint: &str) -> Value {
    let mut result = json!({
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": if diagnostic.is_refuted() { "note" } else { level(diagnostic.severity) },
        "message": { "text": diagnostic.message },
        "locations": [location(report, diagnostic.span, None)],
        "partialFingerprints": { "torchvet/v1": fingerprint },
    });
    if !diagnostic.labels.is_empty() {
        let related = diagnostic.labels.iter().zip(1..).map(|(label, id)| {
            let mut related = location(report, label.span, Some(&label.message));
            related["id"] = json!(id);
            related
        });
        result["relatedLocations"] = Value::Array(related.collect());
        // The steps are the facts in the order of their places (those in the file of the finding
        // come first), and then the finding itself.
        let mut labels: Vec<&Label> = diagnostic.labels.iter().collect();
        labels.sort_by_key(|label| (label.span.file != diagnostic.span.file, label.span.start));
        let steps = labels.into_iter().map(|label| (label.span, label.message.as_str()));
        let steps = steps.chain([(diagnostic.span, diagnostic.message.as_str())]);
        let steps = steps.map(|(span, text)| json!({ "location": location(report, span, Some(text)) }));
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps.collect::<Vec<_>>() }] }]);
    }
    // A replacement in a cell has no position in the file of its notebook.
    if let Some(fix) =
        diagnostic.fix.as_ref().filter(|fix| fix.edits.iter().all(|edit| !Where::of(edit.span, report).is_cell()))
    {
        result["fixes"] = json!([changes(report, fix)]);
    }
    result
}

fn location(report: &Report<'_>, span: Span, message: Option<&str>) -> Value {
    let place = Where::of(span, report);
    let mut location = json!({ "physicalLocation": {
        "artifactLocation": artifact(&place),
        "region": region(&place),
    }});
    if let Some(cell) = place.cell {
        location["logicalLocations"] = json!([{ "name": format!("cell {cell}"), "kind": "module" }]);
    }
    if let Some(text) = message {
        location["message"] = json!({ "text": text });
    }
    location
}

fn artifact(place: &Where) -> Value {
    let uri = escaped(&place.path);
    if place.path.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else if place.path.contains(':') {
        // `C:/…` on Windows.
        json!({ "uri": format!("file:///{uri}") })
    } else {
        json!({ "uri": uri, "uriBaseId": "%SRCROOT%" })
    }
}

/// A path as part of a URI.
fn escaped(path: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:@!$&'()*+,;=".contains(&byte);
    path.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn region(place: &Where) -> Value {
    if place.is_cell() {
        return json!({ "startLine": 1 });
    }
    json!({
        "startLine": place.first.0,
        "startColumn": place.first.1,
        "endLine": place.last.0,
        "endColumn": place.last.1,
    })
}

fn changes(report: &Report<'_>, fix: &Fix) -> Value {
    let mut files: Vec<(String, Value, Vec<Value>)> = Vec::new();
    for edit in &fix.edits {
        let place = Where::of(edit.span, report);
        let replacement = json!({
            "deletedRegion": region(&place),
            "insertedContent": { "text": edit.content },
        });
        match files.iter_mut().find(|(path, ..)| *path == place.path) {
            Some((.., replacements)) => replacements.push(replacement),
            None => files.push((place.path.clone(), artifact(&place), vec![replacement])),
        }
    }
    let changes = files
        .into_iter()
        .map(|(_, artifact, replacements)| json!({ "artifactLocation": artifact, "replacements": replacements }));
    json!({ "description": { "text": fix.title }, "artifactChanges": changes.collect::<Vec<_>>() })
}
