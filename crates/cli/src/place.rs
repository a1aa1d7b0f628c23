//! Which file a path leads to, so that no command writes over what it reads.

use crate::failure::Failure;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that a path leads to, whatever it is called there; of one that does not exist yet where it would be. `None`: there is
/// no place for it.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = fs::canonicalize(path) {
        return Some(found);
    }
    let folder = path.parent()?;
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}

/// Whether both are one file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}

/// Refuses to write one of the inputs of a command; `what` follows "failed to". `code` goes before the reason, if there is one.
pub(crate) fn check_no_input<'a>(
    what: &str,
    code: Option<&str>,
    path: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    // What is no plain file, as /dev/stdout, is not written over.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(());
    }
    let Some(input) = inputs.into_iter().find(|input| is_same(path, input)) else {
        return Ok(());
    };
    let code = code.map_or_else(String::new, |code| format!("{code}: "));
    let why = format!("{code}it would overwrite the input {}", input.display());
    Err(Failure::input(what, why).with_help("name another file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_under_all_its_spellings() {
        let folder = std::env::temp_dir().join(format!("vestal-place-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        let there = folder.join("there.toml");
        fs::write(&there, "").unwrap();
        let spelled = folder.join("inner/../there.toml");
        assert!(is_same(&there, &spelled));
        // One that is not there yet.
        assert!(is_same(
            &folder.join("new.csv"),
            &folder.join("./inner/../new.csv")
        ));
        assert!(!is_same(
            &folder.join("new.csv"),
            &folder.join("inner/new.csv")
        ));
        assert!(is_same(Path::new("x.csv"), Path::new("./x.csv")));
        #[cfg(unix)]
        {
            let link = folder.join("link.toml");
            std::os::unix::fs::symlink(&there, &link).unwrap();
            assert!(check_no_input("x", None, &link, [there.as_path()]).is_err());
        }
        assert!(check_no_input("x", None, &folder.join("new"), [there.as_path()]).is_ok());
        assert!(
            check_no_input("x", None, Path::new("/dev/null"), [Path::new("/dev/null")]).is_ok()
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
