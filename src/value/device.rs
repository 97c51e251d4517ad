use std::fmt;

use super::Sym;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DeviceKind {
    Cpu,
    Cuda,
    Meta,
    /// Another accelerator, by its name.
    Other(Sym),
    /// An unknown device; equal numbers are the same device.
    Symbolic(u32),
    /// The unknown device of a module whose methods are analysed without a caller.
    Module,
    /// The unknown device that the program names in this way: "`self.device`".
    Named(Sym),
    /// A GPU if this condition, given as source text, holds: `args.cuda`. Otherwise, the device is unknown.
    If(Sym),
    /// The unknown device of the batches of a loader, if the program moves a part of these batches
    /// to another device.
    Batch,
}

/// A device; `index` is `None` for the current device of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Device {
    pub kind: DeviceKind,
    pub index: Option<u32>,
    /// Whether the device was inferred from another operand of an earlier call: all operands must
    /// be on one device, and the device of this operand was unknown. If that call fails in every
    /// run, the inference does not hold.
    pub implied: bool,
}

impl Device {
    pub(crate) const CPU: Device = Device::of(DeviceKind::Cpu);
    pub(crate) const CUDA: Device = Device::of(DeviceKind::Cuda);

    /// The current device of this kind.
    pub(crate) const fn of(kind: DeviceKind) -> Device {
        Device { kind, index: None, implied: false }
    }

    #[must_use]
    pub(crate) fn implied_if(self, implied: bool) -> Device {
        Device { implied: self.implied || implied, ..self }
    }

    /// The device of both tensors, if it is the same one.
    pub(crate) fn join(self, other: Device) -> Option<Device> {
        let Device { kind, index, implied } = self;
        ((kind, index) == (other.kind, other.index)).then(|| other.implied_if(implied))
    }

    /// The device after the two arms of a condition, in which it is `first` and `second`. `holds` says, as
    /// source text, what holds in each arm. If the tensor is on a GPU in one arm, only the condition of this
    /// arm is kept, and the other device is ignored. `None` if it is on a GPU in neither arm.
    pub(crate) fn join_arms(first: Option<Device>, second: Option<Device>, holds: [Sym; 2]) -> Option<Device> {
        let on_gpu = |device: Option<Device>, holds: Sym| {
            let device = device?;
            // `if x.device != "cpu"` says that this path uses the CPU, whatever the tensor's facts are.
            let says_cpu = holds.as_str().ends_with("== \"cpu\"") || holds.as_str().ends_with("== 'cpu'");
            let is_on_gpu = !says_cpu && device.is_cuda() && !device.implied || device.kind == DeviceKind::If(holds);
            is_on_gpu.then(|| Device::of(DeviceKind::If(holds)))
        };
        let [in_first, in_second] = holds;
        on_gpu(first, in_first).or_else(|| on_gpu(second, in_second))
    }

    /// Parses `"cpu"`, `"cuda"`, `"cuda:1"` and similar names.
    pub(crate) fn parse(text: &str) -> Option<Device> {
        let (name, index) = match text.split_once(':') {
            Some((name, index)) => (name, Some(index.parse().ok()?)),
            None => (text, None),
        };
        let kind = match name {
            "cpu" => DeviceKind::Cpu,
            "cuda" => DeviceKind::Cuda,
            "meta" => DeviceKind::Meta,
            "mps" | "xpu" | "xla" | "hip" | "npu" | "hpu" | "mtia" | "vulkan" => DeviceKind::Other(super::sym(name)),
            _ => return None,
        };
        Some(Device { kind, index, implied: false })
    }

    /// Whether it is a concrete device, not a symbolic one.
    pub(crate) fn is_concrete(self) -> bool {
        matches!(self.kind, DeviceKind::Cpu | DeviceKind::Cuda | DeviceKind::Meta | DeviceKind::Other(_))
    }

    pub(crate) fn is_cpu(self) -> bool {
        self.kind == DeviceKind::Cpu
    }

    pub(crate) fn is_cuda(self) -> bool {
        self.kind == DeviceKind::Cuda
    }

    /// Whether the two are the same device; `None` if that is not known. `cuda` is treated as the
    /// same device as `cuda:0`, because the current device is 0 unless the script changes it.
    /// Whether `cuda` and `cuda:1` are the same is not known.
    pub(crate) fn same(self, other: Device) -> Option<bool> {
        match (self.kind, other.kind) {
            (DeviceKind::Symbolic(a), DeviceKind::Symbolic(b)) => (a == b).then_some(true),
            (DeviceKind::Module, DeviceKind::Module) => Some(true),
            (a, b) if !(Device::of(a).is_concrete() && Device::of(b).is_concrete()) => None,
            (a, b) if a != b => Some(false),
            (DeviceKind::Cpu, _) => Some(true),
            _ => match (self.index, other.index) {
                (Some(a), Some(b)) => Some(a == b),
                (None | Some(0), None) | (None, Some(0)) => Some(true),
                _ => None,
            },
        }
    }

    /// Whether the two are certainly different devices. An implied device proves nothing: the call
    /// from which it was inferred may be the one that fails.
    pub(crate) fn differs(self, other: Device) -> bool {
        self.same(other) == Some(false) && !self.implied && !other.implied
    }

    /// The device under the assumption that the program runs on a GPU: modules are moved to it, the
    /// devices that the program names are this GPU, and batches are on the CPU until they are moved.
    #[must_use]
    pub(crate) fn on_gpu(self) -> Device {
        match self.kind {
            DeviceKind::Batch => Device::CPU,
            _ if self.is_assumed() => Device::CUDA,
            _ => self,
        }
    }

    /// Whether [`Device::on_gpu`] assumes that this device is a GPU.
    pub(crate) fn is_assumed(self) -> bool {
        matches!(self.kind, DeviceKind::Module | DeviceKind::Named(_) | DeviceKind::If(_))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DeviceKind::Cpu => f.write_str("cpu")?,
            DeviceKind::Cuda => f.write_str("cuda")?,
            DeviceKind::Meta => f.write_str("meta")?,
            DeviceKind::Other(name) => write!(f, "{name}")?,
            DeviceKind::Symbolic(id) => write!(f, "device#{id}")?,
            DeviceKind::Module => f.write_str("the module's device")?,
            DeviceKind::Batch => f.write_str("the device of the batch")?,
            DeviceKind::Named(name) => f.write_str(name.as_str())?,
            DeviceKind::If(condition) => write!(f, "cuda if `{condition}`")?,
        }
        match self.index {
            Some(index) => write!(f, ":{index}"),
            None => Ok(()),
        }
    }
}
