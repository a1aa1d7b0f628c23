//! The same facts again, to a fresh scheduler: are the answers the same? (C8)
//!
//! The scheduler under replay stands behind a [`Recorder`](crate::Recorder) of its own. Each recorded call is made
//! again, and the records it gives now are compared with the recorded ones, one by one. What the world
//! saw by itself (misses, overheads, observations) cannot be recomputed; it is checked for
//! consistency instead, by the rules of [`checks`].
//!
//! Instants have to be in order where the header says so, with two exceptions: a native world may tell a
//! fact later than it happened, and any world a release that its scheduler had no room for (W8). Nothing is
//! reported before it happens, whatever the header says.
//!
//! After each decision the list of each sporadic server is looked at as well, that of the scheduler that replays, which has decided as the recorded one did: **S1** its
//! replenishments, those at hand and those on their way back, sum up to the capacity in the present mode. No recording has the memory of the run.
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

//! Of several domains each is decided again from its own facts. The records of the stream are then found by these
//! rules besides:
//!
//! - **D1** the word is given to another domain than the one that has it, **D2** to one of which something follows,
//!   **D3** at the instant of what follows;
//! - **D4** what the world tells and sees in a domain is about its tasks and its CPUs, but for facts that the
//!   scheduler refuses;
//! - every domain ends, and nothing of it follows.
//!
//! Instants are in order in each domain, where the header says so; one that moved between its neighbours of the same
//! domain is one of the harmless changes, whatever other domains say in between.

pub mod bottom_halves;
pub mod checks;
pub mod conformance;
pub mod inversion;
pub mod levels;
mod on_behalf;
mod run;
pub mod windows;

use crate::count::Counts;
use crate::domains::Scope;
use crate::header::Header;
use crate::record::{DomainId, Record, What};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use run::Run;
use vestal_core::{Instant, Scheduler};

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
    /// How often the list of a sporadic server was looked at after a decision, each time with the budget in it, no more and no less.
    pub lists: u64,
    /// What the recording says in sum.
    pub counts: Counts,
}

/// A replay of several domains without a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// How many records there were, [`What::Domain`] included.
    pub records: u64,
    /// What each domain says, by its number; that record is of none.
    pub domains: Vec<Summary>,
}

/// The only domain of a recording.
impl From<Summary> for Replayed {
    fn from(only: Summary) -> Self {
        Self {
            records: only.records,
            domains: vec![only],
        }
    }
}

impl Replayed {
    /// What all domains say together.
    #[must_use]
    pub fn sum(&self) -> Summary {
        let all = self.domains.iter();
        let sum = all.fold(Summary::default(), |sum, own| Summary {
            facts: sum.facts.saturating_add(own.facts),
            decisions: sum.decisions.saturating_add(own.decisions),
            permits: sum.permits.saturating_add(own.permits),
            notices: sum.notices.saturating_add(own.notices),
            lists: sum.lists.saturating_add(own.lists),
            counts: sum.counts.and(&own.counts),
            ..sum
        });
        Summary {
            records: self.records,
            ..sum
        }
    }
}

/// The first difference between a recording and its replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The domain in which it is; `None` if the header names no domains.
    pub domain: Option<DomainId>,
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
    /// It gives the word to a domain that the header does not name.
    #[error("the header names no domain {}", .0.0)]
    UnknownDomain(DomainId),
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
    let mut stream = Stream::new(header);
    stream.runs.push(Some(Run::new(header, scheduler, None)));
    let replayed = stream.replay(records)?;
    Ok(replayed.domains.first().copied().unwrap_or_default())
}

/// Replays a recording of several domains, each with a fresh scheduler of its own. A scope says which domain a
/// scheduler is for, and what its cluster's tasks and CPUs are called in the file; a domain without a scheduler is a
/// difference.
///
/// # Errors
/// As [`replay`]; the difference names its domain.
pub fn replay_domains<'a, E, S: Scheduler + ?Sized + 'a>(
    header: &Header,
    records: impl IntoIterator<Item = Result<Record, E>>,
    schedulers: impl IntoIterator<Item = (Scope, &'a mut S)>,
) -> Result<Replayed, Failure<E>> {
    let mut stream = Stream::new(header);
    stream.runs.resize_with(header.domain_count(), || None);
    for (scope, scheduler) in schedulers {
        if let Some(run) = stream.runs.get_mut(scope.domain().index()) {
            *run = Some(Run::new(header, scheduler, Some(scope)));
        }
    }
    stream.replay(records)
}

/// The records of all domains, and who has the word.
struct Stream<'a, S: ?Sized> {
    /// By domain.
    runs: Vec<Option<Run<'a, S>>>,
    /// Whether domains are named.
    named: bool,
    present: DomainId,
    /// The word was given to the present domain at this instant, and nothing of it has followed yet.
    given: Option<Instant>,
    records: u64,
}

impl<'a, S: Scheduler + ?Sized> Stream<'a, S> {
    fn new(header: &Header) -> Self {
        Self {
            runs: Vec::new(),
            named: !header.domains.is_empty(),
            present: DomainId::FIRST,
            given: None,
            records: 0,
        }
    }

    fn replay<E>(
        mut self,
        records: impl IntoIterator<Item = Result<Record, E>>,
    ) -> Result<Replayed, Failure<E>> {
        let mut records = records.into_iter();
        let mut before = VecDeque::new();
        for record in records.by_ref() {
            let record = record.map_err(Failure::Unreadable)?;
            if let Err(why) = self.take(&record) {
                // What follows is only shown: an unreadable rest does not hide the difference.
                let after = records.map_while(Result::ok).take(SHOWN_AFTER).collect();
                let mut replayed = Vec::new();
                if let Mismatch::Instead(first) = why {
                    replayed.push(first);
                    let run = self.runs.get(self.present.index());
                    let expected = run.and_then(Option::as_ref).map(Run::expected);
                    let expected = expected.into_iter().flatten();
                    replayed.extend(expected.filter(|next| **next != first));
                }
                return Err(Failure::Differs(Box::new(Difference {
                    domain: self.named.then_some(self.present),
                    number: self.records,
                    recorded: Some(record),
                    why,
                    replayed,
                    before: before.into(),
                    after,
                })));
            }
            self.records = self.records.saturating_add(1);
            if before.len() == SHOWN_BEFORE {
                before.pop_front();
            }
            before.push_back(record);
        }
        self.finish().map_err(|(domain, why)| {
            Failure::Differs(Box::new(Difference {
                domain: self.named.then_some(domain),
                number: self.records,
                recorded: None,
                why,
                replayed: Vec::new(),
                before: before.into(),
                after: Vec::new(),
            }))
        })
    }

    fn take(&mut self, record: &Record) -> Result<(), Mismatch> {
        if let What::Domain { domain } = record.what {
            return self.turn_to(domain, record.at);
        }
        if self.given.take().is_some_and(|given| given != record.at) {
            let rule = "D3: the domain got the word at another instant";
            return Err(Mismatch::Inconsistent(rule));
        }
        let run = self.runs.get_mut(self.present.index());
        let Some(run) = run.and_then(Option::as_mut) else {
            return Err(Mismatch::UnknownDomain(self.present));
        };
        run.take(record)
    }

    /// Another domain has the word.
    fn turn_to(&mut self, domain: DomainId, at: Instant) -> Result<(), Mismatch> {
        if domain == self.present {
            let rule = "D1: the domain has the word already";
            return Err(Mismatch::Inconsistent(rule));
        }
        if self.given.is_some() {
            return Err(Mismatch::Inconsistent(NOTHING_FOLLOWS));
        }
        if let Some(run) = self.runs.get(self.present.index()).and_then(Option::as_ref)
            && let Some(missing) = run.expected().next()
        {
            return Err(Mismatch::Instead(*missing));
        }
        if !self.named || self.runs.len() <= domain.index() {
            return Err(Mismatch::UnknownDomain(domain));
        }
        self.present = domain;
        self.given = Some(at);
        Ok(())
    }

    /// Whether every domain has ended, and what they say.
    fn finish(&self) -> Result<Replayed, (DomainId, Mismatch)> {
        if self.given.is_some() {
            return Err((self.present, Mismatch::Inconsistent(NOTHING_FOLLOWS)));
        }
        let mut domains = Vec::new();
        for (number, run) in (0..=u16::MAX).zip(&self.runs) {
            let summary = run.as_ref().and_then(Run::summary);
            domains.push(summary.ok_or((DomainId(number), Mismatch::NoEnd))?);
        }
        let records = self.records;
        Ok(Replayed { records, domains })
    }
}

const NOTHING_FOLLOWS: &str = "D2: the domain got the word, and nothing of it follows";

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
