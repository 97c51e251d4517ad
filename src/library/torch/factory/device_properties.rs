//! The object that `torch.cuda.get_device_properties` returns.

use crate::library::{Cx, Table};
use crate::python::{meant, nearest};
use crate::value::{Sym, Type, Value};

const CLASS: &str = "torch.cuda._CudaDeviceProperties";

/// The attributes in PyTorch 2.15. All but `name`, `gcnArchName` and `uuid` are numbers or flags.
#[rustfmt::skip]
const ATTRIBUTES: &[&str] = &[
    "L2_cache_size", "clock_rate", "gcnArchName", "is_integrated", "is_multi_gpu_board", "major",
    "max_threads_per_block", "max_threads_per_multi_processor", "memory_bus_width", "memory_clock_rate", "minor",
    "multi_processor_count", "name", "pci_bus_id", "pci_device_id", "pci_domain_id", "regs_per_multiprocessor",
    "shared_memory_per_block", "shared_memory_per_block_optin", "shared_memory_per_multiprocessor", "total_memory",
    "uuid", "warp_size",
];
/// Names that stand for an attribute, apart from spelling mistakes.
const MISTAKEN: &[(&str, &str)] = &[
    ("total_mem", "total_memory"),
    ("memory", "total_memory"),
    ("memory_total", "total_memory"),
    ("multiprocessor_count", "multi_processor_count"),
    ("device_name", "name"),
];

pub(super) fn register(t: &mut Table) {
    let class = t.class(CLASS, &[], "");
    class.keeps_arguments = false;
    class.attribute = Some(attribute);
    t.listed("torch.cuda.", "get_device_properties", |cx, _| Value::Obj(cx.it.heap.instance(Value::path(CLASS))));
}

fn attribute(cx: &mut Cx<'_, '_>, _: &Value, name: Sym) -> Option<Value> {
    let name = name.as_str();
    match name {
        "name" | "gcnArchName" => return Some(Value::Any(Type::Str)),
        "uuid" => return Some(Value::Unknown),
        name if ATTRIBUTES.contains(&name) => return Some(Value::Any(Type::Int)),
        _ => {}
    }
    let mistaken = MISTAKEN.iter().find(|(wrong, _)| *wrong == name).map(|(_, right)| *right);
    // A newer version, or one for other hardware, may have further attributes.
    let near = mistaken.or_else(|| nearest(name, ATTRIBUTES.iter().copied()))?;
    // The program may ask first: `hasattr(properties, "total_memory")`.
    if ["\"", "'"].iter().any(|quote| cx.it.file_contains(&format!("{quote}{name}{quote}"))) {
        return None;
    }
    let message = format!("the properties of a GPU have no attribute `{name}`{}", meant(Some(near)));
    let span = cx.span;
    cx.it.lacks_field(message, span)
}
