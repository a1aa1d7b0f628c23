//! Recorded runs: configurations and the calls a world made, as bytes; and their replay.
//!
//! The same recording gives the same plans wherever the core runs (C8). What is compared is a hash
//! over every plan, computed here on the host and on the microcontroller alike.
#![no_std]
#![forbid(unsafe_code)]

pub mod engines;

extern crate alloc;

use alloc::borrow::Cow;
use engines::{Engine, LIST_ENTRIES_MAX};
use vestal_core::store::Inline;
use vestal_core::*;

/// The most tasks of a recorded run.
pub const TASKS_MAX: usize = 8;

/// Why a recording could not be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// The bytes end too early, or hold a value that no recorder writes.
    Malformed,
    /// The scheduler refused what a world had told it when it was recorded.
    Refused,
}

/// Reads numbers off the front of a recording.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, ReplayError> {
        let (first, rest) = self.0.split_first().ok_or(ReplayError::Malformed)?;
        self.0 = rest;
        Ok(*first)
    }

    fn word(&mut self) -> Result<u32, ReplayError> {
        let (bytes, rest) = self
            .0
            .split_first_chunk::<4>()
            .ok_or(ReplayError::Malformed)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*bytes))
    }

    fn span(&mut self) -> Result<Duration, ReplayError> {
        Ok(Duration::from_nanos(u64::from(self.word()?)))
    }

    fn service(&mut self) -> Result<Service, ReplayError> {
        Ok(Service::from_nanos(u64::from(self.word()?)))
    }

    fn instant(&mut self) -> Result<Instant, ReplayError> {
        Ok(Instant::from_nanos(u64::from(self.word()?)))
    }

    fn job(&mut self) -> Result<JobId, ReplayError> {
        let task = TaskId(u16::from(self.byte()?));
        Ok(JobId {
            task,
            sequence: u64::from(self.word()?),
        })
    }

    fn task(&mut self, levels: LevelSet) -> Result<TaskConfiguration, ReplayError> {
        let criticality = Level(self.byte()?);
        let (period, deadline) = (self.span()?, self.span()?);
        let mut values = [Service::ZERO; model::LEVELS_MAX];
        for value in values.iter_mut().take(levels.count()) {
            *value = self.service()?;
        }
        let given = values.get(..levels.count()).ok_or(ReplayError::Malformed)?;
        let wcet = Wcet::new(given).map_err(|_| ReplayError::Malformed)?;
        let mut task =
            Task::new(criticality, period, deadline, wcet).map_err(|_| ReplayError::Malformed)?;
        let degraded = self.service()?;
        task.degraded = (!degraded.is_zero()).then_some(degraded);
        let priority = self.word()?;
        let on_miss = if self.byte()? == 0 {
            OnMiss::Continue
        } else {
            OnMiss::Abort
        };
        // Counted from 1; 0: there is none.
        let zero_slack = self.word()?.checked_sub(1).map(u64::from);
        let slices = SliceCount::new(u32::from(self.byte()?), &task);
        Ok(TaskConfiguration {
            on_miss,
            zero_slack: zero_slack.map(Duration::from_nanos),
            slices: slices.ok_or(ReplayError::Malformed)?,
            ..TaskConfiguration::new(task, priority)
        })
    }

    fn engine(&mut self) -> Result<Engine, ReplayError> {
        match self.byte()? {
            0 => self.one_cpu().map(Engine::One),
            number => Engine::built_in(number).ok_or(ReplayError::Malformed),
        }
    }

    fn one_cpu(&mut self) -> Result<Uniprocessor<Inline<LIST_ENTRIES_MAX>>, ReplayError> {
        let levels = LevelSet::new(usize::from(self.byte()?)).ok_or(ReplayError::Malformed)?;
        let enforcement = Enforcement::ALL.get(usize::from(self.byte()?));
        let enforcement = *enforcement.ok_or(ReplayError::Malformed)?;
        let exhaustion = match self.byte()? {
            0 => Exhaustion::Background,
            1 => Exhaustion::Abort,
            _ => Exhaustion::Continue,
        };
        let order = self.byte()?;
        let count = usize::from(self.byte()?);
        let first = self.task(levels)?;
        let mut tasks = [first; TASKS_MAX];
        for entry in tasks.iter_mut().take(count).skip(1) {
            *entry = self.task(levels)?;
        }
        let mut virtual_deadlines = [Duration::ZERO; TASKS_MAX];
        for entry in virtual_deadlines.iter_mut().take(count) {
            *entry = self.span()?;
        }
        let mut entries = [0; LIST_ENTRIES_MAX];
        let mut lists: [&[u32]; TASKS_MAX] = [&[]; TASKS_MAX];
        let mut rest = entries.as_mut_slice();
        for list in lists.iter_mut().take(count) {
            let length = usize::from(self.byte()?);
            let (own, others) = rest
                .split_at_mut_checked(length)
                .ok_or(ReplayError::Malformed)?;
            for entry in own.iter_mut() {
                *entry = self.word()?;
            }
            (*list, rest) = (own, others);
        }
        let virtual_deadlines = virtual_deadlines.get(..count);
        let lists = lists.map(Cow::Borrowed);
        let lists = lists.get(..count).ok_or(ReplayError::Malformed)?.into();
        let order = match order {
            0 => TaskOrder::FixedPriority,
            1 => TaskOrder::EarliestDeadline {
                virtual_deadlines: virtual_deadlines.ok_or(ReplayError::Malformed)?.into(),
 queues: DeadlineQueues::One,
            },
            2 => TaskOrder::ReusedLists { lists },
            _ => TaskOrder::RecomputedLists { lists },
        };
        let configuration = Configuration {
            tasks: tasks.get(..count).ok_or(ReplayError::Malformed)?,
            levels,
            enforcement,
            exhaustion,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        };
        Uniprocessor::with_store(&configuration, &order).map_err(|_| ReplayError::Malformed)
    }

    fn cpu(&mut self) -> Result<CpuId, ReplayError> {
        Ok(CpuId(u16::from(self.byte()?)))
    }

    fn fact(&mut self, kind: u8) -> Result<Fact, ReplayError> {
        Ok(match kind {
            1 => Fact::Released { job: self.job()? },
            2 => Fact::Charged {
                cpu: self.cpu()?,
                job: self.job()?,
                amount: self.service()?,
            },
            3 => Fact::Completed {
                cpu: self.cpu()?,
                job: self.job()?,
            },
            4 => Fact::Started {
                cpu: self.cpu()?,
                job: self.job()?,
            },
            5 => Fact::Stopped {
                cpu: self.cpu()?,
                job: self.job()?,
                why: StopReason::Preempted,
            },
            6 => Fact::Interrupt {
                device: DeviceId(u16::from(self.byte()?)),
                count: self.word()?,
            },
            _ => return Err(ReplayError::Malformed),
        })
    }
}

/// Replays every run of `recording` and hashes every plan.
///
/// # Errors
/// [`ReplayError`].
pub fn replay(recording: &[u8]) -> Result<PlanHash, ReplayError> {
    let mut reader = Reader(recording);
    let mut hash = PlanHash::EMPTY;
    while !reader.0.is_empty() {
        let mut engine = reader.engine()?;
        let scheduler = engine.scheduler();
        for _ in 0..reader.word()? {
            let at = reader.instant()?;
            match reader.byte()? {
                0 => {
                    let plan = scheduler.decide(at).map_err(|_| ReplayError::Refused)?;
                    hash.plan(at, &plan);
                }
                kind => {
                    let fact = reader.fact(kind)?;
                    scheduler
                        .apply(at, fact)
                        .map_err(|_| ReplayError::Refused)?;
                }
            }
        }
    }
    Ok(hash)
}
