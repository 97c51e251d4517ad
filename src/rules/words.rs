//! The words in names, the places of names in texts, and names with a common meaning.

/// Names of variables and attributes that hold the parsed command line.
pub(super) const COMMAND_LINES: &[&str] =
    &["args", "opt", "opts", "options", "flags", "hparams", "params", "parsed_args"];

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

/// Whether the last name of a path has one of these words.
pub(super) fn has_word(path: &[&str], wanted: &[&str]) -> bool {
    path.last().is_some_and(|name| words(name).iter().any(|word| wanted.contains(&word.as_str())))
}

/// The places of a name in a text where it is not a part of a longer name.
pub(super) fn places<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|rest| rest.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|rest| rest.chars().next());
        !is_part(before) && !is_part(after)
    })
}
