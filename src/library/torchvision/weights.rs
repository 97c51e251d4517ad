//! `torchvision.models.*_Weights`: the transforms that pretrained weights bring with them.

use crate::library::common::instance;
use crate::library::{Cx, Table};
use crate::python::Args;
use crate::value::{ArrayKind, Dim, Dtype, Grad, Role, Size, Tensor, Value};

const PRESET: &str = "torchvision.transforms._presets.ImageClassification";
const CROP: &str = "crop_size";

/// The side of the images that the weights of ImageNet were made for, by model.
const SIDES: &[(i64, &str)] = &[
    (
        224,
        "AlexNet ConvNeXt_Base ConvNeXt_Large ConvNeXt_Small ConvNeXt_Tiny DenseNet121 DenseNet161 DenseNet169 DenseNet201 \
         EfficientNet_B0 GoogLeNet MNASNet0_5 MNASNet0_75 MNASNet1_0 MNASNet1_3 MaxVit_T MobileNet_V2 MobileNet_V3_Large \
         MobileNet_V3_Small RegNet_X_16GF RegNet_X_1_6GF RegNet_X_32GF RegNet_X_3_2GF RegNet_X_400MF RegNet_X_800MF \
         RegNet_X_8GF RegNet_Y_16GF RegNet_Y_1_6GF RegNet_Y_32GF RegNet_Y_3_2GF RegNet_Y_400MF RegNet_Y_800MF RegNet_Y_8GF \
         ResNeXt101_32X8D ResNeXt101_64X4D ResNeXt50_32X4D ResNet101 ResNet152 ResNet18 ResNet34 ResNet50 \
         ShuffleNet_V2_X0_5 ShuffleNet_V2_X1_0 ShuffleNet_V2_X1_5 ShuffleNet_V2_X2_0 SqueezeNet1_0 SqueezeNet1_1 Swin_B \
         Swin_S Swin_T VGG11 VGG11_BN VGG13 VGG13_BN VGG16 VGG16_BN VGG19 VGG19_BN ViT_B_16 ViT_B_32 ViT_L_16 ViT_L_32 \
         Wide_ResNet101_2 Wide_ResNet50_2",
    ),
    (240, "EfficientNet_B1"),
    (256, "Swin_V2_B Swin_V2_S Swin_V2_T"),
    (288, "EfficientNet_B2"),
    (299, "Inception_V3"),
    (300, "EfficientNet_B3"),
    (380, "EfficientNet_B4"),
    (384, "EfficientNet_V2_S"),
    (456, "EfficientNet_B5"),
    (480, "EfficientNet_V2_L EfficientNet_V2_M"),
    (528, "EfficientNet_B6"),
    (600, "EfficientNet_B7"),
];

pub fn register(t: &mut Table) {
    let preset = t.class(PRESET, &[], "");
    preset.keeps_arguments = false;
    preset.invoke = Some(prepare);
    for (_, names) in SIDES {
        for name in names.split_whitespace() {
            for version in ["DEFAULT", "IMAGENET1K_V1", "IMAGENET1K_V2"] {
                t.def(&format!("torchvision.models.{name}_Weights.{version}.transforms"), "", transforms);
            }
        }
    }
}

fn transforms(cx: &mut Cx<'_, '_>, _: &crate::python::Bound) -> Value {
    let path = cx.path.as_str();
    let name = path.split('.').nth(2).and_then(|name| name.strip_suffix("_Weights")).unwrap_or_default();
    let side = SIDES.iter().find(|(_, names)| names.split_whitespace().any(|n| n == name));
    let side = side.map_or(Value::Unknown, |(side, _)| Value::Int(*side));
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
