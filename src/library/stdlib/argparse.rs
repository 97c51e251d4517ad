//! `argparse`: options have their defaults, as when the script is run without arguments.
//!
//! A parser stores the values of its options in a dictionary by destination. The groups of the
//! parser share this dictionary. A required option has no default, so only its type is known.

use std::rc::Rc;

use crate::library::common::{instance, itself, length_of, list_of_str, none, open_attrs};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, CommandOption, Interp, meant, nearest};
use crate::syntax::Span;
use crate::value::{Data, Dict, Key, ObjId, Sym, Type, Value, sym};

/// The attribute that holds a parser's values, as a dictionary by destination. If an option (not
/// only `set_defaults`) sets a destination, the dictionary has a second entry for this destination:
/// a tuple with the option's declaration.
const VALUES: &str = "_values";

/// The attribute that holds the dictionaries of the subcommands of a parser.
const SUBCOMMANDS: &str = "_subcommands";

const NAMESPACE: &str = "argparse.Namespace";
const PARSER: &str = "argparse.ArgumentParser";
const GROUP: &str = "argparse._ActionsContainer";

/// The arguments of `add_argument`.
const OPTIONS: &str = "action nargs const default type choices required help metavar dest";

pub(crate) fn register(t: &mut Table) {
    let container = t.class(GROUP, &[], "");
    container.keeps_arguments = false;
    let parser = t.class(
        PARSER,
        &[GROUP],
        "prog=None, usage=None, description=None, epilog=None, parents=None, formatter_class=None, \
         prefix_chars='-', fromfile_prefix_chars=None, argument_default=None, conflict_handler='error', \
         add_help=True, allow_abbrev=True, exit_on_error=True, **kwargs",
    );
    parser.keeps_arguments = false;
    parser.init = Some(new_parser);
    let namespace = t.class(NAMESPACE, &[], "**kwargs");
    namespace.keeps_arguments = false;
    namespace.init = Some(open_attrs);
    namespace.attribute = Some(missing_option);
    t.class("argparse._SubParsersAction", &[], "").keeps_arguments = false;

    t.def(
        "argparse._ActionsContainer.add_argument",
        "self, *names, action='store', nargs=None, const=None, default=None, type=None, choices=None, \
         required=False, help=None, metavar=None, dest=None, **kwargs",
        add_argument,
    );
    t.family(
        "argparse._ActionsContainer.",
        "add_argument_group add_mutually_exclusive_group",
        "self, *args, **kwargs",
        add_group,
    );
    t.def("argparse._ActionsContainer.set_defaults", "self, **kwargs", set_defaults);
    t.def("argparse._ActionsContainer.get_default", "self, dest", get_default);
    t.def("argparse.ArgumentParser.add_subparsers", "self, *, dest=None, required=False, **kwargs", add_subparsers);
    t.def("argparse._SubParsersAction.add_parser", "self, name, **kwargs", add_parser);
    t.family("argparse.ArgumentParser.", "parse_args parse_intermixed_args", "self, args=None, namespace=None", parse);
    t.family(
        "argparse.ArgumentParser.",
        "parse_known_args parse_known_intermixed_args",
        "self, args=None, namespace=None",
        parse_known,
    );
    t.family("argparse.ArgumentParser.", "print_help print_usage", "self, file=None", none);
    t.family("argparse.ArgumentParser.", "exit error", "self, *args, **kwargs", |cx, _| cx.it.raise("SystemExit"));
    t.family("argparse.ArgumentParser.", "register", "self, *args", itself);
}

/// The parser's dictionary of values, created on first use.
fn values(cx: &mut Cx<'_, '_>, parser: ObjId) -> Value {
    if let Some(found) = cx.it.heap.attr(parser, VALUES) {
        return found;
    }
    let dict = cx.it.heap.dict(Dict::default());
    cx.it.heap.set_attr(parser, VALUES, dict.clone());
    dict
}

fn with_dict(cx: &mut Cx<'_, '_>, parser: &Value, change: impl FnOnce(&mut Dict)) {
    let Some(parser) = parser.as_obj() else { return };
    let Some(id) = values(cx, parser).as_obj() else { return };
    if let Data::Dict(dict) = cx.it.heap.get_mut(id) {
        change(dict);
    }
}

fn new_parser(cx: &mut Cx<'_, '_>, parser: ObjId, b: &Bound) {
    values(cx, parser);
    let parents = b.get("parents");
    if parents.is_none() {
        return;
    }
    let inherited: Option<Vec<Dict>> = cx.items(&parents).and_then(|parents| {
        parents
            .iter()
            .map(|p| p.as_obj().and_then(|p| cx.it.heap.dict_of(&cx.it.heap.attr(p, VALUES)?).cloned()))
            .collect()
    });
    with_dict(cx, &Value::Obj(parser), |dict| match inherited {
        Some(parents) => {
            for parent in parents {
                dict.entries.extend(parent.entries);
                dict.open = dict.open.take().or(parent.open);
            }
        }
        None => dict.open = Some(Value::Unknown),
    });
}

fn add_argument(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let parser = b.get("self");
    // An action of the program may take further arguments.
    if (!b.given("action") || matches!(b.get("action"), Value::Str(_)))
        && let Some((name, arg)) = b.extra.iter().find(|(name, _)| !matches!(name.as_str(), "version" | "deprecated"))
    {
        let near = meant(nearest(name.as_str(), OPTIONS.split(' ')));
        let message = format!("`add_argument` takes no argument `{name}`{near}");
        cx.it.report_arguments(message, arg.span);
    }
    let names: Option<Vec<String>> = b.rest.iter().map(|a| a.value.as_str().map(str::to_owned)).collect();
    // One name without a dash is that of a positional argument.
    if let Some(names) = names.as_deref().filter(|names| names.len() > 1 && !b.open)
        && let Some(name) = names.iter().find(|name| !name.starts_with('-'))
    {
        let message = format!("the option name {name:?} must begin with `-`");
        cx.it.report_arguments(message, cx.span);
    }
    let dest = match b.get("dest") {
        Value::Str(dest) => Some(dest.to_string()),
        Value::None if !b.open => names.as_deref().and_then(destination),
        _ => None,
    };
    let Some(dest) = dest else {
        with_dict(cx, &parser, |dict| dict.open = Some(Value::Unknown));
        return Value::Unknown;
    };
    let positional = names.as_ref().is_some_and(|n| n.iter().all(|n| !n.starts_with('-')));
    let value = if b.open { Some(Value::Unknown) } else { option_value(cx, b, positional) };
    if let Some(value) = value {
        let key = Key::Str(dest.into());
        let own = b.given("default");
        let declared = declaration(cx, names.as_deref().unwrap_or_default(), b);
        with_dict(cx, &parser, |dict| {
            // The first option of a destination determines the value of the destination. If this
            // option has no default, an earlier `set_defaults` determines the value.
            let first = dict.entries.insert(Key::Tuple(vec![key.clone()]), declared).is_none();
            if !dict.entries.contains_key(&key) || (first && own) {
                dict.entries.insert(key, value);
            }
        });
    }
    instance(cx, "argparse.Action", Vec::new())
}

/// The declaration of an option: its longest name, its choices, and its place.
fn declaration(cx: &Cx<'_, '_>, names: &[String], b: &Bound) -> Value {
    let Some(name) = names.iter().max_by_key(|name| name.len()) else { return Value::None };
    // A given option with `nargs` is a list.
    let nargs = b.get("nargs");
    let is_list = !nargs.is_none() && nargs.as_str() != Some("?");
    Value::tuple(vec![Value::str(name), b.get("choices"), Value::place(cx.span), Value::Bool(is_list)])
}

/// Unpacks the result of [`declaration`].
fn declared(cx: &Cx<'_, '_>, declaration: &Value) -> Option<(Rc<str>, Vec<Value>, Span, bool)> {
    let Value::Tuple(parts) = declaration else { return None };
    let [Value::Str(name), choices, made, is_list] = &**parts else { return None };
    Some((name.clone(), cx.items(choices).unwrap_or_default(), made.as_place()?, is_list.as_bool()?))
}

/// The attribute that stores an option: its first long name, or its first short name if it has no
/// long one. For a positional argument: its name.
fn destination(names: &[String]) -> Option<String> {
    let first = names.first()?;
    if !first.starts_with('-') {
        return Some(first.clone());
    }
    let chosen = names.iter().find(|n| n.starts_with("--")).unwrap_or(first);
    Some(chosen.trim_start_matches('-').replace('-', "_"))
}

/// The value of an option in a default run; `None` if the option stores nothing.
fn option_value(cx: &mut Cx<'_, '_>, b: &Bound, positional: bool) -> Option<Value> {
    let default = b.given("default").then(|| b.get("default"));
    let action = b.get("action");
    let otherwise = match &action {
        Value::Str(action) => match &**action {
            "store" => None,
            "store_true" => Some(Value::Bool(false)),
            "store_false" => Some(Value::Bool(true)),
            "store_const" | "append" | "append_const" | "extend" | "count" => Some(Value::None),
            "help" | "version" => return None,
            _ => Some(Value::Unknown),
        },
        Value::Path(p) if p.as_str() == "argparse.BooleanOptionalAction" => Some(Value::None),
        _ => Some(Value::Unknown),
    };
    if let Some(otherwise) = otherwise {
        return Some(default.unwrap_or(otherwise));
    }
    let kind = b.get("type");
    let nargs = b.get("nargs");
    let optional = matches!(nargs.as_str(), Some("?" | "*"));
    let required = b.get("required");
    if (positional && !optional) || required.as_bool() == Some(true) {
        let one = of_type(&kind);
        return Some(match &nargs {
            Value::None => one,
            Value::Str(s) if &**s == "?" => one,
            Value::Int(n) => match usize::try_from(*n) {
                Ok(n) if n <= 64 => cx.list(vec![one; n]),
                _ => cx.list_of(one),
            },
            Value::Str(s) if matches!(&**s, "+" | "*") => cx.list_of(one),
            _ => Value::Unknown,
        });
    }
    Some(match default {
        // argparse converts a default only if it is a string.
        Some(text @ Value::Str(_)) => converted(cx, &kind, text),
        Some(Value::Any(Type::Str)) if !kind.is_none() => of_type(&kind),
        // `type=str, default=False`: the program tests whether there is a value.
        Some(Value::Bool(_)) if kind.as_path().is_some_and(|kind| kind != "builtins.bool") => Value::Unknown,
        Some(default) => default,
        None => Value::Unknown,
    })
}

/// The value of a required option, as far as its `type` determines it.
fn of_type(kind: &Value) -> Value {
    match kind {
        Value::None => Value::Any(Type::Str),
        Value::Path(p) => match p.as_str() {
            "builtins.int" => Value::Any(Type::Int),
            "builtins.float" => Value::Any(Type::Float),
            "builtins.str" => Value::Any(Type::Str),
            "builtins.bool" => Value::Any(Type::Bool),
            _ => Value::Unknown,
        },
        _ => Value::Unknown,
    }
}

fn converted(cx: &mut Cx<'_, '_>, kind: &Value, text: Value) -> Value {
    let known = match (kind, text.as_str()) {
        (Value::None, _) => Some(text.clone()),
        (Value::Path(p), Some(s)) => match p.as_str() {
            "builtins.str" => Some(text.clone()),
            "builtins.int" => s.trim().parse().ok().map(Value::Int),
            "builtins.float" => s.trim().parse().ok().map(Value::Float),
            "builtins.bool" => Some(Value::Bool(!s.is_empty())),
            _ => None,
        },
        _ => None,
    };
    known.unwrap_or_else(|| {
        let span = cx.span;
        cx.call(kind, Args::positional([text], span))
    })
}

fn add_group(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let shared = b.get("self").as_obj().map(|parser| values(cx, parser));
    match shared {
        Some(shared) => instance(cx, GROUP, vec![(VALUES, shared)]),
        None => Value::Unknown,
    }
}

fn set_defaults(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let parser = b.get("self");
    let given: Vec<(Key, Value)> =
        b.extra.iter().map(|(name, arg)| (Key::Str(name.as_str().into()), arg.value.clone())).collect();
    let open = b.open;
    with_dict(cx, &parser, |dict| {
        dict.entries.extend(given);
        if open {
            // The call may have given any option another default.
            for value in dict.entries.values_mut() {
                *value = Value::Unknown;
            }
            dict.open = Some(Value::Unknown);
        }
    });
    Value::None
}

fn get_default(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(parser) = b.get("self").as_obj() else { return Value::Unknown };
    let dict = values(cx, parser);
    Key::of(&b.get("dest"))
        .and_then(|key| cx.it.heap.dict_of(&dict)?.entries.get(&key).cloned())
        .unwrap_or(Value::Unknown)
}

/// `add_subparsers`: the chosen subcommand is not known, so the parsed arguments may have any
/// attribute.
fn add_subparsers(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dest = b.get("dest");
    with_dict(cx, &b.get("self"), |dict| {
        dict.open = Some(Value::Unknown);
        if let Value::Str(dest) = dest {
            dict.entries.insert(Key::Str(dest), Value::Unknown);
        }
    });
    let all = cx.it.heap.dict(Dict::default());
    if let Some(parser) = b.get("self").as_obj() {
        cx.it.heap.set_attr(parser, SUBCOMMANDS, all.clone());
    }
    instance(cx, "argparse._SubParsersAction", vec![(VALUES, all)])
}

/// The options of a subcommand are unknown in the parent parser, because another subcommand may be
/// chosen.
fn add_parser(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let parser = instance(cx, PARSER, Vec::new());
    if let Some(id) = parser.as_obj() {
        let own = values(cx, id);
        with_dict(cx, &b.get("self"), |all| {
            if let Some(number) = Key::of(&length_of(all.entries.len())) {
                all.entries.insert(number, own);
            }
        });
    }
    parser
}

fn parse(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let namespace = namespace(cx, b);
    if b.given("namespace") && !b.get("namespace").is_none() {
        return Value::Unknown;
    }
    namespace
}

fn parse_known(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let known = parse(cx, b);
    let rest = list_of_str(cx, b);
    Value::tuple(vec![known, rest])
}

fn namespace(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(parser) = b.get("self").as_obj() else { return Value::Unknown };
    let values = values(cx, parser);
    let mut dict = cx.it.heap.dict_of(&values).cloned().unwrap_or_default();
    // The defaults of the chosen subcommand replace those of the parser.
    let subcommands = cx.it.heap.attr(parser, SUBCOMMANDS);
    let subcommands = subcommands.and_then(|all| cx.it.heap.dict_of(&all)).into_iter().flat_map(|d| d.entries.values());
    for key in subcommands.filter_map(|one| cx.it.heap.dict_of(one)).flat_map(|own| own.entries.keys()) {
        if let Some(value) = dict.entries.get_mut(key).filter(|_| matches!(key, Key::Str(_))) {
            *value = Value::Unknown;
        }
    }
    // Arguments that the script itself passes, as in notebooks.
    let given = b.get("args");
    let words = if given.is_none() { None } else { cx.items(&given) };
    // The command line may set any option, unless the script itself passes the arguments.
    if words.is_none() {
        let options: Vec<Key> = dict.entries.keys().filter(|key| matches!(key, Key::Str(_))).cloned().collect();
        for key in options {
            let declaration = dict.entries.get(&Key::Tuple(vec![key.clone()]));
            let Some((name, choices, made, is_list)) = declaration.and_then(|declaration| declared(cx, declaration))
            else {
                continue;
            };
            if let Some(value) =
                dict.entries.get_mut(&key).filter(|v| !matches!(v, Value::Unknown | Value::Open(_) | Value::Any(_)))
            {
                *value = cx.it.option(&CommandOption { name: &name, made, default: value, choices: &choices, is_list });
            }
        }
    }
    // If the arguments are `sys.argv[1:]` or completely unknown, the options have the values of a
    // run without arguments. A word without dashes is a positional argument, whose value is already
    // unknown, or it follows an option, whose value becomes unknown.
    for word in words.unwrap_or_default() {
        match word.as_str() {
            Some(word) if word.starts_with("--") => {
                let name = word.trim_start_matches('-');
                let name = name.split('=').next().unwrap_or(name).replace('-', "_");
                // With `dest=`, an option is not stored under its own name, so this word may set
                // any option.
                if dict.entries.insert(Key::Str(name.into()), Value::Unknown).is_none() {
                    forget(&mut dict);
                }
            }
            Some(word) if !word.starts_with('-') => {}
            _ => forget(&mut dict),
        }
    }
    let mut out = instance(cx, NAMESPACE, Vec::new());
    if let Value::Obj(id) = &mut out
        && let Some(instance) = cx.it.heap.instance_mut(*id)
    {
        instance.open = dict.open.is_some();
        for (key, value) in dict.entries {
            if let Key::Str(name) = key {
                instance.attrs.insert(crate::value::sym(&name), value);
            }
        }
    }
    out
}

/// Handles a parser, or parsed arguments, that were passed to unseen code. This code may have added
/// options.
pub(crate) fn unseen(it: &mut Interp<'_>, object: ObjId) {
    let Some(class) = it.heap.instance_of(&Value::Obj(object)).and_then(|instance| instance.class.as_path()) else {
        return;
    };
    match class {
        PARSER | GROUP => {
            let dict = it.heap.attr(object, VALUES).and_then(|values| values.as_obj());
            if let Some(Data::Dict(dict)) = dict.map(|dict| it.heap.get_mut(dict)) {
                dict.open = Some(Value::Unknown);
            }
        }
        NAMESPACE => {
            if let Some(instance) = it.heap.instance_mut(object) {
                instance.open = true;
            }
        }
        _ => {}
    }
}

/// Reports an attribute that the parsed arguments do not have, because the parser defines no such option.
fn missing_option(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let instance = cx.it.heap.instance_of(object)?;
    let is_closed = !instance.open && !instance.attrs.is_empty() && !name.as_str().starts_with('_');
    // Other code of the program may define this option, for example a subclass of the class that stores
    // the parser.
    let spelt = |name: &str| ['"', '\''].iter().any(|quote| cx.it.mentions(sym(&format!("--{name}{quote}")).as_str()));
    if !is_closed || spelt(name.as_str()) || spelt(&name.as_str().replace('_', "-")) {
        return None;
    }
    let options = instance.attrs.keys().map(|option| option.as_str());
    let near = meant(nearest(name.as_str(), options));
    let message = format!("the parser defines no option `{name}`{near}");
    let span = cx.span;
    cx.it.lacks_option(name, message, span)
}

fn forget(dict: &mut Dict) {
    for value in dict.entries.values_mut() {
        *value = Value::Unknown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_named_as_argparse_names_them() {
        let of = |names: &[&str]| destination(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["-b", "--batch-size"]).as_deref(), Some("batch_size"));
        assert_eq!(of(&["-b"]).as_deref(), Some("b"));
        assert_eq!(of(&["data-dir"]).as_deref(), Some("data-dir"));
        assert_eq!(of(&[]), None);
    }
}
