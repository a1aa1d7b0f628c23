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
        processors: processors(&[0, 1]),
    }
}

fn processors(numbers: &[usize]) -> Vec<Processor> {
    numbers.iter().copied().map(Processor).collect()
}

/// CPUs of a set: where each wants to run, and what it may use.
fn cpus(of: &[(Option<usize>, u64)]) -> Needs {
    let cpu = |&(wanted, utilization_ppm): &(Option<usize>, u64)| CpuNeeds {
        processor: wanted.map(Processor),
        priority: 20,
        utilization_ppm,
    };
    Needs {
        cpus: of.iter().map(cpu).collect(),
        locked_bytes: Some(8 << 20),
        margin_ppm: 20_000,
    }
}

fn modest() -> Needs {
    cpus(&[(None, 500_000)])
}

/// A machine with so many CPUs.
fn with_cpus(count: usize) -> Rights {
    Rights {
        processors: (0..count).map(Processor).collect(),
        ..root()
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
    let commands = setcap(Some(Path::new("/opt/it's here/vestal")));
    let expected = [
        r"sudo chgrp GROUP '/opt/it'\''s here/vestal' && ",
        r"sudo chmod 750 '/opt/it'\''s here/vestal' && ",
        r"sudo setcap cap_sys_nice,cap_ipc_lock+ep '/opt/it'\''s here/vestal'",
    ];
    assert_eq!(commands, expected.concat());
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
    let not_allowed = |cpu, processor| Refusal::CpuNotAllowed {
        cpu,
        processor: Processor(processor),
        allowed: processors(&[0, 1]),
    };
    let refusals = judge(&root(), &cpus(&[(Some(5), 500_000)]));
    assert_eq!(refusals, [not_allowed(None, 5)]);
    assert_eq!(
        refusals[0].to_string(),
        "CPU 5 is not among the CPUs of this process: [0, 1]"
    );
    let several = cpus(&[(Some(7), 1), (Some(0), 1), (Some(7), 1)]);
    assert_eq!(
        judge(&root(), &several),
        [
            not_allowed(Some(CpuId(0)), 7),
            not_allowed(Some(CpuId(2)), 7)
        ]
    );
    let text = judge(&root(), &several)[1].to_string();
    assert!(text.contains("CPU 2 of the set"), "{text}");
}

#[test]
fn without_a_wish_the_last_cpus_are_taken_in_ascending_order_and_those_of_others_left_alone() {
    let place = |rights: &Rights, wanted: &[Option<usize>]| {
        let of: Vec<_> = wanted.iter().map(|&wanted| (wanted, 1)).collect();
        let found = rights.processors_for(&cpus(&of)).unwrap();
        found
            .into_iter()
            .map(|processor| processor.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(place(&root(), &[None]), [1]);
    assert_eq!(place(&with_cpus(8), &[None]), [7]);
    assert_eq!(place(&with_cpus(8), &[None; 3]), [5, 6, 7]);
    assert_eq!(place(&with_cpus(3), &[None; 3]), [0, 1, 2]);
    // What is said holds, repeated or not.
    assert_eq!(
        place(&root(), &[Some(0), Some(1), Some(0), Some(1)]),
        [0, 1, 0, 1]
    );
    assert_eq!(place(&root(), &[Some(1), Some(0)]), [1, 0]);
    assert_eq!(place(&with_cpus(4), &[None, Some(3), None]), [1, 3, 2]);
}

#[test]
fn fewer_cpus_than_the_set_has_are_refused_and_repeated_entries_mend_it() {
    let refusals = root().processors_for(&cpus(&[(None, 1); 5])).unwrap_err();
    assert_eq!(
        refusals,
        [Refusal::TooFewCpus {
            needed: 5,
            allowed: processors(&[0, 1])
        }]
    );
    let remedy = refusals[0].remedy();
    assert!(remedy.contains("--cpus 0,1,0,1,0"), "{remedy}");
    let none = Rights {
        processors: Vec::new(),
        ..root()
    };
    let refusals = none.processors_for(&modest()).unwrap_err();
    assert!(matches!(
        refusals[..],
        [Refusal::TooFewCpus { needed: 1, .. }]
    ));
    assert!(refusals[0].remedy().contains("taskset"));
}

#[test]
fn what_runs_on_one_cpu_of_the_machine_is_judged_together() {
    let throttled = |of: &[(Option<usize>, u64)]| {
        let refusals = judge(&root(), &cpus(of));
        let throttled = refusals.into_iter().map(|refusal| {
            let Refusal::Throttled {
                cpus,
                processor,
                utilization_ppm,
                ..
            } = refusal
            else {
                panic!("{refusal}");
            };
            (
                cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>(),
                processor.map(|processor| processor.0),
                utilization_ppm,
            )
        });
        throttled.collect::<Vec<_>>()
    };
    // 93 % each, on another one.
    assert_eq!(throttled(&[(Some(0), 930_000), (Some(1), 930_000)]), []);
    assert_eq!(throttled(&[(None, 930_000), (None, 930_000)]), []);
    // Together just as much, and a millionth more.
    let on_zero = |rest| [(Some(0), 530_000), (Some(1), 900_000), (Some(0), rest)];
    assert_eq!(throttled(&on_zero(400_000)), []);
    assert_eq!(
        throttled(&on_zero(400_001)),
        [(vec![0, 2], Some(0), 930_001)]
    );
    assert_eq!(
        throttled(&[(None, 930_001), (None, 1)]),
        [(vec![0], Some(0), 930_001)]
    );
    // A single one is not numbered.
    assert_eq!(throttled(&[(None, 930_001)]), [(vec![], Some(1), 930_001)]);
    let refusals = judge(&root(), &cpus(&on_zero(400_001)));
    let text = refusals[0].to_string();
    assert!(
        text.contains("CPUs 0, 2 of the set, together on CPU 0"),
        "{text}"
    );
    assert!(text.contains("93.0 %"), "{text}");
}

#[test]
fn a_cpu_without_a_place_is_judged_all_the_same_and_alone() {
    let refusals = judge(
        &root(),
        &cpus(&[(None, 900_000), (None, 940_000), (None, 100_000)]),
    );
    assert_eq!(refusals.len(), 2, "{refusals:?}");
    assert!(matches!(refusals[0], Refusal::TooFewCpus { needed: 3, .. }));
    let text = refusals[1].to_string();
    assert!(text.contains("of CPU 1 of the set: "), "{text}");
}

#[test]
fn the_highest_priority_of_all_cpus_decides_about_the_right_to_it() {
    let mut needs = cpus(&[(None, 1), (None, 1)]);
    needs.cpus[1].priority = 30;
    let rights = Rights {
        cap_sys_nice: false,
        priority_limit: Some(29),
        ..root()
    };
    let refusal = Refusal::NoRealTimePriority {
        needed: 30,
        limit: 29,
    };
    assert_eq!(judge(&rights, &needs), [refusal]);
}

#[test]
fn a_set_is_refused_exactly_when_it_exceeds_what_throttling_leaves_less_the_margin() {
    let needs = |utilization_ppm| cpus(&[(None, utilization_ppm)]);
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
    assert!(!rights.processors.is_empty());
    assert!(rights.address_space > 0);
}
