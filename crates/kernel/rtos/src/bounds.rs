//! What the kernel and its scheduler take at most, in instructions, on a Cortex-M3 and on riscv32, optimised for size: who bounds what a server takes
//! from another counts how often each happens, and adds them up.
//!
//! | | for each |
//! |---|---|
//! | [`TICK`] | tick, with its handler; of it the scheduler takes at most [`IDLE`] where no event is due |
//! | [`EVENT`] | timed event that is handled, in a tick or in a pick: an arrival, a replenishment, a depletion, a wake-up, the end of a delay; server that has no work any more: it waits, perhaps with a wake-up, or discards its budget; wake-up that is taken back or inserted anew; polling server that is asked for work when its budget has come |
//! | [`PICK`] | choice of who executes that leaves the active server as it is, with the contexts of tasks |
//! | [`SWITCH`] | choice of who executes that switches the active server to another or to none, with the contexts of tasks. Where a server finds no work when it is switched in, and the next one is, each of both |
//! | [`INTERRUPT`] | interrupt that releases a job or has a task go on |
//! | [`CALL`] | call of a task: the end of a job, a delay, a semaphore |
//! | [`STEP`] | node of a queue that is passed to find an event, or the place of one: none for events that come again in the order in which they came, and for ends of jobs. A delay and a switch look twice, an event that comes again and an arrival once. And task that is passed to find the one to execute |
//! | [`DETOUR`] | run of dummies that is made, takes over the time of an event that goes, or is joined with another: at most one for each search; and replenishment of a server whose tasks wait for its own time |
//!
//! They hold for systems with wake-ups of at most six servers with six tasks each, on ticks of 16 bits. `bin/isolation` compares the scheduler's hook of each single call of many such systems with them, with the events, switches
//! and nodes that there were, and what a server has lost with their sum; nothing proves that no other system is worse.

use vestal_hsf::ServerId;

/// Of a tick at which nothing is due.
pub const IDLE: u32 = 60;
/// Of a tick.
pub const TICK: u32 = 400;
/// Of an event.
pub const EVENT: u32 = 400;
/// Of a pick that leaves the server.
pub const PICK: u32 = 400;
/// Of a pick that switches.
pub const SWITCH: u32 = 400;
/// Of an interrupt.
pub const INTERRUPT: u32 = 400;
/// Of a call.
pub const CALL: u32 = 400;
/// Of a node that is passed.
pub const STEP: u32 = 40;
/// Of a detour.
pub const DETOUR: u32 = 400;

/// All of them by name, for who compares with them elsewhere (`bin/bench.rs` prints them).
pub const ALL: [(&str, u32); 9] = [
    ("idle", IDLE),
    ("tick", TICK),
    ("event", EVENT),
    ("pick", PICK),
    ("switch", SWITCH),
    ("interrupt", INTERRUPT),
    ("call", CALL),
    ("step", STEP),
    ("detour", DETOUR),
];

/// How often each happened. [`Counts::most`] adds up what all of it takes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ticks, or of two runs those that have an event in one of them alone.
    pub ticks: u32,
    /// Events.
    pub events: u32,
    /// Picks that left the server.
    pub picks: u32,
    /// Switches of servers.
    pub switches: u32,
    /// Interrupts.
    pub interrupts: u32,
    /// Calls of tasks.
    pub calls: u32,
    /// Nodes that were passed.
    pub steps: u32,
    /// Detours.
    pub detours: u32,
}

/// How often a pick switched servers: so many were switched in, and one that is switched out for none counts, too.
#[must_use]
pub fn switches(before: Option<ServerId>, switched_in: u32, after: Option<ServerId>) -> u32 {
    let leaves = after.is_none() && (before.is_some() || switched_in > 0);
    switched_in.saturating_add(leaves.into())
}

impl Counts {
    /// A pick with so many switches.
    #[must_use]
    pub fn of_pick(switches: u32) -> Self {
        Self {
            picks: (switches == 0).into(),
            switches,
            ..Self::default()
        }
    }

    fn pairs(&self) -> [(u32, u32); 8] {
        [
            (self.ticks, TICK),
            (self.events, EVENT),
            (self.picks, PICK),
            (self.switches, SWITCH),
            (self.interrupts, INTERRUPT),
            (self.calls, CALL),
            (self.steps, STEP),
            (self.detours, DETOUR),
        ]
    }

    /// What all of it takes at most, in instructions.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.pairs().iter().fold(0, |sum, &(number, each)| {
            sum.saturating_add(u64::from(number).saturating_mul(each.into()))
        })
    }

    /// By how much it is more than in another run.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Self {
        Self {
            ticks: self.ticks.saturating_sub(other.ticks),
            events: self.events.saturating_sub(other.events),
            picks: self.picks.saturating_sub(other.picks),
            switches: self.switches.saturating_sub(other.switches),
            interrupts: self.interrupts.saturating_sub(other.interrupts),
            calls: self.calls.saturating_sub(other.calls),
            steps: self.steps.saturating_sub(other.steps),
            detours: self.detours.saturating_sub(other.detours),
        }
    }
}
