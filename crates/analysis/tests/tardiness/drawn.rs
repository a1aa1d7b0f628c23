//! Random sets near what can be bounded.

use crate::system::{Above, Cpu, Local, Slot, System};
use vestal_analysis::schedulability::levels::tardiness::{Unbounded, Wanted, bounds};
use vestal_core::Budgets;
use vestal_testkit::Random;

/// Some CPUs of `count` are never closed; the slots of the others are short or long.
fn cpus(random: &mut Random, count: usize) -> Vec<Cpu> {
    let mut open = random.one_of(&[0, 1, count]);
    if count == 1 && !random.once_in(6) {
        open = 0;
    }
    let cycle = random.one_of(&[4, 6, 10, 20, 40]);
    let aligned = random.once_in(2);
    let cpu = |random: &mut Random| {
        let length = random.between(1, cycle * 3 / 4);
        let start = if aligned {
            0
        } else {
            random.between(0, cycle - length)
        };
        let wcet = if random.once_in(3) {
            random.between(1, length)
        } else {
            length
        };
        let mut cpu = Cpu {
            cycle,
            slot: Some(Slot {
                start,
                length,
                wcet,
            }),
            locals: Vec::new(),
        };
        if random.once_in(2) {
            let period = cycle * random.between(1, 3);
            let budget = random.between(1, period / cycle * (cycle - length));
            let wcet = random.between(1, budget);
            let offset = random.below(period);
            cpu.locals.push(Local {
                period,
                budget,
                wcet,
                offset,
            });
            if random.once_in(4) {
                cpu.slot = None;
            }
        }
        cpu
    };
    let closed: Vec<Cpu> = (open..count).map(|_| cpu(random)).collect();
    let open = std::iter::repeat_n(Cpu::default(), count - closed.len());
    closed.into_iter().chain(open).collect()
}

/// A task of level C that is released from the beginning, from the beginning or the end of a slot, or from anywhere.
fn task(random: &mut Random, cpus: &[Cpu]) -> (Wanted, u64) {
    let period = random.one_of(&[2, 3, 4, 5, 8, 10, 12, 16, 24]);
    let wcet = random.between(1, period);
    let deadline = if random.once_in(3) {
        random.between(wcet, period)
    } else {
        period
    };
    let slot = cpus[random.index(cpus.len())].slot;
    let slot = slot.map_or((0, 0), |slot| (slot.start, slot.start + slot.length));
    let offset = random.below(period);
    (
        Wanted {
            wcet,
            period,
            deadline,
        },
        random.one_of(&[0, slot.0, slot.0, slot.1, offset]),
    )
}

/// A set whose level C fills what is left of `count` CPUs, as far as whole numbers do; one in eight wants more.
pub(crate) fn system(random: &mut Random, count: usize) -> System {
    let cpus = cpus(random, count);
    let closed: Vec<_> = cpus.iter().map(Cpu::closed).collect();
    let mut tasks: Vec<(Wanted, u64)> = Vec::new();
    let fits = |tasks: &[(Wanted, u64)]| {
        let wanted: Vec<Wanted> = tasks.iter().map(|&(task, _)| task).collect();
        bounds(&closed, &wanted) != Err(Unbounded::Overload)
    };
    let most = count as u64 + 1 + random.below(2 * count as u64 + 2);
    for _ in 0..most {
        let mut next = task(random, &cpus);
        next.0.wcet = next.0.wcet.min(random.between(1, 12));
        tasks.push(next);
        while !fits(&tasks) {
            let last = tasks.last_mut().unwrap();
            last.0.wcet -= 1;
            if last.0.wcet == 0 {
                tasks.pop();
            }
        }
    }
    if random.once_in(8) {
        tasks.push(task(random, &cpus));
    }
    System {
        cpus,
        tasks,
        sporadic: random.once_in(3),
        above: random.one_of(&[Above::LevelC, Above::LevelC, Above::Less]),
        budgets: random.one_of(&[Budgets::Enforced, Budgets::Ignored]),
    }
}
