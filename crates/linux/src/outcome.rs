//! What became of a job: completed, unfinished, and what is to be said of a deadline that it missed.
//!
//! A guaranteed deadline that was missed is *missed* if the job would be late also without the time that
//! was stolen from the run since the beginning of its busy period: if it lacked more than that
//! ([`crate::late`]). Otherwise it is *not decided*: without that time the schedule might have kept it, or
//! might have taken another course.
//!
//! Stolen is what was found to be ([`crate::stolen`]), and no more than what no thread of the run consumed:
//! in a busy period some thread of the run always wants the CPU, so what their CPU clocks do not account for
//! bounds what others can have taken. A thread of the run that is slow therefore cannot excuse a miss.

use crate::job::Ended;
use crate::late::Look;
use crate::recording::Tracer;
use crate::report::{MISSES_MAX, Miss, TaskRecord};
use crate::shared::{Shared, TaskShared};
use crate::stolen::Stolen;
use crate::sys::clock::monotonic_nanos;
use vestal_core::DropReason;
use vestal_trace::What;

/// What is to be said of a missed deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was not guaranteed.
    NotGuaranteed,
    /// Stolen time may be the reason.
    Undecided,
    /// It remains without the stolen time.
    Missed(Miss),
}

/// The busy period of a job that missed a guaranteed deadline, up to the look at it, or else to its end; in
/// nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// What the job would have needed to be in time.
    lacking: u64,
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
        if self.stolen.nanos.min(others) >= self.lacking {
            return Verdict::Undecided;
        }
        Verdict::Missed(Miss {
            since,
            end,
            met_if_stopped: others >= self.lacking,
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

pub(crate) fn note_completed(shared: &Shared, task: &TaskShared, job: &Ended, trace: &mut Tracer) {
    let response = job.finished.saturating_sub(job.release);
    let deadline = task.configuration.task.deadline.as_nanos();
    let missed = response > deadline;
    let verdict = missed.then(|| {
        let past = Past {
            release: job.release,
            end: job.finished,
            executed: job.executed,
            look: task.late.look(),
        };
        judge_miss(shared, task, job.sequence, past, trace)
    });
    let mut record = task.record();
    record.jobs.released += 1;
    record.jobs.completed += 1;
    record.note_miss(verdict);
    record.response.record(response);
    record.execution.record(job.executed);
    record.tardiness.record(response.saturating_sub(deadline));
}

/// A job that the end of the run met when it had executed so much; missed if its deadline had passed by
/// then.
pub(crate) fn note_unfinished(
    shared: &Shared,
    task: &TaskShared,
    (release, executed): (u64, u64),
    trace: &mut Tracer,
) {
    let stopped = shared.stopped_at.get().max(release);
    let deadline = release.saturating_add(task.configuration.task.deadline.as_nanos());
    let missed = deadline < stopped;
    let verdict = missed.then(|| {
        let since = release.saturating_sub(shared.epoch());
        let since = since.saturating_sub(task.offset_nanos);
        let sequence = since.checked_div(task.period_nanos());
        // The least that it can have executed by then.
        let since = monotonic_nanos().saturating_sub(stopped);
        let past = Past {
            release,
            end: stopped,
            executed: executed.saturating_sub(since),
            // What it lacked to its end is not known.
            look: None,
        };
        judge_miss(shared, task, sequence.unwrap_or(0), past, trace)
    });
    let mut record = task.record();
    record.jobs.released += 1;
    record.jobs.unfinished += 1;
    record.note_miss(verdict);
}

/// A job that was released, and ended or was aborted, at these clock readings, after executing so much.
#[derive(Clone, Copy, Debug)]
struct Past {
    release: u64,
    end: u64,
    executed: u64,
    look: Option<Look>,
}

/// What is to be said of the deadline that such a job missed.
fn judge_miss(
    shared: &Shared,
    task: &TaskShared,
    sequence: u64,
    past: Past,
    trace: &mut Tracer,
) -> Verdict {
    let Past {
        release,
        end,
        executed,
        look,
    } = past;
    let model = &task.configuration.task;
    let deadline = model.deadline.as_nanos();
    let due = release.saturating_add(deadline);
    let guaranteed = shared.was_guaranteed(task, (sequence, release), (executed, end));
    trace.open();
    let what = What::Miss {
        job: task.job(sequence),
        deadline: shared.instant(due),
        guaranteed,
    };
    trace.record(shared.instant(monotonic_nanos()), what);
    trace.close();
    if !guaranteed {
        return Verdict::NotGuaranteed;
    }
    // What was stolen before the release delays the job too, if the same busy period goes on since.
    let busy_since = shared.guarantees.busy_since();
    let since = busy_since.min(release);
    let look = look.unwrap_or_else(|| Look {
        at: end,
        executed,
        consumed: shared.consumed(),
    });
    let consumed = look.consumed;
    let lacking = executed.saturating_sub(look.executed);
    let window = Window {
        lacking: lacking.saturating_add(look.at.saturating_sub(due)),
        stolen: shared.stolen.within(since, look.at),
        length: look.at.saturating_sub(busy_since),
        consumed: consumed.saturating_sub(shared.guarantees.consumed_before()),
    };
    window.judge(since, look.at)
}

/// Records that job `sequence` of `task`, which has come to its end, was dropped; says why.
pub(crate) fn record_dropped(
    shared: &Shared,
    task: &TaskShared,
    sequence: u64,
    trace: &mut Tracer,
) -> DropReason {
    let (job, why) = (task.job(sequence), task.why_dropped(sequence));
    trace.open();
    let at = shared.instant(monotonic_nanos());
    trace.record(at, What::Dropped { job, why });
    trace.close();
    why
}

/// Counts the jobs that were released before the end but never begun.
pub(crate) fn account_never_begun(
    shared: &Shared,
    task: &TaskShared,
    first: u64,
    trace: &mut Tracer,
) {
    let stopped = shared.stopped_at.get().min(shared.end.get());
    let mut release = first;
    while release < stopped {
        note_unfinished(shared, task, (release, 0), trace);
        release = release.saturating_add(task.period_nanos());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn window(lacking: u64, stolen: u64, length: u64, consumed: u64) -> Window {
        Window {
            lacking: lacking * MS,
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
        // No thread saw the stop, and none of the run consumed 30 ms.
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
