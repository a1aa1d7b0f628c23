//! What came of a real run, as the result of the command.

use super::linux::{dispatch, proof};
use super::machine::machine;
use super::{Settings, frames, parts, threads};
use crate::report::{RunResult, dropped_by};
use crate::session::Session;
use vestal_core::{CpuId, TaskId};
use vestal_linux::report::{CpuReport, Ended, FrameReport, TaskReport};
use vestal_linux::{Report, Summary};
use vestal_result::run::{
    Barrier, Clock, CpuRow, Cut, Dispatcher, Execution, Frames, Jobs, ModeChange, Response, Run,
    ServerRow, SubFrameInit, Tardiness, TaskRow,
};
use vestal_trace::World;

/// A CPU of a run: what it is called in results, what was decided there, and what came of it.
struct CpuRan<'a> {
    number: u16,
    /// What the set calls its tasks, in the order of the report.
    tasks: Vec<TaskId>,
    report: &'a CpuReport,
}

/// The CPUs of a run. A single one is called by the processor that it ran on, several by their numbers in the set:
/// two of them may have run on one processor.
fn cpus<'a>(session: &'a Session, report: &'a Report) -> Vec<CpuRan<'a>> {
    let is_alone = report.cpus.len() == 1;
    let cpus = placed(session).into_iter().zip(&report.cpus);
    let cpus = cpus.map(|((cpu, tasks), report)| CpuRan {
        number: match cpu {
            Some(cpu) if !is_alone => cpu.0,
            Some(_) | None => u16::try_from(report.processor.0).unwrap_or(u16::MAX),
        },
        tasks,
        report,
    });
    cpus.collect()
}

/// The CPUs of a run with their tasks, as the set calls them.
fn placed(session: &Session) -> Vec<(Option<CpuId>, Vec<TaskId>)> {
    if let Some((cluster, lists)) = frames::of(session) {
        let cpus = frames::placed(cluster, lists).into_iter();
        let named = |task: TaskId| cluster.tasks.get(task.index()).copied();
        let cpus =
            cpus.map(|(cpu, tasks)| (Some(cpu), tasks.into_iter().filter_map(named).collect()));
        return cpus.collect();
    }
    let clusters = session.system.clusters.iter();
    let cpus = clusters.map(|cluster| (cluster.cpus.first().copied(), cluster.tasks.clone()));
    cpus.collect()
}

/// The number in the set of a task that a CPU's scheduler calls `local`.
fn task_of(tasks: &[TaskId], local: TaskId) -> TaskId {
    tasks.get(local.index()).copied().unwrap_or(local)
}

/// The result of a run that has ended.
pub(super) fn result(session: &Session, settings: &Settings, report: &Report) -> RunResult {
    let cpus = cpus(session, report);
    let (jobs, dispatch) = (&report.jobs, dispatch(session, settings));
    let run = Run {
        duration_ns: report.duration.as_nanos(),
        cut: cut(report),
        jobs: Jobs {
            released: jobs.released,
            completed: jobs.completed,
            dropped: jobs.dropped,
            dropped_by: dropped_by(jobs.dropped_by),
            missed: jobs.missed,
            missed_guaranteed: jobs.missed_guaranteed,
            missed_undecided: jobs.missed_undecided(),
        },
        modes: modes(session, &cpus),
        tasks: tasks(session, &cpus),
        cpus: cpus
            .iter()
            .map(|cpu| CpuRow {
                cpu: cpu.number,
                busy_ns: cpu.report.busy.as_nanos(),
                switches: cpu.report.switches,
                preemptions: cpu.report.preemptions,
                migrations: 0,
                overhead_ns: cpu.report.parts.scheduler().as_nanos(),
                parts_ns: parts::of_cpu(&cpu.report.parts),
                system_ns: cpu.report.parts.system.as_nanos(),
            })
            .collect(),
        servers: servers(session, report),
        frames: report
            .frames
            .as_ref()
            .map(|found| of_frames(found, session))
            .unwrap_or_default(),
        overhead: threads::overhead(&report.cpus),
        parts: Some(parts::of_run(report)),
        machine: machine(report, dispatch, settings),
        proof: Some(proof(session, settings)),
        ..RunResult::of(session, World::Linux, dispatch)
    };
    let changes = report.cpus.iter();
    let changes = changes.map(|cpu| (cpu.modes.len() as u64).saturating_add(cpu.modes_lost));
    RunResult {
        run,
        mode_changes: changes.fold(0, u64::saturating_add),
        excluded: 0,
    }
}

fn of_frames(found: &FrameReport, session: &Session) -> Frames {
    let counts = found.counts;
    let spare = session.frame_overhead();
    Frames {
        total: counts.total,
        skipped: counts.skipped,
        lo_skipped: counts.lowest_skipped,
        overrun: counts.overrun,
        unprovoked: counts.unprovoked,
        unprovoked_undecided: counts.unprovoked_undecided,
        overhead_ns: spare.as_nanos().saturating_add(found.overhead.as_nanos()),
        barrier: Some(match found.barrier {
            vestal_linux::Barrier::Pthread => Barrier::Pthread,
            vestal_linux::Barrier::Futex => Barrier::Futex,
            vestal_linux::Barrier::Spin => Barrier::Spin,
        }),
        clock: Some(match found.clock {
            vestal_linux::Clock::Monotonic => Clock::Monotonic,
            vestal_linux::Clock::Tsc => Clock::Tsc,
        }),
        dispatcher: found.paper.map(|paper| match paper.has_own_processor {
            true => Dispatcher::Own,
            false => Dispatcher::Shared,
        }),
        sub_frame_init: found.paper.map(|paper| match paper.initialisation {
            vestal_linux::Initialisation::Global => SubFrameInit::Global,
            vestal_linux::Initialisation::Distributed => SubFrameInit::Distributed,
        }),
        started_early: found.paper.map(|paper| paper.started_early),
        checks: found.paper.map(|paper| paper.checks),
        found_late: found.paper.map(|paper| paper.late),
    }
}

/// Why the run ended before its time, if it did.
fn cut(report: &Report) -> Option<Cut> {
    let Ended::Signal(signal) = report.ended else {
        return None;
    };
    Some(Cut {
        at_ns: report.duration.as_nanos(),
        why: format!("signal {signal} ended the run"),
    })
}

/// The servers, in the order of the file. A budget that comes back by time alone did so at each multiple of its period.
fn servers(session: &Session, report: &Report) -> Vec<ServerRow> {
    let (Some(served), Some(cpu)) = (session.configuration().servers(), report.cpus.first()) else {
        return Vec::new();
    };
    let rows = served.names.iter().zip(&served.servers).enumerate();
    let rows = rows.map(|(index, (name, server))| {
        let found = cpu.servers.get(index).copied().unwrap_or_default();
        let last = report.duration.as_nanos().saturating_sub(1);
        ServerRow {
            name: name.clone(),
            served_ns: found.charged.as_nanos(),
            tolerated_ns: found.tolerated.as_nanos(),
            replenishments: server
                .kind
                .replenishment_period()
                .map(|period| last / period.as_nanos().max(1)),
            exhausted: found.exhausted,
            postponed_ns: found.postponed.as_nanos(),
            longest_list: None,
        }
    });
    rows.collect()
}

/// The mode changes of all CPUs, oldest first.
fn modes(session: &Session, cpus: &[CpuRan<'_>]) -> Vec<ModeChange> {
    let level = |level| session.set.level_name(level).to_owned();
    let changes = cpus.iter().flat_map(|cpu| {
        cpu.report.modes.iter().map(move |change| ModeChange {
            at_ns: change.at.as_nanos(),
            from: level(change.from),
            to: level(change.to),
            cause: change
                .cause
                .map(|job| session.task_name(task_of(&cpu.tasks, job.task))),
            cpu: Some(cpu.number),
        })
    });
    let mut changes: Vec<ModeChange> = changes.collect();
    changes.sort_by_key(|change| change.at_ns);
    changes
}

/// The tasks of all CPUs, in the order of the file.
fn tasks(session: &Session, cpus: &[CpuRan<'_>]) -> Vec<TaskRow> {
    let rows = cpus.iter().flat_map(|cpu| {
        let tasks = cpu.tasks.iter().zip(&cpu.report.tasks);
        tasks.filter_map(|(task, found)| {
            let period = session.tasks.get(task.index())?.period.as_nanos();
            let cpu = Some(cpu.number);
            Some((
                *task,
                TaskRow {
                    cpu,
                    ..row(period, found)
                },
            ))
        })
    });
    let mut rows: Vec<(TaskId, TaskRow)> = rows.collect();
    rows.sort_by_key(|&(task, _)| task);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn row(period_ns: u64, found: &TaskReport) -> TaskRow {
    let (response, execution, tardiness) = (&found.response, &found.execution, &found.tardiness);
    #[expect(
        clippy::cast_precision_loss,
        reason = "a figure for display, not for decisions"
    )]
    let relative = response.mean / period_ns as f64;
    TaskRow {
        name: found.name.clone(),
        cpu: None,
        released: found.jobs.released,
        completed: found.jobs.completed,
        missed: found.jobs.missed,
        dropped: found.jobs.dropped,
        dropped_by: dropped_by(found.jobs.dropped_by),
        overruns: found.overruns,
        preemptions: found.preemptions,
        response_ns: Response {
            min: some(response, response.min),
            mean: some(response, whole(response.mean)),
            p99: some(response, response.p99),
            max: some(response, response.max),
        },
        execution_ns: Execution {
            min: some(execution, execution.min),
            mean: some(execution, whole(execution.mean)),
            max: some(execution, execution.max),
        },
        tardiness_bound_ns: None,
        ghost_ns: None,
        tardiness_ns: Tardiness {
            mean: some(tardiness, whole(tardiness.mean)),
            max: some(tardiness, tardiness.max),
        },
        relative_response: (response.count > 0).then_some(relative),
    }
}

/// A figure of a summary, if anything was measured.
fn some(summary: &Summary, value: u64) -> Option<u64> {
    (summary.count > 0).then_some(value)
}

/// A mean in whole nanoseconds.
pub(super) fn whole(mean: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mean of times of at most 2^62 ns, rounded for display"
    )]
    let whole = mean.round() as u64;
    whole
}
