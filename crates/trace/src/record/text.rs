//! Records as lines of text: `at_ns,kind,cpu,task,job,value,detail`.
//!
//! Every cell that a kind does not use is empty; no cell ever needs quotes. A fact that was observed
//! but not reported has `seen-` before its kind. `value` is in nanoseconds but for the counts of
//! `decide` and `end` (facts), `interrupt`, `frames-skipped` and `lost`, and for the numbers of a
//! `barrier` and a frame (`frame-overrun`).

use super::words::{DROPPED, drop_word, stop_word};
use super::{Edge, Mechanism, Record, What};
use alloc::borrow::Cow;
use alloc::format;
use core::fmt;
use vestal_core::{
    BudgetOwner, CpuId, Event, Fact, JobId, Level, OnExhaustion, Permit, Service, Slot, TaskId,
    Until, Wake, WakeReason,
};

/// The names of the columns.
pub const COLUMNS: &str = "at_ns,kind,cpu,task,job,value,detail";

/// What stands before the kind of a fact that was not reported.
pub(super) const SEEN: &str = "seen-";

/// The cells of a line, but for the instant and the kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cells {
    pub(super) cpu: Option<u16>,
    pub(super) task: Option<u16>,
    pub(super) job: Option<u64>,
    pub(super) value: Option<u64>,
    pub(super) detail: Cow<'static, str>,
}

impl Cells {
    fn on(self, cpu: CpuId) -> Self {
        Self {
            cpu: Some(cpu.0),
            ..self
        }
    }
    fn of(self, job: JobId) -> Self {
        Self {
            task: Some(job.task.0),
            job: Some(job.sequence),
            ..self
        }
    }
    fn value(self, value: u64) -> Self {
        Self {
            value: Some(value),
            ..self
        }
    }
    fn detail(self, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            detail: detail.into(),
            ..self
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = cells(&self.what);
        let seen = if matches!(self.what, What::Observed(_)) {
            SEEN
        } else {
            ""
        };
        write!(f, "{},{seen}{},", self.at.as_nanos(), self.word())?;
        let mut number = |number: Option<u64>| match number {
            Some(number) => write!(f, "{number},"),
            None => f.write_str(","),
        };
        number(cells.cpu.map(u64::from))?;
        number(cells.task.map(u64::from))?;
        number(cells.job)?;
        number(cells.value)?;
        f.write_str(&cells.detail)
    }
}

fn cells(what: &What) -> Cells {
    let none = Cells::default();
    match *what {
        What::Fact(fact) | What::Observed(fact) => fact_cells(fact),
        What::Refused(refusal) => none.detail(refusal.word()),
        What::DecisionRefused { refusal, now } => none.value(now.as_nanos()).detail(refusal.word()),
        What::Decided {
            mode: Level(mode),
            slots,
            facts,
            hash,
        } => none
            .value(u64::from(facts))
            .detail(format!("mode={mode} slots={slots} hash={hash:016x}")),
        What::Slot { cpu, slot } => slot_cells(slot).on(cpu),
        What::Wake(wake) => wake_cells(wake),
        What::Permit { task, permit } => permit_cells(task, permit),
        What::Notice(event) => event_cells(event),
        What::Miss {
            job,
            deadline,
            guaranteed,
        } => none
            .of(job)
            .value(deadline.as_nanos())
            .detail(if guaranteed { "guaranteed" } else { "" }),
        What::Overhead {
            cpu,
            mechanism,
            edge: Edge::Begin | Edge::End,
        } => none.on(cpu).detail(mechanism_text(mechanism)),
        What::Gap { cpu, length } => none.on(cpu).value(length.as_nanos()),
        What::Budget {
            cpu,
            job,
            owner,
            remaining,
        } => none
            .on(cpu)
            .of(job)
            .value(remaining.as_nanos())
            .detail(owner_text(owner)),
        What::Dropped { job, why } => none.of(job).detail(drop_word(why)),
        What::Lost { count } => none.value(count),
        What::End { facts } => none.value(u64::from(facts)),
    }
}

fn fact_cells(fact: Fact) -> Cells {
    let none = Cells::default();
    match fact {
        Fact::Released { job } => none.of(job),
        Fact::Completed { cpu, job } | Fact::Started { cpu, job } => none.on(cpu).of(job),
        Fact::Charged { cpu, job, amount } => none.on(cpu).of(job).value(amount.as_nanos()),
        Fact::Stopped { cpu, job, why } => none.on(cpu).of(job).detail(stop_word(why)),
        Fact::Timer => none,
        Fact::Idle { cpu } => none.on(cpu),
        Fact::Interrupt { device, count } => none
            .value(u64::from(count))
            .detail(format!("device={}", device.0)),
        Fact::Woken { task, on_behalf_of } => Cells {
            task: Some(task.0),
            detail: on_behalf_of.map_or(Cow::Borrowed(""), |server| {
                Cow::Owned(format!("server={}", server.0))
            }),
            ..none
        },
        Fact::BarrierReached { cpu, barrier } => none.on(cpu).value(u64::from(barrier.0)),
        Fact::ModeRequested {
            level: Level(level),
        } => none.detail(format!("level={level}")),
    }
}

fn event_cells(event: Event) -> Cells {
    let none = Cells::default();
    match event {
        Event::ModeChanged {
            from: Level(from),
            to: Level(to),
            cause,
        } => cause
            .map_or(none.clone(), |job| none.of(job))
            .detail(format!("from={from} to={to}")),
        Event::Overrun {
            job,
            level: Level(level),
            executed,
        } => none
            .of(job)
            .value(executed.as_nanos())
            .detail(format!("level={level}")),
        Event::Dropped { job, why } => none.of(job).detail(drop_word(why)),
        Event::Depleted { server } => none.detail(format!("server={}", server.0)),
        Event::Postponed { server, amount } => none
            .value(amount.as_nanos())
            .detail(format!("server={}", server.0)),
        Event::FrameOverrun { frame } => none.value(frame),
        Event::FramesSkipped { first, count } => none.value(count).detail(format!("first={first}")),
        Event::Late { by } => none.value(by.as_nanos()),
    }
}

fn slot_cells(slot: Option<Slot>) -> Cells {
    let none = Cells::default();
    let Some(slot) = slot else {
        return none.detail("idle");
    };
    let Some(budget) = slot.budget else {
        return none.of(slot.job).detail("unlimited");
    };
    let then = match budget.on_exhaustion {
        OnExhaustion::RaiseMode(Level(level)) => Cow::Owned(format!("raise:{level}")),
        OnExhaustion::Demote => Cow::Borrowed("demote"),
        OnExhaustion::Abort => Cow::Borrowed("abort"),
        OnExhaustion::Suspend => Cow::Borrowed("suspend"),
    };
    let owner = owner_text(budget.owner);
    none.of(slot.job)
        .value(budget.remaining.as_nanos())
        .detail(format!("{owner} then={then}"))
}

fn owner_text(owner: BudgetOwner) -> Cow<'static, str> {
    match owner {
        BudgetOwner::Job => Cow::Borrowed("owner=job"),
        BudgetOwner::Task(task) => Cow::Owned(format!("owner=task:{}", task.0)),
        BudgetOwner::Server(server) => Cow::Owned(format!("owner=server:{}", server.0)),
    }
}

fn mechanism_text(mechanism: Mechanism) -> Cow<'static, str> {
    if let Mechanism::Other(number) = mechanism {
        return Cow::Owned(format!("other:{number}"));
    }
    Cow::Borrowed(mechanism.word())
}

fn wake_cells(wake: Wake) -> Cells {
    let none = Cells::default().value(wake.at.as_nanos());
    match wake.why {
        WakeReason::Deadline(job) => none.of(job).detail("deadline"),
        WakeReason::Replenishment => none.detail("replenishment"),
        WakeReason::Consumption => none.detail("consumption"),
        WakeReason::TableSlot => none.detail("table-slot"),
        WakeReason::Frame => none.detail("frame"),
        WakeReason::ZeroSlack(job) => none.of(job).detail("zero-slack"),
    }
}

fn permit_cells(task: TaskId, permit: Permit) -> Cells {
    let limited = |limit: Option<Service>| limit.map(Service::as_nanos);
    let (word, value) = match permit {
        Permit::Run { limit } => ("run", limited(limit)),
        Permit::Below { limit } => ("background", limited(limit)),
        Permit::Suspended {
            until: Until::Event,
        } => ("suspended", None),
        Permit::Suspended {
            until: Until::At(at),
        } => ("suspended", Some(at.as_nanos())),
        Permit::Demoted => ("demoted", None),
        Permit::Dropped { why } => {
            return Cells {
                task: Some(task.0),
                detail: Cow::Owned(format!("{DROPPED}{}", drop_word(why))),
                ..Cells::default()
            };
        }
        Permit::NotAdmitted => ("not-admitted", None),
    };
    Cells {
        task: Some(task.0),
        value,
        detail: Cow::Borrowed(word),
        ..Cells::default()
    }
}
