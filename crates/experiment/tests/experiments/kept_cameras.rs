//! The measurements of bottom halves of cameras that the documentation shows: everything said of one follows from
//! `docs/overhead/missimer/KIND/runs.jsonl`, by the kind of device that cameras were. `scripts/keep-overhead.sh DIR` keeps another one; it calls this
//! test with `VESTAL_BLESS=1`.

use crate::kept::{docs, expect, expect_files, expect_part};
use std::fs;
use std::path::Path;
use vestal_experiment::overhead::journal;
use vestal_experiment::overhead::missimer::charts;
use vestal_experiment::overhead::missimer::claims::findings;
use vestal_experiment::overhead::missimer::page::{in_short, page};
use vestal_experiment::overhead::missimer::table::Table;
use vestal_result::cameras::Cameras;

pub(crate) const BEGIN: &str = "<!-- begin: cameras, written by scripts/keep-overhead.sh -->\n";
const NOTHING: &str = "No measurement is kept in this version.\n";
/// Of one kind after the other, in this order.
const KINDS: [&str; 4] = ["pipe", "pty", "udp", "tun"];

#[test]
fn what_the_documentation_says_of_cameras_follows_from_their_runs() {
    let folder = docs().join("overhead/missimer");
    let kept = KINDS.map(|kind| (kind, folder.join(kind)));
    let kept = kept.iter().filter(|(_, folder)| folder.exists());
    let blocks: Vec<String> = kept.map(|(kind, folder)| of(kind, folder)).collect();
    let block = match blocks.is_empty() {
        true => NOTHING.to_owned(),
        false => format!("\n{}\n", blocks.join("\n")),
    };
    expect_part(&docs().join("overhead.md"), BEGIN, &block);
    expect_files(&folder, Vec::new());
}

/// What is said in short of the measurement in this folder, of which everything else is compared.
fn of(kind: &str, folder: &Path) -> String {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let written: Cameras = serde_json::from_str(&read("result.json")).unwrap();
    let (head, runs) = journal::parse(&read("runs.jsonl")).unwrap().unwrap();
    let table = Table::of(runs);
    // Its words may be older than those of today, before it is kept.
    let measured = Cameras {
        cells: table.cells(),
        claims: findings(&table),
        ..written
    };
    assert!(!measured.interrupted);
    let text = serde_json::to_string_pretty(&measured).unwrap();
    expect(&folder.join("result.json"), &format!("{text}\n"));
    let (device, cpus) = (head.device.as_deref(), head.cpus.clone());
    assert_eq!((device, measured.device.as_str()), (Some(kind), kind));
    assert_eq!(measured.cpu.into_iter().collect::<Vec<_>>(), cpus);
    assert_eq!(measured.machine, head.machine);
    let all = measured.repetitions as usize;
    let whole = measured
        .cells
        .iter()
        .all(|cell| cell.runs + cell.left_out == all);
    assert!(whole && measured.cells.len() == 5, "a whole measurement");

    let command = format!("vestal bench overhead --paper missimer --device {kind} -o DIR");
    let charts = charts::all(&table);
    let names: Vec<String> = charts.iter().map(|(name, _)| name.clone()).collect();
    let by = (command.as_str(), head.version.as_str());
    expect(&folder.join("claims.md"), &page(&measured, by, &names));
    for (name, chart) in &charts {
        expect(&folder.join(name), &chart.to_svg());
    }
    let files = ["claims.md", "result.json", "runs.jsonl"].map(str::to_owned);
    expect_files(folder, [names, files.to_vec()].concat());
    in_short(
        &measured,
        by,
        &format!("overhead/missimer/{kind}/claims.md"),
    )
}
