//! Lines of text back to records: the inverse of [`super::text`].

use super::text::SEEN;
use super::words::{DROPPED, STOP_REASONS, drop_reason, stop_word};
use super::{Edge, Mechanism, Record, Refusal, What};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::str::FromStr;
use vestal_core::{
    BarrierId, Budget, BudgetOwner, CpuId, DeviceId, DropReason, Duration, Event, Fact, Instant,
    JobId, Level, OnExhaustion, Permit, ServerId, Service, Slot, TaskId, Until, Wake, WakeReason,
};

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The cell, counted from 1; 0 if the line as a whole is wrong.
    pub cell: usize,
    /// What was found and what was expected.
    pub what: String,
}

impl core::fmt::Display for LineError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.what)
    }
}

impl core::error::Error for LineError {}

struct Line<'a> {
    cells: [&'a str; 7],
}

const VALUE: usize = 5;
const DETAIL: usize = 6;

impl<'a> Line<'a> {
    fn cell(&self, place: usize) -> &'a str {
        self.cells.get(place).copied().unwrap_or_default()
    }

    fn error(&self, place: usize, expected: &str) -> LineError {
        LineError {
            cell: place.saturating_add(1),
            what: format!(
                "found `{}`, expected {expected}",
                self.cell(place).escape_debug()
            ),
        }
    }

    fn number<T: FromStr>(&self, place: usize, expected: &str) -> Result<T, LineError> {
        self.cell(place)
            .parse()
            .map_err(|_| self.error(place, expected))
    }

    fn cpu(&self) -> Result<CpuId, LineError> {
        self.number(2, "a CPU's number").map(CpuId)
    }
    fn task(&self) -> Result<TaskId, LineError> {
        self.number(3, "a task's number").map(TaskId)
    }
    fn job(&self) -> Result<JobId, LineError> {
        Ok(JobId {
            task: self.task()?,
            sequence: self.number(4, "a job's number")?,
        })
    }
    fn value(&self) -> Result<u64, LineError> {
        self.number(VALUE, "a whole number")
    }

    /// The value of `key=value` in the detail.
    fn key<T: FromStr>(&self, key: &str) -> Result<T, LineError> {
        self.key_text(key)
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| self.error(DETAIL, &format!("`{key}=` and a value")))
    }

    fn key_text(&self, key: &str) -> Option<&'a str> {
        self.cell(DETAIL)
            .split(' ')
            .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    fn level(&self, key: &str) -> Result<Level, LineError> {
        self.key(key).map(Level)
    }
}

impl FromStr for Record {
    type Err = LineError;

    /// The record that is written as this line.
    fn from_str(text: &str) -> Result<Self, LineError> {
        let mut cells = [""; 7];
        let count = text.split(',').count();
        if count != cells.len() {
            return Err(LineError {
                cell: 0,
                what: format!("found {count} cells, expected {}", cells.len()),
            });
        }
        for (place, cell) in cells.iter_mut().zip(text.split(',')) {
            *place = cell;
        }
        let line = Line { cells };
        let record = Self {
            at: Instant::from_nanos(line.number(0, "an instant in nanoseconds")?),
            what: what(&line)?,
        };
        // One representation for each record: numbers without signs and leading zeros, unused cells
        // empty.
        let canonical = record.to_string();
        if canonical == text {
            return Ok(record);
        }
        let cell = canonical
            .split(',')
            .zip(text.split(','))
            .position(|(expected, found)| expected != found)
            .unwrap_or(0);
        let expected = canonical.split(',').nth(cell).unwrap_or_default();
        let expected = if expected.is_empty() {
            "nothing".to_owned()
        } else {
            format!("`{expected}`")
        };
        Err(line.error(cell, &expected))
    }
}

fn what(line: &Line<'_>) -> Result<What, LineError> {
    let kind = line.cell(1);
    if let Some(kind) = kind.strip_prefix(SEEN) {
        return fact(line, kind)?
            .map(What::Observed)
            .ok_or_else(|| line.error(1, "a kind of fact after `seen-`"));
    }
    if let Some(fact) = fact(line, kind)? {
        return Ok(What::Fact(fact));
    }
    if let Some(event) = event(line, kind)? {
        return Ok(What::Notice(event));
    }
    let refusal =
        || Refusal::from_word(line.cell(DETAIL)).ok_or_else(|| line.error(DETAIL, "a rule's name"));
    Ok(match kind {
        "refused" => What::Refused(refusal()?),
        "decide" => What::Decided {
            mode: line.level("mode")?,
            slots: line.key("slots")?,
            facts: line.number(VALUE, "the number of facts")?,
            hash: hash(line)?,
        },
        "decide-refused" => What::DecisionRefused {
            refusal: refusal()?,
            now: Instant::from_nanos(line.value()?),
        },
        "slot" => What::Slot {
            cpu: line.cpu()?,
            slot: slot(line)?,
        },
        "wake-at" => What::Wake(wake(line)?),
        "permit" => What::Permit {
            task: line.task()?,
            permit: permit(line)?,
        },
        "miss" => What::Miss {
            job: line.job()?,
            deadline: Instant::from_nanos(line.value()?),
            guaranteed: line.cell(DETAIL) == "guaranteed",
        },
        "overhead-begin" => overhead(line, Edge::Begin)?,
        "overhead-end" => overhead(line, Edge::End)?,
        "gap" => What::Gap {
            cpu: line.cpu()?,
            length: Duration::from_nanos(line.value()?),
        },
        "budget" => What::Budget {
            cpu: line.cpu()?,
            job: line.job()?,
            owner: owner(line)?,
            remaining: Service::from_nanos(line.value()?),
        },
        "dropped" => What::Dropped {
            job: line.job()?,
            why: dropped(line)?,
        },
        "lost" => What::Lost {
            count: line.value()?,
        },
        "end" => What::End {
            facts: line.number(VALUE, "the number of facts")?,
        },
        _ => return Err(line.error(1, "a kind of record of this schema")),
    })
}

fn hash(line: &Line<'_>) -> Result<u64, LineError> {
    line.key_text("hash")
        .and_then(|text| u64::from_str_radix(text, 16).ok())
        .ok_or_else(|| line.error(DETAIL, "`hash=` and sixteen digits"))
}

fn overhead(line: &Line<'_>, edge: Edge) -> Result<What, LineError> {
    let (cpu, mechanism) = (line.cpu()?, mechanism(line)?);
    Ok(What::Overhead {
        cpu,
        mechanism,
        edge,
    })
}

fn dropped(line: &Line<'_>) -> Result<DropReason, LineError> {
    drop_reason(line.cell(DETAIL)).ok_or_else(|| line.error(DETAIL, "a reason for dropping"))
}

fn fact(line: &Line<'_>, kind: &str) -> Result<Option<Fact>, LineError> {
    Ok(Some(match kind {
        "release" => Fact::Released { job: line.job()? },
        "complete" => Fact::Completed {
            cpu: line.cpu()?,
            job: line.job()?,
        },
        "charge" => Fact::Charged {
            cpu: line.cpu()?,
            job: line.job()?,
            amount: Service::from_nanos(line.value()?),
        },
        "start" => Fact::Started {
            cpu: line.cpu()?,
            job: line.job()?,
        },
        "stop" => Fact::Stopped {
            cpu: line.cpu()?,
            job: line.job()?,
            why: STOP_REASONS
                .into_iter()
                .find(|why| stop_word(*why) == line.cell(DETAIL))
                .ok_or_else(|| line.error(DETAIL, "preempted, blocked or cancelled"))?,
        },
        "timer" => Fact::Timer,
        "idle" => Fact::Idle { cpu: line.cpu()? },
        "interrupt" => Fact::Interrupt {
            device: DeviceId(line.key("device")?),
            count: line.number(VALUE, "a count")?,
        },
        "wake" => Fact::Woken {
            task: line.task()?,
            on_behalf_of: match line.cell(DETAIL) {
                "" => None,
                _ => Some(ServerId(line.key("server")?)),
            },
        },
        "barrier" => Fact::BarrierReached {
            cpu: line.cpu()?,
            barrier: BarrierId(line.number(VALUE, "a barrier's number")?),
        },
        "mode-request" => Fact::ModeRequested {
            level: line.level("level")?,
        },
        _ => return Ok(None),
    }))
}

fn event(line: &Line<'_>, kind: &str) -> Result<Option<Event>, LineError> {
    Ok(Some(match kind {
        "mode" => Event::ModeChanged {
            from: line.level("from")?,
            to: line.level("to")?,
            cause: match line.cell(3) {
                "" => None,
                _ => Some(line.job()?),
            },
        },
        "overrun" => Event::Overrun {
            job: line.job()?,
            level: line.level("level")?,
            executed: Service::from_nanos(line.value()?),
        },
        "drop" => Event::Dropped {
            job: line.job()?,
            why: dropped(line)?,
        },
        "depleted" => Event::Depleted {
            server: ServerId(line.key("server")?),
        },
        "postponed" => Event::Postponed {
            server: ServerId(line.key("server")?),
            amount: Service::from_nanos(line.value()?),
        },
        "frame-overrun" => Event::FrameOverrun {
            frame: line.number(VALUE, "a frame's number")?,
        },
        "frames-skipped" => Event::FramesSkipped {
            first: line.key("first")?,
            count: line.number(VALUE, "a count")?,
        },
        "late" => Event::Late {
            by: Duration::from_nanos(line.value()?),
        },
        _ => return Ok(None),
    }))
}

fn slot(line: &Line<'_>) -> Result<Option<Slot>, LineError> {
    match line.cell(DETAIL) {
        "idle" => return Ok(None),
        "unlimited" => {
            return Ok(Some(Slot {
                job: line.job()?,
                budget: None,
            }));
        }
        _ => {}
    }
    let then = line.key_text("then").unwrap_or_default();
    let on_exhaustion = match (then, then.strip_prefix("raise:")) {
        ("demote", _) => Some(OnExhaustion::Demote),
        ("abort", _) => Some(OnExhaustion::Abort),
        ("suspend", _) => Some(OnExhaustion::Suspend),
        (_, Some(level)) => level
            .parse()
            .ok()
            .map(|level| OnExhaustion::RaiseMode(Level(level))),
        (_, None) => None,
    };
    Ok(Some(Slot {
        job: line.job()?,
        budget: Some(Budget {
            remaining: Service::from_nanos(line.value()?),
            owner: owner(line)?,
            on_exhaustion: on_exhaustion.ok_or_else(|| line.error(DETAIL, "`then=` and what"))?,
        }),
    }))
}

fn owner(line: &Line<'_>) -> Result<BudgetOwner, LineError> {
    let text = line.key_text("owner").unwrap_or_default();
    let owner = match text.split_once(':') {
        None if text == "job" => Some(BudgetOwner::Job),
        Some(("task", number)) => number.parse().ok().map(TaskId).map(BudgetOwner::Task),
        Some(("server", number)) => number.parse().ok().map(ServerId).map(BudgetOwner::Server),
        Some(_) | None => None,
    };
    owner.ok_or_else(|| line.error(DETAIL, "`owner=job`, `owner=task:N` or `owner=server:N`"))
}

fn wake(line: &Line<'_>) -> Result<Wake, LineError> {
    Ok(Wake {
        at: Instant::from_nanos(line.value()?),
        why: match line.cell(DETAIL) {
            "deadline" => WakeReason::Deadline(line.job()?),
            "replenishment" => WakeReason::Replenishment,
            "consumption" => WakeReason::Consumption,
            "table-slot" => WakeReason::TableSlot,
            "frame" => WakeReason::Frame,
            "zero-slack" => WakeReason::ZeroSlack(line.job()?),
            _ => return Err(line.error(DETAIL, "a reason for waking")),
        },
    })
}

fn permit(line: &Line<'_>) -> Result<Permit, LineError> {
    let value = || match line.cell(VALUE) {
        "" => Ok(None),
        _ => line.value().map(Some),
    };
    let limit = || Ok(value()?.map(Service::from_nanos));
    Ok(match line.cell(DETAIL) {
        "run" => Permit::Run { limit: limit()? },
        "background" => Permit::Below { limit: limit()? },
        "suspended" => Permit::Suspended {
            until: match value()? {
                Some(at) => Until::At(Instant::from_nanos(at)),
                None => Until::Event,
            },
        },
        "demoted" => Permit::Demoted,
        "not-admitted" => Permit::NotAdmitted,
        detail => match detail.strip_prefix(DROPPED).and_then(drop_reason) {
            Some(why) => Permit::Dropped { why },
            None => return Err(line.error(DETAIL, "a permit")),
        },
    })
}

fn mechanism(line: &Line<'_>) -> Result<Mechanism, LineError> {
    let word = line.cell(DETAIL);
    let other = word
        .strip_prefix("other:")
        .and_then(|number| number.parse().ok());
    other
        .map(Mechanism::Other)
        .or_else(|| Mechanism::from_word(word))
        .ok_or_else(|| line.error(DETAIL, "a mechanism"))
}
