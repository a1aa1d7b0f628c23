//! Where threads wait for one of them, round after round.

use super::sync::{AtomicU32, Ordering, wait_while, wake_all};

/// In the lowest bit; above it stands how often the gate was opened, modulo 2^31.
const CLOSED: u32 = 1;
const ONCE: u32 = 2;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// The gate was opened since the ticket was drawn.
    Open,
    /// It was closed for good: nobody waits any more.
    Closed,
}

/// How often the gate had been opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u32);

impl Ticket {
    /// A number of the round, another one for each of 2^31 in a row.
    pub(crate) fn round(self) -> u64 {
        u64::from(self.0 / ONCE)
    }
}

/// A gate that one opens for all that wait, and somebody else closes for good.
///
/// Who is going to wait draws its ticket before it says that it has come. Who finds that all have come opens the gate
/// after it wrote what they are to see.
#[derive(Debug, Default)]
pub(crate) struct Gate(AtomicU32);

impl Gate {
    /// To be drawn before the others can learn that its owner has come.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(self.0.load(Ordering::Acquire) & !CLOSED)
    }

    /// Lets all go on that wait with a ticket of this round; who passes sees what was written before.
    pub(crate) fn open(&self) {
        self.0.fetch_add(ONCE, Ordering::AcqRel);
        wake_all(&self.0);
    }

    /// Lets everybody go on, for ever.
    pub(crate) fn close(&self) {
        self.0.fetch_or(CLOSED, Ordering::AcqRel);
        wake_all(&self.0);
    }

    /// Whether there is nothing to wait for; one load.
    pub(crate) fn look(&self, Ticket(ticket): Ticket) -> Option<Passed> {
        match self.0.load(Ordering::Acquire) {
            word if word & CLOSED != 0 => Some(Passed::Closed),
            word if word != ticket => Some(Passed::Open),
            _ => None,
        }
    }

    /// Waits until there is something to see, or until the clock reads `deadline_nanos`. May return earlier.
    pub(crate) fn wait(&self, Ticket(ticket): Ticket, deadline_nanos: Option<u64>) {
        wait_while(&self.0, ticket, deadline_nanos);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// What two threads have of each other: who came last decides alone, and writes that down before it opens.
    #[derive(Default)]
    struct Meeting {
        gate: Gate,
        arrived: AtomicU32,
        plan: AtomicU32,
    }

    impl Meeting {
        /// One round; gives the plan that the thread goes on with, none if the gate was closed.
        fn meet(&self, ticket: fn(&Gate, &AtomicU32) -> (Ticket, u32), look: Look) -> Option<u32> {
            let (ticket, before) = ticket(&self.gate, &self.arrived);
            if before % 2 == 1 {
                let plan = self.plan.load(Ordering::Relaxed);
                self.plan.store(plan + 1, Ordering::Relaxed);
                self.gate.open();
                return Some(plan + 1);
            }
            loop {
                match look(&self.gate, ticket) {
                    Some(Passed::Open) => return Some(self.plan.load(Ordering::Relaxed)),
                    Some(Passed::Closed) => return None,
                    // As in the kernel there is no other way out of the wait than a change.
                    None => self.gate.wait(ticket, None),
                }
            }
        }
    }

    type Look = fn(&Gate, Ticket) -> Option<Passed>;

    fn drawn_first(gate: &Gate, arrived: &AtomicU32) -> (Ticket, u32) {
        (gate.ticket(), arrived.fetch_add(1, Ordering::AcqRel))
    }

    fn two_rounds(ticket: fn(&Gate, &AtomicU32) -> (Ticket, u32), look: Look) {
        loom::model(move || {
            let meeting = Arc::new(Meeting::default());
            let other = Arc::clone(&meeting);
            let walker = thread::spawn(move || {
                assert_eq!(other.meet(ticket, look), Some(1), "an old plan");
                assert_eq!(other.meet(ticket, look), Some(2), "an old plan");
            });
            assert_eq!(meeting.meet(ticket, look), Some(1), "an old plan");
            assert_eq!(meeting.meet(ticket, look), Some(2), "an old plan");
            walker.join().unwrap();
        });
    }

    #[test]
    fn the_last_decides_alone_and_both_go_on_with_what_it_decided() {
        two_rounds(drawn_first, Gate::look);
    }

    /// The other one may have opened in between, and opens for this one no more.
    #[test]
    #[should_panic = "Model exceeded maximum number of branches"]
    fn refuted_a_ticket_that_is_drawn_after_arriving() {
        two_rounds(
            |gate, arrived| {
                let before = arrived.fetch_add(1, Ordering::AcqRel);
                (gate.ticket(), before)
            },
            Gate::look,
        );
    }

    #[test]
    #[should_panic = "an old plan"]
    fn refuted_a_look_that_is_relaxed_shows_old_plans() {
        two_rounds(drawn_first, |gate, Ticket(ticket)| {
            (gate.0.load(Ordering::Relaxed) != ticket).then_some(Passed::Open)
        });
    }

    /// One waits, the other never comes, and the run ends: the wait does, too.
    fn end(close: fn(&Gate)) {
        loom::model(move || {
            let meeting = Arc::new(Meeting::default());
            let other = Arc::clone(&meeting);
            let walker = thread::spawn(move || other.meet(drawn_first, Gate::look));
            close(&meeting.gate);
            walker.join().unwrap();
        });
    }

    #[test]
    fn a_gate_that_is_closed_frees_who_waits_and_who_will() {
        end(Gate::close);
    }

    #[test]
    #[should_panic = "Model exceeded maximum number of branches"]
    fn refuted_a_gate_that_is_opened_at_the_end_keeps_who_comes_later() {
        end(Gate::open);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_for_one_round_and_a_closed_gate_for_none() {
        let gate = Gate::default();
        let first = gate.ticket();
        assert_eq!(gate.look(first), None);
        gate.open();
        assert_eq!(gate.look(first), Some(Passed::Open));
        // Ends at once.
        gate.wait(first, None);
        let second = gate.ticket();
        assert_ne!(first, second);
        assert_eq!(gate.look(second), None);
        gate.close();
        assert_eq!(gate.look(second), Some(Passed::Closed));
        assert_eq!(gate.look(gate.ticket()), Some(Passed::Closed));
        gate.wait(gate.ticket(), None);
        gate.open();
        assert_eq!(gate.look(second), Some(Passed::Closed), "for good");
    }

    #[test]
    fn rounds_are_counted_beyond_what_the_word_holds() {
        let gate = Gate(AtomicU32::new(u32::MAX - CLOSED));
        let last = gate.ticket();
        gate.open();
        assert_eq!(gate.look(last), Some(Passed::Open));
        assert_eq!(gate.ticket(), Ticket(0));
    }
}
