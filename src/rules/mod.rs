//! The rules: one page each in `rules/`, and a file here for those that no contract can
//! express (order of calls, loops, environment). A rule prints nothing.

pub mod anomaly_mode_left_on;
pub mod axes_swapped_by_view;
mod batch_taken_for_sequence;
mod bits_of_mask_flipped;
pub mod changed_through_data;
mod clipping_after_step;
pub mod copied_random_generator;
pub mod cuda_default_with_shuffling_loader;
pub mod cuda_in_dataset_worker;
mod difference_of_all_pairs;
pub mod discarded_to;
pub mod dropout_ignores_eval;
pub mod dsa_environment_variable;
pub mod empty_cache_in_loop;
pub mod evaluation_in_training_mode;
mod evaluation_records_gradients;
pub mod forward_called_directly;
pub mod freed_graph_reused;
pub mod gradients_not_cleared;
mod head_never_called;
pub mod hidden_state_not_detached;
pub mod late_environment_variable;
pub mod late_launch_blocking;
pub mod launch_blocking_left_on;
pub mod loader_without_workers;
pub mod loss_cut_from_graph;
pub mod loss_summed_with_graph;
pub mod mask_moved_apart;
pub mod missing_super_init;
pub mod model_left_in_eval;
pub mod modules_in_plain_container;
pub mod object_in_checkpoint;
pub mod optimizer_state_left_behind;
pub mod redundant_move;
mod replaced_parameters_not_optimized;
mod requires_grad_set_on_module;
mod result_assigned_over_object;
pub mod sampler_without_set_epoch;
pub mod saved_tensor_modified;
pub mod scaled_gradients_used;
mod scaler_not_updated;
pub mod scheduler_before_optimizer;
pub mod scheduler_length_mismatch;
pub mod seed_after_use;
mod size_set_on_layer;
mod softmax_over_batch;
mod step_before_backward;
mod swallowed_device_assert;
pub mod sync_in_training_loop;
mod tensor_made_on_cpu;
pub mod unregistered_tensor_attribute;
pub mod untransformed_plain_mask;
pub mod untrusted_code;

mod front_matter;
pub mod notes;
mod page;
mod rule;
mod sections;
mod trace;
mod watch;
pub mod weights_kept_by_reference;
pub mod wrapped_module_called;

use std::path::Path;

pub use page::{FixKind, Page};
pub use rule::Call;
pub use watch::{Found, Watch, Watching, launched};

mod table {
    include!(concat!(env!("OUT_DIR"), "/pages.rs"));
}

/// The rules of a run: torchvet's own and the user's.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub pages: Vec<Page>,
}

impl Rules {
    /// The rules that ship with torchvet, by code. `build.rs` has checked every page, so none
    /// is left out here.
    pub fn builtin() -> Rules {
        let read = |&(stem, text): &(&'static str, &'static str)| {
            Page::read(stem.into(), format!("rules/{stem}.md"), text.into()).ok()
        };
        let mut pages: Vec<Page> = table::PAGES.iter().filter_map(read).collect();
        pages.sort_by(|a, b| a.code.cmp(&b.code));
        Rules { pages }
    }

    /// Adds a user's page, which messages call `shown`. The error is `path:line: what is wrong`.
    pub fn load_user(&mut self, path: &Path, shown: &Path) -> Result<(), String> {
        let shown = shown.display();
        let fault = |line: usize, message: &str| format!("{shown}:{line}: {message}");
        let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
            return Err(fault(1, "the name of a page's file is the rule's name, in UTF-8"));
        };
        let page = Page::read(stem.to_owned().into(), shown.to_string(), text.into())
            .map_err(|found| fault(found.line, &found.message))?;
        let line = page.code_line;
        if page.code.starts_with("TV") {
            return Err(fault(line, "codes that begin with TV are torchvet's own"));
        }
        if page.has_own_check() {
            return Err(fault(line, "a user's page needs a contract: `contract-of` is empty"));
        }
        if let Some(other) = self.find(&page.code) {
            return Err(fault(line, &format!("code `{}` is taken by {}", page.code, other.name)));
        }
        if self.find(&page.name).is_some() {
            return Err(fault(line, &format!("a rule named `{}` exists already", page.name)));
        }
        self.pages.push(page);
        Ok(())
    }

    /// The rule with this code or name.
    pub fn find(&self, code_or_name: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.code == code_or_name || page.name == code_or_name)
    }
}

/// Where a built-in rule's page is read on the web.
pub fn url(name: &str) -> String {
    format!("https://github.com/torchvet/torchvet/blob/main/rules/{name}.md")
}

#[cfg(test)]
mod tests;
