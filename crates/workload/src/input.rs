//! How text gets in: from bytes and from files.

use crate::codes;
use crate::diagnostic::{Diagnostics, Sink};
use crate::source::{Source, Span};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::Utf8Error;
use std::sync::Arc;

/// The largest file that is read, in bytes. A task set of the largest supported size fits easily;
/// anything above is a mistake (a trace, a core dump) and would only cost memory.
pub const FILE_BYTES_MAX: usize = 16 << 20;

impl Source {
    /// A source from raw bytes.
    ///
    /// # Errors
    /// `V0002` if the bytes are not UTF-8 (the position is that of the first wrong byte), `V0004`
    /// if there are more than [`FILE_BYTES_MAX`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Arc<Self>, Diagnostics> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(too_large(name, bytes.len()));
        }
        Self::from_vec(name, bytes.to_vec())
    }

    /// A source from raw bytes that are not copied.
    ///
    /// # Errors
    /// As [`Source::from_bytes`].
    pub fn from_vec(name: &str, bytes: Vec<u8>) -> Result<Arc<Self>, Diagnostics> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(too_large(name, bytes.len()));
        }
        String::from_utf8(bytes)
            .map(|text| Self::owning(name, text))
            .map_err(|error| not_text(name, error.as_bytes(), error.utf8_error()))
    }
}

fn too_large(name: &str, bytes: usize) -> Diagnostics {
    Sink::single(
        Source::new(name, ""),
        codes::FILE_TOO_LARGE,
        Span::default(),
        "",
        match bytes - FILE_BYTES_MAX {
            1 => format!("more than {FILE_BYTES_MAX} bytes"),
            _ => format!("{bytes} bytes"),
        },
        format!("at most {FILE_BYTES_MAX} bytes"),
        "split the file, or check that it is the one you meant",
    )
}

fn not_text(name: &str, bytes: &[u8], error: Utf8Error) -> Diagnostics {
    let text = String::from_utf8_lossy(bytes);
    // Everything before the first wrong byte is UTF-8, so its offset is the same in the repaired text.
    let at = error.valid_up_to();
    let found = bytes
        .get(at)
        .map_or_else(String::new, |byte| format!("byte 0x{byte:02x}"));
    Sink::single(
        Source::new(name, &text),
        codes::NOT_UTF8,
        Span::new(at, at),
        "",
        found,
        "UTF-8 text".to_owned(),
        "save the file as UTF-8; other encodings and binary files are not read",
    )
}

/// The first bytes of a file, one more than `most` if it has more: a device or a pipe may have no end.
///
/// # Errors
/// What the system says where it cannot be read.
pub fn read_at_most(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).map_or(u64::MAX, |most| most.saturating_add(1));
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file from disk: with [`read_at_most`] the only place of this crate that touches the file system.
///
/// # Errors
/// `V0001` if the file cannot be read, else as [`Source::from_bytes`].
pub fn read_file(path: &Path) -> Result<Arc<Source>, Diagnostics> {
    let name = path.display().to_string();
    match read_at_most(path, FILE_BYTES_MAX) {
        Ok(bytes) => Source::from_vec(&name, bytes),
        Err(error) => Err(Sink::single(
            Source::new(&name, ""),
            codes::UNREADABLE,
            Span::default(),
            "",
            error.to_string(),
            "a file that can be read".to_owned(),
            "check the path and its permissions",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_text_are_named_with_their_place() {
        let error = Source::from_bytes("x.toml", b"format\n = \xff").unwrap_err();
        let first = &error.list()[0];
        assert_eq!(
            (first.code, first.line, first.column),
            (codes::NOT_UTF8, 2, 4)
        );
        assert_eq!(first.found, "byte 0xff");
        assert!(Source::from_bytes("x", &vec![b' '; FILE_BYTES_MAX + 1]).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_without_end_is_too_large() {
        let error = read_file(Path::new("/dev/zero")).unwrap_err();
        let first = &error.list()[0];
        assert_eq!(first.code, codes::FILE_TOO_LARGE);
        assert_eq!(first.found, "more than 16777216 bytes");
    }
}
