//! The files of `torch.nn.modules`.

/// The modules in `torch.nn.modules` that define the names of `torch.nn`.
pub(crate) const MODULES: &[&str] = &[
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
];
