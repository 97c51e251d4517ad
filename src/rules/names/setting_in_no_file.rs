//! Settings that the code reads, but that no settings file of the project has.

use crate::diagnostic::Severity;
use crate::python::{meant, nearest};
use crate::rules::rule::{Findings, Rule, Setting, Source};
use crate::syntax::ast::visitor::{Visitor, walk_expr};
use crate::syntax::ast::{CmpOp, ExprContext};
use crate::syntax::{Expr, Ranged, TextRange, keyed};

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
        for read in &reads.all {
            let Read { parent, key, .. } = *read;
            let is_top = parent.is_empty();
            // Other keys, such as `"ocr.width"`, are not found in the files, and attributes of the whole object
            // may be its methods.
            let is_word = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
            if reads.tested.contains(&parent) || !is_word || is_top && !read.is_subscript {
                continue;
            }
            let mut others: Vec<&str> =
                reads.all.iter().filter(|other| other.parent == parent).map(|other| other.key).collect();
            others.sort_unstable();
            others.dedup();
            // The project reads its settings files at the first question.
            let least = if is_top { 3 } else { 2 };
            if others.len() <= least {
                continue;
            }
            let Setting::Missing(known) = (source.setting)(parent, key) else { continue };
            let is_present = |other: &&&str| matches!((source.setting)(parent, other), Setting::Present);
            let present = others.iter().filter(is_present).count();
            if present < least || present < 2 * (others.len() - present) {
                continue;
            }
            let near = meant(nearest(key, known.into_iter()));
            let place = match is_top {
                true => ", but they have the other keys that are read here".to_owned(),
                false => format!(" below `{parent}`"),
            };
            let message = format!("no settings file of the project has the key `{key}`{place}{near}");
            findings.report(NAME, Severity::Warning, message, source.span(read.at), Vec::new());
        }
    }
}

/// A read of a setting.
struct Read<'a> {
    /// The key before the last one; empty if there is none.
    parent: &'a str,
    key: &'a str,
    is_subscript: bool,
    at: TextRange,
}

#[derive(Default)]
struct Reads<'a> {
    all: Vec<Read<'a>>,
    /// The keys whose entries the code tests: `if "name" in config["model"]`.
    tested: Vec<&'a str>,
}

impl<'a> Reads<'a> {
    /// Records that the code tests whether an object has entries, if the object holds settings.
    fn tests(&mut self, holder: &'a Expr) {
        self.tested.extend(keys_of(holder).map(|keys| keys.last().copied().unwrap_or_default()));
    }
}

impl<'a> Visitor<'a> for Reads<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            // A method: `config["model"].get("name")`.
            Expr::Call(call) if let Expr::Attribute(method) = &*call.func => {
                if method.attr.as_str() == "get" {
                    self.tests(&method.value);
                }
                self.visit_expr(&method.value);
                return self.visit_arguments(&call.arguments);
            }
            Expr::Compare(compare) if compare.ops.iter().any(|op| matches!(op, CmpOp::In | CmpOp::NotIn)) => {
                compare.comparators.iter().for_each(|holder| self.tests(holder));
            }
            Expr::Attribute(_) | Expr::Subscript(_) => {
                let is_read = match expr {
                    Expr::Attribute(attribute) => attribute.ctx == ExprContext::Load,
                    Expr::Subscript(subscript) => subscript.ctx == ExprContext::Load,
                    _ => false,
                };
                if let Some((key, before)) = keys_of(expr).filter(|_| is_read).as_deref().and_then(<[_]>::split_last) {
                    let parent = before.last().copied().unwrap_or_default();
                    self.all.push(Read { parent, key, is_subscript: expr.is_subscript_expr(), at: expr.range() });
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
        expr => {
            let (object, key) = keyed(expr)?;
            let mut keys = keys_of(object)?;
            keys.push(key);
            Some(keys)
        }
    }
}
