//! What the timers of the paper's managers stand for, and those that run from the beginning of a run to its end.

use super::Paper;
use crate::sys::Tid;
use crate::sys::timer::SignalTimer;
use crate::task::Tasks;
use std::io;
use vestal_core::{Level, TaskConfiguration};

/// What a timer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A job is released, and with it its first slice.
    Release,
    /// Another slice begins.
    Slice,
    /// A budget may be used up.
    Budget,
    /// A job has no slack left, if it is incomplete, or comes to its deadline.
    Instant,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Release, Self::Slice, Self::Budget, Self::Instant];
}

/// The kind of a timer, and the index of its task: what its signal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) kind: Kind,
    pub(super) index: usize,
}

const INDEX_BITS: u32 = 16;

impl Tag {
    pub(super) const fn new(kind: Kind, index: usize) -> Self {
        Self { kind, index }
    }

    /// As one word. No run has 2^16 tasks.
    pub(super) const fn word(self) -> usize {
        ((self.kind as usize) << INDEX_BITS) | self.index
    }

    pub(super) fn of_word(word: usize) -> Option<Self> {
        let kind = Kind::ALL.get(word >> INDEX_BITS)?;
        let index = word & ((1 << INDEX_BITS) - 1);
        Some(Self::new(*kind, index))
    }
}

/// The periodic timers of all tasks.
pub(super) struct Periodic {
    /// They signal the manager as long as they live.
    _timers: Vec<SignalTimer>,
}

impl Periodic {
    /// In a run that begins at `epoch`.
    pub(super) fn start(tasks: &Tasks, epoch: u64, paper: Paper, manager: Tid) -> io::Result<Self> {
        let of_tasks = tasks.iter().enumerate();
        let timers = of_tasks.flat_map(|(index, task)| {
            let rows = rows(tasks, &task.configuration, paper).into_iter();
            rows.map(move |(kind, after)| (task, Tag::new(kind, index), after))
        });
        let timers = timers.map(|(task, tag, after)| {
            let timer = SignalTimer::wall_tagged(manager, tag.word())?;
            let first = epoch
                .saturating_add(task.release_of(0))
                .saturating_add(after);
            timer.set_periodic(first, task.period_nanos());
            Ok(timer)
        });
        let _timers = timers.collect::<io::Result<_>>()?;
        Ok(Self { _timers })
    }
}

/// The periodic timers of one task, and how long after a release each fires.
fn rows(tasks: &Tasks, task: &TaskConfiguration, paper: Paper) -> Vec<(Kind, u64)> {
    match paper {
        Paper::Jobs => vec![(Kind::Release, 0)],
        Paper::Slices => slices(task).collect(),
        Paper::Instants => instants(tasks, task)
            .map(|after| (Kind::Instant, after))
            .collect(),
    }
}

/// One for each slice of a period, so that none drifts where a period is no multiple of its slices.
fn slices(task: &TaskConfiguration) -> impl Iterator<Item = (Kind, u64)> + use<> {
    let (period, count) = (task.task.period.as_nanos(), task.slices.get());
    (0..count).map(move |slice| {
        let kind = if slice == 0 {
            Kind::Release
        } else {
            Kind::Slice
        };
        let begins = u128::from(period) * u128::from(slice);
        let begins = u64::try_from(begins.div_ceil(u128::from(count))).unwrap_or(period);
        (kind, begins)
    })
}

/// One for the zero-slack instant and one for the deadline. There is no zero-slack timer for tasks that no other
/// is less critical than, and no deadline timer for tasks that no other is more critical than (section 5.4, on the
/// two tasks of table I).
fn instants(tasks: &Tasks, task: &TaskConfiguration) -> impl Iterator<Item = u64> + use<> {
    let model = &task.task;
    let levels = tasks
        .iter()
        .map(|other| other.configuration.task.criticality);
    let (least, most): (Level, Level) = levels.fold(
        (model.criticality, model.criticality),
        |(least, most), level| (least.min(level), most.max(level)),
    );
    let zero_slack = task.zero_slack.filter(|_| model.criticality > least);
    let deadline = (model.criticality < most).then_some(model.deadline);
    zero_slack
        .into_iter()
        .chain(deadline)
        .map(|after| after.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TaskShared;
    use vestal_core::{Duration, Service, SliceCount, Task, Wcet};

    fn task(level: u8) -> TaskShared {
        let wcet = vec![Service::from_nanos(10); usize::from(level) + 1];
        let (deadline, period) = (Duration::from_nanos(80), Duration::from_nanos(100));
        let wcet = Wcet::new(&wcet).unwrap();
        let model = Task::new(Level(level), period, deadline, wcet).unwrap();
        let configuration = TaskConfiguration {
            zero_slack: Some(Duration::from_nanos(30)),
            slices: SliceCount::new(3, &model).unwrap(),
            ..TaskConfiguration::new(model, 1)
        };
        let limit = crate::words::Allowance::UpTo(10);
        TaskShared::new(level.to_string(), configuration, 0, 2, limit)
    }

    #[test]
    fn a_tag_is_what_its_word_says() {
        for kind in Kind::ALL {
            for index in [0, 1, 65_535] {
                let tag = Tag::new(kind, index);
                assert_eq!(Tag::of_word(tag.word()), Some(tag));
            }
        }
        assert_eq!(Tag::of_word(4 << INDEX_BITS), None);
    }

    #[test]
    fn the_least_critical_have_no_zero_slack_timer_and_the_most_critical_no_deadline_timer() {
        let tasks = Tasks::new(vec![task(0), task(1), task(2)]);
        let after = |paper| {
            let rows = |task: &TaskShared| rows(&tasks, &task.configuration, paper);
            tasks.iter().map(rows).collect::<Vec<_>>()
        };
        let instant = |after| (Kind::Instant, after);
        assert_eq!(
            after(Paper::Instants),
            [
                vec![instant(80)],
                vec![instant(30), instant(80)],
                vec![instant(30)]
            ]
        );
        assert_eq!(after(Paper::Jobs)[1], [(Kind::Release, 0)]);
        // Rounded up: a slice does not begin before its time.
        assert_eq!(
            after(Paper::Slices)[1],
            [(Kind::Release, 0), (Kind::Slice, 34), (Kind::Slice, 67)]
        );
    }
}
