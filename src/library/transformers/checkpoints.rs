//! Sizes of well-known checkpoints.

/// What a checkpoint's name tells.
#[derive(Debug, Clone, Copy)]
pub struct Checkpoint {
    /// Rows of the embedding of tokens.
    pub vocabulary: i64,
    /// Features of each position.
    pub hidden: i64,
    /// Rows of the embedding of positions, where there is one.
    pub positions: Option<i64>,
    /// The token with which batches are filled.
    pub pad: Option<i64>,
    /// Whether its tokenizer tells two sentences apart.
    pub segments: bool,
}

const fn of(vocabulary: i64, hidden: i64, positions: i64, pad: i64, segments: bool) -> Checkpoint {
    Checkpoint { vocabulary, hidden, positions: Some(positions), pad: Some(pad), segments }
}

const GPT2: Checkpoint =
    Checkpoint { vocabulary: 50257, hidden: 768, positions: Some(1024), pad: None, segments: false };
const T5: Checkpoint = Checkpoint { vocabulary: 32128, hidden: 512, positions: None, pad: Some(0), segments: false };

const KNOWN: &[(&str, Checkpoint)] = &[
    ("bert-base-uncased", of(30522, 768, 512, 0, true)),
    ("bert-base-cased", of(28996, 768, 512, 0, true)),
    ("bert-large-uncased", of(30522, 1024, 512, 0, true)),
    ("bert-large-cased", of(28996, 1024, 512, 0, true)),
    ("bert-base-chinese", of(21128, 768, 512, 0, true)),
    ("bert-base-multilingual-cased", of(119_547, 768, 512, 0, true)),
    ("bert-base-multilingual-uncased", of(105_879, 768, 512, 0, true)),
    ("roberta-base", of(50265, 768, 514, 1, false)),
    ("roberta-large", of(50265, 1024, 514, 1, false)),
    ("distilroberta-base", of(50265, 768, 514, 1, false)),
    ("xlm-roberta-base", of(250_002, 768, 514, 1, false)),
    ("xlm-roberta-large", of(250_002, 1024, 514, 1, false)),
    ("distilbert-base-uncased", of(30522, 768, 512, 0, false)),
    ("distilbert-base-cased", of(28996, 768, 512, 0, false)),
    ("distilbert-base-multilingual-cased", of(119_547, 768, 512, 0, false)),
    ("albert-base-v1", of(30000, 768, 512, 0, true)),
    ("albert-base-v2", of(30000, 768, 512, 0, true)),
    ("deberta-v3-base", of(128_100, 768, 512, 0, true)),
    ("deberta-v3-small", of(128_100, 768, 512, 0, true)),
    ("deberta-v3-large", of(128_100, 1024, 512, 0, true)),
    ("gpt2", GPT2),
    ("distilgpt2", GPT2),
    ("gpt2-medium", Checkpoint { hidden: 1024, ..GPT2 }),
    ("gpt2-large", Checkpoint { hidden: 1280, ..GPT2 }),
    ("gpt2-xl", Checkpoint { hidden: 1600, ..GPT2 }),
    ("t5-small", T5),
    ("t5-base", Checkpoint { hidden: 768, ..T5 }),
    ("t5-large", Checkpoint { hidden: 1024, ..T5 }),
    ("bart-base", of(50265, 768, 1024, 1, false)),
    ("bart-large", of(50265, 1024, 1024, 1, false)),
];

/// By name, with or without its owner: `google-bert/bert-base-uncased`. Only the owners that
/// publish the originals count.
pub fn find(name: &str) -> Option<Checkpoint> {
    let short = match name.split_once('/') {
        None => name,
        Some((
            "google-bert" | "FacebookAI" | "openai-community" | "distilbert" | "google-t5" | "albert" | "microsoft"
            | "facebook",
            short,
        )) => short,
        Some(_) => return None,
    };
    KNOWN.iter().find(|(known, _)| *known == short).map(|(_, c)| *c)
}

/// The family of a checkpoint's architecture, by its name.
pub fn family(name: &str) -> Option<&'static str> {
    find(name)?;
    let short = name.rsplit('/').next().unwrap_or(name);
    [
        ("distilbert", "DistilBert"),
        ("distilroberta", "Roberta"),
        ("xlm-roberta", "XLMRoberta"),
        ("roberta", "Roberta"),
        ("deberta-v3", "DebertaV2"),
        ("albert", "Albert"),
        ("bert", "Bert"),
        ("distilgpt2", "GPT2"),
        ("gpt2", "GPT2"),
        ("t5", "T5"),
        ("bart", "Bart"),
    ]
    .iter()
    .find(|(prefix, _)| short.starts_with(prefix))
    .map(|(_, family)| *family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_known_by_their_owners() {
        assert_eq!(find("google-bert/bert-base-uncased").map(|c| c.vocabulary), Some(30522));
        assert!(find("someone/bert-base-uncased").is_none());
        assert_eq!(family("distilroberta-base"), Some("Roberta"));
        assert_eq!(family("gpt2-medium"), Some("GPT2"));
    }
}
