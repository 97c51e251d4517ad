//! Imports of modules and names that the project does not have.

use std::path::{Path, PathBuf};

use super::imports::Kind;
use super::{FileKind, Project, Resolved, SourceFile};
use crate::libraries;
use crate::syntax::FileId;

/// If a module contains one of these texts, its source may not show all names that it defines. pytest-cases binds the
/// names in `@fixture(unpack_into="model, size")`.
const DYNAMIC: &[&str] =
    &["__getattr__", "globals()", "locals()", "vars()", "exec(", "sys.modules", "_LazyModule", "unpack_into="];

/// Whether a module contains one of these texts, or its own `__dict__`; that of an object defines no names of the
/// module, and neither does `setattr(self, name, value)`.
fn defines_by_name(text: &str) -> bool {
    let before = |at: usize| text.get(..at).unwrap_or_default();
    DYNAMIC.iter().any(|dynamic| text.contains(dynamic))
        || text.match_indices("__dict__").any(|(at, _)| !before(at).ends_with('.'))
        || text.split("setattr(").skip(1).any(|arguments| !arguments.starts_with("self"))
}

/// Parts of the names of modules that a build often creates, or that are often kept out of the
/// repository.
const BUILT: &[&str] = &["version", "pb2", "cuda", "_ext", "ext_", "cpp", "kernel", "generated", "secret", "local"];

/// Why an import fails, and the names that the module defines instead.
pub(crate) type Missing<'p> = (String, Vec<&'p str>);

impl Project {
    /// Why `from module import name` in a file fails, if the project itself shows it. Without `name`, why
    /// `import module` fails.
    pub(crate) fn missing_import(
        &self,
        from: FileId,
        module: &str,
        level: u32,
        name: Option<&str>,
    ) -> Option<Missing<'_>> {
        if level == 0 && self.changes_path(from) && !self.is_only_package(module) {
            return None;
        }
        match self.resolve_import(from, module, level) {
            Resolved::File(file) if file.id != from => self.missing_name(from, file, (module, level), name?),
            Resolved::External => {
                let other_number = || if level == 0 { self.other_number(from, module, name) } else { None };
                let message = self.missing_module(from, module, level).or_else(other_number);
                message.map(|message| (message, Vec::new()))
            }
            Resolved::File(_) | Resolved::Namespace(_) => None,
        }
    }

    /// Whether the program may change where Python searches for modules.
    fn changes_path(&self, file: FileId) -> bool {
        ["sys.path", "site.addsitedir", "PYTHONPATH"].iter().any(|text| self.mentions(file, text))
    }

    /// Whether the project has one folder of the name with which a module begins, and the folder is a package.
    /// Python then finds this package, wherever it searches in the project.
    fn is_only_package(&self, module: &str) -> bool {
        let Some((top, _)) = module.split_once('.') else { return false };
        let mut found: Option<&Path> = None;
        for file in self.named_files() {
            for folder in file.canonical().ancestors().skip(1).take_while(|above| above.starts_with(self.root())) {
                let is_other =
                    folder.file_name().is_some_and(|name| name == top) && found.is_none_or(|it| it != folder);
                if is_other && found.replace(folder).is_some() {
                    return false;
                }
            }
        }
        found.is_some_and(|folder| self.has(folder, "__init__.py", Kind::File))
    }

    /// A module of the project that is meant by `from configs.options import seed`: the one in `config`, if it
    /// has this name.
    fn other_number(&self, from: FileId, module: &str, name: Option<&str>) -> Option<String> {
        let (top, rest) = module.split_once('.')?;
        let other = match top.strip_suffix('s') {
            Some(singular) => singular.to_owned(),
            None => format!("{top}s"),
        };
        let meant = format!("{other}.{rest}");
        let Resolved::File(file) = self.resolve_import(from, &meant, 0) else { return None };
        let defines = name.is_none_or(|name| !file.bindings().of_name(name).is_empty());
        let is_own = !libraries::is_known(top) && file.canonical().starts_with(self.root());
        (defines && is_own).then(|| format!("the project has no module `{module}`: `{meant}` is meant"))
    }

    fn missing_name<'p>(
        &'p self,
        from: FileId,
        file: &'p SourceFile,
        (module, level): (&str, u32),
        name: &str,
    ) -> Option<Missing<'p>> {
        if self.may_define(from, file, name) {
            return None;
        }
        let bindings = file.bindings();
        let submodule = if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") };
        if !matches!(self.resolve_import(from, &submodule, level), Resolved::External) {
            return None;
        }
        let path = file.canonical();
        // The folder of a project may contain a package of the same name, which is the one that is installed.
        let top = module.split('.').next().unwrap_or_default();
        let mut above = path.ancestors().skip(1).take_while(|above| above.starts_with(self.root()));
        if level == 0 && above.any(|above| self.has(&above.join("src"), top, Kind::Folder)) {
            return None;
        }
        let is_package = path.file_name().is_some_and(|file| file == "__init__.py");
        if is_package && (is_built(name) || self.has_stem(path.parent()?, name) || self.builds(from, name)) {
            return None;
        }
        // Python may find a module of this name in another folder first. If the import leaves out the name
        // of the package that contains the module, it may mean an installed package of the same name.
        let depth = module.split('.').count() + usize::from(is_package);
        let is_inside = path.ancestors().nth(depth).is_some_and(|base| self.has(base, "__init__.py", Kind::File));
        if level == 0 && (is_inside || self.candidates(from, module).iter().any(|other| other != path)) {
            return None;
        }
        Some((format!("`{}` does not define `{name}`", self.own_name(path)), bindings.names().collect()))
    }

    /// Whether a file may bind a name, or another file may set it.
    fn may_define(&self, from: FileId, file: &SourceFile, name: &str) -> bool {
        let is_known = file.kind() == FileKind::Python && file.parsed().issues.is_empty();
        let bindings = file.bindings();
        !is_known
            || name.starts_with("__")
            || !bindings.of_name(name).is_empty()
            || !bindings.stars.is_empty()
            || bindings.has_inner_star
            || defines_by_name(file.text())
            || bindings.globals.contains(name)
            || self.assigns_from_outside(from, name)
            || self.is_filled_by_name(from, file)
            || self.sets_in_callers(from)
            || self.file(from).text().contains("setattr(") && self.assigns(from, name)
    }

    /// Whether the program sets attributes of modules by name, and a string contains the name of this module:
    /// `sys.modules["package.api"]`.
    fn is_filled_by_name(&self, from: FileId, file: &SourceFile) -> bool {
        let path = file.canonical();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let Some(folder) = path.parent().and_then(|folder| folder.file_name()) else { return false };
        let quoted = ['"', '\''].map(|quote| format!("{}.{stem}{quote}", folder.to_string_lossy()));
        self.sets_in_modules(from)
            && self.program_texts(from).iter().any(|text| quoted.iter().any(|name| text.contains(name)))
    }

    /// Why a module of the project certainly lacks a name that a program reads as its attribute. The submodules
    /// of a package do not count, because any import may add them.
    pub(crate) fn missing_member(&self, from: FileId, module: FileId, name: &str) -> Option<Missing<'_>> {
        let file = self.file(module);
        let is_package = file.canonical().file_name().is_some_and(|file| file == "__init__.py");
        if from == module || self.may_define(from, file, name) || self.programs().passes_text(self.file(from), name) {
            return None;
        }
        if is_package {
            let folder = file.canonical().parent()?;
            // An installed package may have the same name.
            let is_library = folder.file_name().and_then(|name| name.to_str()).is_none_or(libraries::is_known);
            if is_library || is_built(name) || self.has_stem(folder, name) || self.builds(from, name) {
                return None;
            }
        }
        // If the program changes where Python searches, the module may be another file of this name, unless
        // the import says that the module is in the same folder.
        let name_of = |file: &SourceFile| {
            let path = file.canonical();
            let module = if path.ends_with("__init__.py") { path.parent()? } else { path };
            module.file_name().map(ToOwned::to_owned)
        };
        let stem = file.canonical().file_stem().unwrap_or_default().to_string_lossy();
        let is_beside = self.file(from).text().contains(&format!("from . import {stem}"));
        if !is_beside
            && self.changes_path(from)
            && self.named_files().filter(|other| name_of(other) == name_of(file)).count() > 1
        {
            return None;
        }
        let message = format!("`{}` does not define `{name}`", self.own_name(file.canonical()));
        Some((message, file.bindings().names().collect()))
    }

    fn missing_module(&self, from: FileId, module: &str, level: u32) -> Option<String> {
        let folder = self.file(from).canonical().parent()?.to_owned();
        let parts: Vec<&str> = module.split('.').filter(|part| !part.is_empty()).collect();
        let top = *parts.first()?;
        if level == 0 && (libraries::is_known(top) || parts.len() < 2) {
            return None;
        }
        let bases = match level {
            0 => self.bases(&folder),
            _ => vec![folder.ancestors().nth(usize::try_from(level - 1).ok()?)?.to_owned()],
        };
        let mut bases = bases.into_iter().filter(|base| level > 0 || self.is_package_folder(&base.join(top)));
        let (base, other) = (bases.next()?, bases.next());
        // In a package, `import` finds the modules of the same folder only if the file is run as a script.
        // The same holds for a folder below a package.
        let mut around = base.ancestors().take_while(|above| above.starts_with(self.root()));
        let is_package = level == 0
            && around.any(|above| self.has(above, "__init__.py", Kind::File))
            && !self.runs_scripts(&base, top);
        if other.is_some() || is_package || !base.starts_with(self.root()) {
            return None;
        }
        // A script in a folder with the name of a library means the library.
        let is_named_so = folder.starts_with(base.join(top)) && !self.has(&base.join(top), "__init__.py", Kind::File);
        if level == 0 && base != self.root() && !self.is_distribution(&base) && is_named_so {
            return None;
        }
        // The folder holds only packages, and a requirement provides the other parts of this namespace package, or
        // nothing states the requirements.
        let holds_modules = self
            .listing(&base.join(top))
            .iter()
            .any(|(name, kind)| *kind == Kind::File && Path::new(name).extension().is_some_and(|kind| kind == "py"));
        if level == 0 && !holds_modules && (self.requires(from, top) || top != "src" && !self.has_requirements(from)) {
            return None;
        }
        // A package around the file may provide the module under another name.
        let provides = |file: &SourceFile| {
            let package = file.canonical().parent().filter(|_| file.canonical().ends_with("__init__.py"));
            package.is_some_and(|package| folder.starts_with(package) || package.starts_with(base.join(top)))
                && file.text().contains("sys.modules[")
        };
        if self.named_files().any(provides) {
            return None;
        }
        // A file with an import of a folder further up, but outside a package, may be meant for another project.
        if level > 1 && !self.has(&folder, "__init__.py", Kind::File) {
            return None;
        }
        // Without an `__init__.py`, a relative import may find modules of other distributions, too.
        let outer = base.ancestors().take_while(|above| above.starts_with(self.root()));
        let packages: Vec<&str> = match level {
            0 => vec![top],
            _ if self.has(&base, "__init__.py", Kind::File) => Vec::new(),
            _ => outer.filter_map(|above| above.file_name()?.to_str()).collect(),
        };
        // If a file imports modules of the folder under the folder's name, the folder is a package.
        let is_inside = || level == 0 && (base != folder && self.is_imported(&base) || self.is_imported_in(&base, top));
        let mut at = base.clone();
        for part in parts {
            let inner = at.join(part);
            if self.has(&at, part, Kind::Folder) {
                at = inner;
                continue;
            }
            let may_exist = self.has_stem(&at, part)
                || is_built(part)
                || !self.is_package_folder(&at)
                || self.is_namespace(&at)
                || self.is_submodule(&inner)
                || at != base && self.is_distribution(&at);
            let known = !may_exist
                && !packages.iter().any(|package| self.shares_package(from, package))
                && !self.builds(from, part)
                && !is_inside();
            return known.then(|| format!("the project has no module `{}`", self.own_name(&inner)));
        }
        None
    }

    /// Whether the project's root folder has a script that imports a module beside it. The folder may have an
    /// `__init__.py` nevertheless.
    fn runs_scripts(&self, folder: &Path, module: &str) -> bool {
        let imports = [format!("from {module}"), format!("import {module}")];
        folder == self.root()
            && self.named_files().any(|file| {
                file.canonical().parent() == Some(folder)
                    && file.text().contains("__main__")
                    && imports.iter().any(|text| file.text().contains(text.as_str()))
            })
    }

    /// Whether a path is in a submodule of the repository, which may not be checked out.
    fn is_submodule(&self, path: &Path) -> bool {
        let Some(text) = self.data_below(self.root(), &self.root().join(".gitmodules")) else { return false };
        let folders = text.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim().strip_prefix('='));
        folders.into_iter().any(|folder| path.starts_with(self.root().join(folder.trim())))
    }

    /// Whether the `__init__.py` of a folder says that other distributions may have parts of the package.
    fn is_namespace(&self, folder: &Path) -> bool {
        let file = folder.join("__init__.py");
        let text = self.load(&file).map(SourceFile::text).unwrap_or_default();
        ["declare_namespace", "extend_path"].iter().any(|call| text.contains(call))
    }

    /// Whether a folder contains what installs a package, and so is not the package itself.
    fn is_distribution(&self, folder: &Path) -> bool {
        let builds = ["pyproject.toml", "setup.py", "setup.cfg"];
        !self.has(folder, "__init__.py", Kind::File) && builds.iter().any(|name| self.has(folder, name, Kind::File))
    }

    /// The files to which `import module` may refer, in all folders in which Python may search.
    fn candidates(&self, from: FileId, module: &str) -> Vec<PathBuf> {
        let Some(folder) = self.file(from).canonical().parent() else { return Vec::new() };
        let relative: PathBuf = module.split('.').collect();
        let paths = self.bases(folder).into_iter().flat_map(|base| {
            let own = base.join(&relative);
            [own.with_extension("py"), own.join("__init__.py")]
        });
        paths.filter(|path| path.is_file()).collect()
    }

    /// The file from which `from module import name, …` gets these names: `found`, or, if it certainly lacks a name,
    /// the only other module of this name that has all of them. A program that is started from another folder
    /// finds that one.
    pub(crate) fn defining(&self, from: FileId, found: FileId, module: &str, names: &[&str]) -> FileId {
        let path = self.file(found).canonical();
        let has_all = |file: &SourceFile| names.iter().all(|name| *name == "*" || self.may_define(from, file, name));
        let is_package = path.ends_with("__init__.py");
        if is_package || names.contains(&"*") || has_all(self.file(found)) {
            return found;
        }
        let others = self.candidates(from, module).into_iter().filter(|other| other != path);
        let mut others = others.filter_map(|other| self.load(&other).ok()).filter(|file| has_all(file));
        match (others.next(), others.next()) {
            (Some(only), None) => only.id,
            _ => found,
        }
    }

    /// The folders in which Python may search for the modules that a file imports: the root, its `src`,
    /// and the folders between the root and the file.
    fn bases(&self, folder: &Path) -> Vec<PathBuf> {
        let root = self.root();
        let mut all: Vec<PathBuf> =
            folder.ancestors().take_while(|above| above.starts_with(root)).map(Path::to_owned).collect();
        all.push(root.join("src"));
        all
    }

    /// Whether a file of the project imports a module of a folder as `folder.module`.
    fn is_imported(&self, folder: &Path) -> bool {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return false };
        let texts = [format!("from {name}."), format!("import {name}.")];
        folder != self.root() && self.named_files().any(|file| texts.iter().any(|text| file.text().contains(text)))
    }

    /// Whether a file of the project imports a module of a folder as `package.folder.module`.
    fn is_imported_in(&self, folder: &Path, module: &str) -> bool {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return false };
        let text = format!(".{name}.{module}");
        folder != self.root() && self.named_files().any(|file| file.text().contains(&text))
    }

    /// Whether a folder contains modules, directly or one level below.
    fn is_package_folder(&self, folder: &Path) -> bool {
        let listing = self.listing(folder);
        let is_module = |name: &std::ffi::OsStr| Path::new(name).extension().is_some_and(|kind| kind == "py");
        let has_modules = |folder: &Path| self.listing(folder).keys().any(|name| is_module(name));
        has_modules(folder)
            || listing.iter().any(|(name, kind)| *kind == Kind::Folder && has_modules(&folder.join(name)))
    }

    /// Whether a folder has a file or folder of this name with any extension, such as a compiled module.
    fn has_stem(&self, folder: &Path, name: &str) -> bool {
        let stem = |entry: &std::ffi::OsString| entry.to_string_lossy().split('.').next() == Some(name);
        self.listing(folder).keys().any(stem)
    }

    /// A path as it is shown to users: relative to the root.
    fn own_name(&self, path: &Path) -> String {
        path.strip_prefix(self.root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}

/// Modules that ROS generates from descriptions of messages.
const GENERATED: &[&str] = &["action", "msg", "srv"];

/// Folders that are often kept out of the repository.
const IGNORED: &[&str] = &["data", "dataset", "datasets", "external", "third_party", "thirdparty", "vendor"];

/// Whether a module of this name is often built, or kept out of the repository.
fn is_built(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with('_')
        || GENERATED.contains(&name.as_str())
        || IGNORED.contains(&name.as_str())
        || BUILT.iter().any(|part| name.contains(part))
}
