//! When the last rounds of a gate were opened.

use super::gate::Ticket;
use super::latest::Latest;

/// So many rounds are remembered: a thread that was let go may come to look when others have met again.
const REMEMBERED: usize = 4;

/// In the place of a round: none is told of. In that of an end: it has not come.
const NONE: u64 = u64::MAX;

/// How many bits of an end say how long the opening took, in nanoseconds: eighteen minutes. The others tell rounds apart.
const TOOK_BITS: u32 = 40;

const TOOK_MAX: u64 = (1 << TOOK_BITS) - 1;

/// What is kept of the number of a round: millions of later ones have another.
const fn tag(round: u64) -> u64 {
    round & (u64::MAX >> TOOK_BITS)
}

/// When a round was opened, as clock readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// When whoever came last began to open.
    pub(crate) at: u64,
    /// The same by another clock.
    pub(crate) ticks: u64,
    /// When it had done so, if it has.
    pub(crate) done: Option<u64>,
}

/// The last rounds of one gate. One thread at a time opens; it writes before it does, for those that it lets go.
#[derive(Debug, Default)]
pub(crate) struct Openings([Slot; REMEMBERED]);

/// One round; another one may take its place while somebody reads.
#[derive(Debug)]
struct Slot {
    round: Latest<u64>,
    at: Latest<u64>,
    ticks: Latest<u64>,
    /// How long it took to open, and of which round that is: who was slow to say so writes when the place is another round's.
    done: Latest<u64>,
}

impl Default for Slot {
    fn default() -> Self {
        Self {
            round: Latest::new(NONE),
            at: Latest::default(),
            ticks: Latest::default(),
            done: Latest::new(NONE),
        }
    }
}

impl Slot {
    fn begin(&self, round: u64, [at, ticks]: [u64; 2]) {
        // Who sees any of what follows sees that this is no longer the round that it was.
        self.round.set(NONE);
        self.at.set(at);
        self.ticks.set(ticks);
        self.done.set(NONE);
        self.round.set(round);
    }

    fn of(&self, round: u64) -> Option<Opening> {
        let is_told = || self.round.get() == round;
        if !is_told() {
            return None;
        }
        let found = self.read(round);
        is_told().then_some(found)
    }

    fn read(&self, round: u64) -> Opening {
        self.read_if(|of| of == tag(round))
    }

    /// The end counts if it is of a round with a tag that `is_own`.
    fn read_if(&self, is_own: impl FnOnce(u64) -> bool) -> Opening {
        let (at, ticks, done) = (self.at.get(), self.ticks.get(), self.done.get());
        let is_own = done != NONE && is_own(done >> TOOK_BITS);
        let done = is_own.then(|| at.saturating_add(done & TOOK_MAX));
        Opening { at, ticks, done }
    }

    fn end(&self, round: u64, took: u64) {
        // One less than the most: none is taken for that which has not come.
        let took = took.min(TOOK_MAX - 1);
        self.done.set(tag(round) << TOOK_BITS | took);
    }
}

impl Openings {
    fn slot(&self, ticket: Ticket) -> Option<&Slot> {
        let place = usize::try_from(ticket.round()).unwrap_or(0) % REMEMBERED;
        self.0.get(place)
    }

    /// Whoever came last, with this ticket, begins to open `at` that clock reading, which is `ticks` by another clock.
    pub(crate) fn begin(&self, ticket: Ticket, [at, ticks]: [u64; 2]) {
        if let Some(slot) = self.slot(ticket) {
            slot.begin(ticket.round(), [at, ticks]);
        }
    }

    /// And has done so, after so many nanoseconds.
    pub(crate) fn end(&self, ticket: Ticket, took: u64) {
        if let Some(slot) = self.slot(ticket) {
            slot.end(ticket.round(), took);
        }
    }

    /// When the round of a ticket was opened; none of one that is too long ago.
    pub(crate) fn of(&self, ticket: Ticket) -> Option<Opening> {
        self.slot(ticket)?.of(ticket.round())
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// The second round takes the place of the first while a thread that is late looks for that.
    fn late(look: fn(&Slot) -> Option<Opening>) {
        loom::model(move || {
            let slot = Arc::new(Slot::default());
            slot.begin(1, [10, 11]);
            let opener = Arc::clone(&slot);
            let opener = thread::spawn(move || opener.begin(2, [20, 21]));
            if let Some(found) = look(&slot) {
                assert_eq!((found.at, found.ticks), (10, 11), "another round");
            }
            opener.join().unwrap();
        });
    }

    #[test]
    fn who_is_late_learns_of_its_own_round_or_of_none() {
        late(|slot| slot.of(1));
    }

    #[test]
    #[should_panic = "another round"]
    fn refuted_who_looks_at_the_round_only_before() {
        late(|slot| (slot.round.get() == 1).then(|| slot.read(1)));
    }

    /// The thread that opened the first round has let the others go, and says only now that it took 30; meanwhile another one opens the second,
    /// which takes 5. A thread of that looks. Three threads: all interleavings with at most three preemptions.
    fn slow_to_say_so(look: fn(&Slot) -> Option<Opening>) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let slot = Arc::new(Slot::default());
            slot.begin(1, [10, 11]);
            let [slow, opener] = [Arc::clone(&slot), Arc::clone(&slot)];
            let slow = thread::spawn(move || slow.end(1, 30));
            let opener = thread::spawn(move || {
                opener.begin(2, [20, 21]);
                opener.end(2, 5);
            });
            if let Some(found) = look(&slot) {
                assert_eq!((found.at, found.ticks), (20, 21), "another round");
                assert!(
                    matches!(found.done, None | Some(25)),
                    "the end of another round"
                );
            }
            slow.join().unwrap();
            opener.join().unwrap();
        });
    }

    #[test]
    fn who_looks_learns_of_the_end_of_its_own_round_or_of_none() {
        slow_to_say_so(|slot| slot.of(2));
    }

    /// What was there before.
    #[test]
    #[should_panic = "the end of another round"]
    fn refuted_an_end_that_does_not_say_of_which_round_it_is() {
        slow_to_say_so(|slot| {
            let is_told = || slot.round.get() == 2;
            let found = is_told().then(|| slot.read_if(|_| true))?;
            is_told().then_some(found)
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::words::Gate;

    #[test]
    fn each_round_has_its_own_until_it_is_too_long_ago() {
        let (gate, openings) = (Gate::default(), Openings::default());
        let first = gate.ticket();
        assert_eq!(openings.of(first), None, "it has not been opened");
        let opening = |at, done| Some(Opening { at, ticks: 0, done });
        let mut tickets = Vec::new();
        for round in 1..=REMEMBERED as u64 {
            let ticket = gate.ticket();
            openings.begin(ticket, [round * 100, 0]);
            gate.open();
            assert_eq!(openings.of(ticket), opening(round * 100, None));
            openings.end(ticket, 7);
            tickets.push(ticket);
        }
        for (ticket, round) in tickets.iter().zip(1..) {
            assert_eq!(
                openings.of(*ticket),
                opening(round * 100, Some(round * 100 + 7))
            );
        }
        let fifth = gate.ticket();
        openings.begin(fifth, [500, 0]);
        assert_eq!(openings.of(first), None);
        // The thread that opened the first says only now that it has, which took it as long as all the others.
        openings.end(first, 407);
        assert_eq!(openings.of(fifth), opening(500, None));
        openings.end(fifth, 0);
        assert_eq!(openings.of(fifth), opening(500, Some(500)));
        openings.end(fifth, u64::MAX);
        let long = 500 + TOOK_MAX - 1;
        assert_eq!(openings.of(fifth), opening(500, Some(long)));
    }
}
