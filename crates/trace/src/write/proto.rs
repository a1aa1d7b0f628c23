//! The little of Protocol Buffers that a trace needs: fields of varints and of bytes.
//!
//! A message is a sequence of fields; a field is its key (`number << 3 | wire type`) and its value. Wire
//! type 0 is a varint, 2 a length and that many bytes. A [`Decoder`] reads the same back, for tests.

/// A message being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<u8>);

impl Message {
    /// A message without fields.
    #[must_use]
    pub fn new() -> Self {
        // Nearly all are shorter: they take their memory once.
        Self(Vec::with_capacity(64))
    }

    /// The encoded fields.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn varint(&mut self, mut value: u64) {
        loop {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            if value == 0 {
                self.0.push(low & 0x7f);
                return;
            }
            self.0.push(low | 0x80);
        }
    }

    /// Adds a whole number, a flag or an enumeration's value.
    #[must_use]
    pub fn number(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, field: u32, text: &str) -> Self {
        self.raw(field, text.as_bytes())
    }

    /// Adds a message inside this one.
    #[must_use]
    pub fn message(self, field: u32, inner: &Self) -> Self {
        self.raw(field, &inner.0)
    }

    /// Adds what stands before a text or message of so many bytes, which follow elsewhere.
    #[must_use]
    pub fn head(mut self, field: u32, length: usize) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(length as u64);
        self
    }

    fn raw(self, field: u32, bytes: &[u8]) -> Self {
        let mut message = self.head(field, bytes.len());
        message.0.extend_from_slice(bytes);
        message
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A varint.
    Number(u64),
    /// Bytes: a text or a message.
    Bytes(&'a [u8]),
}

/// Reads fields of a message; gives `None` at its end, and an error where the bytes are no message.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a>(&'a [u8]);

/// Bytes that are no message of varints and byte strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAMessage;

impl<'a> Decoder<'a> {
    /// Reads `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn varint(&mut self) -> Result<u64, NotAMessage> {
        let mut value = 0;
        for place in 0..10 {
            let (&byte, rest) = self.0.split_first().ok_or(NotAMessage)?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f)
                .checked_shl(7 * place)
                .ok_or(NotAMessage)?;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(NotAMessage)
    }

    fn field(&mut self) -> Result<(u32, Value<'a>), NotAMessage> {
        let key = self.varint()?;
        let field = u32::try_from(key >> 3).map_err(|_| NotAMessage)?;
        match key & 7 {
            0 => Ok((field, Value::Number(self.varint()?))),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| NotAMessage)?;
                let (bytes, rest) = self.0.split_at_checked(length).ok_or(NotAMessage)?;
                self.0 = rest;
                Ok((field, Value::Bytes(bytes)))
            }
            _ => Err(NotAMessage),
        }
    }
}

impl<'a> Iterator for Decoder<'a> {
    type Item = Result<(u32, Value<'a>), NotAMessage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the Protocol Buffers documentation, "Encoding".
    #[test]
    fn the_documented_examples_come_out() {
        let message = Message::new().number(1, 150);
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01]);
        let message = Message::new().text(2, "testing");
        assert_eq!(message.bytes(), b"\x12\x07testing");
        let outer = Message::new().message(3, &Message::new().number(1, 150));
        assert_eq!(outer.bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn fields_come_back_and_what_is_cut_is_no_message() {
        let message = Message::new().number(7, u64::MAX).text(300, "x");
        let fields: Vec<_> = Decoder::new(message.bytes()).map(Result::unwrap).collect();
        assert_eq!(
            fields,
            [(7, Value::Number(u64::MAX)), (300, Value::Bytes(b"x"))]
        );
        let cut = &message.bytes()[..message.bytes().len() - 1];
        assert!(Decoder::new(cut).any(|field| field.is_err()));
        assert!(Decoder::new(&[0xff; 20]).any(|field| field.is_err()));
    }
}
