//! Jobs that block and wake up, events of devices and their bottom halves: see [`crate::outside`].

use super::{Step, World, find};
use crate::count;
use crate::observer::{JobState, Observer};
use crate::outside::{Device, Happened, Pause, Surroundings, Wait};
use crate::workload::{Demand, Releases};
use vestal_core::{
    CpuId, DeviceId, Duration, Fact, Instant, JobId, Scheduler, ServerId, StopReason, TaskId,
};

/// A bottom half has no deadline that it could miss.
const NO_DEADLINE: Duration = Duration::from_nanos(u64::MAX);

impl<'a, S, R, D, O, X, const ALONE: bool> World<'a, '_, S, R, D, O, X, ALONE>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
    X: Surroundings<'a>,
{
    /// A job on `cpu` has executed what it was to, and that was no completion of a job of a task.
    #[cold]
    #[inline(never)]
    pub(super) fn pause(&mut self, cpu: CpuId, id: JobId, pause: Pause) -> Step {
        let wait = match pause {
            Pause::Served(device) => return self.serve(cpu, id, device),
            Pause::Blocked(wait) => wait,
        };
        let (at, why) = (self.now, StopReason::Blocked);
        self.apply(Fact::Stopped { cpu, job: id, why })?;
        if let Some(job) = find(&mut self.jobs, id) {
            self.observer.blocked(at, cpu, job, wait.device);
        }
        self.ask_for(id.task, wait)
    }

    /// A job of `task` waits: if its device is one that is asked, the events arrive. Else those that are there already
    /// are served on its behalf too.
    fn ask_for(&mut self, task: TaskId, wait: Wait) -> Step {
        let Some(outside) = self.outside.outside() else {
            return Ok(());
        };
        let Some(device) = outside.device(wait.device) else {
            return Ok(());
        };
        let (host, pending) = (outside.host(task), outside.pending(wait.device));
        // What arrives at the end is not part of the run.
        if device.requested && self.now < self.end {
            self.raise(wait.device, wait.events, host.as_slice())?;
        } else if pending > 0 {
            self.ask_on_behalf(device, host.as_slice())?;
        }
        Ok(())
    }

    /// Everything that happens by itself at this instant.
    #[cold]
    #[inline(never)]
    pub(super) fn happen(&mut self) -> Step {
        let now = self.now;
        self.pass_costs();
        while let Some(outside) = self.outside.outside() {
            match outside.due(now) {
                None => break,
                Some(Happened::Events(device, count)) => {
                    let hosts = outside.hosts(device);
                    self.raise(device, count, &hosts)?;
                }
                Some(Happened::Mode(level)) => self.apply(Fact::ModeRequested { level })?,
            }
        }
        Ok(())
    }

    /// Events of a device arrive, on behalf of these servers.
    fn raise(&mut self, number: DeviceId, count: u64, hosts: &[ServerId]) -> Step {
        let at = self.now;
        let Some(outside) = self.outside.outside() else {
            return Ok(());
        };
        let (Some(device), arrived) = (outside.device(number), outside.arrive(number, at, count))
        else {
            return Ok(());
        };
        let accepted = arrived.accepted;
        self.observer
            .interrupted(at, number, count, count - u64::from(accepted));
        if accepted == 0 {
            return Ok(());
        }
        if arrived.begins {
            self.begin_bottom_half(number);
        }
        self.apply(Fact::Interrupt {
            device: number,
            count: accepted,
        })?;
        self.ask_on_behalf(device, hosts)
    }

    /// The bottom half of a device runs on behalf of these servers too, if it inherits.
    fn ask_on_behalf(&mut self, device: Device, hosts: &[ServerId]) -> Step {
        for host in hosts.iter().filter(|_| device.inherits) {
            self.apply(Fact::Woken {
                task: device.bottom_half,
                on_behalf_of: Some(*host),
            })?;
        }
        Ok(())
    }

    /// The bottom half of a device is done with an event, and goes on with the next one.
    fn serve(&mut self, cpu: CpuId, id: JobId, device: DeviceId) -> Step {
        let at = self.now;
        self.apply(Fact::Completed { cpu, job: id })?;
        let Some(job) = find(&mut self.jobs, id) else {
            return Ok(());
        };
        self.observer.served(at, device, job);
        let released = job.released;
        if let Some(pending) = self.jobs.get_mut(id.task.index()) {
            pending.end(id);
        }
        self.leave(released);
        let woken = self
            .outside
            .outside()
            .and_then(|outside| outside.serve(device));
        self.begin_bottom_half(device);
        // One that was dropped meanwhile wakes up no more.
        if let Some(job) = woken
            && let Some(job) = find(&mut self.jobs, job)
        {
            let task = job.id.task;
            self.observer.woken(at, job);
            let on_behalf_of = None;
            self.apply(Fact::Woken { task, on_behalf_of })?;
        }
        Ok(())
    }

    /// If an event waits for it. The scheduler draws the same consequence of what it is told.
    fn begin_bottom_half(&mut self, number: DeviceId) {
        let Some(outside) = self.outside.outside() else {
            return;
        };
        let Some(device) = outside.device(number) else {
            return;
        };
        let Some((sequence, arrived)) = outside.begin(number) else {
            return;
        };
        let task = device.bottom_half;
        let id = JobId { task, sequence };
        let Some(pending) = self.jobs.get_mut(task.index()) else {
            return;
        };
        pending.begin(JobState::arriving(id, arrived, NO_DEADLINE, device.cost));
        count(&mut self.admitted);
        if arrived == self.now {
            count(&mut self.fresh);
        }
    }

    /// Reports who is pending at the end.
    pub(super) fn report_unfinished(&mut self, end: Instant) {
        for job in self.jobs.iter().flat_map(crate::pending::Pending::iter) {
            let outside = self.outside.outside();
            // Of events that wait, devices keep account.
            if outside.is_none_or(|outside| outside.device_of(job.id.task).is_none()) {
                self.observer.unfinished(end, job);
            }
        }
    }
}
