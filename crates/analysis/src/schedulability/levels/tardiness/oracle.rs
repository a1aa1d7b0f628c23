//! The same inequality in exact fractions: no closed form, nothing rounded; and what is wrong with it can be said.

use super::{Closed, Wanted};
use num_bigint::BigInt;
use num_integer::Integer;
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

/// What is wrong with a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// CPUs are closed evenly: no term B.
    NoBurst,
    /// While a task executes all other CPUs are of use, whether they are ever closed or not.
    NoWaste,
}

/// A fraction of any length.
#[derive(Clone, Debug)]
pub struct Exact {
    numerator: BigInt,
    /// Above 0.
    denominator: BigInt,
}

impl Exact {
    /// numerator / denominator, which is not 0.
    #[must_use]
    pub fn new(numerator: impl Into<BigInt>, denominator: impl Into<BigInt>) -> Self {
        let (mut numerator, mut denominator) = (numerator.into(), denominator.into());
        if denominator < BigInt::ZERO {
            (numerator, denominator) = (-numerator, -denominator);
        }
        let shared = numerator.gcd(&denominator);
        Self {
            numerator: numerator / &shared,
            denominator: denominator / shared,
        }
    }

    /// A whole number.
    #[must_use]
    pub fn whole(value: u64) -> Self {
        Self::new(value, 1)
    }

    fn most(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    fn least(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    fn sum(values: impl Iterator<Item = Self>) -> Self {
        values.fold(Self::whole(0), |sum, value| &sum + &value)
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Exact {}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl Add for &Exact {
    type Output = Exact;
    fn add(self, other: Self) -> Exact {
        let numerator = &self.numerator * &other.denominator + &other.numerator * &self.denominator;
        Exact::new(numerator, &self.denominator * &other.denominator)
    }
}

impl Sub for &Exact {
    type Output = Exact;
    fn sub(self, other: Self) -> Exact {
        let numerator = &self.numerator * &other.denominator - &other.numerator * &self.denominator;
        Exact::new(numerator, &self.denominator * &other.denominator)
    }
}

impl Mul for &Exact {
    type Output = Exact;
    fn mul(self, other: Self) -> Exact {
        Exact::new(
            &self.numerator * &other.numerator,
            &self.denominator * &other.denominator,
        )
    }
}

impl Div for &Exact {
    type Output = Exact;
    fn div(self, other: Self) -> Exact {
        Exact::new(
            &self.numerator * &other.denominator,
            &self.denominator * &other.numerator,
        )
    }
}

fn utilization(task: &Wanted) -> Exact {
    Exact::new(task.wcet, task.period)
}

/// What is left of all CPUs.
fn rate(cpus: &[Closed]) -> Exact {
    let closed = cpus.iter().flat_map(|cpu| &cpu.shares);
    let closed = closed.map(|&(wcet, period)| Exact::new(wcet, period));
    &Exact::whole(cpus.len() as u64) - &Exact::sum(closed)
}

/// The right-hand side of the inequality for each task.
#[must_use]
pub fn needed(
    cpus: &[Closed],
    tasks: &[Wanted],
    late: &[Exact],
    mistake: Option<Mistake>,
) -> Vec<Exact> {
    let (zero, rate) = (Exact::whole(0), rate(cpus));
    let open = cpus.iter().filter(|cpu| cpu.never()).count();
    if tasks.len() <= open {
        let late = tasks
            .iter()
            .map(|task| task.wcet.saturating_sub(task.deadline));
        return late.map(Exact::whole).collect();
    }
    let burst = match mistake {
        Some(Mistake::NoBurst) => zero.clone(),
        Some(Mistake::NoWaste) | None => Exact::sum(cpus.iter().map(|cpu| Exact::whole(cpu.burst))),
    };
    let lag = |index: usize| {
        let lag = &late[index] - &Exact::whole(tasks[index].wcet);
        lag.most(zero.clone())
    };
    let share = |index: usize, of: &Exact| &utilization(&tasks[index]) * of;
    let all = 0..tasks.len();
    let early = all.clone().map(|index| {
        let early = tasks[index].period - tasks[index].deadline;
        share(index, &Exact::whole(early))
    });
    let mut carried: Vec<Exact> = all
        .clone()
        .map(|index| share(index, &(&Exact::whole(tasks[index].deadline) + &lag(index))))
        .collect();
    carried.sort();
    let carried = Exact::sum(carried.into_iter().rev().take(cpus.len() - 1));
    let pending = &(&burst + &Exact::sum(early)) + &carried;
    all.map(|index| {
        let wcet = Exact::whole(tasks[index].wcet);
        let own = &wcet + &share(index, &lag(index));
        let with = |wasted: usize| &pending + &(&Exact::whole(wasted as u64) * &own);
        let plain = &with(cpus.len() - 1) / &rate;
        let wasted = match (open, mistake) {
            (0, Some(Mistake::NoWaste)) => 0,
            (0, Some(Mistake::NoBurst) | None) => return plain,
            (1.., _) => cpus.len().saturating_sub(open + 1),
        };
        let rest = (&with(wasted) - &wcet).most(zero.clone());
        plain.least(&wcet + &(&rest / &rate))
    })
    .collect()
}

/// A Theta by trying x + e_k for powers of two, and then by so many steps down; `None` if no power of two is enough or CPUs are
/// overloaded. A task must not want more than one.
#[must_use]
pub fn bounds(
    cpus: &[Closed],
    tasks: &[Wanted],
    steps: usize,
    mistake: Option<Mistake>,
) -> Option<Vec<Exact>> {
    if tasks.is_empty() {
        return Some(Vec::new());
    }
    if rate(cpus) < Exact::sum(tasks.iter().map(utilization)) || rate(cpus) <= Exact::whole(0) {
        return None;
    }
    let starts = (0..64).map(|power| Exact::whole(1 << power));
    let from = |start: Exact| -> Vec<Exact> {
        let late = tasks.iter().map(|task| &start + &Exact::whole(task.wcet));
        late.collect()
    };
    let holds = |late: &Vec<Exact>| {
        let needed = needed(cpus, tasks, late, mistake);
        needed.iter().zip(late).all(|(needed, late)| needed <= late)
    };
    let mut late = starts.map(from).find(holds)?;
    for _ in 0..steps {
        let next = needed(cpus, tasks, &late, mistake);
        if next == late {
            break;
        }
        late = next;
    }
    Some(late)
}
