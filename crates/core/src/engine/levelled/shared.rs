//! The domain that all CPUs share: level C by earliest deadline over level D.
//!
//! As many of the earliest level-C budgets as there are open CPUs are used at a time, each on one of
//! them: by its task's job, or without work by its ghost, and then the CPU is level D's.
//!
//! ```text
//!                 CPU opens (1)                    a chosen budget has work (2)
//!   closed --------------------> open, no claim -------------------------------> claim: C runs
//!      ^                             |    ^                                         |
//!      |                 ghost or    |    | another decision                        | another
//!      |                 no task (3) v    |                                         v decision
//!      +------------------------- claim: D runs, or none <--------------------------+
//!          CPU closes (1), from anywhere
//! ```
//! (1) [`Fact::CpuOpen`], (2) `place_jobs`, (3) `place_ghosts` and `place_best_effort`.
//!
//! A job stays on the CPU where it is confirmed to run, if that is open; others get the open CPUs in
//! the order of their numbers. A job that runs elsewhere is not claimed before the world has
//! confirmed that it stopped (C5); its CPU stays reserved for it meanwhile.
//!
//! A publication that is told late, or with others of the same CPU, changes nothing of what passed
//! before its instant: a ghost uses up its budget exactly while its CPU was open, until the next
//! decision. Claims follow the last publication.

use super::configuration::{Container, LevelledConfiguration};
use super::servers::Servers;
use crate::configuration_error::ConfigurationError;
use crate::fact::Fact;
use crate::ids::{CpuId, TaskId};
use crate::model::Level;
use crate::notice::Notice;
use crate::plan::{Permit, Plan, Sequences, Slot, Wake, WakeReason};
use crate::scheduler::{ContractViolation, Scheduler};
use crate::store::{Boxed, Store};
use crate::time::{Duration, Instant, Service};
use crate::urgency::Urgency;

/// What a CPU's own domain said of it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Publication {
    open: bool,
    since: Instant,
    /// No decision has followed yet.
    staged: bool,
    /// For how long the CPU was closed between the last decision and `since`.
    closed: Duration,
}

impl Publication {
    /// Before it has said anything.
    const CLOSED: Self = Self {
        open: false,
        since: Instant::EPOCH,
        staged: false,
        closed: Duration::ZERO,
    };

    /// Takes over what was said at `at`; `last` is the instant of the last decision. No order of
    /// what was said at one instant makes a difference, as long as no decision comes in between.
    fn say(&mut self, at: Instant, open: bool, last: Instant) {
        let contradicted = self.staged && at == self.since && !self.open;
        if at < self.since || contradicted {
            return;
        }
        self.closed = self.closed_until(at, last);
        (self.open, self.since, self.staged) = (open, at, true);
    }

    /// For how long the CPU was closed between the last decision and `until`.
    fn closed_until(&self, until: Instant, last: Instant) -> Duration {
        let more = if self.open {
            Duration::ZERO
        } else {
            until.saturating_since(self.since.max(last))
        };
        self.closed.saturating_add(more)
    }
}

/// What the shared domain thinks of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cpu {
    published: Publication,
    /// As published before the last decision: levels A and B do not want it.
    open: bool,
    /// The level-C task whose ghost uses up budget there.
    ghost: Option<TaskId>,
    /// A job was placed there by the present decision, claimed or reserved.
    taken: bool,
}

/// A task that may have a CPU, while CPUs are given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Candidate {
    urgency: Urgency,
    task: TaskId,
}

/// Levels C and D of all CPUs.
///
/// The slots of its plan are *claims*: the level-C or level-D job that each CPU runs as long as its own
/// domain leaves it open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharedDomain<S: Store = Boxed> {
    servers: Servers<S>,
    cpus: S::Table<Cpu>,
    claims: S::Table<Option<Slot>>,
    /// Scratch of a decision: the tasks chosen. Empty between decisions.
    chosen: S::Table<Option<Candidate>>,
    wake: Option<Wake>,
}

impl<S: Store> SharedDomain<S> {
    /// The domain that all CPUs of the configuration share; every CPU counts as closed until it
    /// publishes that it is open.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn with_store(
        configuration: &LevelledConfiguration<'_>,
    ) -> Result<Self, ConfigurationError> {
        configuration.check()?;
        Self::of_checked(configuration)
    }

    /// The same of a configuration that was checked.
    pub(super) fn of_checked(
        configuration: &LevelledConfiguration<'_>,
    ) -> Result<Self, ConfigurationError> {
        let found = configuration.tasks.len();
        let too_many = ConfigurationError::TooManyTasks { found };
        let cpus = configuration.tables.len();
        let closed = Cpu {
            published: Publication::CLOSED,
            open: false,
            ghost: None,
            taken: false,
        };
        Ok(Self {
            servers: Servers::new(configuration, None)?,
            cpus: S::table(cpus, closed).ok_or(too_many)?,
            claims: S::table(cpus, None).ok_or(too_many)?,
            chosen: S::table(cpus, None).ok_or(too_many)?,
            wake: None,
        })
    }

    /// Moves the clock, charges the ghosts for the time in which their CPUs were open, and takes over
    /// what was published.
    fn pass(&mut self, now: Instant) -> Result<(), ContractViolation> {
        let last = self.servers.clock.now;
        let elapsed = self.servers.clock.advance(now, self.wake)?;
        self.wake = None;
        for cpu in self.cpus.iter_mut() {
            if let Some(task) = cpu.ghost.take() {
                let closed = cpu.published.closed_until(now, last);
                let used = Service::supplied_during(elapsed.saturating_sub(closed));
                self.servers.consume_as_ghost(task, used);
            }
            cpu.published.closed = Duration::ZERO;
            cpu.published.staged = false;
            cpu.open = cpu.published.open;
        }
        Ok(())
    }

    /// The level-C task whose ghost uses up its budget on `cpu` since the last decision.
    #[must_use]
    pub fn ghost(&self, cpu: CpuId) -> Option<TaskId> {
        self.cpus.get(cpu.index())?.ghost
    }

    /// Whether the invariants hold; for tests.
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        self.servers.check_invariants()
            && self.chosen.iter().all(Option::is_none)
            && self
                .cpus
                .iter()
                .zip(self.claims.iter())
                .all(|(cpu, claim)| cpu.open || (cpu.ghost.is_none() && claim.is_none()))
    }

    /// O(m log n + m^2) for m CPUs.
    fn select(&mut self, now: Instant) {
        self.claims.fill(None);
        for cpu in self.cpus.iter_mut() {
            cpu.ghost = None;
            cpu.taken = false;
        }
        self.choose(Queue::Deadline);
        self.place_jobs();
        self.place_ghosts(now);
        self.choose(Queue::Release);
        self.place_jobs();
    }

    /// Takes as many tasks as there are CPUs to be had, the most urgent first.
    fn choose(&mut self, queue: Queue) {
        // `count` has a path that panics when it overflows.
        let free = self
            .cpus
            .iter()
            .filter(|cpu| cpu.open && !cpu.taken)
            .fold(0_usize, |count, _| count.saturating_add(1));
        let heap = match queue {
            Queue::Deadline => &mut self.servers.by_urgency,
            Queue::Release => &mut self.servers.by_release,
        };
        for position in self.chosen.iter_mut().take(free) {
            *position = heap.first().map(|(urgency, task)| {
                heap.remove(task);
                Candidate { urgency, task }
            });
        }
        for candidate in self.chosen.iter().flatten() {
            heap.insert(candidate.task, candidate.urgency);
        }
    }

    /// Gives a CPU to each chosen task that has work: its own one first, the first free one otherwise.
    fn place_jobs(&mut self) {
        for staying in [true, false] {
            for position in 0..self.chosen.len() {
                let Some(Candidate { task, .. }) = self.chosen.get(position).copied().flatten()
                else {
                    continue;
                };
                if !self.servers.has_work(task) {
                    continue;
                }
                let running = self.servers.running(task);
                let found = if staying {
                    running.map(CpuId::index).filter(|&cpu| self.is_free(cpu))
                } else {
                    (0..self.cpus.len()).find(|&cpu| self.is_free(cpu))
                };
                let Some(found) = found else {
                    continue;
                };
                if let Some(entry) = self.chosen.get_mut(position) {
                    *entry = None;
                }
                if let Some(cpu) = self.cpus.get_mut(found) {
                    cpu.taken = true;
                }
                if let Some(claim) = self.claims.get_mut(found)
                    && (staying || running.is_none())
                {
                    *claim = self.servers.budgeted_slot(task);
                }
            }
        }
    }

    fn is_free(&self, cpu: usize) -> bool {
        self.cpus.get(cpu).is_some_and(|cpu| cpu.open && !cpu.taken)
    }

    /// Lets the budgets of the chosen tasks without work be used up by their ghosts.
    fn place_ghosts(&mut self, now: Instant) {
        for position in 0..self.chosen.len() {
            let Some(Candidate { task, .. }) = self.chosen.get_mut(position).and_then(Option::take)
            else {
                continue;
            };
            let free = |cpu: &&mut Cpu| cpu.open && !cpu.taken && cpu.ghost.is_none();
            if let Some(cpu) = self.cpus.iter_mut().find(free) {
                cpu.ghost = Some(task);
            }
            let remaining = self.servers.remaining(task).unwrap_or(Service::ZERO);
            let at = now.saturating_add(remaining.time_on_dedicated_cpu());
            let why = WakeReason::Consumption;
            self.wake = Wake::earlier(self.wake, Some(Wake { at, why }));
        }
    }
}

impl<S: Store> Scheduler for SharedDomain<S> {
    /// Takes what happened to level-C and level-D tasks, and which CPUs are open.
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        let Fact::CpuOpen { cpu, open } = fact else {
            return self.servers.apply(at, fact);
        };
        if at > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(at));
        }
        let last = self.servers.clock.now;
        let known = self.cpus.get_mut(cpu.index());
        let known = known.ok_or(ContractViolation::UnknownCpu(cpu))?;
        known.published.say(at, open, last);
        Ok(())
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.pass(now)?;
        self.servers.settle_past();
        self.servers.admit_all();
        self.select(now);
        Ok(Plan {
            slots: &self.claims,
            sequences: Sequences::NONE,
            next: self.wake,
            mode: Level::LOWEST,
        })
    }

    fn permit(&self, task: TaskId) -> Permit {
        match self.servers.entry(task).map(|entry| entry.container) {
            Some(Container::Global) => self.servers.permit(task),
            Some(Container::BestEffort) => Permit::Below { limit: None },
            Some(Container::Table(_) | Container::Local(_)) | None => Permit::NotAdmitted,
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.servers.clock.take_notice()
    }

    fn lost_notices(&self) -> u64 {
        self.servers.clock.lost_notices()
    }

    fn backlog(&self) -> usize {
        usize::MAX
    }

    /// What a job executes beyond its own budget comes out of the next budgets of its task.
    fn stops_at_own_limit(&self) -> bool {
        false
    }

    /// A job whose slot or budget is over waits for the next one, and a ghost leaves the CPU to lower levels alone.
    fn suspends_until_instants(&self) -> bool {
        true
    }

    fn budgets_outlive_jobs(&self) -> bool {
        true
    }

    fn ghost_of(&self, task: TaskId) -> Option<CpuId> {
        let has_it = |cpu: &Cpu| cpu.ghost == Some(task);
        let place = self.cpus.iter().position(has_it)?;
        u16::try_from(place).ok().map(CpuId)
    }

    fn ghost_time(&self, task: TaskId) -> Option<Service> {
        self.servers.ghost_time(task)
    }
}

/// Which of the two lower levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    /// Level C.
    Deadline,
    /// Level D.
    Release,
}
