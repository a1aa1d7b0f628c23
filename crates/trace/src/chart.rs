//! A bounded picture of a window of a run: what the Gantt charts are drawn from.

use crate::header::{Header, TaskInfo};
use crate::record::{DomainId, Edge, Record};
use crate::timeline::{Ending, Item, Timeline};
use std::collections::{BTreeMap, BTreeSet};
use vestal_core::{CpuId, Duration, Instant, JobId, Level, TaskId};

/// An interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its first instant.
    pub from: Instant,
    /// Its last instant.
    pub to: Instant,
}

impl Window {
    /// The whole run.
    pub const ALL: Self = Self {
        from: Instant::EPOCH,
        to: Instant::HORIZON,
    };

    /// How long it is.
    #[must_use]
    pub const fn length(self) -> Duration {
        self.to.saturating_since(self.from)
    }
}

/// A slice of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The job.
    pub job: JobId,
    /// Where.
    pub cpu: CpuId,
    /// From when.
    pub from: Instant,
    /// Until when.
    pub to: Instant,
    /// Why it ends; `None` if it goes on after the window.
    pub why: Option<Ending>,
}

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A job arrived.
    Release,
    /// A deadline was reached; `at_release`: another job of the task arrived at the same instant.
    Deadline {
        /// Whether the arrow has to stand aside.
        at_release: bool,
    },
    /// A job used up a limit.
    Overrun,
    /// A job was late; the mark stands at its deadline.
    Miss,
    /// A job was dropped.
    Drop,
}

/// While the ghost of a task uses up its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ghost {
    /// Where.
    pub cpu: CpuId,
    /// From when.
    pub from: Instant,
    /// Until when.
    pub to: Instant,
}

/// One task of a chart.
#[derive(Clone, Debug)]
pub struct Row {
    /// The task.
    pub task: TaskInfo,
    /// Its execution, in the order of time.
    pub slices: Vec<Slice>,
    /// Its ghosts, in the order of time.
    pub ghosts: Vec<Ghost>,
    /// Its marks, in the order of time.
    pub marks: Vec<(Instant, Mark)>,
}

/// An interval in which the mode of a domain is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// The domain.
    pub domain: DomainId,
    /// From when.
    pub from: Instant,
    /// Until when.
    pub to: Instant,
    /// The mode.
    pub mode: Level,
}

/// The picture.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What was recorded.
    pub header: Header,
    /// One row for each task of the header.
    pub rows: Vec<Row>,
    /// Where the mode is above the lowest.
    pub bands: Vec<Band>,
    /// The window that is shown: at most the one asked for, at most the run.
    pub window: Window,
    /// Items were left out because there were too many; the window ends before them.
    pub cut: bool,
    /// Records were lost inside the window.
    pub lost: u64,
}

impl Chart {
    /// Whether modes have to be told apart by their domain.
    #[must_use]
    pub fn has_domains(&self) -> bool {
        self.header.domain_count() > 1
    }

    /// The CPUs that have lanes of their own: those of the domains, and where tasks ran; none if that is one.
    #[must_use]
    pub fn cpus(&self) -> Vec<CpuId> {
        let named = self.header.domains.iter().flat_map(|domain| &domain.cpus);
        let slices = self.rows.iter().flat_map(|row| &row.slices);
        let cpus: BTreeSet<CpuId> = named
            .copied()
            .chain(slices.map(|slice| slice.cpu))
            .collect();
        if cpus.len() > 1 {
            cpus.into_iter().collect()
        } else {
            Vec::new()
        }
    }

    /// Whether some task has a ghost.
    #[must_use]
    pub fn has_ghosts(&self) -> bool {
        self.rows.iter().any(|row| !row.ghosts.is_empty())
    }

    /// What runs on a CPU: each slice with the place of its row, row by row.
    pub fn lane(&self, cpu: CpuId) -> impl Iterator<Item = (usize, &Slice)> {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(move |(place, row)| {
            let own = row.slices.iter().filter(move |slice| slice.cpu == cpu);
            own.map(move |slice| (place, slice))
        })
    }
}

/// Collects a [`Chart`] from records.
#[derive(Clone, Debug)]
pub struct Collector {
    timeline: Timeline,
    chart: Chart,
    items: usize,
    items_max: usize,
    open: BTreeMap<CpuId, (JobId, Instant)>,
    /// The ghosts that have not ended, each with its beginning.
    ghosts: BTreeMap<TaskId, (CpuId, Instant)>,
    /// The raised modes, each with its beginning.
    modes: BTreeMap<DomainId, (Level, Instant)>,
    over: bool,
}

impl Collector {
    /// A collector that keeps at most `items_max` items of `window`.
    #[must_use]
    pub fn new(header: &Header, window: Window, items_max: usize) -> Self {
        let row = |task: &TaskInfo| Row {
            task: task.clone(),
            slices: Vec::new(),
            ghosts: Vec::new(),
            marks: Vec::new(),
        };
        Self {
            timeline: Timeline::new(header),
            chart: Chart {
                header: header.clone(),
                rows: header.tasks.iter().map(row).collect(),
                bands: Vec::new(),
                window,
                cut: false,
                lost: 0,
            },
            items: 0,
            items_max,
            open: BTreeMap::new(),
            ghosts: BTreeMap::new(),
            modes: BTreeMap::new(),
            over: false,
        }
    }

    /// Takes in a record.
    pub fn feed(&mut self, record: &Record) {
        if self.over {
            return;
        }
        for (at, item) in self.timeline.feed(record) {
            self.take(at, item);
        }
    }

    /// The picture of what was taken in.
    #[must_use]
    pub fn finish(mut self) -> Chart {
        if !self.over {
            for (at, item) in self.timeline.end() {
                self.take(at, item);
            }
        }
        self.close(self.timeline.clock());
        for row in &mut self.chart.rows {
            stand_aside(row);
        }
        self.chart
    }

    fn row(&mut self, task: TaskId) -> Option<&mut Row> {
        self.chart.rows.get_mut(task.index())
    }

    fn take(&mut self, at: Instant, item: Item) {
        if self.over {
            return;
        }
        if at > self.chart.window.to {
            self.close(at);
            return;
        }
        if self.items >= self.items_max {
            self.chart.cut = true;
            self.chart.window.to = at;
            self.close(at);
            return;
        }
        match item {
            Item::Begin { cpu, job, .. } => {
                self.open.insert(cpu, (job, at));
            }
            Item::Finish { cpu, why, .. } => self.slice(cpu, at, Some(why)),
            Item::Mode { domain, to, .. } => self.band(domain, at, to),
            Item::Release { job, .. } => self.mark(job, at, Mark::Release),
            Item::Deadline { job } => self.mark(job, at, Mark::Deadline { at_release: false }),
            Item::Overrun { job, .. } => self.mark(job, at, Mark::Overrun),
            Item::Miss { job, deadline } => self.mark(job, deadline.min(at), Mark::Miss),
            Item::Drop { job, .. } => self.mark(job, at, Mark::Drop),
            Item::Lost { count } => {
                self.chart.lost = self.chart.lost.saturating_add(count);
            }
            Item::Ghost { cpu, task, edge } => match edge {
                Edge::Begin => {
                    self.ghosts.insert(task, (cpu, at));
                }
                Edge::End => self.ghost(task, at),
            },
            Item::Budget { .. } | Item::Overhead { .. } | Item::Gap { .. } | Item::End => {}
        }
    }

    fn mark(&mut self, job: JobId, at: Instant, mark: Mark) {
        if at < self.chart.window.from {
            return;
        }
        self.items = self.items.saturating_add(1);
        if let Some(row) = self.row(job.task) {
            row.marks.push((at, mark));
        }
    }

    fn slice(&mut self, cpu: CpuId, to: Instant, why: Option<Ending>) {
        let Some((job, from)) = self.open.remove(&cpu) else {
            return;
        };
        let from = from.max(self.chart.window.from);
        if to <= from {
            return;
        }
        self.items = self.items.saturating_add(1);
        if let Some(row) = self.row(job.task) {
            row.slices.push(Slice {
                job,
                cpu,
                from,
                to,
                why,
            });
        }
    }

    fn ghost(&mut self, task: TaskId, to: Instant) {
        let Some((cpu, from)) = self.ghosts.remove(&task) else {
            return;
        };
        let from = from.max(self.chart.window.from);
        if to <= from {
            return;
        }
        self.items = self.items.saturating_add(1);
        if let Some(row) = self.row(task) {
            row.ghosts.push(Ghost { cpu, from, to });
        }
    }

    fn band(&mut self, domain: DomainId, at: Instant, to: Level) {
        if let Some((mode, since)) = self.modes.remove(&domain) {
            let from = since.max(self.chart.window.from);
            if from < at {
                self.items = self.items.saturating_add(1);
                let to = at;
                self.chart.bands.push(Band {
                    domain,
                    from,
                    to,
                    mode,
                });
            }
        }
        if to > Level::LOWEST {
            self.modes.insert(domain, (to, at));
        }
    }

    /// Ends the window at `at` or where it was asked to end.
    fn close(&mut self, at: Instant) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        let window = &mut self.chart.window;
        window.to = window.to.min(at).max(window.from);
        let to = window.to;
        let cpus: Vec<CpuId> = self.open.keys().copied().collect();
        for cpu in cpus {
            self.slice(cpu, to, None);
        }
        let ghosts: Vec<TaskId> = self.ghosts.keys().copied().collect();
        for task in ghosts {
            self.ghost(task, to);
        }
        let raised: Vec<DomainId> = self.modes.keys().copied().collect();
        for domain in raised {
            self.band(domain, to, Level::LOWEST);
        }
    }
}

/// Finds the deadlines at which another job of the task arrives.
fn stand_aside(row: &mut Row) {
    let mut releases: Vec<Instant> = row
        .marks
        .iter()
        .filter(|(_, mark)| *mark == Mark::Release)
        .map(|(at, _)| *at)
        .collect();
    releases.sort_unstable();
    for (at, mark) in &mut row.marks {
        if let Mark::Deadline { at_release } = mark {
            *at_release = releases.binary_search(at).is_ok();
        }
    }
}

/// A unit of time for axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: &'static str,
    /// Its length.
    pub nanos: u64,
}

impl Unit {
    /// The largest unit of which `span` has at least two.
    #[must_use]
    pub fn for_span(span: Duration) -> Self {
        let units = [
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("µs", 1_000),
            ("ns", 1),
        ];
        let fits = units
            .into_iter()
            .find(|(_, nanos)| span.as_nanos() / nanos >= 2);
        let (name, nanos) = fits.unwrap_or(("ns", 1));
        Self { name, nanos }
    }

    /// `nanos` in this unit, exactly, without needless digits.
    #[must_use]
    pub fn text(self, nanos: u64) -> String {
        let (whole, rest) = (nanos / self.nanos, nanos % self.nanos);
        if rest == 0 {
            return whole.to_string();
        }
        let digits = self.nanos.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        format!("{whole}.{}", fraction.trim_end_matches('0'))
    }
}

/// The distance of ticks: 1, 2 or 5 times a power of ten nanoseconds, so that there are at most
/// `ticks_max` of them, but for the first.
#[must_use]
pub fn tick_step(span: Duration, ticks_max: u64) -> u64 {
    let wanted = span.as_nanos() / ticks_max.max(1);
    let mut power = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if step >= wanted && step > 0 {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_exactly_in_the_unit_of_the_axis() {
        let ms = Unit::for_span(Duration::from_millis(100));
        assert_eq!(ms.name, "ms");
        assert_eq!(ms.text(1_500_000), "1.5");
        assert_eq!(ms.text(1_000_001), "1.000001");
        assert_eq!(ms.text(30_000_000), "30");
        assert_eq!(Unit::for_span(Duration::from_nanos(30)).text(7), "7");
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(tick_step(Duration::from_nanos(30), 10), 5);
        assert_eq!(tick_step(Duration::from_millis(90), 10), 10_000_000);
        assert_eq!(tick_step(Duration::ZERO, 10), 1);
        // The largest span ends too.
        assert!(tick_step(Duration::from_nanos(u64::MAX), 1) > 0);
    }
}
