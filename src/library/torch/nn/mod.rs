//! `torch.nn`: modules, layers, losses.

pub mod activation;
pub mod attention;
pub mod containers;
pub mod conv;
pub mod copy;
mod device;
mod facts;
pub mod hooks;
pub mod init;
pub mod layer;
pub mod layers;
pub mod linear;
pub mod linear_loss;
pub mod losses;
pub mod module;
pub mod norm;
pub mod parallel;
pub mod pool;
pub mod resize;
pub mod rnn;
pub mod utils;

use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::Value;

pub fn register(t: &mut Table) {
    // Where PyTorch's source keeps what it shows under `torch.nn`.
    for private in [
        "module",
        "activation",
        "adaptive",
        "batchnorm",
        "channelshuffle",
        "container",
        "conv",
        "distance",
        "dropout",
        "flatten",
        "fold",
        "instancenorm",
        "linear",
        "loss",
        "normalization",
        "padding",
        "pixelshuffle",
        "pooling",
        "rnn",
        "sparse",
        "transformer",
        "upsampling",
    ] {
        t.prefix(crate::value::sym(&format!("torch.nn.modules.{private}")).as_str(), "torch.nn");
    }
    t.prefix("torch.nn.modules", "torch.nn");
    let class = t.class("torch.nn.Identity", &["torch.nn.Module"], "*args, **kwargs");
    class.keeps_arguments = false;
    class.init = Some(|cx: &mut Cx<'_, '_>, object, _: &Bound| module::begin(cx, object));
    t.def("torch.nn.Identity.forward", "self, input", |_, b| -> Value { b.get("input") });
}
