//! Partitioned EDF-VD on m CPUs is m times EDF-VD, job by job.

use vestal_analysis::Parameters;
use vestal_core::{
    CpuId, DeadlineQueues, Duration, Instant, JobId, Level, Scheduler, Service, Task, TaskId,
    TaskOrder,
};
use vestal_policy::{
    Analysis, Cluster, Configuration, OneCpu, Options, Precision, Proof, Registry, System, Visitor,
    assemble,
};
use vestal_sim::workload::OfPart;
use vestal_sim::{
    Backlog, Demand, JobState, Observer, Releases, Segment, Setting, simulate, simulate_together,
    stepwise,
};
use vestal_testkit::Random;
use vestal_workload::model::Arrival;
use vestal_workload::{Source, TaskSet};

/// What became of whom, and where: everything that an observer of one CPU can see.
#[derive(Clone, Default, PartialEq, Debug)]
struct Log(Vec<(Instant, &'static str, u64, JobId)>);

impl Log {
    fn note(&mut self, at: Instant, what: &'static str, number: u64, job: JobId) {
        self.0.push((at, what, number, job));
    }
}

impl Observer for Log {
    fn released(&mut self, at: Instant, job: &JobState) {
        self.note(at, "released", job.demand.as_nanos(), job.id);
    }
    fn executed(&mut self, segment: Segment, job: &JobState) {
        self.note(
            segment.end,
            "executed until",
            segment.start.as_nanos(),
            job.id,
        );
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.note(at, "completed", job.executed.as_nanos(), job.id);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: vestal_core::DropReason) {
        self.note(at, "dropped", why as u64, job.id);
    }
    fn mode_changed(&mut self, at: Instant, from: Level, to: Level, cause: Option<JobId>) {
        let none = JobId {
            task: TaskId(u16::MAX),
            sequence: 0,
        };
        let modes = u64::from(from.0) * 8 + u64::from(to.0);
        self.note(at, "mode", modes, cause.unwrap_or(none));
    }
    fn started(&mut self, at: Instant, _: CpuId, job: &JobState) {
        self.note(at, "started", 0, job.id);
    }
    fn unfinished(&mut self, at: Instant, job: &JobState) {
        self.note(at, "unfinished", job.executed.as_nanos(), job.id);
    }
}

/// Jobs whose demand and distance are drawn anew for each of them, the same for the same task of the whole set.
struct Drawn {
    tasks: Vec<Task>,
    seed: u64,
}

impl Drawn {
    fn random(&self, task: TaskId, sequence: u64) -> Random {
        Random::new(self.seed ^ (u64::from(task.0) << 40) ^ sequence)
    }
}

impl Releases for Drawn {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        let period = self.tasks.get(task.index())?.period;
        let late = self.random(task, sequence).below(3) * period.as_nanos() / 7;
        let from = previous.map_or(Instant::EPOCH, |previous| previous.saturating_add(period));
        Some(from.saturating_add(Duration::from_nanos(late)))
    }
}

impl Demand for Drawn {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        let mut random = self.random(task, !sequence);
        let task = &self.tasks[task.index()];
        match random.below(4) {
            0 => task.own_wcet(),
            1 => task.own_wcet().saturating_add(Service::from_nanos(1)),
            _ => task.wcet.at(Level(0)),
        }
    }
}

struct Alone<'a>(&'a Setting<'a>, OfPart<'a, Drawn>);

impl Visitor for Alone<'_> {
    type Output = Log;

    fn visit<S: Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> Log {
        let mut log = Log::default();
        simulate(scheduler, self.0, &self.1, &self.1, &mut log).unwrap();
        log
    }
}

fn drawn_set(random: &mut Random, cpus: u64) -> String {
    let mut text = format!(
        "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ns\"\n[platform]\ncpus = {cpus}\n"
    );
    for task in 0..random.between(2 * cpus, 4 * cpus) {
        let period = random.between(20, 200);
        let low = random.between(1, 1 + period / 4);
        let high = random.between(low, low + period / 4);
        let (level, wcet) = match random.once_in(2) {
            true => ("HI", format!("LO = {low}, HI = {high}")),
            false => ("LO", format!("LO = {high}")),
        };
        text += &format!(
            "[[task]]\nname = \"t{task}\"\ncriticality = \"{level}\"\nperiod = {period}\n"
        );
        if random.once_in(3) {
            text += &format!("cpu = {}\n", random.below(cpus));
        }
        text += &format!("wcet = {{ {wcet} }}\n");
    }
    text
}

fn set(text: &str) -> TaskSet {
    TaskSet::from_source(&Source::new("set.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

fn assembled(
    policy: &str,
    set: &TaskSet,
    given: &Parameters,
    options: &[(String, String)],
) -> System {
    let registry = Registry::default();
    let policy = registry.policy(policy).unwrap();
    let options: Options = registry.options(policy, options).unwrap();
    assemble(&registry, (policy, &options), set, given, Analysis::Ask).unwrap()
}

/// The tasks of a CPU as a set of their own, for one CPU.
fn part(set: &TaskSet, tasks: &[TaskId]) -> TaskSet {
    let mut part = set.clone();
    part.platform.cpus = 1;
    part.tasks = tasks
        .iter()
        .map(|task| set.tasks[task.index()].clone())
        .collect();
    for task in &mut part.tasks {
        task.cpu = None;
        task.arrival = Arrival::Periodic;
    }
    part
}

fn tasks_of(cluster: &Cluster) -> Vec<Task> {
    let entries = cluster.configuration.tasks().iter();
    entries.map(|entry| entry.task).collect()
}

fn setting(tasks: &[Task]) -> Setting<'_> {
    Setting {
        tasks,
        cpus: 1,
        end: Instant::from_nanos(3000),
        backlog: Backlog::UNLIMITED,
    }
}

fn log_alone(cluster: &Cluster, places: &[TaskId], whole: &Drawn) -> Log {
    let tasks = tasks_of(cluster);
    let mut engine = cluster.configuration.engine(Precision::EXACT).unwrap();
    let jobs = OfPart {
        whole,
        tasks: places,
    };
    engine.visit(Alone(&setting(&tasks), jobs))
}

/// All clusters in one run: what an observer of each of them saw.
fn logs_together(system: &System, whole: &Drawn) -> Vec<Log> {
    let tasks: Vec<Vec<Task>> = system.clusters.iter().map(tasks_of).collect();
    let settings: Vec<Setting<'_>> = tasks.iter().map(|tasks| setting(tasks)).collect();
    let mut jobs = Vec::new();
    for cluster in &system.clusters {
        jobs.push(OfPart {
            whole,
            tasks: &cluster.tasks,
        });
    }
    let engine = |cluster: &Cluster| {
        cluster
            .configuration
            .engine(Precision::EXACT)
            .unwrap()
            .boxed()
    };
    let mut engines: Vec<_> = system.clusters.iter().map(engine).collect();
    let mut logs = vec![Log::default(); engines.len()];
    let mut worlds = Vec::new();
    for (((engine, setting), jobs), log) in
        engines.iter_mut().zip(&settings).zip(&jobs).zip(&mut logs)
    {
        worlds.push(stepwise(engine, setting, jobs, jobs, log).unwrap());
    }
    simulate_together(&mut worlds).unwrap();
    drop(worlds);
    logs
}

/// A system for one CPU, of the policy for one CPU, with the tasks of a cluster and their virtual deadlines.
fn alone(set: &TaskSet, system: &System, cluster: &Cluster) -> System {
    let due = system.parameters.virtual_deadlines.as_ref().unwrap();
    let due = cluster.tasks.iter().map(|task| due[task.index()]);
    let given = Parameters {
        virtual_deadlines: Some(due.collect()),
        ..Parameters::default()
    };
    assembled("edf-vd", &part(set, &cluster.tasks), &given, &[])
}

#[test]
fn on_m_cpus_it_is_m_times_edf_vd_job_by_job() {
    let mut random = Random::new(64);
    let (mut proved, mut unproved, mut modes, mut dropped) = (0, 0, 0, 0);
    for run in 0..150 {
        let cpus = match run % 30 {
            0 => 64,
            _ => random.between(1, 12),
        };
        let set = set(&drawn_set(&mut random, cpus));
        let placement = random.one_of(&["first-fit", "decreasing", "edf-vd"]);
        let options = [("placement".to_owned(), placement.to_owned())];
        let system = assembled("pedf-vd", &set, &Parameters::default(), &options);
        let is_proved = system.proved_by().is_some();
        proved += usize::from(is_proved);
        unproved += usize::from(!is_proved);
        let whole = Drawn {
            tasks: set.to_tasks("pedf-vd").unwrap(),
            seed: random.next(),
        };
        let logs = logs_together(&system, &whole);
        for (cluster, together) in system.clusters.iter().zip(logs) {
            let one = alone(&set, &system, cluster);
            assert_eq!(one.clusters[0].configuration, cluster.configuration);
            let alone = log_alone(&one.clusters[0], &cluster.tasks, &whole);
            assert_eq!(together, alone);
            let count = |what| alone.0.iter().filter(|entry| entry.1 == what).count();
            modes += count("mode");
            dropped += count("dropped");
            // What is proved of all CPUs is proved of each.
            assert!(!is_proved || one.proved_by().is_some());
        }
    }
    assert!(
        proved > 15 && unproved > 15,
        "{proved} proved, {unproved} not"
    );
    assert!(
        modes > 1000 && dropped > 1000,
        "{modes} changes, {dropped} dropped"
    );
}

#[test]
fn queues_are_those_of_the_option_and_change_no_job() {
    for (policy, cpus) in [("edf-vd", 1), ("pedf-vd", 3)] {
        let set = set(&drawn_set(&mut Random::new(7), cpus));
        let [none, one, two] = [None, Some("1"), Some("2")].map(|value| {
            let option = value.map(|value| ("queues".to_owned(), value.to_owned()));
            let options: Vec<_> = option.into_iter().collect();
            let system = assembled(policy, &set, &Parameters::default(), &options);
            for cluster in &system.clusters {
                let Configuration::OneCpu(OneCpu { order, .. }) = &cluster.configuration else {
                    panic!("{cluster:?}");
                };
                let asked = match value {
                    Some("2") => DeadlineQueues::Two,
                    _ => DeadlineQueues::One,
                };
                let TaskOrder::EarliestDeadline { queues, .. } = order else {
                    panic!("{order:?}");
                };
                assert_eq!(*queues, asked);
            }
            let tasks = set.to_tasks(policy).unwrap();
            logs_together(&system, &Drawn { tasks, seed: 1 })
        });
        assert_eq!(none, one);
        assert_eq!(one, two);
        assert!(
            one.iter()
                .any(|log| log.0.iter().any(|entry| entry.1 == "mode"))
        );
    }
}

/// Each task is in one cluster, a given CPU is kept, and the clusters are in the order of their CPUs.
#[test]
fn every_task_has_a_cpu_and_a_given_one_is_kept() {
    let mut random = Random::new(7);
    for _ in 0..100 {
        let cpus = random.between(1, 8);
        let set = set(&drawn_set(&mut random, cpus));
        let system = assembled("pedf-vd", &set, &Parameters::default(), &[]);
        assert!(system.clusters.is_sorted_by_key(|cluster| cluster.cpus[0]));
        let mut seen = vec![0; set.tasks.len()];
        for cluster in &system.clusters {
            assert_eq!((cluster.cpus.len(), cluster.domains.len()), (1, 1));
            for task in &cluster.tasks {
                seen[task.index()] += 1;
                let given = set.tasks[task.index()].cpu;
                assert!(given.is_none_or(|given| CpuId(given) == cluster.cpus[0]));
            }
        }
        assert!(seen.iter().all(|count| *count == 1));
        assert_eq!(u64::from(system.cpus), cpus);
    }
}

/// Two tasks of 0.8 fill two CPUs; a third fits nowhere and goes where there is least to do, and nothing is proved.
#[test]
fn what_fits_nowhere_goes_where_least_is_to_do_and_proves_nothing() {
    let task = |name: &str, work: u64| {
        format!(
            "[[task]]\nname = \"{name}\"\ncriticality = \"LO\"\nperiod = 10\nwcet = {{ LO = {work} }}\n"
        )
    };
    let text = format!(
        "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ns\"\n[platform]\ncpus = 2\n{}{}{}",
        task("a", 7),
        task("b", 6),
        task("c", 5)
    );
    let system = assembled("pedf-vd", &set(&text), &Parameters::default(), &[]);
    let cpus: Vec<Option<CpuId>> = (0..3).map(|task| system.cpu_of(TaskId(task))).collect();
    assert_eq!(cpus, [0, 1, 1].map(|cpu| Some(CpuId(cpu))));
    let proof = &system.clusters[0].domains[0].guarantee.proof;
    assert!(
        matches!(proof, Proof::Unproved { why: Some(why), .. } if why.contains('c')),
        "{proof:?}"
    );
}
