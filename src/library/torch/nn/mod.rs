//! `torch.nn`: modules, layers, losses.

mod activation;
mod attention;
pub mod containers;
mod conv;
pub mod copy;
mod device;
mod facts;
pub mod hooks;
mod init;
mod layer;
mod layers;
mod linear;
mod linear_loss;
mod losses;
pub mod module;
mod norm;
mod parallel;
mod pool;
mod resize;
mod rnn;
mod utils;

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
    module::register(t);
    hooks::register(t);
    init::register(t);
    layer::register(t, layers::LAYERS);
    layer::register(t, losses::LAYERS);
    containers::register(t);
    activation::register(t);
    norm::register(t);
    linear::register(t);
    conv::register(t);
    pool::register(t);
    resize::register(t);
    losses::register(t);
    linear_loss::register(t);
    rnn::register(t);
    attention::register(t);
    parallel::register(t);
    utils::register(t);
    let class = t.class("torch.nn.Identity", &["torch.nn.Module"], "*args, **kwargs");
    class.keeps_arguments = false;
    class.init = Some(|cx: &mut Cx<'_, '_>, object, _: &Bound| module::begin(cx, object));
    t.def("torch.nn.Identity.forward", "self, input", |_, b| -> Value { b.get("input") });
}
