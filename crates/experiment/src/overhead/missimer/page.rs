//! The page about what was measured: verdicts, figures, tables.

use super::judged::{DISTURBED, DISTURBED_VARIANCE, LEAST, LEAST_OF_THIRD, STARVED};
use super::set::{COST_US, RATE};
use crate::number::as_f64;
use std::fmt::Write as _;
use vestal_result::cameras::{Cameras, CamerasCell};
use vestal_statistics::Quartiles;

/// Where it was measured.
fn cpu(measured: &Cameras) -> String {
    let cpu = measured.cpu.map(|cpu| format!(", on CPU {cpu}"));
    cpu.unwrap_or_default()
}

/// A measurement that is kept under `link`, in short, for a page that links to it.
#[must_use]
pub fn in_short(measured: &Cameras, (command, version): (&str, &str), link: &str) -> String {
    let of = |count: fn(&CamerasCell) -> usize| measured.cells.iter().map(count).sum::<usize>();
    let (runs, left_out) = (of(|cell| cell.runs), of(|cell| cell.left_out));
    let (disturbed, starved) = (of(|cell| cell.disturbed), of(|cell| cell.starved));
    let (too_much, too_little) = (of(|cell| cell.too_much), of(|cell| cell.too_little));
    let (wrong, explained) = (
        of(|cell| cell.wrong_changes),
        of(|cell| cell.explained_changes),
    );
    let mut page = format!(
        "{}{}; {} repetitions by `{command}`, vestal {version}, cameras of kind {}. Of {} runs {runs} count; of {disturbed} others took too much of the CPU, and in \
         {starved} a sender was starved. In {too_much} a server of a camera gave too much, and in {too_little} too little. Of those with a change {wrong} have it otherwise than at half time, and \
         {explained} have another rise that others may explain. One machine, one measurement: another one will give other numbers. [Tables, figures and the numbers behind each \
         verdict]({link}).\n\n",
        measured.machine,
        cpu(measured),
        measured.repetitions,
        measured.device,
        runs + left_out,
    );
    claims(&mut page, measured);
    page
}

/// The verdicts.
fn claims(page: &mut String, measured: &Cameras) {
    page.push_str("| | whose | claim | found |\n|---|---|---|---|\n");
    for (number, finding) in (1..).zip(&measured.claims) {
        let _ = writeln!(
            page,
            "| {number} | {} | {} | **{}** |",
            finding.of, finding.claim, finding.verdict
        );
    }
}

/// The whole page. `command` measured it; `charts` are the names of the files of figures.
#[must_use]
pub fn page(measured: &Cameras, (command, version): (&str, &str), charts: &[String]) -> String {
    let mut page = String::new();
    let [interval, change] = measured.interval_ns.map(|nanos| as_f64(nanos) / 1e9);
    let _ = writeln!(
        page,
        "# Missimer et al. (2016), Tables II and III and Fig. 12 to 15, on this machine: {}\n\n\
         `{command}`, vestal {version}{}; {} repetitions of {interval} s, and of {change} s with a change of mode at half time. A camera is a device of kind \
         {} that is sent {RATE} events a second, of {COST_US} us each.\n\n\
         Left out are runs of which others took more than {} % of the CPU ({} % for variances, for where totals bend, and for when the mode rises), and those in which a sender was starved: it \
         sent less than the server of its camera could serve at best, or was late for more than one in {STARVED} parts of the run. A server is at fault that gave more than its share, or less than one in \
         {LEAST} parts of it while events waited, or less than one in {LEAST_OF_THIRD} in a third of the run: such runs are not left out, and decide no claim of the paper. What others took may have \
         been on the account of what is looked at, all of it or none: so numbers of runs are ranges, *from..to*, and a claim is confirmed or refuted if wherever the truth lies in them it is.",
        measured.machine,
        cpu(measured),
        measured.repetitions,
        measured.device,
        100.0 / as_f64(DISTURBED),
        100.0 / as_f64(DISTURBED_VARIANCE),
    );
    if measured.interrupted {
        page.push_str("\nIt was stopped: what was complete until then is shown.\n");
    }
    page.push_str("\n## Claims\n\n");
    claims(&mut page, measured);
    for finding in &measured.claims {
        let _ = writeln!(
            page,
            "\n**{}** {} {}.",
            finding.claim, finding.verdict, finding.numbers
        );
    }
    page.push_str("\n## What was measured\n\nMedians, with quartiles.\n\n");
    cells(&mut page, &measured.cells);
    page.push_str("\n## How runs were judged\n\n");
    judged(&mut page, &measured.cells);
    page.push_str("\n## Events of cameras, of all runs\n\n| set | system | camera | sent | served | left over | dropped | charged, % of the share | postponed, % |\n|---|---|---|---|---|---|---|---|---|\n");
    for cell in &measured.cells {
        for camera in &cell.cameras {
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} |",
                cell.place,
                cell.system,
                camera.name,
                camera.sent,
                camera.served,
                camera.queued,
                camera.dropped,
                of_share(camera.charged_ns, camera.share_ns),
                of_share(camera.postponed_ns, camera.share_ns),
            );
        }
    }
    page.push_str("\n## Figures\n\n");
    for chart in charts {
        let _ = writeln!(page, "![{0}]({0})", chart);
    }
    page
}

fn of_share(nanos: u64, share: u64) -> f64 {
    as_f64(nanos) * 100.0 / as_f64(share.max(1))
}

/// How runs were judged.
fn judged(page: &mut String, cells: &[CamerasCell]) {
    page.push_str(
        "| set | system | runs | left out | others took too much | starved | a server gave too much | too little | wrong changes | explained ones | late looks | not looked at |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for cell in cells {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            cell.place,
            cell.system,
            cell.runs,
            cell.left_out,
            cell.disturbed,
            cell.starved,
            cell.too_much,
            cell.too_little,
            cell.wrong_changes,
            cell.explained_changes,
            cell.late_looks,
            cell.unlooked,
        );
    }
}

fn cells(page: &mut String, cells: &[CamerasCell]) {
    page.push_str(
        "| set | system | runs (left out) | lost, % of all | overhead, % | rises of the mode | switches/s | interrupts/s | HI jobs/s | LO jobs/s | longest wait of HI, LO in periods | events read/s by HI, LO |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for cell in cells {
        let [hi, lo] = &cell.completed_each_second;
        let [hi_wait, lo_wait] = &cell.longest_wait_periods;
        let [hi_read, lo_read] = &cell.read_each_second;
        let _ = writeln!(
            page,
            "| {} | {} | {} ({}) | {} | {} | {} | {} | {} | {} | {} | {}, {} | {}, {} |",
            cell.place,
            cell.system,
            cell.runs,
            cell.left_out,
            spread(cell.lost_percent.as_ref(), 4),
            spread(cell.overhead_percent.as_ref(), 4),
            spread(cell.rises.as_ref(), 0),
            spread(cell.switches_each_second.as_ref(), 0),
            spread(cell.interrupts_each_second.as_ref(), 0),
            spread(hi.as_ref(), 2),
            spread(lo.as_ref(), 2),
            spread(hi_wait.as_ref(), 2),
            spread(lo_wait.as_ref(), 2),
            spread(hi_read.as_ref(), 0),
            spread(lo_read.as_ref(), 0),
        );
    }
}

fn spread(found: Option<&Quartiles>, digits: usize) -> String {
    found.map_or_else(
        || "-".to_owned(),
        |found| {
            format!(
                "{:.digits$} ({:.digits$} to {:.digits$})",
                found.median, found.low, found.high
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::claims::findings;
    use super::super::made_up::{camera, made};
    use super::super::run::{Place, Run, System};
    use super::super::table::Table;
    use super::*;
    use vestal_result::Format;

    #[test]
    fn every_claim_and_every_kind_of_run_is_on_the_page() {
        let change = Run {
            cameras: vec![camera(10, 100, 5), camera(100, 10, 0)],
            ..made(Place::Change, System::SsPibs, 0)
        };
        let table = Table::of(vec![made(Place::OneCamera, System::SsOnly, 0), change]);
        let measured = Cameras {
            format: Format::V1,
            bench: "overhead".to_owned(),
            paper: super::super::NAME.to_owned(),
            machine: "a machine".to_owned(),
            device: "pipe".to_owned(),
            cpu: Some(1),
            interval_ns: [8_000_000_000, 16_000_000_000],
            repetitions: 1,
            interrupted: true,
            cells: table.cells(),
            claims: findings(&table),
        };
        let page = page(&measured, ("vestal bench", "0"), &["fig12.svg".to_owned()]);
        assert_eq!(
            page.matches("**not decided**").count(),
            measured.claims.len()
        );
        for part in [
            "1 repetitions of 8 s, and of 16 s",
            "vestal 0, on CPU 1; ",
            "more than 1 % of the CPU (0.2 % for variances,",
            "| one-camera | SS-only | 1 (0) | 0.0000 (0.0000 to 0.0000) | 0.0000",
            "| change | SS+PIBS | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |",
            "| change | SS+PIBS | camera2 | 32000 | 2200 | 0 | 29800 | 99.0 | 0.0 |",
            "It was stopped",
            "![fig12.svg](fig12.svg)",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let short = in_short(&measured, ("vestal bench", "0"), "claims.md");
        assert!(short.contains("Of 2 runs 2 count; of 0 others took too much of the CPU, and in 0 a sender was starved"), "{short}");
        assert_eq!(
            short.matches("**not decided**").count(),
            measured.claims.len()
        );
    }
}
