//! The two tasks of Table I of Huang, Gill and Lu (2014) under zero slack, simulated and measured.

use super::linux::blame;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::progress::ClockProgress;
use vestal_bench::slack_trace::{self, Followed, Gaps, Run, TracedTask};
use vestal_core::engine::Configuration;
use vestal_core::{
    Duration, Enforcement, Exhaustion, Instant, LevelSet, Service, Task, TaskConfiguration,
    Uniprocessor,
};
use vestal_result::Format;
use vestal_result::bench::{TracedGaps, TracedRun, ZeroSlackTrace};
use vestal_sim::workload::{ListedDemand, ListedReleases};
use vestal_sim::{Backlog, JobState, Observer, Segment, Setting};

/// How long is measured: 500 hyperperiods.
const SPAN: Duration = Duration::from_millis(5_000);

/// Of the periods 5 and 10 ms.
const HYPERPERIOD: Duration = Duration::from_millis(10);

const WHAT: &str = "trace zero slack";

pub(crate) fn slack_trace(output: &Output) -> Result<ZeroSlackTrace, Failure> {
    let bug = |why: String| Failure::bug(WHAT, why);
    interrupt::watch()?;
    let tasks = slack_trace::table_one().ok_or_else(|| bug("no Table I".to_owned()))?;
    let expected = simulated(&tasks).map_err(bug)?;
    let progress = ClockProgress::start(
        output,
        "measuring",
        std::time::Duration::from_nanos(SPAN.as_nanos()),
    );
    let trace = slack_trace::measure(&tasks, Enforcement::ZeroSlack, SPAN, None);
    drop(progress);
    let trace = trace.map_err(|error| blame(WHAT.to_owned(), error))?;
    interrupt::check(|| WHAT.to_owned())?;
    if trace.lost > 0 {
        let why = format!("{} records found no room", trace.lost);
        return Err(Failure::machine(WHAT, why).with_help("try again on a machine with less load"));
    }
    let hyperperiod = HYPERPERIOD.as_nanos();
    let hyperperiods =
        slack_trace::runs_by_hyperperiod(&trace.slices, hyperperiod, SPAN.as_nanos());
    let followed = Followed::of(&hyperperiods, &expected);
    let schedule = expected.iter().enumerate().map(|(place, run)| {
        let measured = followed.medians.get(place);
        TracedRun {
            task: tasks
                .get(run.task)
                .map_or_else(String::new, |task| task.name.to_owned()),
            simulated_start_ns: run.start_nanos,
            simulated_end_ns: run.end_nanos,
            measured_start_ns: measured.map(|run| run.start_nanos),
            measured_end_ns: measured.map(|run| run.end_nanos),
        }
    });
    let tick_ns = trace.tick.as_nanos();
    Ok(ZeroSlackTrace {
        format: Format::V1,
        bench: "zero-slack-trace".to_owned(),
        cpu: trace.cpu,
        duration_ns: trace.duration.as_nanos(),
        step_ns: trace.step_nanos,
        threshold_ns: slack_trace::THRESHOLD_NANOS,
        hyperperiods: followed.hyperperiods,
        in_order: followed.in_order,
        schedule: schedule.collect(),
        tick_ns,
        ticks_due: trace.ticks_due(),
        gaps: common(&Gaps::of(&trace.gaps)),
        gaps_at_the_tick: common(&Gaps::of(&slack_trace::at_the_tick(&trace.gaps, tick_ns))),
    })
}

fn common(gaps: &Gaps) -> TracedGaps {
    TracedGaps {
        count: gaps.count,
        median_length_ns: gaps.median_length_nanos,
        longest_ns: gaps.longest_nanos,
        median_distance_ns: gaps.median_distance_nanos,
    }
}

/// Who has the CPU when, in a simulated hyperperiod.
fn simulated(tasks: &[TracedTask]) -> Result<Vec<Run>, String> {
    let configurations: Vec<TaskConfiguration> =
        tasks.iter().map(|task| task.configuration).collect();
    let levels = LevelSet::new(2).ok_or("two levels are too many")?;
    let configuration = Configuration {
        tasks: &configurations,
        levels,
        enforcement: Enforcement::ZeroSlack,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let mut engine: Uniprocessor =
        Uniprocessor::new(&configuration).map_err(|error| error.to_string())?;
    let end = Instant::EPOCH.saturating_add(HYPERPERIOD);
    let releases = configurations.iter().map(|entry| {
        let period = entry.task.period.as_nanos();
        let count = HYPERPERIOD.as_nanos() / period.max(1);
        (0..count)
            .map(|k| Instant::from_nanos(k * period))
            .collect()
    });
    let releases = ListedReleases {
        tasks: releases.collect(),
    };
    let demand = ListedDemand {
        tasks: vec![Vec::new(); tasks.len()],
        otherwise: tasks.iter().map(|task| task.execution).collect(),
    };
    let models: Vec<Task> = configurations.iter().map(|entry| entry.task).collect();
    let setting = Setting {
        tasks: &models,
        cpus: 1,
        end,
        backlog: Backlog::UNLIMITED,
    };
    let mut runs = Runs(Vec::new());
    vestal_sim::simulate(&mut engine, &setting, &releases, &demand, &mut runs)
        .map_err(|error| error.to_string())?;
    Ok(runs.0)
}

/// Collects who had the CPU.
struct Runs(Vec<Run>);

impl Observer for Runs {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let (task, end_nanos) = (job.id.task.index(), segment.end.as_nanos());
        match self.0.last_mut().filter(|run| run.task == task) {
            Some(run) => run.end_nanos = end_nanos,
            None => self.0.push(Run {
                task,
                start_nanos: segment.start.as_nanos(),
                end_nanos,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulated_schedule_is_that_of_the_paper() {
        let runs = simulated(&slack_trace::table_one().unwrap()).unwrap();
        let ms = |task, start: u64, end: u64| Run {
            task,
            start_nanos: start * 1_000_000,
            end_nanos: end * 1_000_000,
        };
        // At 6 ms the high task has 1 ms left to do, and takes the CPU.
        let expected = [
            ms(0, 0, 2),
            ms(1, 2, 5),
            ms(0, 5, 6),
            ms(1, 6, 7),
            ms(0, 7, 8),
        ];
        assert_eq!(runs, expected);
    }
}
