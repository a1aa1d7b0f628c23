use super::*;

fn root() -> Rights {
    Rights {
        cap_sys_nice: true,
        cap_ipc_lock: true,
        priority_limit: Some(0),
        memory_lock_limit: Some(64 * 1024),
        address_space: 100 << 20,
        fifo_granted: true,
        rt_group: None,
        throttling: Throttling {
            runtime_us: 950_000,
            period_us: 1_000_000,
        },
        perf: true,
        cpus: vec![0, 1],
    }
}

fn modest() -> Needs {
    Needs {
        priority: 20,
        cpu: None,
        locked_bytes: Some(8 << 20),
        utilization_ppm: 500_000,
        margin_ppm: 20_000,
    }
}

#[test]
fn root_may() {
    assert_eq!(judge(&root(), &modest()), []);
}

#[test]
fn without_capability_a_sufficient_limit_is_enough_and_a_lower_one_is_named() {
    let user = |limit| Rights {
        cap_sys_nice: false,
        priority_limit: limit,
        ..root()
    };
    assert_eq!(judge(&user(Some(20)), &modest()), []);
    assert_eq!(judge(&user(None), &modest()), []);
    let refusals = judge(&user(Some(19)), &modest());
    assert_eq!(
        refusals,
        [Refusal::NoRealTimePriority {
            needed: 20,
            limit: 19
        }]
    );
    let text = refusals[0].to_string();
    assert!(text.contains("CAP_SYS_NICE") && text.contains("RLIMIT_RTPRIO"));
    assert!(refusals[0].remedy().contains("setcap cap_sys_nice"));
}

#[test]
fn the_remedy_names_the_program_that_runs_wherever_it_is() {
    let refusal = Refusal::NoRealTimePriority {
        needed: 20,
        limit: 0,
    };
    let program = std::env::current_exe().unwrap();
    assert!(refusal.remedy().contains(program.to_str().unwrap()));
    assert_eq!(
        setcap(Some(Path::new("/opt/it's here/vestal"))),
        r"sudo setcap cap_sys_nice,cap_ipc_lock+ep '/opt/it'\''s here/vestal'"
    );
}

#[test]
fn a_control_group_without_runtime_is_named_with_its_file() {
    let rights = Rights {
        rt_group: Some(("/sys/fs/cgroup/cpu/box/cpu.rt_runtime_us".to_owned(), 0)),
        fifo_granted: false,
        ..root()
    };
    let refusals = judge(&rights, &modest());
    assert_eq!(refusals.len(), 1);
    assert!(refusals[0].to_string().contains("RT group scheduling"));
    assert!(refusals[0].remedy().contains("/box/cpu.rt_runtime_us"));
}

#[test]
fn a_refusal_without_visible_reason_points_to_the_sandbox() {
    let rights = Rights {
        fifo_granted: false,
        rt_group: Some((String::new(), 950_000)),
        ..root()
    };
    assert_eq!(judge(&rights, &modest()), [Refusal::FifoForbidden]);
}

#[test]
fn memory_that_cannot_be_locked_is_refused_unless_it_is_not_asked_for() {
    let rights = Rights {
        cap_ipc_lock: false,
        ..root()
    };
    let refusals = judge(&rights, &modest());
    assert_eq!(
        refusals,
        [Refusal::NoMemoryLock {
            needed: 108 << 20,
            limit: 64 * 1024
        }]
    );
    assert!(refusals[0].remedy().contains("ulimit -l 110592"));
    let without = Needs {
        locked_bytes: None,
        ..modest()
    };
    assert_eq!(judge(&rights, &without), []);
}

#[test]
fn a_cpu_outside_the_affinity_mask_is_refused() {
    let needs = Needs {
        cpu: Some(5),
        ..modest()
    };
    assert_eq!(
        judge(&root(), &needs),
        [Refusal::CpuNotAllowed {
            cpu: 5,
            allowed: vec![0, 1]
        }]
    );
}

#[test]
fn a_set_is_refused_exactly_when_it_exceeds_what_throttling_leaves_less_the_margin() {
    let needs = |utilization_ppm| Needs {
        utilization_ppm,
        ..modest()
    };
    assert_eq!(judge(&root(), &needs(930_000)), []);
    let refusals = judge(&root(), &needs(930_001));
    assert!(matches!(
        refusals[..],
        [Refusal::Throttled {
            allowed_ppm: 930_000,
            ..
        }]
    ));
    assert!(refusals[0].to_string().contains("950000 of 1000000 us"));
    let unthrottled = Rights {
        throttling: Throttling {
            runtime_us: -1,
            period_us: 1_000_000,
        },
        ..root()
    };
    assert_eq!(judge(&unthrottled, &needs(980_000)), []);
    assert_eq!(judge(&unthrottled, &needs(980_001)).len(), 1);
}

#[test]
fn all_reasons_are_listed_together() {
    let rights = Rights {
        cap_sys_nice: false,
        cap_ipc_lock: false,
        fifo_granted: false,
        ..root()
    };
    assert_eq!(judge(&rights, &modest()).len(), 2);
}

#[test]
fn the_control_group_of_the_cpu_controller_is_found_among_the_others() {
    let groups = "5:memory:/a\n4:cpuset:/b\n2:cpu,cpuacct:/c/d\n0::/e\n";
    assert_eq!(cpu_group_path(groups), Some("/c/d"));
    assert_eq!(cpu_group_path("0::/user.slice\n"), None);
}

#[test]
fn probing_this_machine_finds_a_cpu_and_an_address_space() {
    let rights = Rights::probe();
    assert!(!rights.cpus.is_empty());
    assert!(rights.address_space > 0);
}
