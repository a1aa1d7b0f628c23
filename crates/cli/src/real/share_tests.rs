use super::*;
use crate::args::{Format, WorldArgs};
use crate::output::Output;
use crate::session::Session;
use std::path::{Path, PathBuf};

const FIGURE_14: &str = "../../examples/hsf-figure-14.toml";
const ENDLESS: Service = Service::from_nanos(u64::MAX);

fn session(file: &Path, policy: &str, options: &[&str], scenario: Option<&Path>) -> Session {
    let parameters = "../../examples/parameters/mc2-one-cpu.json";
    let world = WorldArgs {
        file: file.to_owned(),
        policy: policy.to_owned(),
        duration: Some("1s".to_owned()),
        scenario: scenario.map(|path| path.to_str().unwrap().to_owned()),
        seed: 1,
        options: options.iter().map(|&option| option.to_owned()).collect(),
        parameters: (policy == "mc2").then(|| PathBuf::from(parameters)),
    };
    let output = Output::new(Format::Json);
    Session::open(crate::registry::registry(), &world, "run", &output).unwrap()
}

fn example(file: &str, policy: &str, options: &[&str]) -> Session {
    session(Path::new(file), policy, options, None)
}

fn of(session: &Session, demand: impl Fn(TaskId) -> Service) -> Option<u64> {
    share_ppm(session.configuration(), Service::ZERO, demand)
}

#[test]
fn a_server_uses_what_its_tasks_demand_or_what_it_has() {
    let figure = example(FIGURE_14, "hsf", &[]);
    // 5 of 30 ms twice, and 10 of 25.
    assert_eq!(
        of(&figure, |task| figure.demand_max(task)),
        Some(2 * 166_666)
    );
    assert_eq!(of(&figure, |_| ENDLESS), Some(2 * 400_000));
    let one = |task: TaskId| if task.0 == 0 { ENDLESS } else { Service::ZERO };
    assert_eq!(of(&figure, one), Some(400_000));
}

/// In mode LO servers have 2 of 10, 3 of 20 and 5 of 40 ms, and bottom halves a tenth and a twentieth; in HI the first of both have nothing,
/// and the others twice as much.
#[test]
fn where_jobs_raise_the_mode_the_one_counts_in_which_most_is_used() {
    let file = "../../examples/io-amc.toml";
    let adaptive = example(file, "io-amc", &[]);
    let (lo, hi) = ([200, 150, 125, 100, 50], [300, 250, 100]);
    let sum = |each: &[u64]| Some(each.iter().sum::<u64>() * 1_000);
    assert_eq!(of(&adaptive, |_| ENDLESS), sum(&hi));
    // Tasks that keep to C(LO): bottom halves alone want all they have.
    let modest = |task: TaskId| match task.index() {
        index if index < 3 => adaptive.demand_max(task),
        _ => ENDLESS,
    };
    assert_eq!(of(&adaptive, modest), sum(&lo));
    // Nothing raises it there.
    let requested = example(file, "hsf", &[]);
    assert_eq!(of(&requested, |_| ENDLESS), sum(&lo));
}

/// Its tasks of level HI have periods of 20 and 40 ms: 0.25 of each are not charged, to bottom halves all is.
#[test]
fn what_jobs_are_not_charged_is_used_all_the_same() {
    let file = "../../examples/io-amc.toml";
    let adaptive = example(file, "io-amc", &[]);
    let of = |session: &Session, demand: &dyn Fn(TaskId) -> Service| {
        share_ppm(session.configuration(), Service::from_micros(250), demand)
    };
    let in_hi = 300_000 + 250_000 + 100_000;
    let uncharged = 12_500 + 6_250;
    assert_eq!(of(&adaptive, &|_| ENDLESS), Some(in_hi + uncharged));
    // Who keeps to C(LO) uses no more for that.
    let modest = |task: TaskId| match task.index() {
        index if index < 3 => adaptive.demand_max(task),
        _ => ENDLESS,
    };
    assert_eq!(of(&adaptive, &modest), Some(625_000));
    let requested = example(file, "hsf", &[]);
    assert_eq!(of(&requested, &|_| ENDLESS), Some(625_000));
}

#[test]
fn tasks_of_one_server_share_what_it_has() {
    let scratch = std::env::temp_dir().join(format!("vestal-share-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let file = scratch.join("set.toml");
    let of_task = |name: &str, period: u64| {
        format!(
            "[[task]]\nname = \"{name}\"\ncriticality = \"LO\"\nperiod = {period}\nwcet = {{ LO = 5 }}\n"
        )
    };
    let servers = "[[server]]\nname = \"s\"\nkind = \"sporadic\"\nperiod = 2000\ncapacity = 300\ntasks = [\"a\", \"b\"]\n";
    let head = "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n";
    let text = [head, &of_task("a", 10), &of_task("b", 100), servers].concat();
    std::fs::write(&file, text).unwrap();
    let overrun = scratch.join("overrun.csv");
    std::fs::write(&overrun, "task,b,0,,3s\n").unwrap();
    let shared = session(&file, "hsf", &[], None);
    let runaway = session(&file, "hsf", &[], Some(&overrun));
    std::fs::remove_dir_all(&scratch).unwrap();
    // Its whole capacity may go in the one second at which throttling looks.
    assert_eq!(of(&shared, |task| shared.demand_max(task)), Some(300_000));
    let millis = Service::from_millis(1);
    assert_eq!(of(&shared, |_| millis), Some(100_000 + 10_000));
    assert_eq!(runaway.demand_max(TaskId(0)), Service::from_millis(5));
    assert_eq!(runaway.demand_max(TaskId(1)), Service::from_millis(3_000));
}

#[test]
fn levels_use_their_slots_their_budgets_and_below_what_they_demand() {
    let file = "../../examples/mc2-one-cpu.toml";
    let levels = example(file, "mc2", &[]);
    let modest = 50_000 + 50_000 + 100_000 + 200_000;
    assert_eq!(of(&levels, |task| levels.demand_max(task)), Some(modest));
    // A slot of 2 in 10 ms, 3 of 20 and 4 of 20; level D goes on.
    let but_of_d = |task: TaskId| if task.0 == 3 { Service::ZERO } else { ENDLESS };
    assert_eq!(of(&levels, but_of_d), Some(200_000 + 150_000 + 200_000));
    assert!(of(&levels, |_| ENDLESS).unwrap() > 1_000_000);
    let ignored = example(file, "mc2", &["budgets=ignored"]);
    assert!(of(&ignored, but_of_d).unwrap() > 1_000_000);
    let of_a = |task: TaskId| if task.0 == 0 { ENDLESS } else { Service::ZERO };
    assert_eq!(of(&ignored, of_a), Some(200_000));
}

#[test]
fn where_each_job_has_a_limit_of_its_own_nothing_is_said() {
    let amc = example("../../examples/starter.toml", "amc", &[]);
    assert_eq!(of(&amc, |_| ENDLESS), None);
}
