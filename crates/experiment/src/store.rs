//! The directory of a result: what is in it, whose it is, and how files come to be.
//!
//! ```text
//! DIR/manifest.json       experiment, version, number of sets
//! DIR/experiment.toml     the experiment file, byte by byte
//! DIR/chunks/*.parquet    one file for each chunk of each point
//! DIR/results.parquet ... what is made of the chunks when all are there
//! ```
//!
//! Every file is written under a temporary name, synced, and renamed: it is there completely or not
//! at all, whenever the program or the machine stops. What is done is which files exist and are what
//! was written: Parquet files have their checksum inside, the manifest and the experiment file make up
//! the fingerprint, and everything else follows from the chunks.

use crate::anew::create_anew;
use crate::checksum::Fnv;
use crate::file::Experiment;
use crate::measure::Asked;
use crate::table::{Table, Unfit, Width};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The format of the directory.
const FORMAT: &str = "vestal-sweep/3";

const MANIFEST: &str = "manifest.json";
const EXPERIMENT: &str = "experiment.toml";

/// Who computes a result.
#[derive(Clone, Debug)]
pub struct Program {
    /// The version with its commit.
    pub version: String,
    /// The checksum of the program itself, where tests or policies take part that it does not share
    /// with every program of this version.
    pub checksum: Option<String>,
}

/// Who wrote a result, in `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: String,
    /// The version of the program with its commit.
    pub version: String,
    /// The checksum of the program, if it takes part with tests or policies of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// The name of the experiment.
    pub experiment: String,
    /// A checksum of everything else that stands here and of the experiment file's text.
    pub fingerprint: String,
    /// Sets at each point: that of the file, or fewer for a quick look.
    pub sets: u32,
    /// What was asked of every set, in the order of the columns.
    pub columns: Vec<String>,
    /// What was counted in every set, in the order of the columns behind these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<String>,
    /// The overheads with which tests were asked, of each its column and what it took into account.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overheads: Vec<String>,
}

impl Manifest {
    /// The manifest of an experiment whose answers this program computes.
    #[must_use]
    pub fn new(program: Program, experiment: &Experiment, asked: &[Asked]) -> Self {
        let mut manifest = Self {
            format: FORMAT.to_owned(),
            version: program.version,
            program: program.checksum,
            experiment: experiment.name.clone(),
            fingerprint: String::new(),
            sets: experiment.sets,
            columns: asked.iter().map(|asked| asked.label.clone()).collect(),
            counts: asked.iter().flat_map(Asked::counts).collect(),
            overheads: asked.iter().filter_map(Asked::overheads).collect(),
        };
        manifest.fingerprint = manifest.fingerprint_with(&experiment.source.text);
        manifest
    }

    fn width(&self) -> Width {
        Width {
            answers: self.columns.len(),
            counts: self.counts.len(),
        }
    }

    /// What the fingerprint is if the experiment file has this text.
    fn fingerprint_with(&self, text: &str) -> String {
        let mut state = Fnv::default();
        let program = self.program.as_deref().unwrap_or_default();
        let sets = self.sets.to_string();
        for part in [
            &self.format,
            &self.version,
            program,
            &self.experiment,
            &sets,
        ] {
            state.add_text(part);
        }
        self.columns
            .iter()
            .for_each(|column| state.add_text(column));
        if !self.counts.is_empty() {
            // No column is called so: where the ones end and the others begin makes a difference.
            state.add_text("");
        }
        self.counts.iter().for_each(|count| state.add_text(count));
        if !self.overheads.is_empty() {
            state.add_text("");
        }
        self.overheads.iter().for_each(|of| state.add_text(of));
        state.add_text(text);
        state.digits()
    }
}

/// A file that was not what had been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Which file.
    pub path: PathBuf,
    /// What was wrong with it.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "V0702: {} is damaged: {}",
            self.path.display(),
            self.what
        )
    }
}

/// Why a result directory cannot be used.
#[derive(Debug)]
pub enum StoreError {
    /// The operating system refused something.
    Io {
        /// With which file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// The directory has a result of another experiment, or of another version of the program.
    Foreign {
        /// The directory.
        path: PathBuf,
        /// What differs, in words.
        what: String,
    },
    /// The directory has results of this very experiment, and going on with them was not asked for.
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// A file is not what it was when it was written.
    Damaged(Damage),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Foreign { path, what } => {
                write!(f, "V0701: {} holds another result: {what}", path.display())
            }
            Self::Exists { path } => write!(
                f,
                "{} has results of this experiment already",
                path.display()
            ),
            Self::Damaged(damage) => damage.fmt(f),
        }
    }
}

impl std::error::Error for StoreError {}

pub(crate) fn io_error(path: &Path) -> impl Fn(io::Error) -> StoreError {
    let path = path.to_owned();
    move |error| StoreError::Io {
        path: path.clone(),
        error,
    }
}

fn damaged(path: &Path, what: impl Into<String>) -> StoreError {
    StoreError::Damaged(Damage {
        path: path.to_owned(),
        what: what.into(),
    })
}

fn foreign(path: &Path, what: impl Into<String>) -> StoreError {
    StoreError::Foreign {
        path: path.to_owned(),
        what: what.into(),
    }
}

/// The bytes of a file, if it is there.
fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path)(error)),
    }
}

/// A result directory.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Whose it is.
    pub manifest: Manifest,
    /// The experiment file's text.
    pub text: String,
    /// Files that were damaged when it was opened, and were written again.
    pub mended: Vec<Damage>,
}

/// What became of a file of rows.
#[derive(Debug)]
pub(crate) enum Rows {
    /// It is what was written.
    Whole(Table),
    /// It is not there.
    Absent,
    /// It is something else.
    Damaged(Damage),
}

impl Store {
    /// Makes `root` the result directory of this experiment, or goes on with it if it is.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] if it is another's, [`StoreError::Damaged`] if its manifest does not
    /// tell whose, [`StoreError::Exists`] if it is this one's and `resume` is not set, or what the
    /// operating system says.
    pub fn open(
        root: &Path,
        manifest: Manifest,
        text: &str,
        resume: bool,
    ) -> Result<Self, StoreError> {
        let mut store = Self {
            root: root.to_owned(),
            manifest,
            text: text.to_owned(),
            mended: Vec::new(),
        };
        let chunks = root.join("chunks");
        if let Some(found) = read_manifest(root)? {
            store.compare(&found)?;
            let begun = fs::read_dir(&chunks).is_ok_and(|mut entries| entries.any(is_visible));
            if begun && !resume {
                return Err(StoreError::Exists {
                    path: root.to_owned(),
                });
            }
        } else if fs::read_dir(root).is_ok_and(|mut entries| entries.any(is_visible)) {
            // A manifest that was lost can be written again: every chunk says whose it is.
            let is_ours =
                fs::read(root.join(EXPERIMENT)).is_ok_and(|found| found == text.as_bytes());
            if !(resume && is_ours) {
                return Err(foreign(root, "it has files, but no manifest.json"));
            }
        }
        // The manifest comes first: whatever else is there is this experiment's from then on.
        fs::create_dir_all(root).map_err(io_error(root))?;
        let mut json = serde_json::to_string_pretty(&store.manifest).unwrap_or_default();
        json.push('\n');
        let mended = [
            store.renew(MANIFEST, json.as_bytes(), "not what a sweep writes")?,
            store.renew(EXPERIMENT, text.as_bytes(), "not the experiment's text")?,
        ];
        store.mended.extend(mended.into_iter().flatten());
        fs::create_dir_all(&chunks).map_err(io_error(&chunks))?;
        Ok(store)
    }

    /// The result directory that a program of this version wrote, whatever experiment it is of.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] if it is none or of another version, [`StoreError::Damaged`] if manifest
    /// and experiment do not belong together, or what the operating system says.
    pub fn existing(root: &Path, version: &str) -> Result<Self, StoreError> {
        let none = "it has no manifest.json; name the directory that a sweep wrote";
        let manifest = read_manifest(root)?.ok_or_else(|| foreign(root, none))?;
        let path = root.join(EXPERIMENT);
        let text = fs::read(&path).map_err(io_error(&path))?;
        let text = String::from_utf8(text).map_err(|_| damaged(&path, "it is no text"))?;
        if manifest.fingerprint_with(&text) != manifest.fingerprint {
            let what = "it is not the experiment of manifest.json: one of the two was changed";
            return Err(damaged(&path, what));
        }
        if manifest.version != version {
            let what = format!("written by version {}, this is {version}", manifest.version);
            return Err(foreign(root, what));
        }
        Ok(Self {
            root: root.to_owned(),
            manifest,
            text,
            mended: Vec::new(),
        })
    }

    fn compare(&self, found: &Manifest) -> Result<(), StoreError> {
        let ours = &self.manifest;
        if found == ours {
            return Ok(());
        }
        // What differs was perhaps never written: then the manifest contradicts itself.
        let text = fs::read_to_string(self.path(EXPERIMENT)).unwrap_or_default();
        if [&text, &self.text]
            .iter()
            .all(|text| found.fingerprint_with(text) != found.fingerprint)
        {
            let what = "its fingerprint is not that of its fields and of experiment.toml";
            return Err(damaged(&self.path(MANIFEST), what));
        }
        let what = if found.version != ours.version {
            format!(
                "written by version {}, this is {}",
                found.version, ours.version
            )
        } else if found.experiment != ours.experiment {
            format!(
                "the experiment `{}`, not `{}`",
                found.experiment, ours.experiment
            )
        } else if found.sets != ours.sets {
            format!("{} sets at each point, not {}", found.sets, ours.sets)
        } else if found.columns != ours.columns {
            let (theirs, ours) = (found.columns.join(", "), ours.columns.join(", "));
            format!("it asks {theirs}; this one asks {ours}")
        } else if found.counts != ours.counts {
            let (theirs, ours) = (found.counts.join(", "), ours.counts.join(", "));
            format!("it counts {theirs}; this one counts {ours}")
        } else if found.program != ours.program {
            "the program was built anew since, and its own tests take part".to_owned()
        } else {
            "the experiment file was changed since".to_owned()
        };
        Err(foreign(&self.root, what))
    }

    /// The path of a file of the result.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file completely or not at all. Two writers of the same file do no harm: they write
    /// the same.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(name);
        let folder = path.parent().unwrap_or(&self.root);
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = folder.join(format!(".{file}.{}.tmp", std::process::id()));
        let created = create_anew(&temporary).map_err(io_error(&temporary));
        let (temporary, mut file) = created?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        written.map_err(io_error(&temporary))?;
        if let Err(error) = fs::rename(&temporary, &path) {
            // Another writer of the same file was done first and cleaned up behind all of us.
            let overtaken = error.kind() == io::ErrorKind::NotFound && path.exists();
            if !overtaken {
                return Err(io_error(&path)(error));
            }
        }
        // The name lasts only when its directory is on the disk; not every system can do that.
        let _unsynced = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Writes a file unless it has these bytes; says so if it was there and had others.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn renew(
        &self,
        name: &str,
        bytes: &[u8],
        what: &str,
    ) -> Result<Option<Damage>, StoreError> {
        let path = self.path(name);
        let found = fs::read(&path);
        if found.as_ref().is_ok_and(|found| found == bytes) {
            return Ok(None);
        }
        self.write(name, bytes)?;
        Ok(found.is_ok().then(|| Damage {
            path,
            what: what.to_owned(),
        }))
    }

    /// A file of rows of this result.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] if it is whole, but of another result, or what the operating system says.
    pub(crate) fn rows(&self, name: &str) -> Result<Rows, StoreError> {
        let path = self.path(name);
        let Some(bytes) = read(&path)? else {
            return Ok(Rows::Absent);
        };
        let (width, fingerprint) = (self.manifest.width(), &self.manifest.fingerprint);
        match Table::read(bytes, width, fingerprint) {
            Ok(table) => Ok(Rows::Whole(table)),
            Err(Unfit::Damaged(what)) => Ok(Rows::Damaged(Damage { path, what })),
            Err(Unfit::Foreign) => {
                let what = "it is a file of another experiment, program or version";
                Err(foreign(&path, what))
            }
        }
    }

    /// Removes what writers left behind that were killed. To be called when all is done.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn sweep_temporaries(&self) -> Result<(), StoreError> {
        for folder in [self.root.clone(), self.root.join("chunks")] {
            for entry in fs::read_dir(&folder).map_err(io_error(&folder))?.flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.starts_with('.') && name.ends_with(".tmp") {
                    // Another process may have been faster.
                    let _gone = fs::remove_file(entry.path());
                }
            }
        }
        Ok(())
    }
}

fn is_visible(entry: io::Result<fs::DirEntry>) -> bool {
    entry.is_ok_and(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
}

fn read_manifest(root: &Path) -> Result<Option<Manifest>, StoreError> {
    let path = root.join(MANIFEST);
    let Some(bytes) = read(&path)? else {
        return Ok(None);
    };
    let no_manifest =
        |error: serde_json::Error| damaged(&path, format!("it is no manifest: {error}"));
    let json: serde_json::Value = serde_json::from_slice(&bytes).map_err(no_manifest)?;
    if let Some(format) = json.get("format").and_then(serde_json::Value::as_str)
        && format != FORMAT
    {
        let what = format!("its format is {format}, not {FORMAT}");
        return Err(foreign(root, what));
    }
    serde_json::from_value(json).map(Some).map_err(no_manifest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_workload::Source;

    const TEXT: &str = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"huang2014\"\n\
                        sets = 3\ntests = [\"smc\"]\n";

    /// A fresh directory, removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("vestal-store-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn manifest(version: &str, checksum: Option<&str>, text: &str) -> Manifest {
        let program = Program {
            version: version.to_owned(),
            checksum: checksum.map(str::to_owned),
        };
        let experiment = Experiment::parse(&Source::new("x", text)).unwrap();
        Manifest::new(program, &experiment, &[Asked::answered("smc")])
    }

    fn says(result: Result<Store, StoreError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_directory_belongs_to_one_version_one_program_and_one_experiment() {
        let folder = Folder::new("foreign");
        let path = &folder.0;
        Store::open(path, manifest("1", None, TEXT), TEXT, false).unwrap();
        let open = |version, checksum| {
            says(Store::open(
                path,
                manifest(version, checksum, TEXT),
                TEXT,
                true,
            ))
        };
        assert!(open("2", None).contains("V0701") && open("2", None).contains("by version 1"));
        assert!(open("1", Some("abc")).contains("the program was built anew"));
        let changed = TEXT.replace("sets = 3", "sets = 3 # three");
        let found = says(Store::open(
            path,
            manifest("1", None, &changed),
            &changed,
            true,
        ));
        assert!(
            found.contains("V0701") && found.contains("was changed since"),
            "{found}"
        );
        let found = says(Store::existing(path, "2"));
        assert!(
            found.contains("V0701") && found.contains("by version 1, this is 2"),
            "{found}"
        );
        assert_eq!(Store::existing(path, "1").unwrap().text, TEXT);
        let old = "{ \"format\": \"vestal-sweep/1\", \"version\": \"1\" }";
        fs::write(path.join(MANIFEST), old).unwrap();
        assert!(open("1", None).contains("V0701") && open("1", None).contains("vestal-sweep/1"));
    }

    #[test]
    fn a_manifest_or_an_experiment_that_was_changed_is_damaged() {
        let folder = Folder::new("damaged");
        let path = &folder.0;
        let open = || Store::open(path, manifest("1", None, TEXT), TEXT, true);
        open().unwrap();
        let whole = fs::read_to_string(path.join(MANIFEST)).unwrap();
        for (from, to) in [
            ("\"version\": \"1\"", "\"version\": \"9\""),
            ("\"sets\": 3", "\"sets\": 2"),
            ("\"smc\"", "\"dmc\""),
            ("\"x\"", "\"y\""),
            ("\"format\"", "\"fprmat\""),
            ("{", "["),
            ("}\n", ""),
        ] {
            assert!(whole.contains(from), "{from}");
            fs::write(path.join(MANIFEST), whole.replace(from, to)).unwrap();
            for found in [says(open()), says(Store::existing(path, "1"))] {
                assert!(found.contains("V0702"), "{from}: {found}");
            }
        }
        fs::remove_file(path.join(MANIFEST)).unwrap();
        assert!(open().unwrap().mended.is_empty());
        for changed in [
            TEXT.replace("sets = 3", "seed = 4\nsets = 3").into_bytes(),
            vec![0xff, 0xfe],
        ] {
            fs::write(path.join(EXPERIMENT), changed).unwrap();
            assert!(says(Store::existing(path, "1")).contains("V0702"));
            let mended = open().unwrap().mended;
            assert_eq!(mended.len(), 1);
            assert_eq!(mended[0].path, path.join(EXPERIMENT));
            assert_eq!(Store::existing(path, "1").unwrap().text, TEXT);
        }
    }
}
