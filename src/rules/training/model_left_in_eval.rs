//! A model that is put into evaluation mode in one iteration of a loop, and trained in this mode in
//! the next iteration.
//!
//! Layers that are frozen in evaluation mode on purpose are in that mode from the first iteration
//! on. So the rule reports models that were trained in training mode before, or that were put into
//! training mode as a whole, then into evaluation mode as a whole, and then evaluated.
//!
//! Many training programs cannot be analysed that far, because their models come from unseen code. For these,
//! the rule searches the text for a loop that computes gradients and then calls a function of the same file
//! that calls `eval()`, although `train()` is called only before the loop. Both kinds of findings are at the
//! `eval()`, so that one mistake is reported once. If the function is in another file, the finding is at its call.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Interp};
use crate::rules::notes::is_without_gradients;
use crate::rules::rule::{Call, Context, Findings, ImportedFunction, Rule, Source};
use crate::rules::trace::{Moment, fates, parameters, reach, set_fates};
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{
    Expr, Ranged, Span, Stmt, blocks, called, callee_or_itself, calls, is_method_call, path_of, statements,
};
use crate::value::{ObjId, State, Sym, Topic, Value};

const NAME: &str = "model-left-in-eval";

/// Layers whose result depends on the mode.
const LAYERS: &[&str] =
    &["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d"];

/// torchvision models with batch norm.
const NORMED: &[&str] = &[
    "resnet.ResNet",
    "densenet.DenseNet",
    "mobilenetv2.MobileNetV2",
    "mobilenetv3.MobileNetV3",
    "mnasnet.MNASNet",
    "efficientnet.EfficientNet",
    "googlenet.GoogLeNet",
    "inception.Inception3",
    "shufflenetv2.ShuffleNetV2",
];

/// A layer whose result depends on the mode, and the mode in which it is called.
pub(crate) struct Mode {
    pub class: &'static str,
    pub layer: ObjId,
    pub training: Option<bool>,
}

/// For a call of `forward`: the layer and its mode, if the result depends on the mode.
pub(crate) fn mode_of(it: &Interp<'_>, path: Sym, bound: &Bound) -> Option<Mode> {
    let class = match path.as_str().strip_suffix(".forward")?.strip_prefix("torch")?.strip_prefix("vision.models.") {
        Some(model) => NORMED.contains(&model).then_some("BatchNorm2d")?,
        None => {
            let class = path.as_str().strip_prefix("torch.nn.")?.strip_suffix(".forward")?;
            LAYERS.iter().find(|layer| **layer == class)?
        }
    };
    let layer = bound.get("self").as_obj()?;
    // Without running statistics, a normalisation uses the batch in both modes.
    if it.heap.attr(layer, "track_running_stats").and_then(|tracks| tracks.as_bool()) == Some(false) {
        return None;
    }
    let training = it.heap.attr(layer, "training")?.as_bool();
    Some(Mode { class, layer, training })
}

#[derive(Default)]
pub(crate) struct ModelLeftInEval {
    /// For each result that depends on the mode of a layer: the layer and its mode.
    outputs: RefCell<FxHashMap<ObjId, (ObjId, Option<bool>)>>,
    /// The layers in the graph of the last `backward()`, and their modes.
    last: RefCell<Vec<(ObjId, Option<bool>)>>,
    /// The leaves whose gradients the last `backward()` computed.
    leaves: RefCell<Vec<ObjId>>,
    /// For each layer and each step, the mode in which the layer was trained in the first iteration
    /// of a loop. The modes for two steps may differ on purpose: for example, a GAN's discriminator
    /// is trained on the results of a generator in evaluation mode.
    trained: RefCell<FxHashMap<(ObjId, Span), bool>>,
    /// The place of the last `eval()`.
    eval: RefCell<Option<Span>>,
    /// For each layer, the `eval()` of a model that had been put into training mode as a whole, and
    /// the loops around this call.
    left: RefCell<FxHashMap<ObjId, (Span, Vec<u32>)>>,
}

/// A state of a layer: `train()` was called for the whole model (the subject of the note).
const TRAINED: Topic = Topic::new("train()");
/// A state of a layer: after [`TRAINED`], `eval()` was called for the same model in a loop.
const LEFT: Topic = Topic::new("left in eval()");
/// A state of a layer: after [`LEFT`], the layer ran in evaluation mode without gradients.
const EVALUATED: Topic = Topic::new("evaluated");
/// A state of a layer: `eval()` was called, but not as described for [`LEFT`].
const EVAL: Topic = Topic::new("eval()");
/// The note that stores the state of a layer.
const MODE: Topic = Topic::new("mode");

impl Rule for ModelLeftInEval {
    const LATER_ROUNDS: bool = true;

    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if ![".train(", ".backward("].iter().all(|text| source.text.contains(text)) {
            return;
        }
        let functions = Functions::of(source);
        for Left { train, eval, called } in source.blocks().flat_map(|block| functions.left_in(block)) {
            let message = "from the second iteration of the training loop on, the model stays in evaluation mode while \
                           it is trained";
            let message = match called {
                Some(name) => format!("{message}: `{name}` calls `eval()`"),
                None => message.to_owned(),
            };
            let what = "`train()` is called only here, before the loop".to_owned();
            let labels = vec![Label { span: source.span(train.range()), message: what }];
            findings.report(NAME, Severity::Warning, message, source.span(eval.range()), labels);
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &mut *cx.it;
        let span = cx.span;
        let on = match path.as_str() {
            "torch.nn.Module.eval" => Some(false),
            "torch.nn.Module.train" => bound.get("mode").as_bool(),
            _ => return,
        };
        if path.as_str() == "torch.nn.Module.eval" {
            *self.eval.borrow_mut() = Some(span);
        }
        let Some(model) = bound.get("self").as_obj().filter(|_| !it.speculative()) else { return };
        let mut layers = Vec::new();
        for class in LAYERS {
            reach(it, &Value::Obj(model), &format!("torch.nn.{class}"), 8, &mut layers);
        }
        let trained = TRAINED.of(model);
        for layer in layers {
            let mode = MODE.of(layer);
            let before = fates(it, mode);
            let after = match on {
                Some(true) => vec![[trained].into()],
                Some(false) if before.iter().any(|fate| **fate == [trained]) && it.in_loop() => {
                    self.left.borrow_mut().insert(layer, (span, runs(it)));
                    vec![[LEFT.into()].into()]
                }
                Some(false) if before.iter().any(|fate| is(fate, LEFT) || is(fate, EVALUATED)) => continue,
                Some(false) => vec![[EVAL.into()].into()],
                None => Vec::new(),
            };
            set_fates(it, mode, after);
        }
    }

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let it = &mut *cx.it;
        if let (Some(Mode { layer, training, .. }), Some(output)) = (mode_of(it, path, bound), result.as_obj()) {
            self.outputs.borrow_mut().insert(output, (layer, training));
            if training == Some(false)
                && is_without_gradients(it)
                && matches!(fates(it, MODE.of(layer)).as_slice(), [only] if is(only, LEFT))
            {
                set_fates(it, MODE.of(layer), vec![[EVALUATED.into()].into()]);
            }
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        match moment {
            Moment::Backward { loss, accumulates: true, .. } => {
                let outputs = self.outputs.borrow();
                let layers = trace.graph.attached(it, loss).into_iter().filter_map(|id| outputs.get(&id).copied());
                *self.last.borrow_mut() = layers.collect();
                *self.leaves.borrow_mut() = trace.graph.leaves(it, loss);
            }
            Moment::Step { optimizer, .. } if !it.speculative() => {
                // The step may use the gradients of another loss, or those of its closure.
                let leaves = self.leaves.borrow();
                let is_other = |held: Vec<ObjId>| !leaves.is_empty() && !held.iter().any(|id| leaves.contains(id));
                if parameters(it, *optimizer).is_some_and(is_other) {
                    return;
                }
                for (layer, training) in &*self.last.borrow() {
                    if fates(it, MODE.of(*layer)).iter().any(|fate| is(fate, EVALUATED)) {
                        let left = self.left.borrow().get(layer).cloned();
                        let Some((eval, around)) = left else { return };
                        // After the loop that called `eval()`, evaluation mode may be intended.
                        if !runs(it).iter().any(|run| around.contains(run)) {
                            continue;
                        }
                        let message = "the model stays in evaluation mode while it is trained";
                        let what = "it is trained here, without dropout or batch statistics".to_owned();
                        let labels = vec![Label { span, message: what }];
                        cx.findings.report(NAME, Severity::Error, message, eval, labels);
                        return;
                    }
                    let Some(training) = training else { continue };
                    let before = self.trained.borrow().get(&(*layer, span)).copied();
                    if before.is_none() || !it.later_round() {
                        self.trained.borrow_mut().insert((*layer, span), *training);
                    // The model may be put back after its call.
                    } else if before == Some(true) && !training && mode(it, *layer) == Some(false) {
                        let Some(eval) = *self.eval.borrow() else { return };
                        let message = "from the next iteration on, the model stays in evaluation mode while it is \
                            trained";
                        let what = "it is trained here, without dropout or batch statistics".to_owned();
                        let labels = vec![Label { span, message: what }];
                        cx.findings.report(NAME, Severity::Error, message, eval, labels);
                        return;
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether a layer is in training mode now.
fn mode(it: &Interp<'_>, layer: ObjId) -> Option<bool> {
    it.heap.attr(layer, "training")?.as_bool()
}

/// The loops that are running at this point.
fn runs(it: &Interp<'_>) -> Vec<u32> {
    it.rounds().iter().map(|rounds| rounds.run).collect()
}

fn is(state: &State, topic: Topic) -> bool {
    **state == [topic.into()]
}

/// A call of `model.train()` before a loop, and a call of `model.eval()` in a function that the loop calls.
struct Left<'a> {
    train: &'a ExprCall,
    /// If the function is in another file: its call.
    eval: &'a ExprCall,
    /// The name of a function in another file.
    called: Option<&'a str>,
}

/// All functions of a file. Several functions may have the same name: any of them may be the one that is
/// called.
struct Functions<'a> {
    all: Vec<&'a StmtFunctionDef>,
    text: &'a str,
    imported: ImportedFunction<'a>,
}

impl<'a> Functions<'a> {
    fn of(source: &Source<'a>) -> Self {
        let all = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()).collect();
        Functions { all, text: source.text, imported: source.function }
    }

    fn named(&self, name: &str) -> Vec<&'a StmtFunctionDef> {
        self.all.iter().copied().filter(|def| def.name.as_str() == name).collect()
    }

    /// The models that a loop leaves in evaluation mode, if the block puts them into training mode only
    /// before the loop.
    fn left_in(&self, block: &'a [Stmt]) -> Vec<Left<'a>> {
        let mut found = Vec::new();
        for (at, stmt) in block.iter().enumerate() {
            let Some(train) = puts_into_training_mode(stmt) else { continue };
            let mut model = path_of(&train.func);
            model.pop();
            if matches!(model.as_slice(), [] | ["self"]) {
                continue;
            }
            let later = block.get(at + 1..).unwrap_or_default();
            let mut loops = later.iter().filter(|stmt| matches!(stmt, Stmt::For(_) | Stmt::While(_)));
            let eval = loops.find_map(|outer| self.evaluated_in(outer, &model));
            found.extend(eval.map(|(eval, called)| Left { train, eval, called }));
        }
        found
    }

    /// The `eval()` of a function that the loop calls after `backward()`, if nothing in the loop may set the mode
    /// again. For a function of another file: its call and its name.
    fn evaluated_in(&self, outer: &'a Stmt, model: &[&'a str]) -> Option<(&'a ExprCall, Option<&'a str>)> {
        let all = calls(outer);
        let first = all.iter().filter(|call| is_method_call(call, "backward")).map(|call| call.start()).min()?;
        if all.iter().any(|call| self.may_train(call, model, CALLS)) {
            return None;
        }
        all.iter().copied().filter(|call| call.start() > first && !leaves_loop(outer, call)).find_map(|call| {
            let own = self.own(call);
            let def = own.or_else(|| self.imported(call).filter(|_| gives(call, model)))?;
            let object = object_in(def, call, model)?;
            let is_plain = def.decorator_list.iter().all(|one| is_without_gradient(&one.expression));
            let eval = def.body.iter().find_map(|stmt| evaluates(stmt, &object)).filter(|_| is_plain)?;
            Some(if own.is_some() { (eval, None) } else { (call, Some(def.name.as_str())) })
        })
    }

    /// The function of another file that a call runs, if no function of this file has its name.
    fn imported(&self, call: &ExprCall) -> Option<&'a StmtFunctionDef> {
        let path = path_of(&call.func);
        let name = path.last()?;
        if self.named(name).is_empty() { (self.imported)(&path) } else { None }
    }

    /// Whether a function of another file that gets the model may put it into training mode: it calls one of
    /// [`MODES`], or passes the model on.
    fn may_train_in(def: &StmtFunctionDef, object: &[&str]) -> bool {
        def.body.iter().flat_map(calls).any(|call| {
            let Some(name) = called(call) else { return false };
            let is_harmless = HARMLESS.iter().any(|part| name.contains(part));
            MODES.contains(&name) || !is_harmless && gives(call, object)
        })
    }

    /// The function that `evaluate(…)` or `self.evaluate(…)` calls, if this file contains exactly one of this
    /// name.
    fn own(&self, call: &ExprCall) -> Option<&'a StmtFunctionDef> {
        let path = path_of(&call.func);
        let ([name] | ["self", name]) = path.as_slice() else { return None };
        match self.named(name).as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Whether a call may put the model into training mode: it calls one of [`MODES`], a function of this
    /// file that may do so, or an unknown function that can reach the model.
    fn may_train(&self, call: &ExprCall, model: &[&str], depth: u32) -> bool {
        let Some(name) = called(call) else { return false };
        let Some(next) = depth.checked_sub(1) else { return true };
        if MODES.contains(&name) {
            return true;
        }
        let defs = self.named(name);
        if !defs.is_empty() {
            let mut inner = defs.iter().flat_map(|def| def.body.iter().flat_map(calls));
            return inner.any(|call| self.may_train(call, model, next));
        }
        let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        let gets = call.arguments.args.iter().chain(keywords).any(|argument| {
            let path = path_of(argument);
            path == model || path == ["self"] || is_alias(&path, model)
        });
        // A method that this file does not define is inherited, unless it is set as an attribute.
        let is_inherited = match path_of(&call.func).as_slice() {
            ["self", method] => !self.text.contains(&format!("self.{method} = ")),
            ["super", ..] => true,
            _ => false,
        };
        let is_harmless = HARMLESS.iter().any(|part| name.contains(part));
        if gives(call, model)
            && let Some(def) = self.imported(call)
            && let Some(object) = object_in(def, call, model)
        {
            return Self::may_train_in(def, &object);
        }
        (gets && !is_harmless) || (is_inherited && model.first() == Some(&"self") && !is_model(call, model))
    }
}

/// Whether a call passes the model as an argument.
fn gives(call: &ExprCall, model: &[&str]) -> bool {
    let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
    call.arguments.args.iter().chain(keywords).any(|argument| path_of(argument) == model)
}

/// The depth to which calls of functions of the file are followed.
const CALLS: u32 = 3;

/// Methods and functions that set the mode of a module, or may set it.
const MODES: &[&str] = &["train", "set_mode", "train_mode", "set_train", "apply", "setattr"];

/// Parts of the names of functions that get a model, but do not change its mode.
const HARMLESS: &[&str] = &["save", "print", "len", "isinstance", "hasattr", "getattr", "type"];

/// Whether a path may be another name of the model: the last parts are the same (`model` and `self.model`).
fn is_alias(path: &[&str], model: &[&str]) -> bool {
    !path.is_empty() && path.last() == model.last()
}

/// Whether a call is the call of the model itself.
fn is_model(call: &ExprCall, model: &[&str]) -> bool {
    path_of(&call.func) == model
}

/// The statement `model.train()` or `model.train(True)`.
fn puts_into_training_mode(stmt: &Stmt) -> Option<&ExprCall> {
    let call = stmt.as_expr_stmt()?.value.as_call_expr()?;
    let is_on = match (&*call.arguments.args, &*call.arguments.keywords) {
        ([], []) => true,
        ([Expr::BooleanLiteral(mode)], []) => mode.value,
        _ => false,
    };
    (is_method_call(call, "train") && is_on).then_some(call)
}

/// The call, if a statement is `model.eval()`, or a `with` that contains this statement.
fn evaluates<'a>(stmt: &'a Stmt, model: &[&str]) -> Option<&'a ExprCall> {
    if let Stmt::With(with) = stmt {
        return with.body.iter().find_map(|inner| evaluates(inner, model));
    }
    let call = stmt.as_expr_stmt()?.value.as_call_expr()?;
    let is_it = path_of(&call.func).split_last().is_some_and(|(last, object)| *last == "eval" && object == model);
    is_it.then_some(call)
}

/// Whether a decorator only disables gradients.
fn is_without_gradient(decorator: &Expr) -> bool {
    let callee = callee_or_itself(decorator);
    matches!(path_of(callee).last(), Some(&"no_grad" | &"inference_mode"))
}

/// The path of the model in the called function: the parameter that gets it, or the same attribute or global
/// name.
fn object_in<'a>(def: &'a StmtFunctionDef, call: &ExprCall, model: &[&'a str]) -> Option<Vec<&'a str>> {
    let is_method = path_of(&call.func).first() == Some(&"self");
    let parameters: Vec<&str> =
        def.parameters.iter_non_variadic_params().map(|parameter| parameter.name().as_str()).collect();
    let given = parameters.get(usize::from(is_method)..).unwrap_or_default();
    let mut positional = call.arguments.args.iter().take_while(|argument| !argument.is_starred_expr());
    if let Some(at) = positional.position(|argument| path_of(argument) == model) {
        return given.get(at).map(|name| vec![*name]);
    }
    let mut keywords = call.arguments.keywords.iter();
    if let Some(keyword) = keywords.find(|keyword| path_of(&keyword.value) == model) {
        let name = keyword.arg.as_ref()?.as_str();
        return given.iter().find(|one| **one == name).map(|one| vec![*one]);
    }
    let first = model.first()?;
    let is_same = if *first == "self" { is_method } else { !parameters.contains(first) };
    is_same.then(|| model.to_vec())
}

/// Whether a block that contains the call ends with a statement that leaves the loop: the model is then not
/// trained again after the call.
fn leaves_loop(outer: &Stmt, call: &ExprCall) -> bool {
    let inner = blocks(outer).into_iter().flat_map(|block| statements(block, false)).flat_map(blocks);
    let mut around = blocks(outer)
        .into_iter()
        .chain(inner)
        .filter(|block| block.iter().any(|stmt| stmt.range().contains_range(call.range())));
    around.any(|block| matches!(block.last(), Some(Stmt::Break(_) | Stmt::Return(_) | Stmt::Raise(_))))
}
