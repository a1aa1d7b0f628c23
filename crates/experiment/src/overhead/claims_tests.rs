//! Claims against made-up data of which the answer is known.

use super::*;
use crate::overhead::Run;
use crate::overhead::result::tests::run;

/// Twenty repetitions with 4, 8 and 12 tasks in which each variant takes so many microseconds more.
fn table(extra: &[(&str, u64)]) -> Table {
    let mut runs: Vec<Run> = Vec::new();
    for repetition in 0..20 {
        for size in [4, 8, 12] {
            for (name, more) in extra {
                runs.push(run(
                    repetition,
                    size,
                    name,
                    10_000 + more + u64::from(repetition % 3),
                ));
            }
        }
    }
    Table::of(runs)
}

/// One repetition with 8 tasks in which our threads take so many nanoseconds.
fn own_cpu_of(times: &[(&str, u64)]) -> Table {
    let runs = times.iter().map(|(name, nanos)| Run {
        own_cpu_ns: *nanos,
        ..run(0, 8, name, 1_000_000)
    });
    Table::of(runs.collect())
}

/// 2 us and half a microsecond for each thread; the first is ten times as dear.
fn preemptions() -> Vec<Preemptions> {
    let rows = [1, 2, 4, 8].map(|threads: u64| {
        let later = 2000 + 500 * threads;
        Preemptions {
            threads: threads as usize,
            preemption_ns: (4000, 9000),
            return_ns: (1000, 2000),
            first_ns: (10 * later, 11 * later),
            later_ns: (later, 2.0, 3 * later),
        }
    });
    rows.to_vec()
}

fn verdict(found: &[Finding], words: &str) -> Verdict {
    let mut fitting = found.iter().filter(|finding| finding.claim.contains(words));
    let finding = fitting.next().unwrap();
    assert!(fitting.next().is_none(), "{words}");
    finding.verdict
}

#[test]
fn data_like_the_papers_confirm_its_claims() {
    let found = findings(
        &table(&[
            ("smc/none", 0),
            ("zss/huang2014", 50),
            ("amc/perf", 60),
            ("amc/huang2014", 300),
            ("plrs/managed", 310),
            ("pt/huang2014", 900),
        ]),
        &own_cpu_of(&[
            ("amc/perf", 300),
            ("amc/huang2014", 900),
            ("pt/native", 460),
            ("pt/huang2014", 900),
        ]),
        &preemptions(),
    );
    for finding in &found {
        let expected = match finding.claim {
            // All managers of the data cost the same.
            claim if claim.contains("then FTP-AMC, PT, ZSS") => Verdict::Refuted,
            // There, own CPU time is the length, and nearly all variants' is the same.
            claim if claim.contains("per busy period is at most a third") => Verdict::Refuted,
            // 460 of 900 is more than half; 300 of 900 is a third.
            claim if claim.contains("half") => Verdict::Refuted,
            claim if claim.contains("at most twice more") => Verdict::Refuted,
            _ => Verdict::Confirmed,
        };
        assert_eq!(finding.verdict, expected, "{finding:?}");
    }
}

#[test]
fn reversed_data_refute_them() {
    let extra = [
        ("smc/none", 900),
        ("zss/native", 310),
        ("amc/perf", 300),
        ("plrs/managed", 50),
        ("pt/managed", 0),
    ];
    let rows: Vec<Preemptions> = preemptions()
        .into_iter()
        .map(|row| Preemptions {
            preemption_ns: (1000 * row.threads as u64, 0),
            first_ns: (1, 0),
            // Up and down.
            later_ns: ((row.threads as u64 * 7) % 5 + 1, 0.0, 0),
            ..row
        })
        .collect();
    let found = findings(&table(&extra), &table(&[]), &rows);
    for words in [
        "under FTP-SMC than under ZSS",
        "under ZSS than under FTP-AMC",
        "under FTP-AMC than under PLRS",
        "under PLRS than under PT",
        "equally often",
        "do not depend",
        "linear",
        "far more",
    ] {
        assert_eq!(verdict(&found, words), Verdict::Refuted, "{words}");
    }
    assert_eq!(verdict(&found, "at most 4.2 %"), Verdict::Confirmed);
}

#[test]
fn what_was_not_measured_or_does_not_differ_is_not_decided() {
    let found = findings(
        &table(&[("smc/none", 0), ("zss/native", 0)]),
        &table(&[]),
        &[],
    );
    for finding in &found {
        assert_eq!(finding.verdict, Verdict::NotDecided, "{finding:?}");
    }
}

#[test]
fn a_line_is_found() {
    let (slope, offset, explained) = line(&[(1.0, 3.0), (2.0, 5.0), (4.0, 9.0)]).unwrap();
    assert!((slope - 2.0).abs() < 1e-9 && (offset - 1.0).abs() < 1e-9);
    assert!((explained - 1.0).abs() < 1e-9);
    assert_eq!(line(&[(1.0, 3.0), (2.0, 5.0)]), None);
}

#[test]
fn differences_refute_only_for_certain_and_confirm_only_with_enough_of_them() {
    let verdict = |differences: Vec<f64>| Difference::within(differences, -2.0, 2.0).verdict;
    assert_eq!(verdict(vec![1.0; 20]), Verdict::Confirmed);
    assert_eq!(verdict(vec![2.0; 20]), Verdict::Confirmed);
    assert_eq!(verdict(vec![3.0; 20]), Verdict::Refuted);
    assert_eq!(verdict(vec![-3.0; 20]), Verdict::Refuted);
    assert_eq!(verdict(vec![1.0; 7]), Verdict::NotDecided);
    let mixed = [vec![3.0; 11], vec![1.0; 9]].concat();
    assert_eq!(verdict(mixed), Verdict::NotDecided);
    assert_eq!(Difference::all(std::iter::empty()).0, Verdict::NotDecided);
}
