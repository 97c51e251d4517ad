//! Which classes set an attribute on `self`, and which classes may share an object.

use rustc_hash::{FxHashMap, FxHashSet};

use super::programs::{bound, is_shown, only_reads};

/// Texts by which code sets attributes under names that are only known when it runs, or may do so.
const BY_NAME: [&str; 8] =
    ["setattr(", "__setattr__(", "__dict__", "vars(", "__getattr__", "__slots__", "locals()", "store_attr("];

/// Variables that hold options.
const OPTIONS: [&str; 11] =
    ["args", "opt", "opts", "options", "cfg", "config", "conf", "hparams", "params", "namespace", "parser"];

/// The attributes that the classes of a program set, read from the lines of its texts.
#[derive(Default)]
pub(super) struct Owners {
    /// For each attribute, the classes in which a line assigns it to `self`. An assignment to another
    /// object, or outside of classes, has an empty name.
    setters: FxHashMap<String, FxHashSet<String>>,
    /// For each name that the body of a class binds, such as a method, the classes.
    members: FxHashMap<String, FxHashSet<String>>,
    /// The classes in which a line may set attributes of `self` by name. The name is empty as in `setters`.
    by_name: FxHashSet<String>,
    /// Whether a line may set attributes of options by name: `setattr(args, key, value)`.
    options_by_name: bool,
    /// The bases of each class, without the modules in their names. `None` if they are not all names.
    bases: FxHashMap<String, Option<FxHashSet<String>>>,
    /// The direct subclasses of each class.
    derived: FxHashMap<String, FxHashSet<String>>,
    /// The names that imports give to other names: `import b as c`.
    aliases: FxHashSet<String>,
}

impl Owners {
    /// Records an assignment to `owner.name` in a method of a class.
    pub(super) fn assign(&mut self, owner: &str, name: &str, class: Option<&str>) {
        insert(&mut self.setters, name, class.filter(|_| owner == "self").unwrap_or_default());
    }

    /// Records the names that a line of the body of a class binds.
    pub(super) fn read_class_level(&mut self, code: &str, class: &str) {
        let definition = ["def ", "async def ", "class "].iter().find_map(|start| code.strip_prefix(start));
        match definition {
            Some(rest) => {
                let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                insert(&mut self.members, name, class);
            }
            None => bound(code).for_each(|name| insert(&mut self.members, name, class)),
        }
    }

    /// Records a line of a class that sets attributes by name: `setattr(self, name, value)`.
    pub(super) fn find_setters(&mut self, code: &str, class: Option<&str>) {
        if is_shown(code) {
            return;
        }
        for text in BY_NAME {
            for (at, _) in code.match_indices(text) {
                let (before, rest) = code.split_at_checked(at).unwrap_or_default();
                let after = rest.strip_prefix(text).unwrap_or_default();
                // In tests, pytest's `monkeypatch` sets attributes of modules.
                if only_reads(before, text, after) || before.ends_with("monkeypatch.") {
                    continue;
                }
                // `setattr(x, "name", value)`: the strings in calls are known.
                let name = match text {
                    "setattr(" => after.split_once(',').map_or("", |(_, name)| name.trim_start()),
                    "__setattr__(" => after,
                    _ => "",
                };
                // An action of argparse sets the option for which it was added.
                if is_literal(name) || name.starts_with("self.dest,") {
                    continue;
                }
                let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
                let (object, _) = after.split_at_checked(end).unwrap_or_default();
                let is_own = match text {
                    "locals()" => false,
                    // fastcore: `store_attr()` sets the parameters of the function that calls it.
                    "__getattr__" | "__slots__" | "store_attr(" => true,
                    "__dict__" => before.ends_with("self."),
                    _ => object == "self" || ["self.", "super()."].iter().any(|end| before.ends_with(end)),
                };
                let receiver = before
                    .strip_suffix('.')
                    .and_then(|before| before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
                let is_options = match text {
                    "setattr(" | "vars(" => OPTIONS.contains(&object),
                    "__setattr__(" => receiver.is_some_and(|receiver| OPTIONS.contains(&receiver)),
                    _ => false,
                };
                if is_options {
                    self.options_by_name = true;
                } else {
                    self.by_name.insert(class.filter(|_| is_own).unwrap_or_default().to_owned());
                }
            }
        }
    }

    /// Records the header of a class, or an import with a new name.
    pub(super) fn read(&mut self, code: &str) {
        if let Some(header) = code.strip_prefix("class ") {
            let end = header.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(header.len());
            let (name, rest) = header.split_at_checked(end).unwrap_or_default();
            let found = bases(rest);
            for base in found.iter().flatten() {
                insert(&mut self.derived, base, name);
            }
            match (self.bases.get_mut(name), found) {
                (Some(Some(all)), Some(found)) => all.extend(found),
                (Some(all), _) => *all = None,
                (None, found) => _ = self.bases.insert(name.to_owned(), found),
            }
        } else if code.starts_with("from ") || code.starts_with("import ") {
            let given = code.split(" as ").skip(1).filter_map(|rest| rest.split([',', ' ', '#']).next());
            self.aliases.extend(given.map(|name| name.trim().to_owned()));
        }
    }

    /// Whether some line assigns an attribute of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.setters.contains_key(name)
    }

    /// Whether objects of the class may have the attribute: a line of the class itself, or of one with which it may
    /// share an object, sets it, or one that sets it on another object. The lines of the class `besides` do not count.
    pub(super) fn may_set(&self, class: &str, name: &str, besides: Option<&str>) -> bool {
        [&self.setters, &self.members].iter().any(|owners| {
            let owners = owners.get(name).into_iter().flatten();
            self.share_object(class, owners.filter(|owner| Some(owner.as_str()) != besides))
        })
    }

    /// Whether the body of a direct or indirect subclass of the class binds this name.
    pub(super) fn overrides(&self, class: &str, name: &str) -> bool {
        self.members.get(name).is_some_and(|owners| self.has_derived(class, owners))
    }

    /// Whether a direct or indirect subclass of the class assigns this attribute to `self`.
    pub(super) fn sets_in_subclass(&self, class: &str, name: &str) -> bool {
        self.setters.get(name).is_some_and(|owners| self.has_derived(class, owners))
    }

    /// Whether one of these classes is derived from the class.
    fn has_derived(&self, class: &str, owners: &FxHashSet<String>) -> bool {
        let mut seen = FxHashSet::default();
        let mut next = vec![class];
        while let Some(base) = next.pop() {
            for derived in self.derived.get(base).into_iter().flatten() {
                if derived != class && owners.contains(derived) {
                    return true;
                }
                if seen.insert(derived) {
                    next.push(derived);
                }
            }
        }
        false
    }

    /// Whether some line may set attributes of an object of the class by name. Options may be of any class whose
    /// name says so.
    pub(super) fn may_set_by_name(&self, class: &str) -> bool {
        let lower = class.to_lowercase();
        let is_options =
            || ["arg", "opt", "conf", "cfg", "param", "setting", "space"].iter().any(|o| lower.contains(o));
        self.share_object(class, &self.by_name) || self.options_by_name && is_options()
    }

    /// Whether some line may set options by name: `setattr(args, key, value)`, `vars(args)[key] = value`.
    pub(super) fn may_set_options(&self) -> bool {
        self.options_by_name || self.by_name.contains("")
    }

    /// Whether an object may be of the class and of one of these classes.
    fn share_object<'o>(&self, class: &str, others: impl IntoIterator<Item = &'o String>) -> bool {
        let mut others = others.into_iter().peekable();
        if others.peek().is_none() {
            return false;
        }
        let Some(own) = self.line(class) else { return true };
        others.any(|other| {
            other.is_empty()
                || self.line(other).is_none_or(|line| {
                    line.contains(class) || own.contains(other.as_str()) || self.have_common_subclass(class, other)
                })
        })
    }

    /// A class whose bases are not known is assumed not to combine the two.
    fn have_common_subclass(&self, a: &str, b: &str) -> bool {
        self.bases.keys().any(|class| self.line(class).is_some_and(|line| line.contains(a) && line.contains(b)))
    }

    /// A class and all its bases; `None` if some base is not known.
    fn line<'a>(&'a self, class: &'a str) -> Option<FxHashSet<&'a str>> {
        let mut line = FxHashSet::default();
        let mut next = vec![class];
        self.bases.get(class)?;
        while let Some(class) = next.pop() {
            if self.aliases.contains(class) {
                return None;
            }
            if line.insert(class)
                && let Some(bases) = self.bases.get(class)
            {
                next.extend(bases.as_ref()?.iter().map(String::as_str));
            }
        }
        Some(line)
    }
}

/// Whether an argument is a string, and nothing is added to it.
fn is_literal(argument: &str) -> bool {
    let Some(quote) = argument.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else { return false };
    let rest = argument.get(1..).and_then(|rest| rest.split_once(quote));
    rest.is_some_and(|(_, after)| after.trim_start().starts_with(','))
}

/// Adds a class to those of a name.
fn insert(owners: &mut FxHashMap<String, FxHashSet<String>>, name: &str, class: &str) {
    let classes = match owners.get_mut(name) {
        Some(classes) => classes,
        None => owners.entry(name.to_owned()).or_default(),
    };
    if !classes.contains(class) {
        classes.insert(class.to_owned());
    }
}

/// The bases in the header of a class, after its name.
fn bases(rest: &str) -> Option<FxHashSet<String>> {
    let rest = rest.trim_start();
    if rest.starts_with(':') {
        return Some(FxHashSet::default());
    }
    let (inside, _) = rest.strip_prefix('(')?.split_once("):")?;
    let is_name = |base: &str| base.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let all = inside.split(',').map(str::trim).filter(|base| !base.is_empty());
    all.map(|base| is_name(base).then(|| base.rsplit('.').next().unwrap_or_default().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::Owners;

    #[test]
    fn classes_that_may_share_an_object() {
        let mut owners = Owners::default();
        let headers = ["A(nn.Module):", "B(A):", "C(nn.Module):", "D(C, Mixed):", "Mixed:", "E(make()):", "F(Other):"];
        for header in headers {
            owners.read(&format!("class {header}"));
        }
        owners.read("from a import b as Other");
        for (owner, name, class) in [
            ("self", "x", Some("B")),
            ("self", "y", Some("Mixed")),
            ("self", "z", Some("E")),
            ("model", "w", Some("B")),
            ("self", "v", Some("F")),
        ] {
            owners.assign(owner, name, class);
        }
        assert!(owners.may_set("A", "x", None) && !owners.may_set("C", "x", None));
        assert!(owners.may_set("C", "y", None) && !owners.may_set("A", "y", None));
        for name in ["z", "w", "v"] {
            assert!(owners.may_set("C", name, None), "{name}");
        }
        assert!(!owners.may_set("A", "x", Some("B")) && owners.may_set("A", "x", Some("C")));
        assert!(!owners.may_set("A", "u", None) && owners.may_set("Unknown", "x", None));
    }

    #[test]
    fn classes_whose_attributes_code_sets_by_name() {
        let mut owners = Owners::default();
        for header in ["A(nn.Module):", "B(A):", "C(nn.Module):", "Config:"] {
            owners.read(&format!("class {header}"));
        }
        owners.find_setters("setattr(namespace, self.dest, values)", None);
        assert!(!owners.may_set_options());
        owners.find_setters("setattr(self, name, value)", Some("B"));
        owners.find_setters("# setattr(model, name, value)", None);
        assert!(owners.may_set_by_name("A") && !owners.may_set_by_name("C") && !owners.may_set_by_name("Config"));
        owners.find_setters("setattr(cfg, name, value)", None);
        assert!(!owners.may_set_by_name("C") && owners.may_set_by_name("Config"));
        owners.find_setters("args.__setattr__('rate', value); setattr(model, \"rate\", 3)", Some("A"));
        assert!(!owners.may_set_by_name("C"));
        owners.find_setters("setattr(model, name, value)", Some("A"));
        assert!(owners.may_set_by_name("C"));
    }
}
