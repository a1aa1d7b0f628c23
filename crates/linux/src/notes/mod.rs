//! Between the threads of a CPU and who reads what they note: the bounded log, and the few words that are read while
//! the run goes on.
//!
//! What threads note, and when, is the business of [`crate::evidence`]; here nothing is known of a CPU.

#[cfg(all(test, loom))]
mod leaving_model;
mod log;
mod online;

pub(crate) use log::{Extent, NoteLog, NoteReader, channel};
pub(crate) use online::{Online, TaskOnline, note_and_wait};

use crate::account::NOTE_WORDS;

/// What a note takes in a log, in bytes.
pub(crate) const NOTE_BYTES: u64 = (NOTE_WORDS as u64 + 1) * 8;

/// How many notes a job gives rise to, with those of a job that it preempts.
const NOTES_PER_JOB: u64 = 20;

/// How many notes a round of the manager gives rise to.
const NOTES_PER_ROUND: u64 = 6;

/// Room for what nobody can foresee: time that is stolen again and again.
const NOTES_MIN: u64 = 4_096;

/// How long nobody may read a log without a loss.
const HELD_NANOS: u64 = 2_000_000_000;

/// For how many notes the log of a CPU has room, with tasks of these periods and a manager that looks each `beat`.
pub(crate) fn room(periods: impl IntoIterator<Item = u64>, beat_nanos: u64) -> usize {
    let jobs = periods
        .into_iter()
        .map(|period| HELD_NANOS.div_ceil(period.max(1)))
        .fold(0, u64::saturating_add);
    let rounds = HELD_NANOS
        .div_ceil(beat_nanos.max(1))
        // Each job may call the manager twice.
        .saturating_add(jobs.saturating_mul(2));
    let notes = jobs
        .saturating_mul(NOTES_PER_JOB)
        .saturating_add(rounds.saturating_mul(NOTES_PER_ROUND))
        .saturating_add(NOTES_MIN);
    let room = usize::try_from(notes.min(NOTES_MAX)).unwrap_or(usize::MAX);
    room.next_power_of_two()
}

/// No log has more room: 64 MiB.
const NOTES_MAX: u64 = 1 << 20;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_room_for_two_seconds_of_a_set_and_not_for_more_than_its_memory() {
        const MS: u64 = 1_000_000;
        assert_eq!(room([], 500 * MS), 8_192, "the least, and four beats");
        // 2000 jobs of 20 notes, 4000 rounds of 6, the least: 68 096.
        assert_eq!(room([MS], 500 * MS), 131_072);
        assert!(room([10 * MS; 3], 500 * MS) < room([10 * MS; 3], MS));
        assert_eq!(room([1], 1), 1 << 20);
    }
}
