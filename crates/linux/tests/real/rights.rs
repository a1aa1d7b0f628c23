//! Runs by users with fewer rights.

use crate::child::{outcome_of, spawn};
use crate::support::alone;

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
