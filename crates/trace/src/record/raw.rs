//! Records as bytes: little-endian, always [`Record::BYTES`] of them.
//!
//! ```text
//!  0        8    9 10 11 12    14    16        24        32        40
//!  | at     |kind| a| b| c| cpu | task| sequence|  value  |  extra  |
//! ```
//! Fields that a kind does not use are zero.

use super::kinds::Kinds;
use super::{Record, What};
use vestal_core::Instant;

/// Bytes that are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The kind is none of this schema.
    #[error("kind {kind} is not in the schema")]
    UnknownKind {
        /// The number found.
        kind: u8,
    },
    /// A field holds a value that its kind never has.
    #[error("{field} is {found}, which a record of kind {kind} never has")]
    Field {
        /// The kind.
        kind: u8,
        /// Which field.
        field: &'static str,
        /// The value found.
        found: u64,
    },
    /// A domain that the header does not name.
    #[error("it names domain {found}, and the header has {domains} of them")]
    UnknownDomain {
        /// The number found.
        found: u16,
        /// How many domains there are.
        domains: usize,
    },
    /// A field that the kind does not use is not zero.
    #[error("a field that kind {kind} does not use is not zero")]
    NotCanonical {
        /// The kind.
        kind: u8,
    },
}

/// The fields of the layout above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) at: u64,
    pub(super) kind: u8,
    pub(super) a: u8,
    pub(super) b: u8,
    pub(super) c: u8,
    pub(super) cpu: u16,
    pub(super) task: u16,
    pub(super) sequence: u64,
    pub(super) value: u64,
    pub(super) extra: u64,
}

/// Where a value stands in the layout.
#[derive(Clone, Copy, Debug)]
pub(super) enum Byte {
    Kind,
    A,
    B,
    C,
    /// `a`, and `b` above it.
    AAndB,
    /// `a`, and `extra` above it.
    AAndExtra,
    /// `c`, and the upper half of `extra` above it.
    CAndUpper,
    /// The lower half of `extra`.
    Lower,
    Cpu,
    Task,
    Sequence,
    Value,
    Extra,
}

impl Raw {
    /// What stands there.
    #[inline]
    pub(super) fn get(&self, byte: Byte) -> u64 {
        match byte {
            Byte::Kind => u64::from(self.kind),
            Byte::A => u64::from(self.a),
            Byte::B => u64::from(self.b),
            Byte::C => u64::from(self.c),
            Byte::AAndB => u64::from(u16::from_le_bytes([self.a, self.b])),
            Byte::AAndExtra => u64::from(self.a) | self.extra << 8,
            Byte::CAndUpper => u64::from(self.c) | (self.extra >> 32) << 8,
            Byte::Lower => self.extra & u64::from(u32::MAX),
            Byte::Cpu => u64::from(self.cpu),
            Byte::Task => u64::from(self.task),
            Byte::Sequence => self.sequence,
            Byte::Value => self.value,
            Byte::Extra => self.extra,
        }
    }

    /// Puts `number` there, which has room.
    #[inline]
    pub(super) fn set(&mut self, byte: Byte, number: u64) {
        let [low, high, ..] = number.to_le_bytes();
        let short = u16::from_le_bytes([low, high]);
        match byte {
            Byte::Kind => self.kind = low,
            Byte::A => self.a = low,
            Byte::B => self.b = low,
            Byte::C => self.c = low,
            Byte::AAndB => (self.a, self.b) = (low, high),
            Byte::AAndExtra => (self.a, self.extra) = (low, number >> 8),
            Byte::CAndUpper => {
                self.c = low;
                self.extra |= (number >> 8) << 32;
            }
            Byte::Lower => self.extra |= number,
            Byte::Cpu => self.cpu = short,
            Byte::Task => self.task = short,
            Byte::Sequence => self.sequence = number,
            Byte::Value => self.value = number,
            Byte::Extra => self.extra = number,
        }
    }

    pub(super) const fn bad(&self, field: &'static str, found: u64) -> RecordError {
        RecordError::Field {
            kind: self.kind,
            field,
            found,
        }
    }
}

/// Facts that were seen but not reported have this added to their kind.
const OBSERVED: u8 = 0x40;

impl Record {
    /// The length of a record in files.
    pub const BYTES: usize = 40;

    /// What is wrong with a record of a file whose header names so many domains, if it gives the word to another one.
    pub(crate) const fn of_no_domain(&self, domains: usize) -> Option<RecordError> {
        if let What::Domain { domain } = self.what
            && domain.index() >= domains
        {
            let found = domain.0;
            return Some(RecordError::UnknownDomain { found, domains });
        }
        None
    }

    /// The record as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let raw = Raw::of(self);
        let [c0, c1] = raw.cpu.to_le_bytes();
        let [t0, t1] = raw.task.to_le_bytes();
        // Five words, so that a record is packed without a loop over its bytes.
        let words = [
            raw.at.to_le_bytes(),
            [raw.kind, raw.a, raw.b, raw.c, c0, c1, t0, t1],
            raw.sequence.to_le_bytes(),
            raw.value.to_le_bytes(),
            raw.extra.to_le_bytes(),
        ];
        let mut bytes = [0; Self::BYTES];
        bytes.copy_from_slice(words.as_flattened());
        bytes
    }

    /// The record that is written as these bytes.
    ///
    /// # Errors
    /// [`RecordError`] for bytes that no record is written as.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, RecordError> {
        let mut words = [[0; 8]; 5];
        words.as_flattened_mut().copy_from_slice(bytes);
        let [at, [kind, a, b, c, c0, c1, t0, t1], sequence, value, extra] = words;
        let raw = Raw {
            at: u64::from_le_bytes(at),
            kind,
            a,
            b,
            c,
            cpu: u16::from_le_bytes([c0, c1]),
            task: u16::from_le_bytes([t0, t1]),
            sequence: u64::from_le_bytes(sequence),
            value: u64::from_le_bytes(value),
            extra: u64::from_le_bytes(extra),
        };
        let record = Self {
            at: Instant::from_nanos(raw.at),
            what: raw.what()?,
        };
        // One representation for each record: whatever was not looked at has to be zero.
        if Raw::of(&record) == raw {
            Ok(record)
        } else {
            Err(RecordError::NotCanonical { kind })
        }
    }
}

impl Raw {
    fn of(record: &Record) -> Self {
        let mut raw = Self {
            at: record.at.as_nanos(),
            ..Self::default()
        };
        let (what, observed) = record.what.reported();
        what.put(&mut raw);
        if observed {
            raw.kind |= OBSERVED;
        }
        raw
    }

    fn what(&self) -> Result<What, RecordError> {
        let reported = u64::from(self.kind & !OBSERVED);
        let observed = self.kind & OBSERVED != 0;
        match (What::take(reported, self)?, observed) {
            (Some(what), false) => Ok(what),
            (Some(What::Fact(fact)), true) => Ok(What::Observed(fact)),
            (None | Some(_), _) => Err(RecordError::UnknownKind { kind: self.kind }),
        }
    }
}
