//! Relative timed event queues (RELTEQ): each event stores its time relative to the one before it.
//!
//! The head is relative to the queue's own *now*. With ticks of n bits an event stores at most
//! M = 2^n - 1; *dummies* carry what is longer, and a run of them is one node with a count:
//!
//! ```text
//!   now                                                        M = 15
//!    |--3--> A --0--> B --15--> . --15--> . --12--> C
//!
//!   absolute     3        3                            45
//!   nodes      [A 3]    [B 0]    [dummies 15 + 1 * 15]  [C 12]
//! ```
//!
//! As long as time passes only the head changes, whatever the length of the queue; nothing drifts,
//! because a time is never computed from a clock; and no absolute time overflows, because none is
//! stored. Many queues share the nodes of one [`Pool`].
//!
//! | call | does | cost |
//! |---|---|---|
//! | [`Pool::insert`] | an event so long after the queue's now, behind those of one instant | O(events before it) |
//! | [`Pool::insert_again`] | the same for one that was taken in a pass | O(events between the last one inserted so and it) if it is later, else as above |
//! | [`Pool::push_front`] | an event at the queue's now, before all others | O(1) |
//! | [`Pool::pop`] | takes the first event; its expiry is the queue's now from then on | O(1) |
//! | [`Pool::delete`], [`Pool::remove`] | takes an event out; all others keep their times | O(events before it) |
//! | [`Pool::exchange`] | takes one out and inserts another at the queue's now, in its node | O(events before it) |
//! | [`Pool::renew`] | takes one out, if it is there, and inserts it again | O(1) if there is no other, else O(events before both) |
//! | [`Pool::elapse`], [`Pool::elapse_before`] | time passes, at most up to the head, or not as far: the head comes nearer | O(1) |
//! | [`Pool::grow`] | the head goes farther away: a queue as a stopwatch | O(1) |
//! | [`Pool::synchronise`] | time passes, event by event: the next one due, at its own expiry | O(1) an event |
//! | [`Pool::first`], [`Pool::remaining`] | when the first, or a certain one, expires | O(1), O(events before it) |
//!
//! **Pop, then handle.** [`Pool::synchronise`] takes an event out before its caller handles it, and the
//! queue's now is then that event's expiry. So a handler may insert into the same queue, and a
//! periodic event that inserts itself one period on comes without drift, however late it is handled:
//!
//! ```
//! # use vestal_hsf::relteq::InsertError;
//! use vestal_hsf::{Pass, Pool, Queue};
//!
//! // Eight nodes for any number of queues; times in 8 bits; events are whatever their owner likes.
//! let (mut pool, mut queue) = (Pool::<u8, char, 8>::new(), Queue::new());
//! pool.insert(&mut queue, 700, 'A')?;
//! let (mut pass, mut expired) = (Pass::over(2_500), Vec::new());
//! while let Some(event) = pool.synchronise(&mut queue, &mut pass) {
//!     expired.push(2_500 - pass.left());
//!     pool.insert_again(&mut queue, &mut pass, 1_000, event)?;
//! }
//! assert_eq!(expired, [700, 1_700]);
//! assert_eq!(pool.first(&queue), Some((200, 'A')));
//! # Ok::<(), InsertError>(())
//! ```
//! The paper's Figures 7 and 12 handle the head before they pop it. A handler that gives its event a
//! new time and inserts it again then makes it its own successor, and what followed it is lost.
//!
//! An event is a small value, and it is also its own name: [`Pool::delete`] and [`Pool::remaining`]
//! look for an equal one. No handle can dangle.
//!
//! Invariants, checked by [`Pool::is_consistent`]: I1 every stored time is at most M; I2 no two runs
//! of dummies stand side by side; I3 a run that stands for some time has a head dummy of at least 1; I4 a
//! queue ends with an event, unless it was grown while it was empty or has a run pushed in front.
//! By I2 and I4 a queue of n events takes at most 2n nodes, and 2n + 1 if it is grown.
//!
//! Deviations from the paper: events of one instant are first in, first out (there a new one goes
//! before equal ones); a deleted event is handed over to whichever neighbour can carry its time, and
//! stays as a dummy only if neither can.

mod delete;
mod insert;
mod node;
mod pass;
mod pool;
mod tick;

pub use node::{Entry, Item};
pub use pass::Pass;
pub use pool::{InsertError, Pool, Queue};
pub use tick::{Bounded, Tick};
