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
mod monitors;
mod planned;
mod terms;

use crate::device::Devices;
use crate::meter::Accounts;
use crate::notes::{NoteLog, Online, channel};
use crate::run::Run;
use crate::sys::clock::monotonic_nanos;
use crate::sys::{self, Processor, Tid};
use crate::task::Tasks;
use crate::words::{Beat, Cause, Latest, Phase, Question, Stage};
pub(crate) use call::Call;
pub(crate) use monitors::{JobWatch, count_activation};
pub(crate) use planned::Planned;
use std::sync::{Arc, OnceLock, Weak};
pub(crate) use terms::{ActivationBound, Terms};
use vestal_core::{CpuId, Instant, TaskId};

/// One CPU of a run's set: all that its threads share. No other CPU's block can be reached from here.
#[derive(Debug)]
pub(crate) struct Cpu {
    /// What it has in common with the other CPUs of the set.
    pub(crate) run: Arc<Run>,
    /// Its number in the set.
    pub(crate) id: CpuId,
    pub(crate) tasks: Tasks,
    /// The processor that it runs on.
    pub(crate) processor: Processor,
    pub(crate) terms: Terms,
    /// Where this CPU stands; workers wait on it for their releases.
    pub(crate) phase: Arc<Phase>,
    /// The clock when this CPU ended.
    pub(crate) stopped_at: Latest<u64>,
    pub(crate) manager_tid: Latest<Tid>,
    pub(crate) idle_tid: Latest<Tid>,
    /// Of a watchdog that lives on its processor; else 0.
    pub(crate) watchdog_tid: Latest<Tid>,
    /// Of a thread that dispatches arrivals on its processor; else 0.
    pub(crate) dispatcher_tid: Latest<Tid>,
    /// Scheduler and checker of a frame table by the threads of a paper, if they are here; else 0.
    pub(crate) frame_tids: [Latest<Tid>; 2],
    /// Of a thread that waits for devices; else 0.
    pub(crate) top_half_tid: Latest<Tid>,
    /// Those whose bottom halves run here.
    pub(crate) devices: Devices,
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
    pub(crate) planned: Option<Planned>,
    /// How the manager is called.
    pub(crate) call: Call,
    /// Of workers that are not always on the same CPU: all that may have them.
    pub(crate) hosts: OnceLock<Box<[Arc<Cpu>]>>,
    /// Of a CPU that may have such workers: their block, which ends first.
    pub(crate) guests: OnceLock<Weak<Cpu>>,
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
    /// CPU 0 of `run`, native; whoever makes a set gives it [`Self::id`], and says what is different.
    pub(crate) fn new(run: &Arc<Run>, tasks: Tasks, processor: Processor, terms: Terms) -> Self {
        Self {
            run: Arc::clone(run),
            id: CpuId(0),
            processor,
            terms,
            phase: Arc::clone(&tasks.phase),
            stopped_at: Latest::default(),
            manager_tid: Latest::default(),
            idle_tid: Latest::default(),
            watchdog_tid: Latest::default(),
            dispatcher_tid: Latest::default(),
            frame_tids: Default::default(),
            top_half_tid: Latest::default(),
            devices: Devices::default(),
            mode: Latest::default(),
            question: Question::default(),
            // The run's own is put here when it is known how much it has to hold.
            notes: channel(1).0,
            online: Online::new(tasks.len()),
            tasks,
            beat: Beat::default(),
            accounts: Accounts::default(),
            planned: None,
            call: Call::Signal,
            hosts: OnceLock::new(),
            guests: OnceLock::new(),
            manager_panic: OnceLock::new(),
            #[cfg(feature = "real")]
            injected: crate::fault::Injected::default(),
        }
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

    pub(crate) fn want_idle(&self) {
        self.question.ask();
    }

    /// The job with this number of `task` begins on the calling thread.
    pub(crate) fn begin_job(&self, task: TaskId, sequence: u64) {
        self.pause_preempted(task);
        if let Some(marker) = &self.run.marker
            && let Ok(task) = self.tasks.of(task)
        {
            marker.begin_job(&task.name, sequence);
        }
    }

    /// The body of a job that began so has returned.
    pub(crate) fn end_job(&self) {
        if let Some(marker) = &self.run.marker {
            marker.end_job();
        }
    }

    /// With a monitor that keeps the remainder: a job of `task` begins, and that of the job that it took the CPU from
    /// stands still.
    fn pause_preempted(&self, task: TaskId) {
        #[cfg(feature = "real")]
        if self.injected.lets_monitors_run_on() {
            return;
        }
        if self.terms.pauses_monitors() {
            monitors::pause_preempted(&self.tasks, task);
        }
    }

    /// With wall timers: a job is off, and the monitor of the one that goes on runs again.
    pub(crate) fn resume_preempted(&self) {
        if self.terms.has_wall_monitors() {
            monitors::resume_preempted(&self.tasks, self.terms.bound_nanos);
        }
    }

    pub(crate) fn kick_manager(&self) {
        self.online.call(monotonic_nanos());
        self.call.call(self.manager_tid.get());
    }

    /// Calls the manager that has `task`, whose job has ended, or waits: of this CPU, or of the one that it is on.
    pub(crate) fn call_manager_of(&self, task: TaskId) {
        let Some(hosts) = self.hosts.get() else {
            return self.kick_manager();
        };
        let task = self.tasks.of(task);
        let host = task.map(|task| usize::from(task.host.to_tell()));
        if let Some(host) = host.ok().and_then(|host| hosts.get(host)) {
            host.kick_manager();
        }
    }

    /// Calls the manager because the end of a job was awaited. Last of all that a worker does about a job:
    /// whoever was suspended may go on at once.
    pub(crate) fn report_end(&self) {
        if !self.stop_requested() {
            self.kick_manager();
        }
    }

    /// Whether this CPU is being ended: everything is demoted then.
    pub(crate) fn stop_requested(&self) -> bool {
        self.phase.is_ending()
    }

    /// The body of a job of `task` panicked: the run is to end, and the body is never called again.
    pub(crate) fn stop_for_body(&self, task: TaskId, message: String) {
        if let Ok(task) = self.tasks.of(task) {
            let _ = task.panic.set(message);
        }
        let (cpu, task) = (self.id.0, task.0);
        self.run.request_stop(Cause::BodyPanicked { cpu, task });
    }

    /// The manager panicked, or its decider refused what it said: the run is to end.
    pub(crate) fn stop_for_manager(&self, message: String) {
        let _ = self.manager_panic.set(message);
        self.run.request_stop(Cause::ManagerPanicked(self.id.0));
    }

    /// The name of this task, and the text of the panic of a body of it.
    pub(crate) fn panic_of(&self, task: TaskId) -> Option<(String, String)> {
        let task = self.tasks.of(task).ok()?;
        let text = task.panic.get().cloned().unwrap_or_default();
        Some((task.name.clone(), text))
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
        // While this thread has the CPU still: a guest without a manager would keep it.
        if let Some(guests) = self.guests.get().and_then(Weak::upgrade) {
            guests.halt();
        }
        self.stopped_at.set(sys::clock::monotonic_nanos());
        for task in &self.tasks {
            task.jobs.note_stop();
            task.suspension.end();
            if let Some(monitor) = task.monitor.get() {
                monitor.stop();
            }
            demote(task.jobs.tid());
        }
        if let Call::Futex(bell) = &self.call {
            bell.ring();
        }
        demote(self.idle_tid.get());
        demote(self.top_half_tid.get());
        self.phase.close();
        self.question.end();
        self.devices.stop();
        sys::stop::CALLS.call();
        for task in &self.tasks {
            task.handover.changes.ring();
            task.watch.call();
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
impl Cpu {
    /// With these tasks and terms, in a run of its own.
    pub(crate) fn in_test(tasks: Vec<crate::task::TaskShared>, terms: Terms) -> Self {
        let run = Arc::new(Run::new(&crate::Config::new(), None));
        Self::new(&run, Tasks::new(tasks), Processor(0), terms)
    }
}
