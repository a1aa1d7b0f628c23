//! Every schedulability test by its name.

use crate::fixed_priority::Scratch;
use crate::outcome::{Kind, Outcome, Reason};
use crate::problem::Problem;
use crate::schedulability::{
    amc_ia, amc_max, amc_rtb, cms, dms, edf, edf_vd, edf_vd_util, fjp_ija, fjp_lb, fjp_mode,
    fjp_own, ocbp, pt, pt_servers, rms, smc, zss,
};
use core::fmt;

/// A schedulability test: what it is called, what its answer is worth, and the test itself.
#[derive(Clone, Copy)]
pub struct Test {
    /// The test's name.
    pub name: &'static str,
    /// The variant after the colon, as in `smc:printed`; `None` for the test's default form.
    pub variant: Option<&'static str>,
    /// What its answer is worth where its assumptions hold.
    pub kind: Kind,
    /// The name of the policy it speaks of.
    pub policy: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    pub(crate) analyse: fn(&Problem) -> Outcome,
    /// The fast path; `None`: there is none beside `analyse`.
    pub(crate) accepts: Option<fn(&Problem, &mut Scratch) -> bool>,
}

impl Test {
    /// A test that is not part of this crate; [`tests`] and [`find`] do not know it.
    ///
    /// `policy` is the name of the policy it speaks of, `summary` a line for lists. `analyse` is to
    /// keep what its kind says ([`Outcome::decided`] does), and to give a reason exactly if its
    /// condition does not hold. It has no faster path: [`Test::accepts`] calls it and allocates.
    #[must_use]
    pub const fn own(
        name: &'static str,
        kind: Kind,
        policy: &'static str,
        summary: &'static str,
        analyse: fn(&Problem) -> Outcome,
    ) -> Self {
        Self {
            name,
            variant: None,
            kind,
            policy,
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

const TESTS: &[Test] = &[
    Test {
        name: "rms",
        variant: None,
        kind: Kind::Exact,
        policy: "rms",
        summary: "rate-monotonic priorities, jobs run to completion",
        analyse: rms::analyse,
        accepts: Some(rms::accepts),
    },
    Test {
        name: "dms",
        variant: None,
        kind: Kind::Exact,
        policy: "dms",
        summary: "deadline-monotonic priorities, jobs run to completion",
        analyse: dms::analyse,
        accepts: Some(dms::accepts),
    },
    Test {
        name: "cms",
        variant: None,
        kind: Kind::Exact,
        policy: "cms",
        summary: "criticality-monotonic priorities, jobs run to completion",
        analyse: cms::analyse,
        accepts: Some(cms::accepts),
    },
    Test {
        name: "smc",
        variant: None,
        kind: Kind::Exact,
        policy: "smc",
        summary: "static enforcement at each task's own level, Audsley's priorities",
        analyse: smc::analyse,
        accepts: Some(smc::accepts),
    },
    Test {
        name: "smc",
        variant: Some("printed"),
        kind: Kind::Sufficient,
        policy: "smc",
        summary: "smc as printed by Huang, Gill and Lu: every job charged at its own level",
        analyse: smc::analyse_printed,
        accepts: Some(smc::accepts_printed),
    },
    Test {
        name: "pt",
        variant: None,
        kind: Kind::Sufficient,
        policy: "pt",
        summary: "period transformation: jobs in slices, rate-monotonic over slice periods",
        analyse: pt::analyse,
        accepts: Some(pt::accepts),
    },
    Test {
        name: "pt",
        variant: Some("printed"),
        kind: Kind::Unsafe,
        policy: "pt",
        summary: "pt as printed by Huang, Gill and Lu: the response time of the first slice",
        analyse: pt::analyse_printed,
        accepts: Some(pt::accepts_printed),
    },
    Test {
        name: "pt",
        variant: Some("servers"),
        kind: Kind::Sufficient,
        policy: "pt",
        summary: "period transformation by deferrable servers on a fixed grid",
        analyse: pt_servers::analyse,
        accepts: Some(pt_servers::accepts),
    },
    Test {
        name: "amc-rtb",
        variant: None,
        kind: Kind::Sufficient,
        policy: "amc",
        summary: "adaptive enforcement, response-time bound, Audsley's priorities",
        analyse: amc_rtb::analyse,
        accepts: Some(amc_rtb::accepts),
    },
    Test {
        name: "amc-max",
        variant: None,
        kind: Kind::Sufficient,
        policy: "amc",
        summary: "adaptive enforcement, the worst instants of mode changes, Audsley's priorities",
        analyse: amc_max::analyse,
        accepts: Some(amc_max::accepts),
    },
    Test {
        name: "zss",
        variant: None,
        kind: Kind::Sufficient,
        policy: "zss",
        summary: "zero-slack instants for sporadic tasks, rate-monotonic priorities",
        analyse: zss::analyse,
        accepts: Some(zss::accepts),
    },
    Test {
        name: "zss",
        variant: Some("form"),
        kind: Kind::Sufficient,
        policy: "zss",
        summary: "zss with a job of every task under way in every run: each task by itself",
        analyse: zss::analyse_sporadic_form,
        accepts: Some(zss::accepts_sporadic_form),
    },
    Test {
        name: "zss",
        variant: Some("tightened"),
        kind: Kind::Sufficient,
        policy: "zss",
        summary: "zss that counts work done before a more critical task's own instant once",
        analyse: zss::analyse_tightened,
        accepts: Some(zss::accepts_tightened),
    },
    Test {
        name: "zss",
        variant: Some("harmonic"),
        kind: Kind::Unsafe,
        policy: "zss",
        summary: "zss without jobs under way, for periodic tasks in phase only; refuted otherwise",
        analyse: zss::analyse_harmonic,
        accepts: Some(zss::accepts_harmonic),
    },
    Test {
        name: "amc-ia",
        variant: None,
        kind: Kind::Unsafe,
        policy: "amc",
        summary: "adaptive enforcement, jobs counted by deadlines; refuted",
        analyse: amc_ia::analyse,
        accepts: Some(amc_ia::accepts),
    },
    Test {
        name: "amc-ia",
        variant: Some("full"),
        kind: Kind::Unsafe,
        policy: "amc",
        summary: "amc-ia over every instant of a mode change; refuted",
        analyse: amc_ia::analyse_full,
        accepts: Some(amc_ia::accepts_full),
    },
    Test {
        name: "fjp-lb",
        variant: None,
        kind: Kind::Sufficient,
        policy: "plrs",
        summary: "job-priority lists, busy period bounded in closed form",
        analyse: fjp_lb::analyse,
        accepts: Some(fjp_lb::accepts),
    },
    Test {
        name: "fjp-own",
        variant: None,
        kind: Kind::Sufficient,
        policy: "plrs",
        summary: "job-priority lists, busy period with every job at its own level's value",
        analyse: fjp_own::analyse,
        accepts: Some(fjp_own::accepts),
    },
    Test {
        name: "fjp-mode",
        variant: None,
        kind: Kind::Sufficient,
        policy: "plrs",
        summary: "job-priority lists, busy periods bounded mode by mode",
        analyse: fjp_mode::analyse,
        accepts: Some(fjp_mode::accepts),
    },
    Test {
        name: "fjp-ija",
        variant: None,
        kind: Kind::Unsafe,
        policy: "plrs",
        summary: "UNSAFE: the job-arrival pattern of Huang, Gill and Lu, floor where it does, else ceil",
        analyse: fjp_ija::analyse,
        accepts: Some(fjp_ija::accepts),
    },
    Test {
        name: "fjp-ija",
        variant: Some("ceil"),
        kind: Kind::Unsafe,
        policy: "plrs",
        summary: "UNSAFE: that pattern with jobs before a mode change rounded up",
        analyse: fjp_ija::analyse_ceil,
        accepts: Some(fjp_ija::accepts_ceil),
    },
    Test {
        name: "fjp-ija",
        variant: Some("floor"),
        kind: Kind::Unsafe,
        policy: "plrs",
        summary: "UNSAFE: that pattern with jobs before a mode change rounded down",
        analyse: fjp_ija::analyse_floor,
        accepts: Some(fjp_ija::accepts_floor),
    },
    Test {
        name: "ocbp",
        variant: None,
        kind: Kind::Sufficient,
        policy: "ocbp",
        summary: "own-criticality-based priorities for a finite job set",
        analyse: ocbp::analyse,
        accepts: None,
    },
    Test {
        name: "edf",
        variant: None,
        kind: Kind::Exact,
        policy: "edf",
        summary: "earliest deadline first, processor demand at each task's own level",
        analyse: edf::analyse,
        accepts: Some(edf::accepts),
    },
    Test {
        name: "edf-vd",
        variant: None,
        kind: Kind::Sufficient,
        policy: "edf-vd",
        summary: "virtual deadlines, two levels, D = T: the exact condition on utilisations",
        analyse: edf_vd::analyse,
        accepts: Some(edf_vd::accepts),
    },
    Test {
        name: "edf-vd-util",
        variant: None,
        kind: Kind::Sufficient,
        policy: "edf-vd",
        summary: "virtual deadlines, two levels, D = T: no utilisation above 3/4",
        analyse: edf_vd_util::analyse,
        accepts: Some(edf_vd_util::accepts),
    },
];
