//! Flexible time-triggered scheduling (FTTS): a cycle of frames on several CPUs that meet at
//! barriers.
//!
//! Each frame consists of one sub-frame per criticality, the highest first. In a sub-frame every
//! CPU runs its list of released jobs one after the other, without preemption; then all wait for
//! each other. The sub-frame of criticality l begins only if none above it was dropped in this frame
//! and the frame is at most as old as the sub-frames above it last at confidence l (the sum of
//! barrier(f,c,l) over c > l); otherwise it and all below it are dropped, until the next frame
//! (Giannopoulou, Stoimenov, Huang and Thiele, EMSOFT 2013; Sigrist, Giannopoulou, Huang, Gomez and
//! Thiele, RTAS 2015). With two levels: LO jobs of a frame are dropped when its HI jobs took longer
//! than barrier(f,1,LO).
//!
//! ```text
//!               frame begins (1)
//!  between frames ------------> next sub-frame l --------+ late (3): mode l+1, the rest is dropped
//!        ^                        |          ^           |
//!        |           in time (2)  v          | l > 0     |
//!        |                     running l ----+           |
//!        |                        | all CPUs (4)         |
//!        +------------------------+----------------------+
//!                 l = 0
//! ```
//! (1) `begin_frame`, (2) `open`, (3) `drop_from`, (4) `close`.
//!
//! A CPU has reached the barrier when the world says so ([`Fact::BarrierReached`]) or when every job
//! of its sequence is complete; a world that follows [`Plan::slots`] needs to know of no barrier.
//! A report of a barrier that is no longer, or not yet, the present one changes nothing.
//!
//! A sub-frame that has not ended when its frame has is a *frame overrun*: what the frame had still
//! to run is dropped, the next frame begins when the sub-frame ends, and frames that passed
//! meanwhile are skipped; their jobs wait for a later place of their task, or for a successor that
//! takes theirs.
//!
//! Assumptions: A1 frames begin at multiples of their length from the epoch; A2 a job is released
//! no later than the frame of its place begins; A3 the lengths in the table cover execution and
//! interference, the overhead dispatching and waiting.
//! Invariants: I1 only jobs of one sub-frame are in sequences; I2 the mode is above l exactly if
//! sub-frame l of this frame was dropped. [`Frames::check_invariants`] checks them in the tests.
//! Complexity: `apply` O(1); `decide` O(the entries of one frame).

mod facts;
mod settle;
mod table;

pub use table::{FrameConfiguration, FrameTable, Span};

use crate::configuration_error::ConfigurationError;
use crate::engine::clock::Clock;
use crate::fact::Fact;
use crate::ids::{BarrierId, JobId, TaskId};
use crate::job_table::{Ring, Staged};
use crate::model::{Level, Task};
use crate::notice::Notice;
use crate::plan::{Permit, Plan, SequenceSpan, Sequences, Slot, Wake};
use crate::queue::TaskBits;
use crate::scheduler::{ContractViolation, Scheduler};
use crate::store::{Boxed, Entry, Store};
use crate::time::{Duration, Instant};
use table::Shape;

/// The jobs of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TaskJobs {
    /// The job that waits for its sub-frame: the ready bit, and which job set it.
    waiting: Option<u64>,
    /// The job in the present sequences, until it is complete.
    placed: Option<Placed>,
    /// Releases since the last decision, oldest first.
    arrived: Ring<Staged>,
    /// The smallest sequence the next release may have.
    next_sequence: u64,
}

/// A job in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Placed {
    sequence: u64,
    cpu: usize,
    completed: bool,
}

/// What the scheduler knows of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cpu {
    /// The index of the first job of its sequence.
    start: usize,
    /// How many jobs its sequence has.
    len: usize,
    /// How many of them are complete.
    completed: usize,
    /// How many from the beginning on are known to be complete.
    walked: usize,
    /// It waits at the barrier.
    reached: bool,
    /// What the world confirmed to be running (C5).
    running: Option<JobId>,
}

/// Where in the frame the scheduler is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// The last frame is over, the next one has not begun.
    BetweenFrames,
    /// The sub-frame of this criticality is next.
    Next(Level),
    /// The sub-frame of this criticality runs.
    Running(Level),
}

/// The engine for frame tables: one domain over all CPUs of the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frames<S: Store = Boxed> {
    tasks: S::Table<Task>,
    shape: Shape,
    frame_length: Duration,
    overhead: Duration,
    spans: S::Table<Span>,
    entries: S::Table<TaskId>,
    barriers: S::Table<Duration>,

    jobs: S::Table<TaskJobs>,
    cpus: S::Table<Cpu>,
    /// The jobs of the present sub-frame, CPU after CPU.
    sequence: S::Table<JobId>,
    /// Tasks with releases since the last decision.
    dirty: TaskBits<S>,
    phase: Phase,
    /// The frame that runs or ran last; frames are counted from the epoch.
    frame: u64,
    /// When that frame ends; the epoch before the first one.
    frame_end: Instant,
    /// Its overrun was noticed already.
    overrun: bool,
    mode: Level,
    clock: Clock<S>,

    slots: S::Table<Option<Slot>>,
    sequences: S::Table<Option<SequenceSpan>>,
    wake: Option<Wake>,
}

/// Stands in the sequence behind the last job.
const NO_JOB: JobId = JobId {
    task: TaskId(u16::MAX),
    sequence: 0,
};

impl Frames<Boxed> {
    /// An engine whose tables are on the heap.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn new(configuration: &FrameConfiguration<'_>) -> Result<Self, ConfigurationError> {
        Self::with_store(configuration)
    }
}

impl<S: Store> Frames<S> {
    /// An engine whose tables are where `S` says.
    ///
    /// # Errors
    /// [`ConfigurationError`]; tables that do not fit the storage count as too many tasks.
    pub fn with_store(configuration: &FrameConfiguration<'_>) -> Result<Self, ConfigurationError> {
        let shape = configuration.check()?;
        let count = configuration.tasks.len();
        let too_many = ConfigurationError::TooManyTasks { found: count };
        let table = &configuration.table;
        let jobs = TaskJobs {
            waiting: None,
            placed: None,
            arrived: Ring::EMPTY,
            next_sequence: 0,
        };
        let cpu = Cpu {
            start: 0,
            len: 0,
            completed: 0,
            walked: 0,
            reached: false,
            running: None,
        };
        Ok(Self {
            tasks: copied::<S, _>(configuration.tasks).ok_or(too_many)?,
            shape,
            frame_length: table.frame,
            overhead: configuration.overhead,
            spans: copied::<S, _>(table.spans).ok_or(too_many)?,
            entries: copied::<S, _>(table.entries).ok_or(too_many)?,
            barriers: copied::<S, _>(table.barriers).ok_or(too_many)?,
            jobs: S::table(count, jobs).ok_or(too_many)?,
            cpus: S::table(shape.cpus, cpu).ok_or(too_many)?,
            // A task has one place per period, so one at most in a sub-frame.
            sequence: S::table(count, NO_JOB).ok_or(too_many)?,
            dirty: TaskBits::new(count).ok_or(too_many)?,
            phase: Phase::BetweenFrames,
            frame: 0,
            frame_end: Instant::EPOCH,
            overrun: false,
            mode: Level::LOWEST,
            clock: Clock::new(configuration.wake_granularity, count),
            slots: S::table(shape.cpus, None).ok_or(too_many)?,
            sequences: S::table(shape.cpus, None).ok_or(too_many)?,
            wake: None,
        })
    }

    /// The criticality indicator as of the last decision: the lowest level whose sub-frame of this
    /// frame was not dropped.
    #[must_use]
    pub const fn mode(&self) -> Level {
        self.mode
    }

    /// The number of the frame that runs or ran last, counted from the epoch.
    #[must_use]
    pub const fn frame(&self) -> u64 {
        self.frame
    }

    /// The barrier at the end of a sub-frame of the table's cycle; `None` if there is no such
    /// sub-frame.
    #[must_use]
    pub fn barrier(&self, frame: usize, criticality: Level) -> Option<BarrierId> {
        if frame >= self.shape.frames || criticality > self.shape.levels.highest() {
            return None;
        }
        let position = self.shape.sub_frame(frame, criticality);
        u32::try_from(position).ok().map(BarrierId)
    }

    /// Whether the invariants of this module hold; for tests.
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        let running = match self.phase {
            Phase::Running(level) => Some(level),
            Phase::BetweenFrames | Phase::Next(_) => None,
        };
        let placed_in_present = self
            .jobs
            .iter()
            .zip(self.tasks.iter())
            .all(|(jobs, task)| jobs.placed.is_none() || running == Some(task.criticality));
        placed_in_present && running.is_none_or(|level| self.overrun || self.mode <= level)
    }
}

fn copied<S: Store, T: Entry + Copy>(from: &[T]) -> Option<S::Table<T>> {
    // No list of a table that passed its check is empty.
    S::copied(from, *from.first()?)
}

impl<S: Store> Scheduler for Frames<S> {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        if at > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(at));
        }
        match fact {
            Fact::Released { job } => self.release(at, job),
            Fact::Charged {
                cpu,
                job,
                amount: _,
            } => self.charge(cpu, job),
            Fact::Completed { cpu, job } => self.complete(cpu, job),
            Fact::Started { cpu, job } => self.start(cpu, job),
            Fact::Stopped { cpu, job, why } => self.stop(cpu, job, why),
            Fact::BarrierReached { cpu, barrier } => self.reach(cpu, barrier),
            Fact::Idle { cpu } => self.cpu(cpu).map(|_| ()),
            Fact::Timer => Ok(()),
            Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => Err(ContractViolation::NotOfThisPolicy),
        }
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.clock.advance(now, self.wake)?;
        self.settle_completions();
        // Releases of the instant at which a frame ends belong to the next one: what this one drops
        // must be dropped before they are admitted.
        if now >= self.frame_end {
            self.advance_frame();
            self.settle_overrun();
        }
        self.admit_all();
        if self.phase == Phase::BetweenFrames && now >= self.frame_end {
            self.begin_frame();
        }
        self.advance_frame();
        self.select();
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences {
                jobs: &self.sequence,
                spans: &self.sequences,
            },
            next: self.wake,
            mode: self.mode,
        })
    }

    /// A job runs to its end once its sub-frame has begun; before that, and between frames, it is
    /// the table that it waits for, which is a matter of order.
    fn permit(&self, task: TaskId) -> Permit {
        match self.tasks.get(task.index()) {
            Some(model) if model.criticality >= self.mode => Permit::Run { limit: None },
            Some(_) | None => Permit::NotAdmitted,
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.clock.take_notice()
    }

    fn lost_notices(&self) -> u64 {
        self.clock.lost_notices()
    }
}
