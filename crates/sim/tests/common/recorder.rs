//! A run of the engine, written down as the reference writes its own.

use super::system::{backlog_of, configuration, tasks_of, workload_of};
use crate::reference::{Lists, Reason, Schedule, System};
use vestal_core::{
    DeadlineQueues, DropReason, Duration, Instant, JobId, Level, Task, TaskConfiguration,
    TaskOrder, Uniprocessor,
};
use vestal_sim::{JobState, Observer, Segment, Setting, simulate};

/// Writes a run down tick by tick.
pub(crate) struct Recorder {
    pub(crate) schedule: Schedule,
    mode: u8,
    since: usize,
}

impl Recorder {
    pub(crate) fn new(end: u64) -> Self {
        let ticks = end as usize;
        Self {
            schedule: Schedule {
                ran: vec![None; ticks],
                modes: vec![0; ticks],
                completed: Vec::new(),
                dropped: Vec::new(),
                rises: 0,
                beyond_pattern: 0,
            },
            mode: 0,
            since: 0,
        }
    }

    fn fill_mode_until(&mut self, at: usize) {
        self.schedule.modes[self.since..at].fill(self.mode);
        self.since = at;
    }
}

fn position(job: &JobState) -> (usize, usize) {
    (job.id.task.index(), job.id.sequence as usize)
}

impl Observer for Recorder {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let ticks = segment.start.as_nanos() as usize..segment.end.as_nanos() as usize;
        self.schedule.ran[ticks].fill(Some(position(job)));
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        let (task, number) = position(job);
        self.schedule.completed.push((at.as_nanos(), task, number));
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        let (task, number) = position(job);
        let why = match why {
            DropReason::Mode => Reason::Mode,
            DropReason::Exhausted => Reason::Exhausted,
            DropReason::Superseded => Reason::Superseded,
            DropReason::Deadline => Reason::Deadline,
            DropReason::BacklogFull => Reason::BacklogFull,
        };
        self.schedule
            .dropped
            .push((at.as_nanos(), task, number, why));
    }
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, _: Option<JobId>) {
        assert_eq!(from.0, self.mode);
        self.schedule.rises += usize::from(to > from);
        self.fill_mode_until(at.as_nanos() as usize);
        self.mode = to.0;
    }
    fn finished(&mut self, end: Instant) {
        self.fill_mode_until(end.as_nanos() as usize);
        self.schedule.dropped.sort_unstable();
    }
}

/// Runs the system under the engine with another observer.
pub(crate) fn run_engine<O: Observer>(system: &System, other: &mut O) -> Schedule {
    let configured = tasks_of(system);
    let tasks: Vec<Task> = configured.iter().map(|entry| entry.task).collect();
    let mut engine = engine_of(system, &configured);
    let (releases, demand) = workload_of(system);
    let mut observers = (Recorder::new(system.end), other);
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end: Instant::from_nanos(system.end),
        backlog: backlog_of(system),
    };
    simulate(&mut engine, &setting, &releases, &demand, &mut observers).unwrap();
    assert!(engine.check_invariants());
    observers.0.schedule.beyond_pattern = engine.jobs_beyond_pattern();
    observers.0.schedule
}

pub(crate) fn engine_of(system: &System, configured: &[TaskConfiguration]) -> Uniprocessor {
    let due = system.tasks.iter();
    let due: Vec<Duration> = due
        .map(|entry| Duration::from_nanos(entry.virtual_deadline))
        .collect();
    let lists = system.tasks.iter().map(|entry| (&entry.list).into());
    let lists = lists.collect();
    let order = if system.lists == Lists::Reused {
        TaskOrder::ReusedLists { lists }
    } else if system.lists == Lists::Recomputed {
        TaskOrder::RecomputedLists { lists }
    } else if system.by_deadline {
        TaskOrder::EarliestDeadline {
            virtual_deadlines: due.into(),
            queues: DeadlineQueues::One,
        }
    } else {
        TaskOrder::FixedPriority
    };
    Uniprocessor::with_order(&configuration(system, configured), &order).unwrap()
}
