//! TV8: names and arguments.

pub(super) mod undefined_name;
