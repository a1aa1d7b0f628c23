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
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

/// The temporary names of all files that are not complete.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Held for reading while something is written that would be left half done.
pub(crate) static WRITING: RwLock<()> = RwLock::new(());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Before the process ends in the middle of something: waits for who is [`unbroken`], removes the files that are not
/// complete, and has all wait for ever who would go on with one.
pub(crate) fn seal() {
    let names = unfinished();
    for name in names.iter() {
        // As in a program that was killed.
        let _kept = fs::remove_file(name);
    }
    std::mem::forget(names);
    std::mem::forget(WRITING.write());
}

/// Writes something that is whole only at its end.
pub(crate) fn unbroken<T>(write: impl FnOnce() -> T) -> T {
    let _writing = WRITING.read();
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

/// How many files may bear a temporary name, with a number, before no other is tried.
const NAMES_MAX: u32 = 100;

/// Creates a file of our own under a name like this one. What is there already, what a killed program left or a link that
/// somebody planted to have another file written over, stays as it is.
fn create_anew(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut number = 1;
    loop {
        let path = match number {
            1 => path.to_owned(),
            _ => path.with_extension(format!("{number}.part")),
        };
        match File::options().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => {
                number += 1;
            }
            created => return created.map(|file| (path, file)),
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

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        assert_eq!(temporary(Path::new("/dev/null")), None);
        let beside = temporary(Path::new("/no/such/x.csv")).unwrap();
        assert_eq!(beside.parent(), Some(Path::new("/no/such")));
    }
}
