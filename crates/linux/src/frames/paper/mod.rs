//! The threads of Sigrist, Giannopoulou, Huang, Gomez and Thiele (RTAS 2015, section VI-A) for a frame table, for comparison
//! with walkers.
//!
//! | thread | how many | priority | does |
//! |---|---|---|---|
//! | dispatcher | one | highest | sleeps until jobs are released, registers them with the scheduler, and says when a frame begins |
//! | scheduler | one | below that | begins each sub-frame on all CPUs: it gives the workers their orders and wakes the first of each CPU; when the last jobs of all CPUs are complete it decides what follows |
//! | checker | one | below that | notices that a sub-frame takes longer than it should, by one timer or by a heartbeat |
//! | worker | one a task | lowest | waits at a semaphore, runs its job, and wakes the worker of the next job of its CPU |
//!
//! ```text
//! dispatcher --calls--> scheduler --orders, semaphore--> first worker of each CPU --semaphore--> next ... last worker
//!                           ^ ^                                                                              |
//!                           | +------------------------------- barrier ----------------------------------- --+
//!                           +--- (the checker only counts: what follows, the engine decides by the age of the frame)
//! ```
//! The domain decides, as where walkers go: who asks it is another thread, and that is all. The last workers of all CPUs that have
//! jobs in a sub-frame and the scheduler meet at a barrier; there is one for each number of CPUs that may be.
//!
//! With [`Initialisation::Distributed`] the scheduler only says that a sub-frame begins, and each CPU gives its own workers their
//! orders: then a job of a CPU that was quick may run while another CPU is still at that, which the paper avoids by its global
//! scheduler. Such jobs are counted.

mod checker;
mod dispatcher;
mod scheduler;
mod start;
mod worker;

pub(super) use start::start;

use super::common::Common;
use super::domain::Step;
use crate::initialisation::Initialisation;
use crate::launch::SharedCpu;
use crate::sys::clock::monotonic_nanos;
use crate::words::{Countdown, Latest, Letter, Mailbox, Semaphore};
use std::sync::Arc;
use vestal_core::{ContractViolation, Duration, JobId, Level, TaskId};

/// What a worker is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// To give all workers of its CPU their orders for this round.
    Initialise(Round),
    /// To run a job.
    Run(Turn),
}

/// A sub-frame that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Round {
    /// Rounds are counted from 1.
    number: u64,
    /// How many CPUs have jobs in it, less one: which of the barriers they meet at.
    meeting: u32,
}

/// A job in the sequence of its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    round: Round,
    /// Its number among those of its task.
    sequence: u64,
    /// How many jobs of the sequence are before it.
    place: u32,
    /// The task of the job behind it.
    next: Option<TaskId>,
}

/// In the words of an order: there is no job.
const NONE: u64 = u64::MAX;

impl Letter<5> for Order {
    fn to_words(self) -> [u64; 5] {
        let head = |round: Round| [round.number, u64::from(round.meeting)];
        match self {
            Self::Initialise(round) => {
                let [number, meeting] = head(round);
                [number, meeting, NONE, 0, NONE]
            }
            Self::Run(turn) => {
                let [number, meeting] = head(turn.round);
                let next = turn.next.map_or(NONE, |task| u64::from(task.0));
                [number, meeting, turn.sequence, u64::from(turn.place), next]
            }
        }
    }

    fn from_words([number, meeting, sequence, place, next]: [u64; 5]) -> Self {
        let round = Round {
            number,
            meeting: u32::try_from(meeting).unwrap_or(u32::MAX),
        };
        if sequence == NONE {
            return Self::Initialise(round);
        }
        Self::Run(Turn {
            round,
            sequence,
            place: u32::try_from(place).unwrap_or(u32::MAX),
            next: u16::try_from(next).ok().map(TaskId),
        })
    }
}

/// Where a worker waits.
#[derive(Debug, Default)]
struct Desk {
    order: Mailbox<Order, 5>,
    semaphore: Semaphore,
}

/// What the workers of a CPU share with the scheduler.
#[derive(Debug)]
struct Station {
    /// By task.
    desks: Vec<Desk>,
    /// The clock when one of them was woken last.
    posted: Latest<u64>,
    /// The clock when the last job of the CPU in a sub-frame was complete.
    came: Latest<u64>,
}

/// By when a sub-frame should be over.
#[derive(Debug, Default)]
struct Watch {
    /// The checker waits there for the next one.
    semaphore: Semaphore,
    /// The clock by which the present one should be over; 0: it may take as long as it does.
    until: Latest<u64>,
    /// The clock when that was said.
    since: Latest<u64>,
}

/// The least that is said of a table when its threads start.
pub(super) struct Terms {
    /// How long a frame is.
    pub(super) length: Duration,
    /// By frame of the cycle and level, how old the frame may be when the sub-frame of that level begins, in all.
    pub(super) allowances: Vec<Vec<Duration>>,
    pub(super) initialisation: Initialisation,
    /// The period of the checker, if it has one.
    pub(super) heartbeat: Option<Duration>,
    /// The place in the set of the CPU that has scheduler, checker and dispatcher.
    pub(super) host: usize,
    /// The priority of the dispatcher; scheduler and checker have the next ones below.
    pub(super) priority: i32,
}

/// What all threads share.
pub(super) struct Paper {
    common: Arc<Common>,
    cpus: Vec<SharedCpu>,
    terms: Terms,
    /// By CPU.
    stations: Vec<Station>,
    /// The scheduler waits there for frames to begin.
    calls: Semaphore,
    /// The clock when it was called last.
    called: Latest<u64>,
    watch: Watch,
    /// The CPUs whose last job is not complete.
    missing: Countdown,
    /// The CPUs that have not given their workers their orders, if each does so by itself.
    unprepared: Countdown,
    /// The last round in which all CPUs had been initialised.
    ready: Latest<u64>,
}

impl Paper {
    pub(super) fn new(common: &Arc<Common>, cpus: &[SharedCpu], terms: Terms) -> Self {
        let stations = cpus.iter().map(|cpu| Station {
            desks: (0..cpu.tasks.len()).map(|_| Desk::default()).collect(),
            posted: Latest::default(),
            came: Latest::default(),
        });
        Self {
            stations: stations.collect(),
            common: Arc::clone(common),
            cpus: cpus.to_vec(),
            terms,
            calls: Semaphore::default(),
            called: Latest::default(),
            watch: Watch::default(),
            missing: Countdown::default(),
            unprepared: Countdown::default(),
            ready: Latest::default(),
        }
    }

    /// The CPU that has scheduler, checker and dispatcher.
    fn host(&self) -> Option<&SharedCpu> {
        self.cpus.get(self.terms.host)
    }

    /// Nobody waits any more, for ever.
    pub(super) fn close(&self) {
        let desks = self.stations.iter().flat_map(|station| &station.desks);
        desks.for_each(|desk| desk.semaphore.close());
        self.calls.close();
        self.watch.semaphore.close();
        self.common.close();
    }

    fn desk(&self, cpu: usize, task: TaskId) -> Step<(&Station, &Desk)> {
        let station = self.stations.get(cpu);
        let found = station.and_then(|station| Some((station, station.desks.get(task.index())?)));
        found.ok_or(ContractViolation::UnknownTask(task))
    }

    /// Puts an order on the desk of a worker, which has taken the one before.
    fn order(&self, cpu: usize, task: TaskId, order: Order) -> Step {
        self.desk(cpu, task)?.1.order.put(order);
        Ok(())
    }

    /// Gives the workers of a CPU their orders for these jobs of theirs. Nobody is woken.
    fn give(&self, cpu: usize, jobs: &[JobId], round: Round) -> Step {
        let next = jobs.iter().skip(1).map(|job| Some(job.task)).chain([None]);
        for ((job, next), place) in jobs.iter().zip(next).zip(0_u32..=u32::MAX) {
            let sequence = job.sequence;
            let turn = Turn {
                round,
                sequence,
                place,
                next,
            };
            self.order(cpu, job.task, Order::Run(turn))?;
        }
        Ok(())
    }

    /// Wakes the worker of a task.
    fn wake(&self, cpu: usize, task: TaskId) -> Step {
        let (station, desk) = self.desk(cpu, task)?;
        station.posted.set(monotonic_nanos());
        desk.semaphore.post();
        Ok(())
    }

    /// The instant of the run by which the sub-frame of `level` in `frame` has to be over for the one below it; none of the
    /// lowest level, for which only the end of the frame is.
    fn due(&self, frame: u64, level: Level) -> Option<Duration> {
        let below = usize::from(level.0.checked_sub(1)?);
        let rows = self.terms.allowances.len() as u64;
        let row = usize::try_from(frame.checked_rem(rows)?).ok()?;
        let allowance = *self.terms.allowances.get(row)?.get(below)?;
        let start = self.terms.length.saturating_mul(frame);
        Some(start.saturating_add(allowance))
    }
}

/// Whether nothing begins any more on the CPU.
fn is_ending(cpu: &SharedCpu) -> bool {
    cpu.stop_requested() || cpu.run.is_stop_requested()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_the_same_after_it_was_words() {
        let round = Round {
            number: 7,
            meeting: 3,
        };
        let turn = |next| {
            Order::Run(Turn {
                round,
                sequence: 40_000,
                place: 2,
                next,
            })
        };
        let all = [
            Order::Initialise(round),
            turn(None),
            turn(Some(TaskId(0))),
            turn(Some(TaskId(u16::MAX))),
        ];
        for order in all {
            assert_eq!(Order::from_words(order.to_words()), order);
        }
    }
}
