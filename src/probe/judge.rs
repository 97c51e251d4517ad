//! What the outcome of a witness shows about its finding.

use regex::Regex;
use serde::Deserialize;

use super::witness::Program;
use crate::diagnostic::{How, Severity};
use crate::rules::{Page, Rejects};

/// The outcome of a witness.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// The arguments cannot be created.
    NotBuilt(Raised),
    Raised(Raised),
    Ran {
        contract: Option<Judged>,
    },
    /// The process ended during the call.
    #[serde(skip)]
    Died(String),
    /// The witness could not be run, or its run shows nothing (a timeout, or a killed process).
    #[serde(skip)]
    Lost(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Raised {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) message: String,
}

/// The contract fails for the real arguments, with this message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Judged {
    pub(super) message: String,
}

impl Raised {
    pub(super) fn text(&self) -> String {
        format!("{}: {}", self.kind, self.message)
    }

    /// The exception type, and the first line of the message.
    pub(super) fn line(&self) -> String {
        self.text().lines().next().unwrap_or_default().to_owned()
    }
}

/// The claim of a finding, as far as a witness can show it.
pub(super) struct Claim {
    /// The pattern that PyTorch's message must match.
    pub(super) pattern: Option<Regex>,
    /// Any message is accepted.
    pub(super) is_vague: bool,
    /// The claim is that the call raises, not that it is silently wrong.
    pub(super) raises: bool,
    /// The page also describes cases in which the call is silently wrong.
    pub(super) may_be_silent: bool,
    /// The page has a pattern for CUDA, whose kernels may check conditions that CPU kernels do not
    /// check.
    pub(super) on_cuda: bool,
    /// The claim is about devices, so the CPU alone cannot show it.
    pub(super) about_devices: bool,
}

impl Claim {
    pub(super) fn of(page: &Page, severity: Severity) -> Claim {
        let words = page.rejects.map(words);
        let patterns: Vec<&str> = page.cpu.as_deref().into_iter().chain(words).collect();
        let pattern = (!patterns.is_empty()).then(|| Regex::new(&patterns.join("|")).ok()).flatten();
        let about_devices = page.rejects == Some(Rejects::Device) || page.needs.is_some();
        Claim {
            is_vague: words == Some(""),
            raises: severity == Severity::Error && (pattern.is_some() || about_devices),
            pattern,
            may_be_silent: page.section("Evidence").is_some(),
            on_cuda: page.cuda.is_some(),
            about_devices,
        }
    }
}

/// Common words in PyTorch's messages about a kind of rejected call. They are needed because the
/// `cpu` pattern of a page may match only the message of the page's Example.
fn words(kind: Rejects) -> &'static str {
    match kind {
        Rejects::Shape => r"(?i-u:size|shape|dimension|dims|match|broadcast|batch|channel|element|length|equal|numel)",
        Rejects::Dtype => r"(?i-u:type|not implemented for|integral|complex|float|long|bool|double|half)",
        Rejects::Rank => r"(?i-u:dim|\b\dD\b|rank|scalar|vector|matri|\d-d\b|tuple of length|shape)",
        Rejects::Dim => r"(?i-u:dim)",
        Rejects::Index => r"(?i-u:ind(ex|ices)|out of (range|bounds)|too many)",
        Rejects::Layout => r"(?i-u:stride|contiguous|layout|memory)",
        Rejects::Name => r"(?i-u:attribute|import name|no module)",
        Rejects::Operation => {
            r"(?i-u:NoneType|operand|subscriptable|iterable|not supported|has no len|concatenate|must be str)"
        }
        Rejects::Recursion => r"(?i-u:recursion)",
        Rejects::Arguments => r"(?i-u:argument|missing|unexpected)",
        Rejects::Device | Rejects::Host | Rejects::Value => "",
    }
}

/// PyTorch's messages about mixed devices.
pub(super) const DEVICES: &str = r"(?i-u:same device|different devices?|wrong device|mismatching [a-z_.]+ device|is on cuda|different from other tensors)";

/// Helpers whose results depend on how values were computed, which real tensors do not show.
const HISTORY: [&str; 4] = ["interpolated(", "scaled(", "recoloured(", "vocabulary("];

/// Whether the contract of a page uses one of these helpers.
pub(super) fn asks_for_history(page: &Page) -> bool {
    page.contract().is_some_and(|contract| HISTORY.iter().any(|helper| contract.contains(helper)))
}

/// Whether the contract of a page uses a role. The values of a tensor rarely determine its role.
pub(super) fn asks_for_role(page: &Page) -> bool {
    page.contract().is_some_and(|contract| contract.contains("role("))
}

/// The result of a witness.
pub(super) enum Shown {
    Reproduced(How, Option<String>),
    Refuted,
    Nothing(String),
}

/// What the outcome of a program shows about a claim.
pub(super) fn judge(claim: &Claim, page: &Page, program: &Program, outcome: Outcome) -> Shown {
    let guessed = || program.lost.first().map(|lost| format!(" ({lost})")).unwrap_or_default();
    match outcome {
        // PyTorch may also reject values that were filled in.
        Outcome::Raised(raised) if claim.is_vague && !program.lost.is_empty() => {
            Shown::Nothing(format!("the witness fails, but perhaps for another reason: {}{}", raised.line(), guessed()))
        }
        Outcome::Raised(raised) if claim.pattern.as_ref().is_some_and(|pattern| pattern.is_match(&raised.text())) => {
            Shown::Reproduced(How::Raised, Some(raised.text()))
        }
        Outcome::Raised(raised) => {
            Shown::Nothing(format!("the witness fails for another reason: {}{}", raised.line(), guessed()))
        }
        Outcome::NotBuilt(raised) if raised.kind == "ModuleNotFoundError" => {
            Shown::Nothing(format!("the witness needs a module that is not installed: {}", raised.message))
        }
        Outcome::NotBuilt(raised) => {
            Shown::Nothing(format!("the arguments of the call cannot be created: {}{}", raised.line(), guessed()))
        }
        Outcome::Died(how) => Shown::Reproduced(How::Died, Some(how)),
        Outcome::Lost(why) => Shown::Nothing(why),
        Outcome::Ran { contract: Some(judged) } if !claim.raises || claim.may_be_silent => {
            Shown::Reproduced(How::Silent, Some(judged.message))
        }
        Outcome::Ran { contract: Some(_) } if page.cuda.is_some() => {
            Shown::Nothing("the CPU accepts the call; only a GPU would reject it".to_owned())
        }
        Outcome::Ran { .. } if claim.raises && program.lost.is_empty() => Shown::Refuted,
        Outcome::Ran { .. } => match program.lost.first() {
            Some(lost) => Shown::Nothing(lost.clone()),
            None => Shown::Nothing("a call with real tensors does not show the problem".to_owned()),
        },
    }
}

/// Why a finding has no witness.
pub(super) fn without_witness(page: &Page) -> String {
    if page.contract_of.is_empty() && page.rejects.is_none() {
        "a single call cannot show the problem".to_owned()
    } else {
        "the finding is not about a call of a library function with arguments that fit its parameters".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Witness;
    use crate::probe::witness::{Choice, Devices, Lengths};
    use crate::rules::Rules;
    use crate::value::Kind;

    fn raised(kind: &str, message: &str) -> Outcome {
        Outcome::Raised(Raised { kind: kind.to_owned(), message: message.to_owned() })
    }

    fn shown(page: &str, severity: Severity, outcome: Outcome) -> String {
        let rules = Rules::builtin();
        let page = rules.find(page).unwrap();
        let program = Program::of(&Witness::Program { setup: "", call: "" }, choices_of_nothing());
        match judge(&Claim::of(page, severity), page, &program, outcome) {
            Shown::Reproduced(how, _) => format!("reproduced {how:?}"),
            Shown::Refuted => "refuted".to_owned(),
            Shown::Nothing(why) => why,
        }
    }

    fn choices_of_nothing() -> Choice {
        Choice { lengths: Lengths::Same(1), kind: Kind::Floating, first: 0, devices: Devices::Cpu, as_method: false }
    }

    #[test]
    fn every_pattern_of_a_page_compiles() {
        for page in Rules::builtin().pages {
            let claim = Claim::of(&page, Severity::Error);
            assert_eq!(claim.pattern.is_some(), page.cpu.is_some() || page.rejects.is_some(), "{}", page.code);
        }
        assert!(Regex::new(DEVICES).is_ok());
    }

    #[test]
    fn outcomes_are_compared_with_the_claim_of_the_page() {
        let ran =
            |contract: Option<&str>| Outcome::Ran { contract: contract.map(|m| Judged { message: m.to_owned() }) };
        let class_index = |outcome| shown("TV103", Severity::Error, outcome);
        assert_eq!(class_index(raised("IndexError", "Target 3 is out of bounds.")), "reproduced Raised");
        let other = class_index(raised("ValueError", "Expected input batch_size (4) to match target batch_size (3)"));
        assert!(other.starts_with("the witness fails for another reason: ValueError: Expected"), "{other}");
        assert_eq!(class_index(ran(None)), "refuted");
        assert!(class_index(ran(Some("target holds 3"))).contains("only a GPU"));
        assert_eq!(class_index(Outcome::Died("SIGSEGV".to_owned())), "reproduced Died");
        // Silent mistakes: the contract on real tensors decides.
        assert_eq!(shown("TV110", Severity::Error, ran(Some("input holds probabilities"))), "reproduced Silent");
        assert!(shown("TV110", Severity::Error, ran(None)).contains("does not show the problem"));
        assert_eq!(
            shown("TV401", Severity::Error, raised("RuntimeError", "The size of tensor a (3) must match")),
            "reproduced Raised"
        );
        assert!(
            shown("TV401", Severity::Error, raised("TypeError", "got an unexpected keyword"))
                .contains("another reason")
        );
    }
}
