//! A result that is read back: what it says is all there is in its directory.

use crate::diagnose::problem;
use crate::file::Experiment;
use crate::measure::{Asked, Counted, Measure};
use crate::store::{Manifest, Rows, Store, StoreError};
use crate::summary::Summary;
use std::fmt;
use vestal_workload::{Diagnostics, Source};

/// Why a result cannot be read back.
#[derive(Debug)]
pub enum StoredError {
    /// Its directory cannot be used, or a file in it is damaged.
    Store(StoreError),
    /// It has no results yet.
    Unfinished,
    /// Its experiment is none that this version reads.
    Experiment(Diagnostics),
}

impl fmt::Display for StoredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "{error}"),
            Self::Unfinished => f.write_str("it has no results.parquet: the sweep is not complete"),
            Self::Experiment(found) => write!(f, "{found}"),
        }
    }
}

impl std::error::Error for StoredError {}

/// The experiment of a result, and what it came to. O(rows x questions^2).
///
/// # Errors
/// [`StoredError`] if the sweep is not complete, or a file is not what it was.
pub fn read(store: &Store) -> Result<(Experiment, Summary), StoredError> {
    let name = store.path("experiment.toml").display().to_string();
    let source = Source::new(&name, &store.text);
    let experiment = Experiment::parse(&source).map_err(StoredError::Experiment)?;
    let experiment = experiment.with_sets(store.manifest.sets);
    let Some(asked) = asked(&store.manifest) else {
        let help = "run the sweep again into another directory";
        let found = "counts that belong to no question".to_owned();
        let found = problem(&source, None, "", found, "the manifest of a sweep", help);
        return Err(StoredError::Experiment(found));
    };
    match store.rows("results.parquet").map_err(StoredError::Store)? {
        Rows::Whole(table) => {
            let summary = Summary::new(&experiment, &experiment.points(), &asked, &table);
            Ok((experiment, summary))
        }
        Rows::Absent => Err(StoredError::Unfinished),
        Rows::Damaged(damage) => Err(StoredError::Store(StoreError::Damaged(damage))),
    }
}

/// What was asked, by the names of the columns; `None` if some counts belong to none of them.
fn asked(manifest: &Manifest) -> Option<Vec<Asked>> {
    let mut counts = manifest.counts.iter().peekable();
    let mut all = Vec::with_capacity(manifest.columns.len());
    for label in &manifest.columns {
        let measure = label.split(':').next().and_then(Measure::named);
        let mut asked = Asked::answered(label);
        if let Some(measure) = measure {
            let level = |count: &str, which: &str| -> Option<String> {
                let rest = count.strip_prefix(label)?.strip_prefix(':')?;
                // It may be that of another question whose name goes on after this one's.
                let is_longer = |other: &&String| other.len() > label.len();
                let mut longer = manifest.columns.iter().filter(is_longer);
                if longer.any(|other| count.starts_with(&format!("{other}:"))) {
                    return None;
                }
                Some(rest.strip_suffix(which)?.strip_suffix(':')?.to_owned())
            };
            let [first, second] = measure.counts;
            let mut levels = Vec::new();
            while let Some(name) = counts.peek().and_then(|count| level(count, first)) {
                counts.next();
                level(counts.next()?, second).filter(|other| *other == name)?;
                levels.push(name);
            }
            if !levels.is_empty() {
                asked.counted = Some(Counted { measure, levels });
            }
        }
        all.push(asked);
    }
    counts.next().is_none().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Program;

    fn measured(label: &str, levels: &[&str]) -> Asked {
        let measure = label.split(':').next().and_then(Measure::named).unwrap();
        Asked {
            counted: Some(Counted {
                measure,
                levels: levels.iter().map(|&name| name.to_owned()).collect(),
            }),
            ..Asked::answered(label)
        }
    }

    #[test]
    fn what_was_asked_follows_from_the_names_of_the_columns() {
        let text = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"huang2014\"\nsets = 4\ntests = [\"smc\"]\n";
        let experiment = Experiment::parse(&Source::new("x", text)).unwrap();
        // A level may be called like a count, and a label may begin with another one.
        let all = [
            Asked::answered("smc"),
            measured("miss-ratio:amc/hi", &["LO", "missed"]),
            measured("miss-ratio:amc/hi:5", &["LO", "missed"]),
            Asked::answered("sim:amc/hi"),
            measured("drop-ratio:amc/hi", &["A"]),
        ];
        let program = Program {
            version: "1".to_owned(),
            checksum: None,
        };
        let mut manifest = Manifest::new(program, &experiment, &all);
        let found = asked(&manifest).unwrap();
        let names = |all: &[Asked]| -> Vec<(String, Vec<String>)> {
            let names = all.iter().map(|asked| (asked.label.clone(), asked.parts()));
            names.collect()
        };
        assert_eq!(names(&found), names(&all));
        manifest.counts.push("x:LO:missed".to_owned());
        assert!(asked(&manifest).is_none());
    }
}
