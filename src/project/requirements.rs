//! The versions of packages that a project asks for, in its requirements, settings and instructions.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use rustc_hash::FxHashMap;

use super::Project;
use super::imports::Kind;
use crate::syntax::FileId;

/// Packages that, from a version on, work only with another package from a version on: the package, its
/// version, the other package and its version. For Lightning, torchmetrics, Transformers, TRL and Python, the metadata of the wheels say so
/// (`Requires-Dist`, `Requires-Python`). Older versions of PyTorch and `SciPy` have no wheels for newer versions
/// of Python. For NumPy, older versions of the other package do not work with it: their metadata limit NumPy
/// (numba), `torch.from_numpy` says "Numpy is not available" (torch 2.2), or their compiled modules cannot be
/// imported (the others, see the release notes of NumPy 2.0).
const NEEDS: &[(&str, &str, &str, &str)] = &[
    ("pytorch-lightning", "1.6", "torch", "1.8"),
    ("pytorch-lightning", "1.7", "torch", "1.9"),
    ("pytorch-lightning", "1.9", "torch", "1.10"),
    ("pytorch-lightning", "2.0", "torch", "1.11"),
    ("lightning", "2.0", "torch", "1.11"),
    ("torchmetrics", "1.6", "torch", "2.0"),
    ("numpy", "2.0", "python", "3.9"),
    ("transformers", "4.47", "python", "3.9"),
    ("transformers", "4.34", "huggingface-hub", "0.16.4"),
    ("transformers", "4.36", "huggingface-hub", "0.19.3"),
    ("transformers", "4.44", "huggingface-hub", "0.23.2"),
    ("transformers", "4.47", "huggingface-hub", "0.24"),
    ("transformers", "4.49", "huggingface-hub", "0.26"),
    ("transformers", "4.51", "huggingface-hub", "0.30"),
    ("transformers", "4.54", "huggingface-hub", "0.34"),
    ("transformers", "5.0", "huggingface-hub", "1.3"),
    ("transformers", "4.34", "tokenizers", "0.14"),
    ("transformers", "4.44", "tokenizers", "0.19"),
    ("transformers", "4.45", "tokenizers", "0.20"),
    ("transformers", "4.47", "tokenizers", "0.21"),
    ("transformers", "4.56", "tokenizers", "0.22"),
    ("trl", "0.21", "transformers", "4.55"),
    ("torch", "2.0", "python", "3.8"),
    ("torch", "2.6", "python", "3.9"),
    ("torch", "2.9", "python", "3.10"),
    ("torch", "2.15", "python", "3.11"),
    ("numpy", "1.22", "python", "3.8"),
    ("numpy", "1.25", "python", "3.9"),
    ("numpy", "2.1", "python", "3.10"),
    ("numpy", "2.3", "python", "3.11"),
    ("python", "3.8", "torch", "1.4"),
    ("python", "3.9", "torch", "1.7.1"),
    ("python", "3.10", "torch", "1.10.2"),
    ("python", "3.11", "torch", "1.13"),
    ("python", "3.12", "torch", "2.2"),
    ("python", "3.13", "torch", "2.5"),
    ("python", "3.9", "scipy", "1.5.4"),
    ("python", "3.10", "scipy", "1.7.2"),
    ("python", "3.11", "scipy", "1.9.2"),
    ("numpy", "1.24", "numba", "0.57"),
    ("numpy", "2.0", "numba", "0.60"),
    ("numpy", "2.0", "pandas", "2.2.2"),
    ("numpy", "2.0", "scipy", "1.13"),
    ("numpy", "2.0", "scikit-learn", "1.4.2"),
    ("numpy", "2.0", "torch", "2.3"),
];

impl Project {
    /// Whether the project excludes a version of a package and all newer ones: `numpy==1.19` and
    /// `numpy<1.24` exclude 1.24. The requirements are searched for in the folder of the file and in the
    /// folders above it, up to the project's root. If none of them names the package, those of the other
    /// folders in the root are assumed to hold.
    pub(crate) fn excludes(&self, file: FileId, package: &str, version: &str) -> bool {
        let folder = self.file(file).canonical().parent().unwrap_or(self.root()).to_owned();
        let key = (folder, format!("{package} {version}"));
        let exclusions = || self.exclusions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = exclusions().get(&key) {
            return *known;
        }
        let answer = self.states_exclusion(file, package, version);
        exclusions().insert(key, answer);
        answer
    }

    fn states_exclusion(&self, file: FileId, package: &str, version: &str) -> bool {
        let lacks = |(name, from, other, needed): &(&str, &str, &str, &str)| {
            *name == package.replace('_', "-")
                && numbers(from) <= numbers(version)
                && self.excludes(file, other, needed)
        };
        if NEEDS.iter().any(lacks) {
            return true;
        }
        // `python_requires="<3.9"`, `requires-python = "<3.9"`, and `python=3.8` in an environment. Conda's
        // package of PyTorch is `pytorch`.
        let names = match package {
            "python" => &["python", "python_requires", "requires_python"][..],
            "torch" => &["torch", "pytorch"],
            package => &[package],
        };
        let excludes = |stated: &Stated| names.iter().any(|name| stated.excludes(name, version));
        let near: Vec<&Stated> = self.folders_above(file).map(|folder| self.stated_in(folder)).collect();
        if near.iter().any(|stated| excludes(stated)) {
            return true;
        }
        let is_named = near.iter().any(|stated| names.iter().any(|name| !stated.of(name).is_empty()));
        let folders = |folder: &Path| -> Vec<PathBuf> {
            let all = self.listing(folder).iter().filter(|(_, kind)| **kind == Kind::Folder);
            all.map(|(name, _)| folder.join(name)).collect()
        };
        // A folder further below counts only if its name says that it holds environments.
        let is_environment =
            |folder: &PathBuf| folder.file_name().is_some_and(|name| name.to_string_lossy().contains("env"));
        let near_root = folders(self.root());
        let below = near_root.iter().flat_map(|folder| folders(folder)).filter(is_environment);
        let mut elsewhere = near_root.iter().cloned().chain(below);
        !is_named && elsewhere.any(|folder| excludes(self.stated_in(&folder)))
    }

    /// Whether the requirements near a file ask for a build of PyTorch without CUDA: `torch==2.0.1+cpu`.
    pub(crate) fn needs_no_gpu(&self, file: FileId) -> bool {
        let mut texts = self.folders_above(file).flat_map(|folder| self.requirements_in(folder));
        texts.any(|text| text.lines().any(|line| line.trim_start().starts_with("torch==") && line.contains("+cpu")))
    }

    /// Whether a file that states requirements is near this file.
    pub(super) fn has_requirements(&self, file: FileId) -> bool {
        self.folders_above(file).any(|folder| !self.requirements_in(folder).is_empty())
    }

    /// Whether the requirements near a file name a package.
    pub(super) fn requires(&self, file: FileId, package: &str) -> bool {
        self.folders_above(file).any(|folder| {
            let mut stated = Stated::default();
            self.requirements_in(folder).into_iter().for_each(|text| stated.add(text));
            !stated.of(package).is_empty()
        })
    }

    /// What the requirements and the instructions in a folder say about packages.
    fn stated_in(&self, folder: &Path) -> &Stated {
        if let Some(known) = self.stated.get(folder) {
            return known;
        }
        let mut stated = Stated::default();
        for text in [self.requirements_in(folder), self.texts_in(folder, gives_instructions)].concat() {
            stated.add(text);
        }
        self.stated.insert(folder.to_owned(), Box::new(stated))
    }

    /// Whether the project asks for another distribution with the name of one of its packages in its own:
    /// `ml-adapter-api` and `ml-adapter-torch` may both install modules into `ml_adapter`.
    pub(crate) fn shares_package(&self, file: FileId, package: &str) -> bool {
        let package = package.to_ascii_lowercase().replace('_', "-");
        let mut names: Vec<String> = self
            .folders_above(file)
            .flat_map(|above| self.requirements_in(above))
            .flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))))
            .map(|name| name.to_ascii_lowercase().replace('_', "-"))
            .filter(|name| name.len() > package.len() && !name.contains(['.', '/']))
            .filter(|name| format!("-{name}-").contains(&format!("-{package}-")))
            .collect();
        names.sort_unstable();
        names.dedup();
        // One of them is the project's own.
        names.len() > 1
    }

    /// Whether the files that build the project name a module, which may be compiled:
    /// `CUDAExtension("package.name", …)`.
    pub(crate) fn builds(&self, file: FileId, module: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let texts = self.folders_above(file).flat_map(|above| self.texts_in(above, |name| name == "setup.py"));
        texts.flat_map(|text| text.split(|c| !is_part(c))).any(|word| word == module)
    }

    /// The texts in a folder that state requirements.
    fn requirements_in(&self, folder: &Path) -> Vec<&str> {
        let mut texts = self.texts_in(folder, states_requirements);
        // The file of a Conda environment may have any name.
        let others = self.texts_in(folder, |name| is_yaml(name) && !states_requirements(name));
        texts.extend(others.into_iter().filter(|text| text.contains("\ndependencies:")));
        // Some projects have a folder of requirements: `requirements/base.txt`.
        let is_text = |name: &str| name.rsplit_once('.').is_some_and(|(_, kind)| kind == "txt");
        texts.extend(self.texts_in(&folder.join("requirements"), is_text));
        // Unpacked packages have a folder with their metadata.
        let is_metadata = |kind: &OsStr| kind == "dist-info" || kind == "egg-info";
        for name in self.listing(folder).keys().filter(|name| Path::new(name).extension().is_some_and(is_metadata)) {
            texts.extend(self.texts_in(&folder.join(name), |name| matches!(name, "METADATA" | "requires.txt")));
        }
        texts
    }

    /// The folder of a file and the folders above it, up to the project's root.
    fn folders_above(&self, file: FileId) -> impl Iterator<Item = &Path> {
        let above = self.file(file).canonical().ancestors().skip(1);
        above.take_while(|above| above.starts_with(self.root()))
    }

    /// The texts of the files in a folder that have a wanted name.
    fn texts_in(&self, folder: &Path, is_wanted: fn(&str) -> bool) -> Vec<&str> {
        let files = self.listing(folder).iter().filter(|(_, kind)| **kind == Kind::File);
        let wanted = files.filter(|(name, _)| name.to_str().is_some_and(is_wanted));
        wanted.filter_map(|(name, _)| self.data_below(folder, &folder.join(name))).collect()
    }
}

/// Whether a file of this name may state which versions of packages a project needs.
fn states_requirements(name: &str) -> bool {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    match extension {
        "txt" | "in" => stem.contains("requirement"),
        _ if is_yaml(name) => stem.contains("env") || stem.contains("conda"),
        _ => matches!(name, "pyproject.toml" | "setup.py" | "setup.cfg" | "Pipfile"),
    }
}

fn is_yaml(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "yml" | "yaml"))
}

/// Whether a file of this name may say how to install the project: `pip install torch==1.4.0`.
fn gives_instructions(name: &str) -> bool {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    name == "Dockerfile" || stem.eq_ignore_ascii_case("readme") && matches!(extension, "md" | "rst" | "txt" | "")
}

/// What texts say about packages: the conditions for each, such as `>=1.16,<1.24`.
#[derive(Default)]
pub(super) struct Stated(FxHashMap<String, Vec<String>>);

impl Stated {
    fn add(&mut self, text: &str) {
        for line in text.lines() {
            let is_command = line.contains(" install ") || line.contains("conda create ");
            // One line may contain several requirements: `install_requires=["torch==1.4", "numpy<1.24"]`.
            for part in
                line.split(|c: char| matches!(c, '"' | '\'' | ';' | '#' | '`') || is_command && c.is_whitespace())
            {
                let part = part.trim().trim_start_matches("- ").trim_start_matches("Requires-Dist:").trim_start();
                let end = part.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'));
                let Some((name, rest)) = part.split_at_checked(end.unwrap_or(part.len())) else { continue };
                // In `numpy = "^1.19"`, the version is in the next part.
                let condition = match rest.trim() {
                    "=" => match line.split(['"', '\'']).nth(1).unwrap_or_default() {
                        // For Poetry, a version without an operator is exact.
                        exact if exact.starts_with(|c: char| c.is_ascii_digit()) => format!("=={exact}"),
                        rest => rest.to_owned(),
                    },
                    // `transformers = {extras = ["torch"], version = "^4.38"}`
                    rest if rest.starts_with('=') && rest.contains('{') => {
                        let version = line.split_once("version").and_then(|(_, after)| after.split(['"', '\'']).nth(1));
                        version.unwrap_or_default().to_owned()
                    }
                    // The metadata of wheels have `Requires-Python: <3.9` and `Requires-Dist: numpy (<2)`.
                    rest => rest.trim_matches([':', '(', ')', ' ']).to_owned(),
                };
                self.0.entry(plain(name)).or_default().push(condition);
            }
        }
    }

    /// The conditions for a package.
    fn of(&self, package: &str) -> &[String] {
        self.0.get(&plain(package)).map_or(&[], Vec::as_slice)
    }

    /// Whether some condition excludes a version of a package and all newer ones.
    fn excludes(&self, package: &str, version: &str) -> bool {
        // `package @ https://…` may be another version, or a fork.
        let is_address = |rest: &str| rest.trim_start().starts_with('@');
        let excludes = |rest: &String| rest.split(',').any(|condition| excludes(condition, version));
        self.of(package).iter().any(|rest| is_address(rest) || excludes(rest))
    }
}

/// The name of a package in lower case, with underscores: pip and conda do not distinguish them.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// Whether a condition such as `<1.24` excludes a version and all newer ones.
fn excludes(condition: &str, version: &str) -> bool {
    // `[extras]` may come between the name and the condition.
    let condition = condition.rsplit(']').next().unwrap_or_default().trim();
    let at = condition.find(|c: char| c.is_ascii_digit()).unwrap_or(condition.len());
    let Some((operator, given)) = condition.split_at_checked(at) else { return false };
    let (limit, wanted) = (numbers(given), numbers(version));
    if limit.is_empty() {
        return false;
    }
    let mut written = written(given);
    // `==1.*`, `~=1.4` and `^1.4` allow all versions with the same beginning.
    let kept = match operator.trim() {
        "==" | "===" | "=" if !given.contains('*') => return limit < wanted,
        "<=" => return limit < wanted,
        "<" => return limit <= wanted,
        "==" | "=" => written.len(),
        "~=" => written.len().saturating_sub(1).max(1),
        "^" => written.iter().take_while(|number| **number == 0).count() + 1,
        _ => return false,
    };
    written.truncate(kept);
    if let Some(last) = written.last_mut() {
        *last += 1;
    }
    written <= wanted
}

/// The numbers of a version: `1.24.1rc1` is 1, 24, 1.
fn written(version: &str) -> Vec<u32> {
    let digits = |part: &str| part.find(|c: char| !c.is_ascii_digit()).map_or(part.len(), |end| end);
    version.split('.').map_while(|part| part.get(..digits(part))?.parse().ok()).collect()
}

/// The numbers of a version, without zeros at the end.
fn numbers(version: &str) -> Vec<u32> {
    let mut numbers = written(version);
    // `1.24.0` is the same version as `1.24`.
    while numbers.last() == Some(&0) && numbers.len() > 1 {
        numbers.pop();
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::Stated;

    fn excluded(text: &str, package: &str, version: &str) -> bool {
        let mut stated = Stated::default();
        stated.add(text);
        stated.excludes(package, version)
    }

    #[test]
    fn requirements_that_exclude_a_version() {
        for text in [
            "numpy==1.19.5",
            "torch\nnumpy < 1.24  # see the issue",
            "numpy>=1.16,<=1.23",
            "  - numpy=1.21.2=py37h31617e3_0",
            "install_requires=['torch==1.4', 'numpy~=1.19'],",
            "numpy~=1.16.0",
            "numpy = \"^0.9\"",
            "numpy[extra]==1.*",
            "NumPy==1.23.0",
            "numpy = \"1.21.0\"",
            "numpy = {extras = [\"a\"], version = \"^0.9\"}",
            "install_requires=['numpy @ https://example.org/numpy.zip'],",
            "Requires-Dist: numpy (<1.24,>=1.16)",
            "Requires-Dist: numpy<1.24; extra == 'dev'",
            "RUN pip install --no-cache-dir numpy==1.19.2 torch",
            "Run `conda install numpy=1.16` first",
        ] {
            assert!(excluded(text, "numpy", if text.contains(['*', '~']) { "2.0" } else { "1.24" }), "{text}");
        }
        assert!(excluded("pytorch-lightning==1.6", "pytorch_lightning", "2.0"));
        assert!(excluded("    python_requires='>=3.6.2,<3.9',", "python_requires", "3.9"));
        assert!(excluded("requires-python = \">=3.7, <3.9\"", "requires_python", "3.9"));
        assert!(!excluded("python = \"^3.8\"", "python", "3.9"));
    }

    #[test]
    fn requirements_that_exclude_nothing() {
        for text in ["numpy", "numpy>=1.19", "numpy==1.24.0", "numpy<2", "numpydoc==1.0", "# numpy", "numpy!=1.23", ""]
        {
            assert!(!excluded(text, "numpy", "1.24"), "{text}");
        }
    }
}
