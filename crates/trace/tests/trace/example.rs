//! The schedule that the drawings' tests draw: a HI task overruns, a LO job is dropped; its miss
//! is put in by hand, so that every mark occurs.

use crate::common::written;
use vestal_core::*;
use vestal_testkit::short::CPU;
use vestal_trace::write::Options;
use vestal_trace::{Edge, Format, Header, Mechanism, Record, Recorder, TaskInfo, What};

const MS: u64 = 1_000_000;

fn task(
    criticality: u8,
    period: u64,
    deadline: u64,
    wcet: &[u64],
    priority: u32,
) -> TaskConfiguration {
    let wcet: Vec<Service> = wcet.iter().map(|&ms| Service::from_millis(ms)).collect();
    let task = Task::new(
        Level(criticality),
        Duration::from_millis(period),
        Duration::from_millis(deadline),
        Wcet::new(&wcet).unwrap(),
    );
    TaskConfiguration::new(task.unwrap(), priority)
}

fn tasks() -> [TaskConfiguration; 3] {
    [
        task(1, 10, 10, &[3, 6], 3),
        task(0, 10, 8, &[3], 2),
        task(1, 30, 30, &[4, 8], 1),
    ]
}

pub(crate) fn header() -> Header {
    let names = ["guidance", "camera <&>", "log_1"];
    Header {
        levels: vec!["LO".to_owned(), "HI".to_owned()],
        tasks: tasks()
            .iter()
            .zip(names)
            .map(|(entry, name)| TaskInfo {
                name: name.to_owned(),
                criticality: entry.task.criticality,
                period: entry.task.period,
                deadline: entry.task.deadline,
            })
            .collect(),
        ..Header::new("amc")
    }
}

fn demand(job: JobId) -> u64 {
    match (job.task.0, job.sequence) {
        (0, 1) => 5 * MS,
        (0, _) => 2 * MS + MS / 2,
        (1, _) => 3 * MS,
        _ => 4 * MS,
    }
}

fn switch(at: Instant, edge: Edge) -> Record {
    let mechanism = Mechanism::Switch;
    let what = What::Overhead {
        cpu: CPU,
        mechanism,
        edge,
    };
    Record { at, what }
}

/// Thirty milliseconds under AMC: the second job of `guidance` executes 5 ms instead of 3, so the mode
/// rises at 13 ms and the job of `camera` released at 10 ms is dropped; the way back is at an idle
/// instant.
pub(crate) fn records() -> Vec<Record> {
    let tasks = tasks();
    let configuration = vestal_testkit::short::configuration(&tasks, 2, Enforcement::Adaptive);
    let mut world = Recorder::new(Uniprocessor::new(&configuration).unwrap(), Vec::new());
    let mut running: Option<JobId> = None;
    let mut done = std::collections::BTreeMap::new();
    let mut begun = 0;
    let mut now = 0;
    loop {
        let at = Instant::from_nanos(now);
        if let Some(job) = running {
            let (cpu, amount) = (CPU, Service::from_nanos(now - begun));
            let charged = Fact::Charged { cpu, job, amount };
            world.apply(at, charged).unwrap();
            let sum = done.entry(job).or_insert(0);
            *sum += amount.as_nanos();
            if *sum == demand(job) {
                world.apply(at, Fact::Completed { cpu: CPU, job }).unwrap();
                running = None;
            }
        }
        for (number, entry) in tasks.iter().enumerate() {
            let period = entry.task.period.as_nanos();
            if now < 30 * MS && now.is_multiple_of(period) {
                let job = JobId {
                    task: TaskId(number as u16),
                    sequence: now / period,
                };
                world.apply(at, Fact::Released { job }).unwrap();
            }
        }
        let plan = world.decide(at).unwrap();
        let slot = plan.slot(CPU);
        if running != slot.map(|slot| slot.job) {
            if let Some(job) = running {
                let (cpu, why) = (CPU, StopReason::Preempted);
                world.apply(at, Fact::Stopped { cpu, job, why }).unwrap();
            }
            running = slot.map(|slot| slot.job);
            if let Some(job) = running {
                for edge in [Edge::Begin, Edge::End] {
                    world.put(switch(at, edge));
                }
                world.apply(at, Fact::Started { cpu: CPU, job }).unwrap();
            }
        }
        while world.take_notice().is_some() {}
        if now == 30 * MS {
            break;
        }
        begun = now;
        // The next release, completion, or exhausted budget.
        let mut next = (now / (10 * MS) + 1) * 10 * MS;
        if let Some(slot) = slot {
            let left = demand(slot.job) - done.get(&slot.job).copied().unwrap_or(0);
            next = next.min(now + left);
            if let Some(budget) = slot.budget {
                next = next.min(now + budget.remaining.as_nanos());
            }
        }
        now = next;
    }
    let (_, records) = world.finish(Instant::from_nanos(now));
    with_miss(records)
}

/// The second job of `camera` misses its deadline at 18 ms.
fn with_miss(mut records: Vec<Record>) -> Vec<Record> {
    let late = JobId {
        task: TaskId(1),
        sequence: 1,
    };
    let what = What::Miss {
        job: late,
        deadline: Instant::from_nanos(18 * MS),
        guaranteed: false,
    };
    let index = records
        .iter()
        .position(|record| record.at > Instant::from_nanos(18 * MS));
    let at = Instant::from_nanos(18 * MS);
    records.insert(index.unwrap(), Record { at, what });
    records
}

fn drawn(format: Format) -> String {
    let bytes = written(format, &header(), Options::default(), &records());
    String::from_utf8(bytes).unwrap()
}

/// Compares with the file; `VESTAL_BLESS=1` rewrites it.
pub(crate) fn golden(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("VESTAL_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name}; VESTAL_BLESS=1 rewrites it");
}

#[test]
fn the_text_chart_is_the_golden_one() {
    golden("example.txt", &drawn(Format::Text));
}

#[test]
fn the_svg_chart_is_the_golden_one() {
    let svg = drawn(Format::Svg);
    golden("example.svg", &svg);
    assert_eq!(svg.matches("<title>deadline at").count(), 7);
    assert_eq!(svg.matches("<title>release at").count(), 7);
    // Only where the next job arrives at the deadline does the arrow stand aside.
    assert_eq!(svg.matches("translate(-6 0)").count(), 2);
    assert_eq!(svg.matches("<title>mode HI").count(), 1);
    assert_eq!(svg.matches("job dropped").count(), 1);
}

#[test]
fn the_latex_drawing_is_the_golden_one() {
    golden("example.tex", &drawn(Format::Tex));
}

#[test]
fn the_value_change_dump_is_the_golden_one() {
    golden("example.vcd", &drawn(Format::Vcd));
}

#[test]
fn the_csv_is_the_golden_one() {
    golden("example.csv", &drawn(Format::Csv));
}

/// A chart of a long run stays small, and says that it is not the whole.
#[test]
fn a_chart_of_many_items_is_cut_and_says_so() {
    let options = Options {
        items_max: 5,
        ..Options::default()
    };
    for format in [Format::Svg, Format::Text] {
        let bytes = written(format, &header(), options, &records());
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(", cut"), "{text}");
    }
}

#[test]
fn a_window_shows_only_its_part() {
    let options = Options {
        window: vestal_trace::chart::Window {
            from: Instant::from_nanos(12 * MS),
            to: Instant::from_nanos(16 * MS),
        },
        ..Options::default()
    };
    let bytes = written(Format::Text, &header(), options, &records());
    let text = String::from_utf8(bytes).unwrap();
    golden("window.txt", &text);
}
