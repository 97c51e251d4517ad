//! Functions of other files of the project, as a file imports them.

use crate::project::{Project, Resolved};
use crate::syntax::ast::StmtFunctionDef;
use crate::syntax::{FileId, Stmt, bound_by, statements};

/// The function that a call of `name(…)` or `module.name(…)` in a file runs, if the file imports it from a module of
/// the project that defines exactly one function of this name.
pub(super) fn imported<'p>(project: &'p Project, file: FileId, path: &[&str]) -> Option<&'p StmtFunctionDef> {
    let (bound, member) = match path {
        [name] => (*name, None),
        [module, name] => (*module, Some(*name)),
        _ => return None,
    };
    let body = &project.file(file).parsed().module.body;
    let mut found = statements(body, true).into_iter().filter_map(|stmt| match stmt {
        Stmt::ImportFrom(import) => {
            let alias = import.names.iter().find(|alias| bound_by(alias) == bound)?;
            let module = import.module.as_ref().map_or("", |module| module.as_str());
            Some(match member {
                None => (module.to_owned(), import.level, alias.name.as_str()),
                // `from package import module`
                Some(member) if module.is_empty() => (alias.name.to_string(), import.level, member),
                Some(member) => (format!("{module}.{}", alias.name), import.level, member),
            })
        }
        Stmt::Import(import) => {
            let alias = import.names.iter().find(|alias| bound_by(alias) == bound)?;
            // `import a.b` binds `a`.
            let is_whole = alias.asname.is_some() || !alias.name.contains('.');
            Some((alias.name.to_string(), 0, member.filter(|_| is_whole)?))
        }
        _ => None,
    });
    let (module, level, name) = found.next().filter(|_| found.next().is_none())?;
    let Resolved::File(source) = project.resolve_import(file, &module, level) else { return None };
    let mut defined = source.parsed().module.body.iter().filter_map(Stmt::as_function_def_stmt);
    let def = defined.by_ref().find(|def| def.name.as_str() == name)?;
    defined.all(|other| other.name.as_str() != name).then_some(def)
}
