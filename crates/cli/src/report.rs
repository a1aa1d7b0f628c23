//! The result of a simulated or a real run: one JSON document, or a page for people.

use crate::input::shown;
use crate::names::RESULT_FORMAT;
use crate::names::verdict_name;
use crate::output::{Output, Style};
use crate::quantity::{exact, percent, short};
use crate::session::Session;
use crate::table::{Column, Grid};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use vestal_analysis::Verdict;
use vestal_core::{DropReason, Drops};
use vestal_trace::record::words::drop_word;
use vestal_trace::{Dispatch, World};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct RunResult {
    pub(crate) format: &'static str,
    pub(crate) file: String,
    pub(crate) policy: String,
    /// The last value of each key of `--set`.
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) world: &'static str,
    pub(crate) dispatch: &'static str,
    pub(crate) scenario: String,
    pub(crate) seed: u64,
    /// What proves that no guaranteed deadline is missed; without it none is guaranteed.
    pub(crate) proof: Option<Proof>,
    pub(crate) duration_ns: u64,
    /// Why a simulation ended early; null if it did not.
    pub(crate) cut: Option<Cut>,
    pub(crate) jobs: Jobs,
    pub(crate) modes: Vec<ModeChange>,
    pub(crate) tasks: Vec<TaskRow>,
    pub(crate) cpus: Vec<CpuRow>,
    /// Servers and devices are part of the format; no policy of this version has any.
    pub(crate) servers: [(); 0],
    pub(crate) devices: [(); 0],
    pub(crate) frames: Frames,
    pub(crate) overhead: serde_json::Value,
    pub(crate) machine: Machine,
    /// Mode changes that happened, also those that are not listed.
    #[serde(skip)]
    pub(crate) mode_changes: u64,
    /// Misses that a proof would have excluded, whether there is one or not; a real run without one does
    /// not judge that.
    #[serde(skip)]
    pub(crate) excluded: u64,
}

/// A test that accepts the set as it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Proof {
    /// Its name, with the variant.
    pub(crate) test: String,
    pub(crate) verdict: &'static str,
}

impl Proof {
    pub(crate) fn by(test: &str) -> Self {
        Self {
            test: test.to_owned(),
            verdict: verdict_name(Verdict::Schedulable),
        }
    }
}

/// Where a simulation ended before its time, and why.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cut {
    pub(crate) at_ns: u64,
    pub(crate) why: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Jobs {
    pub(crate) released: u64,
    pub(crate) completed: u64,
    pub(crate) dropped: u64,
    pub(crate) dropped_by: DroppedBy,
    pub(crate) missed: u64,
    pub(crate) missed_guaranteed: u64,
    /// Of those: which only stolen time explains.
    pub(crate) missed_undecided: u64,
}

/// Dropped jobs by reason: in JSON in the words of traces, for people shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DroppedBy(pub(crate) Drops);

impl Serialize for DroppedBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = self.0.by_reason();
        serializer.collect_map(counts.map(|(why, count)| (drop_word(why), count)))
    }
}

impl std::fmt::Display for DroppedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut counts = self.0.by_reason().filter(|(_, count)| *count > 0);
        let Some((why, count)) = counts.next() else {
            return f.write_str("0");
        };
        write!(f, "{count} {}", short_word(why))?;
        counts.try_for_each(|(why, count)| write!(f, " + {count} {}", short_word(why)))
    }
}

/// A reason for dropping in a cell of a table.
const fn short_word(why: DropReason) -> &'static str {
    match why {
        DropReason::Mode => "mode",
        DropReason::Exhausted => "limit",
        DropReason::Superseded => "superseded",
        DropReason::Deadline => "deadline",
        DropReason::BacklogFull => "backlog",
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ModeChange {
    pub(crate) at_ns: u64,
    pub(crate) from: String,
    pub(crate) to: String,
    /// The task that overran; none for the return at an idle instant.
    pub(crate) cause: Option<String>,
    pub(crate) cpu: Option<u16>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct TaskRow {
    pub(crate) name: String,
    pub(crate) released: u64,
    pub(crate) completed: u64,
    pub(crate) missed: u64,
    pub(crate) dropped: u64,
    pub(crate) dropped_by: DroppedBy,
    pub(crate) overruns: u64,
    pub(crate) preemptions: u64,
    pub(crate) response_ns: Response,
    pub(crate) execution_ns: Execution,
    pub(crate) tardiness_ns: Tardiness,
    pub(crate) relative_response: Option<f64>,
}

/// Of the completed jobs; null if there is none.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Response {
    pub(crate) min: Option<u64>,
    pub(crate) mean: Option<u64>,
    pub(crate) p99: Option<u64>,
    pub(crate) max: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Execution {
    pub(crate) min: Option<u64>,
    pub(crate) mean: Option<u64>,
    pub(crate) max: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Tardiness {
    pub(crate) mean: Option<u64>,
    pub(crate) max: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct CpuRow {
    pub(crate) cpu: u16,
    pub(crate) busy_ns: u64,
    pub(crate) switches: u64,
    pub(crate) preemptions: u64,
    pub(crate) migrations: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Frames {
    pub(crate) total: u64,
    pub(crate) lo_skipped: u64,
    pub(crate) overrun: u64,
}

/// Time that was taken from a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Stolen {
    pub(crate) cause: &'static str,
    /// The threads, where it was threads.
    pub(crate) name: Option<String>,
    pub(crate) ns: u64,
}

/// How long the run's own threads took at most for one of their duties.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Reaction {
    pub(crate) count: u64,
    pub(crate) max: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Machine {
    pub(crate) gaps: u64,
    pub(crate) longest_gap_ns: u64,
    pub(crate) lost_ns: u64,
    pub(crate) missed_outside_gaps: u64,
    /// By cause; only causes that took something.
    pub(crate) stolen: Vec<Stolen>,
    /// How well limits were enforced; a simulated world enforces exactly.
    #[serde(flatten)]
    pub(crate) enforced: Option<Enforced>,
}

/// How well limits were enforced in a real run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Enforced {
    pub(crate) dispatch: &'static str,
    /// How often a worker ran a job that the plan did not name; null under native dispatch.
    pub(crate) inversions: Option<u64>,
    /// Which threads handled what.
    pub(crate) mechanism: &'static str,
    /// Whether nothing was enforced.
    pub(crate) observed_only: bool,
    pub(crate) monitor: &'static str,
    pub(crate) granularity_ns: Option<u64>,
    pub(crate) tolerance_ns: u64,
    pub(crate) overruns_noticed: u64,
    pub(crate) overshoot_median_ns: u64,
    pub(crate) overshoot_max_ns: u64,
    pub(crate) noticed_late: u64,
    /// How often jobs were suspended between their slices, and how often they went on all the same;
    /// null if no job is cut into slices.
    pub(crate) held: Option<u64>,
    pub(crate) held_in_vain: Option<u64>,
    /// How many records the traces got; null if there is none.
    pub(crate) records: Option<u64>,
    pub(crate) records_lost: u64,
    pub(crate) own: ThreadCosts,
    pub(crate) busy_periods: BusyPeriods,
}

/// What the run's own threads used, and why its manager was woken.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ThreadCosts {
    pub(crate) manager: ThreadCost,
    pub(crate) idle: ThreadCost,
    pub(crate) watchdog: ThreadCost,
    /// CPU time of the workers outside the bodies of jobs.
    pub(crate) workers_cpu_ns: u64,
    pub(crate) wakeups: Wakeups,
    /// By duty.
    pub(crate) reactions_ns: BTreeMap<&'static str, Reaction>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ThreadCost {
    pub(crate) cpu_ns: u64,
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
}

/// How often the manager was woken, by cause.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Wakeups {
    pub(crate) completion: u64,
    pub(crate) release: u64,
    pub(crate) budget: u64,
    pub(crate) timer: u64,
    pub(crate) idle: u64,
    pub(crate) beat: u64,
    pub(crate) other: u64,
}

/// Intervals in which there were jobs to do.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct BusyPeriods {
    pub(crate) count: u64,
    pub(crate) median_ns: u64,
    pub(crate) mean_ns: u64,
    pub(crate) max_ns: u64,
    /// Switches of all threads of the run on its CPU.
    pub(crate) switches: u64,
}

/// How many mode changes people are shown.
const MODES_SHOWN: usize = 6;

impl RunResult {
    /// A result without figures.
    pub(crate) fn of(session: &Session, world: World, dispatch: Dispatch) -> Self {
        Self {
            format: RESULT_FORMAT,
            file: shown(&session.file),
            policy: session.system.policy.clone(),
            options: session.system.options.pairs().iter().cloned().collect(),
            world: world.word(),
            dispatch: dispatch.word(),
            scenario: session.scenario.clone(),
            seed: session.seed,
            proof: session.system.proved_by().map(Proof::by),
            duration_ns: session.duration.as_nanos(),
            cut: None,
            jobs: Jobs::default(),
            modes: Vec::new(),
            tasks: Vec::new(),
            cpus: Vec::new(),
            servers: [],
            devices: [],
            frames: Frames::default(),
            overhead: serde_json::Value::Object(serde_json::Map::new()),
            machine: Machine::default(),
            mode_changes: 0,
            excluded: 0,
        }
    }

    /// Head, mode changes and tables for people.
    pub(crate) fn page(&self, session: &Session, output: &Output) -> String {
        let painter = output.painter();
        let done = if self.world == "simulator" {
            "Simulated"
        } else {
            "Ran"
        };
        let mut text = format!(
            "{done} {} for {} under {} (scenario {}, seed {})\norder: {}\n\n",
            painter.paint(Style::Bold, &self.file),
            short(self.duration_ns),
            painter.paint(Style::Bold, &self.policy),
            session.scenario,
            self.seed,
            session.system.description(),
        );
        if let Some(cut) = &self.cut {
            let cut = format!("Cut at {}: {}.", short(cut.at_ns), cut.why);
            let _ = writeln!(text, "{}\n", painter.paint(Style::Bad, &cut));
        }
        text.push_str(&self.task_table(session, output));
        for cpu in &self.cpus {
            let _ = writeln!(
                text,
                "\nCPU {}: busy {}, {} switches, {} preemptions",
                cpu.cpu,
                percent(cpu.busy_ns, self.duration_ns),
                cpu.switches,
                cpu.preemptions
            );
        }
        text.push('\n');
        text.push_str(&self.mode_list());
        let jobs = &self.jobs;
        let _ = writeln!(
            text,
            "jobs: {} released, {} completed, {} dropped, {} missed their deadline",
            jobs.released, jobs.completed, jobs.dropped, jobs.missed
        );
        text
    }

    /// The last line: whether what was guaranteed was kept.
    pub(crate) fn verdict(&self, output: &Output) -> String {
        let painter = output.painter();
        let missed = self.jobs.missed_guaranteed;
        let (style, text) = match (missed, self.jobs.missed, &self.proof) {
            (0, _, Some(_)) => (Style::Good, "No guaranteed deadline was missed.".to_owned()),
            (_, _, Some(_)) if missed == self.jobs.missed_undecided => (
                Style::Caution,
                format!(
                    "Not decided: {} missed, and only time that others took from the run explains it.",
                    plural(missed, "guaranteed deadline")
                ),
            ),
            (_, _, Some(_)) => (
                Style::Bad,
                format!("{} missed.", plural(missed, "guaranteed deadline")),
            ),
            (_, 0, None) => (
                Style::Caution,
                "No deadline was missed; none was guaranteed, because there is no proof."
                    .to_owned(),
            ),
            (_, late, None) => {
                let mut text = format!(
                    "{} missed; none was guaranteed, because there is no proof.",
                    plural(late, "deadline")
                );
                if self.excluded > 0 {
                    let _ = write!(
                        text,
                        " A proof would have excluded {} of them.",
                        self.excluded
                    );
                }
                (Style::Caution, text)
            }
        };
        format!("{}\n", painter.paint(style, &text))
    }

    fn task_table(&self, session: &Session, output: &Output) -> String {
        let by = session.urgency_column();
        let with_instants = session.zero_slack(0).is_some();
        let mut columns = vec![
            Column::Text("task"),
            Column::Text("level"),
            Column::Number(by),
            Column::Number("zero slack"),
            Column::Number("jobs"),
            Column::Number("dropped"),
            Column::Number("missed"),
            Column::Number("overruns"),
            Column::Number("mean response"),
            Column::Number("max response"),
            Column::Number("deadline"),
        ];
        const INSTANT: usize = 3;
        if !with_instants {
            columns.remove(INSTANT);
        }
        let mut grid = Grid::new(output, &columns);
        let time = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), short);
        let mut rows: Vec<_> = (0..self.tasks.len())
            .map(|task| {
                (
                    session.urgency(task),
                    session.zero_slack(task).unwrap_or_default(),
                )
            })
            .zip(&self.tasks)
            .zip(&session.set.tasks)
            .collect();
        rows.sort_by_key(|((((rank, _), _), _), _)| *rank);
        for ((((_, urgency), instant), row), spec) in rows {
            let level = session.set.level_name(spec.criticality).to_owned();
            let mark = |number: u64, style| (number.to_string(), (number > 0).then_some(style));
            let mut cells = vec![
                (row.name.clone(), None),
                (level, None),
                (urgency, None),
                (instant, None),
                (row.released.to_string(), None),
                (
                    row.dropped_by.to_string(),
                    (row.dropped > 0).then_some(Style::Caution),
                ),
                mark(row.missed, Style::Bad),
                mark(row.overruns, Style::Caution),
                (time(row.response_ns.mean), None),
                (time(row.response_ns.max), None),
                (exact(spec.deadline.as_nanos()), None),
            ];
            if !with_instants {
                cells.remove(INSTANT);
            }
            grid.styled_row(cells);
        }
        grid.render()
    }

    fn mode_list(&self) -> String {
        if self.mode_changes == 0 {
            return "modes: no change\n".to_owned();
        }
        let mut text = format!("modes: {} changes\n", self.mode_changes);
        for change in self.modes.iter().take(MODES_SHOWN) {
            let why = match &change.cause {
                Some(task) => format!("{task} used up its {} budget", change.from),
                None => "nothing admitted was left to do".to_owned(),
            };
            let _ = writeln!(
                text,
                "  {:>12}  {} -> {}: {why}",
                short(change.at_ns),
                change.from,
                change.to
            );
        }
        if self.mode_changes > MODES_SHOWN as u64 {
            let _ = writeln!(
                text,
                "  and {} more",
                self.mode_changes - MODES_SHOWN as u64
            );
        }
        text
    }
}

/// `1 deadline was`, `2 deadlines were`.
fn plural(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun} was"),
        _ => format!("{number} {noun}s were"),
    }
}
