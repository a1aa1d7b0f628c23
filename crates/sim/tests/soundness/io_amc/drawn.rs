//! Sets drawn by the recipe `missimer`, proved and made into a system as a user would: a file, a test, what it found as
//! parameters, a policy.

use super::equations::{Equations, Mistake, Who};
use crate::common::Random;
use std::collections::BTreeMap;
use vestal_analysis::{Outcome, Problem, Test, Verdict};
use vestal_core::{Duration, Service};
use vestal_policy::{Analysis, Given, Options, Registry, Servers, System, assemble, problem};
use vestal_workload::generate::Recipe;
use vestal_workload::model::{ServerKind, TaskSet as Set};
use vestal_workload::{Ratio, Source, TaskSet};

/// Bounds of a server, or of a burst, by the number of the equation.
pub(super) type Bounds = BTreeMap<Who, BTreeMap<u8, u64>>;

/// Which sets are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Sporadic servers and PIBS, in two modes.
    TwoModes,
    /// In one mode.
    OneMode,
    /// In one mode, with sporadic servers in the place of PIBS.
    Servers,
}

impl Kind {
    pub(super) const fn test(self) -> &'static str {
        match self {
            Self::TwoModes => "io-amc-rtb",
            Self::OneMode => "ss-pibs-rta",
            Self::Servers => "ss-rta",
        }
    }
}

/// A set that was drawn, and whether what it is about is proved.
pub(super) struct Proved {
    pub(super) set: TaskSet,
    pub(super) problem: Problem,
    pub(super) system: System,
    pub(super) equations: Equations,
    pub(super) bounds: Bounds,
}

/// One in four sets has the numbers of Table I; the others are small, so that everything in them can come together.
fn drawn(kind: Kind, random: &mut Random) -> Set {
    let mut recipe = Recipe::named("missimer").unwrap();
    let is_large = random.once_in(4);
    let mut parameters: Vec<(&str, String)> = Vec::new();
    if !is_large {
        parameters.push(("tasks", random.between(2, 5).to_string()));
        parameters.push(("io_tasks", random.between(1, 3).to_string()));
    }
    let (low, high) = match kind {
        Kind::TwoModes => (50, 90),
        Kind::OneMode => (70, 97),
        Kind::Servers => (85, 99),
    };
    let utilization = random.between(low, high);
    parameters.push(("utilization", format!("0.{utilization}")));
    let io = random.one_of(&["0.05", "0.1", "0.2", "0.3"]);
    parameters.push(("io_utilization", io.to_owned()));
    let factor = random.one_of(&["1.2", "1.5", "2"]);
    parameters.push(("criticality_factor", factor.to_owned()));
    parameters.push(("events", random.one_of(&["sporadic", "burst"]).to_owned()));
    let map = if random.once_in(4) { "any" } else { "known" };
    parameters.push(("map", map.to_owned()));
    match kind {
        Kind::TwoModes => {}
        Kind::OneMode => parameters.push(("share_high", "0".to_owned())),
        Kind::Servers => {
            parameters.push(("share_high", "0".to_owned()));
            parameters.push(("io", "sporadic".to_owned()));
        }
    }
    for (name, value) in parameters {
        recipe.set(name, &value).unwrap();
    }
    let mut set = recipe.draw(random.next()).unwrap();
    match kind {
        Kind::TwoModes => degrade(&mut set, random),
        Kind::OneMode | Kind::Servers => keep_one_level(&mut set),
    }
    split_events(&mut set, random);
    set
}

/// Some LO servers go on with less in mode HI, and some LO PIBS.
fn degrade(set: &mut Set, random: &mut Random) {
    let part = random.one_of(&[0, 2, 3]);
    for server in &mut set.servers {
        if part == 0 || server.criticality.0 > 0 || !random.once_in(part) {
            continue;
        }
        match &mut server.kind {
            ServerKind::Periodic { capacity, .. } => {
                let low = capacity[0].unwrap().as_nanos();
                let less = random.between(1, low);
                server.degraded[1] = Some(Service::from_nanos(less));
            }
            ServerKind::Pibs { utilization, .. } => {
                let low = utilization[0].unwrap();
                let less = random.between(1, low.numerator());
                utilization[1] = Ratio::new(less, low.denominator());
            }
        }
    }
}

fn keep_one_level(set: &mut Set) {
    set.levels.truncate(1);
    for task in &mut set.tasks {
        task.wcet.truncate(1);
        task.degraded.truncate(1);
        task.accesses.truncate(1);
    }
    for server in &mut set.servers {
        server.degraded.truncate(1);
        match &mut server.kind {
            ServerKind::Periodic { capacity, .. } => capacity.truncate(1),
            ServerKind::Pibs { utilization, .. } => utilization.truncate(1),
        }
    }
}

/// The smaller an event, the more of what a PIBS may execute is executed.
fn split_events(set: &mut Set, random: &mut Random) {
    for device in &mut set.devices {
        let parts = random.one_of(&[1, 1, 5, 40]);
        let cost = (device.cost.as_nanos() / parts).max(1);
        device.cost = Service::from_nanos(cost);
    }
}

/// The next set of this kind, if its test proves it.
pub(super) fn draw(kind: Kind, random: &mut Random) -> Option<Proved> {
    let text = drawn(kind, random).to_toml();
    prove(kind, &text)
}

/// The set of this text, if the test of its kind proves it; what it found is what the policy runs with.
pub(super) fn prove(kind: Kind, text: &str) -> Option<Proved> {
    let source = Source::new("drawn.toml", text);
    let set = TaskSet::from_source(&source).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let registry = Registry::default();
    let test: &Test = registry.test(kind.test()).unwrap();
    let problem = problem(&set, test, &Given::default()).unwrap();
    let outcome = test.analyse(&problem);
    if outcome.verdict != Verdict::Schedulable {
        return None;
    }
    let policy = registry.policy("io-amc").unwrap();
    let by = (policy, &Options::default());
    let found = &outcome.parameters;
    assert!(found.servers.is_some());
    let system = assemble(&registry, by, &set, found, Analysis::Ask).unwrap();
    assert_eq!(system.proved_by(), Some("io-amc-rtb"), "{text}");
    let priorities: Vec<u32> = servers_of(&system)
        .servers
        .iter()
        .map(|one| one.priority)
        .collect();
    assert_eq!(
        order(&outcome, |server| outcome.servers[server].priority),
        order(&outcome, |server| {
            outcome.servers[server]
                .priority
                .and(priorities.get(server).copied())
        })
    );
    let equations = Equations::new(&problem, &priorities);
    let bounds = bounds_of(&outcome, &equations);
    Some(Proved {
        set,
        problem,
        system,
        equations,
        bounds,
    })
}

/// The servers with a period, the most urgent first.
fn order(outcome: &Outcome, priority: impl Fn(usize) -> Option<u32>) -> Vec<usize> {
    let servers = 0..outcome.servers.len();
    let mut order: Vec<usize> = servers
        .filter(|&server| priority(server).is_some())
        .collect();
    order.sort_by_key(|&server| std::cmp::Reverse(priority(server)));
    order
}

pub(super) fn servers_of(system: &System) -> &Servers {
    system.clusters[0].guaranteed_servers().unwrap()
}

/// What the test found.
fn bounds_of(outcome: &Outcome, equations: &Equations) -> Bounds {
    let mut bounds = Bounds::new();
    for (server, found) in outcome.servers.iter().enumerate() {
        for one in &found.equations {
            let who = (server, one.on_behalf_of.map(|host| host.index()));
            let bound = one.bound.map(Duration::as_nanos).unwrap();
            let before = bounds.entry(who).or_default().insert(one.equation, bound);
            assert_eq!(before, None);
        }
    }
    assert_eq!(bounds.len(), equations.subjects().len());
    bounds
}

/// The numbers of the equations of a server or of a burst: in mode 0, in mode 1 and while the mode rises.
pub(super) const fn numbers(kind: Kind, is_burst: bool) -> [u8; 3] {
    match (kind, is_burst) {
        (Kind::TwoModes, false) => [10, 11, 14],
        (Kind::TwoModes, true) => [12, 13, 15],
        (Kind::OneMode | Kind::Servers, false) => [1, 1, 1],
        (Kind::OneMode | Kind::Servers, true) => [2, 2, 2],
    }
}

impl Proved {
    /// The bounds by the twin, with a mistake; `None`: somebody has none.
    pub(super) fn bounds_with(&self, kind: Kind, mistake: Mistake) -> Option<Bounds> {
        let mut bounds = Bounds::new();
        for who in self.equations.subjects() {
            let found = self.equations.bounds(who, mistake);
            let entry = bounds.entry(who).or_default();
            for (number, bound) in numbers(kind, who.1.is_some()).into_iter().zip(found) {
                if let Some(bound) = bound {
                    entry.insert(number, bound?);
                }
            }
        }
        Some(bounds)
    }
}
