//! The output of the CUDA driver when an assert in a kernel fails.

use regex::Regex;
use serde::Serialize;

use crate::rules::Rules;

/// A failed assert: `file:line: function: block: [x,y,z], thread: [x,y,z] Assertion `…` failed.`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Assert {
    /// The file of the kernel, without the folder in which PyTorch was built.
    pub file: String,
    pub condition: String,
    /// The number of threads that reported it.
    pub threads: u64,
    /// The rules whose pages cover it.
    pub rules: Vec<String>,
}

/// Collects asserts from the text on standard error.
#[derive(Debug, Default)]
pub(crate) struct Asserts {
    found: Vec<Assert>,
}

impl Asserts {
    pub(crate) fn line(&mut self, line: &str) {
        if let Some((file, condition)) = parse(line) {
            self.add(file, condition);
        }
    }

    pub(crate) fn add(&mut self, file: String, condition: String) {
        match self.found.iter_mut().find(|one| one.file == file && one.condition == condition) {
            Some(known) => known.threads += 1,
            None => self.found.push(Assert { file, condition, threads: 1, rules: Vec::new() }),
        }
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(|one| one.condition.as_str())
    }

    /// The collected asserts, each with the rules whose `cuda` pattern matches the condition.
    pub(crate) fn explain(mut self, rules: &Rules) -> Vec<Assert> {
        for assert in &mut self.found {
            let quotes = |pattern: &Option<String>| {
                let pattern = pattern.as_ref().and_then(|pattern| Regex::new(pattern).ok());
                pattern.is_some_and(|pattern| pattern.is_match(&assert.condition))
            };
            let speaking = rules.pages.iter().filter(|page| quotes(&page.cuda));
            assert.rules = speaking.map(|page| page.code.to_string()).collect();
        }
        self.found
    }
}

fn parse(line: &str) -> Option<(String, String)> {
    let (place, rest) = line.split_once("Assertion `")?;
    let (condition, _) = rest.rsplit_once("` failed")?;
    if !place.contains("block: [") {
        return None;
    }
    // A path on Windows contains a colon.
    let file = place.split(": ").next()?;
    let file = file.rsplit_once(':').map_or(file, |(file, _)| file);
    let at = file.find("aten/").or_else(|| file.find("c10/")).unwrap_or(0);
    Some((file.get(at..)?.to_owned(), condition.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: \
                        block: [0,0,0], thread: [7,0,0] Assertion `t >= 0 && t < n_classes` failed.";

    #[test]
    fn a_line_of_the_driver_is_parsed() {
        let mut asserts = Asserts::default();
        asserts.line("epoch 1: loss 2.3");
        asserts.line(LINE);
        asserts.line(LINE);
        let found = asserts.explain(&Rules::builtin());
        let [assert] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(assert.file, "aten/src/ATen/native/cuda/Loss.cu");
        assert_eq!((assert.condition.as_str(), assert.threads), ("t >= 0 && t < n_classes", 2));
        assert!(assert.rules.contains(&"TV103".to_owned()), "{:?}", assert.rules);
    }

    #[test]
    fn other_assertions_are_ignored() {
        assert_eq!(parse("python: main.c:3: f: Assertion `x` failed."), None);
    }
}
