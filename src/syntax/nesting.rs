use ruff_text_size::{TextRange, TextSize};

/// CPython rejects more than 200 nested brackets ("too many nested parentheses"), and very deep
/// nesting can overflow the stack of a recursive parser.
const MAX_BRACKETS: usize = 200;

/// CPython's compiler rejects an expression with thousands of operators without a comma between
/// them (a `RecursionError`): each operator is one level of the tree.
const MAX_CHAIN: u32 = 5_000;

/// Estimates how deep the syntax tree of a source can be, with a quick scan that skips strings and
/// comments.
pub(super) struct Nesting;

impl Nesting {
    /// The place and the reason, if a source exceeds what Python accepts.
    pub(super) fn too_deep(text: &str) -> Option<(TextRange, &'static str)> {
        let bytes = text.as_bytes();
        // For each open bracket, the length of the chain outside it: the number of operators and
        // words since the last comma.
        let mut open: Vec<u32> = Vec::new();
        let mut chain = 0u32;
        let mut previous = 0u8;
        let mut i = 0usize;
        while let Some(&byte) = bytes.get(i) {
            let at = i;
            match byte {
                b'(' | b'[' | b'{' => {
                    open.push(chain + 1);
                    chain = 0;
                }
                b')' | b']' | b'}' => chain = open.pop().unwrap_or(0),
                b',' | b';' => chain = 0,
                b'\n' if open.is_empty() && previous != b'\\' => chain = 0,
                b'#' => {
                    while bytes.get(i + 1).is_some_and(|&next| next != b'\n') {
                        i += 1;
                    }
                }
                b'"' | b'\'' => i = skip_string(bytes, i, byte),
                b'.' | b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<' | b'>' | b'='
                | b':' => chain += 1,
                b' ' | b'\t' if !previous.is_ascii_whitespace() => chain += 1,
                _ => {}
            }
            if open.len() > MAX_BRACKETS {
                return Some((one(at), "too many nested brackets (Python accepts 200)"));
            }
            if chain > MAX_CHAIN {
                return Some((one(at), "expression is too long for Python's compiler"));
            }
            if byte != b'\r' {
                previous = byte;
            }
            i += 1;
        }
        None
    }
}

fn one(at: usize) -> TextRange {
    let start = TextSize::new(u32::try_from(at).unwrap_or(u32::MAX - 1));
    TextRange::new(start, start + TextSize::new(1))
}

/// The index of the last byte of the string literal that opens at `start`.
fn skip_string(bytes: &[u8], start: usize, quote: u8) -> usize {
    let is_quote = |i: usize| bytes.get(i) == Some(&quote);
    let triple = is_quote(start + 1) && is_quote(start + 2);
    let mut i = if triple { start + 3 } else { start + 1 };
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'\\' => i += 1,
            b'\n' if !triple => return i - 1,
            _ if byte == quote && !triple => return i,
            _ if byte == quote && is_quote(i + 1) && is_quote(i + 2) => return i + 2,
            _ => {}
        }
        i += 1;
    }
    i
}

#[cfg(test)]
mod tests {
    use super::Nesting;

    fn refused(text: &str) -> bool {
        Nesting::too_deep(text).is_some()
    }

    #[test]
    fn ordinary_sources_pass() {
        assert!(!refused("x = [((1)), {2: '((('}]  # (((\n"));
        assert!(!refused(&"x = a + b\n".repeat(10_000)));
        assert!(!refused(&format!("x = [{}]", "1 + 2, ".repeat(100_000))));
        assert!(!refused(&format!("'''{}'''", "((".repeat(10_000))));
    }

    #[test]
    fn deep_trees_are_refused() {
        assert!(refused(&"(".repeat(201)));
        assert!(!refused(&"(".repeat(200)));
        assert!(refused(&format!("x = 1{}", " + 1".repeat(10_000))));
        assert!(refused(&format!("x = {}1", "-".repeat(10_000))));
        assert!(refused(&format!("x = {}1", "not ".repeat(10_000))));
        assert!(refused(&format!("x = a{}", ".b(1, 2)".repeat(10_000))));
        assert!(refused(&format!("x = a{}", "[0]".repeat(10_000))));
    }

    #[test]
    fn an_unclosed_string_ends_with_its_line() {
        assert!(refused(&format!("x = 'abc\n{}", "(".repeat(300))));
    }
}
