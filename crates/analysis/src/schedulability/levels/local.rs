//! Level B of a CPU: its tasks on what level A leaves, by earliest deadlines or by rates.
//!
//! Tasks are sporadic with D <= T and need at most C = C_i(B); the CPU is closed for them in the pieces of level A at the times of level B
//! ([`Pattern`]) at most, with U_A = W / P of the time and b_A beyond that. A budget that its job does not need is used up by its ghost, while the CPU is
//! open for lower levels, and what is charged is C all the same.
//!
//! **Earliest deadlines.** No deadline is missed if U_A + U_B <= 1 and for every t > 0
//!
//! dbf(t) = sum over i with D_i <= t of (floor((t - D_i) / T_i) + 1) C_i <= sbf(t).
//!
//! It is necessary, too: in the window in which least is open, with all tasks released at its begin and then as early as
//! possible. Only windows up to the shortest of these are looked at:
//!
//! - L1 = (sum C_i (T_i - D_i) / T_i + b_A) / (1 - U_A - U_B): dbf(t) <= U_B t + sum C_i (T_i - D_i) / T_i, and sbf(t) >= (1 - U_A) t - b_A.
//! - L2 = lcm of P and the T_i: dbf(t + L2) = dbf(t) + U_B L2, and sbf(t + L2) = sbf(t) + (1 - U_A) L2.
//! - L3, the least t > 0 with rbf(t) = sum ceil(t / T_i) C_i <= sbf(t): jobs released in L3 + y and due in it are the rbf(L3) at
//!   first and at most dbf(y) more, and sbf(L3 + y) >= sbf(L3) + sbf(y); so if L3 + y is overfull, y is.
//!
//! They are looked at downwards (QPA of Zhang and Burns, IEEE TC 58(9), 2009, with the supply in place of the CPU): from t with
//! dbf(t) = h <= sbf(t) to the last deadline before the least t' with sbf(t') >= h: at the ones between, the demand is at most h.
//!
//! Where all D_i = T_i and all T_i are multiples of P, U_A + U_B <= 1 is enough (Mollison et al., 2010): dbf grows at
//! multiples of P alone, where sbf(t) = (1 - U_A) t. A multiple of the tasks' hyperperiod is not enough where the table's cycle is
//! longer, and no sum is enough for other periods.
//!
//! **Rates** (equal ones by index). R_i = max over the begins s of closed pieces of the least t in which, from s on, C_i + sum over the
//! more urgent of ceil(t / T_j) C_j is open; R_i <= D_i. No other begin is worse: see [`Pattern`]. The sum is
//! not enough, even where all periods are multiples of the cycle.

use super::Effort;
use super::pattern::Pattern;
use crate::level_reason::LevelReason;
use crate::parameters::task_id;
use crate::problem::Row;
use crate::rational::{Bracket, Fraction};
use num_integer::Integer;
use vestal_core::{CpuId, Duration};

/// Level B of one CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local<'a> {
    /// Which CPU.
    pub(super) cpu: CpuId,
    /// What level A closes at the times of level B.
    pub(super) pattern: &'a Pattern,
    /// The tasks.
    pub(super) rows: &'a [&'a Row],
}

impl Local<'_> {
    /// U_A + U_B.
    pub(super) fn share(&self) -> Bracket {
        let mut sum = Bracket::default();
        sum.add(self.pattern.closed_in_cycle(), self.pattern.cycle());
        for row in self.rows {
            sum.add(row.own_wcet(), row.period);
        }
        sum
    }

    /// Whether U_A + U_B > 1, exactly.
    pub(super) fn is_overload(&self) -> bool {
        let sum = self.share();
        if sum.high <= Bracket::ONE {
            return false;
        }
        if sum.low > Bracket::ONE {
            return true;
        }
        let own = (self.pattern.closed_in_cycle(), self.pattern.cycle());
        let each = self.rows.iter().map(|row| (row.own_wcet(), row.period));
        let exact = Fraction::sum(std::iter::once(own).chain(each));
        !exact.is_at_most(&Fraction::new(1, 1))
    }

    /// Whether all D = T and all T are multiples of the table's cycle: then the sum decides.
    pub(super) fn is_harmonic(&self) -> bool {
        let harmonic = |row: &&Row| {
            row.deadline == row.period && row.period.is_multiple_of(self.pattern.cycle())
        };
        self.rows.iter().all(harmonic)
    }

    /// Whether no deadline is missed by earliest deadlines.
    ///
    /// # Errors
    /// [`LevelReason::Overload`], [`LevelReason::SupplyBelowDemand`], [`LevelReason::NotDecided`].
    pub(super) fn by_deadlines(&self, effort: &mut Effort) -> Result<(), LevelReason> {
        let cpu = self.cpu;
        if self.rows.is_empty() {
            return Ok(());
        }
        if self.is_overload() {
            return Err(LevelReason::Overload { cpu });
        }
        if self.is_harmonic() {
            return Ok(());
        }
        let longest = self.longest_window(effort);
        let longest = longest.ok_or(LevelReason::NotDecided { cpu })?;
        let mut next = self.last_deadline(longest);
        while let Some(window) = next {
            if !effort.take(self.pattern.size().saturating_mul(2)) {
                return Err(LevelReason::NotDecided { cpu });
            }
            let (demand, supply) = (self.demand(window), self.pattern.supply(window));
            if demand > supply {
                return Err(LevelReason::SupplyBelowDemand {
                    cpu,
                    window: Duration::from_nanos(window),
                    demand: Duration::from_nanos(demand),
                    supply: Duration::from_nanos(supply),
                });
            }
            // The supply of the window is enough, so there is a least one that is.
            let enough = self.pattern.time_for(demand).unwrap_or(window).min(window);
            next = enough
                .checked_sub(1)
                .and_then(|before| self.last_deadline(before));
        }
        Ok(())
    }

    /// Bounds on the response times by rates, in the order of the tasks.
    ///
    /// # Errors
    /// [`LevelReason::Late`], [`LevelReason::NotDecided`].
    pub(super) fn by_rates(&self, effort: &mut Effort) -> Result<Vec<u64>, LevelReason> {
        let mut responses = vec![0; self.rows.len()];
        for (own, response) in self.rows.iter().zip(&mut responses) {
            let above = |other: &&&Row| (other.period, other.task) < (own.period, own.task);
            let above: Vec<&Row> = self.rows.iter().filter(above).copied().collect();
            for start in self.pattern.starts() {
                let found = self.response_from(start, (own, &above), effort)?;
                *response = found.max(*response);
            }
        }
        Ok(responses)
    }

    /// The response time of a job where all are released at `start`.
    fn response_from(
        &self,
        start: u64,
        (own, above): (&Row, &[&Row]),
        effort: &mut Effort,
    ) -> Result<u64, LevelReason> {
        let cpu = self.cpu;
        let mut window = 0u64;
        loop {
            if !effort.take(above.len() as u64 + 1) {
                return Err(LevelReason::NotDecided { cpu });
            }
            let jobs = |row: &&Row| window.div_ceil(row.period);
            let each = above
                .iter()
                .map(|row| jobs(row).saturating_mul(row.own_wcet()));
            let work = each.fold(own.own_wcet(), u64::saturating_add);
            let next = self.pattern.time_from(start, work).unwrap_or(u64::MAX);
            if next > own.deadline {
                return Err(LevelReason::Late {
                    cpu,
                    task: task_id(own.task),
                    at_least: Duration::from_nanos(next),
                    deadline: Duration::from_nanos(own.deadline),
                });
            }
            if next == window {
                return Ok(window);
            }
            window = next;
        }
    }

    /// A length beyond which no window needs to be looked at, if U_A + U_B <= 1; `None` if none is found.
    fn longest_window(&self, effort: &mut Effort) -> Option<u64> {
        let limit = match (self.bound_by_slack(), self.hyperperiod()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let mut busy = 0;
        loop {
            if limit.is_some_and(|limit| busy >= limit) || !effort.take(self.pattern.size()) {
                return limit;
            }
            let requests = self.requests(busy);
            match self.pattern.time_for(requests) {
                Some(next) if next > busy => busy = next,
                Some(_) => return Some(busy),
                None => return limit,
            }
        }
    }

    /// L1, rounded up; `None` if U_A + U_B is not known to be below 1 or the bound does not fit.
    fn bound_by_slack(&self) -> Option<u64> {
        let free = Bracket::ONE.checked_sub(self.share().high)?;
        let early = self.rows.iter().map(|row| {
            let product = u128::from(row.period - row.deadline) * u128::from(row.own_wcet());
            product.div_ceil(row.period.into())
        });
        let late = early.sum::<u128>() + u128::from(self.pattern.burst_nanos());
        let scaled = late.checked_mul(Bracket::ONE)?;
        let bound = (free > 0).then(|| scaled.div_ceil(free))?;
        u64::try_from(bound).ok()
    }

    /// L2, if it fits.
    fn hyperperiod(&self) -> Option<u64> {
        self.rows.iter().try_fold(self.pattern.cycle(), |all, row| {
            all.checked_mul(row.period / all.gcd(&row.period))
        })
    }

    /// rbf, with the jobs at the begin of an empty window, too; saturating.
    fn requests(&self, window: u64) -> u64 {
        let jobs = |row: &&Row| window.div_ceil(row.period).max(1);
        let each = self
            .rows
            .iter()
            .map(|row| jobs(row).saturating_mul(row.own_wcet()));
        each.fold(0, u64::saturating_add)
    }

    /// dbf, saturating.
    fn demand(&self, window: u64) -> u64 {
        let each = self.rows.iter().map(|row| {
            let since = window.checked_sub(row.deadline);
            let jobs = since.map_or(0, |since| since / row.period + 1);
            jobs.saturating_mul(row.own_wcet())
        });
        each.fold(0, u64::saturating_add)
    }

    /// The last deadline of the synchronous release that is at most `until`.
    fn last_deadline(&self, until: u64) -> Option<u64> {
        let last = |row: &&Row| {
            let since = until.checked_sub(row.deadline)?;
            Some(since / row.period * row.period + row.deadline)
        };
        self.rows.iter().filter_map(last).max()
    }
}
