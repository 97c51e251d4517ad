//! Which classes set an attribute on `self`, and which classes may share an object.

use rustc_hash::{FxHashMap, FxHashSet};

/// The attributes that the classes of a program set, read from the lines of its texts.
#[derive(Default)]
pub(super) struct Owners {
    /// For each attribute, the classes in which a line assigns it to `self`. An assignment to another
    /// object, or outside of classes, has an empty name.
    setters: FxHashMap<String, FxHashSet<String>>,
    /// The bases of each class, without the modules in their names. `None` if they are not all names.
    bases: FxHashMap<String, Option<FxHashSet<String>>>,
    /// The names that imports give to other names: `import b as c`.
    aliases: FxHashSet<String>,
}

impl Owners {
    /// Records an assignment to `owner.name` in a method of a class.
    pub(super) fn assign(&mut self, owner: &str, name: &str, class: Option<&str>) {
        let class = class.filter(|_| owner == "self").unwrap_or_default();
        let setters = match self.setters.get_mut(name) {
            Some(setters) => setters,
            None => self.setters.entry(name.to_owned()).or_default(),
        };
        if !setters.contains(class) {
            setters.insert(class.to_owned());
        }
    }

    /// Records the header of a class, or an import with a new name.
    pub(super) fn read(&mut self, code: &str) {
        if let Some(header) = code.strip_prefix("class ") {
            let end = header.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(header.len());
            let (name, rest) = header.split_at_checked(end).unwrap_or_default();
            let found = bases(rest);
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

    /// Whether some line may set the attribute on an object of the class: a line of the class itself, of one
    /// with which it may share an object, or one that sets it on another object.
    pub(super) fn may_set(&self, class: &str, name: &str) -> bool {
        let Some(setters) = self.setters.get(name) else { return false };
        let Some(own) = self.line(class) else { return true };
        setters.iter().any(|setter| {
            setter.is_empty()
                || self.line(setter).is_none_or(|line| {
                    line.contains(class) || own.contains(setter.as_str()) || self.have_common_subclass(class, setter)
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
        assert!(owners.may_set("A", "x") && !owners.may_set("C", "x"));
        assert!(owners.may_set("C", "y") && !owners.may_set("A", "y"));
        for name in ["z", "w", "v"] {
            assert!(owners.may_set("C", name), "{name}");
        }
        assert!(!owners.may_set("A", "u") && owners.may_set("Unknown", "x"));
    }
}
