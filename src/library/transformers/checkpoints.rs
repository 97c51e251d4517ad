//! Well-known checkpoints, by name.

use crate::library::data::{Checkpoint, TRANSFORMERS};

/// A checkpoint by name, with or without its owner: `google-bert/bert-base-uncased`. Only the
/// original publishers are accepted as owners.
pub(super) fn find(name: &str) -> Option<&'static Checkpoint> {
    let short = match name.split_once('/') {
        None => name,
        Some((owner, short)) => TRANSFORMERS.owners.iter().any(|known| known == owner).then_some(short)?,
    };
    TRANSFORMERS.checkpoints.get(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_known_by_their_owners() {
        assert_eq!(find("google-bert/bert-base-uncased").map(|c| c.vocabulary), Some(30522));
        assert!(find("someone/bert-base-uncased").is_none());
        assert_eq!(find("distilroberta-base").map(|c| c.family.as_str()), Some("Roberta"));
        assert_eq!(find("gpt2-medium").map(|c| c.family.as_str()), Some("GPT2"));
    }
}
