//! The resolved task set back as TOML. Reading it again gives an equal set.

use crate::model::{
    Arbitration, Arrival, DeviceArrival, JobSpec, LocalScheduler, MergeAt, OnMiss, PerLevel,
    ServerKind, ServerRule, ServerSpec, TaskSet, TaskSpec, Work,
};
use crate::quantity::{size_text, time_text};
use crate::read::FORMAT;
use std::fmt::Write as _;
use vestal_core::{Level, Service};

impl TaskSet {
    /// The set as a TOML file. Comments and the spelling of numbers are not kept; every time is
    /// written exactly, with its own unit.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut out = Writer {
            set: self,
            text: String::new(),
        };
        out.head();
        for task in &self.tasks {
            out.task(task);
        }
        for server in &self.servers {
            out.server(server);
        }
        out.devices();
        for job in &self.jobs {
            out.job(job);
        }
        out.text
    }
}

/// A string as a TOML basic string, with the escapes it needs.
pub(crate) fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A key, in quotes only where TOML wants them.
fn toml_key(text: &str) -> String {
    let bare = text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if bare && !text.is_empty() {
        text.to_owned()
    } else {
        toml_string(text)
    }
}

struct Writer<'a> {
    set: &'a TaskSet,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, key: &str, value: impl std::fmt::Display) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.text, "{key} = {value}");
    }
    fn string(&mut self, key: &str, value: &str) {
        self.line(key, toml_string(value));
    }
    fn time(&mut self, key: &str, nanos: u64) {
        self.line(key, format!("\"{}\"", time_text(nanos)));
    }
    fn table(&mut self, header: &str) {
        let _ = writeln!(self.text, "\n{header}");
    }
    fn level(&mut self, key: &str, level: Level) {
        let name = self.set.level_name(level).to_owned();
        self.string(key, &name);
    }

    fn per_level<T>(&mut self, key: &str, values: &PerLevel<T>, show: impl Fn(&T) -> String) {
        let given = values
            .iter()
            .zip(&self.set.levels)
            .filter_map(|(value, name)| {
                Some(format!("{} = {}", toml_key(name), show(value.as_ref()?)))
            });
        let given: Vec<String> = given.collect();
        if !given.is_empty() {
            self.line(key, format!("{{ {} }}", given.join(", ")));
        }
    }

    fn services(&mut self, key: &str, values: &PerLevel<Service>) {
        self.per_level(key, values, |value| {
            format!("\"{}\"", time_text(value.as_nanos()))
        });
    }

    fn head(&mut self) {
        let set = self.set;
        self.string("format", FORMAT);
        if !set.name.is_empty() {
            self.string("name", &set.name);
        }
        let levels: Vec<String> = set.levels.iter().map(|name| toml_string(name)).collect();
        self.line("levels", format!("[{}]", levels.join(", ")));
        if let Some(unit) = set.unit {
            self.string("unit", unit.name());
        }
        let platform = &set.platform;
        self.table("[platform]");
        self.line("cpus", platform.cpus);
        if let Some(tick) = platform.tick {
            self.time("tick", tick.as_nanos());
        }
        if let Some(cpu) = platform.interrupt_master {
            self.line("interrupt_master", cpu);
        }
        if let Some(bus) = platform.bus {
            let arbitration = match bus.arbitration {
                Arbitration::RoundRobin => "round-robin",
                Arbitration::Fcfs => "fcfs",
            };
            let access = time_text(bus.access.as_nanos());
            self.line(
                "bus",
                format!("{{ arbitration = \"{arbitration}\", access = \"{access}\" }}"),
            );
        }
    }

    fn task(&mut self, task: &TaskSpec) {
        self.table("[[task]]");
        self.string("name", &task.name);
        self.level("criticality", task.criticality);
        self.time("period", task.period.as_nanos());
        self.time("deadline", task.deadline.as_nanos());
        self.time("offset", task.offset.as_nanos());
        let arrival = match task.arrival {
            Arrival::Periodic => "periodic",
            Arrival::Sporadic => "sporadic",
        };
        self.string("arrival", arrival);
        self.services("wcet", &task.wcet);
        self.services("degraded", &task.degraded);
        self.placement(task.priority, task.cpu);
        self.per_level("accesses", &task.accesses, u64::to_string);
        if let Some(on_miss) = task.on_miss {
            let word = match on_miss {
                OnMiss::Continue => "continue",
                OnMiss::Abort => "abort",
            };
            self.string("on_miss", word);
        }
        if !task.io.is_empty() {
            let operations: Vec<String> = task
                .io
                .iter()
                .map(|io| {
                    let after = time_text(io.after.as_nanos());
                    let device = toml_string(&io.device);
                    format!(
                        "{{ after = \"{after}\", device = {device}, events = {} }}",
                        io.events
                    )
                })
                .collect();
            self.line("io", format!("[{}]", operations.join(", ")));
        }
        if let Some(work) = task.work {
            self.string("work", &work_text(work));
        }
    }

    fn placement(&mut self, priority: Option<u32>, cpu: Option<u16>) {
        if let Some(priority) = priority {
            self.line("priority", priority);
        }
        if let Some(cpu) = cpu {
            self.line("cpu", cpu);
        }
    }

    fn server(&mut self, server: &ServerSpec) {
        self.table("[[server]]");
        self.string("name", &server.name);
        match &server.kind {
            ServerKind::Periodic {
                rule,
                period,
                capacity,
            } => {
                let (kind, replenishments, full) = match *rule {
                    ServerRule::Polling => ("polling", None, None),
                    ServerRule::IdlingPeriodic => ("idling-periodic", None, None),
                    ServerRule::Deferrable => ("deferrable", None, None),
                    ServerRule::Sporadic {
                        replenishments,
                        full,
                    } => ("sporadic", replenishments, full),
                };
                self.string("kind", kind);
                self.time("period", period.as_nanos());
                self.services("capacity", capacity);
                if let Some(count) = replenishments {
                    self.line("replenishments", count);
                }
                if let Some(full) = full {
                    let word = match full {
                        MergeAt::Head => "head",
                        MergeAt::Tail => "tail",
                    };
                    self.string("full", word);
                }
            }
            ServerKind::Pibs {
                utilization,
                serves,
            } => {
                self.string("kind", "pibs");
                self.per_level("utilization", utilization, ToString::to_string);
                self.names(
                    "serves",
                    serves
                        .iter()
                        .filter_map(|&at| self.set.servers.get(at))
                        .map(|s| s.name.as_str()),
                );
            }
        }
        self.level("criticality", server.criticality);
        self.placement(server.priority, server.cpu);
        self.services("degraded", &server.degraded);
        let scheduler = match server.scheduler {
            LocalScheduler::FixedPriority => "fixed-priority",
            LocalScheduler::Edf => "edf",
        };
        self.string("scheduler", scheduler);
        self.names(
            "tasks",
            server
                .tasks
                .iter()
                .filter_map(|&at| self.set.tasks.get(at))
                .map(|t| t.name.as_str()),
        );
    }

    fn names<'n>(&mut self, key: &str, names: impl Iterator<Item = &'n str>) {
        let names: Vec<String> = names.map(toml_string).collect();
        if !names.is_empty() {
            self.line(key, format!("[{}]", names.join(", ")));
        }
    }

    fn devices(&mut self) {
        for device in &self.set.devices {
            self.table("[[device]]");
            self.string("name", &device.name);
            if let Some(server) = self.set.servers.get(device.server) {
                self.string("server", &server.name);
            }
            self.time("cost", device.cost.as_nanos());
            let (word, period, burst) = match device.arrival {
                DeviceArrival::Requested => ("requested", None, None),
                DeviceArrival::Periodic { period } => ("periodic", Some(period), None),
                DeviceArrival::Sporadic { period } => ("sporadic", Some(period), None),
                DeviceArrival::Burst { period, burst } => ("burst", Some(period), Some(burst)),
            };
            self.string("arrival", word);
            if let Some(period) = period {
                self.time("period", period.as_nanos());
            }
            if let Some(burst) = burst {
                self.line("burst", burst);
            }
        }
    }

    fn job(&mut self, job: &JobSpec) {
        self.table("[[job]]");
        self.string("name", &job.name);
        self.time("release", job.release.as_nanos());
        self.time("deadline", job.deadline.as_nanos());
        self.level("criticality", job.criticality);
        self.services("wcet", &job.wcet);
    }
}

fn work_text(work: Work) -> String {
    match work {
        Work::Spin => "spin".to_owned(),
        Work::Array { bytes } => format!("array:{}", size_text(bytes)),
        Work::Alloc {
            blocks,
            bytes,
            probability,
        } => {
            format!("alloc:{blocks}x{}@{probability}", size_text(bytes))
        }
    }
}
