//! What an analysis chose and a run may use: the `parameters` object of results and files.

use crate::failure::Failure;
use crate::input;
use crate::output::Output;
use std::path::Path;
use vestal_workload::{Parameters, TaskSet};

/// The parameters that a test found, as files and results write them.
pub(crate) fn chosen(set: &TaskSet, found: &vestal_analysis::Parameters) -> Parameters {
    match &found.priorities {
        Some(priorities) => Parameters::with_priorities(set, priorities),
        None => Parameters::default(),
    }
}

/// The priorities of a parameters file in task order, checked against the set; `None` without a
/// file, or if it gives none.
pub(crate) fn read(path: Option<&Path>, set: &TaskSet) -> Result<Option<Vec<u32>>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let source = input::source(path)?;
    let parameters =
        Parameters::parse(&source, set).map_err(|found| input::unreadable(path, found))?;
    let Some(named) = parameters.priorities else {
        return Ok(None);
    };
    let mut priorities = Vec::with_capacity(set.tasks.len());
    for task in &set.tasks {
        let found = named.iter().find(|(name, _)| *name == task.name);
        let (_, priority) = found.ok_or_else(|| {
            Failure::bug(
                format!("use the parameters in {}", path.display()),
                format!("checked parameters have no priority for {}", task.name),
            )
        })?;
        priorities.push(*priority);
    }
    Ok(Some(priorities))
}

/// Writes parameters for `--parameters`.
pub(crate) fn write(path: &Path, chosen: &Parameters, output: &Output) -> Result<(), Failure> {
    std::fs::write(path, chosen.to_file()).map_err(|error| {
        Failure::input(
            format!("write parameters to {}", path.display()),
            error.to_string(),
        )
        .with_help("name a file in a directory that exists and can be written")
    })?;
    output.note(&format!("wrote the parameters to {}", path.display()));
    Ok(())
}
