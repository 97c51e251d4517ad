//! `torch.nn`: modules, layers, losses.

pub(crate) mod activation;
pub(crate) mod attention;
pub(crate) mod containers;
pub(crate) mod conv;
pub(crate) mod copy;
mod device;
mod facts;
pub(crate) mod hooks;
pub(crate) mod init;
pub(crate) mod layer;
pub(crate) mod layers;
pub(crate) mod linear;
pub(crate) mod linear_loss;
pub(crate) mod losses;
pub(crate) mod module;
pub(crate) mod modules;
pub(crate) mod moves;
pub(crate) mod norm;
pub(crate) mod parallel;
pub(crate) mod pool;
pub(crate) mod resize;
pub(crate) mod rnn;
mod state;
pub(crate) mod utils;

pub(crate) use self::facts::widths;
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::Value;

pub(crate) fn register(t: &mut Table) {
    for private in modules::MODULES {
        t.prefix(crate::value::sym(&format!("torch.nn.modules.{private}")).as_str(), "torch.nn");
    }
    t.prefix("torch.nn.modules", "torch.nn");
    let class = t.class("torch.nn.Identity", &["torch.nn.Module"], "*args, **kwargs");
    class.keeps_arguments = false;
    class.init = Some(|cx: &mut Cx<'_, '_>, object, _: &Bound| module::begin(cx, object));
    t.def("torch.nn.Identity.forward", "self, input", |_, b| -> Value { b.get("input") });
}
