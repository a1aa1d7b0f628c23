//! Parameters that are more than a value for each task: dispatch tables, frames, barriers, servers.

use super::Ratio;
use vestal_core::{CpuId, Duration, Level, LevelSet, TableSlot, TaskId};

/// The dispatch table of one CPU (MC², level A): slots that repeat with the cycle. Cycles begin at multiples of
/// their length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DispatchTable {
    /// How long the cycle is; not used without slots.
    pub cycle: Duration,
    /// The slots, in their order; between them the CPU belongs to others.
    pub slots: Vec<TableSlot>,
}

/// What is wrong with a slot of a [`DispatchTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotFault {
    /// It has no length.
    Empty,
    /// It begins before the one before it ends.
    Overlaps,
    /// It ends after the cycle.
    BeyondCycle,
}

impl DispatchTable {
    /// The first slot that is not in order, and what is wrong with it. O(n).
    #[must_use]
    pub fn fault(&self) -> Option<(usize, SlotFault)> {
        let mut free = Duration::ZERO;
        for (position, slot) in self.slots.iter().enumerate() {
            let end = slot.start.saturating_add(slot.length);
            let fault = match () {
                () if slot.length.is_zero() => SlotFault::Empty,
                () if slot.start < free => SlotFault::Overlaps,
                () if end > self.cycle => SlotFault::BeyondCycle,
                () => {
                    free = end;
                    continue;
                }
            };
            return Some((position, fault));
        }
        None
    }
}

/// What runs in each frame of a cycle (FTTS): for each criticality, which has a sub-frame, and each CPU a list
/// of tasks in the order in which they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameMap {
    length: Duration,
    levels: LevelSet,
    cpus: u16,
    /// At index `(frame * levels + criticality) * cpus + cpu`.
    lists: Vec<Vec<TaskId>>,
}

impl FrameMap {
    /// Frames of this length: `lists` has the tasks of frame f, criticality k and CPU c at index
    /// `(f * levels + k) * cpus + c`. `None` without a frame or a CPU, for a length of zero, and where a frame
    /// is not complete.
    #[must_use]
    pub fn new(
        length: Duration,
        levels: LevelSet,
        cpus: u16,
        lists: Vec<Vec<TaskId>>,
    ) -> Option<Self> {
        let each = levels.count().checked_mul(usize::from(cpus))?;
        let complete = each > 0 && !lists.is_empty() && lists.len().is_multiple_of(each);
        (complete && !length.is_zero()).then_some(Self {
            length,
            levels,
            cpus,
            lists,
        })
    }

    /// How long every frame is: L_f.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.length
    }

    /// How many criticality levels there are.
    #[must_use]
    pub fn levels(&self) -> LevelSet {
        self.levels
    }

    /// How many CPUs there are.
    #[must_use]
    pub fn cpus(&self) -> u16 {
        self.cpus
    }

    /// How many frames the cycle has, at least one.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.lists.len() / (self.levels.count() * usize::from(self.cpus))
    }

    /// What runs in this frame, sub-frame and CPU, in this order; nothing where there is none of them.
    #[must_use]
    pub fn tasks(&self, frame: usize, criticality: Level, cpu: CpuId) -> &[TaskId] {
        if criticality > self.levels.highest() || cpu.0 >= self.cpus {
            return &[];
        }
        let sub_frame = frame
            .saturating_mul(self.levels.count())
            .saturating_add(criticality.index());
        let position = sub_frame
            .saturating_mul(usize::from(self.cpus))
            .saturating_add(cpu.index());
        self.lists.get(position).map_or(&[], Vec::as_slice)
    }

    /// Every list with its frame, criticality and CPU, in the order of [`FrameMap::new`].
    pub fn lists(&self) -> impl Iterator<Item = (usize, Level, CpuId, &[TaskId])> {
        let each = (0..self.frames()).flat_map(move |frame| {
            let levels = self.levels.iter();
            levels.flat_map(move |level| (0..self.cpus).map(move |cpu| (frame, level, CpuId(cpu))))
        });
        let lists = each.zip(&self.lists);
        lists.map(|((frame, level, cpu), list)| (frame, level, cpu, list.as_slice()))
    }

    /// The first task that stands in a sub-frame of another criticality than its own, on a second CPU, or twice
    /// in one frame; `criticality` is that of a task. O(e) for e entries, and the tasks.
    #[must_use]
    pub fn misplaced(&self, criticality: impl Fn(TaskId) -> Option<Level>) -> Option<TaskId> {
        let mut homes: Vec<Option<CpuId>> = Vec::new();
        let mut last_frame: Vec<Option<usize>> = Vec::new();
        for (frame, level, cpu, list) in self.lists() {
            for &task in list {
                let at = task.index();
                if at >= homes.len() {
                    homes.resize(at + 1, None);
                    last_frame.resize(at + 1, None);
                }
                let home = *homes[at].get_or_insert(cpu);
                let again = last_frame[at].replace(frame) == Some(frame);
                if criticality(task) != Some(level) || home != cpu || again {
                    return Some(task);
                }
            }
        }
        None
    }
}

/// For each frame f, criticality k and confidence l <= k the duration barrier(f,k,l): how long the sub-frame of k
/// takes on its slowest CPU while every job needs at most its C(l), interference included (FTTS).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameBarriers {
    levels: LevelSet,
    /// At index `(frame * levels + criticality) * levels + confidence`; zero where that is above the criticality.
    times: Vec<Duration>,
}

impl FrameBarriers {
    /// `times` has barrier(f,k,l) at index `(f * levels + k) * levels + l`; those with l > k are not used.
    /// `None` without a frame, and where a frame is not complete.
    #[must_use]
    pub fn new(levels: LevelSet, mut times: Vec<Duration>) -> Option<Self> {
        let count = levels.count();
        let complete = !times.is_empty() && times.len().is_multiple_of(count * count);
        for (position, time) in times.iter_mut().enumerate() {
            if position % count > position / count % count {
                *time = Duration::ZERO;
            }
        }
        complete.then_some(Self { levels, times })
    }

    /// How many criticality levels there are.
    #[must_use]
    pub fn levels(&self) -> LevelSet {
        self.levels
    }

    /// How many frames the cycle has, at least one.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.times.len() / (self.levels.count() * self.levels.count())
    }

    /// barrier(f,k,l); zero where there is none.
    #[must_use]
    pub fn barrier(&self, frame: usize, criticality: Level, confidence: Level) -> Duration {
        let count = self.levels.count();
        if criticality.index() >= count || confidence.index() >= count {
            return Duration::ZERO;
        }
        let sub_frame = frame
            .saturating_mul(count)
            .saturating_add(criticality.index());
        let position = sub_frame
            .saturating_mul(count)
            .saturating_add(confidence.index());
        self.times.get(position).copied().unwrap_or(Duration::ZERO)
    }

    /// All of them in the order of [`FrameBarriers::new`].
    #[must_use]
    pub fn times(&self) -> &[Duration] {
        &self.times
    }
}

/// What a server runs with: its budget and its priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerParameters {
    /// Its budget.
    pub budget: ServerBudget,
    /// Larger = more urgent.
    pub priority: u32,
}

/// A server's budget, with a value for each level from the lowest to the server's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerBudget {
    /// So much in each period.
    Capacity {
        /// The replenishment period.
        period: Duration,
        /// The capacity at each level: never falling, above zero and at most the period.
        by_level: Vec<Duration>,
    },
    /// This share of the CPU, in periods of those that it serves (PIBS).
    Utilization {
        /// The share at each level: never falling, above 0 and at most 1.
        by_level: Vec<Ratio>,
    },
}

impl ServerBudget {
    /// Whether there is a value for the lowest level, none falls with the level, and each is in range.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Capacity { period, by_level } => {
                let in_range = |time: &Duration| !time.is_zero() && time <= period;
                !by_level.is_empty() && by_level.is_sorted() && by_level.iter().all(in_range)
            }
            Self::Utilization { by_level } => {
                let in_range =
                    |share: &Ratio| share.numerator > 0 && share.numerator <= share.denominator;
                !by_level.is_empty()
                    && by_level.is_sorted_by(Ratio::is_at_most)
                    && by_level.iter().all(in_range)
            }
        }
    }
}
