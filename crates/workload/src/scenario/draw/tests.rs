use super::*;
use crate::codes::SCENARIO_SET;
use crate::scenario::ScenarioSpec;
use crate::source::Source;

const CONTROL: TaskId = TaskId(0);
const DISPLAY: TaskId = TaskId(1);

fn workload(spec: &str, seed: u64) -> Workload {
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let tasks = set.to_tasks("amc").unwrap();
    let scenario = match Scenario::parse(spec).unwrap() {
        ScenarioSpec::Named(scenario) => scenario,
        ScenarioSpec::Level(name) => Scenario::at_level(&name, &set).unwrap(),
        ScenarioSpec::File(_) => panic!("a file"),
    };
    Workload::new(&set, &tasks, scenario, seed)
}

fn from_csv(set: &str, csv: &str) -> Workload {
    let set = TaskSet::parse("a.toml", set).unwrap();
    let tasks = set.to_tasks("amc").unwrap();
    let scenario = Scenario::from_source(&Source::new("s.csv", csv), &set).unwrap();
    Workload::new(&set, &tasks, scenario, 1)
}

#[test]
fn lo_and_hi_are_what_they_say() {
    assert_eq!(
        workload("lo", 1).execution(CONTROL, 9),
        Service::from_millis(2)
    );
    assert_eq!(
        workload("hi", 1).execution(CONTROL, 9),
        Service::from_millis(4)
    );
    assert_eq!(
        workload("hi", 1).execution(DISPLAY, 9),
        Service::from_millis(5)
    );
}

/// CONTROL is of level HI with 2 and 4 ms, DISPLAY of level LO with 5 ms.
#[test]
fn a_level_is_what_each_task_needs_at_it_or_at_its_own() {
    for (spec, control) in [("level=LO", 2), ("level= HI", 4)] {
        let workload = workload(spec, 1);
        let needs = |task| workload.execution(task, 9);
        assert_eq!(needs(CONTROL), Service::from_millis(control), "{spec}");
        assert_eq!(needs(DISPLAY), Service::from_millis(5), "{spec}");
    }
    let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
    let unknown = Scenario::at_level("H1", &set).unwrap_err();
    let text = unknown.to_string();
    assert!(
        text.contains("one of the levels of the set: LO, HI"),
        "{text}"
    );
    assert_eq!(unknown.list()[0].column, 7);
}

#[test]
fn probability_is_compared_as_integers() {
    let half = Ratio::new(1, 2).unwrap();
    assert!(happens(half, (1 << 63) - 1));
    assert!(!happens(half, 1 << 63));
    assert!(!happens(Ratio::new(0, 1).unwrap(), 0));
    assert!(happens(Ratio::new(1, 1).unwrap(), u64::MAX));
    let small = Ratio::new(1, 1_000_000_000_000_000_000).unwrap();
    assert!(happens(small, 18) && !happens(small, 19));
}

#[test]
fn overruns_hit_only_tasks_above_the_lowest_level_and_about_as_often_as_asked() {
    let workload = workload("overrun=0.3", 7);
    let long =
        (0..10_000).filter(|&job| workload.execution(CONTROL, job) == Service::from_millis(4));
    let count = long.count();
    // Four standard deviations of a binomial distribution are 183.
    assert!((2817..=3183).contains(&count), "{count}");
    assert!((0..1000).all(|job| workload.execution(DISPLAY, job) == Service::from_millis(5)));
}

#[test]
fn the_same_seed_gives_the_same_jobs_in_any_order_and_on_any_machine() {
    // Golden vectors, computed by an independent program: a change breaks recorded experiments.
    let overruns: Vec<bool> = (0..16)
        .map(|job| workload("overrun=0.5", 42).execution(CONTROL, job) == Service::from_millis(4))
        .collect();
    let shown: String = overruns
        .iter()
        .map(|&long| if long { '1' } else { '0' })
        .collect();
    assert_eq!(shown, "0000111011111011");
    let beta = workload("beta=0.05,1", 42);
    let drawn: Vec<u64> = (0..4)
        .map(|job| beta.execution(CONTROL, job).as_nanos())
        .collect();
    assert_eq!(drawn, [1316350, 399, 314819, 341878]);
    let backwards: Vec<u64> = (0..4)
        .rev()
        .map(|job| beta.execution(CONTROL, job).as_nanos())
        .collect();
    assert!(drawn.iter().rev().eq(&backwards));
}

#[test]
fn beta_has_the_mean_and_deviation_it_should_have() {
    for (mean, tolerance) in [("0.05", 0.006), ("0.5", 0.006), ("0.99", 0.006)] {
        let workload = workload(&format!("beta={mean},1"), 3);
        let count = 20_000;
        let shares: Vec<f64> = (0..count)
            .map(|job| workload.execution(CONTROL, job).as_nanos() as f64 / 4e6)
            .collect();
        let average = shares.iter().sum::<f64>() / count as f64;
        let wanted: f64 = mean.parse().unwrap();
        assert!((average - wanted).abs() < tolerance, "{mean}: {average}");
        let variance = shares.iter().map(|x| (x - average).powi(2)).sum::<f64>() / count as f64;
        let deviation = (wanted * (1.0 - wanted) / 2.0).sqrt().min(0.1);
        assert!(
            (variance.sqrt() - deviation).abs() < 0.01,
            "{mean}: {}",
            variance.sqrt()
        );
    }
    let above = workload("beta=0.05,1", 5);
    let large = (0..20_000)
        .filter(|&job| above.execution(CONTROL, job) > Service::from_millis(2))
        .count();
    assert!(large < 200, "more than 1 % above a half: {large}");
    assert_eq!(
        workload("beta=1,1", 1).execution(CONTROL, 0),
        Service::from_millis(4)
    );
    assert_eq!(
        workload("beta=0.5,0", 1).execution(CONTROL, 0),
        Service::from_millis(2)
    );
}

#[test]
fn periodic_jobs_come_every_period_from_the_offset() {
    let set = SCENARIO_SET.replace("period = 10", "period = 10\noffset = 3");
    let workload = from_csv(&set, "# nothing\n");
    assert_eq!(
        workload.release(CONTROL, 0),
        Some(Instant::from_nanos(3_000_000))
    );
    assert_eq!(
        workload.release(CONTROL, 2),
        Some(Instant::from_nanos(23_000_000))
    );
    assert_eq!(workload.release(CONTROL, u64::MAX), None);
    assert_eq!(workload.release(TaskId(9), 0), None);
}

#[test]
fn sporadic_jobs_keep_their_separation_and_stepping_gives_the_same_instants() {
    let text = SCENARIO_SET.replace(
        "period = 10",
        "period = 10\narrival = \"sporadic\"\noffset = 4",
    );
    let set = TaskSet::parse("a.toml", &text).unwrap();
    let tasks = set.to_tasks("amc").unwrap();
    let workload = Workload::new(&set, &tasks, Scenario::Lo, 42);
    let mut previous = workload.release(CONTROL, 0).unwrap();
    assert!(previous >= Instant::from_nanos(4_000_000));
    let mut tight = 0;
    let mut longest = Duration::ZERO;
    for job in 1..500 {
        let next = workload.next_release(CONTROL, job, previous).unwrap();
        assert_eq!(Some(next), workload.release(CONTROL, job));
        let gap = next.checked_since(previous).unwrap();
        assert!(gap >= Duration::from_millis(10) && gap <= Duration::from_millis(20));
        tight += usize::from(gap == Duration::from_millis(10));
        longest = longest.max(gap);
        previous = next;
    }
    assert!((200..300).contains(&tight), "{tight}");
    assert!(longest > Duration::from_millis(19));
    let golden: Vec<u64> = (0..16)
        .map(|job| workload.release(CONTROL, job).unwrap().as_nanos())
        .collect();
    assert_eq!(
        golden,
        [
            4000000, 14000000, 24000000, 34000000, 44000000, 54000000, 64000000, 74000000,
            84000000, 100440613, 110440613, 128136947, 138136947, 152437000, 162437000, 176460501
        ]
    );
}

#[test]
fn a_file_says_when_jobs_come_and_how_long_they_run() {
    let workload = from_csv(
        SCENARIO_SET,
        "task,job,release,execution\ncontrol,1,12,9ms\ntask,control,3,,1ms\ntask,display,0,0.5,\nmode,5ms,HI\n",
    );
    let release = |job| workload.release(CONTROL, job).unwrap().as_nanos() / 1_000_000;
    assert_eq!(
        [release(0), release(1), release(2), release(3)],
        [0, 12, 22, 32]
    );
    assert_eq!(workload.execution(CONTROL, 0), Service::from_millis(2));
    assert_eq!(workload.execution(CONTROL, 1), Service::from_millis(9));
    assert_eq!(workload.execution(CONTROL, 3), Service::from_millis(1));
    assert_eq!(
        workload.release(DISPLAY, 0),
        Some(Instant::from_nanos(500_000))
    );
    let Scenario::File(file) = workload.scenario() else {
        panic!("not a file")
    };
    assert_eq!(file.modes.len(), 1);
    assert_eq!(
        file.notes.len(),
        1,
        "job 1 runs away, which is a note and no error"
    );
    assert_eq!(file.notes[0].code, crate::codes::RUNS_AWAY);
}

const DEVICES: &str = r#"format = "vestal/1"
levels = ["LO", "HI"]
unit = "ns"
[[task]]
name = "a"
criticality = "LO"
period = 10
wcet = { LO = 1 }
[[server]]
name = "s"
kind = "polling"
period = 10
capacity = 5
tasks = ["a"]
[[device]]
name = "asked"
server = "s"
cost = 1
[[device]]
name = "clock"
server = "s"
cost = 1
arrival = "periodic"
period = 7
[[device]]
name = "net"
server = "s"
cost = 1
arrival = "sporadic"
period = 100
[[device]]
name = "disk"
server = "s"
cost = 1
arrival = "burst"
period = 9
burst = 4
"#;

/// The first events of a device, each asked for with the instant of the one before.
fn events(workload: &Workload, device: u16, most: u64) -> Vec<(u64, u64)> {
    let mut found: Vec<(Instant, u64)> = Vec::new();
    for index in 0..most {
        let previous = found.last().map(|(at, _)| *at);
        found.extend(workload.interrupt(DeviceId(device), index, previous));
    }
    let plain = |(at, count): (Instant, u64)| (at.as_nanos(), count);
    found.into_iter().map(plain).collect()
}

fn devices(scenario: Scenario, seed: u64) -> Workload {
    let set = TaskSet::parse("a.toml", DEVICES).unwrap();
    let tasks = set.to_tasks("hsf").unwrap();
    Workload::new(&set, &tasks, scenario, seed)
}

#[test]
fn devices_interrupt_as_their_arrival_says() {
    let workload = devices(Scenario::Lo, 5);
    assert_eq!(events(&workload, 0, 3), []);
    assert_eq!(events(&workload, 1, 3), [(0, 1), (7, 1), (14, 1)]);
    assert_eq!(events(&workload, 3, 3), [(0, 4), (9, 4), (18, 4)]);
    assert_eq!(events(&workload, 9, 3), []);
    let requested = [0, 1, 2, 3].map(|device| workload.is_requested(DeviceId(device)));
    assert_eq!(requested, [true, false, false, false]);
    assert_eq!(workload.mode_request(0), None);
    // Distances are from T to 2 T, half of them T.
    let net = events(&workload, 2, 1001);
    let gaps: Vec<u64> = net.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps.iter().all(|gap| (100..=200).contains(gap)));
    let least = gaps.iter().filter(|gap| **gap == 100).count();
    assert!((450..=560).contains(&least), "{least}");
    assert_eq!(net, events(&devices(Scenario::Hi, 5), 2, 1001));
    assert_ne!(net, events(&devices(Scenario::Lo, 6), 2, 1001));
}

#[test]
fn rows_of_a_scenario_take_the_place_of_what_a_device_does_by_itself() {
    let rows =
        "device,clock,30ns,2\nmode,5ns,HI\ndevice,asked,9ns,1\ndevice,clock,20ns,1\nmode,2ns,LO\n";
    let workload = from_csv(DEVICES, rows);
    assert_eq!(events(&workload, 0, 3), [(9, 1)]);
    assert_eq!(events(&workload, 1, 3), [(20, 1), (30, 2)]);
    assert_eq!(events(&workload, 3, 2), [(0, 4), (9, 4)]);
    assert!(!workload.is_requested(DeviceId(0)));
    let requests: Vec<_> = (0..3).map(|index| workload.mode_request(index)).collect();
    let at = Instant::from_nanos;
    assert_eq!(
        requests,
        [Some((at(2), Level(0))), Some((at(5), Level(1))), None]
    );
}
