//! What a live view knows of a run: the records that came, summed up. No terminal, no clock.

use super::lane::Lane;
use std::collections::VecDeque;
use vestal_core::{CpuId, Event, Fact, Instant, JobId, Level, Permit, StopReason, TaskId};
use vestal_trace::{Record, What};

/// Jobs of one task whose release is remembered, and whose drop is not counted twice.
const JOBS_REMEMBERED: usize = 32;
/// Mode changes that are remembered: more than a band of any width shows.
pub(super) const MODES_REMEMBERED: usize = 4096;
/// The window of the recent CPU load.
const RECENT_NANOS: u64 = 1_000_000_000;

/// What is known of a task before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskSetting {
    pub(crate) name: String,
    pub(crate) level: Level,
    /// The place of its domain in [`Setting::lanes`].
    pub(crate) lane: usize,
    pub(crate) deadline_ns: u64,
    /// What a job may execute in each mode; `None`: without limit.
    pub(crate) limits_ns: Vec<Option<u64>>,
}

/// What is known of a run before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    /// What runs: file, policy, dispatch.
    pub(crate) title: String,
    /// The names of the levels, lowest first.
    pub(crate) levels: Vec<String>,
    pub(crate) duration_ns: u64,
    /// The domains, in the order of their numbers, with what they are called and how many CPUs each has.
    pub(crate) lanes: Vec<(String, u64)>,
    pub(crate) tasks: Vec<TaskSetting>,
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It waits for its next release.
    #[default]
    Waiting,
    /// A job of it waits for the CPU.
    Ready,
    /// A job of it has this CPU.
    Running(CpuId),
    /// Its job lost its priority, or the mode does not admit it.
    Dropped,
}

/// What became of a task's jobs so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskState {
    pub(crate) activity: Activity,
    /// What its current job, or else its last one, has executed.
    pub(crate) executed_ns: u64,
    pub(crate) released: u64,
    pub(crate) completed: u64,
    pub(crate) missed: u64,
    pub(crate) missed_guaranteed: u64,
    pub(crate) dropped: u64,
    pub(crate) overruns: u64,
    pub(crate) last_response_ns: Option<u64>,
    pub(crate) max_response_ns: Option<u64>,
    current: Option<u64>,
    newest: Option<u64>,
    /// The jobs that are not over, with their releases.
    releases: VecDeque<(u64, Instant)>,
    lost_jobs: VecDeque<u64>,
}

impl TaskState {
    fn turn_to(&mut self, sequence: u64) {
        if self.current != Some(sequence) {
            self.current = Some(sequence);
            self.executed_ns = 0;
        }
    }

    fn pending(&self) -> bool {
        matches!(self.activity, Activity::Ready | Activity::Running(_))
    }

    fn dropped(&mut self, sequence: u64) {
        if self.lost_jobs.contains(&sequence) {
            return;
        }
        remember(&mut self.lost_jobs, sequence, JOBS_REMEMBERED);
        self.dropped += 1;
        self.releases.retain(|(released, _)| *released != sequence);
        // Another job of it may be under way.
        if self.releases.is_empty() || self.current == Some(sequence) {
            self.activity = Activity::Dropped;
        }
    }
}

pub(super) fn remember<T>(queue: &mut VecDeque<T>, value: T, most: usize) {
    while queue.len() >= most {
        queue.pop_front();
    }
    queue.push_back(value);
}

/// The run so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) setting: Setting,
    pub(crate) tasks: Vec<TaskState>,
    /// A domain each.
    pub(crate) lanes: Vec<Lane>,
    /// Which of them has the word.
    present: usize,
    /// The instant of the latest record.
    pub(crate) now: Instant,
    busy_ns: u64,
    pub(crate) gaps: u64,
    pub(crate) longest_gap_ns: u64,
    pub(crate) lost: u64,
}

impl Model {
    pub(crate) fn new(setting: Setting) -> Self {
        Self {
            tasks: setting.tasks.iter().map(|_| TaskState::default()).collect(),
            lanes: vec![Lane::default(); setting.lanes.len()],
            setting,
            ..Self::default()
        }
    }

    /// Takes what happened. Records may be a little out of order, as those of several threads are.
    pub(crate) fn take(&mut self, records: &[Record]) {
        for record in records {
            self.pass(record.at);
            self.take_one(record);
        }
    }

    /// Time passes, whether something happens or not.
    pub(crate) fn pass(&mut self, now: Instant) {
        if now <= self.now {
            return;
        }
        let span = now.saturating_since(self.now).as_nanos();
        self.now = now;
        for (_, job) in self.lanes.iter().flat_map(Lane::running) {
            self.busy_ns = self.busy_ns.saturating_add(span);
            if let Some(task) = self.tasks.get_mut(job.task.index()) {
                task.executed_ns = task.executed_ns.saturating_add(span);
            }
        }
    }

    /// How many CPUs the run has.
    pub(crate) fn cpus(&self) -> u64 {
        self.setting.lanes.iter().map(|(_, cpus)| cpus).sum()
    }

    /// How long the CPUs executed jobs, all together.
    pub(crate) const fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    /// Whether a domain does not say which CPU jobs of a task have.
    pub(crate) fn has_several_cpus(&self, task: &TaskSetting) -> bool {
        let lane = self.setting.lanes.get(task.lane);
        lane.is_some_and(|(_, cpus)| *cpus > 1)
    }

    /// The domain that a task belongs to.
    pub(crate) fn lane_of(&self, task: &TaskSetting) -> Option<&Lane> {
        self.lanes.get(task.lane)
    }

    /// The domain that has the word.
    fn lane(&mut self) -> Option<&mut Lane> {
        self.lanes.get_mut(self.present)
    }

    fn task(&mut self, job: JobId) -> Option<&mut TaskState> {
        self.tasks.get_mut(job.task.index())
    }

    fn take_one(&mut self, record: &Record) {
        match record.what {
            What::Fact(fact) | What::Observed(fact) => self.take_fact(record.at, fact),
            What::Notice(event) => self.take_notice(record.at, event),
            What::Dropped { job, .. } => {
                if let Some(task) = self.task(job) {
                    task.dropped(job.sequence);
                }
            }
            What::Miss {
                job, guaranteed, ..
            } => {
                if let Some(task) = self.task(job) {
                    task.missed += 1;
                    task.missed_guaranteed += u64::from(guaranteed);
                }
            }
            What::Gap { length, .. } => {
                self.gaps += 1;
                self.longest_gap_ns = self.longest_gap_ns.max(length.as_nanos());
            }
            What::Lost { count } => self.lost = self.lost.saturating_add(count),
            What::Permit { task, permit } => self.hold_back(task, permit),
            What::Domain { domain } => self.present = domain.index(),
            What::Refused(_)
            | What::Decided { .. }
            | What::DecisionRefused { .. }
            | What::Slot { .. }
            | What::Sequence { .. }
            | What::Queued { .. }
            | What::Wake(_)
            | What::Overhead { .. }
            | What::Budget { .. }
            | What::Ghost { .. }
            | What::End { .. } => {}
        }
    }

    fn take_fact(&mut self, at: Instant, fact: Fact) {
        match fact {
            Fact::Released { job } => {
                // A native world tells its guard of the newest release before each decision.
                if let Some(task) = self.task(job)
                    && Some(job.sequence) > task.newest
                {
                    task.newest = Some(job.sequence);
                    task.released += 1;
                    remember(&mut task.releases, (job.sequence, at), JOBS_REMEMBERED);
                    if !task.pending() {
                        task.activity = Activity::Ready;
                        task.turn_to(job.sequence);
                    }
                }
            }
            Fact::Started { cpu, job } => {
                self.change(|lane| lane.begin(cpu, job));
                if let Some(task) = self.task(job) {
                    task.turn_to(job.sequence);
                    task.activity = Activity::Running(cpu);
                }
            }
            Fact::Completed { job, .. } => self.complete(at, job),
            Fact::Stopped { job, why, .. } => {
                let task = self.task(job);
                let ran = task.is_some_and(|task| matches!(task.activity, Activity::Running(_)));
                self.change(|lane| lane.leave(job));
                let ended = why == StopReason::Cancelled;
                if let Some(task) = self.task(job)
                    && task.current == Some(job.sequence)
                    && ran
                {
                    task.activity = if ended {
                        Activity::Dropped
                    } else {
                        Activity::Ready
                    };
                }
            }
            Fact::Charged { .. }
            | Fact::Idle { .. }
            | Fact::Timer
            | Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => {}
        }
    }

    fn complete(&mut self, at: Instant, job: JobId) {
        self.change(|lane| lane.leave(job));
        let Some(task) = self.task(job) else {
            return;
        };
        let known = task
            .releases
            .iter()
            .find(|(known, _)| *known == job.sequence);
        // A guard learns of what the thread has recorded already.
        let Some((_, released)) = known else {
            return;
        };
        let response = at.saturating_since(*released).as_nanos();
        task.last_response_ns = Some(response);
        task.max_response_ns = task.max_response_ns.max(Some(response));
        task.completed += 1;
        task.releases.retain(|(known, _)| *known > job.sequence);
        task.activity = if task.releases.is_empty() {
            Activity::Waiting
        } else {
            Activity::Ready
        };
    }

    /// Something changes in the domain that has the word. A job that has no CPU any more waits for it, and one that gets it
    /// goes on, as a natively dispatched one does that was preempted.
    fn change(&mut self, change: impl FnOnce(&mut Lane)) {
        let Some(lane) = self.lanes.get_mut(self.present) else {
            return;
        };
        let before: Vec<(CpuId, JobId)> = lane.running().collect();
        change(lane);
        let after: Vec<(CpuId, JobId)> = lane.running().collect();
        for (cpu, job) in before {
            if let Some(task) = self.task(job)
                && task.activity == Activity::Running(cpu)
            {
                task.activity = Activity::Ready;
            }
        }
        for (cpu, job) in after {
            if let Some(task) = self.task(job)
                && task.activity == Activity::Ready
            {
                task.activity = Activity::Running(cpu);
            }
        }
    }

    /// A natively dispatched task is suspended, or so no more.
    fn hold_back(&mut self, id: TaskId, permit: Permit) {
        let is_suspended = matches!(permit, Permit::Suspended { .. } | Permit::Below { .. });
        self.change(|lane| lane.suspend(id, is_suspended));
    }

    fn take_notice(&mut self, at: Instant, event: Event) {
        match event {
            Event::ModeChanged { to, .. } => {
                if let Some(lane) = self.lane() {
                    lane.turn_to(at, to);
                }
            }
            Event::Overrun { job, .. } => {
                if let Some(task) = self.task(job) {
                    task.overruns += 1;
                }
            }
            Event::Dropped { job, .. } => {
                if let Some(task) = self.task(job) {
                    task.dropped(job.sequence);
                }
            }
            Event::Depleted { .. }
            | Event::Postponed { .. }
            | Event::FrameOverrun { .. }
            | Event::FramesSkipped { .. }
            | Event::Late { .. } => {}
        }
    }
}

/// The share of the CPUs' time that jobs use, in thousandths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    /// In the last second.
    pub(crate) recent: u64,
    /// Since the beginning.
    pub(crate) all: u64,
    /// Instants with the busy time until then.
    marks: VecDeque<(Instant, u64)>,
}

impl Load {
    /// Takes note of how things stand.
    pub(crate) fn mark(&mut self, model: &Model) {
        let (now, busy_ns) = (model.now, model.busy_ns());
        self.marks.push_back((now, busy_ns));
        let second_ago = now.as_nanos().saturating_sub(RECENT_NANOS);
        let old =
            |mark: Option<&(Instant, u64)>| mark.is_some_and(|(at, _)| at.as_nanos() <= second_ago);
        // The first mark is the latest one that is a second old.
        while old(self.marks.get(1)) {
            self.marks.pop_front();
        }
        let (since, before) = self.marks.front().copied().unwrap_or((now, 0));
        let span = now.saturating_since(since).as_nanos();
        let cpus = model.cpus();
        self.recent = permille(busy_ns.saturating_sub(before), span.saturating_mul(cpus));
        self.all = permille(busy_ns, now.as_nanos().saturating_mul(cpus));
    }
}

fn permille(part: u64, whole: u64) -> u64 {
    let share = u128::from(part) * 1_000;
    let share = share.checked_div(u128::from(whole)).unwrap_or(0);
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "model_tests.rs"]
pub(crate) mod tests;
