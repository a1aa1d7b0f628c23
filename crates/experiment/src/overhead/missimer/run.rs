//! One run, and what is run.

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

/// What became of a camera's events.
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
    /// How many had been served at the end of each window of [`WINDOW_NS`].
    pub served_by: Vec<u64>,
}

/// How far data points of cameras are from one another: the period of the applications.
pub const WINDOW_NS: u64 = 100_000_000;

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
    /// How often the mode rose.
    pub rises: u64,
    /// CPU time of the run's own threads on its CPU, and of workers outside the bodies of jobs.
    pub scheduler_ns: u64,
    /// Switches between threads of the run.
    pub switches: u64,
    /// How often the scheduler was told of an interrupt.
    pub interrupts: u64,
    /// Each camera.
    pub cameras: Vec<Camera>,
    /// What others took of the CPU.
    pub lost_ns: u64,
}

impl Camera {
    /// How many events were served within each window.
    #[must_use]
    pub fn by_window(&self) -> Vec<u64> {
        let before = std::iter::once(0).chain(self.served_by.iter().copied());
        let each = self.served_by.iter().zip(before);
        each.map(|(&now, before)| now.saturating_sub(before))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_what_was_served_since_the_one_before() {
        let camera = Camera {
            served_by: vec![3, 3, 10],
            ..Camera::default()
        };
        assert_eq!(camera.by_window(), [3, 0, 7]);
        assert_eq!(Camera::default().by_window(), [0; 0]);
    }
}
