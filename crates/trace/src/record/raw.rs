//! Records as bytes: little-endian, always [`Record::BYTES`] of them.
//!
//! ```text
//!  0        8    9 10 11 12    14    16        24        32        40
//!  | at     |kind| a| b| c| cpu | task| sequence|  value  |  extra  |
//! ```
//! Fields that a kind does not use are zero.

use super::{Edge, Record, What};
use crate::record::words::{DROP_REASONS, STOP_REASONS};
use core::fmt;
use vestal_core::{
    BudgetOwner, CpuId, DropReason, Event, Fact, Instant, JobId, OnExhaustion, Permit, Service,
    Slot, TaskId, Until, Wake, WakeReason,
};

/// Bytes that are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The kind is none of this schema.
    UnknownKind {
        /// The number found.
        kind: u8,
    },
    /// A field holds a value that its kind never has.
    Field {
        /// The kind.
        kind: u8,
        /// Which field.
        field: &'static str,
        /// The value found.
        found: u64,
    },
    /// A field that the kind does not use is not zero.
    NotCanonical {
        /// The kind.
        kind: u8,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind { kind } => write!(f, "kind {kind} is not in the schema"),
            Self::Field { kind, field, found } => {
                write!(
                    f,
                    "{field} is {found}, which a record of kind {kind} never has"
                )
            }
            Self::NotCanonical { kind } => {
                write!(f, "a field that kind {kind} does not use is not zero")
            }
        }
    }
}

impl core::error::Error for RecordError {}

/// The fields of the layout above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) at: u64,
    pub(super) kind: u8,
    pub(super) a: u8,
    pub(super) b: u8,
    pub(super) c: u8,
    pub(super) cpu: u16,
    pub(super) task: u16,
    pub(super) sequence: u64,
    pub(super) value: u64,
    pub(super) extra: u64,
}

/// Facts that were seen but not reported have this added to their kind.
pub(super) const OBSERVED: u8 = 0x40;

impl Record {
    /// The length of a record in files.
    pub const BYTES: usize = 40;

    /// The record as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let raw = Raw::of(self);
        let [c0, c1] = raw.cpu.to_le_bytes();
        let [t0, t1] = raw.task.to_le_bytes();
        // Five words, so that a record is packed without a loop over its bytes.
        let words = [
            raw.at.to_le_bytes(),
            [raw.kind, raw.a, raw.b, raw.c, c0, c1, t0, t1],
            raw.sequence.to_le_bytes(),
            raw.value.to_le_bytes(),
            raw.extra.to_le_bytes(),
        ];
        let mut bytes = [0; Self::BYTES];
        bytes.copy_from_slice(words.as_flattened());
        bytes
    }

    /// The record that is written as these bytes.
    ///
    /// # Errors
    /// [`RecordError`] for bytes that no record is written as.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, RecordError> {
        let [
            a0,
            a1,
            a2,
            a3,
            a4,
            a5,
            a6,
            a7,
            kind,
            a,
            b,
            c,
            c0,
            c1,
            t0,
            t1,
            rest @ ..,
        ] = *bytes;
        let [s0, s1, s2, s3, s4, s5, s6, s7, rest @ ..] = rest;
        let [v0, v1, v2, v3, v4, v5, v6, v7, rest @ ..] = rest;
        let raw = Raw {
            at: u64::from_le_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            kind,
            a,
            b,
            c,
            cpu: u16::from_le_bytes([c0, c1]),
            task: u16::from_le_bytes([t0, t1]),
            sequence: u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
            value: u64::from_le_bytes([v0, v1, v2, v3, v4, v5, v6, v7]),
            extra: u64::from_le_bytes(rest),
        };
        let record = Self {
            at: Instant::from_nanos(raw.at),
            what: raw.what()?,
        };
        // One representation for each record: whatever was not looked at has to be zero.
        if Raw::of(&record) == raw {
            Ok(record)
        } else {
            Err(RecordError::NotCanonical { kind })
        }
    }
}

impl Raw {
    fn of(record: &Record) -> Self {
        let mut raw = match record.what {
            What::Fact(fact) => Self::of_fact(fact),
            What::Observed(fact) => {
                let raw = Self::of_fact(fact);
                Self {
                    kind: raw.kind | OBSERVED,
                    ..raw
                }
            }
            What::Notice(event) => Self::of_event(event),
            What::Decided {
                mode,
                slots,
                facts,
                hash,
            } => Self {
                kind: 0x10,
                a: mode.0,
                cpu: slots,
                sequence: u64::from(facts),
                value: hash,
                ..Self::default()
            },
            What::Slot { cpu, slot } => Self::of_slot(cpu, slot),
            What::Wake(wake) => Self::of_wake(wake),
            What::Permit { task, permit } => Self::of_permit(task, permit),
            What::Refused(refusal) => Self::tagged(0x14, refusal.0),
            What::DecisionRefused { refusal, now } => Self {
                value: now.as_nanos(),
                ..Self::tagged(0x15, refusal.0)
            },
            What::Miss { .. }
            | What::Overhead { .. }
            | What::Gap { .. }
            | What::Budget { .. }
            | What::Dropped { .. }
            | What::Lost { .. }
            | What::End { .. } => Self::of_world(record.what),
        };
        raw.at = record.at.as_nanos();
        raw
    }

    fn tagged(kind: u8, a: u8) -> Self {
        Self {
            kind,
            a,
            ..Self::default()
        }
    }

    fn with_job(self, job: JobId) -> Self {
        Self {
            task: job.task.0,
            sequence: job.sequence,
            ..self
        }
    }

    fn on(self, cpu: CpuId) -> Self {
        Self { cpu: cpu.0, ..self }
    }

    fn of_fact(fact: Fact) -> Self {
        let kind = |kind| Self::tagged(kind, 0);
        match fact {
            Fact::Released { job } => kind(1).with_job(job),
            Fact::Completed { cpu, job } => kind(2).on(cpu).with_job(job),
            Fact::Charged { cpu, job, amount } => Self {
                value: amount.as_nanos(),
                ..kind(3).on(cpu).with_job(job)
            },
            Fact::Started { cpu, job } => kind(4).on(cpu).with_job(job),
            Fact::Stopped { cpu, job, why } => {
                let place = STOP_REASONS.iter().position(|known| *known == why);
                Self::tagged(5, small(place)).on(cpu).with_job(job)
            }
            Fact::Timer => kind(6),
            Fact::Idle { cpu } => kind(7).on(cpu),
            Fact::Interrupt { device, count } => Self {
                value: u64::from(device.0),
                extra: u64::from(count),
                ..kind(8)
            },
            Fact::Woken { task, on_behalf_of } => Self {
                task: task.0,
                a: u8::from(on_behalf_of.is_some()),
                value: on_behalf_of.map_or(0, |server| u64::from(server.0)),
                ..kind(9)
            },
            Fact::BarrierReached { cpu, barrier } => Self {
                value: u64::from(barrier.0),
                ..kind(10).on(cpu)
            },
            Fact::ModeRequested { level } => Self::tagged(11, level.0),
        }
    }

    fn of_event(event: Event) -> Self {
        match event {
            Event::ModeChanged { from, to, cause } => {
                let raw = Self {
                    b: to.0,
                    c: u8::from(cause.is_some()),
                    ..Self::tagged(0x20, from.0)
                };
                cause.map_or(raw, |job| raw.with_job(job))
            }
            Event::Overrun {
                job,
                level,
                executed,
            } => Self {
                value: executed.as_nanos(),
                ..Self::tagged(0x21, level.0).with_job(job)
            },
            Event::Dropped { job, why } => Self::of_drop(0x22, job, why),
            Event::Depleted { server } => Self {
                value: u64::from(server.0),
                ..Self::tagged(0x24, 0)
            },
            Event::Postponed { server, amount } => Self {
                value: amount.as_nanos(),
                extra: u64::from(server.0),
                ..Self::tagged(0x25, 0)
            },
            Event::FrameOverrun { frame } => Self {
                value: frame,
                ..Self::tagged(0x26, 0)
            },
            Event::FramesSkipped { first, count } => Self {
                value: first,
                extra: count,
                ..Self::tagged(0x27, 0)
            },
            Event::Late { by } => Self {
                value: by.as_nanos(),
                ..Self::tagged(0x23, 0)
            },
        }
    }

    fn of_drop(kind: u8, job: JobId, why: DropReason) -> Self {
        let place = DROP_REASONS.iter().position(|known| *known == why);
        Self::tagged(kind, small(place)).with_job(job)
    }

    fn of_slot(cpu: CpuId, slot: Option<Slot>) -> Self {
        let raw = Self::tagged(0x11, 0).on(cpu);
        let Some(slot) = slot else { return raw };
        let raw = Self { a: 1, ..raw }.with_job(slot.job);
        let Some(budget) = slot.budget else {
            return raw;
        };
        let (owner, id) = owner_code(budget.owner);
        let (outcome, level) = match budget.on_exhaustion {
            OnExhaustion::RaiseMode(level) => (1, level.0),
            OnExhaustion::Demote => (2, 0),
            OnExhaustion::Abort => (3, 0),
            OnExhaustion::Suspend => (4, 0),
        };
        Self {
            b: 1,
            c: outcome,
            value: budget.remaining.as_nanos(),
            extra: u64::from(owner) | u64::from(id) << 8 | u64::from(level) << 32,
            ..raw
        }
    }

    fn of_wake(wake: Wake) -> Self {
        let raw = |reason| Self {
            value: wake.at.as_nanos(),
            ..Self::tagged(0x12, reason)
        };
        match wake.why {
            WakeReason::Deadline(job) => raw(0).with_job(job),
            WakeReason::Replenishment => raw(1),
            WakeReason::Consumption => raw(2),
            WakeReason::TableSlot => raw(3),
            WakeReason::Frame => raw(4),
            WakeReason::ZeroSlack(job) => raw(5).with_job(job),
        }
    }

    fn of_permit(task: TaskId, permit: Permit) -> Self {
        let raw = |permit| Self {
            task: task.0,
            ..Self::tagged(0x13, permit)
        };
        let limited = |permit, limit: Option<Service>| Self {
            b: u8::from(limit.is_some()),
            value: limit.map_or(0, Service::as_nanos),
            ..raw(permit)
        };
        match permit {
            Permit::Run { limit } => limited(0, limit),
            Permit::Below { limit } => limited(1, limit),
            Permit::Dropped { why } => Self {
                b: small(DROP_REASONS.iter().position(|known| *known == why)),
                ..raw(2)
            },
            Permit::Suspended {
                until: Until::Event,
            } => raw(3),
            Permit::Suspended {
                until: Until::At(at),
            } => Self {
                b: 1,
                value: at.as_nanos(),
                ..raw(3)
            },
            Permit::NotAdmitted => raw(4),
            Permit::Demoted => raw(5),
        }
    }

    fn of_world(what: What) -> Self {
        match what {
            What::Miss {
                job,
                deadline,
                guaranteed,
            } => Self {
                value: deadline.as_nanos(),
                ..Self::tagged(0x30, u8::from(guaranteed)).with_job(job)
            },
            What::Overhead {
                cpu,
                mechanism,
                edge,
            } => {
                let (a, b) = mechanism.code();
                let kind = match edge {
                    Edge::Begin => 0x31,
                    Edge::End => 0x32,
                };
                Self {
                    b,
                    ..Self::tagged(kind, a).on(cpu)
                }
            }
            What::Gap { cpu, length } => Self {
                value: length.as_nanos(),
                ..Self::tagged(0x33, 0).on(cpu)
            },
            What::Budget {
                cpu,
                job,
                owner,
                remaining,
            } => {
                let (a, id) = owner_code(owner);
                Self {
                    value: remaining.as_nanos(),
                    extra: u64::from(id),
                    ..Self::tagged(0x34, a).on(cpu).with_job(job)
                }
            }
            What::Dropped { job, why } => Self::of_drop(0x37, job, why),
            What::Lost { count } => Self {
                value: count,
                ..Self::tagged(0x35, 0)
            },
            What::End { facts } => Self {
                value: u64::from(facts),
                ..Self::tagged(0x36, 0)
            },
            What::Fact(_)
            | What::Observed(_)
            | What::Refused(_)
            | What::Decided { .. }
            | What::DecisionRefused { .. }
            | What::Slot { .. }
            | What::Wake(_)
            | What::Permit { .. }
            | What::Notice(_) => Self::default(),
        }
    }
}

fn owner_code(owner: BudgetOwner) -> (u8, u16) {
    match owner {
        BudgetOwner::Job => (0, 0),
        BudgetOwner::Task(task) => (1, task.0),
        BudgetOwner::Server(server) => (2, server.0),
    }
}

/// The place of a reason in its list; the lists are complete and short.
fn small(place: Option<usize>) -> u8 {
    place
        .and_then(|place| u8::try_from(place).ok())
        .unwrap_or(u8::MAX)
}
