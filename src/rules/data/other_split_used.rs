//! Data, or a name in the log, of another split: `val_loader = DataLoader(train_set)`.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::{places, words};
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{
    Expr, Ranged, Stmt, TextRange, TextSize, assignment, called, calls, expressions, path_of, statements,
};

const NAME: &str = "other-split-used";

#[derive(Default)]
pub(crate) struct OtherSplitUsed;

impl Rule for OtherSplitUsed {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        let mut found: Vec<(TextRange, String)> = of_scope(source.text, source.body);
        for function in functions {
            found.extend(of_scope(source.text, &function.body));
            found.extend(logged(function));
        }
        for block in source.blocks() {
            found.extend(same_data(source.text, block));
            found.extend(training_data_of_other_split(block));
        }
        found.extend(samplers(&source.statements));
        for (place, message) in found {
            findings.report(NAME, Severity::Warning, message, source.span(place), Vec::new());
        }
    }
}

/// The parts into which data are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Split {
    Train,
    Validation,
    Test,
}

/// The split that a word names.
fn split_of(word: &str) -> Option<Split> {
    match word {
        "train" | "training" => Some(Split::Train),
        "val" | "valid" | "validation" | "eval" | "dev" => Some(Split::Validation),
        "test" | "testing" => Some(Split::Test),
        _ => None,
    }
}

/// The one split that a name names, and the other words of the name.
fn named(name: &str) -> Option<(Split, Vec<String>)> {
    let (of_split, rest): (Vec<String>, Vec<String>) = words(name).into_iter().partition(|w| split_of(w).is_some());
    match of_split.as_slice() {
        [one] => Some((split_of(one)?, rest)),
        _ => None,
    }
}

/// Calls that make something of one split from data of another, although the data of the right split are there,
/// and nothing uses them.
fn of_scope(text: &str, body: &[Stmt]) -> Vec<(TextRange, String)> {
    let (mut bound, mut read): (FxHashMap<&str, usize>, FxHashSet<&str>) = Default::default();
    for name in body.iter().flat_map(expressions).filter_map(Expr::as_name_expr) {
        match name.ctx.is_load() {
            true => _ = read.insert(name.id.as_str()),
            false => *bound.entry(name.id.as_str()).or_default() += 1,
        }
    }
    // A string may read a variable, too: `frame.query("line in @val_lines")`.
    let own = body
        .first()
        .zip(body.last())
        .and_then(|(first, last)| text.get(first.start().to_usize()..last.end().to_usize()));
    let is_unread = |(name, times): &(&str, usize)| {
        !read.contains(name) && own.is_some_and(|own| places(own, name).count() == *times)
    };
    let mut unused: Vec<&str> = bound.into_iter().filter(is_unread).map(|(name, _)| name).collect();
    unused.sort_unstable();
    let mut found = Vec::new();
    for (target, value) in statements(body, false).into_iter().filter_map(assignment) {
        let (Some(call), Some(target)) = (value.as_call_expr(), path_of(target).last().copied()) else { continue };
        let Some((split, _)) = named(target) else { continue };
        for argument in call.arguments.args.iter().filter_map(Expr::as_name_expr) {
            let given = argument.id.as_str();
            let Some((_, rest)) = named(given).filter(|(other, _)| *other != split) else { continue };
            let is_meant = |name: &&&str| **name != target && named(name) == Some((split, rest.clone()));
            if let Some(meant) = unused.iter().find(is_meant) {
                let message = format!("`{target}` is made from `{given}`, and nothing reads `{meant}`");
                found.push((argument.range(), message));
            }
        }
    }
    found
}

/// Two assignments of a block that give the training data and the test data the same value.
fn same_data(text: &str, block: &[Stmt]) -> Vec<(TextRange, String)> {
    let datasets: Vec<(&str, Split, Vec<String>, &ExprCall)> = (block.iter().filter_map(assignment))
        .filter_map(|(target, value)| {
            let target = path_of(target).last().copied()?;
            let (split, rest) = named(target)?;
            Some((target, split, rest, value.as_call_expr()?))
        })
        .collect();
    let source = |call: &ExprCall| {
        text.get(call.range().to_std_range()).unwrap_or_default().split_whitespace().collect::<String>()
    };
    let says_train = |call: &ExprCall| {
        call.arguments.keywords.iter().any(|keyword| {
            let name = keyword.arg.as_ref().map_or("", |name| name.as_str());
            let is_true = matches!(&keyword.value, Expr::BooleanLiteral(flag) if flag.value);
            let text = keyword.value.as_string_literal_expr().map_or("", |text| text.value.to_str());
            is_true && named(name).is_some_and(|(split, _)| split == Split::Train)
                || split_of(text) == Some(Split::Train)
        })
    };
    let mut found = Vec::new();
    for (target, split, rest, call) in &datasets {
        let is_same = |(_, other, words, first): &&(&str, Split, Vec<String>, &ExprCall)| {
            *other == Split::Train && words == rest && source(first) == source(call)
        };
        if *split == Split::Test
            && says_train(call)
            && let Some((first, ..)) = datasets.iter().find(is_same)
        {
            found.push((call.range(), format!("`{target}` gets the same data as `{first}`")));
        }
    }
    found
}

/// Training data for which a call names another split: `train_set = Images("data", "val")`, beside
/// `val_set = Images("data", "test")`.
fn training_data_of_other_split(block: &[Stmt]) -> Vec<(TextRange, String)> {
    let made: Vec<(&str, Split, &ExprCall)> = (block.iter().filter_map(assignment))
        .filter_map(|(target, value)| {
            let target = path_of(target).last().copied()?;
            Some((target, named(target)?.0, value.as_call_expr()?))
        })
        .collect();
    let mut found = Vec::new();
    for (target, _, call) in made.iter().filter(|(_, split, _)| *split == Split::Train) {
        let has_sibling = made.iter().any(|(_, split, other)| {
            *split != Split::Train && !path_of(&call.func).is_empty() && path_of(&other.func) == path_of(&call.func)
        });
        let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        let texts = call.arguments.args.iter().chain(keywords).filter_map(Expr::as_string_literal_expr);
        let splits: Vec<_> = texts
            .filter_map(|text| Some((text.range(), text.value.to_str(), split_of(text.value.to_str())?)))
            .collect();
        if let [(range, text, Split::Validation | Split::Test)] = splits.as_slice()
            && has_sibling
        {
            found.push((*range, format!("`{target}` is made of the split `{text}`")));
        }
    }
    found
}

/// Samplers that draw indices of another split than the one that the loader reads:
/// `DataLoader(valid_set, sampler=DistributedSampler(train_set))`.
fn samplers(statements: &[&Stmt]) -> Vec<(TextRange, String)> {
    let mut found = Vec::new();
    for loader in statements.iter().flat_map(|stmt| calls(stmt)).filter(|call| called(call) == Some("DataLoader")) {
        let keyword = |name| loader.arguments.find_keyword(name).map(|keyword| &keyword.value);
        let read = loader.arguments.args.first().or_else(|| keyword("dataset"));
        let given = keyword("sampler").or_else(|| keyword("batch_sampler"));
        let drawn = given.and_then(|sampler| drawn(sampler, loader.start(), statements));
        let (Some(read), Some(drawn)) = (read, drawn) else { continue };
        let name = |expr| path_of(expr).last().copied();
        // If the sampler has a name, the mistake is in this call.
        let place = if given.is_some_and(Expr::is_call_expr) { drawn.range() } else { read.range() };
        let (Some(read), Some(of)) = (name(read), name(drawn)) else { continue };
        if let (Some((split, rest)), Some((other, words))) = (named(read), named(of))
            && split != other
            && rest == words
        {
            found.push((place, format!("the loader reads `{read}`, but the sampler draws indices of `{of}`")));
        }
    }
    found
}

/// The data of whose indices a sampler draws: a call of a sampler, or a name to which one was assigned before this
/// place. An assignment may read the same name: `sampler = BatchSampler(sampler, 8, False)`.
fn drawn<'a>(sampler: &'a Expr, place: TextSize, statements: &[&'a Stmt]) -> Option<&'a Expr> {
    match sampler {
        Expr::Call(call) => match called(call)? {
            "DistributedSampler" | "RandomSampler" | "SequentialSampler" => call.arguments.args.first(),
            "BatchSampler" => drawn(call.arguments.args.first()?, place, statements),
            _ => None,
        },
        Expr::Name(name) => {
            let before = statements.iter().filter(|stmt| stmt.end() <= place).filter_map(|stmt| assignment(stmt));
            let (target, value) = before.filter(|(target, _)| path_of(target) == [name.id.as_str()]).last()?;
            value.is_call_expr().then(|| drawn(value, target.start(), statements)).flatten()
        }
        _ => None,
    }
}

/// Values that a step of a Lightning module logs under the name of another split.
fn logged(function: &StmtFunctionDef) -> Vec<(TextRange, String)> {
    let own = match function.name.as_str() {
        "training_step" => Split::Train,
        "validation_step" => Split::Validation,
        "test_step" => Split::Test,
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    for call in function.body.iter().flat_map(calls) {
        let path = path_of(&call.func);
        let Some(method) = path.last().filter(|method| path.len() > 1 && is_log(method)) else { continue };
        let key = call.arguments.args.first().and_then(beginning);
        let modes = call.arguments.keywords.iter().filter(|k| {
            k.arg.as_ref().is_some_and(|name| ["mode", "split", "stage", "phase", "prefix"].contains(&name.as_str()))
        });
        let texts = key.into_iter().chain(modes.filter_map(|mode| beginning(&mode.value)));
        for text in texts {
            if named(text).is_some_and(|(split, _)| split != own) {
                let step = &function.name;
                found.push((call.range(), format!("`{method}` in `{step}` gets the name `{text}` of another split")));
            }
        }
    }
    found
}

fn is_log(method: &str) -> bool {
    method == "add_scalar" || words(method).iter().any(|word| word == "log")
}

/// The text at the beginning of a string, or of a string that is formatted.
fn beginning(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::StringLiteral(text) => Some(text.value.to_str()),
        Expr::FString(text) => Some(&**text.value.elements().next()?.as_literal()?),
        Expr::BinOp(e) => beginning(&e.left),
        Expr::Call(e) => {
            beginning(&e.func.as_attribute_expr().filter(|method| method.attr.as_str() == "format")?.value)
        }
        _ => None,
    }
}
