//! How long threads sleep: order and counts, no times but those that were asked for.

use vestal_bench::sleeps::measure;
use vestal_testkit::machine::{alone, real_time_threads};

#[test]
fn nobody_sleeps_for_less_than_asked_and_longer_arguments_take_longer() {
    let _alone = alone();
    let arguments = [1, 1_000, 1_000_000, 100_000_000];
    let (_, sleeps) = measure(&arguments).unwrap();
    let counts: Vec<u64> = sleeps.iter().map(|sleep| sleep.count).collect();
    assert_eq!(counts, [1_000, 1_000, 500, 5]);
    for sleep in &sleeps {
        assert!(sleep.low >= sleep.argument, "{sleep:?}");
        let [low, median, high] = [sleep.low, sleep.median, sleep.high];
        assert!(low <= median && median <= high, "{sleep:?}");
    }
    // What a sleep takes beyond its argument hides what a nanosecond is, and not what a millisecond is.
    assert!(sleeps[0].median < sleeps[2].median, "{sleeps:?}");
    assert!(sleeps[2].median < sleeps[3].median, "{sleeps:?}");
    assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
}
