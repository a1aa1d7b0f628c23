//! `vestal simulate FILE --policy P`: the task set in exact simulated time.

use crate::args::SimulateArgs;
use crate::commands::run::chosen;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::shown;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::quantity::short;
use crate::registry::{check_native, find_policy, registry};
use crate::report::{RunResult, dropped_by};
use crate::session::Session;
use crate::tracing::{self, TraceFiles};
use std::cell::RefCell;
use std::path::PathBuf;
use vestal_core::{Instant, Task};
use vestal_experiment::Jobs;
use vestal_policy::Precision;
use vestal_result::run::{
    self, CpuRow, Cut, Execution, Machine, ModeChange, Response, Run, Tardiness, TaskRow,
};
use vestal_sim::statistics::TaskStatistics;
use vestal_sim::{
    Backlog, Effort, JobState, NativeSetting, Observer, Setting, SimulationError, Statistics,
};
use vestal_trace::{Dispatch, Recorder, World};

pub(crate) fn simulate(args: &SimulateArgs, output: &Output) -> Outcome {
    tracing::check(&args.traces)?;
    let dispatch = dispatch(args)?;
    let session = Session::open(registry(), &args.world, "simulate", output)?;
    let result = run(&session, dispatch, &args.traces, output)?;
    output.human(&result.page(&session, output));
    output.human(&result.verdict(output));
    output.json(&result.run)?;
    Ok(match &result.run.cut {
        Some(cut) => {
            output.warning(&format!(
                "the simulation ended at {}, with what was known by then: {}; --set backlog=N limits \
                 how many jobs of a task may wait",
                short(cut.at_ns),
                cut.why
            ));
            Exit::Machine
        }
        None => Exit::holds(result.run.jobs.missed_guaranteed == 0),
    })
}

/// Who keeps the order in the simulated world.
fn dispatch(args: &SimulateArgs) -> Result<Dispatch, Failure> {
    let known = [("managed", Dispatch::Managed), ("native", Dispatch::Native)];
    let dispatch = chosen("--dispatch", args.dispatch.as_deref(), &known)?;
    let dispatch = dispatch.unwrap_or(Dispatch::Managed);
    if dispatch == Dispatch::Native {
        let policy = find_policy(&args.world.policy, "simulate a task set")?;
        check_native(policy, "simulate native dispatch")?;
    }
    Ok(dispatch)
}

/// Simulates a session from beginning to end.
pub(crate) fn run(
    session: &Session,
    dispatch: Dispatch,
    traces: &[PathBuf],
    output: &Output,
) -> Result<RunResult, Failure> {
    interrupt::watch()?;
    let mut statistics = Statistics::of(&session.guaranteed(), 1);
    let mut watched = Watched {
        progress: Progress::new(output, "simulating", session.duration.as_nanos()),
        jobs: 0,
    };
    let mut observers: Vec<&mut dyn Observer> = vec![&mut statistics, &mut watched];
    if traces.is_empty() {
        let cut = world(session, dispatch, None, &mut observers)?;
        return Ok(result(session, dispatch, &statistics, cut));
    }
    let header = tracing::header(session, dispatch);
    let files = RefCell::new(TraceFiles::create(traces, &header)?);
    let mut recorded = tracing::recorded(session, dispatch, &files);
    observers.push(&mut *recorded);
    let cut = world(session, dispatch, Some(&files), &mut observers)?;
    drop(recorded);
    files.into_inner().finish(output)?;
    Ok(result(session, dispatch, &statistics, cut))
}

/// The simulated world that dispatches so, recorded if there are files for it. Says where it ended if that
/// was before its time.
fn world(
    session: &Session,
    dispatch: Dispatch,
    files: Option<&RefCell<TraceFiles>>,
    observers: &mut Vec<&mut dyn Observer>,
) -> Result<Option<Cut>, Failure> {
    let what = || format!("simulate {}", shown(&session.file));
    let end = Instant::EPOCH.saturating_add(session.duration);
    let backlog = session
        .backlog()
        .map_or(Backlog::UNLIMITED, Backlog::at_most);
    let jobs = Jobs::new(&session.workload, interrupt::asked);
    let outcome = match dispatch {
        Dispatch::Managed => {
            let mut scheduler = session.scheduler(&what())?;
            let setting = Setting {
                tasks: &session.tasks,
                cpus: 1,
                end,
                backlog,
            };
            match files {
                None => vestal_sim::simulate(&mut *scheduler, &setting, &jobs, &jobs, observers),
                Some(files) => {
                    let mut recorder = Recorder::new(scheduler, files);
                    let outcome =
                        vestal_sim::simulate(&mut recorder, &setting, &jobs, &jobs, observers);
                    recorder.finish(last_instant(&outcome, end));
                    outcome
                }
            }
        }
        Dispatch::Native => {
            let guard = session.configuration().guard(Precision::EXACT);
            let mut guard = guard.map_err(|refusal| Failure::refused(what(), refusal))?;
            let setting = NativeSetting {
                tasks: session.configuration().tasks(),
                end,
                backlog,
            };
            match files {
                None => vestal_sim::simulate_native(&mut guard, &setting, &jobs, &jobs, observers),
                Some(files) => {
                    let tasks = setting.tasks.len();
                    let mut recorder = Recorder::with_permits(guard, files, tasks);
                    let outcome = vestal_sim::simulate_native(
                        &mut recorder,
                        &setting,
                        &jobs,
                        &jobs,
                        observers,
                    );
                    recorder.finish(last_instant(&outcome, end));
                    outcome
                }
            }
        }
    };
    match outcome {
        Ok(_) => Ok(None),
        Err(SimulationError::TooManyKept { at, kept }) => Ok(Some(Cut {
            at_ns: at.as_nanos(),
            why: format!("{kept} jobs wait behind others of their tasks, and no more are kept"),
        })),
        Err(error) => Err(session.own_fault(failure(what(), &error))),
    }
}

/// When a run that was to end at `end` did.
fn last_instant(outcome: &Result<Effort, SimulationError>, end: Instant) -> Instant {
    match outcome {
        Err(SimulationError::TooManyKept { at, .. }) => *at,
        Ok(_) | Err(_) => end,
    }
}

/// Who is to blame: the input, or we.
fn failure(what: String, error: &SimulationError) -> Failure {
    match error {
        SimulationError::Aborted(_) => Failure::interrupted(what),
        SimulationError::EndBeyondHorizon(_) => Failure::input(what, error.to_string())
            .with_help("shorten --for; the longest time is 2^62 ns, about 146 years"),
        SimulationError::TooManyTasks(_) => Failure::input(what, error.to_string()),
        SimulationError::ReleasesNotAscending { .. }
        | SimulationError::TooManyKept { .. }
        | SimulationError::Refused { .. }
        | SimulationError::UnknownJobPlanned { .. }
        | SimulationError::PlannedTwice { .. }
        | SimulationError::NoProgress { .. }
        | SimulationError::NoticesLost { .. } => Failure::bug(what, error.to_string()),
    }
}

/// Moves the progress bar, without looking at the clock for each job.
struct Watched {
    progress: Progress,
    jobs: u32,
}

impl Observer for Watched {
    fn released(&mut self, at: Instant, _: &JobState) {
        const JOBS_BETWEEN_LOOKS: u32 = 4096;
        self.jobs += 1;
        if self.jobs >= JOBS_BETWEEN_LOOKS {
            self.jobs = 0;
            self.progress.at(at.as_nanos());
        }
    }
}

fn result(
    session: &Session,
    dispatch: Dispatch,
    statistics: &Statistics,
    cut: Option<Cut>,
) -> RunResult {
    let totals = statistics.jobs();
    // The statistics judge by the condition of the model alone.
    let guaranteed = match session.system.proved_by() {
        Some(_) => totals.missed_guaranteed,
        None => 0,
    };
    let level = |level| session.set.level_name(level).to_owned();
    let modes = statistics.mode_changes().iter().map(|change| ModeChange {
        at_ns: change.at.as_nanos(),
        from: level(change.from),
        to: level(change.to),
        cause: change.cause.map(|job| session.task_name(job.task)),
        cpu: None,
    });
    let tasks = session
        .set
        .tasks
        .iter()
        .zip(&session.tasks)
        .zip(statistics.tasks());
    let cpus = (0..).zip(statistics.cpus()).map(|(cpu, found)| CpuRow {
        cpu,
        busy_ns: found.busy.as_nanos(),
        switches: found.switches,
        preemptions: found.preemptions,
        migrations: found.migrations,
    });
    let run = Run {
        duration_ns: statistics.end().as_nanos(),
        cut,
        jobs: run::Jobs {
            released: totals.released,
            completed: totals.completed,
            dropped: totals.dropped.total(),
            dropped_by: dropped_by(totals.dropped),
            missed: totals.missed,
            missed_guaranteed: guaranteed,
            missed_undecided: 0,
        },
        modes: modes.collect(),
        tasks: tasks
            .map(|((spec, task), found)| row(spec.name.clone(), task, found))
            .collect(),
        cpus: cpus.collect(),
        machine: Machine {
            missed_outside_gaps: guaranteed,
            ..Machine::default()
        },
        ..RunResult::of(session, World::Simulator, dispatch)
    };
    RunResult {
        run,
        mode_changes: statistics.mode_changes_count(),
        excluded: totals.missed_guaranteed,
    }
}

fn row(name: String, task: &Task, found: &TaskStatistics) -> TaskRow {
    const P99: u16 = 990;
    TaskRow {
        name,
        cpu,
        released: found.released,
        completed: found.completed,
        missed: found.missed,
        dropped: found.dropped.total(),
        dropped_by: dropped_by(found.dropped),
        overruns: found.overruns,
        preemptions: found.preemptions,
        response_ns: Response {
            min: found.response.spread().min(),
            mean: found.response.spread().mean(),
            p99: found.response.percentile(P99),
            max: found.response.spread().max(),
        },
        execution_ns: Execution {
            min: found.execution.min(),
            mean: found.execution.mean(),
            max: found.execution.max(),
        },
        tardiness_ns: Tardiness {
            mean: found.tardiness.mean(),
            max: found.tardiness.max(),
        },
        relative_response: found.relative_response(task),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Format, WorldArgs};
    use std::path::Path;
    use vestal_analysis::{Kind, Outcome as Answer, Parameters, Problem, TaskOutcome, Test};
    use vestal_core::{Enforcement, Task};
    use vestal_policy::{
        About, EXHAUSTION, Native, Policy, Refusal, Registry, Setup, System, Terms, one_cpu,
    };

    /// Accepts every set.
    fn always(problem: &Problem) -> Answer {
        let tasks = problem.tasks().iter().map(|_| TaskOutcome {
            priority: None,
            responses: Vec::new(),
            ..TaskOutcome::default()
        });
        Answer::decided(Kind::Sufficient, None, tasks.collect())
    }

    /// Priorities as the tasks stand in the file, the first one the least urgent.
    struct InFileOrder(About);

    fn about(name: &'static str, tests: &'static [&'static str]) -> About {
        About {
            name,
            summary: "as they stand in the file",
            page: "",
            parameters: &[],
            options: &[EXHAUSTION],
            tests,
            native: Native::Yes,
        }
    }

    impl Policy for InFileOrder {
        fn about(&self) -> &About {
            &self.0
        }

        fn rule(&self, tasks: &[Task]) -> Parameters {
            Parameters {
                priorities: Some((1..).take(tasks.len()).collect()),
                ..Parameters::default()
            }
        }

        fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
            Ok(one_cpu::by_rule(setup, &self.0, Enforcement::Static))
        }
    }

    /// The same, but guaranteed is only how late jobs may be.
    struct Tardy(About);

    impl Policy for Tardy {
        fn about(&self) -> &About {
            &self.0
        }

        fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
            let mut system = one_cpu::by_rule(setup, &self.0, Enforcement::Static);
            let tardiness = vec![None; setup.tasks.len()];
            system.clusters[0].domains[0].guarantee.terms = Terms::Tardiness(tardiness);
            Ok(system)
        }
    }

    fn opened(
        registry: &Registry,
        policy: &str,
        option: Option<&str>,
    ) -> Result<(Session, Output), Failure> {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let world = WorldArgs {
            file: examples.join("huang-three-tasks.toml"),
            policy: policy.to_owned(),
            duration: Some("1s".to_owned()),
            scenario: Some("hi".to_owned()),
            seed: 1,
            options: option.map(str::to_owned).into_iter().collect(),
            parameters: None,
        };
        let output = Output::new(Format::Json);
        Session::open(registry, &world, "simulate", &output).map(|session| (session, output))
    }

    fn result(registry: &Registry, policy: &str, option: Option<&str>) -> RunResult {
        let (session, output) = opened(registry, policy, option).unwrap();
        run(&session, Dispatch::Managed, &[], &output).unwrap()
    }

    /// To judge deadlines instead would say more than the policy does.
    #[test]
    fn a_guarantee_that_this_version_cannot_judge_is_refused() {
        let own = Registry::default();
        let own = own.with_policy(Tardy(about("tardy", &[]))).unwrap();
        let failure = opened(&own, "tardy", None).err().unwrap();
        assert_eq!(failure.exit, Exit::BadInput);
        let text = failure.why;
        assert!(text.contains("does not guarantee deadlines"), "{text}");
    }

    /// No test that is right can have its guarantee broken, so the one that is broken here is wrong.
    #[test]
    fn only_what_a_proof_covers_counts_as_guaranteed() {
        let test = Test::own("always", Kind::Sufficient, None, &[], "accepts", always);
        let own = Registry::default().with_test(test, "").unwrap();
        let own = own
            .with_policy(InFileOrder(about("trusting", &["always"])))
            .unwrap();
        let own = own
            .with_policy(InFileOrder(about("doubting", &[])))
            .unwrap();
        let trusting = result(&own, "trusting", None);
        assert_eq!(
            trusting.run.proof.as_ref().unwrap().as_ref().unwrap().test,
            "always"
        );
        assert!(trusting.run.jobs.missed_guaranteed > 0);
        assert!(trusting.run.jobs.missed > trusting.run.jobs.missed_guaranteed);
        // The same schedule, judged without a proof, and where the proof speaks of something else.
        let doubting = result(&own, "doubting", None);
        assert_eq!(doubting.run.jobs.missed, trusting.run.jobs.missed);
        for run in [
            doubting,
            result(&own, "trusting", Some("exhaustion=continue")),
        ] {
            assert_eq!(
                (&run.run.proof, run.run.jobs.missed_guaranteed),
                (&Some(None), 0)
            );
            assert_eq!(run.run.machine.missed_outside_gaps, 0);
            assert!(run.run.jobs.missed > 0 && run.excluded > 0);
        }
    }
}
