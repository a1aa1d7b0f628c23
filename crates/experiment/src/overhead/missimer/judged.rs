//! Which runs count, and what in a run is our own fault.
//!
//! What leaves a run out has nothing to do with what a system did: others took much of the CPU, or a sender was starved. What a system did wrong is never left
//! out. All numbers here were fixed before anything was measured with them.

use super::run::{Camera, JUST_BEFORE_NS, Rise, Run, TOLERANCE_NS, WINDOW_NS};
use super::set::{self, COST_US};

/// Others may take one in so many parts of a run: as much as a period of the applications in one of eight seconds. What is lost below that is taken out where
/// it matters ([`Lost`]).
pub const DISTURBED: u64 = 100;
/// The same where it cannot be taken out: of a camera with 1 % of the CPU that is a fifth.
pub const DISTURBED_VARIANCE: u64 = 500;
/// A sender may be late for one in so many parts of a run.
pub const STARVED: u64 = 10;
/// A server gives at least one in so many parts of what it has while events wait: a PIBS that waits each time until application 1 has had 41 ms of 100 gives
/// seven tenths.
pub const LEAST: u64 = 2;
/// What is enforced late at the end of a run, once; ours.
const SLACK_NS: u64 = 1_000_000;

/// What is done with the time that others took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lost {
    /// It had no consequence.
    #[default]
    Left,
    /// All of it was on the account of what is looked at, and is taken out; of cameras, all of it speaks against the claim.
    TakenOut,
}

/// What a server of a camera must not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It gave more than its share, by what it was charged or by what its events take at least.
    TooMuch,
    /// It gave less than one in [`LEAST`] parts of it while events waited.
    TooLittle,
}

/// When the mode rose in a run in which a job raises it at half time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Then, and not else.
    AtHalfTime,
    /// Else as well, and what others took just before explains each of these.
    Explained,
    /// Not then, or else as well and nothing explains it.
    Wrong,
}

impl Rise {
    /// Whether what others took just before may be why: as much as a job may exceed its budget by without raising anything.
    #[must_use]
    pub const fn is_explained(&self) -> bool {
        self.taken_ns >= TOLERANCE_NS
    }

    /// Of what others took from and to these instants, since the run began, in the order of their beginnings: what lies just before a rise, once.
    #[must_use]
    pub fn after(at_ns: u64, gaps: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut counted = at_ns.saturating_sub(JUST_BEFORE_NS);
        let mut taken_ns = 0;
        for (from, to) in gaps {
            let (from, to) = (from.max(counted), to.min(at_ns));
            taken_ns += to.saturating_sub(from);
            counted = counted.max(to);
        }
        Self { at_ns, taken_ns }
    }
}

impl Run {
    /// Whether it counts where others may take one in so many parts of it.
    #[must_use]
    pub fn counts(&self, disturbed: u64) -> bool {
        self.is_quiet(disturbed) && !self.is_starved()
    }

    /// Whether others took at most one in so many parts of it.
    #[must_use]
    pub const fn is_quiet(&self, disturbed: u64) -> bool {
        self.lost_ns.saturating_mul(disturbed) <= self.span_ns
    }

    /// Whether the sender of a camera sent less than its server could serve at best, or was late for long.
    #[must_use]
    pub fn is_starved(&self) -> bool {
        self.cameras.iter().enumerate().any(|(number, camera)| {
            let is_late = camera.stalled_ns.saturating_mul(STARVED) > self.span_ns;
            is_late || takes_ns(camera.sent) < self.share_ns(number)
        })
    }

    /// How long the mode was raised.
    #[must_use]
    pub fn raised_ns(&self) -> u64 {
        let (mut raised, mut until) = (0, 0);
        for rise in &self.rises {
            let mut returns = self.returns_ns.iter().copied();
            let from = rise.at_ns.max(until);
            until = returns.find(|&at| at >= from).unwrap_or(self.span_ns);
            raised += until.saturating_sub(from);
        }
        raised
    }

    /// What the server of a camera has in all by its share in each mode.
    #[must_use]
    pub fn share_ns(&self, camera: usize) -> u64 {
        let [lo, hi] = self.permille(camera);
        let raised = self.raised_ns();
        let low = self.span_ns.saturating_sub(raised);
        (lo.saturating_mul(low)).saturating_add(hi.saturating_mul(raised)) / 1_000
    }

    fn permille(&self, camera: usize) -> [u64; 2] {
        set::permille(self.place)
            .get(camera)
            .copied()
            .unwrap_or([0; 2])
    }

    /// The most that it may give. A sporadic server gives at most its capacity in any period, and a PIBS no more than its share and one burst; a part of a
    /// run in one mode may begin and end with a budget. And however often the mode changes, in all modes it gives no more than in the one with the largest
    /// share: what a capacity grows by again within a period comes back when it would have.
    fn most_ns(&self, camera: usize) -> u64 {
        let [lo, hi] = self.permille(camera);
        let largest = lo.max(hi);
        let budget = largest.saturating_mul(WINDOW_NS) / 1_000;
        let changes = (self.rises.len() + self.returns_ns.len()) as u64;
        let by_modes = self
            .share_ns(camera)
            .saturating_add(budget.saturating_mul(changes.saturating_add(1)));
        let whole = self.span_ns.saturating_add(WINDOW_NS);
        let always = largest.saturating_mul(whole) / 1_000;
        by_modes.min(always).saturating_add(SLACK_NS)
    }

    /// What servers of cameras did wrong. Too little is said only of a run that counts.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let each = self.cameras.iter().enumerate();
        let each = each.filter_map(|(number, camera)| self.fault(number, camera));
        each.collect()
    }

    fn fault(&self, number: usize, camera: &Camera) -> Option<Fault> {
        let most = self.most_ns(number);
        // What others take while a bottom half has the CPU is charged to it, and missing afterwards; but not any more at the end.
        let most_charged = most.saturating_add(self.lost_ns);
        if takes_ns(camera.served) > most || camera.charged_ns > most_charged {
            return Some(Fault::TooMuch);
        }
        // What came too late is no fault of the server, nor what there was nothing for.
        let largest = self.permille(number).into_iter().max().unwrap_or(0);
        let nothing_to_do = largest.saturating_mul(camera.stalled_ns) / 1_000;
        let given = camera.charged_ns.saturating_add(camera.postponed_ns);
        let given = given.saturating_add(nothing_to_do);
        let is_little = given.saturating_mul(LEAST) < self.share_ns(number);
        (is_little && self.counts(DISTURBED)).then_some(Fault::TooLittle)
    }

    /// How often the mode rose; with lost time taken out, what others took explains none of these rises.
    #[must_use]
    pub fn rises(&self, lost: Lost) -> u64 {
        let rises = self.rises.iter();
        let own = rises.filter(|rise| lost == Lost::Left || !rise.is_explained());
        own.count() as u64
    }

    /// Those that no job of the set raises, and nothing explains.
    #[must_use]
    pub fn wrong_rises(&self) -> u64 {
        let wrong = self.others().filter(|rise| !rise.is_explained());
        wrong.count() as u64
    }

    fn is_near_half_time(&self, rise: Rise) -> bool {
        let half = self.span_ns / 2;
        rise.at_ns.abs_diff(half) <= 2 * WINDOW_NS
    }

    /// All but the first one about half time.
    fn others(&self) -> impl Iterator<Item = Rise> + '_ {
        let mut is_found = false;
        self.rises.iter().copied().filter(move |&rise| {
            let is_it = !is_found && self.is_near_half_time(rise);
            is_found |= is_it;
            !is_it
        })
    }

    /// When the mode rose, in a run in which a job raises it at half time.
    #[must_use]
    pub fn change(&self) -> Change {
        let rises = self.rises.iter().copied();
        let is_there = rises.clone().any(|rise| self.is_near_half_time(rise));
        match (is_there, self.wrong_rises()) {
            (false, _) | (true, 1..) => Change::Wrong,
            (true, 0) if self.rises.len() > 1 => Change::Explained,
            (true, 0) => Change::AtHalfTime,
        }
    }
}

/// What so many events take at least.
const fn takes_ns(events: u64) -> u64 {
    events.saturating_mul(COST_US * 1_000)
}

#[cfg(test)]
mod tests {
    use super::super::made_up::made;
    use super::super::run::{Place, System};
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Of four seconds with 1 %, in mode LO: 40 ms.
    fn run() -> Run {
        made(Place::OneCamera, System::SsOnly, 0)
    }

    fn with(change: impl FnOnce(&mut Camera)) -> Run {
        let mut run = run();
        change(&mut run.cameras[0]);
        run
    }

    const fn rise(at_ns: u64, taken_ns: u64) -> Rise {
        Rise { at_ns, taken_ns }
    }

    #[test]
    fn others_and_a_starved_sender_leave_a_run_out_and_nothing_else_does() {
        assert!(run().counts(DISTURBED));
        let lost = |lost_ns| Run { lost_ns, ..run() };
        assert!(lost(40_000_000).counts(DISTURBED));
        assert!(!lost(40_000_001).counts(DISTURBED));
        assert!(!lost(8_000_001).counts(DISTURBED_VARIANCE));
        assert!(!lost(8_000_001).is_starved());
        // 8000 events of 5 us are what its server has.
        for (sent, is_starved) in [(8_000, false), (7_999, true)] {
            assert_eq!(with(|camera| camera.sent = sent).is_starved(), is_starved);
        }
        for (stalled_ns, is_starved) in [(400_000_000, false), (400_000_001, true)] {
            let late = with(|camera| camera.stalled_ns = stalled_ns);
            assert_eq!(late.is_starved(), is_starved);
        }
    }

    /// The bottom half of a PIBS that gives without bound reads everything that is sent.
    #[test]
    fn a_server_that_gives_more_than_its_share_is_at_fault_whatever_leaves_its_run_out() {
        let all = with(|camera| {
            (camera.served, camera.dropped) = (camera.sent, 0);
        });
        assert_eq!(all.faults(), [Fault::TooMuch]);
        assert!(all.counts(DISTURBED), "it is not left out");
        // A budget of 1 ms in mode LO, 2 in HI; one of these and a millisecond beyond 40 ms.
        for (charged_ns, expected) in [(43_000_000, &[][..]), (43_000_001, &[Fault::TooMuch])] {
            let given = with(|camera| camera.charged_ns = charged_ns);
            assert_eq!(given.faults(), expected, "{charged_ns}");
            let lost_ns = 1;
            assert_eq!(Run { lost_ns, ..given }.faults(), [], "{charged_ns}");
        }
        let disturbed = Run {
            lost_ns: SECOND,
            ..all
        };
        assert!(!disturbed.counts(DISTURBED));
        assert_eq!(disturbed.faults(), [Fault::TooMuch]);
    }

    /// A top half that hangs: nothing is served, all is dropped.
    #[test]
    fn a_server_that_gives_little_while_events_wait_is_at_fault() {
        let hangs = with(|camera| {
            (camera.served, camera.charged_ns, camera.dropped) = (0, 0, camera.sent);
        });
        assert_eq!(hangs.faults(), [Fault::TooLittle]);
        assert!(hangs.counts(DISTURBED), "it is not left out");
        let gives = |charged_ns, postponed_ns, stalled_ns| {
            let run = with(|camera| {
                camera.charged_ns = charged_ns;
                camera.postponed_ns = postponed_ns;
                camera.stalled_ns = stalled_ns;
                camera.served = 0;
            });
            run.faults()
        };
        assert_eq!(gives(20_000_000, 0, 0), []);
        assert_eq!(gives(19_999_999, 0, 0), [Fault::TooLittle]);
        assert_eq!(gives(10_000_000, 10_000_000, 0), [], "a list was full");
        assert_eq!(
            gives(13_000_000, 0, 350_000_000),
            [],
            "nothing came for long"
        );
        assert_eq!(gives(0, 0, 400_000_001), [], "its sender was starved");
    }

    /// Two seconds of four in mode HI: 1 % and 2 %.
    #[test]
    fn a_share_is_that_of_each_mode_while_it_lasts() {
        let returns_ns = vec![3 * SECOND];
        let run = Run {
            rises: vec![rise(SECOND, 0)],
            returns_ns,
            ..run()
        };
        assert_eq!((run.raised_ns(), run.share_ns(0)), (2 * SECOND, 60_000_000));
        assert_eq!(
            run.most_ns(0),
            67_000_000,
            "a budget for each part, and one"
        );
        let until_the_end = Run {
            returns_ns: Vec::new(),
            ..run.clone()
        };
        assert_eq!(until_the_end.share_ns(0), 70_000_000);
        // However often it changes: 2 % of all, and a budget.
        let often = Run {
            rises: (0..30)
                .map(|number| rise(number * SECOND / 10, 0))
                .collect(),
            returns_ns: (0..30)
                .map(|number| number * SECOND / 10 + 5_000_000)
                .collect(),
            ..run
        };
        assert_eq!(often.most_ns(0), 83_000_000);
    }

    #[test]
    fn a_rise_is_explained_by_what_others_took_just_before_it_and_by_no_more() {
        let at = SECOND;
        let taken = |gaps: &[(u64, u64)]| {
            let gaps = gaps
                .iter()
                .map(|&(from, to)| (at + from - 6_000_000, at + to - 6_000_000));
            Rise::after(at, gaps).taken_ns
        };
        assert_eq!(taken(&[(0, 900_000)]), 0, "too long ago");
        assert_eq!(taken(&[(0, 1_030_000)]), 30_000);
        assert_eq!(taken(&[(5_990_000, 7_000_000)]), 10_000, "until then");
        let alike = [(2_000_000, 2_030_000), (2_010_000, 2_040_000)];
        assert_eq!(taken(&alike), 40_000, "two saw the same");
        assert!(rise(at, TOLERANCE_NS).is_explained());
        assert!(!rise(at, TOLERANCE_NS - 1).is_explained());
        let two = Run {
            rises: vec![rise(at, 0), rise(2 * at, TOLERANCE_NS)],
            ..run()
        };
        assert_eq!((two.rises(Lost::Left), two.rises(Lost::TakenOut)), (2, 1));
    }

    #[test]
    fn the_mode_changes_once_and_at_half_time() {
        let half = 2 * SECOND;
        let at_half = rise(half + WINDOW_NS, 0);
        for (rises, expected, wrong) in [
            (vec![at_half], Change::AtHalfTime, 0),
            (vec![rise(half + 3 * WINDOW_NS, 0)], Change::Wrong, 1),
            (vec![rise(WINDOW_NS, TOLERANCE_NS)], Change::Wrong, 0),
            (
                vec![rise(WINDOW_NS, TOLERANCE_NS), at_half],
                Change::Explained,
                0,
            ),
            (vec![rise(WINDOW_NS, 0), at_half], Change::Wrong, 1),
            (
                vec![at_half, rise(half + 2 * WINDOW_NS, 0)],
                Change::Wrong,
                1,
            ),
            (Vec::new(), Change::Wrong, 0),
        ] {
            let run = Run {
                rises: rises.clone(),
                ..made(Place::Change, System::SsPibs, 0)
            };
            assert_eq!(
                (run.change(), run.wrong_rises()),
                (expected, wrong),
                "{rises:?}"
            );
        }
    }
}
