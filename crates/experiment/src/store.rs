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
//! at all, whenever the program or the machine stops. What is done is which files exist.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The format of the directory.
const FORMAT: &str = "vestal-sweep/1";

/// Who wrote a result, in `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: String,
    /// The version of the program with its commit.
    pub version: String,
    /// The name of the experiment.
    pub experiment: String,
    /// A hash of the experiment file's text, of the number of sets and of what is asked of them.
    pub fingerprint: String,
    /// Sets at each point: that of the file, or fewer for a quick look.
    pub sets: u32,
    /// What was asked of every set, in the order of the columns.
    pub columns: Vec<String>,
}

impl Manifest {
    /// The manifest of an experiment with this text.
    #[must_use]
    pub fn new(version: &str, name: &str, text: &str, sets: u32, columns: Vec<String>) -> Self {
        let mut hash = Fnv::default();
        for part in [FORMAT, version, text, &sets.to_string()] {
            hash.add(part);
        }
        columns.iter().for_each(|column| hash.add(column));
        Self {
            format: FORMAT.to_owned(),
            version: version.to_owned(),
            experiment: name.to_owned(),
            fingerprint: format!("{:016x}", hash.0),
            sets,
            columns,
        }
    }
}

/// FNV-1a with 64 bits: tells files apart that were mixed up, not files that were forged.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a text and its end, so that "ab", "c" is not "a", "bc".
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
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
    /// The directory has results of this very experiment, and nobody asked to go on with them.
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// A file is not what it was when it was written.
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
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
            Self::Damaged { path, what } => {
                write!(f, "V0702: {} is damaged: {what}", path.display())
            }
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

/// A result directory.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Whose it is.
    pub manifest: Manifest,
    /// The experiment file's text.
    pub text: String,
}

impl Store {
    /// Makes `root` the result directory of this experiment, or goes on with it if it is.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] if it is another's, [`StoreError::Exists`] if it is this one's and
    /// `resume` is not set, or what the operating system says.
    pub fn open(
        root: &Path,
        manifest: Manifest,
        text: &str,
        resume: bool,
    ) -> Result<Self, StoreError> {
        let store = Self {
            root: root.to_owned(),
            manifest,
            text: text.to_owned(),
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
            return Err(StoreError::Foreign {
                path: root.to_owned(),
                what: "it has files, but no manifest.json".to_owned(),
            });
        }
        // The manifest comes first: whatever else is there is this experiment's from then on.
        fs::create_dir_all(root).map_err(io_error(root))?;
        let mut json = serde_json::to_string_pretty(&store.manifest).unwrap_or_default();
        json.push('\n');
        store.write("manifest.json", json.as_bytes())?;
        fs::create_dir_all(&chunks).map_err(io_error(&chunks))?;
        store.write("experiment.toml", text.as_bytes())?;
        Ok(store)
    }

    /// An existing result directory, whoever's it is.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] if it is none, or what the operating system says.
    pub fn existing(root: &Path) -> Result<Self, StoreError> {
        let manifest = read_manifest(root)?.ok_or_else(|| StoreError::Foreign {
            path: root.to_owned(),
            what: "it has no manifest.json; name the directory that a sweep wrote".to_owned(),
        })?;
        let path = root.join("experiment.toml");
        let text = fs::read_to_string(&path).map_err(io_error(&path))?;
        Ok(Self {
            root: root.to_owned(),
            manifest,
            text,
        })
    }

    fn compare(&self, found: &Manifest) -> Result<(), StoreError> {
        let ours = &self.manifest;
        let what = if found == ours {
            return Ok(());
        } else if found.version != ours.version {
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
        } else {
            "the experiment file was changed since".to_owned()
        };
        Err(StoreError::Foreign {
            path: self.root.clone(),
            what,
        })
    }

    /// The path of a file of the result.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The name of a chunk's file.
    #[must_use]
    pub fn chunk_name(point: usize, chunk: u32) -> String {
        format!("chunks/{point:05}-{chunk:05}.parquet")
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
        let written = File::create(&temporary).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
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
    let path = root.join("manifest.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(&path)(error)),
    };
    let manifest: Manifest = serde_json::from_str(&text).map_err(|error| StoreError::Foreign {
        path: root.to_owned(),
        what: format!("its manifest.json is not one of this version: {error}"),
    })?;
    if manifest.format != FORMAT {
        let what = format!("its format is {}, not {FORMAT}", manifest.format);
        return Err(StoreError::Foreign {
            path: root.to_owned(),
            what,
        });
    }
    Ok(Some(manifest))
}
