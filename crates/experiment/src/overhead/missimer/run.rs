//! One run, and what is run.

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
    /// How many had been served at each look at them, [`Run::looked_ns`].
    pub served_by: Vec<u64>,
}

/// A server was used up if at least one in so many events of its camera was left over or dropped.
pub const SATURATED: u64 = 10;
/// Others may take one in so many parts of a run.
pub const QUIET: u64 = 1_000;

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
    /// How many events each read of its camera, and how many came and went between two of its jobs.
    pub read: [u64; 2],
    /// See [`Self::read`].
    pub overwritten: [u64; 2],
    /// When the mode rose, since the run began.
    pub rises_ns: Vec<u64>,
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
}

impl Camera {
    /// Whether its server was used up: so much was left over or dropped that it can be no chance.
    #[must_use]
    pub const fn is_saturated(&self) -> bool {
        let rest = self.queued.saturating_add(self.dropped);
        rest.saturating_mul(SATURATED) >= self.sent
    }
}

impl Run {
    /// Whether it counts: others took so little of the CPU that it is not about them, and the server of each camera was used up, as those
    /// of the paper are.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.is_quiet() && self.cameras.iter().all(Camera::is_saturated)
    }

    /// Whether others took little of the CPU.
    #[must_use]
    pub const fn is_quiet(&self) -> bool {
        self.lost_ns.saturating_mul(QUIET) <= self.span_ns
    }

    /// How often the mode rose, unless each time may be due to what others took of the CPU just then.
    #[must_use]
    pub const fn own_rises(&self) -> Option<u64> {
        match self.rises_ns.len() as u64 {
            0 => Some(0),
            rises if rises > self.gaps => Some(rises),
            _ => None,
        }
    }

    /// Whether the mode rose once, about when a job was to raise it.
    #[must_use]
    pub fn changes_at_half_time(&self) -> bool {
        let half = self.span_ns / 2;
        let is_near = |at: u64| at.abs_diff(half) <= 2 * WINDOW_NS;
        matches!(self.rises_ns.as_slice(), &[at] if is_near(at))
    }

    /// How many events of a camera were served between two looks, for each [`WINDOW_NS`] between them.
    #[must_use]
    pub fn rates(&self, camera: &Camera) -> Vec<f64> {
        let looks = self.looked_ns.iter().zip(&camera.served_by);
        let befores = std::iter::once((&0, &0)).chain(looks.clone());
        let each = looks.zip(befores);
        let each = each.map(|((at, served), (since, before))| {
            let (served, length) = (served.saturating_sub(*before), at.saturating_sub(*since));
            as_f64(served) * as_f64(WINDOW_NS) / as_f64(length.max(1))
        });
        each.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::made;
    use super::*;

    #[test]
    fn windows_have_what_was_served_since_the_look_before_by_their_real_length() {
        let camera = Camera {
            served_by: vec![3, 3, 10],
            ..Camera::default()
        };
        let looked_ns = vec![WINDOW_NS, 2 * WINDOW_NS, 4 * WINDOW_NS];
        let run = Run {
            looked_ns,
            ..made(Place::Change, System::SsPibs, 0)
        };
        assert_eq!(run.rates(&camera), [3.0, 0.0, 3.5]);
        assert_eq!(run.rates(&Camera::default()), [0.0; 0]);
    }

    #[test]
    fn runs_with_lost_time_or_idle_servers_do_not_count() {
        let run = made(Place::OneCamera, System::SsOnly, 0);
        assert!(run.counts());
        let lost = |lost_ns| Run {
            lost_ns,
            ..run.clone()
        };
        assert!(lost(4_000_000).counts() && !lost(4_000_001).counts());
        let mut idle = run.clone();
        let camera = &mut idle.cameras[0];
        (camera.sent, camera.served, camera.queued, camera.dropped) = (100, 91, 9, 0);
        assert!(!idle.counts() && idle.is_quiet());
        idle.cameras[0].dropped = 1;
        assert!(idle.counts());
    }

    #[test]
    fn a_rise_that_a_gap_may_explain_is_nobody_s() {
        let of = |rises: u64, gaps| {
            let run = Run {
                rises_ns: (0..rises).collect(),
                gaps,
                ..made(Place::OneCamera, System::SsOnly, 0)
            };
            run.own_rises()
        };
        assert_eq!([of(0, 9), of(2, 2), of(3, 2)], [Some(0), None, Some(3)]);
    }

    #[test]
    fn the_mode_changes_once_and_at_half_time() {
        let half = 2_000_000_000;
        for (rises, expected) in [
            (vec![half + WINDOW_NS], true),
            (vec![half + 3 * WINDOW_NS], false),
            (vec![WINDOW_NS], false),
            (vec![WINDOW_NS, half], false),
            (Vec::new(), false),
        ] {
            let run = Run {
                rises_ns: rises.clone(),
                ..made(Place::Change, System::SsPibs, 0)
            };
            assert_eq!(run.changes_at_half_time(), expected, "{rises:?}");
        }
    }
}
