//! Which driver a CPU has, and what it expects of the threads beside it.

use crate::config::Mechanism;
use crate::cpu::Call;
use crate::duties::{Duties, Source};
use crate::monitor::Monitor;
use crate::sys::waiting::WakeEvent;
use crate::words::Bell;
use std::io;
use vestal_core::Interest;

/// What Huang, Gill and Lu (2014, section 5) let a manager do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paper {
    /// 5.3: it handles each release and each completion.
    Jobs,
    /// 5.2: it handles the beginning of each slice, used-up ones, and completions.
    Slices,
    /// 5.1: it looks at each job at its zero-slack instant and at its deadline. Budgets are not monitored: a job
    /// that exceeds that of its own level is found when it is complete.
    Instants,
}

/// Which driver a CPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The kernel orders, and a guard enforces, if it does.
    Native { enforces: bool },
    /// The manager dispatches; it waits for a futex, or for the signals of monitors.
    Managed { enforces: bool, futex: bool },
    /// The kernel orders, and a guard enforces by the threads and timers of a paper.
    Huang2014(Paper),
    /// The manager dispatches, as a scheduler that is told of arrivals and overruns by threads of their own: Sigrist et al.
    /// (RTAS 2015, section VI-A).
    Sigrist2015 { enforces: bool },
    /// There is no manager: a walker goes through the sequences of a table.
    Walked,
}

impl Kind {
    /// Of a CPU whose limits are enforced if `enforces`, where a guard wants to hear of `interest`, and has modes
    /// or not.
    pub(crate) const fn native(
        mechanism: Mechanism,
        enforces: bool,
        interest: Interest,
        has_modes: bool,
    ) -> Self {
        match (mechanism, interest) {
            // Sigrist et al. have nothing where the kernel orders: a plan refuses it.
            (Mechanism::Vestal | Mechanism::Sigrist2015, _) => Self::Native { enforces },
            (Mechanism::Huang2014, _) if !enforces => Self::Native { enforces },
            (Mechanism::Huang2014, Interest::Releases) => Self::Huang2014(Paper::Slices),
            (Mechanism::Huang2014, Interest::IncompleteJobs) => Self::Huang2014(Paper::Instants),
            (Mechanism::Huang2014, Interest::NewestReleases) if has_modes => {
                Self::Huang2014(Paper::Jobs)
            }
            // The order of the kernel's priorities is all there is: the baseline of their evaluation.
            (Mechanism::Huang2014, Interest::NewestReleases) => Self::Native { enforces: false },
        }
    }

    /// What it expects of the threads beside the manager.
    pub(crate) const fn duties(self) -> Duties {
        match self {
            Self::Native { enforces } => Duties::native(enforces),
            Self::Managed { enforces, futex } => Duties {
                source: Source::Assigned,
                // With the timeout of its own wait it needs none.
                has_monitors: enforces && !futex,
                ..Duties::native(enforces)
            },
            Self::Sigrist2015 { enforces } => Duties {
                source: Source::Assigned,
                has_monitors: false,
                has_dispatcher: true,
                has_checkers: enforces,
                ..Duties::native(enforces)
            },
            Self::Walked => Duties {
                source: Source::Sequence,
                sets_instants: false,
                ..Duties::native(false)
            },
            Self::Huang2014(paper) => Duties {
                source: match paper {
                    Paper::Jobs => Source::Counted,
                    Paper::Slices | Paper::Instants => Source::Own,
                },
                watches_budgets: !matches!(paper, Paper::Instants),
                has_monitors: false,
                sets_instants: false,
                reports_ends: !matches!(paper, Paper::Instants),
                ..Duties::native(true)
            },
        }
    }

    /// How its manager is called.
    ///
    /// # Errors
    /// What the system call says.
    pub(crate) fn call(self) -> io::Result<Call> {
        Ok(match self {
            Self::Native { .. } | Self::Managed { futex: false, .. } => Call::Signal,
            // Nobody listens to a walker's, and a signal would need somebody.
            Self::Managed { futex: true, .. } | Self::Sigrist2015 { .. } | Self::Walked => {
                Call::Futex(Bell::default())
            }
            Self::Huang2014(_) => Call::Event(WakeEvent::new()?),
        })
    }

    /// Of a CPU where a scheduler dispatches.
    pub(crate) const fn dispatching(
        mechanism: Mechanism,
        enforces: bool,
        monitor: Monitor,
    ) -> Self {
        match (mechanism, monitor) {
            (Mechanism::Sigrist2015, _) => Self::Sigrist2015 { enforces },
            (
                Mechanism::Vestal | Mechanism::Huang2014,
                Monitor::Manager | Monitor::Remainder | Monitor::Heartbeat,
            ) => Self::Managed {
                enforces,
                futex: true,
            },
            (Mechanism::Vestal | Mechanism::Huang2014, Monitor::Perf | Monitor::PosixTimer) => {
                Self::Managed {
                    enforces,
                    futex: false,
                }
            }
        }
    }

    /// Whether a thread has to tell the manager that the CPU is idle: one that knows of each job sees it itself.
    pub(crate) const fn needs_idle_detector(self) -> bool {
        let duties = self.duties();
        matches!(duties.source, Source::Own) && !duties.reports_ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paper_s_managers_follow_from_what_the_guard_asks_to_hear() {
        let of = |enforces, interest, has_modes| {
            Kind::native(Mechanism::Huang2014, enforces, interest, has_modes)
        };
        let none = Kind::Native { enforces: false };
        for interest in [
            Interest::NewestReleases,
            Interest::Releases,
            Interest::IncompleteJobs,
        ] {
            let kind = Kind::native(Mechanism::Vestal, true, interest, true);
            assert_eq!(kind, Kind::Native { enforces: true });
            assert_eq!(of(false, interest, true), none);
        }
        let paper = |interest, has_modes| of(true, interest, has_modes);
        let each_job = Kind::Huang2014(Paper::Jobs);
        assert_eq!(paper(Interest::NewestReleases, true), each_job);
        assert_eq!(paper(Interest::NewestReleases, false), none);
        let each_slice = Kind::Huang2014(Paper::Slices);
        assert_eq!(paper(Interest::Releases, false), each_slice);
        let each_instant = Kind::Huang2014(Paper::Instants);
        assert_eq!(paper(Interest::IncompleteJobs, false), each_instant);
    }

    #[test]
    fn a_worker_has_a_monitor_where_nobody_else_watches_its_budget() {
        let monitors = |kind: Kind| kind.duties().has_monitors;
        assert!(monitors(Kind::Native { enforces: true }));
        assert!(!monitors(Kind::Native { enforces: false }));
        let managed = |enforces, futex| Kind::Managed { enforces, futex };
        assert!(monitors(managed(true, false)));
        assert!(!monitors(managed(true, true)) && !monitors(managed(false, false)));
        for enforces in [true, false] {
            let duties = Kind::Sigrist2015 { enforces }.duties();
            assert!(duties.has_dispatcher && !duties.has_monitors);
            assert_eq!(duties.has_checkers, enforces);
        }
        for paper in [Paper::Jobs, Paper::Slices, Paper::Instants] {
            let duties = Kind::Huang2014(paper).duties();
            assert!(!duties.has_monitors && !duties.sets_instants && duties.enforces);
            let watches = paper != Paper::Instants;
            assert_eq!(
                (duties.watches_budgets, duties.reports_ends),
                (watches, watches)
            );
        }
    }
}
