//! Naming rules: codes, prefixes of codes, names; which of them are on.

use rustc_hash::FxHashMap;

use crate::rules::{Page, Rules};

/// Whether a selector (`TV103`, `TV1`, `ALL`, a rule's name) names the rule.
pub fn matches_rule(selector: &str, code: &str, name: &str) -> bool {
    specificity(selector, code, name).is_some()
}

/// How closely a selector names a rule: the closest one decides.
fn specificity(selector: &str, code: &str, name: &str) -> Option<usize> {
    if selector.eq_ignore_ascii_case("ALL") {
        return Some(0);
    }
    if selector.eq_ignore_ascii_case(code) || selector.eq_ignore_ascii_case(name) {
        return Some(usize::MAX);
    }
    let prefix = code.get(..selector.len())?;
    let is_prefix = selector.len() >= 2 && selector.eq_ignore_ascii_case(prefix);
    is_prefix.then_some(selector.len())
}

/// Whether a selector names any rule.
pub fn is_known(selector: &str, rules: &Rules) -> bool {
    selector.eq_ignore_ascii_case("ALL")
        || crate::project::suppressions::UNUSED_IGNORE == selector
        || rules.pages.iter().any(|page| matches_rule(selector, &page.code, &page.name))
}

/// All codes and names, for suggestions.
pub fn known_names(rules: &Rules) -> Vec<&str> {
    let pages = rules.pages.iter().flat_map(|page| [page.code.as_ref(), page.name.as_ref()]);
    pages.chain([crate::project::suppressions::UNUSED_IGNORE]).collect()
}

/// The nearest of some words, if it is near enough to be a slip of the pen.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let limit = (word.len() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The edit distance, a swap of neighbours counting once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, j) + usize::from(x != y)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            if i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x) {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

/// What one source of settings says about which rules run.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    pub select: Option<Vec<String>>,
    pub extend_select: Vec<String>,
    pub ignore: Vec<String>,
}

/// Which rules run.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    on: FxHashMap<String, bool>,
    narrowed: bool,
}

impl Selection {
    /// Resolves choices, the weakest first. A `select` starts anew; within one choice the
    /// more specific selector wins, and of equals the ignore.
    pub fn resolve(rules: &Rules, choices: &[Choice]) -> Self {
        let mut on = FxHashMap::default();
        let mut narrowed = false;
        let unused = crate::project::suppressions::UNUSED_IGNORE;
        let named = rules.pages.iter().map(|page: &Page| (page.code.as_ref(), page.name.as_ref(), page.default));
        for (code, name, default) in named.chain([(unused, unused, true)]) {
            let mut state = default;
            for choice in choices {
                if choice.select.is_some() {
                    state = code == unused;
                }
                let closest = |selectors: &[String]| selectors.iter().filter_map(|s| specificity(s, code, name)).max();
                let select = closest(choice.select.as_deref().unwrap_or_default());
                let wanted = select.max(closest(&choice.extend_select));
                match (wanted, closest(&choice.ignore)) {
                    (None, None) => {}
                    (wanted, ignored) => state = wanted > ignored,
                }
            }
            narrowed |= default && !state;
            on.insert(code.to_owned(), state);
        }
        Selection { on, narrowed }
    }

    /// Whether findings with the code are reported.
    pub fn is_on(&self, code: &str) -> bool {
        self.on.get(code).copied().unwrap_or(true)
    }

    /// Whether a rule that runs by default does not.
    pub fn is_narrowed(&self) -> bool {
        self.narrowed
    }

    /// The codes of the rules that run, sorted.
    pub fn codes(&self) -> Vec<&str> {
        let mut codes: Vec<&str> = self.on.iter().filter(|(_, on)| **on).map(|(code, _)| code.as_str()).collect();
        codes.sort_unstable();
        codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_name_codes_prefixes_and_names() {
        let named = |selector| matches_rule(selector, "TV103", "class-index-out-of-range");
        assert!(named("TV103") && named("tv103") && named("TV1") && named("TV") && named("ALL"));
        assert!(named("class-index-out-of-range"));
        assert!(!named("TV2") && !named("TV1034") && !named("T") && !named("class"));
    }

    #[test]
    fn slips_are_recognised() {
        assert_eq!(nearest("selct", ["select", "ignore"]), Some("select"));
        assert_eq!(nearest("TV1O3", ["TV203", "TV103"]), Some("TV103"));
        assert_eq!(nearest("TV130", ["TV201", "TV103"]), Some("TV103"));
        assert_eq!(nearest("banana", ["select", "ignore"]), None);
    }
}
