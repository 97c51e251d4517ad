//! Which files contain a word. A search for a text in all files of a program, such as `def forward(`, only
//! reads the files that contain the words of the text.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::syntax::FileId;

/// The files that contain each word, by the hash of the word. Two words with the same hash share their
/// files, so a search may read more files than necessary.
#[derive(Default)]
pub(super) struct Words(FxHashMap<u64, Vec<FileId>>);

impl Words {
    /// Adds the words of a file. All words of a file must be added at once.
    pub(super) fn add(&mut self, file: FileId, text: &str) {
        for word in text.split(is_between).filter(|word| !word.is_empty()) {
            let files = self.0.entry(hash(word)).or_default();
            if files.last() != Some(&file) {
                files.push(file);
            }
        }
    }

    /// The files that may contain a text. `None` if the text has no whole word, so that every file may
    /// contain it: `packed_sequence` is also a part of `pack_padded_sequence`.
    pub(super) fn files_with(&self, text: &str) -> Option<&[FileId]> {
        let (first, last) = (text.find(is_between)?, text.rfind(is_between)?);
        let whole = text.get(first..=last)?.split(is_between).filter(|word| !word.is_empty());
        whole.map(|word| self.0.get(&hash(word)).map_or(&[][..], Vec::as_slice)).min_by_key(|files| files.len())
    }
}

/// Whether a character is not part of a word.
fn is_between(c: char) -> bool {
    !(c.is_alphanumeric() || c == '_')
}

fn hash(word: &str) -> u64 {
    let mut hasher = FxHasher::default();
    word.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{FileId, Words};

    #[test]
    fn files_that_may_contain_a_text() {
        let mut words = Words::default();
        words.add(FileId(0), "def forward(x): return x\n");
        words.add(FileId(1), "y = self.forward\n");
        let found =
            |text: &str| words.files_with(text).map(|files| files.iter().map(|file| file.0).collect::<Vec<_>>());
        assert_eq!(found("def forward("), Some(vec![0, 1]));
        assert_eq!(found("= self.forward\n"), Some(vec![1]));
        assert_eq!(found("def backward("), Some(vec![]));
        // Both words may be parts of longer ones.
        assert_eq!(found("f forward"), None);
        assert_eq!(found("forward"), None);
        assert_eq!(found(".forwar"), None);
    }
}
