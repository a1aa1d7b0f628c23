//! What became of a job: completed, unfinished, and what is to be said of a deadline that it missed.
//!
//! A guaranteed deadline that was missed is *missed* if the job would be late also without the time that
//! was stolen from the run since the beginning of its busy period: if it lacked more than that
//! ([`TaskNote::Looked`](crate::TaskNote::Looked) says how much). Otherwise it is *not decided*: without that time the
//! schedule might have kept it, or might have taken another course.
//!
//! Stolen is what was found to be ([`super::stolen`]), and no more than what no thread of the run consumed:
//! in a busy period some thread of the run always wants the CPU, so what their CPU clocks do not account for
//! bounds what others can have taken. A thread of the run that is slow therefore cannot excuse a miss.

pub(super) use super::job::Miss;
use super::job::{MISSES_MAX, TaskRecord};
use super::stolen::Stolen;

/// A look at a job after its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) at: u64,
    /// What the job had executed.
    pub(super) executed: u64,
    /// What the threads of the run had consumed.
    pub(super) consumed: u64,
}

/// What is to be said of a missed deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
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
pub(super) struct Window {
    /// What the job would have needed to be in time.
    pub(super) lacking: u64,
    pub(super) stolen: Stolen,
    pub(super) length: u64,
    /// What the threads of the run consumed in it.
    pub(super) consumed: u64,
}

impl Window {
    /// `since` and `end` are the clock readings at its beginning and end.
    pub(super) fn judge(&self, since: u64, end: u64) -> Verdict {
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
    pub(super) fn note_miss(&mut self, verdict: Option<Verdict>) {
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
    pub fn excuse_stops(&mut self, continued: &[u64]) {
        let excused = excused_by_stops(&self.misses, continued);
        self.jobs.missed_outside_gaps = self.jobs.missed_outside_gaps.saturating_sub(excused);
    }
}

/// How many of these were in time but for a stop of the process that was continued at one of these clock readings.
pub(super) fn excused_by_stops(misses: &[Miss], continued: &[u64]) -> u64 {
    let stopped = |miss: &&Miss| {
        let mut instants = continued.iter();
        instants.any(|instant| {
            (miss.since..=miss.end.saturating_add(LATE_HANDLER_NANOS)).contains(instant)
        })
    };
    misses.iter().filter(stopped).count() as u64
}

/// How much later than the threads of the run the handler of SIGCONT may run.
const LATE_HANDLER_NANOS: u64 = 20_000_000;

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
        let mut record = TaskRecord::default();
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
