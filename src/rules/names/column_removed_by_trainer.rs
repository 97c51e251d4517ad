//! A collator that reads a column of texts, which the `Trainer` of transformers has removed from the dataset.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, called, calls, expressions, keyed, methods, path_of, spreads};

const NAME: &str = "column-removed-by-trainer";

/// Columns of raw data, which the `forward` of no model of transformers takes.
const RAW: &[&str] = &[
    "text",
    "texts",
    "sentence",
    "sentences",
    "sentence1",
    "sentence2",
    "question",
    "context",
    "answer",
    "answers",
    "prompt",
    "caption",
    "messages",
    "instruction",
    "article",
    "summary",
    "translation",
    "content",
    "review",
    "title",
    "audio",
    "image",
    "path",
    "file",
    "transcription",
    "premise",
    "hypothesis",
];

#[derive(Default)]
pub(crate) struct ColumnRemovedByTrainer;

impl Rule for ColumnRemovedByTrainer {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        // Only datasets of the library `datasets` lose columns.
        let needed = ["Trainer(", "load_dataset(", "data_collator"];
        if !needed.iter().all(|text| source.text.contains(text)) || source.text.contains("remove_unused_columns") {
            return;
        }
        let all: Vec<&ExprCall> = source.body.iter().flat_map(calls).collect();
        let is_of =
            |call: &ExprCall, names: &[&str]| path_of(&call.func).last().is_some_and(|name| names.contains(name));
        let arguments = all.iter().find(|call| is_of(call, &["TrainingArguments", "Seq2SeqTrainingArguments"]));
        if arguments.is_none_or(|call| spreads(call)) {
            return;
        }
        for trainer in all.iter().filter(|call| is_of(call, &["Trainer", "Seq2SeqTrainer"])) {
            let collator = trainer.arguments.find_keyword("data_collator").map(|keyword| &keyword.value);
            let Some((def, name)) = collator.and_then(|collator| definition(source, collator)) else { continue };
            let Some((place, column)) = raw_column(def) else { continue };
            let message = format!(
                "the `Trainer` has removed the column `{column}`, which no model takes: this raises a `KeyError`"
            );
            let made = format!("`{name}` gets the samples from this `Trainer`");
            let label = Label { span: source.span(trainer.range()), message: made };
            findings.report(NAME, Severity::Warning, message, source.span(place.range()), vec![label]);
        }
    }
}

/// The function that collates: a function of the file, or the `__call__` of one of its classes.
fn definition<'a>(source: &Source<'a>, collator: &Expr) -> Option<(&'a StmtFunctionDef, String)> {
    let called_class = collator.as_call_expr().and_then(called);
    let name = called_class.or_else(|| collator.as_name_expr().map(|name| name.id.as_str()))?;
    // The name may be that of a variable with an object.
    let made = source.statements.iter().filter_map(|stmt| stmt.as_assign_stmt()).find_map(|assign| {
        let is_name = assign.targets.iter().any(|target| path_of(target) == [name]);
        is_name.then(|| assign.value.as_call_expr().and_then(called))?
    });
    let wanted = made.unwrap_or(name);
    let class = source.classes().find(|class| class.name.as_str() == wanted);
    let method = class.and_then(|class| methods(class).find(|def| def.name.as_str() == "__call__"));
    let function = || {
        let mut functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        functions.find(|def| def.name.as_str() == wanted && called_class.is_none())
    };
    method.or_else(function).map(|def| (def, wanted.to_owned()))
}

/// The first read of a column of raw data from a sample of the batch: `[sample["text"] for sample in batch]`.
fn raw_column(def: &StmtFunctionDef) -> Option<(&Expr, &str)> {
    let batch = def.parameters.args.iter().map(|one| one.parameter.name.as_str()).find(|name| *name != "self")?;
    let comprehensions = def.body.iter().flat_map(expressions).filter_map(Expr::as_list_comp_expr);
    let mut columns = comprehensions.filter_map(|each| {
        let generator = each.generators.first()?;
        let sample = generator.target.as_name_expr()?.id.as_str();
        let mut part = &*each.elt;
        // `sample["audio"]["array"]`
        while let Expr::Subscript(outer) = part
            && outer.value.is_subscript_expr()
        {
            part = &outer.value;
        }
        let (object, column) = keyed(part)?;
        let of_batch = path_of(&generator.iter) == [batch] && path_of(object) == [sample];
        (of_batch && RAW.contains(&column)).then_some((&*each.elt, column))
    });
    columns.next()
}
