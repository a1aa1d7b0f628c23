//! Busy periods: from the first release that finds the CPU without a job to the moment at which every
//! job released until then is complete.
//!
//! Nothing is woken for them and no clock is read: workers report what they know anyway, when they
//! begin a job and find none active (see [`super::guarantee`]).

/// How many busy periods a run remembers one by one.
const BUSY_PERIODS_MAX: usize = 32_768;

/// The busy periods of a run, on the clock of the world.
#[derive(Clone, Debug, Default)]
pub struct BusyLog {
    /// The first release of the present busy period, if there was one yet.
    start: Option<u64>,
    count: u64,
    /// Start and end of each.
    entries: Vec<(u64, u64)>,
}

impl BusyLog {
    /// A job released at `release` begins, none is active, and the last one ended at `last_end`, not
    /// after that release.
    pub(super) fn begins(&mut self, release: u64, last_end: u64) {
        self.finish(last_end);
        self.start = Some(release);
    }

    /// A job released at `release` begins within the present busy period. The most urgent job begins
    /// first, but another one may have been released before it.
    pub(super) fn goes_on(&mut self, release: u64) {
        self.start = self.start.map(|start| start.min(release));
    }

    /// No job begins any more; the last one ended at `last_end`.
    pub(super) fn finish(&mut self, last_end: u64) {
        let Some(start) = self.start.take() else {
            return;
        };
        self.count += 1;
        if self.entries.len() < BUSY_PERIODS_MAX {
            self.entries.push((start, last_end.max(start)));
        }
    }

    /// How many there were, also those that are not remembered.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The remembered ones, oldest first, as clock readings of start and end.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.entries.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_period_lasts_from_its_first_release_to_the_end_of_its_last_job() {
        let mut log = BusyLog::default();
        log.begins(100, 0);
        log.goes_on(90);
        log.goes_on(120);
        log.begins(500, 300);
        log.finish(640);
        assert_eq!(log.iter().collect::<Vec<_>>(), [(90, 300), (500, 640)]);
        assert_eq!(log.count(), 2);
        log.finish(700);
        assert_eq!(log.count(), 2, "nothing began since");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut log = BusyLog::default();
        let many = BUSY_PERIODS_MAX as u64 + 3;
        for number in 0..many {
            log.begins(10 * number, 10 * number);
        }
        log.finish(10 * many);
        assert_eq!(log.count(), many);
        assert_eq!(log.iter().count(), BUSY_PERIODS_MAX);
    }
}
