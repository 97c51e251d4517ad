//! TV0: the environment, and files that launch programs.

pub(super) mod anomaly_mode_left_on;
pub(super) mod dsa_environment_variable;
pub(super) mod late_environment_variable;
pub(super) mod late_launch_blocking;
pub(super) mod launch_blocking_left_on;
pub(super) mod swallowed_device_assert;
