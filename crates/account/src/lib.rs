//! What became of a run on one CPU, judged from what its threads noted: pure.
//!
//! Threads of a run exchange words; what is only counted or judged is evidence. Each thread writes
//! [`Note`]s about itself (clock readings, and what it did), and the [`Judge`] takes the notes of one CPU
//! in their order, on no CPU that is measured. It knows no thread, no atomic word and no system call,
//! so that every interleaving can be replayed note by note, on any machine.
//!
//! An *instant* or *clock reading* is one of the monotonic clock of the machine that ran, in nanoseconds; so is every
//! amount of time that is a plain number.
//!
//! | file | keeps |
//! |---|---|
//! | `note`, `form` | what a thread can note, and its form as words |
//! | `occupancy` | which thread had the CPU, and since when none had although one should |
//! | `interval` | what the run's own threads took outside the bodies of jobs |
//! | `reaction` | how long each duty took |
//! | `stolen` | the intervals that others took |
//! | `exceeded` | by how much budgets that outlive jobs were exceeded |
//! | `busy` | busy periods |
//! | `guarantee` | at which levels the present one was exceeded since when |
//! | `layers` | the same for levels of MC², which no instant restores |
//! | `used_up` | which jobs used up their own limits when |
//! | `outcome` | what is to be said of a missed deadline |
//! | `job` | counts and histograms of each task |
//! | `judge` | all of these, one note after the other |
//! | `ran` | of CPUs that have a frame table in common: when their threads executed |
//! | `frames`, `told` | what CPUs that have a frame table in common judge together |

#![forbid(unsafe_code)]

mod busy;
mod exceeded;
mod form;
mod frames;
mod guarantee;
mod interval;
mod job;
mod judge;
mod layers;
mod note;
mod occupancy;
mod outcome;
mod presence;
mod ran;
mod reaction;
mod stolen;
mod told;
mod used_up;

pub use busy::BusyLog;
pub use exceeded::{Exceeded, ExceededLog};
pub use form::NOTE_WORDS;
pub use frames::{FrameFacts, FrameJudge, FrameTask, FrameVerdicts};
pub use interval::Parts;
pub use job::{JobCounts, Suspensions, TaskRecord, ThreadCost};
pub use judge::{Account, Closing, Judge, Rules, TaskFacts};
pub use layers::Layer;
pub use note::{Cut, Ending, FrameNote, Interval, Note, Return, TaskNote, Thread, Waited, Wanted};
pub use occupancy::{LATE_WAKE_NANOS, SWITCH_NANOS_MAX};
pub use reaction::{Duty, Reaction, Reactions};
pub use stolen::{STOLEN_NANOS_MIN, StolenLog, Thief};
