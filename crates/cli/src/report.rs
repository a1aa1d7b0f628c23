//! The result of a simulated or a real run: one JSON document, or a page for people.

use crate::input::shown;
use crate::output::{Output, Style};
use crate::quantity::{exact, percent, short, short_or_dash};
use crate::session::Session;
use crate::table::{Grid, styled};
use std::fmt::Write as _;
use vestal_core::{DropReason, Drops};
use vestal_result::Ordered;
use vestal_result::run::{Proof, Run};
use vestal_trace::record::words::drop_word;
use vestal_trace::{Dispatch, World};

/// A run's document, with what only people are told.
#[derive(Clone, Debug)]
pub(crate) struct RunResult {
    pub(crate) run: Run,
    /// Mode changes that happened, also those that are not listed.
    pub(crate) mode_changes: u64,
    /// Misses that a proof would have excluded, whether there is one or not; a real run without one does
    /// not judge that.
    pub(crate) excluded: u64,
}

/// Dropped jobs by reason, in the words of traces.
pub(crate) fn dropped_by(drops: Drops) -> Ordered<u64> {
    let counts = drops.by_reason();
    counts.map(|(why, count)| (drop_word(why), count)).collect()
}

const fn short_word(why: DropReason) -> &'static str {
    match why {
        DropReason::Mode => "mode",
        DropReason::Exhausted => "limit",
        DropReason::Superseded => "superseded",
        DropReason::Deadline => "deadline",
        DropReason::BacklogFull => "backlog",
    }
}

/// The same in a cell of a table: shorter, and without reasons that dropped none.
fn dropped(by: &Ordered<u64>) -> String {
    let none = Drops::default();
    let reasons = none.by_reason();
    let counts = reasons.filter_map(|(why, _)| Some((why, *by.get(drop_word(why))?)));
    let counts = counts.filter(|(_, count)| *count > 0);
    let shown: Vec<String> = counts
        .map(|(why, count)| format!("{count} {}", short_word(why)))
        .collect();
    match shown.is_empty() {
        true => "0".to_owned(),
        false => shown.join(" + "),
    }
}

/// How many mode changes people are shown.
const MODES_SHOWN: usize = 6;

impl RunResult {
    /// A result without figures.
    pub(crate) fn of(session: &Session, world: World, dispatch: Dispatch) -> Run {
        Run {
            file: shown(&session.file),
            policy: session.system.policy.clone(),
            options: session.system.options.pairs().iter().cloned().collect(),
            world: world.word().to_owned(),
            dispatch: dispatch.word().to_owned(),
            scenario: session.scenario.clone(),
            seed: session.seed,
            proof: Some(session.system.proved_by().map(Proof::by)),
            duration_ns: session.duration.as_nanos(),
            ..Run::default()
        }
    }

    /// Head, mode changes and tables for people.
    pub(crate) fn page(&self, session: &Session, output: &Output) -> String {
        let painter = output.painter();
        let done = if self.run.world == "simulator" {
            "Simulated"
        } else {
            "Ran"
        };
        let mut text = format!(
            "{done} {} for {} under {} (scenario {}, seed {})\norder: {}\n\n",
            painter.paint(Style::Bold, &self.run.file),
            short(self.run.duration_ns),
            painter.paint(Style::Bold, &self.run.policy),
            session.scenario,
            self.run.seed,
            session.system.description(),
        );
        if let Some(taken) = &self.run.overheads {
            let _ = writeln!(
                text,
                "overheads: {} of {}, of {}\n",
                taken.statistic, taken.mechanism, taken.file
            );
        }
        if let Some(cut) = &self.run.cut {
            let cut = format!("Cut at {}: {}.", short(cut.at_ns), cut.why);
            let _ = writeln!(text, "{}\n", painter.paint(Style::Bad, &cut));
        }
        text.push_str(&self.task_table(session, output));
        text.push('\n');
        for cpu in &self.run.cpus {
            let overhead = match self.run.overheads {
                Some(_) => format!(
                    ", overhead {}",
                    percent(cpu.overhead_ns, self.run.duration_ns)
                ),
                None => String::new(),
            };
            let _ = writeln!(
                text,
                "CPU {}: busy {}{overhead}, {} switches, {} preemptions",
                cpu.cpu,
                percent(cpu.busy_ns, self.run.duration_ns),
                cpu.switches,
                cpu.preemptions
            );
        }
        text.push_str(&self.server_tables(output));
        text.push('\n');
        text.push_str(&self.mode_list(session));
        let jobs = &self.run.jobs;
        let _ = writeln!(
            text,
            "jobs: {} released, {} completed, {} dropped, {} missed their deadline",
            jobs.released, jobs.completed, jobs.dropped, jobs.missed
        );
        text
    }

    /// How much of what was guaranteed did not come in a real run, deadlines that were missed and jobs that were dropped with
    /// their sub-frames, and of how much that is not decided.
    pub(crate) const fn broken(&self) -> (u64, u64) {
        let Run {
            frames,
            jobs,
            machine,
            ..
        } = &self.run;
        let dropped = frames
            .unprovoked
            .saturating_sub(frames.unprovoked_undecided);
        (
            machine.missed_outside_gaps.saturating_add(dropped),
            jobs.missed_undecided
                .saturating_add(frames.unprovoked_undecided),
        )
    }

    /// The last line: whether what was guaranteed was kept.
    pub(crate) fn verdict(&self, session: &Session, output: &Output) -> String {
        let painter = output.painter();
        let (style, text) = match &self.run.proof {
            Some(Some(_)) => self.of_guarantee(),
            Some(None) | None => (Style::Caution, self.of_deadlines(session)),
        };
        format!("{}\n", painter.paint(style, &text))
    }

    /// The same where something was guaranteed.
    fn of_guarantee(&self) -> (Style, String) {
        let (missed, undecided) = (
            self.run.jobs.missed_guaranteed,
            self.run.jobs.missed_undecided,
        );
        // In simulations the costs of frames drop jobs, of which no proof speaks that knows no costs.
        let (dropped, dropped_undecided) = match self.run.world == World::Linux.word() {
            true => (
                self.run.frames.unprovoked,
                self.run.frames.unprovoked_undecided,
            ),
            false => (0, 0),
        };
        if self.run.bursts.broken > 0 {
            let bursts = plural(self.run.bursts.broken, "burst");
            let deadlines = plural(missed, "guaranteed deadline");
            let text = format!("{bursts} longer than guaranteed, and {deadlines} missed.");
            return (Style::Bad, text);
        }
        let missed_said = format!("{} missed", plural(missed, "guaranteed deadline"));
        let dropped_said = format!(
            "{} dropped although no job had needed more",
            plural(dropped, "job")
        );
        let said = match (missed, dropped) {
            (0, 0) => {
                let text = match self.run.bursts.kept {
                    0 => "No guaranteed deadline was missed.",
                    _ => {
                        "No guaranteed deadline was missed, and no burst of a PIBS took longer than guaranteed."
                    }
                };
                return (Style::Good, text.to_owned());
            }
            (_, 0) => missed_said,
            (0, _) => dropped_said,
            (_, _) => format!("{missed_said}, and {dropped_said}"),
        };
        if (missed, dropped) == (undecided, dropped_undecided) {
            let why = "only time that others took from the run explains it";
            return (Style::Caution, format!("Not decided: {said}, and {why}."));
        }
        (Style::Bad, format!("{said}."))
    }

    /// The same where nothing was.
    fn of_deadlines(&self, session: &Session) -> String {
        let why = match session.system.proved_by() {
            Some(_) => "because that proof does not speak of this run",
            None => "because there is no proof",
        };
        let late = self.run.jobs.missed;
        if late == 0 {
            return format!("No deadline was missed; none was guaranteed, {why}.");
        }
        let mut text = format!(
            "{} missed; none was guaranteed, {why}.",
            plural(late, "deadline")
        );
        if self.excluded > 0 {
            let _ = write!(
                text,
                " A proof would have excluded {} of them.",
                self.excluded
            );
        }
        text
    }

    fn task_table(&self, session: &Session, output: &Output) -> String {
        let tasks = self.run.tasks.iter().zip(&session.set.tasks).enumerate();
        let mut rows: Vec<_> = tasks
            .map(|(task, (row, spec))| (session.urgency(task), task, row, spec))
            .collect();
        // Tasks that no CPU has for its own stand behind those of the CPUs.
        rows.sort_by_key(|((rank, _), _, row, _)| (row.cpu.is_none(), row.cpu, *rank));
        let mut grid = Grid::of(&rows, output)
            .text("task", |(_, _, row, _)| &row.name)
            .text("level", |(.., spec)| {
                session.set.level_name(spec.criticality)
            });
        if self.run.cpus.len() > 1 {
            grid = grid.number("CPU", |(_, _, row, _)| {
                row.cpu
                    .map_or_else(|| "-".to_owned(), |cpu| cpu.to_string())
            });
        }
        grid = grid.number(session.urgency_column(), |((_, urgency), ..)| urgency);
        if session.zero_slack(0).is_some() {
            grid = grid.number("zero slack", |(_, task, ..)| {
                session.zero_slack(*task).unwrap_or_default()
            });
        }
        let mark = |text, number, style| styled(text, (number > 0).then_some(style));
        let count = |number: u64, style| mark(number.to_string(), number, style);
        grid.number("jobs", |(_, _, row, _)| row.released)
            .number("dropped", |(_, _, row, _)| {
                mark(dropped(&row.dropped_by), row.dropped, Style::Caution)
            })
            .number("missed", |(_, _, row, _)| count(row.missed, Style::Bad))
            .number("overruns", |(_, _, row, _)| {
                count(row.overruns, Style::Caution)
            })
            .number("mean response", |(_, _, row, _)| {
                short_or_dash(row.response_ns.mean)
            })
            .number("max response", |(_, _, row, _)| {
                short_or_dash(row.response_ns.max)
            })
            .number("deadline", |(.., spec)| exact(spec.deadline.as_nanos()))
            .render()
    }

    /// What servers gave and devices asked for; nothing without any.
    fn server_tables(&self, output: &Output) -> String {
        let mut text = String::new();
        if !self.run.servers.is_empty() {
            let or_dash = |count: Option<u64>| {
                count.map_or_else(|| "-".to_owned(), |count| count.to_string())
            };
            let mut table = Grid::of(&self.run.servers, output)
                .text("server", |row| &row.name)
                .number("served", |row| short(row.served_ns))
                .number("replenishments", |row| or_dash(row.replenishments))
                .number("exhausted", |row| row.exhausted)
                .number("postponed", |row| short(row.postponed_ns));
            if self.run.servers.iter().any(|row| row.tolerated_ns > 0) {
                table = table.number("not charged", |row| short(row.tolerated_ns));
            }
            let mut servers = self.run.servers.iter();
            if servers.any(|row| row.longest_list.is_some()) {
                table = table.number("longest list", |row| {
                    or_dash(row.longest_list.map(u64::from))
                });
            }
            let _ = write!(text, "\n{}", table.render());
        }
        if !self.run.devices.is_empty() {
            let table = Grid::of(&self.run.devices, output)
                .text("device", |row| &row.name)
                .number("events", |row| row.arrived)
                .number("served", |row| row.served)
                .number("queued", |row| row.queued)
                .number("dropped", |row| row.dropped);
            let _ = write!(text, "\n{}", table.render());
        }
        text
    }

    fn mode_list(&self, session: &Session) -> String {
        if self.mode_changes == 0 {
            return "modes: no change\n".to_owned();
        }
        let mut text = format!("modes: {} changes\n", self.mode_changes);
        // Those of a frame table follow from when its sub-frames end.
        let (up, down) = match session.configuration().frames() {
            Some(_) => (
                "the sub-frames above it had taken too long",
                "the next frame began",
            ),
            None => ("it was asked for", "nothing admitted was left to do"),
        };
        for change in self.run.modes.iter().take(MODES_SHOWN) {
            let why = match &change.cause {
                Some(task) => format!("{task} used up its {} budget", change.from),
                None if session.set.level(&change.to) > session.set.level(&change.from) => {
                    up.to_owned()
                }
                None => down.to_owned(),
            };
            let on = match change.cpu {
                Some(cpu) if self.run.cpus.len() > 1 => format!("CPU {cpu}: "),
                Some(_) | None => String::new(),
            };
            let _ = writeln!(
                text,
                "  {:>12}  {on}{} -> {}: {why}",
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

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_result::run::{Frames, Jobs, Machine};

    /// A real run with so many guaranteed misses and dropped jobs, and of so many it is not decided.
    fn ran(missed: (u64, u64), dropped: (u64, u64)) -> RunResult {
        let run = Run {
            world: World::Linux.word().to_owned(),
            jobs: Jobs {
                missed_guaranteed: missed.0,
                missed_undecided: missed.1,
                ..Jobs::default()
            },
            frames: Frames {
                unprovoked: dropped.0,
                unprovoked_undecided: dropped.1,
                ..Frames::default()
            },
            machine: Machine {
                missed_outside_gaps: missed.0 - missed.1,
                ..Machine::default()
            },
            ..Run::default()
        };
        RunResult {
            run,
            mode_changes: 0,
            excluded: 0,
        }
    }

    #[test]
    fn jobs_that_are_dropped_for_nothing_break_a_guarantee_as_missed_deadlines_do() {
        for (missed, dropped, broken, style, said) in [
            ((0, 0), (0, 0), (0, 0), Style::Good, "No guaranteed"),
            (
                (0, 0),
                (2, 2),
                (0, 2),
                Style::Caution,
                "Not decided: 2 jobs were dropped",
            ),
            (
                (0, 0),
                (3, 2),
                (1, 2),
                Style::Bad,
                "3 jobs were dropped although",
            ),
            (
                (1, 1),
                (3, 3),
                (0, 4),
                Style::Caution,
                "Not decided: 1 guaranteed",
            ),
            (
                (1, 0),
                (1, 1),
                (1, 1),
                Style::Bad,
                "missed, and 1 job was dropped",
            ),
        ] {
            let result = ran(missed, dropped);
            assert_eq!(result.broken(), broken, "{missed:?} {dropped:?}");
            let (found, text) = result.of_guarantee();
            assert!(text.contains(said), "{text}");
            assert_eq!(found, style, "{text}");
        }
        let mut simulated = ran((0, 0), (3, 0));
        simulated.run.world = World::Simulator.word().to_owned();
        assert!(simulated.of_guarantee().1.contains("No guaranteed"));
    }
}
