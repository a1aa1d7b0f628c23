//! A second paper is a second table: other variants, another baseline, other names and claims, and no line elsewhere.

use super::claims::{Claim, order};
use super::page::{Circumstances, claims_page};
use super::paper::{PaperCell, Plan, Printed, Set, Titles};
use super::result::tests::run;
use super::variant::{Variant, native};
use super::*;
use crate::columns::csv;
use vestal_core::Task;
use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

const SLOW: &str = "with barriers";
const FAST: &str = "partitioned";

const VARIANTS: &[Variant] = &[
    native(
        "edf-vd/managed",
        "edf-vd",
        SLOW,
        "dispatched by the manager",
    )
    .managed(),
    native("edf/managed", "edf", FAST, "the baseline").managed(),
];

static MADE_UP: Paper = Paper {
    name: "made-up",
    what: "Figure 9 of nobody",
    titles: Titles {
        busy_periods: "Table 9",
        busy_periods_file: "table9.csv",
        invocations: "Table 10",
        invocations_file: "table10.csv",
        preemptions: "Fig. 11",
        preemptions_file: "fig11.csv",
        charts: ["a.svg", "b.svg", "c.svg", "d.svg"],
    },
    variants: VARIANTS,
    baseline: 1,
    columns: &[SLOW, FAST],
    printed: Printed {
        busy_period: |size, column| {
            (size == 4 && column == SLOW).then_some(PaperCell {
                busy_us: 4321,
                overhead_milli_percent: 1234,
                switches: 5,
            })
        },
        invocation: |_| None,
        preemption_ns: 1,
        return_ns: 2,
        adjustment_of_8_ns: 3,
    },
    set: Set {
        sizes: &[4, 5],
        tasks: |size| -> Vec<Task> { (HUANG2014.set.tasks)(size) },
        ..HUANG2014.set
    },
    full: Plan { ..HUANG2014.full },
    quick: Plan { ..HUANG2014.quick },
    claims: &[Claim::of_paper("Barriers cost.", |m| {
        order(m.table, FAST, SLOW, false)
    })],
};

/// Busy periods of both variants, in microseconds, in twelve repetitions.
fn measurement(slow: u64, fast: u64) -> Measurement {
    let mut runs = Vec::new();
    for repetition in 0..12 {
        for size in [4, 5] {
            for (variant, busy) in [(0, slow), (1, fast)] {
                // What a run is like, but of this paper's variants.
                let like = run(repetition, size, "smc/none", busy + u64::from(repetition));
                runs.push(Run { variant, ..like });
            }
        }
    }
    Measurement {
        circumstances: Circumstances {
            command: "vestal bench overhead --paper made-up".to_owned(),
            version: "0".to_owned(),
            machine: "a machine".to_owned(),
            repetitions: 12,
            not_run: Vec::new(),
        },
        table: Table::of(&MADE_UP, runs),
        whole: Table::of(&MADE_UP, Vec::new()),
        preemptions: Vec::new(),
    }
}

#[test]
fn its_claims_are_confirmed_refuted_and_left_open() {
    let verdict = |slow, fast| measurement(slow, fast).findings()[0].verdict;
    assert_eq!(verdict(1100, 1000), Confirmed);
    assert_eq!(verdict(1000, 1100), Refuted);
    let mut open = measurement(1100, 1000);
    open.table = Table::of(&MADE_UP, open.table.runs()[..8].to_vec());
    assert_eq!(open.findings()[0].verdict, NotDecided);
    let unmeasured = measurement(1, 1);
    let only = unmeasured
        .table
        .runs()
        .iter()
        .filter(|run| run.variant == 1);
    let table = Table::of(&MADE_UP, only.copied().collect());
    let (verdict, numbers) = order(&table, FAST, SLOW, false);
    assert_eq!(
        (verdict, numbers.as_str()),
        (NotDecided, "not measured: with barriers")
    );
}

#[test]
fn its_page_and_files_have_its_names_and_numbers() {
    let measurement = measurement(1100, 1000);
    let page = claims_page(&measurement);
    for words in [
        "Figure 9 of nobody, on this machine: a machine",
        "| 1 | paper | Barriers cost. | **confirmed** |",
        "## Table 9: busy periods",
        "## Table 10: invocations of the manager",
        "## Fig. 11\n\nNot measured.",
        "(4321 us, 1.234 %, 5)",
        "`table9.csv` medians",
        "`set-5.toml`",
        "![overhead over fixed priorities alone](a.svg)",
        "| edf/managed | the baseline |",
    ] {
        assert!(page.contains(words), "{words} is not in {page}");
    }
    assert!(!page.contains("Huang") && !page.contains("smc"), "{page}");
    let table = &measurement.table;
    // The baseline is the second one here.
    let extra = table.cell(4, 0).unwrap().extra_ns.unwrap();
    assert!((extra.median - 100_000.0).abs() < 1e-9, "{extra:?}");
    let text = csv(tables::BUSY_PERIODS, &table.printed());
    assert!(
        text.contains("4,edf-vd/managed,") && text.contains(",4321,1.234,5"),
        "{text}"
    );
    let runs = csv(tables::RUNS, &table.named_runs());
    assert_eq!(runs.matches("edf/managed").count(), 24);
}

#[test]
fn a_kept_measurement_says_whose_it_is_unless_it_is_the_first_paper_s() {
    let text = measurement(1100, 1000).to_json().unwrap();
    assert!(text.contains("\"paper\": \"made-up\""), "{text}");
    // It is in no list of papers.
    let error = Measurement::from_json(&text).unwrap_err();
    assert!(
        error.contains("there is no measurement of `made-up`"),
        "{error}"
    );
    for paper in PAPERS {
        assert_eq!(paper_of(paper.name), Some(*paper));
    }
    assert_eq!(paper_of("made-up"), None);
}
