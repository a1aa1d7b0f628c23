//! What had been guaranteed to a job that missed its deadline: the rule by which every world judges after the fact.
//!
//! Vestal's guarantee (RTSS 2007) for a job of criticality z: it meets its deadline d as long as no job of any task j
//! executes for more than C_j(z). Whether it is complete at d depends on what happened before d alone, so only what
//! was exceeded before d excuses it. How a world learns that something was exceeded, and until when that counts, is its
//! own business.

use crate::model::{LEVELS_MAX, Level, Task};
use crate::time::{Instant, Service};

/// The levels to which a job of `task` can end the guarantee, each with what it may execute before it does.
///
/// A job that `is_stopped` at the limit of its own level leaves the others' way there, and ends no guarantee of
/// that level or a higher one. One that nothing stops ends all of them when it exceeds that limit, which is as much as
/// the tests count.
pub fn bounds(task: &Task, is_stopped: bool) -> impl Iterator<Item = (Level, Service)> + use<> {
    let task = *task;
    (0..)
        .map(Level)
        .take(LEVELS_MAX)
        .take_while(move |level| !is_stopped || *level < task.criticality)
        .map(move |level| (level, task.enforced_wcet(level)))
}

/// Whether a job that was incomplete at its `deadline` had been guaranteed that. `exceeded`: since when a job had
/// exceeded its bound for the level of this one; `used_up`: when this one had used up its own level's limit, after
/// which nothing is guaranteed to it.
#[must_use]
pub fn covers(deadline: Instant, exceeded: Option<Instant>, used_up: Option<Instant>) -> bool {
    exceeded.is_none_or(|at| at >= deadline) && used_up.is_none_or(|at| at > deadline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Wcet;
    use crate::time::Duration;

    #[test]
    fn who_is_stopped_ends_the_guarantee_of_lower_levels_only() {
        let [low, high] = [2, 5].map(Service::from_nanos);
        let period = Duration::from_nanos(10);
        let wcet = Wcet::new(&[low, high]).unwrap();
        let task = Task::new(Level(1), period, period, wcet).unwrap();
        let stopped: [_; 2] = core::array::from_fn(|index| bounds(&task, true).nth(index));
        assert_eq!(stopped, [Some((Level(0), low)), None]);
        assert_eq!(bounds(&task, false).count(), LEVELS_MAX);
        assert!(bounds(&task, false).skip(1).all(|(_, bound)| bound == high));
    }

    #[test]
    fn what_happens_at_the_deadline_is_too_late_to_excuse_but_for_the_jobs_own_limit() {
        let at = |nanos| Some(Instant::from_nanos(nanos));
        let deadline = Instant::from_nanos(10);
        assert!(covers(deadline, None, None));
        assert!(covers(deadline, at(10), None));
        assert!(!covers(deadline, at(9), None));
        assert!(covers(deadline, None, at(11)));
        // It has executed all that was ever guaranteed to it, and is incomplete: it wants more.
        assert!(!covers(deadline, None, at(10)));
    }
}
