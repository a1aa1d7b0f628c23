//! What carrying the policy out takes of the CPUs: see [`crate::costs`]. Where it takes nothing the compiler leaves
//! everything out.

use super::{Step, World, find};
use crate::costs::Cause;
use crate::cpu::{FIRST, NEVER};
use crate::observer::{Observer, Segment};
use crate::outside::Surroundings;
use crate::workload::{Demand, Releases};
use vestal_core::{CpuId, Duration, Fact, Scheduler, TaskId};

impl<'a, S, R, D, O, X, const ALONE: bool> World<'a, '_, S, R, D, O, X, ALONE>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
    X: Surroundings<'a>,
{
    /// A CPU is taken for what this costs.
    #[inline(always)]
    pub(super) fn charge(&mut self, cpu: CpuId, cause: Cause) {
        if let Some(costing) = self.outside.costing()
            && costing.take(self.now, cpu, cause)
        {
            self.observer.mechanism_began(self.now, cpu, cause);
        }
    }

    fn charge_for(&mut self, cpu: CpuId, (cause, cost): (Cause, Duration)) {
        if let Some(costing) = self.outside.costing()
            && costing.take_for(self.now, cpu, (cause, cost))
        {
            self.observer.mechanism_began(self.now, cpu, cause);
        }
    }

    /// The CPU of this task is.
    #[inline(always)]
    pub(super) fn charge_task(&mut self, task: TaskId, cause: Cause) {
        if let Some(costing) = self.outside.costing() {
            let home = costing.home(task);
            self.charge(home, cause);
        }
    }

    /// Every CPU is.
    #[inline(always)]
    pub(super) fn charge_all(&mut self, cause: Cause) {
        if self.outside.costing().is_some() {
            (0..self.setting.cpus).for_each(|cpu| self.charge(CpuId(cpu), cause));
        }
    }

    /// The wake-up comes that the scheduler asked for.
    #[inline(always)]
    pub(super) fn charge_wake(&mut self) {
        if let Some(costing) = self.outside.costing()
            && costing.woken()
        {
            self.charge(FIRST, Cause::Wake);
        }
    }

    /// A job of this task is dropped at a change of mode.
    #[inline(always)]
    pub(super) fn charge_termination(&mut self, task: TaskId) {
        if let Some(costing) = self.outside.costing() {
            let home = costing.home(task);
            if costing.terminate(self.now, home) {
                self.observer.mechanism_began(self.now, home, Cause::Mode);
            }
        }
    }

    /// What had a CPU until now is over; budgets are looked at.
    pub(super) fn pass_costs(&mut self) {
        let now = self.now;
        while let Some(costing) = self.outside.costing()
            && let Some((cpu, (cause, start, end), next)) = costing.ended(now)
        {
            let segment = Segment { cpu, start, end };
            self.observer.mechanism_ended(segment, cause);
            if let Some(next) = next {
                self.observer.mechanism_began(end, cpu, next);
            }
        }
        while let Some(costing) = self.outside.costing()
            && costing.looks(now)
        {
            self.charge_all(Cause::Heartbeat);
        }
    }

    /// After a decision: what a job has executed that shall leave its CPU is noticed, and the scheduler has to be asked once
    /// more; says so. A sub-frame that began costs something.
    #[inline(always)]
    pub(super) fn notice_displaced(&mut self) -> Step<bool> {
        if self.outside.costing().is_none() {
            return Ok(false);
        }
        let mut noticed = self.notice_on(FIRST)?;
        self.on_others(|world, cpu| {
            noticed |= world.notice_on(cpu)?;
            Ok(())
        })?;
        if !noticed
            && let Some(costing) = self.outside.costing()
            && let Some(cost) = costing.begun()
        {
            let all = 0..self.setting.cpus;
            all.for_each(|cpu| self.charge_for(CpuId(cpu), (Cause::Frame, cost)));
        }
        Ok(noticed)
    }

    fn notice_on(&mut self, cpu: CpuId) -> Step<bool> {
        let state = *self.cpu(cpu);
        let Some(job) = state.running.filter(|job| state.planned != Some(*job)) else {
            return Ok(false);
        };
        let Some(costing) = self.outside.costing() else {
            return Ok(false);
        };
        let amount = costing.notice(cpu);
        if amount.is_zero() || find(&mut self.jobs, job).is_none() {
            return Ok(false);
        }
        self.apply(Fact::Charged { cpu, job, amount })?;
        Ok(true)
    }

    /// When jobs complete and budgets are noticed to be used up, with what the CPUs are taken for by now.
    #[inline(always)]
    pub(super) fn reckon(&mut self) {
        if self.outside.costing().is_some() {
            self.reckon_on(FIRST);
            if !ALONE {
                (1..self.setting.cpus).for_each(|cpu| self.reckon_on(CpuId(cpu)));
            }
        }
    }

    fn reckon_on(&mut self, cpu: CpuId) {
        let Some(job) = self.cpu(cpu).running else {
            return;
        };
        let Some(state) = find(&mut self.jobs, job) else {
            return;
        };
        let stretch = match self.outside.outside() {
            Some(outside) => outside.stretch(state),
            None => state.remaining(),
        };
        let Some(costing) = self.outside.costing() else {
            return;
        };
        let (completes, exhausts) = costing.ends(self.now, (cpu, job.task), stretch);
        let entry = self.cpu(cpu);
        entry.completes = completes;
        entry.exhausts = exhausts.unwrap_or(NEVER);
    }

    /// The run ends.
    pub(super) fn cut_costs(&mut self) {
        if self.outside.costing().is_none() {
            return;
        }
        self.pass_costs();
        let end = self.now;
        let cut = self
            .outside
            .costing()
            .map(super::super::costs::Costing::cut);
        for (cpu, (cause, start, _)) in cut.into_iter().flatten() {
            self.observer
                .mechanism_ended(Segment { cpu, start, end }, cause);
        }
    }
}
