//! What carrying policies out costs with each mechanism: runs of a small set in which jobs overrun.

use crate::args::WorldArgs;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::real::{self, Monitor, Settings};
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

/// How long each mechanism runs, and how often jobs overrun.
const SPAN: &str = "1500ms";
const OVERRUNS: &str = "overrun=0.3";

/// T_M of the heartbeat that runs have.
const HEARTBEAT_NANOS: u64 = 1_000_000;

/// A mechanism, and what asks for it.
struct Kind {
    name: &'static str,
    what: &'static str,
    dispatch: Dispatch,
    monitor: Option<Monitor>,
}

#[rustfmt::skip]
const KINDS: [Kind; 7] = [
    Kind { name: "native/perf", what: "the kernel's priorities, budgets by perf counters",
        dispatch: Dispatch::Native, monitor: Some(Monitor::Perf) },
    Kind { name: "native/manager", what: "the kernel's priorities, budgets by wall timers and CPU clocks",
        dispatch: Dispatch::Native, monitor: Some(Monitor::Manager) },
    Kind { name: "native/remainder", what: "the same, with timers that stand still while their jobs are preempted",
        dispatch: Dispatch::Native, monitor: Some(Monitor::Remainder) },
    Kind { name: "native/heartbeat", what: "the kernel's priorities, budgets by a look each millisecond",
        dispatch: Dispatch::Native, monitor: Some(Monitor::Heartbeat) },
    Kind { name: "native/posix-timer", what: "the kernel's priorities, budgets by timers on CPU clocks",
        dispatch: Dispatch::Native, monitor: Some(Monitor::PosixTimer) },
    Kind { name: "managed/manager", what: "a manager dispatches, budgets by its own timer",
        dispatch: Dispatch::Managed, monitor: Some(Monitor::Manager) },
    Kind { name: "huang2014", what: "the mechanism of Huang, Gill and Lu (2014, section 5.3)",
        dispatch: Dispatch::Huang2014, monitor: None },
];

/// What each costs; fewer if a stop is requested. `primitives` were measured on the same CPU.
pub(crate) fn mechanisms(
    primitives: &[Primitive],
    cpu: Option<usize>,
    output: &Output,
) -> Result<Vec<Mechanism>, Failure> {
    interrupt::watch()?;
    let progress = Progress::new(output, "mechanisms", KINDS.len() as u64);
    let mut measured = Vec::new();
    for (done, kind) in (1..).zip(&KINDS) {
        if interrupt::asked() {
            break;
        }
        measured.extend(mechanism(kind, primitives, cpu, output)?);
        progress.at(done);
    }
    Ok(measured)
}

/// `None`: a signal ended its run.
fn mechanism(
    kind: &Kind,
    primitives: &[Primitive],
    cpu: Option<usize>,
    output: &Output,
) -> Result<Option<Mechanism>, Failure> {
    let session = session(output)?;
    let settings = Settings {
        managed: kind.dispatch == Dispatch::Managed,
        mechanism: match kind.dispatch {
            Dispatch::Huang2014 => real::Mechanism::Huang2014,
            Dispatch::Native | Dispatch::Managed | Dispatch::Frames => real::Mechanism::Vestal,
        },
        monitor: kind.monitor,
        cpus: cpu.map(|cpu| vec![cpu]),
        ..Settings::default()
    };
    let (costs, not_run) = match real::costs(&session, &settings) {
        Ok(None) => return Ok(None),
        Ok(Some(costs)) => (costs, None),
        Err(failure) if failure.exit == Exit::Machine => return Err(failure),
        Err(failure) => (Vec::new(), Some(failure.why)),
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
        name: kind.name.to_owned(),
        what: kind.what.to_owned(),
        dispatch: kind.dispatch,
        not_run,
        heartbeat_ns: (kind.monitor == Some(Monitor::Heartbeat)).then_some(HEARTBEAT_NANOS),
        costs: costs
            .into_iter()
            .chain(shared.into_iter().flatten())
            .collect(),
    }))
}

fn session(output: &Output) -> Result<Session, Failure> {
    let source = Source::new("mechanisms.toml", SET);
    let set = TaskSet::from_source(&source)
        .map_err(|found| Failure::bug("read the set of the benchmark", found.to_string()))?;
    let world = WorldArgs {
        file: PathBuf::from("mechanisms.toml"),
        policy: "amc".to_owned(),
        duration: Some(SPAN.to_owned()),
        scenario: Some(OVERRUNS.to_owned()),
        seed: 1,
        options: Vec::new(),
        parameters: None,
    };
    Session::with_set(&world, set, output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format;

    /// The set is proved, else a run would warn, and promise nothing.
    #[test]
    fn the_set_of_the_benchmark_is_proved_and_every_mechanism_has_a_name_of_its_own() {
        let Ok(session) = session(&Output::new(Format::Json)) else {
            panic!("the set is sound");
        };
        assert!(session.system.proved_by().is_some());
        let names: std::collections::BTreeSet<_> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), KINDS.len());
    }
}
