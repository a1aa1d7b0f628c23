//! Execution times and releases as pure functions of seed, task and job.
//!
//! Nothing here depends on the order in which jobs are asked for, so a simulation and a run on a
//! real machine with the same seed inject the same overruns. The numbers are the same on every
//! platform: integers throughout, and for `beta` only operations that IEEE 754 fixes and the
//! functions of the `libm` crate, which are software.

use super::adversary::Storm;
use super::{DeviceEvents, Scenario};
use crate::model::{Arrival, DeviceArrival, TaskSet};
use crate::number::Ratio;
use crate::random::{Random, derived_seed};
use vestal_core::model::LEVELS_MAX;
use vestal_core::{DeviceId, Duration, Instant, Level, Service, Task, TaskId};

/// What the tasks of a set demand under a scenario: when each job comes and how long it runs.
#[derive(Clone, Debug)]
pub struct Workload {
    sources: Vec<JobSource>,
    devices: Vec<DeviceArrival>,
    scenario: Scenario,
    /// By device; empty if its events come as they do by themselves.
    storms: Vec<Option<Storm>>,
    seed: u64,
}

#[derive(Clone, Debug)]
struct JobSource {
    task: Task,
    offset: Duration,
    arrival: Arrival,
}

/// Independent streams of random numbers for the same job.
#[derive(Clone, Copy)]
enum Stream {
    Execution = 1,
    Release = 2,
    Interrupt = 3,
}

/// The standard deviation of the beta distribution: with it and a mean of 0.05, fewer than 1 % of
/// the draws exceed 0.5 (Herman et al. 2012, section 4).
const BETA_DEVIATION: f64 = 0.1;

impl Workload {
    /// The demand of `tasks`, which [`TaskSet::to_tasks`] made from `set`.
    #[must_use]
    pub fn new(set: &TaskSet, tasks: &[Task], scenario: Scenario, seed: u64) -> Self {
        let sources = tasks.iter().zip(&set.tasks).map(|(task, spec)| JobSource {
            task: *task,
            offset: spec.offset,
            arrival: spec.arrival,
        });
        let storms = match &scenario {
            Scenario::Adversarial(_) => set.devices.iter().map(|it| Storm::of(it, set)).collect(),
            Scenario::Lo
            | Scenario::Hi
            | Scenario::Level(_)
            | Scenario::Overrun { .. }
            | Scenario::Beta { .. }
            | Scenario::File(_) => Vec::new(),
        };
        Self {
            sources: sources.collect(),
            devices: set.devices.iter().map(|device| device.arrival).collect(),
            scenario,
            storms,
            seed,
        }
    }

    /// The scenario.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How long a job executes if it is not stopped. Nothing for a task that does not exist.
    #[inline]
    #[must_use]
    pub fn execution(&self, task: TaskId, job: u64) -> Service {
        // Simulations ask once for each job, and mostly there is nothing to draw.
        if let Scenario::Lo = self.scenario
            && let Some(source) = self.sources.get(task.index())
        {
            return source.task.wcet.at(Level::LOWEST);
        }
        self.executes(&self.scenario, task, job)
    }

    fn executes(&self, scenario: &Scenario, task: TaskId, job: u64) -> Service {
        let Some(source) = self.sources.get(task.index()) else {
            return Service::ZERO;
        };
        let wcet = &source.task.wcet;
        let normal = wcet.at(Level::LOWEST);
        let own = source.task.own_wcet();
        match scenario {
            Scenario::Lo => normal,
            Scenario::Hi => own,
            Scenario::Level(level) => wcet.at((*level).min(source.task.criticality)),
            Scenario::Overrun { probability } => {
                let mut random = self.random(task.0, job, Stream::Execution);
                let overruns = happens(*probability, random.word());
                if source.task.criticality > Level::LOWEST && overruns {
                    own
                } else {
                    normal
                }
            }
            Scenario::Beta { mean, probability } => {
                let mut random = self.random(task.0, job, Stream::Execution);
                if happens(*probability, random.word()) {
                    let highest = wcet.at(Level(u8::try_from(LEVELS_MAX - 1).unwrap_or(u8::MAX)));
                    share_of(highest, beta(*mean, &mut random))
                } else {
                    normal
                }
            }
            Scenario::File(file) => file
                .row(task, job)
                .and_then(|row| row.execution)
                .unwrap_or(normal),
            Scenario::Adversarial(scenario) => self.executes(scenario, task, job),
        }
    }

    /// When a job is released; `None` beyond the horizon, or for a task that does not exist.
    ///
    /// Periodic: offset + k T. Sporadic: the sum of the separations up to the job; this takes time
    /// proportional to `job`, so callers that go from job to job use [`Workload::next_release`].
    #[must_use]
    pub fn release(&self, task: TaskId, job: u64) -> Option<Instant> {
        let source = self.sources.get(task.index())?;
        if let Scenario::File(file) = &self.scenario {
            let start = (0, Instant::EPOCH.checked_add(source.offset)?);
            let (from, at) = file.anchor(task, job).unwrap_or(start);
            let distance = source.task.period.checked_mul(job.checked_sub(from)?)?;
            return within_horizon(at.checked_add(distance)?);
        }
        match source.arrival {
            Arrival::Periodic => {
                let distance = source.task.period.checked_mul(job)?;
                within_horizon(
                    Instant::EPOCH
                        .checked_add(source.offset)?
                        .checked_add(distance)?,
                )
            }
            Arrival::Sporadic => {
                let first = Instant::EPOCH.checked_add(source.offset)?;
                let mut at = within_horizon(first.checked_add(self.extra(task, source, 0))?)?;
                for job in 1..=job {
                    at = self.next_release(task, job, at)?;
                }
                Some(at)
            }
        }
    }

    /// When a job is released, given the release of the job before it; the same instant as
    /// [`Workload::release`] gives, in constant time. Job 0 has none before it, and `previous`
    /// does not count.
    #[inline]
    #[must_use]
    pub fn next_release(&self, task: TaskId, job: u64, previous: Instant) -> Option<Instant> {
        let source = self.sources.get(task.index())?;
        let by_file = matches!(self.scenario, Scenario::File(_));
        if job == 0 || by_file {
            return self.release(task, job);
        }
        let period = source.task.period;
        let gap = match source.arrival {
            Arrival::Periodic => period,
            Arrival::Sporadic => period.checked_add(self.extra(task, source, job))?,
        };
        within_horizon(previous.checked_add(gap)?)
    }

    /// What a scenario file says about a device, if it says anything: then nothing else happens at it.
    fn rows(&self, device: DeviceId) -> Option<&[DeviceEvents]> {
        match &self.scenario {
            Scenario::File(file) => file.events_of(device),
            Scenario::Lo
            | Scenario::Hi
            | Scenario::Level(_)
            | Scenario::Overrun { .. }
            | Scenario::Beta { .. }
            | Scenario::Adversarial(_) => None,
        }
    }

    /// Whether the events of a device arrive when a job asks for them.
    #[must_use]
    pub fn is_requested(&self, device: DeviceId) -> bool {
        let arrival = self.devices.get(device.index());
        arrival == Some(&DeviceArrival::Requested) && self.rows(device).is_none()
    }

    /// When event number `index` of a device arrives by itself, counted from 0, given the instant of the one before it,
    /// and how many arrive at once; `None` if it does not, beyond the horizon, or for a device that does not exist.
    ///
    /// Periodic, and bursts: every period from 0 on. Sporadic: as the jobs of a sporadic task. Rows of a scenario file
    /// take the place of all that, and so do storms in a scenario that is adversarial.
    #[must_use]
    pub fn interrupt(
        &self,
        device: DeviceId,
        index: u64,
        previous: Option<Instant>,
    ) -> Option<(Instant, u64)> {
        if let Some(rows) = self.rows(device) {
            let row = rows.get(usize::try_from(index).ok()?)?;
            return within_horizon(row.at).map(|at| (at, row.count));
        }
        if let Some(Some(storm)) = self.storms.get(device.index()) {
            let (at, count) = storm.events(index)?;
            return within_horizon(at).map(|at| (at, count));
        }
        let (period, count, extra) = match *self.devices.get(device.index())? {
            DeviceArrival::Requested => return None,
            DeviceArrival::Periodic { period } => (period, 1, Duration::ZERO),
            DeviceArrival::Burst { period, burst } => (period, burst, Duration::ZERO),
            DeviceArrival::Sporadic { period } => {
                let random = self.random(device.0, index, Stream::Interrupt);
                (period, 1, extra(period, random))
            }
        };
        let earliest = match previous {
            Some(previous) => previous.checked_add(period)?,
            None => Instant::EPOCH,
        };
        within_horizon(earliest.checked_add(extra)?).map(|at| (at, count))
    }

    /// Request number `index` for a mode, counted from 0.
    #[must_use]
    pub fn mode_request(&self, index: u64) -> Option<(Instant, Level)> {
        let Scenario::File(file) = &self.scenario else {
            return None;
        };
        let request = file.modes.get(usize::try_from(index).ok()?)?;
        Some((request.at, request.level))
    }

    /// How much later than necessary a sporadic job comes.
    fn extra(&self, task: TaskId, source: &JobSource, job: u64) -> Duration {
        let random = self.random(task.0, job, Stream::Release);
        extra(source.task.period, random)
    }

    /// The generator of one job or event: xoshiro256++ seeded by a hash of seed, task or device, number and stream.
    fn random(&self, whose: u16, number: u64, stream: Stream) -> Random {
        let parts = [u64::from(whose), number, stream as u64];
        Random::new(derived_seed(self.seed, &parts))
    }
}

/// How much later than necessary something sporadic comes: with probability one half not at all, else uniformly
/// distributed over 0, 1, ..., `period` nanoseconds.
fn extra(period: Duration, mut random: Random) -> Duration {
    if random.word() >> 63 == 0 {
        return Duration::ZERO;
    }
    Duration::from_nanos(uniform(period.as_nanos(), &mut random))
}

fn within_horizon(at: Instant) -> Option<Instant> {
    (at <= Instant::HORIZON).then_some(at)
}

/// Whether an event of this probability happens, for a uniformly distributed 64-bit number:
/// exactly the smallest ceil(P * 2^64) numbers say yes. Integers only.
fn happens(probability: Ratio, random: u64) -> bool {
    let (num, den) = (
        u128::from(probability.numerator()),
        u128::from(probability.denominator()),
    );
    (num << 64) > u128::from(random) * den
}

/// A whole number from 0 to `most`, both included, uniformly distributed up to a bias below
/// `most` / 2^64 (Lemire's multiplication without rejection).
fn uniform(most: u64, random: &mut Random) -> u64 {
    let wide = u128::from(random.word()) * (u128::from(most) + 1);
    u64::try_from(wide >> 64).unwrap_or(most)
}

/// `share` of an amount, rounded down, at least a nanosecond: a job always executes something.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the share is between 0 and 1, so the product is between 0 and the amount"
)]
fn share_of(amount: Service, share: f64) -> Service {
    let nanos = (amount.as_nanos() as f64 * share) as u64;
    Service::from_nanos(nanos.clamp(1, amount.as_nanos().max(1)))
}

/// A beta-distributed number with the given mean: X / (X + Y) of two gamma variables with shapes
/// mu k and (1 - mu) k, k = mu (1 - mu) / sd^2 - 1. Near the ends of [0, 1] the deviation shrinks
/// so that k stays at least 1.
fn beta(mean: Ratio, random: &mut Random) -> f64 {
    let mean = mean.approximate();
    if mean >= 1.0 {
        return 1.0;
    }
    let spread = mean * (1.0 - mean);
    let variance = (BETA_DEVIATION * BETA_DEVIATION).min(spread / 2.0);
    let k = spread / variance - 1.0;
    let x = gamma(mean * k, random);
    let y = gamma((1.0 - mean) * k, random);
    if x + y > 0.0 { x / (x + y) } else { mean }
}

/// A gamma-distributed number with the given shape and scale 1 (Marsaglia and Tsang 2000; shapes
/// below 1 by their power of a uniform number).
fn gamma(shape: f64, random: &mut Random) -> f64 {
    if shape < 1.0 {
        let power = libm::pow(random.unit(), 1.0 / shape);
        return gamma(shape + 1.0, random) * power;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(random);
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        if libm::log(random.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

/// A standard normal number (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(random.unit()));
    radius * libm::cos(2.0 * std::f64::consts::PI * random.unit())
}

#[cfg(test)]
mod tests;
