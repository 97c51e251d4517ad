//! The report for people: source with labels, with or without colours.

use std::fmt;
use std::io::{self, Write};

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, Severity as Level,
    SourceCode, SourceSpan, SpanContents, ThemeCharacters, ThemeStyles,
};

use super::{Place, url, verdicts};
use crate::diagnostic::{Diagnostic, Severity};
use crate::project::{Project, SourceFile};
use crate::syntax::{Cell, Span};

/// Labels at most this number of lines away from the finding are drawn with it.
const NEAR: usize = 3;

/// The style of a text report.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Style {
    /// Whether to use colours, and to link to the page of the rule.
    pub color: bool,
    /// The width of the terminal.
    pub width: Option<usize>,
}

/// Each finding with its title, and with the source of every place that contributes to it.
pub(crate) fn write(
    diagnostics: &[Diagnostic],
    project: &Project,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let handler = handler(style);
    for diagnostic in diagnostics {
        let mut text = String::new();
        for part in parts(diagnostic, project) {
            // If miette cannot show a place, its line and message are still printed.
            if handler.render_report(&mut text, &part).is_err() {
                text.push_str(&format!("{} {}\n", Place::of(part.primary, project).short(), part));
            }
        }
        for line in text.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        for verdict in verdicts(diagnostic) {
            writeln!(out, "  {verdict}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn handler(style: Style) -> GraphicalReportHandler {
    let styles = if style.color { ThemeStyles::ansi() } else { ThemeStyles::none() };
    let theme = GraphicalTheme { characters: ThemeCharacters::unicode(), styles };
    GraphicalReportHandler::new_themed(theme)
        .with_links(style.color)
        .with_link_display_text("(docs)")
        .with_urls(style.color)
        .with_width(style.width.unwrap_or(100))
        .with_context_lines(1)
        .without_syntax_highlighting()
}

/// The finding as miette draws it. The first part contains the place of the finding, and the labels
/// near it. Then comes one part for each file or notebook cell with other labels.
fn parts<'a>(diagnostic: &'a Diagnostic, project: &'a Project) -> Vec<Part<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Info => Level::Advice,
    };
    let severity = diagnostic.severity.as_str();
    let title = if diagnostic.code == diagnostic.name {
        format!("{severity}[{}]", diagnostic.code)
    } else {
        format!("{severity}[{}] {}", diagnostic.code, diagnostic.name)
    };
    let mut parts = vec![Part {
        title: Some(title),
        level,
        message: diagnostic.message.clone(),
        primary: diagnostic.span,
        source: Source::at(diagnostic.span, project),
        labels: Vec::new(),
        help: None,
        url: url(diagnostic),
    }];
    let line = |span: Span| project.file(span.file).line_of(span.start);
    for label in &diagnostic.labels {
        let source = Source::at(label.span, project);
        let near = source.is_same(&Source::at(diagnostic.span, project))
            && line(label.span).abs_diff(line(diagnostic.span)) <= NEAR;
        let same = |index: usize, part: &Part| (index == 0) == near && part.source.is_same(&source);
        let found = parts.iter().enumerate().position(|(index, part)| same(index, part));
        match found.and_then(|index| parts.get_mut(index)) {
            Some(part) => part.add(label.span, &label.message),
            None => {
                let mut part = Part {
                    title: None,
                    level: Level::Advice,
                    message: "because of".to_owned(),
                    primary: label.span,
                    source,
                    labels: Vec::new(),
                    help: None,
                    url: None,
                };
                part.add(label.span, &label.message);
                parts.push(part);
            }
        }
    }
    if let Some(first) = parts.first_mut() {
        let span = diagnostic.span;
        if !diagnostic.labels.iter().any(|label| label.span == span) {
            let label = first.source.label(span, None, true);
            first.labels.insert(0, label);
        }
    }
    if let Some(last) = parts.last_mut() {
        last.help.clone_from(&diagnostic.help);
    }
    parts
}

/// A part of the report of a finding, which miette renders in one call.
struct Part<'a> {
    title: Option<String>,
    level: Level,
    message: String,
    primary: Span,
    source: Source<'a>,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
    url: Option<String>,
}

impl Part<'_> {
    fn add(&mut self, span: Span, message: &str) {
        let primary = span == self.primary;
        let label = self.source.label(span, Some(message.to_owned()), primary);
        self.labels.push(label);
    }
}

/// The text of a file, or one cell of a notebook.
struct Source<'a> {
    file: &'a SourceFile,
    cell: Option<Cell>,
}

impl<'a> Source<'a> {
    fn at(span: Span, project: &'a Project) -> Self {
        let file = project.file(span.file);
        Source { file, cell: file.cell_at(span.start) }
    }

    fn is_same(&self, other: &Source) -> bool {
        self.file.id == other.file.id && self.cell == other.cell
    }

    fn name(&self) -> String {
        let path = self.file.path.to_string_lossy().replace('\\', "/");
        match self.cell {
            Some(cell) => format!("{path}:cell {}", cell.number),
            None => path,
        }
    }

    fn text(&self) -> &'a str {
        self.cell.map_or(self.file.text(), |cell| self.file.slice(cell.range))
    }

    /// The offset in the file at which the shown text starts.
    fn start(&self) -> usize {
        self.cell.map_or(0, |cell| cell.range.start().to_usize())
    }

    fn label(&self, span: Span, message: Option<String>, primary: bool) -> LabeledSpan {
        let clamp = |offset: u32| {
            let offset = (offset as usize).saturating_sub(self.start());
            offset.min(self.text().len())
        };
        let (start, end) = (clamp(span.start), clamp(span.end.max(span.start)));
        let place = (start, end - start);
        if primary {
            LabeledSpan::new_primary_with_span(message, place)
        } else {
            LabeledSpan::new_with_span(message, place)
        }
    }
}

impl SourceCode for Source<'_> {
    /// The lines around a span, under the name of the file, with the column of the span in
    /// characters.
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let contents = self.text().read_span(span, before, after)?;
        let at = u32::try_from(self.start() + contents.span().offset()).unwrap_or(u32::MAX);
        let column = if before == 0 { self.file.position(at).column - 1 } else { contents.column() };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name(),
            contents.data(),
            *contents.span(),
            contents.line(),
            column,
            contents.line_count(),
        )))
    }
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Part<'_> {}

impl miette::Diagnostic for Part<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.title.as_ref().map(|title| Box::new(title) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<Level> {
        Some(self.level)
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn url<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.url.as_ref().map(|url| Box::new(url) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::diagnostic::Label;

    /// The report of a finding at `at`, with a label at each of the other places. A place is the
    /// first occurrence of some text in a file.
    fn report(files: &[(&str, &str)], at: (usize, &str), labels: &[(usize, &str, &str)]) -> String {
        let project = Project::new(".".into());
        for (path, text) in files {
            project.add_text(Path::new(path), text).unwrap();
        }
        let span = |file: usize, needle: &str| {
            let file = project.files().nth(file).unwrap();
            let start = u32::try_from(file.text().find(needle).unwrap()).unwrap();
            Span { file: file.id, start, end: start + u32::try_from(needle.len()).unwrap() }
        };
        let labels = labels
            .iter()
            .map(|&(file, needle, message)| Label { span: span(file, needle), message: message.to_owned() });
        let diagnostic = Diagnostic {
            code: "TV103".into(),
            name: "class-index-out-of-range".into(),
            severity: Severity::Error,
            message: "target holds 3, but the 3 classes are 0 to 2".to_owned(),
            span: span(at.0, at.1),
            labels: labels.collect(),
            help: Some("number the classes from 0".to_owned()),
            fix: None,
            witness: None,
            verdict: None,
            cause: Vec::new(),
            repeats: Vec::new(),
        };
        let mut out = Vec::new();
        write(&[diagnostic], &project, Style::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn labels_of_the_same_file_are_drawn_together() {
        let text = "net = Linear(5, 3)\n\n\n\nfor é, y in data:\n\tloss = ce(é, y)\n";
        let labels = [(0, "Linear(5, 3)", "3 classes"), (0, "y in", "holds 3")];
        insta::assert_snapshot!(report(&[("a.py", text)], (0, "ce(é, y)"), &labels), @r"
        error[TV103] class-index-out-of-range

          × target holds 3, but the 3 classes are 0 to 2
           ╭─[a.py:6:9]
         4 │
         5 │ for é, y in data:
           ·        ──┬─
           ·          ╰── holds 3
         6 │     loss = ce(é, y)
           ·            ────────
           ╰────
          ☞ because of
           ╭─[a.py:1:7]
         1 │ net = Linear(5, 3)
           ·       ──────┬─────
           ·             ╰── 3 classes
         2 │
           ╰────
          help: number the classes from 0
        ");
    }

    #[test]
    fn labels_of_other_files_follow() {
        let files = [("train.py", "loss = ce(x, y)\n"), ("model.py", "\nnet = Linear(5, 3)\n")];
        let labels = [(0, "ce(x, y)", "fails here"), (1, "Linear(5, 3)", "3 classes")];
        insta::assert_snapshot!(report(&files, (0, "ce(x, y)"), &labels), @r"
        error[TV103] class-index-out-of-range

          × target holds 3, but the 3 classes are 0 to 2
           ╭─[train.py:1:8]
         1 │ loss = ce(x, y)
           ·        ────┬───
           ·            ╰── fails here
           ╰────
          ☞ because of
           ╭─[model.py:2:7]
         1 │
         2 │ net = Linear(5, 3)
           ·       ──────┬─────
           ·             ╰── 3 classes
           ╰────
          help: number the classes from 0
        ");
    }

    #[test]
    fn cells_of_a_notebook_are_shown_like_files() {
        let cell = |source: &str| {
            format!(r#"{{"cell_type":"code","metadata":{{}},"outputs":[],"execution_count":1,"source":{source:?}}}"#)
        };
        let json = format!(
            r#"{{"cells":[{},{}],"metadata":{{}},"nbformat":4,"nbformat_minor":4}}"#,
            cell("import x\nnet = Linear(5, 3)"),
            cell("loss = ce(x, y)"),
        );
        let labels = [(0, "Linear(5, 3)", "3 classes")];
        insta::assert_snapshot!(report(&[("nb.ipynb", &json)], (0, "ce(x, y)"), &labels), @r"
        error[TV103] class-index-out-of-range

          × target holds 3, but the 3 classes are 0 to 2
           ╭─[nb.ipynb:cell 2:1:8]
         1 │ loss = ce(x, y)
           ·        ────────
           ╰────
          ☞ because of
           ╭─[nb.ipynb:cell 1:2:7]
         1 │ import x
         2 │ net = Linear(5, 3)
           ·       ──────┬─────
           ·             ╰── 3 classes
           ╰────
          help: number the classes from 0
        ");
    }
}
