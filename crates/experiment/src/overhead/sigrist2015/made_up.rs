//! Made-up runs of which the answer is known.

use super::run::{Events, PerCpu, Place, Run};
use super::table::Table;
use super::variant::variant;

/// A place of drawn sets.
pub(super) const fn drawn(cpus: u16, permille: u32) -> Place {
    Place::Drawn { cpus, permille }
}

/// A millisecond.
const SPAN_NS: u64 = 1_000_000;

/// A run of a millisecond whose parts take `nanos` of each CPU together, all of them about the same.
pub(super) fn made(place: Place, number: u32, name: &str, nanos: u64) -> Run {
    let kind = variant(name).unwrap().kind;
    let mut parts = vec![nanos / kind.parts().len() as u64; kind.parts().len()];
    parts[0] += nanos - parts.iter().sum::<u64>();
    with_parts(place, number, name, &parts, nanos)
}

/// A run of a millisecond with these parts, in the order of the paper, and this system overhead.
pub(super) fn with_parts(place: Place, number: u32, name: &str, parts: &[u64], system: u64) -> Run {
    let each = |nanos: u64| PerCpu {
        mean_ns: nanos,
        max_ns: nanos,
    };
    Run {
        place,
        number,
        variant: name.to_owned(),
        kept: true,
        span_ns: SPAN_NS,
        employed: place.cpus(),
        parts: parts.iter().map(|&nanos| Some(each(nanos))).collect(),
        scheduler: each(parts.iter().sum()),
        system: each(system),
        events: Events::default(),
        lost_ns: 0,
    }
}

pub(super) fn table_of(runs: Vec<Run>) -> Table {
    Table::of(runs)
}
