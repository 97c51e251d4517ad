//! Hydra: the configuration that `@hydra.main` composes, and objects made from it.

use super::document::{self, Dialect, Node};
use super::{files, omegaconf};
use crate::library::common::any_str;
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound, CommandOption};
use crate::value::{Key, Partial, Value, sym};

const RUN: &str = "hydra.main.decorator";
/// The largest nesting depth of defaults lists, and of objects in objects.
const MOST_NESTED: usize = 12;

pub(crate) fn register(t: &mut Table) {
    t.def("hydra.main", "config_path=None, config_name=None, version_base=None", |_, b| {
        let kwargs = ["config_path", "config_name"].map(|name| (sym(name), b.get(name)));
        partial(Value::path(RUN), Vec::new(), kwargs.to_vec())
    });
    t.def(RUN, "task_function, config_path=None, config_name=None", main);
    t.family("hydra.utils.", "instantiate call", "config, *args, **kwargs", |cx, b| {
        let args: Vec<Arg> = b.rest.clone();
        instantiate(cx, &b.get("config"), &args, &b.extra, 0)
    });
    t.alias("hydra.instantiate", "hydra.utils.instantiate");
    t.family("hydra.utils.", "get_original_cwd to_absolute_path", "*args", any_str);
    t.family("hydra.utils.", "get_class get_method get_object", "path", |cx, b| {
        let span = cx.span;
        b.get("path").as_str().map_or(Value::Unknown, |path| cx.it.object_at(path, span))
    });
}

fn partial(func: Value, args: Vec<Value>, kwargs: Vec<(crate::value::Sym, Value)>) -> Value {
    Value::Partial(std::rc::Rc::new(Partial { func, args, kwargs }))
}

/// The decorated function: a call passes the configuration to the function of the program.
fn main(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let path = b.get("config_path");
    let config = match (path.as_str().or(path.is_none().then_some("")), b.get("config_name").as_str()) {
        (Some(folder), Some(name)) => compose(cx, folder, name.trim_end_matches(".yaml"), 0),
        _ => None,
    };
    let config = config.map_or(Value::Unknown, |tree| {
        let config = omegaconf::resolved(cx, tree.clone());
        // The command line may override any entry.
        let name = [path.as_str().unwrap_or_default(), b.get("config_name").as_str().unwrap_or_default()].join("/");
        let name = format!("{}.yaml", name.trim_start_matches('/').trim_end_matches(".yaml"));
        let made = cx.span;
        match cx.it.option(&CommandOption { name: &name, made, default: &config, choices: &[], is_list: false }) {
            Value::Unknown => omegaconf::with_unknown_entries(cx, tree),
            chosen => chosen,
        }
    });
    partial(b.get("task_function"), vec![config], Vec::new())
}

/// A configuration merged with the files of its defaults list, in the order of the list. The file
/// that contains the list is merged at the position of `_self_`, or last if the list has no
/// `_self_`.
fn compose(cx: &mut Cx<'_, '_>, folder: &str, name: &str, depth: usize) -> Option<Node> {
    if depth > MOST_NESTED {
        return None;
    }
    let path = if folder.is_empty() { format!("{name}.yaml") } else { format!("{folder}/{name}.yaml") };
    let text = files::file_text(cx, &Value::str(&path))?;
    let mut own = match document::yaml(&text, Dialect::OmegaConf)? {
        Node::Null => Node::Map(Vec::new()),
        own @ Node::Map(_) => own,
        _ => return None,
    };
    let defaults = match take(&mut own, "defaults") {
        Some(Node::List(defaults)) => defaults,
        _ => Vec::new(),
    };
    let mut own = Some(own);
    let mut whole = Node::Map(Vec::new());
    for default in defaults {
        let (group, option) = match default {
            Node::Text(itself) if itself == "_self_" => {
                own.take().into_iter().for_each(|own| whole.merge(own));
                continue;
            }
            Node::Text(file) => match file.rsplit_once('/') {
                Some((group, option)) => (group.to_owned(), option.to_owned()),
                None => (String::new(), file),
            },
            Node::Map(entries) => match entries.into_iter().next()? {
                (Node::Text(group), Node::Text(option)) => (group, option),
                // `group: null` selects nothing.
                (_, Node::Null) => continue,
                _ => return None,
            },
            _ => return None,
        };
        // The file name contains an interpolation, which depends on other choices.
        if option.contains("${") || group.contains("${") {
            return None;
        }
        let words: Vec<&str> = group.split_whitespace().collect();
        let optional = words.contains(&"optional");
        let group = words.last().copied().unwrap_or_default();
        // This entry contains Hydra's own settings, or overrides a choice of another defaults list.
        if group.starts_with("hydra") || words.contains(&"override") {
            continue;
        }
        let (group, package) = match group.split_once('@') {
            Some((group, package)) => (group, Some(package.to_owned())),
            None => (group, None),
        };
        let group = group.trim_start_matches('/');
        let inner = if group.is_empty() { folder.to_owned() } else { format!("{folder}/{group}") };
        let inner = inner.trim_start_matches('/');
        let Some(part) = compose(cx, inner, option.trim_end_matches(".yaml"), depth + 1) else {
            if optional {
                continue;
            }
            return None;
        };
        let header = files::file_text(cx, &Value::str(&format!("{inner}/{option}.yaml")));
        let package = package.or_else(|| header.as_deref().and_then(package_of));
        let place = match package.as_deref() {
            Some("_global_") => String::new(),
            Some("_group_") | None => group.replace('/', "."),
            Some(package) => package.to_owned(),
        };
        let placed = place
            .split('.')
            .rev()
            .filter(|key| !key.is_empty())
            .fold(part, |node, key| Node::Map(vec![(Node::Text(key.to_owned()), node)]));
        whole.merge(placed);
    }
    if let Some(own) = own {
        whole.merge(own);
    }
    Some(whole)
}

/// `# @package name` at the top of a file.
fn package_of(text: &str) -> Option<String> {
    let comments = text.lines().take_while(|line| line.starts_with('#') || line.trim().is_empty());
    let mut found = comments.filter_map(|line| line.trim_start_matches('#').trim().strip_prefix("@package"));
    Some(found.next()?.trim().to_owned())
}

fn take(tree: &mut Node, key: &str) -> Option<Node> {
    let Node::Map(entries) = tree else { return None };
    let at = entries.iter().position(|(have, _)| have.text() == Some(key))?;
    Some(entries.remove(at).1)
}

/// Calls `_target_` with the other entries, which may contain `_target_` themselves.
fn instantiate(
    cx: &mut Cx<'_, '_>,
    config: &Value,
    args: &[Arg],
    extra: &[(crate::value::Sym, Arg)],
    depth: usize,
) -> Value {
    if let Some(items) = cx.items(config).filter(|_| depth > 0 && config.as_obj().is_some()) {
        let made = items.iter().map(|item| instantiate(cx, item, &[], &[], depth + 1)).collect();
        return cx.list(made);
    }
    let Some(dict) = cx.it.heap.dict_of(config).cloned() else {
        return if depth > 0 { config.clone() } else { Value::Unknown };
    };
    let span = cx.span;
    let target = dict.entries.get(&Key::Str("_target_".into())).cloned();
    let known = dict.open.is_none() && depth <= MOST_NESTED;
    let Some(target) = target.as_ref().and_then(Value::as_str).filter(|_| known) else {
        return if depth > 0 && target.is_none() { config.clone() } else { Value::Unknown };
    };
    let callee = cx.it.object_at(target, span);
    let mut call = Args { pos: args.to_vec(), ..Args::default() };
    let mut later = false;
    for (key, value) in &dict.entries {
        match key {
            Key::Str(name) if &**name == "_partial_" => later = value.as_bool() != Some(false),
            Key::Str(name) if name.starts_with('_') && name.ends_with('_') => {}
            Key::Str(name) if !extra.iter().any(|(have, _)| have.as_str() == &**name) => {
                let value = instantiate(cx, value, &[], &[], depth + 1);
                call.kw.push((sym(name), Arg::new(value, span)));
            }
            _ => {}
        }
    }
    call.kw.extend(extra.iter().cloned());
    if later {
        let positional = call.pos.into_iter().map(|a| a.value).collect();
        let named = call.kw.into_iter().map(|(name, a)| (name, a.value)).collect();
        return partial(callee, positional, named);
    }
    cx.call(&callee, call)
}
