//! One run on a CPU at a time: two of them would take each other's deadlines.

use crate::sys::{Processor, distinct};
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
    /// Claims `processor`. Where no file can be made at all, no lock is held: a lock protects from accidents,
    /// and file systems that cannot be written to are not rare in containers.
    pub(crate) fn claim(processor: Processor) -> Result<Self, NoLock> {
        for directory in DIRECTORIES {
            let path = PathBuf::from(directory).join(format!("vestal-cpu{processor}.lock"));
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

    /// Claims each of `processors` once, in ascending order; which one cannot be had, if one cannot. Two runs that
    /// want the same processors thus never have a part of them each.
    pub(crate) fn claim_all(
        processors: impl IntoIterator<Item = Processor>,
    ) -> Result<Vec<Self>, (Processor, NoLock)> {
        let claim = |processor| Self::claim(processor).map_err(|why| (processor, why));
        distinct(processors).into_iter().map(claim).collect()
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

    fn claim(processor: usize) -> Result<CpuLock, NoLock> {
        CpuLock::claim(Processor(processor))
    }

    #[test]
    fn a_cpu_is_claimed_once_and_free_again_afterwards() {
        let first = claim(CPU).unwrap();
        let second = claim(CPU);
        assert!(matches!(second, Err(NoLock::Taken(_))), "{second:?}");
        assert!(claim(CPU + 1).is_ok());
        drop(first);
        assert!(claim(CPU).is_ok());
    }

    #[test]
    fn repeated_entries_are_claimed_once_in_ascending_order_and_none_is_kept_after_a_failure() {
        const FIRST: usize = CPU + 10;
        let all = |list: &[usize]| CpuLock::claim_all(list.iter().copied().map(Processor));
        let held = all(&[FIRST + 1, FIRST, FIRST + 1]).unwrap();
        assert_eq!(held.len(), 2);
        // The lowest of those that are taken is found first, and what was claimed before it is given back.
        let (which, why) = all(&[FIRST + 1, FIRST - 1, FIRST]).unwrap_err();
        assert_eq!(which, Processor(FIRST));
        assert!(matches!(why, NoLock::Taken(_)), "{why:?}");
        assert!(claim(FIRST - 1).is_ok());
        drop(held);
        assert_eq!(all(&[FIRST, FIRST + 1]).unwrap().len(), 2);
    }
}
