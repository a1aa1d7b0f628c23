//! Any calls in any order, sensible or not, servers and tasks created in between: the invariants hold, and the width
//! of ticks and whether time comes in single ticks make no difference.

use crate::same_schedule::{Bits4, NoWakeUps};
use crate::system::{KINDS, ORDERS};
use crate::{is_long, seeds};
use vestal_hsf::{Bounded, Everything, Features, Hsf, Pick, ServerId, ServerSpec, TaskId, nodes};
use vestal_testkit::Random;

type Small<F> = Hsf<F, 4, 8, { nodes(4, 8) }>;

/// What a run of random calls came to: each answer and each pick.
fn run<F: Features>(seed: u64, single: bool) -> Vec<String> {
    let (mut hsf, mut random) = (Small::<F>::new(), Random::new(seed));
    let mut answers = Vec::new();
    let mut picked = TaskId::new(0);
    for _ in 0..300 {
        // Often who has been picked, sometimes who does not exist.
        let task = match random.below(3) {
            0 => picked,
            _ => TaskId::new(random.below(9) as u8),
        };
        let ticks = random.below(12) as u32 * random.below(6) as u32;
        let answer = match random.below(20) {
            0 => {
                let spec = ServerSpec {
                    kind: random.one_of(&KINDS),
                    priority: random.below(3) as u8,
                    order: random.one_of(&ORDERS),
                    period: random.below(50) as u32,
                    capacity: random.below(20) as u32,
                };
                format!("{:?}", hsf.create_server(&spec))
            }
            1 => {
                let server = ServerId::new(random.below(5) as u8);
                let (priority, deadline) = (random.below(3) as u8, random.below(40) as u32);
                format!("{:?}", hsf.add_task(server, priority, deadline))
            }
            2 => {
                let offset = random.below(40) as u32;
                format!("{:?}", hsf.make_periodic(task, offset, ticks))
            }
            3..=6 => format!("{:?}", hsf.wait_period(task)),
            7 => format!("{:?}", hsf.delay(task, ticks)),
            8 => format!("{:?}", hsf.delay_virtual(task, ticks)),
            9 => format!("{:?}", hsf.block(task)),
            10 | 11 => format!("{:?}", hsf.ready(task)),
            12 | 13 => format!("{:?}", hsf.release(task)),
            _ => {
                // As the rules say: the time is advanced after each call of the scheduler.
                pick(&mut hsf, &mut picked, &mut answers);
                match (single, ticks.checked_sub(1)) {
                    (true, Some(before_last)) => {
                        for _ in 0..before_last {
                            if hsf.tick() {
                                hsf.schedule();
                            }
                        }
                        let _ = hsf.tick();
                    }
                    (true, None) | (false, _) => drop(hsf.advance(ticks)),
                }
                format!("{}", hsf.now())
            }
        };
        answers.push(answer);
        if random.below(3) > 0 {
            pick(&mut hsf, &mut picked, &mut answers);
        }
    }
    answers
}

fn assert_same(what: &str, seed: u64, one: &[String], other: &[String]) {
    for (number, (one, other)) in one.iter().zip(other).enumerate() {
        assert_eq!(one, other, "{what}, seed {seed}, answer {number}");
    }
    assert_eq!(one.len(), other.len());
}

fn pick<F: Features>(hsf: &mut Small<F>, picked: &mut TaskId, answers: &mut Vec<String>) {
    let pick = hsf.schedule();
    assert!(hsf.check_invariants(), "{hsf:?}");
    assert_eq!(hsf.schedule(), pick, "once more changes nothing");
    if let Pick::Task(task) = pick {
        *picked = task;
    }
    let budgets = (0..4).map(|server| hsf.budget(ServerId::new(server)));
    answers.push(format!("{pick:?} {:?}", budgets.collect::<Vec<_>>()));
}

#[test]
fn invariants_hold_whatever_is_called_and_widths_make_no_difference() {
    let seeds = seeds(if is_long() { 30_000 } else { 300 });
    let all = seeds.len() * 300;
    let (mut executed, mut refused) = (0, 0);
    for seed in seeds {
        let answers = run::<Everything<Bits4>>(seed, true);
        let same = |what: &str, other: &[String]| assert_same(what, seed, &answers, other);
        same("late timers", &run::<Everything<Bits4>>(seed, false));
        same("32 bits", &run::<Everything<u32>>(seed, true));
        same("M = 2", &run::<Everything<Bounded<u16, 2>>>(seed, false));
        run::<NoWakeUps<Bits4>>(seed, true);
        executed += answers
            .iter()
            .filter(|answer| answer.starts_with("Task"))
            .count();
        refused += answers
            .iter()
            .filter(|answer| answer.starts_with("Err"))
            .count();
    }
    println!("{all} calls");
    assert!(executed > all / 20, "tasks are picked {executed} times");
    assert!(
        refused > all / 20 && refused < all * 3 / 4,
        "{refused} are refused"
    );
}
