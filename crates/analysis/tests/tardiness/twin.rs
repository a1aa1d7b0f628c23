//! The closed form and its rounding, against exact fractions.

use crate::drawn;
use vestal_analysis::schedulability::levels::tardiness::oracle::{self, Exact};
use vestal_analysis::schedulability::levels::tardiness::{Closed, Unbounded, Wanted, bounds};
use vestal_testkit::Random;

/// Rounding is little of a time so long.
const SCALE: u64 = 1000;

#[test]
fn what_is_computed_is_nowhere_below_the_inequality_and_little_above_its_twin() {
    let mut random = Random::new(18);
    let (mut bounded, mut unbounded) = (0, 0);
    for _ in 0..200 {
        let count = random.between(1, 4) as usize;
        let system = drawn::system(&mut random, count);
        let cpus: Vec<Closed> = system.closed().into_iter().map(longer).collect();
        let tasks: Vec<Wanted> = system.wanted().iter().map(longer_task).collect();
        let exact = oracle::bounds(&cpus, &tasks, 24, None);
        match (bounds(&cpus, &tasks), exact) {
            (Ok(late), Some(exact)) => {
                bounded += 1;
                let late: Vec<Exact> = late.into_iter().map(Exact::whole).collect();
                let needed = oracle::needed(&cpus, &tasks, &late, None);
                for ((late, needed), exact) in late.iter().zip(&needed).zip(&exact) {
                    assert!(needed <= late, "{late:?} {cpus:?} {tasks:?}");
                    let above = &(exact * &Exact::new(1001, 1000)) + &Exact::whole(64);
                    assert!(*late <= above, "{late:?} {exact:?} {cpus:?} {tasks:?}");
                }
            }
            (Err(Unbounded::Overload | Unbounded::NoForm(_)), None) => unbounded += 1,
            (found, exact) => panic!("{found:?} {exact:?} {cpus:?} {tasks:?}"),
        }
    }
    assert!(bounded >= 40 && unbounded >= 20, "{bounded} {unbounded}");
}

fn longer(mut cpu: Closed) -> Closed {
    cpu.burst *= SCALE;
    cpu
}

fn longer_task(task: &Wanted) -> Wanted {
    Wanted {
        wcet: task.wcet * SCALE,
        period: task.period * SCALE,
        deadline: task.deadline * SCALE,
    }
}
