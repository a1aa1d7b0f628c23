//! Scenario files: rows about jobs, device events and mode requests.

use super::csv;
use crate::codes;
use crate::diagnostic::{Diagnostic, Diagnostics, Sink, quote};
use crate::model::{TaskSet, TaskSpec};
use crate::quantity::{Unit, time_text};
use crate::source::{Source, Span};
use crate::table::fields::{Fields, Reader, join};
use crate::table::kinds::{Count, LevelName, PositiveTime, Reference, Time, Word};
use crate::table::names::{DeviceOfSet, TaskOfSet};
use crate::table::{self, Key, Keys, no_rules, table};
use crate::tree::{self, Node};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use vestal_core::{DeviceId, Instant, Level, Service, TaskId};

/// The version of the scenario format.
const FORMAT: &str = "vestal-scenario/1";

/// A scenario file, checked against its task set.
#[derive(Clone, Debug, Default)]
pub struct ScenarioFile {
    /// For each task of the set its rows in the order of their jobs.
    pub jobs: Vec<Vec<JobRow>>,
    /// For each device of the set its events, earliest first.
    pub devices: Vec<Vec<DeviceEvents>>,
    /// Mode requests, earliest first.
    pub modes: Vec<ModeRequest>,
    /// Facts worth knowing, such as jobs that run longer than their own level allows.
    pub notes: Vec<Diagnostic>,
}

/// What a file says about one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// The number of the job, from 0.
    pub job: u64,
    /// When it is released; `None`: a period after the job before it.
    pub release: Option<Instant>,
    /// How long it executes; `None`: C(0). It may be longer than its own level's WCET.
    pub execution: Option<Service>,
}

table! {
    /// Events of a device that arrive at one instant.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DeviceEvents from DeviceRow, no_rules {
        /// The place of the device in the device table.
        device: usize = Reference<DeviceOfSet>, required "device = \"...\"";
        /// When.
        at: Instant = Time, required "at = \"5ms\"";
        /// How many.
        count: u64 = Count<1>, required "count = 1";
    }
}

table! {
    /// A request to change the mode.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ModeRequest from ModeRow, no_rules {
        /// When.
        at: Instant = Time, required "at = \"5ms\"";
        /// The level to change to.
        level: Level = LevelName, required "level = \"HI\"";
    }
}

table! {
    pub(crate) struct TaskRow {
        /// The task.
        task: usize = Reference<TaskOfSet>, required "task = \"...\"";
        /// The number of the job, from 0.
        job: u64 = Count<0>, required "job = 0";
        /// When it is released; default: a period after the job before it.
        release: Option<Instant> = Time, optional;
        /// How long it executes; default: C(0).
        execution: Option<Service> = PositiveTime, optional;
    }
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Task,
    Device,
    Mode,
}

pub(super) const KINDS: [Kind; 3] = [Kind::Task, Kind::Device, Kind::Mode];

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Device => "device",
            Self::Mode => "mode",
        }
    }
    /// The columns after the kind, which are also the keys of the table in TOML.
    pub(super) const fn columns(self) -> &'static [Key] {
        match self {
            Self::Task => TaskRow::KEYS,
            Self::Device => DeviceRow::KEYS,
            Self::Mode => ModeRow::KEYS,
        }
    }
}

impl ScenarioFile {
    /// What the file says about a job, if anything.
    #[must_use]
    pub fn row(&self, task: TaskId, job: u64) -> Option<&JobRow> {
        let rows = self.jobs.get(task.index())?;
        rows.binary_search_by_key(&job, |row| row.job)
            .ok()
            .and_then(|at| rows.get(at))
    }

    /// The events of a device, earliest first; `None` if the file says nothing about it.
    #[must_use]
    pub fn events_of(&self, device: DeviceId) -> Option<&[DeviceEvents]> {
        let rows = self.devices.get(device.index())?;
        (!rows.is_empty()).then_some(rows.as_slice())
    }

    /// The last job up to `job` whose release the file gives.
    #[must_use]
    pub fn anchor(&self, task: TaskId, job: u64) -> Option<(u64, Instant)> {
        let rows = self.jobs.get(task.index())?;
        let end = rows.partition_point(|row| row.job <= job);
        let earlier = rows.get(..end)?;
        earlier
            .iter()
            .rev()
            .find_map(|row| Some((row.job, row.release?)))
    }
}

pub(super) fn read(source: &Arc<Source>, set: &TaskSet) -> Result<ScenarioFile, Diagnostics> {
    let mut sink = Sink::new(Arc::clone(source));
    let is_tree = source.is_json()
        || Path::new(&source.name)
            .extension()
            .is_some_and(|ext| ext.eq_ignore_ascii_case("toml"));
    let root = is_tree.then(|| tree::parse(source, &mut sink)).flatten();
    let top = root.as_ref().and_then(|root| open(root, set, &mut sink));
    let unit = top.as_ref().map_or(set.unit, |(_, unit)| *unit);
    let mut reader = Reader::new(&mut sink, unit, set.levels.clone());
    reader.names = set.names();
    let mut collector = Collector {
        reader,
        set,
        jobs: set.tasks.iter().map(|_| BTreeMap::new()).collect(),
        devices: Vec::new(),
        modes: BTreeMap::new(),
    };
    if let Some((top, _)) = &top {
        collector.tables(top);
    } else if !is_tree {
        collector.rows(csv::Rows::of(source));
    }
    collector.separations();
    let mut file = ScenarioFile {
        jobs: collector
            .jobs
            .into_iter()
            .map(|rows| rows.into_values().map(|(row, _)| row).collect())
            .collect(),
        devices: vec![Vec::new(); set.devices.len()],
        modes: collector.modes.into_values().collect(),
        notes: Vec::new(),
    };
    collector.devices.sort_by_key(|events| events.at);
    for events in collector.devices {
        if let Some(rows) = file.devices.get_mut(events.device) {
            rows.push(events);
        }
    }
    file.notes = sink.into_result()?;
    Ok(file)
}

/// The table of the text, and the unit of bare numbers.
fn open<'n>(
    root: &'n Node<'n>,
    set: &TaskSet,
    sink: &mut Sink,
) -> Option<(Fields<'n>, Option<Unit>)> {
    let mut reader = Reader::new(sink, set.unit, Vec::new());
    let known = ["format", "unit", "task", "device", "mode"];
    let top = Fields::open(root, String::new(), &known, &mut reader)?;
    if let Some(node) = top.get("format") {
        let help = format!("write `format = \"{FORMAT}\"`");
        reader.format(node, "format", FORMAT, help);
    }
    let unit = top.get("unit");
    let unit = unit.and_then(|node| reader.word(node, "unit", Unit::WORDS));
    Some((top, unit.or(set.unit)))
}

struct Collector<'k, 's> {
    reader: Reader<'k>,
    set: &'s TaskSet,
    jobs: Vec<BTreeMap<u64, (JobRow, Span)>>,
    devices: Vec<DeviceEvents>,
    modes: BTreeMap<Instant, ModeRequest>,
}

impl Collector<'_, '_> {
    /// `[[task]]`, `[[device]]` and `[[mode]]` with the columns as keys.
    fn tables(&mut self, top: &Fields<'_>) {
        for kind in KINDS {
            let key = kind.name();
            let items = top.get(key).and_then(|node| self.reader.list(node, key));
            for (index, item) in items.unwrap_or_default().iter().enumerate() {
                self.row(kind, format!("{key}[{index}]"), item);
            }
        }
    }

    fn rows(&mut self, mut rows: csv::Rows<'_>) {
        while let Some(row) = rows.next(self.reader.sink) {
            self.row(row.kind, row.path, &row.node);
        }
    }

    fn row(&mut self, kind: Kind, path: String, node: &Node<'_>) {
        let reader = &mut self.reader;
        match kind {
            Kind::Task => {
                if let Some(fields) = Fields::open(node, path, TaskRow::KEYS, reader) {
                    let row = TaskRow::read(&fields, reader);
                    self.job(&fields, &row);
                }
            }
            Kind::Device => self
                .devices
                .extend(table::read::<DeviceRow>(node, path, reader)),
            Kind::Mode => {
                if let Some(request) = table::read::<ModeRow>(node, path.clone(), reader) {
                    self.mode((node.span, join(&path, "at")), request);
                }
            }
        }
    }

    fn job(&mut self, fields: &Fields<'_>, row: &TaskRow) {
        let (Some(task), Some(job)) = (row.task, row.job) else {
            return;
        };
        let (Some(spec), Some(rows)) = (self.set.tasks.get(task), self.jobs.get_mut(task)) else {
            return;
        };
        self.reader.runs_away(fields, spec, row.execution);
        let row = JobRow {
            job,
            release: row.release,
            execution: row.execution,
        };
        if rows.insert(job, (row, fields.span)).is_some() {
            self.reader.error(
                codes::ROW_TWICE,
                (fields.span, fields.field("job")),
                format!("job {job} of {} a second time", quote(&spec.name)),
                "one row for each job",
                "remove one of the two rows",
            );
        }
    }

    fn mode(&mut self, at: (Span, String), request: ModeRequest) {
        if self.modes.insert(request.at, request).is_some() {
            self.reader.error(
                codes::ROW_TWICE,
                at,
                format!(
                    "a second mode request at {}",
                    time_text(request.at.as_nanos())
                ),
                "one mode request at each instant",
                "remove one of the two rows",
            );
        }
    }

    /// No two releases of a task are closer than its period, and none is before its offset.
    fn separations(&mut self) {
        for (rows, spec) in self.jobs.iter().zip(&self.set.tasks) {
            let (mut last_job, mut last) = (0, Instant::EPOCH.saturating_add(spec.offset));
            for (row, span) in rows.values() {
                let Some(release) = row.release else { continue };
                let distance = spec.period.saturating_mul(row.job - last_job);
                let earliest = last.saturating_add(distance);
                if release < earliest {
                    self.reader.sink.error(
                        codes::TOO_EARLY,
                        *span,
                        &format!("job {} of {}", row.job, quote(&spec.name)),
                        time_text(release.as_nanos()),
                        format!("{} or later", time_text(earliest.as_nanos())),
                        format!(
                            "jobs of a task are at least its period apart, here {}",
                            time_text(spec.period.as_nanos())
                        ),
                    );
                }
                (last_job, last) = (row.job, release.max(earliest));
            }
        }
    }
}

impl Reader<'_> {
    /// Running longer than the own level allows is legal, and worth saying.
    fn runs_away(&mut self, fields: &Fields<'_>, spec: &TaskSpec, execution: Option<Service>) {
        let own = spec.wcet.get(spec.criticality.index()).copied().flatten();
        if let (Some(execution), Some(own)) = (execution, own)
            && execution > own
        {
            let (span, field) = fields.value("execution");
            self.sink.note(
                codes::RUNS_AWAY,
                span,
                &field,
                time_text(execution.as_nanos()),
                format!(
                    "at most {} if {} keeps its contract",
                    time_text(own.as_nanos()),
                    quote(&spec.name)
                ),
                "legal: the task runs away, and nothing is guaranteed to it",
            );
        }
    }
}
