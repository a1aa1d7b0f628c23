//! The judge of one CPU: takes the notes of its threads one after the other.

use super::busy::BusyLog;
use super::guarantee::{BlockedBy, Guarantees, beyond};
use super::interval::Parts;
use super::job::TaskRecord;
use super::note::{Cut, Ending, Interval, Note, Return, TaskNote, Thread, Waited};
use super::occupancy::{Occupancy, SWITCH_NANOS_MAX, Unexplained};
use super::outcome::{Look, Verdict, Window};
use super::reaction::Reactions;
use super::stolen::{StolenInterval, StolenLog, Thief};
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::guarantee::covers;
use vestal_core::model::Task;
use vestal_core::{Duration, Instant, JobId, TaskId};
use vestal_trace::{Record, What};

/// By which rules a run is judged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// What a job may exceed a limit by.
    pub(crate) tolerance_nanos: u64,
    /// Whether anything is guaranteed at all.
    pub(crate) guarantee: bool,
    /// Whether a job that used up the limit of its own level makes way for all others.
    pub(crate) stops_at_own_limit: bool,
    /// Whether the hypervisor, if there is one, says what it takes.
    pub(crate) steal_reported: bool,
    /// Whether the manager notes down the jobs that never begin; else they follow from the tasks' periods.
    pub(crate) managed: bool,
}

/// What is known of a task before it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskFacts {
    pub(crate) model: Task,
    pub(crate) offset_nanos: u64,
}

/// How a run ended, as clock readings, and what its threads had consumed by the last of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    /// When it was stopped.
    pub(crate) stopped: u64,
    /// When it was to end.
    pub(crate) end: u64,
    pub(crate) at: u64,
    pub(crate) consumed: u64,
}

/// What came of a run on one CPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    /// Per task.
    pub(crate) tasks: Vec<TaskRecord>,
    pub(crate) stolen: StolenLog,
    pub(crate) reactions: Reactions,
    pub(crate) busy: BusyLog,
    /// How many notes found no room.
    pub(crate) lost: u64,
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
    /// The last job that, as the scheduler says, used up the limit of its own level; and when, since the epoch.
    used_up: Option<(u64, u64)>,
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
    /// Its CPU clock, as it noted it last.
    cpu: u64,
}

/// Judges what happened on one CPU.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    rules: Rules,
    epoch: Option<u64>,
    tasks: Vec<TaskState>,
    threads: Vec<ThreadState>,
    occupancy: Occupancy,
    guarantees: Guarantees,
    stolen: StolenLog,
    reactions: Reactions,
    lost: u64,
    /// The clock when it was found last that notes had been lost.
    lost_until: u64,
    records: Vec<Record>,
}

impl Judge {
    /// Of a run with these tasks, of which nothing was noted yet.
    pub(crate) fn new(tasks: impl IntoIterator<Item = TaskFacts>, rules: Rules) -> Self {
        let tasks: Vec<TaskState> = tasks.into_iter().map(TaskState::new).collect();
        Self {
            rules,
            epoch: None,
            threads: vec![ThreadState::default(); Thread::OTHERS + tasks.len()],
            tasks,
            occupancy: Occupancy::default(),
            guarantees: Guarantees::default(),
            stolen: StolenLog::default(),
            reactions: Reactions::default(),
            lost: 0,
            lost_until: 0,
            records: Vec::new(),
        }
    }

    /// Takes the next note. O(1), but for a missed deadline, where it is O(n log n) in the number of stolen
    /// intervals that are remembered.
    pub(crate) fn take(&mut self, note: Note) {
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
            Note::Away { now, waited } => self.stole_until(now, waited, Thief::Thread),
            Note::Task(task, what) => self.take_of_task(task, what),
        }
    }

    /// So many notes were lost before the next one that is taken, and not before the last one: that was found
    /// when the clock said `now`.
    pub(crate) fn lose(&mut self, count: u64, now: u64) {
        if count > 0 {
            self.lost += count;
            self.lost_until = now;
        }
    }

    /// The records about what was found since the last call.
    pub(crate) fn take_records(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    /// What was stolen by threads until now, in nanoseconds.
    pub(crate) fn stolen_by_threads(&self) -> u64 {
        self.stolen.stolen_by(Thief::Thread)
    }

    /// All notes were taken: judges the jobs of which there is none because they never began, or because their
    /// bodies do not return, and those that were released behind these.
    pub(crate) fn close_run(&mut self, closing: Closing) {
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
    pub(crate) fn into_account(self, stopped: u64) -> Account {
        let tasks = self.tasks.into_iter().map(|task| task.record);
        Account {
            tasks: tasks.collect(),
            stolen: self.stolen,
            reactions: self.reactions,
            busy: self.guarantees.into_busy_periods(stopped),
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
        waited: u64,
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
        if let Some(lost) = lost {
            let before = now.saturating_sub(since.unwrap_or(now));
            self.note_unexplained(lost, waited.saturating_sub(before));
        }
        let state = self.threads.get_mut(thread.index());
        if let Some(unexplained) = state.and_then(|state| state.unexplained.take()) {
            self.note_unexplained(unexplained, waited);
        }
    }

    fn close(&mut self, interval: &Interval) {
        let &Interval {
            began,
            now,
            duty,
            cpu: (before, after),
            ..
        } = interval;
        let wall = now.saturating_sub(began);
        let executed = after.saturating_sub(before);
        if let Some(state) = self.threads.get_mut(interval.thread.index()) {
            state.cpu = after;
        }
        let missing = wall.saturating_sub(executed);
        match interval.counted.filter(|_| missing >= SWITCH_NANOS_MAX) {
            None => self.reactions.note(duty, (began, now), wall),
            Some(counted) => {
                let parts = Parts::of(wall, executed, counted, interval.alone);
                if parts.slept() >= SWITCH_NANOS_MAX {
                    // It slept and came back unannounced: whom it took the CPU from has not looked since.
                    self.occupancy.occupy();
                }
                self.reactions.note(duty, (began, now), parts.ours);
                let by_nobody = if self.rules.steal_reported {
                    Thief::Hypervisor
                } else {
                    Thief::Unknown
                };
                for (nanos, thief) in [
                    (parts.by_nobody, by_nobody),
                    (parts.by_others, Thief::Thread),
                ] {
                    if nanos >= SWITCH_NANOS_MAX {
                        self.stole_until(now, nanos, thief);
                    }
                }
            }
        }
        if interval.waits {
            self.occupancy.end(now);
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
        let length = Duration::from_nanos(interval.to.saturating_sub(interval.from));
        self.record(interval.to, What::Gap { cpu: CPU, length });
    }

    /// A record of what happened at this clock reading.
    fn record(&mut self, at: u64, what: What) {
        let at = self.instant(at);
        self.records.push(Record { at, what });
    }

    fn instant(&self, nanos: u64) -> Instant {
        Instant::from_nanos(nanos.saturating_sub(self.epoch.unwrap_or(0)))
    }
}

/// What became of jobs.
impl Judge {
    fn take_of_task(&mut self, task: usize, note: TaskNote) {
        let is_free = |release| self.guarantees.free_since(release);
        let Some(state) = self.tasks.get_mut(task) else {
            return;
        };
        match note {
            TaskNote::Released { release, now } => {
                if is_free(release) {
                    let late = now.saturating_sub(release);
                    state.record.lateness.record(late);
                }
            }
            TaskNote::Begins { release, consumed } => self.begin_job(task, release, consumed),
            TaskNote::Looked {
                due,
                at,
                executed,
                consumed,
            } => {
                let look = Look {
                    at,
                    executed,
                    consumed,
                };
                state.look = Some((due, look));
            }
            TaskNote::UsedUp { sequence, after } => state.used_up = Some((sequence, after)),
            TaskNote::LosesPriority { executed, now } => self.leave(task, executed, now),
            TaskNote::Ends(body) => self.end_body(task, body, body.now),
            TaskNote::Stays(body) => {
                state.stays = Some((body.sequence, body.executed));
                self.end_body(task, body, u64::MAX);
            }
            TaskNote::Completed(ending) => self.complete(task, &ending),
            TaskNote::Unfinished(cut) => self.cut(task, &cut),
            TaskNote::Dropped { why, count, next } => {
                state.next = state.next.max(next);
                state.record.jobs.count_drops(why, count);
            }
            TaskNote::Costs {
                start,
                end,
                executed,
            } => {
                state.record.executed_nanos += executed;
                state.record.start_cost.record(start);
                state.record.end_cost.record(end);
            }
            TaskNote::Suspended(counts) => {
                state.record.suspensions = state.record.suspensions.and(counts);
            }
            TaskNote::Used(cost) => state.record.used = cost,
        }
    }

    fn begin_job(&mut self, task: usize, release: u64, consumed: Option<u64>) {
        let Some(state) = self.tasks.get_mut(task) else {
            return;
        };
        if std::mem::replace(&mut state.has_priority, true) {
            // The note of its last job's end was lost.
            self.guarantees.leave(release);
        }
        // A worker reads the clocks if no other job seemed to be active; if a more urgent one came in
        // between and noted its beginning first, the clocks of that one's beginning were not read. Then what each
        // thread noted last is the least that they can have shown.
        let threads = self.threads.iter().map(|thread| thread.cpu);
        let least = || threads.fold(0, u64::saturating_add);
        self.guarantees
            .begin(release, || consumed.unwrap_or_else(least));
    }

    /// The present job of a task ends or loses its priority, if it has one.
    fn leave(&mut self, task: usize, executed: u64, now: u64) {
        let Some(state) = self.tasks.get_mut(task) else {
            return;
        };
        if std::mem::take(&mut state.has_priority) {
            let (tolerance, is_stopped) =
                (self.rules.tolerance_nanos, self.rules.stops_at_own_limit);
            self.guarantees.note_execution(
                &state.facts.model,
                executed,
                tolerance,
                now,
                is_stopped,
            );
            self.guarantees.leave(now);
        }
    }

    /// A body returned, or never does: then `until` is later than any release. What it did in the background delays
    /// none but the jobs behind it.
    fn end_body(&mut self, task: usize, body: Return, until: u64) {
        let Return {
            sequence,
            executed,
            now,
            lost,
        } = body;
        if let Some(state) = self.tasks.get_mut(task) {
            let used_up = state.used_up(executed, self.rules.tolerance_nanos, now);
            if used_up.is_some() || lost {
                state.blocked_by.note(sequence, until);
            }
        }
        self.leave(task, executed, now);
    }

    fn complete(&mut self, task: usize, job: &Ending) {
        let Some(state) = self.tasks.get(task) else {
            return;
        };
        let response = job.finished.saturating_sub(job.release);
        let deadline = state.facts.model.deadline.as_nanos();
        let due = job.release.saturating_add(deadline);
        let verdict = (response > deadline).then(|| {
            let look = state.look.filter(|&(of, _)| of == due);
            Past {
                sequence: job.sequence,
                release: job.release,
                end: job.finished,
                executed: job.executed,
                look: look.map(|(_, look)| look),
                consumed: job.consumed,
                at: job.at,
            }
        });
        let verdict = verdict.map(|past| self.judge_miss(task, &past));
        let Some(state) = self.tasks.get_mut(task) else {
            return;
        };
        state.next = state.next.max(job.sequence + 1);
        let record = &mut state.record;
        record.jobs.released += 1;
        record.jobs.completed += 1;
        record.note_miss(verdict);
        record.response.record(response);
        record.execution.record(job.executed);
        record.tardiness.record(response.saturating_sub(deadline));
    }

    /// A job that the end of the run met; missed if its deadline had passed by then.
    fn cut(&mut self, task: usize, job: &Cut) {
        let Some(state) = self.tasks.get(task) else {
            return;
        };
        let stopped = job.stopped.max(job.release);
        let deadline = state.facts.model.deadline.as_nanos();
        let missed = job.release.saturating_add(deadline) < stopped;
        let verdict = missed.then(|| {
            let past = Past {
                sequence: job.sequence,
                release: job.release,
                end: stopped,
                // The least that it can have executed by then.
                executed: job.executed.saturating_sub(job.at.saturating_sub(stopped)),
                // What it lacked to its end is not known.
                look: None,
                consumed: job.consumed,
                at: job.at,
            };
            self.judge_miss(task, &past)
        });
        let Some(state) = self.tasks.get_mut(task) else {
            return;
        };
        state.next = state.next.max(job.sequence + 1);
        let jobs = &mut state.record.jobs;
        jobs.released += 1;
        if job.dropped {
            jobs.dropped += 1;
        } else {
            jobs.unfinished += 1;
        }
        state.record.note_miss(verdict);
    }

    /// What is to be said of the deadline that such a job of a task missed.
    fn judge_miss(&mut self, task: usize, past: &Past) -> Verdict {
        let Some(state) = self.tasks.get(task) else {
            return Verdict::NotGuaranteed;
        };
        let due = past
            .release
            .saturating_add(state.facts.model.deadline.as_nanos());
        // What was stolen before the release delays the job too, if the same busy period goes on since.
        let busy_since = self.guarantees.busy_since();
        let since = busy_since.min(past.release);
        // What is known of a window of which notes were lost decides nothing.
        let lost = self.rules.guarantee && since < self.lost_until;
        let guaranteed = lost || self.was_guaranteed(state, past, due);
        let (deadline, sequence) = (self.instant(due), past.sequence);
        let job = JobId {
            task: (0..).map(TaskId).nth(task).unwrap_or(TaskId(0)),
            sequence,
        };
        self.record(
            past.at,
            What::Miss {
                job,
                deadline,
                guaranteed,
            },
        );
        if lost {
            return Verdict::Undecided;
        }
        if !guaranteed {
            return Verdict::NotGuaranteed;
        }
        let look = past.look.unwrap_or(Look {
            at: past.end,
            executed: past.executed,
            // Nobody read the clocks: then all of the time counts as the run's own.
            consumed: past.consumed.unwrap_or(u64::MAX),
        });
        let lacking = past.executed.saturating_sub(look.executed);
        let window = Window {
            lacking: lacking.saturating_add(look.at.saturating_sub(due)),
            stolen: self.stolen.within(since, look.at),
            length: look.at.saturating_sub(busy_since),
            consumed: look
                .consumed
                .saturating_sub(self.guarantees.consumed_before()),
        };
        window.judge(since, look.at)
    }

    /// Whether a job had been guaranteed its deadline, `due`.
    fn was_guaranteed(&self, task: &TaskState, past: &Past, due: u64) -> bool {
        let by_account = task.used_up(past.executed, self.rules.tolerance_nanos, past.end);
        let by_scheduler = task.used_up.filter(|&(job, _)| job == past.sequence);
        let by_scheduler = by_scheduler.map(|(_, at)| at.saturating_add(self.epoch.unwrap_or(0)));
        let used_up = by_account.into_iter().chain(by_scheduler).min();
        let exceeded = self.guarantees.exceeded(task.facts.model.criticality);
        let (due, used_up) = (Instant::from_nanos(due), used_up.map(Instant::from_nanos));
        self.rules.guarantee
            && !task.blocked_by.blocks(past.sequence, past.release)
            && covers(due, exceeded, used_up)
    }
}

impl TaskState {
    fn new(facts: TaskFacts) -> Self {
        Self {
            facts,
            has_priority: false,
            blocked_by: BlockedBy::default(),
            look: None,
            used_up: None,
            stays: None,
            next: 0,
            record: TaskRecord::default(),
        }
    }

    /// Since when a job is beyond its own limit that has executed so much by `now`, if it is.
    fn used_up(&self, executed: u64, tolerance: u64, now: u64) -> Option<u64> {
        beyond(self.facts.model.own_wcet(), executed, tolerance, now)
    }
}

/// A job that was released, and ended or was cut, at these clock readings, after executing so much.
#[derive(Clone, Copy, Debug)]
struct Past {
    sequence: u64,
    release: u64,
    end: u64,
    executed: u64,
    look: Option<Look>,
    /// What the threads of the run had consumed.
    consumed: Option<u64>,
    /// The clock when this was noted.
    at: u64,
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
