//! Inputs that a page has to cope with.

use crate::inputs::{Made, analysis, fact, job, other, run};
use vestal_core::*;
use vestal_report::Report;
use vestal_trace::{DomainId, DomainInfo, Edge, Header, Record, What};

/// Each with its name.
pub(crate) fn all() -> Vec<(&'static str, Report)> {
    vec![
        ("several", several()),
        ("policies", policies()),
        ("names", names()),
        ("empty", empty()),
        ("proof-only", proof_only()),
        ("nulls", nulls()),
        ("cpus", cpus()),
        ("domains", domains()),
        ("dropped", dropped()),
        ("many-cpus", many_cpus()),
        ("far", far()),
        ("levels", levels()),
        ("many-tasks", many_tasks()),
        ("many-inputs", many_inputs()),
        ("lost", lost()),
        ("cut", cut()),
    ]
}

fn add(report: &mut Report, name: &str, made: &Made) {
    report.add_recording(name, made.recording()).unwrap();
}

/// A proof, a simulated run and a measured one, each with its trace.
fn several() -> Report {
    let made = Made::new(&["first", "second", "third"], 200);
    let measured = made.clone().measured();
    let mut report = Report::new("test");
    report
        .add_result("a.json", &analysis(&["first", "second", "third"]))
        .unwrap();
    report
        .add_result("b.json", &run("simulator", 1, &made))
        .unwrap();
    report
        .add_result("c.json", &run("linux", 1, &measured))
        .unwrap();
    add(&mut report, "b.vtrace", &made);
    add(&mut report, "c.vtrace", &measured);
    report
}

/// A proof of the policy of one run, and another run under another policy without a proof.
fn policies() -> Report {
    let made = Made::new(&["first", "second", "third"], 50);
    let result = run("simulator", 1, &made);
    let mut other: serde_json::Value = serde_json::from_str(&result).unwrap();
    other["policy"] = "dms".into();
    other["scenario"] = "overrun=0.5".into();
    other["proof"] = serde_json::Value::Null;
    let mut report = Report::new("test");
    report
        .add_result("a.json", &analysis(&["first", "second", "third"]))
        .unwrap();
    report.add_result("b.json", &result).unwrap();
    report.add_result("c.json", &other.to_string()).unwrap();
    report
}

fn names() -> Report {
    let long = "x".repeat(4000);
    let names = [
        "</script><script>window.broken = true</script>",
        "<img src=x onerror=\"window.broken = true\">",
        "\u{202e}backwards\u{0} & 'quoted' \"twice\"\n\u{2028}line",
        "__proto__",
        "",
        &long,
    ];
    let made = Made::new(&names, 30);
    let mut report = Report::new("test </title><script>window.broken = true</script>");
    report
        .add_result(
            "</title><script>window.broken = true</script>",
            &analysis(&names),
        )
        .unwrap();
    report.add_result("x", &run("</b>", 1, &made)).unwrap();
    add(&mut report, "<!-- ", &made);
    report
}

/// A trace without a task, a record or a level.
fn empty() -> Report {
    let mut report = Report::new("test");
    let made = Made {
        header: Header::new(""),
        records: Vec::new(),
        ..Made::new(&[], 0)
    };
    add(&mut report, "empty.vtrace", &made);
    report
}

fn proof_only() -> Report {
    let mut report = Report::new("test");
    report.add_result("a.json", &analysis(&["a", "b"])).unwrap();
    report
}

/// A real run that kept its guarantee, one of which that is not decided, and one that did not: each by dropped jobs.
fn dropped() -> Report {
    let made = Made::new(&["a", "b"], 20);
    let mut report = Report::new("test");
    for (seed, unprovoked) in [(1, 0), (2, 2), (3, 3)] {
        let mut document: serde_json::Value =
            serde_json::from_str(&run("linux", seed, &made)).unwrap();
        document["frames"] = serde_json::json!({ "total": 9, "lo_skipped": 2, "overrun": 0,
            "unprovoked": unprovoked, "unprovoked_undecided": unprovoked.min(2) });
        let name = format!("{seed}.json");
        report.add_result(&name, &document.to_string()).unwrap();
    }
    report
}

/// Results in which nothing completed and nothing was proved.
fn nulls() -> Report {
    let made = Made::new(&["a", "b"], 20);
    let mut document: serde_json::Value = serde_json::from_str(&run("linux", 1, &made)).unwrap();
    for task in document["tasks"].as_array_mut().unwrap() {
        task["response_ns"] =
            serde_json::json!({ "min": null, "mean": null, "p99": null, "max": null });
    }
    document["overhead"] = serde_json::json!({ "job-start": { "count": 0, "mean": 0.0, "p99": 0, "max": 0, "share": 0.0 } });
    let proof = analysis(&["a", "b"])
        .replace("71000", "null")
        .replace("60000", "null")
        .replace("72000", "null")
        .replace("\"schedulable\"", "\"not-proven\"")
        .replace("\"why\":null", "\"why\":\"an assumption is not met\"");
    let mut report = Report::new("test");
    report.add_result("a.json", &proof).unwrap();
    report.add_result("b.json", &document.to_string()).unwrap();
    report
}

/// Three CPUs; two jobs of one task run at once, and one migrates.
fn cpus() -> Report {
    let mut made = Made::new(&["a", "b"], 0);
    made.header.cpus = 3;
    made.header.levels.clear();
    let (a, again, b) = (job(0, 0), job(0, 1), job(1, 7));
    let started = |at, cpu, job| {
        fact(
            at,
            Fact::Started {
                cpu: CpuId(cpu),
                job,
            },
        )
    };
    let why = StopReason::Preempted;
    made.records = vec![
        fact(0, Fact::Released { job: a }),
        started(0, 0, a),
        fact(5_000, Fact::Released { job: b }),
        started(5_000, 1, b),
        fact(
            10_000,
            Fact::Stopped {
                cpu: CpuId(1),
                job: b,
                why,
            },
        ),
        started(12_000, 2, b),
        fact(20_000, Fact::Released { job: again }),
        started(20_000, 1, again),
        fact(
            25_000,
            Fact::Completed {
                cpu: CpuId(1),
                job: again,
            },
        ),
        fact(
            30_000,
            Fact::Completed {
                cpu: CpuId(2),
                job: b,
            },
        ),
        fact(
            40_000,
            Fact::Completed {
                cpu: CpuId(0),
                job: a,
            },
        ),
    ];
    let mut report = Report::new("test");
    add(&mut report, "cpus.csv", &made);
    report
}

/// Two domains with a CPU each, of which only one raises its mode; its task stands first in the set.
pub(crate) fn domains() -> Report {
    let mut report = Report::new("test");
    add(&mut report, "domains.csv", &of_domains());
    report
}

pub(crate) fn of_domains() -> Made {
    let mut made = Made::new(&["a", "b"], 0);
    let domain = |name: &str, number: u16, task: u16| DomainInfo {
        name: name.to_owned(),
        cluster: number,
        cpus: vec![CpuId(number)],
        tasks: vec![TaskId(task)],
    };
    made.header.cpus = 2;
    let domains = vec![domain("left", 0, 1), domain("right", 1, 0)];
    made.header = made.header.clone().with_domains(domains);
    let (a, b) = (job(0, 0), job(1, 0));
    let word = |at, domain| {
        let domain = DomainId(domain);
        other(at, What::Domain { domain })
    };
    let decided = |at, mode| {
        let (mode, slots, facts, hash) = (Level(mode), 0, 0, 0);
        let what = What::Decided {
            mode,
            slots,
            facts,
            hash,
        };
        other(at, what)
    };
    let started = |at, cpu, job| {
        let cpu = CpuId(cpu);
        fact(at, Fact::Started { cpu, job })
    };
    let completed = |at, cpu, job| {
        let cpu = CpuId(cpu);
        fact(at, Fact::Completed { cpu, job })
    };
    made.records = vec![
        fact(0, Fact::Released { job: b }),
        started(0, 0, b),
        word(0, 1),
        fact(0, Fact::Released { job: a }),
        started(0, 1, a),
        decided(10_000, 1),
        word(12_000, 0),
        decided(12_000, 0),
        completed(20_000, 0, b),
        word(30_000, 1),
        decided(30_000, 0),
        completed(40_000, 1, a),
        other(50_000, What::End { facts: 0 }),
        word(60_000, 0),
        other(60_000, What::End { facts: 0 }),
    ];
    made
}

/// A job that goes from one of twenty CPUs to the next.
fn many_cpus() -> Report {
    let mut made = Made::new(&["a", "b"], 0);
    made.header.cpus = 20;
    let (moving, why) = (job(0, 0), StopReason::Preempted);
    made.records = vec![fact(0, Fact::Released { job: moving })];
    for number in 0..20 {
        let (cpu, job) = (CpuId(number), moving);
        let at = u64::from(number) * 1_000;
        made.records.push(fact(at, Fact::Started { cpu, job }));
        made.records
            .push(fact(at + 900, Fact::Stopped { cpu, job, why }));
    }
    let mut report = Report::new("test");
    add(&mut report, "many-cpus.csv", &made);
    report
}

/// Instants beyond what the script's numbers hold exactly, and a run of more than a year.
fn far() -> Report {
    let mut made = Made::new(&["a", "b"], 40);
    for record in &mut made.records {
        record.at = Instant::from_nanos(record.at.as_nanos() + (1 << 61) + 1);
    }
    let mut long = Made::new(&["a", "b"], 40);
    for record in &mut long.records {
        record.at = Instant::from_nanos(record.at.as_nanos() * 5_000_000_003 + 1);
    }
    for task in &mut long.header.tasks {
        task.period = Duration::from_nanos(200_000 * 5_000_000_003);
        task.deadline = Duration::from_nanos(u64::MAX);
    }
    for task in &mut made.header.tasks {
        task.deadline = Duration::from_nanos(u64::MAX);
    }
    let mut report = Report::new("test");
    add(&mut report, "far.vtrace", &made);
    add(&mut report, "long.vtrace", &long);
    report
}

/// Four levels, modes that rise step by step, drops, overruns and misses.
fn levels() -> Report {
    let mut made = Made::new(&["a", "b", "c", "d"], 60);
    made.header.levels = ["D", "C", "B", "A"].map(str::to_owned).to_vec();
    made.header.judges_misses = true;
    for (index, task) in made.header.tasks.iter_mut().enumerate() {
        task.criticality = Level(index as u8);
    }
    let mut records: Vec<Record> = Vec::new();
    for (index, record) in made.records.iter().enumerate() {
        records.push(*record);
        let at = record.at;
        let mut notice = |event| records.push(other(at.as_nanos(), What::Notice(event)));
        let What::Fact(Fact::Completed { job, .. }) = record.what else {
            continue;
        };
        if index % 5 == 0 {
            let (level, executed) = (Level(job.task.0 as u8), Service::ZERO);
            notice(Event::Overrun {
                job,
                level,
                executed,
            });
            let to = Level(1 + (index % 3) as u8);
            notice(Event::ModeChanged {
                from: Level(0),
                to,
                cause: Some(job),
            });
        } else if index % 7 == 0 {
            notice(Event::ModeChanged {
                from: Level(1),
                to: Level(0),
                cause: None,
            });
        }
        if index % 11 == 0 {
            let (deadline, guaranteed) = (at, false);
            records.push(other(
                at.as_nanos(),
                What::Miss {
                    job,
                    deadline,
                    guaranteed,
                },
            ));
        }
        if index % 2 == 0 {
            let (cpu, task) = (CpuId(0), job.task);
            for (later, edge) in [(0, Edge::Begin), (10_000, Edge::End)] {
                let what = What::Ghost { cpu, task, edge };
                records.push(other(at.as_nanos() + later, what));
            }
        }
    }
    made.records = records;
    let mut report = Report::new("test");
    add(&mut report, "levels.vtrace", &made);
    report
}

fn many_tasks() -> Report {
    let names: Vec<String> = (0..3000).map(|number| format!("task-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let made = Made::new(&names, 2);
    let mut report = Report::new("test");
    report.add_result("a.json", &analysis(&names)).unwrap();
    report
        .add_result("b.json", &run("simulator", 1, &made))
        .unwrap();
    add(&mut report, "b.vtrace", &made);
    report
}

/// Forty results and thirty traces.
fn many_inputs() -> Report {
    let made = Made::new(&["a", "b"], 20);
    let mut report = Report::new("test");
    for number in 0..20 {
        report.add_result("a.json", &analysis(&["a", "b"])).unwrap();
        report
            .add_result("b.json", &run("linux", number, &made))
            .unwrap();
        add(&mut report, "c.vtrace", &made);
    }
    report
}

fn lost() -> Report {
    let mut made = Made::new(&["a", "b"], 20);
    made.records.insert(
        10,
        other(made.records[9].at.as_nanos(), What::Lost { count: 77 }),
    );
    made.records.truncate(40);
    let mut report = Report::new("test");
    add(&mut report, "lost.vtrace", &made);
    report
}

fn cut() -> Report {
    let made = Made::new(&["a", "b"], 500);
    let mut report = Report::new("test");
    report
        .add_recording("cut.vtrace", made.recorded(700))
        .unwrap();
    report
}
