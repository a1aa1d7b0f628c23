//! Random frame tables against the sums of the rule itself.
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::frames::{Table, draw, random_table};
use vestal_testkit::short::job;
use vestal_testkit::world::{Report, events};

/// The rule itself, frame after frame, with nothing but sums: the drawing of one cycle. `latch`: what is below a
/// dropped sub-frame is dropped, too.
fn reference(
    (tasks, table, cpus): (&[Task], &Table, usize),
    need: &dyn Fn(JobId) -> u64,
    latch: bool,
) -> Vec<String> {
    let mut rows = vec![vec![b'.'; 4 * table.frame as usize]; cpus];
    for (number, (lists, barriers)) in table.lists.iter().zip(&table.barriers).enumerate() {
        let begin = number * table.frame as usize;
        let mut age = 0;
        for level in (0..lists.len()).rev() {
            let limit: u64 = barriers[level + 1..].iter().map(|b| b[level]).sum();
            match (age > limit, latch) {
                (false, _) => {}
                (true, true) => break,
                (true, false) => continue,
            }
            let mut longest = age;
            for (row, list) in rows.iter_mut().zip(&lists[level]) {
                let mut position = age;
                for &task in list {
                    let frames = tasks[usize::from(task)].period.as_nanos() / table.frame;
                    for _ in 0..need(job(task, number as u64 / frames)) {
                        row[begin + position as usize] = b'0' + task as u8;
                        position += 1;
                    }
                }
                longest = longest.max(position);
            }
            age = longest;
        }
    }
    rows.into_iter()
        .map(|row| String::from_utf8(row).unwrap())
        .collect()
}

#[test]
fn random_tables_are_run_as_the_sums_say() {
    let mut random = Random::new(7);
    let mut lost = 0;
    let mut inverted = [0; 4];
    for _ in 0..3000 {
        let (levels, cpus) = (1 + random.below(3) as usize, 1 + random.below(3) as usize);
        let (tasks, table) = random_table(&mut random, levels, cpus);
        let salt = random.below(1000);
        let need = |job: JobId| {
            // At most what the task needs at its own level.
            let own = tasks[job.task.index()].own_wcet().as_nanos();
            1 + Random::new(salt + 97 * u64::from(job.task.0) + 31 * job.sequence).below(own)
        };
        let set = (tasks.as_slice(), &table, cpus);
        let expected = reference(set, &need, true);
        // The control: without the latch less critical jobs run where more critical ones were dropped.
        inverted[levels] += u32::from(reference(set, &need, false) != expected);
        for report in [Report::Completions, Report::Barriers] {
            let mut engine = table.build(&tasks, cpus as u16).unwrap();
            let rows = draw(&mut engine, &tasks, 4 * table.frame, report, &need);
            assert_eq!(rows, expected, "{tasks:?} {:?}", table.lists);
            let events = events(&mut engine);
            assert!(
                !events
                    .iter()
                    .any(|event| matches!(event.1, Event::FrameOverrun { .. }))
            );
            lost += events
                .iter()
                .filter(|event| matches!(event.1, Event::Dropped { .. }))
                .count();
        }
    }
    assert!(lost > 1000, "the latch was hardly ever used: {lost}");
    // With two levels nothing is below the lower one.
    assert!(inverted[3] > 50 && inverted[..3] == [0; 3], "{inverted:?}");
}
