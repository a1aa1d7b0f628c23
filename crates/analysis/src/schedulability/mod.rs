//! A room for each schedulability test, or for those of one policy: what it is, how it is computed, its
//! slow twin (`oracle`) and what it looks like when it is wrong (`control`).

pub mod amc_ia;
pub mod amc_max;
pub mod amc_rtb;
pub mod cms;
pub mod dms;
pub mod edf;
pub mod edf_vd;
pub mod ocbp;
pub mod plrs;
pub mod pt;
pub mod rms;
pub mod smc;
pub mod zss;

mod instants;

use crate::test::{Test, test};
use vestal_core::Enforcement;

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
        pt::servers::analyse, Some(pt::servers::accepts)),
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
        plrs::fjp_lb::analyse, Some(plrs::fjp_lb::accepts)),
    test!("fjp-own", None, Sufficient, ADAPTIVE, [JobPriorities],
        "job-priority lists, busy period with every job at its own level's value",
        plrs::fjp_own::analyse, Some(plrs::fjp_own::accepts)),
    test!("fjp-mode", None, Sufficient, ADAPTIVE, [JobPriorities],
        "job-priority lists, busy periods bounded mode by mode",
        plrs::fjp_mode::analyse, Some(plrs::fjp_mode::accepts)),
    test!("fjp-ija", None, Unsafe, ADAPTIVE, [JobPriorities],
        "UNSAFE: the job-arrival pattern of Huang, Gill and Lu, floor where it does, else ceil",
        plrs::fjp_ija::analyse, Some(plrs::fjp_ija::accepts)),
    test!("fjp-ija", Some("ceil"), Unsafe, ADAPTIVE, [JobPriorities],
        "UNSAFE: that pattern with jobs before a mode change rounded up",
        plrs::fjp_ija::analyse_ceil, Some(plrs::fjp_ija::accepts_ceil)),
    test!("fjp-ija", Some("floor"), Unsafe, ADAPTIVE, [JobPriorities],
        "UNSAFE: that pattern with jobs before a mode change rounded down",
        plrs::fjp_ija::analyse_floor, Some(plrs::fjp_ija::accepts_floor)),
    Test { is_for_job_sets: true, ..test!("ocbp", None, Sufficient, None, [Priorities],
        "own-criticality-based priorities for a finite job set",
        ocbp::analyse, None) },
    test!("edf", None, Exact, STATIC, [],
        "earliest deadline first, processor demand at each task's own level",
        edf::analyse, Some(edf::accepts)),
    test!("edf-vd", None, Sufficient, ADAPTIVE, [VirtualDeadlines],
        "virtual deadlines, two levels, D = T: the exact condition on utilisations",
        edf_vd::analyse, Some(edf_vd::accepts)),
    test!("edf-vd-util", None, Sufficient, ADAPTIVE, [VirtualDeadlines],
        "virtual deadlines, two levels, D = T: no utilisation above 3/4",
        edf_vd::util::analyse, Some(edf_vd::util::accepts)),
];
