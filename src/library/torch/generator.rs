//! `torch.Generator`: generates numbers for one kind of device; operations on other devices reject
//! it.

use super::broadcast::device_read;
use super::factory::options::{self, option};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Device, ObjId, Sym, Tensor, Topic, Type, Value};

const CLASS: &str = "torch.Generator";
/// A note of a generator. It holds a tensor on the generator's device, because a tensor also keeps
/// the origin of its device.
const PLACE: Topic = Topic::new("device");

pub(crate) fn register(t: &mut Table) {
    let class = t.class(CLASS, &[], "device='cpu'");
    class.keeps_arguments = false;
    class.init = Some(init);
    class.attribute = Some(attribute);
    t.def("torch.Generator.manual_seed", "self, seed", |_, b| b.get("self"));
    t.family("torch.Generator.", "seed initial_seed", "self", |_, _| Value::Any(Type::Int));
}

fn init(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let device = match options::device(cx, &b.get("device")) {
        Some(given) => given,
        None => Some(Device::CPU),
    };
    let at = cx.at();
    let kept = cx.out(Tensor::default().with_device(device, at));
    cx.it.heap.set_note(object, PLACE, kept);
}

fn attribute(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let place = || cx.tensor(&cx.it.heap.note(object.as_obj()?, PLACE)?)?.device;
    (name.as_str() == "device").then(|| place().map_or(Value::Unknown, Value::Device))
}

/// Rejects a `generator=` for another kind of device than the device of the result. Device indices
/// do not matter. If no elements are drawn, PyTorch does not check the device.
pub(crate) fn check(cx: &mut Cx<'_, '_>, b: &Bound, drawn: &Tensor) {
    fits(cx, &option(b, "generator"), drawn);
}

/// Like [`check`], but gets the generator instead of the call's arguments.
pub(crate) fn fits(cx: &mut Cx<'_, '_>, generator: &Value, drawn: &Tensor) {
    let place = generator.as_obj().and_then(|id| cx.it.heap.note(id, PLACE));
    let Some(place) = place.and_then(|place| cx.tensor(&place)) else { return };
    let (Some(have), Some(wants)) = (place.device, drawn.device) else { return };
    let decided = |d: Device| d.is_cpu() || d.is_cuda();
    if have.kind == wants.kind || !decided(have) || !decided(wants) || drawn.numel().known() == Some(0) {
        return;
    }
    let message = format!("the generator is on {have}, but the numbers are drawn on {wants}");
    let reads = vec![device_read(("generator", &place)), device_read(("the result", drawn))];
    cx.reject(RejectKind::Device, message, reads);
}
