//! Figures that are one run of one set: who executes when.
//!
//! A figure is a task-set file, a scenario file, a policy and how long it runs. Claims look at *stretches*: times in which a task, or the
//! bottom halves of a device, execute without a break. The run is computed: a claim is true of it or it is not, and *not decided* only where
//! there is nothing that it speaks of.

use super::grid::Set;
use super::{Checked, Finding, Outcome, fits};
use crate::several::Run;
use crate::verdict;
use std::fmt::Write as _;
use vestal_analysis::Parameters;
use vestal_core::{Duration, Instant, TaskId};
use vestal_policy::{Analysis, Options, Refusal, Registry, assemble};
use vestal_result::claim::Verdict;
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
    /// What the run says of it.
    pub check: fn(&[Stretch]) -> Checked,
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
    super::missimer_figs_5_6::FIGURES.iter()
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
        let stretches = self.run(registry)?;
        let mut findings = Vec::new();
        let mut details = String::new();
        for (number, claim) in (1..).zip(self.claims) {
            let Checked { verdict, numbers } = (claim.check)(&stretches);
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
            data: csv(&stretches),
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

    /// Who executes when.
    ///
    /// # Errors
    /// What is wrong with the figure's files; a bug of Vestal.
    pub fn run(&self, registry: &Registry) -> Result<Vec<Stretch>, Refusal> {
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
        Ok(watch.stretches(&set))
    }
}

/// Keeps who executes when.
#[derive(Debug, Default)]
struct Watch {
    executed: Vec<(TaskId, Instant, Instant)>,
}

impl Observer for Watch {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let task = job.id.task;
        match self.executed.last_mut() {
            Some((last, _, end)) if *last == task && *end == segment.start => *end = segment.end,
            Some(_) | None => self.executed.push((task, segment.start, segment.end)),
        }
    }
}

impl Watch {
    /// With names: bottom halves of devices stand behind the tasks.
    fn stretches(self, set: &TaskSet) -> Vec<Stretch> {
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
        stretches.collect()
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

const MS: u64 = 1_000_000;

/// Times in ms.
fn millis(nanos: u64) -> String {
    super::grid_rules::Numbers(super::grid::millis(nanos)).to_string()
}

/// The stretches of a task, and the `nth` of them, counted from 1.
fn nth<'a>(stretches: &'a [Stretch], who: &str, nth: usize) -> (String, Option<&'a Stretch>) {
    let own: Vec<&Stretch> = stretches.iter().filter(|one| one.who == who).collect();
    let words: Vec<String> = own
        .iter()
        .map(|one| format!("{} to {}", millis(one.from), millis(one.to)))
        .collect();
    let words = format!("{who} executes from {} (ms)", words.join(", from "));
    (
        words,
        nth.checked_sub(1).and_then(|at| own.get(at)).copied(),
    )
}

/// What is found of a stretch, if it is there.
fn of_stretch(
    (words, stretch): (String, Option<&Stretch>),
    holds: impl FnOnce(&Stretch) -> bool,
) -> Checked {
    Checked {
        verdict: match stretch.map(holds) {
            None => Verdict::NotDecided,
            Some(holds) => verdict::from_evidence(holds, !holds),
        },
        numbers: words,
    }
}

/// The `at`-th time that it executes, it does so from then on, in ms.
pub(super) fn begins(stretches: &[Stretch], (who, at): (&str, usize), from: u64) -> Checked {
    of_stretch(nth(stretches, who, at), |one| one.from == from * MS)
}

/// The `at`-th time that it executes, it does so from then until then, in ms.
pub(super) fn lasts(
    stretches: &[Stretch],
    (who, at): (&str, usize),
    (from, to): (u64, u64),
) -> Checked {
    of_stretch(nth(stretches, who, at), |one| {
        (one.from, one.to) == (from * MS, to * MS)
    })
}

/// The `at`-th time that it executes, it has done so much by then, in ms, and no more.
pub(super) fn has_by(
    stretches: &[Stretch],
    (who, at): (&str, usize),
    (much, by): (u64, u64),
) -> Checked {
    of_stretch(nth(stretches, who, at), |one| {
        one.to.min(by * MS).saturating_sub(one.from) == much * MS
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::figures;
    use crate::figure::grid::grids;
    use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

    fn stretches(rows: &[(&str, u64, u64)]) -> Vec<Stretch> {
        let rows = rows.iter().map(|&(who, from, to)| Stretch {
            who: who.to_owned(),
            from: from * MS,
            to: to * MS,
        });
        rows.collect()
    }

    #[test]
    fn a_claim_about_a_stretch_is_confirmed_refuted_and_left_open() {
        let run = stretches(&[("a", 0, 8), ("b", 9, 10), ("a", 26, 34)]);
        let verdict = |checked: Checked| checked.verdict;
        assert_eq!(verdict(begins(&run, ("a", 2), 26)), Confirmed);
        assert_eq!(verdict(begins(&run, ("a", 2), 25)), Refuted);
        assert_eq!(verdict(begins(&run, ("a", 3), 26)), NotDecided);
        assert_eq!(verdict(begins(&run, ("c", 1), 0)), NotDecided);
        assert_eq!(verdict(begins(&run, ("a", 0), 0)), NotDecided);
        assert_eq!(verdict(lasts(&run, ("b", 1), (9, 10))), Confirmed);
        assert_eq!(verdict(lasts(&run, ("b", 1), (9, 11))), Refuted);
        assert_eq!(verdict(lasts(&run, ("b", 2), (9, 10))), NotDecided);
        assert_eq!(verdict(has_by(&run, ("a", 2), (6, 32))), Confirmed);
        assert_eq!(verdict(has_by(&run, ("a", 2), (8, 40))), Confirmed);
        // It begins later, and has nothing.
        assert_eq!(verdict(has_by(&run, ("a", 2), (0, 20))), Confirmed);
        assert_eq!(verdict(has_by(&run, ("a", 2), (8, 32))), Refuted);
        assert_eq!(verdict(has_by(&run, ("b", 2), (1, 32))), NotDecided);
        let numbers = begins(&run, ("a", 2), 26).numbers;
        assert_eq!(numbers, "a executes from 0 to 8, from 26 to 34 (ms)");
    }

    /// By hand, as the paper draws them.
    #[test]
    fn figures_of_one_run_are_those_of_the_paper() {
        let registry = Registry::default();
        let of = |name: &str| named(name)[0].run(&registry).unwrap();
        let fig_5 = [
            ("task1", 0, 8),
            ("device", 9, 10),
            ("device", 11, 12),
            ("device", 13, 14),
            ("device", 25, 26),
            ("task1", 26, 34),
        ];
        assert_eq!(of("missimer/fig5"), stretches(&fig_5));
        let fig_6 = [
            ("task1", 0, 8),
            ("device", 9, 10),
            ("device", 13, 16),
            ("task1", 16, 24),
            ("task1", 32, 36),
        ];
        assert_eq!(of("missimer/fig6"), stretches(&fig_6));
        for drawing in drawings() {
            let drawn = drawing.draw(&registry, "vestal", "1").unwrap();
            for (claim, found) in &drawn.outcome.findings {
                assert_eq!(*found, Finding::Confirmed, "{}: {claim}", drawing.name);
            }
            // Of a run in which nothing executes nothing is said.
            for claim in drawing.claims {
                assert_eq!((claim.check)(&[]).verdict, NotDecided, "{}", claim.text);
            }
            let rows = drawn.data.lines().count();
            assert_eq!(rows, 1 + drawing.run(&registry).unwrap().len());
        }
        // Each figure refutes what the paper says of when the other one goes on.
        let [fig_5, fig_6] = ["missimer/fig5", "missimer/fig6"].map(|name| named(name)[0]);
        for (claims, run) in [(fig_5, of(fig_6.name)), (fig_6, of(fig_5.name))] {
            for claim in claims.claims {
                let found = (claim.check)(&run).verdict;
                assert_ne!(found, Confirmed, "{}", claim.text);
            }
        }
    }

    #[test]
    fn no_two_figures_have_the_same_name() {
        let mut names: Vec<&str> = figures().map(|figure| figure.name).collect();
        names.extend(grids().map(|grid| grid.name));
        names.extend(drawings().map(|drawing| drawing.name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
