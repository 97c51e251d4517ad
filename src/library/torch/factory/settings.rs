//! PyTorch's settings and queries: defaults, seeds, properties of the machine.

use super::options;
use crate::library::notes::{DEFAULT_DEVICE, DEFAULT_DTYPE};
use crate::library::stdlib::system::written;
use crate::library::torch::draws;
use crate::library::{Cx, Table};
use crate::python::{Bound, Interp};
use crate::value::{ArrayKind, Device, Dim, Dtype, Grad, Kind, Size, Tensor, Topic, Type, Value};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "is_tensor", is_tensor);
    t.listed("torch.", "is_floating_point is_complex is_signed is_conj is_neg is_inference", asks);
    t.listed("torch.", "is_same_size", |_, _| Value::Any(Type::Bool));
    t.listed("torch.", "numel", numel);
    t.alias("torch.Tensor.nelement", "torch.numel");
    t.listed("torch.", "get_device", |_, _| Value::Any(Type::Int));

    t.listed("torch.", "set_default_dtype", set_default_dtype);
    t.listed("torch.", "set_default_tensor_type", set_default_tensor_type);
    t.listed("torch.", "set_default_device", set_default_device);
    t.listed("torch.", "get_default_dtype", |cx, _| cx.default_dtype().map_or(Value::Unknown, Value::Dtype));
    t.listed("torch.", "get_default_device", |cx, _| cx.default_device().map_or(Value::Unknown, Value::Device));

    // Settings and actions that return None.
    t.family(
        "torch.",
        "set_num_threads set_num_interop_threads set_flush_denormal set_float32_matmul_precision \
         use_deterministic_algorithms set_deterministic_debug_mode set_printoptions set_warn_always \
         set_anomaly_enabled",
        "*args, **kwargs",
        |_, _| Value::None,
    );
    t.listed("torch.", "set_rng_state", |cx, _| {
        draws::note_seed(cx);
        Value::None
    });
    t.listed("torch.", "manual_seed", manual_seed);
    t.listed("torch.", "seed initial_seed get_num_threads get_num_interop_threads", |_, _| Value::Any(Type::Int));
    t.listed("torch.", "get_rng_state", rng_state);
    t.listed("torch.", "are_deterministic_algorithms_enabled is_anomaly_enabled is_warn_always_enabled", |_, _| {
        Value::Any(Type::Bool)
    });

    cuda(t);

    t.family("torch.backends.mps.", "is_available is_built", "", |_, _| Value::Bool(false));
    t.family("torch.mps.", "is_available", "", |_, _| Value::Bool(false));
    t.family("torch.xpu.", "is_available", "", |_, _| Value::Bool(false));
    t.family("torch.npu.", "is_available", "", |_, _| Value::Bool(false));
    t.family("torch.hpu.", "is_available", "", |_, _| Value::Bool(false));
    t.family("torch.xpu.", "device_count", "", |_, _| Value::Int(0));
    t.family("torch.mps.", "device_count", "", |_, _| Value::Int(0));
    t.family("torch.cpu.", "is_available", "", |_, _| Value::Bool(true));
    t.listed("torch.backends.cuda.", "is_built", |_, _| Value::Bool(true));
    t.family("torch.backends.cudnn.", "is_available", "", |_, _| Value::Bool(true));
    t.family("torch.backends.cudnn.", "version", "", |_, _| Value::Any(Type::Int));
    t.family("torch.backends.", "mkl.is_available openmp.is_available mkldnn.is_available", "", |_, _| {
        Value::Any(Type::Bool)
    });
    t.family("torch.accelerator.", "is_available", "", |_, _| Value::Bool(true));
    t.family("torch.accelerator.", "device_count", "", |_, _| Value::Any(Type::Int));
    t.family("torch.accelerator.", "current_accelerator", "check_available=False", |_, _| Value::Device(Device::CUDA));
}

fn cuda(t: &mut Table) {
    // A program is assumed to run on a GPU, unless it hides all GPUs, or its requirements name a build without CUDA.
    t.listed("torch.cuda.", "is_available is_initialized", |cx, _| {
        let visible = written(cx, "CUDA_VISIBLE_DEVICES");
        let hides_all = visible.as_ref().and_then(Value::as_str).is_some_and(|text| matches!(text, "" | "-1"));
        Value::Bool(!hides_all && !cx.it.needs_no_gpu())
    });
    t.listed("torch.cuda.", "is_bf16_supported", |_, _| Value::Any(Type::Bool));
    // The number of GPUs is not known.
    t.listed("torch.cuda.", "device_count", |_, _| Value::Any(Type::Int));
    t.listed("torch.cuda.", "current_device initial_seed", |_, _| Value::Any(Type::Int));
    t.family(
        "torch.cuda.",
        "get_device_name get_arch_list memory_summary",
        "device=None, abbreviated=False",
        |cx, _| {
            if cx.name() == "get_arch_list" { Value::Unknown } else { Value::Any(Type::Str) }
        },
    );
    t.listed(
        "torch.cuda.",
        "memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached max_memory_cached \
         memory_usage utilization temperature power_draw clock_rate device_memory_used",
        |_, _| Value::Any(Type::Int),
    );
    t.listed("torch.cuda.", "mem_get_info get_device_capability", |_, _| {
        Value::tuple(vec![Value::Any(Type::Int), Value::Any(Type::Int)])
    });
    t.family(
        "torch.cuda.",
        "synchronize empty_cache ipc_collect init set_device manual_seed manual_seed_all seed seed_all set_rng_state \
         set_rng_state_all set_stream reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached \
         reset_accumulated_memory_stats set_per_process_memory_fraction set_sync_debug_mode",
        "*args, **kwargs",
        |_, _| Value::None,
    );
    t.listed("torch.cuda.", "get_rng_state", rng_state);
}

fn is_tensor(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("obj");
    match cx.tensor(&value) {
        Some(t) => Value::Bool(t.array == ArrayKind::Torch),
        None if value.is_unknown() => Value::Any(Type::Bool),
        // torchvet models an instance of a subclass of `Tensor` as an ordinary object.
        None if cx.it.heap.instance_of(&value).is_some() => Value::Any(Type::Bool),
        None => Value::Bool(false),
    }
}

/// Queries about a tensor's dtype.
fn asks(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dtype = cx.tensor_arg(b, "input").and_then(|t| t.dtype).filter(|d| !matches!(d, Dtype::Other(_)));
    match (cx.name(), dtype) {
        ("is_floating_point", Some(d)) => Value::Bool(d.is_floating()),
        ("is_complex", Some(d)) => Value::Bool(d.is_complex()),
        ("is_signed", Some(d)) => Value::Bool(
            d.kind() >= Kind::Floating || matches!(d, Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64),
        ),
        _ => Value::Any(Type::Bool),
    }
}

fn numel(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let numel = cx.tensor_arg(b, "input").map_or(Size::Unknown, |t| t.numel());
    Value::size(&numel)
}

/// Notes the initial defaults, so that they also hold on paths that do not set a default.
fn begin_defaults(cx: &mut Cx<'_, '_>) {
    let state = cx.it.state;
    for (topic, value) in [(DEFAULT_DTYPE, Value::Dtype(Dtype::Float32)), (DEFAULT_DEVICE, Value::Device(Device::CPU))]
    {
        if cx.it.remembered(topic).is_none() {
            cx.it.heap.settle_note(state, topic, value);
        }
    }
}

fn set_default_dtype(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dtype = match b.get("d") {
        dtype @ Value::Dtype(_) => dtype,
        _ => Value::Unknown,
    };
    begin_defaults(cx);
    cx.it.remember(DEFAULT_DTYPE, dtype);
    Value::None
}

/// The device of the default tensor type: `torch.Tensor(…)` creates tensors there, regardless of
/// `set_default_device`.
pub(crate) const TYPE_DEVICE: Topic = Topic::new("device of the default tensor type");

/// `torch.set_default_tensor_type(torch.cuda.FloatTensor)`, or with the type's name.
fn set_default_tensor_type(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let which = b.get("t");
    let name = which.as_path().or(which.as_str());
    let (dtype, device) = match name.and_then(|n| n.rsplit_once('.')) {
        Some((module, class)) => {
            let dtype = match class {
                "FloatTensor" => Some(Dtype::Float32),
                "DoubleTensor" => Some(Dtype::Float64),
                "HalfTensor" => Some(Dtype::Float16),
                "BFloat16Tensor" => Some(Dtype::Bfloat16),
                _ => None,
            };
            let device = if module.ends_with("cuda") { Device::CUDA } else { Device::CPU };
            (dtype, Some(device))
        }
        None => (None, None),
    };
    begin_defaults(cx);
    cx.it.remember(DEFAULT_DTYPE, dtype.map_or(Value::Unknown, Value::Dtype));
    let device = device.map_or(Value::Unknown, Value::Device);
    cx.it.remember(DEFAULT_DEVICE, device.clone());
    cx.it.remember(TYPE_DEVICE, device);
    Value::None
}

/// Called before the analysis of a function that nothing calls. Forgets the defaults that some
/// function of the program sets, because that function may have run earlier. Defaults that are
/// already set in this run stay.
pub(crate) fn forget_defaults(it: &mut Interp<'_>) {
    let of_type = it.mentions("set_default_tensor_type");
    let topics = [
        (DEFAULT_DTYPE, of_type || it.mentions("set_default_dtype")),
        (DEFAULT_DEVICE, of_type || it.mentions("set_default_device")),
        (TYPE_DEVICE, of_type),
    ];
    for (topic, is_set) in topics {
        if is_set && it.remembered(topic).is_none() {
            it.remember(topic, Value::Unknown);
        }
    }
}

fn set_default_device(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let device = match options::device(cx, &b.get("device")) {
        None => Value::Device(Device::CPU),
        Some(Some(device)) => Value::Device(device),
        Some(None) => Value::Unknown,
    };
    begin_defaults(cx);
    cx.it.remember(DEFAULT_DEVICE, device);
    Value::None
}

fn manual_seed(cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    draws::note_seed(cx);
    Value::Obj(cx.it.heap.instance(Value::path("torch.Generator")))
}

fn rng_state(cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    let out = Tensor { grad: Grad::Off, shape: Some(vec![Dim::UNKNOWN]), shape_at: cx.at(), ..Tensor::default() }
        .with_dtype(Some(Dtype::Uint8), cx.at())
        .with_device(Some(Device::CPU), cx.at());
    cx.out(out)
}
