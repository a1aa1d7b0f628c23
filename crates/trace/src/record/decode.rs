//! Bytes back to records: the inverse of [`super::raw`].

use super::raw::{OBSERVED, Raw};
use super::{Edge, Mechanism, RecordError, Refusal, What};
use crate::record::words::{DROP_REASONS, STOP_REASONS};
use vestal_core::{
    BarrierId, Budget, BudgetOwner, CpuId, DeviceId, DropReason, Duration, Event, Fact, Instant,
    JobId, Level, OnExhaustion, Permit, ServerId, Service, Slot, TaskId, Until, Wake, WakeReason,
};

impl Raw {
    fn bad(&self, field: &'static str, found: impl Into<u64>) -> RecordError {
        RecordError::Field {
            kind: self.kind,
            field,
            found: found.into(),
        }
    }

    const fn job(&self) -> JobId {
        JobId {
            task: TaskId(self.task),
            sequence: self.sequence,
        }
    }

    fn narrow<T: TryFrom<u64>>(&self, field: &'static str, value: u64) -> Result<T, RecordError> {
        T::try_from(value).map_err(|_| self.bad(field, value))
    }

    pub(super) fn what(&self) -> Result<What, RecordError> {
        match self.kind {
            0x10 => Ok(What::Decided {
                mode: Level(self.a),
                slots: self.cpu,
                facts: self.narrow("the number of facts", self.sequence)?,
                hash: self.value,
            }),
            0x11 => self.slot(),
            0x12 => self.wake(),
            0x13 => self.permit(),
            0x14 | 0x15 => {
                let refusal =
                    Refusal::from_code(self.a).ok_or_else(|| self.bad("the rule", self.a))?;
                Ok(if self.kind == 0x14 {
                    What::Refused(refusal)
                } else {
                    What::DecisionRefused {
                        refusal,
                        now: Instant::from_nanos(self.value),
                    }
                })
            }
            0x20..=0x27 => self.event().map(What::Notice),
            0x30..=0x37 => self.world(),
            kind if kind & OBSERVED != 0 => self.fact_of_kind(kind & !OBSERVED).map(What::Observed),
            kind => self.fact_of_kind(kind).map(What::Fact),
        }
    }

    fn fact_of_kind(&self, kind: u8) -> Result<Fact, RecordError> {
        let (cpu, job) = (CpuId(self.cpu), self.job());
        Ok(match kind {
            1 => Fact::Released { job },
            2 => Fact::Completed { cpu, job },
            3 => Fact::Charged {
                cpu,
                job,
                amount: Service::from_nanos(self.value),
            },
            4 => Fact::Started { cpu, job },
            5 => Fact::Stopped {
                cpu,
                job,
                why: *STOP_REASONS
                    .get(usize::from(self.a))
                    .ok_or_else(|| self.bad("the stop reason", self.a))?,
            },
            6 => Fact::Timer,
            7 => Fact::Idle { cpu },
            8 => Fact::Interrupt {
                device: DeviceId(self.narrow("the device", self.value)?),
                count: self.narrow("the count", self.extra)?,
            },
            9 => Fact::Woken {
                task: TaskId(self.task),
                on_behalf_of: if self.flag("the server's flag", self.a)? {
                    Some(ServerId(self.narrow("the server", self.value)?))
                } else {
                    None
                },
            },
            10 => Fact::BarrierReached {
                cpu,
                barrier: BarrierId(self.narrow("the barrier", self.value)?),
            },
            11 => Fact::ModeRequested {
                level: Level(self.a),
            },
            _ => return Err(RecordError::UnknownKind { kind: self.kind }),
        })
    }

    fn flag(&self, field: &'static str, value: u8) -> Result<bool, RecordError> {
        match value {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.bad(field, value)),
        }
    }

    fn event(&self) -> Result<Event, RecordError> {
        let job = self.job();
        Ok(match self.kind {
            0x20 => Event::ModeChanged {
                from: Level(self.a),
                to: Level(self.b),
                cause: self.flag("the cause's flag", self.c)?.then_some(job),
            },
            0x21 => Event::Overrun {
                job,
                level: Level(self.a),
                executed: Service::from_nanos(self.value),
            },
            0x22 => Event::Dropped {
                job,
                why: self.drop_reason(self.a)?,
            },
            0x24 => Event::Depleted {
                server: ServerId(self.narrow("the server", self.value)?),
            },
            0x25 => Event::Postponed {
                server: ServerId(self.narrow("the server", self.extra)?),
                amount: Service::from_nanos(self.value),
            },
            0x26 => Event::FrameOverrun { frame: self.value },
            0x27 => Event::FramesSkipped {
                first: self.value,
                count: self.extra,
            },
            _ => Event::Late {
                by: Duration::from_nanos(self.value),
            },
        })
    }

    fn drop_reason(&self, code: u8) -> Result<DropReason, RecordError> {
        let reason = DROP_REASONS.get(usize::from(code));
        reason.copied().ok_or_else(|| self.bad("the reason", code))
    }

    fn owner(&self, code: u8, id: u16) -> Result<BudgetOwner, RecordError> {
        match code {
            0 => Ok(BudgetOwner::Job),
            1 => Ok(BudgetOwner::Task(TaskId(id))),
            2 => Ok(BudgetOwner::Server(ServerId(id))),
            _ => Err(self.bad("the owner", code)),
        }
    }

    fn slot(&self) -> Result<What, RecordError> {
        let cpu = CpuId(self.cpu);
        if !self.flag("the slot's flag", self.a)? {
            return Ok(What::Slot { cpu, slot: None });
        }
        let [owner, id0, id1, _, level, ..] = self.extra.to_le_bytes();
        let budget = if self.flag("the budget's flag", self.b)? {
            Some(Budget {
                remaining: Service::from_nanos(self.value),
                owner: self.owner(owner, u16::from_le_bytes([id0, id1]))?,
                on_exhaustion: match self.c {
                    1 => OnExhaustion::RaiseMode(Level(level)),
                    2 => OnExhaustion::Demote,
                    3 => OnExhaustion::Abort,
                    4 => OnExhaustion::Suspend,
                    _ => return Err(self.bad("the consequence", self.c)),
                },
            })
        } else {
            None
        };
        let job = self.job();
        Ok(What::Slot {
            cpu,
            slot: Some(Slot { job, budget }),
        })
    }

    fn wake(&self) -> Result<What, RecordError> {
        let why = match self.a {
            0 => WakeReason::Deadline(self.job()),
            1 => WakeReason::Replenishment,
            2 => WakeReason::Consumption,
            3 => WakeReason::TableSlot,
            4 => WakeReason::Frame,
            5 => WakeReason::ZeroSlack(self.job()),
            _ => return Err(self.bad("the reason", self.a)),
        };
        let at = Instant::from_nanos(self.value);
        Ok(What::Wake(Wake { at, why }))
    }

    fn permit(&self) -> Result<What, RecordError> {
        let given = || self.flag("the value's flag", self.b);
        let limit = || Ok(given()?.then_some(Service::from_nanos(self.value)));
        let permit = match self.a {
            0 => Permit::Run { limit: limit()? },
            1 => Permit::Below { limit: limit()? },
            2 => Permit::Dropped {
                why: self.drop_reason(self.b)?,
            },
            3 => Permit::Suspended {
                until: match given()? {
                    true => Until::At(Instant::from_nanos(self.value)),
                    false => Until::Event,
                },
            },
            4 => Permit::NotAdmitted,
            5 => Permit::Demoted,
            _ => return Err(self.bad("the permit", self.a)),
        };
        let task = TaskId(self.task);
        Ok(What::Permit { task, permit })
    }

    fn world(&self) -> Result<What, RecordError> {
        let cpu = CpuId(self.cpu);
        Ok(match self.kind {
            0x30 => What::Miss {
                job: self.job(),
                deadline: Instant::from_nanos(self.value),
                guaranteed: self.flag("the guarantee", self.a)?,
            },
            0x31 | 0x32 => What::Overhead {
                cpu,
                mechanism: Mechanism::from_code(self.a, self.b)
                    .ok_or_else(|| self.bad("the mechanism", self.a))?,
                edge: if self.kind == 0x31 {
                    Edge::Begin
                } else {
                    Edge::End
                },
            },
            0x33 => What::Gap {
                cpu,
                length: Duration::from_nanos(self.value),
            },
            0x34 => What::Budget {
                cpu,
                job: self.job(),
                owner: self.owner(self.a, self.narrow("the owner", self.extra)?)?,
                remaining: Service::from_nanos(self.value),
            },
            0x35 => What::Lost { count: self.value },
            0x37 => What::Dropped {
                job: self.job(),
                why: self.drop_reason(self.a)?,
            },
            _ => What::End {
                facts: self.narrow("the number of facts", self.value)?,
            },
        })
    }
}
