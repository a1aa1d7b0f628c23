//! Runs by users with fewer rights.

use crate::child::{in_a_process_of_its_own, outcome_of, spawn};
use crate::support::{LO, alone, config, ms, native, spec};
use std::process::Command;
use vestal_core::{Duration, Enforcement};
use vestal_linux::{Config, ErrorKind, Executive, Monitor, Rights, RunError};

/// Nobody, without any capability.
const NOBODY: [&str; 6] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
    "--inh-caps=-all",
    "--bounding-set=-all",
];

#[test]
fn without_rights_the_run_is_refused_and_the_missing_ones_are_named_with_remedies() {
    let _alone = alone();
    let mut wrapper = vec!["prlimit", "--rtprio=0", "--memlock=65536"];
    wrapper.extend(NOBODY);
    let outcome = outcome_of(spawn(1, &wrapper));
    assert!(outcome.starts_with("MachineCannot "), "{outcome}");
    for part in [
        "CAP_SYS_NICE is missing and RLIMIT_RTPRIO is 0",
        "setcap cap_sys_nice",
        "CAP_IPC_LOCK is missing and RLIMIT_MEMLOCK is 64 KiB",
        "ulimit -l",
    ] {
        assert!(outcome.contains(part), "{part} not in: {outcome}");
    }
}

#[test]
fn two_capabilities_are_enough_for_a_user_and_perf_falls_back_where_it_is_refused() {
    let _alone = alone();
    let wrapper = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--inh-caps=-all,+sys_nice,+ipc_lock",
        "--ambient-caps=-all,+sys_nice,+ipc_lock",
        "--bounding-set=-all,+sys_nice,+ipc_lock",
    ];
    let outcome = outcome_of(spawn(1, &wrapper));
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    let monitor = if paranoid.trim().parse::<i32>().unwrap() > 1 {
        "Manager"
    } else {
        "Perf"
    };
    assert!(
        outcome.starts_with(&format!("Finished {monitor} []")),
        "{outcome}"
    );
}

/// A run of forty tasks in a process with this limit, which its threads inherit.
fn error_of_forty_tasks(limit: &str, monitor: Monitor) -> RunError {
    let own = std::process::id().to_string();
    let lowered = Command::new("prlimit")
        .args(["--pid", &own, limit])
        .status();
    assert!(lowered.unwrap().success());
    let mut executive = Executive::new(config(monitor)).cpu(native(Enforcement::Static));
    for number in 0..40 {
        let name = number.to_string();
        let task = spec(&name, LO, number + 1, 100, &[1]);
        executive = executive.task(task, |job| job.burn(ms(1)));
    }
    executive.run(Duration::from_millis(100)).unwrap_err()
}

/// Each perf counter is a file descriptor: monitors without one are named.
#[test]
fn too_few_file_descriptors_are_said_with_a_monitor_that_takes_none() {
    if !in_a_process_of_its_own(
        "rights::too_few_file_descriptors_are_said_with_a_monitor_that_takes_none",
    ) {
        return;
    }
    let _alone = alone();
    if !Rights::probe().perf {
        return;
    }
    let error = error_of_forty_tasks("--nofile=32", Monitor::Perf);
    assert_eq!(error.kind(), ErrorKind::MachineCannot);
    assert!(
        error
            .to_string()
            .contains("a perf counter could not be made"),
        "{error}"
    );
    let remedies = error.remedies();
    assert!(remedies[0].starts_with("--monitor manager"), "{remedies:?}");
    assert!(remedies[1].starts_with("ulimit -n"), "{remedies:?}");
}

/// Each POSIX timer is a pending signal.
#[test]
fn too_few_pending_signals_are_said_with_a_monitor_that_takes_none() {
    if !in_a_process_of_its_own(
        "rights::too_few_pending_signals_are_said_with_a_monitor_that_takes_none",
    ) {
        return;
    }
    let _alone = alone();
    let error = error_of_forty_tasks("--sigpending=20", Monitor::Manager);
    assert_eq!(error.kind(), ErrorKind::MachineCannot);
    assert!(
        error.to_string().contains("a timer could not be made"),
        "{error}"
    );
    let remedies = error.remedies();
    assert!(
        remedies[0].starts_with("--monitor heartbeat"),
        "{remedies:?}"
    );
    assert!(remedies[1].starts_with("ulimit -i"), "{remedies:?}");
}

/// Nobody asked for a trial: what it lacks is no reason to refuse a run that does not.
#[test]
fn a_trial_that_lacks_a_timer_keeps_perf() {
    if !in_a_process_of_its_own("rights::a_trial_that_lacks_a_timer_keeps_perf") {
        return;
    }
    let _alone = alone();
    if !Rights::probe().perf {
        return;
    }
    let own = std::process::id().to_string();
    // One timer, of two that a trial takes; a run under perf takes none.
    let lowered = Command::new("prlimit")
        .args(["--pid", &own, "--sigpending=1"])
        .status();
    assert!(lowered.unwrap().success());
    let config = Config {
        chooses_monitor: true,
        calibrate: true,
        ..config(Monitor::Perf)
    };
    let report = Executive::new(config)
        .cpu(native(Enforcement::Static))
        .task(spec("one", LO, 1, 20, &[5]), |job| job.burn(ms(1)))
        .run(Duration::from_millis(200))
        .unwrap();
    let cpu = &report.cpus[0];
    assert_eq!(cpu.monitor, Monitor::Perf);
    let choice = cpu.monitor_choice.as_ref().unwrap();
    let why = choice.failed.as_deref().unwrap_or_default();
    assert!(why.contains("a timer could not be made"), "{choice:?}");
    assert!(report.jobs.completed > 0, "{report:?}");
}
