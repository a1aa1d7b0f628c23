//! One CPU, two levels: fixed priority over servers, and inside each server fixed priority or EDF
//! over its tasks. Bottom halves of interrupts are tasks of a server like any other.
//!
//! The most urgent server that has budget runs its most urgent ready job; an idling server that has
//! budget and no ready job keeps the CPU idle. What a server may execute and when its budget comes back
//! is the business of [`crate::server`]; the life of a task's current job is this:
//!
//! ```text
//!  released, interrupt (1)          blocked (2)
//!  ----------------------> ready ---------------> blocked
//!     ^                     |  ^                     |
//!     | backlog (3)         |  +------ woken (1) ----+
//!     +----- completed (3) -+----> gone
//! ```
//! (1) `admit`, (2) `settle_end`, (3) `settle_end`, then `next_job`.
//!
//! Holenderski, Cools, Bril and Lukkien (2010) for polling, idling and deferrable servers; Missimer,
//! Missimer and West (2016) for sporadic servers and PIBS.
//!
//! `decide` settles in the order of C3: servers that idle are charged by time; completions and blocked
//! jobs; charges, and with them exhaustion; jobs that used more than the mode allows; a requested mode;
//! replenishments; the idle instant; woken, interrupted and released tasks in task order; a requested mode that only
//! these are about; servers without work, and the activation of PIBS; selection.
//!
//! **Modes.** Capacities are indexed by mode. When it changes, and what becomes of jobs then, is the business of
//! [`Modes`] and stands in `modes.rs` and `overruns.rs`.
//!
//! Invariants: I1 those of every server; I2 a server's counts of ready and pending tasks are those of
//! its tasks; I3 a ready task has a current job that is not blocked; I4 a backlog stands behind a
//! current job. [`Hierarchy::check_invariants`] checks them after every decision in the tests.
//!
//! Assumptions: A1 a bottom half does the work of one interrupt, in order of arrival; A2 blocking and
//! waking are the world's (how many events a job waits for is not known here); A3 a task's events that
//! wait together for a PIBS run on behalf of one host, in each mode the most urgent that may be served in it.
//!
//! Complexity: `apply` O(1); `decide` O(facts + servers + tasks of the selected server), O(tasks of
//! the server) more when a PIBS is activated; O(length of the list) for a sporadic server; O(tasks) more at a mode change
//! and, under [`Modes::Adaptive`], where the mode is raised or asked for.

mod activation;
pub mod configuration;
mod facts;
mod modes;
mod overruns;
mod select;
mod settle;

#[cfg(test)]
mod counterexamples;

pub use configuration::{
    DeviceConfiguration, HierarchyConfiguration, HierarchyError, LocalOrder, Modes, ServedTask,
    ServerConfiguration,
};

use crate::engine::clock::Clock;
use crate::engine::uniprocessor::{CPU, on_this};
use crate::fact::Fact;
use crate::ids::{DeviceId, JobId, ServerId, TaskId};
use crate::job_table::Jobs;
use crate::model::{Level, LevelSet};
use crate::notice::Notice;
use crate::plan::{Permit, Plan, Sequences, Slot, Until, Wake};
use crate::queue::{Cursor, TaskBits};
use crate::scheduler::{ContractViolation, Listed, Scheduler};
use crate::server::{ByLevel, Chunk, Server};
use crate::store::{Boxed, Entry, Store};
use crate::time::{Instant, Service};
use core::cmp::Reverse;
use core::ops::Range;

/// What is known of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Work {
    jobs: Jobs,
    /// Whether it is the bottom half of a device.
    bottom_half: bool,
    /// Interrupts behind the current job.
    interrupts: u32,
    /// On whose behalf its jobs run in each mode, if its server is a PIBS.
    hosts: ByLevel<Option<ServerId>>,
    blocked: bool,
    /// Its current job was pending when the mode returned: no analysis covers it, and it raises no mode.
    resumed: bool,
    /// Its current job was said to have used up its own level's execution time.
    overran_own: bool,
    /// Counted as ready with its server.
    ready: bool,
    /// Counted as pending with its server.
    pending: bool,
    staged: Staged,
}

/// What facts said about a task since the last decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Staged {
    blocked_at: Option<Instant>,
    woken_at: Option<Instant>,
    /// On whose behalf events have come, by mode.
    woken_for: ByLevel<Option<ServerId>>,
    interrupts: u32,
    /// The current job has run, for however short a time.
    charged: bool,
}

impl Staged {
    const NOTHING: Self = Self {
        blocked_at: None,
        woken_at: None,
        woken_for: ByLevel::constant(None),
        interrupts: 0,
        charged: false,
    };
}

/// A server and what the engine counts for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seat {
    configuration: ServerConfiguration,
    server: Server,
    /// Its part of the table of chunks.
    chunks: Range<usize>,
    /// Its part of the table of members.
    members: Range<usize>,
    ready: usize,
    pending: usize,
    /// It had a ready task after the last decision.
    had_work: bool,
    /// When work came for it first since the last decision.
    work_came: Option<Instant>,
    /// Execution charged since the last decision.
    charged: Service,
    /// When a job of it was first confirmed to run since the last decision.
    started: Option<Instant>,
    /// Its budget was used up since the last decision.
    ran_out: bool,
}

/// The engine for hierarchical scheduling on one CPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hierarchy<S: Store = Boxed> {
    seats: S::Table<Seat>,
    /// The replenishment lists of all sporadic servers.
    chunks: S::Table<Chunk>,
    tasks: S::Table<ServedTask>,
    /// The tasks by server, then by urgency in it.
    members: S::Table<TaskId>,
    devices: S::Table<DeviceConfiguration>,
    levels: LevelSet,
    modes: Modes,
    granularity: Service,

    work: S::Table<Work>,
    /// Tasks with facts since the last decision.
    dirty: TaskBits<S>,
    requested: Option<Level>,
    mode: Level,
    clock: Clock<S>,
    /// What the world confirmed to be running last (C5).
    running: Option<JobId>,
    /// It left the CPU since the last decision: it may still be charged what it executed before.
    left: bool,
    /// The server that has the CPU without work, since the last decision.
    idler: Option<ServerId>,
    slots: [Option<Slot>; 1],
    wake: Option<Wake>,
}

impl Hierarchy<Boxed> {
    /// An engine whose tables are on the heap.
    ///
    /// # Errors
    /// [`HierarchyError`].
    pub fn new(configuration: &HierarchyConfiguration<'_>) -> Result<Self, HierarchyError> {
        Self::with_store(configuration)
    }
}

impl<S: Store> Hierarchy<S> {
    /// An engine whose tables are where `S` says.
    ///
    /// # Errors
    /// [`HierarchyError`].
    pub fn with_store(configuration: &HierarchyConfiguration<'_>) -> Result<Self, HierarchyError> {
        configuration.check()?;
        let mut chunks_len = 0_usize;
        for server in configuration.servers {
            chunks_len = chunks_len.saturating_add(server.kind.replenishments().into());
        }
        let mut chunks = table::<S, _>(chunks_len, Chunk::NONE)?;
        let members = members::<S>(configuration.tasks)?;
        let seats = seats::<S>(configuration, &mut chunks, &members)?;
        let count = configuration.tasks.len();
        let first = *configuration.tasks.first().ok_or(HierarchyError::NoTasks)?;
        let mut work = table::<S, _>(count, NO_WORK)?;
        for (entry, task) in work.iter_mut().zip(configuration.tasks) {
            entry.hosts = ByLevel::constant(task.on_behalf_of);
        }
        for device in configuration.devices {
            if let Some(entry) = work.get_mut(device.bottom_half.index()) {
                entry.bottom_half = true;
            }
        }
        Ok(Self {
            seats,
            chunks,
            tasks: copied::<S, _>(configuration.tasks, first)?,
            members,
            devices: copied::<S, _>(configuration.devices, NO_DEVICE)?,
            levels: configuration.levels,
            modes: configuration.modes,
            granularity: configuration.granularity,
            work,
            dirty: TaskBits::new(count).ok_or(HierarchyError::TooMany { found: count })?,
            requested: None,
            mode: Level::LOWEST,
            // A server gives less than a task can: it is depleted, or postpones.
            clock: Clock::new(
                configuration.wake_granularity,
                count.saturating_add(configuration.servers.len()),
            ),
            running: None,
            left: false,
            idler: None,
            slots: [None],
            wake: None,
        })
    }

    /// The mode as of the last decision.
    #[must_use]
    pub const fn mode(&self) -> Level {
        self.mode
    }

    /// The job that the world confirmed to be running.
    #[must_use]
    pub const fn running(&self) -> Option<JobId> {
        if self.left { None } else { self.running }
    }

    /// The server that has the CPU without work since the last decision.
    #[must_use]
    pub const fn idling(&self) -> Option<ServerId> {
        self.idler
    }

    /// The state of a server as of the last decision.
    #[must_use]
    pub fn server(&self, server: ServerId) -> Option<&Server> {
        self.seats.get(server.index()).map(|seat| &seat.server)
    }

    /// What a server could execute at the last decision before it had to be asked again.
    #[must_use]
    pub fn remaining(&self, server: ServerId) -> Option<Service> {
        let seat = self.seats.get(server.index())?;
        Some(self.remaining_of(seat))
    }

    /// The replenishments of a sporadic server; nothing for the other kinds.
    #[must_use]
    pub fn replenishments(&self, server: ServerId) -> &[Chunk] {
        match self.seats.get(server.index()) {
            Some(Seat {
                server: Server::Sporadic(sporadic),
                chunks,
                ..
            }) => sporadic.list(self.chunks.get(chunks.clone()).unwrap_or(&[])),
            Some(_) | None => &[],
        }
    }

    /// How many interrupts of a device wait for their bottom half, the one being served included.
    #[must_use]
    pub fn interrupts_pending(&self, device: DeviceId) -> Option<u64> {
        let task = self.devices.get(device.index())?.bottom_half;
        let work = self.work.get(task.index())?;
        Some(u64::from(work.interrupts).saturating_add(u64::from(work.pending)))
    }

    /// Whether the invariants of this module hold; for tests.
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        let tasks_hold = self.work.iter().all(|work| {
            let current = work.jobs.current.is_some();
            work.pending == current
                && work.ready == (current && !work.blocked)
                && (current || (work.jobs.waiting.is_empty() && work.interrupts == 0))
        });
        let seats_hold = self.seats.iter().all(|seat| {
            let chunks = self.chunks.get(seat.chunks.clone()).unwrap_or(&[]);
            let members = self.members.get(seat.members.clone()).unwrap_or(&[]);
            let count = |of: fn(&Work) -> bool| {
                let member = |task: &&TaskId| self.work.get(task.index()).is_some_and(of);
                members.iter().filter(member).count()
            };
            seat.server.is_consistent(chunks)
                && seat.ready == count(|work| work.ready)
                && seat.pending == count(|work| work.pending)
        });
        tasks_hold && seats_hold
    }

    fn remaining_of(&self, seat: &Seat) -> Service {
        let chunks = self.chunks.get(seat.chunks.clone()).unwrap_or(&[]);
        seat.server.remaining(chunks, self.clock.now)
    }

    /// A server together with its part of the table of chunks.
    fn seat_mut(&mut self, server: ServerId) -> Option<(&mut Seat, &mut [Chunk])> {
        let seat = self.seats.get_mut(server.index())?;
        let chunks = self.chunks.get_mut(seat.chunks.clone())?;
        Some((seat, chunks))
    }

    /// Visits all servers in their order.
    fn for_servers(&mut self, mut settle: impl FnMut(&mut Self, ServerId)) {
        for index in 0..self.seats.len() {
            if let Ok(number) = u16::try_from(index) {
                settle(self, ServerId(number));
            }
        }
    }

    /// Visits all tasks in their order.
    fn for_tasks(&mut self, mut settle: impl FnMut(&mut Self, TaskId)) {
        for (number, _) in (0..u16::MAX).zip(0..self.work.len()) {
            settle(self, TaskId(number));
        }
    }

    /// Visits the tasks with facts, in task order.
    fn for_dirty(&mut self, mut settle: impl FnMut(&mut Self, TaskId)) {
        let mut cursor = Cursor::default();
        while let Some(task) = self.dirty.next(&mut cursor) {
            settle(self, task);
        }
    }
}

const NO_DEVICE: DeviceConfiguration = DeviceConfiguration {
    bottom_half: TaskId(0),
};

const NO_WORK: Work = Work {
    jobs: Jobs::NONE,
    bottom_half: false,
    interrupts: 0,
    hosts: ByLevel::constant(None),
    blocked: false,
    resumed: false,
    overran_own: false,
    ready: false,
    pending: false,
    staged: Staged::NOTHING,
};

fn table<S: Store, T: Entry>(len: usize, initial: T) -> Result<S::Table<T>, HierarchyError> {
    S::table(len, initial).ok_or(HierarchyError::TooMany { found: len })
}

fn copied<S: Store, T: Entry + Copy>(list: &[T], filler: T) -> Result<S::Table<T>, HierarchyError> {
    let found = list.len();
    S::copied(list, filler).ok_or(HierarchyError::TooMany { found })
}

fn members<S: Store>(tasks: &[ServedTask]) -> Result<S::Table<TaskId>, HierarchyError> {
    let mut members = table::<S, _>(tasks.len(), TaskId(0))?;
    let key = |task: TaskId| {
        let entry = tasks.get(task.index());
        entry.map(|entry| (entry.server, Reverse(entry.priority), task))
    };
    // Sorted by insertion, because that needs neither a buffer nor code that could panic.
    for (number, done) in (0..u16::MAX).zip(0..tasks.len()) {
        let mut carried = TaskId(number);
        let sorted = members.get(..done).unwrap_or(&[]);
        let position = sorted.partition_point(|&other| key(other) < key(carried));
        for entry in members
            .iter_mut()
            .take(done.saturating_add(1))
            .skip(position)
        {
            core::mem::swap(entry, &mut carried);
        }
    }
    Ok(members)
}

fn seats<S: Store>(
    configuration: &HierarchyConfiguration<'_>,
    chunks: &mut [Chunk],
    members: &[TaskId],
) -> Result<S::Table<Seat>, HierarchyError> {
    let found = configuration.servers.len();
    let mut next_chunk = 0_usize;
    let mut next_member = 0_usize;
    let mut seats: Option<S::Table<Seat>> = None;
    for (index, server) in configuration.servers.iter().enumerate() {
        let list = usize::from(server.kind.replenishments());
        let range = next_chunk..next_chunk.saturating_add(list);
        next_chunk = range.end;
        let tasks = configuration.tasks;
        let own = |task: &TaskId| {
            tasks
                .get(task.index())
                .is_some_and(|task| task.server.index() <= index)
        };
        let members = next_member..members.partition_point(own);
        next_member = members.end;
        let positions = chunks
            .get_mut(range.clone())
            .ok_or(HierarchyError::TooMany { found })?;
        let seat = Seat {
            configuration: *server,
            server: Server::new(&server.kind, Level::LOWEST, positions),
            chunks: range,
            members,
            ready: 0,
            pending: 0,
            had_work: false,
            work_came: None,
            charged: Service::ZERO,
            started: None,
            ran_out: false,
        };
        let seats = match &mut seats {
            Some(seats) => seats,
            None => seats.insert(table::<S, _>(found, seat.clone())?),
        };
        if let Some(entry) = seats.get_mut(index) {
            *entry = seat;
        }
    }
    seats.ok_or(HierarchyError::NoServers)
}

impl<S: Store> Scheduler for Hierarchy<S> {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        if at > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(at));
        }
        match fact {
            Fact::Released { job } => self.release(at, job),
            Fact::Charged { cpu, job, amount } => {
                on_this(cpu).and_then(|()| self.charge(job, amount))
            }
            Fact::Completed { cpu, job } => on_this(cpu).and_then(|()| self.complete(job)),
            Fact::Started { cpu, job } => on_this(cpu).and_then(|()| self.start(at, job)),
            Fact::Stopped { cpu, job, why } => on_this(cpu).and_then(|()| self.stop(at, job, why)),
            Fact::Interrupt { device, count } => self.interrupt(device, count),
            Fact::Woken { task, on_behalf_of } => self.wake_up(at, task, on_behalf_of),
            Fact::ModeRequested { level } => {
                self.requested = self.requested.max(Some(level));
                Ok(())
            }
            // This engine sees every job: it knows when nothing is pending.
            Fact::Idle { cpu } => on_this(cpu),
            Fact::Timer => Ok(()),
            Fact::BarrierReached { .. } | Fact::CpuOpen { .. } => {
                Err(ContractViolation::NotOfThisPolicy)
            }
        }
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        let since_last = self.clock.advance(now, self.wake)?;
        self.running = self.running();
        self.left = false;
        self.settle_idling(since_last);
        self.for_dirty(Self::settle_end);
        self.for_servers(Self::settle_charge);
        self.settle_overruns();
        self.settle_mode_request();
        self.for_servers(Self::settle_replenishment);
        self.settle_idle_instant();
        self.for_dirty(Self::admit);
        self.settle_mode_request();
        self.requested = None;
        self.dirty.clear();
        self.for_servers(Self::settle_work);
        self.select();
        Ok(Plan {
            sequences: Sequences::NONE,
            slots: &self.slots,
            next: self.wake,
            mode: self.mode,
        })
    }

    fn permit(&self, task: TaskId) -> Permit {
        let Some(seat) = self
            .tasks
            .get(task.index())
            .and_then(|entry| self.seats.get(entry.server.index()))
        else {
            return Permit::NotAdmitted;
        };
        if !self.admits(task) {
            Permit::NotAdmitted
        } else if self.remaining_of(seat).is_zero() {
            Permit::Suspended {
                until: Until::Event,
            }
        } else {
            // The limit is the server's, and other tasks draw on it as well.
            Permit::Run { limit: None }
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.clock.take_notice()
    }

    fn lost_notices(&self) -> u64 {
        self.clock.lost_notices()
    }

    /// Jobs have no limits of their own; what they use is bounded by their servers.
    fn stops_at_own_limit(&self) -> bool {
        false
    }

    /// A job whose server has no budget waits for the replenishment, and while a server idles nothing below it runs.
    fn suspends_until_instants(&self) -> bool {
        true
    }

    fn budgets_outlive_jobs(&self) -> bool {
        true
    }

    fn listed(&self, server: ServerId) -> Option<Listed> {
        let seat = self.seats.get(server.index())?;
        let chunks = self.chunks.get(seat.chunks.clone())?;
        match &seat.server {
            Server::Sporadic(sporadic) => {
                let amounts = sporadic.list(chunks).iter().map(|chunk| chunk.amount);
                Some(Listed {
                    sum: amounts.fold(Service::ZERO, Service::saturating_add),
                    capacity: seat.configuration.kind.capacity()?.at(self.mode),
                })
            }
            Server::Periodic(_) | Server::Pibs(_) => None,
        }
    }

    fn longest_list(&self, server: ServerId) -> Option<u16> {
        match self.server(server)? {
            Server::Sporadic(sporadic) => u16::try_from(sporadic.longest()).ok(),
            Server::Periodic(_) | Server::Pibs(_) => None,
        }
    }
}
