//! Made-up results and traces that agree with each other.

use vestal_core::*;
use vestal_report::{Collector, Origin, Recording, Report};
use vestal_trace::{Edge, Header, Mechanism, Record, TaskInfo, What, World};

/// No test is known.
pub(crate) struct NoOrigin;

impl Origin for NoOrigin {
    fn policy_of_test(&self, _: &str) -> Option<String> {
        None
    }
}

/// `amc-rtb` and `amc-max` prove `amc`.
struct Known;

impl Origin for Known {
    fn policy_of_test(&self, test: &str) -> Option<String> {
        matches!(test, "amc-rtb" | "amc-max").then(|| "amc".to_owned())
    }
}

pub(crate) fn page(report: &Report) -> String {
    report.page(&Known).unwrap()
}

/// A run in which tasks take turns: task i of n has period and deadline 100 (i + 1) µs.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) header: Header,
    pub(crate) records: Vec<Record>,
    pub(crate) longest: Vec<u64>,
    pub(crate) jobs: u64,
}

const PERIOD_NS: u64 = 100_000;

pub(crate) fn fact(at: u64, fact: Fact) -> Record {
    Record::fact(Instant::from_nanos(at), fact)
}

pub(crate) fn other(at: u64, what: What) -> Record {
    let at = Instant::from_nanos(at);
    Record { at, what }
}

pub(crate) fn job(task: usize, sequence: u64) -> JobId {
    JobId {
        task: TaskId(task as u16),
        sequence,
    }
}

impl Made {
    /// `jobs` jobs of each task, on one CPU. Each is done before the next arrives.
    pub(crate) fn new(names: &[&str], jobs: u64) -> Self {
        let mut header = Header::new("amc");
        header.seed = 1;
        header.levels = vec!["LO".to_owned(), "HI".to_owned()];
        header.task_set = "made up".to_owned();
        let period = PERIOD_NS * names.len() as u64;
        for (index, name) in names.iter().enumerate() {
            header.tasks.push(TaskInfo {
                name: (*name).to_owned(),
                criticality: Level((index % 2) as u8),
                period: Duration::from_nanos(period),
                deadline: Duration::from_nanos(period),
            });
        }
        let cpu = CpuId(0);
        let mut records = Vec::new();
        let mut longest = vec![0; names.len()];
        for sequence in 0..jobs {
            for (task, longest) in longest.iter_mut().enumerate() {
                let job = job(task, sequence);
                let release = sequence * period + task as u64 * PERIOD_NS;
                let length = 10_000 + (sequence * 7919 + task as u64 * 104_729) % 60_000;
                records.push(fact(release, Fact::Released { job }));
                records.push(fact(release, Fact::Started { cpu, job }));
                records.push(fact(release + length, Fact::Completed { cpu, job }));
                *longest = length.max(*longest);
            }
        }
        records.push(other(jobs * period, What::End { facts: 0 }));
        Self {
            header,
            records,
            longest,
            jobs,
        }
    }

    /// The same as if Linux had run it, with overheads and gaps.
    pub(crate) fn measured(mut self) -> Self {
        self.header.world = World::Linux;
        let cpu = CpuId(0);
        let mut records = Vec::new();
        for record in &self.records {
            records.push(*record);
            let at = record.at.as_nanos();
            if let What::Fact(Fact::Completed { .. }) = record.what {
                for (after, edge) in [(100, Edge::Begin), (2_100 + at % 900, Edge::End)] {
                    let mechanism = Mechanism::Decide;
                    let what = What::Overhead {
                        cpu,
                        mechanism,
                        edge,
                    };
                    records.push(other(at + after, what));
                }
                if at % 11 == 0 {
                    let length = Duration::from_nanos(4_000);
                    records.push(other(at + 8_000, What::Gap { cpu, length }));
                }
            }
        }
        self.records = records;
        self
    }

    pub(crate) fn longest(&self, name: &str) -> u64 {
        let task = self.header.tasks.iter().position(|task| task.name == name);
        self.longest[task.unwrap()]
    }

    pub(crate) fn recording(&self) -> Recording {
        self.recorded(usize::MAX)
    }

    pub(crate) fn recorded(&self, items_max: usize) -> Recording {
        let mut collector = Collector::new(&self.header, items_max);
        for record in &self.records {
            collector.feed(record);
        }
        collector.finish()
    }
}

/// What `simulate` or `run` would have printed of it.
pub(crate) fn run(world: &str, seed: u64, made: &Made) -> String {
    let tasks = made.header.tasks.iter().zip(&made.longest);
    let tasks: Vec<_> = tasks
        .map(|(task, longest)| {
            serde_json::json!({ "name": task.name, "released": made.jobs, "completed": made.jobs,
                "missed": 0, "dropped": 0, "overruns": 0, "preemptions": 0,
                "response_ns": { "min": 10_000, "mean": 20_000, "p99": longest, "max": longest } })
        })
        .collect();
    let all = made.jobs * made.header.tasks.len() as u64;
    let document = serde_json::json!({ "format": "vestal-result/1", "file": "x.toml", "policy": "amc",
        "world": world, "duration_ns": 1_000_000, "seed": seed,
        "jobs": { "released": all, "completed": all, "dropped": 0, "missed": 0, "missed_guaranteed": 0 },
        "modes": [], "tasks": tasks, "cpus": [], "overhead": {}, "machine": { "gaps": 0 } });
    document.to_string()
}

/// What `analyze` would have printed of tasks with these names, each other one at HI.
pub(crate) fn analysis(names: &[&str]) -> String {
    let name = |name: &str| serde_json::to_string(name).unwrap();
    let tasks: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(index, task)| {
            let (level, bounds) = match index % 2 {
                0 => ("LO", "\"LO\":71000"),
                _ => ("HI", "\"LO\":60000,\"HI\":72000"),
            };
            format!(
                "{{\"name\":{},\"criticality\":\"{level}\",\"priority\":{index},\"cpu\":0,\
                 \"deadline_ns\":{},\"response_ns\":{{{bounds}}}}}",
                name(task),
                PERIOD_NS * names.len() as u64,
            )
        })
        .collect();
    format!(
        "{{\"format\":\"vestal-result/1\",\"file\":\"x.toml\",\"results\":[{{\"test\":\"amc-rtb\",\
         \"variant\":null,\"verdict\":\"schedulable\",\"kind\":\"sufficient\",\"claim\":null,\
         \"tasks\":[{}],\"why\":null,\"elapsed_us\":12}}]}}",
        tasks.join(",")
    )
}
