//! What the threads of a run share: words that one of them writes and others read, without locks.
//!
//! A lock between threads of different priorities on one CPU would need priority inheritance, and
//! the manager would wait for a worker. Instead each word has one writer, and where two threads have
//! to agree each first writes its own word and then reads the other's:
//!
//! ```text
//! worker:   state := running job    then reads   limit, demoted_up_to
//! manager:  limit, demoted_up_to  then reads   state        (and demotes who runs a demoted job)
//! worker:   is given its priority   then reads   demoted_up_to  (as above, before each job)
//! manager:  background              then         priority := OTHER   (only of who runs)
//! worker:   state := no job         then reads   background       (and asks for its priority)
//! ```
//! All of these are sequentially consistent: at least one of the two sees the other's word, so no
//! demoted job goes on at its priority.

mod armed;
mod drops;
mod pt;
mod task;

use crate::config::{Config, Monitor, Termination};
use crate::guarantee::Guarantees;
use crate::intervals::Consumed;
use crate::managed::Managed;
use crate::meter::Accounts;
use crate::occupancy::Occupancy;
use crate::stolen::StolenLog;
use crate::sys::clock::monotonic_nanos;
use crate::sys::waiting::WakeEvent;
use crate::sys::{self, Tid};
pub(crate) use armed::Armed;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
pub(crate) use task::TaskShared;
use vestal_core::{ContractViolation, Event, Instant, JobId, Notice, Service, TaskId};

/// Threads are being started.
pub(crate) const SETUP: u32 = 0;
/// Jobs are released.
pub(crate) const RUN: u32 = 1;
/// All threads end.
pub(crate) const STOP: u32 = 2;

/// The smallest remainder worth another round of the monitor. With less, a timer on the same core
/// would fire again before the job gets to run: a livelock until RT throttling.
pub(crate) const QUANTUM_NANOS: u64 = 30_000;

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StopCause {
    Finished,
    Signal(i32),
    SetupFailed,
    BodyPanicked { task: usize, message: String },
    ManagerPanicked { message: String },
    ManagerHung,
}

/// A whole run.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) tasks: Vec<TaskShared>,
    /// Indices in `tasks`, the most urgent first.
    pub(crate) by_urgency: Vec<usize>,
    pub(crate) cpu: usize,
    pub(crate) monitor: Monitor,
    pub(crate) heartbeat_nanos: u64,
    pub(crate) termination: Termination,
    pub(crate) enforce: bool,
    /// Whether a job that used up the limit of its own level makes way for all others.
    pub(crate) stops_at_own_limit: bool,
    /// Whether deadlines are guaranteed.
    pub(crate) guarantee: bool,
    /// How many jobs of one task may wait behind its current one; `None`: any number.
    pub(crate) backlog: Option<usize>,
    pub(crate) tolerance_nanos: u64,
    /// [`SETUP`], [`RUN`], [`STOP`]; workers wait on it for their releases.
    pub(crate) phase: AtomicU32,
    /// The clock when the run began, and when it shall end.
    pub(crate) epoch: AtomicU64,
    pub(crate) end: AtomicU64,
    pub(crate) stopped_at: AtomicU64,
    halting: AtomicBool,
    pub(crate) manager_tid: AtomicI32,
    pub(crate) idle_tid: AtomicI32,
    /// Of a watchdog that shares the CPU of the run; else 0.
    pub(crate) watchdog_tid: AtomicI32,
    /// Written by the manager: the mode.
    pub(crate) mode: AtomicU8,
    /// 1: a thread wants to know when the CPU is idle; 2: none ever will again.
    pub(crate) idle_wanted: AtomicU32,
    /// The CPU was idle since the manager last looked.
    pub(crate) idle_seen: AtomicBool,
    pub(crate) occupancy: Occupancy,
    /// The clock when the manager last went round.
    pub(crate) beat: AtomicU64,
    pub(crate) stolen: StolenLog,
    /// What threads that wait had consumed when they began to.
    pub(crate) consumed: Consumed,
    /// Whether the hypervisor, if there is one, says what it takes.
    pub(crate) steal_reported: bool,
    pub(crate) guarantees: Guarantees,
    /// Until then no job is late that no thread has looked at.
    pub(crate) earliest_due: AtomicU64,
    /// What manager, idle detector and watchdog used; each writes its own when it leaves.
    pub(crate) accounts: Accounts,
    /// Under managed dispatch: the event that wakes the manager, and the plan.
    pub(crate) managed: Option<Managed>,
    /// Whether timers of the manager stand for the instants without slack of all jobs, as in the paper
    /// of [`crate::mechanism`]. Budgets are not monitored then.
    pub(crate) paper_zss: bool,
    /// Whether the manager replenishes the budget of each slice, also as in that paper.
    pub(crate) paper_pt: bool,
    /// Where the manager handles each job or each slice: how it is called.
    pub(crate) wake_event: Option<WakeEvent>,
    cause: Mutex<Option<StopCause>>,
    #[cfg(feature = "real")]
    pub(crate) fault: Option<crate::fault::Fault>,
    #[cfg(feature = "real")]
    pub(crate) passes: crate::fault::Passes,
}

impl Shared {
    pub(crate) fn new(
        mut tasks: Vec<TaskShared>,
        config: &Config,
        cpu: usize,
        monitor: Monitor,
        tolerance: Service,
    ) -> Self {
        for (task, id) in tasks.iter_mut().zip((0..).map(TaskId)) {
            task.id = id;
        }
        let mut by_urgency: Vec<usize> = (0..tasks.len()).collect();
        let consumed = Consumed::new(tasks.len());
        by_urgency.sort_by_key(|&index| tasks.get(index).map(|task| std::cmp::Reverse(task.fifo)));
        Self {
            tasks,
            by_urgency,
            cpu,
            monitor,
            heartbeat_nanos: config.heartbeat.as_nanos().max(1),
            termination: config.termination,
            enforce: config.enforce,
            stops_at_own_limit: true,
            guarantee: true,
            backlog: None,
            tolerance_nanos: tolerance.as_nanos(),
            phase: AtomicU32::new(SETUP),
            epoch: AtomicU64::new(0),
            end: AtomicU64::new(0),
            stopped_at: AtomicU64::new(0),
            halting: AtomicBool::new(false),
            manager_tid: AtomicI32::new(0),
            idle_tid: AtomicI32::new(0),
            watchdog_tid: AtomicI32::new(0),
            mode: AtomicU8::new(0),
            idle_wanted: AtomicU32::new(0),
            idle_seen: AtomicBool::new(false),
            occupancy: Occupancy::default(),
            beat: AtomicU64::new(0),
            stolen: StolenLog::new(),
            consumed,
            steal_reported: sys::clock::is_steal_reported(),
            guarantees: Guarantees::new(),
            earliest_due: AtomicU64::new(u64::MAX),
            accounts: Accounts::default(),
            managed: None,
            paper_zss: false,
            paper_pt: false,
            wake_event: None,
            cause: Mutex::new(None),
            #[cfg(feature = "real")]
            fault: None,
            #[cfg(feature = "real")]
            passes: crate::fault::Passes::default(),
        }
    }

    /// Whether each worker has an armed monitor. A manager that dispatches watches budgets with the
    /// timeout of its own wait instead, unless a monitor was chosen that counts by itself; one that
    /// handles each job has timers of its own.
    pub(crate) fn arms_monitors(&self) -> bool {
        let waits = |managed: &Managed| managed.waits_on_futex;
        self.enforce
            && !self.paper_zss
            && self.wake_event.is_none()
            && !self.managed.as_ref().is_some_and(waits)
    }

    /// The task with this number.
    pub(crate) fn task(&self, id: TaskId) -> Result<&TaskShared, ContractViolation> {
        let task = self.tasks.get(id.index());
        task.ok_or(ContractViolation::UnknownTask(id))
    }

    pub(crate) fn phase(&self) -> u32 {
        self.phase.load(Ordering::SeqCst)
    }

    /// The clock when the run began.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// The clock reading `nanos` as an instant of this world.
    pub(crate) fn instant(&self, nanos: u64) -> Instant {
        Instant::from_nanos(nanos.saturating_sub(self.epoch()))
    }

    /// The clock when job `sequence` of `task` is released.
    pub(crate) fn release_of(&self, task: &TaskShared, sequence: u64) -> u64 {
        self.epoch().saturating_add(task.release_of(sequence))
    }

    /// What workers have to know of what the scheduler says.
    pub(crate) fn note_notice(&self, notice: &Notice) {
        let task = |job: JobId| self.tasks.get(job.task.index());
        match notice.what {
            Event::Overrun { job, level, .. } => {
                if let Some(task) = task(job) {
                    task.note_overrun(job.sequence, level, notice.at.as_nanos());
                }
            }
            Event::Dropped { job, why } => {
                // A manager that dispatches knows whether the worker has the job.
                if let Some(task) = task(job)
                    && self.managed.is_none()
                {
                    task.note_drop(job.sequence, why);
                }
            }
            Event::ModeChanged { .. }
            | Event::Depleted { .. }
            | Event::Postponed { .. }
            | Event::FrameOverrun { .. }
            | Event::FramesSkipped { .. }
            | Event::Late { .. } => {}
        }
    }

    /// `task` loses its job number `sequence` and all before it.
    pub(crate) fn demote_job(&self, task: &TaskShared, sequence: u64) {
        task.demote_up_to(sequence);
        if task.running_admitted().is_none() {
            self.lose_priority(task);
        }
        match self.termination {
            Termination::Immediate => task.cancel_demoted(),
            // The idle detector says when.
            Termination::Deferred => self.want_idle(),
        }
    }

    /// The CPU is idle: time for demoted jobs to end.
    pub(crate) fn end_demoted(&self) {
        for task in &self.tasks {
            task.cancel_demoted();
        }
    }

    /// Waits until the run begins; says whether it does, and does not end before that.
    pub(crate) fn await_begin(&self) -> bool {
        loop {
            match self.phase() {
                RUN => return true,
                STOP => return false,
                phase => {
                    sys::futex::wait_until(&self.phase, phase, None);
                }
            }
        }
    }

    pub(crate) fn want_idle(&self) {
        if self.idle_wanted.swap(1, Ordering::SeqCst) == 0 {
            sys::futex::wake_all(&self.idle_wanted);
        }
    }

    pub(crate) fn kick_manager(&self) {
        self.occupancy.call(monotonic_nanos());
        match &self.managed {
            Some(managed) if managed.waits_on_futex => managed.calls.ring(),
            Some(_) | None => match &self.wake_event {
                Some(wake_event) => wake_event.signal(),
                None => sys::signal::kick(self.manager_tid.load(Ordering::SeqCst)),
            },
        }
    }

    /// Lets the monitor of `task` fire when its running job has used up what is left of its limit.
    pub(crate) fn arm_for_the_rest(&self, task: &TaskShared, monitor: &Armed) {
        if let Some(threshold) = self.threshold(task.present_limit())
            && let Some(executed) = task.executed()
        {
            monitor.start(threshold.saturating_sub(executed).max(QUANTUM_NANOS));
        }
    }

    /// Whether the run is being ended: everything is demoted then.
    pub(crate) fn stop_requested(&self) -> bool {
        self.halting.load(Ordering::SeqCst)
    }

    /// Asks for the end of the run; the first cause is the one reported.
    pub(crate) fn request_stop(&self, cause: StopCause) {
        // No thread panics while holding this lock, and the data would be whole if one did.
        let mut present = self.cause.lock().unwrap_or_else(PoisonError::into_inner);
        present.get_or_insert(cause);
    }

    pub(crate) fn stop_cause(&self) -> Option<StopCause> {
        self.cause
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Ends the run: every job loses its priority, every worker leaves the real-time class, all threads
    /// are woken to end. Called by whoever finds out first that the run is over.
    ///
    /// The thread numbers are valid here, because workers end only after the phase has changed.
    pub(crate) fn halt(&self) {
        if self.halting.swap(true, Ordering::SeqCst) {
            return;
        }
        self.stopped_at
            .store(sys::clock::monotonic_nanos(), Ordering::SeqCst);
        for task in &self.tasks {
            task.demote_all();
            task.suspension.end();
            if let Some(monitor) = task.monitor.get() {
                monitor.stop();
            }
            demote(task.tid());
        }
        if let Some(managed) = &self.managed {
            managed.calls.ring();
        }
        demote(self.idle_tid.load(Ordering::SeqCst));
        self.phase.store(STOP, Ordering::SeqCst);
        self.idle_wanted.store(2, Ordering::SeqCst);
        sys::futex::wake_all(&self.phase);
        sys::futex::wake_all(&self.idle_wanted);
        sys::stop::CALLS.call();
        for task in &self.tasks {
            task.handover.changes.ring();
            task.release_counter.calls.ring();
        }
    }
}

/// Takes a thread out of the real-time class. A worker that has not started has no number yet.
fn demote(tid: Tid) {
    if tid != 0 {
        // Leaving the real-time class needs no right; the thread exists (see `halt`).
        let _ = sys::sched::set_other(tid);
    }
}
