//! The callables that a witness may use. A witness is made from the facts of a program, and runs on
//! the user's machine without a review. So it must not call anything that reads or writes files,
//! downloads, starts processes or runs the code in its arguments.

use crate::libraries;

/// The builtin types and functions that witnesses need.
const BUILTINS: [&str; 9] = ["int", "float", "bool", "complex", "str", "list", "tuple", "dict", "setattr"];

/// Names that are never allowed: functions that read or write files, download, run or compile code
/// passed to them, or change global settings.
const EXCEPT: [&str; 22] = [
    "apply",
    "apply_",
    "compile",
    "dump",
    "export",
    "from_file",
    "fromfile",
    "fromfunction",
    "from_pretrained",
    "genfromtxt",
    "load",
    "loads",
    "loadtxt",
    "map_",
    "map2_",
    "memmap",
    "open_memmap",
    "save",
    "tofile",
    "vectorize",
    "vmap",
    "set_default_device",
];

/// Whether a function, class or constant of a library may be in a witness.
pub(super) fn is_harmless(path: &str) -> bool {
    let (owner, name) = path.rsplit_once('.').unwrap_or(("", path));
    if EXCEPT.contains(&name) || name.starts_with("save") {
        return false;
    }
    match owner {
        "torch" | "numpy" => true,
        "builtins" => BUILTINS.contains(&name),
        // Only methods that compute are allowed. Witnesses need no others, such as `show` or
        // `tobytes`.
        "PIL.Image.Image" => matches!(name, "resize" | "rotate" | "transform" | "convert" | "thumbnail" | "reduce"),
        "PIL.Image" => name.chars().all(|c| c.is_ascii_uppercase() || c == '_'),
        "cv2" => {
            !name.starts_with("im") && !name.starts_with("Video") && !name.contains("File") && !name.contains("dnn")
        }
        _ => path
            .split('.')
            .next()
            .and_then(libraries::find)
            .is_some_and(|library| library.computes.iter().any(|prefix| path.starts_with(prefix))),
    }
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn computations_are_harmless_and_files_are_not() {
        for path in
            ["torch.matmul", "torch.nn.functional.cross_entropy", "torch.Tensor.view", "numpy.float32", "cv2.resize"]
        {
            assert!(is_harmless(path), "{path}");
        }
        for path in [
            "torch.load",
            "torch.save",
            "torch.hub.load",
            "torch.nn.Module.apply",
            "torch.Tensor.map_",
            "torchvision.models.resnet18",
            "torchvision.datasets.MNIST",
            "numpy.savez",
            "numpy.fromfile",
            "cv2.imwrite",
            "os.system",
            "subprocess.run",
            "builtins.eval",
            "builtins.open",
            "transformers.AutoModel.from_pretrained",
            "PIL.Image.open",
            "project.fn",
        ] {
            assert!(!is_harmless(path), "{path}");
        }
    }
}
