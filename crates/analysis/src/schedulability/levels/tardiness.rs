//! How late level C of MC² may be: global EDF on CPUs of which levels A and B leave a part.
//!
//! Policy: global EDF, preemptive, over budgets of C_k(C) that come with each release, on m CPUs that are closed while
//! levels A and B execute (Herman et al., RTAS 2012; Devi and Anderson, RTSS 2005, for CPUs that are always open).
//!
//! **Supply.** CPU c is open in any window of length t for at least r_c t - b_c. With R and B the sums of these over
//! all CPUs, F CPUs that are never closed, and e_k, T_k, D_k, u_k = e_k / T_k of level C, Theta is a bound if it is nowhere below
//!
//! - h_k = max(0, Theta_k - e_k), own_k = e_k + u_k h_k, carried_k = u_k (D_k + h_k), S = sum of e_k (T_k - D_k) / T_k,
//! - W = B + S + the sum of the m - 1 largest carried_k,
//! - g1_k = (W + (m - 1) own_k) / R;
//! - where F >= 1, g2_k = e_k + max(0, W + max(0, m - F - 1) own_k - e_k) / R, if that is less;
//! - and where there are no more tasks than F, max(0, e_k - D_k) is enough.
//!
//! Why is in `docs/explain/mc2.md`. No search for the least such Theta: one of the form x + e_k is found
//! in closed form and put through the inequality as long as that lowers it. Each such step keeps it a bound, whatever is rounded up on the way.
//!
//! Assumptions: A1 no overhead. A2 sporadic tasks, D_k <= T_k, e_k <= T_k, deadlines d = release + D_k, ties in any
//! order. A3 no job of levels A and B anywhere, and no job of level C, executes more than its C_i(C); each CPU is open as [`Closed`] says, for
//! which level-A jobs come at multiples of their periods. A4 the sum of all
//! C_i(C) / T_i is at most m, and some form above grows by less than one when all Theta grow by one.
//!
//! Kind: sufficient. Complexity: O(n log n) for each of at most 256 steps.
//!
//! Without the term B the bound is refuted, and so is g2 where F = 0: `tests/tardiness`.
//!
//! Slow twin: `oracle`, the same inequality in fractions of any length.

#[cfg(feature = "oracle")]
pub mod oracle;

use crate::rational::Fraction;

/// After so many steps the bound is good enough.
const STEPS: usize = 256;

/// Shares of a CPU are counted in units of 2^-40 where they are rounded.
const SHARE_BITS: u32 = 40;

/// What a task wants at the times of level C, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// C_i(C).
    pub wcet: u64,
    /// T_i, not 0.
    pub period: u64,
    /// D_i <= T_i.
    pub deadline: u64,
}

impl Wanted {
    /// By how much a task of level B that meets its deadlines may execute more than u t in a window of length t: the
    /// window begins with a job that ends at its deadline, and all others run at once. e (T + D - 2 e) / T, rounded up.
    #[must_use]
    pub fn burst(self) -> u64 {
        let (wcet, period) = (u128::from(self.wcet), u128::from(self.period));
        let slack = (period + u128::from(self.deadline)).saturating_sub(2 * wcet);
        to_word((wcet * slack).div_ceil(period)).unwrap_or(u64::MAX)
    }

    /// u times `amount`, rounded up.
    fn share_of(self, amount: u128) -> Option<u128> {
        let product = u128::from(self.wcet).checked_mul(amount)?;
        Some(product.div_ceil(self.period.into()))
    }

    /// u in units of 2^-40, rounded up.
    fn utilization(self) -> u128 {
        (u128::from(self.wcet) << SHARE_BITS).div_ceil(self.period.into())
    }
}

/// For how long levels A and B close a CPU at the times of level C.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// C_i(C) and T_i of their tasks there; for those of a table in one also how long it closes the CPU in a cycle, and
    /// the cycle. None, or all times 0, if the CPU is never closed.
    pub shares: Vec<(u64, u64)>,
    /// In a window of length t it is closed for at most the sum of these shares of t, and this.
    pub burst: u64,
}

impl Closed {
    /// Whether levels A and B want nothing of the CPU.
    #[must_use]
    pub fn never(&self) -> bool {
        self.shares.iter().all(|&(wcet, _)| wcet == 0)
    }
}

/// Why no bound is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// Levels A, B and C want more than all CPUs in the long run.
    Overload,
    /// This task of level C wants more than a CPU.
    WcetExceedsPeriod(usize),
    /// What may be pending grows with the tardiness as fast as the tardiness: no form of the bound has an end for this task.
    NoForm(usize),
    /// A number does not fit.
    OutOfRange,
}

/// By how many nanoseconds after their deadlines jobs of each task of level C may complete.
///
/// # Errors
/// [`Unbounded`].
pub fn bounds(cpus: &[Closed], tasks: &[Wanted]) -> Result<Vec<u64>, Unbounded> {
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let longer = |task: &Wanted| task.wcet > task.period;
    if let Some(position) = tasks.iter().position(longer) {
        return Err(Unbounded::WcetExceedsPeriod(position));
    }
    let supply = Supply::of(cpus, tasks)?;
    if tasks.len() as u128 <= supply.open {
        let late = |task: &Wanted| task.wcet.saturating_sub(task.deadline);
        return Ok(tasks.iter().map(late).collect());
    }
    let mut late = supply.start(tasks)?;
    for _ in 0..STEPS {
        let next = supply.step(tasks, &late).ok_or(Unbounded::OutOfRange)?;
        if next == late {
            break;
        }
        late = next;
    }
    let words = late.into_iter().map(to_word).collect::<Option<Vec<u64>>>();
    words.ok_or(Unbounded::OutOfRange)
}

fn to_word(value: u128) -> Option<u64> {
    u64::try_from(value).ok()
}

/// What all CPUs leave to level C, and what it wants of them whoever is late.
#[derive(Clone, Copy, Debug)]
struct Supply {
    /// m.
    cpus: u128,
    /// F.
    open: u128,
    /// R, rounded down: numerator and denominator.
    rate: (u128, u128),
    /// B + S, rounded up.
    ahead: u128,
}

impl Supply {
    fn of(cpus: &[Closed], tasks: &[Wanted]) -> Result<Self, Unbounded> {
        let count = cpus.len() as u64;
        let all = Fraction::new(count, 1);
        let closed = Fraction::sum(cpus.iter().flat_map(|cpu| cpu.shares.iter().copied()));
        let wanted = Fraction::sum(tasks.iter().map(|task| (task.wcet, task.period)));
        if !closed.plus(&wanted).is_at_most(&all) {
            return Err(Unbounded::Overload);
        }
        // Without CPUs there are no tasks that want nothing of them either, but division by none there is.
        let part = closed.divided_by(&all).ok_or(Unbounded::Overload)?;
        let left = part.one_minus_self().ok_or(Unbounded::Overload)?;
        let burst = cpus.iter().map(|cpu| u128::from(cpu.burst)).sum::<u128>();
        let ahead = tasks.iter().try_fold(burst, |sum, task| {
            let early = u128::from(task.period.saturating_sub(task.deadline));
            Some(sum + task.share_of(early)?)
        });
        let supply = Self {
            cpus: count.into(),
            open: cpus.iter().filter(|cpu| cpu.never()).count() as u128,
            rate: rate(left.in_words_floor(), count.into()),
            ahead: ahead.ok_or(Unbounded::OutOfRange)?,
        };
        match supply.rate.0 {
            // Only tasks that need no time are left.
            0 => Err(Unbounded::NoForm(0)),
            _ => Ok(supply),
        }
    }

    /// How long it takes until so much was supplied in the long run, rounded up.
    fn time_for(&self, amount: u128) -> Option<u128> {
        Some(amount.checked_mul(self.rate.1)?.div_ceil(self.rate.0))
    }

    /// What is supplied in that time in the long run, rounded down.
    fn within(&self, time: u128) -> Option<u128> {
        Some(time.checked_mul(self.rate.0)? / self.rate.1)
    }

    /// How many CPUs may be wasted while a task executes: as long as any other, or as long as more than F tasks are pending.
    fn wasted(&self) -> (u128, Option<u128>) {
        let others = self.cpus - 1;
        let guarded = (self.open > 0).then(|| others.saturating_sub(self.open));
        (others, guarded)
    }

    /// The sum of the m - 1 largest.
    fn largest(&self, mut values: Vec<u128>) -> u128 {
        values.sort_unstable_by(|one, other| other.cmp(one));
        let count = usize::try_from(self.cpus - 1).unwrap_or(usize::MAX);
        values.into_iter().take(count).sum()
    }

    /// x + e_k for the least x for which that is nowhere below the inequality, with all h_k = x.
    fn start(&self, tasks: &[Wanted]) -> Result<Vec<u128>, Unbounded> {
        let range = Unbounded::OutOfRange;
        let on_time = |task: &Wanted| task.share_of(task.deadline.into());
        let carried = tasks.iter().map(on_time).collect::<Option<Vec<u128>>>();
        let ahead = self.ahead + self.largest(carried.ok_or(range)?);
        let growth = self.largest(tasks.iter().map(|task| task.utilization()).collect());
        let rate = self.within(1 << SHARE_BITS).ok_or(range)?;
        let mut most = 0;
        for (position, task) in tasks.iter().enumerate() {
            let wcet = u128::from(task.wcet);
            let own = self.within(wcet).ok_or(range)?;
            let (others, guarded) = self.wasted();
            let lag = |wasted: u128, own: u128| {
                let slope = growth + wasted * task.utilization();
                let left = rate.checked_sub(slope).filter(|&left| left > 0)?;
                let pending = (ahead + wasted * wcet).saturating_sub(own);
                // What does not fit is no bound, and the other form may be one.
                Some((pending << SHARE_BITS).div_ceil(left))
            };
            let forms = [
                lag(others, own),
                guarded.and_then(|wasted| lag(wasted, wcet)),
            ];
            let least = forms.into_iter().flatten().min();
            most = least.ok_or(Unbounded::NoForm(position))?.max(most);
        }
        // So that nothing below overflows.
        let most = to_word(most).ok_or(range)?;
        let late = tasks
            .iter()
            .map(|task| u128::from(most) + u128::from(task.wcet));
        Ok(late.collect())
    }

    /// The inequality once, where that is less.
    fn step(&self, tasks: &[Wanted], late: &[u128]) -> Option<Vec<u128>> {
        let beyond = |(task, late): (&Wanted, &u128)| late.saturating_sub(task.wcet.into());
        let lags: Vec<u128> = tasks.iter().zip(late).map(beyond).collect();
        let carried =
            |(task, lag): (&Wanted, &u128)| task.share_of(u128::from(task.deadline) + lag);
        let carried = tasks
            .iter()
            .zip(&lags)
            .map(carried)
            .collect::<Option<_>>()?;
        let pending = self.ahead + self.largest(carried);
        let (others, guarded) = self.wasted();
        let bound = |((task, lag), &late): ((&Wanted, &u128), &u128)| {
            let wcet = u128::from(task.wcet);
            let own = wcet + task.share_of(*lag)?;
            let mut least = self.time_for(pending + others * own)?.min(late);
            if let Some(wasted) = guarded {
                let rest = (pending + wasted * own).saturating_sub(wcet);
                least = least.min(wcet + self.time_for(rest)?);
            }
            Some(least)
        };
        tasks.iter().zip(&lags).zip(late).map(bound).collect()
    }
}

/// So many times a fraction below or at 1, short enough to be multiplied with times.
fn rate((numerator, denominator): (u64, u64), times: u128) -> (u128, u128) {
    let unit = 1_u128 << SHARE_BITS;
    let (numerator, denominator) = (u128::from(numerator), u128::from(denominator));
    match denominator <= unit {
        true => (numerator * times, denominator),
        false => (numerator * times * unit / denominator, unit),
    }
}
