//! The measurement of shares of the time that the documentation shows: what was measured follows from
//! `docs/overhead/sigrist2015/runs.jsonl`, what was reckoned stands in `result.json` beside it. `scripts/keep-overhead.sh DIR` keeps
//! another one; it calls this test with `VESTAL_BLESS=1`.

use crate::kept::{docs, expect, expect_files, expect_part};
use std::fs;
use vestal_experiment::overhead::journal;
use vestal_experiment::overhead::sigrist2015::charts;
use vestal_experiment::overhead::sigrist2015::claims::{Measured, findings};
use vestal_experiment::overhead::sigrist2015::page::{in_short, page};
use vestal_experiment::overhead::sigrist2015::table::Table;
use vestal_result::shares::{ShareCell, Shares};

pub(crate) const BEGIN: &str = "<!-- begin: shares, written by scripts/keep-overhead.sh -->\n";
const COMMAND: &str = "vestal bench overhead --paper sigrist2015 -o DIR";

const NOTHING: &str = "No measurement is kept in this version.\n";

#[test]
fn what_the_documentation_says_of_shares_follows_from_their_runs() {
    let folder = docs().join("overhead/sigrist2015");
    if !folder.exists() {
        return expect_part(&docs().join("overhead.md"), BEGIN, NOTHING);
    }
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let shares: Shares = serde_json::from_str(&read("result.json")).unwrap();
    let (head, runs) = journal::parse(&read("runs.jsonl")).unwrap().unwrap();
    let table = Table::of(runs);
    let reckoned = shares.cells.iter().filter(|cell| cell.extrapolated);
    let extrapolated: Vec<ShareCell> = reckoned.cloned().collect();
    let charts = charts::all(&table, &extrapolated);
    let names: Vec<String> = charts.iter().map(|(name, _)| name.clone()).collect();
    let whole = |shares: &Shares| page(shares, (COMMAND, &head.version), &names);

    let cells = table.cells().into_iter();
    let (drawn, flight): (Vec<_>, Vec<_>) = cells.partition(|it| it.utilization_permille.is_some());
    let again = Shares {
        cells: [drawn, extrapolated.clone()].concat(),
        flight,
        claims: findings(Measured {
            table: &table,
            extrapolated: &extrapolated,
        }),
        ..shares.clone()
    };
    assert!(!shares.interrupted);
    assert_eq!(shares, again, "result.json is of these runs");

    expect(&folder.join("claims.md"), &whole(&again));
    let short = in_short(
        &again,
        (COMMAND, &head.version),
        (table.runs(), "overhead/sigrist2015/claims.md"),
    );
    expect_part(&docs().join("overhead.md"), BEGIN, &format!("\n{short}\n"));
    for (name, chart) in &charts {
        expect(&folder.join(name), &chart.to_svg());
    }
    let files = ["claims.md", "result.json", "runs.jsonl"].map(str::to_owned);
    expect_files(&folder, [names, files.to_vec()].concat());
}
