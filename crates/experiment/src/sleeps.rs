//! What Sigrist et al. (RTAS 2015, appendix A) say of the smallest sleep, against sleeps that were measured elsewhere.

use crate::verdict::{from_evidence, of_one_measurement};
use std::fmt::Write as _;
use vestal_result::bench::{Sleep, Sleeps};
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

/// What was measured, as a section of a page: the machine, what became of the claim, and each argument.
#[must_use]
pub fn in_short(found: &Sleeps) -> String {
    let Sleeps {
        machine,
        cpu,
        sleeps,
        claims,
        ..
    } = found;
    let by = format!("{machine}; `vestal bench sleeps` on CPU {cpu}");
    let mut text = of_one_measurement(&by, claims);
    text.push_str(
        "\n| argument, us | sleeps | median, us | 98 % from | to |\n|---|---|---|---|---|\n",
    );
    for sleep in sleeps {
        let times = [
            sleep.argument_ns,
            sleep.median_ns,
            sleep.low_ns,
            sleep.high_ns,
        ];
        let [argument, median, low, high] = times.map(micros);
        let count = sleep.count;
        let _ = writeln!(text, "| {argument} | {count} | {median} | {low} | {high} |");
    }
    text
}

/// So many nanoseconds as microseconds, exactly.
fn micros(nanos: u64) -> String {
    let (whole, rest) = (nanos / 1_000, nanos % 1_000);
    match rest {
        0 => format!("{whole}"),
        rest => format!("{whole}.{rest:03}"),
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

    #[test]
    fn a_section_has_the_verdict_and_a_row_for_each_argument() {
        let sleeps = vec![
            sleep(1, 1_000, 3_000, 4_070),
            sleep(2_000_000, 2_001_000, 2_002_000, 2_003_000),
        ];
        let found = Sleeps {
            format: vestal_result::Format::V1,
            bench: "sleeps".to_owned(),
            machine: "a machine".to_owned(),
            cpu: 3,
            claims: vec![smallest_takes_microseconds(&sleeps)],
            sleeps,
        };
        let text = in_short(&found);
        for line in [
            "a machine; `vestal bench sleeps` on CPU 3.",
            "**confirmed**: 3000 ns in the median",
            "| 0.001 | 100 | 3 | 1 | 4.070 |",
            "| 2000 | 100 | 2002 | 2001 | 2003 |",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
