//! Sizes of datasets, models and tokenizers: the TOML files of `data/`, each read on first use.
//!
//! `build.rs` includes this file, so that a mistake in a data file is a build error that names the
//! line. Therefore this file may use only `std`, `serde` and `toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A data file: its name, its text, and a check that it can be read.
#[allow(dead_code, reason = "for build.rs and the tests")]
pub(super) struct File {
    pub name: &'static str,
    pub text: &'static str,
    pub check: fn(&str, &str) -> Result<(), String>,
}

macro_rules! files {
    ($($(#[$doc:meta])* $table:ident: $kind:ty = $name:literal;)*) => {
        $(
            $(#[$doc])*
            pub(super) static $table: LazyLock<$kind> = LazyLock::new(|| {
                parse($name, include_str!(concat!("data/", $name))).unwrap_or_else(|fault| panic!("{fault}"))
            });
        )*

        /// All data files.
        #[allow(dead_code, reason = "for build.rs and the tests")]
        pub(super) const FILES: &[File] = &[$(File {
            name: $name,
            text: include_str!(concat!("data/", $name)),
            check: |name, text| parse::<$kind>(name, text).map(drop),
        }),*];
    };
}

files! {
    /// The datasets of scikit-learn, by function name in `sklearn.datasets`.
    SKLEARN_DATASETS: BTreeMap<String, Bundled> = "sklearn-datasets.toml";
    /// The names that newer versions of packages other than those of PyTorch and NumPy removed, by module.
    REMOVED: BTreeMap<String, Removed> = "removed.toml";
    TIMM: Timm = "timm.toml";
    /// The tokenizers, by model family.
    TOKENIZERS: BTreeMap<String, Tokenizer> = "tokenizers.toml";
    /// The datasets of torchvision, by class name in `torchvision.datasets`.
    TORCHVISION_DATASETS: BTreeMap<String, ImageDataset> = "torchvision-datasets.toml";
    TORCHVISION_MODELS: ImageModels = "torchvision-models.toml";
    TRANSFORMERS: Transformers = "transformers.toml";
}

/// Reads a data file; an error message begins with the file name and the line.
pub(super) fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text.bytes().take(start).filter(|&byte| byte == b'\n').count() + 1;
        format!("src/library/data/{name}:{line}: {}", error.message())
    })
}

/// The names that newer versions removed from a module.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Removed {
    /// The name under which the package is installed.
    pub package: String,
    /// For each name, the first version that lacks it, and what replaces it, which may be empty.
    pub names: BTreeMap<String, (String, String)>,
}

/// A dataset of `torchvision.datasets`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ImageDataset {
    pub signature: String,
    pub base: Option<String>,
    /// The number of samples of each part, such as `train`.
    #[serde(default)]
    pub samples: BTreeMap<String, i64>,
    pub mode: Option<String>,
    /// Height and width.
    pub size: Option<(i64, i64)>,
    #[serde(default)]
    pub full_range: bool,
    pub classes: Option<i64>,
    /// The first and last label of each part.
    #[serde(default)]
    pub labels: BTreeMap<String, (i64, i64)>,
    #[serde(default)]
    pub stores: Store,
    pub variant_argument: Option<String>,
    #[serde(default)]
    pub variants: BTreeMap<String, Variant>,
    pub kind_argument: Option<String>,
    #[serde(default)]
    pub targets: BTreeMap<String, Target>,
}

/// The attributes in which a dataset stores its samples.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Store {
    /// `data` and `targets` are tensors (MNIST).
    Tensors,
    /// `data` is an array, `targets` a list (CIFAR).
    Arrays,
    /// `data` is an array with the channels before height and width, `labels` is an array (SVHN).
    Labels,
    /// The samples are files in one folder per class; the attributes are `targets`, `samples` and
    /// `imgs`.
    Folder,
    /// No attribute that a script would use.
    #[default]
    Hidden,
}

/// A variant of a dataset. An argument chooses it, such as `split` of `EMNIST`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    #[serde(default)]
    pub samples: BTreeMap<String, i64>,
    pub labels: (i64, i64),
}

/// A target other than a plain class index.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Target {
    /// The smallest and the largest value.
    pub values: Option<(i32, i32)>,
    pub void: Option<i32>,
    /// For a target that is a tensor: its shape.
    pub tensor: Option<Vec<i64>>,
    /// For a target that is an image with a class for each pixel: the mode of the image.
    pub mask: Option<String>,
}

/// `torchvision.models`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImageModels {
    pub classes: Classes,
    pub model: Vec<Architecture>,
    pub crop: Vec<Crop>,
    pub segmentation: BTreeMap<String, Segmentation>,
    pub detection: Detection,
}

impl ImageModels {
    pub(super) fn named(&self, name: &str) -> Option<&Architecture> {
        self.model.iter().find(|model| model.names.iter().any(|n| n == name))
    }
}

/// The number of classes of the pretrained weights, for each task.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Classes {
    pub classification: i64,
    pub segmentation: i64,
    pub detection: i64,
}

/// Models with the same first and last layers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Architecture {
    pub names: Vec<String>,
    pub class: String,
    pub stem: Option<Stem>,
    pub head: Head,
    pub features: i64,
}

/// A first convolution.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stem {
    pub name: String,
    pub channels: i64,
    pub kernel: i64,
    pub stride: i64,
    pub padding: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub attribute: String,
    pub layers: Layers,
    /// For `Layers::Wide`: the features between its linear layers.
    pub hidden: Option<i64>,
}

/// The layers of a head.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Layers {
    /// One linear layer.
    Linear,
    /// Dropout, then a linear layer.
    Dropout,
    /// Two hidden linear layers of 4096 features and a linear layer, with activations and dropout in
    /// the order of VGG.
    Vgg,
    Alexnet,
    /// A linear layer, an activation, dropout, a linear layer.
    Wide,
    Convnext,
    /// A linear layer with the name `head`.
    Named,
    /// A convolution over the feature map.
    Squeeze,
}

/// The height and width to which the transforms of the listed weights crop images.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Crop {
    pub side: i64,
    pub weights: Vec<String>,
}

/// The input channels of the two classifiers of a segmentation model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Segmentation {
    pub features: i64,
    pub auxiliary: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Detection {
    pub names: Vec<String>,
    pub features: i64,
}

/// Hugging Face transformers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Transformers {
    pub owners: Vec<String>,
    pub checkpoints: BTreeMap<String, Checkpoint>,
    pub families: BTreeMap<String, Family>,
}

/// The facts that a checkpoint's name determines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checkpoint {
    pub family: String,
    pub vocabulary: i64,
    pub hidden: i64,
    pub positions: Option<i64>,
    pub pad: Option<i64>,
}

/// A family of models.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Family {
    pub base_output: Option<BaseOutput>,
    #[serde(default)]
    pub linear_classifier: bool,
    pub segments: Option<i64>,
    pub padding_positions: Option<i64>,
    pub defaults: Option<Defaults>,
}

/// The outputs of a base model, which has no head for a task.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BaseOutput {
    /// Hidden states, and a pooled output that is computed from the first position of each sequence.
    Pooled,
    /// Only hidden states.
    Hidden,
}

/// Sizes of a configuration that is created without arguments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Defaults {
    pub vocabulary: i64,
    pub hidden: i64,
    pub positions: i64,
}

/// The facts of the tokenizers of a family.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Tokenizer {
    #[serde(default)]
    pub spare_rows: bool,
    #[serde(default)]
    pub pairs: bool,
    #[serde(default)]
    pub brackets: Vec<String>,
    #[serde(default)]
    pub special: Vec<String>,
    #[serde(default)]
    pub reserved: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Timm {
    pub imagenet_families: Vec<String>,
    pub other_weights: Vec<String>,
    pub imagenet_classes: i64,
    pub heads: Vec<String>,
}

/// A dataset of `sklearn.datasets`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bundled {
    pub rows: i64,
    pub columns: i64,
    pub targets: Targets,
    #[serde(default)]
    pub features: Vec<String>,
    #[serde(default)]
    pub classes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Targets {
    pub dtype: TargetDtype,
    pub first: Option<i32>,
    pub last: Option<i32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TargetDtype {
    Int32,
    Int64,
    Float64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read() {
        let faults: Vec<String> = FILES.iter().filter_map(|file| (file.check)(file.name, file.text).err()).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn a_mistake_has_its_place() {
        let fault = |text| parse::<BTreeMap<String, ImageDataset>>("x.toml", text).err().expect("it is a mistake");
        assert_eq!(
            fault("[A]\nsignature = \"\"\nclases = 10\n").split(',').next(),
            Some("src/library/data/x.toml:3: unknown field `clases`")
        );
        assert!(fault("[A]\nsignature = \"\"\nsize = [28]\n").starts_with("src/library/data/x.toml:3: "));
    }

    #[test]
    fn names_refer_to_tables_that_exist() {
        for (name, checkpoint) in &TRANSFORMERS.checkpoints {
            assert!(TRANSFORMERS.families.contains_key(&checkpoint.family), "{name}: {}", checkpoint.family);
        }
        for family in TOKENIZERS.keys() {
            assert!(TRANSFORMERS.families.contains_key(family), "{family}");
        }
        for (name, dataset) in TORCHVISION_DATASETS.iter() {
            let base = dataset.base.as_ref();
            assert!(base.is_none_or(|base| TORCHVISION_DATASETS.contains_key(base)), "{name}: {base:?}");
        }
        for model in &TORCHVISION_MODELS.model {
            assert_eq!(model.head.layers == Layers::Wide, model.head.hidden.is_some(), "{:?}", model.names);
        }
    }
}
