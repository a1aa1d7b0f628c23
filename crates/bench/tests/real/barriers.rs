//! What it takes two CPUs to meet, by barrier: medians, and which of them is how much above another.

use vestal_bench::barriers::{APART_NANOS, Meetings, cpus, measure};
use vestal_experiment::barriers::spinning_takes_a_tenth;
use vestal_linux::measure::Pair;
use vestal_linux::{Barrier, Clock, Rights};
use vestal_result::claim::{Finding, Verdict};
use vestal_testkit::machine::{alone, await_calm, real_time_threads, stolen_of_all};

const KINDS: [Barrier; 3] = [Barrier::Spin, Barrier::Futex, Barrier::Pthread];
const ROUNDS: u32 = 400;

/// What the barriers came to, and what that says of the claim; whoever waited at the spinning one goes on so much later.
fn measured(delay_nanos: u64) -> (Vec<Meetings>, Finding) {
    let pairs = KINDS.map(|kind| match kind {
        Barrier::Spin => Pair::new(kind, Clock::Monotonic)
            .unwrap()
            .with_delay(delay_nanos),
        Barrier::Futex | Barrier::Pthread => Pair::new(kind, Clock::Monotonic).unwrap(),
    });
    let found = measure(cpus().unwrap().unwrap(), pairs.into(), ROUNDS).unwrap();
    let claim = spinning_takes_a_tenth(&found[0].both, &found[2].both, APART_NANOS);
    assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
    (found, claim)
}

/// Where the hypervisor took the CPUs, once more.
fn expect(delay_nanos: u64, verdict: Verdict) -> Vec<Meetings> {
    for _ in 1..3 {
        let before = stolen_of_all();
        let (found, claim) = measured(delay_nanos);
        if claim.verdict == verdict || stolen_of_all() == before {
            assert_eq!(claim.verdict, verdict, "{claim:?}");
            return found;
        }
        await_calm();
    }
    let (found, claim) = measured(delay_nanos);
    assert_eq!(claim.verdict, verdict, "{claim:?}");
    found
}

#[test]
fn to_meet_at_the_spinning_barrier_takes_a_tenth_of_the_time_unless_it_is_delayed() {
    let _alone = alone();
    if Rights::probe().processors.len() < 2 {
        return;
    }
    for meetings in expect(0, Verdict::Confirmed) {
        let counted = meetings.both.len() as u64;
        assert_eq!(counted + meetings.apart, u64::from(ROUNDS));
        // They know when to come.
        assert!(counted > u64::from(ROUNDS) / 2, "{meetings:?}");
        let mut each = meetings.passed.iter().zip(&meetings.both);
        assert!(each.all(|(passed, both)| passed <= both));
    }
    // The control: 20 us on top, as a wake-up by the kernel takes.
    expect(20_000, Verdict::Refuted);
}
