//! One run on a CPU at a time: two of them would take each other's deadlines.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;

/// Directories for the files of locks, the first that is there.
const DIRECTORIES: [&str; 3] = ["/run/lock", "/var/lock", "/tmp"];

/// Holds a CPU for a run of this process, until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct CpuLock {
    _file: Option<File>,
}

/// Why a CPU cannot be had.
#[derive(Debug)]
pub(crate) enum NoLock {
    /// Another process has a run there; the file of its lock.
    Taken(PathBuf),
    /// The file cannot be locked.
    Failed(io::Error),
}

impl CpuLock {
    /// Claims `cpu`. Where no file can be made at all, no lock is held: a lock protects from accidents,
    /// and file systems that cannot be written to are not rare in containers.
    pub(crate) fn claim(cpu: usize) -> Result<Self, NoLock> {
        for directory in DIRECTORIES {
            let path = PathBuf::from(directory).join(format!("vestal-cpu{cpu}.lock"));
            let Ok(file) = open(&path) else {
                continue;
            };
            return match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => Ok(Self { _file: Some(file) }),
                Err(Errno::WOULDBLOCK) => Err(NoLock::Taken(path)),
                Err(error) => Err(NoLock::Failed(error.into())),
            };
        }
        Ok(Self { _file: None })
    }
}

/// A file of another user in a directory for all may be opened, and not created again; a lock needs no
/// right to write.
fn open(path: &PathBuf) -> io::Result<File> {
    File::open(path).or_else(|_| {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).open(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No machine has it.
    const CPU: usize = 1_000_001;

    #[test]
    fn a_cpu_is_claimed_once_and_free_again_afterwards() {
        let first = CpuLock::claim(CPU).unwrap();
        let second = CpuLock::claim(CPU);
        assert!(matches!(second, Err(NoLock::Taken(_))), "{second:?}");
        assert!(CpuLock::claim(CPU + 1).is_ok());
        drop(first);
        assert!(CpuLock::claim(CPU).is_ok());
    }
}
