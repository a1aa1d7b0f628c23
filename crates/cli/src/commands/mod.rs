//! One file for each command.

pub(crate) mod analyze;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod manpages;
pub(crate) mod run;
pub(crate) mod simulate;
