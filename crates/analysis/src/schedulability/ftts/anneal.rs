//! Simulated annealing over placements, in integers, the same for a seed.

use super::cycle::Cycle;
use super::start::worst_fit;
use super::state::{Move, State};
use super::table::Places;

/// How a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Which random numbers.
    pub seed: u64,
    /// How many loads of a CPU, sub-frame and level it may look at, roughly: what bounds its time.
    pub steps_max: u64,
    /// Whether it ends with the first placement in which every frame is long enough, or goes on to shorten frames
    /// until it may take no more steps.
    pub goal: Goal,
}

/// When a search has what it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Every frame is long enough.
    Feasible,
    /// The sum of all barriers is small.
    Short,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            seed: 1,
            // Of 5000 small sets that exact search solves and worst fit does not, all but one took less.
            steps_max: 4_000_000,
            goal: Goal::Feasible,
        }
    }
}

/// The best placement that was seen, worst fit among them.
pub(crate) fn search(cycle: &Cycle, effort: &Effort) -> Places {
    let start = worst_fit(cycle);
    let mut walk = Walk {
        moves: Moves::new(cycle),
        random: Random(effort.seed),
        effort: *effort,
        best_cost: u128::MAX,
        best: start.clone(),
        state: State::new(cycle, start),
    };
    walk.keep_if_best();
    if !walk.moves.is_empty() {
        walk.run();
    }
    walk.best
}

/// A walk from one placement to the next.
struct Walk<'a> {
    state: State<'a>,
    moves: Moves,
    random: Random,
    effort: Effort,
    best: Places,
    best_cost: u128,
}

impl Walk<'_> {
    fn run(&mut self) {
        let cycle = self.state.cycle;
        let epoch = 4 * (cycle.pieces.len() + cycle.jobs.len()).max(16);
        let hottest = u128::from(cycle.frame / 4).max(1);
        let mut temperature = hottest;
        while !self.is_done() {
            let before = self.best_cost;
            for _ in 0..epoch {
                if self.is_done() {
                    return;
                }
                self.step(temperature);
            }
            let is_better = self.best_cost < before;
            temperature = temperature * 95 / 100;
            // Cold: nothing but what is better is taken any more. What was best is as good a beginning as any.
            if temperature <= hottest >> 10 && !is_better {
                temperature = hottest;
                let steps = self.state.steps;
                self.state = State::new(cycle, self.best.clone());
                self.state.steps += steps;
            }
        }
    }

    fn is_done(&self) -> bool {
        let found = self.effort.goal == Goal::Feasible && self.state.is_feasible();
        found || self.state.steps >= self.effort.steps_max
    }

    /// One move, taken back if it makes things worse by more than an exponential number of this mean.
    fn step(&mut self, temperature: u128) {
        // A draw that is no move costs, too: the walk ends in any case.
        self.state.steps += 1;
        let Some(change) = self.moves.draw(&self.state, &mut self.random) else {
            return;
        };
        let before = self.state.cost();
        let back = self.state.make(change);
        let worse = self.state.cost().saturating_sub(before);
        if worse > 0 && worse > self.random.exponential(temperature) {
            self.state.make(back);
            return;
        }
        self.keep_if_best();
    }

    fn keep_if_best(&mut self) {
        let cost = self.state.cost();
        if cost < self.best_cost {
            self.best_cost = cost;
            self.best.clone_from(self.state.places());
        }
    }
}

/// What can be moved at all.
struct Moves {
    /// Tasks that may go to another CPU.
    tasks: Vec<usize>,
    /// Jobs with more than one frame in their windows.
    jobs: Vec<usize>,
}

impl Moves {
    fn new(cycle: &Cycle) -> Self {
        let is_free = |task: &usize| cycle.cpus > 1 && cycle.pieces[*task].pinned.is_none();
        let has_choice = |job: &usize| cycle.jobs[*job].window.len() > 1;
        Self {
            tasks: (0..cycle.pieces.len()).filter(is_free).collect(),
            jobs: (0..cycle.jobs.len()).filter(has_choice).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.jobs.is_empty()
    }

    /// One of the four kinds, each as likely; `None` if what is drawn would change nothing.
    fn draw(&self, state: &State<'_>, random: &mut Random) -> Option<Move> {
        let cycle = state.cycle;
        let places = state.places();
        match random.below(4) {
            0 => {
                let task = random.one_of(&self.tasks)?;
                let other = random.below(cycle.cpus - 1);
                let to = other + usize::from(other >= places.cpus[task]);
                Some(Move::Cpu { task, to })
            }
            1 => {
                let job = random.one_of(&self.jobs)?;
                let window = cycle.jobs[job].window.clone();
                let to = window.start + random.below(window.len());
                (to != places.frames[job]).then_some(Move::Frame { job, to })
            }
            2 => {
                let (one, other) = (random.one_of(&self.tasks)?, random.one_of(&self.tasks)?);
                let differ = places.cpus[one] != places.cpus[other];
                differ.then_some(Move::SwapCpus { one, other })
            }
            _ => {
                let (one, other) = (random.one_of(&self.jobs)?, random.one_of(&self.jobs)?);
                let (from, to) = (places.frames[one], places.frames[other]);
                let fit = cycle.jobs[one].window.contains(&to)
                    && cycle.jobs[other].window.contains(&from);
                (from != to && fit).then_some(Move::SwapFrames { one, other })
            }
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    fn below(&mut self, bound: usize) -> usize {
        let scaled = u128::from(self.next()) * bound as u128;
        usize::try_from(scaled >> 64).unwrap_or(0)
    }

    fn one_of(&mut self, items: &[usize]) -> Option<usize> {
        let position = self.below(items.len());
        items.get(position).copied()
    }

    /// An exponential number of this mean, by comparisons alone (von Neumann, 1951): in runs of falling uniform
    /// numbers, the first of a run of odd length has the density exp(-x) on the unit interval, and the number of
    /// runs of even length before it is the whole part. So taking a change for the worse by d if d is not above it
    /// has the probability exp(-d / mean) that annealing asks for.
    fn exponential(&mut self, mean: u128) -> u128 {
        let mut whole: u128 = 0;
        loop {
            let first = self.next();
            let (mut last, mut is_odd) = (first, true);
            loop {
                let next = self.next();
                if next > last {
                    break;
                }
                (last, is_odd) = (next, !is_odd);
            }
            if is_odd {
                let part = mean.saturating_mul(u128::from(first >> 32)) >> 32;
                return whole.saturating_mul(mean).saturating_add(part);
            }
            whole += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// exp(-1/2), exp(-1), exp(-2) and exp(-3) in parts of 100 000: that often a change for the worse by so many halves
    /// of the temperature is taken.
    #[test]
    fn what_is_drawn_is_exponential() {
        let mut random = Random(5);
        let mut above = [0_u32; 4];
        let mut sum = 0;
        for _ in 0..100_000 {
            let drawn = random.exponential(1_000_000);
            sum += drawn;
            for (halves, count) in [1, 2, 4, 6].into_iter().zip(&mut above) {
                *count += u32::from(drawn >= halves * 500_000);
            }
        }
        for (found, expected) in above.into_iter().zip([60_653_u32, 36_788, 13_534, 4_979]) {
            // Four standard deviations.
            assert!(found.abs_diff(expected) < 640, "{above:?}");
        }
        assert!((sum / 100_000).abs_diff(1_000_000) < 13_000, "{sum}");
    }

    #[test]
    fn small_means_are_drawn_too_and_none_is_none() {
        let mut random = Random(6);
        assert_eq!(random.exponential(0), 0);
        let drawn = (0..1_000).map(|_| random.exponential(1)).max();
        assert!(drawn.is_some_and(|largest| (3..30).contains(&largest)));
    }
}
