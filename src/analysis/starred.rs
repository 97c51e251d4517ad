//! The names that `from … import *` may bind.

use rustc_hash::FxHashSet;

use crate::library::standard_names;
use crate::project::{FileKind, Project, Resolved, SourceFile};
use crate::syntax::{self, Expr, FileId, Stmt, ast};

/// If a module contains one of these texts, its syntax may not show all names that it defines.
const DYNAMIC: &[&str] = &["exec(", "globals()", "locals()", "vars()", "__getattr__(", "sys.modules[", "__dict__"];

/// The names that the star imports of a file may bind; `None` if a star import takes them from a
/// module that is neither a part of the project nor one of some modules of the standard library, or whose
/// names are not known.
pub(super) fn starred(project: &Project, file: FileId) -> Option<FxHashSet<&str>> {
    let mut names = FxHashSet::default();
    let mut seen = vec![file];
    let mut waiting = vec![file];
    while let Some(file) = waiting.pop() {
        for import in stars(&project.file(file).parsed().module.body) {
            let module = import.module.as_ref().map_or("", ast::Identifier::as_str);
            let source = match project.resolve_import(file, module, import.level) {
                Resolved::File(source) => source,
                Resolved::External if import.level == 0 => {
                    for name in standard_names(module)? {
                        names.insert(name);
                    }
                    continue;
                }
                Resolved::External | Resolved::Namespace(_) => return None,
            };
            if !seen.contains(&source.id) {
                seen.push(source.id);
                waiting.push(source.id);
                add_names(source, &mut names)?;
            }
        }
    }
    Some(names)
}

/// Whether a file of the program calls `exec`, and contains the name of this file:
/// `exec(open("steps/shuffle.py").read())`.
pub(super) fn is_executed(project: &Project, file: FileId) -> bool {
    let Some(name) = project.file(file).path.file_name().and_then(|name| name.to_str()) else { return false };
    project.program_texts(file).iter().any(|text| text.contains("exec(") && text.contains(name))
}

fn stars(body: &[Stmt]) -> impl Iterator<Item = &ast::StmtImportFrom> {
    let imports = syntax::statements(body, true).into_iter().filter_map(Stmt::as_import_from_stmt);
    imports.filter(|import| import.names.iter().any(|alias| alias.name.as_str() == "*"))
}

/// Adds the names that a module may bind. `None` if they are not known.
fn add_names<'p>(source: &'p SourceFile, names: &mut FxHashSet<&'p str>) -> Option<()> {
    let is_known = source.kind() == FileKind::Python
        && source.parsed().issues.is_empty()
        && !DYNAMIC.iter().any(|text| source.text().contains(text));
    if !is_known {
        return None;
    }
    names.extend(source.bindings().names());
    for stmt in syntax::statements(&source.parsed().module.body, true) {
        match stmt {
            // The called function may set the names that it returns.
            Stmt::Assign(assign) if assign.value.is_call_expr() && assign.targets.iter().any(is_all) => return None,
            Stmt::Global(global) => names.extend(global.names.iter().map(ast::Identifier::as_str)),
            // In a package, `from .layers import x` also binds `layers`.
            Stmt::ImportFrom(import) if import.level > 0 => {
                names.extend(import.module.iter().flat_map(|module| module.as_str().split('.')));
            }
            _ => {}
        }
    }
    Some(())
}

/// Whether an expression is the name `__all__`.
fn is_all(expr: &Expr) -> bool {
    expr.as_name_expr().is_some_and(|name| name.id.as_str() == "__all__")
}
