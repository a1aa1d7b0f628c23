//! The processor demand of EDF at every instant.

use vestal_core::{Duration, Task};

/// The shortest window of 1 to `until` ns for which the jobs that are released and due in it need
/// more than it holds, each at its own level's execution time, all tasks released at 0.
#[must_use]
pub fn first_overfull_window(tasks: &[Task], until: Duration) -> Option<Duration> {
    let demand = |window: u64| -> u128 {
        let due = |task: &Task| -> u128 {
            let jobs = (0..)
                .map(|job| {
                    u128::from(task.deadline.as_nanos()) + job * u128::from(task.period.as_nanos())
                })
                .take_while(|&due| due <= u128::from(window))
                .count();
            jobs as u128 * u128::from(task.own_wcet().as_nanos())
        };
        tasks.iter().map(due).sum()
    };
    (1..=until.as_nanos())
        .find(|&window| demand(window) > u128::from(window))
        .map(Duration::from_nanos)
}
