//! MC² with its test: what that finds is what is built, and what is proved of it.

use crate::mc2::{built, set};
use vestal_analysis::Parameters;
use vestal_core::{CpuId, Duration, LevelB, TaskId};
use vestal_policy::{Analysis, Levels, Proof, Registry, System, Terms, assemble};
use vestal_workload::TaskSet;

/// A task of level D to A with its period and its times from level D on.
fn task(name: &str, period: u64, times: &[u64], more: &str) -> String {
    let levels = ["D", "C", "B", "A"];
    let values = levels.iter().zip(times);
    let values: Vec<String> = values
        .map(|(level, time)| format!("{level} = {time}"))
        .collect();
    format!(
        "[[task]]\nname = \"{name}\"\ncriticality = \"{}\"\nperiod = {period}\nwcet = {{ {} }}\n{more}\n",
        levels[times.len() - 1],
        values.join(", ")
    )
}

fn of(platform: &str, tasks: &[String]) -> TaskSet {
    set(&format!(
        "format = \"vestal/1\"\nlevels = [\"D\", \"C\", \"B\", \"A\"]\nunit = \"ms\"\n[platform]\n{platform}\n{}",
        tasks.concat()
    ))
}

/// Herman et al. 2012, Table 1.
fn table_1() -> TaskSet {
    let tasks = [
        task("T1", 5, &[1, 1, 2, 3], ""),
        task("T2", 10, &[2, 2, 2, 4], ""),
        task("T3", 10, &[1, 2, 2], ""),
        task("T4", 20, &[1, 1, 2], ""),
        task("T5", 10, &[2, 2], ""),
        task("T6", 20, &[2, 2], ""),
        task("T7", 5, &[2], ""),
    ];
    of("cpus = 1", &tasks)
}

fn system(set: &TaskSet, options: &[(&str, &str)]) -> System {
    built(set, &Parameters::default(), options).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn levels(system: &System) -> &Levels {
    system.clusters[0].configuration.levels().unwrap()
}

#[test]
fn tables_homes_and_bounds_are_those_of_the_test() {
    let system = system(&table_1(), &[]);
    assert_eq!(system.proved_by(), Some("mc2"));
    assert_eq!(
        system.origin,
        "tables found by mc2, then earliest deadlines by level"
    );
    let slots = levels(&system).tables[0].slots.iter();
    let slots: Vec<(u64, u64, u16)> = slots
        .map(|slot| {
            let nanos = [slot.start, slot.length].map(|time| time.as_nanos() / 1_000_000);
            (nanos[0], nanos[1], slot.task.0)
        })
        .collect();
    assert_eq!(slots, [(0, 3, 0), (3, 2, 1), (5, 3, 0), (8, 2, 1)]);
    let theta = Some(Duration::from_nanos(19_714_286));
    let expected = vec![None, None, None, None, theta, theta, None];
    let cluster = &system.clusters[0];
    let (_, late) = cluster.guaranteed_levels().unwrap();
    assert_eq!(late, expected);
    let [local, shared] = &cluster.domains[..] else {
        panic!("{:?}", cluster.domains)
    };
    assert!(matches!(local.guarantee.terms, Terms::Deadlines { .. }));
    assert_eq!(shared.guarantee.terms, Terms::Tardiness(expected));
    // (19.7 + 20) / 20 and (19.7 + 10) / 10 are less than what there is room for in any case.
    assert_eq!(levels(&system).backlog, 64);
    assert!(system.doubt().is_none());
}

/// Assembled again from its own parameters it is the same, whether the test is asked or not.
#[test]
fn its_parameters_make_the_same_system_again() {
    let set = table_1();
    for options in [&[][..], &[("level-b", "rms")], &[("budgets", "ignored")]] {
        let first = system(&set, options);
        let registry = Registry::default();
        let policy = registry.policy("mc2").unwrap();
        for analysis in [Analysis::Ask, Analysis::Skip] {
            let by = (policy, &first.options);
            let again = assemble(&registry, by, &set, &first.parameters, analysis).unwrap();
            assert_eq!(again.parameters, first.parameters);
            assert_eq!(levels(&again), levels(&first));
            let terms = |system: &System| {
                let domains = system.domains();
                domains
                    .map(|domain| domain.guarantee.terms.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(terms(&again), terms(&first));
        }
    }
}

#[test]
fn level_b_by_rates_has_a_test_of_its_own() {
    let rates = system(&table_1(), &[("level-b", "rms")]);
    assert_eq!(rates.proved_by(), Some("mc2:rms"));
    assert_eq!(levels(&rates).level_b, LevelB::RateMonotonic);
    assert!(
        rates.origin.contains("rates at level B"),
        "{}",
        rates.origin
    );
    // The sum is 1, and 15 + 2 * 10 > 30.
    let tasks = [
        task("a", 20, &[1, 1, 10], ""),
        task("b", 30, &[1, 1, 15], ""),
    ];
    let two = of("cpus = 1", &tasks);
    let proved = |options: &[(&str, &str)]| system(&two, options).proved_by().map(str::to_owned);
    assert_eq!(proved(&[]).as_deref(), Some("mc2"));
    assert_eq!(proved(&[("level-b", "edf")]).as_deref(), Some("mc2"));
    assert_eq!(proved(&[("level-b", "rms")]), None);
}

#[test]
fn the_interrupt_master_stays_free_of_levels_a_and_b() {
    let tasks = [
        task("a", 10, &[1, 1, 1, 4], ""),
        task("b", 10, &[1, 1, 4], ""),
        task("given", 10, &[1, 1, 1], "cpu = 0"),
    ];
    let homes = |platform: &str, tasks: &[String]| {
        let system = system(&of(platform, tasks), &[]);
        [0, 1].map(|task| system.cpu_of(TaskId(task)).unwrap().0)
    };
    assert_eq!(homes("cpus = 3\ninterrupt_master = 0", &tasks[..2]), [1, 2]);
    assert_eq!(homes("cpus = 3\ninterrupt_master = 1", &tasks[..2]), [0, 2]);
    assert_eq!(homes("cpus = 3", &tasks[..2]), [0, 1]);
    // What is given there stays there.
    let system = system(&of("cpus = 2\ninterrupt_master = 0", &tasks), &[]);
    assert_eq!(system.cpu_of(TaskId(2)), Some(CpuId(0)));
}

/// Theta is 200 ms, so that 102 jobs of the task may wait.
#[test]
fn there_is_room_for_all_that_may_wait_and_less_is_not_covered() {
    let tasks = [task("a", 400, &[200; 4], ""), task("c", 2, &[1, 1], "")];
    let set = of("cpus = 1", &tasks);
    let plain = system(&set, &[]);
    let theta = Duration::from_millis(200);
    let (built, late) = plain.clusters[0].guaranteed_levels().unwrap();
    assert_eq!((built.backlog, late[1]), (102, Some(theta)));
    assert_eq!(plain.proved_by(), Some("mc2"));
    let given = |backlog: &str| system(&set, &[("backlog", backlog)]);
    assert_eq!(given("102").proved_by(), Some("mc2"));
    let less = given("101");
    assert_eq!((less.proved_by(), levels(&less).backlog), (None, 101));
    let doubt = less.doubt().unwrap();
    assert!(doubt.contains("backlog=101, where 102 jobs"), "{doubt}");
    let mut proofs = less.domains().map(|domain| &domain.guarantee.proof);
    assert!(proofs.all(|proof| matches!(proof, Proof::NotCovered { .. })));
    // Without level C a job waits at the instant at which the one before it ends.
    let alone = of("cpus = 1", &tasks[..1]);
    assert_eq!(system(&alone, &[("backlog", "0")]).proved_by(), None);
    assert_eq!(system(&alone, &[("backlog", "2")]).proved_by(), Some("mc2"));
}

/// A set that is not proved runs all the same, if there are tables.
#[test]
fn what_is_not_proved_can_run() {
    let tasks = [
        task("a", 10, &[1, 1, 1, 5], ""),
        task("b", 10, &[1, 1, 8], ""),
        task("c", 10, &[1, 1, 7], ""),
    ];
    let late = system(&of("cpus = 1", &tasks), &[]);
    let doubt = late.doubt().unwrap();
    assert!(
        late.proved_by().is_none() && doubt.contains("mc2 does not prove"),
        "{doubt}"
    );
    assert_eq!(levels(&late).tables[0].slots.len(), 1);
    let tasks = [
        task("a", 10, &[1, 1, 1, 6], ""),
        task("b", 10, &[1, 1, 1, 6], ""),
    ];
    let refusal = built(&of("cpus = 1", &tasks), &Parameters::default(), &[]).unwrap_err();
    let text = refusal.to_string();
    assert!(
        text.contains("V0421") && text.contains("no table of CPU 0 has room"),
        "{text}"
    );
}

/// Figure 1 of the paper: one task of each kind on each CPU.
#[test]
fn the_example_of_four_cpus_is_placed_as_in_figure_1() {
    let text = include_str!("../../../../examples/mc2-four-cpus.toml");
    let set = set(text);
    let system = system(&set, &[]);
    assert_eq!(system.proved_by(), Some("mc2"));
    let homes = |kind: &str| {
        let tasks = set.tasks.iter().zip((0..).map(TaskId));
        let of_kind = tasks.filter(|(task, _)| task.name.starts_with(kind));
        let homes = of_kind.map(|(_, task)| system.cpu_of(task).map(|cpu| cpu.0));
        let mut homes: Vec<Option<u16>> = homes.collect();
        homes.sort_unstable();
        homes
    };
    for kind in ["engine", "flight", "radar", "radio"] {
        assert_eq!(homes(kind), [Some(0), Some(1), Some(2), Some(3)], "{kind}");
    }
    assert_eq!(homes("map"), [None]);
    let (_, late) = system.clusters[0].guaranteed_levels().unwrap();
    assert_eq!(late.iter().flatten().count(), 6);
}
