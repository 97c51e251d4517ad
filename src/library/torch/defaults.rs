//! What a program does with PyTorch's defaults, without running it.

use crate::python::Interp;

/// Whether a file of the program changes the default device.
pub(crate) fn changes_default_device(it: &Interp<'_>) -> bool {
    it.mentions("set_default_tensor_type") || it.mentions("set_default_device")
}
