//! What an analysis chose and a run may use: the `parameters` object of results and files.

use crate::failure::Failure;
use crate::input;
use crate::output::Output;
use std::path::Path;
use std::sync::Arc;
use vestal_workload::{Parameters, Ratio, Source, TaskSet};

/// The parameters that a test found, as files and results write them.
pub(crate) fn chosen(set: &TaskSet, found: &vestal_analysis::Parameters) -> Parameters {
    let mut chosen = match &found.priorities {
        Some(priorities) => Parameters::with_priorities(set, priorities),
        None => Parameters::default(),
    };
    if let Some(deadlines) = &found.virtual_deadlines {
        chosen = chosen.and_virtual_deadlines(set, deadlines);
    }
    if let Some(counts) = &found.slices {
        chosen = chosen.and_slices(set, counts);
    }
    if let Some(instants) = &found.zero_slack {
        chosen = chosen.and_zero_slack(set, instants);
    }
    chosen = chosen.and_job_priorities(
        set,
        found.job_priorities.as_deref(),
        found.patterns.as_deref(),
        found.busy_periods.as_deref(),
    );
    let factor = found.deadline_factor;
    chosen.deadline_factor = factor.and_then(|x| Ratio::new(x.numerator, x.denominator));
    chosen
}

/// A parameters file, checked against the set; nothing without a file.
pub(crate) fn read(path: Option<&Path>, set: &TaskSet) -> Result<Parameters, Failure> {
    let Some(path) = path else {
        return Ok(Parameters::default());
    };
    let source = input::source(path)?;
    Parameters::parse(&source, set).map_err(|found| input::unreadable(path, found))
}

/// The parameters that a recording at `path` carries; an empty text is none.
pub(crate) fn parse(
    source: &Arc<Source>,
    path: &Path,
    set: &TaskSet,
) -> Result<Parameters, Failure> {
    if source.text.is_empty() {
        return Ok(Parameters::default());
    }
    Parameters::parse(source, set).map_err(|found| input::unreadable(path, found))
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
