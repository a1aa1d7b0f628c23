//! Sets of sporadic servers and PIBS that `io-amc-rtb` accepts, with jobs that wait for devices and floods of events: no burst of a
//! PIBS takes longer than its bound by equations 12, 13 and 15, no stretch of a job longer than that of its server, so that who is
//! woken early enough is in time ([`Guarantee::within`]).
//!
//! A judge that does not hear of something, or has a wrong bound, must find fault with such runs, and a scheduler that does
//! not do what was proved must be found at fault.

mod set;

use crate::common::Random;
use set::{Set, draw};
use std::collections::BTreeMap;
use vestal_analysis::{Outcome, Verdict as Answer, find};
use vestal_core::{
    ByLevel, CpuId, DeviceConfiguration, DeviceId, DropReason, Duration, Hierarchy,
    HierarchyConfiguration, Instant, JobId, Level, LevelSet, Modes, ServedTask,
    ServerConfiguration, ServerId, ServerKind, Service, Task, TaskId, Utilization, Wcet,
};
use vestal_sim::guarantee::{BurstCounts, Ending, Excuse, Guarantee, Verdict};
use vestal_sim::outside::{Device, Events};
use vestal_sim::workload::{ListedDemand, ListedReleases};
use vestal_sim::{Amid, Backlog, JobState, Observer, Outside, Segment, Setting, simulate_amid};
use vestal_testkit::random::mix;
use vestal_testkit::short::{at, ns, span};

const SETS: u64 = 20_000;
const RUNS: u64 = 4;
const END: u64 = 500;

/// What is not as it was proved, or not heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The scheduler has the servers of the set in the opposite order.
    Order,
    /// It gives the first PIBS twice its share.
    Share,
    /// The judge does not hear that jobs wait.
    Waits,
    /// It takes each wait for over at once.
    Wakes,
    /// It forgets what bursts have executed.
    Bursts,
    /// It does not hear of changes of mode.
    Modes,
    /// That a server's list was too short.
    Lists,
    /// It takes every bound for 1 ns less.
    Bounds,
    /// It takes those of servers, not of PIBS, for half of them.
    Stretches,
}

/// Floods of each device.
struct Floods(Vec<Vec<(Instant, u64)>>);

impl Events for Floods {
    fn interrupt(&self, of: DeviceId, index: u64, _: Option<Instant>) -> Option<(Instant, u64)> {
        self.0[of.index()].get(index as usize).copied()
    }
    fn mode_request(&self, index: u64) -> Option<(Instant, Level)> {
        let _ = index;
        None
    }
}

#[derive(Clone, Debug, Default)]
struct Seen {
    sets: u64,
    accepted: u64,
    runs: u64,
    rises: u64,
    /// Jobs that were in time after a wait, and that was guaranteed.
    woken_in_time: u64,
    late: BTreeMap<Excuse, u64>,
    /// Jobs that were late, and guaranteed not to be.
    broken: u64,
    bursts: BurstCounts,
}

impl Seen {
    fn add(&mut self, more: Self) {
        self.runs += more.runs;
        self.rises += more.rises;
        self.woken_in_time += more.woken_in_time;
        self.broken += more.broken;
        for (why, count) in more.late {
            *self.late.entry(why).or_default() += count;
        }
        let (all, new) = (&mut self.bursts, more.bursts);
        all.kept += new.kept;
        all.broken += new.broken;
        all.of_others += new.of_others;
        all.cut += new.cut;
        all.uncalled += new.uncalled;
    }

    const fn is_at_fault(&self) -> bool {
        self.broken + self.bursts.broken + self.bursts.uncalled > 0
    }
}

/// Tells the judge, but for what the fault is.
struct Hears {
    judge: Guarantee,
    fault: Fault,
    /// How many tasks are no bottom halves.
    own: usize,
    waited: Vec<Option<u64>>,
    seen: Seen,
}

impl Hears {
    fn judge(&mut self, job: &JobState, at: Instant, ending: Ending) {
        match self.judge.judge(job, at, ending) {
            Some(Verdict::Missed { guaranteed: true }) => {
                if self.seen.broken == 0 {
                    println!("at {at:?} {job:?}");
                }
                self.seen.broken += 1;
            }
            Some(Verdict::Missed { guaranteed: false }) => {
                let why = self.judge.excuse(job).unwrap();
                *self.seen.late.entry(why).or_default() += 1;
            }
            Some(Verdict::Met) => {
                let waited = self.waited[job.id.task.index()] == Some(job.id.sequence);
                let was_guaranteed = waited && self.judge.excuse(job).is_none();
                self.seen.woken_in_time += u64::from(was_guaranteed);
            }
            Some(Verdict::Dropped) | None => {}
        }
    }
}

impl Observer for Hears {
    fn released(&mut self, at: Instant, job: &JobState) {
        self.judge.released(at, job);
    }
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let is_burst = job.id.task.index() >= self.own;
        if !(is_burst && self.fault == Fault::Bursts) {
            self.judge.executed(segment, job);
        }
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.judge.completed(at, job);
        self.judge(job, at, Ending::Completed);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        self.judge.dropped(at, job, why);
        self.judge(job, at, Ending::Dropped(why));
    }
    fn blocked(&mut self, at: Instant, cpu: CpuId, job: &JobState, device: DeviceId) {
        self.waited[job.id.task.index()] = Some(job.id.sequence);
        if self.fault != Fault::Waits {
            self.judge.blocked(at, cpu, job, device);
        }
        if self.fault == Fault::Wakes {
            self.judge.woken(at, job);
        }
    }
    fn woken(&mut self, at: Instant, job: &JobState) {
        if !matches!(self.fault, Fault::Waits | Fault::Wakes) {
            self.judge.woken(at, job);
        }
    }
    fn interrupted(&mut self, at: Instant, device: DeviceId, count: u64, dropped: u64) {
        self.judge.interrupted(at, device, count, dropped);
    }
    fn served(&mut self, at: Instant, device: DeviceId, job: &JobState) {
        self.judge.served(at, device, job);
    }
    fn postponed(&mut self, at: Instant, server: ServerId, amount: Service) {
        if self.fault != Fault::Lists {
            self.judge.postponed(at, server, amount);
        }
    }
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, cause: Option<JobId>) {
        self.seen.rises += u64::from(to > from);
        if self.fault != Fault::Modes {
            self.judge.mode_changed(at, from, to, cause);
        }
    }
    fn unfinished(&mut self, end: Instant, job: &JobState) {
        self.judge(job, end, Ending::Unfinished);
    }
    fn finished(&mut self, end: Instant) {
        self.judge.finished(end);
    }
}

/// A set with what was proved of it, and deadlines between its bounds and its periods.
struct Proved {
    set: Set,
    tasks: Vec<ServedTask>,
    devices: Vec<DeviceConfiguration>,
    bounds: Vec<Vec<Option<Duration>>>,
}

impl Proved {
    fn new(set: Set, outcome: &Outcome, random: &mut Random) -> Self {
        let entry = |task, server: usize, on_behalf_of| ServedTask {
            task,
            server: ServerId(server as u16),
            priority: 1,
            on_behalf_of,
        };
        let own = set.tasks().into_iter().enumerate().map(|(place, task)| {
            let found = &outcome.servers[place].responses;
            let least = found[task.criticality.index()].unwrap().as_nanos();
            let deadline = span(random.between(least, task.period.as_nanos()));
            entry(Task { deadline, ..task }, place, None)
        });
        let own: Vec<_> = own.collect();
        let half = Task::new(Level(1), span(1), span(1), Wcet::constant(ns(1))).unwrap();
        let halves = set.pibs.iter().zip(own.len()..);
        let halves = halves.map(|(pibs, place)| entry(half, place, Some(ServerId(pibs.hosts[0]))));
        let halves: Vec<_> = halves.collect();
        let devices = (own.len()..)
            .zip(&halves)
            .map(|(place, _)| DeviceConfiguration {
                bottom_half: TaskId(place as u16),
            });
        Self {
            devices: devices.collect(),
            tasks: own.into_iter().chain(halves).collect(),
            bounds: outcome
                .servers
                .iter()
                .map(|found| found.responses.clone())
                .collect(),
            set,
        }
    }

    fn with<T>(
        &self,
        servers: &[ServerConfiguration],
        what: impl FnOnce(&HierarchyConfiguration<'_>) -> T,
    ) -> T {
        what(&HierarchyConfiguration {
            servers,
            tasks: &self.tasks,
            devices: &self.devices,
            levels: LevelSet::new(2).unwrap(),
            modes: Modes::Adaptive { pibs_raise: false },
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        })
    }

    fn engine(&self, fault: Fault) -> Hierarchy {
        let mut servers = self.set.servers();
        let own = self.set.own.len();
        match fault {
            Fault::Order => {
                for server in &mut servers[..own] {
                    server.priority = own as u32 + 1 - server.priority;
                }
            }
            Fault::Share => {
                let twice = |(n, d): (u64, u64)| Utilization::new((2 * n).min(d), d).unwrap();
                let shares = self.set.pibs[0].shares.map(twice);
                servers[own].kind = ServerKind::Pibs {
                    utilization: ByLevel::new(&shares).unwrap(),
                };
            }
            Fault::None
            | Fault::Waits
            | Fault::Wakes
            | Fault::Bursts
            | Fault::Modes
            | Fault::Lists
            | Fault::Bounds
            | Fault::Stretches => {}
        }
        self.with(&servers, |configuration| {
            Hierarchy::new(configuration).unwrap()
        })
    }

    fn guarantee(&self, fault: Fault) -> Guarantee {
        let own = self.set.own.len();
        let shorter = |place: usize, bound: Duration| match fault {
            Fault::Bounds => span(bound.as_nanos() - 1),
            Fault::Stretches if place < own => span(bound.as_nanos() / 2),
            Fault::None
            | Fault::Order
            | Fault::Share
            | Fault::Waits
            | Fault::Wakes
            | Fault::Bursts
            | Fault::Modes
            | Fault::Lists
            | Fault::Stretches => bound,
        };
        let by_mode = self.bounds.iter().enumerate().map(|(place, found)| {
            let found = found.iter().map(|bound| Some(shorter(place, (*bound)?)));
            found.collect()
        });
        let by_mode: Vec<Vec<Option<Duration>>> = by_mode.collect();
        let servers = self.set.servers();
        self.with(&servers, Guarantee::of_servers).within(&by_mode)
    }

    /// Releases, execution times and floods of one run.
    fn workload(&self, random: &mut Random) -> (ListedReleases, ListedDemand, Floods) {
        let together = random.once_in(2);
        let rounds = random.once_in(2);
        let (mut releases, mut demands) = (Vec::new(), Vec::new());
        for own in &self.set.own {
            let (mut next, mut times, mut costs) = (0, Vec::new(), Vec::new());
            if !together {
                next = random.below(12);
            }
            let wild = random.once_in(8);
            while next < END {
                times.push(at(next));
                let late = if together {
                    0
                } else {
                    random.below(2) * random.below(9)
                };
                next += own.period + late;
                let [low, above] = own.capacity;
                let most = if own.high { above } else { low };
                costs.push(ns(match random.below(6) {
                    0 => random.between(1, most),
                    1 if wild => most + random.between(1, 3),
                    2 | 3 => low.min(most),
                    _ => most,
                }));
            }
            releases.push(times);
            demands.push(costs);
        }
        let floods = self.set.pibs.iter().map(|pibs| {
            let period = self.set.own[usize::from(pibs.hosts[0])].period;
            let capacity = pibs.capacity(period, 0);
            let (mut next, mut list) = (random.below(20), Vec::new());
            while next < END {
                let count = match rounds {
                    true => random.between(1, 3 * capacity + 1),
                    false => random.between(1, capacity),
                };
                list.push((at(next), count));
                next += random.between(1, 2 * period);
            }
            list
        });
        let floods = Floods(floods.collect());
        releases.extend(self.set.pibs.iter().map(|_| Vec::new()));
        demands.extend(self.set.pibs.iter().map(|_| Vec::new()));
        let demand = ListedDemand {
            tasks: demands,
            otherwise: Vec::new(),
        };
        (ListedReleases { tasks: releases }, demand, floods)
    }

    fn run(&self, random: &mut Random, fault: Fault) -> Seen {
        let tasks: Vec<Task> = self.tasks.iter().map(|entry| entry.task).collect();
        let own = self.set.own.len();
        let devices = self.devices.iter().map(|device| Device {
            bottom_half: device.bottom_half,
            cost: ns(1),
            requested: true,
            inherits: true,
        });
        let none = self.set.pibs.iter().map(|_| Vec::new());
        let hosts = (0..own).map(|place| Some(ServerId(place as u16)));
        let outside = Outside {
            devices: devices.collect(),
            waits: self.set.waits.iter().cloned().chain(none).collect(),
            hosts: hosts.chain(self.set.pibs.iter().map(|_| None)).collect(),
        };
        let (releases, demand, floods) = self.workload(random);
        let setting = Setting {
            tasks: &tasks,
            cpus: 1,
            end: at(END),
            backlog: Backlog::UNLIMITED,
        };
        let amid = Amid {
            outside: Some((&outside, &floods)),
            costs: None,
        };
        let mut hears = Hears {
            judge: self.guarantee(fault),
            fault,
            own,
            waited: vec![None; tasks.len()],
            seen: Seen::default(),
        };
        let mut engine = self.engine(fault);
        simulate_amid(&mut engine, &setting, amid, &releases, &demand, &mut hears).unwrap();
        Seen {
            runs: 1,
            bursts: hears.judge.bursts(),
            ..hears.seen
        }
    }
}

/// Until something guaranteed was not kept.
fn campaign(fault: Fault) -> Seen {
    let test = find("io-amc-rtb", None).unwrap();
    let mut all = Seen::default();
    for number in 0..SETS {
        let mut random = Random::new(mix(number));
        let set = draw(&mut random);
        if set.pibs.is_empty() {
            continue;
        }
        all.sets += 1;
        let outcome = test.analyse(&set.problem());
        if outcome.verdict != Answer::Schedulable {
            continue;
        }
        all.accepted += 1;
        let proved = Proved::new(set, &outcome, &mut random);
        for _ in 0..RUNS {
            let seen = proved.run(&mut random, fault);
            let is_over = seen.is_at_fault();
            all.add(seen);
            if is_over {
                println!("set {number}: {:?} {:?}", proved.set, proved.bounds);
                return all;
            }
        }
    }
    all
}

#[test]
fn bursts_and_jobs_that_wait_keep_what_io_amc_rtb_guarantees() {
    let seen = campaign(Fault::None);
    println!("{seen:?}");
    assert!(!seen.is_at_fault(), "{seen:?}");
    let percent = seen.accepted * 100 / seen.sets;
    assert!((5..=95).contains(&percent), "{seen:?}");
    assert!(seen.rises > 1000 && seen.woken_in_time > 1000, "{seen:?}");
    let bursts = seen.bursts;
    assert!(
        bursts.kept > 10_000 && bursts.of_others > 100 && bursts.cut > 10,
        "{seen:?}"
    );
    for why in [
        Excuse::Backlog,
        Excuse::Unclean,
        Excuse::Mode,
        Excuse::UsedUp,
        Excuse::Waits,
        Excuse::NoBudget,
    ] {
        assert!(seen.late.contains_key(&why), "{why:?}: {seen:?}");
    }
}

#[test]
fn a_scheduler_or_a_judge_at_fault_is_found_in_servers_with_pibs() {
    for fault in [
        Fault::Order,
        Fault::Share,
        Fault::Waits,
        Fault::Wakes,
        Fault::Bursts,
        Fault::Modes,
        Fault::Lists,
        Fault::Bounds,
        Fault::Stretches,
    ] {
        let seen = campaign(fault);
        println!("{fault:?}: {seen:?}");
        assert!(seen.is_at_fault(), "{fault:?}: {seen:?}");
    }
}
