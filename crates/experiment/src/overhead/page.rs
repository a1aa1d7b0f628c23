//! What was measured as a page for people.

use super::tables;
use super::{Finding, Measurement, Paper, Preemptions, Table, Variant};
use crate::columns::markdown;
use crate::number::as_f64;
use std::fmt::Write as _;

/// What a page says beside the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// The command that made it.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// Processor, number of CPUs and kernel.
    pub machine: String,
    /// Repetitions that were complete.
    pub repetitions: u32,
    /// Variants that could not be run: name and why.
    pub not_run: Vec<(&'static str, String)>,
}

/// The claims with their verdicts.
#[must_use]
pub fn claims_table(findings: &[Finding]) -> String {
    let mut text = "| | whose | claim | found |\n|---|---|---|---|\n".to_owned();
    for (number, finding) in (1..).zip(findings) {
        let _ = writeln!(
            text,
            "| {number} | {} | {} | **{}** |",
            finding.of, finding.claim, finding.verdict
        );
    }
    text
}

/// The page: claims, tables, figures, and how it was measured.
#[must_use]
pub fn claims_page(measurement: &Measurement) -> String {
    let Measurement {
        circumstances,
        table,
        whole,
        preemptions,
    } = measurement;
    let findings = measurement.findings();
    let paper = measurement.paper();
    let mut page = head(paper, circumstances);
    page.push_str("## Claims\n\n");
    page.push_str(&claims_table(&findings));
    page.push_str(&rules(paper));
    page.push_str("\n## By which numbers\n\n");
    for (number, finding) in (1..).zip(&findings) {
        let _ = writeln!(page, "{number}. {}: {}.", finding.verdict, finding.numbers);
    }
    table_2(&mut page, table);
    table_3(&mut page, measurement.of_managers());
    hyperperiods(&mut page, "## Hyperperiods", whole);
    fig_6(&mut page, paper, preemptions);
    page.push_str("\n## Figures\n\n");
    for (name, chart) in super::figures::charts(table, preemptions) {
        let title = chart.title.as_deref().unwrap_or_default();
        let _ = writeln!(page, "![{title}]({name})\n");
    }
    variants(&mut page, table, circumstances);
    page.push_str(&data(paper));
    page
}

/// A measurement that is kept under `link`, in short, for a page that links to it.
#[must_use]
pub fn in_short(measurement: &Measurement, link: &str) -> String {
    let Circumstances {
        machine,
        repetitions,
        command,
        version,
        ..
    } = &measurement.circumstances;
    let cells = &measurement.table.cells;
    let sum = |of: fn(&super::Cell) -> usize| cells.iter().map(of).sum::<usize>();
    let (runs, gaps, others) = (sum(|c| c.runs), sum(|c| c.gaps), sum(|c| c.others));
    let mut page = format!(
        "{machine}; {repetitions} repetitions by `{command}`, vestal {version}. Of {runs} busy periods {} were clean, {gaps} \
         had a gap, {others} were not the set's. One machine, one run: another one will give other numbers. \
         [Tables, figures and the numbers behind each verdict]({link}).\n\n{}",
        runs - gaps - others,
        claims_table(&measurement.findings())
    );
    overheads(&mut page, &measurement.table);
    hyperperiods(&mut page, "### Hyperperiods", &measurement.whole);
    page
}

/// How much longer busy periods are than the baseline's: a row for each number of tasks.
fn overheads(page: &mut String, table: &Table) {
    let others = || {
        table
            .variants
            .iter()
            .filter(|&&index| index != table.paper.baseline)
    };
    let names: Vec<&str> = others().map(|&index| table.paper.name_at(index)).collect();
    let _ = write!(
        page,
        "\n### Overheads\n\nBusy periods of the baseline, and how much longer others are in percent of it; medians.\n\n\
         | tasks | {}, us | {} |\n|---|---{}|\n",
        table.paper.name_at(table.paper.baseline),
        names.join(" | "),
        "|---".repeat(names.len())
    );
    for &size in &table.sizes {
        let cell = |index: usize| table.cell(size, index);
        let base = cell(table.paper.baseline).and_then(|cell| cell.busy_ns);
        let base = base.map_or_else(|| "-".to_owned(), |s| format!("{:.0}", s.median / 1000.0));
        let each = others().map(|&index| {
            let found = cell(index).and_then(|cell| cell.overhead_percent);
            found.map_or_else(|| "-".to_owned(), |s| format!("{:.2}", s.median))
        });
        let each: Vec<String> = each.collect();
        let _ = writeln!(page, "| {size} | {base} | {} |", each.join(" | "));
    }
}

fn rules(paper: &Paper) -> String {
    format!(
        "\n\
*Confirmed* and *refuted* are said only where the measurements say so for certain; *not decided* means that they\n\
do not, or that something was not measured. Runs of the same repetition are compared with each other, and certain\n\
is what the interval of the median of their differences or ratios leaves no doubt of. All intervals of one claim are\n\
right together with 99 %: with eight numbers of tasks that takes eleven pairs of clean runs of each at least, with\n\
three ten. For {} a group of fresh threads is a repetition. Every verdict names the numbers of tasks, or of\n\
threads, that it rests on.\n",
        paper.titles.preemptions
    )
}

fn data(paper: &Paper) -> String {
    let titles = &paper.titles;
    let largest = paper.set.sizes.iter().max().copied().unwrap_or(0);
    format!(
        "\n## Data\n\n\
`runs.csv` has every busy period in the order of time, `{}` medians and quartiles beside the\n\
paper's numbers, `hyperperiods.csv` the same of whole hyperperiods, `measured.json` all of it, `{}` the manager's invocations, `{}` the micro-benchmark, `set-{largest}.toml` and\n\
its siblings the task sets. Overheads are differences to the baseline's busy period of the same repetition;\n\
busy periods in which the machine took the CPU away, or which were not that of the set, count in no\n\
median. Measured numbers differ from run to run and from machine to machine.\n",
        titles.busy_periods_file, titles.invocations_file, titles.preemptions_file
    )
}

fn head(paper: &Paper, circumstances: &Circumstances) -> String {
    format!(
        "# Overheads of policies and mechanisms\n\n\
         {}, on this machine: {}. \
         {} repetitions. Made by `{}`, vestal {}.\n\n\
         Absolute times belong to the machine; what can be compared with the paper are orders, ratios and \
         shapes.\n\n",
        paper.what,
        circumstances.machine,
        circumstances.repetitions,
        circumstances.command,
        circumstances.version
    )
}

fn table_2(page: &mut String, table: &Table) {
    let _ = write!(
        page,
        "\n## {}: busy periods\n\n\
         Medians; in brackets quartiles of the overhead, and the paper's numbers for the corresponding \
         column.\n\n",
        table.paper.titles.busy_periods
    );
    page.push_str(&markdown(tables::BUSY_PERIODS, &table.printed()));
}

fn table_3(page: &mut String, table: &Table) {
    let _ = write!(
        page,
        "\n## {}: invocations of the manager\n\n\
         In hyperperiods, or in busy periods if none were measured.\n\n",
        table.paper.titles.invocations
    );
    page.push_str(&markdown(tables::INVOCATIONS, &table.invocations()));
}

fn hyperperiods(page: &mut String, heading: &str, whole: &Table) {
    if whole.cells.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "\n{heading}\n\n\
         What the runs' own threads (manager, idle detector, watchdog) and the workers outside the bodies of jobs use \
         in a second of every job at C(0), medians. Policies that suspend jobs on a free CPU have no busy period \
         of the others' length; in a hyperperiod they have done the same work.\n\n",
    );
    page.push_str(&markdown(tables::HYPERPERIODS, &whole.cells));
}

fn fig_6(page: &mut String, paper: &Paper, rows: &[Preemptions]) {
    let (title, printed) = (paper.titles.preemptions, &paper.printed);
    if rows.is_empty() {
        let _ = write!(page, "\n## {title}\n\nNot measured.\n");
        return;
    }
    let _ = write!(
        page,
        "\n## {title}: preemption and priority adjustment\n\n\
         In microseconds. The paper: preemption about {:.0}, return about {:.0}, adjusting eight threads about {:.0}.\n\n",
        as_f64(printed.preemption_ns) / 1000.0,
        as_f64(printed.return_ns) / 1000.0,
        as_f64(printed.adjustment_of_8_ns) / 1000.0,
    );
    page.push_str(&markdown(tables::PREEMPTIONS, rows));
    let micros = |nanos: u64| as_f64(nanos) / 1000.0;
    if let Some(row) = rows.iter().find(|row| row.threads == 8) {
        let sum = micros(row.preemption_ns.0 + row.later_ns.0 + row.return_ns.0);
        let _ = writeln!(
            page,
            "\nA zero-slack instant that suspends eight tasks costs {:.1} + {:.1} + {:.1} = {sum:.1} us (paper: 4 + 5 + 1 = 10).",
            micros(row.preemption_ns.0),
            micros(row.later_ns.0),
            micros(row.return_ns.0),
        );
    }
}

fn variants(page: &mut String, table: &Table, circumstances: &Circumstances) {
    page.push_str("## What was compared\n\n| variant | is |\n|---|---|\n");
    for &index in &table.variants {
        if let Some(Variant { name, what, .. }) = table.paper.variants.get(index) {
            let _ = writeln!(page, "| {name} | {what} |");
        }
    }
    for (name, why) in &circumstances.not_run {
        let _ = writeln!(page, "| {name} | not run: {why} |");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::csv;
    use crate::overhead::measurement::tests::small;

    #[test]
    fn pages_and_tables_hold_what_was_measured() {
        let measurement = small();
        let (table, rows) = (&measurement.table, &measurement.preemptions);
        let page = claims_page(&measurement);
        for words in [
            "| 4 | amc/huang2014 | 1100.0 | 1100.0 | 10.000 (10.000 to 10.000) | 110 |",
            "(11203 us, 0.433 %, 7)",
            "4.0 + 5.0 + 1.0 = 10.0 us",
            "not run: why not",
            // The managers of hyperperiods, if there are any.
            "5.75, 121.39",
            "![overhead over fixed priorities alone](fig5.svg)",
        ] {
            assert!(page.contains(words), "{words} is not in {page}");
        }
        let files = [
            csv(tables::RUNS, &table.named_runs()),
            csv(tables::BUSY_PERIODS, &table.printed()),
            csv(tables::INVOCATIONS, &table.invocations()),
            csv(tables::PREEMPTIONS, rows),
        ];
        let lines = files.each_ref().map(|csv| csv.lines().count());
        assert_eq!(lines, [3, 3, 3, 2]);
        for csv in files {
            let commas = |line: &str| line.matches(',').count();
            let columns = commas(csv.lines().next().unwrap());
            assert!(csv.lines().all(|line| commas(line) == columns), "{csv}");
        }
        let short = in_short(&measurement, "claims.md");
        for words in [
            "Of 2 busy periods 2 were clean",
            "| tasks | smc/none, us | amc/huang2014 |\n|---|---|---|\n| 4 | 1000 | 10.00 |",
            // The second run had a gap: there is no number, and that is said.
            "| 8 | pt/huang2014 | 1.2 | 0.7 | 1 | 120 | 1/0/0 |",
            "| 8 | pt/native | - | - | - | - | 0/1/0 |",
        ] {
            assert!(short.contains(words), "{words} is not in {short}");
        }
        for finding in measurement.findings() {
            let row = format!("| {} | **{}** |", finding.claim, finding.verdict);
            assert!(page.contains(&row) && short.contains(&row), "{row}");
        }
    }
}
