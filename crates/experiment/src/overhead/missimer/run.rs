//! One run, and what is run.

use super::spans::{self, Span};
use crate::number::as_f64;
use serde::{Deserialize, Serialize};

/// Which task set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Table II: two applications and a camera.
    OneCamera,
    /// The same with a second camera, of the lower level.
    TwoCameras,
    /// Table III: two cameras, and the mode rises at half time.
    Change,
}

/// What runs bottom halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// Sporadic servers, as they run everything else.
    SsOnly,
    /// PIBS.
    SsPibs,
}

impl Place {
    /// All, in the paper's order.
    pub const ALL: [Self; 3] = [Self::OneCamera, Self::TwoCameras, Self::Change];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneCamera => "one-camera",
            Self::TwoCameras => "two-cameras",
            Self::Change => "change",
        }
    }

    /// What is compared there: the paper changes the mode with PIBS only.
    #[must_use]
    pub const fn systems(self) -> &'static [System] {
        match self {
            Self::OneCamera | Self::TwoCameras => &[System::SsOnly, System::SsPibs],
            Self::Change => &[System::SsPibs],
        }
    }
}

impl System {
    /// What the paper calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SsOnly => "SS-only",
            Self::SsPibs => "SS+PIBS",
        }
    }
}

/// What became of a camera's events, and what its server gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Camera {
    /// Events that were sent.
    pub sent: u64,
    /// Those that its bottom half served.
    pub served: u64,
    /// Those that were left over in the device.
    pub queued: u64,
    /// Those for which there was no room, or that a bottom half was kept from.
    pub dropped: u64,
    /// How late its sender was in all, each time beyond 20 ms: a device holds 256 events at least, which are 32 ms of them.
    pub stalled_ns: u64,
    /// What its server was charged.
    pub charged_ns: u64,
    /// How much of that server's budget came later than it would have, because a list was full.
    pub postponed_ns: u64,
    /// How many had been served at each look at them, [`Run::looked_ns`].
    pub served_by: Vec<u64>,
    /// When others took the CPU while its bottom half had it and served an event: parts in their order, of which none meet.
    pub taken: Vec<Span>,
}

impl Camera {
    /// How long others took the CPU while its bottom half had it and served an event.
    #[must_use]
    pub fn taken_ns(&self) -> u64 {
        spans::within(&self.taken, 0, u64::MAX)
    }
}

/// A rise of the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rise {
    /// When, since the run began.
    pub at_ns: u64,
    /// What others took of the CPU in the last [`JUST_BEFORE_NS`] before that, while the job had it that raised the mode.
    pub taken_ns: u64,
}

/// How far data points of cameras are from one another: the period of the applications.
pub const WINDOW_NS: u64 = 100_000_000;
/// What this world may add to a job without raising the mode: the least that a run takes for that.
pub const TOLERANCE_NS: u64 = 50_000;
/// What others take of the CPU just before a rise, while the job has it that raises the mode, may be why that has exceeded its budget. A job of ours burns until its thread has had what it demands, what
/// others took included: what it exceeds that by comes within its last look at the clock and until it has ended, and a more urgent bottom half may be in
/// between.
pub const JUST_BEFORE_NS: u64 = 5_000_000;

/// What a run measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// What was run.
    pub place: Place,
    /// With what.
    pub system: System,
    /// The number of its repetition.
    pub repetition: u32,
    /// How long it took.
    pub span_ns: u64,
    /// When jobs of each application were completed, since the run began.
    pub completed_ns: [Vec<u64>; 2],
    /// How many jobs of each were dropped.
    pub dropped: [u64; 2],
    /// How many events each read of its camera, and how many came and went between two of its jobs.
    pub read: [u64; 2],
    /// See [`Self::read`].
    pub overwritten: [u64; 2],
    /// When the mode rose.
    pub rises: Vec<Rise>,
    /// When it returned, since the run began.
    pub returns_ns: Vec<u64>,
    /// CPU time of the run's own threads on its CPU, and of workers outside the bodies of jobs.
    pub scheduler_ns: u64,
    /// Switches between threads of the run.
    pub switches: u64,
    /// How often the scheduler was told of an interrupt.
    pub interrupts: u64,
    /// Each camera.
    pub cameras: Vec<Camera>,
    /// When it was looked how much of them had been served, since the run began: a [`WINDOW_NS`] after the other, or somewhat later.
    pub looked_ns: Vec<u64>,
    /// What others took of the CPU.
    pub lost_ns: u64,
    /// How often.
    pub gaps: u64,
    /// When they took it is known from then on, of the newest of these gaps.
    pub known_from_ns: u64,
}

/// What was served of a camera between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From the look before on.
    pub from_ns: u64,
    /// Until the look.
    pub to_ns: u64,
    /// So many events.
    pub served: u64,
}

impl Window {
    /// How long it is.
    #[must_use]
    pub const fn length_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    /// Whether neither look was late by much: the events of a burst in a window that is almost none are no rate.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        const LATE_NS: u64 = WINDOW_NS / 10;
        self.length_ns().abs_diff(WINDOW_NS) <= LATE_NS
    }

    /// Events for each [`WINDOW_NS`] of its length.
    #[must_use]
    pub fn rate(&self) -> f64 {
        as_f64(self.served) * as_f64(WINDOW_NS) / as_f64(self.length_ns().max(1))
    }
}

impl Run {
    /// What was served of a camera between looks, one after the other; the first one was when the run began.
    #[must_use]
    pub fn windows(&self, camera: &Camera) -> Vec<Window> {
        let looks = || {
            self.looked_ns
                .iter()
                .copied()
                .zip(camera.served_by.iter().copied())
        };
        let befores = std::iter::once((0, 0)).chain(looks());
        let each = befores.zip(looks());
        let each = each.map(|((from_ns, before), (to_ns, served))| Window {
            from_ns,
            to_ns,
            served: served.saturating_sub(before),
        });
        each.collect()
    }

    /// How many windows a late look has made much longer or shorter than others.
    #[must_use]
    pub fn late_looks(&self) -> usize {
        let first = self.cameras.first();
        let windows = first.map_or_else(Vec::new, |camera| self.windows(camera));
        windows.iter().filter(|window| !window.is_whole()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::made;
    use super::*;

    /// The second look is late by almost a window, and the third comes at its time: what a burst serves in the 3 ms between them is no rate.
    #[test]
    fn windows_have_what_was_served_since_the_look_before_and_a_late_look_spoils_two() {
        let camera = Camera {
            served_by: vec![3, 3, 203, 210],
            ..Camera::default()
        };
        let late = 2 * WINDOW_NS + 97_000_000;
        let looked_ns = vec![WINDOW_NS, late, 3 * WINDOW_NS, 4 * WINDOW_NS];
        let run = Run {
            looked_ns,
            cameras: vec![camera.clone()],
            ..made(Place::Change, System::SsPibs, 0)
        };
        let windows = run.windows(&camera);
        let served: Vec<u64> = windows.iter().map(|window| window.served).collect();
        assert_eq!(served, [3, 0, 200, 7]);
        let whole: Vec<bool> = windows.iter().map(Window::is_whole).collect();
        assert_eq!(whole, [true, false, false, true]);
        assert_eq!(windows[3].rate(), 7.0);
        assert!(windows[2].rate() > 6_000.0);
        assert_eq!(run.late_looks(), 2);
        assert_eq!(run.windows(&Camera::default()), []);
    }
}
