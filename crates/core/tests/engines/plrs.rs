//! Job-priority lists at work: the four-task example of Huang, Gill and Lu (2014), whose lists the
//! job-arrival pattern with B(0) = 28 gives, run synchronously with every job at C(0).

use vestal_core::order::lists_of;
use vestal_core::*;
use vestal_testkit::World;
use vestal_testkit::short::{configuration, task};

fn configured(criticality: u8, lo: u64, hi: u64, period: u64) -> TaskConfiguration {
    TaskConfiguration::new(task(criticality, period, &[lo, hi]), 0)
}

#[test]
fn lists_are_reused_from_the_top_while_a_low_job_is_pending() {
    let tasks = [
        configured(1, 4, 6, 10),
        configured(1, 3, 5, 20),
        configured(0, 6, 6, 30),
        configured(0, 2, 2, 15),
    ];
    let configuration = configuration(&tasks, 2, Enforcement::Adaptive);
    let lists = lists_of(&[&[7, 5, 2, 0], &[6, 1], &[3], &[8, 4]]);
    let order = TaskOrder::ReusedLists {
        lists: lists.into(),
    };
    let engine = Uniprocessor::with_order(&configuration, &order).unwrap();
    let low = |job: JobId| vec![tasks[job.task.index()].task.wcet.at(Level(0)).as_nanos()];
    let mut world = World::new(engine, 1, tasks.len(), low);
    world.first = 1;
    for _ in 0..60 {
        let arrivals = world.periodic(tasks.iter().map(|entry| &entry.task));
        world.step(&arrivals);
    }
    let drawing = &world.rows[0];
    // 4 is above 1 above 2 above 3. At 10 task 1 and at 15 task 4 reuse the tops of their lists
    // above the pending job of task 3 (entry 3). At 20 the rests of the lists (2 and 1) are below
    // it, so task 3 ends first. The busy period is 28 long, as the analysis says.
    assert_eq!(&drawing[..30], "4411112223111134433331111222..");
    assert_eq!(
        &drawing[30..34],
        "4411",
        "after the idle instant every list starts anew"
    );
    assert_eq!(world.engine.jobs_beyond_pattern(), 0);
}

#[test]
fn a_list_for_each_task_is_required() {
    let tasks = [configured(0, 1, 1, 5), configured(1, 1, 2, 7)];
    let configuration = configuration(&tasks, 2, Enforcement::Adaptive);
    for lists in [&[&[1_u32, 0][..]][..], &[&[0, 1][..], &[2]]] {
        let lists = lists_of(lists).into();
        let order = TaskOrder::ReusedLists { lists };
        let error = Uniprocessor::with_order(&configuration, &order).err();
        assert_eq!(error, Some(ConfigurationError::JobLists));
    }
}
