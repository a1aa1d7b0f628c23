//! MC²: what is proved of its levels.

pub mod tardiness;
