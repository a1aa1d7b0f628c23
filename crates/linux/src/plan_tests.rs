use super::*;
use crate::decider::CpuSpec;
use crate::executive::Executive;
use crate::rights::Throttling;
use vestal_core::model::LevelSet;
use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Guard, Level, Task, Uniprocessor, Wcet,
};

fn spec(priority: u32, period_ms: u64, wcet_ms: &[u64]) -> TaskSpec {
    let wcet: Vec<_> = wcet_ms.iter().copied().map(Service::from_millis).collect();
    let criticality = Level(u8::try_from(wcet.len() - 1).unwrap());
    let period = Duration::from_millis(period_ms);
    let task = Task::new(criticality, period, period, Wcet::new(&wcet).unwrap()).unwrap();
    TaskSpec {
        name: format!("priority-{priority}"),
        configuration: TaskConfiguration::new(task, priority),
        offset: Duration::ZERO,
        demand_max: None,
    }
}

fn configuration(
    tasks: &[TaskConfiguration],
    enforcement: Enforcement,
    granularity: Service,
) -> Configuration<'_> {
    Configuration {
        tasks,
        levels: LevelSet::new(2).unwrap(),
        enforcement,
        exhaustion: Exhaustion::Background,
        granularity,
        wake_granularity: Duration::ZERO,
    }
}

fn native(enforcement: Enforcement) -> CpuSpec {
    CpuSpec::native(move |tasks, granularity| {
        Guard::new(&configuration(tasks, enforcement, granularity))
    })
}

fn managed(enforcement: Enforcement) -> CpuSpec {
    CpuSpec::managed(move |tasks, granularity| {
        let engine = Uniprocessor::new(&configuration(tasks, enforcement, granularity))?;
        Ok::<_, vestal_core::ConfigurationError>(Box::new(engine) as Box<_>)
    })
}

/// CPUs with their tasks.
fn set(cpus: Vec<(CpuSpec, Vec<TaskSpec>)>) -> Executive {
    let executive = Executive::new(Config::new());
    cpus.into_iter().fold(executive, |all, (cpu, specs)| {
        let begun = all.cpu(cpu);
        specs
            .into_iter()
            .fold(begun, |all, spec| all.task(spec, |_| Ok(())))
    })
}

fn executive(specs: &[TaskSpec]) -> Executive {
    set(vec![(native(Enforcement::Adaptive), specs.to_vec())])
}

/// The only CPU's plan.
fn plan_of(specs: &[TaskSpec], rights: &Rights) -> CpuPlan {
    executive(specs).prepare(rights).unwrap().cpus.remove(0)
}

fn processors(numbers: &[usize]) -> Vec<Processor> {
    numbers.iter().copied().map(Processor).collect()
}

fn able() -> Rights {
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
        processors: processors(&[0, 1]),
    }
}

#[test]
fn workers_get_distinct_priorities_in_task_order_and_the_first_of_equals_goes_first() {
    let specs = [
        spec(7, 100, &[1]),
        spec(900, 100, &[1]),
        spec(7, 100, &[1]),
        spec(1, 100, &[1]),
    ];
    // 1 is the idle detector's.
    let plan = plan_of(&specs, &able());
    assert_eq!(plan.fifo, [4, 5, 3, 2]);
    assert_eq!(plan.manager, 6);
}

#[test]
fn more_tasks_than_priorities_are_refused_with_the_numbers() {
    let mut many = executive(&[spec(1, 100, &[1]), spec(2, 100, &[1])]);
    many.config.priorities = (1, 4);
    let error = many.check(&able()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("5 SCHED_FIFO priorities"), "{message}");
    // Under managed dispatch they need no more than few of them do.
    let remedies = error.remedies();
    assert!(
        remedies[0].starts_with("--dispatch managed"),
        "{remedies:?}"
    );
    assert!(remedies[1].starts_with("--rt-priority"), "{remedies:?}");
    many.config.priorities = (1, 5);
    many.check(&able()).unwrap();
}

#[test]
fn a_device_of_two_cpus_or_two_tasks_is_refused_by_name() {
    let half = |executive: Executive, device: &crate::device::Device| {
        executive.bottom_half(spec(1, 100, &[1]), device, |_, _| Ok(()))
    };
    for several in [false, true] {
        let (_, input) = crate::sys::pipe::packets(1).unwrap();
        let device = crate::device::Device::new("keys", input);
        let one = Executive::new(Config::new()).cpu(managed(Enforcement::Adaptive));
        let mut twice = half(one, &device);
        if several {
            twice = twice.cpu(managed(Enforcement::Adaptive));
        }
        let error = half(twice, &device).check(&able()).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("device keys has two bottom halves"),
            "{message}"
        );
    }
}

#[test]
fn a_set_that_rt_throttling_would_stall_is_refused_with_the_remedy() {
    // 93 % is what is left of 95 % with the margin.
    let just = [spec(1, 100, &[10, 43]), spec(2, 100, &[50])];
    executive(&just).check(&able()).unwrap();
    let too_much = [spec(1, 100, &[10, 44]), spec(2, 100, &[50])];
    let error = executive(&too_much).check(&able()).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::MachineCannot);
    let message = error.to_string();
    assert!(message.contains("RT throttling"), "{message}");
    assert!(message.contains("lengthen periods"), "{message}");
}

#[test]
fn a_scenario_that_stays_below_c_counts_with_what_it_demands() {
    let mut modest = spec(1, 100, &[10, 99]);
    assert!(
        executive(std::slice::from_ref(&modest))
            .check(&able())
            .is_err()
    );
    modest.demand_max = Some(Service::from_millis(50));
    executive(&[modest]).check(&able()).unwrap();
}

#[test]
fn what_budgets_that_outlive_jobs_allow_counts_instead_of_what_jobs_demand() {
    let check = |wcet_ms: u64, utilization_ppm| {
        let cpu = CpuSpec {
            utilization_ppm,
            ..managed(Enforcement::Static)
        };
        set(vec![(cpu, vec![spec(1, 100, &[wcet_ms])])]).check(&able())
    };
    check(99, None).unwrap_err();
    check(99, Some(930_000)).unwrap();
    check(1, None).unwrap();
    let message = check(1, Some(930_001)).unwrap_err().to_string();
    assert!(message.contains("RT throttling"), "{message}");
}

#[test]
fn a_long_job_counts_whole_because_throttling_looks_at_single_seconds() {
    assert_eq!(utilization_ppm([spec(1, 10_000, &[960])].iter()), 960_000);
    assert_eq!(utilization_ppm([spec(1, 500, &[100])].iter()), 200_000);
}

#[test]
fn jobs_that_end_at_their_deadline_are_not_for_native_dispatch() {
    let mut aborts = spec(1, 100, &[1]);
    aborts.configuration.on_miss = OnMiss::Abort;
    let error = executive(&[aborts]).check(&able()).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::BadInput);
    assert!(error.to_string().contains("managed dispatch"));
}

#[test]
fn without_perf_events_the_manager_monitors_and_the_report_will_say_why() {
    let rights = Rights {
        perf: false,
        ..able()
    };
    let plan = plan_of(&[spec(1, 100, &[1])], &rights);
    assert_eq!(plan.monitor, Monitor::Manager);
    assert!(plan.fallback.unwrap().contains("perf_event_paranoid"));
}

#[test]
fn a_monitor_that_leaves_jobs_no_time_or_comes_too_seldom_is_refused() {
    let us = Duration::from_micros;
    for (heartbeat, bound, part) in [
        (us(50), us(10), None),
        (us(25_000), us(25_000), None),
        (
            us(49),
            us(30),
            Some("the period of a heartbeat is 49000 ns"),
        ),
        (us(25_001), us(30), Some("within 50000 and 25000000 ns")),
        (
            us(50),
            us(9),
            Some("the lower bound of a monitor is 9000 ns"),
        ),
        (us(50), us(25_001), Some("within 10000 and 25000000 ns")),
    ] {
        let config = Config {
            heartbeat,
            bound,
            ..Config::new()
        };
        let refused = check_paces(&config).err().map(|error| error.to_string());
        let as_told = match (&refused, part) {
            (Some(why), Some(part)) => why.contains(part),
            (refused, part) => refused.is_none() && part.is_none(),
        };
        assert!(as_told, "{heartbeat:?} {bound:?}: {refused:?}");
    }
}

#[test]
fn a_run_tolerates_the_granularity_it_obtained_within_reason() {
    let mut config = Config::new();
    let us = Service::from_micros;
    assert_eq!(tolerance(&config, None), us(50));
    assert_eq!(tolerance(&config, Some(us(20))), us(50));
    assert_eq!(tolerance(&config, Some(us(80))), us(80));
    assert_eq!(tolerance(&config, Some(us(3_000))), us(250));
    config.tolerance = Some(us(7));
    assert_eq!(tolerance(&config, Some(us(80))), us(7));
}

/// A job of 2 ns would be over many times before anything of it could be noticed.
#[test]
fn periods_below_the_granularity_are_refused_with_the_task_and_both_times() {
    let refused = |nanos| {
        let mut entry = spec(1, 100, &[1]);
        let (period, wcet) = (Duration::from_nanos(nanos), [Service::from_nanos(1)]);
        let task = Task::new(Level(0), period, period, Wcet::new(&wcet).unwrap()).unwrap();
        entry.configuration.task = task;
        let rules = [native(Enforcement::Static), managed(Enforcement::Static)];
        let refusals = rules.map(|rule| {
            let planned =
                set(vec![(rule, vec![spec(2, 100, &[1]), entry.clone()])]).prepare(&able());
            planned.err().map(|error| error.to_string())
        });
        assert_eq!(refusals[0], refusals[1]);
        refusals[0].clone()
    };
    let why = refused(49_999).unwrap();
    assert!(
        why.starts_with("priority-1: its period of 49999 ns"),
        "{why}"
    );
    assert!(why.contains("granularity of a real run, 50000 ns"), "{why}");
    assert_eq!(refused(50_000), None);
}

#[test]
fn what_a_decider_asks_for_comes_from_itself_whichever_dispatch() {
    let sliced = || {
        let mut entry = spec(1, 100, &[10]);
        entry.configuration.zero_slack = Some(Duration::from_millis(50));
        entry
    };
    let asked = |cpu: CpuSpec| {
        let plan = set(vec![(cpu, vec![sliced()])]).prepare(&able());
        plan.unwrap().cpus.remove(0).asked
    };
    let limits = vec![vec![(Level(0), Service::from_millis(10))]];
    for (rule, suspends, slices) in [
        (Enforcement::Static, false, false),
        (Enforcement::Adaptive, false, false),
        (Enforcement::Slices, false, true),
        (Enforcement::ZeroSlack, true, false),
    ] {
        let expected = Asked {
            walked: false,
            managed: false,
            suspends,
            slices,
            budgets_outlive_jobs: false,
            stops_at_own_limit: true,
            limits: limits.clone(),
        };
        assert_eq!(asked(native(rule)), expected, "{rule:?}");
        let expected = Asked {
            managed: true,
            suspends: false,
            ..expected
        };
        assert_eq!(asked(managed(rule)), expected, "{rule:?}");
    }
}

#[test]
fn zero_slack_has_two_ranks_below_the_workers_unless_nothing_is_enforced() {
    let mut with_slack = spec(1, 100, &[10]);
    with_slack.configuration.zero_slack = Some(Duration::from_millis(50));
    let mut executive = set(vec![(native(Enforcement::ZeroSlack), vec![with_slack])]);
    let fifo = |executive: &Executive| executive.prepare(&able()).unwrap().cpus[0].fifo.clone();
    assert_eq!(fifo(&executive), [4]);
    executive.config.enforce = false;
    assert_eq!(fifo(&executive), [2]);
}

#[test]
fn each_cpu_has_a_plan_and_the_last_processors_are_taken_in_ascending_order() {
    let executive = set(vec![
        (
            native(Enforcement::Adaptive),
            vec![spec(1, 100, &[1]), spec(2, 100, &[1]), spec(3, 100, &[1])],
        ),
        (managed(Enforcement::Static), vec![spec(1, 100, &[1])]),
    ]);
    let rights = Rights {
        processors: processors(&[0, 2, 5, 7]),
        ..able()
    };
    let plan = executive.prepare(&rights).unwrap();
    let places: Vec<Processor> = plan.cpus.iter().map(|cpu| cpu.processor).collect();
    assert_eq!(places, processors(&[5, 7]));
    // On another processor each manager has what its own CPU needs, and the watchdog is above both.
    let managers: Vec<i32> = plan.cpus.iter().map(|cpu| cpu.manager).collect();
    assert_eq!(managers, [5, 3]);
    assert_eq!(plan.cpus[1].fifo, [2]);
    assert_eq!(plan.watchdog, (Processor(0), 6));
    assert_eq!(plan.other_processors, processors(&[0, 2]));
}

#[test]
fn managers_on_one_processor_have_equal_priority_and_those_elsewhere_their_own() {
    let tasks = |count| {
        (0..count)
            .map(|priority| spec(priority, 100, &[1]))
            .collect()
    };
    let executive = set(vec![
        (managed(Enforcement::Static).on(Processor(0)), tasks(1)),
        (managed(Enforcement::Static).on(Processor(1)), tasks(1)),
        (native(Enforcement::Adaptive).on(Processor(0)), tasks(4)),
    ]);
    let plan = executive.prepare(&able()).unwrap();
    let alone: Vec<bool> = plan.cpus.iter().map(|cpu| cpu.is_alone).collect();
    assert_eq!(alone, [false, true, false]);
    let managers: Vec<i32> = plan.cpus.iter().map(|cpu| cpu.manager).collect();
    assert_eq!(managers, [6, 3, 6]);
    // No processor is left, and the second has one CPU of the set, the first two.
    assert_eq!(plan.watchdog, (Processor(1), 7));
    assert_eq!(plan.other_processors, []);
}

#[test]
fn the_watchdog_goes_where_the_fewest_cpus_are_if_there_is_no_other_processor() {
    let place = |run: &[usize], others: &[usize]| {
        watchdog_processor(&processors(run), &processors(others)).0
    };
    assert_eq!(place(&[1], &[0]), 0);
    assert_eq!(place(&[1, 2], &[3, 4]), 3);
    assert_eq!(place(&[0], &[]), 0, "it shares the only one");
    assert_eq!(place(&[0, 1, 0], &[]), 1);
    assert_eq!(place(&[1, 0, 0, 1], &[]), 0, "the first of equals");
}

#[test]
fn refusals_name_the_cpu_of_the_set_if_there_are_several() {
    let tasks = |count| {
        (0..count)
            .map(|priority| spec(priority, 100, &[1]))
            .collect()
    };
    let mut two = set(vec![
        (native(Enforcement::Adaptive), tasks(1)),
        (native(Enforcement::Adaptive), tasks(3)),
    ]);
    two.config.priorities = (1, 5);
    let message = two.check(&able()).unwrap_err().to_string();
    assert!(message.contains("3 tasks of CPU 1 of the set"), "{message}");
    two.config.priorities = (1, 6);
    two.check(&able()).unwrap();

    let load = |percent| vec![spec(1, 100, &[percent])];
    let repeated = |second| {
        set(vec![
            (native(Enforcement::Static).on(Processor(1)), load(50)),
            (native(Enforcement::Static).on(Processor(1)), load(second)),
        ])
    };
    repeated(43).check(&able()).unwrap();
    let message = repeated(44).check(&able()).unwrap_err().to_string();
    assert!(
        message.contains("CPUs 0, 1 of the set, together on CPU 1"),
        "{message}"
    );
}

#[test]
fn tasks_without_a_cpu_and_cpus_without_tasks_are_refused() {
    let message = |executive: Executive| executive.check(&able()).unwrap_err().to_string();
    let lost = Executive::new(Config::new()).task(spec(1, 100, &[1]), |_| Ok(()));
    assert!(message(lost).contains("priority-1 has no CPU"));
    let late = Executive::new(Config::new()).task(spec(1, 100, &[1]), |_| Ok(()));
    assert!(message(late.cpu(native(Enforcement::Static))).contains("has no CPU"));
    assert!(message(Executive::new(Config::new())).contains("no CPU to run"));
    let idle = || set(vec![(native(Enforcement::Static), Vec::new())]);
    let nothing = idle().check(&able()).unwrap_err();
    assert!(matches!(nothing, RunError::Scheduler(_)), "{nothing}");
}

/// Each CPU with one task, by the threads of Sigrist et al.
fn sigrist2015(cpus: Vec<CpuSpec>, dispatcher: Dispatcher) -> Executive {
    let config = Config {
        mechanism: Mechanism::Sigrist2015,
        dispatcher,
        ..Config::new()
    };
    let executive = Executive::new(config);
    cpus.into_iter().fold(executive, |all, cpu| {
        all.cpu(cpu).task(spec(1, 100, &[1, 2]), |_| Ok(()))
    })
}

#[test]
fn beside_managers_there_are_checkers_below_and_dispatchers_above() {
    let cpus = || {
        vec![
            managed(Enforcement::Adaptive),
            managed(Enforcement::Adaptive),
        ]
    };
    let plan = sigrist2015(cpus(), Dispatcher::Shared)
        .prepare(&able())
        .unwrap();
    let [cpu, other] = plan.cpus.as_slice() else {
        panic!("two CPUs");
    };
    assert_eq!((cpu.fifo.as_slice(), cpu.manager), ([2].as_slice(), 4));
    assert_eq!(other.manager, 4);
    // The best monitor of native dispatch is none of theirs.
    assert_eq!((cpu.monitor, &cpu.fallback), (Monitor::Manager, &None));
    let beside = plan.beside;
    assert_eq!(
        (beside.checker_priority, beside.dispatcher_priority),
        (3, 5)
    );
    assert_eq!((beside.dispatcher, plan.watchdog.1), (None, 6));
    // The last ones are the set's; of those that are left the dispatcher has the last, and the watchdog the first.
    let able = Rights {
        processors: processors(&[0, 1, 2, 3]),
        ..able()
    };
    let plan = sigrist2015(cpus(), Dispatcher::Own(None))
        .prepare(&able)
        .unwrap();
    let places: Vec<Processor> = plan.cpus.iter().map(|cpu| cpu.processor).collect();
    assert_eq!(places, processors(&[2, 3]));
    assert_eq!(plan.beside.dispatcher, Some(Processor(1)));
    assert_eq!(plan.other_processors, processors(&[0]));
    let narrow = Rights {
        processors: processors(&[1, 2, 3]),
        ..able
    };
    let plan = sigrist2015(cpus(), Dispatcher::Own(None))
        .prepare(&narrow)
        .unwrap();
    assert_eq!(
        (plan.beside.dispatcher, plan.watchdog.0),
        (Some(Processor(1)), Processor(1))
    );
    assert_eq!(plan.other_processors, []);
}

#[test]
fn a_dispatcher_of_its_own_has_no_processor_of_the_workers() {
    let able = Rights {
        processors: processors(&[0, 1]),
        ..able()
    };
    let refused = |cpus: Vec<CpuSpec>, wanted: Option<usize>| {
        let own = Dispatcher::Own(wanted.map(Processor));
        let error = sigrist2015(cpus, own).check(&able).unwrap_err();
        let RunError::Refused(refusals) = error else {
            panic!("{error}");
        };
        let [refusal] = refusals.as_slice() else {
            panic!("{refusals:?}");
        };
        format!("{refusal}: {}", refusal.remedy())
    };
    let one = || managed(Enforcement::Adaptive);
    let said = refused(vec![one(), one()], None);
    assert!(said.contains("no CPU is left"), "{said}");
    assert!(said.contains("dispatcher=shared"), "{said}");
    for wanted in [1, 7] {
        let said = refused(vec![one().on(Processor(1))], Some(wanted));
        assert!(said.contains(&format!("CPU {wanted} cannot be")), "{said}");
        assert!(said.contains("[0]"), "{said}");
    }
    let own = Dispatcher::Own(Some(Processor(0)));
    let plan = sigrist2015(vec![one().on(Processor(1))], own).prepare(&able);
    assert_eq!(plan.unwrap().beside.dispatcher, Some(Processor(0)));
}

#[test]
fn the_threads_of_sigrist_et_al_are_for_schedulers_that_dispatch_jobs_with_budgets() {
    let refused = |cpu: CpuSpec| {
        let executive = sigrist2015(vec![cpu], Dispatcher::Shared);
        executive.check(&able()).unwrap_err().to_string()
    };
    let said = refused(native(Enforcement::Adaptive));
    assert!(said.contains("where the kernel orders"), "{said}");
    // Room for one priority less than there are.
    let narrow = |high| {
        let config = Config {
            mechanism: Mechanism::Sigrist2015,
            priorities: (10, high),
            ..Config::new()
        };
        let executive = Executive::new(config).cpu(managed(Enforcement::Adaptive));
        let executive = executive.task(spec(1, 100, &[1, 2]), |_| Ok(()));
        executive.check(&able())
    };
    assert!(narrow(15).is_ok());
    let said = narrow(14).unwrap_err().to_string();
    assert!(said.contains("need 6 SCHED_FIFO priorities"), "{said}");
}
