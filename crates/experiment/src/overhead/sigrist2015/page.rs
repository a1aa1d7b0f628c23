//! The page about what was measured: verdicts, figures, tables.

use super::pairs::split;
use super::plan::{ASKED_CPUS, GROWTH, PAIRED, Plan};
use super::run::Run;
use super::variant::{Kind, variant};
use crate::number::as_f64;
use std::fmt::Write as _;
use vestal_result::shares::{
    Accepted, Alternative, FrameOverhead, Measurement, PerCpuShare, ShareCell, Shares,
};

const EXTRAPOLATED: &str = "What is *extrapolated* was not run: the costs of an event on the most CPUs that were measured, times the events of \
     simulations of the sets; it decides no claim.";

const OF_PAIRS: &str = "Sets of one number have tasks in common: a set has all tasks of the one with the next lower utilization, of which the last one grows, \
     and one more at least, and for two CPUs those for one CPU and others of as large a load, with periods of the same chain. All sets of a number have \
     frames of the same length, and tasks of both levels in each load.";

const AT_EACH_PLACE: &str = "Where tasks run is the policy's: by first fit pEDF-VD may leave a CPU without tasks. Only the paper's mechanisms run them. \
     Judged are the claims that sets drawn anew for each place had left open.";

const OVER_ALL: &str = "Only the paper's mechanism for FTTS runs them. Judged is the growth that pairs had left open at each place, of sets that those \
     have not, and of all places together: what grows so may shrink at one of them. That it grows at all, by however little, stood in the numbers of both \
     other claims before, and has rows of its own since.";

const OF_ALTERNATIVES: &str = "Every mechanism that `vestal run` offers for both policies, by the same sets at one utilization; each row differs from one \
     above it in one thing. A dispatcher on a CPU of its own is measured with the second one, so that its tasks have one: the paper's threads on one CPU stand beside. \
     What its threads take on their own CPU is in the parts as far as workers wait for it, and not in *system*.";

const RESOLUTION: &str = "*Resolution* is how far from its bound a median had to lie, by how values spread, to be certain on which side it is: smaller \
     differences could not be told.";

/// What is measured with pairs. What a plan fixes is fixed before, unless somebody chose another number of sets, or stopped it.
fn of_pairs(shares: &Shares, (plan, judged): (Plan, &str)) -> String {
    let interval = u128::from(shares.interval_ns);
    let by_plan = shares.sets == plan.sets && interval == plan.interval.as_nanos();
    let fixed = match by_plan && !shares.interrupted {
        true => {
            "The number of sets, the length of runs, the claims and their bounds were fixed before any of this was measured."
        }
        false => {
            "The number of sets and the length of runs are not those of the plan: whoever chose them may have seen what was measured before."
        }
    };
    format!("{OF_PAIRS} {judged} {RESOLUTION} {fixed}")
}

/// The whole page. `command` measured it; `charts` are the names of the files of figures.
#[must_use]
pub fn page(shares: &Shares, (command, version): (&str, &str), charts: &[String]) -> String {
    let mut page = String::new();
    let seconds = as_f64(shares.interval_ns) / 1e9;
    let (what, how) = match shares.measurement {
        Measurement::Shares => ("Fig. 6 to 8, 10, 12 and Table II", EXTRAPOLATED.to_owned()),
        Measurement::Pairs => ("pairs of sets", of_pairs(shares, (PAIRED, AT_EACH_PLACE))),
        Measurement::Growth => ("growth", of_pairs(shares, (GROWTH, OVER_ALL))),
        Measurement::Alternatives => ("alternatives", OF_ALTERNATIVES.to_owned()),
    };
    let _ = writeln!(
        page,
        "# Sigrist et al. (2015), {what}, on this machine: {}\n\n\
         `{command}`, vestal {version}; up to {} sets for each cell, {seconds} s each. A share is a part of the time of those CPUs that \
         have tasks. {how}",
        shares.machine, shares.sets,
    );
    if shares.interrupted {
        page.push_str("\nIt was stopped: what was complete until then is shown.\n");
    }
    if !shares.claims.is_empty() {
        page.push_str("\n## Claims\n\n");
        verdicts(&mut page, shares);
    }
    for finding in &shares.claims {
        let _ = writeln!(
            page,
            "\n**{}** {} {}.",
            finding.claim, finding.verdict, finding.numbers
        );
    }
    for kind in Kind::ALL {
        if kind == Kind::Deadlines && shares.measurement == Measurement::Growth {
            continue;
        }
        let _ = writeln!(page, "\n## {}: shares in percent\n", kind.title());
        cells(&mut page, &shares.cells, kind);
    }
    if shares.measurement == Measurement::Shares {
        page.push_str("\n## Table II: the flight management system, shares in percent\n\n");
        cells(&mut page, &shares.flight, Kind::Frames);
    }
    if !shares.alternatives.is_empty() || shares.measurement == Measurement::Shares {
        page.push_str("\n## What each alternative costs\n\n");
        alternatives(&mut page, &shares.alternatives);
    }
    if !charts.is_empty() {
        page.push_str("\n## Figures\n\n");
    }
    for chart in charts {
        let _ = writeln!(page, "![{0}]({0})", chart);
    }
    page.push_str("\n## What was compared\n\n| variant | is |\n|---|---|\n");
    for one in &shares.variants {
        let has_runs = |cell: &ShareCell| cell.variant == one.name && cell.runs > 0;
        let is_measured = shares.cells.iter().chain(&shares.flight).any(has_runs);
        let what = match (&one.not_run, is_measured) {
            (None, _) => one.what.clone(),
            (Some(why), true) => format!("{}; not all of it: {why}", one.what),
            (Some(why), false) => format!("not measured: {why}"),
        };
        let _ = writeln!(page, "| {} | {what} |", one.name);
    }
    page
}

/// A measurement that is kept under `link`, in short, for a page that links to it. `runs` are all there were.
#[must_use]
pub fn in_short(
    shares: &Shares,
    (command, version): (&str, &str),
    (runs, link): (&[Run], &str),
) -> String {
    let kept = runs.iter().filter(|run| run.kept).count();
    let mut page = format!(
        "{}; {} sets for each place by `{command}`, vestal {version}. Of {} runs {kept} count; in the others a deadline was missed or a \
         frame was late. One machine, one measurement: another one will give other numbers. [Tables, figures and the numbers behind \
         each verdict]({link}).\n\n",
        shares.machine,
        shares.sets,
        runs.len(),
    );
    verdicts(&mut page, shares);
    page.push_str("\n### What each alternative costs\n\n");
    alternatives(&mut page, &shares.alternatives);
    page
}

/// The verdicts.
fn verdicts(page: &mut String, shares: &Shares) {
    page.push_str("| | whose | claim | found |\n|---|---|---|---|\n");
    for (number, finding) in (1..).zip(&shares.claims) {
        let _ = writeln!(
            page,
            "| {number} | {} | {} | **{}** |",
            finding.of, finding.claim, finding.verdict
        );
    }
    let is_of = |wanted: Measurement| {
        let mut all = shares.claims.iter();
        shares.measurement == Measurement::Shares && all.any(|one| split(&one.claim).1 == wanted)
    };
    if is_of(Measurement::Pairs) {
        page.push_str(
            "\nThose *of pairs* are judged by another measurement, `bench overhead --paper sigrist2015 --paired`, since sets drawn anew for each place left \
             them open.\n",
        );
    }
    if is_of(Measurement::Growth) {
        page.push_str(
            "\nThose *over all places together* are judged by a third one, `bench overhead --paper sigrist2015 --growth`, since pairs left them open at each \
             place.\n",
        );
    }
}

/// What was measured with pairs, at each place or of all together, in short. `runs` are all there were.
#[must_use]
pub fn pairs_in_short(shares: &Shares, version: &str, (runs, link): (&[Run], &str)) -> String {
    let kept = runs.iter().filter(|run| run.kept).count();
    let what = match shares.measurement {
        Measurement::Shares => "Shares",
        Measurement::Pairs => "Pairs",
        Measurement::Growth => "Growth",
        Measurement::Alternatives => "Alternatives",
    };
    format!(
        "{what}: {} sets for each place, vestal {version}, on the same machine. Of {} runs {kept} count. [The numbers behind each verdict]({link}).\n",
        shares.sets,
        runs.len()
    )
}

/// A row for each cell of a kind, a column for each of its parts.
fn cells(page: &mut String, all: &[ShareCell], kind: Kind) {
    let parts = kind.parts();
    let head = ["set", "CPUs", "U/m", "variant", "sets (left out)"];
    let tail = ["scheduler", "most of a CPU", "system", "most of a CPU"];
    let columns: Vec<&str> = head.iter().chain(parts).chain(&tail).copied().collect();
    let _ = writeln!(
        page,
        "| {} |\n|{}",
        columns.join(" | "),
        "---|".repeat(columns.len())
    );
    let of_kind = |cell: &&ShareCell| variant(&cell.variant).is_some_and(|v| v.kind == kind);
    for cell in all.iter().filter(of_kind) {
        let mut row = vec![
            cell.set.clone(),
            cell.cpus.to_string(),
            cell.utilization_permille.map_or_else(
                || "-".to_owned(),
                |permille| format!("{}", f64::from(permille) / 1000.0),
            ),
            match cell.extrapolated {
                true => format!("{} *extrapolated*", cell.variant),
                false => cell.variant.clone(),
            },
            format!("{} ({})", cell.runs, cell.left_out),
        ];
        row.extend(
            parts
                .iter()
                .map(|part| percent(cell.parts.get(part).map(|found| found.mean))),
        );
        let both = |found: Option<PerCpuShare>| {
            [
                found.map(|found| found.mean),
                found.and_then(|found| found.max),
            ]
        };
        row.extend(both(Some(cell.scheduler)).map(percent));
        row.extend(both(cell.system).map(percent));
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}

/// A row for each alternative: its share of the time, and by utilization which share of drawn sets is accepted.
fn alternatives(page: &mut String, all: &[Alternative]) {
    let mut points: Vec<u32> = all
        .iter()
        .flat_map(|one| &one.accepted)
        .map(|found| found.utilization_permille)
        .collect();
    points.sort_unstable();
    points.dedup();
    if all.is_empty() {
        page.push_str("Not measured.\n");
        return;
    }
    let _ = writeln!(
        page,
        "Time in percent at U/m = 0.2; sets for {ASKED_CPUS} CPUs that the policy's test accepts without overheads, with the mean and with the largest of each as \
         measured here, in percent of those drawn; o is what is lost in each frame of {ASKED_CPUS} CPUs (Table I; the paper has 1700 us on average and 45 ms at most on 4 \
         cores of a Xeon Phi, 5000 us and 160 ms on 32); `-` where it was not measured.\n"
    );
    let columns: Vec<String> = points
        .iter()
        .map(|point| format!("U/m {}: without, mean, max", f64::from(*point) / 1000.0))
        .collect();
    let _ = writeln!(
        page,
        "| variant | CPUs | scheduler | system | o of a frame in us: mean, max | {} |\n|---|---|---|---|---|{}",
        columns.join(" | "),
        "---|".repeat(columns.len())
    );
    for one in all {
        let accepted = points.iter().map(|point| {
            let mut found = one.accepted.iter();
            found
                .find(|found| found.utilization_permille == *point)
                .map_or_else(|| "-".to_owned(), of_drawn)
        });
        let accepted: Vec<String> = accepted.collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} |",
            one.variant,
            one.cpus,
            percent(one.scheduler),
            percent(one.system),
            one.frame.map_or_else(|| "-".to_owned(), of_frame),
            accepted.join(" | ")
        );
    }
}

fn of_frame(found: FrameOverhead) -> String {
    let micros = |nanos: u64| format!("{:.1}", as_f64(nanos) / 1e3);
    [found.mean_ns, found.max_ns].map(micros).join(", ")
}

fn of_drawn(found: &Accepted) -> String {
    let share = |count: u32| {
        format!(
            "{:.1}",
            f64::from(count) * 100.0 / f64::from(found.sets.max(1))
        )
    };
    [found.without, found.mean, found.max].map(share).join(", ")
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.4}", share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::super::claims::{Measured, findings};
    use super::super::made_up::{drawn, made};
    use super::super::table::Table;
    use super::*;
    use vestal_result::Format;

    fn shares() -> Shares {
        let runs = vec![
            made(drawn(2, 200), 0, "ftts/spin", 1_230),
            made(drawn(2, 200), 0, "pedf-vd/manager", 800),
        ];
        let table = Table::of(runs);
        let mut cells = table.cells();
        cells.push(ShareCell {
            cpus: 8,
            extrapolated: true,
            system: None,
            ..cells[0].clone()
        });
        Shares {
            format: Format::V1,
            bench: "overhead".to_owned(),
            paper: "sigrist2015".to_owned(),
            machine: "a machine".to_owned(),
            interval_ns: 2_400_000_000,
            sets: 10,
            measurement: Measurement::Shares,
            interrupted: false,
            variants: vec![vestal_result::bench::Variant {
                name: "ftts/sigrist2015".to_owned(),
                what: "threads".to_owned(),
                policy: "ftts".to_owned(),
                not_run: Some("why not".to_owned()),
            }],
            claims: findings(Measured {
                table: &table,
                extrapolated: &[],
                measurement: Measurement::Shares,
            }),
            cells,
            flight: Vec::new(),
            alternatives: vec![Alternative {
                variant: "ftts/spin".to_owned(),
                cpus: 2,
                scheduler: Some(0.00123),
                system: None,
                frame: Some(FrameOverhead {
                    mean_ns: 12_345,
                    max_ns: 45_000,
                }),
                accepted: vec![Accepted {
                    utilization_permille: 400,
                    sets: 8,
                    without: 4,
                    mean: 2,
                    max: 1,
                }],
            }],
            mechanisms: Vec::new(),
        }
    }

    #[test]
    fn a_page_holds_what_was_measured_and_says_what_was_not() {
        let shares = shares();
        let files = ["ftts-over-cpus.svg".to_owned()];
        let page = page(&shares, ("vestal bench", "1"), &files);
        for words in [
            "on this machine: a machine",
            "up to 10 sets for each cell, 2.4 s each",
            "| drawn | 2 | 0.2 | ftts/spin | 1 (0) | 0.0205 |",
            "| drawn | 8 | 0.2 | ftts/spin *extrapolated* | 1 (0) |",
            "| drawn | 2 | 0.2 | pedf-vd/manager | 1 (0) | 0.0200 |",
            "U/m 0.4: without, mean, max |",
            "| ftts/spin | 2 | 0.1230 | - | 12.3, 45.0 | 50.0, 25.0, 12.5 |",
            "| ftts/sigrist2015 | not measured: why not |",
            "![ftts-over-cpus.svg](ftts-over-cpus.svg)",
        ] {
            assert!(page.contains(words), "{words} is not in {page}");
        }
        for finding in &shares.claims {
            let row = format!("| {} | **{}** |", finding.claim, finding.verdict);
            assert!(page.contains(&row), "{row}");
        }
        assert!(!page.contains("It was stopped"));
        let stopped = Shares {
            interrupted: true,
            alternatives: Vec::new(),
            ..shares
        };
        let page = super::page(&stopped, ("", ""), &files);
        assert!(page.contains("It was stopped"));
        assert!(page.contains("costs\n\nNot measured.\n"), "{page}");
    }
}
