//! What the kernel and its scheduler take at most, in instructions, on a Cortex-M3 and on riscv32, optimised for size: who bounds what a server takes
//! from another counts how often each happens, and adds them up.
//!
//! | | for each |
//! |---|---|
//! | [`TICK`] | tick, with its handler; of it the scheduler takes at most [`IDLE`] where no event is due |
//! | [`EVENT`] | timed event that is handled, in a tick or in a pick: an arrival, a replenishment, a depletion, a wake-up, the end of a delay |
//! | [`PICK`] | call of the scheduler that chooses who executes |
//! | [`SWITCH`] | switch of the active server to another or to none, with the contexts of tasks; and polling server that gets its budget while it is inactive |
//! | [`INTERRUPT`] | interrupt that releases a job or has a task go on |
//! | [`CALL`] | call of a task: the end of a job, a delay, a semaphore |
//! | [`STEP`] | node of a queue that is passed to find an event, or the place of one: none for events that come again in the order in which they came, and for ends of jobs. A delay and a switch look twice, an arrival once |
//!
//! They hold for systems with wake-ups of at most six servers with six tasks each, by fixed priorities inside, without delays in a server's own time, on ticks of 16 bits and with no
//! time that does not fit into them: where a run of dummies is made or met, a call takes more. `bin/isolation` compares each single call of many such systems with them, as many nodes
//! passed as there may be, and what a server has lost with their sum; nothing proves that no other system is worse. On riscv32 one pick is: 1764 where 1520 are allowed. Tasks that go on by [`crate::Kernel::ready`] and semaphores are in no such run.

/// Of a tick at which nothing is due.
pub const IDLE: u32 = 60;
/// Of a tick.
pub const TICK: u32 = 400;
/// Of an event.
pub const EVENT: u32 = 400;
/// Of a pick.
pub const PICK: u32 = 400;
/// Of a switch.
pub const SWITCH: u32 = 400;
/// Of an interrupt.
pub const INTERRUPT: u32 = 400;
/// Of a call.
pub const CALL: u32 = 400;
/// Of a node that is passed.
pub const STEP: u32 = 30;

// No constant may be larger than that.
const _: () = assert!(
    IDLE <= 60
        && TICK <= 400
        && EVENT <= 400
        && PICK <= 400
        && SWITCH <= 400
        && INTERRUPT <= 400
        && CALL <= 400
        && STEP <= 400
);

/// How often each happened. [`Counts::most`] adds up what all of it takes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ticks, or of two runs those that have an event in one of them alone.
    pub ticks: u32,
    /// Events.
    pub events: u32,
    /// Picks.
    pub picks: u32,
    /// Switches of servers, and polling servers that got a budget.
    pub switches: u32,
    /// Interrupts.
    pub interrupts: u32,
    /// Calls of tasks.
    pub calls: u32,
    /// Nodes that were passed, at most.
    pub steps: u32,
}

impl Counts {
    fn pairs(&self) -> [(u32, u32); 7] {
        [
            (self.ticks, TICK),
            (self.events, EVENT),
            (self.picks, PICK),
            (self.switches, SWITCH),
            (self.interrupts, INTERRUPT),
            (self.calls, CALL),
            (self.steps, STEP),
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
        }
    }
}
