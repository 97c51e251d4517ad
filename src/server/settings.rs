//! The settings of each folder. Settings are read again when one of their files changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::config::{Layer, Settings};
use crate::contract::Contracts;

/// Which inlay hints are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Hints {
    #[default]
    Off,
    /// Only where the facts about a variable change.
    OnChange,
    All,
}

/// The settings of the editor: `torchvet.*`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Options {
    pub enable: Option<bool>,
    pub select: Option<Vec<String>>,
    pub ignore: Option<Vec<String>>,
    pub inlay_hints: Hints,
}

impl Options {
    /// Reads the settings that an editor sends: directly, or under the key `settings` or
    /// `torchvet`.
    pub(super) fn read(mut value: serde_json::Value) -> Result<Options, String> {
        for key in ["settings", "torchvet"] {
            if let Some(inner) = value.get_mut(key) {
                value = inner.take();
            }
        }
        if value.is_null() {
            return Ok(Options::default());
        }
        // An editor may send null for settings that the user did not set.
        if let Some(settings) = value.as_object_mut() {
            settings.retain(|_, value| !value.is_null());
        }
        serde_json::from_value(value).map_err(|error| format!("the settings `torchvet.*`: {error}"))
    }

    pub(super) fn is_on(&self) -> bool {
        self.enable.unwrap_or(true)
    }
}

/// Settings, ready for use.
pub(super) struct Loaded {
    pub settings: Settings,
    pub contracts: Contracts,
}

/// The configuration files in a folder and the folders above it, with their state when they were
/// read.
type Stamp = Vec<(PathBuf, Option<SystemTime>, u64)>;

#[derive(Default)]
pub(super) struct Cache {
    options: Options,
    loaded: FxHashMap<Stamp, Arc<Loaded>>,
    /// Mistakes that were not reported to the user yet.
    mistakes: Vec<String>,
    told: Vec<String>,
}

impl Cache {
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    pub(super) fn set_options(&mut self, options: Options) {
        self.options = options;
        self.forget();
    }

    /// Makes the next request read everything again.
    pub(super) fn forget(&mut self) {
        self.loaded.clear();
        self.told.clear();
    }

    /// Messages about wrong settings.
    pub(super) fn mistakes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.mistakes)
    }

    /// The settings for the files in a folder, from the configuration file and the editor. If one
    /// of the two is wrong, the other still applies.
    pub(super) fn of(&mut self, folder: &Path) -> Arc<Loaded> {
        let stamp: Stamp = Layer::candidates(folder)
            .filter_map(|path| {
                let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
                Some((path, metadata.modified().ok(), metadata.len()))
            })
            .collect();
        if let Some(loaded) = self.loaded.get(&stamp) {
            return loaded.clone();
        }
        let file = Layer::discover(folder).unwrap_or_else(|error| {
            self.mistake(error.to_string());
            None
        });
        let editor = Layer::from_editor(self.options.select.as_deref(), self.options.ignore.as_deref());
        let layers: [Vec<Layer>; 4] = [
            file.iter().cloned().chain([editor.clone()]).collect(),
            file.into_iter().collect(),
            vec![editor],
            Vec::new(),
        ];
        let resolved = layers.iter().find_map(|layers| self.resolve(layers));
        let Some(loaded) = resolved.map(Arc::new) else { unreachable!("the default settings are right") };
        // Drops old states.
        if self.loaded.len() > 64 {
            self.loaded.clear();
        }
        self.loaded.insert(stamp, loaded.clone());
        loaded
    }

    fn resolve(&mut self, layers: &[Layer]) -> Option<Loaded> {
        let settings = Settings::resolve(layers).map_err(|error| self.mistake(error.to_string())).ok()?;
        let contracts = Contracts::compile(&settings.rules).map_err(|error| self.mistake(error)).ok()?;
        Some(Loaded { settings, contracts })
    }

    fn mistake(&mut self, message: String) {
        if !self.told.contains(&message) {
            self.told.push(message.clone());
            self.mistakes.push(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_read_under_every_key() {
        let wanted =
            Options { select: Some(vec!["TV1".to_owned()]), inlay_hints: Hints::OnChange, ..Options::default() };
        let plain = json!({"select": ["TV1"], "inlayHints": "onChange", "enable": null, "path": [], "trace": {}});
        assert_eq!(Options::read(plain.clone()).unwrap(), wanted);
        assert_eq!(Options::read(json!({ "settings": plain })).unwrap(), wanted);
        assert_eq!(Options::read(json!({ "torchvet": plain })).unwrap(), wanted);
        assert_eq!(Options::read(serde_json::Value::Null).unwrap(), Options::default());
        assert!(Options::read(json!({"select": 1})).is_err());
    }

    #[test]
    fn mistakes_are_reported_once_and_the_other_settings_apply() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("torchvet.toml"), "ignore = ['TV103']\n").unwrap();
        let mut cache = Cache::default();
        cache.set_options(Options { select: Some(vec!["TV999".to_owned()]), ..Options::default() });
        let loaded = cache.of(dir.path());
        assert!(!loaded.settings.selection.is_on("TV103"));
        assert!(loaded.settings.selection.is_on("TV301"));
        let mistakes = cache.mistakes();
        assert!(mistakes.len() == 1 && mistakes[0].contains("`torchvet.select`"), "{mistakes:?}");
        assert!(Arc::ptr_eq(&loaded, &cache.of(dir.path())));
        std::fs::write(dir.path().join("torchvet.toml"), "ignore = ['TV301', 'TV302']\n").unwrap();
        assert!(!cache.of(dir.path()).settings.selection.is_on("TV301"));
        assert!(cache.mistakes().is_empty());
    }
}
