//! Whether a program may log a value under a name.

use super::{Project, SourceFile};
use crate::syntax::FileId;

/// Names under which Lightning itself stores values.
const BUILTIN: &[&str] = &["epoch", "step", "global_step"];

impl Project {
    /// Whether the program of a file logs values with Lightning's `self.log`, but none under this name, as far as
    /// its texts show: no text contains the name (except as a monitor), or a part of a string from which it may be
    /// made, such as `f"{stage}_loss"`, and no call logs a value under a name in a variable.
    pub(crate) fn never_logs(&self, file: FileId, name: &str) -> bool {
        // Files that are not named, but imported, may belong to any program.
        let named = self.named_files().count();
        let imported = self.files.iter().skip(named).map(SourceFile::text);
        let texts: Vec<&str> = self.program_texts(file).into_iter().chain(imported).collect();
        let has_module = texts.iter().any(|text| text.contains("LightningModule)"));
        let logs = texts.iter().any(|text| text.contains("self.log("));
        has_module && logs && !BUILTIN.contains(&name) && !texts.iter().any(|text| may_log(text, name))
    }
}

fn may_log(text: &str, name: &str) -> bool {
    // Lightning adds these when a value is logged for steps and for epochs.
    let base = ["_epoch", "_step"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .any(|line| names_it(line, base) || logs_variable(line) || strings(line).any(|string| may_make(string, base)))
}

/// Whether a line contains the name as a word, but not as a monitor.
fn names_it(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-');
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (line.get(..at).unwrap_or_default(), line.get(at + name.len()..).unwrap_or_default());
        let is_word = !before.ends_with(is_part) && !after.trim_start_matches("_epoch").starts_with(is_part);
        let place = before.trim_end_matches(['"', '\'']).trim_end();
        let is_monitor =
            place.ends_with(['=', ':', ',']) && before.contains("monitor") || place.ends_with("EarlyStopping(");
        is_word && !is_monitor
    })
}

/// Whether a line logs a value under a name that it does not write out.
fn logs_variable(line: &str) -> bool {
    line.match_indices(".log(").any(|(at, call)| {
        let argument = line.get(at + call.len()..).unwrap_or_default().trim_start().trim_start_matches("name=");
        let owner = line.get(..at).unwrap_or_default();
        let is_math = ["torch", "np", "numpy", "math", "tf", "wandb", "logger"].iter().any(|it| owner.ends_with(it));
        let is_string = argument.strip_prefix(['f', 'r']).is_some_and(|argument| argument.starts_with(['"', '\'']));
        !is_math && !is_string && argument.starts_with(|c: char| c.is_alphabetic() || c == '_')
    })
}

/// The strings that begin and end in a line.
fn strings(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(['"', '\''])?;
        let quote = rest.get(rest.len() - after.len() - 1..)?.chars().next()?;
        let (string, next) = after.split_once(quote)?;
        rest = next;
        Some(string)
    })
}

/// Whether a program may make the name from a string: from a template such as `{}_loss`, or by joining the string
/// with others, such as `val_`.
fn may_make(string: &str, name: &str) -> bool {
    if string.is_empty() || string.len() > 40 || string.contains(' ') {
        return false;
    }
    let is_template = string.contains('{') || string.contains('%');
    if !is_template {
        let joins = |c: char| matches!(c, '_' | '/' | '-');
        return string.ends_with(joins) && name.starts_with(string)
            || string.starts_with(joins) && name.ends_with(string);
    }
    let first = string.split(['{', '%']).next().unwrap_or_default();
    let last = string.rsplit(['}', 's', 'd']).next().unwrap_or_default();
    let last = if string.contains('{') { string.rsplit('}').next().unwrap_or_default() } else { last };
    name.len() > first.len() + last.len() && name.starts_with(first) && name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::may_log;

    #[test]
    fn names_that_a_text_may_log() {
        for text in [
            "self.log('val_loss', loss)",
            "self.log('val_loss_epoch', loss)",
            "self.log(f'{stage}_loss', loss)",
            "self.log('%s_loss' % stage, loss)",
            "self.log(name, loss)",
            "self.log(stage + '_loss', loss)",
            "return {'val_loss': loss}",
            "MetricCollection([Accuracy()], prefix='val_')",
        ] {
            assert!(may_log(text, "val_loss"), "{text}");
        }
        for text in [
            "self.log('validation_loss', loss)",
            "ModelCheckpoint(monitor='val_loss')",
            "EarlyStopping('val_loss')",
            "{'scheduler': s, 'monitor': 'val_loss'}",
            "# self.log('val_loss', loss)",
            "x = torch.log(y)",
            "self.log(f'{stage}_acc', loss)",
        ] {
            assert!(!may_log(text, "val_loss"), "{text}");
        }
    }
}
