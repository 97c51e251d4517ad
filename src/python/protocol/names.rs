//! The text of expressions that name objects, and the devices that they name.

use crate::syntax::Expr;
use crate::value::{Device, DeviceKind, Value, sym};

/// A name or attributes of a name as text: `self.model`.
pub(super) fn path_text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str().to_owned()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", path_text(&attribute.value)?, attribute.attr.as_str())),
        _ => None,
    }
}

/// The device for an expression of unknown value, if its name is that of a device that may be a
/// GPU: `self.device`, `args["device"]`.
pub(super) fn named_device(expr: &Expr) -> Option<Value> {
    let (text, name) = match expr {
        Expr::Subscript(subscript) => {
            let key = subscript.slice.as_string_literal_expr()?.value.to_str();
            (format!("{}[\"{key}\"]", path_text(&subscript.value)?), key)
        }
        Expr::Attribute(attribute) => (path_text(expr)?, attribute.attr.as_str()),
        Expr::Name(name) => (path_text(expr)?, name.id.as_str()),
        _ => return None,
    };
    let name = name.to_ascii_lowercase();
    let is_device = name.contains("device") || name == "dev";
    let may_be_host = ["cpu", "host", "storage", "offload", "devices"].iter().any(|word| name.contains(word));
    (is_device && !may_be_host).then(|| Value::Device(Device::of(DeviceKind::Named(sym(&format!("`{text}`"))))))
}

/// The name with which an expression begins: `x` for `x["a"].float()`.
pub(super) fn root(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => root(&attribute.value),
        Expr::Subscript(subscript) => root(&subscript.value),
        Expr::Call(call) => call.func.as_attribute_expr().and_then(|method| root(&method.value)),
        _ => None,
    }
}
