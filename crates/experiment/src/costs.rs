//! What mechanisms cost on a machine, as `bench primitives` and `bench overhead` measure it, and what of it schedulability
//! tests take into account.

mod simulated;

use serde::Deserialize;
use std::fmt;
use std::path::Path;
use vestal_analysis::{Heartbeat, Overheads, Parameter, Test};
use vestal_core::{Duration, Enforcement};
use vestal_policy::{Native, Policy, Registry};
use vestal_result::Format;
use vestal_result::bench::{Dispatch, Mechanism, MonitorPlace, Primitive};
use vestal_workload::input::read_at_most;

/// Which figure of what was measured is taken. None of them is a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The 99th percentile.
    P99,
    /// The largest.
    #[default]
    Max,
}

impl Statistic {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 3] =
        [("mean", Self::Mean), ("p99", Self::P99), ("max", Self::Max)];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, one)| *one == self)
            .map_or("", |(name, _)| name)
    }

    const fn of(self, cost: &Primitive) -> u64 {
        match self {
            Self::Mean => cost.mean_ns,
            Self::P99 => cost.p99_ns,
            Self::Max => cost.max_ns,
        }
    }
}

/// Which figure a simulated world takes of what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The same each time.
    Each(Statistic),
    /// Each time another one, drawn from the median, the 99th percentile and the largest.
    Drawn,
}

impl Default for Figure {
    fn default() -> Self {
        Self::Each(Statistic::default())
    }
}

impl Figure {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 4] = [
        ("mean", Self::Each(Statistic::Mean)),
        ("p99", Self::Each(Statistic::P99)),
        ("max", Self::Each(Statistic::Max)),
        ("drawn", Self::Drawn),
    ];

    /// The figure of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(known, _)| *known == name).map(|(_, one)| one)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Each(statistic) => statistic.name(),
            Self::Drawn => "drawn",
        }
    }

    /// What a test takes that is to cover it.
    #[must_use]
    pub const fn covering(self) -> Statistic {
        match self {
            Self::Each(statistic) => statistic,
            Self::Drawn => Statistic::Max,
        }
    }
}

/// The names of costs in a file, and what each is.
pub mod name {
    /// CPU time of a worker from its release until the body begins.
    pub const JOB_START: &str = "job-start";
    /// CPU time of a worker from the end of a body until all is done about the job.
    pub const JOB_END: &str = "job-end";
    /// A wake-up with a switch of threads.
    pub const SWITCH: &str = "switch";
    /// What a running job loses when a less urgent task is released: a timer of the kernel.
    pub const RELEASE: &str = "release";
    /// A round of the manager.
    pub const MANAGER: &str = "manager";
    /// Taking the priority of a job.
    pub const DEMOTION: &str = "demotion";
    /// By how much a thread had exceeded its budget when that was noticed.
    pub const DETECTION: &str = "detection";
    /// What a job may exceed a limit by before that is an overrun.
    pub const TOLERANCE: &str = "tolerance";
    /// From when a frame should begin until a CPU knows its jobs.
    pub const FRAME: &str = "frame";
    /// From when the last CPU comes to the end of a sub-frame until it has decided.
    pub const SUB_FRAME: &str = "sub-frame";
    /// From then until a CPU knows what is next.
    pub const BARRIER: &str = "barrier";
    /// A look of a monitor that is scheduled among the tasks, and that it stops a job.
    pub const MONITOR: &str = "monitor";
}

pub use simulated::Simulated;

/// What the mechanisms of a machine cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    mechanisms: Vec<Mechanism>,
}

/// Why there are no costs to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostsError {
    /// What is wrong, and where.
    pub why: String,
    /// How to mend it.
    pub help: String,
}

impl fmt::Display for CostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for CostsError {}

/// What of a document is read.
#[derive(Deserialize)]
struct Document {
    #[serde(rename = "format")]
    _format: Format,
    bench: String,
    #[serde(default)]
    mechanisms: Vec<Mechanism>,
}

/// The largest result that is read; one with every figure has some hundred kilobytes.
const BYTES_MAX: usize = 64 << 20;
const MEASURE: &str = "measure it with `vestal bench primitives --format json > FILE`";

impl From<Vec<Mechanism>> for Costs {
    fn from(mechanisms: Vec<Mechanism>) -> Self {
        Self { mechanisms }
    }
}

impl Costs {
    /// Those of a file.
    ///
    /// # Errors
    /// A file that cannot be read, or is no result of `bench primitives` or `bench overhead` with costs of mechanisms.
    pub fn read(path: &Path) -> Result<Self, CostsError> {
        let refused = |why: String| CostsError {
            why: format!("{}: {why}", path.display()),
            help: "name a file that exists and can be read".to_owned(),
        };
        let bytes = read_at_most(path, BYTES_MAX).map_err(|error| refused(error.to_string()))?;
        if bytes.len() > BYTES_MAX {
            return Err(refused(format!("more than {BYTES_MAX} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| refused("no UTF-8 text".to_owned()))?;
        Self::from_json(&text).map_err(|error| CostsError {
            why: format!("{}: {}", path.display(), error.why),
            ..error
        })
    }

    /// Those of a document.
    ///
    /// # Errors
    /// A text that is no result of `bench primitives` or `bench overhead` with costs of mechanisms.
    pub fn from_json(text: &str) -> Result<Self, CostsError> {
        let refused = |why: String| CostsError {
            why,
            help: MEASURE.to_owned(),
        };
        let document: Document = serde_json::from_str(text).map_err(|error| {
            // The error says what was expected, and ends with line and column.
            refused(format!("it is no result of a benchmark: {error}"))
        })?;
        if document.mechanisms.is_empty() {
            let bench = document.bench;
            return Err(refused(format!(
                "`mechanisms`: found none in a result of `bench {bench}`, expected the costs of one or more"
            )));
        }
        for (index, mechanism) in document.mechanisms.iter().enumerate() {
            let earlier = &document.mechanisms[..index];
            if earlier.iter().any(|other| other.name == mechanism.name) {
                let name = &mechanism.name;
                return Err(refused(format!(
                    "`mechanisms[{index}]`: found a second `{name}`, expected another name"
                )));
            }
            check_costs(index, mechanism).map_err(refused)?;
            check_monitor(index, mechanism).map_err(refused)?;
        }
        Ok(Self {
            mechanisms: document.mechanisms,
        })
    }

    /// What was measured.
    #[must_use]
    pub fn mechanisms(&self) -> &[Mechanism] {
        &self.mechanisms
    }

    /// The mechanisms that carry a policy out whose guarantee is that of a test, in the order of the file: with fixed priorities
    /// the kernel or a manager, else a manager; frame tables have their own.
    pub fn of_policy<'a>(
        &'a self,
        policy: &dyn Policy,
        test: &Test,
    ) -> impl Iterator<Item = &'a Mechanism> {
        let is_native = policy.about().native == Native::Yes;
        let has_frames = policy.about().parameters.contains(&Parameter::Frames);
        // Of the limits of others its managers watch none, or not all.
        let is_of_paper = matches!(
            test.limits,
            Some(Enforcement::Adaptive | Enforcement::Slices)
        );
        let mechanisms = self.mechanisms.iter();
        mechanisms.filter(move |mechanism| {
            let fits = match mechanism.dispatch {
                Dispatch::Native => is_native,
                Dispatch::Managed => !has_frames,
                Dispatch::Huang2014 => is_native && is_of_paper,
                Dispatch::Frames => has_frames,
            };
            fits && mechanism.not_run.is_none()
        })
    }

    /// What a simulated world takes of its CPUs under a policy whose guarantee is that of a test, if the mechanism of this
    /// name carries it out, or else the first that does.
    ///
    /// # Errors
    /// None carries it out; a cost that the file does not have.
    pub fn simulated(
        &self,
        (policy, test): (&dyn Policy, &Test),
        figure: Figure,
        mechanism: Option<&str>,
    ) -> Result<Simulated, CostsError> {
        let is_wanted = |it: &&Mechanism| mechanism.is_none_or(|name| name == it.name);
        // Why one was not measured says more than that it carries nothing out.
        if let Some(name) = mechanism {
            self.mechanism(name)?;
        }
        let found = self.of_policy(policy, test).find(is_wanted);
        let found = found.ok_or_else(|| {
            let names = self.of_policy(policy, test).map(|it| it.name.as_str());
            let names: Vec<&str> = names.collect();
            let policy = policy.about().name;
            CostsError {
                why: match mechanism {
                    Some(name) => format!("`{name}` does not carry {policy} out"),
                    None => format!("none of the mechanisms there carries {policy} out"),
                },
                help: match names.is_empty() {
                    true => "name a file with costs of one that does; vestal explain overheads says which there are"
                        .to_owned(),
                    false => format!("of those there, {} do", names.join(", ")),
                },
            }
        })?;
        Simulated::new(found, figure)
    }

    /// What a test takes into account, with the name of the mechanism: of the one of this name, or else the first, by which a
    /// policy is carried out that the test is about. `None`: none of those there are does.
    ///
    /// # Errors
    /// A cost that the file does not have.
    pub fn of_test<'a>(
        &'a self,
        registry: &Registry,
        test: &Test,
        (statistic, wanted): (Statistic, Option<&str>),
    ) -> Result<Option<(&'a str, Overheads)>, CostsError> {
        let is_wanted = |it: &&Mechanism| wanted.is_none_or(|name| name == it.name);
        let mut found = registry.policies_of(test).filter_map(|policy| {
            let mut mechanisms = self.of_policy(policy, test);
            mechanisms.find(is_wanted)
        });
        let Some(mechanism) = found.next() else {
            return Ok(None);
        };
        let overheads = overheads(mechanism, statistic)?;
        Ok(Some((&mechanism.name, overheads)))
    }

    /// The mechanism of this name.
    ///
    /// # Errors
    /// There is none, or it was not run.
    pub fn mechanism(&self, wanted: &str) -> Result<&Mechanism, CostsError> {
        let mut all = self.mechanisms.iter();
        let names: Vec<&str> = self.mechanisms.iter().map(|it| it.name.as_str()).collect();
        let Some(mechanism) = all.find(|it| it.name == wanted) else {
            return Err(CostsError {
                why: format!("there are no costs of a mechanism `{wanted}`"),
                help: format!("it has those of {}", names.join(", ")),
            });
        };
        match &mechanism.not_run {
            None => Ok(mechanism),
            Some(why) => Err(CostsError {
                why: format!("the mechanism `{wanted}` was not measured: {why}"),
                help: MEASURE.to_owned(),
            }),
        }
    }
}

/// What is wrong with a cost of the mechanism at this index, if anything is.
fn check_costs(index: usize, mechanism: &Mechanism) -> Result<(), String> {
    for (at, cost) in mechanism.costs.iter().enumerate() {
        let place = format!(
            "`mechanisms[{index}].costs[{at}]` ({} of {})",
            cost.name, mechanism.name
        );
        let earlier = &mechanism.costs[..at];
        if earlier.iter().any(|other| other.name == cost.name) {
            return Err(format!(
                "{place}: found a second one, expected another name"
            ));
        }
        let figures = [cost.mean_ns, cost.median_ns, cost.p99_ns];
        let is_whole = cost.count > 0 && figures.iter().all(|figure| *figure <= cost.max_ns);
        // A mean is rounded up: only a cost that never was any has none, or a file without means.
        if !is_whole || (cost.mean_ns == 0) != (cost.max_ns == 0) || cost.median_ns > cost.p99_ns {
            return Err(format!(
                "{place}: found count {}, mean {}, median {}, p99 {}, max {}, expected one or more figures with their \
                 mean, none above the largest",
                cost.count, cost.mean_ns, cost.median_ns, cost.p99_ns, cost.max_ns
            ));
        }
    }
    Ok(())
}

/// What it costs a manager to carry out tasks, of which Lemma IV.1 says nothing.
const OF_MANAGERS: [&str; 5] = [
    name::JOB_START,
    name::JOB_END,
    name::SWITCH,
    name::RELEASE,
    name::MANAGER,
];

/// What is wrong with where the monitor of the mechanism at this index runs, if anything is.
fn check_monitor(index: usize, mechanism: &Mechanism) -> Result<(), String> {
    let is_task = mechanism.monitor == Some(MonitorPlace::Scheduled);
    let can_be = mechanism.dispatch == Dispatch::Managed
        && mechanism.heartbeat_ns.is_some_and(|period| period > 0);
    if is_task && !can_be {
        return Err(format!(
            "`mechanisms[{index}].monitor` ({}): found a monitor among the tasks, expected it with the dispatch `managed` and its \
             period, `heartbeat_ns`",
            mechanism.name
        ));
    }
    // No figure is above the largest.
    let is_paid = |cost: &&Primitive| OF_MANAGERS.contains(&cost.name.as_str()) && cost.max_ns > 0;
    match mechanism.costs.iter().find(is_paid).filter(|_| is_task) {
        None => Ok(()),
        Some(cost) => Err(format!(
            "`mechanisms[{index}].costs` ({}): found a cost of `{}` beside a monitor among the tasks, expected 0: Lemma IV.1 has \
             nothing for what it costs to carry out its tasks, and above all the monitor itself",
            mechanism.name, cost.name
        )),
    }
}

/// What a test is to take into account where this mechanism carries a policy out.
///
/// | of a manager's dispatch | with the kernel's priorities |
/// |---|---|
/// | a job begins, ends, is switched to and from, and so is the manager at its end | the same without the manager |
/// | each release takes the CPU for a timer and the manager | for the timer of a less urgent task |
/// | a used-up budget, a change of mode, a zero-slack instant, a slice takes it for a timer and the manager | the same |
///
/// Where the monitor is a task, that is Lemma IV.1 of Sigrist et al. (RTAS 2015) and nothing beside it: C_M is
/// [`name::MONITOR`] or else a [`name::DEMOTION`], and C_K a demotion for each task of the lower level.
///
/// # Errors
/// A cost that the file does not have.
pub fn overheads(mechanism: &Mechanism, statistic: Statistic) -> Result<Overheads, CostsError> {
    overheads_of(mechanism, &|cost| statistic.of(cost))
}

/// The same with whatever figure of each.
fn overheads_of(
    mechanism: &Mechanism,
    figure: &dyn Fn(&Primitive) -> u64,
) -> Result<Overheads, CostsError> {
    let of = |name| cost(mechanism, figure, name);
    let ns = Duration::from_nanos;
    let switches = of(name::SWITCH)?.saturating_mul(2);
    let job = [of(name::JOB_START)?, of(name::JOB_END)?, switches];
    let job = job.into_iter().fold(0, u64::saturating_add);
    if mechanism.dispatch == Dispatch::Frames {
        return Ok(Overheads {
            job: ns(job),
            frame: ns(of(name::FRAME)?),
            sub_frame: ns(of(name::SUB_FRAME)?.saturating_add(of(name::BARRIER)?)),
            ..Overheads::default()
        });
    }
    // A job that ends calls the manager; all else comes from a timer of the kernel.
    let called = of(name::MANAGER)?.saturating_add(switches);
    let manager = called.saturating_add(of(name::RELEASE)?);
    let demotion = of(name::DEMOTION)?;
    let (job, release) = match mechanism.dispatch {
        Dispatch::Managed | Dispatch::Huang2014 => (job.saturating_add(called), manager),
        Dispatch::Native | Dispatch::Frames => (job, of(name::RELEASE)?),
    };
    if mechanism.monitor == Some(MonitorPlace::Scheduled) {
        let is_said = mechanism.costs.iter().any(|it| it.name == name::MONITOR);
        let look = match is_said {
            true => of(name::MONITOR)?,
            false => demotion,
        };
        return Ok(Overheads {
            detection: ns(of(name::TOLERANCE)?),
            termination: ns(demotion),
            heartbeat: mechanism.heartbeat_ns.map(|period| Heartbeat {
                period: ns(period),
                cost: ns(look),
                is_scheduled: true,
            }),
            ..Overheads::default()
        });
    }
    // What a heartbeat is late by is its period, and what its manager takes to come and to look.
    let detection = match mechanism.heartbeat_ns {
        None => of(name::DETECTION)?,
        Some(_) => manager,
    };
    Ok(Overheads {
        job: ns(job),
        release: ns(release),
        detection: ns(detection.saturating_add(of(name::TOLERANCE)?)),
        exhaustion: ns(manager.saturating_add(demotion)),
        late: match is_late(mechanism) {
            true => ns(manager.saturating_add(demotion)),
            false => Duration::ZERO,
        },
        change: ns(manager),
        termination: ns(demotion),
        instant: ns(manager),
        slice: ns(manager),
        frame: Duration::ZERO,
        sub_frame: Duration::ZERO,
        heartbeat: mechanism.heartbeat_ns.map(|period| Heartbeat {
            period: ns(period),
            cost: ns(manager),
            is_scheduled: false,
        }),
    })
}

fn cost(
    mechanism: &Mechanism,
    figure: &dyn Fn(&Primitive) -> u64,
    name: &str,
) -> Result<u64, CostsError> {
    let cost = mechanism.costs.iter().find(|cost| cost.name == name);
    cost.map(figure).ok_or_else(|| CostsError {
        why: format!("the costs of {} lack `{name}`", mechanism.name),
        help: MEASURE.to_owned(),
    })
}

/// Whether it may be noticed of a job that does not execute that it had used up a budget: wall timers and heartbeats go on
/// while another one does, and what keeps the remainder until that has stopped it.
fn is_late(mechanism: &Mechanism) -> bool {
    match mechanism.dispatch {
        Dispatch::Native => {
            let has = |monitor: &str| mechanism.name.ends_with(monitor);
            mechanism.heartbeat_ns.is_some() || has("/manager") || has("/remainder")
        }
        Dispatch::Huang2014 => true,
        Dispatch::Managed | Dispatch::Frames => false,
    }
}

/// The largest factor in thousandths, up to [`FACTOR_MAX`], with which `holds`; `None`: not even with 0.
///
/// At least [`ONE`] exactly if it holds with that. Found by bisection: what holds with some factor, and not with a smaller one, may
/// hold with a larger one than this. O(log) questions.
pub fn margin(mut holds: impl FnMut(u64) -> bool) -> Option<u64> {
    let (mut yes, mut no) = if holds(ONE) {
        if holds(FACTOR_MAX) {
            return Some(FACTOR_MAX);
        }
        (ONE, FACTOR_MAX)
    } else if holds(0) {
        (0, ONE)
    } else {
        return None;
    };
    while no - yes > 1 {
        let middle = yes.midpoint(no);
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    Some(yes)
}

/// Everything as it is, in thousandths.
pub const ONE: u64 = 1_000;

/// In thousandths: with a thousand times as much nothing is near a border.
pub const FACTOR_MAX: u64 = 1_000_000;

#[cfg(test)]
#[path = "costs_tests.rs"]
mod tests;
