//! Who waits for how many events of which device. Pure: no clock, no thread, no word.
//!
//! Events are counted by device, and a wait ends at a number: that of the last event that anybody of its device was to wait for, or
//! that had been served when it began, and as many more as it is for. So each event ends one wait at most, in the order in which
//! waits began.

use crate::task::Wait;
use vestal_core::{JobId, ServerId};

/// A job that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiter {
    job: JobId,
    device: usize,
    /// How many had been served when it began to wait, and for how many more it is.
    served: u64,
    events: u64,
    target: u64,
    /// The server of its task, if that is known: on whose behalf the bottom half runs.
    host: Option<ServerId>,
}

/// Up to which event of a device none is for a wait to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Given {
    /// To waits that are over.
    away: u64,
    /// With what those that wait are still to have.
    in_all: u64,
}

/// All that wait, in the order in which they began to.
#[derive(Debug)]
pub(super) struct Waits {
    waiters: Vec<Waiter>,
    /// By device.
    given: Vec<Given>,
    /// Whether a wait began, or one was forgotten, since somebody asked.
    has_changed: bool,
}

impl Waits {
    /// For so many tasks, each of which waits once at a time, and devices.
    pub(super) fn new(tasks: usize, devices: usize) -> Self {
        Self {
            waiters: Vec::with_capacity(tasks),
            given: vec![Given::default(); devices],
            has_changed: false,
        }
    }

    /// Whether a wait began, or one was forgotten, since this was asked last: there may be targets that nobody calls for.
    pub(super) fn take_changes(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// `job` waits from here on. O(1).
    pub(super) fn begin(&mut self, job: JobId, wait: &Wait, host: Option<ServerId>) {
        let Some(given) = self.given.get_mut(wait.device) else {
            return;
        };
        let target = wait.served.max(given.in_all).saturating_add(wait.events);
        given.in_all = target;
        self.has_changed = true;
        self.waiters.push(Waiter {
            job,
            device: wait.device,
            served: wait.served,
            events: wait.events,
            target,
            host,
        });
    }

    /// `job` waits no more, if it did: the events that it has had are gone, and those that it was still to have are for the next.
    /// O(tasks).
    pub(super) fn forget(&mut self, job: JobId, served: impl Fn(usize) -> u64) {
        let mut waiters = self.waiters.iter();
        let Some(place) = waiters.position(|waiter| waiter.job == job) else {
            return;
        };
        let Waiter { device, target, .. } = self.waiters.remove(place);
        self.has_changed = true;
        let Some(given) = self.given.get_mut(device) else {
            return;
        };
        let mut before = self.waiters.iter().take(place);
        if before.all(|waiter| waiter.device != device) {
            given.away = given.away.max(served(device).min(target));
        }
        given.in_all = given.away;
        for waiter in self.waiters.iter_mut().filter(|each| each.device == device) {
            waiter.target = waiter
                .served
                .max(given.in_all)
                .saturating_add(waiter.events);
            given.in_all = waiter.target;
        }
    }

    /// At which event of a device somebody is to be told of it; `None`: nobody waits. O(tasks).
    pub(super) fn next_target(&self, device: usize) -> Option<u64> {
        let first = self.waiters.iter().find(|waiter| waiter.device == device);
        first.map(|waiter| waiter.target)
    }

    /// When so many events of a device were served, the first of the jobs that have all that they waited for. It waits no more.
    /// O(tasks).
    pub(super) fn take_over(&mut self, device: usize, served: u64) -> Option<JobId> {
        let mut waiters = self.waiters.iter();
        let place = waiters.position(|waiter| waiter.device == device)?;
        let waiter = *self.waiters.get(place)?;
        if waiter.target > served {
            return None;
        }
        self.waiters.remove(place);
        if let Some(given) = self.given.get_mut(device) {
            given.away = given.away.max(waiter.target);
        }
        Some(waiter.job)
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiters.len()
    }

    /// On whose behalf the bottom half of a device runs, if the waiter at this place waits for that.
    pub(super) fn host(&self, place: usize, device: usize) -> Option<ServerId> {
        let waiter = self.waiters.get(place)?;
        waiter.host.filter(|_| waiter.device == device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use vestal_core::TaskId;
    use vestal_testkit::random::Random;

    fn job(task: u16, sequence: u64) -> JobId {
        let task = TaskId(task);
        JobId { task, sequence }
    }

    fn wait(device: usize, events: u64, served: u64) -> Wait {
        let (sequence, at) = (0, 0);
        Wait {
            sequence,
            device,
            events,
            served,
            at,
        }
    }

    #[test]
    fn events_that_were_served_before_a_wait_do_not_count_and_none_counts_twice() {
        let mut waits = Waits::new(4, 2);
        assert_eq!((waits.next_target(0), waits.take_over(0, 9)), (None, None));
        let host = Some(ServerId(3));
        waits.begin(job(0, 0), &wait(0, 2, 5), host);
        waits.begin(job(1, 0), &wait(0, 1, 5), None);
        waits.begin(job(2, 0), &wait(1, 1, 0), None);
        assert_eq!(
            (waits.next_target(0), waits.next_target(1)),
            (Some(7), Some(1))
        );
        let hosts = [0, 1, 2, 3].map(|place| waits.host(place, 0));
        assert_eq!(hosts, [host, None, None, None]);
        assert_eq!(waits.take_over(0, 6), None);
        assert_eq!(waits.take_over(0, 7), Some(job(0, 0)));
        assert_eq!(
            waits.take_over(0, 7),
            None,
            "the seventh is the first one's"
        );
        assert_eq!(waits.take_over(0, 8), Some(job(1, 0)));
        // Events that nobody waited for are over.
        waits.begin(job(0, 1), &wait(0, 1, 20), None);
        assert_eq!(waits.next_target(0), Some(21));
        waits.forget(job(0, 1), |_| 20);
        assert_eq!((waits.next_target(0), waits.len()), (None, 1));
        // A device that is not there.
        waits.begin(job(3, 0), &wait(2, 1, 0), None);
        assert_eq!(waits.len(), 1);
    }

    /// The slow twin hands each event that is served to the oldest wait of its device that lacks one.
    #[test]
    fn waits_end_as_if_each_event_were_handed_to_who_waits_longest() {
        const TASKS: u16 = 5;
        let (mut ended, mut kept_waiting, mut forgotten) = (0, 0, 0);
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut waits = Waits::new(TASKS.into(), 2);
            let mut twin: [VecDeque<(JobId, u64)>; 2] = Default::default();
            let mut served = [0_u64; 2];
            let mut next = [0_u64; TASKS as usize];
            let mut waiting = [false; TASKS as usize];
            for _ in 0..400 {
                let device = usize::try_from(random.below(2)).unwrap();
                let task = u16::try_from(random.below(TASKS.into())).unwrap();
                match random.below(8) {
                    0 if waiting[usize::from(task)] => {
                        let dropped = job(task, next[usize::from(task)] - 1);
                        waits.forget(dropped, |device| served[device]);
                        for queue in &mut twin {
                            queue.retain(|&(job, _)| job != dropped);
                        }
                        waiting[usize::from(task)] = false;
                        forgotten += 1;
                    }
                    1..4 if !waiting[usize::from(task)] => {
                        let job = job(task, next[usize::from(task)]);
                        next[usize::from(task)] += 1;
                        waiting[usize::from(task)] = true;
                        let events = random.below(4) + 1;
                        waits.begin(job, &wait(device, events, served[device]), None);
                        twin[device].push_back((job, events));
                    }
                    _ => {
                        served[device] += 1;
                        let mut expected = None;
                        if let Some((job, left)) = twin[device].front_mut() {
                            *left -= 1;
                            if *left == 0 {
                                expected = Some(*job);
                                twin[device].pop_front();
                            }
                        }
                        let target = waits.next_target(device);
                        let found = waits.take_over(device, served[device]);
                        assert_eq!(found, expected, "seed {seed}");
                        assert_eq!(target == Some(served[device]), found.is_some());
                        assert_eq!(waits.take_over(device, served[device]), None);
                        match found {
                            Some(job) => {
                                waiting[job.task.index()] = false;
                                ended += 1;
                            }
                            None => kept_waiting += 1,
                        }
                    }
                }
            }
        }
        assert!(
            ended > 10_000 && kept_waiting > 10_000 && forgotten > 2_000,
            "{ended} {kept_waiting} {forgotten}"
        );
    }
}
