//! The budget monitor of a worker.

use crate::monitor::Monitor;
use crate::scarce::{Resource, making};
use crate::sys::{self, Tid};

/// The armed monitor of one worker.
#[derive(Debug)]
pub(crate) enum Armed {
    Perf(sys::perf::TaskClock),
    Wall(sys::timer::SignalTimer),
    CpuTime(sys::timer::SignalTimer),
}

impl Armed {
    /// Creates the monitor `kind` of the calling thread, whose signals come with `tag` if it has a timer; a heartbeat has
    /// nothing of its own there.
    pub(crate) fn of_this_thread(
        kind: Monitor,
        manager: Tid,
        tag: usize,
    ) -> std::io::Result<Option<Self>> {
        use sys::{perf::TaskClock, timer::SignalTimer};
        let armed = match kind {
            Monitor::Perf => Self::Perf(
                TaskClock::of_this_thread(manager).map_err(making(Resource::PerfCounter))?,
            ),
            Monitor::Manager | Monitor::Remainder => {
                let timer = SignalTimer::wall_tagged(manager, tag);
                Self::Wall(timer.map_err(making(Resource::Timer))?)
            }
            Monitor::PosixTimer => {
                let timer = SignalTimer::cpu_time_of_this_thread(manager, tag);
                Self::CpuTime(timer.map_err(making(Resource::Timer))?)
            }
            Monitor::Heartbeat => return Ok(None),
        };
        Ok(Some(armed))
    }

    /// Lets it fire when its thread has run, or can at the earliest have run, for `nanos`.
    pub(crate) fn start(&self, nanos: u64) {
        match self {
            Self::Perf(counter) => counter.start(nanos),
            Self::Wall(timer) | Self::CpuTime(timer) => timer.set(nanos),
        }
    }

    pub(crate) fn stop(&self) {
        match self {
            Self::Perf(counter) => counter.stop(),
            Self::Wall(timer) | Self::CpuTime(timer) => timer.set(0),
        }
    }
}
