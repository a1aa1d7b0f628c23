//! A cycle of frames and the jobs that need a place in it, before any has one.

use crate::assumptions::degraded;
use crate::frame_reason::FrameReason;
use crate::outcome::Reason;
use crate::parameters::task_id;
use crate::problem::{Bus, Problem};
use core::ops::Range;
use num_integer::Integer;
use vestal_core::model::LEVELS_MAX;
use vestal_core::{Duration, Level, Task};

/// How many entries a table may have: jobs, lists and barriers together.
pub(super) const ENTRIES_MAX: usize = 1 << 20;

/// What needs a place.
#[derive(Clone, Debug)]
pub(crate) struct Cycle {
    /// L_f in ns.
    pub(crate) frame: u64,
    /// How many frames there are.
    pub(crate) frames: usize,
    /// What is to spare in each frame, in ns: o.
    pub(crate) overhead: u64,
    pub(crate) levels: usize,
    pub(crate) cpus: usize,
    /// How long a memory access takes, in ns; 0 if CPUs do not delay one another.
    pub(crate) access: u64,
    pub(crate) pieces: Vec<Piece>,
    /// All jobs of the cycle, task by task.
    pub(crate) jobs: Vec<Job>,
}

/// A task, and what each of its jobs needs.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) criticality: usize,
    /// C_i(l) in ns, with what a job costs beside.
    pub(crate) wcet: [u64; LEVELS_MAX],
    /// How often a job accesses the memory at most, by level.
    pub(crate) accesses: [u64; LEVELS_MAX],
    /// T_i in ns.
    pub(crate) period: u64,
    /// When its first job is released, in ns, less whole periods.
    pub(crate) phase: u64,
    /// The CPU that it is given.
    pub(crate) pinned: Option<usize>,
    /// Which of the cycle's jobs are its own.
    pub(crate) jobs: Range<usize>,
}

/// A job, and between its release and its deadline whole frames: at least one.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) task: usize,
    pub(crate) window: Range<usize>,
}

impl Piece {
    /// C_i(z_i) in ns.
    pub(crate) fn own_wcet(&self) -> u64 {
        self.wcet[self.criticality]
    }
}

impl Cycle {
    /// Frames of gcd(T) in a cycle of lcm(T).
    pub(crate) fn of_periods(problem: &Problem, overhead: Duration) -> Result<Self, Reason> {
        let frame = frame_of_periods(problem);
        let mut frames: u64 = 1;
        for task in problem.tasks() {
            let each = task.period.as_nanos() / frame;
            frames = (frames / frames.gcd(&each)).saturating_mul(each);
            if frames > ENTRIES_MAX as u64 {
                return Err(too_long());
            }
        }
        let frames = usize::try_from(frames).unwrap_or(usize::MAX);
        Self::new(problem, overhead, frame, frames)
    }

    /// So many frames of this length in ns.
    ///
    /// # Errors
    /// What the test does not speak of, and a task whose jobs have no frame.
    pub(crate) fn new(
        problem: &Problem,
        overhead: Duration,
        frame: u64,
        frames: usize,
    ) -> Result<Self, Reason> {
        if let Some(why) = degraded(problem) {
            return Err(why);
        }
        let mut cycle = Self {
            frame,
            frames,
            overhead: overhead.as_nanos(),
            levels: problem.levels().count(),
            cpus: usize::from(problem.cpus()),
            access: problem.bus().map_or(0, |bus| bus.access.as_nanos()),
            pieces: Vec::with_capacity(problem.tasks().len()),
            jobs: Vec::new(),
        };
        let lists = cycle.levels.saturating_mul(cycle.cpus.max(cycle.levels));
        let lists = lists.saturating_mul(cycle.levels);
        // No instant of the cycle is beyond the largest number.
        let is_countable = frame.checked_mul(frames as u64).is_some();
        if frames.saturating_mul(lists) > ENTRIES_MAX || !is_countable {
            return Err(too_long());
        }
        for (index, task) in problem.tasks().iter().enumerate() {
            cycle.add(problem, index, task)?;
        }
        Ok(cycle)
    }

    fn add(&mut self, problem: &Problem, index: usize, task: &Task) -> Result<(), Reason> {
        let id = task_id(index);
        let first = problem.first_release(id);
        let first = first.ok_or(refused(FrameReason::NotPeriodic { task: id }))?;
        let (period, frame) = (task.period.as_nanos(), self.frame);
        let each = period.checked_div(frame).unwrap_or(0);
        let each = usize::try_from(each).unwrap_or(usize::MAX);
        let is_whole = period.is_multiple_of(frame) && self.frames.is_multiple_of(each);
        if !is_whole || each == 0 {
            return Err(refused(FrameReason::Misfit { task: id }));
        }
        // The table has a place in each period from time 0 on, as the scheduler asks: it is for the job that is
        // released in that period, so it is after the release, and it ends before the deadline and the period do.
        let phase = first.as_nanos() % period;
        let due = phase.saturating_add(task.deadline.as_nanos()).min(period);
        let (begin, end) = (phase.div_ceil(frame), due / frame);
        if begin >= end {
            return Err(refused(FrameReason::NoFrameInTime {
                task: id,
                frame: Duration::from_nanos(frame),
            }));
        }
        let (begin, end) = (begin as usize, end as usize);
        let start = self.jobs.len();
        if self.frames / each > ENTRIES_MAX - start {
            return Err(too_long());
        }
        self.jobs
            .extend((0..self.frames).step_by(each).map(|zero| Job {
                task: index,
                window: zero + begin..zero + end,
            }));
        let each = problem.overheads().map_or(0, |them| them.job.as_nanos());
        let mut wcet = [0; LEVELS_MAX];
        for (level, value) in (0..).map(Level).zip(&mut wcet) {
            *value = task.wcet.at(level).as_nanos().saturating_add(each);
        }
        let pinned = problem.given().partition.as_ref();
        let pinned = pinned.and_then(|all| all.get(index).copied().flatten());
        self.pieces.push(Piece {
            criticality: task.criticality.index(),
            wcet,
            accesses: match problem.bus() {
                None => [0; LEVELS_MAX],
                Some(bus) => accesses(bus, index, task.criticality)?,
            },
            period,
            phase,
            pinned: pinned.map(|cpu| cpu.index()),
            jobs: start..self.jobs.len(),
        });
        Ok(())
    }

    /// Whether sub-frames of this length in ns leave what is to spare: length + o <= L_f.
    pub(crate) fn fits(&self, length: u128) -> bool {
        length.saturating_add(u128::from(self.overhead)) <= u128::from(self.frame)
    }

    /// How long a frame may be used: L_f - o, in ns.
    pub(crate) fn limit(&self) -> u64 {
        self.frame.saturating_sub(self.overhead)
    }

    /// What no table can have: a job longer than a frame, or at some level more work than all CPUs have time.
    pub(crate) fn hopeless(&self) -> Option<Reason> {
        let longer = |piece: &Piece| !self.fits(u128::from(piece.own_wcet()));
        if let Some(index) = self.pieces.iter().position(longer) {
            return Some(refused(FrameReason::WcetExceedsFrame {
                task: task_id(index),
                frame: Duration::from_nanos(self.limit()),
            }));
        }
        let supply = u128::from(self.limit()) * self.frames as u128 * self.cpus as u128;
        (0..self.levels).find_map(|level| {
            let counted = self.pieces.iter().filter(|it| it.criticality >= level);
            let demand = counted.map(|it| u128::from(it.wcet[level]) * it.jobs.len() as u128);
            let demand: u128 = demand.sum();
            (demand > supply).then(|| {
                refused(FrameReason::CycleOverload {
                    level: level_of(level),
                    demand: Duration::from_nanos(saturated(demand)),
                    supply: Duration::from_nanos(saturated(supply)),
                })
            })
        })
    }
}

/// gcd(T) in ns.
pub(super) fn frame_of_periods(problem: &Problem) -> u64 {
    let periods = problem.tasks().iter().map(|task| task.period.as_nanos());
    periods.fold(0, |gcd, period| gcd.gcd(&period)).max(1)
}

/// The most accesses of a job at each level up to its own. What is not said is at most what is said of a level above;
/// of a task of which some is said, that of the own level has to be.
fn accesses(bus: &Bus, index: usize, own: Level) -> Result<[u64; LEVELS_MAX], Reason> {
    let said = bus.accesses.get(index).map_or(&[][..], Vec::as_slice);
    let mut all = [0; LEVELS_MAX];
    if said.iter().all(Option::is_none) {
        return Ok(all);
    }
    for (level, value) in all.iter_mut().enumerate().take(own.index() + 1) {
        let above = said.iter().skip(level).find_map(|value| *value);
        let unknown = FrameReason::UnknownAccesses {
            task: task_id(index),
            level: own,
        };
        *value = above.ok_or(refused(unknown))?;
    }
    Ok(all)
}

fn too_long() -> Reason {
    refused(FrameReason::CycleTooLong {
        entries_max: ENTRIES_MAX,
    })
}

pub(super) const fn refused(why: FrameReason) -> Reason {
    Reason::Frames(why)
}

/// The level of this index, which is one of a set.
pub(super) fn level_of(index: usize) -> Level {
    Level(u8::try_from(index).unwrap_or(u8::MAX))
}

/// A time in ns that may be longer than any clock goes.
pub(super) fn saturated(nanos: u128) -> u64 {
    u64::try_from(nanos).unwrap_or(u64::MAX)
}
