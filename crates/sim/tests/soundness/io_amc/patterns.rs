//! When jobs come and what they execute, when devices interrupt, and when somebody asks for the mode: pure functions of a
//! seed.

use super::drawn::{Kind, Proved, servers_of};
use super::watch::{Log, Watched};
use crate::common::Random;
use vestal_core::{
    DeviceId, Hierarchy, Instant, Level, ServerConfiguration, ServerKind, Service, Task, TaskId,
};
use vestal_experiment::outside;
use vestal_policy::Precision;
use vestal_sim::guarantee::{Guarantee, Judge};
use vestal_sim::outside::Wait;
use vestal_sim::{Amid, Backlog, Demand, Events, Outside, Releases, Setting, simulate_amid};
use vestal_testkit::random::mix;
use vestal_testkit::short::{at, ns};
use vestal_workload::scenario::ScenarioSpec;
use vestal_workload::{Scenario, Workload};

/// When jobs come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Come {
    /// As the scenario says.
    ByScenario,
    /// As early as they may, from an offset on.
    AsEarlyAsMay,
    /// Some of them late.
    SomeLate,
}

/// When devices interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interrupts {
    /// As the scenario says, from an instant on.
    ByScenario,
    /// More than can be served, at any time.
    Floods,
}

/// One run of a set.
pub(super) struct Pattern<'a> {
    workload: Workload,
    tasks: &'a [Task],
    /// How many tasks of it are in the file.
    own: usize,
    /// By task, when the first job comes.
    offsets: Vec<u64>,
    come: Come,
    interrupts: Interrupts,
    /// What happens at devices is so much later.
    shift: u64,
    /// Some jobs execute less, or more than anybody guarantees anything for.
    is_mixed: bool,
    requests: Option<u64>,
    /// What a LO server has in a raised mode, by task.
    less: Vec<u64>,
    longest: u64,
    seed: u64,
}

const SCENARIOS: [&str; 7] = [
    "lo",
    "hi",
    "lo+adversarial",
    "hi+adversarial",
    "hi+adversarial",
    "overrun=0.3",
    "overrun=0.3+adversarial",
];

impl<'a> Pattern<'a> {
    pub(super) fn draw(proved: &Proved, tasks: &'a [Task], random: &mut Random) -> Self {
        let own = proved.set.tasks.len();
        let seed = random.next();
        let ScenarioSpec::Named(scenario) = Scenario::parse(random.one_of(&SCENARIOS)).unwrap()
        else {
            panic!("a name");
        };
        let longest = tasks[..own]
            .iter()
            .map(|task| task.period.as_nanos())
            .max()
            .unwrap();
        let homes = servers_of(&proved.system)
            .served
            .iter()
            .map(|task| task.server.index());
        let less = homes.map(|home| {
            let mut seats = proved.equations.seats.iter();
            seats
                .find(|seat| seat.server == home)
                .map_or(0, |seat| seat.capacity[1])
        });
        let mut new = Self {
            workload: Workload::new(&proved.set, &tasks[..own], scenario, seed),
            tasks,
            own,
            offsets: vec![0; own],
            come: random.one_of(&[
                Come::ByScenario,
                Come::AsEarlyAsMay,
                Come::AsEarlyAsMay,
                Come::SomeLate,
            ]),
            interrupts: random.one_of(&[
                Interrupts::ByScenario,
                Interrupts::ByScenario,
                Interrupts::Floods,
            ]),
            shift: 0,
            is_mixed: random.once_in(2),
            requests: random.once_in(4).then_some(longest),
            less: less.collect(),
            longest,
            seed,
        };
        match random.below(3) {
            // All together.
            0 => {}
            1 => {
                for (offset, task) in new.offsets.iter_mut().zip(tasks) {
                    *offset = random.below(task.period.as_nanos());
                }
            }
            _ => new.begin_in_mode_1(random),
        }
        new
    }

    /// A HI task raises the mode, and all others come together while its job goes on.
    fn begin_in_mode_1(&mut self, random: &mut Random) {
        let own = &self.tasks[..self.own];
        let high = (0..own.len()).filter(|&task| own[task].criticality > Level(0));
        let high: Vec<usize> = high.collect();
        if high.is_empty() {
            return;
        }
        let first = random.one_of(&high);
        let [low, above] = [0, 1].map(|level| own[first].wcet.at(Level(level)).as_nanos());
        let start = random.between(low, above.max(low));
        for (task, offset) in self.offsets.iter_mut().enumerate() {
            *offset = if task == first { 0 } else { start };
        }
        self.shift = start;
    }

    fn hash(&self, what: u64, who: u16, number: u64) -> u64 {
        mix(self.seed ^ mix(number ^ mix(u64::from(who) ^ mix(what))))
    }

    fn end(&self) -> u64 {
        self.shift + 3 * self.longest
    }
}

impl Releases for Pattern<'_> {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        let offset = *self.offsets.get(task.index())?;
        let Some(previous) = previous else {
            return Some(at(offset));
        };
        let period = self.tasks[task.index()].period;
        let late = self.hash(1, task.0, sequence);
        match self.come {
            // Periodic jobs come at multiples of the period, whenever the first one did.
            Come::ByScenario => {
                let by_scenario = self.workload.next_release(task, sequence, previous)?;
                Some(by_scenario.max(previous.checked_add(period)?))
            }
            Come::SomeLate if late.is_multiple_of(4) => previous
                .checked_add(period)?
                .checked_add(vestal_core::Duration::from_nanos(late % period.as_nanos())),
            Come::AsEarlyAsMay | Come::SomeLate => previous.checked_add(period),
        }
    }
}

impl Demand for Pattern<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        let by_scenario = self.workload.execution(task, sequence);
        let Some(known) = self.tasks[..self.own].get(task.index()) else {
            return by_scenario;
        };
        let own = known.own_wcet().as_nanos();
        let any = self.hash(2, task.0, sequence);
        let less = self.less[task.index()];
        match any % 12 {
            _ if !self.is_mixed => by_scenario,
            0 => ns(1 + (any >> 8) % own),
            1 => ns(own + 1 + (any >> 8) % own),
            2..=5 if known.criticality == Level(0) && less > 0 => ns(less),
            _ => by_scenario,
        }
    }
}

impl Events for Pattern<'_> {
    fn interrupt(
        &self,
        device: DeviceId,
        index: u64,
        previous: Option<Instant>,
    ) -> Option<(Instant, u64)> {
        match self.interrupts {
            Interrupts::ByScenario => {
                let previous = previous.map(|previous| at(previous.as_nanos() - self.shift));
                let (when, count) = self.workload.interrupt(device, index, previous)?;
                Some((at(when.as_nanos() + self.shift), count))
            }
            Interrupts::Floods => {
                let any = self.hash(3, device.0, index);
                let gap = any % (self.longest / 4);
                let previous = previous.map_or(0, Instant::as_nanos);
                Some((at(previous + 1 + gap), 1 + (any >> 40) % 12))
            }
        }
    }

    fn mode_request(&self, index: u64) -> Option<(Instant, Level)> {
        let period = self.requests?;
        let when = self.shift + index * period + self.hash(4, 0, index) % period;
        Some((at(when), Level(1)))
    }
}

/// What is not as it was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// In mode HI a LO PIBS serves servers that have nothing there.
    ServesDropped,
}

/// Whose jobs wait: of servers that a PIBS serves, for its events.
fn block(outside: &mut Outside, proved: &Proved, random: &mut Random) {
    let homes: Vec<usize> = {
        let served = servers_of(&proved.system).served.iter();
        served.map(|task| task.server.index()).collect()
    };
    for (number, device) in (0..).map(DeviceId).zip(&proved.problem.devices().to_vec()) {
        let serves = &proved.problem.servers()[device.server.index()].serves;
        for (task, home) in homes.iter().enumerate().take(proved.set.tasks.len()) {
            let is_served = serves.iter().any(|host| host.index() == *home);
            if !is_served || !outside.waits[task].is_empty() || !random.once_in(4) {
                continue;
            }
            let own = proved.problem.tasks()[task].own_wcet().as_nanos();
            outside.waits[task].push(Wait {
                after: ns(random.between(0, own)),
                device: number,
                events: random.between(1, 3),
            });
        }
    }
}

/// What was seen, and how many jobs missed that were guaranteed not to.
pub(super) struct Seen {
    pub(super) log: Log,
    pub(super) bursts: Vec<super::watch::Burst>,
    pub(super) missed: u64,
    pub(super) end: u64,
}

/// One run of a set under `io-amc`.
pub(super) fn run(kind: Kind, proved: &Proved, fault: Fault, random: &mut Random) -> Seen {
    let cluster = &proved.system.clusters[0];
    let entries = cluster.configuration.tasks().iter();
    let tasks: Vec<Task> = entries.map(|entry| entry.task).collect();
    let pattern = Pattern::draw(proved, &tasks, random);
    let mut around = outside(&proved.set, &pattern.workload, cluster).unwrap();
    if kind != Kind::Servers && random.once_in(3) {
        block(&mut around, proved, random);
    }
    simulate(proved, fault, (&pattern, &around), &tasks)
}

fn simulate(
    proved: &Proved,
    fault: Fault,
    (pattern, around): (&Pattern<'_>, &Outside),
    tasks: &[Task],
) -> Seen {
    let servers = servers_of(&proved.system);
    let guarantee = Guarantee::of_servers(&servers.with(Precision::EXACT));
    let is_pibs = |one: &ServerConfiguration| matches!(one.kind, ServerKind::Pibs { .. });
    let mut changed = servers.clone();
    match fault {
        Fault::None => {}
        Fault::ServesDropped => {
            for one in changed.servers.iter_mut().filter(|one| is_pibs(one)) {
                one.criticality = Level(1);
            }
        }
    }
    let pibs = (0..servers.servers.len()).filter(|&one| is_pibs(&servers.servers[one]));
    let engine = Hierarchy::new(&changed.with(Precision::EXACT)).unwrap();
    let mut watched = Watched::new(engine, pibs.collect());
    let mut missed = 0;
    let judge = Judge::new(guarantee, |_, _, guaranteed| {
        missed += u64::from(guaranteed)
    });
    let mut observer = (Log::default(), judge);
    let setting = Setting {
        tasks,
        cpus: 1,
        end: at(pattern.end()),
        backlog: Backlog::UNLIMITED,
    };
    let amid = Amid {
        outside: Some((around, pattern)),
        costs: None,
    };
    simulate_amid(
        &mut watched,
        &setting,
        amid,
        pattern,
        pattern,
        &mut observer,
    )
    .unwrap();
    let (log, _) = observer;
    Seen {
        log,
        bursts: watched.finish(),
        missed,
        end: pattern.end(),
    }
}
