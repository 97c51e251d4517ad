//! `torchvet facts`: prints what is known about each variable.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;

use super::args::{ConfigArgs, start_folder};
use super::run::{Input, Run, run};
use super::{Failure, Global, Status};
use crate::analysis::Wanted;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Files and folders to read
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// How to print the facts
    #[arg(long, default_value = "text")]
    output_format: Format,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(super) fn main(args: Args, global: &Global) -> Result<Status, Failure> {
    let settings = args.config.settings(&start_folder(args.paths.first().map(PathBuf::as_path)))?;
    let show_progress = !global.quiet;
    let input = Input {
        paths: args.paths,
        texts: Vec::new(),
        wanted: Wanted { facts: true, ..Wanted::default() },
        show_progress,
        ..Input::default()
    };
    let mut run = run(&settings, &input)?;
    run.tell(global);
    let Run { project, facts, .. } = &mut run;
    facts.sort_by(|a, b| {
        let path = |span: crate::syntax::Span| &project.file(span.file).path;
        (path(a.span), a.span.start).cmp(&(path(b.span), b.span.start))
    });
    facts.dedup_by(|a, b| a.span == b.span && a.name == b.name && a.text == b.text);
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.output_format {
        Format::Text => text(&run, &mut out)?,
        Format::Json => json(&run, &mut out)?,
    }
    out.flush()?;
    Ok(run.status())
}

fn text(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    for fact in &run.facts {
        let file = run.project.file(fact.span.file);
        let place = file.position(fact.span.start);
        let cell = place.cell.map(|cell| format!("cell {cell}:")).unwrap_or_default();
        writeln!(out, "{}:{cell}{}: {} = {}", file.path.display(), place.line, fact.name, fact.text)?;
    }
    Ok(())
}

fn json(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let entries: Vec<serde_json::Value> = run
        .facts
        .iter()
        .map(|fact| {
            let file = run.project.file(fact.span.file);
            let place = file.position(fact.span.start);
            json!({
                "filename": file.path.to_string_lossy(),
                "cell": place.cell,
                "name": fact.name,
                "location": {"row": place.line, "column": place.column},
                "value": fact.json,
            })
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &entries)?;
    writeln!(out)
}
