//! Random small systems, with their text, their shrinking, and their run in the simulated world.

use crate::common::Random;
use crate::reference::{AtLimit, Limits, Reason, ReferenceTask, Schedule, System};
use std::fmt::Write;
use vestal_core::{
    Configuration, DropReason, Duration, Enforcement, Exhaustion, Instant, JobId, Level, LevelSet,
    OnMiss, Service, Task, TaskConfiguration, Wcet,
};
use vestal_sim::workload::{ListedDemand, ListedReleases};
use vestal_sim::{JobState, Observer, Segment};

/// Two to four levels, overload included: what matters here is that rules meet, not that sets are
/// schedulable.
pub(crate) fn draw(random: &mut Random) -> System {
    let levels = random.between(2, 4);
    let limits = random.pick(&[Limits::Static, Limits::Adaptive, Limits::Adaptive]);
    let at_limit = random.pick(&[
        AtLimit::Background,
        AtLimit::Background,
        AtLimit::Abort,
        AtLimit::GoOn,
    ]);
    let end = random.between(10, 80);
    let with_degraded = random.once_in(3);
    let with_aborts = random.once_in(4);
    let crowded = random.once_in(6);
    let count = random.between(1, 5);
    let mut tasks = Vec::new();
    let mut releases = Vec::new();
    let mut demand = Vec::new();
    for _ in 0..count {
        let task = draw_task(random, levels, with_degraded);
        let abort_when_late = with_aborts && random.once_in(2);
        releases.push(draw_releases(random, &task, end, crowded));
        demand.push(
            releases[releases.len() - 1]
                .iter()
                .map(|_| draw_demand(random, &task))
                .collect(),
        );
        tasks.push(ReferenceTask {
            task,
            priority: random.between(1, 4) as u32,
            abort_when_late,
        });
    }
    System {
        tasks,
        levels: levels as usize,
        limits,
        at_limit,
        releases,
        demand,
        end,
    }
}

fn draw_task(random: &mut Random, levels: u64, with_degraded: bool) -> Task {
    let criticality = Level(random.between(0, levels - 1) as u8);
    let period = random.between(2, 16);
    let deadline = if random.once_in(2) {
        period
    } else {
        random.between(1, period)
    };
    let mut value = random.between(1, period.div_ceil(3));
    let mut values = Vec::new();
    for _ in 0..=criticality.0 {
        values.push(Service::from_nanos(value));
        value += random.between(0, 3);
    }
    let span = Duration::from_nanos;
    let wcet = Wcet::new(&values).unwrap();
    let task = Task::new(criticality, span(period), span(deadline), wcet).unwrap();
    let degraded =
        (with_degraded && random.once_in(2)).then(|| Service::from_nanos(random.between(1, value)));
    Task { degraded, ..task }
}

/// Periodic with an offset, sporadic, or so close together that the backlog fills up.
fn draw_releases(random: &mut Random, task: &Task, end: u64, crowded: bool) -> Vec<u64> {
    let period = task.period.as_nanos();
    let slack = random.pick(&[0, 0, 1, 5]);
    let mut at = random.pick(&[0, 0, 1, 3]) * random.between(0, 4);
    let mut instants = Vec::new();
    while at < end {
        instants.push(at);
        at += if crowded {
            random.between(1, 2)
        } else {
            period + random.between(0, slack)
        };
    }
    instants
}

/// At a limit, one beyond it, one below it, anything up to the own level's, or beyond that.
fn draw_demand(random: &mut Random, task: &Task) -> u64 {
    let own = task.own_wcet().as_nanos();
    let level = Level(random.between(0, u64::from(task.criticality.0)) as u8);
    let limit = task.wcet.at(level).as_nanos();
    match random.between(0, 9) {
        0..=3 => limit,
        4..=5 => limit + 1,
        6 => limit.saturating_sub(1).max(1),
        7..=8 => random.between(1, own),
        _ => own + random.between(1, 20),
    }
}

/// The system as the engine wants it.
pub(crate) fn tasks_of(system: &System) -> Vec<TaskConfiguration> {
    system
        .tasks
        .iter()
        .map(|entry| TaskConfiguration {
            task: entry.task,
            priority: entry.priority,
            on_miss: if entry.abort_when_late {
                OnMiss::Abort
            } else {
                OnMiss::Continue
            },
        })
        .collect()
}

pub(crate) fn configuration<'a>(
    system: &System,
    tasks: &'a [TaskConfiguration],
) -> Configuration<'a> {
    Configuration {
        tasks,
        levels: LevelSet::new(system.levels).unwrap(),
        enforcement: match system.limits {
            Limits::Static => Enforcement::Static,
            Limits::Adaptive => Enforcement::Adaptive,
        },
        exhaustion: match system.at_limit {
            AtLimit::Background => Exhaustion::Background,
            AtLimit::Abort => Exhaustion::Abort,
            AtLimit::GoOn => Exhaustion::Continue,
        },
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }
}

pub(crate) fn workload_of(system: &System) -> (ListedReleases, ListedDemand) {
    let releases = system.releases.iter();
    let demand = system.demand.iter();
    (
        ListedReleases {
            tasks: releases
                .map(|list| list.iter().copied().map(Instant::from_nanos).collect())
                .collect(),
        },
        ListedDemand {
            tasks: demand
                .map(|list| list.iter().copied().map(Service::from_nanos).collect())
                .collect(),
            otherwise: Vec::new(),
        },
    )
}

/// Writes a run down tick by tick.
pub(crate) struct Recorder {
    pub(crate) schedule: Schedule,
    mode: u8,
    since: usize,
}

impl Recorder {
    pub(crate) fn new(end: u64) -> Self {
        let ticks = end as usize;
        Self {
            schedule: Schedule {
                ran: vec![None; ticks],
                modes: vec![0; ticks],
                completed: Vec::new(),
                dropped: Vec::new(),
                rises: 0,
            },
            mode: 0,
            since: 0,
        }
    }

    fn fill_mode_until(&mut self, at: usize) {
        self.schedule.modes[self.since..at].fill(self.mode);
        self.since = at;
    }
}

fn place(job: &JobState) -> (usize, usize) {
    (job.id.task.index(), job.id.sequence as usize)
}

impl Observer for Recorder {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let ticks = segment.start.as_nanos() as usize..segment.end.as_nanos() as usize;
        self.schedule.ran[ticks].fill(Some(place(job)));
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        let (task, number) = place(job);
        self.schedule.completed.push((at.as_nanos(), task, number));
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        let (task, number) = place(job);
        let why = match why {
            DropReason::Mode => Reason::Mode,
            DropReason::Exhausted => Reason::Exhausted,
            DropReason::Superseded => Reason::Superseded,
            DropReason::Deadline => Reason::Deadline,
            DropReason::BacklogFull => Reason::BacklogFull,
        };
        self.schedule
            .dropped
            .push((at.as_nanos(), task, number, why));
    }
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, _: Option<JobId>) {
        assert_eq!(from.0, self.mode);
        self.schedule.rises += usize::from(to > from);
        self.fill_mode_until(at.as_nanos() as usize);
        self.mode = to.0;
    }
    fn finished(&mut self, end: Instant) {
        self.fill_mode_until(end.as_nanos() as usize);
        self.schedule.dropped.sort_unstable();
    }
}

/// Makes `system` smaller as long as it still fails.
pub(crate) fn shrink(mut system: System, fails: impl Fn(&System) -> bool) -> System {
    loop {
        let smaller = candidates(&system)
            .into_iter()
            .find(|smaller| fails(smaller));
        match smaller {
            Some(smaller) => system = smaller,
            None => return system,
        }
    }
}

fn candidates(system: &System) -> Vec<System> {
    let mut all = Vec::new();
    for i in 0..system.tasks.len() {
        if system.tasks.len() > 1 {
            let mut fewer = system.clone();
            fewer.tasks.remove(i);
            fewer.releases.remove(i);
            fewer.demand.remove(i);
            all.push(fewer);
        }
        for k in (0..system.releases[i].len()).rev() {
            let mut fewer = system.clone();
            fewer.releases[i].remove(k);
            fewer.demand[i].remove(k);
            all.push(fewer);
        }
        for k in 0..system.demand[i].len() {
            if system.demand[i][k] > 1 {
                let mut less = system.clone();
                less.demand[i][k] -= 1;
                all.push(less);
            }
        }
    }
    for end in [system.end / 2, system.end.saturating_sub(1)] {
        if end > 0 && end < system.end {
            let mut shorter = system.clone();
            shorter.end = end;
            for (releases, demand) in shorter.releases.iter_mut().zip(&mut shorter.demand) {
                releases.retain(|&at| at < end);
                demand.truncate(releases.len());
            }
            all.push(shorter);
        }
    }
    all
}

/// A few lines from which the system can be typed in again.
pub(crate) fn text(system: &System) -> String {
    let mut out = format!(
        "{:?} {:?}, {} levels, until {}\n",
        system.limits, system.at_limit, system.levels, system.end
    );
    for (i, entry) in system.tasks.iter().enumerate() {
        let task = &entry.task;
        let levels = task.criticality.up_to_self();
        let values: Vec<u64> = levels.map(|l| task.wcet.at(l).as_nanos()).collect();
        writeln!(
            out,
            "task {i}: z {} T {} D {} C {values:?} priority {} degraded {:?} abort {} releases {:?} demand {:?}",
            task.criticality.0,
            task.period.as_nanos(),
            task.deadline.as_nanos(),
            entry.priority,
            task.degraded,
            entry.abort_when_late,
            system.releases[i],
            system.demand[i],
        )
        .unwrap();
    }
    out
}
