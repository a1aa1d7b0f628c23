//! Quantities as reasons show them.

use core::fmt;
use vestal_core::Duration;

/// A time exactly, in the largest unit in which it is at least 1.
pub(crate) struct Time(pub(crate) Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let (unit, digits, name) = match nanos {
            1_000_000_000.. => (1_000_000_000, 9, "s"),
            1_000_000.. => (1_000_000, 6, "ms"),
            1_000.. => (1_000, 3, "us"),
            _ => (1, 0, "ns"),
        };
        write!(f, "{}", nanos / unit)?;
        let fraction = nanos % unit;
        if fraction > 0 {
            let text = format!("{fraction:0digits$}");
            write!(f, ".{}", text.trim_end_matches('0'))?;
        }
        write!(f, " {name}")
    }
}
