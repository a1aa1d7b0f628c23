//! The replay of one domain: each call again, and each answer compared.

use super::checks::Checks;
use super::{Mismatch, Summary};
use crate::count::Counter;
use crate::domains::Scope;
use crate::header::{Dispatch, Header};
use crate::record::{Record, What};
use crate::recorder::Recorder;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use vestal_core::{CpuId, Fact, Instant, Scheduler, ServerId, TaskId};

/// What distinguishes one domain from the others.
struct Own {
    /// What the file calls the tasks and CPUs of its cluster.
    scope: Scope,
    tasks: BTreeSet<TaskId>,
    cpus: BTreeSet<CpuId>,
}

/// The replay of one domain.
pub(super) struct Run<'a, S: ?Sized> {
    /// `None` if it is the only one.
    own: Option<Own>,
    /// Around a reference, so that the caller keeps the scheduler.
    recorder: Recorder<&'a mut S, Vec<Record>>,
    /// Records that the replay has given and the recording has not shown yet, with the numbers of the file.
    expected: VecDeque<Record>,
    checks: Checks,
    /// How many there are in the file; a domain of several has none of its own.
    servers: u16,
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
    pub(super) fn new(header: &Header, scheduler: &'a mut S, scope: Option<Scope>) -> Self {
        let tasks = scope.as_ref().map_or(header.tasks.len(), Scope::tasks);
        let tasks = if header.records_permits { tasks } else { 0 };
        let servers = header.servers.len();
        let servers = if scope.is_none() { servers } else { 0 };
        let servers = u16::try_from(servers).unwrap_or(u16::MAX);
        let own = scope.and_then(|scope| {
            let domain = header.domains.get(scope.domain().index())?;
            Some(Own {
                tasks: domain.tasks.iter().copied().collect(),
                cpus: domain.cpus.iter().copied().collect(),
                scope,
            })
        });
        Self {
            own,
            recorder: Recorder::with_permits(scheduler, Vec::new(), tasks),
            expected: VecDeque::new(),
            checks: Checks::new(header),
            servers,
            ordered: header.ordered,
            reported_later: header.dispatch == Dispatch::Native,
            clock: Instant::EPOCH,
            latest_fact: Instant::EPOCH,
            ended: false,
            counter: Counter::new(header),
            summary: Summary::default(),
        }
    }

    /// What the replay has given and the recording has not shown yet.
    pub(super) fn expected(&self) -> impl Iterator<Item = &Record> {
        self.expected.iter()
    }

    /// What the domain says in sum; `None` before its end.
    pub(super) fn summary(&self) -> Option<Summary> {
        let counts = self.counter.counts();
        self.ended.then_some(Summary {
            counts,
            ..self.summary
        })
    }

    /// Takes in the next record of the domain.
    pub(super) fn take(&mut self, record: &Record) -> Result<(), Mismatch> {
        if self.ended {
            return Err(Mismatch::AfterEnd);
        }
        self.check(record)?;
        self.counter.see(record);
        bump(&mut self.summary.records);
        Ok(())
    }

    fn check(&mut self, record: &Record) -> Result<(), Mismatch> {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "what is no answer was seen by the world; an answer that is not asked for here is missed below"
        )]
        match record.what {
            What::Fact(fact) => self.tell(record, fact),
            What::Decided { .. } => {
                self.ask(record, record.at)?;
                bump(&mut self.summary.decisions);
                self.look_at_lists()?;
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
            What::Refused(_)
            | What::Slot { .. }
            | What::Sequence { .. }
            | What::Queued { .. }
            | What::Wake(_) => self.compare(record),
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
        let inside = match &self.own {
            Some(own) => own.scope.fact_to_cluster(fact),
            None => fact,
        };
        let accepted = self.recorder.apply(record.at, inside).is_ok();
        self.collect();
        bump(&mut self.summary.facts);
        self.compare(record)?;
        if !accepted {
            return Ok(());
        }
        self.latest_fact = self.latest_fact.max(record.at);
        self.is_own(record)?;
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

    /// No budget is lost, and none is made.
    fn look_at_lists(&mut self) -> Result<(), Mismatch> {
        for server in (0..self.servers).map(ServerId) {
            let Some(listed) = self.recorder.listed(server) else {
                continue;
            };
            if !listed.is_whole() {
                let rule = "S1: the list of a sporadic server does not sum up to its budget";
                return Err(Mismatch::Inconsistent(rule));
            }
            bump(&mut self.summary.lists);
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
        self.is_own(record)?;
        self.checks.see(record).map_err(Mismatch::Inconsistent)
    }

    /// A record of one domain is about its tasks and CPUs.
    fn is_own(&self, record: &Record) -> Result<(), Mismatch> {
        let Some(own) = &self.own else {
            return Ok(());
        };
        let (mut tasks, mut cpus) = (true, true);
        record.visit_names(
            |task| tasks &= own.tasks.contains(&task),
            |cpu| cpus &= own.cpus.contains(&cpu),
        );
        if tasks && cpus {
            return Ok(());
        }
        let rule = "D4: it is about a task or a CPU of another domain";
        Err(Mismatch::Inconsistent(rule))
    }

    fn collect(&mut self) {
        let given = self.recorder.sink_mut().drain(..);
        match &self.own {
            Some(own) => {
                let given = given.map(|record| own.scope.to_file(record));
                self.expected.extend(given);
            }
            None => self.expected.extend(given),
        }
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
