//! All tests at a glance, and the sentence that says what came of them.

use super::levels;
use super::result::TestResult;
use super::section::{section, verdict_style, worth};
use super::strongest::strongest;
use crate::args::AnalyzeArgs;
use crate::commands::overheads::Source;
use crate::output::{Output, Painter, Style};
use crate::quantity::cut;
use crate::table::{Grid, styled};
use vestal_result::analysis::Analysis;
use vestal_workload::TaskSet;

/// Below this width a reason is not cut.
const REASON_WIDTH_MIN: usize = 20;
/// Between two columns.
const SPACE: usize = 2;

/// What came of the tests that were asked.
pub(super) struct Answers<'a> {
    set: &'a TaskSet,
    results: &'a [TestResult],
    /// Those which prove what was asked for.
    proofs: Vec<&'a TestResult>,
    /// The one of them that people are shown.
    pub(super) strongest: Option<&'a TestResult>,
    /// A line about the overheads that are taken into account; empty without.
    overheads: String,
}

impl<'a> Answers<'a> {
    pub(super) fn new(
        args: &AnalyzeArgs,
        set: &'a TaskSet,
        results: &'a [TestResult],
        overheads: Option<&Source>,
    ) -> Self {
        let proofs = results.iter().filter(|result| result.answers(args, set));
        let proofs: Vec<&TestResult> = proofs.collect();
        let said: Vec<&Analysis> = proofs.iter().map(|proof| &proof.said).collect();
        let strongest = strongest(&said).and_then(|index| proofs.get(index).copied());
        let overheads = overheads.map(|overheads| format!("{}\n", overheads.in_words()));
        Self {
            set,
            results,
            proofs,
            strongest,
            overheads: overheads.unwrap_or_default(),
        }
    }

    /// For people: tests that were named in full, others in a table, with the strongest proof in full.
    pub(super) fn page(&self, args: &AnalyzeArgs, output: &Output) -> String {
        let painter = output.painter();
        let sections = |results: &[&TestResult]| {
            let texts = results.iter();
            let texts = texts.map(|result| section(result, self.set, output));
            texts.collect::<String>()
        };
        let all: Vec<&TestResult> = self.results.iter().collect();
        let conclusion = self.conclusion(args, painter);
        if args.names_tests() {
            let overheads = match self.overheads.is_empty() {
                true => String::new(),
                false => format!("{}\n", self.overheads),
            };
            return format!("{overheads}{}{conclusion}", sections(&all));
        }
        let mut text = format!("{conclusion}{}\n", self.overheads);
        // Of a single test the table says no more than its details do.
        let is_table = all.len() > 1;
        if is_table {
            text.push_str(&self.table(output));
        }
        let shown = match self.strongest {
            _ if args.details || !is_table => all,
            Some(proof) => vec![proof],
            None => Vec::new(),
        };
        if is_table && !shown.is_empty() {
            text.push('\n');
        }
        text.push_str(&sections(&shown));
        format!("{}\n", text.trim_end_matches('\n'))
    }

    /// A line for each test.
    fn table(&self, output: &Output) -> String {
        let why = |result: &TestResult| {
            let why = result.said.why.clone().or_else(|| worth(result));
            why.unwrap_or_default()
        };
        let mechanism = |result: &TestResult| result.said.mechanism.clone().unwrap_or_default();
        let time = |result: &TestResult| format!("{} us", result.said.elapsed_us);
        let rows: Vec<&TestResult> = self.results.iter().collect();
        let has =
            |cell: &dyn Fn(&TestResult) -> String| rows.iter().any(|row| !cell(row).is_empty());
        let width = |name: &str, cell: &dyn Fn(&TestResult) -> String| {
            let cells = rows.iter().map(|row| cell(row).chars().count());
            cells.chain([name.len()]).max().unwrap_or(0) + SPACE
        };
        let mut others = width("test", &|row| row.said.name())
            + width("verdict", &|row| row.said.verdict.to_string())
            + width("kind", &|row| row.said.kind.to_string())
            + width("time", &time);
        let mut grid = Grid::of(&rows, output)
            .text("test", |row| row.said.name())
            .text("verdict", |row| {
                let verdict = row.said.verdict;
                styled(verdict, Some(verdict_style(verdict)))
            })
            .text("kind", |row| row.said.kind.to_string());
        if has(&mechanism) {
            others += width("mechanism", &mechanism);
            grid = grid.text("mechanism", |row| mechanism(row));
        }
        if has(&why) {
            let room = output
                .table_width()
                .map(|all| all.saturating_sub(others + SPACE));
            grid = grid.text("why", |row| match room {
                Some(room) => cut(&why(row), room.max(REASON_WIDTH_MIN)),
                None => why(row),
            });
        }
        // It differs from run to run, and so does its width.
        grid.text("time", |row| time(row)).render()
    }

    /// What the proofs say together.
    fn conclusion(&self, args: &AnalyzeArgs, painter: Painter) -> String {
        let name = match self.set.name.as_str() {
            "" => "The task set",
            name => name,
        };
        let mut proved = self.results.iter().filter(|result| result.is_proved());
        let promised = match proved.any(|result| result.is_for_levels) {
            true => levels::promised(self.set),
            false => String::new(),
        };
        let Some(strongest) = self.strongest else {
            let not = painter.paint(Style::Bad, "not proved");
            return format!("{name} is {not} schedulable by any of these tests.\n{promised}");
        };
        let names = self.proofs.iter().map(|proof| proof.said.name());
        let by = match self.results.len() {
            all if all > 1 && !args.names_tests() => {
                let (proofs, strongest) = (self.proofs.len(), strongest.said.name());
                format!("{proofs} of {all} tests; the strongest proof is {strongest}")
            }
            _ => names.collect::<Vec<_>>().join(", "),
        };
        let schedulable = painter.paint(Style::Good, "schedulable");
        format!("{name} is {schedulable} by {by}.\n{promised}")
    }
}
