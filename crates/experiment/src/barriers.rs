//! What is claimed of barriers, against meetings of two CPUs that were measured elsewhere.

use crate::verdict::from_evidence;
use vestal_result::claim::{Finding, Verdict};
use vestal_statistics::{median, median_interval};

/// Both medians are known at once.
const FAMILY: usize = 2;

/// Of a barrier at which CPUs spin before they wait, and of `pthread_barrier_wait`: how long each meeting took, in
/// nanoseconds, in one measurement, where both came within so many nanoseconds.
///
/// The medians are compared, each where its interval ends ([`median_interval`]): both intervals are right together with
/// 99 %.
#[must_use]
pub fn spinning_takes_a_tenth(spin: &[u64], pthread: &[u64], within_nanos: u64) -> Finding {
    let (ours, theirs) = (interval(spin), interval(pthread));
    let verdict = match (ours, theirs) {
        (Some((low, high)), Some((least, most))) => {
            from_evidence(high * 10.0 <= least, low * 10.0 > most)
        }
        (None, _) | (_, None) => Verdict::NotDecided,
    };
    let numbers = [("spin", spin, ours), ("pthread", pthread, theirs)];
    let numbers = numbers.map(|(name, values, interval)| match interval {
        Some((low, high)) => format!(
            "{name} {} ns ({low:.0} to {high:.0}, {} meetings)",
            median(values.to_vec()),
            values.len()
        ),
        None => format!("{name}: {} meetings are too few", values.len()),
    });
    Finding {
        of: "vestal".to_owned(),
        claim: format!(
            "Where two CPUs come to a barrier within {} us of each other, it takes at the spinning barrier at most a tenth of what it takes with `pthread_barrier_wait` until both have gone on, in the median.",
            within_nanos / 1_000
        ),
        verdict,
        numbers: numbers.join(", "),
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of one meeting")]
fn interval(values: &[u64]) -> Option<(f64, f64)> {
    let values = values.iter().map(|&value| value as f64);
    median_interval(values.collect(), FAMILY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(spin: &[u64], pthread: &[u64]) -> Verdict {
        spinning_takes_a_tenth(spin, pthread, 5_000).verdict
    }

    #[test]
    fn a_tenth_is_the_border_and_both_intervals_have_to_leave_no_doubt() {
        let all = |value: u64| vec![value; 40];
        assert_eq!(verdict(&all(1_000), &all(10_000)), Verdict::Confirmed);
        assert_eq!(verdict(&all(1_001), &all(10_000)), Verdict::Refuted);
        // From 900 to 1100: the median may be on either side.
        let around: Vec<u64> = (0..40).map(|step| 900 + 5 * step).collect();
        assert_eq!(verdict(&around, &all(10_000)), Verdict::NotDecided);
        // What a machine that is taken away adds to a few of them changes nothing.
        let disturbed = [all(1_000), vec![1_000_000; 10]].concat();
        assert_eq!(verdict(&disturbed, &all(10_000)), Verdict::Confirmed);
    }

    #[test]
    fn a_few_meetings_decide_nothing_and_say_so() {
        let few = spinning_takes_a_tenth(&[1; 5], &[100; 40], 5_000);
        assert_eq!(few.verdict, Verdict::NotDecided);
        assert!(few.numbers.contains("5 meetings are too few"), "{few:?}");
        assert!(few.claim.contains("within 5 us"), "{few:?}");
        let ours = few
            .numbers
            .contains("pthread 100 ns (100 to 100, 40 meetings)");
        assert!(ours, "{few:?}");
    }
}
