//! Frame tables: a place for each job in a cycle of frames, a sub-frame for each criticality.

use crate::configuration::{BY_FRAME, Configuration, FrameLists};
use crate::options::{DISPATCHER, OptionKey, SUB_FRAME_INIT, Values};
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::{Cluster, Guarantee, Proof, System, Terms};
use vestal_analysis::{Parameter, Parameters};
use vestal_core::{CpuId, Duration, Enforcement, Exhaustion, TaskId};
use vestal_workload::quantity::parse_time;

/// By how much later sub-frames may begin than the barriers before them say: o of the paper.
pub const FRAME_OVERHEAD: OptionKey = OptionKey {
    name: "frame-overhead",
    summary: "how much later sub-frames may begin than the barriers before them say: a time, or slack for all that the \
              shortest frame has; without it nothing, or what overheads say as far as there is slack",
    values: Values::Free,
};

static ABOUT: About = About {
    name: "ftts",
    summary: "frames on several CPUs, in each a sub-frame for every level that ends at a barrier",
    page: include_str!("../../../../docs/explain/ftts.md"),
    parameters: &[Parameter::Partition, Parameter::Frames, Parameter::Barriers],
    options: &[FRAME_OVERHEAD, DISPATCHER, SUB_FRAME_INIT],
    tests: &["ftts"],
    native: Native::No(BY_FRAME),
};

pub(super) struct Ftts;

impl Policy for Ftts {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        const INTERFERENCE: Use = Use::Rule(
            "accesses and the bus together lengthen the barriers of the test; no world delays a job for them",
        );
        Fields {
            offset: Use::Rule("counts: the place of a job is after its release"),
            arrival: Use::Rule("counts; the test is for periodic tasks alone"),
            degraded: Use::Rule(
                "has no effect on runs, and the test proves nothing of a set with degraded budgets",
            ),
            priority: Use::Ignored("the table orders the tasks"),
            cpu: Use::Rule("the task runs there; who has none is placed by the test"),
            accesses: INTERFERENCE,
            on_miss: Use::Ignored("a job that has begun in its sub-frame runs to its end"),
            estimates: Use::Ignored(
                "no job is stopped, whatever it takes; only the scenario `beta` looks at estimates above the own level",
            ),
            cpus: Use::Reads,
            bus: INTERFERENCE,
            ..Fields::ONE_CPU
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let frames = setup.choose(|all| all.frames.as_ref());
        let barriers = setup.choose(|all| all.barriers.as_ref());
        let (Some((map, by)), Some((barriers, barriers_by))) = (frames, barriers) else {
            return Err(no_table(setup));
        };
        let cpus = setup.set.platform.cpus;
        let tasks = setup.with_priorities(&[]);
        let lists = FrameLists::new(tasks, setup.levels, cpus, (&map, &barriers));
        let lists = lists.map_err(|fault| fault.refusal(setup.set))?;
        let spare = spare(setup, &lists)?;
        let lists = lists.with_overhead(spare);
        let lists = lists.map_err(|fault| fault.refusal(setup.set))?;
        let mut proof = setup.proof.clone();
        // With less to spare than it costs, sub-frames are dropped for nothing.
        if let Proof::Proved { by } = &proof
            && spare < needed(setup, &lists)
        {
            let what = format!("{}={}ns", FRAME_OVERHEAD.name, spare.as_nanos());
            proof = Proof::NotCovered {
                by: by.clone(),
                what,
            };
        }
        let homes = (0..).map(TaskId).take(setup.tasks.len());
        let homes: Vec<Option<CpuId>> = homes.map(|task| lists.home(task)).collect();
        // There are no limits: a job that needs more than its own level's value breaks what is promised to all.
        let terms = Terms::Deadlines {
            enforcement: Enforcement::Static,
            exhaustion: Exhaustion::Continue,
        };
        let guarantee = Guarantee::new(terms, proof);
        Ok(System {
            policy: ABOUT.name.to_owned(),
            options: match spare.is_zero() {
                true => setup.options.clone(),
                // As much the next time, whatever the overheads are then.
                false => setup
                    .options
                    .with(&FRAME_OVERHEAD, format!("{}ns", spare.as_nanos())),
            },
            parameters: Parameters {
                partition: Some(homes),
                ..lists.parameters()
            },
            cpus,
            clusters: vec![Cluster::whole(
                Configuration::Frames(lists),
                cpus,
                guarantee,
            )],
            origin: format!("frames {by}, barriers {barriers_by}"),
        })
    }
}

/// How much later a sub-frame may begin than the barriers before it say.
fn spare(setup: &Setup<'_>, lists: &FrameLists) -> Result<Duration, Refusal> {
    let slack = lists.slack();
    match setup.options.given(&FRAME_OVERHEAD) {
        Some("slack") => Ok(slack),
        Some(text) => {
            let time = parse_time(text).map(Duration::from_nanos);
            let why = format!("`{text}` is no value of `{}`", FRAME_OVERHEAD.name);
            let help = "write a time, for instance 150us, or `slack`";
            time.ok_or_else(|| Refusal::input(why).with_help(help))
        }
        None => Ok(needed(setup, lists).min(slack)),
    }
}

/// What a frame costs.
fn needed(setup: &Setup<'_>, lists: &FrameLists) -> Duration {
    let size = (setup.tasks.len(), setup.levels.count());
    setup.overheads.map_or(Duration::ZERO, |overheads| {
        overheads.of_frame(lists.map().length(), size)
    })
}

/// There is nothing to run: a table is what the policy is.
fn no_table(setup: &Setup<'_>) -> Refusal {
    let why = match setup.proof {
        Proof::Unproved { why: Some(why), .. } => format!("there is no frame table: {why}"),
        Proof::Unproved { why: None, .. }
        | Proof::Proved { .. }
        | Proof::NotCovered { .. }
        | Proof::NoTest
        | Proof::NotAsked => "there is no frame table".to_owned(),
    };
    Refusal::input(why)
        .with_help("change the task set, or give `frames` and `barriers` by --parameters; `vestal explain ftts` says what they have to fulfil")
}
