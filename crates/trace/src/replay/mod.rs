//! The same facts again, to a fresh scheduler: are the answers the same? (C8)
//!
//! The scheduler under replay stands behind a [`Recorder`] of its own. Each recorded call is made
//! again, and the records it gives now are compared with the recorded ones, one by one. What the world
//! saw by itself (misses, overheads, observations) cannot be recomputed; it is checked for
//! consistency instead, by the rules of [`checks`].
//!
//! Instants have to be in order where the header says so, with two exceptions: a native world may tell a
//! fact later than it happened, and any world a release that its scheduler had no room for (W8). Nothing is
//! reported before it happens, whatever the header says.
//!
//! What a replay cannot find, because nothing depends on it:
//!
//! | change | why it is harmless |
//! |---|---|
//! | two facts of one instant, with no decision between them, exchanged | C3: their order has no meaning; where it has one (a job released and started) the scheduler refuses |
//! | a gap of the machine, or a budget sample, dropped, repeated or exchanged with its neighbour | it explains a drawing; no decision and no verdict is computed from it |
//! | a record of the world exchanged with one of the same instant | only the order in time has a meaning |
//! | the job of a budget sample changed | as above |
//! | an instant of an accepted fact moved without passing its neighbours, where no deadline is computed from it | the scheduler takes execution from charges, never from the clock (C2) |

pub mod checks;
pub mod conformance;
pub mod inversion;

use crate::count::{Counter, Counts};
use crate::header::{Dispatch, Header};
use crate::record::{Record, What};
use crate::recorder::Recorder;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use checks::Checks;
use core::fmt;
use vestal_core::{Fact, Instant, Scheduler};

/// How many records before a difference are shown.
pub const SHOWN_BEFORE: usize = 8;

/// How many records after a difference are shown.
pub const SHOWN_AFTER: usize = 4;

/// A replay without a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many records there were.
    pub records: u64,
    /// How many facts were reported again.
    pub facts: u64,
    /// How many decisions were asked for again, each with an equal plan.
    pub decisions: u64,
    /// How many permits were compared.
    pub permits: u64,
    /// How many notices were compared.
    pub notices: u64,
    /// What the recording says in sum.
    pub counts: Counts,
}

/// The first difference between a recording and its replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of the record, from 0; one past the last if something is missing at the end.
    pub number: u64,
    /// The recorded record; `None` at the end.
    pub recorded: Option<Record>,
    /// What is wrong with it.
    pub why: Mismatch,
    /// What the replay gives here, as far as it follows from the calls made so far.
    pub replayed: Vec<Record>,
    /// The records before it, oldest first.
    pub before: Vec<Record>,
    /// The records after it.
    pub after: Vec<Record>,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The replay gives this record here instead.
    #[error("the replay gives instead: {0}")]
    Instead(Record),
    /// The replay gives no record here.
    #[error("the replay gives nothing here")]
    Unexpected,
    /// The recording ends without [`What::End`].
    #[error("the recording stops without an end")]
    NoEnd,
    /// Something follows [`What::End`].
    #[error("it stands after the end of the recording")]
    AfterEnd,
    /// Its instant is before that of an earlier record, though the header says the records are
    /// ordered.
    #[error("it is before an earlier record, at {earlier:?}")]
    Disorder {
        /// The instant of the earlier record.
        earlier: Instant,
    },
    /// Records were lost when this was recorded: what follows cannot be replayed.
    #[error("{count} records were lost here when recording")]
    Lost {
        /// How many.
        count: u64,
    },
    /// What the world recorded contradicts itself.
    #[error("{0}")]
    Inconsistent(&'static str),
}

/// Why a replay ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure<E> {
    /// The recording and its replay differ.
    #[error("{0}")]
    Differs(Box<Difference>),
    /// The recording could not be read to its end.
    #[error("{0}")]
    Unreadable(E),
}

/// Replays a recording with a fresh scheduler of the recorded configuration, in memory that grows with the
/// number of jobs that its world kept at a time.
///
/// # Errors
/// [`Failure::Differs`] with the first difference, [`Failure::Unreadable`] if `records` gives an error.
pub fn replay<E, S: Scheduler + ?Sized>(
    header: &Header,
    records: impl IntoIterator<Item = Result<Record, E>>,
    scheduler: &mut S,
) -> Result<Summary, Failure<E>> {
    let mut records = records.into_iter();
    let mut run = Run::new(header, scheduler);
    let mut before = VecDeque::new();
    for record in records.by_ref() {
        let record = record.map_err(Failure::Unreadable)?;
        if let Err(why) = run.take(&record) {
            // What follows is only shown: an unreadable rest does not hide the difference.
            let after = records.map_while(Result::ok).take(SHOWN_AFTER).collect();
            let mut replayed = Vec::new();
            if let Mismatch::Instead(first) = why {
                replayed.push(first);
                replayed.extend(run.expected.iter().filter(|next| **next != first));
            }
            return Err(Failure::Differs(Box::new(Difference {
                number: run.summary.records,
                recorded: Some(record),
                why,
                replayed,
                before: before.into(),
                after,
            })));
        }
        run.summary.records = run.summary.records.saturating_add(1);
        run.counter.see(&record);
        if before.len() == SHOWN_BEFORE {
            before.pop_front();
        }
        before.push_back(record);
    }
    if run.ended {
        let counts = run.counter.counts();
        return Ok(Summary {
            counts,
            ..run.summary
        });
    }
    Err(Failure::Differs(Box::new(Difference {
        number: run.summary.records,
        recorded: None,
        why: Mismatch::NoEnd,
        replayed: Vec::new(),
        before: before.into(),
        after: Vec::new(),
    })))
}

struct Run<'a, S: ?Sized> {
    /// Around a reference, so that the caller keeps the scheduler.
    recorder: Recorder<&'a mut S, Vec<Record>>,
    /// Records that the replay has given and the recording has not shown yet.
    expected: VecDeque<Record>,
    checks: Checks,
    ordered: bool,
    /// Facts may be reported later than they happened: a native world reports only what the guard needs, and
    /// when it needs it.
    reported_later: bool,
    clock: Instant,
    /// The latest instant of a fact since the last decision.
    latest_fact: Instant,
    ended: bool,
    counter: Counter,
    summary: Summary,
}

impl<'a, S: Scheduler + ?Sized> Run<'a, S> {
    fn new(header: &Header, scheduler: &'a mut S) -> Self {
        let tasks = if header.records_permits {
            header.tasks.len()
        } else {
            0
        };
        Self {
            recorder: Recorder::with_permits(scheduler, Vec::new(), tasks),
            expected: VecDeque::new(),
            checks: Checks::new(header),
            ordered: header.ordered,
            reported_later: header.dispatch == Dispatch::Native,
            latest_fact: Instant::EPOCH,
            clock: Instant::EPOCH,
            ended: false,
            counter: Counter::new(header),
            summary: Summary::default(),
        }
    }

    fn take(&mut self, record: &Record) -> Result<(), Mismatch> {
        if self.ended {
            return Err(Mismatch::AfterEnd);
        }
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "what is no answer was seen by the world; an answer that is not asked for here is missed below"
        )]
        match record.what {
            What::Fact(fact) => self.tell(record, fact),
            What::Decided { .. } => {
                self.ask(record, record.at)?;
                bump(&mut self.summary.decisions);
                self.no_fact_is_later(record)?;
                self.in_order(record)
            }
            What::DecisionRefused { now, .. } => self.ask(record, now),
            What::Notice(_) => {
                if self.expected.is_empty() {
                    self.recorder.take_notice();
                    self.collect();
                }
                bump(&mut self.summary.notices);
                self.compare(record)?;
                self.checks.see(record).map_err(Mismatch::Inconsistent)
            }
            What::Refused(_) | What::Slot { .. } | What::Wake(_) => self.compare(record),
            What::Permit { .. } => {
                self.recorder.settle_permits();
                self.collect();
                bump(&mut self.summary.permits);
                self.compare(record)
            }
            _ => self.see(record),
        }
    }

    /// A fact is reported again; the checks see it only if it is accepted, as the clock does.
    fn tell(&mut self, record: &Record, fact: Fact) -> Result<(), Mismatch> {
        let kept = matches!(fact, Fact::Released { job } if self.checks.is_kept(record.at, job));
        let accepted = self.recorder.apply(record.at, fact).is_ok();
        self.collect();
        bump(&mut self.summary.facts);
        self.compare(record)?;
        if !accepted {
            return Ok(());
        }
        self.latest_fact = self.latest_fact.max(record.at);
        self.checks.see(record).map_err(Mismatch::Inconsistent)?;
        if self.reported_later || kept {
            return Ok(());
        }
        self.in_order(record)
    }

    /// Whatever the clocks: nothing is reported before it happens.
    fn no_fact_is_later(&mut self, record: &Record) -> Result<(), Mismatch> {
        let latest = core::mem::replace(&mut self.latest_fact, Instant::EPOCH);
        if latest > record.at {
            let rule = "T1: a fact since the last decision is later than this";
            return Err(Mismatch::Inconsistent(rule));
        }
        Ok(())
    }

    fn ask(&mut self, record: &Record, now: Instant) -> Result<(), Mismatch> {
        // Whether it is refused shows in the record; the plan was written down.
        let _ = self.recorder.decide(now);
        self.collect();
        self.compare(record)
    }

    /// Something of the world's own. The calls before it have to be complete.
    fn see(&mut self, record: &Record) -> Result<(), Mismatch> {
        self.recorder.settle_permits();
        self.collect();
        if let What::End { facts } = record.what {
            while self.recorder.take_notice().is_some() {}
            self.collect();
            self.ended = true;
            self.no_fact_is_later(record)?;
            if facts != self.recorder.facts_told() && self.expected.is_empty() {
                let rule = "another number of facts was reported since the last decision";
                return Err(Mismatch::Inconsistent(rule));
            }
        }
        if let Some(missing) = self.expected.front() {
            return Err(Mismatch::Instead(*missing));
        }
        if let What::Lost { count } = record.what {
            return Err(Mismatch::Lost { count });
        }
        self.in_order(record)?;
        self.checks.see(record).map_err(Mismatch::Inconsistent)
    }

    fn collect(&mut self) {
        self.expected.extend(self.recorder.sink_mut().drain(..));
    }

    fn compare(&mut self, record: &Record) -> Result<(), Mismatch> {
        match self.expected.pop_front() {
            Some(replayed) if replayed == *record => Ok(()),
            Some(replayed) => Err(Mismatch::Instead(replayed)),
            None => Err(Mismatch::Unexpected),
        }
    }

    fn in_order(&mut self, record: &Record) -> Result<(), Mismatch> {
        if self.ordered && record.at < self.clock {
            let earlier = self.clock;
            return Err(Mismatch::Disorder { earlier });
        }
        self.clock = self.clock.max(record.at);
        Ok(())
    }
}

fn bump(count: &mut u64) {
    *count = count.saturating_add(1);
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.number.saturating_sub(self.before.len() as u64);
        let mut number = first;
        let mut line = |f: &mut fmt::Formatter<'_>, mark: &str, text: String| {
            let result = writeln!(f, "{mark} {number:>8}  {text}");
            number = number.saturating_add(1);
            result
        };
        for record in &self.before {
            line(f, " ", record.to_string())?;
        }
        let recorded = self
            .recorded
            .map_or_else(|| "(nothing)".to_string(), |record| record.to_string());
        line(f, ">", recorded)?;
        writeln!(f, "  {:>8}  {}", "", self.why)?;
        for record in self.replayed.iter().skip(1) {
            writeln!(f, "  {:>8}  {record}", "")?;
        }
        for record in &self.after {
            line(f, " ", record.to_string())?;
        }
        Ok(())
    }
}
