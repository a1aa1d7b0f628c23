//! What was measured as files: tables for programs, and a page for people.

use super::paper;
use super::result::as_f64;
use super::{BASELINE, Finding, Measurement, Preemptions, Quartiles, Table, VARIANTS, Variant};
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

/// The runs, one in a line, in the order of time.
#[must_use]
pub fn runs_csv(table: &Table) -> String {
    let mut text =
        "repetition,tasks,variant,state,busy_ns,switches,own_cpu_ns,workers_cpu_ns,wakeups,\
                    lost_ns,longest_gap_ns,invocations,invocation_mean_ns,invocation_median_ns,invocation_max_ns\n"
            .to_owned();
    for run in table.runs() {
        let name = VARIANTS
            .get(run.variant)
            .map_or("?", |variant| variant.name);
        let state = match run.state {
            super::State::Clean => "clean",
            super::State::Gap => "gap",
            super::State::Other => "other",
        };
        let manager = &run.manager;
        let _ = writeln!(
            text,
            "{},{},{name},{state},{},{},{},{},{},{},{},{},{:.0},{},{}",
            run.repetition,
            run.size,
            run.busy_ns,
            run.switches,
            run.own_cpu_ns,
            run.workers_cpu_ns,
            run.wakeups,
            run.lost_ns,
            run.longest_gap_ns,
            manager.count,
            manager.mean_ns,
            manager.median_ns,
            manager.max_ns
        );
    }
    text
}

/// Table II: a line for each cell, with the paper's where it has one.
#[must_use]
pub fn table_2_csv(table: &Table) -> String {
    let mut text = "tasks,variant,runs,gaps,others,busy_ns,busy_ns_low,busy_ns_high,busy_with_gaps_ns,overhead_percent,\
                    overhead_percent_low,overhead_percent_high,switches,own_cpu_ns,own_cpu_extra_ns,workers_cpu_ns,wakeups,\
                    paper_busy_us,paper_overhead_percent,paper_switches\n"
        .to_owned();
    for cell in &table.cells {
        let median = |spread: Option<Quartiles>, digits: usize| {
            spread.map_or_else(String::new, |found| format!("{:.digits$}", found.median))
        };
        let three = |spread: Option<Quartiles>, digits: usize| match spread {
            Some(found) => format!(
                "{:.digits$},{:.digits$},{:.digits$}",
                found.median, found.low, found.high
            ),
            None => ",,".to_owned(),
        };
        let paper = match cell.paper() {
            Some(paper) => format!(
                "{},{:.3},{}",
                paper.busy_us,
                as_f64(paper.overhead_milli_percent) / 1000.0,
                paper.switches
            ),
            None => ",,".to_owned(),
        };
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{paper}",
            cell.size,
            cell.variant,
            cell.runs,
            cell.gaps,
            cell.others,
            three(cell.busy_ns, 0),
            median(cell.busy_with_gaps_ns, 0),
            three(cell.overhead_percent, 4),
            median(cell.switches, 1),
            median(cell.own_cpu_ns, 0),
            median(cell.own_cpu_extra_ns, 0),
            median(cell.workers_cpu_ns, 0),
            median(cell.wakeups, 1),
        );
    }
    text
}

/// Table III.
#[must_use]
pub fn table_3_csv(table: &Table) -> String {
    let mut text =
        "variant,invocations,mean_ns,median_ns,max_ns,paper_mean_ns,paper_max_ns\n".to_owned();
    for row in table.invocations() {
        let paper = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let found = row.invocations;
        let _ = writeln!(
            text,
            "{},{},{:.0},{},{},{},{}",
            row.variant,
            found.count,
            found.mean_ns,
            found.median_ns,
            found.max_ns,
            paper(row.paper_mean_ns),
            paper(row.paper_max_ns)
        );
    }
    text
}

/// Fig. 6.
#[must_use]
pub fn fig_6_csv(rows: &[Preemptions]) -> String {
    let mut text = "threads,preemption_median_ns,preemption_p99_ns,return_median_ns,return_p99_ns,\
                    first_median_ns,first_max_ns,later_median_ns,later_mean_ns,later_max_ns\n"
        .to_owned();
    for row in rows {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{:.0},{}",
            row.threads,
            row.preemption_ns.0,
            row.preemption_ns.1,
            row.return_ns.0,
            row.return_ns.1,
            row.first_ns.0,
            row.first_ns.1,
            row.later_ns.0,
            row.later_ns.1,
            row.later_ns.2
        );
    }
    text
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
    let mut page = head(circumstances);
    page.push_str("## Claims\n\n");
    page.push_str(&claims_table(&findings));
    page.push_str(RULES);
    page.push_str("\n## By which numbers\n\n");
    for (number, finding) in (1..).zip(&findings) {
        let _ = writeln!(page, "{number}. {}: {}.", finding.verdict, finding.numbers);
    }
    table_2(&mut page, table);
    table_3(&mut page, measurement.of_managers());
    hyperperiods(&mut page, "## Hyperperiods", whole);
    fig_6(&mut page, preemptions);
    page.push_str("\n## Figures\n\n");
    for (name, chart) in super::figures::charts(table, preemptions) {
        let _ = writeln!(page, "![{}]({name})\n", chart.title);
    }
    variants(&mut page, table, circumstances);
    page.push_str(DATA);
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
    let name = |index: &usize| VARIANTS.get(*index).map_or("?", |variant| variant.name);
    let others = || table.variants.iter().filter(|&&index| index != BASELINE);
    let names: Vec<&str> = others().map(name).collect();
    let _ = write!(
        page,
        "\n### Overheads\n\nBusy periods of the baseline, and how much longer others are in percent of it; medians.\n\n\
         | tasks | {}, us | {} |\n|---|---{}|\n",
        name(&BASELINE),
        names.join(" | "),
        "|---".repeat(names.len())
    );
    for &size in &table.sizes {
        let cell = |index: usize| table.cell(size, index);
        let base = cell(BASELINE).and_then(|cell| cell.busy_ns);
        let base = base.map_or_else(|| "-".to_owned(), |s| format!("{:.0}", s.median / 1000.0));
        let each = others().map(|&index| {
            let found = cell(index).and_then(|cell| cell.overhead_percent);
            found.map_or_else(|| "-".to_owned(), |s| format!("{:.2}", s.median))
        });
        let each: Vec<String> = each.collect();
        let _ = writeln!(page, "| {size} | {base} | {} |", each.join(" | "));
    }
}

const RULES: &str = "\n\
*Confirmed* and *refuted* are said only where the measurements say so for certain; *not decided* means that they\n\
do not, or that something was not measured. Runs of the same repetition are compared with each other, and certain\n\
is what the interval of the median of their differences or ratios leaves no doubt of. All intervals of one claim are\n\
right together with 99 %: with eight numbers of tasks that takes eleven pairs of clean runs of each at least, with\n\
three ten. For Fig. 6 a group of fresh threads is a repetition. Every verdict names the numbers of tasks, or of\n\
threads, that it rests on.\n";

const DATA: &str = "\n## Data\n\n\
`runs.csv` has every busy period in the order of time, `table2.csv` medians and quartiles beside the\n\
paper's numbers, `hyperperiods.csv` the same of whole hyperperiods, `measured.json` all of it, `table3.csv` the manager's invocations, `fig6.csv` the micro-benchmark, `set-32.toml` and\n\
its siblings the task sets. Overheads are differences to the baseline's busy period of the same repetition;\n\
busy periods in which the machine took the CPU away, or which were not that of the set, count in no\n\
median. Measured numbers differ from run to run and from machine to machine.\n";

fn head(circumstances: &Circumstances) -> String {
    format!(
        "# Overheads of policies and mechanisms\n\n\
         Table II, Fig. 5, Table III and Fig. 6 of Huang, Gill and Lu (2014), section 5.2, on this machine: {}. \
         {} repetitions. Made by `{}`, vestal {}.\n\n\
         Absolute times belong to the machine; what can be compared with the paper are orders, ratios and \
         shapes.\n\n",
        circumstances.machine,
        circumstances.repetitions,
        circumstances.command,
        circumstances.version
    )
}

fn table_2(page: &mut String, table: &Table) {
    page.push_str(
        "\n## Table II: busy periods\n\n\
         Medians; in brackets quartiles of the overhead, and the paper's numbers for the corresponding \
         column.\n\n\
         | tasks | variant | busy period, us | with gaps | overhead, % | switches | own CPU, us | workers, us | clean/gap/other | paper |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for cell in &table.cells {
        let micros = |spread: Option<Quartiles>| {
            spread.map_or_else(|| "-".to_owned(), |s| format!("{:.1}", s.median / 1000.0))
        };
        let overhead = cell.overhead_percent.map_or_else(
            || "-".to_owned(),
            |s| format!("{:.3} ({:.3} to {:.3})", s.median, s.low, s.high),
        );
        let switches = cell.switches;
        let paper = cell.paper().map_or_else(String::new, |paper| {
            format!(
                "({} us, {:.3} %, {})",
                paper.busy_us,
                as_f64(paper.overhead_milli_percent) / 1000.0,
                paper.switches
            )
        });
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {overhead} | {} | {} | {} | {}/{}/{} | {paper} |",
            cell.size,
            cell.variant,
            micros(cell.busy_ns),
            micros(cell.busy_with_gaps_ns),
            switches.map_or_else(|| "-".to_owned(), |s| format!("{:.0}", s.median)),
            micros(cell.own_cpu_ns),
            micros(cell.workers_cpu_ns),
            cell.runs - cell.gaps - cell.others,
            cell.gaps,
            cell.others,
        );
    }
}

fn table_3(page: &mut String, table: &Table) {
    page.push_str(
        "\n## Table III: invocations of the manager\n\n\
         In hyperperiods, or in busy periods if none were measured.\n\n\
         | variant | invocations | median, us | mean, us | max, us | paper: mean, max |\n|---|---|---|---|---|---|\n",
    );
    for row in table.invocations() {
        let found = row.invocations;
        let paper = match (row.paper_mean_ns, row.paper_max_ns) {
            (Some(mean), Some(most)) => {
                format!("{:.2}, {:.2}", as_f64(mean) / 1000.0, as_f64(most) / 1000.0)
            }
            (_, _) => "no manager".to_owned(),
        };
        let _ = writeln!(
            page,
            "| {} | {} | {:.2} | {:.2} | {:.2} | {paper} |",
            row.variant,
            found.count,
            as_f64(found.median_ns) / 1000.0,
            found.mean_ns / 1000.0,
            as_f64(found.max_ns) / 1000.0,
        );
    }
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
         of the others' length; in a hyperperiod they have done the same work.\n\n\
         | tasks | variant | own CPU, us | workers, us | wake-ups by jobs | switches | clean/gap/other |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for cell in &whole.cells {
        let number = |spread: Option<Quartiles>, unit: f64, digits: usize| {
            spread.map_or_else(
                || "-".to_owned(),
                |found| format!("{:.digits$}", found.median / unit),
            )
        };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {}/{}/{} |",
            cell.size,
            cell.variant,
            number(cell.own_cpu_ns, 1000.0, 1),
            number(cell.workers_cpu_ns, 1000.0, 1),
            number(cell.wakeups, 1.0, 0),
            number(cell.switches, 1.0, 0),
            cell.runs - cell.gaps - cell.others,
            cell.gaps,
            cell.others,
        );
    }
}

fn fig_6(page: &mut String, rows: &[Preemptions]) {
    if rows.is_empty() {
        page.push_str("\n## Fig. 6\n\nNot measured.\n");
        return;
    }
    let _ = write!(
        page,
        "\n## Fig. 6: preemption and priority adjustment\n\n\
         In microseconds. The paper: preemption about {:.0}, return about {:.0}, adjusting eight threads about {:.0}.\n\n\
         | threads | preemption | return | first adjustment | later: median, mean, max |\n|---|---|---|---|---|\n",
        as_f64(paper::PREEMPTION_NS) / 1000.0,
        as_f64(paper::RETURN_NS) / 1000.0,
        as_f64(paper::ADJUSTMENT_OF_8_NS) / 1000.0,
    );
    let micros = |nanos: u64| as_f64(nanos) / 1000.0;
    for row in rows {
        let _ = writeln!(
            page,
            "| {} | {:.2} | {:.2} | {:.2} | {:.2}, {:.2}, {:.2} |",
            row.threads,
            micros(row.preemption_ns.0),
            micros(row.return_ns.0),
            micros(row.first_ns.0),
            micros(row.later_ns.0),
            row.later_ns.1 / 1000.0,
            micros(row.later_ns.2),
        );
    }
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
        if let Some(Variant { name, what, .. }) = VARIANTS.get(index) {
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
        assert_eq!(runs_csv(table).lines().count(), 3);
        assert_eq!(table_2_csv(table).lines().count(), 3);
        assert_eq!(table_3_csv(table).lines().count(), 3);
        assert_eq!(fig_6_csv(rows).lines().count(), 2);
        for csv in [
            runs_csv(table),
            table_2_csv(table),
            table_3_csv(table),
            fig_6_csv(rows),
        ] {
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
