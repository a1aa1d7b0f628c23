//! Schedules drawn by hand that refute a mistake, and the largest numbers.

use super::sets::{Set, own, pibs};
use super::{bound, test};
use vestal_analysis::schedulability::io_amc::oracle::{Case, Mistake};
use vestal_analysis::{Reason, Verdict};
use vestal_core::*;
use vestal_testkit::hierarchies::{self as core_world, World};
use vestal_testkit::world::drawn;

fn bound_of_twin(set: &Set, mistake: Option<Mistake>, server: u16, equation: u8) -> Option<u64> {
    let (problem, order) = (set.problem(), set.order());
    let case = Case {
        problem: &problem,
        order: &order,
        any: false,
        mistake,
    };
    case.bound(ServerId(server), None, equation)
}

/// The servers of a set, whose first PIBS handles events of a device for the first server.
fn world(set: &Set, programs: Vec<Vec<u64>>) -> World<'static> {
    let servers: Vec<_> = set.servers().iter().map(|one| one.configuration).collect();
    let count = set.own.len() as u16;
    let tasks = set.tasks();
    let own = (0..count).zip(&tasks).map(|(server, task)| ServedTask {
        task: *task,
        ..core_world::task(server, 1, task.deadline.as_nanos())
    });
    let half = ServedTask {
        on_behalf_of: Some(ServerId(0)),
        ..core_world::task(count, 1, 100)
    };
    let tasks: Vec<_> = own.chain([half]).collect();
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(count),
    }];
    let configuration = core_world::configuration(&servers, &tasks, &devices);
    core_world::world(&core_world::adaptive(&configuration, false), programs)
}

fn interrupts(count: u32) -> Fact {
    let device = DeviceId(0);
    Fact::Interrupt { device, count }
}

/// Equation 8, and with it 14, as printed. A LO server l, T = 6, C = 2, and a LO PIBS of a third on its behalf above a HI
/// server i, T = 40, C = 3 or 4. Without the PIBS i would have executed 3 by 5, and equation 14 says 9. It has by 11,
/// after two jobs of l and two bursts of 2.
#[test]
fn the_printed_time_of_the_rise_is_refuted() {
    let set = Set {
        levels: 2,
        own: vec![own(false, 6, [2, 0]), own(true, 40, [3, 4])],
        pibs: vec![pibs(false, [(1, 3), (0, 1)], &[0])],
    };
    let printed = bound_of_twin(&set, Some(Mistake::RiseWithoutPibs), 1, 14);
    assert_eq!(printed, Some(9));
    let outcome = test("io-amc-rtb").analyse(&set.problem());
    assert_eq!(bound(&outcome, 1, None, 14), Some(13));
    let mut world = world(&set, vec![vec![2], vec![4], vec![1]]);
    while world.now < 14 {
        let facts = match world.now {
            0 => vec![interrupts(4), world.release(0), world.release(1)],
            6 => vec![world.release(0)],
            _ => Vec::new(),
        };
        world.step(&facts);
    }
    assert_eq!(world.rows[0], "002211002211..");
}

/// Equation 1 without (1 - U) T U. A PIBS of a quarter on behalf of q, T = 16, C = 1, above i, T = 17, C = 9: three events
/// at 0, and more than it can handle from 12 on: 17 where that equation says 14.
#[test]
fn a_pibs_that_ends_early_executes_more_than_its_share_of_a_period() {
    let set = Set {
        levels: 1,
        own: vec![own(false, 16, [1, 1]), own(false, 17, [9, 9])],
        pibs: vec![pibs(false, [(1, 4), (1, 4)], &[0])],
    };
    let without = bound_of_twin(&set, Some(Mistake::NoCarryIn), 1, 10);
    assert_eq!(without, Some(14));
    let outcome = test("ss-pibs-rta").analyse(&set.problem());
    assert_eq!(bound(&outcome, 1, None, 1), None);
    let mut world = world(&set, vec![vec![1], vec![9], vec![1]]);
    while world.now < 17 {
        let facts = match world.now {
            0 => vec![interrupts(3), world.release(1)],
            3 => vec![world.release(0)],
            12 => vec![interrupts(20)],
            _ => Vec::new(),
        };
        world.step(&facts);
    }
    let ran = [
        ('2', 0, 3),
        ('0', 3, 4),
        ('1', 4, 12),
        ('2', 12, 16),
        ('1', 16, 17),
    ];
    assert_eq!(world.rows[0], drawn(&ran, 17));
}

/// Periods of 2^62 ns, and shares whose numerators and denominators fill 64 bits.
#[test]
fn the_largest_numbers_do_not_overflow() {
    let longest = vestal_core::time::HORIZON_NANOS;
    let (n, d) = (u64::MAX / 4, u64::MAX);
    let set = Set {
        levels: 2,
        own: vec![
            own(true, longest, [1, longest / 8]),
            own(true, longest, [1, 2]),
        ],
        pibs: vec![
            pibs(true, [(n, d), (n + 1, d)], &[0, 1]),
            pibs(false, [(n, d), (1, d)], &[1]),
        ],
    };
    let outcome = test("io-amc-rtb:any").analyse(&set.problem());
    // U is 1/4 less 3/4 of 2^-64, so 7/4 T U is as much below 7/16 T, and is rounded down.
    let each = longest / 16 * 7 - 1;
    assert_eq!(bound(&outcome, 0, None, 10), Some(2 * each + 1));
    let full = Set {
        own: vec![own(true, longest, [longest, longest])],
        pibs: vec![pibs(true, [(d, d), (d, d)], &[0])],
        ..set
    };
    let outcome = test("io-amc-rtb").analyse(&full.problem());
    assert_eq!(outcome.verdict, Verdict::NotProven);
}

/// The first takes the whole CPU, and the second asks for one unit more each time.
#[test]
fn what_would_go_on_for_ever_is_not_decided() {
    let year = 365 * 24 * 3600 * 1_000_000_000;
    let set = Set {
        levels: 1,
        own: vec![own(false, 1, [1, 1]), own(false, year, [1, 1])],
        pibs: Vec::new(),
    };
    for name in ["ss-rta", "ss-pibs-rta", "io-amc-rtb", "io-amc-ub"] {
        let outcome = test(name).analyse(&set.problem());
        assert_eq!(outcome.why, Some(Reason::SearchLimit { steps: 1_000_000 }));
        assert_eq!(outcome.verdict, Verdict::NotProven);
    }
}
