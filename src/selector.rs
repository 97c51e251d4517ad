//! Compares selectors with the code and the name of a rule, and suggests corrections of typos. This
//! module does not depend on the rules.

/// The code and name under which an unused suppression is reported.
pub(crate) const UNUSED_IGNORE: &str = "unused-ignore";

/// Whether a selector (`TV103`, `TV1`, `ALL`, a rule's name) names the rule.
pub(crate) fn matches_rule(selector: &str, code: &str, name: &str) -> bool {
    specificity(selector, code, name).is_some()
}

/// How specific a selector is for a rule; `None` if it does not name the rule. If several selectors
/// name a rule, the most specific one decides.
pub(crate) fn specificity(selector: &str, code: &str, name: &str) -> Option<usize> {
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

/// The known word that is most similar to `word`, if `word` may be a typo of it.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let limit = (word.len() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The edit distance; a swap of two adjacent characters is one edit.
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
    fn typos_are_recognised() {
        assert_eq!(nearest("selct", ["select", "ignore"]), Some("select"));
        assert_eq!(nearest("TV1O3", ["TV203", "TV103"]), Some("TV103"));
        assert_eq!(nearest("TV130", ["TV201", "TV103"]), Some("TV103"));
        assert_eq!(nearest("banana", ["select", "ignore"]), None);
    }
}
