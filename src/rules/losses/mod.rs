//! TV1: losses and their targets.

pub(super) mod argmax_over_batch;
pub(super) mod difference_of_all_pairs;
pub(super) mod kl_summed_beside_mean;
pub(super) mod loss_setting_never_read;
pub(super) mod mean_of_total;
pub(super) mod one_hot_of_predictions;
pub(super) mod one_hot_without_classes;
pub(super) mod padding_in_labels;
pub(super) mod penalty_of_each_pixel;
pub(super) mod value_compared_with_itself;
pub(super) mod variance_taken_for_deviation;
