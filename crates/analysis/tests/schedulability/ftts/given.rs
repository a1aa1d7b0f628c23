//! Frames and barriers that are given are checked, and what is wrong with them is said with its place.

use super::*;
use vestal_analysis::ParameterError;
use vestal_analysis::parameters::{FrameBarriers, FrameMap};

/// a (HI, 3/6, T 10), b (HI, 2/5, T 20), c (LO, 4, T 20): two CPUs, two frames.
fn tasks() -> Vec<Task> {
    vec![
        task(1, 10, 10, &[3, 6]),
        task(1, 20, 20, &[2, 5]),
        task(0, 20, 20, &[4]),
    ]
}

/// Lists by frame, then LO and HI, then CPU.
fn map(lists: [[[&[u16]; 2]; 2]; 2]) -> FrameMap {
    let lists = lists.iter().flatten().flatten();
    let lists = lists.map(|list| list.iter().copied().map(TaskId).collect());
    FrameMap::new(ns(10), LevelSet::new(2).unwrap(), 2, lists.collect()).unwrap()
}

/// b in the first frame, c in the second one, both on CPU 1.
fn good() -> FrameMap {
    map([[[&[], &[]], [&[0], &[1]]], [[&[], &[2]], [&[0], &[]]]])
}

/// By frame: LO at LO, then HI at LO and at HI.
fn barriers(times: &[[u64; 3]]) -> FrameBarriers {
    let times = times
        .iter()
        .flat_map(|[low, high_at_low, high]| [*low, 0, *high_at_low, *high].map(ns));
    FrameBarriers::new(LevelSet::new(2).unwrap(), times.collect()).unwrap()
}

fn parameters(frames: Option<FrameMap>, barriers: Option<FrameBarriers>) -> Parameters {
    Parameters {
        frames,
        barriers,
        ..Parameters::default()
    }
}

fn with(problem: Problem, given: &Parameters) -> Problem {
    problem.with(given).unwrap()
}

fn given(frames: FrameMap, barriers: Option<FrameBarriers>) -> Problem {
    with(periodic(2, 2, tasks()), &parameters(Some(frames), barriers))
}

#[test]
fn given_frames_are_used_and_their_barriers_computed() {
    let outcome = analyse(&given(good(), None));
    assert_eq!(outcome.why, None);
    assert_eq!(outcome.parameters.frames, Some(good()));
    assert_eq!(
        outcome.parameters.barriers,
        Some(barriers(&[[0, 3, 6], [4, 3, 6]]))
    );
    let homes = outcome.tasks.iter().map(|task| task.cpu.unwrap().0);
    assert_eq!(homes.collect::<Vec<u16>>(), [0, 1, 1]);
}

/// More than the jobs need is time to spare, as long as the frame has it: 4 + 6 at LO, 10 at HI.
#[test]
fn given_barriers_are_at_least_what_the_jobs_need_and_at_most_a_frame() {
    let of = |times: [[u64; 3]; 2]| given(good(), Some(barriers(&times)));
    for times in [[[0, 3, 6], [4, 3, 6]], [[5, 5, 10], [4, 6, 10]]] {
        let outcome = analyse(&of(times));
        assert_eq!(outcome.why, None);
        assert_eq!(outcome.parameters.barriers, Some(barriers(&times)));
        // What can happen does not depend on what is reserved for it.
        assert_eq!(outcome.tasks[2].responses, [Some(ns(17))]);
    }
    let short = |frame, criticality, level, barrier, needed| FrameReason::BarrierTooShort {
        frame,
        criticality: Level(criticality),
        level: Level(level),
        barrier: ns(barrier),
        needed: ns(needed),
    };
    assert_eq!(why_not(&of([[0, 3, 5], [4, 3, 6]])), short(0, 1, 1, 5, 6));
    assert_eq!(why_not(&of([[0, 3, 6], [4, 2, 6]])), short(1, 1, 0, 2, 3));
    assert_eq!(why_not(&of([[0, 3, 6], [3, 3, 6]])), short(1, 0, 0, 3, 4));
    let long = |frame, level, length| FrameReason::TooLong {
        frame,
        level: Level(level),
        length: ns(length),
        limit: ns(10),
    };
    assert_eq!(why_not(&of([[5, 6, 10], [4, 3, 6]])), long(0, 0, 11));
    assert_eq!(why_not(&of([[0, 3, 6], [4, 3, 11]])), long(1, 1, 11));
}

#[test]
fn interference_counts_in_given_barriers_too() {
    let bus = Bus {
        access: ns(1),
        accesses: vec![vec![Some(1), Some(2)], vec![Some(3), Some(3)]],
    };
    let on_bus = |times: [[u64; 3]; 2]| given(good(), Some(barriers(&times))).with_bus(bus.clone());
    let enough = [[0, 4, 8], [4, 3, 6]];
    assert_eq!(analyse(&on_bus(enough)).why, None);
    assert_eq!(
        why_not(&on_bus([[0, 4, 7], [4, 3, 6]])),
        FrameReason::BarrierTooShort {
            frame: 0,
            criticality: Level(1),
            level: Level(1),
            barrier: ns(7),
            needed: ns(8),
        }
    );
    // Without the bus that was enough.
    assert_eq!(
        analyse(&given(good(), Some(barriers(&[[0, 4, 7], [4, 3, 6]])))).why,
        None
    );
}

#[test]
fn every_job_has_one_place_in_time() {
    let places = |task, job, found| FrameReason::Places {
        task: TaskId(task),
        job,
        found,
    };
    let none = map([[[&[], &[]], [&[0], &[1]]], [[&[], &[2]], [&[], &[]]]]);
    assert_eq!(why_not(&given(none, None)), places(0, 1, 0));
    let twice = map([[[&[], &[2]], [&[0], &[1]]], [[&[], &[2]], [&[0], &[]]]]);
    assert_eq!(why_not(&given(twice, None)), places(2, 0, 2));
    // The deadline of c is 15: the second frame ends too late.
    let mut short = tasks();
    short[2].deadline = ns(15);
    let late = with(
        periodic(2, 2, short.clone()),
        &parameters(Some(good()), None),
    );
    assert_eq!(why_not(&late), places(2, 0, 0));
    let both = map([[[&[], &[2]], [&[0], &[1]]], [[&[], &[2]], [&[0], &[]]]]);
    let more = with(periodic(2, 2, short), &parameters(Some(both), None));
    assert_eq!(
        why_not(&more),
        FrameReason::OutOfTime {
            task: TaskId(2),
            frame: 1
        }
    );
    // b is released at 10: the first frame is before that.
    let first = vec![Some(ns(0)), Some(ns(10)), Some(ns(0))];
    let early = with(
        periodic(2, 2, tasks()).with_first_releases(first),
        &parameters(Some(good()), None),
    );
    assert_eq!(why_not(&early), places(1, 0, 0));
}

#[test]
fn frames_fit_the_periods_and_the_cycle_all_of_them() {
    let mut odd = tasks();
    (odd[1].period, odd[1].deadline) = (ns(15), ns(15));
    let problem = with(periodic(2, 2, odd), &parameters(Some(good()), None));
    assert_eq!(why_not(&problem), FrameReason::Misfit { task: TaskId(1) });
    let mut long = tasks();
    (long[1].period, long[1].deadline) = (ns(40), ns(40));
    let problem = with(periodic(2, 2, long), &parameters(Some(good()), None));
    assert_eq!(why_not(&problem), FrameReason::Misfit { task: TaskId(1) });
}

#[test]
fn barriers_are_those_of_the_frames_and_the_partition_is_theirs() {
    let alone = with(
        periodic(2, 2, tasks()),
        &parameters(None, Some(barriers(&[[0, 3, 6]; 2]))),
    );
    assert_eq!(why_not(&alone), FrameReason::BarriersAlone);
    let more = parameters(Some(good()), Some(barriers(&[[0, 3, 6]; 3])));
    assert!(matches!(
        periodic(2, 2, tasks()).with(&more).map_err(|error| error.to_string()),
        Err(why) if why.contains("there is not one for each frame")
    ));
    // Frames that are given after their barriers meet them only here.
    let later = with(
        periodic(2, 2, tasks()),
        &parameters(None, Some(barriers(&[[0, 3, 6]; 3]))),
    );
    let later = with(later, &parameters(Some(good()), None));
    assert_eq!(
        why_not(&later),
        FrameReason::BarrierCount {
            found: 3,
            frames: 2
        }
    );
    let partition = |cpus: [Option<u16>; 3]| Parameters {
        partition: Some(cpus.map(|cpu| cpu.map(CpuId)).to_vec()),
        ..parameters(Some(good()), None)
    };
    let same = with(
        periodic(2, 2, tasks()),
        &partition([Some(0), None, Some(1)]),
    );
    assert_eq!(analyse(&same).why, None);
    let other = with(
        periodic(2, 2, tasks()),
        &partition([Some(0), None, Some(0)]),
    );
    let why = FrameReason::OtherCpu {
        task: TaskId(2),
        frames: CpuId(1),
    };
    assert_eq!(why_not(&other), why);
}

#[test]
fn frames_for_other_tasks_are_no_parameters() {
    let wrong = |map| {
        periodic(2, 2, tasks())
            .with(&parameters(Some(map), None))
            .is_err()
    };
    assert!(!wrong(good()));
    // c in a HI sub-frame, a on two CPUs, a task that there is not.
    assert!(wrong(map([
        [[&[], &[]], [&[0, 2], &[1]]],
        [[&[], &[]], [&[0], &[]]]
    ])));
    assert!(wrong(map([
        [[&[], &[2]], [&[0], &[1]]],
        [[&[], &[]], [&[], &[0]]]
    ])));
    assert!(wrong(map([
        [[&[], &[2]], [&[0], &[1, 3]]],
        [[&[], &[]], [&[0], &[]]]
    ])));
    let _: fn(ParameterError) -> String = |error| error.to_string();
}

/// What the search found is accepted when it is given, and is then the same.
#[test]
fn what_is_found_can_be_given() {
    let mut random = Random::new(8);
    let mut found = 0;
    for _ in 0..300 {
        let levels = random.between(1, 3);
        let tasks = random_tasks(&mut random, levels, 6, 50);
        let bus = random_bus(&mut random, &tasks);
        let problem = periodic(levels as usize, 2, tasks).with_bus(bus);
        let effort = Effort {
            steps_max: 20_000,
            ..Effort::default()
        };
        let outcome = ftts::with(&problem, Duration::ZERO, &effort);
        if outcome.why.is_some() {
            continue;
        }
        found += 1;
        assert_eq!(
            analyse(&with(problem.clone(), &outcome.parameters)),
            outcome
        );
        let without = Parameters {
            barriers: None,
            ..outcome.parameters.clone()
        };
        assert_eq!(analyse(&with(problem, &without)), outcome);
    }
    println!("{found} found");
    assert!(found > 100, "{found}");
}

#[test]
fn reasons_have_names_and_places() {
    use vestal_analysis::Names;
    let tasks = ["a", "b", "c"].map(str::to_owned);
    let levels = ["LO", "HI"].map(str::to_owned);
    let names = Names {
        tasks: &tasks,
        levels: &levels,
        servers: &[],
    };
    let says = |problem: &Problem| analyse(problem).why.unwrap().with_names(names).to_string();
    let of = |times: [[u64; 3]; 2]| given(good(), Some(barriers(&times)));
    assert_eq!(
        says(&of([[0, 3, 6], [4, 2, 6]])),
        "`barriers[1].HI.LO` is 2 ns, and the jobs of the sub-frame may take 3 ns"
    );
    assert_eq!(
        says(&of([[5, 6, 10], [4, 3, 6]])),
        "`frames[0]` may take 11 ns at level LO, and has 10 ns"
    );
    let twice = map([[[&[], &[2]], [&[0], &[1]]], [[&[], &[2]], [&[0], &[]]]]);
    assert_eq!(
        says(&given(twice, None)),
        "`frames` has 2 places for job 0 of c between its release and its deadline, not one"
    );
}
