//! When a bottom half had the CPU, by what its own body sees.

use vestal_core::JobId;
use vestal_experiment::overhead::missimer::spans::Span;

/// When a bottom half had the CPU and served events: parts in their order.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    parts: Vec<Span>,
    /// The last event: whose, when it was served, and what that job had executed by then.
    last: Option<(JobId, u64, u64)>,
}

impl Bursts {
    /// With room for so many parts, and for none that come after these: it asks for no memory in a real-time class.
    pub(super) fn with_room(parts: usize) -> Self {
        let parts = Vec::with_capacity(parts);
        Self { parts, last: None }
    }

    /// The parts that there are.
    pub(super) fn parts(&self) -> &[Span] {
        &self.parts
    }

    /// An event was served at this instant, by when the job had executed so much; nanoseconds. Where that is as long as since the event before, it had the CPU
    /// all that time; else only what it executed is known, and is taken to lie just before.
    pub(super) fn served(&mut self, job: JobId, at: u64, executed: u64) {
        /// A switch of threads and back takes less than two of them could.
        const SWITCH_NANOS: u64 = 20_000;
        if self.parts.len() == self.parts.capacity() {
            return;
        }
        let before = self.last.replace((job, at, executed));
        let before = before.filter(|&(of, ..)| of == job);
        let (since, had) = before.map_or((0, 0), |(_, at, executed)| (at, executed));
        let new = executed.saturating_sub(had);
        let away = at.saturating_sub(since).saturating_sub(new);
        if before.is_some() && away < SWITCH_NANOS {
            if let Some(part) = self.parts.last_mut() {
                part.1 = at;
            }
        } else {
            self.parts.push((at.saturating_sub(new), at));
        }
    }

    #[cfg(test)]
    pub(super) const fn of(parts: Vec<Span>) -> Self {
        Self { parts, last: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::TaskId;

    /// 5 us each, in two jobs. Of the first 30 us lie between two events; the second one lost the CPU in its middle, and executed 8 us in all since the event before.
    #[test]
    fn a_bottom_half_knows_when_it_had_the_cpu() {
        let job = |sequence| JobId {
            task: TaskId(2),
            sequence,
        };
        let mut bursts = Bursts::with_room(4);
        for (of, at, executed) in [
            (0, 105, 5),
            (0, 110, 10),
            (0, 145, 40),
            (1, 505, 5),
            (1, 510, 10),
            (1, 900, 18),
            (1, 905, 23),
        ] {
            bursts.served(job(of), at * 1_000, executed * 1_000);
        }
        let parts = [(100, 145), (500, 510), (892, 905)];
        let parts = parts.map(|(from, to)| (from * 1_000, to * 1_000));
        assert_eq!(bursts.parts(), parts);
        // Of what there is no room for nothing is said.
        for at in [2_000_000, 3_000_000, 3_005_000] {
            bursts.served(job(at), at, 5_000);
        }
        assert_eq!(
            bursts.parts(),
            [&parts[..], &[(1_995_000, 2_000_000)]].concat()
        );
    }
}
