//! Runs of tables by the sums of the rule alone: what is accepted keeps its guarantee, what the controls accept or
//! carry out does not.

use super::*;
use vestal_analysis::parameters::{FrameBarriers, FrameMap};

/// What became of the jobs of a frame: for each of its tasks when it was complete, from the beginning of the frame on;
/// `None` if it was dropped.
struct Frame {
    ends: Vec<(TaskId, Option<u64>)>,
    length: u64,
}

/// A frame, whose jobs need so much. With the latch a sub-frame is dropped if one above it was.
fn run(
    (map, barriers): (&FrameMap, &FrameBarriers),
    frame: usize,
    need: &dyn Fn(TaskId) -> u64,
    latch: bool,
) -> Frame {
    let (mut age, mut dropped, mut ends) = (0, false, Vec::new());
    let levels: Vec<Level> = map.levels().iter().collect();
    for &level in levels.iter().rev() {
        let above = levels.iter().filter(|&&other| other > level);
        let limit: u64 = above
            .map(|&c| barriers.barrier(frame, c, level).as_nanos())
            .sum();
        dropped = age > limit || (latch && dropped);
        let begins = age;
        for cpu in (0..map.cpus()).map(CpuId) {
            let mut now = begins;
            for &task in map.tasks(frame, level, cpu) {
                if !dropped {
                    now += need(task);
                }
                ends.push((task, (!dropped).then_some(now)));
            }
            age = age.max(now);
        }
    }
    Frame { ends, length: age }
}

/// The first thing in a cycle that breaks the guarantee: a frame that does not end, a job that is dropped or late
/// although no job of its frame exceeded C at the level of that job, or a response above its bound.
fn breach(
    tasks: &[Task],
    outcome: &Outcome,
    needs: &dyn Fn(usize, TaskId) -> u64,
) -> Option<String> {
    let map = outcome.parameters.frames.as_ref().unwrap();
    let barriers = outcome.parameters.barriers.as_ref().unwrap();
    for frame in 0..map.frames() {
        let need = |task: TaskId| needs(frame, task);
        let ran = run((map, barriers), frame, &need, true);
        if ran.length > map.length().as_nanos() {
            return Some(format!("frame {frame} takes {}", ran.length));
        }
        let exceeds = |task: &TaskId, level: Level| {
            need(*task) > tasks[task.index()].wcet.at(level).as_nanos()
        };
        let keeps = |level| !ran.ends.iter().any(|(task, _)| exceeds(task, level));
        for (task, end) in &ran.ends {
            let model = &tasks[task.index()];
            let begins = frame as u64 * map.length().as_nanos();
            let waits = begins % model.period.as_nanos();
            let Some(end) = end else {
                if keeps(model.criticality) {
                    return Some(format!("{task:?} is dropped in {frame}"));
                }
                continue;
            };
            if waits + end > model.deadline.as_nanos() {
                return Some(format!("{task:?} is late in {frame}"));
            }
            let bounds = outcome.tasks[task.index()]
                .responses
                .iter()
                .zip(model.criticality.up_to_self());
            for (bound, level) in bounds {
                if keeps(level) && waits + end > bound.unwrap().as_nanos() {
                    return Some(format!("{task:?} exceeds its bound at {level:?}"));
                }
            }
        }
    }
    None
}

/// At most what a task needs at its own level; in half of the runs nearly all jobs keep to one level.
fn behaviour<'a>(tasks: &'a [Task], seed: u64) -> impl Fn(usize, TaskId) -> u64 + 'a {
    move |frame, task| {
        let mut random =
            Random::new(seed.wrapping_mul(1_000_003) + frame as u64 * 1_009 + u64::from(task.0));
        let model = &tasks[task.index()];
        let level = match seed % 2 {
            0 if !random.once_in(8) => Level((seed / 2 % 3) as u8).min(model.criticality),
            _ => Level(random.below(u64::from(model.criticality.0) + 1) as u8),
        };
        let most = model.wcet.at(level).as_nanos();
        if random.once_in(3) {
            random.between(0, most)
        } else {
            most
        }
    }
}

#[test]
fn accepted_tables_keep_their_guarantee_in_random_runs() {
    let mut random = Random::new(9);
    let mut accepted = 0;
    for _ in 0..2_000 {
        let levels = random.between(1, 4);
        let mut tasks = random_tasks(&mut random, levels, 8, 60);
        for task in &mut tasks {
            if random.once_in(4) {
                let early = ns(random.below(task.period.as_nanos() / 2));
                task.deadline = task.period.checked_sub(early).unwrap();
            }
        }
        let problem = periodic(levels as usize, random.between(1, 3) as u16, tasks.clone());
        let effort = Effort {
            steps_max: 20_000,
            ..Effort::default()
        };
        let outcome = ftts::with(&problem, Duration::ZERO, &effort);
        if outcome.why.is_some() {
            continue;
        }
        accepted += 1;
        for seed in 0..20 {
            let broken = breach(&tasks, &outcome, &behaviour(&tasks, seed));
            assert_eq!(broken, None, "{tasks:?} {outcome:?}");
        }
    }
    println!("{accepted} accepted");
    assert!(accepted > 500, "{accepted}");
}

/// The control: tables that look at the lowest level alone, as if nothing overran.
#[test]
fn tables_for_the_lowest_level_alone_are_refuted_by_runs() {
    let mut random = Random::new(10);
    let (mut wrongly, mut refuted) = (0, 0);
    for _ in 0..3_000 {
        let tasks = random_tasks(&mut random, 2, 6, 60);
        let low: Vec<Task> = tasks
            .iter()
            .map(|task| {
                let values = vec![task.wcet.at(Level(0)); 2];
                Task {
                    wcet: vestal_core::Wcet::new(&values).unwrap(),
                    ..*task
                }
            })
            .collect();
        let effort = Effort {
            steps_max: 20_000,
            ..Effort::default()
        };
        let right = ftts::with(&periodic(2, 2, tasks.clone()), Duration::ZERO, &effort);
        let wrong = ftts::with(&periodic(2, 2, low), Duration::ZERO, &effort);
        if right.why.is_none() || wrong.why.is_some() {
            continue;
        }
        wrongly += 1;
        let breaks = |seed| breach(&tasks, &wrong, &behaviour(&tasks, seed)).is_some();
        refuted += u32::from((0..20).any(breaks));
    }
    println!("{refuted} of {wrongly} refuted");
    assert!(refuted > 20, "{refuted} of {wrongly}");
}

/// The latch: without it a sub-frame is judged by the time alone, and what an earlier one that was dropped did not
/// take is there for one below. With two levels nothing is below.
#[test]
fn without_the_latch_less_critical_sub_frames_run_where_more_critical_ones_were_dropped() {
    let mut random = Random::new(11);
    let mut inversions = [[0, 0]; 4];
    let mut frames = 0;
    for _ in 0..600 {
        let levels = random.between(2, 4);
        let tasks = random_tasks(&mut random, levels, 8, 40);
        let problem = periodic(levels as usize, 2, tasks.clone());
        let effort = Effort {
            steps_max: 20_000,
            ..Effort::default()
        };
        let outcome = ftts::with(&problem, Duration::ZERO, &effort);
        let (Some(map), Some(barriers)) =
            (&outcome.parameters.frames, &outcome.parameters.barriers)
        else {
            continue;
        };
        for seed in 0..20 {
            let needs = behaviour(&tasks, seed);
            for frame in 0..map.frames() {
                frames += 1;
                for latch in [true, false] {
                    let ran = run((map, barriers), frame, &|task| needs(frame, task), latch);
                    let of = |(task, end): &(TaskId, Option<u64>)| {
                        (tasks[task.index()].criticality, end.is_some())
                    };
                    let highest = ran
                        .ends
                        .iter()
                        .map(of)
                        .filter(|(_, ran)| !ran)
                        .map(|(level, _)| level)
                        .max();
                    let inverted = ran
                        .ends
                        .iter()
                        .map(of)
                        .any(|(level, ran)| ran && Some(level) < highest);
                    inversions[levels as usize - 1][usize::from(latch)] += u32::from(inverted);
                    assert!(ran.length <= map.length().as_nanos());
                }
            }
        }
    }
    println!("{frames} frames; inversions without and with the latch, by levels: {inversions:?}");
    assert!(
        inversions.iter().all(|of| of[1] == 0) && inversions[1][0] == 0,
        "{inversions:?}"
    );
    assert!(
        inversions[2][0] > 20 && inversions[3][0] > 20,
        "{inversions:?}"
    );
}
