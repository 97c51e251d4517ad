//! TV0: the environment, and files that launch programs.

pub mod anomaly_mode_left_on;
pub mod dsa_environment_variable;
pub mod late_environment_variable;
pub mod late_launch_blocking;
pub mod launch_blocking_left_on;
pub mod swallowed_device_assert;
