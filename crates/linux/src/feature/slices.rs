//! Jobs in slices: what a manager does to hold them back between two, and to let them go on.
//!
//! A job within its slices costs the manager nothing. It is called when a job has executed what it was
//! granted, as for any other limit, and when a slice begins for which a suspended job waits. Where the kernel
//! keeps the order, a suspended worker also leaves the real-time class, so that a body that cannot be suspended
//! keeps no other thread of the run from the CPU: see [`crate::suspension`].

use crate::account::Suspensions;
use crate::control::{Control, Traced};
use crate::task::TaskShared;
use crate::words::Allowance;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{
    ContractViolation, Enforcer, Fact, Instant, JobId, Permit, Scheduler, StopReason, Until,
};
use vestal_trace::{Record, What};

/// Whether a job executes nothing before an instant, on a free CPU neither.
pub(crate) const fn waits_for_an_instant(permit: Permit) -> bool {
    matches!(
        permit,
        Permit::Suspended {
            until: Until::At(_)
        }
    )
}

/// The slices of a job count from its release, so that is reported to the decider before it is charged.
pub(crate) fn announce(
    decider: &mut impl Scheduler,
    task: &TaskShared,
    job: JobId,
) -> Result<(), ContractViolation> {
    if !task.is_sliced() {
        return Ok(());
    }
    let released = Instant::from_nanos(task.release_of(job.sequence));
    decider.apply(released, Fact::Released { job })
}

/// The suspended job of a task, and what it has executed.
pub(crate) fn suspended(decider: &impl Enforcer, task: &TaskShared) -> Option<(JobId, u64)> {
    if !task.is_sliced() {
        return None;
    }
    let job = task.job(task.jobs.running_admitted()?);
    let executed = task.jobs.executed()?;
    waits_for_an_instant(decider.permit_for(job)).then_some((job, executed))
}

/// `job`, which has just lost the CPU, may have to wait for its next slice: then it does not go on even if no
/// other thread wants the CPU. See [`crate::suspension`].
pub(crate) fn hold(task: &TaskShared, job: JobId, permit: Permit, counts: &mut Suspensions) {
    if task.is_sliced()
        && task.jobs.running_admitted() == Some(job.sequence)
        && waits_for_an_instant(permit)
    {
        let executed = task.jobs.executed().unwrap_or(0);
        task.suspension.suspend(task.jobs.tid(), executed, counts);
    }
}

/// The same for a begun job that waits for whatever reason while the plan leaves the CPU free.
pub(crate) fn hold_begun(task: &TaskShared, sequence: u64, counts: &mut Suspensions) {
    if task.jobs.running_admitted() == Some(sequence) {
        let executed = task.jobs.executed().unwrap_or(0);
        task.suspension.suspend(task.jobs.tid(), executed, counts);
    }
}

/// Whatever the worker of the task does from now on, it is not held.
pub(crate) fn let_go(task: &TaskShared, tolerance: u64, counts: &mut Suspensions) -> bool {
    let executed = task.jobs.executed().unwrap_or(0);
    task.suspension.resume(executed, tolerance, counts)
}

/// The jobs that a manager holds back in the middle of their bodies.
#[derive(Debug)]
pub(crate) struct Slices {
    /// Per task: the suspended job that goes on, of which nothing was recorded yet.
    resumed: Vec<Option<u64>>,
}

impl Slices {
    pub(crate) fn new(tasks: usize) -> Self {
        Self {
            resumed: vec![None; tasks],
        }
    }

    /// Carries out what the decider allows the running job of a task with slices; gives what it cost to take it
    /// out of the real-time class, if that had to be.
    pub(crate) fn enact<G: Enforcer>(
        &mut self,
        control: &mut Control<'_>,
        decider: &mut Traced<G>,
        task: &TaskShared,
        job: JobId,
    ) -> Option<u64> {
        if !task.is_sliced() {
            return None;
        }
        let permit = decider.permit_for(job);
        match Allowance::of(permit) {
            None if waits_for_an_instant(permit) => {
                return suspend(control, decider, task, job);
            }
            None => {}
            // It goes on outside the real-time class.
            Some(Allowance::NotAdmitted) => self.let_go(control, task, job),
            Some(allowance) => {
                task.limits.grant(allowance);
                // The job has a new slice; or none, and goes on as before.
                if task.suspension.is_suspended() {
                    control.switch(decider, || control.restore_priority(task));
                    self.let_go(control, task, job);
                }
            }
        }
        None
    }

    fn let_go(&mut self, control: &mut Control<'_>, task: &TaskShared, job: JobId) {
        let tolerance = control.terms.tolerance_nanos;
        if let_go(task, tolerance, &mut control.record.suspensions)
            && let Some(resumed) = self.resumed.get_mut(job.task.index())
        {
            *resumed = Some(job.sequence);
        }
    }

    /// Records which jobs go on. Of several, and of those that they do not take the CPU from,
    /// the most urgent one comes last: a reader takes the job that started last for the one that runs.
    pub(crate) fn tell_who_goes_on<G: Scheduler>(
        &mut self,
        control: &Control<'_>,
        decider: &mut Traced<G>,
    ) {
        if self.resumed.iter().all(Option::is_none) {
            return;
        }
        let mut reported = false;
        // Whoever lost its priority goes behind all others.
        for demoted in [true, false] {
            for task in control.tasks.by_urgency().rev() {
                let Some(resumed) = self.resumed.get_mut(task.id.index()) else {
                    continue;
                };
                let goes_on = match *resumed {
                    Some(sequence) if task.jobs.is_demoted(sequence) == demoted => resumed.take(),
                    // It runs since before, and a job that is less urgent was recorded after it.
                    None if reported && !demoted && task.suspension.is_inside() => {
                        task.running_ready()
                    }
                    Some(_) | None => None,
                };
                if let Some(sequence) = goes_on {
                    reported = true;
                    let (cpu, job) = (CPU, task.job(sequence));
                    observed(control, decider, Fact::Started { cpu, job });
                }
            }
        }
    }
}

/// The job has executed what it was granted.
fn suspend<G: Scheduler>(
    control: &mut Control<'_>,
    decider: &mut Traced<G>,
    task: &TaskShared,
    job: JobId,
) -> Option<u64> {
    let executed = task.jobs.executed().unwrap_or(0);
    let counts = &mut control.record.suspensions;
    if !task.suspension.suspend(task.jobs.tid(), executed, counts) {
        return None;
    }
    control.burns_no_more();
    let cost = control.switch(decider, || task.take_out_of_real_time());
    let (cpu, why) = (CPU, StopReason::Blocked);
    observed(control, decider, Fact::Stopped { cpu, job, why });
    Some(cost)
}

fn observed<G: Scheduler>(control: &Control<'_>, decider: &mut Traced<G>, fact: Fact) {
    let at = control.now();
    let what = What::Observed(fact);
    decider.put(Record { at, what });
}
