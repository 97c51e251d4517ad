//! `torchvet coverage`: how much is known about a program, and what would make more known.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;

use super::args::{ConfigArgs, start_folder};
use super::run::{Input, Run, run};
use super::{Failure, Global, Status};
use crate::analysis::Wanted;
use crate::coverage::{Blocked, Coverage, Figures, Kind, Origin, coverage};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Files and folders to read
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    /// How to print the figures
    #[arg(long, default_value = "text")]
    output_format: Format,
    /// How many origins of unknown values to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    origins: usize,
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
    let input = Input {
        paths: args.paths,
        wanted: Wanted { coverage: true, ..Wanted::default() },
        show_progress: !global.quiet,
        ..Input::default()
    };
    let run = run(&settings, &input)?;
    run.tell(global);
    let found = coverage(&run.project, &run.checked, &run.facts, &run.calls);
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.output_format {
        Format::Text => text(&run, &found, args.origins, &mut out)?,
        Format::Json => json(&run, &found, args.origins, &mut out)?,
    }
    out.flush()?;
    Ok(run.status())
}

/// `file.py:12:5` or `notebook.ipynb:cell 3:2:1`.
fn place(run: &Run, origin: &Origin) -> String {
    let file = run.project.file(origin.span.file);
    let at = file.position(origin.span.start);
    let cell = at.cell.map(|cell| format!("cell {cell}:")).unwrap_or_default();
    format!("{}:{cell}{}:{}", file.path.display(), at.line, at.column)
}

/// A share in percent, rounded down, so that only a complete share is 100%.
fn percent(part: usize, of: usize) -> usize {
    (part * 100).checked_div(of).unwrap_or(100)
}

fn text(run: &Run, found: &Coverage, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let Figures { known, part, unknown, calls, conditions } = found.total;
    let tensors = found.total.tensors();
    let (decided, all) = (conditions.decided, conditions.decided + conditions.undecided);
    writeln!(
        out,
        "values: {known} of {tensors} assignments of tensors have a known rank, dtype and device ({}%); {part} are partly \
         known, and {unknown} are unknown and may be tensors",
        percent(known, tensors)
    )?;
    writeln!(
        out,
        "contracts: {decided} of {all} conditions of {calls} calls are decided ({}%)",
        percent(decided, all)
    )?;
    let shown = found.origins.get(..most).unwrap_or(&found.origins);
    if !shown.is_empty() {
        writeln!(out, "\nconditions  values  not known because of")?;
    }
    for (origin, Blocked { conditions, assignments }) in shown {
        writeln!(out, "{conditions:>10}  {assignments:>6}  {}: {origin}", place(run, origin))?;
    }
    let rest = found.origins.get(most..).unwrap_or_default();
    if !rest.is_empty() {
        let sum = |of: fn(&Blocked) -> usize| rest.iter().map(|(_, blocked)| of(blocked)).sum::<usize>();
        let (conditions, assignments) = (sum(|b| b.conditions), sum(|b| b.assignments));
        writeln!(out, "{conditions:>10}  {assignments:>6}  {} other places", rest.len())?;
    }
    let mut kinds: Vec<Kind> = Vec::new();
    for (origin, _) in shown {
        if !kinds.contains(&origin.kind) {
            kinds.push(origin.kind);
        }
    }
    if !kinds.is_empty() {
        writeln!(out)?;
    }
    for kind in kinds {
        writeln!(out, "help ({}): {}", kind.name(), kind.advice())?;
    }
    Ok(())
}

fn figures(figures: &Figures) -> serde_json::Value {
    let Figures { known, part, unknown, calls, conditions } = figures;
    json!({
        "values": { "known": known, "partly_known": part, "unknown": unknown },
        "calls": calls,
        "conditions": { "decided": conditions.decided, "undecided": conditions.undecided },
    })
}

fn json(run: &Run, found: &Coverage, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let path = |id| run.project.file(id).path.to_string_lossy().into_owned();
    let files: Vec<serde_json::Value> =
        found.files.iter().map(|(id, of_file)| json!({ "filename": path(*id), "figures": figures(of_file) })).collect();
    let shown = found.origins.get(..most).unwrap_or(&found.origins);
    let origins: Vec<serde_json::Value> = shown
        .iter()
        .map(|(origin, blocked)| {
            let at = run.project.file(origin.span.file).position(origin.span.start);
            json!({
                "filename": path(origin.span.file),
                "cell": at.cell,
                "location": { "row": at.line, "column": at.column },
                "kind": origin.kind.name(),
                "what": origin.to_string(),
                "advice": origin.kind.advice(),
                "conditions": blocked.conditions,
                "values": blocked.assignments,
            })
        })
        .collect();
    let Blocked { conditions, assignments } = found.others;
    let all = json!({
        "total": figures(&found.total),
        "files": files,
        "origins": origins,
        "without_origin": { "conditions": conditions, "values": assignments },
    });
    serde_json::to_writer_pretty(&mut *out, &all)?;
    writeln!(out)
}
