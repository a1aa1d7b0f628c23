//! The measurement of shares of the time that the documentation shows: what was measured follows from
//! `docs/overhead/sigrist2015/runs.jsonl`, what was reckoned stands in `result.json` beside it. `scripts/keep-overhead.sh DIR` keeps
//! another one; it calls this test with `VESTAL_BLESS=1`. What was measured with pairs of sets is in `paired` and `growth` below, in the same files, and
//! has the word about the claims that it is measured for.

use crate::kept::{docs, expect, expect_files, expect_part};
use std::fs;
use std::path::Path;
use vestal_experiment::overhead::journal;
use vestal_experiment::overhead::sigrist2015::charts;
use vestal_experiment::overhead::sigrist2015::claims::{Measured, findings};
use vestal_experiment::overhead::sigrist2015::extrapolate;
use vestal_experiment::overhead::sigrist2015::page::{in_short, page, pairs_in_short};
use vestal_experiment::overhead::sigrist2015::pairs::with_others;
use vestal_experiment::overhead::sigrist2015::plan::{ALTERNATIVES, FULL, GROWTH, PAIRED, Plan};
use vestal_experiment::overhead::sigrist2015::table::Table;
use vestal_policy::Registry;
use vestal_result::shares::{Measurement, ShareCell, Shares};

pub(crate) const BEGIN: &str = "<!-- begin: shares, written by scripts/keep-overhead.sh -->\n";

/// The plan, and the option that asks for it.
const fn of_measurement(measurement: Measurement) -> (Plan, &'static str) {
    match measurement {
        Measurement::Shares => (FULL, ""),
        Measurement::Pairs => (PAIRED, " --paired"),
        Measurement::Growth => (GROWTH, " --growth"),
        Measurement::Alternatives => (ALTERNATIVES, " --alternatives"),
    }
}

/// The command that measures so much.
fn command(shares: &Shares) -> String {
    let (plan, how) = of_measurement(shares.measurement);
    let repetitions = match shares.sets == plan.sets {
        true => String::new(),
        false => format!(" --repetitions {}", shares.sets),
    };
    format!("vestal bench overhead --paper sigrist2015{how}{repetitions} -o DIR")
}

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
    // What is reckoned of Table II follows from the same runs, and from simulations that take no time.
    let (plan, _) = of_measurement(shares.measurement);
    let reckoned = extrapolate::flight(&Registry::default(), &table, &plan).unwrap();
    let again = Shares {
        cells: [drawn, extrapolated.clone()].concat(),
        flight: [flight, reckoned].concat(),
        claims: findings(Measured {
            table: &table,
            extrapolated: &extrapolated,
            measurement: shares.measurement,
        }),
        ..shares.clone()
    };
    assert!(!shares.interrupted);
    // What is said of claims may be said in other words than when it was measured, and Table II may be reckoned where it was not; all else
    // has to be what it was.
    let rest = |of: &Shares| Shares {
        claims: Vec::new(),
        flight: measured(&of.flight),
        ..of.clone()
    };
    assert_eq!(rest(&shares), rest(&again), "result.json is of these runs");
    // A claim that was not asked then may have come; what was found of the others is what it was.
    for then in &shares.claims {
        let mut all = again.claims.iter();
        let now = all.find(|now| now.claim.starts_with(&then.claim));
        let now = now.unwrap_or_else(|| panic!("{then:?} is gone"));
        assert_eq!((&then.of, then.verdict), (&now.of, now.verdict));
    }
    if (&shares.claims, &shares.flight) != (&again.claims, &again.flight) {
        let text = serde_json::to_string_pretty(&again).unwrap();
        expect(&folder.join("result.json"), &format!("{text}\n"));
    }
    (again, head.version, table)
}

fn measured(cells: &[ShareCell]) -> Vec<ShareCell> {
    let measured = cells.iter().filter(|cell| !cell.extrapolated);
    measured.cloned().collect()
}

fn extrapolated(shares: &Shares) -> Vec<ShareCell> {
    let reckoned = shares.cells.iter().filter(|cell| cell.extrapolated);
    reckoned.cloned().collect()
}

/// The files of a measurement, beside its charts.
const FILES: [&str; 3] = ["claims.md", "result.json", "runs.jsonl"];

/// The page about a further measurement in a folder of this name, if one is kept: what was found, and a line about it.
fn further(name: &str, measurement: Measurement, machine: &str) -> Option<(Shares, String)> {
    let folder = docs().join("overhead/sigrist2015").join(name);
    if !folder.exists() {
        return None;
    }
    let (shares, version, table) = kept(&folder);
    assert_eq!(shares.measurement, measurement);
    // No quick look, and no more sets after others had been seen.
    let (plan, _) = of_measurement(measurement);
    let interval = plan.interval.as_nanos();
    assert_eq!(
        (shares.sets, u128::from(shares.interval_ns)),
        (plan.sets, interval)
    );
    assert_eq!(shares.machine, machine);
    assert_eq!(table.places(), plan.places(2).collect::<Vec<_>>());
    let about = page(&shares, (&command(&shares), &version), &[]);
    expect(&folder.join("claims.md"), &about);
    expect_files(&folder, FILES.map(str::to_owned).to_vec());
    let link = format!("overhead/sigrist2015/{name}/claims.md");
    let line = pairs_in_short(&shares, &version, (table.runs(), &link));
    Some((shares, format!("\n{line}")))
}

#[test]
fn what_the_documentation_says_of_shares_follows_from_their_runs() {
    let folder = docs().join("overhead/sigrist2015");
    if !folder.exists() {
        return expect_part(&docs().join("overhead.md"), BEGIN, NOTHING);
    }
    let (shares, version, table) = kept(&folder);
    assert_eq!(shares.measurement, Measurement::Shares);
    let charts = charts::all(&table, &extrapolated(&shares));
    let names: Vec<String> = charts.iter().map(|(name, _)| name.clone()).collect();
    let others = [
        ("paired", Measurement::Pairs),
        ("growth", Measurement::Growth),
        ("alternatives", Measurement::Alternatives),
    ];
    let mut about = String::new();
    let mut shown = shares;
    for (name, measurement) in others {
        let Some((other, line)) = further(name, measurement, &shown.machine) else {
            continue;
        };
        about.push_str(&line);
        shown.claims = with_others(&shown.claims, &other.claims);
        if measurement == Measurement::Alternatives {
            shown.alternatives = other.alternatives;
        }
    }
    let command = command(&shown);
    let whole = page(&shown, (&command, &version), &names);
    expect(&folder.join("claims.md"), &whole);
    let short = in_short(
        &shown,
        (&command, &version),
        (table.runs(), "overhead/sigrist2015/claims.md"),
    );
    expect_part(
        &docs().join("overhead.md"),
        BEGIN,
        &format!("\n{short}{about}\n"),
    );
    for (name, chart) in &charts {
        expect(&folder.join(name), &chart.to_svg());
    }
    expect_files(&folder, [names, FILES.map(str::to_owned).to_vec()].concat());
}
