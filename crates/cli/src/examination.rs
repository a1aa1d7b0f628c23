//! What an examination of this machine is asked for.

use std::path::PathBuf;

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Wish {
    /// Where the files are: the machine's own if there is none.
    pub(crate) root: Option<PathBuf>,
    pub(crate) cpu: Option<usize>,
    /// Whether to try and to measure.
    pub(crate) probes: bool,
}
