//! MC² from a file: what it is built of, what is refused and where, and that what runs is what the rule says tick by
//! tick.

#[expect(dead_code, reason = "the engine's own tests ask it for more")]
#[path = "../../../core/tests/engines/levelled_reference.rs"]
mod levelled_reference;

use levelled_reference::{Kind, RefTask, Reference};
use vestal_analysis::Parameters;
use vestal_analysis::parameters::DispatchTable;
use vestal_core::{
    Budgets, Container, CpuId, DropReason, Duration, Instant, JobId, Scheduler, Service, TableSlot,
    Task, TaskId,
};
use vestal_policy::{
    Analysis, Configuration, Levels, Precision, Refusal, Registry, System, Visitor, assemble,
    parameters,
};
use vestal_sim::workload::Periodic;
use vestal_sim::{Backlog, Demand, JobState, Observer, Segment, Setting, simulate};
use vestal_testkit::Random;
use vestal_workload::{Diagnostics, Source, TaskSet};

fn set(text: &str) -> TaskSet {
    TaskSet::from_source(&Source::new("set.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

fn built(
    set: &TaskSet,
    given: &Parameters,
    options: &[(&str, &str)],
) -> Result<System, Box<Refusal>> {
    let registry = Registry::default();
    let policy = registry.policy("mc2").unwrap();
    let options = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let options = registry
        .options(policy, &options.collect::<Vec<_>>())
        .map_err(Box::new)?;
    assemble(&registry, (policy, &options), set, given, Analysis::Ask).map_err(Box::new)
}

fn levels(system: &System) -> &Levels {
    match &system.clusters[0].configuration {
        Configuration::Levels(levels) => levels,
        other => panic!("{other:?}"),
    }
}

// What is drawn.

/// How long every level-A cycle is.
const CYCLE: u64 = 8;
const TICKS: u64 = 96;

struct Drawn {
    tasks: Vec<RefTask>,
    /// For each CPU and tick of its cycle whose it is.
    tables: Vec<Vec<Option<usize>>>,
}

/// One to three CPUs; at the loaded level there are more tasks than there is room for, at level A more slots.
fn drawn(random: &mut Random, loaded: usize) -> Drawn {
    let cpus = 1 + random.below(3) as usize;
    let mut tasks = Vec::new();
    let mut tables = vec![vec![None; CYCLE as usize]; cpus];
    for (cpu, table) in tables.iter_mut().enumerate() {
        let more = 2 * u64::from(loaded == 3);
        for _ in 0..random.below(2 + more) {
            let period = CYCLE >> random.below(2);
            let mut filled = table.clone();
            let mut places = Vec::new();
            for start in (0..CYCLE).step_by(period as usize) {
                let place = start + random.below(period);
                if filled[place as usize].is_none() {
                    filled[place as usize] = Some(tasks.len());
                    places.push(place);
                }
            }
            if places.len() as u64 == CYCLE / period {
                *table = filled;
                let kind = Kind::A(cpu);
                tasks.push(RefTask {
                    kind,
                    period,
                    budget: 1,
                });
            }
        }
        for _ in 0..random.below(3) + 2 * u64::from(loaded == 2) {
            let kind = Kind::B(cpu);
            tasks.push(anyone(random, kind));
        }
    }
    for (level, kind) in [Kind::D, Kind::C].into_iter().enumerate() {
        let more = 3 * cpus as u64 * u64::from(loaded == level);
        for _ in 0..1 + random.below(3) + more {
            tasks.push(anyone(random, kind));
        }
    }
    Drawn { tasks, tables }
}

fn anyone(random: &mut Random, kind: Kind) -> RefTask {
    let (period, budget) = (4 + random.below(14), 1 + random.below(3));
    RefTask {
        kind,
        period,
        budget,
    }
}

const fn level(kind: Kind) -> usize {
    match kind {
        Kind::A(_) => 3,
        Kind::B(_) => 2,
        Kind::C => 1,
        Kind::D => 0,
    }
}

impl Drawn {
    /// As a file, in nanoseconds: levels by these names, lowest first.
    fn file(&self, names: [&str; 4]) -> TaskSet {
        let mut text = format!(
            "format = \"vestal/1\"\nlevels = {names:?}\n[platform]\ncpus = {}\n",
            self.tables.len()
        );
        for (index, task) in self.tasks.iter().enumerate() {
            let own = level(task.kind);
            let wcet = names[..=own]
                .iter()
                .map(|name| format!("{name} = \"{}ns\"", task.budget));
            let home = match task.kind {
                Kind::A(cpu) | Kind::B(cpu) => format!("cpu = {cpu}\n"),
                Kind::C | Kind::D => String::new(),
            };
            text.push_str(&format!(
                "[[task]]\nname = \"t{index}\"\ncriticality = \"{}\"\nperiod = \"{}ns\"\n{home}wcet = {{ {} }}\n",
                names[own],
                task.period,
                wcet.collect::<Vec<_>>().join(", ")
            ));
        }
        set(&text)
    }

    fn tables(&self) -> Parameters {
        let table = |owners: &Vec<Option<usize>>| DispatchTable {
            cycle: Duration::from_nanos(CYCLE),
            slots: (0..)
                .zip(owners)
                .filter_map(|(at, owner)| slot(at, 1, (*owner)?))
                .collect(),
        };
        Parameters {
            tables: Some(self.tables.iter().map(table).collect()),
            ..Parameters::default()
        }
    }
}

fn slot(start: u64, length: u64, task: usize) -> Option<TableSlot> {
    Some(TableSlot {
        start: Duration::from_nanos(start),
        length: Duration::from_nanos(length),
        task: TaskId(u16::try_from(task).ok()?),
    })
}

// Both schedules.

/// Who ran in each tick on each CPU, which jobs completed when, and how many were dropped.
#[derive(PartialEq, Debug, Default)]
struct Schedule {
    ran: Vec<Vec<Option<usize>>>,
    completed: Vec<(u64, JobId)>,
    dropped: usize,
}

impl Observer for Schedule {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        for tick in segment.start.as_nanos()..segment.end.as_nanos() {
            self.ran[tick as usize][segment.cpu.index()] = Some(job.id.task.index());
        }
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.completed.push((at.as_nanos(), job.id));
    }
    fn dropped(&mut self, _: Instant, _: &JobState, why: DropReason) {
        assert_eq!(why, DropReason::BacklogFull);
        self.dropped += 1;
    }
}

struct Needs<'a>(&'a dyn Fn(usize, u64) -> u64);

impl Demand for Needs<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        Service::from_nanos((self.0)(task.index(), sequence))
    }
}

struct Run<'a>(&'a Setting<'a>, Periodic, Needs<'a>);

impl Visitor for Run<'_> {
    type Output = Schedule;

    fn visit<S: Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> Schedule {
        let mut schedule = Schedule {
            ran: vec![vec![None; usize::from(self.0.cpus)]; TICKS as usize],
            ..Schedule::default()
        };
        simulate(scheduler, self.0, &self.1, &self.2, &mut schedule).unwrap();
        schedule
            .completed
            .sort_unstable_by_key(|&(at, job)| (at, job.task, job.sequence));
        schedule
    }
}

fn simulated(system: &System, need: &dyn Fn(usize, u64) -> u64) -> Schedule {
    let cluster = &system.clusters[0];
    let entries = cluster.configuration.tasks().iter();
    let tasks: Vec<Task> = entries.map(|entry| entry.task).collect();
    let setting = Setting {
        tasks: &tasks,
        cpus: u16::try_from(cluster.cpus.len()).unwrap(),
        end: Instant::from_nanos(TICKS),
        backlog: Backlog::UNLIMITED,
    };
    let mut engine = cluster.configuration.engine(Precision::EXACT).unwrap();
    engine.visit(Run(&setting, Periodic::synchronous(&tasks), Needs(need)))
}

/// By the plain words of the rule. Where no job is dropped, it is known which one runs: the oldest.
fn reference(
    drawn: &Drawn,
    (backlog, enforced): (usize, bool),
    need: &dyn Fn(usize, u64) -> u64,
) -> Schedule {
    let mut reference = Reference::new(&drawn.tasks, &drawn.tables, (backlog, enforced), need);
    let mut schedule = Schedule::default();
    let mut jobs = vec![(0, 0); drawn.tasks.len()];
    for now in 0..TICKS {
        let ran = reference.tick(now, true).ran;
        for &task in ran.iter().flatten() {
            let (sequence, executed) = &mut jobs[task];
            *executed += 1;
            if *executed == need(task, *sequence) {
                let task = TaskId(task as u16);
                let sequence = *sequence;
                schedule.completed.push((now + 1, JobId { task, sequence }));
                jobs[task.index()] = (sequence + 1, 0);
            }
        }
        schedule.ran.push(ran);
    }
    schedule
        .completed
        .sort_unstable_by_key(|&(at, job)| (at, job.task, job.sequence));
    schedule.dropped = reference.dropped;
    schedule
}

/// What jobs need: mostly their budget or less, at the loaded level often more.
fn needs(drawn: &Drawn, loaded: usize, salt: u64) -> impl Fn(usize, u64) -> u64 {
    let tasks = drawn.tasks.clone();
    move |task: usize, sequence: u64| {
        let RefTask { kind, budget, .. } = tasks[task];
        let mut random = Random::new(salt + 7919 * task as u64 + 104_729 * sequence);
        random.below(3);
        let often = if level(kind) == loaded { 3 } else { 12 };
        match random.below(often) {
            0 => budget + 1 + random.below(2 * budget),
            _ => 1 + random.below(budget),
        }
    }
}

#[test]
fn what_is_simulated_is_the_rule_tick_by_tick_under_load_at_each_level() {
    const NAMES: [&str; 4] = ["D", "C", "B", "A"];
    let mut random = Random::new(31);
    for loaded in 0..4 {
        let (mut completed, mut late, mut cpus) = (0, 0, [0; 3]);
        for round in 0..250 {
            let drawn = drawn(&mut random, loaded);
            let need = needs(&drawn, loaded, random.below(1 << 20));
            let enforced = round % 4 > 0;
            let option = ("budgets", if enforced { "enforced" } else { "ignored" });
            // Levels are what they are by their names, and by their order.
            let names = if round % 2 == 0 {
                NAMES
            } else {
                ["L0", "L1", "L2", "L3"]
            };
            let system = built(&drawn.file(names), &drawn.tables(), &[option]).unwrap();
            let found = simulated(&system, &need);
            let expected = reference(&drawn, (64, enforced), &need);
            assert_eq!(found, expected, "{:?} {:?}", drawn.tasks, drawn.tables);
            completed += found.completed.len();
            let of_level = |job: &&(u64, JobId)| {
                let task = &drawn.tasks[job.1.task.index()];
                level(task.kind) == loaded && job.0 > (job.1.sequence + 1) * task.period
            };
            late += found.completed.iter().filter(of_level).count();
            cpus[drawn.tables.len() - 1] += 1;
        }
        // Positive controls: the level was under load, on any number of CPUs.
        assert!(
            completed > 5_000 && late > 300,
            "{loaded}: {completed} {late}"
        );
        assert!(cpus.iter().all(|&count| count > 50), "{cpus:?}");
    }
}

/// A release brings its budget even if its job is dropped: one that overruns goes on with it, and no task stands
/// still for ever.
#[test]
fn jobs_that_find_no_room_are_dropped_and_leave_their_budgets() {
    let mut random = Random::new(32);
    let mut dropped = [0; 3];
    for round in 0..300 {
        let backlog = round % 3;
        let drawn = drawn(&mut random, round % 4);
        let need = needs(&drawn, round % 4, random.below(1 << 20));
        let option = ("backlog", format!("{backlog}"));
        let option = (option.0, option.1.as_str());
        let names = ["D", "C", "B", "A"];
        let system = built(&drawn.file(names), &drawn.tables(), &[option]).unwrap();
        let found = simulated(&system, &need);
        let expected = reference(&drawn, (backlog, true), &need);
        assert_eq!((found.ran, found.dropped), (expected.ran, expected.dropped));
        dropped[backlog] += found.dropped;
    }
    assert!(dropped.iter().all(|&count| count > 300), "{dropped:?}");
}

// What is built.

const TWO_CPUS: &str = "format = \"vestal/1\"\nlevels = [\"D\", \"C\", \"B\", \"A\"]\nunit = \"ms\"\n\
[platform]\ncpus = 2\n\
[[task]]\nname = \"a\"\ncriticality = \"A\"\nperiod = 10\ncpu = 0\nwcet = { D = 1, C = 1, B = 1, A = 2 }\n\
[[task]]\nname = \"b\"\ncriticality = \"B\"\nperiod = 20\ncpu = 1\nwcet = { D = 1, C = 1, B = 2 }\n\
[[task]]\nname = \"c\"\ncriticality = \"C\"\nperiod = 20\nwcet = { D = 1, C = 2 }\n\
[[task]]\nname = \"d\"\ncriticality = \"D\"\nperiod = 20\nwcet = { D = 1 }\n";

const TABLES: &str = "{ \"tables\": [\
{ \"cycle\": \"10ms\", \"slots\": [{ \"start\": \"1ms\", \"length\": \"2ms\", \"task\": \"a\" }] },\
{ \"cycle\": \"10ms\", \"slots\": [] }] }";

/// The system of a file with a parameters file, or what is wrong with either.
fn read(text: &str, given: &str) -> Result<System, Diagnostics> {
    let set = set(text);
    let given = parameters::read(&Source::new("given.json", given), &set)?;
    built(&set, &given, &[]).map_err(|refusal| *refusal.found.unwrap())
}

#[test]
fn a_cluster_has_a_domain_for_each_cpu_and_a_shared_one() {
    let system = read(TWO_CPUS, TABLES).unwrap();
    let [cluster] = system.clusters.as_slice() else {
        panic!("{:?}", system.clusters)
    };
    assert_eq!(cluster.cpus, [CpuId(0), CpuId(1)]);
    assert_eq!(cluster.tasks, [0, 1, 2, 3].map(TaskId));
    let domains = cluster.domains.iter();
    let domains: Vec<_> = domains
        .map(|domain| (&domain.cpus[..], &domain.tasks[..]))
        .collect();
    let expected: [(&[CpuId], &[TaskId]); 3] = [
        (&[CpuId(0)], &[TaskId(0)]),
        (&[CpuId(1)], &[TaskId(1)]),
        (&[CpuId(0), CpuId(1)], &[TaskId(2), TaskId(3)]),
    ];
    assert_eq!(domains, expected);
    assert!(cluster.promises_nothing() && cluster.limits().is_none());
    assert_eq!(system.proved_by(), None);
    let homes = [0, 1, 2, 3].map(|task| system.cpu_of(TaskId(task)));
    assert_eq!(homes, [Some(CpuId(0)), Some(CpuId(1)), None, None]);
    let containers = &levels(&system).containers;
    let expected = [
        Container::Table(CpuId(0)),
        Container::Local(CpuId(1)),
        Container::Global,
        Container::BestEffort,
    ];
    assert_eq!(containers[..], expected);
    assert!(system.only_simulated().is_some());
    assert!(!cluster.configuration.holds_unenforced());
}

/// On one CPU the shared domain has that one too, and is not its own.
#[test]
fn on_one_cpu_levels_c_and_d_have_none_of_their_own_either() {
    let one = TWO_CPUS
        .replace("cpus = 2", "cpus = 1")
        .replace("cpu = 1", "cpu = 0");
    let table = "{ \"tables\": [{ \"cycle\": \"10ms\", \"slots\": [{ \"start\": \"0ms\", \"length\": \"2ms\", \"task\": \"a\" }] }] }";
    let system = read(&one, table).unwrap();
    let homes = [0, 1, 2, 3].map(|task| system.cpu_of(TaskId(task)));
    assert_eq!(homes, [Some(CpuId(0)), Some(CpuId(0)), None, None]);
    assert!(system.only_simulated().is_some());
}

#[test]
fn options_say_whether_budgets_hold_and_how_many_jobs_wait() {
    let set = set(TWO_CPUS);
    let given = parameters::read(&Source::new("given.json", TABLES), &set).unwrap();
    let plain = built(&set, &given, &[]).unwrap();
    assert_eq!(levels(&plain).budgets, Budgets::Enforced);
    let other = built(&set, &given, &[("budgets", "ignored"), ("backlog", "3")]).unwrap();
    assert_eq!(
        (levels(&other).budgets, levels(&other).backlog),
        (Budgets::Ignored, 3)
    );
    assert!(built(&set, &given, &[("exhaustion", "abort")]).is_err());
}

/// The highest level of a file is A, whatever it is called, unless levels have the names of MC².
#[test]
fn levels_are_known_by_their_names_or_counted_from_the_highest() {
    let task = |level: &str, levels: &[&str], more: &str| {
        let wcet = levels.iter().map(|name| format!("{name} = 1"));
        let wcet: Vec<String> = wcet.collect();
        let upto = levels.iter().position(|name| *name == level).unwrap();
        format!(
            "format = \"vestal/1\"\nlevels = {levels:?}\nunit = \"ms\"\n[[task]]\nname = \"t\"\ncriticality = \"{level}\"\n\
             period = 10\n{more}\nwcet = {{ {} }}\n",
            wcet[..=upto].join(", ")
        )
    };
    let table = "{ \"tables\": [{ \"cycle\": \"10ms\", \"slots\": [{ \"start\": \"0ms\", \"length\": \"1ms\", \"task\": \"t\" }] }] }";
    let (a, b) = (Container::Table(CpuId(0)), Container::Local(CpuId(0)));
    let (c, d) = (Container::Global, Container::BestEffort);
    let cases: [(&[&str], &str, Container); 11] = [
        (&["LO", "HI"], "HI", a),
        (&["LO", "HI"], "LO", b),
        (&["low", "middle", "high"], "low", c),
        (&["1", "2", "3", "4"], "1", d),
        (&["only"], "only", a),
        (&["D", "C", "B", "A"], "A", a),
        (&["C", "B"], "C", c),
        (&["D", "B"], "B", b),
        (&["D"], "D", d),
        (&["C", "A"], "A", a),
        (&["D", "C", "A"], "D", d),
    ];
    for (levels_of_file, level, expected) in cases {
        let home = if matches!(expected, Container::Table(_) | Container::Local(_)) {
            "cpu = 0"
        } else {
            ""
        };
        let given = if matches!(expected, Container::Table(_)) {
            table
        } else {
            ""
        };
        let system = read(&task(level, levels_of_file, home), given);
        let system = system.unwrap_or_else(|error| panic!("{levels_of_file:?} {level}: {error}"));
        assert_eq!(
            levels(&system).containers,
            [expected],
            "{levels_of_file:?} {level}"
        );
    }
    let refused: [&[&str]; 4] = [
        &["1", "2", "3", "4", "5"],
        &["A", "B"],
        &["LO", "A"],
        &["D", "B", "C"],
    ];
    for levels_of_file in refused {
        let error = read(&task(levels_of_file[0], levels_of_file, "cpu = 0"), "").unwrap_err();
        let first = &error.list()[0];
        assert_eq!(
            (first.code.to_string().as_str(), first.field.as_str()),
            ("V0420", "levels")
        );
    }
}

/// Code, file, line, field and a part of what is said.
type Said<'a> = (&'a str, &'a str, usize, &'a str, &'a str);

fn said(error: &Diagnostics) -> Vec<(String, String, usize, String)> {
    let list = error.list().iter();
    list.map(|one| {
        (
            one.code.to_string(),
            one.file.clone(),
            one.line,
            one.field.clone(),
        )
    })
    .collect()
}

#[test]
fn nonsense_is_refused_with_its_place() {
    let slot = |line: &str| {
        format!(
            "{{ \"tables\": [{{ \"cycle\": \"10ms\", \"slots\": [{line}] }}, {{ \"cycle\": \"10ms\", \"slots\": [] }}] }}"
        )
    };
    let a = "{ \"start\": \"0ms\", \"length\": \"2ms\", \"task\": \"a\" }";
    let text = |from: &str, to: &str| TWO_CPUS.replacen(from, to, 1);
    let cases: [(String, String, &[Said<'_>]); 13] = [
        // A CPU that there is not, in each of the files.
        (
            TWO_CPUS.to_owned(),
            format!(
                "{{ \"tables\": [{},{}] }}",
                "{ \"cycle\": \"1ms\", \"slots\": [] }",
                "{ \"cycle\": \"1ms\", \"slots\": [] },{ \"cycle\": \"1ms\", \"slots\": [] }"
            ),
            &[("V0607", "given.json", 1, "tables", "3 dispatch tables")],
        ),
        (
            TWO_CPUS.to_owned(),
            "{ \"partition\": { \"a\": 2 } }".to_owned(),
            &[("V0207", "given.json", 1, "partition.a", "CPU 2")],
        ),
        // Slots over one another.
        (
            TWO_CPUS.to_owned(),
            slot(&format!(
                "{a}, {{ \"start\": \"1ms\", \"length\": \"1ms\", \"task\": \"a\" }}"
            )),
            &[(
                "V0607",
                "given.json",
                1,
                "tables[0].slots[1]",
                "from 1ms to 2ms",
            )],
        ),
        // Tasks that are in no table: of level B, of level C, of another CPU; all are said.
        (
            TWO_CPUS.to_owned(),
            slot(&format!(
                "{a}, {{ \"start\": \"3ms\", \"length\": \"1ms\", \"task\": \"b\" }}, {{ \"start\": \"4ms\", \"length\": \"1ms\", \"task\": \"c\" }}"
            )),
            &[
                (
                    "V0424",
                    "set.toml",
                    13,
                    "tables[0].slots[1].task",
                    "`b` of level B",
                ),
                (
                    "V0424",
                    "set.toml",
                    19,
                    "tables[0].slots[2].task",
                    "`c` of level C",
                ),
            ],
        ),
        (
            text("cpu = 0", "cpu = 1"),
            slot(a),
            &[(
                "V0424",
                "set.toml",
                7,
                "tables[0].slots[0].task",
                "a task of level A on CPU 0",
            )],
        ),
        // Tables that do not give a task what it needs.
        (
            TWO_CPUS.to_owned(),
            slot("{ \"start\": \"0ms\", \"length\": \"1ms\", \"task\": \"a\" }"),
            &[(
                "V0424",
                "set.toml",
                7,
                "tables[0].slots",
                "too short slots for job 0 of `a`",
            )],
        ),
        (
            TWO_CPUS.to_owned(),
            slot(""),
            &[(
                "V0424",
                "set.toml",
                7,
                "tables[0].slots",
                "too short slots for job 0 of `a`",
            )],
        ),
        (
            text("period = 10", "period = 4"),
            slot(a),
            &[("V0424", "set.toml", 7, "tables[0].cycle", "a cycle of 10ms")],
        ),
        (
            TWO_CPUS.to_owned(),
            String::new(),
            &[("V0423", "set.toml", 7, "tables", "no dispatch tables")],
        ),
        // CPUs: none for levels A and B, some for C and D, in the file and in the parameters.
        (
            text("cpu = 0\n", "").replace("cpu = 1\n", ""),
            TABLES.to_owned(),
            &[
                (
                    "V0421",
                    "set.toml",
                    7,
                    "task[0].cpu",
                    "no CPU for `a` of level A",
                ),
                (
                    "V0421",
                    "set.toml",
                    12,
                    "task[1].cpu",
                    "no CPU for `b` of level B",
                ),
            ],
        ),
        (
            text("name = \"c\"\n", "name = \"c\"\ncpu = 1\n"),
            TABLES.to_owned(),
            &[(
                "V0422",
                "set.toml",
                20,
                "task[2].cpu",
                "CPU 1 for `c` of level C",
            )],
        ),
        (
            TWO_CPUS.to_owned(),
            TABLES.replacen(
                '{',
                "{ \"partition\": { \"a\": 0, \"b\": 0, \"d\": 1 }, ",
                1,
            ),
            &[(
                "V0422",
                "set.toml",
                24,
                "task[3].cpu",
                "CPU 1 for `d` of level D",
            )],
        ),
        (
            TWO_CPUS.to_owned(),
            TABLES.replacen('{', "{ \"partition\": { \"a\": 0 }, ", 1),
            &[("V0421", "set.toml", 13, "task[1].cpu", "no CPU for `b`")],
        ),
    ];
    for (text, given, expected) in cases {
        let error = read(&text, &given).unwrap_err();
        let list: Vec<_> = expected
            .iter()
            .map(|one| (one.0.to_owned(), one.1.to_owned(), one.2, one.3.to_owned()))
            .collect();
        assert_eq!(said(&error), list, "{error}");
        for ((.., part), one) in expected.iter().zip(error.list()) {
            assert!(one.to_string().contains(part), "{part} is not in {one}");
        }
    }
}

/// The help says what to write, and it is right but for what only a person knows.
#[test]
fn what_is_said_to_write_can_be_written() {
    let one = TWO_CPUS
        .replace("cpus = 2", "cpus = 1")
        .replace("cpu = 1", "cpu = 0");
    let error = read(&one, "").unwrap_err();
    let help = &error.list()[0].help;
    let given = help.split('`').nth(1).unwrap();
    assert!(read(&one, given).is_ok(), "{given}");
}

/// What is given where nothing has to be changes nothing, and comes back from a recording the same.
#[test]
fn tables_without_slots_are_none() {
    let (head, _) = TWO_CPUS.split_once("[[task]]").unwrap();
    let (_, soft) = TWO_CPUS.split_once("name = \"c\"").unwrap();
    let soft = format!("{head}[[task]]\nname = \"c\"{soft}");
    let bare = read(&soft, "").unwrap();
    let given = "{ \"tables\": [{ \"cycle\": \"3ms\", \"slots\": [] }, { \"cycle\": \"5ms\", \"slots\": [] }] }";
    let same = read(&soft, given).unwrap();
    assert_eq!(bare, same);
    assert!(bare.parameters.is_empty());
}
