//! Made-up runs of which the answer is known.

use super::run::{Camera, Place, Run, System, WINDOW_NS};
use super::set::names;

const WINDOWS: u64 = 40;

/// A run of four seconds in which each application completes a job each period, that takes nothing and in which cameras are not read.
pub(super) fn made(place: Place, system: System, repetition: u32) -> Run {
    let each: Vec<u64> = (1..=WINDOWS).map(|window| window * WINDOW_NS).collect();
    let camera = Camera {
        served_by: vec![0; each.len()],
        ..Camera::default()
    };
    Run {
        place,
        system,
        repetition,
        span_ns: WINDOWS * WINDOW_NS,
        completed_ns: [each.clone(), each],
        dropped: [0; 2],
        rises: 0,
        scheduler_ns: 0,
        switches: 1_000,
        interrupts: 0,
        cameras: vec![camera; names(place).len()],
        lost_ns: 0,
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
        sent: sum,
        served: sum,
        queued: 0,
        dropped: 0,
        served_by,
    }
}
