//! Bodies that wait for events of devices, and the bottom halves that serve these.

use crate::account::{Duty, Note, Suspensions, TaskNote, Wanted};
use crate::body::{Cancelled, JobContext};
use crate::device::Device;
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use crate::sys::source::Taken;
use crate::task::Wait;

/// The longest event that a bottom half sees whole.
const EVENT_BYTES: usize = 4_096;

impl JobContext<'_> {
    /// Waits until so many events of a device of this CPU were served that nobody has waited for before: those that were
    /// served before the call do not count. Meanwhile the job is blocked, which is reported to the scheduler, and its bottom half
    /// runs on its server's behalf if its own server inherits. A job of a task that always waits for one event goes on once for
    /// each that was served while it waited.
    ///
    /// # Errors
    /// [`Cancelled`] if the job loses its priority, or the run ends, before that. The events are not served for it then.
    ///
    /// # Panics
    /// The CPU has no such device: it has those of [`Executive::bottom_half`](crate::Executive::bottom_half). Or this is a job of
    /// its bottom half, which nobody else would serve meanwhile.
    pub fn wait_for(&mut self, device: &Device, events: u64) -> Result<(), Cancelled> {
        self.wait_since(device, device.served(), events)
    }

    /// The same since [`Device::served`] was so much: for a job that has asked for the events after it had read that, and of which
    /// some may have been served meanwhile.
    ///
    /// # Errors
    /// As [`Self::wait_for`].
    ///
    /// # Panics
    /// As [`Self::wait_for`].
    pub fn wait_since(
        &mut self,
        device: &Device,
        served: u64,
        events: u64,
    ) -> Result<(), Cancelled> {
        let place = self.cpu.devices.place_for(self.job.task, device);
        let place = place.unwrap_or_else(|why| panic!("{why}"));
        self.checkpoint()?;
        if events == 0 {
            return Ok(());
        }
        let keeps = self.keeps_its_priority();
        let was_inside = self.leave_for_a_wait();
        let look = self.end(keeps, false);
        self.own.end_body(look);
        self.handover.wait(Wait {
            sequence: self.job.sequence,
            device: place,
            events,
            served,
            at: look.wall,
        });
        // The manager takes the CPU at once, wanted from here on.
        let now = monotonic_nanos();
        self.own.note(Note::Leaves { now });
        self.cpu.kick_manager();
        self.sleep_until_it_goes_on();
        self.own.begin_body(monotonic_nanos(), own_cpu_nanos());
        (self.counted, self.looked) = (self.own.base(), self.own.beginning());
        if was_inside {
            self.suspension.enter();
        }
        // What it waited for is for others, whenever it is to come to its end.
        if self.jobs.is_demoted(self.job.sequence) {
            self.saw_cancellation = true;
            return Err(Cancelled);
        }
        self.checkpoint()
    }

    /// The job is outside its body from here on, where it is not held; says whether it was inside.
    fn leave_for_a_wait(&mut self) -> bool {
        if !self.suspension.is_inside() {
            return false;
        }
        let (executed, mut counts) = (self.executed().as_nanos(), Suspensions::default());
        let tolerance = self.cpu.terms.tolerance_nanos;
        if self.suspension.leave(executed, tolerance, &mut counts) {
            let task = self.job.task.index();
            self.own.note(Note::Task(task, TaskNote::Suspended(counts)));
        }
        true
    }

    /// Until the manager says so, or the run ends.
    fn sleep_until_it_goes_on(&mut self) {
        loop {
            // Read before looking, so that a call that comes while looking ends the wait.
            let changes = self.handover.changes.count();
            if self.handover.take_go_on() || self.cpu.stop_requested() {
                return;
            }
            self.own.wait(Duty::JobEnd, self.trace);
            self.handover.changes.wait_beyond(changes, None);
            self.trace.open();
            let (now, wanted) = (monotonic_nanos(), Wanted::ByTheManager);
            self.own.wake(wanted, now);
            self.trace.close();
        }
    }

    /// Takes events of `device`, one after the other, and does with each what `each` says: until there is none, or somebody has
    /// what he waited for. What is left then is found at once by the next bottom half, which runs on behalf of who waits still.
    /// What a bottom half takes of the CPU is bounded by the budget of its server, not by how many there are.
    fn serve_all(
        &mut self,
        device: &Device,
        buffer: &mut [u8],
        each: &mut impl FnMut(&mut Self, &[u8]) -> Result<(), Cancelled>,
    ) -> Result<(), Cancelled> {
        loop {
            self.checkpoint()?;
            match device.input().take(buffer) {
                Ok(Taken::Event(length)) => {
                    let event = buffer.get(..length).unwrap_or_default();
                    if each(self, event).is_err() {
                        device.lose();
                        return Err(Cancelled);
                    }
                    if device.serve(monotonic_nanos()) {
                        self.cpu.kick_manager();
                        return Ok(());
                    }
                }
                Ok(Taken::Interrupted) => {}
                Ok(Taken::Nothing) => return Ok(()),
                Ok(Taken::Over) => {
                    device.end(None);
                    return Ok(());
                }
                Err(error) => {
                    device.end(Some(&error));
                    return Ok(());
                }
            }
        }
    }
}

/// What the jobs of a bottom half do.
pub(crate) fn bottom_half(
    device: Device,
    mut each: impl FnMut(&mut JobContext<'_>, &[u8]) -> Result<(), Cancelled> + Send,
) -> impl FnMut(&mut JobContext<'_>) -> Result<(), Cancelled> + Send {
    let mut buffer = vec![0; EVENT_BYTES];
    move |job| job.serve_all(&device, &mut buffer, &mut each)
}
