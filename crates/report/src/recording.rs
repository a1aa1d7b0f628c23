//! A trace, reduced to what can be drawn: jobs, slices and marks by task, modes, gaps.
//!
//! What is drawn is bounded by a number of items; the figures are exact over the whole trace. Memory
//! is about 40 bytes for an item and 8 for each further job.

use crate::tally::{Distribution, Tally};
use std::collections::BTreeMap;
use vestal_core::{CpuId, Instant, JobId, Level, StopReason, TaskId};
use vestal_result::run::{Cost, CpuRow, Jobs, ModeChange, TaskRow};
use vestal_trace::header::Header;
use vestal_trace::record::{DomainId, Edge, Mechanism, Record};
use vestal_trace::timeline::{Ending, Item, Timeline};

/// How many slices, jobs, marks and mode changes of a trace a page holds; about 10 bytes each.
pub const ITEMS_MAX: usize = 1_000_000;

/// Jobs of a task that arrived and did not end; of what is more no response times are known. As many as a
/// simulation keeps.
const OPEN_MAX: usize = 1 << 20;

/// What [`Job::flags`] says.
pub(crate) const DROPPED: u8 = 1;
pub(crate) const MISSED: u8 = 2;
pub(crate) const OVERRAN: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) sequence: u64,
    pub(crate) release: u64,
    pub(crate) response: Option<u64>,
    pub(crate) flags: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) cpu: u16,
    pub(crate) why: u8,
    /// The position of its job; none if its release was not recorded.
    pub(crate) job: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: u64,
    /// One of the flags.
    pub(crate) kind: u8,
    pub(crate) job: Option<u32>,
}

/// For how long the ghost of a task used up its budget on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ghost {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) cpu: u16,
}

/// One task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) jobs: Vec<Job>,
    pub(crate) slices: Vec<Slice>,
    pub(crate) ghosts: Vec<Ghost>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) figures: TaskRow,
    pub(crate) responses: Distribution,
    /// Jobs to come to an end: when they arrived, and their position.
    open: BTreeMap<u64, (u64, Option<u32>)>,
    tally: Tally,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) to: u64,
    pub(crate) length: u64,
    pub(crate) cpu: u16,
}

/// A trace as the page shows it.
#[derive(Clone, Debug)]
pub struct Recording {
    pub(crate) header: Header,
    pub(crate) rows: Vec<Row>,
    /// For each domain from when on which mode.
    pub(crate) modes: Vec<Vec<(u64, Level)>>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// From when on nothing is drawn, because there were too many items.
    pub(crate) cut: Option<u64>,
    pub(crate) lost: u64,
    pub(crate) jobs: Jobs,
    pub(crate) changes: Vec<ModeChange>,
    pub(crate) cpus: Vec<CpuRow>,
    pub(crate) overhead: Vec<(String, Cost)>,
}

/// Makes a [`Recording`] of records.
#[derive(Debug)]
pub struct Collector {
    timeline: Timeline,
    recording: Recording,
    begun: bool,
    /// The instant of the record at hand. Where records of several threads are not in order, the
    /// timeline moves a late one to its clock; response times are between the instants themselves.
    own: Instant,
    items: usize,
    items_max: usize,
    running: BTreeMap<CpuId, (JobId, u64)>,
    /// By task, since when its ghost is there.
    haunting: BTreeMap<TaskId, u64>,
    busy: BTreeMap<CpuId, CpuRow>,
    spans: Vec<(CpuId, Mechanism, u64)>,
    costs: Vec<(Mechanism, Tally)>,
}

/// The most mode changes that are listed; the drawing has all of them.
const CHANGES_MAX: usize = 1000;

impl Collector {
    /// A collector that keeps at most `items_max` things to draw.
    #[must_use]
    pub fn new(header: &Header, items_max: usize) -> Self {
        let row = |name: &String| Row {
            figures: TaskRow {
                name: name.clone(),
                ..TaskRow::default()
            },
            ..Row::default()
        };
        let recording = Recording {
            rows: header.tasks.iter().map(|task| row(&task.name)).collect(),
            header: header.clone(),
            modes: vec![Vec::new(); header.domain_count()],
            gaps: Vec::new(),
            first: 0,
            last: 0,
            cut: None,
            lost: 0,
            jobs: Jobs::default(),
            changes: Vec::new(),
            cpus: Vec::new(),
            overhead: Vec::new(),
        };
        Self {
            timeline: Timeline::new(header),
            recording,
            begun: false,
            own: Instant::EPOCH,
            items: 0,
            items_max,
            running: BTreeMap::new(),
            haunting: BTreeMap::new(),
            busy: BTreeMap::new(),
            spans: Vec::new(),
            costs: Vec::new(),
        }
    }

    /// Takes in a record.
    pub fn feed(&mut self, record: &Record) {
        if !std::mem::replace(&mut self.begun, true) {
            self.recording.first = record.at.as_nanos();
        }
        self.own = record.at;
        for (at, item) in self.timeline.feed(record) {
            self.take(at, item);
        }
    }

    /// The recording of what was taken in.
    #[must_use]
    pub fn finish(mut self) -> Recording {
        for (at, item) in self.timeline.end() {
            self.take(at, item);
        }
        let mut recording = self.recording;
        recording.last = self.timeline.clock().as_nanos().max(recording.first);
        // A run that begins soon after its epoch is shown from its epoch on.
        if recording.first <= (recording.last - recording.first) / 16 {
            recording.first = 0;
        }
        for row in &mut recording.rows {
            row.responses = std::mem::take(&mut row.tally).distribution();
            row.figures.response_ns = row.responses.spread;
            row.marks.sort_by_key(|mark| mark.at);
            let (sum, figures) = (&mut recording.jobs, &row.figures);
            sum.released += figures.released;
            sum.completed += figures.completed;
            sum.dropped += figures.dropped;
            sum.missed += figures.missed;
        }
        recording.cpus = self.busy.into_values().collect();
        let costs = self.costs.into_iter().map(|(mechanism, tally)| {
            let found = tally.distribution();
            let cost = Cost {
                count: found.count,
                mean: found.spread.mean.map(|mean| mean as f64),
                p99: found.spread.p99,
                max: found.spread.max,
                ..Cost::default()
            };
            (name_of(mechanism), cost)
        });
        recording.overhead = costs.collect();
        recording
    }

    /// Whether one more item may be drawn.
    fn room(&mut self, at: Instant) -> bool {
        if self.recording.cut.is_some() {
            return false;
        }
        if self.items >= self.items_max {
            self.recording.cut = Some(at.as_nanos());
            return false;
        }
        self.items += 1;
        true
    }

    fn take(&mut self, at: Instant, item: Item) {
        let now = at.as_nanos();
        match item {
            Item::Release { job, .. } => self.release(at, job),
            Item::Begin { cpu, job, .. } => {
                self.running.insert(cpu, (job, now));
                self.cpu(cpu).switches += 1;
            }
            Item::Finish { cpu, job, why } => self.finish_slice(at, cpu, job, why),
            Item::Overrun { job, .. } => {
                self.mark(at, now, job, OVERRAN);
                self.figures(job, |task| task.overruns += 1);
            }
            Item::Drop { job, .. } => {
                self.mark(at, now, job, DROPPED);
                self.figures(job, |task| task.dropped += 1);
            }
            Item::Miss { job, deadline } => {
                if self.recording.header.judges_misses {
                    self.miss(at, deadline.as_nanos().min(now), job);
                }
            }
            Item::Mode { domain, from, to } => self.mode(at, domain, (from, to)),
            Item::Overhead {
                cpu,
                mechanism,
                edge,
            } => self.span(now, cpu, mechanism, edge),
            Item::Gap { cpu, length } => {
                if self.room(at) {
                    self.recording.gaps.push(Gap {
                        to: now,
                        length: length.as_nanos(),
                        cpu: cpu.0,
                    });
                }
            }
            Item::Lost { count } => {
                self.recording.lost = self.recording.lost.saturating_add(count);
            }
            Item::Ghost { cpu, task, edge } => self.ghost(at, (cpu, task), edge),
            Item::Deadline { .. } | Item::Budget { .. } | Item::End => {}
        }
    }

    fn ghost(&mut self, at: Instant, (cpu, task): (CpuId, TaskId), edge: Edge) {
        let to = at.as_nanos();
        let from = match edge {
            Edge::Begin => {
                self.haunting.insert(task, to);
                return;
            }
            Edge::End => self.haunting.remove(&task).unwrap_or(to),
        };
        if to > from
            && self.room(at)
            && let Some(row) = self.recording.rows.get_mut(task.index())
        {
            let cpu = cpu.0;
            row.ghosts.push(Ghost { from, to, cpu });
        }
    }

    fn row(&mut self, job: JobId) -> Option<&mut Row> {
        self.recording.rows.get_mut(job.task.index())
    }

    fn figures(&mut self, job: JobId, change: impl FnOnce(&mut TaskRow)) {
        if let Some(row) = self.row(job) {
            change(&mut row.figures);
        }
    }

    fn cpu(&mut self, cpu: CpuId) -> &mut CpuRow {
        self.busy.entry(cpu).or_insert(CpuRow {
            cpu: cpu.0,
            ..CpuRow::default()
        })
    }

    fn release(&mut self, at: Instant, job: JobId) {
        let room = self.room(at);
        let release = self.own.as_nanos();
        let Some(row) = self.row(job) else { return };
        row.figures.released += 1;
        let position = room.then_some(row.jobs.len() as u32);
        if room {
            row.jobs.push(Job {
                sequence: job.sequence,
                release,
                response: None,
                flags: 0,
            });
        }
        row.open.insert(job.sequence, (release, position));
        if row.open.len() > OPEN_MAX {
            row.open.pop_first();
        }
    }

    fn finish_slice(&mut self, at: Instant, cpu: CpuId, job: JobId, why: Ending) {
        let to = at.as_nanos();
        if let Some((running, from)) = self.running.remove(&cpu)
            && running == job
            && to > from
        {
            let busy = &mut self.cpu(cpu).busy_ns;
            *busy = busy.saturating_add(to - from);
            if self.room(at) {
                let position = self.position(job);
                let (cpu, why) = (cpu.0, code_of(why));
                if let Some(row) = self.row(job) {
                    row.slices.push(Slice {
                        from,
                        to,
                        cpu,
                        why,
                        job: position,
                    });
                }
            }
        }
        match why {
            Ending::Completed => self.complete(at, job),
            Ending::Stopped(StopReason::Preempted) => {
                self.figures(job, |task| task.preemptions += 1);
                self.cpu(cpu).preemptions += 1;
            }
            Ending::Stopped(StopReason::Blocked | StopReason::Cancelled) | Ending::Recording => {}
        }
    }

    fn complete(&mut self, at: Instant, job: JobId) {
        let (header, own) = (&self.recording.header, self.own);
        let judged = header.judges_misses;
        let deadline = header.tasks.get(job.task.index()).map(|task| task.deadline);
        let Some(row) = self.row(job) else { return };
        row.figures.completed += 1;
        let Some((release, position)) = row.open.remove(&job.sequence) else {
            return;
        };
        let response = own.as_nanos().saturating_sub(release);
        row.tally.add(response);
        if let Some(job) = position.and_then(|position| row.jobs.get_mut(position as usize)) {
            job.response = Some(response);
        }
        if let Some(deadline) = deadline
            && !judged
            && !deadline.is_zero()
            && response > deadline.as_nanos()
        {
            let due = release.saturating_add(deadline.as_nanos());
            self.miss(at, due, job);
        }
    }

    fn miss(&mut self, at: Instant, due: u64, job: JobId) {
        self.mark(at, due, job, MISSED);
        self.figures(job, |task| task.missed += 1);
    }

    /// The position of a job; it may have ended already.
    fn position(&mut self, job: JobId) -> Option<u32> {
        let row = self.row(job)?;
        let found = row
            .jobs
            .binary_search_by_key(&job.sequence, |job| job.sequence);
        found.ok().map(|position| position as u32)
    }

    fn mark(&mut self, now: Instant, at: u64, job: JobId, kind: u8) {
        let position = self.position(job);
        let room = self.room(now);
        let Some(row) = self.row(job) else { return };
        if let Some(job) = position.and_then(|position| row.jobs.get_mut(position as usize)) {
            job.flags |= kind;
        }
        if room {
            row.marks.push(Mark {
                at,
                kind,
                job: position,
            });
        }
    }

    fn mode(&mut self, at: Instant, domain: DomainId, (from, to): (Level, Level)) {
        if self.recording.changes.len() < CHANGES_MAX {
            let header = &self.recording.header;
            let name = |level| header.level_name(level);
            let several = header.domain_count() > 1;
            let change = ModeChange {
                at_ns: at.as_nanos(),
                from: name(from),
                to: name(to),
                cause: None,
                cpu: header.cpu_of(domain).filter(|_| several).map(|cpu| cpu.0),
            };
            self.recording.changes.push(change);
        }
        if self.room(at)
            && let Some(modes) = self.recording.modes.get_mut(domain.index())
        {
            modes.push((at.as_nanos(), to));
        }
    }

    fn span(&mut self, now: u64, cpu: CpuId, mechanism: Mechanism, edge: Edge) {
        match edge {
            Edge::Begin => self.spans.push((cpu, mechanism, now)),
            Edge::End => {
                let same = |open: &(CpuId, Mechanism, u64)| (open.0, open.1) == (cpu, mechanism);
                let Some(position) = self.spans.iter().rposition(same) else {
                    return;
                };
                let (_, _, from) = self.spans.remove(position);
                let known = self.costs.iter().position(|cost| cost.0 == mechanism);
                let position = known.unwrap_or_else(|| {
                    self.costs.push((mechanism, Tally::default()));
                    self.costs.len() - 1
                });
                if let Some((_, tally)) = self.costs.get_mut(position) {
                    tally.add(now.saturating_sub(from));
                }
            }
        }
    }
}

/// How the page learns why a slice ends.
const fn code_of(why: Ending) -> u8 {
    match why {
        Ending::Completed => 0,
        Ending::Stopped(StopReason::Preempted) => 1,
        Ending::Stopped(StopReason::Blocked) => 2,
        Ending::Stopped(StopReason::Cancelled) => 3,
        Ending::Recording => 4,
    }
}

/// What a mechanism is called; a world's own ones differ by number.
fn name_of(mechanism: Mechanism) -> String {
    let word = mechanism.word();
    if let Mechanism::Other(number) = mechanism {
        format!("{word} {number}")
    } else {
        word.to_owned()
    }
}
