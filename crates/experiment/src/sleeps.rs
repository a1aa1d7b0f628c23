//! What Sigrist et al. (RTAS 2015, appendix A) say of the smallest sleep, against sleeps that were measured elsewhere.

use crate::verdict::from_evidence;
use vestal_result::bench::Sleep;
use vestal_result::claim::{Finding, Verdict};

/// What a few microseconds are at most: the paper says "in the region of a few microseconds" and draws it.
const FEW_NANOS: u64 = 10_000;

/// The smallest delay lies in the region of a few microseconds, as on the paper's Core i5. Judged are the 98 % of sleeps with
/// the argument whose median is the smallest.
#[must_use]
pub fn smallest_takes_microseconds(sleeps: &[Sleep]) -> Finding {
    let smallest = sleeps.iter().min_by_key(|sleep| sleep.median_ns);
    let (verdict, numbers) = match smallest {
        Some(Sleep {
            argument_ns,
            count,
            median_ns,
            low_ns,
            high_ns,
            ..
        }) => (
            from_evidence(*high_ns <= FEW_NANOS, *low_ns > FEW_NANOS),
            format!(
                "{median_ns} ns in the median for an argument of {argument_ns} ns, 98 % of {count} sleeps between {low_ns} and {high_ns} ns, against {FEW_NANOS} ns"
            ),
        ),
        None => (Verdict::NotDecided, "nothing was measured".to_owned()),
    };
    Finding {
        of: "paper".to_owned(),
        claim: "The smallest delay of `clock_nanosleep` lies in the region of a few microseconds, as on the Core i5 (10 ms on the Xeon Phi).".to_owned(),
        verdict,
        numbers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleep(argument_ns: u64, low_ns: u64, median_ns: u64, high_ns: u64) -> Sleep {
        Sleep {
            argument_ns,
            count: 100,
            mean_ns: median_ns,
            median_ns,
            low_ns,
            high_ns,
        }
    }

    #[test]
    fn the_interval_of_the_smallest_sleep_has_to_leave_no_doubt() {
        let long = sleep(1_000_000, 1_001_000, 1_002_000, 1_003_000);
        let verdict = |shortest| smallest_takes_microseconds(&[long.clone(), shortest]).verdict;
        assert_eq!(verdict(sleep(1, 1_000, 3_000, 10_000)), Verdict::Confirmed);
        assert_eq!(verdict(sleep(1, 1_000, 3_000, 10_001)), Verdict::NotDecided);
        assert_eq!(
            verdict(sleep(1, 10_000, 13_000, 20_000)),
            Verdict::NotDecided
        );
        assert_eq!(verdict(sleep(1, 10_001, 13_000, 20_000)), Verdict::Refuted);
        assert_eq!(
            smallest_takes_microseconds(&[]).verdict,
            Verdict::NotDecided
        );
        let found = smallest_takes_microseconds(&[long, sleep(5, 1_000, 3_000, 4_000)]);
        assert!(
            found
                .numbers
                .starts_with("3000 ns in the median for an argument of 5 ns")
        );
    }
}
