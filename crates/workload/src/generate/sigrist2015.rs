//! Sigrist, Giannopoulou, Huang, Gomez and Thiele: Mixed-Criticality Runtime Mechanisms and
//! Evaluation on Multicores. RTAS 2015, section VII-A, after Li and Baruah (ECRTS 2012).
//!
//! Tasks are added until max(U_LO(LO) + U_HI(LO), U_HI(HI)) reaches the target, where U_HI(LO) is what
//! HI tasks use by their LO execution times: u uniform in [0.05, 0.5], HI with probability 0.4, and
//! for a HI task Z uniform in [1, 4], with C(LO) = u T and C(HI) = Z u T, drawn again while Z u > 1. The
//! task that would exceed the target is scaled down to meet it.
//!
//! Periods are multiples of 100 ms in 200..800 "such that the set is harmonic". The paper does not say
//! how. Here a set draws one of the chains {200, 400, 800}, {200, 600}, {300, 600}, {400, 800} and
//! each task a period of it, all as likely. The tasks are periodic and begin together, as frame tables ask for.
//!
//! Example IV.1 (Fig. 2) has periods "in the range from 2 ms to 2 s", of one CPU, and says no more of them. With `periods = uniform`
//! they are whole milliseconds from that range, all as likely.
//!
//! A set draws its chain, if it has one, and then for each task its level, u, Z if it is HI, and its period.

use super::parameter::{Given, Parameter, ParameterError, recipe};
use super::periods::Periods;
use super::set::{nanos_of, task, task_set};
use super::{DrawError, Random};
use crate::model::{Arrival, TaskSet};
use crate::number::Ratio;

recipe! { Sigrist2015, "Sigrist et al. (2015), section VII-A: several CPUs, two levels";
    utilization: Ratio = "1.6",
        "the larger of the utilizations of the two modes, for all CPUs together", positive_ratio(128);
    cpus: u16 = "8", "number of CPUs, for the file only", cpus(1);
    share_high: Ratio = "0.4", "probability that a task is of level HI", ratio(0, 1);
    periods: PeriodRange = "harmonic",
        "harmonic, of one chain (section VII-A), or uniform, whole milliseconds from 2 ms to 2 s (example IV.1)",
        period_range();
}

/// Which periods a set draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodRange {
    /// One of the chains.
    Harmonic,
    /// Whole milliseconds from 2 ms to 2 s.
    Uniform,
}

/// Harmonic periods in ms.
const CHAINS: [&[u64]; 4] = [&[200, 400, 800], &[200, 600], &[300, 600], &[400, 800]];
/// Any of these, in ms.
const RANGE: Periods = Periods::Uniform {
    least: 2,
    most: 2000,
    step: 1,
};
const PERIOD_NANOS: u64 = 1_000_000;
/// A task below this share is left out: it would round to nothing.
const SHARE_MIN: f64 = 1e-6;

/// Utilisations: of LO tasks, and of HI tasks by their LO and HI execution times.
#[derive(Clone, Copy, Default)]
struct Sums {
    low: f64,
    high_normal: f64,
    high: f64,
}

impl Sums {
    fn total(self) -> f64 {
        (self.low + self.high_normal).max(self.high)
    }
    fn with(mut self, low: f64, high: Option<f64>) -> Self {
        match high {
            None => self.low += low,
            Some(high) => {
                self.high_normal += low;
                self.high += high;
            }
        }
        self
    }
}

impl Sigrist2015 {
    /// The next set.
    ///
    /// # Errors
    /// [`DrawError`] if not even one task fits.
    pub fn draw(&self, random: &mut Random) -> Result<TaskSet, DrawError> {
        let target = self.utilization.approximate();
        let periods = match self.periods {
            PeriodRange::Harmonic => {
                let chain = usize::try_from(random.below(CHAINS.len() as u64)).unwrap_or(0);
                Periods::List(CHAINS.get(chain).copied().unwrap_or(&[200]).to_vec())
            }
            PeriodRange::Uniform => RANGE,
        };
        let mut sums = Sums::default();
        let mut tasks = Vec::new();
        while target - sums.total() > SHARE_MIN {
            let (low, high) = self.shares(random);
            let period = periods.draw(random) * PERIOD_NANOS;
            let fit = fit(sums, low, high, target);
            sums = sums.with(low * fit, high.map(|high| high * fit));
            let shares = [Some(low), high].into_iter().flatten();
            let values = shares.map(|share| nanos_of(period, share * fit).max(1));
            tasks.push(task(period, period, &values.collect::<Vec<_>>()));
        }
        if tasks.is_empty() {
            return Err(DrawError(
                "the utilization is too small for a task".to_owned(),
            ));
        }
        let name = format!("sigrist2015, U = {}", self.utilization);
        let mut set = task_set(name, 2, &tasks);
        set.platform.cpus = self.cpus;
        for task in &mut set.tasks {
            // A frame has jobs that come when it begins.
            task.arrival = Arrival::Periodic;
        }
        Ok(set)
    }

    /// A task's utilisation at LO and, for a HI task, at HI.
    fn shares(&self, random: &mut Random) -> (f64, Option<f64>) {
        let is_high = random.unit() < self.share_high.approximate();
        loop {
            let low = random.between(0.05, 0.5);
            if !is_high {
                return (low, None);
            }
            let high = low * random.between(1.0, 4.0);
            if high <= 1.0 {
                return (low, Some(high));
            }
        }
    }
}

impl Given<'_> {
    fn period_range(&self) -> Result<PeriodRange, ParameterError> {
        match self.text {
            "harmonic" => Ok(PeriodRange::Harmonic),
            "uniform" => Ok(PeriodRange::Uniform),
            _ => Err(self.wrong("harmonic or uniform")),
        }
    }
}

/// The factor, at most 1, by which a task has to shrink so that the target is not exceeded.
fn fit(sums: Sums, low: f64, high: Option<f64>, target: f64) -> f64 {
    let normal = (target - sums.low - sums.high_normal) / low;
    let overload = high.map_or(f64::INFINITY, |high| (target - sums.high) / high);
    normal.min(overload).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::Level;

    #[test]
    fn periods_of_example_iv_1_are_whole_milliseconds_of_the_whole_range() {
        let mut random = Random::new(4);
        let recipe = Sigrist2015 {
            utilization: Ratio::new(8, 10).unwrap(),
            periods: PeriodRange::Uniform,
            ..Sigrist2015::new().unwrap()
        };
        let sets: Vec<TaskSet> = (0..2000)
            .map(|_| recipe.draw(&mut random).unwrap())
            .collect();
        let periods = sets.iter().flat_map(|set| &set.tasks);
        let periods: Vec<u64> = periods.map(|task| task.period.as_nanos()).collect();
        assert!(periods.iter().all(|period| period % 1_000_000 == 0));
        let (least, most) = (periods.iter().min(), periods.iter().max());
        assert_eq!((least, most), (Some(&2_000_000), Some(&2_000_000_000)));
        // Uniform, not by the logarithm: half of them are above 1 s.
        let long = periods.iter().filter(|period| **period > 1_001_000_000);
        let share = long.count() as f64 / periods.len() as f64;
        assert!((share - 0.5).abs() < 0.03, "{share}");
    }

    #[test]
    fn sets_meet_the_target_and_are_harmonic() {
        let mut random = Random::new(3);
        for (num, den) in [(1, 5), (8, 5), (32, 5)] {
            let recipe = Sigrist2015 {
                utilization: Ratio::new(num, den).unwrap(),
                ..Sigrist2015::new().unwrap()
            };
            for _ in 0..100 {
                let set = recipe.draw(&mut random).unwrap();
                let mut sums = Sums::default();
                for task in &set.tasks {
                    let share = |level: usize| {
                        task.wcet[level]
                            .map(|c| c.as_nanos() as f64 / task.period.as_nanos() as f64)
                    };
                    let high = (task.criticality == Level(1)).then(|| share(1).unwrap());
                    sums = sums.with(share(0).unwrap(), high);
                    assert!(share(0).unwrap() <= 0.5 && high.unwrap_or(0.0) <= 1.0);
                    for other in &set.tasks {
                        let (a, b) = (task.period.as_nanos(), other.period.as_nanos());
                        assert!(a % b == 0 || b % a == 0);
                    }
                }
                assert!((sums.total() - recipe.utilization.approximate()).abs() < 1e-5);
                assert_eq!(TaskSet::parse("x.toml", &set.to_toml()).unwrap(), set);
            }
        }
    }
}
