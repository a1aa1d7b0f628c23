//! The kinds of records: a row for each, from which bytes and text are written and read.

use super::line::{Cell, Cells, Line};
use super::raw::{Byte, Raw};
use super::words::Field;
use super::{Edge, LineError, RecordError, What};
use vestal_core::{Budget, Event, Fact, Instant, JobId, Permit, Slot, Until, Wake, WakeReason};

/// Where a value stands, in bytes and in a line, and how it gets there.
trait Codec<T> {
    fn put(&self, value: T, raw: &mut Raw);
    fn take(&self, raw: &Raw) -> Result<T, RecordError>;
    fn show(&self, value: T, cells: &mut Cells);
    fn read(&self, line: &Line<'_>) -> Result<T, LineError>;
    /// The cell that is empty if there is no value.
    fn cell(&self) -> Cell;
}

/// One number.
struct At(Byte, Cell);

impl<T: Field> Codec<T> for At {
    #[inline]
    fn put(&self, value: T, raw: &mut Raw) {
        raw.set(self.0, value.number());
    }
    fn take(&self, raw: &Raw) -> Result<T, RecordError> {
        let number = raw.get(self.0);
        T::of(number).ok_or_else(|| raw.bad(T::NAME, number))
    }
    fn show(&self, value: T, cells: &mut Cells) {
        cells.show(self.1, value);
    }
    fn read(&self, line: &Line<'_>) -> Result<T, LineError> {
        line.read(self.1)
    }
    fn cell(&self) -> Cell {
        self.1
    }
}

/// The task and the number of a job.
struct Job;

impl Codec<JobId> for Job {
    #[inline]
    fn put(&self, job: JobId, raw: &mut Raw) {
        (raw.task, raw.sequence) = (job.task.0, job.sequence);
    }
    fn take(&self, raw: &Raw) -> Result<JobId, RecordError> {
        Ok(JobId {
            task: TASK.take(raw)?,
            sequence: raw.sequence,
        })
    }
    fn show(&self, job: JobId, cells: &mut Cells) {
        cells.show(Cell::Task, job.task);
        cells.show(Cell::Job, job.sequence);
    }
    fn read(&self, line: &Line<'_>) -> Result<JobId, LineError> {
        Ok(JobId {
            task: line.read(Cell::Task)?,
            sequence: line.read(Cell::Job)?,
        })
    }
    fn cell(&self) -> Cell {
        Cell::Task
    }
}

/// A flag, and the value if it is set.
struct Maybe<C>(Byte, C);

impl<T, C: Codec<T>> Codec<Option<T>> for Maybe<C> {
    #[inline]
    fn put(&self, value: Option<T>, raw: &mut Raw) {
        if let Some(value) = value {
            raw.set(self.0, 1);
            self.1.put(value, raw);
        }
    }
    fn take(&self, raw: &Raw) -> Result<Option<T>, RecordError> {
        let given: bool = At(self.0, Cell::Detail).take(raw)?;
        given.then(|| self.1.take(raw)).transpose()
    }
    fn show(&self, value: Option<T>, cells: &mut Cells) {
        if let Some(value) = value {
            self.1.show(value, cells);
        }
    }
    fn read(&self, line: &Line<'_>) -> Result<Option<T>, LineError> {
        let given = !line.is_empty(self.1.cell());
        given.then(|| self.1.read(line)).transpose()
    }
    fn cell(&self) -> Cell {
        self.1.cell()
    }
}

/// Until when: an instant, or none for an event.
struct End;

impl Codec<Until> for End {
    fn put(&self, until: Until, raw: &mut Raw) {
        LIMIT.put(until_when(until), raw);
    }
    fn take(&self, raw: &Raw) -> Result<Until, RecordError> {
        Ok(LIMIT.take(raw)?.map_or(Until::Event, Until::At))
    }
    fn show(&self, until: Until, cells: &mut Cells) {
        LIMIT.show(until_when(until), cells);
    }
    fn read(&self, line: &Line<'_>) -> Result<Until, LineError> {
        Ok(LIMIT.read(line)?.map_or(Until::Event, Until::At))
    }
    fn cell(&self) -> Cell {
        Cell::Value
    }
}

const fn until_when(until: Until) -> Option<Instant> {
    match until {
        Until::At(at) => Some(at),
        Until::Event => None,
    }
}

/// A value of several kinds, each with a number and a word.
pub(super) trait Kinds: Sized {
    /// Where the number stands, and what an error calls it.
    const NUMBER: (Byte, &'static str);

    /// Writes number and fields.
    fn put(self, raw: &mut Raw);
    /// Reads the fields; none if there is no kind of that number.
    fn take(number: u64, raw: &Raw) -> Result<Option<Self>, RecordError>;
    /// Writes word and fields.
    fn show(self, cells: &mut Cells);
    fn read(line: &Line<'_>) -> Result<Self, LineError>;
    /// What the kind is called.
    fn word(&self) -> &'static str;
}

/// One of several kinds within a record.
struct OneOf;

impl<T: Kinds> Codec<T> for OneOf {
    #[inline]
    fn put(&self, value: T, raw: &mut Raw) {
        value.put(raw);
    }
    fn take(&self, raw: &Raw) -> Result<T, RecordError> {
        let (byte, name) = T::NUMBER;
        let number = raw.get(byte);
        T::take(number, raw)?.ok_or_else(|| raw.bad(name, number))
    }
    fn show(&self, value: T, cells: &mut Cells) {
        value.show(cells);
    }
    fn read(&self, line: &Line<'_>) -> Result<T, LineError> {
        T::read(line)
    }
    fn cell(&self) -> Cell {
        Cell::Detail
    }
}

/// `Type, where the number stands, its name, where the word stands, what an error says was expected instead =>`, and
/// for each kind `number "word" (value) field: codec, ...;`, where the value is an expression and a pattern of its fields.
macro_rules! kinds {
    ($type:ty, $byte:expr, $name:literal, $cell:expr, $expected:literal $(, but $unlisted:pat)? =>
        $($number:literal $word:literal ($($value:tt)+) $($field:ident: $codec:expr),*;)*) => {
        impl Kinds for $type {
            const NUMBER: (Byte, &'static str) = ($byte, $name);

            #[inline]
            fn put(self, raw: &mut Raw) {
                match self {
                    $( $($value)+ => { raw.set($byte, $number); $( $codec.put($field, raw); )* } )*
                    $( $unlisted => {} )?
                }
            }
            fn take(number: u64, raw: &Raw) -> Result<Option<Self>, RecordError> {
                Ok(match number {
                    $( $number => { $( let $field = $codec.take(raw)?; )* Some($($value)+) } )*
                    _ => None,
                })
            }
            fn show(self, cells: &mut Cells) {
                match self {
                    $( $($value)+ => { cells.tag($cell, $word); $( $codec.show($field, cells); )* } )*
                    $( $unlisted => {} )?
                }
            }
            fn read(line: &Line<'_>) -> Result<Self, LineError> {
                match line.tag($cell) {
                    $( $word => { $( let $field = $codec.read(line)?; )* Ok($($value)+) } )*
                    _ => Err(line.error($cell, $expected)),
                }
            }
            #[allow(unused_variables, reason = "a pattern binds the fields, which the word does not need")]
            fn word(&self) -> &'static str {
                match *self {
                    $( $($value)+ => $word, )*
                    $( $unlisted => "", )?
                }
            }
        }
    };
}

const CPU: At = At(Byte::Cpu, Cell::Cpu);
const TASK: At = At(Byte::Task, Cell::Task);
const VALUE: At = At(Byte::Value, Cell::Value);
const SERVER: At = At(Byte::Value, Cell::Key("server"));
/// Up to where, or until when.
const LIMIT: Maybe<At> = Maybe(Byte::B, VALUE);

kinds! { What, Byte::Kind, "the kind", Cell::Kind, "a kind of record of this schema", but What::Observed(_) =>
    // What was reported to the scheduler, or seen.
    0x01 "release"      (What::Fact(Fact::Released { job })) job: Job;
    0x02 "complete"     (What::Fact(Fact::Completed { cpu, job })) cpu: CPU, job: Job;
    0x03 "charge"       (What::Fact(Fact::Charged { cpu, job, amount })) cpu: CPU, job: Job, amount: VALUE;
    0x04 "start"        (What::Fact(Fact::Started { cpu, job })) cpu: CPU, job: Job;
    0x05 "stop"         (What::Fact(Fact::Stopped { cpu, job, why })) cpu: CPU, job: Job, why: At(Byte::A, Cell::Detail);
    0x06 "timer"        (What::Fact(Fact::Timer));
    0x07 "idle"         (What::Fact(Fact::Idle { cpu })) cpu: CPU;
    0x08 "interrupt"    (What::Fact(Fact::Interrupt { device, count }))
        device: At(Byte::Value, Cell::Key("device")), count: At(Byte::Extra, Cell::Value);
    0x09 "wake"         (What::Fact(Fact::Woken { task, on_behalf_of })) task: TASK, on_behalf_of: Maybe(Byte::A, SERVER);
    0x0a "barrier"      (What::Fact(Fact::BarrierReached { cpu, barrier })) cpu: CPU, barrier: VALUE;
    0x0b "mode-request" (What::Fact(Fact::ModeRequested { level })) level: At(Byte::A, Cell::Key("level"));
    0x0c "cpu-open"     (What::Fact(Fact::CpuOpen { cpu, open: true })) cpu: CPU;
    0x0d "cpu-closed"   (What::Fact(Fact::CpuOpen { cpu, open: false })) cpu: CPU;

    // What it answered.
    0x10 "decide" (What::Decided { mode, slots, facts, hash })
        mode: At(Byte::A, Cell::Key("mode")), slots: At(Byte::Cpu, Cell::Key("slots")),
        facts: At(Byte::Sequence, Cell::Value), hash: At(Byte::Value, Cell::Hex("hash"));
    0x11 "slot"           (What::Slot { cpu, slot }) cpu: CPU, slot: OneOf;
    0x12 "wake-at"        (What::Wake(wake)) wake: OneOf;
    0x13 "permit"         (What::Permit { task, permit }) task: TASK, permit: OneOf;
    0x14 "refused"        (What::Refused(refusal)) refusal: At(Byte::A, Cell::Detail);
    0x15 "decide-refused" (What::DecisionRefused { refusal, now }) refusal: At(Byte::A, Cell::Detail), now: VALUE;

    0x16 "sequence" (What::Sequence { cpu, jobs, barrier })
        cpu: CPU, jobs: At(Byte::Sequence, Cell::Value), barrier: At(Byte::Value, Cell::Key("barrier"));
    0x17 "queued"         (What::Queued { cpu, job }) cpu: CPU, job: Job;

    0x18 "ghost-begin"    (What::Ghost { cpu, task, edge: Edge::Begin }) cpu: CPU, task: TASK;
    0x19 "ghost-end"      (What::Ghost { cpu, task, edge: Edge::End }) cpu: CPU, task: TASK;

    // Its notices.
    0x20 "mode" (What::Notice(Event::ModeChanged { from, to, cause }))
        from: At(Byte::A, Cell::Key("from")), to: At(Byte::B, Cell::Key("to")), cause: Maybe(Byte::C, Job);
    0x21 "overrun" (What::Notice(Event::Overrun { job, level, executed }))
        job: Job, level: At(Byte::A, Cell::Key("level")), executed: VALUE;
    0x22 "drop"           (What::Notice(Event::Dropped { job, why })) job: Job, why: At(Byte::A, Cell::Detail);
    0x23 "late"           (What::Notice(Event::Late { by })) by: VALUE;
    0x24 "depleted"       (What::Notice(Event::Depleted { server })) server: SERVER;
    0x25 "postponed"      (What::Notice(Event::Postponed { server, amount }))
        server: At(Byte::Extra, Cell::Key("server")), amount: VALUE;
    0x26 "frame-overrun"  (What::Notice(Event::FrameOverrun { frame })) frame: VALUE;
    0x27 "frames-skipped" (What::Notice(Event::FramesSkipped { first, count }))
        first: At(Byte::Value, Cell::Key("first")), count: At(Byte::Extra, Cell::Value);

    // What the world saw.
    0x30 "miss" (What::Miss { job, deadline, guaranteed }) job: Job, deadline: VALUE, guaranteed: At(Byte::A, Cell::Detail);
    0x31 "overhead-begin" (What::Overhead { cpu, mechanism, edge: Edge::Begin }) cpu: CPU, mechanism: At(Byte::AAndB, Cell::Detail);
    0x32 "overhead-end"   (What::Overhead { cpu, mechanism, edge: Edge::End }) cpu: CPU, mechanism: At(Byte::AAndB, Cell::Detail);
    0x33 "gap"            (What::Gap { cpu, length }) cpu: CPU, length: VALUE;
    0x34 "budget" (What::Budget { cpu, job, owner, remaining })
        cpu: CPU, job: Job, owner: At(Byte::AAndExtra, Cell::Key("owner")), remaining: VALUE;
    0x37 "dropped"        (What::Dropped { job, why }) job: Job, why: At(Byte::A, Cell::Detail);

    // About the recording.
    0x35 "lost"           (What::Lost { count }) count: VALUE;
    0x36 "end"            (What::End { facts }) facts: VALUE;
    0x38 "domain"         (What::Domain { domain }) domain: VALUE;
}

kinds! { Option<Slot>, Byte::AAndB, "the slot", Cell::Detail, "a slot" =>
    0x000 "idle"      (None);
    0x001 "unlimited" (Some(Slot { job, budget: None })) job: Job;
    0x101 ""          (Some(Slot { job, budget: Some(Budget { remaining, owner, on_exhaustion }) }))
        job: Job, remaining: VALUE, owner: At(Byte::Lower, Cell::Key("owner")),
        on_exhaustion: At(Byte::CAndUpper, Cell::Key("then"));
}

kinds! { Wake, Byte::A, "the reason", Cell::Detail, "a reason for waking" =>
    0 "deadline"      (Wake { at, why: WakeReason::Deadline(job) }) at: VALUE, job: Job;
    1 "replenishment" (Wake { at, why: WakeReason::Replenishment }) at: VALUE;
    2 "consumption"   (Wake { at, why: WakeReason::Consumption }) at: VALUE;
    3 "table-slot"    (Wake { at, why: WakeReason::TableSlot }) at: VALUE;
    4 "frame"         (Wake { at, why: WakeReason::Frame }) at: VALUE;
    5 "zero-slack"    (Wake { at, why: WakeReason::ZeroSlack(job) }) at: VALUE, job: Job;
}

kinds! { Permit, Byte::A, "the permit", Cell::Detail, "a permit" =>
    0 "run"          (Permit::Run { limit }) limit: LIMIT;
    1 "background"   (Permit::Below { limit }) limit: LIMIT;
    2 "dropped"      (Permit::Dropped { why }) why: At(Byte::B, Cell::Beside);
    3 "suspended"    (Permit::Suspended { until }) until: End;
    4 "not-admitted" (Permit::NotAdmitted);
    5 "demoted"      (Permit::Demoted);
}
