//! What became of jobs, as the notes about them say.

use super::{Answer, Judge, Told};
use crate::guarantee::beyond;
use crate::note::{Cut, Ending, Return, TaskNote, Thread};
use crate::outcome::{Look, Miss, Verdict, Window};
use crate::told::LateJob;
use vestal_core::guarantee::{bounds, covers};
use vestal_core::model::LEVELS_MAX;
use vestal_core::{Instant, JobId, TaskId};
use vestal_trace::What;

impl Judge {
    pub(super) fn take_of_task(&mut self, task: usize, note: TaskNote) {
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
            TaskNote::UsedUp { sequence, after } => state.used_up.note(sequence, after),
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
            let model = &state.facts.model;
            match &mut self.layers {
                Some(layers) => layers.note_execution(task, model, (executed, tolerance), now),
                None => {
                    self.guarantees
                        .note_execution(model, executed, tolerance, now, is_stopped);
                }
            }
            self.guarantees.leave(now);
            if self.rules.common {
                self.tell_if_exceeded(task, executed, now);
            }
        }
    }

    /// Tells all CPUs of a job that has executed more than at some level.
    fn tell_if_exceeded(&mut self, task: usize, executed: u64, now: u64) {
        let Some(state) = self.tasks.get(task) else {
            return;
        };
        let tolerance = self.rules.tolerance_nanos;
        let mut since = [None; LEVELS_MAX];
        // Nothing stops a job of a frame table.
        for ((_, bound), since) in bounds(&state.facts.model, false).zip(&mut since) {
            let at = beyond(bound, executed, tolerance, now);
            *since = at.map(|at| self.after_epoch(at));
        }
        if since.iter().any(Option::is_some) {
            let end = self.after_epoch(now);
            self.told.push(Told::Exceeded { beyond: since, end });
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
            state.used_up.begun(sequence);
            let beyond = state.beyond_own(executed, self.rules.tolerance_nanos, now);
            state.record.beyond_own += u64::from(beyond.is_some());
            if beyond.is_some() || lost {
                state.blocked_by.note(sequence, until);
            }
        }
        // Other threads of the run may have executed meanwhile, and have said so.
        self.tell_ran(self.body_since, now, executed);
        let thread = Thread::Worker(task);
        if self.rules.common && self.body.take_if(|body| *body == thread).is_some() {
            self.presences.record(thread, (self.body_since, now));
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
        let verdict = verdict.and_then(|past| self.judge_miss(task, &past));
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
    pub(super) fn cut(&mut self, task: usize, job: &Cut) {
        let Some(state) = self.tasks.get(task) else {
            return;
        };
        let stopped = job.stopped.max(job.release);
        let deadline = state.facts.model.deadline.as_nanos();
        let missed = job.release.saturating_add(deadline) < stopped;
        let past = missed.then(|| {
            Past {
                sequence: job.sequence,
                release: job.release,
                end: stopped,
                // The least that it can have executed by then.
                executed: job.executed.saturating_sub(job.at.saturating_sub(stopped)),
                // What it lacked to its end is not known.
                look: None,
                consumed: job.consumed,
                at: job.at,
            }
        });
        let verdict = past.and_then(|past| self.judge_miss(task, &past));
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

    /// What is to be said of the deadline that such a job of a task missed; none if all CPUs have to say it.
    fn judge_miss(&mut self, task: usize, past: &Past) -> Option<Verdict> {
        if self.rules.common {
            self.told.push(Told::Late(LateJob {
                task,
                sequence: past.sequence,
                end: self.after_epoch(past.end),
                at: self.after_epoch(past.at),
            }));
            return None;
        }
        Some(self.judge_alone(task, past))
    }

    /// All CPUs together have judged a deadline that a job missed.
    pub(crate) fn settle(&mut self, answer: &Answer) {
        let Answer { job, due, verdict } = *answer;
        let epoch = self.epoch.unwrap_or(0);
        let deadline = Instant::from_nanos(due);
        let guaranteed = verdict != Verdict::NotGuaranteed;
        let id = job_of(job.task, job.sequence);
        let miss = What::Miss {
            job: id,
            deadline,
            guaranteed,
        };
        self.record(job.at.saturating_add(epoch), miss);
        let verdict = match verdict {
            Verdict::Missed(miss) => Verdict::Missed(Miss {
                since: miss.since.saturating_add(epoch),
                end: miss.end.saturating_add(epoch),
                ..miss
            }),
            Verdict::NotGuaranteed | Verdict::Undecided => verdict,
        };
        if let Some(state) = self.tasks.get_mut(job.task) {
            state.record.note_miss(Some(verdict));
        }
    }

    fn judge_alone(&mut self, task: usize, past: &Past) -> Verdict {
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
        let guaranteed = lost || self.was_guaranteed(task, past, due);
        // Then it was guaranteed unless the job had used up its limit, which is not known.
        let unknown = lost || guaranteed && state.used_up.may_have_forgotten(past.sequence);
        let (deadline, job) = (self.instant(due), job_of(task, past.sequence));
        self.record(
            past.at,
            What::Miss {
                job,
                deadline,
                guaranteed,
            },
        );
        if unknown {
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

    /// Whether a job of the task with this index had been guaranteed its deadline, `due`.
    pub(super) fn was_guaranteed(&self, index: usize, past: &Past, due: u64) -> bool {
        let Some(task) = self.tasks.get(index) else {
            return false;
        };
        let by_account = task.beyond_own(past.executed, self.rules.tolerance_nanos, past.end);
        let by_scheduler = task.used_up.after(past.sequence);
        let by_scheduler = by_scheduler.map(|after| after.saturating_add(self.epoch.unwrap_or(0)));
        let used_up = by_account.into_iter().chain(by_scheduler).min();
        let level = task.facts.model.criticality;
        let exceeded = match &self.layers {
            Some(layers) => layers.exceeded(index, level),
            None => self.guarantees.exceeded(level),
        };
        let (due, used_up) = (Instant::from_nanos(due), used_up.map(Instant::from_nanos));
        self.rules.guarantee
            && !task.blocked_by.blocks(past.sequence, past.release)
            && covers(due, exceeded, used_up)
    }
}

fn job_of(task: usize, sequence: u64) -> JobId {
    let task = (0..).map(TaskId).nth(task).unwrap_or(TaskId(0));
    JobId { task, sequence }
}

/// A job that was released, and ended or was cut, at these clock readings, after executing so much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    pub(super) sequence: u64,
    pub(super) release: u64,
    pub(super) end: u64,
    pub(super) executed: u64,
    pub(super) look: Option<Look>,
    /// What the threads of the run had consumed.
    pub(super) consumed: Option<u64>,
    /// The clock when this was noted.
    pub(super) at: u64,
}
