//! Fixed job priorities straight from the equations: patterns by trying every length of a busy period,
//! lists by the loop as printed, and all orders.

use crate::problem::FiniteJob;
use vestal_core::{Duration, Level, Task};

/// How a pattern is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternRule {
    /// `fjp-lb`.
    ClosedForm,
    /// `fjp-own`.
    Own,
    /// `fjp-mode`.
    Mode,
    /// `fjp-ija:ceil`.
    IjaCeil,
    /// `fjp-ija:floor`.
    IjaFloor,
}

/// B(m) by level, and n_i(m) by task and level up to the highest of the set.
pub type SlowPattern = (Vec<u64>, Vec<Vec<u64>>);

/// The pattern of the rule, as long as no B(m) exceeds `longest`.
#[must_use]
pub fn pattern(tasks: &[Task], levels: u8, rule: PatternRule, longest: u64) -> Option<SlowPattern> {
    let mut busy = Vec::new();
    let mut jobs = vec![Vec::new(); tasks.len()];
    for m in 0..levels {
        let length = match rule {
            PatternRule::ClosedForm => closed_form(tasks).filter(|&b| b <= longest)?,
            PatternRule::Own | PatternRule::Mode => {
                (0..=longest).find(|&b| work(tasks, rule, m, &jobs, b) <= u128::from(b))?
            }
            PatternRule::IjaCeil | PatternRule::IjaFloor => {
                (0..=longest).find(|&b| ija_work(tasks, m, &jobs, b) <= u128::from(b))?
            }
        };
        busy.push(length);
        let released = |task: &Task| released_within(length, task);
        let before = |i: usize| {
            if m > 0 {
                jobs[i][usize::from(m) - 1]
            } else {
                0
            }
        };
        let now: Vec<u64> = match rule {
            PatternRule::ClosedForm | PatternRule::Own => tasks.iter().map(released).collect(),
            PatternRule::Mode => (0..tasks.len())
                .map(|i| match tasks[i].criticality.0 < m {
                    true => before(i),
                    false => released(&tasks[i]),
                })
                .collect(),
            PatternRule::IjaCeil | PatternRule::IjaFloor => {
                ija_jobs(tasks, m, rule, &before, &released)
            }
        };
        for (list, now) in jobs.iter_mut().zip(now) {
            list.push(now);
        }
    }
    Some((busy, jobs))
}

fn nanos(task: &Task, level: u8) -> u128 {
    crate::oracle::cost(task, Level(level)).into()
}

/// The job that begins a busy period counts even if it needs no time at the level.
fn released_within(length: u64, task: &Task) -> u64 {
    length.div_ceil(task.period.as_nanos()).max(1)
}

fn closed_form(tasks: &[Task]) -> Option<u64> {
    // Over the product of all periods, which has to fit.
    let product: u128 = tasks
        .iter()
        .map(|task| u128::from(task.period.as_nanos()))
        .product();
    let own = |task: &Task| u128::from(task.own_wcet().as_nanos());
    let used: u128 = tasks
        .iter()
        .map(|task| own(task) * (product / u128::from(task.period.as_nanos())))
        .sum();
    let rest = product.checked_sub(used).filter(|&rest| rest > 0)?;
    let all: u128 = tasks.iter().map(own).sum();
    u64::try_from(all * product / rest).ok()
}

/// The right-hand side of `fjp-own` and `fjp-mode`.
fn work(tasks: &[Task], rule: PatternRule, m: u8, jobs: &[Vec<u64>], b: u64) -> u128 {
    let of = |(i, task): (usize, &Task)| {
        let z = task.criticality.0;
        let released = u128::from(released_within(b, task));
        if rule == PatternRule::Own {
            released * nanos(task, z)
        } else if z < m {
            u128::from(jobs[i][usize::from(z)]) * nanos(task, z)
        } else {
            released * nanos(task, m)
        }
    };
    tasks.iter().enumerate().map(of).sum()
}

/// The right-hand side of `fjp-ija`.
fn ija_work(tasks: &[Task], m: u8, jobs: &[Vec<u64>], b: u64) -> u128 {
    let n = |i: usize, level: i16| match u8::try_from(level) {
        Ok(level) => jobs[i][usize::from(level)],
        Err(_) => 0,
    };
    let mut sum = 0;
    for (i, task) in tasks.iter().enumerate() {
        let z = task.criticality.0;
        for l in 0..m {
            let more = n(i, l.into()) - n(i, i16::from(l) - 1);
            sum += u128::from(more) * nanos(task, l.min(z));
        }
        if z >= m {
            let later = released_within(b, task).saturating_sub(n(i, i16::from(m) - 1));
            sum += u128::from(later) * nanos(task, m);
        }
    }
    sum
}

fn ija_jobs(
    tasks: &[Task],
    m: u8,
    rule: PatternRule,
    before: &dyn Fn(usize) -> u64,
    released: &dyn Fn(&Task) -> u64,
) -> Vec<u64> {
    let leaving = |(i, task): (usize, &Task)| {
        let jobs = before(i).max(released(task));
        (jobs - 1) * task.period.as_nanos() + task.own_wcet().as_nanos()
    };
    let own = |&(_, task): &(usize, &Task)| task.criticality.0 == m;
    let s = tasks.iter().enumerate().filter(own).map(leaving).max();
    let s = s.unwrap_or(0);
    let of = |(i, task): (usize, &Task)| {
        let period = task.period.as_nanos();
        before(i).max(match task.criticality.0 {
            z if z < m => 0,
            z if z == m => released(task),
            _ if rule == PatternRule::IjaCeil => s.div_ceil(period),
            _ => s / period,
        })
    };
    tasks.iter().enumerate().map(of).collect()
}

/// Lists for the pattern by the loop as printed, each sum added up anew; `aware` charges jobs what
/// the pattern says where that is lower. Entries count from 0.
#[must_use]
pub fn lists(tasks: &[Task], jobs: &[Vec<u64>], aware: bool) -> Option<Vec<Vec<u32>>> {
    let own = |i: usize| jobs[i][tasks[i].criticality.index()];
    let mut left: Vec<u64> = (0..tasks.len()).map(own).collect();
    let mut lists = vec![Vec::new(); tasks.len()];
    let mut priority = 0;
    while left.iter().any(|&count| count > 0) {
        let mut candidates = 0..tasks.len();
        let lowest = candidates.find(|&i| {
            left[i] > 0 && needed(tasks, jobs, &left, i, aware) <= due(&tasks[i], left[i])
        })?;
        lists[lowest].insert(0, priority);
        priority += 1;
        left[lowest] -= 1;
    }
    Some(lists)
}

/// Whether any order of the jobs of the pattern passes, jobs charged at the level of whom they
/// delay. Tries them all.
#[must_use]
pub fn some_order_of_pattern_passes(tasks: &[Task], jobs: &[Vec<u64>]) -> bool {
    fn rest_passes(tasks: &[Task], jobs: &[Vec<u64>], left: &mut [u64]) -> bool {
        if left.iter().all(|&count| count == 0) {
            return true;
        }
        for i in 0..tasks.len() {
            if left[i] > 0 && needed(tasks, jobs, left, i, false) <= due(&tasks[i], left[i]) {
                left[i] -= 1;
                let passes = rest_passes(tasks, jobs, left);
                left[i] += 1;
                if passes {
                    return true;
                }
            }
        }
        false
    }
    let own = |i: usize| jobs[i][tasks[i].criticality.index()];
    let mut left: Vec<u64> = (0..tasks.len()).map(own).collect();
    rest_passes(tasks, jobs, &mut left)
}

fn due(task: &Task, job: u64) -> u128 {
    u128::from(job - 1) * u128::from(task.period.as_nanos()) + u128::from(task.deadline.as_nanos())
}

/// What the jobs left need, seen from the last one left of task i.
fn needed(tasks: &[Task], jobs: &[Vec<u64>], left: &[u64], i: usize, aware: bool) -> u128 {
    let level_of = |j: usize, job: u64| {
        let mut levels = 0..=tasks[j].criticality.0;
        levels.find(|&m| job <= jobs[j][usize::from(m)])
    };
    let candidate = level_of(i, left[i]);
    let mut sum = 0;
    for (j, task) in tasks.iter().enumerate() {
        for job in 1..=left[j] {
            let placed = level_of(j, job);
            sum += match placed {
                Some(placed) if aware && Some(placed) < candidate => nanos(task, placed),
                Some(_) | None => nanos(task, task.criticality.0.min(tasks[i].criticality.0)),
            };
        }
    }
    sum
}

/// Whether any order of a finite job set passes, tried unit by unit: the runs in which all jobs
/// execute what the level of the job looked at allows.
#[must_use]
pub fn some_job_order_passes(jobs: &[FiniteJob]) -> bool {
    fn rest_passes(jobs: &[FiniteJob], order: &mut Vec<usize>) -> bool {
        if order.len() == jobs.len() {
            return true;
        }
        for next in 0..jobs.len() {
            if !order.contains(&next) {
                order.push(next);
                let passes = job_passes(jobs, order) && rest_passes(jobs, order);
                order.pop();
                if passes {
                    return true;
                }
            }
        }
        false
    }
    rest_passes(jobs, &mut Vec::new())
}

/// Whether all jobs of an order, most urgent first, pass.
#[must_use]
pub fn job_order_passes(jobs: &[FiniteJob], order: &[usize]) -> bool {
    (1..=order.len()).all(|count| job_passes(jobs, &order[..count]))
}

/// Whether the last job of an order meets its deadline.
fn job_passes(jobs: &[FiniteJob], order: &[usize]) -> bool {
    let Some(&last) = order.last() else {
        return true;
    };
    let level = jobs[last].criticality;
    let mut left: Vec<u64> = order
        .iter()
        .map(|&job| {
            jobs[job]
                .wcet
                .at(level.min(jobs[job].criticality))
                .as_nanos()
        })
        .collect();
    for now in 0..jobs[last].deadline.as_nanos() {
        let mut pending = 0..order.len();
        let runs = pending.find(|&position| {
            left[position] > 0 && jobs[order[position]].release.as_nanos() <= now
        });
        if let Some(position) = runs {
            left[position] -= 1;
        }
    }
    left.last() == Some(&0)
}

/// LOAD(l) <= `limit` as numerator and denominator: in every window between a release and a deadline,
/// the jobs of criticality l or more inside it need at most that share of it at level l.
#[must_use]
pub fn load(jobs: &[FiniteJob], level: Level) -> (u64, u64) {
    let mut greatest = (0_u64, 1_u64);
    for from in jobs.iter().map(|job| job.release) {
        for to in jobs.iter().map(|job| job.deadline) {
            let window = Duration::as_nanos(to.saturating_since(from));
            let inside = |job: &&FiniteJob| {
                job.criticality >= level && job.release >= from && job.deadline <= to
            };
            let demand: u64 = jobs
                .iter()
                .filter(inside)
                .map(|job| job.wcet.at(level).as_nanos())
                .sum();
            if window > 0
                && u128::from(demand) * u128::from(greatest.1)
                    > u128::from(greatest.0) * u128::from(window)
            {
                greatest = (demand, window);
            }
        }
    }
    greatest
}
