//! A record with other numbers for its tasks and CPUs: inside a cluster they are counted anew.

use super::{Edge, Record, What};
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

    fn what(&mut self, what: What) -> What {
        match what {
            What::Fact(fact) => What::Fact(self.fact(fact)),
            What::Observed(fact) => What::Observed(self.fact(fact)),
            What::Notice(event) => What::Notice(self.event(event)),
            What::Wake(wake) => What::Wake(self.wake(wake)),
            What::Slot { cpu, slot } => What::Slot {
                cpu: self.cpu(cpu),
                slot: slot.map(|slot| self.slot(slot)),
            },
            What::Sequence { cpu, jobs, barrier } => What::Sequence {
                cpu: self.cpu(cpu),
                jobs,
                barrier,
            },
            What::Queued { cpu, job } => What::Queued {
                cpu: self.cpu(cpu),
                job: self.job(job),
            },
            What::Permit { task, permit } => What::Permit {
                task: self.task(task),
                permit,
            },
            What::Miss {
                job,
                deadline,
                guaranteed,
            } => What::Miss {
                job: self.job(job),
                deadline,
                guaranteed,
            },
            What::Overhead {
                cpu,
                mechanism,
                edge,
            } => What::Overhead {
                cpu: self.cpu(cpu),
                mechanism,
                edge,
            },
            What::Ghost { cpu, task, edge } => self.ghost(cpu, task, edge),
            What::Gap { cpu, length } => What::Gap {
                cpu: self.cpu(cpu),
                length,
            },
            What::Budget {
                cpu,
                job,
                owner,
                remaining,
            } => What::Budget {
                cpu: self.cpu(cpu),
                job: self.job(job),
                owner: self.owner(owner),
                remaining,
            },
            What::Dropped { job, why } => What::Dropped {
                job: self.job(job),
                why,
            },
            What::Refused(_)
            | What::Decided { .. }
            | What::DecisionRefused { .. }
            | What::Domain { .. }
            | What::Lost { .. }
            | What::End { .. } => what,
        }
    }

    fn ghost(&mut self, cpu: CpuId, task: TaskId, edge: Edge) -> What {
        What::Ghost {
            cpu: self.cpu(cpu),
            task: self.task(task),
            edge,
        }
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
