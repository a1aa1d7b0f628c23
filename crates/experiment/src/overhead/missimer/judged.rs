//! Which runs count, and what in a run is our own fault.
//!
//! What leaves a run out has nothing to do with what a system did: others took much of the CPU, or a sender was starved. What a system did wrong is never left
//! out. All numbers here were fixed before anything was measured with them.

use super::run::{Camera, JUST_BEFORE_NS, Rise, Run, TOLERANCE_NS, WINDOW_NS, Window};
use super::set::{self, COST_US};
use super::spans::{self, Span};

/// Others may take one in so many parts of a run: as much as a period of the applications in one of eight seconds. What is lost below that is in the range of
/// what is looked at ([`super::range`]).
pub const DISTURBED: u64 = 100;
/// The same where that is no good: of a camera with 1 % of the CPU it is as much, and of what a job may exceed its budget by it is as much in any
/// [`JUST_BEFORE_NS`], so that every rise would be explained. With this less than a fifth is, of either.
pub const DISTURBED_VARIANCE: u64 = 500;
/// A sender may be late for one in so many parts of a run.
pub const STARVED: u64 = 10;
/// A server gives at least one in so many parts of what it has while events wait: a PIBS that waits each time until application 1 has had 41 ms of 100 gives
/// seven tenths.
pub const LEAST: u64 = 2;
/// In each third of a run it gives at least one in so many parts, by its events alone: reading them takes more than they do.
pub const LEAST_OF_THIRD: u64 = 2 * LEAST;
/// What is enforced late at the end of a run, once; ours.
const SLACK_NS: u64 = 1_000_000;
/// No job that begins in the second half raises the mode so soon: it has had less than C(LO) by then.
const SOON_NS: u64 = 20_000_000;

/// What a server of a camera must not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It gave more than its share, by what it was charged or by what its events take at least.
    TooMuch,
    /// It gave less than one in [`LEAST`] parts of it while events waited, or in a third of the run less than one in [`LEAST_OF_THIRD`].
    TooLittle,
}

/// When the mode rose in a run in which a job raises it at half time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Then, and not else.
    AtHalfTime,
    /// Else as well, and what others took just before may be why, each time.
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

    /// Of what others took, what lies just before a rise while the job had the CPU that raised the mode; both in merged parts.
    #[must_use]
    pub fn after(at_ns: u64, gaps: &[Span], had: &[Span]) -> Self {
        let taken = spans::common(gaps, had);
        let since = at_ns.saturating_sub(JUST_BEFORE_NS);
        Self {
            at_ns,
            taken_ns: spans::within(&taken, since, at_ns),
        }
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

    /// Whether the sender of a camera sent less than its server could serve at best, in whichever mode it has more, or was late for long.
    #[must_use]
    pub fn is_starved(&self) -> bool {
        self.cameras.iter().enumerate().any(|(number, camera)| {
            let is_late = camera.stalled_ns.saturating_mul(STARVED) > self.span_ns;
            is_late || !self.is_fed(number, camera)
        })
    }

    /// Whether it was sent what its server could serve at best.
    fn is_fed(&self, number: usize, camera: &Camera) -> bool {
        takes_ns(camera.sent) >= of_permille(self.largest(number), self.span_ns)
    }

    /// When the mode was raised.
    fn raised(&self) -> Vec<Span> {
        let mut until = 0;
        let each = self.rises.iter().map(|rise| {
            let mut returns = self.returns_ns.iter().copied();
            let from = rise.at_ns.max(until);
            until = returns.find(|&at| at >= from).unwrap_or(self.span_ns);
            (from, until)
        });
        spans::merged(each.collect())
    }

    /// How long the mode was raised.
    #[must_use]
    pub fn raised_ns(&self) -> u64 {
        spans::within(&self.raised(), 0, self.span_ns)
    }

    /// What the server of a camera has in all by its share in each mode.
    #[must_use]
    pub fn share_ns(&self, camera: usize) -> u64 {
        self.share_between(camera, 0, self.span_ns)
    }

    /// The same from one instant to another.
    fn share_between(&self, camera: usize, from: u64, to: u64) -> u64 {
        let [lo, hi] = self.permille(camera);
        let raised = spans::within(&self.raised(), from, to);
        let low = to.saturating_sub(from).saturating_sub(raised);
        of_permille(lo, low).saturating_add(of_permille(hi, raised))
    }

    fn permille(&self, camera: usize) -> [u64; 2] {
        set::permille(self.place)
            .get(camera)
            .copied()
            .unwrap_or([0; 2])
    }

    /// In the mode in which it has more.
    fn largest(&self, camera: usize) -> u64 {
        self.permille(camera).into_iter().max().unwrap_or(0)
    }

    /// The most that it may give. A sporadic server gives at most its capacity in any period, and a PIBS no more than its share and one burst. In a period, and in
    /// the next one, it may give what it has in the mode that gives it more, of those that there were; and a run may begin and end with a budget.
    fn most_ns(&self, camera: usize) -> u64 {
        let [lo, hi] = self.permille(camera);
        let raised = self.raised();
        let (mut sum, mut largest) = (0_u64, 0);
        for period in 0..self.span_ns.div_ceil(WINDOW_NS) {
            let from = period * WINDOW_NS;
            let to = from.saturating_add(WINDOW_NS).min(self.span_ns);
            let since = from.saturating_sub(WINDOW_NS);
            let high = spans::within(&raised, since, to);
            let of_high = if high > 0 { hi } else { 0 };
            let of_low = if high < to - since { lo } else { 0 };
            let most = of_high.max(of_low);
            largest = largest.max(most);
            sum = sum.saturating_add(of_permille(most, to - from));
        }
        sum.saturating_add(of_permille(largest, WINDOW_NS))
            .saturating_add(SLACK_NS)
    }

    /// What others take while a bottom half has the CPU is charged to it, and missing afterwards, as its budgets come; but at the end not all of it yet.
    fn unpaid_ns(&self, number: usize, camera: &Camera) -> u64 {
        let least = self.permille(number).into_iter().min().unwrap_or(0);
        let (mut taken, mut most) = (0_u64, 0);
        for &(from, to) in camera.taken.iter().rev() {
            taken = taken.saturating_add(to.saturating_sub(from));
            let paid = of_permille(least, self.span_ns.saturating_sub(from));
            most = most.max(taken.saturating_sub(paid));
        }
        most
    }

    /// What servers of cameras did wrong. Too little is said only of a run of which others took little.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let each = self.cameras.iter().enumerate();
        let each = each.filter_map(|(number, camera)| self.fault(number, camera));
        each.collect()
    }

    fn fault(&self, number: usize, camera: &Camera) -> Option<Fault> {
        let most = self.most_ns(number);
        let most_charged = most.saturating_add(self.unpaid_ns(number, camera));
        if takes_ns(camera.served) > most || camera.charged_ns > most_charged {
            return Some(Fault::TooMuch);
        }
        let is_little = self.gives_little(number, camera) || self.hangs(number, camera);
        (is_little && self.is_quiet(DISTURBED)).then_some(Fault::TooLittle)
    }

    /// What was sent too late is no fault of the server, nor what there was nothing for.
    fn nothing_to_do_ns(&self, number: usize, camera: &Camera) -> u64 {
        of_permille(self.largest(number), camera.stalled_ns)
    }

    fn gives_little(&self, number: usize, camera: &Camera) -> bool {
        let share = self.share_ns(number);
        let possible = share.min(takes_ns(camera.sent));
        // A full list counts the same budget again and again, however little late it is. Half of what is asked for has to have been given all the same.
        let postponed = camera.postponed_ns.min(share / (2 * LEAST));
        let given = camera.charged_ns.saturating_add(postponed);
        let given = given.saturating_add(self.nothing_to_do_ns(number, camera));
        given.saturating_mul(LEAST) < possible
    }

    /// Whether it gave next to nothing in a third of the run, by the looks that lie in it.
    fn hangs(&self, number: usize, camera: &Camera) -> bool {
        let windows = self.windows(camera);
        let idle = self.nothing_to_do_ns(number, camera);
        let thirds = [0, 1, 2].map(|third| [third, third + 1].map(|at| self.span_ns / 3 * at));
        self.is_fed(number, camera)
            && thirds.into_iter().any(|[from, to]| {
                let inside = |window: &&Window| from <= window.from_ns && window.to_ns <= to;
                let inside: Vec<&Window> = windows.iter().filter(inside).collect();
                let (Some(first), Some(last)) = (inside.first(), inside.last()) else {
                    return false;
                };
                let (from, to) = (first.from_ns, last.to_ns);
                let served = inside.iter().map(|window| window.served);
                let given = takes_ns(served.fold(0, u64::saturating_add))
                    .saturating_add(spans::within(&camera.taken, from, to))
                    .saturating_add(idle);
                given.saturating_mul(LEAST_OF_THIRD) < self.share_between(number, from, to)
            })
    }

    /// How often the mode rose at least but for what others took, and how often it rose.
    #[must_use]
    pub fn rises(&self) -> [u64; 2] {
        let own = self.rises.iter().filter(|rise| !rise.is_explained());
        [own.count() as u64, self.rises.len() as u64]
    }

    /// Those that no job of the set raises, and nothing explains.
    #[must_use]
    pub fn wrong_rises(&self) -> u64 {
        let wrong = self.others().filter(|rise| !rise.is_explained());
        wrong.count() as u64
    }

    fn is_at_half_time(&self, rise: Rise) -> bool {
        let half = self.span_ns / 2;
        (half + SOON_NS..=half + 2 * WINDOW_NS).contains(&rise.at_ns)
    }

    /// All but the first one at half time.
    fn others(&self) -> impl Iterator<Item = Rise> + '_ {
        let mut is_found = false;
        self.rises.iter().copied().filter(move |&rise| {
            let is_it = !is_found && self.is_at_half_time(rise);
            is_found |= is_it;
            !is_it
        })
    }

    /// When the mode rose, in a run in which a job raises it at half time.
    #[must_use]
    pub fn change(&self) -> Change {
        let rises = self.rises.iter().copied();
        let is_there = rises.clone().any(|rise| self.is_at_half_time(rise));
        match (is_there, self.wrong_rises()) {
            (false, _) | (true, 1..) => Change::Wrong,
            (true, 0) if self.rises.len() > 1 => Change::Explained,
            (true, 0) => Change::AtHalfTime,
        }
    }

    /// Whether others took nothing of a camera's bottom half in a window, nor in a period before it, so that all that was served there was due to its server.
    #[must_use]
    pub fn is_untouched(&self, camera: &Camera, window: &Window) -> bool {
        let since = window.from_ns.saturating_sub(WINDOW_NS);
        self.known_from_ns <= since && spans::within(&camera.taken, since, window.to_ns) == 0
    }
}

/// What so many events take at least.
const fn takes_ns(events: u64) -> u64 {
    events.saturating_mul(COST_US * 1_000)
}

const fn of_permille(permille: u64, nanos: u64) -> u64 {
    permille.saturating_mul(nanos) / 1_000
}

#[cfg(test)]
#[path = "judged_tests.rs"]
mod tests;
