//! One scheduler for all, that is told of everything in one order.

use super::system::System;
use super::world::{World, sorted};
use vestal_core::fact::StopReason;
use vestal_core::{CpuId, Fact, JobId, Scheduler, SharedDomain};
use vestal_testkit::short::{at, ns};

/// One scheduler for all, that is told of everything at once.
pub(super) struct Twin {
    pub(super) domain: SharedDomain,
    pub(super) running: Vec<Option<JobId>>,
    pub(super) open: Vec<bool>,
}

impl Twin {
    /// A tick: what ran until now was charged, some of it has ended, jobs are released, and CPUs open or close.
    pub(super) fn tick(&mut self, now: u64, system: &System, world: &World<'_>, open: &[bool]) {
        let now = at(now);
        for (cpu, running) in (0..).map(CpuId).zip(&mut self.running) {
            let Some(job) = *running else { continue };
            let amount = ns(1);
            self.domain
                .apply(now, Fact::Charged { cpu, job, amount })
                .unwrap();
            if world.is_done(job) {
                self.domain
                    .apply(now, Fact::Completed { cpu, job })
                    .unwrap();
                *running = None;
            }
        }
        for job in system.released(now.as_nanos()) {
            self.domain.apply(now, Fact::Released { job }).unwrap();
        }
        for ((cpu, open), known) in (0..)
            .map(CpuId)
            .zip(open.iter().copied())
            .zip(&mut self.open)
        {
            if *known != open {
                *known = open;
                self.domain.apply(now, Fact::CpuOpen { cpu, open }).unwrap();
            }
        }
        loop {
            let plan = self.domain.decide(now).unwrap();
            let slots: Vec<_> = plan
                .slots
                .iter()
                .map(|slot| slot.map(|slot| slot.job))
                .collect();
            while self.domain.take_notice().is_some() {}
            if slots == self.running {
                return;
            }
            let why = StopReason::Preempted;
            let stops = self.running.iter_mut().zip(&slots);
            let mut has_stopped = false;
            for (cpu, (running, slot)) in (0..).map(CpuId).zip(stops) {
                if let Some(job) = running.take_if(|running| Some(*running) != *slot) {
                    self.domain
                        .apply(now, Fact::Stopped { cpu, job, why })
                        .unwrap();
                    has_stopped = true;
                }
            }
            if has_stopped {
                continue;
            }
            for (cpu, (running, slot)) in (0..).map(CpuId).zip(self.running.iter_mut().zip(slots)) {
                if let (None, Some(job)) = (*running, slot) {
                    self.domain.apply(now, Fact::Started { cpu, job }).unwrap();
                    *running = Some(job);
                }
            }
        }
    }

    pub(super) fn jobs(&self) -> Vec<JobId> {
        sorted(self.running.iter().flatten().copied())
    }
}
