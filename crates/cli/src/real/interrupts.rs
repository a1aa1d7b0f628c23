//! What the kernel does in interrupts on the processors of a run, by its own account.

use crate::quantity::short;
use std::fs;
use vestal_core::time::NANOS_PER_SECOND;
use vestal_linux::Processor;
use vestal_result::run::Interrupts;

/// The unit of times in `/proc/stat`, USER_HZ: 100 a second on every architecture that this runs on.
const STEP_NANOS: u64 = NANOS_PER_SECOND / 100;
/// Where a line of `/proc/stat` has the time of interrupts and of softirqs, behind the name of the processor.
const HARD: usize = 5;
const SOFT: usize = 6;
/// The row of `/proc/softirqs` that is about received packets.
const RECEIVED: &str = "NET_RX:";

/// The kernel's counters at an instant.
#[derive(Debug)]
pub(super) struct Counters {
    stat: String,
    softirqs: String,
}

/// What they say of a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    hard: u64,
    soft: u64,
    received: u64,
}

impl Counters {
    /// As they are now.
    pub(super) fn now() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            stat: read("/proc/stat"),
            softirqs: read("/proc/softirqs"),
        }
    }

    /// What was counted on processors since then; nothing of those that the kernel says nothing of.
    pub(super) fn since(
        &self,
        before: &Self,
        processors: impl Iterator<Item = Processor>,
    ) -> Vec<Interrupts> {
        let mut processors: Vec<usize> = processors.map(|processor| processor.0).collect();
        processors.sort_unstable();
        processors.dedup();
        let rows = processors.into_iter().filter_map(|processor| {
            let (before, now) = (before.of(processor)?, self.of(processor)?);
            let steps = |of: fn(Found) -> u64| of(now).saturating_sub(of(before));
            Some(Interrupts {
                processor,
                hard_ns: steps(|found| found.hard) * STEP_NANOS,
                soft_ns: steps(|found| found.soft) * STEP_NANOS,
                granularity_ns: STEP_NANOS,
                received: steps(|found| found.received),
            })
        });
        rows.collect()
    }

    fn of(&self, processor: usize) -> Option<Found> {
        let name = format!("cpu{processor}");
        let line = |line: &&str| line.split_whitespace().next() == Some(name.as_str());
        let times = self.stat.lines().find(line)?;
        let time = |place: usize| times.split_whitespace().nth(place + 1)?.parse().ok();
        let head = format!("CPU{processor}");
        let mut lines = self.softirqs.lines();
        let place = lines.next()?.split_whitespace().position(|it| it == head)?;
        let row = lines.find(|line| line.trim_start().starts_with(RECEIVED))?;
        Some(Found {
            hard: time(HARD)?,
            soft: time(SOFT)?,
            received: row.split_whitespace().nth(place + 1)?.parse().ok()?,
        })
    }
}

/// For people.
pub(super) fn line(row: &Interrupts) -> String {
    format!(
        "the kernel took {} of CPU {} in softirqs and {} in interrupts, counted in steps of {} as ticks find them: packets were received {} times",
        short(row.soft_ns),
        row.processor,
        short(row.hard_ns),
        short(row.granularity_ns),
        row.received
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(hard: u64, soft: u64, received: u64) -> Counters {
        Counters {
            stat: format!(
                "cpu  9 9 9 9 9 9 9 9 0 0\ncpu1 1 2 3 4 5 {hard} {soft} 8 0 0\ncpu10 1 2 3 4 5 66 77 8 0 0\nintr 5\n"
            ),
            // CPU0 is not there any more.
            softirqs: format!(
                "                    CPU1       CPU10\n      NET_TX:          1          2\n      NET_RX:          {received}          88\n"
            ),
        }
    }

    #[test]
    fn what_was_counted_meanwhile_on_a_processor_is_found() {
        let (before, after) = (counters(6, 7, 100), counters(7, 10, 150));
        let found = after.since(&before, [10, 1, 1, 0].map(Processor).into_iter());
        let row = |processor, hard_ns, soft_ns, received| Interrupts {
            processor,
            hard_ns,
            soft_ns,
            granularity_ns: 10_000_000,
            received,
        };
        let expected = [row(1, 10_000_000, 30_000_000, 50), row(10, 0, 0, 0)];
        let said = line(&found[0]);
        assert!(
            said.starts_with("the kernel took 30ms of CPU 1 in softirqs"),
            "{said}"
        );
        assert_eq!(found, expected);
        let unreadable = Counters {
            stat: String::new(),
            softirqs: String::new(),
        };
        assert_eq!(after.since(&unreadable, [Processor(1)].into_iter()), []);
    }

    #[test]
    fn this_machine_says_what_it_did() {
        let now = Counters::now();
        let found = now.since(&now, [Processor(0)].into_iter());
        // Where it may be read, and the processor is there.
        let is_said = now.stat.contains("\ncpu0 ") && now.softirqs.contains("CPU0 ");
        assert_eq!(found.len(), usize::from(is_said), "{now:?}");
    }
}
