//! What happens outside of the CPUs: devices interrupt, jobs wait for them, and somebody asks for a mode.
//!
//! ```text
//!          asked for, or by itself                    served (1)
//!  device ------------------------> event, queued ---------------> counted for who waits longest (2)
//!                                                                        |
//!  job runs -- executed `after` --> waits for so many events ----(2)-----+--> goes on
//! ```
//! (1) Each event is handled by one job of the device's bottom half, in order of arrival. (2) The oldest wait for the
//! device; an event that is served while nobody waits is counted for nobody.
//!
//! A device asks for its server on behalf of those who wait: if the bottom half is in a PIBS
//! ([`Device::inherits`]), each event is reported with the hosts of all jobs that wait for the device when it
//! arrives, and one that was asked for with the host of the job that asked. Who begins to wait while events are pending
//! is reported as well.
//!
//! The scheduler is asked at the epoch, whether anything happens there or not: an idling server begins to idle then.
//!
//! At most [`QUEUED_MAX`] events of a device wait, which is what the core counts; more are dropped as they arrive.

use crate::costs::Costing;
use crate::cpu::NEVER;
use crate::observer::JobState;
use std::collections::VecDeque;
use vestal_core::{DeviceId, Instant, JobId, Level, ServerId, Service, TaskId};

/// How many events of one device may wait for their bottom half.
pub const QUEUED_MAX: u64 = u32::MAX as u64;

/// A device and the task that handles its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The task whose jobs handle one event each. None of its jobs is released in any other way.
    pub bottom_half: TaskId,
    /// What one of them executes.
    pub cost: Service,
    /// Jobs that wait for it ask for its events, which arrive at once.
    pub requested: bool,
    /// Its bottom half runs on behalf of others.
    pub inherits: bool,
}

/// A place at which a job blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When the job has executed so much. A job that completes before that does not wait.
    pub after: Service,
    /// For events of this device.
    pub device: DeviceId,
    /// How many of them must be served before it goes on.
    pub events: u64,
}

/// Devices, and who waits for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// The devices; a [`DeviceId`] is an index in this list.
    pub devices: Vec<Device>,
    /// By task, where its jobs block, in the order of their execution.
    pub waits: Vec<Vec<Wait>>,
    /// By task, the server on whose behalf bottom halves run for which its jobs wait.
    pub hosts: Vec<Option<ServerId>>,
}

/// When things happen outside: pure functions, as those of [`crate::Releases`].
pub trait Events {
    /// When event number `index` of a device arrives, counted from 0, and how many arrive at once; `None`: never, and
    /// no later one either. `previous` is the instant of the one before; the answer is not before that.
    fn interrupt(
        &self,
        device: DeviceId,
        index: u64,
        previous: Option<Instant>,
    ) -> Option<(Instant, u64)>;

    /// Request number `index` for a mode, counted from 0; not before the one before it.
    fn mode_request(&self, index: u64) -> Option<(Instant, Level)>;
}

/// Nothing happens by itself.
impl Events for () {
    fn interrupt(&self, _: DeviceId, _: u64, _: Option<Instant>) -> Option<(Instant, u64)> {
        None
    }
    fn mode_request(&self, _: u64) -> Option<(Instant, Level)> {
        None
    }
}

/// What surrounds the CPUs of a world. For `()` the compiler leaves everything out that concerns it.
pub(crate) trait Surroundings<'a> {
    /// What happens there, if anything can.
    fn outside(&mut self) -> Option<&mut Happening<'a>>;

    /// The next instant at which something happens there by itself.
    fn next(&self) -> Instant;

    /// What carrying the policy out costs, if it costs anything.
    #[inline(always)]
    fn costing(&mut self) -> Option<&mut Costing<'a>> {
        None
    }
}

impl<'a> Surroundings<'a> for () {
    #[inline(always)]
    fn outside(&mut self) -> Option<&mut Happening<'a>> {
        None
    }

    #[inline(always)]
    fn next(&self) -> Instant {
        NEVER
    }
}

impl<'a> Surroundings<'a> for Happening<'a> {
    #[inline(always)]
    fn outside(&mut self) -> Option<&mut Self> {
        Some(self)
    }

    #[inline(always)]
    fn next(&self) -> Instant {
        self.next
    }
}

/// The same where carrying the policy out costs something.
pub(crate) struct Costly<'a> {
    pub(crate) costing: Costing<'a>,
    pub(crate) happening: Option<Happening<'a>>,
}

impl<'a> Surroundings<'a> for Costly<'a> {
    #[inline]
    fn outside(&mut self) -> Option<&mut Happening<'a>> {
        self.happening.as_mut()
    }

    #[inline]
    fn next(&self) -> Instant {
        let next = self.costing.next();
        let happening = self.happening.as_ref();
        happening.map_or(next, |happening| next.min(happening.next))
    }

    #[inline]
    fn costing(&mut self) -> Option<&mut Costing<'a>> {
        Some(&mut self.costing)
    }
}

/// Something that happens by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    /// So many events of a device.
    Events(DeviceId, u64),
    /// A request for a mode.
    Mode(Level),
}

/// What the end of an execution is, if it is not that of a task's job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The job waits.
    Blocked(Wait),
    /// A bottom half is done with an event of this device.
    Served(DeviceId),
}

/// What became of events that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    /// How many are queued now.
    pub(crate) accepted: u32,
    /// Their first one is handled by a bottom half that has nothing else to do.
    pub(crate) begins: bool,
}

/// A job that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiter {
    job: JobId,
    left: u64,
}

/// What is known of one device.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// When the events arrived that no bottom half handles yet, and how many each time.
    arrived: VecDeque<(Instant, u64)>,
    /// How many that are, with the one that is handled.
    pending: u64,
    /// How many bottom halves were begun.
    begun: u64,
    /// Who waits, in the order of their waits.
    waiters: VecDeque<Waiter>,
    /// The next event that comes by itself, and its number.
    next: Option<(Instant, u64)>,
    index: u64,
}

/// A job by its number, and how many of its waits it has begun.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    sequence: u64,
    waits: usize,
}

/// The outside during a run.
#[derive(Clone)]
pub(crate) struct Happening<'a> {
    outside: &'a Outside,
    events: &'a dyn Events,
    queues: Vec<Queue>,
    /// By task, the job that was started last.
    progress: Vec<Progress>,
    mode: Option<(Instant, Level)>,
    mode_index: u64,
    next: Instant,
}

impl<'a> Happening<'a> {
    pub(crate) fn new(outside: &'a Outside, events: &'a dyn Events, tasks: usize) -> Self {
        let numbers = (0..u16::MAX).map(DeviceId).take(outside.devices.len());
        let queues = numbers.map(|device| Queue {
            next: events.interrupt(device, 0, None),
            ..Queue::default()
        });
        Self {
            outside,
            events,
            queues: queues.collect(),
            progress: vec![Progress::default(); tasks],
            mode: events.mode_request(0),
            mode_index: 0,
            // The scheduler is asked at the epoch: a server may idle before anything arrives.
            next: Instant::EPOCH,
        }
    }

    /// A device.
    pub(crate) fn device(&self, device: DeviceId) -> Option<Device> {
        self.outside.devices.get(device.index()).copied()
    }

    /// The device whose bottom half a task is.
    pub(crate) fn device_of(&self, task: TaskId) -> Option<DeviceId> {
        let mut devices = (0..u16::MAX).map(DeviceId).zip(&self.outside.devices);
        let (number, _) = devices.find(|(_, device)| device.bottom_half == task)?;
        Some(number)
    }

    /// The server on whose behalf a bottom half runs for which `task` waits.
    pub(crate) fn host(&self, task: TaskId) -> Option<ServerId> {
        self.outside.hosts.get(task.index()).copied().flatten()
    }

    /// The hosts of those who wait for a device.
    pub(crate) fn hosts(&self, device: DeviceId) -> Vec<ServerId> {
        let waiters = self.queues.get(device.index()).map(|queue| &queue.waiters);
        let waiters = waiters.into_iter().flatten();
        waiters
            .filter_map(|waiter| self.host(waiter.job.task))
            .collect()
    }

    /// How many events of a device are pending, with the one that is handled.
    pub(crate) fn pending(&self, device: DeviceId) -> u64 {
        let queue = self.queues.get(device.index());
        queue.map_or(0, |queue| queue.pending)
    }

    fn next_wait(&self, job: &JobState) -> Option<Wait> {
        let done = match self.progress.get(job.id.task.index()) {
            Some(progress) if progress.sequence == job.id.sequence => progress.waits,
            Some(_) | None => 0,
        };
        let waits = self.outside.waits.get(job.id.task.index())?;
        let wait = *waits.get(done)?;
        (wait.after <= job.demand).then_some(wait)
    }

    /// What `job` executes from now on before it blocks or completes.
    pub(crate) fn stretch(&self, job: &JobState) -> Service {
        match self.next_wait(job) {
            Some(wait) => wait.after.saturating_sub(job.executed),
            None => job.remaining(),
        }
    }

    /// Why `job`, which has executed up to here, does not complete now if it belongs to a task; if it blocks, it waits
    /// from now on.
    pub(crate) fn pause(&mut self, job: &JobState) -> Option<Pause> {
        if let Some(device) = self.device_of(job.id.task) {
            return Some(Pause::Served(device));
        }
        let wait = self
            .next_wait(job)
            .filter(|wait| wait.after <= job.executed)?;
        let progress = self.progress.get_mut(job.id.task.index())?;
        if progress.sequence != job.id.sequence {
            *progress = Progress {
                sequence: job.id.sequence,
                waits: 0,
            };
        }
        progress.waits += 1;
        self.queues
            .get_mut(wait.device.index())?
            .waiters
            .push_back(Waiter {
                job: job.id,
                left: wait.events,
            });
        Some(Pause::Blocked(wait))
    }

    /// Events of a device arrive.
    pub(crate) fn arrive(&mut self, device: DeviceId, at: Instant, count: u64) -> Arrived {
        let Some(queue) = self.queues.get_mut(device.index()) else {
            return Arrived {
                accepted: 0,
                begins: false,
            };
        };
        let fits = count.min(QUEUED_MAX.saturating_sub(queue.pending));
        let begins = queue.pending == 0 && fits > 0;
        if fits > 0 {
            queue.pending += fits;
            queue.arrived.push_back((at, fits));
        }
        Arrived {
            accepted: u32::try_from(fits).unwrap_or(u32::MAX),
            begins,
        }
    }

    /// The next bottom half of a device begins: its number, and when its event arrived. `None` if no event waits.
    pub(crate) fn begin(&mut self, device: DeviceId) -> Option<(u64, Instant)> {
        let queue = self.queues.get_mut(device.index())?;
        let (at, count) = queue.arrived.front_mut()?;
        let at = *at;
        *count -= 1;
        if *count == 0 {
            queue.arrived.pop_front();
        }
        let number = queue.begun;
        queue.begun += 1;
        Some((number, at))
    }

    /// An event was served; the job that goes on, if it was the last one that it waited for.
    pub(crate) fn serve(&mut self, device: DeviceId) -> Option<JobId> {
        let queue = self.queues.get_mut(device.index())?;
        queue.pending -= 1;
        let oldest = queue.waiters.front_mut()?;
        oldest.left = oldest.left.saturating_sub(1);
        if oldest.left > 0 {
            return None;
        }
        queue.waiters.pop_front().map(|waiter| waiter.job)
    }

    /// A job was dropped: nothing is served for it any more.
    pub(crate) fn forget(&mut self, job: JobId) {
        for queue in &mut self.queues {
            queue.waiters.retain(|waiter| waiter.job != job);
        }
    }

    /// What happens by itself until `now`, one after the other.
    pub(crate) fn due(&mut self, now: Instant) -> Option<Happened> {
        if self.next > now {
            return None;
        }
        let happened = self.take(now);
        self.look_ahead();
        happened
    }

    fn take(&mut self, now: Instant) -> Option<Happened> {
        for (device, queue) in (0..u16::MAX).map(DeviceId).zip(&mut self.queues) {
            if let Some((at, count)) = queue.next.filter(|(at, _)| *at <= now) {
                queue.index += 1;
                let next = self.events.interrupt(device, queue.index, Some(at));
                // Never back in time, whatever a user's function says.
                queue.next = next.map(|(next, count)| (next.max(at), count));
                return Some(Happened::Events(device, count));
            }
        }
        let (_, level) = self.mode.filter(|(at, _)| *at <= now)?;
        self.mode_index += 1;
        self.mode = self.events.mode_request(self.mode_index);
        Some(Happened::Mode(level))
    }

    fn look_ahead(&mut self) {
        let events = self.queues.iter().filter_map(|queue| queue.next);
        let events = events.map(|(at, _)| at).min().unwrap_or(NEVER);
        self.next = self.mode.map_or(events, |(at, _)| events.min(at));
    }
}
