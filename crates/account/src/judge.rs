//! The judge of one CPU: takes the notes of its threads one after the other.

mod jobs;

use super::busy::BusyLog;
use super::exceeded::ExceededLog;
use super::guarantee::{BlockedBy, Guarantees, beyond};
use super::interval::Parts;
use super::job::TaskRecord;
use super::layers::{Layer, Layers};
use super::note::{Cut, Interval, Note, Thread, Waited};
use super::occupancy::{LATE_WAKE_NANOS, Occupancy, SWITCH_NANOS_MAX, Unexplained};
use super::outcome::Look;
use super::presence::Presences;
use super::ran::Ran;
use super::reaction::{Duty, Reactions};
use super::stolen::{StolenInterval, StolenLog, Thief};
use super::told::{Answer, Told};
use super::used_up::UsedUp;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::model::Task;
use vestal_core::{Duration, Instant};
use vestal_trace::{Record, What};

/// By which rules a run is judged.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// What a job may exceed a limit by.
    pub tolerance_nanos: u64,
    /// Whether anything is guaranteed at all.
    pub guarantee: bool,
    /// Whether a job that used up the limit of its own level makes way for all others.
    pub stops_at_own_limit: bool,
    /// Whether the hypervisor, if there is one, says what it takes.
    pub steal_reported: bool,
    /// Whether the manager notes down the jobs that never begin; else they follow from the tasks' periods.
    pub managed: bool,
    /// Whether its CPU has a frame table in common with others: then a [`FrameJudge`](crate::FrameJudge) of all of them says
    /// what is to be said of missed deadlines.
    pub common: bool,
    /// How late a thread has to get a free CPU for that to be the machine's doing.
    pub late_wake_nanos: u64,
}

impl Default for Rules {
    /// Nothing is guaranteed.
    fn default() -> Self {
        Self {
            tolerance_nanos: 0,
            guarantee: false,
            stops_at_own_limit: false,
            steal_reported: false,
            managed: false,
            common: false,
            late_wake_nanos: LATE_WAKE_NANOS,
        }
    }
}

/// What is known of a task before it runs.
#[derive(Clone, Copy, Debug)]
pub struct TaskFacts {
    /// The task, with the bounds that its guarantee speaks of.
    pub model: Task,
    /// Its first release, in nanoseconds after the epoch.
    pub offset_nanos: u64,
}

/// How a run ended, as clock readings, and what its threads had consumed by the last of them.
#[derive(Clone, Copy, Debug)]
pub struct Closing {
    /// When it was stopped.
    pub stopped: u64,
    /// When it was to end.
    pub end: u64,
    /// When this was read, after the end.
    pub at: u64,
    /// What all threads had consumed, in nanoseconds.
    pub consumed: u64,
}

/// What came of a run on one CPU.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Per task.
    pub tasks: Vec<TaskRecord>,
    /// What others took.
    pub stolen: StolenLog,
    /// What the run's own threads took for their duties.
    pub reactions: Reactions,
    /// When the CPU had jobs.
    pub busy: BusyLog,
    /// By how much budgets that outlive jobs were exceeded.
    pub exceeded: ExceededLog,
    /// How many notes found no room.
    pub lost: u64,
}

/// What is known of one task by now.
#[derive(Clone, Debug)]
struct TaskState {
    facts: TaskFacts,
    /// A job of it has begun and has its priority.
    has_priority: bool,
    blocked_by: BlockedBy,
    /// The last look at a late job of it, with the deadline of that job.
    look: Option<(u64, Look)>,
    /// What the scheduler says of limits.
    used_up: UsedUp,
    /// The job whose body does not return, and what it had executed at the end.
    stays: Option<(u64, u64)>,
    /// The number of the next job of which nothing was noted.
    next: u64,
    record: TaskRecord,
}

/// What is known of one thread by now.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadState {
    /// What nobody had explained when it got the CPU.
    unexplained: Option<Unexplained>,
    /// The clock when it got the CPU; none once it has noted the end of an interval.
    got: Option<u64>,
    /// What it slept by itself after that and before its interval began, in nanoseconds.
    slept: u64,
    /// The clock when its last interval ended, if it had one.
    closed: Option<u64>,
    /// Its CPU clock, as it noted it last.
    cpu: u64,
}

/// Judges what happened on one CPU.
#[derive(Clone, Debug)]
pub struct Judge {
    rules: Rules,
    epoch: Option<u64>,
    tasks: Vec<TaskState>,
    threads: Vec<ThreadState>,
    occupancy: Occupancy,
    guarantees: Guarantees,
    /// Where levels A and B of MC² are kept apart, in place of the levels of these.
    layers: Option<Layers>,
    stolen: StolenLog,
    reactions: Reactions,
    exceeded: ExceededLog,
    lost: u64,
    /// The clock when it was found last that notes had been lost.
    lost_until: u64,
    records: Vec<Record>,
    /// For the judge of all CPUs, if there is one.
    told: Vec<Told>,
    /// The clock when the last body began: on a CPU of a frame table none begins before the one before it has ended.
    body_since: u64,
    /// Whose body it is, until it has ended.
    body: Option<Thread>,
    /// If there is one: when its threads had the CPU.
    presences: Presences,
}

impl Judge {
    /// Of a run with these tasks, of which nothing was noted yet.
    pub fn new(tasks: impl IntoIterator<Item = TaskFacts>, rules: Rules) -> Self {
        let tasks: Vec<TaskState> = tasks.into_iter().map(TaskState::new).collect();
        Self {
            rules,
            epoch: None,
            threads: vec![ThreadState::default(); Thread::count(tasks.len())],
            tasks,
            occupancy: Occupancy::new(rules.late_wake_nanos),
            guarantees: Guarantees::default(),
            layers: None,
            stolen: StolenLog::default(),
            reactions: Reactions::default(),
            exceeded: ExceededLog::default(),
            lost: 0,
            lost_until: 0,
            records: Vec::new(),
            told: Vec::new(),
            body_since: 0,
            body: None,
            presences: Presences::default(),
        }
    }

    /// The same of tasks of levels A and B of MC², in their order: budgets that outlive jobs, and slots, keep them apart.
    #[must_use]
    pub fn in_layers(mut self, each: impl IntoIterator<Item = Layer>) -> Self {
        self.layers = Some(Layers::new(each));
        self
    }

    /// Takes the next note. O(1), but for a used-up limit, where it is O(log n) in the number of those that are
    /// remembered, and for a missed deadline or an exceeded budget, where it is O(n log n) in the number of stolen intervals that are.
    pub fn take(&mut self, note: Note) {
        match note {
            Note::Run { epoch } => self.epoch = Some(epoch),
            Note::Begin {
                thread,
                wanted,
                now,
                burned,
            } => {
                let unexplained = self.occupancy.begin(wanted, now, burned);
                if let Some(state) = self.threads.get_mut(thread.index()) {
                    state.unexplained = unexplained;
                    state.got = Some(now);
                }
            }
            Note::Opened {
                thread,
                since,
                now,
                began,
                waited,
                alone,
            } => self.open(thread, since, (now, began), waited, alone),
            Note::Idle => self.occupancy.occupy(),
            Note::Interval(interval) => self.close(&interval),
            Note::Leaves { now } => self.occupancy.end(now),
            Note::Jump {
                from,
                to,
                charged,
                counted,
            } => self.jump(from, to, charged, counted),
            Note::Resumed {
                looked,
                now,
                waited,
            } => {
                if let Some(away) = self.occupancy.resume(looked, now) {
                    // It waited for those threads, too.
                    let waited = waited.saturating_sub(away.from.saturating_sub(looked));
                    self.note_unexplained(away, waited);
                }
            }
            Note::Away { since, now, waited } => self.away(since, now, waited),
            Note::LetGo { now, late } => self.stole_until(now, late, Thief::Unknown),
            Note::Exceeded(exceeded) => self.exceeded.take(exceeded, &self.stolen, self.lost_until),
            // Those are in a log of their own.
            Note::Frame(_) => {}
            Note::Task(task, what) => self.take_of_task(task, what),
        }
    }

    /// So many notes were lost before the next one that is taken, and not before the last one: that was found
    /// when the clock said `now`.
    pub fn lose(&mut self, count: u64, now: u64) {
        if count > 0 {
            self.lost += count;
            self.lost_until = now;
        }
    }

    /// The records about what was found since the last call.
    pub fn take_records(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    /// What is to be judged together with other CPUs, since the last call.
    pub(super) fn take_told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    /// When it was found last that notes had been lost, in nanoseconds after the epoch; 0: none were.
    pub(super) fn lost_until(&self) -> u64 {
        self.after_epoch(self.lost_until)
    }

    /// What was stolen by threads until now, in nanoseconds.
    pub fn stolen_by_threads(&self) -> u64 {
        self.stolen.stolen_by(Thief::Thread)
    }

    /// All notes were taken: judges the jobs of which there is none because they never began, or because their
    /// bodies do not return, and those that were released behind these.
    pub fn close_run(&mut self, closing: Closing) {
        let Some(epoch) = self.epoch.filter(|_| !self.rules.managed) else {
            return;
        };
        let stopped = closing.stopped.min(closing.end);
        for task in 0..self.tasks.len() {
            let Some(state) = self.tasks.get(task) else {
                continue;
            };
            let (facts, stays) = (state.facts, state.stays);
            let first = epoch.saturating_add(facts.offset_nanos);
            let period = facts.model.period.as_nanos().max(1);
            let mut sequence = state.next;
            loop {
                let release = first.saturating_add(period.saturating_mul(sequence));
                if release >= stopped {
                    break;
                }
                let executed = stays.filter(|&(job, _)| job == sequence);
                let cut = Cut {
                    sequence,
                    release,
                    executed: executed.map_or(0, |(_, executed)| executed),
                    stopped: closing.stopped,
                    at: closing.at,
                    consumed: Some(closing.consumed),
                    dropped: false,
                };
                self.cut(task, &cut);
                sequence += 1;
            }
        }
    }

    /// What came of it all in a run that was stopped at `stopped`.
    pub fn into_account(mut self, stopped: u64) -> Account {
        self.exceeded.settle(&self.stolen, self.lost_until);
        let tasks = self.tasks.into_iter().map(|task| task.record);
        Account {
            tasks: tasks.collect(),
            stolen: self.stolen,
            reactions: self.reactions,
            busy: self.guarantees.into_busy_periods(stopped),
            exceeded: self.exceeded,
            lost: self.lost,
        }
    }
}

/// Who had the CPU.
impl Judge {
    fn open(
        &mut self,
        thread: Thread,
        since: Option<u64>,
        (now, began): (u64, u64),
        waited: Waited,
        alone: bool,
    ) {
        // The interval seems to begin later than `now`, or than others of the run left the CPU since, by what was taken
        // from it, less what the thread had executed before: some microseconds, for which a system call would be too much.
        let lost = if alone {
            // Others that came between the clock reading and the note had the CPU until they noted that they left it.
            let from = now.max(self.occupancy.ended());
            Unexplained::of_at_least(SWITCH_NANOS_MAX, from, began)
        } else {
            self.occupancy.resume(now, began)
        };
        // What it waited until `now` may be in what the kernel counted.
        let before = now.saturating_sub(since.unwrap_or(now));
        let sleeps = waited.times > self.wakes_up(thread, since);
        let waited = waited.nanos;
        let of_gap = waited.saturating_sub(before);
        self.miss(thread, (now, began), lost, (of_gap, sleeps));
        let state = self.threads.get_mut(thread.index());
        if let Some(unexplained) = state.and_then(|state| state.unexplained.take()) {
            self.note_unexplained(unexplained, waited);
        }
    }

    /// How often a thread that was wanted `since` an instant has got the CPU for that. Where its last interval ended just before, or
    /// where that is not known, it may not have lost the CPU at all: then what the kernel counts may be a sleep.
    fn wakes_up(&self, thread: Thread, since: Option<u64>) -> u64 {
        let state = self.threads.get(thread.index());
        let closed = state.and_then(|state| state.closed);
        let slept = closed
            .zip(since)
            .is_some_and(|(closed, since)| since.saturating_sub(closed) >= SWITCH_NANOS_MAX);
        u64::from(slept)
    }

    /// A thread got the CPU at `now`, and its interval began later, of which no thread of the run explains `lost`. The kernel says that it
    /// was ready and others had the CPU for `waited` nanoseconds of that: for the rest it slept, which is the run's own, if it lost the CPU
    /// at all; else no thread of this system had it.
    fn miss(
        &mut self,
        thread: Thread,
        (now, began): (u64, u64),
        lost: Option<Unexplained>,
        (waited, sleeps): (u64, bool),
    ) {
        let gap = began.saturating_sub(now);
        let slept = gap.saturating_sub(waited);
        if let Some(lost) = lost {
            // Others of the run were there before that.
            let by_own = gap.saturating_sub(lost.nanos());
            let taken = waited.saturating_sub(by_own).min(lost.nanos());
            if taken >= SWITCH_NANOS_MAX {
                self.stole_until(lost.to, taken, Thief::Thread);
            }
            let by_nobody = slept.min(lost.nanos().saturating_sub(taken));
            if !sleeps && by_nobody >= SWITCH_NANOS_MAX {
                let to = lost.to.saturating_sub(taken);
                self.stole_until(to, by_nobody, self.nobody());
            }
        }
        if let Some(state) = self.threads.get_mut(thread.index())
            && sleeps
            && slept >= SWITCH_NANOS_MAX
        {
            state.slept = slept;
        }
    }

    fn close(&mut self, interval: &Interval) {
        let &Interval {
            thread,
            began,
            now,
            duty,
            cpu: (before, after),
            ..
        } = interval;
        let wall = now.saturating_sub(began);
        let executed = after.saturating_sub(before);
        let (mut slept, mut got) = (0, began);
        if let Some(state) = self.threads.get_mut(thread.index()) {
            state.cpu = after;
            state.closed = Some(now);
            slept = std::mem::take(&mut state.slept);
            got = state.got.take().unwrap_or(began).min(began);
        }
        self.tell_ran(began, now, executed);
        let missing = wall.saturating_sub(executed);
        let counted = interval.counted.filter(|_| missing >= SWITCH_NANOS_MAX);
        let parts = counted.map(|counted| Parts::of(wall, executed, counted, interval.alone));
        let ours = parts.map_or(wall, |parts| parts.ours).saturating_add(slept);
        let since = began.saturating_sub(slept);
        self.reactions.note(duty, (since, now), ours);
        if let Some(parts) = parts {
            self.take_parts(interval, &parts);
        }
        if self.rules.common {
            self.presences.record(thread, (got, now));
        }
        if interval.waits {
            self.occupancy.end(now);
        } else if duty == Duty::JobStart {
            self.body_since = now;
            self.body = Some(thread);
        }
    }

    /// What others than the thread had of an interval.
    fn take_parts(&mut self, interval: &Interval, parts: &Parts) {
        let &Interval { began, now, .. } = interval;
        if parts.slept() >= SWITCH_NANOS_MAX {
            // It slept and came back unannounced: whom it took the CPU from has not looked since.
            self.occupancy.occupy();
        }
        let by_others = match interval.alone || !self.rules.common {
            true => parts.by_others,
            false => self.by_others(Some(interval.thread), (began, now), parts.waited),
        };
        for (nanos, thief) in [(parts.by_nobody, self.nobody()), (by_others, Thief::Thread)] {
            if nanos >= SWITCH_NANOS_MAX {
                self.stole_until(now, nanos, thief);
            }
        }
    }

    /// A body had no CPU for so long until `now`. Where threads of the run have noted something since, only CPUs of a frame table
    /// can tell what of that these had.
    fn away(&mut self, since: Option<u64>, now: u64, waited: u64) {
        let taken = match since {
            None => waited,
            Some(_) if !self.rules.common => 0,
            Some(since) => self.by_others(None, (since, now), waited),
        };
        if taken >= SWITCH_NANOS_MAX || since.is_none() {
            self.stole_until(now, taken, Thief::Thread);
        }
    }

    /// What others than threads of the run had of the time for which one was ready and had no CPU, beyond what is known to be
    /// stolen: a thread that got the CPU late meanwhile has noted the same theft.
    fn by_others(&self, thread: Option<Thread>, window: (u64, u64), waited: u64) -> u64 {
        let known = self.stolen.within(window.0, window.1).nanos;
        // Who has not left yet, or whose body goes on, may have had it since.
        let own = thread.map(Thread::index);
        let threads = self.threads.iter().enumerate();
        let others = threads.filter(|&(index, _)| Some(index) != own);
        let present = others.filter_map(|(_, state)| state.got);
        let body = self
            .body
            .filter(|_| thread.is_some() && self.body != thread);
        let present = present.chain(body.map(|_| self.body_since));
        let by_others = self.presences.by_others(thread, window, (waited, present));
        by_others.saturating_sub(known)
    }

    /// Who had the CPU where no thread of this system had it.
    const fn nobody(&self) -> Thief {
        match self.rules.steal_reported {
            true => Thief::Hypervisor,
            false => Thief::Unknown,
        }
    }

    /// Tells all CPUs for how long a thread executed: there is one on each.
    fn tell_ran(&mut self, began: u64, now: u64, nanos: u64) {
        if self.rules.common {
            let [began, end] = [began, now].map(|at| self.after_epoch(at));
            self.told.push(Told::Ran(Ran { began, end, nanos }));
        }
    }

    fn jump(&mut self, from: u64, to: u64, charged: u64, counted: Option<Waited>) {
        let away = to.saturating_sub(from).saturating_sub(charged);
        let waited = counted.map_or(0, |counted| counted.nanos);
        let switched = counted.is_none_or(|counted| counted.times > 0);
        let thief = if charged >= away {
            Thief::Unknown
        } else {
            Thief::of(away, waited, switched, self.rules.steal_reported)
        };
        self.stole(StolenInterval {
            from,
            to,
            charged,
            thief,
        });
    }

    /// No thread of the run had the CPU in `unexplained`, at the end of which a thread had been ready for `waited` nanoseconds.
    fn note_unexplained(&mut self, unexplained: Unexplained, waited: u64) {
        // Of a CPU on which no thread ran nothing tells whether a hypervisor had it.
        let reported = self.rules.steal_reported;
        self.stole(StolenInterval {
            from: unexplained.from,
            to: unexplained.to,
            charged: unexplained.charged_max(),
            thief: Thief::of(unexplained.nanos(), waited, true, reported),
        });
    }

    /// So much of the time until `now` was stolen; when in it is not known.
    fn stole_until(&mut self, now: u64, nanos: u64, thief: Thief) {
        self.stole(StolenInterval {
            from: now.saturating_sub(nanos),
            to: now,
            charged: 0,
            thief,
        });
    }

    fn stole(&mut self, interval: StolenInterval) {
        self.stolen.record(interval);
        if self.rules.common {
            self.told.push(Told::Stolen(StolenInterval {
                from: self.after_epoch(interval.from),
                to: self.after_epoch(interval.to),
                ..interval
            }));
        }
        let length = Duration::from_nanos(interval.to.saturating_sub(interval.from));
        self.record(interval.to, What::Gap { cpu: CPU, length });
    }

    /// A record of what happened at this clock reading.
    fn record(&mut self, at: u64, what: What) {
        let at = self.instant(at);
        self.records.push(Record { at, what });
    }

    fn instant(&self, nanos: u64) -> Instant {
        Instant::from_nanos(self.after_epoch(nanos))
    }

    fn after_epoch(&self, nanos: u64) -> u64 {
        nanos.saturating_sub(self.epoch.unwrap_or(0))
    }
}

impl TaskState {
    fn new(facts: TaskFacts) -> Self {
        Self {
            facts,
            has_priority: false,
            blocked_by: BlockedBy::default(),
            look: None,
            used_up: UsedUp::default(),
            stays: None,
            next: 0,
            record: TaskRecord::default(),
        }
    }

    /// Since when a job is beyond its own limit that has executed so much by `now`, if it is.
    fn beyond_own(&self, executed: u64, tolerance: u64, now: u64) -> Option<u64> {
        beyond(self.facts.model.own_wcet(), executed, tolerance, now)
    }
}

#[cfg(test)]
mod tests;
