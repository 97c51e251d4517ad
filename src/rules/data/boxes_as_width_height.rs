//! Boxes with width and height in the target of a detection model, which expects two corners:
//! `boxes.append([x, y, w, h])`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::words;
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, called, calls, entry, expressions, keyed, path_of, statements};

const NAME: &str = "boxes-as-width-height";

/// Further keys of a target of torchvision's detection models, besides `boxes` and `labels`.
const OF_TARGETS: &[&str] = &["image_id", "iscrowd", "area", "masks"];

/// Texts of code that converts boxes.
const CONVERSIONS: &[&str] = &["box_convert", "xyxy", "BoundingBox", "BboxParams", "BoxMode"];

#[derive(Default)]
pub(crate) struct BoxesAsWidthHeight;

impl Rule for BoxesAsWidthHeight {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("boxes") || source.contains_any(CONVERSIONS) {
            return;
        }
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let Some(boxes) = boxes_of_target(def) else { continue };
            if is_converted(def, boxes) {
                continue;
            }
            for element in def.body.iter().flat_map(calls).filter_map(|call| appended(call, boxes)) {
                if is_of_coco(element) || has_width(element) {
                    let message = format!(
                        "`{boxes}` holds the width and the height of each box, but the model expects two corners, \
                         `[x1, y1, x2, y2]`"
                    );
                    findings.report(NAME, Severity::Warning, message, source.span(element.range()), Vec::new());
                }
            }
        }
    }
}

/// The name of the boxes in the dictionary that a function makes for a detection model.
fn boxes_of_target(def: &StmtFunctionDef) -> Option<&str> {
    let mut dicts = def.body.iter().flat_map(expressions).filter_map(Expr::as_dict_expr);
    let of_dict = dicts.find_map(|dict| {
        let is_target = entry(dict, "labels").is_some() && OF_TARGETS.iter().any(|key| entry(dict, key).is_some());
        entry(dict, "boxes").filter(|_| is_target)
    });
    let stored = |key: &str| {
        statements(&def.body, false).into_iter().filter_map(Stmt::as_assign_stmt).find_map(|assign| {
            let [target] = &*assign.targets else { return None };
            keyed(target).filter(|(_, name)| *name == key).map(|_| &*assign.value)
        })
    };
    let is_target = || stored("labels").is_some() && OF_TARGETS.iter().any(|key| stored(key).is_some());
    let value = of_dict.or_else(|| stored("boxes").filter(|_| is_target()))?;
    // `torch.as_tensor(boxes, dtype=torch.float32)`
    let inner = value.as_call_expr().and_then(|call| call.arguments.args.first()).unwrap_or(value);
    inner.as_name_expr().map(|name| name.id.as_str())
}

/// Whether a function changes the boxes, other than by making a tensor of them.
fn is_converted(def: &StmtFunctionDef, boxes: &str) -> bool {
    statements(&def.body, false).into_iter().any(|stmt| match stmt {
        Stmt::AugAssign(change) => path_of(root(&change.target)) == [boxes],
        Stmt::Assign(assign) => assign.targets.iter().any(|target| match target {
            Expr::Subscript(_) => path_of(root(target)) == [boxes],
            Expr::Name(name) if name.id.as_str() == boxes => !is_kept(&assign.value, boxes),
            _ => false,
        }),
        _ => false,
    })
}

/// Whether an expression is an empty list, or a tensor of the boxes as they are.
fn is_kept(value: &Expr, boxes: &str) -> bool {
    match value {
        Expr::List(list) => list.elts.is_empty(),
        Expr::Call(call) => {
            let of_boxes = call.arguments.args.first().is_some_and(|first| path_of(first) == [boxes]);
            let keeps = |name| matches!(name, "as_tensor" | "tensor" | "FloatTensor" | "Tensor" | "array" | "asarray");
            of_boxes && called(call).is_some_and(keeps)
        }
        _ => false,
    }
}

fn root(expr: &Expr) -> &Expr {
    match expr {
        Expr::Subscript(subscript) => root(&subscript.value),
        _ => expr,
    }
}

/// The element in `boxes.append(element)`.
fn appended<'a>(call: &'a ExprCall, boxes: &str) -> Option<&'a Expr> {
    let is_append = path_of(&call.func) == [boxes, "append"];
    call.arguments.args.first().filter(|_| is_append)
}

/// Whether an element is the box of a COCO annotation: `annotation["bbox"]`.
fn is_of_coco(element: &Expr) -> bool {
    keyed(element).is_some_and(|(_, key)| key == "bbox")
}

/// Whether an element has four names, the last of which are a width and a height.
fn has_width(element: &Expr) -> bool {
    let elements = match element {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        _ => return false,
    };
    let [_, _, width, height] = elements.as_slice() else { return false };
    let is_named = |expr: &Expr, wanted: &[&str]| {
        let path = path_of(expr);
        path.last().is_some_and(|name| words(name).last().is_some_and(|word| wanted.contains(&word.as_str())))
    };
    is_named(width, &["w", "width", "bw"]) && is_named(height, &["h", "height", "bh"])
}
