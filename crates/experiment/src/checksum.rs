//! Checksums: whether a file is what was written, and whose it is.
//!
//! FNV-1a with 64 bits (Fowler, Noll and Vo). Every step is a bijection of the state, so a change of
//! a single byte is always found; of other accidents one in 2^64 is not. Forgers are not kept out.
//!
//! A sealed file has its checksum inside: sixteen hexadecimal digits that stand two bytes (a type
//! and a length, in Parquet's metadata) after the last `vestal.checksum`. It is that of all bytes of the file,
//! with zeros in the place of its own digits.

use std::io::{self, Read};
use std::ops::Range;

/// The key under which a file has its checksum.
pub(crate) const KEY: &str = "vestal.checksum";
/// What stands in the place of the checksum while it is computed.
pub(crate) const UNSEALED: &str = "0000000000000000";
/// From the end of the key to the digits.
const GAP: usize = 2;

/// The state of the checksum.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a text and its end, so that "ab", "c" is not "a", "bc".
    pub(crate) fn add_text(&mut self, text: &str) {
        self.add(text.as_bytes());
        self.add(&[0]);
    }

    pub(crate) fn digits(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The checksum of everything that can be read, as sixteen hexadecimal digits.
///
/// # Errors
/// What the operating system says.
pub fn of_all(mut input: impl Read) -> io::Result<String> {
    let mut state = Fnv::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => return Ok(state.digits()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        state.add(buffer.get(..read).unwrap_or_default());
    }
}

/// Writes the checksum of a file into it; `false` if it has no place for one.
pub(crate) fn seal(bytes: &mut [u8]) -> bool {
    let Some(place) = place(bytes) else {
        return false;
    };
    let digits = of_sealed(bytes, &place);
    bytes[place].copy_from_slice(digits.as_bytes());
    true
}

/// Whether a file is what was sealed.
pub(crate) fn is_sealed(bytes: &[u8]) -> bool {
    place(bytes).is_some_and(|place| of_sealed(bytes, &place).as_bytes() == &bytes[place])
}

/// Where the digits stand.
fn place(bytes: &[u8]) -> Option<Range<usize>> {
    let key = bytes
        .windows(KEY.len())
        .rposition(|window| window == KEY.as_bytes())?;
    let first = key + KEY.len() + GAP;
    let place = first..first + UNSEALED.len();
    (place.end <= bytes.len()).then_some(place)
}

fn of_sealed(bytes: &[u8], place: &Range<usize>) -> String {
    let mut state = Fnv::default();
    state.add(&bytes[..place.start]);
    state.add(UNSEALED.as_bytes());
    state.add(&bytes[place.end..]);
    state.digits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_the_published_ones() {
        // The test vectors of the authors for FNV-1a, 64 bits.
        for (text, digits) in [
            ("", "cbf29ce484222325"),
            ("a", "af63dc4c8601ec8c"),
            ("foobar", "85944171f73967e8"),
        ] {
            assert_eq!(of_all(text.as_bytes()).unwrap(), digits);
        }
    }

    #[test]
    fn a_file_without_a_place_for_its_checksum_is_never_sealed() {
        for text in ["", "vestal.checksum", "vestal.checksum..0123"] {
            let mut bytes = text.as_bytes().to_vec();
            assert!(!seal(&mut bytes) && !is_sealed(&bytes), "{text}");
        }
        let mut bytes = b"rows vestal.checksum..0000000000000000 end".to_vec();
        assert!(!is_sealed(&bytes) && seal(&mut bytes) && is_sealed(&bytes));
    }
}
