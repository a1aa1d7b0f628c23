//! A record with other numbers for its tasks and CPUs: inside a cluster they are counted anew.

use super::{Record, What};
use vestal_core::{Budget, BudgetOwner, CpuId, Event, Fact, JobId, Slot, TaskId, Wake, WakeReason};

impl Record {
    /// The record with each task and each CPU that it names replaced. Servers, devices, barriers and frames are
    /// numbered inside of their domain and stay as they are.
    ///
    /// Exhaustive on purpose: a new kind of record has to say here what it names.
    #[must_use]
    pub fn renumbered(
        self,
        mut task: impl FnMut(TaskId) -> TaskId,
        mut cpu: impl FnMut(CpuId) -> CpuId,
    ) -> Self {
        let at = self.at;
        let mut names = Names {
            task: &mut task,
            cpu: &mut cpu,
        };
        let what = names.what(self.what);
        Self { at, what }
    }

    /// Shows each task and each CPU that the record names.
    pub fn visit_names(&self, mut task: impl FnMut(TaskId), mut cpu: impl FnMut(CpuId)) {
        let seen_task = |name| {
            task(name);
            name
        };
        let seen_cpu = |name| {
            cpu(name);
            name
        };
        let _same = self.renumbered(seen_task, seen_cpu);
    }
}

/// A fact with each task and each CPU that it names replaced, as [`Record::renumbered`] does it.
#[must_use]
pub fn renumbered_fact(
    fact: Fact,
    mut task: impl FnMut(TaskId) -> TaskId,
    mut cpu: impl FnMut(CpuId) -> CpuId,
) -> Fact {
    let mut names = Names {
        task: &mut task,
        cpu: &mut cpu,
    };
    names.fact(fact)
}

struct Names<'a> {
    task: &'a mut dyn FnMut(TaskId) -> TaskId,
    cpu: &'a mut dyn FnMut(CpuId) -> CpuId,
}

impl Names<'_> {
    fn task(&mut self, task: TaskId) -> TaskId {
        (self.task)(task)
    }

    fn cpu(&mut self, cpu: CpuId) -> CpuId {
        (self.cpu)(cpu)
    }

    fn job(&mut self, job: JobId) -> JobId {
        JobId {
            task: self.task(job.task),
            sequence: job.sequence,
        }
    }

    fn what(&mut self, mut what: What) -> What {
        match &mut what {
            What::Fact(fact) | What::Observed(fact) => *fact = self.fact(*fact),
            What::Notice(event) => *event = self.event(*event),
            What::Wake(wake) => *wake = self.wake(*wake),
            What::Slot { cpu, slot } => {
                *cpu = self.cpu(*cpu);
                *slot = slot.map(|slot| self.slot(slot));
            }
            What::Sequence { cpu, .. } | What::Overhead { cpu, .. } | What::Gap { cpu, .. } => {
                *cpu = self.cpu(*cpu);
            }
            What::Queued { cpu, job } => {
                *cpu = self.cpu(*cpu);
                *job = self.job(*job);
            }
            What::Permit { task, .. } => *task = self.task(*task),
            What::Miss { job, .. } | What::Dropped { job, .. } => *job = self.job(*job),
            What::Ghost { cpu, task, .. } => {
                *cpu = self.cpu(*cpu);
                *task = self.task(*task);
            }
            What::Budget {
                cpu, job, owner, ..
            } => {
                *cpu = self.cpu(*cpu);
                *job = self.job(*job);
                *owner = self.owner(*owner);
            }
            What::Refused(_)
            | What::Decided { .. }
            | What::DecisionRefused { .. }
            | What::Domain { .. }
            | What::Lost { .. }
            | What::End { .. } => {}
        }
        what
    }

    fn fact(&mut self, fact: Fact) -> Fact {
        match fact {
            Fact::Released { job } => Fact::Released { job: self.job(job) },
            Fact::Completed { cpu, job } => Fact::Completed {
                cpu: self.cpu(cpu),
                job: self.job(job),
            },
            Fact::Charged { cpu, job, amount } => Fact::Charged {
                cpu: self.cpu(cpu),
                job: self.job(job),
                amount,
            },
            Fact::Started { cpu, job } => Fact::Started {
                cpu: self.cpu(cpu),
                job: self.job(job),
            },
            Fact::Stopped { cpu, job, why } => Fact::Stopped {
                cpu: self.cpu(cpu),
                job: self.job(job),
                why,
            },
            Fact::Idle { cpu } => Fact::Idle { cpu: self.cpu(cpu) },
            Fact::Woken { task, on_behalf_of } => Fact::Woken {
                task: self.task(task),
                on_behalf_of,
            },
            Fact::BarrierReached { cpu, barrier } => Fact::BarrierReached {
                cpu: self.cpu(cpu),
                barrier,
            },
            Fact::CpuOpen { cpu, open } => Fact::CpuOpen {
                cpu: self.cpu(cpu),
                open,
            },
            Fact::Timer | Fact::Interrupt { .. } | Fact::ModeRequested { .. } => fact,
        }
    }

    fn event(&mut self, event: Event) -> Event {
        match event {
            Event::ModeChanged { from, to, cause } => Event::ModeChanged {
                from,
                to,
                cause: cause.map(|job| self.job(job)),
            },
            Event::Overrun {
                job,
                level,
                executed,
            } => Event::Overrun {
                job: self.job(job),
                level,
                executed,
            },
            Event::Dropped { job, why } => Event::Dropped {
                job: self.job(job),
                why,
            },
            Event::Depleted { .. }
            | Event::Postponed { .. }
            | Event::FrameOverrun { .. }
            | Event::FramesSkipped { .. }
            | Event::Late { .. } => event,
        }
    }

    fn slot(&mut self, slot: Slot) -> Slot {
        Slot {
            job: self.job(slot.job),
            budget: slot.budget.map(|budget| Budget {
                owner: self.owner(budget.owner),
                ..budget
            }),
        }
    }

    fn owner(&mut self, owner: BudgetOwner) -> BudgetOwner {
        match owner {
            BudgetOwner::Task(task) => BudgetOwner::Task(self.task(task)),
            BudgetOwner::Job | BudgetOwner::Server(_) => owner,
        }
    }

    fn wake(&mut self, wake: Wake) -> Wake {
        let why = match wake.why {
            WakeReason::Deadline(job) => WakeReason::Deadline(self.job(job)),
            WakeReason::ZeroSlack(job) => WakeReason::ZeroSlack(self.job(job)),
            WakeReason::Replenishment
            | WakeReason::Consumption
            | WakeReason::TableSlot
            | WakeReason::Frame => wake.why,
        };
        Wake { why, ..wake }
    }
}
