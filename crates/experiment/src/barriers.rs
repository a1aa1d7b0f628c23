//! What is claimed of barriers, against meetings of two CPUs that were measured elsewhere.

use crate::verdict::{from_evidence, of_one_measurement};
use std::fmt::Write as _;
use vestal_result::bench::{BarrierMeetings, Barriers};
use vestal_result::claim::{Finding, Verdict};
use vestal_result::shares::ShareCell;
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

/// What was measured, as a section of a page: the machine, what became of the claim, and each barrier.
#[must_use]
pub fn in_short(found: &Barriers) -> String {
    let Barriers {
        machine,
        cpus,
        within_ns,
        barriers,
        claims,
        ..
    } = found;
    let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    let by = format!(
        "{machine}; `vestal bench barriers` on CPUs {}",
        cpus.join(" and ")
    );
    let mut text = of_one_measurement(&by, claims);
    let first = barriers.first().map_or(&[][..], |one| &one.costs);
    let columns = first.iter().map(|cost| {
        let name = &cost.name;
        format!("{name}, us: median | 99 % within")
    });
    let columns: Vec<String> = columns.collect();
    let _ = writeln!(
        text,
        "\nMeetings to which both came at most {} us apart, from when the last one came:\n\n| barrier | meetings | {} |\n|---|---|{}",
        micros(*within_ns),
        columns.join(" | "),
        "---|".repeat(2 * first.len())
    );
    for BarrierMeetings { name, costs, .. } in barriers {
        let count = costs.first().map_or(0, |cost| cost.count);
        let each = costs.iter().flat_map(|cost| [cost.median_ns, cost.p99_ns]);
        let each: Vec<String> = each.map(micros).collect();
        let _ = writeln!(text, "| `{name}` | {count} | {} |", each.join(" | "));
    }
    text
}

/// What barriers took of a CPU in runs on several, in percent of the time, by these variants: a row for each kind of sets.
#[must_use]
pub fn in_runs(cells: &[ShareCell], variants: &[&str]) -> String {
    let mut text = format!(
        "| CPUs | U/m | {} |\n|---|---|{}\n",
        variants.join(" | "),
        "---|".repeat(variants.len())
    );
    let measured = |cell: &&ShareCell| !cell.extrapolated && cell.cpus > 1;
    let place = |cell: &ShareCell| (cell.cpus, cell.utilization_permille);
    let mut places: Vec<_> = cells.iter().filter(measured).map(place).collect();
    places.dedup();
    for (cpus, permille) in places {
        let row = variants.iter().map(|variant| {
            let mut all = cells.iter().filter(measured);
            let cell = all.find(|one| one.variant == *variant && place(one) == (cpus, permille));
            let part = cell.and_then(|cell| cell.parts.get("barrier"));
            part.map_or_else(|| "-".to_owned(), |one| format!("{:.4}", one.mean * 100.0))
        });
        let row: Vec<String> = row.collect();
        let at = permille.map_or_else(
            || "-".to_owned(),
            |one| format!("{}", f64::from(one) / 1000.0),
        );
        let _ = writeln!(text, "| {cpus} | {at} | {} |", row.join(" | "));
    }
    text
}

/// So many nanoseconds as microseconds, to a hundredth.
fn micros(nanos: u64) -> String {
    let hundredths = nanos.saturating_add(5) / 10;
    match hundredths % 100 {
        0 => format!("{}", hundredths / 100),
        rest => format!("{}.{rest:02}", hundredths / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_result::bench::Primitive;
    use vestal_result::shares::PerCpuShare;

    #[test]
    fn a_section_has_the_verdict_and_a_row_for_each_barrier() {
        let cost = |name: &str, median_ns, p99_ns| Primitive {
            name: name.to_owned(),
            count: 40,
            mean_ns: median_ns,
            median_ns,
            p99_ns,
            max_ns: p99_ns,
        };
        let meetings = |name: &str, median| BarrierMeetings {
            name: name.to_owned(),
            apart: 3,
            costs: vec![
                cost("who waited goes on", median, 2 * median),
                cost("both go on", 3 * median, 4 * median),
            ],
        };
        let found = Barriers {
            format: vestal_result::Format::V1,
            bench: "barriers".to_owned(),
            machine: "a machine".to_owned(),
            cpus: vec![1, 0],
            clock_skew: None,
            within_ns: 5_000,
            barriers: vec![meetings("spin", 154), meetings("pthread", 13_000)],
            claims: vec![spinning_takes_a_tenth(&[1; 40], &[100; 40], 5_000)],
        };
        let text = in_short(&found);
        for line in [
            "a machine; `vestal bench barriers` on CPUs 1 and 0.",
            "| vestal | Where two CPUs come to a barrier within 5 us of each other",
            "**confirmed**: spin 1 ns",
            "came at most 5 us apart",
            "| barrier | meetings | who waited goes on, us: median | 99 % within | both go on, us: median | 99 % within |",
            "| `spin` | 40 | 0.15 | 0.31 | 0.46 | 0.62 |",
            "| `pthread` | 40 | 13 | 26 | 39 | 52 |",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }

    #[test]
    fn of_runs_those_on_several_cpus_count_that_were_measured() {
        let cell = |variant: &str, cpus, extrapolated, share| ShareCell {
            variant: variant.to_owned(),
            set: "drawn".to_owned(),
            cpus,
            utilization_permille: Some(200),
            extrapolated,
            runs: 2,
            left_out: 0,
            employed: f64::from(cpus),
            parts: [("barrier", share)]
                .map(|(name, mean)| {
                    let share = PerCpuShare {
                        mean,
                        ..PerCpuShare::default()
                    };
                    (name, share)
                })
                .into_iter()
                .collect(),
            scheduler: PerCpuShare::default(),
            system: None,
        };
        let cells = [
            cell("ftts/spin", 1, false, 0.5),
            cell("ftts/spin", 2, false, 0.0001),
            cell("ftts/futex", 2, false, 0.0002),
            cell("ftts/spin", 2, true, 0.9),
        ];
        let text = in_runs(&cells, &["ftts/spin", "ftts/futex", "ftts/pthread"]);
        assert_eq!(
            text,
            "| CPUs | U/m | ftts/spin | ftts/futex | ftts/pthread |\n|---|---|---|---|---|\n| 2 | 0.2 | 0.0100 | 0.0200 | - |\n"
        );
    }

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
