//! Runs as they come, a line each, so that a measurement that was stopped goes on where it was.

use super::run::Run;
use serde::{Deserialize, Serialize};

/// What runs have to have in common to stand in one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    format: String,
    /// Which program measured.
    pub version: String,
    /// On which machine.
    pub machine: String,
    /// On which of its CPUs.
    pub cpus: Vec<usize>,
    /// How long each run of a drawn set takes, and each of a file.
    pub interval_ns: [u64; 2],
}

const FORMAT: &str = "vestal-shares/1";

impl Head {
    /// Of these.
    #[must_use]
    pub fn new(version: &str, machine: String, cpus: Vec<usize>, interval_ns: [u64; 2]) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: version.to_owned(),
            machine,
            cpus,
            interval_ns,
        }
    }

    /// Its line.
    ///
    /// # Errors
    /// What the library says.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self).map(|text| text + "\n")
    }
}

/// The line of a run.
///
/// # Errors
/// What the library says.
pub fn line(run: &Run) -> Result<String, serde_json::Error> {
    serde_json::to_string(run).map(|text| text + "\n")
}

/// Lines with their numbers.
type Lines<'a> = Vec<(usize, &'a str)>;

/// The head of such a file and the lines of its runs with their numbers; `None`: it has not even a head. What a program that was
/// killed left of a last line does not count.
fn parts(text: &str) -> Result<Option<(Head, Lines<'_>)>, String> {
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut lines = (1..).zip(whole.lines());
    let Some((_, first)) = lines.next() else {
        return Ok(None);
    };
    let head = serde_json::from_str(first).map_err(|error| format!("line 1: {error}"))?;
    Ok(Some((head, lines.collect())))
}

fn runs(lines: Lines<'_>) -> Result<Vec<Run>, String> {
    let runs = lines.into_iter().map(|(number, line)| {
        serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))
    });
    runs.collect()
}

/// The head and the runs of such a file; `None`: it has not even a head.
///
/// # Errors
/// In words, what is wrong with it, and where.
pub fn parse(text: &str) -> Result<Option<(Head, Vec<Run>)>, String> {
    let Some((head, lines)) = parts(text)? else {
        return Ok(None);
    };
    Ok(Some((head, runs(lines)?)))
}

/// The runs of such a file, if they were measured under the same head. A head without any run binds nobody.
///
/// # Errors
/// In words, what is wrong with it, and where.
pub fn read(text: &str, head: &Head) -> Result<Vec<Run>, String> {
    let Some((found, lines)) = parts(text)? else {
        return Ok(Vec::new());
    };
    let same = [
        ("format", found.format == head.format),
        ("version of vestal", found.version == head.version),
        ("machine", found.machine == head.machine),
        ("list of CPUs", found.cpus == head.cpus),
        ("length of runs", found.interval_ns == head.interval_ns),
    ];
    match same.iter().find(|(_, same)| !same) {
        Some((what, _)) if !lines.is_empty() => {
            Err(format!("line 1: its runs have another {what}"))
        }
        Some(_) | None => runs(lines),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{drawn, made};
    use super::*;

    fn head() -> Head {
        Head::new("1", "a machine".to_owned(), vec![0, 1], [5, 6])
    }

    #[test]
    fn runs_are_read_back_up_to_the_last_whole_line() {
        let runs = [
            made(drawn(1, 200), 0, "ftts/spin", 7),
            made(drawn(2, 200), 3, "pedf-vd/manager", 9),
        ];
        let mut text = head().line().unwrap();
        assert_eq!(read(&text, &head()).unwrap(), []);
        for run in &runs {
            text.push_str(&line(run).unwrap());
        }
        assert_eq!(read(&text, &head()).unwrap(), runs);
        let cut = &text[..text.len() - 5];
        assert_eq!(read(cut, &head()).unwrap(), runs[..1]);
        assert_eq!(read("", &head()).unwrap(), []);
        assert_eq!(parse(cut).unwrap(), Some((head(), runs[..1].to_vec())));
        assert_eq!(parse("").unwrap(), None);
    }

    #[test]
    fn what_was_measured_otherwise_is_refused_with_its_place() {
        let empty = head().line().unwrap();
        let text = empty.clone() + &line(&made(drawn(1, 200), 0, "ftts/spin", 7)).unwrap();
        let other = Head {
            cpus: vec![1],
            ..head()
        };
        assert_eq!(
            read(&text, &other).unwrap_err(),
            "line 1: its runs have another list of CPUs"
        );
        assert_eq!(read(&empty, &other).unwrap(), []);
        let other = Head {
            interval_ns: [5, 7],
            ..head()
        };
        assert!(read(&text, &other).unwrap_err().contains("length of runs"));
        let broken = format!("{text}{{\"place\": 1}}\n");
        let why = read(&broken, &head()).unwrap_err();
        assert!(why.starts_with("line 3: "), "{why}");
        assert!(
            read("nonsense\n", &head())
                .unwrap_err()
                .starts_with("line 1: ")
        );
    }
}
