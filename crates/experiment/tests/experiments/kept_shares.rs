//! The measurement of shares of the time that the documentation shows: what was measured follows from
//! `docs/overhead/sigrist2015/runs.jsonl`, what was reckoned stands in `result.json` beside it. `scripts/keep-overhead.sh DIR` keeps
//! another one; it calls this test with `VESTAL_BLESS=1`. What was measured with pairs of sets is in `paired` below, in the same files, and has the
//! word about the claims that it is measured for.

use crate::kept::{docs, expect, expect_files, expect_part};
use std::fs;
use std::path::Path;
use vestal_experiment::overhead::journal;
use vestal_experiment::overhead::sigrist2015::charts;
use vestal_experiment::overhead::sigrist2015::claims::{Measured, findings, with_pairs};
use vestal_experiment::overhead::sigrist2015::page::{in_short, page};
use vestal_experiment::overhead::sigrist2015::table::Table;
use vestal_result::claim::Finding;
use vestal_result::shares::{ShareCell, Shares};

pub(crate) const BEGIN: &str = "<!-- begin: shares, written by scripts/keep-overhead.sh -->\n";
const COMMAND: &str = "vestal bench overhead --paper sigrist2015 -o DIR";

const NOTHING: &str = "No measurement is kept in this version.\n";

/// What is kept in a folder, once it is known that its result is that of its runs: the result, the program's version, and the runs.
fn kept(folder: &Path) -> (Shares, String, Table) {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let shares: Shares = serde_json::from_str(&read("result.json")).unwrap();
    let (head, runs) = journal::parse(&read("runs.jsonl")).unwrap().unwrap();
    let table = Table::of(runs);
    let cells = table.cells().into_iter();
    let (drawn, flight): (Vec<_>, Vec<_>) = cells.partition(|it| it.utilization_permille.is_some());
    let extrapolated = extrapolated(&shares);
    let again = Shares {
        cells: [drawn, extrapolated.clone()].concat(),
        flight,
        claims: findings(Measured {
            table: &table,
            extrapolated: &extrapolated,
            paired: shares.paired,
        }),
        ..shares.clone()
    };
    assert!(!shares.interrupted);
    assert_eq!(shares, again, "result.json is of these runs");
    (shares, head.version, table)
}

fn extrapolated(shares: &Shares) -> Vec<ShareCell> {
    let reckoned = shares.cells.iter().filter(|cell| cell.extrapolated);
    reckoned.cloned().collect()
}

/// The files of a measurement, beside its charts.
const FILES: [&str; 3] = ["claims.md", "result.json", "runs.jsonl"];

/// The page about pairs in a folder, if any are kept, and what they say of claims.
fn pairs(folder: &Path) -> Vec<Finding> {
    if !folder.exists() {
        return Vec::new();
    }
    let (shares, version, _) = kept(folder);
    assert!(shares.paired);
    let command = COMMAND.replace(" -o", " --paired -o");
    let about = page(&shares, (&command, &version), &[]);
    expect(&folder.join("claims.md"), &about);
    expect_files(folder, FILES.map(str::to_owned).to_vec());
    shares.claims
}

#[test]
fn what_the_documentation_says_of_shares_follows_from_their_runs() {
    let folder = docs().join("overhead/sigrist2015");
    if !folder.exists() {
        return expect_part(&docs().join("overhead.md"), BEGIN, NOTHING);
    }
    let (shares, version, table) = kept(&folder);
    assert!(!shares.paired);
    let charts = charts::all(&table, &extrapolated(&shares));
    let names: Vec<String> = charts.iter().map(|(name, _)| name.clone()).collect();
    let shown = Shares {
        claims: with_pairs(&shares.claims, &pairs(&folder.join("paired"))),
        ..shares
    };
    let whole = page(&shown, (COMMAND, &version), &names);
    expect(&folder.join("claims.md"), &whole);
    let short = in_short(
        &shown,
        (COMMAND, &version),
        (table.runs(), "overhead/sigrist2015/claims.md"),
    );
    expect_part(&docs().join("overhead.md"), BEGIN, &format!("\n{short}\n"));
    for (name, chart) in &charts {
        expect(&folder.join(name), &chart.to_svg());
    }
    expect_files(&folder, [names, FILES.map(str::to_owned).to_vec()].concat());
}
