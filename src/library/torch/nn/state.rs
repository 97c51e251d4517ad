//! The checks of `load_state_dict`, for a state that the program has created itself.

use rustc_hash::FxHashSet;

use super::module::{Found, Kind, named_children_of, named_modules_of, own_tensors, tensors_of};
use crate::library::Cx;
use crate::library::torch::broadcast::shape_text;
use crate::python::{Bound, RejectKind};
use crate::value::{Data, Key, Tensor, Value};

/// Rejects a state that is not a dictionary, or in which a parameter has another shape than in the
/// module. With `strict`, missing and unexpected parameters are also rejected.
pub(crate) fn check(cx: &mut Cx<'_, '_>, b: &Bound) {
    let (object, state) = (b.get("self"), b.get("state_dict"));
    let at = b.span("state_dict");
    if let Some(what) = no_dictionary(cx, &state) {
        let message = format!("the state must be a dictionary of tensors, but it is {what}");
        cx.reject(RejectKind::Value, message, vec![("the state is given here".to_owned(), at)]);
        return;
    }
    let Some(dict) = cx.it.heap.dict_of(&state).cloned() else { return };
    let parameters = tensors_of(cx, &object, Kind::Parameters, true);
    let buffers = tensors_of(cx, &object, Kind::Buffers, true);
    if !parameters.complete || !buffers.complete || loads_itself(cx, &object) {
        return;
    }
    for (name, own) in &parameters.found {
        let Some(new) = dict.entries.get(&Key::Str(name.as_str().into())) else { continue };
        let (Some(own), Some(new)) = (cx.tensor(own), cx.tensor(new)) else { continue };
        if differ(&own, &new) {
            let message = format!(
                "`{name}` of the module is {}, but {} in the state that is loaded",
                shape_text(&own),
                shape_text(&new)
            );
            let reads = vec![
                (format!("shape {} is set here", shape_text(&own)), own.shape_at),
                (format!("shape {} is set here", shape_text(&new)), new.shape_at),
            ];
            cx.reject(RejectKind::Shape, message, reads);
            return;
        }
    }
    if b.get("strict").as_bool() != Some(true) || dict.open.is_some() {
        return;
    }
    let key = |name: &str| Key::Str(name.into());
    let missing = parameters.found.iter().find(|(name, _)| !dict.entries.contains_key(&key(name)));
    let named: FxHashSet<&str> = parameters.found.iter().chain(&buffers.found).map(|(name, _)| name.as_str()).collect();
    let surplus = dict.entries.iter().find_map(|(key, value)| match key {
        Key::Str(name) if !named.contains(&**name) && is_of_parameter(cx, value) => Some(name.to_string()),
        _ => None,
    });
    let message = match (missing, surplus.filter(|_| !is_tied(cx, &object))) {
        (Some((name, _)), _) => format!("the state that is loaded has no `{name}`, which the module has"),
        (None, Some(name)) => format!("the module has no `{name}`, which the state that is loaded has"),
        (None, None) => return,
    };
    cx.reject(RejectKind::Value, message, vec![("the state is given here".to_owned(), at)]);
}

/// The description of a value for messages, if it is certainly not a dictionary.
fn no_dictionary(cx: &Cx<'_, '_>, value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::None => "None",
        Value::Str(_) => "a string: load the file with `torch.load` first",
        Value::Tuple(_) => "a tuple",
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::List(_) => "a list",
            Data::Iter(_) => "an iterator",
            Data::Tensor(_) => "a tensor",
            Data::Instance(instance) => {
                let library = instance.class.as_path().is_some_and(|class| class.starts_with("torch.nn."));
                let module = library && cx.it.is_instance(value, "torch.nn.Module");
                return module.then_some("a module: take its `state_dict()`");
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// Whether the shapes certainly differ. If `own` is a 0-d tensor, this is not checked, because
/// PyTorch also loads it from a vector of one element.
fn differ(own: &Tensor, new: &Tensor) -> bool {
    let (Some(a), Some(b)) = (own.sizes(), new.sizes()) else { return false };
    let lengths = a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| a.equals(b) == Some(false));
    lengths && !a.is_empty()
}

/// Whether a value in a state was taken from a parameter. (Buffers are not checked, because a
/// buffer may be non-persistent.)
fn is_of_parameter(cx: &Cx<'_, '_>, value: &Value) -> bool {
    let base = cx.it.heap.tensor_ref(value).and_then(|tensor| tensor.base);
    base.is_some_and(|base| matches!(cx.it.heap.get(base), Data::Tensor(tensor) if tensor.parameter))
}

/// Whether a class of the program overrides how its instances are loaded or saved.
fn loads_itself(cx: &Cx<'_, '_>, object: &Value) -> bool {
    let Found { found, .. } = named_modules_of(cx, object);
    let own = ["_load_from_state_dict", "_save_to_state_dict", "state_dict", "load_state_dict", "get_extra_state"];
    found.iter().any(|(_, module)| own.iter().any(|name| cx.it.user_method(module, name).is_some()))
}

/// Whether a module or tensor has several names, so that the state has several keys for one tensor.
pub(crate) fn is_tied(cx: &Cx<'_, '_>, object: &Value) -> bool {
    let mut seen = FxHashSet::default();
    let mut again = |value: &Value| value.as_obj().is_some_and(|id| !seen.insert(id));
    let modules = named_modules_of(cx, object).found;
    modules.iter().any(|(_, module)| {
        let children = named_children_of(cx, module).found;
        let tensors = [Kind::Parameters, Kind::Buffers].map(|kind| own_tensors(cx, module, kind).found);
        children.iter().chain(tensors.iter().flatten()).any(|(_, value)| again(value))
    })
}
