//! Reading task sets: from a file, or from standard input as `-`.

use crate::failure::Failure;
use crate::output::{Output, visible_name};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use vestal_workload::input::FILE_BYTES_MAX;
use vestal_workload::{Diagnostics, Source, TaskSet, read_file};

/// The name under which standard input appears in messages and results.
const STDIN_NAME: &str = "<stdin>";

/// Reads a task set and says what is worth a warning in it.
pub(crate) fn task_set(path: &Path, output: &Output) -> Result<TaskSet, Failure> {
    let source = source(path)?;
    let set = TaskSet::from_source(&source).map_err(|found| unreadable(path, found))?;
    if let Some(warnings) = set.warnings() {
        output.diagnostics(&warnings);
    }
    Ok(set)
}

/// Reads the text of a file, or of standard input.
pub(crate) fn source(path: &Path) -> Result<Arc<Source>, Failure> {
    if path.as_os_str() != "-" {
        return read_file(path).map_err(|found| unreadable(path, found));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed, so that what is too large is seen to be too large.
    let limit = FILE_BYTES_MAX as u64 + 1;
    std::io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::input("read standard input", error.to_string()))?;
    Source::from_vec(STDIN_NAME, bytes).map_err(|found| unreadable(path, found))
}

/// The failure for a file with errors.
pub(crate) fn unreadable(path: &Path, found: Diagnostics) -> Failure {
    let code = found.list().first().map(|first| first.code.to_string());
    let failure = Failure::diagnosed(format!("read {}", shown(path)), found);
    match code {
        Some(code) => failure.with_help(format!("`vestal explain {code}` says more about {code}")),
        None => failure,
    }
}

/// The file as results name it.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" {
        STDIN_NAME.to_owned()
    } else {
        visible_name(path)
    }
}
