//! Frame tables of a policy that only these tests have: what a result says of their frames, and that a recording is
//! decided again.

use super::{RunResult, run};
use crate::args::{Format as PrintFormat, ReplayArgs, WorldArgs};
use crate::commands::replay::decided_again;
use crate::output::Output;
use crate::session::Session;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use vestal_analysis::{Parameter, Parameters};
use vestal_policy::{
    About, Analysis, Cluster, Configuration, Fields, FrameLists, Guarantee, Native, Options,
    Policy, Precision, Refusal, Registry, Setup, System, Terms, Use, assemble, parameters,
};
use vestal_result::run::Frames;
use vestal_trace::{Dispatch, Format, Header, Record, Trace, What, replay};
use vestal_workload::Source;

static ABOUT: About = About {
    name: "framed",
    summary: "the frames of --parameters",
    page: "",
    parameters: &[Parameter::Frames, Parameter::Barriers],
    options: &[],
    tests: &[],
    native: Native::Yes,
};

struct Framed;

impl Policy for Framed {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            cpus: Use::Reads,
            ..Fields::ONE_CPU
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let given = setup.given.all();
        let (Some(map), Some(barriers)) = (&given.frames, &given.barriers) else {
            return Err(Refusal::input("no frames"));
        };
        let cpus = setup.set.platform.cpus;
        let tasks = setup.with_priorities(&[]);
        let lists = FrameLists::new(tasks, setup.levels, cpus, (map, barriers));
        let lists = lists.map_err(|fault| fault.refusal(setup.set))?;
        let guarantee = Guarantee::new(Terms::Nothing, setup.proof.clone());
        Ok(System {
            policy: ABOUT.name.to_owned(),
            options: setup.options.clone(),
            parameters: lists.parameters(),
            cpus,
            clusters: vec![Cluster::whole(
                Configuration::Frames(lists),
                cpus,
                guarantee,
            )],
            origin: "the frames of --parameters".to_owned(),
        })
    }
}

/// A directory of one test, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = format!("vestal-frames-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const HEAD: &str = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ns\"\n";
const A: &str =
    "[[task]]\nname = \"a\"\ncriticality = \"HI\"\nperiod = 10\nwcet = { LO = 2, HI = 5 }\n";
const B: &str =
    "[[task]]\nname = \"b\"\ncriticality = \"HI\"\nperiod = 20\nwcet = { LO = 3, HI = 4 }\n";
const C: &str = "[[task]]\nname = \"c\"\ncriticality = \"LO\"\nperiod = 10\nwcet = { LO = 3 }\n";
const D: &str = "[[task]]\nname = \"d\"\ncriticality = \"LO\"\nperiod = 20\nwcet = { LO = 4 }\n";

/// On one CPU `a` and then `c` in every frame.
const ONE: &str = "{ \"frames\": { \"length\": \"10ns\", \"frames\": [\
{ \"HI\": [[\"a\"]], \"LO\": [[\"c\"]] } ] },\
\"barriers\": [{ \"HI\": { \"HI\": \"5ns\", \"LO\": \"2ns\" }, \"LO\": { \"LO\": \"3ns\" } } ] }";

/// In even frames `a` and `b`, then `c`; in odd ones `a` alone, then `c` and `d`.
const TWO: &str = "{ \"frames\": { \"length\": \"10ns\", \"frames\": [\
{ \"HI\": [[\"a\"], [\"b\"]], \"LO\": [[\"c\"], []] },\
{ \"HI\": [[\"a\"], []], \"LO\": [[\"c\"], [\"d\"]] } ] },\
\"barriers\": [\
{ \"HI\": { \"HI\": \"5ns\", \"LO\": \"3ns\" }, \"LO\": { \"LO\": \"3ns\" } },\
{ \"HI\": { \"HI\": \"5ns\", \"LO\": \"2ns\" }, \"LO\": { \"LO\": \"4ns\" } } ] }";

/// The session of so many CPUs under a scenario, for so long.
fn session(
    registry: &Registry,
    folder: &Scratch,
    cpus: u16,
    (scenario, duration): (&str, &str),
) -> Session {
    let (tasks, table) = match cpus {
        1 => ([A, C].concat(), ONE),
        _ => ([A, B, C, D].concat(), TWO),
    };
    let text = format!("{HEAD}[platform]\ncpus = {cpus}\n{tasks}");
    let world = WorldArgs {
        file: folder.file("set.toml", &text),
        policy: "framed".to_owned(),
        duration: Some(duration.to_owned()),
        scenario: Some(scenario.to_owned()),
        seed: 3,
        options: Vec::new(),
        parameters: Some(folder.file("given.json", table)),
    };
    Session::open(
        registry,
        &world,
        "simulate",
        &Output::new(PrintFormat::Json),
    )
    .unwrap()
}

fn simulated(session: &Session, traces: &[PathBuf]) -> RunResult {
    let output = Output::new(PrintFormat::Json);
    let (result, unwritten) = run(session, Dispatch::Managed, traces, &output).unwrap();
    assert!(unwritten.is_none(), "{unwritten:?}");
    result
}

fn read(path: &Path) -> (Header, Vec<Record>) {
    let input = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let format = Format::from_path(path).unwrap();
    let trace = Trace::open(format, input).unwrap().unwrap();
    let header = trace.header().clone();
    (header, trace.collect::<Result<_, _>>().unwrap())
}

#[test]
fn a_result_says_what_became_of_the_frames() {
    let folder = Scratch::new("result");
    let registry = Registry::default().with_policy(Framed).unwrap();
    let frames = |lo_skipped| Frames {
        total: 40,
        lo_skipped,
        ..Frames::default()
    };
    for cpus in [1, 2] {
        // Every job needs its C(LO), or that of its own level, by which HI jobs are late in every frame.
        for (scenario, skipped) in [("lo", 0), ("hi", 40)] {
            let run = simulated(&session(&registry, &folder, cpus, (scenario, "400ns")), &[]).run;
            assert_eq!(run.frames, frames(skipped), "{cpus} {scenario}");
            let homes: Vec<Option<u16>> = run.tasks.iter().map(|row| row.cpu).collect();
            let expected: &[u16] = if cpus == 1 { &[0, 0] } else { &[0, 1, 0, 1] };
            let expected: Vec<Option<u16>> = expected.iter().copied().map(Some).collect();
            assert_eq!(homes, expected);
            let released = if cpus == 1 { 80 } else { 120 };
            let lost = if cpus == 1 { 40 } else { 60 } * u64::from(skipped > 0);
            let jobs = &run.jobs;
            assert_eq!(
                (jobs.released, jobs.completed, jobs.dropped),
                (released, released - lost, lost)
            );
            assert_eq!(jobs.dropped_by.get("mode"), Some(&lost));
        }
    }
}

#[test]
fn a_drawing_has_a_lane_for_each_cpu_of_a_table() {
    let folder = Scratch::new("drawn");
    let registry = Registry::default().with_policy(Framed).unwrap();
    let session = session(&registry, &folder, 2, ("lo", "20ns"));
    let path = folder.0.join("run.txt");
    simulated(&session, std::slice::from_ref(&path));
    let text = std::fs::read_to_string(&path).unwrap();
    for lane in ["CPU 0  AA.CCC....AACCC.....", "CPU 1  BBB.........DDDD...."] {
        assert!(text.lines().any(|line| line == lane), "{text}");
    }
}

/// The system of a recording, from nothing but what stands in its header.
fn assembled(registry: &Registry, header: &Header) -> System {
    let set = Source::new("recorded", &header.task_set);
    let set = vestal_workload::TaskSet::from_source(&set).unwrap();
    let given: Parameters =
        parameters::read(&Source::new("recorded", &header.parameters), &set).unwrap();
    let by: (&dyn Policy, _) = (registry.policy("framed").unwrap(), &Options::default());
    assemble(registry, by, &set, &given, Analysis::Skip).unwrap()
}

#[test]
fn a_recording_is_decided_again_and_a_changed_sequence_is_found() {
    let folder = Scratch::new("replay");
    let registry = Registry::default().with_policy(Framed).unwrap();
    for (cpus, format) in [(1, "vtrace"), (1, "csv"), (2, "vtrace"), (2, "csv")] {
        let session = session(&registry, &folder, cpus, ("overrun=0.3", "400ns"));
        let path = folder.0.join(format!("run.{format}"));
        let result = simulated(&session, std::slice::from_ref(&path)).run;
        let skipped = result.frames.lo_skipped;
        assert!(0 < skipped && skipped < 40, "{skipped}");
        let (header, records) = read(&path);
        let system = assembled(&registry, &header);
        assert_eq!(
            system.clusters[0].configuration,
            session.system.clusters[0].configuration
        );
        let again = |records: &[Record]| {
            let engine = system.clusters[0].configuration.engine(Precision::EXACT);
            let mut engine = engine.unwrap().boxed();
            let sure = records.iter().map(|record| Ok::<_, ()>(*record));
            replay(&header, sure, &mut *engine)
        };
        assert!(again(&records).is_ok());
        // The command, with such a program's own policies.
        let args = |trace: &Path| ReplayArgs {
            trace: trace.to_owned(),
            file: None,
            policy: None,
            tolerance: None,
            parameters: None,
        };
        let output = Output::new(PrintFormat::Json);
        let (_, document) = decided_again(&registry, &args(&path), &output).unwrap();
        assert!(document.equal, "{document:?}");
        assert_eq!(document.records, records.len() as u64);
        assert_eq!(document.jobs.unwrap().released, result.jobs.released);
        // A file that says another number of CPUs is not that of its policy.
        if format == "csv" {
            let text = std::fs::read_to_string(&path).unwrap();
            let (said, other) = (format!("cpus\t{cpus}\n"), "cpus\t3\n");
            assert_eq!(text.matches(&said).count(), 1, "{text}");
            let other = folder.file("other.csv", &text.replace(&said, other));
            let refused = decided_again(&registry, &args(&other), &output).err();
            let why = refused.unwrap().why;
            assert!(why.contains("V0805: its CPUs"), "{why}");
        }
        let mut changed_on = BTreeSet::new();
        for index in 0..records.len() {
            let mut changed = records.clone();
            let what = &mut changed[index].what;
            if let What::Queued { cpu, job } = what {
                job.sequence += 1;
                changed_on.insert(cpu.0);
            } else if let What::Sequence { barrier, .. } = what {
                barrier.0 += 1;
            } else {
                continue;
            }
            assert!(again(&changed).is_err(), "{}", records[index]);
        }
        assert_eq!(changed_on, (0..cpus).collect::<BTreeSet<u16>>());
    }
}
