//! Which fields of a file a command makes no use of, so that `check` can name them.

use crate::model::{Arrival, OnMiss, TaskSet};
use crate::quantity::time_text;
use crate::source::Place;

/// Who reads a task set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer<'a> {
    /// `analyze` with a test.
    Analyze(&'a str),
    /// `simulate` under a policy.
    Simulate(&'a str),
    /// `run` under a policy.
    Run(&'a str),
}

/// A field that is accepted and validated, and then has no effect or another one than it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedField {
    /// The field, such as `task.offset`.
    pub field: String,
    /// How many entries of the file give it.
    pub count: usize,
    /// The name of the first entry that gives it; empty for the platform.
    pub first: String,
    /// Where the first one stands.
    pub place: Place,
    /// Why it has no effect.
    pub why: String,
}

impl Consumer<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Analyze(name) | Self::Simulate(name) | Self::Run(name) => name,
        }
    }
    fn is_analysis(&self) -> bool {
        matches!(self, Self::Analyze(_))
    }

    /// What the consumer does with `on_miss`. A policy's own rule would win over the field.
    #[must_use]
    pub fn on_miss_rule(&self) -> &'static str {
        match self {
            Self::Analyze(_) => {
                "no effect: a set that is schedulable misses no deadline, and the tests do not bound what follows a miss"
            }
            Self::Simulate(_) | Self::Run(_) => match self.name() {
                "rms" | "dms" | "cms" | "smc" | "amc" | "edf" | "edf-vd" => {
                    "holds: the policy has no rule of its own for a job past its deadline; a job that used up its execution limit is stopped by the policy in any case"
                }
                _ => "the policy's own rule for a job past its deadline, if it has one, wins",
            },
        }
    }

    /// Whether values of `wcet` above a task's own level count.
    fn counts_estimates(&self) -> bool {
        // The classic tests let jobs run to completion; every policy stops them at their own
        // level's value.
        self.is_analysis() && matches!(self.name(), "rms" | "dms" | "cms")
    }

    /// Why a field of `[[task]]` has no effect; `None` if it has one.
    fn ignores(&self, key: &str) -> Option<&'static str> {
        let analysis = self.is_analysis();
        let name = self.name();
        let rule_orders = matches!(
            name,
            "rms" | "dms" | "cms" | "edf" | "edf-vd" | "edf-vd-util"
        );
        let adaptive = name.starts_with("amc") || name.starts_with("edf-vd");
        match key {
            "offset" if analysis => {
                Some("the test assumes the worst phasing, whatever the offsets")
            }
            "arrival" if analysis => Some("the test covers periodic and sporadic tasks alike"),
            "degraded" if !adaptive => {
                Some("only adaptive policies (amc, edf-vd) have modes in which it could count")
            }
            "priority" if rule_orders => Some("the policy's rule orders the tasks"),
            "cpu" => Some("this test or policy schedules one CPU"),
            "accesses" => Some("memory interference (ftts) is not in this version"),
            "on_miss" if analysis => Some("a set that is schedulable misses no deadline"),
            "io" => Some("I/O (io-amc) is not in this version; jobs do not block"),
            "work" if !matches!(self, Self::Run(_)) => Some("only `run` executes the tasks"),
            _ => None,
        }
    }
}

impl TaskSet {
    /// The fields that the file gives and `consumer` makes no use of, in a fixed order.
    #[must_use]
    pub fn unused_fields(&self, consumer: Consumer<'_>) -> Vec<UnusedField> {
        let mut unused = Vec::new();
        for key in crate::read::keys::TASK {
            let Some(why) = consumer.ignores(key) else {
                continue;
            };
            let given = self.tasks.iter().filter_map(|task| {
                let place = task.places.keys.iter().find(|(known, _)| known == key)?.1;
                Some((task.name.clone(), place))
            });
            unused.extend(summary(&format!("task.{key}"), given, why));
        }
        if !consumer.counts_estimates() {
            let above = self.tasks.iter().filter(|task| {
                task.wcet
                    .iter()
                    .skip(task.criticality.index() + 1)
                    .any(Option::is_some)
            });
            let given = above.map(|task| (task.name.clone(), task.places.wcet));
            let why = "jobs are stopped at their own level's value; only the scenario `beta` looks at estimates above it";
            unused.extend(summary("task.wcet above the own level", given, why));
        }
        self.unused_tables(&mut unused);
        unused
    }

    fn unused_tables(&self, unused: &mut Vec<UnusedField>) {
        let platform = &self.platform;
        let place = platform.place;
        let given = [
            (
                "platform.cpus",
                platform.cpus > 1,
                "this test or policy schedules one CPU",
            ),
            (
                "platform.tick",
                platform.tick.is_some(),
                "time is exact in this version",
            ),
            (
                "platform.interrupt_master",
                platform.interrupt_master.is_some(),
                "mc2 is not in this version",
            ),
            (
                "platform.bus",
                platform.bus.is_some(),
                "memory interference (ftts) is not in this version",
            ),
        ];
        for (field, given, why) in given {
            let entries = given.then(|| (String::new(), place)).into_iter();
            unused.extend(summary(field, entries, why));
        }
        let servers = self
            .servers
            .iter()
            .map(|server| (server.name.clone(), server.place));
        unused.extend(summary(
            "server",
            servers,
            "servers (hsf, io-amc) are not in this version",
        ));
        let devices = self
            .devices
            .iter()
            .map(|device| (device.name.clone(), device.place));
        unused.extend(summary(
            "device",
            devices,
            "devices (io-amc) are not in this version",
        ));
    }

    /// One sentence about `on_miss` if some task gives it: what the consumer does with it.
    #[must_use]
    pub fn on_miss_remark(&self, consumer: Consumer<'_>) -> Option<String> {
        let given = self.tasks.iter().find(|task| task.on_miss.is_some())?;
        let word = match given.on_miss {
            Some(OnMiss::Abort) => "abort",
            Some(OnMiss::Continue) | None => "continue",
        };
        Some(format!(
            "on_miss = \"{word}\" (task {}) under {}: {}",
            given.name,
            consumer.name(),
            consumer.on_miss_rule()
        ))
    }

    /// How a task's jobs arrive, in words, for `check`.
    #[must_use]
    pub fn arrival_text(&self, index: usize) -> Option<String> {
        let task = self.tasks.get(index)?;
        let period = time_text(task.period.as_nanos());
        Some(match task.arrival {
            Arrival::Periodic => format!("every {period}"),
            Arrival::Sporadic => format!("at least {period} apart"),
        })
    }
}

fn summary(
    field: &str,
    given: impl Iterator<Item = (String, Place)>,
    why: &str,
) -> Option<UnusedField> {
    let mut given = given.peekable();
    let (first, place) = given.peek()?.clone();
    Some(UnusedField {
        field: field.to_owned(),
        count: given.count(),
        first,
        place,
        why: why.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::PRELUDE;

    #[test]
    fn check_can_name_what_a_test_does_not_use() {
        let part = "[platform]\ncpus = 2\n\n[[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\noffset = 3\non_miss = \"abort\"\n\
                    priority = 4\nwork = \"spin\"\nwcet = { LO = 1, HI = 2 }\n";
        let set = TaskSet::parse("a", &format!("{PRELUDE}{part}")).unwrap();
        let fields = |consumer| -> Vec<String> {
            set.unused_fields(consumer)
                .into_iter()
                .map(|unused| unused.field)
                .collect()
        };
        let estimates = "task.wcet above the own level";
        assert_eq!(
            fields(Consumer::Analyze("amc-rtb")),
            [
                "task.offset",
                "task.on_miss",
                "task.work",
                estimates,
                "platform.cpus"
            ]
        );
        assert_eq!(
            fields(Consumer::Simulate("rms")),
            ["task.priority", "task.work", estimates, "platform.cpus"]
        );
        assert_eq!(
            fields(Consumer::Analyze("rms")),
            [
                "task.offset",
                "task.priority",
                "task.on_miss",
                "task.work",
                "platform.cpus"
            ]
        );
        assert_eq!(fields(Consumer::Run("smc")), [estimates, "platform.cpus"]);
        let remark = set.on_miss_remark(Consumer::Simulate("smc")).unwrap();
        assert!(
            remark.contains("abort") && remark.contains("smc") && remark.contains("holds"),
            "{remark}"
        );
    }
}
