//! The words in names.

/// The words of names in lower case: `best`, `val` and `loss` for `best_valLoss`.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut previous = ' ';
    for c in text.chars() {
        if c.is_uppercase() && previous.is_lowercase() {
            spaced.push(' ');
        }
        spaced.push(c);
        previous = c;
    }
    let parts = spaced.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
}
