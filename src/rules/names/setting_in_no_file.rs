//! Settings that the code reads, but that no settings file of the project has.

use crate::diagnostic::Severity;
use crate::python::{meant, nearest};
use crate::rules::rule::{Findings, Rule, Setting, Source};
use crate::syntax::ast::visitor::{Visitor, walk_expr};
use crate::syntax::ast::{CmpOp, ExprContext};
use crate::syntax::{Expr, Ranged, TextRange};

const NAME: &str = "setting-in-no-file";

/// Names of variables and attributes that hold settings.
const ROOTS: &[&str] = &["config", "configs", "cfg", "conf", "opt", "opts", "hparams", "options", "settings"];

/// Libraries whose settings have defaults of their own.
const WITH_DEFAULTS: &[&str] = &["detectron2", "yacs", "mmcv", "mmengine", "fvcore", "import gin"];

#[derive(Default)]
pub(crate) struct SettingInNoFile;

impl Rule for SettingInNoFile {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if WITH_DEFAULTS.iter().any(|library| source.text.contains(library)) {
            return;
        }
        let mut reads = Reads::default();
        reads.visit_body(source.body);
        let Reads { all, tested } = reads;
        for read in &all {
            let Some((key, before)) = read.keys.split_last() else { continue };
            let parent = before.last().copied().unwrap_or_default();
            // Other keys, such as `"ocr.width"`, are not found in the files.
            let is_word = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
            if tested.contains(&parent) || !is_word {
                continue;
            }
            // Attributes of the whole object may be its methods.
            let Setting::Missing(known) = (source.setting)(parent, key) else { continue };
            if before.is_empty() && !read.is_subscript {
                continue;
            }
            let mut others: Vec<&str> =
                all.iter().filter(|other| other.parent() == Some(parent)).filter_map(Read::key).collect();
            others.sort_unstable();
            others.dedup();
            let present =
                others.iter().filter(|other| matches!((source.setting)(parent, other), Setting::Present)).count();
            let least = if before.is_empty() { 3 } else { 2 };
            if present < least || present < 2 * (others.len() - present) {
                continue;
            }
            let near = meant(nearest(key, known.into_iter()));
            let message = match parent {
                "" => format!(
                    "no settings file of the project has the key `{key}`, but they have the other keys that are read here{near}"
                ),
                _ => format!("no settings file of the project has the key `{key}` below `{parent}`{near}"),
            };
            findings.report(NAME, Severity::Warning, message, source.span(read.at), Vec::new());
        }
    }
}

/// A read of a setting: the keys after the root.
struct Read<'a> {
    keys: Vec<&'a str>,
    is_subscript: bool,
    at: TextRange,
}

impl<'a> Read<'a> {
    fn key(&self) -> Option<&'a str> {
        self.keys.last().copied()
    }

    /// The key before the last one; empty if there is none.
    fn parent(&self) -> Option<&'a str> {
        let (_, before) = self.keys.split_last()?;
        Some(before.last().copied().unwrap_or_default())
    }
}

#[derive(Default)]
struct Reads<'a> {
    all: Vec<Read<'a>>,
    /// The keys whose entries the code tests: `if "name" in config["model"]`.
    tested: Vec<&'a str>,
}

impl<'a> Visitor<'a> for Reads<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            // A method: `config["model"].get("name")`.
            Expr::Call(call) if call.func.is_attribute_expr() => {
                if let Expr::Attribute(method) = &*call.func {
                    if let Some(keys) = keys_of(&method.value) {
                        self.tested.extend(keys.last().copied().or(Some("")).filter(|_| method.attr.as_str() == "get"));
                    }
                    self.visit_expr(&method.value);
                }
                call.arguments.args.iter().for_each(|argument| self.visit_expr(argument));
                call.arguments.keywords.iter().for_each(|keyword| self.visit_expr(&keyword.value));
                return;
            }
            Expr::Compare(compare) if compare.ops.iter().any(|op| matches!(op, CmpOp::In | CmpOp::NotIn)) => {
                let tested = compare.comparators.iter().filter_map(keys_of);
                self.tested.extend(tested.map(|keys| keys.last().copied().unwrap_or_default()));
            }
            Expr::Attribute(_) | Expr::Subscript(_) => {
                let is_read = match expr {
                    Expr::Attribute(attribute) => attribute.ctx == ExprContext::Load,
                    Expr::Subscript(subscript) => subscript.ctx == ExprContext::Load,
                    _ => false,
                };
                if let Some(keys) = keys_of(expr).filter(|keys| is_read && !keys.is_empty()) {
                    self.all.push(Read { keys, is_subscript: expr.is_subscript_expr(), at: expr.range() });
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// The keys by which an expression reads settings: `config["train"].losses` gives `train` and `losses`. `None` if
/// the root is not named like an object with settings.
fn keys_of(expr: &Expr) -> Option<Vec<&str>> {
    let is_root = |name: &str| ROOTS.contains(&name);
    match expr {
        Expr::Name(name) => is_root(&name.id).then(Vec::new),
        Expr::Attribute(attribute) => {
            let is_self = attribute.value.as_name_expr().is_some_and(|object| object.id.as_str() == "self");
            if is_self {
                return is_root(&attribute.attr).then(Vec::new);
            }
            let mut keys = keys_of(&attribute.value)?;
            keys.push(&attribute.attr);
            Some(keys)
        }
        Expr::Subscript(subscript) => {
            let key = subscript.slice.as_string_literal_expr()?;
            let mut keys = keys_of(&subscript.value)?;
            keys.push(key.value.to_str());
            Some(keys)
        }
        _ => None,
    }
}
