//! Jobs that block, devices and requests for modes: drawn by eye, and on random systems beside a world of whole ticks
//! that keeps its own account of who waits for what.

mod drawn;

use vestal_core::*;
use vestal_sim::outside::{Device, Wait};
use vestal_sim::workload::{ListedDemand, ListedReleases};
use vestal_sim::{
    Amid, Backlog, Charges, Costs, Events, JobState, Observer, Outside, Segment, Setting,
    simulate_amid,
};
use vestal_testkit::Random;
use vestal_testkit::hierarchies::{self, pibs, server, sporadic, task};
use vestal_testkit::short::{at, ns, span};
use vestal_testkit::world::drawn;

/// When events arrive by themselves, by device, and requests for modes.
#[derive(Clone, Debug, Default)]
struct Listed {
    events: Vec<Vec<(u64, u64)>>,
    modes: Vec<(u64, u8)>,
}

impl Events for Listed {
    fn interrupt(
        &self,
        device: DeviceId,
        index: u64,
        _: Option<Instant>,
    ) -> Option<(Instant, u64)> {
        let (when, count) = *self.events.get(device.index())?.get(index as usize)?;
        Some((at(when), count))
    }
    fn mode_request(&self, index: u64) -> Option<(Instant, Level)> {
        let (when, level) = *self.modes.get(index as usize)?;
        Some((at(when), Level(level)))
    }
}

/// A system with everything that happens to it. Bottom halves are the last tasks, in the order of devices.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    servers: Vec<ServerConfiguration>,
    pub(crate) tasks: Vec<ServedTask>,
    releases: Vec<Vec<u64>>,
    /// By task, what its jobs execute in all.
    demand: Vec<u64>,
    outside: Outside,
    listed: Listed,
    modes: Modes,
    pub(crate) end: u64,
}

impl Case {
    fn devices(&self) -> Vec<DeviceConfiguration> {
        let devices = self.outside.devices.iter();
        devices
            .map(|device| DeviceConfiguration {
                bottom_half: device.bottom_half,
            })
            .collect()
    }

    fn configuration<'a>(
        &'a self,
        devices: &'a [DeviceConfiguration],
    ) -> HierarchyConfiguration<'a> {
        HierarchyConfiguration {
            modes: self.modes,
            ..hierarchies::configuration(&self.servers, &self.tasks, devices)
        }
    }

    fn engine(&self) -> Hierarchy {
        Hierarchy::new(&self.configuration(&self.devices())).unwrap()
    }
}

/// Who ran in each tick, what servers said, and how often things happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    row: Vec<u8>,
    events: Vec<(u64, String)>,
    blocked: usize,
    woken: usize,
    arrived: u64,
    served: u64,
}

impl Observer for Seen {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let ticks = segment.start.as_nanos() as usize..segment.end.as_nanos() as usize;
        self.row[ticks].fill(b'0' + job.id.task.0 as u8);
    }
    fn blocked(&mut self, _: Instant, _: CpuId, _: &JobState, _: DeviceId) {
        self.blocked += 1;
    }
    fn woken(&mut self, _: Instant, _: &JobState) {
        self.woken += 1;
    }
    fn interrupted(&mut self, _: Instant, _: DeviceId, count: u64, dropped: u64) {
        assert_eq!(dropped, 0);
        self.arrived += count;
    }
    fn served(&mut self, _: Instant, _: DeviceId, _: &JobState) {
        self.served += 1;
    }
    fn depleted(&mut self, at: Instant, server: ServerId) {
        self.events
            .push((at.as_nanos(), format!("depleted {}", server.0)));
    }
    fn postponed(&mut self, at: Instant, server: ServerId, amount: Service) {
        let text = format!("postponed {} {}", server.0, amount.as_nanos());
        self.events.push((at.as_nanos(), text));
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        let text = format!("dropped {} {why:?}", job.id);
        self.events.push((at.as_nanos(), text));
    }
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, _: Option<JobId>) {
        let text = format!("mode {} {}", from.0, to.0);
        self.events.push((at.as_nanos(), text));
    }
}

fn simulated(case: &Case) -> Seen {
    let mut seen = Seen {
        row: vec![b'.'; case.end as usize],
        ..Seen::default()
    };
    simulate_case(case, None, &mut seen);
    seen
}

/// On the only CPU there is, with what carrying the policy out costs.
pub(crate) fn simulate_case<O: Observer>(case: &Case, costs: Option<&Costs>, observer: &mut O) {
    let tasks: Vec<Task> = case.tasks.iter().map(|entry| entry.task).collect();
    let instants = |list: &Vec<u64>| list.iter().copied().map(at).collect();
    let releases = ListedReleases {
        tasks: case.releases.iter().map(instants).collect(),
    };
    let demand = ListedDemand {
        tasks: Vec::new(),
        otherwise: case.demand.iter().copied().map(ns).collect(),
    };
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end: at(case.end),
        backlog: Backlog::UNLIMITED,
    };
    let amid = Amid {
        outside: Some((&case.outside, &case.listed)),
        costs: costs.map(|costs| (Charges::Fixed(costs), &[] as &[CpuId])),
    };
    let mut engine = case.engine();
    simulate_amid(&mut engine, &setting, amid, &releases, &demand, observer).unwrap();
}

/// How the tick world counts an event that was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    ForTheOldest,
    /// What the simulated world does not do.
    ForAll,
    /// Nor this: also for jobs that were dropped while they waited.
    AlsoTheDropped,
}

/// A job that waits: its task, for which device, and how many events are left.
type Waiting = Vec<(usize, usize, u64)>;

/// What each task executes between its waits.
fn programs(case: &Case) -> Vec<Vec<u64>> {
    let program = |task: usize| {
        let waits = case.outside.waits.get(task).into_iter().flatten();
        let mut cuts: Vec<u64> = waits.map(|wait| wait.after.as_nanos()).collect();
        cuts.push(case.demand[task]);
        let mut before = 0;
        let segment = |cut: u64| cut - std::mem::replace(&mut before, cut);
        cuts.into_iter().map(segment).collect()
    };
    (0..case.tasks.len()).map(program).collect()
}

/// The account that is kept beside the world of whole ticks.
struct Account {
    waiting: Waiting,
    /// By task, how many waits of its job are behind it.
    waits_done: Vec<usize>,
    /// By device, how many events are pending.
    pending: Vec<u64>,
    seen: Seen,
}

impl Account {
    /// What follows from the tick that has just passed.
    fn passed(&mut self, case: &Case, world: &hierarchies::World<'_>, counts: Counts) -> Vec<Fact> {
        let mut facts = Vec::new();
        let own = self.waits_done.len();
        for (task, done) in self.waits_done.iter_mut().enumerate() {
            if world.completes_now(task as u16) {
                *done = 0;
            }
            if world.blocks_now(task as u16) {
                let wait = case.outside.waits[task][*done];
                let device = wait.device.index();
                *done += 1;
                self.seen.blocked += 1;
                self.waiting.push((task, device, wait.events));
                let asks = vec![case.outside.hosts[task]];
                // What arrives at the end is not part of the run.
                if world.now < case.end && case.outside.devices[device].requested {
                    self.seen.arrived += wait.events;
                    self.pending[device] += wait.events;
                    facts.extend(interrupt(case, device, wait.events, asks));
                } else if self.pending[device] > 0 {
                    facts.extend(on_behalf(case, device, asks));
                }
            }
        }
        for device in 0..case.outside.devices.len() {
            if world.completes_now((own + device) as u16) {
                let woken = serve(&mut self.waiting, device, counts);
                self.seen.served += 1;
                self.pending[device] -= 1;
                self.seen.woken += woken.len();
                facts.extend(woken);
            }
        }
        facts
    }

    /// What the scheduler has to say.
    fn hear(&mut self, world: &mut hierarchies::World<'_>, counts: Counts) {
        for (at, event) in world.events() {
            if let Event::Dropped { job, why } = event
                && why == DropReason::Mode
            {
                let task = job.task.index();
                if counts != Counts::AlsoTheDropped {
                    self.waiting.retain(|waiter| waiter.0 != task);
                }
                self.waits_done[task] = 0;
            }
            self.seen.events.extend(said(event).map(|said| (at, said)));
        }
    }

    /// What happens now by itself.
    fn comes(&mut self, case: &Case, world: &mut hierarchies::World<'_>) -> Vec<Fact> {
        let now = world.now;
        let mut facts = Vec::new();
        for (device, events) in case.listed.events.iter().enumerate() {
            for (_, count) in events.iter().filter(|(when, _)| *when == now) {
                let waiters = self.waiting.iter().filter(|waiter| waiter.1 == device);
                let hosts = waiters.map(|waiter| case.outside.hosts[waiter.0]).collect();
                self.seen.arrived += count;
                self.pending[device] += count;
                facts.extend(interrupt(case, device, *count, hosts));
            }
        }
        for (_, level) in case.listed.modes.iter().filter(|(when, _)| *when == now) {
            let level = Level(*level);
            facts.push(Fact::ModeRequested { level });
        }
        for (task, releases) in case.releases.iter().enumerate() {
            if releases.contains(&now) {
                facts.push(world.release(task as u16));
            }
        }
        facts
    }
}

/// The same in the world of whole ticks, which is told of devices tick by tick.
fn ticked(case: &Case, counts: Counts) -> Seen {
    let devices = case.devices();
    let mut world = hierarchies::world(&case.configuration(&devices), programs(case));
    world.idler = |_| '.';
    let mut account = Account {
        waiting: Vec::new(),
        waits_done: vec![0; case.tasks.len() - devices.len()],
        pending: vec![0; devices.len()],
        seen: Seen::default(),
    };
    let mut facts;
    while world.now < case.end {
        facts = account.passed(case, &world, counts);
        facts.extend(account.comes(case, &mut world));
        world.step(&facts);
        account.hear(&mut world, counts);
    }
    // What ends there is part of the run.
    facts = account.passed(case, &world, counts);
    world.decide(&facts);
    account.hear(&mut world, counts);
    account.seen.row = world.rows[0].clone().into_bytes();
    account.seen
}

fn interrupt(case: &Case, device: usize, count: u64, hosts: Vec<Option<ServerId>>) -> Vec<Fact> {
    let mut facts = vec![Fact::Interrupt {
        device: DeviceId(device as u16),
        count: count as u32,
    }];
    facts.extend(on_behalf(case, device, hosts));
    facts
}

fn on_behalf(case: &Case, device: usize, hosts: Vec<Option<ServerId>>) -> Vec<Fact> {
    let own = case.outside.devices[device];
    let woken = |on_behalf_of| Fact::Woken {
        task: own.bottom_half,
        on_behalf_of,
    };
    let hosts = hosts.into_iter().filter(|_| own.inherits);
    hosts.map(woken).collect()
}

fn serve(waiting: &mut Waiting, device: usize, counts: Counts) -> Vec<Fact> {
    let mut found = waiting.iter_mut().filter(|waiter| waiter.1 == device);
    match counts {
        Counts::ForTheOldest | Counts::AlsoTheDropped => {
            found.next().into_iter().for_each(|waiter| waiter.2 -= 1)
        }
        Counts::ForAll => found.for_each(|waiter| waiter.2 -= 1),
    }
    let through: Vec<usize> = waiting
        .iter()
        .filter(|waiter| waiter.2 == 0)
        .map(|waiter| waiter.0)
        .collect();
    waiting.retain(|waiter| waiter.2 > 0);
    let woken = |task: usize| Fact::Woken {
        task: TaskId(task as u16),
        on_behalf_of: None,
    };
    through.into_iter().map(woken).collect()
}

fn said(event: Event) -> Option<String> {
    Some(match event {
        Event::Depleted { server } => format!("depleted {}", server.0),
        Event::Postponed { server, amount } => {
            format!("postponed {} {}", server.0, amount.as_nanos())
        }
        Event::ModeChanged { from, to, .. } => format!("mode {} {}", from.0, to.0),
        Event::Dropped { job, why } => format!("dropped {job} {why:?}"),
        Event::Overrun { .. }
        | Event::FrameOverrun { .. }
        | Event::FramesSkipped { .. }
        | Event::Late { .. } => return None,
    })
}

/// The first server has a period; a PIBS may follow. Capacities may fall in mode 1, often to nothing.
fn draw_servers(random: &mut Random) -> Vec<ServerConfiguration> {
    let count = random.between(2, 4);
    (0..count)
        .map(|place| {
            let period = random.between(6, 20);
            let low = random.between(1, period.min(8));
            let values = [ns(low), ns(random.below(2) * random.between(0, low))];
            let capacity = match random.once_in(2) {
                true => ByLevel::new(&values).unwrap(),
                false => ByLevel::constant(ns(low)),
            };
            let period = span(period);
            let kind = match random.below(if place == 0 { 4 } else { 6 }) {
                0 => ServerKind::Polling { period, capacity },
                1 => ServerKind::IdlingPeriodic { period, capacity },
                2 => ServerKind::Deferrable { period, capacity },
                3 => ServerKind::Sporadic {
                    period,
                    capacity,
                    replenishments: random.between(2, 4) as u16,
                    full: match random.once_in(2) {
                        true => WhenFull::MergeHead,
                        false => WhenFull::MergeTail,
                    },
                },
                _ => pibs(1, random.between(1, 5)),
            };
            ServerConfiguration {
                criticality: Level(random.below(2) as u8),
                order: match random.once_in(3) {
                    true => LocalOrder::EarliestDeadline,
                    false => LocalOrder::FixedPriority,
                },
                ..server(kind, random.between(1, 3) as u32)
            }
        })
        .collect()
}

const END: u64 = 120;

/// Up to so many instants, in order.
fn instants(most: u64, random: &mut Random) -> Vec<u64> {
    let count = random.below(most + 1);
    let mut instants: Vec<u64> = (0..count).map(|_| random.below(END)).collect();
    instants.sort_unstable();
    instants.dedup();
    instants
}

/// What a job executes, and where it waits for one of so many devices.
fn draw_job(devices: usize, random: &mut Random) -> (u64, Vec<Wait>) {
    let need = random.between(1, 9);
    let mut cuts: Vec<u64> = (1..need).filter(|_| random.once_in(4)).collect();
    cuts.truncate(3);
    let wait = |after: u64| Wait {
        after: ns(after),
        device: DeviceId(random.index(devices) as u16),
        events: random.between(1, 3),
    };
    (need, cuts.into_iter().map(wait).collect())
}

fn draw_tasks(
    servers: &[ServerConfiguration],
    count: usize,
    random: &mut Random,
) -> Vec<ServedTask> {
    let with_period: Vec<usize> = (0..servers.len())
        .filter(|&place| servers[place].kind.period().is_some())
        .collect();
    let drawn = |_| {
        let home = random.index(servers.len()) as u16;
        let mut entry = task(home, random.between(1, 3) as u32, random.between(5, 30));
        let host = with_period[random.index(with_period.len())];
        entry.on_behalf_of = Some(ServerId(host as u16));
        let low = random.between(1, 5);
        entry.task.wcet = Wcet::new(&[ns(low), ns(low + random.below(5))]).unwrap();
        entry.task.criticality = servers[usize::from(home)].criticality;
        entry
    };
    (0..count).map(drawn).collect()
}

/// What modes that jobs raise rely on: who has nothing in mode 1 is none of its servers, and no task asks for more than its
/// server has at a level up to its own.
fn make_judged(servers: &mut [ServerConfiguration], tasks: &mut [ServedTask]) {
    for server in servers.iter_mut() {
        if !server.kind.runs_in(Level(1)) {
            server.criticality = Level(0);
        }
    }
    for entry in tasks {
        let home = &servers[entry.server.index()];
        entry.task.criticality = home.criticality;
        if let Some(capacity) = home.kind.capacity() {
            let at = |level: u8| {
                entry
                    .task
                    .wcet
                    .at(Level(level))
                    .min(capacity.at(Level(level)))
            };
            let low = match home.criticality {
                Level(0) => at(0),
                // Soon used up.
                _ => at(0).min(at(1)).min(ns(1)),
            };
            entry.task.wcet = Wcet::new(&[low, at(1).max(low)]).unwrap();
        }
    }
}

pub(crate) fn draw(random: &mut Random) -> Case {
    let mut servers = draw_servers(random);
    let count = random.between(1, 3) as usize;
    let devices = random.between(1, 2) as usize;
    let mut tasks = draw_tasks(&servers, count + devices, random);
    let is_pibs = |home: ServerId| servers[home.index()].kind.period().is_none();
    let jobs = (0..count).map(|_| draw_job(devices, random));
    let (mut demand, waits): (Vec<u64>, Vec<Vec<Wait>>) = jobs.unzip();
    // No more than a scheduler has room for.
    let mut releases: Vec<Vec<u64>> = (0..count).map(|_| instants(5, random)).collect();
    releases.resize(count + devices, Vec::new());
    let host = |entry: &ServedTask| match is_pibs(entry.server) {
        true => entry.on_behalf_of,
        false => Some(entry.server),
    };
    let mut outside = Outside {
        devices: Vec::new(),
        waits,
        hosts: tasks.iter().map(host).collect(),
    };
    let mut listed = Listed::default();
    for (bottom_half, entry) in tasks.iter().enumerate().skip(count) {
        let cost = random.between(1, 3);
        let requested = random.once_in(2);
        demand.push(cost);
        outside.devices.push(Device {
            bottom_half: TaskId(bottom_half as u16),
            cost: ns(cost),
            requested,
            inherits: is_pibs(entry.server),
        });
        let when = if requested {
            Vec::new()
        } else {
            instants(12, random)
        };
        let events = when.into_iter().map(|when| (when, random.between(1, 3)));
        listed.events.push(events.collect());
    }
    listed.modes = instants(2, random)
        .into_iter()
        .map(|when| (when, 1))
        .collect();
    let modes = match random.below(4) {
        0 | 1 => Modes::Requested,
        raises => {
            make_judged(&mut servers, &mut tasks);
            let pibs_raise = raises == 3;
            Modes::Adaptive { pibs_raise }
        }
    };
    Case {
        servers,
        tasks,
        releases,
        demand,
        outside,
        listed,
        modes,
        end: END,
    }
}

/// Hosts have to give a PIBS some capacity; random ones with small periods may not.
pub(crate) fn is_possible(case: &Case) -> bool {
    let fits = |home: ServerId, host: Option<ServerId>| {
        let ServerKind::Pibs { utilization } = case.servers[home.index()].kind else {
            return true;
        };
        host.and_then(|host| case.servers[host.index()].kind.period())
            .is_some_and(|period| !utilization.at(Level(0)).of_floor(period).is_zero())
    };
    let homes = || case.tasks.iter().map(|entry| entry.server);
    homes().all(|home| case.outside.hosts.iter().all(|host| fits(home, *host)))
        && case
            .tasks
            .iter()
            .all(|entry| fits(entry.server, entry.on_behalf_of))
}

#[test]
fn the_world_of_ticks_agrees_on_random_systems() {
    let mut random = Random::new(14);
    let mut sum = Seen::default();
    let mut modes = 0;
    let (mut postponed, mut dropped) = (0, 0);
    let (mut others, mut for_dropped) = (0, 0);
    let mut done = 0;
    while done < 10_000 {
        let case = draw(&mut random);
        if !is_possible(&case) {
            continue;
        }
        done += 1;
        let (here, there) = (simulated(&case), ticked(&case, Counts::ForTheOldest));
        let text = |seen: &Seen| String::from_utf8(seen.row.clone()).unwrap();
        assert_eq!(text(&here), text(&there), "{done}: {case:?}");
        assert_eq!(here, there, "{done}: {case:?}");
        others += usize::from(ticked(&case, Counts::ForAll).row != here.row);
        for_dropped += usize::from(ticked(&case, Counts::AlsoTheDropped).row != here.row);
        sum.blocked += here.blocked;
        sum.woken += here.woken;
        sum.served += here.served;
        let said = |begin: &str| {
            let events = here.events.iter();
            events.filter(|(_, what)| what.starts_with(begin)).count()
        };
        modes += said("mode");
        postponed += said("postponed");
        dropped += said("dropped");
    }
    assert!(
        sum.blocked > 5_000 && sum.woken > 2_500 && sum.served > 25_000,
        "{sum:?}"
    );
    assert!(
        modes > 5_000 && postponed > 50 && dropped > 500,
        "{modes} {postponed} {dropped}"
    );
    assert!(
        others > 50,
        "{others}: whether one event counts for one or for all makes a difference"
    );
    assert!(for_dropped > 0, "nothing was served for a dropped job");
}
