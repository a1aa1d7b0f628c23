//! Level B against runs drawn tick by tick, and what is wrong with other tests.

use super::super::local::Local;
use super::super::oracle::{all_phases, closed_ticks, run};
use super::super::pattern::Pattern;
use super::super::{control, given};
use super::*;
use vestal_core::CpuId;

const CPU: CpuId = CpuId(0);

/// A CPU with a table and tasks of level B.
struct Drawn {
    problem: Problem,
    table: DispatchTable,
}

impl Drawn {
    fn level_a(&self) -> Vec<&Row> {
        rows(&self.problem, A)
    }

    fn level_b(&self) -> Vec<&Row> {
        rows(&self.problem, B)
    }

    fn pattern(&self) -> Pattern {
        Pattern::new(&self.table, &self.level_a(), usize::from(B))
    }

    /// By tick of the cycle.
    fn closed(&self) -> Vec<bool> {
        let closed = closed_ticks(&self.table, &self.level_a(), usize::from(B));
        if closed.is_empty() {
            vec![false]
        } else {
            closed
        }
    }
}

/// Tasks of level B that take about as much as level A leaves; how much of it in sixteenths.
fn draw(random: &mut Random, harmonic: bool, (least, most): (u64, u64)) -> Option<Drawn> {
    let mut tasks = draw_level_a(random, 2);
    let table = {
        let problem = problem(tasks.clone(), 1);
        let rows = rows(&problem, A);
        let cycles = random.between(1, 2);
        let table = draw_table(random, &rows, cycles)?;
        given::check(CPU, &table, &rows).ok()?;
        table
    };
    let above = problem(tasks.clone(), 1);
    let pattern = Pattern::new(&table, &rows(&above, A), usize::from(B));
    let cycle = pattern.cycle();
    let share = random.between(least, most);
    let count = random.between(1, 3);
    for _ in 0..count {
        let period = match harmonic {
            true if cycle > 1 => cycle * random.between(1, 2),
            true => random.one_of(&[4u64, 8, 16]),
            false => random.one_of(&[3u64, 4, 6, 8, 10, 12, 20, 24]),
        };
        let deadline = match random.once_in(3) && !harmonic {
            true => random.between(period.div_ceil(2), period),
            false => period,
        };
        let open = period * (cycle - pattern.closed_in_cycle());
        let time = (open * share)
            .div_ceil(16 * count * cycle)
            .clamp(1, deadline);
        tasks.push(task(B, (period, deadline), &[time, time, time]));
    }
    let drawn = Drawn {
        problem: problem(tasks, 1),
        table,
    };
    let length = super::super::oracle::hyperperiod(cycle, &drawn.level_b());
    (length <= 120).then_some(drawn)
}

#[test]
fn by_deadlines_no_set_is_late_that_is_accepted_and_every_other_one_is() {
    for harmonic in [false, true] {
        let mut random = Random::new(10 + u64::from(harmonic));
        let (mut yes, mut no) = (0, 0);
        while yes + no < 1_200 {
            let Some(drawn) = draw(&mut random, harmonic, (10, 18)) else {
                continue;
            };
            let (pattern, level_b) = (drawn.pattern(), drawn.level_b());
            let local = Local {
                cpu: CPU,
                pattern: &pattern,
                rows: &level_b,
            };
            let found = local.by_deadlines(&mut Effort::default());
            let run = all_phases(&drawn.closed(), &level_b, Order::Deadlines);
            assert_eq!(
                found.is_ok(),
                run.is_some(),
                "{found:?}: {:?} {level_b:?}",
                drawn.table
            );
            assert!(!harmonic || local.is_harmonic());
            *if found.is_ok() { &mut yes } else { &mut no } += 1;
        }
        let percent = 100 * yes / (yes + no);
        assert!((5..=95).contains(&percent), "{yes} of {}", yes + no);
    }
}

#[test]
fn by_rates_responses_are_the_longest_of_all_phases() {
    let mut random = Random::new(20);
    let (mut yes, mut no) = (0, 0);
    while yes + no < 2_000 {
        let harmonic = random.once_in(2);
        let Some(drawn) = draw(&mut random, harmonic, (6, 16)) else {
            continue;
        };
        let (pattern, level_b) = (drawn.pattern(), drawn.level_b());
        let local = Local {
            cpu: CPU,
            pattern: &pattern,
            rows: &level_b,
        };
        let found = local.by_rates(&mut Effort::default());
        let run = all_phases(&drawn.closed(), &level_b, Order::Rates);
        assert_eq!(
            found.clone().ok(),
            run,
            "{found:?}: {:?} {level_b:?}",
            drawn.table
        );
        *if found.is_ok() { &mut yes } else { &mut no } += 1;
    }
    let percent = 100 * yes / (yes + no);
    assert!((5..=95).contains(&percent), "{yes} of {}", yes + no);
}

/// Runs in which jobs come later than they may and level A needs less: whether one of them is late.
fn any_run_is_late(random: &mut Random, drawn: &Drawn, order: Order) -> bool {
    let (closed, level_b) = (drawn.closed(), drawn.level_b());
    let cycle = closed.len() as u64;
    (0..4).any(|_| {
        let late_once_in = random.between(1, 6);
        let end = 150;
        let releases = level_b.iter().map(|row| {
            let mut next = random.below(cycle + row.period);
            let mut all = Vec::new();
            while next < end {
                all.push(next);
                next += row.period;
                if random.once_in(late_once_in) {
                    next += random.below(4);
                }
            }
            all
        });
        let releases: Vec<Vec<u64>> = releases.collect();
        let open_once_in = random.between(2, 9);
        let opened: Vec<bool> = (0..=end).map(|_| random.once_in(open_once_in)).collect();
        let is_closed = |tick: u64| closed[(tick % cycle) as usize] && !opened[tick as usize];
        run(is_closed, &level_b, &releases, order, (0, end)).is_none()
    })
}

#[test]
fn nothing_accepted_is_late_whatever_comes_later_and_whatever_level_a_leaves() {
    let mut random = Random::new(30);
    let mut accepted = [0; 2];
    while accepted.iter().any(|&count| count < 400) {
        let harmonic = random.once_in(2);
        let Some(drawn) = draw(&mut random, harmonic, (10, 16)) else {
            continue;
        };
        let (pattern, level_b) = (drawn.pattern(), drawn.level_b());
        let local = Local {
            cpu: CPU,
            pattern: &pattern,
            rows: &level_b,
        };
        let by_deadlines = local.by_deadlines(&mut Effort::default()).is_ok();
        let by_rates = local.by_rates(&mut Effort::default()).is_ok();
        let found = [(Order::Deadlines, by_deadlines), (Order::Rates, by_rates)];
        for (count, (order, is_accepted)) in accepted.iter_mut().zip(found) {
            if is_accepted {
                *count += 1;
                let late = any_run_is_late(&mut random, &drawn, order);
                assert!(!late, "{order:?}: {:?} {level_b:?}", drawn.table);
            }
        }
    }
}

#[test]
fn wrong_tests_accept_sets_that_are_late() {
    let mut random = Random::new(40);
    let mut refuted = [0; 4];
    for _ in 0..20_000 {
        if refuted.iter().all(|&count| count > 0) {
            break;
        }
        let harmonic = random.once_in(2);
        let Some(drawn) = draw(&mut random, harmonic, (14, 16)) else {
            continue;
        };
        let (pattern, level_b) = (drawn.pattern(), drawn.level_b());
        let local = Local {
            cpu: CPU,
            pattern: &pattern,
            rows: &level_b,
        };
        let late = |order| all_phases(&drawn.closed(), &level_b, order).is_none();
        let deadlines = Order::Deadlines;
        let level_a = drawn.level_a();
        refuted[0] += usize::from(control::any_periods(&local) && late(deadlines));
        refuted[1] += usize::from(control::own_cycle(&local, &level_a) && late(deadlines));
        refuted[2] += usize::from(control::rates_by_sum(&local) && late(Order::Rates));
        refuted[3] += usize::from(control::phase_0(&local) && late(deadlines));
    }
    assert!(refuted.iter().all(|&count| count > 0), "{refuted:?}");
}
