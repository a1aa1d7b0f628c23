//! Zero-slack instants: the response-time bound of a task that may suspend others, and the latest
//! instant at which it has to. [`crate::schedulability::zss`] has equations, papers and assumptions.
//!
//! Here is what one task's bound is made of, and the form that charges all tasks with a job under way;
//! [`proof`] proves whole levels for given instants, [`search`] looks for instants.
//!
//! The least fixed point of R = f(R) is approached from below. Here f is not a step function: while a
//! job under way takes all of the window, f grows as fast as R. As long as f(R) > R and some term
//! grows with R, the distance between the two does not shrink; the search jumps to where the last of
//! the terms that grow now stands still, so that its steps are as many as jobs and not as many as
//! nanoseconds.

pub(crate) mod proof;
pub(crate) mod search;

use crate::demand::{Bound, Demand, PASSES_MAX};
use crate::problem::Row;
use crate::schedulability::zss::slack::proof::highest;
use vestal_core::Duration;

/// What the jobs of one task can execute in a window that grows from nothing.
#[derive(Clone, Copy, Debug)]
struct Stream {
    period: u64,
    cost: u64,
    /// How far the window reaches into the period of the last job.
    into: u64,
    /// What the jobs before that one execute.
    done: u64,
}

impl Stream {
    /// W_j for the window 0, with the job under way just before its deadline if `carry_in`, and
    /// without one otherwise. `cost` is at most the deadline of `row`.
    fn new(row: &Row, cost: u64, carry_in: bool) -> Self {
        Self {
            period: row.period,
            cost,
            into: if carry_in { row.deadline - cost } else { 0 },
            done: 0,
        }
    }

    /// W_j for the window 0 where a job may be under way that leaves the CPU `reach` after its release
    /// at the latest, which is not before `cost`.
    fn within(row: &Row, cost: u64, reach: u64) -> Self {
        Self {
            period: row.period,
            cost,
            into: reach.saturating_sub(cost),
            done: 0,
        }
    }

    /// Lets the window grow.
    fn grow(&mut self, by: u64) {
        self.into += by;
        if self.into < self.period {
            return;
        }
        // Mostly a job or two; a division pays only for more.
        if self.into < self.period.saturating_mul(4) {
            while self.into >= self.period {
                self.into -= self.period;
                self.done = self.done.saturating_add(self.cost);
            }
        } else {
            let jobs = self.into / self.period;
            self.into %= self.period;
            self.done = self.done.saturating_add(jobs.saturating_mul(self.cost));
        }
    }

    fn work(&self) -> u64 {
        self.done.saturating_add(self.cost.min(self.into))
    }

    /// How much the window has to grow until the work stands still; 0: it does.
    fn growing_for(&self) -> u64 {
        self.cost.saturating_sub(self.into)
    }
}

/// Which terms an analysis has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// A job may be under way when the window begins, as late as its deadline allows.
    pub(crate) carry_in: bool,
    /// Work that a more critical task is sure to have done before its own zero-slack instant counts
    /// only once.
    pub(crate) tightening: Tightening,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tightening {
    Never,
    /// Where no other task lets the task run before its zero-slack instant.
    WhereSound,
    /// Everywhere: wrong, for a control.
    #[cfg(feature = "controls")]
    Everywhere,
}

/// Sound for sporadic tasks.
pub(crate) const SPORADIC: Form = Form {
    carry_in: true,
    tightening: Tightening::Never,
};

/// Sound for sporadic tasks, too.
pub(crate) const TIGHTENED: Form = Form {
    carry_in: true,
    tightening: Tightening::WhereSound,
};

/// For periodic tasks in phase with harmonic periods.
pub(crate) const HARMONIC: Form = Form {
    carry_in: false,
    tightening: Tightening::WhereSound,
};

/// Memory that analyses use again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlackTables {
    /// Tasks whose work counts in the whole window.
    always: Vec<Stream>,
    /// More urgent, less critical tasks, whose work counts up to the zero-slack instant.
    suspended: Vec<Stream>,
    /// Both, in the present window.
    window: Vec<Stream>,
    /// By position in the order, Z. Of tasks that were not looked at yet, and of those for which there
    /// is none, 0.
    pub(crate) instants: Vec<u64>,
    /// By position, the bounds on response times that the latest proof of a level came to.
    pub(crate) responses: Vec<u64>,
    /// By position, the bounds that a search for instants starts from.
    base: Vec<u64>,
    /// By position, the latest instants by a form.
    latest: Vec<u64>,
    /// Jobs counted where no task is suspended.
    plain: Demand,
    /// A search of this analysis had no more steps: it goes on with none.
    ran_out: bool,
}

/// C_j(l), and C_j(z_j) above j's own level, where the limit stops it.
fn charge(row: &Row, level: usize) -> u64 {
    row.wcet[level.min(row.criticality)]
}

impl SlackTables {
    /// Another analysis begins.
    pub(crate) fn begin(&mut self) {
        self.ran_out = false;
        self.plain.begin();
    }

    /// Whether a search of this analysis reached its limit.
    pub(crate) fn is_undecided(&self) -> bool {
        self.ran_out || self.plain.is_undecided()
    }

    /// Gathers what interferes with the task at `position` of `order`, most urgent first, in runs that
    /// keep the assumption of `level`.
    fn load(&mut self, order: &[Row], position: usize, level: usize, form: Form) {
        let own = order[position].criticality;
        self.always.clear();
        self.suspended.clear();
        for row in &order[..position] {
            let stream = Stream::new(row, charge(row, level), form.carry_in);
            if row.criticality >= own {
                self.always.push(stream);
            } else {
                self.suspended.push(stream);
            }
        }
        for (below, row) in order.iter().enumerate().skip(position + 1) {
            if row.criticality > own {
                let cost = self.cost_below(order, position, below, level, form);
                self.always.push(Stream::new(row, cost, form.carry_in));
            }
        }
    }

    /// What a job of the less urgent, more critical task at `below` executes at most while the one at
    /// `position` is suspended.
    fn cost_below(
        &self,
        order: &[Row],
        position: usize,
        below: usize,
        level: usize,
        form: Form,
    ) -> u64 {
        let (row, full) = (&order[below], charge(&order[below], level));
        let own = order[position].criticality;
        let applies = match form.tightening {
            Tightening::Never => false,
            Tightening::WhereSound => !order[below + 1..]
                .iter()
                .any(|other| other.criticality > own && other.criticality <= row.criticality),
            #[cfg(feature = "controls")]
            Tightening::Everywhere => true,
        };
        let instant = self.instants.get(below).copied().unwrap_or(0);
        if !applies || instant == 0 {
            return full;
        }
        let before = order[..below].iter();
        let after = order[below + 1..]
            .iter()
            .filter(|other| other.criticality > row.criticality);
        let others = before.chain(after).fold(0_u64, |sum, other| {
            let mut stream = Stream::new(other, charge(other, level), form.carry_in);
            stream.grow(instant);
            sum.saturating_add(stream.work())
        });
        full.saturating_sub(instant.saturating_sub(others))
    }

    /// R(Z) of the task loaded last: the least R with R = own + the work of all others, of which the
    /// suspended ones count up to `instant` only. The search begins at `from`, which is not above it.
    /// Undecided after [`PASSES_MAX`] steps, and so is every search of the analysis from then on.
    fn solve(&mut self, own: u64, from: u64, instant: u64, limit: u64) -> Bound {
        let mut window = own.max(from);
        self.window.clear();
        self.window.extend(&self.always);
        if instant > 0 {
            self.window.extend(&self.suspended);
        }
        let (always, suspended) = self.window.split_at_mut(self.always.len());
        let mut inner = window.min(instant);
        always.iter_mut().for_each(|stream| stream.grow(window));
        suspended.iter_mut().for_each(|stream| stream.grow(inner));
        let steps = if self.ran_out { 0 } else { PASSES_MAX };
        for _ in 0..steps {
            let (needed, growing) = needed(own, always, suspended, (inner, instant));
            if needed <= window {
                return Bound::Found(window);
            }
            let next = needed.max(window.saturating_add(growing));
            if next > limit {
                return Bound::AtLeast(next);
            }
            let step = next - window;
            always.iter_mut().for_each(|stream| stream.grow(step));
            window = next;
            let reached = window.min(instant);
            suspended
                .iter_mut()
                .for_each(|stream| stream.grow(reached - inner));
            inner = reached;
        }
        self.ran_out = true;
        Bound::Undecided
    }

    /// Takes over the instants that the problem gives, in task order.
    pub(crate) fn given(&mut self, order: &[Row], given: &[Duration]) {
        self.instants.clear();
        let instants = order.iter().map(|row| given[row.task].as_nanos());
        self.instants.extend(instants);
    }

    /// The earliest instants: jobs are critical from their release on.
    pub(crate) fn earliest(&mut self, order: &[Row]) {
        self.instants.clear();
        self.instants.resize(order.len(), 0);
    }

    /// Whether the task at `position` passes the form with its instant, in runs of its own level.
    pub(crate) fn passes(&mut self, order: &[Row], position: usize, form: Form) -> bool {
        let (level, instant) = (order[position].criticality, self.instants[position]);
        let bound = self.response(order, position, level, instant, form);
        matches!(bound, Bound::Found(_))
    }

    /// Finds the instants of all tasks, the most critical first. The position of a task without one is
    /// the result; its own is 0 then, and it goes on with the others.
    pub(crate) fn choose(&mut self, order: &[Row], form: Form) -> Option<usize> {
        self.earliest(order);
        let mut without = None;
        for criticality in (0..=highest(order)).rev() {
            for position in 0..order.len() {
                if order[position].criticality != criticality {
                    continue;
                }
                match self.latest_instant(order, position, form) {
                    Ok(instant) => self.instants[position] = instant,
                    Err(_) => without = without.or(Some(position)),
                }
            }
        }
        without
    }

    /// R(Z) of the task at `position` in runs that keep the assumption of `level`. Its C_i(z_i) is at
    /// most D_i, and the instants of more critical tasks are known if the form asks for them.
    pub(crate) fn response(
        &mut self,
        order: &[Row],
        position: usize,
        level: usize,
        instant: u64,
        form: Form,
    ) -> Bound {
        self.load(order, position, level, form);
        let row = &order[position];
        self.solve(charge(row, level), 0, instant, row.deadline)
    }

    /// The largest Z in [0, D] with R(Z) <= D, and the bound with Z = 0 where there is none. R(Z)
    /// never falls as Z grows.
    fn latest_instant(&mut self, order: &[Row], position: usize, form: Form) -> Result<u64, Bound> {
        let row = &order[position];
        let (own, deadline) = (row.own_wcet(), row.deadline);
        self.load(order, position, row.criticality, form);
        let mut least = match self.solve(own, 0, 0, deadline) {
            Bound::Found(response) => response,
            excess @ (Bound::AtLeast(_) | Bound::Undecided) => return Err(excess),
        };
        if let Bound::Found(_) = self.solve(own, least, deadline, deadline) {
            return Ok(deadline);
        }
        let (mut fine, mut late) = (0, deadline);
        while late - fine > 1 {
            let middle = fine + (late - fine) / 2;
            // Not less than with an earlier instant.
            match self.solve(own, least, middle, deadline) {
                Bound::Found(response) => (fine, least) = (middle, response),
                Bound::AtLeast(_) | Bound::Undecided => late = middle,
            }
        }
        Ok(fine)
    }
}

/// What `own` and the work of the others come to in the present window, of which the suspended ones have seen `inner` of
/// `instant`, and for how long that surely grows as the window does.
fn needed(
    own: u64,
    always: &[Stream],
    suspended: &[Stream],
    (inner, instant): (u64, u64),
) -> (u64, u64) {
    let (mut needed, mut growing) = (own, 0);
    for stream in always {
        needed = needed.saturating_add(stream.work());
        growing = growing.max(stream.growing_for());
    }
    for stream in suspended {
        let work = stream.work();
        needed = needed.saturating_add(work.min(inner));
        // Up to `instant` the term min(window, W) grows while the window is the smaller one.
        let left = if inner < work {
            work - inner
        } else {
            stream.growing_for()
        };
        growing = growing.max(left.min(instant - inner));
    }
    (needed, growing)
}
