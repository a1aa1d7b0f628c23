//! Time that a machine takes of a job that a server pays for: why no judge of a run excuses a missed deadline of one by how much was taken.
//!
//! Without servers what is taken delays a job by as much, and by no more than what was taken since the CPU was idle last. Here it is charged to a
//! budget, which comes back a period later, and is missing after the CPU has been idle, too.

use vestal_core::*;
use vestal_testkit::hierarchies::*;

/// Tasks 0 and 1 in a sporadic server of 4 in 10; jobs of them execute so long, what was taken included, and are released then. The drawn CPU.
fn drawn(executes: [u64; 2], released: [u64; 2]) -> String {
    let servers = [server(sporadic(4, 10, 4), 1)];
    let tasks = [task(0, 2, 20), task(0, 1, 20)];
    let programs = executes.map(|amount| vec![amount]).to_vec();
    let mut world = world(&configuration(&servers, &tasks, &[]), programs);
    while world.now < 20 {
        let now = world.now;
        let due = (0..2).filter(|&task| released[task] == now);
        let due: Vec<u16> = due.map(|task| task as u16).collect();
        let arrivals: Vec<Fact> = due.into_iter().map(|task| world.release(task)).collect();
        world.step(&arrivals);
    }
    world.rows.remove(0)
}

/// When a task's job is complete.
fn completed(cpu: &str, task: char) -> usize {
    cpu.rfind(task).unwrap() + 1
}

#[test]
fn one_unit_that_is_taken_may_delay_the_job_of_a_server_by_seven() {
    let [kept, taken] = [4, 5].map(|executes| drawn([executes, 1], [0, 100]));
    assert_eq!(completed(&kept, '0'), 4);
    assert_eq!(completed(&taken, '0'), 11);
}

#[test]
fn what_was_taken_before_the_processor_was_idle_delays_a_job_released_after_that() {
    let [kept, taken] = [3, 4].map(|executes| drawn([executes, 1], [0, 6]));
    assert_eq!(completed(&kept, '1'), 7);
    // Idle from 4 on, released at 6, and nothing was taken since.
    assert!(
        taken[4..10].chars().all(|who| !who.is_ascii_digit()),
        "{taken}"
    );
    assert_eq!(completed(&taken, '1'), 11);
}
