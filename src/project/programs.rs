//! The groups of files that belong to one program: files that imports connect, directly or
//! indirectly. See [`ImportLines`] for the files that an import statement may name: a group may be larger than
//! necessary.

use std::sync::{Mutex, PoisonError};

use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};

use super::SourceFile;
use super::import_lines::ImportLines;
use super::owners::Owners;
use super::words::Words;
use crate::syntax::FileId;

#[derive(Default)]
pub(super) struct Programs {
    /// A number for each file; files of one program have the same number.
    of: FxHashMap<FileId, usize>,
    /// Cached answers, for each program.
    mentions: Mutex<FxHashMap<(usize, &'static str), bool>>,
    /// Cached answers of [`Owners::may_set_by_name`] for the classes of each program.
    set_by_name: Mutex<FxHashMap<usize, FxHashMap<String, bool>>>,
    /// The names in each program.
    names: FxHashMap<usize, Names>,
    words: Words,
}

#[derive(Default)]
struct Names {
    /// The attributes that are assigned, as `owner.name`.
    assigned: FxHashSet<String>,
    /// The functions and classes that are called, and whether some call is outside constructors.
    called: FxHashMap<String, bool>,
    /// The names that [`base`] finds, which include the last bases of classes.
    bases: FxHashSet<String>,
    /// The bases of classes with several bases.
    mixed: FxHashSet<String>,
    /// The names that lines of class bodies bind, and the strings by which code may set an attribute.
    bound: FxHashSet<String>,
    /// The strings that are arguments of calls: `register_buffer("mean", …)` sets an attribute.
    arguments: FxHashSet<String>,
    /// The options in strings, as attributes: `learning_rate` for `"--learning-rate"`.
    options: FxHashSet<String>,
    /// The attributes that are assigned, with the classes that assign them.
    owners: Owners,
    /// A file sets attributes of modules that it takes from `sys.modules`.
    sets_in_modules: bool,
    /// A function may bind names in the module that calls it.
    sets_in_callers: bool,
}

impl Names {
    fn add(&mut self, text: &str) {
        self.sets_in_modules |= text.contains("sys.modules[") && text.contains("setattr(");
        let finds_caller = ["stack()", "currentframe(", "_getframe("].iter().any(|call| text.contains(call));
        self.sets_in_callers |= finds_caller && text.contains("getmodule(") && text.contains("setattr(");
        for (name, is_argument) in strings(text) {
            self.bound.insert(name.to_owned());
            if is_argument {
                self.arguments.insert(name.to_owned());
            }
        }
        self.options.extend(options(text));
        let mut blocks = Blocks::default();
        // The indentation of the current constructor.
        let mut constructor: Option<usize> = None;
        for line in text.lines() {
            let code = line.trim_start();
            let indentation = line.len() - code.len();
            if !code.is_empty() && constructor.is_some_and(|outer| indentation <= outer) {
                constructor = None;
            }
            if code.starts_with("def __init__(") {
                constructor = Some(indentation);
            }
            if let Some(class) = blocks.class_level(line) {
                self.bound.extend(bound(code).map(str::to_owned));
                self.owners.read_class_level(code, class);
            }
            self.owners.read(code);
            self.owners.find_setters(code, blocks.class());
            for (owner, name) in assigned(line) {
                self.assigned.insert(format!("{owner}.{name}"));
                self.owners.assign(owner, name, blocks.class());
            }
            if let Some(base) = base(code) {
                self.bases.insert(base.to_owned());
            }
            self.mixed.extend(mixed(code).map(str::to_owned));
            for name in called(code) {
                match self.called.get_mut(name) {
                    Some(elsewhere) => *elsewhere |= constructor.is_none(),
                    None => _ = self.called.insert(name.to_owned(), constructor.is_none()),
                }
            }
        }
    }
}

impl Programs {
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a SourceFile>) -> Programs {
        let files: Vec<&SourceFile> = files.collect();
        let mut groups = Groups { parents: (0..files.len()).collect() };
        let imports = ImportLines::new(&files);
        for (index, file) in files.iter().enumerate() {
            for other in file.text().lines().flat_map(|line| imports.targets(file, line)) {
                groups.unite(index, other);
            }
        }
        let mut programs = Programs::default();
        for (index, file) in files.iter().enumerate() {
            let program = groups.find(index);
            programs.of.insert(file.id, program);
            programs.names.entry(program).or_default().add(file.text());
            programs.words.add(file.id, file.text());
        }
        programs
    }

    /// Whether a file of the same program assigns this attribute, written as `name` or
    /// `owner.name`.
    pub(super) fn assigns(&self, file: &SourceFile, attribute: &str) -> bool {
        self.asks(file, |names| names.assigned.contains(attribute) || names.owners.has(attribute))
    }

    /// Whether a file of the same program may assign this attribute to an object of a class of this name, or give
    /// its name to a function that does. The lines of the class `besides` do not count.
    pub(super) fn may_assign_to(&self, file: &SourceFile, class: &str, name: &str, besides: Option<&str>) -> bool {
        self.asks(file, |names| names.arguments.contains(name) || names.owners.may_set(class, name, besides))
    }

    /// Whether a file of the same program passes this name, as a text, to a function, which may set an attribute.
    pub(super) fn passes_text(&self, file: &SourceFile, name: &str) -> bool {
        self.asks(file, |names| names.arguments.contains(name))
    }

    /// Whether a subclass of a class of this name, in the same program, has a member of this name, too.
    pub(super) fn overrides(&self, file: &SourceFile, class: &str, name: &str) -> bool {
        self.asks(file, |names| names.owners.overrides(class, name))
    }

    /// Whether a subclass of a class of this name, in the same program, assigns this attribute to `self`.
    pub(super) fn sets_in_subclass(&self, file: &SourceFile, class: &str, name: &str) -> bool {
        self.asks(file, |names| names.owners.sets_in_subclass(class, name))
    }

    /// Whether a file of the same program may set options under names that are only known when it runs:
    /// `setattr(args, name, value)`.
    pub(super) fn may_set_options(&self, file: &SourceFile) -> bool {
        self.asks(file, |names| names.owners.may_set_options())
    }

    /// Whether a file of the same program may set attributes of objects of this class under names that are only
    /// known when it runs: `setattr(self, name, value)`.
    pub(super) fn may_set_by_name(&self, file: &SourceFile, class: &str) -> bool {
        let ask = || self.asks(file, |names| names.owners.may_set_by_name(class));
        let Some(&program) = self.of.get(&file.id) else { return ask() };
        let cached = || self.set_by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&answer) = cached().get(&program).and_then(|answers| answers.get(class)) {
            return answer;
        }
        let answer = ask();
        cached().entry(program).or_default().insert(class.to_owned(), answer);
        answer
    }

    /// Whether a file of the same program sets attributes of modules that it takes from `sys.modules`, under
    /// names that are only known when it runs.
    pub(super) fn sets_in_modules(&self, file: &SourceFile) -> bool {
        self.asks(file, |names| names.sets_in_modules)
    }

    /// Whether a function of the same program may bind names in the module that calls it.
    pub(super) fn sets_in_callers(&self, file: &SourceFile) -> bool {
        self.asks(file, |names| names.sets_in_callers)
    }

    /// Whether a file of the same program assigns an attribute of this name to anything but `self`.
    pub(super) fn assigns_from_outside(&self, file: &SourceFile, name: &str) -> bool {
        let owner = |assigned: &str| assigned.strip_suffix(name)?.strip_suffix('.').map(|owner| owner != "self");
        self.asks(file, |names| names.assigned.iter().any(|assigned| owner(assigned) == Some(true)))
    }

    /// Whether a file of the same program calls a function or class of this name.
    pub(super) fn calls(&self, file: &SourceFile, name: &str) -> bool {
        self.asks(file, |names| names.called.contains_key(name))
    }

    /// Whether functions of this name are called in constructors, and nowhere else. False if there
    /// is no call.
    pub(super) fn constructs_with(&self, file: &SourceFile, name: &str) -> bool {
        self.asks(file, |names| names.called.get(name) == Some(&false))
    }

    /// Whether a class body of the same program binds this name, or code may set an attribute of this
    /// name by a string: `setattr(x, "name", …)`.
    pub(super) fn binds_attribute(&self, file: &SourceFile, name: &str) -> bool {
        self.asks(file, |names| names.bound.contains(name))
    }

    /// Whether a class of the same program may have this last base. The base in `class Data(Data):` does
    /// not count.
    pub(super) fn derives(&self, file: &SourceFile, name: &str) -> bool {
        self.asks(file, |names| names.bases.contains(name))
    }

    /// Whether a class of the same program has this base and, after it, another one, which may complete it.
    pub(super) fn is_mixed(&self, file: &SourceFile, name: &str) -> bool {
        self.asks(file, |names| names.mixed.contains(name))
    }

    /// The options of the command line that the program of a file names, as attributes. `None` if the file belongs
    /// to no program.
    pub(super) fn options(&self, file: &SourceFile) -> Option<&FxHashSet<String>> {
        Some(&self.names.get(self.of.get(&file.id)?)?.options)
    }

    /// Answers a question about the names in the program of a file. If the file belongs to no
    /// program, the question is about the names in the file.
    fn asks(&self, file: &SourceFile, question: impl Fn(&Names) -> bool) -> bool {
        match self.of.get(&file.id).and_then(|program| self.names.get(program)) {
            Some(names) => question(names),
            None => {
                let mut names = Names::default();
                names.add(file.text());
                question(&names)
            }
        }
    }

    /// The texts of the files in `files` that belong to the same program as `file`. If this program
    /// is not known, only the text of `file`.
    pub(super) fn texts<'a>(&self, file: &'a SourceFile, files: impl Iterator<Item = &'a SourceFile>) -> Vec<&'a str> {
        let Some(program) = self.of.get(&file.id) else { return vec![file.text()] };
        files.filter(|other| self.of.get(&other.id) == Some(program)).map(SourceFile::text).collect()
    }

    /// Whether one of these files belongs to the same program as `file` and contains the text, not
    /// counting comment lines, and lines that begin with a call that prints or logs.
    pub(super) fn mention<'a>(
        &self,
        file: &SourceFile,
        text: &'static str,
        mut files: impl Iterator<Item = &'a SourceFile>,
    ) -> bool {
        let Some(&program) = self.of.get(&file.id) else { return code_contains(file.text(), text) };
        let cached = || self.mentions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&answer) = cached().get(&(program, text)) {
            return answer;
        }
        let with_words = self.words.files_with(text);
        let answer = files.any(|other| {
            self.of.get(&other.id) == Some(&program)
                && with_words.is_none_or(|ids| ids.binary_search(&other.id).is_ok())
                && code_contains(other.text(), text)
        });
        cached().insert((program, text), answer);
        answer
    }
}

/// Whether a source contains a text outside of comment lines, and of lines that begin with a call that
/// prints or logs: `print(torch.__version__)` does not test the version. See [`only_reads`] for other
/// exceptions.
fn code_contains(source: &str, text: &str) -> bool {
    memmem::find_iter(source.as_bytes(), text).any(|at| {
        let before = source.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
        let after = source.get(at + text.len()..).unwrap_or_default();
        !is_shown(before.trim_start()) && !only_reads(before, text, after)
    })
}

/// Whether a line is a comment, or begins with a call that prints or logs.
pub(super) fn is_shown(code: &str) -> bool {
    ["#", "print(", "logger.", "logging."].iter().any(|start| code.starts_with(start))
}

/// Whether a text by which code may set attributes only reads them, between these texts:
/// `models.__dict__[name](…)`, `self.__dict__.items()`, `format(**self.__dict__)`, `init(config=vars(args))`.
pub(super) fn only_reads(before: &str, text: &str, after: &str) -> bool {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let (before, after) = match text {
        "__dict__" => (before.trim_end_matches(is_path), after),
        "vars(" => match after.split_once(')') {
            Some((object, after)) if object.chars().all(is_path) => (before, after),
            _ => return false,
        },
        _ => return false,
    };
    // In `name = vars(args)`, the name may be used to set attributes.
    let is_argument = ["(", ", ", "*"].iter().any(|end| before.ends_with(end))
        || before.strip_suffix('=').is_some_and(|before| before.ends_with(char::is_alphanumeric));
    let is_element = || {
        let rest = after.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        rest.is_some_and(|(_, rest)| !rest.trim_start().starts_with('=') || rest.trim_start().starts_with("=="))
    };
    let is_returned =
        || before.trim_start() == "return " && after.lines().next().is_none_or(|rest| rest.trim().is_empty());
    is_returned()
        || is_argument && (after.is_empty() || after.starts_with([',', ')']))
        || [".items()", ".keys()", ".values()", ".get(", ".copy()"].iter().any(|method| after.starts_with(method))
        || before.ends_with(" in ")
        || is_element()
}

/// The attributes that a text assigns: `owner.name = …`, `owner.name: int = …`, `a.b, c.d = …`,
/// `with … as a.b` and `for a.b in …`. If the owner is not a name, it is empty.
fn assigned(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let targets = text.match_indices('=').flat_map(|(at, _)| {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let line = if after.starts_with("==") || line.ends_with('=') { "" } else { line };
        // In a call, only the last name belongs to the `=`.
        let is_call = line.trim_start().trim_start_matches(['(', '[']).contains('(');
        let from = if is_call { line.rfind(['(', ',', ' ', ':', '=']).map_or(0, |at| at + 1) } else { 0 };
        line.get(from..).unwrap_or_default().split([',', ':', ';', '=', '(', ')', '[', ']', '*'])
    });
    let managed = text
        .match_indices(" as ")
        .filter_map(|(at, word)| text.get(at + word.len()..)?.split([':', ',', ')', '\n']).next());
    let looped = text.match_indices("for ").filter_map(|(at, word)| text.get(at + word.len()..)?.split_once(" in "));
    let looped = looped.flat_map(|(targets, _)| targets.split([',', '(', ')']));
    // An annotation of several lines, with the `=` in the last one: `self.rows: Dict[`.
    let annotated = text.split_once(": ").filter(|_| text.trim_end().ends_with(['[', '('])).map(|(target, _)| target);
    targets.chain(managed).chain(looped).chain(annotated).filter_map(|target| {
        let (rest, name) = last_name(target.trim());
        let (before, owner) = last_name(rest.strip_suffix('.')?);
        // In `if x: a.b = 1` and `a.b.c = 1`, other text precedes the owner.
        (!name.is_empty() && before.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')))
            .then_some((owner, name))
    })
}

/// The blocks around a line of a text.
#[derive(Default)]
struct Blocks<'t> {
    /// The indentation of each `class` and `def`, and the name if it is a class.
    around: Vec<(usize, Option<&'t str>)>,
    /// The quotes of the string of several lines that is open.
    string: Option<&'static str>,
}

impl<'t> Blocks<'t> {
    /// Reads the next line of the text. If it is a line of a class body, returns the class.
    fn class_level(&mut self, line: &'t str) -> Option<&'t str> {
        let code = line.trim_start();
        let inside = self.string.is_some();
        for quotes in ["\"\"\"", "'''"] {
            if self.string.is_none_or(|open| open == quotes) && line.matches(quotes).count() % 2 == 1 {
                self.string = if self.string.is_some() { None } else { Some(quotes) };
            }
        }
        if inside || code.is_empty() || code.starts_with(['#', ')', ']', '}']) {
            return None;
        }
        let indentation = line.len() - code.len();
        while self.around.last().is_some_and(|(outer, _)| indentation <= *outer) {
            self.around.pop();
        }
        let around = self.around.last().and_then(|(_, class)| *class);
        let header = code.strip_prefix("class ");
        let class = header.and_then(|header| header.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        if class.is_some() || code.starts_with("def ") || code.starts_with("async def ") {
            self.around.push((indentation, class));
        }
        around
    }

    /// The class around the line that was read last.
    fn class(&self) -> Option<&'t str> {
        self.around.iter().rev().find_map(|(_, class)| *class)
    }
}

/// The names that a line of a class body may bind.
pub(super) fn bound(code: &str) -> impl Iterator<Item = &str> {
    let targets = code.rsplit_once('=').or_else(|| code.split_once(':')).map_or("", |(targets, _)| targets);
    targets.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty())
}

/// The strings in a text that are names, except keys in subscripts and dictionaries, and names under
/// which values are logged. With each, whether it is itself an argument of a call, not an item of one.
fn strings(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.match_indices(['"', '\'']).filter_map(|(at, quote)| {
        let after = text.get(at + quote.len()..)?;
        let name = after.get(..after.find(|c: char| !c.is_alphanumeric() && c != '_')?)?;
        let rest = after.get(name.len()..)?.strip_prefix(quote)?;
        let before = text.get(..at)?.trim_end();
        let is_subscript = || {
            let owner = before.strip_suffix('[').unwrap_or_default();
            owner.ends_with(|c: char| c.is_alphanumeric() || "_)]".contains(c))
        };
        let is_key = rest.trim_start().starts_with(':') || before.ends_with(".log(") || is_subscript();
        (!name.is_empty() && !is_key).then(|| (name, is_argument(before)))
    })
}

/// The options in the strings of a text, as attributes: `learning_rate` for `"--learning-rate"`.
fn options(text: &str) -> impl Iterator<Item = String> {
    ["\"-", "'-"].into_iter().flat_map(move |start| {
        text.match_indices(start).filter_map(move |(at, _)| {
            let option = text.get(at + start.len()..)?.trim_start_matches('-');
            let end = option.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'))?;
            let name = option.get(..end).filter(|name| !name.is_empty())?;
            option.get(end..)?.starts_with(['"', '\'']).then(|| name.replace('-', "_"))
        })
    })
}

/// Whether a call begins before the end of this text, and no list or dictionary in it. Only the last line of the
/// text is read; if nothing begins there, the answer is yes.
fn is_argument(before: &str) -> bool {
    let mut closed = 0;
    for c in before.rsplit('\n').next().unwrap_or_default().chars().rev() {
        match c {
            ')' | ']' | '}' => closed += 1,
            '(' | '[' | '{' if closed > 0 => closed -= 1,
            '(' => return true,
            '[' | '{' => return false,
            _ => {}
        }
    }
    true
}

/// The names before parentheses, except in definitions.
fn called(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('(').filter_map(|(at, _)| {
        let (rest, name) = last_name(text.get(..at)?);
        let is_definition = rest.ends_with("class ") || rest.ends_with("def ");
        (!name.is_empty() && !is_definition).then_some(name)
    })
}

/// The name before `):` in a line: the last base of a class, if the list of its bases ends in this line.
/// Other lines, such as `def f(x):`, also give a name. `None` for `class Data(Data):`.
fn base(code: &str) -> Option<&str> {
    let (bases, _) = code.rsplit_once("):")?;
    let (rest, base) = last_name(bases);
    let is_own = rest.strip_prefix("class ").is_some_and(|own| own == format!("{base}("));
    (!base.is_empty() && !is_own).then_some(base)
}

/// The bases in the line of a class with several bases: each may use what the others have.
fn mixed(code: &str) -> impl Iterator<Item = &str> {
    let header = code.strip_prefix("class ").and_then(|rest| rest.split_once('('));
    // `metaclass=…` is not a base.
    let bases = header.map_or("", |(_, bases)| bases.rsplit_once(')').map_or(bases, |(bases, _)| bases));
    let bases = bases.split(',').filter(|base| !base.contains('='));
    let bases: Vec<&str> = bases.collect();
    let several = if bases.len() > 1 { bases } else { Vec::new() };
    several.into_iter().map(|base| last_name(base.trim()).1).filter(|name| !name.is_empty())
}

/// Splits a text into two parts: the second is the name at its end, which may be empty.
fn last_name(text: &str) -> (&str, &str) {
    let rest = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    text.split_at_checked(rest.len()).unwrap_or((text, ""))
}

/// Disjoint sets that are merged step by step.
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn find(&self, mut at: usize) -> usize {
        while let Some(&parent) = self.parents.get(at)
            && parent != at
        {
            at = parent;
        }
        at
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if let Some(parent) = self.parents.get_mut(a.max(b)) {
            *parent = a.min(b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Blocks, assigned, base, bound, called, mixed, only_reads, strings};

    #[test]
    fn attributes_that_a_text_assigns() {
        let found: Vec<_> = assigned("a.b = c.d.e=0\nx = 1\nif a.f == 2: f(g=3)\nh[0].i = 4\n").collect();
        assert_eq!(found, [("a", "b"), ("a", "b"), ("d", "e"), ("", "i")]);
        let text = "a.b, a.c = f()\n[a.d, e] = g\na.h: dict = {}\nf(a.x, a.y == 1, k=2)\nwith open(n) as a.z:\n";
        let found: Vec<_> = assigned(text).map(|(_, name)| name).collect();
        assert_eq!(found, ["b", "c", "d", "h", "z"]);
    }

    #[test]
    fn bases_in_a_line() {
        let found = ["class A(B, c.D):", "E, F):  # end", "class G(G):", "class H(x.H):", "class I:"].map(base);
        assert_eq!(found, [Some("D"), Some("F"), None, Some("H"), None]);
    }

    #[test]
    fn code_that_only_reads_attributes() {
        let reads = |code: &str| {
            ["__dict__", "vars("].into_iter().find_map(|text| {
                let (before, after) = code.split_once(text)?;
                Some(only_reads(before, text, after))
            })
        };
        for code in ["models.__dict__[args.arch](pretrained=True)", "x = self.__dict__.items()", "f(**self.__dict__)"] {
            assert_eq!(reads(code), Some(true), "{code}");
        }
        assert_eq!(reads("return self.__dict__\n"), Some(true));
        for code in ["wandb.init(project=name, config=vars(args))", "print(json.dumps(vars(args), indent=2))"] {
            assert_eq!(reads(code), Some(true), "{code}");
        }
        for code in ["self.__dict__.update(kwargs)", "self.__dict__[name] = 1", "d = vars(args)", "self.__dict__ = d"] {
            assert_eq!(reads(code), Some(false), "{code}");
        }
    }

    #[test]
    fn bases_beside_others() {
        let found = |code| mixed(code).collect::<Vec<_>>();
        assert_eq!(found("class A(B, c.D, nn.Module):"), ["B", "D", "Module"]);
        assert!(found("class A(B, metaclass=C):").is_empty() && found("x = f(a, b)").is_empty());
    }

    #[test]
    fn names_in_class_bodies() {
        let text = "class B:\n    \"\"\"Text\nc = 1\n    \"\"\"\n    d: int\n    def e(self):\n        f = 3\n    g = h = 4\ni = 1\n";
        let mut blocks = Blocks::default();
        let found: Vec<_> = text.lines().filter(|line| blocks.class_level(line).is_some()).flat_map(bound).collect();
        assert_eq!(found, ["d", "def", "e", "self", "g", "h"]);
    }

    #[test]
    fn strings_by_which_code_may_set_attributes() {
        let text = "x['a'] = {'b': 'c d'}\nself.log('e', 1)\nsetattr(x, \"f\", ['g'])\n";
        assert_eq!(strings(text).collect::<Vec<_>>(), [("f", true), ("g", false)]);
    }

    #[test]
    fn functions_that_a_text_calls() {
        let found: Vec<_> = called("class A(B):\n    def c(self): return d.e(F(), (1, 2))\n").collect();
        assert_eq!(found, ["e", "F"]);
    }
}
