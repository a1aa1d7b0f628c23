//! Earliest (virtual) deadline first: EDF-VD (Baruah et al., ECRTS 2012), and EDF with deadlines for virtual
//! ones (Liu and Layland 1973).

use super::Ranked;
use crate::configuration_error::ConfigurationError;
use crate::model::Level;
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::Duration;
use crate::urgency::Urgency;

/// Each task has a virtual deadline, positive and at most its deadline.
pub(super) fn check(
    virtual_deadlines: &[Duration],
    tasks: &[TaskConfiguration],
) -> Result<(), ConfigurationError> {
    let fits = |(index, entry): (usize, &TaskConfiguration)| {
        let due = virtual_deadlines.get(index);
        due.is_some_and(|due| !due.is_zero() && *due <= entry.task.deadline)
    };
    let mut entries = (0..tasks.len()).zip(tasks);
    match entries.find(|&entry| !fits(entry)) {
        Some((task, _)) => Err(ConfigurationError::Parameter {
            task,
            what: "virtual deadline",
            fault: "is missing, zero or after its deadline",
        }),
        None => Ok(()),
    }
}

/// The virtual deadlines of all tasks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct VirtualDeadlines<S: Store>(S::Table<Duration>);

impl<S: Store> VirtualDeadlines<S> {
    pub(super) fn new(virtual_deadlines: &[Duration]) -> Option<Self> {
        S::copied(virtual_deadlines, Duration::ZERO).map(Self)
    }

    #[inline]
    pub(super) fn urgency(&self, job: &Ranked<'_>) -> Urgency {
        let relative = match self.0.get(job.task.index()) {
            Some(due) if job.mode == Level::LOWEST => *due,
            Some(_) | None => job.entry.task.deadline,
        };
        Urgency::of_deadline_nanos(job.released.saturating_add(relative).as_nanos())
    }
}
