//! Made-up runs of which the answer is known.

use super::run::{Camera, Place, Rise, Run, System, WINDOW_NS};
use super::set::{RATE, permille};

const WINDOWS: u64 = 40;

/// A run of four seconds in which each application completes a job each period, that takes nothing, and in which the server of each camera gives
/// its share, to three in four events of 5 us that it has time for, as many in each window.
pub(super) fn made(place: Place, system: System, repetition: u32) -> Run {
    let each: Vec<u64> = (1..=WINDOWS).map(|window| window * WINDOW_NS).collect();
    let cameras = permille(place).into_iter().map(|[lo, hi]| {
        let mean = match place {
            Place::OneCamera | Place::TwoCameras => lo,
            Place::Change => u64::midpoint(lo, hi),
        };
        let charged_ns = mean * WINDOWS * WINDOW_NS / 1_000;
        let sent = RATE * WINDOWS * WINDOW_NS / 1_000_000_000;
        let served = charged_ns / 5_000 * 3 / 4;
        Camera {
            sent,
            served,
            dropped: sent - served,
            charged_ns,
            served_by: evenly(served),
            ..Camera::default()
        }
    });
    Run {
        place,
        system,
        repetition,
        span_ns: WINDOWS * WINDOW_NS,
        completed_ns: [each.clone(), each.clone()],
        dropped: [0; 2],
        read: [0; 2],
        overwritten: [0; 2],
        rises: match place {
            Place::OneCamera | Place::TwoCameras => Vec::new(),
            Place::Change => vec![rise(WINDOWS / 2 * WINDOW_NS + 25_000_000)],
        },
        returns_ns: Vec::new(),
        scheduler_ns: 0,
        switches: 1_000,
        interrupts: 0,
        cameras: cameras.collect(),
        looked_ns: each,
        lost_ns: 0,
        gaps: 0,
        known_from_ns: 0,
    }
}

/// So many events, as many in each window.
pub(super) fn evenly(served: u64) -> Vec<u64> {
    let totals = (1..=WINDOWS).map(|window| served * window / WINDOWS);
    totals.collect()
}

/// A rise that nothing explains.
pub(super) const fn rise(at_ns: u64) -> Rise {
    Rise { at_ns, taken_ns: 0 }
}

/// A camera of which so many events are served in each window of each half, in the second by turns so many more and fewer; its server gives what those of
/// Table III have.
pub(super) fn camera(before: u64, after: u64, varies: u64) -> Camera {
    let mut served_by = Vec::new();
    let mut sum = 0;
    for window in 0..WINDOWS {
        sum += match window < WINDOWS / 2 {
            true => before,
            false if window % 2 == 0 => after + varies,
            false => after - varies,
        };
        served_by.push(sum);
    }
    let sent = RATE * WINDOWS * WINDOW_NS / 1_000_000_000;
    Camera {
        sent,
        served: sum,
        dropped: sent - sum,
        charged_ns: 22_000_000,
        served_by,
        ..Camera::default()
    }
}
