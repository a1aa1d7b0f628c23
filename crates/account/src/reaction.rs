//! How long the run's own threads took for each of their duties.

use vestal_core::Duration;

/// What a thread of the run has to do outside the bodies of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duty {
    /// A worker: from the instant at which it gets the CPU for a job until its body begins.
    JobStart,
    /// A worker: from the end of a body until it waits.
    JobEnd,
    /// The walker of a frame table: between jobs, but for their beginnings and ends: it looks what it is to do, comes to a
    /// barrier, and decides if it is the last. With the threads of Sigrist et al. (2015): the scheduler, its checker and its
    /// dispatcher, from when each gets the CPU until it waits.
    Frame,
    /// The manager: from when it gets the CPU until it waits.
    Manager,
    /// The idle detector, likewise.
    Idle,
    /// The watchdog, likewise, if it shares the CPU of the run.
    Watchdog,
    /// A thread that dispatches arrivals, likewise.
    Dispatcher,
    /// A thread that checks for overruns, likewise.
    Checker,
    /// The thread that waits for devices, likewise.
    TopHalf,
}

impl Duty {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::JobStart,
        Self::JobEnd,
        Self::Frame,
        Self::Manager,
        Self::Idle,
        Self::Watchdog,
        Self::Dispatcher,
        Self::Checker,
        Self::TopHalf,
    ];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobStart => "job-start",
            Self::JobEnd => "job-end",
            Self::Frame => "frame",
            Self::Manager => "manager",
            Self::Idle => "idle",
            Self::Watchdog => "watchdog",
            Self::Dispatcher => "dispatcher",
            Self::Checker => "checker",
            Self::TopHalf => "top-half",
        }
    }
}

/// How long the run's own threads took for one of their duties: CPU time and sleep, without the time for
/// which the kernel says that another thread had the CPU. This is the run's, never the machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// The duty.
    pub duty: Duty,
    /// How often it was done.
    pub count: u64,
    /// What it took at most.
    pub longest: Duration,
}

/// Longer intervals are remembered one by one, until it is known whether the process was stopped in them.
const LONG_NANOS: u64 = 1_000_000;

/// How many long intervals a run remembers.
const LONG_MAX: usize = 4_096;

/// What the threads of a run took for their duties.
#[derive(Clone, Debug, Default)]
pub struct Reactions {
    count: [u64; Duty::ALL.len()],
    longest: [u64; Duty::ALL.len()],
    /// Clock readings at the beginning and the end of a long interval, and how much of it was the run's.
    long: Vec<(Duty, u64, u64, u64)>,
}

impl Reactions {
    pub(super) fn note(&mut self, duty: Duty, (from, to): (u64, u64), nanos: u64) {
        let index = duty as usize;
        if let Some(count) = self.count.get_mut(index) {
            *count += 1;
        }
        if nanos >= LONG_NANOS && self.long.len() < LONG_MAX {
            self.long.push((duty, from, to, nanos));
        } else if let Some(longest) = self.longest.get_mut(index) {
            *longest = nanos.max(*longest);
        }
    }

    /// One for each duty that was done, without intervals in which the process was stopped: it was
    /// continued at the clock readings `continued`, or a little before.
    pub fn of_duties(&self, continued: &[u64]) -> Vec<Reaction> {
        let stopped = |from: u64, to: u64| {
            let to = to.saturating_add(LONG_NANOS);
            continued.iter().any(|at| (from..=to).contains(at))
        };
        let each = Duty::ALL.into_iter().zip(self.count).zip(self.longest);
        each.filter(|&((_, count), _)| count > 0)
            .map(|((duty, count), longest)| {
                let of_duty = self.long.iter().filter(|long| {
                    let &(of, from, to, _) = *long;
                    of == duty && !stopped(from, to)
                });
                let long = of_duty.map(|&(.., nanos)| nanos).max();
                Reaction {
                    duty,
                    count,
                    longest: Duration::from_nanos(long.unwrap_or(0).max(longest)),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn an_interval_in_which_the_process_was_stopped_is_no_reaction() {
        let mut reactions = Reactions::default();
        reactions.note(Duty::Manager, (0, 10_000), 10_000);
        reactions.note(Duty::Manager, (50 * MS, 70 * MS), 20 * MS);
        reactions.note(Duty::JobEnd, (0, 2 * MS), 2 * MS);
        let longest = |continued: &[u64]| {
            let each = reactions.of_duties(continued).into_iter();
            each.map(|each| (each.duty, each.count, each.longest.as_nanos()))
                .collect::<Vec<_>>()
        };
        let job_end = (Duty::JobEnd, 1, 2 * MS);
        assert_eq!(longest(&[]), [job_end, (Duty::Manager, 2, 20 * MS)]);
        assert_eq!(longest(&[45 * MS]), [job_end, (Duty::Manager, 2, 20 * MS)]);
        assert_eq!(longest(&[69 * MS]), [job_end, (Duty::Manager, 2, 10_000)]);
    }

    #[test]
    fn what_does_not_fit_into_the_list_counts_all_the_same() {
        let mut reactions = Reactions::default();
        for length in 0..LONG_MAX as u64 + 2 {
            reactions.note(Duty::Idle, (0, 1), (length + 1) * MS);
        }
        let [reaction] = reactions.of_duties(&[])[..] else {
            panic!("one duty");
        };
        assert_eq!(reaction.count, LONG_MAX as u64 + 2);
        assert_eq!(reaction.longest.as_nanos(), (LONG_MAX as u64 + 2) * MS);
    }
}
