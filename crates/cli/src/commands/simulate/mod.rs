//! `vestal simulate FILE --policy P`: the task set in exact simulated time.

#[cfg(test)]
mod frames_tests;
mod outside;
mod plain;
#[cfg(test)]
mod servers_tests;
mod worlds;

use crate::args::SimulateArgs;
use crate::commands::overheads::Source;
use crate::commands::run::{check_dispatcher, chosen};
use crate::failure::{Exit, Failure, Outcome};
use crate::input::shown;
use crate::interrupt;
use crate::output::Output;
use crate::quantity::{exact, short};
use crate::registry::{check_native, find_policy, registry};
use crate::report::{RunResult, dropped_by};
use crate::session::Session;
use crate::tracing::{self, TraceFiles};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use vestal_core::{Service, Task, TaskId};
use vestal_policy::{Options, Policy};
use vestal_result::run::{
    self, Cost, CpuRow, Execution, Frames, Machine, ModeChange, Response, Run, Tardiness, TaskRow,
};
use vestal_sim::statistics::{CpuStatistics, TaskStatistics};
use vestal_sim::{Figures, FrameStatistics};
use vestal_trace::{Dispatch, Domains, World};
use worlds::Ran;

pub(crate) fn simulate(args: &SimulateArgs, output: &Output) -> Outcome {
    let inputs = args
        .world
        .inputs()
        .chain(args.overheads.overheads.as_deref());
    tracing::check(&args.traces, inputs)?;
    let dispatch = dispatch(args)?;
    // Also while the policy plans, and while nobody reads what it prints.
    interrupt::watch()?;
    let bounded = interrupt::bounded(output.last_words(interrupted(&args.world.file)));
    let overheads = Source::of_simulation(&args.overheads)?;
    let costs = |policy: &dyn Policy, options: &Options| {
        let Some(source) = &overheads else {
            return Ok(None);
        };
        let simulated = source.simulated(registry(), (policy, options))?;
        let taken = source.taken_by(&simulated);
        Ok(Some((simulated, taken)))
    };
    let session = Session::with_costs(registry(), &args.world, costs, output)?;
    check_dispatcher(&session)?;
    if !args.yes {
        check_length(&session)?;
    }
    let (result, unwritten) = run(&session, dispatch, &args.traces, output)?;
    let broken = result.run.jobs.missed_guaranteed + result.run.bursts.broken;
    let exit = match result.run.cut {
        Some(_) => Exit::Machine,
        None => Exit::holds(broken == 0),
    };
    let exit = exit_beside(unwritten.as_ref(), exit);
    let _told = bounded.told(output);
    // What is wrong is said first: the rest may be cut short.
    if let Some(cut) = &result.run.cut {
        output.warning(&format!(
            "the simulation ended at {}, with what was known by then: {}; --set backlog=N limits \
             how many jobs of a task may wait",
            short(cut.at_ns),
            cut.why
        ));
    }
    if let Some(failure) = &unwritten {
        output.complaint(failure);
    }
    output.human(&result.page(&session, output));
    output.human(&result.verdict(&session, output));
    output.json(&result.run)?;
    Ok(exit)
}

/// There is no result, and no trace.
pub(crate) fn interrupted(file: &Path) -> Failure {
    Failure::interrupted(format!("simulate {}", shown(file)))
}

/// The exit code beside a trace that could not be written, which counts where nothing else is wrong.
pub(crate) fn exit_beside(unwritten: Option<&Failure>, exit: Exit) -> Exit {
    match unwritten {
        Some(failure) if exit == Exit::Holds => failure.exit,
        Some(_) | None => exit,
    }
}

/// So many jobs are simulated without asking back: some minutes.
const JOBS_MAX: u64 = 1_000_000_000;

/// Refuses a simulation of so many jobs that whoever asks has likely not thought of it.
fn check_length(session: &Session) -> Result<(), Failure> {
    let duration = session.duration.as_nanos();
    let jobs = session
        .tasks
        .iter()
        .map(|task| duration / task.period.as_nanos());
    let jobs = jobs.fold(0, u64::saturating_add);
    if jobs <= JOBS_MAX {
        return Ok(());
    }
    let allowed = u128::from(duration) * u128::from(JOBS_MAX) / u128::from(jobs);
    let allowed = u64::try_from(allowed).unwrap_or(duration);
    // In whole units, so that it can be given as it is named.
    let units = [1_000_000_000, 1_000_000, 1_000, 1];
    let unit = units.into_iter().find(|unit| *unit <= allowed);
    let allowed = unit.map_or(0, |unit| allowed / unit * unit);
    let why = format!(
        "{} of the file have some {jobs} jobs, more than {JOBS_MAX}",
        short(duration)
    );
    let shorter = match allowed {
        0 => String::new(),
        allowed => format!(", or at most --for {}", exact(allowed)),
    };
    let help = format!("simulate it nevertheless with --yes{shorter}");
    Err(Failure::input(format!("simulate {}", shown(&session.file)), why).with_help(help))
}

/// Who keeps the order in the simulated world.
fn dispatch(args: &SimulateArgs) -> Result<Dispatch, Failure> {
    let known = [("managed", Dispatch::Managed), ("native", Dispatch::Native)];
    let dispatch = chosen("--dispatch", args.dispatch.as_deref(), &known)?;
    let dispatch = dispatch.unwrap_or(Dispatch::Managed);
    if dispatch == Dispatch::Native {
        let policy = find_policy(&args.world.policy, "simulate a task set")?;
        check_native(policy, "simulate native dispatch")?;
        if args.overheads.overheads.is_some() {
            let why = "what carrying a policy out costs is simulated with managed dispatch";
            return Err(Failure::input("simulate native dispatch", why).with_help(
                "leave out --dispatch native; --mechanism chooses whose costs are taken",
            ));
        }
    }
    Ok(dispatch)
}

/// Simulates a session from beginning to end. With the result comes why a trace could not be written, which the numbers do not
/// need.
pub(crate) fn run(
    session: &Session,
    dispatch: Dispatch,
    traces: &[PathBuf],
    output: &Output,
) -> Result<(RunResult, Option<Failure>), Failure> {
    interrupt::watch()?;
    let (ran, unwritten) = if traces.is_empty() {
        (worlds::run(session, dispatch, None, output)?, None)
    } else {
        let header = tracing::header(session, World::Simulator, dispatch);
        let files = RefCell::new(Domains::new(TraceFiles::create(traces, &header)?));
        let ran = worlds::run(session, dispatch, Some(&files), output)?;
        (ran, files.into_inner().into_inner().finish(output))
    };
    Ok((result(session, dispatch, ran), unwritten))
}

fn result(session: &Session, dispatch: Dispatch, ran: Ran) -> RunResult {
    let Ran {
        figures,
        served,
        bursts,
        frames,
        ghosts,
        cut,
    } = ran;
    let (servers, devices) = outside::rows(session, &served);
    let totals = figures.jobs();
    // The statistics judge by the condition of the model alone.
    let is_proved = session.system.proved_by().is_some();
    let guaranteed = u64::from(is_proved) * totals.missed_guaranteed;
    let level = |level| session.set.level_name(level).to_owned();
    let modes = figures.mode_changes().iter().map(|change| ModeChange {
        at_ns: change.at.as_nanos(),
        from: level(change.from),
        to: level(change.to),
        cause: change.cause.map(|job| session.task_name(job.task)),
        cpu: Some(change.cpu.0),
    });
    let tasks = session
        .set
        .tasks
        .iter()
        .zip(&session.tasks)
        .zip(figures.tasks())
        .zip((0..).map(TaskId));
    let run = Run {
        duration_ns: figures.end().as_nanos(),
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
            .map(|(((spec, task), found), number)| TaskRow {
                cpu: session.system.cpu_of(number).map(|cpu| cpu.0),
                ghost_ns: ghost_ns(&ghosts, number),
                tardiness_bound_ns: session.tardiness(number).map(|late| late.as_nanos()),
                ..row(spec.name.clone(), task, found)
            })
            .collect(),
        cpus: (0..).zip(figures.cpus()).map(of_cpu).collect(),
        servers,
        devices,
        bursts: outside::bursts(bursts, is_proved),
        frames: frames
            .map(|found| of_frames(found, session.frame_overhead().as_nanos()))
            .unwrap_or_default(),
        overheads: session.costs.as_ref().map(|(_, taken)| taken.clone()),
        overhead: costs(&figures),
        machine: Machine {
            missed_outside_gaps: guaranteed,
            ..Machine::default()
        },
        ..RunResult::of(session, World::Simulator, dispatch)
    };
    RunResult {
        run,
        mode_changes: figures.mode_changes_count(),
        excluded: totals.missed_guaranteed,
    }
}

fn of_cpu((cpu, found): (u16, &CpuStatistics)) -> CpuRow {
    CpuRow {
        cpu,
        busy_ns: found.busy.as_nanos(),
        overhead_ns: found.overhead.as_nanos(),
        switches: found.switches,
        preemptions: found.preemptions,
        migrations: found.migrations,
        ..CpuRow::default()
    }
}

/// What was taken of the CPUs, by its cause.
fn costs(figures: &Figures) -> BTreeMap<String, Cost> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "figures for display, not for decisions"
    )]
    let float = |nanos: u128| nanos as f64;
    let cpus = figures.cpus().len() as u128;
    let all = float(u128::from(figures.end().as_nanos()) * cpus);
    let taken = figures.taken().filter(|(_, spread)| spread.count() > 0);
    taken
        .map(|(cause, spread)| {
            let cost = Cost {
                count: spread.count(),
                mean: Some(float(spread.sum()) / float(u128::from(spread.count()))),
                p99: None,
                max: spread.max(),
                share: Some(float(spread.sum()) / all),
                share_max: None,
            };
            (cause.word().to_owned(), cost)
        })
        .collect()
}

const fn of_frames(found: FrameStatistics, overhead_ns: u64) -> Frames {
    Frames {
        total: found.total,
        skipped: found.skipped,
        lo_skipped: found.lowest_skipped,
        overrun: found.overrun,
        unprovoked: found.unprovoked,
        unprovoked_undecided: 0,
        overhead_ns,
        barrier: None,
        clock: None,
        dispatcher: None,
        sub_frame_init: None,
        started_early: None,
        checks: None,
        found_late: None,
    }
}

fn ghost_ns(ghosts: &[Option<Service>], task: TaskId) -> Option<u64> {
    let found = ghosts.get(task.index()).copied().flatten()?;
    Some(found.as_nanos())
}

fn row(name: String, task: &Task, found: &TaskStatistics) -> TaskRow {
    const P99: u16 = 990;
    TaskRow {
        name,
        cpu: None,
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
        tardiness_bound_ns: None,
        ghost_ns: None,
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
        run(&session, Dispatch::Managed, &[], &output).unwrap().0
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
