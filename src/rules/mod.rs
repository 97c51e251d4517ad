//! STUB, to compile against until the real room is merged.

mod watch;

pub use watch::Watch;

use std::borrow::Cow;
use std::path::Path;

use crate::diagnostic::Severity;

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FixKind {
    None,
    Safe,
    Unsafe,
}

pub struct Page {
    pub code: Cow<'static, str>,
    pub name: Cow<'static, str>,
    pub summary: String,
    pub severity: Severity,
    pub since: String,
    pub fix: FixKind,
    pub default: bool,
    pub contract_of: Vec<String>,
    pub cpu: Option<String>,
    pub cuda: Option<String>,
    pub text: Cow<'static, str>,
}

pub struct Rules {
    pub pages: Vec<Page>,
}

impl Rules {
    pub fn builtin() -> Rules {
        let page = |code: &'static str, name: &'static str, summary: &str| Page {
            code: code.into(),
            name: name.into(),
            summary: summary.to_owned(),
            severity: Severity::Error,
            since: "0.1.0".to_owned(),
            fix: FixKind::None,
            default: true,
            contract_of: Vec::new(),
            cpu: None,
            cuda: None,
            text: format!("+++\ncode = \"{code}\"\n+++\n## What it does\n").into(),
        };
        Rules {
            pages: vec![page("TV103", "class-index-out-of-range", "class index outside the classes of the logits")],
        }
    }

    pub fn load_user(&mut self, path: &Path) -> Result<(), String> {
        Err(format!("{}: user rules are not there yet", path.display()))
    }

    pub fn find(&self, code_or_name: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.code == code_or_name || page.name == code_or_name)
    }
}

pub fn url(name: &str) -> String {
    format!("https://github.com/torchvet/torchvet/blob/main/rules/{name}.md")
}
