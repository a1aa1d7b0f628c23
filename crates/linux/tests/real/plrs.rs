//! Job priorities from lists: more of them than the kernel has.

use crate::support::{LO, RunWell, alone_and_well, config, dispatched, real_time_threads, spec};
use std::sync::{Arc, Mutex};
use vestal_core::{Duration, Enforcement, JobId, Service, TaskOrder, Uniprocessor};
use vestal_linux::{Ended, Executive, JobContext, Monitor};

/// Tasks with one job in each round; the kernel has 97 priorities for real-time threads to choose from.
const TASKS: u32 = 110;
const ROUND_MS: u64 = 300;
const OFTEN_MS: u64 = 30;
const ROUNDS: u64 = 5;

/// The order of the round is that of the lists, which is no order of the tasks: the first job of `often`
/// goes before all others and its second one, released while they are pending, after them.
#[test]
fn jobs_go_by_a_hundred_and_more_priorities_of_their_own() {
    alone_and_well(|| {
        // Neighbours in the file are far apart in the order: 37 and 110 have no common factor.
        let mut lists: Vec<Vec<u32>> = (0..TASKS).map(|i| vec![1 + i * 37 % TASKS]).collect();
        lists.push(vec![TASKS + 1, 0]);
        let wanted = lists.clone();
        let begun: Arc<Mutex<Vec<JobId>>> = Arc::new(Mutex::new(Vec::with_capacity(1_000)));
        let body = || {
            let begun = Arc::clone(&begun);
            move |job: &mut JobContext<'_>| {
                begun.lock().unwrap().push(job.id());
                job.burn(Service::from_micros(400))
            }
        };
        let cpu = dispatched(Enforcement::Static, move |configuration| {
            let lists = lists.iter().map(|list| list.into()).collect();
            let order = TaskOrder::ReusedLists { lists };
            Ok(Box::new(Uniprocessor::with_order(configuration, &order)?))
        });
        let mut executive = Executive::new(config(Monitor::Manager)).cpu(cpu);
        for i in 0..TASKS {
            let mut task = spec(&format!("t{i}"), LO, 1, ROUND_MS, &[2]);
            task.demand_max = Some(Service::from_micros(400));
            executive = executive.task(task, body());
        }
        let mut often = spec("often", LO, 1, OFTEN_MS, &[2]);
        often.demand_max = Some(Service::from_micros(400));
        let report = executive
            .task(often, body())
            .run_well(Duration::from_millis(ROUND_MS * ROUNDS));
        assert_eq!(report.ended, Ended::Finished);
        assert_eq!(report.cpus[0].inversions, Some(0), "{report:#?}");
        assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());

        let begun = begun.lock().unwrap();
        let often = usize::try_from(TASKS).unwrap();
        let per_round = ROUND_MS / OFTEN_MS;
        for round in 0..ROUNDS {
            let priority = |job: &JobId| {
                let index = if job.task.index() < often {
                    job.sequence.checked_sub(round)
                } else {
                    job.sequence.checked_sub(round * per_round)
                };
                let list = &wanted[job.task.index()];
                list.get(usize::try_from(index?).ok()?).copied()
            };
            let seen: Vec<u32> = begun.iter().filter_map(priority).collect();
            let falling: Vec<u32> = (0..=TASKS + 1).rev().collect();
            assert_eq!(seen, falling, "round {round}");
        }
    });
}
