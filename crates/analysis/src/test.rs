//! What a schedulability test is to those who run it.

use crate::charge::{Charge, Charged, Paid};
use crate::outcome::{Decision, Kind, Outcome, Reason, Verdict};
use crate::overheads::{Charging, Overheads};
use crate::parameters::Parameter;
use crate::problem::Problem;
use crate::scratch::Scratch;
use core::fmt;
use vestal_core::Enforcement;

/// A schedulability test: what it is called, what its answer is worth, and the test itself.
#[derive(Clone, Copy)]
pub struct Test {
    /// The test's name.
    pub name: &'static str,
    /// The variant after the colon, as in `smc:printed`; `None` for the test's default form.
    pub variant: Option<&'static str>,
    /// What its answer is worth where its assumptions hold.
    pub kind: Kind,
    /// The limits on jobs that it assumes: it proves no policy with others. `None`: it is about no limits.
    pub limits: Option<Enforcement>,
    /// What it can be given instead of choosing it.
    pub takes: &'static [Parameter],
    /// Whether it is for finite job sets ([`Problem::of_jobs`]); all others are for tasks.
    pub is_for_job_sets: bool,
    /// Whether it is for several CPUs, too; all others are for one ([`Problem::cpus`]).
    pub is_for_several_cpus: bool,
    /// Whether it is about servers ([`Problem::servers`]); all others are about tasks that are scheduled by
    /// themselves.
    pub is_for_servers: bool,
    /// Whether it is an upper bound on what tests accept, and not meant to prove anything.
    pub is_upper_bound: bool,
    /// Whether it chooses budgets in the place of those that servers have: of these it says nothing, and it is asked by name only.
    pub chooses_budgets: bool,
    /// How it takes overheads into account ([`Problem::overheads`]).
    pub charging: Charging,
    /// One line for lists.
    pub summary: &'static str,
    pub(crate) analyse: fn(&Problem) -> Outcome,
    /// The fast path; `None`: there is none beside `analyse`.
    pub(crate) accepts: Option<fn(&Problem, &mut Scratch) -> bool>,
}

impl Test {
    /// A test that is not part of this crate; [`crate::tests`] and [`crate::find`] do not know it.
    ///
    /// `limits` are those that it assumes, `takes` what it can be given ([`Problem::given`]), `summary` is
    /// a line for lists. Which policies it proves, they say themselves. `analyse` is to keep what its kind says ([`Outcome::decided`] does), and to give a reason exactly if its
    /// condition does not hold. It has no faster path: [`Test::accepts`] calls it and allocates.
    #[must_use]
    pub const fn own(
        name: &'static str,
        kind: Kind,
        limits: Option<Enforcement>,
        takes: &'static [Parameter],
        summary: &'static str,
        analyse: fn(&Problem) -> Outcome,
    ) -> Self {
        Self {
            name,
            variant: None,
            kind,
            limits,
            takes,
            is_for_job_sets: false,
            is_for_several_cpus: false,
            is_for_servers: false,
            is_upper_bound: false,
            chooses_budgets: false,
            charging: Charging::No,
            summary,
            analyse,
            accepts: None,
        }
    }

    /// The same with overheads taken into account in this way; without it not at all.
    ///
    /// [`Charging::Jobs`] is for tests that bound an interval in which the CPU executes jobs that they count, one or more:
    /// [`crate::overheads`] has the argument.
    #[must_use]
    pub const fn charging(mut self, charging: Charging) -> Self {
        self.charging = charging;
        self
    }

    /// The same for problems of several CPUs, too: without it, the answer about those is *not proven*.
    #[must_use]
    pub const fn on_several_cpus(mut self) -> Self {
        self.is_for_several_cpus = true;
        self
    }

    /// The same for problems with servers, and for no others: about those the answer is *not proven*.
    #[must_use]
    pub const fn for_servers(mut self) -> Self {
        self.is_for_servers = true;
        self
    }

    /// The same as an upper bound on what tests accept: it was never meant as a proof.
    #[must_use]
    pub const fn as_upper_bound(mut self) -> Self {
        self.is_upper_bound = true;
        self
    }

    /// The same for budgets that it chooses itself, whatever servers have.
    #[must_use]
    pub const fn choosing_budgets(mut self) -> Self {
        self.chooses_budgets = true;
        self
    }

    /// The full answer, with response times and reason. With overheads response times are those with overheads, a reason is
    /// [`Reason::WithOverheads`], and no test is exact.
    #[must_use]
    pub fn analyse(&self, problem: &Problem) -> Outcome {
        if let Some(why) = self.outside(problem) {
            let count = problem.tasks().len() + problem.jobs().len();
            return Outcome::outside(self.kind, why, count);
        }
        let Some(overheads) = problem.overheads() else {
            return (self.analyse)(problem);
        };
        let mut outcome = match self.charge(problem, overheads) {
            Some(charge) => (self.analyse)(&charge.problem(problem)),
            None => (self.analyse)(problem),
        };
        outcome.why = outcome
            .why
            .map(|why| Reason::WithOverheads { why: Box::new(why) });
        match outcome.kind {
            Kind::Exact => {
                outcome.kind = Kind::Sufficient;
                outcome.verdict = outcome.kind.verdict(outcome.why.is_none());
            }
            // More is charged than may be needed: what is refused may be schedulable.
            Kind::Necessary => outcome.verdict = Verdict::NotProven,
            Kind::Sufficient | Kind::Unsafe => {}
        }
        outcome
    }

    /// What it is asked about instead of the problem itself; `None`: it does it itself.
    fn charge(&self, problem: &Problem, overheads: &Overheads) -> Option<Charge> {
        let paid = match self.charging {
            Charging::No | Charging::Slices | Charging::Itself => return None,
            Charging::Jobs | Charging::JobsAndMonitor => Paid::Jobs,
            Charging::Instants => Paid::Instants,
        };
        let levels = problem.levels().count();
        Some(match problem.jobs().len() {
            0 => {
                let rows = problem.rows().iter();
                let tasks = rows.map(|row| Charged::whole(problem, row, levels - 1));
                Charge::new(overheads, tasks, levels, paid)
            }
            jobs => Charge::of_jobs(overheads, jobs, levels),
        })
    }

    /// Which overheads it cannot take into account.
    fn cannot_take(&self, overheads: &Overheads) -> Option<Reason> {
        let what = match self.charging {
            Charging::No => "overheads",
            // Budgets of servers would have to pay for them.
            _ if self.is_for_servers && self.charging != Charging::Itself => "overheads",
            Charging::Jobs | Charging::Instants | Charging::Slices
                if overheads.has_scheduled_monitor() =>
            {
                "a monitor that is scheduled among the tasks"
            }
            Charging::Jobs
            | Charging::JobsAndMonitor
            | Charging::Instants
            | Charging::Slices
            | Charging::Itself => return None,
        };
        Some(Reason::OverheadsNotTaken { what })
    }

    /// Why it does not speak of such a problem at all.
    fn outside(&self, problem: &Problem) -> Option<Reason> {
        let (is_job_set, cpus) = (!problem.jobs().is_empty(), problem.cpus());
        match (is_job_set, self.is_for_job_sets) {
            (true, false) => return Some(Reason::JobSet),
            (false, true) => return Some(Reason::NotJobSet),
            (true, true) | (false, false) => {}
        }
        // It would speak of all tasks on a single one.
        if cpus > 1 && !self.is_for_several_cpus {
            return Some(Reason::SeveralCpus { cpus });
        }
        if let Some(why) = problem.overheads().and_then(|them| self.cannot_take(them)) {
            return Some(why);
        }
        // Servers delay tasks beyond what a test of tasks alone knows of.
        match (problem.servers().is_empty(), self.is_for_servers) {
            (false, false) => Some(Reason::HasServers),
            (true, true) => Some(Reason::NoServers),
            (true, false) | (false, true) => None,
        }
    }

    /// Whether it is written so: `name` or `name:variant`.
    #[must_use]
    pub fn is_called(&self, text: &str) -> bool {
        match self.variant {
            None => text == self.name,
            Some(variant) => text.split_once(':') == Some((self.name, variant)),
        }
    }

    /// Whether the test's condition holds: for a sound test, whether [`Test::analyse`] says
    /// schedulable; for an unsafe one, what its paper claims. The fast path: once `scratch` has
    /// grown to the size of the problem, nothing is allocated (except where sums of utilisations
    /// are compared that differ by less than about 2^-55, and where there are overheads).
    #[must_use]
    pub fn accepts(&self, problem: &Problem, scratch: &mut Scratch) -> bool {
        let Some(accepts) = self.accepts else {
            return self.analyse(problem).why.is_none();
        };
        if self.outside(problem).is_some() {
            return false;
        }
        let overheads = problem.overheads();
        match overheads.and_then(|overheads| self.charge(problem, overheads)) {
            Some(charge) => accepts(&charge.problem(problem), scratch),
            None => accepts(problem, scratch),
        }
    }

    /// Whether the test's condition holds, or that is not decided: one question for whoever asks many sets. The fast path
    /// of [`Test::accepts`], and [`Test::analyse`] only where a search reached its limit or there is no such path.
    ///
    /// A set that the full answer leaves undecided, for what it looks at beyond the first task that fails, may be refused here.
    #[must_use]
    pub fn decides(&self, problem: &Problem, scratch: &mut Scratch) -> Decision {
        if self.accepts.is_some() {
            scratch.begin();
            if self.accepts(problem, scratch) {
                return Decision::Holds;
            }
            if !scratch.is_undecided() {
                return Decision::Fails;
            }
        }
        match self.analyse(problem).why {
            None => Decision::Holds,
            Some(why) if why.is_undecided() => Decision::Undecided,
            Some(_) => Decision::Fails,
        }
    }

    /// Whether an acceptance means something.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match self.kind {
            Kind::Exact | Kind::Sufficient => true,
            Kind::Necessary | Kind::Unsafe => false,
        }
    }

    /// Whether it was published as a proof and is none.
    #[must_use]
    pub const fn is_refuted(&self) -> bool {
        matches!(self.kind, Kind::Unsafe) && !self.is_upper_bound
    }
}

/// The test as the command line writes it: `smc` or `smc:printed`.
impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.variant {
            Some(variant) => write!(f, "{}:{variant}", self.name),
            None => f.write_str(self.name),
        }
    }
}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Test({self})")
    }
}

/// A row: name and variant, what its answer is worth, the limits that it assumes, what it can be given and how it takes
/// overheads into account.
macro_rules! test {
    ($name:literal, $variant:expr, $kind:ident, $limits:expr, [$($takes:ident),*], $charging:ident, $summary:literal, $analyse:expr, $accepts:expr) => {
        $crate::Test {
            name: $name,
            variant: $variant,
            kind: $crate::Kind::$kind,
            limits: $limits,
            takes: &[$($crate::Parameter::$takes),*],
            is_for_job_sets: false,
            is_for_several_cpus: false,
            is_for_servers: false,
            is_upper_bound: false,
            chooses_budgets: false,
            charging: $crate::Charging::$charging,
            summary: $summary,
            analyse: $analyse,
            accepts: $accepts,
        }
    };
}
pub(crate) use test;
