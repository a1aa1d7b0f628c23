//! `.pftrace`: a Perfetto trace, for <https://ui.perfetto.dev> and its trace processor.
//!
//! | track | what |
//! |---|---|
//! | a thread for each task | a slice for each execution interval (ended at preemptions), instants for releases, deadlines, overruns, misses and drops |
//! | `mode`, of several domains `mode NAME` | a slice while the mode is raised, an instant for each change |
//! | `budget NAME` | what is left of the budget, in nanoseconds |
//! | `ghost NAME` | a slice while the ghost of the task uses up its budget |
//! | `overhead CPU n` | a slice for each span of a mechanism; gaps of the machine |
//! | the CPUs | from `sched_switch` events made of the slices; not of a real run, whose threads the kernel's own trace shows |
//!
//! Field numbers are those of `protos/perfetto/trace` in Perfetto's repository.

use super::TraceWriter;
use super::proto::Message;
use crate::header::Header;
use crate::record::words::drop_word;
use crate::record::{DomainId, Edge, Record};
use crate::timeline::{Ending, Item, Timeline};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use vestal_core::{CpuId, Instant, JobId, Level, StopReason, TaskId};

/// The process whose threads the tasks are, and the first of these threads less one.
const PROCESS: u64 = 1000;
/// Beside the numbers of real threads, which are all below: the first that is given to a task whose thread is not known.
const NO_THREAD: u64 = 1 << 22;

const PROCESS_TRACK: u64 = 1;
const MODE_TRACK: u64 = 2;
const TASK_TRACKS: u64 = 1 << 20;
const BUDGET_TRACKS: u64 = 2 << 20;
const OVERHEAD_TRACKS: u64 = 3 << 20;
/// Of several domains.
const MODE_TRACKS: u64 = 4 << 20;
const GHOST_TRACKS: u64 = 5 << 20;

/// Names of fields, by message.
mod field {
    pub(super) const TRACE_PACKET: u32 = 1;
    pub(super) mod packet {
        pub(crate) const FTRACE_EVENTS: u32 = 1;
        pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
        pub(crate) const TIMESTAMP: u32 = 8;
        pub(crate) const SEQUENCE_ID: u32 = 10;
        pub(crate) const TRACK_EVENT: u32 = 11;
        pub(crate) const SEQUENCE_FLAGS: u32 = 13;
        pub(crate) const TRACK_DESCRIPTOR: u32 = 60;
    }
    pub(super) mod descriptor {
        pub(crate) const UUID: u32 = 1;
        pub(crate) const NAME: u32 = 2;
        pub(crate) const PROCESS: u32 = 3;
        pub(crate) const THREAD: u32 = 4;
        pub(crate) const PARENT: u32 = 5;
        pub(crate) const COUNTER: u32 = 8;
    }
    pub(super) mod event {
        pub(crate) const ANNOTATION: u32 = 4;
        pub(crate) const TYPE: u32 = 9;
        pub(crate) const TRACK: u32 = 11;
        pub(crate) const NAME: u32 = 23;
        pub(crate) const COUNTER_VALUE: u32 = 30;
    }
}

/// `BuiltinClock`. Where a packet names no clock, its time is that of `BOOTTIME`, and so is that of the kernel's events.
mod clock {
    pub(super) const REALTIME: u64 = 1;
    pub(super) const MONOTONIC: u64 = 3;
    pub(super) const BOOTTIME: u64 = 6;
}

/// `TrackEvent.Type`.
#[derive(Clone, Copy)]
enum Kind {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// A job that left a CPU, until it is known who comes next.
#[derive(Clone, Copy)]
struct Leaving {
    at: Instant,
    job: JobId,
    /// As in `sched_switch`: 0 runnable, 1 sleeping, 2 blocked.
    state: u64,
}

pub(super) struct Writer<W: Write> {
    header: Header,
    timeline: Timeline,
    out: W,
    leaving: BTreeMap<CpuId, Leaving>,
    /// Tracks that are described already.
    described: BTreeSet<u64>,
    /// The domains in which the slice of a raised mode has begun.
    raised: BTreeSet<DomainId>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(header: &Header, out: W) -> io::Result<Self> {
        let mut writer = Self {
            header: header.clone(),
            timeline: Timeline::new(header),
            out,
            leaving: BTreeMap::new(),
            described: BTreeSet::new(),
            raised: BTreeSet::new(),
        };
        writer.describe()?;
        Ok(writer)
    }

    /// One packet of the only sequence.
    fn packet(&mut self, packet: Message) -> io::Result<()> {
        let packet = packet.number(field::packet::SEQUENCE_ID, 1);
        let head = Message::new().head(field::TRACE_PACKET, packet.bytes().len());
        self.out.write_all(head.bytes())?;
        self.out.write_all(packet.bytes())
    }

    /// An instant as Perfetto has it: of a recording of a real machine by the clock that its kernel traces have.
    fn timestamp(&self, at: Instant) -> u64 {
        let base = self.header.origin.as_ref();
        let base = base.map_or(0, |origin| origin.clock.boottime);
        base.saturating_add(at.as_nanos())
    }

    fn process(&self) -> u64 {
        let origin = self.header.origin.as_ref();
        origin.map_or(PROCESS, |origin| u64::from(origin.process))
    }

    /// The thread of a task: that which executed its jobs, if there is such a one, else one of a number that no thread has.
    fn thread(&self, task: TaskId) -> u64 {
        let Some(origin) = &self.header.origin else {
            return PROCESS + 1 + u64::from(task.0);
        };
        let mut threads = origin.threads.iter();
        let own = threads.find(|thread| thread.task == Some(task));
        own.map_or(NO_THREAD + u64::from(task.0), |thread| {
            u64::from(thread.tid)
        })
    }

    /// What the clocks showed at instant 0, by which a recording of the kernel in another clock is put beside this one.
    fn clocks(&mut self) -> io::Result<()> {
        let Some(base) = self.header.origin.as_ref().map(|origin| origin.clock) else {
            return Ok(());
        };
        let readings = [
            (clock::BOOTTIME, base.boottime),
            (clock::MONOTONIC, base.monotonic),
            (clock::REALTIME, base.realtime),
        ];
        let snapshot = readings
            .iter()
            .fold(Message::new(), |all, &(clock, reading)| {
                all.message(1, &Message::new().number(1, clock).number(2, reading))
            });
        let snapshot = snapshot.number(2, clock::BOOTTIME);
        let packet = Message::new()
            .number(field::packet::TIMESTAMP, base.boottime)
            .message(field::packet::CLOCK_SNAPSHOT, &snapshot);
        self.packet(packet)
    }

    fn descriptor(&mut self, descriptor: &Message) -> io::Result<()> {
        self.packet(Message::new().message(field::packet::TRACK_DESCRIPTOR, descriptor))
    }

    fn describe(&mut self) -> io::Result<()> {
        // The first packet says that nothing came before it.
        let name = format!("{} ({})", self.header.policy, self.header.world.word());
        let process = Message::new().number(1, self.process()).text(6, &name);
        let descriptor = Message::new()
            .number(field::descriptor::UUID, PROCESS_TRACK)
            .message(field::descriptor::PROCESS, &process);
        self.packet(
            Message::new()
                .number(field::packet::SEQUENCE_FLAGS, 1)
                .message(field::packet::TRACK_DESCRIPTOR, &descriptor),
        )?;
        self.clocks()?;
        for domain in self.header.domain_ids() {
            let name = match self.header.domain_count() {
                1 => "mode".to_owned(),
                _ => format!("mode {}", self.header.domain_name(domain)),
            };
            let mode = Message::new()
                .number(field::descriptor::UUID, self.mode_track(domain))
                .text(field::descriptor::NAME, &name)
                .number(field::descriptor::PARENT, PROCESS_TRACK);
            self.descriptor(&mode)?;
        }
        for number in (0..=u16::MAX).take(self.header.tasks.len()) {
            self.describe_task(TaskId(number))?;
        }
        Ok(())
    }

    fn mode_track(&self, domain: DomainId) -> u64 {
        match self.header.domain_count() {
            1 => MODE_TRACK,
            _ => track(MODE_TRACKS, domain.0),
        }
    }

    fn task_name(&self, task: TaskId) -> Cow<'_, str> {
        match self.header.tasks.get(task.index()) {
            Some(task) => Cow::Borrowed(&task.name),
            None => Cow::Owned(format!("task {}", task.0)),
        }
    }

    /// Describes the tracks of a task before they are used. A task that the header does not name is
    /// described when it first appears.
    fn describe_task(&mut self, task: TaskId) -> io::Result<()> {
        if !self.described.insert(track(TASK_TRACKS, task.0)) {
            return Ok(());
        }
        let name = self.task_name(task).into_owned();
        let level = self.header.tasks.get(task.index());
        let level = level.map_or_else(String::new, |task| {
            format!(" [{}]", self.header.level_name(task.criticality))
        });
        let descriptor = Message::new()
            .number(1, self.process())
            .number(2, self.thread(task))
            .text(5, &format!("{name}{level}"));
        let descriptor = Message::new()
            .number(field::descriptor::UUID, track(TASK_TRACKS, task.0))
            .number(field::descriptor::PARENT, PROCESS_TRACK)
            .message(field::descriptor::THREAD, &descriptor);
        self.descriptor(&descriptor)?;
        let counter = Message::new().number(3, 1);
        let descriptor = Message::new()
            .number(field::descriptor::UUID, track(BUDGET_TRACKS, task.0))
            .text(field::descriptor::NAME, &format!("budget {name}"))
            .number(field::descriptor::PARENT, PROCESS_TRACK)
            .message(field::descriptor::COUNTER, &counter);
        self.descriptor(&descriptor)
    }

    fn event(
        &mut self,
        at: Instant,
        kind: Kind,
        track: u64,
        change: impl FnOnce(Message) -> Message,
    ) -> io::Result<()> {
        let event = Message::new()
            .number(field::event::TYPE, kind as u64)
            .number(field::event::TRACK, track);
        let packet = Message::new()
            .number(field::packet::TIMESTAMP, self.timestamp(at))
            .message(field::packet::TRACK_EVENT, &change(event));
        self.packet(packet)
    }

    fn mark(&mut self, at: Instant, track: u64, name: &str) -> io::Result<()> {
        self.event(at, Kind::Instant, track, |event| {
            event.text(field::event::NAME, name)
        })
    }

    fn mark_job(&mut self, at: Instant, job: JobId, name: &str) -> io::Result<()> {
        self.event(at, Kind::Instant, track(TASK_TRACKS, job.task.0), |event| {
            annotate(event.text(field::event::NAME, name), "job", job.sequence)
        })
    }

    fn item(&mut self, at: Instant, item: Item) -> io::Result<()> {
        if let Some(task) = task_of(&item) {
            self.describe_task(task)?;
        }
        // Who left earlier and had no successor left the CPU idle.
        while let Some((cpu, leaving)) = self
            .leaving
            .iter()
            .find(|(_, leaving)| leaving.at < at)
            .map(|(cpu, leaving)| (*cpu, *leaving))
        {
            self.leaving.remove(&cpu);
            self.switch(leaving.at, cpu, Some(leaving), None)?;
        }
        match item {
            Item::Begin { cpu, job, resumed } => self.begin(at, cpu, job, resumed),
            Item::Finish { cpu, job, why } => {
                let state = match why {
                    Ending::Completed | Ending::Stopped(StopReason::Cancelled) => 1,
                    Ending::Stopped(StopReason::Blocked) => 2,
                    Ending::Stopped(StopReason::Preempted) | Ending::Recording => 0,
                };
                self.leaving.insert(cpu, Leaving { at, job, state });
                let track = track(TASK_TRACKS, job.task.0);
                self.event(at, Kind::End, track, |event| event)
            }
            Item::Release { job, .. } => self.mark_job(at, job, "release"),
            Item::Deadline { job } => self.mark_job(at, job, "deadline"),
            Item::Miss { job, .. } => self.mark_job(at, job, "deadline missed"),
            Item::Overrun { job, level } => {
                let name = format!("overrun of C({})", self.header.level_name(level));
                self.mark_job(at, job, &name)
            }
            Item::Drop { job, why } => {
                self.mark_job(at, job, &format!("dropped: {}", drop_word(why)))
            }
            Item::Mode { domain, from, to } => self.mode(at, domain, (from, to)),
            Item::Budget { task, remaining } => {
                let track = track(BUDGET_TRACKS, task.0);
                self.event(at, Kind::Counter, track, |event| {
                    event.number(field::event::COUNTER_VALUE, remaining.as_nanos())
                })
            }
            Item::Overhead {
                cpu,
                mechanism,
                edge,
            } => {
                let track = self.overhead_track(cpu)?;
                match edge {
                    Edge::Begin => self.event(at, Kind::Begin, track, |event| {
                        event.text(field::event::NAME, mechanism.word())
                    }),
                    Edge::End => self.event(at, Kind::End, track, |event| event),
                }
            }
            Item::Gap { cpu, length } => {
                let track = self.overhead_track(cpu)?;
                self.event(at, Kind::Instant, track, |event| {
                    let event = event.text(field::event::NAME, "gap ends");
                    annotate(event, "length_ns", length.as_nanos())
                })
            }
            Item::Ghost { cpu, task, edge } => self.ghost(at, (cpu, task), edge),
            Item::Lost { count } => self.mark(at, PROCESS_TRACK, &format!("{count} records lost")),
            Item::End => self.end(at),
        }
    }

    fn begin(&mut self, at: Instant, cpu: CpuId, job: JobId, resumed: bool) -> io::Result<()> {
        let leaving = self.leaving.remove(&cpu);
        // The next job of the same task runs in the same thread: that is no switch.
        if leaving.is_none_or(|leaving| leaving.job.task != job.task) {
            self.switch(at, cpu, leaving, Some(job.task))?;
        }
        let track = track(TASK_TRACKS, job.task.0);
        self.event(at, Kind::Begin, track, |event| {
            let event = event.text(field::event::NAME, &format!("job {}", job.sequence));
            let event = annotate(event, "cpu", u64::from(cpu.0));
            annotate(event, "resumed", u64::from(resumed))
        })
    }

    fn mode(
        &mut self,
        at: Instant,
        domain: DomainId,
        (from, to): (Level, Level),
    ) -> io::Result<()> {
        let (before, after) = (self.header.level_name(from), self.header.level_name(to));
        let track = self.mode_track(domain);
        self.mark(at, track, &format!("{before} to {after}"))?;
        if self.raised.remove(&domain) {
            self.event(at, Kind::End, track, |event| event)?;
        }
        if to > Level::LOWEST {
            self.raised.insert(domain);
            self.event(at, Kind::Begin, track, |event| {
                event.text(field::event::NAME, &after)
            })?;
        }
        Ok(())
    }

    fn end(&mut self, at: Instant) -> io::Result<()> {
        for (cpu, leaving) in std::mem::take(&mut self.leaving) {
            self.switch(leaving.at, cpu, Some(leaving), None)?;
        }
        for domain in std::mem::take(&mut self.raised) {
            let track = self.mode_track(domain);
            self.event(at, Kind::End, track, |event| event)?;
        }
        Ok(())
    }

    /// On a track of its own: what executes meanwhile is that of others, or of the task's next job.
    fn ghost(&mut self, at: Instant, (cpu, task): (CpuId, TaskId), edge: Edge) -> io::Result<()> {
        let track = track(GHOST_TRACKS, task.0);
        if self.described.insert(track) {
            let descriptor = Message::new()
                .number(field::descriptor::UUID, track)
                .text(
                    field::descriptor::NAME,
                    &format!("ghost {}", self.task_name(task)),
                )
                .number(field::descriptor::PARENT, PROCESS_TRACK);
            self.descriptor(&descriptor)?;
        }
        match edge {
            Edge::Begin => self.event(at, Kind::Begin, track, |event| {
                let event = event.text(field::event::NAME, "ghost");
                annotate(event, "cpu", u64::from(cpu.0))
            }),
            Edge::End => self.event(at, Kind::End, track, |event| event),
        }
    }

    fn overhead_track(&mut self, cpu: CpuId) -> io::Result<u64> {
        let track = track(OVERHEAD_TRACKS, cpu.0);
        if self.described.insert(track) {
            let descriptor = Message::new()
                .number(field::descriptor::UUID, track)
                .text(field::descriptor::NAME, &format!("overhead CPU {}", cpu.0))
                .number(field::descriptor::PARENT, PROCESS_TRACK);
            self.descriptor(&descriptor)?;
        }
        Ok(track)
    }

    /// A `sched_switch` event; no thread is the idle thread.
    fn switch(
        &mut self,
        at: Instant,
        cpu: CpuId,
        prev: Option<Leaving>,
        next: Option<TaskId>,
    ) -> io::Result<()> {
        // The kernel's own trace, which lies beside this one, has those of the same threads, on the CPUs of the machine.
        if self.header.origin.is_some() {
            return Ok(());
        }
        let comm = |task: Option<TaskId>| match task {
            Some(task) => self.task_name(task),
            None => Cow::Borrowed("swapper"),
        };
        let priority = |task: Option<TaskId>| if task.is_some() { 50 } else { 120 };
        let before = prev.map(|prev| prev.job.task);
        let thread = |task: Option<TaskId>| task.map_or(0, |task| self.thread(task));
        let switch = Message::new()
            .text(1, &comm(before))
            .number(2, thread(before))
            .number(3, priority(before))
            .number(4, prev.map_or(0, |prev| prev.state))
            .text(5, &comm(next))
            .number(6, thread(next))
            .number(7, priority(next));
        let event = Message::new()
            .number(1, self.timestamp(at))
            .number(2, thread(before))
            .message(4, &switch);
        let bundle = Message::new()
            .number(1, u64::from(cpu.0))
            .message(2, &event);
        self.packet(Message::new().message(field::packet::FTRACE_EVENTS, &bundle))
    }
}

impl<W: Write + Send> TraceWriter for Writer<W> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        let mut items = self.timeline.feed(record).into_iter();
        items.try_for_each(|(at, item)| self.item(at, item))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let mut items = self.timeline.end().into_iter();
        items.try_for_each(|(at, item)| self.item(at, item))?;
        self.out.flush()
    }
}

/// The task on whose tracks an item is shown.
const fn task_of(item: &Item) -> Option<TaskId> {
    match item {
        Item::Release { job, .. }
        | Item::Deadline { job }
        | Item::Begin { job, .. }
        | Item::Finish { job, .. }
        | Item::Overrun { job, .. }
        | Item::Miss { job, .. }
        | Item::Drop { job, .. } => Some(job.task),
        Item::Budget { task, .. } => Some(*task),
        Item::Mode { .. }
        | Item::Overhead { .. }
        | Item::Gap { .. }
        | Item::Ghost { .. }
        | Item::Lost { .. }
        | Item::End => None,
    }
}

fn track(tracks: u64, number: u16) -> u64 {
    tracks + u64::from(number)
}

/// A name and a number that the viewer shows with an event.
fn annotate(event: Message, name: &str, value: u64) -> Message {
    let annotation = Message::new().text(10, name).number(3, value);
    event.message(field::event::ANNOTATION, &annotation)
}
