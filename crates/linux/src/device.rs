//! Devices whose events tasks wait for: Missimer, Missimer and West (2016).
//!
//! ```text
//!            ready (kernel)         raise, call (1)            Interrupt (2)                  reads until it is empty (3)
//!  unmasked --------------> masked -----------------> raised ----------------> bottom half ---------------------------+
//!     ^                                                                                                                |
//!     +------------------------------------------ its end was taken (4) -----------------------------------------------+
//! ```
//! (1) the top half, a thread that waits for readiness and reads nothing, because reading has no budget; (2) the manager, to its
//! scheduler; (3) the bottom half, a worker of the server that has the budget for it; (4) the manager. A device is masked from
//! the first event on that finds it ready until its bottom half has come to its end, so that a storm wakes the top half once for
//! each bottom half, however fast it comes.
//!
//! A bottom half ends when it finds nothing more to read, and when it has served what somebody waited for: so each runs on behalf
//! of those who still wait when it is told, and a device that never runs empty does not keep the server of one who has gone on.

use crate::sys::clock::monotonic_nanos;
use crate::sys::event;
use crate::sys::readiness::{Readiness, Ready};
use crate::sys::source::{Input, KernelDrops};
use crate::sys::{Processor, sched};
use crate::words::{Latest, Line, Tally};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vestal_core::TaskId;

/// Something that events come from, for one run. Clones are the same device.
#[derive(Clone, Debug)]
pub struct Device(Arc<Shared>);

/// What the threads of a run share of a device.
#[derive(Debug)]
struct Shared {
    name: String,
    input: Input,
    line: Line,
    tally: Tally,
    /// By the bottom half: the clock when it served the last event that it counted, or counts just now.
    served_at: Latest<u64>,
    /// By the top half: how often it found the device ready, and how often that was no news.
    wakes: Latest<u64>,
    spurious: Latest<u64>,
    /// By the bottom half: how many events it took and was kept from doing anything about, whether no event will come any
    /// more, and the number of the error of reading that is the reason for that.
    lost: Latest<u64>,
    is_over: Latest<u8>,
    failed: Latest<i32>,
    /// By the manager: of how many interrupts it told the scheduler.
    told: Latest<u64>,
    /// By who starts the run: whether one has taken it up.
    in_use: Latest<u8>,
    /// By whoever asks what the kernel has dropped: none of the run's threads.
    drops: Mutex<Drops>,
}

/// What the kernel has dropped since a run began.
#[derive(Debug, Default)]
struct Drops {
    /// What its counters said last.
    seen: KernelDrops,
    in_all: u64,
}

impl Drops {
    /// They say so now: what they have counted since the last look is added, also where the smaller of them has begun anew.
    fn see(&mut self, now: KernelDrops) -> u64 {
        let socket = now.socket.wrapping_sub(self.seen.socket);
        let interface = now.interface.saturating_sub(self.seen.interface);
        let new = u64::from(socket).saturating_add(interface);
        self.in_all = self.in_all.saturating_add(new);
        self.seen = now;
        self.in_all
    }
}

impl Device {
    /// One that events come from by `input`.
    pub fn new(name: impl Into<String>, input: Input) -> Self {
        Self(Arc::new(Shared {
            name: name.into(),
            input,
            line: Line::default(),
            tally: Tally::default(),
            served_at: Latest::default(),
            wakes: Latest::default(),
            spurious: Latest::default(),
            lost: Latest::default(),
            is_over: Latest::default(),
            failed: Latest::default(),
            told: Latest::default(),
            in_use: Latest::default(),
            drops: Mutex::default(),
        }))
    }

    /// Its name in results.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What its events come by. While a run goes on, its bottom half alone takes them.
    #[must_use]
    pub fn input(&self) -> &Input {
        &self.0.input
    }

    /// How many events its bottom half has served in the present run, or the last one.
    #[must_use]
    pub fn served(&self) -> u64 {
        self.0.tally.served()
    }

    /// How many events the kernel has dropped since the present run began, or the last one did: [`Input::dropped`] since then. The counter of a
    /// socket begins anew after 2^32, so this has to be called before there are so many more: once an hour is enough for a million a second.
    ///
    /// # Errors
    /// As [`Input::dropped`].
    pub fn dropped(&self) -> io::Result<u64> {
        let mut drops = self.drops();
        let now = self.0.input.dropped()?;
        Ok(drops.see(now))
    }

    fn drops(&self) -> MutexGuard<'_, Drops> {
        self.0.drops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a run has taken it up, after whatever is tried out before one: who sends from then on sends no more than is served
    /// or queued in it, or finds no room.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.0.in_use.get() > 0
    }

    /// The top half has found it ready when the clock said `now`; says whether that is news.
    pub(crate) fn raise(&self, now: u64) -> bool {
        let shared = &self.0;
        shared.wakes.set(shared.wakes.get() + 1);
        let is_news = shared.line.raise(now);
        if !is_news {
            shared.spurious.set(shared.spurious.get() + 1);
        }
        is_news
    }

    /// Whether its bottom half is to do something, or does.
    pub(crate) fn is_told(&self) -> bool {
        self.0.line.is_told()
    }

    /// The clock when it was raised, if that is news to the manager, and was before the run's `end`: of what came later nobody is told.
    pub(crate) fn take_interrupt(&self, end: u64) -> Option<u64> {
        let at = self.0.line.take().filter(|&at| at < end)?;
        self.0.told.set(self.0.told.get() + 1);
        Some(at)
    }

    /// The bottom half has served one more when the clock said `now`; says whether somebody waits for that.
    pub(crate) fn serve(&self, now: u64) -> bool {
        // First: who sees the event sees when it was, or when one after it.
        self.0.served_at.set(now);
        self.0.tally.serve()
    }

    /// The clock when the last event was served, at the earliest.
    pub(crate) fn served_at(&self) -> u64 {
        self.0.served_at.get()
    }

    /// The bottom half was kept from doing anything about an event.
    pub(crate) fn lose(&self) {
        self.0.lost.set(self.0.lost.get() + 1);
    }

    /// No event will come any more, says the bottom half: the other side is closed, or reading fails.
    pub(crate) fn end(&self, failed: Option<&io::Error>) {
        if let Some(error) = failed {
            self.0.failed.set(error.raw_os_error().unwrap_or(i32::MAX));
        }
        // Last, so that who sees it sees why.
        self.0.is_over.set(1);
    }

    /// The bottom half is to call when so many were served, if they are not yet; gives how many are.
    pub(crate) fn call_at(&self, target: u64) -> u64 {
        self.0.tally.call_at(target)
    }

    /// What became of it in a run that is over.
    pub(crate) fn outcome(&self) -> Outcome {
        let shared = &self.0;
        Outcome {
            name: shared.name.clone(),
            wakes: shared.wakes.get(),
            spurious: shared.spurious.get(),
            interrupts: shared.told.get(),
            served: shared.tally.served(),
            lost: shared.lost.get(),
            is_over: shared.is_over.get() > 0,
            failed: Some(shared.failed.get()).filter(|&number| number != 0),
        }
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Before a run begins.
    fn reset(&self) -> io::Result<()> {
        let shared = &self.0;
        *self.drops() = Drops {
            seen: shared.input.dropped()?,
            in_all: 0,
        };
        shared.line.calm();
        shared.tally.reset();
        shared.served_at.set(0);
        for count in [&shared.wakes, &shared.spurious, &shared.lost, &shared.told] {
            count.set(0);
        }
        shared.is_over.set(0);
        shared.failed.set(0);
        shared.in_use.set(1);
        Ok(())
    }
}

/// What became of a device in a run: its events are those that were served, those that were lost, and those that are still there to
/// be read; beside those for which who sent found no room, and those that the kernel dropped, [`Device::dropped`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// How often the top half found it ready.
    pub wakes: u64,
    /// How often of these it was masked, and should not have been found.
    pub spurious: u64,
    /// Of how many interrupts the scheduler was told.
    pub interrupts: u64,
    /// How many events its bottom half served.
    pub served: u64,
    /// How many it took and was kept from doing anything about, because its job was cancelled.
    pub lost: u64,
    /// Whether no event can come any more: the other side was closed, or reading failed.
    pub is_over: bool,
    /// The number of the error with which reading failed, as the system call gave it (`errno`).
    pub failed: Option<i32>,
}

/// The clock that runs go by, in nanoseconds, for who sends events at their instants.
#[must_use]
pub fn clock_nanos() -> u64 {
    monotonic_nanos()
}

/// Sleeps until that clock reads so much.
pub fn sleep_until(nanos: u64) {
    event::sleep_until(nanos);
}

/// The calling thread, which sends events, keeps off these processors if it may use others: those of a run, whose threads would
/// keep it from sending. Without any, from the last that it may use, where a run of one CPU goes that was told of none.
///
/// # Errors
/// What the system calls say.
pub fn keep_off(processors: &[Processor]) -> io::Result<()> {
    let mut others = sched::affinity()?;
    if processors.is_empty() {
        others.pop();
    }
    others.retain(|&other| !processors.contains(&Processor(other)));
    match others.as_slice() {
        [] => Ok(()),
        some => sched::pin_to_any(some),
    }
}

/// A device with the task that is its bottom half.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    pub(crate) task: TaskId,
    pub(crate) device: Device,
}

/// One that is there twice, as events of one go to one bottom half.
pub(crate) fn twice<'a>(each: impl Iterator<Item = &'a Attached>) -> Option<&'a Device> {
    let mut before: Vec<&Device> = Vec::new();
    for Attached { device, .. } in each {
        if before.iter().any(|other| other.is(device)) {
            return Some(device);
        }
        before.push(device);
    }
    None
}

/// The devices of a CPU, by their numbers, and what its top half waits for.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    each: Vec<Attached>,
    /// None without devices.
    readiness: Option<Readiness>,
}

impl Devices {
    /// These, for a run that begins.
    ///
    /// # Errors
    /// What the system calls say: one may be there twice, or be something that cannot be waited for.
    pub(crate) fn new(each: Vec<Attached>) -> io::Result<Self> {
        if each.is_empty() {
            return Ok(Self::default());
        }
        let readiness = Readiness::new()?;
        for (index, Attached { device, .. }) in each.iter().enumerate() {
            device.reset()?;
            readiness.watch(device.input(), index)?;
        }
        Ok(Self {
            each,
            readiness: Some(readiness),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Attached> {
        self.each.iter()
    }

    /// The number of a device that is here.
    pub(crate) fn place_of(&self, device: &Device) -> Option<usize> {
        let mut each = self.each.iter();
        each.position(|attached| attached.device.is(device))
    }

    /// The number of a device for which a job of this task can wait.
    ///
    /// # Errors
    /// Says why it cannot: it would never go on.
    pub(crate) fn place_for(&self, task: TaskId, device: &Device) -> Result<usize, String> {
        let name = device.name();
        match self.place_of(device) {
            None => Err(format!("this CPU has no device {name}")),
            Some(place) if self.of_task(task) == Some(place) => Err(format!(
                "the bottom half of device {name} waits for itself: nobody else serves what it waits for"
            )),
            Some(place) => Ok(place),
        }
    }

    /// The number of the device whose bottom half a task is.
    pub(crate) fn of_task(&self, task: TaskId) -> Option<usize> {
        let mut each = self.each.iter();
        each.position(|attached| attached.task == task)
    }

    /// Whether the manager has an interrupt to take.
    pub(crate) fn are_raised(&self) -> bool {
        let mut each = self.each.iter();
        each.any(|attached| attached.device.0.line.is_raised())
    }

    /// How many events of a device were served.
    pub(crate) fn served(&self, place: usize) -> u64 {
        let attached = self.each.get(place);
        attached.map_or(0, |attached| attached.device.served())
    }

    /// Waits until devices are ready, or for the end: those that are, each of which is masked from now on; `None` without any
    /// device. By the top half.
    ///
    /// # Errors
    /// What the system call says.
    pub(crate) fn wait(&self) -> io::Result<Option<Ready>> {
        self.readiness.as_ref().map(Readiness::wait).transpose()
    }

    /// Those found ready.
    pub(crate) fn of(&self, ready: &Ready) -> impl Iterator<Item = &Device> {
        let found = ready.tags().filter_map(|tag| self.each.get(tag));
        found.map(|attached| &attached.device)
    }

    /// The bottom half of this task has come to its end, in whatever way: its device is heard again, unless nothing will come from it.
    /// By the manager.
    ///
    /// # Errors
    /// What the system call says.
    pub(crate) fn unmask(&self, task: TaskId) -> io::Result<()> {
        let Some(index) = self.of_task(task) else {
            return Ok(());
        };
        let (Some(attached), Some(readiness)) = (self.each.get(index), &self.readiness) else {
            return Ok(());
        };
        let shared = &attached.device.0;
        if shared.is_over.get() > 0 {
            return Ok(());
        }
        // First: what is found meanwhile finds it quiet.
        shared.line.calm();
        readiness.arm(&shared.input, index)
    }

    /// The device at this place is heard again whatever its line says, which is a fault.
    #[cfg(feature = "real")]
    pub(crate) fn hear(&self, place: usize) -> io::Result<()> {
        match (self.each.get(place), &self.readiness) {
            (Some(attached), Some(readiness)) => readiness.arm(attached.device.input(), place),
            (_, _) => Ok(()),
        }
    }

    /// No thread waits any more.
    pub(crate) fn stop(&self) {
        if let Some(readiness) = &self.readiness {
            readiness.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::pipe::packets;

    fn attached(task: u16) -> Attached {
        let (_, input) = packets(1).unwrap();
        let device = Device::new("pipe", input);
        let task = TaskId(task);
        Attached { task, device }
    }

    #[test]
    fn a_counter_that_begins_anew_loses_nothing() {
        let mut drops = Drops {
            seen: KernelDrops {
                socket: u32::MAX - 4,
                interface: 100,
            },
            in_all: 0,
        };
        let see =
            |drops: &mut Drops, socket, interface| drops.see(KernelDrops { socket, interface });
        assert_eq!(see(&mut drops, u32::MAX, 100), 4);
        assert_eq!(see(&mut drops, 2, 110), 4 + 3 + 10);
        assert_eq!(see(&mut drops, 1, 110), 4 + 3 + 10 + u64::from(u32::MAX));
        assert_eq!(see(&mut drops, 1, 110), 4 + 3 + 10 + u64::from(u32::MAX));
    }

    #[test]
    fn a_bottom_half_waits_for_other_devices_than_its_own() {
        let each = [attached(1), attached(2)];
        let [first, second] = each.clone().map(|attached| attached.device);
        let stranger = attached(3).device;
        let devices = Devices::new(each.to_vec()).unwrap();
        assert_eq!(devices.place_for(TaskId(0), &first), Ok(0));
        assert_eq!(devices.place_for(TaskId(1), &second), Ok(1));
        let own = devices.place_for(TaskId(2), &second).unwrap_err();
        assert!(own.contains("waits for itself"), "{own}");
        assert!(devices.place_for(TaskId(0), &stranger).is_err());
    }
}
