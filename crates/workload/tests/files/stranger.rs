//! Mistakes that people make, and what they are told.

use crate::common;

use common::with_prelude;
use vestal_workload::codes::{self, Code};
use vestal_workload::diagnostic::Severity;
use vestal_workload::{Diagnostics, Scenario, Source, TaskSet};

const TASK: &str =
    "[[task]]\nname = \"a\"\ncriticality = \"HI\"\nperiod = 10\nwcet = { LO = 1, HI = 2 }\n";

fn errors(part: &str) -> Diagnostics {
    TaskSet::parse("x.toml", &with_prelude(part)).unwrap_err()
}

/// The only diagnostic about a part: code, line, column, and that its text has all of `words`.
fn only(part: &str, code: Code, (line, column): (usize, usize), words: &[&str]) {
    let errors = errors(part);
    assert_eq!(errors.list().len(), 1, "{errors}");
    let found = &errors.list()[0];
    assert_eq!(
        (found.code, found.line, found.column),
        (code, line, column),
        "{errors}"
    );
    for word in words {
        assert!(
            errors.to_string().contains(word),
            "{word} is not in: {errors}"
        );
    }
}

#[test]
fn a_mistyped_key_is_named_with_the_right_one_and_the_missing_one_too() {
    let errors = errors(&TASK.replace("period", "peroid"));
    let found: Vec<(Code, usize)> = errors
        .list()
        .iter()
        .map(|error| (error.code, error.line))
        .collect();
    assert_eq!(
        found,
        [(codes::MISSING_KEY, 4), (codes::UNKNOWN_KEY, 7)],
        "{errors}"
    );
    assert!(
        errors.to_string().contains("did you mean `period`?"),
        "{errors}"
    );
}

#[test]
fn times_are_read_from_their_text() {
    let part = TASK
        .replace("HI = 2", "HI = 1.45")
        .replace("period = 10", "period = \"0.2 s\"");
    let set = TaskSet::parse("x.toml", &with_prelude(&part)).unwrap();
    assert_eq!(set.tasks[0].wcet[1].unwrap().as_nanos(), 1_450_000);
    assert_eq!(set.tasks[0].period.as_nanos(), 200_000_000);
    let part = TASK.replace("HI = 2", "HI = 9.007199254740993");
    only(
        &part,
        codes::NOT_WHOLE,
        (8, 23),
        &["9007199ns", "9007200ns"],
    );
    // 2^53 + 1 is no floating-point number, and is read exactly all the same.
    let json = "{\"format\":\"vestal/1\",\"levels\":[\"LO\"],\"unit\":\"us\",\"task\":[{\"name\":\"a\",\"criticality\":\"LO\",\"period\":9007199254740.993,\"wcet\":{\"LO\":0.001}}]}";
    let set = TaskSet::parse("x.json", json).unwrap();
    assert_eq!(set.tasks[0].period.as_nanos(), 9_007_199_254_740_993);
    assert_eq!(set.tasks[0].wcet[0].unwrap().as_nanos(), 1);
}

#[test]
fn impossible_numbers() {
    let period = |text: &str| TASK.replace("period = 10", &format!("period = {text}"));
    only(
        &period("-10"),
        codes::NEGATIVE_TIME,
        (7, 10),
        &["remove the sign"],
    );
    only(&period("nan"), codes::NOT_A_NUMBER, (7, 10), &[]);
    only(&period("-inf"), codes::NOT_A_NUMBER, (7, 10), &[]);
    only(&period("0"), codes::NOT_POSITIVE, (7, 10), &["zero"]);
    only(
        &period("1e30"),
        codes::TIME_TOO_LARGE,
        (7, 10),
        &["146 years"],
    );
    only(
        &period("4611686018427.387905"),
        codes::TIME_TOO_LARGE,
        (7, 10),
        &[],
    );
    only(
        &period("\"10 mss\""),
        codes::BAD_TIME,
        (7, 10),
        &["did you mean `ms`?"],
    );
    only(&period("\"10\""), codes::NO_UNIT, (7, 10), &[]);
    only(
        &period("[10]"),
        codes::WRONG_TYPE,
        (7, 10),
        &["a list", "a time"],
    );
    only(
        &period("1979-05-27"),
        codes::WRONG_TYPE,
        (7, 10),
        &["a date"],
    );
    only(
        &TASK
            .replace("LO = 1", "LO = 0.5")
            .replace("HI = 2", "HI = 0.25"),
        codes::FALLS_WITH_LEVEL,
        (8, 25),
        &["500us"],
    );
}

#[test]
fn everything_wrong_is_reported_at_once_in_the_order_of_the_text() {
    let part = "[[task]]\nname = \"a\"\ncriticality = \"HIGH\"\nperiod = 0\nwcet = { LO = 1, MID = 2 }\nspeed = 3\n\
                [[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 5\ndeadline = 6\nwcet = { LO = 1 }\ncpu = 4\n";
    let errors = errors(part);
    let found: Vec<(Code, usize)> = errors
        .list()
        .iter()
        .map(|error| (error.code, error.line))
        .collect();
    assert_eq!(
        found,
        [
            (codes::UNKNOWN_LEVEL, 6),
            (codes::NOT_POSITIVE, 7),
            (codes::UNKNOWN_LEVEL, 8),
            (codes::UNKNOWN_KEY, 9),
            (codes::DUPLICATE_NAME, 11),
            (codes::DEADLINE_AFTER_PERIOD, 14),
            (codes::NO_SUCH_CPU, 16),
        ],
        "{errors}"
    );
}

#[test]
fn a_wcet_above_the_deadline_is_a_valid_file() {
    let part = TASK.replace("period = 10", "period = 10\ndeadline = 1");
    let set = TaskSet::parse("x.toml", &with_prelude(&part)).unwrap();
    assert!(set.warnings().is_none());
    assert_eq!(
        set.to_tasks("smc").unwrap()[0].deadline.as_nanos(),
        1_000_000
    );
}

#[test]
fn references_that_lead_nowhere() {
    let server = "[[server]]\nname = \"s\"\nkind = \"deferrable\"\nperiod = 5\ncapacity = 1\n";
    only(
        &format!("{TASK}{server}tasks = [\"b\"]\n"),
        codes::UNKNOWN_TASK,
        (14, 10),
        &["`a`"],
    );
    let device = "[[device]]\nname = \"d\"\nserver = \"t\"\ncost = 1\n";
    only(
        &format!("{TASK}{server}{device}"),
        codes::UNKNOWN_SERVER,
        (16, 10),
        &["`s`"],
    );
    let io = TASK.to_owned() + "io = [{ after = 1, device = \"dd\", events = 1 }]\n";
    only(
        &format!("{io}{server}{}", device.replace("\"t\"", "\"s\"")),
        codes::UNKNOWN_DEVICE,
        (9, 29),
        &["`d`"],
    );
    let twice = format!("{TASK}{server}tasks = [\"a\", \"a\"]\n");
    only(
        &twice,
        codes::TASK_IN_TWO_SERVERS,
        (14, 15),
        &["server `s`"],
    );
}

#[test]
fn servers_that_make_no_sense() {
    let pibs = "[[server]]\nname = \"p\"\nkind = \"pibs\"\nutilization = 0.1\n";
    let pair = format!(
        "{TASK}{pibs}serves = [\"q\"]\n{}serves = [\"p\"]\n",
        pibs.replace("\"p\"", "\"q\"")
    );
    let found: Vec<Code> = errors(&pair)
        .list()
        .iter()
        .map(|error| error.code)
        .collect();
    assert_eq!(
        found,
        [codes::SERVES_PIBS, codes::SERVES_PIBS],
        "a circle is two errors"
    );
    only(
        &format!("{TASK}{pibs}capacity = 1\n"),
        codes::CONFLICT,
        (13, 1),
        &["`capacity` on a `pibs` server"],
    );
    let degraded = "[[server]]\nname = \"p\"\nkind = \"sporadic\"\nperiod = 5\ncapacity = 2\n";
    only(
        &format!("{TASK}{degraded}degraded = {{ HI = 3 }}\n"),
        codes::DEGRADED_ABOVE_CAPACITY,
        (14, 19),
        &["at most the capacity at its own level, 2"],
    );
    let sporadic =
        "[[server]]\nname = \"p\"\nkind = \"sporadic\"\nperiod = 5\ncapacity = { HI = 1 }\n";
    only(
        &format!("{TASK}{sporadic}"),
        codes::MISSING_KEY,
        (13, 12),
        &["`LO`"],
    );
    let one = sporadic.replace("{ HI = 1 }", "1\nreplenishments = 1");
    only(
        &format!("{TASK}{one}"),
        codes::OUT_OF_RANGE,
        (14, 18),
        &["from 2 to 4096"],
    );
    only(
        &format!("{TASK}{}", sporadic.replace("sporadic", "sporadik")),
        codes::UNKNOWN_WORD,
        (11, 8),
        &["did you mean `sporadic`?"],
    );
}

/// Every key of the format.
const EVERYTHING: &str = r#"
format = "vestal/1"
name   = "everything"
levels = ["LO", "HI"]
unit   = "ms"
[platform]
cpus = 4
tick = "1ms"
interrupt_master = 0
bus = { arbitration = "round-robin", access = "50ns" }
[[task]]
name = "capture"
criticality = "HI"
period = 200
deadline = 200
offset = 0
arrival = "periodic"
wcet = { LO = 9.45, HI = 10 }
degraded = { HI = 24 }
priority = 3
cpu = 0
accesses = { LO = 1200, HI = 4000 }
on_miss = "continue"
io = [{ after = 8, device = "camera", events = 4 }]
work = "alloc:10x1MiB@0.5"
[[server]]
name = "app"
kind = "deferrable"
period = 25
capacity = { LO = 10, HI = 12 }
criticality = "HI"
scheduler = "fixed-priority"
tasks = ["capture"]
[[server]]
name = "sporadic"
kind = "sporadic"
period = 25
capacity = 10
degraded = { HI = 5 }
priority = 7
cpu = 3
scheduler = "edf"
replenishments = 32
full = "tail"
[[server]]
name = "camera-bh"
kind = "pibs"
utilization = { LO = 0.01, HI = 0.02 }
serves = ["app"]
[[device]]
name = "camera"
server = "camera-bh"
cost = 1
[[device]]
name = "net"
server = "camera-bh"
cost = 1
arrival = "burst"
period = 10
burst = 4
"#;

#[test]
fn the_whole_format_is_understood() {
    let set = TaskSet::parse("x.toml", EVERYTHING).unwrap_or_else(|errors| panic!("{errors}"));
    let warnings = set.warnings().unwrap();
    assert_eq!(
        warnings.list().len(),
        1,
        "degraded at the own level is a warning: {warnings}"
    );
    assert_eq!(warnings.list()[0].severity, Severity::Warning);
    assert_eq!((set.servers.len(), set.devices.len()), (3, 2));
    assert_eq!(set.servers[0].tasks, [0]);
    let written = set.to_toml();
    assert_eq!(
        TaskSet::parse("again.toml", &written).unwrap_or_else(|errors| panic!("{errors}")),
        set
    );
}

#[test]
fn a_scenario_file_is_diagnosed_like_a_task_set() {
    let set = TaskSet::parse("x.toml", codes::SCENARIO_SET).unwrap();
    let csv = "# comment\n\ntask,contrl,0,0,1ms\ntask,control,zero,-1,0\nmode,5ms,HIGH\ntsk,control,0,0,1ms\ndevice,camera,5ms,1\ntask,display,0\n";
    let errors = Scenario::from_source(&Source::new("s.csv", csv), &set).unwrap_err();
    let found: Vec<(Code, usize, usize)> = errors
        .list()
        .iter()
        .map(|error| (error.code, error.line, error.column))
        .collect();
    assert_eq!(
        found,
        [
            (codes::SCENARIO_UNKNOWN_TASK, 3, 6),
            (codes::OUT_OF_RANGE, 4, 14),
            (codes::NEGATIVE_TIME, 4, 19),
            (codes::NOT_POSITIVE, 4, 22),
            (codes::UNKNOWN_LEVEL, 5, 10),
            (codes::UNKNOWN_ROW, 6, 1),
            (codes::SCENARIO_UNKNOWN_TASK, 7, 8),
            (codes::ROW_LENGTH, 8, 1),
        ],
        "{errors}"
    );
}

#[test]
fn a_scenario_may_be_toml() {
    let set = TaskSet::parse("x.toml", codes::SCENARIO_SET).unwrap();
    let toml = "unit = \"us\"\n[[task]]\ntask = \"control\"\njob = 2\nexecution = 9000\n[[mode]]\nat = \"1ms\"\nlevel = \"HI\"\n";
    let Scenario::File(file) = Scenario::from_source(&Source::new("s.toml", toml), &set).unwrap()
    else {
        panic!("not a file")
    };
    assert_eq!(file.jobs[0][0].execution.unwrap().as_nanos(), 9_000_000);
    assert_eq!((file.modes.len(), file.notes.len()), (1, 1));
    let wrong = Scenario::from_source(
        &Source::new("s.toml", "[[task]]\ntask = \"control\"\njbo = 2\n"),
        &set,
    );
    let codes_found: Vec<Code> = wrong
        .unwrap_err()
        .list()
        .iter()
        .map(|error| error.code)
        .collect();
    assert!(codes_found.contains(&codes::UNKNOWN_KEY) && codes_found.contains(&codes::MISSING_KEY));
}

#[test]
fn a_file_with_thousands_of_mistakes_is_answered_with_the_first_ones() {
    let part: String = (0..20_000)
        .map(|index| format!("k{index} = {index}\n"))
        .collect();
    let errors = errors(&part);
    assert_eq!(errors.list().len(), 200);
    assert!(
        errors
            .list()
            .iter()
            .all(|error| error.code == codes::UNKNOWN_KEY)
    );
}

#[test]
fn the_largest_task_set_is_read() {
    let mut text = with_prelude("");
    let mut names = String::new();
    for index in 0..65_535 {
        text +=
            &format!("[[task]]\nname=\"t{index}\"\ncriticality=\"LO\"\nperiod=9\nwcet={{LO=1}}\n");
        names += &format!("\"t{index}\",");
    }
    text += &format!(
        "[[server]]\nname=\"s\"\nkind=\"polling\"\nperiod=5\ncapacity=1\ntasks=[{names}]\n"
    );
    let set = TaskSet::parse("large.toml", &text).unwrap();
    assert_eq!(
        (set.tasks.len(), set.servers[0].tasks.len()),
        (65_535, 65_535)
    );
    text += "[[task]]\nname=\"more\"\n";
    let errors = TaskSet::parse("large.toml", &text).unwrap_err();
    assert_eq!(errors.list()[0].code, codes::TOO_MANY);
}

#[test]
fn an_unknown_key_of_a_scenario_is_reported_once() {
    let set = TaskSet::parse("set.toml", codes::SCENARIO_SET).unwrap();
    let text =
        "format = \"vestal-scenario/1\"\n[[task]]\ntask = \"control\"\njob = 0\nexecutoin = 1\n";
    let errors = Scenario::from_source(&Source::new("s.toml", text), &set).unwrap_err();
    assert_eq!(errors.list().len(), 1, "{errors}");
    assert!(errors.to_string().contains("`execution`"), "{errors}");
}
