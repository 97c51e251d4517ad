//! Which rules are enabled.

use rustc_hash::FxHashMap;

use crate::rules::{Page, Rules};
use crate::selector::{UNUSED_IGNORE, specificity};
pub(crate) use crate::selector::{matches_rule, nearest};

/// Whether a selector matches any rule.
pub(crate) fn is_known(selector: &str, rules: &Rules) -> bool {
    selector.eq_ignore_ascii_case("ALL")
        || UNUSED_IGNORE == selector
        || rules.pages.iter().any(|page| matches_rule(selector, &page.code, &page.name))
}

/// All codes and names, for suggestions.
pub(crate) fn known_names(rules: &Rules) -> Vec<&str> {
    let pages = rules.pages.iter().flat_map(|page| [page.code.as_ref(), page.name.as_ref()]);
    pages.chain([UNUSED_IGNORE]).collect()
}

/// The selection of rules in one layer of settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    pub select: Option<Vec<String>>,
    pub extend_select: Vec<String>,
    pub ignore: Vec<String>,
}

/// The rules that run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    on: FxHashMap<String, bool>,
    narrowed: bool,
}

impl Selection {
    /// Resolves selections; the one with the lowest precedence comes first. A `select` in a layer
    /// replaces the selection of the earlier layers. Within one layer, the more specific selector
    /// wins; if two are equally specific, `ignore` wins.
    pub(crate) fn resolve(rules: &Rules, choices: &[Choice]) -> Self {
        let mut on = FxHashMap::default();
        let mut narrowed = false;
        let named = rules.pages.iter().map(|page: &Page| (page.code.as_ref(), page.name.as_ref(), page.default));
        for (code, name, default) in named.chain([(UNUSED_IGNORE, UNUSED_IGNORE, true)]) {
            let mut state = default;
            for choice in choices {
                if choice.select.is_some() {
                    state = code == UNUSED_IGNORE;
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
    pub(crate) fn is_on(&self, code: &str) -> bool {
        self.on.get(code).copied().unwrap_or(true)
    }

    /// Whether some rule of the default selection does not run.
    pub(crate) fn is_narrowed(&self) -> bool {
        self.narrowed
    }

    /// The codes of the rules that run, sorted.
    pub(crate) fn codes(&self) -> Vec<&str> {
        let mut codes: Vec<&str> = self.on.iter().filter(|(_, on)| **on).map(|(code, _)| code.as_str()).collect();
        codes.sort_unstable();
        codes
    }
}
