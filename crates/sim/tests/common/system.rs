//! A system as the engine wants it, its text, and its shrinking.

use crate::reference::{AtLimit, Limits, System};
use std::fmt::Write;
use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Instant, LevelSet, OnMiss, Service,
    SliceCount, TaskConfiguration,
};
use vestal_sim::Backlog;
use vestal_sim::workload::{ListedDemand, ListedReleases};

/// The system as the engine wants it.
pub(crate) fn tasks_of(system: &System) -> Vec<TaskConfiguration> {
    system
        .tasks
        .iter()
        .map(|entry| TaskConfiguration {
            on_miss: if entry.abort_when_late {
                OnMiss::Abort
            } else {
                OnMiss::Continue
            },
            zero_slack: entry.zero_slack.map(Duration::from_nanos),
            slices: SliceCount::new(entry.slices as u32, &entry.task).unwrap(),
            ..TaskConfiguration::new(entry.task, entry.priority)
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
            Limits::Static if is_sliced(system) => Enforcement::Slices,
            Limits::Static => Enforcement::Static,
            Limits::Adaptive => Enforcement::Adaptive,
            Limits::ZeroSlack => Enforcement::ZeroSlack,
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

/// Whether jobs have their limits in slices.
pub(crate) fn is_sliced(system: &System) -> bool {
    system.tasks.iter().any(|entry| entry.slices > 1)
}

/// How many jobs may wait.
pub(crate) fn backlog_of(system: &System) -> Backlog {
    system.backlog.map_or(Backlog::UNLIMITED, Backlog::at_most)
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
        "{:?} {:?}, by deadline {}, lists {:?}, backlog {:?}, {} levels, until {}\n",
        system.limits,
        system.at_limit,
        system.by_deadline,
        system.lists,
        system.backlog,
        system.levels,
        system.end
    );
    for (i, entry) in system.tasks.iter().enumerate() {
        let task = &entry.task;
        let levels = task.criticality.up_to_self();
        let values: Vec<u64> = levels.map(|l| task.wcet.at(l).as_nanos()).collect();
        writeln!(
            out,
            "task {i}: z {} T {} D {} C {values:?} priority {} virtual D {} zero slack {:?} slices {} degraded {:?} abort {} list {:?} releases {:?} demand {:?}",
            task.criticality.0,
            task.period.as_nanos(),
            task.deadline.as_nanos(),
            entry.priority,
            entry.virtual_deadline,
            entry.zero_slack,
            entry.slices,
            task.degraded,
            entry.abort_when_late,
            entry.list,
            system.releases[i],
            system.demand[i],
        )
        .unwrap();
    }
    out
}
