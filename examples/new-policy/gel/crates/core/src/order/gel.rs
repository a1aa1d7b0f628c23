//! Priority points: the job whose release plus Y_i comes first goes first (Leontyev and Anderson, RTSS 2007,
//! call such orders window-constrained; Y_i = 0 is first in, first out, Y_i = D_i is EDF).

use super::Ranked;
use crate::configuration_error::ConfigurationError;
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::Duration;
use crate::urgency::Urgency;

/// Each task has a priority point.
pub(super) fn check(
    points: &[Duration],
    tasks: &[TaskConfiguration],
) -> Result<(), ConfigurationError> {
    match points.len() < tasks.len() {
        true => Err(ConfigurationError::Parameter {
            task: points.len(),
            what: "priority point",
            fault: "is missing",
        }),
        false => Ok(()),
    }
}

/// Y_i of all tasks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PriorityPoints<S: Store>(S::Table<Duration>);

impl<S: Store> PriorityPoints<S> {
    pub(super) fn new(points: &[Duration]) -> Option<Self> {
        let mut table = S::table(points.len(), Duration::ZERO)?;
        for (entry, point) in table.iter_mut().zip(points) {
            *entry = *point;
        }
        Some(Self(table))
    }

    pub(super) fn urgency(&self, job: &Ranked<'_>) -> Urgency {
        let point = self.0.get(job.task.index()).copied();
        let at = job.released.saturating_add(point.unwrap_or(Duration::ZERO));
        Urgency::of_deadline_nanos(at.as_nanos())
    }
}
