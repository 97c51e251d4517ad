//! Whether a program defines an option of its command line.

use super::Project;
use crate::syntax::FileId;

/// Texts of programs whose options may come from elsewhere: from classes, from libraries or from a checkpoint.
const OTHER_SOURCES: &[&str] = &[
    "HfArgumentParser",
    "add_argparse_args",
    "from_argparse_args",
    "fairseq",
    "set_defaults(",
    "configargparse",
    "simple_parsing",
    "SimpleNamespace",
    "EasyDict",
    "edict(",
    "Munch",
    "DotDict",
    "AttrDict",
    "addict",
    "OmegaConf",
    "yacs",
    "absl",
    "[\"args\"]",
    "['args']",
    "Namespace(",
];

/// What the texts of a program say about an option.
pub(crate) enum CommandLine<'a> {
    Defined,
    /// No text defines the option, or sets it in another way. The options that are defined.
    Missing(Vec<&'a str>),
    Unknown,
}

impl Project {
    /// Whether the program of a file defines an option of this name, which the code reads as an attribute of
    /// `root`: `args.name`.
    pub(crate) fn option(&self, file: FileId, root: &str, name: &str) -> CommandLine<'_> {
        let Some(known) = self.programs().options(self.file(file)).filter(|known| !known.is_empty()) else {
            return CommandLine::Unknown;
        };
        if known.contains(name) {
            return CommandLine::Defined;
        }
        let named = self.named_files().count();
        let in_imported = || self.files.iter().skip(named).any(|imported| imported.text().contains(name));
        let is_unknown = self.may_set_options(file)
            || self.binds_attribute(file, name)
            || [root, "args", "opt", "opts", "options"]
                .iter()
                .any(|root| self.assigns(file, &format!("{root}.{name}")))
            || OTHER_SOURCES.iter().any(|text| self.mentions(file, text))
            || self.settings().keys("").is_some_and(|keys| keys.contains(name))
            || in_imported();
        if is_unknown { CommandLine::Unknown } else { CommandLine::Missing(known.iter().map(String::as_str).collect()) }
    }
}
