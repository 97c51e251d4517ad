//! The flat TOML between the `+++` lines of a page: `key = "text"`, `key = true`,
//! `key = ["text", …]`.
//!
//! `build.rs` includes this file, so that a page of the repository and a page of a user are
//! read by the same code: it may use nothing but `std`.

use std::collections::BTreeMap;

/// What is wrong with a page, and on which of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub line: usize,
    pub message: String,
}

impl Fault {
    pub fn new(line: usize, message: impl Into<String>) -> Self {
        Fault { line, message: message.into() }
    }
}

/// The front matter of one page, checked key by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter {
    pub code: String,
    pub summary: String,
    pub severity: String,
    pub since: String,
    pub fix: String,
    pub contract_of: Vec<String>,
    pub rejects: Option<String>,
    pub cpu: Option<String>,
    pub cuda: Option<String>,
    pub needs: Option<String>,
    pub default: bool,
    pub replace: Option<(String, String)>,
    pub set: Option<(String, String)>,
    pub help: Option<String>,
    pub asserts: Vec<String>,
    /// The line of the `code` key, for faults that concern the page as a whole.
    pub code_line: usize,
}

const SEVERITIES: &[&str] = &["error", "warning", "info"];
const FIXES: &[&str] = &["none", "safe", "unsafe"];
const REJECTIONS: &[&str] = &["shape", "dtype", "device", "rank", "dim", "value", "index", "layout"];
const NEEDS: &[&str] = &["cuda"];
const KEYS: &[&str] = &[
    "code",
    "summary",
    "severity",
    "since",
    "fix",
    "contract-of",
    "rejects",
    "cpu",
    "cuda",
    "needs",
    "default",
    "replace",
    "set",
    "help",
    "asserts",
];

impl FrontMatter {
    /// Reads the front matter of a page.
    pub fn read(page: &str) -> Result<Self, Fault> {
        let mut entries = Entries::read(page)?;
        let code_line = entries.line("code");
        let front = FrontMatter {
            code: entries.required("code")?,
            summary: entries.required("summary")?,
            severity: entries.one_of("severity", SEVERITIES)?,
            since: entries.required("since")?,
            fix: entries.one_of("fix", FIXES)?,
            contract_of: entries.list("contract-of")?,
            rejects: entries.maybe_one_of("rejects", REJECTIONS)?,
            cpu: entries.text("cpu")?,
            cuda: entries.text("cuda")?,
            needs: entries.maybe_one_of("needs", NEEDS)?,
            default: entries.flag("default", true)?,
            replace: entries.assignment("replace")?,
            set: entries.assignment("set")?,
            help: entries.text("help")?,
            asserts: entries.maybe_list("asserts")?,
            code_line,
        };
        let rewrites = front.replace.is_some() || front.set.is_some();
        if rewrites && front.fix == "none" {
            return Err(Fault::new(code_line, "`replace` and `set` need `fix` to be \"safe\" or \"unsafe\""));
        }
        if front.fix != "none" && !front.contract_of.is_empty() && !rewrites {
            return Err(Fault::new(code_line, "a contract with a fix needs `replace` or `set`"));
        }
        if !front.is_code_well_formed() {
            return Err(Fault::new(
                code_line,
                format!("code `{}` is not capital letters followed by three digits", front.code),
            ));
        }
        Ok(front)
    }

    fn is_code_well_formed(&self) -> bool {
        let letters = self.code.bytes().take_while(u8::is_ascii_uppercase).count();
        let digits = self.code.bytes().skip(letters);
        letters > 0 && digits.clone().count() == 3 && digits.clone().all(|b| b.is_ascii_digit())
    }
}

#[derive(Debug)]
enum Value {
    Text(String),
    List(Vec<String>),
    Flag(bool),
}

/// The keys of one front matter, with their lines.
#[derive(Default)]
struct Entries {
    values: BTreeMap<String, (usize, Value)>,
    end: usize,
}

impl Entries {
    fn read(page: &str) -> Result<Self, Fault> {
        let mut scanner = Scanner { rest: page, line: 1 };
        if !scanner.take_line_if("+++") {
            return Err(Fault::new(1, "a page begins with a `+++` line"));
        }
        let mut entries = Entries::default();
        loop {
            scanner.skip_blank();
            if scanner.take_line_if("+++") {
                entries.end = scanner.line - 1;
                return Ok(entries);
            }
            let line = scanner.line;
            let (key, value) = scanner.entry()?;
            if !KEYS.contains(&key) {
                return Err(Fault::new(line, format!("unknown key `{key}`; the keys are {}", KEYS.join(", "))));
            }
            if entries.values.insert(key.to_owned(), (line, value)).is_some() {
                return Err(Fault::new(line, format!("key `{key}` is given twice")));
            }
        }
    }

    fn line(&self, key: &str) -> usize {
        self.values.get(key).map_or(self.end, |(line, _)| *line)
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, Fault> {
        match self.values.remove(key) {
            None => Ok(None),
            Some((_, Value::Text(text))) => Ok(Some(text)),
            Some((line, _)) => Err(Fault::new(line, format!("`{key}` must be a string"))),
        }
    }

    fn required(&mut self, key: &str) -> Result<String, Fault> {
        let missing = Fault::new(self.end, format!("missing key `{key}`"));
        let line = self.line(key);
        match self.text(key)? {
            None => Err(missing),
            Some(text) if text.trim().is_empty() => Err(Fault::new(line, format!("`{key}` is empty"))),
            Some(text) => Ok(text),
        }
    }

    fn list(&mut self, key: &str) -> Result<Vec<String>, Fault> {
        if !self.values.contains_key(key) {
            return Err(Fault::new(self.end, format!("missing key `{key}`")));
        }
        self.maybe_list(key)
    }

    fn maybe_list(&mut self, key: &str) -> Result<Vec<String>, Fault> {
        match self.values.remove(key) {
            None => Ok(Vec::new()),
            Some((_, Value::List(items))) => Ok(items),
            Some((line, _)) => Err(Fault::new(line, format!("`{key}` must be a list of strings"))),
        }
    }

    fn flag(&mut self, key: &str, default: bool) -> Result<bool, Fault> {
        match self.values.remove(key) {
            None => Ok(default),
            Some((_, Value::Flag(flag))) => Ok(flag),
            Some((line, _)) => Err(Fault::new(line, format!("`{key}` must be true or false"))),
        }
    }

    fn maybe_one_of(&mut self, key: &str, legal: &[&str]) -> Result<Option<String>, Fault> {
        let line = self.line(key);
        match self.text(key)? {
            Some(text) if !legal.contains(&text.as_str()) => {
                Err(Fault::new(line, format!("`{key}` is \"{text}\"; it must be one of {}", legal.join(", "))))
            }
            other => Ok(other),
        }
    }

    fn one_of(&mut self, key: &str, legal: &[&str]) -> Result<String, Fault> {
        let missing = Fault::new(self.end, format!("missing key `{key}`"));
        self.maybe_one_of(key, legal)?.ok_or(missing)
    }

    /// `"argument = template"`.
    fn assignment(&mut self, key: &str) -> Result<Option<(String, String)>, Fault> {
        let line = self.line(key);
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        match text.split_once(" = ") {
            Some((name, template)) if is_identifier(name) && !template.is_empty() => {
                Ok(Some((name.to_owned(), template.to_owned())))
            }
            _ => Err(Fault::new(line, format!("`{key}` must read \"argument = template\""))),
        }
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn fault<T>(&self, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::new(self.line, message))
    }

    fn bump(&mut self) -> Option<char> {
        let first = self.rest.chars().next()?;
        self.rest = &self.rest[first.len_utf8()..];
        self.line += usize::from(first == '\n');
        Some(first)
    }

    /// Skips white space, line ends and comments.
    fn skip_blank(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            if first == '#' {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            } else if first.is_whitespace() {
                self.bump();
            } else {
                return;
            }
        }
    }

    fn take_line_if(&mut self, expected: &str) -> bool {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let matches = self.rest[..end].trim_end() == expected;
        if matches {
            self.rest = self.rest.get(end + 1..).unwrap_or("");
            self.line += 1;
        }
        matches
    }

    fn entry(&mut self) -> Result<(&'a str, Value), Fault> {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let Some((key, _)) = self.rest[..end].split_once('=') else {
            return self.fault("expected `key = value` or the closing `+++`");
        };
        self.rest = &self.rest[key.len() + 1..];
        self.skip_spaces();
        let value = self.value()?;
        self.skip_spaces();
        match self.rest.chars().next() {
            None | Some('\n' | '\r' | '#') => Ok((key.trim(), value)),
            Some(_) => self.fault("unexpected text after the value"),
        }
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn value(&mut self) -> Result<Value, Fault> {
        for (word, flag) in [("true", true), ("false", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(Value::Flag(flag));
            }
        }
        if self.rest.starts_with('[') {
            self.bump();
            return self.items().map(Value::List);
        }
        self.string().map(Value::Text)
    }

    fn items(&mut self) -> Result<Vec<String>, Fault> {
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            if self.rest.starts_with(']') {
                self.bump();
                return Ok(items);
            }
            items.push(self.string()?);
            self.skip_blank();
            match self.rest.chars().next() {
                Some(',') => {
                    self.bump();
                }
                Some(']') => {}
                _ => return self.fault("expected `,` or `]` in the list"),
            }
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        let quote = match self.rest.chars().next() {
            Some(quote @ ('"' | '\'')) => quote,
            _ => return self.fault("expected a string, a list of strings, true or false"),
        };
        self.bump();
        let mut text = String::new();
        loop {
            match self.rest.chars().next() {
                None | Some('\n' | '\r') => {
                    return self.fault("the string does not end on its line");
                }
                _ => {}
            }
            match self.bump() {
                Some(c) if c == quote => return Ok(text),
                Some('\\') if quote == '"' => match self.bump() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    _ => {
                        return self.fault("unknown escape; write \\\\ for a backslash, or use '…'");
                    }
                },
                Some(c) => text.push(c),
                None => {}
            }
        }
    }
}
