//! The tables of a library's functions and classes.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::cx::Cx;
use super::signatures;
use crate::python::{Args, Bound, Sig};
use crate::value::{Dtype, ObjId, Sym, Type, Value, dotted, sym};

/// The model of a function: computes the result from bound arguments.
pub(super) type Run = fn(&mut Cx<'_, '_>, &Bound) -> Value;

/// A function or method of a library.
pub(crate) struct Entry {
    /// The overloads. The first one that binds is used.
    pub sigs: Vec<Arc<Sig>>,
    pub run: Run,
    /// The function whose contracts also apply to this one (`torch.Tensor.gather` →
    /// `torch.gather`).
    pub same_as: Option<Sym>,
}

impl Entry {
    /// Binds the arguments to the first overload that accepts them.
    pub(crate) fn bind(&self, args: &Args) -> Option<Bound> {
        let bind = |args: &Args| self.sigs.iter().find_map(|sig| sig.bind(args));
        bind(args).or_else(|| bind(&numpy_names(args)?))
    }
}

/// The arguments with NumPy's keywords replaced by PyTorch's, because many functions of PyTorch
/// accept both.
fn numpy_names(args: &Args) -> Option<Args> {
    let ours = |name: &str| match name {
        "axis" => Some("dim"),
        "keepdims" => Some("keepdim"),
        "x" | "a" | "x1" => Some("input"),
        "x2" => Some("other"),
        _ => None,
    };
    let mut renamed = args.clone();
    for (name, _) in &mut renamed.kw {
        if let Some(other) = ours(name.as_str()) {
            *name = sym(other);
        }
    }
    renamed.kw.iter().zip(&args.kw).any(|((new, _), (old, _))| new != old).then_some(renamed)
}

/// The effect of `Class(…)` besides creating the instance.
pub(super) type Init = fn(&mut Cx<'_, '_>, ObjId, &Bound);
/// The effect of `instance(…)`.
pub(super) type Invoke = fn(&mut Cx<'_, '_>, &Value, Args) -> Option<Value>;
/// A computed attribute. Methods are found in the table instead.
pub(super) type Attribute = fn(&mut Cx<'_, '_>, &Value, Sym) -> Option<Value>;

/// A class of a library.
pub(crate) struct Class {
    /// All base classes, nearest first, without the class itself.
    pub bases: Vec<Sym>,
    pub sigs: Vec<Arc<Sig>>,
    pub init: Option<Init>,
    pub invoke: Option<Invoke>,
    pub attribute: Option<Attribute>,
    /// Instances keep every constructor argument as an attribute of the same name.
    pub keeps_arguments: bool,
    /// If present, a call of the class runs this function instead of creating an instance
    /// (`torch.Size`, `torch.device`).
    pub make: Option<Run>,
}

/// A constant of a library.
#[derive(Clone)]
pub(crate) enum Constant {
    Int(i64),
    Float(f64),
    Dtype(Dtype),
    Str(&'static str),
    Bool(bool),
    None,
    /// A value of a known type.
    Any(Type),
    Unknown,
}

impl Constant {
    pub(crate) fn value(&self) -> Value {
        match self {
            Constant::Int(n) => Value::Int(*n),
            Constant::Float(x) => Value::Float(*x),
            Constant::Dtype(d) => Value::Dtype(*d),
            Constant::Str(s) => Value::str(s),
            Constant::Bool(b) => Value::Bool(*b),
            Constant::None => Value::None,
            Constant::Any(ty) => Value::Any(*ty),
            Constant::Unknown => Value::Unknown,
        }
    }
}

#[derive(Default)]
pub(crate) struct Table {
    pub functions: FxHashMap<Sym, Entry>,
    pub classes: FxHashMap<Sym, Class>,
    pub constants: FxHashMap<Sym, Constant>,
    pub aliases: FxHashMap<Sym, Sym>,
    /// Pairs of prefixes that mean the same (`pytorch_lightning` → `lightning`).
    prefixes: Vec<(&'static str, &'static str)>,
    /// Another table, in which base classes of this table's classes are also looked up.
    below: Option<&'static LazyLock<Table>>,
    /// Paths registered by [`Table::listed`] that `signatures.txt` does not list.
    pub unlisted: Vec<String>,
    /// The signatures that were written by hand.
    #[cfg(test)]
    pub by_hand: FxHashMap<Sym, Vec<Arc<Sig>>>,
}

impl Table {
    /// An empty table whose classes may derive from those of another table.
    pub(crate) fn over(below: &'static LazyLock<Table>) -> Table {
        Table { below: Some(below), ..Table::default() }
    }

    /// Functions of PyTorch whose signatures `signatures.txt` lists.
    pub(crate) fn listed(&mut self, prefix: &str, names: &str, run: Run) -> &mut Self {
        for name in names.split_whitespace() {
            let path = format!("{prefix}{name}");
            let sigs = self.signatures(&path);
            #[cfg(test)]
            self.by_hand.remove(&sym(&path));
            self.functions.insert(sym(&path), Entry { sigs, run, same_as: None });
        }
        self
    }

    fn signatures(&mut self, path: &str) -> Vec<Arc<Sig>> {
        let sigs: Vec<_> = signatures::of(path).into_iter().map(Arc::new).collect();
        if sigs.is_empty() {
            self.unlisted.push(path.to_owned());
        }
        sigs
    }

    /// A function with one signature. For a PyTorch function, use this only if its line in
    /// `signatures.txt` cannot be used. Examples: the model merges overloads; the function has
    /// undocumented parameters, or parameters of older versions; the line is missing, or says only
    /// `*args, **kwargs`.
    pub(crate) fn def(&mut self, path: &str, sig: &'static str, run: Run) -> &mut Self {
        self.defs(path, &[sig], run)
    }

    /// A function with several overloads.
    pub(crate) fn defs(&mut self, path: &str, sigs: &[&'static str], run: Run) -> &mut Self {
        let sigs: Vec<_> = sigs.iter().map(|s| Arc::new(Sig::parse(s))).collect();
        #[cfg(test)]
        self.by_hand.insert(sym(path), sigs.clone());
        self.functions.insert(sym(path), Entry { sigs, run, same_as: None });
        self
    }

    /// Several functions with the same signature and model.
    pub(crate) fn family(&mut self, prefix: &str, names: &str, sig: &'static str, run: Run) -> &mut Self {
        for name in names.split_whitespace() {
            self.def(&format!("{prefix}{name}"), sig, run);
        }
        self
    }

    /// Another dotted name for the same thing.
    pub(crate) fn alias(&mut self, path: &str, of: &str) -> &mut Self {
        self.aliases.insert(sym(path), sym(of));
        self
    }

    /// Makes every name below the prefix `from` an alias of the same name below `to`.
    pub(crate) fn prefix(&mut self, from: &'static str, to: &'static str) -> &mut Self {
        self.prefixes.push((from, to));
        self
    }

    pub(crate) fn constant(&mut self, path: &str, value: Constant) -> &mut Self {
        self.constants.insert(sym(path), value);
        self
    }

    /// A class. `bases` are its direct base classes, nearest first. They must be registered before
    /// the class. For a PyTorch class, use [`Table::listed_class`] if `signatures.txt` lists its
    /// constructor.
    pub(crate) fn class(&mut self, path: &str, bases: &[&str], sig: &'static str) -> &mut Class {
        let sig = Arc::new(Sig::parse(sig));
        #[cfg(test)]
        self.by_hand.insert(sym(path), vec![sig.clone()]);
        self.class_of(path, bases, vec![sig])
    }

    /// A class of PyTorch whose constructor `signatures.txt` lists.
    pub(crate) fn listed_class(&mut self, path: &str, bases: &[&str]) -> &mut Class {
        let sigs = self.signatures(path);
        #[cfg(test)]
        self.by_hand.remove(&sym(path));
        self.class_of(path, bases, sigs)
    }

    fn class_of(&mut self, path: &str, bases: &[&str], sigs: Vec<Arc<Sig>>) -> &mut Class {
        let mut all = Vec::new();
        for base in bases {
            let base = sym(base);
            all.push(base);
            let below = || self.below.and_then(|below| below.classes.get(&base));
            if let Some(class) = self.classes.get(&base).or_else(below) {
                all.extend(class.bases.iter().copied());
            }
        }
        let class =
            Class { bases: all, sigs, init: None, invoke: None, attribute: None, keeps_arguments: true, make: None };
        self.classes.entry(sym(path)).insert_entry(class).into_mut()
    }

    /// The canonical path of a dotted name.
    pub(crate) fn canonical(&self, path: Sym) -> Sym {
        let mut path = path;
        for _ in 0..4 {
            if let Some(of) = self.aliases.get(&path) {
                path = *of;
                continue;
            }
            let text = path.as_str();
            let renamed = self.prefixes.iter().find_map(|(from, to)| {
                let rest = text.strip_prefix(from)?;
                (rest.is_empty() || rest.starts_with('.')).then(|| format!("{to}{rest}"))
            });
            match renamed {
                Some(renamed) => path = sym(&renamed),
                None => return path,
            }
        }
        path
    }
}

/// All tables: the main one, and those of less common libraries, which are built on first use.
pub(crate) struct Tables {
    pub main: &'static LazyLock<Table>,
    /// The other tables, by the first component of the dotted name.
    pub others: &'static [(&'static str, LazyLock<Table>)],
}

impl Tables {
    /// The table that contains the path, if any table does.
    fn of(&self, path: Sym) -> &'static Table {
        let text = path.as_str();
        let is_below =
            |root: &str| text.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.others.iter().find(|(root, _)| is_below(root)).map_or(self.main, |(_, table)| table)
    }

    pub(crate) fn function(&self, path: Sym) -> Option<&'static Entry> {
        self.of(path).functions.get(&path)
    }

    pub(crate) fn class(&self, path: Sym) -> Option<&'static Class> {
        self.of(path).classes.get(&path)
    }

    pub(crate) fn constant(&self, path: Sym) -> Option<&'static Constant> {
        self.of(path).constants.get(&path)
    }

    /// The entries of a class and its base classes. Classes that are in no table are left out.
    pub(crate) fn line(&self, class: Sym) -> impl Iterator<Item = &'static Class> + use<'_> {
        let own = self.class(class);
        let bases = own.map(|class| class.bases.as_slice()).unwrap_or_default();
        own.into_iter().chain(bases.iter().filter_map(|base| self.class(*base)))
    }

    /// The canonical path of a dotted name.
    pub(crate) fn canonical(&self, path: Sym) -> Sym {
        let known = CANONICAL.with_borrow(|known| known.get(&path).copied());
        known.unwrap_or_else(|| {
            let of = self.of(path).canonical(path);
            CANONICAL.with_borrow_mut(|known| known.insert(path, of));
            of
        })
    }

    /// The entry of a method: in the class itself, or in the nearest base. For
    /// attributes of `torch.Tensor`, it may also be the entry of the function in `torch`.
    pub(crate) fn method(&self, class: Sym, name: Sym) -> Option<(Sym, &'static Entry)> {
        let bases = self.class(class).map(|c| c.bases.as_slice()).unwrap_or_default();
        std::iter::once(class).chain(bases.iter().copied()).find_map(|class| {
            let path = self.canonical(dotted(class, name));
            if let Some(entry) = self.function(path) {
                return Some((path, entry));
            }
            if class.as_str() == "torch.Tensor" && super::names::is_tensor_attribute(name.as_str()) {
                let path = self.canonical(dotted(sym("torch"), name));
                return self.function(path).map(|entry| (path, entry));
            }
            None
        })
    }
}

thread_local! {
    /// A cache of canonical paths.
    static CANONICAL: RefCell<FxHashMap<Sym, Sym>> = const { RefCell::new(FxHashMap::with_hasher(FxBuildHasher)) };
}
