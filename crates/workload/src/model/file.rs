//! The whole file.

use super::device::DeviceTable;
use super::server::{self, ServerTable};
use super::{
    DeviceSpec, JobSpec, JobTable, Origin, Platform, PlatformTable, ServerSpec, TaskSet, TaskSpec,
    TaskTable,
};
use crate::codes;
use crate::quantity::Unit;
use crate::source::{Place, Span};
use crate::table::fields::{Fields, Reader};
use crate::table::kinds::{BareUnit, Format, Levels, Name, Section, Sections};
use crate::table::{Table, table};

table! {
    pub(crate) struct FileTable {
        /// The version of the format.
        format: Format = Format, own;
        /// The name of the set; default: none.
        name: Option<String> = Name, optional;
        /// The names of the criticality levels, lowest first.
        levels: Vec<String> = Levels, required "levels = [\"LO\", \"HI\"]";
        /// The unit of bare numbers; default: none, every time needs its own.
        unit: Option<Unit> = BareUnit, optional;
        /// The machine the set is meant for; default: one CPU.
        platform: Option<Platform> = Section<PlatformTable>, optional;
        /// The recurrent tasks; default: none, the file has jobs.
        task: Vec<TaskSpec> = Sections<TaskTable, 1>, empty;
        /// Servers: hierarchical scheduling and I/O; default: none.
        server: Vec<ServerSpec> = Sections<ServerTable, 0>, empty;
        /// Devices whose bottom halves run in servers; default: none.
        device: Vec<DeviceSpec> = Sections<DeviceTable, 0>, empty;
        /// A finite job set, instead of tasks; default: none.
        job: Vec<JobSpec> = Sections<JobTable, 1>, empty;
    }
}

impl Table for FileTable {
    type Spec = TaskSet;

    fn resolve(self, fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<TaskSet> {
        server::together(fields, reader);
        something_to_schedule(fields, reader);
        let one_cpu = Platform {
            cpus: 1,
            tick: None,
            interrupt_master: None,
            bus: None,
            place: Place::default(),
        };
        Some(TaskSet {
            name: self.name.unwrap_or_default(),
            levels: self.levels?,
            unit: self.unit,
            platform: self.platform.unwrap_or(one_cpu),
            tasks: self.task?,
            servers: self.server?,
            devices: self.device?,
            jobs: self.job?,
            origin: Origin::none(),
        })
    }

    fn of(set: &TaskSet) -> Self {
        Self {
            format: Some(Format),
            name: (!set.name.is_empty()).then(|| set.name.clone()),
            levels: Some(set.levels.clone()),
            unit: set.unit,
            platform: Some(set.platform.clone()),
            task: Some(set.tasks.clone()),
            server: Some(set.servers.clone()),
            device: Some(set.devices.clone()),
            job: Some(set.jobs.clone()),
        }
    }
}

/// A file has tasks or jobs, not both and not neither.
fn something_to_schedule(top: &Fields<'_>, reader: &mut Reader<'_>) {
    match (top.entry("task"), top.entry("job")) {
        (Some(_), Some(job)) => reader.sink.error(
            codes::CONFLICT,
            job.key_span,
            "job",
            "`[[job]]` beside `[[task]]`",
            "recurrent tasks or a finite job set, not both",
            "put the jobs into a file of their own",
        ),
        (None, None) => reader.sink.error(
            codes::NOTHING_TO_SCHEDULE,
            Span::default(),
            "task",
            "neither `[[task]]` nor `[[job]]`",
            "at least one task",
            "add a `[[task]]` with name, criticality, period and wcet",
        ),
        (Some(_), None) | (None, Some(_)) => {}
    }
}
