//! What the threads of a run share: words that one of them writes and others read, without locks.
//!
//! A lock between threads of different priorities on one CPU would need priority inheritance, and
//! the manager would wait for a worker. Instead the words are those of [`crate::words`]: one thread writes and others
//! read, or two sides read-modify-write the same word.
//!
//! ```text
//! worker:   begins a job in the job's word    then reads   what is revoked, the next allowance
//! manager:  revokes, sets the allowance       then looks   at that word, and demotes there who runs
//! worker:   ends the job in that word         and learns whether it was demoted: then it asks for its priority
//! manager:  raises a worker                   then looks   whether the run ends, and lowers it again if so
//! ```
//! So no revoked job goes on at its priority, and nobody stays raised when the run ends.

mod call;

use crate::account::Note;
use crate::armed::{Armed, QUANTUM_NANOS};
use crate::config::Config;
use crate::duties::Duties;
use crate::managed::Managed;
use crate::meter::Accounts;
use crate::monitor::Monitor;
use crate::notes::{NoteLog, Online, channel};
use crate::run::Run;
use crate::sys::clock::monotonic_nanos;
use crate::sys::{self, Processor, Tid};
use crate::task::TaskShared;
use crate::words::{Allowance, Beat, Cause, Latest, Phase, Question, Stage};
use crate::zss::Rank;
pub(crate) use call::Call;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use vestal_core::{ContractViolation, CpuId, Instant, Service, TaskId};

/// One CPU of a run's set: all that its threads share. No other CPU's block can be reached from here.
#[derive(Debug)]
pub(crate) struct Cpu {
    /// What it has in common with the other CPUs of the set.
    pub(crate) run: Arc<Run>,
    /// Its number in the set.
    pub(crate) id: CpuId,
    pub(crate) tasks: Vec<TaskShared>,
    /// Indices in `tasks`, the most urgent first.
    pub(crate) by_urgency: Vec<usize>,
    /// The processor that it runs on.
    pub(crate) processor: Processor,
    pub(crate) monitor: Monitor,
    /// How often the manager looks at budgets whether there is a reason or not, if it does.
    pub(crate) heartbeat_nanos: Option<u64>,
    /// Whether a job that used up the limit of its own level makes way for all others.
    pub(crate) stops_at_own_limit: bool,
    /// Whether deadlines are guaranteed.
    pub(crate) guarantee: bool,
    /// How many jobs of one task may wait behind its current one; `None`: any number.
    pub(crate) backlog: Option<usize>,
    pub(crate) tolerance_nanos: u64,
    /// Where this CPU stands; workers wait on it for their releases.
    pub(crate) phase: Arc<Phase>,
    /// The clock when this CPU ended.
    pub(crate) stopped_at: Latest<u64>,
    pub(crate) manager_tid: Latest<Tid>,
    pub(crate) idle_tid: Latest<Tid>,
    /// Of a watchdog that lives on its processor; else 0.
    pub(crate) watchdog_tid: Latest<Tid>,
    /// Written by the manager: the mode.
    pub(crate) mode: Latest<u8>,
    /// Whether the CPU is idle.
    pub(crate) question: Question,
    /// What the threads of the run note.
    pub(crate) notes: Arc<NoteLog>,
    /// What somebody reads of that while the run goes on.
    pub(crate) online: Online,
    /// Of the manager.
    pub(crate) beat: Beat,
    /// What manager and idle detector used; each writes its own when it leaves.
    pub(crate) accounts: Accounts,
    /// Under managed dispatch: the plan.
    pub(crate) managed: Option<Managed>,
    /// Who does what: set before any thread starts, as is how the manager is called.
    pub(crate) duties: Duties,
    pub(crate) call: Call,
    /// The text of a panic of its manager; written before the stop that it is about.
    manager_panic: OnceLock<String>,
    #[cfg(feature = "real")]
    pub(crate) injected: crate::fault::Injected,
}

#[cfg(feature = "real")]
impl crate::fault::Faulty for Cpu {
    fn injected(&self) -> &crate::fault::Injected {
        &self.injected
    }

    fn phase(&self) -> &Phase {
        &self.phase
    }

    fn begun(&self) -> u64 {
        self.run.epoch()
    }
}

impl Cpu {
    /// CPU 0 of a run of its own; whoever makes a set gives it [`Self::run`] and [`Self::id`].
    pub(crate) fn new(
        mut tasks: Vec<TaskShared>,
        config: &Config,
        processor: Processor,
        monitor: Monitor,
        tolerance: Service,
    ) -> Self {
        let phase: Arc<Phase> = Arc::default();
        for (task, id) in tasks.iter_mut().zip((0..).map(TaskId)) {
            task.id = id;
            task.phase = Arc::clone(&phase);
        }
        let mut by_urgency: Vec<usize> = (0..tasks.len()).collect();
        let online = Online::new(tasks.len());
        by_urgency.sort_by_key(|&index| tasks.get(index).map(|task| std::cmp::Reverse(task.fifo)));
        Self {
            run: Arc::new(Run::new(config)),
            id: CpuId(0),
            tasks,
            by_urgency,
            processor,
            monitor,
            heartbeat_nanos: (monitor == Monitor::Heartbeat)
                .then(|| config.heartbeat.as_nanos().max(1)),
            stops_at_own_limit: true,
            guarantee: true,
            backlog: None,
            tolerance_nanos: tolerance.as_nanos(),
            phase,
            stopped_at: Latest::default(),
            manager_tid: Latest::default(),
            idle_tid: Latest::default(),
            watchdog_tid: Latest::default(),
            mode: Latest::default(),
            question: Question::default(),
            // The run's own is put here when it is known how much it has to hold.
            notes: channel(1).0,
            online,
            beat: Beat::default(),
            accounts: Accounts::default(),
            managed: None,
            duties: Duties::native(config.enforce),
            call: Call::Signal,
            manager_panic: OnceLock::new(),
            #[cfg(feature = "real")]
            injected: crate::fault::Injected::default(),
        }
    }

    /// Of a test: native, with the usual configuration.
    #[cfg(test)]
    pub(crate) fn in_test(tasks: Vec<TaskShared>) -> Self {
        let config = Config::new();
        Self::new(
            tasks,
            &config,
            Processor(0),
            Monitor::Manager,
            Service::ZERO,
        )
    }

    /// Whether workers have wall timers, which stand still while their jobs are preempted.
    pub(crate) fn has_wall_monitors(&self) -> bool {
        self.monitor == Monitor::Manager && self.duties.has_monitors
    }

    /// The task with this number.
    pub(crate) fn task(&self, id: TaskId) -> Result<&TaskShared, ContractViolation> {
        let task = self.tasks.get(id.index());
        task.ok_or(ContractViolation::UnknownTask(id))
    }

    /// Whether jobs are released.
    pub(crate) fn is_running(&self) -> bool {
        self.phase.stage() == Stage::Running
    }

    /// The clock when the run began.
    pub(crate) fn epoch(&self) -> u64 {
        self.run.epoch()
    }

    /// The clock reading `nanos` as an instant of this world.
    pub(crate) fn instant(&self, nanos: u64) -> Instant {
        self.run.instant(nanos)
    }

    /// The clock when job `sequence` of `task` is released.
    pub(crate) fn release_of(&self, task: &TaskShared, sequence: u64) -> u64 {
        self.epoch().saturating_add(task.release_of(sequence))
    }

    pub(crate) fn want_idle(&self) {
        self.question.ask();
    }

    pub(crate) fn kick_manager(&self) {
        self.online.call(monotonic_nanos());
        self.call.call(self.manager_tid.get());
    }

    /// Lets the monitor of `task` fire when its running job has used up what is left of its limit.
    pub(crate) fn arm_for_the_rest(&self, task: &TaskShared, monitor: &Armed) {
        self.arm(task, monitor, |threshold| {
            let rest = threshold.saturating_sub(task.executed()?);
            Some(rest.max(QUANTUM_NANOS))
        });
    }

    /// Lets it fire after `rest` of what the present allowance is. The allowance is read again afterwards: whoever changed it
    /// meanwhile may have armed the monitor before this did.
    pub(crate) fn arm(
        &self,
        task: &TaskShared,
        monitor: &Armed,
        rest: impl Fn(u64) -> Option<u64>,
    ) {
        let mut allowance = task.present_limit();
        loop {
            if let Some(threshold) = self.threshold(allowance)
                && let Some(rest) = rest(threshold)
            {
                monitor.start(rest);
            }
            let again = task.present_limit_again();
            if again == allowance {
                return;
            }
            allowance = again;
        }
    }

    /// Writes a note when the run is over, however long it takes until there is room for it: a second at most.
    pub(crate) fn note_patiently(&self, note: Note) {
        const PATIENCE_NANOS: u64 = 1_000_000_000;
        const POLL_NANOS: u64 = 1_000_000;
        let never = AtomicU32::new(0);
        let until = monotonic_nanos().saturating_add(PATIENCE_NANOS);
        loop {
            let now = monotonic_nanos();
            if self.notes.has_room() || now >= until {
                break;
            }
            sys::futex::wait_until(&never, 0, Some(now + POLL_NANOS));
        }
        self.notes.write(note);
    }

    /// Calls the manager because the end of a job was awaited. Last of all that a worker does about a job:
    /// whoever was suspended may go on at once.
    pub(crate) fn report_end(&self) {
        if !self.stop_requested() {
            self.kick_manager();
        }
    }

    /// The tasks as they stand just now, the most urgent first.
    pub(crate) fn by_rank(&self) -> impl Iterator<Item = &TaskShared> {
        Rank::ALL.into_iter().flat_map(|rank| {
            let tasks = self.by_urgency.iter();
            let tasks = tasks.filter_map(|&index| self.tasks.get(index));
            tasks.filter(move |task| task.rank() == rank)
        })
    }

    /// The execution at which a job with `limit` has overrun; `None`: never.
    pub(crate) fn threshold(&self, limit: Allowance) -> Option<u64> {
        match limit {
            Allowance::UpTo(limit) if self.duties.enforces => {
                Some(limit.saturating_add(self.tolerance_nanos))
            }
            Allowance::UpTo(_) | Allowance::NotAdmitted | Allowance::Unlimited => None,
        }
    }

    /// Whether this CPU is being ended: everything is demoted then.
    pub(crate) fn stop_requested(&self) -> bool {
        self.phase.is_ending()
    }

    /// The body of a job of `task` panicked: the run is to end, and the body is never called again.
    pub(crate) fn stop_for_body(&self, task: &TaskShared, message: String) {
        let _ = task.panic.set(message);
        let (cpu, task) = (self.id.0, task.id.0);
        self.run.request_stop(Cause::BodyPanicked { cpu, task });
    }

    /// The manager panicked, or its decider refused what it said: the run is to end.
    pub(crate) fn stop_for_manager(&self, message: String) {
        let _ = self.manager_panic.set(message);
        self.run.request_stop(Cause::ManagerPanicked(self.id.0));
    }

    /// The text of the panic of a body of this task.
    pub(crate) fn panic_of(&self, task: TaskId) -> Option<(&TaskShared, String)> {
        let task = self.tasks.get(task.index())?;
        Some((task, task.panic.get().cloned().unwrap_or_default()))
    }

    /// The text of a panic of its manager.
    pub(crate) fn panic_of_manager(&self) -> String {
        self.manager_panic.get().cloned().unwrap_or_default()
    }

    /// Ends this CPU: every job loses its priority, every worker leaves the real-time class, all threads
    /// are woken to end. Called by its manager, or by the watchdog for a manager that hangs.
    ///
    /// The thread numbers are valid here, because workers end only after the phase has changed.
    pub(crate) fn halt(&self) {
        if !self.phase.end() {
            return;
        }
        self.stopped_at.set(sys::clock::monotonic_nanos());
        for task in &self.tasks {
            task.suspension.end();
            if let Some(monitor) = task.monitor.get() {
                monitor.stop();
            }
            demote(task.tid());
        }
        if let Call::Futex(bell) = &self.call {
            bell.ring();
        }
        demote(self.idle_tid.get());
        self.phase.close();
        self.question.end();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::timer::SignalTimer;
    use crate::words::Allowance;
    use std::cell::RefCell;
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    const SECOND: u64 = 1_000_000_000;

    fn shared() -> Cpu {
        let wcet = Wcet::new(&[Service::from_nanos(9 * SECOND)]).unwrap();
        let period = Duration::from_nanos(10 * SECOND);
        let task = Task::new(Level(0), period, period, wcet).unwrap();
        let configuration = TaskConfiguration::new(task, 1);
        let allowance = Allowance::UpTo(9 * SECOND);
        let task = TaskShared::new("task".to_owned(), configuration, 0, 2, allowance);
        let mut shared = Cpu::in_test(vec![task]);
        shared.duties.enforces = true;
        shared
    }

    /// The manager comes between the worker's look at the allowance and its setting of the monitor: that was armed with
    /// what the worker had read, where it did not read again.
    #[test]
    fn a_monitor_is_armed_with_what_the_allowance_was_lowered_to_meanwhile() {
        let shared = shared();
        let task = &shared.tasks[0];
        let monitor = Armed::Wall(SignalTimer::wall(sys::sched::own_tid()).unwrap());
        let armed = RefCell::new(Vec::new());
        shared.arm(task, &monitor, |threshold| {
            task.next.set(Allowance::UpTo(7 * SECOND));
            armed.borrow_mut().push(threshold);
            Some(threshold)
        });
        assert_eq!(armed.into_inner(), [9 * SECOND, 7 * SECOND]);
        let Armed::Wall(timer) = &monitor else {
            panic!("it is one");
        };
        assert!((6 * SECOND..=7 * SECOND).contains(&timer.remaining()));
        monitor.stop();
    }

    #[test]
    fn what_a_sliced_job_was_granted_follows_the_manager_until_that_grants_more() {
        let shared = shared();
        let (first, lower) = (Allowance::UpTo(9 * SECOND), Allowance::UpTo(7 * SECOND));
        let sliced = || {
            let task = &shared.tasks[0];
            TaskShared::new("task".to_owned(), task.configuration, 0, 2, first).in_slices()
        };
        let task = sliced();
        assert_eq!(task.grant_first(), first);
        task.next.set(lower);
        assert_eq!(
            (task.grant_again(first), task.present_limit()),
            (lower, lower)
        );
        let task = sliced();
        assert_eq!(task.grant_first(), first);
        task.next.set(lower);
        let more = Allowance::UpTo(8 * SECOND);
        task.grant(more);
        assert_eq!(
            (task.grant_again(first), task.present_limit()),
            (lower, more)
        );
    }
}
