use std::path::Path;

use super::*;
use crate::project::Project;

const KNOWN: [&str; 2] = ["TV103", "class-index-out-of-range"];

fn finding(span: Span) -> Diagnostic {
    Diagnostic {
        code: "TV103".into(),
        name: "class-index-out-of-range".into(),
        severity: Severity::Error,
        message: String::new(),
        span,
        labels: Vec::new(),
        help: None,
        fix: None,
        witness: None,
        verdict: None,
        cause: Vec::new(),
        repeats: Vec::new(),
    }
}

/// Whether a TV103 finding at the text's `BAD` is suppressed, the messages about unused comments,
/// and the text after their fixes.
fn check(text: &str) -> (bool, Vec<String>, String) {
    let project = Project::new(".".into());
    let file = project.add_text(Path::new("suppressed.py"), text).unwrap();
    let start = u32::try_from(text.find("BAD").unwrap()).unwrap();
    let finding = finding(Span { file: file.id, start, end: start + 3 });
    let comments = Suppressions::scan(file);
    let covered = comments.covers(&finding);
    let unused = comments.unused(&KNOWN, |code| match code {
        "TV104" => Judgement::NotRun,
        "TV1O3" => Judgement::Unknown,
        _ => Judgement::Ran,
    });
    let mut fixed = text.to_owned();
    let edits = unused.iter().filter_map(|d| d.fix.as_ref()).flat_map(|fix| &fix.edits);
    for edit in edits.collect::<Vec<_>>().into_iter().rev() {
        fixed.replace_range(edit.span.start as usize..edit.span.end as usize, "");
    }
    (covered, unused.into_iter().map(|d| d.message).collect(), fixed)
}

fn silenced(text: &str) -> bool {
    let (covered, unused, _) = check(text);
    assert_eq!(covered, unused.is_empty(), "{text}: {unused:?}");
    covered
}

#[test]
fn a_comment_on_the_line_silences_it() {
    for comment in [
        "# torchvet: ignore",
        "#torchvet:ignore",
        "# torchvet: ignore[TV103]",
        "# torchvet: ignore[TV2, TV1] because",
        "# torchvet: ignore[class-index-out-of-range]",
        "# type: ignore # torchvet: ignore[TV103]",
        "# noqa",
        "# NOQA: F401,TV103",
        "# noqa:TV103 because",
        "# NoQa: TV103",
    ] {
        let (covered, ..) = check(&format!("x = BAD  {comment}\n"));
        assert!(covered, "{comment}");
    }
    assert!(!silenced("x = BAD\ny = 1  # torchvet: ignore[TV103]\n"));
    for comment in ["# torchvet: ignored", "# noqa: F401", "# torchvet: the linter", "# noqaTV103:"] {
        let (covered, unused, _) = check(&format!("x = BAD  {comment}\n"));
        assert_eq!((covered, unused.len()), (false, 0), "{comment}");
    }
}

#[test]
fn comments_in_strings_do_not_count() {
    let (covered, unused, _) = check("x = BAD + '# torchvet: ignore'\n");
    assert_eq!((covered, unused.len()), (false, 0));
}

#[test]
fn the_statements_first_and_last_lines_count() {
    assert!(silenced("f(  # torchvet: ignore[TV103]\n  1,\n  BAD,\n)\n"));
    assert!(silenced("f(\n  1,\n  BAD,\n)  # torchvet: ignore[TV103]\n"));
    assert!(!silenced("f(\n  1,  # torchvet: ignore[TV103]\n  BAD,\n)\n"));
    assert!(silenced("if a:\n    if b:\n        f(\n  BAD)  # torchvet: ignore\n"));
    assert!(!silenced("if a:  # torchvet: ignore\n    x = BAD\n"));
}

#[test]
fn a_comment_alone_on_its_line_applies_to_the_next_line_of_code() {
    assert!(silenced("# torchvet: ignore[TV103]\nx = BAD\n"));
    assert!(silenced("# torchvet: ignore[TV103]\n\n# why\nx = BAD\n"));
    assert!(!silenced("# torchvet: ignore[TV103]\ny = 1\nx = BAD\n"));
    assert!(silenced("y = 1\nx = BAD\n# torchvet: ignore-file[TV1]\n"));
    assert!(silenced("# torchvet: ignore-file\nx = BAD\n"));
}

#[test]
fn unused_comments_are_reported_and_removed() {
    let (_, unused, fixed) = check("y = 1  # torchvet: ignore[TV2]\nx = BAD\n");
    assert_eq!(unused, ["unused `torchvet: ignore[TV2]`: nothing here is reported as TV2"]);
    assert_eq!(fixed, "y = 1\nx = BAD\n");
    let (_, unused, fixed) = check("x = BAD  # torchvet: ignore[TV103, TV2, TV104]\n");
    assert_eq!(unused.len(), 1);
    assert_eq!(fixed, "x = BAD  # torchvet: ignore[TV103, TV104]\n");
    let (_, unused, fixed) = check("x = BAD\n# torchvet: ignore\ny = 1\n");
    assert_eq!(unused, ["unused `torchvet: ignore`: there is nothing to ignore"]);
    assert_eq!(fixed, "x = BAD\ny = 1\n");
    let (_, unused, _) = check("x = BAD  # torchvet: ignore[TV1O3]\n");
    assert_eq!(unused, ["unknown rule `TV1O3` in `torchvet: ignore`; did you mean `TV103`?"]);
    let (_, unused, fixed) = check("y = 1  # torchvet: ignore # type: ignore\nx = BAD\n");
    assert_eq!(unused.len(), 1);
    assert_eq!(fixed, "y = 1  # type: ignore\nx = BAD\n");
    let (_, _, fixed) = check("y = 1  # noqa: F401, TV2\nx = BAD\n");
    assert_eq!(fixed, "y = 1  # noqa: F401\nx = BAD\n");
}

/// The text after adding a comment for a finding at `at`.
fn after_adding(text: &str, at: &str) -> String {
    let project = Project::new(".".into());
    let file = project.add_text(Path::new("added.py"), text).unwrap();
    let start = u32::try_from(text.find(at).unwrap()).unwrap();
    let span = Span { file: file.id, start, end: start + u32::try_from(at.len()).unwrap() };
    let edit = Suppressions::scan(file).addition(span, "TV103");
    let place = edit.span.start as usize;
    let after = format!("{}{}{}", &text[..place], edit.content, &text[place..]);
    let again = Project::new(".".into());
    let file = again.add_text(Path::new("added.py"), &after).unwrap();
    let moved = u32::try_from(after.find(at).unwrap()).unwrap();
    let finding = finding(Span { file: file.id, start: moved, end: moved + span.end - span.start });
    assert!(Suppressions::scan(file).covers(&finding), "{after}");
    assert_eq!(file.parsed().issues.len(), project.file(span.file).parsed().issues.len(), "{after}");
    after
}

#[test]
fn a_comment_is_added_where_it_applies() {
    let ignore = "# torchvet: ignore[TV103]";
    assert_eq!(after_adding("x = f(1)\n", "f(1)"), format!("x = f(1)  {ignore}\n"));
    assert_eq!(after_adding("x = f(1)", "f(1)"), format!("x = f(1)  {ignore}"));
    assert_eq!(after_adding("x = f(1)  \r\n", "f(1)"), format!("x = f(1)  {ignore}  \r\n"));
    assert_eq!(after_adding("x = f(1)  # why\n", "f(1)"), format!("x = f(1)  # why  {ignore}\n"));
    assert_eq!(
        after_adding("x = f(1)  # torchvet: ignore[TV1, TV2] why\n", "f(1)"),
        "x = f(1)  # torchvet: ignore[TV1, TV2, TV103] why\n"
    );
    assert_eq!(after_adding("x = f(\n    1,\n)\n", "1"), format!("x = f(\n    1,  {ignore}\n)\n"));
    assert_eq!(after_adding("x = f(\"\"\"a\nb\"\"\")\n", "f("), format!("x = f(\"\"\"a\nb\"\"\")  {ignore}\n"));
    assert_eq!(after_adding("x = 1 + \\\n  f(1)\n", "1 +"), format!("x = 1 + \\\n  f(1)  {ignore}\n"));
    assert_eq!(
        after_adding("if a:\n    x = \"\"\"a\nf(1)\n\"\"\" + \\\n  b \\\n\n", "f(1)"),
        format!("if a:\n    {ignore}\n    x = \"\"\"a\nf(1)\n\"\"\" + \\\n  b \\\n\n")
    );
}
