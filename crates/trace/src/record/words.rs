//! The words that stand for kinds in readable files, each in one place for both directions.

use super::{Edge, Mechanism, Record, Refusal, What};
use vestal_core::{DropReason, Event, Fact, StopReason};

/// What each number of a [`Refusal`] is called; the first stands for number 1.
const REFUSALS: [&str; 14] = [
    "clock-went-back",
    "beyond-horizon",
    "unknown-task",
    "unknown-cpu",
    "not-of-this-policy",
    "unknown-job",
    "release-out-of-order",
    "charged-while-not-running",
    "cpu-busy",
    "too-many-facts",
    "charge-overflow",
    "unknown-server",
    "unknown-device",
    "unknown-barrier",
];

impl Refusal {
    /// What the kind is called.
    #[must_use]
    pub fn word(self) -> &'static str {
        REFUSALS
            .get(usize::from(self.0).wrapping_sub(1))
            .copied()
            .unwrap_or("unknown")
    }

    /// The kind that is called so.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let place = REFUSALS.iter().position(|&known| known == word)?;
        u8::try_from(place).ok()?.checked_add(1).map(Self)
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        (1..=REFUSALS.len())
            .contains(&usize::from(code))
            .then_some(Self(code))
    }
}

const MECHANISMS: [(Mechanism, &str); 11] = [
    (Mechanism::Decide, "decide"),
    (Mechanism::Switch, "switch"),
    (Mechanism::Release, "release"),
    (Mechanism::Monitor, "monitor"),
    (Mechanism::ModeChange, "mode-change"),
    (Mechanism::Migration, "migration"),
    (Mechanism::Interrupt, "interrupt"),
    (Mechanism::WakeUp, "wake-up"),
    (Mechanism::Barrier, "barrier"),
    (Mechanism::Tracing, "tracing"),
    (Mechanism::JobEnd, "job-end"),
];

impl Mechanism {
    /// What the mechanism is called; a world's own ones share a word and differ by number.
    #[must_use]
    pub fn word(self) -> &'static str {
        MECHANISMS
            .iter()
            .find(|(known, _)| *known == self)
            .map_or("other", |(_, word)| word)
    }

    /// The mechanism that is called so; `other` is none of them.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        MECHANISMS
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(mechanism, _)| *mechanism)
    }

    pub(super) fn code(self) -> (u8, u8) {
        if let Self::Other(number) = self {
            return (255, number);
        }
        let place = MECHANISMS.iter().position(|(known, _)| *known == self);
        (
            place
                .and_then(|place| u8::try_from(place).ok())
                .unwrap_or(255),
            0,
        )
    }

    pub(super) fn from_code(code: u8, number: u8) -> Option<Self> {
        if code == 255 {
            return Some(Self::Other(number));
        }
        MECHANISMS
            .get(usize::from(code))
            .map(|(mechanism, _)| *mechanism)
    }
}

/// What a stop reason is called.
#[must_use]
pub const fn stop_word(why: StopReason) -> &'static str {
    match why {
        StopReason::Preempted => "preempted",
        StopReason::Blocked => "blocked",
        StopReason::Cancelled => "cancelled",
    }
}

/// What a reason for dropping is called.
#[must_use]
pub const fn drop_word(why: DropReason) -> &'static str {
    match why {
        DropReason::Mode => "mode",
        DropReason::Exhausted => "exhausted",
        DropReason::Superseded => "superseded",
        DropReason::Deadline => "deadline",
        DropReason::BacklogFull => "backlog-full",
    }
}

/// What stands before the reason in a permit of a dropped job.
pub const DROPPED: &str = "dropped:";

/// The reason for dropping that is called so.
#[must_use]
pub fn drop_reason(word: &str) -> Option<DropReason> {
    DROP_REASONS.into_iter().find(|why| drop_word(*why) == word)
}

/// Every stop reason, for reading the words back.
pub const STOP_REASONS: [StopReason; 3] = [
    StopReason::Preempted,
    StopReason::Blocked,
    StopReason::Cancelled,
];

/// Every reason for dropping, for reading the words and the numbers back.
pub const DROP_REASONS: [DropReason; 5] = DropReason::ALL;

/// What a kind of fact is called.
#[must_use]
pub const fn fact_word(fact: &Fact) -> &'static str {
    match fact {
        Fact::Released { .. } => "release",
        Fact::Completed { .. } => "complete",
        Fact::Charged { .. } => "charge",
        Fact::Started { .. } => "start",
        Fact::Stopped { .. } => "stop",
        Fact::Timer => "timer",
        Fact::Idle { .. } => "idle",
        Fact::Interrupt { .. } => "interrupt",
        Fact::Woken { .. } => "wake",
        Fact::BarrierReached { .. } => "barrier",
        Fact::ModeRequested { .. } => "mode-request",
    }
}

impl Record {
    /// What the record's kind is called; an observed fact is called like one that was reported.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match &self.what {
            What::Fact(fact) | What::Observed(fact) => fact_word(fact),
            What::Refused(_) => "refused",
            What::Decided { .. } => "decide",
            What::DecisionRefused { .. } => "decide-refused",
            What::Slot { .. } => "slot",
            What::Wake(_) => "wake-at",
            What::Permit { .. } => "permit",
            What::Notice(Event::ModeChanged { .. }) => "mode",
            What::Notice(Event::Overrun { .. }) => "overrun",
            What::Notice(Event::Dropped { .. }) => "drop",
            What::Notice(Event::Depleted { .. }) => "depleted",
            What::Notice(Event::Postponed { .. }) => "postponed",
            What::Notice(Event::FrameOverrun { .. }) => "frame-overrun",
            What::Notice(Event::FramesSkipped { .. }) => "frames-skipped",
            What::Notice(Event::Late { .. }) => "late",
            What::Miss { .. } => "miss",
            What::Overhead {
                edge: Edge::Begin, ..
            } => "overhead-begin",
            What::Overhead {
                edge: Edge::End, ..
            } => "overhead-end",
            What::Gap { .. } => "gap",
            What::Budget { .. } => "budget",
            What::Dropped { .. } => "dropped",
            What::Lost { .. } => "lost",
            What::End { .. } => "end",
        }
    }
}
