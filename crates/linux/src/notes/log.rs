//! The log of one CPU: many threads write notes, one reads them in the order in which they were begun.
//!
//! Any thread of the CPU may be preempted half-way through a note, by one that writes notes too. So
//!
//! ```text
//! writer:  claims a place        writes the words        publishes: sequence := place + 1
//! reader:  reads up to the first place that is not published yet    gives room: read := place + 1
//! ```
//! Nobody waits. A note that finds no room is counted as lost, and overwrites nothing.
//!
//! Claims and losses are counted in one word, so that a reader knows of each loss between which notes it
//! happened, and so that a thread that looks at this word alone sees whether others have noted
//! anything since it looked last.

use crate::account::{NOTE_WORDS, Note};
use std::fmt;
use std::sync::Arc;
use sync::{AtomicU64, Ordering};

#[cfg(all(test, loom))]
mod sync {
    pub(super) use loom::sync::atomic::{AtomicU64, Ordering};
}
#[cfg(not(all(test, loom)))]
mod sync {
    pub(super) use std::sync::atomic::{AtomicU64, Ordering};
}

/// In [`NoteLog::begun`]: the lower bits count claims, those above lost notes. At a million notes a second
/// that is enough for half a year.
const CLAIM_BITS: u32 = 44;
const CLAIMS: u64 = (1 << CLAIM_BITS) - 1;
const ONE_LOST: u64 = 1 << CLAIM_BITS;
const LOST_MAX: u64 = u64::MAX >> CLAIM_BITS;

/// A place for a note. One cache line.
#[repr(align(64))]
struct Slot {
    /// The number of the note in it, plus one; written with Release when the words are.
    sequence: AtomicU64,
    /// Written and read Relaxed: the sequence says when.
    words: [AtomicU64; NOTE_WORDS],
}

/// How many places are fetched before a run: those of some hundred jobs. 64 KiB.
const FETCHED: usize = 1_024;

/// What writing a note did to [`NoteLog::activity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Its value from this note on.
    pub(crate) activity: u64,
    /// By how much the note changed it.
    pub(crate) step: u64,
}

/// A bounded log with many writers, which share a CPU, and one reader.
pub(crate) struct NoteLog {
    /// How many notes were begun, and how many were lost. Changed by writers with AcqRel.
    begun: AtomicU64,
    /// How many were read. Written by the reader with Release: what it read may be overwritten.
    read: AtomicU64,
    slots: Box<[Slot]>,
}

impl fmt::Debug for NoteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoteLog")
            .field("room", &self.slots.len())
            .finish_non_exhaustive()
    }
}

/// A log with room for `room` notes, with its only reader.
pub(crate) fn channel(room: usize) -> (Arc<NoteLog>, NoteReader) {
    let slots = (0..room.max(1)).map(|_| Slot {
        sequence: AtomicU64::new(0),
        words: std::array::from_fn(|_| AtomicU64::new(0)),
    });
    let log = Arc::new(NoteLog {
        begun: AtomicU64::new(0),
        read: AtomicU64::new(0),
        slots: slots.collect(),
    });
    let reader = NoteReader {
        log: Arc::clone(&log),
        read: 0,
        lost: 0,
    };
    (log, reader)
}

impl NoteLog {
    /// Changes with each note, also with one that is lost. One Relaxed load.
    pub(crate) fn activity(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Fetches the first places into the cache of the calling thread's CPU. They were written where the log was made; the
    /// first busy period, in which every task may be released at once, is not to pay for that.
    pub(crate) fn fetch(&self) {
        for slot in self.slots.iter().take(FETCHED) {
            // A change, so that the line is this CPU's alone; of nothing, whoever writes meanwhile.
            slot.sequence.fetch_or(0, Ordering::Relaxed);
        }
    }

    /// Writes a note, or counts it as lost.
    pub(crate) fn write(&self, note: Note) -> Written {
        self.write_words(note.to_words())
    }

    fn write_words(&self, words: [u64; NOTE_WORDS]) -> Written {
        let mut begun = self.begun.load(Ordering::Relaxed);
        // A turn is repeated only if another thread wrote a note meanwhile.
        let (place, written) = loop {
            let place = begun & CLAIMS;
            let has_room = self.is_free(place);
            let step = match has_room {
                true => 1,
                // The counter is full.
                false if begun >> CLAIM_BITS == LOST_MAX => {
                    return Written {
                        activity: begun,
                        step: 0,
                    };
                }
                false => ONE_LOST,
            };
            let activity = begun.wrapping_add(step);
            let claim = self.begun.compare_exchange_weak(
                begun,
                activity,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            let written = Written { activity, step };
            match claim {
                Ok(_) if has_room => break (place, written),
                Ok(_) => return written,
                Err(now) => begun = now,
            }
        };
        if let Some(slot) = self.slot(place) {
            for (word, value) in slot.words.iter().zip(words) {
                word.store(value, Ordering::Relaxed);
            }
            slot.sequence.store(place + 1, Ordering::Release);
        }
        written
    }

    /// Whether a note would find room now.
    pub(crate) fn has_room(&self) -> bool {
        self.is_free(self.begun.load(Ordering::Relaxed) & CLAIMS)
    }

    /// Whether what was in the slot of `place` before was read.
    fn is_free(&self, place: u64) -> bool {
        place.wrapping_sub(self.read.load(Ordering::Acquire)) < self.slots.len() as u64
    }

    fn slot(&self, place: u64) -> Option<&Slot> {
        let index = place.checked_rem(self.slots.len() as u64)?;
        self.slots.get(usize::try_from(index).ok()?)
    }
}

/// A writer that loses its CPU between two steps.
#[cfg(all(test, not(loom)))]
impl NoteLog {
    /// It claims a place, which is returned.
    pub(crate) fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel) & CLAIMS
    }

    /// And goes on.
    pub(crate) fn go_on(&self, place: u64, note: Note) {
        if let Some(slot) = self.slot(place) {
            for (word, value) in slot.words.iter().zip(note.to_words()) {
                word.store(value, Ordering::Relaxed);
            }
            slot.sequence.store(place + 1, Ordering::Release);
        }
    }
}

/// The reader of a log.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(crate) struct NoteReader {
    log: Arc<NoteLog>,
    read: u64,
    lost: u64,
}

/// How far a log was written at some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The first note that had not been begun.
    end: u64,
    /// How many notes were lost since the last look, all of them before that note.
    pub(crate) newly_lost: u64,
}

impl NoteReader {
    /// How far the log is written. Notes are to be read up to here before this is called again: whatever is
    /// lost later was lost behind them.
    pub(crate) fn extent(&mut self) -> Extent {
        let begun = self.log.begun.load(Ordering::Acquire);
        let lost = begun >> CLAIM_BITS;
        let newly_lost = lost.saturating_sub(self.lost);
        self.lost = lost;
        let end = begun & CLAIMS;
        Extent { end, newly_lost }
    }

    /// The next note, if it is within `extent` and whole.
    pub(crate) fn next(&mut self, extent: Extent) -> Option<Note> {
        loop {
            let words = self.next_words(extent)?;
            // Others than notes there are none.
            if let Some(note) = Note::from_words(words) {
                return Some(note);
            }
        }
    }

    /// Whether all notes within `extent` were read: none of them is still being written.
    pub(crate) const fn has_read(&self, extent: Extent) -> bool {
        self.read == extent.end
    }

    /// Passes over a note that is not whole and never will be, at the end of a run; says whether there was
    /// one within `extent`.
    pub(crate) fn skip(&mut self, extent: Extent) -> bool {
        let skips = self.read != extent.end;
        self.read += u64::from(skips);
        skips
    }

    fn next_words(&mut self, extent: Extent) -> Option<[u64; NOTE_WORDS]> {
        if self.read == extent.end {
            return None;
        }
        let slot = self.log.slot(self.read)?;
        if slot.sequence.load(Ordering::Acquire) != self.read + 1 {
            return None;
        }
        let words = slot.words.each_ref();
        let words = words.map(|word| word.load(Ordering::Relaxed));
        self.read += 1;
        self.log.read.store(self.read, Ordering::Release);
        Some(words)
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::thread;

    /// Words that show whether they are of one note.
    fn words(of: u64) -> [u64; NOTE_WORDS] {
        [of; NOTE_WORDS]
    }

    fn whole(words: [u64; NOTE_WORDS]) -> u64 {
        assert!(words.iter().all(|word| *word == words[0]), "torn");
        words[0]
    }

    fn read_all(reader: &mut NoteReader) -> (Vec<u64>, u64) {
        let extent = reader.extent();
        let mut notes = Vec::new();
        while let Some(words) = reader.next_words(extent) {
            notes.push(whole(words));
        }
        (notes, extent.newly_lost)
    }

    /// Two writers and a reader with room for so many notes.
    fn model(room: usize, each: u64, write: fn(&NoteLog, [u64; NOTE_WORDS]) -> Written) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let (log, mut reader) = channel(room);
            let writers = [1, 2].map(|writer| {
                let log = Arc::clone(&log);
                thread::spawn(move || {
                    for number in 0..each {
                        write(&log, words(10 * writer + number));
                    }
                })
            });
            let (mut notes, mut lost) = read_all(&mut reader);
            for writer in writers {
                writer.join().unwrap();
            }
            let (rest, more) = read_all(&mut reader);
            notes.extend(rest);
            lost += more;
            assert_eq!(notes.len() as u64 + lost, 2 * each, "missing or twice");
            for writer in [1, 2] {
                let of_writer = notes.iter().filter(|note| **note / 10 == writer);
                let of_writer: Vec<&u64> = of_writer.collect();
                assert!(of_writer.is_sorted(), "out of order");
            }
        });
    }

    #[test]
    fn notes_are_read_whole_once_and_in_order() {
        model(4, 1, NoteLog::write_words);
    }

    #[test]
    fn what_finds_no_room_is_counted_and_overwrites_nothing() {
        model(1, 2, NoteLog::write_words);
    }

    #[test]
    #[should_panic = "torn"]
    fn refuted_a_sequence_that_is_stored_relaxed_shows_old_words() {
        model(4, 1, |log, words| {
            let begun = log.begun.fetch_add(1, Ordering::AcqRel);
            let place = begun & CLAIMS;
            let slot = log.slot(place).unwrap();
            for (word, value) in slot.words.iter().zip(words) {
                word.store(value, Ordering::Relaxed);
            }
            slot.sequence.store(place + 1, Ordering::Relaxed);
            let activity = begun + 1;
            Written { activity, step: 1 }
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn note(now: u64) -> Note {
        Note::Leaves { now }
    }

    fn read_all(reader: &mut NoteReader) -> Vec<Note> {
        let extent = reader.extent();
        std::iter::from_fn(|| reader.next(extent)).collect()
    }

    #[test]
    fn notes_come_in_their_order_and_what_has_no_room_is_counted() {
        let (log, mut reader) = channel(4);
        for now in 0..6 {
            let step = if now < 4 { 1 } else { ONE_LOST };
            assert_eq!(log.write(note(now)).step, step);
        }
        let extent = reader.extent();
        assert_eq!(extent.newly_lost, 2);
        log.write(note(6));
        assert_eq!(reader.next(extent), Some(note(0)));
        // There is room again, but not within what is being read.
        log.write(note(7));
        let rest: Vec<_> = std::iter::from_fn(|| reader.next(extent)).collect();
        assert_eq!(rest, [1, 2, 3].map(note));
        let extent = reader.extent();
        assert_eq!(extent.newly_lost, 1);
        assert_eq!(reader.next(extent), Some(note(7)));
        assert_eq!(reader.next(extent), None);
    }

    #[test]
    fn nothing_is_read_past_a_note_that_is_not_whole() {
        let (log, mut reader) = channel(4);
        // A thread that was preempted behind its claim.
        log.begun.fetch_add(1, Ordering::AcqRel);
        log.write(note(5));
        assert_eq!(read_all(&mut reader), []);
        let (mut at_the_end, extent) = (reader.clone(), reader.extent());
        assert!(at_the_end.skip(extent));
        assert_eq!(at_the_end.next(extent), Some(note(5)));
        assert!(!at_the_end.skip(extent));
        let slot = log.slot(0).unwrap();
        for (word, value) in slot.words.iter().zip(note(4).to_words()) {
            word.store(value, Ordering::Relaxed);
        }
        slot.sequence.store(1, Ordering::Release);
        assert_eq!(read_all(&mut reader), [4, 5].map(note));
    }

    #[test]
    fn the_activity_changes_with_each_note_by_what_was_said() {
        let (log, _reader) = channel(2);
        for now in 0..5 {
            let before = log.activity();
            let Written { activity, step } = log.write(note(now));
            assert!(step > 0 && activity == before + step);
            assert_eq!(log.activity(), activity);
        }
    }

    #[test]
    fn many_writers_and_a_reader_lose_nothing_that_is_not_counted() {
        const NOTES: u64 = 20_000;
        let (log, mut reader) = channel(64);
        let (mut seen, mut lost) = (vec![0_u64; 3], 0);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..3)
                .map(|writer| {
                    let log = Arc::clone(&log);
                    scope.spawn(move || {
                        (1..=NOTES).for_each(|number| {
                            log.write(Note::Jump {
                                from: writer,
                                to: number,
                                charged: writer + number,
                                counted: None,
                            });
                        });
                    })
                })
                .collect();
            let mut last = [0; 3];
            loop {
                let over = writers
                    .iter()
                    .all(std::thread::ScopedJoinHandle::is_finished);
                let extent = reader.extent();
                lost += extent.newly_lost;
                while let Some(note) = reader.next(extent) {
                    let Note::Jump {
                        from, to, charged, ..
                    } = note
                    else {
                        panic!("{note:?}");
                    };
                    assert_eq!(charged, from + to, "torn");
                    let writer = usize::try_from(from).unwrap();
                    assert!(to > last[writer], "out of order");
                    last[writer] = to;
                    seen[writer] += 1;
                }
                if over {
                    break;
                }
            }
        });
        assert_eq!(seen.iter().sum::<u64>() + lost, 3 * NOTES);
    }
}
