//! How much is measured.

use super::run::{Place, Platform};
use super::variant::{self, FLIGHT, Kind, VARIANTS, Variant};
use std::time::Duration;
use vestal_result::shares::Measurement;

/// How much is measured, and how much is reckoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Numbers of CPUs of runs.
    pub cpus: &'static [u16],
    /// Utilizations for each CPU, in thousandths.
    pub permille: &'static [u32],
    /// How many sets for each of both, and runs of each file.
    pub sets: u32,
    /// What is measured, of which sets.
    pub measurement: Measurement,
    /// How long a run of a drawn set takes.
    pub interval: Duration,
    /// The flight management system: on how many CPUs, and how long.
    pub flight: &'static [Place],
    /// How long a run of it takes.
    pub flight_interval: Duration,
    /// Numbers of CPUs for which shares are extrapolated.
    pub extrapolated: &'static [u16],
    /// How many sets for each.
    pub extrapolated_sets: u32,
    /// How many sets tests are asked about with the overheads of each alternative.
    pub asked_sets: u32,
    /// At these utilizations for each CPU, in thousandths.
    pub asked: &'static [u32],
    /// How long runs take that measure what a mechanism costs.
    pub costs: Duration,
}

/// The utilization for each CPU at which the paper varies the number of CPUs (Fig. 6), in thousandths.
pub const NORMAL: u32 = 200;
/// The CPUs of the sets that tests are asked about.
pub const ASKED_CPUS: u16 = 2;

/// The numbers of CPUs for which the flight management system is reckoned.
const FLIGHT_CPUS: [u16; 2] = [2, 4];

const fn flight(platform: Platform, cpus: u16) -> Place {
    Place::Flight { platform, cpus }
}

/// All of it. An interval is a whole number of all hyperperiods of the sets.
pub const FULL: Plan = Plan {
    cpus: &[1, 2],
    permille: &[100, NORMAL, 400],
    // With eleven the interval of one of six medians exists; one of them may be lost.
    sets: 12,
    measurement: Measurement::Shares,
    interval: Duration::from_millis(2400),
    flight: &[
        flight(Platform::Phi, 2),
        flight(Platform::I5, 2),
        flight(Platform::Phi, 1),
        flight(Platform::I5, 1),
    ],
    flight_interval: Duration::from_secs(2),
    extrapolated: &[2, 4, 8, 16, 32],
    extrapolated_sets: 20,
    asked_sets: 200,
    asked: &[NORMAL, 400, 600],
    costs: Duration::from_secs(1),
};

/// A quick look: structure, not precision.
pub const QUICK: Plan = Plan {
    permille: &[NORMAL],
    sets: 2,
    interval: Duration::from_millis(400),
    flight: &[flight(Platform::I5, 1)],
    flight_interval: Duration::from_millis(400),
    extrapolated: &[2, 4],
    extrapolated_sets: 2,
    asked_sets: 10,
    asked: &[NORMAL],
    costs: Duration::from_millis(400),
    ..FULL
};

/// Pairs of sets. With 22 sets an interval of one of six medians reaches from the fourth smallest difference to the
/// fourth largest; a few that have no overrun may be missing. In a run each task that may overrun has at least six jobs.
pub const PAIRED: Plan = Plan {
    sets: 22,
    measurement: Measurement::Pairs,
    interval: Duration::from_millis(4800),
    flight: &[],
    extrapolated: &[],
    asked: &[],
    ..FULL
};

/// A quick look at it.
pub const PAIRED_QUICK: Plan = Plan {
    permille: &[100, NORMAL],
    sets: 2,
    interval: Duration::from_millis(400),
    ..PAIRED
};

/// Growth alone, of many sets, between the ends of both axes. The interval of the median of 66 values that is right with 99 % reaches from the
/// 23rd to the 44th, and some 15 of them may be lost.
pub const GROWTH: Plan = Plan {
    permille: &[100, 400],
    sets: 66,
    measurement: Measurement::Growth,
    ..PAIRED
};

/// Everything there is to choose, at the utilization for each CPU that claims speak of.
pub const ALTERNATIVES: Plan = Plan {
    permille: &[NORMAL],
    measurement: Measurement::Alternatives,
    flight: &[],
    extrapolated: &[],
    ..FULL
};

/// A quick look at it.
pub const ALTERNATIVES_QUICK: Plan = Plan {
    sets: 1,
    interval: QUICK.interval,
    asked_sets: QUICK.asked_sets,
    asked: QUICK.asked,
    costs: QUICK.costs,
    ..ALTERNATIVES
};

/// A quick look at growth.
pub const GROWTH_QUICK: Plan = Plan {
    sets: 2,
    interval: Duration::from_millis(400),
    ..GROWTH
};

impl Plan {
    /// With another number of sets.
    #[must_use]
    pub fn repeated(self, sets: Option<u32>) -> Self {
        let sets = sets.unwrap_or(self.sets);
        Self { sets, ..self }
    }

    /// The places of drawn sets that are run.
    pub fn drawn(&self) -> impl Iterator<Item = Place> {
        self.cpus.iter().flat_map(|&cpus| {
            let each = self.permille.iter();
            each.map(move |&permille| Place::Drawn { cpus, permille })
        })
    }

    /// Everything that is run, on at most so many CPUs.
    pub fn places(&self, most: u16) -> impl Iterator<Item = Place> {
        let all = self.drawn().chain(self.flight.iter().copied());
        all.filter(move |place| place.cpus() <= most)
    }

    /// What runs the sets of a place.
    #[must_use]
    pub fn variants(&self, place: Place) -> Vec<&'static Variant> {
        let all = match place {
            Place::Drawn { .. } => VARIANTS,
            Place::Flight { .. } => FLIGHT,
        };
        let of_paper = |kind: Option<Kind>| {
            let all = all.iter().filter(|variant| variant.is_of_paper);
            all.filter(move |variant| kind.is_none_or(|kind| variant.kind == kind))
        };
        match self.measurement {
            Measurement::Shares => all.iter().collect(),
            Measurement::Pairs => of_paper(None).collect(),
            Measurement::Growth => of_paper(Some(Kind::Frames)).collect(),
            // A dispatcher of its own is compared with none where it has the second CPU.
            Measurement::Alternatives => match place.cpus() {
                1 => of_paper(None)
                    .chain(variant::ALTERNATIVES.iter().filter(|one| one.more_cpus > 0))
                    .collect(),
                _ => self
                    .asked_variants()
                    .filter(|one| one.more_cpus == 0)
                    .collect(),
            },
        }
    }

    /// What tests are asked about with the costs of.
    pub fn asked_variants(&self) -> impl Iterator<Item = &'static Variant> {
        let more = match self.measurement {
            Measurement::Alternatives => variant::ALTERNATIVES,
            Measurement::Shares | Measurement::Pairs | Measurement::Growth => &[],
        };
        VARIANTS.iter().chain(more)
    }

    /// Everything that is reckoned.
    pub fn reckoned(&self) -> impl Iterator<Item = Place> {
        self.extrapolated.iter().flat_map(|&cpus| {
            let each = self.permille.iter();
            each.map(move |&permille| Place::Drawn { cpus, permille })
        })
    }

    /// Where the flight management system is reckoned for whatever was not run there: each of its files that is run, on two CPUs and on four.
    pub fn flight_reckoned(&self) -> impl Iterator<Item = (Platform, Place)> {
        let all = [Platform::Phi, Platform::I5].into_iter();
        let run = all.filter(|&platform| {
            let mut places = self.flight.iter();
            places.any(|place| place.platform() == Some(platform))
        });
        run.flat_map(|platform| FLIGHT_CPUS.map(|cpus| (platform, flight(platform, cpus))))
    }

    /// How long a run takes.
    #[must_use]
    pub const fn interval_of(&self, place: Place) -> Duration {
        match place {
            Place::Drawn { .. } => self.interval,
            Place::Flight { .. } => self.flight_interval,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_more_cpus_than_there_are_is_left_out() {
        assert_eq!(FULL.places(2).count(), 10);
        assert_eq!(FULL.places(1).count(), 5);
        assert_eq!(QUICK.places(2).count(), 3);
        assert_eq!(FULL.reckoned().count(), 15);
        assert_eq!(FULL.repeated(Some(3)).sets, 3);
        assert_eq!(FULL.repeated(None), FULL);
        assert_eq!(PAIRED.places(2).count(), 6);
        assert_eq!(PAIRED.places(1).count(), 3);
        assert_eq!(PAIRED.reckoned().count(), 0);
    }

    #[test]
    fn pairs_are_of_the_paper_s_mechanisms_alone() {
        let names = |plan: Plan| {
            let each = plan.drawn().map(|place| plan.variants(place));
            let names = each.map(|all| all.iter().map(|one| one.name).collect());
            names.collect::<Vec<Vec<&str>>>()
        };
        let both = ["ftts/sigrist2015", "pedf-vd/sigrist2015"];
        assert!(names(PAIRED).iter().all(|names| names == &both));
        assert_eq!(names(GROWTH), vec![vec!["ftts/sigrist2015"]; 4]);
        let [one, two] = names(ALTERNATIVES).try_into().unwrap();
        let own = ["ftts/sigrist2015/own", "pedf-vd/sigrist2015/own"];
        assert_eq!(one, [both, own].concat());
        assert_eq!(
            two.len(),
            VARIANTS.len() + variant::ALTERNATIVES.len() - own.len()
        );
        assert!(own.iter().all(|own| !two.contains(own)));
        assert!(
            names(FULL)
                .iter()
                .all(|names| names.len() == VARIANTS.len())
        );
    }

    /// Periods are of one chain, so that a hyperperiod is its longest.
    #[test]
    fn an_interval_has_whole_hyperperiods_of_every_chain() {
        for hyperperiod in [800, 600] {
            for plan in [FULL, PAIRED, GROWTH] {
                assert_eq!(plan.interval.as_millis() % hyperperiod, 0);
            }
        }
    }
}
