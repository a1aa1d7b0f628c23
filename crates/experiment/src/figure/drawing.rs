//! Figures that are one run of one set: who executes when.
//!
//! A figure is a task-set file, a scenario file, a policy and how long it runs. Claims look at *stretches*: times in which a task, or the
//! bottom halves of a device, execute without a break, and at *steps*: who begins or ceases to wait, and which device interrupts. The run is
//! computed: a claim is true of it or it is not, and *not decided* only where there is nothing that it speaks of. Rules for sentences stand in
//! `drawing_rules.rs`.

use super::grid::Set;
use super::{Checked, Finding, Outcome, fits};
use crate::several::Run;
use std::fmt::Write as _;
use vestal_analysis::Parameters;
use vestal_core::{CpuId, DeviceId, Duration, Instant, TaskId};
use vestal_policy::{Analysis, Options, Refusal, Registry, assemble};
use vestal_sim::observer::{JobState, Segment};
use vestal_sim::{Backlog, Observer};
use vestal_workload::{Scenario, Source, TaskSet, Workload};

/// A figure of one run.
#[derive(Debug)]
pub struct Drawing {
    /// `PAPER/FIGURE`.
    pub name: &'static str,
    /// What it shows.
    pub caption: &'static str,
    /// The task-set file.
    pub set: Set,
    /// The scenario file, CSV.
    pub scenario: &'static str,
    /// The policy.
    pub policy: &'static str,
    /// How long it runs, in ms.
    pub millis: u64,
    /// What the paper says of it.
    pub claims: &'static [DrawingClaim],
}

/// A claim of a paper about one run.
#[derive(Debug)]
pub struct DrawingClaim {
    /// The claim in a sentence.
    pub text: &'static str,
    /// What says it.
    pub check: Check,
}

/// What decides a claim.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// The figure's run.
    Alone(fn(&Watched) -> Checked),
    /// That run, and that of the figure with this name.
    Beside(&'static str, fn(&Watched, &Watched) -> Checked),
}

/// What is seen of a run, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Who executes when.
    pub stretches: Vec<Stretch>,
    /// What else happens.
    pub steps: Vec<Step>,
}

/// Something happens to a task or at a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name.
    pub who: String,
    /// What.
    pub what: Happens,
    /// When, in ns.
    pub at: u64,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happens {
    /// A job begins to wait for a device.
    Waits,
    /// A device interrupts.
    Interrupts,
    /// What a job waited for was served.
    Wakes,
}

/// A task, or the bottom halves of a device, executes without a break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its name.
    pub who: String,
    /// From when on, in ns.
    pub from: u64,
    /// Until when, in ns.
    pub to: u64,
}

/// What became of a figure: data and findings. Its plot is the trace of the same run.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// `executed.csv`: a row for each stretch.
    pub data: String,
    /// What the figure came to.
    pub outcome: Outcome,
}

/// The name of a figure's data.
pub const DATA: &str = "executed.csv";
/// The name of its plot.
pub const PLOT: &str = "plot.svg";
/// Under which names its files stand beside it: task set, scenario, and further traces of the run.
pub const SET: &str = "set.toml";
/// The scenario.
pub const SCENARIO: &str = "scenario.csv";
/// Traces of the run beside its plot.
pub const TRACES: [&str; 2] = ["trace.csv", "trace.txt"];

/// The figures of one run that a name means, as [`super::named`] finds those of sweeps.
#[must_use]
pub fn named(name: &str) -> Vec<&'static Drawing> {
    drawings()
        .filter(|drawing| fits(drawing.name, name))
        .collect()
}

/// All figures of one run, in the order of the papers.
pub fn drawings() -> impl Iterator<Item = &'static Drawing> {
    super::missimer_runs::FIGURES.iter()
}

impl Drawing {
    /// Computes it. `command` is the command that reproduces it, `version` the program's.
    ///
    /// # Errors
    /// What is wrong with the figure's files; a bug of Vestal.
    pub fn draw(
        &self,
        registry: &Registry,
        command: &str,
        version: &str,
    ) -> Result<Drawn, Refusal> {
        let watched = self.run(registry)?;
        let mut findings = Vec::new();
        let mut details = String::new();
        for (number, claim) in (1..).zip(self.claims) {
            let Checked { verdict, numbers } = claim.checked(&watched, registry)?;
            findings.push((claim.text, Finding::of(&[verdict])));
            let _ = write!(
                details,
                "\n{number}. **{}**\n   - {verdict}. {numbers}.\n",
                claim.text
            );
        }
        let mut page = format!(
            "# {}\n\n{}.\n\nMade by `{command}`, vestal {version}. The set is `{}`: {}\n\n\
             It runs for {} ms under `{}`, with the events of `{SCENARIO}`. The run is computed: a claim is true of it or it is not.\n\n",
            self.name, self.caption, self.set.path, self.set.origin, self.millis, self.policy
        );
        page.push_str(&super::page::claims_table(&findings));
        page.push_str("\n## By which numbers\n");
        page.push_str(&details);
        let _ = write!(page, "\n## Plots\n\n![{}]({PLOT})\n\n{COLUMNS}", self.name);
        let (policy, millis) = (self.policy, self.millis);
        let run =
            format!("simulate set.toml --policy {policy} --scenario scenario.csv --for {millis}ms");
        let _ = writeln!(page, "\n```sh\nvestal {run}\n```");
        Ok(Drawn {
            data: csv(&watched.stretches),
            outcome: Outcome {
                figure: self.name,
                caption: self.caption,
                sets: 1,
                missing: Vec::new(),
                stand_ins: Vec::new(),
                findings,
                plots: vec![PLOT.to_owned()],
                page,
            },
        })
    }

    /// What is seen of its run.
    ///
    /// # Errors
    /// What is wrong with the figure's files; a bug of Vestal.
    pub fn run(&self, registry: &Registry) -> Result<Watched, Refusal> {
        let set = self.set.read()?;
        let events = Source::new(SCENARIO, self.scenario);
        let scenario = Scenario::from_source(&events, &set).map_err(Refusal::diagnosed)?;
        let policy = registry
            .policy(self.policy)
            .ok_or_else(|| Refusal::bug(format!("there is no policy {}", self.policy)))?;
        let tasks = set.to_tasks(self.policy).map_err(Refusal::diagnosed)?;
        let options = Options::default();
        let parameters = Parameters::default();
        let by = (policy, &options);
        let system = assemble(registry, by, &set, &parameters, Analysis::Ask)?;
        let workload = Workload::new(&set, &tasks, scenario, 1);
        let run = Run {
            set: &set,
            workload: &workload,
            end: Instant::EPOCH.saturating_add(Duration::from_millis(self.millis)),
            backlog: Backlog::UNLIMITED,
            costs: None,
        };
        let mut watch = Watch::default();
        run.observed(&system, &mut watch).map_err(Refusal::bug)?;
        Ok(watch.named(&set))
    }
}

impl DrawingClaim {
    /// What the runs say of it, of which that of its own figure is known.
    ///
    /// # Errors
    /// What is wrong with the files of the other one; a bug of Vestal.
    pub fn checked(&self, watched: &Watched, registry: &Registry) -> Result<Checked, Refusal> {
        match self.check {
            Check::Alone(check) => Ok(check(watched)),
            Check::Beside(name, check) => {
                let other = drawings().find(|drawing| drawing.name == name);
                let other =
                    other.ok_or_else(|| Refusal::bug(format!("there is no figure {name}")))?;
                Ok(check(watched, &other.run(registry)?))
            }
        }
    }
}

/// Keeps who executes when, and what else happens.
#[derive(Debug, Default)]
struct Watch {
    executed: Vec<(TaskId, Instant, Instant)>,
    happened: Vec<(Who, Happens, Instant)>,
}

/// To whom.
#[derive(Clone, Copy, Debug)]
enum Who {
    Task(TaskId),
    Device(DeviceId),
}

impl Observer for Watch {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let task = job.id.task;
        match self.executed.last_mut() {
            Some((last, _, end)) if *last == task && *end == segment.start => *end = segment.end,
            Some(_) | None => self.executed.push((task, segment.start, segment.end)),
        }
    }

    fn blocked(&mut self, at: Instant, _: CpuId, job: &JobState, _: DeviceId) {
        let who = Who::Task(job.id.task);
        self.happened.push((who, Happens::Waits, at));
    }

    fn woken(&mut self, at: Instant, job: &JobState) {
        let who = Who::Task(job.id.task);
        self.happened.push((who, Happens::Wakes, at));
    }

    fn interrupted(&mut self, at: Instant, device: DeviceId, _: u64, _: u64) {
        let who = Who::Device(device);
        self.happened.push((who, Happens::Interrupts, at));
    }
}

impl Watch {
    /// With names: bottom halves of devices stand behind the tasks.
    fn named(self, set: &TaskSet) -> Watched {
        let tasks = set.tasks.iter().map(|task| &task.name);
        let devices = set.devices.iter().map(|device| &device.name);
        let names: Vec<&String> = tasks.chain(devices).collect();
        let executed = self.executed.into_iter();
        let stretches = executed.filter_map(|(task, start, end)| {
            Some(Stretch {
                who: (*names.get(task.index())?).clone(),
                from: start.as_nanos(),
                to: end.as_nanos(),
            })
        });
        let happened = self.happened.into_iter();
        let steps = happened.filter_map(|(who, what, at)| {
            let place = match who {
                Who::Task(task) => task.index(),
                Who::Device(device) => set.tasks.len() + device.index(),
            };
            Some(Step {
                who: (*names.get(place)?).clone(),
                what,
                at: at.as_nanos(),
            })
        });
        Watched {
            stretches: stretches.collect(),
            steps: steps.collect(),
        }
    }
}

const COLUMNS: &str = "## Data\n\n\
`executed.csv` has a row for each time in which a task or the bottom halves of a device execute without a break: who, from when and until\n\
when, in ns. `trace.csv` has every record of the run, `plot.svg` and `trace.txt` are drawings of it. `set.toml` and `scenario.csv` are what runs:\n";

fn csv(stretches: &[Stretch]) -> String {
    let mut text = "who,from_ns,to_ns\n".to_owned();
    for Stretch { who, from, to } in stretches {
        let _ = writeln!(text, "{who},{from},{to}");
    }
    text
}

#[cfg(test)]
#[path = "drawing_tests.rs"]
mod tests;
