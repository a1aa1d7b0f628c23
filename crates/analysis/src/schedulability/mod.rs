//! A room for each schedulability test, or for those of one policy: what it is, how it is computed, its
//! slow twin (`oracle`) and what it looks like when it is wrong (`control`).

pub mod amc_ia;
pub mod amc_max;
pub mod amc_rtb;
pub mod classic;
pub mod edf;
pub mod edf_vd;
pub mod ftts;
pub mod hsf;
pub mod io_amc;
pub mod levels;
pub mod ocbp;
pub mod pedf_vd;
pub mod plrs;
pub mod pt;
pub mod smc;
pub mod zss;

mod instants;

use crate::bounds::Charge;
use crate::outcome::Kind;
use crate::reason::PlacementRule;
use crate::test::{Test, test};
use amc_ia::Range;
use io_amc::{Form, Hosts, Scope};
use pedf_vd::Order;
use plrs::pattern::{Rounding, Rule};
use pt::Bounded;
use vestal_core::Enforcement;
use vestal_core::order::ClassicOrder;
use zss::slack::proof::Ways;
use zss::slack::{HARMONIC, SPORADIC};

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
    test!("rms", None, Exact, STATIC, [], Jobs,
        "rate-monotonic priorities, jobs run to completion",
        |problem| classic::analyse(problem, ClassicOrder::RateMonotonic),
        Some(|problem, scratch| classic::accepts(problem, ClassicOrder::RateMonotonic, scratch))),
    test!("dms", None, Exact, STATIC, [], Jobs,
        "deadline-monotonic priorities, jobs run to completion",
        |problem| classic::analyse(problem, ClassicOrder::DeadlineMonotonic),
        Some(|problem, scratch| classic::accepts(problem, ClassicOrder::DeadlineMonotonic, scratch))),
    test!("cms", None, Exact, STATIC, [], Jobs,
        "criticality-monotonic priorities, jobs run to completion",
        |problem| classic::analyse(problem, ClassicOrder::CriticalityMonotonic),
        Some(|problem, scratch| classic::accepts(problem, ClassicOrder::CriticalityMonotonic, scratch))),
    test!("smc", None, Exact, STATIC, [Priorities], Jobs,
        "static enforcement at each task's own level, Audsley's priorities",
        |problem| smc::analyse(problem, Kind::Exact, Charge::Enforced),
        Some(|problem, scratch| smc::accepts(problem, Charge::Enforced, scratch))),
    test!("smc", Some("printed"), Sufficient, STATIC, [Priorities], Jobs,
        "smc as printed by Huang, Gill and Lu: every job charged at its own level",
        |problem| smc::analyse(problem, Kind::Sufficient, Charge::Own),
        Some(|problem, scratch| smc::accepts(problem, Charge::Own, scratch))),
    test!("pt", None, Sufficient, SLICES, [Slices], Slices,
        "period transformation: jobs in slices, rate-monotonic over slice periods",
        |problem| pt::analyse(problem, Kind::Sufficient, Bounded::Job), Some(pt::accepts)),
    test!("pt", Some("printed"), Unsafe, SLICES, [Slices], No,
        "pt as printed by Huang, Gill and Lu: the response time of the first slice",
        |problem| pt::analyse(problem, Kind::Unsafe, Bounded::FirstSlice), Some(pt::accepts_printed)),
    test!("pt", Some("servers"), Sufficient, STATIC, [Slices], No,
        "period transformation by deferrable servers on a fixed grid",
        pt::servers::analyse, Some(pt::servers::accepts)),
    test!("amc-rtb", None, Sufficient, ADAPTIVE, [Priorities], Jobs,
        "adaptive enforcement, response-time bound, Audsley's priorities",
        amc_rtb::analyse, Some(amc_rtb::accepts)),
    test!("amc-ub", None, Necessary, ADAPTIVE, [Priorities], Jobs,
        "what every test for adaptive enforcement asks for: each mode by itself",
        amc_rtb::steady::analyse, Some(amc_rtb::steady::accepts)).as_upper_bound(),
    test!("amc-rtb", Some("servers"), Sufficient, None, [Servers], No,
        "amc-rtb of sporadic servers whose capacities change with the mode, without PIBS",
        |problem| io_amc::analyse(problem, form(Kind::Sufficient, Hosts::Known, Scope::ServersRising)), None).for_servers(),
    test!("amc-ub", Some("servers"), Necessary, None, [Servers], No,
        "what amc-rtb:servers asks for in each mode by itself",
        |problem| io_amc::analyse(problem, form(Kind::Necessary, Hosts::Known, Scope::ServersSteady)), None).for_servers().as_upper_bound(),
    test!("amc-max", None, Sufficient, ADAPTIVE, [Priorities], Jobs,
        "adaptive enforcement, the worst instants of mode changes, Audsley's priorities",
        amc_max::analyse, Some(amc_max::accepts)),
    test!("zss", None, Sufficient, ZERO_SLACK, [ZeroSlack], Instants,
        "zero-slack instants for sporadic tasks, rate-monotonic priorities",
        |problem| zss::analyse_levels(problem, Ways::Plain),
        Some(|problem, scratch| zss::accepts_levels(problem, Ways::Plain, scratch))),
    test!("zss", Some("form"), Sufficient, ZERO_SLACK, [ZeroSlack], Instants,
        "zss with a job of every task under way in every run: each task by itself",
        |problem| zss::analyse_form(problem, Kind::Sufficient, SPORADIC),
        Some(|problem, scratch| zss::accepts_form(problem, SPORADIC, scratch))),
    test!("zss", Some("tightened"), Sufficient, ZERO_SLACK, [ZeroSlack], Instants,
        "zss that counts work done before a more critical task's own instant once",
        |problem| zss::analyse_levels(problem, Ways::Tightened),
        Some(|problem, scratch| zss::accepts_levels(problem, Ways::Tightened, scratch))),
    test!("zss", Some("harmonic"), Unsafe, ZERO_SLACK, [ZeroSlack], Instants,
        "zss without jobs under way, for periodic tasks in phase only; refuted otherwise",
        |problem| zss::analyse_form(problem, Kind::Unsafe, HARMONIC),
        Some(|problem, scratch| zss::accepts_form(problem, HARMONIC, scratch))),
    test!("amc-ia", None, Unsafe, ADAPTIVE, [Priorities], Jobs,
        "adaptive enforcement, jobs counted by deadlines; refuted",
        |problem| amc_ia::analyse(problem, Range::Deadlines),
        Some(|problem, scratch| amc_ia::accepts(problem, Range::Deadlines, scratch))),
    test!("amc-ia", Some("full"), Unsafe, ADAPTIVE, [Priorities], Jobs,
        "amc-ia over every instant of a mode change; refuted",
        |problem| amc_ia::analyse(problem, Range::Full),
        Some(|problem, scratch| amc_ia::accepts(problem, Range::Full, scratch))),
    test!("fjp-lb", None, Sufficient, ADAPTIVE, [JobPriorities], Jobs,
        "job-priority lists, busy period bounded in closed form",
        |problem| plrs::analyse(problem, Rule::ClosedForm),
        Some(|problem, scratch| plrs::accepts(problem, Rule::ClosedForm, scratch))),
    test!("fjp-own", None, Sufficient, ADAPTIVE, [JobPriorities], Jobs,
        "job-priority lists, busy period with every job at its own level's value",
        |problem| plrs::analyse(problem, Rule::Own),
        Some(|problem, scratch| plrs::accepts(problem, Rule::Own, scratch))),
    test!("fjp-mode", None, Sufficient, ADAPTIVE, [JobPriorities], Jobs,
        "job-priority lists, busy periods bounded mode by mode",
        |problem| plrs::analyse(problem, Rule::Mode),
        Some(|problem, scratch| plrs::accepts(problem, Rule::Mode, scratch))),
    test!("fjp-ija", None, Unsafe, ADAPTIVE, [JobPriorities], Jobs,
        "UNSAFE: the job-arrival pattern of Huang, Gill and Lu, floor where it does, else ceil",
        plrs::fjp_ija::analyse_printed, None),
    test!("fjp-ija", Some("ceil"), Unsafe, ADAPTIVE, [JobPriorities], Jobs,
        "UNSAFE: that pattern with jobs before a mode change rounded up",
        |problem| plrs::analyse(problem, Rule::Ija(Rounding::Ceil)), None),
    test!("fjp-ija", Some("floor"), Unsafe, ADAPTIVE, [JobPriorities], Jobs,
        "UNSAFE: that pattern with jobs before a mode change rounded down",
        |problem| plrs::analyse(problem, Rule::Ija(Rounding::Floor)), None),
    Test { is_for_job_sets: true, ..test!("ocbp", None, Sufficient, None, [Priorities], Jobs,
        "own-criticality-based priorities for a finite job set",
        ocbp::analyse, None) },
    test!("edf", None, Exact, STATIC, [], Jobs,
        "earliest deadline first, processor demand at each task's own level",
        edf::analyse, Some(edf::accepts)),
    test!("edf-vd", None, Sufficient, ADAPTIVE, [VirtualDeadlines], JobsAndMonitor,
        "virtual deadlines, two levels, D = T: the exact condition on utilisations",
        edf_vd::analyse, Some(edf_vd::accepts)),
    test!("edf-vd-util", None, Sufficient, ADAPTIVE, [VirtualDeadlines], JobsAndMonitor,
        "virtual deadlines, two levels, D = T: no utilisation above 3/4",
        edf_vd::util::analyse, Some(edf_vd::util::accepts)),
    test!("pedf-vd", None, Sufficient, ADAPTIVE, [Partition, VirtualDeadlines], Itself,
        "edf-vd on several CPUs: first-fit in file order, no utilisation of a CPU above 3/4",
        |problem| pedf_vd::analyse(problem, Order::File, PlacementRule::ThreeQuarters), None).on_several_cpus(),
    test!("pedf-vd", Some("decreasing"), Sufficient, ADAPTIVE, [Partition, VirtualDeadlines], Itself,
        "pedf-vd that places tasks of larger utilisations first",
        |problem| pedf_vd::analyse(problem, Order::Decreasing, PlacementRule::ThreeQuarters), None).on_several_cpus(),
    test!("pedf-vd", Some("edf-vd"), Sufficient, ADAPTIVE, [Partition, VirtualDeadlines], Itself,
        "pedf-vd that fills a CPU as long as the condition of edf-vd holds there",
        |problem| pedf_vd::analyse(problem, Order::File, PlacementRule::EdfVd), None).on_several_cpus(),
    test!("ftts", None, Sufficient, None, [Partition, Frames, Barriers], Itself,
        "frame tables on several CPUs for periodic tasks: a place for each job, by simulated annealing",
        ftts::analyse, None).on_several_cpus(),
    test!("mc2", None, Sufficient, None, [Partition, Tables, Tardiness], No,
        "MC² on several CPUs: tables and deadlines on each, and how late global deadlines below are at most",
        |problem| levels::analyse(problem, levels::Order::Deadlines), None).on_several_cpus(),
    test!("mc2", Some("rms"), Sufficient, None, [Partition, Tables, Tardiness], No,
        "mc2 with level B by rates",
        |problem| levels::analyse(problem, levels::Order::Rates), None).on_several_cpus(),
    test!("hsf", None, Sufficient, None, [Servers], No,
        "polling, idling periodic and deferrable servers by fixed priorities, tasks inside by what those supply",
        |problem| hsf::analyse(problem, hsf::Form::Supply, hsf::Budgets::Given), None).for_servers(),
    test!("hsf", Some("davis-burns"), Sufficient, None, [Servers], No,
        "hsf that knows, for fixed priorities inside a server, which servers are more urgent",
        |problem| hsf::analyse(problem, hsf::Form::Full, hsf::Budgets::Given), None).for_servers(),
    test!("hsf", Some("least-budgets"), Sufficient, None, [], No,
        "hsf with the least capacities that are enough for the tasks of each server, which it chooses",
        |problem| hsf::analyse(problem, hsf::Form::Supply, hsf::Budgets::Least), None).for_servers().choosing_budgets(),
    test!("ss-rta", None, Sufficient, None, [Servers], No,
        "sporadic servers by fixed priorities, in one mode",
        |problem| io_amc::analyse(problem, form(Kind::Sufficient, Hosts::Known, Scope::Servers)), None).for_servers(),
    test!("ss-pibs-rta", None, Sufficient, None, [Servers], No,
        "sporadic servers and PIBS by fixed priorities, in one mode",
        |problem| io_amc::analyse(problem, form(Kind::Sufficient, Hosts::Known, Scope::OneMode)), None).for_servers(),
    test!("ss-pibs-rta", Some("any"), Sufficient, None, [Servers], No,
        "ss-pibs-rta where a PIBS may serve any server, whatever it says",
        |problem| io_amc::analyse(problem, form(Kind::Sufficient, Hosts::Any, Scope::OneMode)), None).for_servers(),
    test!("io-amc-rtb", None, Sufficient, None, [Servers], No,
        "sporadic servers and PIBS whose budgets change with the mode, response-time bound",
        |problem| io_amc::analyse(problem, form(Kind::Sufficient, Hosts::Known, Scope::Rising)), None).for_servers(),
    test!("io-amc-rtb", Some("any"), Sufficient, None, [Servers], No,
        "io-amc-rtb where a PIBS may serve any server, whatever it says",
        |problem| io_amc::analyse(problem, form(Kind::Sufficient, Hosts::Any, Scope::Rising)), None).for_servers(),
    test!("io-amc-ub", None, Unsafe, None, [Servers], No,
        "io-amc-rtb without the change of the mode: an upper bound on what any analysis accepts",
        |problem| io_amc::analyse(problem, form(Kind::Unsafe, Hosts::Known, Scope::Steady)), None).for_servers().as_upper_bound(),
    test!("io-amc-ub", Some("any"), Unsafe, None, [Servers], No,
        "io-amc-ub where a PIBS may serve any server, whatever it says",
        |problem| io_amc::analyse(problem, form(Kind::Unsafe, Hosts::Any, Scope::Steady)), None).for_servers().as_upper_bound(),
];

/// One of the tests of sporadic servers and PIBS.
const fn form(kind: Kind, hosts: Hosts, scope: Scope) -> Form {
    Form { kind, hosts, scope }
}
