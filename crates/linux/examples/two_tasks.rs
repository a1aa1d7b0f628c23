//! Two tasks, one of which overruns now and then.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Guard, Level, Service, Task,
    TaskConfiguration, TaskError, Wcet, model::LevelSet,
};
use vestal_linux::{Config, CpuSpec, Executive, TaskSpec};

/// A task with an implicit deadline; times in milliseconds.
fn task(
    name: &str,
    criticality: Level,
    priority: u32,
    period: u64,
    wcet: &[u64],
) -> Result<TaskSpec, TaskError> {
    let period = Duration::from_millis(period);
    let wcet: Vec<Service> = wcet.iter().copied().map(Service::from_millis).collect();
    let task = Task::new(criticality, period, period, Wcet::new(&wcet)?)?;
    Ok(TaskSpec {
        name: name.to_owned(),
        configuration: TaskConfiguration::new(task, priority),
        offset: Duration::ZERO,
        demand_max: None,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let levels = LevelSet::new(2).ok_or("between 1 and 8 levels")?;
    // One CPU, on which the kernel keeps the order of jobs and a guard enforces adaptive limits.
    let cpu = CpuSpec::native(move |tasks, granularity| {
        Guard::new(&Configuration {
            tasks,
            levels,
            enforcement: Enforcement::Adaptive,
            exhaustion: Exhaustion::Background,
            granularity,
            wake_granularity: Duration::ZERO,
        })
    });
    let report = Executive::new(Config::new())
        .cpu(cpu)
        // Every tenth job of the HI task needs more than its C(LO): the mode rises.
        .task(task("flight", Level(1), 2, 40, &[5, 15])?, |job| {
            let overruns = job.id().sequence % 10 == 9;
            job.burn(Service::from_millis(if overruns { 12 } else { 4 }))
        })
        // While it is up, jobs of the LO task are dropped; a body passes that on with `?`.
        .task(task("cabin", Level(0), 1, 60, &[10])?, |job| {
            for _ in 0..8 {
                job.burn(Service::from_millis(1))?;
            }
            Ok(())
        })
        .run(Duration::from_millis(2_000))?;
    for task in &report.cpus[0].tasks {
        println!("{}: {:?}", task.name, task.jobs);
    }
    println!("{} mode changes", report.cpus[0].modes.len());
    Ok(())
}
