//! What workers walk through under a dispatch table stands in the recording, and is compared.

use std::collections::BTreeSet;
use vestal_core::engine::frames::Frames;
use vestal_core::*;
use vestal_testkit::frames::Table;
use vestal_testkit::short::task;
use vestal_testkit::world::World;
use vestal_trace::{Header, Record, Recorder, What, replay};

fn tasks() -> [Task; 4] {
    [
        task(1, 10, &[2, 5]),
        task(1, 20, &[3, 4]),
        task(0, 10, &[3]),
        task(0, 20, &[4]),
    ]
}

/// Two CPUs, on which both levels have jobs.
fn engine() -> Frames {
    let table = Table {
        frame: 10,
        lists: vec![
            vec![vec![vec![2], vec![]], vec![vec![0], vec![1]]],
            vec![vec![vec![2], vec![3]], vec![vec![0], vec![]]],
        ],
        barriers: vec![vec![vec![3, 0], vec![3, 5]], vec![vec![4, 0], vec![2, 5]]],
    };
    table.build(&tasks(), 2).unwrap()
}

fn recording() -> (Header, Vec<Record>) {
    let tasks = tasks();
    let recorder = Recorder::new(engine(), Vec::new());
    let need = |job: JobId| match (job.task.0, job.sequence) {
        (0, 0) => vec![5],
        (task, _) => vec![[2, 3, 3, 4][usize::from(task)]],
    };
    let mut world = World::new(recorder, 2, tasks.len(), need);
    for _ in 0..40 {
        let arrivals = world.periodic(&tasks);
        world.step(&arrivals);
        while world.engine.take_notice().is_some() {}
    }
    let header = Header {
        cpus: 2,
        ..Header::new("ftts")
    };
    let end = Instant::from_nanos(world.now);
    (header, world.engine.finish(end).1)
}

fn again(header: &Header, records: &[Record]) -> bool {
    let sure = records.iter().map(|record| Ok::<_, ()>(*record));
    replay(header, sure, &mut engine()).is_ok()
}

#[test]
fn a_recording_names_every_job_of_every_sequence() {
    let (header, records) = recording();
    assert!(again(&header, &records));
    let mut seen = BTreeSet::new();
    let mut owed = 0;
    for record in &records {
        match record.what {
            What::Sequence { cpu, jobs, .. } => {
                assert_eq!(owed, 0, "{record}");
                owed = jobs;
                seen.insert((cpu.0, jobs));
            }
            What::Queued { .. } => owed -= 1,
            _ => assert_eq!(owed, 0, "{record}"),
        }
    }
    // The second CPU has empty sub-frames too, at whose barriers it waits.
    assert_eq!(seen, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

#[test]
fn a_changed_sequence_is_found() {
    let (header, records) = recording();
    let mut found = 0;
    for index in 0..records.len() {
        let mut changes = vec![records[index]; 2];
        match &mut changes[0].what {
            What::Sequence { barrier, .. } => barrier.0 += 1,
            What::Queued { job, .. } => job.sequence += 1,
            _ => continue,
        }
        match &mut changes[1].what {
            What::Sequence { jobs, .. } => *jobs += 1,
            What::Queued { cpu, .. } => cpu.0 += 1,
            _ => continue,
        }
        for change in changes {
            let mut changed = records.clone();
            changed[index] = change;
            assert!(!again(&header, &changed), "{change}");
            found += 1;
        }
        let mut shorter = records.clone();
        shorter.remove(index);
        assert!(!again(&header, &shorter), "without {}", records[index]);
    }
    assert!(found > 100, "{found}");
}
