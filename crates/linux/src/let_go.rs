//! How a run begins: the threads of its CPUs, which all wait, are let go one CPU after the other.

use crate::account::Note;
use crate::notes::NoteLog;
use crate::run::Run;
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use crate::words::{Beat, Phase};
use vestal_core::Duration;

/// Threads get so long to set themselves up, and the first release is so far from the start.
const HEAD_START_NANOS: u64 = 20_000_000;

/// What clocks say to the thread that starts a run.
#[derive(Clone, Copy, Debug)]
struct Reading {
    wall: u64,
    /// The thread's own clock.
    cpu: u64,
}

impl Reading {
    fn now() -> Self {
        Self {
            wall: monotonic_nanos(),
            cpu: own_cpu_nanos(),
        }
    }
}

/// What of a CPU says that its threads may go.
pub(crate) struct Waiting<'a> {
    pub(crate) notes: &'a NoteLog,
    pub(crate) beat: &'a Beat,
    pub(crate) phase: &'a Phase,
}

/// Opens the run, on all CPUs with one epoch.
pub(crate) fn let_go(run: &Run, cpus: &[Waiting<'_>], span: Duration) {
    let_go_by(run, cpus, span, Reading::now);
}

/// The same by these clocks.
///
/// The calling thread is in no real-time class: if others have its CPU for so long, the threads of the run begin late.
/// That is nobody's doing who is in the run only until the first are let go: from then on those may be the others.
fn let_go_by(run: &Run, cpus: &[Waiting<'_>], span: Duration, clocks: impl Fn() -> Reading) {
    let began = clocks();
    let epoch = began.wall + HEAD_START_NANOS;
    run.epoch.set(epoch);
    run.end.set(epoch.saturating_add(span.as_nanos()));
    for cpu in cpus {
        cpu.notes.write(Note::Run { epoch });
    }
    let now = clocks();
    let kept = (now.wall - began.wall).saturating_sub(now.cpu - began.cpu);
    let late = now.wall.saturating_sub(epoch).min(kept);
    for cpu in cpus {
        if late > 0 {
            let now = now.wall;
            cpu.notes.write(Note::LetGo { now, late });
        }
        cpu.beat.go_on();
        cpu.phase.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::channel;
    use crate::words::Stage;
    use std::cell::Cell;

    const MS: u64 = 1_000_000;

    /// By how much each of three CPUs was noted to be let go late, if others have the starter's CPU for so long before it
    /// lets the first go, and for so long after that, each time it looks at the clocks.
    fn noted(before: u64, after: u64) -> Vec<u64> {
        let (logs, readers): (Vec<_>, Vec<_>) = [8; 3].map(channel).into_iter().unzip();
        let (beat, phases) = (Beat::default(), [0; 3].map(|_| Phase::default()));
        let goes = |phase: &Phase| phase.stage() == Stage::Running;
        let wall = Cell::new(None);
        let clocks = || {
            let now = match (wall.get(), phases.iter().any(goes)) {
                (None, _) => 0,
                (Some(wall), false) => wall + before,
                (Some(wall), true) => wall + after,
            };
            wall.set(Some(now));
            let cpu = 0;
            Reading { wall: now, cpu }
        };
        let waiting = logs.iter().zip(&phases).map(|(notes, phase)| Waiting {
            notes,
            beat: &beat,
            phase,
        });
        let waiting: Vec<Waiting<'_>> = waiting.collect();
        let run = Run::new(&crate::Config::new(), None);
        let_go_by(&run, &waiting, Duration::from_millis(100), clocks);
        assert!(phases.iter().all(goes));
        let late = readers.into_iter().map(|mut reader| {
            let extent = reader.extent();
            let notes = std::iter::from_fn(|| reader.next(extent));
            let late = notes.filter_map(|note| {
                let Note::LetGo { late, .. } = note else {
                    return None;
                };
                Some(late)
            });
            late.sum()
        });
        late.collect()
    }

    #[test]
    fn what_keeps_the_starter_before_any_thread_goes_makes_all_cpus_late() {
        assert_eq!(noted(HEAD_START_NANOS, 0), [0, 0, 0]);
        assert_eq!(noted(HEAD_START_NANOS + 50 * MS, 0), [50 * MS; 3]);
    }

    /// They may be what keeps it.
    #[test]
    fn threads_that_were_let_go_first_are_no_thieves_of_the_others() {
        assert_eq!(noted(MS, 70 * MS), [0, 0, 0]);
        let kept = HEAD_START_NANOS + 5 * MS;
        assert_eq!(noted(kept, 70 * MS), [5 * MS; 3]);
    }
}
