//! The format of the configuration file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::diagnostic::Severity;

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OutputFormat {
    /// Source with labels, for people.
    Text,
    /// One line per finding.
    Concise,
    /// One JSON array, with ruff's keys.
    Json,
    /// One JSON object per line.
    JsonLines,
    /// One line per finding, under the name of its file.
    Grouped,
    /// GitHub workflow commands: annotations on pull requests.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// GitLab Code Quality report.
    Gitlab,
    /// JUnit XML, for test reports.
    Junit,
}

impl OutputFormat {
    /// The name of the format.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            OutputFormat::Text => "text",
            OutputFormat::Concise => "concise",
            OutputFormat::Json => "json",
            OutputFormat::JsonLines => "json-lines",
            OutputFormat::Grouped => "grouped",
            OutputFormat::Github => "github",
            OutputFormat::Sarif => "sarif",
            OutputFormat::Gitlab => "gitlab",
            OutputFormat::Junit => "junit",
        }
    }
}

/// torchvet's settings: `torchvet.toml`, or the table `[tool.torchvet]` of `pyproject.toml`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[schemars(title = "torchvet", extend("$id" = "torchvet.schema.json"))]
pub(crate) struct Options {
    /// The rules to run: codes (`TV103`), prefixes of codes (`TV1`), names, or `ALL`.
    /// Default: the rules that are enabled by default.
    #[schemars(with = "Option<Vec<String>>")]
    pub select: Option<Vec<Spanned<String>>>,
    /// The rules not to run. The more specific of `select` and `ignore` wins.
    #[schemars(with = "Option<Vec<String>>")]
    pub ignore: Option<Vec<Spanned<String>>>,
    /// The rules to run in addition to `select` (or the default).
    #[schemars(with = "Option<Vec<String>>")]
    pub extend_select: Option<Vec<Spanned<String>>>,
    /// The rules not to report in files that match a pattern. A pattern that starts with `!`
    /// matches the files that do not match the rest of the pattern.
    #[schemars(with = "Option<BTreeMap<String, Vec<String>>>")]
    pub per_file_ignores: Option<BTreeMap<Spanned<String>, Vec<Spanned<String>>>>,
    /// The severity of a rule's findings, by code, prefix or name.
    #[schemars(with = "Option<BTreeMap<String, SeverityName>>")]
    pub severity: Option<BTreeMap<Spanned<String>, Severity>>,
    /// Files and folders to skip, instead of the default ones.
    #[schemars(with = "Option<Vec<String>>")]
    pub exclude: Option<Vec<Spanned<String>>>,
    /// Files and folders to skip, in addition to the default ones.
    #[schemars(with = "Option<Vec<String>>")]
    pub extend_exclude: Option<Vec<Spanned<String>>>,
    /// Pages of your own rules, as patterns: `["lint/*.md"]`.
    #[schemars(with = "Option<Vec<String>>")]
    pub rules: Option<Vec<Spanned<String>>>,
    /// How findings are printed.
    pub output_format: Option<OutputFormat>,
    /// Whether to skip files that `.gitignore` lists. Default: true.
    pub respect_gitignore: Option<bool>,
    /// Whether `exclude` also applies to files named on the command line. Default: false.
    pub force_exclude: Option<bool>,
}

/// The type of [`Severity`] in the schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum SeverityName {
    Info,
    Warning,
    Error,
}

/// The keys of [`Options`], for suggestions and for `torchvet config`.
pub(crate) const KEYS: &[&str] = &[
    "select",
    "ignore",
    "extend-select",
    "per-file-ignores",
    "severity",
    "exclude",
    "extend-exclude",
    "rules",
    "output-format",
    "respect-gitignore",
    "force-exclude",
];

/// The JSON Schema of the configuration file, as committed in `torchvet.schema.json`.
#[must_use]
pub fn schema() -> String {
    let schema = schemars::schema_for!(Options);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// The part of `pyproject.toml` that belongs to torchvet.
#[derive(Deserialize)]
pub(super) struct PyProject {
    pub tool: Option<Tool>,
}

#[derive(Deserialize)]
pub(super) struct Tool {
    pub torchvet: Option<Options>,
}
