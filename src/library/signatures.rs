//! The signatures of PyTorch's public functions: `signatures.txt`, which
//! `tests/conformance/signatures.py` writes from PyTorch.

use std::sync::LazyLock;

use crate::python::Sig;

/// The lines of the file, sorted by path: one for each overload.
static LINES: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("signatures.txt").lines().filter(|line| !line.starts_with('#')).collect());

fn path_of(line: &str) -> &str {
    line.split('(').next().unwrap_or(line)
}

/// The paths that the file lists, each once for each overload.
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    LINES.iter().map(|line| path_of(line))
}

/// Whether the file lists a path.
pub(super) fn lists(path: &str) -> bool {
    LINES.binary_search_by(|line| path_of(line).cmp(path)).is_ok()
}

/// The signatures of a path, in the order of the file; empty if the file does not list it. For a
/// method, the object on which it is called is the parameter `input`, as in the function of the
/// same name.
pub(super) fn of(path: &str) -> Vec<Sig> {
    let from = LINES.partition_point(|line| path_of(line) < path);
    let lines = LINES.iter().skip(from).take_while(|line| path_of(line) == path);
    let texts = lines.filter_map(|line| line.get(path.len() + 1..line.len().checked_sub(1)?));
    let is_method = path.starts_with("torch.Tensor.");
    texts.map(|text| if is_method { Sig::parse(text).of_method("input") } else { Sig::parse(text) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_path() {
        assert!(LINES.is_sorted_by_key(|line| path_of(line)));
        assert_eq!(of("torch.acos"), [Sig::parse("input, *, out=None")]);
        assert_eq!(of("torch.Tensor.gather"), [Sig::parse("input, dim, index, *, sparse_grad=False")]);
        assert_eq!(of("torch.sum").len(), 2);
        assert!(of("torch.aco").is_empty() && of("torch.zzz").is_empty());
    }
}
