//! MC² from a file: what it is built of, and what is refused and where.

use vestal_analysis::Parameters;
use vestal_core::{Budgets, Container, CpuId, Duration, TaskId};
use vestal_policy::{Analysis, Levels, Refusal, Registry, System, assemble, parameters};
use vestal_workload::{Diagnostics, Source, TaskSet};

pub(crate) fn set(text: &str) -> TaskSet {
    TaskSet::from_source(&Source::new("set.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn built(
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
    system.clusters[0].configuration.levels().unwrap()
}

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
    assert!(!cluster.promises_nothing() && cluster.limits().is_none());
    assert_eq!(system.proved_by(), Some("mc2"));
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
    assert!(
        system.only_simulated().is_none(),
        "one manager has all levels"
    );
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

/// Every error that the two files have, in their order.
fn refuse(text: &str, given: &str, expected: &[Said<'_>]) {
    let error = read(text, given).unwrap_err();
    let list = expected.iter().map(|&(code, file, line, field, _)| {
        (code.to_owned(), file.to_owned(), line, field.to_owned())
    });
    assert_eq!(said(&error), list.collect::<Vec<_>>(), "{error}");
    for ((.., part), one) in expected.iter().zip(error.list()) {
        assert!(one.to_string().contains(part), "{part} is not in {one}");
    }
}

/// A slot in milliseconds.
fn slot(start: u64, length: u64, task: &str) -> String {
    format!("{{ \"start\": \"{start}ms\", \"length\": \"{length}ms\", \"task\": \"{task}\" }}")
}

/// Tables of two CPUs, the second one without slots.
fn tables(slots: &[String]) -> String {
    let empty = "{ \"cycle\": \"10ms\", \"slots\": [] }";
    let slots = slots.join(", ");
    format!("{{ \"tables\": [{{ \"cycle\": \"10ms\", \"slots\": [{slots}] }}, {empty}] }}")
}

#[test]
fn cpus_that_there_are_not_and_slots_over_one_another_are_refused_where_they_stand() {
    let three = TABLES.replace("] }] }", "] }, { \"cycle\": \"10ms\", \"slots\": [] }] }");
    let said = ("V0607", "given.json", 1, "tables", "3 dispatch tables");
    refuse(TWO_CPUS, &three, &[said]);
    let said = ("V0207", "given.json", 1, "partition.a", "CPU 2");
    refuse(TWO_CPUS, "{ \"partition\": { \"a\": 2 } }", &[said]);
    let over = tables(&[slot(0, 2, "a"), slot(1, 1, "a")]);
    let said = (
        "V0607",
        "given.json",
        1,
        "tables[0].slots[1]",
        "from 1ms to 2ms",
    );
    refuse(TWO_CPUS, &over, &[said]);
}

#[test]
fn tasks_that_are_in_no_table_are_refused_with_their_slots() {
    let others = tables(&[slot(0, 2, "a"), slot(3, 1, "b"), slot(4, 1, "c")]);
    let b = (
        "V0424",
        "set.toml",
        13,
        "tables[0].slots[1].task",
        "`b` of level B",
    );
    let c = (
        "V0424",
        "set.toml",
        19,
        "tables[0].slots[2].task",
        "`c` of level C",
    );
    refuse(TWO_CPUS, &others, &[b, c]);
    let elsewhere = TWO_CPUS.replacen("cpu = 0", "cpu = 1", 1);
    let part = "a task of level A on CPU 0";
    let a = ("V0424", "set.toml", 7, "tables[0].slots[0].task", part);
    refuse(&elsewhere, &tables(&[slot(0, 2, "a")]), &[a]);
}

#[test]
fn tables_that_do_not_give_a_task_what_it_needs_are_refused_at_the_task() {
    for short in [tables(&[slot(0, 1, "a")]), tables(&[])] {
        let part = "too short slots for job 0 of `a`";
        refuse(
            TWO_CPUS,
            &short,
            &[("V0424", "set.toml", 7, "tables[0].slots", part)],
        );
    }
    let odd = TWO_CPUS.replacen("period = 10", "period = 4", 1);
    let said = ("V0424", "set.toml", 7, "tables[0].cycle", "a cycle of 10ms");
    refuse(&odd, &tables(&[slot(0, 2, "a")]), &[said]);
    let part = "no dispatch tables, and `a` of level A (mc2: tables are for periodic tasks";
    refuse(
        &sporadic(TWO_CPUS),
        "",
        &[("V0423", "set.toml", 7, "tables", part)],
    );
}

/// The test makes no tables for such tasks, and places none.
fn sporadic(text: &str) -> String {
    text.replacen("period = 10\n", "period = 10\narrival = \"sporadic\"\n", 1)
}

#[test]
fn levels_a_and_b_need_cpus_and_the_others_have_none() {
    let (a, b) = ("no CPU for `a` of level A", "no CPU for `b` of level B");
    let none = TWO_CPUS
        .replacen("cpu = 0\n", "", 1)
        .replacen("cpu = 1\n", "", 1);
    assert!(read(&none, TABLES).is_ok());
    let (a, b) = (
        ("V0421", "set.toml", 7, "task[0].cpu", a),
        ("V0421", "set.toml", 13, "task[1].cpu", b),
    );
    refuse(&sporadic(&none), TABLES, &[a, b]);
    let c = "CPU 1 for `c` of level C";
    let more = TWO_CPUS.replacen("name = \"c\"\n", "name = \"c\"\ncpu = 1\n", 1);
    refuse(
        &more,
        TABLES,
        &[("V0422", "set.toml", 20, "task[2].cpu", c)],
    );
    // What the parameters say counts instead of the file.
    let given =
        |homes: &str| TABLES.replacen('{', &format!("{{ \"partition\": {{ {homes} }}, "), 1);
    let d = "CPU 1 for `d` of level D";
    let all = given("\"a\": 0, \"b\": 0, \"d\": 1");
    refuse(
        TWO_CPUS,
        &all,
        &[("V0422", "set.toml", 24, "task[3].cpu", d)],
    );
    let b = ("V0421", "set.toml", 14, "task[1].cpu", "no CPU for `b`");
    refuse(&sporadic(TWO_CPUS), &given("\"a\": 0"), &[b]);
}

/// The help says what to write, and it is right but for what only a person knows.
#[test]
fn what_is_said_to_write_can_be_written() {
    let one = TWO_CPUS
        .replace("cpus = 2", "cpus = 1")
        .replace("cpu = 1", "cpu = 0");
    let one = sporadic(&one);
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
    let late = Some(vec![Some(Duration::ZERO), None]);
    let expected = Parameters {
        tardiness: late,
        ..Parameters::default()
    };
    assert_eq!(bare.parameters, expected);
}
