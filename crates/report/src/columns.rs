//! The bytes in which a recording travels to the page: variable-length integers, as base64.
//!
//! Times are differences to the one before, so that an event takes a few bytes. The script's reader is
//! `page/data.js`; the two agree on the order of what follows, which stands beside the code that
//! writes it.

/// Bytes to be read in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns(Vec<u8>);

impl Columns {
    /// Seven bits a byte, least significant first; the highest bit says that more follow.
    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// How far a number is after the last one; one that is before it counts as equal.
    pub(crate) fn after(&mut self, last: &mut u64, value: u64) {
        let value = value.max(*last);
        self.number(value - *last);
        *last = value;
    }

    /// A number of either sign: 0, -1, 1, -2 become 0, 1, 2, 3.
    pub(crate) fn signed(&mut self, value: i64) {
        self.number(((value << 1) ^ (value >> 63)).cast_unsigned());
    }

    /// The bytes as text, with padding.
    pub(crate) fn base64(&self) -> String {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for chunk in self.0.chunks(3) {
            let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for index in 0..4 {
                let letter = LETTERS[(bits >> (18 - 6 * index) & 63) as usize];
                let letter = if index > chunk.len() { b'=' } else { letter };
                text.push(char::from(letter));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_few_bytes_and_signs_alternate() {
        let mut columns = Columns::default();
        for value in [0, 127, 128, 300] {
            columns.number(value);
        }
        assert_eq!(columns.0, [0, 0x7f, 0x80, 1, 0xac, 2]);
        let mut columns = Columns::default();
        for value in [0, -1, 1, -2] {
            columns.signed(value);
        }
        assert_eq!(columns.0, [0, 1, 2, 3]);
        let mut columns = Columns::default();
        columns.number(u64::MAX);
        columns.signed(i64::MIN);
        assert_eq!(columns.0.len(), 20);
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        let text = |bytes: &[u8]| Columns(bytes.to_vec()).base64();
        // RFC 4648, section 10.
        let expected = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, base64) in expected {
            assert_eq!(text(bytes.as_bytes()), base64);
        }
        assert_eq!(text(&[0xfb, 0xff]), "+/8=");
    }
}
