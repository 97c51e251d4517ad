//! The Markdown of a page: its `##` sections and their Python blocks.
//!
//! `build.rs` includes this file, so it may use only `std` and `front_matter`.

use super::front_matter::{Fault, FixKind, FrontMatter};

/// A `## Title`, and the text up to the next title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section<'a> {
    pub title: &'a str,
    pub text: &'a str,
    /// The line of the title.
    pub line: usize,
}

/// The sections of a page, in order. A `##` inside a code block is not a title.
pub(super) fn sections(page: &str) -> Vec<Section<'_>> {
    let mut found: Vec<(Section<'_>, usize)> = Vec::new();
    let (mut offset, mut fenced) = (0, false);
    for (index, line) in page.split_inclusive('\n').enumerate() {
        let next = offset + line.len();
        fenced ^= line.starts_with("```");
        if let Some(title) = line.strip_prefix("## ").filter(|_| !fenced) {
            if let Some((last, start)) = found.last_mut() {
                last.text = &page[*start..offset];
            }
            let section = Section { title: title.trim(), text: &page[next..], line: index + 1 };
            found.push((section, next));
        }
        offset = next;
    }
    found.into_iter().map(|(section, _)| section).collect()
}

/// The contents of the ```` ```python ```` blocks of a section.
pub(super) fn python_blocks(section: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let (mut offset, mut start) = (0, None);
    for line in section.split_inclusive('\n') {
        match start {
            None if line.trim_end() == "```python" => start = Some(offset + line.len()),
            Some(from) if line.starts_with("```") => {
                blocks.push(&section[from..offset]);
                start = None;
            }
            _ => {}
        }
        offset += line.len();
    }
    blocks
}

/// Checks that a page has the sections that its metadata requires, and that each section that must
/// contain code has exactly one Python block.
pub(super) fn check(page: &str, front: &FrontMatter) -> Result<(), Fault> {
    let sections = sections(page);
    let section = |title: &str| sections.iter().find(|section| section.title == title);
    let wanted = |title: &str, wanted: bool, why: &str| match (section(title), wanted) {
        (None, true) => Err(Fault::new(front.code_line, format!("section `## {title}` is missing: {why}"))),
        (Some(section), false) => Err(Fault::new(
            section.line,
            format!(
                "section `## {title}` does not belong here: \
            {why}"
            ),
        )),
        _ => Ok(()),
    };
    for title in ["What it does", "Why is this bad", "Example", "Use instead"] {
        wanted(title, true, "every page needs it")?;
    }
    let metadata = &front.metadata;
    let judged = !metadata.contract_of.is_empty();
    wanted("Contract", judged, "only a page whose `contract-of` names functions has it")?;
    wanted("Fix safety", metadata.fix == FixKind::Unsafe, "only a page with `fix = \"unsafe\"` has it")?;
    let proven = metadata.cpu.is_some() || metadata.needs.is_some();
    if section("Evidence").is_none() && !proven {
        return Err(Fault::new(front.code_line, "the page needs `cpu`, `needs` or `## Evidence` to prove its claim"));
    }
    for title in ["Contract", "Example", "Use instead", "Evidence"] {
        if let Some(section) = section(title)
            && python_blocks(section.text).len() != 1
        {
            return Err(Fault::new(section.line, format!("section `## {title}` needs one ```python block")));
        }
    }
    Ok(())
}
