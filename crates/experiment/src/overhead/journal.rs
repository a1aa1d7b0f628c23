//! Runs as they come, a line each, so that a measurement that was stopped goes on where it was.

use serde::de::DeserializeOwned;
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
    /// How long runs take, of the two lengths that there are.
    pub interval_ns: [u64; 2],
    /// What kind of device events come from, if any do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// The format of a file of shares of the time.
pub const SHARES: &str = "vestal-shares/1";
/// That of one of shares with pairs of sets.
pub const PAIRED_SHARES: &str = "vestal-paired-shares/1";
/// The same of growth.
pub const GROWTH_SHARES: &str = "vestal-growth-shares/1";
/// The same of alternatives.
pub const ALTERNATIVES_SHARES: &str = "vestal-alternatives-shares/1";
/// That of one of cameras.
pub const CAMERAS: &str = "vestal-cameras/3";

impl Head {
    /// Of these, in a format.
    #[must_use]
    pub fn new(
        format: &str,
        version: &str,
        machine: String,
        (cpus, interval_ns): (Vec<usize>, [u64; 2]),
    ) -> Self {
        Self {
            format: format.to_owned(),
            version: version.to_owned(),
            machine,
            cpus,
            interval_ns,
            device: None,
        }
    }

    /// The same with events from devices of a kind.
    #[must_use]
    pub fn with_device(self, kind: &str) -> Self {
        let device = Some(kind.to_owned());
        Self { device, ..self }
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
pub fn line<R: Serialize>(run: &R) -> Result<String, serde_json::Error> {
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

fn runs<R: DeserializeOwned>(lines: Lines<'_>) -> Result<Vec<R>, String> {
    let runs = lines.into_iter().map(|(number, line)| {
        serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))
    });
    runs.collect()
}

/// The head and the runs of such a file; `None`: it has not even a head.
///
/// # Errors
/// In words, what is wrong with it, and where.
pub fn parse<R: DeserializeOwned>(text: &str) -> Result<Option<(Head, Vec<R>)>, String> {
    let Some((head, lines)) = parts(text)? else {
        return Ok(None);
    };
    Ok(Some((head, runs(lines)?)))
}

/// The runs of such a file, if they were measured under the same head. A head without any run binds nobody.
///
/// # Errors
/// In words, what is wrong with it, and where.
pub fn read<R: DeserializeOwned>(text: &str, head: &Head) -> Result<Vec<R>, String> {
    let Some((found, lines)) = parts(text)? else {
        return Ok(Vec::new());
    };
    let same = [
        ("format", found.format == head.format),
        ("version of vestal", found.version == head.version),
        ("machine", found.machine == head.machine),
        ("list of CPUs", found.cpus == head.cpus),
        ("length of runs", found.interval_ns == head.interval_ns),
        ("kind of device", found.device == head.device),
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
    use super::*;

    type Made = (String, u64);

    fn head() -> Head {
        Head::new(SHARES, "1", "a machine".to_owned(), (vec![0, 1], [5, 6]))
    }

    fn made(name: &str, number: u64) -> Made {
        (name.to_owned(), number)
    }

    #[test]
    fn runs_are_read_back_up_to_the_last_whole_line() {
        let runs = [made("one", 7), made("other", 9)];
        let mut text = head().line().unwrap();
        assert!(!text.contains("device"), "{text}");
        assert_eq!(read::<Made>(&text, &head()).unwrap(), []);
        for run in &runs {
            text.push_str(&line(run).unwrap());
        }
        assert_eq!(read::<Made>(&text, &head()).unwrap(), runs);
        let cut = &text[..text.len() - 5];
        assert_eq!(read::<Made>(cut, &head()).unwrap(), runs[..1]);
        assert_eq!(read::<Made>("", &head()).unwrap(), []);
        assert_eq!(parse(cut).unwrap(), Some((head(), runs[..1].to_vec())));
        assert_eq!(parse::<Made>("").unwrap(), None);
    }

    #[test]
    fn what_was_measured_otherwise_is_refused_with_its_place() {
        let empty = head().line().unwrap();
        let text = empty.clone() + &line(&made("one", 7)).unwrap();
        let read = |text: &str, head: &Head| read::<Made>(text, head);
        let cpus = vec![1];
        let interval_ns = [5, 7];
        let machine = "another".to_owned();
        for (other, what) in [
            (Head { cpus, ..head() }, "list of CPUs"),
            (
                Head {
                    interval_ns,
                    ..head()
                },
                "length of runs",
            ),
            (Head { machine, ..head() }, "machine"),
            (head().with_device("pty"), "kind of device"),
        ] {
            let why = read(&text, &other).unwrap_err();
            assert_eq!(why, format!("line 1: its runs have another {what}"));
            assert_eq!(read(&empty, &other).unwrap(), []);
        }
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
