//! How much is measured.

use super::run::{Place, System};
use std::time::Duration;

/// How often, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Repetitions of everything.
    pub repetitions: u32,
    /// How long a run with cameras takes.
    pub interval: Duration,
    /// How long one takes in which the mode changes at half time.
    pub change: Duration,
}

/// All of it: twelve minutes and a half. The interval of one of two medians exists with ten repetitions; others may disturb four, or starve their senders.
pub const FULL: Plan = Plan {
    repetitions: 14,
    interval: Duration::from_secs(8),
    change: Duration::from_secs(16),
};

/// A quick look: structure, not precision.
pub const QUICK: Plan = Plan {
    repetitions: 6,
    interval: Duration::from_secs(1),
    change: Duration::from_secs(2),
};

impl Plan {
    /// With another number of repetitions.
    #[must_use]
    pub fn repeated(self, repetitions: Option<u32>) -> Self {
        let repetitions = repetitions.unwrap_or(self.repetitions);
        Self {
            repetitions,
            ..self
        }
    }

    /// How long a run takes.
    #[must_use]
    pub const fn interval_of(&self, place: Place) -> Duration {
        match place {
            Place::OneCamera | Place::TwoCameras => self.interval,
            Place::Change => self.change,
        }
    }

    /// Everything in the order of time: forwards and backwards in turn, sets and systems, so that what drifts within a repetition
    /// meets what is compared in both orders.
    pub fn runs(&self) -> impl Iterator<Item = (Place, System, u32)> {
        (0..self.repetitions).flat_map(|repetition| {
            let each = Place::ALL.into_iter().flat_map(move |place| {
                let systems = place.systems().iter();
                systems.map(move |&system| (place, system, repetition))
            });
            let mut each: Vec<(Place, System, u32)> = each.collect();
            if repetition % 2 == 1 {
                each.reverse();
            }
            each
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_statistics::median_interval;

    fn seconds(plan: Plan) -> u64 {
        let each = plan.runs().map(|(place, ..)| plan.interval_of(place));
        each.sum::<Duration>().as_secs()
    }

    #[test]
    fn everything_is_run_as_often_and_systems_take_turns() {
        assert_eq!((seconds(FULL), seconds(QUICK)), (672, 36));
        assert_eq!(FULL.runs().count(), 14 * 5);
        let of = |wanted: u32| {
            let runs = FULL.runs().filter(move |&(_, _, number)| number == wanted);
            runs.map(|(place, system, _)| (place, system))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(0)[0], (Place::OneCamera, System::SsOnly));
        assert_eq!(of(1)[0], (Place::Change, System::SsPibs));
        assert_eq!(of(1)[1], (Place::TwoCameras, System::SsPibs));
        let reversed: Vec<_> = of(0).into_iter().rev().collect();
        assert_eq!(of(1), reversed);
        assert_eq!(FULL.repeated(Some(3)).repetitions, 3);
        assert_eq!(FULL.repeated(None), FULL);
    }

    /// Two of a place, or of both systems, are decided together.
    #[test]
    fn there_are_enough_repetitions_for_an_interval() {
        let values = |count: u32| (0..count).map(f64::from).collect();
        assert!(median_interval(values(FULL.repetitions - 4), 2).is_some());
        assert!(median_interval(values(QUICK.repetitions), 1).is_none());
    }
}
