//! What became of a job: completed, unfinished, and what is to be said of a deadline that it missed.
//!
//! A guaranteed deadline that was missed is *missed* if the job would be late also without the time that
//! was stolen from the run between the beginning of its busy period and its end. Otherwise it is *not
//! decided*: without that time the schedule might have kept it, or might have taken another course.
//!
//! Stolen is what was found to be ([`crate::gaps`]), and no more than what no thread of the run consumed:
//! in a busy period somebody of the run always wants the CPU, so what their CPU clocks do not account for
//! bounds what others can have taken. A thread of the run that is slow therefore cannot excuse a miss.

use crate::gaps::Stolen;
use crate::recording::Tracer;
use crate::report::{MISSES_MAX, Miss, TaskRecord};
use crate::shared::{Shared, TaskShared};
use crate::sys::clock::monotonic_nanos;
use crate::worker::{Ended, job_of};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use vestal_core::{JobId, TaskId};
use vestal_trace::What;

/// What is to be said of a missed deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nobody had guaranteed it.
    NotGuaranteed,
    /// Stolen time may be the reason.
    Undecided,
    /// It remains without the stolen time.
    Missed(Miss),
}

/// The busy period of a job that missed a guaranteed deadline, up to the end of the job; in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// By how much the job was late.
    tardiness: u64,
    stolen: Stolen,
    length: u64,
    /// What the threads of the run consumed in it.
    consumed: u64,
}

impl Window {
    /// `since` and `end` are the clock readings at its beginning and end.
    fn judge(&self, since: u64, end: u64) -> Verdict {
        // What a burning job was charged for while the clock jumped is on its account, and not its own.
        let others = self.length.saturating_sub(self.consumed);
        let others = others.saturating_add(self.stolen.charged);
        if self.stolen.nanos.min(others) >= self.tardiness {
            return Verdict::Undecided;
        }
        Verdict::Missed(Miss {
            since,
            end,
            met_if_stopped: others >= self.tardiness,
        })
    }
}

impl TaskRecord {
    /// Counts a missed deadline, if it is one.
    fn note_miss(&mut self, verdict: Option<Verdict>) {
        let Some(verdict) = verdict else {
            return;
        };
        self.jobs.missed += 1;
        match verdict {
            Verdict::NotGuaranteed => {}
            Verdict::Undecided => self.jobs.missed_guaranteed += 1,
            Verdict::Missed(miss) => {
                self.jobs.missed_guaranteed += 1;
                self.jobs.missed_outside_gaps += 1;
                if miss.met_if_stopped && self.misses.len() < MISSES_MAX {
                    self.misses.push(miss);
                }
            }
        }
    }

    /// The process was continued at these clock readings, or a little before, after it had been stopped:
    /// that is stolen time, of which no thread of the run could see the beginning.
    pub(crate) fn excuse_stops(&mut self, continued: &[u64]) {
        let stopped = |miss: &&Miss| {
            let mut instants = continued.iter();
            instants.any(|instant| {
                (miss.since..=miss.end.saturating_add(LATE_HANDLER_NANOS)).contains(instant)
            })
        };
        let excused = self.misses.iter().filter(stopped).count() as u64;
        self.jobs.missed_outside_gaps = self.jobs.missed_outside_gaps.saturating_sub(excused);
    }
}

/// How much later than the threads of the run the handler of SIGCONT may run.
const LATE_HANDLER_NANOS: u64 = 20_000_000;

pub(crate) fn note_completed(
    shared: &Shared,
    task: &TaskShared,
    id: TaskId,
    job: &Ended,
    trace: &mut Tracer,
) {
    let response = job.finished.saturating_sub(job.release);
    let deadline = task.configuration.task.deadline.as_nanos();
    let missed = response > deadline;
    let verdict = missed.then(|| {
        let id = job_of(id, job.sequence);
        judge_miss(shared, task, id, (job.release, job.finished), trace)
    });
    let mut record = task.record.lock().unwrap_or_else(PoisonError::into_inner);
    record.jobs.released += 1;
    record.jobs.completed += 1;
    record.note_miss(verdict);
    record.response.record(response);
    record.execution.record(job.executed);
    record.tardiness.record(response.saturating_sub(deadline));
}

/// A job that the end of the run met; missed if its deadline had passed by then.
pub(crate) fn note_unfinished(
    shared: &Shared,
    task: &TaskShared,
    id: TaskId,
    release: u64,
    trace: &mut Tracer,
) {
    let stopped = shared.stopped_at.load(Ordering::SeqCst).max(release);
    let deadline = release.saturating_add(task.configuration.task.deadline.as_nanos());
    let missed = deadline < stopped;
    let verdict = missed.then(|| {
        let since = release.saturating_sub(shared.epoch.load(Ordering::SeqCst));
        let since = since.saturating_sub(task.offset_nanos);
        let sequence = since.checked_div(task.configuration.task.period.as_nanos());
        let job = job_of(id, sequence.unwrap_or(0));
        judge_miss(shared, task, job, (release, stopped), trace)
    });
    let mut record = task.record.lock().unwrap_or_else(PoisonError::into_inner);
    record.jobs.released += 1;
    record.jobs.unfinished += 1;
    record.note_miss(verdict);
}

/// What is to be said of the deadline missed by a job that was released, and ended or was given up, at
/// these clock readings.
fn judge_miss(
    shared: &Shared,
    task: &TaskShared,
    job: JobId,
    (release, end): (u64, u64),
    trace: &mut Tracer,
) -> Verdict {
    let model = &task.configuration.task;
    let deadline = model.deadline.as_nanos();
    let due = release.saturating_add(deadline);
    let guaranteed = shared.guarantee && shared.promises.promised(model.criticality, due);
    trace.open();
    let what = What::Miss {
        job,
        deadline: shared.instant(due),
        guaranteed,
    };
    trace.record(shared.instant(monotonic_nanos()), what);
    trace.close();
    if !guaranteed {
        return Verdict::NotGuaranteed;
    }
    // What was stolen before the release delays the job too, if the same busy period goes on since.
    let busy_since = shared.promises.busy_since();
    let since = busy_since.min(release);
    let consumed = shared.consumed();
    let window = Window {
        tardiness: end.saturating_sub(due),
        stolen: shared.gaps.within(since, end),
        length: end.saturating_sub(busy_since),
        consumed: consumed.saturating_sub(shared.promises.consumed_before()),
    };
    window.judge(since, end)
}

/// Counts the jobs that were released before the end but never begun.
pub(crate) fn account_never_begun(
    shared: &Shared,
    task: &TaskShared,
    id: TaskId,
    first: u64,
    trace: &mut Tracer,
) {
    let stopped = shared
        .stopped_at
        .load(Ordering::SeqCst)
        .min(shared.end.load(Ordering::SeqCst));
    let mut release = first;
    while release < stopped {
        note_unfinished(shared, task, id, release, trace);
        release = release.saturating_add(task.configuration.task.period.as_nanos());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn window(tardiness: u64, stolen: u64, length: u64, consumed: u64) -> Window {
        Window {
            tardiness: tardiness * MS,
            stolen: Stolen {
                nanos: stolen * MS,
                charged: 0,
            },
            length: length * MS,
            consumed: consumed * MS,
        }
    }

    fn is_missed(window: Window) -> bool {
        matches!(window.judge(0, 100 * MS), Verdict::Missed(_))
    }

    #[test]
    fn stolen_time_as_long_as_the_tardiness_decides_nothing() {
        assert!(!is_missed(window(20, 20, 80, 60)));
        assert!(is_missed(window(20, 19, 80, 60)));
    }

    #[test]
    fn what_the_run_consumed_itself_excuses_nothing_whatever_was_taken_for_stolen() {
        // A slow manager of 60 ms, all of it taken for stolen.
        assert!(is_missed(window(22, 60, 72, 72)));
        // It took 40 ms, a real thief 20 ms.
        assert!(is_missed(window(22, 60, 72, 52)));
        assert!(!is_missed(window(18, 60, 72, 52)));
    }

    #[test]
    fn what_a_burning_job_was_charged_for_while_the_clock_jumped_is_not_its_own() {
        let mut window = window(10, 12, 62, 62);
        assert!(is_missed(window));
        window.stolen.charged = 12 * MS;
        assert!(!is_missed(window));
    }

    #[test]
    fn a_stop_of_the_process_in_the_busy_period_leaves_a_miss_undecided() {
        let mut record = TaskRecord::new();
        // Nobody saw the stop, and nobody of the run consumed 30 ms.
        record.note_miss(Some(window(20, 0, 90, 60).judge(10 * MS, 100 * MS)));
        record.note_miss(Some(window(20, 0, 90, 85).judge(10 * MS, 100 * MS)));
        record.note_miss(Some(Verdict::Undecided));
        record.note_miss(Some(Verdict::NotGuaranteed));
        record.note_miss(None);
        let counts = |record: &TaskRecord| {
            let jobs = record.jobs;
            (
                jobs.missed,
                jobs.missed_guaranteed,
                jobs.missed_outside_gaps,
            )
        };
        assert_eq!(counts(&record), (4, 3, 2));
        let mut elsewhere = record.clone();
        elsewhere.excuse_stops(&[5 * MS, 200 * MS]);
        assert_eq!(counts(&elsewhere), (4, 3, 2));
        record.excuse_stops(&[50 * MS]);
        assert_eq!(
            counts(&record),
            (4, 3, 1),
            "of the other one it explains too little"
        );
    }
}
