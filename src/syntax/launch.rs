//! Environment variables that are set outside Python: in Dockerfiles, shell and Slurm scripts,
//! `.env` files, and the YAML of Docker Compose and Kubernetes.
//!
//! Only literal settings without a condition are read. The files are read line by line, because a
//! partly malformed file may still set a variable.

use std::ops::Range;
use std::path::Path;

/// The kind of a file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaunchFile {
    Docker,
    Shell,
    Env,
    Yaml,
}

/// A variable that is set to `1`, `true` or `True`.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub variable: &'static str,
    /// The place of the setting in the file.
    pub at: Range<usize>,
}

/// The variables whose settings in these files are checked by rules.
pub(crate) const VARIABLES: &[&str] = &["CUDA_LAUNCH_BLOCKING", "TORCH_USE_CUDA_DSA"];

impl LaunchFile {
    pub(crate) fn of(path: &Path) -> Option<LaunchFile> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        if ["dockerfile", "containerfile"].iter().any(|kind| {
            name.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                || name.ends_with(&format!(".{kind}"))
        }) {
            return Some(LaunchFile::Docker);
        }
        if name == ".env" || name.starts_with(".env.") {
            return Some(LaunchFile::Env);
        }
        Some(match name.rsplit_once('.')?.1 {
            "sh" | "bash" | "zsh" | "sbatch" | "slurm" => LaunchFile::Shell,
            "env" => LaunchFile::Env,
            "yml" | "yaml" => LaunchFile::Yaml,
            _ => return None,
        })
    }

    /// The settings in a file of this kind.
    pub(crate) fn settings(self, path: &Path, text: &str) -> Vec<Setting> {
        // Files for debugging may set these variables.
        let debugging = |part: &str| part.to_ascii_lowercase().contains("debug");
        if path.file_name().and_then(|name| name.to_str()).is_some_and(debugging) {
            return Vec::new();
        }
        match self {
            LaunchFile::Docker => docker(text),
            LaunchFile::Shell => shell(text),
            LaunchFile::Env => lines(text).filter_map(|(at, line)| assigned(line, at)).collect(),
            LaunchFile::Yaml => yaml(path, text),
        }
    }
}

/// Lines that are not comments, with their offsets.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n')
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, line))
        })
        .filter(|(_, line)| !line.trim_start().starts_with('#'))
}

/// The setting in `NAME=1`, which may follow `export` or an option.
fn assigned(line: &str, at: usize) -> Option<Setting> {
    words(line).find_map(|(offset, word)| {
        let (name, value) = word.split_once('=')?;
        let name = name.trim_start_matches(['"', '\'']);
        let variable = VARIABLES.iter().copied().find(|variable| *variable == name)?;
        is_on(value).then(|| Setting { variable, at: at + offset..at + offset + word.len() })
    })
}

/// Whether a value is a literal that enables a variable, and not, for example, a reference to
/// another variable.
fn is_on(value: &str) -> bool {
    matches!(value.trim_matches(['"', '\'', ',', ';']), "1" | "true" | "True")
}

/// The words of a line, up to a comment.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = line.get(from..)?;
        let start = from + rest.find(|c: char| !c.is_whitespace())?;
        let rest = line.get(start..)?;
        let end = start + rest.find(char::is_whitespace).unwrap_or(rest.len());
        from = end;
        line.get(start..end).map(|word| (start, word))
    })
    .take_while(|(_, word)| !word.starts_with('#'))
}

fn docker(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let (mut in_env, mut debug_stage) = (false, false);
    for (at, line) in lines(text) {
        let first = words(line).next().map_or("", |(_, word)| word);
        let continued = in_env;
        in_env = false;
        if first.eq_ignore_ascii_case("FROM") {
            debug_stage = line.to_ascii_lowercase().contains("debug");
        }
        if debug_stage || !(continued || first.eq_ignore_ascii_case("ENV")) {
            continue;
        }
        in_env = line.trim_end().ends_with('\\');
        // `ENV NAME 1`
        let mut parts = words(line).skip(1);
        let old = match (parts.next(), parts.next(), parts.next()) {
            (Some((offset, name)), Some((_, value)), None) if !continued && is_on(value) => {
                let variable = VARIABLES.iter().copied().find(|variable| *variable == name);
                variable.map(|variable| Setting { variable, at: at + offset..at + offset + name.len() })
            }
            _ => None,
        };
        found.extend(old.or_else(|| assigned(line, at)));
    }
    found
}

fn shell(text: &str) -> Vec<Setting> {
    let mut found: Vec<Setting> = Vec::new();
    // The number of open conditions, functions and `{` blocks.
    let mut open = 0usize;
    for (at, line) in lines(text) {
        let first = words(line).next().map_or("", |(_, word)| word);
        let last = words(line).last().map_or("", |(_, word)| word);
        let opens = matches!(first, "if" | "case" | "function") || last == "{" || last.ends_with("(){");
        let closes = matches!(first.trim_end_matches(';'), "fi" | "esac" | "}")
            || words(line).skip(1).any(|(_, word)| matches!(word, "fi" | "fi;" | "esac"));
        if opens && first != "}" {
            open += 1;
        }
        let guarded = open > 0 || line.contains("&&") && !first.starts_with("cd") || line.contains("||");
        if closes {
            open = open.saturating_sub(1);
        }
        let undone = |variable: &str| {
            line.contains(&format!("unset {variable}")) || line.contains(&format!("export {variable}=0"))
        };
        found.retain(|setting| !undone(setting.variable));
        if guarded || matches!(first, "echo" | "printf" | "cat") {
            continue;
        }
        found.extend(assigned(line, at).or_else(|| listed(line, at)));
    }
    found
}

/// `srun --export=ALL,NAME=1`, `docker run --env=NAME=1`.
fn listed(line: &str, at: usize) -> Option<Setting> {
    words(line).find_map(|(offset, word)| {
        let (_, list) = word.strip_prefix("--")?.split_once('=')?;
        let variable = list.split(',').find_map(|part| {
            let (name, value) = part.split_once('=')?;
            VARIABLES.iter().copied().find(|variable| *variable == name && is_on(value))
        })?;
        Some(Setting { variable, at: at + offset..at + offset + word.len() })
    })
}

fn yaml(path: &Path, text: &str) -> Vec<Setting> {
    let named = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.contains("compose"));
    // A Compose file with another name is recognised by its services, which are built or run from
    // an image.
    let has = |key: &str, nested: bool| {
        lines(text).any(|(_, line)| line.trim_start().starts_with(key) && line.starts_with(' ') == nested)
    };
    let compose = named || has("services:", false) && (has("image:", true) || has("build:", true));
    let cluster = lines(text).any(|(_, line)| line.starts_with("apiVersion:"));
    if !compose && !cluster {
        return Vec::new();
    }
    let mut found = Vec::new();
    // The keys above a line, with their indentation.
    let mut keys: Vec<(usize, &str)> = Vec::new();
    let mut named: Option<Setting> = None;
    for (at, line) in lines(text) {
        let line = line.split_once(" #").map_or(line, |(before, _)| before);
        let bare = line.trim_start();
        if bare.trim_end().is_empty() {
            continue;
        }
        // A list may have the same indentation as its key.
        let indent = line.len() - bare.len() + usize::from(bare.starts_with("- "));
        keys.retain(|(other, _)| *other < indent);
        let item = bare.strip_prefix("- ").unwrap_or(bare).trim();
        let offset = at + line.find(item).unwrap_or(0);
        let place = offset..offset + item.len();
        let (key, value) = match item.split_once(':') {
            Some((key, value)) => (key.trim().trim_matches(['"', '\'']), value.trim()),
            None => ("", ""),
        };
        let environment = keys.iter().any(|(_, key)| matches!(*key, "environment" | "env"));
        let debugging = keys.iter().any(|(_, key)| key.to_ascii_lowercase().contains("debug"));
        if environment && !debugging {
            let variable = |name: &str| VARIABLES.iter().copied().find(|v| *v == name);
            // `- NAME=1`
            if let Some((name, value)) = item.trim_matches(['"', '\'']).split_once('=')
                && is_on(value)
            {
                found.extend(variable(name).map(|variable| Setting { variable, at: place.clone() }));
            }
            // `NAME: 1`
            if is_on(value) {
                found.extend(variable(key).map(|variable| Setting { variable, at: place.clone() }));
            }
            // `- name: NAME`, `value: "1"`
            match key {
                "name" => {
                    named = variable(value.trim_matches(['"', '\''])).map(|variable| Setting { variable, at: place });
                }
                "value" if is_on(value) => found.extend(named.take()),
                _ => {}
            }
        }
        if value.is_empty() && !key.is_empty() {
            keys.push((indent, key));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        let path = Path::new(name);
        let kind = LaunchFile::of(path).expect("a launch file");
        kind.settings(path, text).into_iter().map(|setting| text[setting.at].to_owned()).collect()
    }

    #[test]
    fn dockerfiles() {
        assert_eq!(found("Dockerfile", "FROM a\nENV CUDA_LAUNCH_BLOCKING=1\n"), ["CUDA_LAUNCH_BLOCKING=1"]);
        assert_eq!(found("Dockerfile.gpu", "ENV CUDA_LAUNCH_BLOCKING 1\n"), ["CUDA_LAUNCH_BLOCKING"]);
        let continued = "ENV A=2 \\\n    CUDA_LAUNCH_BLOCKING=1 \\\n    B=3\n";
        assert_eq!(found("train.Dockerfile", continued), ["CUDA_LAUNCH_BLOCKING=1"]);
        for quiet in [
            "# ENV CUDA_LAUNCH_BLOCKING=1\n",
            "ENV CUDA_LAUNCH_BLOCKING=0\n",
            "ENV CUDA_LAUNCH_BLOCKING=${DEBUG:-0}\n",
            "FROM base AS debug\nENV CUDA_LAUNCH_BLOCKING=1\n",
            "RUN CUDA_LAUNCH_BLOCKING=1 python -m pytest\n",
            "ARG CUDA_LAUNCH_BLOCKING=1\n",
        ] {
            assert!(found("Dockerfile", quiet).is_empty(), "{quiet}");
        }
    }

    #[test]
    fn shell_scripts() {
        assert_eq!(found("a.sh", "export CUDA_LAUNCH_BLOCKING=1\n"), ["CUDA_LAUNCH_BLOCKING=1"]);
        assert_eq!(found("a.sbatch", "CUDA_LAUNCH_BLOCKING=1 python t.py\n"), ["CUDA_LAUNCH_BLOCKING=1"]);
        assert_eq!(found("a.sh", "docker run -e CUDA_LAUNCH_BLOCKING=1 img\n"), ["CUDA_LAUNCH_BLOCKING=1"]);
        assert_eq!(found("a.sh", "srun --export=ALL,TORCH_USE_CUDA_DSA=1 x\n"), ["--export=ALL,TORCH_USE_CUDA_DSA=1"]);
        for quiet in [
            "if [ \"$DEBUG_CUDA\" = 1 ]; then\n  export CUDA_LAUNCH_BLOCKING=1\nfi\n",
            "if [ $D ]; then export CUDA_LAUNCH_BLOCKING=1; fi\n",
            "[ \"$DEBUG\" = 1 ] && export CUDA_LAUNCH_BLOCKING=1\n",
            "debug() {\n  export CUDA_LAUNCH_BLOCKING=1\n}\n",
            "case $1 in\n--debug) export CUDA_LAUNCH_BLOCKING=1 ;;\nesac\n",
            "export CUDA_LAUNCH_BLOCKING=${CUDA_LAUNCH_BLOCKING:-0}\n",
            "echo try CUDA_LAUNCH_BLOCKING=1\n",
            "python t.py # CUDA_LAUNCH_BLOCKING=1\n",
            "export CUDA_LAUNCH_BLOCKING=1\npython a.py\nunset CUDA_LAUNCH_BLOCKING\n",
        ] {
            assert!(found("a.sh", quiet).is_empty(), "{quiet}");
        }
        assert!(found("debug.sh", "export CUDA_LAUNCH_BLOCKING=1\n").is_empty());
        let after = "if a; then b; fi\nexport CUDA_LAUNCH_BLOCKING=1\n";
        assert_eq!(found("a.sh", after), ["CUDA_LAUNCH_BLOCKING=1"]);
    }

    #[test]
    fn env_files() {
        assert_eq!(found(".env", "A=1\nCUDA_LAUNCH_BLOCKING=1\n"), ["CUDA_LAUNCH_BLOCKING=1"]);
        assert!(found(".env.debug", "CUDA_LAUNCH_BLOCKING=1\n").is_empty());
    }

    #[test]
    fn yaml_of_compose_and_kubernetes() {
        let list = "services:\n  train:\n    environment:\n      - CUDA_LAUNCH_BLOCKING=1\n";
        assert_eq!(found("docker-compose.yml", list), ["CUDA_LAUNCH_BLOCKING=1"]);
        let map = "services:\n  train:\n    environment:\n      CUDA_LAUNCH_BLOCKING: \"1\"\n";
        assert_eq!(found("compose.yaml", map), ["CUDA_LAUNCH_BLOCKING: \"1\""]);
        let pod = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: t\n    env:\n    - name: CUDA_LAUNCH_BLOCKING\n      value: \"1\"\n";
        assert_eq!(found("pod.yaml", pod), ["name: CUDA_LAUNCH_BLOCKING"]);
        assert!(found("ci.yml", list).is_empty());
        let image = list.replace("    environment", "    image: trainer\n    environment");
        assert_eq!(found("train.yml", &image), ["CUDA_LAUNCH_BLOCKING=1"]);
        let workflow = "jobs:\n  test:\n    services:\n      db:\n        image: db\n        environment:\n          - CUDA_LAUNCH_BLOCKING=1\n";
        assert!(found("workflow.yml", workflow).is_empty());
        let debug = "services:\n  debug:\n    environment:\n      - CUDA_LAUNCH_BLOCKING=1\n";
        assert!(found("docker-compose.yml", debug).is_empty());
    }

    #[test]
    fn unusual_texts_cause_no_panic() {
        for text in ["", "\n", "=", "ENV", "- ", ":", "é: 1\n日本=1", "CUDA_LAUNCH_BLOCKING", "\u{feff}#"] {
            for name in ["Dockerfile", "a.sh", ".env", "compose.yml"] {
                let path = Path::new(name);
                LaunchFile::of(path).expect("a launch file").settings(path, text);
            }
        }
    }
}
