//! `torchvet rule`: prints and tests the pages of rules.

mod test;

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::{Failure, Status};
use crate::config::select::{known_names, nearest};
use crate::diagnostic::Severity;
use crate::rules::{FixKind, Page, Rules, url};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The rule's code or name
    #[arg(required_unless_present_any = ["all", "test"], conflicts_with_all = ["all", "test"])]
    rule: Option<String>,
    /// Print all rules
    #[arg(long)]
    all: bool,
    /// Test pages: the findings in their Examples, and their claims about PyTorch. PAGE is a file,
    /// or the code or name of a rule. The Python blocks of the pages are executed
    #[arg(long, value_name = "PAGE", num_args = 1.., conflicts_with_all = ["all", "output_format"])]
    test: Vec<String>,
    /// The Python whose PyTorch is used [default: the one of the active environment,
    /// otherwise python3, or python on Windows]
    #[arg(long, value_name = "PATH", requires = "test")]
    python: Option<PathBuf>,
    /// How to print the pages
    #[arg(long, default_value = "text")]
    output_format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Serialize)]
struct Entry<'a> {
    code: &'a str,
    name: &'a str,
    summary: &'a str,
    severity: Severity,
    since: &'a str,
    fix: FixKind,
    default: bool,
    contract_of: &'a [String],
    cpu: Option<&'a str>,
    cuda: Option<&'a str>,
    url: String,
    text: &'a str,
}

impl<'a> From<&'a Page> for Entry<'a> {
    fn from(page: &'a Page) -> Self {
        Entry {
            code: &page.code,
            name: &page.name,
            summary: &page.summary,
            severity: page.severity,
            since: &page.since,
            fix: page.fix,
            default: page.default,
            contract_of: &page.contract_of,
            cpu: page.cpu.as_deref(),
            cuda: page.cuda.as_deref(),
            url: url(&page.name),
            text: &page.text,
        }
    }
}

pub(super) fn main(args: &Args) -> Result<Status, Failure> {
    let mut out = io::stdout().lock();
    if !args.test.is_empty() {
        return test::main(&args.test, args.python.as_deref(), &mut out);
    }
    let rules = Rules::builtin();
    let Some(wanted) = &args.rule else {
        all(&rules, args.output_format, &mut out)?;
        return Ok(Status::Clean);
    };
    let page = rules.find(wanted).or_else(|| rules.find(&wanted.to_ascii_uppercase()));
    let Some(page) = page else {
        let hint = nearest(wanted, known_names(&rules));
        let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(Failure::Message(format!("unknown rule `{wanted}`{hint}")));
    };
    match args.output_format {
        Format::Text => {
            writeln!(out, "# {} {}\n", page.code, page.name)?;
            writeln!(out, "{}.\n\n{}", page.summary, page.body())?;
        }
        Format::Json => print_json(&Entry::from(page), &mut out)?,
    }
    Ok(Status::Clean)
}

fn all(rules: &Rules, format: Format, out: &mut dyn Write) -> io::Result<()> {
    if format == Format::Json {
        return print_json(&rules.pages.iter().map(Entry::from).collect::<Vec<_>>(), out);
    }
    let width = rules.pages.iter().map(|page| page.name.len()).max().unwrap_or(0);
    for page in &rules.pages {
        let severity = page.severity.as_str();
        writeln!(out, "{}  {severity:7}  {:width$}  {}", page.code, page.name, page.summary)?;
    }
    Ok(())
}

fn print_json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}
