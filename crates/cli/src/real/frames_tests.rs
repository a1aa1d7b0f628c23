use super::*;
use crate::args::{Format as PrintFormat, WorldArgs};
use crate::failure::Exit;
use crate::output::Output;
use crate::real::Monitor;
use crate::real::linux::proof;
use std::path::PathBuf;
use vestal_linux::rights::{Refusal, Throttling};
use vestal_linux::{Processor, Rights, RunError};

const FRAMES: &str = "../../examples/frames.toml";
const TWO_CPUS: &str = "../../examples/two-cpus.toml";

fn session(file: &str, policy: &str, scenario: &str) -> Session {
    session_with(file, policy, (scenario, Vec::new()))
}

fn session_with(file: &str, policy: &str, (scenario, options): (&str, Vec<String>)) -> Session {
    let world = WorldArgs {
        file: PathBuf::from(file),
        policy: policy.to_owned(),
        duration: Some("1s".to_owned()),
        scenario: Some(scenario.to_owned()),
        seed: 1,
        options,
        parameters: None,
    };
    let output = Output::new(PrintFormat::Json);
    Session::open(crate::registry::registry(), &world, "run", &output).unwrap()
}

fn framed(scenario: &str) -> Session {
    session(FRAMES, "ftts", scenario)
}

fn settings() -> Settings {
    Settings {
        managed: true,
        ..Settings::default()
    }
}

#[test]
fn a_clock_that_is_not_there_is_the_fault_of_the_machine_and_says_what_mends_it() {
    let tsc = vestal_linux::Clock::Tsc;
    let failure = check_clock(tsc, false).unwrap_err();
    assert_eq!(failure.exit, Exit::Machine);
    assert!(failure.what.contains("--clock tsc"), "{}", failure.what);
    assert!(failure.why.contains("is invariant"), "{}", failure.why);
    assert_eq!(failure.help, ["leave out --clock"]);
    assert!(check_clock(tsc, true).is_ok());
}

#[test]
fn what_a_frame_table_does_not_have_is_refused_one_by_one() {
    let monitor = Some(Monitor::Perf);
    let base = settings;
    for (settings, why) in [
        (Settings { monitor, ..base() }, "watched"),
        (
            Settings {
                deferred: Some(true),
                ..base()
            },
            "is stopped",
        ),
        (
            Settings {
                observe: true,
                ..base()
            },
            "without its order",
        ),
    ] {
        let failure = check(&framed("lo"), &settings).unwrap_err();
        assert!(failure.why.contains(why), "{why}: {}", failure.why);
        assert_eq!(failure.exit, Exit::BadInput, "{why}");
        // The control: it is what a frame table does not have.
        assert!(check(&session(TWO_CPUS, "pedf-vd", "lo"), &settings).is_ok());
    }
    let barrier = Some(Barrier::Pthread);
    let clock = Some(Clock::Monotonic);
    let watch = Settings {
        watch: true,
        ..base()
    };
    assert!(check(&framed("lo"), &watch).is_ok());
    for settings in [Settings { barrier, ..base() }, Settings { clock, ..base() }] {
        assert!(check(&framed("lo"), &settings).is_ok());
        assert!(check(&session(TWO_CPUS, "pedf-vd", "lo"), &settings).is_err());
    }
}

/// The longest frame of the example takes 9 ms of 10 at LO.
#[test]
fn a_frame_has_to_spare_what_walkers_and_barriers_take() {
    let sparing = |nanos| Settings {
        tolerance_ns: Some(nanos),
        ..settings()
    };
    assert!(check(&framed("lo"), &settings()).is_ok());
    assert!(check(&framed("lo"), &sparing(1_000_000)).is_ok());
    let failure = check(&framed("lo"), &sparing(1_000_001)).unwrap_err();
    assert!(failure.why.contains("to spare"), "{}", failure.why);
}

#[test]
fn tasks_stand_with_the_cpus_that_have_their_places() {
    let session = framed("lo");
    let (cluster, lists) = of(&session).unwrap();
    let tasks = |numbers: &[u16]| numbers.iter().copied().map(TaskId).collect::<Vec<_>>();
    let expected = [(CpuId(0), tasks(&[0])), (CpuId(1), tasks(&[1, 2, 3]))];
    assert_eq!(placed(cluster, lists), expected);
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
            runtime_us: 950_000,
            period_us: 1_000_000,
        },
        perf: true,
        processors: (0..processors).map(Processor).collect(),
    }
}

/// At HI, attitude takes 60 % of CPU 0, the other three 25, 20 and 20 % of CPU 1; at LO 30, 10, 20 and 20 %.
#[test]
fn what_throttling_leaves_is_compared_with_what_jobs_demand() {
    let refused = |scenario: &str, entries: &[usize]| {
        let session = framed(scenario);
        let settings = Settings {
            cpus: Some(entries.to_vec()),
            ..settings()
        };
        let executive = executive(
            &session,
            of(&session).unwrap(),
            (&settings, true),
            &Arc::default(),
        );
        match executive.unwrap().check(&able(2)) {
            Ok(()) => None,
            Err(RunError::Refused(refusals)) => match refusals.as_slice() {
                [
                    Refusal::Throttled {
                        utilization_ppm, ..
                    },
                ] => Some(*utilization_ppm),
                other => panic!("{other:?}"),
            },
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(refused("hi", &[0, 1]), None);
    assert_eq!(refused("lo", &[0, 0]), None, "80 %");
    assert_eq!(refused("hi", &[0, 0]), Some(1_250_000));
}

#[test]
fn what_a_table_says_of_late_and_dropped_jobs_is_what_a_run_is_judged_by() {
    let session = framed("lo");
    let (_, lists) = of(&session).unwrap();
    // HI takes 3 ms in both frames at LO; the longest list of a CPU has two jobs.
    let ms = Duration::from_millis;
    let row = vec![ms(3), Duration::ZERO];
    assert_eq!(allowances(lists), [row.clone(), row]);
    let expected: [&[usize]; 4] = [&[0, 1], &[0], &[1], &[0, 1]];
    assert_eq!(places(lists), expected);
    assert_eq!(
        overhead(&session, lists, &settings()),
        Service::from_micros(500)
    );
    let said = terms(&session, lists, &settings());
    assert!(said.contains("500us later than the table says"), "{said}");
}

/// The looks of a heartbeat take time of the CPU that it shares with workers: frames of 10 ms have to have it to spare.
#[test]
fn what_a_heartbeat_looks_is_in_what_a_frame_has_to_spare_where_it_shares_a_cpu() {
    let framed = |options: &[&str]| {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        session_with(FRAMES, "ftts", ("lo", options))
    };
    let by = |monitor, pace_ns| Settings {
        mechanism: Mechanism::Sigrist2015,
        monitor: Some(monitor),
        pace_ns: Some(pace_ns),
        ..settings()
    };
    let of_settings = |session: &Session, settings: &Settings| {
        let (_, lists) = of(session).unwrap();
        overhead(session, lists, settings)
    };
    let shared = framed(&[]);
    let deadline = of_settings(&shared, &by(Monitor::Manager, 1_000_000));
    // Two levels and one more, and two jobs.
    assert_eq!(deadline, Service::from_micros(700));
    let [often, seldom] =
        [1_000_000, 3_000_000].map(|pace| of_settings(&shared, &by(Monitor::Heartbeat, pace)));
    let looks = |count: u64| deadline.saturating_add(Service::from_nanos(count * 31_250));
    // One more than fall into 10 ms: whoever was put off looks in the frame after.
    assert_eq!((often, seldom), (looks(11), looks(5)));
    let own = framed(&["dispatcher=own"]);
    assert_eq!(
        of_settings(&own, &by(Monitor::Heartbeat, 1_000_000)),
        deadline
    );
    // What the longest frame has is a millisecond.
    assert!(check(&shared, &by(Monitor::Heartbeat, 2_000_000)).is_ok());
    let failure = check(&shared, &by(Monitor::Heartbeat, 300_000)).unwrap_err();
    assert!(failure.why.contains("to spare"), "{}", failure.why);
}

#[test]
fn a_table_that_is_proved_guarantees_unless_its_cpus_share_one() {
    let proved = |entries: &[usize]| {
        let settings = Settings {
            cpus: Some(entries.to_vec()),
            ..settings()
        };
        proof(&framed("lo"), &settings).is_some()
    };
    assert!(proved(&[0, 1]));
    assert!(!proved(&[0, 0]));
}
