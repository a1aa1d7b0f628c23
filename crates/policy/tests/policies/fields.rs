//! What policies say of the fields of a file is true: what one ignores changes no decision, what one reads does.

use crate::needs::needs;
use std::path::Path;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::{CpuId, Duration, Instant, JobId, Service, TaskId};
use vestal_policy::{
    Analysis, Configuration, Field, Native, Options, Policy, Precision, Registry, System, Use,
    Visitor, assemble,
};
use vestal_sim::workload::Periodic;
use vestal_sim::{Backlog, Demand, JobState, Observer, Segment, Setting, simulate};
use vestal_workload::{Source, TaskSet};

const BARE: &str = r#"
format = "vestal/1"
levels = ["LO", "HI"]
[[task]]
name = "a"
criticality = "LO"
period = "10ms"
wcet = { LO = "1ms" }
[[task]]
name = "b"
criticality = "LO"
period = "15ms"
wcet = { LO = "2ms" }
[[task]]
name = "c"
criticality = "HI"
period = "20ms"
wcet = { LO = "2ms", HI = "4ms" }
"#;

/// A device, and the servers in which the tasks and those who serve them run.
const DEVICE: &str = r#"
[[server]]
name = "app"
kind = "sporadic"
period = "15ms"
capacity = { LO = "2ms" }
criticality = "LO"
tasks = ["a", "b"]
[[server]]
name = "critical"
kind = "sporadic"
period = "20ms"
capacity = { LO = "2ms", HI = "4ms" }
criticality = "HI"
tasks = ["c"]
[[server]]
name = "bottom"
kind = "pibs"
utilization = { LO = 0.01 }
serves = ["app"]
[[device]]
name = "camera"
server = "bottom"
cost = "200us"
"#;

/// The set with a field of task `b`, or of the platform, or with a table of its own.
fn with(field: Field) -> String {
    let after = |name: &str, line: &str| {
        let task = format!("name = \"{name}\"\n");
        BARE.replace(&task, &format!("{task}{line}\n"))
    };
    let platform = |line: &str| format!("{BARE}\n[platform]\n{line}\n");
    match field {
        Field::Offset => after("b", "offset = \"1ms\""),
        Field::Arrival => after("b", "arrival = \"sporadic\""),
        Field::Degraded => after("b", "degraded = { HI = \"1ms\" }"),
        // Another order than any task's own.
        Field::Priority => {
            let text = after("b", "priority = 9")
                .replace("name = \"a\"\n", "name = \"a\"\npriority = 5\n");
            text.replace("name = \"c\"\n", "name = \"c\"\npriority = 7\n")
        }
        Field::Cpu => after("b", "cpu = 0"),
        Field::Accesses => after("b", "accesses = { LO = 3 }"),
        Field::OnMiss => after("b", "on_miss = \"abort\""),
        Field::Work => after("b", "work = \"array:32KiB\""),
        Field::Estimates => BARE.replace(
            "wcet = { LO = \"2ms\" }",
            "wcet = { LO = \"2ms\", HI = \"3ms\" }",
        ),
        // All tasks fit one CPU, unless one of them has another.
        Field::Cpus => format!("{}\n[platform]\ncpus = 2\n", after("b", "cpu = 1")),
        Field::Tick => platform("tick = \"1ms\""),
        Field::InterruptMaster => platform("interrupt_master = 0"),
        Field::Bus => platform("bus = { arbitration = \"fcfs\", access = \"10ns\" }"),
        Field::Io | Field::Servers | Field::Devices => {
            let waits = "io = [{ after = \"1ms\", device = \"camera\", events = 1 }]";
            format!("{}\n{DEVICE}", after("b", waits))
        }
    }
}

fn set(text: &str) -> TaskSet {
    TaskSet::from_source(&Source::new("set.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// Every fifth job takes 1 ms more than its own level allows.
struct Overruns(Vec<Service>);

impl Demand for Overruns {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        let own = self.0[task.index()];
        match (sequence + u64::from(task.0)) % 5 {
            4 => own.saturating_add(Service::from_millis(1)),
            _ => own,
        }
    }
}

/// Who ran when, and what became of whom.
#[derive(Default, PartialEq, Debug)]
struct Schedule(Vec<(Instant, Instant, CpuId, JobId)>, Vec<(Instant, JobId)>);

impl Observer for Schedule {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        self.0
            .push((segment.start, segment.end, segment.cpu, job.id));
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.1.push((at, job.id));
    }
}

struct Simulate<'a>(&'a Setting<'a>, &'a Periodic, &'a Overruns);

impl Visitor for Simulate<'_> {
    type Output = Schedule;

    fn visit<S: vestal_core::Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> Schedule {
        let mut schedule = Schedule::default();
        simulate(scheduler, self.0, self.1, self.2, &mut schedule).unwrap();
        schedule
    }
}

fn system(registry: &Registry, policy: &dyn Policy, set: &TaskSet, given: &Parameters) -> System {
    let options = Options::default();
    let given = given.or(&needs(policy, set));
    assemble(registry, (policy, &options), set, &given, Analysis::Ask).unwrap()
}

/// What each cluster does, with its CPUs and tasks.
fn schedule(system: &System) -> Vec<(Vec<CpuId>, Vec<TaskId>, Schedule)> {
    let clusters = system.clusters.iter();
    clusters
        .map(|cluster| {
            let cpus = u16::try_from(cluster.cpus.len()).unwrap();
            let schedule = schedule_of(&cluster.configuration, cpus);
            (cluster.cpus.clone(), cluster.tasks.clone(), schedule)
        })
        .collect()
}

fn schedule_of(configuration: &Configuration, cpus: u16) -> Schedule {
    let tasks: Vec<_> = configuration
        .tasks()
        .iter()
        .map(|entry| entry.task)
        .collect();
    let end = Instant::EPOCH.saturating_add(Duration::from_millis(600));
    let setting = Setting {
        tasks: &tasks,
        cpus,
        end,
        backlog: Backlog::UNLIMITED,
    };
    let demand = Overruns(tasks.iter().map(vestal_core::Task::own_wcet).collect());
    let mut jobs = Periodic::synchronous(&tasks);
    if let Configuration::Servers(servers) = configuration {
        // No job of a bottom half is released, and here no device interrupts.
        jobs.tasks.truncate(tasks.len() - servers.devices.len());
    }
    let mut engine = configuration.engine(Precision::EXACT).unwrap();
    engine.visit(Simulate(&setting, &jobs, &demand))
}

#[test]
fn ignored_fields_change_no_decision_and_fields_that_are_read_do() {
    let registry = Registry::default();
    let mut counts = [0, 0];
    for policy in registry.policies() {
        let none = Parameters::default();
        let bare = system(&registry, policy, &set(BARE), &none);
        for field in Field::ALL {
            let given = set(&with(field));
            let name = policy.about().name;
            assert!(
                given.given_field(field.name()).is_some(),
                "{}",
                field.name()
            );
            // No test finds lists for jobs with degraded budgets; those of the bare set order them as well.
            let lists = bare.parameters.only(&[Parameter::JobPriorities]);
            // Nor frames for such jobs, or for some that come at any time.
            let table = bare
                .parameters
                .only(&[Parameter::Frames, Parameter::Barriers]);
            let lists = match matches!(field, Field::Arrival | Field::Degraded) {
                true => lists.or(&table),
                false => lists,
            };
            if field == Field::Cpus && policy.fields().cpus != Use::Reads {
                let by = (policy, &Options::default());
                let refused = assemble(&registry, by, &given, &lists, Analysis::Ask).unwrap_err();
                assert!(refused.to_string().contains("V0405"), "{name}: {refused}");
                continue;
            }
            let changed = system(&registry, policy, &given, &lists);
            let same = schedule(&changed) == schedule(&bare);
            match policy.fields().of(field) {
                Use::Ignored(why) => {
                    assert!(same, "{name} does not ignore {}: {why}", field.name());
                    counts[0] += 1;
                }
                Use::Reads => {
                    assert!(!same, "{name} does not read {}", field.name());
                    counts[1] += 1;
                }
                // A rule may be the business of a world or of a test.
                Use::Rule(_) => {}
            }
        }
    }
    // smc, amc and hsf read priorities, hsf servers, devices and waits, amc, plrs, ocbp, edf-vd and pedf-vd degraded budgets, the last one CPUs.
    assert!(counts[0] > 100 && counts[1] >= 8, "{counts:?}");
}

#[test]
fn what_the_starter_gives_is_used_under_its_policy() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/starter.toml");
    let starter = set(&std::fs::read_to_string(file).unwrap());
    let registry = Registry::default();
    let fields = registry.policy("amc").unwrap().fields();
    let given = |field: &Field| starter.given_field(field.name()).is_some();
    for field in Field::ALL.into_iter().filter(given) {
        assert!(
            !matches!(fields.of(field), Use::Ignored(_)),
            "{}",
            field.name()
        );
    }
}

#[test]
fn whether_fixed_priorities_can_carry_a_policy_out_is_what_its_configuration_says() {
    let registry = Registry::default();
    for policy in registry.policies() {
        let about = policy.about();
        let system = system(&registry, policy, &set(BARE), &Parameters::default());
        match (
            about.native,
            system.clusters[0].configuration.guard(Precision::EXACT),
        ) {
            (Native::Yes, Ok(_)) => {}
            (Native::No(why), Err(refusal)) => {
                assert_eq!(refusal.to_string(), why, "{}", about.name)
            }
            (native, _) => panic!(
                "{} says {native:?}, its configuration something else",
                about.name
            ),
        }
    }
}
