//! Words that threads share, one cell a file: atomics with a meaning, and no unsafe code.
//!
//! A cell knows no task, no clock, no priority and no other cell. Where threads have to agree there is one word that
//! all of them change, never a pair of words:
//!
//! 1. One writer: it stores with Release, and who reads loads with Acquire.
//! 2. Two sides that must see each other: both read-modify-write the *same* word with AcqRel, also
//!    where one only looks. Whoever is second in that word's order sees all that the first wrote before.
//! 3. Numbers that stand for something else (0, the largest) stay in here, behind an enum.
//! 4. What a mailbox holds are Relaxed words between Acquire and Release of its state.
//!
//! `docs/linux-words.md` has a table of all words of a run.
//!
//! Each cell is checked by the model checker loom, which tries every interleaving, of three threads those that a model names, and every
//! order that the memory model allows: `RUSTFLAGS="--cfg loom" cargo test -p vestal-linux --lib words::`. Models of
//! several cells together are in `models`. A model named `refuted_...` is one that loom must refute: the
//! same with a weaker order, or with the pair of words that was there before.

mod allowance;
mod beat;
mod bell;
mod claim;
mod countdown;
mod ends;
mod entrance;
mod flag;
mod gate;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "no run has levels on several CPUs yet")
)]
mod guest;
#[cfg(all(test, loom))]
mod guest_models;
mod hold;
mod host;
mod job;
mod latest;
mod line;
mod mailbox;
#[cfg(all(test, loom))]
mod models;
mod openings;
mod phase;
mod plan;
mod question;
mod revoked;
mod rising;
mod semaphore;
mod stop;
mod sync;
mod tally;
mod turn;
mod up;
#[cfg(all(test, loom))]
mod waiting_models;
mod watch;

pub(crate) use allowance::{Allowance, AllowanceWord};
pub(crate) use beat::Beat;
pub(crate) use bell::Bell;
pub(crate) use claim::{Claim, Claimed, Grant, Offer};
pub(crate) use countdown::Countdown;
pub(crate) use ends::Ends;
pub(crate) use entrance::Entrance;
pub(crate) use flag::Flag;
pub(crate) use gate::{Gate, Passed, Ticket};
pub(crate) use hold::{Hold, Left, Place};
pub(crate) use host::Host;
pub(crate) use job::JobWord;
pub(crate) use latest::Latest;
pub(crate) use line::Line;
pub(crate) use mailbox::{Letter, Mailbox};
pub(crate) use openings::{Opening, Openings};
pub(crate) use phase::{Phase, Stage};
pub(crate) use plan::PlanWord;
pub(crate) use question::Question;
pub(crate) use revoked::Revoked;
pub(crate) use rising::Rising;
pub(crate) use semaphore::{Semaphore, Taken};
pub(crate) use stop::{Cause, Stop};
pub(crate) use tally::Tally;
pub(crate) use turn::Turn;
pub(crate) use up::Up;
pub(crate) use watch::{WatchWord, Watched};
