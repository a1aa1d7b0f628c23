//! Every schedulability test by its name.

use crate::outcome::{Kind, Outcome, Reason};
use crate::parameters::Parameter;
use crate::problem::Problem;
use crate::schedulability::{
    amc_ia, amc_max, amc_rtb, cms, dms, edf, edf_vd, edf_vd_util, fjp_ija, fjp_lb, fjp_mode,
    fjp_own, ocbp, pt, pt_servers, rms, smc, zss,
};
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
    /// One line for lists.
    pub summary: &'static str,
    pub(crate) analyse: fn(&Problem) -> Outcome,
    /// The fast path; `None`: there is none beside `analyse`.
    pub(crate) accepts: Option<fn(&Problem, &mut Scratch) -> bool>,
}

impl Test {
    /// A test that is not part of this crate; [`tests`] and [`find`] do not know it.
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
            summary,
            analyse,
            accepts: None,
        }
    }

    /// The full answer, with response times and reason.
    #[must_use]
    pub fn analyse(&self, problem: &Problem) -> Outcome {
        let is_job_set = !problem.jobs().is_empty();
        match (is_job_set, self.is_for_job_sets()) {
            (true, false) => Outcome::outside(self.kind, Reason::JobSet, problem.jobs().len()),
            (false, true) => Outcome::outside(self.kind, Reason::NotJobSet, problem.tasks().len()),
            (true, true) | (false, false) => (self.analyse)(problem),
        }
    }

    /// Whether the test is for finite job sets ([`Problem::of_jobs`]); all others are for tasks.
    #[must_use]
    pub fn is_for_job_sets(&self) -> bool {
        self.name == "ocbp"
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
    /// are compared that differ by less than about 2^-55).
    #[must_use]
    pub fn accepts(&self, problem: &Problem, scratch: &mut Scratch) -> bool {
        match self.accepts {
            Some(accepts) => problem.jobs().is_empty() && accepts(problem, scratch),
            None => self.analyse(problem).why.is_none(),
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

/// All tests, in the order in which lists show them.
#[must_use]
pub fn tests() -> &'static [Test] {
    TESTS
}

/// The test of this name and variant; `None` as variant is the default form.
#[must_use]
pub fn find(name: &str, variant: Option<&str>) -> Option<&'static Test> {
    TESTS
        .iter()
        .find(|test| test.name == name && test.variant == variant)
}

/// A row: name and variant, what its answer is worth, the limits that it assumes and what it can be given.
macro_rules! test {
    ($name:literal, $variant:expr, $kind:ident, $limits:expr, [$($takes:ident)?], $summary:literal, $analyse:expr, $accepts:expr) => {
        $crate::registry::Test {
            name: $name,
            variant: $variant,
            kind: $crate::Kind::$kind,
            limits: $limits,
            takes: &[$($crate::Parameter::$takes)?],
            summary: $summary,
            analyse: $analyse,
            accepts: $accepts,
        }
    };
}
#[cfg(feature = "controls")]
pub(crate) use test;

const STATIC: Option<Enforcement> = Some(Enforcement::Static);
const SLICES: Option<Enforcement> = Some(Enforcement::Slices);
pub(crate) const ADAPTIVE: Option<Enforcement> = Some(Enforcement::Adaptive);
pub(crate) const ZERO_SLACK: Option<Enforcement> = Some(Enforcement::ZeroSlack);

#[rustfmt::skip]
const TESTS: &[Test] = &[
    test!("rms", None, Exact, STATIC, [],
        "rate-monotonic priorities, jobs run to completion",
        rms::analyse, Some(rms::accepts)),
    test!("dms", None, Exact, STATIC, [],
        "deadline-monotonic priorities, jobs run to completion",
        dms::analyse, Some(dms::accepts)),
    test!("cms", None, Exact, STATIC, [],
        "criticality-monotonic priorities, jobs run to completion",
        cms::analyse, Some(cms::accepts)),
    test!("smc", None, Exact, STATIC, [Priorities],
        "static enforcement at each task's own level, Audsley's priorities",
        smc::analyse, Some(smc::accepts)),
    test!("smc", Some("printed"), Sufficient, STATIC, [Priorities],
        "smc as printed by Huang, Gill and Lu: every job charged at its own level",
        smc::analyse_printed, Some(smc::accepts_printed)),
    test!("pt", None, Sufficient, SLICES, [Slices],
        "period transformation: jobs in slices, rate-monotonic over slice periods",
        pt::analyse, Some(pt::accepts)),
    test!("pt", Some("printed"), Unsafe, SLICES, [Slices],
        "pt as printed by Huang, Gill and Lu: the response time of the first slice",
        pt::analyse_printed, Some(pt::accepts_printed)),
    test!("pt", Some("servers"), Sufficient, STATIC, [Slices],
        "period transformation by deferrable servers on a fixed grid",
        pt_servers::analyse, Some(pt_servers::accepts)),
    test!("amc-rtb", None, Sufficient, ADAPTIVE, [Priorities],
        "adaptive enforcement, response-time bound, Audsley's priorities",
        amc_rtb::analyse, Some(amc_rtb::accepts)),
    test!("amc-max", None, Sufficient, ADAPTIVE, [Priorities],
        "adaptive enforcement, the worst instants of mode changes, Audsley's priorities",
        amc_max::analyse, Some(amc_max::accepts)),
    test!("zss", None, Sufficient, ZERO_SLACK, [ZeroSlack],
        "zero-slack instants for sporadic tasks, rate-monotonic priorities",
        zss::analyse, Some(zss::accepts)),
    test!("zss", Some("form"), Sufficient, ZERO_SLACK, [ZeroSlack],
        "zss with a job of every task under way in every run: each task by itself",
        zss::analyse_sporadic_form, Some(zss::accepts_sporadic_form)),
    test!("zss", Some("tightened"), Sufficient, ZERO_SLACK, [ZeroSlack],
        "zss that counts work done before a more critical task's own instant once",
        zss::analyse_tightened, Some(zss::accepts_tightened)),
    test!("zss", Some("harmonic"), Unsafe, ZERO_SLACK, [ZeroSlack],
        "zss without jobs under way, for periodic tasks in phase only; refuted otherwise",
        zss::analyse_harmonic, Some(zss::accepts_harmonic)),
    test!("amc-ia", None, Unsafe, ADAPTIVE, [Priorities],
        "adaptive enforcement, jobs counted by deadlines; refuted",
        amc_ia::analyse, Some(amc_ia::accepts)),
    test!("amc-ia", Some("full"), Unsafe, ADAPTIVE, [Priorities],
        "amc-ia over every instant of a mode change; refuted",
        amc_ia::analyse_full, Some(amc_ia::accepts_full)),
    test!("fjp-lb", None, Sufficient, ADAPTIVE, [JobPriorities],
        "job-priority lists, busy period bounded in closed form",
        fjp_lb::analyse, Some(fjp_lb::accepts)),
    test!("fjp-own", None, Sufficient, ADAPTIVE, [JobPriorities],
        "job-priority lists, busy period with every job at its own level's value",
        fjp_own::analyse, Some(fjp_own::accepts)),
    test!("fjp-mode", None, Sufficient, ADAPTIVE, [JobPriorities],
        "job-priority lists, busy periods bounded mode by mode",
        fjp_mode::analyse, Some(fjp_mode::accepts)),
    test!("fjp-ija", None, Unsafe, ADAPTIVE, [JobPriorities],
        "UNSAFE: the job-arrival pattern of Huang, Gill and Lu, floor where it does, else ceil",
        fjp_ija::analyse, Some(fjp_ija::accepts)),
    test!("fjp-ija", Some("ceil"), Unsafe, ADAPTIVE, [JobPriorities],
        "UNSAFE: that pattern with jobs before a mode change rounded up",
        fjp_ija::analyse_ceil, Some(fjp_ija::accepts_ceil)),
    test!("fjp-ija", Some("floor"), Unsafe, ADAPTIVE, [JobPriorities],
        "UNSAFE: that pattern with jobs before a mode change rounded down",
        fjp_ija::analyse_floor, Some(fjp_ija::accepts_floor)),
    test!("ocbp", None, Sufficient, None, [Priorities],
        "own-criticality-based priorities for a finite job set",
        ocbp::analyse, None),
    test!("edf", None, Exact, STATIC, [],
        "earliest deadline first, processor demand at each task's own level",
        edf::analyse, Some(edf::accepts)),
    test!("edf-vd", None, Sufficient, ADAPTIVE, [VirtualDeadlines],
        "virtual deadlines, two levels, D = T: the exact condition on utilisations",
        edf_vd::analyse, Some(edf_vd::accepts)),
    test!("edf-vd-util", None, Sufficient, ADAPTIVE, [VirtualDeadlines],
        "virtual deadlines, two levels, D = T: no utilisation above 3/4",
        edf_vd_util::analyse, Some(edf_vd_util::accepts)),
];
