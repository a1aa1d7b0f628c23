//! What levels A and B of a CPU may still demand.

use vestal_core::{CpuTable, Service, TaskConfiguration};

/// The slots of level A, and of each task of level B the clock of its first release after the epoch, its period, and what one release
/// brings; in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Demand {
    cycle: u64,
    /// Each with its beginning in the cycle, and its length.
    slots: Vec<[u64; 2]>,
    local: Vec<[u64; 3]>,
}

impl Demand {
    /// Of this table, and these tasks of level B with their offsets.
    pub(crate) fn of<'a>(
        table: &CpuTable<'_>,
        local: impl Iterator<Item = (&'a TaskConfiguration, u64)>,
    ) -> Self {
        let slots = table.slots.iter();
        let slots = slots.map(|slot| [slot.start.as_nanos(), slot.length.as_nanos()]);
        let local = local.map(|(entry, offset)| {
            let own: Service = entry.task.own_wcet();
            [offset, entry.task.period.as_nanos(), own.as_nanos()]
        });
        Self {
            cycle: table.cycle.as_nanos(),
            slots: slots.collect(),
            local: local.collect(),
        }
    }

    /// At most so much between two instants: all slots, whatever jobs need of them, and of level B what is released there and what is
    /// left of one release before. It is no bound for tasks of level B that have several budgets of before, because they are late, or
    /// whose budgets are ignored.
    pub(super) fn between(&self, now: u64, end: u64) -> u64 {
        let most = end.saturating_sub(now);
        let each = self.local.iter().map(|&[offset, period, own]| {
            let until = |instant: u64| instant.saturating_sub(offset).div_ceil(period.max(1));
            let begun = u64::from(now > offset);
            let releases = until(end).saturating_sub(until(now)).saturating_add(begun);
            own.saturating_mul(releases)
        });
        let slots = self.slots_until(end).saturating_sub(self.slots_until(now));
        each.fold(slots, u64::saturating_add).min(most)
    }

    /// What slots give from the epoch until an instant.
    fn slots_until(&self, instant: u64) -> u64 {
        let cycle = self.cycle.max(1);
        let (cycles, phase) = (instant / cycle, instant % cycle);
        let each = self.slots.iter().map(|&[start, length]| {
            let begun = phase.saturating_sub(start).min(length);
            length.saturating_mul(cycles).saturating_add(begun)
        });
        each.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{TableSlot, TaskId};
    use vestal_testkit::short::{span, task};

    /// Release by release, and nanosecond by nanosecond of the slots.
    fn slowly(demand: &Demand, now: u64, end: u64) -> u64 {
        let is_slot = |instant: &u64| {
            let phase = instant % demand.cycle;
            let mut slots = demand.slots.iter();
            slots.any(|[start, length]| (*start..start + length).contains(&phase))
        };
        let mut sum = (now..end).filter(is_slot).count() as u64;
        for &[offset, period, own] in &demand.local {
            let releases = (0..).map(|job| offset + job * period);
            let within = releases.take_while(|release| *release < end);
            let within = within.filter(|release| *release >= now).count() as u64;
            sum += own * (within + u64::from(now > offset));
        }
        sum.min(end - now)
    }

    /// A's job needs 1 of its slot of 4, and may execute all of that.
    #[test]
    fn slots_and_what_is_released_until_then_and_one_budget_before_are_set_aside() {
        let each = [(0, 10, 2), (3, 7, 1), (40, 5, 1)];
        let each = each.map(|(offset, period, own)| {
            let task = task(1, period, &[own]);
            (TaskConfiguration::new(task, 1), offset)
        });
        let slots = [(2, 4), (9, 1)].map(|(start, length)| TableSlot {
            start: span(start),
            length: span(length),
            task: TaskId(0),
        });
        let table = CpuTable {
            cycle: span(12),
            slots: &slots,
        };
        let local = each.iter().map(|(entry, offset)| (entry, *offset));
        let demand = Demand::of(&table, local);
        for now in 0..60 {
            for end in now..90 {
                let (found, expected) = (demand.between(now, end), slowly(&demand, now, end));
                assert_eq!(found, expected, "{now}..{end}");
            }
        }
        let alone = Demand {
            local: Vec::new(),
            ..demand
        };
        assert_eq!(alone.between(0, 12), 5, "whole slots");
        assert_eq!(Demand::default().between(0, 100), 0);
        // No more than there is.
        let local = vec![[0, 1, 5]];
        let greedy = Demand {
            local,
            ..Demand::default()
        };
        assert_eq!(greedy.between(2, 9), 7);
    }
}
