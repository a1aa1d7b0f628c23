//! Two-level scheduling by servers: which queue holds what, and what happens at a tick.
//!
//! A *server* has a fixed priority, a capacity that comes back every period, and tasks; the most
//! urgent server that may run executes the most urgent of its ready tasks. At most one server is
//! *active*. Four kinds of queues share one [`Pool`]:
//!
//! ```text
//!   system queue   always counts down
//!                  --5--> replenishment of A --0--> wake-up of B --20--> replenishment of B
//!   stopwatch      counts up
//!                  B --5-- C --4-- A           B was switched out 5 ticks ago, C 9, the head is B
//!   sq of A        counts down while A is active; what was missed is made up for by the stopwatch
//!                  --3--> arrival of task 1 --7--> task 2 resumes
//!   vq of A        counts down while A is active, and rests otherwise: A's own time
//!                  --8--> depletion of A
//! ```
//! So a tick touches nothing that belongs to an inactive server; what happened to one in the meantime
//! is handled when it is switched in, within its own budget. A deferrable server without work leaves a
//! *wake-up* in the system queue for the first event of its sq.
//!
//! Ticks are counted in one number until the earliest head of an active queue is due. Then, and
//! before anything changes a queue, they are *settled*: taken off all active heads and off the active
//! server's budget, and added to the stopwatch. At a tick the order is: settle; system queue;
//! active sq; active vq; and then, once, [`Hsf::schedule`]. So a server that is depleted and replenished
//! at the same tick goes on with its whole capacity.
//!
//! **Servers.** Each change is seen by [`Features::on_transition`].
//!
//! ```text
//!   create (1)
//!       |      switch in (2)        no ready task (4), deferrable
//!       v   ------------------>        ------------------>
//!     ready                    running                    waiting
//!      ^ |  <------------------   |                          |
//!      | |     switch out (3)     | depletion (6), or        |
//!      | |                        | no ready task (4),       |
//!      | |     no work (8),       v polling                  |
//!      | +----- polling ----> depleted                       |
//!      +---- replenishment (7) ---+                          |
//!      +---- wake-up, or a task becomes ready (5) -----------+
//! ```
//! (1) [`Hsf::create_server`]; (2), (3) `switch`; (4) `leave`, where an
//! idling server goes on; (5) `wake_up`, `make_ready`; (6) `deplete`; (7) `replenish`; (8) `poll`: a polling
//! server that has no work when its budget comes is depleted at once, whether it is active or not.
//! These are the paper's Figures 3 and 4 and its section 3.2.4.
//!
//! **Tasks.** Jobs of one task never overlap: an arrival in any other state but *waits* is counted.
//!
//! ```text
//!            arrival (1)             delay, delay_virtual (3)
//!     waits ------------->   ready   ----------------------->   delayed
//!           <-------------           <-----------------------
//!          wait_period (2)             expiry (4), ready (5)
//!                            ready   ------- block (3) ------>  blocked
//!                                    <------ ready (5) -------
//! ```
//! (1) `arrive`, from a period event or [`Hsf::release`]; (2) [`Hsf::wait_period`], after which the task
//! is ready still if an arrival was pending; (3) [`Hsf::delay`], [`Hsf::delay_virtual`], [`Hsf::block`];
//! (4) `handle`; (5) [`Hsf::ready`].
//!
//! Invariants, checked by [`Hsf::check_invariants`]: I1 a budget is at most its capacity; I2 it is what is left
//! until the depletion event in its vq, and 0 without one; I3 exactly the active server is running; I4 each
//! server whose sq is not counting down has one stopwatch event; I5 a wake-up stands for a waiting server
//! and for no other; I6 a server's count of ready tasks is right; I7 no active head is due; I8 each server's
//! replenishment is in the system queue, and at most a period away.
//!
//! **Costs.**
//!
//! | call | cost |
//! |---|---|
//! | [`Hsf::tick`] without a due event | O(1), whatever there is |
//! | [`Hsf::tick`] with k due events | O(k + events of their queue) if they come again in the same order, as with equal periods; else O(events of its queue) for each that comes again |
//! | [`Hsf::schedule`] | O(servers + tasks of the chosen server) |
//! | each switch in that it makes | O(stopwatch before the server), and as a tick for each event due |
//! | [`Hsf::budget`], [`Hsf::next_event`] | O(1) |
//! | [`Hsf::replenishes_in`] | O(events of the system queue) |
//! | other calls | O(servers + events of the server's queues) |
//!
//! A switch in that finds a deferrable or a polling server without work is followed by another: at most
//! one for each server.
//!
//! | memory | bytes |
//! |---|---|
//! | a node; a server has up to 8, a task up to 4 | 12, with ticks of 32 bits 16 |
//! | a server, a task | 24, 32 |
//! | six servers with six tasks each, all queues included | 3640, with ticks of 32 bits 4416 |
//!
//! **A host** needs three things: a tick that calls [`Hsf::tick`], or a timer set to [`Hsf::next_event`] that
//! calls [`Hsf::advance`]; a place where it picks the next task, which calls [`Hsf::schedule`]; and the
//! places where its tasks become ready or blocked, which call [`Hsf::ready`], [`Hsf::release`] and
//! [`Hsf::block`]. They are a trait, [`crate::Hooks`].
//!
//! **Interrupts.** Every call takes the whole state; a host calls with interrupts masked, for as long as the
//! table says. From an interrupt: [`Hsf::tick`], [`Hsf::advance`], [`Hsf::release`], [`Hsf::ready`],
//! [`Hsf::budget`], [`Hsf::next_event`], and [`Hsf::schedule`] at the end of the outermost one.
//! [`Hsf::wait_period`], [`Hsf::delay`], [`Hsf::delay_virtual`] and [`Hsf::block`] are calls of the running task
//! itself. What is called between two calls of `schedule` is simultaneous: its order does not matter
//! to who is chosen.
//!
//! **Deviations from the paper**, each found by a test in which the paper's way has another schedule:
//!
//! - Figure 12 takes ticks off the heads only when an event is due, and so takes ticks off an event that
//!   passed before it was inserted; and it does so for each queue after the one before was handled,
//!   so that a depletion that a replenishment inserts comes too soon. Here both cannot happen.
//! - Figures 7 and 12 handle an event before they pop it: see [`crate::relteq`].
//! - Figure 9 does not delete the stopwatch event when its server is switched in; the text does.
//! - Figure 10 has any server without a ready task wake up, a depleted one as well; here only one that waits.
//! - Figure 13 does not say what becomes of a deferrable server that is switched in and finds no work.
//!   Here it waits at once.
//! - Section 3.2.4 says that a polling server loses its budget whenever it is switched out; by Figure 4
//!   and here only for want of work. Whether it has work when its budget comes is asked at that
//!   instant: an inactive polling server without a ready task is brought up to date then, which takes time
//!   from the active server.
//! - Section 8.3 bounds the dummies of the stopwatch by t / M + S. In the paper's queue each server that comes
//!   after an idle interval adds one; here dummies side by side are one node, and the bound holds.

mod create;
mod events;
mod features;
mod ids;
mod invariants;
mod schedule;
mod server;
mod switch;
mod task;
mod tick;

pub use features::{Everything, Features};
pub use ids::{Error, Pick, ServerId, TaskId};
pub use server::{Kind, LocalOrder, ServerSpec, State};
pub use task::TaskState;

use crate::relteq::{InsertError, Pool, Queue, Tick};
use events::Event;
use ids::Active;
use server::Server;
use task::Task;

/// How many nodes the queues of so many servers and tasks take at most: two for each event, and one for the
/// stopwatch. A server has a replenishment, a depletion, a wake-up and a stopwatch event; a task an arrival and a
/// delay.
#[must_use]
pub const fn nodes(servers: usize, tasks: usize) -> usize {
    let events = servers
        .saturating_mul(4)
        .saturating_add(tasks.saturating_mul(2));
    events.saturating_mul(2).saturating_add(1)
}

/// Servers, their tasks and all their timed events. `NODES` is [`nodes`]`(SERVERS, TASKS)`; servers and tasks are
/// at most 255 each.
#[derive(Debug)]
pub struct Hsf<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize> {
    pool: Pool<F::Tick, Event, NODES>,
    system: Queue,
    stopwatch: Queue,
    servers: [Server; SERVERS],
    tasks: [Task; TASKS],
    server_count: u8,
    task_count: u8,
    current: Active,
    /// Whether there is a server that [`Server::to_poll`] stands for.
    to_poll: bool,
    /// The instant of the last settling.
    now: u64,
    /// Ticks since then.
    since: F::Tick,
    /// Ticks from then on until an active queue's head is due, at most M.
    earliest: F::Tick,
}

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize> Default
    for Hsf<F, SERVERS, TASKS, NODES>
{
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// A system without servers at instant 0.
    #[must_use]
    pub const fn new() -> Self {
        const {
            assert!(SERVERS <= 255 && TASKS <= 255, "identifiers are bytes");
            assert!(
                NODES >= nodes(SERVERS, TASKS),
                "the queues need nodes(SERVERS, TASKS)"
            );
        }
        Self {
            pool: Pool::new(),
            system: Queue::new(),
            stopwatch: Queue::new(),
            servers: [Server::NONE; SERVERS],
            tasks: [Task::NONE; TASKS],
            server_count: 0,
            task_count: 0,
            current: Active::NONE,
            to_poll: false,
            now: 0,
            since: F::Tick::ZERO,
            earliest: F::Tick::ZERO,
        }
    }

    /// Makes it as it was at the beginning, in place: a whole system on a small stack is too much.
    pub fn clear(&mut self) {
        self.pool.clear();
        self.system = Queue::new();
        self.stopwatch = Queue::new();
        self.servers.fill_with(|| Server::NONE);
        self.tasks.fill_with(|| Task::NONE);
        self.server_count = 0;
        self.task_count = 0;
        self.current = Active::NONE;
        self.to_poll = false;
        self.now = 0;
        self.since = F::Tick::ZERO;
        self.earliest = F::Tick::ZERO;
    }

    /// Ticks since the beginning.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now.saturating_add(self.since.get().into())
    }

    /// The active server.
    #[must_use]
    pub const fn current(&self) -> Option<ServerId> {
        self.current.server()
    }

    /// What a server may still execute before its next replenishment, in ticks; 0 if there is no such server. O(1).
    #[must_use]
    pub fn budget(&self, server: ServerId) -> u32 {
        let Some(entry) = self.servers.get(server.index()) else {
            return 0;
        };
        if self.current.is(server) {
            entry.budget.saturating_sub(self.since.get())
        } else {
            entry.budget
        }
    }

    /// The state of a server.
    #[must_use]
    pub fn server_state(&self, server: ServerId) -> Option<State> {
        let known = server.index() < self.server_count.into();
        let entry = self.servers.get(server.index()).filter(|_| known);
        entry.map(|entry| entry.state)
    }

    /// The state of a task, as far as its events are handled: those of an inactive server are not.
    #[must_use]
    pub fn task_state(&self, task: TaskId) -> Option<TaskState> {
        let known = task.index() < self.task_count.into();
        let entry = self.tasks.get(task.index()).filter(|_| known);
        entry.map(|entry| entry.state)
    }

    /// How many arrivals of a task wait for its current job to end, as far as its events are handled.
    #[must_use]
    pub fn pending(&self, task: TaskId) -> u32 {
        self.tasks.get(task.index()).map_or(0, |task| task.pending)
    }

    /// Ticks until [`Hsf::advance`] has to be called at the latest, at least 1: what a one-shot timer is
    /// set to. O(1).
    #[must_use]
    pub fn next_event(&self) -> u32 {
        self.earliest.get().saturating_sub(self.since.get())
    }

    fn server_ids(&self) -> impl Iterator<Item = ServerId> + use<F, SERVERS, TASKS, NODES> {
        (0..self.server_count).map(ServerId::new)
    }

    /// Whether a server's sq is counting down.
    fn is_live(&self, server: ServerId) -> bool {
        self.current.is(server) || self.is_always_live(server)
    }

    /// Without wake-ups the queues of deferrable servers never rest.
    fn is_always_live(&self, server: ServerId) -> bool {
        let kind = self.servers.get(server.index()).map(|entry| entry.kind);
        F::DEFERRABLE && !F::WAKE_UPS && kind == Some(Kind::Deferrable)
    }

    /// Visits each server whose sq is counting down though it is not active: with wake-ups there is none.
    #[inline]
    fn for_others_live(&mut self, mut visit: impl FnMut(&mut Self, ServerId)) {
        if F::DEFERRABLE && !F::WAKE_UPS {
            for server in self.server_ids() {
                if !self.current.is(server) && self.is_always_live(server) {
                    visit(self, server);
                }
            }
        }
    }

    fn enter(server: ServerId, entry: &mut Server, to: State) {
        let from = core::mem::replace(&mut entry.state, to);
        F::on_transition(server, from, to);
    }
}

/// There is room for every event by [`nodes`], and a delay of 32 bits is never too far away: nothing is
/// done about what cannot happen.
fn has_room(result: Result<(), InsertError>) {
    debug_assert!(result.is_ok(), "nodes() is too small");
}
