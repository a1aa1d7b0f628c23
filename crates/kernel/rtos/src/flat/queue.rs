//! One relative timed event queue for all tasks.

use super::{Alarm, Alarms};
use crate::kernel::TASKS;
use vestal_hsf::relteq::InsertError;
use vestal_hsf::{Pass, Pool};

/// Two nodes for each alarm are enough, with ticks of 16 bits.
pub struct Queue {
    pool: Pool<u16, Alarm, { 4 * TASKS + 1 }>,
    queue: vestal_hsf::Queue,
    pass: Pass,
}

/// There is room for every alarm, and no time of 32 bits is too far away.
fn has_room(result: Result<(), InsertError>) {
    debug_assert!(result.is_ok(), "too few nodes");
}

impl Alarms for Queue {
    fn new() -> Self {
        Self {
            pool: Pool::new(),
            queue: vestal_hsf::Queue::new(),
            pass: Pass::over(0),
        }
    }

    /// O(alarms before it), or before it and behind the last that was set again in this instant.
    fn set(&mut self, alarm: Alarm, ticks: u32) {
        let (queue, pass) = (&mut self.queue, &mut self.pass);
        has_room(self.pool.insert_again(queue, pass, ticks.into(), alarm));
    }

    /// O(alarms before it).
    fn clear(&mut self, alarm: Alarm) {
        self.pool.delete(&mut self.queue, alarm);
        self.pass = Pass::over(0);
    }

    fn next(&self) -> u32 {
        self.pool.head(&self.queue).unwrap_or(u32::MAX)
    }

    /// O(1).
    fn elapse(&mut self, ticks: u32) {
        self.pool.elapse(&self.queue, ticks);
        self.pass = Pass::over(0);
    }

    fn due(&mut self) -> Option<Alarm> {
        self.pool.synchronise(&mut self.queue, &mut self.pass)
    }
}
