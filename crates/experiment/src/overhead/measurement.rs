//! A measurement with everything that was made of it, as a file that can be kept: all tables, figures, and
//! verdicts follow from it again.

use super::claims;
use super::page::Circumstances;
use super::paper::{Measured, Paper};
use super::result::{Row, index_of};
use super::{Finding, HUANG2014, Preemptions, Run, Table, paper_of};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// What was measured, and under which circumstances.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// What a page says beside the data.
    pub circumstances: Circumstances,
    /// Busy periods.
    pub table: Table,
    /// Hyperperiods.
    pub whole: Table,
    /// The micro-benchmark.
    pub preemptions: Vec<Preemptions>,
}

const FORMAT: &str = "vestal-overhead/1";

/// The file: runs as lists in the order of the fields of [`Run`]. Without a paper it is of the first one.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    paper: Option<String>,
    machine: String,
    command: String,
    version: String,
    repetitions: u32,
    not_run: Vec<(String, String)>,
    preemptions: Vec<Preemptions>,
    busy_periods: Vec<Row>,
    hyperperiods: Vec<Row>,
}

impl Measurement {
    /// Every claim with what became of it.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.paper().findings(Measured {
            table: &self.table,
            whole: &self.whole,
            preemptions: &self.preemptions,
        })
    }

    /// Whose measurement it repeats.
    #[must_use]
    pub const fn paper(&self) -> &'static Paper {
        self.table.paper
    }

    /// The runs of Table III.
    #[must_use]
    pub fn of_managers(&self) -> &Table {
        claims::of_managers(&self.table, &self.whole)
    }

    /// The file, with a line for each run.
    ///
    /// # Errors
    /// What the library says.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let Circumstances {
            command,
            version,
            machine,
            repetitions,
            not_run,
        } = &self.circumstances;
        let paper = match self.paper() == &HUANG2014 {
            true => String::new(),
            false => format!(
                "\"paper\": {},\n",
                serde_json::to_string(self.paper().name)?
            ),
        };
        let row = |run: &Run| Row::of(run, self.paper());
        let rows = |table: &Table| -> Vec<Row> { table.runs().iter().map(row).collect() };
        let mut text = format!(
            "{{\n\"format\": {},\n{paper}\"machine\": {},\n\"command\": {},\n\"version\": {},\n\
             \"repetitions\": {repetitions},\n\"not_run\": {},\n",
            serde_json::to_string(FORMAT)?,
            serde_json::to_string(machine)?,
            serde_json::to_string(command)?,
            serde_json::to_string(version)?,
            serde_json::to_string(not_run)?,
        );
        lines(&mut text, "preemptions", &self.preemptions)?;
        text.push_str(",\n");
        lines(&mut text, "busy_periods", &rows(&self.table))?;
        text.push_str(",\n");
        lines(&mut text, "hyperperiods", &rows(&self.whole))?;
        text.push_str("\n}\n");
        Ok(text)
    }

    /// From such a file.
    ///
    /// # Errors
    /// In words, what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if file.format != FORMAT {
            return Err(format!("its format is {}, expected {FORMAT}", file.format));
        }
        let name = file.paper.as_deref().unwrap_or(HUANG2014.name);
        let paper = paper_of(name).ok_or_else(|| format!("there is no measurement of `{name}`"))?;
        let table = |rows: Vec<Row>| {
            let runs = rows.into_iter().map(|row| row.run(paper));
            Ok::<_, String>(Table::of(paper, runs.collect::<Result<_, _>>()?))
        };
        let not_run = file
            .not_run
            .into_iter()
            .map(|(name, why)| Ok((paper.name_at(index_of(paper, &name)?), why)));
        Ok(Self {
            circumstances: Circumstances {
                command: file.command,
                version: file.version,
                machine: file.machine,
                repetitions: file.repetitions,
                not_run: not_run.collect::<Result<_, String>>()?,
            },
            table: table(file.busy_periods)?,
            whole: table(file.hyperperiods)?,
            preemptions: file.preemptions,
        })
    }
}

/// A list with an entry in each line.
fn lines<T: Serialize>(
    text: &mut String,
    name: &str,
    entries: &[T],
) -> Result<(), serde_json::Error> {
    // Writing into a string cannot fail.
    let _ = write!(text, "\"{name}\": [");
    for (number, entry) in entries.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n{}", serde_json::to_string(entry)?);
    }
    text.push_str("\n]");
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::overhead::result::tests::run;
    use crate::overhead::{Group, State};

    /// Two repetitions of two variants, and a row of the micro-benchmark.
    pub(in crate::overhead) fn small() -> Measurement {
        let runs = vec![
            run(0, 4, "smc/none", 1000),
            run(0, 4, "amc/huang2014", 1100),
        ];
        let clean = Run {
            workers_cpu_ns: 700,
            ..run(1, 8, "pt/huang2014", 1200)
        };
        let gap = Run {
            state: State::Gap,
            ..run(1, 8, "pt/native", 1200)
        };
        Measurement {
            circumstances: Circumstances {
                command: "vestal bench overhead".to_owned(),
                version: "0".to_owned(),
                machine: "a \"machine\"".to_owned(),
                repetitions: 1,
                not_run: vec![("pt/native", "why not".to_owned())],
            },
            table: Table::of(&HUANG2014, runs),
            whole: Table::of(&HUANG2014, vec![clean, gap]),
            preemptions: vec![Preemptions {
                threads: 8,
                preemption_ns: (4000, 5000),
                return_ns: (1000, 2000),
                first_ns: (9000, 9000),
                later_ns: (5000, 5100.0, 8000),
                groups: vec![Group {
                    preemption_ns: 4000,
                    return_ns: 1000,
                    first_ns: 9000,
                    later_ns: 5000,
                }],
            }],
        }
    }

    #[test]
    fn a_measurement_comes_back_from_its_file() {
        let measurement = small();
        let text = measurement.to_json().unwrap();
        let read = Measurement::from_json(&text).unwrap();
        assert_eq!(read, measurement);
        assert_eq!(read.findings(), measurement.findings());
        assert_eq!(text.lines().filter(|line| line.starts_with('[')).count(), 4);
        let nothing = Measurement {
            table: Table::of(&HUANG2014, Vec::new()),
            preemptions: Vec::new(),
            ..small()
        };
        let read = Measurement::from_json(&nothing.to_json().unwrap()).unwrap();
        assert_eq!(read, nothing);
    }

    #[test]
    fn another_file_is_refused_with_what_is_wrong() {
        let text = small().to_json().unwrap();
        for (from, to, says) in [
            (
                "vestal-overhead/1",
                "vestal-overhead/9",
                "vestal-overhead/9",
            ),
            (
                "amc/huang2014",
                "amc/other",
                "there is no variant `amc/other`",
            ),
            ("\"clean\"", "\"dirty\"", "dirty"),
            ("\"machine\"", "\"engine\"", "engine"),
        ] {
            let error = Measurement::from_json(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
