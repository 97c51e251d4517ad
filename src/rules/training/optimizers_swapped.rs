//! Two optimizers, each of which gets the parameters of the other one's network: `optimizer_d =
//! Adam(generator.parameters())`, and `optimizer_g = Adam(discriminator.parameters())`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::words;
use crate::syntax::{Expr, Ranged, TextRange, assignment, parts, path_of};

const NAME: &str = "optimizers-swapped";

/// Pairs of networks, and the words by which names mean each of them.
const PAIRS: &[[&[&str]; 2]] = &[
    [&["g", "gen", "generator", "netg"], &["d", "dis", "disc", "discriminator", "netd"]],
    [&["actor", "policy"], &["critic", "value"]],
    [&["encoder", "enc"], &["decoder", "dec"]],
    [&["student"], &["teacher"]],
];

#[derive(Default)]
pub(crate) struct OptimizersSwapped;

impl Rule for OptimizersSwapped {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if source.text.matches(".parameters()").count() < 2 {
            return;
        }
        for block in source.blocks() {
            let made: Vec<Made<'_>> = block.iter().filter_map(|stmt| assignment(stmt)).filter_map(optimizer).collect();
            for (at, first) in made.iter().enumerate() {
                let others = made.get(at + 1..).unwrap_or_default();
                let Some(second) = others.iter().find(|second| are_swapped(first, second)) else { continue };
                let message = format!(
                    "`{}` gets the parameters of `{}`, and `{}` those of `{}`",
                    first.name, first.module, second.name, second.module
                );
                let label = Label { span: source.span(second.at), message: "the other one is made here".to_owned() };
                findings.report(NAME, Severity::Warning, message, source.span(first.at), vec![label]);
            }
        }
    }
}

/// The names of an optimizer, and of the only module whose parameters it gets.
struct Made<'a> {
    name: String,
    module: String,
    of: (&'a str, &'a str),
    at: TextRange,
}

fn optimizer<'a>((target, value): (&'a Expr, &'a Expr)) -> Option<Made<'a>> {
    let call = value.as_call_expr()?;
    let class = path_of(&call.func).last().copied()?;
    let params = call.arguments.find_argument_value("params", 0)?;
    let mut modules = parts(params).into_iter().filter_map(|part| {
        let method = part.as_call_expr()?.func.as_attribute_expr()?;
        (method.attr.as_str() == "parameters").then(|| path_of(&method.value)).filter(|path| !path.is_empty())
    });
    let (module, None) = (modules.next()?, modules.next()) else { return None };
    let name = path_of(target);
    let of = (*name.last()?, *module.last()?);
    let is_class = class.starts_with(|c: char| c.is_ascii_uppercase());
    is_class.then(|| Made { name: name.join("."), module: module.join("."), of, at: value.range() })
}

fn are_swapped(first: &Made<'_>, second: &Made<'_>) -> bool {
    PAIRS.iter().any(|pair| {
        let roles = [first.of.0, first.of.1, second.of.0, second.of.1].map(|name| role(name, pair));
        matches!(roles, [Some(a), Some(b), Some(c), Some(d)] if a != b && c != d && a != c)
    })
}

/// Which network of a pair a name means: `optimizer_G`, `optG` and `gen_optimizer` mean the first one.
fn role(name: &str, pair: &[&[&str]; 2]) -> Option<usize> {
    let words = words(name);
    // `optimizer_G1`
    let parts: Vec<&str> = words.iter().flat_map(|word| word.split(|c: char| c.is_ascii_digit())).collect();
    let means = pair.map(|of| parts.iter().any(|part| of.contains(part)));
    match means {
        [true, false] => Some(0),
        [false, true] => Some(1),
        _ => None,
    }
}
