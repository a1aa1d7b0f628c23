//! The yardstick: what a simulation of one question takes that is written by hand, for nothing else.
//!
//! Fixed priorities on one CPU, synchronous periodic releases, every job executes C(LO), D = T. Who releases
//! next is found by a tournament over the tasks, who runs by a bitmap of ranks; counted are jobs, misses and each
//! task's worst response time. No scheduler, no contract, no limits, no modes, no observers, no histograms: a
//! general simulator cannot be as fast, and how much slower it is, is what its generality costs.

use std::error::Error;

/// What the loop counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) released: u64,
    pub(crate) completed: u64,
    pub(crate) missed: u64,
    /// The worst response times of all tasks together, in ns.
    pub(crate) worst: u64,
}

/// A task at its rank: 0 is the most urgent one.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    period: u64,
    execution: u64,
    /// Of the oldest pending job.
    released: u64,
    left: u64,
    pending: u64,
    worst: u64,
}

/// The next releases: node k of a complete binary tree has the children 2k and 2k + 1, and holds the earlier one of
/// theirs.
struct Tournament {
    leaves: usize,
    nodes: Vec<(u64, usize)>,
}

impl Tournament {
    /// The first release of all is at the epoch.
    fn new(tasks: usize) -> Self {
        let leaves = tasks.next_power_of_two();
        let mut nodes = vec![(u64::MAX, 0); 2 * leaves];
        for rank in 0..tasks {
            nodes[leaves + rank] = (0, rank);
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
        }
        Self { leaves, nodes }
    }

    #[inline]
    fn first(&self) -> (u64, usize) {
        self.nodes[1]
    }

    #[inline]
    fn set(&mut self, rank: usize, at: u64) {
        let mut node = self.leaves + rank;
        self.nodes[node].0 = at;
        while node > 1 {
            let (one, other) = (self.nodes[node], self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = if other.0 < one.0 { other } else { one };
        }
    }
}

/// Ranks with pending jobs, in words of 64, and which words have any.
struct Ready {
    words: [u64; 64],
    summary: u64,
}

impl Ready {
    #[inline]
    fn insert(&mut self, rank: usize) {
        self.words[rank / 64] |= 1 << (rank % 64);
        self.summary |= 1 << (rank / 64);
    }

    #[inline]
    fn remove(&mut self, rank: usize) {
        let word = &mut self.words[rank / 64];
        *word &= !(1 << (rank % 64));
        if *word == 0 {
            self.summary &= !(1 << (rank / 64));
        }
    }

    #[inline]
    fn first(&self) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let word = self.summary.trailing_zeros() as usize;
        Some(64 * word + self.words[word].trailing_zeros() as usize)
    }
}

/// Simulates tasks, given in the order of their priorities as T and C(LO), from the epoch to `end`, all in ns.
///
/// # Errors
/// There are more tasks than the bitmap has bits.
#[inline(never)]
pub(crate) fn simulate(tasks: &[(u64, u64)], end: u64) -> Result<Counts, Box<dyn Error>> {
    if tasks.is_empty() || tasks.len() > 64 * 64 {
        return Err("the loop by hand takes 1 to 4096 tasks".into());
    }
    let row = |&(period, execution): &(u64, u64)| Row {
        period,
        execution,
        ..Row::default()
    };
    let mut rows: Vec<Row> = tasks.iter().map(row).collect();
    let mut releases = Tournament::new(rows.len());
    let mut ready = Ready {
        words: [0; 64],
        summary: 0,
    };
    let mut counts = Counts::default();
    let mut now = 0;
    loop {
        let next = releases.first().0.min(end);
        // What runs until then. What completes at the end has completed.
        while let Some(rank) = ready.first() {
            let row = &mut rows[rank];
            if row.left > next - now {
                row.left -= next - now;
                break;
            }
            now += row.left;
            let response = now - row.released;
            row.worst = row.worst.max(response);
            counts.completed += 1;
            counts.missed += u64::from(response > row.period);
            row.pending -= 1;
            row.released += row.period;
            row.left = row.execution;
            if row.pending == 0 {
                ready.remove(rank);
            }
        }
        now = next;
        if now >= end {
            break;
        }
        loop {
            let (at, rank) = releases.first();
            if at > now {
                break;
            }
            let row = &mut rows[rank];
            counts.released += 1;
            if row.pending == 0 {
                row.released = now;
                row.left = row.execution;
                ready.insert(rank);
            }
            row.pending += 1;
            releases.set(rank, now + row.period);
        }
    }
    // Who is late and pending.
    for row in &rows {
        counts.worst += row.worst;
        let due = (0..row.pending).map(|job| row.released + (job + 1) * row.period);
        counts.missed += due.filter(|due| *due <= end).count() as u64;
    }
    Ok(counts)
}
