//! Scenario files: rows about jobs, device events and mode requests.

use super::csv;
use crate::codes;
use crate::diagnostic::{Diagnostic, Diagnostics, Sink, did_you_mean, one_of, quote};
use crate::model::TaskSet;
use crate::quantity::{Unit, time_text};
use crate::read::fields::{Fields, Reader};
use crate::source::{Source, Span};
use crate::tree::{self, Node};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use vestal_core::{Instant, Level, Service, TaskId};

/// The version of the scenario format.
const FORMAT: &str = "vestal-scenario/1";

/// A scenario file, checked against its task set.
#[derive(Clone, Debug, Default)]
pub struct ScenarioFile {
    /// For each task of the set its rows in the order of their jobs.
    pub jobs: Vec<Vec<JobRow>>,
    /// Events of devices, earliest first.
    pub devices: Vec<DeviceEvents>,
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

/// Events of a device that arrive at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceEvents {
    /// The place of the device in the device table.
    pub device: usize,
    /// When.
    pub at: Instant,
    /// How many.
    pub count: u64,
}

/// A request to change the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeRequest {
    /// When.
    pub at: Instant,
    /// The level to change to.
    pub level: Level,
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
    pub(super) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Task => &["task", "job", "release", "execution"],
            Self::Device => &["device", "at", "count"],
            Self::Mode => &["at", "level"],
        }
    }
}

/// A row of either language.
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) path: String,
    pub(super) node: Node,
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
    let (rows, unit) = if is_tree {
        tree_rows(source, set, &mut sink)
    } else {
        (csv::rows(source, &mut sink), set.unit)
    };
    let reader = Reader {
        sink: &mut sink,
        unit,
        levels: set.levels.clone(),
    };
    let mut collector = Collector {
        reader,
        set,
        tasks: names(set.tasks.iter().map(|task| task.name.as_str())),
        device_names: names(set.devices.iter().map(|device| device.name.as_str())),
        jobs: set.tasks.iter().map(|_| BTreeMap::new()).collect(),
        devices: Vec::new(),
        modes: BTreeMap::new(),
    };
    for row in &rows {
        collector.row(row);
    }
    collector.separations();
    let mut file = ScenarioFile {
        jobs: collector
            .jobs
            .into_iter()
            .map(|rows| rows.into_values().map(|(row, _)| row).collect())
            .collect(),
        devices: collector.devices,
        modes: collector.modes.into_values().collect(),
        notes: Vec::new(),
    };
    file.devices.sort_by_key(|events| events.at);
    file.notes = sink.into_result()?;
    Ok(file)
}

/// `[[task]]`, `[[device]]` and `[[mode]]` with the columns as keys.
fn tree_rows(source: &Source, set: &TaskSet, sink: &mut Sink) -> (Vec<Row>, Option<Unit>) {
    let mut rows = Vec::new();
    let Some(root) = tree::parse(source, sink) else {
        return (rows, set.unit);
    };
    let mut reader = Reader {
        sink,
        unit: set.unit,
        levels: Vec::new(),
    };
    let known = ["format", "unit", "task", "device", "mode"];
    let Some(top) = Fields::open(&root, String::new(), &known, &mut reader) else {
        return (rows, set.unit);
    };
    if let Some(node) = top.get("format")
        && let Some(text) = reader.text(node, "format")
        && text != FORMAT
    {
        let help = format!("write `format = \"{FORMAT}\"`");
        reader.sink.error(
            codes::WRONG_FORMAT,
            node.span,
            "format",
            quote(text),
            quote(FORMAT),
            help,
        );
    }
    let units: Vec<(&str, Unit)> = Unit::ALL.iter().map(|unit| (unit.name(), *unit)).collect();
    let unit = top
        .get("unit")
        .and_then(|node| reader.word(node, "unit", &units))
        .or(set.unit);
    for kind in KINDS {
        let Some(node) = top.get(kind.name()) else {
            continue;
        };
        for (index, item) in reader
            .list(node, kind.name())
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            let path = format!("{}[{index}]", kind.name());
            if Fields::open(item, path.clone(), kind.columns(), &mut reader).is_some() {
                rows.push(Row {
                    kind,
                    path,
                    node: item.clone(),
                });
            }
        }
    }
    (rows, unit)
}

/// Names with their places in a table.
type Names<'s> = BTreeMap<&'s str, usize>;

fn names<'s>(names: impl Iterator<Item = &'s str>) -> Names<'s> {
    names.enumerate().map(|(at, name)| (name, at)).collect()
}

struct Collector<'k, 's> {
    reader: Reader<'k>,
    set: &'s TaskSet,
    tasks: Names<'s>,
    device_names: Names<'s>,
    jobs: Vec<BTreeMap<u64, (JobRow, Span)>>,
    devices: Vec<DeviceEvents>,
    modes: BTreeMap<Instant, ModeRequest>,
}

impl Collector<'_, '_> {
    fn row(&mut self, row: &Row) {
        let known = row.kind.columns();
        let Some(fields) = Fields::open(&row.node, row.path.clone(), known, &mut self.reader)
        else {
            return;
        };
        match row.kind {
            Kind::Task => self.job(&fields),
            Kind::Device => self.device(&fields),
            Kind::Mode => self.mode(&fields),
        }
    }

    fn job(&mut self, fields: &Fields<'_>) {
        let task = named(fields, "task", &self.tasks, &mut self.reader);
        let job = self.whole(fields, "job", 0);
        let release = self.time(fields, "release");
        let execution = match fields.get("execution") {
            Some(node) => self
                .reader
                .positive_time(node, &fields.field("execution"))
                .map(Service::from_nanos),
            None => None,
        };
        let (Some(task), Some(job)) = (task, job) else {
            return;
        };
        self.runs_away(fields, task, execution);
        let row = JobRow {
            job,
            release,
            execution,
        };
        let Some(rows) = self.jobs.get_mut(task) else {
            return;
        };
        if rows.insert(job, (row, fields.span)).is_some() {
            let name = self
                .set
                .tasks
                .get(task)
                .map_or("", |spec| spec.name.as_str());
            self.reader.sink.error(
                codes::ROW_TWICE,
                fields.span,
                &fields.field("job"),
                format!("job {job} of {} a second time", quote(name)),
                "one row for each job",
                "remove one of the two rows",
            );
        }
    }

    /// Running longer than the own level allows is legal, and worth saying.
    fn runs_away(&mut self, fields: &Fields<'_>, task: usize, execution: Option<Service>) {
        let Some(spec) = self.set.tasks.get(task) else {
            return;
        };
        let own = spec.wcet.get(spec.criticality.index()).copied().flatten();
        if let (Some(execution), Some(own), Some(node)) = (execution, own, fields.get("execution"))
            && execution > own
        {
            self.reader.sink.note(
                codes::RUNS_AWAY,
                node.span,
                &fields.field("execution"),
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

    fn device(&mut self, fields: &Fields<'_>) {
        let device = named(fields, "device", &self.device_names, &mut self.reader);
        let at = self.required_time(fields);
        let count = self.whole(fields, "count", 1);
        if let (Some(device), Some(at), Some(count)) = (device, at, count) {
            self.devices.push(DeviceEvents { device, at, count });
        }
    }

    fn mode(&mut self, fields: &Fields<'_>) {
        let at = self.required_time(fields);
        let level = fields
            .require("level", "level = \"HI\"", &mut self.reader)
            .and_then(|node| self.reader.level(node, &fields.field("level")));
        let (Some(at), Some(level)) = (at, level) else {
            return;
        };
        if self.modes.insert(at, ModeRequest { at, level }).is_some() {
            self.reader.sink.error(
                codes::ROW_TWICE,
                fields.span,
                &fields.field("at"),
                format!("a second mode request at {}", time_text(at.as_nanos())),
                "one mode request at each instant",
                "remove one of the two rows",
            );
        }
    }

    fn whole(&mut self, fields: &Fields<'_>, key: &str, least: u64) -> Option<u64> {
        let node = fields.require(key, &format!("{key} = {least}"), &mut self.reader)?;
        self.reader
            .whole(node, &fields.field(key), least, u64::from(u32::MAX))
    }

    fn time(&mut self, fields: &Fields<'_>, key: &str) -> Option<Instant> {
        let node = fields.get(key)?;
        self.reader
            .time(node, &fields.field(key))
            .map(Instant::from_nanos)
    }

    fn required_time(&mut self, fields: &Fields<'_>) -> Option<Instant> {
        fields.require("at", "at = \"5ms\"", &mut self.reader)?;
        self.time(fields, "at")
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

/// The place of the thing that a row names.
fn named(
    fields: &Fields<'_>,
    key: &str,
    known: &Names<'_>,
    reader: &mut Reader<'_>,
) -> Option<usize> {
    let node = fields.require(key, &format!("{key} = \"...\""), reader)?;
    let field = fields.field(key);
    let text = reader.text(node, &field)?;
    let found = known.get(text).copied();
    if found.is_none() {
        let names = || known.keys().copied();
        let help = did_you_mean(text, names(), "use a name of the task set");
        let expected = format!("a {key} of the task set: {}", one_of(names()));
        let code = codes::SCENARIO_UNKNOWN_TASK;
        reader
            .sink
            .error(code, node.span, &field, quote(text), expected, help);
    }
    found
}
