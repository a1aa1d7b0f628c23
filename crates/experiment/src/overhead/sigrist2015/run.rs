//! One run, and what a set is run on.

use serde::{Deserialize, Serialize};

/// Where a set comes from, and on how many CPUs it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Drawn as in section VII-A.
    Drawn {
        /// For so many CPUs.
        cpus: u16,
        /// The utilization for each of them, in thousandths.
        permille: u32,
    },
    /// The flight management system (Table III).
    Flight {
        /// With the execution times of this machine.
        platform: Platform,
        /// On so many CPUs.
        cpus: u16,
    },
}

/// Whose execution times the flight management system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// Xeon Phi.
    Phi,
    /// Core i5.
    I5,
}

impl Platform {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Phi => "fms-phi",
            Self::I5 => "fms-i5",
        }
    }
}

impl Place {
    /// Its CPUs.
    #[must_use]
    pub const fn cpus(self) -> u16 {
        match self {
            Self::Drawn { cpus, .. } | Self::Flight { cpus, .. } => cpus,
        }
    }

    /// Whose execution times the flight management system has there.
    #[must_use]
    pub const fn platform(self) -> Option<Platform> {
        match self {
            Self::Drawn { .. } => None,
            Self::Flight { platform, .. } => Some(platform),
        }
    }

    /// The utilization of drawn sets for each CPU, in thousandths.
    #[must_use]
    pub const fn permille(self) -> Option<u32> {
        match self {
            Self::Drawn { permille, .. } => Some(permille),
            Self::Flight { .. } => None,
        }
    }

    /// Which set it is, in results.
    #[must_use]
    pub const fn set(self) -> &'static str {
        match self {
            Self::Drawn { .. } => "drawn",
            Self::Flight { platform, .. } => platform.name(),
        }
    }
}

/// How often what happened that takes time, on all CPUs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// Frames that began.
    pub frames: u64,
    /// Sub-frames that began.
    pub sub_frames: u64,
    /// Frames in which one was dropped.
    pub dropped: u64,
    /// Jobs that were released.
    pub released: u64,
    /// Jobs that were completed.
    pub completed: u64,
    /// Changes of mode; with frames there is one for each dropped sub-frame, and one back.
    pub mode_changes: u64,
}

impl Events {
    /// With what became of frames of two levels: so many began by the clock, so many were skipped as a whole, and in so many the
    /// sub-frame of the lowest level was dropped.
    #[must_use]
    pub const fn with_frames(self, total: u64, skipped: u64, dropped: u64) -> Self {
        let frames = total.saturating_sub(skipped);
        Self {
            frames,
            sub_frames: (2 * frames).saturating_sub(dropped),
            dropped,
            ..self
        }
    }
}

/// Nanoseconds of a CPU: the mean of all that have tasks, and of the one with the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerCpu {
    /// The mean.
    pub mean_ns: u64,
    /// The most.
    pub max_ns: u64,
}

impl PerCpu {
    /// Of these CPUs.
    #[must_use]
    pub fn of(each: &[u64]) -> Self {
        let sum = each
            .iter()
            .fold(0, |sum: u64, &one| sum.saturating_add(one));
        Self {
            mean_ns: sum / (each.len().max(1) as u64),
            max_ns: each.iter().copied().max().unwrap_or(0),
        }
    }
}

/// What a run measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// What was run.
    pub place: Place,
    /// The number of its set among those of the place, or of the repetition with a file.
    pub number: u32,
    /// The variant's name.
    pub variant: String,
    /// Whether no job missed its deadline and no frame was late: only such schedules count, as in the paper.
    pub kept: bool,
    /// How long it took.
    pub span_ns: u64,
    /// On how many CPUs there were tasks.
    pub employed: u16,
    /// Each part of the variant's kind, in that order; `None`: the run did not measure it.
    pub parts: Vec<Option<PerCpu>>,
    /// The sum of the parts.
    pub scheduler: PerCpu,
    /// CPU time outside the bodies of jobs that is in no part.
    pub system: PerCpu,
    /// What happened.
    pub events: Events,
    /// What others took of all CPUs.
    pub lost_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_has_two_sub_frames_but_for_those_that_were_dropped() {
        let events = Events::default().with_frames(10, 2, 3);
        assert_eq!(
            (events.frames, events.sub_frames, events.dropped),
            (8, 13, 3)
        );
    }

    #[test]
    fn cpus_have_a_mean_and_a_most() {
        let found = PerCpu::of(&[10, 30]);
        assert_eq!((found.mean_ns, found.max_ns), (20, 30));
        assert_eq!(PerCpu::of(&[]), PerCpu::default());
    }
}
