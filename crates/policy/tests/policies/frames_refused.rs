//! Frames and barriers that do not fit a set are refused, by name; and what their overhead is.

use crate::frames::{FRAMES, TWO_CPUS, assembled, given, read, set, simulated};
use vestal_analysis::Parameters;
use vestal_core::{
    ConfigurationError, Duration, JobId, Level, LevelSet, TableError, Task, TaskConfiguration,
    TaskId,
};
use vestal_policy::{Analysis, Configuration, FrameFault, FrameLists};
use vestal_testkit::frames::Table;
use vestal_testkit::short::task;

/// What the constructor says of the two frames after a change.
fn fault(
    levels: usize,
    cpus: u16,
    change: &dyn Fn(&mut Table, &mut Vec<Task>),
) -> Result<FrameLists, FrameFault> {
    let mut tasks = vec![
        task(1, 10, &[2, 5]),
        task(1, 20, &[3, 4]),
        task(0, 10, &[3]),
        task(0, 20, &[4]),
    ];
    let mut table = Table {
        frame: 10,
        lists: vec![
            vec![vec![vec![2], vec![]], vec![vec![0], vec![1]]],
            vec![vec![vec![2], vec![3]], vec![vec![0], vec![]]],
        ],
        barriers: vec![vec![vec![3, 0], vec![3, 5]], vec![vec![4, 0], vec![2, 5]]],
    };
    change(&mut table, &mut tasks);
    let given = given(&table);
    let tasks = tasks
        .into_iter()
        .map(|task| TaskConfiguration::new(task, 0));
    let levels = LevelSet::new(levels).unwrap();
    let parts = (&given.frames.unwrap(), &given.barriers.unwrap());
    FrameLists::new(tasks.collect(), levels, cpus, parts)
}

fn unchanged(_: &mut Table, _: &mut Vec<Task>) {}

#[test]
fn what_is_for_others_is_refused_with_what_it_is_for() {
    let set = set(TWO_CPUS);
    assert!(fault(2, 2, &unchanged).is_ok());
    let without_barriers = |table: &mut Table, _: &mut Vec<Task>| drop(table.barriers.pop());
    let without_tasks = |_: &mut Table, tasks: &mut Vec<Task>| tasks.clear();
    let levels = FrameFault::Levels {
        parameter: "frames",
        found: 2,
        expected: 3,
    };
    let (found, expected) = (2, 3);
    let cpus = FrameFault::Cpus { found, expected };
    let (found, expected) = (1, 2);
    let barriers = FrameFault::Barriers { found, expected };
    let cases: [(_, _, &str); 4] = [
        (
            fault(3, 2, &unchanged),
            levels,
            "`frames` is for 2 levels, and there are 3",
        ),
        (
            fault(2, 3, &unchanged),
            cpus,
            "`frames` is for 2 CPUs, and there are 3",
        ),
        (
            fault(2, 2, &without_barriers),
            barriers,
            "`barriers` has 1 frames, and `frames` has 2",
        ),
        (
            fault(2, 2, &without_tasks),
            FrameFault::Engine(ConfigurationError::NoTasks),
            "there is no task",
        ),
    ];
    for (found, expected, text) in cases {
        let found = found.unwrap_err();
        assert_eq!(found, expected);
        let refusal = found.refusal(&set);
        assert!(refusal.why.contains(text), "{refusal}");
        assert!(!refusal.help.is_empty());
    }
}

/// The changed table is refused with this error, and so for people.
fn refused(change: impl Fn(&mut Table, &mut Vec<Task>), error: TableError, why: &str) {
    let found = fault(2, 2, &change).unwrap_err();
    assert_eq!(found, FrameFault::Engine(ConfigurationError::Table(error)));
    let refusal = found.refusal(&set(TWO_CPUS));
    assert_eq!(refusal.why, why);
    assert!(!refusal.help.is_empty());
}

#[test]
fn tasks_out_of_place_are_refused_by_name() {
    let [a, b, c, d] = [0, 1, 2, 3].map(TaskId);
    refused(
        |table, _| table.lists[1][0][1] = vec![3, 1],
        TableError::WrongSubFrame { task: b, frame: 1 },
        "`frames` has `b` in a sub-frame of another criticality in frame 1",
    );
    refused(
        |table, _| table.lists[1][1] = vec![vec![], vec![0]],
        TableError::TwoCpus(a),
        "`frames` has `a` on two CPUs",
    );
    let (job, found) = (0, 0);
    refused(
        |table, _| table.lists[1][0][1].clear(),
        TableError::Places {
            task: d,
            job,
            found,
        },
        "`frames` has 0 places for job 0 of `d`, not one",
    );
    refused(
        |_, tasks| tasks[2].period = Duration::from_nanos(15),
        TableError::PeriodAndFrames(c),
        "the period of `c` is not a whole number of frames that divides the cycle",
    );
    refused(
        |table, _| table.lists[0][0][1] = vec![7],
        TableError::UnknownTask(TaskId(7)),
        "the table names task 7, which is not configured",
    );
}

#[test]
fn lengths_that_do_not_suffice_are_refused_with_their_places() {
    let (frame, criticality, level) = (0, Level(1), Level(0));
    refused(
        |table, _| table.barriers[0][1] = vec![2, 5],
        TableError::SubFrameTooShort {
            frame,
            criticality,
            level,
        },
        "`barriers[0].HI.LO` is shorter than what a CPU executes in sub-frame HI at level LO",
    );
    refused(
        |table, _| table.barriers[1][0] = vec![9, 0],
        TableError::FrameTooShort { frame: 1, level },
        "frame 1 is shorter than its barriers at level LO in all",
    );
}

/// A set is asked for its frames through the policy, too.
#[test]
fn a_policy_passes_on_what_does_not_fit() {
    let set = set(TWO_CPUS);
    let refused = assembled(&set, &Parameters::default(), Analysis::Ask).unwrap_err();
    assert_eq!(refused.why, "no frames");
    let short = FRAMES.replace("\"LO\": \"2ns\"", "\"LO\": \"1ns\"");
    let refused = assembled(&set, &read(&set, &short), Analysis::Ask).unwrap_err();
    assert!(refused.why.contains("`barriers[1].HI.LO`"), "{refused}");
}

#[test]
fn overhead_is_taken_from_each_frame_and_makes_sub_frames_later() {
    let lists = fault(2, 2, &|_, _| {}).unwrap();
    // The longest frame needs 5 at HI and 6 at LO of its 10.
    let spare = lists.clone().with_overhead(Duration::from_nanos(4));
    let spare = spare.unwrap();
    assert_eq!(spare.overhead().as_nanos(), 4);
    assert_ne!(spare, lists);
    let refused = lists.with_overhead(Duration::from_nanos(5)).unwrap_err();
    let expected = TableError::FrameTooShort {
        frame: 0,
        level: Level(0),
    };
    assert_eq!(
        refused,
        FrameFault::Engine(ConfigurationError::Table(expected))
    );
    // a takes 4 instead of 2, one more than barrier(0,HI,LO).
    let set = set(TWO_CPUS);
    let mut system = assembled(&set, &read(&set, FRAMES), Analysis::Ask).unwrap();
    system.clusters[0].configuration = Configuration::Frames(spare);
    let need = |job: JobId| match (job.task.0, job.sequence) {
        (0, 0) => 4,
        (task, _) => [2, 3, 3, 4][usize::from(task)],
    };
    let (seen, figures) = simulated(&system, 20, &need);
    assert_eq!(seen.rows, ["0000222...00222.....", "111.........3333...."]);
    assert_eq!(figures.lowest_skipped, 0);
}
