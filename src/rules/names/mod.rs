//! TV8: names and arguments.

pub(super) mod argument_in_wrong_place;
pub(super) mod argument_not_passed_on;
pub(super) mod attribute_set_in_some_branches;
pub(super) mod conditional_before_comma;
pub(super) mod lightning_argument_removed;
pub(super) mod lightning_hook_arguments;
pub(super) mod lightning_hook_removed;
pub(super) mod loop_variable_reused;
pub(super) mod missing_import;
pub(super) mod misspelt_attribute;
pub(super) mod misspelt_method;
pub(super) mod monitor_not_logged;
pub(super) mod optimizer_settings_ignored;
pub(super) mod optimizers_returned_as_pair;
pub(super) mod parameter_hides_function;
pub(super) mod plateau_without_monitor;
pub(super) mod setting_in_no_file;
pub(super) mod step_without_loss;
pub(super) mod texts_joined_in_list;
pub(super) mod trailing_comma;
pub(super) mod trainer_method_arguments;
pub(super) mod training_argument_removed;
pub(super) mod uncalled_function;
pub(super) mod undefined_name;
pub(super) mod value_as_annotation;
