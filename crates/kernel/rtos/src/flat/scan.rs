//! Counters of all tasks, which every tick counts down.

use super::{Alarm, Alarms};
use crate::kernel::TASKS;
use vestal_hsf::TaskId;

/// Ticks until arrivals and ends of delays; 0 is none.
pub struct Scan {
    arrivals: [u32; TASKS],
    resumes: [u32; TASKS],
    /// Those that went off and were not taken yet, by task.
    arrived: u64,
    resumed: u64,
    /// How many counters of each kind there are: up to the last task that ever had one.
    used: usize,
}

impl Scan {
    fn place(&mut self, alarm: Alarm) -> Option<&mut u32> {
        match alarm {
            Alarm::Arrival(task) => self.arrivals.get_mut(task.index()),
            Alarm::Resume(task) => self.resumes.get_mut(task.index()),
        }
    }
}

fn count_down(counters: &mut [u32; TASKS], used: usize, ticks: u32) -> u64 {
    let mut over = 0;
    let counters = counters.get_mut(..used).unwrap_or(&mut []);
    for (number, counter) in (0..u64::BITS).zip(counters) {
        if *counter > 0 {
            *counter = counter.saturating_sub(ticks);
            if *counter == 0 {
                over |= 1_u64.unbounded_shl(number);
            }
        }
    }
    over
}

fn take(set: &mut u64) -> Option<TaskId> {
    let first = u8::try_from(set.trailing_zeros())
        .ok()
        .filter(|_| *set != 0)?;
    *set &= set.saturating_sub(1);
    Some(TaskId::new(first))
}

impl Alarms for Scan {
    fn new() -> Self {
        Self {
            arrivals: [0; TASKS],
            resumes: [0; TASKS],
            arrived: 0,
            resumed: 0,
            used: 0,
        }
    }

    fn set(&mut self, alarm: Alarm, ticks: u32) {
        let (Alarm::Arrival(task) | Alarm::Resume(task)) = alarm;
        self.used = self.used.max(task.index().saturating_add(1));
        if let Some(place) = self.place(alarm) {
            *place = ticks;
        }
    }

    fn clear(&mut self, alarm: Alarm) {
        self.set(alarm, 0);
    }

    /// O(tasks).
    fn next(&self) -> u32 {
        let all = self.arrivals.iter().chain(&self.resumes);
        all.copied()
            .filter(|&ticks| ticks > 0)
            .min()
            .unwrap_or(u32::MAX)
    }

    /// O(tasks).
    fn elapse(&mut self, ticks: u32) {
        self.arrived |= count_down(&mut self.arrivals, self.used, ticks);
        self.resumed |= count_down(&mut self.resumes, self.used, ticks);
    }

    fn due(&mut self) -> Option<Alarm> {
        let resumed = take(&mut self.resumed).map(Alarm::Resume);
        resumed.or_else(|| take(&mut self.arrived).map(Alarm::Arrival))
    }
}
