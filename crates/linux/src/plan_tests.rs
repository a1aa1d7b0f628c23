use super::*;
use crate::rights::Throttling;
use vestal_core::model::LevelSet;
use vestal_core::{Enforcement, Level, Service, Task, Wcet};

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

fn executive(specs: &[TaskSpec]) -> Executive {
    let config = Config::new(LevelSet::new(2).unwrap(), Enforcement::Adaptive);
    specs.iter().fold(Executive::new(config), |all, spec| {
        all.task(spec.clone(), |_| Ok(()))
    })
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
        cpus: vec![0, 1],
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
    assert_eq!(executive(&specs).fifo_priorities().unwrap(), [4, 5, 3, 2]);
}

#[test]
fn more_tasks_than_priorities_are_refused_with_the_numbers() {
    let mut many = executive(&[spec(1, 100, &[1]), spec(2, 100, &[1])]);
    many.config.priorities = (1, 4);
    let message = many.check(&able()).unwrap_err().to_string();
    assert!(message.contains("5 SCHED_FIFO priorities"), "{message}");
    many.config.priorities = (1, 5);
    many.check(&able()).unwrap();
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
    let plan = executive(&[spec(1, 100, &[1])]).prepare(&rights).unwrap();
    assert_eq!(plan.monitor, Monitor::Manager);
    assert!(plan.fallback.unwrap().contains("perf_event_paranoid"));
}

#[test]
fn a_run_tolerates_the_granularity_it_obtained_within_reason() {
    let mut config = Config::new(LevelSet::new(2).unwrap(), Enforcement::Adaptive);
    let us = Service::from_micros;
    assert_eq!(tolerance(&config, None), us(50));
    assert_eq!(tolerance(&config, Some(us(20))), us(50));
    assert_eq!(tolerance(&config, Some(us(80))), us(80));
    assert_eq!(tolerance(&config, Some(us(3_000))), us(250));
    config.tolerance = Some(us(7));
    assert_eq!(tolerance(&config, Some(us(80))), us(7));
}
