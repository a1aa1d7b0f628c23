//! A placement that can be changed job by job, with its cost kept up to date.
//!
//! Its slow twin is [`super::table`], which computes the same from lists.

use super::cycle::Cycle;
use super::table::{Places, slowest};

/// A placement with the loads of all sub-frames and what follows from them.
pub(crate) struct State<'a> {
    pub(crate) cycle: &'a Cycle,
    places: Places,
    /// At `((frame * levels + criticality) * levels + level) * cpus + cpu`, in ns.
    work: Vec<u128>,
    /// The same of accesses; empty if CPUs do not delay one another.
    accesses: Vec<u128>,
    /// barrier(f,k,l) at `(frame * levels + criticality) * levels + level`.
    barriers: Vec<u128>,
    /// The lengths of the frames.
    lengths: Tournament,
    /// The sum of all barriers.
    sum: u128,
    /// Sub-frames with changed loads, each once.
    changed: Vec<usize>,
    is_changed: Vec<bool>,
    /// How many loads were looked at again: what a search may spend.
    pub(crate) steps: u64,
}

/// A change, which is undone by the one that it gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// A task goes to a CPU.
    Cpu { task: usize, to: usize },
    /// A job goes to a frame of its window.
    Frame { job: usize, to: usize },
    /// Two tasks change their CPUs.
    SwapCpus { one: usize, other: usize },
    /// Two jobs change their frames, which are in the windows of both.
    SwapFrames { one: usize, other: usize },
}

impl<'a> State<'a> {
    /// O(e) for e entries, and the shape of the table.
    pub(crate) fn new(cycle: &'a Cycle, places: Places) -> Self {
        let sub_frames = cycle.frames * cycle.levels;
        let loads = sub_frames * cycle.levels * cycle.cpus;
        let is_delayed = cycle.access > 0;
        let mut state = Self {
            cycle,
            places,
            work: vec![0; loads],
            accesses: vec![0; if is_delayed { loads } else { 0 }],
            barriers: vec![0; sub_frames * cycle.levels],
            lengths: Tournament::new(cycle.frames),
            sum: 0,
            changed: Vec::new(),
            is_changed: vec![false; sub_frames],
            steps: 0,
        };
        for job in 0..cycle.jobs.len() {
            state.put(job, true);
        }
        state.settle();
        state
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// How long the longest frame is, in ns.
    pub(crate) fn longest(&self) -> u128 {
        self.lengths.largest()
    }

    /// What is to become small: while a frame is too long, by how much the longest one is, above all that comes
    /// afterwards; then the sum of all barriers.
    pub(crate) fn cost(&self) -> u128 {
        const TOO_LONG: u128 = 1 << 120;
        let longest = self.longest();
        match self.cycle.fits(longest) {
            true => self.sum,
            false => TOO_LONG + longest.saturating_sub(u128::from(self.cycle.limit())),
        }
    }

    /// Whether every frame is long enough: equation 2.
    pub(crate) fn is_feasible(&self) -> bool {
        self.cycle.fits(self.longest())
    }

    /// Makes a change and gives the one that undoes it.
    pub(crate) fn make(&mut self, change: Move) -> Move {
        let back = match change {
            Move::Cpu { task, to } => Move::Cpu {
                task,
                to: self.change_cpu(task, to),
            },
            Move::Frame { job, to } => Move::Frame {
                job,
                to: self.change_frame(job, to),
            },
            Move::SwapCpus { one, other } => {
                let before = self.places.cpus[one];
                let to = self.change_cpu(other, before);
                self.change_cpu(one, to);
                change
            }
            Move::SwapFrames { one, other } => {
                let before = self.places.frames[one];
                let to = self.change_frame(other, before);
                self.change_frame(one, to);
                change
            }
        };
        self.settle();
        back
    }

    fn change_cpu(&mut self, task: usize, to: usize) -> usize {
        let jobs = self.cycle.pieces[task].jobs.clone();
        for job in jobs.clone() {
            self.put(job, false);
        }
        let before = std::mem::replace(&mut self.places.cpus[task], to);
        for job in jobs {
            self.put(job, true);
        }
        before
    }

    fn change_frame(&mut self, job: usize, to: usize) -> usize {
        self.put(job, false);
        let before = std::mem::replace(&mut self.places.frames[job], to);
        self.put(job, true);
        before
    }

    /// Adds a job at its place, or takes it away from there.
    fn put(&mut self, job: usize, adds: bool) {
        let cycle = self.cycle;
        let task = cycle.jobs[job].task;
        let piece = &cycle.pieces[task];
        let sub_frame = self.places.frames[job] * cycle.levels + piece.criticality;
        let cpu = self.places.cpus[task];
        let change = |load: &mut u128, by: u64| match adds {
            true => *load += u128::from(by),
            false => *load -= u128::from(by),
        };
        for level in 0..=piece.criticality {
            let position = (sub_frame * cycle.levels + level) * cycle.cpus + cpu;
            change(&mut self.work[position], piece.wcet[level]);
            if let Some(load) = self.accesses.get_mut(position) {
                change(load, piece.accesses[level]);
            }
        }
        if !std::mem::replace(&mut self.is_changed[sub_frame], true) {
            self.changed.push(sub_frame);
        }
    }

    /// Barriers and lengths where loads have changed.
    fn settle(&mut self) {
        let (levels, cpus) = (self.cycle.levels, self.cycle.cpus);
        for index in 0..self.changed.len() {
            let sub_frame = self.changed[index];
            self.is_changed[sub_frame] = false;
            for level in 0..=sub_frame % levels {
                let position = sub_frame * levels + level;
                let loads = position * cpus..(position + 1) * cpus;
                let accesses = self.accesses.get(loads.clone()).unwrap_or(&[]);
                let barrier = slowest(&self.work[loads], accesses, self.cycle.access);
                let before = std::mem::replace(&mut self.barriers[position], barrier);
                self.sum = self.sum + barrier - before;
            }
            self.steps += (levels * cpus) as u64;
        }
        for index in 0..self.changed.len() {
            let frame = self.changed[index] / levels;
            self.lengths.set(frame, self.length(frame));
        }
        self.changed.clear();
    }

    fn length(&self, frame: usize) -> u128 {
        let levels = self.cycle.levels;
        let at = |level: usize| {
            let sub_frames = level..levels;
            let barriers = sub_frames
                .map(|criticality| self.barriers[(frame * levels + criticality) * levels + level]);
            barriers.sum::<u128>()
        };
        (0..levels).map(at).max().unwrap_or(0)
    }
}

/// The largest of numbers that change one at a time: a binary tree whose inner nodes are the larger of two.
struct Tournament {
    /// Node n has the children 2n and 2n + 1; the numbers are the last half.
    nodes: Vec<u128>,
}

impl Tournament {
    fn new(count: usize) -> Self {
        let leaves = count.max(1).next_power_of_two();
        Self {
            nodes: vec![0; 2 * leaves],
        }
    }

    fn largest(&self) -> u128 {
        self.nodes[1]
    }

    fn set(&mut self, position: usize, value: u128) {
        let mut node = self.nodes.len() / 2 + position;
        self.nodes[node] = value;
        while node > 1 {
            node /= 2;
            let larger = self.nodes[2 * node].max(self.nodes[2 * node + 1]);
            if std::mem::replace(&mut self.nodes[node], larger) == larger {
                return;
            }
        }
    }
}
