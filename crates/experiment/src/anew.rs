//! Files of our own, under temporary names.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// How many files may bear a temporary name, with a number, before no other is tried.
const NAMES_MAX: u32 = 100;

/// Creates a file of our own under this name, or that name with a number before its extension, and says which. What is there
/// already, what a killed program left or a link that somebody planted to have another file written over, stays as it is.
///
/// # Errors
/// What the operating system says, or that a hundred of these names are taken.
pub fn create_anew(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut number = 1;
    loop {
        let extension = path.extension().unwrap_or_default().display();
        let path = match number {
            1 => path.to_owned(),
            _ => path.with_extension(format!("{number}.{extension}")),
        };
        match File::options().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => {
                number += 1;
            }
            created => return created.map(|file| (path, file)),
        }
    }
}
