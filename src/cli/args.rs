//! Flags that several verbs share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use toml::Spanned;

use super::Failure;
use crate::config::{Layer, Options, Origin, Settings};

/// The settings that decide which files and rules are checked.
#[derive(Args, Debug, Clone, Default)]
pub(super) struct ConfigArgs {
    /// Rules to run: codes, prefixes, names or ALL
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    select: Option<Vec<String>>,
    /// Rules not to run
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    ignore: Option<Vec<String>>,
    /// Rules to run in addition to the selected ones
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    extend_select: Option<Vec<String>>,
    /// Rules not to report in files that match a pattern
    #[arg(long, value_delimiter = ',', value_name = "PATTERN:RULE", help_heading = "Rules")]
    per_file_ignores: Option<Vec<String>>,
    /// Paths to skip, instead of the default ones
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS", help_heading = "Files")]
    exclude: Option<Vec<String>>,
    /// Paths to skip, in addition to the default ones
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS", help_heading = "Files")]
    extend_exclude: Option<Vec<String>>,
    /// Skip files that .gitignore lists (the default)
    #[arg(long, overrides_with = "no_respect_gitignore", help_heading = "Files")]
    respect_gitignore: bool,
    #[arg(long, overrides_with = "respect_gitignore", hide = true)]
    no_respect_gitignore: bool,
    /// Skip excluded paths even if they are named on the command line
    #[arg(long, overrides_with = "no_force_exclude", help_heading = "Files")]
    force_exclude: bool,
    #[arg(long, overrides_with = "force_exclude", hide = true)]
    no_force_exclude: bool,
    #[expect(clippy::doc_link_with_quotes, reason = "the text of --help: TOML, and no link")]
    /// A configuration file, or a setting such as 'select = ["TV1"]'
    #[arg(long, value_name = "FILE|SETTING")]
    config: Vec<String>,
    /// Ignore all configuration files
    #[arg(long)]
    isolated: bool,
}

impl ConfigArgs {
    /// The settings of a run. The search for its configuration file begins at `start`.
    pub(super) fn settings(&self, start: &Path) -> Result<Settings, Failure> {
        Ok(Settings::resolve(&self.layers(start)?)?)
    }

    fn layers(&self, start: &Path) -> Result<Vec<Layer>, Failure> {
        let mut given = Vec::new();
        for value in &self.config {
            given.push(Layer::from_flag(value)?);
        }
        let is_file = |layer: &Layer| matches!(layer.origin, Origin::File(..));
        if self.isolated && given.iter().any(is_file) {
            let message = "--isolated ignores configuration files, but --config names one";
            return Err(Failure::Message(message.to_owned()));
        }
        let mut layers = Vec::new();
        if !self.isolated && !given.iter().any(is_file) {
            layers.extend(Layer::discover(start)?);
        }
        layers.extend(given);
        let base = std::env::current_dir()?;
        layers.push(Layer { origin: Origin::CommandLine, base, options: self.options()? });
        Ok(layers)
    }

    fn options(&self) -> Result<Options, Failure> {
        let flag = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
        Ok(Options {
            select: self.select.as_deref().map(spanned),
            ignore: self.ignore.as_deref().map(spanned),
            extend_select: self.extend_select.as_deref().map(spanned),
            per_file_ignores: self.per_file_ignores.as_deref().map(per_file).transpose()?,
            exclude: self.exclude.as_deref().map(spanned),
            extend_exclude: self.extend_exclude.as_deref().map(spanned),
            respect_gitignore: flag(self.respect_gitignore, self.no_respect_gitignore),
            force_exclude: flag(self.force_exclude, self.no_force_exclude),
            ..Options::default()
        })
    }
}

fn spanned(list: &[String]) -> Vec<Spanned<String>> {
    list.iter().map(|one| Spanned::new(0..0, one.trim().to_owned())).collect()
}

type PerFile = BTreeMap<Spanned<String>, Vec<Spanned<String>>>;

fn per_file(list: &[String]) -> Result<PerFile, Failure> {
    let mut map = PerFile::new();
    for entry in list {
        let Some((pattern, code)) = entry.rsplit_once(':') else {
            let message = format!("--per-file-ignores expects `PATTERN:RULE`, not `{entry}`");
            return Err(Failure::Message(message));
        };
        let pattern = Spanned::new(0..0, pattern.trim().to_owned());
        map.entry(pattern).or_default().extend(spanned(&[code.to_owned()]));
    }
    Ok(map)
}

/// The folder in which the search for settings begins: the first path if it is a folder, otherwise
/// its nearest parent folder that exists. Without a path, it is the working directory.
pub(super) fn start_folder(first: Option<&Path>) -> PathBuf {
    let cwd = std::env::current_dir().unwrap_or_default();
    let start = first.map_or_else(|| cwd.clone(), |path| cwd.join(path));
    let start = start.canonicalize().unwrap_or(start);
    let folder = start.ancestors().find(|folder| folder.is_dir());
    folder.map_or(cwd, Path::to_owned)
}
