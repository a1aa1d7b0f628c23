//! Sets that a published test accepts and that miss a guaranteed deadline.

use vestal_analysis::{Problem, Scratch, find};
use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Instant, Level, LevelSet, OnMiss, Service,
    Task, TaskConfiguration, Uniprocessor, Wcet,
};
use vestal_sim::workload::{ListedDemand, Periodic};
use vestal_sim::{Backlog, Setting, Statistics, simulate};

/// tau1: level 0, C = 1, T = 4, the more urgent; tau2: level 1, C = 1/4, T = 4. Released together, tau1
/// takes 1 and tau2 needs 4, which is 5 > 4; no deadline lies before tau2's response in mode 0, so
/// AMC-IA looks at no change of the mode. Whether AMC-IA accepts the set, and whether it misses;
/// `None` if there is no such test.
pub(super) fn of_amc_ia() -> Option<(bool, bool)> {
    let test = find("amc-ia", None)?;
    let ms = Duration::from_millis;
    let rising = Wcet::new(&[Service::from_millis(1), Service::from_millis(4)]).ok()?;
    let tasks = vec![
        Task::new(
            Level(0),
            ms(4),
            ms(4),
            Wcet::constant(Service::from_millis(1)),
        )
        .ok()?,
        Task::new(Level(1), ms(4), ms(4), rising).ok()?,
    ];
    let levels = LevelSet::new(2)?;
    let priorities = [2, 1];
    let problem = Problem::new(tasks.clone(), levels).ok()?;
    let problem = problem.with_priorities(priorities.to_vec()).ok()?;
    let accepted = test.accepts(&problem, &mut Scratch::default());
    let configured: Vec<TaskConfiguration> = tasks
        .iter()
        .zip(priorities)
        .map(|(task, priority)| TaskConfiguration {
            task: *task,
            priority,
            on_miss: OnMiss::Continue,
            zero_slack: None,
        })
        .collect();
    let configuration = Configuration {
        tasks: &configured,
        levels,
        enforcement: Enforcement::Adaptive,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let mut scheduler = Uniprocessor::new(&configuration).ok()?;
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end: Instant::EPOCH.saturating_add(ms(8)),
        backlog: Backlog::UNLIMITED,
    };
    let demand = ListedDemand::at_level(&tasks, Level(1));
    let releases = Periodic::synchronous(&tasks);
    let mut statistics = Statistics::of(&configuration, 1);
    simulate(
        &mut scheduler,
        &setting,
        &releases,
        &demand,
        &mut statistics,
    )
    .ok()?;
    Some((accepted, statistics.jobs().missed_guaranteed > 0))
}
