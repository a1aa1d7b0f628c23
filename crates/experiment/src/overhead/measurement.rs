//! A measurement with everything that was made of it, as a file that can be kept: all tables, figures, and
//! verdicts follow from it again.

use super::claims::{self, findings};
use super::page::Circumstances;
use super::{Finding, Invocations, Preemptions, Run, State, Table, VARIANTS, Variant};
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

/// The file: runs as rows in the order of [`Row`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    machine: String,
    command: String,
    version: String,
    repetitions: u32,
    not_run: Vec<(String, String)>,
    preemptions: Vec<Preemptions>,
    busy_periods: Vec<Row>,
    hyperperiods: Vec<Row>,
}

/// A run: repetition, tasks, variant, state, busy period, switches, CPU time of the run's own threads and of
/// workers outside of jobs, wake-ups, what the machine took in all and at most at once; number, mean, median and
/// maximum of the manager's invocations. Times are in nanoseconds.
#[derive(Serialize, Deserialize)]
struct Row(
    u32,
    usize,
    String,
    State,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    (u64, f64, u64, u64),
);

impl Row {
    fn of(run: &Run) -> Self {
        let variant = VARIANTS
            .get(run.variant)
            .map_or("?", |variant| variant.name);
        let manager = &run.manager;
        Self(
            run.repetition,
            run.size,
            variant.to_owned(),
            run.state,
            run.busy_ns,
            run.switches,
            run.own_cpu_ns,
            run.workers_cpu_ns,
            run.wakeups,
            run.lost_ns,
            run.longest_gap_ns,
            (
                manager.count,
                manager.mean_ns,
                manager.median_ns,
                manager.max_ns,
            ),
        )
    }

    fn run(self) -> Result<Run, String> {
        let (count, mean_ns, median_ns, max_ns) = self.11;
        let manager = Invocations {
            count,
            mean_ns,
            median_ns,
            max_ns,
        };
        Ok(Run {
            repetition: self.0,
            size: self.1,
            variant: index_of(&self.2)?,
            state: self.3,
            busy_ns: self.4,
            switches: self.5,
            own_cpu_ns: self.6,
            workers_cpu_ns: self.7,
            wakeups: self.8,
            lost_ns: self.9,
            longest_gap_ns: self.10,
            manager,
        })
    }
}

fn index_of(name: &str) -> Result<usize, String> {
    let index = Variant::named(name).map(|(index, _)| index);
    index.ok_or_else(|| format!("there is no variant `{name}`"))
}

impl Measurement {
    /// Every claim with what became of it.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        findings(&self.table, &self.whole, &self.preemptions)
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
        let mut text = format!(
            "{{\n\"format\": {},\n\"machine\": {},\n\"command\": {},\n\"version\": {},\n\
             \"repetitions\": {repetitions},\n\"not_run\": {},\n",
            serde_json::to_string(FORMAT)?,
            serde_json::to_string(machine)?,
            serde_json::to_string(command)?,
            serde_json::to_string(version)?,
            serde_json::to_string(not_run)?,
        );
        lines(&mut text, "preemptions", &self.preemptions)?;
        text.push_str(",\n");
        let rows = |table: &Table| table.runs().iter().map(Row::of).collect::<Vec<Row>>();
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
        let table = |rows: Vec<Row>| -> Result<Table, String> {
            let runs: Result<Vec<Run>, String> = rows.into_iter().map(Row::run).collect();
            runs.map(Table::of)
        };
        let not_run = file.not_run.into_iter().map(|(name, why)| {
            let index = index_of(&name)?;
            Ok((VARIANTS.get(index).map_or("?", |variant| variant.name), why))
        });
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
    use crate::overhead::Group;
    use crate::overhead::result::tests::run;

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
            table: Table::of(runs),
            whole: Table::of(vec![clean, gap]),
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
            table: Table::of(Vec::new()),
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
