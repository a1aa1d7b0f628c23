//! What a thread of a run can note, and its form as words.
//!
//! All instants are readings of the clock, all amounts nanoseconds.

use super::job::ThreadCost;
use super::reaction::Duty;
use vestal_core::{DropReason, Service};

/// How many words a note has.
pub(crate) const NOTE_WORDS: usize = 7;

/// Which thread of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thread {
    Manager,
    Idle,
    Watchdog,
    /// The worker of the task with this index.
    Worker(usize),
}

impl Thread {
    /// How many there are beside the workers.
    pub(crate) const OTHERS: usize = 3;

    /// Its place in a list of all threads.
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Manager => 0,
            Self::Idle => 1,
            Self::Watchdog => 2,
            Self::Worker(index) => Self::OTHERS + index,
        }
    }

    const fn of_index(index: usize) -> Self {
        match index {
            0 => Self::Manager,
            1 => Self::Idle,
            2 => Self::Watchdog,
            _ => Self::Worker(index - Self::OTHERS),
        }
    }
}

/// What the kernel counted of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waited {
    /// For how long it was ready and another one had its CPU.
    pub(crate) nanos: u64,
    /// How often it got the CPU.
    pub(crate) times: u64,
}

/// Since when a thread of the run that gets the CPU was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Since this clock reading.
    Since(u64),
    /// The same of a thread that no other of the run keeps from the CPU.
    AtOnceSince(u64),
    /// Since the manager, which called it, left the CPU.
    ByTheManager,
}

impl Wanted {
    /// The clock reading, if it is known.
    pub(crate) const fn since(self) -> Option<u64> {
        match self {
            Self::Since(since) | Self::AtOnceSince(since) => Some(since),
            Self::ByTheManager => None,
        }
    }

    /// The same, but not before `instant`.
    pub(crate) fn from(self, instant: u64) -> Self {
        match self {
            Self::Since(since) => Self::Since(since.max(instant)),
            Self::AtOnceSince(since) => Self::AtOnceSince(since.max(instant)),
            Self::ByTheManager => self,
        }
    }
}

/// An execution interval of a thread outside bodies, as it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) thread: Thread,
    pub(crate) duty: Duty,
    pub(crate) began: u64,
    pub(crate) now: u64,
    /// The thread's CPU clock when it began and when it ends.
    pub(crate) cpu: (u64, u64),
    /// What the kernel counted in it; read only where time is missing.
    pub(crate) counted: Option<Waited>,
    /// No other thread of the run has noted anything since it began.
    pub(crate) alone: bool,
    /// The thread waits from now on; otherwise a body begins.
    pub(crate) waits: bool,
}

/// The end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) task: usize,
    pub(crate) sequence: u64,
    pub(crate) release: u64,
    /// When its body returned.
    pub(crate) finished: u64,
    pub(crate) executed: u64,
    /// The clock at this note.
    pub(crate) at: u64,
    /// What all threads of the run had consumed then; read only of late jobs that nobody looked at.
    pub(crate) consumed: Option<u64>,
}

/// A job that the end of the run met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) task: usize,
    pub(crate) sequence: u64,
    pub(crate) release: u64,
    /// What it has executed by now.
    pub(crate) executed: u64,
    /// When the run was stopped.
    pub(crate) stopped: u64,
    pub(crate) at: u64,
    /// What all threads of the run have consumed by now; read only if it is late.
    pub(crate) consumed: Option<u64>,
    /// It had been dropped.
    pub(crate) dropped: bool,
}

/// What a thread notes. Tasks by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The run begins with the instant `epoch`, and shall end.
    Run {
        epoch: u64,
    },
    /// A thread gets the CPU. `burned`: when a burning job last looked at the clock; 0: none burned.
    Begin {
        thread: Thread,
        wanted: Wanted,
        now: u64,
        burned: u64,
    },
    /// Its interval has begun at `began`, after `waited` of which the kernel says that another thread had the
    /// CPU. `alone`: no other thread noted anything between [`Note::Begin`], at `now`, and this.
    Opened {
        thread: Thread,
        since: Option<u64>,
        now: u64,
        began: u64,
        waited: u64,
        alone: bool,
    },
    /// The idle detector gets the CPU.
    Idle,
    Interval(Interval),
    /// A thread that goes on for some instructions leaves the CPU to the manager.
    Leaves {
        now: u64,
    },
    /// The clock jumped in a burning job, which was charged for `charged` of it. `counted`: what the
    /// kernel counted of the thread, if it counts.
    Jump {
        from: u64,
        to: u64,
        charged: u64,
        counted: Option<Waited>,
    },
    /// A burning job that looked at the clock at `looked` goes on after other threads of the run, having
    /// waited for `waited` in all.
    Resumed {
        looked: u64,
        now: u64,
        waited: u64,
    },
    /// A body that did something else than burn had no CPU for so long, and no thread of the run had it.
    Away {
        now: u64,
        waited: u64,
    },
    /// A worker that waited for a release goes on.
    Released {
        task: usize,
        release: u64,
        now: u64,
    },
    /// A job gets its priority. `consumed`: what the threads of the run had consumed, if a busy period seemed
    /// to begin.
    JobBegins {
        task: usize,
        release: u64,
        consumed: Option<u64>,
    },
    /// A thread looked at a job due at `due` after its deadline.
    Looked {
        task: usize,
        due: u64,
        at: u64,
        executed: u64,
        consumed: u64,
    },
    /// The scheduler says that a job used up the limit of its own level, so long after the epoch.
    UsedUp {
        task: usize,
        sequence: u64,
        after: u64,
    },
    /// A job that goes on loses its priority.
    LosesPriority {
        task: usize,
        executed: u64,
        now: u64,
    },
    /// The body of a job has returned. `lost`: enforcement had taken its priority.
    JobEnds {
        task: usize,
        sequence: u64,
        executed: u64,
        now: u64,
        lost: bool,
    },
    /// The body of a job does not return.
    Stays {
        task: usize,
        sequence: u64,
        executed: u64,
        now: u64,
        lost: bool,
    },
    Completed(Ending),
    Unfinished(Cut),
    /// So many jobs of a task were dropped. `next`: natively the number of the next one.
    Dropped {
        task: usize,
        why: DropReason,
        count: u64,
        next: u64,
    },
    /// What it cost to begin and to end a job, and what that executed in between.
    Costs {
        task: usize,
        start: u64,
        end: u64,
        executed: u64,
    },
    /// A worker leaves the run, having used so much.
    Used {
        task: usize,
        cost: ThreadCost,
    },
}

/// In a word: nothing.
const NONE: u64 = u64::MAX;

const fn or_none(value: Option<u64>) -> u64 {
    match value {
        Some(value) => value,
        None => NONE,
    }
}

const fn some(word: u64) -> Option<u64> {
    if word == NONE { None } else { Some(word) }
}

/// The first word of a note: its kind, 20 bits of its own, and a task or thread.
const fn head(kind: u64, small: u64, index: usize) -> u64 {
    kind | small << 8 | (index as u64) << 32
}

const fn counted_words(counted: Option<Waited>) -> (u64, u64) {
    match counted {
        Some(Waited { nanos, times }) => (nanos, times),
        None => (NONE, NONE),
    }
}

fn counted_of(nanos: u64, times: u64) -> Option<Waited> {
    some(nanos).map(|nanos| Waited { nanos, times })
}

fn place<T: PartialEq>(all: &[T], one: &T) -> u64 {
    (0..)
        .zip(all)
        .find_map(|(index, each)| (each == one).then_some(index))
        .unwrap_or(0)
}

impl Wanted {
    const fn words(self) -> (u64, u64) {
        match self {
            Self::Since(since) => (0, since),
            Self::AtOnceSince(since) => (1, since),
            Self::ByTheManager => (2, 0),
        }
    }

    const fn of_words(kind: u64, since: u64) -> Self {
        match kind {
            0 => Self::Since(since),
            1 => Self::AtOnceSince(since),
            _ => Self::ByTheManager,
        }
    }
}

impl Note {
    /// As words.
    pub(crate) fn to_words(self) -> [u64; NOTE_WORDS] {
        match self {
            Self::Run { epoch } => [head(0, 0, 0), epoch, 0, 0, 0, 0, 0],
            Self::Begin {
                thread,
                wanted,
                now,
                burned,
            } => {
                let (kind, since) = wanted.words();
                let head = head(1, kind, thread.index());
                [head, since, now, burned, 0, 0, 0]
            }
            Self::Opened {
                thread,
                since,
                now,
                began,
                waited,
                alone,
            } => {
                let head = head(2, u64::from(alone), thread.index());
                [head, or_none(since), now, began, waited, 0, 0]
            }
            Self::Idle => [head(3, 0, 0), 0, 0, 0, 0, 0, 0],
            Self::Interval(interval) => interval.to_words(),
            Self::Leaves { now } => [head(5, 0, 0), now, 0, 0, 0, 0, 0],
            Self::Jump {
                from,
                to,
                charged,
                counted,
            } => {
                let (nanos, times) = counted_words(counted);
                [head(6, 0, 0), from, to, charged, nanos, times, 0]
            }
            Self::Resumed {
                looked,
                now,
                waited,
            } => [head(7, 0, 0), looked, now, waited, 0, 0, 0],
            Self::Away { now, waited } => [head(8, 0, 0), now, waited, 0, 0, 0, 0],
            of_task => of_task.task_words(),
        }
    }

    /// The words of a note about a task.
    fn task_words(self) -> [u64; NOTE_WORDS] {
        match self {
            Self::Released { task, release, now } => [head(9, 0, task), release, now, 0, 0, 0, 0],
            Self::JobBegins {
                task,
                release,
                consumed,
            } => [head(10, 0, task), release, or_none(consumed), 0, 0, 0, 0],
            Self::Looked {
                task,
                due,
                at,
                executed,
                consumed,
            } => [head(11, 0, task), due, at, executed, consumed, 0, 0],
            Self::UsedUp {
                task,
                sequence,
                after,
            } => [head(12, 0, task), sequence, after, 0, 0, 0, 0],
            Self::LosesPriority {
                task,
                executed,
                now,
            } => [head(13, 0, task), executed, now, 0, 0, 0, 0],
            Self::JobEnds {
                task,
                sequence,
                executed,
                now,
                lost,
            } => {
                let head = head(14, u64::from(lost), task);
                [head, sequence, executed, now, 0, 0, 0]
            }
            Self::Stays {
                task,
                sequence,
                executed,
                now,
                lost,
            } => {
                let head = head(15, u64::from(lost), task);
                [head, sequence, executed, now, 0, 0, 0]
            }
            Self::Completed(ending) => ending.to_words(),
            Self::Unfinished(cut) => cut.to_words(),
            Self::Dropped {
                task,
                why,
                count,
                next,
            } => {
                let why = place(&DropReason::ALL, &why);
                [head(18, why, task), count, next, 0, 0, 0, 0]
            }
            Self::Costs {
                task,
                start,
                end,
                executed,
            } => [head(19, 0, task), start, end, executed, 0, 0, 0],
            Self::Used { task, cost } => {
                let cpu = cost.cpu.as_nanos();
                let head = head(20, 0, task);
                [head, cpu, cost.voluntary, cost.involuntary, 0, 0, 0]
            }
            Self::Run { .. }
            | Self::Begin { .. }
            | Self::Opened { .. }
            | Self::Idle
            | Self::Interval(_)
            | Self::Leaves { .. }
            | Self::Jump { .. }
            | Self::Resumed { .. }
            | Self::Away { .. } => self.to_words(),
        }
    }

    /// What [`Self::to_words`] was made of; none if these words are of no note.
    pub(crate) fn from_words(words: [u64; NOTE_WORDS]) -> Option<Self> {
        let [first, a, b, c, d, e, _] = words;
        let index = usize::try_from(first >> 32).ok()?;
        let small = first >> 8 & 0xFF_FFFF;
        let thread = Thread::of_index(index);
        Some(match first & 0xFF {
            0 => Self::Run { epoch: a },
            1 => Self::Begin {
                thread,
                wanted: Wanted::of_words(small, a),
                now: b,
                burned: c,
            },
            2 => Self::Opened {
                thread,
                since: some(a),
                now: b,
                began: c,
                waited: d,
                alone: small == 1,
            },
            3 => Self::Idle,
            4 => Self::Interval(Interval::of_words(words)?),
            5 => Self::Leaves { now: a },
            6 => Self::Jump {
                from: a,
                to: b,
                charged: c,
                counted: counted_of(d, e),
            },
            7 => Self::Resumed {
                looked: a,
                now: b,
                waited: c,
            },
            8 => Self::Away { now: a, waited: b },
            kind => Self::of_task(kind, small, index, words)?,
        })
    }

    fn of_task(kind: u64, small: u64, task: usize, words: [u64; NOTE_WORDS]) -> Option<Self> {
        let [_, a, b, c, d, ..] = words;
        Some(match kind {
            9 => Self::Released {
                task,
                release: a,
                now: b,
            },
            10 => Self::JobBegins {
                task,
                release: a,
                consumed: some(b),
            },
            11 => Self::Looked {
                task,
                due: a,
                at: b,
                executed: c,
                consumed: d,
            },
            12 => Self::UsedUp {
                task,
                sequence: a,
                after: b,
            },
            13 => Self::LosesPriority {
                task,
                executed: a,
                now: b,
            },
            14 => Self::JobEnds {
                task,
                sequence: a,
                executed: b,
                now: c,
                lost: small == 1,
            },
            15 => Self::Stays {
                task,
                sequence: a,
                executed: b,
                now: c,
                lost: small == 1,
            },
            16 => Self::Completed(Ending::of_words(task, words)),
            17 => Self::Unfinished(Cut::of_words(task, small, words)),
            18 => Self::Dropped {
                task,
                why: *DropReason::ALL.get(usize::try_from(small).ok()?)?,
                count: a,
                next: b,
            },
            19 => Self::Costs {
                task,
                start: a,
                end: b,
                executed: c,
            },
            20 => Self::Used {
                task,
                cost: ThreadCost {
                    cpu: Service::from_nanos(a),
                    voluntary: b,
                    involuntary: c,
                },
            },
            _ => return None,
        })
    }
}

impl Interval {
    fn to_words(self) -> [u64; NOTE_WORDS] {
        let duty = place(&Duty::ALL, &self.duty);
        let small = u64::from(self.alone) | u64::from(self.waits) << 1 | duty << 2;
        let (nanos, times) = counted_words(self.counted);
        let head = head(4, small, self.thread.index());
        let (before, after) = self.cpu;
        [head, self.began, self.now, before, after, nanos, times]
    }

    fn of_words(words: [u64; NOTE_WORDS]) -> Option<Self> {
        let [first, began, now, before, after, nanos, times] = words;
        let small = first >> 8 & 0xFF_FFFF;
        Some(Self {
            thread: Thread::of_index(usize::try_from(first >> 32).ok()?),
            duty: *Duty::ALL.get(usize::try_from(small >> 2).ok()?)?,
            began,
            now,
            cpu: (before, after),
            counted: counted_of(nanos, times),
            alone: small & 1 == 1,
            waits: small & 2 == 2,
        })
    }
}

impl Ending {
    fn to_words(self) -> [u64; NOTE_WORDS] {
        [
            head(16, 0, self.task),
            self.sequence,
            self.release,
            self.finished,
            self.executed,
            self.at,
            or_none(self.consumed),
        ]
    }

    const fn of_words(task: usize, words: [u64; NOTE_WORDS]) -> Self {
        let [_, sequence, release, finished, executed, at, consumed] = words;
        Self {
            task,
            sequence,
            release,
            finished,
            executed,
            at,
            consumed: some(consumed),
        }
    }
}

impl Cut {
    fn to_words(self) -> [u64; NOTE_WORDS] {
        [
            head(17, u64::from(self.dropped), self.task),
            self.sequence,
            self.release,
            self.executed,
            self.stopped,
            self.at,
            or_none(self.consumed),
        ]
    }

    const fn of_words(task: usize, small: u64, words: [u64; NOTE_WORDS]) -> Self {
        let [_, sequence, release, executed, stopped, at, consumed] = words;
        Self {
            task,
            sequence,
            release,
            executed,
            stopped,
            at,
            consumed: some(consumed),
            dropped: small == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_threads(thread: Thread) -> Vec<Note> {
        let counted = Some(Waited { nanos: 6, times: 7 });
        let mut notes = vec![
            Note::Run { epoch: 5 },
            Note::Idle,
            Note::Leaves { now: 9 },
            Note::Jump {
                from: 1,
                to: 2,
                charged: 3,
                counted,
            },
            Note::Resumed {
                looked: 1,
                now: 2,
                waited: 3,
            },
            Note::Away { now: 1, waited: 2 },
        ];
        for wanted in [
            Wanted::Since(4),
            Wanted::AtOnceSince(4),
            Wanted::ByTheManager,
        ] {
            notes.push(Note::Begin {
                thread,
                wanted,
                now: 8,
                burned: 7,
            });
        }
        for (since, alone) in [(None, true), (Some(3), false)] {
            notes.push(Note::Opened {
                thread,
                since,
                now: 8,
                began: 9,
                waited: 10,
                alone,
            });
        }
        for duty in Duty::ALL {
            for (alone, waits, counted) in [(true, false, None), (false, true, counted)] {
                notes.push(Note::Interval(Interval {
                    thread,
                    duty,
                    began: 1,
                    now: 2,
                    cpu: (3, 4),
                    counted,
                    alone,
                    waits,
                }));
            }
        }
        notes
    }

    fn of_tasks(task: usize, lost: bool, consumed: Option<u64>) -> Vec<Note> {
        let [sequence, release, executed, now] = [1, 2, 3, 4];
        let ending = Ending {
            task,
            sequence,
            release,
            finished: 5,
            executed,
            at: 6,
            consumed,
        };
        let cut = Cut {
            task,
            sequence,
            release,
            executed,
            stopped: 5,
            at: 6,
            consumed,
            dropped: lost,
        };
        let cost = ThreadCost {
            cpu: Service::from_nanos(1),
            voluntary: 2,
            involuntary: 3,
        };
        let mut notes = vec![
            Note::Released { task, release, now },
            Note::JobBegins {
                task,
                release,
                consumed,
            },
            Note::Looked {
                task,
                due: 1,
                at: 2,
                executed,
                consumed: 5,
            },
            Note::UsedUp {
                task,
                sequence,
                after: 9,
            },
            Note::LosesPriority {
                task,
                executed,
                now,
            },
            Note::JobEnds {
                task,
                sequence,
                executed,
                now,
                lost,
            },
            Note::Stays {
                task,
                sequence,
                executed,
                now,
                lost,
            },
            Note::Completed(ending),
            Note::Unfinished(cut),
            Note::Costs {
                task,
                start: 1,
                end: 2,
                executed,
            },
            Note::Used { task, cost },
        ];
        notes.extend(DropReason::ALL.map(|why| Note::Dropped {
            task,
            why,
            count: 7,
            next: 8,
        }));
        notes
    }

    #[test]
    fn every_note_is_the_same_after_it_was_words() {
        let workers = [0, 1, 1_000_000].map(Thread::Worker);
        let others = [Thread::Manager, Thread::Idle, Thread::Watchdog];
        let threads = workers.into_iter().chain(others);
        let mut notes: Vec<Note> = threads.flat_map(of_threads).collect();
        notes.extend(of_tasks(0, true, None));
        notes.extend(of_tasks(70_000, false, Some(0)));
        for note in notes {
            assert_eq!(Note::from_words(note.to_words()), Some(note));
        }
    }

    #[test]
    fn words_of_no_note_are_none() {
        assert_eq!(Note::from_words([21, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(Note::from_words([18 | 9 << 8, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(Note::from_words([4 | 63 << 8, 0, 0, 0, 0, 0, 0]), None);
    }
}
