use super::*;
use crate::args::{Format as PrintFormat, WorldArgs};

use crate::output::Output;
use crate::real::outcome;
use std::path::PathBuf;
use vestal_core::{Instant, JobId, Level};
use vestal_linux::report::{
    BusyReport, CpuReport, Detections, EnforcementReport, JobCounts, MachineReport, ModeChange,
    MonitoringReport, Part, PartsReport, TaskReport, ThreadCost, ThreadCosts, Wakeups,
};
use vestal_linux::rights::Throttling;
use vestal_linux::{ClockSkew, Ended, Report, Rights, Summary};
use vestal_result::run::{Detected, Monitoring};

const TWO_CPUS: &str = "../../examples/two-cpus.toml";
const ONE_CPU: &str = "../../examples/starter.toml";

fn session(file: &str, policy: &str) -> Session {
    let world = WorldArgs {
        file: PathBuf::from(file),
        policy: policy.to_owned(),
        duration: Some("1s".to_owned()),
        scenario: None,
        seed: 1,
        options: Vec::new(),
        parameters: None,
    };
    let output = Output::new(PrintFormat::Json);
    Session::open(crate::registry::registry(), &world, "run", &output).unwrap()
}

fn on(entries: &[usize]) -> Settings {
    Settings {
        managed: true,
        cpus: Some(entries.to_vec()),
        ..Settings::default()
    }
}

/// The time of `--monitor` is that of the monitor it was said of.
#[test]
fn a_time_is_the_period_of_a_heartbeat_and_the_lower_bound_of_another_monitor() {
    let paces = |monitor, pace_ns| {
        let settings = Settings {
            monitor,
            pace_ns,
            ..Settings::default()
        };
        let config = config(&settings, false);
        (config.heartbeat.as_nanos(), config.bound.as_nanos())
    };
    let (beat, bound) = paces(None, None);
    assert_eq!((beat, bound), (1_000_000, 30_000));
    let pace = Some(70_000);
    assert_eq!(paces(Some(Monitor::Heartbeat), pace), (70_000, bound));
    assert_eq!(paces(Some(Monitor::Manager), pace), (beat, 70_000));
}

fn able(processors: usize) -> Rights {
    Rights {
        cap_sys_nice: true,
        cap_ipc_lock: true,
        priority_limit: None,
        memory_lock_limit: None,
        address_space: 0,
        fifo_granted: true,
        rt_group: None,
        throttling: Throttling {
            runtime_us: -1,
            period_us: 1_000_000,
        },
        perf: true,
        processors: (0..processors).map(Processor).collect(),
    }
}

/// What is wrong with a run of a session on a machine with so many CPUs.
fn refusal(session: &Session, settings: &Settings, processors: usize) -> Option<String> {
    let executive = executive(session, settings, &Arc::default()).unwrap();
    let checked = executive.check(&able(processors));
    checked.err().map(|error| error.to_string())
}

#[test]
fn each_cluster_is_a_cpu_of_the_run_with_its_own_tasks() {
    let session = session(TWO_CPUS, "pedf-vd");
    let settings = on(&[3, 5]);
    let debug = format!(
        "{:?}",
        executive(&session, &settings, &Arc::default()).unwrap()
    );
    let cpus: Vec<&str> = debug.split("CpuTasks {").skip(1).collect();
    assert_eq!(cpus.len(), 2);
    for ((cpu, cluster), entry) in cpus.iter().zip(&session.system.clusters).zip([3, 5]) {
        assert!(cpu.contains(&format!("Processor({entry})")), "{cpu}");
        assert!(cpu.contains("decider: Managed"), "{cpu}");
        for (task, id) in session.set.tasks.iter().zip((0..).map(TaskId)) {
            let here = cpu.contains(&format!("name: {:?}", task.name));
            assert_eq!(here, cluster.tasks.contains(&id), "{}: {cpu}", task.name);
        }
    }
    // The executive takes it, and says which processors it lacks.
    assert_eq!(refusal(&session, &settings, 6), None);
    let missing = refusal(&session, &settings, 4).unwrap();
    assert!(missing.contains("asked for CPU 1 of the set"), "{missing}");
    let free = Settings {
        cpus: None,
        ..settings
    };
    assert_eq!(refusal(&session, &free, 2), None);
    let few = refusal(&session, &free, 1).unwrap();
    assert!(few.contains("--cpus 0,0"), "{few}");
}

/// A server may use its whole budget, whatever its tasks should need: throttling would stop them all.
#[test]
fn a_run_whose_servers_could_use_up_the_cpu_is_refused_if_a_job_may_run_away() {
    let scratch = std::env::temp_dir().join(format!("vestal-full-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let [file, rows] = ["set.toml", "rows.csv"].map(|name| scratch.join(name));
    let text = std::fs::read_to_string("../../examples/hsf-figure-14.toml").unwrap();
    std::fs::write(&file, text.replace("capacity = 10", "capacity = 12.4")).unwrap();
    std::fs::write(&rows, "task,task1,0,,3s\ntask,task2,0,,3s\n").unwrap();
    let refused = |scenario: Option<&PathBuf>| {
        let world = WorldArgs {
            file: file.clone(),
            policy: "hsf".to_owned(),
            duration: Some("1s".to_owned()),
            scenario: scenario.map(|path| path.to_str().unwrap().to_owned()),
            seed: 1,
            options: Vec::new(),
            parameters: None,
        };
        let output = Output::new(PrintFormat::Json);
        let session = Session::open(crate::registry::registry(), &world, "run", &output).unwrap();
        let throttled = Rights {
            throttling: Throttling {
                runtime_us: 950_000,
                period_us: 1_000_000,
            },
            ..able(1)
        };
        let executive = executive(&session, &on(&[0]), &Arc::default()).unwrap();
        executive
            .check(&throttled)
            .err()
            .map(|error| error.to_string())
    };
    let results = [refused(None), refused(Some(&rows))];
    std::fs::remove_dir_all(&scratch).unwrap();
    let [modest, runaway] = results;
    assert_eq!(modest, None);
    let runaway = runaway.unwrap();
    assert!(runaway.contains("99.2 %"), "{runaway}");
}

#[test]
fn fixed_priorities_are_left_to_the_kernel_unless_dispatch_is_managed() {
    let fixed = session(ONE_CPU, "amc");
    let [cluster] = fixed.system.clusters.as_slice() else {
        panic!("one CPU");
    };
    let managed = Settings {
        managed: true,
        ..Settings::default()
    };
    assert!(!needs_manager(cluster, &Settings::default()));
    assert!(needs_manager(cluster, &managed));
    assert_eq!(dispatch(&fixed, &Settings::default()), Dispatch::Native);
    assert_eq!(dispatch(&fixed, &managed), Dispatch::Managed);
    let deadlines = session(TWO_CPUS, "pedf-vd");
    assert_eq!(
        dispatch(&deadlines, &Settings::default()),
        Dispatch::Managed
    );
    let native = Settings {
        native: true,
        ..Settings::default()
    };
    for cluster in &deadlines.system.clusters {
        assert!(needs_manager(cluster, &Settings::default()));
        assert!(!needs_manager(cluster, &native), "which is then refused");
        assert!(cluster.configuration.guard(Precision::EXACT).is_err());
    }
}

#[test]
fn as_many_entries_are_needed_as_the_set_has_cpus() {
    let two = session(TWO_CPUS, "pedf-vd");
    for entries in [[0, 1], [1, 0], [1, 1]] {
        assert!(check_entries(&two, &on(&entries)).is_ok());
    }
    let failure = check_entries(&two, &on(&[0, 1, 0])).unwrap_err();
    assert_eq!(failure.exit, crate::failure::Exit::BadInput);
    assert!(
        failure.what.contains("--cpus 0,1,0 with"),
        "{}",
        failure.what
    );
    assert_eq!(
        failure.why,
        "it has 3 entries, and pedf-vd runs this set on 2 CPUs"
    );
    assert!(failure.help[0].contains("--cpus 0,1"), "{:?}", failure.help);
    let one = session(ONE_CPU, "amc");
    assert!(check_entries(&one, &on(&[1])).is_ok());
    assert!(check_entries(&one, &Settings::default()).is_ok());
    let failure = check_entries(&one, &on(&[0, 1])).unwrap_err();
    assert_eq!(
        failure.why,
        "it has 2 entries, and amc runs this set on one CPU"
    );
    assert!(failure.help[0].contains("--cpus 1"), "{:?}", failure.help);
}

#[test]
fn nothing_is_guaranteed_where_cpus_of_the_set_share_one_and_a_warning_says_why() {
    let session = session(TWO_CPUS, "pedf-vd");
    assert!(proof(&session, &on(&[0, 1])).is_some());
    assert_eq!(sharing(&session, &on(&[0, 1])), Vec::<String>::new());
    let debug = |settings: &Settings| {
        format!(
            "{:?}",
            executive(&session, settings, &Arc::default()).unwrap()
        )
    };
    assert!(debug(&on(&[0, 1])).contains("guarantee: true"));

    assert_eq!(proof(&session, &on(&[1, 1])), None);
    assert!(!debug(&on(&[1, 1])).contains("guarantee: true"));
    let [warning] = sharing(&session, &on(&[1, 1])).try_into().unwrap();
    assert!(
        warning.contains("CPUs 0, 1 of the set share CPU 1 of this machine"),
        "{warning}"
    );
    assert!(warning.contains("nothing is guaranteed"), "{warning}");
    assert_eq!(sharing(&session, &on(&[0, 1, 0, 1])).len(), 2);
}

/// A job of a task for each count.
fn task(name: &str, released: u64) -> TaskReport {
    let jobs = JobCounts {
        released,
        ..JobCounts::default()
    };
    TaskReport {
        name: name.to_owned(),
        jobs,
        overruns: 0,
        preemptions: 0,
        activations: Summary {
            max: released % 100,
            ..Summary::default()
        },
        response: Summary::default(),
        execution: Summary::default(),
        tardiness: Summary::default(),
        limits_below_granularity: Vec::new(),
    }
}

/// The mode rises at this millisecond, because of the second task of its CPU.
fn rise(ms: u64) -> ModeChange {
    ModeChange {
        at: Instant::from_nanos(ms * 1_000_000),
        from: Level(0),
        to: Level(1),
        cause: Some(JobId {
            task: TaskId(1),
            sequence: 0,
        }),
    }
}

fn monitoring(figure: u64) -> MonitoringReport {
    MonitoringReport {
        activations: figure,
        without_cpu: 10 * figure,
        beyond_bound: Some(figure),
        detected: Detections {
            first: figure,
            second: 10 * figure,
            later: 100 * figure,
        },
    }
}

/// A report of a CPU with figures that tell it from others, and a rise at this millisecond.
fn of_cpu(processor: usize, tasks: Vec<TaskReport>, ms: u64) -> CpuReport {
    let figure = processor as u64 + 1;
    let length = Summary {
        count: 1,
        mean: 1.0,
        max: figure,
        median: figure,
        ..Summary::default()
    };
    CpuReport {
        processor: Processor(processor),
        busy: Service::from_nanos(figure),
        switches: figure,
        preemptions: 0,
        monitor: vestal_linux::Monitor::Manager,
        monitor_fallback: None,
        monitor_choice: None,
        monitoring: Some(monitoring(figure)),
        enforced: true,
        inversions: Some(figure),
        modes: vec![rise(ms)],
        modes_lost: 1,
        lost_notes: figure,
        tasks,
        overhead: vec![vestal_linux::report::Overhead {
            mechanism: "manager",
            summary: length,
            share: 0.1 * figure as f64,
        }],
        parts: parts(figure),
        threads: ThreadCosts {
            manager: ThreadCost {
                cpu: Service::from_nanos(figure),
                ..ThreadCost::default()
            },
            wakeups: Wakeups {
                release: figure,
                ..Wakeups::default()
            },
            ..ThreadCosts::default()
        },
        busy_periods: BusyReport {
            count: 1,
            length,
            periods: Vec::new(),
            switches: figure,
        },
        machine: MachineReport {
            gaps: figure,
            longest_gap: Duration::from_nanos(figure),
            longest_charged: Service::ZERO,
            lost: Duration::from_nanos(figure),
            newest: Vec::new(),
            stolen: vec![vestal_linux::report::StolenTime {
                cause: vestal_linux::report::Cause::Unknown,
                time: Duration::from_nanos(figure),
            }],
            foreign: Vec::new(),
        },
        servers: Vec::new(),
        devices: Vec::new(),
        enforcement: enforcement(figure, length),
        release_lateness: Summary::default(),
        lost_notices: 0,
        suspensions: None,
    }
}

fn enforcement(figure: u64, overshoot: Summary) -> EnforcementReport {
    EnforcementReport {
        calibration: None,
        granularity: Some(Service::from_nanos(figure)),
        overshoot,
        late: figure,
        tolerance: Service::from_nanos(50),
        server_granularity: None,
        server_overshoot: Summary::default(),
        server_overshoot_undisturbed: Summary::default(),
    }
}

/// Each part took one millisecond so many times, the second one twice as often, and so on.
fn parts(figure: u64) -> PartsReport {
    let each = Part::OF_MANAGERS.into_iter().zip(1..);
    let each = each.map(|(part, number)| {
        let summary = Summary {
            count: number * figure,
            mean: 1_000_000.0,
            max: 1_000_000,
            sum: number * figure * 1_000_000,
            ..Summary::default()
        };
        (part, summary)
    });
    PartsReport {
        parts: each.collect(),
        system: Service::from_millis(figure),
    }
}

fn report(cpus: Vec<CpuReport>) -> Report {
    Report {
        dispatcher: None,
        frames: None,
        ended: Ended::Finished,
        duration: Duration::from_millis(1_000),
        mechanism: vestal_linux::Mechanism::Vestal,
        jobs: JobCounts::default(),
        cpus,
        watchdog: ThreadCost::default(),
        continued: 0,
        clock_skew: None,
        recorded: None,
        stuck: Vec::new(),
    }
}

/// A run of two CPUs on processors 4 and 6; a task has released 100 jobs and as many as its number says.
fn of_two(session: &Session) -> Report {
    let of = |index: usize, processor, ms| {
        let ids = &session.system.clusters[index].tasks;
        let tasks = ids.iter().map(|id| {
            let name = &session.set.tasks[id.index()].name;
            task(name, u64::from(id.0) + 100)
        });
        of_cpu(processor, tasks.collect(), ms)
    };
    let skew = ClockSkew {
        monotonic_nanos: 120,
        stamp_nanos: Some(90),
    };
    Report {
        clock_skew: Some(skew),
        ..report(vec![of(0, 4, 20), of(1, 6, 10)])
    }
}

#[test]
fn results_are_put_together_from_the_cpus_in_the_order_of_the_file() {
    let session = session(TWO_CPUS, "pedf-vd");
    let name = |id: &TaskId| session.set.tasks[id.index()].name.clone();
    let result = outcome::result(&session, &on(&[4, 6]), &of_two(&session));
    let run = &result.run;
    let rows: Vec<_> = run
        .tasks
        .iter()
        .map(|row| (row.name.clone(), row.released))
        .collect();
    let file: Vec<_> = (0..5)
        .map(|id| (name(&TaskId(id)), u64::from(id) + 100))
        .collect();
    assert_eq!(rows, file);
    for (row, id) in run.tasks.iter().zip((0..).map(TaskId)) {
        assert_eq!(
            row.cpu,
            session.system.cpu_of(id).map(|cpu| cpu.0),
            "{}",
            row.name
        );
    }
    let cpus: Vec<_> = run.cpus.iter().map(|row| (row.cpu, row.busy_ns)).collect();
    assert_eq!(cpus, [(0, 5), (1, 7)]);
    // By time, each with the name that its CPU's second task has in the file.
    let modes: Vec<_> = run
        .modes
        .iter()
        .map(|change| (change.at_ns, change.cpu, change.cause.clone()))
        .collect();
    let second = |cluster: usize| Some(name(&session.system.clusters[cluster].tasks[1]));
    assert_eq!(
        modes,
        [
            (10_000_000, Some(1), second(1)),
            (20_000_000, Some(0), second(0))
        ]
    );
    assert_eq!(result.mode_changes, 4);
}

#[test]
fn figures_of_the_machine_are_sums_and_extremes_of_all_cpus() {
    let session = session(TWO_CPUS, "pedf-vd");
    let run = outcome::result(&session, &on(&[4, 6]), &of_two(&session)).run;
    let machine = &run.machine;
    assert_eq!(
        (machine.gaps, machine.longest_gap_ns, machine.lost_ns),
        (12, 7, 12)
    );
    assert_eq!(machine.stolen.len(), 1);
    assert_eq!(machine.stolen[0].ns, 12);
    let enforced = machine.enforced.as_ref().unwrap();
    assert_eq!(
        (enforced.inversions, enforced.granularity_ns),
        (Some(12), Some(7))
    );
    assert_eq!(
        (enforced.overruns_noticed, enforced.overshoot_max_ns),
        (2, 7)
    );
    // Two mode changes, and notes.
    assert_eq!(enforced.records_lost, 2 + 12);
    assert_eq!(
        (enforced.own.manager.cpu_ns, enforced.own.wakeups.release),
        (12, 12)
    );
    assert_eq!(
        (enforced.busy_periods.count, enforced.busy_periods.median_ns),
        (2, 7)
    );
    let skew = enforced.clock_skew.unwrap();
    assert_eq!((skew.monotonic_ns, skew.tsc_ns), (120, Some(90)));
    assert_eq!(enforced.monitor, "manager");
    let expected = Monitoring {
        activations: 12,
        without_cpu: 120,
        per_job_max: 4,
        beyond_bound: Some(12),
        detected: Detected {
            first: 12,
            second: 120,
            later: 1_200,
        },
    };
    assert_eq!(enforced.monitoring, Some(expected));
    let cost = &run.overhead["manager"];
    assert_eq!((cost.count, cost.max), (2, Some(7)));
    assert!(
        (cost.share.unwrap() - 0.6).abs() < 1e-9,
        "that of the time of both"
    );
}

/// In a second the CPUs' parts take 5 and 7 ms, 10 and 14, 15 and 21, 20 and 28.
#[test]
fn the_parts_of_each_cpu_add_up_to_its_overhead_and_those_of_all_to_the_mean() {
    let session = session(TWO_CPUS, "pedf-vd");
    let run = outcome::result(&session, &on(&[4, 6]), &of_two(&session)).run;
    for (cpu, sum_ms) in run.cpus.iter().zip([50, 70]) {
        let sum: u64 = cpu.parts_ns.0.iter().map(|(_, nanos)| nanos).sum();
        assert_eq!(
            (cpu.overhead_ns, sum),
            (sum_ms * 1_000_000, cpu.overhead_ns)
        );
    }
    let found = run.parts.unwrap();
    let names: Vec<&str> = found
        .parts
        .0
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        names,
        ["job-arrival", "job-finish", "monitoring", "job-overrun"]
    );
    let (scheduler, system) = (found.scheduler, found.system);
    assert_eq!(
        (scheduler.mean_ns, scheduler.max_ns),
        (60_000_000, 70_000_000)
    );
    assert_eq!((system.mean_ns, system.max_ns), (6_000_000, 7_000_000));
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
    assert!(near(scheduler.share, 0.06) && near(scheduler.share_max, 0.07));
    assert!(near(system.share, 0.006) && near(system.share_max, 0.007));
    let finish = found.parts.get("job-finish").unwrap();
    assert_eq!(finish.count, 24);
    assert!(near(finish.share.unwrap(), 0.012) && near(finish.share_max.unwrap(), 0.014));
    let shares = found.parts.0.iter().filter_map(|(_, cost)| cost.share);
    assert!(near(shares.sum(), scheduler.share));
    assert_eq!(
        super::super::parts::line(&found),
        "scheduler overhead 6.000% (7.000% of one CPU) of the time: job-arrival 0.600%, job-finish 1.200%, \
         monitoring 1.800%, job-overrun 2.400%; system overhead 0.600% (0.700% of one CPU)"
    );
}

#[test]
fn a_single_cpu_is_called_by_its_processor() {
    let session = session(ONE_CPU, "amc");
    let tasks = session.set.tasks.iter().map(|spec| task(&spec.name, 1));
    let found = report(vec![of_cpu(6, tasks.collect(), 10)]);
    let run = outcome::result(&session, &on(&[6]), &found).run;
    assert_eq!(run.cpus[0].cpu, 6);
    assert_eq!(run.modes[0].cpu, Some(6));
    assert!(run.tasks.iter().all(|row| row.cpu == Some(6)));
    assert_eq!(run.machine.enforced.unwrap().clock_skew, None);
}

/// It keeps all CPUs, and has no jobs.
#[test]
fn what_is_taken_from_a_dispatcher_s_own_cpu_is_taken_from_the_run() {
    let session = session(TWO_CPUS, "pedf-vd");
    let found = Report {
        dispatcher: Some(of_cpu(7, Vec::new(), 10)),
        ..of_two(&session)
    };
    let run = outcome::result(&session, &on(&[4, 6]), &found).run;
    let machine = &run.machine;
    let sums = (machine.gaps, machine.longest_gap_ns, machine.lost_ns);
    assert_eq!((sums, machine.stolen[0].ns), ((20, 8, 20), 20));
    let own = &machine.enforced.as_ref().unwrap().own;
    assert_eq!((own.manager.cpu_ns, run.cpus.len()), (20, 2));
}
