//! Numbers worked out by hand.

use crate::system::{Cpu, System};
use vestal_analysis::schedulability::levels::tardiness::oracle::{self, Mistake};
use vestal_analysis::schedulability::levels::tardiness::{Closed, Unbounded, Wanted, bounds};

fn wanted(wcet: u64, period: u64) -> Wanted {
    let deadline = period;
    Wanted {
        wcet,
        period,
        deadline,
    }
}

/// The bound of the set, which is the same for all its tasks, and the largest tardiness there is.
fn bound_and_observed(system: &System) -> (u64, u64) {
    let late = bounds(&system.closed(), &system.wanted()).unwrap();
    assert!(late.iter().all(|bound| *bound == late[0]), "{late:?}");
    let observed = system.observed(400, 64, 1);
    (late[0], observed.into_iter().max().unwrap())
}

/// One CPU of two is closed half of the time, for 2 of 4 or for 20 of 40.
#[test]
fn a_long_slot_delays_level_c_by_more_than_a_short_one_of_the_same_share() {
    let tasks = [(1, 2), (1, 2), (1, 2)];
    let with = |cycle, length| {
        System::new(
            vec![Cpu::with_slot(cycle, 0, length), Cpu::default()],
            &tasks,
        )
    };
    assert_eq!(bound_and_observed(&with(4, 2)), (2, 1));
    assert_eq!(bound_and_observed(&with(40, 20)), (11, 7));
    let system = with(40, 20);
    let wrong = Some(Mistake::NoBurst);
    let wrong = oracle::bounds(&system.closed(), &system.wanted(), 64, wrong).unwrap();
    let little = oracle::Exact::new(1_000_001, 1_000_000);
    assert!(wrong.iter().all(|late| *late < little), "refuted by the 7");
    assert_eq!(
        bound_and_observed(&System::new(vec![Cpu::with_slot(40, 0, 20)], &[(1, 2)])),
        (20, 19)
    );
}

/// `examples/herman-table1.toml`: the table and two tasks of level B have a burst of 1.8, 3.2 and 1.9 ms, and 0.35 are left.
#[test]
fn table_1_of_the_paper() {
    let ms = 1_000_000;
    assert_eq!(wanted(2 * ms, 10 * ms).burst(), 3_200_000);
    assert_eq!(wanted(ms, 20 * ms).burst(), 1_900_000);
    let cpu = Closed {
        shares: vec![(1, 5), (2, 10), (2, 10), (1, 20)],
        burst: 1_800_000 + 3_200_000 + 1_900_000,
    };
    let tasks = [wanted(2 * ms, 10 * ms), wanted(2 * ms, 20 * ms)];
    assert_eq!(bounds(&[cpu], &tasks), Ok(vec![19_714_286; 2]));
}

/// `examples/mc2-two-cpus.toml`: no CPU is always open.
#[test]
fn the_example_of_two_cpus() {
    let ms = 1_000_000;
    let first = Closed {
        shares: vec![(1, 10)],
        burst: 900_000,
    };
    let second = Closed {
        shares: vec![(2, 20), (2, 20)],
        burst: 1_800_000 + wanted(2 * ms, 20 * ms).burst(),
    };
    assert_eq!(second.burst, 5_400_000);
    let tasks = [wanted(5 * ms, 10 * ms), wanted(9 * ms, 20 * ms)];
    let late = bounds(&[first, second], &tasks).unwrap();
    // (6.3 + 2 * (9 + 0.45 * 11.25)) / 1.7, and (6.3 + 14.0625 + 5 + 0.5 * (x - 5)) / 1.7 = x: 22.8625 / 1.2.
    assert!((20_250_000..20_250_004).contains(&late[1]), "{late:?}");
    assert!((19_052_083..19_052_088).contains(&late[0]), "{late:?}");
}

/// By Devi and Anderson (2005) on CPUs that are always open: x = (E - min e) / (m - U), one term less in U.
#[test]
fn where_no_cpu_is_ever_closed_the_bound_is_near_that_for_plain_global_edf() {
    let cpus = vec![Closed::default(); 2];
    let tasks = [wanted(2, 3), wanted(2, 3), wanted(2, 3)];
    // h = (2 + 2/3 h - 2) / 2 has no solution above 0: e is the bound.
    assert_eq!(bounds(&cpus, &tasks), Ok(vec![2; 3]));
    // No more tasks than such CPUs: none is ever late.
    assert_eq!(bounds(&cpus, &tasks[1..]), Ok(vec![0; 2]));
    let due_early = Wanted {
        deadline: 1,
        ..tasks[0]
    };
    assert_eq!(bounds(&cpus, &[due_early]), Ok(vec![1]), "e - D");
}

#[test]
fn what_cannot_be_bounded_says_why() {
    let closed = |wcet, period| Closed {
        shares: vec![(wcet, period)],
        burst: 1,
    };
    let half = closed(1, 2);
    assert_eq!(bounds(&[], &[]), Ok(Vec::new()));
    assert_eq!(bounds(&[], &[wanted(1, 2)]), Err(Unbounded::Overload));
    let one = |cpu: &Closed, tasks: &[Wanted]| bounds(std::slice::from_ref(cpu), tasks);
    // Exactly full is not too full, whatever the denominators are.
    assert!(one(&half, &[wanted(1, 2)]).is_ok());
    assert!(one(&closed(1, 3), &[wanted(1, 3), wanted(1, 3)]).is_ok());
    let most = u64::MAX / 4;
    assert_eq!(
        one(&half, &[wanted(most / 2 + 1, most)]),
        Err(Unbounded::Overload)
    );
    let longer = [wanted(1, 8), wanted(3, 2)];
    assert_eq!(
        bounds(&[half.clone(), half.clone(), half.clone()], &longer),
        Err(Unbounded::WcetExceedsPeriod(1))
    );
    // Two CPUs that are closed half of the time, and a task that wants more than such a one: it may never catch up.
    let heavy = [wanted(3, 4), wanted(1, 4)];
    assert_eq!(
        bounds(&[half.clone(), half.clone()], &heavy),
        Err(Unbounded::NoForm(0))
    );
    let huge = Closed {
        burst: u64::MAX,
        ..half
    };
    assert_eq!(one(&huge, &[wanted(1, 2)]), Err(Unbounded::OutOfRange));
}
