//! What the domain of a CPU, and a claim, cost by themselves, for who counts instructions (`scripts/bench-claims.sh`).
//!
//! Half of the tasks are of level B on CPU 0, and half of level C; each has a job all along, so that queues are as long as they
//! get. What is counted is in functions that are called `measured_...`; they call nothing else of that name.

use super::facts::{Guest, What};
use super::settle::Settler;
use super::shared::Shared;
use super::side::{LocalStep, Side};
use std::hint::black_box;
use vestal_core::{
    Budgets, ConfigurationError, Container, ContractViolation, CpuId, CpuTable, Duration, Fact,
    Instant, JobId, Level, LevelB, LevelledConfiguration, LevelledTask, LocalDomain, Notice,
    Scheduler, Service, SharedDomain, Task, TaskId, Wcet,
};

const CPU: CpuId = CpuId(0);
const OWN: u64 = 100;

/// One manager, and what all have in common.
#[derive(Debug)]
pub struct Claims {
    local: LocalDomain,
    shared: Shared<SharedDomain>,
    side: Side,
    tasks: u16,
    now: u64,
    running: Option<JobId>,
    calls: Vec<CpuId>,
}

/// Why there is nothing to count.
type Failure = Box<dyn std::error::Error>;

struct Nobody;

impl Settler for Nobody {
    fn notice(&mut self, _: &Notice) {}
}

impl Claims {
    /// Of so many tasks.
    ///
    /// # Errors
    /// If there cannot be as many.
    pub fn new(tasks: u16) -> Result<Self, Failure> {
        let wcet = Wcet::new(&[Service::from_nanos(OWN)]).map_err(|_| "no execution time")?;
        let task = |number: u16| {
            let container = match number.is_multiple_of(2) {
                true => Container::Local(CPU),
                false => Container::Global,
            };
            // No two alike, and more than anybody uses up.
            let period = Duration::from_nanos(100_000 + u64::from(number));
            let task = Task::new(Level(1), period, period, wcet);
            task.map(|task| LevelledTask { task, container })
        };
        let entries: Option<Vec<LevelledTask>> =
            (0..tasks).map(|number| task(number).ok()).collect();
        let entries = entries.ok_or("no such task")?;
        let table = CpuTable {
            cycle: Duration::from_nanos(1),
            slots: &[],
        };
        let configuration = LevelledConfiguration {
            tasks: &entries,
            tables: &[table],
            backlog: 4,
            budgets: Budgets::Enforced,
            level_b: LevelB::EarliestDeadline,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        };
        let configured = |error: ConfigurationError| Failure::from(error.to_string());
        let shared = SharedDomain::with_store(&configuration).map_err(configured)?;
        let mut claims = Self {
            local: LocalDomain::with_store(&configuration, CPU).map_err(configured)?,
            shared: Shared::new(shared, (1, usize::from(tasks)), 1_024),
            side: Side::new(CPU, 1_024),
            tasks,
            now: 0,
            running: None,
            calls: Vec::with_capacity(1),
        };
        claims.release_all().map_err(refused)?;
        Ok(claims)
    }

    fn at(&self) -> Instant {
        Instant::from_nanos(self.now)
    }

    fn release_all(&mut self) -> Result<(), ContractViolation> {
        for task in (0..self.tasks).map(TaskId) {
            let job = JobId { task, sequence: 0 };
            match task.0.is_multiple_of(2) {
                true => self.local.apply(Instant::EPOCH, Fact::Released { job })?,
                false => self.tell(What::Released(job)),
            }
        }
        let plan = self.local.decide(Instant::EPOCH)?;
        self.running = plan.slot(CPU).map(|slot| slot.job);
        self.start()
    }

    fn start(&mut self) -> Result<(), ContractViolation> {
        let at = self.at();
        match self.running {
            Some(job) => self.local.apply(at, Fact::Started { cpu: CPU, job }),
            None => Ok(()),
        }
    }

    fn tell(&mut self, what: What) {
        let at = self.at();
        // There is room for what is told between two looks.
        let _ = self.side.tell(&self.shared, at, what);
    }

    /// The own job that runs uses up its budget and is complete, its task's next one is released, and the domain decides who goes on.
    ///
    /// # Errors
    /// If the domain refuses something.
    pub fn local_step(&mut self) -> Result<(), Failure> {
        self.now += OWN;
        self.measured_local_step().map_err(refused)
    }

    #[inline(never)]
    fn measured_local_step(&mut self) -> Result<(), ContractViolation> {
        let (cpu, at) = (CPU, Instant::from_nanos(self.now));
        let Some(job) = self.running else {
            return Ok(());
        };
        let amount = Service::from_nanos(OWN);
        self.local.apply(at, Fact::Charged { cpu, job, amount })?;
        self.local.apply(at, Fact::Completed { cpu, job })?;
        let next = JobId {
            sequence: job.sequence.saturating_add(1),
            ..job
        };
        self.local.apply(at, Fact::Released { job: next })?;
        let slot = self.local.decide(at)?.slot(cpu);
        self.running = slot.map(|slot| slot.job);
        match self.running {
            Some(job) => self.local.apply(at, Fact::Started { cpu, job }),
            None => Ok(()),
        }
    }

    /// The CPU is published as closed and open again, takes what it is offered, tells that it has started, what it used, and that it is
    /// complete, and gives it back. `walks`: looks at what goes with the offer of each task besides, as nobody does.
    ///
    /// # Errors
    /// If nothing was offered, or the domain refuses something.
    pub fn claim(&mut self, walks: bool) -> Result<(), Failure> {
        self.now += OWN;
        self.settle().map_err(refused)?;
        let job = match walks {
            true => self.measured_walk(),
            false => self.measured_claim(),
        };
        let job = job.ok_or("nothing was offered")?;
        let next = JobId {
            sequence: job.sequence.saturating_add(1),
            ..job
        };
        self.tell(What::Released(next));
        Ok(())
    }

    fn settle(&mut self) -> Result<(), ContractViolation> {
        let at = self.at();
        let mut nothing = Nothing;
        let decided = LocalStep(&mut nothing).decide(at, (&mut self.side, &self.shared), || true);
        let Ok(decided) = decided else {
            return Ok(());
        };
        let held = decided.published.attempt(&mut self.side, &self.shared);
        match held {
            Some(held) => held.settle(at, (&mut Nobody, &mut self.calls)).map(|_| ()),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn measured_claim(&mut self) -> Option<JobId> {
        self.take_and_give_back()
    }

    #[inline(never)]
    fn measured_walk(&mut self) -> Option<JobId> {
        for grant in &self.shared.grants {
            black_box(grant.read());
        }
        self.take_and_give_back()
    }

    fn take_and_give_back(&mut self) -> Option<JobId> {
        let at = self.at();
        for open in [false, true] {
            self.side.publish(&self.shared, at, open).ok()?;
        }
        let guest: Guest = self.side.take(&self.shared)?.guest;
        self.tell(What::Started(guest));
        self.tell(What::Charged(guest, Service::from_nanos(OWN)));
        self.tell(What::Completed(guest));
        self.side.give_back(&self.shared).then_some(guest.job)
    }
}

fn refused(violation: ContractViolation) -> Failure {
    violation.to_string().into()
}

/// A CPU's own domain that never wants it.
struct Nothing;

impl Scheduler for Nothing {
    fn apply(&mut self, _: Instant, _: Fact) -> Result<(), ContractViolation> {
        Ok(())
    }

    fn decide(&mut self, _: Instant) -> Result<vestal_core::Plan<'_>, ContractViolation> {
        Ok(vestal_core::Plan {
            slots: &[],
            sequences: vestal_core::plan::Sequences::NONE,
            next: None,
            mode: Level::LOWEST,
        })
    }

    fn permit(&self, _: TaskId) -> vestal_core::Permit {
        vestal_core::Permit::NotAdmitted
    }

    fn take_notice(&mut self) -> Option<Notice> {
        None
    }

    fn lost_notices(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is counted happens: each step ends a job, and all tasks take part.
    #[test]
    fn each_step_ends_one_job_and_begins_another() {
        for tasks in [4, 20] {
            let mut claims = Claims::new(tasks).unwrap();
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..4 * tasks {
                let before = claims.running.unwrap();
                claims.local_step().unwrap();
                assert_ne!(claims.running, Some(before));
                seen.insert(before.task);
            }
            assert_eq!(seen.len(), usize::from(tasks / 2));
            for walks in [false, true] {
                for _ in 0..2 * tasks {
                    claims.claim(walks).unwrap();
                }
            }
            let record = claims.shared.into_parts().1;
            // One fact more each: the next release.
            let claims = 4 * u64::from(tasks);
            assert_eq!(record.offers, claims);
        }
    }
}
