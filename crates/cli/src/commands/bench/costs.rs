//! What carrying policies out costs with each mechanism: runs of a small set in which jobs overrun.

use crate::args::WorldArgs;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::real::{self, Barrier, Monitor, Settings};
use crate::session::Session;
use std::path::PathBuf;
use vestal_experiment::costs::name;
use vestal_result::bench::{Dispatch, Mechanism, Primitive};
use vestal_workload::{Source, TaskSet};

/// Jobs of some hundred microseconds at both levels, and a long one below, which those that overrun find begun.
const SET: &str = r#"format = "vestal/1"
levels = ["LO", "HI"]
unit = "us"

[[task]]
name = "a"
criticality = "HI"
period = 5000
wcet = { LO = 400, HI = 900 }

[[task]]
name = "b"
criticality = "LO"
period = 5000
wcet = { LO = 400 }

[[task]]
name = "c"
criticality = "HI"
period = 10000
wcet = { LO = 500, HI = 1000 }

[[task]]
name = "d"
criticality = "LO"
period = 20000
wcet = { LO = 4000 }
"#;

/// The same for two CPUs that go through frames of 10 ms: HI jobs that overrun cost the LO jobs of their frame.
const FRAMES: &str = r#"format = "vestal/1"
levels = ["LO", "HI"]
unit = "us"

[platform]
cpus = 2

[[task]]
name = "a"
criticality = "HI"
period = 10000
wcet = { LO = 400, HI = 900 }
cpu = 0

[[task]]
name = "b"
criticality = "LO"
period = 10000
wcet = { LO = 400 }
cpu = 0

[[task]]
name = "c"
criticality = "HI"
period = 10000
wcet = { LO = 500, HI = 1000 }
cpu = 1

[[task]]
name = "d"
criticality = "LO"
period = 20000
wcet = { LO = 400 }
cpu = 1
"#;

/// How long each mechanism runs, and how often jobs overrun.
const SPAN: &str = "1500ms";
const SPAN_OF_FRAMES: &str = "1s";
/// The same for a quick look: some 100 jobs of the shortest period, of which 30 overrun, and 40 frames.
const QUICK_SPAN: &str = "500ms";
const QUICK_SPAN_OF_FRAMES: &str = "400ms";
pub(super) const OVERRUNS: &str = "overrun=0.3";

/// T_M of the heartbeat that runs have.
const HEARTBEAT_NANOS: u64 = 1_000_000;

/// A mechanism, and what asks for it.
struct Kind {
    name: &'static str,
    what: &'static str,
    dispatch: Dispatch,
    by: By,
}

/// What else tells it from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Monitor(Monitor),
    Barrier(Barrier),
    Nothing,
}

impl By {
    const fn monitor(self) -> Option<Monitor> {
        match self {
            Self::Monitor(monitor) => Some(monitor),
            Self::Barrier(_) | Self::Nothing => None,
        }
    }

    const fn barrier(self) -> Option<Barrier> {
        match self {
            Self::Barrier(barrier) => Some(barrier),
            Self::Monitor(_) | Self::Nothing => None,
        }
    }
}

/// Of those that carry the same policies out the usual one comes first.
#[rustfmt::skip]
const KINDS: [Kind; 10] = [
    Kind { name: "native/perf", what: "the kernel's priorities, budgets by perf counters",
        dispatch: Dispatch::Native, by: By::Monitor(Monitor::Perf) },
    Kind { name: "native/manager", what: "the kernel's priorities, budgets by wall timers and CPU clocks",
        dispatch: Dispatch::Native, by: By::Monitor(Monitor::Manager) },
    Kind { name: "native/remainder", what: "the same, with timers that stand still while their jobs are preempted",
        dispatch: Dispatch::Native, by: By::Monitor(Monitor::Remainder) },
    Kind { name: "native/heartbeat", what: "the kernel's priorities, budgets by a look each millisecond",
        dispatch: Dispatch::Native, by: By::Monitor(Monitor::Heartbeat) },
    Kind { name: "native/posix-timer", what: "the kernel's priorities, budgets by timers on CPU clocks",
        dispatch: Dispatch::Native, by: By::Monitor(Monitor::PosixTimer) },
    Kind { name: "managed/manager", what: "a manager dispatches, budgets by its own timer",
        dispatch: Dispatch::Managed, by: By::Monitor(Monitor::Manager) },
    Kind { name: "huang2014", what: "the mechanism of Huang, Gill and Lu (2014, section 5.3)",
        dispatch: Dispatch::Huang2014, by: By::Nothing },
    Kind { name: "ftts/spin", what: "frames on two CPUs, barriers that spin before they wait in a futex",
        dispatch: Dispatch::Frames, by: By::Barrier(Barrier::Spin) },
    Kind { name: "ftts/futex", what: "frames on two CPUs, barriers in a futex",
        dispatch: Dispatch::Frames, by: By::Barrier(Barrier::Futex) },
    Kind { name: "ftts/pthread", what: "frames on two CPUs, barriers of the pthread library",
        dispatch: Dispatch::Frames, by: By::Barrier(Barrier::Pthread) },
];

/// What each costs; fewer if a stop is requested. `primitives` were measured on the same CPU, and as quickly.
pub(crate) fn mechanisms(
    primitives: &[Primitive],
    (cpu, is_quick): (Option<usize>, bool),
    output: &Output,
) -> Result<Vec<Mechanism>, Failure> {
    interrupt::watch()?;
    let progress = Progress::new(output, "mechanisms", KINDS.len() as u64);
    let mut measured = Vec::new();
    for (done, kind) in (1..).zip(&KINDS) {
        if interrupt::asked() {
            break;
        }
        measured.extend(mechanism(kind, primitives, (cpu, is_quick), output)?);
        progress.at(done);
    }
    Ok(measured)
}

/// `None`: a signal ended its run.
fn mechanism(
    kind: &Kind,
    primitives: &[Primitive],
    (cpu, is_quick): (Option<usize>, bool),
    output: &Output,
) -> Result<Option<Mechanism>, Failure> {
    let has_frames = kind.dispatch == Dispatch::Frames;
    let session = session(has_frames, is_quick, output)?;
    let cpus = match has_frames {
        true => real::two_processors(cpu),
        false => cpu.map(|cpu| vec![cpu]),
    };
    let lacks_cpus = has_frames && cpus.is_none();
    let settings = Settings {
        managed: kind.dispatch == Dispatch::Managed,
        mechanism: match kind.dispatch {
            Dispatch::Huang2014 => real::Mechanism::Huang2014,
            Dispatch::Native | Dispatch::Managed | Dispatch::Frames => real::Mechanism::Vestal,
        },
        monitor: kind.by.monitor(),
        barrier: kind.by.barrier(),
        cpus,
        ..Settings::default()
    };
    let named = Mechanism {
        name: kind.name.to_owned(),
        what: kind.what.to_owned(),
        dispatch: kind.dispatch,
        not_run: lacks_cpus
            .then(|| "it needs two CPUs of the machine, and this process may use one".to_owned()),
        heartbeat_ns: (kind.by == By::Monitor(Monitor::Heartbeat)).then_some(HEARTBEAT_NANOS),
        monitor: None,
        costs: Vec::new(),
    };
    measured(named, (&session, &settings), primitives)
}

/// A mechanism with what it costs in a run, unless it is known that it does not run. `None`: a signal ended it.
pub(super) fn measured(
    mechanism: Mechanism,
    (session, settings): (&Session, &Settings),
    primitives: &[Primitive],
) -> Result<Option<Mechanism>, Failure> {
    let (costs, not_run) = match mechanism.not_run {
        Some(why) => (Vec::new(), Some(why)),
        None => match real::costs(session, settings) {
            Ok(None) => return Ok(None),
            Ok(Some(costs)) => (costs, None),
            Err(failure) if failure.exit == Exit::Machine => return Err(failure),
            Err(failure) => (Vec::new(), Some(failure.why)),
        },
    };
    let of_primitives = |name: &str, of: &str| {
        let found = primitives.iter().find(|cost| cost.name == of);
        found.map(|cost| Primitive {
            name: name.to_owned(),
            ..cost.clone()
        })
    };
    let shared = [
        of_primitives(name::SWITCH, real::SWITCH),
        of_primitives(name::RELEASE, real::RELEASE),
    ];
    Ok(Some(Mechanism {
        not_run,
        costs: costs
            .into_iter()
            .chain(shared.into_iter().flatten())
            .collect(),
        ..mechanism
    }))
}

/// The set that is run: on one CPU, or with frames on two.
fn session(has_frames: bool, is_quick: bool, output: &Output) -> Result<Session, Failure> {
    let (policy, span) = match (has_frames, is_quick) {
        (true, false) => ("ftts", SPAN_OF_FRAMES),
        (true, true) => ("ftts", QUICK_SPAN_OF_FRAMES),
        (false, false) => ("amc", SPAN),
        (false, true) => ("amc", QUICK_SPAN),
    };
    let world = WorldArgs {
        file: PathBuf::from("mechanisms.toml"),
        policy: policy.to_owned(),
        duration: Some(span.to_owned()),
        scenario: Some(OVERRUNS.to_owned()),
        seed: 1,
        options: Vec::new(),
        parameters: None,
    };
    Session::with_set(&world, set(has_frames)?, output)
}

/// The set itself.
pub(super) fn set(has_frames: bool) -> Result<TaskSet, Failure> {
    let text = if has_frames { FRAMES } else { SET };
    let source = Source::new("mechanisms.toml", text);
    TaskSet::from_source(&source)
        .map_err(|found| Failure::bug("read the set of the benchmark", found.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format;

    /// The sets are proved, else a run would warn, and promise nothing.
    #[test]
    fn the_sets_of_the_benchmark_are_proved_and_every_mechanism_has_a_name_of_its_own() {
        for (has_frames, cpus) in [(false, 1), (true, 2)] {
            let Ok(session) = session(has_frames, true, &Output::new(Format::Json)) else {
                panic!("the set is sound");
            };
            assert!(session.system.proved_by().is_some());
            assert_eq!(session.system.cpus, cpus);
        }
        let names: std::collections::BTreeSet<_> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), KINDS.len());
    }
}
