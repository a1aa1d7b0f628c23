//! The file that runs are written to one by one, so that a measurement that was stopped goes on where it was.

use super::output::RUNS;
use crate::failure::Failure;
use crate::input::shown;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use vestal_experiment::overhead::journal::{Head, line, read};

/// Where runs are written to as they come.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// In this directory, with the runs that are there.
    pub(super) fn open<R: DeserializeOwned>(
        directory: &Path,
        head: &Head,
    ) -> Result<(Self, Vec<R>), Failure> {
        let path = directory.join(RUNS);
        fs::create_dir_all(directory).map_err(|error| refused(directory, &error))?;
        let text = match path.exists() {
            true => fs::read_to_string(&path).map_err(|error| refused(&path, &error))?,
            false => String::new(),
        };
        let runs = read(&text, head).map_err(|why| {
            Failure::input(format!("go on with {}", shown(&path)), why)
                .with_help("name another directory with -o DIR, or give the same options as before")
        })?;
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let mut file = file.map_err(|error| refused(&path, &error))?;
        // What was left of a last line, and a file without any.
        let whole = match runs.is_empty() {
            // Whatever its head says, it is of no run.
            true => 0,
            false => text.rfind('\n').map_or(0, |end| end + 1),
        };
        file.set_len(whole as u64)
            .map_err(|error| refused(&path, &error))?;
        if whole == 0 {
            let line = head.line().map_err(unwritten)?;
            file.write_all(line.as_bytes())
                .map_err(|error| refused(&path, &error))?;
        }
        Ok((Self { path, file }, runs))
    }

    pub(super) fn put<R: Serialize>(&mut self, run: &R) -> Result<(), Failure> {
        let line = line(run).map_err(unwritten)?;
        let done = self.file.write_all(line.as_bytes());
        done.map_err(|error| refused(&self.path, &error))
    }
}

fn unwritten(error: serde_json::Error) -> Failure {
    Failure::bug("write a run as JSON", error.to_string())
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("write {}", path.display()), error.to_string())
        .with_help("name a directory that can be written with -o DIR")
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_experiment::overhead::journal::SHARES;

    #[test]
    fn a_journal_without_a_run_goes_on_under_another_head() {
        let directory = std::env::temp_dir().join(format!("vestal-journal-{}", std::process::id()));
        let head = |cpus| Head::new(SHARES, "1", "a machine".to_owned(), (cpus, [5, 6]));
        for cpus in [vec![9], vec![1, 0]] {
            let opened = Journal::open::<u64>(&directory, &head(cpus.clone()));
            let (_, runs) = opened.unwrap_or_else(|failure| panic!("{}", failure.why));
            let text = fs::read_to_string(directory.join(RUNS)).unwrap();
            assert_eq!((runs.len(), text), (0, head(cpus).line().unwrap()));
        }
        fs::remove_dir_all(&directory).unwrap();
    }
}
