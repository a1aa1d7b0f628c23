//! Answers about the sets of a figure, counted: how many sets of a point have the same answers to all questions, and which the first
//! of them are. So much is enough for shares, comparisons of tests set by set, examples and claims, and stands beside the documentation.

use crate::evaluate::{Answer, Found};
use crate::file::Experiment;
use crate::sweep::seed_of;
use crate::table::{Table, Width};
use std::fmt::Write as _;

/// Of so many sets it is said which they are: as many as there are examples of a pair of answers.
const EXAMPLES: usize = 3;

/// What was answered about the sets of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The command that asked.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// Sets at each point.
    pub sets: u32,
    /// The questions, by their names in results.
    pub questions: Vec<String>,
    rows: Vec<Row>,
}

/// Sets of a point with the same answers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    point: u32,
    answers: Vec<Answer>,
    sets: u32,
    /// The first of them.
    first: Vec<u32>,
}

/// The name of the file.
pub const ANSWERS: &str = "answers.txt";
const FORMAT: &str = "vestal-answers/1";

impl Kept {
    /// Of a table with answers to these questions and nothing else; `None` if it has counts of measures as well.
    #[must_use]
    pub fn of(
        (command, version): (&str, &str),
        sets: u32,
        questions: Vec<String>,
        table: &Table,
    ) -> Option<Self> {
        if !table.counts.is_empty() {
            return None;
        }
        let mut rows: Vec<Row> = Vec::new();
        for (at, (&point, &index)) in table.points.iter().zip(&table.indices).enumerate() {
            let answers: Vec<Answer> = table.answers.iter().map(|column| column[at]).collect();
            let is_same = |row: &&mut Row| row.point == point && row.answers == answers;
            match rows.iter_mut().find(is_same) {
                Some(row) => {
                    row.sets += 1;
                    if row.first.len() < EXAMPLES {
                        row.first.push(index);
                    }
                }
                None => rows.push(Row {
                    point,
                    answers,
                    sets: 1,
                    first: vec![index],
                }),
            }
        }
        Some(Self {
            command: command.to_owned(),
            version: version.to_owned(),
            sets,
            questions,
            rows,
        })
    }

    /// A line for each thing.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{FORMAT}\ncommand {}\nversion {}\nsets {}\n",
            self.command, self.version, self.sets
        );
        for question in &self.questions {
            let _ = writeln!(text, "question {question}");
        }
        text.push_str("point answers sets first\n");
        for row in &self.rows {
            let answers = row.answers.iter().map(|answer| (*answer as u8).to_string());
            let first: Vec<String> = row.first.iter().map(ToString::to_string).collect();
            let (answers, first) = (answers.collect::<String>(), first.join(" "));
            let _ = writeln!(text, "{} {answers} {} {first}", row.point, row.sets);
        }
        text
    }

    /// What was written so; `None` if it was not.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        // Nobody wrote them, and what belongs to the end of a line and what to the line before it is not to be told.
        if text.contains('\r') {
            return None;
        }
        let (head, rows) = text.split_once("\npoint answers sets first\n")?;
        let mut head = head.lines();
        if head.next() != Some(FORMAT) {
            return None;
        }
        let command = head.next()?.strip_prefix("command ")?.to_owned();
        let version = head.next()?.strip_prefix("version ")?.to_owned();
        let sets = head.next()?.strip_prefix("sets ")?.parse().ok()?;
        let questions = head.map(|line| Some(line.strip_prefix("question ")?.to_owned()));
        Some(Self {
            command,
            version,
            sets,
            questions: questions.collect::<Option<_>>()?,
            rows: rows.lines().map(Row::parse).collect::<Option<_>>()?,
        })
    }

    /// A table that says the same: which sets those are of which that is not kept is made up.
    #[must_use]
    pub fn table(&self, experiment: &Experiment) -> Table {
        let mut table = Table::new(Width {
            answers: self.questions.len(),
            counts: 0,
        });
        let points = self.rows.iter().map(|row| row.point).max();
        for point in points.into_iter().flat_map(|last| 0..=last) {
            let rows = || self.rows.iter().filter(|row| row.point == point);
            let known = rows().flat_map(|row| row.first.iter().map(move |index| (*index, row)));
            let mut known: Vec<(u32, &Row)> = known.collect();
            known.sort_by_key(|(index, _)| *index);
            let is_known = |index: &u32| known.iter().any(|(known, _)| known == index);
            let others = rows().flat_map(|row| {
                let others = row
                    .sets
                    .saturating_sub(u32::try_from(row.first.len()).unwrap_or(0));
                (0..others).map(move |_| row)
            });
            let free = (0..).filter(|index| !is_known(index));
            let others: Vec<(u32, &Row)> = free.zip(others).collect();
            // Examples are those that come first.
            for (index, row) in known.iter().copied().chain(others) {
                let found = Found {
                    answers: row.answers.clone(),
                    counts: Vec::new(),
                };
                let seed = seed_of(experiment, point as usize, index);
                table.push(point, index, seed, &found);
            }
        }
        table
    }
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.split(' ');
        let point = cells.next()?.parse().ok()?;
        let answers = cells.next()?.chars().map(|digit| {
            let number = u8::try_from(digit.to_digit(10)?).ok()?;
            Answer::from_number(number)
        });
        let answers = answers.collect::<Option<_>>()?;
        let sets = cells.next()?.parse().ok()?;
        let first = cells.map(|cell| cell.parse().ok());
        let first: Vec<_> = first.collect::<Option<_>>()?;
        // It was written because there is a set with these answers.
        (!first.is_empty()).then_some(Self {
            point,
            answers,
            sets,
            first,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Asked;
    use crate::summary::Summary;
    use vestal_workload::Source;
    use vestal_workload::generate::Random;

    /// Found by a fuzzer: such a text was accepted, and what was written of it was not.
    #[test]
    fn a_row_that_was_cut_before_its_sets_is_refused() {
        let head = "vestal-answers/1\ncommand c\nversion v\nsets 9\nquestion q\npoint answers sets first\n";
        let read = |row: &str| Kept::from_text(&format!("{head}{row}"));
        assert!(read("4 1 8 0 2 3\n").is_some());
        for row in ["4 1 8", "4 1 8 ", "4 1", "4"] {
            assert!(read(row).is_none(), "{row}");
        }
    }

    /// Counts, pairs and examples of a summary do not change by the way.
    #[test]
    fn what_is_kept_says_all_that_a_summary_does() {
        let text = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"huang2014\"\nsets = 60\nseed = 5\n\
                    weight_by = \"utilization\"\ntests = [\"a\", \"b\", \"c\"]\n[vary]\nutilization = [0.2, 0.6, 0.8]\n";
        let experiment = Experiment::parse(&Source::new("x", text)).unwrap();
        let questions = ["a", "b[io=sporadic,events=burst]", "c"].map(str::to_owned);
        let asked = questions.clone().map(Asked::answered);
        let mut random = Random::new(3);
        let mut table = Table::new(Width::of(&asked));
        for point in 0..3_u32 {
            for index in 0..60 {
                // Some patterns are rare.
                let mut answer = || match random.below(30) {
                    0 => Answer::Undecided,
                    1 => Answer::Refused,
                    2..=12 => Answer::No,
                    _ => Answer::Yes,
                };
                let found = Found {
                    answers: vec![answer(), answer(), answer()],
                    counts: Vec::new(),
                };
                let seed = seed_of(&experiment, point as usize, index);
                table.push(point, index, seed, &found);
            }
        }
        let kept = Kept::of(("vestal x", "1"), 60, questions.to_vec(), &table).unwrap();
        let read = Kept::from_text(&kept.to_text()).unwrap();
        assert_eq!(read, kept);
        let again = read.table(&experiment);
        assert_eq!(again.rows(), table.rows());
        assert_ne!(again, table);
        let summary = |table: &Table| {
            let summary = Summary::new(&experiment, &experiment.points(), &asked, table);
            (
                summary.to_csv(),
                summary.pairs_csv(),
                summary.weighted_csv(),
            )
        };
        assert_eq!(summary(&again), summary(&table));
        // Nothing else is taken for it.
        for text in [
            "",
            "vestal-answers/2\n",
            &kept.to_text().replace(" 6", " x"),
        ] {
            assert_eq!(Kept::from_text(text), None);
        }
        let counted = Table {
            counts: vec![Vec::new()],
            ..table
        };
        assert_eq!(Kept::of(("", ""), 60, Vec::new(), &counted), None);
    }
}
