//! Files that are there completely or not at all.
//!
//! A file has its own name only when it is complete: until then it is written under a name that begins with a
//! dot and ends in `.part`, beside its place. A program that is killed leaves that behind, and whatever stood
//! under the name before stays untouched.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, mpsc};
use std::thread;
use std::time::Duration;
use vestal_experiment::anew::create_anew;

/// What is being written, of which a program that is ended leaves nothing half done.
#[derive(Debug)]
struct Going {
    /// Held for reading while something is written that would be left half done; whoever holds it may go on to lock
    /// `unfinished`, and nobody waits for it with that.
    writing: RwLock<()>,
    /// The temporary names of all files that are not complete.
    unfinished: Mutex<Vec<PathBuf>>,
}

static GOING: Going = Going::new();

/// What is held by who is [`unbroken`], for another crate.
pub(crate) const fn writing() -> &'static RwLock<()> {
    &GOING.writing
}

impl Going {
    const fn new() -> Self {
        Self {
            writing: RwLock::new(()),
            unfinished: Mutex::new(Vec::new()),
        }
    }

    fn unfinished(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.unfinished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn seal(&'static self, patience: Duration) -> bool {
        // Not with the names in hand: who is unbroken may need them for its end.
        let sealed = self.writing_ends(patience);
        let names = self.unfinished();
        for name in names.iter() {
            // As in a program that was killed.
            let _kept = fs::remove_file(name);
        }
        std::mem::forget(names);
        sealed
    }

    /// Waits until nobody is unbroken, and has nobody begin to be. Who waits for that is let in before who comes later: where several
    /// threads write one file after the other, there is no instant at which none does.
    fn writing_ends(&'static self, patience: Duration) -> bool {
        let (end, ended) = mpsc::channel();
        let waits = thread::Builder::new().spawn(move || {
            // Nobody panics in the middle of a file, and if one did, it is not writing any more.
            let writing = self.writing.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(writing);
            let _nobody_waits = end.send(());
        });
        waits.is_ok() && ended.recv_timeout(patience).is_ok()
    }
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    GOING.unfinished()
}

/// Before the process ends in the middle of something: waits so long for who is [`unbroken`], removes the files that are not
/// complete, and has all wait for ever who would go on with one. Says whether nobody was unbroken any more.
pub(crate) fn seal(patience: Duration) -> bool {
    GOING.seal(patience)
}

/// Does several things of which a process that is ended has done all or none, if they do not take too long.
pub(crate) fn unbroken<T>(write: impl FnOnce() -> T) -> T {
    let _writing = writing().read();
    write()
}

/// A file that is not complete; removed when dropped.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
    /// Where it is written until it is complete; none for what is no plain file, such as a pipe.
    temporary: Option<PathBuf>,
}

impl Unfinished {
    /// Creates it, empty, and gives where to write it.
    pub(crate) fn create(path: &Path) -> io::Result<(Self, File)> {
        let (temporary, file) = match temporary(path) {
            Some(temporary) => {
                let mut names = unfinished();
                let (temporary, file) = create_anew(&temporary)?;
                names.push(temporary.clone());
                (Some(temporary), file)
            }
            None => (None, File::create(path)?),
        };
        let path = path.to_owned();
        Ok((Self { path, temporary }, file))
    }

    /// The name that it will have.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a file that nobody reads before it is complete, and no pipe or device.
    pub(crate) const fn is_plain(&self) -> bool {
        self.temporary.is_some()
    }

    /// Leaves it under the name that it is written under, and gives that; `None` for what is no plain file.
    pub(crate) fn keep(mut self) -> Option<PathBuf> {
        let temporary = self.temporary.take()?;
        unfinished().retain(|name| *name != temporary);
        Some(temporary)
    }

    /// Gives it its name; what cannot be named is not left behind either.
    pub(crate) fn complete(mut self) -> io::Result<()> {
        let Some(temporary) = &self.temporary else {
            return Ok(());
        };
        // A link keeps pointing to the file that it points to.
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let mut names = unfinished();
        fs::rename(temporary, target)?;
        names.retain(|name| name != temporary);
        self.temporary = None;
        Ok(())
    }
}

impl Unfinished {
    /// Gives it its name unless a file has it, which stays as it is.
    fn complete_new(mut self) -> io::Result<()> {
        let Some(temporary) = &self.temporary else {
            let why = "something that is no file has this name";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        };
        let mut names = unfinished();
        match fs::hard_link(temporary, &self.path) {
            Ok(()) => fs::remove_file(temporary)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has links.
            Err(_) if fs::symlink_metadata(&self.path).is_err() => {
                fs::rename(temporary, &self.path)?;
            }
            Err(error) => return Err(error),
        }
        names.retain(|name| name != temporary);
        self.temporary = None;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let mut names = unfinished();
            // It is incomplete; if it cannot be removed, its name says so.
            let _kept = fs::remove_file(temporary);
            names.retain(|name| name != temporary);
        }
    }
}

/// Writes a whole file.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // The root of all files has no name.
    if fs::canonicalize(path).is_ok_and(|place| place.file_name().is_none()) {
        return Err(io::Error::other("the path names no file"));
    }
    let (unfinished, mut file) = Unfinished::create(path)?;
    file.write_all(bytes)?;
    if unfinished.temporary.is_some() {
        file.sync_all()?;
    }
    unfinished.complete()
}

/// Writes a whole file that is not there yet; one that is stays as it is.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        // Before anything is written for nothing; what comes meanwhile is not replaced either.
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let (unfinished, mut file) = Unfinished::create(path)?;
    file.write_all(bytes)?;
    unfinished.complete_new()
}

/// Where a file is written until it is complete. What exists and is no plain file is written to directly: a
/// device or a pipe must not be replaced by a file.
fn temporary(path: &Path) -> Option<PathBuf> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return None;
    }
    // Where a link points, so that both names are in one file system.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = OsString::from(".");
    name.push(target.file_name()?);
    name.push(format!(".{}.part", process::id()));
    Some(target.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = std::env::temp_dir().join(format!("vestal-planted-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (victim, page) = (folder.join("victim"), folder.join("page.html"));
        fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, temporary(&page).unwrap()).unwrap();
        write(&page, b"whole").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&page).unwrap(), "whole");
        // The link is still there, and nothing else.
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Who may not be broken off creates files, too, for which it needs what who ends the process holds last.
    #[test]
    fn who_is_unbroken_is_waited_for_and_comes_to_an_end() {
        let going: &'static Going = Box::leak(Box::new(Going::new()));
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (ended, has_ended) = std::sync::mpsc::channel();
        let writer = thread::spawn(move || {
            let writing = going.writing.read();
            begun.send(()).unwrap();
            thread::park_timeout(Duration::from_millis(50));
            going.unfinished().push(PathBuf::from("/no/such/.x.part"));
            drop(writing);
            ended.send(()).unwrap();
        });
        has_begun.recv().unwrap();
        assert!(going.seal(Duration::from_secs(20)));
        has_ended.recv().unwrap();
        writer.join().unwrap();
        // From now on nobody begins.
        assert!(going.writing.try_read().is_err());
        assert!(going.unfinished.try_lock().is_err());
    }

    /// Several write one file after the other, so that somebody always does: each is finished, and the next one is not begun.
    #[test]
    fn who_ends_the_process_is_let_in_between_two_files() {
        let going: &'static Going = Box::leak(Box::new(Going::new()));
        let (begun, has_begun) = mpsc::channel();
        for thread in 0..3 {
            let begun = begun.clone();
            thread::spawn(move || {
                // Not in step with each other.
                thread::park_timeout(Duration::from_millis(7 * thread));
                loop {
                    let _writing = going.writing.read();
                    let _nobody_waits = begun.send(());
                    thread::park_timeout(Duration::from_millis(21));
                }
            });
        }
        (0..6).for_each(|_| has_begun.recv().unwrap());
        assert!(going.seal(Duration::from_secs(20)));
    }

    #[test]
    fn who_is_unbroken_for_too_long_is_not_waited_for() {
        let folder = std::env::temp_dir().join(format!("vestal-sealed-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let half = folder.join(".x.part");
        fs::write(&half, "half").unwrap();
        let going: &'static Going = Box::leak(Box::new(Going::new()));
        going.unfinished().push(half);
        let _writing = going.writing.read();
        assert!(!going.seal(Duration::from_millis(20)));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_there_is_not_replaced_by_a_new_file() {
        let folder = std::env::temp_dir().join(format!("vestal-new-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("set.toml");
        write_new(&path, b"first").unwrap();
        let again = write_new(&path, b"second").unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        // Also if it comes while the new one is written.
        let late = folder.join("late.toml");
        let (unfinished, _) = Unfinished::create(&late).unwrap();
        fs::write(&late, "mine").unwrap();
        let replaced = unfinished.complete_new().unwrap_err();
        assert_eq!(replaced.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&late).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        assert_eq!(temporary(Path::new("/dev/null")), None);
        let beside = temporary(Path::new("/no/such/x.csv")).unwrap();
        assert_eq!(beside.parent(), Some(Path::new("/no/such")));
    }
}
