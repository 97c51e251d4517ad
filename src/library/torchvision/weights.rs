//! `torchvision.models.*_Weights`: the transforms of pretrained weights.

use crate::library::common::instance;
use crate::library::data::TORCHVISION_MODELS;
use crate::library::{Cx, Table};
use crate::python::Args;
use crate::value::{ArrayKind, Dim, Dtype, Grad, Role, Size, Tensor, Value};

const PRESET: &str = "torchvision.transforms._presets.ImageClassification";
const CROP: &str = "crop_size";

pub(crate) fn register(t: &mut Table) {
    let preset = t.class(PRESET, &[], "");
    preset.keeps_arguments = false;
    preset.invoke = Some(prepare);
    for crop in &TORCHVISION_MODELS.crop {
        for name in &crop.weights {
            for version in ["DEFAULT", "IMAGENET1K_V1", "IMAGENET1K_V2"] {
                t.def(&format!("torchvision.models.{name}_Weights.{version}.transforms"), "", transforms);
            }
        }
    }
}

fn transforms(cx: &mut Cx<'_, '_>, _: &crate::python::Bound) -> Value {
    let path = cx.path.as_str();
    let name = path.split('.').nth(2).and_then(|name| name.strip_suffix("_Weights")).unwrap_or_default();
    let crop = TORCHVISION_MODELS.crop.iter().find(|crop| crop.weights.iter().any(|n| n == name));
    let side = crop.map_or(Value::Unknown, |crop| Value::Int(crop.side));
    instance(cx, PRESET, vec![(CROP, side)])
}

/// Resizes, crops and normalises an image, or a batch of them.
fn prepare(cx: &mut Cx<'_, '_>, preset: &Value, args: Args) -> Option<Value> {
    let image = args.get(0, "img")?.clone();
    let at = cx.at();
    let side = cx.attr(preset, CROP).as_size().unwrap_or(Size::Unknown);
    let given = cx.tensor(&image).filter(|t| t.array == ArrayKind::Torch);
    let leading = match &given {
        Some(tensor) => {
            let mut dims = tensor.shape.clone()?;
            dims.truncate(dims.len().checked_sub(2)?);
            dims
        }
        None => vec![Dim::int(3)],
    };
    let mut shape = leading;
    shape.extend([Dim::new(side.clone(), at), Dim::new(side, at)]);
    let device = given.as_ref().map_or_else(|| cx.default_device(), |t| t.device);
    let out = Tensor { shape: Some(shape), shape_at: at, device, device_at: at, grad: Grad::Off, ..Tensor::default() };
    Some(cx.out(out.with_dtype(Some(Dtype::Float32), at).with_role(Some(Role::Image), at)))
}
