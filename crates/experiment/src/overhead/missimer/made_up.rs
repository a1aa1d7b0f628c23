//! Made-up runs of which the answer is known.

use super::run::{Camera, Place, Run, System, WINDOW_NS};
use super::set::names;

const WINDOWS: u64 = 40;

/// A run of four seconds in which each application completes a job each period, that takes nothing, and in which half of
/// what cameras send is served, nobody looks when.
pub(super) fn made(place: Place, system: System, repetition: u32) -> Run {
    let each: Vec<u64> = (1..=WINDOWS).map(|window| window * WINDOW_NS).collect();
    let camera = Camera {
        sent: 200,
        served: 100,
        queued: 0,
        dropped: 100,
        served_by: vec![0; each.len()],
    };
    Run {
        place,
        system,
        repetition,
        span_ns: WINDOWS * WINDOW_NS,
        completed_ns: [each.clone(), each.clone()],
        dropped: [0; 2],
        read: [0; 2],
        overwritten: [0; 2],
        rises_ns: match place {
            Place::OneCamera | Place::TwoCameras => Vec::new(),
            Place::Change => vec![WINDOWS / 2 * WINDOW_NS],
        },
        scheduler_ns: 0,
        switches: 1_000,
        interrupts: 0,
        cameras: vec![camera; names(place).len()],
        looked_ns: each,
        lost_ns: 0,
        gaps: 0,
    }
}

/// A camera of which so many events are served in each window of each half, in the second by turns so many more and fewer.
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
    Camera {
        sent: 2 * sum,
        served: sum,
        queued: 0,
        dropped: sum,
        served_by,
    }
}
