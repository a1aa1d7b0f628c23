//! What an analysis chose and a run may use: the `parameters` object of results and files.

use crate::failure::Failure;
use crate::ordered::Ordered;
use crate::output::Output;
use serde::Serialize;
use std::path::Path;
use vestal_analysis::Parameters;
use vestal_workload::TaskSet;

/// The `parameters` object.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Chosen {
    /// Larger is more urgent.
    #[serde(skip_serializing_if = "Option::is_none")]
    priorities: Option<Ordered<u32>>,
}

impl Chosen {
    pub(crate) fn new(set: &TaskSet, parameters: &Parameters) -> Self {
        let priorities = parameters.priorities.as_ref().map(|priorities| {
            let named = set.tasks.iter().zip(priorities);
            Ordered(named.map(|(task, priority)| (task.name.clone(), *priority)).collect())
        });
        Self { priorities }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.priorities.is_none()
    }
}

/// The priorities of a parameters file in task order.
pub(crate) fn read(path: Option<&Path>, set: &TaskSet, output: &Output) -> Result<Option<Vec<u32>>, Failure> {
    let _ = (set, output);
    match path {
        None => Ok(None),
        Some(_) => Err(Failure::not_in_this_version("--parameters")),
    }
}

/// Writes parameters for `--parameters`.
pub(crate) fn write(path: &Path, chosen: &Chosen, output: &Output) -> Result<(), Failure> {
    let failed = |why: String| {
        Failure::input(format!("write parameters to {}", path.display()), why)
            .with_help("name a file in a directory that exists and can be written")
    };
    let mut text = serde_json::to_string_pretty(chosen).map_err(|error| failed(error.to_string()))?;
    text.push('\n');
    std::fs::write(path, text).map_err(|error| failed(error.to_string()))?;
    output.note(&format!("wrote the parameters to {}", path.display()));
    Ok(())
}
