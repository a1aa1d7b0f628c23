//! Notes as words, for a log of atomic words.

use super::exceeded::Exceeded;
use super::job::{Suspensions, ThreadCost};
use super::note::{
    Cut, Ending, FrameNote, Interval, Note, Return, TaskNote, Thread, Waited, Wanted,
};
use super::reaction::Duty;
use vestal_core::{DropReason, Level, Service};

/// How many words a note has.
pub const NOTE_WORDS: usize = 7;

type Words = [u64; NOTE_WORDS];

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

/// The first word of a note: its kind, 24 bits of its own, and a task or thread.
const fn head(kind: u64, small: u64, index: usize) -> u64 {
    kind | small << 8 | (index as u64) << 32
}

/// A note whose first word is that, and whose others are these and then zeros.
fn words<const N: usize>(head: u64, rest: [u64; N]) -> Words {
    let mut words = [0; NOTE_WORDS];
    let all = std::iter::once(head).chain(rest);
    words
        .iter_mut()
        .zip(all)
        .for_each(|(word, value)| *word = value);
    words
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
    let each = (0..).zip(all);
    let mut same = each.filter_map(|(index, each)| (each == one).then_some(index));
    same.next().unwrap_or(0)
}

const fn wanted_words(wanted: Wanted) -> (u64, u64) {
    match wanted {
        Wanted::Since(since) => (0, since),
        Wanted::AtOnceSince(since) => (1, since),
        Wanted::ByTheManager => (2, 0),
    }
}

const fn wanted_of(kind: u64, since: u64) -> Wanted {
    match kind {
        0 => Wanted::Since(since),
        1 => Wanted::AtOnceSince(since),
        _ => Wanted::ByTheManager,
    }
}

/// The kind of the first note about a task.
const FIRST_OF_TASK: u64 = 16;

impl Note {
    /// As words.
    pub fn to_words(self) -> Words {
        match self {
            Self::Run { epoch } => words(head(0, 0, 0), [epoch]),
            Self::Begin {
                thread,
                wanted,
                now,
                burned,
            } => {
                let (kind, since) = wanted_words(wanted);
                words(head(1, kind, thread.index()), [since, now, burned])
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
                let Waited { nanos, times } = waited;
                words(head, [or_none(since), now, began, nanos, times])
            }
            Self::Idle => words(head(3, 0, 0), []),
            Self::Interval(interval) => interval_words(interval),
            Self::Leaves { now } => words(head(5, 0, 0), [now]),
            Self::Jump {
                from,
                to,
                charged,
                counted,
            } => {
                let (nanos, times) = counted_words(counted);
                words(head(6, 0, 0), [from, to, charged, nanos, times])
            }
            Self::Resumed {
                looked,
                now,
                waited,
            } => words(head(7, 0, 0), [looked, now, waited]),
            Self::Away { since, now, waited } => {
                words(head(8, 0, 0), [now, waited, since.unwrap_or(0)])
            }
            Self::Exceeded(Exceeded { since, now, beyond }) => {
                words(head(9, 0, 0), [since, now, beyond])
            }
            Self::LetGo { now, late } => words(head(12, 0, 0), [now, late]),
            Self::Frame(what) => what.to_words(),
            Self::Task(task, what) => what.to_words(task),
        }
    }

    /// What [`Self::to_words`] was made of; none if these words are of no note.
    pub fn from_words(words: Words) -> Option<Self> {
        let [first, a, b, c, d, e, _] = words;
        let index = usize::try_from(first >> 32).ok()?;
        let (kind, small) = (first & 0xFF, first >> 8 & 0xFF_FFFF);
        let thread = Thread::of_index(index);
        Some(match kind {
            0 => Self::Run { epoch: a },
            1 => Self::Begin {
                thread,
                wanted: wanted_of(small, a),
                now: b,
                burned: c,
            },
            2 => Self::Opened {
                thread,
                since: some(a),
                now: b,
                began: c,
                waited: Waited { nanos: d, times: e },
                alone: small == 1,
            },
            3 => Self::Idle,
            4 => Self::Interval(interval_of(thread, small, words)?),
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
            8 => Self::Away {
                since: Some(c).filter(|&since| since > 0),
                now: a,
                waited: b,
            },
            9 => Self::Exceeded(Exceeded {
                since: a,
                now: b,
                beyond: c,
            }),
            10 => Self::Frame(FrameNote::Began {
                frame: a,
                first: b,
                at: c,
                kept: small == 1,
            }),
            11 => Self::Frame(FrameNote::Dropped {
                task: u16::try_from(index).ok()?,
                sequence: a,
                why: *DropReason::ALL.get(usize::try_from(small).ok()?)?,
                late: Level(u8::try_from(b).ok()?),
                at: c,
            }),
            12 => Self::LetGo { now: a, late: b },
            _ => {
                let kind = kind.checked_sub(FIRST_OF_TASK)?;
                Self::Task(index, TaskNote::from_words(kind, small, words)?)
            }
        })
    }
}

impl FrameNote {
    fn to_words(self) -> Words {
        match self {
            Self::Began {
                frame,
                first,
                at,
                kept,
            } => words(head(10, u64::from(kept), 0), [frame, first, at]),
            Self::Dropped {
                task,
                sequence,
                why,
                late,
                at,
            } => {
                let head = head(11, place(&DropReason::ALL, &why), usize::from(task));
                words(head, [sequence, u64::from(late.0), at])
            }
        }
    }
}

impl TaskNote {
    fn to_words(self, task: usize) -> Words {
        let head = |kind, small| head(FIRST_OF_TASK + kind, small, task);
        let returns = |kind, body: Return| {
            let head = head(kind, u64::from(body.lost));
            words(head, [body.sequence, body.executed, body.now])
        };
        match self {
            Self::Released { release, now } => words(head(0, 0), [release, now]),
            Self::Begins { release, consumed } => words(head(1, 0), [release, or_none(consumed)]),
            Self::Looked {
                due,
                at,
                executed,
                consumed,
            } => words(head(2, 0), [due, at, executed, consumed]),
            Self::UsedUp { sequence, after } => words(head(3, 0), [sequence, after]),
            Self::LosesPriority { executed, now } => words(head(4, 0), [executed, now]),
            Self::Ends(body) => returns(5, body),
            Self::Stays(body) => returns(6, body),
            Self::Completed(job) => {
                let (times, executed) = ((job.release, job.finished), job.executed);
                job_words(
                    head(7, 0),
                    job.sequence,
                    times,
                    executed,
                    (job.at, job.consumed),
                )
            }
            Self::Unfinished(job) => {
                let head = head(8, u64::from(job.dropped));
                let (times, executed) = ((job.release, job.stopped), job.executed);
                job_words(head, job.sequence, times, executed, (job.at, job.consumed))
            }
            Self::Dropped { why, count, next } => {
                words(head(9, place(&DropReason::ALL, &why)), [count, next])
            }
            Self::Costs {
                start,
                end,
                executed,
            } => words(head(10, 0), [start, end, executed]),
            Self::Suspended(Suspensions { times, ineffective }) => {
                words(head(11, 0), [times, ineffective])
            }
            Self::Used(cost) => {
                let cpu = cost.cpu.as_nanos();
                words(head(12, 0), [cpu, cost.voluntary, cost.involuntary])
            }
        }
    }

    fn from_words(kind: u64, small: u64, words: Words) -> Option<Self> {
        let [_, a, b, c, d, e, f] = words;
        let returned = Return {
            sequence: a,
            executed: b,
            now: c,
            lost: small == 1,
        };
        Some(match kind {
            0 => Self::Released { release: a, now: b },
            1 => Self::Begins {
                release: a,
                consumed: some(b),
            },
            2 => Self::Looked {
                due: a,
                at: b,
                executed: c,
                consumed: d,
            },
            3 => Self::UsedUp {
                sequence: a,
                after: b,
            },
            4 => Self::LosesPriority {
                executed: a,
                now: b,
            },
            5 => Self::Ends(returned),
            6 => Self::Stays(returned),
            7 => Self::Completed(Ending {
                sequence: a,
                release: b,
                finished: c,
                executed: d,
                at: e,
                consumed: some(f),
            }),
            8 => Self::Unfinished(Cut {
                sequence: a,
                release: b,
                stopped: c,
                executed: d,
                at: e,
                consumed: some(f),
                dropped: small == 1,
            }),
            9 => Self::Dropped {
                why: *DropReason::ALL.get(usize::try_from(small).ok()?)?,
                count: a,
                next: b,
            },
            10 => Self::Costs {
                start: a,
                end: b,
                executed: c,
            },
            11 => Self::Suspended(Suspensions {
                times: a,
                ineffective: b,
            }),
            12 => Self::Used(ThreadCost {
                cpu: Service::from_nanos(a),
                voluntary: b,
                involuntary: c,
            }),
            _ => return None,
        })
    }
}

/// Of a job that was released, and ended or was cut, at these instants.
const fn job_words(
    head: u64,
    sequence: u64,
    (release, end): (u64, u64),
    executed: u64,
    (at, consumed): (u64, Option<u64>),
) -> Words {
    [
        head,
        sequence,
        release,
        end,
        executed,
        at,
        or_none(consumed),
    ]
}

fn interval_words(interval: Interval) -> Words {
    let duty = place(&Duty::ALL, &interval.duty);
    let small = u64::from(interval.alone) | u64::from(interval.waits) << 1 | duty << 2;
    let (nanos, times) = counted_words(interval.counted);
    let (before, after) = interval.cpu;
    let head = head(4, small, interval.thread.index());
    let (began, now) = (interval.began, interval.now);
    [head, began, now, before, after, nanos, times]
}

fn interval_of(thread: Thread, small: u64, words: Words) -> Option<Interval> {
    let [_, began, now, before, after, nanos, times] = words;
    Some(Interval {
        thread,
        duty: *Duty::ALL.get(usize::try_from(small >> 2).ok()?)?,
        began,
        now,
        cpu: (before, after),
        counted: counted_of(nanos, times),
        alone: small & 1 == 1,
        waits: small & 2 == 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_threads(thread: Thread) -> Vec<Note> {
        let counted = Some(Waited { nanos: 6, times: 7 });
        let [looked, now, waited] = [1, 2, 3];
        let mut notes = vec![
            Note::Run { epoch: 5 },
            Note::Idle,
            Note::Leaves { now },
            Note::Jump {
                from: 1,
                to: 2,
                charged: 3,
                counted,
            },
            Note::Resumed {
                looked,
                now,
                waited,
            },
            Note::Away {
                since: None,
                now,
                waited,
            },
            Note::Away {
                since: Some(3),
                now,
                waited,
            },
            Note::LetGo { now, late: 4 },
            Note::Exceeded(Exceeded {
                since: 3,
                now,
                beyond: 8,
            }),
        ];
        let wanted = [
            Wanted::Since(4),
            Wanted::AtOnceSince(4),
            Wanted::ByTheManager,
        ];
        notes.extend(wanted.map(|wanted| Note::Begin {
            thread,
            wanted,
            now,
            burned: 7,
        }));
        notes.extend(
            [(None, true), (Some(3), false)].map(|(since, alone)| Note::Opened {
                thread,
                since,
                now,
                began: 9,
                waited: Waited { nanos: 3, times: 2 },
                alone,
            }),
        );
        for (alone, waits, counted) in [(true, false, None), (false, true, counted)] {
            notes.extend(Duty::ALL.map(|duty| {
                Note::Interval(Interval {
                    thread,
                    duty,
                    began: 1,
                    now,
                    cpu: (3, 4),
                    counted,
                    alone,
                    waits,
                })
            }));
        }
        notes
    }

    fn of_tasks(lost: bool, consumed: Option<u64>) -> Vec<TaskNote> {
        let [sequence, release, executed, now, end, at] = [1, 2, 3, 4, 5, 6];
        let body = Return {
            sequence,
            executed,
            now,
            lost,
        };
        let mut notes = vec![
            TaskNote::Released { release, now },
            TaskNote::Begins { release, consumed },
            TaskNote::Looked {
                due: 7,
                at,
                executed,
                consumed: 8,
            },
            TaskNote::UsedUp { sequence, after: 9 },
            TaskNote::LosesPriority { executed, now },
            TaskNote::Ends(body),
            TaskNote::Stays(body),
            TaskNote::Completed(Ending {
                sequence,
                release,
                finished: end,
                executed,
                at,
                consumed,
            }),
            TaskNote::Unfinished(Cut {
                sequence,
                release,
                executed,
                stopped: end,
                at,
                consumed,
                dropped: lost,
            }),
            TaskNote::Costs {
                start: 1,
                end,
                executed,
            },
            TaskNote::Suspended(Suspensions {
                times: 1,
                ineffective: 2,
            }),
            TaskNote::Used(ThreadCost {
                cpu: Service::from_nanos(1),
                voluntary: 2,
                involuntary: 3,
            }),
        ];
        let (count, next) = (7, 8);
        let dropped = |why| TaskNote::Dropped { why, count, next };
        notes.extend(DropReason::ALL.map(dropped));
        notes
    }

    #[test]
    fn every_note_is_the_same_after_it_was_words() {
        let workers = [0, 1, 1_000_000].map(Thread::Worker);
        let checkers = [0, 1, 1_000_000].map(Thread::Checker);
        let others = [
            Thread::Manager,
            Thread::Idle,
            Thread::Watchdog,
            Thread::Dispatcher,
            Thread::Scheduler,
            Thread::SubFrameChecker,
            Thread::TopHalf,
        ];
        let threads = workers.into_iter().chain(checkers).chain(others);
        let mut notes: Vec<Note> = threads.flat_map(of_threads).collect();
        for (task, lost, consumed) in [(0, true, None), (70_000, false, Some(0))] {
            let of_task = of_tasks(lost, consumed).into_iter();
            notes.extend(of_task.map(|what| Note::Task(task, what)));
        }
        for (kept, late) in [(true, Level(0)), (false, Level(4))] {
            let [frame, first, at, sequence] = [7, 5, 3, 1];
            notes.push(Note::Frame(FrameNote::Began {
                frame,
                first,
                at,
                kept,
            }));
            notes.extend(DropReason::ALL.map(|why| {
                Note::Frame(FrameNote::Dropped {
                    task: 70,
                    sequence,
                    why,
                    late,
                    at,
                })
            }));
        }
        for note in notes {
            assert_eq!(Note::from_words(note.to_words()), Some(note));
        }
    }

    #[test]
    fn words_of_no_note_are_none() {
        let reason = head(FIRST_OF_TASK + 9, 9, 0);
        let duty = head(4, 63, 0);
        for first in [13, FIRST_OF_TASK - 1, FIRST_OF_TASK + 13, 255, reason, duty] {
            assert_eq!(Note::from_words(words(first, [])), None, "{first}");
        }
    }
}
