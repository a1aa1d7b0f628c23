//! What managers of several CPUs have in common, beside the words of [`crate::levels`].

use super::memory::Memory;
use crate::account::{Note, TaskNote};
use crate::cpu::Cpu;
use crate::driver::dispatch::Worker;
use crate::levels::{Settler, Shared};
#[cfg(feature = "real")]
use crate::sys::clock::monotonic_nanos;
use std::sync::{Arc, Mutex, OnceLock};
use vestal_core::{ContractViolation, CpuId, Event, JobId, Notice, Scheduler, TaskId};

/// Where the jobs of a task run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// On this CPU, of which it is the task with this number: levels A and B.
    Own(CpuId, usize),
    /// On any CPU, as the guest with this number: level C.
    Guest(usize),
    /// No manager has it: level D.
    Nowhere,
}

/// A guest wherever it is.
#[derive(Debug, Default)]
pub(super) struct GuestPlace {
    /// There while nobody has the guest. Nobody waits for the lock: who has taken the claim is the only one that comes.
    memory: Mutex<Option<Memory>>,
}

impl GuestPlace {
    /// By who has taken the guest's claim.
    pub(super) fn take(&self) -> Option<Memory> {
        self.memory.try_lock().ok()?.take()
    }

    /// By the same, before it gives the claim back; says whether it could.
    pub(super) fn put(&self, memory: Memory) -> bool {
        let place = self.memory.try_lock();
        place.is_ok_and(|mut place| place.replace(memory).is_none())
    }
}

/// Shared by all managers of a set.
pub(crate) struct Common<S> {
    /// Levels C and D.
    pub(super) shared: Shared<S>,
    /// By the number of the set where each task is.
    homes: Box<[Home]>,
    /// The block of the guests: their workers, and what is noted of them. It has no manager.
    pub(super) guests: Arc<Cpu>,
    pub(super) places: Box<[GuestPlace]>,
    /// The CPUs by their numbers: whom to call.
    cpus: OnceLock<Box<[Arc<Cpu>]>>,
}

impl<S: Scheduler> Common<S> {
    /// Of a scheduler of levels C and D, with the block of the guests, and where each task is. Each CPU may have told so many
    /// facts that nobody has looked at.
    pub(crate) fn new(
        scheduler: S,
        (homes, guests): (Box<[Home]>, Arc<Cpu>),
        cpus: usize,
        facts: usize,
    ) -> Self {
        let places = (0..guests.tasks.len()).map(|_| GuestPlace {
            memory: Mutex::new(Some(Memory::default())),
        });
        Self {
            shared: Shared::new(scheduler, (cpus, homes.len()), facts),
            places: places.collect(),
            homes,
            guests,
            cpus: OnceLock::new(),
        }
    }
}

impl<S> Common<S> {
    /// Whom managers call, and guests, who end with the first of them. Once, before the run.
    pub(crate) fn set_cpus(&self, cpus: &[Arc<Cpu>]) {
        for cpu in cpus {
            let _ = cpu.guests.set(Arc::downgrade(&self.guests));
        }
        let _ = self.cpus.set(cpus.to_vec().into_boxed_slice());
        let _ = self.guests.hosts.set(cpus.to_vec().into_boxed_slice());
    }

    /// The worker of a task of levels A and B, wherever it lives.
    pub(super) fn own(&self, cpu: CpuId, index: usize) -> Option<Worker<'_>> {
        let cpu = self.cpus.get()?.get(cpu.index())?;
        cpu.tasks.get(index).map(Worker::of)
    }

    /// What came of decisions for all CPUs, when the managers are gone.
    #[cfg(feature = "real")]
    pub(crate) fn into_record(self) -> crate::levels::SharedRecord
    where
        S: Scheduler,
    {
        self.shared.into_parts().1
    }

    /// Calls the manager of a CPU.
    pub(super) fn call(&self, cpu: CpuId) {
        if let Some(cpu) = self.cpus.get().and_then(|cpus| cpus.get(cpu.index())) {
            cpu.kick_manager();
        }
    }

    pub(super) fn home(&self, task: TaskId) -> Home {
        self.homes
            .get(task.index())
            .copied()
            .unwrap_or(Home::Nowhere)
    }

    /// By the number of the set, those that are somewhere.
    pub(super) fn homes(&self) -> impl Iterator<Item = (TaskId, Home)> {
        (0..).map(TaskId).zip(self.homes.iter().copied())
    }

    /// The worker of a job of level C, and where its memory is while nobody has it.
    pub(super) fn guest(&self, job: JobId) -> Result<(Worker<'_>, &GuestPlace), ContractViolation> {
        let unknown = ContractViolation::UnknownTask(job.task);
        let Home::Guest(index) = self.home(job.task) else {
            return Err(unknown);
        };
        let both = self.guests.tasks.get(index).zip(self.places.get(index));
        let (task, place) = both.ok_or(unknown)?;
        Ok((Worker::of(task), place))
    }
}

/// What the shared domain says is noted where the guests are, by whoever has the turn.
pub(super) struct Tells<'a, S> {
    common: &'a Common<S>,
    /// So long it keeps the turn besides, in nanoseconds, which is a fault.
    #[cfg(feature = "real")]
    keeps: u64,
}

impl<'a, S> Tells<'a, S> {
    #[cfg_attr(
        not(feature = "real"),
        expect(unused_variables, reason = "nobody keeps the turn but in tests")
    )]
    pub(super) const fn new(common: &'a Common<S>, keeps: u64) -> Self {
        Self {
            common,
            #[cfg(feature = "real")]
            keeps,
        }
    }
}

impl<S> Settler for Tells<'_, S> {
    #[cfg(feature = "real")]
    fn between(&mut self) {
        let keeps = std::mem::take(&mut self.keeps);
        if keeps == 0 {
            return;
        }
        let until = monotonic_nanos().saturating_add(keeps);
        while monotonic_nanos() < until {
            std::hint::spin_loop();
        }
    }

    fn notice(&mut self, notice: &Notice) {
        let note = |job: JobId, note| {
            if let Home::Guest(index) = self.common.home(job.task) {
                self.common.guests.notes.write(Note::Task(index, note));
            }
        };
        #[expect(clippy::wildcard_enum_match_arm, reason = "the rest is about no guest")]
        match notice.what {
            Event::Overrun { job, level, .. } => {
                let guest = self.common.guest(job);
                if guest.is_ok_and(|(worker, _)| worker.note_overrun(job.sequence, level)) {
                    let (sequence, after) = (job.sequence, notice.at.as_nanos());
                    note(job, TaskNote::UsedUp { sequence, after });
                }
            }
            // No worker ever hears of it.
            Event::Dropped { job, why } => {
                let (count, next) = (1, 0);
                note(job, TaskNote::Dropped { why, count, next });
            }
            _ => {}
        }
    }
}
