//! Growth of what FTTS takes, judged of all places together.
//!
//! Pairs of sets at each place leave it open where it is small beside how sets differ. Here each number of sets is one value, the mean over
//! the other axis of what its own sets differ by, and there are three times as many. That is a weaker statement: what grows so may shrink
//! at one of the places.

use super::claims::{Answer, Claim, Measured, at_each, not_measured, of_paper, scheduler};
use super::plan::GROWTH;
use super::run::Place;
use super::variant::Kind;
use crate::number::as_f64;

/// *Grows* is by at least so much for each time that what it grows with doubles: a tenth from one CPU to two, and a fifth where utilization is
/// four times as large. The bound is ours. The paper says that overheads increase with the number of tasks, which is about proportional to
/// both (section VII-A), so that it is a small part of what is claimed; with the bound 0 no measurement could refute what stays the same.
const LEAST: f64 = 0.1;

/// What is claimed of both axes, of pairs at each place, too.
pub const WITH_CPUS: &str =
    "What FTTS takes grows with the number of cores (Fig. 6): from 1 to 2 CPUs.";
/// The same of the other one.
pub const WITH_UTILIZATION: &str = "What FTTS takes grows with utilization: on 1 and on 2 CPUs.";

/// What is judged of all places together. That something grows at all was beside, with its interval, in the plan from which the kept measurement
/// was made, and has rows of its own since.
pub const CLAIMS: &[Claim] = &[
    of_paper(WITH_CPUS, |m| with_cpus(m, LEAST)),
    of_paper(
        "What FTTS takes is more on 2 CPUs than on 1 at all, by however little.",
        |m| with_cpus(m, 0.0),
    ),
    of_paper(WITH_UTILIZATION, |m| with_utilization(m, LEAST)),
    of_paper(
        "What FTTS takes is more at U/m = 0.4 than at 0.1 at all, by however little.",
        |m| with_utilization(m, 0.0),
    ),
];

/// By number the mean over pairs of places of `value`, which takes the share at the first and at the second place of a pair; numbers that
/// have no run at one of them are left out.
fn pooled(
    m: Measured<'_>,
    name: &str,
    pairs: &[[Place; 2]],
    value: impl Fn(f64, f64) -> f64,
) -> Vec<f64> {
    let each = pairs
        .iter()
        .map(|pair| pair.map(|place| m.table.shares(place, name, &scheduler)));
    let each: Vec<_> = each.collect();
    let of = |shares: &[(u32, f64)], number: u32| {
        let mut all = shares.iter();
        all.find(|(known, _)| *known == number)
            .map(|(_, share)| *share)
    };
    let numbers = each
        .first()
        .map(|[first, _]| first.as_slice())
        .unwrap_or_default();
    let values = numbers.iter().filter_map(|&(number, _)| {
        let differences = each
            .iter()
            .map(|[first, second]| Some(value(of(first, number)?, of(second, number)?)));
        let sum = differences.sum::<Option<f64>>()?;
        Some(sum / as_f64(pairs.len() as u64))
    });
    values.collect()
}

const fn place(cpus: u16, permille: u32) -> Place {
    Place::Drawn { cpus, permille }
}

/// The lowest and the highest of some values, if they are two.
fn ends<T: Copy + Ord>(all: &[T]) -> Option<[T; 2]> {
    let (least, most) = (*all.iter().min()?, *all.iter().max()?);
    (least < most).then_some([least, most])
}

const UP: (f64, f64) = (f64::MIN_POSITIVE, f64::INFINITY);

/// What is taken at the second place of each pair against what is taken at the first, of which it has to be more by `least` for each of the
/// doublings between them.
fn grown(
    m: Measured<'_>,
    (named, doublings): (&str, f64),
    least: f64,
    pairs: &[[Place; 2]],
) -> Answer {
    let Some(variant) = m.table.stands_for(Kind::Frames) else {
        return not_measured(Kind::Frames.title());
    };
    let factor = 1.0 + least * doublings;
    let value = |first: f64, second: f64| second - factor * first;
    let values = pooled(m, variant.name, pairs, value);
    let (verdict, shown) = at_each(m, &["over all places".to_owned()], vec![values], UP);
    let what = match least > 0.0 {
        true => format!("the former minus {factor:.1} times the latter"),
        false => "the former minus the latter".to_owned(),
    };
    let numbers = format!(
        "{}: what it takes {named}, {what}, in percent of the time, means of each number of sets, where ours for growing is above 0: {shown}",
        variant.name
    );
    (verdict, numbers)
}

fn with_cpus(m: Measured<'_>, least: f64) -> Answer {
    let Some([few, many]) = ends(GROWTH.cpus) else {
        return not_measured(Kind::Frames.title());
    };
    let pairs = GROWTH
        .permille
        .iter()
        .map(|&permille| [place(few, permille), place(many, permille)]);
    let doublings = (f64::from(many) / f64::from(few)).log2();
    let named = format!("with {many} CPUs against what it takes with {few}");
    grown(m, (&named, doublings), least, &pairs.collect::<Vec<_>>())
}

fn with_utilization(m: Measured<'_>, least: f64) -> Answer {
    let Some([low, high]) = ends(GROWTH.permille) else {
        return not_measured(Kind::Frames.title());
    };
    let pairs = GROWTH
        .cpus
        .iter()
        .map(|&cpus| [place(cpus, low), place(cpus, high)]);
    let doublings = (f64::from(high) / f64::from(low)).log2();
    let [low, high] = [low, high].map(|permille| f64::from(permille) / 1000.0);
    let named = format!("at U/m {high} against what it takes at U/m {low}");
    grown(m, (&named, doublings), least, &pairs.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::super::claims::findings;
    use super::super::made_up::{drawn, made, table_of};
    use super::super::run::Run;
    use super::*;
    use vestal_result::claim::Finding;
    use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};
    use vestal_result::shares::Measurement;

    const FTTS: &str = "ftts/sigrist2015";

    /// Of so many sets; what FTTS takes of number n at a place.
    fn runs(sets: u32, nanos: impl Fn(u16, u32, u64) -> u64) -> Vec<Run> {
        let places = [(1, 100), (1, 400), (2, 100), (2, 400)].into_iter();
        let each = places.flat_map(|(cpus, permille)| {
            let nanos = &nanos;
            let run = move |number: u32| {
                let nanos = nanos(cpus, permille, u64::from(number));
                made(drawn(cpus, permille), number, FTTS, nanos)
            };
            (0..sets).map(run)
        });
        each.collect()
    }

    fn found(runs: Vec<Run>) -> [Finding; 4] {
        let all = findings(Measured {
            table: &table_of(runs),
            extrapolated: &[],
            measurement: Measurement::Growth,
        });
        all.try_into().unwrap()
    }

    fn verdicts(runs: Vec<Run>) -> [vestal_result::claim::Verdict; 4] {
        found(runs).map(|one| one.verdict)
    }

    /// Sets differ by ten times what the number of CPUs and utilization change.
    #[test]
    fn growth_is_found_below_how_sets_differ_and_each_answer_is_given() {
        let base = |n: u64| 1_000 + n * 100;
        let grown = |n: u64, cpus: u16, permille: u32, (by_cpu, by_load): (u64, u64)| {
            let more = u64::from(cpus - 1) * by_cpu + u64::from(permille / 400) * by_load;
            base(n) + base(n) * more / 1_000
        };
        let up = runs(20, |cpus, permille, n| grown(n, cpus, permille, (150, 250)));
        assert_eq!(verdicts(up), [Confirmed; 4]);
        let down = runs(20, |cpus, permille, n| {
            grown(n, 3 - cpus, 500 - permille, (150, 250))
        });
        assert_eq!(verdicts(down), [Refuted; 4]);
        // By more and by less than the bound, by turns.
        let open = runs(20, |cpus, permille, n| {
            let by = if n % 2 == 0 { (50, 150) } else { (150, 260) };
            grown(n, cpus, permille, by)
        });
        let bound = [NotDecided, Confirmed];
        assert_eq!(verdicts(open), [bound, bound].concat()[..]);
        // Up and down, by turns.
        let open = runs(20, |cpus, permille, n| match n % 2 {
            0 => grown(n, cpus, permille, (150, 250)),
            _ => grown(n, 3 - cpus, 500 - permille, (150, 250)),
        });
        assert_eq!(verdicts(open), [NotDecided; 4]);
        let few = runs(5, |cpus, permille, n| {
            base(n) * u64::from(cpus) * u64::from(permille)
        });
        assert_eq!(verdicts(few), [NotDecided; 4]);
    }

    /// By hand, of 0.1 % at the first of both places.
    #[test]
    fn what_grows_by_less_than_the_bound_grows_all_the_same() {
        let runs = runs(12, |cpus, permille, _| {
            let more = if permille == 400 { 100 } else { 0 };
            1_000 + more + if cpus == 2 { 50 } else { 0 }
        });
        let found = found(runs);
        // Means of 50 - 100 and 50 - 110 ns of a millisecond, and of 100 - 200 and 100 - 210 ns.
        for (found, verdict, of, numbers) in [
            (
                &found[0],
                Refuted,
                "with 2 CPUs against what it takes with 1, the former minus 1.1 times the latter",
                "-0.0055 (-0.0055 to -0.0055",
            ),
            (
                &found[1],
                Confirmed,
                "with 2 CPUs against what it takes with 1, the former minus the latter",
                "0.0050 (0.0050 to 0.0050",
            ),
            (
                &found[2],
                Refuted,
                "at U/m 0.4 against what it takes at U/m 0.1, the former minus 1.2 times the latter",
                "-0.0105 (-0.0105 to -0.0105",
            ),
            (
                &found[3],
                Confirmed,
                "at U/m 0.4 against what it takes at U/m 0.1, the former minus the latter",
                "0.0100 (0.0100 to 0.0100",
            ),
        ] {
            assert_eq!(found.verdict, verdict, "{found:?}");
            let numbers = format!("over all places {numbers}; {verdict}; 12 sets");
            for words in [of, numbers.as_str()] {
                assert!(found.numbers.contains(words), "{words} is not in {found:?}");
            }
        }
    }

    /// A number that lacks one of its four runs is no value.
    #[test]
    fn numbers_without_all_their_runs_are_left_out() {
        let mut runs = runs(14, |cpus, _, n| 1_000 + n + u64::from(cpus));
        runs.retain(|run| run.number != 3 || run.place != drawn(2, 400));
        for run in runs.iter_mut().filter(|run| run.number == 5) {
            run.kept = run.place != drawn(1, 100);
        }
        for one in found(runs) {
            assert!(one.numbers.contains("; 12 sets;"), "{one:?}");
        }
    }
}
