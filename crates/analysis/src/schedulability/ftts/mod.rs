//! `ftts`: flexible time-triggered scheduling, a cycle of frames with a sub-frame for each criticality.
//!
//! What is decided: whether all jobs of periodic tasks can be placed in a cycle of frames on m equal CPUs, so that
//! each frame is long enough for what its sub-frames may need ([`vestal_core::engine::frames`] executes such tables).
//! In each frame the sub-frame of the highest criticality comes first; in a sub-frame each CPU runs its jobs one after
//! another, without preemption, and waits for all others at the end. A sub-frame of criticality k begins if none above
//! it was dropped in this frame and the frame is at most sum over c > k of barrier(f,c,k) old; otherwise it and all
//! below it are dropped.
//!
//! Frames are gcd(T) long, the cycle is lcm(T) (Sigrist, Giannopoulou, Huang, Gomez and Thiele, RTAS 2015, section
//! III-B; Giannopoulou, Stoimenov, Huang and Thiele, EMSOFT 2013). A job is placed in one frame that begins at its
//! release or later and ends at its deadline and its period's end or earlier; all jobs of a task run on one CPU. With
//! W the work of a CPU in a sub-frame at level l, and A its memory accesses,
//!
//! ```text
//! barrier(f,k,l) = max over CPUs c of  W_c + access * sum over c' != c of min(A_c, A_c')       l <= k
//! for every frame f and level l:      sum over k >= l of barrier(f,k,l)  +  o  <=  L_f          (equation 2; 9 with o)
//! ```
//!
//! The paper's equation is that of two levels. Why it suffices: as long as every job of criticality >= l needs at most
//! C(l), the sub-frames of criticality >= l take at most barrier(f,.,l) each, and those never fall with the level, so
//! each of them begins in time, and the last one ends within the frame. A sub-frame k < l that begins although jobs
//! need more than C(k) began at sum over c > k of barrier(f,c,k) at the latest and takes barrier(f,k,k) at most, so it
//! ends within its frame, too: no frame disturbs the next. Bus: a CPU has one access under way at most, so each of its
//! accesses waits for at most one of each other CPU, and each of theirs delays at most one of its; only CPUs in the
//! same sub-frame meet.
//!
//! Search: worst fit (`start`), and if that fails simulated annealing from there (`anneal`): a task to another CPU, a
//! job to another frame, two tasks change CPUs, two jobs frames. Cost: by how much the longest frame is too long. It is
//! the same for a seed, and bounded in steps. First what no table can have is looked at: C_i(z_i) > L_f, and at some
//! level more work in a cycle than m CPUs have time. The table that was found is judged once more from its lists
//! (`table`) before it counts.
//!
//! Assumptions: periodic tasks whose first releases are known, no degraded budgets, no job needs more than its
//! C_i(z_i): nothing stops one that does. Release, dispatching and barriers cost o in each frame: 0 but where the problem
//! has overheads, of which each job costs its own part, too. Kind: sufficient.
//! Given frames and barriers are checked instead (`given`).
//!
//! Cost: O(m) for each level of a changed sub-frame, O(log F) for each changed frame in F; with a bus O(m^2).
//!
//! Slow twins: `oracle` looks through all placements of small sets; `tests/schedulability/ftts` has one of the
//! incremental cost, one of the barriers in which a bus is simulated access by access, and runs of accepted tables.

mod anneal;
mod cycle;
mod given;
#[cfg(feature = "oracle")]
pub mod oracle;
mod start;
mod state;
mod table;

use crate::frame_reason::FrameReason;
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::Parameters;
use crate::problem::Problem;
pub use anneal::{Effort, Goal};
use cycle::{Cycle, level_of, refused, saturated};
use table::Places;
use vestal_core::{CpuId, Duration};

/// The test's answer with a table, and for each task and level a bound on its response time.
pub(crate) fn analyse(problem: &Problem) -> Outcome {
    let Some(overheads) = problem.overheads() else {
        return with(problem, Duration::ZERO, &Effort::default());
    };
    let frame = match &problem.given().frames {
        Some(map) => map.length(),
        None => Duration::from_nanos(cycle::frame_of_periods(problem)),
    };
    let size = (problem.tasks().len(), problem.levels().count());
    let spare = overheads.of_frame(frame, size);
    with(problem, spare, &Effort::default())
}

/// The same with so much to spare in each frame (o), whatever the problem's overheads say of it, by a search of this kind. Given frames are not searched for.
#[must_use]
pub fn with(problem: &Problem, overhead: Duration, effort: &Effort) -> Outcome {
    let given = problem.given();
    let found = match (&given.frames, &given.barriers) {
        (Some(map), barriers) => given::check(problem, (map, barriers.as_ref()), overhead).map(
            |(cycle, places, needed)| Found {
                parameters: Parameters {
                    frames: given.frames.clone(),
                    barriers: barriers
                        .clone()
                        .or_else(|| table::as_parameter(&cycle, &needed)),
                    ..Parameters::default()
                },
                cycle,
                places,
                needed,
            },
        ),
        (None, Some(_)) => Err(refused(FrameReason::BarriersAlone)),
        (None, None) => search(problem, overhead, effort),
    };
    match found {
        Ok(found) => found.outcome(),
        Err(why) => {
            let tasks = vec![TaskOutcome::default(); problem.tasks().len()];
            Outcome::decided(Kind::Sufficient, Some(why), tasks)
        }
    }
}

/// A table in which every frame is long enough.
struct Found {
    cycle: Cycle,
    places: Places,
    /// What the barriers are at least.
    needed: Vec<u128>,
    /// Frames and barriers.
    parameters: Parameters,
}

fn search(problem: &Problem, overhead: Duration, effort: &Effort) -> Result<Found, Reason> {
    let cycle = Cycle::of_periods(problem, overhead)?;
    if let Some(why) = cycle.hopeless() {
        return Err(why);
    }
    let places = anneal::search(&cycle, effort);
    let map = places.map(&cycle).ok_or(Reason::SearchLimit { steps: 0 })?;
    let needed = table::barriers(&cycle, &map);
    let long = table::longest(&cycle, &needed);
    if !cycle.fits(long.length) {
        return Err(refused(FrameReason::NotFound {
            frame: long.frame,
            level: level_of(long.level),
            length: Duration::from_nanos(saturated(long.length)),
            limit: Duration::from_nanos(cycle.limit()),
        }));
    }
    Ok(Found {
        parameters: Parameters {
            barriers: table::as_parameter(&cycle, &needed),
            frames: Some(map),
            ..Parameters::default()
        },
        cycle,
        places,
        needed,
    })
}

impl Found {
    fn outcome(self) -> Outcome {
        let tasks = (0..self.cycle.pieces.len()).map(|task| self.task(task));
        let tasks: Vec<TaskOutcome> = tasks.collect();
        let partition = tasks.iter().map(|task| task.cpu).collect();
        Outcome {
            parameters: Parameters {
                partition: Some(partition),
                ..self.parameters
            },
            ..Outcome::decided(Kind::Sufficient, None, tasks)
        }
    }

    /// Its CPU, and for each level up to its own how long after a release the sub-frame of that job may end, at most.
    fn task(&self, task: usize) -> TaskOutcome {
        let cycle = &self.cycle;
        let piece = &cycle.pieces[task];
        let at = |level: usize| {
            let jobs = piece.jobs.clone().map(|job| {
                let frame = self.places.frames[job];
                let sub_frames = (piece.criticality..cycle.levels).map(|criticality| {
                    self.needed[(frame * cycle.levels + criticality) * cycle.levels + level]
                });
                let number = (job - piece.jobs.start) as u64;
                let released = number * piece.period + piece.phase;
                let begins = frame as u64 * cycle.frame;
                u128::from(begins - released) + sub_frames.sum::<u128>()
            });
            // What is to spare may be used up on the way.
            let longest = jobs.max().unwrap_or(0) + u128::from(cycle.overhead);
            Some(Duration::from_nanos(saturated(longest)))
        };
        TaskOutcome {
            priority: None,
            responses: (0..=piece.criticality).map(at).collect(),
            cpu: u16::try_from(self.places.cpus[task]).ok().map(CpuId),
        }
    }
}
