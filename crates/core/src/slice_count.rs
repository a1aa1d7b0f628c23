//! Into how many slices jobs are cut, and what a slice grants: the arithmetic of period transformation
//! (Sha, Lehoczky and Rajkumar, RTSS 1986; Vestal, RTSS 2007).
//!
//! Task i is cut into n_i slices: its job released at r may execute, by r + floor(k T_i / n_i), at
//! most ceil((k + 1) C_i(z_i) / n_i) in all, for k = 0, ..., n_i - 1. Integer forms: with n_i = 1 the
//! limit is C_i(z_i) from the start. O(1).

use crate::model::Task;
use crate::server::{ByLevel, ServerKind};
use crate::time::{Duration, Service};
use core::num::NonZeroU32;

/// The most slices of a job: a limit of sense, far beyond what a machine can switch.
pub const SLICES_MAX: u32 = 1 << 20;

/// Into how many slices each job of a task is cut: n_i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SliceCount(NonZeroU32);

impl SliceCount {
    /// Jobs in one piece.
    pub const ONE: Self = Self(NonZeroU32::MIN);

    /// `count` slices for a job of `task`. `None` if there is none or more than [`SLICES_MAX`], if a
    /// slice would be shorter than a nanosecond, or if n_i T_i or n_i C_i(z_i) exceed 64 bits.
    #[must_use]
    pub fn new(count: u32, task: &Task) -> Option<Self> {
        let number = u64::from(count);
        task.period.as_nanos().checked_mul(number)?;
        task.own_wcet().as_nanos().checked_mul(number)?;
        if number > task.period.as_nanos() || count > SLICES_MAX {
            return None;
        }
        NonZeroU32::new(count).map(Self)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    const fn number(self) -> u64 {
        // Widening; `u64::from` is not const.
        self.0.get() as u64
    }

    /// What a job of `task` may have executed in all `since` its release, rounded up:
    /// ceil((k + 1) C / n) for the last k with floor(k T / n) <= since.
    #[must_use]
    pub fn granted_ceil(self, task: &Task, since: Duration) -> Service {
        let (whole, count) = (task.own_wcet(), self.number());
        let (period, since) = (task.period.as_nanos(), since.as_nanos());
        if since >= period || count == 1 {
            return whole;
        }
        // floor(k T / n) <= since exactly if k T < (since + 1) n.
        let reached = since.saturating_add(1).saturating_mul(count);
        let slices = reached.saturating_sub(1).checked_div(period).unwrap_or(0);
        let slices = slices.saturating_add(1).min(count);
        let product = slices.saturating_mul(whole.as_nanos());
        Service::from_nanos(product.div_ceil(count))
    }

    /// The server that a grid instead of the jobs would give `task`: of period floor(T / n), capacity
    /// ceil(C(z) / n), replenished at multiples of its period whenever jobs come. It is how Huang, Gill
    /// and Lu (TECS 2014) carry period transformation out; there to compare with.
    #[must_use]
    pub fn deferrable_server(self, task: &Task) -> ServerKind {
        let count = self.number();
        let period = task.period.as_nanos().checked_div(count).unwrap_or(0);
        let capacity = task.own_wcet().as_nanos().div_ceil(count);
        ServerKind::Deferrable {
            period: Duration::from_nanos(period),
            capacity: ByLevel::constant(Service::from_nanos(capacity)),
        }
    }

    /// How long after its release, rounded down, a job of `task` is granted `amount` in all; `None`
    /// if it never is.
    #[must_use]
    pub fn granting_boundary_floor(self, task: &Task, amount: Service) -> Option<Duration> {
        let (whole, count) = (task.own_wcet(), self.number());
        if amount > whole {
            return None;
        }
        // ceil((k + 1) C / n) >= amount exactly if (k + 1) C > (amount - 1) n.
        let before = amount.as_nanos().saturating_sub(1).saturating_mul(count);
        let slice = before.checked_div(whole.as_nanos())?;
        let product = slice.saturating_mul(task.period.as_nanos());
        Some(Duration::from_nanos(product.checked_div(count)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Level, Wcet};

    fn task(period: u64, wcet: u64) -> Task {
        let span = Duration::from_nanos(period);
        let wcet = Wcet::constant(Service::from_nanos(wcet));
        Task::new(Level(0), span, span, wcet).unwrap()
    }

    /// By looking at each slice in turn.
    fn granted_by_definition(n: u64, period: u64, wcet: u64, since: u64) -> u64 {
        let reached = (0..n).filter(|k| k * period / n <= since);
        reached
            .map(|k| ((k + 1) * wcet).div_ceil(n))
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn closed_forms_agree_with_the_definition_slice_by_slice() {
        for (period, wcet) in [
            (1, 1),
            (7, 3),
            (12, 4),
            (15, 3),
            (16, 16),
            (10, 11),
            (23, 9),
        ] {
            let task = task(period, wcet);
            for n in 1..=period {
                let count = SliceCount::new(n as u32, &task).unwrap();
                for since in 0..2 * period {
                    let expected = granted_by_definition(n, period, wcet, since);
                    let found = count.granted_ceil(&task, Duration::from_nanos(since));
                    assert_eq!(found.as_nanos(), expected, "{n} of {task:?} after {since}");
                }
                for amount in 1..=wcet {
                    let all = 0..period;
                    let expected = all
                        .filter(|&at| granted_by_definition(n, period, wcet, at) >= amount)
                        .min();
                    let found = count.granting_boundary_floor(&task, Service::from_nanos(amount));
                    assert_eq!(found.map(|at| at.as_nanos()), expected, "{n} of {task:?}");
                }
                let above = Service::from_nanos(wcet + 1);
                assert_eq!(count.granting_boundary_floor(&task, above), None);
            }
        }
    }

    #[test]
    fn a_job_is_not_cut_into_nothing_or_into_less_than_nanoseconds() {
        assert!(SliceCount::new(0, &task(10, 2)).is_none());
        assert!(SliceCount::new(11, &task(10, 2)).is_none());
        assert!(SliceCount::new(10, &task(10, 2)).is_some());
        assert!(SliceCount::new(8, &task(1 << 61, 1)).is_none());
    }
}
