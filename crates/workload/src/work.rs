//! What a job does when it is run for real.

use crate::number::{Decimal, Ratio};
use crate::quantity::{size_from_text, size_text, whole_from_text};
use std::fmt;

/// What a job does when it is run for real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Counts in registers.
    Spin,
    /// Walks over an array of this many bytes.
    Array {
        /// Size in bytes.
        bytes: u64,
    },
    /// Allocates blocks of memory in some of its jobs, to provoke overruns.
    Alloc {
        /// How many blocks.
        blocks: u64,
        /// The size of each in bytes.
        bytes: u64,
        /// The probability with which a job does it.
        probability: Ratio,
    },
}

impl Work {
    /// `spin`, `array:SIZE` or `alloc:COUNTxSIZE@PROBABILITY`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "spin" {
            return Some(Self::Spin);
        }
        if let Some(size) = text.strip_prefix("array:") {
            return Some(Self::Array {
                bytes: size_from_text(size)?,
            });
        }
        let (blocks, rest) = text.strip_prefix("alloc:")?.split_once('x')?;
        let (size, probability) = rest.split_once('@')?;
        let blocks = whole_from_text(blocks).filter(|&blocks| (1..=1_000_000).contains(&blocks))?;
        let probability = Decimal::parse(probability)
            .ok()
            .filter(|p| !p.negative)?
            .ratio()?;
        probability.is_at_most_one().then_some(())?;
        Some(Self::Alloc {
            blocks,
            bytes: size_from_text(size)?,
            probability,
        })
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Spin => f.write_str("spin"),
            Self::Array { bytes } => write!(f, "array:{}", size_text(bytes)),
            Self::Alloc {
                blocks,
                bytes,
                probability,
            } => write!(f, "alloc:{blocks}x{}@{probability}", size_text(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_spin_an_array_or_allocations() {
        assert_eq!(Work::parse("spin"), Some(Work::Spin));
        assert_eq!(
            Work::parse("array:32KiB"),
            Some(Work::Array { bytes: 32 << 10 })
        );
        let half = Ratio::new(1, 2).unwrap();
        let work = Work::Alloc {
            blocks: 10,
            bytes: 1 << 20,
            probability: half,
        };
        assert_eq!(Work::parse("alloc:10x1MiB@0.5"), Some(work));
        for text in [
            "",
            "array",
            "array:32",
            "alloc:0x1MiB@0.5",
            "alloc:1x1MiB@1.5",
            "alloc:1x1MiB@-1",
        ] {
            assert_eq!(Work::parse(text), None, "{text}");
        }
    }
}
